// The step that asks people: it puts a question to the subscriber of the run or to a chain of others, level by level, and waits
// for the first answer. What it sends are copies, steps of their channel beside this one (ask-copies.ts).
import type { AskedEntry } from '../../db/core/tables.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import {
  type ControlValues,
  objectSchema,
  pickFilled,
  type StepKind,
  skip,
  timeUnits,
  wholeNumber,
  withoutNulls,
} from '../contract/kind.ts'
import type { FoundIds, FoundPeople, Progress } from '../contract/need.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import {
  type AskChannel,
  type AskedPerson,
  type Asking,
  askChannels,
  type GivenAnswer,
  type NewCopy,
  type QuestionRecord,
} from '../contract/question.ts'
import { type StepRun, textOf } from '../contract/step-run.ts'
import { questionTexts } from './ask-copies.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs, wallTime } from './duration.ts'

const mostAnswers = 10
const mostLevels = 20
/** Of a level that names them. */
const mostPeople = 100
/** Of a topic: all of them, unless a question would become a broadcast. */
const mostMembers = 1_000
/** Of a question, with its reminders. */
const mostCopies = 10_000

const text = { type: 'string', minLength: 1 }
const duration = objectSchema(
  { amount: { type: 'number', minimum: 1 }, unit: { type: 'string', enum: [...timeUnits] } },
  ['amount', 'unit'],
)
const oneOfThem = (name: string, level: object, otherwise: object) => ({
  if: { required: [name] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: level,
  else: otherwise,
})
const level = {
  type: 'object',
  ...oneOfThem(
    'rota',
    objectSchema({ rota: text }, ['rota']),
    oneOfThem(
      'topicKey',
      objectSchema({ topicKey: text, inOrder: { type: 'boolean' } }, ['topicKey']),
      oneOfThem(
        'subscriberIds',
        objectSchema({ subscriberIds: { type: 'array', minItems: 1, maxItems: mostPeople, items: text } }, [
          'subscriberIds',
        ]),
        objectSchema({ subscriberId: text }, ['subscriberId']),
      ),
    ),
  ),
}
const properties = {
  skip,
  question: text,
  details: text,
  subject: text,
  answers: {
    type: 'array',
    minItems: 1,
    maxItems: mostAnswers,
    items: objectSchema(
      { id: { type: 'string', pattern: '^[a-z0-9_-]{1,40}$' }, label: { type: 'string', minLength: 1, maxLength: 80 } },
      ['id', 'label'],
    ),
  },
  freeText: objectSchema({ label: text, required: { type: 'boolean' } }, ['label']),
  channels: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: [...askChannels] } },
  reminders: { type: 'array', maxItems: 5, items: duration },
  amount: { type: 'number', minimum: 1 },
  unit: { type: 'string', enum: [...timeUnits] },
  chain: { type: 'array', minItems: 1, maxItems: mostLevels, items: level },
  patience: duration,
  rounds: { type: 'integer', minimum: 1, maximum: 10 },
}
const required = ['question', 'answers', 'amount', 'unit']
const simple = objectSchema(properties, required)
const withPatience = objectSchema(properties, [...required, 'patience'])

/** As it is written. */
interface GivenLevel {
  subscriberId?: string
  subscriberIds?: string[]
  topicKey?: string
  inOrder?: boolean
  rota?: string
}

/** The rotas that a step asks; none unless it is an `ask`. */
export const rotasOf = ({ type, controlValues }: Pick<WorkflowStep, 'type' | 'controlValues'>): string[] =>
  type === 'ask' && Array.isArray(controlValues?.chain)
    ? controlValues.chain.flatMap((level: { rota?: unknown } | null) =>
        typeof level?.rota === 'string' ? level.rota : [],
      )
    : []

/** As this run has it. Who is in a topic or on duty is asked when the level is reached. */
type Level = { subscriberIds: string[] } | { topicKey: string } | { rota: string }

/** What the step keeps while it waits. */
export interface KeptQuestion {
  questionId: string
  deadline: string
  levels: Level[]
  patienceMs: number | null
  rounds: number
  /** How long after somebody was asked. */
  reminders: number[]
  level: number
  /** From 1. */
  round: number
  /** When the next level is reached; null if none is left. */
  levelEndsAt: string | null
  asked: AskedEntry[]
  /** Reminders that were due until then have been seen to. */
  remindedUntil?: string
  copies: number
}

