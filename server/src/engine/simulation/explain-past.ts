// "Why did she not?": the same shape as a look ahead, from the record of a run alone. Only the remedy is for now.
import type { StoredDetail } from '../../db/core/tables.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { detail } from '../../steps/contract/outcome.ts'
import { placesOf } from '../../steps/contract/tree.ts'
import { type JobState, kindOf } from '../runs/run-state.ts'
import {
  armGate,
  channelsOf,
  type Explaining,
  firstCopies,
  lookWhole,
  nameOf,
  remediesFor,
  shownRemedy,
  shownStep,
  verdictOf,
} from './explain.ts'
import { type Gate, type GateName, gateNames, gateOfReason } from './gates.ts'
import type { Members } from './scenario.ts'
import type { SeenStep } from './situation.ts'

interface PastJob
  extends Pick<
    JobState,
    'type' | 'status' | 'reason' | 'dueAt' | 'createdAt' | 'output' | 'digest' | 'delivery' | 'position' | 'asked'
  > {
  stepId: string
  stepRowId: string
  updatedAt: Date
  details: StoredDetail[]
}

interface PastRun {
  id: string
  version: number
  steps: WorkflowStep[]
  jobs: PastJob[]
  /** Whether it is the run of somebody else, who asked this person. */
  isOfOther: boolean
}

export interface PastRecord {
  transactionId: string
  subscriberId: string
  workflowId: string
  /** When it was triggered. */
  at: Date
  /** Whether the workflow still exists. */
  isStored: boolean
  payload: Members
  context: Members | undefined
  tenant: string | undefined
  /** Whether recipients may still be reached. */
  isUnderWay: boolean
  run: PastRun | undefined
  passedOver: { reason: string; detail: string | null } | undefined
}

/** @param now to look for remedies; undefined if the workflow is gone */
export async function explainPast(record: PastRecord, now: Explaining | undefined, brand: string): Promise<Members> {
  const { run } = record
  const steps = run ? pastSteps(run, record.subscriberId) : []
  const isOpen = ({ channel, verdict }: SeenStep) => channel !== null && verdict !== 'sends' && verdict !== 'waits'
  const stepIds = steps.filter(isOpen).map(({ stepId }) => stepId)
  const wouldGet = steps.some(({ channel, verdict }) => channel !== null && verdict === 'sends')
  const remedies = now && stepIds.length > 0 ? await remediesNow(now, stepIds) : undefined
  return {
    ...{ past: true, transactionId: record.transactionId, notificationId: run?.id ?? null },
    ...{ workflowId: record.workflowId, workflowVersion: run?.version ?? null, subscriberId: record.subscriberId },
    ...{ at: record.at, trigger: 'processed', wouldGet, channels: channelsOf(steps) },
    steps: steps.map((step) => ({
      ...shownStep(step, brand),
      remedy: shownRemedy(remedies?.byStep.get(nameOf(step))),
    })),
    remedy: wouldGet ? null : (remedies?.smallest ?? null),
    ...(run ? {} : { passedOver: passedOverOf(record) }),
  }
}

function passedOverOf({ passedOver, isUnderWay }: PastRecord) {
  if (passedOver)
    return { reason: passedOver.reason, ...(passedOver.detail === null ? {} : { detail: passedOver.detail }) }
  // It may still be her turn.
  return isUnderWay ? null : { reason: 'not_a_recipient' }
}

async function remediesNow({ situation, owner, brand }: Explaining, stepIds: string[]) {
  const seen = await lookWhole(situation, brand)
  return remediesFor(situation, seen, { owner, brand, stepIds })
}

/** With those of arms that were not taken, which have no record of their own. */
function pastSteps({ jobs, steps, isOfOther }: PastRun, subscriberId: string): SeenStep[] {
  const places = placesOf(steps)
  const isKnown = new Set(places.map(({ step }) => step._id))
  // A workflow that an application described may have changed its ids since.
  const others = jobs.filter(({ stepRowId }) => !isKnown.has(stepRowId)).map((job) => pastStep(job, undefined))
  const found = places.flatMap(({ step, path, within, position }): SeenStep[] => {
    const job = jobs.find(({ stepRowId }) => stepRowId === step._id)
    const place = path.length > 0 ? { path } : {}
    if (job) {
      const copies = job.type === 'ask' ? firstCopies(jobs, job.position, subscriberId) : []
      const own = copies.map((copy) => ({ ...pastStep(copy, undefined), ...place, of: step.stepId }))
      return [{ ...pastStep(job, step), ...place }, ...own]
    }
    if (!within || position === undefined) return []
    const choice = jobs.find(({ stepRowId }) => stepRowId === within.step._id)
    return [
      {
        ...{ stepId: step.stepId, type: step.type, channel: kindOf(step).channel ?? null, ...place },
        ...{ verdict: 'not_reached', at: null, until: null },
        ...armGate(choice, path.at(-1)),
      },
    ]
  })
  // Of others' runs only what was sent to this person is theirs.
  return isOfOther ? found.filter(({ of }) => of !== undefined) : [...found, ...others]
}

