import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { type GivenRun, insertMessage, insertRun } from '../../../test/activity.ts'
import { inApp, makeWorkflow, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'
import { countActivity } from '../../engine/queue/chores.ts'

const server = useServer()
const day = '2026-04-10'
const time = (clock: string) => new Date(`${day}T${clock}Z`)

let api: Api
beforeEach(async () => {
  api = await server.freshApi()
  await sql`TRUNCATE notifications, messages, events, jobs, activity_counts, activity_counted`.execute(
    server.database.db,
  )
})

const count = (clock: string) => countActivity(server.database.db, time(clock), new AbortController().signal)

interface Made extends GivenRun {
  /** Milliseconds from trigger to message; one message each, of this channel. */
  messages?: Partial<Record<'in_app' | 'email' | 'sms' | 'chat' | 'push', number>>
}

async function run(at: string, { messages = {}, ...fields }: Made = {}, of: Api = api) {
  const created_at = time(at)
  const made = await insertRun(server, of, 'ada', { created_at, ...fields })
  for (const [channel, ms] of Object.entries(messages) as Array<['email', number]>)
    await insertMessage(server, made, { channel, created_at: new Date(created_at.getTime() + ms) })
  return made
}

const chart = async (query: string, of: Api = api) => {
  const answer = await of.get(`/v1/activity/charts?${query}`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body
}
const hours = (from: string, to: string, more = '') =>
  chart(`after=${day}T${from}Z&before=${day}T${to}Z&interval=3600${more}`)

const none = { in_app: 0, email: 0, sms: 0, chat: 0, push: 0 }

describe('the figures', () => {
  const make = async () => {
    await run('09:59:59.999')
    await run('10:00:00', { messages: { email: 100, in_app: 100 } })
    await run('10:30:00', { status: 'error' })
    await run('11:59:59.900', { status: 'error', messages: { sms: 50 } })
    await run('12:05:00', { status: 'processing', messages: { sms: 50 } })
    await run('13:00:00')
  }
  const expected = {
    after: `${day}T10:00:00.000Z`,
    before: `${day}T13:00:00.000Z`,
    interval: 3600,
    buckets: [
      {
        ...{ at: `${day}T10:00:00.000Z`, runs: 2, failed: 1, messages: { ...none, email: 1, in_app: 1 } },
        latency: { p50Ms: 106, p95Ms: 112 },
      },
      {
        ...{ at: `${day}T11:00:00.000Z`, runs: 1, failed: 1, messages: { ...none, sms: 1 } },
        latency: { p50Ms: 47, p95Ms: 50 },
      },
      {
        ...{ at: `${day}T12:00:00.000Z`, runs: 1, failed: 0, messages: { ...none, sms: 1 } },
        latency: { p50Ms: 47, p95Ms: 50 },
      },
    ],
    totals: {
      ...{ runs: 4, failed: 2, messages: { ...none, email: 1, in_app: 1, sms: 2 } },
      latency: { p50Ms: 50, p95Ms: 111 },
    },
  }

  test('count runs by their start, messages by their creation, and measure latency', async () => {
    await make()
    expect(await hours('10:00', '13:00')).toEqual(expected)
  })

  test('are the same before, during and after counting, however often it runs', async () => {
    await make()
    await count('11:43:00')
    expect(await hours('10:00', '13:00')).toEqual(expected)
    await count('11:43:00')
    await Promise.all([count('14:00:00'), count('14:00:00')])
    expect(await hours('10:00', '13:00')).toEqual(expected)
    const { rows } = await sql<{ until: Date }>`SELECT until FROM activity_counted`.execute(server.database.db)
    expect(rows).toEqual([{ until: time('13:50:00') }])
  })

  test('counted rows are not read again, except failures', async () => {
    const { id } = await run('10:15:00')
    await count('12:00:00')
    await sql`UPDATE notifications SET status = 'error' WHERE id = ${id}`.execute(server.database.db)
    expect((await hours('10:00', '11:00')).totals).toMatchObject({ runs: 1, failed: 1 })
    await sql`DELETE FROM notifications WHERE id = ${id}`.execute(server.database.db)
    expect((await hours('10:00', '11:00')).totals).toMatchObject({ runs: 1, failed: 0 })
  })

  test('can be limited to some workflows, counted or not', async () => {
    const one = await addWorkflow(server, api.environmentId, 'one')
    const two = await addWorkflow(server, api.environmentId, 'two')
    for (const at of ['10:01:00', '10:45:00']) {
      await run(at, { workflow_id: one, status: 'error' })
      await run(at, { workflow_id: two })
      await run(at)
    }
    await count('10:30:00')
    const totals = async (more: string) => {
      const { runs, failed } = (await hours('10:00', '11:00', more)).totals
      return { runs, failed }
    }
    expect(await totals('')).toEqual({ runs: 6, failed: 2 })
    expect(await totals('&workflowIds=one')).toEqual({ runs: 2, failed: 2 })
    expect(await totals('&workflowIds=one&workflowIds=two')).toEqual({ runs: 4, failed: 2 })
    expect(await totals('&workflowIds=three')).toEqual({ runs: 0, failed: 0 })
  })

  test('cover one environment only', async () => {
    await run('10:01:00', { status: 'error' }, await server.freshApi())
    expect((await hours('10:00', '11:00')).totals).toEqual({ runs: 0, failed: 0, messages: none })
    await count('12:00:00')
    expect((await hours('10:00', '11:00')).totals).toEqual({ runs: 0, failed: 0, messages: none })
  })

  test('latency leaves out delays and digests, unsent messages, and snoozed ones that return', async () => {
    await run('10:01:00', { channels: ['delay', 'in_app'], messages: { in_app: 600_000 } })
    await run('10:02:00', { channels: ['digest', 'sms'], messages: { sms: 600_000 } })
    const failed = await run('10:03:00')
    await insertMessage(server, failed, { channel: 'email', status: 'error' })
    const back = time('10:30:00')
    await insertMessage(server, failed, { created_at: back, delivered_at: [failed.created_at, back] })
    expect((await hours('10:00', '11:00')).totals).toEqual({
      ...{ runs: 3, failed: 0, messages: { ...none, in_app: 1, sms: 1, email: 1 } },
    })
  })

  test('the latency percentiles p50 and p95 are right to within 6 %', async () => {
    for (let n = 1; n <= 100; n += 1) await run('10:01:00', { messages: { email: n * 10 } })
    const { latency } = (await hours('10:00', '11:00')).totals
    expect(latency.p50Ms / 500).toBeCloseTo(1, 1)
    expect(latency.p95Ms / 950).toBeCloseTo(1, 1)
  })

  test('include a trigger at once', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    await trigger(api, 'hello', ['ada', 'bob'])
    await server.drain()
    expect((await chart('')).totals).toMatchObject({ runs: 2, failed: 0, messages: { ...none, in_app: 2 } })
  })
})

describe('the time range', () => {
  test('is the last day by default, with an interval to match', async () => {
    const { after, before, interval, buckets } = await chart('')
    expect({ after, before, interval, count: buckets.length }).toEqual({
      ...{ after: '2026-04-30T10:00:00.000Z', before: '2026-05-01T10:10:00.000Z', interval: 600, count: 145 },
    })
  })

  test.each([
    ['after=2026-05-01T09:30:00Z', 60, 31],
    ['after=2026-05-01T08:00:00Z', 60, 121],
    ['after=2026-05-01T07:59:59Z', 600, 14],
    ['after=2026-04-28T10:00:00Z', 1800, 145],
    ['after=2026-04-25T10:00:00Z', 3600, 145],
    ['after=2026-04-24T10:00:00Z', 10800, 57],
    ['after=2026-04-01&before=2026-05-01', 21600, 120],
    ['after=2025-05-01&before=2026-05-01', 86400, 365],
    ['after=2026-04-01&before=2026-04-01', 60, 1],
    ['after=2026-04-10T10:00:30Z&before=2026-04-10T10:01:30Z', 60, 2],
    ['before=2026-04-10T10:00:00Z', 600, 144],
    ['interval=60', 60, 1441, 400],
  ])('%s: intervals of %i s, %i of them', async (query, interval, length, status = 200) => {
    const answer = await api.get(`/v1/activity/charts?${query}`)
    expect(answer.status).toBe(status)
    if (status === 200) expect([answer.body.interval, answer.body.buckets.length]).toEqual([interval, length])
    else
      expect(answer.body).toMatchObject({
        code: 'activity_too_many_buckets',
        message: expect.stringContaining(`${length}`),
      })
  })

  test.each([
    ['after=soon', 400, 'activity_date_invalid'],
    ['after=2026-04-02&before=2026-04-01', 400, 'activity_range_invalid'],
    ['after=2026-06-01', 400, 'activity_range_invalid'],
    ['interval=7', 422, 'validation'],
  ])('%s is refused', async (query, status, code) => {
    expect(await api.get(`/v1/activity/charts?${query}`)).toMatchObject({ status, body: { code } })
  })
})
