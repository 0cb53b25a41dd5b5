import { describe, expect, test } from 'vitest'
import { cookieIn, PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { useServer } from '../../../test/server.ts'
import { linkTo, makeSignInLink, signInLink } from '../../db/queries/sign-in-links.ts'

const server = useServer()
const owner = { name: 'Ada Lovelace', email: 'Ada@Example.com', password: 'a difference engine' }

const post = (path: string, body?: object, headers: Record<string, string> = {}) =>
  sendAs(server.url, 'POST', `/v1/auth/${path}`, body ?? {}, headers)
const signIn = (email: string, password: string, headers?: Record<string, string>) =>
  post('sign-in', { email, password }, headers)

/** Sets nine attempts for every tried account, since comparing that many passwords would take a while. */
const beforeTheLast = () => server.database.db.updateTable('sign_in_attempts').set({ attempts: 9 }).execute()

/** The session of an answer, for the requests that follow. */
const goingOn = (answer: Awaited<ReturnType<typeof post>>) =>
  new PersonApi(server.api, {
    id: answer.body.user._id,
    email: answer.body.user.email,
    token: cookieIn(answer).value,
  })

describe('setting up', () => {
  test('is shown as the first thing to do', async () => {
    expect((await sendAs(server.url, 'GET', '/v1/auth/options')).body).toEqual({
      isSetUp: false,
      oidc: null,
      password: { minLength: 10, maxLength: 200 },
      hasPasskeys: false,
      mailsResets: false,
    })
  })

  test('needs the token of the first start, and a password that is not obvious', async () => {
    const body = { ...owner, token: server.setUpToken }
    expect(await post('set-up', { ...body, token: 'x'.repeat(43) })).toMatchObject({
      status: 404,
      body: { code: 'link_not_found' },
    })
    const weak = await post('set-up', { ...body, password: 'Password123!' })
    expect(weak).toMatchObject({
      status: 422,
      body: { errors: { password: { messages: ['password must not be one that many people use'] } } },
    })
    expect(weak.text).not.toContain('Password123!')
    expect(await post('set-up', { ...body, email: 'ada' })).toMatchObject({ status: 422 })
    expect(await post('set-up', { ...body, name: ' ' })).toMatchObject({ status: 422 })
    expect(await post('links/look-up', { token: server.setUpToken })).toMatchObject({
      status: 200,
      body: { kind: 'set-up', organization: 'My organization', email: null, name: null, role: null },
    })
  })

  test('creates the owner once, and signs them in', async () => {
    const body = { ...owner, token: server.setUpToken, organizationName: 'Analytical Engines' }
    const both = await Promise.all([post('set-up', body), post('set-up', { ...body, email: 'eve@example.com' })])
    const [won, lost] = both.sort((a, b) => a.status - b.status)
    expect(lost).toMatchObject({ status: expect.toBeOneOf([404, 409]) })
    expect(won).toMatchObject({
      status: 201,
      body: {
        user: { name: owner.name, role: 'owner', hasPassword: true, hasOidc: false },
        organization: { _id: server.api.organizationId, name: 'Analytical Engines' },
        environments: [
          { _id: server.api.environmentId, name: 'Development', type: 'dev' },
          { name: 'Production', type: 'prod' },
        ],
      },
    })
    if (!won) throw new Error('nobody won')
    const session = goingOn(won)
    expect(await session.get('/v1/auth/session')).toMatchObject({ status: 200, body: won.body })
    // The id that the organization's keys have had from the start.
    expect((await session.get('/v1/environments/api-keys')).body[0]._userId).toBe(session.id)
    await server.database.db.updateTable('users').set({ email: owner.email }).where('id', '=', session.id).execute()

    expect((await sendAs(server.url, 'GET', '/v1/auth/options')).body.isSetUp).toBe(true)
    expect(await post('set-up', body)).toMatchObject({ status: 404, body: { code: 'link_not_found' } })
  })

  test('is refused once there is an owner, even with an unused link', async () => {
    const made = { organizationId: server.api.organizationId, userId: null, now: server.clock.now() }
    const { token } = await makeSignInLink(server.database.db, made)
    const late = await post('set-up', { ...owner, email: 'eve@example.com', token })
    expect(late).toMatchObject({ status: 409, body: { code: 'already_set_up' } })
  })
})

describe('signing in', () => {
  test('starts a session with a cookie that scripts and other sites cannot read', async () => {
    const answer = await signIn(' ada@example.COM ', owner.password)
    expect(answer).toMatchObject({ status: 200, body: { user: { email: owner.email, role: 'owner' } } })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { value, attributes } = cookieIn(answer)
    expect(value).toMatch(/^[\w-]{43}$/)
    expect(attributes).toEqual(['Max-Age=7776000', 'Path=/', 'HttpOnly', 'SameSite=Lax'])
    // Only its hash is stored.
    const { rows } = await server.database.pool.query('SELECT s::text AS row FROM user_sessions s')
    expect(rows.map(({ row }) => row).join()).not.toContain(value)
  })

  test('gives the same error for a wrong password, an unknown address and an account without password', async () => {
    const { email } = await signInAs(server, server.api, 'viewer')
    const answers = await Promise.all([
      signIn(owner.email, 'a difference machine'),
      signIn('nobody@example.com', owner.password),
      signIn(email, ''),
    ])
    for (const { status, body, headers } of answers) {
      expect([status, body.code, body.message]).toEqual([
        401,
        'sign_in_failed',
        'The email address or the password is wrong',
      ])
      expect(headers.getSetCookie()).toEqual([])
    }
  })

  test('hole 10: guesses for an account, existing or not, are slowed down, and the right password gets in', async () => {
    for (const email of ['grace@example.com', owner.email]) {
      expect(await signIn(email, 'a wrong password')).toMatchObject({ status: 401 })
      await beforeTheLast()
      const tries = await Promise.all(Array.from({ length: 30 }, () => signIn(email, 'a wrong password')))
      // Some wait for their turn; the rest is not even checked.
      expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([401, 429]))
      const limited = tries.find(({ status }) => status === 429)
      expect(limited).toMatchObject({ body: { code: 'sign_in_limited' } })
      expect(limited?.headers.get('retry-after')).toBe('5')
    }
    const right = { email: 'ADA@example.com', password: owner.password }
    const other = await server.startAnother({ trustedProxies: ['loopback'] })
    const guesses = Array.from({ length: 3 }, () => signIn(owner.email, 'a wrong password'))
    const elsewhere = { 'x-forwarded-for': '192.0.2.7' }
    expect(await sendAs(other.url, 'POST', '/v1/auth/sign-in', right, elsewhere)).toMatchObject({ status: 200 })
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]))
    expect(await signIn(owner.email, owner.password)).toMatchObject({ status: 200 })
    await other.stop()
  })

  test('hole 10: guesses from an address are slowed down, and who has signed in from there before gets in', async () => {
    expect(await signIn(owner.email, owner.password)).toMatchObject({ status: 200 })
    expect(await post('links/look-up', { token: 'guess' })).toMatchObject({ status: 404 })
    await server.database.db.updateTable('sign_in_attempts').set({ attempts: 60 }).execute()
    const guesses = Array.from({ length: 30 }, (_, n) => post('links/look-up', { token: `guess-${n}` }))
    expect(await signIn(owner.email, owner.password)).toMatchObject({ status: 200 })
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([404, 429]))
    server.clock.advance({ minutes: 15 })
    expect(await signIn('somebody@example.com', 'x')).toMatchObject({ status: 401 })
  })

  test.each<[path: string, body: object]>([
    ['links/look-up', {}],
    ['password-reset', { password: 'nanoseconds of wire' }],
    ['invitations/accept', { name: 'Eve', password: 'nanoseconds of wire' }],
    ['set-up', { name: 'Eve', email: 'eve@example.com', password: 'nanoseconds of wire' }],
  ])('by a link is limited per address too: %s', async (path, body) => {
    server.clock.advance({ minutes: 15 })
    const guess = () => post(path, { ...body, token: 'a guess' })
    expect(await guess()).toMatchObject({ status: 404 })
    await server.database.db.updateTable('sign_in_attempts').set({ attempts: 59 }).execute()
    expect((await guess()).status).toBe(404)
    const tries = await Promise.all(Array.from({ length: 30 }, guess))
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([404, 429]))
    server.clock.advance({ minutes: 15 })
  })

  test('from a page of another site is refused, against login CSRF', async () => {
    const { host } = new URL(server.url)
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: `http://${host}` },
    ] as Record<string, string>[]) {
      const answer = await signIn(owner.email, owner.password, headers)
      expect(answer).toMatchObject({ status: 403, body: { code: 'cross_site_request' } })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    const own = { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
    expect(await signIn(owner.email, owner.password, own)).toMatchObject({ status: 200 })
  })

  test('leaves no password in the log or in an error', async () => {
    await signIn(owner.email, 'a very secret guess')
    await post('sign-in', { email: { deep: 1 }, password: 'a very secret guess' })
    expect(JSON.stringify(server.logged)).not.toContain('a very secret guess')
  })
})

