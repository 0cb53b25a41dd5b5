// Chat sign-in, second half: the person returns from Slack or Microsoft, and we create what the signed state describes.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { createConnection } from '../../db/queries/channel-connections.ts'
import { createEndpoint, type NewEndpoint } from '../../db/queries/channel-endpoints.ts'
import { fail } from '../../errors.ts'
import { exchangeTeamsCode, installTeamsApp, requireTeamsConsent } from '../../providers/chat/msteams-oauth.ts'
import { exchangeSlackCode } from '../../providers/chat/slack-oauth.ts'
import type { Resource } from '../edge/resource.ts'
import {
  authorizationUrl,
  type ChatIntegration,
  callbackPath,
  findChatIntegration,
  type OAuthServices,
  type OAuthState,
  readState,
  redirectUri,
  requireCredentials,
} from './chat-oauth.ts'

const Query = Type.Object({
  code: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  tenant: Type.Optional(Type.String()),
  admin_consent: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
})

interface Result {
  code: string | undefined
  tenant: string | undefined
  hasConsent: boolean
}

export const chatOAuthCallback: Resource = (app, services) => {
  app.get(
    callbackPath,
    {
      config: { public: true },
      // A code works once, so a link checker's HEAD must not use it up.
      exposeHeadRoute: false,
      schema: {
        tags: ['Chat sign-in'],
        summary: 'Where Slack and Microsoft send people back to',
        querystring: Query,
        response: {
          200: { description: 'A page that closes itself', content: { 'text/html': { schema: Type.String() } } },
          302: Type.Null({ description: 'To the landing page of the integration, or to the next sign-in' }),
        },
      },
    },
    async (request, reply) => {
      // A page of another site has opened this one and waits until it closes.
      reply.header('Cross-Origin-Opener-Policy', 'unsafe-none')
      const { error, error_description: description, code, tenant, admin_consent, state: signed } = request.query
      if (error) throw fail('oauth_denied', { error, description })
      if (!signed) throw fail('oauth_parameter_missing', { name: 'state' })
      if (!code && !tenant) throw fail('oauth_result_missing')
      const state = await readState(services, signed)
      const visit = await openVisit(services, state)
      const result = { code, tenant, hasConsent: admin_consent?.toLowerCase() === 'true' }
      const onward =
        state.providerId === 'msteams' ? await finishTeams(visit, result) : await finishSlack(visit, result)
      reply.header('Cache-Control', 'no-store')
      if (onward !== undefined) return reply.redirect(onward, 302)
      return reply.header('Content-Security-Policy', closingPolicy).type('text/html; charset=utf-8').send(closingPage)
    },
  )
}

interface Visit {
  services: OAuthServices
  state: OAuthState
  integration: ChatIntegration
  /** The landing page of the integration, if set. */
  landing: string | undefined
}

async function openVisit(services: OAuthServices, state: OAuthState): Promise<Visit> {
  const { environmentId, integrationIdentifier: identifier } = state
  const integration = await findChatIntegration(services.db, environmentId, identifier)
  // Another integration may have taken over the identifier since.
  if (integration.provider_id !== state.providerId)
    throw fail('oauth_integration_not_found', { identifier, environmentId })
  return { services, state, integration, landing: landingOf(integration.credentials.redirectUrl) }
}

/** In ASCII, for a header; an invalid URL counts as not set. */
function landingOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url) || !/^https?:/i.test(url)) return undefined
  return /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href
}

