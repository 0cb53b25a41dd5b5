import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../../../test/during.ts'
import { signInAs } from '../../../test/people.ts'
import { Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { Changes } from '../../db/core/changes.ts'
import { newId } from '../../db/core/ids.ts'
import { lockIntegrations } from '../../db/queries/integrations.ts'

// Local servers play the vendors.
const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

interface Integration {
  _id: string
  identifier: string
  providerId: string
  channel: string
  active: boolean
  primary: boolean
  priority: number
}

const create = async (api: Api, body: object): Promise<any> => {
  const answer = await api.post('/v1/integrations', body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const mail = (api: Api, name: string, more: object = { active: true }) =>
  create(api, { providerId: 'sendgrid', channel: 'email', name, identifier: name, ...more })
const list = async (api: Api): Promise<Integration[]> => (await api.get('/v1/integrations')).body

/** The email integrations as `name: priority`, best first, the primary one with an asterisk. */
const ranking = async (api: Api, channel = 'email') =>
  (await list(api))
    .filter((integration) => integration.channel === channel)
    .sort((a, b) => b.priority - a.priority)
    .map(({ identifier, priority, primary }) => `${identifier}: ${priority}${primary ? '*' : ''}`)

const storedRow = (id: string) =>
  server.database.db.selectFrom('integrations').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

const oneCondition = [
  {
    isNegated: false,
    type: 'GROUP',
    value: 'AND',
    children: [{ field: 'identifier', value: 'acme', operator: 'EQUAL', on: 'tenant' }],
  },
]
const unknownId = '65f0a1b2c3d4e5f6a7b8c9d0'

describe('creating', () => {
  test('an integration has a name, an identifier and defaults for everything else', async () => {
    const api = await server.freshApi()
    const created = await api.post('/v1/integrations', { providerId: 'sendgrid', channel: 'email' })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      _environmentId: api.environmentId,
      _organizationId: api.organizationId,
      name: 'SendGrid',
      identifier: expect.stringMatching(/^send-grid-[\w-]{8}$/),
      providerId: 'sendgrid',
      channel: 'email',
      kind: 'delivery',
      credentials: {},
      configurations: {},
      active: false,
      deleted: false,
      primary: false,
      priority: 0,
      conditions: [],
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await list(api)).at(-1)).toEqual(created.body)
  })

  test('given fields are stored, unknown ones are dropped', async () => {
    const api = await server.freshApi()
    const credentials = {
      apiKey: 'SG.secret',
      from: 'ada@example.com',
      senderName: 'Ada',
      secure: true,
      useFromAddressOverride: true,
      fromAddressOverride: 'no-reply@example.com',
      tlsOptions: { rejectUnauthorized: false },
    }
    const created = await create(api, {
      providerId: 'sendgrid',
      channel: 'email',
      name: 'Mail of the Ünion',
      _environmentId: api.environmentId,
      credentials: { ...credentials, shoeSize: 44 },
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'key', shoeSize: 44 },
      conditions: [{ ...oneCondition[0], shoeSize: 44 }],
      kind: 'delivery',
      shoeSize: 44,
    })
    expect(created).toMatchObject({
      name: 'Mail of the Ünion',
      identifier: expect.stringMatching(/^mail-of-the-uenion-[\w-]{8}$/),
      credentials,
      configurations: { inboundWebhookEnabled: true, inboundWebhookSigningKey: 'key' },
      conditions: oneCondition,
    })
    expect(JSON.stringify(created)).not.toContain('shoeSize')
    const nameless = await create(api, { providerId: 'slack', channel: 'chat', name: '日本' })
    expect(nameless.identifier).toMatch(/^slack-[\w-]{8}$/)
  })

  test('TLS options may be JSON text from a form', async () => {
    const api = await server.freshApi()
    const smtp = (tlsOptions: string) => ({ providerId: 'nodemailer', channel: 'email', credentials: { tlsOptions } })
    expect((await create(api, smtp('{"rejectUnauthorized":false}'))).credentials).toEqual({
      tlsOptions: { rejectUnauthorized: false },
    })
    expect((await create(api, smtp(' '))).credentials).toEqual({})
    for (const text of ['[1]', 'null', '{', '"x"', '['.repeat(200) + ']'.repeat(200)])
      expect(await api.post('/v1/integrations', smtp(text))).toMatchObject({
        status: 422,
        body: { errors: { general: { messages: ['credentials.tlsOptions must be an object'] } } },
      })
  })

  test('conditions get defaults for absent members, and accept any value', async () => {
    const api = await server.freshApi()
    const children = [{ field: 'plan', value: ['pro', { n: 1 }], operator: 'IN', on: 'subscriber' }]
    const created = await create(api, { providerId: 'slack', channel: 'chat', conditions: [{ children }] })
    expect(created.conditions).toEqual([{ isNegated: false, type: 'GROUP', value: 'AND', children }])
  })

  test.each([
    [[{ children: 'test' }]],
    [[{}]],
    [['x']],
    [[null]],
    [[{ children: ['x'] }]],
    [[{ children: [], isNegated: 'no' }]],
    [[{ children: [], value: 'XOR' }]],
    [[{ children: [], type: 'EMOJI' }]],
    [[{ children: [{ operator: 'IS' }] }]],
    [[{ children: [{ on: 'moon' }] }]],
    [[{ children: [{ field: 1 }] }]],
  ])('malformed conditions are refused: %j', async (conditions) => {
    const answer = await server.api.post('/v1/integrations', { providerId: 'sendgrid', channel: 'email', conditions })
    expect(answer).toMatchObject({ status: 400, body: { message: 'Bad Request', error: 'Bad Request' } })
  })

  test.each([
    [{ channel: 'email' }, 'providerId should not be empty'],
    [{ providerId: 'sendgrid' }, 'channel should not be empty'],
    [{ providerId: 'pigeon', channel: 'email' }, /^providerId must be one of the following values: braze, /],
    [
      { providerId: 'sendgrid', channel: 'post' },
      'channel must be one of the following values: in_app, email, sms, chat, push',
    ],
    [{ providerId: 'sendgrid', channel: 'sms' }, 'providerId sendgrid is a provider of the email channel, not of sms'],
    [{ providerId: 'svc-email-agent', channel: 'email' }, 'providerId svc-email-agent is not a delivery provider'],
    [{ providerId: 'sendgrid', channel: 'email', kind: 'agent' }, 'kind must be one of the following values: delivery'],
    [{ providerId: 'sendgrid', channel: 'email', name: '' }, 'name should not be empty'],
    [{ providerId: 'sendgrid', channel: 'email', identifier: '' }, 'identifier should not be empty'],
    [
      { providerId: 'sendgrid', channel: 'email', identifier: 'x'.repeat(256) },
      'identifier must be shorter than or equal to 255 characters',
    ],
    [{ providerId: 'sendgrid', channel: 'email', active: 'yes' }, 'active must be a boolean value'],
    [{ providerId: 'sendgrid', channel: 'email', check: 1 }, 'check must be a boolean value'],
    [{ providerId: 'sendgrid', channel: 'email', conditions: {} }, 'conditions must be an array'],
    [{ providerId: 'sendgrid', channel: 'email', credentials: 'x' }, 'credentials must be an object'],
    [{ providerId: 'sendgrid', channel: 'email', credentials: { apiKey: 1 } }, 'credentials.apiKey must be a string'],
    [
      { providerId: 'sendgrid', channel: 'email', credentials: { secure: 'yes' } },
      'credentials.secure must be a boolean value',
    ],
    [
      { providerId: 'sendgrid', channel: 'email', credentials: { tlsOptions: 1 } },
      'credentials.tlsOptions must be an object',
    ],
    [
      { providerId: 'sendgrid', channel: 'email', configurations: { inboundWebhookEnabled: 'x' } },
      'configurations.inboundWebhookEnabled must be a boolean value',
    ],
    [{ providerId: 'sendgrid', channel: 'email', _environmentId: 'x' }, '_environmentId must be a mongodb id'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.api.post('/v1/integrations', body)
    expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
    expect(answer.body.errors.general.messages).toEqual([
      typeof message === 'string' ? message : expect.stringMatching(message),
    ])
  })

  test('only the environment of the key can be named', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    const body = { providerId: 'sendgrid', channel: 'email' }
    expect(await mine.post('/v1/integrations', { ...body, _environmentId: other.environmentId })).toMatchObject({
      status: 403,
      body: { message: expect.stringMatching(/^API key authentication is scoped to a single environment/) },
    })
    expect(await mine.post('/v1/integrations', { ...body, _environmentId: unknownId })).toMatchObject({
      status: 404,
      body: { message: `Environment with id ${unknownId} not found` },
    })
    expect(await list(mine)).toHaveLength(1)
  })

  test('an identifier is unique in an environment until its integration is deleted', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const first = await mail(api, 'main')
    expect(
      await api.post('/v1/integrations', { providerId: 'fcm', channel: 'push', identifier: 'main' }),
    ).toMatchObject({ status: 409, body: { message: 'Integration with identifier already exists' } })
    await mail(other, 'main')
    await api.delete(`/v1/integrations/${first._id}`)
    await mail(api, 'main')
  })

  test("each of the service's own providers can exist once", async () => {
    const api = await server.freshApi()
    const again = (providerId: string, channel: string) => api.post('/v1/integrations', { providerId, channel })
    expect(await again('svc', 'in_app')).toMatchObject({
      status: 400,
      body: { message: 'One environment can only have one In app provider' },
    })
    for (const channel of ['email', 'sms']) {
      expect((await again(`svc-${channel}`, channel)).status).toBe(201)
      expect(await again(`svc-${channel}`, channel)).toMatchObject({
        status: 409,
        body: { message: `Integration with svc provider for ${channel} channel already exists` },
      })
    }
    expect(await again('svc-slack', 'chat')).toMatchObject({
      status: 400,
      body: { message: 'Creating svc integration for svc-slack provider is not allowed' },
    })
    await mail(api, 'one')
    await mail(api, 'two')
  })

  test('an environment has at most 1000', async () => {
    const api = await server.freshApi()
    const now = server.clock.now()
    const rows = Array.from({ length: 999 }, (_, index) => ({
      ...{ environment_id: api.environmentId, id: newId(now), name: 'x', identifier: `x-${index}` },
      ...{ provider_id: 'fcm', channel: 'push', created_at: now, updated_at: now },
    }))
    await server.database.db.insertInto('integrations').values(rows).execute()
    expect(await api.post('/v1/integrations', { providerId: 'fcm', channel: 'push' })).toMatchObject({
      status: 400,
      body: { message: 'An environment cannot have more than 1000 integrations' },
    })
    expect(await list(api)).toHaveLength(1000)
  })
})

