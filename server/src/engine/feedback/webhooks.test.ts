import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import { insertMessage, insertRun } from '../../../test/activity.ts'
import { statementsOf } from '../../../test/plan.ts'
import { inApp, makeWorkflow, messagesOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor, type Vendor } from '../../../test/vendor.ts'
import { makeEndpoint, toldOf, verified } from '../../../test/webhook-receiver.ts'
import { deleteSubscriber } from '../../db/queries/subscribers.ts'
import { HttpClient } from '../../providers/http-client.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const second = useVendor()

// Retries left over from one test must not disturb the next.
afterEach(() => sql`TRUNCATE webhook_deliveries, webhook_endpoints`.execute(server.database.db))

const accepts = (...vendors: Vendor[]) => {
  for (const each of vendors) each.plays(() => ({ status: 204, body: '' }))
}
const typesOf = (secret: string) => toldOf(vendor, secret, server.clock).map(({ type }) => type)
const deliveriesOf = async (api: Api, query = '') => (await api.get(`/v2/webhooks/deliveries${query}`)).body.data
const createSubscriber = (api: Api, subscriberId: string) => api.post('/v2/subscribers', { subscriberId })

test('an in-app message is reported with everything but its content', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor)
  const workflowId = await makeWorkflow(api, 'welcome', [inApp('The secret plan', { subject: 'Psst' })])
  const transactionId = await trigger(api, 'welcome', 'ada', { context: { tenant: 'acme' } })
  await server.drain()

  const told = toldOf(vendor, secret, server.clock)
  expect(told.map(({ type }) => type)).toEqual([
    'message.delivered',
    'message.sent',
    'subscriber.created',
    'workflow.created',
  ])
  const { identifier } = await server.database.db
    .selectFrom('environments')
    .select('identifier')
    .where('id', '=', api.environmentId)
    .executeTakeFirstOrThrow()
  const [delivered, sent] = told
  expect(sent).toEqual({
    id: expect.stringMatching(/^evt_[0-9a-f]{24}$/),
    type: 'message.sent',
    object: 'message',
    timestamp: server.clock.now().toISOString(),
    environmentId: identifier,
    data: {
      subscriberId: 'ada',
      object: {
        _id: expect.stringMatching(/^[0-9a-f]{24}$/),
        _templateId: workflowId,
        _environmentId: api.environmentId,
        _organizationId: api.organizationId,
        _notificationId: expect.stringMatching(/^[0-9a-f]{24}$/),
        subscriberId: 'ada',
        templateIdentifier: 'welcome',
        workflowId: 'welcome',
        stepId: 'in_app-0',
        createdAt: server.clock.now().toISOString(),
        updatedAt: server.clock.now().toISOString(),
        archivedAt: null,
        archived: false,
        transactionId,
        channel: 'in_app',
        seen: false,
        read: false,
        snoozedUntil: null,
        deliveredAt: [server.clock.now().toISOString()],
        providerId: 'svc',
        lastSeenDate: null,
        firstSeenDate: null,
        lastReadDate: null,
        status: 'sent',
        severity: 'none',
        errorId: null,
        errorText: null,
        contextKeys: ['tenant:acme'],
      },
    },
  })
  expect(delivered.data.object).toEqual(sent.data.object)
  expect(delivered.id).not.toBe(sent.id)
  expect(vendor.asked[0]).toMatchObject({
    method: 'POST',
    path: '/hooks',
    headers: { 'content-type': 'application/json', 'webhook-id': expect.stringMatching(/^evt_/) },
  })
  expect(JSON.stringify([sent, delivered])).not.toContain('secret plan')
})

test('an endpoint gets only the types it subscribes to, and without endpoints nothing is written', async () => {
  const api = await server.freshApi()
  accepts(vendor, second)
  await makeWorkflow(api, 'quiet', [inApp()])
  await trigger(api, 'quiet', 'ada')
  await server.drain()
  const eventsOf = async () => (await api.get('/v2/webhooks/events?limit=100')).body.data
  expect(await eventsOf()).toEqual([])

  const { secret } = await makeEndpoint(api, vendor, { eventTypes: ['subscriber.created', 'message.read'] })
  await makeEndpoint(api, second, { active: false })
  await trigger(api, 'quiet', 'bob')
  await server.drain()
  expect(typesOf(secret)).toEqual(['subscriber.created'])
  expect(await eventsOf()).toHaveLength(1)
  expect(second.asked).toEqual([])
})

