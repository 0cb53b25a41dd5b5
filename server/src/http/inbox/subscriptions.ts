// The topic subscriptions of a subscriber, in the browser.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { findInboxAccess } from '../../db/queries/inbox-access.ts'
import { readDefaults, readPreferences, replacePreferences } from '../../db/queries/subscription-preferences.ts'
import {
  deleteSubscriptions,
  readSubscriptions,
  type SubscriptionRow,
  subscribe,
  withIds,
} from '../../db/queries/topic-subscriptions.ts'
import { type TopicInput, type TopicRow, takeJoinableTopic, takeTopic } from '../../db/queries/topics.ts'
import { fail } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import type { InboxSession, Resource } from '../edge/resource.ts'
import { Body, Empty, QueryList } from '../edge/schema.ts'
import { choosePreferences, Preference, Preferences, toPreference } from '../subscribers/subscription-preferences.ts'
import { TopicKey, TopicName } from '../subscribers/topics.ts'

const Subscription = Type.Object({
  id: Type.String(),
  identifier: Type.String(),
  name: Type.Optional(Type.String()),
  preferences: Type.Array(Preference),
  contextKeys: Type.Array(Type.String()),
})
const One = Type.Object({ data: Subscription })
const TopicParams = Type.Object({ topicKey: Type.String() })
const OneParams = Type.Object({ topicKey: Type.String(), identifier: Type.String() })

/** Of the session's subscriber, in its contexts. */
const own = ({ subscriber, contextKeys }: InboxSession) =>
  sql`t.subscriber_row_id = ${subscriber.id} AND t.context_keys = ${contextKeys}::text[]`
const inTopic = (topicKey: string) => sql`o.key = ${topicKey}`
const named = (identifier: string) => sql`(t.identifier = ${identifier} OR t.id = ${identifier})`

/** By identifier or id. With `lock` it cannot change until the transaction ends. */
export async function findOwnSubscription(
  db: Db | Tx,
  session: InboxSession,
  identifier: string,
  options: { lock?: boolean; topicKey?: string } = {},
): Promise<SubscriptionRow> {
  const topic = options.topicKey === undefined ? sql`true` : inTopic(options.topicKey)
  const where = sql`${own(session)} AND ${topic} AND ${named(identifier)}`
  const [row] = await readSubscriptions(db, session.environmentId, where, { lock: options.lock ?? false })
  if (!row) throw fail('own_subscription_not_found', { identifier })
  return row
}

async function show(
  db: Db | Tx,
  { environmentId }: InboxSession,
  rows: SubscriptionRow[],
): Promise<Array<Static<typeof Subscription>>> {
  const preferences = await readPreferences(
    db,
    environmentId,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => ({
    id: row.id,
    identifier: row.identifier,
    ...(row.name === null ? {} : { name: row.name }),
    preferences: (preferences.get(row.id) ?? []).map((preference) => toPreference(preference, row.identifier)),
    contextKeys: row.context_keys,
  }))
}

/**
 * Only what the backend opened, unless the environment leaves all topics to browsers. A topic that does not exist gets the
 * same refusal, so that nobody can find out which exist.
 */
async function topicToJoin(
  tx: Tx,
  { environmentId }: InboxSession,
  brand: Brand,
  topic: TopicInput,
  now: Date,
): Promise<TopicRow> {
  const { openTopics = brand.startsOpen } = await findInboxAccess(tx, environmentId)
  const found = openTopics
    ? await takeTopic(tx, environmentId, topic, now)
    : await takeJoinableTopic(tx, environmentId, topic.key)
  if (!found) throw fail('topic_not_joinable', topic)
  return found
}

