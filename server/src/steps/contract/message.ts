// A message as a step makes it. What it shares with its run (ids, tags, severity, contexts) is added when it is stored.
import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { MessageTable } from '../../db/core/tables.ts'

type MessageRow = Selectable<MessageTable>

/** Its current state: a message stored before gets this status, provider and error. */
export type NewMessage = Pick<MessageRow, 'id' | 'channel' | 'status'> &
  Partial<
    Pick<
      MessageRow,
      | 'provider_id'
      | 'integration_id'
      | 'identifier'
      | 'subject'
      | 'content'
      | 'avatar'
      | 'cta'
      | 'data'
      | 'email'
      | 'phone'
      | 'device_tokens'
      | 'webhook_url'
      | 'channel_data'
      | 'actor_row_id'
      | 'error_id'
      | 'error_text'
      | 'delivered_at'
      | 'commercial'
    >
  > & {
    /** For a push message: its device, and why that was not reached. Sent to webhooks, not stored. */
    device_token?: string
    device_error?: 'token_invalid' | 'generic_error'
  }

/**
 * The id of a step's message for one destination: the same in every attempt, even after a crash, so that providers can
 * recognize a repetition.
 */
export function messageIdFor(jobId: string, destination: string): string {
  return jobId.slice(0, 8) + createHash('sha256').update(`${jobId} ${destination}`).digest('hex').slice(0, 16)
}