describe('credentials', () => {
  test('secrets are encrypted at rest and returned in plain text', async () => {
    const api = await server.freshApi()
    const secret = {
      ...{ apiKey: 's-1', apiToken: 's-2', secretKey: 's-3', token: 's-4', password: 's-5', serviceAccount: 's-6' },
      ...{ signingSecret: 's-7', accessKey: 's-8', webhookUrl: 's-9', tlsOptions: { key: 's-10', ca: ['s-11'] } },
    }
    const open = { user: 'ada', from: 'ada@example.com', host: 'mail.example.com', port: '587', secure: false }
    const created = await create(api, {
      providerId: 'nodemailer',
      channel: 'email',
      credentials: { ...secret, ...open },
      configurations: { inboundWebhookSigningKey: 's-12' },
    })
    expect(created.credentials).toEqual({ ...secret, ...open })
    const stored = await storedRow(created._id)
    expect(stored.credentials).toMatchObject(open)
    expect(stored.credentials.apiKey).toMatch(/^enc:v1:/)
    expect(JSON.stringify([stored.credentials, stored.configurations])).not.toMatch(/s-\d/)
    expect((await list(api)).at(-1)).toMatchObject({
      credentials: created.credentials,
      configurations: { inboundWebhookSigningKey: 's-12' },
    })
  })

  test('an editor sees that there are secrets, and nothing of secret objects', async () => {
    const { development: api } = await server.freshOrganization()
    const credentials = { user: 'ada', password: 's-1', tlsOptions: { key: 's-2', ca: ['s-3'] } }
    await create(api, { providerId: 'nodemailer', channel: 'email', identifier: 'own', credentials })
    const found = async (role: 'editor' | 'admin') => {
      const person = await signInAs(server, api, role)
      const { body } = await person.get('/v1/integrations')
      return body.find(({ identifier }: Integration) => identifier === 'own').credentials
    }
    expect(await found('admin')).toEqual(credentials)
    expect(await found('editor')).toEqual({ user: 'ada', password: '••••••••' })
  })

  test('a Firebase account in the legacy field `user` is stored under its own name, encrypted', async () => {
    const api = await server.freshApi()
    const fcm = { providerId: 'fcm', channel: 'push' }
    const created = await create(api, { ...fcm, credentials: { user: '{"project_id":"s-1"}' } })
    expect(created.credentials).toEqual({ serviceAccount: '{"project_id":"s-1"}' })
    expect(JSON.stringify(await storedRow(created._id))).not.toContain('s-1')
    const changed = await api.put(`/v1/integrations/${created._id}`, { credentials: { user: '{"project_id":"s-2"}' } })
    expect(changed.body.credentials).toEqual({ serviceAccount: '{"project_id":"s-2"}' })
    const both = { user: 'ada', serviceAccount: '{"project_id":"s-3"}' }
    expect((await create(api, { ...fcm, credentials: both })).credentials).toEqual(both)
  })

  test('text that looks encrypted is stored unchanged', async () => {
    const credentials = { user: 'enc:v1:AAAA', apiKey: 'enc:v1:AAAA' }
    const created = await mail(await server.freshApi(), 'odd', { credentials })
    expect(created.credentials).toEqual(credentials)
  })

  test('they can be hidden from every answer', async () => {
    const api = await server.freshApi()
    const hiding = await server.startAnother({ hideCredentials: true })
    const send = async (method: string, path: string, body?: object) => {
      const answer = await fetch(hiding.url + path, {
        method,
        headers: { authorization: `ApiKey ${api.key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return (await answer.json()) as any
    }
    const body = { providerId: 'sendgrid', channel: 'email', active: true, credentials: { apiKey: 'SG.secret' } }
    const created = await send('POST', '/v1/integrations', body)
    const other = await send('POST', '/v1/integrations', body)
    const path = `/v1/integrations/${created._id}`
    const answers = [
      created,
      await send('GET', '/v1/integrations'),
      await send('GET', '/v1/integrations/active'),
      await send('PUT', path, { name: 'renamed' }),
      await send('POST', `${path}/set-primary`),
      await send('DELETE', `/v1/integrations/${other._id}`),
    ]
    expect(created.credentials).toEqual({})
    expect(JSON.stringify(answers)).not.toContain('SG.secret')
    expect((await list(api)).find(({ _id }) => _id === created._id)).toMatchObject({ credentials: body.credentials })
    await hiding.stop()
  })
})

describe('listing', () => {
  test('integrations of the key’s environment are listed in creation order, all or only the active ones', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    await mail(other, 'theirs')
    await mail(api, 'first', { active: false })
    server.clock.advance({ seconds: 1 })
    await mail(api, 'second')
    const gone = await mail(api, 'third')
    await api.delete(`/v1/integrations/${gone._id}`)
    expect((await list(api)).map(({ identifier }) => identifier)).toEqual([
      expect.stringMatching(/^inbox-/),
      'first',
      'second',
    ])
    const active = await api.get('/v1/integrations/active')
    expect(active).toMatchObject({ status: 200, body: [{ channel: 'in_app' }, { identifier: 'second' }] })
    for (const { _id } of active.body) await api.put(`/v1/integrations/${_id}`, { active: false })
    expect((await api.get('/v1/integrations/active')).body).toEqual([])
  })
})

describe('primary and priority', () => {
  test('the first active one is primary; later ones rank below it', async () => {
    const api = await server.freshApi()
    expect(await mail(api, 'a')).toMatchObject({ primary: true, priority: 1 })
    expect(await mail(api, 'b')).toMatchObject({ primary: false, priority: 1 })
    expect(await mail(api, 'c')).toMatchObject({ primary: false, priority: 2 })
    expect(await mail(api, 'd', { active: false })).toMatchObject({ primary: false, priority: 0 })
    expect(await ranking(api)).toEqual(['a: 3*', 'c: 2', 'b: 1', 'd: 0'])
    expect((await list(api)).filter(({ active }) => active)).toHaveLength(4)
  })

  test('without a primary a new active one becomes primary, with or without conditions', async () => {
    const api = await server.freshApi()
    const a = await mail(api, 'a', { active: false })
    expect((await api.put(`/v1/integrations/${a._id}`, { active: true })).body).toMatchObject({
      active: true,
      primary: false,
      priority: 1,
    })
    expect(await mail(api, 'b', { active: true, conditions: oneCondition })).toMatchObject({
      primary: true,
      priority: 2,
      conditions: oneCondition,
    })
  })

  test('email and SMS rank separately; other channels have neither', async () => {
    const api = await server.freshApi()
    await mail(api, 'a')
    const sms = { providerId: 'twilio', channel: 'sms', active: true, identifier: 'sms' }
    expect(await create(api, sms)).toMatchObject({ primary: true, priority: 1 })
    for (const body of [
      { providerId: 'fcm', channel: 'push' },
      { providerId: 'slack', channel: 'chat' },
    ]) {
      const created = await create(api, { ...body, active: true })
      expect(created).toMatchObject({ primary: false, priority: 0 })
      const off = await api.put(`/v1/integrations/${created._id}`, { active: false })
      expect(off.body).toMatchObject({ active: false, primary: false, priority: 0 })
      const on = await api.put(`/v1/integrations/${created._id}`, { active: true })
      expect(on.body).toMatchObject({ active: true, primary: false, priority: 0 })
      expect(await api.post(`/v1/integrations/${created._id}/set-primary`)).toMatchObject({
        status: 400,
        body: { message: `Channel ${body.channel} does not support primary` },
      })
    }
    expect(await ranking(api)).toEqual(['a: 1*'])
    expect(await ranking(api, 'sms')).toEqual(['sms: 1*'])
  })

  test('deactivating removes rank and primary, and no other becomes primary', async () => {
    const api = await server.freshApi()
    const a = await mail(api, 'a')
    const b = await mail(api, 'b')
    const c = await mail(api, 'c')
    const off = await api.put(`/v1/integrations/${c._id}`, { active: false })
    expect(off).toMatchObject({ status: 200, body: { active: false, primary: false, priority: 0 } })
    expect(await ranking(api)).toEqual(['a: 2*', 'b: 1', 'c: 0'])
    await api.put(`/v1/integrations/${a._id}`, { active: false, conditions: oneCondition })
    expect(await ranking(api)).toEqual(['b: 1', 'a: 0', 'c: 0'])
    // Activated again: above the others, since there is no primary, but not primary itself.
    await api.put(`/v1/integrations/${c._id}`, { active: true })
    expect(await ranking(api)).toEqual(['c: 2', 'b: 1', 'a: 0'])
    await api.post(`/v1/integrations/${b._id}/set-primary`)
    await api.put(`/v1/integrations/${a._id}`, { active: true })
    expect(await ranking(api)).toEqual(['b: 3*', 'a: 2', 'c: 1'])
  })

  test('activating it again changes nothing', async () => {
    const api = await server.freshApi()
    const a = await mail(api, 'a')
    await mail(api, 'b')
    const answer = await api.put(`/v1/integrations/${a._id}`, { active: true })
    expect(answer.body).toMatchObject({ primary: true, priority: 2 })
    expect(await ranking(api)).toEqual(['a: 2*', 'b: 1'])
  })

  test('conditions remove primary but not the rank; empty conditions change nothing', async () => {
    const api = await server.freshApi()
    const a = await mail(api, 'a')
    const b = await mail(api, 'b')
    expect((await api.put(`/v1/integrations/${a._id}`, { conditions: [] })).body.primary).toBe(true)
    await api.put(`/v1/integrations/${b._id}`, { conditions: oneCondition })
    expect(await ranking(api)).toEqual(['a: 2*', 'b: 1'])
    const answer = await api.put(`/v1/integrations/${a._id}`, { conditions: oneCondition })
    expect(answer.body).toMatchObject({ primary: false, priority: 2, active: true, conditions: oneCondition })
    expect(await ranking(api)).toEqual(['a: 2', 'b: 1'])
    await mail(api, 'c')
    expect(await ranking(api)).toEqual(['c: 3*', 'a: 2', 'b: 1'])
  })

  test('set-primary replaces the primary, activates, and drops conditions', async () => {
    const api = await server.freshApi()
    const a = await mail(api, 'a')
    await mail(api, 'b')
    const c = await mail(api, 'c', { active: false, conditions: oneCondition })
    server.clock.advance({ minutes: 1 })
    const answer = await api.post(`/v1/integrations/${c._id}/set-primary`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      ...c,
      ...{ active: true, primary: true, priority: 3, conditions: [], updatedAt: server.clock.now().toISOString() },
    })
    expect(await ranking(api)).toEqual(['c: 3*', 'a: 2', 'b: 1'])
    expect((await list(api)).find(({ _id }) => _id === a._id)).toMatchObject({
      active: true,
      primary: false,
      updatedAt: server.clock.now().toISOString(),
    })
    server.clock.advance({ minutes: 1 })
    expect((await api.post(`/v1/integrations/${c._id}/set-primary`)).body).toEqual(answer.body)
  })

  test('set-primary refuses malformed, unknown and foreign ids', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const theirs = await mail(other, 'theirs', { active: false })
    expect(await api.post('/v1/integrations/main/set-primary')).toMatchObject({
      status: 422,
      body: {
        message:
          'Validation failed for SetIntegrationAsPrimaryCommand: integrationId: integrationId must be a mongodb id',
        errors: { integrationId: { messages: ['integrationId must be a mongodb id'], value: 'main' } },
      },
    })
    for (const id of [unknownId, theirs._id])
      expect(await api.post(`/v1/integrations/${id}/set-primary`)).toMatchObject({
        status: 404,
        body: { message: `Integration with id ${id} not found` },
      })
    expect(await ranking(other)).toEqual(['theirs: 0'])
  })

  test('concurrently or one by one, one is primary and the ranks have no gaps', async () => {
    const api = await server.freshApi()
    const second = await server.startAnother()
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const made = await Promise.all(names.map((name) => mail(api, name)))
    const requests = Array.from({ length: 60 }, (_, index) => {
      const { _id } = made[index % made.length]
      const path = `/v1/integrations/${_id}`
      const [method, route, body] = (
        [
          ['POST', `${path}/set-primary`, undefined],
          ['PUT', path, { active: index % 2 === 0 }],
          ['POST', `${path}/set-primary`, undefined],
          ['POST', '/v1/integrations', { providerId: 'ses', channel: 'email', active: true }],
          ['PUT', path, { conditions: oneCondition }],
        ] as const
      )[index % 5] ?? ['GET', path, undefined]
      return fetch((index % 3 === 0 ? second.url : api.url) + route, {
        method,
        headers: { authorization: `ApiKey ${api.key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
    })
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([200, 201]))
    const all = (await list(api)).filter(({ channel }) => channel === 'email')
    expect(all).toHaveLength(names.length + 12)
    const active = all.filter((integration) => integration.active).sort((x, y) => y.priority - x.priority)
    expect(active.map(({ priority }) => priority)).toEqual(active.map((_, index) => active.length - index))
    expect(active.slice(1).some(({ primary }) => primary)).toBe(false)
    const inactive = all.filter((integration) => !integration.active)
    expect(inactive.some(({ primary, priority }) => primary || priority !== 0)).toBe(false)
    await second.stop()
  })

  test('of several concurrent first ones, one becomes primary', async () => {
    const api = await server.freshApi()
    const names = Array.from({ length: 12 }, (_, index) => `m${index}`)
    await Promise.all(names.map((name) => mail(api, name)))
    const all = (await list(api)).filter(({ channel }) => channel === 'email')
    expect(all.filter(({ primary }) => primary)).toMatchObject([{ priority: 12 }])
    expect(all.map(({ priority }) => priority).sort((a, b) => a - b)).toEqual(names.map((_, index) => index + 1))
  })

  test('concurrent requests with one identifier create one', async () => {
    const api = await server.freshApi()
    const body = { providerId: 'fcm', channel: 'push', identifier: 'one' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.post('/v1/integrations', body)))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, ...Array(7).fill(409)])
  })
})

