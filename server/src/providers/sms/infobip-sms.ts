import type { DeliveryErrorCode } from '../delivery-error.ts'
import { eventsIn, textOf, withPlus } from '../events.ts'
import { at, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'
import { addressOf } from './short-message.ts'

/** https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes */
const codes: Record<string, DeliveryErrorCode> = {
  MISSING_TO: 'recipient_refused',
  REJECTED_DESTINATION: 'recipient_refused',
  REJECTED_DND: 'recipient_refused',
  REJECTED_INVALID_DESTINATION: 'recipient_refused',
  REJECTED_PREFIX_MISSING: 'recipient_refused',
  REJECTED_NOT_ENOUGH_CREDITS: 'quota_exhausted',
  REJECTED_PREPAID_PACKAGE_EXPIRED: 'quota_exhausted',
  REJECTED_SYSTEM_ERROR: 'unavailable',
  REJECTED_MESSAGE_TOO_LONG: 'message_refused',
}

export const infobipSms = smsProvider({
  id: 'infobip-sms',
  name: 'Infobip',
  docs: 'https://www.infobip.com/docs/api/channels/sms/outbound-sms/send-sms-message',
  credentials: { apiKey: secret('API key'), baseUrl: text('Base URL'), ...smsSender },

  async send(message, { apiKey, baseUrl, ...credentials }, { deliver }) {
    const answer = await deliver(`${addressOf(baseUrl)}/sms/2/text/advanced`, {
      headers: { authorization: `App ${apiKey}` },
      json: { from: message.from ?? credentials.from, destinations: [{ to: message.to }], text: message.content },
      wrap: (body) => ({ messages: [body] }),
    })
    return { providerMessageId: textAt(answer.json, 'messages.0.messageId') }
  },

  problem({ body, isSuccess }) {
    if (!isSuccess) return { says: textAt(body, 'requestError.serviceException.text') }
    if (textAt(body, 'messages.0.status.groupName') !== 'REJECTED') return undefined
    const name = textAt(body, 'messages.0.status.name')
    return { says: textAt(body, 'messages.0.status.description') ?? name, code: codes[name ?? ''] }
  },

  events: {
    read: () => [],
    /** https://www.infobip.com/docs/api/channels/sms/inbound-sms/receive-inbound-sms-messages */
    texts: ({ body }) =>
      eventsIn(at(body, 'results')).flatMap((each) =>
        textOf({
          id: textAt(each, 'messageId'),
          from: withPlus(textAt(each, 'from')),
          to: withPlus(textAt(each, 'to')),
          text: textAt(each, 'text'),
        }),
      ),
  },
})
