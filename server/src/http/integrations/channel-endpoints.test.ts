import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { during } from '../../../test/during.ts'
import { addIntegration } from '../../../test/integrations.ts'
import { signInAs } from '../../../test/people.ts'
import { type Api, secretKey, useServer } from '../../../test/server.ts'
import { Secrets } from '../../db/core/secrets.ts'
import { sealAddresses } from '../../db/install/re-encrypt.ts'

const server = useServer({ brand: 'belfry' })
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await addIntegration(server, api, { identifier: 'slack-main' })
  for (const subscriberId of ['ada', 'bob']) await api.post('/v2/subscribers', { subscriberId })
})

const body = (more: object = {}) => ({
  type: 'slack_channel',
  endpoint: { channelId: 'C123' },
  subscriberId: 'ada',
  integrationIdentifier: 'slack-main',
  ...more,
})
const create = (more: object = {}) => api.post('/v1/channel-endpoints', body(more))
const connect = (more: object = {}) =>
  api.post('/v1/channel-connections', {
    integrationIdentifier: 'slack-main',
    workspace: { id: 'T1' },
    auth: { accessToken: 'xoxb' },
    ...more,
  })
const contextCount = async () => (await api.get('/v2/contexts')).body.totalCount

const examples: Array<[type: string, endpoint: Record<string, string>]> = [
  ['slack_channel', { channelId: 'C123' }],
  ['slack_user', { userId: 'U123' }],
  ['webhook', { url: 'https://hooks.example.com/x' }],
  ['webhook', { url: 'https://hooks.example.com/x', channel: 'general' }],
  ['phone', { phoneNumber: '+15551234567' }],
  ['ms_teams_channel', { teamId: 'team-1', channelId: '19:abc@thread.tacv2' }],
  ['ms_teams_user', { userId: '29:1abc' }],
]
const misfits: Array<[type: string, endpoint: object]> = [
  ['slack_channel', {}],
  ['slack_channel', { userId: 'U123' }],
  ['slack_channel', { channelId: 'C123', extra: 'x' }],
  ['slack_channel', { channelId: 5 }],
  ['slack_channel', { channelId: '' }],
  ['slack_user', { channelId: 'C123' }],
  ['webhook', { channel: 'general' }],
  ['webhook', { url: 'https://hooks.example.com/x', channel: null }],
  ['phone', { phoneNumber: '+15551234567', userId: 'U123' }],
  ['ms_teams_channel', { channelId: '19:abc@thread.tacv2' }],
  ['ms_teams_channel', { teamId: 'team-1' }],
  ['ms_teams_channel', { teamId: 'team-1', channelId: 'c', userId: 'u' }],
  ['ms_teams_user', { teamId: 'team-1', userId: 'u' }],
]

