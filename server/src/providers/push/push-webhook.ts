import { pushProvider, readJson, secret, textAt } from '../provider.ts'
import { signed } from '../webhook-signature.ts'
import { pushEvents } from './push-events.ts'

export const pushWebhook = pushProvider({
  id: 'push-webhook',
  name: 'Push Webhook',
  docs: '/docs#tag/integrations',
  credentials: {
    webhookUrl: secret('Webhook URL'),
    secretKey: secret('Secret key', 'Every request is signed with it'),
  },
  reserved: ['webhookUrl', 'hmacSecretKey'],

  async send(message, credentials, { deliver, conceal, brand }) {
    const { id, target, title, content, overrides, payload, subscriber, step, providerData } = message
    const url = textAt(providerData, 'webhookUrl') ?? credentials.webhookUrl
    const key = textAt(providerData, 'hmacSecretKey') ?? credentials.secretKey
    conceal(url)
    conceal(key)
    const answer = await deliver(url, {
      json: { target: [target], title, content, overrides, messageId: id, payload: { ...payload, subscriber, step } },
      sign: signed(brand, key),
    })
    return { providerMessageId: textAt(readJson(answer.text), 'id') }
  },

  problem: ({ body, text, isSuccess }) =>
    isSuccess ? undefined : { says: textAt(body, 'message') ?? textAt(body, 'error') ?? text },

  events: pushEvents,
})
