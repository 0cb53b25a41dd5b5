// Answers to questions, and questions that are called off. The run's row decides between answers, deadline, cancel and level:
// whoever holds it first.
import { setTimeout as sleep } from 'node:timers/promises'
import { retryConflicts } from '../../db/core/database.ts'
import { HeldMoment } from '../../db/core/held-clock.ts'
import type { AnsweredBy, OfferedAnswer, QuestionState } from '../../db/core/tables.ts'
import { autoCommit, inTransaction, statement, type Transaction } from '../../db/core/transaction.ts'
import { fail, RequestError } from '../../errors.ts'
import { priorities } from '../core/fair-share.ts'
import { timeIn } from '../core/held-clocks.ts'
import { holdRuns } from '../core/run-statements.ts'
import { cancelRuns, patience } from './cancel.ts'
import { lockRuns } from './load.ts'
import { settle } from './needs.ts'
import type { QuestionFacts } from './question-rows.ts'
import { answerQuestion } from './run.ts'
import type { EngineParts } from './start-runs.ts'
import { storeRuns } from './store.ts'

/** Beside an answer. */
export const longestAnswerText = 2_000

export interface QuestionKey {
  environmentId: string
  questionId: string
}

export interface AnswerRequest extends QuestionKey {
  answer: string
  text?: string | null | undefined
  /** Who answers, but for the time. */
  by: Omit<AnsweredBy, 'createdAt'>
}

export interface Answered {
  state: 'answered'
  answer: string
  answeredBy: AnsweredBy
  isYours: true
  /** Given before; it has changed nothing. */
  isRepeated: boolean
}

interface QuestionRow extends QuestionFacts {
  answers: OfferedAnswer[]
  free_text: { label: string; required: boolean } | null
}

const findQuestion = statement('find_question', 'SELECT * FROM questions WHERE environment_id = $1 AND id = $2')

/** The state of a question at a moment: from its deadline on it is over, however late the wake-up comes. */
export const stateAt = (
  { state, deadline }: { state: QuestionState; deadline: Date | string },
  now: Date,
): QuestionState => (state === 'open' && new Date(deadline) <= now ? 'expired' : state)

/** The first valid answer wins, in the transaction that lets the run go on. The same one again is answered alike. */
export const answer = (parts: EngineParts, request: AnswerRequest): Promise<Answered> =>
  retryConflicts(() => inTransaction(parts.pool, (transaction) => take(transaction, parts, request), patience))

const queueAnswer = statement('queue_answer', `SELECT queue_job('take_answer', $1::json)`)

/**
 * For whoever has to be told in time, whatever holds the run: an answer that takes longer than that is queued, and taken as soon
 * as it can be. The first attempt may still succeed; then the second is the same answer again.
 */
export async function answerWithin(parts: EngineParts, request: AnswerRequest, ms: number): Promise<void> {
  const over = new AbortController()
  const answering = answer(parts, request).finally(() => over.abort())
  // Whoever is first decides; what becomes of the other is of no interest.
  answering.catch(() => undefined)
  const isLate = await Promise.race([
    answering.then(() => false),
    sleep(ms, true, { signal: over.signal, ref: false }).catch(() => false),
  ])
  if (isLate) await autoCommit(parts.pool).run(queueAnswer, [JSON.stringify(request)])
  else await answering
}

/** From the queue. One that is refused now was too late. */
export async function takeAnswer(parts: EngineParts, request: AnswerRequest): Promise<void> {
  await answer(parts, request).catch((error: unknown) => {
    if (!(error instanceof RequestError)) throw error
  })
}

