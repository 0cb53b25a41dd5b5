// The list and its controls: status filter, tabs, bulk actions, and the loading, empty and error states.
import { FilterCounts } from '../data/counts.ts'
import type { NotificationList } from '../data/list.ts'
import type { Filter } from '../data/notification.ts'
import { type Child, h } from './dom.ts'
import { closeMenu, type MenuItem, menu } from './menu.ts'
import { row } from './row.ts'
import { SeenTracker } from './seen.ts'
import { TabStrip } from './tabs.ts'
import { iconButton, type Tab, type Ui } from './ui.ts'

const statuses = ['default', 'unread', 'archived', 'snoozed'] as const
export type Status = (typeof statuses)[number]

const filters: Record<Status, Filter> = {
  default: { archived: false, snoozed: false },
  unread: { read: false, archived: false, snoozed: false },
  archived: { archived: true },
  snoozed: { snoozed: true },
}
/** Pixels from the end at which the next page is loaded. */
const nearEnd = 300

export interface ListViewOptions {
  tabs: Tab[]
  pageSize: number
  /** New messages go into the list at once, instead of behind “3 new”. */
  showsArrivals: boolean
  /** Omitted if settings are shown elsewhere, or not at all. */
  onSettings?: (() => void) | undefined
}

export class ListView {
  readonly #ui: Ui
  readonly #options: ListViewOptions
  readonly #seen: SeenTracker
  readonly #tabs: TabStrip | undefined
  readonly #counts: FilterCounts
  readonly #stops: Array<() => void> = []
  #list: NotificationList
  #stopList: () => void
  #status: Status = 'default'
  #tab = 0
  #current: string | undefined
  #shownIds: string[] = []
  #scroller: HTMLElement | undefined

