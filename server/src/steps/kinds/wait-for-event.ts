// The step that waits for something to happen: the first of several events or facts about messages, or a timeout.
import {
  type ControlValues,
  type Heard,
  numberIn,
  objectSchema,
  pickFilled,
  type StepKind,
  skip,
  timeUnits,
  unitSeconds,
  withoutNulls,
} from '../contract/kind.ts'
import type { EventVariables, Progress } from '../contract/need.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import {
  awaitedBy,
  entriesSchema as entries,
  entriesIn,
  eventVariables,
  keysOf,
  look,
  type Match,
  type Matched,
  take,
  type Watch,
} from './awaiting.ts'
import { untilOf } from './delay.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs, wallTime } from './duration.ts'

const longestLookBackDays = 7
const dayMs = 86_400_000
const longestLookBackMs = longestLookBackDays * dayMs

const amount = { type: 'number', minimum: 1 }
const unit = { type: 'string', enum: [...timeUnits] }
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

/** What the step keeps while it waits. */
interface Kept {
  /** As this run has them, by entry; null without one. */
  keys: Array<string | null>
  since: string
  deadline: string
  beganAt: string
}

export const waitForEvent: StepKind = {
  type: 'wait_for_event',
  isWait: true,
  emptyResult: { outcome: null, matched: null, event: null, deadline: null, waitedMs: 0 },

  *begin(of): Progress<StepOutcome> {
    const { now, run } = of
    const times = timesIn(of)
    if ('kind' in times) return times
    const keys = keysOf(of, entriesIn(of.values.for))
    if ('problem' in keys) return invalid(keys.problem)
    const kept: Kept = {
      keys,
      since: times.since.toISOString(),
      deadline: times.until.toISOString(),
      beganAt: now.toISOString(),
    }
    const watch = watchOf(of, kept)
    const found = yield* look(watch)
    if (found.match) return heardOutcome(of, kept, found.match, found.warnings)
    if (!found.isPossible) {
      const output = { outcome: 'nothing', matched: null, event: null, ...waitedIn(of, kept) }
      return { kind: 'skip', reason: 'nothing_to_wait_for', output, details: [detail('nothing_awaited')] }
    }
    const delay = times.until.getTime() - now.getTime()
    const awaited = detail('event_awaited', { delay, untilDate: wallTime(times.until, run.subscriber.timezone) })
    const details = [...found.warnings, awaited]
    return { kind: 'wait', until: times.until, details, delivery: { ...kept }, listens: awaitedBy(watch) }
  },

  /** Whatever happened before the deadline counts, however late we are. */
  *wake(of, isEarly): Progress<StepOutcome> {
    const kept = keptIn(of)
    const { match, warnings } = yield* look(watchOf(of, kept))
    if (match) return heardOutcome(of, kept, match, warnings)
    const output = { outcome: 'timeout', matched: null, event: null, ...waitedIn(of, kept) }
    return { kind: 'done', output, details: [...warnings, detail('event_missed', isEarly ? { isEarly } : undefined)] }
  },

  *hear(of, heard): Progress<Heard> {
    const kept = keptIn(of)
    const watch = watchOf(of, kept)
    const { match, warnings }: Matched = heard ? take(watch, heard) : yield* look(watch)
    return { outcome: match && heardOutcome(of, kept, match, []), warnings }
  },

  conditionsOf: (values) =>
    entriesIn(values.for).map((entry, index) => ({
      ...{ path: `for.${index}.condition`, rule: entry.condition, isRequired: false },
    })),
  conditionVariables: { event: eventVariables },
  messagesOf: (values) =>
    entriesIn(values.for).flatMap(({ message }, index) =>
      typeof message === 'string' && message !== '' ? [{ path: `for.${index}.message`, stepId: message }] : [],
    ),
  dataSchema: { anyOf: Object.values(timeouts) },
  variantSchema: (values) => timeouts[timeoutOf(values)],

  normalise(values) {
    const given = withoutNulls(values)
    const common = pickFilled(given, ['skip', 'for', 'lookBack'])
    const timeout = timeoutOf(given)
    if (timeout !== 'amount') return { ...common, ...pickFilled(given, [timeout]) }
    const count = numberIn(given.amount)
    return { ...common, ...(count === undefined ? {} : { amount: count }), ...pickFilled(given, ['unit']) }
  },

  issuesIn: ({ lookBack: given }) => {
    const { amount: count, unit: of } = (given || {}) as ControlValues
    const seconds = Number(count) * (unitSeconds[of as keyof typeof unitSeconds] ?? 0)
    if (!(seconds * 1000 > longestLookBackMs)) return []
    const message = `The maximum is ${longestLookBackDays} days`
    return ['amount', 'unit'].map((name) => ({
      ...{ path: `lookBack.${name}`, issueType: 'TIER_LIMIT_EXCEEDED' as const, message },
    }))
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
  preview: (values) => ({ for: entriesIn(values.for) }),
}

function timeoutOf(values: ControlValues): keyof typeof timeouts {
  if (values.cron) return 'cron'
  return values.dynamicKey ? 'dynamicKey' : 'amount'
}

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
  const { activityDays } = run.environment
  // Older events may be there still, as rows are dropped by the month; whether they are does not decide.
  const oldest = activityDays === 0 ? Number.NEGATIVE_INFINITY : now.getTime() - activityDays * dayMs
  return new Date(Math.max(wantedSince(now, run.event.createdAt, values.lookBack), oldest))
}

function wantedSince(now: Date, triggered: Date, lookBack: unknown): number {
  if (typeof lookBack !== 'object' || lookBack === null) return triggered.getTime()
  const { amount: count, unit: of } = lookBack as ControlValues
  const ms = Math.min(durationMs(count, of), longestLookBackMs)
  return Math.min(triggered.getTime(), now.getTime() - ms)
}

const keptIn = ({ job }: StepRun): Kept => job.delivery as unknown as Kept

const watchOf = (of: StepRun, { keys, since, deadline }: Kept): Watch => ({
  ...{ of, entries: entriesIn(of.values.for), keys, since, deadline },
  isUsed: (event) => isUsed(of, event),
})

function heardOutcome(of: StepRun, kept: Kept, { matched, event, heard }: Match, warnings: Detail[]): StepOutcome {
  const output = { outcome: 'event', matched, event, ...waitedIn(of, kept) }
  const line = detail('event_heard', { name: event.name, matched, ...('id' in event ? { id: event.id } : {}) })
  return { kind: 'done', output, details: [...warnings, line], ...(heard === undefined ? {} : { heard }) }
}

/** An event ends one wait of a run. */
const isUsed = ({ run }: StepRun, { id, createdAt }: EventVariables): boolean =>
  Object.values(run.results).some((result) => {
    const { event } = (result ?? {}) as { event?: Partial<EventVariables> | null }
    return event?.id === id && event.createdAt === createdAt
  })

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
