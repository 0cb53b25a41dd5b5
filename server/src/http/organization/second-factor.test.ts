import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Authenticator } from '../../../test/authenticator.ts'
import { addApp, addPasskey, codeOf, password, signInWithPassword } from '../../../test/factors.ts'
import { cookieIn, newSession, PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Answer, useServer } from '../../../test/server.ts'
import { signInLink } from '../../db/queries/sign-in-links.ts'

const origin = 'https://belfry.example.com'
const server = useServer({ publicUrl: origin, isPublicUrlGiven: true })
const now = () => server.clock.now()

const post = (path: string, body: object) => sendAs(server.url, 'POST', `/v1/auth/${path}`, body)
const signIn = (email: string) => post('sign-in', { email, password })
const stepOf = async (email: string): Promise<string> => (await signIn(email)).body.secondStep.token
const cookieOf = (answer: Answer) => cookieIn(answer, '__Host-belfry_session').value
const goingOn = (person: PersonApi, answer: Answer) => new PersonApi(person, { ...person, token: cookieOf(answer) })
const another = async (person: PersonApi) =>
  new PersonApi(person, { ...person, token: await newSession(server, person.id) })
const actsOf = async (person: PersonApi) => {
  const { rows } = await server.database.pool.query(
    'SELECT action, details FROM audit_log WHERE target_id = $1 ORDER BY number',
    [person.id],
  )
  return rows as Array<{ action: string; details: Record<string, unknown> }>
}

