import { describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

async function apiWith(...subscriberIds: string[]): Promise<Api> {
  const api = await server.freshApi()
  for (const subscriberId of subscriberIds) await api.post('/v2/subscribers', { subscriberId })
  return api
}

describe('membership', () => {
  test('confirms that a subscriber is in a topic', async () => {
    const api = await apiWith('ada')
    const made = await api.post('/v2/topics/news/subscriptions', {
      subscriptions: ['ada', { subscriberId: 'ada', identifier: 'another' }],
    })
    const { topic, subscriber } = made.body.data[0]
    const answer = await api.get('/v1/topics/news/subscribers/ada')
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      _organizationId: api.organizationId,
      _environmentId: api.environmentId,
      _subscriberId: subscriber._id,
      _topicId: topic._id,
      topicKey: 'news',
      externalSubscriberId: 'ada',
    })
  })

  test('is not found for another subscriber, topic or environment', async () => {
    const [api, other] = [await apiWith('ada', 'bob'), await apiWith('ada')]
    await api.post('/v2/topics/news/subscriptions', { subscriptions: ['ada'] })
    await api.post('/v2/topics', { key: 'empty' })
    for (const [caller, topic, subscriber] of [
      [api, 'empty', 'ada'],
      [api, 'news', 'bob'],
      [api, 'news', 'ghost'],
      [api, 'nowhere', 'ada'],
      [other, 'news', 'ada'],
    ] as const)
      expect(await caller.get(`/v1/topics/${topic}/subscribers/${subscriber}`)).toMatchObject({
        status: 404,
        body: {
          message: `Subscriber ${subscriber} not found for topic ${topic} in the environment ${caller.environmentId}`,
        },
      })
  })
})

