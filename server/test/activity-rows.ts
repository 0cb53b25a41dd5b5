// Rows as the engine leaves them, for tests of retention.
import { sql } from 'kysely'
import type { Database } from '../src/db/core/database.ts'
import { newId } from '../src/db/core/ids.ts'
import type { Tables } from '../src/db/core/tables.ts'

type Kept = Pick<Database, 'db'>

/** Missing members are null; members without a column are ignored. */
export async function addRow({ db }: Kept, table: keyof Tables, row: object): Promise<void> {
  const name = sql.table(table)
  await sql`INSERT INTO ${name} SELECT * FROM jsonb_populate_record(NULL::${name}, ${JSON.stringify(row)})`.execute(db)
}

export interface Activity {
  environmentId: string
  eventId: string
  notificationId: string
  messageId: string
}

interface Given {
  environmentId: string
  at: Date
  status?: 'processing' | 'completed'
  /** When the trigger arrived, if at another time. */
  eventAt?: Date
  digestedInto?: string
}

/** A trigger with its run, step and message. */
export async function addActivity(database: Kept, given: Given): Promise<Activity> {
  const { environmentId, at, status = 'completed', eventAt = at, digestedInto } = given
  const [eventId, notificationId, messageId] = [newId(eventAt), newId(at), newId(at)]
  const common = {
    environment_id: environmentId,
    event_id: eventId,
    notification_id: notificationId,
    transaction_id: `txn_${eventId}`,
    workflow_id: 'w',
    workflow_version: 1,
    workflow: 'w',
    step_row_id: 's',
    step_id: 's',
    subscriber_row_id: 'r',
    subscriber_id: 'ada',
    severity: 'none',
    tags: [],
    context_keys: [],
    created_at: at,
    updated_at: at,
  }
  await addRow(database, 'events', {
    ...common,
    id: eventId,
    recipients: [{ subscriberId: 'ada' }],
    payload: {},
    overrides: {},
    started_at: eventAt,
  })
  await addRow(database, 'notifications', {
    ...common,
    id: notificationId,
    status,
    critical: false,
    channels: ['in_app'],
    digested_into: digestedInto,
  })
  await addRow(database, 'jobs', {
    ...common,
    id: newId(at),
    position: 0,
    type: 'in_app',
    status: 'completed',
    details: [],
    schedule_extensions: 0,
    attempts: 0,
  })
  await addRow(database, 'messages', {
    ...common,
    id: messageId,
    job_id: 'j',
    channel: 'in_app',
    status: 'sent',
    seen: false,
    read: false,
    archived: false,
  })
  return { environmentId, eventId, notificationId, messageId }
}

/** The number of rows in each partition that has any. */
export async function rowsByPartition({ db }: Kept): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const table of ['events', 'notifications', 'jobs', 'messages'] as const) {
    const { rows } = await sql<{ partition: string; count: number }>`
      SELECT tableoid::regclass::text AS partition, count(*)::int AS count FROM ${sql.table(table)}
      GROUP BY 1 ORDER BY 1`.execute(db)
    for (const { partition, count } of rows) found[partition] = count
  }
  return found
}
