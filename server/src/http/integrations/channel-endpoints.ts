// Channel endpoints: the chat channels, chat users, webhooks and phone numbers of subscribers.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { sealEndpoint, showEndpoint } from '../../db/core/chat-addresses.ts'
import { type EndpointType, endpointTypes, fitsType } from '../../db/core/endpoint-types.ts'
import { allOf, cursorPage } from '../../db/core/page.ts'
import { createEndpoint, type EndpointRow, findEndpoint } from '../../db/queries/channel-endpoints.ts'
import { hasContextKeys } from '../../db/queries/contexts.ts'
import { endpointFormatText, fail } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import { ProviderId } from '../edge/provider-id.ts'
import type { Resource } from '../edge/resource.ts'
import { addressesFor } from '../edge/roles.ts'
import {
  Body,
  Channel,
  ContextKeys,
  ContextPayload,
  CursorPage,
  cursorQuery,
  Empty,
  Enum,
  FreeObject,
  Identifier,
  Nullable,
  Timestamp,
} from '../edge/schema.ts'
import { fieldError } from '../edge/validation.ts'

const ChannelEndpoint = Type.Object({
  identifier: Type.String(),
  channel: Channel,
  providerId: Type.String(),
  integrationIdentifier: Type.String(),
  connectionIdentifier: Nullable(Type.String()),
  subscriberId: Type.String(),
  contextKeys: Type.Array(Type.String()),
  type: Enum(endpointTypes),
  endpoint: Type.Record(Type.String(), Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const exampleEndpoint = { endpoint: { userId: 'U0123ABCD' } }
const membersOfTypes =
  'Exactly the members of its type: `channelId` of a `slack_channel`, `userId` of a `slack_user` or `ms_teams_user`, ' +
  '`url` and perhaps `channel` of a `webhook`, `phoneNumber` of a `phone`, `teamId` and `channelId` of an `ms_teams_channel`'

const Params = Type.Object({ identifier: Type.String() })
const createCommand = 'CreateChannelEndpointCommand'
const perField = { perField: { command: createCommand } }

function toEndpoint(row: EndpointRow, brand: Brand, show: (address: string) => string): Static<typeof ChannelEndpoint> {
  return {
    identifier: row.identifier,
    channel: row.channel as Channel,
    providerId: brand.toWire(row.provider_id),
    integrationIdentifier: row.integration_identifier,
    connectionIdentifier: row.connection_identifier,
    subscriberId: row.subscriber_id,
    contextKeys: row.context_keys,
    type: row.type as EndpointType,
    endpoint: showEndpoint(row.endpoint, show),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export const channelEndpoints: Resource = (app, { db, secrets, brand, config }) => {
  const tags = ['Channel endpoints']

  app.post(
    '/v1/channel-endpoints',
    {
      schema: {
        tags,
        summary: 'Create a channel endpoint',
        body: Body(
          {
            type: Enum(endpointTypes, perField),
            endpoint: Type.Unsafe<Record<string, unknown>>({ ...FreeObject, ...perField, description: membersOfTypes }),
            subscriberId: Identifier(perField),
            integrationIdentifier: Identifier(perField),
            connectionIdentifier: Type.Optional(Identifier(perField)),
            context: Type.Optional(ContextPayload(perField)),
            identifier: Type.Optional(Identifier(perField)),
          },
          {
            examples: [{ type: 'slack_user', integrationIdentifier: 'slack', subscriberId: 'ada', ...exampleEndpoint }],
          },
        ),
        response: { 201: ChannelEndpoint },
      },
    },
    async (request, reply) => {
      const { endpoint, ...fields } = request.body
      if (!fitsType(fields.type, endpoint))
        throw fieldError(createCommand, { endpoint: [endpointFormatText(fields.type)] }, request.body)
      const row = await createEndpoint({ db, secrets }, request.environment.id, { ...fields, endpoint }, request.now())
      return reply.code(201).send(toEndpoint(row, brand, addressesFor(request, secrets)))
    },
  )

  app.get(
    '/v1/channel-endpoints',
    {
      schema: {
        tags,
        summary: 'List channel endpoints',
        querystring: Type.Object({
          ...cursorQuery('ListChannelEndpointsCommand'),
          subscriberId: Type.Optional(Type.String()),
          channel: Type.Optional(Channel),
          providerId: Type.Optional(ProviderId({ brand, config })),
          integrationIdentifier: Type.Optional(Type.String()),
          connectionIdentifier: Type.Optional(Type.String()),
          contextKeys: Type.Optional(ContextKeys),
        }),
        response: { 200: CursorPage(ChannelEndpoint) },
      },
    },
    async (request) => {
      const { subscriberId, channel, providerId, integrationIdentifier, connectionIdentifier } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(subscriberId === undefined ? [] : [sql`t.subscriber_id = ${subscriberId}`]),
        ...(channel === undefined ? [] : [sql`t.channel = ${channel}`]),
        ...(providerId === undefined ? [] : [sql`t.provider_id = ${brand.toStored(providerId)}`]),
        ...(integrationIdentifier === undefined ? [] : [sql`t.integration_identifier = ${integrationIdentifier}`]),
        ...(connectionIdentifier === undefined ? [] : [sql`t.connection_identifier = ${connectionIdentifier}`]),
        ...hasContextKeys(request.query.contextKeys),
      ]
      const page = await cursorPage<EndpointRow>(
        db,
        {
          from: sql`channel_endpoints t`,
          table: 'channel_endpoints',
          columns: sql`t.*`,
          where: allOf(where),
          environmentId,
          order: request.query.orderBy === 'updatedAt' ? 'updated_at' : 'created_at',
        },
        request.query,
      )
      return { ...page, data: page.data.map((row) => toEndpoint(row, brand, addressesFor(request, secrets))) }
    },
  )

  app.get(
    '/v1/channel-endpoints/:identifier',
    { schema: { tags, summary: 'Retrieve a channel endpoint', params: Params, response: { 200: ChannelEndpoint } } },
    async (request) => {
      const row = await findEndpoint(db, request.environment.id, request.params.identifier)
      if (!row) throw fail('endpoint_not_found', request.params)
      return toEndpoint(row, brand, addressesFor(request, secrets))
    },
  )

  app.patch(
    '/v1/channel-endpoints/:identifier',
    {
      schema: {
        tags,
        summary: 'Replace the address of a channel endpoint; its type stays',
        params: Params,
        body: Body(
          { endpoint: Type.Unsafe<Record<string, unknown>>({ ...FreeObject, description: membersOfTypes }) },
          { examples: [exampleEndpoint] },
        ),
        response: { 200: ChannelEndpoint },
      },
    },
    async (request) => {
      const { identifier } = request.params
      const { endpoint } = request.body
      const environmentId = request.environment.id
      const existing = await findEndpoint(db, environmentId, identifier)
      if (!existing) throw fail('endpoint_to_update_not_found', { identifier, environmentId })
      if (!fitsType(existing.type as EndpointType, endpoint)) throw fail('endpoint_format', existing)
      const row = await db
        .updateTable('channel_endpoints')
        .set({ endpoint: JSON.stringify(sealEndpoint(endpoint, secrets)), updated_at: request.now() })
        .where('environment_id', '=', environmentId)
        // By id, since another endpoint may have taken over the identifier since the check.
        .where('id', '=', existing.id)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw fail('endpoint_to_update_not_found', { identifier, environmentId })
      return toEndpoint(row, brand, addressesFor(request, secrets))
    },
  )

  app.delete(
    '/v1/channel-endpoints/:identifier',
    { schema: { tags, summary: 'Delete a channel endpoint', params: Params, response: { 204: Empty } } },
    async (request, reply) => {
      const { numDeletedRows } = await db
        .deleteFrom('channel_endpoints')
        .where('environment_id', '=', request.environment.id)
        .where('identifier', '=', request.params.identifier)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw fail('endpoint_not_found', request.params)
      return reply.code(204).send(null)
    },
  )
}
