import { at, chatProvider, textAt } from '../provider.ts'
import { webhookOf, webhookProblem } from './webhook.ts'

export const zulip = chatProvider({
  id: 'zulip',
  name: 'Zulip',
  docs: 'https://zulip.com/integrations/slack_incoming',
  credentials: {},
  naming: { casing: 'snake' },

  async send(message, _, { deliver, error }) {
    const { url } = webhookOf(message, 'Zulip', error)
    await deliver(url, { json: { text: message.content } })
    return { providerMessageId: undefined }
  },

  problem(answer) {
    const { body } = answer
    // Zulip's own error format, or Slack's, which its webhook imitates.
    const isError = at(body, 'result') === 'error' || at(body, 'ok') === false
    if (!isError) return webhookProblem(answer)
    return { ...webhookProblem(answer), says: textAt(body, 'msg') ?? textAt(body, 'error') }
  },
})
