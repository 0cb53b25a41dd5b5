import { createPublicKey, verify } from 'node:crypto'
import type { DeliveryErrorCode } from '../delivery-error.ts'
import { type EventStatus, eventOf, textOf } from '../events.ts'
import { bearer, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

const means: Record<string, EventStatus> = {
  queued: 'queued',
  sending: 'sending',
  sent: 'sent',
  sending_failed: 'failed',
  delivery_failed: 'failed',
  delivered: 'delivered',
  delivery_unconfirmed: 'undelivered',
}

/** https://developers.telnyx.com/docs/messaging/messages/error-codes */
const codes: Record<string, DeliveryErrorCode> = {
  20100: 'quota_exhausted',
  40001: 'recipient_refused',
  40012: 'recipient_refused',
  40300: 'recipient_refused',
  40302: 'message_refused',
  40310: 'recipient_refused',
  40316: 'message_refused',
  40318: 'rate_limited',
  40333: 'quota_exhausted',
}

/** An older signature is a replay. */
const longestMs = 5 * 60_000
/** The DER prefix of an Ed25519 public key; RFC 8410. */
const keyPrefix = Buffer.from('302a300506032b6570032100', 'hex')

export const telnyx = smsProvider({
  id: 'telnyx',
  name: 'Telnyx',
  docs: 'https://developers.telnyx.com/api/messaging/send-message',
  credentials: { apiKey: secret('API key'), messageProfileId: text('Messaging profile ID'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey, messageProfileId, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.telnyx.com/v2/messages', {
      headers: bearer(apiKey),
      json: {
        to: message.to,
        from: message.from ?? credentials.from,
        text: message.content,
        messaging_profile_id: messageProfileId,
      },
    })
    return { providerMessageId: textAt(answer.json, 'data.id'), date: textAt(answer.json, 'data.received_at') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const says = textAt(body, 'errors.0.detail') ?? textAt(body, 'errors.0.title')
    return { says, code: codes[textAt(body, 'errors.0.code') ?? ''] }
  },

  events: {
    /** https://developers.telnyx.com/docs/messaging/messages/receiving-webhooks; the key is the account's public one. */
    verify({ headers, rawBody }, { signingKey }, { clock }) {
      if (signingKey === undefined) return true
      const signature = headers['telnyx-signature-ed25519'] ?? ''
      const timestamp = headers['telnyx-timestamp'] ?? ''
      const ageMs = Math.abs(clock.now().getTime() - Number(timestamp) * 1000)
      const bytes = Buffer.from(signingKey, 'base64')
      if (!(ageMs <= longestMs) || bytes.length !== 32) return false
      const key = createPublicKey({ key: Buffer.concat([keyPrefix, bytes]), format: 'der', type: 'spki' })
      const signed = Buffer.concat([Buffer.from(`${timestamp}|`), rawBody])
      return verify(null, signed, key, Buffer.from(signature, 'base64'))
    },
    read: ({ body }) =>
      eventOf(body, {
        id: textAt(body, 'data.payload.id'),
        event: textAt(body, 'data.payload.to.0.status'),
        means,
        externalId: textAt(body, 'data.id'),
        response: textAt(body, 'data.payload.errors.0.title'),
      }),
    texts: ({ body }) =>
      textAt(body, 'data.event_type') !== 'message.received'
        ? []
        : textOf({
            id: textAt(body, 'data.payload.id'),
            from: textAt(body, 'data.payload.from.phone_number'),
            to: textAt(body, 'data.payload.to.0.phone_number'),
            text: textAt(body, 'data.payload.text'),
          }),
  },
})
