// What has to be done now and then so that nothing grows for ever, and what is too much work for one request.
import type { CronItem, TaskList } from 'graphile-worker'
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Db, Tx } from '../../db/core/database.ts'
import { preparePartitions } from '../../db/core/partitions.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { reEncrypt } from '../../db/install/re-encrypt.ts'
import { undeliveredReasons } from '../../steps/contract/outcome.ts'
import { dropExpired, type Retention } from '../retention/retention.ts'
import { eventsToStart } from '../retention/rows.ts'
import { countActivity } from './activity-counts.ts'
import type { Round } from './worker.ts'

/** Rows per statement: few enough that no lock is held for long, many enough that the round trips do not count. */
const batch = 5_000
/** Files of a trigger may be asked for until its runs have been started; and whoever replays it does so soon. */
const attachmentHours = 24
/** So long events can be sent to endpoints once more. */
const webhookDays = 30
/** So long a mail that comes twice is recognised; mail servers try for five days, people for longer. */
const inboundMailDays = 30
/** What the sandbox has taken is looked at soon, or never. */
const sandboxDays = 7
/** Of an integration that is gone nobody says any more that it works again. */
const circuitDays = 1
/** After it has expired, an invitation is shown for a while as one nobody accepted. */
const invitationDays = 30
/** Two years: long enough for any audit of the year before. */
const auditDays = 730
const dayMs = 86_400_000

/** What failed is tried again within so many minutes, whatever went wrong: the library would wait for up to six hours. */
const retryMinutes = 5
/** The library's limit, after which a job stays undone. What has it is work that must be done: it stays so far from it. */
const [mostAttempts, countedAttempts] = [25, 10]

