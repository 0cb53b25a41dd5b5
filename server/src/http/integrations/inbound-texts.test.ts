import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, sendTo, useServer } from '../../../test/server.ts'
import { makeShadow } from '../../../test/shadow.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const sms: Step = { type: 'sms', controlValues: { body: 'Hi' } }
const number = '+14155550123'
let api: Api
let inbound: string
let texts = 0

beforeEach(async () => {
  await answerFor(await server.freshApi())
})

async function answerFor(environment: Api): Promise<void> {
  api = environment
  vendor.plays(() => ({ body: { id: 'm1' } }))
  const made = await api.post('/v1/integrations', {
    ...{ providerId: 'generic-sms', channel: 'sms', name: 'Texts', active: true },
    credentials: {
      baseUrl: vendor.url,
      apiKeyRequestHeader: 'x-key',
      apiKey: 'k',
      secretKey: 'secret',
      from: '+15550001',
    },
    configurations: { inboundWebhookEnabled: true },
  })
  if (made.status !== 201) throw new Error(made.text)
  inbound = `${server.url}/v2/inbound-webhooks/delivery-providers/${api.environmentId}/${made.body._id}`
  await makeWorkflow(api, 'code', [sms])
}

const post = (body: object, key = 'secret') => {
  const text = JSON.stringify(body)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return sendTo(inbound, 'POST', text, { 'content-type': 'application/json', 'x-svc-signature': signature })
}
const says = (text: string, id?: string) => {
  texts += 1
  return post({ inbound: [{ id: id ?? `t${texts}`, from: number, to: '+15550001', text }] })
}
const entries = async () => (await api.get('/v1/suppressions')).body.data
const answers = () => vendor.asked.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body))
const run = async (transactionId: string) => {
  await trigger(api, 'code', { subscriberId: 'ada', phone: number }, { transactionId })
  await server.drain()
  return (await runOf(api, transactionId)).jobs[0]
}

