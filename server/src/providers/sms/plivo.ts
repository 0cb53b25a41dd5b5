import { type EventStatus, eventOf, hmac, type InboundRequest, isSame, textOf } from '../events.ts'
import { basic, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'
import { isPlain } from '../provider-data.ts'

const means: Record<string, EventStatus> = {
  queued: 'queued',
  sent: 'sent',
  failed: 'failed',
  delivered: 'delivered',
  undelivered: 'undelivered',
  rejected: 'rejected',
}

export const plivo = smsProvider({
  id: 'plivo',
  name: 'Plivo',
  docs: 'https://www.plivo.com/docs/messaging/api/message/send-a-message/',
  credentials: { accountSid: text('Auth ID'), token: secret('Auth token'), ...smsSender },
  naming: { casing: 'camel', names: { powerpackUuid: 'powerpack_uuid' } },

  async send(message, { accountSid, token, ...credentials }, { deliver }) {
    const answer = await deliver(`https://api.plivo.com/v1/Account/${encodeURIComponent(accountSid)}/Message/`, {
      headers: basic(accountSid, token),
      json: { src: message.from ?? credentials.from, dst: message.to, text: message.content },
      // Plivo's SDK takes further members in an object of this name. A powerpack chooses the sender's number.
      wrap({ optionalParams, src, ...body }) {
        const more = isPlain(optionalParams) ? optionalParams : {}
        return { ...(body.powerpack_uuid === undefined ? { src } : {}), ...body, ...more }
      },
    })
    return { providerMessageId: textAt(answer.json, 'message_uuid.0') }
  },

  problem({ body, isSuccess }) {
    return isSuccess ? undefined : { says: textAt(body, 'error') }
  },

  events: {
    /** https://www.plivo.com/docs/messaging/concepts/signature-validation; the third version came with voice. */
    checkedBy: ['token'],
    verify(request, { signingKey, credentials: { token } }) {
      const { headers } = request
      const key = signingKey ?? token
      const third = headers['x-plivo-signature-v3']
      const second = headers['x-plivo-signature-v2']
      if (third !== undefined)
        return isAnyOf(third, hmac('sha256', key, `${signedText(request)}.${headers['x-plivo-signature-v3-nonce']}`))
      if (second !== undefined) {
        const [address = ''] = request.url.split('?')
        return isAnyOf(second, hmac('sha256', key, `${address}${headers['x-plivo-signature-v2-nonce']}`))
      }
      return false
    },
    read: ({ body }) =>
      eventOf(body, {
        id: textAt(body, 'MessageUUID') ?? textAt(body, 'messageUuid'),
        event: textAt(body, 'Status') ?? textAt(body, 'status'),
        means,
        response: textAt(body, 'ErrorCode'),
      }),
    /** https://www.plivo.com/docs/messaging/use-cases/receive-sms */
    texts: ({ form }) => textOf({ id: form.MessageUUID, from: form.From, to: form.To, text: form.Text }),
  },
})

const isAnyOf = (signatures: string, expected: Buffer) =>
  signatures.split(',').some((signature) => isSame(Buffer.from(signature.trim(), 'base64'), expected))

/** The URL with its sorted query, then the sorted members of the form. */
function signedText({ url, form }: InboundRequest): string {
  const { origin, pathname, searchParams } = new URL(url)
  const inOrder = (pairs: Iterable<[string, string]>) => [...pairs].sort(([a], [b]) => (a < b ? -1 : 1))
  const query = inOrder(searchParams)
    .map((pair) => pair.join('='))
    .join('&')
  const members = inOrder(Object.entries(form))
    .map((pair) => pair.join(''))
    .join('')
  const mark = query === '' && members === '' ? '' : '?'
  return `${origin}${pathname}${mark}${query}${query !== '' && members !== '' ? '.' : ''}${members}`
}
