// Topic subscriptions: which subscribers are in which topic, in which contexts, and which workflows reach them through it.
import { sql } from 'kysely'
import { type Static, type TSchema, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { hasContextKeys, resolveContexts } from '../../db/queries/contexts.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { readPreferences, replacePreferences } from '../../db/queries/subscription-preferences.ts'
import {
  deleteSubscriptions,
  findSubscriberRowIds,
  pageOfSubscriptions,
  readSubscriptions,
  type SubscriptionEntry,
  type SubscriptionError,
  type SubscriptionRow,
  subscribe,
  subscriberNotFound,
  withIds,
} from '../../db/queries/topic-subscriptions.ts'
import { findTopic, type TopicRow, takeTopic } from '../../db/queries/topics.ts'
import { fail } from '../../errors.ts'
import { logOf, type Resource } from '../edge/resource.ts'
import {
  Body,
  ContextKeys,
  ContextPayload,
  CursorPage,
  cursorQuery,
  Nullable,
  StringOr,
  Timestamp,
} from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { choosePreferences, Preference, Preferences, toPreference } from './subscription-preferences.ts'
import { TopicKey, TopicName } from './topics.ts'

const mostAtOnce = 100
const needed = 'At least one subscription is required'

const tooMany = (verb: string, what: string) => `Cannot ${verb} more than ${mostAtOnce} ${what} at once`

/** The items under their current name, or under the former one if that is absent. */
const listed = <T extends TSchema>(item: T, verb: string, { minItems }: { minItems: number }) => ({
  subscriptions: Type.Optional(
    Type.Array(item, {
      minItems,
      maxItems: mostAtOnce,
      texts: { minItems: needed, maxItems: tooMany(verb, 'subscriptions') },
    }),
  ),
  subscriberIds: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems,
      maxItems: mostAtOnce,
      deprecated: true,
      texts: { minItems: 'At least one subscriber is required', maxItems: tooMany(verb, 'subscribers') },
    }),
  ),
})

const NewSubscription = StringOr<SubscriptionEntry>({
  properties: {
    subscriberId: Type.String({ minLength: 1 }),
    identifier: Type.String({ maxLength: 255, description: 'Unique in the environment; default: generated' }),
    name: Type.String(),
  },
  required: ['subscriberId'],
  texts: { type: 'must be a subscriber id or an object with one' },
})
const OldSubscription = StringOr<Partial<SubscriptionEntry>>({
  properties: { subscriberId: Type.String(), identifier: Type.String() },
  required: [],
  texts: { type: 'must be a subscriber id or an object with an identifier or a subscriberId' },
})

const TopicOfSubscription = Type.Object({
  _id: Type.String(),
  key: Type.String(),
  name: Type.Optional(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
const OptionalText = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }))
const SubscriberOfSubscription = Type.Object({
  _id: Type.String(),
  subscriberId: Type.String(),
  avatar: OptionalText,
  firstName: OptionalText,
  lastName: OptionalText,
  email: OptionalText,
  createdAt: Type.Optional(Timestamp),
  updatedAt: Type.Optional(Timestamp),
})
const TopicSubscription = Type.Object({
  _id: Type.String(),
  identifier: Type.String(),
  topic: TopicOfSubscription,
  subscriber: SubscriberOfSubscription,
  contextKeys: Type.Array(Type.String()),
  createdAt: Timestamp,
})
const RemovedSubscription = Type.Object({
  ...TopicSubscription.properties,
  subscriber: Nullable(SubscriberOfSubscription),
  updatedAt: Timestamp,
})
const Subscription = Type.Object({
  ...RemovedSubscription.properties,
  name: Type.Optional(Type.String()),
  preferences: Type.Array(Preference),
})
const SubscriptionDetails = Type.Object({
  id: Type.String(),
  identifier: Type.String(),
  name: Type.Optional(Type.String()),
  preferences: Type.Array(Preference),
  contextKeys: Type.Array(Type.String()),
})
const Outcome = <T extends typeof Subscription | typeof RemovedSubscription>(item: T) =>
  Type.Object({
    data: Type.Array(item),
    meta: Type.Object({ totalCount: Type.Integer(), successful: Type.Integer(), failed: Type.Integer() }),
    errors: Type.Optional(
      Type.Array(Type.Object({ subscriberId: Type.String(), code: Type.String(), message: Type.String() })),
    ),
  })

