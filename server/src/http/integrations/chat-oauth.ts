// Chat sign-in, first half: the URL for the person, and the signed state that describes what to create on return.
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/core/database.ts'
import { idPattern } from '../../db/core/ids.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { IntegrationTable } from '../../db/core/tables.ts'
import {
  type ConnectionMode,
  connectionModes,
  refuseMissingOwner,
  requireSubscriber,
} from '../../db/queries/channel-connections.ts'
import { resolveContexts } from '../../db/queries/contexts.ts'
import { fail } from '../../errors.ts'
import { teamsConsentUrl, teamsUserUrl } from '../../providers/chat/msteams-oauth.ts'
import { slackInstallUrl, slackUserUrl } from '../../providers/chat/slack-oauth.ts'
import type { Environment, Resource, Services } from '../edge/resource.ts'
import { Body, ContextPayload, Enum, Identifier } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { openCredentials } from './credentials.ts'

const stateLivesMs = 5 * 60_000
export const callbackPath = '/v1/integrations/chat/oauth/callback'
const webhookScope = 'incoming-webhook'
const needsSubscriber = 'is required for link_user'

const fields = {
  integrationIdentifier: Identifier({
    texts: { required: 'Integration identifier is required', minLength: 'Integration identifier is required' },
  }),
  subscriberId: Type.Optional(Identifier()),
  connectionIdentifier: Type.Optional(Identifier()),
  context: Type.Optional(ContextPayload()),
}
const Scopes = (description: string) => Type.Optional(Type.Array(Type.String(), { maxItems: 100, description }))
export const connectFields = {
  scope: Scopes('Slack: the bot scopes; default: a sensible set'),
  connectionMode: Type.Optional(Enum(connectionModes)),
  autoLinkUser: Type.Optional(Type.Boolean({ description: 'Also create an endpoint for the person who signs in' })),
}
export const linkFields = { userScope: Scopes('Slack: the user scopes; default: `identity.basic`') }
export const modes = ['connect', 'link_user'] as const

const Connect = Body({ ...fields, ...connectFields })
const LinkUser = Body({
  ...fields,
  ...linkFields,
  subscriberId: Identifier({ texts: { required: needsSubscriber, minLength: needsSubscriber } }),
})
const Either = Body({ ...fields, ...connectFields, ...linkFields, mode: Type.Optional(Enum(modes)) })
const Url = Type.Object({ url: Type.String() })

export type OAuthServices = Pick<Services, 'db' | 'secrets' | 'clock' | 'config' | 'http'>
type SignIn = Static<typeof Either> & { mode: (typeof modes)[number] }

/** What to create when the person returns. */
export interface OAuthState {
  /** Of the connection to create, or to attach the person to. */
  identifier: string | undefined
  subscriberId: string | undefined
  /** Names existing contexts. */
  context: Record<string, unknown> | undefined
  environmentId: string
  organizationId: string
  integrationIdentifier: string
  providerId: string
  timestamp: number
  mode: (typeof modes)[number]
  connectionMode: ConnectionMode | undefined
  autoLinkUser: boolean | undefined
}

export const chatOAuth: Resource = (app, services) => {
  const tags = ['Chat sign-in']
  const open = (environment: Environment, asked: SignIn) => signInUrl(services, environment, asked)

  app.post(
    '/v1/integrations/channel-connections/oauth',
    {
      schema: {
        tags,
        summary: 'Create a URL that connects a chat workspace',
        description: 'It expires after 5 minutes.',
        body: Connect,
        response: { 201: Url },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ url: await open(request.environment, { ...request.body, mode: 'connect' }) }),
  )

  app.post(
    '/v1/integrations/channel-endpoints/oauth',
    {
      schema: {
        tags,
        summary: 'Create a URL that links a subscriber to their chat user',
        description: 'It expires after 5 minutes.',
        body: LinkUser,
        response: { 201: Url },
      },
    },
    async (request, reply) =>
      reply.code(201).send({ url: await open(request.environment, { ...request.body, mode: 'link_user' }) }),
  )

  app.post(
    '/v1/integrations/chat/oauth',
    {
      schema: {
        tags,
        summary: 'Create a URL for either',
        description: 'It expires after 5 minutes.',
        deprecated: true,
        body: Either,
        response: { 201: Url },
      },
    },
    async (request, reply) => {
      const { mode = 'connect', subscriberId } = request.body
      if (mode === 'link_user' && subscriberId === undefined) throw generalError([`subscriberId ${needsSubscriber}`])
      return reply.code(201).send({ url: await open(request.environment, { ...request.body, mode }) })
    },
  )
}

/** The URL where a person connects a workspace, or links their chat user. */
export async function signInUrl(
  services: OAuthServices,
  environment: Pick<Environment, 'id' | 'organizationId'>,
  asked: SignIn,
): Promise<string> {
  const { db, clock } = services
  const { mode, subscriberId, scope, userScope } = asked
  const integration = await findChatIntegration(db, environment.id, asked.integrationIdentifier)
  if (mode === 'connect') refuseUnownedConnection(integration, asked)
  if (subscriberId !== undefined) await requireSubscriber(db, environment.id, subscriberId)
  const now = clock.now()
  // Creates the contexts now, so that the state only names them: their data can be long, and is private.
  const contextKeys = await resolveContexts(db, environment.id, asked.context, now)
  const state = {
    identifier: asked.connectionIdentifier,
    subscriberId,
    context: contextKeys.length === 0 ? undefined : Object.fromEntries(contextKeys.map((key) => key.split(':', 2))),
    environmentId: environment.id,
    organizationId: environment.organizationId,
    integrationIdentifier: integration.identifier,
    providerId: integration.provider_id,
    timestamp: now.getTime(),
    mode,
    connectionMode: asked.connectionMode,
    autoLinkUser: asked.autoLinkUser,
  }
  return authorizationUrl(services, integration, state, { scope, userScope })
}