async function take(transaction: Transaction, parts: EngineParts, request: AnswerRequest): Promise<Answered> {
  const { environmentId } = request
  const { memory, clock, shares, hands, wakes, bell, tracing, meter } = parts
  const shown = await timeIn(transaction, parts, environmentId)
  const before = await find(transaction, request)
  refuseStrangers(before, request)
  if (stateAt(before, shown) !== 'open') return answerClosed(before, request, shown)
  refuseInvalid(before, request)
  const [run] = await lockRuns(transaction, memory, [{ environmentId, id: before.notification_id }], shown)
  // Others may have been first while we waited.
  const question = await find(transaction, request)
  const now = shown instanceof HeldMoment ? shown : clock.now()
  const job = run?.jobs.find(({ position, status }) => position === question.position && status === 'delayed')
  if (!run || !job || stateAt(question, now) !== 'open') return answerClosed(question, request, now)
  const by: AnsweredBy = { ...request.by, createdAt: now.toISOString() }
  const label = question.answers.find(({ id }) => id === request.answer)?.label ?? request.answer
  const given = { answer: request.answer, label, text: textIn(request), by }
  await settle(transaction, [{ run, progress: answerQuestion(run, job, given, now) }], parts, now)
  const writing = { now, priority: priorities.single, shares, hands, wakes, bell, tracing, meter }
  await storeRuns(transaction, [run], writing)
  return { state: 'answered', answer: request.answer, answeredBy: by, isYours: true, isRepeated: false }
}

async function find(transaction: Transaction, { environmentId, questionId }: QuestionKey): Promise<QuestionRow> {
  const [row] = await transaction.run<QuestionRow>(findQuestion, [environmentId, questionId])
  if (!row) throw fail('question_not_found', { id: questionId })
  return row
}

/** A member answers as themselves; anybody else was asked. */
function refuseStrangers({ asked }: QuestionRow, { by }: AnswerRequest): void {
  if (by.member && by.subscriberId === null) return
  if (!asked.some(({ subscriberId }) => subscriberId === by.subscriberId))
    throw fail('not_asked', { subscriberId: by.subscriberId ?? '' })
}

function refuseInvalid({ answers, free_text }: QuestionRow, request: AnswerRequest): void {
  const ids = answers.map(({ id }) => id)
  if (!ids.includes(request.answer)) throw fail('answer_unknown', { answer: request.answer, answers: ids.join(', ') })
  if (free_text?.required === true && textIn(request) === null) throw fail('answer_needs_text')
  // As schemas count, not in UTF-16.
  if ([...(textIn(request) ?? '')].length > longestAnswerText)
    throw fail('answer_too_long', { limit: longestAnswerText })
}

const textIn = ({ text }: AnswerRequest): string | null => text?.trim() || null

function answerClosed(question: QuestionRow, { answer: given, by }: AnswerRequest, now: Date): Answered {
  const { answer: taken, answered_by: answeredBy } = question
  const state = stateAt(question, now)
  const isSame =
    answeredBy !== null &&
    answeredBy.subscriberId === by.subscriberId &&
    answeredBy.member?.id === by.member?.id &&
    // Several may share a chat; elsewhere there is the subscriber alone.
    (!answeredBy.as || !by.as || answeredBy.as.userId === by.as.userId)
  if (state === 'answered' && isSame && taken === given && answeredBy)
    return { state, answer: given, answeredBy, isYours: true, isRepeated: true }
  // Between the deadline and the end of its step it is over all the same.
  throw fail('question_closed', { state }, { ctx: { state, answer: taken, answeredBy } })
}

/** Cancels the run that asks. */
export async function cancelQuestion(parts: EngineParts, key: QuestionKey): Promise<void> {
  const { environmentId } = key
  await retryConflicts(() =>
    inTransaction(
      parts.pool,
      async (transaction) => {
        const now = await timeIn(transaction, parts, environmentId)
        const { notification_id: id } = await find(transaction, key)
        await transaction.run(holdRuns, [[environmentId], [id]])
        const question = await find(transaction, key)
        const state = stateAt(question, now)
        const { answer: taken, answered_by: answeredBy } = question
        if (state !== 'open') throw fail('question_closed', { state }, { ctx: { state, answer: taken, answeredBy } })
        await cancelRuns(transaction, parts, { environmentId, ids: [id] }, now)
      },
      patience,
    ),
  )
}
