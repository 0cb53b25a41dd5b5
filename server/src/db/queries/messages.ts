// Reads, marks, snoozes and deletes messages after they were sent. Every function returns what it changed, and notifies the
// browsers and webhook endpoints concerned in the same statement.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type pg from 'pg'
import type { Db, Tx } from '../core/database.ts'
import { HeldMoment } from '../core/held-clock.ts'
import { allOf } from '../core/page.ts'
import type { MessageTable, StoredDetail } from '../core/tables.ts'
import { hiddenParameter, rowsGiven, statement } from '../core/transaction.ts'
import { tellOf } from './inbox-changes.ts'
import { type Inbox, type MessageFilter, matching, matchingOfAnyChannel } from './message-filter.ts'
import { type EventType, messageObject, telling } from './webhook-events.ts'

export type MessageRow = Selectable<MessageTable>

/** A message changed in bulk: enough to know who is affected. */
export type ChangedMessage = Pick<
  MessageRow,
  'id' | 'subscriber_row_id' | 'subscriber_id' | 'channel' | 'context_keys' | 'severity' | 'seen' | 'read' | 'archived'
>
const changedColumns = sql`c.id, c.subscriber_row_id, c.subscriber_id, c.channel, c.context_keys, c.severity, c.seen, c.read, c.archived`

interface InboxPage {
  limit: number
  offset?: number
  /** The last message of the previous page. */
  after?: Pick<MessageRow, 'created_at' | 'id'> | undefined
}

