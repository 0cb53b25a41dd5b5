import { at, chatProvider, textAt } from '../provider.ts'
import { webhookOf } from './webhook.ts'

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#json */
const codes = {
  10003: 'recipient_refused',
  10015: 'recipient_refused',
  50006: 'message_refused',
  50027: 'recipient_refused',
  50035: 'message_refused',
} as const

export const discord = chatProvider({
  id: 'discord',
  name: 'Discord',
  docs: 'https://discord.com/developers/docs/resources/webhook#execute-webhook',
  credentials: {},

  async send(message, _, { deliver, error }) {
    const { url } = webhookOf(message, 'Discord', error)
    const isWaiting = URL.canParse(url) && new URL(url).searchParams.has('wait')
    const answer = await deliver(url, {
      // Without it, Discord answers before it has checked the message, and without an id.
      query: isWaiting ? {} : { wait: true },
      json: { content: message.content, ...message.customData },
    })
    return { providerMessageId: textAt(answer.json, 'id'), date: textAt(answer.json, 'timestamp') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const afterSeconds = at(body, 'retry_after')
    return {
      says: textAt(body, 'message'),
      code: codes[Number(textAt(body, 'code')) as keyof typeof codes],
      afterSeconds: typeof afterSeconds === 'number' ? Math.ceil(afterSeconds) : undefined,
    }
  },
})
