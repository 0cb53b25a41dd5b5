// A worker that is killed again and again: everything accepted still happens, once.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { freePort } from './free-port.ts'
import { type Here, startHere } from './here.ts'
import { usePrograms } from './program.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

const programs = usePrograms()
let name: string
let settings: Record<string, string>
let client: pg.Client
let service: Here

vi.setConfig({ testTimeout: 240_000 })

beforeEach(async () => {
  name = `t_${randomBytes(6).toString('hex')}`
  const databaseUrl = await createTestDatabase(name)
  settings = {
    ...{ DATABASE_URL: databaseUrl, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: 'the-key-of-development' },
    // The canary's hidden notification every minute would be counted below.
    BELFRY_CANARY: 'false',
  }
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  service = await startHere({ ...settings, BELFRY_ROLE: 'api', BELFRY_LOG: 'warn' })
})

afterEach(async () => {
  await service.stop()
  await client.end()
  await dropTestDatabase(name)
})

const startWorker = async () =>
  programs.start({ ...settings, PORT: String(await freePort()), BELFRY_ROLE: 'worker' }).ready()

async function numbers(query: string): Promise<Record<string, number>> {
  const { rows } = await client.query<Record<string, number>>(query)
  return rows[0] ?? {}
}

const members = 700
const singles = 100

test('every run ends once, whatever the worker was doing when it was killed', async () => {
  const api = new Api(service.url, 'the-key-of-development', '', '')
  const step = (type: string, controlValues: object) => ({ name: type, type, controlValues })
  const inApp = step('in_app', { body: 'Hello {{payload.number}}' })
  const delay = step('delay', { type: 'regular', amount: 1, unit: 'seconds' })
  for (const [workflowId, steps] of [
    ['plain', [inApp]],
    ['delayed', [inApp, delay, inApp]],
  ] as const)
    expect(await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps })).toMatchObject({
      status: 201,
    })
  const ids = Array.from({ length: members }, (_, number) => `member-${number}`)
  await api.post('/v1/subscribers/bulk', { subscribers: ids.slice(0, 500).map((subscriberId) => ({ subscriberId })) })
  await api.post('/v1/subscribers/bulk', { subscribers: ids.slice(500).map((subscriberId) => ({ subscriberId })) })
  for (let at = 0; at < members; at += 100)
    expect(
      (await api.post('/v2/topics/everyone/subscriptions', { subscriptions: ids.slice(at, at + 100) })).status,
    ).toBeLessThan(300)

  const topic = { type: 'Topic', topicKey: 'everyone' }
  await api.post('/v1/events/trigger', { name: 'plain', to: topic, payload: { number: 0 } })
  const events = Array.from({ length: singles }, (_, number) => ({
    name: 'delayed',
    to: `single-${number}`,
    transactionId: `transaction-${number}`,
    payload: { number },
  }))
  expect((await api.post('/v1/events/trigger/bulk', { events })).status).toBe(201)

  for (const lifeMs of [50, 150, 300, 600, 1_200]) {
    const worker = await startWorker()
    await sleep(lifeMs)
    worker.signal('SIGKILL')
    await worker.ended
  }
  await startWorker()
  const expected = members + 2 * singles
  await vi.waitUntil(
    async () => {
      const { unfinished } = await numbers(
        "SELECT count(*)::int AS unfinished FROM notifications WHERE status = 'processing'",
      )
      const { messages } = await numbers('SELECT count(*)::int AS messages FROM messages')
      return unfinished === 0 && (messages ?? 0) >= expected
    },
    { timeout: 60_000, interval: 100 },
  )
  expect(
    await numbers(`
      SELECT count(*)::int AS messages, count(DISTINCT (subscriber_id, transaction_id, step_row_id))::int AS different
      FROM messages`),
  ).toEqual({ messages: expected, different: expected })
  expect(await numbers('SELECT count(*)::int AS runs FROM notifications')).toEqual({ runs: members + singles })
  expect(await numbers('SELECT count(*)::int AS timers FROM timers')).toEqual({ timers: 0 })
})

const waiting = 40