describe('hole 8: the URL of an incoming webhook is a credential', () => {
  const url = 'https://hooks.example.com/services/T1/B2/very-secret'

  test('encrypted at rest, shown to keys and admins, hidden from editors and viewers', async () => {
    const created = await create({ type: 'webhook', endpoint: { url, channel: 'general' }, identifier: 'hook' })
    expect(created.body.endpoint).toEqual({ url, channel: 'general' })
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM channel_endpoints t`.execute(
      server.database.db,
    )
    expect(JSON.stringify(rows)).not.toContain('very-secret')
    expect((await api.get('/v1/channel-endpoints/hook')).body.endpoint.url).toBe(url)
    for (const [role, shown] of [
      ['owner', url],
      ['admin', url],
      ['editor', '••••••••'],
      ['viewer', '••••••••'],
    ] as const) {
      const person = await signInAs(server, api, role)
      expect((await person.get('/v1/channel-endpoints/hook')).body.endpoint).toEqual({ url: shown, channel: 'general' })
      expect((await person.get('/v1/channel-endpoints')).body.data[0].endpoint.url).toBe(shown)
    }
    await api.patch('/v1/channel-endpoints/hook', { endpoint: { url: `${url}2` } })
    expect((await api.get('/v1/channel-endpoints/hook')).body.endpoint).toEqual({ url: `${url}2` })
  })

  test('rows of earlier versions are read, and encrypted in the background', async () => {
    const { db } = server.database
    await create({ type: 'webhook', endpoint: { url: 'https://x.example' }, identifier: 'old' })
    await db
      .updateTable('channel_endpoints')
      .set({ endpoint: JSON.stringify({ url }) })
      .where('identifier', '=', 'old')
      .execute()
    const channel = { providerId: 'slack', _integrationId: 'a'.repeat(24), credentials: { webhookUrl: url } }
    await db
      .updateTable('subscribers')
      .set({ channels: JSON.stringify([channel]) })
      .where('environment_id', '=', api.environmentId)
      .where('subscriber_id', '=', 'ada')
      .execute()
    const shown = async () => [
      (await api.get('/v1/channel-endpoints/old')).body.endpoint,
      (await api.get('/v2/subscribers/ada')).body.channels[0].credentials,
    ]
    const before = await shown()
    expect(before).toEqual([{ url }, { webhookUrl: url }])
    expect(await sealAddresses(db, new Secrets(secretKey))).toBe(2)
    expect(await shown()).toEqual(before)
    const { rows } = await sql<{ row: string }>`
      SELECT t.endpoint::text AS row FROM channel_endpoints t UNION ALL SELECT channels::text FROM subscribers`.execute(
      db,
    )
    expect(JSON.stringify(rows)).not.toContain('very-secret')
    expect(await sealAddresses(db, new Secrets(secretKey))).toBe(0)
  })
})

describe('creating', () => {
  test('an endpoint on a connection', async () => {
    await connect({ subscriberId: 'bob', identifier: 'workspace' })
    const created = await create({
      identifier: 'mine',
      connectionIdentifier: 'workspace',
      context: { tenant: 'acme', app: { id: 'jira', data: { plan: 'pro' } } },
    })
    expect(created.status).toBe(201)
    const now = server.clock.now().toISOString()
    expect(created.body).toEqual({
      identifier: 'mine',
      channel: 'chat',
      providerId: 'slack',
      integrationIdentifier: 'slack-main',
      connectionIdentifier: 'workspace',
      subscriberId: 'ada',
      contextKeys: ['app:jira', 'tenant:acme'],
      type: 'slack_channel',
      endpoint: { channelId: 'C123' },
      createdAt: now,
      updatedAt: now,
    })
    expect((await api.get('/v1/channel-endpoints/mine')).body).toEqual(created.body)
  })

  test.each(examples)('of type %s with %j', async (type, endpoint) => {
    const created = await create({ type, endpoint })
    expect(created).toMatchObject({ status: 201, body: { type, connectionIdentifier: null, contextKeys: [] } })
    expect(created.body.endpoint).toEqual(endpoint)
    expect(created.body.identifier).toMatch(/^chendp_[0-9a-z]{12}$/)
  })

  test('contexts come from the endpoint, not from its connection', async () => {
    await connect({ identifier: 'shared', context: { tenant: 'acme' } })
    expect((await create({ connectionIdentifier: 'shared' })).body.contextKeys).toEqual([])
  })

  test('equal endpoints may exist several times', async () => {
    expect((await create()).status).toBe(201)
    expect((await create()).status).toBe(201)
    expect((await api.get('/v1/channel-endpoints')).body.totalCount).toBe(2)
  })

  test('the type need not match the provider', async () => {
    await addIntegration(server, api, { identifier: 'native', provider: 'svc-slack' })
    const created = await create({ integrationIdentifier: 'native', type: 'phone', endpoint: { phoneNumber: '+1' } })
    expect(created).toMatchObject({ status: 201, body: { providerId: 'belfry-slack' } })
  })

  test.each([
    ['type', {}, 'type should not be empty'],
    [
      'type',
      { type: 'fax' },
      'type must be one of the following values: slack_channel, slack_user, webhook, phone, ms_teams_channel, ms_teams_user',
    ],
    ['endpoint', {}, 'endpoint should not be null or undefined'],
    ['endpoint', { endpoint: 'C123' }, 'endpoint must be an object'],
    ['subscriberId', {}, 'subscriberId should not be empty'],
    ['subscriberId', { subscriberId: 5 }, 'subscriberId must be a string'],
    ['integrationIdentifier', {}, 'integrationIdentifier should not be empty'],
    ['connectionIdentifier', { connectionIdentifier: 5 }, 'connectionIdentifier must be a string'],
    ['identifier', { identifier: '' }, 'identifier should not be empty'],
    [
      'context',
      { context: [] },
      'Invalid context payload structure. Expected object with context types as keys and string IDs or {id, data} objects as values',
    ],
  ])('a wrong or missing %s is reported on that field (%j)', async (field, wrong, message) => {
    const answer = await create({ [field]: undefined, ...wrong })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toBe(`Validation failed for CreateChannelEndpointCommand: ${field}: ${message}`)
    expect(answer.body.errors).toMatchObject({ [field]: { messages: [message] } })
  })

  test.each(misfits)('of type %s, %j is refused', async (type, endpoint) => {
    const message = `Endpoint must match the required format for type "${type}"`
    const answer = await create({ type, endpoint, context: { tenant: 'acme' } })
    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: `Validation failed for CreateChannelEndpointCommand: endpoint: ${message}`,
        errors: { endpoint: { messages: [message], value: endpoint } },
      },
    })
    expect(await contextCount()).toBe(0)
  })

  test('an unknown integration is refused before contexts are created', async () => {
    const other = await server.freshApi()
    await addIntegration(server, other, { identifier: 'theirs' })
    for (const identifier of ['unknown', 'theirs']) {
      const answer = await create({ integrationIdentifier: identifier, context: { tenant: 'acme' } })
      expect(answer).toMatchObject({ status: 404, body: { message: `Integration not found: ${identifier}` } })
    }
    expect(await contextCount()).toBe(0)
  })

  test('an invalid context is refused', async () => {
    const six = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`t${i}`, 'x']))
    expect(await create({ context: six })).toMatchObject({
      status: 422,
      body: { message: 'Too many contexts: 6 provided, maximum allowed is 5' },
    })
  })

  test('an unknown subscriber is refused, and the contexts stay', async () => {
    const answer = await create({ subscriberId: 'nobody', context: { tenant: 'acme' } })
    expect(answer).toMatchObject({ status: 404, body: { message: 'Subscriber not found: nobody' } })
    expect(await contextCount()).toBe(1)
  })

  test('a taken identifier is refused, also when the connection is unknown too', async () => {
    await create({ identifier: 'mine' })
    expect(await create({ identifier: 'mine', connectionIdentifier: 'unknown' })).toMatchObject({
      status: 409,
      body: { message: `Channel endpoint with identifier "mine" already exists in environment "${api.environmentId}"` },
    })
  })

  test('concurrent requests with the same identifier create one', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({ identifier: 'mine' })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11)
  })

  test('an unknown connection, or one of another environment, is refused', async () => {
    const other = await server.freshApi()
    await addIntegration(server, other, { identifier: 'slack-main' })
    await other.post('/v1/channel-connections', {
      integrationIdentifier: 'slack-main',
      identifier: 'theirs',
      workspace: { id: 'T1' },
      auth: { accessToken: 'x' },
      context: { tenant: 'acme' },
    })
    for (const identifier of ['unknown', 'theirs']) {
      expect(await create({ connectionIdentifier: identifier })).toMatchObject({
        status: 404,
        body: { message: `Channel connection not found: ${identifier}` },
      })
    }
    expect((await api.get('/v1/channel-endpoints')).body.totalCount).toBe(0)
  })

  test('a concurrently deleted subscriber leaves no endpoint behind', async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => create()),
      api.delete('/v2/subscribers/ada'),
      ...Array.from({ length: 6 }, () => create()),
    ])
    for (const { status } of answers) expect([200, 201, 404]).toContain(status)
    expect((await api.get('/v1/channel-endpoints')).body.totalCount).toBe(0)
  })
})

describe('listing', () => {
  const list = async (query: string) => {
    const { status, body } = await api.get(`/v1/channel-endpoints?${query}`)
    expect(status).toBe(200)
    return body.data.map((endpoint: { identifier: string }) => endpoint.identifier)
  }

  beforeEach(async () => {
    await addIntegration(server, api, { identifier: 'native', provider: 'svc-slack' })
    await addIntegration(server, api, { identifier: 'sms', provider: 'twilio', channel: 'sms' })
    await connect({ subscriberId: 'ada', identifier: 'workspace' })
    for (const more of [
      { identifier: 'one', connectionIdentifier: 'workspace' },
      { identifier: 'two', context: { tenant: 'acme', app: 'jira' } },
      { identifier: 'three', context: { tenant: 'acme' } },
      { identifier: 'four', subscriberId: 'bob', integrationIdentifier: 'native' },
      { identifier: 'five', subscriberId: 'bob', integrationIdentifier: 'sms' },
    ]) {
      server.clock.advance({ seconds: 1 })
      await create(more)
    }
  })

  test('newest first, or in another given order, in pages', async () => {
    expect(await list('')).toEqual(['five', 'four', 'three', 'two', 'one'])
    expect(await list('orderDirection=ASC&limit=2')).toEqual(['one', 'two'])
    await api.patch('/v1/channel-endpoints/two', { endpoint: { channelId: 'C9' } })
    server.clock.advance({ seconds: 1 })
    await api.patch('/v1/channel-endpoints/three', { endpoint: { channelId: 'C9' } })
    expect(await list('orderBy=updatedAt&limit=1')).toEqual(['three'])

    const first = (await api.get('/v1/channel-endpoints?limit=2')).body
    expect(first).toMatchObject({ previous: null, totalCount: 5, totalCountCapped: false })
    expect(await list(`limit=2&after=${first.next}`)).toEqual(['three', 'two'])
    expect(await list(`limit=2&after=${first.next}&includeCursor=true`)).toEqual(['four', 'three'])
  })

  test('filters are exact', async () => {
    expect(await list('subscriberId=ada')).toEqual(['three', 'two', 'one'])
    expect(await list('channel=sms')).toEqual(['five'])
    expect(await list('providerId=twilio')).toEqual(['five'])
    expect(await list('providerId=belfry-slack')).toEqual(['four'])
    expect(await list('providerId=svc-slack')).toEqual(['four'])
    expect(await list('integrationIdentifier=native')).toEqual(['four'])
    expect(await list('connectionIdentifier=workspace')).toEqual(['one'])
    expect(await list('contextKeys=app:jira&contextKeys=tenant:acme')).toEqual(['two'])
    expect(await list('contextKeys=tenant:acme')).toEqual(['three'])
    expect(await list('contextKeys=')).toEqual(['five', 'four', 'one'])
    expect(await list('subscriberId=ada&channel=sms')).toEqual([])
  })

  test('unknown values and wrong limits are refused', async () => {
    const get = (query: string) => api.get(`/v1/channel-endpoints?${query}`)
    expect((await get('channel=fax')).body).toMatchObject({
      statusCode: 422,
      errors: {
        general: { messages: ['channel must be one of the following values: in_app, email, sms, chat, push'] },
      },
    })
    const provider = await get('providerId=pigeon')
    expect(provider.status).toBe(422)
    expect(provider.body.errors.general.messages[0]).toMatch(/^providerId must be one of the following values: /)
    expect((await get('limit=101')).body).toMatchObject({ statusCode: 422, errors: { general: {} } })
    expect((await get('limit=-1')).body).toMatchObject({ statusCode: 422, errors: { limit: {} } })
    expect((await get('after=a&before=b')).status).toBe(400)
  })

  test("another environment's endpoints are not shown", async () => {
    const other = await server.freshApi()
    expect((await other.get('/v1/channel-endpoints')).body).toMatchObject({ data: [], totalCount: 0 })
  })
})

describe('changing and deleting', () => {
  test.each(examples)('an endpoint of type %s is replaced by %j', async (type, endpoint) => {
    const others: Record<string, object> = { webhook: { url: 'https://old.example.com', channel: 'old' } }
    const old = others[type] ?? Object.fromEntries(Object.keys(endpoint).map((name) => [name, 'old']))
    const before = (await create({ type, endpoint: old, identifier: 'mine' })).body
    server.clock.advance({ minutes: 1 })
    const patched = await api.patch('/v1/channel-endpoints/mine', { endpoint, subscriberId: 'bob', type: 'phone' })
    expect(patched.status).toBe(200)
    expect(patched.body).toEqual({ ...before, endpoint, updatedAt: server.clock.now().toISOString() })
    expect((await api.get('/v1/channel-endpoints/mine')).body).toEqual(patched.body)
  })

  test.each(misfits)('an endpoint of type %s cannot become %j', async (type, endpoint) => {
    const fitting = examples.find(([name]) => name === type)?.[1]
    await create({ type, endpoint: fitting, identifier: 'mine' })
    expect(await api.patch('/v1/channel-endpoints/mine', { endpoint })).toMatchObject({
      status: 400,
      body: { message: `Endpoint must match the required format for type "${type}"` },
    })
    expect((await api.get('/v1/channel-endpoints/mine')).body.endpoint).toEqual(fitting)
  })

  test('a change without an endpoint is refused', async () => {
    await create({ identifier: 'mine' })
    for (const [wrong, message] of [
      [{}, 'endpoint should not be null or undefined'],
      [{ endpoint: 'C9' }, 'endpoint must be an object'],
    ]) {
      const answer = await api.patch('/v1/channel-endpoints/mine', wrong)
      expect(answer.status).toBe(422)
      expect(answer.body.errors.general.messages).toEqual([message])
    }
  })

  test('an endpoint deleted while it is being changed is not found', async () => {
    await create({ identifier: 'mine' })
    const answer = await during(
      server,
      (tx) => tx.deleteFrom('channel_endpoints').where('environment_id', '=', api.environmentId).execute(),
      () => api.patch('/v1/channel-endpoints/mine', { endpoint: { channelId: 'C9' } }),
    )
    const message = `Channel endpoint with identifier "mine" not found in environment "${api.environmentId}"`
    expect(answer).toMatchObject({ status: 404, body: { message } })
  })

  test('a deleted endpoint is gone', async () => {
    await create({ identifier: 'mine' })
    expect(await api.delete('/v1/channel-endpoints/mine')).toMatchObject({ status: 204, text: '' })
    expect((await api.get('/v1/channel-endpoints/mine')).status).toBe(404)
  })

  test('unknown ones, and those of another environment, cannot be read, changed or deleted', async () => {
    const other = await server.freshApi()
    await create({ identifier: 'mine' })
    for (const [caller, identifier] of [
      [api, 'nothing'],
      [other, 'mine'],
    ] as const) {
      const path = `/v1/channel-endpoints/${identifier}`
      const single = { status: 404, body: { message: `Channel endpoint with identifier '${identifier}' not found` } }
      expect(await caller.get(path)).toMatchObject(single)
      expect(await caller.delete(path)).toMatchObject(single)
      expect(await caller.patch(path, { endpoint: { channelId: 'C9' } })).toMatchObject({
        status: 404,
        body: {
          message: `Channel endpoint with identifier "${identifier}" not found in environment "${caller.environmentId}"`,
        },
      })
    }
    expect((await api.get('/v1/channel-endpoints/mine')).body.endpoint).toEqual({ channelId: 'C123' })
  })
})
