// Channel connections: authorized chat workspaces, each of a subscriber or shared through a context.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { mask } from '../../db/core/environment-access.ts'
import { allOf, cursorPage } from '../../db/core/page.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import {
  type ConnectionRow,
  connectionModes,
  createConnection,
  findConnection,
} from '../../db/queries/channel-connections.ts'
import { hasContextKeys } from '../../db/queries/contexts.ts'
import { fail } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import { ProviderId } from '../edge/provider-id.ts'
import type { Resource } from '../edge/resource.ts'
import { maySeeSecrets } from '../edge/roles.ts'
import {
  Body,
  Channel,
  ContextKeys,
  ContextPayload,
  CursorPage,
  cursorQuery,
  Empty,
  Enum,
  Identifier,
  Nullable,
  Timestamp,
} from '../edge/schema.ts'

const Workspace = Body({ id: Type.String({ minLength: 1 }), name: Type.Optional(Type.String()) })
const Auth = Body({ accessToken: Type.String({ minLength: 1 }) })
const exampleWorkspace = { workspace: { id: 'T0123ABCD', name: 'Acme' }, auth: { accessToken: 'xoxb-…' } }

const ChannelConnection = Type.Object({
  identifier: Type.String(),
  channel: Channel,
  providerId: Type.String(),
  integrationIdentifier: Type.String(),
  subscriberId: Nullable(Type.String()),
  contextKeys: Type.Array(Type.String()),
  workspace: Workspace,
  auth: Auth,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const Params = Type.Object({ identifier: Type.String() })

function toConnection(
  request: FastifyRequest,
  row: ConnectionRow,
  brand: Brand,
  secrets: Secrets,
): Static<typeof ChannelConnection> {
  return {
    identifier: row.identifier,
    channel: row.channel as Channel,
    providerId: brand.toWire(row.provider_id),
    integrationIdentifier: row.integration_identifier,
    subscriberId: row.subscriber_id,
    contextKeys: row.context_keys,
    workspace: row.workspace,
    auth: { accessToken: maySeeSecrets(request) ? secrets.decrypt(row.encrypted_access_token) : mask },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export const channelConnections: Resource = (app, { db, secrets, brand, config }) => {
  const tags = ['Channel connections']

  app.post(
    '/v1/channel-connections',
    {
      schema: {
        tags,
        summary: 'Create a channel connection',
        body: Body(
          {
            integrationIdentifier: Identifier(),
            workspace: Workspace,
            auth: Auth,
            identifier: Type.Optional(Identifier()),
            subscriberId: Type.Optional(Identifier()),
            context: Type.Optional(ContextPayload()),
            connectionMode: Type.Optional(Enum(connectionModes)),
          },
          { examples: [{ integrationIdentifier: 'slack', subscriberId: 'ada', ...exampleWorkspace }] },
        ),
        response: { 201: ChannelConnection },
      },
    },
    async (request, reply) => {
      const { auth, ...fields } = request.body
      const input = { ...fields, accessToken: auth.accessToken }
      const row = await createConnection({ db, secrets }, request.environment.id, input, request.now())
      return reply.code(201).send(toConnection(request, row, brand, secrets))
    },
  )

  app.get(
    '/v1/channel-connections',
    {
      schema: {
        tags,
        summary: 'List channel connections',
        querystring: Type.Object({
          ...cursorQuery('ListChannelConnectionsCommand'),
          subscriberId: Type.Optional(Type.String({ description: 'Never matches shared connections' })),
          channel: Type.Optional(Channel),
          providerId: Type.Optional(ProviderId({ brand, config })),
          integrationIdentifier: Type.Optional(Type.String()),
          contextKeys: Type.Optional(ContextKeys),
        }),
        response: { 200: CursorPage(ChannelConnection) },
      },
    },
    async (request) => {
      const { subscriberId, channel, providerId, integrationIdentifier, contextKeys, orderBy } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(subscriberId === undefined ? [] : [sql`t.subscriber_id = ${subscriberId}`]),
        ...(channel === undefined ? [] : [sql`t.channel = ${channel}`]),
        ...(providerId === undefined ? [] : [sql`t.provider_id = ${brand.toStored(providerId)}`]),
        ...(integrationIdentifier === undefined ? [] : [sql`t.integration_identifier = ${integrationIdentifier}`]),
        ...hasContextKeys(contextKeys),
      ]
      const page = await cursorPage<ConnectionRow>(
        db,
        {
          from: sql`channel_connections t`,
          table: 'channel_connections',
          columns: sql`t.*`,
          where: allOf(where),
          environmentId,
          order: orderBy === 'updatedAt' ? 'updated_at' : 'created_at',
        },
        request.query,
      )
      return { ...page, data: page.data.map((row) => toConnection(request, row, brand, secrets)) }
    },
  )

  app.get(
    '/v1/channel-connections/:identifier',
    {
      schema: { tags, summary: 'Retrieve a channel connection', params: Params, response: { 200: ChannelConnection } },
    },
    async (request) => {
      const row = await findConnection(db, request.environment.id, request.params.identifier)
      if (!row) throw fail('connection_not_found', request.params)
      return toConnection(request, row, brand, secrets)
    },
  )

  app.patch(
    '/v1/channel-connections/:identifier',
    {
      schema: {
        tags,
        summary: 'Replace the workspace and its authorization',
        params: Params,
        body: Body({ workspace: Workspace, auth: Auth }, { examples: [exampleWorkspace] }),
        response: { 200: ChannelConnection },
      },
    },
    async (request) => {
      const { workspace, auth } = request.body
      const row = await db
        .updateTable('channel_connections')
        .set({
          workspace: JSON.stringify(workspace),
          encrypted_access_token: secrets.encrypt(auth.accessToken),
          updated_at: request.now(),
        })
        .where('environment_id', '=', request.environment.id)
        .where('identifier', '=', request.params.identifier)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw fail('connection_to_update_not_found', request.params)
      return toConnection(request, row, brand, secrets)
    },
  )

  app.delete(
    '/v1/channel-connections/:identifier',
    {
      schema: {
        tags,
        summary: 'Delete a channel connection; endpoints that name it stay',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { numDeletedRows } = await db
        .deleteFrom('channel_connections')
        .where('environment_id', '=', request.environment.id)
        .where('identifier', '=', request.params.identifier)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw fail('connection_not_found', request.params)
      return reply.code(204).send(null)
    },
  )
}
