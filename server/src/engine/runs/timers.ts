// Timers: the queue wakes us for those due soon, and every minute for those that have come near.

import { retryConflicts } from '../../db/core/database.ts'
import { inTransaction, type Statement, statement, type Transaction } from '../../db/core/transaction.ts'
import { unsnoozeDue } from '../../db/queries/messages.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { detail } from '../../steps/contract/outcome.ts'
import { priorities } from '../core/fair-share.ts'
import { timeIn } from '../core/held-clocks.ts'
import { findSoon, takeTimers } from '../core/timer-statements.ts'
import { lockRuns } from './load.ts'
import { settle, type Thread } from './needs.ts'
import { wakeEarly, wakeUp } from './run.ts'
import { note, type RunState } from './run-state.ts'
import type { EngineParts, Storing } from './start-runs.ts'
import { queueComing, secondTimer, storeRuns } from './store.ts'

/** Timers handled in one transaction. */
const timersAtOnce = 200

/** One batch in this many takes turns between environments. */
const turnEvery = 4

/**
 * The same number of timers from each environment with something due, starting after the last one served. It skips through the
 * index from one environment to the next: 0.2 s on a busy machine where ten thousand have waits, so it is not done every time.
 * Of each environment it takes its share of timers first and only then asks, in words the planner does not understand, whether
 * they are due: the planner's statistics lag behind the clock, and it would search for them among everybody's.
 */
const takeInTurn = statement(
  'take_timers_in_turn',
  `WITH RECURSIVE turns AS (
     (SELECT environment_id, due_at FROM timers WHERE environment_id > $3 AND held IS NULL
      ORDER BY environment_id, due_at LIMIT 1)
     UNION ALL
     SELECT next.* FROM turns, LATERAL (
       SELECT t.environment_id, t.due_at FROM timers t WHERE t.environment_id > turns.environment_id AND t.held IS NULL
       ORDER BY t.environment_id, t.due_at LIMIT 1) next
   ), due AS (
     SELECT environment_id FROM turns WHERE due_at <= $1 LIMIT $2
   ), share AS (
     SELECT $2 / greatest(count(*), 1) AS size FROM due
   ), first AS (
     SELECT own.* FROM due, LATERAL (
       SELECT t.environment_id, t.subject_id, t.position FROM timers t
       WHERE t.environment_id = due.environment_id AND t.held IS NULL ORDER BY t.due_at LIMIT (SELECT size FROM share)) own
   )
   DELETE FROM timers WHERE ctid = ANY (ARRAY(
     SELECT t.ctid FROM first JOIN timers t USING (environment_id, subject_id, position)
     WHERE (t.due_at <= $1) IS TRUE FOR UPDATE OF t SKIP LOCKED))
   RETURNING environment_id, subject_id, position, kind`,
)

export interface TimerRow {
  environment_id: string
  subject_id: string
  position: number
  kind: 'step' | 'unsnooze' | 'clicks'
}

/**
 * Handles everything that is due, oldest first. With more than one batch, environments take turns now and then: a hundred
 * thousand waits of one that end at once do not hold up another's. @returns how many timers
 */
export async function wakeDue(parts: EngineParts): Promise<number> {
  let [total, last] = [0, '']
  for (let round = 0; ; round += 1) {
    const now = parts.clock.now()
    if (round % turnEvery === 1) {
      const others = await wakeSome(parts, takeInTurn, [now, timersAtOnce, last])
      total += others.length
      last =
        others
          .map(({ environment_id }) => environment_id)
          .sort()
          .at(-1) ?? ''
      continue
    }
    const oldest = await wakeSome(parts, takeTimers, [now, timersAtOnce])
    total += oldest.length
    if (oldest.length < timersAtOnce) return total
  }
}

async function wakeSome(parts: EngineParts, take: Statement, values: [now: Date, ...unknown[]]): Promise<TimerRow[]> {
  const [now] = values
  return retryConflicts(() =>
    inTransaction(parts.pool, async (transaction) => {
      const timers = await transaction.run<TimerRow>(take, values)
      await wakeTaken(transaction, parts, timers, now)
      return timers
    }),
  )
}

