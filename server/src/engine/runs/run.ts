// A run is a state machine: it advances through its steps until one has to wait or to call the outside, or none is left.
// Nothing here does I/O. What a step needs from the database it yields as a `Need`, so that many runs can share one statement.

import type { RunTopic } from '../../db/core/tables.ts'
import type { StepVariant } from '../../db/queries/workflows.ts'
import { RenderError } from '../../render/limits.ts'
import { type ControlValues, type Heard, isExtension, type StepKind } from '../../steps/contract/kind.ts'
import type { HeardEvent, Progress } from '../../steps/contract/need.ts'
import { detail, type Skip, type StepOutcome } from '../../steps/contract/outcome.ts'
import type { GivenAnswer } from '../../steps/contract/question.ts'
import { conditionOf, type StepRun } from '../../steps/contract/step-run.ts'
import { placeOf, stepsIn } from '../../steps/contract/tree.ts'
import { type Decided, type Gate, gateOf, judgeStep, withGate } from '../../steps/delivery/filter-gate.ts'
import { cancelByGoal, goalsOf, leaveByGoal, meetCondition, meetGoal } from './goal-ends.ts'
import { ask, closeCopies, copyJobs, isAskedGone, questionIn, viewOf } from './question-jobs.ts'
import {
  end,
  isEnded,
  isHeld,
  type JobState,
  kindOf,
  newJob,
  note,
  noteOnce,
  type RunState,
  resultOf,
  StepFault,
} from './run-state.ts'
import { extension, filtered, outsideSchedule, snoozed, untilOpening, withinCaps } from './step-guards.ts'
import { stepRunOf } from './step-view.ts'

/** Advances the run as far as it goes without waiting. */
export function* advance(run: RunState, now: Date): Progress<void> {
  const goals = goalsOf(run)
  if (goals.length > 0 && (yield* meetGoal(run, undefined, now))) return
  for (;;) {
    const job = run.jobs.find(({ status }) => status === 'pending')
    if (!job) break
    if (isBehindEnd(run, job)) {
      leaveRest(run, now)
      break
    }
    if (goals.length > 0 && (yield* meetCondition(run, job, goals, now))) return
    noteBegin(run, job, now)
    if (!(yield* applied(run, job, yield* guarded(() => begin(run, job, now), job), now))) return
  }
  end(run)
}

/** The call of a step is over that was under way when a goal was met. It is not made again. */
function* recordLast(run: RunState, job: JobState, outcome: StepOutcome | undefined, now: Date): Progress<void> {
  yield* meetCopies(run)
  if (outcome) apply(run, job, outcome, now)
  if (!isEnded(job)) {
    const { effects } = run
    effects.calls = effects.calls.filter((position) => position !== job.position)
    effects.timers = effects.timers.filter(({ position }) => position !== job.position)
    effects.listens = effects.listens.filter(({ position }) => position !== job.position)
    cancelByGoal(run, job, now)
  }
  for (const other of run.jobs) leaveByGoal(run, other, now)
  end(run)
}

/** An event has been posted, or something has happened to messages: the goals of the run are asked first. */
export function* hearAll(run: RunState, event: HeardEvent | undefined, now: Date): Progress<void> {
  if (yield* meetGoal(run, event, now)) return
  for (const job of [...run.jobs]) yield* hear(run, job, event, now)
}

function noteBegin(run: RunState, job: JobState, now: Date): void {
  const { topics } = run
  note(job, detail('queued', topics ? { topics } : undefined), now)
  if (topics && job.position === 0)
    note(job, detail('topic_preference', { topics: topics.map(preferenceEvaluation) }), now)
  const { tenant, tenantIdentifier } = run.event
  if (tenant) note(job, detail('tenant_selected', tenant), now)
  else if (tenantIdentifier !== undefined) note(job, detail('tenant_missing', { identifier: tenantIdentifier }), now)
}

const preferenceEvaluation = ({ topicKey, subscriptionIdentifier, preference, condition }: RunTopic) => ({
  topic: topicKey,
  preferenceEvaluation: {
    result: true,
    subscriptionIdentifier,
    reason: preference,
    ...(condition ? { condition } : {}),
  },
})

