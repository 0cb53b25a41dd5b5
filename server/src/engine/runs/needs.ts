// Advances many runs together: each until it needs the database, then one statement per kind of need answers all of them, until
// every run has stopped.
import type { Logger } from 'pino'
import type { Transaction } from '../../db/core/transaction.ts'
import type {
  Answer,
  CloseDigest,
  DigestEvent,
  Group,
  JoinDigest,
  Need,
  PassThrottle,
  Progress,
} from '../../steps/contract/need.ts'
import { findMerged, lockDigests, lockThrottles, saveDigests, saveThrottles } from '../core/statements.ts'
import { endByFault, type RunState, StepFault } from './run.ts'

export interface Thread {
  run: RunState
  progress: Progress<void>
}

interface Waiting extends Thread {
  need: Need
}

/** Runs per turn of the event loop. */
const stretch = 50

export async function settle(
  transaction: Transaction,
  threads: Thread[],
  { now, log }: { now: Date; log: Logger },
): Promise<void> {
  let waiting: Waiting[] = []
  const step = (thread: Thread, answer?: Answer) => {
    const need = proceed(thread, answer, { now, log })
    if (need) waiting.push({ ...thread, need })
  }
  for (const [index, thread] of threads.entries()) {
    if (index % stretch === stretch - 1) await new Promise(setImmediate)
    step(thread)
  }
  while (waiting.length > 0) {
    const asked = waiting
    waiting = []
    const answers = await answerAll(
      transaction,
      asked.map(({ need }) => need),
      now,
    )
    for (const [index, thread] of asked.entries()) {
      const answer = answers[index]
      if (answer && 'traces' in answer && answer.traces) thread.run.digestedTraces = answer.traces
      step(thread, answer)
    }
  }
}

/** A bug of ours in one run fails its step, and leaves the other runs alone. */
function proceed({ run, progress }: Thread, answer: Answer | undefined, { now, log }: { now: Date; log: Logger }) {
  try {
    const { value, done } = progress.next(answer as Answer)
    return done ? undefined : value
  } catch (error) {
    if (!(error instanceof StepFault)) throw error
    const { job, cause } = error
    log.error({ err: cause, notificationId: run.id, stepId: job.step.stepId }, 'a step failed unexpectedly')
    endByFault(run, error, now)
    return undefined
  }
}

async function answerAll(transaction: Transaction, needs: Need[], now: Date): Promise<Answer[]> {
  const answers = new Map<Need, Answer>()
  const of = <T extends Need>(name: T['need']) => needs.filter((need): need is T => need.need === name)
  await joinDigests(transaction, of<JoinDigest>('join digest'), now, answers)
  await closeDigests(transaction, of<CloseDigest>('close digest'), answers)
  await passThrottles(transaction, of<PassThrottle>('pass throttle'), now, answers)
  return needs.map((need) => answers.get(need) as Answer)
}

interface GroupRow {
  environment_id: string
  workflow_id: string
  step_row_id: string
  subscriber_row_id: string
  value: string
}

const keyOf = (group: Group) =>
  JSON.stringify([group.environmentId, group.workflowId, group.stepRowId, group.subscriberRowId, group.value])
const rowKey = (row: GroupRow) =>
  JSON.stringify([row.environment_id, row.workflow_id, row.step_row_id, row.subscriber_row_id, row.value])

/** Needs by group, in their order, and the groups as columns. */
export function byGroup<T extends { group: Group }>(needs: T[]): { groups: Map<string, T[]>; columns: string[][] } {
  const groups = new Map<string, T[]>()
  for (const need of needs) {
    const key = keyOf(need.group)
    const known = groups.get(key)
    if (known) known.push(need)
    else groups.set(key, [need])
  }
  const firsts = [...groups.values()].flatMap(([first]) => (first ? [first.group] : []))
  const columns = [
    firsts.map((group) => group.environmentId),
    firsts.map((group) => group.workflowId),
    firsts.map((group) => group.stepRowId),
    firsts.map((group) => group.subscriberRowId),
    firsts.map((group) => group.value),
  ]
  return { groups, columns }
}

export type DigestRow = GroupRow & { notification_id: string | null; seen_at: Date; forget_at: Date }

/**
 * An event that arrives while its group collects is merged. Otherwise the group starts to collect. With a look-back, it starts
 * only if there was an event within it; otherwise this event goes on at once.
 */
