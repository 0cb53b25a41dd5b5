// Signing in with Slack: the authorization URL, and the exchange of the returned code.
// https://docs.slack.dev/authentication/installing-with-oauth
import { fail } from '../../errors.ts'
import type { HttpClient } from '../http-client.ts'
import { ask, member, tellable, textMember, unusable } from './oauth-request.ts'

const vendor = 'Slack'
const defaultScopes = [
  'chat:write',
  'chat:write.public',
  'channels:read',
  'groups:read',
  'users:read',
  'users:read.email',
]
const defaultUserScopes = ['identity.basic']

interface Authorization {
  clientId: string
  redirectUri: string
  state: string
}

/** For a workspace's approval of the bot. */
export function slackInstallUrl(base: string, asked: Authorization, scopes: string[] = []): string {
  return authorizeUrl(base, asked, { scope: (scopes.length > 0 ? scopes : defaultScopes).join(',') })
}

/** For a person to sign in. */
export function slackUserUrl(base: string, asked: Authorization, scopes: string[] = []): string {
  return authorizeUrl(base, asked, { user_scope: (scopes.length > 0 ? scopes : defaultUserScopes).join(',') })
}

function authorizeUrl(base: string, { state, clientId, redirectUri }: Authorization, scopes: Record<string, string>) {
  const query = new URLSearchParams({ state, client_id: clientId, redirect_uri: redirectUri, ...scopes })
  return `${base}/oauth/v2/authorize?${query.toString()}`
}

interface SlackCode {
  code: string
  clientId: string
  clientSecret: string
  redirectUri: string
  timeoutMs?: number
}

export interface SlackGrant {
  /** The bot's token; absent when only a person signed in. */
  accessToken: string | undefined
  /** The workspace, or the whole organization when the app was installed for all of its workspaces. */
  workspace: { id: string; name?: string } | undefined
  userId: string | undefined
  /** Set when the approval was for one channel, chosen by the person, that this URL posts to. */
  webhookUrl: string | undefined
}

export async function exchangeSlackCode(http: HttpClient, base: string, sent: SlackCode): Promise<SlackGrant> {
  const { code, clientId, clientSecret, redirectUri, timeoutMs } = sent
  const { status, json } = await ask({
    http,
    vendor,
    url: `${base}/api/oauth.v2.access`,
    form: { code, client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri },
    timeoutMs,
  })
  if (member(json, 'ok') === false) {
    const error = tellable(member(json, 'error'), [clientSecret, code]) ?? 'unknown_error'
    throw fail('oauth_refused', { vendor, error })
  }
  if (status !== 200 || member(json, 'ok') !== true) throw unusable({ vendor }, `HTTP ${status}`)
  const owner = textMember(json, 'team', 'id') === undefined ? 'enterprise' : 'team'
  const id = textMember(json, owner, 'id')
  const name = textMember(json, owner, 'name')
  return {
    accessToken: textMember(json, 'access_token'),
    workspace: id === undefined ? undefined : { id, ...(name === undefined ? {} : { name }) },
    userId: textMember(json, 'authed_user', 'id'),
    webhookUrl: textMember(json, 'incoming_webhook', 'url'),
  }
}
