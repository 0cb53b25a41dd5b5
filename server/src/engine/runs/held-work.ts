// Work in environments whose clock is held. What is to be done there, and what waits, is one list in `timers`; one process at a
// time takes it down, piece by piece in the order it came, and whatever a piece causes at once happens before the next. So the
// same happens each time, and as in a simulation.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { HeldMoment } from '../../db/core/held-clock.ts'
import { autoCommit, inTransaction, type Transaction } from '../../db/core/transaction.ts'
import type { Delivery } from '../../providers/delivery.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import { chanceFrom } from '../core/chance.ts'
import { HeldCircuits } from '../core/held-circuits.ts'
import { beforeWaits, EnvironmentGone, heldTime } from '../core/held-clocks.ts'
import { addHeldWork, findHeldWork, queueHeldWork, takeHeldWork } from '../core/held-statements.ts'
import type { Deliveries } from './deliver.ts'
import { fanOutHeld } from './fan-out.ts'
import type { RunKey, WatchedRun } from './load.ts'
import { lookAgain, tellHeld } from './posted-events.ts'
import { isEnded } from './run-state.ts'
import { type EngineParts, noteTriggered, startHeld } from './start-runs.ts'
import { atOnce, secondTimer } from './store.ts'
import { wakeTaken } from './timers.ts'

interface Parts extends EngineParts {
  /** For locks that last longer than a transaction. */
  sessions: pg.Pool
  deliveries: Pick<Deliveries, 'deliverAt'>
  delivery: Pick<Delivery, 'send'>
  /** The gate before every call, for another clock. */
  gateAt(clock: { now(): Date }): CallTools['gate']
}

/** Null members if nothing is to be done. */
interface PieceRow {
  clock_now: Date
  subject_id: string | null
  position: number
  kind: 'step' | 'unsnooze' | 'clicks' | 'start' | 'walk' | 'call' | 'event' | 'messages'
  subscriber_row_id: string | null
  /** Of a wait: whether another, or other runs, may follow, whose place in the order then depends on what it causes. */
  waits_again: boolean
  /** Whether calls depend on each other. */
  is_rough: boolean
}

type Piece = PieceRow & { subject_id: string }

/** Told of what happens. */
export interface Watching {
  waitsEnded(count: number): void
  attempted(): void
  changed(runs: WatchedRun[], now: Date): void
}

const nobodyWatches: Watching = {
  waitsEnded: () => undefined,
  attempted: () => undefined,
  changed: () => undefined,
}

/** Pieces done together; an integration takes no more calls at a time. */
const mostTogether = 50
/** Beyond any time of a clock. */
const forever = new Date('9999-01-01')
/** How often a lock is asked for again. */
const lookAgainMs = 20
/** Before the queue asks again while somebody works there. */
const laterSeconds = 1

/** Whoever has it works in the environment, and nobody else. */
export const workLock = (environmentId: string) => `work ${environmentId}`

export class HeldWork {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The queue's task: does what is to be done at once. Where somebody does it already, looks again later. */
  async work(environmentId: string, stopping?: AbortSignal): Promise<void> {
    const { pool, sessions } = this.#parts
    const locks = await SessionLocks.open(sessions)
    let isLeft = true
    try {
      if (await locks.take(workLock(environmentId)))
        for (const shift = this.begin(environmentId, locks); isLeft && !stopping?.aborted; ) isLeft = await shift.next()
    } catch (error) {
      if (!(error instanceof EnvironmentGone)) throw error
      isLeft = false
    } finally {
      await locks.release()
    }
    if (isLeft) await autoCommit(pool).run(queueHeldWork, [environmentId, laterSeconds])
  }

  /** For whoever has the lock. */
  begin(environmentId: string, locks: SessionLocks, watching = nobodyWatches): Shift {
    return new Shift(this.#parts, { environmentId, locks, watching })
  }
}

/** The work of one who has the lock. */
class Shift {
  readonly #parts: Parts
  readonly #of: { environmentId: string; locks: SessionLocks; watching: Watching }
  readonly #order: Order

  constructor(parts: Parts, of: { environmentId: string; locks: SessionLocks; watching: Watching }) {
    this.#parts = parts
    this.#of = of
    this.#order = new Order(of.watching.changed)
  }

