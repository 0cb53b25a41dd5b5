// The step that waits for something to happen: the first of several events or facts about messages, or a timeout.
import { RenderError } from '../../render/limits.ts'
import { situation } from '../../render/liquid.ts'
import {
  type ControlValues,
  type Heard,
  objectSchema,
  openObject,
  pickFilled,
  type StepKind,
  skip,
  timeUnits,
  wholeNumber,
  withoutNulls,
} from '../contract/kind.ts'
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
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { ruleIn, type StepRun, textOf, variablesOf } from '../contract/step-run.ts'
import { untilOf } from './delay.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs, wallTime } from './duration.ts'

const mostEntries = 10
const longestKey = 255
const longestLookBackMs = 7 * 86_400_000

const amount = { type: 'number', minimum: 1 }
const unit = { type: 'string', enum: [...timeUnits] }
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
const entries = {
  type: 'array',
  minItems: 1,
  maxItems: mostEntries,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  items: { type: 'object', if: { required: ['message'] }, then: messageEntry, else: eventEntry },
}
const lookBack = {
  if: { type: 'object' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: objectSchema({ amount, unit }, ['amount', 'unit']),
  else: { const: false },
}
const [cron, dynamicKey] = [
  { type: 'string', minLength: 1 },
  { type: 'string', minLength: 1 },
]
const timeouts = {
  amount: objectSchema({ skip, for: entries, amount, unit, lookBack }, ['for', 'amount', 'unit']),
  cron: objectSchema({ skip, for: entries, cron, lookBack }, ['for', 'cron']),
  dynamicKey: objectSchema({ skip, for: entries, dynamicKey, lookBack }, ['for', 'dynamicKey']),
}

interface Entry {
  event?: string
  key?: string
  condition?: unknown
  message?: string
  happens?: Happening[]
}

/** What the step keeps while it waits. */
interface Kept {
  /** As this run has them, by entry; null without one. */
  keys: Array<string | null>
  since: string
  deadline: string
  beganAt: string
}

/** What may end the wait. */
type Candidate = { at: string } & ({ heard: HeardEvent } | { message: MessageFacts; happened: Happening })

const eventVariables = objectSchema({
  id: { type: 'string' },
  name: { type: 'string' },
  key: { type: 'string' },
  subscriberId: { type: 'string' },
  payload: openObject,
  createdAt: { type: 'string' },
})

export const waitForEvent: StepKind = {
  type: 'wait_for_event',
  isWait: true,
  emptyResult: { outcome: null, matched: null, event: null, deadline: null, waitedMs: 0 },

  *begin(of): Progress<StepOutcome> {
    const { now, run } = of
    const times = timesIn(of)
    if ('kind' in times) return times
    const keys = keysOf(of)
    if ('kind' in keys) return keys
    const kept: Kept = {
      keys,
      since: times.since.toISOString(),
      deadline: times.until.toISOString(),
      beganAt: now.toISOString(),
    }
    const found = yield* look(of, kept)
    if (found.outcome) return { ...found.outcome, details: [...found.warnings, ...found.outcome.details] }
    if (!found.isPossible) {
      const output = { outcome: 'nothing', matched: null, event: null, ...waitedIn(of, kept) }
      return { kind: 'skip', reason: 'nothing_to_wait_for', output, details: [detail('nothing_awaited')] }
    }
    const delay = times.until.getTime() - now.getTime()
    const awaited = detail('event_awaited', { delay, untilDate: wallTime(times.until, run.subscriber.timezone) })
    const details = [...found.warnings, awaited]
    return { kind: 'wait', until: times.until, details, delivery: { ...kept }, listens: awaitedBy(of, kept) }
  },

  /** Whatever happened before the deadline counts, however late we are. */
  *wake(of, isEarly): Progress<StepOutcome> {
    const kept = keptIn(of)
    const { outcome, warnings } = yield* look(of, kept)
    if (outcome) return { ...outcome, details: [...warnings, ...outcome.details] }
    const output = { outcome: 'timeout', matched: null, event: null, ...waitedIn(of, kept) }
    return { kind: 'done', output, details: [...warnings, detail('event_missed', isEarly ? { isEarly } : undefined)] }
  },

  *hear(of, heard): Progress<Heard> {
    const kept = keptIn(of)
    if (!heard) return yield* look(of, kept)
    const { createdAt: at } = heard.event
    if (at > kept.deadline || at < kept.since) return { outcome: undefined, warnings: [] }
    return match(of, kept, [{ at, heard }])
  },

  conditionsOf: (values) =>
    entriesIn(values).map((entry, index) => ({
      ...{ path: `for.${index}.condition`, rule: entry.condition, isRequired: false },
    })),
  conditionVariables: { event: eventVariables },
  messagesOf: (values) =>
    entriesIn(values).flatMap(({ message }, index) =>
      typeof message === 'string' && message !== '' ? [{ path: `for.${index}.message`, stepId: message }] : [],
    ),
  dataSchema: { anyOf: Object.values(timeouts) },
  variantSchema: (values) => timeouts[timeoutOf(values)],

  normalise(values) {
    const given = withoutNulls(values)
    const common = pickFilled(given, ['skip', 'for', 'lookBack'])
    const timeout = timeoutOf(given)
    if (timeout !== 'amount') return { ...common, ...pickFilled(given, [timeout]) }
    const count = wholeNumber(given.amount)
    return { ...common, ...(count === undefined ? {} : { amount: count }), ...pickFilled(given, ['unit']) }
  },

  waitOf: (values) => {
    if (values.cron) return { cron: values.cron }
    return values.amount === undefined ? undefined : { amount: values.amount, unit: values.unit }
  },
  resultSchema: () =>
    objectSchema(
      {
        outcome: { type: 'string', enum: ['event', 'timeout', 'nothing'] },
        matched: { type: ['integer', 'null'] },
        event: objectSchema({
          ...(eventVariables.properties as ControlValues & Record<string, object>),
          ...{ messageId: { type: 'string' }, channel: { type: 'string' } },
        }),
        deadline: { type: 'string' },
        waitedMs: { type: 'integer' },
      },
      ['outcome', 'matched', 'event', 'deadline', 'waitedMs'],
    ),
  preview: (values) => ({ for: entriesIn(values) }),
}

function timeoutOf(values: ControlValues): keyof typeof timeouts {
  if (values.cron) return 'cron'
  return values.dynamicKey ? 'dynamicKey' : 'amount'
}

const entriesIn = (values: ControlValues): Entry[] =>
  (Array.isArray(values.for) ? values.for : []).map((each: unknown) =>
    typeof each === 'object' && each !== null ? (each as Entry) : {},
  )

/** When the wait ends, and since when events count. */
function timesIn(of: StepRun): { until: Date; since: Date } | StepOutcome {
  const { now, run } = of
  try {
    // What a trigger says about delays does not concern this wait.
    const until = untilOf({ ...of, run: { ...run, event: { ...run.event, overrides: {} } } })
    const delay = until.getTime() - now.getTime()
    if (delay > longestWaitMs)
      return {
        ...invalid(`The wait is longer than ${longestWaitDays} days`),
        ...{ reason: 'over_limit', details: [detail('over_limit', { delay, limit: longestWaitMs })] },
      }
    return { until: delay < 0 ? now : until, since: sinceOf(of) }
  } catch (error) {
    if (error instanceof DurationInvalid) return invalid(error.message)
    throw error
  }
}

function sinceOf({ now, run, values }: StepRun): Date {
  if (values.lookBack === false) return now
  const { createdAt } = run.event
  if (typeof values.lookBack !== 'object' || values.lookBack === null) return createdAt
  const { amount: count, unit: of } = values.lookBack as ControlValues
  const ms = Math.min(durationMs(count, of), longestLookBackMs)
  return new Date(Math.min(createdAt.getTime(), now.getTime() - ms))
}

function keysOf(of: StepRun): Kept['keys'] | StepOutcome {
  const given = entriesIn(of.values)
  if (given.length === 0) return invalid('There is nothing to wait for')
  const keys: Kept['keys'] = []
  for (const { event, key, message } of given) {
    if (event === undefined && message === undefined) return invalid('An entry names neither an event nor a message')
    const value = event === undefined || key === undefined ? null : textOf(of, key).trim()
    if (value === '') return invalid(`The key of the event "${event}" is empty`)
    if (value !== null && value.length > longestKey) return invalid(`The key of the event "${event}" is too long`)
    keys.push(value)
  }
  return keys
}

function awaitedBy({ values, run }: StepRun, { keys }: Kept): Awaited[] {
  return entriesIn(values).map(({ event, message }, index): Awaited => {
    const key = keys[index] ?? null
    if (event === undefined) return { kind: 'message', name: '', value: message ?? '' }
    return key === null
      ? { kind: 'subscriber', name: event, value: run.subscriber.subscriber_id }
      : { kind: 'key', name: event, value: key }
  })
}

const keptIn = ({ job }: StepRun): Kept => job.delivery as unknown as Kept

interface Look extends Heard {
  /** Whether anything that it waits for can happen at all. */
  isPossible: boolean
}

/** Asks for everything so far. */
function* look(of: StepRun, kept: Kept): Progress<Look> {
  const awaited = awaitedBy(of, kept)
  const stepIds = awaited.filter(({ kind }) => kind === 'message').map(({ value }) => value)
  const messages = stepIds.length === 0 ? [] : yield* messagesOf(of, stepIds)
  const facts = factsIn(of, kept, messages)
  const events = awaited.filter(({ kind }) => kind !== 'message')
  if (events.length === 0) return { ...match(of, kept, facts), isPossible: messages.length > 0 }
  const warnings: Detail[] = []
  let after: HeardEvent | undefined
  for (;;) {
    const { heard, isMore } = (yield {
      ...{ need: 'find events', environmentId: of.run.environment.id, isHeld: of.run.environment.clock !== undefined },
      ...{ subscriberId: of.run.subscriber.subscriber_id, entries: events, after },
      ...{ since: new Date(kept.since), until: new Date(kept.deadline) },
    }) as FoundEvents
    after = heard.at(-1)
    const latest = isMore ? after?.event.createdAt : undefined
    // Facts have their turn among the events.
    const now = [...heard.map((each): Candidate => ({ at: each.event.createdAt, heard: each })), ...facts]
      .filter(({ at }) => latest === undefined || at <= latest)
      .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
    const found = match(of, kept, now)
    warnings.push(...found.warnings)
    if (found.outcome || !isMore) return { outcome: found.outcome, warnings, isPossible: true }
  }
}

function* messagesOf({ run }: StepRun, stepIds: string[]): Progress<MessageFacts[]> {
  const asked = { environmentId: run.environment.id, transactionId: run.transactionId, notificationId: run.id }
  const { messages } = (yield { need: 'find messages', ...asked, stepIds }) as FoundMessages
  return messages
}

/** What has happened to messages before the deadline, oldest first. It counts since whenever it is so. */
function factsIn({ values, now }: StepRun, { deadline }: Kept, messages: MessageFacts[]): Candidate[] {
  const given = entriesIn(values)
  return messages
    .flatMap((message) =>
      Object.entries(message.facts).map(
        ([happened, at]): Candidate => ({
          ...{ message, happened: happened as Happening },
          // A provider's clock may be ahead of ours.
          at: new Date(Math.min(at.getTime(), now.getTime())).toISOString(),
        }),
      ),
    )
    .filter((each) => each.at <= deadline && given.some((entry) => 'message' in each && isAbout(entry, each)))
    .sort((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))
}

const isAbout = ({ message, happens }: Entry, fact: Extract<Candidate, { message: MessageFacts }>): boolean =>
  message === fact.message.stepId && Array.isArray(happens) && happens.includes(fact.happened)

/** The oldest that an entry takes; of one the first entry. */
function match(of: StepRun, kept: Kept, candidates: Candidate[]): Heard {
  const warnings: Detail[] = []
  const given = entriesIn(of.values)
  for (const each of candidates) {
    if ('heard' in each && isUsed(of, each.heard.event)) continue
    const matched = given.findIndex((entry, index) =>
      'heard' in each
        ? takes(of, entry, { key: kept.keys[index] ?? null, index, warnings }, each.heard.event)
        : isAbout(entry, each),
    )
    if (matched === -1) continue
    const event = 'heard' in each ? each.heard.event : shownFact(each)
    const output = { outcome: 'event', matched, event, ...waitedIn(of, kept) }
    const line = detail('event_heard', { name: event.name, matched, ...('id' in event ? { id: event.id } : {}) })
    const heard = 'heard' in each ? { heard: each.heard.rowId } : {}
    return { outcome: { kind: 'done', output, details: [line], ...heard }, warnings }
  }
  return { outcome: undefined, warnings }
}

const shownFact = ({ message, happened, at }: Extract<Candidate, { message: MessageFacts }>) => ({
  name: `message.${happened}`,
  messageId: message.id,
  channel: message.channel,
  createdAt: at,
})

/** An event ends one wait of a run. */
const isUsed = ({ run }: StepRun, { id, createdAt }: EventVariables): boolean =>
  Object.values(run.results).some((result) => {
    const { event } = (result ?? {}) as { event?: Partial<EventVariables> | null }
    return event?.id === id && event.createdAt === createdAt
  })

function takes(
  of: StepRun,
  { event: name, condition }: Entry,
  { key, index, warnings }: { key: string | null; index: number; warnings: Detail[] },
  event: EventVariables,
): boolean {
  const { subscriber_id } = of.run.subscriber
  if (event.name !== name || (event.subscriberId !== null && event.subscriberId !== subscriber_id)) return false
  if (key === null ? event.subscriberId === null : event.key !== key) return false
  if (condition === undefined || condition === null) return true
  const known = situation({ ...variablesOf(of.run), event }, of.now)
  const failed = (error: string) => {
    warnings.push(detail('event_condition_failed', { entry: index, error }))
    return false
  }
  try {
    const result = ruleIn(condition, known)
    return 'error' in result ? failed(result.error.message) : result.holds
  } catch (error) {
    // A value of the condition may be a template.
    if (error instanceof RenderError) return failed(error.message)
    throw error
  }
}

const waitedIn = ({ now }: StepRun, { deadline, beganAt }: Kept) => ({
  deadline,
  waitedMs: now.getTime() - Date.parse(beganAt),
})

const invalid = (error: string): StepOutcome & { kind: 'fail' } => ({
  kind: 'fail',
  reason: 'invalid_settings',
  error,
  stops: true,
  details: [detail('wait_invalid', { error })],
})
