import { describe, expect, test } from 'vitest'
import {
  advanceTo,
  contentsOf,
  drainBySeveral,
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

const digestStep = (controlValues: object) => ({ type: 'digest', stepId: 'digest', controlValues })
const summary = inApp(
  '{{steps.digest.eventCount}}:{% for event in steps.digest.events %} {{event.payload.n}}{% endfor %} ({{payload.n}})',
)
const tenMinutes = { type: 'regular', amount: 10, unit: 'minutes' }

async function freshApi(controlValues: object = tenMinutes): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'comments', [digestStep(controlValues), summary])
  return api
}

const send = (api: Api, n: number, more: object = {}) => trigger(api, 'comments', 'ada', { payload: { n, ...more } })

describe('a digest', () => {
  test('collects events for its window, then one run continues with all of them', async () => {
    const api = await freshApi()
    const first = await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 4 })
    const second = await send(api, 2)
    await pass(server, { minutes: 4 })
    const third = await send(api, 3)
    await pass(server, { minutes: 1, seconds: 59 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { seconds: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['3: 1 2 3 (1)'])
    const main = await runOf(api, first)
    expect(main).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'delivered' } })
    expect(storyOf(main)).toEqual([
      'digest completed: Step queued, Step digested, Digest triggered events',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    for (const transactionId of [second, third]) {
      const merged = await runOf(api, transactionId)
      expect(merged).toMatchObject({
        status: 'completed',
        _digestedNotificationId: main._id,
        deliveryLifecycle: { status: 'merged' },
      })
      expect(storyOf(merged)).toEqual([
        'digest merged: Step queued, Digest was merged with other digest',
        'in_app merged: ',
      ])
    }
  })

  test('shows its events in its log and its record', async () => {
    const api = await freshApi()
    const transactionId = await send(api, 1)
    await send(api, 2)
    await server.drain()
    await pass(server, { minutes: 10 })
    const { _id } = await runOf(api, transactionId)
    const [job] = (await api.get(`/v1/notifications/${_id}`)).body.jobs
    const [, digested, fired] = job.executionDetails
    expect(digested).toMatchObject({ status: 'Pending', raw: expect.stringContaining('"delay":600000') })
    expect(fired.status).toBe('Success')
    expect(JSON.parse(fired.raw)).toEqual([
      { id: job._id, time: expect.any(String), payload: { n: 1 } },
      { id: expect.any(String), time: expect.any(String), payload: { n: 2 } },
    ])
    expect(job.digest).toMatchObject({
      type: 'regular',
      amount: 10,
      unit: 'minutes',
      digestKey: 'No-Key-Provided',
      digestValue: 'No-Value-Provided',
      events: [{ payload: { n: 1 } }, { payload: { n: 2 } }],
    })
  })

  test('can be followed by another', async () => {
    const api = await freshApi()
    for (const n of [1, 2, 3]) {
      await send(api, n)
      await server.drain()
      await pass(server, { minutes: 10 })
    }
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '1: 2 (2)', '1: 3 (3)'])
  })

  test('is separate for each subscriber, workflow, step and environment', async () => {
    const [api, other] = [await freshApi(), await freshApi()]
    await makeWorkflow(api, 'twice', [digestStep(tenMinutes), { ...digestStep(tenMinutes), stepId: 'again' }, summary])
    await send(api, 1)
    await send(other, 2)
    await trigger(api, 'comments', 'bob', { payload: { n: 3 } })
    await trigger(api, 'twice', 'ada', { payload: { n: 4 } })
    await server.drain()
    await pass(server, { minutes: 10 })
    await pass(server, { minutes: 10 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '1: 4 (4)'])
    expect(await contentsOf(api, 'bob')).toEqual(['1: 3 (3)'])
    expect(await contentsOf(other, 'ada')).toEqual(['1: 2 (2)'])
  })

  test.each([
    ['a template', '{{payload.post.id}}'],
    ['a path', 'post.id'],
    ['a path with the word before it', 'payload.post.id'],
  ])('with %s as key collects by its value', async (_, digestKey) => {
    const api = await freshApi({ ...tenMinutes, digestKey })
    await send(api, 1, { post: { id: 'a' } })
    await send(api, 2, { post: { id: 'b' } })
    await send(api, 3, { post: { id: 'a' } })
    await send(api, 4)
    await send(api, 5)
    await server.drain()
    await pass(server, { minutes: 10 })
    expect((await contentsOf(api, 'ada')).sort()).toEqual(['1: 2 (2)', '2: 1 3 (1)', '2: 4 5 (4)'])
  })

  test('accepts a key of any length and kind', async () => {
    const api = await freshApi({ ...tenMinutes, digestKey: 'payload.key' })
    for (const key of ['x'.repeat(5_000), { a: [1] }, 7, true, 'x'.repeat(5_000), { a: [1] }])
      await send(api, 1, { key })
    await server.drain()
    await pass(server, { minutes: 10 })
    expect((await contentsOf(api, 'ada')).sort()).toEqual(['1: 1 (1)', '1: 1 (1)', '2: 1 1 (1)', '2: 1 1 (1)'])
  })

  test('has one window, however many events start it at once', async () => {
    const api = await freshApi()
    for (let n = 1; n <= 12; n += 1) await send(api, n)
    await drainBySeveral(server)
    server.clock.advance({ minutes: 10 })
    await drainBySeveral(server)
    const contents = await contentsOf(api, 'ada')
    expect(contents).toHaveLength(1)
    expect(contents[0]).toMatch(/^12:/)
  })

  test('loses no event that arrives as it ends', async () => {
    const api = await freshApi()
    for (let round = 0; round < 15; round += 1) {
      await send(api, 1)
      await server.drain()
      server.clock.advance({ minutes: 10 })
      await send(api, 2)
      await drainBySeveral(server)
      await pass(server, { minutes: 10 })
    }
    const counts = (await contentsOf(api, 'ada')).map((content) => Number(content.split(':')[0]))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(30)
  })

  test.each([
    ['seconds', 1_000],
    ['hours', 3_600_000],
    ['days', 86_400_000],
    ['weeks', 604_800_000],
    ['months', 30 * 86_400_000],
  ])('counts in %s', async (unit, ms) => {
    const api = await freshApi({ type: 'regular', amount: 2, unit })
    await send(api, 1)
    await server.drain()
    await pass(server, { ms: 2 * ms - 1 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { ms: 1 })
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
  })

  test('is as long as the trigger says', async () => {
    const api = await freshApi()
    await trigger(api, 'comments', 'ada', { payload: { n: 1 }, overrides: { delay: { amount: 1, unit: 'minutes' } } })
    await server.drain()
    await pass(server, { minutes: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)'])
  })

  test.each([
    ['no amount', { type: 'regular', unit: 'hours' }, {}, 'Invalid digest amount', 'invalid_settings'],
    ['nothing', {}, {}, 'Invalid digest amount', 'invalid_settings'],
    ['no unit', { type: 'regular', amount: 1 }, {}, 'Invalid digest unit', 'invalid_settings'],
    ['an unknown unit', tenMinutes, { amount: 1, unit: 'toString' }, 'Invalid digest unit', 'invalid_settings'],
    ['no cron', { type: 'timed', cron: 'never' }, {}, /cron/, 'invalid_settings'],
    [
      'too long a window',
      tenMinutes,
      { amount: 181, unit: 'days' },
      'The digest is longer than 180 days',
      'over_limit',
    ],
  ])('with %s fails, and the next steps are canceled', async (_, controlValues, delay, error, reason) => {
    const api = await freshApi(controlValues)
    const overrides = Object.keys(delay).length > 0 ? { delay } : {}
    const transactionId = await trigger(api, 'comments', 'ada', { overrides })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('error')
    expect(run.jobs[0]).toMatchObject({
      status: 'failed',
      reason,
      error: error instanceof RegExp ? expect.stringMatching(error) : error,
    })
    const line = reason === 'over_limit' ? 'Defer duration limit exceeded' : 'Invalid digest configuration'
    expect(storyOf(run)).toEqual([
      `digest failed: Step queued, ${line}`,
      'in_app canceled: Step was canceled because a previous step failed',
    ])
    // The next event is not merged into it.
    const next = await trigger(api, 'comments', 'ada', { overrides: { delay: { amount: 1, unit: 'minutes' } } })
    await server.drain()
    expect((await runOf(api, next)).jobs[0].status).not.toBe('merged')
  })

  test('whose condition does not hold is skipped, and the run goes on without events', async () => {
    const api = await freshApi({ ...tenMinutes, skip: { '==': [{ var: 'payload.n' }, 1] } })
    const transactionId = await send(api, 2)
    await server.drain()
    expect(storyOf(await runOf(api, transactionId))[0]).toBe(
      'digest skipped: Step queued, Step was skipped based on steps conditions',
    )
    expect(await contentsOf(api, 'ada')).toEqual(['0: (2)'])
  })

  test('keeps a thousand events and counts the rest', async () => {
    const api = await freshApi()
    const one = { name: 'comments', to: 'ada' }
    for (let n = 0; n < 11; n += 1)
      await api.post('/v1/events/trigger/bulk', { events: Array.from({ length: 100 }, () => one) })
    await server.drain()
    await pass(server, { minutes: 10 })
    const [content = ''] = await contentsOf(api, 'ada')
    expect(content).toMatch(/^1100:/)
  })
})

