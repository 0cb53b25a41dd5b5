// What has to be done now and then so that nothing grows for ever.
import type { CronItem, TaskList } from 'graphile-worker'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../db/tables.ts'

const batch = 5_000

export const choreSchedule: CronItem[] = [
  { task: 'purge_idempotency_keys', match: '*/10 * * * *', options: { backfillPeriod: 0, maxAttempts: 3 } },
]

export function chores({ db, clock }: { db: Kysely<Tables>; clock: { now(): Date } }): TaskList {
  return {
    async purge_idempotency_keys() {
      const now = clock.now()
      let deleted = batch
      while (deleted === batch) {
        const { numAffectedRows = 0n } = await sql`
          DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM idempotency_keys WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${batch}))`.execute(
          db,
        )
        deleted = Number(numAffectedRows)
      }
    },
  }
}
