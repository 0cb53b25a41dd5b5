// Cancels what a trigger has not done yet: its waits and what would follow them. The runs are locked as a timer locks them,
// so that of a cancel and a wait that ends at the same moment exactly one happens.
import type pg from 'pg'
import { newId } from '../db/ids.ts'
import { inTransaction, type Transaction } from '../db/transaction.ts'
import { detail } from '../steps/outcome.ts'
import {
  cancelWaits,
  dropTimers,
  endRuns,
  findFollowers,
  lockTransaction,
  promoteFollowers,
  releaseDigests,
} from './queries.ts'
import { queueWakeUps } from './store.ts'

interface CanceledJob {
  notification_id: string
  position: number
  type: string
  was: 'delayed' | 'merged' | 'pending'
  due_at: Date | null
}

/** @returns whether there was anything to cancel */
export async function cancelTransaction(
  { pool, clock }: { pool: pg.Pool; clock: { now(): Date } },
  environmentId: string,
  transactionId: string,
): Promise<boolean> {
  const now = clock.now()
  return inTransaction(pool, async (transaction) => {
    // Timers first, then runs: the order in which a wait ends.
    await transaction.run(dropTimers, [environmentId, transactionId])
    await transaction.run(lockTransaction, [environmentId, transactionId])
    const { detail: text, status } = detail('canceled')
    const line = [{ id: newId(now), at: now.toISOString(), detail: text, status }]
    const canceled = await transaction.run<CanceledJob>(cancelWaits, [
      environmentId,
      transactionId,
      JSON.stringify(line),
      now,
    ])
    if (canceled.length === 0) return false
    await transaction.run(endRuns, [environmentId, [...new Set(canceled.map((job) => job.notification_id))], now])
    const mains = canceled.filter(({ type, was }) => type === 'digest' && was === 'delayed')
    if (mains.length > 0) await handOver(transaction, environmentId, mains, now)
    return true
  })
}

/**
 * A digest that is cancelled hands what it has collected to the oldest of those it was merged from, which goes on to the
 * same deadline. Without one the window is closed.
 */
async function handOver(
  transaction: Transaction,
  environmentId: string,
  mains: CanceledJob[],
  now: Date,
): Promise<void> {
  const ids = mains.map(({ notification_id }) => notification_id)
  const followers = await transaction.run<{ merged_into: string; notification_id: string; position: number }>(
    findFollowers,
    [environmentId, ids],
  )
  await transaction.run(releaseDigests, [
    environmentId,
    ids,
    followers.map((row) => row.merged_into),
    followers.map((row) => row.notification_id),
  ])
  if (followers.length === 0) return
  const dueTimes = followers.map((row) => mains.find((main) => main.notification_id === row.merged_into)?.due_at ?? now)
  await transaction.run(promoteFollowers, [
    environmentId,
    followers.map((row) => row.merged_into),
    followers.map((row) => row.notification_id),
    followers.map((row) => row.position),
    dueTimes,
    now,
  ])
  await queueWakeUps(transaction, dueTimes, now)
}
