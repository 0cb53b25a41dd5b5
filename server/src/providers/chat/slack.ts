import { at, bearer, chatProvider, flag, optional, secret, text, textAt, usual } from '../provider.ts'
import { webhookOf } from './webhook.ts'

/** Errors of the API, https://docs.slack.dev/reference/methods/chat.postMessage#errors, and of webhooks, in plain text. */
const codes = {
  ratelimited: 'rate_limited',
  rate_limited: 'rate_limited',
  not_authed: 'unauthorized',
  invalid_auth: 'unauthorized',
  invalid_token: 'unauthorized',
  token_revoked: 'unauthorized',
  token_expired: 'unauthorized',
  account_inactive: 'unauthorized',
  missing_scope: 'unauthorized',
  no_permission: 'unauthorized',
  channel_not_found: 'recipient_refused',
  channel_is_archived: 'recipient_refused',
  is_archived: 'recipient_refused',
  not_in_channel: 'recipient_refused',
  user_not_found: 'recipient_refused',
  no_active_hooks: 'recipient_refused',
  no_service: 'recipient_refused',
  no_team: 'recipient_refused',
  no_text: 'message_refused',
  msg_too_long: 'message_refused',
  msg_blocks_too_long: 'message_refused',
  invalid_blocks: 'message_refused',
  invalid_blocks_format: 'message_refused',
  invalid_payload: 'message_refused',
  too_many_attachments: 'message_refused',
  fatal_error: 'unavailable',
  internal_error: 'unavailable',
  request_timeout: 'unavailable',
  service_unavailable: 'unavailable',
  rollup_error: 'unavailable',
} as const

export const slack = chatProvider({
  id: 'slack',
  name: 'Slack',
  docs: 'https://docs.slack.dev/reference/methods/chat.postMessage',
  // Only for connecting workspaces: messages are sent with the connection's token.
  credentials: {
    applicationId: usual(text('App ID')),
    clientId: usual(text('Client ID')),
    secretKey: usual(secret('Client secret')),
    signingSecret: usual(secret('Signing secret')),
    redirectUrl: optional(text('Redirect URL', 'Where people come back to after connecting')),
    hmac: flag('Require a hash of the subscriber id', 'Of pages on which subscribers connect Slack'),
  },
  naming: { casing: 'snake' },

  async send(message, _, { deliver, error }) {
    const { target, content, customData } = message
    if (target.type !== 'slack_channel' && target.type !== 'slack_user') {
      if (target.type !== 'webhook')
        throw error('message_refused', { says: `Unsupported endpoint format: ${target.type}` })
      const { url } = webhookOf(message, 'Slack', error)
      const answer = await deliver(url, { json: { text: content, ...customData } })
      if (answer.text.trim() !== 'ok') throw error('rejected', { says: 'Slack Webhook Error', status: answer.status })
      return { providerMessageId: answer.headers['x-slack-req-id'] }
    }
    if (target.token === '') throw error('unauthorized', { says: 'The connection to Slack has no access token' })
    const channel = target.type === 'slack_channel' ? target.channelId : target.userId
    const answer = await deliver('https://slack.com/api/chat.postMessage', {
      headers: bearer(target.token),
      json: { channel, text: content, ...customData },
    })
    const ts = textAt(answer.json, 'ts')
    return { providerMessageId: answer.headers['x-slack-req-id'] ?? ts }
  },

  problem({ body, text, isSuccess }) {
    const word = textAt(body, 'error') ?? (isSuccess ? undefined : text.trim())
    if (isSuccess && at(body, 'ok') !== false) return undefined
    return {
      says: `${at(body, 'ok') === false ? 'Slack API Error' : 'Slack Webhook Error'}: ${word ?? 'unknown'}`,
      code: codes[word as keyof typeof codes],
    }
  },
})
