// One call of a step, whoever makes it: the user's code, the step's filters, the step itself. No database: deliver.ts takes and
// ends calls, a simulation answers them from its scenario.
import type { Logger } from 'pino'
import { RenderError } from '../../render/limits.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import type { ControlValues } from '../../steps/contract/kind.ts'
import { detail, type StepOutcome } from '../../steps/contract/outcome.ts'
import { type StepRun, subscriberVariablesOf } from '../../steps/contract/step-run.ts'
import { askFilters, type Decided, gateOf, variantIn, withGate } from '../../steps/delivery/filter-gate.ts'
import { decide } from '../../steps/delivery/policy.ts'
import { type Bridge, type BridgeAnswer, BridgeError, type BridgeEvent, targetIn } from '../core/bridge.ts'
import { isAskedGone } from './question-jobs.ts'
import { contentFailed, earlierOf, failedUnexpectedly, gateAfter, goOn, goOnPast, goOnWith, skippedBy } from './run.ts'
import { type JobState, kindOf, type RunState } from './run-state.ts'
import { placeNeededBy, refusedSince } from './step-guards.ts'
import { stepRunOf } from './step-view.ts'

/** The result of a call: an outcome, the outputs of the user's code, or the decision of the step's filters. */
export type CallResult =
  | { outcome: StepOutcome }
  | { outputs: ControlValues }
  | { judgement: Decided; outcome?: StepOutcome }

export interface CallHands {
  tools: CallTools
  bridge: Pick<Bridge, 'execute'>
}

/** Makes the call. Throws what is no failure of the step; see `failureOf`. */
export async function makeCall(
  of: StepRun,
  run: RunState,
  job: JobState,
  { tools, bridge }: CallHands,
): Promise<CallResult> {
  const refused = refusedSince(of, run, job)
  if (refused) return { outcome: refused }
  if (run.workflow.origin === 'external') return callCode(of, job, tools, bridge)
  if (isAskedGone(run, job)) return { outcome: personGone }
  return gateOf(job)?.isPending ? callFilters(of, run, job, tools) : callStep(of, job, tools)
}

/** Whoever was to be asked was deleted meanwhile. */
const personGone: StepOutcome = {
  kind: 'fail',
  reason: 'subscriber_gone',
  error: 'The subscriber who was to be asked no longer exists',
  stops: false,
  details: [detail('person_gone')],
}

/** The run after its call. */
export function afterCall(run: RunState, job: JobState, result: CallResult, now: Date): ReturnType<typeof goOn> {
  if ('outputs' in result) return goOnWith(run, job, result.outputs, now)
  if ('judgement' in result) return goOnPast(run, job, result.judgement, result.outcome, now)
  return goOn(run, job, result.outcome, now)
}

/** The user's code decides what the step does; then it runs like any other. */
async function callCode(
  of: StepRun,
  job: JobState,
  tools: CallTools,
  bridge: CallHands['bridge'],
): Promise<CallResult> {
  const { run, step } = of
  const ids = { workflowId: run.workflow.identifier, stepId: step.stepId, jobId: job.id }
  const { bridge_url: bridgeUrl } = (run as RunState).definition
  const { code: absence, ...own } = (job.delivery ?? {}) as { code?: Absence }
  let answer: BridgeAnswer
  try {
    answer = await bridge.execute(targetIn(run.environment, bridgeUrl), ids, bridgeEvent(of))
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error
    const retry = error.mayPass ? askAgain(of, error, absence, tools) : undefined
    if (retry) return { outcome: { ...retry, delivery: { ...own, ...retry.delivery } } }
    const { message, code, data } = error
    const details = [detail('bridge_failed', { message, code, ...(data === undefined ? {} : { data }) })]
    const stops = kindOf(job).isWait === true
    return { outcome: { kind: 'fail', reason: 'bridge_failed', error: message, stops, details } }
  }
  if (answer.options.skip) return { outcome: skippedBy(kindOf(job)) }
  // Now that it is to be sent: it is asked for again with its places.
  if (kindOf(job).call && placeNeededBy(run as RunState, job))
    return { judgement: { kind: 'open', variant: undefined, details: [] } }
  const delivery = Object.keys(own).length > 0 ? own : null
  const rendered = {
    ...{ ...of, job: { ...of.job, delivery } },
    ...{ values: answer.outputs, isRendered: true, providerData: answer.providers },
  }
  return kindOf(job).call ? callStep(rendered, job, tools) : { outputs: answer.outputs }
}

