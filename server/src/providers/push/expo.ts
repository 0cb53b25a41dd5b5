import { at, bearer, pushProvider, secret, textAt } from '../provider.ts'
import { pushEvents } from './push-events.ts'

/** https://docs.expo.dev/push-notifications/sending-notifications/#individual-errors */
const codes = {
  DeviceNotRegistered: 'recipient_refused',
  MessageTooBig: 'message_refused',
  MessageRateExceeded: 'rate_limited',
  MismatchSenderId: 'unauthorized',
  InvalidCredentials: 'unauthorized',
  // Errors of the whole request.
  UNAUTHORIZED: 'unauthorized',
  TOO_MANY_REQUESTS: 'rate_limited',
} as const

const tokenForm = /^(Expo(nent)?PushToken\[.+\]|[a-z\d]{8}-[a-z\d]{4}-[a-z\d]{4}-[a-z\d]{4}-[a-z\d]{12})$/i

export const expo = pushProvider({
  id: 'expo',
  name: 'Expo Push',
  docs: 'https://docs.expo.dev/push-notifications/sending-notifications/',
  credentials: { apiKey: secret('Access token') },

  async send({ target, title, content, payload, overrides }, { apiKey }, { deliver, error }) {
    if (!tokenForm.test(target)) throw error('recipient_refused', { says: `${target} is not a valid Expo push token` })
    const { sound, deviceTokens: _, ...more } = overrides
    const answer = await deliver('https://exp.host/--/api/v2/push/send', {
      headers: bearer(apiKey),
      json: {
        to: target,
        title,
        body: content,
        data: payload,
        ...more,
        sound: sound === undefined || typeof sound === 'string' ? sound : null,
      },
      wrap: (message) => [message],
    })
    return { providerMessageId: textAt(ticketIn(answer.json), 'id') }
  },

  problem({ body, isSuccess }) {
    const ticket = ticketIn(body)
    if (textAt(ticket, 'status') === 'error')
      return {
        says: textAt(ticket, 'message'),
        code: codes[textAt(ticket, 'details.error') as keyof typeof codes],
      }
    const says = textAt(body, 'errors.0.message')
    if (isSuccess && says === undefined) return undefined
    return { says, code: codes[textAt(body, 'errors.0.code') as keyof typeof codes] }
  },

  events: pushEvents,
})

/** One message gets one ticket: in a list, or by itself. */
const ticketIn = (body: unknown) => at(body, 'data.0') ?? at(body, 'data')
