// Reads what this service made of a trigger that was passed on.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { isOfTransaction } from '../../db/queries/transactions.ts'
import {
  addressesOf,
  buttonsIn,
  contentIn,
  groupedBy,
  mostRuns,
  orderedJson,
  type SeenMessage,
  type Side,
  statusOf,
  textIn,
} from './side.ts'

interface RunRow {
  id: string
  subscriber_id: string
  status: string
  created_at: Date
}

interface JobRow {
  id: string
  notification_id: string
  step_id: string
  type: string
  status: string
}

interface MessageRow {
  job_id: string
  channel: string
  subject: string | null
  content: string | null
  avatar: string | null
  cta: unknown
  email: string | null
  phone: string | null
  device_tokens: string[] | null
  webhook_url: string | null
  created_at: Date
}

export async function readHere(db: Db, environmentId: string, transactionId: string): Promise<Side> {
  // Before the runs: whoever starts more of them says so until they are there.
  const isStarted = await hasStarted(db, environmentId, transactionId)
  const { rows: found } = await sql<RunRow>`
    SELECT id, subscriber_id, status, created_at FROM notifications
    WHERE environment_id = ${environmentId} AND transaction_id = ${transactionId}
    ORDER BY id DESC LIMIT ${mostRuns + 1}`.execute(db)
  const runs = found.slice(0, mostRuns)
  const ids = runs.map(({ id }) => id)
  const jobs = ids.length === 0 ? [] : await readJobs(db, environmentId, ids)
  const messages = ids.length === 0 ? [] : await readMessages(db, environmentId, transactionId, ids)
  const byJob = groupedBy(messages, ({ job_id }) => job_id)
  const byRun = groupedBy(jobs, ({ notification_id }) => notification_id)
  return {
    runs: new Map(
      runs.map(({ id, subscriber_id: subscriberId, created_at: startedAt }) => [
        subscriberId,
        {
          ...{ subscriberId, startedAt },
          steps: (byRun.get(id) ?? []).map((job) => ({
            ...{ stepId: job.step_id, type: job.type, status: statusOf(job.status) },
            messages: (byJob.get(job.id) ?? []).map(seenMessage),
          })),
        },
      ]),
    ),
    isWhole: found.length <= mostRuns,
    hasEnded: isStarted && runs.every(({ status }) => status !== 'processing'),
  }
}

/** Also if it was answered without starting anything. */
async function hasStarted(db: Db, environmentId: string, transactionId: string): Promise<boolean> {
  const { rows } = await sql<{ is_open: boolean }>`
    SELECT e.started_at IS NULL
           OR EXISTS (SELECT FROM walks w WHERE w.environment_id = e.environment_id AND w.event_id = e.id) AS is_open
    FROM (SELECT ${environmentId}::text AS environment_id, ${transactionId}::text AS transaction_id) asked
    JOIN events e ON ${sql.raw(isOfTransaction('asked.environment_id', 'asked.transaction_id'))}`.execute(db)
  return rows.every(({ is_open }) => !is_open)
}

async function readJobs(db: Db, environmentId: string, ids: string[]): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`
    SELECT id, notification_id, step_id, type, status FROM jobs
    WHERE environment_id = ${environmentId} AND notification_id = ANY (${ids}::text[]) AND type <> 'trigger' AND asked IS NULL
    ORDER BY notification_id, position`.execute(db)
  return rows
}

async function readMessages(
  db: Db,
  environmentId: string,
  transactionId: string,
  ids: string[],
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    SELECT job_id, channel, subject, content, avatar, cta, email, phone, device_tokens, webhook_url, created_at FROM messages
    WHERE environment_id = ${environmentId} AND transaction_id = ${transactionId}
      AND notification_id = ANY (${ids}::text[])
    ORDER BY id`.execute(db)
  return rows
}

function seenMessage(row: MessageRow): SeenMessage {
  return {
    channel: row.channel,
    addresses: addressesOf(row.channel, row.email, row.phone, row.device_tokens, row.webhook_url),
    content: {
      subject: textIn(row.subject),
      content: contentIn(row.channel, row.content),
      avatar: textIn(row.avatar),
      cta: orderedJson(buttonsIn(row.cta)),
    },
    at: row.created_at,
  }
}
