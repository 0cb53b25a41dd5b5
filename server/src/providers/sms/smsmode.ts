import { secret, smsProvider, smsSender, textAt } from '../provider.ts'
import { isGsm } from './short-message.ts'

export const smsmode = smsProvider({
  id: 'smsmode',
  name: 'smsmode',
  docs: 'https://dev.smsmode.com/sms/v1/message#operation/createMessage',
  credentials: { apiKey: secret('API key'), ...smsSender },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const { id, to, content } = message
    const answer = await deliver('https://rest.smsmode.com/sms/v1/messages', {
      headers: { 'x-api-key': apiKey },
      json: {
        from: message.from ?? credentials.from,
        recipient: { to },
        body: { text: content, ...(isGsm(content) ? {} : { encoding: 'UNICODE' }) },
        refClient: id,
      },
    })
    return { providerMessageId: textAt(answer.json, 'messageId'), date: textAt(answer.json, 'acceptedAt') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const says = textAt(body, 'message') ?? textAt(body, 'detail') ?? textAt(body, 'error')
    return { says, code: /\brecipient\.to\b/.test(says ?? '') ? 'recipient_refused' : undefined }
  },
})
