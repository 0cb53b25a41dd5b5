// A run as the engine has it in memory, what its steps leave to be written, and the log of a step.
import { isoOf } from '../../db/core/step-log.ts'
import type { CopyOf, RunGoals, RunTopic, StoredDetail } from '../../db/core/tables.ts'
import type { RecipientPreferences } from '../../db/queries/preferences.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import type { Translator } from '../../render/translations.ts'
import type { StepKind, StepType } from '../../steps/contract/kind.ts'
import type { NewMessage } from '../../steps/contract/message.ts'
import type { Awaited } from '../../steps/contract/need.ts'
import type { DeadAddress, Detail, Reason } from '../../steps/contract/outcome.ts'
import type { AskedPerson, Asking } from '../../steps/contract/question.ts'
import type { JobFacts, RunFacts } from '../../steps/contract/step-run.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { isCritical } from '../core/preferences.ts'
import { positionOfGoal } from './goals.ts'

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
  /** Whether copies of its questions were not read that nothing happens to. */
  isPartial: boolean
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

/** Whether it waits only because the subscriber's schedule is closed. */
export const isHeld = (job: Pick<JobState, 'type' | 'status'>): boolean =>
  job.status === 'delayed' && kindOf(job).wake === undefined

/**
 * Until when a step waits, for those who read of it. It wakes up before: a question for reminders and levels, a digest at an end
 * that later events have moved.
 */
export function waitsUntil(
  { type, status, dueAt, delivery }: Pick<JobState, 'type' | 'status' | 'dueAt' | 'delivery'>,
  movedEnd?: Date,
): Date | null {
  if (status !== 'delayed' || dueAt === null) return dueAt
  const { deadline } = (type === 'ask' && delivery) || {}
  if (typeof deadline === 'string') return new Date(deadline)
  return movedEnd && movedEnd > dueAt ? movedEnd : dueAt
}

/** Events may come by the thousand. */
export function noteOnce(job: JobState, lines: Detail[], now: Date): void {
  for (const line of lines) {
    const stored = storedLine(line, now)
    if (!job.details.some(({ detail: text, raw }) => text === stored.detail && raw === stored.raw)) note(job, line, now)
  }
}

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

/** The same for all recipients. */
export const isCriticalWorkflow = ({ preferences, user_preferences, critical }: WorkflowVersion): boolean =>
  isCritical({ workflow: preferences, user: user_preferences, isMarkedCritical: critical })
