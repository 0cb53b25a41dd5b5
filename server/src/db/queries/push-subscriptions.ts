// Browsers registered for push messages. Endpoints are secrets: encrypted, found by their hash, shown as their origin.
import { hash } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import type { Secrets } from '../core/secrets.ts'
import type { PushSubscriptionTable } from '../core/tables.ts'

export type PushSubscriptionRow = Selectable<PushSubscriptionTable>

export interface PushKeys {
  endpoint: string
  p256dh: string
  auth: string
}

/** Of one subscriber; a new one replaces the one unused for longest. */
const mostPerSubscriber = 20

interface Owner {
  environmentId: string
  subscriberRowId: string
  subscriberId: string
}

/** The same endpoint again keeps its id, and gets the new keys; one of another subscriber moves. The caller has locked the subscriber. */
export async function savePushSubscription(
  tx: Tx,
  { environmentId, subscriberRowId, subscriberId }: Owner,
  { keys, page, label }: { keys: PushKeys; page: string | null; label: string | null },
  { secrets, now }: { secrets: Secrets; now: Date },
): Promise<{ row: PushSubscriptionRow; isNew: boolean }> {
  const id = newId(now)
  const said = {
    ...{ subscriber_row_id: subscriberRowId, subscriber_id: subscriberId, page, label, used_at: now },
    ...{ sealed: secrets.encrypt(JSON.stringify(keys)), origin: new URL(keys.endpoint).origin },
  }
  const row = await tx
    .insertInto('push_subscriptions')
    .values({
      environment_id: environmentId,
      id,
      endpoint_hash: hash('sha256', keys.endpoint, 'buffer'),
      created_at: now,
      ...said,
    })
    .onConflict((conflict) => conflict.columns(['environment_id', 'endpoint_hash']).doUpdateSet(said))
    .returningAll()
    .executeTakeFirstOrThrow()
  await sql`
    DELETE FROM push_subscriptions WHERE environment_id = ${environmentId} AND id IN (
      SELECT p.id FROM push_subscriptions p
      WHERE p.environment_id = ${environmentId} AND p.subscriber_row_id = ${subscriberRowId}
      ORDER BY p.used_at DESC, p.id DESC OFFSET ${mostPerSubscriber})`.execute(tx)
  return { row, isNew: row.id === id }
}

/** Newest first. */
export function listPushSubscriptions(
  db: Db | Tx,
  environmentId: string,
  subscriberRowId: string,
): Promise<PushSubscriptionRow[]> {
  return db
    .selectFrom('push_subscriptions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('subscriber_row_id', '=', subscriberRowId)
    .orderBy('id', 'desc')
    .limit(mostPerSubscriber)
    .execute()
}

/** @returns whether there was one */
export async function deletePushSubscription(
  db: Db | Tx,
  environmentId: string,
  { subscriberRowId, id }: { subscriberRowId: string; id: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('push_subscriptions')
    .where('environment_id', '=', environmentId)
    .where('subscriber_row_id', '=', subscriberRowId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
