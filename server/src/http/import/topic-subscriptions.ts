// Imported subscriptions to topics. Missing topics are created, missing subscribers are not. Locks as in db/queries/topic-subscriptions.ts.
import { sql } from 'kysely'
import { Type } from 'typebox'
import { newId } from '../../db/core/ids.ts'
import {
  defaultIdentifier,
  findSubscriberRowIds,
  mostPerTopic,
  turnsPerTopic,
} from '../../db/queries/topic-subscriptions.ts'
import { isTopicKey } from '../../db/queries/topics.ts'
import { fail } from '../../errors.ts'
import { Body, FreeObject, Identifier } from '../edge/schema.ts'
import { SubscriberId } from '../subscribers/subscribers.ts'
import { GivenContextKeys, makeContexts, sortedKeys } from './context-keys.ts'
import { type Importing, type ImportKind, type Outcome, timeOf } from './kind.ts'
import { Time } from './times.ts'

interface SubscriptionItem {
  topicKey: string
  topicName?: string
  subscriberId: string
  identifier?: string
  name?: string
  contextKeys?: string[]
  preferences?: Array<{ workflowId: string; enabled?: boolean; condition?: Record<string, unknown> }>
  createdAt?: string
}

const identifierOf = ({ identifier, topicKey, subscriberId, contextKeys }: SubscriptionItem) =>
  identifier ?? defaultIdentifier(topicKey, subscriberId.trim(), sortedKeys(contextKeys))

export const importedSubscriptions: ImportKind<SubscriptionItem> = {
  name: 'topic-subscriptions',
  summary: 'Import up to 500 subscriptions to topics',
  description: 'Missing topics are created with `topicName`. A subscription that is there stays as it is.',
  item: Body({
    topicKey: Identifier(),
    topicName: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    subscriberId: SubscriberId,
    identifier: Type.Optional(Identifier()),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    contextKeys: GivenContextKeys,
    preferences: Type.Optional(
      Type.Array(
        Body({
          workflowId: Identifier(),
          enabled: Type.Optional(Type.Boolean()),
          condition: Type.Optional(FreeObject),
        }),
        { maxItems: 100, description: 'Which workflows reach the subscriber by this subscription' },
      ),
    ),
    createdAt: Type.Optional(Time),
  }),
  example: { topicKey: 'product-news', topicName: 'Product news', subscriberId: 'ada' },
  scope: 'write:topics',
  keyOf: identifierOf,

  async store(importing, items) {
    await makeContexts(importing, items)
    const isSound = ({ topicKey }: SubscriptionItem) => isTopicKey(topicKey)
    const topics = await takeTopics(importing, items.filter(isSound))
    const subscriberIds = items.map(({ subscriberId }) => subscriberId.trim())
    await waitForTurns(importing, topics, items)
    const rowIds = await findSubscriberRowIds(importing.tx, importing.environmentId, [...new Set(subscriberIds)], {
      lock: true,
    })
    const held = await readHeld(importing, [...topics.values()], [...rowIds.values()], items.map(identifierOf))
    const taken = new Map(held.map((row) => [row.identifier, row]))
    const counts = new Map<string, number>()
    const placeOf = (topicId: string, rowId: string) => `${topicId} ${rowId}`
    for (const { topic_id, subscriber_row_id } of held) {
      const place = placeOf(topic_id, subscriber_row_id)
      counts.set(place, (counts.get(place) ?? 0) + 1)
    }
    const planned: Planned[] = []
    const outcomes = items.map((item, index): Outcome => {
      const { topicKey, subscriberId } = item
      const [topicId, rowId] = [topics.get(topicKey), rowIds.get(subscriberId.trim())]
      if (topicId === undefined) return fail('invalid_topic_key', { key: topicKey })
      if (rowId === undefined) return fail('subscriber_not_found', item)
      const identifier = identifierOf(item)
      const known = taken.get(identifier)
      if (known) {
        const isSame = known.topic_id === topicId && known.subscriber_row_id === rowId
        return isSame ? 'unchanged' : fail('subscription_identifier_taken', { identifier })
      }
      const place = placeOf(topicId, rowId)
      const count = counts.get(place) ?? 0
      if (count >= mostPerTopic) return fail('too_many_topic_subscriptions', { limit: mostPerTopic, topicKey })
      counts.set(place, count + 1)
      const createdAt = timeOf(item.createdAt, importing.now) ?? importing.now
      planned.push({ index, id: newId(createdAt), topicId, rowId, identifier, createdAt, item })
      return 'imported'
    })
    const inserted = await insertPlanned(importing, planned)
    for (const { index, id, identifier } of planned)
      if (!inserted.has(id)) outcomes[index] = fail('subscription_identifier_taken', { identifier })
    await insertPreferences(
      importing,
      planned.filter(({ id }) => inserted.has(id)),
    )
    return outcomes
  },
}

interface Planned {
  index: number
  id: string
  topicId: string
  rowId: string
  identifier: string
  createdAt: Date
  item: SubscriptionItem
}

