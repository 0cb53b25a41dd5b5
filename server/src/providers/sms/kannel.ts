import { optional, secret, smsProvider, smsSender, text } from '../provider.ts'
import { isGsm } from './short-message.ts'

export const kannel = smsProvider({
  id: 'kannel',
  name: 'Kannel',
  docs: 'https://www.kannel.org/download/1.4.5/userguide-1.4.5/userguide.html#AEN5131',
  credentials: {
    host: text('Host'),
    port: text('Port'),
    ...smsSender,
    user: optional(text('Username')),
    password: optional(secret('Password')),
  },
  naming: {
    casing: 'snake',
    names: { dlr_url: 'dlr-url', dlr_mask: 'dlr-mask', alt_dcs: 'alt-dcs', meta_data: 'meta-data' },
  },

  async send(message, { host, port, user, password, ...credentials }, { deliver }) {
    const { to, content } = message
    await deliver(`http://${host}:${port}/cgi-bin/sendsms`, {
      method: 'GET',
      query: {
        username: user,
        password,
        from: message.from ?? credentials.from,
        to,
        text: content,
        ...(isGsm(content) ? {} : { coding: 2, charset: 'UTF-8' }),
      },
    })
    return { providerMessageId: undefined }
  },

  // One line: `0: Accepted for delivery`, `3: Queued for later delivery`, or another number and why not.
  problem({ isSuccess, text }) {
    if (!isSuccess) return { says: text }
    if (/^\s*([03]:|Sent)/.test(text)) return undefined
    return /^\s*\d+:/.test(text) ? { says: text } : { code: 'unreadable_answer' }
  },
})
