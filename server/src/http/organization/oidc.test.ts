import { randomBytes } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addApp, signInWithPassword } from '../../../test/factors.ts'
import { clientId, clientSecret, useIdentityProvider } from '../../../test/identity-provider.ts'
import { openInbox } from '../../../test/inbox.ts'
import { cookieIn, PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Answer, useServer } from '../../../test/server.ts'
import type { OidcSettings } from '../../config.ts'

const provider = useIdentityProvider()
const server = useServer()
let url: string

const settings = (more: Partial<OidcSettings> = {}): OidcSettings => ({
  issuer: provider.issuer,
  clientId,
  clientSecret,
  allowedDomain: undefined,
  defaultRole: undefined,
  ...more,
})

beforeAll(async () => {
  ;({ url } = await server.startAnother({ oidc: settings() }))
})
beforeEach(() => {
  provider.forge(undefined)
  provider.signsWrongly(false)
})

const somebody = (more: object = {}) => {
  const name = randomBytes(4).toString('hex')
  return { sub: `sub-${name}`, email: `${name}@example.com`, email_verified: true, name: `Member ${name}`, ...more }
}

const start = (query = '', at = url) => sendAs(at, 'GET', `/v1/auth/oidc/start${query}`)
const flowIn = (answer: Answer) => `belfry_oidc=${cookieIn(answer, 'belfry_oidc').value}`
/** The callback URL that the provider redirects to, at this server. */
const comeBack = (back: URL, cookie: string, at = url) =>
  sendAs(at, 'GET', `${back.pathname}${back.search}`, undefined, { cookie, 'sec-fetch-site': 'cross-site' })

async function signIn(claims: Record<string, unknown>, { query = '', at = url } = {}): Promise<Answer> {
  const begun = await start(query, at)
  expect(begun.status).toBe(302)
  return comeBack(provider.signIn(begun.headers.get('location') ?? '', claims), flowIn(begun), at)
}

const tokenIn = ({ body }: Answer) => String(body.link).split('#')[1] ?? ''
const sessionOf = (answer: Answer, at = url) =>
  sendAs(at, 'GET', '/v1/auth/session', undefined, { cookie: `belfry_session=${cookieIn(answer).value}` })
const isSentTo = (location: string) => ({
  status: 302,
  headers: expect.toSatisfy((h: Headers) => h.get('location') === location),
})
const expectTurnedAway = (answer: Answer, code: string) => {
  expect(answer).toMatchObject(isSentTo(`/sign-in?error=${code}`))
  expect(cookieIn(answer).value).toBe('')
}

test('the sign-in options name the provider and the start URL', async () => {
  const { body } = await sendAs(url, 'GET', '/v1/auth/options')
  expect(body.oidc).toEqual({ name: new URL(provider.issuer).host, url: '/v1/auth/oidc/start' })
})

describe('a member', () => {
  test("is found by email address at first, and by the provider's subject from then on", async () => {
    const member = await signInAs(server, server.api, 'editor')
    const claims = somebody({ email: member.email.toUpperCase() })
    const first = await signIn(claims, { query: '?returnTo=/workflows%3Ftag%3Da' })
    expect(first).toMatchObject(isSentTo('/account?linked=true'))
    expect(cookieIn(first).attributes).toEqual(['Max-Age=7776000', 'Path=/', 'HttpOnly', 'SameSite=Lax'])
    expect(cookieIn(first, 'belfry_oidc').attributes).toContain('Max-Age=0')
    expect((await sessionOf(first)).body.user).toMatchObject({ _id: member.id, hasOidc: true, role: 'editor' })

    const renamed = await signIn(
      { ...claims, email: 'another@example.com' },
      { query: '?returnTo=/workflows%3Ftag%3Da' },
    )
    expect(renamed).toMatchObject(isSentTo('/workflows?tag=a'))
    expect((await sessionOf(renamed)).body.user).toMatchObject({ _id: member.id, email: member.email })
    // Another subject with the same address is somebody else.
    expectTurnedAway(await signIn(somebody({ email: member.email })), 'oidc_no_account')
  })

  test('hole 5: linked for the first time, the password and sessions that somebody made before end, and they are told', async () => {
    const { development } = await server.freshOrganization()
    const inviter = await signInAs(server, development, 'admin')
    const claims = somebody()
    // The inviter accepts the invitation in the other person's name.
    const invited = await inviter.post('/v1/auth/invitations', { email: claims.email, role: 'editor' })
    const token = tokenIn(invited)
    const password = 'known to the inviter'
    const accepted = await sendAs(url, 'POST', '/v1/auth/invitations/accept', { token, name: 'Victim', password })
    expect(accepted.status, accepted.text).toBe(201)
    const enter = () => sendAs(url, 'POST', '/v1/auth/sign-in', { email: claims.email, password })
    const planted = await enter()
    const reset = await inviter.post(`/v1/auth/members/${accepted.body.user._id}/reset-link`)
    expect(planted.status, planted.text).toBeLessThan(300)
    expect((await sessionOf(planted)).status).toBe(200)

    const own = await signIn(claims)
    expect(own).toMatchObject(isSentTo('/account?linked=true'))
    expect((await sessionOf(own)).body.user).toMatchObject({ email: claims.email, hasPassword: false, hasOidc: true })
    for (const each of [accepted, planted]) expect(await sessionOf(each)).toMatchObject({ status: 401 })
    expect(await enter()).toMatchObject({ status: 401 })
    expect(reset.status, reset.text).toBe(201)
    expect(
      await sendAs(url, 'POST', '/v1/auth/password-reset', { token: tokenIn(reset), password: 'another known one' }),
    ).toMatchObject({ status: expect.toSatisfy((status: number) => status >= 400) })
    const [entry] = (await inviter.get('/v1/audit?action=member.linked')).body.data
    expect(entry).toMatchObject({ details: { by: 'oidc', hadPassword: true } })
    // Later sign-ins end nothing.
    await signIn(claims)
    expect((await sessionOf(own)).status).toBe(200)
  })

  test('is not found by an unverified address', async () => {
    const member = await signInAs(server, server.api, 'owner')
    for (const email_verified of [false, 'false', undefined])
      expectTurnedAway(await signIn(somebody({ email: member.email, email_verified })), 'oidc_email_unverified')
    expectTurnedAway(await signIn(somebody({ email: undefined })), 'oidc_email_unverified')
  })
})

