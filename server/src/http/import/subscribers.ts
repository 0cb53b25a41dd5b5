// Imported subscribers: created, or their fields set, unless they were written here later.
import { sql } from 'kysely'
import { Type } from 'typebox'
import { newId } from '../../db/core/ids.ts'
import { columnOf, fieldNames, type SubscriberFields } from '../../db/core/subscriber-fields.ts'
import { Body } from '../edge/schema.ts'
import { SubscriberId, subscriberFields } from '../subscribers/subscribers.ts'
import { type ImportKind, type Outcome, timeOf } from './kind.ts'
import { Time } from './times.ts'

interface SubscriberItem extends SubscriberFields {
  subscriberId: string
  createdAt?: string
  updatedAt?: string
}

export const importedSubscribers: ImportKind<SubscriberItem> = {
  name: 'subscribers',
  summary: 'Import up to 500 subscribers',
  description: 'Fields that are not given stay as they are.',
  item: Body({
    subscriberId: SubscriberId,
    ...subscriberFields,
    createdAt: Type.Optional(Time),
    updatedAt: Type.Optional(Time),
  }),
  example: { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', updatedAt: '2026-01-05T10:00:00.000Z' },
  scope: 'write:subscribers',
  keyOf: ({ subscriberId }) => subscriberId.trim(),

  async store({ tx, environmentId, now }, items) {
    // In the order of ids, like every other bulk write of subscribers, so that two cannot deadlock.
    const given = items
      .map((item) => {
        const createdAt = timeOf(item.createdAt, now)
        const subscriberId = item.subscriberId.trim()
        return { item, subscriberId, id: newId(createdAt ?? now), createdAt, updatedAt: timeOf(item.updatedAt, now) }
      })
      .sort((a, b) => (a.subscriberId < b.subscriberId ? -1 : 1))
    const rowsOf = (rows: typeof given) => sql`
      unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ subscriberId }) => subscriberId)}::text[],
             ${rows.map(({ item }) => JSON.stringify(item))}::jsonb[], ${rows.map(({ createdAt }) => createdAt)}::timestamptz[],
             ${rows.map(({ updatedAt }) => updatedAt)}::timestamptz[]) AS given (id, subscriber_id, fields, created_at, updated_at)`
    const givenValue = (name: keyof SubscriberFields) =>
      name === 'data' ? sql`nullif(given.fields -> 'data', 'null')` : sql`given.fields ->> ${sql.lit(name)}`
    const columns = fieldNames.map((name) => sql.ref(columnOf[name]))

    const inserted = await sql<{ subscriber_id: string }>`
      INSERT INTO subscribers AS s (environment_id, id, subscriber_id, ${sql.join(columns)}, created_at, updated_at)
      SELECT ${environmentId}, given.id, given.subscriber_id, ${sql.join(fieldNames.map(givenValue))},
             coalesce(given.created_at, ${now}), coalesce(given.updated_at, ${now})
      FROM ${rowsOf(given)}
      ON CONFLICT (environment_id, subscriber_id) DO NOTHING RETURNING s.subscriber_id`.execute(tx)
    const imported = new Set(inserted.rows.map((row) => row.subscriber_id))

    const existing = given.filter(({ subscriberId }) => !imported.has(subscriberId))
    if (existing.length > 0) {
      const next = fieldNames.map(
        (name) =>
          sql`CASE WHEN given.fields ? ${sql.lit(name)} THEN ${givenValue(name)} ELSE s.${sql.ref(columnOf[name])} END`,
      )
      const changed = await sql<{ subscriber_id: string }>`
        UPDATE subscribers s SET (${sql.join(columns)}) = ROW(${sql.join(next)}),
          updated_at = greatest(s.updated_at, coalesce(given.updated_at, ${now}))
        FROM ${rowsOf(existing)}, (
          SELECT subscriber_id FROM subscribers
          WHERE environment_id = ${environmentId} AND subscriber_id = ANY(${existing.map(({ subscriberId }) => subscriberId)}::text[])
          ORDER BY subscriber_id FOR NO KEY UPDATE) locked
        WHERE s.environment_id = ${environmentId} AND s.subscriber_id = given.subscriber_id
          AND s.subscriber_id = locked.subscriber_id AND s.updated_at <= coalesce(given.updated_at, s.updated_at)
          AND (${sql.join(next)}) IS DISTINCT FROM (${sql.join(columns.map((column) => sql`s.${column}`))})
        RETURNING s.subscriber_id`.execute(tx)
      for (const row of changed.rows) imported.add(row.subscriber_id)
    }
    return items.map(({ subscriberId }): Outcome => (imported.has(subscriberId.trim()) ? 'imported' : 'unchanged'))
  },
}
