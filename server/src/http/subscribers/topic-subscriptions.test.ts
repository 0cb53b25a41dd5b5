import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { during } from '../../../test/during.ts'
import { type Api, useServer } from '../../../test/server.ts'
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { deleteSubscriber } from '../../db/queries/subscribers.ts'
import { replacePreferences } from '../../db/queries/subscription-preferences.ts'
import { subscribe } from '../../db/queries/topic-subscriptions.ts'
import { deleteTopic, takeTopic } from '../../db/queries/topics.ts'

const server = useServer()

async function apiWith(...subscriberIds: string[]): Promise<Api> {
  const api = await server.freshApi()
  if (subscriberIds.length > 0)
    await api.post('/v1/subscribers/bulk', { subscribers: subscriberIds.map((subscriberId) => ({ subscriberId })) })
  return api
}

async function addWorkflow(
  api: Api,
  identifier: string,
  more: {
    tags?: string[]
    preferences?: object
    user_preferences?: object
    data?: object
    critical?: boolean
    severity?: string
  } = {},
): Promise<string> {
  const now = server.clock.now()
  const id = newId(now)
  await server.database.db
    .insertInto('workflows')
    .values({
      environment_id: api.environmentId,
      id,
      identifier,
      name: identifier.toUpperCase(),
      ...more,
      data: more.data ? JSON.stringify(more.data) : null,
      preferences: JSON.stringify(more.preferences ?? {}),
      user_preferences: more.user_preferences ? JSON.stringify(more.user_preferences) : null,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}

const subscriptionsOf = (topic: string) => `/v2/topics/${topic}/subscriptions`
const oneOf = (topic: string, identifier: string) =>
  `/v2/topics/${topic}/subscriptions/${encodeURIComponent(identifier)}`
const identifiersIn = (answer: { body: any }): string[] => answer.body.data.map((item: any) => item.identifier)
const subscribersIn = (answer: { body: any }): string[] =>
  answer.body.data.map((item: any) => item.subscriber.subscriberId)
const enabledIn = (item: any) =>
  Object.fromEntries(item.preferences.map((preference: any) => [preference.workflow.identifier, preference.enabled]))

describe('subscribing', () => {
  test('creates the topic and one subscription per subscriber, in the given order', async () => {
    const api = await apiWith()
    const now = server.clock.now().toISOString()
    const ada = (await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' }))
      .body
    await api.post('/v2/subscribers', { subscriberId: 'bob' })
    const answer = await api.post(subscriptionsOf('news'), { subscriptions: ['bob', 'ada'], name: 'News' })
    expect(answer.status).toBe(201)
    expect(answer.body.meta).toEqual({ totalCount: 2, successful: 2, failed: 0 })
    expect(answer.body).not.toHaveProperty('errors')
    const topic = (await api.get('/v2/topics/news')).body
    expect(topic.name).toBe('News')
    expect(identifiersIn(answer)).toEqual(['tk_news:si_bob', 'tk_news:si_ada'])
    expect(answer.body.data[1]).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      identifier: 'tk_news:si_ada',
      topic: { _id: topic._id, key: 'news', name: 'News', createdAt: now, updatedAt: now },
      subscriber: {
        _id: ada._id,
        subscriberId: 'ada',
        firstName: 'Ada',
        lastName: null,
        avatar: null,
        email: 'ada@example.com',
        createdAt: now,
        updatedAt: now,
      },
      preferences: [],
      contextKeys: [],
      createdAt: now,
      updatedAt: now,
    })
  })

  test('a repeat gives the same subscription and changes nothing', async () => {
    const api = await apiWith('ada')
    await addWorkflow(api, 'a')
    await addWorkflow(api, 'b')
    const entry = { subscriberId: 'ada', identifier: 'mine', name: 'Mine' }
    const first = await api.post(subscriptionsOf('news'), { subscriptions: [entry], preferences: ['a'] })
    server.clock.advance({ minutes: 1 })
    const second = await api.post(subscriptionsOf('news'), {
      subscriptions: [{ ...entry, name: 'Other' }],
      preferences: ['b'],
    })
    expect(second).toMatchObject({ status: 201, body: first.body })
    expect(second.body.data).toEqual(first.body.data)
    expect((await api.get(subscriptionsOf('news'))).body.totalCount).toBe(1)
  })

  test('the deprecated list is used when the current one is absent', async () => {
    const api = await apiWith('ada', 'bob')
    expect(subscribersIn(await api.post(subscriptionsOf('news'), { subscriberIds: ['ada'] }))).toEqual(['ada'])
    const both = { subscriptions: ['bob'], subscriberIds: ['ada'] }
    expect(subscribersIn(await api.post(subscriptionsOf('news'), both))).toEqual(['bob'])
  })

  test('one subscriber may hold several subscriptions, also from one request', async () => {
    const api = await apiWith('ada')
    const answer = await api.post(subscriptionsOf('news'), {
      subscriptions: [
        { subscriberId: 'ada', identifier: 'first', name: 'First', extra: 'dropped' },
        'ada',
        { subscriberId: 'ada', identifier: '' },
        { subscriberId: 'ada', identifier: 'second' },
        { subscriberId: 'ada', identifier: 'first' },
      ],
    })
    expect(answer.body.meta).toEqual({ totalCount: 5, successful: 5, failed: 0 })
    expect(identifiersIn(answer)).toEqual(['first', 'tk_news:si_ada', 'second'])
    expect(answer.body.data[0].name).toBe('First')
    expect(answer.body.data[1]).not.toHaveProperty('name')
    expect((await api.get(subscriptionsOf('news'))).body.totalCount).toBe(3)
  })

  test('the topic keeps its name unless another is given', async () => {
    const api = await apiWith('ada')
    const named = (name?: string) => api.post(subscriptionsOf('news'), { subscriptions: ['ada'], name })
    await named('News')
    const { updatedAt } = (await api.get('/v2/topics/news')).body
    server.clock.advance({ minutes: 1 })
    for (const name of [undefined, '', 'News']) expect((await named(name)).body.data[0].topic.name).toBe('News')
    expect((await api.get('/v2/topics/news')).body.updatedAt).toBe(updatedAt)
    expect((await named('Old news')).body.data[0].topic.name).toBe('Old news')
    expect((await api.get('/v2/topics/news')).body).toMatchObject({
      name: 'Old news',
      updatedAt: server.clock.now().toISOString(),
    })
  })

  test('contexts are created, and identify the subscription', async () => {
    const api = await apiWith('ada')
    const context = { tenant: 'acme', app: { id: 'jira', data: { plan: 'pro' } } }
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    const scoped = await api.post(subscriptionsOf('news'), { subscriptions: ['ada'], context })
    expect(scoped.body.data).toMatchObject([
      { identifier: 'tk_news:si_ada:ctx_app:jira,tenant:acme', contextKeys: ['app:jira', 'tenant:acme'] },
    ])
    expect((await api.get('/v2/contexts/app/jira')).body.data).toEqual({ plan: 'pro' })
    const again = await api.post(subscriptionsOf('news'), {
      subscriptions: ['ada'],
      context: { app: 'jira', tenant: 'acme' },
    })
    expect(again.body.data).toEqual(scoped.body.data)
    expect((await api.get(subscriptionsOf('news'))).body.totalCount).toBe(2)
  })

  test('successful items stay when others fail', async () => {
    const api = await apiWith('ada', 'bob')
    await api.post(subscriptionsOf('other'), { subscriptions: [{ subscriberId: 'ada', identifier: 'taken' }] })
    const answer = await api.post(subscriptionsOf('news'), {
      subscriptions: ['ghost', 'ada', { subscriberId: 'bob', identifier: 'taken' }],
    })
    expect(answer.status).toBe(201)
    expect(subscribersIn(answer)).toEqual(['ada'])
    expect(answer.body.meta).toEqual({ totalCount: 3, successful: 1, failed: 2 })
    expect(answer.body.errors).toEqual([
      {
        subscriberId: 'ghost',
        code: 'SUBSCRIBER_NOT_FOUND',
        message: "Subscriber with ID 'ghost' could not be found.",
      },
      {
        subscriberId: 'bob',
        code: 'SUBSCRIPTION_CREATE_FAILED',
        message: "Another subscription has the identifier 'taken'; choose a different one.",
      },
    ])
  })

  test('an identifier belongs to one subscriber and one set of contexts', async () => {
    const api = await apiWith('ada', 'bob')
    const entry = (subscriberId: string) => ({ subscriberId, identifier: 'mine' })
    const twice = await api.post(subscriptionsOf('news'), { subscriptions: [entry('ada'), entry('bob')] })
    expect(twice.body).toMatchObject({
      meta: { successful: 1, failed: 1 },
      errors: [{ subscriberId: 'bob', code: 'SUBSCRIPTION_CREATE_FAILED' }],
    })
    const elsewhere = { subscriptions: [entry('ada')], context: { tenant: 'acme' } }
    expect(await api.post(subscriptionsOf('news'), elsewhere)).toMatchObject({
      status: 400,
      body: { errors: [{ subscriberId: 'ada', code: 'SUBSCRIPTION_CREATE_FAILED' }] },
    })
  })

  test('when everything fails the answer is 400, says why twice, and nothing was changed', async () => {
    const api = await apiWith()
    const answer = await api.post(subscriptionsOf('news'), { subscriptions: ['x', 'y'], context: { tenant: 'acme' } })
    const errors = ['x', 'y'].map((subscriberId) => ({
      subscriberId,
      code: 'SUBSCRIBER_NOT_FOUND',
      message: `Subscriber with ID '${subscriberId}' could not be found.`,
    }))
    const told = { data: [], meta: { totalCount: 2, successful: 0, failed: 2 }, errors }
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({
      ...told,
      statusCode: 400,
      message: 'Api Exception Raised with status 400',
      path: subscriptionsOf('news'),
      ctx: told,
    })
    expect((await api.get('/v2/topics/news')).status).toBe(404)
    expect((await api.get('/v2/contexts/tenant/acme')).status).toBe(404)
  })

  test("another environment's subscribers and identifiers are not seen", async () => {
    const [mine, other] = [await apiWith('ada'), await apiWith('ada', 'bob')]
    await other.post(subscriptionsOf('news'), { subscriptions: [{ subscriberId: 'ada', identifier: 'x' }] })
    const answer = await mine.post(subscriptionsOf('news'), {
      subscriptions: [{ subscriberId: 'ada', identifier: 'x' }, 'bob'],
    })
    expect(answer.body).toMatchObject({ data: [{ identifier: 'x' }], errors: [{ subscriberId: 'bob' }] })
    expect((await other.get(subscriptionsOf('news'))).body.totalCount).toBe(1)
  })

  test('a subscriber holds at most ten subscriptions to a topic', async () => {
    const api = await apiWith('ada', 'bob')
    const entries = Array.from({ length: 12 }, (_, index) => ({ subscriberId: 'ada', identifier: `n${index}` }))
    const answer = await api.post(subscriptionsOf('news'), { subscriptions: [...entries, 'bob'] })
    expect(answer.body.meta).toEqual({ totalCount: 13, successful: 11, failed: 2 })
    const error = {
      subscriberId: 'ada',
      code: 'SUBSCRIPTION_LIMIT_EXCEEDED',
      message: 'Subscriber ada has reached the maximum allowed of 10 subscriptions for topic "news"',
    }
    expect(answer.body.errors).toEqual([error, error])
    expect(await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })).toMatchObject({
      status: 400,
      body: { errors: [error] },
    })
    expect(await api.post(subscriptionsOf('news'), { subscriptions: [entries[0]] })).toMatchObject({ status: 201 })
    expect(await api.post(subscriptionsOf('other'), { subscriptions: ['ada'] })).toMatchObject({ status: 201 })
    await api.delete(subscriptionsOf('news'), { subscriptions: [entries[0]] })
    expect(await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })).toMatchObject({ status: 201 })
  })

  test('a taken identifier does not count towards the limit', async () => {
    const api = await apiWith('ada', 'bob')
    const entries = Array.from({ length: 9 }, (_, index) => ({ subscriberId: 'ada', identifier: `n${index}` }))
    await api.post(subscriptionsOf('other'), { subscriptions: [{ subscriberId: 'bob', identifier: 'taken' }] })
    const answer = await api.post(subscriptionsOf('news'), {
      subscriptions: [...entries, { subscriberId: 'ada', identifier: 'taken' }, 'ada'],
    })
    expect(answer.body.errors).toMatchObject([{ code: 'SUBSCRIPTION_CREATE_FAILED' }])
    expect(answer.body.meta.successful).toBe(10)
  })

  test.each([
    [{}, 'At least one subscription is required'],
    [{ subscriptions: [] }, 'At least one subscription is required'],
    [{ subscriberIds: [] }, 'At least one subscriber is required'],
    [{ subscriptions: Array(101).fill('ada') }, 'Cannot subscribe more than 100 subscriptions at once'],
    [{ subscriberIds: Array(101).fill('ada') }, 'Cannot subscribe more than 100 subscribers at once'],
    [{ subscriptions: [''] }, 'each value in subscriptions should not be empty'],
    [{ subscriberIds: [''] }, 'each value in subscriberIds should not be empty'],
    [{ subscriptions: [{ subscriberId: '' }] }, 'subscriptions.0.subscriberId should not be empty'],
    [{ subscriptions: [7] }, 'each value in subscriptions must be a subscriber id or an object with one'],
    [{ subscriptions: [{ identifier: 'x' }] }, 'subscriptions.0.subscriberId should not be empty'],
    [
      { subscriptions: [{ subscriberId: 'ada', identifier: 'x'.repeat(256) }] },
      'subscriptions.0.identifier must be shorter than or equal to 255 characters',
    ],
    [{ subscriptions: ['ada'], name: 'x'.repeat(101) }, 'name must be shorter than or equal to 100 characters'],
    [
      { subscriptions: ['ada'], preferences: [7] },
      'each value in preferences must be a string or an object with a workflowId or a filter',
    ],
    [{ subscriptions: ['ada'], preferences: [{ enabled: true }] }, 'preferences.0 must have a workflowId or a filter'],
    [
      { subscriptions: ['ada'], preferences: [{ workflowId: 'w', enabled: 'yes' }] },
      'preferences.0.enabled must be a boolean value',
    ],
    [
      { subscriptions: ['ada'], preferences: [{ filter: { tags: 'x' } }] },
      'preferences.0.filter.tags must be an array',
    ],
    [
      { subscriptions: ['ada'], preferences: Array(101).fill('w') },
      'preferences must contain no more than 100 elements',
    ],
    ...['text', [], {}, { tenant: 7 }, { tenant: 'a b' }].map((context) => [
      { subscriptions: ['ada'], context },
      'Invalid context payload structure. Expected object with context types as keys and string IDs or {id, data} objects as values',
    ]),
    [
      { subscriptions: ['ada'], context: { a: 'x', b: 'x', c: 'x', d: 'x', e: 'x', f: 'x' } },
      'Too many contexts: 6 provided, maximum allowed is 5',
    ],
  ] as Array<[object, string]>)('refused: $1', async (body, message) => {
    const api = await apiWith('ada')
    const answer = await api.post(subscriptionsOf('news'), body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
    expect((await api.get('/v2/topics/news')).status).toBe(404)
  })

  test('a topic that cannot be created is refused', async () => {
    const api = await apiWith('ada')
    const bad = await api.post(subscriptionsOf('two%20words'), { subscriptions: ['ada'] })
    expect(bad.status).toBe(400)
    expect(bad.body.message).toMatch(/^Invalid topic key: "two words"\. /)
    const long = await api.post(subscriptionsOf('x'.repeat(101)), { subscriptions: ['ada'] })
    expect(long.body.errors.general.messages).toEqual(['topicKey must be shorter than or equal to 100 characters'])
  })
})

