// Subscribers, v2: the people notifications go to, each with an id of the client's choice.
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { heldChannels, showChannels } from '../../db/core/chat-addresses.ts'
import { mask } from '../../db/core/environment-access.ts'
import { allOf, contains, cursorPage } from '../../db/core/page.ts'
import {
  deleteSubscriber,
  deleteSubscribers,
  findSubscriber,
  insertSubscriber,
  type SubscriberRow,
  updateSubscriber,
  upsertSubscriber,
} from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { addressesFor } from '../edge/roles.ts'
import { Body, CursorPage, cursorQuery, Identifier, NullableTimestamp, Timestamp } from '../edge/schema.ts'

const OptionalText = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] }))
const formatted = (format: string) => Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format }))

/** The fields of a subscriber, wherever one is created or changed. */
export const subscriberFields = {
  firstName: OptionalText,
  lastName: OptionalText,
  email: formatted('email'),
  phone: OptionalText,
  avatar: OptionalText,
  locale: formatted('locale'),
  timezone: formatted('timezone'),
  data: Type.Optional(
    Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
  ),
}

const idTexts = {
  required: 'SubscriberId is required',
  minLength: 'SubscriberId is required',
  pattern: 'SubscriberId is required',
}
/** Not only white space, since it is trimmed before it is stored. */
export const SubscriberId = Identifier({ pattern: '\\S', texts: idTexts })

export const Credentials = Type.Object({
  webhookUrl: Type.Optional(Type.String()),
  channel: Type.Optional(Type.String()),
  deviceTokens: Type.Optional(Type.Array(Type.String())),
  alertUid: Type.Optional(Type.String()),
  title: Type.Optional(Type.String()),
  imageUrl: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  externalUrl: Type.Optional(Type.String()),
})

