import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type InboxClient, openInbox } from '../../../test/inbox.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
let inbox: InboxClient

beforeEach(async () => {
  api = await server.freshApi()
  inbox = await openInbox(server, api, 'ada')
  await openInbox(server, api, 'bob')
  const slack = { providerId: 'slack', channel: 'chat', identifier: 'slack', active: true }
  await api.post('/v1/integrations', { ...slack, credentials: { clientId: 'c', secretKey: 's' } })
})

const connect = (identifier: string, more: object) =>
  api.post('/v1/channel-connections', {
    ...{
      integrationIdentifier: 'slack',
      identifier,
      workspace: { id: 'T1', name: 'Acme' },
      auth: { accessToken: 'x' },
    },
    ...more,
  })
const link = (identifier: string, subscriberId: string) =>
  api.post('/v1/channel-endpoints', {
    ...{ integrationIdentifier: 'slack', identifier, subscriberId, type: 'slack_user', endpoint: { userId: 'U1' } },
  })
const names = ({ body }: { body: { data: Array<{ identifier: string }> } }) => body.data.map((one) => one.identifier)
const stateOf = (url: string) => {
  const state = Buffer.from(new URL(url).searchParams.get('state') ?? '', 'base64url').toString()
  return JSON.parse(state.slice(0, state.lastIndexOf('.')))
}

/** Older clients use this short name for Ada's own connection, which is stored under the longer one. */
async function expectAdasOwn(name: string, { oauth, integration }: { oauth: string; integration: string }) {
  const identifier = `${name}-ada`
  for (const said of [name, identifier])
    expect(await inbox.get(`/channel-connections/${said}`)).toMatchObject({ status: 200, body: { identifier } })
  const { body } = await inbox.post(oauth, { integrationIdentifier: integration, connectionIdentifier: name })
  expect(stateOf(body.data.url)).toMatchObject({ identifier, subscriberId: 'ada' })
  expect(await inbox.delete(`/channel-connections/${name}`)).toMatchObject({ status: 204 })
}

