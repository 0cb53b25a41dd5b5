// The notifications that match a filter, page by page, kept right while others come and change.
import type { Api, InboxError } from './api.ts'
import { compare, type Filter, matches, type Notification } from './notification.ts'
import { Store } from './store.ts'

export interface ListState {
  items: Notification[]
  /** Those that came while somebody was reading, to be shown when asked for. */
  fresh: Notification[]
  hasMore: boolean
  status: 'idle' | 'loading' | 'ready' | 'failed'
  isLoadingMore: boolean
  error?: InboxError | undefined
}

/** What the list needs to know of the inbox it is part of. */
export interface Surroundings {
  api: Api
  /** As it will be once what is not yet sent has been done; undefined if it will be gone. */
  view(item: Notification): Notification | undefined
  /** As this page knows it, if something done with it is still under way. */
  underWay(id: string): Notification | undefined
  onOpen(list: NotificationList): void
  onClose(list: NotificationList): void
}

const mostPerRequest = 100

export class NotificationList extends Store<ListState> {
  readonly filter: Filter
  readonly pageSize: number
  readonly #inbox: Surroundings
  /** In order, before what `view` makes of them. */
  #items: Notification[] = []
  #fresh = new Set<string>()
  #isHeld = false
  #request = 0
  /** What was heard while a request was under way, whose answer may not know of it. */
  #meanwhile: Array<() => void> | undefined

  constructor(inbox: Surroundings, filter: Filter, pageSize = 10) {
    super({ items: [], fresh: [], hasMore: false, status: 'idle', isLoadingMore: false })
    this.#inbox = inbox
    this.filter = filter
    this.pageSize = pageSize
  }

  /** The first page, if nothing is loaded yet or it failed. */
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
      // The last one may be gone, and with it the place where to go on.
      if ((error as InboxError).status >= 400) await this.refresh()
    } finally {
      this.set({ isLoadingMore: false })
    }
  }

  /** All that is loaded, once more. What was not known is new; nothing is shown twice and nothing is left out. */
  async refresh(): Promise<void> {
    if (this.state.status === 'idle') return
    if (this.state.status === 'failed') this.set({ status: 'loading', error: undefined })
    await this.#fetchTop(Math.max(this.pageSize, this.#items.length))
  }

  async #fetchTop(wanted: number): Promise<void> {
    const request = ++this.#request
    this.#meanwhile = []
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
      this.#items = data.map((item) => this.#inbox.underWay(item.id) ?? this.#known(item))
      const meanwhile = this.#meanwhile
      this.#meanwhile = undefined
      for (const again of meanwhile) again()
      this.#show({ hasMore, status: 'ready', error: undefined })
    } catch (error) {
      if (request !== this.#request) return
      this.#meanwhile = undefined
      // What is there is better than nothing.
      this.set({ error: error as InboxError, status: this.#items.length > 0 ? 'ready' : 'failed' })
    }
  }

  /** While somebody reads, what comes waits in `fresh` instead of moving what is being read. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld
    if (!isHeld) this.showFresh()
  }

  showFresh(): void {
    if (this.#fresh.size === 0) return
    this.#fresh.clear()
    this.#show({})
  }

  /** Kept right from now on; it is from the beginning, until it is closed. */
  open(): void {
    this.#inbox.onOpen(this)
  }

  close(): void {
    this.#inbox.onClose(this)
  }

  /** @param isArrival it has just come, and is not merely different */
  apply(item: Notification, { isArrival = false } = {}): void {
    this.#meanwhile?.push(() => this.apply(item, { isArrival }))
    const { status, hasMore } = this.state
    if (status === 'idle') return
    const isKnown = this.#items.some(({ id }) => id === item.id)
    const last = this.#items.at(-1)
    // What belongs on a page that is not loaded comes with it.
    const isBeyond = hasMore && last !== undefined && compare(item, last) > 0
    if (matches(this.filter, item) && (isKnown || !isBeyond)) {
      if (isArrival && !isKnown && this.#isHeld && this.#items.length > 0) this.#fresh.add(item.id)
      this.#put(item)
    } else if (isKnown) this.#items = this.#items.filter(({ id }) => id !== item.id)
    else return
    this.#show({})
  }

  remove(id: string): void {
    this.#meanwhile?.push(() => this.remove(id))
    this.#items = this.#items.filter((item) => item.id !== id)
    this.#show({})
  }

  find(id: string): Notification | undefined {
    return this.#items.find((item) => item.id === id)
  }

  /** When what `view` says has changed. */
  review(): void {
    this.#show({})
  }

  #put(item: Notification): void {
    this.#items = [...this.#items.filter(({ id }) => id !== item.id), this.#known(item)].sort(compare)
  }

  /** As long as nothing about it has changed it stays the same object: what a page has drawn of it can stay too. */
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
