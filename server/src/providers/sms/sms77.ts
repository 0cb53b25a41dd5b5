import type { DeliveryErrorCode } from '../delivery-error.ts'
import { secret, smsProvider, smsSender, textAt } from '../provider.ts'

/** As in the vendor's own client: https://github.com/seven-io/js-client/blob/main/src/lib/ErrorCode.ts */
const codes: Record<string, DeliveryErrorCode> = {
  202: 'recipient_refused',
  300: 'unauthorized',
  301: 'recipient_refused',
  305: 'message_refused',
  401: 'message_refused',
  // A duplicate of a recent message: another provider would send it twice.
  402: 'message_refused',
  500: 'quota_exhausted',
  600: 'unavailable',
  700: 'unavailable',
  900: 'unauthorized',
  902: 'unauthorized',
  903: 'unauthorized',
}

export const sms77 = smsProvider({
  id: 'sms77',
  name: 'sms77',
  docs: 'https://docs.seven.io/en/rest-api/endpoints/sms',
  credentials: { apiKey: secret('API key'), ...smsSender },
  naming: { casing: 'snake' },

  async send(message, { apiKey, ...credentials }, { deliver }) {
    // The company has been called seven since 2023.
    const answer = await deliver('https://gateway.seven.io/api/sms', {
      headers: { 'x-api-key': apiKey },
      json: { from: message.from ?? credentials.from, to: message.to, text: message.content, json: true },
    })
    return { providerMessageId: textAt(answer.json, 'messages.0.id') }
  },

  // A refusal comes with a success status and another code, sometimes as the whole body.
  problem({ body, isSuccess, text }) {
    const status = textAt(body, 'success') ?? (/^"?(\d{3})"?$/.exec(text.trim())?.[1] || undefined)
    if (isSuccess && (status === undefined || status === '100')) return undefined
    const says = textAt(body, 'messages.0.error_text') ?? textAt(body, 'error') ?? status
    return { says, code: codes[textAt(body, 'messages.0.error') ?? status ?? ''] }
  },
})