describe('signing out', () => {
  test('ends the session at once in every process, and deletes the cookie', async () => {
    const other = await server.startAnother()
    const person = goingOn(await signIn(owner.email, owner.password))
    const there = person.at({ url: other.url })
    expect(await there.get('/v1/auth/session')).toMatchObject({ status: 200 })

    const answer = await person.post('/v1/auth/sign-out')
    expect(answer).toMatchObject({ status: 204 })
    expect(cookieIn(answer)).toEqual({ value: '', attributes: ['Max-Age=0', 'Path=/', 'HttpOnly', 'SameSite=Lax'] })
    expect(await person.get('/v1/auth/session')).toMatchObject({ status: 401, body: { code: 'not_signed_in' } })
    await expect.poll(async () => (await there.get('/v1/auth/session')).status).toBe(401)
  })

  test('without a session is not an error', async () => {
    expect(await post('sign-out')).toMatchObject({ status: 204 })
  })
})

describe('over HTTPS', () => {
  test.each([
    ['the public address is', { publicUrl: 'https://belfry.example' }, {}],
    ['a trusted proxy says so', { trustedProxies: ['loopback'] }, { 'x-forwarded-proto': 'https' }],
  ])('the cookie is for this host and encrypted connections only, when %s', async (_, config, headers) => {
    const other = await server.startAnother(config)
    const body = { email: owner.email, password: owner.password }
    const answer = await sendAs(other.url, 'POST', '/v1/auth/sign-in', body, headers as Record<string, string>)
    const { value, attributes } = cookieIn(answer, '__Host-belfry_session')
    expect(attributes).toEqual(['Max-Age=7776000', 'Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'])
    const ask = (cookie: string) =>
      sendAs(other.url, 'GET', '/v1/auth/session', undefined, { ...headers, cookie } as Record<string, string>)
    expect(await ask(`__Host-belfry_session=${value}`)).toMatchObject({ status: 200 })
    // A sibling host could have set a cookie without the prefix.
    expect(await ask(`belfry_session=${value}`)).toMatchObject({ status: 401 })
  })

  test('forwarded headers of others than trusted proxies are ignored', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' }
    const answer = await signIn(owner.email, owner.password, headers)
    expect(cookieIn(answer).attributes).not.toContain('Secure')
    const { body } = await goingOn(answer).get('/v1/auth/sessions')
    expect(body.find((each: { isCurrent: boolean }) => each.isCurrent).address).toBe('127.0.0.1')
  })
})

