// What has to be done now and then so that nothing grows for ever, and what is too much work for one request.
import type { CronItem, TaskList } from 'graphile-worker'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../db/database.ts'

/** Rows per statement: few enough that no lock is held for long, many enough that the round trips do not count. */
const batch = 5_000

export const choreSchedule: CronItem[] = [
  // A round that was missed needs no repeat: the next one removes the same rows.
  { task: 'purge_idempotency_keys', match: '*/10 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
]

export function chores({ db, clock }: { db: Db; clock: { now(): Date } }): TaskList {
  return {
    async purge_idempotency_keys(_payload, { abortSignal }) {
      await deleteInBatches(db, 'idempotency_keys', sql`expires_at <= ${clock.now()}`, abortSignal)
    },

    async purge_environment(payload, { abortSignal }) {
      const { environmentId } = payload as { environmentId: string }
      const { rows } = await sql`SELECT FROM environments WHERE id = ${environmentId}`.execute(db)
      if (rows.length > 0) throw new Error(`Environment ${environmentId} exists; only a deleted one is purged.`)
      for (const table of await tablesByEnvironment(db))
        await deleteInBatches(db, table, sql`environment_id = ${environmentId}`, abortSignal)
    },
  }
}

/** Behind everything a caller waits for (a smaller number goes first, and 0 is usual). */
const purgePriority = 100

/**
 * Part of the transaction that deletes the environment, so that a crash cannot part the two. The second round, an hour
 * later, takes what requests and runs that were under way wrote after, or held while, the first one passed.
 */
export async function queueEnvironmentPurge(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    SELECT graphile_worker.add_job('purge_environment', json_build_object('environmentId', ${environmentId}::text),
                                   run_at := now() + delay, priority := ${purgePriority}::smallint)
    FROM unnest(ARRAY['0 hours', '1 hour']::interval[]) AS delay`.execute(tx)
}

/** Asked of the catalogue, so that a table made later is not forgotten. Of partitioned tables it names the partitions. */
async function tablesByEnvironment(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT c.relname AS name
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'environment_id' AND NOT a.attisdropped
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
    ORDER BY c.relname`.execute(db)
  return rows.map((row) => row.name)
}

/**
 * Each batch commits by itself. A row that somebody is changing is passed over: waiting for it and then deleting it by
 * its place would ignore that it may no longer match, such as an idempotency key just taken again.
 */
async function deleteInBatches(
  db: Db,
  table: string,
  matches: RawBuilder<unknown>,
  stopping: AbortSignal,
): Promise<void> {
  const name = sql.table(table)
  let deleted = batch
  while (deleted === batch) {
    // A worker that stops does not wait for millions of rows; the job is tried again and goes on where this ended.
    stopping.throwIfAborted()
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${name} WHERE ${matches} LIMIT ${batch} FOR UPDATE SKIP LOCKED))`.execute(db)
    deleted = Number(numAffectedRows)
  }
}