const Params = Type.Object({ topicKey: Type.String() })
const OneParams = Type.Object({ topicKey: Type.String(), identifier: Type.String() })

const nameOf = ({ name }: { name: string | null }) => (name === null ? {} : { name })

const topicOf = (row: SubscriptionRow): Static<typeof TopicOfSubscription> => ({
  _id: row.topic_id,
  key: row.topic_key,
  ...nameOf({ name: row.topic_name }),
  createdAt: row.topic_created_at,
  updatedAt: row.topic_updated_at,
})

function subscriberOf(row: SubscriptionRow): Static<typeof SubscriberOfSubscription> | null {
  if (row.subscriber_id === null || row.subscriber_created_at === null || row.subscriber_updated_at === null)
    return null
  return {
    _id: row.subscriber_row_id,
    subscriberId: row.subscriber_id,
    avatar: row.avatar,
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
    createdAt: row.subscriber_created_at,
    updatedAt: row.subscriber_updated_at,
  }
}

/** Empty when the subscriber was deleted: the list cannot show it, but still counts the subscription. */
function toTopicSubscription(row: SubscriptionRow): Array<Static<typeof TopicSubscription>> {
  const subscriber = subscriberOf(row)
  if (!subscriber) return []
  const { id, identifier, context_keys, created_at } = row
  return [{ _id: id, identifier, topic: topicOf(row), subscriber, contextKeys: context_keys, createdAt: created_at }]
}

