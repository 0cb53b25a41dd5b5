// The digest step: collects events for a while, then one run continues with all of them.

import { renderTemplate } from '../../render/liquid.ts'
import {
  type ControlValues,
  numberIn,
  objectSchema,
  openObject,
  pickFilled,
  type StepKind,
  skip,
  skipUi,
  timeUnits,
  unitSeconds,
  withoutNulls,
} from '../contract/kind.ts'
import {
  type BoundedWindow,
  type CollectedEvents,
  type DigestPlace,
  groupOf,
  groupValue,
  type StillOpen,
} from '../contract/need.ts'
import { detail, type Reason, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, situationOf, textOf } from '../contract/step-run.ts'
import type { JsonSchema } from '../json-schema/run.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs, nextTime, valueAt, wallTime } from './duration.ts'
import { nextRecurrence, type Recurrence } from './recurrence.ts'

const unit = { type: 'string', enum: [...timeUnits] }
const amount = { type: 'number', minimum: 1 }
const mostKept = 1_000
const mostFields = 20
const common = {
  skip,
  digestKey: { type: 'string' },
  extendToSchedule: { type: 'boolean', default: false },
  window: { type: 'string', enum: ['fixed'] },
  flushFirst: { type: 'boolean' },
  maxEvents: { type: 'integer', minimum: 2, maximum: mostKept },
  order: { type: 'string', enum: ['oldest', 'newest'] },
  keep: { type: 'integer', minimum: 1, maximum: mostKept },
  fields: { type: 'array', items: { type: 'string', minLength: 1, maxLength: 255 }, maxItems: mostFields },
} as const
/** What the settings above are called in values. */
const collecting = ['window', 'flushFirst', 'maxEvents', 'order', 'keep', 'fields'] as const
const period = objectSchema({ amount, unit }, ['amount', 'unit'])
const regular = {
  ...common,
  type: { type: 'string', const: 'regular' },
  ...{ amount, unit, lookBackWindow: period },
  window: { type: 'string', enum: ['fixed', 'sliding'] },
  maxWindow: period,
}
const variants = {
  regular: objectSchema(regular, ['amount', 'unit']),
  timed: objectSchema({ ...common, type: { type: 'string', const: 'timed' }, cron: { type: 'string', minLength: 1 } }, [
    'cron',
  ]),
}

/** The older form, from before cron expressions: an interval, on days and at a time. */
const recurring = objectSchema(
  {
    ...{ ...common, type: { type: 'string', const: 'timed' }, unit, timed: openObject },
    amount: { type: 'integer', minimum: 1 },
  },
  ['unit', 'timed'],
)

const noKey = 'No-Key-Provided'
const noValue = 'No-Value-Provided'