/** The step's wait is over. */
function* wake(run: RunState, job: JobState, now: Date): Progress<void> {
  if (isHeld(job)) return yield* beginHeld(run, job, now)
  const extended = extension(run, job, now)
  if (extended) {
    apply(run, job, extended, now)
    return
  }
  yield* endWait(run, job, now, false)
}

/** Somebody ended the step's wait: the schedule does not matter any more. */
export const wakeEarly = (run: RunState, job: JobState, now: Date): Progress<void> =>
  isHeld(job) ? beginHeld(run, job, now, { ignoresSchedule: true }) : endWait(run, job, now, true)

/** Everything is asked again. Where it is held until the same moment, nothing happens. */
function* beginHeld(run: RunState, job: JobState, now: Date, how: Beginning = {}): Progress<void> {
  const outcome = yield* guarded(() => begin(run, job, now, how), job)
  if (outcome.kind === 'wait' && outcome.until.getTime() === job.dueAt?.getTime()) return
  if (apply(run, job, outcome, now)) yield* advance(run, now)
}

function* endWait(run: RunState, job: JobState, now: Date, isEarly: boolean): Progress<void> {
  const outcome = yield* guarded(() => kindOf(job).wake?.(stepRunOf(run, job, now), isEarly) ?? done, job)
  yield* conclude(run, job, outcome, now)
}

/** Something has happened that the step may wait for: an event, or something to messages of earlier steps or the schedule. */
export function* hear(run: RunState, job: JobState, event: HeardEvent | undefined, now: Date): Progress<void> {
  const kind = kindOf(job)
  // The schedule may have changed.
  if (isHeld(job) && event === undefined) return yield* beginHeld(run, job, now)
  if (job.status !== 'delayed' || !kind.hear) return
  let found: Heard
  try {
    found = yield* kind.hear(stepRunOf(run, job, now), event)
  } catch (error) {
    throw new StepFault(job, error)
  }
  noteOnce(job, found.warnings, now)
  if (found.outcome && apply(run, job, found.outcome, now)) yield* advance(run, now)
}

/** The step's time has come: its wait is over, or its call is made again. After a cancel there is nothing to do. */
export function* wakeUp(run: RunState, job: JobState, now: Date): Progress<void> {
  if (job.status === 'delayed') return yield* wake(run, job, now)
  if (job.status !== 'queued' || job.dueAt === null) return
  job.dueAt = null
  job.isChanged = true
  run.effects.calls.push(job.position)
}

/** All copies of its questions are looked at: those that were not read are read now. */
function* meetCopies(run: RunState): Progress<void> {
  if (run.isPartial) yield { need: 'find copies', environmentId: run.environment.id, notificationId: run.id }
}

/** The step's call is over. */
export function* goOn(run: RunState, job: JobState, outcome: StepOutcome, now: Date): Progress<void> {
  if (run.goals?.met) return yield* recordLast(run, job, outcome, now)
  yield* conclude(run, job, outcome, now)
}

/**
 * The step's filters have been evaluated, or the step is redriven and they were before.
 * @param outcome if the step was called already, because its filters let it pass
 */
export function* goOnPast(
  run: RunState,
  job: JobState,
  judgement: Decided,
  outcome: StepOutcome | undefined,
  now: Date,
): Progress<void> {
  if (outcome) openGate(job, judgement, now)
  if (run.goals?.met) return yield* recordLast(run, job, outcome, now)
  const next = outcome ?? (yield* guarded(() => pass(run, job, judgement, now), job))
  yield* conclude(run, job, next, now)
}

/** The user's code has decided what the step does; the rest is as if the workflow said so. */
export function* goOnWith(run: RunState, job: JobState, outputs: ControlValues, now: Date): Progress<void> {
  if (run.goals?.met) return yield* recordLast(run, job, undefined, now)
  const kind = kindOf(job)
  const of = { ...stepRunOf(run, job, now), values: outputs, isRendered: true }
  const outcome = yield* guarded(
    () => withinCaps(run, job, () => kind.begin?.(of) ?? { ...done, output: outputs }),
    job,
  )
  if (apply(run, job, outcome, now)) yield* advance(run, now)
}

