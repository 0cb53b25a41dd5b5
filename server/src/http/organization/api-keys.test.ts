import { describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'

const server = useServer({ trustedProxies: ['127.0.0.1'] })

const refused = (code: string, status = 403) => ({ status, body: { code } })
const withKey = (api: Api, key: string) => new Api(api.url, key, api.environmentId, api.organizationId)

async function make(by: Api, body: object): Promise<Api & { id: string }> {
  const answer = await by.post('/v2/api-keys', { name: 'A key', ...body })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return Object.assign(withKey(by, answer.body.key), { id: answer.body._id })
}

describe('a key', () => {
  test('is shown once, has a prefix and a checksum, and is stored as a hash', async () => {
    const api = await server.freshApi()
    const { status, body } = await api.post('/v2/api-keys', { name: 'Checkout', scopes: ['send', 'read'] })
    expect(status).toBe(201)
    const { key, ...shown } = body
    expect(key).toMatch(/^bf_[0-9A-Za-z]{38}$/)
    expect(shown).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'Checkout',
      hint: `${key.slice(0, 7)}…`,
      scopes: ['send', 'read'],
      isOrganizationWide: false,
      isCompatible: false,
      allowedAddresses: null,
      createdBy: '0'.repeat(24),
      createdAt: server.clock.now().toISOString(),
      expiresAt: null,
      lastUsedAt: null,
    })
    const list = await api.get('/v2/api-keys')
    expect(list.body).toMatchObject([shown, { name: 'Compatible key', isCompatible: true, scopes: ['administer'] }])
    expect(list.text).not.toContain(key)
    const { rows } = await server.database.pool.query('SELECT row_to_json(k)::text AS row FROM api_keys k')
    for (const { row } of rows) expect(row).not.toContain(key)
    expect((await api.get('/v1/environments/api-keys')).body).toMatchObject([{ key: api.key }])
  })

  test('that is mistyped is refused without a look-up', async () => {
    const api = await server.freshApi()
    const { key } = await make(api, { scopes: ['read'] })
    expect((await withKey(api, key).get('/v2/topics')).status).toBe(200)
    const { rows: before } = await server.database.pool.query('SELECT * FROM sign_in_attempts')
    const wrong = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')
    expect(await withKey(api, wrong).get('/v2/topics')).toMatchObject(refused('api_key_not_found', 401))
    expect((await server.database.pool.query('SELECT * FROM sign_in_attempts')).rows).toEqual(before)
  })

  test('may do what its scopes say', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'welcome', [inApp('Hello')])
    const [sender, reader, writer] = [
      await make(api, { scopes: ['send'] }),
      await make(api, { scopes: ['read'] }),
      await make(api, { scopes: ['write:subscribers'] }),
    ]
    const send = (by: Api) => by.post('/v1/events/trigger', { name: 'welcome', to: 'ada' })
    const read = (by: Api) => by.get('/v2/subscribers')
    const write = (by: Api) => by.post('/v2/subscribers', { subscriberId: 'bob' })
    const writeElsewhere = (by: Api) => by.post('/v2/topics', { key: 'news' })
    const administer = (by: Api) => by.get('/v2/api-keys')
    const tried = async (by: Api) =>
      (await Promise.all([send, read, write, writeElsewhere, administer].map((each) => each(by)))).map(
        ({ status, body }) => (status < 300 ? 'ok' : body.code),
      )
    const no = 'insufficient_scope'
    expect(await tried(sender)).toEqual(['ok', no, no, no, no])
    expect(await tried(reader)).toEqual([no, 'ok', no, no, no])
    expect(await tried(writer)).toEqual([no, no, 'ok', no, no])
    expect(await read(sender)).toMatchObject({ body: { ctx: { needed: 'read' } } })
  })

  test('that only reads sees no credentials and no keys', async () => {
    const api = await server.freshApi()
    await api.post('/v1/integrations', {
      providerId: 'sendgrid',
      channel: 'email',
      credentials: { apiKey: 'SG.hidden' },
    })
    const reader = await make(api, { scopes: ['read'] })
    expect((await api.get('/v1/integrations')).text).toContain('SG.hidden')
    expect((await reader.get('/v1/integrations')).text).not.toContain('SG.hidden')
    for (const path of ['/v1/environments', '/v1/environments/me']) {
      expect((await reader.get(path)).status).toBe(200)
      expect((await reader.get(path)).text).not.toContain(api.key)
    }
    expect(await reader.get('/v1/environments/api-keys')).toMatchObject(refused('insufficient_scope'))
  })

  test('works until it expires', async () => {
    const api = await server.freshApi()
    const expiresAt = new Date(server.clock.now().getTime() + 3_600_000).toISOString()
    const key = await make(api, { scopes: ['read'], expiresAt })
    expect((await key.get('/v2/topics')).status).toBe(200)
    server.clock.advance({ hours: 1 })
    expect(await key.get('/v2/topics')).toMatchObject(refused('api_key_not_found', 401))
    expect((await api.get('/v2/api-keys')).body).toHaveLength(1)
  })

  test('works from its addresses only', async () => {
    const api = await server.freshApi()
    const key = await make(api, { scopes: ['read'], allowedAddresses: ['192.0.2.0/24', '2001:db8::1'] })
    const from = (address: string) => key.get('/v2/topics', { 'x-forwarded-for': address })
    for (const address of ['192.0.2.1', '192.0.2.255', '2001:db8::1', '::ffff:192.0.2.7'])
      expect([address, (await from(address)).status]).toEqual([address, 200])
    for (const address of ['192.0.3.1', '2001:db8::2', '127.0.0.1'])
      expect(await from(address)).toMatchObject(refused('api_key_address_refused'))
    expect(await api.patch(`/v2/api-keys/${key.id}`, { allowedAddresses: null })).toMatchObject({ status: 200 })
    expect((await from('192.0.3.1')).status).toBe(200)
  })

  test('has the time of its last use, written when somebody looks', async () => {
    const api = await server.freshApi()
    const key = await make(api, { scopes: ['read'] })
    server.clock.advance({ minutes: 1 })
    await key.get('/v2/topics')
    const { rows } = await server.database.pool.query('SELECT * FROM api_key_uses WHERE key_id = $1', [key.id])
    expect(rows).toEqual([])
    expect((await api.get('/v2/api-keys')).body[0]).toMatchObject({
      _id: key.id,
      lastUsedAt: server.clock.now().toISOString(),
    })
  })

  test('that is revoked is refused at once, in every process', async () => {
    const api = await server.freshApi()
    const { url } = await server.startAnother()
    const key = await make(api, { scopes: ['read'] })
    const elsewhere = new Api(url, key.key, api.environmentId, api.organizationId)
    for (const each of [key, elsewhere]) expect((await each.get('/v2/topics')).status).toBe(200)
    expect(await api.delete(`/v2/api-keys/${key.id}`)).toMatchObject({ status: 204 })
    expect(await key.get('/v2/topics')).toMatchObject(refused('api_key_not_found', 401))
    await expect.poll(async () => (await elsewhere.get('/v2/topics')).status).toBe(401)
    expect(await api.delete(`/v2/api-keys/${key.id}`)).toMatchObject(refused('key_not_found', 404))
  })

  test('survives when the compatible key is replaced', async () => {
    const api = await server.freshApi()
    const key = await make(api, { scopes: ['administer'] })
    const { body } = await api.post('/v1/environments/api-keys/regenerate')
    expect(await api.get('/v2/topics')).toMatchObject(refused('api_key_not_found', 401))
    expect((await key.get('/v1/environments/api-keys')).body).toMatchObject([{ key: body[0].key }])
  })

  test('can be renamed', async () => {
    const api = await server.freshApi()
    const { id } = await make(api, { scopes: ['read'] })
    expect(await api.patch(`/v2/api-keys/${id}`, { name: 'Reports' })).toMatchObject({
      status: 200,
      body: { _id: id, name: 'Reports', scopes: ['read'] },
    })
  })
})

