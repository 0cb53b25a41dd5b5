// Questions in the API's format.
import { CompiledQuery, type Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import type { QuestionTable } from '../../db/core/tables.ts'
import { channelsIn, findSentCopies, placesOf, type SentCopy } from '../../db/queries/question-copies.ts'
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

/** With what has become of their copies, in one more statement however many they are. */
export async function showQuestions(db: Db, rows: QuestionRow[], now: Date): Promise<Array<Static<typeof Question>>> {
  const { rows: copies } =
    rows.length === 0
      ? { rows: [] }
      : await db.executeQuery<SentCopy>(CompiledQuery.raw(findSentCopies.text, placesOf(rows)))
  const channelsOf = channelsIn(copies)
  return rows.map((row) => ({
    ...pageQuestion(row, now),
    ...{ text: row.text, level: row.level, round: row.round, createdAt: row.created_at },
    ...{ transactionId: row.transaction_id, notificationId: row.notification_id },
    ...{ workflowId: row.workflow, stepId: row.step_id },
    asked: row.asked.map((entry) => ({
      ...{ subscriberId: entry.subscriberId, level: entry.level, askedAt: entry.at, remindedAt: entry.remindedAt },
      channels: channelsOf(row, entry),
    })),
  }))
}
