// Waits for a database that is away: what is under way outside of it is kept meanwhile, and nobody is told that it failed.
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'
import { type Db, isConflict, isOutage } from '../../db/core/database.ts'
import type { Tables } from '../../db/core/tables.ts'

const [firstPauseMs, longestPauseMs, patienceMs] = [50, 5_000, 600_000]

/** Tries again what fails because the database is away, or because others were in its way. */
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
 * For statements that each stand by themselves and may be repeated, as those of a step that is asking somebody: were they to
 * fail with the database, the step would, and its message be given up. It offers no transactions.
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
      throw new Error('Statements on this connection do not belong together.')
    },
  })
}
