import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { type Answer, Api, secretKey, useServer } from '../../../test/server.ts'
import { type Asked, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { Secrets } from '../../db/core/secrets.ts'
import { insertCompatibleKey } from '../../db/queries/api-keys.ts'

const vendor = useVendor()
const server = useServer({
  publicUrl: 'https://belfry.example',
  get oauth() {
    return { slack: vendor.url, microsoftLogin: vendor.url, microsoftGraph: `${vendor.url}/graph` }
  },
})
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  for (const [identifier, providerId, credentials] of [
    ['slack', 'slack', { clientId: 'slack.1', secretKey: 'shh' }],
    ['teams', 'msteams', { clientId: 'teams-1', secretKey: 'shh', tenantId: 'tenant-1' }],
  ])
    await api.post('/v1/integrations', { identifier, providerId, channel: 'chat', credentials, active: true })
})

const path = '/v1/integrations/chat/oauth/callback'
const connectState = (more: object = {}) => stateOf('/v1/integrations/channel-connections/oauth', more)
const linkState = (more: object = {}) => stateOf('/v1/integrations/channel-endpoints/oauth', more)
async function stateOf(url: string, more: object): Promise<string> {
  const answer = await api.post(url, { integrationIdentifier: 'slack', subscriberId: 'ada', ...more })
  expect(answer.status).toBe(201)
  return new URL(answer.body.url).searchParams.get('state') ?? ''
}
/** As a browser returns, without a key. */
async function comeBack(query: Record<string, string>): Promise<Answer> {
  const nobody = new Api(server.url, '', '', '')
  return nobody.send('GET', `${path}?${new URLSearchParams(query).toString()}`, undefined, { authorization: '' })
}
const connections = async () => (await api.get('/v1/channel-connections')).body.data
const endpoints = async () => (await api.get('/v1/channel-endpoints')).body.data

const grant = {
  ok: true,
  access_token: 'xoxb-granted',
  team: { id: 'T1', name: 'Acme' },
  authed_user: { id: 'U1' },
}
const slackPlays = (reply: VendorReply | 'hang up') => vendor.plays(() => reply)
function microsoftPlays(replies: { token?: (asked: Asked) => VendorReply; install?: VendorReply } = {}) {
  const claims = Buffer.from(JSON.stringify({ oid: 'person-1', aud: 'teams-1' })).toString('base64url')
  vendor.plays((asked) => {
    if (asked.path.endsWith('/token'))
      return replies.token?.(asked) ?? { body: { access_token: 'graph-token', id_token: `h.${claims}.s` } }
    if (asked.path.endsWith('/teamsApps')) return { body: { value: [{ id: 'catalog-1' }] } }
    return replies.install ?? { status: 201, body: '' }
  })
}