/** Newest first. */
export async function readInbox(
  db: Db | Tx,
  inbox: Inbox,
  filter: MessageFilter,
  { limit, offset = 0, after }: InboxPage,
): Promise<MessageRow[]> {
  const conditions = [
    ...matching(inbox, filter),
    ...(after ? [sql`(t.created_at, t.id) < (${after.created_at}::timestamptz, ${after.id})`] : []),
  ]
  const { rows } = await sql<MessageRow>`
    SELECT t.* FROM messages t WHERE ${allOf(conditions)}
    ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  return rows
}

/** The workflow of a message. */
export interface MessageWorkflowRow {
  id: string
  identifier: string
  name: string
  critical: boolean
  tags: string[]
  data: Record<string, unknown> | null
  severity: 'none' | 'low' | 'medium' | 'high'
}

/**
 * Prepared, like the counts that go with it, and with the workflows in the same statement, because browsers hear of every new
 * message. Looked up one by one, because PostgreSQL prunes partitions for one id at a time.
 */
const findNewMessages = statement(
  'find_new_messages',
  `SELECT t.*, w.workflow_row FROM ${rowsGiven('text', 'text')} AS g (environment_id, id)
   CROSS JOIN LATERAL (SELECT m.* FROM messages m WHERE m.environment_id = g.environment_id AND m.id = g.id) t
   LEFT JOIN LATERAL (
     SELECT json_build_object('id', w.id, 'identifier', w.identifier, 'name', w.name, 'critical', w.critical, 'tags', w.tags,
                              'data', w.data, 'severity', w.severity) AS workflow_row
     FROM workflows w WHERE w.environment_id = t.environment_id AND w.id = t.workflow_id) w ON true
   ORDER BY t.created_at, t.id`,
)

/** By ids, oldest first; without a workflow if it was deleted. */
export async function findMessages(
  pool: pg.Pool,
  keys: Array<{ environmentId: string; id: string }>,
): Promise<Array<MessageRow & { workflow_row: MessageWorkflowRow | null }>> {
  const { rows } = await pool.query<MessageRow & { workflow_row: MessageWorkflowRow | null }>({
    ...findNewMessages,
    values: [keys.map(({ environmentId }) => environmentId), keys.map(({ id }) => id)],
  })
  return rows
}

/** The number of matches of each filter, up to `most`, in one statement. */
export async function countInbox(db: Db | Tx, inbox: Inbox, filters: MessageFilter[], most: number): Promise<number[]> {
  if (filters.length === 0) return []
  const counts = filters.map(
    (filter) => sql`(
      SELECT count(*)::int FROM (SELECT FROM messages t WHERE ${allOf(matching(inbox, filter))} LIMIT ${most}) counted)`,
  )
  const { rows } = await sql<{ counts: number[] }>`SELECT ARRAY[${sql.join(counts)}] AS counts`.execute(db)
  return rows[0]?.counts ?? []
}

/** The unread and unseen counts of an inbox, up to `most`. */
export interface InboxCounts {
  unread: { high: number; medium: number; low: number; none: number }
  unseen: number
}

const counted = (condition: string) => `(
  SELECT count(*)::int FROM (
    SELECT FROM messages t
    WHERE t.environment_id = g.environment_id AND t.subscriber_row_id = g.subscriber_row_id AND t.channel = 'in_app'
      AND ${condition} AND NOT t.archived AND t.snoozed_until IS NULL AND t.context_keys = g.context_keys
    LIMIT ${hiddenParameter(4, 'int')}) counted)`
const countedUnread = (severity: string) => counted(`NOT t.read AND t.severity = '${severity}'`)

/** Prepared: with a partition for every month, planning it takes longer than running it. */
const countUnreadInboxes = statement(
  'count_unread_inboxes',
  `SELECT ${countedUnread('high')} AS high, ${countedUnread('medium')} AS medium, ${countedUnread('low')} AS low,
     ${countedUnread('none')} AS none, ${counted('NOT t.seen')} AS unseen
   FROM (
     SELECT environment_id, subscriber_row_id, ARRAY(SELECT json_array_elements_text(keys)) AS context_keys, place
     FROM ${rowsGiven('text', 'text', 'json')}
       WITH ORDINALITY AS t (environment_id, subscriber_row_id, keys, place)) g
   ORDER BY g.place`,
)

/** For many inboxes, each in one set of contexts, in one statement; in their order. */
export async function countUnread(
  pool: pg.Pool,
  inboxes: Array<Inbox & { contextKeys: string[] }>,
  most: number,
): Promise<InboxCounts[]> {
  const { rows } = await pool.query<InboxCounts['unread'] & { unseen: number }>({
    ...countUnreadInboxes,
    values: [
      inboxes.map(({ environmentId }) => environmentId),
      inboxes.map(({ subscriberRowId }) => subscriberRowId),
      inboxes.map(({ contextKeys }) => JSON.stringify(contextKeys)),
      most,
    ],
  })
  return rows.map(({ unseen, ...unread }) => ({ unread, unseen }))
}

export type Marking = 'read' | 'unread' | 'mark_unread' | 'seen' | 'unseen' | 'archive' | 'archive_read' | 'unarchive'

interface Effect {
  sets: (now: Date) => RawBuilder<unknown>
  /** True for messages that are marked already. */
  isDone: RawBuilder<unknown>
}

const becomesSeen = (now: Date) =>
  sql`seen = true, last_seen_at = ${now}, first_seen_at = coalesce(m.first_seen_at, ${now})`

const effects: Record<Marking, Effect> = {
  read: { sets: (now) => sql`read = true, last_read_at = ${now}, ${becomesSeen(now)}`, isDone: sql`t.read AND t.seen` },
  unread: {
    sets: (now) => sql`read = false, last_read_at = NULL, archived = false, archived_at = NULL, ${becomesSeen(now)}`,
    isDone: sql`NOT t.read AND NOT t.archived`,
  },
  // "Unread" of API version 1: the message stays archived, and the date is that of the marking.
  mark_unread: {
    sets: (now) => sql`read = false, last_read_at = ${now}, ${becomesSeen(now)}`,
    isDone: sql`NOT t.read`,
  },
  seen: { sets: becomesSeen, isDone: sql`t.seen` },
  unseen: { sets: (now) => sql`seen = false, last_seen_at = ${now}, first_seen_at = NULL`, isDone: sql`NOT t.seen` },
  archive: {
    sets: (now) => sql`archived = true, archived_at = ${now}, read = true, last_read_at = ${now}, ${becomesSeen(now)}`,
    isDone: sql`t.archived AND t.read AND t.seen`,
  },
  // For messages that are read: the time of reading stays.
  archive_read: {
    sets: (now) => sql`archived = true, archived_at = ${now}, ${becomesSeen(now)}`,
    isDone: sql`t.archived`,
  },
  unarchive: {
    sets: (now) =>
      sql`archived = false, archived_at = NULL, read = true, last_read_at = coalesce(m.last_read_at, ${now}), ${becomesSeen(now)}`,
    isDone: sql`NOT t.archived`,
  },
}

/** Marks the matching messages, also those marked already, and returns them. */
export async function markMessages(
  db: Db | Tx,
  inbox: Inbox,
  filter: MessageFilter & { anyChannel?: boolean },
  marking: Marking,
  now: Date,
): Promise<MessageRow[]> {
  const conditions = filter.anyChannel ? matchingOfAnyChannel(inbox, filter) : matching(inbox, filter)
  const change = { ...inbox, ...filter, sets: effects[marking].sets(now), now, news: newsOf(marking) }
  return update<MessageRow>(db, conditions, { ...change, event: events[marking] }, sql`c.*`)
}

/** Marks the matching messages that are not marked yet. */
export async function markAll(
  db: Db | Tx,
  inbox: Inbox,
  filter: MessageFilter,
  marking: Marking,
  now: Date,
): Promise<ChangedMessage[]> {
  const { sets, isDone } = effects[marking]
  const conditions = [...matching(inbox, filter), sql`NOT (${isDone})`]
  const change = { ...inbox, ...filter, sets: sets(now), now, news: newsOf(marking) }
  return update<ChangedMessage>(db, conditions, { ...change, event: events[marking] }, changedColumns)
}

interface MessageEvent {
  type: EventType
  /** Which messages the event is sent for, by their previous state. */
  when?: RawBuilder<unknown>
}

/** There is no event for marking a message unseen. */
const events: Partial<Record<Marking, MessageEvent>> = {
  read: { type: 'message.read', when: sql`NOT l.read` },
  unread: { type: 'message.unread', when: sql`l.read` },
  mark_unread: { type: 'message.unread', when: sql`l.read` },
  seen: { type: 'message.seen', when: sql`NOT l.seen` },
  archive: { type: 'message.archived', when: sql`NOT l.archived` },
  archive_read: { type: 'message.archived', when: sql`NOT l.archived` },
  unarchive: { type: 'message.unarchived', when: sql`l.archived` },
}

const newsOf = (marking: Marking): Change['news'] => (marking === 'seen' || marking === 'unseen' ? 'seen' : 'read')

interface Change {
  environmentId: string
  /** If the ids are known, so that PostgreSQL can prune partitions. */
  ids?: string[] | undefined
  sets: RawBuilder<unknown>
  now: Date
  /** For browsers. */
  news: 'read' | 'seen'
  /** For webhook endpoints. */
  event: MessageEvent | undefined
}

/** Whether the message `m` is one of the locked ones. */
const isLocked = ({ environmentId, ids }: Pick<Change, 'environmentId' | 'ids'>) =>
  sql`m.environment_id = ${environmentId} AND m.id = locked.id ${ids ? sql`AND m.id = ANY(${ids}::text[])` : sql``}`

/**
 * Locks the rows in the order of their ids first, so that two changes of the same inbox cannot deadlock; an UPDATE alone has
 * no order.
 */
async function update<Row>(
  db: Db | Tx,
  conditions: RawBuilder<unknown>[],
  change: Change,
  returned: RawBuilder<unknown>,
): Promise<Row[]> {
  const { rows } = await sql<Row>`
    WITH locked AS MATERIALIZED (
      SELECT t.id, t.seen, t.read, t.archived FROM messages t WHERE ${allOf(conditions)} ORDER BY t.id FOR NO KEY UPDATE
    ), changed AS (
      UPDATE messages m SET ${change.sets}, updated_at = ${change.now}
      FROM locked WHERE ${isLocked(change)} RETURNING m.*)
    ${told(change.news, change.event, change.now)}, ${waitsTold(change.environmentId)}
    SELECT ${returned} FROM changed c, told, webhooks, waits`.execute(db)
  return rows
}

/** The statement must select from it along with `changed`, or it does not run. */
const told = (news: 'read' | 'seen' | 'id', event: MessageEvent | undefined, now: Date) =>
  sql`, telling AS MATERIALIZED (${sql.raw(tellOf('changed', news))}), told AS MATERIALIZED (SELECT count(*) FROM telling)
      , ${event ? endpointsTold(event, now) : sql`webhooks AS (SELECT)`}`

/** The same for runs that wait for something to happen to one of them. */
const waitsTold = (environmentId: string) => sql`waits AS MATERIALIZED (
  SELECT tell_message_waits(${environmentId}, array_agg(c.notification_id)) FROM changed c)`

const endpointsTold = ({ type, when }: MessageEvent, now: Date) =>
  telling({
    type,
    object: messageObject,
    subscriberId: sql`c.subscriber_id`,
    now,
    ...(when ? { when: sql`EXISTS (SELECT FROM locked l WHERE l.id = c.id AND ${when})` } : {}),
  })

/** One message, locked until the transaction ends. */
export async function lockMessage(tx: Tx, environmentId: string, id: string): Promise<MessageRow | undefined> {
  const row = await tx
    .selectFrom('messages')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row as MessageRow | undefined
}

export type ButtonType = 'primary' | 'secondary'

interface ActionResult {
  status: 'pending' | 'done'
  result: { type: ButtonType; payload?: Record<string, unknown> | undefined }
}

/** Stores the subscriber's action on a message that the caller has locked. */
export async function setAction(tx: Tx, row: MessageRow, action: ActionResult, now: Date): Promise<MessageRow> {
  const cta = row.cta ?? {}
  const before = (cta.action ?? {}) as Record<string, unknown>
  const { rows } = await sql<MessageRow>`
    WITH changed AS (
      UPDATE messages m SET cta = ${JSON.stringify({ ...cta, action: { ...before, ...action } })}, updated_at = ${now}
      WHERE m.environment_id = ${row.environment_id} AND m.id = ${row.id} RETURNING m.*
    ), ${waitsTold(row.environment_id)}
    SELECT c.* FROM changed c, waits`.execute(tx)
  if (!rows[0]) throw new Error('A message that was locked is gone.')
  return rows[0]
}

/**
 * Snoozes a message. Returns nothing if there is no such message; then the caller must roll back. Timers are locked before
 * messages everywhere, as the engine does when one is due.
 */
export async function snoozeMessage(
  tx: Tx,
  inbox: Inbox,
  filter: MessageFilter & { ids: [string] },
  until: Date,
  now: Date,
): Promise<MessageRow | undefined> {
  const [id] = filter.ids
  await sql`
    INSERT INTO timers (environment_id, subject_id, position, kind, due_at, held)
    VALUES (${inbox.environmentId}, ${id}, 0, 'unsnooze', ${until},
            CASE WHEN ${now instanceof HeldMoment}::boolean THEN nextval('held_order') END)
    ON CONFLICT (environment_id, subject_id, position) DO UPDATE SET due_at = excluded.due_at, held = excluded.held
    WHERE timers.kind = 'unsnooze'`.execute(tx)
  const sets = sql`snoozed_until = ${until}, archived = false, archived_at = NULL, ${becomesSeen(now)}`
  const event = { type: 'message.snoozed' as const }
  const change = { ...inbox, ids: filter.ids, sets, now, news: 'read' as const, event }
  const [row] = await update<MessageRow>(tx, matching(inbox, filter), change, sql`c.*`)
  if (row) await logOnJobs(tx, [row], 'Message snoozed', now)
  return row
}

/** Ends the snooze of a message. Returns nothing if there is no such message. */
export async function unsnoozeMessage(
  tx: Tx,
  inbox: Inbox,
  filter: MessageFilter & { ids: [string] },
  now: Date,
): Promise<MessageRow | undefined> {
  const conditions = matching(inbox, { ...filter, snoozed: true })
  await deleteTimers(tx, inbox.environmentId, conditions)
  const sets = sql`snoozed_until = NULL, archived = false, archived_at = NULL, ${becomesSeen(now)}`
  const event = { type: 'message.unsnoozed' as const }
  const change = { ...inbox, ids: filter.ids, sets, now, news: 'read' as const, event }
  const [row] = await update<MessageRow>(tx, conditions, change, sql`c.*`)
  if (row) await logOnJobs(tx, [row], 'Message unsnoozed', now)
  return row
}

/**
 * Handles due timers of kind `unsnooze`: the message returns as new. Skips messages that were deleted, unsnoozed or snoozed
 * again in the meantime. The caller deletes the timers.
 */
export async function unsnoozeDue(
  tx: Tx,
  due: Array<{ environmentId: string; id: string }>,
  now: Date,
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    WITH locked AS MATERIALIZED (
      SELECT t.environment_id, t.id FROM messages t
      JOIN unnest(${due.map(({ environmentId }) => environmentId)}::text[], ${due.map(({ id }) => id)}::text[])
        AS given (environment_id, id) ON t.environment_id = given.environment_id AND t.id = given.id
      WHERE t.id = ANY(${due.map(({ id }) => id)}::text[]) AND t.snoozed_until <= ${now}
      ORDER BY t.id FOR NO KEY UPDATE OF t
    ), changed AS (
      UPDATE messages m
      SET snoozed_until = NULL, read = false, last_read_at = NULL, created_at = ${now}, updated_at = ${now},
          delivered_at = coalesce(m.delivered_at, ARRAY[m.created_at]) || ${now}::timestamptz(3)
      FROM locked WHERE m.environment_id = locked.environment_id AND m.id = locked.id
      RETURNING m.*)
    ${told('id', { type: 'message.unsnoozed' }, now)}
    SELECT c.* FROM changed c, told, webhooks`.execute(tx)
  await logOnJobs(tx, rows, 'Message unsnoozed', now)
  return rows
}

