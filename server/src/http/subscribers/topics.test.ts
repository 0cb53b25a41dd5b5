import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'

const server = useServer()

describe('creating', () => {
  test('a topic is created once; again, it is renamed', async () => {
    const api = await server.freshApi()
    const created = await api.post('/v2/topics', { key: 'orders:1', name: 'Order 1', extra: 'dropped' })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      key: 'orders:1',
      name: 'Order 1',
      joinableFromBrowser: false,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    server.clock.advance({ minutes: 1 })
    const renamed = await api.post('/v2/topics', { key: 'orders:1', name: 'First order' })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toEqual({
      ...created.body,
      name: 'First order',
      updatedAt: server.clock.now().toISOString(),
    })
    server.clock.advance({ minutes: 1 })
    for (const body of [{ key: 'orders:1' }, { key: 'orders:1', name: '' }, { key: 'orders:1', name: 'First order' }])
      expect(await api.post('/v2/topics', body)).toMatchObject({ status: 200, body: renamed.body })
  })

  test('a topic needs no name', async () => {
    const api = await server.freshApi()
    expect((await api.post('/v2/topics', { key: 'quiet' })).body).not.toHaveProperty('name')
    expect((await api.post('/v2/topics', { key: 'empty', name: '' })).body).not.toHaveProperty('name')
  })

  test('with failIfExists an existing topic is a conflict that carries the topic', async () => {
    const api = await server.freshApi()
    const created = await api.post('/v2/topics?failIfExists=true', { key: 'once', name: 'Once' })
    expect(created.status).toBe(201)
    const again = await api.post('/v2/topics?failIfExists=true', { key: 'once', name: 'Twice' })
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      ...created.body,
      statusCode: 409,
      error: 'Conflict',
      message: 'Topic with key "once" already exists',
      path: '/v2/topics?failIfExists=true',
      ctx: created.body,
    })
    expect((await api.get('/v2/topics/once')).body).toEqual(created.body)
  })

  test.each([false, true])('concurrent creations of one key make one topic (failIfExists=%s)', async (fails) => {
    const api = await server.freshApi()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post(`/v2/topics?failIfExists=${fails}`, { key: 'rush' })),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === (fails ? 409 : 200))).toHaveLength(19)
    expect(new Set(answers.map((answer) => answer.body._id)).size).toBe(1)
    expect((await api.get('/v2/topics')).body.totalCount).toBe(1)
  })

  test.each(['a', 'A-z_0:9.x', 'ada@example.com', 'x'.repeat(100)])('%s is a valid key', async (key) => {
    const api = await server.freshApi()
    expect((await api.post('/v2/topics', { key })).status).toBe(201)
    expect((await api.get(`/v2/topics/${encodeURIComponent(key)}`)).body.key).toBe(key)
  })

  test.each(['two words', 'sl/ash', 'ä', 'ada@example'])('%s is not a valid key', async (key) => {
    for (const query of ['', '?failIfExists=true'])
      expect(await server.api.post(`/v2/topics${query}`, { key })).toMatchObject({
        status: 400,
        body: {
          message: `Invalid topic key: "${key}". Topic keys must contain only alphanumeric characters (a-z, A-Z, 0-9), hyphens (-), underscores (_), colons (:), or be a valid email address.`,
        },
      })
  })

  test.each([
    [{}, 'key should not be empty'],
    [{ key: '' }, 'key should not be empty'],
    [{ key: 7 }, 'key must be a string'],
    [{ key: 'x'.repeat(101) }, 'key must be shorter than or equal to 100 characters'],
    [{ key: 'a', name: 'x'.repeat(101) }, 'name must be shorter than or equal to 100 characters'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.api.post('/v2/topics', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })
})