describe('a link for a new password', () => {
  const print = (email?: string) =>
    signInLink(server.database.db, {
      ...{ email, publicUrl: 'https://x', now: server.clock.now() },
      ...{ command: 'belfry-server sign-in-link', commandForMember: 'belfry-server sign-in-link ada@example.com' },
    })
  const tokenIn = (link: string) => link.split('#')[1] ?? ''

  test('works once, ends all sessions, and resets the limit', async () => {
    const before = goingOn(await signIn(owner.email, owner.password))
    await signIn(owner.email, 'a wrong password')

    const replaced = tokenIn(await print('ADA@example.com'))
    const link = await print('ada@example.com')
    const token = tokenIn(link)
    expect(link).toBe(linkTo('https://x', 'reset', token))
    expect(await post('links/look-up', { token: replaced })).toMatchObject({ status: 404 })
    expect(await post('links/look-up', { token })).toMatchObject({
      body: { kind: 'reset', email: owner.email, name: owner.name, role: 'owner', organization: 'Analytical Engines' },
    })
    expect(await post('password-reset', { token, password: 'short' })).toMatchObject({ status: 422 })
    const password = 'jacquard loom cards'
    const both = await Promise.all([0, 1].map(() => post('password-reset', { token, password })))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404])

    expect(await before.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect(await signIn(owner.email, owner.password)).toMatchObject({ status: 401 })
    expect(await signIn(owner.email, password)).toMatchObject({ status: 200 })
    owner.password = password
  })

  test('is in the audit log, by the command as it is typed there', async () => {
    await print(owner.email)
    const { rows } = await server.database.pool.query(
      "SELECT actor_name FROM audit_log WHERE action = 'member.reset-link-made' ORDER BY id DESC LIMIT 1",
    )
    expect(rows).toEqual([{ actor_name: 'belfry-server sign-in-link' }])
  })

  test('expires after a day', async () => {
    const token = tokenIn(await print(owner.email))
    server.clock.advance({ hours: 24 })
    expect(await post('password-reset', { token, password: 'jacquard loom cards' })).toMatchObject({ status: 404 })
  })

  test('names its member', async () => {
    await expect(print()).rejects.toThrow(
      'Add the address of the member who needs a new password: belfry-server sign-in-link ada@example.com',
    )
    await expect(print('nobody@example.com')).rejects.toThrow('no member with the address nobody@example.com')
  })

  test('cannot create the owner, and the link for the owner cannot change a password', async () => {
    const token = tokenIn(await print(owner.email))
    expect(await post('set-up', { ...owner, token })).toMatchObject({ status: 404 })
    const made = { organizationId: server.api.organizationId, userId: null, now: server.clock.now() }
    const setUp = await makeSignInLink(server.database.db, made)
    expect(await post('password-reset', { token: setUp.token, password: owner.password })).toMatchObject({
      status: 404,
    })
  })
})
