// The clock of an environment for tests: reading, setting and advancing it. An advance goes from one wait that ends to the next,
// and does everything that is due before it goes on. Each step is committed, so a crash leaves a clock that shows how far it came.
import type pg from 'pg'
import { actsLock } from '../../db/core/held-clock.ts'
import { autoCommit, inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import { EnvironmentGone } from '../core/held-clocks.ts'
import {
  countHeldWaits,
  findHeldWait,
  findHeldWork,
  lockClock,
  queueHeldWork,
  setClock,
} from '../core/held-statements.ts'
import { endedSteps, type HeldWork, SessionLocks, type Watching, workLock } from './held-work.ts'
import type { WatchedRun } from './load.ts'

/** How long one call works. Then it says how far it came. */
const mostMs = 60_000
/** Clocks that a process moves at a time: fewer than there are sessions, which work that is due at once needs, too. */
const mostMoving = 8
/** Steps told of one by one. */
const mostEvents = 1_000
const longestMs = 366 * 86_400_000
const [earliest, latest] = [Date.UTC(2000, 0, 1), Date.UTC(2100, 0, 1)]

export interface ClockShown {
  now: Date
  seed: number
  waiting: { count: number; next: Date | null }
  advancingTo: Date | null
}

/** Where to: so far from now, to a moment, or to the next wait that ends. */
export type Target = { by: number } | { to: Date } | 'next'

export interface Advanced {
  from: Date
  now: Date
  reached: boolean
  moments: number
  waitsEnded: number
  runsEnded: number
  attempts: number
  messages: Record<string, number>
  reasons: Record<string, number>
  /** Whether more steps have ended than `events` has. */
  hasMore: boolean
  waiting: ClockShown['waiting']
  events: EndedStep[]
}

interface EndedStep {
  at: Date
  transactionId: string
  subscriberId: string
  workflowId: string
  stepId: string
  status: string
  reason: string | null
}

/** Why a clock stays as it is. */
export type ClockRefusal =
  | { code: 'clock_not_held' | 'clock_started' | 'clock_out_of_range' }
  | { code: 'clock_moving'; to: Date }
  | { code: 'clock_backwards'; now: Date }

export class ClockRefused extends Error {
  readonly refusal: ClockRefusal

  constructor(refusal: ClockRefusal) {
    super(refusal.code)
    this.refusal = refusal
  }
}

interface Parts {
  pool: pg.Pool
  /** For locks that last longer than a transaction. */
  sessions: pg.Pool
  work: HeldWork
}

interface ClockRow {
  clock_now: Date
  clock_seed: number
  clock_target: Date | null
  is_moving: boolean
}

/** The lock is asked for itself: a process that died has left its target behind. */
const readClock = statement(
  'read_clock',
  `SELECT clock_now, clock_seed, clock_target, EXISTS (
     SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
     WHERE l.locktype = 'advisory' AND l.objsubid = 1
       AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended($2, 0)) AS is_moving
   FROM environments WHERE id = $1 AND clock_now IS NOT NULL`,
)
const noteTarget = statement('note_clock_target', 'UPDATE environments SET clock_target = $2 WHERE id = $1')
const findTriggered = statement(
  'find_triggered',
  `SELECT WHERE EXISTS (SELECT FROM events WHERE environment_id = $1)
     OR EXISTS (SELECT FROM notifications WHERE environment_id = $1)`,
)
/** First, and without any other lock: those who hold it with others may wait for ours. */
const lockActs = statement('lock_acts', 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))')

const movingLock = (environmentId: string) => `advance ${environmentId}`

/** Whether a held clock can show it. */
export const isShowable = (moment: Date): boolean => moment.getTime() >= earliest && moment.getTime() <= latest

/** First come, first served. */
class Turns {
  #free: number
  readonly #waiting: Array<() => void> = []

