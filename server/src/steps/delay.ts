// The delay step: waits for a time, until a moment the trigger names, or until a time of day or week.
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
    const given = withoutNulls(values)
    const common = pickFilled(given, ['skip', 'extendToSchedule'])
    const variant = variantOf(given)
    if (variant === 'timed') return { ...common, type: variant, ...pickFilled(given, ['cron']) }
    if (variant === 'dynamic') return { ...common, type: variant, ...pickFilled(given, ['dynamicKey']) }
    const amount = wholeNumber(given.amount)
    return { ...common, type: variant, ...(amount === undefined ? {} : { amount }), ...pickFilled(given, ['unit']) }
  },

  variantSchema: (values) => variants[variantOf(values)],
  waitOf: ({ amount, unit, cron }) => (cron ? { cron } : amount === undefined ? undefined : { amount, unit }),
  resultSchema: () => objectSchema({ duration: { type: 'number' } }, ['duration']),
}

/** What is filled in decides; `type` does where nothing is. */
function variantOf(values: ControlValues): keyof typeof variants {
  if (values.cron) return 'timed'
  if (values.dynamicKey) return 'dynamic'
  const { type } = values
  return values.amount === undefined && (type === 'timed' || type === 'dynamic') ? type : 'regular'
}