/** Adds a line to the logs of these messages' jobs. */
async function logOnJobs(tx: Tx, messages: MessageRow[], detail: string, now: Date): Promise<void> {
  if (messages.length === 0) return
  const lines = messages.map(
    ({ id }): StoredDetail => ({
      at: now.toISOString(),
      detail,
      status: 'Success',
      messageId: id,
    }),
  )
  await sql`
    UPDATE jobs j SET details = j.details || given.lines
    FROM (
      SELECT environment_id, notification_id, job_id, jsonb_agg(line) AS lines
      FROM unnest(${messages.map((row) => row.environment_id)}::text[], ${messages.map((row) => row.notification_id)}::text[],
                  ${messages.map((row) => row.job_id)}::text[], ${lines.map((line) => JSON.stringify(line))}::jsonb[])
        AS each_line (environment_id, notification_id, job_id, line)
      GROUP BY environment_id, notification_id, job_id) given
    WHERE j.environment_id = given.environment_id AND j.notification_id = given.notification_id AND j.id = given.job_id
      AND j.notification_id = ANY(${messages.map((row) => row.notification_id)}::text[])`.execute(tx)
}

/** Deletes the messages `t` that match, with the timers of snoozed ones. */
export async function deleteMessages(
  tx: Tx,
  { environmentId, ids, now }: { environmentId: string; ids?: string[] | undefined; now: Date },
  conditions: RawBuilder<unknown>[] = [],
): Promise<ChangedMessage[]> {
  const own = [
    sql`t.environment_id = ${environmentId}`,
    ...(ids ? [sql`t.id = ANY(${ids}::text[])`] : []),
    ...conditions,
  ]
  await deleteTimers(tx, environmentId, own)
  const { rows } = await sql<ChangedMessage>`
    WITH locked AS MATERIALIZED (
      SELECT t.id FROM messages t WHERE ${allOf(own)} ORDER BY t.id FOR UPDATE
    ), changed AS (
      DELETE FROM messages m USING locked WHERE ${isLocked({ environmentId, ids })} RETURNING m.*)
    ${told('read', { type: 'message.deleted' }, now)}
    SELECT ${changedColumns} FROM changed c, told, webhooks`.execute(tx)
  return rows
}

/** The same within one inbox. */
export const deleteFromInbox = (tx: Tx, inbox: Inbox, filter: MessageFilter, now: Date): Promise<ChangedMessage[]> =>
  deleteMessages(tx, { ...inbox, ids: filter.ids, now }, matching(inbox, filter))

/** Before the messages, and in the order of ids: see `snoozeMessage`. */
async function deleteTimers(tx: Tx, environmentId: string, conditions: RawBuilder<unknown>[]): Promise<void> {
  await sql`
    WITH locked AS MATERIALIZED (
      SELECT k.subject_id FROM timers k
      JOIN messages t ON t.environment_id = k.environment_id AND t.id = k.subject_id
      WHERE k.environment_id = ${environmentId} AND k.position = 0 AND k.kind = 'unsnooze'
        AND t.snoozed_until IS NOT NULL AND ${allOf(conditions)}
      ORDER BY k.subject_id FOR UPDATE OF k)
    DELETE FROM timers k USING locked
    WHERE k.environment_id = ${environmentId} AND k.subject_id = locked.subject_id AND k.position = 0`.execute(tx)
}
