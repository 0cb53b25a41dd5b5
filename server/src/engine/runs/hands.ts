// Calls that a process makes at once for runs it has just stored and still has in memory, without a round through the queue. To
// others they are queue jobs locked by its worker: if it dies, they are released and done like any others.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isOutage } from '../../db/core/database.ts'
import type { Transaction } from '../../db/core/transaction.ts'
import { dropCalls, holdCalls, queueCalls, releaseCalls, returnCalls } from '../core/call-statements.ts'
import { priorities } from '../core/fair-share.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { untilReachable } from '../core/patience.ts'
import { type BegunCalls, type BegunGroup, callName, type Holder, Renounced } from './begun-calls.ts'
import type { RunState } from './run-state.ts'

/**
 * Further calls go to the queue: a process that accepts triggers must not drown in their calls. There each costs a tenth more,
 * because its run is read again: of 6,000 emails at once, 1,402 µs each of Node.js and PostgreSQL with half as many, 1,268 with
 * these, and no less with twice as many.
 */
const mostHeld = 2_048
/** For one environment that asked for much lately; the rest is for the others. */
const mostOfBusy = 1_536
/** About as many as run at a time; the others wait. */
const mostAtEase = 256
const lookAgainMs = 200

/** The worker's name in the queue, and whether other workers can see that it is alive. */
interface Shown {
  id: string
  isShown(): boolean
}

/** Calls that one transaction began with the runs it stored. */
export interface HeldCalls {
  /** The queue job that stands for them. */
  jobId: string
  workerId: string
  calls: HeldCall[]
  /** The first of them are begun by the same transaction. */
  begun: { count: number; group: BegunGroup }
  holder: Holder | undefined
  /** Of their runs' rows. */
  rowVersion: string
}

interface HeldCall {
  run: RunState
  position: number
}

interface HeldRow {
  id: string
  row_version: string
}

interface Surroundings {
  pool: pg.Pool
  log: Logger
  begunCalls: BegunCalls
  /** Makes one call and records its outcome. */
  call(
    call: HeldCall,
    of: { rowVersion: string; group: BegunGroup | undefined; holder: Holder | undefined },
  ): Promise<void>
}