describe('topics', () => {
  test('a topic is created once, read, renamed and deleted', async () => {
    const api = await apiWith()
    const created = await api.post('/v1/topics', { key: 'news', name: 'News' })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({ _id: expect.stringMatching(/^[0-9a-f]{24}$/), key: 'news' })
    expect(await api.post('/v1/topics', { key: 'news', name: 'Again' })).toMatchObject({
      status: 409,
      body: { message: 'Topic with key "news" already exists' },
    })
    const now = server.clock.now().toISOString()
    const topic = {
      _id: created.body._id,
      _organizationId: api.organizationId,
      _environmentId: api.environmentId,
      key: 'news',
      name: 'News',
      subscribers: [],
      createdAt: now,
      updatedAt: now,
    }
    const read = await api.get('/v1/topics/news')
    expect(read.status).toBe(200)
    expect(read.body).toEqual(topic)
    server.clock.advance({ minutes: 1 })
    const renamed = await api.patch('/v1/topics/news', { name: 'Old news' })
    expect(renamed.status).toBe(200)
    expect(renamed.body).toEqual({ ...topic, name: 'Old news', updatedAt: server.clock.now().toISOString() })
    expect(await api.delete('/v1/topics/news')).toMatchObject({ status: 204, text: '' })
    expect((await api.get('/v1/topics/news')).status).toBe(404)
  })

  test('a topic with subscribers is not deleted', async () => {
    const api = await apiWith('bob', 'ada')
    await api.post('/v1/topics/news/subscribers', { subscribers: ['bob', 'ada'] })
    expect(await api.delete('/v1/topics/news')).toMatchObject({
      status: 409,
      body: { message: 'Topic with key news has subscribers; remove them before deleting it' },
    })
    expect((await api.get('/v1/topics/news')).body.subscribers).toEqual(['ada', 'bob'])
    await api.post('/v2/topics', { key: 'empty' })
    expect((await api.delete('/v1/topics/empty')).status).toBe(204)
    await api.post('/v1/topics/news/subscribers/removal', { subscribers: ['ada', 'bob'] })
    expect((await api.delete('/v1/topics/news')).status).toBe(204)
  })

  test('of concurrent deletion and subscription one wins', async () => {
    const api = await apiWith('ada')
    for (let round = 0; round < 10; round += 1) {
      await api.post('/v2/topics', { key: 'news' })
      const [deleted, added] = await Promise.all([
        api.delete('/v1/topics/news'),
        api.post('/v1/topics/news/subscribers', { subscribers: ['ada'] }),
      ])
      expect([204, 409]).toContain(deleted.status)
      expect(added).toMatchObject({ status: 200, body: { succeeded: ['ada'] } })
      expect((await api.get('/v1/topics/news')).body.subscribers).toEqual(['ada'])
      await api.delete('/v2/topics/news')
    }
  })

  test('an unknown topic, or one of another environment, is not found', async () => {
    const [mine, other] = [await apiWith(), await apiWith()]
    await other.post('/v1/topics', { key: 'theirs', name: 'Theirs' })
    for (const answer of [
      await mine.get('/v1/topics/theirs'),
      await mine.patch('/v1/topics/theirs', { name: 'Mine' }),
      await mine.delete('/v1/topics/theirs'),
      await mine.post('/v1/topics/theirs/subscribers/removal', { subscribers: ['ada'] }),
    ])
      expect(answer).toMatchObject({ status: 404, body: { message: 'Topic with key theirs not found' } })
    expect((await other.get('/v1/topics/theirs')).body.name).toBe('Theirs')
  })

  test('the list is numbered, ten at a time, newest first', async () => {
    const api = await apiWith('ada')
    for (let index = 0; index < 12; index += 1) {
      server.clock.advance({ seconds: 1 })
      await api.post('/v1/topics', { key: `t${index}`, name: 'T' })
    }
    await api.post('/v1/topics/t11/subscribers', { subscribers: ['ada'] })
    const keys = (answer: { body: any }) => answer.body.data.map((topic: { key: string }) => topic.key)
    const first = await api.get('/v1/topics')
    expect(first.body).toMatchObject({ page: 0, pageSize: 10, hasMore: true, totalCount: 12 })
    expect(keys(first)).toEqual(['t11', 't10', 't9', 't8', 't7', 't6', 't5', 't4', 't3', 't2'])
    expect(first.body.data[0].subscribers).toEqual(['ada'])
    const second = await api.get('/v1/topics?page=1')
    expect(second.body).toMatchObject({ page: 1, hasMore: false })
    expect(keys(second)).toEqual(['t1', 't0'])
    expect(keys(await api.get('/v1/topics?page=2&pageSize=4'))).toEqual(['t3', 't2', 't1', 't0'])
    expect((await api.get('/v1/topics?page=2&pageSize=4')).body.hasMore).toBe(false)
    const one = await api.get('/v1/topics?key=t1')
    expect(keys(one)).toEqual(['t1'])
    expect(one.body.totalCount).toBe(1)
  })

  test.each([
    ['POST', '/v1/topics', { name: 'No key' }, 'key should not be empty'],
    ['POST', '/v1/topics', { key: 'a' }, 'name should not be empty'],
    ['PATCH', '/v1/topics/a', {}, 'name should not be empty'],
    ['GET', '/v1/topics?pageSize=11', undefined, 'pageSize must not be greater than 10'],
    ['GET', '/v1/topics?pageSize=-1', undefined, 'pageSize must not be less than 1'],
    ['GET', '/v1/topics?page=-1', undefined, 'page must not be less than 0'],
    ['GET', '/v1/topics?page=1000001', undefined, 'page must not be greater than 1000000'],
    ['POST', '/v1/topics/a/subscribers', {}, 'subscribers should not be null or undefined'],
    ['POST', '/v1/topics/a/subscribers', { subscribers: [] }, 'subscribers should not be empty'],
    ['POST', '/v1/topics/a/subscribers', { subscribers: [''] }, 'each value in subscribers should not be empty'],
    ['POST', '/v1/topics/a/subscribers/removal', { subscribers: 'ada' }, 'subscribers must be an array'],
  ])('refused: %s %s %j', async (method, path, body, message) => {
    const answer = await server.api.send(method, path, body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test('an invalid key is refused', async () => {
    expect((await server.api.post('/v1/topics', { key: 'two words', name: 'T' })).status).toBe(400)
    expect((await server.api.post('/v1/topics/two%20words/subscribers', { subscribers: ['ada'] })).status).toBe(400)
  })
})

describe('subscribers of a topic', () => {
  test('are added once each to a topic, which is created if missing; unknown ones are listed', async () => {
    const api = await apiWith('ada', 'bob')
    const all = await api.post('/v1/topics/news/subscribers', { subscribers: ['bob', 'ada', 'bob'] })
    expect(all.status).toBe(200)
    expect(all.body).toEqual({ succeeded: ['bob', 'ada'] })
    const some = await api.post('/v1/topics/news/subscribers', { subscribers: ['ada', 'ghost'] })
    expect(some.body).toEqual({ succeeded: ['ada'], failed: { notFound: ['ghost'] } })
    const none = await api.post('/v1/topics/news/subscribers', { subscribers: ['ghost'] })
    expect(none).toMatchObject({ status: 200, body: { succeeded: [], failed: { notFound: ['ghost'] } } })
    expect((await api.get('/v2/topics/news/subscriptions')).body.totalCount).toBe(2)
  })

  test('with ten subscriptions are refused', async () => {
    const api = await apiWith('ada')
    const subscriptions = Array.from({ length: 10 }, (_, index) => ({ subscriberId: 'ada', identifier: `n${index}` }))
    await api.post('/v2/topics/news/subscriptions', { subscriptions })
    const answer = await api.post('/v1/topics/news/subscribers', { subscribers: ['ada'] })
    expect(answer.body).toEqual({ succeeded: [], failed: { notFound: [], refused: ['ada'] } })
  })

  test('are removed with all their subscriptions; unknown ones are ignored', async () => {
    const api = await apiWith('ada', 'bob')
    await api.post('/v2/topics/news/subscriptions', {
      subscriptions: ['ada', { subscriberId: 'ada', identifier: 'x' }, 'bob'],
    })
    const removed = await api.post('/v1/topics/news/subscribers/removal', { subscribers: ['ada', 'ghost'] })
    expect(removed).toMatchObject({ status: 204, text: '' })
    expect((await api.get('/v1/topics/news')).body.subscribers).toEqual(['bob'])
  })
})
