import type { DeliveryErrorCode } from '../delivery-error.ts'
import { basic, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

export const fortySixElks = smsProvider({
  id: 'forty-six-elks',
  name: '46elks',
  docs: 'https://46elks.com/docs/send-sms',
  credentials: { user: text('API username'), password: secret('API password'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { user, password, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.46elks.com/a1/sms', {
      headers: basic(user, password),
      form: { from: message.from ?? credentials.from, to: message.to, message: message.content },
    })
    return { providerMessageId: textAt(answer.json, 'id'), date: textAt(answer.json, 'created') }
  },

  // Errors are plain text.
  problem({ isSuccess, text }) {
    return isSuccess ? undefined : { says: text, code: codeOf(text) }
  },
})

function codeOf(words: string): DeliveryErrorCode | undefined {
  if (/not enough credits/i.test(words)) return 'quota_exhausted'
  return /^invalid to\b/i.test(words) ? 'recipient_refused' : undefined
}