/** The question has an answer. */
export function* answerQuestion(run: RunState, job: JobState, given: GivenAnswer, now: Date): Progress<void> {
  const kind = kindOf(job)
  if (job.status !== 'delayed' || !kind.answer) return
  yield* conclude(run, job, kind.answer(stepRunOf(run, job, now), given), now)
}

/** The run goes on with the outcome of a step, if that lets it. */
function* conclude(run: RunState, job: JobState, outcome: StepOutcome, now: Date): Progress<void> {
  if (job.asked) yield* concludeCopy(run, job, outcome, now)
  else if (yield* applied(run, job, outcome, now)) yield* advance(run, now)
}

/** Applies the outcome, and begins the copies of a question. @returns whether the run goes on now */
function* applied(run: RunState, job: JobState, outcome: StepOutcome, now: Date): Progress<boolean> {
  for (let next: StepOutcome | undefined = outcome; next; next = yield* look(run, job, now)) {
    if (apply(run, job, next, now)) return true
    if (job.status !== 'delayed' || !kindOf(job).look) return false
    for (const copy of copyJobs(run, job).filter(({ status }) => status === 'pending')) {
      noteBegin(viewOf(run, copy), copy, now)
      apply(run, copy, yield* guarded(() => begin(run, copy, now), copy), now)
    }
  }
  return false
}

/** What the step does about the copies of its question as they are now. */
function* look(run: RunState, job: JobState, now: Date): Progress<StepOutcome | undefined> {
  const kind = kindOf(job)
  try {
    return kind.look && (yield* kind.look(stepRunOf(run, job, now)))
  } catch (error) {
    if (error instanceof RenderError) return contentFailed(error, true)
    throw new StepFault(job, error)
  }
}

/** A copy has an outcome: its question may go on to the next level, or end. Other steps are not concerned. */
function* concludeCopy(run: RunState, job: JobState, outcome: StepOutcome, now: Date): Progress<void> {
  apply(run, job, outcome, now)
  const of = run.jobs.find(({ position }) => position === job.asked?.of)
  // Whoever has a copy, or will get one, can answer.
  if (of?.status === 'delayed' && (job.status === 'completed' || !isEnded(job))) return
  yield* meetCopies(run)
  if (of?.status === 'delayed') {
    const next = yield* look(run, of, now)
    if (next && (yield* applied(run, of, next, now))) yield* advance(run, now)
    return
  }
  if (of) closeCopies(run, of, now)
  end(run)
}

const done: StepOutcome = { kind: 'done', details: [] }

interface Beginning {
  ignoresSchedule?: boolean
}

function* begin(
  run: RunState,
  job: JobState,
  now: Date,
  { ignoresSchedule = false }: Beginning = {},
): Progress<StepOutcome> {
  const kind = kindOf(job)
  const of = stepRunOf(run, job, now)
  const view = viewOf(run, job)
  const closed = ignoresSchedule ? undefined : outsideSchedule(view, kind, now)
  // Copies of a question are never held: it would be over before they go out.
  const shut = closed && (job.asked ? closed : yield* untilOpening(run, closed, now))
  const heldBack = shut ?? filtered(view, kind) ?? snoozed(view, kind, now)
  if (heldBack) return heldBack
  // The user's code decides whether its step runs.
  if (run.workflow.origin === 'external') return { kind: 'call', details: [] }
  const condition = conditionOf(of)
  if ('error' in condition) {
    const { message } = condition.error
    const raw = { message: `Failed to evaluate rule: ${message}`, code: 'InvalidCondition' }
    return {
      kind: 'fail',
      reason: 'step_condition',
      error: message,
      stops: isWait(kind),
      details: [detail('bridge_failed', raw)],
    }
  }
  if (!condition.holds) return skippedBy(kind)
  const judgement = judgeStep(of, earlierOf(run))
  if (judgement.kind === 'ask') {
    job.delivery = withGate(job.delivery, { isPending: true })
    return { kind: 'call', details: [] }
  }
  return yield* pass(run, job, judgement, now, of)
}

/** The filters are decided: the step is held back, or runs in the variant they chose. */
function* pass(run: RunState, job: JobState, judgement: Decided, now: Date, known?: StepRun): Progress<StepOutcome> {
  const kind = kindOf(job)
  openGate(job, judgement, now)
  if (judgement.kind === 'closed') return filteredOut(kind, judgement.raw)
  const of = judgement.variant ? undefined : known
  return yield* withinCaps(
    run,
    job,
    () => kind.begin?.(of ?? stepRunOf(run, job, now)) ?? { kind: 'call', details: [] },
  )
}

