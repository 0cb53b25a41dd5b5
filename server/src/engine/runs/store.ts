// Writes runs after they advanced: one statement for all of them, and one more for their calls and wake-ups.
import type pg from 'pg'
import { inColumns, type Table } from '../../db/core/columns.ts'
import { realOf } from '../../db/core/held-clock.ts'
import { newId } from '../../db/core/ids.ts'
import { shortLog } from '../../db/core/step-log.ts'
import { storableJson } from '../../db/core/storable.ts'
import { inTransaction, type Statement, type Transaction } from '../../db/core/transaction.ts'
import { type EventType, keptOfMessage, tellAll, tellOfStates } from '../../db/queries/webhook-events.ts'
import type { Tracing } from '../../tracing.ts'
import type { Bell } from '../core/bell.ts'
import { columnsOfEnds, endCalls, endCallsForNow, queueCalls } from '../core/call-statements.ts'
import { countHeard, dropWaits, saveWaits } from '../core/event-statements.ts'
import type { FairShare } from '../core/fair-share.ts'
import { queueHeldWork } from '../core/held-statements.ts'
import type { Meter } from '../core/meter.ts'
import { addJobs, columnsOfChanges, columnsOfRuns, insertRuns, queueWakes, updateRuns } from '../core/run-statements.ts'
import { notePassedOver } from '../core/walk-statements.ts'
import { storeDead } from './dead-addresses.ts'
import type { Hands, HeldCalls } from './hands.ts'
import type { PassedOver } from './passed-over.ts'
import { recipientIn } from './question-jobs.ts'
import { storeQuestions } from './question-rows.ts'
import type { JobState, RunState } from './run-state.ts'
import { traceSteps } from './traces.ts'

/** Calls that one queue job makes in parallel. */
const callsPerJob = 32
/** Timers farther ahead are queued when they come near (`queueSoon` in timers.ts): a million of them cost the queue nothing. */
const soonMs = 120_000
const slotMs = 100

export interface Writing {
  now: Date
  priority: number
  /** Where busy environments go after others. */
  shares?: FairShare | undefined
  /** Where calls need not wait for the queue. */
  hands?: Hands | undefined
  wakes?: QueuedWakes | undefined
  /** Where workers need not look for new jobs by themselves. */
  bell?: Bell | undefined
  tracing?: Tracing | undefined
  meter?: Meter | undefined
  /** Where the clock is held: whether the caller goes on with what is due at once. Otherwise the queue is told. */
  goesOn?: boolean | undefined
}