describe('a person without an account', () => {
  test('is refused', async () => {
    expectTurnedAway(await signIn(somebody()), 'oidc_no_account')
  })

  test('with an invitation gets its role, and has accepted it', async () => {
    const { development } = await server.freshOrganization()
    const admin = await signInAs(server, development, 'admin')
    const claims = somebody()
    await admin.post('/v1/auth/invitations', { email: claims.email, role: 'editor' })
    const { body } = await sessionOf(await signIn(claims))
    expect(body).toMatchObject({
      user: { name: claims.name, email: claims.email, role: 'editor', hasPassword: false, hasOidc: true },
      organization: { _id: development.organizationId },
    })
    expect((await admin.get('/v1/auth/invitations')).body).toEqual([])
  })

  test('of the allowed domain gets the default role, if there is one', async () => {
    const oidc = settings({ allowedDomain: 'example.com', defaultRole: 'viewer' })
    const { url: at } = await server.startAnother({ oidc })
    const { body } = await sessionOf(await signIn(somebody(), { at }), at)
    expect(body).toMatchObject({ user: { role: 'viewer' }, organization: { _id: server.api.organizationId } })
    for (const email of ['eve@evil.example', 'eve@notexample.com', 'eve@sub.example.com'])
      expectTurnedAway(await signIn(somebody({ email }), { at }), 'oidc_no_account')
    // Two concurrent sign-ins create one member.
    const claims = somebody()
    const both = await Promise.all([signIn(claims, { at }), signIn(claims, { at })])
    expect(both.filter((answer) => cookieIn(answer).value !== '').length).toBeGreaterThan(0)
    const { rows } = await server.database.pool.query('SELECT FROM users WHERE email = $1', [claims.email])
    expect(rows).toHaveLength(1)
  })
})

