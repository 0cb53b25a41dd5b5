import { describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'
import { newId } from '../../db/core/ids.ts'

const server = useServer()

const complete = {
  subscriberId: 'ada',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  phone: '+44 20 7946 0000',
  avatar: 'https://example.com/ada.png',
  locale: 'en_GB',
  timezone: 'Europe/London',
  data: { plan: 'pro', tags: ['a', { deep: null }] },
}

describe('creating', () => {
  test('a subscriber is created with all given fields', async () => {
    const api = await server.freshApi()
    const created = await api.post('/v2/subscribers', complete)
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      ...complete,
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      _organizationId: api.organizationId,
      _environmentId: api.environmentId,
      channels: [],
      isOnline: false,
      lastOnlineAt: null,
      deleted: false,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await api.get('/v2/subscribers/ada')).body).toEqual(created.body)
  })

  test('an id is enough, and white space around it is trimmed', async () => {
    const api = await server.freshApi()
    const created = await api.post('/v2/subscribers', { subscriberId: '  user 1\t' })
    expect(created).toMatchObject({ status: 201, body: { subscriberId: 'user 1', firstName: null, data: null } })
    expect((await api.get('/v2/subscribers/user%201')).body).toEqual(created.body)
  })

  test.each(['a/b', 'ä@ö.example', '100%', '../x', '🦊', 'a?b#c', "o'hara", '"', '\\'])(
    'any other id is valid, such as %s',
    async (subscriberId) => {
      const api = await server.freshApi()
      expect((await api.post('/v2/subscribers', { subscriberId })).status).toBe(201)
      const path = `/v2/subscribers/${encodeURIComponent(subscriberId)}`
      expect(await api.get(path)).toMatchObject({ status: 200, body: { subscriberId } })
      expect((await api.delete(path)).status).toBe(200)
    },
  )

  test('creating it again sets the given fields and keeps the rest, including data', async () => {
    const api = await server.freshApi()
    const first = await api.post('/v2/subscribers', complete)
    server.clock.advance({ minutes: 1 })
    const second = await api.post('/v2/subscribers', {
      subscriberId: 'ada',
      firstName: 'Augusta',
      email: null,
      phone: '',
    })
    expect(second.status).toBe(201)
    expect(second.body).toEqual({
      ...first.body,
      firstName: 'Augusta',
      email: null,
      phone: '',
      updatedAt: server.clock.now().toISOString(),
    })
    const third = await api.post('/v2/subscribers', { subscriberId: 'ada', data: { other: 1 } })
    expect(third.body.data).toEqual({ other: 1 })
    const fourth = await api.post('/v2/subscribers', { subscriberId: 'ada', data: null })
    expect(fourth.body.data).toBeNull()
  })

  test('channels and unknown members are ignored', async () => {
    const api = await server.freshApi()
    const channels = [{ providerId: 'fcm', credentials: { deviceTokens: ['x'] } }]
    const created = await api.post('/v2/subscribers', { subscriberId: 'ada', channels, _id: 'mine', isOnline: true })
    expect(created).toMatchObject({ status: 201, body: { channels: [], isOnline: false } })
    expect(created.body._id).not.toBe('mine')
  })

  test('with failIfExists an existing one is a conflict, answered with both the error and the subscriber', async () => {
    const api = await server.freshApi()
    const first = await api.post('/v2/subscribers?failIfExists=true', complete)
    expect(first.status).toBe(201)
    server.clock.advance({ minutes: 1 })
    const again = await api.post('/v2/subscribers?failIfExists=true', { subscriberId: ' ada ', firstName: 'Eve' })
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      ...first.body,
      statusCode: 409,
      error: 'Conflict',
      message: 'Subscriber with id "ada" already exists',
      path: '/v2/subscribers?failIfExists=true',
      ctx: { ...first.body, error: 'Conflict', statusCode: 409 },
    })
    expect((await api.get('/v2/subscribers/ada')).body).toEqual(first.body)
    expect((await api.post('/v2/subscribers?failIfExists=1', { subscriberId: 'ada' })).status).toBe(201)
  })

  test('fifty concurrent creations of one id make one record', async () => {
    const api = await server.freshApi()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => api.post('/v2/subscribers', { subscriberId: 'one', firstName: `n${n}` })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(new Set(answers.map(({ body }) => body._id)).size).toBe(1)
    expect((await api.get('/v2/subscribers')).body.totalCount).toBe(1)
  })

  test('of twenty concurrent creations with failIfExists one succeeds', async () => {
    const api = await server.freshApi()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post('/v2/subscribers?failIfExists=true', { subscriberId: 'one' })),
    )
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, ...Array(19).fill(409)])
  })
})

