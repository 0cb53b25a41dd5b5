import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayNames, isOpen, nextOpening, type Schedule, type TimeRange } from './schedule.ts'

const on = (...hours: Array<[string, string]>) => ({
  isEnabled: true,
  hours: hours.map(([start, end]): TimeRange => ({ start, end })),
})
const week = (weeklySchedule: NonNullable<Schedule['weeklySchedule']>): Schedule => ({
  isEnabled: true,
  weeklySchedule,
})
/** Every day from the first time to the second. */
const daily = (start: string, end: string) => week(Object.fromEntries(dayNames.map((day) => [day, on([start, end])])))
const office = week({ monday: on(['09:00 AM', '12:00 PM'], ['01:00 PM', '05:00 PM']) })

describe('whether it is open', () => {
  // 4 May 2026 is a Monday.
  test.each<[string, Schedule | null | undefined, string, boolean]>([
    ['no schedule', null, '2026-05-04T03:00:00Z', true],
    ['none given', undefined, '2026-05-04T03:00:00Z', true],
    ['turned off', { ...office, isEnabled: false }, '2026-05-04T03:00:00Z', true],
    ['without a week', { isEnabled: true }, '2026-05-04T03:00:00Z', true],
    ['before it starts', office, '2026-05-04T08:59:59.999Z', false],
    ['as it starts', office, '2026-05-04T09:00:00Z', true],
    ['until the end of its last minute', office, '2026-05-04T12:00:59.999Z', true],
    ['after it', office, '2026-05-04T12:01:00Z', false],
    ['in the second range', office, '2026-05-04T13:00:00Z', true],
    ['on a day that is missing', office, '2026-05-05T10:00:00Z', false],
    [
      'on a day that is turned off',
      week({ monday: { ...on(['09:00 AM', '05:00 PM']), isEnabled: false } }),
      '2026-05-04T10:00:00Z',
      false,
    ],
    ['on a day without hours', week({ monday: { isEnabled: true } }), '2026-05-04T10:00:00Z', false],
    ['on a day with no range', week({ monday: on() }), '2026-05-04T10:00:00Z', false],
    ['past midnight, in the evening', week({ monday: on(['10:00 PM', '02:00 AM']) }), '2026-05-04T23:59:00Z', true],
    ['past midnight, on the day after', week({ monday: on(['10:00 PM', '02:00 AM']) }), '2026-05-05T02:00:30Z', true],
    ['past midnight, over', week({ monday: on(['10:00 PM', '02:00 AM']) }), '2026-05-05T02:01:00Z', false],
    [
      'past midnight, not on the morning of its own day',
      week({ monday: on(['10:00 PM', '02:00 AM']) }),
      '2026-05-04T01:00:00Z',
      false,
    ],
    [
      'past midnight, from Sunday to Monday',
      week({ sunday: on(['10:00 PM', '02:00 AM']) }),
      '2026-05-04T01:00:00Z',
      true,
    ],
    ['midnight is 12 AM', week({ monday: on(['12:00 AM', '12:30 AM']) }), '2026-05-04T00:00:00Z', true],
    ['noon is 12 PM', week({ monday: on(['12:00 PM', '12:30 PM']) }), '2026-05-04T12:15:00Z', true],
    ['a whole day', week({ monday: on(['12:00 AM', '11:59 PM']) }), '2026-05-04T23:59:59Z', true],
    ['a single minute', week({ monday: on(['09:00 AM', '09:00 AM']) }), '2026-05-04T09:00:59Z', true],
    ['a single minute, over', week({ monday: on(['09:00 AM', '09:00 AM']) }), '2026-05-04T09:01:00Z', false],
    ['times as people write them', week({ monday: on(['9:00am', '5:00 pm']) }), '2026-05-04T09:00:00Z', true],
    ['unreadable times', week({ monday: on(['morning', 'evening']) }), '2026-05-04T09:00:00Z', false],
  ])('%s', (_, schedule, now, expected) => expect(isOpen(schedule, new Date(now), null)).toBe(expected))

  test("by the time zone's clock", () => {
    const now = new Date('2026-05-04T23:30:00Z')
    expect(isOpen(week({ tuesday: on(['08:00 AM', '09:00 AM']) }), now, 'Asia/Tokyo')).toBe(true)
    expect(isOpen(week({ monday: on(['07:00 PM', '08:00 PM']) }), now, 'America/New_York')).toBe(true)
    expect(isOpen(week({ monday: on(['11:00 PM', '11:59 PM']) }), now, 'Nowhere/At_All')).toBe(true)
    expect(isOpen(week({ tuesday: on(['05:15 AM', '05:15 AM']) }), now, 'Asia/Kathmandu')).toBe(true)
  })

  test('daylight saving moves it with the clock', () => {
    const nine = daily('09:00 AM', '09:00 AM')
    expect(isOpen(nine, new Date('2026-03-28T08:00:00Z'), 'Europe/Berlin')).toBe(true)
    expect(isOpen(nine, new Date('2026-03-29T07:00:00Z'), 'Europe/Berlin')).toBe(true)
    expect(isOpen(nine, new Date('2026-03-29T08:00:00Z'), 'Europe/Berlin')).toBe(false)
  })
})

