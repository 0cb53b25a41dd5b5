// The outbox of our webhooks: events are written in the statement or transaction that causes them. Without an endpoint that
// subscribes to the type, nothing is written.
import { CompiledQuery, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { realOf } from '../core/held-clock.ts'
import { storableJson } from '../core/storable.ts'
import type { WebhookEndpointTable, WebhookEventTable } from '../core/tables.ts'
import { statement, type Transaction } from '../core/transaction.ts'

export const eventTypes = [
  'message.sent',
  'message.failed',
  'message.delivered',
  'message.seen',
  'message.read',
  'message.clicked',
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
  'workflow.braked',
  'workflow.brake-released',
  'subscriber.created',
  'subscriber.updated',
  'subscriber.deleted',
  'preference.updated',
  'suppression.created',
  'suppression.removed',
  'question.asked',
  'question.escalated',
  'question.answered',
  'question.expired',
  'question.canceled',
  'run.goal-met',
  'sms.received',
  'publish.requested',
  'publish.approved',
  'publish.declined',
  'publish.withdrawn',
  'audit.recorded',
] as const
export type EventType = (typeof eventTypes)[number]
/** Sent to one endpoint on request; endpoints cannot subscribe to it. */
export const testEventType = 'webhook.test'

export type EndpointRow = Selectable<WebhookEndpointTable>
export type EventRow = Selectable<WebhookEventTable>

// ---- In the statement of the change

interface Telling {
  type: EventType | RawBuilder<unknown>
  /** The stored JSON of the row `c`. */
  object: RawBuilder<unknown>
  previous?: RawBuilder<unknown>
  subscriberId?: RawBuilder<unknown>
  /** Which rows cause an event. Default: all. */
  when?: RawBuilder<unknown>
  now: Date
}

/**
 * A CTE named `webhooks`, after one named `changed` with the changed rows. The statement must select from it, or it does not
 * run; it has one row.
 */
export function telling({ type, object, previous, subscriberId, when, now }: Telling): RawBuilder<unknown> {
  const word = typeof type === 'string' ? sql.lit(type) : type
  return sql`
    webhooks AS MATERIALIZED (
      SELECT tell_webhooks(${realOf(now)}::timestamptz(3), json_agg(json_build_object(
        'environment_id', c.environment_id, 'type', ${word}::text, 'object', ${object},
        'previous', ${previous ?? sql`NULL::json`}, 'subscriber_id', ${subscriberId ?? sql`NULL::text`})))
      FROM changed c
      WHERE ${when ?? sql`true`}
        AND EXISTS (SELECT FROM webhook_endpoints e WHERE e.environment_id = c.environment_id AND e.active))`
}

// ---- In the transaction of the change

export interface NewEvent {
  type: EventType
  object: object
  previous?: object | undefined
  subscriberId?: string | undefined
}

const recordEvents = statement('record_webhook_events', 'SELECT tell_webhooks($2, $1::json)')
/** Runs before the statement that stores these messages; states stored earlier have had their events. */
const recordNewStates = statement(
  'record_message_states',
  `SELECT tell_webhooks($2, json_agg(event)) FROM json_array_elements($1::json) event
   WHERE NOT EXISTS (
     SELECT FROM messages m
     WHERE m.environment_id = event ->> 'environment_id' AND m.id = event -> 'object' ->> 'id'
       AND m.status = event -> 'object' ->> 'status')`,
)

type Told = NewEvent & { environmentId: string }

const rowsOf = (events: Told[]) =>
  storableJson(
    events.map(({ environmentId, type, object, previous, subscriberId }) => ({
      environment_id: environmentId,
      type,
      object,
      previous,
      subscriber_id: subscriberId,
    })),
  )

export async function tell(tx: Tx, environmentId: string, events: NewEvent[], now: Date): Promise<void> {
  if (events.length === 0) return
  const told = events.map((event) => ({ environmentId, ...event }))
  await tx.executeQuery(CompiledQuery.raw(recordEvents.text, [rowsOf(told), realOf(now)]))
}

/** For events of several environments, with prepared statements. */
export async function tellAll(transaction: Pick<Transaction, 'run'>, events: Told[], now: Date): Promise<void> {
  if (events.length > 0) await transaction.run(recordEvents, [rowsOf(events), realOf(now)])
}

/** For messages about to be stored, with the row as `object`. */
export async function tellOfStates(transaction: Transaction, events: Told[], now: Date): Promise<void> {
  if (events.length > 0) await transaction.run(recordNewStates, [rowsOf(events), realOf(now)])
}

/** The event types that an environment's endpoints subscribe to. */
export async function wantedTypes(db: Db | Tx, environmentId: string): Promise<ReadonlySet<EventType>> {
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select('event_types')
    .where('environment_id', '=', environmentId)
    .where('active', '=', true)
    .execute()
  return new Set(rows.flatMap(({ event_types }) => (event_types ?? eventTypes) as EventType[]))
}

// ---- The stored part of rows

/** Everything of a message but its content. */
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

/** A subscriber without device tokens and chat addresses. */
export const subscriberObject = sql`(to_jsonb(c) - '{channels,previous}'::text[])::json`
