// Operations on the notifications of an inbox, for both the subscriber's browser and the backend.
import { Type } from 'typebox'
import { HeldMoment } from '../../db/core/held-clock.ts'
import type { Inbox, MessageFilter } from '../../db/queries/message-filter.ts'
import {
  type ButtonType,
  countInbox,
  deleteFromInbox,
  lockMessage,
  type Marking,
  type MessageRow,
  markAll,
  markMessages,
  readInbox,
  setAction,
  snoozeMessage,
  unsnoozeMessage,
} from '../../db/queries/messages.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import { given } from '../activity/message-shape.ts'
import type { Services } from '../edge/resource.ts'
import { Body, Id } from '../edge/schema.ts'
import { Severity } from '../workflows/shape.ts'
import {
  type DataForms,
  readCountFilters,
  readData,
  readTags,
  refuseUnreadArchived,
  severityOfQuery,
  tagsOfQuery,
} from './filter.ts'
import { buttonOf, type InboxNotification, showNotifications } from './notification.ts'
import { pressAnswer, questionOf } from './press-answer.ts'

const shortestSnoozeMs = 60_000
const longestSnoozeDays = 90
export const longestSnoozeHours = longestSnoozeDays * 24
/** Enough to show "99+". */
export const mostCounted = 100
const latestTimestamp = 253_402_300_799_999

const State = Type.Optional(Type.Boolean())
const Moment = Type.Optional(
  Type.Integer({ minimum: 0, maximum: latestTimestamp, description: 'In milliseconds since 1970; inclusive' }),
)

export const listQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
  after: Type.Optional(Id),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  read: State,
  archived: State,
  snoozed: State,
  seen: State,
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Any of these; as one JSON text also `{"or": [...]}` or `{"and": [{"or": [...]}, ...]}`',
    }),
  ),
  data: Type.Optional(
    Type.String({ description: 'A JSON object; matches notifications whose data contains all of it' }),
  ),
  severity: Type.Optional(Type.Array(Severity)),
  createdGte: Moment,
  createdLte: Moment,
}

export const countQuery = Type.Object({
  filters: Type.Optional(
    Type.String({
      description: `A JSON list of filters: \`tags\`, \`read\`, \`archived\`, \`snoozed\`, \`seen\`, \`severity\`, \`data\`, \`contextKeys\`. Each is counted up to ${mostCounted}`,
    }),
  ),
})

export const selectionFields = {
  tags: Type.Optional(
    Type.Unknown({
      description: 'A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group',
    }),
  ),
  data: Type.Optional(
    Type.String({ description: 'The text of a JSON object; matches notifications whose data contains all of it' }),
  ),
  createdLte: Moment,
}
export const NotificationIds = Type.Optional(Type.Array(Id, { description: 'Only these, ignoring other filters' }))
export const Snooze = Body({ snoozeUntil: Type.String({ format: 'date-time' }) })

/** Operations that mark one notification. */
export const marks: Array<[operation: string, marking: Marking, summary: string]> = [
  ['read', 'read', 'Mark a notification as read'],
  ['unread', 'unread', 'Mark a notification as unread, which also unarchives it'],
  ['archive', 'archive', 'Archive a notification'],
  ['unarchive', 'unarchive', 'Unarchive a notification'],
]

/** Operations that mark many. Snoozed notifications stay unchanged, since they return as new. */
export const bulkMarks: Array<[operation: string, marking: Marking, only: MessageFilter, summary: string]> = [
  ['read', 'read', { snoozed: false }, 'Mark all matching notifications as read'],
  ['archive', 'archive', { snoozed: false }, 'Archive all matching notifications'],
  ['read-archive', 'archive_read', { snoozed: false, read: true }, 'Archive all matching read notifications'],
]

interface ListRequest {
  limit?: number
  after?: string
  offset?: number
  read?: boolean
  archived?: boolean
  snoozed?: boolean
  seen?: boolean
  data?: string
  severity?: string[]
  createdGte?: number
  createdLte?: number
}

/** One notification, in the given contexts. */
type One = MessageFilter & { ids: [string] }

export class InboxItems {
  readonly #services: Pick<Services, 'db' | 'engine'>
  readonly #forms: DataForms

  constructor(services: Pick<Services, 'db' | 'engine'>, forms: DataForms = {}) {
    this.#services = services
    this.#forms = forms
  }

