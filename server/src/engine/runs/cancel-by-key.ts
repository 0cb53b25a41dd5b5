// Cancels all runs under way that have a cancellation key, some hundreds at a time. Each transaction locks what it cancels as a
// cancel by transaction id does.
import { retryConflicts } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { autoCommit, inTransaction, statement } from '../../db/core/transaction.ts'
import { timeIn } from '../core/held-clocks.ts'
import { beginTriggers, cancelRuns, patience, stopWalk } from './cancel.ts'
import { PassedOver } from './passed-over.ts'
import type { EngineParts } from './start-runs.ts'
import { storePassedOver } from './store.ts'

export interface KeyPlace {
  environmentId: string
  key: string
  /** Only runs of this workflow, by its internal id. */
  workflowRowId: string | undefined
  subscriberId: string | undefined
}

export interface CanceledByKey {
  /** How many runs. */
  canceled: number
  /** Whether as many as one call cancels were found. */
  hasMore: boolean
}

/** For one call. */
const mostRuns = 5_000
/** In one transaction. */
const runsAtOnce = 500
const eventsAtOnce = 100

const hasKey = `e.environment_id = $1 AND e.cancellation_key = $2 AND ($3::text IS NULL OR e.workflow_id = $3)`

/** Triggers that no run has begun of. */
const findQueued = statement(
  'find_queued_by_key',
  `SELECT e.id FROM events e WHERE ${hasKey} AND e.started_at IS NULL ORDER BY e.id LIMIT $4`,
)

/** Topics and broadcasts in progress. */
const findWalks = statement(
  'find_walks_by_key',
  `SELECT e.id FROM events e WHERE ${hasKey}
     AND EXISTS (SELECT FROM walks w WHERE w.environment_id = e.environment_id AND w.event_id = e.id)
   ORDER BY e.id LIMIT $4`,
)

/** Where this subscriber was not reached yet, they never will be. */
const leaveOutOfWalks = statement(
  'leave_out_of_walks',
  `INSERT INTO passed_over (environment_id, event_id, id, reason, named, subscriber_ids, created_at)
   SELECT $1, e.id, t.id, 'canceled_by_user', $4, '{}', $5
   FROM unnest($2::text[], $3::text[]) AS t (event_id, id) JOIN events e ON e.environment_id = $1 AND e.id = t.event_id
   WHERE NOT EXISTS (SELECT FROM notifications n WHERE n.environment_id = $1
       AND n.transaction_id = e.transaction_id AND n.event_id = e.id AND n.subscriber_id = $4)
     AND NOT EXISTS (SELECT FROM passed_over p WHERE p.environment_id = $1 AND p.event_id = e.id
       AND p.reason = 'canceled_by_user' AND p.named = $4)`,
)

/** Waits for chunks under way. */
const awaitWalks = statement(
  'await_walks',
  'SELECT FROM walks WHERE environment_id = $1 AND event_id = ANY ($2::text[]) ORDER BY event_id, lane FOR UPDATE',
)

/** Locks a trigger, as a cancel by its transaction id does. */
const lockEvent = statement(
  'lock_event',
  'SELECT FROM events e WHERE e.environment_id = $1 AND e.id = $2 FOR UPDATE OF e',
)

/** Under way: not ended, or in a digest that still collects. */
const findRuns = statement(
  'find_runs_by_key',
  `SELECT n.id FROM events e
   JOIN notifications n ON n.environment_id = e.environment_id AND n.transaction_id = e.transaction_id AND n.event_id = e.id
   WHERE ${hasKey} AND ($5::text IS NULL OR n.subscriber_id = $5) AND (n.status = 'processing' OR EXISTS (
     SELECT FROM notifications m
     WHERE m.environment_id = n.environment_id AND m.id = n.digested_into AND m.status = 'processing'))
   ORDER BY n.id LIMIT $4`,
)

export async function cancelByKey(parts: EngineParts, place: KeyPlace): Promise<CanceledByKey> {
  const { pool } = parts
  const { environmentId, key, workflowRowId = null, subscriberId = null } = place
  const found = async (which: typeof findRuns, ...more: unknown[]): Promise<string[]> => {
    const values = [environmentId, key, workflowRowId, mostRuns + 1, ...more]
    return (await autoCommit(pool).run<{ id: string }>(which, values)).map(({ id }) => id)
  }
  const queued = await found(findQueued)
  for (let at = 0; at < queued.length; at += eventsAtOnce)
    await retryConflicts(() => beginTriggers(parts, environmentId, queued.slice(at, at + eventsAtOnce)))
  const walks = await found(findWalks)
  if (subscriberId === null) await stopAll(parts, environmentId, walks)
  else if (walks.length > 0) await leaveOut(parts, { environmentId, ids: walks, subscriberId })
  const ids = await found(findRuns, subscriberId)
  let canceled = 0
  for (let at = 0; at < Math.min(ids.length, mostRuns); at += runsAtOnce) {
    const some = ids.slice(at, Math.min(at + runsAtOnce, mostRuns))
    canceled += await retryConflicts(() =>
      inTransaction(
        pool,
        async (transaction) => {
          const now = await timeIn(transaction, parts, environmentId)
          return cancelRuns(transaction, parts, { environmentId, ids: some }, now)
        },
        patience,
      ),
    )
  }
  return { canceled, hasMore: ids.length > mostRuns }
}

/** A walk is long: one transaction for each. */
async function stopAll(parts: EngineParts, environmentId: string, ids: string[]): Promise<void> {
  for (const eventId of ids)
    await retryConflicts(() =>
      inTransaction(
        parts.pool,
        async (transaction) => {
          await transaction.run(lockEvent, [environmentId, eventId])
          if (!(await stopWalk(transaction, environmentId, eventId))) return
          const passedOver = new PassedOver()
          passedOver.addNamed('canceled_by_user')
          const now = await timeIn(transaction, parts, environmentId)
          await storePassedOver(transaction, passedOver, { environmentId, eventId, now })
        },
        patience,
      ),
    )
}

/**
 * Walks go on for the others. Committed before the wait for chunks under way: those make a run that is found afterwards, and
 * all later ones know.
 */
async function leaveOut(
  parts: EngineParts,
  { environmentId, ids, subscriberId }: { environmentId: string; ids: string[]; subscriberId: string },
): Promise<void> {
  await inTransaction(parts.pool, async (transaction) => {
    const now = await timeIn(transaction, parts, environmentId)
    const rowIds = ids.map(() => newId(now))
    await transaction.run(leaveOutOfWalks, [environmentId, ids, rowIds, subscriberId, now])
  })
  await retryConflicts(() =>
    inTransaction(parts.pool, (transaction) => transaction.run(awaitWalks, [environmentId, ids]), patience),
  )
}
