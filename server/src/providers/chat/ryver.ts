import { chatProvider } from '../provider.ts'
import { webhookOf, webhookProblem } from './webhook.ts'

export const ryver = chatProvider({
  id: 'ryver',
  name: 'Ryver',
  docs: 'https://support.ryver.com/support/solutions/articles/7000068586',
  credentials: {},

  async send(message, _, { deliver, error }) {
    const { url } = webhookOf(message, 'Ryver', error)
    await deliver(url, { json: { content: message.content } })
    return { providerMessageId: undefined }
  },

  problem: webhookProblem,
})
