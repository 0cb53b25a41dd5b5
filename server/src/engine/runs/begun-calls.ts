// Which calls have really begun. A process takes more calls than it makes at a time; when it dies, those that were only waiting
// for a slot are simply made by another, and only those written down here may have arrived.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { isOutage } from '../../db/core/database.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { untilReachable } from '../core/patience.ts'
import { markBegun } from '../core/statements.ts'
import type { JobState } from './run.ts'

/** Calls written down together, removed together. */
export interface BegunGroup {
  seq: number
  /** Calls that have not ended. */
  left: number
}

/**
 * While fewer are in flight, every integration has a free slot (steps/delivery/circuit-breaker.ts): the transaction that takes a
 * call then also writes it down as begun. Calls beyond that wait for slots, and are written down in groups when they get one.
 */
const mostBegunAtOnce = 64
/** Removed with the next group, once there are this many: a statement for each would cost more than it frees. */
const groupsToRemove = 32

/** The name of a call: a step's later attempt is another call. */
export const callName = ({ id, attempts }: Pick<JobState, 'id' | 'attempts'>): string => `${id} ${attempts}`

/** The worker that calls are taken for. One that was taken for dead and is back is another holder: others have its calls. */
export interface Holder {
  id: string
  /** Its row in the list of live workers, which no later row of the same worker equals (`isListed` in statements.ts). */
  listing: string
}

interface Beginning {
  call: string
  holder: Holder | undefined
}

export class BegunCalls {
  readonly #pool: pg.Pool
  readonly #marks: GroupCommit<Beginning, BegunGroup | undefined>
  #holder: Holder | undefined
  /** Until a worker runs, a name that nobody looks for. */
  readonly #nobody = randomUUID()
  #seq = 0
  #ended: number[] = []
  /** Calls that were written down as they were taken, and are in flight. */
  #begunAtOnce = 0
  #isStopping = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#marks = new GroupCommit((calls) => this.#mark(calls), isOutage, {
      mostItems: 100,
      mostSize: Number.POSITIVE_INFINITY,
      sizeOf: () => 1,
    })
  }

  /** For whom calls are taken now; undefined if no worker runs. */
  get holder(): Holder | undefined {
    return this.#holder
  }

  /** Calls may begin again, once a worker is listed. */
  open(): void {
    this.#isStopping = false
  }

  /** A worker is listed. Of the calls taken before, none may begin: they have been released. */
  list(holder: Holder): void {
    this.#holder = holder
  }

  /** From now on no call begins: `begin` rejects with `NotBegun`. */
  stop(): void {
    this.#isStopping = true
  }

  /** Written down when this resolves; the request may go out. */
  async begin(call: string, holder: Holder | undefined): Promise<BegunGroup> {
    if (this.#isStopping && holder === this.#holder) throw new NotBegun()
    let group: BegunGroup | undefined
    try {
      group = await untilReachable(() => this.#marks.add({ call, holder }))
    } catch (cause) {
      throw new NotBegun({ cause })
    }
    if (!group) throw new Renounced()
    return group
  }

  /**
   * A group for calls that are written down as they are taken, with the ended groups to remove. Give its `count` back with
   * `release`, call by call.
   * @returns fewer calls than asked for where the others would wait for a slot
   */
  reserve(calls: number): { worker: string; group: BegunGroup; count: number; ended: number[] } {
    const count = Math.max(0, Math.min(calls, mostBegunAtOnce - this.#begunAtOnce))
    this.#begunAtOnce += count
    return { worker: this.#worker, count, ...this.#newGroup(count) }
  }

  release(calls: number): void {
    this.#begunAtOnce -= calls
  }

  /** Fewer of the reserved calls than expected could be taken; the others are released. */
  keep(group: BegunGroup, calls: number): void {
    if (calls === group.left) return
    this.release(group.left - calls)
    group.left = calls
    if (calls === 0) this.#ended.push(group.seq)
  }

  /** One call of the group has ended, and its result is stored. */
  end(group: BegunGroup): void {
    group.left -= 1
    if (group.left === 0) this.#ended.push(group.seq)
  }

  #newGroup(calls: number): { group: BegunGroup; ended: number[] } {
    this.#seq += 1
    const ended = this.#ended.length < groupsToRemove ? [] : this.#ended.splice(0)
    return { group: { seq: this.#seq, left: calls }, ended }
  }

  get #worker(): string {
    return this.#holder?.id ?? this.#nobody
  }

  /** @returns undefined for calls that belong to others */
  async #mark(beginnings: Beginning[]): Promise<Array<BegunGroup | undefined>> {
    const current = this.#holder
    const calls = beginnings.filter(({ holder }) => holder === current).map(({ call }) => call)
    if (calls.length === 0) return beginnings.map(() => undefined)
    const { group, ended } = this.#newGroup(calls.length)
    const values = [this.#worker, group.seq, calls, ended, current?.listing ?? null]
    const { rowCount } = await this.#pool.query({ ...markBegun, values })
    return beginnings.map(({ holder }) => (rowCount === 0 || holder !== current ? undefined : group))
  }
}

/** The call was not made, and can be made by any other process. */
export class NotBegun extends Error {
  constructor(options?: ErrorOptions) {
    super('The call was not begun.', options)
  }
}

/** The call was not made, and belongs to another process. */
export class Renounced extends Error {
  constructor() {
    super('The worker was taken for dead, and others have its calls.')
  }
}
