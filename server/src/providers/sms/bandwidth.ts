import { basic, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

export const bandwidth = smsProvider({
  id: 'bandwidth',
  name: 'Bandwidth',
  docs: 'https://dev.bandwidth.com/apis/messaging-apis/messaging/#tag/Messages/operation/createMessage',
  credentials: {
    user: text('Username'),
    password: secret('Password'),
    accountSid: text('Account ID'),
    ...smsSender,
  },

  async send(message, { user, password, accountSid, ...credentials }, { deliver }) {
    const answer = await deliver(
      `https://messaging.bandwidth.com/api/v2/users/${encodeURIComponent(accountSid)}/messages`,
      {
        headers: basic(user, password),
        // Provider data can name the messaging application; the default is the account's id.
        json: {
          applicationId: accountSid,
          to: [message.to],
          from: message.from ?? credentials.from,
          text: message.content,
        },
      },
    )
    return { providerMessageId: textAt(answer.json, 'id'), date: textAt(answer.json, 'time') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const isRecipient = /^to\b/.test(textAt(body, 'fieldErrors.0.fieldName') ?? '')
    return {
      says: textAt(body, 'fieldErrors.0.description') ?? textAt(body, 'description'),
      code: isRecipient ? 'recipient_refused' : undefined,
    }
  },
})
