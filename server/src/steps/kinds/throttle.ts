// The throttle step: lets a number of runs pass in a time window and ends the others.

import { renderTemplate } from '../../render/liquid.ts'
import { objectSchema, type StepKind, skip, skipUi, withoutNulls } from '../contract/kind.ts'
import { groupOf, groupValue, type ThrottlePass } from '../contract/need.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, situationOf } from '../contract/step-run.ts'
import { DurationInvalid, durationMs, longestWaitDays, longestWaitMs, momentOf, valueAt } from './duration.ts'

export const throttle: StepKind = {
  type: 'throttle',
  isWait: true,
  isShared: true,
  emptyResult: { throttled: false },

  *begin(of) {
    const { now, values } = of
    const endsAt = endOf(of)
    if (endsAt === undefined) return { kind: 'done', details: [], output: { throttled: false } }
    const windowMs = endsAt.getTime() - now.getTime()
    if (windowMs <= 0)
      return failed('invalid_settings', 'The end of the window is in the past', [
        detail('throttle_past', { date: endsAt.toISOString() }),
      ])
    if (windowMs > longestWaitMs)
      return failed('over_limit', `The window is longer than ${longestWaitDays} days`, [
        detail('over_limit', { windowMs, limit: longestWaitMs }),
      ])
    const threshold = Math.max(1, Math.trunc(Number(values.threshold ?? 1)) || 1)
    const group = groupOf(of, keyOf(of))
    const pass = (yield { need: 'pass throttle', group, threshold, endsAt }) as ThrottlePass
    if (!pass.isThrottled) return { kind: 'done', details: [], output: { throttled: false } }
    const output = {
      throttled: true,
      executionCount: pass.count,
      threshold,
      windowStart: pass.startedAt.toISOString(),
      throttledUntil: pass.endsAt.toISOString(),
    }
    const details = [detail('throttled', { ...output, shouldSkip: true })]
    return { kind: 'stop', status: 'skipped', reason: 'throttled', output, details }
  },

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

/** Undefined if the settings are empty, or the trigger's value is missing: then nothing is throttled. */
function endOf(of: StepRun): Date | undefined {
  const { now, values } = of
  const { type = 'fixed', amount, unit, dynamicKey } = values
  try {
    if (type !== 'dynamic') return new Date(now.getTime() + durationMs(Number(amount), unit))
    return momentOf(valueAt(situationOf(of).data, String(dynamicKey)), String(dynamicKey), now)
  } catch (error) {
    if (error instanceof DurationInvalid) return undefined
    throw error
  }
}

/** The rendered template, or the value at a path of the payload, with or without the `payload.` prefix. */
function keyOf(of: StepRun): string {
  const { throttleKey } = of.values
  if (typeof throttleKey !== 'string' || throttleKey === '') return ''
  if (throttleKey.includes('{{')) return groupValue(renderTemplate(throttleKey, situationOf(of)))
  const { payload } = of.run.event
  const path = throttleKey.startsWith('payload.') ? throttleKey.slice('payload.'.length) : throttleKey
  const found = valueAt(payload, path)
  return groupValue(found === undefined && of.isRendered ? throttleKey : (found ?? ''))
}

function failed(reason: 'invalid_settings' | 'over_limit', error: string, details: Detail[]): StepOutcome {
  const all = [...details, detail('delay_invalid', { error })]
  return { kind: 'fail', reason, error, stops: true, details: all }
}