describe('Slack', () => {
  test('connecting creates the connection that the state describes', async () => {
    slackPlays({ body: grant })
    const state = await connectState({ connectionIdentifier: 'mine', context: { tenant: 'acme' } })
    const answer = await comeBack({ code: 'one-time', state })
    expect(answer.status).toBe(200)
    expect(vendor.asked).toMatchObject([
      {
        path: '/api/oauth.v2.access',
        form: {
          code: 'one-time',
          client_id: 'slack.1',
          client_secret: 'shh',
          redirect_uri: `https://belfry.example${path}`,
        },
      },
    ])
    expect(await connections()).toMatchObject([
      {
        identifier: 'mine',
        channel: 'chat',
        providerId: 'slack',
        integrationIdentifier: 'slack',
        subscriberId: 'ada',
        contextKeys: ['tenant:acme'],
        workspace: { id: 'T1', name: 'Acme' },
        auth: { accessToken: 'xoxb-granted' },
      },
    ])
    expect(await endpoints()).toEqual([])
  })

  test('the closing page may run its own script and nothing else', async () => {
    slackPlays({ body: grant })
    const answer = await comeBack({ code: 'one-time', state: await connectState() })
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const script = /<script>(.*)<\/script>/.exec(answer.text)?.[1] ?? ''
    expect(script).toBe('window.close();')
    const hash = createHash('sha256').update(script).digest('base64')
    expect(answer.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'sha256-${hash}'; frame-ancestors 'none'`,
    )
  })

  test('an integration can set the landing page', async () => {
    slackPlays({ body: grant })
    const credentials = { clientId: 'slack.1', secretKey: 'shh' }
    for (const [identifier, redirectUrl, location] of [
      ['landing', 'https://app.example/done?x=1', 'https://app.example/done?x=1'],
      ['foreign', 'https://app.example/größe', 'https://app.example/gr%C3%B6%C3%9Fe'],
      ['no-address', 'javascript:alert(1)', null],
    ] as const) {
      await addIntegration(server, api, { identifier, credentials: { ...credentials, redirectUrl } })
      const answer = await comeBack({
        code: 'one-time',
        state: await connectState({ integrationIdentifier: identifier }),
      })
      expect(answer.status).toBe(location === null ? 200 : 302)
      expect(answer.headers.get('location')).toBe(location)
    }
  })

  test('a shared connection stores no subscriber', async () => {
    slackPlays({ body: grant })
    const state = await connectState({ connectionMode: 'shared', context: { tenant: 'acme' } })
    expect((await comeBack({ code: 'one-time', state })).status).toBe(200)
    expect(await connections()).toMatchObject([{ subscriberId: null, contextKeys: ['tenant:acme'] }])
  })

  test('with autoLinkUser the person gets an endpoint on the new connection', async () => {
    slackPlays({ body: grant })
    const state = await connectState({ autoLinkUser: true, context: { tenant: 'acme' } })
    expect((await comeBack({ code: 'one-time', state })).status).toBe(200)
    const [connection] = await connections()
    expect(await endpoints()).toMatchObject([
      {
        type: 'slack_user',
        endpoint: { userId: 'U1' },
        subscriberId: 'ada',
        connectionIdentifier: connection.identifier,
        contextKeys: ['tenant:acme'],
      },
    ])
  })

  test('a grant for one channel creates only a webhook endpoint', async () => {
    const webhook = { url: 'https://hooks.slack.com/services/1', channel: '#general' }
    slackPlays({ body: { ...grant, incoming_webhook: webhook } })
    const state = await connectState({ scope: ['incoming-webhook'], autoLinkUser: true })
    expect((await comeBack({ code: 'one-time', state })).status).toBe(200)
    expect(await connections()).toEqual([])
    expect(await endpoints()).toMatchObject([
      { type: 'webhook', endpoint: { url: webhook.url }, subscriberId: 'ada', connectionIdentifier: null },
    ])
  })

  test('such a grant without a subscriber is refused', async () => {
    slackPlays({ body: { ...grant, incoming_webhook: { url: 'https://hooks.slack.com/services/1' } } })
    const state = await connectState({ subscriberId: undefined, context: { tenant: 'acme' } })
    expect(await comeBack({ code: 'one-time', state })).toMatchObject({
      status: 400,
      body: { message: 'subscriberId is required for incoming webhook' },
    })
  })

  test('linking attaches the person to the named connection', async () => {
    slackPlays({ body: grant })
    await comeBack({ code: 'one-time', state: await connectState({ connectionIdentifier: 'mine' }) })
    slackPlays({ body: { ok: true, team: { id: 'T1' }, authed_user: { id: 'U7' } } })
    expect(
      (await comeBack({ code: 'one-time', state: await linkState({ connectionIdentifier: 'mine' }) })).status,
    ).toBe(200)
    expect(await endpoints()).toMatchObject([
      { type: 'slack_user', endpoint: { userId: 'U7' }, connectionIdentifier: 'mine', subscriberId: 'ada' },
    ])
  })

  test('linking to an unknown connection is refused', async () => {
    slackPlays({ body: grant })
    expect(
      await comeBack({ code: 'one-time', state: await linkState({ connectionIdentifier: 'other' }) }),
    ).toMatchObject({
      status: 404,
      body: { message: 'Channel connection not found: other' },
    })
  })

  test('a second connection for the same resource is refused', async () => {
    slackPlays({ body: grant })
    const first = await connectState({ connectionIdentifier: 'mine' })
    expect((await comeBack({ code: 'one-time', state: first })).status).toBe(200)
    const message =
      'A channel connection already exists for integration "slack" with subscriberId "ada" and no context. Connection ID: mine'
    for (const state of [first, await connectState()])
      expect(await comeBack({ code: 'one-time', state })).toMatchObject({ status: 409, body: { message } })
    expect(await connections()).toHaveLength(1)
  })

  test.each([
    ['ok:false', { body: { ok: false, error: 'invalid_code' } }, 400, 'Slack OAuth error: invalid_code'],
    ['HTTP 500', { status: 500, body: 'oops' }, 502, 'Slack gave no usable answer (HTTP 500)'],
    ['no JSON', { body: '<html>' }, 502, 'Slack gave no usable answer (HTTP 200, not JSON)'],
    ['a lost connection', 'hang up' as const, 502, 'Slack gave no usable answer (UND_ERR_SOCKET)'],
    ['no team', { body: { ok: true, access_token: 'x' } }, 502, 'Slack gave no usable answer (part of the answer'],
    ['no token', { body: { ok: true, team: { id: 'T1' } } }, 502, 'Slack gave no usable answer (part of the answer'],
  ])('%s connects nothing and reveals no secret', async (_name, reply, status, message) => {
    slackPlays(reply)
    const answer = await comeBack({ code: 'one-time', state: await connectState() })
    expect(answer).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
    expect(answer.text).not.toContain('shh')
    expect(JSON.stringify(server.logged)).not.toMatch(/shh|one-time|xoxb/)
    expect(await connections()).toEqual([])
  })

  test('an answer without a user links nobody', async () => {
    slackPlays({ body: { ok: true, team: { id: 'T1' } } })
    expect((await comeBack({ code: 'one-time', state: await linkState() })).status).toBe(502)
    expect(await endpoints()).toEqual([])
  })

  test('connecting needs a code and the client secret', async () => {
    expect(await comeBack({ tenant: 't', state: await connectState() })).toMatchObject({
      status: 400,
      body: { message: 'Missing required OAuth parameter: code' },
    })
    await addIntegration(server, api, { identifier: 'half', credentials: { clientId: 'slack.1' } })
    expect(
      await comeBack({ code: 'one-time', state: await connectState({ integrationIdentifier: 'half' }) }),
    ).toMatchObject({
      status: 404,
      body: { message: 'Integration half is missing required OAuth credentials (secretKey)' },
    })
    expect(vendor.asked).toEqual([])
  })
})

describe('Teams', () => {
  const teams = { integrationIdentifier: 'teams' }

  beforeEach(() => microsoftPlays())

  test("an administrator's consent creates a connection, once Microsoft confirms it", async () => {
    const state = await connectState({ ...teams, connectionIdentifier: 'mine', context: { tenant: 'acme' } })
    const answer = await comeBack({ tenant: 'their-tenant', admin_consent: 'True', state })
    expect(answer.status).toBe(200)
    expect(await connections()).toMatchObject([
      {
        identifier: 'mine',
        providerId: 'msteams',
        subscriberId: 'ada',
        contextKeys: ['tenant:acme'],
        workspace: { id: 'their-tenant' },
        auth: { accessToken: 'app-only' },
      },
    ])
    expect(vendor.asked).toMatchObject([
      {
        path: '/their-tenant/oauth2/v2.0/token',
        form: { grant_type: 'client_credentials', client_id: 'teams-1', client_secret: 'shh' },
      },
    ])
  })

  test('hole 11: a made-up tenant, or one that has not approved the app, is not connected', async () => {
    const error = { error: 'invalid_request', error_description: "AADSTS90002: Tenant 'made-up' not found." }
    microsoftPlays({ token: () => ({ status: 400, body: error }) })
    const answer = await comeBack({ tenant: 'made-up', admin_consent: 'True', state: await connectState(teams) })
    expect(answer).toMatchObject({ status: 400, body: { code: 'oauth_refused' } })
    expect(await connections()).toEqual([])
  })

  test.each([
    [{ tenant: 't1', admin_consent: 'False' }, 'MS Teams admin consent was not granted'],
    [{ tenant: 't1' }, 'MS Teams admin consent was not granted'],
    [{ code: 'one-time', admin_consent: 'True' }, 'Missing required OAuth parameter: tenant'],
    [{ tenant: '../x', admin_consent: 'True' }, 'Invalid OAuth parameter: tenant'],
  ])('%j is not a consent', async (result, message) => {
    const answer = await comeBack({ ...result, state: await connectState(teams) })
    expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } })
    expect(await connections()).toEqual([])
  })

  test('a second connection for the same resource is refused', async () => {
    const consent = async () =>
      comeBack({
        tenant: 't1',
        admin_consent: 'True',
        state: await connectState({ ...teams, connectionIdentifier: 'a' }),
      })
    expect((await consent()).status).toBe(200)
    expect(await consent()).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('Connection ID: a') },
    })
  })

  test('linking creates an endpoint for the person and installs the app for them', async () => {
    microsoftPlays()
    const answer = await comeBack({ code: 'one-time', state: await linkState(teams) })
    expect(answer.status).toBe(200)
    expect(vendor.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /tenant-1/oauth2/v2.0/token',
      'POST /tenant-1/oauth2/v2.0/token',
      'GET /graph/v1.0/appCatalogs/teamsApps',
      'POST /graph/v1.0/users/person-1/teamwork/installedApps',
    ])
    expect(vendor.asked[0]?.form).toMatchObject({ code: 'one-time', redirect_uri: `https://belfry.example${path}` })
    expect(await endpoints()).toMatchObject([
      { type: 'ms_teams_user', endpoint: { userId: 'person-1' }, subscriberId: 'ada', connectionIdentifier: null },
    ])
  })

  test('with autoLinkUser the person is redirected to sign in', async () => {
    microsoftPlays()
    const consent = await comeBack({
      tenant: 'their-tenant',
      admin_consent: 'True',
      state: await connectState({ ...teams, autoLinkUser: true, context: { tenant: 'acme' } }),
    })
    expect(consent.status).toBe(302)
    const onward = new URL(consent.headers.get('location') ?? '')
    expect(onward.origin + onward.pathname).toBe(`${vendor.url}/tenant-1/oauth2/v2.0/authorize`)
    const state = onward.searchParams.get('state') ?? ''
    expect((await comeBack({ code: 'one-time', state })).status).toBe(200)
    const [connection] = await connections()
    expect(await endpoints()).toMatchObject([
      {
        type: 'ms_teams_user',
        endpoint: { userId: 'person-1' },
        connectionIdentifier: connection.identifier,
        contextKeys: ['tenant:acme'],
      },
    ])
  })

  test('without a tenant to sign in at, only the connection is created', async () => {
    const credentials = { clientId: 'teams-1', secretKey: 'shh' }
    await addIntegration(server, api, { identifier: 'any-tenant', provider: 'msteams', credentials })
    const state = await connectState({ integrationIdentifier: 'any-tenant', autoLinkUser: true })
    expect((await comeBack({ tenant: 't1', admin_consent: 'True', state })).status).toBe(200)
    expect(await connections()).toHaveLength(1)
  })

  test('linking needs a code', async () => {
    expect(await comeBack({ tenant: 't1', state: await linkState(teams) })).toMatchObject({
      status: 400,
      body: { message: 'Missing required OAuth parameter: code' },
    })
  })

  test('a refusal or failure of Microsoft links nobody and reveals no secret', async () => {
    const denied = { status: 400, body: { error: 'invalid_grant', error_description: 'AADSTS54005: shh was redeemed' } }
    microsoftPlays({ token: () => denied })
    const refused = await comeBack({ code: 'one-time', state: await linkState(teams) })
    expect(refused).toMatchObject({
      status: 400,
      body: { message: 'MS Teams OAuth error: invalid_grant - AADSTS54005: *** was redeemed' },
    })
    microsoftPlays({ install: { status: 500, body: 'oops' } })
    expect(await comeBack({ code: 'one-time', state: await linkState(teams) })).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining('MS Teams gave no usable answer (HTTP 500)') },
    })
    expect(await endpoints()).toEqual([])
  })
})

