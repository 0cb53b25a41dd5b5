// News for browsers: new messages, and the counts of unread and unseen ones. While one round is being looked up for an inbox,
// changes collect for the next, so that a burst is counted once. Inboxes do not wait for each other.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'socket.io'
import type { InboxChange, InboxKey } from '../../db/queries/inbox-changes.ts'
import { countUnread, findMessages, type InboxCounts, type MessageRow } from '../../db/queries/messages.ts'
import { given, toMessageFields } from '../activity/message-shape.ts'
import type { InboxSession, Services } from '../edge/resource.ts'
import { mostCounted } from './items.ts'
import { type NotificationWorkflow, toWorkflow, workflowsOf } from './notification.ts'
import { totalOf, toUnreadCount } from './session.ts'

/** The minimum time between the starts of two rounds of one inbox. */
const roundMs = 10
/** Rounds looked up at a time: enough to hide the database's latency, and few of the shared connections. */
const mostRounds = 3
const mostRooms = 500
const mostMessages = 500
const longestRetryMs = 5_000

/** The sockets of one inbox in this process. */
export interface Room extends InboxKey {
  session: InboxSession
  sockets: Set<Socket>
}

interface News {
  messageIds: Set<string>
  unread: boolean
  unseen: boolean
  /** Send only if they differ from the last ones sent. */
  ifChanged: boolean
}

export type Packet = [event: string, payload: object]
type Send = (socket: Socket, packets: Packet[]) => void

export class InboxNews {
  readonly #services: Pick<Services, 'db' | 'pool' | 'brand' | 'log'>
  readonly #send: Send
  readonly #stopping = new AbortController()
  readonly #told = new WeakMap<Room, string>()
  readonly #pending = new Map<Room, News>()
  /** Inboxes with a round in flight, or one that just ended; this keeps the news of an inbox in order. */
  readonly #busy = new Set<Room>()
  readonly #running = new Set<Promise<void>>()
  #rounds = 0
  #failures = 0
  #isDue = false

  constructor(services: Pick<Services, 'db' | 'pool' | 'brand' | 'log'>, send: Send) {
    this.#services = services
    this.#send = send
  }

