import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Simulation } from '../../../api/simulations.ts'
import { durationText, fileOf, inventPerson, presets, readDuration, requestOf, startScenario } from './scenario.ts'
import { atWall, clockAt, clockChanges, closedHours, dayAt, nextJump, ticks } from './zones.ts'

const minute = 60_000
const hour = 60 * minute
const startAt = Date.parse('2026-05-01T10:00:00Z')
const start = () => startScenario(inventPerson([], 'Europe/Berlin'), { who: 'Bo' }, startAt)

test('a duration is written and read as scenarios have it', () => {
  for (const [text, ms] of [
    ['0s', 0],
    ['90s', 90_000],
    ['4m', 4 * minute],
    ['1h30m', 90 * minute],
    ['2d', 48 * hour],
    ['250ms', 250],
    ['1d1h1m1s1ms', 25 * hour + minute + 1_001],
  ] as const)
    expect([text, readDuration(text)]).toEqual([text, ms])
  expect([90_000, 90 * minute, 25 * hour + 61_001].map(durationText)).toEqual(['1m30s', '1h30m', '1d1h1m1s1ms'])
  for (const text of ['', 'soon', '1m1h', '-4m', '1.5h', '400d'])
    expect([text, readDuration(text)]).toEqual([text, undefined])
  expect(readDuration('+4m')).toBe(4 * minute)
})

test('the request has the people, and the inputs in the order of time', () => {
  const scenario = start()
  scenario.pins.push({ id: 'late', at: 4 * minute, type: 'read', subscriberId: 'ada' })
  scenario.pins.unshift({ id: 'off', at: minute, type: 'fault', fault: 'outage', channel: 'email', lastsMs: hour })
  expect(requestOf(scenario, { workflowId: 'comments' })).toEqual({
    workflow: { workflowId: 'comments' },
    startAt: '2026-05-01T10:00:00.000Z',
    horizon: '30d4m',
    subscribers: [
      {
        ...{ subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', phone: '+491701234510' },
        timezone: 'Europe/Berlin',
      },
    ],
    inputs: [
      {
        at: '+0s',
        type: 'trigger',
        to: 'ada',
        payload: { who: 'Bo' },
        transactionId: expect.stringMatching(/^event-/),
      },
      { at: '+1m', type: 'fault', fault: 'outage', channel: 'email', until: '+1h1m' },
      { at: '+4m', type: 'read', subscriberId: 'ada' },
    ],
  })
})

test('a copied scenario is YAML, and expects what was sent', () => {
  const scenario = start()
  const played = {
    messages: [
      {
        status: 'sent',
        channel: 'email',
        subscriberId: 'ada',
        at: '2026-05-01T10:10:00.000Z',
        subject: 'Yes: "2" & more',
      },
      { status: 'error', channel: 'sms', subscriberId: 'ada', at: '2026-05-01T10:10:00.000Z', subject: null },
    ],
  } as Simulation
  const { workflow, name, expect: expected, ...rest } = parse(fileOf(scenario, { workflowId: 'on' }, played))
  expect({ workflow, name }).toEqual({ workflow: { workflowId: 'on' }, name: 'One event' })
  const { workflow: _, ...request } = requestOf(scenario, { workflowId: 'on' })
  expect(rest).toEqual(request)
  expect(expected).toEqual([
    { messages: [{ channel: 'email', subscriberId: 'ada', at: '+10m', subject: 'Yes: "2" & more' }] },
  ])
})

test('every preset keeps the people, and begins when it says', () => {
  const made = Object.fromEntries(presets.map(({ name, make }) => [name, make(start(), { who: 'Bo' })]))
  for (const scenario of Object.values(made))
    expect(scenario.people.map(({ subscriberId }) => subscriberId)).toEqual(['ada'])
  expect(made['A burst of twenty']?.pins).toHaveLength(20)
  const quiet = made['Quiet hours']
  expect(quiet && [dayAt('Europe/Berlin', quiet.startAt), clockAt('Europe/Berlin', quiet.startAt)]).toEqual([
    ...['Fri 1 May', '20:00'],
  ])
  const night = made['The night the clocks change']
  expect(night && [dayAt('Europe/Berlin', night.startAt), clockAt('Europe/Berlin', night.startAt)]).toEqual([
    ...['Sun 28 Mar', '01:55'],
  ])
  expect(made['A provider out for two hours']?.pins[0]).toMatchObject({ type: 'fault', lastsMs: 2 * hour })
})

test('the clock on the wall, the nights it changes, and the hours that are closed', () => {
  const berlin = 'Europe/Berlin'
  const from = Date.parse('2026-03-28T00:00:00Z')
  expect(clockChanges(berlin, from, from + 72 * hour)).toEqual([{ at: Date.parse('2026-03-29T01:00:00Z'), byMs: hour }])
  expect(clockChanges('UTC', from, from + 400 * 24 * hour)).toEqual([])
  expect(nextJump(berlin, startAt)?.at).toBe(Date.parse('2027-03-28T01:00:00Z'))
  expect(new Date(atWall(berlin, Date.UTC(2026, 4, 1, 9, 0))).toISOString()).toBe('2026-05-01T07:00:00.000Z')
  // A time that the clock jumps over is as far behind the jump.
  expect(new Date(atWall(berlin, Date.UTC(2026, 2, 29, 2, 30))).toISOString()).toBe('2026-03-29T01:30:00.000Z')
  const office = { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] }
  const closed = closedHours(
    { isEnabled: true, weeklySchedule: { friday: office } },
    berlin,
    startAt,
    startAt + 24 * hour,
  )
  expect(closed.map((each) => each.map((at) => new Date(at).toISOString()))).toEqual([
    ['2026-05-01T15:00:00.000Z', '2026-05-02T10:00:00.000Z'],
  ])
  expect(closedHours({ isEnabled: false }, berlin, startAt, startAt + hour)).toEqual([])
  expect(ticks(berlin, startAt, startAt + 24 * hour, 6).map((at) => clockAt(berlin, at))).toEqual([
    ...['12:00', '18:00', '00:00', '06:00', '12:00'],
  ])
})
