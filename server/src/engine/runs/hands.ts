// Calls that a process makes at once, without waiting for the queue to hand them over: those of runs it has just stored and
// still knows. For everybody else they are jobs of the queue that its worker has taken, locked under its name: should it die,
// they are released and done as any others.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { isOutage } from '../../db/core/database.ts'
import type { Transaction } from '../../db/core/transaction.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { untilReachable } from '../core/patience.ts'
import { dropCalls, holdCalls, releaseCalls } from '../core/statements.ts'
import type { RunState } from './run.ts'

/** More wait in the queue: whoever accepts triggers must not drown in their calls. */
const mostHeld = 1_024
/** Of one who has asked for much lately; the rest is for the others. */
const mostOfBusy = 768
/** About as many as are being made at a time; what is held beyond waits. */
const mostAtEase = 256
const lookAgainMs = 200

/** As the queue's library names the worker, and whether the others can see that it lives. */
interface Holder {
  id: string
  isShown(): boolean
}

/** Calls that one transaction has begun with the runs it stored. */
export interface HeldCalls {
  /** The job of the queue that stands for them. */
  jobId: string
  workerId: string
  calls: Array<{ run: RunState; position: number }>
  /** Of the rows of their runs. */
  rowVersion: string
}

interface HeldRow {
  id: string
  row_version: string
}

interface Surroundings {
  pool: pg.Pool
  log: Logger
  /** Makes one of the calls and writes down what came of it. */
  call(call: { run: RunState; position: number }, rowVersion: string): Promise<void>
}

export class Hands {
  readonly #surroundings: Surroundings
  readonly #drops: GroupCommit<HeldCalls, undefined>
  #holder: Holder | undefined
  #held = 0
  /** Transactions whose calls are not all over. */
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

  /** From now on calls can be held in the name of this worker. */
  open(holder: Holder): void {
    this.#holder = holder
  }

  /** Takes no more. @returns once none is held */
  async close(): Promise<void> {
    this.#holder = undefined
    if (this.#open > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve))
  }

  /** How many calls of somebody can be held now. @param isBusy whether they have asked for much lately */
  room(isBusy: boolean): number {
    if (!this.#holder?.isShown()) return 0
    return Math.max(0, (isBusy ? mostOfBusy : mostHeld) - this.#held)
  }

  /** Whether more calls are held than are made in a moment: whoever brings more now only sends them through the queue. */
  get areBusy(): boolean {
    return this.#held > mostAtEase
  }

  /**
   * Takes room for calls whose steps are about to be stored as running, and makes them as soon as that is committed. Nobody
   * else gets that room meanwhile. @returns what writes down that they are held, to be done before the commit
   */
  hold(transaction: Transaction, calls: HeldCalls['calls']): () => Promise<void> {
    const workerId = this.#holder?.id
    if (workerId === undefined) throw new Error('Nobody is there to hold calls.')
    this.#held += calls.length
    this.#open += 1
    let held: HeldCalls | undefined
    transaction.afterCommit(() => void this.#make(held as HeldCalls))
    transaction.afterFailure(() => void this.#settle(held, calls))
    return async () => {
      const keys = calls.map(({ run, position }) => [run.environment.id, run.id, position])
      const [row] = await transaction.run<HeldRow>(holdCalls, [JSON.stringify({ calls: keys }), workerId])
      if (!row) throw new Error('The queue knows no task for calls.')
      held = { jobId: row.id, rowVersion: row.row_version, workerId, calls }
    }
  }

  async #make(held: HeldCalls): Promise<void> {
    const { log, call } = this.#surroundings
    const results = await Promise.allSettled(
      held.calls.map((each) => call(each, held.rowVersion).finally(() => this.#letGo(1))),
    )
    try {
      const failure = results.find(({ status }) => status === 'rejected')
      if (failure) {
        // What could not be written down is left to the queue, as of one that died over it.
        log.error({ err: (failure as PromiseRejectedResult).reason as unknown }, 'not all calls could be recorded')
        await untilReachable(() =>
          this.#surroundings.pool.query({ ...releaseCalls, values: [held.jobId, held.workerId] }),
        )
      } else await untilReachable(() => this.#drops.add(held))
    } catch (error) {
      log.error({ err: error }, 'a job of the queue could not be ended; it is released when this process ends')
    }
    this.#end()
  }

  async #drop(held: HeldCalls[]): Promise<undefined[]> {
    const columns = [held.map(({ jobId }) => jobId), held.map(({ workerId }) => workerId)]
    await this.#surroundings.pool.query({ ...dropCalls, values: columns })
    return held.map(() => undefined)
  }

  /** Whether the transaction that failed was committed all the same: its connection may have been lost over the answer. */
  async #settle(held: HeldCalls | undefined, calls: HeldCalls['calls']): Promise<void> {
    if (held && (await this.#isStored(held))) return this.#make(held)
    this.#letGo(calls.length)
    this.#end()
  }

  async #isStored({ rowVersion, jobId }: HeldCalls): Promise<boolean> {
    const { pool, log } = this.#surroundings
    for (;;) {
      try {
        // Two statements: the second sees what the transaction did, if it has ended.
        const running = await pool.query(
          "SELECT FROM pg_locks WHERE locktype = 'transactionid' AND transactionid = $1::xid",
          [rowVersion],
        )
        if (running.rowCount === 0) {
          const { rowCount } = await pool.query('SELECT FROM graphile_worker.jobs WHERE id = $1', [jobId])
          return rowCount === 1
        }
      } catch (error) {
        if (!isOutage(error)) {
          log.error(
            { err: error },
            'whether calls were begun could not be found out; they are released when this process ends',
          )
          return false
        }
      }
      await sleep(lookAgainMs)
    }
  }

  #letGo(count: number): void {
    this.#held -= count
  }

  #end(): void {
    this.#open -= 1
    if (this.#open > 0) return
    for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }
}