describe('a text', () => {
  test('that says STOP holds the number back and is confirmed once; START takes it back', async () => {
    expect(await says('Stop!')).toMatchObject({ status: 200 })
    expect(await says('please stop texting me')).toMatchObject({ status: 200 })
    expect(await entries()).toMatchObject([
      { channel: 'sms', address: number, reason: 'stop', source: 'sms', scope: { type: 'all' } },
    ])
    expect(answers()).toMatchObject([{ to: number, from: '+15550001', content: expect.stringContaining('START') }])
    expect((await run('held')).reason).toBe('suppressed')
    await says('start')
    expect(await entries()).toEqual([])
    expect(answers()).toHaveLength(2)
    expect((await run('passes')).status).toBe('completed')
  })

  test('that says STOP holds the number back however the subscriber wrote it', async () => {
    const from = '+4915112345679'
    await post({ inbound: [{ id: 'spelt', from, to: '+15550001', text: 'STOP' }] })
    for (const [at, phone] of ['+49 (0)151 12345679', `tel:${from};ext=5`, `\u202a${from}\u202c`].entries()) {
      await trigger(api, 'code', { subscriberId: `s${at}`, phone }, { transactionId: `spelt-${at}` })
      await server.drain()
      expect([phone, (await runOf(api, `spelt-${at}`)).jobs[0].reason]).toEqual([phone, 'suppressed'])
    }
  })

  test('that says START takes back STOP and what was unsubscribed, and nothing else about the number', async () => {
    const about = { channel: 'sms', address: number }
    await says('STOP')
    for (const more of [{}, { scope: { type: 'commercial' } }, { scope: { type: 'workflow', workflowId: 'code' } }])
      await api.post('/v1/suppressions', { ...about, reason: 'unsubscribe', ...more })
    await api.post('/v1/suppressions', { ...about, reason: 'manual' })
    await api.post('/v1/suppressions', { ...about, address: '+14155550199', reason: 'unsubscribe' })
    expect(await entries()).toHaveLength(6)
    await says('START')
    expect(await entries()).toMatchObject([
      { address: '+14155550199', reason: 'unsubscribe' },
      { address: number, reason: 'manual' },
    ])
  })

  test('told twice counts once, and is told to webhooks with its keyword', async () => {
    await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hook` })
    for (let i = 0; i < 2; i += 1) await says('HELP', 'same')
    await says('Where is my order?')
    const events = (await api.get('/v2/webhooks/events?limit=50')).body.data
    const told = events.filter(({ type }: { type: string }) => type === 'sms.received')
    expect(told).toHaveLength(2)
    expect(await entries()).toEqual([])
  })

  test('with other settings refuses commercial messages only, answers in your words, or is left to the provider', async () => {
    const path = `/v2/environments/${api.environmentId}/consent`
    await api.patch(path, { sms: { scope: 'commercial', stopReply: 'Bye', extraStopWords: ['genug'] } })
    await says('Genug')
    expect(await entries()).toMatchObject([{ scope: { type: 'commercial' } }])
    expect(answers()).toMatchObject([{ content: 'Bye' }])
    expect((await run('passes')).status).toBe('completed')
    await api.patch(path, { sms: { keywords: false } })
    await says('start')
    expect(await entries()).toHaveLength(1)
  })

  test('STOP is confirmed once a day, HELP once a minute, and neither is a run or a message', async () => {
    await says('STOP')
    server.clock.advance({ hours: 23 })
    await says('STOP')
    expect(answers()).toHaveLength(1)
    server.clock.advance({ hours: 2 })
    await says('STOP')
    expect(answers()).toHaveLength(2)
    await says('HELP')
    server.clock.advance({ seconds: 59 })
    await says('HELP')
    expect(answers()).toHaveLength(3)
    server.clock.advance({ seconds: 2 })
    await says('HELP')
    expect(answers()).toHaveLength(4)
    expect((await api.get('/v1/notifications')).body.data).toEqual([])
    expect((await api.get('/v1/messages')).body.data).toEqual([])
  })

  test('to an environment in front of another service is heard, and answered once something is delivered here', async () => {
    const { here } = await makeShadow(server)
    await answerFor(here)
    for (const text of ['STOP', 'HELP', 'START', 'STOP']) expect(await says(text)).toMatchObject({ status: 200 })
    expect(await entries()).toMatchObject([{ channel: 'sms', address: number, reason: 'stop' }])
    expect(answers()).toEqual([])
    server.clock.advance({ days: 2 })
    expect(await here.patch('/v2/shadow', { live: ['code'] })).toMatchObject({ status: 200 })
    await says('HELP')
    await says('STOP')
    expect(answers()).toMatchObject([{ to: number }, { to: number, content: expect.stringContaining('START') }])
    expect(await here.patch('/v2/shadow', { live: [] })).toMatchObject({ status: 200 })
    server.clock.advance({ days: 2 })
    for (const text of ['STOP', 'HELP']) await says(text)
    expect(answers()).toHaveLength(2)
  })

  test('or report without any key is refused, where the integration has none', async () => {
    const { _id } = (await api.get('/v1/integrations')).body.find(
      ({ providerId }: { providerId: string }) => providerId === 'generic-sms',
    )
    const credentials = {
      baseUrl: vendor.url,
      apiKeyRequestHeader: 'x-key',
      apiKey: 'k',
      from: '+15550001',
      secretKey: '',
    }
    expect(await api.put(`/v1/integrations/${_id}`, { credentials, check: false })).toMatchObject({ status: 200 })
    expect(await post({ events: [{ id: 'm1', status: 'complaint' }] }, '')).toMatchObject({ status: 401 })
  })

  test('that is not signed is refused', async () => {
    expect(await post({ inbound: [{ id: 'x', from: number, to: '1', text: 'STOP' }] }, 'wrong')).toMatchObject({
      status: 401,
    })
    expect(await entries()).toEqual([])
  })
})

test('a server of your own reports bounces and deliveries', async () => {
  await api.patch(`/v2/environments/${api.environmentId}/consent`, { softBounces: { count: 2 } })
  vendor.plays(({ body }) => ({ body: { id: JSON.parse(body).id } }))
  const idOf = async (transactionId: string) => {
    await run(transactionId)
    return JSON.parse(vendor.asked.at(-1)?.body ?? '{}').id
  }
  const [one, two, three, four] = [await idOf('1'), await idOf('2'), await idOf('3'), await idOf('4')]
  const report = (id: string, status: string, more: object = {}) => post({ events: [{ id, status, ...more }] })
  expect(await report(one, 'undelivered', { eventId: 'a' })).toMatchObject({ status: 200, body: [{ id: one }] })
  await report(two, 'delivered', { eventId: 'b' })
  await report(three, 'blocked', { eventId: 'c' })
  expect(await entries()).toEqual([])
  await report(four, 'bounced', { eventId: 'd', recipient: number })
  expect(await entries()).toMatchObject([{ reason: 'soft_bounces', source: 'provider', address: number }])
  await report(one, 'bounced', { eventId: 'e', permanent: true, recipient: '+14155559999' })
  expect(await entries()).toHaveLength(1)
  await report(one, 'bounced', { eventId: 'f', permanent: true })
  expect((await entries()).map(({ reason }: { reason: string }) => reason)).toContain('hard_bounce')
})

test('more than a thousand reports or texts at once are refused as a whole', async () => {
  vendor.plays(({ body }) => ({ body: { id: JSON.parse(body).id } }))
  await run('many')
  const { id } = JSON.parse(vendor.asked.at(-1)?.body ?? '{}')
  const events = Array.from({ length: 1_001 }, (_, index) => ({
    ...{ id: index === 0 ? id : `other-${index}`, status: 'complaint', eventId: `e${index}` },
  }))
  const refused = { status: 413, body: { code: 'too_many_rows' } }
  expect(await post({ events })).toMatchObject(refused)
  const inbound = events.map((_, index) => ({ id: `t${index}`, from: number, to: '+15550100', text: 'STOP' }))
  expect(await post({ inbound })).toMatchObject(refused)
  expect(await entries()).toEqual([])
  expect(await post({ events: events.slice(0, 1_000) })).toMatchObject({ status: 200, body: [{ id }] })
  expect(await entries()).toMatchObject([{ reason: 'complaint' }])
})

describe('what feeds the list, row by row:', () => {
  const soft = { reason: 'soft_bounces', scope: { type: 'all' } }
  test.each<[string, object, object | undefined]>([
    ['complaint', {}, { reason: 'complaint', scope: { type: 'all' }, expiresAt: null }],
    ['spam', {}, { reason: 'complaint', scope: { type: 'all' }, expiresAt: null }],
    ['bounced', { permanent: true }, { reason: 'hard_bounce', scope: { type: 'all' }, expiresAt: null }],
    ['unsubscribed', {}, { reason: 'unsubscribe', scope: { type: 'commercial' }, expiresAt: null }],
    ['bounced', {}, soft],
    ['blocked', {}, soft],
    ['dropped', {}, soft],
    ['rejected', {}, soft],
    ['undelivered', {}, soft],
    ['delivered', {}, undefined],
    ['delayed', {}, undefined],
    ['deferred', {}, undefined],
    ['opened', {}, undefined],
    ['clicked', {}, undefined],
    ['failed', {}, undefined],
  ])('%s %j', async (status, more, entry) => {
    await api.patch(`/v2/environments/${api.environmentId}/consent`, { softBounces: { count: 1, suppressDays: 30 } })
    vendor.plays(({ body }) => ({ body: { id: JSON.parse(body).id } }))
    await run(`row-${status}`)
    const { id } = JSON.parse(vendor.asked.at(-1)?.body ?? '{}')
    for (let times = 0; times < 2; times += 1)
      expect(await post({ events: [{ id, status, eventId: 'once', ...more }] })).toMatchObject({ status: 200 })
    const expiresAt = new Date(server.clock.now().getTime() + 30 * 86_400_000).toISOString()
    expect(await entries()).toMatchObject(entry ? [{ expiresAt, ...entry, source: 'provider', address: number }] : [])
  })
})
