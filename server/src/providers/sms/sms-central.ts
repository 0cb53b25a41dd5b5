import { optional, secret, smsProvider, smsSender, text } from '../provider.ts'

export const smsCentral = smsProvider({
  id: 'sms-central',
  name: 'SMS Central',
  docs: 'https://www.smscentral.com.au/sms-api/',
  credentials: {
    user: text('Username'),
    password: secret('Password'),
    baseUrl: optional(text('Base URL')),
    ...smsSender,
  },
  naming: { casing: 'constant' },

  async send(message, { user, password, baseUrl, ...credentials }, { deliver }) {
    await deliver(baseUrl ?? 'https://my.smscentral.com.au/api/v3.2', {
      form: {
        ACTION: 'send',
        ORIGINATOR: message.from ?? credentials.from,
        USERNAME: user,
        PASSWORD: password,
        RECIPIENT: message.to,
        MESSAGE_TEXT: message.content,
      },
    })
    return { providerMessageId: undefined }
  },

  // The answer to an accepted message is just a zero.
  problem({ isSuccess, text }) {
    if (isSuccess && text.trim() === '0') return undefined
    const isLocked = isSuccess && /\b(authenticat|username|password)/i.test(text)
    return { says: text, code: isLocked ? 'unauthorized' : undefined }
  },
})
