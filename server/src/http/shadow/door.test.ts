// The door of an environment in front of another service: files.md §7.
import { beforeEach, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { contentsOf, inApp, makeWorkflow, runsOf, trigger } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'
import { asking, differencesOf, makeShadow, type Shadowed } from '../../../test/shadow.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

describe('in front of any service', () => {
  let shadow: Shadowed
  beforeEach(async () => {
    shadow = await makeShadow(server, { url: `${vendor.url}/base/`, key: 'old-key' })
  })

  test('a request goes on as it is with the other key, and its answer comes back as it is', async () => {
    const bytes = Buffer.from([0, 1, 2, 254, 255])
    vendor.plays(() => ({
      ...{ status: 207, body: bytes.toString('latin1') },
      headers: { 'content-type': 'application/x-own', 'x-own': 'kept', etag: '"7"' },
    }))
    const answer = await shadow.front.post('/v1/feeds?a=1&a=%20b', '{ "spaced":  1 }', {
      ...{ 'idempotency-key': 'once', 'x-trace': 'mine', 'novu-anything': 'too' },
    })
    expect(answer.status).toBe(207)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/x-own',
      'x-own': 'kept',
      etag: '"7"',
    })
    expect(vendor.asked).toHaveLength(1)
    const [asked] = vendor.asked
    expect(asked).toMatchObject({ method: 'POST', path: '/base/v1/feeds', body: '{ "spaced":  1 }' })
    expect(asked?.url).toContain('?a=1&a=%20b')
    expect(asked?.headers).toMatchObject({
      ...{ authorization: 'ApiKey old-key', 'idempotency-key': 'once', 'x-trace': 'mine', 'novu-anything': 'too' },
      'content-type': 'application/json',
    })
    expect(JSON.stringify(asked?.headers)).not.toContain(shadow.front.key)
  })

  test('routes that only the other service has go on too, also where the dashboard would answer', async () => {
    vendor.plays(({ method, path }) => ({ body: { method, path } }))
    for (const method of ['GET', 'POST', 'DELETE', 'PUT'])
      expect((await shadow.front.send(method, '/v1/only-there/x')).body).toEqual({
        method,
        path: '/base/v1/only-there/x',
      })
    expect((await shadow.front.get('/v1/workflows/x')).body.path).toBe('/base/v1/workflows/x')
    const wrong = asking(shadow.front, { authorization: 'ApiKey wrong' })
    expect((await wrong.get('/v1/only-there/x')).status).toBe(404)
    expect((await server.api.get('/v1/only-there/x')).status).toBe(404)
  })

  test('what is for Belfry itself stays here, and whatever says so', async () => {
    for (const path of [
      ...['/v2/definitions', '/v2/shadow', '/v2/shadow/report', '/v2/import', '/v1/sandbox/messages'],
      ...['/v1/environments/me', '/v1/environments'],
    ])
      expect([path, (await shadow.front.get(path)).status]).toEqual([path, 200])
    for (const kind of ['workflows', 'layouts'])
      expect((await shadow.front.get(`/v2/${kind}/none/versions`)).status).toBe(404)
    // What is written there too.
    const item = { subscriberId: 'imported' }
    expect((await shadow.front.post('/v2/import/subscribers', { items: [item] })).body.imported).toBe(1)
    const topic = { kind: 'topic', id: 'pushed', definition: { key: 'pushed' } }
    expect((await shadow.front.post('/v2/definitions/push', { resources: [topic] })).body.applied).toBe(true)
    expect((await shadow.here.get('/v2/workflows')).status).toBe(200)
    expect(vendor.asked).toEqual([])
  })

  test('answers without a body, refusals and redirects come back', async () => {
    vendor.plays(() => ({ status: 204 }))
    expect(await shadow.front.delete('/v1/feeds/x')).toMatchObject({ status: 204, text: '' })
    vendor.plays(() => ({ status: 302, headers: { location: 'https://elsewhere.example' } }))
    const moved = await shadow.front.get('/v1/feeds')
    expect([moved.status, moved.headers.get('location')]).toEqual([302, 'https://elsewhere.example'])
    vendor.plays(() => ({ status: 422, body: { message: 'no' } }))
    expect(await shadow.front.post('/v1/events/trigger', { name: 'x', to: 'ada' })).toMatchObject({
      ...{ status: 422, body: { message: 'no' } },
    })
    expect(await runsHere(shadow)).toEqual([])
  })

  test('a service that gives no answer is 502, and nothing is done here', async () => {
    await makeWorkflow(shadow.here, 'hello', [inApp('Hello')])
    vendor.plays(() => 'hang up')
    const answer = await shadow.front.post('/v1/events/trigger', { name: 'hello', to: 'ada' })
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_unavailable' } })
    expect(answer.body.message).toBe('The service behind this environment gave no answer (the connection was lost)')
    expect(await shadow.front.post('/v2/subscribers', { subscriberId: 'ada' })).toMatchObject({ status: 502 })
    expect(await runsHere(shadow)).toEqual([])
    expect((await shadow.here.get('/v2/subscribers/ada')).status).toBe(404)
    const nobody = await makeShadow(server, { url: 'http://127.0.0.1:1' })
    expect((await nobody.front.get('/v2/workflows')).body.message).toContain('it cannot be reached')
  })

  test('a lesser key can do no more there than here', async () => {
    vendor.plays(() => ({ status: 201, body: {} }))
    const reader = await server.keyFor(shadow.front, ['read'])
    expect((await reader.get('/v2/workflows')).status).toBe(201)
    expect(await reader.post('/v1/events/trigger', { name: 'x', to: 'ada' })).toMatchObject({ status: 403 })
    expect((await reader.post('/v1/only-there')).status).toBe(404)
    expect(vendor.asked.map(({ method }) => method)).toEqual(['GET'])
  })

  test('somebody who is signed in asks Belfry itself', async () => {
    vendor.plays(() => ({ body: 'from there' }))
    const person = await signInAs(server, shadow.front, 'owner')
    expect((await person.get('/v2/workflows')).body).toMatchObject({ workflows: [] })
    expect(vendor.asked).toEqual([])
  })

  test('an address that leads back to itself ends', async () => {
    const loop = await makeShadow(server, { url: server.url, key: 'unknown' })
    await loop.front.patch('/v2/shadow', { upstreamKey: loop.front.key })
    expect(await loop.front.get('/v2/workflows')).toMatchObject({
      ...{ status: 502, body: { message: expect.stringContaining('it leads back to this environment') } },
    })
  })

  test('nobody can pretend that a trigger was passed on, or was not', async () => {
    await makeWorkflow(shadow.here, 'hello', [inApp('Hello')])
    vendor.plays(() => ({
      status: 201,
      body: { data: { acknowledged: true, status: 'processed', transactionId: 't' } },
    }))
    for (const header of ['mirrored', 'x here', 'here mirrored'])
      await asking(shadow.front, { 'belfry-shadow': header }).post('/v1/events/trigger', {
        ...{ name: 'hello', to: 'ada', overrides: { __live: true } },
      })
    expect(vendor.asked).toHaveLength(3)
    await server.drain()
    const [run] = await runsOf(shadow.here, 't')
    expect(run.overrides).toBeUndefined()
  })
})

