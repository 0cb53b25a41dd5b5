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

/** Removed with the next group, once there are this many: a statement for each would cost more than it frees. */
const groupsToRemove = 32

/** The name of a call: a step's later attempt is another call. */
export const callName = ({ id, attempts }: Pick<JobState, 'id' | 'attempts'>): string => `${id} ${attempts}`

/** The worker that calls are taken for. */
export interface Holder {
  id: string
  /** It was taken for dead: others have the calls that it took. */
  isRenounced: boolean
}

export class BegunCalls {
  readonly #pool: pg.Pool
  readonly #marks: GroupCommit<string, BegunGroup>
  #holder: Holder | undefined
  /** Until a worker runs, a name that nobody looks for. */
  readonly #nobody = randomUUID()
  #seq = 0
  #ended: number[] = []
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

  open(workerId: string): void {
    this.#holder = { id: workerId, isRenounced: false }
    this.#isStopping = false
  }

  /** The worker was taken for dead, and is back: of the calls taken before, it must begin none. */
  renounce(): void {
    if (!this.#holder) return
    this.#holder.isRenounced = true
    this.#holder = { id: this.#holder.id, isRenounced: false }
  }

  /** From now on no call begins: `begin` rejects with `NotBegun`. */
  stop(): void {
    this.#isStopping = true
  }

  /** Written down when this resolves; the request may go out. */
  async begin(call: string, holder: Holder | undefined): Promise<BegunGroup> {
    if (holder?.isRenounced) throw new Renounced()
    if (this.#isStopping) throw new NotBegun()
    try {
      return await untilReachable(() => this.#marks.add(call))
    } catch (cause) {
      if (cause instanceof Renounced) throw cause
      throw new NotBegun({ cause })
    }
  }

  /** A group that the caller writes down itself, with the ended ones to remove. */
  newGroup(calls: number): { group: BegunGroup; ended: number[] } {
    this.#seq += 1
    const ended = this.#ended.length < groupsToRemove ? [] : this.#ended.splice(0)
    return { group: { seq: this.#seq, left: calls }, ended }
  }

  /** One call of the group has ended, and its result is stored. */
  end(group: BegunGroup): void {
    group.left -= 1
    if (group.left === 0) this.#ended.push(group.seq)
  }

  async #mark(calls: string[]): Promise<BegunGroup[]> {
    const { group, ended } = this.newGroup(calls.length)
    const id = this.#holder?.id
    const values = [id ?? this.#nobody, group.seq, calls, ended, id ?? null]
    const { rowCount } = await this.#pool.query({ ...markBegun, values })
    if (rowCount === 0) throw new Renounced()
    return calls.map(() => group)
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
