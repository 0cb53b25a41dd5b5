// What has become of the copies of questions: for whoever shows a question, and for webhooks.
import { firstIdAt, timeOfId } from '../core/ids.ts'
import type { AskedEntry, CopyOf } from '../core/tables.ts'
import { statement } from '../core/transaction.ts'

/** $4: messages are not much older than the run, so earlier partitions are not read. */
export const findSentCopies = statement(
  'find_sent_copies',
  `SELECT j.notification_id, j.type, j.status, j.reason, j.asked, (
     SELECT min(m.id) FROM messages m
     WHERE m.environment_id = j.environment_id AND m.transaction_id = r.transaction_id
       AND m.notification_id = j.notification_id AND m.job_id = j.id AND m.id >= $4::text) AS message_id
   FROM unnest($1::text[], $2::text[], $3::text[]) AS r (environment_id, notification_id, transaction_id)
   JOIN jobs j ON j.environment_id = r.environment_id AND j.notification_id = r.notification_id AND j.asked IS NOT NULL
     AND j.notification_id = ANY ($2::text[])
   ORDER BY j.notification_id, j.position`,
)

export interface SentCopy {
  notification_id: string
  type: string
  status: string
  reason: string | null
  asked: CopyOf
  message_id: string | null
}

interface QuestionPlace {
  environment_id: string
  notification_id: string
  transaction_id: string
}

const hourMs = 3_600_000

/** The parameters of `findSentCopies`. */
export function placesOf(rows: readonly QuestionPlace[]): unknown[] {
  const runs = [...new Map(rows.map((row) => [row.notification_id, row])).values()]
  const oldest = Math.min(...runs.map(({ notification_id }) => timeOfId(notification_id).getTime()))
  return [
    runs.map(({ environment_id }) => environment_id),
    runs.map(({ notification_id }) => notification_id),
    runs.map(({ transaction_id }) => transaction_id),
    firstIdAt(new Date(oldest - hourMs)),
  ]
}

export interface AskedChannel {
  channel: string
  status: string
  reason: string | null
  messageId: string | null
}

/** Of one time that somebody was asked. */
export const channelsOf = (
  copies: readonly SentCopy[],
  { notification_id: runId, position }: { notification_id: string; position: number },
  { subscriberId, round }: AskedEntry,
): AskedChannel[] =>
  copies
    .filter(
      ({ notification_id, asked }) =>
        notification_id === runId &&
        asked.of === position &&
        asked.subscriberId === subscriberId &&
        asked.round === round &&
        asked.reminder === 0,
    )
    .map(({ type, status, reason, message_id }) => ({ channel: type, status, reason, messageId: message_id }))
