// "Would she get it?": plays one trigger for one person and tells of every step what becomes of it, which gates it passes, and
// what would open the closed ones.
import { placesOf } from '../../steps/contract/tree.ts'
import { wireKind, wireType } from '../../steps/contract/wire.ts'
import { isEnded, isHeld, type JobState, kindOf } from '../runs/run-state.ts'
import { type Gate, type GateFacts, judgeGates } from './gates.ts'
import { Play } from './play.ts'
import type { RunRecord } from './record.ts'
import { type Change, type ChangeShown, findRemedy, type Owner, shownChange, smaller } from './remedies.ts'
import type { Members } from './scenario.ts'
import type { Seen, SeenStep, Situation, Verdict } from './situation.ts'
import type { Brand } from './tools.ts'

/** Plays it once. */
export async function look(situation: Situation, brand: Brand): Promise<Seen> {
  const { scenario, snapshot, beginning, circuits, changed } = situation
  const play = new Play(scenario, snapshot, brand, beginning)
  const { record } = play.runs
  const gates = new Map<JobState, Gate[]>()
  const facts: GateFacts = {
    ...{ answers: scenario.answers, circuits },
    changedAt: (layer) => changed[layer as keyof typeof changed] ?? (layer === 'user' ? changed.workflow : null),
  }
  play.runs.watch = async (run, job, now) => {
    gates.set(job, await judgeGates(play.runs, { run, job, now }, facts))
  }
  await play.all()
  const told = record.triggers.at(-1)
  const foreign = new Set(beginning.collecting.map(({ id }) => id))
  const own = [...record.runs.values()].find(({ run }) => !foreign.has(run.id))
  const main = own?.run.digestedInto ? record.runs.get(own.run.digestedInto) : undefined
  const places = placesOf(snapshot.workflow.steps).filter(({ position }) => position !== undefined)
  const seenSteps = places.map(({ step, path, within }): SeenStep => {
    const place = path.length > 0 ? { path } : {}
    const common = {
      ...{ stepId: step.stepId, type: step.type, channel: kindOf({ type: step.type }).channel ?? null },
      ...place,
    }
    const found = own && jobIn(own, step.stepId)
    const seen = found && foundStep(found, gates)
    if (!seen) {
      const choice = within && own && jobIn(main ?? own, within.step.stepId)?.job
      return { ...common, ...notReached, ...armGate(choice, path.at(-1)) }
    }
    if (found.job.status !== 'merged' || !main) return { ...common, ...seen }
    // The event goes into a digest that another run collects; that run goes on with all of them.
    const joined = jobIn(main, step.stepId)
    const isDigest = found.record.beganAt !== null
    if (isDigest)
      return {
        ...common,
        ...seen,
        verdict: 'waits',
        reason: null,
        until: joined?.record.endedAt ?? joined?.job.dueAt ?? null,
      }
    return { ...common, ...(joined ? foundStep(joined, gates) : { ...notReached, gates: [] }) }
  })
  const steps = seenSteps.flatMap((step) => [step, ...(own ? seenCopies(own, step, gates) : [])])
  const error = told?.error
  return {
    trigger: error?.code ?? told?.status ?? 'processed',
    problem: error?.message ?? null,
    steps,
    passedOver: told?.passedOver ?? [],
  }
}

/** Of a question to the person of the run: the first copy of each channel. */
function seenCopies(
  { run, steps }: RunRecord,
  { stepId, type, path }: SeenStep,
  gates: Map<JobState, Gate[]>,
): SeenStep[] {
  if (type !== 'ask') return []
  const asking = run.jobs.find(({ step, asked }) => step.stepId === stepId && !asked)
  return firstCopies(run.jobs, asking?.position, run.subscriber.subscriber_id).flatMap((job): SeenStep[] => {
    const record = steps.get(job.position)
    if (!record) return []
    const common = {
      ...{ stepId, type: job.type, of: stepId, channel: kindOf(job).channel ?? null },
      ...(path ? { path } : {}),
    }
    return [{ ...common, ...foundStep({ job, record }, gates) }]
  })
}

/** What this person was sent of a question, without reminders and later rounds. */
export const firstCopies = <Job extends Pick<JobState, 'asked' | 'type'>>(
  jobs: Job[],
  position: number | undefined,
  subscriberId: string,
): Job[] => {
  const own = jobs.filter(({ asked }) => asked?.of === position && asked?.subscriberId === subscriberId)
  return own.filter(({ type }, index) => own.findIndex((each) => each.type === type) === index)
}