describe('changing', () => {
  test('given fields are replaced completely, others stay', async () => {
    const api = await server.freshApi()
    const before = await mail(api, 'main', {
      credentials: { apiKey: 'SG.secret', from: 'ada@example.com' },
      configurations: { inboundWebhookEnabled: true },
    })
    server.clock.advance({ minutes: 1 })
    const path = `/v1/integrations/${before._id}`
    const renamed = await api.put(path, { name: 'Renamed', identifier: 'renamed' })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toEqual({
      ...before,
      ...{ name: 'Renamed', identifier: 'renamed', updatedAt: server.clock.now().toISOString() },
    })
    const replaced = await api.put(path, {
      credentials: { apiKey: 'SG.other' },
      configurations: { inboundWebhookSigningKey: 'key' },
      conditions: oneCondition,
      providerId: 'ses',
      channel: 'sms',
    })
    expect(replaced.body).toMatchObject({ providerId: 'sendgrid', channel: 'email', conditions: oneCondition })
    expect(replaced.body.credentials).toEqual({ apiKey: 'SG.other' })
    expect(replaced.body.configurations).toEqual({ inboundWebhookSigningKey: 'key' })
    expect((await storedRow(before._id)).credentials.apiKey).toMatch(/^enc:v1:/)
    expect((await api.put(path, { conditions: [] })).body.conditions).toEqual([])
    expect((await api.put(path, { _environmentId: api.environmentId })).status).toBe(200)
  })

  test('a change needs something to change', async () => {
    const api = await server.freshApi()
    const { _id } = await mail(api, 'main')
    for (const body of [undefined, {}, { check: true }, { shoeSize: 44 }])
      expect(await api.put(`/v1/integrations/${_id}`, body)).toMatchObject({
        status: 400,
        body: { message: 'No properties found for update' },
      })
  })

  test('an identifier used anywhere in the organization is refused', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const { _id } = await mail(api, 'one')
    await mail(api, 'two')
    await mail(other, 'three')
    const taken = { status: 409, body: { message: 'Integration with identifier already exists' } }
    expect(await api.put(`/v1/integrations/${_id}`, { identifier: 'two' })).toMatchObject(taken)
    expect(await api.put(`/v1/integrations/${_id}`, { identifier: 'three' })).toMatchObject(taken)
    expect((await api.put(`/v1/integrations/${_id}`, { identifier: 'one', name: 'same' })).status).toBe(200)
  })

  test('malformed fields are refused', async () => {
    const api = await server.freshApi()
    const { _id } = await mail(api, 'main')
    expect((await api.put(`/v1/integrations/${_id}`, { active: 'yes' })).status).toBe(422)
    expect((await api.put(`/v1/integrations/${_id}`, { credentials: { tlsOptions: '[' } })).status).toBe(422)
    expect(await api.put(`/v1/integrations/${_id}`, { conditions: [{ children: 'x' }] })).toMatchObject({
      status: 400,
      body: { message: 'Bad Request' },
    })
    expect((await list(api)).at(-1)).toMatchObject({ active: true, conditions: [] })
  })

  test('an integration of another environment is forbidden, an unknown one not found', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    const theirs = await mail(other, 'theirs')
    expect(await mine.put(`/v1/integrations/${theirs._id}`, { name: 'mine' })).toMatchObject({
      status: 403,
      body: { message: expect.stringMatching(/^API key authentication is scoped to a single environment/) },
    })
    for (const id of [unknownId, 'main'])
      expect(await mine.put(`/v1/integrations/${id}`, { name: 'x' })).toMatchObject({
        status: 404,
        body: { message: `Entity with id ${id} not found` },
      })
    const own = await mail(mine, 'own')
    const named = (environmentId: string) =>
      mine.put(`/v1/integrations/${own._id}`, { name: 'x', _environmentId: environmentId })
    expect((await named(other.environmentId)).status).toBe(403)
    expect(await named(unknownId)).toMatchObject({
      status: 404,
      body: { message: `Environment with id ${unknownId} not found` },
    })
    expect((await named('x')).status).toBe(422)
    expect((await list(mine)).at(-1)).toEqual(own)
    expect((await list(other)).at(-1)).toEqual(theirs)
  })
})

