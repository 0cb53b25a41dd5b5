// The step that asks people: it puts a question to the subscriber of the run or to a chain of others, level by level, and waits
// for the first answer. What it sends are copies, steps of their channel beside this one (ask-copies.ts).
import { usualAskChannels } from '../../db/core/preference-choices.ts'
import type { AskedEntry } from '../../db/core/tables.ts'
import { numberIn, objectSchema, pickFilled, type StepKind, withoutNulls } from '../contract/kind.ts'
import type { FoundIds, FoundMembers, FoundPeople, Progress } from '../contract/need.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import {
  type AskChannel,
  type AskedPerson,
  type Asking,
  type CopyState,
  type GivenAnswer,
  mostCopies,
  type NewCopy,
  type QuestionRecord,
} from '../contract/question.ts'
import { type StepRun, textOf } from '../contract/step-run.ts'
import { questionTexts } from './ask-copies.ts'
import {
  type GivenLevel,
  hasSeveral,
  mostLevels,
  mostPeople,
  settingsIn,
  simple,
  withPatience,
} from './ask-settings.ts'
import { wallTime } from './duration.ts'

/** Members of a topic who are asked, and people who are reminded, in one transaction. */
const pageSize = 500

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
  /** While the topic of this level is walked: the subscription of the last member who was asked. */
  walkedTo?: string | null
  /** When the next level is reached; null if none is left. */
  levelEndsAt: string | null
  asked: AskedEntry[]
  /** Reminders that were due until then have been seen to. */
  remindedUntil?: string
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
      ...{ questionId: run.newId(now), levels, level: 0, round: 1, levelEndsAt: null, asked: [] },
    }
    const until = wallTime(new Date(kept.deadline), run.subscriber.timezone)
    const line = detail('question_asked', { questionId: kept.questionId, untilDate: until })
    return yield* reachOut(of, kept, { details: [line, ...warnings], told: ['question.asked'], texts })
  },

  *wake(of, isEarly): Progress<StepOutcome> {
    const kept = keptIn(of)
    if (isEarly || of.now.toISOString() >= kept.deadline) return expired(kept, isEarly)
    const reminded = yield* remind(of, kept)
    if (isWalking(kept)) return yield* walkOn(of, kept, { details: [], told: [], ...reminded })
    if (kept.levelEndsAt !== null && kept.levelEndsAt <= of.now.toISOString() && nextLevel(kept))
      return yield* reachOut(of, kept, { ...escalated(kept), ...reminded })
    return waiting(of, kept, { details: [], told: [], ...reminded })
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
    // There may be others.
    if (isWalking(kept)) return undefined
    const copies = of.copies ?? []
    const live = copies.filter(({ state }) => state === 'underway' || state === 'sent')
    const reached = new Set(live.map(({ subscriberId, round }) => `${round} ${subscriberId}`))
    const inInbox = new Set(live.filter(isSentInApp).map(({ subscriberId }) => subscriberId))
    const isReached = ({ subscriberId, level: at, round }: AskedEntry) =>
      at === kept.level &&
      round === kept.round &&
      (reached.has(`${round} ${subscriberId}`) || inInbox.has(subscriberId))
    if (kept.asked.some(isReached)) return undefined
    if (nextLevel(kept)) return yield* reachOut(of, kept, escalated(kept))
    if (copies.every(({ state }) => state === 'held')) return nobody(kept)
    if (kept.levelEndsAt === null) return undefined
    return waiting(of, { ...kept, levelEndsAt: null }, { details: [], told: [] })
  },

  dataSchema: simple,
  variantSchema: (values) => (hasSeveral(values.chain) ? withPatience : simple),
  missingTexts: { patience: 'Patience is required with more than one level' },

  normalise(values) {
    const given = withoutNulls(values)
    const [count, rounds] = [numberIn(given.amount), numberIn(given.rounds)]
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

/** For those who need no more of it. */
export const questionIdIn = ({ delivery }: StepRun['job']): string => String(delivery?.questionId)

export const keptIn = ({ job }: Pick<StepRun, 'job'>): KeptQuestion => {
  const kept = job.delivery as unknown as KeptQuestion
  return { ...kept, asked: kept.asked.map((entry) => ({ ...entry })) }
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
      else {
        const { members } = yield* membersOf(of, topicKey, { after: '', most: mostInOrder })
        for (const id of new Set(members)) levels.push({ subscriberIds: [id] })
      }
    } else {
      const ids = (given.subscriberIds ?? [given.subscriberId]).map(textIn).filter((id) => id !== '')
      levels.push({ subscriberIds: ids.slice(0, mostPeople) })
    }
  }
  const left = levels.length - mostLevels
  const warnings = left > 0 ? [detail('levels_left_out', { left, most: mostLevels })] : []
  return { levels: levels.slice(0, mostLevels), warnings }
}