  /** The filter of a bulk operation: tags, data and latest creation time. */
  selection(
    { tags, data, createdLte }: { tags?: unknown; data?: string; createdLte?: number },
    now: Date,
  ): MessageFilter {
    return { tags: readTags(tags), data: readData(data, this.#forms).conditions, createdTo: momentOf(createdLte, now) }
  }

  /** @param query as sent, since tags may have several names */
  async list(
    find: () => Promise<SubscriberRow>,
    query: ListRequest & Record<string, unknown>,
    now: Date,
    contextKeys?: string[],
  ) {
    const { db } = this.#services
    const { limit = 10, offset = 0, after, read, archived, snoozed, seen, createdGte, createdLte } = query
    const tags = tagsOfQuery(query)
    const severity = severityOfQuery(query)
    const { data, conditions } = readData(query.data, this.#forms)
    const filter: MessageFilter = {
      ...{ read, archived, snoozed, seen, severity, contextKeys },
      tags: readTags(tags),
      data: conditions,
      createdFrom: momentOf(createdGte, now),
      createdTo: momentOf(createdLte, now),
    }
    refuseUnreadArchived(filter)
    const subscriber = await find()
    const inbox = inboxOf(subscriber)
    const [cursor] = after === undefined ? [] : await readInbox(db, inbox, { ids: [after] }, { limit: 1 })
    if (after !== undefined && !cursor) throw fail('notification_cursor_unknown', { after })
    const rows = await readInbox(db, inbox, filter, {
      limit: limit + 1,
      offset: cursor ? 0 : offset,
      after: cursor,
    })
    return {
      data: await showNotifications(db, rows.slice(0, limit), subscriber),
      hasMore: rows.length > limit,
      filter: given({ tags, read, archived, snoozed, seen, severity, data, createdGte, createdLte }),
    }
  }

  async count(find: () => Promise<SubscriberRow>, text: string | undefined, contextKeys?: string[]) {
    const filters = readCountFilters(text, this.#forms)
    const wanted = filters.map(({ filter }) => (contextKeys ? { ...filter, contextKeys } : filter))
    const counts = await countInbox(this.#services.db, inboxOf(await find()), wanted, mostCounted)
    return filters.map(({ shown }, index) => ({ count: counts[index] ?? 0, filter: shown }))
  }

  async mark(subscriber: SubscriberRow, filter: One, marking: Marking, now: Date): Promise<InboxNotification> {
    const { db } = this.#services
    const [row] = await markMessages(db, inboxOf(subscriber), filter, marking, now)
    return this.#show(row, subscriber, filter)
  }

  async markAll(subscriber: SubscriberRow, filter: MessageFilter, marking: Marking, now: Date): Promise<void> {
    await markAll(this.#services.db, inboxOf(subscriber), filter, marking, now)
  }

  /** The end of the snooze; refused if too soon or too late. */
  readSnooze({ snoozeUntil }: { snoozeUntil: string }, now: Date): Date {
    const until = new Date(snoozeUntil)
    const aheadMs = until.getTime() - now.getTime()
    if (aheadMs < shortestSnoozeMs) throw fail('snooze_too_short')
    if (aheadMs > longestSnoozeDays * 86_400_000) throw fail('snooze_too_long', { days: longestSnoozeDays })
    return until
  }

  async snooze(subscriber: SubscriberRow, filter: One, until: Date, now: Date): Promise<InboxNotification> {
    const { db } = this.#services
    const [notificationId] = filter.ids
    const row = await db.transaction().execute(async (tx) => {
      const snoozed = await snoozeMessage(tx, inboxOf(subscriber), filter, until, now)
      if (!snoozed) throw fail('notification_to_snooze_not_found', { notificationId })
      return snoozed
    })
    return this.#show(row, subscriber, filter)
  }

  async unsnooze(subscriber: SubscriberRow, filter: One, now: Date): Promise<InboxNotification> {
    const { db } = this.#services
    const row = await db.transaction().execute((tx) => unsnoozeMessage(tx, inboxOf(subscriber), filter, now))
    if (!row) throw fail('notification_not_snoozed', { notificationId: filter.ids[0] })
    return this.#show(row, subscriber, filter)
  }

  /** Marks a button as pressed, or as pending again. */
  async press(
    subscriber: SubscriberRow,
    filter: One,
    { type, isDone }: { type: ButtonType; isDone: boolean },
    now: Date,
  ): Promise<InboxNotification> {
    const { db } = this.#services
    const asking = await this.#questionIn(subscriber, filter)
    if (asking !== undefined) {
      if (isDone) await pressAnswer(this.#services, { subscriber, questionId: asking, type })
      return this.mark(subscriber, filter, 'read', now)
    }
    const row = await db.transaction().execute(async (tx) => {
      const [id] = filter.ids
      const locked = await lockMessage(tx, subscriber.environment_id, id)
      const [found] = locked ? await readInbox(tx, inboxOf(subscriber), filter, { limit: 1 }) : []
      if (!found) throw fail('inbox_notification_not_found', { notificationId: id })
      if (!buttonOf(found, type)) throw fail('button_not_found', { type })
      const pressed = await setAction(tx, found, { status: isDone ? 'done' : 'pending', result: { type } }, now)
      if (!isDone || pressed.read) return pressed
      const [read] = await markMessages(tx, inboxOf(subscriber), filter, 'read', now)
      return read
    })
    return this.#show(row, subscriber, filter)
  }

  /** The question that a notification asks, if it does. What was pressed there is not taken back. */
  async #questionIn(subscriber: SubscriberRow, filter: One): Promise<string | undefined> {
    const [found] = await readInbox(this.#services.db, inboxOf(subscriber), filter, { limit: 1 })
    return found && (await questionOf(this.#services.db, found))
  }

  async delete(subscriber: SubscriberRow, filter: One, now: Date): Promise<void> {
    if ((await this.deleteAll(subscriber, filter, now)) === 0)
      throw fail('inbox_notification_not_found', { notificationId: filter.ids[0] })
  }

  /** @returns how many were deleted */
  async deleteAll(subscriber: SubscriberRow, filter: MessageFilter, now: Date): Promise<number> {
    const { db } = this.#services
    return (await db.transaction().execute((tx) => deleteFromInbox(tx, inboxOf(subscriber), filter, now))).length
  }

  /** The notification after an operation; throws if it was not found. */
  async #show(row: MessageRow | undefined, subscriber: SubscriberRow, { ids }: One): Promise<InboxNotification> {
    if (!row) throw fail('inbox_notification_not_found', { notificationId: ids[0] })
    const [notification] = await showNotifications(this.#services.db, [row], subscriber)
    return notification as InboxNotification
  }
}

/** Where the clock is held, messages of that time have been made until now. */
function momentOf(ms: number | undefined, now: Date): Date | undefined {
  if (ms === undefined) return undefined
  return now instanceof HeldMoment ? new HeldMoment(new Date(ms), now.real) : new Date(ms)
}

const inboxOf = ({ environment_id, id }: SubscriberRow): Inbox => ({
  environmentId: environment_id,
  subscriberRowId: id,
})
