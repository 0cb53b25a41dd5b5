// Hole 7 of the review: what an inbox session proves, what it may write, and when it ends.
import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type InboxClient, identifierOf, openInbox, useSockets } from '../../../test/inbox.ts'
import { signInAs } from '../../../test/people.ts'
import { type Api, requireHash, useServer } from '../../../test/server.ts'

const server = useServer({ trustedProxies: ['loopback'] })
const sockets = useSockets()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const hashOf = (text: string, key = api.key) => createHmac('sha256', key).update(text).digest('hex')
const proven = (subscriberId: string, key = api.key) => ({ subscriberHash: hashOf(subscriberId, key) })
const switchOnHash = async (of = api) => {
  const list = (await of.get('/v1/integrations')).body
  const { _id } = list.find(({ channel }: { channel: string }) => channel === 'in_app')
  expect((await of.put(`/v1/integrations/${_id}`, { credentials: { hmac: true } })).status).toBe(200)
}
const access = (of = api) => `/v2/environments/${of.environmentId}/inbox-access`
const isOpen = async (inbox: InboxClient) => (await inbox.get('/notifications')).status
const begin = async (body: object, address = '192.0.2.1', of = api) =>
  of.post(
    '/v1/inbox/session',
    { applicationIdentifier: await identifierOf(server, of), ...body },
    { authorization: '', 'x-forwarded-for': address },
  )

describe('a new environment', () => {
  test('for customers requires a hash from the start; Development does not', async () => {
    const { development, production } = await server.freshOrganization()
    const wide = await server.organizationOf(production)
    const created = await wide.post('/v1/environments', { name: 'Staging', color: '#2e86de' })
    const staging = { ...production, environmentId: created.body._id } as Api
    expect([(await begin({ subscriber: 'ada' }, '192.0.2.1', development)).status]).toEqual([201])
    for (const each of [production, staging])
      expect(
        await production.post('/v1/inbox/session', {
          applicationIdentifier: await identifierOf(server, each),
          subscriber: 'ada',
        }),
      ).toMatchObject({ status: 400, body: { code: 'subscriber_hash_invalid' } })
    const given = { subscriber: 'ada', ...proven('ada', production.key) }
    expect((await begin(given, '192.0.2.1', production)).status).toBe(201)
    expect((await production.get(access(production))).body).toMatchObject({ requiresHash: true })
    expect((await development.get(access(development))).body).toMatchObject({ requiresHash: false })
  })
})

describe('the profile', () => {
  const profile = { firstName: 'Eve', email: 'eve@example.com', phone: '+491701234567', data: { vip: true } }
  const mine = { locale: 'de-DE', timezone: 'Europe/Berlin' }
  const stored = async (id = 'ada') => (await api.get(`/v2/subscribers/${id}`)).body

  test('once a hash is required, a page writes nothing but locale and time zone', async () => {
    await requireHash(server.database.db, api.environmentId, true)
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
    for (const subscriberId of ['ada', 'new']) {
      const subscriber = { subscriberId, ...profile, ...mine }
      expect(await begin({ subscriber, ...proven(subscriberId) })).toMatchObject({ status: 201 })
    }
    expect(await stored()).toMatchObject({ firstName: 'Ada', email: 'ada@example.com', ...mine })
    const added = await stored('new')
    expect(added).toMatchObject(mine)
    expect([added.email, added.phone, added.data, added.firstName].map((value) => value ?? null)).toEqual([
      ...[null, null, null, null],
    ])
  })

  test('the environment chooses the fields', async () => {
    await requireHash(server.database.db, api.environmentId, true)
    const chosen = await api.patch(access(), { profileFields: ['firstName', 'avatar'] })
    expect(chosen.body).toMatchObject({
      profileFields: ['firstName', 'avatar'],
      usual: { profileFields: ['locale', 'timezone'] },
      requiresHash: true,
    })
    const inbox = await openInbox(server, api, 'ada', {
      subscriber: { subscriberId: 'ada', ...profile, ...mine },
      ...proven('ada'),
    })
    expect(await stored()).toMatchObject({ firstName: 'Eve' })
    expect([(await stored()).email ?? null, (await stored()).locale ?? null]).toEqual([null, null])
    expect(await inbox.patch('/subscriber', { timezone: 'Asia/Tokyo' })).toMatchObject({
      status: 403,
      body: { code: 'profile_field_refused' },
    })
    expect(await api.patch(access(), { profileFields: ['password'] })).toMatchObject({ status: 422 })
    expect((await api.patch(access(), { profileFields: null })).body).toMatchObject({ profileFields: null })
  })
})