export const ask: StepKind = {
  type: 'ask',
  isWait: true,
  emptyResult: { outcome: null, answer: null, text: null, answeredBy: null, level: null, questionId: null },

  *begin(of): Progress<StepOutcome> {
    const { now, run } = of
    const settings = settingsIn(of)
    if ('kind' in settings) return settings
    const texts = questionTexts(of, run.translator)
    const { levels, warnings } = yield* levelsOf(of)
    const kept: KeptQuestion = {
      ...settings,
      ...{ questionId: run.newId(now), levels, level: 0, round: 1, levelEndsAt: null, asked: [], copies: 0 },
    }
    const until = wallTime(new Date(kept.deadline), run.subscriber.timezone)
    const line = detail('question_asked', { questionId: kept.questionId, untilDate: until })
    return yield* reachOut(of, kept, { details: [line, ...warnings], told: ['question.asked'], texts })
  },

  *wake(of, isEarly): Progress<StepOutcome> {
    const kept = keptIn(of)
    if (isEarly || of.now.toISOString() >= kept.deadline) return expired(kept, isEarly)
    const reminded = yield* remind(of, kept)
    if (kept.levelEndsAt !== null && kept.levelEndsAt <= of.now.toISOString() && nextLevel(kept))
      return yield* reachOut(of, kept, { ...escalated(kept), ...reminded })
    return waiting(kept, { details: [], told: [], ...reminded })
  },

  answer(of, given) {
    const kept = keptIn(of)
    const { asked } = kept
    const own = asked.findLast(({ subscriberId }) => subscriberId === given.by.subscriberId)
    const answered = { answer: given.answer, text: given.text, answeredBy: given.by, level: own?.level ?? kept.level }
    return {
      kind: 'done',
      output: { outcome: 'answered', ...answered, questionId: kept.questionId },
      details: [detail('question_answered', { answer: given.answer, channel: given.by.channel })],
      asking: closed(kept, 'answered', given, ['question.answered']),
    }
  },

  /** A level at which nobody can be reached is passed over at once. */
  *look(of): Progress<StepOutcome | undefined> {
    const kept = keptIn(of)
    const copies = of.copies ?? []
    const isReached = ({ subscriberId, round }: AskedEntry) =>
      copies.some(
        (copy) =>
          copy.subscriberId === subscriberId &&
          ((copy.round === round && (copy.state === 'underway' || copy.state === 'sent')) ||
            (copy.channel === 'in_app' && copy.state === 'sent')),
      )
    const current = kept.asked.filter((entry) => entry.level === kept.level && entry.round === kept.round)
    if (current.some(isReached)) return undefined
    if (nextLevel(kept)) return yield* reachOut(of, kept, escalated(kept))
    if (copies.every(({ state }) => state === 'held')) return nobody(kept)
    if (kept.levelEndsAt === null) return undefined
    return waiting({ ...kept, levelEndsAt: null }, { details: [], told: [] })
  },

  dataSchema: simple,
  variantSchema: (values) => (hasSeveral(values.chain) ? withPatience : simple),
  missingTexts: { patience: 'Patience is required with more than one level' },

  normalise(values) {
    const given = withoutNulls(values)
    const [count, rounds] = [wholeNumber(given.amount), wholeNumber(given.rounds)]
    return {
      ...pickFilled(given, ['skip', 'question', 'details', 'subject', 'answers', 'freeText', 'channels', 'reminders']),
      ...pickFilled(given, ['unit', 'chain', 'patience']),
      ...(count === undefined ? {} : { amount: count }),
      ...(rounds === undefined ? {} : { rounds }),
    }
  },

  issuesIn: ({ answers }) => {
    const ids = (Array.isArray(answers) ? answers : []).map((each: { id?: unknown } | null) => each?.id)
    return ids.flatMap((id, index) =>
      typeof id === 'string' && ids.indexOf(id) < index
        ? { path: `answers.${index}.id`, issueType: 'MISSING_VALUE', message: `Another answer has the id "${id}" too` }
        : [],
    )
  },
  waitOf: (values) => (values.amount === undefined ? undefined : { amount: values.amount, unit: values.unit }),
  resultSchema: () =>
    objectSchema(
      {
        outcome: { type: 'string', enum: ['answered', 'timeout', 'nobody'] },
        answer: { type: ['string', 'null'] },
        text: { type: ['string', 'null'] },
        answeredBy: objectSchema({
          subscriberId: { type: ['string', 'null'] },
          name: { type: ['string', 'null'] },
          channel: { type: 'string' },
          createdAt: { type: 'string' },
          as: objectSchema({
            provider: { type: 'string' },
            userId: { type: 'string' },
            name: { type: ['string', 'null'] },
          }),
          member: objectSchema({ id: { type: 'string' }, name: { type: 'string' } }),
        }),
        level: { type: ['integer', 'null'] },
        questionId: { type: 'string' },
      },
      ['outcome', 'answer', 'text', 'answeredBy', 'level', 'questionId'],
    ),
}

