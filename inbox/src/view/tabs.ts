// The strip of tabs; those that do not fit go into a menu at its end.
import { type Child, h } from './dom.ts'
import { type MenuItem, menu } from './menu.ts'
import type { Ui } from './ui.ts'

export interface TabItem extends MenuItem {
  count: number
  isChosen: boolean
}

const moreWidth = 44
/** Same as in styles.ts. */
const sidePadding = 6

export class TabStrip {
  readonly #ui: Ui
  readonly #observer: ResizeObserver
  #strip: HTMLElement | undefined
  #fitting = Number.POSITIVE_INFINITY

  constructor(ui: Ui) {
    this.#ui = ui
    this.#observer = new ResizeObserver(() => this.#measure())
  }

  close(): void {
    this.#observer.disconnect()
  }

  view(items: TabItem[]): Child {
    const ui = this.#ui
    queueMicrotask(() => this.#measure())
    const hidden = items.slice(this.#fitting)
    const chosen = hidden.find(({ isChosen }) => isChosen)
    return h('div', { key: 'tabs', class: 'tabs', part: 'notificationsTabs__tabsRoot' }, [
      h(
        'div',
        {
          class: 'tab-strip',
          role: 'tablist',
          'aria-label': ui.t('inbox.tabs'),
          ref: (element: never) => {
            this.#strip = element
            this.#observer.observe(element)
          },
          onKeydown: (event: KeyboardEvent) => this.#move(event),
        },
        ...items.map(({ label, count, isChosen, run }, index) =>
          h(
            'button',
            {
              key: `${index}`,
              type: 'button',
              role: 'tab',
              class: `tab${index >= this.#fitting ? ' overflowing' : ''}`,
              part: 'notificationsTabs__tabsTrigger',
              'aria-selected': String(isChosen),
              tabindex: isChosen || (chosen && index === 0) ? 0 : -1,
              onClick: run,
            },
            h('span', null, label),
            count > 0 &&
              h('span', { class: 'count', part: 'notificationsTabs__tabsTriggerCount' }, count > 99 ? '99+' : count),
          ),
        ),
      ),
      hidden.length > 0 &&
        menu(ui, {
          id: 'tabs',
          label: ui.t('inbox.tabs.more'),
          trigger: [chosen && h('span', null, chosen.label), ui.icon('down')],
          triggerProps: { class: chosen ? 'tab chosen' : 'icon-button', part: 'moreTabs__button' },
          align: 'end',
          items: hidden,
        }),
    ])
  }

  #measure(): void {
    const strip = this.#strip
    if (!strip?.isConnected || strip.clientWidth === 0) return
    const room = (strip.parentElement?.clientWidth ?? 0) - 2 * sidePadding
    const widths = [...strip.children].map((tab) => (tab as HTMLElement).offsetWidth)
    const more = strip.parentElement?.querySelector<HTMLElement>('[data-menu]')?.offsetWidth ?? 0
    const total = widths.reduce((sum, width) => sum + width, 0)
    let fitting = widths.length
    if (total > room) {
      let sum = 0
      fitting = widths.findIndex((width) => {
        sum += width
        return sum > room - Math.max(moreWidth, more)
      })
    }
    if (fitting === this.#fitting || (fitting === widths.length && this.#fitting > fitting)) return
    this.#fitting = fitting
    this.#ui.update()
  }

  #move(event: KeyboardEvent): void {
    const tabs = [...(this.#strip?.children ?? [])].slice(0, this.#fitting) as HTMLElement[]
    const at = tabs.indexOf(this.#ui.root.activeElement as HTMLElement)
    const forward = this.#ui.direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const backward = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft'
    const to = { [forward]: at + 1, [backward]: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const target = tabs.at(to % tabs.length)
    target?.focus()
    target?.click()
  }
}