/** Why a step in an arm is not reached: another one was taken. @param choice the branch */
export function armGate(
  choice: Pick<JobState, 'output' | 'delivery'> | undefined,
  at: { stepId: string; arm: string } | undefined,
): { reason: 'step_condition' | null; gates: Gate[] } {
  const workflow: Gate = { gate: 'workflow', passed: true }
  if (!at || typeof choice?.output?.arm !== 'string' || choice.output.arm === at.arm)
    return { reason: null, gates: [workflow] }
  const arms = (choice.delivery?.arms ?? []) as Array<{ name: string; read: Members }>
  const values = arms.find(({ name }) => name === at.arm)?.read ?? {}
  return {
    reason: 'step_condition',
    gates: [workflow, { gate: 'branch', passed: false, ...at, taken: choice.output.arm, values }],
  }
}

const notReached = { verdict: 'not_reached', reason: null, at: null, until: null } as const

interface Found {
  job: JobState
  record: RunRecord['steps'] extends Map<number, infer Step> ? Step : never
}

function jobIn({ run, steps }: RunRecord, stepId: string): Found | undefined {
  const job = run.jobs.find(({ step }) => step.stepId === stepId)
  const record = job && steps.get(job.position)
  return job && record && { job, record }
}

function foundStep(
  { job, record }: Found,
  gates: Map<JobState, Gate[]>,
): Omit<SeenStep, 'stepId' | 'type' | 'channel' | 'path'> {
  const { beganAt } = record
  const { reason } = job
  // A run that a digest continues began before anything was looked at.
  const isEarlier = beganAt === null && job.status !== 'pending' && !isEnded(job)
  if (beganAt === null && !isEarlier) return { ...notReached, reason, gates: [{ gate: 'workflow', passed: true }] }
  const judged = gates.get(job) ?? []
  return {
    ...(isUnknown(job, judged) ? unknownOf(job, judged) : { verdict: verdictOf(job), reason: reasonOf(job) }),
    at: beganAt,
    until: untilOf({ job, record }),
    gates: judged,
  }
}

/** Until when a wait lasts, or a step that sends was held by the schedule; by now it may have been let go. */
function untilOf({ job, record }: Found): Date | null {
  if (kindOf(job).isWait) return record.waits.at(-1)?.until ?? job.dueAt
  return record.waits.findLast(({ why }) => why === 'schedule')?.until ?? (isHeld(job) ? job.dueAt : null)
}

const reasonOf = ({ status, reason }: JobState) => (status === 'completed' ? null : reason)

/** Held back by filters that nobody was asked about. */
const isUnknown = ({ reason }: JobState, gates: Gate[]) =>
  reason === 'step_condition' && gates.some(({ gate, passed }) => gate === 'filters' && passed === null)

/** Taken to pass there. */
function unknownOf(job: JobState, gates: Gate[]): Pick<SeenStep, 'verdict' | 'reason'> {
  if (gates.some(({ passed }) => passed === false)) return { verdict: 'held_back', reason: null }
  return { verdict: kindOf(job).channel ? 'sends' : 'passes', reason: null }
}

export function verdictOf(job: Pick<JobState, 'type' | 'status' | 'reason'>): Verdict {
  const { channel, wake } = kindOf(job)
  switch (job.status) {
    case 'completed':
      return channel ? 'sends' : wake ? 'waits' : 'passes'
    case 'failed':
      return job.reason === 'failure_allowed' ? 'passes' : 'fails'
    case 'skipped':
    case 'canceled':
      if (job.reason === 'previous_step_failed' || job.reason === 'exited') return 'not_reached'
      return job.reason === 'first_of_digest' ? 'passes' : 'held_back'
    case 'delayed':
    case 'queued':
    case 'running':
    case 'merged':
      return 'waits'
    case 'pending':
      return 'not_reached'
  }
}

/** Why no run begins, if none does. */
export const isIdle = ({ trigger }: Seen): boolean => trigger !== 'processed'