describe('field rules', () => {
  test.each([
    [{}, 'SubscriberId is required'],
    [{ subscriberId: '' }, 'SubscriberId is required'],
    [{ subscriberId: ' \n ' }, 'SubscriberId is required'],
    [{ subscriberId: 7 }, 'subscriberId must be a string'],
    [{ subscriberId: null }, 'subscriberId must be a string'],
    [{ subscriberId: 'x'.repeat(256) }, 'subscriberId must be shorter than or equal to 255 characters'],
  ])('on creation %j is refused', async (body, message) => {
    const answer = await server.api.post('/v2/subscribers', body)
    expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error', ctx: {} } })
    expect(answer.body.errors.general.messages).toContain(message)
  })

  const refusals = [
    [{ email: '' }, 'email must be an email'],
    [{ email: 'ada' }, 'email must be an email'],
    [{ email: 'ada@localhost' }, 'email must be an email'],
    [{ email: 'ada @example.com' }, 'email must be an email'],
    [{ email: 5 }, 'email must be a string'],
    [{ locale: '' }, 'locale must be locale'],
    [{ locale: 'english' }, 'locale must be locale'],
    [{ locale: 'e' }, 'locale must be locale'],
    [{ timezone: '' }, 'timezone must be a valid IANA time-zone'],
    [{ timezone: 'Mars/Olympus' }, 'timezone must be a valid IANA time-zone'],
    [{ timezone: '+02:00' }, 'timezone must be a valid IANA time-zone'],
    [{ firstName: 1 }, 'firstName must be a string'],
    [{ lastName: {} }, 'lastName must be a string'],
    [{ phone: 4420 }, 'phone must be a string'],
    [{ avatar: ['x'] }, 'avatar must be a string'],
    [{ data: [] }, 'data must be an object'],
    [{ data: 'x' }, 'data must be an object'],
  ] as const

  test.each(refusals)('%j is refused, on creation and on change', async (fields, message) => {
    const api = await server.freshApi()
    const before = (await api.post('/v2/subscribers', complete)).body
    const created = await api.post('/v2/subscribers', { subscriberId: 'bob', ...fields })
    const changed = await api.patch('/v2/subscribers/ada', fields)
    for (const answer of [created, changed]) {
      expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
      expect(answer.body.errors.general.messages).toEqual([message])
    }
    expect((await api.get('/v2/subscribers/bob')).status).toBe(404)
    expect((await api.get('/v2/subscribers/ada')).body).toEqual(before)
  })

  test.each([
    { email: 'ada+tag@mail.example.co.uk' },
    { locale: 'en' },
    { locale: 'en_US' },
    { locale: 'en-US' },
    { locale: 'zh-Hant-TW' },
    { timezone: 'UTC' },
    { timezone: 'America/Argentina/Buenos_Aires' },
    { firstName: '', lastName: '', phone: '', avatar: '' },
    { data: {} },
    { data: { 'a.b': { $c: [null, true, 1.5] } } },
  ])('%j is stored as given', async (fields) => {
    const api = await server.freshApi()
    expect((await api.post('/v2/subscribers', { subscriberId: 'ada', ...fields })).body).toMatchObject(fields)
    await api.post('/v2/subscribers', { subscriberId: 'bob' })
    expect((await api.patch('/v2/subscribers/bob', fields)).body).toMatchObject(fields)
  })

  test('null clears every field', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', complete)
    const { subscriberId, ...fields } = complete
    const nothing = Object.fromEntries(Object.keys(fields).map((name) => [name, null]))
    expect((await api.patch(`/v2/subscribers/${subscriberId}`, nothing)).body).toMatchObject(nothing)
    await api.patch(`/v2/subscribers/${subscriberId}`, fields)
    expect((await api.post('/v2/subscribers', { subscriberId, ...nothing })).body).toMatchObject(nothing)
  })

  test.each(['[]', '"ada"', 'null', undefined])('a body that is not an object is refused: %s', async (body) => {
    expect((await server.api.post('/v2/subscribers', body)).status).toBe(422)
  })
})