describe('a digest with a look-back', () => {
  const backoff = { ...tenMinutes, lookBackWindow: { amount: 30, unit: 'minutes' } }

  test('lets the first event through at once and collects the next ones', async () => {
    const api = await freshApi(backoff)
    const first = await send(api, 1)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)'])
    const run = await runOf(api, first)
    expect(storyOf(run)[0]).toBe('digest skipped: Step queued, Digest was skipped, first backoff event')
    expect(run.status).toBe('completed')
    await pass(server, { minutes: 30 })
    const second = await send(api, 2)
    await server.drain()
    await pass(server, { minutes: 9 })
    await send(api, 3)
    await pass(server, { minutes: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '2: 2 3 (2)'])
    expect((await runOf(api, second)).jobs[0].digest).toMatchObject({
      type: 'backoff',
      backoff: true,
      backoffAmount: 30,
      backoffUnit: 'minutes',
    })
  })

  test('lets an event through once the group was quiet for the look-back', async () => {
    const api = await freshApi(backoff)
    await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 30, ms: 1 })
    await send(api, 2)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '1: 2 (2)'])
  })

  test('counts from the last event, including collected ones', async () => {
    const api = await freshApi(backoff)
    await send(api, 1)
    await send(api, 2)
    await server.drain()
    await pass(server, { minutes: 10 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '1: 2 (2)'])
    await pass(server, { minutes: 20 })
    await send(api, 3)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(2)
    await pass(server, { minutes: 10 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '1: 2 (2)', '1: 3 (3)'])
  })

  test('lets one of many concurrent events through, and collects the others', async () => {
    const api = await freshApi(backoff)
    for (let n = 1; n <= 10; n += 1) await send(api, n)
    await drainBySeveral(server)
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
    await pass(server, { minutes: 10 })
    const counts = (await contentsOf(api, 'ada')).map((content) => content.split(':')[0])
    expect(counts).toEqual(['1', '9'])
  })

  test('accepts the older settings', async () => {
    const api = await freshApi({
      ...tenMinutes,
      type: 'backoff',
      backoff: true,
      backoffAmount: 30,
      backoffUnit: 'minutes',
    })
    await send(api, 1)
    await send(api, 2)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)'])
    await pass(server, { minutes: 10 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '1: 2 (2)'])
  })

  test('is separate for each value of its key', async () => {
    const api = await freshApi({ ...backoff, digestKey: '{{payload.key}}' })
    await send(api, 1, { key: 'a' })
    await send(api, 2, { key: 'b' })
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(2)
  })
})

