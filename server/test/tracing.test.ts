// A trace from the request to the provider, through two processes, as a collector receives it.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { freePort } from './free-port.ts'
import { usePrograms } from './program.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'
import { type Asked, useVendor } from './vendor.ts'
import { verified } from './webhook-receiver.ts'

const programs = usePrograms()
const collector = useVendor()
const provider = useVendor()
const application = useVendor()
let name: string
let client: pg.Client
let settings: Record<string, string>

vi.setConfig({ testTimeout: 240_000 })

beforeEach(async () => {
  name = `t_${randomBytes(6).toString('hex')}`
  const databaseUrl = await createTestDatabase(name)
  settings = {
    ...{ DATABASE_URL: databaseUrl, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: 'the-key-of-development' },
    BELFRY_ALLOW_PRIVATE_ADDRESSES: 'development',
    ...{ BELFRY_CANARY: 'false', BELFRY_DRAIN_SECONDS: '0' },
  }
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
})

afterEach(async () => {
  await client.end()
  await dropTestDatabase(name)
})

const start = async (role: string, more: Record<string, string> = {}) =>
  programs.start({ ...settings, ...more, PORT: String(await freePort()), BELFRY_ROLE: role }).ready()

interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: Array<{ key: string; value: Record<string, string> }>
  links?: Array<{ traceId: string }>
}

const spansIn = ({ body }: Asked) =>
  JSON.parse(body).resourceSpans.flatMap((resource: any) =>
    resource.scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: SentSpan) => ({ ...span, of: valueIn(resource.resource.attributes, 'belfry.role') })),
    ),
  ) as Array<SentSpan & { of: string }>

const valueIn = (attributes: SentSpan['attributes'], wanted: string) =>
  Object.values(attributes.find(({ key }) => key === wanted)?.value ?? {})[0]

const traceOf = (number: number) => String(number).padStart(32, 'a')
const callersSpan = 'b'.repeat(16)
const headerOf = (traceId: string) => ({ traceparent: `00-${traceId}-${callersSpan}-01` })

