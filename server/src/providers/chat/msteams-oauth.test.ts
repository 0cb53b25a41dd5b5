import { describe, expect, test } from 'vitest'
import { useHttp, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { exchangeTeamsCode, installTeamsApp, teamsConsentUrl, teamsUserUrl } from './msteams-oauth.ts'

const http = useHttp()
const microsoft = useVendor()
/** A server per test, because a request may arrive after the caller has given up. */
const silent = useVendor()
const bases = () => ({ microsoftLogin: microsoft.url, microsoftGraph: `${microsoft.url}/graph` })
const real = { microsoftLogin: 'https://login.microsoftonline.com', microsoftGraph: 'https://graph.microsoft.com' }
const app = { tenantId: 'tenant-1', clientId: 'client-1', clientSecret: 'shh' }
const idToken = (claims: object) => `head.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`

describe('the URL', () => {
  const asked = { clientId: 'client-1', redirectUri: 'https://belfry.example/cb', state: 'signed' }
  const parts = (url: string) => {
    const { origin, pathname, searchParams } = new URL(url)
    return { at: origin + pathname, ...Object.fromEntries(searchParams) }
  }

  test("for an administrator's consent", () => {
    expect(parts(teamsConsentUrl(real, asked))).toEqual({
      at: 'https://login.microsoftonline.com/organizations/v2.0/adminconsent',
      client_id: 'client-1',
      redirect_uri: 'https://belfry.example/cb',
      scope: 'https://graph.microsoft.com/.default',
      state: 'signed',
    })
  })

  test('for a person to sign in', () => {
    expect(parts(teamsUserUrl(real, { ...asked, tenantId: 'tenant/1' }))).toEqual({
      at: 'https://login.microsoftonline.com/tenant%2F1/oauth2/v2.0/authorize',
      client_id: 'client-1',
      response_type: 'code',
      redirect_uri: 'https://belfry.example/cb',
      scope: 'openid profile User.Read',
      state: 'signed',
      response_mode: 'query',
    })
  })
})

describe('the exchange', () => {
  const code = { code: 'one-time-code', redirectUri: 'https://belfry.example/cb' }
  const exchange = () => exchangeTeamsCode(http, bases(), app, code)

  test('sends the code as a form and returns who signed in', async () => {
    microsoft.plays(() => ({
      body: { token_type: 'Bearer', expires_in: 3599, id_token: idToken({ oid: 'person-1', aud: 'client-1' }) },
    }))
    expect(await exchange()).toBe('person-1')
    expect(microsoft.asked).toMatchObject([
      {
        method: 'POST',
        path: '/tenant-1/oauth2/v2.0/token',
        form: {
          grant_type: 'authorization_code',
          code: 'one-time-code',
          redirect_uri: 'https://belfry.example/cb',
          client_id: 'client-1',
          client_secret: 'shh',
          scope: 'openid profile User.Read',
        },
      },
    ])
  })

  const badGrant = { error: 'invalid_grant', error_description: 'AADSTS70008: The code has expired.\r\nTrace ID: 1' }
  const nobody = 'MS Teams gave no usable answer (the id_token does not say who signed in)'
  test.each([
    [
      'a refusal',
      { status: 400, body: badGrant },
      400,
      'MS Teams OAuth error: invalid_grant - AADSTS70008: The code has expired.',
    ],
    ['a refusal without reason', { status: 401, body: {} }, 400, 'MS Teams OAuth error: HTTP 401'],
    ['a fault of Microsoft', { status: 503, body: badGrant }, 502, 'MS Teams gave no usable answer (HTTP 503)'],
    ['no JSON', { body: '<html>' }, 502, 'MS Teams gave no usable answer (HTTP 200, not JSON)'],
    ['no token', { body: {} }, 502, nobody],
    ['a token that is none', { body: { id_token: 'x' } }, 502, nobody],
    ['a token that names nobody', { body: { id_token: idToken({ aud: 'client-1' }) } }, 502, nobody],
    ['a token for somebody else', { body: { id_token: idToken({ oid: 'person-1', aud: 'other' }) } }, 502, nobody],
    [
      'secrets sent back',
      { status: 400, body: { error: 'bad', error_description: 'shh one-time-code' } },
      400,
      'MS Teams OAuth error: bad - *** ***',
    ],
  ])('%s', async (_name, reply, status, message) => {
    microsoft.plays(() => reply)
    const error = await exchange().catch((caught: unknown) => caught)
    expect(error).toMatchObject({ status, message: expect.stringContaining(message) })
    expect((error as Error).message).not.toContain('Trace ID')
  })

  test('no answer ends in a timeout', async () => {
    silent.plays(() => undefined)
    const there = { microsoftLogin: silent.url, microsoftGraph: silent.url }
    await expect(exchangeTeamsCode(http, there, { ...app, timeoutMs: 20 }, code)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('(timeout)'),
    })
  })
})

