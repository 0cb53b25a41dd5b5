import { describe, expect, test } from 'vitest'
import {
  advanceTo,
  contentsOf,
  inApp,
  makeWorkflow,
  pass,
  prefer,
  runOf,
  storyOf,
  trigger,
} from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

async function freshApi(controlValues: object): Promise<Api> {
  const api = await server.freshApi()
  const delay = { type: 'delay', stepId: 'delay', controlValues }
  await makeWorkflow(api, 'later', [delay, inApp('After {{steps.delay.duration}} ms')])
  return api
}

const dynamic = { type: 'dynamic', dynamicKey: 'payload.at' }

test.each([
  ['seconds', 1_000],
  ['minutes', 60_000],
  ['hours', 3_600_000],
  ['days', 86_400_000],
  ['weeks', 604_800_000],
  ['months', 30 * 86_400_000],
])('a delay of two %s ends to the millisecond', async (unit, ms) => {
  const api = await freshApi({ type: 'regular', amount: 2, unit })
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  const waiting = await runOf(api, transactionId)
  expect(waiting).toMatchObject({ status: 'processing', deliveryLifecycle: { status: 'pending' } })
  expect(storyOf(waiting)).toEqual(['delay delayed: Step queued, Step delayed', 'in_app pending: '])
  await pass(server, { ms: 2 * ms - 1 })
  expect(await contentsOf(api, 'ada')).toEqual([])
  await pass(server, { ms: 1 })
  expect(await contentsOf(api, 'ada')).toEqual([`After ${2 * ms} ms`])
  const run = await runOf(api, transactionId)
  expect(run.status).toBe('completed')
  expect(storyOf(run)).toEqual([
    'delay completed: Step queued, Step delayed, Delay is finished',
    'in_app completed: Step queued, Message created, Message sent',
  ])
})

test('a trigger can set how long', async () => {
  const api = await freshApi({ type: 'regular', amount: 1, unit: 'days' })
  await trigger(api, 'later', 'ada', { overrides: { delay: { amount: 5, unit: 'minutes' } } })
  await server.drain()
  await pass(server, { minutes: 5 })
  expect(await contentsOf(api, 'ada')).toHaveLength(1)
})

test("a delay until a time uses the subscriber's local time, even where an hour is skipped", async () => {
  const api = await freshApi({ type: 'timed', cron: '30 7 * * *' })
  await api.post('/v2/subscribers', { subscriberId: 'ada', timezone: 'Europe/Berlin' })
  advanceTo(server.clock, '2027-03-27T12:00:00Z')
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  advanceTo(server.clock, '2027-03-28T05:29:59Z')
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual([])
  advanceTo(server.clock, '2027-03-28T05:30:00Z')
  await server.drain()
  expect(await contentsOf(api, 'ada')).toHaveLength(1)
  const [, delayed] = (await runOf(api, transactionId)).jobs[0].executionDetails
  expect(JSON.parse(delayed.raw)).toEqual({ delay: 62_999_999 + 1, untilDate: '2027-03-28 07:30:00 GMT+2' })
})