test('a new endpoint hears of the next trigger, in every process', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  await makeWorkflow(api, 'soon', [inApp()])
  await trigger(api, 'soon', 'ada')
  await server.drain()
  const { secret, id } = await makeEndpoint(api, vendor, { eventTypes: ['message.sent'] })
  await trigger(api, 'soon', 'ada')
  await server.drain()
  expect(typesOf(secret)).toEqual(['message.sent'])
  await api.delete(`/v2/webhooks/endpoints/${id}`)
  await trigger(api, 'soon', 'ada')
  await server.drain()
  expect(vendor.asked).toHaveLength(1)
})

test('actions in an inbox are reported once, when they change something', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  await makeWorkflow(api, 'inbox', [inApp()])
  await trigger(api, 'inbox', 'ada')
  await trigger(api, 'inbox', 'ada')
  await server.drain()
  const { data } = (await api.get('/v2/subscribers/ada/notifications')).body
  const { secret } = await makeEndpoint(api, vendor)
  const one = `/v2/subscribers/ada/notifications/${data[0].id}`
  const until = new Date(server.clock.now().getTime() + 3_600_000).toISOString()
  const steps: Array<[path: string, body: object | undefined, expected: string[]]> = [
    [`${one}/read`, undefined, ['message.read']],
    [`${one}/read`, undefined, []],
    [`${one}/unread`, undefined, ['message.unread']],
    [`${one}/archive`, undefined, ['message.archived']],
    [`${one}/unarchive`, undefined, ['message.unarchived']],
    [`${one}/snooze`, { snoozeUntil: until }, ['message.snoozed']],
    [`${one}/unsnooze`, undefined, ['message.unsnoozed']],
  ]
  for (const [path, body, expected] of steps) {
    vendor.asked.length = 0
    const answer = await api.patch(path, body)
    expect(answer.status, path).toBeLessThan(300)
    await server.drain()
    expect(typesOf(secret), path).toEqual(expected)
  }

  vendor.asked.length = 0
  await api.patch(`${one}/snooze`, { snoozeUntil: until })
  server.clock.advance({ hours: 2 })
  await server.drain()
  expect(vendor.asked.map(({ body }) => JSON.parse(body).type)).toEqual(['message.snoozed', 'message.unsnoozed'])

  vendor.asked.length = 0
  const marked = await api.post('/v1/subscribers/ada/messages/mark-all', { markAs: 'seen' })
  expect(marked.body).toBe(1)
  await api.delete(`/v1/messages/${data[1].id}`)
  await api.delete('/v2/subscribers/ada')
  await server.drain()
  const told = toldOf(vendor, secret, server.clock)
  expect(told.map(({ type, data: { object } }) => [type, object._id])).toEqual([
    ['message.deleted', expect.any(String)],
    ['message.deleted', expect.any(String)],
    ['message.seen', data[1].id],
    ['subscriber.deleted', expect.any(String)],
  ])
  expect(told[2].data.object).toMatchObject({ seen: true, firstSeenDate: server.clock.now().toISOString() })
})

