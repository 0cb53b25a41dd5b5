// Looks into an outbox whenever there may be something: when a caller notifies, and every second in any case (in our own database
// queue/alarm.ts does, together with its own look). While calls keep coming it is awake: it holds a lock that tells callers not to
// notify, and looks every few milliseconds. What comes while some calls are carried out does not wait for them.
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'
import { awakeLock, callersLock, channel } from './rows.ts'

/** Because a notification may be lost. */
const usuallyEveryMs = 1_000
const looksWhenAwakeMs = 2
/** When only a transaction that has called is open, and may stay so for long. */
const looksWhenCalledMs = 50
/** It goes to sleep when nothing came for this long. */
const awakeMs = 100
/** Calls taken twice within this time wake it up. */
const soonMs = 50
const longestRetryMs = 5_000
/** Groups of calls that are carried out at once. */
const mostGroups = 3

interface Look {
  waiting: number
}

/** Calls that are being carried out are counted, too: more than those means that there is something new. */
const look = {
  name: 'look_into_outbox',
  text: 'SELECT count(*)::int AS waiting FROM (SELECT FROM belfry.outbox LIMIT 2000) few',
}

/** Not where somebody has called and not committed yet. In this order: who calls from then on finds nobody awake, and notifies. */
const fallAsleep = `SELECT CASE WHEN pg_try_advisory_lock(${callersLock})
  THEN CASE WHEN pg_advisory_unlock(${awakeLock}) THEN pg_advisory_unlock(${callersLock}) END ELSE false END AS sleeps`

export interface WatchOptions {
  /** Without a pooler in between: it listens, and holds a lock of its session. */
  url: string
  /**
   * Carries out some calls. @returns how many
   * @param taken to be called with their number once nobody else can take them: only then others are looked for meanwhile
   */
  work(taken: (calls: number) => void): Promise<number>
  onError(error: Error): void
  /** How often to look while nobody notifies. */
  lookEveryMs?: number
  /** Rests for so long, or until it is aborted. */
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

const rested = (ms: number, signal: AbortSignal): Promise<void> => after(ms, undefined, { signal })

export class OutboxWatch {
  readonly #options: WatchOptions
  readonly #stopping = new AbortController()
  #client: pg.Client | undefined
  #running: Promise<void> | undefined
  /** Ends the rest that is going on. */
  #nudge: (() => void) | undefined
  #isTold = false
  readonly #groups = new Set<Promise<void>>()
  /** Calls of these groups. */
  #underWay = 0
  #failure: Error | undefined
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
        await Promise.all(this.#groups)
        this.#failure = undefined
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
    const { lookEveryMs = usuallyEveryMs } = this.#options
    let [lastTaken, restMs] = [Number.NEGATIVE_INFINITY, 0]
    while (!this.#isOver) {
      let waits = this.#isTold && this.#groups.size === 0
      this.#isTold = false
      if (!waits) {
        const { rows } = await client.query<Look>(look)
        waits = (rows[0]?.waiting ?? 0) > this.#underWay
      }
      const taken = waits ? await this.#take() : 0
      if (this.#failure) throw this.#failure
      const now = performance.now()
      if (taken > 0) {
        if (now - lastTaken < soonMs) await this.#wakeUp(client)
        lastTaken = now
        restMs = 0
        continue
      }
      if (this.#groups.size > 0 || (this.isAwake && now - lastTaken < awakeMs)) restMs = looksWhenAwakeMs
      else {
        // One more look follows: who has called just before may have counted on it being awake.
        const mostMs = (await this.#mayRest(client)) ? lookEveryMs : looksWhenCalledMs
        restMs = Math.min(Math.max(restMs * 2, looksWhenAwakeMs), mostMs)
      }
      await this.#rest(restMs)
    }
  }

  /** @returns how many calls were taken, as soon as they are */
  async #take(): Promise<number> {
    if (this.#groups.size >= mostGroups) await Promise.race(this.#groups)
    return new Promise((resolve) => {
      let own = 0
      const note = (calls: number) => {
        this.#underWay += calls - own
        own = calls
        resolve(calls)
      }
      const group = this.#options
        .work(note)
        .catch((error: unknown) => {
          this.#failure ??= error as Error
          return 0
        })
        .then((count) => {
          this.#underWay -= own
          this.#groups.delete(group)
          resolve(count)
          this.#nudge?.()
        })
      this.#groups.add(group)
    })
  }

  /** Another drain that is awake has the lock; that serves as well. */
  async #wakeUp(client: pg.Client): Promise<void> {
    if (this.isAwake) return
    const { rows } = await client.query<{ held: boolean }>(`SELECT pg_try_advisory_lock(${awakeLock}) AS held`)
    this.isAwake = rows[0]?.held ?? false
  }

  /** Whether it sleeps, if need be from now on. */
  async #mayRest(client: pg.Client): Promise<boolean> {
    if (!this.isAwake) return true
    const { rows } = await client.query<{ sleeps: boolean }>(fallAsleep)
    this.isAwake = !rows[0]?.sleeps
    return !this.isAwake
  }

  /** Until it is told of something, or for this long. */
  async #rest(ms: number): Promise<void> {
    if (this.#isTold || this.#isOver) return
    const rest = new AbortController()
    this.#nudge = () => rest.abort()
    const { sleep = rested } = this.#options
    await sleep(ms, rest.signal).catch(() => undefined)
    this.#nudge = undefined
  }
}
