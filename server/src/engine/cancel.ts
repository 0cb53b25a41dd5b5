// Cancels what a trigger has not done yet: its waits and what would follow them. The runs are locked as a timer locks them,
// so that of a cancel and a wait that ends at the same moment exactly one happens.
import pg from 'pg'
import { inTransaction, type Transaction } from '../db/transaction.ts'
import { detail } from '../steps/outcome.ts'
import { byGroup, type DigestRow } from './needs.ts'
import { PassedOver } from './passed-over.ts'
import {
  cancelWaits,
  dropTimers,
  endRuns,
  findFollowers,
  lockDigests,
  lockTransaction,
  lockTransactionEvent,
  promoteFollowers,
  saveDigests,
  stopWalks,
} from './queries.ts'
import { storedLine } from './run.ts'
import { type EngineParts, startRuns } from './start-runs.ts'
import { queueWakeUps } from './store.ts'

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
  /** Of a digest: what it collects by. */
  value: string | null
  was: 'delayed' | 'merged' | 'queued' | 'pending'
  due_at: Date | null
  workflow_id: string
  subscriber_row_id: string
}

/** Two cancels whose digests have each other's runs can wait for each other; one of them then begins again. */
const mostTries = 5

/** @returns whether there was anything to cancel */
export async function cancelTransaction(parts: EngineParts, place: Place): Promise<boolean> {
  await begin(parts, place)
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(parts.pool, (transaction) => cancel(transaction, place, parts.clock.now()))
    } catch (error) {
      if (!isDeadlock(error) || tries === mostTries) throw error
    }
  }
}

const isDeadlock = (error: unknown) => error instanceof pg.DatabaseError && error.code === '40P01'

/** Whoever cancels right after triggering does not have to be lucky: those named directly get the runs that are cancelled. */
async function begin(parts: EngineParts, { environmentId, transactionId }: Place): Promise<void> {
  const { rows } = await parts.pool.query<EventRow>(lockTransactionEvent.text, [environmentId, transactionId])
  for (const { id, started_at } of rows) if (started_at === null) await startRuns(parts, [{ environmentId, id }])
}

async function cancel(transaction: Transaction, place: Place, now: Date): Promise<boolean> {
  const { environmentId, transactionId } = place
  // The trigger, its walks, then timers, then runs: the order in which others take them.
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

/** Of a topic, or of everybody, those who are left get nothing. A chunk that was waited for may have gone on in more lanes. */
async function stop(transaction: Transaction, environmentId: string, eventId: string): Promise<boolean> {
  let isStopped = false
  while ((await transaction.run(stopWalks, [environmentId, eventId])).length > 0) isStopped = true
  return isStopped
}

/** A digest can change hands while its run is waited for; then the new hands are taken too. */
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
 * A digest that is cancelled hands what it has collected to the oldest of those it was merged from, which goes on to the
 * same deadline. Without one the window is closed. The window is locked before those are looked for, so that nobody joins
 * a digest that is gone.
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
