// The faults. Each lasts until it is over, repairs what it broke, and says what it did.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Database } from './database.ts'
import type { Fault, FaultKind } from './plan.ts'
import type { Fleet, Place } from './processes.ts'
import type { Provider } from './provider.ts'

export interface World {
  fleet: Fleet
  database: Database
  provider: Provider
}

/** How long a fault waits for its moment. */
const patienceMs = 12_000
/** Megabytes of heap: enough to start and idle, too little for a burst of large payloads. */
const littleMemory = 56

const one = (places: Place[], { which }: Fault): Place => places[Math.floor(which * places.length)] as Place

export interface Played {
  /** What was done, in a few words; or why it was not. */
  what: string
  isDone: boolean
}

type Play = (world: World, fault: Fault) => Promise<Played>

const done = (what: string): Played => ({ what, isDone: true })
const missed = (what: string): Played => ({ what, isDone: false })

/** Engine statements at which processes are killed: the end of a call, and the acceptance of triggers. */
export const statements = { endOfCall: 'end_calls', holding: 'hold_runs', accepting: 'accept_triggers' }

const plays: Record<FaultKind, Play> = {
  async 'kill a worker'({ fleet }, fault) {
    const place = one(fleet.workers, fault)
    place.kill(fault.forMs)
    await sleep(fault.forMs)
    return done(place.name)
  },

  async 'kill an API process'({ fleet }, fault) {
    const place = one(fleet.takers, fault)
    place.kill(fault.forMs)
    await sleep(fault.forMs)
    return done(place.name)
  },

  async 'kill between two statements'({ fleet }, fault) {
    const place = one(fleet.places, fault)
    const { statements: after, side } = fault
    const isMet = await ambush(place, { after, side }, fault.forMs)
    return { what: `${place.name}, ${side} statement ${after + 1}`, isDone: isMet }
  },

  async 'kill after a call, before its record'({ fleet }, fault) {
    // A call's result is stored by one of these two statements.
    const statement = fault.which < 0.7 ? statements.endOfCall : statements.holding
    const met = await Promise.any(
      fleet.workers.map(async (place) => {
        const isMet = await ambush(place, { statement, after: 0, side: 'before' }, fault.forMs)
        if (!isMet) throw new Error('the statement did not come in time')
        return place.name
      }),
    ).catch(() => undefined)
    for (const { link } of fleet.workers) link.lie(undefined)
    return { what: `${met ?? 'nobody'}, at ${statement}`, isDone: met !== undefined }
  },

  async 'kill during a call'({ fleet, provider }, fault) {
    const isMet = await moment((found) => {
      provider.onNext = () => {
        for (const place of fleet.workers) place.kill(fault.forMs)
        found()
      }
    })
    provider.onNext = undefined
    await sleep(isMet ? fault.forMs : 0)
    return isMet ? done('all workers') : missed('nobody was called')
  },

  async 'kill after a commit, before its answer'({ fleet }, fault) {
    const place = one(fleet.takers, fault)
    // A process that also starts runs has a separate COMMIT.
    const statement = place.role === 'api' ? statements.accepting : 'COMMIT'
    const isMet = await ambush(place, { statement, after: 0, side: 'after' }, fault.forMs)
    return { what: `${place.name}, at ${statement}`, isDone: isMet }
  },

  async 'restart PostgreSQL'({ database }) {
    await database.restart()
    return done('fast')
  },

  async 'kill PostgreSQL'({ database }, { forMs }) {
    await database.kill(forMs)
    return done(`away for ${forMs} ms`)
  },

  async 'cut connections'({ fleet }, fault) {
    const place = one(fleet.places, fault)
    return done(`${place.link.cut()} of ${place.name}`)
  },

  async 'end sessions'({ database }, { which }) {
    const rows = await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'chaos'
       ORDER BY pid LIMIT (SELECT ceil(count(*) * $1::float8) FROM pg_stat_activity)`,
      [which],
    )
    return done(String(rows.length))
  },

  async 'silence connections'({ fleet }, fault) {
    const place = one(fleet.places, fault)
    place.link.silence(true)
    await sleep(fault.forMs * 2)
    if (fault.side === 'before') place.link.cut()
    place.link.silence(false)
    return done(`${place.name} for ${fault.forMs * 2} ms${fault.side === 'before' ? ', then cut' : ''}`)
  },

  /** With its connections cut, other processes take it for dead, yet it continues. */
  async 'pause a process'({ fleet }, fault) {
    const place = one(fleet.places, fault)
    place.signal('SIGSTOP')
    const isCut = fault.side === 'before'
    if (isCut) place.link.cut()
    await sleep(isCut ? 9_000 : fault.forMs)
    place.signal('SIGCONT')
    return done(`${place.name}${isCut ? ', with its connections cut' : ` for ${fault.forMs} ms`}`)
  },

  async 'fill the disk'({ database }, { forMs }) {
    if (!database.isBounded) return missed('mounting a disk is not permitted')
    const bytes = database.fill()
    await sleep(forMs + 2_000)
    await database.free()
    return done(`with ${Math.round(bytes / 1e6)} MB, for ${forMs + 2_000} ms`)
  },

  async 'step the clocks'({ fleet }, { hours }) {
    fleet.setClock(fleet.offsetMs + hours * 3_600_000)
    return done(`by ${hours > 0 ? '+' : ''}${hours} h`)
  },

  async 'bad weather at the provider'({ provider }, { weather, forMs }) {
    provider.weather = weather
    await sleep(forMs * 2)
    provider.weather = undefined
    return done(`${weather} for ${forMs * 2} ms`)
  },

  async 'take locks in the wrong order'({ database }, { forMs }) {
    const until = Date.now() + forMs * 2
    const sessions = lockOrders.map((order) => disturb(database, order, until))
    const met = (await Promise.all(sessions)).reduce((sum, count) => sum + count, 0)
    return done(`for ${forMs * 2} ms; ${met} times the disturbing session was the deadlock victim`)
  },

  async 'make transactions serializable'({ database }, { forMs }) {
    await isolation(database, "SET default_transaction_isolation = 'serializable'")
    await sleep(forMs * 2)
    await isolation(database, 'RESET default_transaction_isolation')
    return done(`for ${forMs * 2} ms`)
  },

  async 'leave little memory'({ fleet }, fault) {
    const place = one(fleet.places, fault)
    place.limitMemory(littleMemory)
    place.kill()
    await sleep(fault.forMs * 2)
    place.limitMemory(undefined)
    place.kill()
    return done(`${place.name} with ${littleMemory} MB for ${fault.forMs * 2} ms`)
  },
}

export const play = (world: World, fault: Fault): Promise<Played> => plays[fault.kind](world, fault)

/** Kills a process at one of its statements. @returns whether the statement came in time */
async function ambush(
  place: Place,
  at: { statement?: string; after: number; side: 'before' | 'after' },
  downMs: number,
): Promise<boolean> {
  const isMet = await moment((found) =>
    place.link.lie({
      ...at,
      spring: () => {
        place.kill(downMs)
        found()
      },
    }),
  )
  if (!isMet) place.link.lie(undefined)
  return isMet
}

/** Whether the awaited moment came in time. */
function moment(arm: (found: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => resolve(false), patienceMs)
    arm(() => {
      clearTimeout(patience)
      resolve(true)
    })
  })
}

/** The engine locks triggers, then timers, runs, digest windows and counters. These sessions lock in the opposite order. */
const lockOrders = [
  ['digests', 'notifications', 'timers'],
  ['throttles', 'notifications', 'events'],
  ['notifications', 'timers', 'events'],
]
const rowsOf: Record<string, string> = {
  notifications: `SELECT FROM notifications WHERE status = 'processing' ORDER BY id DESC LIMIT 5 FOR UPDATE`,
  events: 'SELECT FROM events ORDER BY id DESC LIMIT 5 FOR UPDATE',
  timers: 'SELECT FROM timers ORDER BY due_at DESC LIMIT 5 FOR UPDATE',
  digests: 'SELECT FROM digests ORDER BY seen_at DESC LIMIT 5 FOR UPDATE',
  throttles: 'SELECT FROM throttles ORDER BY started_at DESC LIMIT 5 FOR UPDATE',
}

/** @returns how many times this session was the deadlock victim */
async function disturb(database: Database, order: string[], until: number): Promise<number> {
  let lost = 0
  let session: pg.Client | undefined
  while (Date.now() < until) {
    try {
      session ??= await database.connect()
      await session.query('BEGIN')
      // Longer, so that the other side detects the deadlock first.
      await session.query("SET LOCAL deadlock_timeout = '2s'")
      for (const table of order) {
        await session.query(rowsOf[table] ?? '')
        await sleep(100)
      }
      await session.query('ROLLBACK')
    } catch {
      lost += 1
      await session?.end().catch(() => undefined)
      session = undefined
      await sleep(100)
    }
  }
  await session?.end().catch(() => undefined)
  return lost
}

/** For new sessions; existing ones are ended. */
async function isolation(database: Database, change: string): Promise<void> {
  await database.query(`ALTER DATABASE belfry ${change}`)
  await database.query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name <> 'chaos'`)
}
