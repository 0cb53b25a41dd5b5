// Subscriptions of subscribers to topics. These rows have no foreign keys; locks replace them:
// - Subscribing locks the topic and the subscribers FOR KEY SHARE, so deleting either waits for it, then finds its rows.
// - Subscriptions are locked in the order of ids and inserted in the order of identifiers, which avoids deadlocks.
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import { allOf, cursorPage, type Page, type PageRequest } from '../core/page.ts'
import { insertPreferences, type Preference } from './subscription-preferences.ts'

/** A subscription with its topic and its subscriber. */
export interface SubscriptionRow {
  environment_id: string
  id: string
  identifier: string
  name: string | null
  context_keys: string[]
  created_at: Date
  updated_at: Date
  topic_id: string
  topic_key: string
  topic_name: string | null
  topic_created_at: Date
  topic_updated_at: Date
  subscriber_row_id: string
  /** Null if the subscriber was deleted, like all that follows. */
  subscriber_id: string | null
  avatar: string | null
  first_name: string | null
  last_name: string | null
  email: string | null
  subscriber_created_at: Date | null
  subscriber_updated_at: Date | null
}

const columns = sql`
  t.environment_id, t.id, t.identifier, t.name, t.context_keys, t.created_at, t.updated_at, t.topic_id, t.subscriber_row_id,
  o.key AS topic_key, o.name AS topic_name, o.created_at AS topic_created_at, o.updated_at AS topic_updated_at,
  s.subscriber_id, s.avatar, s.first_name, s.last_name, s.email,
  s.created_at AS subscriber_created_at, s.updated_at AS subscriber_updated_at`
const withTopicAndSubscriber = sql`
  topic_subscriptions t
  JOIN topics o ON o.environment_id = t.environment_id AND o.id = t.topic_id
  LEFT JOIN subscribers s ON s.environment_id = t.environment_id AND s.id = t.subscriber_row_id`

/** One page, newest first by default. `where` only uses the subscription `t`, so counting needs no join. */
export async function pageOfSubscriptions(
  db: Db,
  environmentId: string,
  where: RawBuilder<unknown>[],
  request: PageRequest,
): Promise<Page<SubscriptionRow>> {
  const list = {
    from: withTopicAndSubscriber,
    countFrom: sql`topic_subscriptions t`,
    table: 'topic_subscriptions',
    columns,
    where: allOf([sql`t.environment_id = ${environmentId}`, ...where]),
    environmentId,
  }
  return cursorPage<SubscriptionRow>(db, list, request)
}

/** These subscriptions, oldest first. With `lock` they cannot change until the transaction ends. */
export async function readSubscriptions(
  db: Db | Tx,
  environmentId: string,
  where: RawBuilder<unknown>,
  { lock = false } = {},
): Promise<SubscriptionRow[]> {
  const { rows } = await sql<SubscriptionRow>`
    SELECT ${columns} FROM ${withTopicAndSubscriber}
    WHERE t.environment_id = ${environmentId} AND ${where}
    ORDER BY t.id ${lock ? sql`FOR UPDATE OF t` : sql``}`.execute(db)
  return rows
}

export const withIds = (ids: string[]) => sql`t.id = ANY(${ids}::text[])`

export function defaultIdentifier(topicKey: string, subscriberId: string, contextKeys: string[]): string {
  const context = contextKeys.length === 0 ? '' : `:ctx_${contextKeys.join(',')}`
  return `tk_${topicKey}:si_${subscriberId}${context}`
}

/** Subscriptions of one subscriber to one topic. */
export const mostPerTopic = 10

export interface SubscriptionEntry {
  subscriberId: string
  /** Default: made of topic, subscriber and context. */
  identifier?: string
  name?: string
}

export interface SubscriptionError {
  subscriberId: string
  code:
    | 'SUBSCRIBER_NOT_FOUND'
    | 'SUBSCRIPTION_LIMIT_EXCEEDED'
    | 'SUBSCRIPTION_CREATE_FAILED'
    | 'SUBSCRIPTION_NOT_FOUND'
    | 'INVALID_REQUEST'
  message: string
}

