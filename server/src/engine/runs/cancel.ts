// Cancels what a trigger has not done yet: its waits and the steps after them. Runs are locked as timers lock them, so of a
// cancel and a wait that ends at the same moment exactly one happens.
import { retryConflicts } from '../../db/core/database.ts'
import { inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import { isOfTransaction } from '../../db/queries/transactions.ts'
import type { Group } from '../../steps/contract/need.ts'
import { timeIn } from '../core/held-clocks.ts'
import { droppingTimers } from '../core/timer-statements.ts'
import { cancelWaits, isCanceledDigest, type Outline, type OutlinedJob } from './canceling.ts'
import { handOver } from './hand-over.ts'
import { PassedOver } from './passed-over.ts'
import { cancelQuestions } from './question-rows.ts'
import type { JobState, RunState } from './run-state.ts'
import { type EngineParts, startHeld, startRuns } from './start-runs.ts'
import { storePassedOver } from './store.ts'

/** All lanes: members who were not reached get nothing. */
const stopWalks = statement(
  'stop_walks',
  'DELETE FROM walks WHERE environment_id = $1 AND event_id = $2 RETURNING lane',
)

/** Locks the trigger of a transaction, so that none of it starts meanwhile. */
const lockTransactionEvent = statement(
  'lock_transaction_event',
  `SELECT e.id, e.started_at FROM events e WHERE ${isOfTransaction('$1', '$2')} FOR UPDATE OF e`,
)

/** @param which a condition on a run */
const statementsFor = (suffix: string, which: (run: string) => string) => ({
  /** Timers of waits, including the wait for a retry. */
  dropTimers: statement(
    `drop_timers${suffix}`,
    `DELETE FROM timers t USING notifications n, jobs j
     WHERE n.environment_id = $1 AND ${which('n')} AND t.environment_id = $1 AND t.subject_id = n.id
       AND j.environment_id = $1 AND j.notification_id = n.id AND j.position = t.position AND j.status IN ('delayed', 'queued')
       AND t.kind = 'step'`,
  ),
  /** Locks the runs, and the runs whose digests took their events: only undelivered events can be taken out again. */
  lockRuns: statement(
    `lock_transaction${suffix}`,
    `SELECT n.id, n.digested_into FROM notifications n
     WHERE n.environment_id = $1 AND n.id IN (
       SELECT unnest(ARRAY[o.id, o.digested_into]) FROM notifications o WHERE o.environment_id = $1 AND ${which('o')})
     ORDER BY n.id FOR UPDATE`,
  ),
  /** Their steps. The digests that took their events are locked, so what is said about them holds. */
  findSteps: statement(
    `find_steps_to_cancel${suffix}`,
    `SELECT n.id AS run_id, n.status AS run_status, n.event_id, n.workflow_id, n.subscriber_row_id, j.position, j.type, j.status,
       j.reason, j.error, j.due_at, j.step_row_id, j.digest ->> 'digestValue' AS value,
       j.status = 'merged' AND EXISTS (
         SELECT FROM jobs m
         WHERE m.environment_id = $1 AND m.notification_id = j.merged_into AND m.type = 'digest' AND m.status = 'delayed'
       ) AS is_collected
     FROM notifications n JOIN jobs j ON j.environment_id = $1 AND j.notification_id = n.id
     WHERE n.environment_id = $1 AND ${which('n')} ORDER BY n.id, j.position`,
  ),
})

const ofTransaction = statementsFor('', (run) => `${run}.transaction_id = $2`)
const ofRuns = statementsFor('_of_runs', (run) => `${run}.id = ANY ($2::text[])`)

/** Writes canceled steps and their runs. One may have begun to wait after the timers were dropped and before its run was locked. */
const saveCanceled = statement(
  'save_canceled',
  `WITH r AS MATERIALIZED (
     SELECT * FROM json_to_recordset($2::json) AS r (run_id text, run_status text, position smallint, status text,
       reason text, details jsonb)
   ), j AS (
     UPDATE jobs j SET status = r.status, reason = r.reason, due_at = NULL, details = j.details || r.details, updated_at = $3
     FROM r WHERE j.environment_id = $1 AND j.notification_id = r.run_id AND j.position = r.position
   ), w AS (
     DELETE FROM event_waits w USING r
     WHERE w.environment_id = $1 AND w.notification_id = r.run_id
       AND (w.position = r.position OR r.run_status <> 'processing')
   ), waiting AS (
     SELECT $1::text AS environment_id, run_id AS notification_id, position FROM r
   ), ${droppingTimers('waiting', '$3')}
   UPDATE notifications n SET status = r.run_status, updated_at = $3
   FROM (SELECT DISTINCT run_id, run_status FROM r) r
   WHERE n.environment_id = $1 AND n.id = r.run_id AND r.run_status <> 'processing'`,
)

interface Place {
  environmentId: string
  transactionId: string
}

interface EventRow {
  id: string
  started_at: Date | null
}

interface StepRow {
  run_id: string
  event_id: string
  run_status: RunState['status']
  workflow_id: string
  subscriber_row_id: string
  position: number
  type: string
  status: JobState['status']
  reason: JobState['reason']
  error: string | null
  due_at: Date | null
  step_row_id: string
  /** A digest's grouping value. */
  value: string | null
  /** Whether a digest that still collects has taken its event. */
  is_collected: boolean
}

interface CancelableJob extends OutlinedJob {
  isCollected: boolean
  group: Group
}

/** After this long waiting for a lock the caller gets an error and can retry, rather than hold a connection. */
export const patience = { lockTimeoutMs: 5_000 }

/**
 * Two cancels whose digests hold each other's runs can deadlock; one of them then starts over.
 * @returns whether there was anything to cancel
 */
export async function cancelTransaction(parts: EngineParts, place: Place): Promise<boolean> {
  await retryConflicts(() => begin(parts, place))
  return retryConflicts(() =>
    inTransaction(
      parts.pool,
      async (transaction) => cancel(transaction, parts, place, await timeIn(transaction, parts, place.environmentId)),
      patience,
    ),
  )
}

/** Starts a trigger that is still queued, so that a cancel right after it finds runs to cancel. */
async function begin(parts: EngineParts, { environmentId, transactionId }: Place): Promise<void> {
  const rows = await inTransaction(
    parts.pool,
    ({ run }) => run<EventRow>(lockTransactionEvent, [environmentId, transactionId]),
    patience,
  )
  const ids = rows.flatMap(({ id, started_at }) => (started_at === null ? id : []))
  await beginTriggers(parts, environmentId, ids)
}

/** So that a cancel right after a trigger finds runs to cancel. */
export async function beginTriggers(parts: EngineParts, environmentId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const keys = ids.map((id) => ({ environmentId, id }))
  if ((await parts.memory.recall(environmentId))?.facts.clock === undefined) await startRuns(parts, keys)
  else
    for (const key of keys)
      await inTransaction(parts.pool, (transaction) => startHeld(transaction, parts, key, {}), patience)
}

async function cancel(transaction: Transaction, parts: EngineParts, place: Place, now: Date): Promise<boolean> {
  const { environmentId, transactionId } = place
  // Trigger, walks, timers, runs: the same lock order as everywhere else.
  const [event] = await transaction.run<EventRow>(lockTransactionEvent, [environmentId, transactionId])
  const isStopped = event !== undefined && (await stopWalk(transaction, environmentId, event.id))
  if (event && isStopped) {
    const passedOver = new PassedOver()
    passedOver.addNamed('canceled_by_user')
    await storePassedOver(transaction, passedOver, { environmentId, eventId: event.id, now })
  }
  const canceled = await cancelFound(
    transaction,
    parts,
    { environmentId, which: transactionId, by: ofTransaction },
    now,
  )
  return isStopped || canceled > 0
}

/** These runs, wherever they come from. The caller has dealt with their triggers and walks. @returns how many of them */
export const cancelRuns = (
  transaction: Transaction,
  parts: EngineParts,
  { environmentId, ids }: { environmentId: string; ids: string[] },
  now: Date,
): Promise<number> => cancelFound(transaction, parts, { environmentId, which: ids, by: ofRuns }, now)

interface Found {
  environmentId: string
  /** The transaction, or the runs. */
  which: string | string[]
  by: typeof ofRuns
}

async function cancelFound(
  transaction: Transaction,
  parts: EngineParts,
  { environmentId, which, by }: Found,
  now: Date,
): Promise<number> {
  await transaction.run(by.dropTimers, [environmentId, which])
  await lockAll(transaction, environmentId, which, by)
  const triggers = runsIn(environmentId, await transaction.run<StepRow>(by.findSteps, [environmentId, which]))
  const canceled = triggers.flatMap((runs) =>
    cancelWaits<CancelableJob, Outline<CancelableJob>>(runs, ({ isCollected }) => isCollected, now),
  )
  if (canceled.length === 0) return 0
  const rows = canceled.map(({ run, job: { position, status, reason, details } }) => ({
    ...{ run_id: run.id, run_status: run.status },
    ...{ position, status, reason, details },
  }))
  await transaction.run(saveCanceled, [environmentId, JSON.stringify(rows), now])
  const asking = canceled.filter(({ job, was }) => job.type === 'ask' && was === 'delayed')
  if (asking.length > 0)
    await cancelQuestions(
      transaction,
      asking.map(({ run }) => ({ environmentId, id: run.id })),
      now,
    )
  const digests = canceled.filter(isCanceledDigest).map(({ run, job, dueAt }) => ({
    ...{ runId: run.id, group: job.group },
    dueAt: dueAt ?? now,
  }))
  if (digests.length > 0) await handOver(transaction, parts.memory, environmentId, digests, now)
  return new Set(canceled.map(({ run }) => run)).size
}

/** By trigger: one with nothing that waits is left alone. */
function runsIn(environmentId: string, rows: StepRow[]): Array<Array<Outline<CancelableJob>>> {
  const triggers = new Map<string, Map<string, Outline<CancelableJob>>>()
  for (const row of rows) {
    const runs = triggers.get(row.event_id) ?? new Map<string, Outline<CancelableJob>>()
    triggers.set(row.event_id, runs)
    const run = runs.get(row.run_id) ?? { id: row.run_id, status: row.run_status, jobs: [] }
    runs.set(row.run_id, run)
    run.jobs.push({
      ...{ position: row.position, type: row.type, status: row.status, reason: row.reason, error: row.error },
      ...{ dueAt: row.due_at, details: [], isChanged: false, isCollected: row.is_collected },
      group: {
        environmentId,
        workflowId: row.workflow_id,
        stepRowId: row.step_row_id,
        subscriberRowId: row.subscriber_row_id,
        value: row.value ?? '',
      },
    })
  }
  return [...triggers.values()].map((runs) => [...runs.values()])
}

/** Stops the fan-out; members not reached get nothing. Repeated, because a chunk we waited for may have opened more lanes. */
export async function stopWalk(transaction: Transaction, environmentId: string, eventId: string): Promise<boolean> {
  let isStopped = false
  while ((await transaction.run(stopWalks, [environmentId, eventId])).length > 0) isStopped = true
  return isStopped
}

/** A digest can be handed on while we wait for its run; then the new run is locked too. */
async function lockAll(
  transaction: Transaction,
  environmentId: string,
  which: string | string[],
  by: Found['by'],
): Promise<void> {
  for (;;) {
    const rows = await transaction.run<{ id: string; digested_into: string | null }>(by.lockRuns, [
      environmentId,
      which,
    ])
    const locked = new Set(rows.map(({ id }) => id))
    if (rows.every(({ digested_into: into }) => into === null || locked.has(into))) return
  }
}