export const inboxSubscriptions: Resource = (app, { db, brand }) => {
  const tags = ['Inbox in browsers']
  const config = { public: true, inbox: true }
  const path = '/v1/inbox/topics/:topicKey/subscriptions'
  const showOne = async (from: Db | Tx, session: InboxSession, row: SubscriptionRow) => {
    const [data] = await show(from, session, [row])
    return { data: data as Static<typeof Subscription> }
  }

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        summary: "List the subscriber's subscriptions to a topic",
        params: TopicParams,
        response: { 200: Type.Object({ data: Type.Array(Subscription) }) },
      },
    },
    async ({ session, params }) => {
      const where = sql`${own(session)} AND ${inTopic(params.topicKey)}`
      return { data: await show(db, session, await readSubscriptions(db, session.environmentId, where)) }
    },
  )

  app.get(
    `${path}/:identifier`,
    {
      config,
      schema: {
        tags,
        summary: "Retrieve one of the subscriber's subscriptions; empty if there is none",
        params: OneParams,
        querystring: Type.Object({
          workflowIds: Type.Optional(
            Type.Array(Type.String(), { description: 'Workflows to show even if nothing is stored for them' }),
          ),
          tags: Type.Optional(QueryList),
        }),
        response: { 200: One, 204: Empty },
      },
    },
    async ({ session, params, query }, reply) => {
      const where = sql`${own(session)} AND ${inTopic(params.topicKey)} AND ${named(params.identifier)}`
      const [row] = await readSubscriptions(db, session.environmentId, where)
      if (!row) return reply.code(204).send(null)
      const { data } = await showOne(db, session, row)
      const further = await readDefaults(db, session.environmentId, {
        workflowIds: query.workflowIds ?? [],
        tags: query.tags ?? [],
      })
      const stored = new Set(data.preferences.map(({ workflow }) => workflow.id))
      const added = further.filter(({ workflow_id }) => !stored.has(workflow_id))
      const preferences = [...data.preferences, ...added.map((each) => toPreference(each, row.identifier))]
      return { data: { ...data, preferences } }
    },
  )

  app.post(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'Subscribe to a topic that browsers may join',
        description:
          'Your backend opens a topic with `joinableFromBrowser`. In an environment with open topics every topic can be joined, and a missing one is created.',
        params: Type.Object({ topicKey: TopicKey }),
        body: Body(
          {
            identifier: Type.Optional(Type.String({ maxLength: 255, description: 'Default: generated' })),
            name: Type.Optional(Type.String({ maxLength: 255 })),
            topic: Type.Optional(Body({ name: Type.Optional(TopicName) })),
            preferences: Type.Optional(Preferences),
          },
          { examples: [{ identifier: '', preferences: ['comment-added'] }] },
        ),
        response: { 201: One },
      },
    },
    async (request, reply) => {
      const { session, params, body, log } = request
      const { environmentId, contextKeys, subscriber } = session
      const data = await db.transaction().execute(async (tx) => {
        const now = request.now()
        const preferences = await choosePreferences(tx, { environmentId, log }, body.preferences ?? [])
        const wanted = { key: params.topicKey, name: body.topic?.name }
        const topic = await topicToJoin(tx, session, brand, wanted, now)
        const { identifier = '', name } = body
        const entry = { subscriberId: subscriber.subscriber_id, identifier, ...(name === undefined ? {} : { name }) }
        const asked = { environmentId, topic, entries: [entry], contextKeys, preferences }
        const { ids, errors } = await subscribe(tx, asked, now)
        if (errors[0]) throw fail('subscription_refused', { message: errors[0].message })
        return show(tx, session, await readSubscriptions(tx, environmentId, withIds(ids)))
      })
      return reply.code(201).send({ data: data[0] as Static<typeof Subscription> })
    },
  )

  app.patch(
    `${path}/:identifier`,
    {
      config,
      schema: {
        tags,
        summary: 'Change the name of a subscription, or replace its preferences',
        params: OneParams,
        body: Body({
          name: Type.Optional(Type.String({ maxLength: 255 })),
          preferences: Type.Optional(Preferences),
        }),
        response: { 200: One },
      },
    },
    async (request) => {
      const { session, params, body, log } = request
      const { environmentId } = session
      return db.transaction().execute(async (tx) => {
        const row = await findOwnSubscription(tx, session, params.identifier, { ...params, lock: true })
        const { name = row.name } = body
        await tx
          .updateTable('topic_subscriptions')
          .set({ name, updated_at: request.now() })
          .where('environment_id', '=', environmentId)
          .where('id', '=', row.id)
          .execute()
        if (body.preferences) {
          const chosen = await choosePreferences(tx, { environmentId, log }, body.preferences)
          await replacePreferences(tx, environmentId, row.id, chosen)
        }
        return showOne(tx, session, { ...row, name })
      })
    },
  )

  app.delete(
    `${path}/:identifier`,
    {
      config,
      schema: {
        tags,
        summary: 'Unsubscribe',
        params: OneParams,
        response: { 200: Type.Object({ data: Type.Object({ success: Type.Boolean() }) }) },
      },
    },
    async ({ session, params }) => {
      await db.transaction().execute(async (tx) => {
        const row = await findOwnSubscription(tx, session, params.identifier, { ...params, lock: true })
        await deleteSubscriptions(tx, session.environmentId, withIds([row.id]))
      })
      return { data: { success: true } }
    },
  )
}
