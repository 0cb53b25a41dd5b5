// Shows other workers that this one is alive, by a database lock tied to its connection, and releases the jobs of dead workers.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { detail } from '../../steps/contract/outcome.ts'
import { freeJobs, listingOf, recoverCalls, takenCalls } from '../core/call-statements.ts'
import type { CallKey } from '../runs/deliver.ts'
import { storedLine } from '../runs/run-state.ts'
import { untilBeat } from './alarm.ts'

export interface Pace {
  /** Between two polls of the others. Each poll also checks our own connection. */
  lookMs: number
  /**
   * How long a lock must be free before its worker counts as dead: time for a live one, whose connection broke or whose
   * database moved, to take it again.
   */
  graceMs: number
}

/** With one poll before and one after, a death is noticed within 10 s. */
const usualPace: Pace = { lookMs: 2_000, graceMs: 6_000 }
const longestRetryMs = 1_000
const connectTimeoutMs = 3_000
const answerTimeoutMs = 5_000
const leavePatienceMs = 3_000

// A machine that vanishes closes no connection; without these, PostgreSQL would notice after two hours.
const sessionSettings = `
  SET tcp_keepalives_idle = 3; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
  SET statement_timeout = ${answerTimeoutMs}`

const keyOf = (parameter: string) => `hashtextextended(${parameter}, 0)`

interface Surroundings {
  url: string
  log: Logger
  pace?: Pace
  /** Called when this worker is listed: at first, and again after it was taken for dead. Its new row is passed. */
  onListed?: (listing: string) => void
}

/** For one pool of the queue's library; its jobs are locked with the pool's id. */
export class Presence {
  readonly #url: string
  readonly #log: Logger
  readonly #pace: Pace
  readonly #onListed: (listing: string) => void
  readonly #leaving = new AbortController()
  /** Since when each other worker has been without its lock, as seen from here. */
  readonly #suspects = new Map<string, number>()
  readonly #gate = new Gate()
  #life: Promise<void> | undefined
  /** Its row, once it was told of it. */
  #listing: string | undefined
  #isShuttingDown = false

  constructor({ url, log, pace = usualPace, onListed = () => undefined }: Surroundings) {
    this.#url = url
    this.#onListed = onListed
    this.#log = log
    this.#pace = pace
  }

  /** Returns at once; the gate stays closed until the lock is held. */
  enter(poolId: string): void {
    this.#life = this.#live(poolId)
  }

  /**
   * No job may be taken before this resolves: while our lock is lost, others may take us for dead and run again what we take
   * now. Undefined if there is nothing to wait for, which is nearly always.
   */
  untilShown(): Promise<void> | undefined {
    return this.#gate.whenOpen
  }

  /** For a pool that is shutting down: it takes no jobs, but must pass the gate to notice that. */
  letPass(): void {
    this.#isShuttingDown = true
    this.#gate.open()
  }

