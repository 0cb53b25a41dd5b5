// Steps that call the outside: one transaction takes them, the call happens outside of any, another transaction ends them. A
// call that waits for a slot can go back to the queue at any time. One that was begun and never ended shows that the process
// died in between: the step learns that when it is made again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { isOutage } from '../../db/core/database.ts'
import { autoCommit, inTransaction } from '../../db/core/transaction.ts'
import { RenderError } from '../../render/limits.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import type { ControlValues } from '../../steps/contract/kind.ts'
import { detail, type StepOutcome } from '../../steps/contract/outcome.ts'
import { type StepRun, subscriberVariablesOf } from '../../steps/contract/step-run.ts'
import { askFilters, type Decided, gateOf, variantIn, withGate } from '../../steps/delivery/filter-gate.ts'
import { type Bridge, type BridgeAnswer, BridgeError, type BridgeEvent, targetIn } from '../core/bridge.ts'
import { GroupCommit } from '../core/group-commit.ts'
import type { RememberedEnvironment } from '../core/memory.ts'
import { untilReachable } from '../core/patience.ts'
import { queueCalls, returnCalls, takeCalls } from '../core/statements.ts'
import { type BegunCalls, type BegunGroup, callName, type Holder, NotBegun, Renounced } from './begun-calls.ts'
import { asStored, type LoadedRow, lockRuns, runsOf } from './load.ts'
import { settle, type Thread } from './needs.ts'
import {
  contentFailed,
  earlierOf,
  failedUnexpectedly,
  gateAfter,
  goOn,
  goOnPast,
  goOnWith,
  isEnded,
  type JobState,
  kindOf,
  noEffects,
  type RunState,
  skippedBy,
  stepRunOf,
  storedLine,
} from './run.ts'
import type { EngineParts } from './start-runs.ts'
import { isPlain, type PlainEnd, priorities, storeEnds, storeRuns } from './store.ts'
import { traceCall } from './traces.ts'

export interface DeliverParts extends EngineParts {
  begunCalls: BegunCalls
  bridge: Bridge
  tools: Omit<CallTools, 'layout' | 'layoutTranslator' | 'hasBranding'>
}

/** Which step of which run. */
export interface CallKey {
  environmentId: string
  id: string
  position: number
}

/** The result of a call: an outcome, the outputs of the user's code, or the decision of the step's filters. */
type Result = { outcome: StepOutcome } | { outputs: ControlValues } | { judgement: Decided; outcome?: StepOutcome }

interface Ended extends Taken {
  result: Result
}

interface Taken {
  key: CallKey
  run: RunState
  /** Its `attempts` identify the attempt: a result that arrives after a later attempt began is dropped. */
  job: JobState
  isRepeated: boolean
  /** Of the run's row. */
  rowVersion: string
  /** Once its request may be on its way. */
  group?: BegunGroup | undefined
  /** The worker that took it. */
  holder?: Holder | undefined
}

interface TakenRow extends LoadedRow {
  row_version: string
  taken: Array<{ position: number; attempts: number; was: 'queued' | 'running'; isBegun: boolean }>
}

/** Calls that one statement takes or ends. */
const mostCalls = 100
/**
 * Answers of a slow provider, and timeouts of one that hangs, come one by one. With a commit for each, a mail took 1.07 ms of
 * the database; with 10 ms between commits, 0.89. With 25, and alarms that wake only their own tasks, a provider that hangs at
 * 50 messages a second takes 30 % of one database core instead of 37.
 */
const endsPaceMs = 25
/** Before calls that could not begin, for a reason that may last, are tried again. */
const notBegunPauseMs = 5_000

export class Deliveries {
  readonly #parts: DeliverParts
  readonly #tools = new WeakMap<RememberedEnvironment, CallTools>()
  readonly #takes: GroupCommit<CallKey[], Taken[]>
  readonly #ends: GroupCommit<Ended, undefined>
  readonly #returns: GroupCommit<CallKey, undefined>