test('a trace goes from the request through both processes to the provider and to webhooks, without content', async () => {
  collector.plays(() => ({ status: 200, body: {} }))
  provider.plays(({ body }) => (body.includes('out of order') ? { status: 503 } : { body: { id: 'taken' } }))
  application.plays(() => ({ status: 200 }))
  const traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  }
  const [server, worker] = [await start('api', traced), await start('worker', traced)]
  const api = new Api(server.url, 'the-key-of-development', '', '')
  const credentials = { baseUrl: `${provider.url}/sms`, apiKeyRequestHeader: 'x-key', apiKey: 'hush', from: '+1' }
  const integration = { providerId: 'generic-sms', channel: 'sms', active: true, credentials }
  const { body: made } = await api.post('/v1/integrations', integration)
  expect(await api.post(`/v1/integrations/${made._id}/set-primary`, {})).toMatchObject({ status: 200 })
  const { body: endpoint } = await api.post('/v2/webhooks/endpoints', {
    ...{ url: `${application.url}/hooks`, eventTypes: ['message.sent'] },
  })
  const sms = { name: 'text', type: 'sms', controlValues: { body: '{{payload.words}}' } }
  const digest = { name: 'wait', type: 'digest', controlValues: { amount: 1, unit: 'hours' } }
  for (const [workflowId, steps] of [
    ['greet', [{ name: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } }, sms]],
    ['gather', [digest, { name: 'inbox', type: 'in_app', controlValues: { body: 'Several' } }]],
  ] as const)
    expect(await api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps })).toMatchObject({
      status: 201,
    })
  const send = async (workflow: string, number: number, words: string) => {
    const to = { subscriberId: 'ada', phone: '+4912345678' }
    const body = { name: workflow, to, payload: { words }, transactionId: `t-${number}` }
    expect((await api.post('/v1/events/trigger', body, headerOf(traceOf(number)))).status).toBe(201)
  }

  await send('greet', 1, 'a word nobody else should read')
  await expect.poll(() => provider.asked.length, { timeout: 60_000 }).toBe(1)
  // One for the in-app message, one for the text message.
  await expect.poll(() => application.asked.length, { timeout: 60_000 }).toBe(2)
  const digestOf = async (number: number) => {
    const found = await client.query<{ run: string; status: string }>(
      `SELECT n.id AS run, j.status FROM notifications n JOIN jobs j ON j.notification_id = n.id AND j.type = 'digest'
       WHERE n.transaction_id = $1`,
      [`t-${number}`],
    )
    return found.rows[0]
  }
  await send('gather', 2, 'one')
  await expect.poll(() => digestOf(2), { timeout: 60_000 }).toMatchObject({ status: 'delayed' })
  await send('gather', 3, 'two')
  await expect.poll(() => digestOf(3), { timeout: 60_000 }).toMatchObject({ status: 'merged' })
  const ended = await api.post(`/v1/notifications/${(await digestOf(2))?.run}/end-wait`, {})
  expect(ended).toMatchObject({ status: 200 })
  // Enough failures in a row to open the integration's circuit breaker, which is logged.
  for (let number = 4; number < 9; number += 1) await send('greet', number, 'out of order')
  await expect.poll(() => worker.output, { timeout: 60_000 }).toContain('its circuit is open for a while')
  const inboxOf = async () =>
    (await client.query("SELECT FROM notifications WHERE transaction_id = 't-2' AND status = 'completed'")).rowCount
  await expect.poll(inboxOf, { timeout: 60_000 }).toBe(1)
  expect(await worker.stop()).toMatchObject({ code: 0 })
  expect(await server.stop()).toMatchObject({ code: 0 })

  const spans = collector.asked.flatMap(spansIn)
  const own = spans.filter(({ traceId }) => traceId === traceOf(1))
  expect(own.map((span) => `${span.of}: ${span.name}`).sort()).toEqual([
    'api: POST /v1/events/trigger',
    'api: accept',
    'worker: POST',
    'worker: POST',
    'worker: POST',
    'worker: deliver sms',
    'worker: send generic-sms',
    'worker: start',
    'worker: step in_app',
    'worker: webhook',
    'worker: webhook',
  ])
  const known = new Set([callersSpan, ...own.map(({ spanId }) => spanId)])
  for (const span of own) expect(known, span.name).toContain(span.parentSpanId)
  const delivery = own.find((span) => span.name === 'deliver sms')?.attributes ?? []
  expect(Object.fromEntries(delivery.map(({ key, value }) => [key, Object.values(value)[0]]))).toMatchObject({
    'belfry.environment_id': expect.stringMatching(/^[0-9a-f]{24}$/),
    'belfry.workflow': 'greet',
    'belfry.transaction_id': 't-1',
    'belfry.step': 'text',
    'belfry.provider': 'generic-sms',
    'belfry.outcome': 'done',
  })

  // Vendors need not know the trace; the user's own applications may continue it.
  expect(provider.asked[0]?.headers).not.toHaveProperty('traceparent')
  const told = application.asked.map((asked) => ({ ...asked, ...verified(asked, endpoint.secret, new Date()) }))
  const first = told.filter(({ data }) => data.object.transactionId === 't-1')
  expect(first.map(({ headers }) => headers.traceparent.slice(0, 35))).toEqual([`00-${traceOf(1)}`, `00-${traceOf(1)}`])
  for (const { body } of application.asked) expect(body).not.toContain(traceOf(1))

  const gathered = spans.filter((span) => span.name === 'step digest' && span.links?.length)
  expect(gathered.map(({ traceId, links }) => [traceId, links?.map((link) => link.traceId)])).toEqual([
    [traceOf(2), [traceOf(3)]],
  ])
  const failed = spans.find((span) => span.name === 'send generic-sms' && span.traceId === traceOf(8))
  expect(valueIn(failed?.attributes ?? [], 'error.type')).toBe('unavailable')

  const line = worker.output.split('\n').find((text) => text.includes('its circuit is open for a while')) ?? '{}'
  const logged = JSON.parse(line)
  expect(spans.filter(({ spanId }) => spanId === logged.span_id)).toEqual([
    expect.objectContaining({ traceId: logged.trace_id, name: 'deliver sms' }),
  ])
  const sent = collector.asked.map(({ body }) => body).join('\n')
  for (const secret of ['a word nobody', 'hush', '/sms', 'the-key-of-development', '+4912345678'])
    expect(sent).not.toContain(secret)
})

test("without a collector nothing is traced, and the caller's trace is not stored", async () => {
  const { url } = await start('all')
  const api = new Api(url, 'the-key-of-development', '', '')
  const steps = [{ name: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } }]
  await api.post('/v2/workflows', { name: 'greet', workflowId: 'greet', active: true, steps })
  const answer = await api.post('/v1/events/trigger', { name: 'greet', to: 'ada' }, headerOf(traceOf(1)))
  expect(answer.status).toBe(201)
  expect((await client.query('SELECT trace FROM events')).rows).toEqual([{ trace: null }])
  expect(collector.asked).toEqual([])
})
