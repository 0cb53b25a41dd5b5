// Chat workspaces and identities that a subscriber connects in the browser. Answers contain no secrets.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { allOf, cursorPage } from '../../db/core/page.ts'
import { type ConnectionRow, connectionModes } from '../../db/queries/channel-connections.ts'
import type { EndpointRow } from '../../db/queries/channel-endpoints.ts'
import { listIntegrations } from '../../db/queries/integrations.ts'
import { fail } from '../../errors.ts'
import { ProviderId } from '../edge/provider-id.ts'
import type { InboxSession, Resource, Services } from '../edge/resource.ts'
import {
  Body,
  Channel,
  ContextPayload,
  cursorQuery,
  Empty,
  Enum,
  FreeObject,
  Identifier,
  Timestamp,
} from '../edge/schema.ts'
import { connectFields, linkFields, modes, signInUrl } from '../integrations/chat-oauth.ts'
import { HashKeys } from './session.ts'

const connectionFields = {
  identifier: Type.String(),
  workspace: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
  createdAt: Timestamp,
}
const Connection = Type.Object(connectionFields)
const Endpoint = Type.Object({ identifier: Type.String(), type: Type.String() })
const Cursor = Type.Unsafe<string | null>({ type: ['string', 'null'] })
const Page = <T extends typeof Connection | typeof Endpoint>(item: T) =>
  Type.Object({ data: Type.Array(item), next: Cursor, previous: Cursor })
const Url = Type.Object({ data: Type.Object({ url: Type.String() }) })
const Params = Type.Object({ identifier: Type.String() })
const Mode = Type.Optional(Enum(connectionModes))

const signInFields = {
  integrationIdentifier: Identifier(),
  connectionIdentifier: Type.Optional(Identifier()),
  context: Type.Optional(ContextPayload()),
  contextHash: Type.Optional(Type.String()),
}
const Connect = Body({ ...signInFields, ...connectFields })
const Link = Body({ ...signInFields, ...linkFields })
const Either = Body({ ...signInFields, ...connectFields, ...linkFields, mode: Type.Optional(Enum(modes)) })
type SignIn = Static<typeof Either>

const toConnection = ({ identifier, workspace, created_at }: ConnectionRow): Static<typeof Connection> => ({
  identifier,
  workspace,
  createdAt: created_at,
})
const toEndpoint = ({ identifier, type }: EndpointRow): Static<typeof Endpoint> => ({ identifier, type })

/** The name that older clients use for every subscriber's connection; newer ones append the subscriber's id. */
const sharedDefault = /^chconn-(slack|msteams)-default$/
const nameFor = (identifier: string, { subscriber }: InboxSession) =>
  sharedDefault.test(identifier) ? `${identifier}-${subscriber.subscriber_id}` : identifier

/**
 * Requests use the session's contexts if it has any, or else those they name. If hashes are required, naming contexts needs
 * one.
 */
export async function contextFor(
  services: Pick<Services, 'db' | 'secrets' | 'clock'>,
  { environmentId, contextKeys, isVouchedFor }: InboxSession,
  { integrationIdentifier, context, contextHash }: Pick<SignIn, 'integrationIdentifier' | 'context' | 'contextHash'>,
): Promise<SignIn['context']> {
  const isSessions = contextKeys.length > 0
  const integrations = await listIntegrations(services.db, environmentId)
  const chat = integrations.find(({ identifier }) => identifier === integrationIdentifier)
  if (chat?.credentials.hmac === true && !isVouchedFor) throw fail('subscriber_hash_invalid')
  const needsHash = integrations.some((row) => row.channel === 'in_app' && row.active && row.credentials.hmac === true)
  const keys = new HashKeys(services, environmentId)
  if (!isSessions && context !== undefined && needsHash && !(await keys.matchContext(context, contextHash)))
    throw fail('context_hash_invalid')
  return isSessions ? Object.fromEntries(contextKeys.map((key) => key.split(':', 2))) : context
}

