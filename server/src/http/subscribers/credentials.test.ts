import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { signInAs } from '../../../test/people.ts'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada' })
})

interface NewIntegration {
  provider?: string
  channel?: string
  identifier?: string
  active?: boolean
  deleted?: boolean
}

/** Each one is a second younger than the previous. @returns its id */
async function add(options: NewIntegration = {}, owner = api): Promise<string> {
  const { provider = 'fcm', channel = 'push', identifier = provider, active = true, deleted = false } = options
  server.clock.advance({ seconds: 1 })
  const id = await addIntegration(server, owner, { identifier, provider, channel, active })
  if (deleted)
    await server.database.db
      .updateTable('integrations')
      .set({ deleted_at: server.clock.now() })
      .where('id', '=', id)
      .execute()
  return id
}

const path = '/v1/subscribers/ada/credentials'
const fcm = (deviceTokens: string[], more: object = {}) => ({
  providerId: 'fcm',
  credentials: { deviceTokens },
  ...more,
})
const channels = async () => (await api.get('/v2/subscribers/ada')).body.channels
const tokens = async () => (await channels())[0]?.credentials.deviceTokens
const manyTokens = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `t${from + n}`)

describe('setting', () => {
  test.each(['put', 'patch'] as const)(
    '%s creates an entry for the integration and returns the subscriber',
    async (verb) => {
      const integration = await add()
      server.clock.advance({ minutes: 1 })
      const answer = await api[verb](path, fcm(['a', 'b', 'a']))
      expect(answer).toMatchObject({
        status: 200,
        body: { subscriberId: 'ada', firstName: 'Ada', updatedAt: server.clock.now().toISOString() },
      })
      expect(answer.body.channels).toEqual([
        {
          providerId: 'fcm',
          _integrationId: integration,
          integrationIdentifier: 'fcm',
          credentials: { deviceTokens: ['a', 'b'] },
        },
      ])
      expect((await api.get('/v2/subscribers/ada')).body).toEqual(answer.body)
    },
  )

  test('PATCH adds device tokens, PUT replaces them', async () => {
    await add()
    await api.patch(path, fcm(['a', 'b']))
    expect((await api.patch(path, fcm(['c', 'b']))).body.channels[0].credentials.deviceTokens).toEqual(['a', 'b', 'c'])
    expect((await api.put(path, fcm(['d', 'a']))).body.channels[0].credentials.deviceTokens).toEqual(['d', 'a'])
  })

  test.each(['put', 'patch'] as const)(
    '%s with an empty list clears the tokens, without a list it keeps them',
    async (verb) => {
      await add()
      await api.patch(path, fcm(['a']))
      await api[verb](path, { providerId: 'fcm', credentials: { title: 'Alert' } })
      await api[verb](path, { providerId: 'fcm', credentials: {} })
      expect((await channels())[0].credentials).toEqual({ deviceTokens: ['a'], title: 'Alert' })
      await api[verb](path, fcm([]))
      expect((await channels())[0].credentials).toEqual({ deviceTokens: [], title: 'Alert' })
    },
  )

  test('every known field is stored, unknown ones are dropped', async () => {
    await add({ provider: 'slack', channel: 'chat' })
    const credentials = {
      webhookUrl: 'https://hooks.example.com/1',
      channel: '#ops',
      deviceTokens: ['x'],
      alertUid: 'uid',
      title: 'Title',
      imageUrl: 'https://example.com/i.png',
      state: 'alerting',
      externalUrl: 'https://example.com',
    }
    await api.put(path, { providerId: 'slack', credentials: { ...credentials, secret: 1 }, other: true })
    expect((await channels())[0].credentials).toEqual(credentials)
  })

  test('repeating the same request changes nothing', async () => {
    await add()
    const first = await api.patch(path, fcm(['a', 'b']))
    server.clock.advance({ minutes: 1 })
    expect((await api.patch(path, fcm(['b', 'a']))).body).toEqual(first.body)
    expect((await api.put(path, fcm(['a', 'b']))).body).toEqual(first.body)
  })

  test('twenty concurrent additions lose nothing', async () => {
    await add()
    const additions = Array.from({ length: 20 }, (_, n) => api.patch(path, fcm([`t${n}`, `u${n}`, 'shared'])))
    expect(new Set((await Promise.all(additions)).map(({ status }) => status))).toEqual(new Set([200]))
    expect((await tokens()).sort()).toEqual(
      [...Array.from({ length: 20 }, (_, n) => [`t${n}`, `u${n}`]).flat(), 'shared'].sort(),
    )
  })

  test('a hundred tokens fit an entry, one more is refused and changes nothing', async () => {
    await add()
    expect((await api.put(path, fcm(manyTokens(0, 100)))).status).toBe(200)
    expect((await api.patch(path, fcm(['t5']))).status).toBe(200)
    const refused = await api.patch(path, fcm(['new', 'newer']))
    expect(refused).toMatchObject({
      status: 400,
      body: { currentCount: 102, limit: 100, ctx: { currentCount: 102, limit: 100, error: 'Bad Request' } },
    })
    expect(refused.body.message).toMatch(/^Device tokens limit exceeded\. /)
    expect((await api.put(path, fcm(manyTokens(0, 101)))).body).toMatchObject({ statusCode: 400, currentCount: 101 })
    expect(await tokens()).toEqual(manyTokens(0, 100))
    expect((await api.put(path, fcm([...manyTokens(0, 100), 't1']))).status).toBe(200)
  })

  test('a subscriber id in the path is not trimmed', async () => {
    await add()
    await api.post('/v2/subscribers', { subscriberId: 'a/b c' })
    const answer = await api.patch(`/v1/subscribers/${encodeURIComponent('a/b c')}/credentials`, fcm(['x']))
    expect(answer).toMatchObject({ status: 200, body: { subscriberId: 'a/b c' } })
  })
})

