// What is stored of questions beside their steps: what the API shows, who was asked, and what in-app copies say once they are
// closed. The step decides; these rows follow it in the same transaction.
import { CompiledQuery } from 'kysely'
import type { Tx } from '../../db/core/database.ts'
import { storableJson } from '../../db/core/storable.ts'
import type { AnsweredBy, AskedEntry, QuestionState } from '../../db/core/tables.ts'
import { rowsGiven, type Statement, statement, type Transaction } from '../../db/core/transaction.ts'
import { tellOf } from '../../db/queries/inbox-changes.ts'
import {
  type AskedChannel,
  channelsIn,
  findSentCopies,
  placesOf,
  type SentCopy,
} from '../../db/queries/question-copies.ts'
import { type EventType, tellAll } from '../../db/queries/webhook-events.ts'
import type { Asking, QuestionRecord } from '../../steps/contract/question.ts'
import { tellChats, tellErasedChats } from './chat-changes.ts'
import { closedCopy, type Decision } from './question-copies.ts'
import type { JobState, RunState } from './run-state.ts'

const addQuestions = statement(
  'add_questions',
  `INSERT INTO questions (environment_id, id, notification_id, position, transaction_id, workflow_id, workflow, step_id,
     subscriber_row_id, state, question, details, answers, free_text, answer, text, answered_by, level, round, asked,
     deadline, created_at, updated_at)
   SELECT environment_id, id, notification_id, position, transaction_id, workflow_id, workflow, step_id,
     subscriber_row_id, state, question, details, answers, free_text, answer, text, answered_by, level, round, asked,
     deadline, $2, $2
   FROM json_to_recordset($1::json) AS r (environment_id text, id text, notification_id text, position smallint,
     transaction_id text, workflow_id text, workflow text, step_id text, subscriber_row_id text, state text, question text,
     details text, answers jsonb, free_text jsonb, answer text, text text, answered_by jsonb, level smallint,
     round smallint, asked jsonb, deadline timestamptz)`,
)

const saveQuestions = statement(
  'save_questions',
  `UPDATE questions q SET state = r.state, answer = r.answer, text = r.text, answered_by = r.answered_by, level = r.level,
     round = r.round, asked = r.asked, updated_at = $2
   FROM json_to_recordset($1::json) AS r (environment_id text, id text, state text, answer text, text text,
     answered_by jsonb, level smallint, round smallint, asked jsonb)
   WHERE q.environment_id = r.environment_id AND q.id = r.id`,
)

const addPeople = statement(
  'add_question_people',
  `INSERT INTO question_people (environment_id, question_id, subscriber_id)
   SELECT DISTINCT * FROM ${rowsGiven('text', 'text', 'text')} AS t (environment_id, question_id, subscriber_id)
   ON CONFLICT DO NOTHING`,
)

/** The open questions of runs that were canceled. The caller has locked the runs. */
const closeOpen = statement(
  'cancel_questions',
  `UPDATE questions q SET state = 'canceled', updated_at = $3
   FROM ${rowsGiven('text', 'text')} AS t (environment_id, notification_id)
   WHERE q.environment_id = t.environment_id AND q.notification_id = t.notification_id AND q.state = 'open'
   RETURNING q.*`,
)

/**
 * In-app copies, with the language of their readers. In the order of their ids, as everybody locks messages. Only messages of the
 * step that asks are copies: others may have data that looks alike.
 */
const findCopies = statement(
  'find_question_copies',
  `SELECT m.environment_id, m.notification_id, m.step_id, m.id, m.subscriber_id, m.data, m.content, m.cta,
     (SELECT s.locale FROM subscribers s WHERE s.environment_id = m.environment_id AND s.id = m.subscriber_row_id) AS locale
   FROM ${rowsGiven('text', 'text', 'text', 'text')} AS t (environment_id, transaction_id, notification_id, step_id)
   JOIN messages m ON m.environment_id = t.environment_id AND m.transaction_id = t.transaction_id
     AND m.notification_id = t.notification_id AND m.step_id = t.step_id AND m.channel = 'in_app'
     AND m.data -> 'question' ->> 'state' = 'open'
   ORDER BY m.id FOR NO KEY UPDATE OF m`,
)

