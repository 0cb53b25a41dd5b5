import { chatProvider } from '../provider.ts'
import { webhookOf, webhookProblem } from './webhook.ts'

export const mattermost = chatProvider({
  id: 'mattermost',
  name: 'Mattermost',
  docs: 'https://developers.mattermost.com/integrate/webhooks/incoming/',
  credentials: {},
  naming: { casing: 'snake' },

  async send(message, _, { deliver, error }) {
    const { url, channel } = webhookOf(message, 'Mattermost', error)
    const { headers } = await deliver(url, { json: { text: message.content, channel } })
    return { providerMessageId: headers['x-request-id'], date: headers.date }
  },

  problem: webhookProblem,
})
