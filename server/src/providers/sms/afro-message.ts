import { bearer, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

export const afroMessage = smsProvider({
  id: 'afro-message',
  name: 'AfroMessage',
  docs: 'https://www.afromessage.com/developers',
  credentials: { apiKey: secret('API token'), senderName: text('Sender name'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey, senderName, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.afromessage.com/api/send', {
      method: 'GET',
      headers: bearer(apiKey),
      query: {
        // An id of the account, which a message cannot override.
        from: credentials.from ?? message.from,
        sender: senderName,
        to: message.to,
        message: message.content,
      },
    })
    return { providerMessageId: textAt(answer.json, 'response.message_id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess && (body === undefined || textAt(body, 'acknowledge') === 'success')) return undefined
    return { says: textAt(body, 'response.errors.0') ?? textAt(body, 'response.message') ?? textAt(body, 'message') }
  },
})
