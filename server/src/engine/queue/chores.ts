// Chores: regular clean-up, so that nothing grows forever, and work too large for one request.
import type { CronItem, TaskList } from 'graphile-worker'
import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Db, Tx } from '../../db/core/database.ts'
import { firstIdAt } from '../../db/core/ids.ts'
import { ownSchema } from '../../db/core/migrate.ts'
import { preparePartitions } from '../../db/core/partitions.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { Guards } from '../../db/core/tables.ts'
import { reEncrypt, sealAddresses } from '../../db/install/re-encrypt.ts'
import { slotSeconds, storeCounts } from '../../db/queries/activity-counts.ts'
import { usualConsent } from '../../db/queries/consent.ts'
import { keptSince } from '../../db/queries/deleted-definitions.ts'
import { guardsOf } from '../../db/queries/guards.ts'
import { windowMs } from '../../steps/contract/caps.ts'
import { undeliveredReasons } from '../../steps/contract/outcome.ts'
import { dropExpired, type Retention } from '../retention/retention.ts'
import { eventsToStart } from '../retention/rows.ts'
import { pruneVersions } from '../retention/versions.ts'
import type { Round } from './worker.ts'

/** Rows per statement: few enough that no lock is held for long, many enough that round trips do not matter. */
const batch = 5_000
/** A trigger's files are needed until its runs have started; and a replay happens soon. */
const attachmentHours = 24
/** How long events can be sent to endpoints again. */
const webhookDays = 30
/** How long a repeated mail is recognized; mail servers retry for five days, people for longer. */
const inboundMailDays = 30
/** How long refused calls of the SQL functions can be carried out again. */
const refusedCallDays = 30
/** Providers tell of a text again for some days. */
const inboundTextDays = 30
/** Of links that were followed. */
const clickDays = 1
/** Sandbox messages are looked at soon, or never. */
const sandboxDays = 7
/** For a deleted integration nothing else would close the circuit. */
const circuitDays = 1
/** After it expires, an invitation stays visible for a while as not accepted. */
const invitationDays = 30
/** Two years: long enough for any audit of the year before. */
const auditDays = 730
/** After it expires, a suppression stays visible for a while. */
const suppressionDays = 30
/** The longest time over which a brake counts, and a day. */
const brakeDays = 8
/** How long imports are listed. */
const importDays = 30
/** How long it is known how triggers compared with the service behind an environment. */
const shadowDays = 30
const dayMs = 86_400_000

/** Failed jobs are retried within this many minutes, whatever went wrong: the library would wait for up to six hours. */
const retryMinutes = 5
/** After the library's limit a job stays undone. Jobs with that limit must be done, so their count is kept well below it. */
const [mostAttempts, countedAttempts] = [25, 10]

const waitsForLong = `
  SELECT FROM graphile_worker._private_jobs
  WHERE is_available AND attempts > 0 AND run_at > now() + make_interval(mins => ${retryMinutes})`

