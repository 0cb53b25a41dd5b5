import { expect, test } from 'vitest'
import { cronInWords, waitOf } from './steps.ts'

test.each([
  ['0 9 * * *', 'every day at 9:00'],
  ['5 9 * * 1-5', 'weekdays at 9:05'],
  ['0 17 * * 5', 'Fridays at 17:00'],
  ['0 9 * * 7', 'Sundays at 9:00'],
  ['0 9 1 * *', 'day 1 of the month at 9:00'],
  ['30 * * * *', 'every hour at :30'],
  ['*/5 * * * *', '*/5 * * * *'],
  ['0 9 1 1 *', '0 9 1 1 *'],
])('the cron expression %s in words: %s', (cron, words) => {
  expect(cronInWords(cron)).toBe(words)
})

test.each([
  ['digest 10 min', 'digest', { type: 'regular', amount: 10, unit: 'minutes' }],
  ['digest weekdays at 9:00', 'digest', { type: 'timed', cron: '0 9 * * 1-5' }],
  ['delay 2 hours', 'delay', { type: 'regular', amount: 2, unit: 'hours' }],
  ['delay until payload.due', 'delay', { type: 'dynamic', dynamicKey: 'payload.due' }],
  ['delay until …', 'delay', { type: 'timed' }],
  ['at most 3 per 2 hours', 'throttle', { type: 'fixed', amount: 2, unit: 'hours', threshold: 3 }],
  [undefined, 'email', {}],
])('the line below a step: %s', (words, type, controlValues) => {
  expect(waitOf({ type, controlValues })).toBe(words)
})