describe('a session ends', () => {
  test('when a hash becomes required and it had none, at once and in its open socket', async () => {
    const [ada, bob] = [await openInbox(server, api, 'ada'), await openInbox(server, api, 'bob', proven('bob'))]
    const inContext = await openInbox(server, api, 'bob', { ...proven('bob'), context: { tenant: 'acme' } })
    const socket = await sockets.connect(ada)
    const kept = await sockets.connect(bob)
    await switchOnHash()
    expect([await isOpen(ada), await isOpen(bob), await isOpen(inContext)]).toEqual([401, 200, 401])
    await expect.poll(() => socket.socket.connected).toBe(false)
    expect(kept.socket.connected).toBe(true)
  })

  test('when the key that made its hash is replaced', async () => {
    await switchOnHash()
    const ada = await openInbox(server, api, 'ada', proven('ada'))
    const socket = await sockets.connect(ada)
    await api.post('/v1/environments/api-keys/regenerate')
    expect(await isOpen(ada)).toBe(401)
    await expect.poll(() => socket.socket.connected).toBe(false)
  })

  test('with the overlap, when that key is rotated; sessions of the new key stay', async () => {
    await switchOnHash()
    const ada = await openInbox(server, api, 'ada', proven('ada'))
    const { body } = await api.post('/v1/environments/api-keys/rotate', { overlapHours: 1 })
    const bob = await openInbox(server, api, 'bob', proven('bob', body[0].key))
    const late = await openInbox(server, api, 'carl', proven('carl'))
    expect([await isOpen(ada), await isOpen(bob), await isOpen(late)]).toEqual([200, 200, 200])
    server.clock.advance({ hours: 1 })
    expect([await isOpen(ada), await isOpen(bob), await isOpen(late)]).toEqual([401, 200, 401])
  })

  test('when those of its subscriber are ended; others go on, and new ones can begin', async () => {
    const [ada, bob] = [await openInbox(server, api, 'ada'), await openInbox(server, api, 'bob')]
    const other = await openInbox(server, await server.freshApi(), 'ada')
    const [socket, kept] = [await sockets.connect(ada), await sockets.connect(bob)]
    expect((await api.delete('/v2/subscribers/ada/inbox-sessions')).status).toBe(204)
    expect([await isOpen(ada), await isOpen(bob), await isOpen(other)]).toEqual([401, 200, 200])
    await expect.poll(() => socket.socket.connected).toBe(false)
    expect(kept.socket.connected).toBe(true)
    expect(await isOpen(await openInbox(server, api, 'ada'))).toBe(200)
    expect(await api.delete('/v2/subscribers/nobody/inbox-sessions')).toMatchObject({ status: 404 })
  })

  test('when those of its environment are ended', async () => {
    const other = await server.freshApi()
    const [ada, elsewhere] = [await openInbox(server, api, 'ada'), await openInbox(server, other, 'ada')]
    const socket = await sockets.connect(ada)
    expect((await api.delete(`/v2/environments/${api.environmentId}/inbox-sessions`)).status).toBe(204)
    expect([await isOpen(ada), await isOpen(elsewhere)]).toEqual([401, 200])
    await expect.poll(() => socket.socket.connected).toBe(false)
    expect(await api.delete(`/v2/environments/${other.environmentId}/inbox-sessions`)).toMatchObject({ status: 403 })
    expect([await isOpen(elsewhere), await isOpen(await openInbox(server, api, 'ada'))]).toEqual([200, 200])
  })

  test('when those of everybody are ended, by a person', async () => {
    const mine = await server.freshOrganization()
    const theirs = await server.freshOrganization()
    const admin = await signInAs(server, mine.development, 'admin')
    const ada = await openInbox(server, mine.development, 'ada')
    const bob = await openInbox(server, mine.production, 'bob', proven('bob', mine.production.key))
    const stranger = await openInbox(server, theirs.development, 'ada')
    expect(await mine.development.delete('/v1/auth/inbox-sessions')).toMatchObject({ status: 403 })
    expect((await admin.delete('/v1/auth/inbox-sessions')).status).toBe(204)
    expect([await isOpen(ada), await isOpen(bob), await isOpen(stranger)]).toEqual([401, 401, 200])
  })
})

describe('pages without a hash', () => {
  test('store little: 4 KB of profile and context', async () => {
    const large = 'x'.repeat(4_096)
    for (const body of [
      { subscriber: { subscriberId: 'ada', data: { large } } },
      { subscriber: 'ada', context: { tenant: { id: 'acme', data: { large } } } },
    ])
      expect(await begin(body)).toMatchObject({ status: 413, body: { code: 'anonymous_profile_too_large' } })
    expect(await api.get('/v2/subscribers/ada')).toMatchObject({ status: 404 })
    expect(await api.get('/v2/contexts/tenant/acme')).toMatchObject({ status: 404 })
    const data = { large: 'x'.repeat(3_000) }
    expect(await begin({ subscriber: { subscriberId: 'ada', data } })).toMatchObject({ status: 201 })
  })

  test('create a limited number of subscribers and contexts; those who exist get in all the same', async () => {
    await begin({ subscriber: 'known' })
    let [created, refused] = [0, 0]
    for (let round = 0; round < 10; round += 1) {
      const asked = Array.from({ length: 40 }, (_, index) => begin({ subscriber: `flood-${round}-${index}` }))
      for (const { status } of await Promise.all(asked)) {
        if (status === 201) created += 1
        else if (status === 429) refused += 1
      }
    }
    expect([created, refused]).toEqual([199, 201])
    expect(await begin({ subscriber: 'known' })).toMatchObject({ status: 201 })
    expect(await begin({ subscriber: 'known', context: { tenant: 'new' } })).toMatchObject({ status: 429 })
    expect(await begin({ subscriber: 'vouched', ...proven('vouched') })).toMatchObject({ status: 201 })
    expect(await begin({ subscriber: 'elsewhere' }, '198.51.100.7')).toMatchObject({ status: 201 })
    expect(await begin({ subscriber: 'other' }, '192.0.2.1', await server.freshApi())).toMatchObject({ status: 201 })
  })
})
