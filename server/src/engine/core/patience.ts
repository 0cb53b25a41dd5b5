// Waits out a database outage: work in flight is kept, and its callers see no error.
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { type Db, isConflict, isOutage } from '../../db/core/database.ts'
import type { Tables } from '../../db/core/tables.ts'

const [firstPauseMs, longestPauseMs, patienceMs] = [50, 5_000, 600_000]

/** Retries while the database is unreachable, or after a conflict with another transaction. */
export async function untilReachable<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!(isOutage(error) || isConflict(error)) || performance.now() - began > patienceMs) throw error
      await sleep(pauseMs)
    }
  }
}

/**
 * For statements that stand alone and may be repeated, such as those of a step in the middle of its calls: if they failed with
 * the database, the step would fail and its message would be lost. No transactions.
 */
export function patientDb(pool: pg.Pool): Db {
  const client = {
    query: (...given: Parameters<pg.Pool['query']>) =>
      untilReachable(() => pool.query(...given) as unknown as Promise<unknown>),
    release: () => undefined,
  }
  const lent = { connect: async () => client, end: async () => undefined }
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: lent as unknown as pg.Pool }) })
  return Object.assign(db, {
    transaction: () => {
      throw new Error('This connection repeats single statements and has no transactions; use the pool for those.')
    },
  })
}
