// Looks into an outbox whenever there may be something: when a caller notifies, and every second in any case. While calls keep
// coming it is awake: it holds a lock that tells callers not to notify, and looks every few milliseconds.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { awakeLock, channel } from './rows.ts'

/** Every second, because a notification may be lost. */
const lookEveryMs = 1_000
/** Where no role is allowed, nobody can call; `belfry.allow` notifies. */
const lookEveryWhenClosedMs = 30_000
const looksWhenAwakeMs = 4
/** It goes to sleep when nothing came for this long. */
const awakeMs = 100
/** Calls taken twice within this time wake it up. */
const soonMs = 50
const longestRetryMs = 5_000

interface Look {
  waits: boolean
  open: boolean
}

const look = {
  name: 'look_into_outbox',
  text: 'SELECT EXISTS (SELECT FROM belfry.outbox) AS waits, EXISTS (SELECT FROM belfry.allowed) AS open',
}

export interface WatchOptions {
  /** Without a pooler in between: it listens, and holds a lock of its session. */
  url: string
  /** Carries out some calls. @returns how many */
  work(): Promise<number>
  onError(error: Error): void
}

export class OutboxWatch {
  readonly #options: WatchOptions
  readonly #stopping = new AbortController()
  #client: pg.Client | undefined
  #running: Promise<void> | undefined
  /** Ends the rest that is going on. */
  #nudge: (() => void) | undefined
  #isTold = false
  isAwake = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Something may have come. */
  tell(): void {
    this.#isTold = true
    this.#nudge?.()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#nudge?.()
    await this.#running
  }

  get #isOver(): boolean {
    return this.#stopping.signal.aborted
  }

  async #run(): Promise<void> {
    let failures = 0
    while (!this.#isOver) {
      try {
        await this.#connect()
        failures = 0
        await this.#watch()
      } catch (error) {
        failures += 1
        if (!this.#isOver) this.#options.onError(error as Error)
      } finally {
        this.isAwake = false
        await this.#client?.end().catch(() => undefined)
        this.#client = undefined
      }
      await this.#rest(Math.min(longestRetryMs, 100 * 2 ** failures))
    }
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: 'belfry outbox',
      connectionTimeoutMillis: 5_000,
      statement_timeout: 60_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    this.#client = client
    client.on('notification', () => this.tell())
    // A query in flight fails too, and is what reports it.
    client.on('error', () => undefined)
    client.once('end', () => this.#nudge?.())
    await client.connect()
    await client.query(`LISTEN ${channel}`)
  }

  async #watch(): Promise<void> {
    const client = this.#client as pg.Client
    let [lastTaken, restMs, isOpen] = [Number.NEGATIVE_INFINITY, 0, true]
    while (!this.#isOver) {
      const wasTold = this.#isTold
      this.#isTold = false
      let waits = wasTold
      if (!wasTold) {
        const { rows } = await client.query<Look>(look)
        waits = rows[0]?.waits ?? false
        isOpen = rows[0]?.open ?? true
      }
      const taken = waits ? await this.#options.work() : 0
      const now = performance.now()
      if (taken > 0) {
        if (now - lastTaken < soonMs) await this.#wakeUp(client)
        lastTaken = now
        restMs = 0
        this.#isTold = true
      } else if (this.isAwake && now - lastTaken < awakeMs) restMs = looksWhenAwakeMs
      else {
        // One more look follows: a caller may have counted on it being awake.
        if (this.isAwake) await this.#fallAsleep(client)
        restMs = Math.min(Math.max(restMs * 2, looksWhenAwakeMs), isOpen ? lookEveryMs : lookEveryWhenClosedMs)
      }
      if (restMs > 0) await this.#rest(restMs)
    }
  }

  /** Another drain that is awake has the lock; that serves as well. */
  async #wakeUp(client: pg.Client): Promise<void> {
    if (this.isAwake) return
    const { rows } = await client.query<{ held: boolean }>(`SELECT pg_try_advisory_lock(${awakeLock}) AS held`)
    this.isAwake = rows[0]?.held ?? false
  }

  async #fallAsleep(client: pg.Client): Promise<void> {
    this.isAwake = false
    await client.query(`SELECT pg_advisory_unlock(${awakeLock})`)
  }

  /** Until it is told of something, or for this long. */
  async #rest(ms: number): Promise<void> {
    if (this.#isTold || this.#isOver) return
    const rest = new AbortController()
    this.#nudge = () => rest.abort()
    await sleep(ms, undefined, { signal: rest.signal }).catch(() => undefined)
    this.#nudge = undefined
  }
}