const hasSeveral = (chain: unknown): boolean =>
  Array.isArray(chain) &&
  (chain.length > 1 || chain.some((each: GivenLevel | null) => each?.topicKey !== undefined && each.inOrder === true))

export const keptIn = ({ job }: Pick<StepRun, 'job'>): KeptQuestion => {
  const kept = job.delivery as unknown as KeptQuestion
  return { ...kept, asked: kept.asked.map((entry) => ({ ...entry })) }
}

function settingsIn({ now, values }: StepRun) {
  const { answers, patience, rounds, reminders } = values
  if (typeof values.question !== 'string' || values.question === '') return invalid('There is no question')
  if (!Array.isArray(answers) || answers.length === 0 || answers.length > mostAnswers)
    return invalid(`A question has 1 to ${mostAnswers} answers`)
  const ids = answers.map((each: { id?: unknown } | null) => each?.id)
  if (ids.some((id) => typeof id !== 'string' || !/^[a-z0-9_-]{1,40}$/.test(id)))
    return invalid('An answer has an id of up to 40 lower-case letters, digits, hyphens and underscores')
  if (new Set(ids).size < ids.length) return invalid('Two answers have the same id')
  const ofDuration = (given: unknown) => {
    const { amount, unit } = (given ?? {}) as ControlValues
    return durationMs(amount, unit)
  }
  try {
    const delay = durationMs(values.amount, values.unit)
    if (delay > longestWaitMs)
      return {
        ...invalid(`The question is open for more than ${longestWaitDays} days`),
        ...{ reason: 'over_limit' as const, details: [detail('over_limit', { delay, limit: longestWaitMs })] },
      }
    const patienceMs = patience === undefined ? null : ofDuration(patience)
    if (patienceMs === null && hasSeveral(values.chain)) return invalid('A chain of several levels needs patience')
    return {
      deadline: new Date(now.getTime() + delay).toISOString(),
      patienceMs,
      rounds: patienceMs === null || typeof rounds !== 'number' ? 1 : Math.min(Math.max(rounds, 1), 10),
      reminders: (Array.isArray(reminders) ? reminders.slice(0, 5) : []).map(ofDuration).sort((a, b) => a - b),
    }
  } catch (error) {
    if (error instanceof DurationInvalid) return invalid(error.message)
    throw error
  }
}

/** The chain as this run has it: its templates rendered, and each member of a topic in order a level. */
function* levelsOf(of: StepRun): Progress<{ levels: Level[]; warnings: Detail[] }> {
  const { run, values } = of
  if (!Array.isArray(values.chain)) return { levels: [{ subscriberIds: [run.subscriber.subscriber_id] }], warnings: [] }
  const levels: Level[] = []
  const textIn = (value: unknown) => textOf(of, value).trim()
  for (const given of values.chain as GivenLevel[]) {
    if (given.rota !== undefined) levels.push({ rota: textIn(given.rota) })
    else if (given.topicKey !== undefined) {
      const topicKey = textIn(given.topicKey)
      if (given.inOrder !== true) levels.push({ topicKey })
      else for (const id of yield* membersOf(of, topicKey)) levels.push({ subscriberIds: [id] })
    } else {
      const ids = (given.subscriberIds ?? [given.subscriberId]).map(textIn).filter((id) => id !== '')
      levels.push({ subscriberIds: ids.slice(0, mostPeople) })
    }
  }
  const left = levels.length - mostLevels
  const warnings = left > 0 ? [detail('levels_left_out', { left, most: mostLevels })] : []
  return { levels: levels.slice(0, mostLevels), warnings }
}

function* membersOf({ run }: StepRun, topicKey: string): Progress<string[]> {
  const about = { environmentId: run.environment.id, topicKey, contextKeys: run.contextKeys }
  const { subscriberIds } = (yield { need: 'find topic members', ...about, most: mostMembers + 1 }) as FoundIds
  return subscriberIds ?? []
}

