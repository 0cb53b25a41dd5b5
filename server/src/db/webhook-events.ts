// The outbox of our webhooks: what happened, and for whom, written by the very statement or in the very transaction that made
// it happen. Where no endpoint wants to know, nothing is written.
import { CompiledQuery, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import { newId } from './ids.ts'
import { storableJson } from './storable.ts'
import type { WebhookEndpointTable, WebhookEventTable } from './tables.ts'
import { statement, type Transaction } from './transaction.ts'

export const eventTypes = [
  'message.sent',
  'message.failed',
  'message.delivered',
  'message.seen',
  'message.read',
  'message.unread',
  'message.archived',
  'message.unarchived',
  'message.snoozed',
  'message.unsnoozed',
  'message.deleted',
  'workflow.created',
  'workflow.updated',
  'workflow.deleted',
  'workflow.published',
  'subscriber.created',
  'subscriber.updated',
  'subscriber.deleted',
  'preference.updated',
] as const
export type EventType = (typeof eventTypes)[number]

export type EndpointRow = Selectable<WebhookEndpointTable>
export type EventRow = Selectable<WebhookEventTable>

const wants = (type: string) => `e.active AND (e.event_types IS NULL OR ${type} = ANY (e.event_types))`

/** What becomes of the rows of `told`: a delivery for each endpoint that wants them. */
const deliveriesOf = (now: string) => `
  INSERT INTO webhook_deliveries (environment_id, id, event_id, endpoint_id, status, attempts, due_at, history, created_at, updated_at)
  SELECT t.environment_id, new_row_id(${now}), t.id, e.id, 'pending', 0, ${now}, '[]', ${now}, ${now}
  FROM webhook_told t JOIN webhook_endpoints e ON e.environment_id = t.environment_id AND ${wants('t.type')}`

// ---- As a part of the statement that makes the change

interface Telling {
  type: EventType | RawBuilder<unknown>
  /** What is kept of the row `c`, as JSON. */
  object: RawBuilder<unknown>
  previous?: RawBuilder<unknown>
  subscriberId?: RawBuilder<unknown>
  /** Of which rows there is something to tell; all, unless said. */
  when?: RawBuilder<unknown>
  now: Date
}

/** Parts of a WITH, behind one called `changed` that has the rows this is about. Nothing need be read of them. */
export function telling({ type, object, previous, subscriberId, when, now }: Telling): RawBuilder<unknown> {
  const at = sql`${now}::timestamptz(3)`
  const word = typeof type === 'string' ? sql.lit(type) : type
  return sql`
    webhook_told AS (
      INSERT INTO webhook_events (environment_id, id, type, object, previous, subscriber_id, created_at)
      SELECT c.environment_id, new_row_id(${at}), w.type, ${object}, ${previous ?? sql`NULL::json`}, ${subscriberId ?? sql`NULL`}, ${at}
      FROM changed c CROSS JOIN LATERAL (SELECT ${word}::text AS type) w
      WHERE ${when ?? sql`true`} AND EXISTS (
        SELECT FROM webhook_endpoints e WHERE e.environment_id = c.environment_id AND ${sql.raw(wants('w.type'))})
      RETURNING environment_id, id, type, created_at
    ), webhook_sent AS (${sql.raw(deliveriesOf('t.created_at'))})`
}

// ---- In the transaction of the change

export interface NewEvent {
  type: EventType
  object: object
  previous?: object | undefined
  subscriberId?: string | undefined
}

const columns = 'environment_id text, id text, type text, object json, previous json, subscriber_id text'

const recordAll = (name: string, when: string) =>
  statement(
    name,
    `WITH webhook_told AS (
       INSERT INTO webhook_events (environment_id, id, type, object, previous, subscriber_id, created_at)
       SELECT c.environment_id, c.id, c.type, c.object, c.previous, c.subscriber_id, $2::timestamptz
       FROM json_to_recordset($1::json) AS c (${columns})
       WHERE EXISTS (SELECT FROM webhook_endpoints e WHERE e.environment_id = c.environment_id AND ${wants('c.type')}) ${when}
       RETURNING environment_id, id, type
     ) ${deliveriesOf('$2::timestamptz')}`,
  )

const recordEvents = recordAll('record_webhook_events', '')
/** Ahead of the statement that stores these messages: what was stored of them before has told its part. */
const recordNewStates = recordAll(
  'record_message_states',
  `AND NOT EXISTS (SELECT FROM messages m WHERE m.environment_id = c.environment_id AND m.id = c.object ->> 'id'
     AND m.status = c.object ->> 'status')`,
)

type Told = NewEvent & { environmentId: string }

const rowsOf = (events: Told[], now: Date) =>
  storableJson(
    events.map(({ environmentId, type, object, previous, subscriberId }) => ({
      environment_id: environmentId,
      id: newId(now),
      type,
      object,
      previous,
      subscriber_id: subscriberId,
    })),
  )

export async function tell(tx: Tx, environmentId: string, events: NewEvent[], now: Date): Promise<void> {
  if (events.length === 0) return
  const told = events.map((event) => ({ environmentId, ...event }))
  await tx.executeQuery(CompiledQuery.raw(recordEvents.text, [rowsOf(told, now), now]))
}

/** The same for events of several environments, from statements that are prepared. */
export async function tellAll(transaction: Transaction, events: Told[], now: Date): Promise<void> {
  if (events.length > 0) await transaction.run(recordEvents, [rowsOf(events, now), now])
}

/** The same for messages that are about to be stored, of which `object` is the row. */
export async function tellOfStates(transaction: Transaction, events: Told[], now: Date): Promise<void> {
  if (events.length > 0) await transaction.run(recordNewStates, [rowsOf(events, now), now])
}

/** What the endpoints of an environment want to be told of. */
export async function wantedTypes(db: Db | Tx, environmentId: string): Promise<ReadonlySet<EventType>> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select('event_types')
    .where('environment_id', '=', environmentId)
    .where('active', '=', true)
    .execute()
  return new Set(rows.flatMap(({ event_types }) => (event_types ?? eventTypes) as EventType[]))
}

// ---- What is kept of rows

/** Of a message everything but what it says. */
const unkept = [
  'content',
  'subject',
  'avatar',
  'cta',
  'data',
  'tags',
  'event_id',
  'job_id',
  'step_row_id',
  'webhook_url',
]
export const messageObject = sql`(to_jsonb(c) - ${sql.lit(`{${unkept.join()}}`)}::text[])::json`

export const keptOfMessage = <Row extends object>(row: Row): object =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !unkept.includes(name)))

/** Of a subscriber nothing that opens a device or a chat. */
export const subscriberObject = sql`(to_jsonb(c) - '{channels,previous}'::text[])::json`
