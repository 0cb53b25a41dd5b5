import type { DeliveryErrorCode } from '../delivery-error.ts'
import { at, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

/** https://developers.africastalking.com/docs/sms/sending/bulk */
const codes: Record<string, DeliveryErrorCode> = {
  403: 'recipient_refused',
  404: 'recipient_refused',
  405: 'quota_exhausted',
  406: 'recipient_refused',
  500: 'unavailable',
  501: 'unavailable',
}

export const africasTalking = smsProvider({
  id: 'africas-talking',
  name: "Africa's Talking",
  docs: 'https://developers.africastalking.com/docs/sms/sending/bulk',
  credentials: {
    apiKey: secret('API key'),
    user: text('Username', '"sandbox" sends through the sandbox of the vendor'),
    ...smsSender,
  },

  async send(message, { apiKey, user, ...credentials }, { deliver }) {
    const host = user === 'sandbox' ? 'api.sandbox.africastalking.com' : 'api.africastalking.com'
    const answer = await deliver(`https://${host}/version1/messaging`, {
      headers: { apikey: apiKey },
      form: {
        username: user,
        to: message.to,
        message: message.content,
        from: message.from ?? credentials.from,
      },
    })
    return { providerMessageId: textAt(answer.json, 'SMSMessageData.Recipients.0.messageId') }
  },

  // Each recipient has a status, 400 and above for a refusal; without recipients, nothing was sent.
  problem({ body, isSuccess, text }) {
    if (!isSuccess) return { says: textAt(body, 'errorMessage') ?? text }
    if (body === undefined) return undefined
    const recipient = at(body, 'SMSMessageData.Recipients.0')
    if (recipient === undefined) return { says: textAt(body, 'SMSMessageData.Message') }
    const status = textAt(recipient, 'statusCode')
    if (status === undefined || Number(status) < 400) return undefined
    return { says: textAt(recipient, 'status'), code: codes[status] }
  },
})
