// Steps that call the outside: one transaction takes them, the call happens outside of any, another transaction ends them. A
// call that waits for a slot can go back to the queue at any time. One that was begun and never ended shows that the process
// died in between: the step learns that when it is made again.
import { setTimeout as sleep } from 'node:timers/promises'
import { isOutage, retryConflicts } from '../../db/core/database.ts'
import { autoCommit, inTransaction, type Transaction } from '../../db/core/transaction.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import { detail } from '../../steps/contract/outcome.ts'
import type { StepRun } from '../../steps/contract/step-run.ts'
import type { Bridge } from '../core/bridge.ts'
import { findListing, queueCalls, returnCalls, takeCalls } from '../core/call-statements.ts'
import { priorities } from '../core/fair-share.ts'
import { GroupCommit } from '../core/group-commit.ts'
import type { RememberedEnvironment } from '../core/memory.ts'
import { untilReachable } from '../core/patience.ts'
import { type BegunCalls, type BegunGroup, callName, type Holder, NotBegun, Renounced } from './begun-calls.ts'
import { afterCall, type CallResult, failureOf, makeCall } from './call.ts'
import { asStored } from './compose.ts'
import { type LoadedRow, lockCalls, runsOf } from './load.ts'
import { settle, type Thread } from './needs.ts'
import { goOn } from './run.ts'
import { isEnded, type JobState, noEffects, type RunState, storedLine } from './run-state.ts'
import type { EngineParts, Storing } from './start-runs.ts'
import { stepRunOf } from './step-view.ts'
import { isPlain, type PlainEnd, storeEnds, storeRuns } from './store.ts'
import { traceCall } from './traces.ts'

export interface DeliverParts extends EngineParts {
  begunCalls: BegunCalls
  bridge: Bridge
  tools: Omit<CallTools, 'layout' | 'layoutTranslator' | 'hasBranding' | 'http'> & { http: HttpClient }
}

/** Which step of which run. */
export interface CallKey {
  environmentId: string
  id: string
  position: number
}

interface Ended extends Taken {
  result: CallResult
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
  taken: Array<{
    position: number
    attempts: number
    was: 'queued' | 'running'
    isCutOff: boolean | null
    isBegun: boolean
  }>
}

/** The calls of one job of the queue. */
interface Wanted {
  keys: CallKey[]
  /** Whose job it is. */
  holder: Holder | undefined
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
  readonly #takes: GroupCommit<Wanted, Taken[] | 'not ours'>
  readonly #ends: GroupCommit<Ended, undefined>
  readonly #returns: GroupCommit<Taken, undefined>

