// Messages in chats that asked a question are changed once it is closed: they say who decided, and lose their buttons. At least
// once each; the queue tries again what could not be changed.
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Secrets } from '../../db/core/secrets.ts'
import type { AnsweredBy, OfferedAnswer, QuestionState } from '../../db/core/tables.ts'
import { autoCommit, rowsGiven, statement, type Transaction } from '../../db/core/transaction.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { deliveryProvider } from '../../providers/index.ts'
import { isClickable } from '../../providers/provider.ts'
import { openIntegration } from '../../steps/delivery/integration-choice.ts'
import type { Progress } from '../../steps/delivery/progress.ts'
import { decisionText } from './question-copies.ts'

/** Only where there is a message that can be changed. */
const queueChanges = statement(
  'queue_chat_changes',
  `SELECT queue_job('change_chats', json_build_object('environmentId', t.environment_id, 'notificationId', t.notification_id))
   FROM ${rowsGiven('text', 'text')} AS t (environment_id, notification_id)
   WHERE EXISTS (SELECT FROM jobs j
     WHERE j.environment_id = t.environment_id AND j.notification_id = t.notification_id AND j.type = 'chat'
       AND j.asked IS NOT NULL AND j.status = 'completed' AND j.delivery IS NOT NULL)`,
)

export async function tellChats(
  transaction: Pick<Transaction, 'run'>,
  runs: Array<{ environmentId: string; id: string }>,
): Promise<void> {
  if (runs.length > 0)
    await transaction.run(queueChanges, [runs.map(({ environmentId }) => environmentId), runs.map(({ id }) => id)])
}

/** A message of a run that was erased. Nothing of its question is left to be said. */
interface ErasedChat {
  integrationId: string
  /** Of the endpoint or subscriber it went to, behind the id of the integration. */
  key: string
  place: Record<string, string>
  locale: string | null
}

/** What the queue's job is told. */
export interface ChatChanges {
  environmentId: string
  notificationId: string
  erased?: ErasedChat[]
}

const queueErased = statement(
  'queue_erased_chat_changes',
  `SELECT queue_job('change_chats', json_build_object('environmentId', q.environment_id, 'notificationId', q.notification_id,
     'erased', json_agg(json_build_object('integrationId', d.value ->> 'integrationId', 'key', d.key,
       'place', d.value -> 'place', 'locale', s.locale))))
   FROM ${rowsGiven('text', 'text')} AS t (environment_id, notification_id)
   JOIN questions q ON q.environment_id = t.environment_id AND q.notification_id = t.notification_id AND q.state <> 'open'
   JOIN jobs j ON j.environment_id = q.environment_id AND j.notification_id = q.notification_id AND j.type = 'chat'
     AND (j.asked ->> 'of')::int = q.position AND j.delivery IS NOT NULL
   CROSS JOIN LATERAL json_each(j.delivery -> 'destinations') d
   LEFT JOIN subscribers s ON s.environment_id = q.environment_id AND s.subscriber_id = j.asked ->> 'subscriberId'
   WHERE d.value ->> 'place' IS NOT NULL
   GROUP BY q.environment_id, q.notification_id`,
)

/** Before the rows go. */
export async function tellErasedChats(
  transaction: Pick<Transaction, 'run'>,
  runs: Array<{ environmentId: string; id: string }>,
): Promise<void> {
  if (runs.length > 0)
    await transaction.run(queueErased, [runs.map(({ environmentId }) => environmentId), runs.map(({ id }) => id)])
}

const findErased = statement(
  'find_erased_chats',
  `SELECT r.place, r.locale, row_to_json(i) AS integration, (
     SELECT c.encrypted_access_token FROM channel_endpoints e
     JOIN channel_connections c ON c.environment_id = e.environment_id AND c.identifier = e.connection_identifier
     WHERE e.environment_id = $1 AND e.identifier = substr(r.key, length(i.id) + 2)) AS token
   FROM json_to_recordset($2::json) AS r ("integrationId" text, key text, place json, locale text)
   JOIN integrations i ON i.environment_id = $1 AND i.id = r."integrationId"`,
)

