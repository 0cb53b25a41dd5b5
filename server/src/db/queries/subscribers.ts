// Subscriber queries that several rooms share: upserts of one or many, and deletion with all dependent rows.
import { isDeepStrictEqual } from 'node:util'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import { columnOf, type SubscriberFields as Fields, fieldNames } from '../core/subscriber-fields.ts'
import type { SubscriberTable } from '../core/tables.ts'
import { deleteMessages } from './messages.ts'
import { deleteSubscriptions } from './topic-subscriptions.ts'
import { type EventType, subscriberObject, telling } from './webhook-events.ts'

export type SubscriberRow = Selectable<SubscriberTable>
export type SubscriberFields = Fields

export interface SubscriberInput extends SubscriberFields {
  subscriberId: string
}

type ColumnValues = Partial<Record<(typeof columnOf)[keyof SubscriberFields], string | null>>

/** Whether a subscriber already has these values. */
export function isAsSaid(row: SubscriberRow, fields: SubscriberFields): boolean {
  return fieldNames.every((name) => {
    const said = fields[name]
    return said === undefined || isDeepStrictEqual(row[columnOf[name]], said)
  })
}

/** The given fields as column values. */
function subscriberColumns(fields: SubscriberFields): ColumnValues {
  const values: ColumnValues = {}
  for (const name of fieldNames) {
    const value = fields[name]
    if (value !== undefined)
      values[columnOf[name]] = value === null || typeof value === 'string' ? value : JSON.stringify(value)
  }
  return values
}

export async function findSubscriber(
  db: Db | Tx,
  environmentId: string,
  subscriberId: string,
): Promise<SubscriberRow | undefined> {
  return db
    .selectFrom('subscribers')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('subscriber_id', '=', subscriberId)
    .executeTakeFirst()
}

/** Creates the subscriber; leaves an existing one alone and returns nothing. */
export async function insertSubscriber(
  db: Db | Tx,
  environmentId: string,
  { subscriberId, ...fields }: SubscriberInput,
  now: Date,
): Promise<SubscriberRow | undefined> {
  const insert = insertQuery(db, { environmentId, id: newId(now), subscriberId }, fields, now)
    .onConflict((conflict) => conflict.columns(['environment_id', 'subscriber_id']).doNothing())
    .returningAll()
  return told(db, sql`${insert}`, 'subscriber.created', now)
}

/** Creates the subscriber or sets the given fields of the existing one, in one statement. */
export async function upsertSubscriber(
  db: Db | Tx,
  environmentId: string,
  { subscriberId, ...fields }: SubscriberInput,
  now: Date,
): Promise<SubscriberRow> {
  const id = newId(now)
  const upsert = insertQuery(db, { environmentId, id, subscriberId }, fields, now)
    .onConflict((conflict) =>
      conflict
        .columns(['environment_id', 'subscriber_id'])
        .doUpdateSet({ ...subscriberColumns(fields), updated_at: now }),
    )
    .returningAll()
  const type = sql`CASE c.id WHEN ${id} THEN 'subscriber.created' ELSE 'subscriber.updated' END`
  const row = await told(db, sql`${upsert}`, type, now)
  if (!row) throw new Error('The subscriber written just now is not there.')
  return row
}