const toRemoved = (row: SubscriptionRow): Static<typeof RemovedSubscription> => ({
  _id: row.id,
  identifier: row.identifier,
  topic: topicOf(row),
  subscriber: subscriberOf(row),
  contextKeys: row.context_keys,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

/** With their preferences, read in one statement. */
async function toSubscriptions(
  db: Db | Tx,
  environmentId: string,
  rows: SubscriptionRow[],
): Promise<Array<Static<typeof Subscription>>> {
  const preferences = await readPreferences(
    db,
    environmentId,
    rows.map((row) => row.id),
  )
  return rows.map((row) => ({
    ...toRemoved(row),
    ...nameOf(row),
    preferences: (preferences.get(row.id) ?? []).map((preference) => toPreference(preference, row.identifier)),
  }))
}

/** The result of each item. If none succeeded, fails the request, which rolls back everything. */
function outcome<T>(requested: number, data: T[], errors: SubscriptionError[]) {
  const meta = { totalCount: requested, successful: requested - errors.length, failed: errors.length }
  const answer = { data, meta, ...(errors.length === 0 ? {} : { errors }) }
  if (requested > 0 && meta.successful === 0) throw fail('no_subscription_succeeded', undefined, { ctx: answer })
  return answer
}

export const topicSubscriptions: Resource = (app, { db }) => {
  const tags = ['Topics']

  async function getTopic(tx: Db | Tx, environmentId: string, key: string): Promise<TopicRow> {
    const topic = await findTopic(tx, environmentId, key)
    if (!topic) throw fail('topic_not_found', { key })
    return topic
  }

  async function getSubscription(tx: Db | Tx, environmentId: string, key: string, identifier: string) {
    const topic = await getTopic(tx, environmentId, key)
    const where = sql`t.topic_id = ${topic.id} AND t.identifier = ${identifier}`
    const [row] = await toSubscriptions(tx, environmentId, await readSubscriptions(tx, environmentId, where))
    if (!row) throw fail('subscription_not_found', { identifier, key })
    return row
  }

  app.post(
    '/v2/topics/:topicKey/subscriptions',
    {
      schema: {
        tags,
        summary: 'Subscribe to a topic, which is created if missing',
        params: Type.Object({ topicKey: TopicKey }),
        body: Body(
          {
            ...listed(NewSubscription, 'subscribe', { minItems: 1 }),
            name: Type.Optional(TopicName),
            context: Type.Optional(ContextPayload()),
            preferences: Type.Optional(Preferences),
          },
          { examples: [{ subscriptions: ['ada'] }] },
        ),
        response: { 201: Outcome(Subscription) },
      },
    },
    async (request, reply) => {
      const { environment, params, body } = request
      const asked = { environmentId: environment.id, log: logOf(request) }
      const items = body.subscriptions ?? body.subscriberIds
      if (!items) throw generalError([needed])
      const entries = items.map((item) => (typeof item === 'string' ? { subscriberId: item } : item))
      // Besides the five of `subscribe`, up to seven statements however many entries: begin, contexts, workflows, topic,
      // subscriptions, their preferences, commit; one more if the topic is created or renamed.
      const answer = await db.transaction().execute(async (tx) => {
        const now = request.now()
        const contextKeys = await resolveContexts(tx, environment.id, body.context, now)
        const preferences = await choosePreferences(tx, asked, body.preferences ?? [])
        const topic = await takeTopic(tx, environment.id, { key: params.topicKey, name: body.name }, now)
        const { ids, errors } = await subscribe(
          tx,
          { environmentId: environment.id, topic, entries, contextKeys, preferences },
          now,
        )
        const rows = await readSubscriptions(tx, environment.id, withIds(ids))
        const order = new Map(ids.map((id, index) => [id, index]))
        rows.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0))
        return outcome(entries.length, await toSubscriptions(tx, environment.id, rows), errors)
      })
      return reply.code(201).send(answer)
    },
  )

  app.get(
    '/v2/topics/:topicKey/subscriptions',
    {
      schema: {
        tags,
        summary: 'List the subscriptions of a topic',
        params: Params,
        querystring: Type.Object({
          ...cursorQuery('ListTopicSubscriptionsCommand'),
          subscriberId: Type.Optional(Type.String({ description: 'The exact subscriber id' })),
          contextKeys: Type.Optional(ContextKeys),
        }),
        response: { 200: CursorPage(TopicSubscription) },
      },
    },
    async (request) => {
      const { environment, params, query } = request
      const topic = await getTopic(db, environment.id, params.topicKey)
      const where = [
        sql`t.topic_id = ${topic.id}`,
        ...(query.subscriberId
          ? [
              sql`t.subscriber_row_id = (
                SELECT id FROM subscribers WHERE environment_id = ${environment.id} AND subscriber_id = ${query.subscriberId})`,
            ]
          : []),
        ...hasContextKeys(query.contextKeys),
      ]
      const page = await pageOfSubscriptions(db, environment.id, where, query)
      return { ...page, data: page.data.flatMap(toTopicSubscription) }
    },
  )

  app.delete(
    '/v2/topics/:topicKey/subscriptions',
    {
      schema: {
        tags,
        summary: 'Unsubscribe from a topic',
        params: Params,
        body: Body(listed(OldSubscription, 'unsubscribe', { minItems: 0 }), { examples: [{ subscriptions: ['ada'] }] }),
        response: { 200: Outcome(RemovedSubscription) },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const items = body.subscriptions ?? body.subscriberIds
      if (!items) throw generalError([needed])
      // An identifier names one subscription, whoever holds it; the subscriber counts only without one.
      const targets = items.map((item) => {
        const { identifier, subscriberId } = typeof item === 'string' ? { identifier: '', subscriberId: item } : item
        return { identifier: identifier ?? '', subscriberId: subscriberId ?? '' }
      })
      return db.transaction().execute(async (tx) => {
        const topic = await getTopic(tx, environment.id, params.topicKey)
        const rowIds = await findSubscriberRowIds(
          tx,
          environment.id,
          targets.filter((target) => target.identifier === '').map((target) => target.subscriberId),
        )
        const identifiers = targets.map((target) => target.identifier)
        const named = sql`t.topic_id = ${topic.id} AND
          (t.identifier = ANY(${identifiers}::text[]) OR t.subscriber_row_id = ANY(${[...rowIds.values()]}::text[]))`
        const rows = await readSubscriptions(tx, environment.id, named, { lock: true })
        await deleteSubscriptions(tx, environment.id, withIds(rows.map((row) => row.id)))
        const errors = targets.flatMap(({ identifier, subscriberId }): SubscriptionError[] => {
          const rowId = rowIds.get(subscriberId)
          if (identifier !== '')
            return rows.some((row) => row.identifier === identifier)
              ? []
              : [notSubscribed(subscriberId, `Subscription with identifier '${identifier}' could not be found.`)]
          if (subscriberId === '') return [invalidItem]
          if (rowId === undefined) return [subscriberNotFound(subscriberId)]
          return rows.some((row) => row.subscriber_row_id === rowId)
            ? []
            : [notSubscribed(subscriberId, `Subscriber '${subscriberId}' has no subscription to topic "${topic.key}".`)]
        })
        return outcome(targets.length, rows.map(toRemoved), errors)
      })
    },
  )

  app.get(
    '/v2/topics/:topicKey/subscriptions/:identifier',
    {
      schema: { tags, summary: 'Retrieve a subscription', params: OneParams, response: { 200: SubscriptionDetails } },
    },
    async (request) => {
      const { topicKey, identifier } = request.params
      const { _id, ...subscription } = await getSubscription(db, request.environment.id, topicKey, identifier)
      return { id: _id, ...subscription }
    },
  )

  app.patch(
    '/v2/topics/:topicKey/subscriptions/:identifier',
    {
      schema: {
        tags,
        summary: 'Change the name of a subscription, or replace its preferences',
        params: OneParams,
        body: Type.Optional(Body({ name: Type.Optional(Type.String()), preferences: Type.Optional(Preferences) })),
        response: { 200: Subscription },
      },
    },
    async (request) => {
      const { environment, params } = request
      const { name, preferences } = request.body ?? {}
      const asked = { environmentId: environment.id, log: logOf(request) }
      return db.transaction().execute(async (tx) => {
        if (name !== undefined || preferences !== undefined) {
          const topic = await getTopic(tx, environment.id, params.topicKey)
          const changed = await tx
            .updateTable('topic_subscriptions')
            .set({ ...(name === undefined ? {} : { name }), updated_at: request.now() })
            .where('environment_id', '=', environment.id)
            .where('topic_id', '=', topic.id)
            .where('identifier', '=', params.identifier)
            .returning('id')
            .executeTakeFirst()
          if (changed && preferences)
            await replacePreferences(tx, environment.id, changed.id, await choosePreferences(tx, asked, preferences))
        }
        return getSubscription(tx, environment.id, params.topicKey, params.identifier)
      })
    },
  )

  app.get(
    '/v2/subscribers/:subscriberId/subscriptions',
    {
      schema: {
        tags: ['Subscribers'],
        summary: 'List the subscriptions of a subscriber',
        params: Type.Object({ subscriberId: Type.String() }),
        querystring: Type.Object({
          ...cursorQuery('ListSubscriberSubscriptionsCommand'),
          key: Type.Optional(Type.String({ description: 'The exact topic key' })),
          contextKeys: Type.Optional(ContextKeys),
        }),
        response: { 200: CursorPage(TopicSubscription) },
      },
    },
    async (request) => {
      const { environment, params, query } = request
      const subscriber = await findSubscriber(db, environment.id, params.subscriberId)
      if (!subscriber) throw fail('subscriber_of_subscriptions_not_found')
      const where = [
        sql`t.subscriber_row_id = ${subscriber.id}`,
        ...(query.key
          ? [sql`t.topic_id = (SELECT id FROM topics WHERE environment_id = ${environment.id} AND key = ${query.key})`]
          : []),
        ...hasContextKeys(query.contextKeys),
      ]
      const page = await pageOfSubscriptions(db, environment.id, where, query)
      return { ...page, data: page.data.flatMap(toTopicSubscription) }
    },
  )
}

const notSubscribed = (subscriberId: string, message: string): SubscriptionError => ({
  subscriberId,
  code: 'SUBSCRIPTION_NOT_FOUND',
  message,
})

const invalidItem: SubscriptionError = {
  subscriberId: '',
  code: 'INVALID_REQUEST',
  message: 'Either identifier or subscriberId is required.',
}