describe('preferences', () => {
  test('are resolved by identifier, database id and tags; unknown ones are ignored', async () => {
    const api = await apiWith('ada')
    await addWorkflow(api, 'by-name', { data: { team: 'a' }, critical: true, severity: 'high', tags: ['x'] })
    const id = await addWorkflow(api, 'by-id')
    await addWorkflow(api, 'filtered')
    await addWorkflow(api, 'tagged', { tags: ['sales', 'news'] })
    await addWorkflow(api, 'left-out', { tags: ['other'] })
    const condition = { '==': [{ var: 'payload.status' }, 'done'] }
    const answer = await api.post(subscriptionsOf('news'), {
      subscriptions: ['ada'],
      preferences: [
        'by-name',
        'nobody',
        { workflowId: id, enabled: false, condition, extra: 'dropped' },
        { filter: { workflowIds: ['filtered', 'nothing'], tags: ['news', 'none'] }, enabled: false },
      ],
    })
    expect(answer.status).toBe(201)
    const { preferences } = answer.body.data[0]
    expect(preferences).toHaveLength(4)
    expect(preferences[0]).toEqual({
      subscriptionId: 'tk_news:si_ada',
      workflow: {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        identifier: 'by-name',
        name: 'BY-NAME',
        critical: true,
        tags: ['x'],
        data: { team: 'a' },
        severity: 'high',
      },
      enabled: true,
    })
    expect(preferences[1]).toMatchObject({ workflow: { id, identifier: 'by-id' }, enabled: false, condition })
    expect(preferences[2]).toMatchObject({ workflow: { identifier: 'filtered' }, enabled: false })
    expect(preferences[3]).toMatchObject({
      workflow: { identifier: 'tagged', tags: ['sales', 'news'] },
      enabled: false,
    })
  })

  test("a preference without `enabled` takes the workflow's default, user settings first", async () => {
    const api = await apiWith('ada')
    const off = { all: { enabled: false } }
    const on = { all: { enabled: true } }
    await addWorkflow(api, 'none')
    await addWorkflow(api, 'plain', { preferences: off })
    await addWorkflow(api, 'user', { preferences: off, user_preferences: on })
    const names = ['none', 'plain', 'user']
    const answer = await api.post(subscriptionsOf('news'), { subscriptions: ['ada'], preferences: names })
    expect(enabledIn(answer.body.data[0])).toEqual({ none: true, plain: false, user: true })
    const given = names.map((workflowId) => ({ workflowId, enabled: true }))
    const other = await api.post(subscriptionsOf('other'), { subscriptions: ['ada'], preferences: given })
    expect(enabledIn(other.body.data[0])).toEqual({ none: true, plain: true, user: true })
  })

  test('the first entry that matches a workflow wins', async () => {
    const api = await apiWith('ada')
    const id = await addWorkflow(api, 'a', { tags: ['t'] })
    await addWorkflow(api, 'b', { tags: ['t'] })
    const answer = await api.post(subscriptionsOf('news'), {
      subscriptions: ['ada'],
      preferences: [
        { workflowId: 'a', enabled: false },
        { filter: { tags: ['t'] }, enabled: true },
        { workflowId: id },
      ],
    })
    expect(enabledIn(answer.body.data[0])).toEqual({ a: false, b: true })
  })

  test('an identifier that looks like the id of another workflow means the identifier', async () => {
    const api = await apiWith('ada')
    const id = await addWorkflow(api, 'a')
    await addWorkflow(api, id)
    const answer = await api.post(subscriptionsOf('news'), { subscriptions: ['ada'], preferences: [id] })
    expect(answer.body.data[0].preferences).toMatchObject([{ workflow: { identifier: id } }])
  })

  test("another environment's workflows are unknown", async () => {
    const [mine, other] = [await apiWith('ada'), await apiWith()]
    const id = await addWorkflow(other, 'theirs', { tags: ['t'] })
    const answer = await mine.post(subscriptionsOf('news'), {
      subscriptions: ['ada'],
      preferences: ['theirs', id, { filter: { tags: ['t'] } }],
    })
    expect(answer).toMatchObject({ status: 201, body: { data: [{ preferences: [] }] } })
    const stored = server.database.db.selectFrom('subscription_preferences').selectAll()
    expect(await stored.where('environment_id', '=', mine.environmentId).execute()).toEqual([])
  })
})

