import type { DeliveryErrorCode } from '../delivery-error.ts'
import { optional, secret, smsProvider, text, textAt } from '../provider.ts'
import { withoutPrefix } from './short-message.ts'

export const isendproSms = smsProvider({
  id: 'isendpro-sms',
  name: 'iSendPro',
  docs: 'https://www.isendpro.com/docs/',
  credentials: { apiKey: secret('API key'), from: optional(text('Sender')) },

  async send(message, { apiKey, ...credentials }, { deliver, brand }) {
    const answer = await deliver('https://apirest.isendpro.com/cgi-bin/sms', {
      form: {
        keyid: apiKey,
        sms: message.content,
        num: withoutPrefix(message.to),
        emetteur: message.from ?? credentials.from ?? brand.toUpperCase(),
      },
      // Provider data uses these names for text and number.
      wrap: ({ message: own, ...body }) => ({
        ...body,
        sms: textAt(own, 'text') ?? body.sms,
        num: withoutPrefix(textAt(own, 'to') ?? String(body.num)),
      }),
    })
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, isSuccess }) {
    const verdict = 'etat.etat.0'
    const code = textAt(body, `${verdict}.code`) ?? textAt(body, 'etat.code')
    if (isSuccess && (code === undefined || code === '0')) return undefined
    const says = textAt(body, `${verdict}.message`) ?? textAt(body, 'etat.message') ?? textAt(body, 'message')
    return { says, code: codeOf(says ?? '') }
  },
})

function codeOf(words: string): DeliveryErrorCode | undefined {
  if (/\bkeyid\b/i.test(words)) return 'unauthorized'
  return /cr[eé]dit/i.test(words) ? 'quota_exhausted' : undefined
}
