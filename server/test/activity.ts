// Runs and messages inserted directly, for tests of later reads and changes.
import type { Insertable } from 'kysely'
import type { Database } from '../src/db/core/database.ts'
import { newId } from '../src/db/core/ids.ts'
import type {
  EventTable,
  JobTable,
  MessageTable,
  NotificationTable,
  StoredDetail,
  TimerTable,
} from '../src/db/core/tables.ts'

interface Place {
  database: Database
  clock: { now(): Date }
}

interface Environment {
  environmentId: string
}

/** The members a test cares about; JSON members as plain values. */
type Given<Row, Json extends keyof Row> = Partial<Omit<Insertable<Row>, Json>> & { [K in Json]?: unknown }
type GivenJob = Given<JobTable, 'details' | 'output' | 'digest' | 'delivery'> & { type: string; details?: Line[] }
type Line = Partial<StoredDetail> & Pick<StoredDetail, 'detail'>

export interface GivenRun extends Given<NotificationTable, 'topics'> {
  event?: Given<EventTable, 'recipients' | 'payload' | 'overrides' | 'actor' | 'tenant' | 'context'>
  jobs?: GivenJob[]
}

export type Run = Awaited<ReturnType<typeof insertRun>>

const json = (value: unknown) => (value === undefined || value === null ? null : JSON.stringify(value))

/** A trigger with one run for this subscriber and the given jobs. Creates the subscriber if the id is new. */
export async function insertRun(
  { database: { db }, clock }: Place,
  { environmentId }: Environment,
  subscriberId: string,
  { event = {}, jobs = [], ...fields }: GivenRun = {},
) {
  const now = clock.now()
  const subscriberRowId = await rowIdOf(db, environmentId, subscriberId, now)
  const created_at = (fields.created_at as Date | undefined) ?? now
  const workflow_id = fields.workflow_id ?? newId(created_at)
  const common = {
    environment_id: environmentId,
    transaction_id: fields.transaction_id ?? `txn_${newId(created_at)}`,
    workflow_id,
    workflow_version: fields.workflow_version ?? 1,
    created_at,
  }
  const { recipients, payload = {}, overrides = {}, actor, tenant, context, ...ownEvent } = event
  const eventId = fields.event_id ?? newId(created_at)
  await db
    .insertInto('events')
    .values({
      ...common,
      id: eventId,
      recipients: json(recipients === undefined ? [{ subscriberId }] : recipients),
      payload: json(payload),
      overrides: json(overrides),
      actor: json(actor),
      tenant: json(tenant),
      context: json(context),
      started_at: created_at,
      ...ownEvent,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { topics, ...own } = fields
  const notification = {
    ...common,
    id: newId(created_at),
    event_id: eventId,
    subscriber_row_id: subscriberRowId,
    subscriber_id: subscriberId,
    status: 'completed',
    severity: 'none',
    critical: false,
    channels: [...new Set(jobs.map(({ type }) => type))],
    tags: [],
    context_keys: [],
    topics: json(topics),
    digested_into: null,
    updated_at: created_at,
    ...own,
  }
  await db.insertInto('notifications').values(notification).execute()
  const jobIds: string[] = []
  for (const [position, { details = [], output, digest, delivery, ...job }] of jobs.entries()) {
    const row = {
      environment_id: environmentId,
      notification_id: notification.id,
      position,
      id: newId(created_at),
      step_row_id: newId(created_at),
      step_id: `${job.type}-${position}`,
      status: 'completed',
      reason: null,
      error: null,
      provider_id: null,
      details: JSON.stringify(details.map((line) => toDetail(line, created_at))),
      output: json(output),
      digest: json(digest),
      merged_into: null,
      schedule_extensions: 0,
      attempts: 0,
      delivery: json(delivery),
      due_at: null,
      created_at,
      updated_at: created_at,
      ...job,
    }
    await db.insertInto('jobs').values(row).execute()
    jobIds.push(row.id)
  }
  return { id: notification.id, eventId, subscriberRowId, subscriberId, jobIds, ...common }
}

const toDetail = (line: Line, now: Date): StoredDetail => ({
  at: now.toISOString(),
  status: 'Success',
  ...line,
})

/** A message of this run, from its first job by default. @returns its id */
export async function insertMessage(
  { database: { db } }: Place,
  run: Run,
  fields: Given<MessageTable, 'cta' | 'data' | 'channel_data'> = {},
): Promise<string> {
  const { cta, data, channel_data, ...own } = fields
  const created_at = (fields.created_at as Date | undefined) ?? run.created_at
  const id = fields.id ?? newId(created_at)
  await db
    .insertInto('messages')
    .values({
      environment_id: run.environment_id,
      id,
      notification_id: run.id,
      event_id: run.eventId,
      transaction_id: run.transaction_id,
      job_id: run.jobIds[0] ?? newId(created_at),
      workflow_id: run.workflow_id,
      workflow: 'welcome',
      step_row_id: newId(created_at),
      step_id: 'in_app-0',
      subscriber_row_id: run.subscriberRowId,
      subscriber_id: run.subscriberId,
      channel: 'in_app',
      provider_id: 'svc',
      integration_id: null,
      identifier: null,
      subject: null,
      content: 'Hello',
      avatar: null,
      cta: json(cta),
      data: json(data),
      email: null,
      phone: null,
      device_tokens: null,
      webhook_url: null,
      channel_data: json(channel_data),
      tags: [],
      severity: 'none',
      context_keys: [],
      actor_row_id: null,
      status: 'sent',
      error_id: null,
      error_text: null,
      snoozed_until: null,
      delivered_at: [created_at],
      first_seen_at: null,
      last_seen_at: null,
      last_read_at: null,
      archived_at: null,
      created_at,
      updated_at: created_at,
      ...own,
    })
    .execute()
  return id
}

/** The timers of an environment, by kind. */
export async function timersOf(
  { database: { db } }: Place,
  { environmentId }: Environment,
): Promise<Array<Pick<TimerTable, 'subject_id' | 'kind' | 'due_at'>>> {
  return db
    .selectFrom('timers')
    .select(['subject_id', 'kind', 'due_at'])
    .where('environment_id', '=', environmentId)
    .orderBy('subject_id')
    .execute()
}

async function rowIdOf(db: Database['db'], environmentId: string, subscriberId: string, now: Date): Promise<string> {
  const none = { first_name: null, last_name: null, email: null, phone: null, avatar: null, locale: null }
  await db
    .insertInto('subscribers')
    .values({
      ...none,
      timezone: null,
      environment_id: environmentId,
      id: newId(now),
      subscriber_id: subscriberId,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.columns(['environment_id', 'subscriber_id']).doNothing())
    .execute()
  const { id } = await db
    .selectFrom('subscribers')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('subscriber_id', '=', subscriberId)
    .executeTakeFirstOrThrow()
  return id
}
