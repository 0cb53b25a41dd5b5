// Which calls have really begun. A process takes more calls than it makes at a time; when it dies, those that were only waiting
// for a slot are simply made by another, and only those written down here may have arrived.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { isOutage } from '../../db/core/database.ts'
import type { Beginning } from '../../steps/contract/step-run.ts'
import { markBegun } from '../core/call-statements.ts'
import { GroupCommit } from '../core/group-commit.ts'
import { untilReachable } from '../core/patience.ts'
import type { JobState } from './run-state.ts'

/** Calls written down together, removed together. */
export interface BegunGroup {
  seq: number
  /** Calls that have not ended. */
  left: number
}

/**
 * While fewer are in flight, every integration has a free slot (steps/delivery/circuit-breaker.ts): the transaction that takes a
 * call then also writes it down as begun. Calls beyond that wait for slots of their own, and are written down in groups when they
 * get one.
 */
const mostBegunAtOnce = 64
/** Removed with the next group, once there are this many: a statement for each would cost more than it frees. */
const groupsToRemove = 32

/** The name of a call: a step's later attempt is another call. */
export const callName = ({ id, attempts }: Pick<JobState, 'id' | 'attempts'>): string => `${id} ${attempts}`

/** The worker that calls are taken for. One that was taken for dead and is back is another holder: others have its calls. */
export interface Holder {
  id: string
  /** Its row in the list of live workers, which no later row of the same worker equals (`isListed` in call-statements.ts). */
  listing: string
}

/** Calls to be written down by `mark_begun`. */
interface Marks {
  /** Its parameters. */
  values: [worker: string, seq: number, calls: string[], ended: number[], listing: string | null]
  /** To be called once it has returned true. */
  written(): void
}

/** A call that `deliver.ts` or `hands.ts` has taken. */
interface TakenCall {
  holder?: Holder | undefined
  group?: BegunGroup | undefined
}

export class BegunCalls {
  readonly #pool: pg.Pool
  readonly #marks: GroupCommit<CallBeginning, undefined>
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

  /** @param name see `callName` */
  beginningOf(call: TakenCall, name: string): CallBeginning {
    return new CallBeginning(this, call, name)
  }

  /** With a statement of its own. Rejects if the request must not go out now. */
  async begin(beginning: CallBeginning): Promise<void> {
    this.check(beginning)
    try {
      await untilReachable(() => this.#marks.add(beginning))
    } catch (cause) {
      throw this.refusal(cause)
    }
    if (!beginning.isWritten) throw this.refusal()
  }

  /** Throws if this call must not begin. */
  check(beginning: Beginning): void {
    if (beginning.isWritten || !(beginning instanceof CallBeginning)) return
    if (beginning.call.holder !== this.#holder) throw new Renounced()
    if (this.#isStopping) throw new NotBegun()
  }

  /** Why a call does not begin: it could not be written down for this reason, or without one, others have it. */
  refusal(cause?: unknown): Error {
    return cause === undefined ? new Renounced() : new NotBegun({ cause })
  }

  /** For a statement that writes down those of these calls that are not yet; undefined if there are none. */
  marksFor(beginnings: Beginning[]): Marks | undefined {
    const holder = this.#holder
    // A step with several destinations is one call.
    const own = [...new Set(beginnings)].filter(
      (each): each is CallBeginning => each instanceof CallBeginning && !each.isWritten && each.call.holder === holder,
    )
    if (own.length === 0) return undefined
    const { group, ended } = this.#newGroup(own.length)
    return {
      values: [this.#worker, group.seq, own.map(({ name }) => name), ended, holder?.listing ?? null],
      written: () => {
        for (const { call } of own) call.group = group
      },
    }
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

  async #mark(beginnings: CallBeginning[]): Promise<undefined[]> {
    const marks = this.marksFor(beginnings)
    if (marks) {
      const { rows } = await this.#pool.query<{ mark_begun: boolean }>({ ...markBegun, values: marks.values })
      if (rows[0]?.mark_begun) marks.written()
    }
    return beginnings.map(() => undefined)
  }
}

class CallBeginning implements Beginning {
  readonly call: TakenCall
  readonly name: string
  readonly #begunCalls: BegunCalls
  #writing: Promise<void> | undefined

  constructor(begunCalls: BegunCalls, call: TakenCall, name: string) {
    this.#begunCalls = begunCalls
    this.call = call
    this.name = name
  }

  get isWritten(): boolean {
    return this.call.group !== undefined
  }

  async begin(): Promise<void> {
    if (this.isWritten) return
    this.#writing ??= this.#begunCalls.begin(this)
    await this.#writing
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