const closeCopies = statement(
  'close_question_copies',
  `WITH changed AS (
     UPDATE messages m SET data = r.data, content = r.content, cta = r.cta, updated_at = $2
     FROM json_to_recordset($1::json) AS r (environment_id text, id text, data jsonb, content text, cta json)
     WHERE m.environment_id = r.environment_id AND m.id = r.id RETURNING m.*
   ), waits AS (
     SELECT tell_message_waits(environment_id, array_agg(notification_id)) FROM changed GROUP BY environment_id
   ), told AS (${tellOf('changed', 'read')})
   SELECT (SELECT count(*) FROM told) + (SELECT count(*) FROM waits)`,
)

/** In-app copies come back as new ones. */
const renewCopies = statement(
  'renew_question_copies',
  `WITH locked AS MATERIALIZED (
     SELECT m.environment_id, m.id
     FROM ${rowsGiven('text', 'text', 'text', 'text', 'text')}
       AS t (environment_id, transaction_id, notification_id, step_id, subscriber_id)
     JOIN messages m ON m.environment_id = t.environment_id AND m.transaction_id = t.transaction_id
       AND m.notification_id = t.notification_id AND m.step_id = t.step_id AND m.subscriber_id = t.subscriber_id
       AND m.channel = 'in_app' AND m.data -> 'question' ->> 'state' = 'open'
     ORDER BY m.id FOR NO KEY UPDATE OF m
   ), changed AS (
     UPDATE messages m SET seen = false, read = false, archived = false, archived_at = NULL, first_seen_at = NULL,
       last_seen_at = NULL, last_read_at = NULL, updated_at = $6
     FROM locked l WHERE m.environment_id = l.environment_id AND m.id = l.id RETURNING m.*
   )
   ${tellOf('changed', 'id')}`,
)

/** A question as the API and webhooks show it, without its texts. */
export interface QuestionFacts {
  id: string
  state: QuestionState
  answer: string | null
  answered_by: AnsweredBy | null
  level: number
  round: number
  position: number
  asked: Array<AskedEntry & { channels?: AskedChannel[] }>
  deadline: Date | string
  created_at: Date | string
  transaction_id: string
  notification_id: string
  workflow: string
  step_id: string
}

interface Changed {
  run: RunState
  job: JobState
  question: QuestionRecord
  reminds: string[]
  told: Asking['told']
}

/** What has become of the questions of these runs. */
export async function storeQuestions(transaction: Transaction, runs: RunState[], now: Date): Promise<void> {
  const changes = runs.flatMap(changesIn)
  await tellChats(
    transaction,
    runs.filter(hasLateChat).map((run) => ({ environmentId: run.environment.id, id: run.id })),
  )
  const left = runs.filter(hasLeftQuestion).map((run) => ({ environmentId: run.environment.id, id: run.id }))
  if (left.length > 0) await cancelQuestions(transaction, left, now)
  if (changes.length === 0) return
  const added = changes.filter(({ question }) => question.texts)
  if (added.length > 0) await transaction.run(addQuestions, [storableJson(added.map(newRow)), now])
  const saved = changes.filter(({ question }) => !question.texts)
  if (saved.length > 0) await transaction.run(saveQuestions, [storableJson(saved.map(changedRow)), now])
  const since = now.toISOString()
  const people = changes.flatMap(({ run, question }) =>
    [
      ...question.asked.flatMap(({ subscriberId, at }) => (at === since ? [subscriberId] : [])),
      question.answeredBy?.subscriberId ?? [],
    ]
      .flat()
      .map((subscriberId) => ({ environmentId: run.environment.id, questionId: question.id, subscriberId })),
  )
  if (people.length > 0)
    await transaction.run(addPeople, [
      people.map(({ environmentId }) => environmentId),
      people.map(({ questionId }) => questionId),
      people.map(({ subscriberId }) => subscriberId),
    ])
  const reminded = changes.flatMap(({ run, job, reminds }) =>
    reminds.map((subscriberId) => ({ run, job, subscriberId })),
  )
  if (reminded.length > 0)
    await transaction.run(renewCopies, [
      reminded.map(({ run }) => run.environment.id),
      reminded.map(({ run }) => run.transactionId),
      reminded.map(({ run }) => run.id),
      reminded.map(({ job }) => job.step.stepId),
      reminded.map(({ subscriberId }) => subscriberId),
      now,
    ])
  const closings = changes.filter(({ question }) => question.state !== 'open')
  await sayClosed(
    transaction,
    closings.map(({ run, job, question }) => ({
      ...{ environmentId: run.environment.id, transactionId: run.transactionId, notificationId: run.id },
      ...{ state: question.state, answer: question.answer, answeredBy: question.answeredBy },
      ...{ label: question.label, stepId: job.step.stepId },
    })),
    now,
  )
  await tellChats(
    transaction,
    closings.map(({ run }) => ({ environmentId: run.environment.id, id: run.id })),
  )
  const told = changes.flatMap(({ run, job, question, told: types }) =>
    types
      .filter((type) => run.environment.webhooks.has(type))
      .map((type) => ({ environmentId: run.environment.id, type, object: toldOf(run, job, question, now) })),
  )
  await tellAll(transaction, await withChannels(transaction, told), now)
}

