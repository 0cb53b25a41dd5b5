// Counts activity for charts, once a time slot is complete: so triggers and messages need not count anything themselves.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { slotSeconds, storeCounts } from '../../db/queries/activity-counts.ts'

/** Runs and messages are committed within seconds of the time in their ids, even by a process whose clock is slow. */
const settleMs = 120_000
const slotMs = slotSeconds * 1_000
/** Slots per transaction: a long backlog is counted in pieces, each kept if the next fails. */
const mostSlots = 144

/**
 * A second worker waits for the first and finds nothing left. A database that has never counted starts with its oldest
 * activity.
 */
export async function countActivity(db: Db, now: Date, stopping: AbortSignal): Promise<void> {
  const end = floorToSlot(new Date(now.getTime() - settleMs))
  for (let isBehind = true; isBehind; ) {
    stopping.throwIfAborted()
    isBehind = await db.transaction().execute(async (tx) => {
      await sql`SET LOCAL statement_timeout = 0`.execute(tx)
      await sql`
        INSERT INTO activity_counted (until)
        SELECT coalesce(to_timestamp(('x' || left(min(id), 8))::bit(32)::bigint), ${end}) FROM notifications
        WHERE NOT EXISTS (SELECT FROM activity_counted)
        ON CONFLICT DO NOTHING`.execute(tx)
      const { until } = await tx.selectFrom('activity_counted').select('until').forUpdate().executeTakeFirstOrThrow()
      const from = floorToSlot(until)
      const to = new Date(Math.min(end.getTime(), from.getTime() + mostSlots * slotMs))
      if (to <= from) return false
      await storeCounts(tx, { from, to })
      await tx.updateTable('activity_counted').set({ until: to }).execute()
      return to < end
    })
  }
}

const floorToSlot = (time: Date) => new Date(Math.floor(time.getTime() / slotMs) * slotMs)