export interface Subscribing {
  environmentId: string
  /** Locked by this transaction, see `takeTopic`. */
  topic: { id: string; key: string }
  entries: SubscriptionEntry[]
  /** Sorted, as `resolveContexts` returns them. */
  contextKeys: string[]
  /** For new subscriptions; existing ones keep theirs. */
  preferences: Preference[]
}

/**
 * Creates missing subscriptions and leaves existing ones alone. Five statements for any number of entries: the locks, the
 * subscribers, their existing subscriptions, the new subscriptions, their preferences.
 * @returns the ids of the subscriptions in the order of the entries, without duplicates, and why the others failed
 */
export async function subscribe(
  tx: Tx,
  { environmentId, topic, entries, contextKeys, preferences }: Subscribing,
  now: Date,
): Promise<{ ids: string[]; errors: SubscriptionError[] }> {
  const subscriberIds = [...new Set(entries.map((entry) => entry.subscriberId))]
  await waitForTurn(tx, topic.id, subscriberIds)
  const rowIds = await findSubscriberRowIds(tx, environmentId, subscriberIds, { lock: true })
  const asked = entries.map((entry) => ({
    ...entry,
    identifier: entry.identifier || defaultIdentifier(topic.key, entry.subscriberId, contextKeys),
    rowId: rowIds.get(entry.subscriberId),
  }))
  const held = await readHeld(
    tx,
    environmentId,
    topic.id,
    [...rowIds.values()],
    asked.map((entry) => entry.identifier),
  )
  const known = new Map(held.map((row) => [row.identifier, row]))
  const counts = new Map<string, number>()
  for (const row of held) {
    if (row.topic_id === topic.id) counts.set(row.subscriber_row_id, (counts.get(row.subscriber_row_id) ?? 0) + 1)
  }

  const planned: Planned[] = []
  const outcomes = asked.map(({ subscriberId, identifier, name, rowId }): string | SubscriptionError => {
    if (rowId === undefined) return subscriberNotFound(subscriberId)
    const existing = known.get(identifier)
    if (existing) {
      const isSame =
        existing.topic_id === topic.id &&
        existing.subscriber_row_id === rowId &&
        existing.context_keys.join() === contextKeys.join()
      return isSame ? existing.id : identifierTaken(subscriberId, identifier)
    }
    const count = counts.get(rowId) ?? 0
    if (count >= mostPerTopic) return limitExceeded(subscriberId, topic.key)
    counts.set(rowId, count + 1)
    const id = newId(now)
    const row = { id, topic_id: topic.id, subscriber_row_id: rowId, identifier, context_keys: contextKeys }
    known.set(identifier, row)
    planned.push({ ...row, name: name ?? null })
    return id
  })

  const inserted = new Set(await insertPlanned(tx, environmentId, planned, now))
  await insertPreferences(tx, environmentId, [...inserted], preferences)
  // A subscription of another topic may have taken an identifier in the meantime.
  const lost = new Set(planned.filter((row) => !inserted.has(row.id)).map((row) => row.id))
  const ids = new Set<string>()
  const errors: SubscriptionError[] = []
  for (const [index, outcome] of outcomes.entries()) {
    const { subscriberId = '', identifier = '' } = asked[index] ?? {}
    if (typeof outcome !== 'string') errors.push(outcome)
    else if (lost.has(outcome)) errors.push(identifierTaken(subscriberId, identifier))
    else ids.add(outcome)
  }
  return { ids: [...ids], errors }
}

export const subscriberNotFound = (subscriberId: string): SubscriptionError => ({
  subscriberId,
  code: 'SUBSCRIBER_NOT_FOUND',
  message: `Subscriber with ID '${subscriberId}' could not be found.`,
})

const limitExceeded = (subscriberId: string, topicKey: string): SubscriptionError => ({
  subscriberId,
  code: 'SUBSCRIPTION_LIMIT_EXCEEDED',
  message: `Subscriber ${subscriberId} has reached the maximum allowed of ${mostPerTopic} subscriptions for topic "${topicKey}"`,
})

const identifierTaken = (subscriberId: string, identifier: string): SubscriptionError => ({
  subscriberId,
  code: 'SUBSCRIPTION_CREATE_FAILED',
  message: `Another subscription has the identifier '${identifier}'; choose a different one.`,
})

export const turnsPerTopic = 16

