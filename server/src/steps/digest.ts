// The digest step: collects events for a while, then lets one run go on with all of them.
import {
  type ControlValues,
  objectSchema,
  pickFilled,
  type StepKind,
  skip,
  skipUi,
  timeUnits,
  wholeNumber,
  withoutNulls,
} from './kind.ts'

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

export const digest: StepKind = {
  type: 'digest',
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
    const window = given.lookBackWindow as ControlValues | undefined
    return {
      ...kept,
      ...duration(given),
      ...(window ? { lookBackWindow: duration(window) } : {}),
    }
  },

  variantSchema: (values) => (values.cron || values.type === 'timed' ? variants.timed : variants.regular),
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

function duration(values: ControlValues): ControlValues {
  const whole = wholeNumber(values.amount)
  return { ...(whole === undefined ? {} : { amount: whole }), ...pickFilled(values, ['unit']) }
}
