import { at, secret, smsProvider, textAt } from '../provider.ts'

export const clickatell = smsProvider({
  id: 'clickatell',
  name: 'Clickatell',
  docs: 'https://docs.clickatell.com/channels/sms-channels/sms-api-reference/',
  credentials: { apiKey: secret('API key') },

  async send({ to, from, content }, { apiKey }, { deliver }) {
    const answer = await deliver('https://platform.clickatell.com/messages', {
      headers: { authorization: apiKey },
      json: { to: [to], from, content, binary: true },
    })
    return { providerMessageId: textAt(answer.json, 'messages.0.apiMessageId') }
  },

  problem({ body, isSuccess, status }) {
    const isAccepted = at(body, 'messages.0.accepted') !== false && !at(body, 'messages.0.error') && !at(body, 'error')
    if (isSuccess && isAccepted) return undefined
    const said = (path: string) => textAt(body, `${path}.description`) ?? textAt(body, path)
    return {
      says:
        textAt(body, 'messages.0.errorDescription') ??
        said('messages.0.error') ??
        textAt(body, 'errorDescription') ??
        said('error'),
      code: status === 402 ? 'quota_exhausted' : undefined,
    }
  },
})