/** @param warnings for the log */
function* peopleAt(of: StepRun, kept: KeptQuestion, warnings: Detail[]): Progress<AskedPerson[]> {
  const found = kept.levels[kept.level]
  if (!found) return []
  const ids = yield* idsAt(of, found)
  if (ids.length > mostMembers) warnings.push(detail('members_left_out', { most: mostMembers }))
  const isAsked = (id: string) => kept.asked.some((each) => each.subscriberId === id && each.round === kept.round)
  return yield* peopleOf(of, [...new Set(ids)].filter((id) => !isAsked(id)).slice(0, mostMembers))
}

function* idsAt(of: StepRun, found: Level): Progress<string[]> {
  if ('subscriberIds' in found) return found.subscriberIds
  if ('topicKey' in found) return yield* membersOf(of, found.topicKey)
  const asked = { environmentId: of.run.environment.id, rotaId: found.rota, at: of.now }
  const { subscriberIds } = (yield { need: 'find on duty', ...asked }) as FoundIds
  return subscriberIds ?? []
}

function* peopleOf({ run }: StepRun, subscriberIds: string[]): Progress<AskedPerson[]> {
  if (subscriberIds.length === 0) return []
  const { people } = (yield { need: 'find people', environmentId: run.environment.id, subscriberIds }) as FoundPeople
  const byId = new Map(people.map((person) => [person.subscriber.subscriber_id, person]))
  return subscriberIds.flatMap((id) => byId.get(id) ?? [])
}

/** The next level, or the first of the next round. @returns whether there is one */
function nextLevel(kept: KeptQuestion): boolean {
  if (kept.level + 1 < kept.levels.length) {
    kept.level += 1
    return true
  }
  if (kept.round >= kept.rounds) return false
  kept.round += 1
  kept.level = 0
  return true
}

interface Said extends Partial<Pick<Asking, 'copies' | 'reminds'>>, Pick<Asking, 'told'> {
  details: Detail[]
  texts?: QuestionRecord['texts']
}

const escalated = ({ level: at, round }: KeptQuestion): Said => ({
  details: [detail('question_escalated', { level: at, round })],
  told: ['question.escalated'],
})

/** Asks the people of this level, or of the next at which there is anybody. */
function* reachOut(of: StepRun, kept: KeptQuestion, said: Said): Progress<StepOutcome> {
  const warnings: Detail[] = []
  let people = yield* peopleAt(of, kept, warnings)
  while (people.length === 0 && nextLevel(kept)) people = yield* peopleAt(of, kept, warnings)
  if (people.length === 0 && kept.asked.length === 0) return nobody(kept, said)
  const hasNext = kept.level + 1 < kept.levels.length || kept.round < kept.rounds
  kept.levelEndsAt =
    people.length > 0 && hasNext && kept.patienceMs !== null
      ? new Date(of.now.getTime() + kept.patienceMs).toISOString()
      : null
  const at = of.now.toISOString()
  const copies = [...(said.copies ?? [])]
  const reminds = [...(said.reminds ?? [])]
  for (const person of people) {
    const { subscriber_id: subscriberId } = person.subscriber
    kept.asked.push({ subscriberId, level: kept.level, round: kept.round, at, remindedAt: [] })
    // To be asked again is like a reminder.
    const hasInApp = hasSentInApp(of, subscriberId)
    if (hasInApp) reminds.push(subscriberId)
    copies.push(...copiesFor(of, kept, person, { reminder: 0, withoutInApp: hasInApp }))
  }
  return waiting(kept, { ...said, copies, reminds, details: [...said.details, ...warnings, ...leftOut(kept)] })
}

const leftOut = ({ copies }: KeptQuestion): Detail[] =>
  copies > mostCopies ? [detail('copies_left_out', { most: mostCopies })] : []

const hasSentInApp = ({ copies = [] }: StepRun, id: string): boolean =>
  copies.some(({ subscriberId, channel, state }) => subscriberId === id && channel === 'in_app' && state === 'sent')

function copiesFor(
  { values }: StepRun,
  kept: KeptQuestion,
  person: AskedPerson,
  { reminder, withoutInApp }: { reminder: number; withoutInApp: boolean },
): NewCopy[] {
  const channels = (Array.isArray(values.channels) ? values.channels : ['in_app', 'email']) as AskChannel[]
  const wanted = [...new Set(channels)].filter((channel) => channel !== 'in_app' || !withoutInApp)
  kept.copies += wanted.length
  if (kept.copies > mostCopies) return []
  return wanted.map((channel) => ({ person, channel, level: kept.level, round: kept.round, reminder }))
}

