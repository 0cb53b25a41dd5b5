import { describe, expect, test } from 'vitest'
import { fromClock, relativeTime, toClock } from './time.ts'

describe('times', () => {
  const now = Date.parse('2026-05-10T12:00:00.000Z')
  test.each([
    ['2026-05-10T11:59:30.000Z', 'now'],
    ['2026-05-10T11:58:00.000Z', '2m ago'],
    ['2026-05-10T09:00:00.000Z', '3h ago'],
    ['2026-05-09T09:00:00.000Z', 'yesterday'],
    ['2026-05-01T10:00:00.000Z', 'May 1'],
    ['2025-12-24T10:00:00.000Z', 'Dec 24, 2025'],
  ])('%s is %s', (moment, expected) => {
    expect(relativeTime(moment, now, 'en')).toBe(expected)
  })

  test.each([
    ['09:00 AM', '09:00'],
    ['12:00 AM', '00:00'],
    ['12:30 PM', '12:30'],
    ['05:05 PM', '17:05'],
  ])('%s is %s', (stored, clock) => {
    expect([toClock(stored), fromClock(clock)]).toEqual([clock, stored])
  })
})
