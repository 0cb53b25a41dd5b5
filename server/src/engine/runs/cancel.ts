// Cancels what a trigger has not done yet: its waits and the steps after them. Runs are locked as timers lock them, so of a
// cancel and a wait that ends at the same moment exactly one happens.
import { retryConflicts } from '../../db/core/database.ts'
import { inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import { isOfTransaction } from '../../db/queries/transactions.ts'
import { detail } from '../../steps/contract/outcome.ts'
import { lockDigests, saveDigests } from '../core/statements.ts'
import { byGroup, type DigestRow } from './needs.ts'
import { PassedOver } from './passed-over.ts'
import { storedLine } from './run.ts'
import { type EngineParts, startRuns } from './start-runs.ts'
import { queueWakeUps } from './store.ts'

/** All lanes: members who were not reached get nothing. */
const stopWalks = statement(
  'stop_walks',
  'DELETE FROM walks WHERE environment_id = $1 AND event_id = $2 RETURNING lane',
)

/** Timers of waits, including the wait for a retry. */
const dropTimers = statement(
  'drop_timers',
  `DELETE FROM timers t USING notifications n, jobs j
   WHERE n.environment_id = $1 AND n.transaction_id = $2 AND t.environment_id = $1 AND t.subject_id = n.id
     AND j.environment_id = $1 AND j.notification_id = n.id AND j.position = t.position AND j.status IN ('delayed', 'queued')`,
)

/** Locks the trigger of a transaction, so that none of it starts meanwhile. */
const lockTransactionEvent = statement(
  'lock_transaction_event',
  `SELECT e.id, e.started_at FROM events e WHERE ${isOfTransaction('$1', '$2')} FOR UPDATE OF e`,
)

/** Locks its runs, and the runs whose digests took its events: only undelivered events can be taken out again. */
const lockTransaction = statement(
  'lock_transaction',
  `SELECT n.id, n.digested_into FROM notifications n
   WHERE n.environment_id = $1 AND n.id IN (
     SELECT unnest(ARRAY[o.id, o.digested_into]) FROM notifications o WHERE o.environment_id = $1 AND o.transaction_id = $2)
   ORDER BY n.id FOR UPDATE`,
)

/** Cancels waiting steps and all steps after them. Returns what each was before. */
const cancelWaits = statement(
  'cancel_waits',
  `WITH found AS (
     SELECT j.notification_id, j.position, j.status, j.due_at, n.workflow_id, n.subscriber_row_id FROM jobs j
     JOIN notifications n ON n.environment_id = $1 AND n.id = j.notification_id AND n.transaction_id = $2
     WHERE j.environment_id = $1 AND (j.status IN ('delayed', 'pending') OR j.status = 'queued' AND j.due_at IS NOT NULL
       OR j.status = 'merged' AND EXISTS (
       SELECT FROM jobs m
       WHERE m.environment_id = $1 AND m.notification_id = j.merged_into AND m.type = 'digest' AND m.status = 'delayed'))
   )
   UPDATE jobs j SET status = 'canceled', reason = 'canceled_by_user', due_at = NULL, details = j.details || $3::jsonb, updated_at = $4
   FROM found f
   WHERE j.environment_id = $1 AND j.notification_id = f.notification_id AND j.position = f.position
     AND EXISTS (SELECT FROM found w WHERE w.status <> 'pending')
   RETURNING j.notification_id, j.type, j.step_row_id, j.digest ->> 'digestValue' AS value, f.status AS was, f.due_at,
     f.workflow_id, f.subscriber_row_id`,
)

/** Ends runs with nothing left to do. */
const endRuns = statement(
  'end_runs',
  `UPDATE notifications n SET updated_at = $3,
     status = CASE WHEN EXISTS (SELECT FROM jobs j WHERE j.environment_id = $1 AND j.notification_id = n.id
                                  AND j.status = 'failed' AND j.reason IS DISTINCT FROM 'failure_allowed')
              THEN 'error' ELSE 'completed' END
   WHERE n.environment_id = $1 AND n.id = ANY ($2::text[]) AND NOT EXISTS (
     SELECT FROM jobs j WHERE j.environment_id = $1 AND j.notification_id = n.id
       AND j.status IN ('pending', 'queued', 'running', 'delayed'))`,
)

/** The oldest run merged into each of these, locked. */
const findFollowers = statement(
  'find_followers',
  `SELECT f.merged_into, f.notification_id, f.position FROM (
     SELECT DISTINCT ON (j.merged_into) j.merged_into, j.notification_id, j.position FROM jobs j
     WHERE j.environment_id = $1 AND j.merged_into = ANY ($2::text[]) AND j.status = 'merged' AND j.digest IS NOT NULL
     ORDER BY j.merged_into, j.created_at, j.id) f
   JOIN notifications n ON n.environment_id = $1 AND n.id = f.notification_id
   ORDER BY n.id FOR UPDATE OF n`,
)

const promoteFollowers = statement(
  'promote_followers',
  `WITH given AS (
     SELECT * FROM unnest($2::text[], $3::text[], $4::smallint[], $5::timestamptz[]) AS t (main, follower, position, due_at)
   ), promoted AS (
     UPDATE jobs j SET status = CASE WHEN j.position = g.position THEN 'delayed' ELSE 'pending' END, reason = NULL,
       merged_into = NULL, due_at = CASE WHEN j.position = g.position THEN g.due_at END, updated_at = $6,
       details = CASE WHEN j.position = g.position THEN j.details || $7::jsonb ELSE j.details END
     FROM given g
     WHERE j.environment_id = $1 AND j.notification_id = g.follower AND j.merged_into = g.main AND j.status = 'merged'
   ), runs AS (
     UPDATE notifications n SET status = 'processing', digested_into = NULL, updated_at = $6
     FROM given g WHERE n.environment_id = $1 AND n.id = g.follower
   ), others AS (
     UPDATE jobs j SET merged_into = g.follower FROM given g
     WHERE j.environment_id = $1 AND j.merged_into = g.main AND j.notification_id <> g.follower AND j.status = 'merged'
   ), their_runs AS (
     UPDATE notifications n SET digested_into = g.follower FROM given g
     WHERE n.environment_id = $1 AND n.digested_into = g.main AND n.id <> g.follower
       AND n.id IN (SELECT j.notification_id FROM jobs j WHERE j.environment_id = $1 AND j.merged_into = g.main)
   )
   INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
   SELECT $1, follower, position, 'step', due_at FROM given
   ON CONFLICT (environment_id, subject_id, position) DO UPDATE SET due_at = excluded.due_at`,
)

interface Place {
  environmentId: string
  transactionId: string
}

interface EventRow {
  id: string
  started_at: Date | null
}

interface CanceledJob {
  notification_id: string
  type: string
  step_row_id: string
  /** A digest's grouping value. */
  value: string | null
  was: 'delayed' | 'merged' | 'queued' | 'pending'
  due_at: Date | null
  workflow_id: string
  subscriber_row_id: string
}

/** After this long waiting for a lock the caller gets an error and can retry, rather than hold a connection. */
const patience = { lockTimeoutMs: 5_000 }

/**
 * Two cancels whose digests hold each other's runs can deadlock; one of them then starts over.
 * @returns whether there was anything to cancel
 */
export async function cancelTransaction(parts: EngineParts, place: Place): Promise<boolean> {
  await retryConflicts(() => begin(parts, place))
  return retryConflicts(() =>
    inTransaction(parts.pool, (transaction) => cancel(transaction, place, parts.clock.now()), patience),
  )
}

/** Starts a trigger that is still queued, so that a cancel right after it finds runs to cancel. */
async function begin(parts: EngineParts, { environmentId, transactionId }: Place): Promise<void> {
  const rows = await inTransaction(
    parts.pool,
    ({ run }) => run<EventRow>(lockTransactionEvent, [environmentId, transactionId]),
    patience,
  )
  for (const { id, started_at } of rows) if (started_at === null) await startRuns(parts, [{ environmentId, id }])
}

async function cancel(transaction: Transaction, place: Place, now: Date): Promise<boolean> {
  const { environmentId, transactionId } = place
  // Trigger, walks, timers, runs: the same lock order as everywhere else.
  const [event] = await transaction.run<EventRow>(lockTransactionEvent, [environmentId, transactionId])
  const isStopped = event !== undefined && (await stop(transaction, environmentId, event.id))
  if (event && isStopped) {
    const passedOver = new PassedOver()
    passedOver.addNamed('canceled_by_user')
    await passedOver.store(transaction, environmentId, event.id, now)
  }
  await transaction.run(dropTimers, [environmentId, transactionId])
  await lockAll(transaction, place)
  const line = JSON.stringify([storedLine(detail('canceled'), now)])
  const canceled = await transaction.run<CanceledJob>(cancelWaits, [environmentId, transactionId, line, now])
  if (canceled.length === 0) return isStopped
  await transaction.run(endRuns, [environmentId, [...new Set(canceled.map((job) => job.notification_id))], now])
  const mains = canceled.filter(({ type, was }) => type === 'digest' && was === 'delayed')
  if (mains.length > 0) await handOver(transaction, environmentId, mains, now)
  return true
}

/** Stops the fan-out; members not reached get nothing. Repeated, because a chunk we waited for may have opened more lanes. */
async function stop(transaction: Transaction, environmentId: string, eventId: string): Promise<boolean> {
  let isStopped = false
  while ((await transaction.run(stopWalks, [environmentId, eventId])).length > 0) isStopped = true
  return isStopped
}

/** A digest can be handed on while we wait for its run; then the new run is locked too. */
async function lockAll(transaction: Transaction, { environmentId, transactionId }: Place): Promise<void> {
  for (;;) {
    const rows = await transaction.run<{ id: string; digested_into: string | null }>(lockTransaction, [
      environmentId,
      transactionId,
    ])
    const locked = new Set(rows.map(({ id }) => id))
    if (rows.every(({ digested_into: into }) => into === null || locked.has(into))) return
  }
}

/**
 * A canceled digest hands its events to the oldest run merged into it, which keeps the deadline. Without one, the window
 * closes. The window is locked first, so that no run joins a digest that is gone.
 */
async function handOver(
  transaction: Transaction,
  environmentId: string,
  mains: CanceledJob[],
  now: Date,
): Promise<void> {
  const ids = mains.map(({ notification_id }) => notification_id)
  const { columns } = byGroup(
    mains.map(({ workflow_id, step_row_id, subscriber_row_id, value }) => ({
      group: {
        environmentId,
        workflowId: workflow_id,
        stepRowId: step_row_id,
        subscriberRowId: subscriber_row_id,
        value: value ?? '',
      },
    })),
  )
  const windows = await transaction.run<DigestRow>(lockDigests, columns)
  const followers = await transaction.run<{ merged_into: string; notification_id: string; position: number }>(
    findFollowers,
    [environmentId, ids],
  )
  const heirs = new Map(followers.map((row) => [row.merged_into, row.notification_id]))
  const handed = windows
    .filter(({ notification_id }) => ids.includes(notification_id ?? ''))
    .map((row) => ({ ...row, notification_id: heirs.get(row.notification_id ?? '') ?? null }))
  if (handed.length > 0) await transaction.run(saveDigests, [JSON.stringify(handed)])
  if (followers.length === 0) return
  const dueTimes = followers.map((row) => mains.find((main) => main.notification_id === row.merged_into)?.due_at ?? now)
  await transaction.run(promoteFollowers, [
    environmentId,
    followers.map((row) => row.merged_into),
    followers.map((row) => row.notification_id),
    followers.map((row) => row.position),
    dueTimes,
    now,
    JSON.stringify([storedLine(detail('digested'), now)]),
  ])
  await queueWakeUps(transaction, dueTimes, now)
}
