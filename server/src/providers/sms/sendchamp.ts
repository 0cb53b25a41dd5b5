import { bearer, secret, smsProvider, smsSender, textAt } from '../provider.ts'

export const sendchamp = smsProvider({
  id: 'sendchamp',
  name: 'Sendchamp',
  docs: 'https://sendchamp.readme.io/reference/send-sms-api',
  credentials: { apiKey: secret('Public access key'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.sendchamp.com/api/v1/sms/send', {
      headers: bearer(apiKey),
      json: {
        sender_name: message.from ?? credentials.from,
        to: message.to,
        message: message.content,
        route: 'international',
      },
    })
    return {
      providerMessageId: textAt(answer.json, 'data.business_id'),
      date: textAt(answer.json, 'data.created_at'),
    }
  },

  problem({ body, isSuccess }) {
    const status = textAt(body, 'status')
    if (isSuccess && (status === undefined || status === 'success')) return undefined
    const says = textAt(body, 'message') ?? textAt(body, 'errors') ?? textAt(body, 'error')
    return { says, code: /insufficient/i.test(says ?? '') ? 'quota_exhausted' : undefined }
  },
})
