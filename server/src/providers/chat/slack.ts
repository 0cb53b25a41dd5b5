import { hmac, isSame } from '../events.ts'
import {
  at,
  bearer,
  type ChatButton,
  chatProvider,
  flag,
  optional,
  readJson,
  secret,
  text,
  textAt,
  usual,
} from '../provider.ts'
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

/** Slack's own limit: an older request is a replay. */
const oldestMs = 5 * 60_000
/** A block holds no more. */
const longestSection = 3_000
const longestButton = 75

const section = (text: string) => ({
  type: 'section',
  text: { type: 'plain_text', text: text.slice(0, longestSection) },
})

const blocksOf = (content: string, buttons: ChatButton[]) => [
  section(content),
  {
    type: 'actions',
    elements: buttons.map(({ label, value }, index) => ({
      ...{ type: 'button', action_id: `answer-${index}`, value },
      text: { type: 'plain_text', text: label.slice(0, longestButton) },
    })),
  },
]

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
      json: {
        channel,
        text: content,
        ...(message.buttons ? { blocks: blocksOf(content, message.buttons) } : {}),
        ...customData,
      },
    })
    const ts = textAt(answer.json, 'ts')
    const place = { channel: textAt(answer.json, 'channel') ?? channel, ts: ts ?? '' }
    return { providerMessageId: answer.headers['x-slack-req-id'] ?? ts, ...(message.buttons ? { place } : {}) }
  },

  // https://docs.slack.dev/interactivity/handling-user-interaction
  buttons: {
    fits: ({ type }, { signingSecret }) =>
      (type === 'slack_channel' || type === 'slack_user') && signingSecret !== undefined,

    // https://docs.slack.dev/authentication/verifying-requests-from-slack
    verify({ headers, rawBody }, { signingSecret }, { clock }) {
      const seconds = headers['x-slack-request-timestamp'] ?? ''
      if (signingSecret === undefined || !(Math.abs(clock.now().getTime() - Number(seconds) * 1000) <= oldestMs))
        return false
      const signed = Buffer.concat([Buffer.from(`v0:${seconds}:`), rawBody])
      const expected = `v0=${hmac('sha256', signingSecret, signed).toString('hex')}`
      return isSame(Buffer.from(headers['x-slack-signature'] ?? ''), Buffer.from(expected))
    },

    read({ body }) {
      const told = readJson(textAt(body, 'payload') ?? '')
      const [id, value] = [textAt(told, 'user.id'), textAt(told, 'actions.0.value')]
      if (textAt(told, 'type') !== 'block_actions' || id === undefined || value === undefined) return []
      return [{ value, user: { id, name: textAt(told, 'user.name') ?? textAt(told, 'user.username') ?? null } }]
    },

    change: ({ channel, ts }, text, _, { ask }, token) =>
      ask('https://slack.com/api/chat.update', {
        headers: bearer(token),
        json: { channel, ts, text, blocks: [section(text)] },
      }),
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
