import rruleModule from 'rrule'
import { describe, expect, test } from 'vitest'
import { dutiesFrom, mostDuties, onDuty, type Shift, shiftProblem } from './rota.ts'

const berlin = (...shifts: Shift[]) => ({ timezone: 'Europe/Berlin', shifts })
const weekly: Shift = {
  ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' } },
  turns: [['ada'], ['bob'], ['cy', 'di']],
}
const nightly = (more: object = {}): Shift => ({
  ...{ start: '2026-03-28T02:30', rrule: 'FREQ=DAILY', duration: { amount: 1, unit: 'hours' }, turns: [['ada']] },
  ...more,
})
const on = (rota: Parameters<typeof onDuty>[0], at: string) => {
  const { subscriberIds, from, to } = onDuty(rota, new Date(at))
  return [subscriberIds.join(' '), from?.toISOString() ?? null, to?.toISOString() ?? null]
}

describe('who is on duty', () => {
  test('occurrences go to the turns one after the other; the start belongs to a shift, the end does not', () => {
    expect(on(berlin(weekly), '2026-11-02T07:59:59.999Z')).toEqual(['', null, null])
    const first = ['ada', '2026-11-02T08:00:00.000Z', '2026-11-09T08:00:00.000Z']
    expect(on(berlin(weekly), '2026-11-02T08:00:00Z')).toEqual(first)
    expect(on(berlin(weekly), '2026-11-09T07:59:59.999Z')).toEqual(first)
    expect(on(berlin(weekly), '2026-11-09T08:00:00Z')[0]).toBe('bob')
    expect(on(berlin(weekly), '2026-11-16T08:00:00Z')[0]).toBe('cy di')
    expect(on(berlin(weekly), '2026-11-23T08:00:00Z')[0]).toBe('ada')
  })

  test('the first shift in the list that covers the moment decides, and tells until when', () => {
    const rota = berlin({ start: '2026-12-24T09:00', end: '2026-12-27T09:00', who: ['cy'] }, weekly)
    expect(on(rota, '2026-12-24T07:00:00Z')).toEqual(['bob', '2026-12-21T08:00:00.000Z', '2026-12-24T08:00:00.000Z'])
    expect(on(rota, '2026-12-25T07:00:00Z')).toEqual(['cy', '2026-12-24T08:00:00.000Z', '2026-12-27T08:00:00.000Z'])
    expect(on(rota, '2026-12-27T08:00:00Z')).toEqual(['bob', '2026-12-27T08:00:00.000Z', '2026-12-28T08:00:00.000Z'])
  })

  test('of occurrences that overlap the later one decides', () => {
    const rota = berlin(
      nightly({ start: '2026-06-01T09:00', duration: { amount: 2, unit: 'days' }, turns: [['ada'], ['bob']] }),
    )
    expect(on(rota, '2026-06-01T08:00:00Z')).toEqual(['ada', '2026-06-01T07:00:00.000Z', '2026-06-02T07:00:00.000Z'])
    expect(on(rota, '2026-06-02T08:00:00Z')).toEqual(['bob', '2026-06-02T07:00:00.000Z', '2026-06-03T07:00:00.000Z'])
  })

  test('an old rule is counted on from its start', () => {
    const old = berlin(
      nightly({ start: '2006-06-01T09:00', rrule: 'FREQ=HOURLY;INTERVAL=2', turns: [['ada'], ['bob']] }),
    )
    // Twelve shifts a day, so after any number of days it is the first one's turn.
    const later = (hours: number) => new Date(Date.parse('2006-06-01T07:00:00Z') + hours * 3_600_000).toISOString()
    expect(on(old, later(24 * 60))[0]).toBe('ada')
    expect(on(old, later(24 * 60 + 2))[0]).toBe('bob')
  })

  test('a time that the clock leaves out is read with the offset of before: 02:30 becomes 03:30', () => {
    expect(on(berlin(nightly()), '2026-03-29T01:29:59Z')).toEqual(['', null, null])
    expect(on(berlin(nightly()), '2026-03-29T01:30:00Z')).toEqual([
      ...['ada', '2026-03-29T01:30:00.000Z', '2026-03-29T02:30:00.000Z'],
    ])
    expect(on(berlin(nightly()), '2026-03-30T00:30:00Z')[1]).toBe('2026-03-30T00:30:00.000Z')
  })

  test('one that comes twice is the first; hours are elapsed time, days those of the calendar', () => {
    const autumn = nightly({ start: '2026-10-24T02:30' })
    expect(on(berlin(autumn), '2026-10-25T00:30:00Z')).toEqual([
      ...['ada', '2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'],
    ])
    expect(on(berlin(autumn), '2026-10-25T01:30:00Z')[0]).toBe('')
    const day = berlin(nightly({ start: '2026-10-24T12:00', duration: { amount: 1, unit: 'days' } }))
    // 25 hours.
    expect(on(day, '2026-10-24T20:00:00Z').slice(1)).toEqual(['2026-10-24T10:00:00.000Z', '2026-10-25T11:00:00.000Z'])
    const hours = berlin(nightly({ start: '2026-10-24T12:00', duration: { amount: 24, unit: 'hours' } }))
    expect(on(hours, '2026-10-24T20:00:00Z')[2]).toBe('2026-10-25T10:00:00.000Z')
  })

  test('a rule ends with its UNTIL or COUNT', () => {
    const twice = berlin(nightly({ rrule: 'FREQ=DAILY;COUNT=2', start: '2026-06-01T09:00' }))
    expect(on(twice, '2026-06-02T07:30:00Z')[0]).toBe('ada')
    expect(on(twice, '2026-06-03T07:30:00Z')[0]).toBe('')
    const until = berlin(nightly({ rrule: 'FREQ=DAILY;UNTIL=20260602T000000Z', start: '2026-06-01T09:00' }))
    expect(on(until, '2026-06-02T07:30:00Z')[0]).toBe('')
  })
})

