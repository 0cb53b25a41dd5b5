import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'
import { isGsm } from './short-message.ts'

/** https://developers.brevo.com/docs/how-it-works#error-codes */
const codes: Record<string, DeliveryErrorCode> = {
  unauthorized: 'unauthorized',
  permission_denied: 'unauthorized',
  not_enough_credits: 'quota_exhausted',
}

export const brevoSms = smsProvider({
  id: 'brevo-sms',
  name: 'Brevo',
  docs: 'https://developers.brevo.com/reference/sendtransacsms',
  credentials: { apiKey: secret('API key'), ...smsSender },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const { to, content } = message
    const answer = await deliver('https://api.brevo.com/v3/transactionalSMS/sms', {
      headers: { 'api-key': apiKey },
      json: {
        sender: message.from ?? credentials.from,
        recipient: to,
        content,
        unicodeEnabled: isGsm(content) ? undefined : true,
      },
    })
    return { providerMessageId: textAt(answer.json, 'messageId') }
  },

  // Only an accepted message gets an id.
  problem({ body, isSuccess, text }) {
    if (!isSuccess) return { says: textAt(body, 'message'), code: codes[textAt(body, 'code') ?? ''] }
    if (body === undefined || textAt(body, 'messageId') !== undefined) return undefined
    return { says: `Failed: ${text}` }
  },
})
