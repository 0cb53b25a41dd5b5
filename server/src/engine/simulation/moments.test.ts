import { expect, test } from 'vitest'
import { durationMs, MomentInvalid, momentMs } from './moments.ts'

const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

test.each([
  ['30d', 30 * day],
  ['1h30m', 90 * minute],
  ['90s', 90 * second],
  ['250ms', 250],
  ['1d2h3m4s5ms', day + 2 * hour + 3 * minute + 4 * second + 5],
  ['0s', 0],
  ['007m', 7 * minute],
])('%s is a duration', (text, ms) => expect(durationMs(text)).toBe(ms))

test.each(['', '5', 's', '1h1h', '1m1h', '1.5h', '-1s', '+1s', ' 1s', '1 d', '1H', '1w', 'P1D', '1ms1s', '1d,1h'])(
  '%j is none',
  (text) => expect(() => durationMs(text)).toThrow(MomentInvalid),
)

const startAt = Date.parse('2026-05-01T10:00:00Z')
test.each([
  ['+0s', '2026-05-01T10:00:00.000Z'],
  ['+1d250ms', '2026-05-02T10:00:00.250Z'],
  ['2026-03-29T02:30:00Z', '2026-03-29T02:30:00.000Z'],
  ['2026-03-29T02:30+02:00', '2026-03-29T00:30:00.000Z'],
  ['2026-03-29T02:30:15.5-0530', '2026-03-29T08:00:15.500Z'],
  ['2026-06-01T09:00[Europe/Berlin]', '2026-06-01T07:00:00.000Z'],
  // A time that the clock jumps over is as far behind the jump.
  ['2026-03-29T02:30[Europe/Berlin]', '2026-03-29T01:30:00.000Z'],
  ['2026-10-04T02:10[Australia/Lord_Howe]', '2026-10-03T15:40:00.000Z'],
  // One that comes twice is the first.
  ['2026-10-25T02:30[Europe/Berlin]', '2026-10-25T00:30:00.000Z'],
  ['2026-11-01T01:59:59[America/New_York]', '2026-11-01T05:59:59.000Z'],
])('%s is a moment', (text, expected) => expect(new Date(momentMs(text, startAt)).toISOString()).toBe(expected))

test.each([
  ...['', 'soon', '2026-03-29', '2026-03-29T02:30', '2026-03-29 02:30Z', '+', '+1', '-1h', '2026-02-30T10:00:00Z'],
  ...['2026-03-29T25:00:00Z', '2026-03-29T02:30[Europe/Atlantis]', '2026-03-29T02:30Z[Europe/Berlin]'],
  ...['1999-12-31T23:59:59Z', '2100-01-01T00:00:01Z'],
])('%j is none', (text) => expect(() => momentMs(text, startAt)).toThrow(MomentInvalid))

test('what counts from the start needs one', () => {
  expect(() => momentMs('+1h')).toThrow(MomentInvalid)
})