/**
 * Only one transaction at a time may count and add a subscriber's subscriptions to a topic, or the limit per topic would not
 * hold. Each pair maps to one of the topic's 16 advisory locks: a lock per pair would, at 100 pairs a request, soon fill the
 * server's lock table, and locking the topic's row would limit a busy topic to one subscription per commit.
 */
async function waitForTurn(tx: Tx, topicId: string, subscriberIds: string[]): Promise<void> {
  await sql`
    SELECT pg_advisory_xact_lock(turn) FROM (
      SELECT DISTINCT hashtextextended(${topicId}, hashtext(subscriber_id) & ${turnsPerTopic - 1}) AS turn
      FROM unnest(${subscriberIds}::text[]) AS subscriber_id
      ORDER BY turn) turns`.execute(tx)
}

/** The internal ids of existing subscribers. With `lock` they cannot be deleted before the transaction ends. */
export async function findSubscriberRowIds(
  tx: Tx,
  environmentId: string,
  subscriberIds: string[],
  { lock = false } = {},
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; subscriber_id: string }>`
    SELECT id, subscriber_id FROM subscribers
    WHERE environment_id = ${environmentId} AND subscriber_id = ANY(${subscriberIds}::text[])
    ORDER BY subscriber_id ${lock ? sql`FOR KEY SHARE` : sql``}`.execute(tx)
  return new Map(rows.map((row) => [row.subscriber_id, row.id]))
}

interface Held {
  id: string
  topic_id: string
  subscriber_row_id: string
  identifier: string
  context_keys: string[]
}

interface Planned extends Held {
  name: string | null
}

/** These subscribers' subscriptions to the topic, at most ten each, and any with one of these identifiers. */
async function readHeld(
  tx: Tx,
  environmentId: string,
  topicId: string,
  subscriberRowIds: string[],
  identifiers: string[],
): Promise<Held[]> {
  const heldColumns = sql`id, topic_id, subscriber_row_id, identifier, context_keys`
  const { rows } = await sql<Held>`
    SELECT ${heldColumns} FROM topic_subscriptions
    WHERE environment_id = ${environmentId} AND topic_id = ${topicId} AND subscriber_row_id = ANY(${subscriberRowIds}::text[])
    UNION
    SELECT ${heldColumns} FROM topic_subscriptions
    WHERE environment_id = ${environmentId} AND identifier = ANY(${identifiers}::text[])`.execute(tx)
  return rows
}

/** All of one topic and context. @returns the inserted ids; the other identifiers are taken */
async function insertPlanned(tx: Tx, environmentId: string, planned: Planned[], now: Date): Promise<string[]> {
  const [first] = planned
  if (!first) return []
  const { rows } = await sql<{ id: string }>`
    INSERT INTO topic_subscriptions
      (environment_id, id, topic_id, subscriber_row_id, identifier, name, context_keys, created_at, updated_at)
    SELECT ${environmentId}, id, ${first.topic_id}, subscriber_row_id, identifier, name, ${first.context_keys}::text[], ${now}, ${now}
    FROM unnest(${planned.map((row) => row.id)}::text[], ${planned.map((row) => row.subscriber_row_id)}::text[],
                ${planned.map((row) => row.identifier)}::text[], ${planned.map((row) => row.name)}::text[])
           AS given (id, subscriber_row_id, identifier, name)
    ORDER BY identifier COLLATE "C"
    ON CONFLICT (environment_id, identifier) DO NOTHING
    RETURNING id`.execute(tx)
  return rows.map((row) => row.id)
}

/**
 * Deletes subscriptions with their preferences. A separate statement locks them first: it waits for transactions that add a
 * preference, and only a later statement sees that preference.
 */
export async function deleteSubscriptions(tx: Tx, environmentId: string, where: RawBuilder<unknown>): Promise<void> {
  await sql`
    SELECT count(*) FROM (
      SELECT t.id FROM topic_subscriptions t WHERE t.environment_id = ${environmentId} AND ${where}
      ORDER BY t.id FOR UPDATE) locked`.execute(tx)
  await sql`
    WITH gone AS (
      DELETE FROM topic_subscriptions t WHERE t.environment_id = ${environmentId} AND ${where} RETURNING t.id
    )
    DELETE FROM subscription_preferences
    WHERE environment_id = ${environmentId} AND subscription_id IN (SELECT id FROM gone)`.execute(tx)
}
