// The queue delivers every job at least once. A job delivered again must change nothing.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { contentsOf, inApp, makeWorkflow, type Step, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

const hour = { type: 'regular', amount: 1, unit: 'hours' }
const tables = [
  'transactions',
  'events',
  'notifications',
  'jobs',
  'messages',
  'timers',
  'digests',
  'throttles',
  'subscribers',
  'contexts',
  'tenants',
  'passed_over',
]

/** Hashes of everything the engine stores, and the queue's size. */
async function state(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const table of tables) {
    const { rows } = await sql<{ row: string }>`
      SELECT t::text AS row FROM ${sql.table(table)} t ORDER BY 1`.execute(server.database.db)
    found[table] = createHash('sha256').update(JSON.stringify(rows)).digest('hex')
  }
  const { rows } = await sql<{ count: string }>`SELECT count(*) FROM graphile_worker.jobs`.execute(server.database.db)
  return { ...found, queued: rows[0]?.count ?? '' }
}

let repeated = 0

async function twice(work: () => Promise<void>): Promise<void> {
  await work()
  const before = await state()
  await work()
  expect(await state()).toEqual(before)
  repeated += 1
}

const steps: Step[] = [
  inApp('First {{payload.n}}'),
  { type: 'throttle', controlValues: { ...hour, type: 'fixed', threshold: 5 } },
  { type: 'http_request', stepId: 'ask', controlValues: { method: 'POST', url: 'http://vendor/' } },
  { type: 'digest', stepId: 'digest', controlValues: hour },
  { type: 'custom', controlValues: { a: '{{payload.n}}' } },
  { type: 'delay', controlValues: hour },
  { ...inApp('Asked'), filters: 'asking' },
  {
    type: 'email',
    filters: 'asking',
    controlValues: { subject: 'Asked', body: '<p>Hi</p>', editorType: 'html', layoutId: null },
  },
  inApp('Last {{steps.digest.eventCount}} {{steps.ask.answer}}'),
]

async function makeAll(api: Api): Promise<void> {
  vendor.plays(() => ({ body: { answer: 42 } }))
  const child = { on: 'webhook', webhookUrl: `${vendor.url}/filter`, field: 'answer', operator: 'EQUAL', value: '42' }
  const filters = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [child] }]
  const known = steps.map((step) => ({
    ...step,
    ...(step.type === 'http_request' ? { controlValues: { ...step.controlValues, url: vendor.url } } : {}),
    ...(step.filters ? { filters } : {}),
  }))
  const mail = { providerId: 'email-webhook', channel: 'email', active: true }
  await api.post('/v1/integrations', {
    ...mail,
    credentials: { webhookUrl: `${vendor.url}/mail`, secretKey: 'k', from: 'a@b.co' },
  })
  await makeWorkflow(api, 'everything', known)
  for (const subscriberId of ['ada', 'carol']) await api.post('/v2/subscribers', { subscriberId })
  await api.post('/v2/topics/all/subscriptions', { subscriptions: ['ada', 'carol'] })
  await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
}

test('a job that is delivered twice changes nothing the second time', async () => {
  const api = await server.freshApi()
  await makeAll(api)
  const payload = { n: 1 }
  const more = { payload, context: { app: 'web' }, tenant: { identifier: 'acme', name: 'New' }, actor: 'carol' }
  await trigger(api, 'everything', [{ subscriberId: 'bob', firstName: 'Bob', email: 'bob@example.com' }, 'ada'], more)
  await trigger(api, 'everything', [{ type: 'Topic', topicKey: 'all', exclude: ['carol'] }, { topicKey: 'none' }], {
    payload,
  })
  await api.post('/v1/events/trigger/broadcast', { name: 'everything', payload })
  await server.drain(twice)
  for (let passed = 0; passed < 3; passed += 1) {
    server.clock.advance({ hours: 1 })
    await server.drain(twice)
  }
  // Start, calls, fan-out, and a wake for each wait.
  expect(repeated).toBeGreaterThan(8)
  const { rows } = await sql`
    SELECT FROM notifications WHERE environment_id = ${api.environmentId} AND status <> 'completed'`.execute(
    server.database.db,
  )
  expect(rows).toEqual([])
  const inInbox = (await contentsOf(api, 'bob')).filter((content) => !content.startsWith('<'))
  expect(inInbox).toEqual(['First 1', 'First 1', 'Asked', 'Last 2 42'])
  expect(vendor.asked.filter(({ path }) => path === '/mail')).toHaveLength(1)
  expect((await contentsOf(api, 'ada')).filter((content) => content.startsWith('Last'))).toHaveLength(1)
})

test('jobs held by two workers at once are done once', async () => {
  const api = await server.freshApi()
  await makeAll(api)
  const together = async (work: () => Promise<void>) => {
    // One of the two may lose to the other; the queue would deliver it again.
    await Promise.allSettled([work(), work()])
    await work()
  }
  for (let n = 1; n <= 3; n += 1) await trigger(api, 'everything', ['ada', 'bob'], { payload: { n } })
  vendor.asked.length = 0
  await server.drain(together)
  for (let passed = 0; passed < 3; passed += 1) {
    server.clock.advance({ hours: 1 })
    await server.drain(together)
  }
  for (const subscriberId of ['ada', 'bob']) {
    const contents = await contentsOf(api, subscriberId)
    expect(contents.filter((content) => content.startsWith('First')).sort()).toEqual(['First 1', 'First 2', 'First 3'])
    expect(contents.filter((content) => content.startsWith('Last')).length).toBeLessThanOrEqual(1)
  }
  const { rows } = await sql`
    SELECT FROM notifications WHERE environment_id = ${api.environmentId} AND status = 'processing'`.execute(
    server.database.db,
  )
  expect(rows).toEqual([])
})
