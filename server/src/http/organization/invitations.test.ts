import { beforeEach, describe, expect, test } from 'vitest'
import { cookieIn, type PersonApi, sendAs, signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ publicUrl: 'https://belfry.example', allowPrivateAddresses: true })
const vendor = useVendor()

let api: Api
let production: Api
let owner: PersonApi
let admin: PersonApi

beforeEach(async () => {
  ;({ development: api, production } = await server.freshOrganization())
  ;[owner, admin] = (await Promise.all([signInAs(server, api, 'owner'), signInAs(server, api, 'admin')])) as [
    PersonApi,
    PersonApi,
  ]
})

let count = 0
function somebody() {
  count += 1
  return `guest-${count}@example.com`
}
const invite = (email: string, role = 'editor', by = admin) => by.post('/v1/auth/invitations', { email, role })
const tokenIn = ({ body }: { body: { link: string } }) => body.link.split('#')[1] ?? ''
const accept = (token: string, more: object = {}) =>
  sendAs(server.url, 'POST', '/v1/auth/invitations/accept', {
    token,
    name: 'Grace Hopper',
    password: 'nanoseconds of wire',
    ...more,
  })

describe('an invitation', () => {
  test('has a link that makes the first person who accepts it a member', async () => {
    const email = somebody()
    const made = await invite(email)
    expect(made).toMatchObject({
      status: 201,
      body: {
        email,
        role: 'editor',
        invitedBy: 'An admin',
        isExpired: false,
        link: expect.stringMatching(/^https:\/\/belfry\.example\/invitation#[\w-]{43}$/),
        mail: { status: 'not_configured', integration: null, reason: null },
      },
    })
    const token = tokenIn(made)
    expect(await sendAs(server.url, 'POST', '/v1/auth/links/look-up', { token })).toMatchObject({
      status: 200,
      body: { kind: 'invitation', email, role: 'editor', name: null, expiresAt: made.body.expiresAt },
    })
    expect(await accept(token, { password: 'password123' })).toMatchObject({ status: 422 })
    const both = await Promise.all([accept(token), accept(token)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, expect.toBeOneOf([404, 409])])
    const joined = both.find(({ status }) => status === 201)
    expect(joined?.body).toMatchObject({ user: { email, role: 'editor', name: 'Grace Hopper', hasPassword: true } })
    const session = { cookie: `__Host-belfry_session=${joined && cookieIn(joined, '__Host-belfry_session').value}` }
    const { body } = await sendAs(server.url, 'GET', '/v1/auth/session', undefined, session)
    expect(body.organization._id).toBe(api.organizationId)
    expect((await admin.get('/v1/auth/invitations')).body).toEqual([])
  })

  test('works for seven days, and is shown as expired for another thirty', async () => {
    const made = await invite(somebody())
    server.clock.advance({ days: 7 })
    admin = await signInAs(server, api, 'admin')
    expect(await accept(tokenIn(made))).toMatchObject({ status: 404, body: { code: 'link_not_found' } })
    expect((await admin.get('/v1/auth/invitations')).body).toMatchObject([{ _id: made.body._id, isExpired: true }])
    server.clock.advance({ days: 30 })
    admin = await signInAs(server, api, 'admin')
    expect((await admin.get('/v1/auth/invitations')).body).toEqual([])
  })

  test('is replaced by the next one for the same address, case-insensitively', async () => {
    const email = somebody()
    const first = await invite(email)
    const second = await invite(email.toUpperCase(), 'viewer')
    expect((await admin.get('/v1/auth/invitations')).body).toMatchObject([{ _id: second.body._id, role: 'viewer' }])
    expect(await accept(tokenIn(first))).toMatchObject({ status: 404 })
    expect(await accept(tokenIn(second))).toMatchObject({ status: 201, body: { user: { role: 'viewer' } } })
  })

  test('can be withdrawn', async () => {
    const made = await invite(somebody())
    const withdraw = (by: PersonApi) => by.delete(`/v1/auth/invitations/${made.body._id}`)
    const stranger = await signInAs(server, (await server.freshOrganization()).development, 'owner')
    expect(await withdraw(stranger)).toMatchObject({ status: 404, body: { code: 'invitation_not_found' } })
    expect(await withdraw(admin)).toMatchObject({ status: 204 })
    expect(await withdraw(admin)).toMatchObject({ status: 404 })
    expect(await accept(tokenIn(made))).toMatchObject({ status: 404 })
  })

  test('is refused for an address with an account, here or in another organization', async () => {
    const taken = { status: 409, body: { code: 'email_taken' } }
    expect(await invite(owner.email)).toMatchObject(taken)
    const stranger = await signInAs(server, (await server.freshOrganization()).development, 'viewer')
    expect(await invite(stranger.email.toUpperCase())).toMatchObject(taken)
    // The address got an account after the invitation.
    const email = somebody()
    const made = await invite(email)
    await server.database.db.updateTable('users').set({ email }).where('id', '=', stranger.id).execute()
    expect(await accept(tokenIn(made))).toMatchObject(taken)
  })

  test('for an owner needs an owner', async () => {
    expect(await invite(somebody(), 'owner')).toMatchObject({ status: 403, body: { code: 'owner_needed' } })
    expect(await invite(somebody(), 'owner', owner)).toMatchObject({ status: 201, body: { role: 'owner' } })
  })

  test('needs an address and a role', async () => {
    expect(await invite('nobody')).toMatchObject({ status: 422 })
    expect(await invite(somebody(), 'king')).toMatchObject({ status: 422 })
    expect(await accept('x', { name: ' ' })).toMatchObject({ status: 422 })
  })

  test('cannot be accepted from a page of another site', async () => {
    const token = tokenIn(await invite(somebody()))
    const body = { token, name: 'Eve', password: 'nanoseconds of wire' }
    const headers = { origin: 'https://evil.example' }
    expect(await sendAs(server.url, 'POST', '/v1/auth/invitations/accept', body, headers)).toMatchObject({
      status: 403,
    })
  })

  test('counts towards the limit of a thousand members and invitations', async () => {
    await server.database.pool.query(
      `INSERT INTO users (id, organization_id, name, email, role, created_at, updated_at)
       SELECT lpad(to_hex(n), 24, '0'), $1, 'Many', 'many-' || n || '@example.com', 'viewer', now(), now()
       FROM generate_series(1, 998) n`,
      [api.organizationId],
    )
    expect(await invite(somebody())).toMatchObject({ status: 409, body: { code: 'too_many_members' } })
    await server.database.pool.query("DELETE FROM users WHERE name = 'Many'")
  })
})

describe('the mail', () => {
  /** A local server that plays the provider. */
  async function integrate(of: Api, more: object = {}) {
    const credentials = { apiKey: 're_secret', from: 'team@acme.example', senderName: 'Acme' }
    const answer = await of.post('/v1/integrations', {
      providerId: 'mailgun',
      channel: 'email',
      name: `Mailgun of ${of === api ? 'Development' : 'Production'}`,
      active: true,
      credentials: { ...credentials, baseUrl: vendor.url, domain: 'acme.example', user: 'api' },
      ...more,
    })
    expect(answer).toMatchObject({ status: 201 })
  }

  test('goes out through an integration of the admin’s environment', async () => {
    await integrate(production)
    await integrate(api)
    vendor.plays(() => ({ body: { id: 'm1' } }))
    await server.database.db
      .updateTable('organizations')
      .set({ name: '<Acme> & Co' })
      .where('id', '=', api.organizationId)
      .execute()
    const email = somebody()
    const made = await invite(email)
    expect(made.body.mail).toEqual({ status: 'sent', integration: 'Mailgun of Development', reason: null })
    const { body = '', url } = vendor.asked[0] ?? {}
    expect([vendor.asked.length, url]).toEqual([1, `${vendor.url}/v3/acme.example/messages`])
    for (const text of [
      email,
      '"Acme" <team@acme.example>',
      'An admin invites you to <Acme> & Co',
      '<p>An admin invites you to &#60;Acme&#62; &#38; Co on Belfry, as an editor.</p>',
      `<a href="${made.body.link}">`,
    ])
      expect(body).toContain(text)
  })

  test('or through one of another environment', async () => {
    await integrate(production)
    vendor.plays(() => ({ body: { id: 'm1' } }))
    expect((await invite(somebody())).body.mail).toMatchObject({ status: 'sent', integration: 'Mailgun of Production' })
  })

  test('that fails is reported without secrets, and the link still works', async () => {
    await integrate(api)
    vendor.plays(() => ({ status: 401, body: { message: 'the key re_secret is wrong' } }))
    const made = await invite(somebody())
    expect(made).toMatchObject({
      status: 201,
      body: { mail: { status: 'failed', integration: 'Mailgun of Development', reason: expect.stringMatching(/401/) } },
    })
    expect(made.text).not.toContain('re_secret')
    expect(await accept(tokenIn(made))).toMatchObject({ status: 201 })
  })

  test('is not sent through inactive integrations, or those with conditions', async () => {
    await integrate(api, { active: false })
    expect((await invite(somebody())).body.mail).toMatchObject({ status: 'not_configured' })
  })
})
