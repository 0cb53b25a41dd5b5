// What steps and goals wait for: entries that name events or what becomes of messages, and which of them something matches.
import { RenderError } from '../../render/limits.ts'
import { situation } from '../../render/liquid.ts'
import { type ControlValues, objectSchema, openObject } from '../contract/kind.ts'
import {
  type Awaited,
  type EventVariables,
  type FoundEvents,
  type FoundMessages,
  type Happening,
  type HeardEvent,
  happenings,
  type MessageFacts,
  type Progress,
} from '../contract/need.ts'
import { type Detail, detail } from '../contract/outcome.ts'
import { ruleIn, type StepRun, textOf, variablesOf } from '../contract/step-run.ts'

const mostEntries = 10
const longestKey = 255

const eventEntry = objectSchema(
  {
    event: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$', not: { pattern: '^message\\.' } },
    key: { type: 'string', minLength: 1 },
    condition: openObject,
  },
  ['event'],
)
const messageEntry = objectSchema(
  {
    message: { type: 'string', minLength: 1 },
    happens: { type: 'array', minItems: 1, items: { type: 'string', enum: [...happenings] } },
  },
  ['message', 'happens'],
)
/** The schema of the entries. */
export const entriesSchema = {
  type: 'array',
  minItems: 1,
  maxItems: mostEntries,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  items: { type: 'object', if: { required: ['message'] }, then: messageEntry, else: eventEntry },
}

export interface Entry {
  event?: string
  key?: string
  condition?: unknown
  message?: string
  happens?: Happening[]
}

export const entriesIn = (given: unknown): Entry[] =>
  (Array.isArray(given) ? given : []).map((each: unknown) =>
    typeof each === 'object' && each !== null ? (each as Entry) : {},
  )

/** What conditions on events read under `event`. */
export const eventVariables = objectSchema({
  id: { type: 'string' },
  name: { type: 'string' },
  key: { type: 'string' },
  subscriberId: { type: 'string' },
  payload: openObject,
  createdAt: { type: 'string' },
})

/** Entries that wait in a run. */
export interface Watch {
  of: StepRun
  entries: Entry[]
  /** As this run has them, by entry; null without one. */
  keys: ReadonlyArray<string | null>
  /** What happened before does not count. */
  since: string
  deadline: string
  /** Whether an event has been used. */
  isUsed(event: EventVariables): boolean
  /** What is asked of everything that an entry takes. */
  also?(event: Match['event'], warnings: Detail[]): boolean
}

/** What may match. */
type Candidate = { at: string } & ({ heard: HeardEvent } | { message: MessageFacts; happened: Happening })

/** The oldest that an entry takes. */
export interface Match {
  /** Index of the entry. */
  matched: number
  event: Record<string, unknown> & { name: string }
  /** The id we gave a posted event. */
  heard?: string
}

export interface Matched {
  match: Match | undefined
  /** For the log, once each. */
  warnings: Detail[]
}

interface Look extends Matched {
  /** Whether anything that is waited for can happen at all. */
  isPossible: boolean
}

/** The keys of the entries, rendered. */
export function keysOf(of: StepRun, entries: Entry[]): Array<string | null> | { problem: string } {
  if (entries.length === 0) return { problem: 'There is nothing to wait for' }
  const keys: Array<string | null> = []
  for (const { event, key, message } of entries) {
    if (event === undefined && message === undefined)
      return { problem: 'An entry names neither an event nor a message' }
    const value = event === undefined || key === undefined ? null : textOf(of, key).trim()
    if (value === '') return { problem: `The key of the event "${event}" is empty` }
    if (value !== null && value.length > longestKey) return { problem: `The key of the event "${event}" is too long` }
    keys.push(value)
  }
  return keys
}

export function awaitedBy({ of, entries, keys }: Pick<Watch, 'of' | 'entries' | 'keys'>): Awaited[] {
  return entries.map(({ event, message }, index): Awaited => {
    const key = keys[index] ?? null
    if (event === undefined) return { kind: 'message', name: '', value: message ?? '' }
    return key === null
      ? { kind: 'subscriber', name: event, value: of.run.subscriber.subscriber_id }
      : { kind: 'key', name: event, value: key }
  })
}

