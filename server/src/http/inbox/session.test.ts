import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { insertMessage, insertRun } from '../../../test/activity.ts'
import { InboxClient, identifierOf, openInbox } from '../../../test/inbox.ts'
import { sendAs } from '../../../test/people.ts'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { type Api, secretKey, useServer } from '../../../test/server.ts'
import { Secrets } from '../../db/core/secrets.ts'
import { canonical } from './session.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let applicationIdentifier: string

beforeEach(async () => {
  api = await server.freshApi()
  applicationIdentifier = await identifierOf(server, api)
})

/** As a page does, without a key. */
const begin = (body: object, headers: Record<string, string> = {}) =>
  api.post('/v1/inbox/session', { applicationIdentifier, ...body }, { authorization: '', ...headers })
const subscriber = { subscriberId: 'ada' }
const hashOf = (text: string, key = api.key) => createHmac('sha256', key).update(text).digest('hex')
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
const inAppIntegration = async () =>
  (await api.get('/v1/integrations')).body.find(({ channel }: { channel: string }) => channel === 'in_app')
/** Shown only by the workflow editor, not by the API. */
const isConnected = async () => {
  const { connected } = await server.database.db
    .selectFrom('integrations')
    .select('connected')
    .where('environment_id', '=', api.environmentId)
    .where('channel', '=', 'in_app')
    .executeTakeFirstOrThrow()
  return connected
}
const requireHash = async () => {
  const answer = await api.put(`/v1/integrations/${(await inAppIntegration())._id}`, { credentials: { hmac: true } })
  expect(answer, answer.text).toMatchObject({ status: 200 })
}