/** How long the application has not answered. Kept beside the step's own state. */
interface Absence {
  since: string
  attempts: number
}

/** As patient as with a provider. @returns undefined once it is not worth waiting any longer */
function askAgain(
  { run, step }: StepRun,
  { message, code }: BridgeError,
  before: Absence | undefined,
  { chance, clock }: CallTools,
): Extract<StepOutcome, { kind: 'retry' }> | undefined {
  const now = clock.now()
  const absence = { since: before?.since ?? now.toISOString(), attempts: (before?.attempts ?? 0) + 1 }
  const { attempts: calls } = absence
  const decision = decide(
    { kind: 'later', mayHaveArrived: false },
    { startedAt: new Date(absence.since), calls, callsHere: calls, uncertainCalls: 0 },
    {
      ...{ now, isIdempotent: true, holdsUnknown: false, others: 'none' },
      random: () => chance({ run, stepId: step.stepId, destination: 0, call: calls }),
    },
  )
  if (decision.action !== 'retry') return undefined
  const at = new Date(now.getTime() + decision.afterMs)
  const raw = { message, code, attempt: calls, nextAttemptAt: at.toISOString() }
  return { kind: 'retry', at, delivery: { code: absence }, details: [detail('bridge_retried', raw, { isRetry: true })] }
}

/** A step without a call is here because it was redriven. */
async function callStep(of: StepRun, job: JobState, tools: CallTools): Promise<CallResult> {
  const { call } = kindOf(job)
  if (call) return { outcome: await call(of, tools) }
  return { judgement: { kind: 'open', variant: variantIn(job.step, gateOf(job) ?? {}), details: [] } }
}

/** Asks what the filters need, and if they let the step pass, calls it at once without another round through the queue. */
async function callFilters(of: StepRun, run: RunState, job: JobState, tools: CallTools): Promise<CallResult> {
  const { call, isWait: stops = false } = kindOf(job)
  const found = await askFilters(of, earlierOf(run), gateOf(job) ?? {}, tools)
  const isDecided = found.kind === 'open' && (!call || placeNeededBy(run, job) !== undefined)
  if (found.kind === 'closed' || isDecided) return { judgement: found }
  if (found.kind !== 'open') return { outcome: found.kind === 'fail' ? { ...found, stops } : found }
  const opened = { ...job, delivery: withGate(job.delivery, gateAfter(job, found)) }
  const outcome = await call?.({ ...of, ...stepRunOf(run, opened, of.now) }, tools)
  return { judgement: found, ...(outcome ? { outcome } : {}) }
}

export function failureOf(error: unknown, { run, step }: StepRun, log: Logger): StepOutcome {
  const stops = kindOf(step).isWait === true
  if (error instanceof RenderError) return contentFailed(error, stops)
  log.error({ err: error, notificationId: run.id, stepId: step.stepId }, 'a step failed unexpectedly')
  return failedUnexpectedly(stops)
}

/** What the user's code receives: the nearest earlier step first. */
function bridgeEvent({ run, job, step }: StepRun): BridgeEvent {
  const { payload, context, actor } = run.event
  const { __source: _, ...told } = payload
  const state = (run as RunState).jobs
    .filter(({ position }) => position < job.position)
    .map((earlier) => ({
      stepId: earlier.step.stepId,
      outputs: (run.results[earlier.step.stepId] ?? {}) as Record<string, unknown>,
      state: { status: earlier.status, ...(earlier.error === null ? {} : { error: earlier.error }) },
    }))
  return {
    payload: told,
    controls: step.controlValues ?? {},
    state: state.reverse(),
    subscriber: subscriberVariablesOf(run.subscriber),
    context,
    env: run.environment.env,
    ...(actor ? { actor: subscriberVariablesOf(actor) } : {}),
  }
}
