import { describe, expect, test } from 'vitest'
import { DurationInvalid } from './duration.ts'
import { nextRecurrence, type Recurrence } from './recurrence.ts'

/** A Friday. */
const now = new Date('2026-05-01T10:00:00Z')
const next = (given: Recurrence, from = now, timezone: string | null = null) =>
  nextRecurrence(given, from, timezone).toISOString()

test.each([
  ['minutes', 5, '2026-05-01T10:05:00.000Z'],
  ['hours', 3, '2026-05-01T13:00:00.000Z'],
  ['days', 1, '2026-05-02T10:00:00.000Z'],
  ['days', 3, '2026-05-04T10:00:00.000Z'],
  ['weeks', 1, '2026-05-08T10:00:00.000Z'],
  ['weeks', 2, '2026-05-15T10:00:00.000Z'],
  ['months', 1, '2026-06-01T10:00:00.000Z'],
  ['months', 2, '2026-07-01T10:00:00.000Z'],
])('%s, every %i', (unit, amount, expected) => {
  expect(next({ unit, amount })).toBe(expected)
})

describe('at a time of day', () => {
  test.each([
    ['later today', { unit: 'days', timed: { atTime: '18:30' } }, '2026-05-01T18:30:00.000Z'],
    ['which has passed today', { unit: 'days', timed: { atTime: '09:00' } }, '2026-05-02T09:00:00.000Z'],
    ['which is now', { unit: 'days', timed: { atTime: '10:00' } }, '2026-05-02T10:00:00.000Z'],
    ['to the second', { unit: 'days', timed: { atTime: '10:00:01' } }, '2026-05-01T10:00:01.000Z'],
    ['every third day', { unit: 'days', amount: 3, timed: { atTime: '09:00' } }, '2026-05-04T09:00:00.000Z'],
  ])('%s', (_, given, expected) => {
    expect(next(given)).toBe(expected)
  })

  test("in the subscriber's local time, also across clock changes", () => {
    const given = { unit: 'days', timed: { atTime: '09:00' } }
    expect(next(given, new Date('2026-10-31T14:00:00Z'), 'America/New_York')).toBe('2026-11-01T14:00:00.000Z')
    expect(next(given, new Date('2026-03-07T15:00:00Z'), 'America/New_York')).toBe('2026-03-08T13:00:00.000Z')
  })
})

test.each([
  ['this week', ['saturday', 'monday'], 1, '2026-05-02T09:00:00.000Z'],
  ['next week', ['monday', 'wednesday'], 1, '2026-05-04T09:00:00.000Z'],
  ['the week after next', ['monday', 'wednesday'], 2, '2026-05-11T09:00:00.000Z'],
  ['the same day of next week', ['friday'], 1, '2026-05-08T09:00:00.000Z'],
])('on days of the week: %s', (_, weekDays, amount, expected) => {
  expect(next({ unit: 'weeks', amount, timed: { weekDays, atTime: '09:00' } })).toBe(expected)
})

describe('on days of the month', () => {
  test.each([
    ['each', { monthDays: ['15', '3'] }, 1, '2026-05-03T09:00:00.000Z'],
    ['each second month', { monthDays: [1] }, 2, '2026-07-01T09:00:00.000Z'],
    ['that not every month has', { monthDays: [31] }, 1, '2026-05-31T09:00:00.000Z'],
    ['the first Monday', { monthlyType: 'on', ordinal: '1', ordinalValue: 'monday' }, 1, '2026-05-04T09:00:00.000Z'],
    ['the last Friday', { monthlyType: 'on', ordinal: 'last', ordinalValue: 'friday' }, 1, '2026-05-29T09:00:00.000Z'],
    ['the last day', { monthlyType: 'on', ordinal: 'last', ordinalValue: 'day' }, 1, '2026-05-31T09:00:00.000Z'],
    ['the second weekday', { monthlyType: 'on', ordinal: '2', ordinalValue: 'weekday' }, 1, '2026-05-04T09:00:00.000Z'],
    [
      'the first of a weekend',
      { monthlyType: 'on', ordinal: '1', ordinalValue: 'weekend' },
      1,
      '2026-05-02T09:00:00.000Z',
    ],
    ['the fifth Monday', { monthlyType: 'on', ordinal: '5', ordinalValue: 'monday' }, 1, '2026-06-29T09:00:00.000Z'],
  ])('%s', (_, timed, amount, expected) => {
    expect(next({ unit: 'months', amount, timed: { ...timed, atTime: '09:00' } })).toBe(expected)
  })
})

test.each([
  ['no unit', {}],
  ['an unknown unit', { unit: 'years' }],
  ['half a day', { unit: 'days', amount: 0.5 }],
  ['no day', { unit: 'days', amount: 0 }],
  ['an invalid time', { unit: 'days', timed: { atTime: '25:00' } }],
  ['an invalid day', { unit: 'weeks', timed: { weekDays: ['someday'] } }],
  ['a day no month has', { unit: 'months', timed: { monthDays: [32] } }],
  ['a sixth Monday', { unit: 'months', timed: { monthlyType: 'on', ordinal: '6', ordinalValue: 'monday' } }],
  ['an ordinal of nothing', { unit: 'months', timed: { monthlyType: 'on', ordinal: '1' } }],
])('%s is refused', (_, given) => {
  expect(() => next(given)).toThrow(DurationInvalid)
})