export const Subscriber = Type.Object({
  _id: Type.String(),
  _organizationId: Type.String(),
  _environmentId: Type.String(),
  subscriberId: Type.String(),
  ...subscriberFields,
  channels: Type.Array(
    Type.Object({
      providerId: Type.String(),
      _integrationId: Type.String(),
      integrationIdentifier: Type.Optional(Type.String()),
      credentials: Credentials,
    }),
  ),
  topics: Type.Optional(Type.Array(Type.String())),
  isOnline: Type.Boolean(),
  lastOnlineAt: NullableTimestamp,
  deleted: Type.Boolean(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const example = {
  subscriberId: 'ada',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  locale: 'en_GB',
}

export const subscriberBody = Body({ subscriberId: SubscriberId, ...subscriberFields }, { examples: [example] })

export const Deleted = Type.Object({ acknowledged: Type.Boolean(), status: Type.String() })
const Params = Type.Object({ subscriberId: Type.String() })
const mostDeleted = 100

const DataFilters = Type.Array(
  Type.String({
    maxLength: 300,
    pattern: '^[^=.]+(\\.[^=.]+){0,4}=',
    texts: { pattern: 'must be a field of the data and its value, such as plan=pro' },
  }),
  {
    maxItems: 5,
    description:
      'Fields of their data and the value each must have: `plan=pro`, `address.city=Berlin`. A list matches if it has the value',
  },
)

/** The value as text, and as a number, `true`, `false` or `null` where it reads as one; alone, or in a list. */
function hasData(filter: string): RawBuilder<unknown> {
  const [path = '', ...rest] = filter.split('=')
  const text = rest.join('=')
  const plain = /^(true|false|null|-?(0|[1-9]\d{0,14})(\.\d{1,15})?)$/.test(text) ? [text, JSON.parse(text)] : [text]
  const shapes = plain.flatMap((value) => [value, [value]])
  const nested = (value: unknown) => path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value)
  return sql`(${sql.join(
    shapes.map((value) => sql`t.data @> ${JSON.stringify(nested(value))}::jsonb`),
    sql` OR `,
  )})`
}

/** Chat addresses are hidden unless the caller says how to show them. */
export function toSubscriber(
  row: SubscriberRow,
  environment: Environment,
  brand: Brand,
  showAddress: (address: string) => string = () => mask,
): Static<typeof Subscriber> {
  const { first_name, last_name, email, phone, avatar, locale, timezone, data } = row
  return {
    _id: row.id,
    _organizationId: environment.organizationId,
    _environmentId: environment.id,
    subscriberId: row.subscriber_id,
    firstName: first_name,
    lastName: last_name,
    email,
    phone,
    avatar,
    locale,
    timezone,
    data,
    channels: showChannels(heldChannels(row.channels), showAddress).map((channel) => ({
      ...channel,
      providerId: brand.toWire(channel.providerId),
    })),
    isOnline: row.is_online,
    lastOnlineAt: row.last_online_at,
    deleted: false,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export const subscribers: Resource = (app, { db, secrets, brand }) => {
  const tags = ['Subscribers']

  app.post(
    '/v2/subscribers',
    {
      schema: {
        tags,
        summary: 'Create or update a subscriber',
        querystring: Type.Object({
          failIfExists: Type.Optional(
            Type.Boolean({ description: 'Do not change an existing subscriber; answer 409' }),
          ),
        }),
        body: subscriberBody,
        response: { 201: Subscriber },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const input = { ...body, subscriberId: body.subscriberId.trim() }
      const row = request.query.failIfExists
        ? await insertSubscriber(db, environment.id, input, request.now())
        : await upsertSubscriber(db, environment.id, input, request.now())
      if (row) return reply.code(201).send(toSubscriber(row, environment, brand, addressesFor(request, secrets)))
      const existing = await findSubscriber(db, environment.id, input.subscriberId)
      // Includes the existing subscriber, because client libraries read the answer as one.
      throw fail('subscriber_exists', input, {
        ctx: existing ? toSubscriber(existing, environment, brand, addressesFor(request, secrets)) : {},
      })
    },
  )

  app.get(
    '/v2/subscribers',
    {
      schema: {
        tags,
        summary: 'Search subscribers',
        querystring: Type.Object({
          ...cursorQuery('ListSubscribersCommand', ['minimum', 'maximum']),
          email: Type.Optional(Type.String({ description: 'Part of the address, case-insensitive' })),
          phone: Type.Optional(Type.String({ description: 'Part of the number' })),
          name: Type.Optional(Type.String({ description: 'Part of the full name, case-insensitive' })),
          subscriberId: Type.Optional(Type.String({ description: 'The exact id' })),
          data: Type.Optional(DataFilters),
        }),
        response: { 200: CursorPage(Subscriber) },
      },
    },
    async (request) => {
      const { environment, query } = request
      const where = [
        sql`t.environment_id = ${environment.id}`,
        ...(query.email ? [contains(sql`t.email`, query.email)] : []),
        ...(query.phone ? [contains(sql`t.phone`, query.phone)] : []),
        ...(query.name ? [contains(sql`trim(concat(t.first_name, ' ', t.last_name))`, query.name)] : []),
        ...(query.subscriberId ? [sql`t.subscriber_id = ${query.subscriberId}`] : []),
        ...(query.data ?? []).map(hasData),
      ]
      const list = {
        from: sql`subscribers t`,
        table: 'subscribers',
        columns: sql`t.*`,
        where: allOf(where),
        environmentId: environment.id,
        order: query.orderBy === 'updatedAt' ? ('updated_at' as const) : undefined,
      }
      const page = await cursorPage<SubscriberRow>(db, list, query)
      return {
        ...page,
        data: page.data.map((row) => toSubscriber(row, environment, brand, addressesFor(request, secrets))),
      }
    },
  )

  app.get(
    '/v2/subscribers/:subscriberId',
    { schema: { tags, summary: 'Retrieve a subscriber', params: Params, response: { 200: Subscriber } } },
    async (request) => {
      const row = await findSubscriber(db, request.environment.id, request.params.subscriberId)
      if (!row) throw fail('subscriber_not_found', request.params)
      return toSubscriber(row, request.environment, brand, addressesFor(request, secrets))
    },
  )

  app.patch(
    '/v2/subscribers/:subscriberId',
    {
      schema: {
        tags,
        summary: 'Change the given fields of a subscriber',
        params: Params,
        body: Type.Optional(Body(subscriberFields, { examples: [{ phone: '+15551234567', data: { plan: 'pro' } }] })),
        response: { 200: Subscriber },
      },
    },
    async (request) => {
      const { environment, params } = request
      const row = await updateSubscriber(db, environment.id, params.subscriberId, request.body ?? {}, request.now())
      if (!row) throw fail('subscriber_to_update_not_found', params)
      return toSubscriber(row, environment, brand, addressesFor(request, secrets))
    },
  )

  app.post(
    '/v2/subscribers/bulk-delete',
    {
      schema: {
        tags,
        summary: `Delete up to ${mostDeleted} subscribers with all their data`,
        description: 'All or none: in one transaction. Ids of nobody are named in `missing`.',
        body: Body(
          { subscriberIds: Type.Array(SubscriberId, { minItems: 1, maxItems: mostDeleted }) },
          { examples: [{ subscriberIds: ['ada', 'bob'] }] },
        ),
        response: { 200: Type.Object({ deleted: Type.Integer(), missing: Type.Array(Type.String()) }) },
      },
    },
    async (request) => {
      const asked = [...new Set(request.body.subscriberIds.map((id) => id.trim()))]
      const deletion = { keepMessages: false, now: request.now() }
      const gone = await db
        .transaction()
        .execute((tx) => deleteSubscribers(tx, request.environment.id, asked, deletion))
      return { deleted: gone.length, missing: asked.filter((id) => !gone.includes(id)) }
    },
  )

  app.delete(
    '/v2/subscribers/:subscriberId',
    {
      schema: {
        tags,
        summary: 'Delete a subscriber with all its data',
        params: Params,
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { subscriberId } = request.params
      const existed = await db
        .transaction()
        .execute((tx) =>
          deleteSubscriber(tx, request.environment.id, subscriberId, { keepMessages: false, now: request.now() }),
        )
      if (!existed)
        throw fail('subscriber_to_delete_not_found', undefined, { ctx: { externalSubscriberId: subscriberId } })
      return { acknowledged: true, status: 'deleted' }
    },
  )
}