describe('deleting', () => {
  test('returns the remaining ones, renumbered; after a primary one, the next becomes primary', async () => {
    const api = await server.freshApi()
    const a = await mail(api, 'a')
    const b = await mail(api, 'b')
    await mail(api, 'c')
    const answer = await api.delete(`/v1/integrations/${b._id}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual(await list(api))
    expect(await ranking(api)).toEqual(['a: 2*', 'c: 1'])
    await api.delete(`/v1/integrations/${a._id}`)
    expect(await ranking(api)).toEqual(['c: 1*'])
    expect(await storedRow(b._id)).toMatchObject({ deleted_at: server.clock.now(), deleted_by: null })
  })

  test('deleted, unknown and foreign ones are not found by any operation', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const gone = await mail(api, 'gone')
    await api.delete(`/v1/integrations/${gone._id}`)
    const theirs = await mail(other, 'theirs')
    for (const id of [gone._id, theirs._id, unknownId, 'main'])
      expect(await api.delete(`/v1/integrations/${id}`)).toMatchObject({
        status: 404,
        body: { message: `Entity with id ${id} not found` },
      })
    expect((await api.put(`/v1/integrations/${gone._id}`, { name: 'x' })).status).toBe(404)
    expect((await api.post(`/v1/integrations/${gone._id}/set-primary`)).status).toBe(404)
    expect((await api.post(`/v1/integrations/${gone._id}/auto-configure`)).status).toBe(404)
    expect((await api.get(`/v1/integrations/webhook/provider/${gone._id}/status`)).status).toBe(404)
    expect((await list(other)).at(-1)).toEqual(theirs)
  })
})

describe('an integration deleted in the meantime', () => {
  test.each([
    ['changed', (api: Api, path: string) => api.put(path, { name: 'x' })],
    ['deleted', (api: Api, path: string) => api.delete(path)],
    ['made primary', (api: Api, path: string) => api.post(`${path}/set-primary`)],
    ['configured', (api: Api, path: string) => api.post(`${path}/auto-configure`)],
  ])('cannot be %s', async (_, request) => {
    const api = await server.freshApi()
    vendor.plays(() => ({ body: { http_signing_key: 'sign' } }))
    const credentials = { apiKey: 'key-x', user: 'api', domain: 'mg.example.com', baseUrl: vendor.url }
    const { _id } = await create(api, { providerId: 'mailgun', channel: 'email', credentials })
    const answer = await during(
      server,
      (tx) => lockIntegrations(tx, api.environmentId),
      () => request(api, `/v1/integrations/${_id}`),
      (tx) => tx.updateTable('integrations').set({ deleted_at: server.clock.now() }).where('id', '=', _id).execute(),
    )
    expect(answer).toMatchObject({ status: 404, body: { message: expect.stringContaining(_id) } })
    expect(await list(api)).toHaveLength(1)
  })
})

describe('checking credentials', () => {
  let smtp: SMTPServer
  let port: number

  beforeAll(async () => {
    smtp = new SMTPServer({
      hideSTARTTLS: true,
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) =>
        done(password === 'right' ? null : new Error('No such login'), { user: 'ada' }),
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    port = (smtp.server.address() as { port: number }).port
  })
  afterAll(() => new Promise<void>((resolve) => smtp.close(() => resolve())))

  const body = (credentials: object) => ({
    ...{ providerId: 'nodemailer', channel: 'email', identifier: 'smtp', check: true },
    credentials: { host: '127.0.0.1', port: String(port), user: 'ada', password: 'right', ...credentials },
  })

  test('credentials that a mail server refuses are not stored', async () => {
    const api = await server.freshApi()
    expect(await api.post('/v1/integrations', body({ password: 'wrong' }))).toMatchObject({
      status: 400,
      body: { message: 'Invalid login: 535 No such login' },
    })
    expect(await api.post('/v1/integrations', body({ host: 'no-such-host.invalid' }))).toMatchObject({
      status: 400,
      body: { message: "Provider gateway can't resolve the host with the given hostname no-such-host.invalid" },
    })
    expect(await api.post('/v1/integrations', body({ host: '' }))).toMatchObject({
      status: 400,
      body: { message: 'Custom SMTP cannot be checked without these credentials: host' },
    })
    expect(await list(api)).toHaveLength(1)
    expect((await api.post('/v1/integrations', body({}))).status).toBe(201)
  })

  test('a change is checked with the given credentials, or else the stored ones', async () => {
    const api = await server.freshApi()
    const { _id } = await create(api, { ...body({ password: 'wrong' }), check: false })
    const path = `/v1/integrations/${_id}`
    expect(await api.put(path, { active: true, check: true })).toMatchObject({
      status: 400,
      body: { message: 'Invalid login: 535 No such login' },
    })
    expect((await list(api)).at(-1)).toMatchObject({ active: false })
    const { credentials } = body({})
    expect((await api.put(path, { credentials, check: true })).body).toMatchObject({ credentials })
    expect((await api.put(path, { active: true, check: true })).body).toMatchObject({ active: true })
  })

  test('HTTP email vendors are checked too, other channels are not', async () => {
    const api = await server.freshApi()
    vendor.plays(() => ({ status: 401, body: {} }))
    const credentials = { apiKey: 'key-x', user: 'api', domain: 'mg.example.com', baseUrl: vendor.url }
    expect(
      await api.post('/v1/integrations', { providerId: 'mailgun', channel: 'email', check: true, credentials }),
    ).toMatchObject({
      status: 400,
      body: { message: 'Mailgun does not accept these credentials; it answered with HTTP status 401' },
    })
    await create(api, { providerId: 'twilio', channel: 'sms', check: true, active: true })
    expect(vendor.asked).toMatchObject([{ method: 'GET', path: '/v3/domains/mg.example.com' }])
  })

  test('a vendor at a private address is not called unless private addresses are allowed', async () => {
    const { key, environmentId, organizationId } = await server.freshApi()
    const careful = await server.startAnother({ allowPrivateAddresses: false })
    const api = new Api(careful.url, key, environmentId, organizationId)
    const credentials = { apiKey: 'key-x', user: 'api', domain: 'mg.example.com', baseUrl: vendor.url }
    expect(
      await api.post('/v1/integrations', { providerId: 'mailgun', channel: 'email', check: true, credentials }),
    ).toMatchObject({ status: 400, body: { message: expect.stringContaining('the address is private or reserved') } })
    expect(vendor.asked).toEqual([])
  })
})

describe('auto-configure', () => {
  test('the settings from the vendor are merged into the configurations', async () => {
    const api = await server.freshApi()
    vendor.plays(({ path }) => ({ body: path.endsWith('http_signing_key') ? { http_signing_key: 'sign' } : {} }))
    const created = await create(api, {
      providerId: 'mailgun',
      channel: 'email',
      credentials: { apiKey: 'key-x', user: 'api', domain: 'mg.example.com', baseUrl: vendor.url },
      configurations: { configurationSetName: 'kept' },
    })
    const answer = await api.post(`/v1/integrations/${created._id}/auto-configure`)
    const configurations = {
      ...{ configurationSetName: 'kept', inboundWebhookEnabled: true, inboundWebhookSigningKey: 'sign' },
    }
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, message: expect.any(String), integration: { _id: created._id, configurations } },
    })
    expect((await list(api)).at(-1)).toMatchObject({ configurations })
    expect(JSON.stringify((await storedRow(created._id)).configurations)).not.toContain('"sign"')
    const webhook = `/v2/inbound-webhooks/delivery-providers/${api.environmentId}/${created._id}`
    const urls = vendor.asked.flatMap(({ form }) => form.url ?? [])
    expect(urls).toEqual(Array(6).fill(expect.stringMatching(`^http://.*${webhook}$`)))
  })

  test('an unsupported provider is not an error', async () => {
    const api = await server.freshApi()
    const { _id } = await mail(api, 'resend', { providerId: 'resend' })
    const answer = await api.post(`/v1/integrations/${_id}/auto-configure`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      success: false,
      message:
        'Resend does not currently offer automatic inbound webhook configuration. Please configure your webhook manually.',
    })
  })

  test('an unknown or foreign integration is not found', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    const theirs = await mail(other, 'theirs')
    for (const id of [unknownId, theirs._id, 'x'])
      expect(await mine.post(`/v1/integrations/${id}/auto-configure`)).toMatchObject({
        status: 404,
        body: { message: `Integration not found, id: ${id}` },
      })
  })
})