/** Every fourth run is cancelled; of the others, questions are answered or go on to the next level. */
test('events, answers, cancels and levels take effect once, within 30 s of a restart', async () => {
  const api = new Api(service.url, 'the-key-of-development', '', '')
  const step = (type: string, stepId: string, controlValues: object) => ({ name: stepId, stepId, type, controlValues })
  const day = { amount: 1, unit: 'days' }
  const paid = step('wait_for_event', 'paid', { for: [{ event: 'paid', key: '{{payload.number}}' }], ...day })
  const asked = step('ask', 'asked', {
    ...{ question: 'Fine?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'], ...day },
    chain: [{ subscriberId: '{{subscriber.subscriberId}}' }, { subscriberId: 'deputy' }],
    patience: { amount: 2, unit: 'seconds' },
  })
  const note = (stepId: string) => step('in_app', 'note', { body: `{{steps.${stepId}.outcome}}` })
  for (const [workflowId, steps] of [
    ['paid', [paid, note('paid')]],
    ['asked', [asked, note('asked')]],
  ] as const)
    expect(await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps })).toMatchObject({
      status: 201,
    })
  await api.post('/v2/subscribers', { subscriberId: 'deputy' })
  const events = ['paid', 'asked'].flatMap((name) =>
    Array.from({ length: waiting }, (_, number) => ({
      ...{ name, to: `${name}-${number}`, transactionId: `${name}-${number}`, payload: { number: String(number) } },
      cancellationKey: `key-${number}`,
    })),
  )
  expect((await api.post('/v1/events/trigger/bulk', { events })).status).toBe(201)
  const first = await startWorker()
  const count = async (query: string) => (await numbers(`SELECT count(*)::int AS count ${query}`)).count
  await expect
    .poll(async () => [await count('FROM event_waits'), await count('FROM questions')], { timeout: 60_000 })
    .toEqual([waiting, waiting])
  first.signal('SIGKILL')
  await first.ended

  const all = Array.from({ length: waiting }, (_, number) => number)
  const isCanceled = (number: number) => number % 4 === 0
  for (const number of all.filter(isCanceled))
    expect((await api.post('/v1/events/cancel', { key: `key-${number}` })).body).toEqual({
      ...{ canceled: 2, hasMore: false },
    })
  const posted = all.map((number) => ({ id: `e-${number}`, name: 'paid', key: String(number) }))
  expect((await api.post('/v2/events/bulk', { events: posted })).status).toBe(201)
  const { body: found } = await api.get('/v2/questions?state=open&limit=100')
  const open = found.data as Array<{ id: string; transactionId: string }>
  const numberOf = (transactionId: string) => Number(transactionId.split('-')[1])
  const isAnswered = (number: number) => number % 4 === 1
  for (const { id, transactionId } of open.filter((each) => isAnswered(numberOf(each.transactionId)))) {
    const body = { answer: 'yes', subscriberId: transactionId }
    expect((await api.post(`/v2/questions/${id}/answer`, body)).status).toBe(200)
  }
  for (const lifeMs of [50, 150, 300, 600]) {
    const worker = await startWorker()
    await sleep(lifeMs)
    worker.signal('SIGKILL')
    await worker.ended
  }
  await startWorker()
  await expect
    .poll(
      async () => ({
        waits: await count('FROM event_waits'),
        events: await count('FROM posted_events WHERE reached IS NOT NULL'),
        open: await count("FROM questions WHERE state = 'open'"),
        level: await count("FROM questions WHERE state = 'open' AND level = 1"),
      }),
      { timeout: 30_000 },
    )
    .toEqual({ waits: 0, events: 0, open: waiting / 2, level: waiting / 2 })
  // Each ended by what was meant for it, once, and whoever was asked has one copy.
  for (const number of all) {
    const [wait] = (await api.get(`/v1/notifications?transactionId=paid-${number}`)).body.data
    const [question] = (await api.get(`/v1/notifications?transactionId=asked-${number}`)).body.data
    const { body: event } = await api.get(`/v2/events/e-${number}`)
    const canceled = isCanceled(number)
    expect([number, wait.jobs[0].status, event.status, event.matched]).toEqual(
      canceled ? [number, 'canceled', 'done', 0] : [number, 'completed', 'done', 1],
    )
    expect([number, question.jobs[0].status]).toEqual([
      number,
      canceled ? 'canceled' : isAnswered(number) ? 'completed' : 'delayed',
    ])
  }
  const { rows: notes } = await client.query(
    "SELECT content, count(*)::int AS count FROM messages WHERE step_id = 'note' GROUP BY 1 ORDER BY 1",
  )
  expect(notes).toEqual([
    { content: 'answered', count: waiting / 4 },
    { content: 'event', count: (waiting * 3) / 4 },
  ])
  const { rows: twice } = await client.query(
    `SELECT transaction_id, subscriber_id FROM messages WHERE step_id = 'asked' GROUP BY 1, 2 HAVING count(*) > 1`,
  )
  expect(twice).toEqual([])
  const copies = await count("FROM messages WHERE step_id = 'asked' AND subscriber_id = 'deputy'")
  expect(copies).toBeGreaterThanOrEqual(waiting / 2)
})
