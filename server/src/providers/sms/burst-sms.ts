import type { DeliveryErrorCode } from '../delivery-error.ts'
import { basic, secret, smsProvider, textAt } from '../provider.ts'

/** https://developers.kudosity.com/reference/status-codes */
const codes: Record<string, DeliveryErrorCode> = {
  AUTH_FAILED: 'unauthorized',
  AUTH_FAILED_NO_DATA: 'unauthorized',
  LEDGER_ERROR: 'quota_exhausted',
  OVER_LIMIT: 'rate_limited',
}

export const burstSms = smsProvider({
  id: 'burst-sms',
  name: 'Kudosity (BurstSMS)',
  docs: 'https://developers.kudosity.com/reference/post_send-sms-json',
  credentials: { apiKey: secret('API key'), secretKey: secret('API secret') },
  naming: { casing: 'snake' },

  async send({ to, from, content }, { apiKey, secretKey }, { deliver }) {
    const answer = await deliver('https://api.transmitsms.com/send-sms.json', {
      headers: basic(apiKey, secretKey),
      form: { message: content, to, from },
    })
    return { providerMessageId: textAt(answer.json, 'message_id'), date: textAt(answer.json, 'send_at') }
  },

  problem({ body, isSuccess }) {
    const code = textAt(body, 'error.code')
    if (isSuccess && (code === undefined || code === 'SUCCESS')) return undefined
    return { says: textAt(body, 'error.description'), code: codes[code ?? ''] }
  },
})
