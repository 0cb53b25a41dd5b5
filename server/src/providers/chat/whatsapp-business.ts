import { type EventStatus, eventOf, hmac, isSame } from '../events.ts'
import { at, bearer, chatProvider, optional, secret, text, textAt } from '../provider.ts'
import type { Data } from '../provider-data.ts'

/** Message types besides text; the first one present is used. */
const kinds = [
  ...['template', 'interactive', 'image', 'document', 'video', 'audio'],
  ...['location', 'contacts', 'sticker'],
]

const means: Record<string, EventStatus> = { sent: 'sent', delivered: 'delivered', read: 'opened', failed: 'failed' }

/** https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes */
const codes = {
  0: 'unauthorized',
  3: 'unauthorized',
  10: 'unauthorized',
  190: 'unauthorized',
  131005: 'unauthorized',
  131031: 'unauthorized',
  4: 'rate_limited',
  80007: 'rate_limited',
  130429: 'rate_limited',
  131048: 'rate_limited',
  131056: 'rate_limited',
  133016: 'rate_limited',
  1: 'unavailable',
  2: 'unavailable',
  131000: 'unavailable',
  131016: 'unavailable',
  131057: 'unavailable',
  133004: 'unavailable',
  131042: 'quota_exhausted',
  131021: 'recipient_refused',
  131026: 'recipient_refused',
  131030: 'recipient_refused',
  131050: 'recipient_refused',
  100: 'message_refused',
  // Plain text reaches only people who wrote to us within 24 hours; others get templates only.
  131047: 'message_refused',
  131008: 'message_refused',
  131009: 'message_refused',
  131051: 'message_refused',
  131052: 'message_refused',
  131053: 'message_refused',
  132000: 'message_refused',
  132001: 'message_refused',
  132005: 'message_refused',
  132007: 'message_refused',
  132012: 'message_refused',
  132015: 'message_refused',
  132016: 'message_refused',
} as const

export const whatsappBusiness = chatProvider({
  id: 'whatsapp-business',
  name: 'WhatsApp Business',
  docs: 'https://developers.facebook.com/docs/whatsapp/cloud-api/reference/messages',
  credentials: {
    apiToken: secret('Access token'),
    phoneNumberIdentification: text('Phone number ID'),
    businessAccountId: optional(text('Business account ID')),
    secretKey: optional(secret('App secret', 'What WhatsApp reports to us is signed with it')),
    token: optional(
      secret(
        'Verify token',
        'WhatsApp asks for it when the webhook is set up; without one, for the identifier of this integration',
      ),
    ),
  },
  naming: { casing: 'snake' },

  async send({ target, content, customData }, { apiToken, phoneNumberIdentification }, { deliver, error }) {
    if (target.type !== 'phone')
      throw error('message_refused', { says: 'Invalid channel data for WhatsApp Business provider' })
    const kind = kinds.find((name) => customData[name] !== undefined)
    const answer = await deliver(
      `https://graph.facebook.com/v22.0/${encodeURIComponent(phoneNumberIdentification)}/messages`,
      {
        headers: bearer(apiToken),
        json: {
          messaging_product: 'whatsapp',
          recipient_type: 'individual',
          to: target.phoneNumber,
          ...(kind === undefined
            ? { type: 'text', text: textOf(content, customData) }
            : { type: kind, [kind]: customData[kind] }),
        },
        wrap: asOneKind,
      },
    )
    return { providerMessageId: textAt(answer.json, 'messages.0.id') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const code = Number(textAt(body, 'error.code'))
    // The sender's number does not exist, or is not ours.
    const isForeign = code === 100 && textAt(body, 'error.error_subcode') === '33'
    return {
      says: textAt(body, 'error.message'),
      code: isForeign ? 'unauthorized' : codes[code as keyof typeof codes],
    }
  },

  events: {
    /** https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests */
    challenge(query, { identifier, credentials: { token = identifier } }) {
      const given = Buffer.from(query.get('hub.verify_token') ?? '')
      if (query.get('hub.mode') !== 'subscribe' || !isSame(given, Buffer.from(token))) return undefined
      return query.get('hub.challenge') ?? undefined
    },
    /** https://developers.facebook.com/docs/graph-api/webhooks/getting-started#validate-payloads */
    checkedBy: ['secretKey'],
    verify({ headers, rawBody }, { signingKey, credentials: { secretKey } }) {
      const key = signingKey ?? secretKey
      if (key === undefined) return true
      const signature = /^sha256=([0-9a-f]+)$/.exec(headers['x-hub-signature-256'] ?? '')?.[1] ?? ''
      return isSame(Buffer.from(signature, 'hex'), hmac('sha256', key, rawBody))
    },
    read: ({ body }) =>
      listAt(body, 'entry')
        .flatMap((entry) => listAt(entry, 'changes'))
        .flatMap((change) => listAt(change, 'value.statuses'))
        .flatMap((status) => {
          const seconds = Number(textAt(status, 'timestamp'))
          return eventOf(status, {
            id: textAt(status, 'id'),
            event: textAt(status, 'status'),
            means,
            at: Number.isNaN(seconds) ? undefined : seconds * 1000,
            response: textAt(status, 'errors.0.title'),
          })
        }),
  },
})

const listAt = (value: unknown, path: string): unknown[] => {
  const found = at(value, path)
  return Array.isArray(found) ? (found as unknown[]) : []
}

const textOf = (content: string, customData: Data): Data => ({
  body: textAt(customData, 'text.body') ?? content,
  preview_url: at(customData, 'text.preview_url') ?? false,
})

/** Provider data can turn the message into another type than text; a message has one type only. */
function asOneKind({ text, ...message }: Data): Data {
  const added = kinds.find((name) => message[name] !== undefined)
  const type = message.type === 'text' ? (added ?? 'text') : message.type
  return { ...message, type, ...(type === 'text' ? { text } : {}) }
}
