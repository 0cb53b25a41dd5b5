// Steps that ask somebody outside: begun in one transaction, called outside of any, and ended in another. What was begun and
// never ended shows that the process died in between; the step is told, and decides whether asking again can do harm.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isOutage } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'
import { RenderError } from '../render/limits.ts'
import type { CallTools } from '../steps/call-tools.ts'
import { askFilters, type Decided, gateOf, variantIn, withGate } from '../steps/filter-gate.ts'
import type { ControlValues } from '../steps/kind.ts'
import { detail, type StepOutcome } from '../steps/outcome.ts'
import { type StepRun, subscriberVariablesOf } from '../steps/step-run.ts'
import { type Bridge, type BridgeAnswer, BridgeError, type BridgeEvent, targetIn } from './bridge.ts'
import { GroupCommit } from './group-commit.ts'
import { lockRuns } from './load.ts'
import { settle, type Thread } from './needs.ts'
import {
  earlierOf,
  gateAfter,
  goOn,
  goOnPast,
  goOnWith,
  type JobState,
  kindOf,
  note,
  type RunState,
  skippedBy,
  stepRunOf,
} from './run.ts'
import type { EngineParts } from './start-runs.ts'
import { priorities, storeRuns } from './store.ts'

export interface DeliverParts extends EngineParts {
  bridge: Bridge
  tools: Omit<CallTools, 'layout' | 'layoutTranslator' | 'hasBranding'>
}

/** Which step of which run. */
export interface CallKey {
  environmentId: string
  id: string
  position: number
}

/** What came of a call: an outcome, what the user's code wants the step to do, or what its filters came to. */
type Result = { outcome: StepOutcome } | { outputs: ControlValues } | { judgement: Decided; outcome?: StepOutcome }

interface Ended {
  key: CallKey
  /** Which attempt it was: a result that comes after another attempt was begun is dropped. */
  attempt: number
  result: Result
}

interface Begun {
  key: CallKey
  run: RunState
  job: JobState
  isRepeated: boolean
}

export class Deliveries {
  readonly #parts: DeliverParts
  readonly #ends: GroupCommit<Ended, undefined>

  constructor(parts: DeliverParts) {
    this.#parts = parts
    this.#ends = new GroupCommit((ended) => this.#end(ended), isOutage, {
      mostItems: 100,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
  }

  /** Each is ended as soon as it is answered; the slow ones hold nobody up. */
  async deliver(keys: CallKey[]): Promise<void> {
    const begun = await this.#begin(keys)
    const results = await Promise.allSettled(
      begun.map(async (call) => {
        const result = await this.#call(call)
        await untilReachable(() => this.#ends.add({ key: call.key, attempt: call.job.attempts, result }))
      }),
    )
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'Not all calls could be recorded.')
  }