interface ToldQuestion {
  environmentId: string
  type: EventType
  object: QuestionFacts
}

/** As the API shows a question: with what has become of its copies. */
async function withChannels(transaction: Pick<Transaction, 'run'>, told: ToldQuestion[]): Promise<ToldQuestion[]> {
  if (told.length === 0) return told
  const places = told.map(({ environmentId, object }) => ({ ...object, environment_id: environmentId }))
  const channelsOf = channelsIn(await transaction.run<SentCopy>(findSentCopies, placesOf(places)))
  return told.map((each) => ({
    ...each,
    object: {
      ...each.object,
      asked: each.object.asked.map((entry) => ({ ...entry, channels: channelsOf(each.object, entry) })),
    },
  }))
}

/** A message in a chat went out while its question was being closed. */
const hasLateChat = ({ jobs, isNew }: RunState): boolean =>
  !isNew &&
  jobs.some(
    ({ asked, type, isChanged, status }) =>
      asked !== null &&
      type === 'chat' &&
      isChanged &&
      status === 'completed' &&
      jobs.some((job) => job.position === asked.of && job.status !== 'delayed'),
  )

/** A goal was met, or the step failed unexpectedly, while its question was open. */
const hasLeftQuestion = ({ jobs, effects, isNew }: RunState): boolean =>
  !isNew &&
  jobs.some(
    (job) =>
      job.type === 'ask' &&
      job.isChanged &&
      job.delivery !== null &&
      (job.status === 'canceled' || job.status === 'failed') &&
      effects.asking.every((each) => each.job !== job),
  )

/** One for each question: what happened to it together, as it is in the end. */
function changesIn(run: RunState): Changed[] {
  const changes = new Map<string, Changed>()
  for (const { job, question, reminds, told } of run.effects.asking) {
    const before = changes.get(question.id)
    const texts = question.texts ?? before?.question.texts
    changes.set(question.id, {
      ...{ run, job, question: { ...question, ...(texts ? { texts } : {}) } },
      reminds: [...new Set([...(before?.reminds ?? []), ...reminds])],
      told: [...(before?.told ?? []), ...told],
    })
  }
  return [...changes.values()]
}

const newRow = ({ run, job, question }: Changed) => ({
  ...changedRow({ run, question }),
  ...{ notification_id: run.id, position: job.position, transaction_id: run.transactionId },
  ...{ workflow_id: run.workflow.id, workflow: run.workflow.identifier, step_id: job.step.stepId },
  ...{ subscriber_row_id: run.subscriber.id, deadline: question.deadline },
  ...{ question: question.texts?.question, details: question.texts?.details, answers: question.texts?.answers },
  free_text: question.texts?.freeText,
})

const changedRow = ({ run, question }: Pick<Changed, 'run' | 'question'>) => ({
  ...{ environment_id: run.environment.id, id: question.id, state: question.state, answer: question.answer },
  ...{ text: question.text, answered_by: question.answeredBy, level: question.level, round: question.round },
  asked: question.asked,
})

