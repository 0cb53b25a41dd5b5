// A run is a state machine: it advances through its steps until one has to wait or to call the outside, or none is left.
// Nothing here does I/O. What a step needs from the database it yields as a `Need`, so that many runs can share one statement.

import type { CopyOf, Goal, RunGoals, RunTopic, StoredDetail } from '../../db/core/tables.ts'
import type { RecipientPreferences } from '../../db/queries/preferences.ts'
import type { StepVariant, WorkflowStep } from '../../db/queries/workflows.ts'
import { RenderError } from '../../render/limits.ts'
import type { Translator } from '../../render/translations.ts'
import { placeFor } from '../../steps/contract/caps.ts'
import { type ControlValues, type Heard, isExtension, type StepKind, type StepType } from '../../steps/contract/kind.ts'
import type { NewMessage } from '../../steps/contract/message.ts'
import {
  type Awaited,
  type FoundSchedule,
  groupOf,
  type HeardEvent,
  type PlaceAnswer,
  type Progress,
  type TakePlace,
} from '../../steps/contract/need.ts'
import {
  type DeadAddress,
  type Detail,
  detail,
  type Reason,
  type Skip,
  type StepOutcome,
  type Wait,
} from '../../steps/contract/outcome.ts'
import type { AskChannel, AskedPerson, Asking, CopyState, GivenAnswer } from '../../steps/contract/question.ts'
import { conditionOf, type JobFacts, type RunFacts, type StepRun } from '../../steps/contract/step-run.ts'
import { placeOf, stepsIn } from '../../steps/contract/tree.ts'
import { isCommercial } from '../../steps/delivery/consent-links.ts'
import { type Decided, type Gate, gateOf, judgeStep, variantIn, withGate } from '../../steps/delivery/filter-gate.ts'
import { keptIn } from '../../steps/kinds/ask.ts'
import { copyContent, copyStep } from '../../steps/kinds/ask-copies.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { isCritical, type PreferenceResolution, resolvePreference } from '../core/preferences.ts'
import { isOpen, nextOpening, type Schedule } from '../core/schedule.ts'
import { askGoals, beginGoals, hearGoals, listensOf, type Met, positionOfGoal } from './goals.ts'

export type JobStatus =
  | 'pending'
  | 'queued'
  | 'running'
  | 'delayed'
  | 'completed'
  | 'failed'
  | 'canceled'
  | 'merged'
  | 'skipped'

export interface JobState extends JobFacts {
  step: WorkflowStep
  type: string
  status: JobStatus
  reason: Reason | null
  error: string | null
  providerId: string | null
  details: StoredDetail[]
  /** How many of the details are stored already. */
  storedDetails: number
  output: Record<string, unknown> | null
  mergedInto: string | null
  /** Set for a copy of a question. */
  asked: CopyOf | null
  dueAt: Date | null
  isChanged: boolean
  /** Not stored yet. */
  isNew: boolean
}

export interface RunState extends RunFacts {
  definition: WorkflowVersion
  preferences: RecipientPreferences | undefined
  topics: RunTopic[] | null
  status: 'processing' | 'completed' | 'error'
  digestedInto: string | null
  /** Null before its goals are asked, and without any. */
  goals: RunGoals | null
  jobs: JobState[]
  createdAt: Date
  isNew: boolean
  /** Who is asked in copies of its questions, by subscriber id, as far as they are needed. */
  people: Map<string, AskedPerson>
  /** For its texts in another language. */
  translatorFor(locale: string | null): Promise<Translator>
  /** Traces of the triggers that a digest collected. */
  digestedTraces?: string[]
  /** What has to be written beside the run itself. */
  effects: Effects
}

export interface Effects {
  messages: Array<NewMessage & { job: JobState }>
  timers: Array<{ position: number; dueAt: Date }>
  /** Steps of other runs whose wait is over. */
  wakes: Array<{ runId: string; position: number }>
  /** Positions of steps that have to call the outside. */
  calls: number[]
  /** What steps wait for beside their time, and the steps that wait no longer. */
  listens: Array<{ position: number; entries: Awaited[] }>
  unlistens: number[]
  /** Posted events that have ended a wait, or the run. */
  heard: string[]
  /** What has become of questions. */
  asking: Array<Asking & { job: JobState }>
  /** Addresses that providers have called dead. */
  dead: Array<DeadAddress & { job: JobState }>
  /** Whether a goal has been met just now. */
  isGoalMet: boolean
}

