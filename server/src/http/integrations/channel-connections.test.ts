import { beforeEach, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer({ brand: 'belfry' })
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await addIntegration(server, api, { identifier: 'slack-main' })
  for (const subscriberId of ['ada', 'bob']) await api.post('/v2/subscribers', { subscriberId })
})

const workspace = { id: 'T123', name: 'Acme' }
const auth = { accessToken: 'xoxb-secret' }
const body = (more: object = {}) => ({ integrationIdentifier: 'slack-main', workspace, auth, ...more })
const create = (more: object = {}) => api.post('/v1/channel-connections', body(more))
const contexts = async () =>
  (await api.get('/v2/contexts')).body.data.map((c: { type: string; id: string }) => `${c.type}:${c.id}`)

describe('creating', () => {
  test("a subscriber's connection copies channel and provider from its integration", async () => {
    const created = await create({
      subscriberId: 'ada',
      identifier: 'mine',
      context: { tenant: 'acme', app: { id: 'jira' } },
    })
    expect(created.status).toBe(201)
    const now = server.clock.now().toISOString()
    expect(created.body).toEqual({
      identifier: 'mine',
      channel: 'chat',
      providerId: 'slack',
      integrationIdentifier: 'slack-main',
      subscriberId: 'ada',
      contextKeys: ['app:jira', 'tenant:acme'],
      workspace,
      auth,
      createdAt: now,
      updatedAt: now,
    })
    expect((await api.get('/v1/channel-connections/mine')).body).toEqual(created.body)
  })

  test('an identifier is generated when none is given', async () => {
    expect((await create({ subscriberId: 'ada' })).body.identifier).toMatch(/^chconn_[0-9a-z]{12}$/)
  })

  test('the access token is encrypted at rest', async () => {
    await create({ subscriberId: 'ada' })
    const row = await server.database.db
      .selectFrom('channel_connections')
      .selectAll()
      .where('environment_id', '=', api.environmentId)
      .executeTakeFirstOrThrow()
    expect(row.encrypted_access_token).toMatch(/^enc:v1:/)
    expect(JSON.stringify(row)).not.toContain('xoxb-secret')
  })

  test('a shared connection belongs to its context and stores no subscriber', async () => {
    const created = await create({ connectionMode: 'shared', subscriberId: 'ada', context: { tenant: 'acme' } })
    expect(created).toMatchObject({ status: 201, body: { subscriberId: null, contextKeys: ['tenant:acme'] } })
  })

  test('unknown members are dropped, also inside workspace and auth', async () => {
    const created = await create({
      subscriberId: 'ada',
      extra: 1,
      workspace: { ...workspace, extra: 1 },
      auth: { ...auth, refreshToken: 'r' },
    })
    expect(created).toMatchObject({ status: 201 })
    expect(created.body).not.toHaveProperty('extra')
    expect(created.body.workspace).toEqual(workspace)
    expect(created.body.auth).toEqual(auth)
  })

  test('any integration can be named, active or not', async () => {
    await addIntegration(server, api, { identifier: 'mail', provider: 'sendgrid', channel: 'email', active: false })
    const created = await create({ integrationIdentifier: 'mail', subscriberId: 'ada', workspace: { id: 'w' } })
    expect(created).toMatchObject({ status: 201, body: { channel: 'email', providerId: 'sendgrid' } })
    expect(created.body.workspace).toEqual({ id: 'w' })
  })

  test('a service-native provider is named with the brand', async () => {
    await addIntegration(server, api, { identifier: 'native', provider: 'svc-slack' })
    const created = await create({ integrationIdentifier: 'native', subscriberId: 'ada' })
    expect(created.body.providerId).toBe('belfry-slack')
  })

  test.each([
    [{ integrationIdentifier: undefined }, 'integrationIdentifier should not be empty'],
    [{ integrationIdentifier: 7 }, 'integrationIdentifier must be a string'],
    [{ workspace: undefined }, 'workspace should not be null or undefined'],
    [{ workspace: {} }, 'workspace.id should not be empty'],
    [{ workspace: { id: '' } }, 'workspace.id should not be empty'],
    [{ workspace: { id: 'T', name: 1 } }, 'workspace.name must be a string'],
    [{ auth: undefined }, 'auth should not be null or undefined'],
    [{ auth: {} }, 'auth.accessToken should not be empty'],
    [{ auth: { accessToken: '' } }, 'auth.accessToken should not be empty'],
    [{ identifier: 'x'.repeat(256) }, 'identifier must be shorter than or equal to 255 characters'],
    [{ subscriberId: 5 }, 'subscriberId must be a string'],
    [{ connectionMode: 'own' }, 'connectionMode must be one of the following values: subscriber, shared'],
    [
      { context: 'acme' },
      'Invalid context payload structure. Expected object with context types as keys and string IDs or {id, data} objects as values',
    ],
  ])('%j is refused', async (wrong, message) => {
    const answer = await create({ subscriberId: 'ada', ...wrong })
    expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test.each([
    [{ connectionMode: 'shared', subscriberId: 'ada' }, 'context is required when connectionMode is "shared"'],
    [
      { connectionMode: 'subscriber', context: { tenant: 'acme' } },
      'subscriberId is required when connectionMode is "subscriber"',
    ],
    [{}, 'Either subscriberId or context must be provided'],
  ])('%j has no owner', async (wrong, message) => {
    const answer = await create({ ...wrong, integrationIdentifier: 'unknown' })
    expect(answer).toMatchObject({ status: 400, body: { message } })
    expect(await contexts()).toEqual([])
  })

  test('an integration that is unknown, deleted or of another environment is refused before contexts are created', async () => {
    const other = await server.freshApi()
    await addIntegration(server, other, { identifier: 'theirs' })
    const id = await addIntegration(server, api, { identifier: 'gone' })
    await server.database.db
      .updateTable('integrations')
      .set({ deleted_at: server.clock.now() })
      .where('id', '=', id)
      .execute()
    for (const identifier of ['unknown', 'theirs', 'gone']) {
      const answer = await create({ integrationIdentifier: identifier, context: { tenant: 'acme' } })
      expect(answer).toMatchObject({ status: 404, body: { message: `Integration not found: ${identifier}` } })
    }
    expect(await contexts()).toEqual([])
  })

  test.each([{}, { tenant: 'a b' }, { tenant: { data: {} } }, { 'a b': 'acme' }, { tenant: { id: 'x', data: 1 } }])(
    'the context %j is refused',
    async (context) => {
      expect(await create({ subscriberId: 'ada', context })).toMatchObject({
        status: 422,
        body: { message: expect.stringContaining('Invalid context payload structure.') },
      })
    },
  )

  test('an unknown subscriber is refused, also in shared mode, and the contexts stay', async () => {
    for (const more of [{ subscriberId: 'nobody' }, { subscriberId: 'nobody', connectionMode: 'shared' }]) {
      const answer = await create({ ...more, context: { tenant: 'acme' } })
      expect(answer).toMatchObject({ status: 404, body: { message: 'Subscriber not found: nobody' } })
    }
    expect(await contexts()).toEqual(['tenant:acme'])
  })

  test('there is one connection per integration, subscriber and exact set of contexts', async () => {
    await addIntegration(server, api, { identifier: 'slack-other' })
    const context = { tenant: 'acme', app: 'jira' }
    await create({ subscriberId: 'ada', identifier: 'plain' })
    await create({ subscriberId: 'ada', identifier: 'scoped', context })
    await create({ identifier: 'shared', context })

    expect(await create({ subscriberId: 'ada', identifier: 'plain' })).toMatchObject({
      status: 409,
      body: {
        message:
          'A channel connection already exists for integration "slack-main" with subscriberId "ada" and no context. Connection ID: plain',
      },
    })
    expect(await create({ subscriberId: 'ada', context: { app: 'jira', tenant: 'acme' } })).toMatchObject({
      status: 409,
      body: {
        message:
          'A channel connection already exists for integration "slack-main" with subscriberId "ada" and context [app:jira, tenant:acme]. Connection ID: scoped',
      },
    })
    // A shared connection has no subscriber, even if the request names one.
    expect(await create({ subscriberId: 'bob', connectionMode: 'shared', context })).toMatchObject({
      status: 409,
      body: {
        message:
          'A channel connection already exists for integration "slack-main" with no subscriberId and context [app:jira, tenant:acme]. Connection ID: shared',
      },
    })
    expect((await create({ subscriberId: 'ada', context: { tenant: 'acme' } })).status).toBe(201)
    expect((await create({ subscriberId: 'bob' })).status).toBe(201)
    expect((await create({ subscriberId: 'ada', integrationIdentifier: 'slack-other' })).status).toBe(201)
  })

  test('an identifier is unique per environment', async () => {
    await create({ subscriberId: 'ada', identifier: 'mine' })
    expect(await create({ subscriberId: 'bob', identifier: 'mine' })).toMatchObject({
      status: 409,
      body: {
        message: `Channel connection with identifier "mine" already exists in environment "${api.environmentId}"`,
      },
    })
    const other = await server.freshApi()
    await addIntegration(server, other, { identifier: 'slack-main' })
    const elsewhere = await other.post('/v1/channel-connections', body({ identifier: 'mine', context: { a: 'b' } }))
    expect(elsewhere.status).toBe(201)
  })

  test('concurrent requests for the same resource create one connection, and the others get its identifier', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => create({ subscriberId: 'ada', context: { tenant: 'acme' } })),
    )
    const created = answers.filter(({ status }) => status === 201)
    expect(created).toHaveLength(1)
    for (const refused of answers.filter(({ status }) => status !== 201)) {
      expect(refused.status).toBe(409)
      expect(refused.body.message).toContain(`Connection ID: ${created[0]?.body.identifier}`)
    }
    expect(await contexts()).toEqual(['tenant:acme'])
  })

  test('concurrent requests with the same identifier create one', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => create({ identifier: 'mine', context: { tenant: `t${i}` } })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(11)
  })
})