describe('one subscription', () => {
  test('is read by its identifier', async () => {
    const api = await apiWith('ada')
    await addWorkflow(api, 'w')
    const made = await api.post(subscriptionsOf('news'), {
      subscriptions: [{ subscriberId: 'ada', identifier: 'mine', name: 'Mine' }],
      context: { tenant: 'acme' },
      preferences: ['w'],
    })
    const [{ _id, preferences }] = made.body.data
    expect(await api.get(oneOf('news', 'mine'))).toMatchObject({ status: 200 })
    expect((await api.get(oneOf('news', 'mine'))).body).toEqual({
      id: _id,
      identifier: 'mine',
      name: 'Mine',
      preferences,
      contextKeys: ['tenant:acme'],
    })
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada'], context: { tenant: 'acme' } })
    expect((await api.get(oneOf('news', 'tk_news:si_ada:ctx_tenant:acme'))).status).toBe(200)
  })

  test('is renamed, and its preferences are replaced, cleared or kept', async () => {
    const api = await apiWith('ada')
    for (const identifier of ['a', 'b', 'c']) await addWorkflow(api, identifier)
    const made = await api.post(subscriptionsOf('news'), { subscriptions: ['ada'], preferences: ['a', 'b'] })
    const path = oneOf('news', 'tk_news:si_ada')
    const [item] = made.body.data
    server.clock.advance({ minutes: 1 })
    for (const body of [undefined, {}, { extra: 1 }]) {
      const same = await api.patch(path, body)
      expect(same.status).toBe(200)
      expect(same.body).toEqual(item)
    }
    const renamed = await api.patch(path, { name: 'Mine' })
    expect(renamed.body).toEqual({ ...item, name: 'Mine', updatedAt: server.clock.now().toISOString() })
    const replaced = await api.patch(path, { preferences: [{ workflowId: 'b', enabled: false }, 'c', 'unknown'] })
    expect(replaced.body.name).toBe('Mine')
    expect(enabledIn(replaced.body)).toEqual({ b: false, c: true })
    expect((await api.patch(path, { preferences: [] })).body.preferences).toEqual([])
    expect((await api.get(path)).body).toMatchObject({ name: 'Mine', preferences: [] })
  })

  test('of another topic, subscriber or environment is not found', async () => {
    const [mine, other] = [await apiWith('ada'), await apiWith('ada')]
    await mine.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    await mine.post('/v2/topics', { key: 'empty' })
    await other.post(subscriptionsOf('theirs'), { subscriptions: [{ subscriberId: 'ada', identifier: 'x' }] })
    for (const [topic, identifier, message] of [
      ['empty', 'tk_news:si_ada', 'Subscription with identifier tk_news:si_ada not found for topic empty'],
      ['news', 'x', 'Subscription with identifier x not found for topic news'],
      ['theirs', 'x', 'Topic with key theirs not found'],
    ] as const) {
      for (const answer of [
        await mine.get(oneOf(topic, identifier)),
        await mine.patch(oneOf(topic, identifier), {}),
        await mine.patch(oneOf(topic, identifier), { name: 'Mine', preferences: [] }),
      ])
        expect(answer).toMatchObject({ status: 404, body: { message } })
    }
    expect((await other.get(oneOf('theirs', 'x'))).body).not.toHaveProperty('name')
  })

  test.each([
    [{ name: 7 }, 'name must be a string'],
    [{ preferences: 'w' }, 'preferences must be an array'],
    [{ preferences: [{}] }, 'preferences.0 must have a workflowId or a filter'],
  ])('%j is not a valid change', async (body, message) => {
    const api = await apiWith('ada')
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    const answer = await api.patch(oneOf('news', 'tk_news:si_ada'), body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })
})

describe('unsubscribing', () => {
  test('by subscriber removes all their subscriptions of the topic, with preferences, and nothing else', async () => {
    const api = await apiWith('ada', 'bob')
    await addWorkflow(api, 'w')
    const entries = [{ subscriberId: 'ada', identifier: 'one' }, 'ada', 'bob']
    const made = await api.post(subscriptionsOf('news'), { subscriptions: entries, preferences: ['w'] })
    await api.post(subscriptionsOf('other'), { subscriptions: ['ada'], preferences: ['w'] })
    const removed = await api.delete(subscriptionsOf('news'), { subscriptions: ['ada'] })
    expect(removed.status).toBe(200)
    const { name: _name, preferences: _preferences, ...first } = made.body.data[0]
    expect(removed.body).toEqual({
      data: [first, expect.objectContaining({ identifier: 'tk_news:si_ada' })],
      meta: { totalCount: 1, successful: 1, failed: 0 },
    })
    expect(subscribersIn(await api.get(subscriptionsOf('news')))).toEqual(['bob'])
    expect((await api.get('/v2/subscribers/ada/subscriptions')).body.totalCount).toBe(1)
    const left = await server.database.db
      .selectFrom('subscription_preferences')
      .select('subscription_id')
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(left).toHaveLength(2)
  })

  test('by identifier removes only that one, even with a subscriber named beside it', async () => {
    const api = await apiWith('ada', 'bob')
    const make = () =>
      api.post(subscriptionsOf('news'), { subscriptions: [{ subscriberId: 'ada', identifier: 'one' }, 'ada', 'bob'] })
    await make()
    const both = { subscriptions: [{ identifier: 'one', subscriberId: 'ada' }] }
    expect(identifiersIn(await api.delete(subscriptionsOf('news'), both))).toEqual(['one'])
    await make()
    const mixed = { subscriptions: [{ identifier: 'one', subscriberId: 'ghost' }, { subscriberId: 'bob' }] }
    const answer = await api.delete(subscriptionsOf('news'), mixed)
    expect(answer.body.meta).toEqual({ totalCount: 2, successful: 2, failed: 0 })
    expect(identifiersIn(answer).sort()).toEqual(['one', 'tk_news:si_bob'])
    expect(identifiersIn(await api.get(subscriptionsOf('news')))).toEqual(['tk_news:si_ada'])
  })

  test('the deprecated list and repeats work', async () => {
    const api = await apiWith('ada')
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    const answer = await api.delete(subscriptionsOf('news'), { subscriberIds: ['ada', 'ada'] })
    expect(answer.body.meta).toEqual({ totalCount: 2, successful: 2, failed: 0 })
    expect(identifiersIn(answer)).toEqual(['tk_news:si_ada'])
  })

  test('empty lists remove nothing', async () => {
    const api = await apiWith()
    await api.post('/v2/topics', { key: 'news' })
    for (const body of [{ subscriptions: [] }, { subscriberIds: [] }]) {
      const answer = await api.delete(subscriptionsOf('news'), body)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ data: [], meta: { totalCount: 0, successful: 0, failed: 0 } })
    }
  })

  test('each failure has its code; when all fail the answer is 400', async () => {
    const [api, other] = [await apiWith('ada', 'bob'), await apiWith('zoe')]
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    await other.post(subscriptionsOf('news'), { subscriptions: [{ subscriberId: 'zoe', identifier: 'theirs' }] })
    const failing = ['zoe', 'bob', { identifier: 'theirs' }, {}]
    const errors = [
      { subscriberId: 'zoe', code: 'SUBSCRIBER_NOT_FOUND', message: "Subscriber with ID 'zoe' could not be found." },
      {
        subscriberId: 'bob',
        code: 'SUBSCRIPTION_NOT_FOUND',
        message: `Subscriber 'bob' has no subscription to topic "news".`,
      },
      {
        subscriberId: '',
        code: 'SUBSCRIPTION_NOT_FOUND',
        message: "Subscription with identifier 'theirs' could not be found.",
      },
      { subscriberId: '', code: 'INVALID_REQUEST', message: 'Either identifier or subscriberId is required.' },
    ]
    const told = { data: [], meta: { totalCount: 4, successful: 0, failed: 4 }, errors }
    const all = await api.delete(subscriptionsOf('news'), { subscriptions: failing })
    expect(all).toMatchObject({
      status: 400,
      body: { ...told, message: 'Api Exception Raised with status 400', ctx: told },
    })
    const some = await api.delete(subscriptionsOf('news'), { subscriptions: [...failing, 'ada'] })
    expect(some).toMatchObject({
      status: 200,
      body: { data: [{ identifier: 'tk_news:si_ada' }], meta: { totalCount: 5, successful: 1, failed: 4 }, errors },
    })
    expect((await other.get(subscriptionsOf('news'))).body.totalCount).toBe(1)
  })

  test('an unknown topic is not found', async () => {
    expect(await server.api.delete(subscriptionsOf('nowhere'), { subscriptions: ['ada'] })).toMatchObject({
      status: 404,
      body: { message: 'Topic with key nowhere not found' },
    })
  })

  test.each([
    [{}, 'At least one subscription is required'],
    [{ subscriptions: Array(101).fill('ada') }, 'Cannot unsubscribe more than 100 subscriptions at once'],
    [{ subscriberIds: Array(101).fill('ada') }, 'Cannot unsubscribe more than 100 subscribers at once'],
    [
      { subscriptions: [7] },
      'each value in subscriptions must be a subscriber id or an object with an identifier or a subscriberId',
    ],
  ])('refused: $1', async (body, message) => {
    const answer = await server.api.delete(subscriptionsOf('news'), body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })
})

