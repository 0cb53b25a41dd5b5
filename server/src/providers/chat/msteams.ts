import { withToken } from '../access-token.ts'
import { at, bearer, chatProvider, optional, readJson, secret, type Tools, text, textAt } from '../provider.ts'
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
    const activity: Data = { type: 'message', text: content }
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
          return { providerMessageId: textAt(answer.json, 'id') }
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
        return { providerMessageId: textAt(answer.json, 'id') }
      },
    )
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