describe('a digest with a sliding window', () => {
  const sliding = { ...tenMinutes, window: 'sliding', maxWindow: { amount: 25, unit: 'minutes' } }

  test('ends some time after its last event, at the latest at the end of its longest window', async () => {
    const api = await freshApi(sliding)
    const first = await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 8 })
    await send(api, 2)
    await server.drain()
    await pass(server, { minutes: 9, seconds: 59 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { seconds: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['2: 1 2 (1)'])
    expect(storyOf(await runOf(api, first))[0]).toBe(
      'digest completed: Step queued, Step digested, Digest triggered events',
    )
    for (const n of [3, 4, 5, 6]) {
      await send(api, n)
      await server.drain()
      await pass(server, { minutes: n === 6 ? 3 : 7 })
    }
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
    await pass(server, { minutes: 1 })
    expect(await contentsOf(api, 'ada')).toContain('4: 3 4 5 6 (3)')
  })

  test('keeps its end when the run that collects is canceled', async () => {
    const api = await freshApi(sliding)
    const first = await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 5 })
    await send(api, 2)
    await server.drain()
    expect((await api.delete(`/v1/events/trigger/${first}`)).body).toBe(true)
    await pass(server, { minutes: 9, seconds: 59 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { seconds: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 2 (2)'])
  })

  test('ends when somebody ends its wait', async () => {
    const api = await freshApi(sliding)
    const first = await send(api, 1)
    await server.drain()
    await send(api, 2)
    await server.drain()
    const { _id } = await runOf(api, first)
    expect((await api.post(`/v1/notifications/${_id}/end-wait`, {})).status).toBe(200)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['2: 1 2 (1)'])
  })
})