/** Notes what the filters decided, and keeps it if the step runs by it. */
function openGate(job: JobState, judgement: Decided, now: Date): void {
  for (const line of judgement.details) note(job, line, now)
  if (judgement.kind === 'open' && (judgement.variant || job.delivery))
    job.delivery = withGate(job.delivery, gateAfter(job, judgement))
}

export function gateAfter(job: JobState, { variant }: { variant: StepVariant | undefined }): Gate {
  const { version, hasPlace } = gateOf(job) ?? {}
  return {
    ...(variant ? { variantId: variant._id } : {}),
    ...(version === undefined ? {} : { version }),
    ...(hasPlace ? { hasPlace } : {}),
  }
}

/** What filters can ask about earlier steps. */
export const earlierOf = (run: RunState) => ({
  resultOf: (step: string) => {
    const job = run.jobs.find((each) => each.step._id === step || each.step.stepId === step)
    return job && (run.results[job.step.stepId] as Record<string, unknown> | undefined)
  },
})

const filteredOut = (kind: StepKind, raw: object): Skip => ({
  kind: 'skip',
  reason: 'step_condition',
  details: [detail(endsSkipped(kind) ? 'condition_skipped_wait' : 'condition_failed', raw)],
})

/** The step's condition does not hold. */
export const skippedBy = (kind: StepKind): Skip => ({
  kind: 'skip',
  reason: 'step_condition',
  details: [endsSkipped(kind) ? detail('condition_skipped_wait') : detail('bridge_skipped', { skip: true })],
})

const isWait = ({ isWait: waits = false }: StepKind) => waits

/** Others that are held back end `canceled`. */
const endsSkipped = (kind: StepKind) => isWait(kind) || isExtension(kind.type)

/** @returns whether the run goes on now */
function apply(run: RunState, job: JobState, outcome: StepOutcome, now: Date): boolean {
  for (const line of outcome.details) note(job, line, now)
  const isOver = job.status === 'delayed' && outcome.kind !== 'wait'
  if (isOver && (endsByOthers(kindOf(job)) || isHeld(job))) run.effects.unlistens.push(job.position)
  job.isChanged = true
  job.dueAt = null
  if (outcome.kind === 'call') {
    job.status = 'queued'
    run.effects.calls.push(job.position)
    return false
  }
  if (outcome.providerId !== undefined) job.providerId = outcome.providerId
  if (outcome.output !== undefined) job.output = outcome.output
  if (outcome.delivery !== undefined) job.delivery = { ...withGate(null, gateOf(job)), ...outcome.delivery }
  // Whoever was deleted during the call has no messages any more.
  if (!isAskedGone(run, job)) {
    for (const message of outcome.messages ?? [])
      run.effects.messages.push({ job, ...message, ...questionIn(run, job) })
    for (const dead of outcome.dead ?? []) run.effects.dead.push({ job, ...dead })
  }
  if (outcome.asking) ask(run, job, outcome.asking, now)
  switch (outcome.kind) {
    case 'done':
      job.status = 'completed'
      job.reason = outcome.reason ?? null
      if (outcome.heard !== undefined) run.effects.heard.push(outcome.heard)
      break
    case 'skip':
      // A step held back by the schedule is canceled, even if it is a throttle.
      job.status = endsSkipped(kindOf(job)) && outcome.reason !== 'outside_schedule' ? 'skipped' : 'canceled'
      job.reason = outcome.reason
      job.digest = outcome.digest ?? job.digest
      break
    case 'fail':
      job.status = 'failed'
      job.reason = outcome.reason
      job.error = outcome.error
      if (!job.asked && (outcome.stops || job.step.shouldStopOnFail === true)) stopRest(run, now)
      break
    case 'stop':
      job.digest = outcome.digest ?? job.digest
      for (const each of [job, ...run.jobs.filter(({ status }) => status === 'pending')]) {
        each.status = outcome.status
        each.reason = outcome.reason
        each.mergedInto = outcome.mergedInto ?? null
        each.isChanged = true
      }
      run.digestedInto = outcome.mergedInto ?? null
      if (outcome.wakes) run.effects.wakes.push(outcome.wakes)
      break
    case 'enter':
      job.status = 'completed'
      job.reason = null
      enterArm(run, job, outcome.arm, now)
      break
    case 'exit':
      job.status = 'completed'
      job.reason = null
      leaveRest(run, now)
      break
    case 'wait':
      job.status = 'delayed'
      job.digest = outcome.digest ?? job.digest
      wait(run, job, outcome.until)
      if (outcome.listens) run.effects.listens.push({ position: job.position, entries: outcome.listens })
      return false
    case 'retry':
      job.status = 'queued'
      wait(run, job, outcome.at)
      return false
  }
  if (job.asked) return false
  if (outcome.asking) closeCopies(run, job, now)
  run.results[job.step.stepId] = resultOf(job)
  return true
}