describe('the integration', () => {
  test('is the newest active one of the provider, unless one is named', async () => {
    const oldest = await add({ identifier: 'oldest' })
    const newest = await add({ identifier: 'newest' })
    await add({ identifier: 'off', active: false })
    await add({ identifier: 'gone', deleted: true })
    await add({ identifier: 'other', provider: 'apns' })
    await add({ identifier: 'foreign' }, await server.freshApi())
    await api.patch(path, fcm(['a']))
    await api.patch(path, fcm(['b'], { integrationIdentifier: 'oldest' }))
    await api.patch(path, fcm(['c']))
    expect(await channels()).toEqual([
      {
        providerId: 'fcm',
        _integrationId: newest,
        integrationIdentifier: 'newest',
        credentials: { deviceTokens: ['a', 'c'] },
      },
      {
        providerId: 'fcm',
        _integrationId: oldest,
        integrationIdentifier: 'oldest',
        credentials: { deviceTokens: ['b'] },
      },
    ])
  })

  test.each(['off', 'gone', 'other', 'foreign', 'unheard-of', undefined])('%s is refused', async (identifier) => {
    await add({ identifier: 'off', active: false })
    await add({ identifier: 'gone', deleted: true })
    await add({ identifier: 'other', provider: 'apns' })
    await add({ identifier: 'foreign' }, await server.freshApi())
    for (const verb of ['put', 'patch'] as const)
      expect(await api[verb](path, fcm(['a'], { integrationIdentifier: identifier }))).toMatchObject({
        status: 400,
        body: { message: `Subscribers environment (${api.environmentId}) do not have active fcm integration.` },
      })
    expect(await channels()).toEqual([])
  })

  test('of the service itself is named with the brand', async () => {
    const another = await server.startAnother({ brand: 'novu' })
    const branded = new Api(another.url, api.key, api.environmentId, api.organizationId)
    const body = { providerId: 'novu-slack', credentials: { webhookUrl: 'https://hooks.example.com' } }
    expect((await branded.patch(path, body)).body.message).toContain('do not have active novu-slack integration')
    await add({ provider: 'svc-slack', channel: 'chat' })
    expect((await branded.patch(path, body)).body.channels).toMatchObject([{ providerId: 'novu-slack' }])
    expect(await channels()).toMatchObject([{ providerId: 'svc-slack' }])
    expect((await branded.delete(`${path}/novu-slack`)).status).toBe(204)
    expect(await channels()).toEqual([])
    await another.stop()
  })
})

describe('refusals', () => {
  test.each(['put', 'patch'] as const)('%s: an unknown subscriber is refused with 400', async (verb) => {
    const unknown = await api[verb]('/v1/subscribers/nobody/credentials', fcm(['a']))
    expect(unknown).toMatchObject({ status: 400, body: { message: 'SubscriberId: nobody not found' } })
    await add()
    expect(await api[verb]('/v1/subscribers/nobody/credentials', fcm(['a']))).toMatchObject({
      status: 400,
      body: { message: 'SubscriberId: nobody not found' },
    })
  })

  test("another environment's subscriber is unknown, and stays unchanged", async () => {
    const other = await server.freshApi()
    await other.post('/v2/subscribers', { subscriberId: 'theirs' })
    await add()
    await add({}, other)
    await other.put('/v1/subscribers/theirs/credentials', fcm(['a']))
    const before = (await other.get('/v2/subscribers/theirs')).body
    expect((await api.put('/v1/subscribers/theirs/credentials', fcm(['b']))).status).toBe(400)
    expect((await api.delete('/v1/subscribers/theirs/credentials/fcm')).status).toBe(404)
    expect((await other.get('/v2/subscribers/theirs')).body).toEqual(before)
  })

  test.each([
    [{ providerId: 'nonsense', credentials: {} }, 'providerId must be a valid provider ID'],
    [{ providerId: 'sendgrid', credentials: {} }, 'providerId must be a valid provider ID'],
    [{ credentials: {} }, 'providerId must be a valid provider ID'],
    [{ providerId: 7, credentials: {} }, 'providerId must be a valid provider ID'],
    [{ providerId: 'fcm' }, 'credentials should not be null or undefined'],
    [{ providerId: 'fcm', credentials: 'x' }, 'credentials must be an object'],
    [{ providerId: 'fcm', credentials: { deviceTokens: 'x' } }, 'credentials.deviceTokens must be an array'],
    [
      { providerId: 'fcm', credentials: { deviceTokens: [1] } },
      'each value in credentials.deviceTokens must be a string',
    ],
    [{ providerId: 'fcm', credentials: { webhookUrl: 1 } }, 'credentials.webhookUrl must be a string'],
    [{ providerId: 'fcm', credentials: {}, integrationIdentifier: 1 }, 'integrationIdentifier must be a string'],
  ])('%j is refused', async (body, message) => {
    await add()
    for (const verb of ['put', 'patch'] as const) {
      const answer = await api[verb](path, body)
      expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
      expect(answer.body.errors.general.messages).toEqual([message])
    }
    expect(await channels()).toEqual([])
  })
})