describe('an authenticator app', () => {
  test('counts once a code has confirmed it, brings ten recovery codes, and ends other sessions', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const elsewhere = await another(person)
    const { body } = await person.post('/v1/auth/factors/app')
    expect(new URL(body.uri)).toMatchObject({ protocol: 'otpauth:', host: 'totp' })
    expect(new URL(body.uri).searchParams.get('secret')).toBe(body.secret)
    expect(await signIn(person.email)).toMatchObject({ status: 200 })
    expect(await person.post('/v1/auth/factors/app/confirm', { code: '000000' })).toMatchObject({
      status: 401,
      body: { code: 'wrong_code' },
    })
    const code = codeOf(body.secret, now())
    const added = await person.post('/v1/auth/factors/app/confirm', { code })
    expect(added.status).toBe(200)
    expect(new Set(added.body.recoveryCodes).size).toBe(10)
    expect(await elsewhere.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect((await person.get('/v1/auth/session')).body.secondFactor).toMatchObject({
      hasApp: true,
      recoveryCodesLeft: 10,
      isRequired: false,
      mustSetUp: false,
    })
    expect(await person.post('/v1/auth/factors/app')).toMatchObject({ status: 409 })
    // The secret is encrypted, and codes are stored as hashes.
    const { rows } = await server.database.pool.query(
      'SELECT a::text AS row FROM authenticator_apps a UNION ALL SELECT r::text FROM recovery_codes r',
    )
    const stored = rows.map(({ row }) => row).join()
    for (const secret of [body.secret, ...added.body.recoveryCodes]) expect(stored).not.toContain(secret)
    expect((await actsOf(person)).at(-1)).toEqual({
      action: 'member.second-factor-added',
      details: { kind: 'authenticator app' },
    })
  })

  test('is asked for after the password, and after a link for a new one; a code works once', async () => {
    const owner = await signInAs(server, server.api, 'owner')
    const person = await signInWithPassword(server, server.api, 'viewer')
    const { secret } = await addApp(server, person)
    const asked = await signIn(person.email)
    expect(asked).toMatchObject({ status: 202, body: { secondStep: { ways: ['app', 'recovery-code'] } } })
    expect(asked.headers.getSetCookie()).toEqual([])
    const { token } = asked.body.secondStep
    const code = codeOf(secret, now())
    const answer = await post('second-step', { token, code })
    expect(answer).toMatchObject({ status: 200, body: { user: { email: person.email } } })
    expect(await goingOn(person, answer).get('/v1/auth/session')).toMatchObject({ status: 200 })
    // The step is used, and so is the code, also for other sign-ins and proofs.
    expect(await post('second-step', { token, code })).toMatchObject({ body: { code: 'second_step_expired' } })
    const again = await stepOf(person.email)
    expect(await post('second-step', { token: again, code })).toMatchObject({
      status: 401,
      body: { code: 'wrong_code' },
    })
    expect(await person.post('/v1/auth/proof', { code })).toMatchObject({ status: 400, body: { code: 'proof_failed' } })
    const earlier = codeOf(secret, now(), -1)
    expect(await post('second-step', { token: again, code: earlier })).toMatchObject({ status: 401 })
    // A clock that is a step ahead is tolerated, two steps are not.
    expect(await post('second-step', { token: again, code: codeOf(secret, now(), 2) })).toMatchObject({ status: 401 })
    const ahead = codeOf(secret, now(), 1)
    const both = await Promise.all(
      [1, 2].map(async () => post('second-step', { token: await stepOf(person.email), code: ahead })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])

    const { body: made } = await owner.post(`/v1/auth/members/${person.id}/reset-link`)
    const reset = await post('password-reset', { token: String(made.link).split('#')[1], password: 'another fine one' })
    expect(reset).toMatchObject({ status: 202, body: { secondStep: { ways: ['app', 'recovery-code'] } } })
    expect(reset.headers.getSetCookie()).toEqual([])
    // A step of before the new password has ended.
    expect(await post('second-step', { token: again, code: '000000' })).toMatchObject({
      body: { code: 'second_step_expired' },
    })
    const by = (await actsOf(person))
      .filter(({ action }) => action === 'member.signed-in')
      .map(({ details }) => details.by)
    expect(by).toEqual(['password and authenticator app', 'password and authenticator app'])
  })

  test('a step ends after ten minutes, and after five wrong codes', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const { secret } = await addApp(server, person)
    const late = await stepOf(person.email)
    server.clock.advance({ minutes: 10 })
    const code = () => codeOf(secret, now())
    expect(await post('second-step', { token: late, code: code() })).toMatchObject({
      status: 401,
      body: { code: 'second_step_expired' },
    })
    const token = await stepOf(person.email)
    for (let n = 0; n < 5; n += 1)
      expect((await post('second-step', { token, code: '000000' })).body.code).toBe('wrong_code')
    expect((await post('second-step', { token, code: code() })).body.code).toBe('second_step_expired')
    expect(await post('second-step', { token: await stepOf(person.email), code: code() })).toMatchObject({
      status: 200,
    })
    expect(await post('second-step', { token: 'x'.repeat(43), code: code() })).toMatchObject({ status: 401 })
    expect(await post('second-step', { token: await stepOf(person.email) })).toMatchObject({ status: 401 })
  })

  test('guesses of codes count apart from passwords, are slowed down, and the right code gets in', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const { secret } = await addApp(server, person)
    const attempts = async () => {
      const { rows } = await server.database.pool.query('SELECT max(attempts)::int AS most FROM sign_in_attempts')
      return rows[0].most
    }
    await server.database.db.deleteFrom('sign_in_attempts').execute()
    for (let n = 0; n < 4; n += 1) await post('second-step', { token: await stepOf(person.email), code: '000000' })
    // The right password did not reset it.
    expect(await attempts()).toBe(4)
    await server.database.db.updateTable('sign_in_attempts').set({ attempts: 10 }).execute()
    const tokens = await Promise.all(Array.from({ length: 8 }, () => stepOf(person.email)))
    await server.database.db.updateTable('sign_in_attempts').set({ attempts: 10 }).execute()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const answered: number[] = []
    const send = async (token: string, code: string) => {
      const answer = await post('second-step', { token, code })
      answered.push(answer.status)
      return answer
    }
    const right = send(tokens[0] ?? '', codeOf(secret, now()))
    // A poll would move the timers on.
    while ((await attempts()) < 11);
    const guesses = tokens.slice(1).map((token) => send(token, '000000'))
    // Who does not find a place in the lane is told at once; by then the first has begun its pause.
    while (answered.length < 5) await attempts()
    expect(answered).toEqual(Array(5).fill(429))
    await vi.advanceTimersByTimeAsync(9_999)
    // An answer that was due would have come before these.
    for (let n = 0; n < 5; n += 1) expect(await signIn(person.email)).toMatchObject({ status: 202 })
    expect(answered).toHaveLength(5)
    await vi.advanceTimersByTimeAsync(1)
    expect(await right).toMatchObject({ status: 200 })
    expect(answered).toHaveLength(6)
    await vi.advanceTimersByTimeAsync(20_000)
    const refused = (await Promise.all(guesses)).filter(({ status }) => status === 429)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.headers.get('retry-after')).toBe('30')
    await server.database.db.deleteFrom('sign_in_attempts').execute()
  })

  test('can be removed, and then the password is enough', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    expect(await person.delete('/v1/auth/factors/app')).toMatchObject({
      status: 404,
      body: { code: 'authenticator_app_not_found' },
    })
    const { secret } = await addApp(server, person)
    const token = await stepOf(person.email)
    expect(await person.delete('/v1/auth/factors/app')).toMatchObject({ status: 204 })
    expect(await post('second-step', { token, code: codeOf(secret, now()) })).toMatchObject({ status: 401 })
    expect(await signIn(person.email)).toMatchObject({ status: 200 })
    expect((await person.get('/v1/auth/factors')).body).toEqual({ appSince: null, passkeys: [], recoveryCodesLeft: 0 })
    expect(await person.post('/v1/auth/factors/recovery-codes')).toMatchObject({
      status: 409,
      body: { code: 'no_second_factor' },
    })
  })
})