describe('retrieving, changing, deleting', () => {
  test('a change sets only the given fields, and replaces data as a whole', async () => {
    const api = await server.freshApi()
    const before = (await api.post('/v2/subscribers', complete)).body
    server.clock.advance({ minutes: 1 })
    const changes = { lastName: 'King', data: { plan: 'free' }, subscriberId: 'other', _id: 'x' }
    const changed = await api.patch('/v2/subscribers/ada', changes)
    expect(changed.status).toBe(200)
    expect(changed.body).toEqual({
      ...before,
      lastName: 'King',
      data: { plan: 'free' },
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await api.get('/v2/subscribers/ada')).body).toEqual(changed.body)
  })

  test.each(['{}', undefined, '{"unknown":1}'])('an empty change (%s) changes nothing', async (body) => {
    const api = await server.freshApi()
    const before = (await api.post('/v2/subscribers', complete)).body
    server.clock.advance({ minutes: 1 })
    expect(await api.patch('/v2/subscribers/ada', body)).toMatchObject({ status: 200, body: before })
  })

  test('concurrent changes of different fields all take effect', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const { subscriberId, ...fields } = complete
    await Promise.all(
      Object.entries(fields).map(([name, value]) => api.patch(`/v2/subscribers/${subscriberId}`, { [name]: value })),
    )
    expect((await api.get('/v2/subscribers/ada')).body).toMatchObject(complete)
  })

  test('deleting removes subscriptions, their preferences and endpoints; the id can be used again', async () => {
    const api = await server.freshApi()
    const ada = (await api.post('/v2/subscribers', complete)).body
    const bob = (await api.post('/v2/subscribers', { subscriberId: 'bob' })).body
    for (const { _id, subscriberId } of [ada, bob]) await giveBelongings(api, _id, subscriberId)
    expect(await api.delete('/v2/subscribers/ada')).toMatchObject({
      status: 200,
      body: { acknowledged: true, status: 'deleted' },
    })
    expect((await api.get('/v2/subscribers/ada')).status).toBe(404)
    expect(await belongings(api)).toEqual({ subscriptions: [bob._id], preferences: 1, endpoints: ['bob'] })
    const again = (await api.post('/v2/subscribers', { subscriberId: 'ada' })).body
    expect(again).toMatchObject({ firstName: null, data: null })
    expect(again._id).not.toBe(ada._id)
  })

  test('many are deleted at once, of this environment only, and unknown ids are named', async () => {
    const { development, production } = await server.freshOrganization()
    for (const each of [development, production])
      for (const subscriberId of ['ada', 'bob', 'cy']) await each.post('/v2/subscribers', { subscriberId })
    await development.post('/v2/topics/news/subscriptions', { subscriptions: ['ada', 'cy'] })
    const drop = (subscriberIds: unknown) => development.post('/v2/subscribers/bulk-delete', { subscriberIds })
    expect(await drop(['ada', ' bob ', 'ada', 'eve'])).toMatchObject({
      status: 200,
      body: { deleted: 2, missing: ['eve'] },
    })
    const ids = async (each: Api) =>
      (await each.get('/v2/subscribers?orderDirection=ASC')).body.data.map(
        ({ subscriberId }: { subscriberId: string }) => subscriberId,
      )
    expect(await ids(development)).toEqual(['cy'])
    expect(await ids(production)).toEqual(['ada', 'bob', 'cy'])
    expect((await development.get('/v2/topics/news/subscriptions')).body.totalCount).toBe(1)
    expect(await drop([])).toMatchObject({ status: 422 })
    expect(await drop(Array.from({ length: 101 }, (_, n) => `u${n}`))).toMatchObject({ status: 422 })
    expect(await drop([' '])).toMatchObject({ status: 422 })
  })

  test('an unknown subscriber cannot be read, changed or deleted', async () => {
    const api = await server.freshApi()
    expect(await api.get('/v2/subscribers/nobody')).toMatchObject({
      status: 404,
      body: { message: 'Subscriber: nobody was not found', error: 'Not Found', path: '/v2/subscribers/nobody' },
    })
    for (const body of [{}, { firstName: 'x' }])
      expect(await api.patch('/v2/subscribers/nobody', body)).toMatchObject({
        status: 404,
        body: { message: 'Subscriber nobody was not found' },
      })
    expect(await api.delete('/v2/subscribers/nobody')).toMatchObject({
      status: 404,
      body: { message: 'Subscriber was not found', ctx: { externalSubscriberId: 'nobody' } },
    })
  })

  test('ids are case-sensitive', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', complete)
    expect((await api.get('/v2/subscribers/ADA')).status).toBe(404)
  })

  test("another environment's subscriber is not found, and stays unchanged", async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    const theirs = (await other.post('/v2/subscribers', complete)).body
    expect((await mine.get('/v2/subscribers/ada')).status).toBe(404)
    expect((await mine.patch('/v2/subscribers/ada', { firstName: 'Eve' })).status).toBe(404)
    expect((await mine.delete('/v2/subscribers/ada')).status).toBe(404)
    expect((await mine.get('/v2/subscribers?subscriberId=ada')).body.totalCount).toBe(0)
    expect((await mine.post('/v2/subscribers?failIfExists=true', { subscriberId: 'ada' })).status).toBe(201)
    expect((await mine.delete('/v2/subscribers/ada')).status).toBe(200)
    expect((await other.get('/v2/subscribers/ada')).body).toEqual(theirs)
  })

  test('without a key nothing is shown', async () => {
    const answer = await fetch(`${server.url}/v2/subscribers/ada`)
    expect(answer.status).toBe(401)
  })
})