describe('lists', () => {
  test("a topic's subscriptions are filtered and paged forward and back", async () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    const api = await apiWith(...ids)
    await api.post(subscriptionsOf('news'), { subscriptions: ids })
    await api.post(subscriptionsOf('news'), { subscriptions: ids, context: { tenant: 'acme', app: 'jira' } })
    await api.post(subscriptionsOf('other'), { subscriptions: ids })
    const filter = 'contextKeys=tenant:acme&contextKeys=app:jira&limit=2'
    const page = async (more = '') => (await api.get(`${subscriptionsOf('news')}?${filter}${more}`)).body
    const pages = [await page()]
    while (pages.at(-1).next) pages.push(await page(`&after=${pages.at(-1).next}`))
    expect(pages.map((body) => subscribersIn({ body }))).toEqual([['e', 'd'], ['c', 'b'], ['a']])
    expect(pages.map((body) => body.totalCount)).toEqual([5, 5, 5])
    expect(pages.map((body) => body.previous === null)).toEqual([true, false, false])
    const back = [pages.at(-1)]
    while (back.at(-1).previous) back.push(await page(`&before=${back.at(-1).previous}`))
    expect(back.map((body) => subscribersIn({ body }))).toEqual([['a'], ['c', 'b'], ['e', 'd']])
    expect(back.at(-1)).toEqual(pages[0])
    const cursor = pages[0].next
    expect(subscribersIn({ body: await page(`&after=${cursor}&includeCursor=true`) })).toEqual(['d', 'c'])
    expect(subscribersIn({ body: await page('&orderDirection=ASC&orderBy=createdAt') })).toEqual(['a', 'b'])
    expect(await page('&after=unknown')).toEqual({
      data: [],
      next: null,
      previous: null,
      totalCount: 0,
      totalCountCapped: false,
    })
  })

  test('an item has the shape of a topic subscription', async () => {
    const api = await apiWith('ada')
    const made = await api.post(subscriptionsOf('news'), { subscriptions: ['ada'], context: { tenant: 'acme' } })
    const { updatedAt: _updatedAt, preferences: _preferences, ...item } = made.body.data[0]
    expect((await api.get(subscriptionsOf('news'))).body.data).toEqual([item])
    expect((await api.get('/v2/subscribers/ada/subscriptions')).body.data).toEqual([item])
  })

  test("a subscriber's subscriptions are filtered and paged forward and back", async () => {
    const api = await apiWith('ada', 'bob')
    const topics = ['t1', 't2', 't3', 't4', 't5']
    for (const topic of topics) await api.post(subscriptionsOf(topic), { subscriptions: ['bob', 'ada'] })
    await api.post(subscriptionsOf('t1'), { subscriptions: ['ada'], context: { tenant: 'acme' } })
    const page = async (query: string) => (await api.get(`/v2/subscribers/ada/subscriptions?${query}`)).body
    const topicsIn = (body: any) => body.data.map((item: any) => item.topic.key)
    expect(topicsIn(await page(''))).toEqual(['t1', 't5', 't4', 't3', 't2', 't1'])
    const first = await page('contextKeys=&limit=3')
    expect(first).toMatchObject({ totalCount: 5, previous: null })
    expect(topicsIn(first)).toEqual(['t5', 't4', 't3'])
    const second = await page(`contextKeys=&limit=3&after=${first.next}`)
    expect(second).toMatchObject({ totalCount: 5, next: null })
    expect(topicsIn(second)).toEqual(['t2', 't1'])
    expect(await page(`contextKeys=&limit=3&before=${second.previous}`)).toEqual(first)
    expect(topicsIn(await page('key=t3'))).toEqual(['t3'])
    expect(topicsIn(await page('key=t1'))).toEqual(['t1', 't1'])
    expect(topicsIn(await page('key=t1&contextKeys=tenant:acme'))).toEqual(['t1'])
    expect(topicsIn(await page('key=t'))).toEqual([])
  })

  test('context keys match exactly, in any order; an empty one means without context', async () => {
    const api = await apiWith('ada')
    const make = (identifier: string, context?: object) =>
      api.post(subscriptionsOf('news'), { subscriptions: [{ subscriberId: 'ada', identifier }], context })
    await make('none')
    await make('tenant', { tenant: 'acme' })
    await make('both', { tenant: 'acme', app: 'jira' })
    for (const path of [subscriptionsOf('news'), '/v2/subscribers/ada/subscriptions']) {
      const found = async (query: string) => identifiersIn(await api.get(`${path}?${query}`))
      expect(await found('')).toEqual(['both', 'tenant', 'none'])
      expect(await found('contextKeys=')).toEqual(['none'])
      expect(await found('contextKeys=tenant:acme')).toEqual(['tenant'])
      expect(await found('contextKeys=tenant:acme&contextKeys=app:jira')).toEqual(['both'])
      expect(await found('contextKeys=app:jira&contextKeys=tenant:acme')).toEqual(['both'])
      expect(await found('contextKeys=app:jira')).toEqual([])
    }
  })

  test("a topic's list can be filtered by subscriber", async () => {
    const api = await apiWith('ada', 'bob')
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada', 'bob', { subscriberId: 'ada', identifier: 'x' }] })
    const found = async (id: string) => identifiersIn(await api.get(`${subscriptionsOf('news')}?subscriberId=${id}`))
    expect(await found('ada')).toEqual(['x', 'tk_news:si_ada'])
    expect(await found('ADA')).toEqual([])
    expect(await found('ghost')).toEqual([])
  })

  test('a subscription without its subscriber is counted but not shown', async () => {
    const api = await apiWith('ada', 'bob', 'cleo')
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada', 'bob', 'cleo'] })
    // Not through the API, which would delete the subscription too.
    await server.database.db
      .deleteFrom('subscribers')
      .where('environment_id', '=', api.environmentId)
      .where('subscriber_id', '=', 'bob')
      .execute()
    const first = await api.get(`${subscriptionsOf('news')}?limit=2`)
    expect(first.body.totalCount).toBe(3)
    expect(subscribersIn(first)).toEqual(['cleo'])
    expect(subscribersIn(await api.get(`${subscriptionsOf('news')}?limit=2&after=${first.body.next}`))).toEqual(['ada'])
    const patched = await api.patch(oneOf('news', 'tk_news:si_bob'), { name: 'Whose?' })
    expect(patched).toMatchObject({ status: 200, body: { name: 'Whose?', subscriber: null } })
  })

  test("unknown topics and subscribers, and another environment's, are not found", async () => {
    const [mine, other] = [await apiWith(), await apiWith('ada')]
    await other.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    expect(await mine.get(subscriptionsOf('news'))).toMatchObject({
      status: 404,
      body: { message: 'Topic with key news not found' },
    })
    expect(await mine.get('/v2/subscribers/ada/subscriptions')).toMatchObject({
      status: 404,
      body: { message: 'Subscriber not found' },
    })
  })

  test('a limit out of range and two cursors are refused', async () => {
    const api = await apiWith('ada')
    await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
    for (const path of [subscriptionsOf('news'), '/v2/subscribers/ada/subscriptions']) {
      const over = await api.get(`${path}?limit=101`)
      expect(over.status).toBe(422)
      expect(over.body.errors.general.messages).toEqual(['limit must not be greater than 100'])
      expect((await api.get(`${path}?limit=-1`)).body.errors).toHaveProperty('limit')
      expect((await api.get(`${path}?after=a&before=b`)).status).toBe(400)
    }
  })
})