describe('the app for a person', () => {
  const install = () => installTeamsApp(http, bases(), app, 'person-1')
  const plays = (replies: { token?: VendorReply; catalog?: VendorReply; install?: VendorReply }) =>
    microsoft.plays(({ path }) => {
      if (path.endsWith('/token')) return replies.token ?? { body: { access_token: 'graph-token' } }
      if (path.endsWith('/teamsApps')) return replies.catalog ?? { body: { value: [{ id: 'catalog-1' }] } }
      return replies.install ?? { status: 201, body: '' }
    })

  test('is found in the catalogue and installed', async () => {
    plays({})
    await install()
    expect(microsoft.asked).toMatchObject([
      {
        path: '/tenant-1/oauth2/v2.0/token',
        form: {
          grant_type: 'client_credentials',
          scope: `${microsoft.url}/graph/.default`,
          client_id: 'client-1',
          client_secret: 'shh',
        },
      },
      {
        method: 'GET',
        path: '/graph/v1.0/appCatalogs/teamsApps',
        query: { $filter: "externalId eq 'client-1'" },
        headers: { authorization: 'Bearer graph-token' },
      },
      {
        method: 'POST',
        path: '/graph/v1.0/users/person-1/teamwork/installedApps',
        headers: { authorization: 'Bearer graph-token', 'content-type': 'application/json' },
        body: JSON.stringify({
          'teamsApp@odata.bind': `${microsoft.url}/graph/v1.0/appCatalogs/teamsApps/catalog-1`,
        }),
      },
    ])
  })

  test('may be installed already', async () => {
    plays({ install: { status: 409, body: { error: { code: 'Conflict', message: 'App already installed' } } } })
    await expect(install()).resolves.toBeUndefined()
  })

  const forbidden = { status: 403, body: { error: { code: 'Forbidden', message: 'Missing role for graph-token shh' } } }
  test.each([
    [
      'no consent',
      { token: { status: 400, body: { error: 'unauthorized_client' } } },
      400,
      'MS Teams OAuth error: unauthorized_client',
    ],
    ['no token', { token: { body: {} } }, 502, 'MS Teams gave no usable answer (no access_token)'],
    ['a closed catalogue', { catalog: forbidden }, 400, 'MS Teams OAuth error: Forbidden - Missing role for *** ***'],
    [
      'an unpublished app',
      { catalog: { body: { value: [] } } },
      400,
      "MS Teams OAuth error: app client-1 is not in the tenant's Teams app catalogue; publish it there first",
    ],
    ['no right to install', { install: forbidden }, 400, 'MS Teams OAuth error: Forbidden - Missing role for *** ***'],
    ['a fault of Graph', { install: { status: 500, body: {} } }, 502, 'MS Teams gave no usable answer (HTTP 500)'],
  ])('%s', async (_name, replies, status, message) => {
    plays(replies)
    await expect(install()).rejects.toMatchObject({ status, message: expect.stringContaining(message) })
  })
})
