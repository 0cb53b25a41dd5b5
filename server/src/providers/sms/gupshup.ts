import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, text } from '../provider.ts'
import { isGsm } from './short-message.ts'

const codes: Record<string, DeliveryErrorCode> = {
  102: 'unauthorized',
  105: 'recipient_refused',
}

export const gupshup = smsProvider({
  id: 'gupshup',
  name: 'Gupshup',
  docs: 'https://docs.gupshup.io/docs/sms-api',
  credentials: { user: text('User ID'), password: secret('Password') },
  naming: { casing: 'snake', names: { principal_entity_id: 'principalEntityId', dlt_template_id: 'dltTemplateId' } },

  async send({ to, content, customData }, { user, password }, { deliver }) {
    const answer = await deliver('https://enterprise.smsgupshup.com/GatewayAPI/rest', {
      form: {
        send_to: to,
        msg: content,
        msg_type: isGsm(content) ? 'text' : 'unicode_text',
        auth_scheme: 'plain',
        method: 'sendMessage',
        format: 'text',
        v: '1.1',
        userid: user,
        password,
        // Indian law requires both.
        principalEntityId: customData.principalEntityId,
        dltTemplateId: customData.dltTemplateId,
      },
    })
    return { providerMessageId: partsOf(answer.text)[2] }
  },

  // One line, whatever the status: `success | number | id` or `error | code | words`.
  problem({ isSuccess, text }) {
    const [verdict = '', code = '', says] = partsOf(text)
    if (isSuccess && verdict === 'success') return undefined
    if (verdict === 'error') return { says, code: codes[code] }
    return isSuccess ? { code: 'unreadable_answer' } : {}
  },
})

const partsOf = (line: string) => line.split('|').map((part) => part.trim())