describe('many at once', () => {
  test('a request takes the same few statements for 1 and for 100 subscriptions', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `s${index}`)
    const api = await apiWith(...ids)
    for (const identifier of ['a', 'b', 'c']) await addWorkflow(api, identifier, { tags: ['t'] })
    const statementsFor = async (request: () => Promise<{ status: number }>) => {
      const sent = vi.spyOn(pg.Client.prototype, 'query')
      try {
        expect((await request()).status).toBeLessThan(300)
        return sent.mock.calls.length
      } finally {
        sent.mockRestore()
      }
    }
    const add = (topic: string, subscriptions: string[]) =>
      api.post(subscriptionsOf(topic), {
        subscriptions,
        context: { tenant: topic, app: 'jira' },
        preferences: [{ filter: { tags: ['t'] } }],
      })
    const remove = (topic: string, subscriptions: string[]) => api.delete(subscriptionsOf(topic), { subscriptions })
    await api.post('/v2/topics', { key: 'warm-up' })
    expect(await statementsFor(() => add('one', ['s0']))).toBe(13)
    expect(await statementsFor(() => add('all', ids))).toBe(13)
    expect(await statementsFor(() => remove('one', ['s0']))).toBe(7)
    expect(await statementsFor(() => remove('all', ids))).toBe(7)
  })

  test('a subscriber never exceeds ten subscriptions per topic, however many requests run at once', async () => {
    const ids = ['ada', 'bob', 'cleo']
    const api = await apiWith(...ids)
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        api.post(subscriptionsOf('news'), {
          subscriptions: ids.map((subscriberId) => ({ subscriberId, identifier: `${subscriberId}-${index}` })),
        }),
      ),
    )
    expect(answers.every((answer) => answer.status === 201 || answer.status === 400)).toBe(true)
    const errors = answers.flatMap((answer) => answer.body.errors ?? [])
    expect(errors).toHaveLength(60)
    expect(new Set(errors.map((error) => error.code))).toEqual(new Set(['SUBSCRIPTION_LIMIT_EXCEEDED']))
    for (const id of ids)
      expect((await api.get(`${subscriptionsOf('news')}?subscriberId=${id}`)).body.totalCount).toBe(10)
  })

  test('concurrent identical requests create one topic and one subscription each', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `s${index}`)
    const api = await apiWith(...ids)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        api.post(subscriptionsOf('news'), {
          subscriptions: index % 2 === 0 ? ids : ids.toReversed(),
          context: index % 2 === 0 ? { tenant: 'acme', app: 'jira' } : { app: 'jira', tenant: 'acme' },
          name: index % 3 === 0 ? 'News' : 'More news',
        }),
      ),
    )
    expect(answers.map((answer) => answer.status)).toEqual(Array(20).fill(201))
    expect(new Set(answers.flatMap((answer) => answer.body.data.map((item: any) => item._id))).size).toBe(20)
    expect((await api.get('/v2/topics')).body.totalCount).toBe(1)
    expect((await api.get(subscriptionsOf('news'))).body.totalCount).toBe(20)
  })

  test('an identifier requested in many topics at once goes to one of them', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `s${index}`)
    const api = await apiWith(...ids)
    const subscriptions = ids.flatMap((subscriberId) =>
      Array.from({ length: 10 }, (_, index) => ({ subscriberId, identifier: `${subscriberId}-${index}` })),
    )
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        api.post(subscriptionsOf(`topic-${index}`), {
          subscriptions: index % 2 === 0 ? subscriptions : subscriptions.toReversed(),
        }),
      ),
    )
    expect(answers.every((answer) => answer.status === 201 || answer.status === 400)).toBe(true)
    expect(answers.reduce((total, answer) => total + answer.body.meta.successful, 0)).toBe(100)
    const codes = answers.flatMap((answer) => answer.body.errors ?? []).map((error) => error.code)
    expect(new Set(codes)).toEqual(new Set(['SUBSCRIPTION_CREATE_FAILED']))
  })

  test('identifiers are locked in sorted order, not that of the request, so requests cannot deadlock', async () => {
    const api = await apiWith('ada')
    const answer = await during(
      server,
      (tx) => subscribeInside(tx, api, 'one', 'ada', 'a'),
      () =>
        api.post(subscriptionsOf('two'), {
          subscriptions: ['z', 'a', 'y'].map((identifier) => ({ subscriberId: 'ada', identifier })),
        }),
      (tx) => subscribeInside(tx, api, 'one', 'ada', 'z'),
    )
    expect(answer).toMatchObject({ status: 201, body: { data: [{ identifier: 'y' }], meta: { failed: 2 } } })
  })

  test('concurrent subscribing, changing, unsubscribing and deleting leave nothing behind', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `s${index}`)
    const api = await apiWith(...ids)
    await addWorkflow(api, 'w')
    const statuses: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all([
        ...ids.flatMap((id) => [
          api.post(subscriptionsOf('news'), { subscriptions: ids, preferences: ['w'] }),
          api.patch(oneOf('news', `tk_news:si_${id}`), { preferences: ['w'] }),
          api.delete(`/v2/subscribers/${id}`),
          api.post('/v2/subscribers', { subscriberId: id }),
        ]),
        api.post(subscriptionsOf('news'), { subscriptions: ids.toReversed(), name: `Round ${round}` }),
        api.delete('/v2/topics/news'),
        api.delete(subscriptionsOf('news'), { subscriptions: ids.toReversed() }),
        api.post(subscriptionsOf('news'), { subscriptions: ids, preferences: ['w'] }),
        api.delete('/v2/topics/news'),
      ])
      statuses.push(...answers.map((answer) => answer.status))
    }
    expect([...new Set(statuses)].filter((status) => status >= 500)).toEqual([])
    expect(await orphans(api)).toEqual({ subscriptions: 0, preferences: 0 })
  })

  test('a subscriber being deleted is not found; one being subscribed is deleted with the subscription', async () => {
    const api = await apiWith('ada', 'bob')
    const late = await during(
      server,
      (tx) => deleteSubscriber(tx, api.environmentId, 'ada', { keepMessages: false, now: server.clock.now() }),
      () => api.post(subscriptionsOf('news'), { subscriptions: ['ada', 'bob'] }),
    )
    expect(late.body.errors).toMatchObject([{ subscriberId: 'ada', code: 'SUBSCRIBER_NOT_FOUND' }])
    const deleted = await during(
      server,
      (tx) => subscribeInside(tx, api, 'other', 'bob'),
      () => api.delete('/v2/subscribers/bob'),
    )
    expect(deleted.status).toBe(200)
    expect(await orphans(api)).toEqual({ subscriptions: 0, preferences: 0 })
  })

  test('a topic being deleted is created again; one being subscribed to is deleted with the subscription', async () => {
    const api = await apiWith('ada')
    const { _id } = (await api.post('/v2/topics', { key: 'news' })).body
    const late = await during(
      server,
      (tx) => deleteTopic(tx, api.environmentId, 'news'),
      () => api.post(subscriptionsOf('news'), { subscriptions: ['ada'] }),
    )
    expect(late.status).toBe(201)
    expect(late.body.data[0].topic._id).not.toBe(_id)
    await api.post('/v2/topics', { key: 'other' })
    const deleted = await during(
      server,
      (tx) => subscribeInside(tx, api, 'other', 'ada'),
      () => api.delete('/v2/topics/other'),
    )
    expect(deleted.status).toBe(200)
    expect((await api.get('/v2/subscribers/ada/subscriptions')).body.totalCount).toBe(1)
    expect(await orphans(api)).toEqual({ subscriptions: 0, preferences: 0 })
  })

  test.each(['/v2/topics/news', '/v2/subscribers/ada'])(
    'deleting %s also deletes a preference that is just being added',
    async (path) => {
      const api = await apiWith('ada')
      const workflowId = await addWorkflow(api, 'w')
      const made = await api.post(subscriptionsOf('news'), { subscriptions: ['ada'] })
      const { _id } = made.body.data[0]
      const deleted = await during(
        server,
        async (tx) => {
          await tx.updateTable('topic_subscriptions').set({ name: 'x' }).where('id', '=', _id).execute()
          await replacePreferences(tx, api.environmentId, _id, [{ workflowId, enabled: true, condition: null }])
        },
        () => api.delete(path),
      )
      expect(deleted.status).toBe(200)
      expect(await orphans(api)).toEqual({ subscriptions: 0, preferences: 0 })
    },
  )
})

async function subscribeInside(tx: Tx, api: Api, key: string, subscriberId: string, identifier = '') {
  const now = server.clock.now()
  const topic = await takeTopic(tx, api.environmentId, { key }, now)
  const entries = [{ subscriberId, identifier }]
  await subscribe(tx, { environmentId: api.environmentId, topic, entries, contextKeys: [], preferences: [] }, now)
}

async function orphans(api: Api) {
  const { rows } = await sql<{ subscriptions: number; preferences: number }>`
    SELECT
      (SELECT count(*)::int FROM topic_subscriptions t WHERE environment_id = ${api.environmentId} AND (
         NOT EXISTS (SELECT 1 FROM topics o WHERE o.environment_id = t.environment_id AND o.id = t.topic_id) OR
         NOT EXISTS (SELECT 1 FROM subscribers s WHERE s.environment_id = t.environment_id AND s.id = t.subscriber_row_id)))
        AS subscriptions,
      (SELECT count(*)::int FROM subscription_preferences p WHERE environment_id = ${api.environmentId} AND
         NOT EXISTS (SELECT 1 FROM topic_subscriptions t WHERE t.environment_id = p.environment_id AND t.id = p.subscription_id))
        AS preferences`.execute(server.database.db)
  return rows[0]
}
