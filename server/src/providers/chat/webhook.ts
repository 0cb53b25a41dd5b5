// Shared by providers that post to an incoming webhook of a chat channel.
import { type ChatMessage, type Problem, type Tools, textAt, type VendorAnswer } from '../provider.ts'

/** The webhook to post to, if the target is one. */
export function webhookOf(
  { target }: ChatMessage,
  name: string,
  error: Tools['error'],
): { url: string; channel: string | undefined } {
  if (target.type !== 'webhook') throw error('message_refused', { says: `Invalid channel data for ${name} provider` })
  if (target.url === '') throw error('recipient_refused', { says: 'Webhook URL for the chat channel is missing' })
  return { url: target.url, channel: target.channel }
}

/** By words, for vendors without error codes. The webhook may have been deleted. */
export function webhookProblem({ status, body, text, isSuccess }: VendorAnswer): Problem | undefined {
  if (isSuccess) return undefined
  return {
    says: textAt(body, 'message') ?? textAt(body, 'error') ?? (body === undefined ? text : undefined),
    code: status === 404 || status === 410 ? 'recipient_refused' : undefined,
  }
}
