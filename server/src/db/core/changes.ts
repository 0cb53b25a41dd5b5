// Invalidates every process's caches when the database changes, by LISTEN/NOTIFY. The same connection holds a lock that shows
// other processes that this one is alive.
import { randomUUID } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import pg from 'pg'
import type { Tables } from './tables.ts'

export const channel = 'belfry_changes'
const longestRetryMs = 5_000

/**
 * What processes cache. A subject's listeners get the id of what changed; those of `inbox`, which inform browsers, get what
 * inbox-changes.ts writes.
 */
export type Subject =
  | 'api_keys'
  | 'integrations'
  | 'workflows'
  | 'layouts'
  | 'inbox'
  | 'inbox_sessions'
  | 'webhook_endpoints'
  | 'people'

/** In the transaction of the change: listeners hear it if and only if that commits. */
export async function announce(tx: Kysely<Tables>, subject: Subject, id: string): Promise<void> {
  await sql`SELECT pg_notify(${channel}, ${`${subject} ${id}`})`.execute(tx)
}

/** Whether the process with this id has its lock. A live one whose connection broke is without it for a moment. */
export const isAlive = (processId: RawBuilder<unknown>) => sql<boolean>`EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32 | objid::bigint) = hashtextextended(${processId}, 1))`

export class Changes {
  readonly processId = randomUUID()
  readonly #url: string
  readonly #onError: (error: Error) => void
  readonly #listeners = new Map<Subject, Array<(id: string) => void>>()
  readonly #onLoss: Array<() => void> = []
  readonly #onReturn: Array<() => void> = []
  #client: pg.Client | undefined
  #retry: NodeJS.Timeout | undefined
  #stopped = false
  #attempt = 0
  connected = false

  constructor(url: string, onError: (error: Error) => void) {
    this.#url = url
    this.#onError = onError
  }

  on(subject: Subject, listener: (id: string) => void): void {
    this.#listeners.set(subject, [...(this.#listeners.get(subject) ?? []), listener])
  }

  /** Called when changes may have been missed: drop all caches. */
  onLoss(listener: () => void): void {
    this.#onLoss.push(listener)
  }

  /** Called when listening resumes after that: catch up on missed changes. */
  onReturn(listener: () => void): void {
    this.#onReturn.push(listener)
  }

  /** Rejects if the first connection fails; a connection lost later is reopened until it works. */
  async start(): Promise<void> {
    try {
      await this.#connect()
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.connected = false
    clearTimeout(this.#retry)
    await this.#client?.end()
  }

  async #connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'belfry changes',
      connectionTimeoutMillis: 5_000,
      // This connection is mostly idle: only keep-alive tells an idle database from a dead one.
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    })
    this.#client = client
    client.on('notification', ({ payload }) => this.#heard(payload ?? ''))
    client.on('error', this.#onError)
    client.once('end', () => this.#lost())
    try {
      await client.connect()
      await client.query('SELECT pg_advisory_lock_shared(hashtextextended($1, 1))', [this.processId])
      await client.query(`LISTEN ${channel}`)
    } catch (error) {
      // No effect on a connection that never opened; one that cannot listen ends and is reopened.
      void client.end()
      throw error
    }
    const isReturn = this.#attempt > 0
    this.#attempt = 0
    this.connected = !this.#stopped
    if (isReturn && this.connected) for (const listener of this.#onReturn) listener()
  }

  #heard(payload: string): void {
    const [subject, id] = payload.split(' ', 2)
    for (const listener of this.#listeners.get(subject as Subject) ?? []) listener(id ?? '')
  }

  #lost(): void {
    if (this.#stopped) return
    if (this.connected) for (const listener of this.#onLoss) listener()
    this.connected = false
    this.#attempt += 1
    const delayMs = Math.min(longestRetryMs, 50 * 2 ** this.#attempt)
    this.#retry = setTimeout(() => void this.#connect().catch(this.#onError), delayMs)
  }
}
