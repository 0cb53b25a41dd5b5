// Soft bounces: one says little, several in a row on different messages hold the address back for a while.
import { CompiledQuery, sql } from 'kysely'
import { lockOfHash } from '../../db/core/addresses.ts'
import type { Tx } from '../../db/core/database.ts'
import type { ConsentSettings } from '../../db/queries/consent.ts'
import type { NewSuppression } from '../../db/queries/suppressions.ts'

/** About an address; `isDelivered` ends what was counted before. */
export interface Arrival
  extends Pick<NewSuppression, 'channel' | 'address' | 'addressHash' | 'source' | 'subscriberId' | 'integrationId'> {
  messageId: string
  at: Date
  isDelivered: boolean
}

const dayMs = 86_400_000

/** Counts them, in the order in which they happened. @returns the entries that they make */
export async function countSoftBounces(
  tx: Tx,
  environmentId: string,
  arrivals: Arrival[],
  { settings, now }: { settings: ConsentSettings['softBounces']; now: Date },
): Promise<NewSuppression[]> {
  const bounces = arrivals.filter(({ isDelivered }) => !isDelivered)
  const delivered = arrivals.filter(({ isDelivered }) => isDelivered)
  if (bounces.length > 0) {
    // Reports about one address go one after the other: two at once would both miss the other's.
    const locks = [...new Set(bounces.map(({ addressHash }) => lockOfHash(addressHash)))]
    await tx.executeQuery(CompiledQuery.raw('SELECT hold_suppressed($1::bigint[])', [locks]))
    await sql`
      INSERT INTO soft_bounces (environment_id, address_hash, channel, message_id, happened_at)
      SELECT ${environmentId}, b.hash, b.channel, b.message_id, min(b.at)
      FROM unnest(${hashesOf(bounces)}::bytea[], ${channelsOf(bounces)}::text[],
        ${bounces.map(({ messageId }) => messageId)}::text[], ${timesOf(bounces)}::timestamptz[]) AS b (hash, channel, message_id, at)
      GROUP BY 1, 2, 3, 4 ORDER BY 2, 3, 4
      ON CONFLICT DO NOTHING`.execute(tx)
  }
  if (delivered.length > 0)
    await sql`
      DELETE FROM soft_bounces s USING unnest(${hashesOf(delivered)}::bytea[], ${channelsOf(delivered)}::text[],
        ${timesOf(delivered)}::timestamptz[]) AS d (hash, channel, at)
      WHERE s.environment_id = ${environmentId} AND s.address_hash = d.hash AND s.channel = d.channel
        AND s.happened_at <= d.at`.execute(tx)
  if (bounces.length === 0) return []
  const since = new Date(now.getTime() - settings.days * dayMs)
  const { rows: reached } = await sql<{ address_hash: Buffer; channel: string }>`
    SELECT s.address_hash, s.channel FROM soft_bounces s
    WHERE s.environment_id = ${environmentId} AND s.happened_at > ${since} AND (s.address_hash, s.channel) IN (
      SELECT * FROM unnest(${hashesOf(bounces)}::bytea[], ${channelsOf(bounces)}::text[]))
    GROUP BY 1, 2 HAVING count(*) >= ${settings.count}`.execute(tx)
  if (reached.length === 0) return []
  await sql`
    DELETE FROM soft_bounces s
    WHERE s.environment_id = ${environmentId} AND (s.address_hash, s.channel) IN (
      SELECT * FROM unnest(${reached.map((row) => row.address_hash)}::bytea[], ${channelsOf(reached)}::text[]))`.execute(
    tx,
  )
  const expiresAt = new Date(now.getTime() + settings.suppressDays * dayMs)
  return reached.flatMap((row): NewSuppression[] => {
    const last = bounces.findLast(
      ({ channel, addressHash }) => channel === row.channel && addressHash.equals(row.address_hash),
    )
    if (!last) return []
    const { at: _, isDelivered: __, ...entry } = last
    return [{ ...entry, reason: 'soft_bounces', scope: 'all', expiresAt }]
  })
}

const hashesOf = (list: Array<Pick<Arrival, 'addressHash'>>) => list.map(({ addressHash }) => addressHash)
const channelsOf = (list: Array<{ channel: string }>) => list.map(({ channel }) => channel)
const timesOf = (list: Array<Pick<Arrival, 'at'>>) => list.map(({ at }) => at)