export const choreSchedule: Array<CronItem | Round> = [
  { task: 'hurry_failed', everyMs: 60_000, when: `EXISTS (${waitsForLong})` },
  // Each in a minute of its own: at once they opened five connections, 0.2 s of processor time to find nothing.
  // A missed round is not repeated: the next one deletes the same rows.
  { task: 'purge_idempotency_keys', match: '4,14,24,34,44,54 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  { task: 'purge_expired', match: '6,16,26,36,46,56 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // Two minutes after each ten, when the slot is complete. The next round catches up.
  { task: 'count_activity', match: '2,12,22,32,42,52 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // Does nothing unless the secret key is being changed.
  { task: 're_encrypt', match: '23 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // Finds nothing once chat addresses of earlier versions are encrypted.
  { task: 'seal_addresses', match: '8,18,28,38,48,58 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
  // A missed one runs at the next start: on a machine that sleeps at night it would otherwise never run.
  { task: 'tend_partitions', match: '17 3 * * *', options: { backfillPeriod: 86_400_000, maxAttempts: 10 } },
  { task: 'prune_versions', match: '41 3 * * *', options: { backfillPeriod: 86_400_000, maxAttempts: 10 } },
]

interface Surroundings {
  pool: pg.Pool
  db: Db
  clock: { now(): Date }
  log: Logger
  retention: Retention
  /** Entries in the history of a workflow or layout. */
  keepVersions: number
  secrets: Secrets
  /** Undefined if there is only one key. */
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
      await deleteInBatches(db, 'posted_event_ids', sql`expires_at <= ${now}`, abortSignal)
      const isForgotten = sql`notification_id IS NULL AND forget_at <= ${now} AND ${isUnheld('digests')}`
      await deleteInBatches(db, 'digests', isForgotten, abortSignal)
      await deleteInBatches(db, 'api_keys', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'signing_secrets', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'throttles', sql`ends_at <= ${now} AND ${isUnheld('throttles')}`, abortSignal)
      for (const isPast of await pastCounts(db, now)) await deleteInBatches(db, 'cap_counts', isPast, abortSignal)
      await deleteInBatches(db, 'attachments', isAttachmentDone(now), abortSignal)
      const before = (days: number) => new Date(now.getTime() - days * dayMs)
      const isOldInSandbox = sql`
        (created_at <= ${before(sandboxDays)} AND ${isUnheld('sandbox_messages')})
        OR (id < ${firstIdAt(before(sandboxDays))} AND NOT ${isUnheld('sandbox_messages')})`
      await deleteInBatches(db, 'sandbox_messages', isOldInSandbox, abortSignal)
      await deleteInBatches(db, 'circuits', sql`retry_at <= ${before(circuitDays)}`, abortSignal)
      const isTold = sql`created_at <= ${before(webhookDays)} AND due_at IS NULL`
      await deleteInBatches(db, 'webhook_deliveries', isTold, abortSignal)
      const isAnswered = sql`created_at <= ${before(inboundMailDays)} AND due_at IS NULL`
      await deleteInBatches(db, 'inbound_mails', isAnswered, abortSignal)
      await deleteInBatches(db, 'webhook_events', sql`created_at <= ${before(webhookDays)}`, abortSignal)
      await deleteInBatches(db, 'user_sessions', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'sign_in_steps', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'passkey_challenges', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'sign_in_attempts', sql`ends_at <= ${now}`, abortSignal)
      const isOver = sql`expires_at <= ${before(suppressionDays)} AND ${isUnheld('suppressions')}`
      await deleteInBatches(db, 'suppressions', isOver, abortSignal)
      const bouncedBefore = sql`happened_at <= ${now}::timestamptz - make_interval(days => coalesce(
        (SELECT (e.consent #>> '{softBounces,days}')::int FROM environments e WHERE e.id = environment_id),
        ${usualConsent.softBounces.days})) AND ${isUnheld('soft_bounces')}`
      await deleteInBatches(db, 'soft_bounces', bouncedBefore, abortSignal)
      const isOldMark = sql`sent_at <= ${before(brakeDays)} AND ${isUnheld('brake_marks')}`
      await deleteInBatches(db, 'brake_marks', isOldMark, abortSignal)
      await deleteInBatches(db, 'inbound_texts', sql`received_at <= ${before(inboundTextDays)}`, abortSignal)
      await deleteInBatches(db, 'belfry.refused', sql`refused_at <= ${before(refusedCallDays)}`, abortSignal)
      await deleteInBatches(db, 'text_answers', sql`answered_at <= ${before(inboundTextDays)}`, abortSignal)
      const isForgottenDefinition = sql`deleted_at <= ${keptSince(now)} AND ${isUnheld('deleted_definitions')}`
      await deleteInBatches(db, 'deleted_definitions', isForgottenDefinition, abortSignal)
      // They are judged within a minute; these are of messages that were deleted meanwhile.
      const isForgottenClick = sql`last_at <= ${before(clickDays)} AND ${isUnheld('tracked_clicks')}`
      await deleteInBatches(db, 'tracked_clicks', isForgottenClick, abortSignal)
      await deleteInBatches(db, 'workflow_presence', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'imports', sql`updated_at <= ${before(importDays)}`, abortSignal)
      await deleteInBatches(db, 'shadow_triggers', sql`created_at <= ${before(shadowDays)}`, abortSignal)
      await deleteInBatches(db, 'shadow_differences', sql`created_at <= ${before(shadowDays)}`, abortSignal)
      await deleteInBatches(db, 'bot_links', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'sign_in_links', sql`expires_at <= ${now}`, abortSignal)
      await deleteInBatches(db, 'invitations', sql`expires_at <= ${before(invitationDays)}`, abortSignal)
      await deleteInBatches(db, 'audit_log', isPastAudit(before(auditDays)), abortSignal)
      const isCountedLongAgo = isPastActivity(surroundings.retention.activityDays, now)
      await deleteInBatches(db, 'activity_counts', isCountedLongAgo, abortSignal)
      // If a job is replaced while it runs and its worker dies, the library leaves it behind as used up.
      await sql`
        SELECT graphile_worker.complete_jobs(ARRAY(
          SELECT id FROM graphile_worker.jobs
          WHERE task_identifier = 'wake' AND attempts >= max_attempts AND locked_at IS NULL LIMIT 1000))`.execute(db)
    },

    /** Spread over that time: after an outage there are many, and they should not all run at once. */
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
      if (numAffectedRows > 0n) log.info({ jobs: Number(numAffectedRows) }, 'failed jobs will be retried soon')
    },

    async count_activity(_payload, { abortSignal }) {
      await countActivity(db, clock.now(), abortSignal)
    },

    async re_encrypt(_payload, { abortSignal }) {
      if (surroundings.secretsToRenew === undefined) return
      const { renewed, unreadable } = await reEncrypt(db, surroundings.secretsToRenew, abortSignal)
      if (renewed > 0 || unreadable === 0)
        log.info({ renewed }, 'stored secrets are encrypted with the current secret key')
      if (unreadable > 0)
        log.warn({ unreadable }, 'some stored secrets cannot be decrypted with any of the secret keys')
    },

    async seal_addresses(_payload, { abortSignal }) {
      const rows = await sealAddresses(db, surroundings.secrets, abortSignal)
      if (rows > 0) log.info({ rows }, 'chat addresses of an earlier version are now encrypted')
    },

    async tend_partitions(_payload, { abortSignal, addJob }) {
      const made = await preparePartitions(pool, clock.now())
      if (made.length > 0) log.info({ made }, 'created partitions')
      // If one round was not enough, continue at once, behind everything that callers wait for.
      if (await dropExpired(surroundings, abortSignal)) await addJob('tend_partitions', {}, { priority: purgePriority })
    },

    async prune_versions(_payload, { abortSignal: stopping }) {
      const removed = await pruneVersions(db, { now: clock.now(), keep: surroundings.keepVersions, stopping })
      if (removed > 0) log.info({ removed }, 'old versions of workflows and layouts were removed')
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

/** Where the clock is held, its times say nothing about the age of a row, and the windows of its tests stay. */
const isUnheld = (table: string) => sql`
  NOT EXISTS (SELECT FROM environments h WHERE h.id = ${sql.table(table)}.environment_id AND h.clock_seed IS NOT NULL)`

/** Of each cap that has counts, those behind its window; all of them once the cap is gone. */
async function pastCounts(db: Db, now: Date): Promise<Array<RawBuilder<unknown>>> {
  // Steps through the index from one cap to the next.
  const { rows } = await sql<{ environment_id: string; cap_id: string; guards: Guards | null; clock_now: Date | null }>`
    WITH RECURSIVE counted AS (
      (SELECT environment_id, cap_id FROM cap_counts ORDER BY environment_id, cap_id LIMIT 1)
      UNION ALL
      SELECT next.* FROM counted, LATERAL (
        SELECT c.environment_id, c.cap_id FROM cap_counts c
        WHERE (c.environment_id, c.cap_id) > (counted.environment_id, counted.cap_id)
        ORDER BY c.environment_id, c.cap_id LIMIT 1) next
    )
    SELECT counted.*, e.guards, e.clock_now FROM counted LEFT JOIN environments e ON e.id = environment_id`.execute(db)
  return rows.map(({ environment_id, cap_id, guards, clock_now }) => {
    const cap = guardsOf(guards).caps.find(({ id }) => id === cap_id)
    const until = cap && new Date((clock_now ?? now).getTime() - windowMs(cap))
    const ofCap = sql`environment_id = ${environment_id} AND cap_id = ${cap_id}`
    return until ? sql`${ofCap} AND last_at <= ${until}` : ofCap
  })
}

/** Older than its environment keeps activity. */
const isPastActivity = (usualDays: number, now: Date) => sql`
  EXISTS (
    SELECT FROM environments e, coalesce((e.retention ->> 'activityDays')::int, ${usualDays}::int) AS days
    WHERE e.id = activity_counts.environment_id AND days > 0
      AND activity_counts.slot <= ${now}::timestamptz - make_interval(days => days))`

/**
 * Runs are found by transaction, for which there is an index. Failed ones can be redriven while they are recorded, and need
 * their files for that.
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

/** Behind everything a caller waits for (smaller numbers go first; 0 is the default). */
const purgePriority = 100

/**
 * Queued in the transaction that deletes the environment, so that a crash cannot separate the two. The second round, an hour
 * later, deletes what requests and runs in flight wrote or locked during the first.
 */
export async function queueEnvironmentPurge(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    SELECT graphile_worker.add_job('purge_environment', json_build_object('environmentId', ${environmentId}::text),
                                   run_at := now() + delay, priority := ${purgePriority}::smallint)
    FROM unnest(ARRAY['0 hours', '1 hour']::interval[]) AS delay`.execute(tx)
}

/** From the catalogue, so that no new table is forgotten. Lists the partitions of partitioned tables. */
async function tablesByEnvironment(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT CASE WHEN c.relnamespace = 'belfry'::regnamespace THEN 'belfry.' ELSE '' END || c.relname AS name
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'environment_id' AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace IN (${sql.raw(ownSchema)}, 'belfry'::regnamespace)
    ORDER BY c.relname`.execute(db)
  return rows.map((row) => row.name)
}

/**
 * Each batch commits by itself. Locked rows are skipped: after waiting for one, deleting it by ctid would ignore that it may no
 * longer match, such as an idempotency key just taken again.
 */
/** From the oldest on without a gap, so that the chain of what is left stays whole. */
const isPastAudit = (end: Date) => sql`
  created_at <= ${end} AND NOT EXISTS (
    SELECT FROM audit_log earlier
    WHERE earlier.organization_id = audit_log.organization_id AND earlier.number < audit_log.number
      AND earlier.created_at > ${end})`

async function deleteInBatches(
  db: Db,
  table: string,
  matches: RawBuilder<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  const name = sql.table(table)
  let deleted = batch
  while (deleted === batch) {
    // A worker that stops does not wait for millions of rows; the retried job continues here.
    stopping.throwIfAborted()
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE ${matches} LIMIT ${batch} FOR UPDATE SKIP LOCKED))`.execute(db)
    deleted = Number(numAffectedRows)
  }
}

/** Runs and messages are committed within seconds of the time in their ids, even by a process whose clock is slow. */
const settleMs = 120_000
const slotMs = slotSeconds * 1_000
/** Slots per transaction: a long backlog is counted in pieces, each kept if the next fails. */
const mostSlots = 144

/**
 * Counts activity for charts, once a time slot is complete: so triggers and messages need not count anything themselves. A
 * second worker waits for the first and finds nothing left. A database that has never counted starts with its oldest
 * activity.
 */
export async function countActivity(db: Db, now: Date, stopping: AbortSignal): Promise<void> {
  const end = floorToSlot(new Date(now.getTime() - settleMs))
  for (let isBehind = true; isBehind; ) {
    stopping.throwIfAborted()
    isBehind = await db.transaction().execute(async (tx) => {
      await sql`SET LOCAL statement_timeout = 0`.execute(tx)
      await sql`
        INSERT INTO activity_counted (until)
        SELECT coalesce(to_timestamp(('x' || left(min(id), 8))::bit(32)::bigint), ${end}) FROM notifications
        WHERE NOT EXISTS (SELECT FROM activity_counted)
        ON CONFLICT DO NOTHING`.execute(tx)
      const { until } = await tx.selectFrom('activity_counted').select('until').forUpdate().executeTakeFirstOrThrow()
      const from = floorToSlot(until)
      const to = new Date(Math.min(end.getTime(), from.getTime() + mostSlots * slotMs))
      if (to <= from) return false
      await storeCounts(tx, { from, to })
      await tx.updateTable('activity_counted').set({ until: to }).execute()
      return to < end
    })
  }
}

const floorToSlot = (time: Date) => new Date(Math.floor(time.getTime() / slotMs) * slotMs)