async function finishSlack(visit: Visit, { code }: Result): Promise<string | undefined> {
  const { services, state, landing } = visit
  const { config, secrets } = services
  if (!code) throw fail('oauth_parameter_missing', { name: 'code' })
  const { clientId, secretKey } = requireCredentials(secrets, visit.integration, ['clientId', 'secretKey'])
  const sent = { code, clientId, clientSecret: secretKey, redirectUri: redirectUri(config) }
  const grant = await exchangeSlackCode(services.http, config.oauth.slack, sent)

  if (state.mode === 'link_user') {
    await link(visit, { type: 'slack_user', endpoint: { userId: expected(grant.userId) } }, state.identifier)
  } else if (grant.webhookUrl !== undefined) {
    await link(visit, { type: 'webhook', endpoint: { url: grant.webhookUrl } }, undefined)
  } else {
    const workspace = expected(grant.workspace)
    const identifier = await connect(visit, workspace, expected(grant.accessToken))
    if (state.autoLinkUser && state.subscriberId !== undefined && grant.userId !== undefined)
      await link(visit, { type: 'slack_user', endpoint: { userId: grant.userId } }, identifier)
  }
  return landing
}

/** A member that Slack guarantees for the requested scopes. */
function expected<T>(value: T | undefined): T {
  if (value === undefined) throw fail('oauth_unavailable', { vendor: 'Slack', reason: 'part of the answer is missing' })
  return value
}

const tenantPattern = /^[A-Za-z0-9][A-Za-z0-9.-]{0,254}$/

async function finishTeams(visit: Visit, { code, tenant, hasConsent }: Result): Promise<string | undefined> {
  const { services, state, integration, landing } = visit
  const { config, secrets, clock, http } = services
  if (state.mode === 'connect') {
    if (!tenant) throw fail('oauth_parameter_missing', { name: 'tenant' })
    if (!tenantPattern.test(tenant)) throw fail('oauth_tenant_invalid')
    if (!hasConsent) throw fail('oauth_consent_missing')
    // The browser says which tenant it was, and can say anything.
    const { clientId, secretKey } = requireCredentials(secrets, integration, ['clientId', 'secretKey'])
    await requireTeamsConsent(http, config.oauth, { tenantId: tenant, clientId, clientSecret: secretKey })
    // The bot signs in for every message, so there is no token to store.
    const identifier = await connect(visit, { id: tenant }, 'app-only')
    const canLink = state.autoLinkUser && state.subscriberId !== undefined && integration.credentials.tenantId
    if (!canLink) return landing
    const timestamp = clock.now().getTime()
    return authorizationUrl(services, integration, { ...state, identifier, mode: 'link_user', timestamp })
  }
  if (!code) throw fail('oauth_parameter_missing', { name: 'code' })
  const found = requireCredentials(secrets, integration, ['clientId', 'secretKey', 'tenantId'])
  const teamsApp = { clientId: found.clientId, clientSecret: found.secretKey, tenantId: found.tenantId }
  const userId = await exchangeTeamsCode(http, config.oauth, teamsApp, { code, redirectUri: redirectUri(config) })
  await installTeamsApp(http, config.oauth, teamsApp, userId)
  await link(visit, { type: 'ms_teams_user', endpoint: { userId } }, state.identifier)
  return landing
}

/** @returns the identifier of the new connection */
async function connect(
  { services, state }: Visit,
  workspace: { id: string; name?: string },
  accessToken: string,
): Promise<string> {
  const row = await createConnection(
    services,
    state.environmentId,
    { ...state, workspace, accessToken },
    services.clock.now(),
  )
  return row.identifier
}

async function link(
  { services, state }: Visit,
  target: Pick<NewEndpoint, 'type' | 'endpoint'>,
  connectionIdentifier: string | undefined,
): Promise<void> {
  const { integrationIdentifier, subscriberId, context } = state
  if (subscriberId === undefined) throw fail('webhook_needs_subscriber')
  const input = { ...target, integrationIdentifier, subscriberId, context, connectionIdentifier }
  await createEndpoint(services, state.environmentId, input, services.clock.now())
}

const closingScript = 'window.close();'
const closingPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Done</title>
<p>All done. You can close this window.</p>
<script>${closingScript}</script>
</html>
`
/** Exactly this script may run, and nothing else. */
const closingPolicy = `default-src 'none'; script-src 'sha256-${createHash('sha256').update(closingScript).digest('base64')}'; frame-ancestors 'none'`