/** Ends the waits of these timers, which this transaction has deleted. */
export async function wakeTaken(
  transaction: Transaction,
  parts: EngineParts,
  timers: TimerRow[],
  now: Date,
  { goesOn = false, watch }: Storing = {},
): Promise<void> {
  const { memory, shares, hands, wakes, bell, tracing, meter } = parts
  const keysOf = (kind: TimerRow['kind']) =>
    timers
      .filter((timer) => timer.kind === kind)
      .map(({ environment_id, subject_id }) => ({ environmentId: environment_id, id: subject_id }))
  const messages = keysOf('unsnooze')
  if (messages.length > 0) await unsnoozeDue(transaction.tx, messages, now)
  const clicked = keysOf('clicks')
  if (clicked.length > 0) await parts.settleClicks?.(transaction, clicked, now)
  const steps = timers.filter(({ kind }) => kind === 'step')
  if (steps.length === 0) return
  const keys = steps.map(({ environment_id, subject_id, position }) => ({
    ...{ environmentId: environment_id, id: subject_id, position: ownOf(position) },
  }))
  const runs = new Map((await lockRuns(transaction, memory, keys, now, watch)).map((run) => [run.id, run]))
  const threads = steps.flatMap(({ subject_id, position }) => threadOf(runs.get(subject_id), position, now))
  await settle(transaction, threads, parts, now)
  for (const { subject_id, position } of steps) if (position < 0) leaveOwn(runs.get(subject_id), ownOf(position))
  // In the order of their waits, so that what they begin has that order too.
  const woken = [...new Set(steps.flatMap(({ subject_id }) => runs.get(subject_id) ?? []))]
  if (watch) transaction.afterCommit(() => watch(woken, now))
  const writing = { now, priority: priorities.single, shares, hands, wakes, bell, tracing, meter, goesOn }
  await storeRuns(transaction, woken, writing)
}

/** The timer of a step that waits, not that of a retry. Whoever deletes it, a wake or a person, ends the wait. */
const takeWait = statement(
  'take_wait',
  `DELETE FROM timers t USING jobs j
   WHERE t.environment_id = $1 AND t.subject_id = $2 AND t.kind = 'step' AND j.environment_id = $1
     AND j.notification_id = $2 AND j.position = t.position AND j.status = 'delayed'
   RETURNING t.position`,
)

/**
 * Ends the wait of a run before its time, also outside the subscriber's schedule. The timer is taken as `wakeDue` takes it, so
 * of several who end it exactly one does. @returns the step that waited, if any did
 */
export async function endWait(
  parts: EngineParts,
  environmentId: string,
  id: string,
): Promise<WorkflowStep | undefined> {
  const { pool, memory, shares, hands, wakes, tracing, meter } = parts
  return inTransaction(pool, async (transaction) => {
    const now = await timeIn(transaction, parts, environmentId)
    const [timer] = await transaction.run<{ position: number }>(takeWait, [environmentId, id])
    if (!timer) return undefined
    const runs = await lockRuns(transaction, memory, [{ environmentId, id }], now)
    const [run] = runs
    const job = run?.jobs.find(({ position, status }) => position === timer.position && status === 'delayed')
    if (!run || !job) return undefined
    note(job, detail('wait_ended'), now)
    await settle(transaction, [{ run, progress: wakeEarly(run, job, now) }], parts, now)
    await storeRuns(transaction, runs, { now, priority: priorities.single, shares, hands, wakes, tracing, meter })
    return job.step
  })
}

/** The step of a timer. */
const ownOf = (position: number): number => (position < 0 ? secondTimer(position) : position)

/** A second timer ends a wait before its time, or is only there to drop the step's own. */
function threadOf(run: RunState | undefined, position: number, now: Date): Thread[] {
  const job = run?.jobs.find((each) => each.position === ownOf(position))
  if (!run || !job || (position < 0 && job.status !== 'delayed')) return []
  return [{ run, progress: wakeUp(run, job, now) }]
}

/** The own timer of a step that waits no longer would stay until its time. */
function leaveOwn(run: RunState | undefined, position: number): void {
  const job = run?.jobs.find((each) => each.position === position)
  if (run && job?.dueAt === null) run.effects.unlistens.push(position)
}

/** Every minute: queues wake-ups for timers that have come near, or were missed. */
export const queueSoon = (parts: EngineParts): Promise<void> => queueComing(parts, findSoon)
