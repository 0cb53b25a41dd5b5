// What has to happen at a time: the queue wakes us up for what is due soon, and every minute for what has come near.
import { unsnoozeDue } from '../db/messages.ts'
import { inTransaction } from '../db/transaction.ts'
import { lockRuns } from './load.ts'
import { settle, type Thread } from './needs.ts'
import { findSoon, takeTimers } from './queries.ts'
import { type RunState, wake } from './run.ts'
import type { EngineParts } from './start-runs.ts'
import { priorities, queueWakeUps, soonMs, storeRuns } from './store.ts'

/** Waits that end in one transaction. */
const timersAtOnce = 200

interface TimerRow {
  environment_id: string
  subject_id: string
  position: number
  kind: 'step' | 'unsnooze'
}

/** Does everything that is due. @returns how much that was */
export async function wakeDue(parts: EngineParts): Promise<number> {
  let [total, taken] = [0, timersAtOnce]
  while (taken === timersAtOnce) {
    taken = await wakeSome(parts)
    total += taken
  }
  return total
}

async function wakeSome(parts: EngineParts): Promise<number> {
  const { pool, memory, clock, log, tracing, meter } = parts
  const now = clock.now()
  return inTransaction(pool, async (transaction) => {
    const timers = await transaction.run<TimerRow>(takeTimers, [now, timersAtOnce])
    const keysOf = (kind: TimerRow['kind']) =>
      timers
        .filter((timer) => timer.kind === kind)
        .map(({ environment_id, subject_id }) => ({ environmentId: environment_id, id: subject_id }))
    const messages = keysOf('unsnooze')
    if (messages.length > 0) await unsnoozeDue(transaction.tx, messages, now)
    const steps = timers.filter(({ kind }) => kind === 'step')
    if (steps.length === 0) return timers.length
    const runs = new Map((await lockRuns(transaction, memory, keysOf('step'), now)).map((run) => [run.id, run]))
    const threads = steps.flatMap(({ subject_id, position }) => threadOf(runs.get(subject_id), position, now))
    await settle(transaction, threads, { now, log })
    await storeRuns(transaction, [...runs.values()], { now, priority: priorities.single, tracing, meter })
    return timers.length
  })
}

/** Only what still waits: a wait that was cancelled leaves nothing to do. */
function threadOf(run: RunState | undefined, position: number, now: Date): Thread[] {
  const job = run?.jobs.find((each) => each.position === position)
  if (!run || !job) return []
  if (job.status === 'delayed') return [{ run, progress: wake(run, job, now) }]
  if (job.status === 'queued') {
    job.dueAt = null
    job.isChanged = true
    run.effects.calls.push(position)
  }
  return []
}

/** Every minute: jobs of the queue for the timers that have come near, also those that were missed. */
export async function queueSoon({ pool, clock }: EngineParts): Promise<void> {
  const now = clock.now()
  await inTransaction(pool, async (transaction) => {
    const rows = await transaction.run<{ due_at: Date }>(findSoon, [new Date(now.getTime() + soonMs)])
    await queueWakeUps(
      transaction,
      rows.map(({ due_at }) => due_at),
      now,
    )
  })
}