test('workflows, subscribers and preferences are reported, with the previous state where it is known', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor)
  const told = async () => {
    vendor.asked.length = 0
    await server.drain()
    return toldOf(vendor, secret, server.clock)
  }

  const id = await makeWorkflow(api, 'told', [inApp()])
  expect(await told()).toMatchObject([
    { type: 'workflow.created', object: 'workflow', data: { object: { _id: id, workflowId: 'told', name: 'told' } } },
  ])
  await api.patch('/v2/workflows/told', { tags: ['new'] })
  expect(await told()).toMatchObject([
    { type: 'workflow.updated', data: { object: { tags: ['new'] }, previousObject: { workflowId: 'told', tags: [] } } },
  ])

  await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  await api.post('/v2/subscribers?failIfExists=false', { subscriberId: 'ada', firstName: 'Ada' })
  await api.patch('/v2/subscribers/ada', { lastName: 'Lovelace' })
  expect(await told()).toMatchObject([
    { type: 'subscriber.created', object: 'subscriber', data: { object: { email: 'ada@example.com' } } },
    { type: 'subscriber.updated', data: { object: { subscriberId: 'ada' }, subscriberId: 'ada' } },
    { type: 'subscriber.updated', data: { object: { subscriberId: 'ada' } } },
  ])

  // A trigger that repeats what is stored is no news.
  await trigger(api, 'told', { subscriberId: 'ada', firstName: 'Ada' })
  await trigger(api, 'told', { subscriberId: 'ada', firstName: 'Augusta' })
  await api.post('/v1/subscribers/bulk', { subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }] })
  expect((await told()).filter(({ object }) => object === 'subscriber')).toMatchObject([
    { type: 'subscriber.created', data: { subscriberId: 'bob' } },
    { type: 'subscriber.updated', data: { object: { firstName: 'Augusta' }, previousObject: { firstName: 'Ada' } } },
  ])

  await api.patch('/v2/subscribers/ada/preferences', { channels: { email: false } })
  await api.patch('/v2/subscribers/ada/preferences', { workflowId: 'told', channels: { in_app: false } })
  const preferences = await told()
  expect(preferences).toHaveLength(2)
  expect(preferences).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        type: 'preference.updated',
        object: 'preference',
        data: { subscriberId: 'ada', object: expect.objectContaining({ level: 'global', channels: { email: false } }) },
      }),
      expect.objectContaining({
        data: {
          subscriberId: 'ada',
          object: expect.objectContaining({
            level: 'template',
            subscriberId: 'ada',
            workflow: { id, identifier: 'told', name: 'told' },
            channels: { in_app: false },
          }),
        },
      }),
    ]),
  )

  await api.delete('/v2/workflows/told')
  expect(await told()).toMatchObject([{ type: 'workflow.deleted', data: { object: { _id: id } } }])
})

test('marking as seen is reported, marking as unseen is not', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor, { eventTypes: ['message.seen', 'message.read', 'message.unread'] })
  await makeWorkflow(api, 'welcome', [inApp()])
  await trigger(api, 'welcome', 'ada')
  await server.drain()
  const [{ _id: messageId }] = await messagesOf(api, 'channel=in_app')
  for (const markAs of ['seen', 'unseen', 'read', 'unread']) {
    const answer = await api.post('/v1/subscribers/ada/messages/mark-as', { messageId, markAs })
    expect(answer).toMatchObject({ status: 201 })
  }
  await server.drain()
  expect(typesOf(secret)).toEqual(['message.read', 'message.seen', 'message.unread'])
})

test('device tokens and chat addresses of subscribers are never reported', async () => {
  const api = await server.freshApi()
  vendor.plays(({ path }) => (path === '/hooks' ? { status: 204, body: '' } : { body: { id: '1' } }))
  await makeEndpoint(api, vendor)
  await api.post('/v1/integrations', { providerId: 'fcm', channel: 'push', active: true, credentials: {} })
  await createSubscriber(api, 'ada')
  await api.put('/v1/subscribers/ada/credentials', { providerId: 'fcm', credentials: { deviceTokens: ['tok-123'] } })
  const chat = { providerId: 'discord', channel: 'chat', identifier: `chat-${api.environmentId}`, active: true }
  await api.post('/v1/integrations', { ...chat, credentials: {} })
  const webhookUrl = `${vendor.url}/chat-123`
  await api.put('/v1/subscribers/ada/credentials', { providerId: 'discord', credentials: { webhookUrl } })
  const endpoint = { type: 'webhook', endpoint: { url: webhookUrl } }
  const linked = { integrationIdentifier: chat.identifier, subscriberId: 'ada', ...endpoint }
  expect(await api.post('/v1/channel-endpoints', linked)).toMatchObject({ status: 201 })
  await makeWorkflow(api, 'talk', [{ type: 'chat', controlValues: { body: 'Hi' } }])
  await trigger(api, 'talk', 'ada')
  await server.drain()
  await api.patch('/v2/subscribers/ada', { firstName: 'Ada' })
  await api.post('/v1/subscribers/bulk', { subscribers: [{ subscriberId: 'ada', firstName: 'A' }] })
  await api.delete('/v2/subscribers/ada')
  await server.drain()
  const told = vendor.asked.filter(({ path }) => path === '/hooks').map(({ body }) => body)
  expect(told.filter((body) => body.includes('message.sent'))).toHaveLength(2)
  expect(told.length).toBeGreaterThan(5)
  for (const body of told) expect(body).not.toMatch(/tok-123|chat-123/)
})