  /**
   * Does the first thing that is to be done by the time the clock shows, and with it others that it has nothing to do with.
   * @returns false if there was nothing
   */
  async next(): Promise<boolean> {
    const { environmentId, locks } = this.#of
    locks.check()
    const rows = await autoCommit(this.#parts.pool).run<PieceRow>(findHeldWork, [environmentId, mostTogether])
    const [first] = rows
    if (!first) throw new EnvironmentGone()
    const pieces = together(rows.filter((row): row is Piece => row.subject_id !== null))
    if (first.kind === 'call') await this.#call(pieces)
    else {
      this.#order.flush()
      if (pieces.length === 0) return false
      this.#order.expect(pieces)
      await this.#inTransaction(pieces)
    }
    return true
  }

  /** Before it ends. */
  tellRest(): void {
    this.#order.flush()
  }

  /** Pieces of one kind; more than one if they are waits. */
  async #inTransaction(pieces: Piece[]): Promise<void> {
    const { pool, clock } = this.#parts
    const { environmentId, watching } = this.#of
    const [{ kind, subject_id, position }] = pieces as [Piece]
    const storing = { goesOn: true, watch: this.#order.changed }
    const started = await inTransaction(pool, async (transaction) => {
      const now = await heldTime(transaction, clock, environmentId)
      const taken = await take(transaction, environmentId, pieces, now)
      if (taken.length === 0) return undefined
      switch (kind) {
        case 'start':
          return { now, events: await startHeld(transaction, this.#parts, { environmentId, id: subject_id }, storing) }
        case 'walk':
          await this.#walk(transaction, { environmentId, eventId: subject_id, lane: position }, { now, ...storing })
          return undefined
        case 'event':
          await this.#tell(transaction, { environmentId, id: subject_id }, { now, ...storing })
          return undefined
        case 'messages':
          await lookAgain(transaction, this.#parts, { environmentId, ids: [subject_id] }, { now, ...storing })
          return undefined
        default: {
          // Ended before its time: nothing is left to wait for.
          const early = taken.filter((piece) => piece.position < 0)
          const own = early.map((piece) => ({ ...piece, position: secondTimer(piece.position) }))
          if (own.length > 0) await take(transaction, environmentId, own, forever)
          const timers = taken.map((piece) => ({
            ...piece,
            environment_id: environmentId,
            kind: kind as 'step' | 'unsnooze' | 'clicks',
          }))
          await wakeTaken(transaction, this.#parts, timers, now, storing)
          // A click is no wait of a run.
          if (kind !== 'clicks') transaction.afterCommit(() => watching.waitsEnded(taken.length))
          return undefined
        }
      }
    })
    if (started) await noteTriggered(this.#parts, started.events, started.now)
  }

  async #walk(
    transaction: Transaction,
    key: { environmentId: string; eventId: string; lane: number },
    storing: { now: Date; goesOn: boolean; watch: Watching['changed'] },
  ): Promise<void> {
    if (!(await fanOutHeld(transaction, this.#parts, key, storing))) return
    const { environmentId: environment_id, eventId: subject_id, lane: position } = key
    const rest = { environment_id, subject_id, position, due_at: beforeWaits, kind: 'walk', held: true }
    await transaction.run(addHeldWork, [JSON.stringify([rest])])
  }

  /** Tells some of those who wait of an event. */
  async #tell(
    transaction: Transaction,
    key: RunKey,
    storing: { now: Date; goesOn: boolean; watch: Watching['changed'] },
  ): Promise<void> {
    if (!(await tellHeld(transaction, this.#parts, key, storing))) return
    const rest = { environment_id: key.environmentId, subject_id: key.id, position: 0, due_at: storing.now }
    await transaction.run(addHeldWork, [JSON.stringify([{ ...rest, kind: 'event', held: true }])])
  }

  async #call(pieces: Piece[]): Promise<void> {
    const { pool, clock, memory, deliveries, delivery, gateAt } = this.#parts
    const { environmentId, watching } = this.#of
    const [{ clock_now: shown }] = pieces as [Piece]
    const now = new HeldMoment(shown, clock.now())
    const seed = (await memory.recall(environmentId))?.facts.clock?.seed
    if (seed === undefined) throw new EnvironmentGone()
    const held = { now: () => now }
    const circuits = await HeldCircuits.read(autoCommit(pool), environmentId, now)
    const send: Delivery['send'] = (...given) => {
      watching.attempted()
      return delivery.send(...given)
    }
    const tools = { clock: held, chance: chanceFrom(seed), circuits, gate: gateAt(held), delivery: { send } }
    await deliveries.deliverAt(
      pieces.map(({ subject_id: id, position }) => ({ environmentId, id, position })),
      { now, tools },
      {
        takeOff: async (transaction) => {
          const at = await heldTime(transaction, clock, environmentId)
          await circuits.write(transaction)
          await take(transaction, environmentId, pieces, at)
          return at
        },
        putBack: async (transaction, calls) => {
          const rows = calls.map(({ id, position }) => ({
            ...{ environment_id: environmentId, subject_id: id, position, due_at: atOnce, kind: 'call', held: true },
          }))
          await transaction.run(addHeldWork, [JSON.stringify(rows)])
        },
      },
      this.#order.changed,
    )
  }
}

/** Takes pieces of one kind off the list. @returns those that were on it, in their order */
async function take(transaction: Transaction, environmentId: string, pieces: Piece[], until: Date): Promise<Piece[]> {
  const rows = await transaction.run<Pick<Piece, 'subject_id' | 'position'>>(takeHeldWork, [
    environmentId,
    pieces.map(({ subject_id }) => subject_id),
    pieces.map(({ position }) => position),
    pieces[0]?.kind,
    until,
  ])
  const taken = new Set(rows.map(({ subject_id, position }) => `${subject_id} ${position}`))
  return pieces.filter(({ subject_id, position }) => taken.has(`${subject_id} ${position}`))
}

/**
 * The first of these, and those right behind it of the same kind that it has nothing to do with: waits and calls of other
 * subscribers, as long as no call can fail.
 */
function together(pieces: Piece[]): Piece[] {
  const [first] = pieces
  const isAlone = !first || first.is_rough || first.waits_again
  if (isAlone || (first.kind !== 'step' && first.kind !== 'call')) return pieces.slice(0, 1)
  const subscribers = new Set<string | null>()
  const end = pieces.findIndex(({ kind, subscriber_row_id: subscriber, waits_again }) => {
    const isApart = kind !== first.kind || subscriber === null || subscribers.has(subscriber) || waits_again
    subscribers.add(subscriber)
    return isApart
  })
  return pieces.slice(0, end < 0 ? undefined : Math.max(end, 1))
}

/** Tells of waits that ended together one after the other, each with what it caused. */
class Order {
  readonly #tell: Watching['changed']
  #places: Map<string, number> | undefined
  #kept: Array<{ run: WatchedRun; now: Date }> = []

  constructor(tell: Watching['changed']) {
    this.#tell = tell
  }

  /** These are next. */
  expect(pieces: Piece[]): void {
    if (pieces.length > 1) this.#places = new Map(pieces.map(({ subject_id }, place) => [subject_id, place]))
  }

  changed = (runs: WatchedRun[], now: Date): void => {
    if (this.#places) this.#kept.push(...runs.map((run) => ({ run, now })))
    else this.#tell(runs, now)
  }

  flush(): void {
    const places = this.#places
    if (!places) return
    const placeOf = ({ run }: { run: WatchedRun }) => places.get(run.id) ?? places.size
    for (const { run, now } of this.#kept.sort((a, b) => placeOf(a) - placeOf(b))) this.#tell([run], now)
    this.#kept = []
    this.#places = undefined
  }
}

/** Locks of a session of its own: they go with the process, and with the connection. */
export class SessionLocks {
  readonly #client: pg.PoolClient
  #isLost = false

  private constructor(client: pg.PoolClient) {
    this.#client = client
    client.once('error', this.#lose)
  }

  static async open(pool: pg.Pool): Promise<SessionLocks> {
    return new SessionLocks(await pool.connect())
  }

  /** @param patienceMs how long to wait for it @returns whether it was taken */
  async take(name: string, patienceMs = 0): Promise<boolean> {
    for (const until = performance.now() + patienceMs; ; await sleep(lookAgainMs)) {
      const { rows } = await this.#client.query<{ taken: boolean }>(
        'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken',
        [name],
      )
      if (rows[0]?.taken) return true
      if (performance.now() >= until) return false
    }
  }

  readonly #lose = () => {
    this.#isLost = true
  }

  /** Throws if they were lost: another may have them. */
  check(): void {
    if (this.#isLost) throw new Error('The connection that held a lock was lost.')
  }

  async release(): Promise<void> {
    this.#client.off('error', this.#lose)
    try {
      await this.#client.query('SELECT pg_advisory_unlock_all()')
      this.#client.release()
    } catch {
      // Closing the connection releases them too.
      this.#client.release(true)
    }
  }
}

/** The steps of these runs that have just ended. */
export const endedSteps = (runs: WatchedRun[]) =>
  runs.flatMap((run) => run.jobs.filter((job) => job.isChanged && isEnded(job)).map((job) => ({ run, job })))
