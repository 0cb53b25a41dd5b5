// What browsers are told: new messages, and how many there are to read and to see. While one round is being looked up the next
// one gathers, so that whatever comes at once is counted once.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'socket.io'
import type { InboxChange, InboxKey } from '../db/inbox-changes.ts'
import { countUnread, findMessages, type InboxCounts, type MessageRow } from '../db/messages.ts'
import { mostCounted } from './inbox-items.ts'
import { type NotificationWorkflow, toWorkflow, workflowsOf } from './inbox-notification.ts'
import { totalOf, toUnreadCount } from './inbox-session.ts'
import { given, toMessageFields } from './message-shape.ts'
import type { InboxSession, Services } from './resource.ts'

/** Between the beginnings of two rounds. */
const roundMs = 10
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
  /** Only if they are not what was told last. */
  ifChanged: boolean
}

export type Packet = [event: string, payload: object]
type Send = (socket: Socket, packets: Packet[]) => void

export class InboxNews {
  readonly #services: Pick<Services, 'db' | 'pool' | 'brand' | 'log'>
  readonly #send: Send
  readonly #stopping = new AbortController()
  readonly #told = new WeakMap<Room, string>()
  #pending = new Map<Room, News>()
  #working: Promise<void> | undefined

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
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#working
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopping
    const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined)
    // What one notification of the database names goes together.
    await new Promise(setImmediate)
    for (let failures = 0; this.#pending.size > 0 && !signal.aborted; ) {
      const startedAt = performance.now()
      const round = this.#take()
      try {
        await this.#tell(round)
        failures = 0
        if (this.#pending.size > 0) await pause(Math.max(0, roundMs - (performance.now() - startedAt)))
      } catch (error) {
        this.#services.log.warn({ err: error }, 'what is new in inboxes could not be looked up; trying again')
        for (const [room, news] of round) this.#putBack(room, news)
        failures += 1
        await pause(Math.min(longestRetryMs, 50 * 2 ** failures))
      }
    }
  }

  #take(): Map<Room, News> {
    const round = new Map<Room, News>()
    let messages = 0
    for (const [room, news] of this.#pending) {
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

  /** Looks everything up first: either all of a round is sent or nothing. */
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

  /** As raw as clients expect them, in the order they came. */
  async #readMessages(rooms: Room[], round: Map<Room, News>): Promise<Map<Room, object[]>> {
    const { db } = this.#services
    const wanted = rooms.flatMap((room) =>
      [...(round.get(room)?.messageIds ?? [])].map((id) => ({ environmentId: room.environmentId, id })),
    )
    if (wanted.length === 0) return new Map()
    const rows = await findMessages(db, wanted)
    const workflows = new Map<string, Map<string, NotificationWorkflow>>()
    for (const environmentId of new Set(rows.map(({ environment_id }) => environment_id))) {
      const own = rows.filter(({ environment_id }) => environment_id === environmentId)
      workflows.set(environmentId, await workflowsOf(db, environmentId, own))
    }
    const shown = new Map(rooms.map((room) => [room, [] as object[]]))
    const roomOf = new Map(
      rooms.flatMap((room) => [...(round.get(room)?.messageIds ?? [])].map((id) => [id, room] as const)),
    )
    for (const row of rows) {
      const room = roomOf.get(row.id)
      const workflow = workflows.get(row.environment_id)?.get(row.workflow_id)
      if (room) shown.get(room)?.push(this.#show(row, room, workflow))
    }
    return shown
  }

  #show(row: MessageRow, { session }: Room, workflow: NotificationWorkflow | undefined): object {
    const { subscriber } = session
    return {
      ...toMessageFields(row, undefined, session, this.#services.brand),
      content: row.content ?? '',
      snoozedUntil: row.snoozed_until,
      subscriber: {
        _id: subscriber.id,
        subscriberId: subscriber.subscriber_id,
        ...given({ firstName: subscriber.first_name, lastName: subscriber.last_name, avatar: subscriber.avatar }),
      },
      workflow: toWorkflow(row, workflow),
    }
  }
}

const capped = (name: string, count: number) => ({
  [name]: Math.min(count, mostCounted),
  hasMore: count > mostCounted,
})
