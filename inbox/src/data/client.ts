// The inbox of one subscriber for any program: counts, lists, everything that can be done, and news as it comes. Changes show
// at once and are taken back if the service refuses them; those that cannot be reverted are sent when there was time to undo.
import { Api, InboxError, type InboxOptions, type Session, type UnreadCount } from './api.ts'
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
import { SharedSocket, type TabMessage } from './sharing.ts'
import { Store } from './store.ts'

/** What can be taken back, for a few seconds. */
export interface Undo {
  kind: 'archive' | 'snooze' | 'delete' | 'readAll' | 'archiveAll' | 'archiveRead' | 'deleteAll'
}

export interface InboxState {
  /** `failed` is tried again, by itself where it may help. */
  status: 'starting' | 'ready' | 'failed'
  /** `connecting` only until it succeeds or fails for the first time. */
  connection: 'connecting' | 'online' | 'offline'
  unread: UnreadCount
  unseen: number
  session?: Session | undefined
  error?: InboxError | undefined
  undo?: Undo | undefined
  /** Why the last change was taken back. */
  problem?: InboxError | undefined
}

interface Events {
  received: Notification
  /** Counts of others than the unread may be different now. */
  changed: undefined
}

/** Which of many: those a tab shows. */
export type Selection = Pick<Filter, 'tags' | 'data'>

/** Something done to many or for ever, which is not sent yet. */
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
const none: UnreadCount = { total: 0, severity: { high: 0, medium: 0, low: 0, none: 0 } }

export class InboxClient extends Store<InboxState> {
  readonly api: Api
  readonly options: InboxOptions
  readonly #lists = new Set<NotificationList>()
  readonly #listeners = new Map<keyof Events, Set<(detail: never) => void>>()
  /** By notification: what was done with it is sent one after the other. */
  readonly #underWay = new Map<string, { item: Notification; waiting: number; last: Promise<unknown> }>()
  /** As the service says, with what this page has done since. */
  #counts = none
  #pushed: UnreadCount | undefined
  /** How often counts were pushed. */
  #pushes = 0
  #pending: Pending[] = []
  #takeBack: (() => void) | undefined
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

  /** Begins the session and listens, until it is closed. What is asked for before waits for it. */
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
      onMessage: (message) => this.#hear(message),
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

  /** @returns what ends it */
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
      socket.start()
      for (const list of this.#lists) void list.load()
    } catch (error) {
      if (socket !== this.#socket) return
      const failure = error as InboxError
      this.set({ status: 'failed', error: failure })
      if (failure.status === 0) this.set({ connection: 'offline' })
      // What the page got wrong stays wrong.
      if (failure.status >= 400 && failure.status < 500 && failure.status !== 429) return
      this.#failures += 1
      const delayMs = Math.min(longestRetryMs, 1_000 * 2 ** this.#failures)
      this.#retryTimer = setTimeout(() => void this.#begin(), delayMs * (0.5 + Math.random() / 2))
    }
  }

  /** For the button under an error; also to look whether anything is new. */
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
    // Most connections that are lost are back before anybody needs to know.
    else this.#offlineTimer = setTimeout(() => this.set({ connection: 'offline' }), offlineAfterMs)
  }

  #hear(message: TabMessage): void {
    switch (message.kind) {
      case 'connected':
        this.#setConnection(true)
        this.refresh()
        break
      case 'disconnected':
        this.#setConnection(false)
        break
      case 'event':
        this.#hearEvent(message.name, message.payload)
        break
      case 'changed':
        // Of the counts all tabs are told by the service.
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

  #hearEvent(name: string, payload: unknown): void {
    if (name === 'notification_received') {
      const item = fromPush((payload as { message: PushedMessage }).message)
      this.#put(item, { isArrival: true })
      this.#emit('received', item)
    } else if (name === 'unseen_count_changed') this.set({ unseen: (payload as { unseenCount: number }).unseenCount })
    else if (name === 'unread_count_changed') {
      this.#pushed = (payload as { counts: UnreadCount }).counts
      this.#pushes += 1
      this.#settleCounts()
      this.#emit('changed', undefined)
    }
  }

  /** Takes over what was pushed, unless it may be about the time before what is being done right now. */
  #settleCounts(): void {
    const pushed = this.#pushed
    if (!pushed || this.#underWay.size > 0) return
    this.#pushed = undefined
    const isExpected = pushed.total === this.#counts.total
    this.#setCounts(pushed)
    // Somebody changed something elsewhere, and all we are told is how many are left.
    if (!isExpected) this.refresh()
  }

  /** Looks what has changed in all lists, soon. */
  refresh(): void {
    clearTimeout(this.#refreshTimer)
    this.#refreshTimer = setTimeout(() => void this.#lookAgain(), refreshAfterMs)
  }

  /**
   * Counts first: what comes between the two is then in the lists and not in the counts, which the next ones heard of put
   * right. The other way round it would be counted, and a list without it would seem to be whole.
   */
  async #lookAgain(): Promise<void> {
    await this.#recount()
    for (const list of this.#lists) void list.refresh()
  }

  async #recount(): Promise<void> {
    try {
      this.#setCounts(await this.#countUnread())
      this.#emit('changed', undefined)
    } catch {
      // Whoever wanted it is told by what else does not work now.
    }
  }