export const choreSchedule: Array<CronItem | Round> = [
  { task: 'hurry_failed', everyMs: 60_000 },
  // A round that was missed needs no repeat: the next one removes the same rows.
  { task: 'purge_idempotency_keys', match: '*/10 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  { task: 'purge_expired', match: '*/10 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // Two minutes after each ten, when they are complete. The next round does what was missed.
  { task: 'count_activity', match: '2,12,22,32,42,52 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // Nothing to do but while the secret key is being changed.
  { task: 're_encrypt', match: '23 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // Made up for by the next start: on a machine that sleeps at night it would never be done.
  { task: 'tend_partitions', match: '17 3 * * *', options: { backfillPeriod: 86_400_000, maxAttempts: 10 } },
]

interface Surroundings {
  pool: pg.Pool
  db: Db
  clock: { now(): Date }
  log: Logger
  retention: Retention
  /** Undefined where one key is all there is. */
  secretsToRenew?: Secrets | undefined
}

export function chores(surroundings: Surroundings): TaskList {
  const { pool, db, clock, log } = surroundings
  return {
    async purge_idempotency_keys(_payload, { abortSignal }) {
      await deleteInBatches(db, 'idempotency_keys', sql`expires_at <= ${clock.now()}`, abortSignal)
    },

    async purge_expired(_payload, { abortSignal }) {
      const now = clock.now()
      await deleteInBatches(db, 'transactions', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'digests', sql`notification_id IS NULL AND forget_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'api_keys', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'throttles', sql`ends_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'attachments', isAttachmentDone(now), abortSignal)
      const before = (days: number) => new Date(now.getTime() - days * dayMs)
      await deleteInBatches(db, 'sandbox_messages', sql`created_at <= ${before(sandboxDays)}`, abortSignal)
      await deleteInBatches(db, 'circuits', sql`retry_at <= ${before(circuitDays)}`, abortSignal)
      const isTold = sql`created_at <= ${before(webhookDays)} AND due_at IS NULL`
      await deleteInBatches(db, 'webhook_deliveries', isTold, abortSignal)
      const isAnswered = sql`created_at <= ${before(inboundMailDays)} AND due_at IS NULL`
      await deleteInBatches(db, 'inbound_mails', isAnswered, abortSignal)
      await deleteInBatches(db, 'webhook_events', sql`created_at <= ${before(webhookDays)}`, abortSignal)
      await deleteInBatches(db, 'user_sessions', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'sign_in_attempts', sql`ends_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'bot_links', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'sign_in_links', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'invitations', sql`expires_at <= ${before(invitationDays)}`, abortSignal)
      await deleteInBatches(db, 'audit_log', sql`created_at <= ${before(auditDays)}`, abortSignal)
      const isCountedLongAgo = isPastActivity(surroundings.retention.activityDays, now)
      await deleteInBatches(db, 'activity_counts', isCountedLongAgo, abortSignal)
      // The library takes a job that is replaced while it runs for used up, and leaves it there when its worker dies.
      await sql`
        SELECT graphile_worker.complete_jobs(ARRAY(
          SELECT id FROM graphile_worker.jobs
          WHERE task_identifier = 'wake' AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000))`.execute(db)
    },

    /** Spread over the time there is: after an outage there are many of them, and not all should come at once. */
    async hurry_failed() {
      const { numAffectedRows = 0n } = await sql`
        UPDATE graphile_worker._private_jobs SET
          run_at = now() + random() * make_interval(mins => ${retryMinutes}::int),
          attempts = CASE WHEN max_attempts = ${mostAttempts}::int THEN least(attempts, ${countedAttempts}::int)
                     ELSE attempts END
        WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM graphile_worker._private_jobs
          WHERE is_available AND attempts > 0 AND run_at > now() + make_interval(mins => ${retryMinutes}::int)
          ORDER BY id LIMIT 10000 FOR UPDATE SKIP LOCKED))`.execute(db)
      if (numAffectedRows > 0n) log.info({ jobs: Number(numAffectedRows) }, 'jobs that failed are tried again soon')
    },

    async count_activity(_payload, { abortSignal }) {
      await countActivity(db, clock.now(), abortSignal)
    },

    async re_encrypt(_payload, { abortSignal }) {
      if (surroundings.secretsToRenew === undefined) return
      const { renewed, unreadable } = await reEncrypt(db, surroundings.secretsToRenew, abortSignal)
      if (renewed > 0 || unreadable === 0)
        log.info({ renewed }, 'what is stored is encrypted with the current secret key')
      if (unreadable > 0) log.warn({ unreadable }, 'some stored secrets cannot be opened with any of the secret keys')
    },

    async tend_partitions(_payload, { abortSignal, addJob }) {
      const made = await preparePartitions(pool, clock.now())
      if (made.length > 0) log.info({ made }, 'made partitions')
      // More than one round takes is gone on with at once, behind what others wait for.
      if (await dropExpired(surroundings, abortSignal)) await addJob('tend_partitions', {}, { priority: purgePriority })
    },

    async purge_environment(payload, { abortSignal }) {
      const { environmentId } = payload as { environmentId: string }
      const { rows } = await sql`SELECT FROM environments WHERE id = ${environmentId}`.execute(db)
      if (rows.length > 0) throw new Error(`Environment ${environmentId} exists; only a deleted one is purged.`)
      for (const table of await tablesByEnvironment(db))
        await deleteInBatches(db, table, sql`environment_id = ${environmentId}`, abortSignal)
    },
  }
}

/** Past the days its environment keeps activity for. */
const isPastActivity = (usualDays: number, now: Date) => sql`
  EXISTS (
    SELECT FROM environments e, coalesce((e.retention ->> 'activityDays')::int, ${usualDays}::int) AS days
    WHERE e.id = activity_counts.environment_id AND days > 0
      AND activity_counts.slot <= ${now}::timestamptz - make_interval(days => days))`

/**
 * Runs are found by their transaction, for which there is an index. Those that were given up on can be sent once more for as
 * long as there is a record of them, and need their files then.
 */
function isAttachmentDone(now: Date): RawBuilder<unknown> {
  return sql`
    created_at <= ${new Date(now.getTime() - attachmentHours * 3_600_000)}
    AND NOT EXISTS (
      SELECT FROM events e JOIN notifications n USING (environment_id, transaction_id)
      WHERE e.environment_id = attachments.environment_id AND e.id = attachments.event_id
        AND n.event_id = e.id AND (n.status = 'processing' OR EXISTS (
          SELECT FROM jobs j WHERE j.environment_id = n.environment_id AND j.notification_id = n.id
            AND j.reason = ANY (${[...undeliveredReasons]}::text[]))))
    AND event_id <> ALL (ARRAY(${sql.raw(eventsToStart)}))`
}

/** Behind everything a caller waits for (a smaller number goes first, and 0 is usual). */
const purgePriority = 100

/**
 * Part of the transaction that deletes the environment, so that a crash cannot part the two. The second round, an hour
 * later, takes what requests and runs that were under way wrote after, or held while, the first one passed.
 */
export async function queueEnvironmentPurge(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    SELECT graphile_worker.add_job('purge_environment', json_build_object('environmentId', ${environmentId}::text),
                                   run_at := now() + delay, priority := ${purgePriority}::smallint)
    FROM unnest(ARRAY['0 hours', '1 hour']::interval[]) AS delay`.execute(tx)
}

/** Asked of the catalogue, so that a table made later is not forgotten. Of partitioned tables it names the partitions. */
async function tablesByEnvironment(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'environment_id' AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    ORDER BY c.relname`.execute(db)
  return rows.map((row) => row.name)
}

/**
 * Each batch commits by itself. A row that somebody is changing is passed over: waiting for it and then deleting it by
 * its place would ignore that it may no longer match, such as an idempotency key just taken again.
 */
async function deleteInBatches(
  db: Db,
  table: string,
  matches: RawBuilder<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  const name = sql.table(table)
  let deleted = batch
  while (deleted === batch) {
    // A worker that stops does not wait for millions of rows; the job is tried again and goes on where this ended.
    stopping.throwIfAborted()
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE ${matches} LIMIT ${batch} FOR UPDATE SKIP LOCKED))`.execute(db)
    deleted = Number(numAffectedRows)
  }
}
