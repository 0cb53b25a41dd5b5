// The delay step: waits for an amount of time, until a moment in the payload, or until a cron expression matches.
import { hasLiquid } from '../../render/liquid.ts'
import {
  type ControlValues,
  numberIn,
  objectSchema,
  pickFilled,
  type StepKind,
  skip,
  skipUi,
  timeUnits,
  withoutNulls,
} from '../contract/kind.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, situationOf, textOf } from '../contract/step-run.ts'
import {
  DurationInvalid,
  durationMs,
  longestWaitDays,
  longestWaitMs,
  momentOf,
  nextTime,
  valueAt,
  wallTime,
} from './duration.ts'

const extendToSchedule = { type: 'boolean', default: false }
const variants = {
  regular: objectSchema(
    {
      skip,
      type: { type: 'string', const: 'regular' },
      amount: { type: 'number', minimum: 1 },
      unit: { type: 'string', enum: [...timeUnits] },
      extendToSchedule,
    },
    ['type', 'amount', 'unit'],
  ),
  timed: objectSchema(
    { skip, type: { type: 'string', const: 'timed' }, cron: { type: 'string', minLength: 1 }, extendToSchedule },
    ['type', 'cron'],
  ),
  dynamic: objectSchema(
    {
      skip,
      type: { type: 'string', const: 'dynamic' },
      dynamicKey: { type: 'string', minLength: 1 },
      extendToSchedule,
    },
    ['type', 'dynamicKey'],
  ),
}

export const delay: StepKind = {
  type: 'delay',
  isWait: true,
  isExtendable: true,
  emptyResult: { duration: 0 },

  begin(of) {
    const { now, run, values } = of
    const details: Detail[] = []
    try {
      let until = untilOf(of)
      if (until < now) {
        details.push(detail('delay_clamped', { date: until.toISOString() }))
        until = now
      }
      const delay = until.getTime() - now.getTime()
      if (delay > longestWaitMs) return invalid('over_limit', [detail('over_limit', { delay, limit: longestWaitMs })])
      details.push(detail('delayed', { delay, untilDate: wallTime(until, run.subscriber.timezone) }))
      const { extendToSchedule = false } = values
      return { kind: 'wait', until, details, delivery: { extendToSchedule } }
    } catch (error) {
      if (!(error instanceof DurationInvalid)) throw error
      return invalid('invalid_settings', [detail('delay_invalid', { error: error.message })], error.message)
    }
  },

  wake({ now, job }) {
    const duration = now.getTime() - job.createdAt.getTime()
    return { kind: 'done', output: { duration }, details: [detail('delay_finished')] }
  },

  dataSchema: { anyOf: Object.values(variants) },
  uiSchema: {
    group: 'DELAY',
    properties: {
      ...skipUi,
      amount: { component: 'DELAY_AMOUNT' },
      unit: { component: 'DELAY_UNIT', placeholder: 'seconds' },
      cron: { component: 'DELAY_CRON', placeholder: '' },
      dynamicKey: { component: 'DELAY_DYNAMIC_KEY', placeholder: '' },
      type: { component: 'DELAY_TYPE', placeholder: 'regular' },
      extendToSchedule: { component: 'EXTEND_TO_SCHEDULE', placeholder: false },
    },
  },

  normalise(values) {
    const given = fromScheduled(withoutNulls(values))
    const common = pickFilled(given, ['skip', 'extendToSchedule'])
    const variant = variantOf(given)
    if (variant === 'timed') return { ...common, type: variant, ...pickFilled(given, ['cron']) }
    if (variant === 'dynamic') return { ...common, type: variant, ...pickFilled(given, ['dynamicKey']) }
    const amount = numberIn(given.amount)
    return { ...common, type: variant, ...(amount === undefined ? {} : { amount }), ...pickFilled(given, ['unit']) }
  },

  variantSchema: (values) => variants[variantOf(values)],
  waitOf: ({ amount, unit, cron }) => (cron ? { cron } : amount === undefined ? undefined : { amount, unit }),
  resultSchema: () => objectSchema({ duration: { type: 'number' } }, ['duration']),
}

/** The trigger can override an amount of time. */
export function untilOf(of: StepRun): Date {
  const { now, run, values } = of
  if (values.cron !== undefined) return nextTime(textOf(of, values.cron), now, run.subscriber.timezone)
  if (typeof values.dynamicKey === 'string') {
    const { dynamicKey } = values
    // A template renders to the moment itself; anything else is a path to it.
    const isTemplate = !of.isRendered && hasLiquid(dynamicKey)
    const value = isTemplate ? textOf(of, dynamicKey) : valueAt(situationOf(of).data, dynamicKey)
    return momentOf(value, dynamicKey, now)
  }
  const { amount, unit } = (run.event.overrides.delay ?? values) as ControlValues
  return new Date(now.getTime() + durationMs(amount, unit))
}

function invalid(
  reason: 'over_limit' | 'invalid_settings',
  details: Detail[],
  error = `The delay is longer than ${longestWaitDays} days`,
): StepOutcome {
  return { kind: 'fail', reason, error, stops: true, details }
}

/** Steps from before `dynamic` name a path in the payload. */
function fromScheduled(values: ControlValues): ControlValues {
  const { type, delayPath, ...rest } = values
  if (type !== 'scheduled' || typeof delayPath !== 'string' || delayPath === '') return values
  return { ...rest, type: 'dynamic', dynamicKey: delayPath.startsWith('payload.') ? delayPath : `payload.${delayPath}` }
}

/** The filled-in settings decide; `type` only if there are none. */
function variantOf(values: ControlValues): keyof typeof variants {
  if (values.cron) return 'timed'
  if (values.dynamicKey) return 'dynamic'
  const { type } = values
  return values.amount === undefined && (type === 'timed' || type === 'dynamic') ? type : 'regular'
}