/** The ids of the topics by key, created if needed, protected from deletion until the transaction ends. */
async function takeTopics(
  { tx, environmentId, now }: Importing,
  items: SubscriptionItem[],
): Promise<Map<string, string>> {
  const named = new Map<string, string | null>()
  for (const { topicKey, topicName } of items) named.set(topicKey, named.get(topicKey) ?? topicName ?? null)
  const wanted = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  const keys = wanted.map(([key]) => key)
  await sql`
    INSERT INTO topics (environment_id, id, key, name, joinable_from_browser, created_at, updated_at)
    SELECT ${environmentId}, id, key, name, false, ${now}, ${now}
    FROM unnest(${keys.map(() => newId(now))}::text[], ${keys}::text[], ${wanted.map(([, name]) => name)}::text[])
      AS given (id, key, name)
    WHERE NOT EXISTS (SELECT FROM topics t WHERE t.environment_id = ${environmentId} AND t.key = given.key)
    ON CONFLICT (environment_id, key) DO NOTHING`.execute(tx)
  const { rows } = await sql<{ id: string; key: string }>`
    SELECT id, key FROM topics WHERE environment_id = ${environmentId} AND key = ANY(${keys}::text[])
    ORDER BY key FOR KEY SHARE`.execute(tx)
  return new Map(rows.map(({ id, key }) => [key, id]))
}

/** Only one transaction at a time may count and add a subscriber's subscriptions to a topic. */
async function waitForTurns({ tx }: Importing, topics: ReadonlyMap<string, string>, items: SubscriptionItem[]) {
  const pairs = items.flatMap(({ topicKey, subscriberId }) => {
    const topicId = topics.get(topicKey)
    return topicId === undefined ? [] : [{ topicId, subscriberId: subscriberId.trim() }]
  })
  await sql`
    SELECT pg_advisory_xact_lock(turn) FROM (
      SELECT DISTINCT hashtextextended(topic_id, hashtext(subscriber_id) & ${turnsPerTopic - 1}) AS turn
      FROM unnest(${pairs.map(({ topicId }) => topicId)}::text[], ${pairs.map(({ subscriberId }) => subscriberId)}::text[])
        AS given (topic_id, subscriber_id)
      ORDER BY turn) turns`.execute(tx)
}

interface Held {
  topic_id: string
  subscriber_row_id: string
  identifier: string
}

/** Subscriptions of these subscribers to these topics, and any with one of these identifiers. */
async function readHeld(
  { tx, environmentId }: Importing,
  topicIds: string[],
  rowIds: string[],
  identifiers: string[],
): Promise<Held[]> {
  const { rows } = await sql<Held>`
    SELECT topic_id, subscriber_row_id, identifier FROM topic_subscriptions
    WHERE environment_id = ${environmentId} AND topic_id = ANY(${topicIds}::text[])
      AND subscriber_row_id = ANY(${rowIds}::text[])
    UNION
    SELECT topic_id, subscriber_row_id, identifier FROM topic_subscriptions
    WHERE environment_id = ${environmentId} AND identifier = ANY(${identifiers}::text[])`.execute(tx)
  return rows
}

/** @returns the ids of those that were inserted; the identifiers of others were taken meanwhile */
async function insertPlanned({ tx, environmentId }: Importing, planned: Planned[]): Promise<Set<string>> {
  if (planned.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    INSERT INTO topic_subscriptions
      (environment_id, id, topic_id, subscriber_row_id, identifier, name, context_keys, created_at, updated_at)
    SELECT ${environmentId}, id, topic_id, row_id, identifier, name, ARRAY(SELECT jsonb_array_elements_text(keys)),
           created_at, created_at
    FROM unnest(${planned.map(({ id }) => id)}::text[], ${planned.map(({ topicId }) => topicId)}::text[],
                ${planned.map(({ rowId }) => rowId)}::text[], ${planned.map(({ identifier }) => identifier)}::text[],
                ${planned.map(({ item }) => item.name ?? null)}::text[],
                ${planned.map(({ item }) => JSON.stringify(sortedKeys(item.contextKeys)))}::jsonb[],
                ${planned.map(({ createdAt }) => createdAt)}::timestamptz[])
      AS given (id, topic_id, row_id, identifier, name, keys, created_at)
    ORDER BY identifier COLLATE "C"
    ON CONFLICT (environment_id, identifier) DO NOTHING RETURNING id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Preferences for workflows that are not here say nothing, and are left out. */
async function insertPreferences({ tx, environmentId }: Importing, planned: Planned[]): Promise<void> {
  const given = planned.flatMap(({ id, item }) => (item.preferences ?? []).map((preference) => ({ id, ...preference })))
  if (given.length === 0) return
  await sql`
    INSERT INTO subscription_preferences (environment_id, subscription_id, workflow_id, enabled, condition)
    SELECT ${environmentId}, given.subscription_id, w.id, given.enabled, given.condition
    FROM unnest(${given.map(({ id }) => id)}::text[], ${given.map(({ workflowId }) => workflowId)}::text[],
                ${given.map(({ enabled }) => enabled ?? true)}::boolean[],
                ${given.map(({ condition }) => (condition ? JSON.stringify(condition) : null))}::jsonb[])
      AS given (subscription_id, workflow, enabled, condition)
    JOIN workflows w ON w.environment_id = ${environmentId} AND w.identifier = given.workflow
    ON CONFLICT (environment_id, subscription_id, workflow_id) DO NOTHING`.execute(tx)
}
