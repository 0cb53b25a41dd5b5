import type { DeliveryErrorCode } from '../delivery-error.ts'
import { basic, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'
import { dateOfSeconds } from './short-message.ts'

/** https://developers.clicksend.com/docs/#application-status-codes */
const codes: Record<string, DeliveryErrorCode> = {
  INVALID_RECIPIENT: 'recipient_refused',
  INVALID_CREDENTIALS: 'unauthorized',
  INSUFFICIENT_CREDIT: 'quota_exhausted',
  THROTTLED: 'rate_limited',
  TOO_MANY_REQUESTS: 'rate_limited',
  INTERNAL_SERVER_ERROR: 'unavailable',
}

export const clicksend = smsProvider({
  id: 'clicksend',
  name: 'ClickSend',
  docs: 'https://developers.clicksend.com/docs/messaging/sms/other/send-sms',
  credentials: { user: text('Username'), apiKey: secret('API key'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { user, apiKey, ...credentials }, { deliver }) {
    const answer = await deliver('https://rest.clicksend.com/v3/sms/send', {
      headers: basic(user, apiKey),
      json: { to: message.to, from: message.from ?? credentials.from, body: message.content },
      wrap: (body) => ({ messages: [body] }),
    })
    return {
      providerMessageId: textAt(answer.json, 'data.messages.0.message_id'),
      date: dateOfSeconds(textAt(answer.json, 'data.messages.0.date')),
    }
  },

  problem({ body, isSuccess }) {
    const status = textAt(body, 'data.messages.0.status')
    if (!isSuccess)
      return {
        says: textAt(body, 'response_msg') ?? textAt(body, 'http_message'),
        code: codes[textAt(body, 'response_code') ?? ''],
      }
    return status === undefined || status === 'SUCCESS' ? undefined : { says: status, code: codes[status] }
  },
})
