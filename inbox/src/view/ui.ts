// What all views share: the inbox they show, the language they speak, and small parts that look the same everywhere.
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

/** Parts that a page draws itself: each gives back an element, or nothing for the usual one. */
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
  /** Of the one menu that is open. */
  openMenu: string | undefined
  t(key: TextKey, params?: Record<string, string | number>): string
  icon(name: IconName): Child
  nameOf(workflow: Pick<Workflow, 'identifier' | 'name'>): string
  /** Draws again, soon. */
  update(): void
  /** @returns whether the page wants us to go on */
  tell(name: string, detail?: unknown): boolean
  /** To those who listen rather than look. */
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
  /** Some are on. */
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

/** Puts something that floats next to what it belongs to, on the side that has room for it. */
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

/** Above everything else on the page, where browsers know how. */
export function float(element: HTMLElement): void {
  if (typeof element.showPopover !== 'function') return
  element.setAttribute('popover', 'manual')
  if (element.isConnected && !element.matches(':popover-open')) element.showPopover()
}
