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