describe('a session', () => {
  test('has everything that a client needs at first', async () => {
    const { status, body } = await begin({ subscriber })
    expect(status).toBe(201)
    expect(body).toEqual({
      data: {
        token: expect.any(String),
        totalUnreadCount: 0,
        unreadCount: { total: 0, severity: { high: 0, medium: 0, low: 0, none: 0 } },
        removeNovuBranding: true,
        isDevelopmentMode: false,
        maxSnoozeDurationHours: 2160,
        applicationIdentifier,
        contextKeys: [],
      },
    })
    const now = server.clock.now().getTime() / 1000
    expect(claimsOf(body.data.token)).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      subscriberId: 'ada',
      organizationId: api.organizationId,
      environmentId: api.environmentId,
      contextKeys: [],
      generations: [0, 0],
      iss: 'novu_api',
      aud: 'widget_user',
      iat: now,
      exp: now + 15 * 86_400,
    })
  })

  test('tells the public clients, by their own member name, to hide their branding, whatever the brand', async () => {
    const usual = await server.startAnother({ brand: 'svc' })
    const { status, body } = await sendAs(usual.url, 'POST', '/v1/inbox/session', { applicationIdentifier, subscriber })
    expect([status, body.data]).toMatchObject([201, { removeNovuBranding: true, removeSvcBranding: true }])
    await usual.stop()
  })

  test('says that its environment is Development', async () => {
    const inbox = await openInbox(server, server.api, 'ada')
    expect(inbox.session.isDevelopmentMode).toBe(true)
  })

  test('counts unread notifications of its contexts that are neither snoozed nor archived', async () => {
    const run = await insertRun(server, api, 'ada')
    const messages: Array<Parameters<typeof insertMessage>[2]> = [
      { severity: 'high' },
      { severity: 'high', context_keys: ['tenant:acme'] },
      { severity: 'none' },
      { severity: 'none' },
      { read: true, seen: true },
      { archived: true },
      { snoozed_until: new Date('2027-01-01') },
      { channel: 'email' },
    ]
    for (const fields of messages) await insertMessage(server, run, fields)
    const { body } = await begin({ subscriber })
    expect(body.data.unreadCount).toEqual({ total: 3, severity: { high: 1, medium: 0, low: 0, none: 2 } })
    expect(body.data.totalUnreadCount).toBe(3)
    const ofTenant = await begin({ subscriber, context: { tenant: 'acme' } })
    expect(ofTenant.body.data.unreadCount).toEqual({ total: 1, severity: { high: 1, medium: 0, low: 0, none: 0 } })
    expect(ofTenant.body.data.contextKeys).toEqual(['tenant:acme'])
  })

  test.each([
    ['an object', { subscriber }],
    ['an id', { subscriber: 'ada' }],
    ['what older clients send', { subscriberId: 'ada' }],
    ['both', { subscriber: { subscriberId: '' }, subscriberId: 'ada' }],
  ])('accepts the subscriber as %s', async (_, body) => {
    expect(claimsOf((await begin(body)).body.data.token)).toMatchObject({ subscriberId: 'ada' })
  })

  test('creates the subscriber with the fields of the page, once, even concurrently', async () => {
    const said = {
      ...subscriber,
      firstName: 'Ada',
      email: 'ada@example.com',
      data: { a: 1 },
      timezone: 'Europe/London',
    }
    const answers = await Promise.all(Array.from({ length: 8 }, () => begin({ subscriber: said })))
    expect(new Set(answers.map(({ body }) => claimsOf(body.data.token)._id)).size).toBe(1)
    expect((await api.get('/v2/subscribers/ada')).body).toMatchObject(said)
  })

  test('changes an existing subscriber only with a valid HMAC hash', async () => {
    await api.post('/v2/subscribers', { ...subscriber, firstName: 'Ada' })
    await begin({ subscriber: { ...subscriber, firstName: 'Eve' } })
    await begin({ subscriber: { ...subscriber, firstName: 'Eve' }, subscriberHash: hashOf('eve') })
    expect((await api.get('/v2/subscribers/ada')).body.firstName).toBe('Ada')
    await begin({ subscriber: { ...subscriber, firstName: 'Augusta' }, subscriberHash: hashOf('ada') })
    expect((await api.get('/v2/subscribers/ada')).body.firstName).toBe('Augusta')
  })

  test('ignores an unknown time zone', async () => {
    expect(await begin({ subscriber: { ...subscriber, timezone: 'Etc/Unknown' } })).toMatchObject({ status: 201 })
    expect((await api.get('/v2/subscribers/ada')).body.timezone ?? null).toBeNull()
  })

  test('creates its contexts, named in any order', async () => {
    const { body } = await begin({
      subscriber,
      context: { tenant: 'acme', app: { id: 'jira', data: { plan: 'pro' } } },
    })
    expect(body.data.contextKeys).toEqual(['app:jira', 'tenant:acme'])
    expect((await api.get('/v2/contexts/app/jira')).body).toMatchObject({ data: { plan: 'pro' } })
  })

  test('sets the default schedule if there is none', async () => {
    const schedule = { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } }
    expect((await begin({ subscriber, defaultSchedule: schedule })).body.data.schedule).toEqual(schedule)
    const other = await begin({ subscriber, defaultSchedule: { isEnabled: false } })
    expect(other.body.data.schedule).toEqual(schedule)
    expect((await begin({ subscriber })).body.data.schedule).toEqual(schedule)
    expect((await begin({ subscriber, context: { tenant: 'acme' } })).body.data.schedule).toBeUndefined()
  })

  test.each([
    ['none'],
    [{ isEnabled: true, weeklySchedule: {} }],
    [{ isEnabled: true, weeklySchedule: { noday: {} } }],
  ])('ignores the invalid default schedule %j', async (defaultSchedule) => {
    const { status, body } = await begin({ subscriber, defaultSchedule })
    expect([status, body.data.schedule]).toEqual([201, undefined])
  })

  test('marks the inbox as connected, which removes the issue in the editor', async () => {
    await makeWorkflow(api, 'hello', [inApp()])
    const issues = async () => (await api.get('/v2/workflows/hello')).body.steps[0].issues
    expect([await isConnected(), await issues()]).toMatchObject([
      false,
      { integration: { in_app: [{ issueType: 'INBOX_NOT_CONNECTED' }] } },
    ])
    await begin({ subscriber })
    expect(await isConnected()).toBe(true)
    expect((await issues())?.integration).toBeUndefined()
  })
})

