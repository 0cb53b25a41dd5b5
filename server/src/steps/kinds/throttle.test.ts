import { describe, expect, test } from 'vitest'
import {
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

const hourly = { type: 'fixed', amount: 1, unit: 'hours' }

async function freshApi(controlValues: object): Promise<Api> {
  const api = await server.freshApi()
  const throttle = { type: 'throttle', stepId: 'throttle', controlValues }
  await makeWorkflow(api, 'alarm', [throttle, inApp('{{payload.n}} {{steps.throttle.throttled}}')])
  return api
}

const send = (api: Api, n: number, more: object = {}) => trigger(api, 'alarm', 'ada', { payload: { n, ...more } })

test('a throttle lets the first pass and ends the others, and says why', async () => {
  const api = await freshApi(hourly)
  const first = await send(api, 1)
  await server.drain()
  const second = await send(api, 2)
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['1 false'])
  expect(storyOf(await runOf(api, first))).toEqual([
    'throttle completed: Step queued',
    'in_app completed: Step queued, Message created, Message sent',
  ])
  const run = await runOf(api, second)
  expect(run).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'skipped', detail: 'throttled' } })
  expect(storyOf(run)).toEqual([
    'throttle skipped: Step queued, Throttle limit exceeded for the given window',
    'in_app skipped: ',
  ])
  expect(run.jobs[1].reason).toBe('throttled')
  const [, line] = run.jobs[0].executionDetails
  expect(line.status).toBe('Success')
  expect(JSON.parse(line.raw)).toMatchObject({ throttled: true, executionCount: 1, threshold: 1, shouldSkip: true })
})

test('of twenty concurrent runs as many pass as the threshold allows', async () => {
  for (const threshold of [1, 3]) {
    const api = await freshApi({ ...hourly, threshold })
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push(await send(api, n))
    await drainBySeveral(server)
    expect(await contentsOf(api, 'ada')).toHaveLength(threshold)
    const statuses = await Promise.all(ids.map(async (id) => (await runOf(api, id)).jobs[0].status))
    expect(statuses.filter((status) => status === 'completed')).toHaveLength(threshold)
    expect(statuses.filter((status) => status === 'skipped')).toHaveLength(20 - threshold)
  }
})

test('of twenty in one batch one passes', async () => {
  const api = await freshApi(hourly)
  const events = Array.from({ length: 20 }, (_, n) => ({ name: 'alarm', to: 'ada', payload: { n } }))
  await api.post('/v1/events/trigger/bulk', { events })
  await server.drain()
  expect(await contentsOf(api, 'ada')).toHaveLength(1)
})

test('the window is exact, and counts from the first run that passed', async () => {
  const api = await freshApi({ ...hourly, threshold: 2 })
  await send(api, 1)
  await server.drain()
  await pass(server, { minutes: 59 })
  await send(api, 2)
  await server.drain()
  await pass(server, { ms: 59_999 })
  await send(api, 3)
  await server.drain()
  expect(await contentsOf(api, 'ada')).toHaveLength(2)
  await pass(server, { ms: 1 })
  await send(api, 4)
  await send(api, 5)
  await send(api, 6)
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['1 false', '2 false', '4 false', '5 false'])
})

test('is separate for each subscriber, environment, workflow and step', async () => {
  const [api, other] = [await freshApi(hourly), await freshApi(hourly)]
  const throttle = { type: 'throttle', controlValues: hourly }
  await makeWorkflow(api, 'two', [throttle, throttle, inApp('two')])
  await send(api, 1)
  await send(other, 1)
  await trigger(api, 'alarm', 'bob', { payload: { n: 1 } })
  await trigger(api, 'two', 'ada')
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['1 false', 'two'])
  expect(await contentsOf(api, 'bob')).toHaveLength(1)
  expect(await contentsOf(other, 'ada')).toHaveLength(1)
})

describe('a key', () => {
  test.each(['project.id', 'payload.project.id', '{{payload.project.id}}'])(
    '%s counts by its value',
    async (throttleKey) => {
      const api = await freshApi({ ...hourly, throttleKey })
      await send(api, 1, { project: { id: 'a' } })
      await send(api, 2, { project: { id: 'b' } })
      await send(api, 3, { project: { id: 'a' } })
      await send(api, 4)
      await send(api, 5)
      await server.drain()
      expect(await contentsOf(api, 'ada')).toEqual(['1 false', '2 false', '4 false'])
    },
  )
})

