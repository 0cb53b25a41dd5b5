// What providers share that post to a URL somebody made for one channel of their chat.
import { type ChatMessage, type Problem, type Tools, textAt, type VendorAnswer } from '../provider.ts'

/** Where the message goes, if it goes to a webhook at all. */
export function webhookOf(
  { target }: ChatMessage,
  name: string,
  error: Tools['error'],
): { url: string; channel: string | undefined } {
  if (target.type !== 'webhook') throw error('message_refused', { says: `Invalid channel data for ${name} provider` })
  if (target.url === '') throw error('recipient_refused', { says: 'Webhook URL for the chat channel is missing' })
  return { url: target.url, channel: target.channel }
}

/** In words, where the vendor has no codes. Whoever made the URL can take it back. */
export function webhookProblem({ status, body, text, isSuccess }: VendorAnswer): Problem | undefined {
  if (isSuccess) return undefined
  return {
    says: textAt(body, 'message') ?? textAt(body, 'error') ?? (body === undefined ? text : undefined),
    code: status === 404 || status === 410 ? 'recipient_refused' : undefined,
  }
}
