import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender, text, textAt } from '../provider.ts'
import { isGsm } from './short-message.ts'

export const mobishastra = smsProvider({
  id: 'mobishastra',
  name: 'Mobishastra',
  docs: 'https://mobishastra.com/sms-api/',
  credentials: {
    baseUrl: text('URL', 'Such as https://mshastra.com/sendsms_api_json.aspx'),
    user: text('Profile ID'),
    password: secret('Password'),
    ...smsSender,
  },

  async send(message, { baseUrl, user, password, ...credentials }, { deliver }) {
    const { to, content } = message
    const answer = await deliver(baseUrl, {
      json: {
        Sender: message.from ?? credentials.from,
        number: to,
        msg: content,
        user,
        pwd: password,
        language: isGsm(content) ? undefined : 'Unicode',
      },
      wrap: (body) => [body],
    })
    return { providerMessageId: textAt(answer.json, '0.msg_id')?.trim() }
  },

  // Only an accepted message gets an id.
  problem({ body, isSuccess }) {
    if (isSuccess && (body === undefined || textAt(body, '0.msg_id')?.trim())) return undefined
    const says = textAt(body, '0.str_response')
    return { says, code: codeOf(says ?? '') }
  },
})

function codeOf(words: string): DeliveryErrorCode | undefined {
  if (/invalid (profile|password|user)/i.test(words)) return 'unauthorized'
  if (/invalid (mobile|number)/i.test(words)) return 'recipient_refused'
  return /credit|balance/i.test(words) ? 'quota_exhausted' : undefined
}
