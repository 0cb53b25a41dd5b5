// Which subscribers are connected to which process. A row is written when an inbox's first socket connects to a process and
// removed when its last one disconnects; the other processes remove those of a dead process. Liveness uses the database's
// clock, the only one that processes share; times shown to subscribers use the caller's, or the environment's where it is held.
import { sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import type { InboxKey } from './inbox-changes.ts'

/** Two heartbeats may be missed. */
const deadAfterSeconds = 75
export const beatMs = 25_000

const columns = (keys: InboxKey[]) => sql`
  unnest(${keys.map(({ environmentId }) => environmentId)}::text[], ${keys.map(({ subscriberRowId }) => subscriberRowId)}::text[],
         ${keys.map(({ contexts }) => contexts)}::text[]) AS g (environment_id, subscriber_row_id, contexts)`

/** Registers inboxes that are connected to this process, and marks their subscribers online. */
export async function enterInboxes(db: Db, processId: string, keys: InboxKey[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockSubscribers(tx, keys)
    await sql`
      INSERT INTO inbox_presence (environment_id, subscriber_row_id, contexts, process_id)
      SELECT environment_id, subscriber_row_id, contexts, ${processId} FROM ${columns(keys)}
      ON CONFLICT DO NOTHING`.execute(tx)
    await sql`
      UPDATE subscribers s SET is_online = true FROM ${columns(keys)}
      WHERE s.environment_id = g.environment_id AND s.id = g.subscriber_row_id AND NOT s.is_online`.execute(tx)
  })
}

/** Removes them. Subscribers without another connection go offline. */
export async function leaveInboxes(db: Db, processId: string, keys: InboxKey[], now: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockSubscribers(tx, keys)
    await sql`
      DELETE FROM inbox_presence p USING ${columns(keys)}
      WHERE p.environment_id = g.environment_id AND p.subscriber_row_id = g.subscriber_row_id
        AND p.contexts = g.contexts AND p.process_id = ${processId}`.execute(tx)
    await endOnline(tx, keys, now)
  })
}

/**
 * Serializes connects and disconnects: two processes that lose a subscriber's last sockets at the same moment would otherwise
 * each see the other's row. Always in the same order, against deadlocks.
 */
async function lockSubscribers(tx: Tx, keys: InboxKey[]): Promise<void> {
  await sql`
    SELECT s.id FROM subscribers s
    WHERE (s.environment_id, s.id) IN (SELECT environment_id, subscriber_row_id FROM ${columns(keys)})
    ORDER BY s.environment_id, s.id FOR NO KEY UPDATE`.execute(tx)
}

async function endOnline(tx: Tx, keys: InboxKey[], now: Date): Promise<void> {
  await sql`
    UPDATE subscribers s SET is_online = false, last_online_at = coalesce(
      (SELECT e.clock_now FROM environments e WHERE e.id = s.environment_id), ${now}::timestamptz) FROM (
      SELECT DISTINCT environment_id, subscriber_row_id FROM ${columns(keys)}) g
    WHERE s.environment_id = g.environment_id AND s.id = g.subscriber_row_id AND s.is_online AND NOT EXISTS (
      SELECT FROM inbox_presence p
      WHERE p.environment_id = g.environment_id AND p.subscriber_row_id = g.subscriber_row_id)`.execute(tx)
}

/** The heartbeat of this process. @returns false if its row was gone; then its inboxes may have been removed too */
export async function beat(db: Db, processId: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    INSERT INTO inbox_processes AS p (id, seen_at) VALUES (${processId}, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
    RETURNING p.xmax <> 0 AS known`.execute(db)
  return rows[0]?.known ?? false
}

/** Removes the rows of dead processes, in batches. */
export async function removeDead(db: Db, now: Date): Promise<void> {
  for (;;) {
    const isDone = await db.transaction().execute(async (tx) => {
      const { rows: dead } = await sql<{ id: string }>`
        SELECT id FROM inbox_processes WHERE seen_at < clock_timestamp() - make_interval(secs => ${deadAfterSeconds})
        ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`.execute(tx)
      const [process] = dead
      if (!process) return true
      const { rows } = await sql<InboxKey>`
        SELECT environment_id AS "environmentId", subscriber_row_id AS "subscriberRowId", contexts FROM inbox_presence
        WHERE process_id = ${process.id} LIMIT 1000`.execute(tx)
      await lockSubscribers(tx, rows)
      await sql`
        DELETE FROM inbox_presence p USING ${columns(rows)}
        WHERE p.environment_id = g.environment_id AND p.subscriber_row_id = g.subscriber_row_id
          AND p.contexts = g.contexts AND p.process_id = ${process.id}`.execute(tx)
      await endOnline(tx, rows, now)
      if (rows.length === 0) await sql`DELETE FROM inbox_processes WHERE id = ${process.id}`.execute(tx)
      return false
    })
    if (isDone) return
  }
}
