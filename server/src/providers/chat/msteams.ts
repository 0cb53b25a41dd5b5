import type { JSONWebKeySet } from 'jose'
import { withToken } from '../access-token.ts'
import {
  at,
  bearer,
  type ChatButton,
  chatProvider,
  optional,
  readJson,
  secret,
  type Tools,
  text,
  textAt,
} from '../provider.ts'
import { type Data, isPlain } from '../provider-data.ts'
import { webhookOf } from './webhook.ts'

const conversations = 'https://smba.trafficmanager.net/teams/v3/conversations'
/** A little less than the hour it is valid. */
const tokenSeconds = 56 * 60

export const msteams = chatProvider({
  id: 'msteams',
  name: 'Microsoft Teams',
  docs: 'https://learn.microsoft.com/microsoftteams/platform/bots/how-to/conversations/send-proactive-messages',
  // A webhook needs none of them, a bot the first two.
  credentials: {
    clientId: optional(text('Client ID', 'Of the bot, for channels and people; webhooks need none')),
    secretKey: optional(secret('Client secret')),
    tenantId: optional(text('Tenant ID', 'Of the bot')),
    redirectUrl: optional(text('Redirect URL', 'Where people come back to after connecting')),
  },

  async send(message, credentials, tools) {
    const { target, content } = message
    const { deliver, ask, error } = tools
    if (target.type === 'webhook') {
      const { url } = webhookOf(message, 'MsTeams', error)
      const card = readJson(content)
      const { headers } = await deliver(url, { json: isPlain(card) ? card : { text: content } })
      return { providerMessageId: headers['request-id'] ?? headers['x-ms-workflow-run-id'] }
    }
    if (target.type !== 'ms_teams_channel' && target.type !== 'ms_teams_user')
      throw error('message_refused', { says: 'Invalid channel data type for MsTeams provider' })

    const { clientId, secretKey, tenantId } = credentials
    if (clientId === undefined || secretKey === undefined)
      throw error('incomplete_credentials', { says: 'The bot needs a client ID and a client secret' })
    // Without a connection, a person is in the bot's own tenant.
    const tenant = target.tenantId === '' ? tenantId : target.tenantId
    if (tenant === undefined)
      throw error('message_refused', {
        says: 'The tenant is unknown: connect Teams, or give the integration a tenant ID',
      })
    const activity: Data = message.buttons
      ? { type: 'message', attachments: [cardOf(content, message.buttons)] }
      : { type: 'message', text: content }
    const sentAs = (conversation: string, id: string | undefined) => ({
      providerMessageId: id,
      ...(message.buttons && id !== undefined ? { place: { conversation, activity: id } } : {}),
    })
    return withToken(
      tools,
      'bot token',
      () => signIn({ clientId, secretKey, tenantId }, tools),
      async (token) => {
        const headers = bearer(token)
        if (target.type === 'ms_teams_channel') {
          const { teamId, channelId } = target
          const channelData = { tenant: { id: tenant }, team: { id: teamId }, channel: { id: channelId } }
          const json = { ...activity, channelData }
          const answer = await deliver(activitiesOf(channelId), { headers, json })
          return sentAs(channelId, textAt(answer.json, 'id'))
        }
        const { json: conversation } = await ask(conversations, {
          headers,
          json: {
            isGroup: false,
            bot: { id: clientId },
            members: [{ id: target.userId }],
            channelData: { tenant: { id: tenant } },
          },
        })
        const id = textAt(conversation, 'id')
        if (id === undefined) throw error('unreadable_answer', { says: 'Teams returned no conversation' })
        const answer = await deliver(activitiesOf(id), { headers, json: activity })
        return sentAs(id, textAt(answer.json, 'id'))
      },
    )
  },

  // https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-actions
  buttons: {
    fits: ({ type }, { clientId, secretKey }) =>
      (type === 'ms_teams_channel' || type === 'ms_teams_user') && clientId !== undefined && secretKey !== undefined,

    verify: ({ headers }, { clientId }, tools) =>
      clientId === undefined ? false : isFromBotFramework(headers.authorization ?? '', clientId, tools),

    read({ body }) {
      const [id, value] = [textAt(body, 'from.aadObjectId') ?? textAt(body, 'from.id'), textAt(body, 'value.answer')]
      if (textAt(body, 'type') !== 'message' || id === undefined || value === undefined) return []
      return [{ value, user: { id, name: textAt(body, 'from.name') ?? null } }]
    },

    async change({ conversation = '', activity = '' }, text, { clientId, secretKey, tenantId }, tools) {
      if (clientId === undefined || secretKey === undefined) throw tools.error('incomplete_credentials')
      const url = `${activitiesOf(conversation)}/${encodeURIComponent(activity)}`
      await withToken(
        tools,
        'bot token',
        () => signIn({ clientId, secretKey, tenantId }, tools),
        (token) => tools.ask(url, { method: 'PUT', headers: bearer(token), json: { type: 'message', text } }),
      )
    },
  },

  problem({ status, body, text, isSuccess }) {
    if (isSuccess) {
      // A connector answers with success even if the message failed.
      if (!text.startsWith('Webhook message delivery failed')) return undefined
      return { says: text, code: text.includes('HTTP error 429') ? 'rate_limited' : 'rejected' }
    }
    const code = textAt(body, 'error.code')
    const words = textAt(body, 'error.message') ?? textAt(body, 'error_description') ?? textAt(body, 'message') ?? text
    if (code === 'BotNotInConversationRoster')
      return {
        says: 'MSTEAMS_BOT_NOT_INSTALLED: Bot is not installed in this team/channel or for this user',
        code: 'recipient_refused',
      }
    // The sign-in uses another status for it.
    if (status === 401 || /^(invalid|unauthorized)_/.test(textAt(body, 'error') ?? ''))
      return { says: 'MSTEAMS_INVALID_CREDENTIALS: Invalid bot credentials or token', code: 'unauthorized' }
    if (status === 403) return { says: 'MSTEAMS_INSUFFICIENT_PERMISSIONS: Insufficient permissions to send message' }
    if (status === 404)
      return { says: 'MSTEAMS_CHANNEL_NOT_FOUND: Teams channel or user not found', code: 'recipient_refused' }
    return { says: `MS Teams API Error: ${status} - ${words}` }
  },
})