  /** What is pushed while it is asked for is newer than the answer may be; if it is not, a newer one is about to come. */
  async #countUnread(): Promise<UnreadCount> {
    const pushes = this.#pushes
    const counts = await this.api.countUnread()
    return pushes === this.#pushes ? counts : this.#counts
  }

  #setCounts(counts: UnreadCount): void {
    this.#counts = counts
    // Whether they include what is just being sent is not known.
    if (this.#pending.some(({ isSent }) => isSent)) return
    this.set({ unread: this.#pending.reduce((rest, { count }) => count(rest), counts) })
  }

  // ---- Lists ----

  /** Loaded as soon as there is a session; `close` it when it is no longer shown. */
  list(filter: Filter = { archived: false, snoozed: false }, pageSize?: number): NotificationList {
    const list = new NotificationList(
      {
        api: this.api,
        view: (item) => this.#view(item),
        underWay: (id) => this.#underWay.get(id)?.item,
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

  /** In every list it belongs to, and in the counts. */
  #put(item: Notification, { isArrival = false } = {}): void {
    const before = this.find(item.id)
    const was = before ? isUnread(before) : !isArrival && isUnread(item)
    for (const list of this.#lists) list.apply(item, { isArrival })
    const by = Number(isUnread(item)) - Number(was)
    // How many there are follows right behind what arrives. Shown before that, one that was counted just now would be two.
    if (isArrival) this.#counts = added(this.#counts, item.severity, by)
    else this.#move(item, by)
  }

  #view(item: Notification): Notification | undefined {
    let viewed: Notification | undefined = item
    for (const { view } of this.#pending) viewed &&= view(viewed)
    return viewed
  }

  #move({ severity }: Notification, by: number): void {
    if (by === 0) return
    this.#setCounts(added(this.#counts, severity, by))
    this.#emit('changed', undefined)
  }

  /** In the lists that are open. */
  find(id: string): Notification | undefined {
    for (const list of this.#lists) {
      const item = list.find(id)
      if (item) return item
    }
    return undefined
  }

  // ---- What can be done with one ----

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

  /** Shown at once, and taken back if it fails. @throws InboxError then */
  async #change(given: Notification, operation: Operation): Promise<Notification> {
    const { id } = given
    const known = this.find(id) ?? this.#underWay.get(id)?.item ?? given
    const predicted = predict(known, operation)
    const work = this.#underWay.get(id) ?? { item: known, waiting: 0, last: Promise.resolve() }
    work.item = predicted
    work.waiting += 1
    this.#underWay.set(id, work)
    // Where it is in no list, as after it was archived, its counts would not be known otherwise.
    const by = Number(isUnread(predicted)) - Number(isUnread(known))
    for (const list of this.#lists) list.apply(predicted)
    this.#move(predicted, by)
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
        this.#underWay.delete(id)
        this.#put(item)
        this.#settleCounts()
      }
      this.set({ problem: undefined })
      this.#socket?.tell({ kind: 'changed', item })
      return item
    } catch (error) {
      if (--work.waiting === 0) {
        this.#underWay.delete(id)
        for (const list of this.#lists) list.apply(known)
        this.#move(known, -by)
        this.#settleCounts()
      }
      throw this.#report(error)
    }
  }

  /** Sent when there was time to undo it: what is deleted does not come back. */
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

  /** They were in front of somebody. */
  async seen(ids: string[]): Promise<void> {
    if (ids.length === 0) return
    for (const id of ids) {
      const item = this.find(id)
      if (item) for (const list of this.#lists) list.apply({ ...item, isSeen: true })
    }
    await this.api.call('POST', '/notifications/seen', { body: { notificationIds: ids } })
  }

  // ---- What can be done with many ----

  readAll = (selection: Selection = {}) => this.#changeMany('readAll', 'read', selection)
  archiveAll = (selection: Selection = {}) => this.#changeMany('archiveAll', 'archive', selection)
  archiveRead = (selection: Selection = {}) => this.#changeMany('archiveRead', 'read-archive', selection)
  deleteAll = (selection: Selection = {}) => this.#changeMany('deleteAll', 'delete', selection)

  #changeMany(kind: Undo['kind'], path: string, { tags, data }: Selection): void {
    const selection: Filter = { tags, data }
    // What comes while it can still be undone was never looked at.
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

  /** When the newest that anybody can see here came, by the service's clock. */
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
    this.#review()
    this.#offerUndo(kind, () => this.#drop(pending))
  }

  #offerUndo(kind: Undo['kind'], takeBack: () => void): void {
    if (kind === 'archive' || kind === 'snooze') void this.#flush()
    this.#takeBack = takeBack
    this.set({ undo: { kind } })
    clearTimeout(this.#undoTimer)
    this.#undoTimer = setTimeout(() => void this.#flush(), undoMs)
  }

  /** Takes the last thing back that can be, while it can. */
  undo(): void {
    const takeBack = this.#takeBack
    this.#endUndo()
    takeBack?.()
  }

  /** So that whoever is about to press the button has time to. */
  keepUndo(): void {
    clearTimeout(this.#undoTimer)
    if (this.#takeBack) this.#undoTimer = setTimeout(() => void this.#flush(), undoMs)
  }

  #endUndo(): void {
    clearTimeout(this.#undoTimer)
    this.#takeBack = undefined
    this.set({ undo: undefined })
  }

  /** Sends what could still be undone. */
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
    this.#review()
  }

  #review(): void {
    this.#setCounts(this.#counts)
    for (const list of this.#lists) list.review()
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

  // ---- What else a subscriber decides ----

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

/** Whoever cannot do anything about it has been told through the state. */
export function ignoring(promise: Promise<unknown>): void {
  promise.catch(() => undefined)
}
