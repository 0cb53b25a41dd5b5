// Questions in the API's format.
import { type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { firstIdAt, timeOfId } from '../../db/core/ids.ts'
import type { CopyOf, QuestionTable } from '../../db/core/tables.ts'
import { stateAt } from '../../engine/runs/questions.ts'
import { Enum, Nullable, Timestamp } from '../edge/schema.ts'

export const questionStates = ['open', 'answered', 'expired', 'canceled'] as const
export const QuestionState = Enum(questionStates)

const Offered = Type.Object({ id: Type.String(), label: Type.String() })
export const FreeText = Nullable(Type.Object({ label: Type.String(), required: Type.Boolean() }))

export const AnsweredBy = Nullable(
  Type.Object({
    subscriberId: Nullable(Type.String()),
    name: Nullable(Type.String()),
    channel: Type.String({ description: 'How they answered; `api` for the endpoint, `page` for the page' }),
    createdAt: Type.String(),
    as: Type.Optional(
      Type.Object(
        { provider: Type.String(), userId: Type.String(), name: Nullable(Type.String()) },
        { description: 'Who pressed the button in a chat' },
      ),
    ),
    member: Type.Optional(
      Type.Object({ id: Type.String(), name: Type.String() }, { description: 'The member who answered as themselves' }),
    ),
  }),
)

/** What the page shows. */
export const PageQuestion = Type.Object({
  id: Type.String(),
  question: Type.String(),
  details: Nullable(Type.String()),
  answers: Type.Array(Offered),
  freeText: FreeText,
  state: QuestionState,
  answer: Nullable(Type.String()),
  answeredBy: AnsweredBy,
  deadline: Timestamp,
})
export type ShownQuestion = Static<typeof PageQuestion>

export const Question = Type.Object({
  ...PageQuestion.properties,
  text: Nullable(Type.String({ description: 'What was written beside the answer' })),
  level: Type.Integer({ description: 'Of the chain, from 0: how far it has come' }),
  round: Type.Integer({ description: 'From 1' }),
  createdAt: Timestamp,
  transactionId: Type.String(),
  notificationId: Type.String({ description: 'The run that asks' }),
  workflowId: Type.String(),
  stepId: Type.String(),
  asked: Type.Array(
    Type.Object({
      subscriberId: Type.String(),
      level: Type.Integer(),
      askedAt: Type.String(),
      remindedAt: Type.Array(Type.String()),
      channels: Type.Array(
        Type.Object({
          channel: Type.String(),
          status: Type.String(),
          reason: Nullable(Type.String()),
          messageId: Nullable(Type.String()),
        }),
      ),
    }),
    { description: 'An entry for each time somebody was asked, oldest first' },
  ),
})

export type QuestionRow = Selectable<QuestionTable>

export const pageQuestion = (row: QuestionRow, now: Date): ShownQuestion => ({
  ...{ id: row.id, question: row.question, details: row.details, answers: row.answers, freeText: row.free_text },
  ...{ state: stateAt(row, now), answer: row.answer, answeredBy: row.answered_by, deadline: row.deadline },
})

interface CopyRow {
  notification_id: string
  job_id: string
  type: string
  status: string
  reason: string | null
  asked: CopyOf
  message_id: string | null
}

const hourMs = 3_600_000

/** With what has become of their copies, in one more statement however many they are. */
export async function showQuestions(
  db: Db,
  environmentId: string,
  rows: QuestionRow[],
  now: Date,
): Promise<Array<Static<typeof Question>>> {
  const copies = await copiesOf(db, environmentId, rows)
  return rows.map((row) => ({
    ...pageQuestion(row, now),
    ...{ text: row.text, level: row.level, round: row.round, createdAt: row.created_at },
    ...{ transactionId: row.transaction_id, notificationId: row.notification_id },
    ...{ workflowId: row.workflow, stepId: row.step_id },
    asked: row.asked.map(({ subscriberId, level, round, at, remindedAt }) => ({
      ...{ subscriberId, level, askedAt: at, remindedAt },
      channels: copies
        .filter(
          ({ notification_id, asked }) =>
            notification_id === row.notification_id &&
            asked.of === row.position &&
            asked.subscriberId === subscriberId &&
            asked.round === round &&
            asked.reminder === 0,
        )
        .map(({ type, status, reason, message_id }) => ({ channel: type, status, reason, messageId: message_id })),
    })),
  }))
}

/** Messages are not much older than the run: earlier partitions are not read. */
async function copiesOf(db: Db, environmentId: string, rows: QuestionRow[]): Promise<CopyRow[]> {
  if (rows.length === 0) return []
  const oldest = Math.min(...rows.map(({ notification_id }) => timeOfId(notification_id).getTime()))
  const found = await sql<CopyRow>`
    SELECT j.notification_id, j.id AS job_id, j.type, j.status, j.reason, j.asked, (
      SELECT min(m.id) FROM messages m
      WHERE m.environment_id = ${environmentId} AND m.transaction_id = r.transaction_id
        AND m.notification_id = j.notification_id AND m.job_id = j.id
        AND m.id >= ${firstIdAt(new Date(oldest - hourMs))}) AS message_id
    FROM unnest(${rows.map((row) => row.notification_id)}::text[], ${rows.map((row) => row.transaction_id)}::text[])
      AS r (notification_id, transaction_id)
    JOIN jobs j ON j.environment_id = ${environmentId} AND j.notification_id = r.notification_id AND j.asked IS NOT NULL
      AND j.notification_id = ANY (${rows.map((row) => row.notification_id)}::text[])
    ORDER BY j.notification_id, j.position`.execute(db)
  return found.rows
}