  add(room: Room, what: InboxChange['what'] | 'ifChanged'): void {
    if (this.#stopping.signal.aborted) return
    const news = this.#pending.get(room) ?? { messageIds: new Set(), unread: false, unseen: false, ifChanged: false }
    this.#pending.set(room, news)
    if (what === 'ifChanged') news.ifChanged = true
    else {
      news.unseen = true
      if (what !== 'seen') news.unread = true
      if (typeof what === 'object') news.messageIds.add(what.messageId)
    }
    this.#beginSoon()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#running)
  }

  /** Batches everything that one NOTIFY names. */
  #beginSoon(): void {
    if (this.#isDue || this.#rounds === mostRounds) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      while (this.#rounds < mostRounds && !this.#stopping.signal.aborted) {
        const round = this.#take()
        if (round.size === 0) return
        const running = this.#run(round).finally(() => {
          this.#running.delete(running)
          this.#beginSoon()
        })
        this.#running.add(running)
      }
    })
  }

  async #run(round: Map<Room, News>): Promise<void> {
    const { signal } = this.#stopping
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
    const startedAt = performance.now()
    this.#rounds += 1
    for (const room of round.keys()) this.#busy.add(room)
    let pauseMs = roundMs
    try {
      await this.#tell(round)
      this.#failures = 0
    } catch (error) {
      this.#services.log.warn({ err: error }, 'could not look up news of inboxes; retrying')
      for (const [room, news] of round) this.#putBack(room, news)
      this.#failures += 1
      pauseMs = Math.min(longestRetryMs, 50 * 2 ** this.#failures)
    }
    // Frees the slot, since these only pause.
    this.#rounds -= 1
    this.#beginSoon()
    await pause(Math.max(0, pauseMs - (performance.now() - startedAt)))
    for (const room of round.keys()) this.#busy.delete(room)
  }

  #take(): Map<Room, News> {
    const round = new Map<Room, News>()
    let messages = 0
    for (const [room, news] of this.#pending) {
      if (this.#busy.has(room)) continue
      if (round.size === mostRooms || (round.size > 0 && messages + news.messageIds.size > mostMessages)) break
      messages += news.messageIds.size
      round.set(room, news)
      this.#pending.delete(room)
    }
    return round
  }

  #putBack(room: Room, news: News): void {
    const later = this.#pending.get(room)
    this.#pending.set(room, {
      messageIds: new Set([...news.messageIds, ...(later?.messageIds ?? [])]),
      unread: news.unread || (later?.unread ?? false),
      unseen: news.unseen || (later?.unseen ?? false),
      ifChanged: news.ifChanged || (later?.ifChanged ?? false),
    })
  }

  /** Looks everything up first, so that a round is sent completely or not at all. */
  async #tell(round: Map<Room, News>): Promise<void> {
    const rooms = [...round.keys()].filter(({ sockets }) => sockets.size > 0)
    if (rooms.length === 0) return
    const inboxes = rooms.map(({ session, ...key }) => ({ ...key, contextKeys: session.contextKeys }))
    const [messages, counts] = await Promise.all([
      this.#readMessages(rooms, round),
      countUnread(this.#services.pool, inboxes, mostCounted + 1),
    ])
    for (const [index, room] of rooms.entries()) {
      const news = round.get(room) as News
      const packets = [
        ...(messages.get(room) ?? []).map((message): Packet => ['notification_received', { message }]),
        ...this.#countsFor(room, news, counts[index] as InboxCounts),
      ]
      for (const socket of room.sockets) this.#send(socket, packets)
    }
  }

  #countsFor(room: Room, { unread, unseen, ifChanged }: News, counts: InboxCounts): Packet[] {
    const text = JSON.stringify(counts)
    const isNew = ifChanged && this.#told.get(room) !== text
    this.#told.set(room, text)
    const packets: Packet[] = []
    if (unseen || isNew) packets.push(['unseen_count_changed', capped('unseenCount', counts.unseen)])
    const ofUnread = { counts: toUnreadCount(counts), ...capped('unreadCount', totalOf(counts.unread)) }
    if (unread || isNew) packets.push(['unread_count_changed', ofUnread])
    return packets
  }

  /** In the raw format that clients expect, in order of arrival. */
  async #readMessages(rooms: Room[], round: Map<Room, News>): Promise<Map<Room, object[]>> {
    const { db, pool } = this.#services
    const wanted = rooms.flatMap((room) =>
      [...(round.get(room)?.messageIds ?? [])].map((id) => ({ environmentId: room.environmentId, id })),
    )
    if (wanted.length === 0) return new Map()
    const rows = await findMessages(pool, wanted)
    // Workflows deleted since.
    const former = new Map<string, Map<string, NotificationWorkflow>>()
    const orphans = rows.filter(({ workflow_row }) => workflow_row === null)
    for (const environmentId of new Set(orphans.map(({ environment_id }) => environment_id))) {
      const own = orphans.filter(({ environment_id }) => environment_id === environmentId)
      former.set(environmentId, await workflowsOf(db, environmentId, own))
    }
    const shown = new Map(rooms.map((room) => [room, [] as object[]]))
    const roomOf = new Map(
      rooms.flatMap((room) => [...(round.get(room)?.messageIds ?? [])].map((id) => [id, room] as const)),
    )
    for (const { workflow_row, ...row } of rows) {
      const room = roomOf.get(row.id)
      const workflow = workflow_row ?? former.get(row.environment_id)?.get(row.workflow_id)
      if (room) shown.get(room)?.push(this.#show(row, room, workflow))
    }
    return shown
  }

  #show(row: MessageRow, { session }: Room, workflow: NotificationWorkflow | undefined): object {
    const { subscriber } = session
    // The spread comes last: before other members it would create a hidden class per message, which only a full garbage
    // collection frees.
    return {
      content: row.content ?? '',
      snoozedUntil: row.snoozed_until,
      subscriber: {
        _id: subscriber.id,
        subscriberId: subscriber.subscriber_id,
        ...given({ firstName: subscriber.first_name, lastName: subscriber.last_name, avatar: subscriber.avatar }),
      },
      workflow: toWorkflow(row, workflow),
      ...toMessageFields(row, undefined, session, this.#services.brand),
    }
  }
}

const capped = (name: string, count: number) => ({
  [name]: Math.min(count, mostCounted),
  hasMore: count > mostCounted,
})
