import { createHmac } from 'node:crypto'
import { type EventStatus, eventOf, eventsIn, isSame } from '../events.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'

/** Termii varies their capitalization. */
const means: Record<string, EventStatus> = {
  'message sent': 'sent',
  'message failed': 'failed',
  rejected: 'failed',
  delivered: 'delivered',
}

export const termii = smsProvider({
  id: 'termii',
  name: 'Termii',
  docs: 'https://developers.termii.com/messaging-api',
  credentials: { apiKey: secret('API key'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    const answer = await deliver('https://api.ng.termii.com/api/sms/send', {
      json: {
        to: message.to,
        from: message.from ?? credentials.from,
        sms: message.content,
        type: 'plain',
        channel: 'generic',
        api_key: apiKey,
      },
    })
    return { providerMessageId: textAt(answer.json, 'message_id') }
  },

  // Only an accepted message gets an id.
  problem({ body, isSuccess }) {
    if (isSuccess && (body === undefined || textAt(body, 'message_id') !== undefined)) return undefined
    const says = textAt(body, 'message')
    return { says, code: /insufficient balance/i.test(says ?? '') ? 'quota_exhausted' : undefined }
  },

  events: {
    /** https://developers.termii.com/events-and-reports; the key is the secret of the account's webhook. */
    verify({ headers, rawBody }, { signingKey }) {
      if (signingKey === undefined) return true
      const expected = createHmac('sha512', signingKey).update(rawBody).digest()
      return isSame(Buffer.from(headers['x-termii-signature'] ?? '', 'hex'), expected)
    },
    read: ({ body }) =>
      eventsIn(body).flatMap((event) =>
        eventOf(event, {
          id: textAt(event, 'message_id'),
          event: textAt(event, 'status')?.toLowerCase(),
          means,
          externalId: textAt(event, 'id'),
        }),
      ),
  },
})
