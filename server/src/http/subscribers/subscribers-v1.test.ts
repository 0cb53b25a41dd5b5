import { Kysely, PostgresDialect } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { type Api, secretKey, useServer } from '../../../test/server.ts'
import { newId } from '../../db/core/ids.ts'
import { Secrets } from '../../db/core/secrets.ts'
import type { Tables } from '../../db/core/tables.ts'
import { storeInBulk } from './subscribers-v1.ts'

const server = useServer()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const addFcm = () => addIntegration(server, api, { identifier: 'fcm', provider: 'fcm', channel: 'push' })
const bulk = (...subscribers: unknown[]) => api.post('/v1/subscribers/bulk', { subscribers })
const push = (...deviceTokens: string[]) => [{ providerId: 'fcm', credentials: { deviceTokens } }]
const find = async (subscriberId: string) => (await api.get(`/v2/subscribers/${subscriberId}`)).body
const listed = (...ids: string[]) => ids.map((subscriberId) => ({ subscriberId }))
const manyTokens = (count: number, prefix = 't') => Array.from({ length: count }, (_, n) => `${prefix}${n}`)
const noIntegration = (providerId: string) =>
  `Subscribers environment (${api.environmentId}) do not have active ${providerId} integration.`

describe('creation in bulk', () => {
  test('creates and updates, and lists both in the given order', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'b', firstName: 'Old', lastName: 'Kept', data: { kept: 1 } })
    const before = await find('b')
    server.clock.advance({ minutes: 1 })
    const answer = await bulk(
      { subscriberId: 'z', email: 'z@example.com', data: { a: [1] }, locale: 'en', timezone: 'UTC' },
      { subscriberId: 'b', firstName: 'New', phone: null },
      { subscriberId: ' a ', avatar: '', unknown: 1 },
    )
    expect(answer).toMatchObject({ status: 201 })
    expect(answer.body).toEqual({ created: listed('z', 'a'), updated: listed('b'), failed: [] })
    expect(await find('z')).toMatchObject({ email: 'z@example.com', data: { a: [1] }, locale: 'en', firstName: null })
    expect(await find('a')).toMatchObject({ subscriberId: 'a', avatar: '', data: null })
    expect(await find('b')).toEqual({ ...before, firstName: 'New', updatedAt: server.clock.now().toISOString() })
    const page = await api.get('/v2/subscribers?orderDirection=ASC')
    expect(page.body.data.map((one: { subscriberId: string }) => one.subscriberId)).toEqual(['b', 'z', 'a'])
  })

  test('null clears, absent keeps, in every field', async () => {
    const fields = {
      firstName: 'A',
      lastName: 'B',
      email: 'a@example.com',
      phone: '1',
      avatar: 'x',
      locale: 'en',
      timezone: 'UTC',
      data: { a: 1 },
    }
    await bulk({ subscriberId: 'a', ...fields })
    expect(await find('a')).toMatchObject(fields)
    await bulk({ subscriberId: 'a' })
    expect(await find('a')).toMatchObject(fields)
    const nothing = Object.fromEntries(Object.keys(fields).map((name) => [name, null]))
    await bulk({ subscriberId: 'a', ...nothing })
    expect(await find('a')).toMatchObject(nothing)
  })

  test('the same id twice is created, then updated; later fields win', async () => {
    const answer = await bulk(
      { subscriberId: 'twice', firstName: 'One', lastName: 'Stays', email: 'a@example.com' },
      { subscriberId: 'once' },
      { subscriberId: 'twice', firstName: 'Two', email: null },
      { subscriberId: ' twice' },
    )
    expect(answer.body).toEqual({ created: listed('twice', 'once'), updated: listed('twice', 'twice'), failed: [] })
    expect(await find('twice')).toMatchObject({ firstName: 'Two', lastName: 'Stays', email: null })
  })

  test('channels are added like credentials', async () => {
    const integration = await addFcm()
    const first = await bulk({ subscriberId: 'a', channels: push('x', 'y', 'x') }, { subscriberId: 'b', channels: [] })
    expect(first.body).toEqual({ created: listed('a', 'b'), updated: [], failed: [] })
    await bulk({ subscriberId: 'a', channels: push('y', 'z') }, { subscriberId: 'a', channels: push('w') })
    await bulk({ subscriberId: 'a' })
    expect((await find('a')).channels).toEqual([
      {
        providerId: 'fcm',
        _integrationId: integration,
        integrationIdentifier: 'fcm',
        credentials: { deviceTokens: ['x', 'y', 'z', 'w'] },
      },
    ])
    expect((await find('b')).channels).toEqual([])
  })

  test('an element with invalid channels fails, and nothing of it is stored', async () => {
    await addFcm()
    await bulk({ subscriberId: 'full', firstName: 'Old', channels: push(...manyTokens(99)) })
    const before = await find('full')
    server.clock.advance({ minutes: 1 })
    const { status, body } = await bulk(
      { subscriberId: 'good', channels: push('x') },
      { subscriberId: 'none', channels: [...push('x'), { providerId: 'apns', credentials: {} }] },
      { subscriberId: 'full', firstName: 'New', channels: push('new', 'newer') },
      { subscriberId: 'late', firstName: 'First', channels: [{ providerId: 'apns', credentials: {} }] },
      { subscriberId: 'late', lastName: 'Second', channels: push('x') },
      { subscriberId: 'named', channels: [{ ...push('x')[0], integrationIdentifier: 'other' }] },
    )
    expect(status).toBe(201)
    expect(body).toEqual({
      created: listed('good', 'late'),
      updated: [],
      failed: [
        { subscriberId: 'none', message: noIntegration('apns') },
        { subscriberId: 'full', message: expect.stringMatching(/^Device tokens limit exceeded\. .* 101/) },
        { subscriberId: 'late', message: noIntegration('apns') },
        { subscriberId: 'named', message: noIntegration('fcm') },
      ],
    })
    expect(await find('full')).toEqual(before)
    expect(await find('late')).toMatchObject({ firstName: null, lastName: 'Second', channels: [{ providerId: 'fcm' }] })
    for (const id of ['none', 'named']) expect((await api.get(`/v2/subscribers/${id}`)).status).toBe(404)
  })

  test('of too many tokens in total, the first ones stay', async () => {
    await addFcm()
    const { body } = await bulk(
      { subscriberId: 'a', channels: push(...manyTokens(60, 'x')) },
      { subscriberId: 'a', channels: push(...manyTokens(60, 'y')) },
      { subscriberId: 'a', channels: push(...manyTokens(40, 'z')) },
    )
    expect(body).toMatchObject({ created: listed('a'), updated: listed('a'), failed: listed('a') })
    expect((await find('a')).channels[0].credentials.deviceTokens).toEqual([
      ...manyTokens(60, 'x'),
      ...manyTokens(40, 'z'),
    ])
  })

  test('all can fail', async () => {
    const { status, body } = await bulk(
      { subscriberId: 'a', channels: push('x') },
      { subscriberId: 'b', channels: push() },
    )
    const message = noIntegration('fcm')
    expect(status).toBe(201)
    expect(body).toEqual({ created: [], updated: [], failed: listed('a', 'b').map((one) => ({ ...one, message })) })
    expect((await api.get('/v2/subscribers')).body.totalCount).toBe(0)
  })

  test('500 at once are accepted, up to 10 MB in total', async () => {
    await addFcm()
    const subscribers = Array.from({ length: 500 }, (_, n) => ({
      subscriberId: `s${n}`,
      data: { text: 'x'.repeat(15_000) },
      channels: push(...manyTokens(100, `${n}-`)),
    }))
    const answer = await api.post('/v1/subscribers/bulk', { subscribers })
    expect(answer.status).toBe(201)
    expect(answer.body.created).toEqual(subscribers.map(({ subscriberId }) => ({ subscriberId })))
    expect((await find('s499')).channels[0].credentials.deviceTokens).toHaveLength(100)
    const more = await bulk({ subscriberId: 'big', data: { text: 'x'.repeat(10 * 1024 * 1024) } })
    expect(more).toMatchObject({ status: 413, body: { message: 'Payload Too Large' } })
  })

  test('the number of statements does not grow with the number of subscribers', async () => {
    await addFcm()
    const statements: string[] = []
    const counting = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: server.database.pool }),
      log({ query }) {
        statements.push(/INSERT INTO \w+|UPDATE \w+|SELECT/.exec(query.sql)?.[0] ?? query.sql)
      },
    })
    const elements = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({
        subscriberId: `s${from + n}`,
        firstName: 'x',
        channels: [{ providerId: 'fcm', credentials: { deviceTokens: [`t${n}`] } }],
      }))
    const secrets = new Secrets(secretKey)
    const { created } = await storeInBulk(
      { db: counting, secrets },
      api.environmentId,
      elements(0, 500),
      server.clock.now(),
    )
    expect(created.size).toBe(500)
    expect(statements).toEqual(['begin', 'INSERT INTO subscribers', 'SELECT', 'SELECT', 'UPDATE subscribers', 'commit'])
    statements.length = 0
    const half = await storeInBulk({ db: counting, secrets }, api.environmentId, elements(250, 750), server.clock.now())
    expect(half.created.size).toBe(250)
    expect(statements).toEqual([
      'begin',
      'INSERT INTO subscribers',
      'UPDATE subscribers',
      'SELECT',
      'SELECT',
      'UPDATE subscribers',
      'commit',
    ])
  })

  test('concurrent calls with the same subscribers in any order all succeed and lose nothing', async () => {
    await addFcm()
    const ids = Array.from({ length: 40 }, (_, n) => `s${n}`)
    await bulk(...ids.slice(0, 20).map((subscriberId) => ({ subscriberId })))
    const calls = await Promise.all(
      Array.from({ length: 12 }, (_, call) => {
        const order = call % 2 ? ids.toReversed() : [...ids.slice(call), ...ids.slice(0, call)]
        return bulk(...order.map((subscriberId) => ({ subscriberId, channels: push(`t${call}`) })))
      }),
    )
    expect(calls.map(({ status }) => status)).toEqual(Array(12).fill(201))
    expect(calls.flatMap(({ body }) => body.created)).toHaveLength(20)
    expect(calls.flatMap(({ body }) => body.failed)).toEqual([])
    const { body } = await api.get('/v2/subscribers?limit=100')
    expect(body.totalCount).toBe(40)
    for (const { channels } of body.data)
      expect(channels[0].credentials.deviceTokens.sort()).toEqual(manyTokens(12).sort())
  })

  test('more than 500 are refused', async () => {
    const subscribers = Array.from({ length: 501 }, (_, n) => ({ subscriberId: `s${n}` }))
    const answer = await api.post('/v1/subscribers/bulk', { subscribers })
    const message = 'subscribers must contain no more than 500 elements'
    expect(answer).toMatchObject({
      status: 422,
      body: {
        message: `Validation failed for BulkCreateSubscribersCommand: subscribers: ${message}`,
        errors: { subscribers: { messages: [message] } },
      },
    })
    expect(answer.body.errors.subscribers.value).toHaveLength(501)
  })

  test.each([
    [{}, 'subscribers should not be null or undefined'],
    [{ subscribers: [] }, 'subscribers should not be empty'],
    [{ subscribers: 'x' }, 'subscribers must be an array'],
    [{ subscribers: ['x'] }, 'each value in subscribers must be an object'],
    [{ subscribers: [{}] }, 'subscribers.0.subscriberId should not be empty'],
    [{ subscribers: [{ subscriberId: ' ' }] }, 'subscribers.0.subscriberId should not be empty'],
    [{ subscribers: [{ subscriberId: 'x', email: '' }] }, 'subscribers.0.email must be an email'],
    [{ subscribers: [{ subscriberId: 'x', locale: '' }] }, 'subscribers.0.locale must be locale'],
    [{ subscribers: [{ subscriberId: 'x', timezone: 'x' }] }, 'subscribers.0.timezone must be a valid IANA time-zone'],
    [{ subscribers: [{ subscriberId: 'x', data: [] }] }, 'subscribers.0.data must be an object'],
    [
      { subscribers: [{ subscriberId: 'x', channels: [{ providerId: 'x', credentials: {} }] }] },
      'subscribers.0.channels.0.providerId must be a valid provider ID',
    ],
    [
      { subscribers: [{ subscriberId: 'x', channels: [{ providerId: 'fcm' }] }] },
      'subscribers.0.channels.0.credentials should not be null or undefined',
    ],
    [
      { subscribers: [{ subscriberId: 'x', channels: Array(101).fill(push('x')[0]) }] },
      'subscribers.0.channels must contain no more than 100 elements',
    ],
  ])('refused: $1', async (body, message) => {
    const answer = await api.post('/v1/subscribers/bulk', body)
    expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test('one malformed element refuses the whole request', async () => {
    const answer = await bulk({ subscriberId: 'good' }, { subscriberId: 'bad', email: 'no' })
    expect(answer.body.errors.general.messages).toEqual(['subscribers.1.email must be an email'])
    expect((await api.get('/v2/subscribers/good')).status).toBe(404)
  })

  test("another environment's subscriber with the same id is not affected", async () => {
    const other = await server.freshApi()
    await other.post('/v2/subscribers', { subscriberId: 'a', firstName: 'Theirs' })
    expect((await bulk({ subscriberId: 'a', firstName: 'Mine' })).body.created).toEqual(listed('a'))
    expect((await bulk({ subscriberId: 'a', firstName: 'Still mine' })).body.updated).toEqual(listed('a'))
    expect((await other.get('/v2/subscribers/a')).body.firstName).toBe('Theirs')
  })
})