  /** Once the pool has ended. Releases jobs whose end it could not record; if that takes too long, other workers will. */
  async leave(): Promise<void> {
    this.letPass()
    this.#leaving.abort()
    await Promise.race([this.#life, sleep(leavePatienceMs, undefined, { ref: false })])
  }

  async #live(poolId: string): Promise<void> {
    const leaving = this.#leaving.signal
    for (let attempt = 1; !leaving.aborted; attempt += 1) {
      try {
        await this.#stay(poolId)
        attempt = 0
      } catch (error) {
        this.#log.warn({ err: error }, 'lost the connection that shows this worker is alive; reconnecting')
      }
      await pause(Math.min(longestRetryMs, 50 * 2 ** attempt), leaving)
    }
  }

  /** Until we leave or the connection is lost; rejects if the database does not answer. */
  async #stay(poolId: string): Promise<void> {
    const lost = new AbortController()
    const client = this.#newClient()
    client.once('end', () => lost.abort())
    client.on('error', () => lost.abort())
    const over = AbortSignal.any([lost.signal, this.#leaving.signal])
    try {
      await client.connect()
      await client.query(sessionSettings)
      // Waits until the server has noticed that our last connection is gone.
      await client.query(`SELECT pg_advisory_lock(${keyOf('$1')})`, [poolId])
      await client.query('INSERT INTO workers VALUES ($1) ON CONFLICT DO NOTHING', [poolId])
      // Read back, because the answer to an earlier insert may have been lost with its connection.
      const { rows } = await client.query<{ listing: string }>(
        `SELECT ${listingOf('w')} AS listing FROM workers w WHERE pool_id = $1`,
        [poolId],
      )
      const listing = rows[0]?.listing
      if (listing === undefined) throw new Error('The worker was taken for dead as it was listed.')
      if (listing !== this.#listing) {
        if (this.#listing) this.#log.warn('this worker was taken for dead; other workers may have repeated its jobs')
        this.#listing = listing
        this.#onListed(listing)
      }
      this.#gate.open()
      while (!over.aborted) {
        await this.#look(client, poolId)
        await pause(untilBeat(this.#pace.lookMs), over)
      }
      if (!lost.signal.aborted) await release(client, [poolId])
    } finally {
      if (!this.#isShuttingDown) this.#gate.close()
      void client.end().catch(() => undefined)
    }
  }

  #newClient(): pg.Client {
    return new pg.Client({
      connectionString: this.#url,
      application_name: 'belfry worker',
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: answerTimeoutMs,
    })
  }

  async #look(client: pg.Client, self: string): Promise<void> {
    // Shared, so that two workers polling at once do not see each other as the owner. Our own lock we could take again.
    const { rows } = await client.query<{ pool_id: string }>({
      name: 'free_workers',
      text: `SELECT pool_id FROM workers WHERE pool_id <> $1 AND pg_try_advisory_xact_lock_shared(${keyOf('pool_id')})`,
      values: [self],
    })
    const free = new Set(rows.map((row) => row.pool_id))
    for (const id of this.#suspects.keys()) if (!free.has(id)) this.#suspects.delete(id)
    const now = performance.now()
    for (const id of free) if (!this.#suspects.has(id)) this.#suspects.set(id, now)
    const dead = [...this.#suspects].filter(([, since]) => now - since >= this.#pace.graceMs).map(([id]) => id)
    if (dead.length === 0) return
    const released = await release(client, dead)
    if (released.length > 0) this.#log.warn({ workers: released }, 'released the jobs of dead workers')
  }
}

/**
 * Only for workers whose lock is free. We hold it until all is done: a worker that comes back waits for that. Calls that they
 * had taken and not begun are as if never taken.
 */
async function release(client: pg.Client, poolIds: string[]): Promise<string[]> {
  // Each statement sees what was committed before it, also where the database's default is another: calls that began while we
  // waited for the lock must be seen.
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM unnest($1::text[]) id WHERE pg_try_advisory_xact_lock(${keyOf('id')})`,
    [poolIds],
  )
  const ids = rows.map((row) => row.id)
  // From here on they begin nothing (`isListed` in call-statements.ts).
  await client.query('SELECT FROM workers WHERE pool_id = ANY ($1) ORDER BY pool_id FOR UPDATE', [ids])
  const { rows: taken } = await client.query<CallKey>({ ...takenCalls, values: [ids] })
  const columns = [
    taken.map((call) => call.environmentId),
    taken.map(({ id }) => id),
    taken.map((call) => call.position),
  ]
  const unknown = storedLine(detail('outcome_unknown'), new Date())
  if (taken.length > 0) await client.query({ ...recoverCalls, values: [...columns, JSON.stringify([unknown])] })
  await client.query('DELETE FROM begun_calls WHERE worker_id = ANY ($1)', [ids])
  await client.query({ ...freeJobs, values: [ids] })
  // The named queues of the library too.
  await client.query('SELECT graphile_worker.force_unlock_workers($1)', [ids])
  await client.query('DELETE FROM workers WHERE pool_id = ANY ($1)', [ids])
  await client.query('COMMIT')
  return ids
}

/** Resolves early, without an error, on the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Closed at first. */
class Gate {
  whenOpen: Promise<void> | undefined
  #open: () => void = () => undefined

  constructor() {
    this.close()
  }

  close(): void {
    // Those already waiting keep their promise.
    this.whenOpen ??= new Promise((resolve) => {
      this.#open = resolve
    })
  }

  open(): void {
    this.#open()
    this.whenOpen = undefined
  }
}
