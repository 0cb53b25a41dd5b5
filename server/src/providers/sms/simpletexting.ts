import { bearer, secret, smsProvider, smsSender, textAt } from '../provider.ts'

export const simpletexting = smsProvider({
  id: 'simpletexting',
  name: 'SimpleTexting',
  docs: 'https://api-doc.simpletexting.com/#tag/Messages/operation/sendMessage',
  credentials: { apiKey: secret('API token'), ...smsSender },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const answer = await deliver('https://api-app2.simpletexting.com/v2/api/messages', {
      headers: bearer(apiKey),
      json: {
        contactPhone: message.to,
        accountPhone: message.from ?? credentials.from,
        mode: 'SINGLE_SMS_STRICTLY',
        text: message.content,
      },
    })
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const says = textAt(body, 'message') ?? textAt(body, 'details') ?? textAt(body, 'code')
    return { says, code: /contactPhone/.test(says ?? '') ? 'recipient_refused' : undefined }
  },
})