describe('recovery codes', () => {
  test('each works once, however typed, even when used twice at the same moment; new ones end the old', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const { recoveryCodes } = await addApp(server, person)
    const [first = '', second = ''] = recoveryCodes
    const tokens = [await stepOf(person.email), await stepOf(person.email), await stepOf(person.email)]
    const uses = await Promise.all(tokens.map((token) => post('second-step', { token, recoveryCode: first })))
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 401, 401])
    expect((await person.get('/v1/auth/factors')).body.recoveryCodesLeft).toBe(9)
    const typed = ` ${second.replaceAll('-', ' ').toUpperCase()}`
    const other = await signInWithPassword(server, server.api, 'viewer')
    await addApp(server, other)
    expect(await post('second-step', { token: await stepOf(other.email), recoveryCode: typed })).toMatchObject({
      status: 401,
    })
    expect(await post('second-step', { token: await stepOf(person.email), recoveryCode: typed })).toMatchObject({
      status: 200,
    })
    expect(await actsOf(person)).toContainEqual({ action: 'member.recovery-code-used', details: { left: 8 } })

    const made = await person.post('/v1/auth/factors/recovery-codes')
    expect(made.body.recoveryCodes).toHaveLength(10)
    const old = { token: await stepOf(person.email), recoveryCode: recoveryCodes[2] ?? '' }
    expect(await post('second-step', old)).toMatchObject({ status: 401, body: { code: 'wrong_code' } })
    expect(await post('second-step', { ...old, recoveryCode: made.body.recoveryCodes[0] })).toMatchObject({
      status: 200,
    })
    // They are no proof, and no first factor.
    expect(await person.post('/v1/auth/proof', { code: made.body.recoveryCodes[1] })).toMatchObject({ status: 400 })
  })
})

