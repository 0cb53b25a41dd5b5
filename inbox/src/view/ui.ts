// What all views share: the inbox, the language, and small controls.
import type { Workflow } from '../data/api.ts'
import type { InboxClient } from '../data/client.ts'
import type { Filter, Notification } from '../data/notification.ts'
import { type Child, h, type Props } from './dom.ts'
import type { IconName } from './icons.ts'
import type { TextKey } from './texts.ts'

export interface Tab {
  label: string
  filter?: Filter
}

export interface PreferenceGroup {
  name: string
  filter: { workflowIds?: string[]; tags?: string[] }
}

/** Parts that a page can draw itself: each returns an element, or nothing for the default. */
export interface Renderers {
  bell?(unread: InboxClient['state']['unread']): Node | undefined
  notification?(item: Notification): Node | undefined
  avatar?(item: Notification): Node | undefined
  subject?(item: Notification): Node | undefined
  body?(item: Notification): Node | undefined
  actions?(item: Notification): Node | undefined
  header?(): Node | undefined
  loading?(): Node | undefined
  empty?(status: string): Node | undefined
  error?(error: Error | undefined): Node | undefined
}

export interface Ui {
  readonly client: InboxClient
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
  readonly renderers: Renderers
  readonly root: ShadowRoot
  /** The id of the open menu. */
  openMenu: string | undefined
  t(key: TextKey, params?: Record<string, string | number>): string
  icon(name: IconName): Child
  nameOf(workflow: Pick<Workflow, 'identifier' | 'name'>): string
  /** Schedules a redraw. */
  update(): void
  /** Dispatches an event. @returns false if the page prevented the default */
  tell(name: string, detail?: unknown): boolean
  /** Announces a text to screen readers. */
  say(text: string): void
}

export function iconButton(
  ui: Ui,
  name: IconName,
  label: string,
  onClick: (event: Event) => void,
  more: Props = {},
): Child {
  return h(
    'button',
    { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onClick, ...more },
    ui.icon(name),
  )
}

interface SwitchOptions {
  label: string
  isOn: boolean
  isLocked?: boolean
  /** Some of the group are on. */
  isMixed?: boolean
  onChange(isOn: boolean): void
}

export function toggle({ label, isOn, isLocked = false, isMixed = false, onChange }: SwitchOptions): Child {
  return h(
    'button',
    {
      type: 'button',
      role: 'switch',
      class: `switch${isMixed ? ' mixed' : ''}`,
      part: 'channelSwitch',
      'aria-checked': String(isOn),
      'aria-label': label,
      disabled: isLocked,
      onClick: () => onChange(!isOn),
    },
    h('span', { class: 'thumb' }),
  )
}

/** Places a floating element beside its anchor, on the side that has room. */
export function place(
  floating: HTMLElement,
  anchor: Element,
  { align, gap = 4, above = false }: { align: 'start' | 'end'; gap?: number; above?: boolean },
): void {
  const margin = 8
  const { clientWidth, clientHeight } = document.documentElement
  const { top, bottom, left, right } = anchor.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = floating
  const isRightToLeft = getComputedStyle(anchor).direction === 'rtl'
  const wanted = (align === 'start') === isRightToLeft ? right - width : left
  const below = bottom + gap
  const over = top - gap - height
  const fitsBelow = below + height + margin <= clientHeight
  const fitsAbove = over >= margin
  const y = above ? (fitsAbove || !fitsBelow ? over : below) : fitsBelow || !fitsAbove ? below : over
  const within = (value: number, most: number) => Math.round(Math.max(margin, Math.min(value, most - margin)))
  floating.style.left = `${within(wanted, clientWidth - width)}px`
  floating.style.top = `${within(y, Math.max(margin * 2, clientHeight - height))}px`
}

/** In the top layer, if the browser supports popovers. */
export function float(element: HTMLElement): void {
  if (typeof element.showPopover !== 'function') return
  element.setAttribute('popover', 'manual')
  if (element.isConnected && !element.matches(':popover-open')) element.showPopover()
}