test('a digest with a number of events ends with the last of them; the next event opens another', async () => {
  const api = await freshApi({ ...tenMinutes, maxEvents: 3 })
  for (const n of [1, 2, 3, 4]) {
    await send(api, n)
    await server.drain()
  }
  expect(await contentsOf(api, 'ada')).toEqual(['3: 1 2 3 (1)'])
  await pass(server, { minutes: 10 })
  expect((await contentsOf(api, 'ada')).toSorted()).toEqual(['1: 4 (4)', '3: 1 2 3 (1)'])
})

test('a digest with a number of events holds no more, however many come at once', async () => {
  const api = await freshApi({ ...tenMinutes, maxEvents: 4 })
  for (let n = 0; n < 20; n += 1) await send(api, n)
  await drainBySeveral(server)
  const counts = (await contentsOf(api, 'ada')).map((content) => content.split(':')[0])
  expect(counts).toEqual(['4', '4', '4', '4', '4'])
})

test('a digest that flushes sends the first event at once and the others together; after a quiet window the next is a first', async () => {
  const api = await freshApi({ ...tenMinutes, flushFirst: true })
  const first = await send(api, 1)
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)'])
  expect(storyOf(await runOf(api, first))[0]).toBe(
    'digest skipped: Step queued, Digest was skipped, first backoff event',
  )
  await pass(server, { minutes: 4 })
  await send(api, 2)
  await send(api, 3)
  await server.drain()
  await pass(server, { minutes: 5, seconds: 59 })
  expect(await contentsOf(api, 'ada')).toHaveLength(1)
  await pass(server, { seconds: 1 })
  expect((await contentsOf(api, 'ada')).toSorted()).toEqual(['1: 1 (1)', '2: 2 3 (2)'])
  await send(api, 4)
  await server.drain()
  await pass(server, { minutes: 10 })
  await send(api, 5)
  await server.drain()
  expect((await contentsOf(api, 'ada')).toSorted()).toEqual(['1: 1 (1)', '1: 4 (4)', '1: 5 (5)', '2: 2 3 (2)'])
})

test('a digest keeps the newest events, and of each only what it is told to', async () => {
  const api = await freshApi({ ...tenMinutes, order: 'newest', keep: 2, fields: ['n', 'who.name', 'none.such'] })
  const first = await send(api, 1)
  await server.drain()
  for (const n of [2, 3]) {
    await pass(server, { seconds: 1 })
    await send(api, n, { who: { name: 'Bo', age: 7 }, secret: 's' })
    await server.drain()
  }
  await pass(server, { minutes: 10 })
  expect(await contentsOf(api, 'ada')).toEqual(['3: 3 2 (1)'])
  const { _id } = await runOf(api, first)
  const [job] = (await api.get(`/v1/notifications/${_id}`)).body.jobs
  expect(job.digest.events.map(({ payload }: { payload: object }) => payload)).toEqual(
    [3, 2].map((n) => ({ n, who: { name: 'Bo' } })),
  )
})