describe('passkeys', () => {
  const challenge = async (body: object = {}) => (await post('passkey-challenge', body)).body
  const directly = (passkey: object) => post('passkey-sign-in', { passkey })
  const refused = { status: 401, body: { code: 'passkey_refused' } }

  test('several, with names and last use; each signs in after the password, or alone', async () => {
    const person = await signInWithPassword(server, server.api, 'editor')
    const elsewhere = await another(person)
    const { authenticator: laptop, recoveryCodes } = await addPasskey(person, { origin, name: ' Laptop ' })
    expect(recoveryCodes).toHaveLength(10)
    expect(await elsewhere.get('/v1/auth/session')).toMatchObject({ status: 401 })
    const { authenticator: phone, recoveryCodes: none } = await addPasskey(person, { origin, name: 'Phone' })
    expect(none).toBeNull()
    expect((await person.get('/v1/auth/factors')).body.passkeys).toMatchObject([
      { name: 'Laptop', host: 'belfry.example.com', lastUsedAt: null },
      { name: 'Phone', lastUsedAt: null },
    ])
    const asked = await signIn(person.email)
    expect(asked.body.secondStep.ways).toEqual(['passkey', 'recovery-code'])
    const { token } = asked.body.secondStep
    const options = await challenge({ token })
    expect(options).toMatchObject({ rpId: 'belfry.example.com', userVerification: 'preferred' })
    expect(options.allowCredentials).toHaveLength(2)
    const used = await post('second-step', { token, passkey: phone.get(options, { origin, isVerified: false }) })
    expect(used).toMatchObject({ status: 200, body: { user: { email: person.email } } })

    const open = await challenge()
    expect(open).toMatchObject({ userVerification: 'required' })
    expect(open.allowCredentials ?? []).toEqual([])
    const alone = await directly(laptop.get(open, { origin }))
    expect(alone).toMatchObject({ status: 200, body: { user: { email: person.email } } })
    expect(await goingOn(person, alone).get('/v1/auth/session')).toMatchObject({ status: 200 })
    const { passkeys } = (await person.get('/v1/auth/factors')).body
    for (const each of passkeys) expect(each.lastUsedAt).toBe(now().toISOString())
    expect((await sendAs(server.url, 'GET', '/v1/auth/options')).body.hasPasskeys).toBe(true)

    const [{ _id }] = passkeys
    expect(await person.patch(`/v1/auth/factors/passkeys/${_id}`, { name: 'Desk' })).toMatchObject({
      status: 200,
      body: { name: 'Desk' },
    })
    const stranger = await signInAs(server, server.api, 'owner')
    for (const [method, body] of [['PATCH', { name: 'Mine' }], ['DELETE']] as const)
      expect(await stranger.send(method, `/v1/auth/factors/passkeys/${_id}`, body)).toMatchObject({
        status: 404,
        body: { code: 'passkey_not_found' },
      })
    expect(await person.delete(`/v1/auth/factors/passkeys/${_id}`)).toMatchObject({ status: 204 })
    expect(await directly(laptop.get(await challenge(), { origin }))).toMatchObject(refused)
  })

  test('a challenge works once, for a few minutes, for its purpose and its person', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const { authenticator } = await addPasskey(person, { origin })
    const stranger = await signInWithPassword(server, server.api, 'viewer')
    const theirs = await addPasskey(stranger, { origin })

    const open = await challenge()
    const answer = authenticator.get(open, { origin })
    expect(await directly(answer)).toMatchObject({ status: 200 })
    expect(await directly(answer)).toMatchObject(refused)

    const late = authenticator.get(await challenge(), { origin })
    server.clock.advance({ minutes: 5 })
    expect(await directly(late)).toMatchObject(refused)

    // One for a second step does not sign in alone, and one of another person does not help.
    const [token, strangers] = [await stepOf(person.email), await stepOf(stranger.email)]
    expect(await directly(authenticator.get(await challenge({ token }), { origin }))).toMatchObject(refused)
    const mixed = authenticator.get(await challenge({ token: strangers }), { origin })
    expect(await post('second-step', { token, passkey: mixed })).toMatchObject(refused)
    const foreign = theirs.authenticator.get(await challenge({ token }), { origin })
    expect(await post('second-step', { token, passkey: foreign })).toMatchObject(refused)
    const { body: proof } = await stranger.post('/v1/auth/proof/challenge')
    expect(await person.post('/v1/auth/proof', { passkey: authenticator.get(proof, { origin }) })).toMatchObject({
      status: 400,
      body: { code: 'proof_failed' },
    })
    // One for a proof is no second step of the same person.
    const { body: own } = await person.post('/v1/auth/proof/challenge')
    expect(await post('second-step', { token, passkey: authenticator.get(own, { origin }) })).toMatchObject(refused)
    const made = (await stranger.post('/v1/auth/factors/passkeys/challenge')).body
    const wrong = { name: 'Stolen', passkey: new Authenticator().make(made, { origin }) }
    expect(await person.post('/v1/auth/factors/passkeys', wrong)).toMatchObject(refused)
    const invented = authenticator.get(open, { origin, challenge: Buffer.from('made up').toString('base64url') })
    expect(await directly(invented)).toMatchObject(refused)
    // Each network has a few at a time.
    for (let n = 0; n < 25; n += 1) await challenge()
    const { rows } = await server.database.pool.query(
      "SELECT count(*)::int AS n FROM passkey_challenges WHERE owner LIKE 'network%'",
    )
    expect(rows[0].n).toBe(20)
  })

  test('of another site, without a check of the person, or copied, are refused', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const { authenticator } = await addPasskey(person, { origin, counter: 5 })
    const tell = async (says: Partial<Parameters<Authenticator['get']>[1]>) =>
      directly(authenticator.get(await challenge(), { origin, counter: 100, ...says }))
    expect(await tell({ origin: 'https://belfry.example.com.evil.example' })).toMatchObject(refused)
    expect(await tell({ origin: 'http://belfry.example.com' })).toMatchObject(refused)
    expect(await tell({ host: 'evil.example' })).toMatchObject(refused)
    expect(await tell({ isVerified: false })).toMatchObject(refused)
    expect(await tell({ counter: 6 })).toMatchObject({ status: 200 })
    // A copy has counted less, or the same.
    for (const counter of [6, 5, 0]) expect(await tell({ counter })).toMatchObject(refused)
    expect(await tell({ counter: 7 })).toMatchObject({ status: 200 })
    const options = await challenge()
    const forged = { ...new Authenticator().get(options, { origin }), id: authenticator.id.toString('base64url') }
    expect(await directly({ ...forged, rawId: forged.id })).toMatchObject(refused)
    for (const rubbish of [{}, { id: 1 }, { id: 'x', response: {} }, { response: { clientDataJSON: 'e30' } }])
      expect(await directly(rubbish)).toMatchObject(refused)

    const made = (await person.post('/v1/auth/factors/passkeys/challenge')).body
    const elsewhere = new Authenticator().make(made, { origin: 'https://evil.example' })
    expect(await person.post('/v1/auth/factors/passkeys', { name: 'Evil', passkey: elsewhere })).toMatchObject(refused)
    // One that somebody has registered belongs to them.
    const again = (await person.post('/v1/auth/factors/passkeys/challenge')).body
    const same = { name: 'Twice', passkey: authenticator.make(again, { origin }) }
    expect(await person.post('/v1/auth/factors/passkeys', same)).toMatchObject(refused)
  })

  test('without a public address they are made for the host of the page; an IP address has none', async () => {
    const person = await signInWithPassword(server, server.api, 'viewer')
    const other = await server.startAnother({ isPublicUrlGiven: false, publicUrl: 'http://127.0.0.1:0' })
    const here = person.at({ url: other.url })
    expect(await here.post('/v1/auth/factors/passkeys/challenge')).toMatchObject({
      status: 400,
      body: { code: 'passkeys_unavailable' },
    })
    const host = `localhost:${new URL(other.url).port}`
    const headers = { host, origin: `http://${host}` }
    const options = (await here.post('/v1/auth/factors/passkeys/challenge', undefined, headers)).body
    expect(options.rp.id).toBe('localhost')
    const passkey = new Authenticator().make(options, { origin: `http://${host}` })
    expect(await here.post('/v1/auth/factors/passkeys', { name: 'Here', passkey }, headers)).toMatchObject({
      status: 201,
    })
  })
})