/** Teams ignores the mode, since an administrator's consent applies to the whole tenant. */
function refuseUnownedConnection({ provider_id }: ChatIntegration, asked: SignIn): void {
  const { subscriberId, context } = asked
  if (provider_id === 'msteams') refuseMissingOwner({ subscriberId, context })
  else if (asked.scope?.includes(webhookScope) && subscriberId === undefined) throw fail('webhook_needs_subscriber')
  else refuseMissingOwner({ ...asked })
}

/** The URL for the person, with the signed state. */
export async function authorizationUrl(
  { db, secrets, config }: OAuthServices,
  integration: ChatIntegration,
  state: OAuthState,
  scopes: { scope?: string[] | undefined; userScope?: string[] | undefined } = {},
): Promise<string> {
  const isLink = state.mode === 'link_user'
  const { clientId } = requireCredentials(secrets, integration, ['clientId'])
  const asked = { clientId, redirectUri: redirectUri(config), state: await signState(db, secrets, state) }
  if (integration.provider_id !== 'msteams') {
    const { slack } = config.oauth
    return isLink ? slackUserUrl(slack, asked, scopes.userScope) : slackInstallUrl(slack, asked, scopes.scope)
  }
  if (!isLink) return teamsConsentUrl(config.oauth, asked)
  const { tenantId } = requireCredentials(secrets, integration, ['tenantId'])
  return teamsUserUrl(config.oauth, { ...asked, tenantId })
}

export const redirectUri = ({ publicUrl }: Pick<Config, 'publicUrl'>) => publicUrl + callbackPath

const oauthProviders = ['slack', 'svc-slack', 'msteams']
export type ChatIntegration = Pick<Selectable<IntegrationTable>, 'identifier' | 'provider_id' | 'credentials'>

export async function findChatIntegration(db: Db, environmentId: string, identifier: string): Promise<ChatIntegration> {
  const row = await db
    .selectFrom('integrations')
    .select(['identifier', 'provider_id', 'credentials'])
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .where('channel', '=', 'chat')
    .where('provider_id', 'in', oauthProviders)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) throw fail('oauth_integration_not_found', { identifier, environmentId })
  return row
}

/** The integration's credentials with these names, decrypted. */
export function requireCredentials<Name extends string>(
  secrets: Secrets,
  integration: ChatIntegration,
  names: Name[],
): Record<Name, string> {
  const credentials = openCredentials(secrets, integration)
  const missing = names.filter((name) => typeof credentials[name] !== 'string' || credentials[name] === '')
  if (missing.length > 0)
    throw fail('oauth_credentials_missing', { identifier: integration.identifier, names: missing })
  return credentials as Record<Name, string>
}

async function signState(db: Db, secrets: Secrets, state: OAuthState): Promise<string> {
  const json = JSON.stringify(state)
  const signature = secrets.sign(json, await saltOf(db, state.environmentId))
  return Buffer.from(`${json}.${signature}`).toString('base64url')
}

/** Refuses a state that is not ours, that was signed before the environment's key was replaced, or that has expired. */
export async function readState({ db, secrets, clock }: OAuthServices, text: string): Promise<OAuthState> {
  const decoded = Buffer.from(text, 'base64url').toString('utf8')
  // The JSON may contain dots; the signature does not.
  const dot = decoded.lastIndexOf('.')
  const json = decoded.slice(0, Math.max(dot, 0))
  const state = parseState(json)
  if (state === undefined) throw fail('oauth_state_invalid')
  const salt = await saltOf(db, state.environmentId)
  if (!secrets.verify(json, decoded.slice(dot + 1), salt)) throw fail('oauth_state_invalid')
  if (clock.now().getTime() - state.timestamp > stateLivesMs) throw fail('oauth_state_invalid')
  return state
}

/** Do not trust it before its signature is checked, which needs its environment. */
function parseState(json: string): OAuthState | undefined {
  try {
    const state = JSON.parse(json) as Partial<OAuthState> | null
    return id.test(String(state?.environmentId)) ? (state as OAuthState) : undefined
  } catch {
    return undefined
  }
}

const id = new RegExp(idPattern)

/** Signatures depend on the environment's compatible API key, so that replacing a leaked key also voids them. */
async function saltOf(db: Db, environmentId: string): Promise<string> {
  const row = await db
    .selectFrom('environments as e')
    .leftJoin('api_keys as k', (join) =>
      join.onRef('k.environment_id', '=', 'e.id').on('k.encrypted_key', 'is not', null),
    )
    .select('k.hash')
    .where('e.id', '=', environmentId)
    .orderBy('k.created_at', 'desc')
    .orderBy('k.hash')
    .limit(1)
    .executeTakeFirst()
  if (!row) throw fail('oauth_environment_not_found', { environmentId })
  return `chat sign-in ${row.hash ?? ''}`
}