describe('listing', () => {
  const list = async (query: string) => {
    const { status, body } = await api.get(`/v1/channel-connections?${query}`)
    expect(status).toBe(200)
    return body.data.map((connection: { identifier: string }) => connection.identifier)
  }

  beforeEach(async () => {
    await addIntegration(server, api, { identifier: 'native', provider: 'svc-slack' })
    await addIntegration(server, api, { identifier: 'mail', provider: 'sendgrid', channel: 'email' })
    for (const more of [
      { identifier: 'one', subscriberId: 'ada' },
      { identifier: 'two', subscriberId: 'ada', context: { tenant: 'acme', app: 'jira' } },
      { identifier: 'three', context: { tenant: 'acme' } },
      { identifier: 'four', subscriberId: 'bob', integrationIdentifier: 'native' },
      { identifier: 'five', subscriberId: 'bob', integrationIdentifier: 'mail' },
    ]) {
      server.clock.advance({ seconds: 1 })
      await create(more)
    }
  })

  test('newest first, or in another given order, in pages', async () => {
    expect(await list('')).toEqual(['five', 'four', 'three', 'two', 'one'])
    expect(await list('orderDirection=ASC')).toEqual(['one', 'two', 'three', 'four', 'five'])
    await api.patch('/v1/channel-connections/two', { workspace, auth })
    expect(await list('orderBy=updatedAt&limit=2')).toEqual(['five', 'two'])
    expect(await list('orderBy=nonsense&limit=1')).toEqual(['five'])

    const first = (await api.get('/v1/channel-connections?limit=2')).body
    expect(first).toMatchObject({ previous: null, totalCount: 5, totalCountCapped: false })
    const second = (await api.get(`/v1/channel-connections?limit=2&after=${first.next}`)).body
    expect(second.data.map((c: { identifier: string }) => c.identifier)).toEqual(['three', 'two'])
    expect(await list(`limit=2&before=${second.previous}`)).toEqual(['five', 'four'])
    expect(await list('after=000000000000000000000000')).toEqual([])
  })

  test('filters are exact', async () => {
    expect(await list('subscriberId=ada')).toEqual(['two', 'one'])
    expect(await list('subscriberId=ad')).toEqual([])
    expect(await list('channel=email')).toEqual(['five'])
    expect(await list('providerId=slack')).toEqual(['three', 'two', 'one'])
    expect(await list('providerId=belfry-slack')).toEqual(['four'])
    expect(await list('providerId=svc-slack')).toEqual(['four'])
    expect(await list('integrationIdentifier=slack-main')).toEqual(['three', 'two', 'one'])
    expect(await list('integrationIdentifier=slack-main&subscriberId=ada')).toEqual(['two', 'one'])
    expect(await list('contextKeys=tenant:acme')).toEqual(['three'])
    expect(await list('contextKeys=tenant:acme&contextKeys=app:jira')).toEqual(['two'])
    expect(await list('contextKeys=')).toEqual(['five', 'four', 'one'])
  })

  test('an item looks the same as when retrieved', async () => {
    const { body } = await api.get('/v1/channel-connections?limit=1')
    expect(body.data[0]).toEqual((await api.get('/v1/channel-connections/five')).body)
  })

  test('unknown values and wrong limits are refused', async () => {
    const get = (query: string) => api.get(`/v1/channel-connections?${query}`)
    expect((await get('channel=fax')).body).toMatchObject({
      statusCode: 422,
      errors: {
        general: { messages: ['channel must be one of the following values: in_app, email, sms, chat, push'] },
      },
    })
    const provider = await get('providerId=pigeon')
    expect(provider.status).toBe(422)
    expect(provider.body.errors.general.messages[0]).toMatch(
      /^providerId must be one of the following values: .*belfry-slack/,
    )
    expect((await get('limit=101')).body).toMatchObject({ statusCode: 422, errors: { general: {} } })
    expect((await get('limit=-1')).body).toMatchObject({ statusCode: 422, errors: { limit: {} } })
    expect(await get('after=a&before=b')).toMatchObject({
      status: 400,
      body: { message: 'Cannot specify both "before" and "after" cursors at the same time.' },
    })
  })

  test("another environment's connections are not shown", async () => {
    const other = await server.freshApi()
    expect((await other.get('/v1/channel-connections')).body).toMatchObject({ data: [], totalCount: 0 })
  })
})

