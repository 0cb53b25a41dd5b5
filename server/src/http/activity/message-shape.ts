// Messages in the API's format, with their subscriber and actor, their trigger and their workflow.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import type { MessageRow } from '../../db/queries/messages.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { shownAddress } from '../../providers/masking.ts'
import type { Brand } from '../edge/brand.ts'
import type { Environment } from '../edge/resource.ts'
import { Channel, Enum, FreeObject, Timestamp } from '../edge/schema.ts'
import { Subscriber, toSubscriber } from '../subscribers/subscribers.ts'
import { MessageWorkflow, workflowsOf } from './message-workflow.ts'

/** The largest payload shown with a message, since a page has up to 1,000. The activity record shows larger ones. */
const mostTriggerBytes = 32 * 1024
const triggerText = `Left out of lists when larger than ${mostTriggerBytes / 1024} KB`

const OptionalText = Type.Optional(Type.String())
const OptionalTime = Type.Optional(Timestamp)

/** Also shown by the v1 feed. */
export const messageFields = {
  _id: Type.String(),
  _templateId: Type.String(),
  _environmentId: Type.String(),
  _messageTemplateId: Type.String(),
  _organizationId: Type.String(),
  _notificationId: Type.String(),
  _subscriberId: Type.String(),
  _jobId: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  transactionId: Type.String(),
  templateIdentifier: Type.String(),
  stepId: Type.String(),
  providerId: OptionalText,
  subject: OptionalText,
  avatar: OptionalText,
  channel: Channel,
  read: Type.Boolean(),
  seen: Type.Boolean(),
  archived: Type.Boolean(),
  snoozedUntil: OptionalTime,
  deliveredAt: Type.Optional(Type.Array(Timestamp)),
  firstSeenDate: OptionalTime,
  lastSeenDate: OptionalTime,
  lastReadDate: OptionalTime,
  archivedAt: OptionalTime,
  deviceTokens: Type.Optional(Type.Array(Type.String())),
  cta: FreeObject,
  status: Enum(['sent', 'error', 'warning']),
  payload: Type.Optional(Type.Unsafe<Record<string, unknown>>({ ...FreeObject, description: triggerText })),
  overrides: Type.Optional(Type.Unsafe<Record<string, unknown>>({ ...FreeObject, description: triggerText })),
  data: Type.Optional(FreeObject),
  tags: Type.Array(Type.String()),
  severity: Type.String(),
  contextKeys: Type.Array(Type.String()),
}

export const Message = Type.Object({
  ...messageFields,
  subscriber: Type.Optional(Subscriber),
  actorSubscriber: Type.Optional(Subscriber),
  template: Type.Optional(MessageWorkflow),
  content: OptionalText,
  title: OptionalText,
  email: OptionalText,
  phone: OptionalText,
  directWebhookUrl: OptionalText,
  errorId: OptionalText,
  errorText: OptionalText,
})
export type Message = Static<typeof Message>

/** Leaves out members without a value. */
export function given<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], null | undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], null | undefined> }
}

interface Trigger {
  id: string
  payload: Record<string, unknown> | null
  overrides: Record<string, unknown> | null
}

/** The triggers of these messages, by event id; one statement for all. */
export async function triggersOf(
  db: Db,
  environmentId: string,
  rows: Array<{ event_id: string }>,
): Promise<Map<string, Trigger>> {
  const ids = [...new Set(rows.map(({ event_id }) => event_id))]
  if (ids.length === 0) return new Map()
  const small = (column: string) =>
    sql`CASE WHEN octet_length(${sql.ref(column)}::text) <= ${mostTriggerBytes} THEN ${sql.ref(column)} END AS ${sql.ref(column)}`
  const found = await sql<Trigger>`
    SELECT id, ${small('payload')}, ${small('overrides')} FROM events
    WHERE environment_id = ${environmentId} AND id = ANY(${ids}::text[])`.execute(db)
  return new Map(found.rows.map((row) => [row.id, row]))
}

export function toMessageFields(
  row: MessageRow,
  trigger: Trigger | undefined,
  environment: Pick<Environment, 'organizationId'>,
  brand: Brand,
): Omit<Message, 'subscriber' | 'content'> {
  return {
    _id: row.id,
    _templateId: row.workflow_id,
    _environmentId: row.environment_id,
    _messageTemplateId: row.step_row_id,
    _organizationId: environment.organizationId,
    _notificationId: row.notification_id,
    _subscriberId: row.subscriber_row_id,
    _jobId: row.job_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    transactionId: row.transaction_id,
    templateIdentifier: row.workflow,
    stepId: row.step_id,
    channel: row.channel,
    read: row.read,
    seen: row.seen,
    archived: row.archived,
    cta: row.cta ?? {},
    status: row.status,
    tags: row.tags,
    severity: row.severity,
    contextKeys: row.context_keys,
    ...given({
      providerId: row.provider_id === null ? null : brand.toWire(row.provider_id),
      subject: row.subject,
      avatar: row.avatar,
      snoozedUntil: row.snoozed_until,
      deliveredAt: row.delivered_at,
      firstSeenDate: row.first_seen_at,
      lastSeenDate: row.last_seen_at,
      lastReadDate: row.last_read_at,
      archivedAt: row.archived_at,
      deviceTokens: row.device_tokens,
      payload: trigger?.payload,
      overrides: trigger?.overrides,
      data: row.data,
    }),
  }
}

/** Any number of messages in three statements. */
export async function showMessages(
  db: Db,
  rows: MessageRow[],
  environment: Environment,
  brand: Brand,
): Promise<Message[]> {
  const [people, triggers, workflows] = await Promise.all([
    peopleOf(db, environment.id, rows),
    triggersOf(db, environment.id, rows),
    workflowsOf(db, environment, rows, brand),
  ])
  const shown = new Map(people.map((person) => [person.id, toSubscriber(person, environment, brand)]))
  return rows.map((row) => ({
    ...toMessageFields(row, triggers.get(row.event_id), environment, brand),
    ...given({
      subscriber: shown.get(row.subscriber_row_id),
      actorSubscriber: shown.get(row.actor_row_id ?? ''),
      template: workflows.get(row.workflow_id),
      content: row.content,
      title: row.channel === 'push' ? row.subject : null,
      email: row.email,
      phone: row.phone,
      // Earlier versions stored it whole.
      directWebhookUrl: row.webhook_url === null ? null : shownAddress(row.webhook_url),
      errorId: row.error_id,
      errorText: row.error_text,
    }),
  }))
}

async function peopleOf(db: Db, environmentId: string, rows: MessageRow[]): Promise<SubscriberRow[]> {
  const ids = new Set(rows.flatMap((row) => [row.subscriber_row_id, row.actor_row_id ?? []].flat()))
  if (ids.size === 0) return []
  const { rows: people } = await sql<SubscriberRow>`
    SELECT * FROM subscribers WHERE environment_id = ${environmentId} AND id = ANY(${[...ids]}::text[])`.execute(db)
  return people
}