test('publishing reports to the target environment', async () => {
  const { development, production } = await server.freshOrganizationWide()
  accepts(vendor)
  await makeWorkflow(development, 'shared', [inApp()])
  const { secret } = await makeEndpoint(production, vendor)
  const answer = await development.post(`/v2/environments/${production.environmentId}/publish`, {
    sourceEnvironmentId: development.environmentId,
  })
  expect(answer, answer.text).toMatchObject({ status: 200 })
  await server.drain()
  expect(typesOf(secret)).toEqual(['workflow.created', 'workflow.published'])

  vendor.asked.length = 0
  await development.patch('/v2/workflows/shared', { tags: ['new'] })
  const path = '/v2/workflows/shared/sync'
  expect((await development.put(path, { targetEnvironmentId: production.environmentId })).status).toBe(200)
  await server.drain()
  expect(typesOf(secret).sort()).toEqual(['workflow.published', 'workflow.updated'])
})

test('a request times out after 15 seconds', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  await makeEndpoint(api, vendor)
  const calls = vi.spyOn(HttpClient.prototype, 'exchange')
  await createSubscriber(api, 'ada')
  await server.drain()
  expect(calls.mock.calls.map(([, request]) => request?.timeoutMs)).toEqual([15_000])
  calls.mockRestore()
})

test('a change that is rolled back is not reported', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  await makeEndpoint(api, vendor)
  expect(await createSubscriber(api, 'ada')).toMatchObject({ status: 201 })
  await server.drain()
  vendor.asked.length = 0
  const { db } = server.database
  await expect(
    db.transaction().execute(async (tx) => {
      await deleteSubscriber(tx, api.environmentId, 'ada', { keepMessages: false, now: server.clock.now() })
      throw new Error('no, after all')
    }),
  ).rejects.toThrow('no, after all')
  await server.drain()
  expect(vendor.asked).toEqual([])
})

