import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { Api, lowLimits, useServer } from '../../../test/server.ts'

const server = useServer({ limits: lowLimits })
const color = '#336699'

const withKey = (api: Api, key: string, url = api.url) => new Api(url, key, api.environmentId, api.organizationId)

const namesOf = async (api: Api) =>
  (await api.get('/v1/environments')).body.map((environment: { name: string }) => environment.name)

/** A custom environment of the organization, with its own key. */
async function createCustom(api: Api, name: string): Promise<Api> {
  const { status, body } = await (await server.organizationOf(api)).post('/v1/environments', { name, color })
  expect(status).toBe(201)
  return new Api(api.url, body.apiKeys[0].key, body._id, api.organizationId)
}

/** Waits until the process has heard that the key was deleted. The list does not read the environment. */
async function refused(api: Api): Promise<void> {
  await expect
    .poll(async () => await api.get('/v2/topics'), { timeout: 20_000, interval: 10 })
    .toMatchObject({ status: 401, body: { message: 'API Key not found' } })
}

describe('creating', () => {
  test('an environment comes with its key in plain text, an inbox and a group for workflows', async () => {
    const { development } = await server.freshOrganizationWide()
    const { status, body } = await development.post('/v1/environments', {
      name: '  Quality Assurance ',
      color,
      parentId: development.environmentId,
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'Quality Assurance',
      _organizationId: development.organizationId,
      identifier: expect.stringMatching(/^[\w-]{12}$/),
      type: 'prod',
      color,
      slug: expect.stringMatching(/^quality-assurance_env_[0-9A-Za-z]{16}$/),
      apiKeys: [
        {
          key: expect.stringMatching(/^[0-9a-f]{32}$/),
          _userId: expect.stringMatching(/^[0-9a-f]{24}$/),
          hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          createdAt: server.clock.now().toISOString(),
        },
      ],
      dns: {},
      bridge: {},
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    const me = await withKey(development, body.apiKeys[0].key).get('/v1/environments/me')
    expect(me).toMatchObject({ status: 200, body })
    const integrations = await server.database.db
      .selectFrom('integrations')
      .select(['provider_id', 'channel', 'active'])
      .where('environment_id', '=', body._id)
      .execute()
    expect(integrations).toEqual([{ provider_id: 'svc', channel: 'in_app', active: true }])
    const groups = await server.database.db
      .selectFrom('notification_groups')
      .select('name')
      .where('environment_id', '=', body._id)
      .execute()
    expect(groups).toEqual([{ name: 'General' }])
  })

  test.each([
    [{ color }, 'Environment name is required'],
    [{ name: '', color }, 'Environment name is required'],
    [{ name: '  ', color }, 'Environment name is required'],
    [{ name: 5, color }, 'name must be a string'],
    [{ name: 'x'.repeat(256), color }, 'name must be shorter than or equal to 255 characters'],
    [{ name: 'a' }, 'Environment color is required'],
    [{ name: 'a', color: 'blue' }, 'Color must be a valid hex color code'],
    [{ name: 'a', color: 5 }, 'Color must be a valid hex color code'],
    [{ name: 'a', color, parentId: 'x' }, 'parentId must be a mongodb id'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.wideApi.post('/v1/environments', body)
    expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test.each(['Development', 'pRODUCTION', '  development '])('the name %j is reserved', async (name) => {
    const message = 'Environment name cannot be Development or Production'
    expect(await server.wideApi.post('/v1/environments', { name, color })).toMatchObject({
      status: 422,
      body: { message, errors: { general: { messages: [message] } } },
    })
  })

  test('a name is unique in an organization, case-insensitively', async () => {
    const [{ development }, elsewhere] = [await server.freshOrganizationWide(), await server.freshOrganizationWide()]
    await createCustom(development, 'Staging Übung')
    for (const name of ['Staging Übung', ' STAGING ÜBUNG ']) {
      expect(await development.post('/v1/environments', { name, color })).toMatchObject({
        status: 400,
        body: { message: 'Environment name must be unique' },
      })
    }
    await createCustom(elsewhere.development, 'Staging Übung')
  })

  test('concurrent requests with one name create one environment', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const answers = await Promise.all(
      ['qa', 'QA', 'Qa', ' qa'].map((name, i) =>
        (i % 2 ? production : development).post('/v1/environments', { name, color }),
      ),
    )
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([201, 400, 400, 400])
    expect(await namesOf(development)).toHaveLength(3)
  })

  test('an organization never exceeds its limit of environments, however many are created at once', async () => {
    const { development } = await server.freshOrganizationWide()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => development.post('/v1/environments', { name: `e${i}`, color })),
    )
    const refusals = answers.filter((answer) => answer.status !== 201)
    expect(refusals).toHaveLength(4)
    for (const refusal of refusals)
      expect(refusal).toMatchObject({
        status: 400,
        body: { message: 'Organization cannot have more than 10 environments' },
      })
    expect(await namesOf(development)).toHaveLength(10)
  })
})

describe('reading', () => {
  test('the list shows all environments of the organization, oldest first, with no key but the own one', async () => {
    const { development, production } = await server.freshOrganization()
    const custom = await createCustom(development, 'Load Test')
    const { status, body } = await production.get('/v1/environments')
    expect(status).toBe(200)
    expect(body).toMatchObject([
      {
        _id: development.environmentId,
        name: 'Development',
        type: 'dev',
        color: '#ff8547',
        slug: expect.stringMatching(/^dev_env_/),
        apiKeys: [],
      },
      {
        _id: production.environmentId,
        name: 'Production',
        type: 'prod',
        color: '#7e52f4',
        slug: expect.stringMatching(/^prod_env_/),
        _parentId: development.environmentId,
        apiKeys: [{ key: production.key }],
      },
      { _id: custom.environmentId, slug: expect.stringMatching(/^load-test_env_/), apiKeys: [] },
    ])
    expect(body).toHaveLength(3)
  })

  test('a key never reveals the key of another environment', async () => {
    const { development, production } = await server.freshOrganization()
    const wide = await server.organizationOf(development)
    const path = `/v1/environments/${production.environmentId}`
    const answers = [
      await development.get('/v1/environments'),
      await development.get('/v1/environments/me'),
      await development.get('/v1/environments/api-keys'),
      await wide.put(path, {}),
      await wide.put(path, { color }),
      await wide.post('/v1/environments', { name: 'qa', color }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 201])
    for (const { text } of answers) expect(text).not.toContain(production.key)
    expect(answers[4]?.body).toMatchObject({ _id: production.environmentId, color, apiKeys: [] })
    // It knows its own key, and a new key is shown to its creator.
    expect(answers[0]?.text).toContain(development.key)
    expect(await withKey(development, answers[5]?.body.apiKeys[0].key).get('/v1/environments/me')).toMatchObject({
      status: 200,
      body: { name: 'qa' },
    })
  })

  test('owners see every key; an admin sees a new one, once', async () => {
    const { development, production } = await server.freshOrganization()
    const [owner, admin] = [await signInAs(server, development, 'owner'), await signInAs(server, development, 'admin')]
    const paths = ['/v1/environments', '/v1/environments/me', '/v1/environments/api-keys']
    for (const path of paths) expect((await owner.get(path)).text).toContain(development.key)
    expect((await owner.get('/v1/environments')).text).toContain(production.key)
    const put = (person: Api) => person.put(`/v1/environments/${production.environmentId}`, { color })
    expect((await put(owner)).text).toContain(production.key)
    expect((await put(admin)).body.apiKeys).toEqual([])
    expect((await admin.get('/v1/environments')).body).toMatchObject([{ apiKeys: [] }, { apiKeys: [] }])
    expect((await admin.get('/v1/environments/me')).body).toMatchObject({ apiKeys: [] })
    expect(await admin.get('/v1/environments/api-keys')).toMatchObject({
      status: 403,
      body: { code: 'insufficient_role' },
    })

    const rotated = await admin.post('/v1/environments/api-keys/rotate')
    expect(rotated).toMatchObject({ status: 201, body: [{ key: expect.any(String) }] })
    expect(rotated.body).toHaveLength(1)
    expect(rotated.text).not.toContain(development.key)
    const made = withKey(development, rotated.body[0].key)
    expect((await made.get('/v1/environments/me')).status).toBe(200)
    expect((await admin.get('/v1/environments')).text).not.toContain(made.key)
    expect((await owner.post('/v1/environments/api-keys/rotate')).body).toHaveLength(3)
    const { body: qa } = await admin.post('/v1/environments', { name: 'qa', color })
    expect((await withKey(development, qa.apiKeys[0].key).get('/v1/environments/me')).status).toBe(200)
    expect((await admin.get('/v1/environments')).text).not.toContain(qa.apiKeys[0].key)
  })

  test("`me` and the keys are of the key's own environment", async () => {
    const { development, production } = await server.freshOrganization()
    const me = await production.get('/v1/environments/me')
    expect(me).toMatchObject({ status: 200, body: { _id: production.environmentId, name: 'Production' } })
    expect(await development.get('/v1/environments/api-keys')).toMatchObject({
      status: 200,
      body: [{ key: development.key, _userId: me.body.apiKeys[0]._userId }],
    })
  })

  test('keys are not stored in plain text, not even in answers stored for idempotency', async () => {
    const { development } = await server.freshOrganizationWide()
    const headers = { 'idempotency-key': 'once' }
    const first = await development.post('/v1/environments', { name: 'qa', color }, headers)
    const repeat = await development.post('/v1/environments', { name: 'qa', color }, headers)
    expect(repeat.headers.get('idempotency-replay')).toBe('true')
    expect(repeat.body).toEqual(first.body)
    const { key } = first.body.apiKeys[0]
    const stored = await server.database.db.selectFrom('api_keys').select(['hash', 'encrypted_key']).execute()
    const answers = await server.database.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(answers).toHaveLength(1)
    expect(JSON.stringify([stored, answers])).not.toContain(key)
  })

  test('tags are the distinct tags of an environment’s workflows, by id or identifier', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const now = server.clock.now()
    const workflow = (environment_id: string, identifier: string, tags: string[]) => ({
      environment_id,
      id: identifier.padStart(24, '0'),
      identifier,
      name: identifier,
      tags,
      created_at: now,
      updated_at: now,
    })
    await server.database.db
      .insertInto('workflows')
      .values([
        workflow(development.environmentId, 'a', ['urgent', 'billing']),
        workflow(development.environmentId, 'b', ['billing']),
        workflow(development.environmentId, 'c', []),
        workflow(production.environmentId, 'a', ['other']),
      ])
      .execute()
    const { identifier } = (await development.get('/v1/environments/me')).body
    const tags = [{ name: 'billing' }, { name: 'urgent' }]
    for (const name of [development.environmentId, identifier])
      expect(await development.get(`/v2/environments/${name}/tags`)).toMatchObject({ status: 200, body: tags })
    expect((await production.get(`/v2/environments/${identifier}/tags`)).body).toEqual(tags)
    // An identifier that looks like the id of another environment does not hide it.
    const confusing = { identifier: development.environmentId }
    expect((await production.put(`/v1/environments/${production.environmentId}`, confusing)).status).toBe(200)
    expect((await production.get(`/v2/environments/${development.environmentId}/tags`)).body).toEqual(tags)
  })

  test('tags of an unknown environment, or of another organization, are empty', async () => {
    const [mine, other] = [await server.freshOrganizationWide(), await server.freshOrganizationWide()]
    for (const id of ['nowhere', '0'.repeat(24), other.development.environmentId])
      expect(await mine.development.get(`/v2/environments/${id}/tags`)).toMatchObject({
        status: 404,
        body: { message: `Environment ${id} not found` },
      })
  })
})

describe('changing', () => {
  test('the given fields change, the others stay', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const custom = await createCustom(development, 'QA')
    const path = `/v1/environments/${custom.environmentId}`
    const before = (await custom.get('/v1/environments/me')).body
    server.clock.advance({ minutes: 1 })
    const changes = {
      name: ' Quality ',
      identifier: 'quality-1',
      color: '#fff',
      dns: { inboundParseDomain: 'in.example.com', other: 1 },
      bridge: { url: 'https://bridge.example.com' },
    }
    const changed = await custom.put(path, { ...changes, parentId: production.environmentId, type: 'dev' })
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({
      ...before,
      ...changes,
      name: 'Quality',
      dns: { inboundParseDomain: 'in.example.com' },
      _parentId: production.environmentId,
      slug: before.slug.replace('qa', 'quality'),
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await custom.get('/v1/environments/me')).body).toEqual(changed.body)

    server.clock.advance({ minutes: 1 })
    expect((await development.put(path, { dns: {} })).body).toMatchObject({ dns: changed.body.dns, name: 'Quality' })
    const { updatedAt } = (await development.put(path, {})).body
    server.clock.advance({ minutes: 1 })
    expect((await development.put(path)).body.updatedAt).toBe(updatedAt)
  })

  test('an environment may keep its name, or change its case', async () => {
    const { development } = await server.freshOrganizationWide()
    const custom = await createCustom(development, 'qa')
    const path = `/v1/environments/${custom.environmentId}`
    expect((await development.put(path, { name: 'qa', color: '#000' })).body).toMatchObject({ color: '#000' })
    expect((await development.put(path, { name: 'QA' })).body.name).toBe('QA')
    const own = `/v1/environments/${development.environmentId}`
    expect(await development.put(own, { name: 'Development', color: '#111' })).toMatchObject({ status: 200 })
  })

  test('system environments keep their names', async () => {
    const { development, production } = await server.freshOrganizationWide()
    for (const [api, name] of [
      [development, 'Dev'],
      [production, 'production'],
    ] as const)
      expect(await development.put(`/v1/environments/${api.environmentId}`, { name })).toMatchObject({
        status: 422,
        body: { message: 'Cannot update the name of Development or Production environments' },
      })
    expect(await namesOf(development)).toEqual(['Development', 'Production'])
  })

  test('names and identifiers stay unique, and reserved names reserved', async () => {
    const { development } = await server.freshOrganizationWide()
    await createCustom(development, 'one')
    const path = `/v1/environments/${(await createCustom(development, 'two')).environmentId}`
    expect(await development.put(path, { name: 'ONE' })).toMatchObject({
      status: 400,
      body: { message: 'Environment name must be unique' },
    })
    for (const name of ['development', ' Production '])
      expect(await development.put(path, { name })).toMatchObject({
        status: 422,
        body: { message: 'Environment name cannot be Development or Production' },
      })
    const { identifier } = (await server.wideApi.get('/v1/environments/me')).body
    expect(await development.put(path, { name: 'three', identifier })).toMatchObject({
      status: 400,
      body: { message: 'Environment identifier must be unique' },
    })
    expect(await namesOf(development)).toEqual(['Development', 'Production', 'one', 'two'])
  })

  test('a parent must be another environment of the organization, and no descendant', async () => {
    const [{ development, production }, other] = [
      await server.freshOrganizationWide(),
      await server.freshOrganizationWide(),
    ]
    const path = `/v1/environments/${development.environmentId}`
    for (const parentId of ['0'.repeat(24), other.development.environmentId])
      expect(await development.put(path, { parentId })).toMatchObject({
        status: 400,
        body: { message: `Parent environment ${parentId} not found in this organization` },
      })
    for (const parentId of [development.environmentId, production.environmentId])
      expect(await development.put(path, { parentId })).toMatchObject({
        status: 400,
        body: { message: 'An environment cannot be its own parent or ancestor' },
      })
  })

  test.each([
    [{ name: ' ' }, 'Environment name is required'],
    [{ identifier: '' }, 'identifier should not be empty'],
    [{ identifier: 'a b' }, 'identifier must not contain spaces'],
    [{ color: '#12' }, 'Color must be a valid hex color code'],
    [{ parentId: 'x' }, 'parentId must be a mongodb id'],
    [{ dns: 'example.com' }, 'dns must be an object'],
    [{ dns: { inboundParseDomain: 5 } }, 'dns.inboundParseDomain must be a string'],
    [{ bridge: { url: null } }, 'bridge.url must be a string'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.wideApi.put(`/v1/environments/${server.wideApi.environmentId}`, body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('an unknown or malformed id, or one of another organization, is not found', async () => {
    const [mine, other] = [await server.freshOrganizationWide(), await server.freshOrganizationWide()]
    const theirs = await createCustom(other.development, 'theirs')
    for (const id of ['0'.repeat(24), 'nonsense', theirs.environmentId])
      expect(await mine.development.put(`/v1/environments/${id}`, { name: 'mine' })).toMatchObject({
        status: 401,
        body: { message: 'Environment not found' },
      })
    expect(await namesOf(other.development)).toContain('theirs')
  })
})

describe('deleting', () => {
  test('deleting an environment deletes its key and variable values, and its children lose their parent', async () => {
    const { development } = await server.freshOrganizationWide()
    const custom = await createCustom(development, 'qa')
    const child = await createCustom(development, 'child')
    await development.put(`/v1/environments/${child.environmentId}`, { parentId: custom.environmentId })
    const values = [custom, child].map(({ environmentId }) => ({ _environmentId: environmentId, value: 'v' }))
    await development.post('/v1/environment-variables', { key: 'HOST', values })
    expect((await custom.get('/v1/environments/me')).status).toBe(200)

    const deleted = await development.delete(`/v1/environments/${custom.environmentId}`)
    expect(deleted).toMatchObject({ status: 200, text: '' })
    expect(await custom.get('/v1/environments/me')).toMatchObject({
      status: 401,
      body: { message: 'API Key not found' },
    })
    expect(await namesOf(development)).toEqual(['Development', 'Production', 'child'])
    expect((await child.get('/v1/environments/me')).body).not.toHaveProperty('_parentId')
    expect((await development.get('/v1/environment-variables/HOST')).body.values).toEqual([values[1]])
    const integrations = await server.database.db
      .selectFrom('integrations')
      .select('deleted_at')
      .where('environment_id', '=', custom.environmentId)
      .execute()
    expect(integrations).toEqual([{ deleted_at: server.clock.now() }])
    // The name is free again.
    await createCustom(development, 'qa')
  })

  test('a key can delete its own environment', async () => {
    const { development } = await server.freshOrganizationWide()
    const custom = await createCustom(development, 'qa')
    expect((await custom.delete(`/v1/environments/${custom.environmentId}`)).status).toBe(200)
    expect((await custom.delete(`/v1/environments/${custom.environmentId}`)).status).toBe(401)
  })

  test('every process refuses the key of a deleted environment', async () => {
    const { development } = await server.freshOrganizationWide()
    const custom = await createCustom(development, 'qa')
    const another = await server.startAnother()
    const there = withKey(custom, custom.key, another.url)
    expect((await there.get('/v1/environments/me')).status).toBe(200)
    await development.delete(`/v1/environments/${custom.environmentId}`)
    await refused(there)
  })

  test('a request in flight with the key of a deleted environment is refused like any other', async () => {
    const api = await server.freshApi()
    // The process has cached the key, and hears no announcement: as if the request had just been let in.
    expect((await api.get('/v1/environments/me')).status).toBe(200)
    await server.database.db.deleteFrom('environments').where('id', '=', api.environmentId).execute()
    const integration = { providerId: 'sendgrid', channel: 'email' }
    for (const answer of [
      await api.get('/v1/environments/me'),
      await api.post('/v1/environments/api-keys/regenerate'),
      await api.post('/v1/integrations', integration),
    ])
      expect(answer).toMatchObject({ status: 401, body: { message: 'API Key not found' } })
  })

  test('system environments are protected', async () => {
    const { development, production } = await server.freshOrganizationWide()
    for (const [api, name] of [
      [development, 'Development'],
      [production, 'Production'],
    ] as const)
      expect(await development.delete(`/v1/environments/${api.environmentId}`)).toMatchObject({
        status: 400,
        body: {
          message: `The ${name} environment is protected and cannot be deleted. Only custom environments can be deleted.`,
        },
      })
    expect((await production.get('/v1/environments/me')).status).toBe(200)
  })

  test('an unknown or malformed id, or one of another organization, is not found', async () => {
    const [mine, other] = [await server.freshOrganizationWide(), await server.freshOrganizationWide()]
    const theirs = await createCustom(other.development, 'theirs')
    for (const id of ['0'.repeat(24), 'nonsense', theirs.environmentId])
      expect(await mine.development.delete(`/v1/environments/${id}`)).toMatchObject({
        status: 404,
        body: { message: `Environment ${id} not found` },
      })
    expect((await theirs.get('/v1/environments/me')).status).toBe(200)
  })
})

describe('rotating the key', () => {
  test('the new key works, and the old one is refused at once', async () => {
    const { development, production } = await server.freshOrganization()
    const rotated = await development.post('/v1/environments/api-keys/regenerate')
    expect(rotated).toMatchObject({
      status: 201,
      body: [{ key: expect.stringMatching(/^[0-9a-f]{32}$/), _userId: (await ownKey(production))._userId }],
    })
    expect(await development.get('/v1/environments/me')).toMatchObject({
      status: 401,
      body: { message: 'API Key not found' },
    })
    const renewed = withKey(development, rotated.body[0].key)
    expect((await renewed.get('/v1/environments/api-keys')).body).toEqual(rotated.body)
    expect((await production.get('/v1/environments/me')).status).toBe(200)
  })

  test('every process refuses the old key', async () => {
    const { development } = await server.freshOrganization()
    const another = await server.startAnother()
    const there = withKey(development, development.key, another.url)
    expect((await there.get('/v1/environments/me')).status).toBe(200)
    const { key } = (await development.post('/v1/environments/api-keys/regenerate')).body[0]
    await refused(there)
    expect((await withKey(development, key, another.url).get('/v1/environments/me')).status).toBe(200)
  })

  test('concurrent rotations leave one key, returned by one of them', async () => {
    const { development } = await server.freshOrganizationWide()
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => development.post('/v1/environments/api-keys/regenerate')),
    )
    const keys = answers.filter((answer) => answer.status === 201).map((answer) => answer.body[0].key)
    const works = await Promise.all(
      keys.map(async (key) => (await withKey(development, key).get('/v1/environments/me')).status),
    )
    expect(works.filter((status) => status === 200)).toHaveLength(1)
  })
})

describe('rotating the key with an overlap', () => {
  const rotate = (api: Api, body?: object) => api.post('/v1/environments/api-keys/rotate', body)
  const works = async (api: Api) => (await api.get('/v1/environments/me')).status === 200
  const inHours = (hours: number) => new Date(server.clock.now().getTime() + hours * 3_600_000).toISOString()

  test('the old key works until it expires, in every process', async () => {
    const { development } = await server.freshOrganization()
    const another = await server.startAnother()
    const elsewhere = withKey(development, development.key, another.url)
    expect(await works(elsewhere)).toBe(true)
    const answer = await rotate(development, { overlapHours: 2 })
    const createdAt = server.clock.now().toISOString()
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual([
      { key: expect.stringMatching(/^[0-9a-f]{32}$/), _userId: expect.any(String), createdAt },
      { key: development.key, _userId: expect.any(String), createdAt, expiresAt: inHours(2) },
    ])
    const renewed = withKey(development, answer.body[0].key)
    expect((await renewed.get('/v1/environments/api-keys')).body).toEqual(answer.body)
    expect((await renewed.get('/v1/environments/me')).body.apiKeys).toMatchObject(answer.body)
    server.clock.advance({ hours: 2, ms: -1 })
    expect([await works(development), await works(elsewhere), await works(renewed)]).toEqual([true, true, true])
    server.clock.advance({ ms: 1 })
    expect([await works(development), await works(elsewhere), await works(renewed)]).toEqual([false, false, true])
    expect((await renewed.get('/v1/environments/api-keys')).body).toEqual([answer.body[0]])
    server.clock.advance({ hours: -2 })
  })

  test('lasts a day by default; a key that expires sooner is not extended', async () => {
    const { development } = await server.freshOrganizationWide()
    const first = (await rotate(development)).body
    expect(first[1].expiresAt).toBe(inHours(24))
    const ends = async (body: object) =>
      (await rotate(development, body)).body.map(({ expiresAt }: { expiresAt?: string }) => expiresAt)
    expect((await ends({ overlapHours: 48 })).sort()).toEqual([inHours(24), inHours(48), undefined])
    expect((await ends({ overlapHours: 1 })).sort()).toEqual([inHours(1), inHours(1), inHours(1), undefined])
  })

  test('is limited to ten valid keys', async () => {
    const { development } = await server.freshOrganizationWide()
    for (let n = 2; n <= 10; n += 1) expect((await rotate(development)).body).toHaveLength(n)
    expect(await rotate(development)).toMatchObject({ status: 409, body: { code: 'too_many_api_keys' } })
    expect((await development.get('/v1/environments/api-keys')).body).toHaveLength(10)
    expect((await development.post('/v1/environments/api-keys/regenerate')).body).toHaveLength(1)
  })

  test('concurrent rotations each return a valid key', async () => {
    const { development } = await server.freshOrganizationWide()
    const answers = await Promise.all([1, 2, 3].map(() => rotate(development)))
    const newest = answers.map(({ body }) => body[0].key)
    expect(new Set(newest).size).toBe(3)
    for (const key of newest) expect(await works(withKey(development, key))).toBe(true)
  })

  test('subscriber hashes may use either key during the overlap, and then only the new one', async () => {
    const { development } = await server.freshOrganizationWide()
    const { identifier, apiKeys } = (await development.get('/v1/environments/me')).body
    const [inbox] = (await development.get('/v1/integrations')).body.filter(({ channel }: any) => channel === 'in_app')
    await development.put(`/v1/integrations/${inbox._id}`, { credentials: { hmac: true } })
    const [fresh] = (await rotate(development)).body
    const open = async (key: string) => {
      const subscriberHash = createHmac('sha256', key).update('ada').digest('hex')
      const body = { applicationIdentifier: identifier, subscriberId: 'ada', subscriberHash }
      return (await development.post('/v1/inbox/session', body)).status
    }
    expect([await open(apiKeys[0].key), await open(fresh.key)]).toEqual([201, 201])
    server.clock.advance({ days: 1 })
    expect([await open(apiKeys[0].key), await open(fresh.key)]).toEqual([400, 201])
    server.clock.advance({ days: -1 })
  })

  test.each([0, 721, 1.5, 'long'])('an overlap of %s hours is refused', async (overlapHours) => {
    expect(await rotate(server.wideApi, { overlapHours })).toMatchObject({ status: 422 })
    expect((await server.wideApi.get('/v1/environments/api-keys')).body).toHaveLength(1)
  })
})

const ownKey = async (api: Api) => (await api.get('/v1/environments/api-keys')).body[0]

test.each([
  ['GET', '/v1/environments'],
  ['POST', '/v1/environments'],
  ['GET', '/v1/environments/me'],
  ['PUT', '/v1/environments/x'],
  ['DELETE', '/v1/environments/x'],
  ['GET', '/v1/environments/api-keys'],
  ['POST', '/v1/environments/api-keys/regenerate'],
  ['POST', '/v1/environments/api-keys/rotate'],
  ['GET', '/v2/environments/x/tags'],
])('%s %s needs a key', async (method, path) => {
  const answer = await withKey(server.wideApi, 'unknown').send(method, path)
  expect(answer).toMatchObject({ status: 401, body: { message: 'API Key not found' } })
})
