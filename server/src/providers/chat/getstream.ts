import { chatProvider, secret } from '../provider.ts'
import { webhookOf, webhookProblem } from './webhook.ts'

export const getstream = chatProvider({
  id: 'getstream',
  name: 'GetStream',
  docs: 'https://getstream.io/chat/docs/node/webhooks_overview/',
  credentials: { apiKey: secret('API key') },
  naming: { casing: 'snake' },

  async send(message, { apiKey }, { deliver, error }) {
    const { url } = webhookOf(message, 'GetStream', error)
    const { headers } = await deliver(url, { headers: { 'x-api-key': apiKey }, json: { text: message.content } })
    return { providerMessageId: headers['x-webhook-id'] }
  },

  problem: webhookProblem,
})
