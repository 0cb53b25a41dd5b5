// Subscribers, v1: bulk creation, presence, and the operations that v2 replaced.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import { applyChannels, type ChannelProblem, type ChannelRequest } from '../../db/queries/subscriber-channels.ts'
import {
  deleteSubscriber,
  findSubscriber,
  type SubscriberInput,
  type SubscriberRow,
  updateSubscriber,
  upsertSubscriber,
  upsertSubscribers,
} from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { addressesFor } from '../edge/roles.ts'
import { Body, Identifier, NumberedPage, numberedQuery } from '../edge/schema.ts'
import { channelError, channelFields, toChannelInput } from './credentials.ts'
import { Deleted, Subscriber, SubscriberId, subscriberFields, toSubscriber } from './subscribers.ts'

const mostInBulk = 500
const bulkBodyBytes = 10 * 1024 * 1024
/** Topics shown with a subscriber; v2 lists all of them in pages. */
const mostTopics = 1_000

const BulkSubscriberId = Identifier({ pattern: '\\S', texts: { pattern: 'should not be empty' } })
const Stored = Type.Object({ subscriberId: Type.String() })
const BulkResult = Type.Object({
  created: Type.Array(Stored),
  updated: Type.Array(Stored),
  failed: Type.Array(Type.Object({ subscriberId: Type.String(), message: Type.String() })),
})
const Params = Type.Object({ subscriberId: Type.String() })

type BulkElement = SubscriberInput & ChannelRequest

/** Rolls back the transaction because of these elements. */
class ElementsRefused extends Error {
  readonly problems: Map<BulkElement, ChannelProblem>

  constructor(problems: Map<BulkElement, ChannelProblem>) {
    super('some elements cannot be stored')
    this.problems = problems
  }
}

/**
 * Stores all elements as if one after the other, in one transaction with a handful of statements. An element whose channels
 * cannot be set is left out completely: a client that reads "failed" expects nothing of it to be stored, and sends it again
 * once the integration exists. We know only under the row lock whether it can be set, so the transaction restarts without the
 * failed elements.
 */
export async function storeInBulk(
  { db, secrets }: { db: Db; secrets: Secrets },
  environmentId: string,
  elements: BulkElement[],
  now: Date,
): Promise<{ created: Set<string>; problems: Map<BulkElement, ChannelProblem> }> {
  try {
    const created = await db.transaction().execute(async (tx) => {
      const ids = await upsertSubscribers(tx, environmentId, oncePerId(elements), now)
      const problems = await applyChannels({ tx, secrets }, environmentId, elements, 'append', now)
      if (problems.size > 0) throw new ElementsRefused(problems)
      return ids
    })
    return { created, problems: new Map() }
  } catch (error) {
    if (!(error instanceof ElementsRefused)) throw error
    const rest = elements.filter((element) => !error.problems.has(element))
    const { created, problems } = await storeInBulk({ db, secrets }, environmentId, rest, now)
    return { created, problems: new Map([...error.problems, ...problems]) }
  }
}

/** One input per id; of a field given several times, the last value wins. */
function oncePerId(elements: BulkElement[]): SubscriberInput[] {
  const inputs = new Map<string, SubscriberInput>()
  for (const { channels: _, ...fields } of elements)
    inputs.set(fields.subscriberId, { ...inputs.get(fields.subscriberId), ...fields })
  return [...inputs.values()]
}

