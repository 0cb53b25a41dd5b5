import { optional, secret, smsProvider, text, textAt } from '../provider.ts'
import { isGsm } from './short-message.ts'

export const bulkSms = smsProvider({
  id: 'bulk-sms',
  name: 'BulkSMS',
  docs: 'https://www.bulksms.com/developer/json/v1/#tag/Message/paths/~1messages/post',
  credentials: {
    apiToken: secret('API token', 'Its id and secret, with a colon between them'),
    from: optional(text('From', 'A number or sender name the provider knows')),
  },

  async send(message, { apiToken, ...credentials }, { deliver }) {
    const { id, to, content } = message
    const answer = await deliver('https://api.bulksms.com/v1/messages', {
      headers: { authorization: `Basic ${Buffer.from(apiToken).toString('base64')}` },
      json: {
        to: [to],
        body: content,
        from: senderOf(message.from ?? credentials.from ?? ''),
        encoding: isGsm(content) ? undefined : 'UNICODE',
        userSuppliedId: id,
      },
    })
    return { providerMessageId: textAt(answer.json, '0.id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const isPoor = /credit/i.test(textAt(body, 'type') ?? '')
    return {
      says: textAt(body, 'detail') ?? textAt(body, 'title'),
      code: isPoor ? 'quota_exhausted' : undefined,
    }
  },
})

/** Otherwise the account's settings apply. */
function senderOf(from: string) {
  if (/^\+?\d+$/.test(from)) return { type: 'INTERNATIONAL', address: from.replace('+', '') }
  return /^[a-z\d]+$/i.test(from) ? { type: 'ALPHANUMERIC', address: from } : undefined
}
