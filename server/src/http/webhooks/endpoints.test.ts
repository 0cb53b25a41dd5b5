import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { makeEndpoint, toldOf, verified } from '../../../test/webhook-receiver.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const path = '/v2/webhooks/endpoints'
const url = 'https://example.com/hooks'

test('an endpoint is created with a secret that is never shown again', async () => {
  const api = await server.freshApi()
  const made = await api.post(path, { url, description: 'Ours', eventTypes: ['message.sent'], unknown: 1 })
  expect(made).toMatchObject({ status: 201 })
  const { secret, ...rest } = made.body
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(rest).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    url,
    description: 'Ours',
    eventTypes: ['message.sent'],
    active: true,
    failingSince: null,
    disabledAt: null,
    previousSecretExpiresAt: null,
    createdAt: server.clock.now().toISOString(),
    updatedAt: server.clock.now().toISOString(),
  })
  const one = `${path}/${rest._id}`
  expect(await api.get(one)).toMatchObject({ status: 200, body: rest })
  const shown = [
    await api.get(one),
    await api.get(path),
    await api.patch(one, { description: null }),
    await api.get('/v2/webhooks/deliveries'),
  ]
  for (const { text, status } of shown) {
    expect(status).toBe(200)
    expect(text).not.toContain('whsec_')
  }
  const stored = await server.database.db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', rest._id)
    .execute()
  expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length))
  expect(stored[0]?.secret).toMatch(/^enc:v1:/)
})

test('endpoints are listed, changed and deleted, each in its own environment', async () => {
  const api = await server.freshApi()
  const other = await server.freshApi()
  const ids: string[] = []
  for (const index of [1, 2, 3]) ids.push((await api.post(path, { url: `${url}/${index}` })).body._id)
  const first = await api.get(`${path}?limit=2`)
  expect(first.body).toMatchObject({ totalCount: 3, data: [{ _id: ids[2], eventTypes: null }, { _id: ids[1] }] })
  expect((await api.get(`${path}?limit=2&after=${first.body.next}`)).body.data).toMatchObject([{ _id: ids[0] }])
  expect((await other.get(path)).body.data).toEqual([])

  const one = `${path}/${ids[0]}`
  expect(await api.patch(one, { url: `${url}/new`, active: false, eventTypes: ['preference.updated'] })).toMatchObject({
    status: 200,
    body: { url: `${url}/new`, active: false, eventTypes: ['preference.updated'] },
  })
  expect((await api.patch(one, { eventTypes: null })).body).toMatchObject({ eventTypes: null, active: false })

  const missing = { status: 404, body: { message: `Webhook endpoint ${ids[0]} not found` } }
  const attempts = () => [
    other.get(one),
    other.patch(one, { active: true }),
    other.delete(one),
    other.post(`${one}/rotate-secret`),
    other.post(`${one}/replay`, { since: '2026-01-01T00:00:00.000Z' }),
  ]
  for (const attempt of attempts()) expect(await attempt).toMatchObject(missing)
  expect((await api.get(one)).body.active).toBe(false)

  expect(await api.delete(one)).toMatchObject({ status: 204 })
  expect(await api.get(one)).toMatchObject(missing)
  expect(await api.delete(one)).toMatchObject(missing)
})

test('an invalid endpoint is refused', async () => {
  const api = await server.freshApi()
  const refusals: Array<[body: object, message: string]> = [
    [{}, 'url should not be empty'],
    [{ url: 'ftp://example.com' }, 'url must be an http or https URL'],
    [{ url: 'example.com' }, 'url must be an http or https URL'],
    [{ url: 'https://user:password@example.com' }, 'url must not contain a user name or password'],
    [{ url, eventTypes: ['message.eaten'] }, 'eventTypes'],
    [{ url, active: 'yes, please' }, 'active'],
  ]
  for (const [body, message] of refusals) {
    const answer = await api.post(path, body)
    expect(answer.status, answer.text).toBe(422)
    expect(answer.text).toContain(message)
  }
  const { body } = await api.post(path, { url })
  expect(await api.patch(`${path}/${body._id}`, { url: 'nowhere' })).toMatchObject({ status: 422 })
  expect(await api.post(`${path}/${body._id}/rotate-secret`, { overlapHours: 1_000 })).toMatchObject({ status: 422 })
  expect(await api.post(`${path}/${body._id}/replay`, { since: 'yesterday' })).toMatchObject({ status: 422 })
  expect(await api.post(`${path}/${body._id}/replay`, {})).toMatchObject({ status: 422 })
})

test('an environment never exceeds its limit of endpoints, however many are created at once', async () => {
  const api = await server.freshApi()
  const answers = await Promise.all(Array.from({ length: 55 }, () => api.post(path, { url })))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(50)
  expect(answers.find(({ status }) => status !== 201)).toMatchObject({
    status: 400,
    body: { message: 'An environment cannot have more than 50 webhook endpoints' },
  })
})

test('the new and the previous secret both sign until the overlap ends', async () => {
  const api = await server.freshApi()
  vendor.plays(() => ({ status: 200 }))
  const { id, secret: old } = await makeEndpoint(api, vendor, { eventTypes: ['subscriber.created'] })
  const rotated = await api.post(`${path}/${id}/rotate-secret`, { overlapHours: 2 })
  expect(rotated).toMatchObject({
    status: 201,
    body: { previousSecretExpiresAt: new Date(server.clock.now().getTime() + 7_200_000).toISOString() },
  })
  const { secret } = rotated.body
  expect(secret).not.toBe(old)

  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  await server.drain()
  expect(String(vendor.asked[0]?.headers['webhook-signature']).split(' ')).toHaveLength(2)
  expect(toldOf(vendor, old, server.clock)).toHaveLength(1)
  expect(toldOf(vendor, secret, server.clock)).toHaveLength(1)

  server.clock.advance({ hours: 2 })
  vendor.asked.length = 0
  await api.post('/v2/subscribers', { subscriberId: 'bob' })
  await server.drain()
  expect(toldOf(vendor, secret, server.clock)).toHaveLength(1)
  expect(() => toldOf(vendor, old, server.clock)).toThrow('the signature is not ours')

  const atOnce = (await api.post(`${path}/${id}/rotate-secret`, { overlapHours: 0 })).body.secret
  vendor.asked.length = 0
  await api.post('/v2/subscribers', { subscriberId: 'cyd' })
  await server.drain()
  expect(toldOf(vendor, atOnce, server.clock)).toHaveLength(1)
  expect(() => toldOf(vendor, secret, server.clock)).toThrow('the signature is not ours')
  expect((await api.post(`${path}/${id}/rotate-secret`)).body.previousSecretExpiresAt).toBe(
    new Date(server.clock.now().getTime() + 86_400_000).toISOString(),
  )
})

test('our test receiver accepts the signature of the published example, and nothing else', () => {
  // https://docs.svix.com/receiving/verifying-payloads/how-manual
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const example = {
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
  }
  const asked = (change: object = {}) => ({ ...example, ...change })
  const now = new Date(1614265330_000)
  expect(verified(asked(), secret, now)).toEqual({ test: 2432232314 })
  expect(() => verified(asked({ body: '{"test": 1}' }), secret, now)).toThrow('the signature is not ours')
  expect(() => verified(asked(), secret, new Date(now.getTime() + 301_000))).toThrow('it is too old')
})