  constructor(ui: Ui, options: ListViewOptions) {
    this.#ui = ui
    this.#options = options
    this.#seen = new SeenTracker(ui)
    this.#counts = new FilterCounts(
      ui.client,
      options.tabs.map(({ filter = {} }) => filter),
    )
    this.#stops.push(this.#counts.subscribe(() => ui.update()))
    this.#tabs = options.tabs.length > 0 ? new TabStrip(ui) : undefined
    this.#list = ui.client.list(this.#filter, options.pageSize)
    this.#stopList = this.#list.subscribe(() => ui.update())
    this.#list.hold(!this.#options.showsArrivals)
  }

  close(): void {
    for (const stop of [...this.#stops, this.#stopList]) stop()
    this.#list.close()
    this.#counts.close()
    this.#seen.close()
    this.#tabs?.close()
  }

  /** While the list is not on screen, arrivals go straight into it. */
  set isRead(isRead: boolean) {
    this.#list.hold(isRead && !this.#options.showsArrivals)
    this.#seen.isWatching = isRead
    if (isRead && this.#scroller) this.#scroller.scrollTop = 0
  }

  get #filter(): Filter {
    return { ...this.#options.tabs[this.#tab]?.filter, ...filters[this.#status] }
  }

  get #selection() {
    const { tags, data } = this.#options.tabs[this.#tab]?.filter ?? {}
    return { tags, data }
  }

  #show(status: Status, tab: number): void {
    if (status === this.#status && tab === this.#tab) return
    this.#status = status
    this.#tab = tab
    this.#current = undefined
    this.#stopList()
    this.#list.close()
    this.#list = this.#ui.client.list(this.#filter, this.#options.pageSize)
    this.#stopList = this.#list.subscribe(() => this.#ui.update())
    this.#list.hold(!this.#options.showsArrivals)
    if (this.#scroller) this.#scroller.scrollTop = 0
    this.#ui.update()
  }

  focus(): void {
    const target = this.#ui.root.querySelector<HTMLElement>('article[tabindex="0"]')
    ;(target ?? this.#scroller)?.focus({ preventScroll: true })
  }

  header(more: Child[] = []): Child {
    const ui = this.#ui
    const label = (status: Status) => ui.t(`inbox.filters.labels.${status}`)
    const own = ui.renderers.header?.()
    if (own) return h('header', { class: 'header', part: 'header' }, own, this.#pill())
    return h('header', { class: 'header', part: 'header' }, [
      menu(ui, {
        id: 'status',
        label: ui.t('inbox.filters.choose', { name: label(this.#status) }),
        trigger: [h('span', { class: 'title' }, label(this.#status)), ui.icon('down')],
        triggerProps: { class: 'title-button', part: 'inboxStatus__dropdownTrigger' },
        items: statuses.map((status) => ({
          label: label(status),
          isChosen: status === this.#status,
          run: () => this.#show(status, this.#tab),
        })),
      }),
      h('span', { class: 'space' }),
      this.#pill(),
      menu(ui, {
        id: 'bulk',
        label: ui.t('inbox.more'),
        trigger: [ui.icon('more')],
        triggerProps: { class: 'icon-button', part: 'moreActions__dropdownTrigger' },
        align: 'end',
        items: this.#bulk(),
      }),
      this.#options.onSettings &&
        iconButton(ui, 'settings', ui.t('inbox.settings'), this.#options.onSettings, { part: 'preferences__button' }),
      ...more,
    ])
  }

  #bulk(): MenuItem[] {
    const ui = this.#ui
    const { client } = ui
    return [
      { label: ui.t('notifications.actions.readAll'), icon: 'read', run: () => client.readAll(this.#selection) },
      {
        label: ui.t('notifications.actions.archiveRead'),
        icon: 'archive',
        run: () => client.archiveRead(this.#selection),
      },
      {
        label: ui.t('notifications.actions.archiveAll'),
        icon: 'archive',
        run: () => client.archiveAll(this.#selection),
      },
    ]
  }

  view(): Child[] {
    const ui = this.#ui
    const { tabs } = this.#options
    const { status, items, error } = this.#list.state
    this.#keepFocus(items.map(({ id }) => id))
    const isFailed = status === 'failed' || (ui.client.state.status === 'failed' && items.length === 0)
    return [
      this.#tabs?.view(
        tabs.map(({ label }, index) => ({
          label,
          count: this.#counts.state.counts[index] ?? 0,
          isChosen: index === this.#tab,
          run: () => this.#show(this.#status, index),
        })),
      ),
      h(
        'div',
        {
          key: 'scroller',
          class: 'scroller',
          part: 'notificationList',
          tabindex: -1,
          ref: (element: never) => {
            this.#scroller = element
          },
          onScroll: () => this.#fill(),
        },
        isFailed
          ? this.#failed(error ?? ui.client.state.error)
          : status !== 'ready'
            ? this.#loading()
            : items.length === 0
              ? this.#empty()
              : this.#feed(),
      ),
    ]
  }

  /** “3 new”, above the list, so that it neither covers nor moves what is being read. */
  #pill(): Child {
    const ui = this.#ui
    const { length: count } = this.#list.state.fresh
    if (count === 0) return null
    return h(
      'button',
      {
        type: 'button',
        key: 'pill',
        class: 'pill',
        part: 'notificationListNewNotificationsNotice__button',
        onClick: () => {
          this.#list.showFresh()
          this.#current = this.#list.state.items[0]?.id
          queueMicrotask(() => this.focus())
          this.#scroller?.scrollTo({ top: 0 })
        },
      },
      ui.icon('up'),
      ui.t('notifications.newNotifications', { notificationCount: count > 99 ? '99+' : count }),
    )
  }

  #feed(): Child {
    const { items, hasMore, isLoadingMore } = this.#list.state
    const current = items.some(({ id }) => id === this.#current) ? this.#current : items[0]?.id
    queueMicrotask(() => this.#fill())
    return h(
      'div',
      {
        key: 'feed',
        class: 'feed',
        role: 'feed',
        'aria-busy': String(isLoadingMore),
        'aria-label': this.#ui.t(`inbox.filters.labels.${this.#status}`),
        onKeydown: (event: KeyboardEvent) => this.#move(event),
      },
      ...items.map((item, index) =>
        row(this.#ui, item, {
          position: index + 1,
          size: hasMore ? -1 : items.length,
          isCurrent: item.id === current,
          onMake: (element) => this.#seen.watch(element, item.id),
          onFocus: () => {
            if (this.#current === item.id) return
            this.#current = item.id
            this.#ui.update()
          },
        }),
      ),
      hasMore && h('div', { key: 'more', class: 'rows-loading', 'aria-hidden': 'true' }, skeleton(), skeleton()),
    )
  }

  #loading(): Child {
    const own = this.#ui.renderers.loading?.()
    if (own) return own
    return h('div', { key: 'loading', class: 'loading', role: 'status', 'aria-label': this.#ui.t('inbox.loading') }, [
      ...[1, 2, 3, 4, 5].map(() => skeleton()),
    ])
  }

  #empty(): Child {
    const ui = this.#ui
    const own = ui.renderers.empty?.(this.#status)
    if (own) return own
    const isDefault = this.#status === 'default'
    return h('div', { key: 'empty', class: 'notice', part: 'notificationListEmptyNotice' }, [
      h(
        'span',
        { class: 'notice-icon' },
        ui.icon(isDefault || this.#status === 'unread' ? 'check' : this.#status === 'snoozed' ? 'snooze' : 'archive'),
      ),
      h(
        'p',
        { class: 'notice-title' },
        ui.t(isDefault ? 'notifications.emptyNotice' : `notifications.empty.${this.#status as 'unread'}`),
      ),
      isDefault && h('p', { class: 'notice-text' }, ui.t('notifications.emptyHint')),
    ])
  }

  #failed(error: Error | undefined): Child {
    const ui = this.#ui
    const own = ui.renderers.error?.(error)
    if (own) return own
    return h('div', { key: 'failed', class: 'notice', role: 'alert' }, [
      h('span', { class: 'notice-icon bad' }, ui.icon('error')),
      h('p', { class: 'notice-title' }, ui.t('inbox.error')),
      h('p', { class: 'notice-text' }, ui.t('inbox.error.hint')),
      h(
        'button',
        {
          type: 'button',
          class: 'action secondary',
          onClick: () => {
            if (ui.client.state.status === 'ready') void this.#list.refresh()
            ui.client.retry()
          },
        },
        ui.t('inbox.retry'),
      ),
    ])
  }

  #fill(): void {
    const scroller = this.#scroller
    if (!scroller?.isConnected || scroller.clientHeight === 0 || this.#list.state.error) return
    const { scrollTop, clientHeight, scrollHeight } = scroller
    if (scrollTop + clientHeight + nearEnd >= scrollHeight) void this.#list.loadMore()
  }

  /** When the focused row disappears, the row that takes its place gets the focus. */
  #keepFocus(ids: string[]): void {
    const active = this.#ui.root.activeElement?.closest<HTMLElement>('article')?.dataset.id
    const before = this.#shownIds
    this.#shownIds = ids
    if (active === undefined || ids.includes(active)) return
    const next = ids[Math.min(before.indexOf(active), ids.length - 1)]
    this.#current = next
    queueMicrotask(() => this.focus())
  }

  #move(event: KeyboardEvent): void {
    const rows = [...this.#ui.root.querySelectorAll<HTMLElement>('article')]
    const at = rows.findIndex((each) => each.contains(this.#ui.root.activeElement))
    const isOnRow = rows[at] === event.target
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 1, PageUp: -1, j: 1, k: -1 }
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? rows.length - 1 : at + (steps[event.key] ?? Number.NaN)
    const target = rows[to]
    if (!target || (!isOnRow && event.key.length === 1)) return
    event.preventDefault()
    closeMenu(this.#ui, { keepFocus: true })
    target.focus()
    target.scrollIntoView({ block: 'nearest' })
  }
}

function skeleton(): Child {
  return h('div', { class: 'skeleton' }, [
    h('span', { class: 'bone round' }),
    h(
      'span',
      { class: 'bones' },
      h('span', { class: 'bone' }),
      h('span', { class: 'bone' }),
      h('span', { class: 'bone short' }),
    ),
  ])
}
