// Topics, v1, for older clients. Only the membership check is documented; the rest keeps working.
import { sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { deleteSubscriptions, subscribe } from '../../db/queries/topic-subscriptions.ts'
import { changeTopic, deleteTopic, findTopic, insertTopic, takeTopic } from '../../db/queries/topics.ts'
import { fail } from '../../errors.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, Empty, NumberedPage, Timestamp } from '../edge/schema.ts'
import { NewTopicName, TopicKey } from './topics.ts'

/** Subscribers shown with a v1 topic; v2 lists all of them in pages. */
const mostSubscribers = 1_000
const mostPerPage = 10

const Topic = Type.Object({
  _id: Type.String(),
  _organizationId: Type.String(),
  _environmentId: Type.String(),
  key: Type.String(),
  name: Type.Optional(Type.String()),
  subscribers: Type.Array(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
const Membership = Type.Object({
  _organizationId: Type.String(),
  _environmentId: Type.String(),
  _subscriberId: Type.String(),
  _topicId: Type.String(),
  topicKey: Type.String(),
  externalSubscriberId: Type.String(),
})
const Params = Type.Object({ topicKey: Type.String() })
const SubscriberIds = Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })

interface Row {
  id: string
  key: string
  name: string | null
  created_at: Date
  updated_at: Date
  subscribers: string[]
}

interface Selection {
  key?: string | undefined
  limit: number
  offset: number
}

/** Newest first, each with its subscribers in the order of their ids. */
async function readTopics(db: Db, environment: Environment, { key, limit, offset }: Selection) {
  const { rows } = await sql<Row>`
    SELECT o.id, o.key, o.name, o.created_at, o.updated_at, array(
      SELECT DISTINCT s.subscriber_id FROM (
        SELECT subscriber_row_id FROM topic_subscriptions
        WHERE environment_id = o.environment_id AND topic_id = o.id ORDER BY id LIMIT ${mostSubscribers}) t
      JOIN subscribers s ON s.environment_id = o.environment_id AND s.id = t.subscriber_row_id
      ORDER BY s.subscriber_id) AS subscribers
    FROM topics o
    WHERE o.environment_id = ${environment.id} ${key === undefined ? sql`` : sql`AND o.key = ${key}`}
    ORDER BY o.created_at DESC, o.id DESC LIMIT ${limit} OFFSET ${offset}`.execute(db)
  return rows.map((row) => ({
    _id: row.id,
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    key: row.key,
    ...(row.name === null ? {} : { name: row.name }),
    subscribers: row.subscribers,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }))
}

async function getTopic(db: Db, environment: Environment, key: string) {
  const [topic] = await readTopics(db, environment, { key, limit: 1, offset: 0 })
  if (!topic) throw fail('topic_not_found', { key })
  return topic
}

export const topicsV1: Resource = (app, { db }) => {
  app.get(
    '/v1/topics/:topicKey/subscribers/:externalSubscriberId',
    {
      schema: {
        tags: ['Topics'],
        summary: 'Check whether a subscriber is in a topic',
        params: Type.Object({ topicKey: Type.String(), externalSubscriberId: Type.String() }),
        response: { 200: Membership },
      },
    },
    async (request) => {
      const { environment } = request
      const { topicKey, externalSubscriberId } = request.params
      const [topic, subscriber] = await Promise.all([
        findTopic(db, environment.id, topicKey),
        findSubscriber(db, environment.id, externalSubscriberId),
      ])
      const subscription =
        topic &&
        subscriber &&
        (await db
          .selectFrom('topic_subscriptions')
          .select(['topic_id', 'subscriber_row_id'])
          .where('environment_id', '=', environment.id)
          .where('topic_id', '=', topic.id)
          .where('subscriber_row_id', '=', subscriber.id)
          .limit(1)
          .executeTakeFirst())
      if (!subscription)
        throw fail('topic_subscriber_not_found', {
          subscriberId: externalSubscriberId,
          key: topicKey,
          environmentId: environment.id,
        })
      return {
        _organizationId: environment.organizationId,
        _environmentId: environment.id,
        _subscriberId: subscription.subscriber_row_id,
        _topicId: subscription.topic_id,
        topicKey,
        externalSubscriberId,
      }
    },
  )

  app.post(
    '/v1/topics',
    {
      schema: {
        hide: true,
        body: Body({ key: TopicKey, name: NewTopicName }),
        response: { 201: Type.Object({ _id: Type.String(), key: Type.String() }) },
      },
    },
    async (request, reply) => {
      const row = await insertTopic(db, request.environment.id, request.body, request.now())
      if (!row) throw fail('topic_exists', request.body)
      return reply.code(201).send({ _id: row.id, key: row.key })
    },
  )

  app.get(
    '/v1/topics',
    {
      schema: {
        hide: true,
        querystring: Type.Object({
          page: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 }),
          pageSize: Type.Integer({ minimum: 1, maximum: mostPerPage, default: mostPerPage, zeroIsAbsent: true }),
          key: Type.Optional(Type.String()),
        }),
        response: { 200: NumberedPage(Topic) },
      },
    },
    async (request) => {
      const { page, pageSize, key } = request.query
      const [topics, { count }] = await Promise.all([
        readTopics(db, request.environment, { key, limit: pageSize, offset: page * pageSize }),
        db
          .selectFrom('topics')
          .select(({ fn }) => fn.countAll<string>().as('count'))
          .where('environment_id', '=', request.environment.id)
          .$if(key !== undefined, (query) => query.where('key', '=', key ?? ''))
          .executeTakeFirstOrThrow(),
      ])
      const totalCount = Number(count)
      return { page, pageSize, totalCount, hasMore: (page + 1) * pageSize < totalCount, data: topics }
    },
  )

  app.get('/v1/topics/:topicKey', { schema: { hide: true, params: Params, response: { 200: Topic } } }, (request) =>
    getTopic(db, request.environment, request.params.topicKey),
  )

  app.patch(
    '/v1/topics/:topicKey',
    { schema: { hide: true, params: Params, body: Body({ name: NewTopicName }), response: { 200: Topic } } },
    async (request) => {
      const { environment, params, body } = request
      await changeTopic(db, environment.id, { key: params.topicKey, name: body.name }, request.now())
      return getTopic(db, environment, params.topicKey)
    },
  )

  app.delete(
    '/v1/topics/:topicKey',
    { schema: { hide: true, params: Params, response: { 204: Empty } } },
    async (request, reply) => {
      const { environment, params } = request
      await db.transaction().execute(async (tx) => {
        // Locked, so that nobody subscribes between the check and the delete.
        const topic = await tx
          .selectFrom('topics')
          .select('id')
          .where('environment_id', '=', environment.id)
          .where('key', '=', params.topicKey)
          .forUpdate()
          .executeTakeFirst()
        const subscription =
          topic &&
          (await tx
            .selectFrom('topic_subscriptions')
            .select('id')
            .where('environment_id', '=', environment.id)
            .where('topic_id', '=', topic.id)
            .limit(1)
            .executeTakeFirst())
        if (subscription) throw fail('topic_has_subscribers', { key: params.topicKey })
        await deleteTopic(tx, environment.id, params.topicKey)
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/topics/:topicKey/subscribers',
    {
      schema: {
        hide: true,
        params: Type.Object({ topicKey: TopicKey }),
        body: Body({ subscribers: SubscriberIds }),
        response: {
          200: Type.Object({
            succeeded: Type.Array(Type.String()),
            failed: Type.Optional(
              Type.Object({
                notFound: Type.Array(Type.String()),
                refused: Type.Optional(Type.Array(Type.String())),
              }),
            ),
          }),
        },
      },
    },
    async (request) => {
      const { environment, params } = request
      const subscriberIds = [...new Set(request.body.subscribers)]
      const { errors } = await db.transaction().execute(async (tx) => {
        const topic = await takeTopic(tx, environment.id, { key: params.topicKey }, request.now())
        const entries = subscriberIds.map((subscriberId) => ({ subscriberId }))
        const given = { environmentId: environment.id, topic, entries, contextKeys: [], preferences: [] }
        return subscribe(tx, given, request.now())
      })
      const failed = new Set(errors.map((error) => error.subscriberId))
      const succeeded = subscriberIds.filter((id) => !failed.has(id))
      if (errors.length === 0) return { succeeded }
      const isMissing = ({ code }: { code: string }) => code === 'SUBSCRIBER_NOT_FOUND'
      const notFound = errors.filter(isMissing).map((error) => error.subscriberId)
      const refused = errors.filter((error) => !isMissing(error)).map((error) => error.subscriberId)
      return { succeeded, failed: { notFound, ...(refused.length === 0 ? {} : { refused }) } }
    },
  )

  app.post(
    '/v1/topics/:topicKey/subscribers/removal',
    { schema: { hide: true, params: Params, body: Body({ subscribers: SubscriberIds }), response: { 204: Empty } } },
    async (request, reply) => {
      const { environment, params, body } = request
      await db.transaction().execute(async (tx) => {
        const topic = await findTopic(tx, environment.id, params.topicKey)
        if (!topic) throw fail('topic_not_found', { key: params.topicKey })
        const named = sql`t.topic_id = ${topic.id} AND t.subscriber_row_id IN (
          SELECT id FROM subscribers
          WHERE environment_id = ${environment.id} AND subscriber_id = ANY(${body.subscribers}::text[]))`
        await deleteSubscriptions(tx, environment.id, named)
      })
      return reply.code(204).send(null)
    },
  )
}
