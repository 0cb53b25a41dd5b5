import { describe, expect, test } from 'vitest'

// time.tsx needs no browser at import.
const { duration, holdTime, relativeTime, timeLeft, timeSince } = await import('./time.tsx')
const now = Date.parse('2026-05-01T10:00:00Z')
const ago = (seconds: number) => new Date(now - seconds * 1000)

describe('relative time', () => {
  test.each([
    [2, 'now'],
    [-2, 'now'],
    [30, '30 s ago'],
    [59.7, '60 s ago'],
    [60, '1 min ago'],
    [3 * 3600, '3 h ago'],
    [2 * 86_400, '2 d ago'],
    [70 * 86_400, '2 mo ago'],
    [800 * 86_400, '2 y ago'],
    [-300, 'in 5 min'],
  ])('%s seconds', (seconds, text) => expect(relativeTime(ago(seconds), now)).toBe(text))
})

test('what has happened does not lie in the future, whatever the clocks say', () => {
  expect([ago(-13), ago(-3600), ago(30)].map((at) => timeSince(at, now))).toEqual(['now', 'now', '30 s ago'])
})

describe('duration', () => {
  test.each([
    [0, '0 ms'],
    [340, '340 ms'],
    [2_400, '2.4 s'],
    [42_000, '42 s'],
    [60_000, '1 min'],
    [190_000, '3 min 10 s'],
    [7_500_000, '2 h 5 min'],
    [3 * 86_400_000, '3 d'],
  ])('%s ms', (ms, text) => expect(duration(ms)).toBe(text))
})

test('a countdown says how long is left', () => {
  const left = [-5, 0.2, 4.2, 75, 2 * 3600 - 60].map((seconds) => timeLeft(ago(-seconds), now))
  expect(left).toEqual(['any moment', 'any moment', '5 s left', '1 min 15 s left', '1 h 59 min left'])
})

test('where the clock is held, times go by it', () => {
  holdTime(now)
  expect([relativeTime(ago(3 * 3600)), timeLeft(ago(-60))]).toEqual(['3 h ago', '1 min left'])
  holdTime(undefined)
  expect(relativeTime(new Date())).toBe('now')
})