  constructor(places: number) {
    this.#free = places
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  giveBack(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}

export class Clocks {
  readonly #parts: Parts
  readonly #turns = new Turns(mostMoving)

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Undefined where the clock is not held. */
  async read(environmentId: string): Promise<ClockShown | undefined> {
    const row = await this.#row(environmentId)
    if (!row) return undefined
    return {
      ...{ now: row.clock_now, seed: row.clock_seed, waiting: await this.#waiting(environmentId) },
      advancingTo: row.is_moving ? row.clock_target : null,
    }
  }

  /** Sets it forwards or back, as long as no trigger was taken. */
  async set(environmentId: string, to: Date): Promise<void> {
    await this.#inTurn(environmentId, async () => {
      if (!isShowable(to)) throw new ClockRefused({ code: 'clock_out_of_range' })
      await this.#moving(environmentId, async (transaction) => {
        if ((await transaction.run(findTriggered, [environmentId])).length > 0)
          throw new ClockRefused({ code: 'clock_started' })
        await transaction.run(setClock, [environmentId, to])
      })
    })
  }

  /** Resolves once everything up to then has happened, or after a minute. @param gone when nobody waits for it any more */
  async advance(environmentId: string, target: Target, gone?: AbortSignal): Promise<Advanced> {
    return this.#inTurn(environmentId, (locks) =>
      new Advance(this.#parts, environmentId, (work) => this.#moving(environmentId, work)).make(target, {
        ...{ locks, gone },
        waiting: () => this.#waiting(environmentId),
      }),
    )
  }

  /** With the right to move the clock. */
  async #inTurn<T>(environmentId: string, work: (locks: SessionLocks) => Promise<T>): Promise<T> {
    const row = await this.#row(environmentId)
    if (!row) throw new ClockRefused({ code: 'clock_not_held' })
    // Somebody who is refused anyway does not wait for a turn.
    if (row.is_moving) throw new ClockRefused({ code: 'clock_moving', to: row.clock_target ?? row.clock_now })
    await this.#turns.take()
    try {
      const locks = await SessionLocks.open(this.#parts.sessions)
      try {
        await this.#take(environmentId, row, locks)
        return await work(locks)
      } finally {
        await locks.release()
      }
    } finally {
      this.#turns.giveBack()
    }
  }

  async #row(environmentId: string): Promise<ClockRow | undefined> {
    const values = [environmentId, movingLock(environmentId)]
    const [row] = await autoCommit(this.#parts.pool).run<ClockRow>(readClock, values)
    return row
  }

  async #waiting(environmentId: string): Promise<ClockShown['waiting']> {
    const [row] = await autoCommit(this.#parts.pool).run<ClockShown['waiting']>(countHeldWaits, [environmentId])
    return { count: row?.count ?? 0, next: row?.next ?? null }
  }

  /** The right to move the clock. */
  async #take(environmentId: string, row: ClockRow, locks: SessionLocks): Promise<void> {
    if (await locks.take(movingLock(environmentId))) return
    const { clock_target = null, clock_now = row.clock_now } = (await this.#row(environmentId)) ?? {}
    throw new ClockRefused({ code: 'clock_moving', to: clock_target ?? clock_now })
  }

  /** Once everybody who acts at the time it shows has ended. */
  #moving<T>(environmentId: string, work: (transaction: Transaction, now: Date) => Promise<T>): Promise<T> {
    return inTransaction(this.#parts.pool, async (transaction) => {
      await transaction.run(lockActs, [actsLock(environmentId)])
      const [row] = await transaction.run<Pick<ClockRow, 'clock_now'>>(lockClock, [environmentId])
      if (!row) throw new EnvironmentGone()
      return work(transaction, row.clock_now)
    })
  }
}

type Moving = <T>(work: (transaction: Transaction, now: Date) => Promise<T>) => Promise<T>

interface Surroundings {
  locks: SessionLocks
  gone: AbortSignal | undefined
  waiting(): Promise<ClockShown['waiting']>
}