describe('when it opens next', () => {
  test.each<[string, Schedule | null, string, string | undefined]>([
    ['at once without a schedule', null, '2026-05-04T03:00:00Z', '2026-05-04T03:00:00.000Z'],
    ['at once while it is open', office, '2026-05-04T10:00:12Z', '2026-05-04T10:00:12.000Z'],
    ['later today', office, '2026-05-04T03:00:00Z', '2026-05-04T09:00:00.000Z'],
    ['in the next range', office, '2026-05-04T12:30:00Z', '2026-05-04T13:00:00.000Z'],
    ['a week later', office, '2026-05-04T17:01:00Z', '2026-05-11T09:00:00.000Z'],
    [
      'at the earlier of two',
      week({ friday: on(['09:00 AM', '10:00 AM']), wednesday: on(['11:00 PM', '01:00 AM']) }),
      '2026-05-05T00:00:00Z',
      '2026-05-06T23:00:00.000Z',
    ],
    ['never when all days are off', week({ monday: { isEnabled: false } }), '2026-05-04T03:00:00Z', undefined],
    ['never without a day', week({}), '2026-05-04T03:00:00Z', undefined],
  ])('%s', (_, schedule, now, expected) =>
    expect(nextOpening(schedule, new Date(now), undefined)?.toISOString()).toBe(expected),
  )

  // In Berlin 02:00 to 03:00 is skipped on 29 March 2026, and 02:00 to 03:00 happens twice on 25 October.
  test.each<[string, Schedule, string, string]>([
    [
      'a range that starts in the skipped hour opens after it',
      daily('02:30 AM', '04:00 AM'),
      '2026-03-29T00:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'a range within the skipped hour opens the day after',
      daily('02:15 AM', '02:45 AM'),
      '2026-03-29T00:00:00Z',
      '2026-03-30T00:15:00.000Z',
    ],
    [
      'a weekly one within it, the week after',
      week({ sunday: on(['02:15 AM', '02:45 AM']) }),
      '2026-03-29T00:00:00Z',
      '2026-04-05T00:15:00.000Z',
    ],
    [
      'a range in the doubled hour opens the first time',
      daily('02:30 AM', '02:40 AM'),
      '2026-10-25T00:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    ['and the second time', daily('02:30 AM', '02:40 AM'), '2026-10-25T00:41:00Z', '2026-10-25T01:30:00.000Z'],
    [
      'the clock can go back into a range',
      daily('01:00 AM', '02:30 AM'),
      '2026-10-25T00:31:00Z',
      '2026-10-25T01:00:00.000Z',
    ],
  ])('%s', (_, schedule, now, expected) =>
    expect(nextOpening(schedule, new Date(now), 'Europe/Berlin')?.toISOString()).toBe(expected),
  )

  test('it is open then, and not a minute earlier', () => {
    const twoDigits = (n: number) => String(n).padStart(2, '0')
    const time = fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.constantFrom(0, 15, 30, 59), fc.constantFrom('AM', 'PM'))
      .map(([hour, minute, half]) => `${twoDigits(hour)}:${twoDigits(minute)} ${half}`)
    const day = fc.record({
      isEnabled: fc.boolean(),
      hours: fc.array(fc.record({ start: time, end: time }), { maxLength: 2 }),
    })
    const schedule = fc.dictionary(fc.constantFrom(...dayNames), day, { maxKeys: 3 }).map((days) => week(days))
    const zone = fc.constantFrom(
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Pacific/Apia',
      'America/Sao_Paulo',
    )
    // Around clock changes, whole minutes.
    const moment = fc
      .tuple(
        fc.constantFrom('2026-03-08', '2026-03-29', '2026-10-25', '2011-12-29', '2026-07-01', '2018-11-03'),
        fc.integer({ min: 0, max: 3 * 1440 }),
      )
      .map(([date, minutes]) => new Date(Date.parse(`${date}T00:00:00Z`) - 86_400_000 + minutes * 60_000))
    fc.assert(
      fc.property(schedule, moment, zone, (given, now, timezone) => {
        const opening = nextOpening(given, now, timezone)
        if (opening) expect(isOpen(given, opening, timezone)).toBe(true)
        const until = Math.min(opening?.getTime() ?? Number.POSITIVE_INFINITY, now.getTime() + 2 * 86_400_000)
        for (let ms = now.getTime(); ms < until; ms += 15 * 60_000)
          if (isOpen(given, new Date(ms), timezone)) throw new Error(`already open at ${new Date(ms).toISOString()}`)
      }),
      { numRuns: 60 },
    )
  })
})