describe('the webhook status of a provider', () => {
  test('tells, by provider or integration, whether delivery events are supported', async () => {
    const api = await server.freshApi()
    const status = (id: string) => api.get(`/v1/integrations/webhook/provider/${id}/status`)
    const sendgrid = await mail(api, 'a', { credentials: { apiKey: 'SG.x' } })
    await mail(api, 'b', { providerId: 'plunk', credentials: { apiKey: 'x' } })
    const bare = await mail(api, 'c', { providerId: 'ses' })
    const slack = await create(api, { providerId: 'slack', channel: 'chat' })
    expect(await status('sendgrid')).toMatchObject({ status: 200, body: true })
    expect(await status(sendgrid._id)).toMatchObject({ status: 200, body: true })
    expect(await status('plunk')).toMatchObject({ status: 200, body: false })
    expect(await status('ses')).toMatchObject({
      status: 400,
      body: { message: "Integration ses doesn't have credentials set up" },
    })
    expect((await status(bare._id)).status).toBe(400)
    expect(await status(slack._id)).toMatchObject({
      status: 400,
      body: { message: 'Webhook for slack-chat is not supported yet' },
    })
    expect((await status('svc')).status).toBe(400)
    for (const id of ['twilio', unknownId])
      expect(await status(id)).toMatchObject({
        status: 404,
        body: { message: `Integration for ${id} was not found` },
      })
  })

  test('uses the primary one of several integrations', async () => {
    const api = await server.freshApi()
    const status = async () => (await api.get('/v1/integrations/webhook/provider/sendgrid/status')).status
    await mail(api, 'bare', { active: false })
    expect(await status()).toBe(400)
    await mail(api, 'active', { active: true, credentials: { apiKey: 'SG.x' } })
    expect(await status()).toBe(200)
    const primary = await mail(api, 'primary')
    await api.post(`/v1/integrations/${primary._id}/set-primary`)
    expect(await status()).toBe(400)
  })
})

