// The workflow being edited, as the editor holds it, and as it is kept in this browser until the server has it.
import { ApiError, type Body, currentEnvironment } from '../../../api/client.ts'
import type { NewerVersion, Workflow, WorkflowStep } from '../../../api/workflows.ts'
import { withLists } from './tree.ts'

type Change = Body<'PUT /v2/workflows/{workflowId}'>
type StepInput = Change['steps'][number]
export type ControlValues = Record<string, unknown>

export interface DraftStep {
  /** Only for steps the server has stored. */
  _id?: string
  /** Chosen here for a new step. It never changes, so URLs and React keys use it. */
  stepId: string
  name: string
  type: string
  controlValues: ControlValues
  active: boolean
  shouldStopOnFail: boolean
  /** Undefined: as the integration says. */
  onUnknown: 'retry' | 'hold' | undefined
  replyCallback: { active?: boolean | undefined; url?: string | undefined } | null
}

export type Journey = NonNullable<Workflow['journey']>
export type Goal = NonNullable<Journey['goals']>[number]

export interface Draft {
  name: string
  description: string
  tags: string[]
  active: boolean
  severity: Workflow['severity']
  validatePayload: boolean
  payloadSchema: Record<string, unknown> | null
  isTranslationEnabled: boolean
  messageClass: Workflow['messageClass']
  consentCategory: string | null
  preferences: Workflow['preferences']
  /** What is counted of its e-mails. Absent in drafts of an earlier version. */
  tracking?: Workflow['tracking']
  /** What concerns its runs as a whole; null for nothing. */
  journey: Journey | null
  steps: DraftStep[]
}

export function draftOf(workflow: Workflow): Draft {
  const { name, description, tags, active, severity, validatePayload, payloadSchema, isTranslationEnabled } = workflow
  const { messageClass, consentCategory } = workflow
  return {
    ...{ name, description, tags, active, severity, validatePayload, payloadSchema, isTranslationEnabled },
    ...{ messageClass, consentCategory },
    preferences: workflow.preferences,
    tracking: workflow.tracking,
    journey: workflow.journey ?? null,
    steps: workflow.steps.map(draftStepOf),
  }
}

/** A step as an answer has it; those in arms say less about themselves. */
export type StoredStep = Pick<
  WorkflowStep,
  '_id' | 'stepId' | 'name' | 'type' | 'active' | 'shouldStopOnFail' | 'onUnknown' | 'replyCallback' | 'issues'
> &
  Partial<Pick<WorkflowStep, 'kind'>> & { controlValues: ControlValues }

/** Where clients know ten types only, other kinds come as custom steps. */
export function plainStep<Step extends StoredStep>(step: Step): Step {
  if (step.kind === undefined || step.kind === step.type) return step
  const { $kind: _, ...controlValues } = (step.controlValues.custom ?? {}) as ControlValues
  return { ...step, type: step.kind, controlValues }
}

function draftStepOf(stored: StoredStep): DraftStep {
  const step = plainStep(stored)
  return {
    _id: step._id,
    stepId: step.stepId,
    name: step.name,
    type: step.type,
    controlValues: withLists(step, (list) => list.map(draftStepOf)),
    active: step.active ?? true,
    shouldStopOnFail: step.shouldStopOnFail ?? false,
    onUnknown: step.onUnknown,
    replyCallback: step.replyCallback ?? null,
  }
}

export function changeOf(draft: Draft, origin: string): Change {
  const { preferences, steps, ...fields } = draft
  return {
    ...fields,
    origin: origin as Change['origin'],
    preferences: { workflow: preferences.default, user: preferences.user },
    steps: steps.map(sentStep),
  }
}

function sentStep(step: DraftStep): StepInput {
  const { type, active, shouldStopOnFail, onUnknown, replyCallback, ...rest } = step
  return {
    ...rest,
    controlValues: withLists(step, (list) => list.map(sentStep)),
    type: type as StepInput['type'],
    // Defaults are sent as null.
    active: active ? null : false,
    shouldStopOnFail: shouldStopOnFail ? true : null,
    onUnknown: onUnknown ?? null,
    replyCallback,
  }
}

export type SaveState =
  | { state: 'saved' }
  | { state: 'waiting' }
  | { state: 'saving' }
  | { state: 'failed'; error: Error }

interface StoredDraft {
  draft: Draft
  /** What the draft was made from, for merging it with later versions. */
  base: Draft
  version: number
}

const storageKey = (workflowId: string) => `belfry-draft:${currentEnvironment()}:${workflowId}`

export function readStored(workflowId: string): StoredDraft | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey(workflowId)) ?? 'null') as StoredDraft | null
    return stored && Array.isArray(stored.draft?.steps) && Array.isArray(stored.base?.steps) ? stored : undefined
  } catch {
    return undefined
  }
}

export function writeStored(workflowId: string, stored: StoredDraft | undefined): void {
  try {
    if (stored) localStorage.setItem(storageKey(workflowId), JSON.stringify(stored))
    else localStorage.removeItem(storageKey(workflowId))
  } catch {
    // Storage is full or disabled. Saving to the server works without it.
  }
}

/** When autosave tries again after a failure. Temporary errors only: after a refusal the user has to change something. */
export function retryAfterMs(save: SaveState, autosaves: boolean): number | undefined {
  return autosaves && save.state === 'failed' && isUnanswered(save.error) ? 5_000 : undefined
}

/** The newer version that the server sent with its refusal to overwrite it. */
export const newerVersionIn = (error: unknown): NewerVersion | undefined =>
  error instanceof ApiError && error.code === 'workflow_changed' ? (error.ctx as unknown as NewerVersion) : undefined

/** Whether the change is not the one that was looked at. */
export const isStale = (error: unknown): boolean => error instanceof ApiError && error.code === 'impact_stale'

/** Whether a failed save may have been stored: the server did not say. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500)