describe('a key of the organization', () => {
  test('is made by a person or another one, not by a key of one environment', async () => {
    const { development, production } = await server.freshOrganization()
    const body = { name: 'Deployments', scopes: ['administer'], isOrganizationWide: true }
    expect(await development.post('/v2/api-keys', body)).toMatchObject(refused('organization_key_needed'))
    const publish = { name: 'Publish', scopes: [`publish:${production.environmentId}`] }
    expect(await development.post('/v2/api-keys', publish)).toMatchObject(refused('organization_key_needed'))
    const admin = await signInAs(server, development, 'admin')
    const { body: made } = await admin.post('/v2/api-keys', body)
    expect(made).toMatchObject({ key: expect.stringMatching(/^bf_org_/), isOrganizationWide: true })
    const wide = withKey(development, made.key)
    expect(await wide.post('/v2/api-keys', { ...body, name: 'Another' })).toMatchObject({ status: 201 })
    expect((await wide.get('/v1/environments')).body).toHaveLength(2)
    // Without a name, it means Development.
    expect((await wide.get('/v1/environments/me')).body).toMatchObject({ _id: development.environmentId })
  })

  test('is neither seen nor revoked by a key of one environment', async () => {
    const { development } = await server.freshOrganization()
    const admin = await signInAs(server, development, 'admin')
    const { id } = await make(admin, { scopes: ['read'], isOrganizationWide: true })
    expect((await admin.get('/v2/api-keys')).body).toHaveLength(2)
    expect((await development.get('/v2/api-keys')).body).toHaveLength(1)
    expect(await development.delete(`/v2/api-keys/${id}`)).toMatchObject(refused('key_not_found', 404))
    expect(await admin.delete(`/v2/api-keys/${id}`)).toMatchObject({ status: 204 })
  })

  test('made once by an idempotency key, is not shown to a key of the environment that repeats the request', async () => {
    const { development } = await server.freshOrganization()
    const wide = await server.organizationOf(development)
    const body = { name: 'Deployments', scopes: ['administer'], isOrganizationWide: true }
    const once = { 'idempotency-key': 'once' }
    const { body: made } = await wide.post('/v2/api-keys', body, once)
    expect(await wide.post('/v2/api-keys', body, once)).toMatchObject({ status: 201, body: { key: made.key } })
    const repeated = await development.post('/v2/api-keys', body, once)
    expect(repeated).toMatchObject(refused('organization_key_needed'))
    expect(repeated.text).not.toContain(made.key)
  })

  test('has scopes too', async () => {
    const { development, production } = await server.freshOrganization()
    const admin = await signInAs(server, development, 'admin')
    const reader = await make(admin, { scopes: ['read'], isOrganizationWide: true })
    const inProduction = { 'belfry-environment': production.environmentId }
    expect(await reader.get('/v1/environments/me', inProduction)).toMatchObject({
      status: 200,
      body: { _id: production.environmentId, apiKeys: [] },
    })
    expect(await reader.post('/v2/topics', { key: 'x' }, inProduction)).toMatchObject(refused('insufficient_scope'))
    expect(await reader.post('/v1/environments', { name: 'x', color: '#000000' })).toMatchObject(
      refused('insufficient_scope'),
    )
  })
})