describe('a session is refused', () => {
  test.each([
    [422, 'A valid application identifier is required when providing subscriber information', { subscriber }, ''],
    [400, 'Keyless is not supported in community edition', { subscriber: { subscriberId: '' } }, ''],
    [400, 'Keyless is not supported in community edition', { subscriber }, 'pk_keyless_6af8f620_abcd'],
    [422, 'Subscriber ID is required', { subscriber: { subscriberId: ' ' } }, undefined],
    [422, 'Subscriber ID is required', {}, undefined],
    [400, 'Please provide a valid application identifier', { subscriber }, 'nobody'],
    [422, 'Validation Error', { subscriber: 1 }, undefined],
    [422, 'Validation Error', { subscriber: { ...subscriber, email: 'ada' } }, undefined],
  ])('%i %s', async (statusCode, message, body, identifier) => {
    const given = identifier === undefined ? {} : { applicationIdentifier: identifier }
    expect((await begin({ ...body, ...given })).body).toMatchObject({ statusCode, message })
    expect(await isConnected()).toBe(false)
  })

  test('without an active integration of its channel', async () => {
    const slack = await api.post('/v1/integrations', { providerId: 'slack', channel: 'chat', active: true })
    expect(slack).toMatchObject({ status: 201, body: { active: true } })
    await server.database.db
      .updateTable('integrations')
      .set({ active: false })
      .where('environment_id', '=', api.environmentId)
      .where('channel', '=', 'in_app')
      .execute()
    expect((await begin({ subscriber })).body).toMatchObject({
      statusCode: 404,
      message: 'The active in-app integration could not be found',
    })
  })

  test('with an invalid context', async () => {
    expect(await begin({ subscriber, context: {} })).toMatchObject({ status: expect.toBeOneOf([400, 422]) })
  })
})

describe('if a hash is required', () => {
  beforeEach(requireHash)

  test('only a subscriber signed by the backend gets a session', async () => {
    for (const subscriberHash of [undefined, '', hashOf('bob'), hashOf('ada', 'x'), `${hashOf('ada')}0`])
      expect((await begin({ subscriber, subscriberHash })).body).toMatchObject({
        statusCode: 400,
        message: 'Please provide a valid HMAC hash',
      })
    expect(await begin({ subscriber, subscriberHash: hashOf('ada') })).toMatchObject({ status: 201 })
  })

  test('a context needs a hash too', async () => {
    const context = { tenant: 'acme' }
    const subscriberHash = hashOf('ada')
    for (const contextHash of [undefined, hashOf('{"tenant":"other"}')])
      expect((await begin({ subscriber, subscriberHash, context, contextHash })).body).toMatchObject({
        statusCode: 400,
        message: 'Please provide a valid context HMAC hash',
      })
    const contextHash = hashOf('{"tenant":"acme"}')
    expect(await begin({ subscriber, subscriberHash, context, contextHash })).toMatchObject({ status: 201 })
    const fraction = { tenant: { id: 'acme', data: { n: 1.5 } } }
    expect((await begin({ subscriber, subscriberHash, context: fraction, contextHash })).body).toMatchObject({
      statusCode: 400,
    })
  })

  test('any key of the environment can sign it', async () => {
    const old = hashOf('ada')
    const { body } = await api.post(`/v1/environments/api-keys/regenerate`)
    expect(await begin({ subscriber, subscriberHash: old })).toMatchObject({ status: 400 })
    const key = (body.data ?? body)[0].key
    expect(await begin({ subscriber, subscriberHash: hashOf('ada', key) })).toMatchObject({ status: 201 })
  })
})

test('hashes match those of other implementations', () => {
  const key = 'sk_test_0123456789abcdef'
  const note = 'a"b\\c\nd é'
  const context = { tenant: 'acme', app: { id: 'jira', data: { plan: 'pro', seats: 3, beta: true, note } } }
  expect([
    hashOf('user-1', key),
    hashOf(canonical({ tenant: 'acme' }) ?? '', key),
    hashOf(canonical(context) ?? '', key),
  ]).toEqual([
    '76d925e003e746083184e1f43173bfd94f34a858b1c6e9478127442551819279',
    '3319724a1485569664438a2b504f103bec7977aa24e43384082a7a213b1c8d80',
    '05242b2f70023a90b552a0b67c302f984de366b4b7346de4c61eed88a1075781',
  ])
})

