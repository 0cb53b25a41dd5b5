// The digest step: collects events for a while, then one run continues with all of them.

import { renderTemplate } from '../../render/liquid.ts'
import {
  type ControlValues,
  objectSchema,
  openObject,
  pickFilled,
  type StepKind,
  skip,
  skipUi,
  timeUnits,
  wholeNumber,
  withoutNulls,
} from '../contract/kind.ts'
import { type CollectedEvents, type DigestPlace, groupOf, groupValue } from '../contract/need.ts'
import { detail, type Reason, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, situationOf, textOf } from '../contract/step-run.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs, nextTime, valueAt, wallTime } from './duration.ts'
import { nextRecurrence, type Recurrence } from './recurrence.ts'

const unit = { type: 'string', enum: [...timeUnits] }
const amount = { type: 'number', minimum: 1 }
const common = { skip, digestKey: { type: 'string' }, extendToSchedule: { type: 'boolean', default: false } }
const variants = {
  regular: objectSchema(
    {
      ...common,
      type: { type: 'string', const: 'regular' },
      amount,
      unit,
      lookBackWindow: objectSchema({ amount, unit }, ['amount', 'unit']),
    },
    ['amount', 'unit'],
  ),
  timed: objectSchema({ ...common, type: { type: 'string', const: 'timed' }, cron: { type: 'string', minLength: 1 } }, [
    'cron',
  ]),
}

/** The older form, from before cron expressions: an interval, on days and at a time. */
const recurring = objectSchema(
  { ...common, type: { type: 'string', const: 'timed' }, amount, unit, timed: openObject },
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
          }
        }
        case 'first':
          return {
            kind: 'skip',
            reason: 'first_of_digest',
            digest,
            details: [detail('digest_first')],
            output: own(of, []),
          }
        case 'main':
          return {
            kind: 'wait',
            until,
            digest,
            details: [detail('digested', { delay, untilDate: wallTime(until, run.subscriber.timezone) })],
          }
      }
    } catch (error) {
      if (!(error instanceof DurationInvalid)) throw error
      const text = error.part ? `Invalid digest ${error.part}` : error.message
      return failed('invalid_settings', 'digest_invalid', { error: error.message }, text)
    }
  },

  *wake(of) {
    const { run, job } = of
    const group = groupOf(of, String(job.digest?.digestValue ?? noValue))
    const { events, left } = (yield { need: 'close digest', group, notificationId: run.id }) as CollectedEvents
    const output = own(of, events, left)
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
    const kept = pickFilled(given, ['skip', 'type', 'digestKey', 'extendToSchedule'])
    if (given.cron) return { ...kept, type: 'timed', cron: given.cron }
    if (isRecurring(given)) return { ...kept, ...duration(given), timed: given.timed }
    const window = lookBackIn(given)
    // The type only says that there is a look-back.
    if (kept.type === 'backoff') delete kept.type
    return {
      ...kept,
      ...duration(given),
      ...(window ? { lookBackWindow: duration(window) } : {}),
    }
  },

  variantSchema: (values) =>
    isRecurring(values) ? recurring : values.cron || values.type === 'timed' ? variants.timed : variants.regular,
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
  const digestValue = digestKey === undefined ? noValue : groupValue(keyOf(of, String(digestKey)))
  const common = { digestKey: digestKey ?? noKey, digestValue, extendToSchedule }
  if (cron !== undefined)
    return { type: 'timed', ...common, timed: { cronExpression: textOf(of, cron), untilDate: until.toISOString() } }
  if (isRecurring(of.values)) {
    const timed = { ...(of.values.timed as ControlValues), untilDate: until.toISOString() }
    return { type: 'timed', ...common, amount, unit, timed }
  }
  if (!lookBack) return { type: 'regular', ...common, amount, unit }
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

/** This run's event, then the collected ones. */
function own({ run, job }: StepRun, others: CollectedEvents['events'], left = 0) {
  const events = [{ id: job.id, time: job.createdAt.toISOString(), payload: run.event.payload }, ...others]
  return { eventCount: events.length + left, events }
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
  const whole = wholeNumber(values.amount)
  return { ...(whole === undefined ? {} : { amount: whole }), ...pickFilled(values, ['unit']) }
}
