// What has become of the copies of questions: for whoever shows a question, and for webhooks.
import { firstIdAt, timeOfId } from '../core/ids.ts'
import type { AskedEntry, CopyOf } from '../core/tables.ts'
import { statement } from '../core/transaction.ts'

/**
 * $4: messages are not much older than the run, so earlier partitions are not read. The messages of a run are read once, not for
 * each copy, and found by its id: joined, 2,000 people with two copies each took seconds while the planner knew nothing of them.
 */
export const findSentCopies = statement(
  'find_sent_copies',
  `WITH r AS MATERIALIZED (
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS r (environment_id, notification_id, transaction_id)
   ), sent AS MATERIALIZED (
     SELECT r.notification_id, (
       SELECT jsonb_object_agg(m.job_id, m.id) FROM (
         SELECT m.job_id, min(m.id) AS id FROM messages m
         WHERE m.environment_id = r.environment_id AND m.transaction_id = r.transaction_id
           AND m.notification_id = r.notification_id AND m.id >= $4::text GROUP BY 1) m) AS ids
     FROM r
   )
   SELECT j.notification_id, j.type, j.status, j.reason, j.asked, s.ids ->> j.id AS message_id
   FROM r JOIN sent s ON s.notification_id = r.notification_id
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

const keyOf = (runId: string, { of, subscriberId, round }: Pick<CopyOf, 'of' | 'subscriberId' | 'round'>) =>
  `${runId} ${of} ${round} ${subscriberId}`

/** @returns those of one time that somebody was asked */
export function channelsIn(copies: readonly SentCopy[]) {
  const byTime = new Map<string, AskedChannel[]>()
  for (const { notification_id, asked, type, status, reason, message_id } of copies) {
    if (asked.reminder !== 0) continue
    const key = keyOf(notification_id, asked)
    const own = byTime.get(key) ?? []
    byTime.set(key, own)
    own.push({ channel: type, status, reason, messageId: message_id })
  }
  return (question: { notification_id: string; position: number }, entry: AskedEntry): AskedChannel[] =>
    byTime.get(keyOf(question.notification_id, { ...entry, of: question.position })) ?? []
}