describe('a token', () => {
  const listing = (authorization: string) => api.get('/v1/inbox/notifications', { authorization })
  const secrets = new Secrets(secretKey)

  test('opens the inbox until it expires', async () => {
    const { token } = await openInbox(server, api, 'ada')
    expect(await listing(`Bearer ${token}`)).toMatchObject({ status: 200 })
    server.clock.advance({ days: 15 })
    expect(await listing(`Bearer ${token}`)).toMatchObject({ status: 401 })
  })

  test('is refused if it is not ours, or for another purpose', async () => {
    const { token } = await openInbox(server, api, 'ada')
    const claims = claimsOf(token)
    const [header, payload, signature] = token.split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    for (const given of [
      'x',
      '',
      `${header}.${payload}.`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${token}x`,
      `${token}.x`,
      new Secrets('b2'.repeat(32)).makeToken(claims),
      secrets.makeToken({ ...claims, aud: 'somebody' }),
      secrets.makeToken({ ...claims, iss: 'somebody' }),
      secrets.makeToken({ ...claims, exp: undefined }),
      secrets.makeToken({ ...claims, _id: '65f0c0ffee65f0c0ffee65f0' }),
    ])
      expect([given, await listing(`Bearer ${given}`)]).toMatchObject([given, { status: 401 }])
    expect(await listing('')).toMatchObject({ status: 401 })
    expect(await listing(`ApiKey ${api.key}`)).toMatchObject({ status: 401 })
    expect(await listing(`Bearer ${secrets.makeToken(claims)}`)).toMatchObject({ status: 200 })
  })

  test('is void once its subscriber is deleted, even if the id is used again', async () => {
    const inbox = await openInbox(server, api, 'ada')
    await api.delete('/v2/subscribers/ada')
    expect(await inbox.get('/notifications')).toMatchObject({ status: 401 })
    await api.post('/v2/subscribers', subscriber)
    expect(await inbox.get('/notifications')).toMatchObject({ status: 401 })
  })

  test('opens nothing but the inbox', async () => {
    const { token } = await openInbox(server, api, 'ada')
    expect(await api.get('/v2/subscribers/ada', { authorization: `Bearer ${token}` })).toMatchObject({ status: 401 })
  })

  test('is not logged, although sockets send it in their URL', async () => {
    const { token } = await openInbox(server, api, 'ada')
    await api.get(`/socket.io/?EIO=4&transport=polling&token=${token}`)
    await api.get(`/v1/inbox/notifications/%ff?token=${token}`)
    expect(JSON.stringify(server.logged)).not.toContain(token)
  })

  test('has no idempotency keys: a repeated request is executed twice', async () => {
    const inbox = await openInbox(server, api, 'ada')
    const subscribe = () => inbox.post('/topics/press/subscriptions', { identifier: '' }, { 'idempotency-key': 'k' })
    const [first, second] = [await subscribe(), await subscribe()]
    expect([first.status, second.status, second.headers.get('idempotency-replay')]).toEqual([201, 201, null])
  })

  test('cannot trigger workflows', async () => {
    const inbox = await openInbox(server, api, 'ada')
    expect(await inbox.post('/events', { name: 'hello-world' })).toMatchObject({ status: 403 })
    expect(await new InboxClient(api, { token: '' }).post('/events', {})).toMatchObject({ status: 401 })
  })
})

describe('browsers', () => {
  const preflight = (path: string, headers: Record<string, string> = {}) =>
    api.send('OPTIONS', path, undefined, headers)

  test('may send requests from any page, with the headers of the clients', async () => {
    const { status, headers, text } = await preflight('/v1/inbox/notifications?limit=10', {
      origin: 'https://app.example.com',
      'access-control-request-method': 'GET',
    })
    expect([status, text]).toEqual([204, ''])
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS',
      'access-control-allow-headers':
        'authorization, content-type, novu-api-version, novu-client-version, novu-application-identifier',
      'access-control-max-age': '86400',
    })
    const own = await preflight('/v1/inbox/session', { 'access-control-request-headers': 'authorization,x-own' })
    expect(own.headers.get('access-control-allow-headers')).toBe('authorization,x-own')
  })

  test('may read errors too', async () => {
    for (const path of ['/v1/inbox/notifications', '/v1/inbox/nothing', '/v1/inbox/notifications/%ff'])
      expect((await api.get(path)).headers.get('access-control-allow-origin')).toBe('*')
  })

  test('may not use anything else', async () => {
    for (const path of ['/v2/subscribers', '/v1/inboxes', '/v1/events/trigger']) {
      const answer = await preflight(path)
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([path, 404, null])
    }
  })
})