describe('required of everybody', () => {
  test('by an admin who has one; who has none is led to set one up, and people from the provider are not', async () => {
    const { development } = await server.freshOrganization()
    const [admin, member] = [
      await signInWithPassword(server, development, 'admin'),
      await signInWithPassword(server, development, 'editor'),
    ]
    const guest = await signInAs(server, development, 'viewer')
    await server.database.db
      .updateTable('user_sessions')
      .set({ is_from_provider: true })
      .where('user_id', '=', guest.id)
      .execute()
    const require = (isRequired: boolean) => admin.put('/v1/auth/organization/second-factor', { isRequired })
    expect(await require(true)).toMatchObject({ status: 409, body: { code: 'no_second_factor' } })
    await addApp(server, admin)
    expect(await require(true)).toMatchObject({ status: 200, body: { isRequired: true } })

    const stopped = { status: 403, body: { code: 'second_factor_required' } }
    expect(await member.get('/v2/subscribers')).toMatchObject(stopped)
    expect(await member.get('/v1/auth/session')).toMatchObject({
      status: 200,
      body: { secondFactor: { isRequired: true, mustSetUp: true }, organization: { requiresSecondFactor: true } },
    })
    const fresh = await signIn(member.email)
    expect(fresh).toMatchObject({ status: 200, body: { secondFactor: { mustSetUp: true } } })
    expect(await goingOn(member, fresh).patch('/v1/auth/me', { name: 'Escaped' })).toMatchObject(stopped)
    expect(await guest.get('/v2/subscribers')).toMatchObject({ status: 200 })
    expect((await admin.get('/v1/auth/members')).body).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ email: admin.email, hasSecondFactor: true }),
        expect.objectContaining({ email: member.email, hasSecondFactor: false }),
      ]),
    )
    await addApp(server, member)
    expect(await member.get('/v2/subscribers')).toMatchObject({ status: 200 })
    expect(await member.delete('/v1/auth/factors/app')).toMatchObject({
      status: 409,
      body: { code: 'last_second_factor' },
    })
    expect((await member.get('/v1/auth/factors')).body.appSince).not.toBeNull()
    await addPasskey(member, { origin })
    expect(await member.delete('/v1/auth/factors/app')).toMatchObject({ status: 204 })
    // API keys are not asked, and neither is another organization.
    expect(await development.get('/v2/subscribers')).toMatchObject({ status: 200 })
    expect(await (await signInAs(server, server.api, 'viewer')).get('/v2/subscribers')).toMatchObject({ status: 200 })
    expect(await require(false)).toMatchObject({ status: 200 })
    const { rows } = await server.database.pool.query(
      "SELECT action FROM audit_log WHERE organization_id = $1 AND action LIKE 'organization.second%' ORDER BY number",
      [development.organizationId],
    )
    expect(rows.map(({ action }) => action)).toEqual([
      'organization.second-factor-required',
      'organization.second-factor-optional',
    ])
  })

  test('by the setting of the service', async () => {
    const strict = await server.startAnother({ requireSecondFactor: true })
    const person = await signInAs(server, server.api, 'viewer')
    expect(await person.at({ url: strict.url }).get('/v2/subscribers')).toMatchObject({
      status: 403,
      body: { code: 'second_factor_required' },
    })
    expect(await person.get('/v2/subscribers')).toMatchObject({ status: 200 })
  })
})