  async #begin(keys: CallKey[]): Promise<Begun[]> {
    const { pool, memory, clock } = this.#parts
    const now = clock.now()
    return inTransaction(pool, async (transaction) => {
      const runs = await lockRuns(transaction, memory, keys, now)
      const begun = keys.flatMap((key) => {
        const run = runs.find(({ id, environment }) => id === key.id && environment.id === key.environmentId)
        const job = run?.jobs.find(({ position }) => position === key.position)
        // A wait before the next attempt, an end, a cancellation: there is nothing to call about.
        if (!run || !job || job.dueAt !== null || (job.status !== 'queued' && job.status !== 'running')) return []
        const isRepeated = job.status === 'running'
        if (isRepeated) note(job, detail('outcome_unknown'), now)
        job.status = 'running'
        job.attempts += 1
        job.isChanged = true
        return [{ key, run, job, isRepeated }]
      })
      await storeRuns(
        transaction,
        begun.map(({ run }) => run),
        { now, priority: priorities.single },
      )
      return begun
    })
  }

  async #call({ run, job, isRepeated }: Begun): Promise<Result> {
    const { clock, log, memory } = this.#parts
    const of: StepRun = { ...stepRunOf(run, job, clock.now()), isRepeated }
    try {
      const environment = await untilReachable(() => memory.recall(run.environment.id))
      if (!environment) throw new Error('The environment is gone.')
      const tools: CallTools = {
        ...this.#parts.tools,
        http: run.environment.type === 'dev' ? this.#parts.tools.http.development : this.#parts.tools.http,
        layout: (layoutId) => environment.layout(layoutId),
        layoutTranslator: (layout, locale) => environment.translator('layout', layout, locale),
        hasBranding: environment.hasBranding,
      }
      if (run.workflow.origin === 'external') return await this.#callCode(of, job, tools)
      return gateOf(job)?.isPending ? await callFilters(of, run, job, tools) : await callStep(of, job, tools)
    } catch (error) {
      return { outcome: failureOf(error, of, log) }
    }
  }

  /** The user's code says what the step does; then it is done as any other. */
  async #callCode(of: StepRun, job: JobState, tools: CallTools): Promise<Result> {
    const { run, step } = of
    const ids = { workflowId: run.workflow.identifier, stepId: step.stepId, jobId: job.id }
    const { bridge_url: bridgeUrl } = (run as RunState).definition
    let answer: BridgeAnswer
    try {
      answer = await this.#parts.bridge.execute(targetIn(run.environment, bridgeUrl), ids, bridgeEvent(of))
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error
      const { message, code, data } = error
      const details = [detail('bridge_failed', { message, code, ...(data === undefined ? {} : { data }) })]
      const stops = kindOf(job).isWait === true
      return { outcome: { kind: 'fail', reason: 'bridge_failed', error: message, stops, details } }
    }
    if (answer.options.skip) return { outcome: skippedBy(kindOf(job)) }
    const rendered = { ...of, values: answer.outputs, isRendered: true, providerData: answer.providers }
    return kindOf(job).call ? callStep(rendered, job, tools) : { outputs: answer.outputs }
  }

  async #end(ended: Ended[]): Promise<undefined[]> {
    const { pool, memory, clock, log } = this.#parts
    const now = clock.now()
    await inTransaction(pool, async (transaction) => {
      const runs = await lockRuns(
        transaction,
        memory,
        ended.map(({ key }) => key),
        now,
      )
      const threads = ended.flatMap(({ key, attempt, result }): Thread[] => {
        const run = runs.find(({ id, environment }) => id === key.id && environment.id === key.environmentId)
        const job = run?.jobs.find(({ position }) => position === key.position)
        if (!run || !job || job.status !== 'running' || job.attempts !== attempt) return []
        return [{ run, progress: continued(run, job, result, now) }]
      })
      await settle(transaction, threads, { now, log })
      await storeRuns(
        transaction,
        threads.map(({ run }) => run),
        { now, priority: priorities.single },
      )
    })
    return ended.map(() => undefined)
  }
}

const [firstPauseMs, longestPauseMs, patienceMs] = [50, 5_000, 600_000]

/**
 * While the database is away, what is known about a call is kept here and tried again: given up, the next attempt would
 * have to treat it as a call nobody knows the outcome of.
 */
async function untilReachable<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!isOutage(error) || performance.now() - began > patienceMs) throw error
      await sleep(pauseMs)
    }
  }
}

function continued(run: RunState, job: JobState, result: Result, now: Date): Thread['progress'] {
  if ('outputs' in result) return goOnWith(run, job, result.outputs, now)
  if ('judgement' in result) return goOnPast(run, job, result.judgement, result.outcome, now)
  return goOn(run, job, result.outcome, now)
}

/** One that calls nobody was called for being done once more. */
async function callStep(of: StepRun, job: JobState, tools: CallTools): Promise<Result> {
  const { call } = kindOf(job)
  if (call) return { outcome: await call(of, tools) }
  return { judgement: { kind: 'open', variant: variantIn(job.step, gateOf(job) ?? {}), details: [] } }
}

/** Asks whom its filters want asked, and where they let it, calls the step at once: nobody has to take it up again. */
async function callFilters(of: StepRun, run: RunState, job: JobState, tools: CallTools): Promise<Result> {
  const { call, isWait: stops = false } = kindOf(job)
  const found = await askFilters(of, earlierOf(run), gateOf(job) ?? {}, tools)
  if (found.kind === 'closed' || (found.kind === 'open' && !call)) return { judgement: found }
  if (found.kind !== 'open') return { outcome: found.kind === 'fail' ? { ...found, stops } : found }
  const opened = { ...job, delivery: withGate(job.delivery, gateAfter(found)) }
  const outcome = await call?.({ ...of, ...stepRunOf(run, opened, of.now) }, tools)
  return { judgement: found, ...(outcome ? { outcome } : {}) }
}

/** What went wrong in ourselves is logged in full and told in one sentence. */
function failureOf(error: unknown, { run, step }: StepRun, log: Logger): StepOutcome {
  const stops = kindOf(step).isWait === true
  if (error instanceof RenderError) {
    const { message } = error
    return {
      kind: 'fail',
      reason: 'content_failed',
      error: message,
      stops,
      details: [detail('content_failed', { error: message })],
    }
  }
  log.error({ err: error, notificationId: run.id, stepId: step.stepId }, 'a step failed unexpectedly')
  const sentence = 'The step failed unexpectedly; the log of the service says more'
  return { kind: 'fail', reason: 'internal', error: sentence, stops, details: [detail('internal')] }
}

/** What the user's code is told: the nearest of the earlier steps first. */
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