test.each<[string, object, string]>([
  ['a sliding window until a time of day', { type: 'timed', cron: '0 9 * * *', window: 'sliding' }, 'window'],
  ['a sliding window without a longest one', { ...tenMinutes, window: 'sliding' }, 'maxWindow'],
  [
    'a longest window that is shorter',
    { ...tenMinutes, window: 'sliding', maxWindow: { amount: 599, unit: 'seconds' } },
    'maxWindow.amount',
  ],
  [
    'a flush with a look-back',
    { ...tenMinutes, flushFirst: true, lookBackWindow: { amount: 1, unit: 'hours' } },
    'lookBackWindow',
  ],
  ['a number of events below two', { ...tenMinutes, maxEvents: 1 }, 'maxEvents'],
  ['a number of events beyond a thousand', { ...tenMinutes, maxEvents: 1_001 }, 'maxEvents'],
  ['none to keep', { ...tenMinutes, keep: 0 }, 'keep'],
  ['too many to keep', { ...tenMinutes, keep: 1_001 }, 'keep'],
  ['21 fields', { ...tenMinutes, fields: Array.from({ length: 21 }, (_, n) => `f${n}`) }, 'fields'],
  ['another order', { ...tenMinutes, order: 'random' }, 'order'],
])('%s is an issue, and fails', async (_, controlValues, path) => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'comments', [digestStep(controlValues), summary])
  const { body } = await api.get('/v2/workflows/comments')
  expect(Object.keys(body.steps[0].issues?.controls ?? {})).toContain(path)
  const transactionId = await send(api, 1)
  await server.drain()
  const run = await runOf(api, transactionId)
  expect(run.jobs[0]).toMatchObject({ status: 'failed', reason: 'invalid_settings' })
})

