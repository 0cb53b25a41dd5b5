// Signing in with Microsoft Teams: an administrator's consent for the tenant, a person's identity, and installing the app.
// https://learn.microsoft.com/entra/identity-platform/v2-admin-consent
// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow
// https://learn.microsoft.com/graph/api/userteamwork-post-installedapps
import { fail, type RequestError } from '../../errors.ts'
import type { HttpClient } from '../http-client.ts'
import { ask, member, tellable, textMember, unusable, type VendorAnswer } from './oauth-request.ts'

const vendor = 'MS Teams'
const userScope = 'openid profile User.Read'

interface Bases {
  microsoftLogin: string
  microsoftGraph: string
}

interface Authorization {
  clientId: string
  redirectUri: string
  state: string
}

/** For an administrator's approval of the app in their tenant. */
export function teamsConsentUrl(bases: Bases, { clientId, redirectUri, state }: Authorization): string {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: `${bases.microsoftGraph}/.default`,
    state,
  })
  return `${bases.microsoftLogin}/organizations/v2.0/adminconsent?${query.toString()}`
}

/** For a person to sign in. */
export function teamsUserUrl(bases: Bases, asked: Authorization & { tenantId: string }): string {
  const query = new URLSearchParams({
    client_id: asked.clientId,
    response_type: 'code',
    redirect_uri: asked.redirectUri,
    scope: userScope,
    state: asked.state,
    response_mode: 'query',
  })
  return `${tenantUrl(bases, asked.tenantId)}/authorize?${query.toString()}`
}

const tenantUrl = ({ microsoftLogin }: Bases, tenantId: string) =>
  `${microsoftLogin}/${encodeURIComponent(tenantId)}/oauth2/v2.0`

interface TeamsApp {
  tenantId: string
  clientId: string
  clientSecret: string
  timeoutMs?: number
}

/** Who signed in: the object id of a person in the tenant. */
export async function exchangeTeamsCode(
  http: HttpClient,
  bases: Bases,
  app: TeamsApp,
  { code, redirectUri }: { code: string; redirectUri: string },
): Promise<string> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, scope: userScope }
  const answer = await askForToken(http, bases, app, form)
  const claims = claimsOf(textMember(answer.json, 'id_token'))
  // The token came straight from its issuer over TLS, which replaces its signature (OpenID Connect Core, 3.1.3.7); its
  // audience must still be checked.
  const userId = textMember(claims, 'oid')
  if (userId === undefined || textMember(claims, 'aud') !== app.clientId)
    throw unusable({ vendor }, 'the id_token does not say who signed in')
  return userId
}

/** Whether an administrator of this tenant has approved the app: only then Microsoft gives it a token there. */
export async function requireTeamsConsent(http: HttpClient, bases: Bases, app: TeamsApp): Promise<void> {
  await appToken(http, bases, app)
}

async function appToken(http: HttpClient, bases: Bases, app: TeamsApp): Promise<string> {
  const scope = `${bases.microsoftGraph}/.default`
  const token = await askForToken(http, bases, app, { grant_type: 'client_credentials', scope })
  const bearer = textMember(token.json, 'access_token')
  if (bearer === undefined) throw unusable({ vendor }, 'no access_token')
  return bearer
}

/** The bot can only write to a person who has the app. An installed app is left alone. */
export async function installTeamsApp(http: HttpClient, bases: Bases, app: TeamsApp, userId: string): Promise<void> {
  const { timeoutMs } = app
  const graph = `${bases.microsoftGraph}/v1.0`
  const bearer = await appToken(http, bases, app)

  // The catalogue gives every app its own id; the manifest's id, which is the bot's, is the external id.
  const filter = new URLSearchParams({ $filter: `externalId eq '${app.clientId.replaceAll("'", "''")}'` })
  const found = await ask({
    http,
    vendor,
    url: `${graph}/appCatalogs/teamsApps?${filter.toString()}`,
    bearer,
    timeoutMs,
  })
  if (found.status !== 200) throw refused(found, app, [bearer])
  const appId = textMember(found.json, 'value', '0', 'id')
  if (appId === undefined) {
    const error = `app ${app.clientId} is not in the tenant's Teams app catalogue; publish it there first`
    throw fail('oauth_refused', { vendor, error })
  }
  const url = `${graph}/users/${encodeURIComponent(userId)}/teamwork/installedApps`
  const json = { 'teamsApp@odata.bind': `${graph}/appCatalogs/teamsApps/${encodeURIComponent(appId)}` }
  const installed = await ask({ http, vendor, url, json, bearer, timeoutMs })
  if (installed.status >= 300 && installed.status !== 409) throw refused(installed, app, [bearer])
}

async function askForToken(
  http: HttpClient,
  bases: Bases,
  app: TeamsApp,
  form: Record<string, string>,
): Promise<VendorAnswer> {
  const answer = await ask({
    http,
    vendor,
    url: `${tenantUrl(bases, app.tenantId)}/token`,
    form: { client_id: app.clientId, client_secret: app.clientSecret, ...form },
    timeoutMs: app.timeoutMs,
  })
  if (answer.status !== 200) throw refused(answer, app, [form.code ?? ''])
  return answer
}

/** The token endpoint says `{error, error_description}`, Graph says `{error: {code, message}}`. */
function refused({ status, json }: VendorAnswer, { clientSecret }: TeamsApp, secrets: string[]): RequestError {
  const tell = (words: unknown) => tellable(words, [clientSecret, ...secrets])
  const code = tell(member(json, 'error')) ?? tell(member(json, 'error', 'code')) ?? `HTTP ${status}`
  const words = tell(member(json, 'error_description')) ?? tell(member(json, 'error', 'message'))
  return fail('oauth_refused', { vendor, error: words === undefined ? code : `${code} - ${words}` })
}

function claimsOf(token: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
