// Advances many runs together: each until it needs the database, then one statement per kind of need answers all of them, until
// every run has stopped.
import type { Logger } from 'pino'
import type { Transaction } from '../../db/core/transaction.ts'
import type {
  Answer,
  CloseDigest,
  DigestEvent,
  DigestPlace,
  Group,
  JoinDigest,
  Need,
  PassThrottle,
  Progress,
  ThrottlePass,
} from '../../steps/contract/need.ts'
import { findMerged, lockDigests, lockThrottles, saveDigests, saveThrottles } from '../core/statements.ts'
import { endByFault, type RunState, StepFault } from './run.ts'
import {
  closeDigest,
  collect,
  type DigestState,
  joinDigest,
  mostEventBytes,
  mostEvents,
  openUntil,
  passThrottle,
  type ThrottleState,
} from './windows.ts'

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
  await closeDigests(transaction, of<CloseDigest>('close digest'), now, answers)
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

export const keyOf = (group: Group) =>
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

export type DigestRow = GroupRow & DigestState

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
    const own = groups.get(rowKey(row)) ?? []
    const { places, after } = joinDigest(row, own, now)
    for (const [index, need] of own.entries()) answers.set(need, places[index] as DigestPlace)
    if (after) changed.push({ ...groupRowOf(row), ...after })
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

async function closeDigests(
  transaction: Transaction,
  needs: CloseDigest[],
  now: Date,
  answers: Map<Need, Answer>,
): Promise<void> {
  if (needs.length === 0) return
  const { groups, columns } = byGroup(needs)
  const rows = await transaction.run<DigestRow>(lockDigests, columns)
  const closed = rows.flatMap((row) => {
    const own = groups.get(rowKey(row)) ?? []
    for (const need of own) {
      const until = openUntil(row, need, now)
      if (until) answers.set(need, { until })
    }
    const after = closeDigest(
      row,
      own.filter((need) => !answers.has(need)),
    )
    return after ? [{ ...groupRowOf(row), ...after }] : []
  })
  if (closed.length > 0) await transaction.run(saveDigests, [JSON.stringify(closed)])
  const due = needs.filter((need) => !answers.has(need))
  if (due.length === 0) return
  const merged = await transaction.run<{
    merged_into: string
    id: string
    created_at: Date
    payload: Record<string, unknown>
    trace: string | null
    total: number
    bytes: number
  }>(findMerged, [
    due.map(({ group }) => group.environmentId),
    due.map(({ notificationId }) => notificationId),
    mostEvents,
    mostEventBytes,
    due.filter(({ newestFirst }) => newestFirst).map(({ notificationId }) => notificationId),
  ])
  const totals = new Map(merged.map(({ merged_into, total }) => [merged_into, total]))
  const events = new Map<string, Array<DigestEvent & { bytes: number; trace: string | null }>>()
  for (const { merged_into, id, created_at, payload, trace, bytes } of merged) {
    const list = events.get(merged_into) ?? []
    events.set(merged_into, list)
    list.push({ id, time: created_at.toISOString(), payload, bytes, trace })
  }
  for (const need of due) {
    const all = collect(events.get(need.notificationId) ?? [])
    const left = (totals.get(need.notificationId) ?? 0) - all.length
    const traces = all.flatMap(({ trace }) => trace ?? [])
    answers.set(need, {
      events: all.map(({ id, time, payload }) => ({ id, time, payload })),
      left,
      traces: traces.length > 0 ? traces : undefined,
    })
  }
}

type ThrottleRow = GroupRow & ThrottleState

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
    const own = groups.get(rowKey(row)) ?? []
    const { passes, after } = passThrottle(row, own, now)
    for (const [index, need] of own.entries()) answers.set(need, passes[index] as ThrottlePass)
    if (after) changed.push({ ...groupRowOf(row), ...after })
  }
  if (changed.length > 0) await transaction.run(saveThrottles, [JSON.stringify(changed)])
}
