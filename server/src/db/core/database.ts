// The connection pool, and the query builder and transactions on top of it.
import { setTimeout as sleep } from 'node:timers/promises'
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
    // A new one has everything to read and to plan once more: a burst that had to open some took 50 ms longer.
    idleTimeoutMillis: 300_000,
    application_name: 'belfry',
    // A statement that runs this long is a fault; it must not hold its locks for ever.
    statement_timeout: 60_000,
    // A server that has vanished says nothing more; so it is noticed within half a minute, and not after two hours.
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
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

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

/** Whether the database could not be reached, is stopping or is full: the request may be retried as it is. */
export function isOutage(error: unknown): boolean {
  // 28, 3D and 55000 refuse a new connection: a password being rotated, a database being restored or closed for maintenance.
  // 25006 is said by a server that follows another, as the old one does after a switch-over; 58 is its disk.
  if (error instanceof pg.DatabaseError) return /^(08|25006|28|3D|53|55000|57P|58)/.test(codeOf(error))
  if (!(error instanceof Error)) return false
  return ('code' in error && outageCodes.has(String(error.code))) || outageTexts.test(error.message)
}

/** Two who waited for each other, or each saw what the other changed, of whom one had to yield: it may simply begin again. */
export const isYield = (error: unknown): boolean => /^40(001|P01)$/.test(codeOf(error))

/**
 * Whether it failed for what goes on in the database, and not for what was asked: others were in the way for too long (55P03,
 * 57014), or PostgreSQL is at odds with itself (XX). Nothing was stored, and whoever asks again may well succeed.
 */
export const isPassing = (error: unknown): boolean =>
  isOutage(error) || isYield(error) || /^(55P03|57014|XX)/.test(codeOf(error))

const mostTries = 5
const longestPauseMs = 40

/** Begins again, a few times, what had to yield to somebody. */
export async function despiteOthers<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isYield(error) || tries === mostTries) throw error
      // Two who began again in step would meet again.
      await sleep(Math.random() * longestPauseMs * tries)
    }
  }
}

/** Whether PostgreSQL refused the value itself: text it cannot hold, a number out of range, a key too long for its index. */
export function isUnstorable(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '')
}
