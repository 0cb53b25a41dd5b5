// The buttons of an in-app question: pressing one answers it.
import type { Db, Tx } from '../../db/core/database.ts'
import type { MessageRow } from '../../db/queries/messages.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import { hasButtons } from '../../steps/kinds/ask-copies.ts'
import type { Services } from '../edge/resource.ts'

/**
 * The question that a message asks, if it is a copy of one. The data of other messages is their senders': whatever it says, the
 * question has to exist, and the message to be of its step in its run.
 */
export async function questionOf(
  db: Db | Tx,
  { environment_id, notification_id, step_id, data }: CopyFields,
): Promise<string | undefined> {
  const { id } = ((data as { question?: unknown } | null)?.question ?? {}) as { id?: unknown }
  if (typeof id !== 'string') return undefined
  const row = await db
    .selectFrom('questions')
    .select('id')
    .where('environment_id', '=', environment_id)
    .where('id', '=', id)
    .where('notification_id', '=', notification_id)
    .where('step_id', '=', step_id)
    .executeTakeFirst()
  return row?.id
}

type CopyFields = Pick<MessageRow, 'environment_id' | 'notification_id' | 'step_id' | 'data'>

interface Pressed {
  subscriber: Pick<SubscriberRow, 'environment_id' | 'subscriber_id' | 'first_name' | 'last_name'>
  questionId: string
  type: 'primary' | 'secondary'
}

/** Where one button leads to the page, pressing it answers nothing. */
export async function pressAnswer(
  { db, engine }: Pick<Services, 'db' | 'engine'>,
  { subscriber, questionId, type }: Pressed,
): Promise<void> {
  const { environment_id: environmentId, subscriber_id: subscriberId, first_name, last_name } = subscriber
  const row = await db
    .selectFrom('questions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', questionId)
    .executeTakeFirst()
  if (!row) throw fail('question_not_found', { id: questionId })
  const { answers, free_text: freeText } = row
  if (!hasButtons({ answers, freeText })) return
  const answer = answers[type === 'primary' ? 0 : 1]
  if (!answer) throw fail('button_not_found', { type })
  const name = [first_name, last_name].filter(Boolean).join(' ') || null
  const by = { subscriberId, name, channel: 'in_app' }
  await engine.answer({ environmentId, questionId, answer: answer.id, by })
}