describe('changing and deleting', () => {
  beforeEach(async () => {
    await create({ identifier: 'mine', subscriberId: 'ada', context: { tenant: 'acme' } })
  })

  test('workspace and authorization are replaced, and nothing else', async () => {
    const before = (await api.get('/v1/channel-connections/mine')).body
    server.clock.advance({ minutes: 1 })
    const patched = await api.patch('/v1/channel-connections/mine', {
      workspace: { id: 'T999' },
      auth: { accessToken: 'xoxb-new' },
      subscriberId: 'bob',
      identifier: 'other',
    })
    expect(patched.status).toBe(200)
    expect(patched.body).toEqual({
      ...before,
      workspace: { id: 'T999' },
      auth: { accessToken: 'xoxb-new' },
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await api.get('/v1/channel-connections/mine')).body).toEqual(patched.body)
  })

  test.each([
    [{ workspace }, 'auth should not be null or undefined'],
    [{ auth }, 'workspace should not be null or undefined'],
    [{ workspace: { id: 1 }, auth }, 'workspace.id must be a string'],
    [{ workspace, auth: { accessToken: 1 } }, 'auth.accessToken must be a string'],
  ])('changing to %j is refused', async (wrong, message) => {
    const answer = await api.patch('/v1/channel-connections/mine', wrong)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
    expect((await api.get('/v1/channel-connections/mine')).body).toMatchObject({ workspace, auth })
  })

  test('a deleted connection can be created again; endpoints that name it stay', async () => {
    const endpoint = {
      type: 'slack_user',
      endpoint: { userId: 'U1' },
      subscriberId: 'ada',
      integrationIdentifier: 'slack-main',
      connectionIdentifier: 'mine',
      identifier: 'to-ada',
    }
    expect((await api.post('/v1/channel-endpoints', endpoint)).status).toBe(201)
    expect(await api.delete('/v1/channel-connections/mine')).toMatchObject({ status: 204, text: '' })
    expect((await api.get('/v1/channel-endpoints/to-ada')).body.connectionIdentifier).toBe('mine')
    expect((await create({ identifier: 'mine', subscriberId: 'ada', context: { tenant: 'acme' } })).status).toBe(201)
  })

  test('unknown ones, and those of another environment, cannot be read, changed or deleted', async () => {
    const other = await server.freshApi()
    for (const [caller, identifier] of [
      [api, 'nothing'],
      [other, 'mine'],
    ] as const) {
      const path = `/v1/channel-connections/${identifier}`
      const single = { status: 404, body: { message: `Channel connection with identifier '${identifier}' not found` } }
      expect(await caller.get(path)).toMatchObject(single)
      expect(await caller.delete(path)).toMatchObject(single)
      expect(await caller.patch(path, { workspace: { id: 'x' }, auth })).toMatchObject({
        status: 404,
        body: { message: `Channel connection with identifier "${identifier}" not found` },
      })
    }
    expect((await api.get('/v1/channel-connections/mine')).body).toMatchObject({ workspace, auth })
  })
})