describe('a window set by the trigger', () => {
  const dynamic = { type: 'dynamic', dynamicKey: 'payload.until' }
  const inAnHour = () => new Date(server.clock.now().getTime() + 3_600_000).toISOString()

  test.each([
    ['a date', () => inAnHour()],
    ['an amount of time', () => ({ amount: 1, unit: 'hours' })],
  ])('is %s', async (_, until) => {
    const api = await freshApi(dynamic)
    await send(api, 1, { until: until() })
    await server.drain()
    await pass(server, { ms: 3_599_999 })
    await send(api, 2, { until: until() })
    await server.drain()
    await pass(server, { ms: 1 })
    await send(api, 3, { until: until() })
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['1 false', '3 false'])
  })

  test.each([
    ['missing', {}],
    ['no date', { until: 'soon' }],
    ['of an unknown unit', { until: { amount: 1, unit: 'ages' } }],
  ])('that is %s throttles nothing', async (_, more) => {
    const api = await freshApi(dynamic)
    await send(api, 1, more)
    await send(api, 2, more)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toHaveLength(2)
  })

  test('in the past fails the step and ends the run', async () => {
    const api = await freshApi(dynamic)
    const transactionId = await send(api, 1, { until: '2020-01-01T00:00:00Z' })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('error')
    expect(storyOf(run)).toEqual([
      'throttle failed: Step queued, Throttle window date is in the past, Invalid delay configuration',
      'in_app canceled: Step was canceled because a previous step failed',
    ])
  })

  test('too far ahead fails the step and ends the run', async () => {
    const api = await freshApi(dynamic)
    const transactionId = await send(api, 1, { until: { amount: 181, unit: 'days' } })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.jobs[0].reason).toBe('over_limit')
    expect(storyOf(run)[0]).toBe(
      'throttle failed: Step queued, Defer duration limit exceeded, Invalid delay configuration',
    )
  })
})

test.each([
  ['no window', { type: 'fixed' }],
  ['no unit', { type: 'fixed', amount: 1 }],
  ['nothing', {}],
])('a throttle with %s throttles nothing', async (_, controlValues) => {
  const api = await freshApi(controlValues)
  await send(api, 1)
  await send(api, 2)
  await server.drain()
  expect(await contentsOf(api, 'ada')).toHaveLength(2)
})

test('a throttle whose condition does not hold is skipped and counts nothing', async () => {
  const api = await freshApi({ ...hourly, skip: { '>': [{ var: 'payload.n' }, 1] } })
  const transactionId = await send(api, 1)
  await send(api, 2)
  await send(api, 1)
  await send(api, 3)
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['1 false', '2 false', '1 false'])
  expect(storyOf(await runOf(api, transactionId))[0]).toBe(
    'throttle skipped: Step queued, Step was skipped based on steps conditions',
  )
})

test('a used slot stays used when a later step fails', async () => {
  const api = await server.freshApi()
  const throttle = { type: 'throttle', controlValues: hourly }
  await makeWorkflow(api, 'alarm', [throttle, inApp('{{ payload.n | nothing }}'), inApp('{{payload.n}}')])
  await send(api, 1)
  await send(api, 2)
  await server.drain()
  expect((await contentsOf(api, 'ada')).length).toBeLessThanOrEqual(2)
  expect(await contentsOf(api, 'ada')).not.toContain('2')
})

test('a throttle at the end of a workflow works too', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'alarm', [inApp('{{payload.n}}'), { type: 'throttle', controlValues: hourly }])
  await send(api, 1)
  const transactionId = await send(api, 2)
  await server.drain()
  expect(storyOf(await runOf(api, transactionId))[1]).toBe(
    'throttle skipped: Step queued, Throttle limit exceeded for the given window',
  )
})

test("a throttle also counts outside the subscriber's schedule: in-app messages are limited at any hour", async () => {
  const api = await freshApi(hourly)
  await prefer(api, 'ada', { schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } } })
  const transactionId = await send(api, 1)
  await server.drain()
  const run = await runOf(api, transactionId)
  expect(storyOf(run)).toEqual([
    'throttle completed: Step queued',
    'in_app completed: Step queued, Message created, Message sent',
  ])
  const second = await send(api, 2)
  await server.drain()
  expect((await runOf(api, second)).jobs).toMatchObject([{ reason: 'throttled' }, { status: 'skipped' }])
})