const toldOf = (run: RunState, job: JobState, question: QuestionRecord, now: Date): QuestionFacts => ({
  ...{ id: question.id, state: question.state, answer: question.answer, answered_by: question.answeredBy },
  ...{ level: question.level, round: question.round, asked: question.asked, deadline: question.deadline },
  ...{ created_at: createdAt(question, now), transaction_id: run.transactionId, notification_id: run.id },
  ...{ workflow: run.workflow.identifier, step_id: job.step.stepId, position: job.position },
})

/** The first were asked when it was put. */
const createdAt = ({ asked }: QuestionRecord, now: Date): string => asked[0]?.at ?? now.toISOString()

/** Closes the open questions of these runs, which were canceled or have lost their subscriber. */
export async function cancelQuestions(
  transaction: Pick<Transaction, 'run'>,
  runs: Array<{ environmentId: string; id: string }>,
  now: Date,
  changeChats = tellChats,
): Promise<void> {
  const rows = await transaction.run<QuestionFacts & { environment_id: string }>(closeOpen, [
    runs.map(({ environmentId }) => environmentId),
    runs.map(({ id }) => id),
    now,
  ])
  if (rows.length === 0) return
  await sayClosed(
    transaction,
    rows.map((row) => ({
      ...{ environmentId: row.environment_id, transactionId: row.transaction_id, notificationId: row.notification_id },
      ...{ stepId: row.step_id, state: 'canceled' as const, answer: null, answeredBy: null, label: null },
    })),
    now,
  )
  await changeChats(
    transaction,
    rows.map((row) => ({ environmentId: row.environment_id, id: row.notification_id })),
  )
  const type: EventType = 'question.canceled'
  const told = rows.map((row) => ({ environmentId: row.environment_id, type, object: factsOf(row) }))
  await tellAll(transaction, await withChannels(transaction, told), now)
}

const factsOf = (row: QuestionFacts): QuestionFacts => ({
  ...{ id: row.id, state: row.state, answer: row.answer, answered_by: row.answered_by },
  ...{ level: row.level, round: row.round, asked: row.asked, deadline: row.deadline, created_at: row.created_at },
  ...{ transaction_id: row.transaction_id, notification_id: row.notification_id },
  ...{ workflow: row.workflow, step_id: row.step_id, position: row.position },
})

/** The same for runs that are about to be erased: what chats need to be changed is taken along, as it will be gone. */
export async function closeErased(
  tx: Tx,
  runs: Array<{ environmentId: string; id: string }>,
  now: Date,
): Promise<void> {
  const transaction: Pick<Transaction, 'run'> = {
    run: async <Row>({ text }: Statement, values: unknown[] = []) =>
      (await tx.executeQuery<Row>(CompiledQuery.raw(text, values))).rows,
  }
  await cancelQuestions(transaction, runs, now, tellErasedChats)
}

interface Closing extends Decision {
  environmentId: string
  transactionId: string
  notificationId: string
  stepId: string
}

interface CopyRow {
  environment_id: string
  notification_id: string
  step_id: string
  id: string
  subscriber_id: string
  data: Record<string, unknown>
  content: string | null
  cta: Record<string, unknown> | null
  locale: string | null
}

/** In-app copies say who decided, or that it is over, and have no buttons any more. */
async function sayClosed(transaction: Pick<Transaction, 'run'>, closings: Closing[], now: Date): Promise<void> {
  if (closings.length === 0) return
  const copies = await transaction.run<CopyRow>(findCopies, [
    closings.map(({ environmentId }) => environmentId),
    closings.map(({ transactionId }) => transactionId),
    closings.map(({ notificationId }) => notificationId),
    closings.map(({ stepId }) => stepId),
  ])
  // Several of one run can be closed at once: an answer lets it go on to a question for which there is nobody.
  const closingOf = new Map(closings.map((closing) => [`${closing.notificationId} ${closing.stepId}`, closing]))
  const rows = copies.flatMap((copy) => {
    const closing = closingOf.get(`${copy.notification_id} ${copy.step_id}`)
    const { environment_id, id, subscriber_id: subscriberId, locale } = copy
    return closing ? [{ environment_id, id, ...closedCopy(copy, closing, { subscriberId, locale }) }] : []
  })
  if (rows.length > 0) await transaction.run(closeCopies, [storableJson(rows), now])
}
