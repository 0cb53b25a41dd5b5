import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender } from '../provider.ts'
import { isGsm } from './short-message.ts'

/** https://www.firetext.co.uk/docs#response-codes */
const codes: Record<string, DeliveryErrorCode> = {
  1: 'unauthorized',
  2: 'recipient_refused',
  5: 'message_refused',
  7: 'quota_exhausted',
}

export const firetext = smsProvider({
  id: 'firetext',
  name: 'FireText',
  docs: 'https://www.firetext.co.uk/docs#sending-sms',
  credentials: { apiKey: secret('API key'), ...smsSender },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const { to, content } = message
    const answer = await deliver('https://www.firetext.co.uk/api/sendsms', {
      method: 'GET',
      query: {
        apiKey,
        to,
        from: message.from ?? credentials.from,
        message: content,
        unicode: isGsm(content) ? undefined : '1',
      },
    })
    return { providerMessageId: answer.headers['x-message'] }
  },

  // One line, whatever the status: `code:count words`.
  problem({ isSuccess, text }) {
    const [, code, says] = /^(\d+):\d*\s*(.*)$/s.exec(text.trim()) ?? []
    if (isSuccess && code === '0') return undefined
    if (code !== undefined) return { says, code: codes[code] }
    return isSuccess ? { code: 'unreadable_answer' } : { says: text }
  },
})
