// A button that opens a menu, usable by pointer, keyboard and screen reader.
import { type Child, h, type Props } from './dom.ts'
import type { IconName } from './icons.ts'
import { float, place, type Ui } from './ui.ts'

export interface MenuItem {
  label: string
  hint?: string | undefined
  icon?: IconName
  /** Set for items of which exactly one is chosen. */
  isChosen?: boolean
  count?: number
  run(): void
}

interface MenuOptions {
  id: string
  label: string
  /** The content of the button. */
  trigger: Child[]
  triggerProps?: Props
  align?: 'start' | 'end'
  items: MenuItem[]
  /** Shown instead of the items. */
  content?: Child[] | undefined
  /** `dialog` if the content is not a list of choices. */
  role?: 'menu' | 'dialog'
}

export function menu(ui: Ui, { id, label, trigger, triggerProps = {}, align = 'start', ...rest }: MenuOptions): Child {
  const { items, content, role = 'menu' } = rest
  const isOpen = ui.openMenu === id
  return h('span', { class: 'menu-anchor', key: `menu-${id}` }, [
    h(
      'button',
      {
        type: 'button',
        'aria-haspopup': role,
        'aria-expanded': String(isOpen),
        'aria-label': label,
        title: label,
        'data-menu': id,
        onClick: () => (isOpen ? closeMenu(ui) : openMenu(ui, id)),
        onKeydown: (event: KeyboardEvent) => {
          if (event.key !== 'ArrowDown' || isOpen) return
          event.preventDefault()
          event.stopPropagation()
          openMenu(ui, id)
        },
        ...triggerProps,
      },
      trigger,
    ),
    isOpen &&
      h(
        'div',
        {
          key: role + (content ? '-content' : ''),
          class: 'menu',
          part: 'dropdownContent',
          role,
          'aria-label': label,
          onKeydown: (event: KeyboardEvent) => moveInMenu(ui, event),
          ref: (element: never) => queueMicrotask(() => show(element, align)),
        },
        content ?? items.map((item) => choice(ui, item)),
      ),
  ])
}

function choice(ui: Ui, { label, hint, icon, isChosen, count, run }: MenuItem): Child {
  return h(
    'button',
    {
      type: 'button',
      role: isChosen === undefined ? 'menuitem' : 'menuitemradio',
      'aria-checked': isChosen === undefined ? null : String(isChosen),
      class: 'menu-item',
      part: 'dropdownItem',
      tabindex: -1,
      key: label,
      onClick: () => {
        closeMenu(ui)
        run()
      },
    },
    icon && ui.icon(icon),
    h('span', { class: 'menu-label' }, label),
    hint && h('span', { class: 'menu-hint' }, hint),
    count ? h('span', { class: 'count' }, count > 99 ? '99+' : count) : null,
    isChosen && ui.icon('check'),
  )
}

function show(element: HTMLElement, align: 'start' | 'end'): void {
  const anchor = element.parentElement?.querySelector('[data-menu]')
  if (!anchor || !element.isConnected) return
  float(element)
  place(element, anchor, { align })
  const first =
    element.querySelector<HTMLElement>('[aria-checked=true]') ?? element.querySelector<HTMLElement>(focusable)
  first?.focus({ preventScroll: true })
}

const focusable = 'button:not(:disabled), input, select'

export function openMenu(ui: Ui, id: string): void {
  ui.openMenu = id
  ui.update()
}

/** Returns the focus to the button, unless it has moved elsewhere. */
export function closeMenu(ui: Ui, { keepFocus = false } = {}): void {
  const id = ui.openMenu
  if (id === undefined) return
  ui.openMenu = undefined
  const trigger = ui.root.querySelector<HTMLElement>(`[data-menu="${id}"]`)
  const row = trigger?.closest<HTMLElement>('article')
  if (!keepFocus) (row ?? trigger)?.focus({ preventScroll: true })
  ui.update()
}

function moveInMenu(ui: Ui, event: KeyboardEvent): void {
  event.stopPropagation()
  const element = event.currentTarget as HTMLElement
  if (event.key === 'Escape') {
    event.preventDefault()
    closeMenu(ui)
  }
  if (element.getAttribute('role') !== 'menu') return
  if (event.key === 'Tab') closeMenu(ui, { keepFocus: true })
  const items = [...element.querySelectorAll<HTMLElement>('button')]
  const at = items.indexOf(ui.root.activeElement as HTMLElement)
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
  if (to === undefined) return
  event.preventDefault()
  items.at(to % items.length)?.focus()
}
