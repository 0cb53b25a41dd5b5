import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

/** https://docs.unifonic.com/docs/understanding-reasons-of-sms-non-delivery */
const codes: Record<string, DeliveryErrorCode> = {
  'ER-01': 'quota_exhausted',
  'ER-02': 'recipient_refused',
  'ER-03': 'recipient_refused',
  'ER-04': 'recipient_refused',
  'ER-06': 'message_refused',
}

export const unifonic = smsProvider({
  id: 'unifonic',
  name: 'Unifonic',
  docs: 'https://docs.unifonic.com/reference/send',
  credentials: { appSid: secret('App SID'), senderId: text('Sender ID'), ...smsSender },

  async send(message, { appSid, senderId, from }, { deliver }) {
    const answer = await deliver('https://el.cloud.unifonic.com/rest/SMS/messages', {
      form: {
        AppSid: appSid,
        // Every message has the configured sender; any other was chosen for this message.
        SenderID: message.from === from ? senderId : (message.from ?? senderId),
        Recipient: message.to,
        Body: message.content,
        responseType: 'JSON',
        baseEncode: true,
      },
    })
    return { providerMessageId: textAt(answer.json, 'data.MessageID') }
  },

  // Only an accepted message gets an id.
  problem({ body, isSuccess, text }) {
    if (isSuccess && (body === undefined || textAt(body, 'data.MessageID') !== undefined)) return undefined
    const says = textAt(body, 'message') ?? (isSuccess ? `Unifonic SMS failed: ${text}` : undefined)
    // The list of codes has none for a bad key.
    const isLocked = isSuccess && /\bAppSid\b|authenticat/i.test(says ?? '')
    return { says, code: isLocked ? 'unauthorized' : codes[textAt(body, 'errorCode') ?? ''] }
  },
})