describe('removing', () => {
  test('deletes the credentials of all integrations of the provider, and no others', async () => {
    await add({ identifier: 'one' })
    await add({ identifier: 'two' })
    await add({ provider: 'slack', channel: 'chat' })
    await add({ provider: 'apns' })
    await api.put(path, fcm(['a'], { integrationIdentifier: 'one' }))
    await api.put(path, { providerId: 'slack', credentials: { webhookUrl: 'https://hooks.example.com' } })
    await api.put(path, fcm(['b'], { integrationIdentifier: 'two' }))
    await api.put(path, { providerId: 'apns', credentials: { deviceTokens: ['c'] } })
    server.clock.advance({ minutes: 1 })
    expect(await api.delete(`${path}/fcm`)).toMatchObject({ status: 204, text: '' })
    expect((await api.get('/v2/subscribers/ada')).body).toMatchObject({
      channels: [{ providerId: 'slack' }, { providerId: 'apns' }],
      updatedAt: server.clock.now().toISOString(),
    })
  })

  test.each(['fcm', 'unheard-of', "x'y"])('of a provider without an entry (%s) changes nothing', async (providerId) => {
    const before = (await api.get('/v2/subscribers/ada')).body
    server.clock.advance({ minutes: 1 })
    expect((await api.delete(`${path}/${providerId}`)).status).toBe(204)
    expect((await api.get('/v2/subscribers/ada')).body).toEqual(before)
  })

  test('needs a subscriber', async () => {
    expect(await api.delete('/v1/subscribers/nobody/credentials/fcm')).toMatchObject({
      status: 404,
      body: { message: "Subscriber 'nobody' was not found" },
    })
  })

  test('concurrently with additions to another provider loses none of them', async () => {
    await add()
    await add({ provider: 'apns' })
    await api.put(path, { providerId: 'apns', credentials: { deviceTokens: ['x'] } })
    await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => api.patch(path, fcm([`t${n}`]))),
      ...Array.from({ length: 5 }, () => api.delete(`${path}/apns`)),
    ])
    expect(await channels()).toMatchObject([{ providerId: 'fcm' }])
    expect((await tokens()).sort()).toEqual(manyTokens(0, 10))
  })
})

test('hole 8: the URL of a chat webhook is encrypted, and hidden from people who may not see secrets', async () => {
  await add({ provider: 'discord', channel: 'chat' })
  const webhookUrl = 'https://discord.example/api/webhooks/1/very-secret'
  const { body } = await api.put(path, { providerId: 'discord', credentials: { webhookUrl } })
  expect(body.channels[0].credentials).toEqual({ webhookUrl })
  await api.patch(path, { providerId: 'discord', credentials: { channel: 'general' } })
  const stored = async () => {
    const rows = await server.database.db.selectFrom('subscribers').select('channels').execute()
    return JSON.stringify(rows)
  }
  expect(await stored()).not.toContain('very-secret')
  for (const [role, shown] of [
    ['admin', webhookUrl],
    ['editor', '••••••••'],
    ['viewer', '••••••••'],
  ] as const) {
    const person = await signInAs(server, api, role)
    for (const answer of [
      (await person.get('/v2/subscribers/ada')).body,
      (await person.get('/v1/subscribers/ada')).body,
      (await person.get('/v2/subscribers')).body.data[0],
    ])
      expect(answer.channels[0].credentials).toEqual({ webhookUrl: shown, channel: 'general' })
  }
  const trigger = { providerId: 'discord', credentials: { webhookUrl: `${webhookUrl}-of-a-trigger` } }
  await makeWorkflow(api, 'hello', [inApp()])
  await api.post('/v1/events/trigger', { name: 'hello', to: { subscriberId: 'ada', channels: [trigger] } })
  await server.drain()
  expect((await api.get('/v2/subscribers/ada')).body.channels[0].credentials.webhookUrl).toContain('-of-a-trigger')
  const { rows } = await sql<{ row: string }>`
    SELECT t::text AS row FROM events t UNION ALL SELECT t::text FROM subscribers t`.execute(server.database.db)
  expect(JSON.stringify(rows)).not.toContain('very-secret')
})