export class Hands {
  readonly #surroundings: Surroundings
  readonly #drops: GroupCommit<HeldCalls, undefined>
  #holder: Shown | undefined
  #held = 0
  /** Transactions with calls in flight. */
  #open = 0
  #whenEmpty: Array<() => void> = []

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
    this.#drops = new GroupCommit((held) => this.#drop(held), isOutage, {
      mostItems: 100,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
  }

  /** From now on calls can be held in this worker's name. */
  open(holder: Shown): void {
    this.#holder = holder
    this.#surroundings.begunCalls.open()
  }

  /** The worker is listed: at first, or again after it was taken for dead. */
  list(holder: Holder): void {
    this.#surroundings.begunCalls.list(holder)
  }

  /** Takes no more calls, and begins none: those that wait for a slot go back to the queue. @returns once none is held */
  async close(): Promise<void> {
    this.#holder = undefined
    this.#surroundings.begunCalls.stop()
    if (this.#open > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  /** How many more calls can be held. @param isBusy whether their environment asked for much lately */
  room(isBusy: boolean): number {
    if (!this.#holder?.isShown()) return 0
    return Math.max(0, (isBusy ? mostOfBusy : mostHeld) - this.#held)
  }

  /** Whether more calls are held than run at a time: further ones would only go through the queue. */
  get areBusy(): boolean {
    return this.#held > mostAtEase
  }

  /**
   * Reserves slots for calls whose steps are about to be stored as running, and makes the calls once that is committed. If the
   * worker was taken for dead meanwhile, they go to the queue.
   * @returns writes the job that holds them; to be called before the commit
   */
  hold(transaction: Transaction, calls: HeldCalls['calls']): () => Promise<void> {
    const workerId = this.#holder?.id
    if (workerId === undefined) throw new Error('Calls can only be held while a worker is running.')
    const { begunCalls } = this.#surroundings
    const { group, count, ended } = begunCalls.reserve(calls.length)
    const { holder } = begunCalls
    this.#held += calls.length
    this.#open += 1
    let held: HeldCalls | undefined
    const letAllGo = () => {
      begunCalls.keep(group, 0)
      this.#letGo(calls.length, 0)
      this.#end()
    }
    transaction.afterCommit(() => void (held ? this.#make(held) : letAllGo()))
    transaction.afterFailure(() => void this.#settle(held, calls.length, count))
    return async () => {
      const names = calls.slice(0, count).map(({ run, position }) => callName(jobOf(run, position)))
      const payload = payloadOf(calls)
      const values = [payload, workerId, group.seq, names, ended, holder?.listing ?? null]
      const [row] = await transaction.run<HeldRow>(holdCalls, values)
      if (row) {
        held = { jobId: row.id, rowVersion: row.row_version, workerId, calls, holder, begun: { count, group } }
        return
      }
      await transaction.run(returnCalls, [
        calls.map(({ run }) => run.environment.id),
        calls.map(({ run }) => run.id),
        calls.map(({ position }) => position),
        calls.map(({ run, position }) => jobOf(run, position).attempts),
        null,
      ])
      await transaction.run(queueCalls, [[payload], [priorities.single]])
    }
  }

  async #make(held: HeldCalls): Promise<void> {
    const { log, call } = this.#surroundings
    const { rowVersion, begun, holder } = held
    const results = await Promise.allSettled(
      held.calls.map((each, index) => {
        const isBegun = index < begun.count
        return call(each, { rowVersion, holder, group: isBegun ? begun.group : undefined }).finally(() =>
          this.#letGo(1, isBegun ? 1 : 0),
        )
      }),
    )
    try {
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
      const failure = failures.find((reason) => !(reason instanceof Renounced))
      if (failure) {
        // Leave what could not be recorded to the queue, as if this process had died.
        log.error({ err: failure }, 'some calls could not be recorded; the queue will repeat them')
        await untilReachable(() =>
          this.#surroundings.pool.query({ ...releaseCalls, values: [held.jobId, held.workerId] }),
        )
      } else if (failures.length === 0) await untilReachable(() => this.#drops.add(held))
    } catch (error) {
      log.error({ err: error }, 'could not end a queue job; it is released when this process exits')
    }
    this.#end()
  }

  async #drop(held: HeldCalls[]): Promise<undefined[]> {
    const columns = [held.map(({ jobId }) => jobId), held.map(({ workerId }) => workerId)]
    await this.#surroundings.pool.query({ ...dropCalls, values: columns })
    return held.map(() => undefined)
  }

  /** A failed transaction may have committed all the same, if its connection broke before the answer. */
  async #settle(held: HeldCalls | undefined, count: number, begunAtOnce: number): Promise<void> {
    if (held && (await this.#isStored(held))) return this.#make(held)
    this.#letGo(count, begunAtOnce)
    this.#end()
  }

  /** After a crash PostgreSQL may give the number of a job that was not stored to another: the calls tell them apart. */
  async #isStored({ rowVersion, jobId, calls }: HeldCalls): Promise<boolean> {
    const { pool, log } = this.#surroundings
    for (;;) {
      try {
        // Two statements: once the transaction has ended, the second sees what it did.
        const running = await pool.query(
          "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND transactionid = $1::xid",
          [rowVersion],
        )
        if (running.rowCount === 0) {
          const { rowCount } = await pool.query(
            'SELECT FROM graphile_worker._private_jobs WHERE id = $1 AND payload::jsonb = $2::jsonb',
            [jobId, payloadOf(calls)],
          )
          return rowCount === 1
        }
      } catch (error) {
        if (!isOutage(error)) {
          log.error(
            { err: error },
            'could not find out whether calls were begun; they are released when this process exits',
          )
          return false
        }
      }
      await sleep(lookAgainMs)
    }
  }

  #letGo(count: number, begunAtOnce: number): void {
    this.#held -= count
    this.#surroundings.begunCalls.release(begunAtOnce)
  }

  #end(): void {
    this.#open -= 1
    if (this.#open > 0) return
    for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }
}

const payloadOf = (calls: HeldCall[]): string =>
  JSON.stringify({ calls: calls.map(({ run, position }) => [run.environment.id, run.id, position]) })

function jobOf(run: RunState, position: number): RunState['jobs'][number] {
  const job = run.jobs.find((each) => each.position === position)
  if (!job) throw new Error('The run has no such step.')
  return job
}