test('an endpoint that fails is retried on schedule, with the same id and a fresh signature, then given up', async () => {
  const api = await server.freshApi()
  vendor.plays(() => ({ status: 503, body: 'come back later' }))
  const { id, secret } = await makeEndpoint(api, vendor)
  await createSubscriber(api, 'ada')
  await server.drain()
  expect(vendor.asked).toHaveLength(1)
  for (const [index, seconds] of [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000].entries()) {
    server.clock.advance({ seconds: seconds - 1 })
    await server.drain()
    expect(vendor.asked, `${seconds - 1} s after the last`).toHaveLength(index + 1)
    server.clock.advance({ seconds: 1 })
    await server.drain()
    expect(vendor.asked, `${seconds} s after the last`).toHaveLength(index + 2)
    for (const asked of vendor.asked.slice(-1)) verified(asked, secret, server.clock.now())
  }
  expect(vendor.asked).toHaveLength(8)
  expect(new Set(vendor.asked.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(new Set(vendor.asked.map(({ body }) => body)).size).toBe(1)
  const [delivery] = await deliveriesOf(api)
  expect(delivery).toMatchObject({ status: 'failed', attempts: 8, endpointId: id, nextAttemptAt: null })
  expect(delivery.history).toHaveLength(8)
  expect(delivery.history[0]).toMatchObject({
    status: 503,
    response: 'come back later',
    error: 'The endpoint answered with HTTP status 503',
  })
  server.clock.advance({ days: 2 })
  await server.drain()
  expect(vendor.asked).toHaveLength(8)
})

test('a redirect is not followed and counts as a failure', async () => {
  const api = await server.freshApi()
  vendor.plays(() => ({ status: 308, headers: { location: `${second.url}/hooks` } }))
  await makeEndpoint(api, vendor)
  await createSubscriber(api, 'ada')
  await server.drain()
  expect(vendor.asked).toHaveLength(1)
  expect(second.asked).toEqual([])
  const error = 'The endpoint answered with HTTP status 308'
  expect(await deliveriesOf(api)).toMatchObject([{ status: 'pending', attempts: 1, history: [{ status: 308, error }] }])
})

test('an endpoint that recovers gets what it missed, and its failures are forgotten', async () => {
  const api = await server.freshApi()
  vendor.plays(() => 'hang up')
  const { id } = await makeEndpoint(api, vendor)
  await createSubscriber(api, 'ada')
  await server.drain()
  expect((await api.get(`/v2/webhooks/endpoints/${id}`)).body).toMatchObject({
    failingSince: server.clock.now().toISOString(),
    active: true,
  })
  accepts(vendor)
  server.clock.advance({ seconds: 5 })
  await server.drain()
  expect(await deliveriesOf(api)).toMatchObject([{ status: 'delivered', attempts: 2 }])
  expect((await api.get(`/v2/webhooks/endpoints/${id}`)).body).toMatchObject({ failingSince: null })
})

test('an endpoint that fails for five days is turned off; turned on again, it can get everything it missed', async () => {
  const api = await server.freshApi()
  vendor.plays(() => ({ status: 500 }))
  const { id } = await makeEndpoint(api, vendor)
  const since = server.clock.now().toISOString()
  for (let day = 0; day <= 5; day += 1) {
    await createSubscriber(api, `s${day}`)
    await server.drain()
    const { body } = await api.get(`/v2/webhooks/endpoints/${id}`)
    expect(body, `day ${day}`).toMatchObject({ active: day < 5, failingSince: since })
    if (day < 5) server.clock.advance({ days: 1 })
  }
  expect((await api.get(`/v2/webhooks/endpoints/${id}`)).body.disabledAt).toBe(server.clock.now().toISOString())
  const asked = vendor.asked.length
  await createSubscriber(api, 'late')
  server.clock.advance({ days: 2 })
  await server.drain()
  expect(vendor.asked).toHaveLength(asked)
  expect(await deliveriesOf(api, '?status=pending')).toEqual([])

  accepts(vendor)
  vendor.asked.length = 0
  expect(await api.post(`/v2/webhooks/endpoints/${id}/replay`, { since })).toMatchObject({
    status: 400,
    body: { code: 'webhook_endpoint_off' },
  })
  expect(await api.patch(`/v2/webhooks/endpoints/${id}`, { active: true })).toMatchObject({
    body: { active: true, failingSince: null, disabledAt: null },
  })
  expect(await api.post(`/v2/webhooks/endpoints/${id}/replay`, { since })).toMatchObject({
    status: 202,
    body: { count: 6 },
  })
  await server.drain()
  expect(vendor.asked.map(({ body }) => JSON.parse(body).data.subscriberId).sort()).toEqual([
    's0',
    's1',
    's2',
    's3',
    's4',
    's5',
  ])
})

test('an address that must not be called is not called, and the delivery says why', async () => {
  const strict = await server.startAnother({ allowPrivateAddresses: false })
  const api = await server.freshApi()
  accepts(vendor)
  await makeEndpoint(api, vendor)
  await createSubscriber(api, 'ada')
  await strict.engine.wake()
  expect(vendor.asked).toEqual([])
  const [{ history }] = await deliveriesOf(api)
  expect(history[0].error).toContain('private or reserved')
  await strict.stop()
})

test('a process that dies between sending and recording sends the same event twice, never none', async () => {
  const api = await server.freshApi()
  const { id } = await makeEndpoint(api, vendor)
  accepts(vendor)
  // The receiver has it, but the database forgets that.
  const { db } = server.database
  await createSubscriber(api, 'ada')
  await server.drain()
  await sql`UPDATE webhook_deliveries SET status = 'sending', history = '[]', due_at = ${new Date(server.clock.now().getTime() + 60_000)}
            WHERE endpoint_id = ${id}`.execute(db)
  server.clock.advance({ seconds: 59 })
  await server.drain()
  expect(vendor.asked).toHaveLength(1)
  server.clock.advance({ seconds: 1 })
  await server.drain()
  expect(vendor.asked).toHaveLength(2)
  const [first, again] = vendor.asked
  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(again?.body).toBe(first?.body)
  expect(await deliveriesOf(api)).toMatchObject([{ status: 'delivered', attempts: 2 }])
})

test('an endpoint that hangs does not hold up others', async () => {
  const api = await server.freshApi()
  vendor.plays(() => undefined)
  second.plays(() => ({ status: 200 }))
  await makeEndpoint(api, vendor)
  await makeEndpoint(api, second)
  for (let index = 0; index < 40; index += 1) await createSubscriber(api, `s${index}`)
  const draining = server.drain()
  await expect.poll(() => second.asked.length).toBe(40)
  // One endpoint gets 16 requests at a time, and those are still waiting for an answer.
  expect(vendor.asked).toHaveLength(16)
  vendor.plays(() => 'hang up')
  vendor.disconnect()
  await draining
  expect(vendor.asked).toHaveLength(40)
})

test('many events go out in parallel, each once', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  await makeEndpoint(api, vendor)
  const subscribers = Array.from({ length: 300 }, (_, index) => ({ subscriberId: `s${index}` }))
  await api.post('/v1/subscribers/bulk', { subscribers })
  await server.drain()
  expect(vendor.asked).toHaveLength(300)
  expect(new Set(vendor.asked.map(({ headers }) => headers['webhook-id'])).size).toBe(300)
})

test('delivery reports of a provider are passed on', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor, {
    eventTypes: ['message.delivered', 'message.seen', 'message.read', 'message.failed'],
  })
  const integration = await api.post('/v1/integrations', {
    ...{ providerId: 'sendgrid', channel: 'email', credentials: { apiKey: 'k' } },
    configurations: { inboundWebhookEnabled: true },
  })
  const run = await insertRun(server, api, 'ada', { jobs: [{ type: 'email' }] })
  const sent = { channel: 'email' as const, provider_id: 'sendgrid', integration_id: integration.body._id }
  const id = await insertMessage(server, run, { ...sent, identifier: 'v1', delivered_at: null })
  const report = (...events: string[]) =>
    api.post(
      `/v2/inbound-webhooks/delivery-providers/${api.environmentId}/${integration.body._id}`,
      events.map((event, index) => ({ id: 'v1', event, timestamp: 1777630000 + index, reason: 'gone' })),
    )
  await report('delivered', 'open', 'click', 'click', 'bounce')
  await report('delivered', 'open', 'click', 'click', 'bounce')
  await server.drain()
  expect(toldOf(vendor, secret, server.clock)).toMatchObject([
    { type: 'message.delivered', data: { object: { _id: id, providerResponseId: 'v1' } } },
    { type: 'message.failed', data: { error: { message: 'gone' }, object: { status: 'error', errorText: 'gone' } } },
    { type: 'message.read', data: { object: { read: true } } },
    { type: 'message.seen', data: { object: { seen: true } } },
  ])
})

