import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender } from '../provider.ts'

export const firetext = smsProvider({
  id: 'firetext',
  name: 'FireText',
  docs: 'https://www.firetext.co.uk/docs',
  credentials: { apiKey: secret('API key'), ...smsSender },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const answer = await deliver('https://www.firetext.co.uk/api/sendsms', {
      method: 'GET',
      query: {
        apiKey,
        to: message.to,
        from: message.from ?? credentials.from,
        message: message.content,
      },
    })
    return { providerMessageId: answer.headers['x-message'] }
  },

  // One line, whatever the status: `code:count words`.
  problem({ isSuccess, text }) {
    const [, code, says] = /^(\d+):\d*\s*(.*)$/s.exec(text.trim()) ?? []
    if (isSuccess && code === '0') return undefined
    if (code !== undefined) return { says, code: codeOf(says ?? '') }
    return isSuccess ? { code: 'unreadable_answer' } : { says: text }
  },
})

/** By words, because its codes are not documented. Anything else is an ordinary refusal. */
function codeOf(words: string): DeliveryErrorCode | undefined {
  if (/authentication/i.test(words)) return 'unauthorized'
  if (/destination/i.test(words)) return 'recipient_refused'
  return /credit/i.test(words) ? 'quota_exhausted' : undefined
}
