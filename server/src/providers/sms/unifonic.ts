import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

/** https://docs.unifonic.com/reference/sms-error-codes */
const codes: Record<string, DeliveryErrorCode> = {
  'ER-01': 'unauthorized',
  'ER-482': 'recipient_refused',
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
        // The configured sender comes with every message; any other was chosen for this one.
        SenderID: message.from === from ? senderId : (message.from ?? senderId),
        Recipient: message.to,
        Body: message.content,
        responseType: 'JSON',
        baseEncode: true,
      },
    })
    return { providerMessageId: textAt(answer.json, 'data.MessageID') }
  },

  // What it takes, it gives an id.
  problem({ body, isSuccess, text }) {
    if (isSuccess && (body === undefined || textAt(body, 'data.MessageID') !== undefined)) return undefined
    const says = textAt(body, 'message') ?? (isSuccess ? `Unifonic SMS failed: ${text}` : undefined)
    const isPoor = /\b(balance|credit)/i.test(says ?? '')
    return { says, code: isPoor ? 'quota_exhausted' : codes[textAt(body, 'errorCode') ?? ''] }
  },
})