/** Enough to tell how many levels are left out. */
const mostInOrder = 1_000

function* membersOf({ run }: StepRun, topicKey: string, page: { after: string; most: number }): Progress<FoundMembers> {
  const about = { environmentId: run.environment.id, topicKey, contextKeys: run.contextKeys }
  return (yield { need: 'find topic members', ...about, ...page }) as FoundMembers
}

/** Those of this level who were not asked in this round; of a topic a page of them. */
function* peopleAt(of: StepRun, kept: KeptQuestion): Progress<AskedPerson[]> {
  const found = kept.levels[kept.level]
  if (!found) return []
  const ids = yield* idsAt(of, found, kept)
  const isNow = ({ round }: AskedEntry) => round === kept.round
  const known = new Set(kept.asked.filter(isNow).map(({ subscriberId }) => subscriberId))
  return yield* peopleOf(
    of,
    [...new Set(ids)].filter((id) => !known.has(id)),
  )
}

function* idsAt(of: StepRun, found: Level, kept: KeptQuestion): Progress<string[]> {
  if ('subscriberIds' in found) return found.subscriberIds
  if ('topicKey' in found) {
    const page = { after: kept.walkedTo ?? '', most: pageSize }
    const { members, after } = yield* membersOf(of, found.topicKey, page)
    kept.walkedTo = after
    return members
  }
  const asked = { environmentId: of.run.environment.id, rotaId: found.rota, at: of.now }
  const { subscriberIds } = (yield { need: 'find on duty', ...asked }) as FoundIds
  return subscriberIds ?? []
}

const isWalking = ({ walkedTo = null }: KeptQuestion): boolean => walkedTo !== null

function* peopleOf({ run }: StepRun, subscriberIds: string[]): Progress<AskedPerson[]> {
  if (subscriberIds.length === 0) return []
  const { people } = (yield { need: 'find people', environmentId: run.environment.id, subscriberIds }) as FoundPeople
  const byId = new Map(people.map((person) => [person.subscriber.subscriber_id, person]))
  return subscriberIds.flatMap((id) => byId.get(id) ?? [])
}

/** The next level, or the first of the next round. @returns whether there is one */
function nextLevel(kept: KeptQuestion): boolean {
  kept.walkedTo = null
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
  let people = yield* peopleAt(of, kept)
  while (people.length === 0 && (isWalking(kept) || nextLevel(kept))) people = yield* peopleAt(of, kept)
  if (people.length === 0 && kept.asked.length === 0) return nobody(kept, said)
  const hasNext = kept.level + 1 < kept.levels.length || kept.round < kept.rounds
  kept.levelEndsAt =
    people.length > 0 && hasNext && kept.patienceMs !== null
      ? new Date(of.now.getTime() + kept.patienceMs).toISOString()
      : null
  return putTo(of, kept, people, said)
}

/** Asks the next members of the topic. The level has begun with the first. */
function* walkOn(of: StepRun, kept: KeptQuestion, said: Said): Progress<StepOutcome> {
  let people: AskedPerson[] = []
  while (people.length === 0 && isWalking(kept)) people = yield* peopleAt(of, kept)
  return putTo(of, kept, people, said)
}