/** Where the clock is held, all runs are of that environment. */
export async function storeRuns(transaction: Transaction, runs: RunState[], writing: Writing): Promise<void> {
  const [added, changed] = [runs.filter(({ isNew }) => isNew), runs.filter(({ isNew }) => !isNew)]
  const { now } = writing
  const isHeld = runs.some(({ environment }) => environment.clock !== undefined)
  const calls = isHeld ? { held: [], queued: [] } : sortCalls(runs, writing)
  const writeHeld = calls.held.length > 0 ? writing.hands?.hold(transaction, calls.held) : undefined
  await tellOfStates(
    transaction,
    runs.flatMap((run) => eventsOf(run, now)),
    now,
  )
  await tellAll(transaction, runs.flatMap(goalEvents), now)
  if (added.length > 0)
    await transaction.run(insertRuns, [
      storableJson(added.flatMap((run) => timerRows(run, now))),
      now,
      ...inColumns(tablesOfNew(added)),
    ])
  const entered = [...changed.flatMap((run) => addedJobs(run, now)), ...added.flatMap((run) => addedCopies(run, now))]
  if (entered.length > 0) await transaction.run(addJobs, [storableJson(entered)])
  const copied = added.flatMap((run) => messageRows(run, now).filter((_, index) => isOfCopy(run, index)))
  if (changed.length > 0 || copied.length > 0)
    await transaction.run(updateRuns, [
      storableJson(changed.flatMap((run) => timerRows(run, now))),
      now,
      ...inColumns([
        { columns: columnsOfChanges.notifications, rows: changed.map(changedRun) },
        { columns: columnsOfChanges.jobs, rows: changed.flatMap(changedJobs) },
        { columns: columnsOfChanges.messages, rows: [...changed.flatMap((run) => messageRows(run, now)), ...copied] },
      ]),
    ])
  await storeWaits(transaction, runs, now)
  await storeQuestions(transaction, runs, now)
  await storeDead(transaction, runs, now)
  await writeHeld?.()
  if (calls.queued.length > 0) {
    await transaction.run(queueCalls, [
      calls.queued.map((job) => JSON.stringify({ calls: job.calls })),
      calls.queued.map(({ priority }) => priority),
    ])
    transaction.afterCommit(() => writing.bell?.ring('deliver', calls.queued.length))
  }
  const due = runs.flatMap((run) => [
    ...run.effects.timers.map(({ dueAt }) => dueAt),
    ...run.effects.wakes.map(() => now),
  ])
  if (!isHeld) await queueWakeUps(transaction, due, now, writing)
  else if (!writing.goesOn && runs.some((run) => isDueIn(run, now)))
    await tellHeldWork(transaction, runs[0]?.environment.id ?? '', writing)
  transaction.afterCommit(() => noteStored(writing, runs, realOf(now)))
}

const isDueIn = ({ effects: { calls, wakes, timers } }: RunState, now: Date): boolean =>
  calls.length > 0 || wakes.length > 0 || timers.some(({ dueAt }) => dueAt <= now)

/** Something is to be done at once in an environment whose clock is held. */
export async function tellHeldWork(
  transaction: Pick<Transaction, 'run' | 'afterCommit'>,
  environmentId: string,
  { bell }: Pick<Writing, 'bell'>,
): Promise<void> {
  await transaction.run(queueHeldWork, [environmentId, 0])
  transaction.afterCommit(() => bell?.ring('held_work', 1))
}

/** Once they are committed. */
export function noteStored({ tracing, meter }: Pick<Writing, 'tracing' | 'meter'>, runs: RunState[], now: Date): void {
  if (tracing) traceSteps(tracing, runs, now)
  if (meter) countRuns(meter, runs.filter(({ isNew }) => isNew).length, runs)
}

/** What new runs add to each table. */
export const tablesOfNew = (runs: RunState[]): Table[] => [
  { columns: columnsOfRuns.notifications, rows: runs.map(newNotification) },
  {
    columns: columnsOfRuns.jobs,
    rows: runs.flatMap((run) => run.jobs.filter(({ asked }) => !asked).map((job) => newJob(run, job))),
  },
  { columns: columnsOfRuns.messages, rows: runs.flatMap(addedMessages) },
]

/** Whether a new run is stored with the rows of `columnsOfNew`: it neither waits nor calls, and no webhook is told. */
export const isWhole = ({ effects, environment }: RunState): boolean =>
  effects.calls.length === 0 &&
  effects.timers.length === 0 &&
  effects.wakes.length === 0 &&
  effects.heard.length === 0 &&
  effects.asking.length === 0 &&
  effects.listens.length === 0 &&
  environment.webhooks.size === 0

function countRuns(meter: Meter, started: number, runs: RunState[]): void {
  let [completed, failed] = [0, 0]
  for (const { status, jobs } of runs) {
    // Woken for nothing, as after a cancel: counted before.
    if (!jobs.some(({ isChanged }) => isChanged)) continue
    if (status === 'completed') completed += 1
    else if (status === 'error') failed += 1
  }
  meter.started(started)
  meter.ended('completed', completed)
  meter.ended('error', failed)
}

/** A run whose call has ended, with nothing left to do, or nothing before a retry. */
export interface PlainEnd {
  run: RunState
  /** Of the run's row, from when the call began. */
  rowVersion: string
}