/** One advance. */
class Advance implements Watching {
  readonly #parts: Parts
  readonly #environmentId: string
  readonly #moving: Moving
  readonly #until = performance.now() + mostMs
  readonly #told: Omit<Advanced, 'from' | 'now' | 'reached' | 'waiting'> = {
    ...{ moments: 0, waitsEnded: 0, runsEnded: 0, attempts: 0, hasMore: false },
    ...{ messages: {}, reasons: {}, events: [] },
  }

  constructor(parts: Parts, environmentId: string, moving: Moving) {
    this.#parts = parts
    this.#environmentId = environmentId
    this.#moving = moving
  }

  async make(target: Target, { locks, gone, waiting }: Surroundings): Promise<Advanced> {
    const { pool, work } = this.#parts
    const environmentId = this.#environmentId
    const { from, to } = await this.#moving(async (transaction, now) => {
      const wanted = target === 'next' ? undefined : aimOf(target, now)
      await transaction.run(noteTarget, [environmentId, wanted ?? now])
      // If this process dies, another finishes what is due.
      await transaction.run(queueHeldWork, [environmentId, 1])
      return { from: now, to: wanted }
    })
    const isAlone = await locks.take(workLock(environmentId), mostMs)
    const shift = work.begin(environmentId, locks, this)
    let [aim, reached] = [to, false]
    try {
      const isOver = () => performance.now() > this.#until || gone?.aborted === true
      while (isAlone && !reached && !isOver()) {
        if (await shift.next()) continue
        const moved = await this.#moving((transaction, now) => this.#move(transaction, now, aim))
        if (moved === 'busy') continue
        aim = moved.aim
        reached = moved.isThere
      }
    } finally {
      shift.tellRest()
      await autoCommit(pool).run(noteTarget, [environmentId, null])
    }
    const [row] = await autoCommit(pool).run<{ clock_now: Date }>(readClock, [environmentId, ''])
    if (!row) throw new EnvironmentGone()
    return { from, now: row.clock_now, reached, ...this.#told, waiting: await waiting() }
  }

  /** To the next wait that ends, or to the end. Not while anything is to be done, which may have come meanwhile. */
  async #move(
    transaction: Transaction,
    now: Date,
    aim: Date | undefined,
  ): Promise<'busy' | { aim: Date; isThere: boolean }> {
    const environmentId = this.#environmentId
    const [piece] = await transaction.run<{ subject_id: string | null }>(findHeldWork, [environmentId, 1])
    if (piece?.subject_id !== null) return 'busy'
    const [next] = await transaction.run<{ due_at: Date }>(findHeldWait, [environmentId])
    const to = aim ?? next?.due_at ?? now
    const isWait = next !== undefined && next.due_at <= to
    const at = isWait ? next.due_at : to
    if (at > now) {
      await transaction.run(setClock, [environmentId, at])
      if (aim === undefined) await transaction.run(noteTarget, [environmentId, to])
    }
    if (isWait)
      transaction.afterCommit(() => {
        this.#told.moments += 1
      })
    return { aim: to, isThere: !isWait }
  }

  waitsEnded = (count: number): void => {
    this.#told.waitsEnded += count
  }

  attempted = (): void => {
    this.#told.attempts += 1
  }

  changed = (runs: WatchedRun[], at: Date): void => {
    const { messages, reasons, events } = this.#told
    for (const { status, jobs, effects } of runs) {
      if (status !== 'processing' && jobs.some(({ isChanged }) => isChanged)) this.#told.runsEnded += 1
      for (const { status: sent, channel } of effects.messages)
        if (sent === 'sent') messages[channel] = (messages[channel] ?? 0) + 1
    }
    for (const { run, job } of endedSteps(runs)) {
      if (job.reason !== null) reasons[job.reason] = (reasons[job.reason] ?? 0) + 1
      if (events.length === mostEvents) this.#told.hasMore = true
      else
        events.push({
          ...{ at, transactionId: run.transactionId, subscriberId: run.subscriber.subscriber_id },
          ...{ workflowId: run.workflow.identifier, stepId: job.step.stepId, status: job.status, reason: job.reason },
        })
    }
  }
}

/** Where an advance ends. */
function aimOf(target: Exclude<Target, 'next'>, now: Date): Date {
  const to = 'by' in target ? new Date(now.getTime() + target.by) : target.to
  if (to < now) throw new ClockRefused({ code: 'clock_backwards', now })
  if (!isShowable(to) || to.getTime() - now.getTime() > longestMs)
    throw new ClockRefused({ code: 'clock_out_of_range' })
  return to
}
