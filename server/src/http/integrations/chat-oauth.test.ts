import { describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer({ publicUrl: 'https://belfry.example' })
const callback = 'https://belfry.example/v1/integrations/chat/oauth/callback'
const connectPath = '/v1/integrations/channel-connections/oauth'
const linkPath = '/v1/integrations/channel-endpoints/oauth'
const eitherPath = '/v1/integrations/chat/oauth'

async function prepare(): Promise<Api> {
  const api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  await addIntegration(server, api, { identifier: 'slack', credentials: { clientId: 'slack.1', secretKey: 'shh' } })
  await addIntegration(server, api, {
    identifier: 'teams',
    provider: 'msteams',
    credentials: { clientId: 'teams-1', secretKey: 'shh', tenantId: 'tenant-1' },
  })
  return api
}

/** The URL's parts, with its decoded state. */
function read(url: string) {
  const { origin, pathname, searchParams } = new URL(url)
  const { state = '', ...query } = Object.fromEntries(searchParams)
  const text = Buffer.from(state, 'base64url').toString()
  const dot = text.lastIndexOf('.')
  return { at: origin + pathname, query, state: JSON.parse(text.slice(0, dot)), signature: text.slice(dot + 1), text }
}

const slackScopes = 'chat:write,chat:write.public,channels:read,groups:read,users:read,users:read.email'

describe('Slack', () => {
  test('connecting asks for the bot scopes, and the state describes the connection', async () => {
    const api = await prepare()
    const answer = await api.post(connectPath, {
      integrationIdentifier: 'slack',
      subscriberId: 'ada',
      connectionIdentifier: 'mine.dotted',
      context: { tenant: { id: 'acme', data: { secretPlan: 'x' } }, app: 'jira' },
      connectionMode: 'subscriber',
      autoLinkUser: true,
    })
    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual(['url'])
    const url = read(answer.body.url)
    expect(url).toMatchObject({
      at: 'https://slack.com/oauth/v2/authorize',
      query: { client_id: 'slack.1', redirect_uri: callback, scope: slackScopes },
    })
    expect(url.state).toEqual({
      identifier: 'mine.dotted',
      subscriberId: 'ada',
      context: { app: 'jira', tenant: 'acme' },
      environmentId: api.environmentId,
      organizationId: api.organizationId,
      integrationIdentifier: 'slack',
      providerId: 'slack',
      timestamp: server.clock.now().getTime(),
      mode: 'connect',
      connectionMode: 'subscriber',
      autoLinkUser: true,
    })
    expect(url.signature).toMatch(/^[0-9a-f]{64}$/)
    expect(url.text).not.toMatch(new RegExp(`shh|secretPlan|${api.key}`))
    // The context exists already, with its data.
    expect((await api.get('/v2/contexts/tenant/acme')).body.data).toEqual({ secretPlan: 'x' })
  })

  test('the scopes can be chosen', async () => {
    const api = await prepare()
    const ada = { integrationIdentifier: 'slack', subscriberId: 'ada' }
    const connect = await api.post(connectPath, { ...ada, scope: ['chat:write', 'incoming-webhook'] })
    expect(read(connect.body.url).query).toMatchObject({ scope: 'chat:write,incoming-webhook' })
    const link = await api.post(linkPath, { ...ada, userScope: ['identity.basic', 'identity.email'] })
    expect(read(link.body.url).query).toMatchObject({ user_scope: 'identity.basic,identity.email' })
  })

  test('linking asks for the identity only', async () => {
    const api = await prepare()
    const answer = await api.post(linkPath, {
      integrationIdentifier: 'slack',
      subscriberId: 'ada',
      connectionIdentifier: 'mine',
    })
    expect(answer.status).toBe(201)
    const url = read(answer.body.url)
    expect(url.query).toEqual({ client_id: 'slack.1', redirect_uri: callback, user_scope: 'identity.basic' })
    expect(url.state).toMatchObject({ mode: 'link_user', identifier: 'mine', subscriberId: 'ada' })
  })

  test('the old operation does both', async () => {
    const api = await prepare()
    const ask = async (more: object) => {
      const answer = await api.post(eitherPath, { integrationIdentifier: 'slack', subscriberId: 'ada', ...more })
      expect(answer.status).toBe(201)
      return read(answer.body.url)
    }
    expect(await ask({})).toMatchObject({ query: { scope: slackScopes }, state: { mode: 'connect' } })
    expect(await ask({ mode: 'connect', scope: ['a'] })).toMatchObject({ query: { scope: 'a' } })
    expect(await ask({ mode: 'link_user' })).toMatchObject({
      query: { user_scope: 'identity.basic' },
      state: { mode: 'link_user' },
    })
  })
})

describe('Teams', () => {
  test("connecting asks for an administrator's consent", async () => {
    const api = await prepare()
    const answer = await api.post(connectPath, { integrationIdentifier: 'teams', context: { tenant: 'acme' } })
    expect(answer.status).toBe(201)
    expect(read(answer.body.url)).toMatchObject({
      at: 'https://login.microsoftonline.com/organizations/v2.0/adminconsent',
      query: { client_id: 'teams-1', redirect_uri: callback, scope: 'https://graph.microsoft.com/.default' },
      state: { providerId: 'msteams', context: { tenant: 'acme' } },
    })
  })

  test('linking signs the person in at the tenant', async () => {
    const api = await prepare()
    const answer = await api.post(linkPath, { integrationIdentifier: 'teams', subscriberId: 'ada' })
    expect(read(answer.body.url)).toMatchObject({
      at: 'https://login.microsoftonline.com/tenant-1/oauth2/v2.0/authorize',
      query: {
        client_id: 'teams-1',
        redirect_uri: callback,
        scope: 'openid profile User.Read',
        response_mode: 'query',
      },
    })
  })

  test('the mode needs no subscriber, since consent applies to the tenant', async () => {
    const api = await prepare()
    const answer = await api.post(connectPath, {
      integrationIdentifier: 'teams',
      connectionMode: 'subscriber',
      context: { tenant: 'acme' },
    })
    expect(answer.status).toBe(201)
  })
})

describe('refusals', () => {
  test.each([
    [connectPath, {}, 'Integration identifier is required'],
    [connectPath, { integrationIdentifier: '' }, 'Integration identifier is required'],
    [linkPath, { integrationIdentifier: 'slack' }, 'subscriberId is required for link_user'],
    [linkPath, { integrationIdentifier: 'slack', subscriberId: '' }, 'subscriberId is required for link_user'],
    [eitherPath, { integrationIdentifier: 'slack', mode: 'link_user' }, 'subscriberId is required for link_user'],
    [
      eitherPath,
      { integrationIdentifier: 'slack', mode: 'other' },
      'mode must be one of the following values: connect, link_user',
    ],
    [
      connectPath,
      { integrationIdentifier: 'slack', connectionMode: 'other' },
      'connectionMode must be one of the following values: subscriber, shared',
    ],
    [connectPath, { integrationIdentifier: 'slack', scope: 'chat:write' }, 'scope must be an array'],
    [connectPath, { integrationIdentifier: 'slack', autoLinkUser: 'yes' }, 'autoLinkUser must be a boolean value'],
  ])('%s %j', async (path, body, message) => {
    const answer = await server.api.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test.each([
    [{ integrationIdentifier: 'slack' }, 'Either subscriberId or context must be provided'],
    [{ integrationIdentifier: 'teams' }, 'Either subscriberId or context must be provided'],
    [
      { integrationIdentifier: 'slack', connectionMode: 'shared', subscriberId: 'ada' },
      'context is required when connectionMode is "shared"',
    ],
    [
      { integrationIdentifier: 'slack', connectionMode: 'subscriber', context: { tenant: 'acme' } },
      'subscriberId is required when connectionMode is "subscriber"',
    ],
    [
      { integrationIdentifier: 'slack', scope: ['incoming-webhook'], context: { tenant: 'acme' } },
      'subscriberId is required for incoming webhook',
    ],
  ])('%j has no owner', async (body, message) => {
    const api = await prepare()
    for (const path of [connectPath, eitherPath])
      expect(await api.post(path, body)).toMatchObject({ status: 400, body: { message } })
    expect((await api.get('/v2/contexts')).body.totalCount).toBe(0)
  })

  test('an integration that is unknown, deleted, of another environment or without sign-in is not found', async () => {
    const api = await prepare()
    const other = await prepare()
    await addIntegration(server, other, { identifier: 'theirs', credentials: { clientId: 'c' } })
    await addIntegration(server, api, { identifier: 'discord', provider: 'discord' })
    const id = await addIntegration(server, api, { identifier: 'gone', credentials: { clientId: 'c' } })
    const gone = { deleted_at: server.clock.now() }
    await server.database.db.updateTable('integrations').set(gone).where('id', '=', id).execute()
    for (const identifier of ['unknown', 'theirs', 'discord', 'gone']) {
      const answer = await api.post(connectPath, { integrationIdentifier: identifier, subscriberId: 'ada' })
      expect(answer).toMatchObject({
        status: 404,
        body: { message: `Integration not found: ${identifier} in environment ${api.environmentId}` },
      })
    }
  })

  test('an unknown subscriber is not found', async () => {
    const api = await prepare()
    for (const path of [connectPath, linkPath, eitherPath])
      expect(await api.post(path, { integrationIdentifier: 'slack', subscriberId: 'nobody' })).toMatchObject({
        status: 404,
        body: { message: 'Subscriber not found: nobody' },
      })
  })

  test('an invalid context is refused', async () => {
    const api = await prepare()
    expect((await api.post(connectPath, { integrationIdentifier: 'slack', context: {} })).status).toBe(422)
    expect((await api.post(connectPath, { integrationIdentifier: 'slack', context: 'acme' })).status).toBe(422)
  })

  test('missing sign-in credentials are refused', async () => {
    const api = await prepare()
    await addIntegration(server, api, { identifier: 'bare', credentials: { clientId: '' } })
    await addIntegration(server, api, { identifier: 'native', provider: 'svc-slack' })
    const noTenant = { clientId: 'teams-1', secretKey: 'shh' }
    await addIntegration(server, api, { identifier: 'no-tenant', provider: 'msteams', credentials: noTenant })
    const missing = (path: string, integrationIdentifier: string) =>
      api.post(path, { integrationIdentifier, subscriberId: 'ada' })
    const told = (identifier: string, name: string) => ({
      status: 404,
      body: { message: `Integration ${identifier} is missing required OAuth credentials (${name})` },
    })
    expect(await missing(connectPath, 'bare')).toMatchObject(told('bare', 'clientId'))
    expect(await missing(connectPath, 'native')).toMatchObject(told('native', 'clientId'))
    expect(await missing(linkPath, 'no-tenant')).toMatchObject(told('no-tenant', 'tenantId'))
    expect((await missing(connectPath, 'no-tenant')).status).toBe(201)
  })

  test('a credential that looks like one of our encrypted values is used as given', async () => {
    const api = await prepare()
    const clientId = 'enc:v1:AAAA'
    const { body: integration } = await api.post('/v1/integrations', {
      providerId: 'slack',
      channel: 'chat',
      credentials: { clientId, secretKey: clientId },
    })
    const asked = { integrationIdentifier: integration.identifier, subscriberId: 'ada' }
    const { status, body } = await api.post(connectPath, asked)
    expect(status).toBe(201)
    expect(read(body.url).query.client_id).toBe(clientId)
  })

  test('a key is needed', async () => {
    for (const path of [connectPath, linkPath, eitherPath])
      expect((await server.api.post(path, {}, { authorization: 'ApiKey unknown-key' })).status).toBe(401)
  })
})
