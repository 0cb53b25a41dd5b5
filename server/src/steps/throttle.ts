// The throttle step: lets a number of runs pass in a window of time and ends the others.
import { objectSchema, type StepKind, skip, skipUi, withoutNulls } from './kind.ts'

export const throttle: StepKind = {
  type: 'throttle',
  dataSchema: objectSchema({
    skip,
    type: { type: 'string', enum: ['fixed', 'dynamic'], default: 'fixed' },
    amount: { type: 'number', minimum: 1 },
    unit: { type: 'string', enum: ['minutes', 'hours', 'days'] },
    dynamicKey: { type: 'string', minLength: 1 },
    threshold: { type: 'number', minimum: 1, default: 1 },
    throttleKey: { type: 'string' },
  }),
  uiSchema: {
    group: 'THROTTLE',
    properties: {
      ...skipUi,
      type: { component: 'THROTTLE_TYPE', placeholder: 'fixed' },
      amount: { component: 'THROTTLE_WINDOW' },
      unit: { component: 'THROTTLE_UNIT', placeholder: 'minutes' },
      dynamicKey: { component: 'THROTTLE_DYNAMIC_KEY', placeholder: 'payload.timestamp' },
      threshold: { component: 'THROTTLE_THRESHOLD', placeholder: 1 },
      throttleKey: { component: 'THROTTLE_KEY', placeholder: '' },
    },
  },
  normalise: withoutNulls,
  waitOf: ({ type, amount, unit }) => (type === 'dynamic' || amount === undefined ? undefined : { amount, unit }),
  resultSchema: () =>
    objectSchema(
      {
        throttled: { type: 'boolean' },
        executionCount: { type: 'number' },
        threshold: { type: 'number' },
        windowStart: { type: 'string', format: 'date-time' },
      },
      ['throttled'],
    ),
}