describe('reading and changing', () => {
  test('a topic is found, renamed and deleted', async () => {
    const api = await server.freshApi()
    const created = await api.post('/v2/topics', { key: 'news' })
    expect(await api.get('/v2/topics/news')).toMatchObject({ status: 200, body: created.body })
    server.clock.advance({ minutes: 1 })
    const renamed = await api.patch('/v2/topics/news', { name: 'News' })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toEqual({ ...created.body, name: 'News', updatedAt: server.clock.now().toISOString() })
    expect(await api.delete('/v2/topics/news')).toMatchObject({ status: 200, body: { acknowledged: true } })
    expect((await api.get('/v2/topics/news')).status).toBe(404)
  })

  test('an unknown topic, or one of another environment, cannot be read, renamed or deleted', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    await other.post('/v2/topics', { key: 'theirs', name: 'Theirs' })
    const notFound = { status: 404, body: { message: 'Topic with key theirs not found', error: 'Not Found' } }
    expect(await mine.get('/v2/topics/theirs')).toMatchObject(notFound)
    expect(await mine.patch('/v2/topics/theirs', { name: 'Mine' })).toMatchObject(notFound)
    expect(await mine.delete('/v2/topics/theirs')).toMatchObject(notFound)
    expect((await other.get('/v2/topics/theirs')).body.name).toBe('Theirs')
  })

  test.each([
    [{}, 'name should not be empty'],
    [{ name: '' }, 'name should not be empty'],
    [{ name: 'x'.repeat(101) }, 'name must be shorter than or equal to 100 characters'],
  ])('%j is not a valid new name', async (body, message) => {
    const answer = await server.api.patch('/v2/topics/any', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('deleting a topic deletes its subscriptions and their preferences, and nothing else', async () => {
    const api = await server.freshApi()
    const { db } = server.database
    const now = server.clock.now()
    await db
      .insertInto('workflows')
      .values({
        environment_id: api.environmentId,
        id: 'a'.repeat(24),
        identifier: 'w',
        name: 'W',
        created_at: now,
        updated_at: now,
      })
      .execute()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    for (const key of ['gone', 'kept'])
      await api.post(`/v2/topics/${key}/subscriptions`, { subscriptions: ['ada'], preferences: ['w'] })
    await api.delete('/v2/topics/gone')
    const left = await api.get('/v2/subscribers/ada/subscriptions')
    expect(left.body.data.map((item: any) => item.topic.key)).toEqual(['kept'])
    const preferences = await db
      .selectFrom('subscription_preferences')
      .selectAll()
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(preferences.map((row) => row.subscription_id)).toEqual([left.body.data[0]._id])
  })
})

describe('the list', () => {
  test('filters by any part of key and name, without wildcards', async () => {
    const api = await server.freshApi()
    await api.post('/v2/topics', { key: 'order:1', name: 'Big 100%' })
    await api.post('/v2/topics', { key: 'order:2', name: 'Small' })
    await api.post('/v2/topics', { key: 'news' })
    const keys = async (query: string) =>
      (await api.get(`/v2/topics?${query}`)).body.data.map((topic: { key: string }) => topic.key)
    expect(await keys('')).toEqual(['news', 'order:2', 'order:1'])
    expect(await keys('orderDirection=ASC')).toEqual(['order:1', 'order:2', 'news'])
    expect(await keys('key=ORDER')).toEqual(['order:2', 'order:1'])
    expect(await keys('name=big')).toEqual(['order:1'])
    expect(await keys('key=order&name=SMALL')).toEqual(['order:2'])
    expect(await keys('name=%25')).toEqual(['order:1'])
    expect(await keys('key=_')).toEqual([])
  })

  test('sorts by id, creation or change; other fields mean the default', async () => {
    const api = await server.freshApi()
    for (const key of ['a', 'b', 'c']) {
      server.clock.advance({ minutes: 1 })
      await api.post('/v2/topics', { key })
    }
    server.clock.advance({ minutes: 1 })
    await api.patch('/v2/topics/a', { name: 'A' })
    const keys = async (query: string) =>
      (await api.get(`/v2/topics?${query}`)).body.data.map((topic: { key: string }) => topic.key)
    expect(await keys('orderBy=updatedAt')).toEqual(['a', 'c', 'b'])
    expect(await keys('orderBy=createdAt&orderDirection=ASC')).toEqual(['a', 'b', 'c'])
    expect(await keys('orderBy=colour')).toEqual(['c', 'b', 'a'])
    expect(await keys('orderBy=_id')).toEqual(['c', 'b', 'a'])
  })

  test('is paged forward and back by cursor', async () => {
    const api = await server.freshApi()
    for (const key of ['a', 'b', 'c', 'd', 'e']) await api.post('/v2/topics', { key })
    const first = (await api.get('/v2/topics?limit=2&orderDirection=ASC')).body
    expect(first).toMatchObject({
      data: [{ key: 'a' }, { key: 'b' }],
      previous: null,
      totalCount: 5,
      totalCountCapped: false,
    })
    const second = (await api.get(`/v2/topics?limit=2&orderDirection=ASC&after=${first.next}`)).body
    expect(second).toMatchObject({ data: [{ key: 'c' }, { key: 'd' }] })
    const back = (await api.get(`/v2/topics?limit=2&orderDirection=ASC&before=${second.previous}`)).body
    expect(back).toEqual(first)
  })

  test('refuses a limit out of range and two cursors', async () => {
    const over = await server.api.get('/v2/topics?limit=101')
    expect(over.status).toBe(422)
    expect(over.body.errors.general.messages).toEqual(['limit must not be greater than 100'])
    expect((await server.api.get('/v2/topics?limit=-1')).body.errors).toHaveProperty('limit')
    expect(await server.api.get('/v2/topics?after=a&before=b')).toMatchObject({
      status: 400,
      body: { message: 'Cannot specify both "before" and "after" cursors at the same time.' },
    })
  })
})