  constructor(parts: DeliverParts) {
    this.#parts = parts
    this.#takes = new GroupCommit((groups) => this.#take(groups), isOutage, {
      mostItems: mostCalls,
      mostSize: mostCalls,
      sizeOf: (keys) => keys.length,
    })
    this.#ends = new GroupCommit((ended) => this.#end(ended), isOutage, {
      mostItems: mostCalls,
      paceMs: endsPaceMs,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
    this.#returns = new GroupCommit((keys) => this.#return(keys), isOutage, {
      mostItems: mostCalls,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
  }

  /** Each call ends as soon as it is answered; slow ones hold up no others. */
  async deliver(keys: CallKey[]): Promise<void> {
    const { begunCalls } = this.#parts
    const { holder } = begunCalls
    const taken = await this.#takes.add(keys)
    const results = await Promise.allSettled(
      taken.map(async (call) => {
        const isReserved = call.group !== undefined
        try {
          await this.#make(Object.assign(call, { holder }))
        } finally {
          if (isReserved) begunCalls.release(1)
        }
      }),
    )
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'Some calls could not be recorded.')
  }

  /** A call taken by the transaction that stored its run. @param group if that also wrote it down as begun */
  async deliverHeld(
    stored: RunState,
    position: number,
    { rowVersion, group, holder }: Pick<Taken, 'rowVersion' | 'group' | 'holder'>,
  ): Promise<void> {
    const run = asStored(stored)
    const job = run.jobs.find((each) => each.position === position)
    if (!job) throw new Error('The run has no such step.')
    const key = { environmentId: run.environment.id, id: run.id, position }
    await this.#make({ key, run, job, rowVersion, group, holder, isRepeated: false })
  }

  async #make(call: Taken): Promise<void> {
    const { tracing, begunCalls, log } = this.#parts
    try {
      const result = tracing ? await traceCall(tracing, call, () => this.#call(call)) : await this.#call(call)
      // Keep the result until it can be written: without it, the next attempt would have to treat the outcome as unknown.
      await untilReachable(() => this.#ends.add({ result, ...call }))
      if (call.group) begunCalls.end(call.group)
    } catch (error) {
      if (error instanceof Renounced) return
      if (!(error instanceof NotBegun)) throw error
      if (error.cause !== undefined) {
        log.error({ err: error.cause }, 'a call could not be written down before it was made; trying again')
        await sleep(notBegunPauseMs)
      }
      await untilReachable(() => this.#returns.add(call.key))
    }
  }

  /** Puts taken calls back into the queue, for any worker. */
  async #return(keys: CallKey[]): Promise<undefined[]> {
    const columns = [
      keys.map(({ environmentId }) => environmentId),
      keys.map(({ id }) => id),
      keys.map(({ position }) => position),
    ]
    const payload = { calls: keys.map(({ environmentId, id, position }) => [environmentId, id, position]) }
    await inTransaction(this.#parts.pool, async (transaction) => {
      await transaction.run(returnCalls, [...columns, [], detail('outcome_unknown').detail])
      await transaction.run(queueCalls, [[JSON.stringify(payload)], [priorities.single]])
      transaction.afterCommit(() => this.#parts.bell.ring('deliver', 1))
    })
    return keys.map(() => undefined)
  }

  /** Skips steps that wait for a retry, have ended or were canceled. */
  async #take(groups: CallKey[][]): Promise<Taken[][]> {
    const { begunCalls } = this.#parts
    const keys = groups.flat()
    const { worker, group, count, ended } = begunCalls.reserve(keys.length)
    let begun = 0
    try {
      const taken = await this.#takeAll(keys, [worker, group.seq, count, ended])
      return groups.map((each) =>
        each.flatMap((key) => {
          const found = taken.get(nameOf(key))
          if (!found) return []
          // If named twice, call once.
          taken.delete(nameOf(key))
          const { isBegun, ...call } = found
          if (isBegun) begun += 1
          return [{ ...call, group: isBegun ? group : undefined }]
        }),
      )
    } finally {
      begunCalls.keep(group, begun)
    }
  }

  /** @param marks the last values of the statement: which calls to write down as begun, and which groups to remove */
  async #takeAll(keys: CallKey[], marks: unknown[]): Promise<Map<string, Taken & { isBegun: boolean }>> {
    const { pool, memory, clock, begunCalls } = this.#parts
    const now = clock.now()
    const unknown = storedLine(detail('outcome_unknown'), now)
    const by = autoCommit(pool)
    const rows = await by.run<TakenRow>(takeCalls, [
      keys.map(({ environmentId }) => environmentId),
      keys.map(({ id }) => id),
      keys.map(({ position }) => position),
      now,
      JSON.stringify([unknown]),
      begunCalls.holder?.id ?? null,
      ...marks,
    ])
    // From here on, giving up would make these look like calls that were cut off.
    const found = await untilReachable(() => runsOf(by, memory, rows, now))
    const runs = new Map(found.map((run) => [run.id, run]))
    const calls = new Map<string, Taken & { isBegun: boolean }>()
    for (const { id, row_version: rowVersion, taken } of rows) {
      const run = runs.get(id)
      if (!run) continue
      for (const { position, attempts, was, isBegun } of taken) {
        const job = run.jobs.find((each) => each.position === position)
        if (!job) continue
        const isRepeated = was === 'running'
        if (isRepeated) job.details.push(unknown)
        Object.assign(job, { status: 'running', attempts, storedDetails: job.details.length })
        const key = { environmentId: run.environment.id, id, position }
        calls.set(nameOf(key), { key, run, job, isRepeated, rowVersion, isBegun })
      }
    }
    return calls
  }

  async #call(call: Taken): Promise<Result> {
    const { clock, log, memory, begunCalls } = this.#parts
    const { run, job, isRepeated } = call
    let beginning: Promise<void> | undefined
    const writeDown = async () => {
      call.group ??= await begunCalls.begin(callName(job), call.holder)
    }
    const begin = () => {
      beginning ??= writeDown()
      return beginning
    }
    const of: StepRun = { isRepeated, begin, ...stepRunOf(run, job, clock.now()) }
    try {
      const environment = await untilReachable(() => memory.recall(run.environment.id))
      if (!environment) throw new Error('The environment no longer exists.')
      const tools = this.#toolsOf(environment)
      if (run.workflow.origin === 'external') return await this.#callCode(of, job, tools)
      return gateOf(job)?.isPending ? await callFilters(of, run, job, tools) : await callStep(of, job, tools)
    } catch (error) {
      if (error instanceof NotBegun || error instanceof Renounced) throw error
      return { outcome: failureOf(error, of, log) }
    }
  }

  /** Once per cached environment. */
  #toolsOf(environment: RememberedEnvironment): CallTools {
    const known = this.#tools.get(environment)
    if (known) return known
    const { http } = this.#parts.tools
    const made: CallTools = {
      ...this.#parts.tools,
      http: environment.facts.type === 'dev' ? http.development : http,
      layout: (layoutId) => untilReachable(() => environment.layout(layoutId)),
      layoutTranslator: (layout, locale) => untilReachable(() => environment.translator('layout', layout, locale)),
      hasBranding: environment.hasBranding,
    }
    this.#tools.set(environment, made)
    return made
  }

  /** The user's code decides what the step does; then it runs like any other. */
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
    const now = this.#parts.clock.now()
    const plain = new Map<Ended, PlainEnd>()
    for (const call of ended) {
      const end = plainEndOf(call, now)
      if (end) plain.set(call, end)
    }
    const rest = ended.filter((call) => !plain.has(call))
    if (plain.size > 0) {
      try {
        const ends = [...plain.values()]
        await storeEnds(autoCommit(this.#parts.pool), ends, { now, wakes: this.#parts.wakes, bell: this.#parts.bell })
        for (const status of ['completed', 'error'] as const)
          this.#parts.meter?.ended(status, ends.filter(({ run }) => run.status === status).length)
      } catch (error) {
        if (isOutage(error)) throw error
        // One of the runs has changed, or its subscriber was deleted.
        rest.push(...plain.keys())
      }
    }
    if (rest.length > 0) await this.#endWithRuns(rest, now)
    return ended.map(() => undefined)
  }

  /** For calls whose runs continue, or whose runs others have changed. */
  async #endWithRuns(ended: Ended[], now: Date): Promise<void> {
    const { pool, memory, log, shares, hands, wakes, bell, tracing, meter } = this.#parts
    await inTransaction(pool, async (transaction) => {
      const keys = ended.map(({ key }) => key)
      const runs = await lockRuns(transaction, memory, keys, now)
      const threads = ended.flatMap(({ key, job: { attempts }, result }): Thread[] => {
        const run = runs.find(({ id, environment }) => id === key.id && environment.id === key.environmentId)
        const job = run?.jobs.find(({ position }) => position === key.position)
        if (!run || !job || job.status !== 'running' || job.attempts !== attempts) return []
        return [{ run, progress: continued(run, job, result, now) }]
      })
      await settle(transaction, threads, { now, log })
      await storeRuns(
        transaction,
        threads.map(({ run }) => run),
        { now, priority: priorities.single, shares, hands, wakes, bell, tracing, meter },
      )
    })
  }
}