export const inboxChannels: Resource = (app, services) => {
  const { db, brand, config: settings } = services
  const tags = ['Inbox in browsers']
  const config = { public: true, inbox: true }
  const connections = '/v1/inbox/channel-connections'
  const endpoints = '/v1/inbox/channel-endpoints'

  const inContext = ({ environmentId, contextKeys }: InboxSession) =>
    sql`t.environment_id = ${environmentId} AND t.context_keys = ${contextKeys}::text[]`
  /** The subscriber's own, and those shared in the same contexts. */
  const reachable = (session: InboxSession, mode?: (typeof connectionModes)[number]) => {
    const mine = sql`t.subscriber_id = ${session.subscriber.subscriber_id}`
    const shared = sql`t.subscriber_id IS NULL`
    const either = mode === 'subscriber' ? mine : mode === 'shared' ? shared : sql`(${mine} OR ${shared})`
    return [inContext(session), either]
  }
  /** The connection with this name: the subscriber's own before a shared one. */
  const named = (identifier: string, session: InboxSession, mode?: (typeof connectionModes)[number]) => {
    const names = [identifier, nameFor(identifier, session)]
    const where = [...reachable(session, mode), sql`t.identifier = ANY(${names}::text[])`]
    return sql`(t.environment_id, t.id) = (
      SELECT t.environment_id, t.id FROM channel_connections t WHERE ${allOf(where)}
      ORDER BY t.subscriber_id NULLS LAST, t.id LIMIT 1)`
  }
  const mine = (session: InboxSession) => [
    inContext(session),
    sql`t.subscriber_id = ${session.subscriber.subscriber_id}`,
  ]
  const listFilter = (query: { integrationIdentifier?: string; channel?: Channel; providerId?: string }) => [
    ...(query.integrationIdentifier ? [sql`t.integration_identifier = ${query.integrationIdentifier}`] : []),
    ...(query.channel ? [sql`t.channel = ${query.channel}`] : []),
    ...(query.providerId ? [sql`t.provider_id = ${brand.toStored(query.providerId)}`] : []),
  ]
  const listQuery = {
    integrationIdentifier: Type.Optional(Type.String()),
    channel: Type.Optional(Channel),
    providerId: Type.Optional(ProviderId({ brand, config: settings })),
  }

  app.get(
    connections,
    {
      config,
      schema: {
        tags,
        summary: 'List connected chat workspaces',
        querystring: Type.Object({
          ...cursorQuery('ListChannelConnectionsCommand'),
          ...listQuery,
          connectionMode: Mode,
        }),
        response: { 200: Page(Connection) },
      },
    },
    async ({ session, query }) => {
      const page = await cursorPage<ConnectionRow>(
        db,
        {
          from: sql`channel_connections t`,
          table: 'channel_connections',
          columns: sql`t.*`,
          where: allOf([...reachable(session, query.connectionMode), ...listFilter(query)]),
          environmentId: session.environmentId,
        },
        query,
      )
      return { data: page.data.map(toConnection), next: page.next, previous: page.previous }
    },
  )

  app.get(
    `${connections}/:identifier`,
    {
      config,
      schema: {
        tags,
        summary: 'Retrieve a connected chat workspace',
        params: Params,
        querystring: Type.Object({ connectionMode: Mode }),
        // Some clients read `data`, others its members.
        response: { 200: Type.Object({ ...connectionFields, data: Connection }) },
      },
    },
    async ({ session, params, query }) => {
      const { rows } = await sql<ConnectionRow>`
        SELECT t.* FROM channel_connections t WHERE ${named(params.identifier, session, query.connectionMode)}`.execute(
        db,
      )
      if (!rows[0]) throw fail('connection_not_found', params)
      const connection = toConnection(rows[0])
      return { ...connection, data: connection }
    },
  )

  app.delete(
    `${connections}/:identifier`,
    {
      config,
      schema: { tags, summary: 'Disconnect a chat workspace', params: Params, response: { 204: Empty } },
    },
    async ({ session, params }, reply) => {
      const where = named(params.identifier, session)
      const { rows } = await sql<ConnectionRow>`SELECT t.* FROM channel_connections t WHERE ${where}`.execute(db)
      if (!rows[0]) throw fail('connection_not_found', params)
      // Anybody can name a context; others depend on what is shared in it.
      if (rows[0].subscriber_id === null && !session.isContextVouchedFor)
        throw fail('shared_connection_refused', params)
      await sql`
        DELETE FROM channel_connections t
        WHERE t.environment_id = ${session.environmentId} AND t.id = ${rows[0].id}`.execute(db)
      return reply.code(204).send(null)
    },
  )

  /** Always for the session's subscriber, and in the session's contexts if it has any, whatever the request names. */
  const open = async (session: InboxSession, asked: SignIn): Promise<string> => {
    const { contextHash: _, context: __, connectionIdentifier, mode = 'connect', ...more } = asked
    const context = await contextFor(services, session, asked)
    return signInUrl(
      services,
      { id: session.environmentId, organizationId: session.organizationId },
      {
        ...more,
        mode,
        subscriberId: session.subscriber.subscriber_id,
        ...(context === undefined ? {} : { context }),
        ...(connectionIdentifier === undefined
          ? {}
          : {
              connectionIdentifier:
                more.connectionMode === 'shared' ? connectionIdentifier : nameFor(connectionIdentifier, session),
            }),
      },
    )
  }

  const signIns = [
    { path: `${connections}/oauth`, body: Connect, mode: 'connect', summary: 'Create a URL that connects a workspace' },
    { path: `${endpoints}/oauth`, body: Link, mode: 'link_user', summary: 'Create a URL that links a chat identity' },
  ] as const
  for (const { path, body, mode, summary } of signIns) {
    app.post(
      path,
      { config, schema: { tags, summary, body, response: { 201: Url } } },
      async ({ session, body: asked }, reply) =>
        reply.code(201).send({ data: { url: await open(session, { ...(asked as SignIn), mode }) } }),
    )
  }

  app.post(
    '/v1/inbox/chat/oauth',
    {
      config,
      schema: { tags, summary: 'Create a URL for either', deprecated: true, body: Either, response: { 201: Url } },
    },
    async ({ session, body }, reply) => reply.code(201).send({ data: { url: await open(session, body) } }),
  )

  app.get(
    endpoints,
    {
      config,
      schema: {
        tags,
        summary: 'List the chat identities of the subscriber',
        querystring: Type.Object({
          ...cursorQuery('ListChannelEndpointsCommand'),
          ...listQuery,
          connectionIdentifier: Type.Optional(Type.String()),
        }),
        response: { 200: Page(Endpoint) },
      },
    },
    async ({ session, query }) => {
      const { connectionIdentifier } = query
      const names = connectionIdentifier ? [connectionIdentifier, nameFor(connectionIdentifier, session)] : undefined
      const where = [
        ...mine(session),
        ...listFilter(query),
        ...(names ? [sql`t.connection_identifier = ANY(${names}::text[])`] : []),
      ]
      const page = await cursorPage<EndpointRow>(
        db,
        {
          from: sql`channel_endpoints t`,
          table: 'channel_endpoints',
          columns: sql`t.*`,
          where: allOf(where),
          environmentId: session.environmentId,
        },
        query,
      )
      return { data: page.data.map(toEndpoint), next: page.next, previous: page.previous }
    },
  )

  app.get(
    `${endpoints}/:identifier`,
    {
      config,
      schema: {
        tags,
        summary: 'Retrieve a chat identity of the subscriber',
        params: Params,
        response: { 200: Type.Object({ data: Endpoint }) },
      },
    },
    async ({ session, params }) => {
      const where = [...mine(session), sql`t.identifier = ${params.identifier}`]
      const { rows } = await sql<EndpointRow>`SELECT t.* FROM channel_endpoints t WHERE ${allOf(where)}`.execute(db)
      if (!rows[0]) throw fail('endpoint_not_found', params)
      return { data: toEndpoint(rows[0]) }
    },
  )

  app.delete(
    `${endpoints}/:identifier`,
    { config, schema: { tags, summary: 'Delete a chat identity', params: Params, response: { 204: Empty } } },
    async ({ session, params }, reply) => {
      const where = [...mine(session), sql`t.identifier = ${params.identifier}`]
      const { numAffectedRows = 0n } = await sql`DELETE FROM channel_endpoints t WHERE ${allOf(where)}`.execute(db)
      if (numAffectedRows === 0n) throw fail('endpoint_not_found', params)
      return reply.code(204).send(null)
    },
  )

  // A page is not trusted to name addresses.
  app.post(endpoints, { config, schema: { hide: true, body: FreeObject, response: { 201: Empty } } }, async () => {
    throw fail('own_endpoint_refused')
  })
}