/** Whether `storeEnds` can write this run. */
export const isPlain = ({ effects, environment, jobs }: RunState): boolean =>
  effects.calls.length === 0 &&
  effects.unlistens.length === 0 &&
  effects.dead.length === 0 &&
  environment.webhooks.size === 0 &&
  jobs.filter(({ isChanged }) => isChanged).length === 1

/** Rejects, writing nothing, if one of the runs has changed since its call began. */
export async function storeEnds(
  by: Pick<Transaction, 'run'>,
  ends: PlainEnd[],
  { now, wakes, bell }: { now: Date; wakes: QueuedWakes; bell: Bell },
): Promise<void> {
  const rows = ends.flatMap(({ run, rowVersion }) =>
    run.jobs
      .filter(({ isChanged }) => isChanged)
      .map((job) => ({
        environment_id: run.environment.id,
        id: run.id,
        row_version: rowVersion,
        run_status: run.status,
        position: job.position,
        attempts: job.attempts,
        status: job.status,
        reason: job.reason,
        error: job.error,
        provider_id: job.providerId,
        details: job.details.slice(job.storedDetails),
        output: job.output,
        delivery: job.delivery,
        due_at: job.dueAt,
      })),
  )
  const values = inColumns([
    { columns: columnsOfEnds.calls, rows },
    { columns: columnsOfEnds.messages, rows: ends.flatMap(({ run }) => messagesOf(run)) },
  ])
  const due = rows.flatMap(({ due_at }) => due_at ?? [])
  if (due.length === 0) {
    await by.run(endCalls, [now, ...values])
    return
  }
  const { missing, commit } = wakes.missing(slotsOf(due, now))
  await by.run(endCallsForNow, [now, [...missing.keys()], [...missing.values()], ...values])
  commit()
  if (missing.has('now')) bell.ring('wake', 1)
}

/** The webhook events for a run's messages, as far as endpoints subscribe to them. */
function eventsOf(run: RunState, now: Date) {
  const { environment, effects } = run
  if (environment.webhooks.size === 0 || effects.messages.length === 0) return []
  return messageRows(run, now).flatMap((row, index) => {
    const types = typesOf(row, effects.messages[index]?.job.status === 'queued')
    return types
      .filter((type) => environment.webhooks.has(type))
      .map((type) => ({
        environmentId: environment.id,
        type,
        object: { ...keptOfMessage(row), ...(run.event.trace === null ? {} : { trace: run.event.trace }) },
        subscriberId: row.subscriber_id,
      }))
  })
}

const goalEvents = (run: RunState) =>
  run.effects.isGoalMet && run.environment.webhooks.has('run.goal-met')
    ? [
        {
          ...{ environmentId: run.environment.id, type: 'run.goal-met' as const },
          object: {
            ...{ id: run.id, transaction_id: run.transactionId, workflow: run.workflow.identifier },
            ...{ subscriber_id: run.subscriber.subscriber_id, goal: run.goals?.met },
          },
          subscriberId: run.subscriber.subscriber_id,
        },
      ]
    : []

/** An in-app message is delivered once it exists. One that will be retried has not failed. */
function typesOf({ status, channel }: { status: string; channel: string }, isTriedAgain: boolean): EventType[] {
  if (status === 'sent') return channel === 'in_app' ? ['message.sent', 'message.delivered'] : ['message.sent']
  return status === 'warning' && isTriedAgain ? [] : ['message.failed']
}

const changedRun = ({ environment, id, status, digestedInto, goals }: RunState) => ({
  ...{ environment_id: environment.id, id, status, digested_into: digestedInto, goals },
})

const changedJobs = (run: RunState) =>
  run.jobs
    .filter(({ isChanged, isNew }) => isChanged && !isNew)
    .map((job) => changedJob(run, job, job.details.slice(job.storedDetails)))