function pastStep(job: PastJob, step: WorkflowStep | undefined): SeenStep {
  const hasBegun = job.details.some((line) => line.detail === queued)
  const kind = kindOf(job)
  const isHeldBack = job.status === 'canceled' || job.status === 'skipped'
  const own = hasBegun || isHeldBack ? job.reason : null
  const gate = closedGate(job)
  const verdict = !hasBegun ? 'not_reached' : verdictOf(job)
  return {
    ...{ stepId: job.stepId, type: job.type, channel: kind?.channel ?? null, verdict },
    reason: verdict === 'sends' || verdict === 'passes' ? null : (own ?? job.reason),
    at: hasBegun ? beganAt(job) : null,
    until: verdict === 'waits' ? (job.dueAt ?? null) : null,
    gates: hasBegun ? pastGates(job, step, gate, verdict) : [{ gate: 'workflow', passed: true }],
  }
}

const queued = detail('queued').detail

const beganAt = ({ details, createdAt }: PastJob): Date => {
  const line = details.find((each) => each.detail === queued)
  return line ? new Date(line.at) : createdAt
}

const filtersFailed = detail('condition_failed').detail

/** The gate that held it back, by its reason. */
function closedGate({ reason, details, status }: PastJob): GateName | undefined {
  if (reason === null || status === 'completed') return undefined
  const gate = gateOfReason[reason]
  return gate === 'condition' && details.some((line) => line.detail === filtersFailed) ? 'filters' : gate
}

/** Those before the closed one passed; nobody asked those behind. */
function pastGates(
  job: PastJob,
  step: WorkflowStep | undefined,
  closed: GateName | undefined,
  verdict: SeenStep['verdict'],
): Gate[] {
  const names = gatesOf(job, step).filter((name) => name !== closed)
  const asked = closed === undefined ? names : gateNames.filter((name) => names.includes(name) || name === closed)
  const at = closed === undefined ? -1 : asked.indexOf(closed)
  const isThrough = verdict === 'sends' || verdict === 'passes' || verdict === 'waits'
  return asked.map((gate, index): Gate => {
    if (gate === closed) return { gate, passed: false, ...toldOf(job) }
    return { gate, passed: (at >= 0 ? index < at : isThrough) ? true : null }
  })
}

function gatesOf({ type }: PastJob, step: WorkflowStep | undefined): GateName[] {
  const { channel, obeysSchedule } = kindOf({ type })
  const skip = step?.controlValues?.skip
  const hasCondition = typeof skip === 'object' && skip !== null && Object.keys(skip).length > 0
  const isCall = channel !== undefined && channel !== 'in_app'
  const has: Record<GateName, boolean> = {
    workflow: true,
    branch: false,
    schedule: obeysSchedule === true,
    preference: channel !== undefined,
    condition: hasCondition,
    filters: (step?.filters ?? []).length > 0,
    throttle: type === 'throttle',
    cap: false,
    integration: channel !== undefined,
    address: isCall,
    content: channel !== undefined,
    brake: false,
    suppression: isCall,
  }
  return gateNames.filter((name) => has[name])
}

/** What the log says about it. */
function toldOf({ reason, details, output }: PastJob): Members {
  const raw = details.findLast((line) => line.status !== 'Pending' && line.raw !== undefined)?.raw
  const told = rawIn(raw)
  switch (reason) {
    case 'preference':
      return { decidedBy: told.decidedBy ?? null, through: told.through ?? null, since: null }
    case 'snoozed':
      return { decidedBy: 'snooze', until: told.until ?? null, since: null }
    case 'outside_schedule':
      return { timezone: told.timezone ?? 'UTC', opensAt: null }
    case 'throttled':
      return {
        count: output?.executionCount ?? null,
        threshold: output?.threshold ?? null,
        until: output?.throttledUntil ?? null,
      }
    case 'capped':
      return {
        ...{ cap: told.cap ?? null, limit: told.limit ?? null, window: told.window ?? null },
        until: told.nextPlaceAt ?? null,
      }
    case 'braked':
      return { since: told.since ?? null, cause: told.cause ?? null, percent: told.percent ?? null }
    case 'suppressed':
      return { suppressionId: told.suppressionId ?? null, reason: told.reason, scope: told.scope, since: told.since }
    default:
      return {}
  }
}

function rawIn(raw: string | undefined): Members {
  try {
    const value: unknown = JSON.parse(raw ?? '{}')
    return typeof value === 'object' && value !== null ? (value as Members) : {}
  } catch {
    // Long ones are cut off when they are stored.
    return {}
  }
}