const nameOf = ({ environmentId, id, position }: CallKey) => `${environmentId} ${id} ${position}`

/** The run after this call, if that ends it or leaves only a retry to wait for. */
function plainEndOf({ run, job, rowVersion, result }: Ended, now: Date): PlainEnd | undefined {
  if ('outputs' in result || 'judgement' in result) return undefined
  if (result.outcome.kind !== 'retry' && !run.jobs.every((each) => each === job || isEnded(each))) return undefined
  const copy = { ...job, details: [...job.details] }
  const ending: RunState = {
    ...run,
    results: { ...run.results },
    effects: noEffects(),
    jobs: run.jobs.map((each) => (each === job ? copy : each)),
  }
  const { done } = goOn(ending, copy, result.outcome, now).next()
  return done && isPlain(ending) ? { run: ending, rowVersion } : undefined
}

function continued(run: RunState, job: JobState, result: Result, now: Date): Thread['progress'] {
  if ('outputs' in result) return goOnWith(run, job, result.outputs, now)
  if ('judgement' in result) return goOnPast(run, job, result.judgement, result.outcome, now)
  return goOn(run, job, result.outcome, now)
}

/** A step without a call is here because it was redriven. */
async function callStep(of: StepRun, job: JobState, tools: CallTools): Promise<Result> {
  const { call } = kindOf(job)
  if (call) return { outcome: await call(of, tools) }
  return { judgement: { kind: 'open', variant: variantIn(job.step, gateOf(job) ?? {}), details: [] } }
}

/** Asks what the filters need, and if they let the step pass, calls it at once without another round through the queue. */
async function callFilters(of: StepRun, run: RunState, job: JobState, tools: CallTools): Promise<Result> {
  const { call, isWait: stops = false } = kindOf(job)
  const found = await askFilters(of, earlierOf(run), gateOf(job) ?? {}, tools)
  if (found.kind === 'closed' || (found.kind === 'open' && !call)) return { judgement: found }
  if (found.kind !== 'open') return { outcome: found.kind === 'fail' ? { ...found, stops } : found }
  const opened = { ...job, delivery: withGate(job.delivery, gateAfter(job, found)) }
  const outcome = await call?.({ ...of, ...stepRunOf(run, opened, of.now) }, tools)
  return { judgement: found, ...(outcome ? { outcome } : {}) }
}

function failureOf(error: unknown, { run, step }: StepRun, log: Logger): StepOutcome {
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
