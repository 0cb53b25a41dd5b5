// The inbox of one subscriber, without any UI: counts, lists, actions and live updates. Changes show at once and roll back
// if the service refuses them. Those that cannot be reverted are sent once the time to undo them is over.
import { Api, InboxError, type InboxOptions, none, type Session, type UnreadCount } from './api.ts'
import { ChatConnection, type ChatOptions } from './chat.ts'
import { type FollowOptions, TopicFollow } from './follow.ts'
import { NotificationList } from './list.ts'
import {
  type ActionType,
  type Filter,
  fromPush,
  isUnread,
  matches,
  type Notification,
  type Operation,
  type PushedMessage,
  predict,
} from './notification.ts'
import { Preferences } from './preferences.ts'
import { PushDevice } from './push.ts'
import { SharedSocket, type TabMessage } from './sharing.ts'
import { Store } from './store.ts'

/** An action that can be undone for a few seconds. */
export interface Undo {
  kind: 'archive' | 'snooze' | 'delete' | 'readAll' | 'archiveAll' | 'archiveRead' | 'deleteAll'
}

export interface InboxState {
  /** After `failed` the client retries, unless the page's own settings are wrong. */
  status: 'starting' | 'ready' | 'failed'
  /** `connecting` only until the first attempt succeeds or fails. */
  connection: 'connecting' | 'online' | 'offline'
  unread: UnreadCount
  unseen: number
  session?: Session | undefined
  error?: InboxError | undefined
  undo?: Undo | undefined
  /** Why the last change was rolled back. */
  problem?: InboxError | undefined
}

interface Events {
  received: Notification
  /** Counts other than the unread count may have changed. */
  changed: undefined
}

/** Limits a bulk action to the notifications of one tab. */
export type Selection = Pick<Filter, 'tags' | 'data'>

/** A bulk action or a deletion that has not been sent yet. */
interface Pending {
  view(item: Notification): Notification | undefined
  count(counts: UnreadCount): UnreadCount
  send(keepalive: boolean): Promise<unknown>
  isSent?: boolean
}

export const undoMs = 5_000
const offlineAfterMs = 2_000
const refreshAfterMs = 250
const longestRetryMs = 30_000

export class InboxClient extends Store<InboxState> {
  readonly api: Api
  readonly options: InboxOptions
  readonly #lists = new Set<NotificationList>()
  readonly #listeners = new Map<keyof Events, Set<(detail: never) => void>>()
  /** By notification id: changes to one notification are sent one after the other. */
  readonly #inFlight = new Map<string, { item: Notification; waiting: number; last: Promise<unknown> }>()
  /** The service's counts, plus the changes of this page since. */
  #counts = none
  /** The service's newest counts, while a change is in flight that they may not include. */
  #held: UnreadCount | undefined
  /** How many times the service has pushed counts. */
  #pushes = 0
  #pending: Pending[] = []
  #revertLast: (() => void) | undefined
  #undoTimer: ReturnType<typeof setTimeout> | undefined
  #refreshTimer: ReturnType<typeof setTimeout> | undefined
  #offlineTimer: ReturnType<typeof setTimeout> | undefined
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #failures = 0
  #socket: SharedSocket | undefined
  #closing: AbortController | undefined

  constructor(options: InboxOptions) {
    super({ status: 'starting', connection: 'connecting', unread: none, unseen: 0 })
    this.options = options
    this.api = new Api(options)
  }