/** https://adaptivecards.io/explorer/Action.Submit.html */
const cardOf = (content: string, buttons: ChatButton[]): Data => ({
  contentType: 'application/vnd.microsoft.card.adaptive',
  content: {
    ...{ type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlock', text: content, wrap: true }] },
    actions: buttons.map(({ label, value }) => ({ type: 'Action.Submit', title: label, data: { answer: value } })),
  },
})

const botKeys = 'https://login.botframework.com/v1/.well-known/keys'
const botIssuer = 'https://api.botframework.com'
/** Microsoft asks to read them again at least every day. */
const keySeconds = 12 * 3_600

/** https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication */
async function isFromBotFramework(authorization: string, clientId: string, tools: Tools): Promise<boolean> {
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose')
  const keys = await tools.remember('bot keys', async () => {
    const { text: value } = await tools.ask(botKeys)
    return { value, seconds: keySeconds }
  })
  try {
    const set = createLocalJWKSet(readJson(keys) as JSONWebKeySet)
    await jwtVerify(authorization.replace(/^Bearer /i, ''), set, {
      ...{ issuer: botIssuer, audience: clientId, currentDate: tools.clock.now(), clockTolerance: '5 minutes' },
      algorithms: ['RS256'],
    })
    return true
  } catch (error) {
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}

const activitiesOf = (conversation: string) => `${conversations}/${encodeURIComponent(conversation)}/activities`

interface Bot {
  clientId: string
  secretKey: string
  tenantId: string | undefined
}

/** https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication */
async function signIn({ clientId, secretKey, tenantId = 'botframework.com' }: Bot, { ask, error }: Tools) {
  const url = `https://login.microsoftonline.com/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`
  const { json } = await ask(url, {
    form: {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secretKey,
      scope: 'https://api.botframework.com/.default',
    },
  })
  const value = textAt(json, 'access_token')
  if (value === undefined) throw error('unreadable_answer', { says: 'Microsoft returned no access token' })
  return { value, seconds: Math.min(tokenSeconds, Number(at(json, 'expires_in') ?? tokenSeconds)) }
}
