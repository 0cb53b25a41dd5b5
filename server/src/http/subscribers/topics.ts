// Topics, v2: groups of subscribers that one trigger reaches.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { allOf, contains, cursorPage } from '../../db/core/page.ts'
import {
  changeTopic,
  deleteTopic,
  findTopic,
  insertTopic,
  type TopicRow,
  upsertTopic,
} from '../../db/queries/topics.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Timestamp } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

export const TopicKey = Type.String({ minLength: 1, maxLength: 100 })
/** An empty name counts as none. */
export const TopicName = Type.String({ maxLength: 100 })
/** For renaming: must not be empty. */
export const NewTopicName = Type.String({ minLength: 1, maxLength: 100 })

const JoinableFromBrowser = Type.Boolean({
  description: "Whether a subscriber's browser may subscribe itself. Default: only your backend subscribes",
})
const Topic = Type.Object({
  _id: Type.String(),
  key: Type.String(),
  name: Type.Optional(Type.String()),
  joinableFromBrowser: JoinableFromBrowser,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
const Params = Type.Object({ topicKey: Type.String() })

const toTopic = (row: TopicRow): Static<typeof Topic> => ({
  _id: row.id,
  key: row.key,
  ...(row.name === null ? {} : { name: row.name }),
  joinableFromBrowser: row.joinable_from_browser,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const topics: Resource = (app, { db }) => {
  const tags = ['Topics']

  app.get(
    '/v2/topics',
    {
      schema: {
        tags,
        summary: 'List topics',
        querystring: Type.Object({
          ...cursorQuery('ListTopicsCommand'),
          key: Type.Optional(Type.String({ description: 'Part of the key, case-insensitive' })),
          name: Type.Optional(Type.String({ description: 'Part of the name, case-insensitive' })),
        }),
        response: { 200: CursorPage(Topic) },
      },
    },
    async (request) => {
      const { key, name, orderBy } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(key ? [contains(sql`t.key`, key)] : []),
        ...(name ? [contains(sql`t.name`, name)] : []),
      ]
      const orders = { createdAt: 'created_at', updatedAt: 'updated_at' } as const
      const list = {
        from: sql`topics t`,
        table: 'topics',
        columns: sql`t.*`,
        where: allOf(where),
        environmentId,
        order: orderBy === 'createdAt' || orderBy === 'updatedAt' ? orders[orderBy] : undefined,
      }
      const page = await cursorPage<TopicRow>(db, list, request.query)
      return { ...page, data: page.data.map(toTopic) }
    },
  )

  app.post(
    '/v2/topics',
    {
      schema: {
        tags,
        summary: 'Create or change a topic',
        querystring: Type.Object({
          failIfExists: Type.Optional(Type.Boolean({ description: 'Do not change an existing topic; answer 409' })),
        }),
        body: Body(
          {
            key: TopicKey,
            name: Type.Optional(TopicName),
            joinableFromBrowser: Type.Optional(JoinableFromBrowser),
          },
          { examples: [{ key: 'news', name: 'News', joinableFromBrowser: true }] },
        ),
        response: { 200: Topic, 201: Topic },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const { joinableFromBrowser: isJoinable, ...named } = body
      const topic = { ...named, isJoinable }
      if (!request.query.failIfExists) {
        const { row, created } = await upsertTopic(db, environment.id, topic, request.now())
        return reply.code(created ? 201 : 200).send(toTopic(row))
      }
      const row = await insertTopic(db, environment.id, topic, request.now())
      if (row) return reply.code(201).send(toTopic(row))
      const existing = await findTopic(db, environment.id, body.key)
      // Includes the existing topic, because client libraries read the answer as one.
      throw fail('topic_exists', body, { ctx: existing ? toTopic(existing) : {} })
    },
  )

  app.get(
    '/v2/topics/:topicKey',
    { schema: { tags, summary: 'Retrieve a topic', params: Params, response: { 200: Topic } } },
    async (request) => {
      const key = request.params.topicKey
      const row = await findTopic(db, request.environment.id, key)
      if (!row) throw fail('topic_not_found', { key })
      return toTopic(row)
    },
  )

  app.patch(
    '/v2/topics/:topicKey',
    {
      schema: {
        tags,
        summary: 'Rename a topic, or open or close it for browsers',
        params: Params,
        body: Body({
          name: Type.Optional(NewTopicName),
          joinableFromBrowser: Type.Optional(JoinableFromBrowser),
        }),
        response: { 200: Topic },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const { name, joinableFromBrowser: isJoinable } = body
      if (name === undefined && isJoinable === undefined) throw generalError(['name should not be empty'])
      return toTopic(await changeTopic(db, environment.id, { key: params.topicKey, name, isJoinable }, request.now()))
    },
  )

  app.delete(
    '/v2/topics/:topicKey',
    {
      schema: {
        tags,
        summary: 'Delete a topic with its subscriptions',
        params: Params,
        response: { 200: Type.Object({ acknowledged: Type.Boolean() }) },
      },
    },
    async (request) => {
      await db.transaction().execute((tx) => deleteTopic(tx, request.environment.id, request.params.topicKey))
      return { acknowledged: true }
    },
  )
}