/** A subscription with a preference, and an endpoint. */
async function giveBelongings(api: Api, rowId: string, subscriberId: string): Promise<void> {
  const now = server.clock.now()
  const row = { environment_id: api.environmentId, created_at: now, updated_at: now }
  const { db } = server.database
  const subscription = newId(now)
  await db
    .insertInto('topic_subscriptions')
    .values({
      ...row,
      id: subscription,
      topic_id: newId(now),
      subscriber_row_id: rowId,
      identifier: `i-${rowId}`,
      name: null,
    })
    .execute()
  await db
    .insertInto('subscription_preferences')
    .values({
      environment_id: api.environmentId,
      subscription_id: subscription,
      workflow_id: newId(now),
      enabled: true,
    })
    .execute()
  await db
    .insertInto('channel_endpoints')
    .values({
      ...row,
      id: newId(now),
      identifier: `e-${rowId}`,
      integration_id: newId(now),
      integration_identifier: 'chat',
      provider_id: 'chat-webhook',
      channel: 'chat',
      connection_identifier: null,
      subscriber_id: subscriberId,
      type: 'webhook',
      endpoint: JSON.stringify({ url: 'https://example.com' }),
    })
    .execute()
}

async function belongings({ environmentId }: Api) {
  const { db } = server.database
  const subscriptions = await db
    .selectFrom('topic_subscriptions')
    .select('subscriber_row_id')
    .where('environment_id', '=', environmentId)
    .execute()
  const preferences = await db
    .selectFrom('subscription_preferences')
    .select('subscription_id')
    .where('environment_id', '=', environmentId)
    .execute()
  const endpoints = await db
    .selectFrom('channel_endpoints')
    .select('subscriber_id')
    .where('environment_id', '=', environmentId)
    .execute()
  return {
    subscriptions: subscriptions.map((row) => row.subscriber_row_id),
    preferences: preferences.length,
    endpoints: endpoints.map((row) => row.subscriber_id),
  }
}