/** The closed questions of a run, with the messages that asked them, and the tokens of the workspaces they are in. */
const findMessages = statement(
  'find_chats_to_change',
  `SELECT q.state, q.question, q.details, q.answers, q.answer, q.answered_by, d.key, d.value AS progress,
     row_to_json(i) AS integration, s.locale, (
       SELECT c.encrypted_access_token FROM channel_endpoints e
       JOIN channel_connections c ON c.environment_id = e.environment_id AND c.identifier = e.connection_identifier
       WHERE e.environment_id = q.environment_id AND e.identifier = substr(d.key, length(i.id) + 2)) AS token
   FROM questions q
   JOIN jobs j ON j.environment_id = q.environment_id AND j.notification_id = q.notification_id AND j.type = 'chat'
     AND (j.asked ->> 'of')::int = q.position AND j.delivery IS NOT NULL
   CROSS JOIN LATERAL json_each(j.delivery -> 'destinations') d
   JOIN integrations i ON i.environment_id = q.environment_id AND i.id = d.value ->> 'integrationId'
   LEFT JOIN subscribers s ON s.environment_id = q.environment_id AND s.subscriber_id = j.asked ->> 'subscriberId'
   WHERE q.environment_id = $1 AND q.notification_id = $2 AND q.state <> 'open'
     AND d.value ->> 'place' IS NOT NULL ORDER BY j.position, d.key`,
)

interface MessageRow {
  state: QuestionState
  question: string
  details: string | null
  answers: OfferedAnswer[]
  answer: string | null
  answered_by: AnsweredBy | null
  progress: Progress
  integration: IntegrationRow
  locale: string | null
  token: string | null
}

interface Surroundings {
  pool: pg.Pool
  log: Logger
  secrets: Pick<Secrets, 'decrypt'>
  delivery: Pick<Delivery, 'change'>
}

/** A message, and what it is to say. */
interface ChatChange {
  integration: IntegrationRow
  place: Record<string, string>
  token: string | null
  text: string
}

export async function changeChats(
  { pool, log, secrets, delivery }: Surroundings,
  { environmentId, notificationId, erased }: ChatChanges,
): Promise<void> {
  const changes = erased
    ? await erasedChanges(pool, environmentId, erased)
    : await closedChanges(pool, environmentId, notificationId)
  const failures: unknown[] = []
  for (const { integration, place, token, text } of changes) {
    const provider = deliveryProvider(integration.provider_id)
    if (!isClickable(provider)) continue
    const change = { place, text, token: token === null ? '' : secrets.decrypt(token) }
    try {
      await delivery.change(provider, openIntegration(integration, secrets), change)
    } catch (error) {
      // Whoever has deleted the message, or left the chat, reads nothing.
      if (error instanceof DeliveryError && error.kind !== 'later') {
        log.warn({ err: error, environmentId, notificationId }, 'a message in a chat could not be changed')
        continue
      }
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some messages in chats could not be changed.')
}

async function closedChanges(pool: pg.Pool, environmentId: string, notificationId: string): Promise<ChatChange[]> {
  const rows = await autoCommit(pool).run<MessageRow>(findMessages, [environmentId, notificationId])
  return rows.flatMap(({ integration, progress: { place }, token, locale, ...question }): ChatChange[] => {
    if (!place) return []
    const label = question.answers.find(({ id }) => id === question.answer)?.label ?? question.answer
    const decided = decisionText({ ...question, label, answeredBy: question.answered_by }, locale)
    const text = [question.question, question.details, decided].filter((part) => part !== null).join('\n\n')
    return [{ integration, place, token, text }]
  })
}

async function erasedChanges(pool: pg.Pool, environmentId: string, erased: ErasedChat[]): Promise<ChatChange[]> {
  const rows = await autoCommit(pool).run<Omit<ChatChange, 'text'> & { locale: string | null }>(findErased, [
    environmentId,
    JSON.stringify(erased),
  ])
  return rows.map(({ locale, ...row }) => ({
    ...row,
    text: decisionText({ state: 'canceled', label: null, answeredBy: null }, locale),
  }))
}
