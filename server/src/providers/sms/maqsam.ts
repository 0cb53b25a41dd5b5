import { basic, secret, smsProvider, smsSender, textAt } from '../provider.ts'
import { dateOfSeconds } from './short-message.ts'

export const maqsam = smsProvider({
  id: 'maqsam',
  name: 'Maqsam',
  docs: 'https://portal.maqsam.com/docs/v2/sms',
  credentials: { apiKey: secret('Access key ID'), secretKey: secret('Access secret'), ...smsSender },

  async send(message, { apiKey, secretKey, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.maqsam.com/v2/sms', {
      headers: basic(apiKey, secretKey),
      json: { to: message.to, message: message.content, sender: message.from ?? credentials.from },
    })
    return {
      providerMessageId: textAt(answer.json, 'message.identifier'),
      date: dateOfSeconds(textAt(answer.json, 'message.timestamp')),
    }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && textAt(body, 'result') !== 'error') return undefined
    return { says: textAt(body, 'message') ?? textAt(body, 'error') }
  },
})
