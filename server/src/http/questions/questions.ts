// Questions that steps ask: who was asked, and the answer.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { allOf, cursorPage } from '../../db/core/page.ts'
import type { AnsweredBy } from '../../db/core/tables.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { longestAnswerText } from '../../engine/runs/questions.ts'
import { fail } from '../../errors.ts'
import { nameOf } from '../../steps/contract/question.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Enum } from '../edge/schema.ts'
import { AnsweredBy as AnsweredBySchema, Question, type QuestionRow, questionStates, showQuestions } from './shape.ts'

const Params = Type.Object({ id: Type.String() })

export const Answered = Type.Object({
  state: Enum(['answered']),
  answer: Type.String(),
  answeredBy: AnsweredBySchema,
  isYours: Type.Boolean(),
})

const GivenAnswer = Body(
  {
    answer: Type.String({ minLength: 1, maxLength: 40, description: 'The id of one of the answers' }),
    text: Type.Optional(Type.String({ maxLength: longestAnswerText, description: 'If the question asks for a text' })),
    subscriberId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Who answers. A member who is signed in may leave it out, and answers as themselves',
      }),
    ),
  },
  { examples: [{ answer: 'yes', subscriberId: 'ada' }] },
)
type GivenAnswer = Static<typeof GivenAnswer>

export const questions: Resource = (app, { db, engine }) => {
  const tags = ['Questions']

  app.get(
    '/v2/questions',
    {
      schema: {
        tags,
        summary: 'List questions, newest first',
        querystring: Type.Object({
          ...cursorQuery('ListQuestionsCommand', ['minimum', 'maximum']),
          state: Type.Optional(Enum(questionStates)),
          transactionId: Type.Optional(Type.String()),
          subscriberId: Type.Optional(Type.String({ description: 'Somebody who was asked' })),
          workflowId: Type.Optional(Type.String()),
        }),
        response: { 200: CursorPage(Question) },
      },
    },
    async (request) => {
      const { environment, query } = request
      const { state, transactionId, subscriberId, workflowId, ...page } = query
      const now = request.now()
      // From its deadline on a question is over, however late the wake-up comes.
      const isLate = sql`t.state = 'open' AND t.deadline <= ${now}`
      const where = [
        sql`t.environment_id = ${environment.id}`,
        ...(state === 'open' ? [sql`t.state = 'open' AND t.deadline > ${now}`] : []),
        ...(state === 'expired' ? [sql`(t.state = 'expired' OR ${isLate})`] : []),
        ...(state === 'answered' || state === 'canceled' ? [sql`t.state = ${state}`] : []),
        ...(transactionId === undefined ? [] : [sql`t.transaction_id = ${transactionId}`]),
        ...(workflowId === undefined ? [] : [sql`t.workflow = ${workflowId}`]),
        ...(subscriberId === undefined
          ? []
          : [
              sql`t.id IN (SELECT p.question_id FROM question_people p
                WHERE p.environment_id = ${environment.id} AND p.subscriber_id = ${subscriberId})`,
            ]),
      ]
      const list = { from: sql`questions t`, table: 'questions', columns: sql`t.*`, where: allOf(where) }
      const found = await cursorPage<QuestionRow>(
        db,
        { ...list, environmentId: environment.id },
        { ...page, orderDirection: 'DESC' },
      )
      return { ...found, data: await showQuestions(db, found.data, now) }
    },
  )

  app.get(
    '/v2/questions/:id',
    { schema: { tags, summary: 'Retrieve a question', params: Params, response: { 200: Question } } },
    async (request) => {
      const { environment, params } = request
      const row = await db
        .selectFrom('questions')
        .selectAll()
        .where('environment_id', '=', environment.id)
        .where('id', '=', params.id)
        .executeTakeFirst()
      if (!row) throw fail('question_not_found', { id: params.id })
      const [shown] = await showQuestions(db, [row as QuestionRow], request.now())
      return shown as Static<typeof Question>
    },
  )

  app.post(
    '/v2/questions/:id/answer',
    {
      config: { act: 'question.answered', scope: 'send', refusals: [403, 409] },
      schema: {
        tags,
        summary: 'Answer a question for somebody who was asked',
        description: 'The first valid answer wins. The same one by the same person again is answered alike.',
        params: Params,
        body: GivenAnswer,
        response: { 200: Answered },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const by = await answererOf(request, body)
      const { isRepeated, ...answered } = await engine.answer({
        ...{ environmentId: environment.id, questionId: params.id },
        ...{ answer: body.answer, text: body.text, by },
      })
      // Not for whom: the log is a chain of hashes, from which nobody can be erased later.
      request.acted = !isRepeated && { answer: body.answer, isForSubscriber: body.subscriberId !== undefined }
      return answered
    },
  )

  /** A member who names nobody answers as themselves. */
  async function answererOf(
    { environment, person }: FastifyRequest,
    { subscriberId }: GivenAnswer,
  ): Promise<Omit<AnsweredBy, 'createdAt'>> {
    if (subscriberId === undefined) {
      if (!person) throw fail('answer_for_nobody')
      const { id, name } = person
      return { subscriberId: null, name, channel: 'api', member: { id, name } }
    }
    const subscriber = await findSubscriber(db, environment.id, subscriberId)
    return { subscriberId, name: subscriber ? nameOf(subscriber) : null, channel: 'api' }
  }

  app.post(
    '/v2/questions/:id/cancel',
    {
      config: { act: 'question.canceled', scope: 'send', refusals: [409] },
      schema: {
        tags,
        summary: 'Cancel the run that asks a question',
        params: Params,
        response: { 200: Type.Object({ canceled: Type.Boolean() }) },
      },
    },
    async ({ environment, params }) => {
      await engine.cancelQuestion({ environmentId: environment.id, questionId: params.id })
      return { canceled: true }
    },
  )
}
