import { bearer, choice, optional, secret, smsProvider, text, textAt } from '../provider.ts'
import { withoutPrefix } from './short-message.ts'

export const isendSms = smsProvider({
  id: 'isend-sms',
  name: 'iSend SMS',
  docs: 'https://send.com.ly/developers/docs',
  credentials: {
    apiToken: secret('API token'),
    from: optional(text('Sender ID')),
    contentType: optional(choice('Content type', ['unicode', 'plain'])),
  },
  naming: { casing: 'snake' },

  async send(message, { apiToken, contentType = 'unicode', ...credentials }, { deliver }) {
    const answer = await deliver('https://send.com.ly/api/v3/sms/send', {
      headers: bearer(apiToken),
      json: {
        sender_id: message.from ?? credentials.from,
        recipient: withoutPrefix(message.to),
        type: contentType,
        message: message.content,
      },
    })
    return { providerMessageId: textAt(answer.json, 'data.uid') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && (body === undefined || textAt(body, 'status') === 'success')) return undefined
    return { says: textAt(body, 'message') }
  },
})