/** Who was asked and reached, and whose time for a reminder has come. */
function* remind(of: StepRun, kept: KeptQuestion): Progress<Pick<Said, 'copies' | 'reminds'>> {
  const due = remindable(kept).filter((entry) => nextReminder(kept, entry) <= of.now.getTime())
  const reached = due.filter(({ subscriberId }) =>
    of.copies?.some((copy) => copy.subscriberId === subscriberId && copy.state !== 'held'),
  )
  const people = yield* peopleOf(
    of,
    reached.map(({ subscriberId }) => subscriberId),
  )
  // Of several that are overdue one is sent.
  if (due.length > 0) kept.remindedUntil = of.now.toISOString()
  const copies = people.flatMap((person) => {
    const entry = reached.find(({ subscriberId }) => subscriberId === person.subscriber.subscriber_id)
    if (!entry) return []
    entry.remindedAt.push(of.now.toISOString())
    const { level: at, round, remindedAt } = entry
    const made = copiesFor(of, kept, person, { reminder: remindedAt.length, withoutInApp: true })
    return made.map((copy) => ({ ...copy, level: at, round }))
  })
  return { copies, reminds: people.map(({ subscriber }) => subscriber.subscriber_id) }
}

/** The last time each was asked. */
const remindable = ({ asked }: KeptQuestion): AskedEntry[] => [
  ...new Map(asked.map((entry) => [entry.subscriberId, entry])).values(),
]

function nextReminder({ reminders, remindedUntil }: KeptQuestion, { at, remindedAt }: AskedEntry): number {
  const seenTo = Math.max(...[at, remindedUntil, remindedAt.at(-1)].map((time) => (time ? Date.parse(time) : 0)))
  const times = reminders.map((afterMs) => Date.parse(at) + afterMs)
  return times.find((time) => time > seenTo) ?? Number.POSITIVE_INFINITY
}

/** Until the next level, reminder or the deadline. */
function waiting(kept: KeptQuestion, { details, copies = [], reminds = [], told, texts }: Said): StepOutcome {
  const next = Math.min(
    Date.parse(kept.deadline),
    kept.levelEndsAt === null ? Number.POSITIVE_INFINITY : Date.parse(kept.levelEndsAt),
    ...remindable(kept).map((entry) => nextReminder(kept, entry)),
  )
  const question = { ...recordOf(kept, 'open'), ...(texts ? { texts } : {}) }
  return {
    kind: 'wait',
    until: new Date(next),
    details,
    delivery: { ...kept },
    asking: { question, copies, reminds, told },
  }
}

const recordOf = (kept: KeptQuestion, state: QuestionRecord['state'], given?: GivenAnswer): QuestionRecord => ({
  ...{ id: kept.questionId, state, answer: given?.answer ?? null, label: given?.label ?? null },
  ...{ text: given?.text ?? null, answeredBy: given?.by ?? null },
  ...{ level: kept.level, round: kept.round, asked: kept.asked, deadline: kept.deadline },
})

const closed = (
  kept: KeptQuestion,
  state: QuestionRecord['state'],
  given: GivenAnswer | undefined,
  told: Asking['told'],
): Asking => ({ question: recordOf(kept, state, given), copies: [], reminds: [], told })

const unanswered = { answer: null, text: null, answeredBy: null, level: null }

const expired = (kept: KeptQuestion, isEarly: boolean): StepOutcome => ({
  kind: 'done',
  output: { outcome: 'timeout', ...unanswered, questionId: kept.questionId },
  details: [detail('question_expired', isEarly ? { isEarly } : undefined)],
  asking: closed(kept, 'expired', undefined, ['question.expired']),
})

/** No copy could be sent to anybody. */
function nobody(kept: KeptQuestion, { details, told, texts }: Said = { details: [], told: [] }): StepOutcome {
  const asking = closed(kept, 'expired', undefined, [...told, 'question.expired'])
  return {
    kind: 'skip',
    reason: 'nobody_to_ask',
    output: { outcome: 'nobody', ...unanswered, questionId: kept.questionId },
    details: [...details, detail('nobody_to_ask')],
    asking: { ...asking, question: { ...asking.question, ...(texts ? { texts } : {}) } },
  }
}

const invalid = (error: string): StepOutcome & { kind: 'fail' } => ({
  kind: 'fail',
  reason: 'invalid_settings',
  error,
  stops: true,
  details: [detail('question_invalid', { error })],
})