describe('besides', () => {
  test('every change is announced to processes that cache integrations', async () => {
    const api = await server.freshApi()
    const heard: string[] = []
    const changes = new Changes(server.database.url, () => undefined)
    await changes.start()
    let wake = () => {}
    changes.on('integrations', (environmentId) => {
      if (environmentId === api.environmentId) heard.push(environmentId)
      wake()
    })
    const announced = async (count: number) => {
      while (heard.length < count)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
    const a = await mail(api, 'a')
    await announced(1)
    const b = await mail(api, 'b')
    await announced(2)
    await api.put(`/v1/integrations/${a._id}`, { name: 'x' })
    await announced(3)
    await api.post(`/v1/integrations/${b._id}/set-primary`)
    await announced(4)
    await api.delete(`/v1/integrations/${a._id}`)
    await announced(5)
    await changes.stop()
    expect(heard).toHaveLength(5)
  })

  test('answers use branded provider ids, requests may use neutral ones', async () => {
    const api = await server.freshApi()
    const branded = await server.startAnother({ brand: 'novu' })
    const send = async (method: string, path: string, body?: object) => {
      const answer = await fetch(branded.url + path, {
        method,
        headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: answer.status, body: (await answer.json()) as any }
    }
    const created = await send('POST', '/v1/integrations', { providerId: 'novu-email', channel: 'email' })
    expect(created).toMatchObject({ status: 201, body: { providerId: 'novu-email', name: 'Belfry Email' } })
    expect(await storedRow(created.body._id)).toMatchObject({ provider_id: 'svc-email' })
    expect(await send('POST', '/v1/integrations', { providerId: 'svc-email', channel: 'email' })).toMatchObject({
      status: 409,
      body: { message: 'Integration with novu provider for email channel already exists' },
    })
    expect(await send('POST', '/v1/integrations', { providerId: 'novu-slack', channel: 'chat' })).toMatchObject({
      status: 400,
      body: { message: 'Creating novu integration for novu-slack provider is not allowed' },
    })
    expect((await send('GET', '/v1/integrations')).body[0].providerId).toBe('novu')
    await branded.stop()
  })
})