describe('lost factors', () => {
  test('an owner removes them, which ends the sessions of the member; nobody else can', async () => {
    const [owner, admin] = [await signInAs(server, server.api, 'owner'), await signInAs(server, server.api, 'admin')]
    const person = await signInWithPassword(server, server.api, 'editor')
    await addApp(server, person)
    await addPasskey(person, { origin })
    const path = `/v1/auth/members/${person.id}/factors`
    expect(await admin.delete(path)).toMatchObject({ status: 403, body: { code: 'insufficient_role' } })
    expect(await owner.delete(path)).toMatchObject({ status: 204 })
    expect(await person.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect(await signIn(person.email)).toMatchObject({ status: 200 })
    expect(await owner.delete(path)).toMatchObject({ status: 409, body: { code: 'member_without_second_factor' } })
    expect((await actsOf(person)).map(({ action }) => action)).toContain('member.second-factor-reset')
  })

  test('whoever runs the service removes them with a link for a new password', async () => {
    const person = await signInWithPassword(server, server.api, 'owner')
    await addApp(server, person)
    const command = { command: 'npm run sign-in-link', commandForMember: 'npm run sign-in-link -- ada@example.com' }
    const given = { email: person.email, publicUrl: origin, now: now(), ...command }
    const use = async (link: string) =>
      (await post('password-reset', { token: link.split('#')[1], password: 'nanoseconds of wire' })).status
    // A set-up owner is needed for a link of this kind.
    expect(await use(await signInLink(server.database.db, given))).toBe(202)
    expect(await use(await signInLink(server.database.db, { ...given, removesFactors: true }))).toBe(200)
    expect((await actsOf(person)).map(({ action }) => action)).toContain('member.second-factor-reset')
  })
})

describe('asking again', () => {
  test('after 15 minutes, until a password, a code or a passkey proves who it is, in that session only', async () => {
    const person = await signInWithPassword(server, server.api, 'owner')
    const { secret } = await addApp(server, person)
    const { authenticator } = await addPasskey(person, { origin })
    const risky = () => person.get('/v1/environments/api-keys')
    const needed = { status: 403, body: { code: 'proof_needed' } }
    const elsewhere = await another(person)
    expect(await risky()).toMatchObject({ status: 200 })
    const proofs = [
      async () => ({ password }),
      async () => ({ code: codeOf(secret, now()) }),
      async () => {
        const { body: options } = await person.post('/v1/auth/proof/challenge')
        return { passkey: authenticator.get(options, { origin }) }
      },
    ]
    for (const proof of proofs) {
      server.clock.advance({ minutes: 15 })
      expect(await risky()).toMatchObject(needed)
      expect(await person.get('/v2/subscribers')).toMatchObject({ status: 200 })
      for (const wrong of [{}, { password: 'no' }, { code: '000000' }, { passkey: {} }])
        expect(await person.post('/v1/auth/proof', wrong)).toMatchObject({
          status: 400,
          body: { code: 'proof_failed' },
        })
      expect(await risky()).toMatchObject(needed)
      const until = new Date(now().getTime() + 15 * 60_000).toISOString()
      const body = await proof()
      expect(await person.post('/v1/auth/proof', body)).toMatchObject({ status: 200, body: { provedUntil: until } })
      expect(await risky()).toMatchObject({ status: 200 })
      expect((await person.get('/v1/auth/session')).body.session.provedUntil).toBe(until)
      if ('code' in body) expect(await person.post('/v1/auth/proof', body)).toMatchObject({ status: 400 })
    }
    expect(await elsewhere.get('/v1/environments/api-keys')).toMatchObject(needed)
    // A key is never asked.
    expect(await server.api.get('/v1/environments/api-keys')).toMatchObject({ status: 200 })
  })

  test('before a first password, which somebody at an open browser could set', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    server.clock.advance({ minutes: 15 })
    expect(await person.patch('/v1/auth/me', { newPassword: password })).toMatchObject({
      status: 403,
      body: { code: 'proof_needed' },
    })
    expect(await person.patch('/v1/auth/me', { name: 'Grace' })).toMatchObject({ status: 200 })
  })
})

test('sessions of before count from when they began', async () => {
  const person = await signInAs(server, server.api, 'owner')
  const { rows } = await server.database.pool.query('SELECT proved_at FROM user_sessions WHERE user_id = $1', [
    person.id,
  ])
  expect(rows).toEqual([{ proved_at: null }])
  expect(await person.get('/v1/environments/api-keys')).toMatchObject({ status: 200 })
})

test('all other sessions can be ended at once', async () => {
  const person = await signInAs(server, server.api, 'viewer')
  const [one, two] = [await another(person), await another(person)]
  expect(await person.delete('/v1/auth/sessions')).toMatchObject({ status: 200, body: { ended: 2 } })
  for (const gone of [one, two]) expect(await gone.get('/v1/auth/session')).toMatchObject({ status: 401 })
  expect((await person.get('/v1/auth/sessions')).body).toMatchObject([{ isCurrent: true }])
})