  /** Starts the session and listens until `close`. Calls made earlier wait for it. */
  start(): void {
    if (this.#closing) return
    this.#closing = new AbortController()
    const { signal } = this.#closing
    const { backendUrl, socketUrl = backendUrl, applicationIdentifier, context } = this.options
    this.#socket = new SharedSocket({
      name: JSON.stringify([backendUrl, applicationIdentifier, this.api.subscriber.subscriberId, context ?? {}]),
      url: socketUrl,
      token: {
        get: async () => (await this.api.session()).token,
        refused: () => this.api.forget(),
      },
      onMessage: (message) => this.#onTabMessage(message),
    })
    addEventListener('online', () => this.#goOnline(), { signal })
    addEventListener('offline', () => this.#goOffline(), { signal })
    addEventListener('pagehide', () => void this.#flush(true), { signal })
    document.addEventListener(
      'visibilitychange',
      () => {
        if (!document.hidden && this.state.connection === 'offline' && navigator.onLine) this.#goOnline()
      },
      { signal },
    )
    void this.#begin(this.#socket)
  }

  close(): void {
    void this.#flush(true)
    this.#closing?.abort()
    this.#closing = undefined
    this.#socket?.close()
    this.#socket = undefined
    for (const timer of [this.#undoTimer, this.#refreshTimer, this.#offlineTimer, this.#retryTimer]) clearTimeout(timer)
  }

  /** @returns a function that unsubscribes */
  on<Name extends keyof Events>(name: Name, listener: (detail: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener as (detail: never) => void)
    return () => {
      listeners.delete(listener as (detail: never) => void)
    }
  }

  #emit<Name extends keyof Events>(name: Name, detail: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(detail as never)
  }

  // ---- The session and the connection ----

  async #begin(socket = this.#socket): Promise<void> {
    try {
      const session = await this.api.session()
      if (!socket || socket !== this.#socket) return
      this.#failures = 0
      this.#setCounts(session.unreadCount)
      this.set({ session, status: 'ready', error: undefined })
      // A token of the hosted page opens no socket.
      if (this.options.preferencesToken === undefined) socket.start()
      else this.#setConnection(true)
      for (const list of this.#lists) void list.load()
    } catch (error) {
      if (socket !== this.#socket) return
      const failure = error as InboxError
      this.set({ status: 'failed', error: failure })
      if (failure.status === 0) this.set({ connection: 'offline' })
      // Wrong settings stay wrong: a retry would not help.
      if (failure.status >= 400 && failure.status < 500 && failure.status !== 429) return
      this.#failures += 1
      const delayMs = Math.min(longestRetryMs, 1_000 * 2 ** this.#failures)
      this.#retryTimer = setTimeout(() => void this.#begin(), delayMs * (0.5 + Math.random() / 2))
    }
  }

  /** For the button below an error; when ready, refreshes everything. */
  retry(): void {
    clearTimeout(this.#retryTimer)
    if (this.state.status === 'ready') this.#goOnline()
    else void this.#begin()
  }

  #goOnline(): void {
    if (this.state.status === 'ready') {
      this.#socket?.resume()
      this.refresh()
    } else this.retry()
  }

  #goOffline(): void {
    this.#socket?.pause()
    this.#setConnection(false)
  }

  #setConnection(isOnline: boolean): void {
    clearTimeout(this.#offlineTimer)
    if (isOnline) this.set({ connection: 'online' })
    else if (!navigator.onLine) this.set({ connection: 'offline' })
    // Most lost connections are back before the reader needs to know.
    else this.#offlineTimer = setTimeout(() => this.set({ connection: 'offline' }), offlineAfterMs)
  }

  #onTabMessage(message: TabMessage): void {
    switch (message.kind) {
      case 'connected':
        this.#setConnection(true)
        this.refresh()
        break
      case 'disconnected':
        this.#setConnection(false)
        break
      case 'event':
        this.#onPush(message.name, message.payload)
        break
      case 'changed':
        // The service pushes the counts to all tabs.
        for (const list of this.#lists) list.apply(message.item as Notification)
        break
      case 'removed':
        for (const list of this.#lists) list.remove(message.id)
        break
      case 'stale':
        this.refresh()
        break
      case 'hello':
        break
    }
  }

  #onPush(name: string, payload: unknown): void {
    if (name === 'notification_received') {
      const item = fromPush((payload as { message: PushedMessage }).message)
      this.#put(item, { isArrival: true })
      this.#emit('received', item)
    } else if (name === 'unseen_count_changed') this.set({ unseen: (payload as { unseenCount: number }).unseenCount })
    else if (name === 'unread_count_changed') {
      this.#held = (payload as { counts: UnreadCount }).counts
      this.#pushes += 1
      this.#settleCounts()
      this.#emit('changed', undefined)
    }
  }

  /** Adopts the held counts, unless a change is in flight. */
  #settleCounts(): void {
    const held = this.#held
    if (!held || this.#inFlight.size > 0) return
    this.#held = undefined
    const isExpected = held.total === this.#counts.total
    this.#setCounts(held)
    // Something changed elsewhere, and these are counts only.
    if (!isExpected) this.refresh()
  }

  /** Reloads counts and all lists, shortly. */
  refresh(): void {
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = setTimeout(() => void this.#reload(), refreshAfterMs)
  }

  /**
   * Counts first. A notification that arrives between the two requests is then in the lists but not in the counts, and the
   * next push corrects the counts. In the other order it would be counted and missing from a list that looks complete.
   */
  async #reload(): Promise<void> {
    await this.#recount()
    for (const list of this.#lists) void list.refresh()
  }

  async #recount(): Promise<void> {
    try {
      this.#setCounts(await this.#countUnread())
      this.#emit('changed', undefined)
    } catch {
      // Other failing calls tell the reader already.
    }
  }

  /**
   * Counts pushed during the request may be newer than its answer, so they win; if they are older, another push follows. An
   * answer that may not include a change in flight waits for its end, as a push does.
   */
  async #countUnread(): Promise<UnreadCount> {
    const pushes = this.#pushes
    const counts = await this.api.countUnread()
    if (pushes !== this.#pushes) return this.#counts
    if (this.#inFlight.size === 0) return counts
    this.#held = counts
    return this.#counts
  }

  #setCounts(counts: UnreadCount): void {
    this.#counts = counts
    // These may or may not include the change that is being sent.
    if (this.#pending.some(({ isSent }) => isSent)) return
    this.set({ unread: this.#pending.reduce((rest, { count }) => count(rest), counts) })
  }

  // ---- Lists ----

  /** Loads as soon as the session has started; `close` it when it is no longer shown. */
  list(filter: Filter = { archived: false, snoozed: false }, pageSize?: number): NotificationList {
    const list = new NotificationList(
      {
        api: this.api,
        view: (item) => this.#view(item),
        inFlight: (id) => this.#inFlight.get(id)?.item,
        onOpen: (opened) => {
          this.#lists.add(opened)
          if (this.state.status === 'ready') void opened.load()
        },
        onClose: (closed) => this.#lists.delete(closed),
      },
      filter,
      pageSize,
    )
    list.open()
    return list
  }

  count(filters: Filter[]): Promise<number[]> {
    return this.api.count(filters)
  }

  /** Updates every list it belongs to, and the counts. */
  #put(item: Notification, { isArrival = false } = {}): void {
    const before = this.find(item.id)
    const was = before ? isUnread(before) : !isArrival && isUnread(item)
    for (const list of this.#lists) list.apply(item, { isArrival })
    const by = Number(isUnread(item)) - Number(was)
    // The service pushes new counts right after an arrival. Showing our own sum first could count it twice for a moment.
    if (isArrival) this.#counts = added(this.#counts, item.severity, by)
    else this.#shiftCounts(item, by)
  }

  #view(item: Notification): Notification | undefined {
    let viewed: Notification | undefined = item
    for (const { view } of this.#pending) viewed &&= view(viewed)
    return viewed
  }

  #shiftCounts({ severity }: Notification, by: number): void {
    if (by === 0) return
    this.#setCounts(added(this.#counts, severity, by))
    this.#emit('changed', undefined)
  }

  /** Searches the open lists. */
  find(id: string): Notification | undefined {
    for (const list of this.#lists) {
      const item = list.find(id)
      if (item) return item
    }
    return undefined
  }

  // ---- Actions on one notification ----

  read = (item: Notification) => this.#change(item, { name: 'read' })
  unread = (item: Notification) => this.#change(item, { name: 'unread' })
  unarchive = (item: Notification) => this.#change(item, { name: 'unarchive' })
  unsnooze = (item: Notification) => this.#change(item, { name: 'unsnooze' })
  complete = (item: Notification, action: ActionType) => this.#change(item, { name: 'complete', action })
  revert = (item: Notification, action: ActionType) => this.#change(item, { name: 'revert', action })

  archive = (item: Notification) => {
    const changed = this.#change(item, { name: 'archive' })
    const archived = predict(item, { name: 'archive' })
    this.#offerUndo('archive', () => ignoring(item.isRead ? this.unarchive(archived) : this.unread(archived)))
    return changed
  }

  snooze = (item: Notification, until: Date) => {
    const changed = this.#change(item, { name: 'snooze', until })
    const snoozed = predict(item, { name: 'snooze', until })
    this.#offerUndo('snooze', () => ignoring(this.unsnooze(snoozed)))
    return changed
  }

  /** Shows at once; rolls back on failure. @throws InboxError on failure */
  async #change(given: Notification, operation: Operation): Promise<Notification> {
    const { id } = given
    const known = this.find(id) ?? this.#inFlight.get(id)?.item ?? given
    const predicted = predict(known, operation)
    const work = this.#inFlight.get(id) ?? { item: known, waiting: 0, last: Promise.resolve() }
    work.item = predicted
    work.waiting += 1
    this.#inFlight.set(id, work)
    // Computed here: an archived item may be in no open list to compare with.
    const by = Number(isUnread(predicted)) - Number(isUnread(known))
    for (const list of this.#lists) list.apply(predicted)
    this.#shiftCounts(predicted, by)
    const { name } = operation
    const body =
      name === 'snooze'
        ? { snoozeUntil: operation.until.toISOString() }
        : name === 'complete' || name === 'revert'
          ? { actionType: operation.action }
          : undefined
    const sent = work.last.then(() => this.api.change(id, name, body))
    work.last = sent.catch(() => undefined)
    try {
      const item = await sent
      if (--work.waiting === 0) {
        this.#inFlight.delete(id)
        this.#put(item)
        this.#settleCounts()
      }
      this.set({ problem: undefined })
      this.#socket?.tell({ kind: 'changed', item })
      return item
    } catch (error) {
      if (--work.waiting === 0) {
        this.#inFlight.delete(id)
        for (const list of this.#lists) list.apply(known)
        this.#shiftCounts(known, -by)
        this.#settleCounts()
      }
      throw this.#report(error)
    }
  }

  /** Sent once the time to undo it is over: a deletion cannot be reverted. */
  delete(item: Notification): void {
    this.#postpone('delete', {
      view: (each) => (each.id === item.id ? undefined : each),
      count: (counts) => (isUnread(item) ? added(counts, item.severity, -1) : counts),
      send: async (keepalive) => {
        await this.api.call('DELETE', `/notifications/${item.id}/delete`, { keepalive })
        for (const list of this.#lists) list.remove(item.id)
        this.#socket?.tell({ kind: 'removed', id: item.id })
      },
    })
  }

  /** Marks notifications that were on screen as seen. */
  async seen(ids: string[]): Promise<void> {
    if (ids.length === 0) return
    for (const id of ids) {
      const item = this.find(id)
      if (item) for (const list of this.#lists) list.apply({ ...item, isSeen: true })
    }
    await this.api.call('POST', '/notifications/seen', { body: { notificationIds: ids } })
  }

  // ---- Actions on many ----

  readAll = (selection: Selection = {}) => this.#changeMany('readAll', 'read', selection)
  archiveAll = (selection: Selection = {}) => this.#changeMany('archiveAll', 'archive', selection)
  archiveRead = (selection: Selection = {}) => this.#changeMany('archiveRead', 'read-archive', selection)
  deleteAll = (selection: Selection = {}) => this.#changeMany('deleteAll', 'delete', selection)

  #changeMany(kind: Undo['kind'], path: string, { tags, data }: Selection): void {
    const selection: Filter = { tags, data }
    // Spare what arrives during the undo time: the reader has not looked at it yet.
    const newest = this.#newest() ?? new Date().toISOString()
    const isMeant = (item: Notification) =>
      item.createdAt <= newest && matches(selection, item) && (kind === 'deleteAll' || !item.isSnoozed)
    const mine = [...this.#lists].flatMap((list) => list.state.items).filter((item) => isMeant(item) && isUnread(item))
    const isAll = !tags && !data
    const before = this.#counts
    const count = (counts: UnreadCount): UnreadCount => {
      if (kind === 'archiveRead') return counts
      if (isAll) return subtracted(counts, before)
      return mine.reduce((rest, { severity }) => added(rest, severity, -1), counts)
    }
    this.#postpone(kind, {
      view: (item) => {
        if (!isMeant(item)) return item
        if (kind === 'deleteAll') return undefined
        if (kind === 'readAll') return predict(item, { name: 'read' })
        return kind === 'archiveAll' || item.isRead ? predict(item, { name: 'archive' }) : item
      },
      count,
      send: async (keepalive) => {
        const body = {
          ...(tags ? { tags } : {}),
          ...(data ? { data: JSON.stringify(data) } : {}),
          createdLte: Date.parse(newest),
        }
        await this.api.call('POST', `/notifications/${path}`, { body, keepalive })
        this.#socket?.tell({ kind: 'stale' })
        await Promise.all([...this.#lists].map((list) => list.refresh()))
      },
    })
  }

  /** When the newest visible notification was created, by the service's clock. */
  #newest(): string | undefined {
    return [...this.#lists]
      .flatMap((list) => list.state.items[0]?.createdAt ?? [])
      .sort()
      .at(-1)
  }

  // ---- Undo ----

  #postpone(kind: Undo['kind'], pending: Pending): void {
    void this.#flush()
    this.#pending.push(pending)
    this.#redraw()
    this.#offerUndo(kind, () => this.#drop(pending))
  }

  #offerUndo(kind: Undo['kind'], revert: () => void): void {
    if (kind === 'archive' || kind === 'snooze') void this.#flush()
    this.#revertLast = revert
    this.set({ undo: { kind } })
    clearTimeout(this.#undoTimer)
    this.#undoTimer = setTimeout(() => void this.#flush(), undoMs)
  }

  /** Undoes the last action, while it can be undone. */
  undo(): void {
    const revert = this.#revertLast
    this.#endUndo()
    revert?.()
  }

  /** Restarts the undo time, for a reader about to press the button. */
  keepUndo(): void {
    clearTimeout(this.#undoTimer)
    if (this.#revertLast) this.#undoTimer = setTimeout(() => void this.#flush(), undoMs)
  }

  #endUndo(): void {
    clearTimeout(this.#undoTimer)
    this.#revertLast = undefined
    this.set({ undo: undefined })
  }

  /** Sends the action that could still be undone. */
  async #flush(keepalive = false): Promise<void> {
    this.#endUndo()
    const pending = this.#pending.find(({ isSent }) => !isSent)
    if (!pending) return
    pending.isSent = true
    try {
      await pending.send(keepalive)
      this.#counts = await this.#countUnread()
    } catch (error) {
      this.#report(error)
    }
    this.#drop(pending)
  }

  #drop(pending: Pending): void {
    this.#pending = this.#pending.filter((each) => each !== pending)
    this.#redraw()
  }

  #redraw(): void {
    this.#setCounts(this.#counts)
    for (const list of this.#lists) list.redraw()
    this.#emit('changed', undefined)
  }

  #report(error: unknown): InboxError {
    const problem = error instanceof InboxError ? error : new InboxError(String(error), 0, { cause: error })
    this.set({ problem })
    return problem
  }

  forgetProblem(): void {
    this.set({ problem: undefined })
  }

  // ---- Preferences, topics, chat ----

  /** Push messages on this device. @param worker the address of the service worker */
  push(worker: string): PushDevice {
    return new PushDevice(this.api, worker)
  }

  preferences(): Preferences {
    return new Preferences(this.api)
  }

  follow(options: FollowOptions): TopicFollow {
    return new TopicFollow(this.api, options)
  }

  chat(options: ChatOptions): ChatConnection {
    return new ChatConnection(this.api, options)
  }
}

const atLeast0 = (count: number) => Math.max(0, count)

function added({ total, severity }: UnreadCount, name: Notification['severity'], by: number): UnreadCount {
  return { total: atLeast0(total + by), severity: { ...severity, [name]: atLeast0(severity[name] + by) } }
}

function subtracted(counts: UnreadCount, less: UnreadCount): UnreadCount {
  const rest = Object.entries(counts.severity).map(([name, count]) => [
    name,
    atLeast0(count - less.severity[name as Notification['severity']]),
  ])
  return { total: atLeast0(counts.total - less.total), severity: Object.fromEntries(rest) }
}

/** For callers that need no result: the state already carries the error. */
export function ignoring(promise: Promise<unknown>): void {
  promise.catch(() => undefined)
}
