import { withToken } from '../access-token.ts'
import { jsonIn } from '../http-client.ts'
import { isSignedBy, ownLimit, ownReports, ownTexts } from '../own-reports.ts'
import { flag, optional, secret, smsProvider, smsSender, text, textAt, usual } from '../provider.ts'

export const genericSms = smsProvider({
  id: 'generic-sms',
  name: 'SMS Webhook',
  docs: '/docs#tag/integrations',
  credentials: {
    baseUrl: text('URL', 'Messages are posted there as they are'),
    apiKeyRequestHeader: text('Header of the API key'),
    apiKey: secret('API key'),
    secretKeyRequestHeader: optional(text('Header of the secret key')),
    secretKey: optional(secret('Secret key')),
    idPath: usual(text('Path of the id in answers', 'Such as data.id')),
    datePath: optional(text('Path of the date in answers', 'Such as data.date')),
    authenticateByToken: flag('Ask for a token first'),
    domain: optional(text('URL of the token')),
    authenticationTokenKey: optional(text('Name of the token', 'Its member in answers, and its header in requests')),
    ...smsSender,
  },

  async send({ id, to, content, customData, from: given }, credentials, tools) {
    const { baseUrl, idPath = 'id', datePath = 'date', authenticateByToken } = credentials
    const { domain, authenticationTokenKey: name } = credentials
    const from = given ?? credentials.from
    const keys = {
      [credentials.apiKeyRequestHeader]: credentials.apiKey,
      ...(credentials.secretKeyRequestHeader === undefined
        ? {}
        : { [credentials.secretKeyRequestHeader]: credentials.secretKey }),
    }
    const post = (headers: Record<string, string | undefined>) =>
      tools.deliver(baseUrl, { headers, json: { to, from, content, id, customData, sender: from } })

    const postWithToken = () => {
      if (domain === undefined || name === undefined)
        throw tools.error('incomplete_credentials', { says: 'A token needs domain and authenticationTokenKey' })
      const ask = async () => {
        const answer = await tools.ask(domain, { method: 'POST', headers: keys })
        const value = textAt(answer.json, `data.${name}`)
        if (value === undefined) throw tools.error('unauthorized', { says: `There is no data.${name} in the answer` })
        // Its lifetime is unknown: use it until it is refused.
        return { value, seconds: Number.POSITIVE_INFINITY }
      }
      return withToken(tools, 'token', ask, (token) => post({ [name]: token }))
    }

    // Any body of a successful answer is fine.
    const body = jsonIn(await (authenticateByToken ? postWithToken() : post(keys)))
    return { providerMessageId: textAt(body, idPath), date: textAt(body, datePath) }
  },

  problem({ body, isSuccess, text }) {
    if (isSuccess) return undefined
    const told = textAt(body, 'message') ?? textAt(body, 'error.message') ?? textAt(body, 'error')
    return { says: told ?? (body === undefined ? text : undefined) }
  },

  events: {
    checkedBy: ['secretKey'],
    verify: (request, { signingKey, credentials: { secretKey } }, { brand }) =>
      isSignedBy(signingKey ?? secretKey, brand, request),
    read: ownReports,
    texts: ownTexts,
    limit: ownLimit,
  },
})
