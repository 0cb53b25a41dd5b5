// A transaction on one connection, for statements that are prepared once and for the query builder alike.
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import type { Tx } from './database.ts'
import type { Tables } from './tables.ts'

export interface Transaction {
  /** Runs a statement that every connection prepares once. */
  run<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** The same transaction for what is written with the query builder. */
  tx: Tx
  /** Does this once all of it is committed, and not at all where it is not. */
  afterCommit(work: () => void): void
  /** Does this where it failed. What failed on its way to the database, or back, may have been committed all the same. */
  afterFailure(work: () => void): void
}

export interface Statement {
  name: string
  text: string
}

export const statement = (name: string, text: string): Statement => ({ name, text })

/**
 * A parameter whose value the planner does not look at. Of an array that it sees it counts the members, takes a plan for just as
 * many for cheaper than one for any number, and plans a prepared statement anew every time: for the unread counts of an inbox
 * that was 1.9 ms of 2.1.
 */
export const hiddenParameter = (parameter: number, type: string) => `(SELECT $${parameter}::${type})`
/** Rows of the parameters that come first, an array of each of these types. */
export const rowsGiven = (...types: string[]) =>
  `unnest(${types.map((type, place) => hiddenParameter(place + 1, `${type}[]`)).join(', ')})`

/** Statements that are each a transaction of their own, on whatever connection is free. */
export const eachByItself = (pool: pg.Pool): Pick<Transaction, 'run'> => ({
  async run<Row extends pg.QueryResultRow>({ name, text }: Statement, values: unknown[]) {
    return (await pool.query<Row>({ name, text, values })).rows
  },
})

/** @param lockTimeoutMs how long one of its statements may wait for somebody else's lock; for ever without it */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (transaction: Transaction) => Promise<T>,
  { lockTimeoutMs }: { lockTimeoutMs?: number } = {},
): Promise<T> {
  const client = await pool.connect()
  let afterwards: Array<() => void> | undefined
  let otherwise: Array<() => void> | undefined
  const transaction: Transaction = {
    async run<Row extends pg.QueryResultRow>({ name, text }: Statement, values: unknown[]) {
      return (await client.query<Row>({ name, text, values })).rows
    },
    // Not a getter: the object's hidden class would hold it, and with it all that the transaction has read and made, until a
    // full collection of garbage.
    tx: builderOn(client) as Tx,
    afterCommit(next) {
      afterwards ??= []
      afterwards.push(next)
    },
    afterFailure(next) {
      otherwise ??= []
      otherwise.push(next)
    },
  }
  let broken: Error | undefined
  try {
    await client.query(lockTimeoutMs === undefined ? 'BEGIN' : `BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    const result = await work(transaction)
    await client.query('COMMIT')
    for (const next of afterwards ?? []) next()
    return result
  } catch (error) {
    // A connection that cannot even roll back is not used again; the database ends its transaction by itself.
    await client.query('ROLLBACK').catch((failure: unknown) => {
      broken = failure as Error
    })
    for (const next of otherwise ?? []) next()
    throw error
  } finally {
    client.release(broken)
  }
}

/** One for each connection, because it is larger than anything else that a small transaction makes. */
const builders = new WeakMap<pg.PoolClient, Kysely<Tables>>()

/** A query builder that sends everything through this connection and leaves its transaction alone. */
function builderOn(client: pg.PoolClient): Kysely<Tables> {
  const known = builders.get(client)
  if (known) return known
  const lent = {
    query: client.query.bind(client),
    release: () => undefined,
  }
  const pool = { connect: async () => lent, end: async () => undefined }
  const made = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool as unknown as pg.Pool }) })
  builders.set(client, made)
  return made
}
