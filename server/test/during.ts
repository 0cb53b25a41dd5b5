// Two concurrent operations in a chosen order, for tests of races.
import { sql } from 'kysely'
import { expect, vi } from 'vitest'
import type { Tx } from '../src/db/core/database.ts'
import type { TestServer } from './server.ts'

/** Sends the request while `first` is uncommitted; once the request waits for its lock, runs `last` and commits. */
export async function during<T>(
  { database: { db } }: TestServer,
  first: (tx: Tx) => Promise<unknown>,
  request: () => Promise<T>,
  last: (tx: Tx) => Promise<unknown> = async () => undefined,
): Promise<T> {
  let waiting: Promise<T> | undefined
  await db.transaction().execute(async (tx) => {
    await first(tx)
    waiting = request()
    await vi.waitFor(
      async () => {
        const { rows } = await sql`
          SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`.execute(db)
        expect(rows).toHaveLength(1)
      },
      { timeout: 20_000, interval: 10 },
    )
    await last(tx)
  })
  return waiting as Promise<T>
}
