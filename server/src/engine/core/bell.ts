// Tells workers of new jobs, after the commit that added them. A commit that carries a NOTIFY itself waits for every other such
// commit of the server to reach the disk: with 64 connections 200 to 500 a second, instead of 3,000. Nothing relies on the bell:
// a worker that did not hear it finds the job within a second (queue/alarm.ts).
import type pg from 'pg'

/**
 * The channel and form of the queue's library. Outside of our commits, and without waiting for the disk. Not where all workers are
 * of this process: they have heard already, and would look for each job twice.
 */
const telling = (count: number) =>
  `SELECT set_config('synchronous_commit', 'off', true), pg_notify('jobs:insert', '{"r":${Math.random()},"count":${count}}')
   WHERE cardinality($1::text[]) = 0 OR EXISTS (SELECT FROM workers WHERE pool_id <> ALL ($1::text[]))`

/** What comes together is told together. */
const gatherMs = 5
/** The same where a worker of this process has heard already. */
const gatherHeardMs = 50

type Nudge = (count: number) => void

export class Bell {
  readonly #pool: pg.Pool
  readonly #nudges = new Map<string, Set<Nudge>>()
  /** The ids of this process's workers in the list. */
  readonly #ownPools = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #count = 0
  #isSilent = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  /** For a worker of this process: hears of its tasks without the database. @returns a function to leave */
  join(poolId: string, tasks: string[], nudge: Nudge): () => void {
    this.#ownPools.add(poolId)
    for (const task of tasks) this.#nudges.set(task, (this.#nudges.get(task) ?? new Set()).add(nudge))
    return () => {
      this.#ownPools.delete(poolId)
      for (const task of tasks) this.#nudges.get(task)?.delete(nudge)
    }
  }

  /** Jobs of this task are committed, and can be done now. */
  ring(task: string, count: number): void {
    if (this.#isSilent || count === 0) return
    const heard = this.#nudges.get(task)
    for (const nudge of heard ?? []) nudge(count)
    this.#count += count
    this.#timer ??= setTimeout(() => void this.#tell(), heard?.size ? gatherHeardMs : gatherMs)
  }

  /** Before the pool closes. */
  silence(): void {
    this.#isSilent = true
    clearTimeout(this.#timer)
  }

  async #tell(): Promise<void> {
    const count = this.#count
    this.#count = 0
    // While the database is away, workers find out by themselves.
    await this.#pool.query(telling(count), [[...this.#ownPools]]).catch(() => undefined)
    this.#timer = undefined
    if (this.#count > 0 && !this.#isSilent) this.#timer = setTimeout(() => void this.#tell(), gatherMs)
  }
}