describe('the callback', () => {
  test('works only in the browser that started, once, and for a limited time', async () => {
    const member = await signInAs(server, server.api, 'owner')
    const claims = somebody({ email: member.email })
    const [begun, other] = [await start(), await start()]
    const back = () => provider.signIn(begun.headers.get('location') ?? '', claims)
    expectTurnedAway(await comeBack(back(), ''), 'oidc_failed')
    expectTurnedAway(await comeBack(back(), flowIn(other)), 'oidc_failed')
    expectTurnedAway(await comeBack(back(), 'belfry_oidc=Zm9yZ2Vk'), 'oidc_failed')
    // Refuses a flow cookie that we did not sign, or signed for another purpose.
    const [header = '', payload = ''] = flowIn(begun).split('.')
    expectTurnedAway(await comeBack(back(), `${header}.${payload}.`), 'oidc_failed')
    const { token } = await openInbox(server, server.api, 'ada')
    expectTurnedAway(await comeBack(back(), `belfry_oidc=${token}`), 'oidc_failed')
    const used = back()
    expect(cookieIn(await comeBack(used, flowIn(begun))).value).not.toBe('')
    expectTurnedAway(await comeBack(used, flowIn(begun)), 'oidc_failed')
    server.clock.advance({ minutes: 10 })
    expectTurnedAway(await comeBack(back(), flowIn(begun)), 'oidc_failed')
  })

  test('checks code, state, nonce, key and audience', async () => {
    const claims = somebody()
    const begun = await start()
    const back = provider.signIn(begun.headers.get('location') ?? '', claims)
    for (const [name, value] of [
      ['code', 'guessed'],
      ['state', 'guessed'],
    ] as const) {
      const changed = new URL(back)
      changed.searchParams.set(name, value)
      expectTurnedAway(await comeBack(changed, flowIn(begun)), 'oidc_failed')
    }
    const refused = new URL(back)
    refused.searchParams.delete('code')
    refused.searchParams.set('error', 'access_denied')
    expectTurnedAway(await comeBack(refused, flowIn(begun)), 'oidc_failed')
    provider.forge((honest) => ({ ...honest, nonce: 'another' }))
    expectTurnedAway(await signIn(claims), 'oidc_failed')
    provider.forge(undefined)
    provider.signsWrongly(true)
    expectTurnedAway(await signIn(claims), 'oidc_failed')
  })

  test('redirects to this service only', async () => {
    const member = await signInAs(server, server.api, 'viewer')
    const claims = somebody({ email: member.email })
    await signIn(claims)
    for (const away of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/\t/evil'])
      expect(await signIn(claims, { query: `?returnTo=${encodeURIComponent(away)}` })).toMatchObject(isSentTo('/'))
  })
})

describe('the second factor', () => {
  test('is left to the provider, also where it is required; with a password it is asked for', async () => {
    const strict = await server.startAnother({ oidc: settings(), requireSecondFactor: true })
    const member = await signInAs(server, server.api, 'editor')
    const answer = await signIn(somebody({ email: member.email }), { at: strict.url })
    expect(await sessionOf(answer, strict.url)).toMatchObject({
      status: 200,
      body: { secondFactor: { isRequired: true, mustSetUp: false } },
    })
    const theirs = new PersonApi(member, { ...member, token: cookieIn(answer).value }).at({ url: strict.url })
    expect(await theirs.get('/v2/subscribers')).toMatchObject({ status: 200 })
    const password = 'nanoseconds of wire'
    expect(await theirs.patch('/v1/auth/me', { newPassword: password })).toMatchObject({ status: 200 })
    const typed = await sendAs(strict.url, 'POST', '/v1/auth/sign-in', { email: member.email, password })
    expect(typed).toMatchObject({ status: 200, body: { secondFactor: { mustSetUp: true } } })
  })

  test('that an account had before its first sign-in by the provider is removed: it may be of somebody else', async () => {
    const member = await signInWithPassword(server, server.api, 'editor')
    await addApp(server, member)
    const answer = await signIn(somebody({ email: member.email }))
    expect((await sessionOf(answer)).body.secondFactor).toMatchObject({ hasApp: false, recoveryCodesLeft: 0 })
    const { rows } = await server.database.pool.query(
      "SELECT details FROM audit_log WHERE action = 'member.linked' AND target_id = $1",
      [member.id],
    )
    expect(rows).toMatchObject([{ details: { hadSecondFactor: true } }])
  })

  test('proving again: the provider is told to ask even those who are signed in there', async () => {
    const promptOf = async (query: string) =>
      new URL((await start(query)).headers.get('location') ?? '').searchParams.get('prompt')
    expect(await promptOf('?again=true')).toBe('login')
    expect(await promptOf('')).toBeNull()
    const member = await signInAs(server, server.api, 'owner')
    const claims = somebody({ email: member.email })
    const risky = async (answer: Answer) =>
      (
        await new PersonApi(member, { ...member, token: cookieIn(answer).value })
          .at({ url })
          .get('/v1/environments/api-keys')
      ).body.code
    const first = await signIn(claims)
    server.clock.advance({ minutes: 15 })
    expect(await risky(first)).toBe('proof_needed')
    expect(await risky(await signIn(claims, { query: '?again=true' }))).toBeUndefined()
  })
})

test('signing in is logged without tokens, codes or secrets', () => {
  expect(JSON.stringify(server.logged)).toContain('oidc_failed')
  expect(JSON.stringify(server.logged)).not.toMatch(/eyJ|a client secret|code_verifier|opaque/)
})

test('without a provider the routes answer 404', async () => {
  for (const path of ['start', 'callback'])
    expect(await sendAs(server.url, 'GET', `/v1/auth/oidc/${path}`)).toMatchObject({
      status: 404,
      body: { code: 'oidc_not_configured' },
    })
})

test('an unreachable provider gives a clear error, and the next sign-in asks it again', async () => {
  await provider.stop()
  const { url: at } = await server.startAnother({ oidc: settings() })
  for (let n = 0; n < 2; n += 1) expect(await start('', at)).toMatchObject(isSentTo('/sign-in?error=oidc_unavailable'))
})