/** What steps wait for beside their time, and what they have heard. */
async function storeWaits(transaction: Transaction, runs: RunState[], now: Date): Promise<void> {
  const over = runs.flatMap((run) => run.effects.unlistens.map((position) => ({ run, position })))
  if (over.length > 0)
    await transaction.run(dropWaits, [
      over.map(({ run }) => run.environment.id),
      over.map(({ run }) => run.id),
      over.map(({ position }) => position),
      now,
    ])
  const waits = runs.flatMap(waitRows)
  if (waits.length > 0) await transaction.run(saveWaits, [storableJson(waits), now])
  const heard = runs.flatMap((run) => run.effects.heard.map((id) => ({ environmentId: run.environment.id, id })))
  if (heard.length > 0)
    await transaction.run(countHeard, [heard.map(({ environmentId }) => environmentId), heard.map(({ id }) => id)])
}

const waitRows = (run: RunState) =>
  run.effects.listens.flatMap(({ position, entries }) =>
    entries.map(({ kind, name, value }, entry) => ({
      ...{ environment_id: run.environment.id, notification_id: run.id, position, entry, kind, name, value },
      subscriber_id: run.subscriber.subscriber_id,
    })),
  )

/** Steps of arms that a stored run has entered. */
const addedJobs = (run: RunState, now: Date) =>
  run.jobs.filter(({ isNew }) => isNew).map((job) => jobRow(run, job, now))

/** Copies of questions that a new run has begun with. */
const addedCopies = (run: RunState, now: Date) =>
  run.jobs.filter(({ asked }) => asked).map((job) => jobRow(run, job, now))

/** Its messages belong to whoever is asked, not to the subscriber of the run. */
const isOfCopy = (run: RunState, index: number): boolean => Boolean(run.effects.messages[index]?.job.asked)

/** Rows of new runs, without null members. */
const newNotification = (run: RunState) => ({
  environment_id: run.environment.id,
  id: run.id,
  event_id: run.event.id,
  transaction_id: run.transactionId,
  workflow_id: run.workflow.id,
  workflow_version: run.definition.version,
  subscriber_row_id: run.subscriber.id,
  subscriber_id: run.subscriber.subscriber_id,
  status: run.status,
  severity: run.severity,
  critical: run.critical,
  channels: [...new Set(run.jobs.map(({ type }) => type))],
  tags: run.workflow.tags,
  context_keys: run.contextKeys,
  topics: run.topics ?? undefined,
  digested_into: run.digestedInto ?? undefined,
  goals: run.goals ?? undefined,
})

const newJob = (run: RunState, job: JobState) => ({
  notification_id: run.id,
  position: job.position,
  id: job.id,
  step_row_id: job.step._id,
  step_id: job.step.stepId,
  type: job.type,
  status: job.status,
  reason: job.reason ?? undefined,
  error: job.error ?? undefined,
  provider_id: job.providerId ?? undefined,
  details: shortLog(job.details, job),
  output: job.output ?? undefined,
  digest: job.digest ?? undefined,
  merged_into: job.mergedInto ?? undefined,
  delivery: job.delivery ?? undefined,
  due_at: job.dueAt ?? undefined,
})

/** What a message copies from its step and run. */
const originOf = (run: RunState, job: JobState): Record<string, unknown> => ({
  notification_id: run.id,
  job_id: job.id,
  workflow: run.workflow.identifier,
  step_row_id: job.step._id,
  step_id: job.step.stepId,
})

const messagesOf = (run: RunState) =>
  run.effects.messages.map((message) => Object.assign(originOf(run, message.job), message))

const addedMessages = (run: RunState) => messagesOf(run).filter((_, index) => !isOfCopy(run, index))