test('the documentation shows how to check a signature', async () => {
  const page = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8')
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? []
  const { readEvent } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readEvent(secret: string, headers: object, body: string, now: number): object
  }
  const api = await server.freshApi()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor)
  await createSubscriber(api, 'ada')
  await server.drain()
  const [asked] = vendor.asked
  if (!asked) throw new Error('nothing came')
  const now = server.clock.now().getTime()
  expect(readEvent(secret, asked.headers, asked.body, now)).toMatchObject({ type: 'subscriber.created' })
  expect(() => readEvent(secret, asked.headers, `${asked.body} `, now)).toThrow('The signature is wrong')
  expect(() => readEvent(secret, asked.headers, asked.body, now + 400_000)).toThrow('The request is too old')
})

test('a message that will be retried has not failed; one that was given up has, once', async () => {
  const { development: api } = await server.freshOrganization()
  accepts(vendor)
  const email = {
    type: 'email',
    controlValues: { subject: 'Hi', body: '<p>Hello</p>', editorType: 'html', layoutId: null },
  }
  await makeWorkflow(api, 'mail', [email])
  const { secret } = await makeEndpoint(api, vendor, { eventTypes: ['message.sent', 'message.failed'] })
  const told = async () => {
    vendor.asked.length = 0
    await server.drain()
    return toldOf(vendor, secret, server.clock)
  }
  const ada = { subscriberId: 'ada', email: 'ada@example.com' }

  await api.put('/v1/sandbox/faults', { channel: 'email', fault: 'server_error', count: 1 })
  const transactionId = await trigger(api, 'mail', ada)
  expect(await told()).toEqual([])
  server.clock.advance({ minutes: 5 })
  expect(await told()).toMatchObject([
    {
      type: 'message.sent',
      data: { object: { transactionId, channel: 'email', status: 'sent', providerId: 'svc-email' } },
    },
  ])

  await api.put('/v1/sandbox/faults', { channel: 'email', fault: 'bounce', count: 1 })
  await trigger(api, 'mail', ada)
  expect(await told()).toMatchObject([
    { type: 'message.failed', data: { error: { message: expect.any(String) }, object: { status: 'error' } } },
  ])

  await trigger(api, 'mail', 'nobody-knows-the-address')
  expect(await told()).toMatchObject([
    { type: 'message.failed', data: { error: { message: 'Subscriber does not have an email address' } } },
  ])
})