export const noEffects = (): Effects => ({
  messages: [],
  timers: [],
  wakes: [],
  calls: [],
  listens: [],
  unlistens: [],
  heard: [],
  asking: [],
  dead: [],
  isGoalMet: false,
})

/** After this many, the step runs whatever the schedule says. */
const mostScheduleExtensions = 3

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

const goalsOf = ({ definition }: RunState): Goal[] => definition.journey?.goals ?? []

/** Whether a goal is met: by an event, or by what has happened since the trigger. Then the run is over. */
function* meetGoal(run: RunState, event: HeardEvent | undefined, now: Date): Progress<boolean> {
  const goals = goalsOf(run)
  const job = run.jobs.find((each) => !isEnded(each))
  if (goals.length === 0 || !job || run.status !== 'processing') return false
  if (run.goals?.met) return true
  const of = stepRunOf(run, job, now)
  if (!run.goals) {
    const begun = beginGoals(of, goals)
    run.goals = begun.goals
    noteOnce(job, begun.warnings, now)
    run.effects.listens.push(...listensOf(of, goals, run.goals))
  }
  const { met, warnings } = yield* hearGoals(of, goals, run.goals, event)
  noteOnce(job, warnings, now)
  if (met) yield* endByGoal(run, met, now)
  return met !== undefined
}

function* meetCondition(run: RunState, job: JobState, goals: Goal[], now: Date): Progress<boolean> {
  const { met, warnings } = askGoals({ run, now }, goals)
  noteOnce(job, warnings, now)
  if (met) yield* endByGoal(run, met, now)
  return met !== undefined
}

/** What waits and what is left is not done. A call under way is finished and recorded first. */
function* endByGoal(run: RunState, { goal, match }: Met, now: Date): Progress<void> {
  const { name } = goal
  const met = { name, event: match?.event ?? null, createdAt: now.toISOString() }
  run.goals = { keys: run.goals?.keys ?? [], met }
  run.effects.isGoalMet = true
  if (match?.heard !== undefined) run.effects.heard.push(match.heard)
  for (const job of run.jobs) {
    const isDigest = job.type === 'digest' && job.status === 'delayed'
    const { dueAt } = job
    if (!leaveByGoal(run, job, now) || !isDigest) continue
    yield {
      ...{ need: 'hand digest on', notificationId: run.id, position: job.position, dueAt: dueAt ?? now },
      group: groupOf(stepRunOf(run, job, now), String(job.digest?.digestValue ?? '')),
    }
  }
  end(run)
}

/** @returns false for a call under way, and for what has ended */
function leaveByGoal(run: RunState, job: JobState, now: Date): boolean {
  const isCalling = job.status === 'running' || (job.status === 'queued' && job.dueAt === null)
  if (isEnded(job) || isCalling) return false
  if (job.status !== 'pending') run.effects.unlistens.push(job.position)
  cancelByGoal(run, job, now)
  return true
}

function cancelByGoal(run: RunState, job: JobState, now: Date): void {
  note(job, detail('goal_met', { goal: run.goals?.met?.name }), now)
  Object.assign(job, { status: 'canceled', reason: 'goal_met', dueAt: null })
  if (!job.asked) run.results[job.step.stepId] = resultOf(job)
}