const changedJob = (run: RunState, job: JobState, details: JobState['details']) => ({
  environment_id: run.environment.id,
  notification_id: run.id,
  position: job.position,
  status: job.status,
  reason: job.reason,
  error: job.error,
  provider_id: job.providerId,
  details,
  output: job.output,
  digest: job.digest,
  merged_into: job.mergedInto,
  schedule_extensions: job.scheduleExtensions,
  attempts: job.attempts,
  delivery: job.delivery,
  due_at: job.dueAt,
})

const jobRow = (run: RunState, job: JobState, now: Date) => ({
  ...changedJob(run, job, job.details),
  id: job.id,
  step_row_id: job.step._id,
  step_id: job.step.stepId,
  type: job.type,
  asked: job.asked,
  created_at: job.createdAt,
  updated_at: now,
})

const messageRows = (run: RunState, now: Date) =>
  run.effects.messages.map(({ job, ...message }) => ({
    environment_id: run.environment.id,
    notification_id: run.id,
    event_id: run.event.id,
    transaction_id: run.transactionId,
    job_id: job.id,
    workflow_id: run.workflow.id,
    workflow: run.workflow.identifier,
    step_row_id: job.step._id,
    step_id: job.step.stepId,
    subscriber_row_id: recipientIn(run, job).id,
    subscriber_id: recipientIn(run, job).subscriber_id,
    tags: run.workflow.tags,
    severity: run.severity,
    context_keys: run.contextKeys,
    ...message,
    created_at: now,
    updated_at: now,
  }))

const timerRows = (run: RunState, now: Date): TimerRow[] => {
  const { environment, effects } = run
  const rows: TimerRow[] = [
    ...effects.timers.map(({ position, dueAt }) => ({
      environment_id: environment.id,
      subject_id: run.id,
      position,
      due_at: dueAt,
    })),
    ...effects.wakes.map(({ runId, position }) => ({
      environment_id: environment.id,
      subject_id: runId,
      position: secondTimer(position),
      due_at: now,
    })),
  ]
  if (!environment.clock) return rows
  const calls = effects.calls.map((position) => ({
    environment_id: environment.id,
    subject_id: run.id,
    position,
    due_at: atOnce,
    kind: 'call' as const,
  }))
  return [...rows, ...calls].map((row) => ({ ...row, held: true }))
}

interface TimerRow {
  environment_id: string
  subject_id: string
  position: number
  due_at: Date
  kind?: 'call'
  /** Where the clock is held. */
  held?: boolean
}

/** When calls are due where the clock is held: before anything else. */
export const atOnce = new Date(0)

/**
 * A timer beside the step's own, which another process may hold right now while it waits for a lock of ours. The number of the
 * step's own comes out of it again.
 */
export const secondTimer = (position: number): number => -1 - position

/** Which step of which run. */
type Call = [environmentId: string, runId: string, position: number]

interface SortedCalls {
  /** Made by this process. Their steps are marked as running, and must be stored so. */
  held: HeldCalls['calls']
  queued: Array<{ calls: Call[]; priority: number }>
}

function sortCalls(runs: RunState[], { now, priority, shares, hands }: Writing): SortedCalls {
  const sorted: SortedCalls = { held: [], queued: [] }
  const byEnvironment = new Map<string, HeldCalls['calls']>()
  for (const run of runs) {
    if (run.effects.calls.length === 0) continue
    const own = byEnvironment.get(run.environment.id) ?? []
    byEnvironment.set(run.environment.id, own)
    for (const position of run.effects.calls) own.push({ run, position })
  }
  for (const [environmentId, own] of byEnvironment) {
    const behind = shares?.note(environmentId, own.length, now) ?? 0
    let room = (hands?.room(behind > 0) ?? 0) - sorted.held.length
    const rest: Call[] = []
    for (const { run, position } of own) {
      const job = run.jobs.find((each) => each.position === position)
      if (job && room > 0) {
        Object.assign(job, { status: 'running', attempts: job.attempts + 1 })
        sorted.held.push({ run, position })
        room -= 1
      } else rest.push([environmentId, run.id, position])
    }
    for (let at = 0; at < rest.length; at += callsPerJob)
      sorted.queued.push({ calls: rest.slice(at, at + callsPerJob), priority: priority + behind })
  }
  return sorted
}

