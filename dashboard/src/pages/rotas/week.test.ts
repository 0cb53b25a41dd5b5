import { expect, test } from 'vitest'
import { daysOf, offsetMs } from './week.ts'

const duty = (from: string, to: string, ...subscriberIds: string[]) => ({ from, to, subscriberIds })

test('a duty is cut at midnight of the time zone', () => {
  const duties = [duty('2026-11-02T08:00:00Z', '2026-11-03T11:00:00Z', 'ada')]
  const [monday, tuesday, wednesday] = daysOf('Europe/Berlin', '2026-11-02T08:00:00Z', 3, duties)
  expect(monday).toMatchObject({ label: 'Mon 2 Nov', parts: [{ from: 9 / 24, to: 1 }], clockChange: 0 })
  expect(tuesday).toMatchObject({ label: 'Tue 3 Nov', parts: [{ from: 0, to: 0.5 }] })
  expect(wednesday?.parts).toEqual([])
})

test.each([
  ['Europe/Berlin', '2026-03-28T12:00:00Z', [0, -1, 0]],
  ['Europe/Berlin', '2026-10-24T12:00:00Z', [0, 1, 0]],
  ['Australia/Lord_Howe', '2026-04-04T00:00:00Z', [0, 0.5, 0]],
  ['America/Sao_Paulo', '2018-11-03T12:00:00Z', [0, -1, 0]],
  ['UTC', '2026-03-28T12:00:00Z', [0, 0, 0]],
])('the day on which the clocks change in %s from %s', (timeZone, from, changes) => {
  expect(daysOf(timeZone, from, 3, []).map(({ clockChange }) => clockChange)).toEqual(changes)
})

test('offsets are of the moment', () => {
  expect(offsetMs('Asia/Kolkata', Date.parse('2026-01-01T00:00:00.123Z'))).toBe(19_800_000)
  expect(offsetMs('America/New_York', Date.parse('2026-07-01T00:00:00Z'))).toBe(-14_400_000)
})
