import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'

/** As in the vendor's own client: https://github.com/cmdotcom/text-sdk-php/blob/master/src/CMText/TextClientStatusCodes.php */
const codes: Record<string, DeliveryErrorCode> = {
  101: 'unauthorized',
  102: 'quota_exhausted',
  103: 'unauthorized',
  302: 'recipient_refused',
  303: 'recipient_refused',
  304: 'message_refused',
  500: 'unavailable',
}

export const cmTelecom = smsProvider({
  id: 'cm-telecom',
  name: 'CM.com',
  docs: 'https://developers.cm.com/messaging/docs/sms',
  credentials: { apiToken: secret('Product token'), ...smsSender },

  async send(message, { apiToken, ...credentials }, { deliver }) {
    const answer = await deliver('https://gw.messaging.cm.com/v1.0/message', {
      headers: { 'x-cm-producttoken': apiToken },
      json: {
        messages: {
          msg: [
            {
              allowedChannels: ['SMS'],
              from: message.from ?? credentials.from,
              to: [{ number: numberOf(message.to) }],
              body: { type: 'auto', content: message.content },
              reference: message.id,
            },
          ],
        },
      },
    })
    const reference = textAt(answer.json, 'messages.0.reference') ?? textAt(answer.json, 'details.0.reference')
    return { providerMessageId: reference }
  },

  problem({ body, isSuccess }) {
    const code = textAt(body, 'messages.0.messageErrorCode') ?? textAt(body, 'errorCode')
    if (isSuccess && (code === undefined || code === '0')) return undefined
    const says = textAt(body, 'messages.0.messageDetails') ?? textAt(body, 'details') ?? textAt(body, 'message')
    return { says, code: codes[code ?? ''] }
  },
})

/** In international form, with leading zeros. */
function numberOf(to: string): string {
  const digits = to.replace(/[\s()-]/g, '')
  if (digits.startsWith('+')) return `00${digits.slice(1)}`
  return digits.startsWith('00') ? digits : `00${digits}`
}