export const digest: StepKind = {
  type: 'digest',
  isWait: true,
  isShared: true,
  isExtendable: true,
  emptyResult: { eventCount: 0, events: [] },

  *begin(of) {
    const { now, run, values } = of
    try {
      const until = untilOf(of)
      const delay = until.getTime() - now.getTime()
      if (delay > longestWaitMs) return failed('over_limit', 'over_limit', { delay, limit: longestWaitMs })
      const digest = settingsOf(of, until)
      const lookBack = values.lookBackWindow as ControlValues | undefined
      const lookBackMs = lookBack && durationMs(lookBack.amount, lookBack.unit)
      const need = {
        need: 'join digest',
        group: groupOf(of, digest.digestValue),
        notificationId: run.id,
        lookBackMs,
        bounded: boundsOf(of, until),
      } as const
      const found = (yield need) as DigestPlace
      switch (found.place) {
        case 'merged': {
          const details = [detail('digest_merged', { digestedInto: found.into })]
          return {
            kind: 'stop',
            status: 'merged',
            reason: 'merged_into_digest',
            mergedInto: found.into,
            digest,
            details,
            ...(found.endsAt === undefined ? {} : { wakes: { runId: found.into, position: found.endsAt } }),
          }
        }
        case 'first':
          return {
            kind: 'skip',
            reason: 'first_of_digest',
            digest,
            details: [detail('digest_first')],
            output: collected({ ...of, job: { ...of.job, digest } }, [], 0),
          }
        case 'main': {
          const end = found.until ?? until
          const raw = { delay: end.getTime() - now.getTime(), untilDate: wallTime(end, run.subscriber.timezone) }
          return { kind: 'wait', until: end, digest, details: [detail('digested', raw)] }
        }
      }
    } catch (error) {
      if (!(error instanceof DurationInvalid)) throw error
      const text = error.part ? `Invalid digest ${error.part}` : error.message
      return failed('invalid_settings', 'digest_invalid', { error: error.message }, text)
    }
  },

  *wake(of, isEarly) {
    const { run, job } = of
    const group = groupOf(of, String(job.digest?.digestValue ?? noValue))
    const newestFirst = job.digest?.order === 'newest'
    const need = { need: 'close digest', group, notificationId: run.id, isEarly, newestFirst } as const
    const found = (yield need) as CollectedEvents | StillOpen
    // Not logged: an end can move a thousand times.
    if ('until' in found) return { kind: 'wait', until: found.until, details: [] }
    const { events, left } = found
    const output = collected(of, events, left)
    const withFiles = events.filter(({ payload }) => hasFiles(payload)).length
    const files = withFiles === 0 ? [] : [detail('digest_files_left', { events: withFiles })]
    return { kind: 'done', output, details: [detail('digest_fired', output.events), ...files] }
  },

  dataSchema: { anyOf: Object.values(variants) },
  uiSchema: {
    group: 'DIGEST',
    properties: {
      ...skipUi,
      amount: { component: 'DIGEST_AMOUNT', placeholder: '' },
      unit: { component: 'DIGEST_UNIT', placeholder: 'seconds' },
      digestKey: { component: 'DIGEST_KEY', placeholder: '' },
      cron: { component: 'DIGEST_CRON', placeholder: '' },
      type: { component: 'DIGEST_TYPE', placeholder: 'regular' },
      extendToSchedule: { component: 'EXTEND_TO_SCHEDULE', placeholder: false },
    },
  },

  normalise(values) {
    const given = withoutNulls(values)
    const kept = pickFilled(given, ['skip', 'type', 'digestKey', 'extendToSchedule', ...collecting])
    if (given.cron) return { ...kept, type: 'timed', cron: given.cron }
    if (isRecurring(given)) return { ...kept, ...duration(given), timed: given.timed }
    const window = lookBackIn(given)
    // The type only says that there is a look-back.
    if (kept.type === 'backoff') delete kept.type
    return {
      ...kept,
      ...duration(given),
      ...(window ? { lookBackWindow: duration(window) } : {}),
      ...(given.maxWindow ? { maxWindow: duration(given.maxWindow as ControlValues) } : {}),
    }
  },

  variantSchema(values) {
    if (isRecurring(values)) return recurring
    return values.cron || values.type === 'timed' ? variants.timed : regularSchema(values)
  },
  waitOf: ({ amount, unit, cron }) => (cron ? { cron } : amount === undefined ? undefined : { amount, unit }),

  exampleResult(given, payload, now) {
    const example = ['1', '2', '3'].map((id) => ({ id, time: now.toISOString(), payload }))
    const events = Array.isArray(given.events) ? given.events : example
    return { ...given, eventCount: events.length, events }
  },

  resultSchema(_values, payloadSchema) {
    const payload = { ...(payloadSchema ?? { type: 'object' }), additionalProperties: true }
    const event = objectSchema({ id: { type: 'string' }, time: { type: 'string' }, payload }, ['id', 'time', 'payload'])
    return objectSchema(
      {
        eventCount: { type: 'number' },
        events: { type: 'array', items: event, properties: { length: { type: 'number' } } },
      },
      ['eventCount', 'events'],
    )
  },
}

