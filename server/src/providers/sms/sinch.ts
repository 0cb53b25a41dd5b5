import { textOf, withPlus } from '../events.ts'
import { bearer, choice, secret, smsProvider, smsSender, text, textAt } from '../provider.ts'

const regions = ['eu', 'us', 'au', 'br', 'ca'] as const

export const sinch = smsProvider({
  id: 'sinch',
  name: 'Sinch',
  docs: 'https://developers.sinch.com/docs/sms/api-reference/sms/batches/sendsms/',
  credentials: {
    servicePlanId: text('Service plan ID'),
    apiToken: secret('API token'),
    region: choice('Region', regions),
    ...smsSender,
  },

  async send(message, { servicePlanId, apiToken, region, ...credentials }, { deliver, error }) {
    if (!(regions as readonly string[]).includes(region))
      throw error('incomplete_credentials', { says: `"${region}" is none of the regions ${regions.join(', ')}` })
    const plan = encodeURIComponent(servicePlanId)
    const answer = await deliver(`https://${region}.sms.api.sinch.com/xms/v1/${plan}/batches`, {
      headers: bearer(apiToken),
      json: { from: message.from ?? credentials.from, to: [message.to], body: message.content },
    })
    return { providerMessageId: textAt(answer.json, 'id'), date: textAt(answer.json, 'created_at') }
  },

  problem({ body, isSuccess }) {
    return isSuccess ? undefined : { says: textAt(body, 'text') }
  },

  events: {
    read: () => [],
    /** https://developers.sinch.com/docs/sms/api-reference/sms/tag/Webhooks */
    texts: ({ body }) =>
      textAt(body, 'type') !== 'mo_text'
        ? []
        : textOf({
            id: textAt(body, 'id'),
            from: withPlus(textAt(body, 'from')),
            to: withPlus(textAt(body, 'to')),
            text: textAt(body, 'body'),
          }),
  },
})
