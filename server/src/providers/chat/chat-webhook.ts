import { chatProvider, optional, readJson, secret, textAt } from '../provider.ts'
import { signed } from '../webhook-signature.ts'
import { webhookProblem } from './webhook.ts'

export const chatWebhook = chatProvider({
  id: 'chat-webhook',
  name: 'Chat Webhook',
  docs: '/docs#tag/integrations',
  credentials: { secretKey: optional(secret('Secret key', 'Requests are signed with it')) },
  reserved: ['hmacSecretKey'],

  async send({ target, content, providerData }, { secretKey }, { deliver, conceal, error, brand }) {
    const to = target.type === 'webhook' || target.type === 'phone' ? target : undefined
    const webhookUrl = textAt(providerData, 'webhookUrl') ?? textAt(to, 'url')
    if (to === undefined || webhookUrl === undefined)
      throw error('message_refused', { says: 'Invalid channel data for Chat Webhook provider' })
    const key = textAt(providerData, 'hmacSecretKey') ?? secretKey
    conceal(webhookUrl)
    conceal(key ?? '')
    const answer = await deliver(webhookUrl, {
      json: { content, webhookUrl, channel: textAt(to, 'channel'), phoneNumber: textAt(to, 'phoneNumber') },
      ...(key === undefined ? {} : { sign: signed(brand, key) }),
    })
    return { providerMessageId: textAt(readJson(answer.text), 'id') }
  },

  problem: webhookProblem,
})