interface PassedOverOf {
  environmentId: string
  eventId: string
  now: Date
}

/** For `notePassedOver`. */
export function passedOverColumns({ groups }: PassedOver, { environmentId, eventId, now }: PassedOverOf): unknown[] {
  return [
    environmentId,
    eventId,
    groups.map(() => newId(now)),
    groups.map(({ reason }) => reason),
    groups.map(({ detail }) => detail),
    groups.map(({ named }) => named),
    // Lists of different lengths cannot form a column of arrays.
    groups.map(({ subscriberIds }) => JSON.stringify(subscriberIds)),
    now,
  ]
}

export async function storePassedOver(
  transaction: Transaction,
  passedOver: PassedOver,
  of: PassedOverOf,
): Promise<void> {
  if (!passedOver.isEmpty) await transaction.run(notePassedOver, passedOverColumns(passedOver, of))
}

/** Queues one wake-up for each tenth of a second that contains one of these times, if it is soon. */
export async function queueWakeUps(
  transaction: Transaction,
  times: Date[],
  now: Date,
  { wakes = new QueuedWakes(), bell }: Pick<Writing, 'wakes' | 'bell'> = {},
): Promise<void> {
  const { missing, commit } = wakes.missing(slotsOf(times, now))
  if (missing.size === 0) return
  await transaction.run(queueWakes, [[...missing.keys()], [...missing.values()]])
  transaction.afterCommit(commit)
  // Later ones have an alarm.
  if (missing.has('now')) transaction.afterCommit(() => bell?.ring('wake', 1))
}

/** Queues wake-ups for what comes due soon, or was missed. @param find selects every `due_at` up to $1 */
export async function queueComing(
  { pool, clock, ...known }: { pool: pg.Pool; clock: { now(): Date } } & Pick<Writing, 'wakes' | 'bell'>,
  find: Statement,
): Promise<void> {
  const now = clock.now()
  await inTransaction(pool, async (transaction) => {
    const rows = await transaction.run<{ due_at: Date }>(find, [new Date(now.getTime() + soonMs)])
    await queueWakeUps(
      transaction,
      rows.map(({ due_at }) => due_at),
      now,
      known,
    )
  })
}

function slotsOf(times: Date[], now: Date): Map<string, number> {
  const slots = new Map<string, number>()
  for (const time of times) {
    const delayMs = Math.ceil((time.getTime() - now.getTime()) / slotMs) * slotMs
    if (delayMs <= 0) slots.set('now', 0)
    else if (delayMs <= soonMs) slots.set(String(Math.ceil(time.getTime() / slotMs)), delayMs)
  }
  return slots
}

/** A commit closer than this to a wake-up might come too late for it. */
const wakeMarginMs = 2_000

/**
 * Wake-ups that this process has queued and that have not fired. Adding one again costs as much as recording a delivery, and
 * while a provider hangs, a thousand messages wait for the same few seconds.
 */
export class QueuedWakes {
  /** When each stops counting, by the monotonic clock. */
  readonly #until = new Map<string, number>()

  /** @param delays slot to delay @returns the slots to queue, and a function to call once they are committed */
  missing(delays: ReadonlyMap<string, number>): { missing: Map<string, number>; commit: () => void } {
    const since = performance.now()
    for (const [slot, until] of this.#until) if (until <= since) this.#until.delete(slot)
    const missing = new Map([...delays].filter(([slot]) => !this.#until.has(slot)))
    const commit = () => {
      for (const [slot, delayMs] of missing)
        if (delayMs > wakeMarginMs) this.#until.set(slot, since + delayMs - wakeMarginMs)
    }
    return { missing, commit }
  }
}
