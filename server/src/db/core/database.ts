// The connection pool, and the query builder and transactions on top of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tables } from './tables.ts'

// As Node has it since version 21. Without it, the driver tells our platform by the global `Response`, for which Node 20 loads its
// whole implementation of fetch: 50 ms of each start.
const userAgent = `Node.js/${process.versions.node.split('.', 1)[0]}`
if (!('navigator' in globalThis)) Object.assign(globalThis, { navigator: { userAgent } })

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

export interface Database {
  url: string
  pool: pg.Pool
  db: Db
  close(): Promise<void>
}

interface Options {
  /** The most of this pool. */
  connections: number
  /** How many stay open however long nobody needs them. */
  idle?: number
  onError(error: Error): void
}

export function openDatabase(url: string, { idle = 5, ...options }: Options): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections,
    connectionTimeoutMillis: 5_000,
    // A new connection has empty caches and no plans: a burst that has to open some takes 50 ms longer, so a few always stay.
    // One that only waits is a process of 3 MB at the database.
    idleTimeoutMillis: 30_000,
    min: Math.min(idle, options.connections),
    application_name: 'belfry',
    // A statement that runs this long is a bug; it must not hold its locks forever.
    statement_timeout: 60_000,
    // Detects a dead server within half a minute instead of two hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
  })
  let isClosing = false
  // A broken connection is reported here once, whether it was idle or running a query.
  pool.on('connect', (client) =>
    client.on('error', (error) => {
      if (!isClosing) options.onError(error)
    }),
  )
  pool.on('error', () => undefined)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const close = () => {
    isClosing = true
    return pool.end()
  }
  return { url, pool, db, close }
}

/** The name of the unique key that a statement violated, if that is why it failed. */
export function violatedKey(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code === '23505' ? error.constraint : undefined
}

const outageCodes = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])
/** Errors of the driver and its pool that have no code. */
const outageTexts = /timeout exceeded when trying to connect|timeout expired|Connection terminated|not queryable/

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

/** Whether the database is unreachable, shutting down or full: the request can be retried unchanged. */
export function isOutage(error: unknown): boolean {
  // 28, 3D and 55000 refuse a new connection: a password rotation, a restore or maintenance. 25006 comes from a read replica,
  // as the old primary is after a failover; 58 is the disk. 25P03 ends the connection of a transaction that this process left
  // idle, being paused or overloaded itself.
  if (error instanceof pg.DatabaseError) return /^(08|25006|25P03|28|3D|53|55000|57P|58)/.test(codeOf(error))
  if (!(error instanceof Error)) return false
  return ('code' in error && outageCodes.has(String(error.code))) || outageTexts.test(error.message)
}

/** A deadlock or serialization failure: the transaction can simply be retried. */
export const isConflict = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error))

/**
 * Whether the failure is the database's and not the request's: a lock or statement timeout (55P03, 57014), or an internal
 * error of PostgreSQL (XX). Nothing was stored, and a retry may succeed.
 */
export const isTransient = (error: unknown): boolean =>
  isOutage(error) || isConflict(error) || /^(55P03|57014|XX)/.test(codeOf(error))

const mostTries = 5
const longestPauseMs = 40

/** Retries a few times after a deadlock or serialization failure. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isConflict(error) || tries === mostTries) throw error
      // Random, so that two transactions do not collide again.
      await sleep(Math.random() * longestPauseMs * tries)
    }
  }
}

/** Whether PostgreSQL refused a value: text it cannot store, a number out of range, a key too long for its index. */
export function isUnstorable(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '')
}