test('a failed push message is reported with its device, and whether the token is invalid', async () => {
  const { development: api } = await server.freshOrganization()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor, { eventTypes: ['message.failed'] })
  await makeWorkflow(api, 'ping', [{ type: 'push', controlValues: { subject: 'Ping', body: 'Pong' } }])
  const failing = async (fault: string) => {
    vendor.asked.length = 0
    await api.put('/v1/sandbox/faults', { channel: 'push', fault, count: 1 })
    await trigger(api, 'ping', 'ada')
    await server.drain()
    return toldOf(vendor, secret, server.clock)
  }
  // The sandbox uses the subscriber as device.
  expect(await failing('bounce')).toMatchObject([
    {
      data: {
        error: { message: expect.any(String), push: { reason: 'token_invalid', deviceToken: 'ada' } },
        object: { channel: 'push', deviceToken: 'ada' },
      },
    },
  ])
  expect(await failing('rejected')).toMatchObject([
    { data: { error: { push: { reason: 'generic_error', deviceToken: 'ada' } } } },
  ])
})

test('a failed chat message is reported as failed', async () => {
  const { development: api } = await server.freshOrganization()
  accepts(vendor)
  const { secret } = await makeEndpoint(api, vendor, { eventTypes: ['message.sent', 'message.failed'] })
  await makeWorkflow(api, 'talk', [{ type: 'chat', controlValues: { body: 'Hello' } }])
  await api.put('/v1/sandbox/faults', { channel: 'chat', fault: 'rejected', count: 1 })
  await trigger(api, 'talk', 'ada')
  await server.drain()
  expect(toldOf(vendor, secret, server.clock)).toMatchObject([
    { type: 'message.failed', data: { object: { channel: 'chat', status: 'error' } } },
  ])
})

test('without endpoints, a trigger and its run neither ask about webhooks nor write any', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'silent', [inApp()])
  await trigger(api, 'silent', { subscriberId: 'ada', firstName: 'Ada' })
  await server.drain()
  const statements = await statementsOf(async () => {
    const answer = await api.post('/v1/events/trigger', {
      name: 'silent',
      to: { subscriberId: 'bob', firstName: 'Bob' },
    })
    await server.drain()
    return answer
  }, ['webhook_events', 'webhook_endpoints', 'webhook_deliveries'])
  // Polling for due deliveries goes by the clock and does not count here.
  expect(statements.filter(({ text }) => !text.includes('WITH RECURSIVE waiting'))).toEqual([])
})

test('events and their deliveries are kept for 30 days', async () => {
  const api = await server.freshApi()
  accepts(vendor)
  const { id } = await makeEndpoint(api, vendor)
  await createSubscriber(api, 'ada')
  await server.drain()
  const purge = async () => {
    await sql`SELECT graphile_worker.add_job('purge_expired')`.execute(server.database.db)
    await server.drain()
    const counted = await Promise.all(['events', 'deliveries'].map((list) => api.get(`/v2/webhooks/${list}`)))
    return counted.map(({ body }) => body.totalCount)
  }
  server.clock.advance({ days: 29 })
  expect(await purge()).toEqual([1, 1])
  server.clock.advance({ days: 2 })
  expect(await purge()).toEqual([0, 0])
  expect(await api.get(`/v2/webhooks/endpoints/${id}`)).toMatchObject({ status: 200 })
})