describe('refusals', () => {
  test.each([
    [{ scopes: ['everything'] }, 'scope_unknown'],
    [{ scopes: ['write:environments'] }, 'scope_unknown'],
    [{ scopes: ['read'], allowedAddresses: ['example.com'] }, 'address_unknown'],
    [{ scopes: ['read'], allowedAddresses: ['192.0.2.0/33'] }, 'address_unknown'],
    [{ scopes: ['read'], expiresAt: '2020-01-01T00:00:00.000Z' }, 'expiry_past'],
    [{ scopes: [] }, 'validation'],
    [{ scopes: ['read'], expiresAt: 'tomorrow' }, 'validation'],
  ])('%j', async (body, code) => {
    expect(await server.api.post('/v2/api-keys', { name: 'A key', ...body })).toMatchObject(refused(code, 422))
  })

  test('an environment of another organization cannot be published into', async () => {
    const [{ development }, { production }] = [await server.freshOrganization(), await server.freshOrganization()]
    const admin = await signInAs(server, development, 'admin')
    const scopes = [`publish:${production.environmentId}`]
    expect(await admin.post('/v2/api-keys', { name: 'x', scopes })).toMatchObject(refused('scope_unknown', 422))
  })

  test('a hundred keys are enough', async () => {
    const api = await server.freshApi()
    for (let n = 1; n < 100; n += 1) await make(api, { scopes: ['read'] })
    expect(await api.post('/v2/api-keys', { name: 'x', scopes: ['read'] })).toMatchObject(
      refused('too_many_api_keys', 409),
    )
  })
})

test('the audit log says who made and revoked a key, and by which key something was done', async () => {
  const { development: api } = await server.freshOrganization()
  const key = await make(api, { name: 'Robot', scopes: ['write:integrations'] })
  await key.post('/v1/integrations', { providerId: 'sendgrid', channel: 'email' })
  await api.delete(`/v2/api-keys/${key.id}`)
  const { body } = await api.get('/v1/audit')
  expect(body.data).toMatchObject([
    { action: 'api-key.revoked', actor: { name: 'Compatible key' }, target: { id: key.id } },
    { action: 'integration.created', actor: { type: 'api-key', id: key.id, name: 'Robot' } },
    { action: 'api-key.created', target: { id: key.id }, details: { fields: ['name', 'scopes'] } },
  ])
})