/** The call of a step is over that was under way when a goal was met. It is not made again. */
function recordLast(run: RunState, job: JobState, outcome: StepOutcome | undefined, now: Date): void {
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

/** A run that goes on with a digest listens again. */
export function listenAgain(run: RunState, now: Date): void {
  const [job] = run.jobs
  if (job && run.goals && !run.goals.met)
    run.effects.listens.push(...listensOf(stepRunOf(run, job, now), goalsOf(run), run.goals))
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

/** Whether it waits only because the subscriber's schedule is closed. */
export const isHeld = (job: Pick<JobState, 'type' | 'status'>): boolean =>
  job.status === 'delayed' && kindOf(job).wake === undefined

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

/** Events may come by the thousand. */
function noteOnce(job: JobState, lines: Detail[], now: Date): void {
  for (const line of lines) {
    const stored = storedLine(line, now)
    if (!job.details.some(({ detail: text, raw }) => text === stored.detail && raw === stored.raw)) note(job, line, now)
  }
}

/** The step's time has come: its wait is over, or its call is made again. After a cancel there is nothing to do. */
export function* wakeUp(run: RunState, job: JobState, now: Date): Progress<void> {
  if (job.status === 'delayed') return yield* wake(run, job, now)
  if (job.status !== 'queued' || job.dueAt === null) return
  job.dueAt = null
  job.isChanged = true
  run.effects.calls.push(job.position)
}

/** The step's call is over. */
export function* goOn(run: RunState, job: JobState, outcome: StepOutcome, now: Date): Progress<void> {
  if (run.goals?.met) return recordLast(run, job, outcome, now)
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
  if (run.goals?.met) return recordLast(run, job, outcome, now)
  const next = outcome ?? (yield* guarded(() => pass(run, job, judgement, now), job))
  yield* conclude(run, job, next, now)
}

/** The user's code has decided what the step does; the rest is as if the workflow said so. */
export function* goOnWith(run: RunState, job: JobState, outputs: ControlValues, now: Date): Progress<void> {
  if (run.goals?.met) return recordLast(run, job, undefined, now)
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
  if (of?.status === 'delayed') {
    const next = yield* look(run, of, now)
    if (next && (yield* applied(run, of, next, now))) yield* advance(run, now)
    return
  }
  if (of) closeCopies(run, of, now)
  end(run)
}

/** The copies of a question, in their order. */
const copyJobs = (run: RunState, { position }: JobState): JobState[] =>
  run.jobs.filter(({ asked }) => asked?.of === position)

/** Their positions are beyond those of all steps. */
const firstCopy = 1_000

/** Notes what is asked, and makes the copies. */
function ask(run: RunState, job: JobState, asking: Asking, now: Date): void {
  run.effects.asking.push({ ...asking, job })
  let position = Math.max(firstCopy - 1, ...run.jobs.map((each) => each.position))
  const jobs = asking.copies.map(({ person, channel, level, round, reminder }) => {
    const { subscriber_id: subscriberId } = person.subscriber
    run.people.set(subscriberId, person)
    position += 1
    const made = newJob(copyStep(job.step, channel), position, { now, newId: run.newId })
    return { ...made, asked: { of: job.position, subscriberId, level, round, reminder } }
  })
  run.jobs.splice(run.jobs.indexOf(job) + copyJobs(run, job).length + 1, 0, ...jobs)
}

/** Copies of a closed question that are not on their way are not sent any more. */
function closeCopies(run: RunState, job: JobState, now: Date): void {
  for (const copy of copyJobs(run, job)) {
    if (copy.status !== 'queued') continue
    note(copy, detail('question_over'), now)
    Object.assign(copy, { status: 'canceled', reason: 'question_closed', dueAt: null })
    run.effects.unlistens.push(copy.position)
    run.effects.calls = run.effects.calls.filter((position) => position !== copy.position)
  }
}

const copyStates: Partial<Record<JobStatus, CopyState['state']>> = {
  completed: 'sent',
  failed: 'failed',
  canceled: 'held',
  skipped: 'held',
}

const copiesOf = (run: RunState, job: JobState): CopyState[] =>
  copyJobs(run, job).flatMap(({ asked, type, status }) =>
    asked ? [{ ...asked, channel: type, state: copyStates[status] ?? 'underway' }] : [],
  )

/** The run as a copy sees it: for the person who is asked. */
export function viewOf(run: RunState, { asked }: JobState): RunState {
  const person = asked && run.people.get(asked.subscriberId)
  if (!person) return run
  // What a trigger says about addresses and files is about its own recipient.
  const { phone: _phone, attachments: _attachments, ...payload } = run.event.payload
  return { ...run, ...person, topics: null, event: { ...run.event, payload, overrides: {} } }
}

function copyRunOf(run: RunState, job: JobState, now: Date): StepRun {
  const { asked } = job
  const of = run.jobs.find(({ position }) => position === asked?.of)
  const person = asked && run.people.get(asked.subscriberId)
  const view = viewOf(run, job)
  if (!of || !person) return { now, run: view, step: job.step, values: {}, job }
  const { questionId } = keptIn({ job: of })
  const { values, question } = copyContent(stepRunOf(run, of, now), person, questionId, job.type as AskChannel)
  // The step does not know about places in caps: it sees only its own delivery state.
  const own = gateOf(job) ? { ...job, delivery: withGate(job.delivery, undefined) } : job
  return { now, run: { ...view, question }, step: job.step, values, job: own }
}

/** What clients read of the question in an in-app copy. */
function questionIn(run: RunState, { asked, type }: JobState): { data?: Record<string, unknown> } {
  const of = asked && run.jobs.find(({ position }) => position === asked.of)
  if (!of || type !== 'in_app') return {}
  return { data: { question: { id: keptIn({ job: of }).questionId, state: 'open', answer: null, answeredBy: null } } }
}

/** Whose message it is. */
export const recipientIn = (run: RunState, { asked }: JobState): RunState['subscriber'] =>
  (asked && run.people.get(asked.subscriberId)?.subscriber) ?? run.subscriber

const done: StepOutcome = { kind: 'done', details: [] }

/** Sets the final status once every step has ended. A run that has met a goal is completed, whatever failed on the way. */
export function end(run: EndingRun): void {
  if (!run.jobs.every(isEnded)) return
  run.status = run.jobs.some(hasFailed) && !run.goals?.met ? 'error' : 'completed'
  if (!run.goals || !run.effects) return
  const { effects, goals } = run
  effects.listens = effects.listens.filter(({ position }) => position < positionOfGoal(0))
  effects.unlistens.push(...goals.keys.map((_, index) => positionOfGoal(index)))
}

type EndingRun = Pick<RunState, 'status'> &
  Partial<Pick<RunState, 'goals' | 'effects'>> & { jobs: Array<Pick<JobState, 'status' | 'reason'>> }

/** A step that may fail does not fail the run. */
const hasFailed = ({ status, reason }: Pick<JobState, 'status' | 'reason'>) =>
  status === 'failed' && reason !== 'failure_allowed'

const ended: ReadonlySet<JobStatus> = new Set(['completed', 'failed', 'canceled', 'merged', 'skipped'])

export const isEnded = ({ status }: Pick<JobState, 'status'>): boolean => ended.has(status)

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

/** Goes on with the step if there is a place in every cap that concerns it. The last of what is asked. */
function* withinCaps(
  run: RunState,
  job: JobState,
  goOn: () => StepOutcome | Progress<StepOutcome>,
): Progress<StepOutcome> {
  const need = placeNeededBy(viewOf(run, job), job)
  if (need) {
    const place = (yield need) as PlaceAnswer
    if (!place.isTaken) return capped(place)
    job.delivery = withGate(job.delivery, { ...gateOf(job), hasPlace: true })
  }
  const outcome = goOn()
  return 'kind' in outcome ? outcome : yield* outcome
}

/** Undefined where no cap concerns the step, and once it has its places. */
export function placeNeededBy(run: RunState, job: Pick<JobState, 'type' | 'delivery'>): TakePlace | undefined {
  const { channel } = kindOf(job)
  const { environment, subscriber, workflow } = run
  if (!channel || environment.guards.caps.length === 0 || gateOf(job)?.hasPlace) return undefined
  return placeFor(environment, subscriber.id, { channel, tags: workflow.tags, isExempt: isExempt(run) })
}

/** Neither counted in caps nor held back by them. */
export const isExempt = ({ critical, definition }: Pick<RunState, 'critical' | 'definition'>): boolean =>
  critical || definition.journey?.exemptFromCaps === true

const capped = ({ cap, freeAt }: Extract<PlaceAnswer, { isTaken: false }>): Skip => ({
  kind: 'skip',
  reason: 'capped',
  details: [detail('capped', { cap: cap.id, limit: cap.limit, window: cap.window, nextPlaceAt: freeAt.toISOString() })],
})

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

/** Held back by the subscriber's schedule. */
export function outsideSchedule(run: RunState, kind: StepKind, now: Date): Skip | undefined {
  if (!kind.obeysSchedule || run.critical) return undefined
  const { schedule, timezone } = scheduleOf(run)
  if (isOpen(schedule, now, timezone)) return undefined
  return { kind: 'skip', reason: 'outside_schedule', details: [detail('outside_schedule', { schedule, timezone })] }
}

/** Where steps are held, it waits for the next opening. Undefined if the schedule was opened a moment ago. */
function* untilOpening(run: RunState, closed: Skip, now: Date): Progress<Skip | Wait | undefined> {
  if (!holdsSteps(run)) return closed
  const { environment, subscriber } = run
  const found = (yield {
    ...{ need: 'find schedule', environmentId: environment.id, subscriberRowId: subscriber.id },
  }) as FoundSchedule
  const { timezone } = found
  const schedule = found.schedule as Schedule | null
  if (isOpen(schedule, now, timezone)) return undefined
  const until = nextOpening(schedule, now, timezone)
  if (until === undefined) return closed
  const line = detail('held', { heldUntil: until.toISOString(), timezone, schedule })
  return { kind: 'wait', until, details: [line], listens: [{ kind: 'schedule', name: '', value: subscriber.id }] }
}

/** Whether what falls outside a schedule waits for it. */
export const holdsSteps = ({ definition, environment }: Pick<RunState, 'definition' | 'environment'>): boolean =>
  (definition.journey?.quietHours ?? environment.guards.quietHours) === 'hold'

export const scheduleOf = (run: RunState) => ({
  schedule: (run.preferences?.schedule ?? null) as Schedule | null,
  timezone: run.subscriber.timezone,
})

/** What the layers of preferences say about a channel. */
export function preferenceOf(run: RunState, channel: NonNullable<StepKind['channel']>): PreferenceResolution {
  const { preferences, user_preferences, critical } = run.definition
  return resolvePreference(
    {
      workflow: preferences,
      user: user_preferences,
      isMarkedCritical: critical,
      tenant: run.event.tenantChannels,
      subscriberGlobal: run.preferences?.global,
      subscriberWorkflow: run.preferences?.workflow,
    },
    channel,
  )
}

function filtered(run: RunState, { channel }: StepKind): Skip | undefined {
  if (!channel) return undefined
  const resolved = preferenceOf(run, channel)
  if (resolved.enabled) return undefined
  const line = detail(`filtered_by_${resolved.mostSpecific}`, { channel, enabled: false, ...resolved.reason })
  return { kind: 'skip', reason: 'preference', details: [line] }
}

/** When the subscriber's pause from commercial messages ends, if it holds back this channel now. The inbox is never paused. */
export function snoozedUntil(run: RunState, channel: StepKind['channel'], now: Date): Date | undefined {
  const until = run.subscriber.snoozed_until
  if (!channel || channel === 'in_app' || run.critical || !isCommercial(run)) return undefined
  return until !== null && until > now ? until : undefined
}

function snoozed(run: RunState, { channel }: StepKind, now: Date): Skip | undefined {
  const until = snoozedUntil(run, channel, now)
  return until && { kind: 'skip', reason: 'snoozed', details: [detail('snoozed_commercial', { channel, until })] }
}

/** A wait that ends outside the subscriber's schedule is extended to the next opening, a few times. */
function extension(run: RunState, job: JobState, now: Date): StepOutcome | undefined {
  const kind = kindOf(job)
  if (!kind.isExtendable || run.critical || settingsOf(job).extendToSchedule !== true) return undefined
  const { schedule, timezone } = scheduleOf(run)
  if (isOpen(schedule, now, timezone)) return undefined
  const until = nextOpening(schedule, now, timezone)
  if (until === undefined) return undefined
  if (job.scheduleExtensions >= mostScheduleExtensions) {
    note(job, detail('schedule_exhausted'), now)
    return undefined
  }
  job.scheduleExtensions += 1
  const raw = {
    delayMs: until.getTime() - now.getTime(),
    nextAvailableTime: until.toISOString(),
    timezone,
    schedule,
    scheduleExtensionsCount: job.scheduleExtensions,
    maxScheduleExtensions: mostScheduleExtensions,
  }
  const again = detail(job.type === 'digest' ? 'digested' : 'delayed', { delay: raw.delayMs })
  return { kind: 'wait', until, details: [detail('schedule_extended', raw), again] }
}

/** The step's settings when its wait began, if its kind keeps them. */
const settingsOf = (job: JobState): ControlValues => job.digest ?? job.delivery ?? {}

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
  for (const message of outcome.messages ?? []) run.effects.messages.push({ job, ...message, ...questionIn(run, job) })
  for (const dead of outcome.dead ?? []) run.effects.dead.push({ job, ...dead })
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
  const ended = run.jobs.filter(({ type, output }) => type === 'branch' && output?.ended === true)
  if (ended.length === 0) return false
  const path = placeOf(run.definition.steps, job.step._id)?.path ?? []
  return ended.some(({ step }) => path.every(({ stepId }) => stepId !== step.stepId))
}

/** The run ends as its workflow wants it: what is left is not done. */
function leaveRest(run: RunState, now: Date): void {
  for (const job of run.jobs.filter(({ status }) => status === 'pending')) {
    job.status = 'skipped'
    job.reason = 'exited'
    note(job, detail('left_out'), now)
  }
}

export const newJob = (
  step: JobState['step'],
  position: number,
  { now, newId }: { now: Date; newId: RunFacts['newId'] },
): JobState => ({
  id: newId(now),
  position,
  step,
  type: step.type,
  status: 'pending',
  reason: null,
  error: null,
  providerId: null,
  details: [],
  storedDetails: 0,
  output: null,
  digest: null,
  mergedInto: null,
  asked: null,
  scheduleExtensions: 0,
  attempts: 0,
  delivery: null,
  dueAt: null,
  createdAt: now,
  isChanged: true,
  isNew: true,
})

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

/** A bug, or unforeseen data: names the step, so that other runs can go on. */
export class StepFault extends Error {
  readonly job: JobState

  constructor(job: JobState, cause: unknown) {
    super(`Step ${job.step.stepId} failed unexpectedly`, { cause })
    this.job = job
  }
}

export function note(job: Pick<JobState, 'details' | 'isChanged'>, line: Detail, now: Date): void {
  job.details.push(storedLine(line, now))
  job.isChanged = true
}

/** Many details share one moment; format it once. */
const latest = { moment: new Date(0), text: '' }

function isoOf(moment: Date): string {
  if (moment !== latest.moment) Object.assign(latest, { moment, text: moment.toISOString() })
  return latest.text
}

export function storedLine(line: Detail, now: Date): StoredDetail {
  const at = isoOf(now)
  const { raw } = line
  return raw === undefined ? { at, ...(line as Omit<Detail, 'raw'>) } : { at, ...line, raw: rawText(raw) }
}

const longestRaw = 10_240

function rawText(raw: unknown): string {
  const text = typeof raw === 'string' ? raw : JSON.stringify(raw)
  return text.length > longestRaw ? `${text.slice(0, longestRaw).toWellFormed()}... [truncated]` : text
}

export const kindOf = ({ type }: Pick<JobState, 'type'>): StepKind => stepKinds[type as StepType]

export function resultOf(job: JobState): Record<string, unknown> {
  return job.output ?? kindOf(job).emptyResult ?? {}
}

export function stepRunOf(run: RunState, job: JobState, now: Date): StepRun {
  const { step } = job
  if (job.asked) return copyRunOf(run, job, now)
  if (kindOf(job).look) return { now, run, step, values: normalValues(step), job, copies: copiesOf(run, job) }
  const gate = gateOf(job)
  if (!gate) return { now, run, step, values: normalValues(step), job }
  // The step does not know about filters: it sees only its own delivery state.
  const own = { ...job, delivery: withGate(job.delivery, undefined) }
  return { now, run, step, values: normalValues(step, variantIn(step, gate)), job: own }
}

const normalised = new WeakMap<object, ControlValues>()

/** Once per step or variant, not per run: compiled templates are cached by these values. */
function normalValues(step: WorkflowStep, from: Pick<WorkflowStep, 'controlValues'> = step): ControlValues {
  const known = normalised.get(from)
  if (known) return known
  const values = stepKinds[step.type as StepType].normalise(from.controlValues ?? {})
  normalised.set(from, values)
  return values
}

/** The same for all recipients. */
export const isCriticalWorkflow = ({ preferences, user_preferences, critical }: WorkflowVersion): boolean =>
  isCritical({ workflow: preferences, user: user_preferences, isMarkedCritical: critical })