async function joinDigests(
  transaction: Transaction,
  needs: JoinDigest[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const changed: object[] = []
  for (const row of await transaction.run<DigestRow>(lockDigests, columns)) {
    let { notification_id: main, seen_at: seenAt } = row
    for (const need of groups.get(rowKey(row)) ?? []) {
      const isFirst = need.lookBackMs !== undefined && seenAt.getTime() < now.getTime() - need.lookBackMs
      if (main !== null) answers.set(need, { place: 'merged', into: main })
      else if (isFirst) answers.set(need, { place: 'first' })
      else {
        main = need.notificationId
        answers.set(need, { place: 'main' })
      }
      seenAt = now
    }
    const lookBackMs = Math.max(0, ...(groups.get(rowKey(row)) ?? []).map((need) => need.lookBackMs ?? 0))
    if (main !== row.notification_id || lookBackMs > 0)
      changed.push({
        ...groupRowOf(row),
        notification_id: main,
        seen_at: now,
        forget_at: new Date(now.getTime() + lookBackMs),
      })
  }
  if (changed.length > 0) await transaction.run(saveDigests, [JSON.stringify(changed)])
}

const groupRowOf = ({ environment_id, workflow_id, step_row_id, subscriber_row_id, value }: GroupRow): GroupRow => ({
  environment_id,
  workflow_id,
  step_row_id,
  subscriber_row_id,
  value,
})

/** For one digest; events beyond that are only counted. */
const mostEvents = 1_000
const mostEventBytes = 8 * 1024 * 1024

async function closeDigests(transaction: Transaction, needs: CloseDigest[], answers: Map<Need, Answer>): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const rows = await transaction.run<DigestRow>(lockDigests, columns)
  const closed = rows.flatMap((row) =>
    (groups.get(rowKey(row)) ?? []).some(({ notificationId }) => notificationId === row.notification_id)
      ? [{ ...groupRowOf(row), notification_id: null, seen_at: row.seen_at, forget_at: row.forget_at }]
      : [],
  )
  if (closed.length > 0) await transaction.run(saveDigests, [JSON.stringify(closed)])
  const merged = await transaction.run<{
    merged_into: string
    id: string
    created_at: Date
    payload: Record<string, unknown>
    trace: string | null
    total: number
  }>(findMerged, [
    needs.map(({ group }) => group.environmentId),
    needs.map(({ notificationId }) => notificationId),
    mostEvents,
    mostEventBytes,
  ])
  const totals = new Map(merged.map(({ merged_into, total }) => [merged_into, total]))
  const events = new Map<string, DigestEvent[]>()
  const traces = new Map<string, string[]>()
  for (const { merged_into, id, created_at, payload, trace } of merged) {
    const list = events.get(merged_into) ?? []
    events.set(merged_into, list)
    list.push({ id, time: created_at.toISOString(), payload })
    if (trace !== null) traces.set(merged_into, [...(traces.get(merged_into) ?? []), trace])
  }
  for (const need of needs) {
    const all = events.get(need.notificationId) ?? []
    const left = (totals.get(need.notificationId) ?? 0) - all.length
    answers.set(need, { events: all, left, traces: traces.get(need.notificationId) })
  }
}

type ThrottleRow = GroupRow & { passed: number; started_at: Date; ends_at: Date }

/** A fixed window: it starts with the first event that passes and ends when that one's settings say. */
async function passThrottles(
  transaction: Transaction,
  needs: PassThrottle[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const changed: object[] = []
  for (const row of await transaction.run<ThrottleRow>(lockThrottles, [...columns, now])) {
    let { passed, started_at: startedAt, ends_at: endsAt } = row
    for (const need of groups.get(rowKey(row)) ?? []) {
      if (endsAt <= now) [passed, startedAt, endsAt] = [0, now, need.endsAt]
      const isThrottled = passed >= need.threshold
      if (!isThrottled) passed += 1
      answers.set(need, { isThrottled, count: passed, startedAt, endsAt })
    }
    if (passed !== row.passed || endsAt !== row.ends_at)
      changed.push({ ...groupRowOf(row), passed, started_at: startedAt, ends_at: endsAt })
  }
  if (changed.length > 0) await transaction.run(saveThrottles, [JSON.stringify(changed)])
}
