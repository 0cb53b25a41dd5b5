import type { DeliveryErrorCode } from '../delivery-error.ts'
import { textOf, withPlus } from '../events.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'
import { isGsm } from './short-message.ts'

/** https://developers.messagebird.com/api/#errors */
const codes: Record<string, DeliveryErrorCode> = {
  2: 'unauthorized',
  25: 'quota_exhausted',
  98: 'unavailable',
  99: 'unavailable',
}

export const messagebird = smsProvider({
  id: 'messagebird',
  name: 'MessageBird',
  docs: 'https://developers.messagebird.com/api/sms-messaging/#send-outbound-sms',
  credentials: { accessKey: secret('Access key'), ...smsSender },

  async send(message, { accessKey, ...credentials }, { deliver }) {
    const { to, content } = message
    const answer = await deliver('https://rest.messagebird.com/messages', {
      headers: { authorization: `AccessKey ${accessKey}` },
      json: {
        originator: message.from ?? credentials.from,
        recipients: [to],
        body: content,
        datacoding: isGsm(content) ? undefined : 'unicode',
      },
    })
    return { providerMessageId: textAt(answer.json, 'id'), date: textAt(answer.json, 'createdDatetime') }
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    const isRecipient = /^recipients?$/.test(textAt(body, 'errors.0.parameter') ?? '')
    return {
      says: textAt(body, 'errors.0.description'),
      code: isRecipient ? 'recipient_refused' : codes[textAt(body, 'errors.0.code') ?? ''],
    }
  },

  events: {
    read: () => [],
    /** https://developers.messagebird.com/api/sms-messaging/#receive-a-message */
    texts: ({ body }) =>
      textOf({
        id: textAt(body, 'id'),
        from: withPlus(textAt(body, 'originator')),
        to: withPlus(textAt(body, 'recipient')),
        text: textAt(body, 'body') ?? textAt(body, 'message'),
      }),
  },
})