function untilOf(of: StepRun): Date {
  const { now, run, values } = of
  if (values.cron !== undefined) return nextTime(textOf(of, values.cron), now, run.subscriber.timezone)
  if (isRecurring(values)) return nextRecurrence(values as Recurrence, now, run.subscriber.timezone)
  const { amount, unit } = (run.event.overrides.delay ?? values) as ControlValues
  return new Date(now.getTime() + durationMs(amount, unit))
}

/** As the step's record shows them. */
function settingsOf(of: StepRun, until: Date) {
  const { amount, unit, cron, digestKey, extendToSchedule = false } = of.values
  const lookBack = of.values.lookBackWindow as ControlValues | undefined
  const value = digestKey === undefined ? noValue : groupValue(keyOf(of, String(digestKey)))
  // In front of another service, what was passed on and what was not are collected apart: in one window, an event would be sent
  // by both, or by nobody.
  const digestValue = of.run.environment.shadow === 'live' ? groupValue(`live ${value}`) : value
  const common = { digestKey: digestKey ?? noKey, digestValue, extendToSchedule, ...pickFilled(of.values, collecting) }
  if (cron !== undefined)
    return { type: 'timed', ...common, timed: { cronExpression: textOf(of, cron), untilDate: until.toISOString() } }
  if (isRecurring(of.values)) {
    const timed = { ...(of.values.timed as ControlValues), untilDate: until.toISOString() }
    return { type: 'timed', ...common, amount, unit, timed }
  }
  if (!lookBack) return { type: 'regular', ...common, amount, unit, ...pickFilled(of.values, ['maxWindow']) }
  const { amount: backoffAmount, unit: backoffUnit } = lookBack
  return { type: 'backoff', ...common, amount, unit, backoff: true, backoffAmount, backoffUnit }
}

/** The rendered template, or the value at a path of the payload. */
function keyOf(of: StepRun, digestKey: string): unknown {
  if (of.isRendered || digestKey.includes('{{'))
    return of.isRendered ? digestKey : renderTemplate(digestKey, situationOf(of))
  const { payload } = of.run.event
  return valueAt(digestKey.startsWith('payload.') ? { payload } : payload, digestKey) ?? noValue
}

/** Later steps use the payload of this run, with its files; files of other events are only mentioned. */
const hasFiles = ({ attachments }: ControlValues): boolean =>
  Array.isArray(attachments) &&
  attachments.some((each: unknown) => typeof each === 'object' && each !== null && 'position' in each)

/** This run's event and the collected ones, as the settings that the step kept say. */
function collected({ run, job }: StepRun, others: CollectedEvents['events'], left: number) {
  const { order, keep, fields } = (job.digest ?? {}) as { order?: string; keep?: number; fields?: string[] }
  const own = { id: job.id, time: job.createdAt.toISOString(), payload: run.event.payload }
  // If the oldest of the others had no room, neither has this run's event, which is older.
  const all = order === 'newest' ? [...others, ...(left > 0 ? [] : [own])] : [own, ...others]
  const events = all
    .slice(0, keep ?? all.length)
    .map((event) => (fields ? { ...event, payload: onlyFields(event.payload, fields) } : event))
  return { eventCount: others.length + 1 + left, events }
}

/** The members at these paths, nested as they were. */
function onlyFields(payload: ControlValues, paths: string[]): ControlValues {
  const kept: ControlValues = {}
  for (const path of paths) {
    const value = valueAt(payload, path)
    if (value === undefined) continue
    const names = path.split('.')
    let place = kept
    for (const name of names.slice(0, -1)) {
      const inner = Object.hasOwn(place, name) ? place[name] : undefined
      const next = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? (inner as ControlValues) : {}
      Object.defineProperty(place, name, { value: next, enumerable: true, configurable: true, writable: true })
      place = next
    }
    Object.defineProperty(place, names.at(-1) ?? '', { value, enumerable: true, configurable: true, writable: true })
  }
  return kept
}