/** Sets the given fields of an existing subscriber; without any, only reads it. */
export async function updateSubscriber(
  db: Db | Tx,
  environmentId: string,
  subscriberId: string,
  fields: SubscriberFields,
  now: Date,
): Promise<SubscriberRow | undefined> {
  const changes = subscriberColumns(fields)
  if (Object.keys(changes).length === 0) return findSubscriber(db, environmentId, subscriberId)
  const update = db
    .updateTable('subscribers')
    .set({ ...changes, updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('subscriber_id', '=', subscriberId)
    .returningAll()
  return told(db, sql`${update}`, 'subscriber.updated', now)
}

/** Runs a change that returns rows, and writes webhook events for them. */
async function told(
  db: Db | Tx,
  change: RawBuilder<unknown>,
  type: EventType | RawBuilder<unknown>,
  now: Date,
): Promise<SubscriberRow | undefined> {
  const { rows } = await sql<SubscriberRow>`
    WITH changed AS (${change}), ${tellingOf(type, now)}
    SELECT changed.* FROM changed, webhooks`.execute(db)
  return rows[0]
}

const tellingOf = (type: EventType | RawBuilder<unknown>, now: Date) =>
  telling({ type, object: subscriberObject, subscriberId: sql`c.subscriber_id`, now })

/** Only for rows that really changed: triggers repeat the same fields every time. */
const tellingOfChanges = (now: Date) =>
  telling({
    type: 'subscriber.updated',
    object: subscriberObject,
    previous: sql`c.previous::json`,
    subscriberId: sql`c.subscriber_id`,
    when: sql`to_jsonb(c) - '{channels,previous,updated_at}'::text[] <> c.previous - 'updated_at'`,
    now,
  })

interface Named {
  environmentId: string
  id: string
  subscriberId: string
}

function insertQuery(db: Db | Tx, { environmentId, id, subscriberId }: Named, fields: SubscriberFields, now: Date) {
  const empty = {
    first_name: null,
    last_name: null,
    email: null,
    phone: null,
    avatar: null,
    locale: null,
    timezone: null,
  }
  return db.insertInto('subscribers').values({
    ...empty,
    environment_id: environmentId,
    id,
    subscriber_id: subscriberId,
    ...subscriberColumns(fields),
    created_at: now,
    updated_at: now,
  })
}

/**
 * Creates or updates any number of subscribers with one INSERT and one UPDATE. Each subscriberId must be unique. Rows are
 * inserted, then locked in the order of their ids, so that two calls cannot deadlock. `isTold: false` skips the webhook events,
 * for a caller that knows that no endpoint subscribes to them. @returns the ids of new subscribers
 */
export async function upsertSubscribers(
  tx: Tx,
  environmentId: string,
  inputs: SubscriberInput[],
  now: Date,
  { isTold = true }: { isTold?: boolean } = {},
): Promise<Set<string>> {
  // Internal ids follow the caller's order, which lists show.
  const ordered = inputs
    .map((input) => ({ id: newId(now), subscriberId: input.subscriberId, fields: JSON.stringify(input) }))
    .sort((a, b) => (a.subscriberId < b.subscriberId ? -1 : 1))
  const given = (wanted: typeof ordered) => sql`
    unnest(${wanted.map(({ id }) => id)}::text[], ${wanted.map(({ subscriberId }) => subscriberId)}::text[],
           ${wanted.map(({ fields }) => fields)}::jsonb[]) AS given (id, subscriber_id, fields)`
  const givenValue = (name: keyof SubscriberFields) =>
    name === 'data' ? sql`nullif(given.fields -> 'data', 'null')` : sql`given.fields ->> ${sql.lit(name)}`
  const change = (statement: RawBuilder<unknown>, part: RawBuilder<unknown>) =>
    sql<{ subscriber_id: string }>`
      WITH changed AS (${statement}), ${isTold ? part : sql`webhooks AS (SELECT)`}
      SELECT subscriber_id FROM changed, webhooks`.execute(tx)
  const insert = sql`
    INSERT INTO subscribers AS s (environment_id, id, subscriber_id, ${sql.join(fieldNames.map((name) => sql.ref(columnOf[name])))}, created_at, updated_at)
    SELECT ${environmentId}, given.id, given.subscriber_id, ${sql.join(fieldNames.map(givenValue))}, ${now}, ${now}
    FROM ${given(ordered)}
    ON CONFLICT (environment_id, subscriber_id) DO NOTHING RETURNING s.*`
  const inserted = await change(insert, tellingOf('subscriber.created', now))
  const created = new Set(inserted.rows.map((row) => row.subscriber_id))
  const existing = ordered.filter((input) => !created.has(input.subscriberId))
  if (existing.length > 0) {
    const changes = fieldNames.map(
      (name) =>
        sql`${sql.ref(columnOf[name])} = CASE WHEN given.fields ? ${sql.lit(name)} THEN ${givenValue(name)} ELSE s.${sql.ref(columnOf[name])} END`,
    )
    // An UPDATE visits a join in the planner's order; the inner SELECT fixes the order.
    const update = sql`
      UPDATE subscribers s SET ${sql.join(changes)}, updated_at = ${now}
      FROM ${given(existing)}, (
        SELECT subscriber_id${isTold ? sql`, to_jsonb(before) - 'channels' AS previous` : sql``} FROM subscribers before
        WHERE environment_id = ${environmentId} AND subscriber_id = ANY(${existing.map(({ subscriberId }) => subscriberId)}::text[])
        ORDER BY subscriber_id FOR NO KEY UPDATE) locked
      WHERE s.environment_id = ${environmentId} AND s.subscriber_id = given.subscriber_id
        AND s.subscriber_id = locked.subscriber_id
      RETURNING s.*${isTold ? sql`, locked.previous` : sql``}`
    await change(update, tellingOfChanges(now))
  }
  return created
}

interface Deletion {
  keepMessages: boolean
  now: Date
}

/** Deletes the subscriber with all dependent rows. @returns whether it existed */
export const deleteSubscriber = async (
  tx: Tx,
  environmentId: string,
  subscriberId: string,
  deletion: Deletion,
): Promise<boolean> => (await deleteSubscribers(tx, environmentId, [subscriberId], deletion)).length > 0

/** Deletes any number of them, with as many statements as one. @returns the ids of those that existed */
export async function deleteSubscribers(
  tx: Tx,
  environmentId: string,
  subscriberIds: string[],
  { keepMessages, now }: Deletion,
): Promise<string[]> {
  // Locked in the order of their ids, like those that are written in bulk.
  const { rows } = await sql<SubscriberRow>`
    WITH locked AS MATERIALIZED (
      SELECT t.id FROM subscribers t
      WHERE t.environment_id = ${environmentId} AND t.subscriber_id = ANY(${subscriberIds}::text[])
      ORDER BY t.subscriber_id FOR UPDATE
    ), changed AS (
      DELETE FROM subscribers s USING locked WHERE s.environment_id = ${environmentId} AND s.id = locked.id RETURNING s.*
    ), ${tellingOf('subscriber.deleted', now)}
    SELECT changed.* FROM changed, webhooks`.execute(tx)
  if (rows.length === 0) return []
  const [ids, deleted] = [rows.map(({ id }) => id), rows.map(({ subscriber_id }) => subscriber_id)]
  const ofThem = sql`t.subscriber_row_id = ANY(${ids}::text[])`
  await deleteSubscriptions(tx, environmentId, ofThem)
  await tx
    .deleteFrom('subscriber_preferences')
    .where('environment_id', '=', environmentId)
    .where('subscriber_row_id', 'in', ids)
    .execute()
  for (const table of ['channel_endpoints', 'bot_links'] as const)
    await tx
      .deleteFrom(table)
      .where('environment_id', '=', environmentId)
      .where('subscriber_id', 'in', deleted)
      .execute()
  if (!keepMessages) await deleteMessages(tx, { environmentId, now }, [ofThem])
  return deleted
}