/** Asks for everything so far. */
export function* look(watch: Watch): Progress<Look> {
  const { of, since, deadline } = watch
  const awaited = awaitedBy(watch)
  const stepIds = awaited.filter(({ kind }) => kind === 'message').map(({ value }) => value)
  const messages = stepIds.length === 0 ? [] : yield* messagesOf(of, stepIds)
  const facts = factsIn(watch, messages)
  const events = awaited.filter(({ kind }) => kind !== 'message')
  if (events.length === 0) return { ...match(watch, facts), isPossible: messages.length > 0 }
  const warnings: Detail[] = []
  let after: HeardEvent | undefined
  for (;;) {
    const { heard, isMore } = (yield {
      ...{ need: 'find events', environmentId: of.run.environment.id, isHeld: of.run.environment.clock !== undefined },
      ...{ subscriberId: of.run.subscriber.subscriber_id, entries: events, after },
      ...{ since: new Date(since), until: new Date(deadline) },
    }) as FoundEvents
    after = heard.at(-1)
    const latest = isMore ? after?.event.createdAt : undefined
    // Facts have their turn among the events.
    const now = [...heard.map((each): Candidate => ({ at: each.event.createdAt, heard: each })), ...facts]
      .filter(({ at }) => latest === undefined || at <= latest)
      .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    const found = match(watch, now)
    warnings.push(...found.warnings)
    if (found.match || !isMore) return { match: found.match, warnings, isPossible: true }
  }
}

/** Whether the entries take an event that has just been posted. */
export function take(watch: Watch, heard: HeardEvent): Matched {
  const { createdAt: at } = heard.event
  if (at > watch.deadline || at < watch.since) return { match: undefined, warnings: [] }
  return match(watch, [{ at, heard }])
}

function* messagesOf({ run }: StepRun, stepIds: string[]): Progress<MessageFacts[]> {
  const asked = { environmentId: run.environment.id, transactionId: run.transactionId, notificationId: run.id }
  const { messages } = (yield { need: 'find messages', ...asked, stepIds }) as FoundMessages
  return messages
}

/** What has happened to messages before the deadline, oldest first. It counts since whenever it is so. */
function factsIn({ of, entries, deadline }: Watch, messages: MessageFacts[]): Candidate[] {
  return messages
    .flatMap((message) =>
      Object.entries(message.facts).map(
        ([happened, at]): Candidate => ({
          ...{ message, happened: happened as Happening },
          // A provider's clock may be ahead of ours.
          at: new Date(Math.min(at.getTime(), of.now.getTime())).toISOString(),
        }),
      ),
    )
    .filter((each) => each.at <= deadline && entries.some((entry) => 'message' in each && isAbout(entry, each)))
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
}

const isAbout = ({ message, happens }: Entry, fact: Extract<Candidate, { message: MessageFacts }>): boolean =>
  message === fact.message.stepId && Array.isArray(happens) && happens.includes(fact.happened)

/** The oldest that an entry takes; of one the first entry. */
function match(watch: Watch, candidates: Candidate[]): Matched {
  const warnings: Detail[] = []
  for (const each of candidates) {
    if ('heard' in each && watch.isUsed(each.heard.event)) continue
    const matched = watch.entries.findIndex((entry, index) =>
      'heard' in each ? takes(watch, entry, { index, warnings }, each.heard.event) : isAbout(entry, each),
    )
    if (matched === -1) continue
    const event = 'heard' in each ? { ...each.heard.event } : shownFact(each)
    if (watch.also && !watch.also(event, warnings)) continue
    return { match: { matched, event, ...('heard' in each ? { heard: each.heard.rowId } : {}) }, warnings }
  }
  return { match: undefined, warnings }
}

const shownFact = ({ message, happened, at }: Extract<Candidate, { message: MessageFacts }>) => ({
  name: `message.${happened}`,
  messageId: message.id,
  channel: message.channel,
  createdAt: at,
})

function takes(
  { of, keys }: Watch,
  { event: name, condition }: Entry,
  { index, warnings }: { index: number; warnings: Detail[] },
  event: EventVariables,
): boolean {
  const key = keys[index] ?? null
  const { subscriber_id } = of.run.subscriber
  if (event.name !== name || (event.subscriberId !== null && event.subscriberId !== subscriber_id)) return false
  if (key === null ? event.subscriberId === null : event.key !== key) return false
  if (condition === undefined || condition === null) return true
  const asked = holds(condition, { ...variablesOf(of.run), event }, of.now)
  if (typeof asked === 'boolean') return asked
  warnings.push(detail('event_condition_failed', { entry: index, error: asked.error }))
  return false
}

/** Whether a condition holds; or why it cannot be evaluated. */
export function holds(condition: unknown, data: ControlValues, now: Date): boolean | { error: string } {
  try {
    const result = ruleIn(condition, situation(data, now))
    return 'error' in result ? { error: result.error.message } : result.holds
  } catch (error) {
    // A value of the condition may be a template.
    if (error instanceof RenderError) return { error: error.message }
    throw error
  }
}
