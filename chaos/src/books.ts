// What a run leaves behind: the rows of its runs, what is left to do, and what an inbox shows.

import { wholeLog } from '../../server/src/db/core/step-log.ts'
import type { LogEntry, StoredDetail } from '../../server/src/db/core/tables.ts'
import { type Answer, ask, type Ledger } from './client.ts'
import type { Database } from './database.ts'
import type { Plan } from './plan.ts'
import type { Provider } from './provider.ts'
import type { Refusals } from './refusals.ts'
import type { Reports } from './reports.ts'

export interface Finding {
  kind: 'lost' | 'duplicated' | 'wrong' | 'stuck'
  what: string
}

export interface Job {
  id: string
  step_id: string
  type: string
  status: string
  reason: string | null
  error: string | null
  output: Record<string, unknown> | null
  details: StoredDetail[]
  /** Of a copy of a question. */
  asked: { subscriberId: string } | null
}

export interface Message {
  step_id: string
  channel: string
  status: string
  content: string | null
  provider_id: string | null
  subscriber_id: string
  identifier: string | null
  seen: boolean
  read: boolean
  delivered: number
}

export interface Run {
  id: string
  transaction_id: string
  subscriber_id: string
  status: string
  jobs: Job[]
  messages: Message[]
}

export interface Books {
  plan: Plan
  ledger: Ledger
  database: Database
  provider: Provider
  reports: Reports
  refusals: Refusals
  environmentId: string
  /** The address of a running process. */
  url: string
}

interface JobRow extends Omit<Job, 'details'> {
  notification_id: string
  details: LogEntry[]
  created_at: Date
  provider_id: string | null
}

export async function readRuns({ database, environmentId }: Books): Promise<Map<string, Run[]>> {
  const [runs, jobs, messages] = await Promise.all([
    database.query<Omit<Run, 'jobs' | 'messages'>>(
      'SELECT id, transaction_id, subscriber_id, status FROM notifications WHERE environment_id = $1 ORDER BY id',
      [environmentId],
    ),
    database.query<JobRow>(
      `SELECT id, notification_id, step_id, type, status, reason, error, output, details, created_at, provider_id, asked FROM jobs
       WHERE environment_id = $1 ORDER BY notification_id, position`,
      [environmentId],
    ),
    database.query<Message & { notification_id: string }>(
      `SELECT notification_id, step_id, channel, status, content, provider_id, subscriber_id, identifier, seen, read,
         coalesce(cardinality(delivered_at), 0) AS delivered
       FROM messages WHERE environment_id = $1 ORDER BY id`,
      [environmentId],
    ),
  ])
  const byId = new Map(runs.map((run): [string, Run] => [run.id, { ...run, jobs: [], messages: [] }]))
  for (const { notification_id, details, created_at, provider_id, ...job } of jobs)
    byId.get(notification_id)?.jobs.push({
      ...job,
      details: wholeLog(details, { createdAt: created_at, providerId: provider_id, output: job.output }),
    })
  for (const message of messages) byId.get(message.notification_id)?.messages.push(message)
  const byKey = new Map<string, Run[]>()
  for (const run of byId.values()) {
    const key = `${run.transaction_id} ${run.subscriber_id}`
    byKey.set(key, [...(byKey.get(key) ?? []), run])
  }
  return byKey
}

/**
 * Work that is left, by kind. Excludes periodic chores, which are always queued, and wakes for deleted timers that failed
 * and wait for a retry. Such a wake may come due at any moment, even now; only one that is long overdue counts as left.
 */
export async function leftIn({
  database,
  environmentId,
}: Pick<Books, 'database' | 'environmentId'>): Promise<Record<string, number>> {
  const [row] = await database.query<Record<string, number>>(
    `SELECT (SELECT count(*) FROM notifications WHERE environment_id = $1 AND status = 'processing')::int AS runs,
       (SELECT count(*) FROM jobs WHERE environment_id = $1
          AND status IN ('pending', 'queued', 'running', 'delayed'))::int AS steps,
       (SELECT count(*) FROM timers WHERE environment_id = $1)::int AS timers,
       (SELECT count(*) FROM event_waits WHERE environment_id = $1)::int AS "waits for events",
       (SELECT count(*) FROM posted_events WHERE environment_id = $1 AND reached IS NOT NULL)::int AS "events to tell of",
       (SELECT count(*) FROM questions WHERE environment_id = $1 AND state = 'open')::int AS "open questions",
       (SELECT count(*) FROM digests WHERE environment_id = $1 AND notification_id IS NOT NULL)::int AS windows,
       (SELECT count(*) FROM events WHERE environment_id = $1 AND started_at IS NULL)::int AS triggers,
       (SELECT count(*) FROM walks WHERE environment_id = $1)::int AS walks,
       (SELECT count(*) FROM graphile_worker.jobs
        WHERE task_identifier IN ('start_runs', 'fan_out', 'deliver', 'match_events', 'look_at_messages')
          OR task_identifier = 'wake' AND run_at < now() - interval '30 s' AND attempts < max_attempts)::int AS "jobs of the queue"`,
    [environmentId],
  )
  return row ?? {}
}

interface LeftTimer {
  kind: string
  due_at: Date
  position: number
  subject_id: string
  run_status: string | null
  workflow_id: string | null
  step_id: string | null
  type: string | null
  step_status: string | null
}

/** What each timer that is left waits for, so that the report explains it. */
export async function leftTimers({
  database,
  environmentId,
}: Pick<Books, 'database' | 'environmentId'>): Promise<string[]> {
  const rows = await database.query<LeftTimer>(
    `SELECT t.kind, t.due_at, t.position, t.subject_id, n.status AS run_status, w.identifier AS workflow_id, j.step_id, j.type,
       j.status AS step_status
     FROM timers t LEFT JOIN notifications n ON n.environment_id = t.environment_id AND n.id = t.subject_id
     LEFT JOIN workflows w ON w.environment_id = t.environment_id AND w.id = n.workflow_id
     LEFT JOIN jobs j ON j.environment_id = t.environment_id AND j.notification_id = t.subject_id
       AND j.position = CASE WHEN t.position < 0 THEN -1 - t.position ELSE t.position END
     WHERE t.environment_id = $1 ORDER BY t.due_at, t.subject_id, t.position LIMIT 20`,
    [environmentId],
  )
  return rows.map((row) => {
    const step = row.step_id === null ? 'no step' : `step ${row.step_id} (${row.type}, ${row.step_status})`
    const run = row.run_status === null ? 'no run' : `run of ${row.workflow_id} (${row.run_status})`
    return `${row.kind} due ${row.due_at.toISOString()}: ${run} ${row.subject_id}, ${step} at ${row.position}`
  })
}

export const perPage = 100

export async function inboxOf(url: string, applicationIdentifier: string, subscriberId: string): Promise<string[]> {
  const opened = await ask(url, 'POST', '/v1/inbox/session', { applicationIdentifier, subscriber: { subscriberId } })
  const { token } = (opened as Answer & { body: { data: { token: string } } }).body.data
  const shown: string[] = []
  for (let offset = 0; ; offset += perPage) {
    const reply = await fetch(`${url}/v1/inbox/notifications?limit=${perPage}&offset=${offset}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const { data, hasMore } = (await reply.json()) as { data: Array<{ body: string }>; hasMore: boolean }
    shown.push(...data.map(({ body }) => body))
    if (!hasMore) return shown
  }
}