describe('presence', () => {
  test('going offline stores the time, and coming online keeps it', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'a', firstName: 'A' })
    const online = await api.patch('/v1/subscribers/a/online-status', { isOnline: true })
    expect(online).toMatchObject({ status: 200, body: { firstName: 'A', isOnline: true, lastOnlineAt: null } })
    server.clock.advance({ minutes: 5 })
    const left = server.clock.now().toISOString()
    const offline = await api.patch('/v1/subscribers/a/online-status', { isOnline: false })
    expect(offline.body).toMatchObject({ isOnline: false, lastOnlineAt: left, updatedAt: left })
    server.clock.advance({ minutes: 5 })
    const back = await api.patch('/v1/subscribers/a/online-status', { isOnline: true })
    expect(back.body).toMatchObject({ isOnline: true, lastOnlineAt: left })
    expect(await find('a')).toEqual(back.body)
  })

  test.each([
    [{}, 'isOnline should not be null or undefined'],
    [{ isOnline: 'true' }, 'isOnline must be a boolean value'],
    [{ isOnline: null }, 'isOnline must be a boolean value'],
  ])('%j is refused', async (body, message) => {
    await api.post('/v2/subscribers', { subscriberId: 'a' })
    const answer = await api.patch('/v1/subscribers/a/online-status', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test('needs a subscriber of this environment', async () => {
    const other = await server.freshApi()
    await other.post('/v2/subscribers', { subscriberId: 'a' })
    expect(await api.patch('/v1/subscribers/a/online-status', { isOnline: true })).toMatchObject({
      status: 404,
      body: { message: 'Subscriber not found' },
    })
    expect((await other.get('/v2/subscribers/a')).body.isOnline).toBe(false)
  })
})

describe('operations that v2 replaced', () => {
  test('the list is paged by number, newest first', async () => {
    for (const subscriberId of 'abcd') await api.post('/v2/subscribers', { subscriberId })
    const page = async (query: string) => {
      const { status, body } = await api.get(`/v1/subscribers?${query}`)
      const { data, ...rest } = body
      return { status, ids: data.map((one: { subscriberId: string }) => one.subscriberId).join(''), ...rest }
    }
    expect(await page('')).toEqual({ status: 200, ids: 'dcba', page: 0, pageSize: 10, hasMore: false })
    expect(await page('limit=3')).toEqual({ status: 200, ids: 'dcb', page: 0, pageSize: 3, hasMore: true })
    expect(await page('limit=3&page=1')).toEqual({ status: 200, ids: 'a', page: 1, pageSize: 3, hasMore: false })
    expect(await page('page=10000000&limit=100')).toMatchObject({ ids: '', hasMore: false })
    expect((await api.get('/v1/subscribers')).body.data[0]).toEqual(await find('d'))
  })

  test.each([
    ['limit=101', 'limit must not be greater than 100'],
    ['limit=-1', 'limit must not be less than 1'],
    ['page=-1', 'page must not be less than 0'],
    ['page=x', 'page must be a number conforming to the specified constraints'],
  ])('a list with %s is refused', async (query, message) => {
    const answer = await api.get(`/v1/subscribers?${query}`)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test('one subscriber is found, with the keys of its topics if asked for', async () => {
    const { _id } = (await api.post('/v2/subscribers', { subscriberId: 'a' })).body
    await subscribe(_id, ['news', 'alerts', 'news'])
    expect((await api.get('/v1/subscribers/a')).body).toEqual(await find('a'))
    expect((await api.get('/v1/subscribers/a?includeTopics=false')).body).not.toHaveProperty('topics')
    expect(await api.get('/v1/subscribers/a?includeTopics=true')).toMatchObject({
      status: 200,
      body: { subscriberId: 'a', topics: ['alerts', 'news'] },
    })
    await api.post('/v2/subscribers', { subscriberId: 'b' })
    expect((await api.get('/v1/subscribers/b?includeTopics=true')).body.topics).toEqual([])
  })

  test('one is created or updated, with channels', async () => {
    await addFcm()
    const created = await api.post('/v1/subscribers', { subscriberId: ' a ', firstName: 'A', channels: push('x') })
    expect(created).toMatchObject({
      status: 201,
      body: {
        subscriberId: 'a',
        firstName: 'A',
        channels: [{ providerId: 'fcm', credentials: { deviceTokens: ['x'] } }],
      },
    })
    const updated = await api.post('/v1/subscribers', { subscriberId: 'a', lastName: 'B', channels: push('y') })
    expect(updated).toMatchObject({ status: 201, body: { firstName: 'A', lastName: 'B' } })
    expect(updated.body.channels[0].credentials.deviceTokens).toEqual(['x', 'y'])
    expect(await find('a')).toEqual(updated.body)
    expect((await api.post('/v1/subscribers', {})).body.errors.general.messages).toEqual(['SubscriberId is required'])
  })

  test('one is updated, with channels', async () => {
    await addFcm()
    await api.post('/v2/subscribers', { subscriberId: 'a', firstName: 'A', data: { a: 1 } })
    const updated = await api.put('/v1/subscribers/a', { firstName: null, lastName: 'B', channels: push('x') })
    expect(updated).toMatchObject({ status: 200, body: { firstName: null, lastName: 'B', data: { a: 1 } } })
    expect(updated.body.channels[0].credentials.deviceTokens).toEqual(['x'])
    server.clock.advance({ minutes: 1 })
    expect(await api.put('/v1/subscribers/a', {})).toMatchObject({ status: 200, body: updated.body })
    expect((await api.put('/v1/subscribers/a', { email: '' })).status).toBe(422)
    expect(await find('a')).toEqual(updated.body)
  })

  test('invalid channels are refused, and nothing is stored', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'a', firstName: 'A' })
    const before = await find('a')
    for (const answer of [
      await api.put('/v1/subscribers/a', { firstName: 'B', channels: push('x') }),
      await api.post('/v1/subscribers', { subscriberId: 'a', firstName: 'B', channels: push('x') }),
      await api.post('/v1/subscribers', { subscriberId: 'b', channels: push('x') }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { message: noIntegration('fcm') } })
    expect(await find('a')).toEqual(before)
    expect((await api.get('/v1/subscribers/b')).status).toBe(404)
  })

  test('one is deleted with its subscriptions', async () => {
    const { _id } = (await api.post('/v2/subscribers', { subscriberId: 'a' })).body
    await subscribe(_id, ['news'])
    expect(await api.delete('/v1/subscribers/a')).toMatchObject({
      status: 200,
      body: { acknowledged: true, status: 'deleted' },
    })
    expect((await api.get('/v1/subscribers/a')).status).toBe(404)
    const left = await server.database.db
      .selectFrom('topic_subscriptions')
      .select('id')
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(left).toEqual([])
  })

  test('an unknown subscriber, or one of another environment, cannot be read, changed or deleted', async () => {
    const other = await server.freshApi()
    const theirs = (await other.post('/v2/subscribers', { subscriberId: 'theirs' })).body
    for (const id of ['theirs', 'nobody']) {
      const [read, changed, emptily, deleted] = [
        await api.get(`/v1/subscribers/${id}`),
        await api.put(`/v1/subscribers/${id}`, { firstName: 'x' }),
        await api.put(`/v1/subscribers/${id}`, {}),
        await api.delete(`/v1/subscribers/${id}`),
      ]
      expect(read).toMatchObject({ status: 404, body: { message: `Subscriber '${id}' was not found` } })
      for (const answer of [changed, emptily])
        expect(answer).toMatchObject({ status: 400, body: { message: `SubscriberId: ${id} not found` } })
      expect(deleted).toMatchObject({
        status: 404,
        body: { message: 'Subscriber was not found', ctx: { externalSubscriberId: id } },
      })
    }
    expect((await api.get('/v1/subscribers')).body.data).toEqual([])
    expect((await other.get('/v2/subscribers/theirs')).body).toEqual(theirs)
  })
})

/** One subscription per key; the same key twice subscribes to the topic twice. */
async function subscribe(rowId: string, keys: string[]): Promise<void> {
  const now = server.clock.now()
  const row = () => ({ environment_id: api.environmentId, id: newId(now), created_at: now, updated_at: now })
  const { db } = server.database
  const topics = [...new Set(keys)].map((key) => ({ ...row(), key, name: null }))
  await db.insertInto('topics').values(topics).execute()
  const subscriptions = keys.map((key, n) => ({
    ...row(),
    topic_id: topics.find((topic) => topic.key === key)?.id ?? '',
    subscriber_row_id: rowId,
    identifier: `${key}-${n}`,
    name: null,
  }))
  await db.insertInto('topic_subscriptions').values(subscriptions).execute()
}