describe('a delay set by the trigger', () => {
  const inTwoHours = () => new Date(server.clock.now().getTime() + 7_200_000).toISOString()

  test.each([
    ['a date', () => inTwoHours()],
    ['a date without milliseconds', () => inTwoHours().replace(/\.\d{3}Z$/, 'Z')],
    ['a date without a zone, which is UTC', () => inTwoHours().replace('Z', '')],
    ['an amount of time', () => ({ amount: 2, unit: 'hours' })],
  ])('ends by %s', async (_, at) => {
    const api = await freshApi(dynamic)
    await trigger(api, 'later', 'ada', { payload: { at: at() } })
    await server.drain()
    await pass(server, { ms: 7_199_000 - 1 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { ms: 1_001 })
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
  })

  test('can be deep in the payload, come from a template, or use the older setting', async () => {
    const settings = [
      { type: 'dynamic', dynamicKey: 'payload.visit.at' },
      { type: 'dynamic', dynamicKey: '{{payload.visit.at}}' },
      { type: 'scheduled', delayPath: 'visit.at' },
    ]
    for (const controlValues of settings) {
      const api = await freshApi(controlValues)
      await trigger(api, 'later', 'ada', { payload: { visit: { at: inTwoHours() } } })
      await server.drain()
      expect(await contentsOf(api, 'ada')).toEqual([])
      await pass(server, { hours: 2 })
      expect(await contentsOf(api, 'ada')).toHaveLength(1)
    }
  })

  test('in the past ends at once, with a warning', async () => {
    const api = await freshApi(dynamic)
    const at = '2020-01-01T00:00:00Z'
    const transactionId = await trigger(api, 'later', 'ada', { payload: { at } })
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['After 0 ms'])
    const [job] = (await runOf(api, transactionId)).jobs
    expect(job.status).toBe('completed')
    expect(job.executionDetails[1]).toMatchObject({
      status: 'Warning',
      detail: 'The date of the delay has passed; the step goes on at once',
      raw: expect.stringContaining('2020-01-01T00:00:00.000Z'),
    })
  })

  test.each([
    ['is missing', {}, "Dynamic delay key 'payload.at' not found in payload"],
    ['is null', { at: null }, "Dynamic delay key 'payload.at' not found in payload"],
    ['is no date', { at: 'tomorrow' }, /not a valid format/],
    ['is a day that is none', { at: '2027-02-31T99:00:00Z' }, /not a valid format/],
    ['is a number', { at: 7 }, /not a valid format/],
    ['is a list', { at: [] }, /not a valid format/],
    ['has no amount', { at: { unit: 'hours' } }, /^Invalid amount/],
    ['has an amount of nothing', { at: { amount: 0, unit: 'hours' } }, /^Invalid amount/],
    ['has a negative amount', { at: { amount: -1, unit: 'hours' } }, /^Invalid amount/],
    ['has an amount in letters', { at: { amount: '1', unit: 'hours' } }, /^Invalid amount/],
    ['has an unknown unit', { at: { amount: 1, unit: 'fortnights' } }, /^Invalid time unit/],
    ['has the name of a method as unit', { at: { amount: 1, unit: 'constructor' } }, /^Invalid time unit/],
  ])('fails if it %s, and the next steps are canceled', async (_, payload, error) => {
    const api = await freshApi(dynamic)
    const transactionId = await trigger(api, 'later', 'ada', { payload })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('error')
    expect(storyOf(run)).toEqual([
      'delay failed: Step queued, Invalid delay configuration',
      'in_app canceled: Step was canceled because a previous step failed',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'invalid_settings', error: expect.stringMatching(error) })
    expect(run.jobs[1]).toMatchObject({ reason: 'previous_step_failed' })
    expect(await contentsOf(api, 'ada')).toEqual([])
  })

  test('is limited to half a year', async () => {
    const api = await freshApi(dynamic)
    const transactionId = await trigger(api, 'later', 'ada', { payload: { at: { amount: 181, unit: 'days' } } })
    await trigger(api, 'later', 'bob', { payload: { at: { amount: 180, unit: 'days' } } })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(storyOf(run)[0]).toBe('delay failed: Step queued, Defer duration limit exceeded')
    expect(run.jobs[0].reason).toBe('over_limit')
    await pass(server, { days: 180 })
    expect(await contentsOf(api, 'bob')).toHaveLength(1)
  })
})

test.each([
  ['no amount', { type: 'regular', unit: 'hours' }],
  ['no unit', { type: 'regular', amount: 1 }],
  ['no settings', {}],
  ['an invalid cron', { type: 'timed', cron: 'every day' }],
  ['a cron that never matches', { type: 'timed', cron: '0 0 31 2 *' }],
])('a delay with %s fails', async (_, controlValues) => {
  const api = await freshApi(controlValues)
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  expect(storyOf(await runOf(api, transactionId))).toEqual([
    'delay failed: Step queued, Invalid delay configuration',
    'in_app canceled: Step was canceled because a previous step failed',
  ])
})

test('a delay whose condition does not hold is skipped, and the run goes on', async () => {
  const skip = { '==': [{ var: 'payload.slow' }, true] }
  const api = await freshApi({ type: 'regular', amount: 1, unit: 'hours', skip })
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['After 0 ms'])
  expect(storyOf(await runOf(api, transactionId))[0]).toBe(
    'delay skipped: Step queued, Step was skipped based on steps conditions',
  )
})

test("a delay that ends outside the subscriber's schedule is extended if set to", async () => {
  const api = await freshApi({ type: 'regular', amount: 1, unit: 'hours', extendToSchedule: true })
  advanceTo(server.clock, '2028-06-05T10:00:00Z')
  const weeklySchedule = { tuesday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } }
  await prefer(api, 'ada', { schedule: { isEnabled: true, weeklySchedule } })
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  await pass(server, { hours: 1 })
  expect(storyOf(await runOf(api, transactionId))[0]).toBe(
    'delay delayed: Step queued, Step delayed, Step was extended to the next available time in the subscriber schedule, Step delayed',
  )
  advanceTo(server.clock, '2028-06-06T09:00:00Z')
  await server.drain()
  expect(await contentsOf(api, 'ada')).toHaveLength(1)
})

test('a subscriber deleted during the delay gets nothing, and the run ends', async () => {
  const api = await freshApi({ type: 'regular', amount: 1, unit: 'hours' })
  const transactionId = await trigger(api, 'later', 'ada')
  await server.drain()
  expect((await api.delete('/v2/subscribers/ada')).status).toBe(200)
  await pass(server, { hours: 1 })
  const run = await runOf(api, transactionId)
  expect(run.status).toBe('error')
  expect(run.jobs).toMatchObject([
    { status: 'failed', reason: 'subscriber_gone' },
    { status: 'canceled', reason: 'previous_step_failed' },
  ])
})