/** Undefined for a window that ends some time after its first event. Throws what the schema refuses, for outputs of code. */
function boundsOf(of: StepRun, until: Date): BoundedWindow | undefined {
  const { now, values, job } = of
  const { window = 'fixed', flushFirst = false, maxEvents, lookBackWindow, order, keep, fields } = values
  const isSliding = window === 'sliding'
  const says = (is: boolean, sentence: string) => {
    if (!is) throw new DurationInvalid(sentence)
  }
  says(window === 'fixed' || isSliding, 'The window must be fixed or sliding')
  says(!isSliding || values.amount !== undefined, 'A sliding window needs an amount of time, not a time of day')
  says(flushFirst === false || lookBackWindow === undefined, 'flushFirst and lookBackWindow exclude each other')
  says(maxEvents === undefined || isCount(maxEvents, 2), `maxEvents must be a whole number from 2 to ${mostKept}`)
  says(keep === undefined || isCount(keep, 1), `keep must be a whole number from 1 to ${mostKept}`)
  says(order === undefined || order === 'oldest' || order === 'newest', 'The order must be oldest or newest')
  says(fields === undefined || areTexts(fields), `fields must be a list of up to ${mostFields} paths`)
  if (!isSliding && flushFirst !== true && maxEvents === undefined) return undefined
  const ms = until.getTime() - now.getTime()
  const longest = isSliding ? periodMs(values.maxWindow) : ms
  says(longest >= ms, 'maxWindow must not be shorter than the amount')
  return {
    position: job.position,
    until,
    slides: isSliding ? { ms, latest: new Date(now.getTime() + longest) } : undefined,
    flushesFirst: flushFirst === true,
    mostEvents: maxEvents as number | undefined,
  }
}

const isCount = (value: unknown, least: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= mostKept
const areTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.length <= mostFields && value.every((each) => typeof each === 'string')

function periodMs(given: unknown): number {
  const { amount, unit } = (given ?? {}) as ControlValues
  return durationMs(amount, unit)
}

/** A sliding window needs a longest one, which is not shorter; a look-back and a flush exclude each other. */
function regularSchema(values: ControlValues): JsonSchema {
  const { lookBackWindow: _, ...flushed } = regular
  const properties = values.flushFirst === true ? flushed : regular
  if (values.window !== 'sliding')
    return values.flushFirst === true ? objectSchema(properties, ['amount', 'unit']) : variants.regular
  const longest = objectSchema({ amount: { type: 'number', minimum: leastOf(values) }, unit }, ['amount', 'unit'])
  return objectSchema({ ...properties, maxWindow: longest }, ['amount', 'unit', 'maxWindow'])
}

/** The least amount of `maxWindow`, in its unit. */
function leastOf({ amount: given, unit: its, maxWindow }: ControlValues): number {
  const of = (name: unknown) => unitSeconds[name as keyof typeof unitSeconds]
  const seconds = Number(given) * of(its)
  return seconds > 0 ? Math.max(1, Math.ceil(seconds / of((maxWindow as ControlValues | undefined)?.unit)) || 1) : 1
}

function failed(
  reason: Reason,
  line: 'over_limit' | 'digest_invalid',
  raw: object,
  error = `The digest is longer than ${longestWaitDays} days`,
): StepOutcome {
  return { kind: 'fail', reason, error, stops: true, details: [detail(line, raw)] }
}

const isRecurring = ({ type, cron, timed }: ControlValues): boolean =>
  type === 'timed' && !cron && typeof timed === 'object' && timed !== null

/** One member, or three in the older form. */
function lookBackIn(given: ControlValues): ControlValues | undefined {
  if (given.lookBackWindow) return given.lookBackWindow as ControlValues
  const { type, backoff, backoffAmount, backoffUnit } = given
  if ((type !== 'backoff' && backoff !== true) || !backoffAmount || !backoffUnit) return undefined
  return { amount: backoffAmount, unit: backoffUnit }
}

function duration(values: ControlValues): ControlValues {
  const number = numberIn(values.amount)
  return { ...(number === undefined ? {} : { amount: number }), ...pickFilled(values, ['unit']) }
}