describe('a rule of any kind', () => {
  const { RRule } = rruleModule
  test.each([
    ...['FREQ=HOURLY', 'FREQ=HOURLY;INTERVAL=5', 'FREQ=HOURLY;INTERVAL=3;BYDAY=MO,WE', 'FREQ=HOURLY;BYMONTH=3,4'],
    ...['FREQ=HOURLY;INTERVAL=36;BYHOUR=9,21', 'FREQ=HOURLY;INTERVAL=7;BYMONTHDAY=-1,3', 'FREQ=HOURLY;COUNT=40000'],
    ...['FREQ=DAILY', 'FREQ=DAILY;INTERVAL=3;BYDAY=MO,SU', 'FREQ=DAILY;BYHOUR=9,13,17', 'FREQ=DAILY;COUNT=1900'],
    ...['FREQ=DAILY;BYMONTHDAY=31;BYMONTH=12', 'FREQ=DAILY;BYMONTH=1,6;COUNT=300', 'FREQ=DAILY;UNTIL=20250601T120000'],
    ...['FREQ=WEEKLY', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,MO,SU;WKST=SU', 'FREQ=WEEKLY;BYDAY=MO,TU,FR;BYSETPOS=-1'],
    ...['FREQ=MONTHLY;BYDAY=1MO', 'FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-2,1', 'FREQ=MONTHLY;INTERVAL=5;BYMONTHDAY=31,6'],
    ...[
      'FREQ=YEARLY',
      'FREQ=YEARLY;BYWEEKNO=1,20;BYDAY=MO,TU',
      'FREQ=YEARLY;BYYEARDAY=1,100,-1',
      'FREQ=YEARLY;BYEASTER=1',
    ],
  ])('has the turns that rrule counts from its start: %s', (rrule) => {
    const shift = {
      ...{ start: '2020-01-06T09:00', rrule, duration: { amount: 1, unit: 'hours' as const } },
      turns: [['ada'], ['bob'], ['cy'], ['di'], ['eve']],
    }
    const rota = { timezone: 'UTC', shifts: [shift] }
    const end = new Date('2026-05-01T00:00:00Z')
    const times = new RRule({ ...RRule.parseString(rrule), dtstart: new Date(`${shift.start}:00Z`) }).between(
      ...([new Date(`${shift.start}:00Z`), end, true] as const),
    )
    const listed = (at: Date) => {
      const index = times.findLastIndex((time) => time <= at)
      const isOn = at.getTime() < (times[index]?.getTime() ?? 0) + 3_600_000
      return isOn ? shift.turns[index % shift.turns.length] : []
    }
    // From late to early and back, so that places that were found are used from both sides.
    for (const time of [...times.slice(-20), ...times.slice(0, 5), ...times.slice(-40)])
      for (const after of [-1, 1_800_000, 3_600_000]) {
        const at = new Date(time.getTime() + after)
        if (at > end) continue
        expect([at, onDuty(rota, at).subscriberIds]).toEqual([at, listed(at)])
      }
  })

  test('that is old has somebody on duty', () => {
    const hourly = nightly({ start: '2010-01-01T00:00', rrule: 'FREQ=HOURLY', turns: [['ada'], ['bob']] })
    expect(on({ timezone: 'UTC', shifts: [hourly] }, '2026-06-01T01:10:00Z')).toEqual([
      ...['bob', '2026-06-01T01:00:00.000Z', '2026-06-01T02:00:00.000Z'],
    ])
  })

  test.each([
    ...['FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31', 'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30', 'FREQ=DAILY;INTERVAL=-1'],
    ...['FREQ=HOURLY;INTERVAL=36;BYHOUR=1', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'FREQ=DAILY;INTERVAL=0'],
  ])('that was stored although it never recurs is read in a moment, and nobody is on duty: %s', (rrule) => {
    const before = performance.now()
    expect(on(berlin(nightly({ start: '2000-01-01T00:00', rrule })), '2026-06-01T01:10:00Z')).toEqual(['', null, null])
    expect(performance.now() - before).toBeLessThan(3_000)
  })

  test('that was stored although it has no occurrence at its start begins with the first', () => {
    const rota = berlin({ ...weekly, start: '2026-03-05T09:00', rrule: 'FREQ=WEEKLY;BYDAY=MO' } as Shift)
    expect(on(rota, '2026-03-06T09:00:00Z')[0]).toBe('')
    expect(on(rota, '2026-03-10T09:00:00Z')[0]).toBe('ada')
  })
})

test('an UNTIL with a Z is a moment, and one without is a local time', () => {
  const ends = (until: string) => berlin(nightly({ rrule: `FREQ=DAILY;UNTIL=${until}`, start: '2026-06-01T09:00' }))
  // 09:00 in Berlin is 07:00 in UTC.
  for (const [until, who] of [
    ['20260602T070000Z', 'ada'],
    ['20260602T065959Z', ''],
    ['20260602T090000', 'ada'],
    ['20260602T070000', ''],
  ] as const)
    expect([until, on(ends(until), '2026-06-02T07:30:00Z')[0]]).toEqual([until, who])
})

test('a shift without anybody hides those below it, and nobody is on duty', () => {
  const empty = { start: '2026-11-03T09:00', end: '2026-11-04T09:00', who: [] }
  expect(on(berlin(empty, weekly), '2026-11-03T12:00:00Z')).toEqual(['', null, null])
  expect(on(berlin(empty, weekly), '2026-11-04T12:00:00Z')[0]).toBe('ada')
})

test.each([
  ['FREQ=WEEKLY', undefined],
  ['FREQ=HOURLY;INTERVAL=5;BYHOUR=9,14', undefined],
  ['FREQ=DAILY;INTERVAL=0', 'rrule: its INTERVAL is not a whole number from 1 on'],
  ['FREQ=DAILY;INTERVAL=-1', 'rrule: its INTERVAL is not a whole number from 1 on'],
  ['FREQ=DAILY;BYMINUTE=0,30', 'rrule: a shift recurs hourly at most'],
  ['FREQ=SECONDLY', 'rrule: a shift recurs hourly at most'],
  ['BYDAY=MO', 'rrule: it has no FREQ'],
  ['FREQ=SOMETIMES', expect.stringContaining('rrule: ')],
  ['DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY', 'rrule: it is one RRULE, without a start of its own'],
])('the rule %s', (rrule, problem) => {
  expect(shiftProblem({ ...weekly, rrule } as Shift)).toEqual(problem)
})

test.each([
  ...['FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31', 'FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30', 'FREQ=HOURLY;INTERVAL=24;BYHOUR=8'],
  ...['FREQ=WEEKLY;BYDAY=TU', 'FREQ=DAILY;BYHOUR=10', 'FREQ=MONTHLY;BYMONTHDAY=1', 'FREQ=YEARLY;BYMONTH=12'],
])('the rule %s never recurs, or not at the start, a Monday in November', (rrule) => {
  expect(shiftProblem({ ...weekly, rrule } as Shift)).toBe(
    'start: it is the first occurrence of the rule, but the rule has none at 2026-11-02T09:00',
  )
})

test.each([
  [{ start: '2026-02-30T09:00', end: '2026-03-01T09:00', who: [] }, 'start: "2026-02-30T09:00" is not a local time'],
  [{ start: '2026-03-01T09:00', end: '2026-03-01T09:00', who: [] }, 'end: it has to be after the start'],
  [{ ...weekly, start: '1999-11-01T09:00' }, 'start: the start of a rule is between 2000 and 2100'],
  [{ start: '2026-03-01T09:00', end: 'tomorrow', who: [] }, 'end: "tomorrow" is not a local time'],
])('a shift %j', (shift, problem) => {
  expect(shiftProblem(shift)).toContain(problem)
})

describe('duties over some days', () => {
  const told = (rota: Parameters<typeof onDuty>[0], start: string, until: string) =>
    dutiesFrom(rota, new Date(start), new Date(until)).map(({ subscriberIds, from, to }) => [
      subscriberIds.join(' '),
      from?.toISOString() ?? null,
      to?.toISOString() ?? null,
    ])

  test('stand one after the other, exceptions between the parts of a shift, and the last one ends when it ends', () => {
    const rota = berlin({ start: '2026-12-24T09:00', end: '2026-12-27T09:00', who: ['cy'] }, weekly)
    expect(told(rota, '2026-12-23T00:00:00Z', '2026-12-28T09:00:00Z')).toEqual([
      ['bob', '2026-12-21T08:00:00.000Z', '2026-12-24T08:00:00.000Z'],
      ['cy', '2026-12-24T08:00:00.000Z', '2026-12-27T08:00:00.000Z'],
      ['bob', '2026-12-27T08:00:00.000Z', '2026-12-28T08:00:00.000Z'],
      ['cy di', '2026-12-28T08:00:00.000Z', '2027-01-04T08:00:00.000Z'],
    ])
  })

  test('say until when nobody is on duty, and whether that ends at all', () => {
    expect(told(berlin(weekly), '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')).toEqual([
      ['', null, '2026-11-02T08:00:00.000Z'],
    ])
    const once = berlin({ start: '2026-12-24T09:00', end: '2026-12-24T12:00', who: ['cy'] })
    expect(told(once, '2026-12-24T00:00:00Z', '2026-12-31T00:00:00Z')).toEqual([
      ['', null, '2026-12-24T08:00:00.000Z'],
      ['cy', '2026-12-24T08:00:00.000Z', '2026-12-24T11:00:00.000Z'],
      ['', '2026-12-24T11:00:00.000Z', null],
    ])
    expect(told(berlin(), '2026-12-24T00:00:00Z', '2026-12-31T00:00:00Z')).toEqual([['', null, null]])
  })

  test('agree with who is on duty at each moment, over both nights the clocks change', () => {
    const rota = berlin(
      { start: '2026-10-25T01:00', end: '2026-10-25T04:00', who: [] },
      nightly({ start: '2026-03-01T02:30', duration: { amount: 5, unit: 'hours' }, turns: [['ada'], [], ['bob']] }),
      nightly({ start: '2026-03-01T18:00', rrule: 'FREQ=WEEKLY;BYDAY=SA,SU', duration: { amount: 2, unit: 'days' } }),
    )
    for (const start of ['2026-03-27T00:00:00Z', '2026-10-23T00:00:00Z']) {
      const begins = Date.parse(start)
      const duties = dutiesFrom(rota, new Date(begins), new Date(begins + 5 * 86_400_000))
      for (let at = begins; at < begins + 5 * 86_400_000; at += 5_400_000) {
        const then = duties.filter(({ from, to }) => (from?.getTime() ?? 0) <= at && (!to || at < to.getTime()))
        expect(then.map(({ subscriberIds }) => subscriberIds)).toEqual([onDuty(rota, new Date(at)).subscriberIds])
      }
    }
  })

  test('are told up to a number', () => {
    const busy = berlin(
      nightly({ start: '2026-06-01T00:00', rrule: 'FREQ=HOURLY', duration: { amount: 30, unit: 'minutes' } }),
    )
    expect(dutiesFrom(busy, new Date('2026-06-01T00:00:00Z'), new Date('2026-07-02T00:00:00Z'))).toHaveLength(
      mostDuties,
    )
  })
})