/** The same with the gates of every step, where no run begins because the workflow is switched off. */
export async function lookWhole(situation: Situation, brand: Brand): Promise<Seen> {
  const seen = await look(situation, brand)
  if (!isIdle(seen) || !switchedOff.has(seen.trigger)) return seen
  const active = { ...situation.snapshot.workflow, active: true }
  const tenants = situation.snapshot.tenants.map((tenant) => ({ ...tenant, active: {} }))
  const inputs = situation.scenario.inputs.map((input) =>
    input.type === 'trigger' && seen.trigger === 'no_tenant_found'
      ? { ...input, request: { ...input.request, tenant: undefined } }
      : input,
  )
  const { steps } = await look(
    {
      ...situation,
      snapshot: { ...situation.snapshot, workflow: active, tenants },
      scenario: { ...situation.scenario, inputs },
    },
    brand,
  )
  return {
    ...seen,
    steps: steps.map((step) => ({
      ...step,
      ...{ verdict: 'not_reached' as const, reason: seen.trigger, at: null, until: null },
      gates: step.gates.map((gate) => (gate.gate === 'workflow' ? { ...gate, passed: false } : gate)),
    })),
  }
}

const switchedOff: ReadonlySet<string> = new Set(['trigger_not_active', 'no_tenant_found'])

interface ShownRemedy {
  channel: string
  changes: ChangeShown[]
}

/** The remedies of the steps that send to somebody, where they are held back, and the smallest for the whole. */
export async function remediesFor(
  situation: Situation,
  seen: Seen,
  { owner, brand, stepIds }: { owner: Owner; brand: Brand; stepIds?: readonly string[] },
): Promise<{ byStep: Map<string, Change[]>; smallest: ShownRemedy | null }> {
  const byStep = new Map<string, Change[]>()
  const looks = { left: mostLooks }
  let best: { channel: string; changes: Change[] } | undefined
  for (const step of seen.steps) {
    const { stepId, channel, verdict } = step
    if (channel === null || verdict === 'sends' || (stepIds && !stepIds.includes(stepId))) continue
    const changes = await findRemedy(situation, step, { owner, brand, looks, look: (next) => lookWhole(next, brand) })
    if (!changes) continue
    byStep.set(nameOf(step), changes)
    if (!best || smaller(changes, best.changes)) best = { channel, changes }
  }
  return { byStep, smallest: best ? { channel: best.channel, changes: best.changes.map(shownChange) } : null }
}

/** Copies of a question have the id of the step that asks. */
export const nameOf = ({ stepId, type }: Pick<SeenStep, 'stepId' | 'type'>): string => `${stepId} ${type}`

/** Times that a trigger is played for the remedies of one answer. */
const mostLooks = 150

export interface Explaining {
  situation: Situation
  owner: Owner
  brand: Brand
}

/** The answer. */
export async function explain({ situation, owner, brand }: Explaining): Promise<Members> {
  const seen = await lookWhole(situation, brand)
  const { byStep, smallest } = await remediesFor(situation, seen, { owner, brand })
  const wouldGet = seen.steps.some(({ channel, verdict }) => channel !== null && verdict === 'sends')
  return {
    workflowId: owner.workflow.identifier,
    subscriberId: owner.subscriberId,
    at: new Date(situation.scenario.startAt),
    trigger: seen.trigger,
    ...(seen.problem === null ? {} : { problem: seen.problem }),
    wouldGet,
    channels: channelsOf(seen.steps),
    steps: seen.steps.map((step) => ({
      ...shownStep(step, brand.word),
      remedy: shownRemedy(byStep.get(nameOf(step))),
    })),
    remedy: wouldGet ? null : smallest,
  }
}

/** As callers know its type. */
export const shownStep = ({ channel: _, type, ...step }: SeenStep, brand: string): Members => ({
  ...{ stepId: step.stepId, type: wireType(type, brand), ...wireKind(type) },
  ...step,
})

export const shownRemedy = (changes: Change[] | undefined) => (changes ? { changes: changes.map(shownChange) } : null)

/** Of each channel the step that sends, with the moment at which it does, or else the first one. */
export function channelsOf(
  steps: ReadonlyArray<Pick<SeenStep, 'stepId' | 'channel' | 'verdict' | 'reason' | 'at' | 'until'>>,
): Members {
  const channels: Members = {}
  for (const { stepId, channel, verdict, reason, at, until } of steps) {
    if (channel === null) continue
    const known = channels[channel] as { wouldGet: boolean } | undefined
    const wouldGet = verdict === 'sends'
    if (!known || (wouldGet && !known.wouldGet))
      channels[channel] = { wouldGet, stepId, reason: wouldGet ? null : reason, at: wouldGet ? (until ?? at) : null }
  }
  return channels
}