export const subscribersV1: Resource = (app, { db, secrets, brand, config }) => {
  const tags = ['Subscribers']
  const channels = Type.Optional(Type.Array(Body(channelFields({ brand, config })), { maxItems: 100 }))

  /** Writes the fields with `write`, then the channels; neither if a channel cannot be set. */
  const store = (
    request: FastifyRequest,
    { subscriberId, channels }: ChannelRequest,
    write: (tx: Tx) => Promise<SubscriberRow | undefined>,
  ) =>
    db.transaction().execute(async (tx) => {
      const { environment } = request
      const row = await write(tx)
      if (!row) throw fail('subscriber_id_unknown', { subscriberId })
      const problems = await applyChannels(
        { tx, secrets },
        environment.id,
        [{ subscriberId, channels }],
        'append',
        request.now(),
      )
      for (const problem of problems.values())
        throw channelError(problem, { environmentId: environment.id, subscriberId, brand })
      const final = channels.length > 0 ? await findSubscriber(tx, environment.id, subscriberId) : row
      return toSubscriber(final ?? row, environment, brand, addressesFor(request, secrets))
    })

  app.post(
    '/v1/subscribers/bulk',
    {
      bodyLimit: bulkBodyBytes,
      schema: {
        tags,
        summary: 'Create or update up to 500 subscribers',
        body: Body(
          {
            subscribers: Type.Array(Body({ subscriberId: BulkSubscriberId, ...subscriberFields, channels }), {
              minItems: 1,
              maxItems: mostInBulk,
              perField: { command: 'BulkCreateSubscribersCommand', rules: ['maxItems'] },
            }),
          },
          { examples: [{ subscribers: [{ subscriberId: 'ada', firstName: 'Ada' }, { subscriberId: 'bob' }] }] },
        ),
        response: { 201: BulkResult },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const elements = request.body.subscribers.map(({ channels = [], ...fields }) => ({
        ...fields,
        subscriberId: fields.subscriberId.trim(),
        channels: channels.map((channel) => toChannelInput(channel, brand)),
      }))
      const { created, problems } = await storeInBulk({ db, secrets }, environmentId, elements, request.now())
      const result: Static<typeof BulkResult> = { created: [], updated: [], failed: [] }
      for (const element of elements) {
        const { subscriberId } = element
        const problem = problems.get(element)
        if (problem) {
          const { message } = channelError(problem, { environmentId, subscriberId, brand })
          result.failed.push({ subscriberId, message })
        } else if (created.delete(subscriberId)) result.created.push({ subscriberId })
        else result.updated.push({ subscriberId })
      }
      return reply.code(201).send(result)
    },
  )

  app.patch(
    '/v1/subscribers/:subscriberId/online-status',
    {
      schema: {
        tags,
        summary: 'Set whether a subscriber is online',
        params: Params,
        body: Body({ isOnline: Type.Boolean() }),
        response: { 200: Subscriber },
      },
    },
    async (request) => {
      const { isOnline } = request.body
      const now = request.now()
      const row = await db
        .updateTable('subscribers')
        .set({ is_online: isOnline, ...(isOnline ? {} : { last_online_at: now }), updated_at: now })
        .where('environment_id', '=', request.environment.id)
        .where('subscriber_id', '=', request.params.subscriberId)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw fail('subscriber_going_online_not_found')
      return toSubscriber(row, request.environment, brand, addressesFor(request, secrets))
    },
  )

  app.get(
    '/v1/subscribers',
    {
      schema: {
        tags,
        summary: 'List subscribers by page number',
        deprecated: true,
        querystring: Type.Object(numberedQuery()),
        response: { 200: NumberedPage(Subscriber) },
      },
    },
    async (request) => {
      const { page = 0, limit = 10 } = request.query
      const rows = await db
        .selectFrom('subscribers')
        .selectAll()
        .where('environment_id', '=', request.environment.id)
        .orderBy('id', 'desc')
        .offset(page * limit)
        .limit(limit)
        .execute()
      const data = rows.map((row) => toSubscriber(row, request.environment, brand, addressesFor(request, secrets)))
      return { page, pageSize: limit, hasMore: data.length === limit, data }
    },
  )

  app.get(
    '/v1/subscribers/:subscriberId',
    {
      schema: {
        tags,
        summary: 'Retrieve a subscriber',
        deprecated: true,
        params: Params,
        querystring: Type.Object({
          includeTopics: Type.Optional(
            Type.Boolean({ description: `Adds the keys of its first ${mostTopics} topics` }),
          ),
        }),
        response: { 200: Subscriber },
      },
    },
    async (request) => {
      const { environment, params } = request
      const row = await findSubscriber(db, environment.id, params.subscriberId)
      if (!row) throw fail('subscriber_missing', params)
      const subscriber = toSubscriber(row, environment, brand, addressesFor(request, secrets))
      return request.query.includeTopics ? { ...subscriber, topics: await topicKeys(db, row) } : subscriber
    },
  )

  app.post(
    '/v1/subscribers',
    {
      schema: {
        tags,
        summary: 'Create or update a subscriber',
        deprecated: true,
        body: Body({ subscriberId: SubscriberId, ...subscriberFields, channels }),
        response: { 201: Subscriber },
      },
    },
    async (request, reply) => {
      const { environment } = request
      const { channels = [], ...fields } = request.body
      const input = { ...fields, subscriberId: fields.subscriberId.trim() }
      const wanted = { subscriberId: input.subscriberId, channels: channels.map((one) => toChannelInput(one, brand)) }
      const subscriber = await store(request, wanted, (tx) =>
        upsertSubscriber(tx, environment.id, input, request.now()),
      )
      return reply.code(201).send(subscriber)
    },
  )

  app.put(
    '/v1/subscribers/:subscriberId',
    {
      schema: {
        tags,
        summary: 'Change the given fields of a subscriber',
        deprecated: true,
        params: Params,
        body: Body({ ...subscriberFields, channels }),
        response: { 200: Subscriber },
      },
    },
    async (request) => {
      const { environment } = request
      const { subscriberId } = request.params
      const { channels = [], ...fields } = request.body
      const wanted = { subscriberId, channels: channels.map((one) => toChannelInput(one, brand)) }
      return store(request, wanted, (tx) => updateSubscriber(tx, environment.id, subscriberId, fields, request.now()))
    },
  )

  app.delete(
    '/v1/subscribers/:subscriberId',
    {
      schema: {
        tags,
        summary: 'Delete a subscriber; messages sent to it stay',
        deprecated: true,
        params: Params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { subscriberId } = request.params
      const existed = await db
        .transaction()
        .execute((tx) =>
          deleteSubscriber(tx, request.environment.id, subscriberId, { keepMessages: true, now: request.now() }),
        )
      if (!existed)
        throw fail('subscriber_to_delete_not_found', undefined, { ctx: { externalSubscriberId: subscriberId } })
      return { acknowledged: true, status: 'deleted' }
    },
  )
}

async function topicKeys(db: Db, { environment_id, id }: SubscriberRow): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`
    SELECT key FROM topics
    WHERE environment_id = ${environment_id} AND id IN (
      SELECT topic_id FROM topic_subscriptions WHERE environment_id = ${environment_id} AND subscriber_row_id = ${id})
    ORDER BY key LIMIT ${mostTopics}`.execute(db)
  return rows.map(({ key }) => key)
}
