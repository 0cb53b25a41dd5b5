import { bearer, pushProvider, readJson, secret, text, textAt } from '../provider.ts'
import { pushEvents } from './push-events.ts'

export const pushpad = pushProvider({
  id: 'pushpad',
  name: 'Pushpad',
  docs: 'https://pushpad.xyz/docs/rest_api#notifications_api_create',
  credentials: { apiKey: secret('Auth token'), applicationId: text('Project ID') },
  naming: { casing: 'snake' },

  async send({ target, title, content }, { apiKey, applicationId }, { deliver }) {
    const answer = await deliver(
      `https://pushpad.xyz/api/v1/projects/${encodeURIComponent(applicationId)}/notifications`,
      { headers: bearer(apiKey), json: { title, body: content, uids: [target] } },
    )
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, text, isSuccess }) {
    if (isSuccess) return undefined
    // Either a sentence, or lists of sentences by member.
    return { says: textAt(body, 'error') ?? (readJson(text) === undefined ? undefined : text) }
  },

  events: pushEvents,
})
