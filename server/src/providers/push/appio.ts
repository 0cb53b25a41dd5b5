import { at, optional, pushProvider, secret, text, textAt } from '../provider.ts'
import { pushEvents } from './push-events.ts'

export const appio = pushProvider({
  id: 'appio',
  name: 'App IO',
  docs: 'https://developer.pagopa.it/app-io/api/app-io-main',
  credentials: {
    AppIOBaseUrl: optional(text('Base URL', 'https://api.io.pagopa.it/api/v1 unless said otherwise')),
    apiKey: optional(secret('Subscription key', 'A workflow can bring its own')),
  },
  naming: { casing: 'snake' },
  reserved: ['apiKey'],

  async send({ target, title, content, providerData }, credentials, { ask, deliver, error, conceal }) {
    const base = (credentials.AppIOBaseUrl ?? 'https://api.io.pagopa.it/api/v1').replace(/\/+$/, '')
    const key = textAt(providerData, 'apiKey') ?? credentials.apiKey
    if (key === undefined) throw error('incomplete_credentials', { says: 'Missing apiKey for App IO' })
    conceal(key)
    if (target === '') throw error('recipient_refused', { says: 'Missing target (fiscal_code) in push options' })
    if (title === '' || content === '')
      throw error('message_refused', { says: 'Missing title or content in push options' })
    const headers = { 'ocp-apim-subscription-key': key }
    const { json: profile } = await ask(`${base}/profiles`, { headers, json: { fiscal_code: target } })
    // The recipient may allow it again, so keep the fiscal code.
    if (at(profile, 'sender_allowed') !== true)
      throw error('message_refused', { says: 'Recipient is not allowed or not found in App IO' })
    const answer = await deliver(`${base}/messages`, {
      headers,
      json: { fiscal_code: target, content: { subject: title, markdown: content } },
    })
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, status, isSuccess }) {
    if (isSuccess) return undefined
    if (status === 404) return { says: 'Recipient is not allowed or not found in App IO', code: 'message_refused' }
    return { says: textAt(body, 'detail') ?? textAt(body, 'message') ?? textAt(body, 'title') }
  },

  events: pushEvents,
})
