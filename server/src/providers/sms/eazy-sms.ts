import { bearer, secret, smsProvider, text, textAt } from '../provider.ts'

export const eazySms = smsProvider({
  id: 'eazy-sms',
  name: 'Eazy',
  docs: 'https://developers.eazy.im/',
  credentials: { apiKey: secret('API key'), channelId: text('Channel ID') },

  async send({ to, content }, { apiKey, channelId }, { deliver }) {
    const address = `channels/${inPath(channelId)}/messages/${inPath(to)}@sms.eazy.im`
    const answer = await deliver(`https://api.eazy.im/v3/${address}`, {
      headers: bearer(apiKey),
      json: { message: { text: content, type: 'text' } },
    })
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    return { says: textAt(body, 'message') ?? textAt(body, 'error.message') ?? textAt(body, 'error') }
  },
})

/** Both characters are allowed in a path. */
const inPath = (part: string) => encodeURIComponent(part).replace(/%40|%2B/g, decodeURIComponent)