describe('a digest until a time', () => {
  test("ends by the subscriber's local time, also when that is set back", async () => {
    const api = await freshApi({ type: 'timed', cron: '0 9 * * *' })
    await api.post('/v2/subscribers', { subscriberId: 'ada', timezone: 'America/New_York' })
    advanceTo(server.clock, '2026-10-31T12:00:00Z')
    await send(api, 1)
    await server.drain()
    advanceTo(server.clock, '2026-10-31T12:59:59.999Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual([])
    advanceTo(server.clock, '2026-10-31T13:00:00Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)'])
    const transactionId = await send(api, 2)
    await send(api, 3)
    await server.drain()
    advanceTo(server.clock, '2026-11-01T13:59:59.999Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
    advanceTo(server.clock, '2026-11-01T14:00:00Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['1: 1 (1)', '2: 2 3 (2)'])
    const [job] = (await runOf(api, transactionId)).jobs
    expect(job.digest).toMatchObject({
      type: 'timed',
      timed: { cronExpression: '0 9 * * *', untilDate: '2026-11-01T14:00:00.000Z' },
    })
    expect(JSON.parse(job.executionDetails[1].raw)).toMatchObject({ untilDate: '2026-11-01 09:00:00 EST' })
  })

  test('of the week keeps its hour when the clock goes forward; without a time zone it is UTC', async () => {
    const api = await freshApi({ type: 'timed', cron: '30 8 * * 1' })
    await api.post('/v2/subscribers', { subscriberId: 'ada', timezone: 'Europe/Berlin' })
    advanceTo(server.clock, '2027-03-22T12:00:00Z')
    await send(api, 1)
    await trigger(api, 'comments', 'utc', { payload: { n: 2 } })
    await trigger(api, 'comments', { subscriberId: 'nowhere', timezone: 'Not/AZone' }, { payload: { n: 3 } })
    await server.drain()
    advanceTo(server.clock, '2027-03-29T06:29:59Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual([])
    advanceTo(server.clock, '2027-03-29T06:30:00Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
    expect(await contentsOf(api, 'utc')).toEqual([])
    advanceTo(server.clock, '2027-03-29T08:30:00Z')
    await server.drain()
    expect(await contentsOf(api, 'utc')).toHaveLength(1)
    expect(await contentsOf(api, 'nowhere')).toHaveLength(1)
  })

  test('accepts the older days and time of day', async () => {
    const timed = { atTime: '09:00', weekDays: ['monday', 'thursday'] }
    const api = await freshApi({ type: 'timed', amount: 1, unit: 'weeks', timed })
    await api.post('/v2/subscribers', { subscriberId: 'ada', timezone: 'Europe/Berlin' })
    advanceTo(server.clock, '2027-05-04T12:00:00Z')
    const transactionId = await send(api, 1)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0].digest).toMatchObject({
      type: 'timed',
      amount: 1,
      unit: 'weeks',
      timed: { ...timed, untilDate: '2027-05-06T07:00:00.000Z' },
    })
    advanceTo(server.clock, '2027-05-06T07:00:00Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
  })

  test('set by the trigger ends then', async () => {
    const api = await freshApi({ type: 'timed', cron: '{{payload.cron}}' })
    await send(api, 1, { cron: '*/15 * * * *' })
    await server.drain()
    await pass(server, { minutes: 15 })
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
  })
})

describe("a digest that ends outside the subscriber's schedule", () => {
  const extended = { ...tenMinutes, extendToSchedule: true }
  const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

  /** Open for one hour tomorrow only. */
  async function openTomorrow(api: Api, start: string, end: string): Promise<void> {
    const tomorrow = days[(server.clock.now().getUTCDay() + 1) % 7] ?? ''
    const weeklySchedule = { [tomorrow]: { isEnabled: true, hours: [{ start, end }] } }
    await prefer(api, 'ada', { schedule: { isEnabled: true, weeklySchedule } })
  }

  test('waits for the next opening, and keeps collecting', async () => {
    const api = await freshApi(extended)
    advanceTo(server.clock, '2027-06-07T10:00:00Z')
    await openTomorrow(api, '09:00 AM', '10:00 AM')
    const transactionId = await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 10 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { hours: 5 })
    await send(api, 2)
    await server.drain()
    advanceTo(server.clock, '2027-06-08T08:59:59Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual([])
    advanceTo(server.clock, '2027-06-08T09:00:00Z')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['2: 1 2 (1)'])
    const [job] = (await runOf(api, transactionId)).jobs
    expect(job.scheduleExtensionsCount).toBe(1)
    const [, , extension] = job.executionDetails
    expect(extension).toMatchObject({
      detail: 'Step was extended to the next available time in the subscriber schedule',
      status: 'Pending',
    })
    expect(JSON.parse(extension.raw)).toMatchObject({
      nextAvailableTime: '2027-06-08T09:00:00.000Z',
      scheduleExtensionsCount: 1,
      maxScheduleExtensions: 3,
    })
  })

  test('waits three times at most', async () => {
    const api = await freshApi(extended)
    await openTomorrow(api, '09:00 AM', '10:00 AM')
    const transactionId = await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 10 })
    for (let round = 1; round <= 3; round += 1) {
      const [job] = (await runOf(api, transactionId)).jobs
      expect(job).toMatchObject({ status: 'delayed', scheduleExtensionsCount: round })
      const due = Date.parse(JSON.parse(job.executionDetails.at(-2).raw).nextAvailableTime)
      // The schedule changes shortly before the wait ends.
      advanceTo(server.clock, new Date(due - 60_000).toISOString())
      await openTomorrow(api, '01:00 AM', '02:00 AM')
      await pass(server, { minutes: 1 })
    }
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
    const run = await runOf(api, transactionId)
    expect(run.jobs[0]).toMatchObject({ status: 'completed', scheduleExtensionsCount: 3 })
    expect(storyOf(run)[0]).toMatch(
      /Step was executed due to maximum number of subscriber schedule extensions reached, Digest triggered events$/,
    )
  })

  test('does not wait unless set to, nor for a critical workflow, nor if the schedule never opens', async () => {
    const closed = { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } }
    const never = await freshApi(extended)
    await prefer(never, 'ada', { schedule: closed })
    const untold = await freshApi()
    await openTomorrow(untold, '09:00 AM', '10:00 AM')
    const critical = await server.freshApi()
    await makeWorkflow(critical, 'comments', [digestStep(extended), summary], {
      preferences: { user: { all: { enabled: true, readOnly: true } } },
    })
    await openTomorrow(critical, '09:00 AM', '10:00 AM')
    for (const api of [never, untold, critical]) await send(api, 1)
    await server.drain()
    await pass(server, { minutes: 10 })
    for (const api of [never, untold, critical]) expect(await contentsOf(api, 'ada')).toHaveLength(1)
  })
})