/** Its wait can end before its time. */
const endsByOthers = ({ hear: hears, answer: takesAnswers }: StepKind) => Boolean(hears ?? takesAnswers)

function wait(run: RunState, job: JobState, dueAt: Date): void {
  job.dueAt = dueAt
  // A step has one timer.
  run.effects.timers = run.effects.timers.filter(({ position }) => position !== job.position)
  run.effects.timers.push({ position: job.position, dueAt })
}

/** The steps of the arm come next. They are made now, and only those of this arm. */
function enterArm(run: RunState, job: JobState, arm: number | null, now: Date): void {
  const steps = stepsIn(run.definition.steps, { id: job.step._id, arm })
  const jobs = steps.map(({ step, position }) => newJob(step, position, { now, newId: run.newId }))
  run.jobs.splice(run.jobs.indexOf(job) + 1, 0, ...jobs)
}

/** Whether the run has been through an arm that ends it: this step is not in that arm. */
function isBehindEnd(run: RunState, job: JobState): boolean {
  if (!run.jobs.some(isEndArm)) return false
  const ended = run.jobs.filter(isEndArm)
  const path = placeOf(run.definition.steps, job.step._id)?.path ?? []
  return ended.some(({ step }) => path.every(({ stepId }) => stepId !== step.stepId))
}

const isEndArm = ({ type, output }: JobState): boolean => type === 'branch' && output?.ended === true

/** The run ends as its workflow wants it: what is left is not done. */
function leaveRest(run: RunState, now: Date): void {
  for (const job of run.jobs.filter(({ status }) => status === 'pending')) {
    job.status = 'skipped'
    job.reason = 'exited'
    note(job, detail('left_out'), now)
  }
}

function stopRest(run: RunState, now: Date): void {
  for (const job of run.jobs.filter(({ status }) => status === 'pending')) {
    job.status = 'canceled'
    job.reason = 'previous_step_failed'
    note(job, detail('previous_failed'), now)
  }
}

/** A render error fails the step, and the run goes on as after any failure; anything else is a bug. */
function* guarded(work: () => StepOutcome | Progress<StepOutcome>, job: JobState): Progress<StepOutcome> {
  const stops = isWait(kindOf(job))
  try {
    const outcome = work()
    return 'kind' in outcome ? outcome : yield* outcome
  } catch (error) {
    if (error instanceof RenderError) return contentFailed(error, stops)
    if (error instanceof StepFault) throw error
    throw new StepFault(job, error)
  }
}

export const contentFailed = ({ message: error }: RenderError, stops: boolean): StepOutcome => ({
  kind: 'fail',
  reason: 'content_failed',
  error,
  stops,
  details: [detail('content_failed', { error })],
})

/** For our own bugs: the log has the error in full, the activity feed this sentence. */
export const failedUnexpectedly = (stops: boolean): StepOutcome => ({
  kind: 'fail',
  reason: 'internal',
  error: 'The step failed unexpectedly; see the log of the service',
  stops,
  details: [detail('internal')],
})

/** Fails the step of a fault, and ends the run. */
export function endByFault(run: RunState, { job }: StepFault, now: Date): void {
  apply(run, job, failedUnexpectedly(true), now)
  if (kindOf(job).look) closeCopies(run, job, now)
  end(run)
}