  constructor(parts: DeliverParts) {
    this.#parts = parts
    this.#takes = new GroupCommit((wanted) => this.#take(wanted), isOutage, {
      mostItems: mostCalls,
      mostSize: mostCalls,
      sizeOf: ({ keys }) => keys.length,
    })
    this.#ends = new GroupCommit((ended) => this.#end(ended), isOutage, {
      mostItems: mostCalls,
      paceMs: endsPaceMs,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
    this.#returns = new GroupCommit((calls) => this.#return(calls), isOutage, {
      mostItems: mostCalls,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
  }

  /**
   * Each call ends as soon as it is answered; slow ones hold up no others.
   * @param poolId the worker that has the job of the queue, if one does
   */
  async deliver(keys: CallKey[], poolId?: string | null): Promise<void> {
    const { begunCalls } = this.#parts
    const { holder } = begunCalls
    if (poolId && holder && poolId !== holder.id) throw new Renounced()
    const taken = await this.#takes.add({ keys, holder })
    if (taken === 'not ours') throw new Renounced()
    const results = await Promise.allSettled(
      taken.map(async (call) => {
        const isReserved = call.group !== undefined
        try {
          await this.#make(call)
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
    const run = asStored(stored, position)
    const job = run.jobs.find((each) => each.position === position)
    if (!job) throw new Error('The run has no such step.')
    const key = { environmentId: run.environment.id, id: run.id, position }
    await this.#make({ key, run, job, rowVersion, group, holder, isRepeated: false })
  }

  /**
   * Calls where the clock is held, by whoever works there alone. One that is running was cut off.
   */
  async deliverAt(keys: CallKey[], hands: HeldHands, list: HeldList, watch: Storing['watch']): Promise<void> {
    const { pool, begunCalls } = this.#parts
    const calls = await this.#takeAt(keys, hands.now)
    const begun = calls.filter(({ group }) => group !== undefined).length
    try {
      const ended = await Promise.all(
        calls.map(async (call): Promise<Ended> => ({ ...call, result: await this.#call(call, hands) })),
      )
      await untilReachable(() =>
        inTransaction(pool, async (transaction) => {
          const now = await list.takeOff(transaction)
          if (ended.length === 0) return
          const others = await this.#endIn(transaction, ended, now, { goesOn: true, watch })
          if (others.length > 0) await list.putBack(transaction, others)
        }),
      )
      for (const { group } of ended) if (group) begunCalls.end(group)
    } finally {
      begunCalls.release(begun)
    }
  }

  /** Those that can be made, in their order. */
  async #takeAt(keys: CallKey[], now: Date): Promise<Taken[]> {
    const { begunCalls } = this.#parts
    const { worker, group, count, ended } = begunCalls.reserve(keys.length)
    let begun = 0
    try {
      const taken = await this.#takeAll(keys, [worker, group.seq, count, ended], now)
      return keys.flatMap((key) => {
        const { isBegun = false, ...call } = taken.get(nameOf(key)) ?? {}
        if (isBegun) begun += 1
        return 'run' in call ? [{ ...(call as Taken), group: isBegun ? group : undefined }] : []
      })
    } finally {
      begunCalls.keep(group, begun)
    }
  }

  /** Rejects with `Renounced` if the call belongs to others: their job of the queue must stay. */
  async #make(call: Taken): Promise<void> {
    const { tracing, begunCalls, log } = this.#parts
    try {
      const result = tracing ? await traceCall(tracing, call, () => this.#call(call)) : await this.#call(call)
      // Keep the result until it can be written: without it, the next attempt would have to treat the outcome as unknown.
      await untilReachable(() => this.#ends.add({ result, ...call }))
      if (call.group) begunCalls.end(call.group)
    } catch (error) {
      if (!(error instanceof NotBegun)) throw error
      if (error.cause !== undefined) {
        log.error({ err: error.cause }, 'a call could not be written down before it was made; trying again')
        await sleep(notBegunPauseMs)
      }
      await untilReachable(() => this.#returns.add(call))
    }
  }

  /** Puts taken calls back into the queue, for any worker; except those that others have taken from us. */
  async #return(calls: Taken[]): Promise<undefined[]> {
    const { holder } = this.#parts.begunCalls
    const own = calls.filter((call) => call.holder === holder)
    const columns = [
      own.map(({ key }) => key.environmentId),
      own.map(({ key }) => key.id),
      own.map(({ key }) => key.position),
      own.map(({ job }) => job.attempts),
    ]
    await inTransaction(this.#parts.pool, async (transaction) => {
      const returned = await transaction.run<CallKey>(returnCalls, [...columns, holder?.listing ?? null])
      const payload = { calls: returned.map(({ environmentId, id, position }) => [environmentId, id, position]) }
      if (returned.length === 0) return
      await transaction.run(queueCalls, [[JSON.stringify(payload)], [priorities.single]])
      transaction.afterCommit(() => this.#parts.bell.ring('deliver', 1))
    })
    return calls.map(() => undefined)
  }

  /**
   * Skips steps that wait for a retry, have ended or were canceled. Jobs of a worker that has ended meanwhile are released: taken
   * in the name of the worker after it, their calls would be made by whoever gets the jobs, too.
   */
  async #take(wanted: Wanted[]): Promise<Array<Taken[] | 'not ours'>> {
    const { begunCalls } = this.#parts
    const { holder } = begunCalls
    const keys = wanted.flatMap((each) => (each.holder === holder ? each.keys : []))
    if (keys.length === 0) return wanted.map((each) => (each.holder === holder ? [] : 'not ours'))
    const { worker, group, count, ended } = begunCalls.reserve(keys.length)
    let begun = 0
    try {
      const taken = await this.#takeAll(keys, [worker, group.seq, count, ended])
      return wanted.map((each) =>
        each.holder !== holder
          ? 'not ours'
          : each.keys.flatMap((key) => {
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
  async #takeAll(
    keys: CallKey[],
    marks: unknown[],
    now = this.#parts.clock.now(),
  ): Promise<Map<string, Taken & { isBegun: boolean }>> {
    const { pool, memory, begunCalls } = this.#parts
    const unknown = storedLine(detail('outcome_unknown'), now)
    const by = autoCommit(pool)
    const { holder } = begunCalls
    const rows = await by.run<TakenRow>(takeCalls, [
      keys.map(({ environmentId }) => environmentId),
      keys.map(({ id }) => id),
      keys.map(({ position }) => position),
      now,
      JSON.stringify([unknown]),
      holder?.listing ?? null,
      ...marks,
    ])
    // Ending as if all were done would remove a job that others need.
    if (rows.length === 0 && holder && (await by.run(findListing, [holder.listing])).length === 0) throw new Renounced()
    // From here on, giving up would make these look like calls that were cut off.
    const going = new Set(rows.flatMap(({ id, taken }) => taken.map(({ position }) => `${id} ${position}`)))
    const found = await untilReachable(() => runsOf(by, memory, rows, now, { going }))
    const runs = new Map(found.map((run) => [run.id, run]))
    const calls = new Map<string, Taken & { isBegun: boolean }>()
    for (const { id, row_version: rowVersion, taken } of rows) {
      const run = runs.get(id)
      if (!run) continue
      for (const { position, attempts, was, isCutOff, isBegun } of taken) {
        const job = run.jobs.find((each) => each.position === position)
        if (!job) continue
        const isRepeated = isCutOff === true
        if (was === 'running') job.details.push(unknown)
        Object.assign(job, { status: 'running', attempts, storedDetails: job.details.length })
        const key = { environmentId: run.environment.id, id, position }
        calls.set(nameOf(key), { key, run, job, isRepeated, rowVersion, isBegun, holder })
      }
    }
    return calls
  }

  async #call(call: Taken, held?: HeldHands): Promise<CallResult> {
    const { clock, log, memory, begunCalls } = this.#parts
    const { run, job, isRepeated } = call
    const beginning = begunCalls.beginningOf(call, callName(job))
    const of: StepRun = { isRepeated, beginning, ...stepRunOf(run, job, held?.now ?? clock.now()) }
    try {
      const environment = await untilReachable(() => memory.recall(run.environment.id))
      if (!environment) throw new Error('The environment no longer exists.')
      const usual = this.#toolsOf(environment)
      const tools = held ? { ...usual, ...held.tools } : usual
      return await makeCall(of, run, job, { tools, bridge: this.#parts.bridge })
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
      layout: (layoutId, workflow) => untilReachable(() => environment.layout(layoutId, workflow)),
      layoutTranslator: (layout, locale) => untilReachable(() => environment.translator('layout', layout, locale)),
      hasBranding: environment.hasBranding,
    }
    this.#tools.set(environment, made)
    return made
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
    // Runs that go on may wait for each other's digests and caps.
    await retryConflicts(() => inTransaction(this.#parts.pool, (transaction) => this.#endIn(transaction, ended, now)))
  }

  /** @returns calls that somebody else has begun again meanwhile, so that their results are not ours to store */
  async #endIn(
    transaction: Transaction,
    ended: Ended[],
    now: Date,
    { goesOn = false, watch }: Storing = {},
  ): Promise<CallKey[]> {
    const { memory, shares, hands, wakes, bell, tracing, meter } = this.#parts
    const keys = ended.map(({ key }) => key)
    const runs = await lockCalls(transaction, memory, keys, now, watch)
    const others: CallKey[] = []
    const threads = ended.flatMap(({ key, job: { attempts }, result }): Thread[] => {
      const run = runs.find(({ id, environment }) => id === key.id && environment.id === key.environmentId)
      const job = run?.jobs.find(({ position }) => position === key.position)
      if (!run || !job || job.status !== 'running') return []
      if (job.attempts === attempts) return [{ run, progress: afterCall(run, job, result, now) }]
      others.push(key)
      return []
    })
    await settle(transaction, threads, this.#parts, now)
    const continued = [...new Set(threads.map(({ run }) => run))]
    if (watch) transaction.afterCommit(() => watch(continued, now))
    await storeRuns(transaction, continued, {
      ...{ now, priority: priorities.single, shares, hands, wakes, bell, tracing, meter, goesOn },
    })
    return others
  }
}

/** What a call is made with where the clock is held. */
export interface HeldHands {
  now: Date
  tools: Pick<CallTools, 'clock' | 'chance' | 'circuits' | 'gate' | 'delivery'>
}

/** The list of what is to be done where the clock is held. */
export interface HeldList {
  /** Takes the calls off it, and tells the time. */
  takeOff(transaction: Transaction): Promise<Date>
  /**
   * For calls that were begun again while they were made. Nobody else makes them: a statement of a process that has died may
   * begin a call after its locks are gone.
   */
  putBack(transaction: Transaction, calls: CallKey[]): Promise<void>
}

const nameOf = ({ environmentId, id, position }: CallKey) => `${environmentId} ${id} ${position}`

/** The run after this call, if that ends it or leaves only a retry to wait for. */
function plainEndOf({ run, job, rowVersion, result }: Ended, now: Date): PlainEnd | undefined {
  if ('outputs' in result || 'judgement' in result || job.asked) return undefined
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
