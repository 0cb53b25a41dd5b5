// The notifications that match a filter, page by page, kept up to date as others arrive and change.
import type { Api, InboxError } from './api.ts'
import { compare, type Filter, matches, type Notification } from './notification.ts'
import { Store } from './store.ts'

export interface ListState {
  items: Notification[]
  /** Arrived while somebody was reading; shown on request. */
  fresh: Notification[]
  hasMore: boolean
  status: 'idle' | 'loading' | 'ready' | 'failed'
  isLoadingMore: boolean
  error?: InboxError | undefined
}

/** What a list needs from its client. */
export interface ListOwner {
  api: Api
  /** The item with all unsent actions applied; undefined if one of them deletes it. */
  view(item: Notification): Notification | undefined
  /** This page's version of the item, while a change to it is in flight. */
  inFlight(id: string): Notification | undefined
  onOpen(list: NotificationList): void
  onClose(list: NotificationList): void
}

const mostPerRequest = 100

export class NotificationList extends Store<ListState> {
  readonly filter: Filter
  readonly pageSize: number
  readonly #inbox: ListOwner
  /** Sorted, before `view` is applied. */
  #items: Notification[] = []
  #fresh = new Set<string>()
  #isHeld = false
  #request = 0
  /** Updates received during a request, replayed because its response may not include them. */
  #missed: Array<() => void> | undefined

  constructor(inbox: ListOwner, filter: Filter, pageSize = 10) {
    super({ items: [], fresh: [], hasMore: false, status: 'idle', isLoadingMore: false })
    this.#inbox = inbox
    this.filter = filter
    this.pageSize = pageSize
  }

  /** Loads the first page, unless it is loaded already. */
  async load(): Promise<void> {
    const { status } = this.state
    if (status === 'loading' || status === 'ready') return
    this.set({ status: 'loading', error: undefined })
    await this.#fetchTop(this.pageSize)
  }

  async loadMore(): Promise<void> {
    const { hasMore, isLoadingMore, status } = this.state
    const after = this.#items.at(-1)?.id
    if (!hasMore || isLoadingMore || status !== 'ready' || !after) return
    this.set({ isLoadingMore: true, error: undefined })
    const request = this.#request
    try {
      const { data, hasMore: more } = await this.#inbox.api.list(this.filter, { limit: this.pageSize, after })
      if (request !== this.#request) return
      for (const item of data) this.#put(item)
      this.#show({ hasMore: more })
    } catch (error) {
      if (request !== this.#request) return
      this.set({ error: error as InboxError })
      // The last item may have been deleted, and the cursor with it.
      if ((error as InboxError).status >= 400) await this.refresh()
    } finally {
      this.set({ isLoadingMore: false })
    }
  }

  /** Reloads everything loaded so far; nothing appears twice and nothing is missing. */
  async refresh(): Promise<void> {
    if (this.state.status === 'idle') return
    if (this.state.status === 'failed') this.set({ status: 'loading', error: undefined })
    await this.#fetchTop(Math.max(this.pageSize, this.#items.length))
  }

  async #fetchTop(wanted: number): Promise<void> {
    const request = ++this.#request
    this.#missed = []
    try {
      const limit = Math.min(mostPerRequest, wanted)
      const { data, hasMore } = await this.#inbox.api.list(this.filter, { limit })
      if (request !== this.#request) return
      const [newest] = this.#items
      const known = new Set(this.#items.map(({ id }) => id))
      const isNew = (item: Notification) => !known.has(item.id) && newest !== undefined && compare(item, newest) < 0
      const arrived = this.#isHeld ? data.filter(isNew).map(({ id }) => id) : []
      const listed = new Set(data.map(({ id }) => id))
      this.#fresh = new Set([...this.#fresh, ...arrived].filter((id) => listed.has(id)))
      this.#items = data.map((item) => this.#inbox.inFlight(item.id) ?? this.#known(item))
      const missed = this.#missed
      this.#missed = undefined
      for (const replay of missed) replay()
      this.#show({ hasMore, status: 'ready', error: undefined })
    } catch (error) {
      if (request !== this.#request) return
      this.#missed = undefined
      // Keep showing what is loaded.
      this.set({ error: error as InboxError, status: this.#items.length > 0 ? 'ready' : 'failed' })
    }
  }

  /** While held, arrivals wait in `fresh` and do not move what is being read. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld) this.showFresh()
  }

  showFresh(): void {
    if (this.#fresh.size === 0) return
    this.#fresh.clear()
    this.#show({})
  }

  /** Resumes live updates after `close`. A new list is already open. */
  open(): void {
    this.#inbox.onOpen(this)
  }

  close(): void {
    this.#inbox.onClose(this)
  }

  /** @param isArrival the notification is new, not only changed */
  apply(item: Notification, { isArrival = false } = {}): void {
    this.#missed?.push(() => this.apply(item, { isArrival }))
    const { status, hasMore } = this.state
    if (status === 'idle') return
    const isKnown = this.#items.some(({ id }) => id === item.id)
    const last = this.#items.at(-1)
    // It belongs to a page that is not loaded yet, and will come with that page.
    const isBeyond = hasMore && last !== undefined && compare(item, last) > 0
    if (matches(this.filter, item) && (isKnown || !isBeyond)) {
      if (isArrival && !isKnown && this.#isHeld && this.#items.length > 0) this.#fresh.add(item.id)
      this.#put(item)
    } else if (isKnown) this.#items = this.#items.filter(({ id }) => id !== item.id)
    else return
    this.#show({})
  }

  remove(id: string): void {
    this.#missed?.push(() => this.remove(id))
    this.#items = this.#items.filter((item) => item.id !== id)
    this.#show({})
  }

  find(id: string): Notification | undefined {
    return this.#items.find((item) => item.id === id)
  }

  /** Call when the result of `view` has changed. */
  redraw(): void {
    this.#show({})
  }

  #put(item: Notification): void {
    this.#items = [...this.#items.filter(({ id }) => id !== item.id), this.#known(item)].sort(compare)
  }

  /** An unchanged item keeps its object, so that the drawn row can stay. */
  #known(item: Notification): Notification {
    const known = this.find(item.id)
    return known && JSON.stringify(known) === JSON.stringify(item) ? known : item
  }

  #show(more: Partial<ListState>): void {
    const visible = this.#items.flatMap((item) => {
      const viewed = this.#inbox.view(item)
      return viewed && matches(this.filter, viewed) ? [viewed] : []
    })
    const isFresh = ({ id }: Notification) => this.#fresh.has(id)
    this.set({
      items: visible.filter((item) => !isFresh(item)),
      fresh: visible.filter(isFresh),
      ...more,
    })
  }
}