describe('connections', () => {
  const tenant = { context: { tenant: 'acme' } }
  let ofTenant: InboxClient
  beforeEach(async () => {
    const contextHash = createHmac('sha256', api.key).update('{"tenant":"acme"}').digest('hex')
    ofTenant = await openInbox(server, api, 'ada', { ...tenant, contextHash })
    await connect('mine', { subscriberId: 'ada' })
    await connect('bobs', { subscriberId: 'bob' })
    await connect('tenants', { ...tenant, connectionMode: 'shared' })
    await connect('mine-there', { ...tenant, subscriberId: 'ada' })
  })

  test('are listed: the subscriber’s own, and those shared in the same contexts, without secrets', async () => {
    const { body } = await inbox.get('/channel-connections?subscriberId=bob&contextKeys=tenant:acme&contextKeys=')
    expect(body).toEqual({
      data: [{ identifier: 'mine', workspace: { id: 'T1', name: 'Acme' }, createdAt: expect.any(String) }],
      next: null,
      previous: null,
    })
    expect(names(await ofTenant.get('/channel-connections')).sort()).toEqual(['mine-there', 'tenants'])
    expect(names(await ofTenant.get('/channel-connections?connectionMode=shared'))).toEqual(['tenants'])
    expect(names(await ofTenant.get('/channel-connections?connectionMode=subscriber'))).toEqual(['mine-there'])
    expect(names(await inbox.get('/channel-connections?integrationIdentifier=other'))).toEqual([])
    expect(names(await inbox.get('/channel-connections?channel=chat&providerId=slack&limit=1'))).toEqual(['mine'])
  })

  test('are returned in and beside `data`, since clients differ', async () => {
    const { status, body } = await inbox.get('/channel-connections/mine?')
    const { data, ...beside } = body
    expect([status, beside]).toEqual([200, data])
    for (const identifier of ['bobs', 'tenants', 'mine-there', 'nothing'])
      expect(await inbox.get(`/channel-connections/${identifier}`)).toMatchObject({ status: 404 })
    expect(await ofTenant.get('/channel-connections/tenants?connectionMode=subscriber')).toMatchObject({ status: 404 })
  })

  test('can be deleted by any subscriber who sees them', async () => {
    for (const identifier of ['bobs', 'tenants', 'nothing'])
      expect(await inbox.delete(`/channel-connections/${identifier}`)).toMatchObject({ status: 404 })
    expect(await inbox.delete('/channel-connections/mine')).toMatchObject({ status: 204, text: '' })
    expect(await ofTenant.delete('/channel-connections/tenants')).toMatchObject({ status: 204 })
    expect(names(await api.get('/v1/channel-connections')).sort()).toEqual(['bobs', 'mine-there'])
  })

  test('hole 8: that are shared are not deleted by a session that only names their context', async () => {
    const stranger = await openInbox(server, api, 'mallory', tenant)
    expect(await stranger.delete('/channel-connections/tenants')).toMatchObject({
      status: 403,
      body: { code: 'shared_connection_refused' },
    })
    expect(names(await api.get('/v1/channel-connections'))).toContain('tenants')
  })

  test('with the default name of older clients belong to each subscriber', async () => {
    await api.delete('/v1/channel-connections/mine')
    await connect('chconn-slack-default-ada', { subscriberId: 'ada' })
    await expectAdasOwn('chconn-slack-default', { oauth: '/chat/oauth', integration: 'slack' })
  })

  test('that are shared stay when an own one of the same name is deleted', async () => {
    for (const identifier of ['mine-there', 'tenants']) await api.delete(`/v1/channel-connections/${identifier}`)
    await connect('chconn-slack-default', { ...tenant, connectionMode: 'shared' })
    await connect('chconn-slack-default-ada', { ...tenant, subscriberId: 'ada' })
    const end = () => ofTenant.delete('/channel-connections/chconn-slack-default')
    const left = async () => names(await ofTenant.get('/channel-connections'))
    expect(await end()).toMatchObject({ status: 204 })
    expect(await left()).toEqual(['chconn-slack-default'])
    expect(await end()).toMatchObject({ status: 204 })
    expect(await left()).toEqual([])
    expect(await end()).toMatchObject({ status: 404 })
  })

  test('with Teams are found by the name that pages use', async () => {
    const teams = { providerId: 'msteams', channel: 'chat', identifier: 'teams', active: true }
    await api.post('/v1/integrations', { ...teams, credentials: { clientId: 'c', secretKey: 's', tenantId: 't' } })
    await connect('chconn-msteams-default-ada', { integrationIdentifier: 'teams', subscriberId: 'ada' })
    await expectAdasOwn('chconn-msteams-default', { oauth: '/channel-connections/oauth', integration: 'teams' })
  })
})

