import { beforeEach, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { makeEndpoint, toldOf } from '../../../test/webhook-receiver.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
beforeEach(() => vendor.plays(() => ({ status: 200, body: { ok: true } })))

/** An environment with one endpoint that got events about ada, bob and cyd, a minute apart. */
async function tellOfThree() {
  const api = await server.freshApi()
  const { id } = await makeEndpoint(api, vendor)
  const times: string[] = []
  for (const subscriberId of ['ada', 'bob', 'cyd']) {
    times.push(server.clock.now().toISOString())
    await api.post('/v2/subscribers', { subscriberId })
    await server.drain()
    server.clock.advance({ minutes: 1 })
  }
  const { data } = (await api.get('/v2/webhooks/events')).body
  vendor.asked.length = 0
  return { api, id, times, events: data }
}
const about = () => vendor.asked.map(({ body }) => JSON.parse(body).data.subscriberId).sort()
const subscribersIn = async (api: Api, query: string) =>
  (await api.get(`/v2/webhooks/events?${query}`)).body.data
    .map((event: { data: object }) => event.data)
    .map(({ subscriberId }: { subscriberId: string }) => subscriberId)

test('events are listed as they were sent, newest first, by type, subscriber and time', async () => {
  const { api, times, events } = await tellOfThree()
  expect(events).toMatchObject([
    { id: expect.stringMatching(/^evt_/), type: 'subscriber.created', data: { object: { subscriberId: 'cyd' } } },
    { data: { subscriberId: 'bob' } },
    { data: { subscriberId: 'ada' } },
  ])
  expect(await subscribersIn(api, 'type=subscriber.created&limit=2')).toEqual(['cyd', 'bob'])
  expect(await subscribersIn(api, `after=${events[1].id}`)).toEqual(['ada'])
  expect(await subscribersIn(api, `before=${events[1].id}`)).toEqual(['cyd'])
  expect(await subscribersIn(api, 'type=subscriber.deleted')).toEqual([])
  expect(await subscribersIn(api, 'subscriberId=bob')).toEqual(['bob'])
  expect(await subscribersIn(api, `since=${times[1]}`)).toEqual(['cyd', 'bob'])
  expect(await subscribersIn(api, `since=${times[0]}&until=${times[1]}`)).toEqual(['ada'])
  expect(await api.get('/v2/webhooks/events?type=nothing')).toMatchObject({ status: 422 })
  expect(await api.get('/v2/webhooks/events?since=nothing')).toMatchObject({ status: 422 })

  const one = `/v2/webhooks/events/${events[0].id}`
  expect(await api.get(one)).toMatchObject({ status: 200, body: events[0] })
  const other = await server.freshApi()
  const missing = { status: 404, body: { message: `Webhook event ${events[0].id} not found` } }
  expect(await other.get(one)).toMatchObject(missing)
  expect(await other.post(`${one}/resend`)).toMatchObject(missing)
  expect((await other.get('/v2/webhooks/events')).body.data).toEqual([])
})

test('deliveries are listed by endpoint, event and status, with the response', async () => {
  const { api, id, events } = await tellOfThree()
  const list = async (query: string) => (await api.get(`/v2/webhooks/deliveries?${query}`)).body
  expect(await list('limit=2')).toMatchObject({ totalCount: 3, data: [{}, {}], next: expect.any(String) })
  expect((await list(`eventId=${events[2].id}`)).data).toMatchObject([
    {
      eventId: events[2].id,
      eventType: 'subscriber.created',
      endpointId: id,
      status: 'delivered',
      attempts: 1,
      nextAttemptAt: null,
      history: [{ at: events[2].timestamp, durationMs: expect.any(Number), status: 200, response: '{"ok":true}' }],
    },
  ])
  expect((await list(`endpointId=${id}`)).totalCount).toBe(3)
  expect((await list('endpointId=other')).totalCount).toBe(0)
  expect((await list('status=failed')).totalCount).toBe(0)
  expect((await list(`status=delivered&since=${events[1].timestamp}`)).totalCount).toBe(2)
  expect(await api.get('/v2/webhooks/deliveries?status=lost')).toMatchObject({ status: 422 })
  const other = await server.freshApi()
  expect((await other.get(`/v2/webhooks/deliveries?endpointId=${id}`)).body.data).toEqual([])
})

test('an event can be sent again, under the same id', async () => {
  const { api, id, events } = await tellOfThree()
  const resend = (body?: object) => api.post(`/v2/webhooks/events/${events[1].id}/resend`, body)
  expect(await resend()).toMatchObject({ status: 202, body: { count: 1 } })
  await server.drain()
  expect(vendor.asked.map(({ headers }) => headers['webhook-id'])).toEqual([events[1].id])
  expect(JSON.parse(vendor.asked[0]?.body ?? '')).toEqual(events[1])
  const [delivery] = (await api.get(`/v2/webhooks/deliveries?eventId=${events[1].id}`)).body.data
  expect(delivery).toMatchObject({ status: 'delivered', attempts: 1, history: [{ status: 200 }, { status: 200 }] })

  // An endpoint created later, which does not want this event type but is named in the request.
  const { id: later } = await makeEndpoint(api, vendor, { eventTypes: ['message.sent'] })
  expect(await resend()).toMatchObject({ body: { count: 1 } })
  expect(await resend({ endpointId: later })).toMatchObject({ body: { count: 1 } })
  expect(await resend({ endpointId: 'nobody' })).toMatchObject({
    status: 404,
    body: { message: 'Webhook endpoint nobody not found' },
  })
  await api.patch(`/v2/webhooks/endpoints/${id}`, { active: false })
  expect(await resend({ endpointId: id })).toMatchObject({
    status: 400,
    body: { message: 'The webhook endpoint is disabled; enable it first' },
  })
  expect(await resend()).toMatchObject({ status: 202, body: { count: 0 } })
})

test('an endpoint can get all events since a time again, or only those it has not accepted', async () => {
  const { api, id, times } = await tellOfThree()
  vendor.plays(() => ({ status: 500 }))
  await api.post('/v2/subscribers', { subscriberId: 'dan' })
  await server.drain()
  server.clock.advance({ days: 2 })
  for (let round = 0; round < 8; round += 1) {
    await server.drain()
    server.clock.advance({ hours: 10 })
  }
  expect((await api.get('/v2/webhooks/deliveries?status=failed')).body.totalCount).toBe(1)
  vendor.plays(() => ({ status: 200 }))
  const replay = async (endpointId: string, body: object) => {
    vendor.asked.length = 0
    const answer = await api.post(`/v2/webhooks/endpoints/${endpointId}/replay`, body)
    expect(answer, answer.text).toMatchObject({ status: 202 })
    await server.drain()
    expect(about()).toHaveLength(answer.body.count)
    return about()
  }
  expect(await replay(id, { since: times[0] })).toEqual(['dan'])
  expect(await replay(id, { since: times[0] })).toEqual([])
  expect(await replay(id, { since: times[1], status: 'all' })).toEqual(['bob', 'cyd', 'dan'])
  expect(await replay(id, { since: times[1], until: times[2], status: 'all' })).toEqual(['bob'])

  const { id: later } = await makeEndpoint(api, vendor)
  expect(await replay(later, { since: times[2] })).toEqual(['cyd', 'dan'])
  const { id: picky } = await makeEndpoint(api, vendor, { eventTypes: ['message.sent'] })
  expect(await replay(picky, { since: times[0] })).toEqual([])
})

test('a test event goes to one endpoint only, and is never replayed', async () => {
  const api = await server.freshApi()
  const { id, secret } = await makeEndpoint(api, vendor, { eventTypes: ['message.sent'] })
  const { id: other } = await makeEndpoint(api, vendor)
  const since = server.clock.now().toISOString()
  const answer = await api.post(`/v2/webhooks/endpoints/${id}/test`)
  expect(answer).toMatchObject({ status: 202, body: { eventId: expect.stringMatching(/^evt_/) } })
  await server.drain()
  expect(toldOf(vendor, secret, server.clock)).toEqual([
    {
      id: answer.body.eventId,
      type: 'webhook.test',
      object: 'webhook',
      data: { object: { endpointId: id, url: `${vendor.url}/hooks`, message: expect.any(String) } },
      timestamp: since,
      environmentId: expect.any(String),
    },
  ])
  const { data } = (await api.get(`/v2/webhooks/deliveries?eventId=${answer.body.eventId}`)).body
  expect(data).toMatchObject([{ endpointId: id, eventType: 'webhook.test', status: 'delivered' }])
  for (const endpointId of [id, other])
    expect((await api.post(`/v2/webhooks/endpoints/${endpointId}/replay`, { since, status: 'all' })).body.count).toBe(0)

  const stranger = await server.freshApi()
  expect(await stranger.post(`/v2/webhooks/endpoints/${id}/test`)).toMatchObject({ status: 404 })
  await api.patch(`/v2/webhooks/endpoints/${id}`, { active: false })
  expect(await api.post(`/v2/webhooks/endpoints/${id}/test`)).toMatchObject({
    status: 400,
    body: { code: 'webhook_endpoint_off' },
  })
})
