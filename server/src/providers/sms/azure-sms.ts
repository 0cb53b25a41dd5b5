import { createHash } from 'node:crypto'
import { hmac } from '../events.ts'
import { at, secret, smsProvider, smsSender, textAt, uuidOf } from '../provider.ts'

export const azureSms = smsProvider({
  id: 'azure-sms',
  name: 'Azure SMS',
  docs: 'https://learn.microsoft.com/rest/api/communication/sms/send',
  credentials: {
    accessKey: secret('Connection string', 'As in endpoint=https://…/;accesskey=…'),
    ...smsSender,
  },
  idempotent: true,

  async send(message, { accessKey, ...credentials }, { deliver, error, conceal, clock }) {
    const { endpoint = '', accesskey: key = '' } = partsOf(accessKey)
    if (!URL.canParse(endpoint) || key === '')
      throw error('incomplete_credentials', { says: 'The connection string has no endpoint or no access key' })
    conceal(key)
    const answer = await deliver(`${endpoint.replace(/\/+$/, '')}/sms`, {
      query: { 'api-version': '2021-03-07' },
      json: {
        from: message.from ?? credentials.from,
        smsRecipients: [
          {
            to: message.to,
            repeatabilityRequestId: uuidOf(message.id),
            repeatabilityFirstSent: firstSent(message.id).toUTCString(),
          },
        ],
        message: message.content,
      },
      /** https://learn.microsoft.com/azure/communication-services/tutorials/hmac-header-tutorial */
      sign({ method, url, body }) {
        const { host, pathname, search } = new URL(url)
        const date = clock.now().toUTCString()
        const hash = createHash('sha256').update(body).digest('base64')
        const text = `${method}\n${pathname}${search}\n${date};${host};${hash}`
        const signature = hmac('sha256', Buffer.from(key, 'base64'), text).toString('base64')
        return {
          'x-ms-date': date,
          'x-ms-content-sha256': hash,
          authorization: `HMAC-SHA256 SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=${signature}`,
        }
      },
    })
    return { providerMessageId: textAt(answer.json, 'value.0.messageId') }
  },

  // Each recipient has its own status.
  problem({ body, isSuccess }) {
    if (!isSuccess) return { says: textAt(body, 'error.message') }
    if (at(body, 'value.0.successful') !== false) return undefined
    const status = Number(textAt(body, 'value.0.httpStatusCode'))
    return { says: textAt(body, 'value.0.errorMessage'), code: codeOf(status) }
  },
})

function codeOf(status: number) {
  if (status === 400) return 'recipient_refused'
  if (status === 401) return 'unauthorized'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'unavailable' : undefined
}

const partsOf = (connection: string): Record<string, string> =>
  Object.fromEntries(
    connection.split(';').map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name.trim().toLowerCase(), value.join('=').trim()]
    }),
  )

/** The same in every attempt, as Azure requires: our ids start with the second of their creation. */
function firstSent(id: string): Date {
  const seconds = Number.parseInt(id.slice(0, 8), 16)
  return new Date((Number.isNaN(seconds) ? 0 : seconds) * 1000)
}