describe('signing in', () => {
  const integrationIdentifier = 'slack'

  test.each([
    ['/channel-connections/oauth', { scope: ['chat:write'], connectionMode: 'subscriber' }, 'connect'],
    ['/channel-endpoints/oauth', { userScope: ['identity.basic'] }, 'link_user'],
    ['/chat/oauth', {}, 'connect'],
    ['/chat/oauth', { mode: 'link_user' }, 'link_user'],
  ])('%s %j', async (path, body, mode) => {
    const answer = await inbox.post(path, { integrationIdentifier, subscriberId: 'bob', ...body })
    expect(answer, answer.text).toMatchObject({ status: 201 })
    expect(stateOf(answer.body.data.url)).toMatchObject({ subscriberId: 'ada', environmentId: api.environmentId, mode })
  })

  test('uses the contexts of the session, or else of the request', async () => {
    const context = { tenant: 'other' }
    const own = await inbox.post('/channel-connections/oauth', { integrationIdentifier, context })
    expect(stateOf(own.body.data.url).context).toEqual(context)
    const ofTenant = await openInbox(server, api, 'ada', { context: { tenant: 'acme' } })
    const kept = await ofTenant.post('/channel-connections/oauth', { integrationIdentifier, context })
    expect(stateOf(kept.body.data.url).context).toEqual({ tenant: 'acme' })
  })

  test('needs the hash of a context if hashes are required', async () => {
    const all = await api.get('/v1/integrations')
    const { _id } = all.body.find(({ channel }: { channel: string }) => channel === 'in_app')
    await api.put(`/v1/integrations/${_id}`, { credentials: { hmac: true } })
    const subscriberHash = createHmac('sha256', api.key).update('ada').digest('hex')
    inbox = await openInbox(server, api, 'ada', { subscriberHash })
    const body = { integrationIdentifier, context: { tenant: 'acme' } }
    expect(await inbox.post('/channel-connections/oauth', body)).toMatchObject({ status: 400 })
    const contextHash = createHmac('sha256', api.key).update('{"tenant":"acme"}').digest('hex')
    expect(await inbox.post('/channel-connections/oauth', { ...body, contextHash })).toMatchObject({ status: 201 })
  })

  test('needs the hash of the subscriber if the integration requires it', async () => {
    const credentials = { clientId: 'c', secretKey: 's', hmac: true }
    const strict = { providerId: 'slack', channel: 'chat', identifier: 'strict', active: true, credentials }
    await api.post('/v1/integrations', strict)
    const subscriberHash = createHmac('sha256', api.key).update('ada').digest('hex')
    const vouched = await openInbox(server, api, 'ada', { subscriberHash })
    for (const path of ['/channel-connections/oauth', '/channel-endpoints/oauth', '/chat/oauth']) {
      const body = { integrationIdentifier: 'strict', subscriberId: 'ada' }
      expect(await inbox.post(path, body)).toMatchObject({ status: 400, body: { code: 'subscriber_hash_invalid' } })
      expect(await vouched.post(path, body)).toMatchObject({ status: 201 })
    }
    // The backend needs no hash, since it has the key.
    const byBackend = { integrationIdentifier: 'strict', subscriberId: 'ada' }
    expect(await api.post('/v1/integrations/channel-connections/oauth', byBackend)).toMatchObject({ status: 201 })
  })

  test('is refused without an integration', async () => {
    for (const path of ['/channel-connections/oauth', '/channel-endpoints/oauth', '/chat/oauth']) {
      expect(await inbox.post(path, { integrationIdentifier: 'nothing' })).toMatchObject({ status: 404 })
      expect(await inbox.post(path, {})).toMatchObject({ status: 422 })
    }
  })
})

describe('endpoints', () => {
  beforeEach(async () => {
    await link('mine', 'ada')
    await link('bobs', 'bob')
  })

  test('are listed and found: the subscriber’s own, without their addresses', async () => {
    const mine = { identifier: 'mine', type: 'slack_user' }
    expect((await inbox.get('/channel-endpoints?integrationIdentifier=slack')).body).toEqual({
      ...{ data: [mine], next: null, previous: null },
    })
    expect(names(await inbox.get('/channel-endpoints?connectionIdentifier=x'))).toEqual([])
    expect((await inbox.get('/channel-endpoints/mine')).body).toEqual({ data: mine })
    expect(await inbox.get('/channel-endpoints/bobs')).toMatchObject({ status: 404 })
  })

  test('can be deleted', async () => {
    expect(await inbox.delete('/channel-endpoints/bobs')).toMatchObject({ status: 404 })
    expect(await inbox.delete('/channel-endpoints/mine')).toMatchObject({ status: 204, text: '' })
    expect(await inbox.delete('/channel-endpoints/mine')).toMatchObject({ status: 404 })
  })

  test('cannot be created by pages', async () => {
    const body = { integrationIdentifier: 'slack', subscriberId: 'ada', type: 'phone', endpoint: { phoneNumber: '1' } }
    expect(await inbox.post('/channel-endpoints', body)).toMatchObject({ status: 403 })
  })
})
