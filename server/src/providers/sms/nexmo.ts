import type { DeliveryErrorCode } from '../delivery-error.ts'
import { textOf, withPlus } from '../events.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'
import { isGsm } from './short-message.ts'

/** https://developer.vonage.com/en/messaging/sms/guides/troubleshooting-sms */
const codes: Record<string, DeliveryErrorCode> = {
  1: 'rate_limited',
  4: 'unauthorized',
  5: 'unavailable',
  7: 'recipient_refused',
  8: 'unauthorized',
  9: 'quota_exhausted',
  12: 'message_refused',
  14: 'unauthorized',
  33: 'recipient_refused',
}

export const nexmo = smsProvider({
  id: 'nexmo',
  name: 'Vonage (Nexmo)',
  docs: 'https://developer.vonage.com/en/api/sms',
  credentials: { apiKey: secret('API key'), secretKey: secret('API secret'), ...smsSender },

  async send(message, { apiKey, secretKey, ...credentials }, { deliver }) {
    const { to, content } = message
    const answer = await deliver('https://rest.nexmo.com/sms/json', {
      form: {
        api_key: apiKey,
        api_secret: secretKey,
        to,
        from: message.from ?? credentials.from,
        text: content,
        type: isGsm(content) ? undefined : 'unicode',
      },
    })
    return { providerMessageId: textAt(answer.json, 'messages.0.message-id') }
  },

  // A refusal comes with a success status.
  problem({ body, isSuccess }) {
    const status = textAt(body, 'messages.0.status')
    if (isSuccess && (status === undefined || status === '0')) return undefined
    const says = textAt(body, 'messages.0.error-text') ?? textAt(body, 'detail') ?? textAt(body, 'title')
    return { says, code: codes[status ?? ''] }
  },

  events: {
    read: () => [],
    /** https://developer.vonage.com/en/messaging/sms/guides/inbound-sms; numbers come without a plus sign. */
    texts: ({ body }) =>
      textOf({
        id: textAt(body, 'messageId'),
        from: withPlus(textAt(body, 'msisdn')),
        to: withPlus(textAt(body, 'to')),
        text: textAt(body, 'text'),
      }),
  },
})
