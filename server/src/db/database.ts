// The connection pool, and the query builder and transactions on top of it.
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

export interface Database {
  url: string
  pool: pg.Pool
  db: Db
  close(): Promise<void>
}

/** `connections` bounds what this process takes of the server; one more is used to listen for changes. */
export function openDatabase(url: string, options: { connections: number; onError: (error: Error) => void }): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    application_name: 'belfry',
    // A statement that runs this long is a fault; it must not hold its locks for ever.
    statement_timeout: 60_000,
  })
  let isClosing = false
  // A connection breaks while it is idle, or while a query owns it that rejects; either way it is heard of here, once.
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

/** PostgreSQL's name of the unique key a statement ran into, if that is why it failed. */
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
/** What the driver and its pool say without a code. */
const outageTexts = /timeout exceeded when trying to connect|timeout expired|Connection terminated|not queryable/

/** Whether the database could not be reached, is stopping or is full: the request may be retried as it is. */
export function isOutage(error: unknown): boolean {
  // 28, 3D and 55000 refuse a new connection: a password being rotated, a database being restored or closed for maintenance.
  if (error instanceof pg.DatabaseError) return /^(08|28|3D|53|55000|57P)/.test(error.code ?? '')
  if (!(error instanceof Error)) return false
  return ('code' in error && outageCodes.has(String(error.code))) || outageTexts.test(error.message)
}

/** Whether PostgreSQL refused the value itself: text it cannot hold, a number out of range, a key too long for its index. */
export function isUnstorable(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '')
}