describe('refusals', () => {
  const invalid = { status: 400, body: { message: 'Invalid OAuth state parameter' } }

  test.each([
    [
      { error: 'access_denied', error_description: 'The user said no' },
      'OAuth error: access_denied - The user said no',
    ],
    [{ error: 'access_denied', code: 'one-time', state: 's' }, 'OAuth error: access_denied'],
    [{ code: 'one-time' }, 'Missing required OAuth parameter: state'],
    [{}, 'Missing required OAuth parameter: state'],
    [{ state: 's' }, 'Missing required OAuth parameters: code or tenant'],
  ])('%j', async (query, message) => {
    expect(await comeBack(query as Record<string, string>)).toMatchObject({ status: 400, body: { message } })
  })

  test('a malformed state', async () => {
    const encode = (text: string) => Buffer.from(text).toString('base64url')
    for (const state of [
      'x',
      '%%%',
      encode('no dot'),
      encode('{"environmentId":5}.00'),
      encode('null.00'),
      encode('{"environmentId":"../x"}.00'),
    ])
      expect(await comeBack({ code: 'one-time', state })).toMatchObject(invalid)
    expect(vendor.asked).toEqual([])
  })

  test('a state that was changed, or signed with another key', async () => {
    const text = Buffer.from(await connectState(), 'base64url').toString()
    const dot = text.lastIndexOf('.')
    const [json, signature] = [text.slice(0, dot), text.slice(dot + 1)]
    for (const changed of [
      `${json.replace('"ada"', '"bob"')}.${signature}`,
      `${json}.${'0'.repeat(64)}`,
      `${json}.`,
      `${json}.${new Secrets(secretKey).sign(json)}`,
      `${json}.${new Secrets('b2'.repeat(32)).sign(json, api.key)}`,
    ]) {
      const state = Buffer.from(changed).toString('base64url')
      expect(await comeBack({ code: 'one-time', state })).toMatchObject(invalid)
    }
    expect(vendor.asked).toEqual([])
  })

  test('a state expires after five minutes', async () => {
    slackPlays({ body: grant })
    const [first, second] = [await connectState(), await connectState({ context: { tenant: 'acme' } })]
    server.clock.advance({ minutes: 5 })
    expect((await comeBack({ code: 'one-time', state: first })).status).toBe(200)
    server.clock.advance({ ms: 1 })
    expect(await comeBack({ code: 'one-time', state: second })).toMatchObject(invalid)
  })

  test("replacing the environment's key voids open states", async () => {
    const state = await connectState()
    await server.database.db.transaction().execute(async (tx) => {
      await tx.deleteFrom('api_keys').where('environment_id', '=', api.environmentId).execute()
      const key = { environmentId: api.environmentId, userId: '0'.repeat(24), apiKey: `new ${api.environmentId}` }
      await insertCompatibleKey(tx, key, new Secrets(secretKey), server.clock.now())
    })
    expect(await comeBack({ code: 'one-time', state })).toMatchObject(invalid)
    expect(vendor.asked).toEqual([])
  })

  test('a deleted environment or integration is not found', async () => {
    const state = await connectState()
    const missing = { message: `Integration not found: slack in environment ${api.environmentId}` }
    const { db } = server.database
    const slack = () =>
      db.updateTable('integrations').where('environment_id', '=', api.environmentId).where('identifier', '=', 'slack')
    await slack().set({ provider_id: 'msteams' }).execute()
    expect(await comeBack({ code: 'one-time', state })).toMatchObject({ status: 404, body: missing })
    await slack().set({ provider_id: 'slack', deleted_at: server.clock.now() }).execute()
    expect(await comeBack({ code: 'one-time', state })).toMatchObject({ status: 404, body: missing })
    await db.deleteFrom('environments').where('id', '=', api.environmentId).execute()
    expect(await comeBack({ code: 'one-time', state })).toMatchObject({
      status: 404,
      body: { message: `Environment not found: ${api.environmentId}` },
    })
    expect(vendor.asked).toEqual([])
  })

  test('a deleted subscriber is not found, and nothing is connected', async () => {
    slackPlays({ body: grant })
    const state = await connectState()
    await api.delete('/v2/subscribers/ada')
    expect(await comeBack({ code: 'one-time', state })).toMatchObject({
      status: 404,
      body: { message: 'Subscriber not found: ada' },
    })
    expect(await connections()).toEqual([])
  })

  test('a HEAD request does not spend the code', async () => {
    const query = new URLSearchParams({ code: 'one-time', state: await connectState() })
    expect((await fetch(`${server.url}${path}?${query.toString()}`, { method: 'HEAD' })).status).toBe(404)
    expect(vendor.asked).toEqual([])
  })
})