const runsHere = async ({ here }: Shadowed) => (await here.get('/v1/notifications')).body.data

describe('what succeeds there is done here too', () => {
  let shadow: Shadowed
  beforeEach(async () => {
    shadow = await makeShadow(server)
    const { upstream, here } = shadow
    for (const api of [upstream, here]) {
      await makeWorkflow(api, 'hello', [inApp('Hello {{payload.n}}')])
      await makeWorkflow(api, 'other', [inApp('Other')])
    }
  })

  test('a trigger, under the transaction id that it got there', async () => {
    const given = await trigger(shadow.front, 'hello', 'ada', { payload: { n: 1 }, transactionId: 'mine' })
    const made = await trigger(shadow.front, 'hello', 'ada', { payload: { n: 2 } })
    expect(given).toBe('mine')
    await server.drain()
    for (const api of [shadow.upstream, shadow.here]) {
      expect(await contentsOf(api, 'ada')).toEqual(['Hello 1', 'Hello 2'])
      expect(await runsOf(api, made)).toHaveLength(1)
    }
    await trigger(shadow.front, 'hello', 'ada', { payload: { n: 1 }, transactionId: 'mine' })
    await server.drain()
    expect(await contentsOf(shadow.here, 'ada')).toHaveLength(2)
  })

  test('in bulk, each under its own; one that was refused there is not done here', async () => {
    const event = (n: number, name = 'hello') => ({ name, to: 'ada', payload: { n } })
    const answer = await shadow.front.post('/v1/events/trigger/bulk', {
      events: [event(1), event(2, 'none'), event(3)],
    })
    expect(answer.body.map(({ status }: { status: string }) => status)).toEqual(['processed', 'error', 'processed'])
    await server.drain()
    for (const [place, content] of [
      [0, 'Hello 1'],
      [2, 'Hello 3'],
    ] as const) {
      const [run] = await runsOf(shadow.here, answer.body[place].transactionId)
      expect(run.payload).toEqual({ n: Number(content.at(-1)) })
    }
    expect((await contentsOf(shadow.here, 'ada')).sort()).toEqual(['Hello 1', 'Hello 3'])
  })

  test('a broadcast and a cancellation', async () => {
    for (const subscriberId of ['ada', 'bob']) await shadow.front.post('/v2/subscribers', { subscriberId })
    const answer = await shadow.front.post('/v1/events/trigger/broadcast', { name: 'hello', payload: { n: 1 } })
    await server.drain()
    expect(await runsOf(shadow.here, answer.body.transactionId)).toHaveLength(2)
    for (const api of [shadow.upstream, shadow.here])
      await makeWorkflow(api, 'late', [{ type: 'delay', controlValues: { amount: 1, unit: 'hours' } }, inApp('Late')])
    const waiting = await trigger(shadow.front, 'late', 'ada')
    await server.drain()
    expect((await shadow.front.delete(`/v1/events/trigger/${waiting}`)).body).toBe(true)
    for (const api of [shadow.upstream, shadow.here])
      expect((await runsOf(api, waiting))[0].jobs[0].status).toBe('canceled')
  })

  test('subscribers, preferences, topics and contexts', async () => {
    const { front, here, upstream } = shadow
    await front.post('/v1/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    await front.patch('/v2/subscribers/ada', { firstName: 'Ada' })
    await front.post('/v2/subscribers', { subscriberId: 'bob' })
    await front.put('/v1/subscribers/bob', { firstName: 'Bob' })
    await front.post('/v1/subscribers/bulk', { subscribers: [{ subscriberId: 'cyd' }] })
    await front.patch('/v2/subscribers/ada/preferences', { channels: { email: false } })
    await front.post('/v2/topics', { key: 'news', name: 'News' })
    await front.post('/v2/topics/news/subscriptions', { subscriberIds: ['ada'] })
    await front.post('/v2/contexts', { type: 'team', id: 'red', data: { name: 'Red' } })
    await front.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    await front.delete('/v2/subscribers/cyd')
    const seen = async (api: typeof here) =>
      Promise.all(
        [
          ...['/v2/subscribers/ada', '/v2/subscribers/bob', '/v2/subscribers/cyd', '/v2/subscribers/ada/preferences'],
          ...['/v2/topics/news', '/v2/topics/news/subscriptions', '/v2/contexts/team/red', '/v1/tenants/acme'],
        ].map(async (path) => {
          const { status, body } = await api.get(path)
          const { firstName, email, global, name, data, key } = body
          const size = Array.isArray(data) ? data.length : data
          return [path, status, { firstName, email, global, name, key, size }]
        }),
      )
    const there = await seen(upstream)
    expect(await seen(here)).toEqual(there)
    expect(there.map(([, status]) => status)).toEqual([200, 200, 404, 200, 200, 200, 200, 200])
    expect(await differencesOf(shadow)).toEqual([])
  })

  test('what fails here does not reach the caller, and is a difference', async () => {
    const { front, here, upstream } = shadow
    await upstream.post('/v1/integrations', { providerId: 'fcm', channel: 'push', active: true, credentials: {} })
    await front.post('/v2/subscribers', { subscriberId: 'ada' })
    const stored = await front.put('/v1/subscribers/ada/credentials', {
      ...{ providerId: 'fcm', credentials: { deviceTokens: ['token-1'] } },
    })
    expect(stored.status).toBe(200)
    await makeWorkflow(upstream, 'there-only', [inApp('There')])
    const transactionId = await trigger(front, 'there-only', 'ada')
    const found = await differencesOf(shadow)
    expect(found).toMatchObject([
      {
        ...{
          transactionId,
          workflowId: 'there-only',
          subscriberId: null,
          stepId: null,
          kind: 'missing',
          path: 'trigger',
        },
        ...{ upstream: { status: 201 }, here: { status: 422, code: 'unknown_trigger' } },
      },
      {
        ...{ transactionId: null, workflowId: null, subscriberId: 'ada', kind: 'missing' },
        ...{ path: 'PUT /v1/subscribers/:subscriberId/credentials', upstream: { status: 200 } },
      },
    ])
    expect((await here.get('/v2/shadow/report')).body).toMatchObject({
      triggers: 1,
      compared: 1,
      different: 1,
      pending: 0,
    })
  })

  test('what was done to single messages there is not tried here', async () => {
    await trigger(shadow.front, 'hello', 'ada', { payload: { n: 1 } })
    await server.drain()
    const [message] = (await shadow.front.get('/v1/messages?subscriberId=ada')).body.data
    const marked = await shadow.front.post('/v1/subscribers/ada/messages/mark-as', {
      ...{ messageId: message._id, markAs: 'read' },
    })
    expect(marked.status).toBe(201)
    expect(await differencesOf(shadow)).toEqual([])
  })

  test('the upstream may wrap its answers, as Novu does', async () => {
    const wrapped = await makeShadow(server, { url: vendor.url, key: 'k' })
    await makeWorkflow(wrapped.here, 'hello', [inApp('Hello')])
    let count = 0
    const answerOf = () => {
      count += 1
      return { acknowledged: true, status: 'processed', transactionId: `w-${count}` }
    }
    vendor.plays(({ path, body }) => ({
      ...{ status: 201, body: { data: path.endsWith('bulk') ? JSON.parse(body).events.map(answerOf) : answerOf() } },
    }))
    await wrapped.front.post('/v1/events/trigger', { name: 'hello', to: 'ada' })
    await wrapped.front.post('/v1/events/trigger/bulk', {
      events: [
        { name: 'hello', to: 'ada' },
        { name: 'hello', to: 'bob' },
      ],
    })
    await server.drain()
    for (const id of ['w-1', 'w-2', 'w-3']) expect(await runsOf(wrapped.here, id)).toHaveLength(1)
  })
})
