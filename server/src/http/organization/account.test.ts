import { describe, expect, test } from 'vitest'
import { cookieIn, newSession, PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer()

const signIn = (email: string, password: string) => sendAs(server.url, 'POST', '/v1/auth/sign-in', { email, password })
const another = async (person: PersonApi) =>
  new PersonApi(person, { ...person, token: await newSession(server, person.id) })

test('shows who is signed in, and the environments to choose from', async () => {
  const person = await signInAs(server, server.api, 'editor')
  expect(await person.get('/v1/auth/session')).toMatchObject({
    status: 200,
    body: {
      user: { _id: person.id, name: 'An editor', email: person.email, role: 'editor', hasPassword: false },
      organization: { _id: server.api.organizationId },
      environments: [{ name: 'Development', color: '#ff8547' }, { name: 'Production' }],
    },
  })
})

describe('changing the own account', () => {
  test('changes the name', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    expect(await person.patch('/v1/auth/me', { name: ' Grace Hopper ' })).toMatchObject({
      status: 200,
      body: { user: { name: 'Grace Hopper' } },
    })
    expect(await person.patch('/v1/auth/me', { name: '' })).toMatchObject({ status: 422 })
    expect(await person.patch('/v1/auth/me', {})).toMatchObject({ status: 200 })
  })

  test('a first password needs no other; a change needs the current one, and ends all other sessions', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    const elsewhere = await another(person)
    const change = (body: object) => person.patch('/v1/auth/me', body)
    const weak = await change({ newPassword: person.email })
    expect(weak).toMatchObject({
      status: 422,
      body: {
        errors: { newPassword: { messages: ['newPassword must not be made of the name or the email address'] } },
      },
    })
    expect(weak.text).not.toContain(person.email)
    expect(await change({ newPassword: 'compilers are fun' })).toMatchObject({
      status: 200,
      body: { user: { hasPassword: true } },
    })
    expect(await elsewhere.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect(await person.get('/v1/auth/session')).toMatchObject({ status: 200 })

    const wrong = { status: 400, body: { code: 'wrong_password' } }
    expect(await change({ newPassword: 'nanoseconds of wire' })).toMatchObject(wrong)
    expect(await change({ newPassword: 'nanoseconds of wire', currentPassword: 'no' })).toMatchObject(wrong)
    const right = { newPassword: 'nanoseconds of wire', currentPassword: 'compilers are fun' }
    expect(await change(right)).toMatchObject({ status: 200 })
    expect(await signIn(person.email, 'compilers are fun')).toMatchObject({ status: 401 })
    expect(await signIn(person.email, 'nanoseconds of wire')).toMatchObject({ status: 200 })
  })

  test('guessing the current password is limited like signing in', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    await person.patch('/v1/auth/me', { newPassword: 'compilers are fun' })
    const guess = () => person.patch('/v1/auth/me', { newPassword: 'nanoseconds of wire', currentPassword: 'no' })
    expect(await guess()).toMatchObject({ status: 400 })
    await server.database.db.updateTable('sign_in_attempts').set({ attempts: 10 }).execute()
    const tries = await Promise.all(Array.from({ length: 30 }, guess))
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([400, 429]))
    expect(await signIn(person.email, 'compilers are fun')).toMatchObject({ status: 200 })
    server.clock.advance({ minutes: 15 })
  })
})

describe('sessions', () => {
  test('are listed, last used first, and can be ended one by one', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    server.clock.advance({ hours: 1 })
    const elsewhere = await another(person)
    await elsewhere.get('/v1/auth/session')
    const { body } = await person.get('/v1/auth/sessions', { 'user-agent': 'Another browser' })
    const lastSeenAt = server.clock.now().toISOString()
    expect(body).toHaveLength(2)
    const mine = body.find((each: { isCurrent: boolean }) => each.isCurrent)
    const other = body.find((each: { isCurrent: boolean }) => !each.isCurrent)
    expect(mine).toMatchObject({ userAgent: 'A browser', address: '192.0.2.1', lastSeenAt })

    expect(await person.delete(`/v1/auth/sessions/${other._id}`)).toMatchObject({ status: 204 })
    expect(await elsewhere.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect(await person.delete(`/v1/auth/sessions/${other._id}`)).toMatchObject({
      status: 404,
      body: { code: 'session_not_found' },
    })
  })

  test('of other people are not found', async () => {
    const [one, two] = [await signInAs(server, server.api, 'owner'), await signInAs(server, server.api, 'viewer')]
    const { body } = await two.get('/v1/auth/sessions')
    expect(await one.delete(`/v1/auth/sessions/${body[0]._id}`)).toMatchObject({ status: 404 })
    expect(await two.get('/v1/auth/session')).toMatchObject({ status: 200 })
  })

  test('can all be ended at once, which deletes the cookie', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    const [elsewhere, bystander] = [await another(person), await signInAs(server, server.api, 'viewer')]
    const answer = await person.post('/v1/auth/sign-out-everywhere')
    expect(answer).toMatchObject({ status: 204 })
    expect(cookieIn(answer).attributes).toContain('Max-Age=0')
    for (const gone of [person, elsewhere]) expect(await gone.get('/v1/auth/session')).toMatchObject({ status: 401 })
    expect(await bystander.get('/v1/auth/session')).toMatchObject({ status: 200 })
  })

  test('are limited to fifty per person: the least recently used one ends', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    await person.patch('/v1/auth/me', { newPassword: 'compilers are fun' })
    for (let n = 0; n < 50; n += 1) {
      server.clock.advance({ seconds: 1 })
      await newSession(server, person.id)
    }
    expect(await signIn(person.email, 'compilers are fun')).toMatchObject({ status: 200 })
    const { rows } = await server.database.pool.query('SELECT FROM user_sessions WHERE user_id = $1', [person.id])
    expect(rows).toHaveLength(50)
  })
})