function putTo(of: StepRun, kept: KeptQuestion, people: AskedPerson[], said: Said): StepOutcome {
  const at = of.now.toISOString()
  const now = new Set(people.map(({ subscriber }) => subscriber.subscriber_id))
  // Who is asked again is not reminded at the same moment.
  const copies = (said.copies ?? []).filter(({ person }) => !now.has(person.subscriber.subscriber_id))
  for (const { subscriberId, remindedAt } of kept.asked)
    if (now.has(subscriberId) && remindedAt.at(-1) === at) remindedAt.pop()
  const reminds = [...(said.reminds ?? [])]
  const inInbox = new Set((of.copies ?? []).filter(isSentInApp).map(({ subscriberId }) => subscriberId))
  for (const person of people) {
    const { subscriber_id: subscriberId } = person.subscriber
    // To be asked again is like a reminder.
    const hasInApp = inInbox.has(subscriberId)
    const own = copiesFor(of, kept, person, { reminder: 0, withoutInApp: hasInApp })
    if (!fits(of, copies, own)) {
      kept.walkedTo = null
      return waiting(of, kept, { ...said, copies, reminds, details: [...said.details, leftOut] })
    }
    kept.asked.push({ subscriberId, level: kept.level, round: kept.round, at, remindedAt: [] })
    if (hasInApp) reminds.push(subscriberId)
    copies.push(...own)
  }
  return waiting(of, kept, { ...said, copies, reminds })
}

const leftOut = detail('copies_left_out', { most: mostCopies })

const isSentInApp = ({ channel, state }: CopyState): boolean => channel === 'in_app' && state === 'sent'

/** Whether the run can have them, too. */
const fits = ({ room = mostCopies }: StepRun, made: NewCopy[], more: NewCopy[]): boolean =>
  made.length + more.length <= room

function copiesFor(
  { values }: StepRun,
  kept: KeptQuestion,
  person: AskedPerson,
  { reminder, withoutInApp }: { reminder: number; withoutInApp: boolean },
): NewCopy[] {
  const channels = (Array.isArray(values.channels) ? values.channels : usualAskChannels) as AskChannel[]
  const wanted = [...new Set(channels)].filter((channel) => channel !== 'in_app' || !withoutInApp)
  return wanted.map((channel) => ({ person, channel, level: kept.level, round: kept.round, reminder }))
}

/** Who was asked and reached, and whose time for a reminder has come: a page of them. */
function* remind(of: StepRun, kept: KeptQuestion): Progress<Pick<Said, 'copies' | 'reminds'>> {
  const due = remindable(kept).filter((entry) => nextReminder(kept, entry) <= of.now.getTime())
  if (due.length === 0) return {}
  const got = new Set((of.copies ?? []).flatMap(({ subscriberId, state }) => (state === 'held' ? [] : [subscriberId])))
  const reached = due.filter(({ subscriberId }) => got.has(subscriberId))
  const some = new Map(reached.slice(0, pageSize).map((entry) => [entry.subscriberId, entry]))
  const people = yield* peopleOf(of, [...some.keys()])
  const found = new Set(people.map(({ subscriber }) => subscriber.subscriber_id))
  const isLast = some.size === reached.length
  // Of several that are overdue one is sent.
  if (isLast) kept.remindedUntil = of.now.toISOString()
  // Of those that are left, nobody may come again, even who is gone.
  for (const entry of some.values())
    if (found.has(entry.subscriberId) || !isLast) entry.remindedAt.push(of.now.toISOString())
  const copies: NewCopy[] = []
  for (const person of people) {
    const entry = some.get(person.subscriber.subscriber_id)
    if (!entry) continue
    const { level: at, round, remindedAt } = entry
    const own = copiesFor(of, kept, person, { reminder: remindedAt.length, withoutInApp: true })
    if (fits(of, copies, own)) copies.push(...own.map((copy) => ({ ...copy, level: at, round })))
  }
  return { copies, reminds: [...found] }
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

/** Until the next level, reminder or the deadline; while a topic is walked, for a moment. */
function waiting(
  { now }: StepRun,
  kept: KeptQuestion,
  { details, copies = [], reminds = [], told, texts }: Said,
): StepOutcome {
  const times = kept.reminders.length === 0 ? [] : remindable(kept).map((entry) => nextReminder(kept, entry))
  const levelEndsAt = kept.levelEndsAt === null ? Number.POSITIVE_INFINITY : Date.parse(kept.levelEndsAt)
  const next = isWalking(kept)
    ? now.getTime()
    : times.reduce((first, time) => Math.min(first, time), Math.min(Date.parse(kept.deadline), levelEndsAt))
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
