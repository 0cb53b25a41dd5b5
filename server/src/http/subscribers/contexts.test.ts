import { describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

describe('creating', () => {
  test('a context is created once; a second time is a conflict', async () => {
    const { api } = server
    const created = await api.post('/v2/contexts', { type: 'tenant', id: 'acme', data: { plan: 'pro' } })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      type: 'tenant',
      id: 'acme',
      data: { plan: 'pro' },
      createdAt: '2026-05-01T10:00:00.000Z',
      updatedAt: '2026-05-01T10:00:00.000Z',
    })
    const again = await api.post('/v2/contexts', { type: 'tenant', id: 'acme' })
    expect(again).toMatchObject({
      status: 409,
      body: { message: "Context with type 'tenant' and id 'acme' already exists" },
    })
  })

  test('data is optional; names may have a hundred letters, digits, _ and -, in either case', async () => {
    const id = `${'a'.repeat(97)}_-Z`
    const created = await server.api.post('/v2/contexts', { type: 'Project-1_x', id, extra: 'dropped' })
    expect(created).toMatchObject({ status: 201, body: { type: 'Project-1_x', id, data: {} } })
    expect(created.body).not.toHaveProperty('extra')
    expect((await server.api.get(`/v2/contexts/Project-1_x/${id}`)).body).toEqual(created.body)
    expect((await server.api.get(`/v2/contexts/project-1_x/${id}`)).status).toBe(404)
  })

  test('concurrent requests with the same name create one context', async () => {
    const api = await server.freshApi()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => api.post('/v2/contexts', { type: 'tenant', id: 'acme', data: { n } })),
    )
    const [made, ...others] = answers.toSorted((a, b) => a.status - b.status)
    expect(made?.status).toBe(201)
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 409))
    expect((await api.get('/v2/contexts/tenant/acme')).body).toEqual(made?.body)
  })

  test.each([
    [{ id: 'x' }, 'type should not be empty'],
    [{ type: '', id: 'x' }, 'type should not be empty'],
    [{ type: 'a' }, 'id should not be empty'],
    [{ type: 'a', id: 7 }, 'id must be a string'],
    [{ type: 'x'.repeat(101), id: 'x' }, 'type must be shorter than or equal to 100 characters'],
    [{ type: 'a b', id: 'x' }, 'Type must be lowercase alphanumeric with optional ., _, or - separators'],
    [{ type: 'a', id: 'dots.are.not' }, 'ID must be lowercase alphanumeric with optional ., _, or - separators'],
    [{ type: 'a', id: 'x'.repeat(101) }, 'id must be shorter than or equal to 100 characters'],
    [{ type: 'a', id: 'x', data: [] }, 'data must be an object'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.api.post('/v2/contexts', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('data may have 64 KB as UTF-8 JSON and no more, at first and later', async () => {
    const api = await server.freshApi()
    // {"text":"…"} takes 11 bytes, and each character three.
    const largest = { text: `${'€'.repeat(21_841)}xx` }
    const tooLarge = {
      status: 422,
      body: { message: "Context 'a' Data is too large: 65KB exceeds 64KB limit" },
    }
    const larger = { text: `${largest.text}x` }
    expect(await api.post('/v2/contexts', { type: 'a', id: 'big', data: larger })).toMatchObject(tooLarge)
    expect((await api.get('/v2/contexts/a/big')).status).toBe(404)
    expect((await api.post('/v2/contexts', { type: 'a', id: 'big', data: largest })).status).toBe(201)
    expect(await api.patch('/v2/contexts/a/big', { data: larger })).toMatchObject(tooLarge)
    expect((await api.get('/v2/contexts/a/big')).body.data).toEqual(largest)
  })
})

describe('reading and changing', () => {
  test('a context is found, its data replaced, then deleted', async () => {
    const api = await server.freshApi()
    await api.post('/v2/contexts', { type: 'app', id: 'jira', data: { a: 1, b: 2 } })
    expect((await api.get('/v2/contexts/app/jira')).body.data).toEqual({ a: 1, b: 2 })
    server.clock.advance({ minutes: 1 })
    const patched = await api.patch('/v2/contexts/app/jira', { data: { c: 3 } })
    expect(patched).toMatchObject({
      status: 200,
      body: { data: { c: 3 }, updatedAt: server.clock.now().toISOString() },
    })
    expect(await api.delete('/v2/contexts/app/jira')).toMatchObject({ status: 204, text: '' })
    expect(await api.get('/v2/contexts/app/jira')).toMatchObject({
      status: 404,
      body: { message: `Context with id 'jira' and type 'app' not found in environment ${api.environmentId}` },
    })
  })

  test('contexts with the same type or the same id are not affected', async () => {
    const api = await server.freshApi()
    const data = { kept: true }
    const others = ['/v2/contexts/app/slack', '/v2/contexts/team/jira']
    for (const [type, id] of [
      ['app', 'slack'],
      ['team', 'jira'],
      ['app', 'jira'],
    ])
      await api.post('/v2/contexts', { type, id, data })
    await api.patch('/v2/contexts/app/jira', { data: {} })
    expect((await api.get('/v2/contexts/app/jira')).body).toMatchObject({ type: 'app', id: 'jira', data: {} })
    for (const path of others) expect((await api.get(path)).body.data).toEqual(data)
    await api.delete('/v2/contexts/app/jira')
    for (const path of others) expect((await api.get(path)).status).toBe(200)
  })

  test('resources keep the key of a deleted context', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    await api.post('/v2/topics/news/subscriptions', { subscriptions: ['ada'], context: { tenant: 'acme' } })
    await api.delete('/v2/contexts/tenant/acme')
    const { body } = await api.get('/v2/subscribers/ada/subscriptions?contextKeys=tenant:acme')
    expect(body.data).toMatchObject([{ contextKeys: ['tenant:acme'] }])
  })

  test('an unknown context, or one of another environment, cannot be read, changed or deleted', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    await other.post('/v2/contexts', { type: 'app', id: 'theirs' })
    const message = `Context with id 'theirs' and type 'app' not found in environment ${mine.environmentId}`
    expect(await mine.get('/v2/contexts/app/theirs')).toMatchObject({ status: 404, body: { message } })
    expect(await mine.patch('/v2/contexts/app/theirs', { data: {} })).toMatchObject({
      status: 404,
      body: { message: "Context with type 'app' and id 'theirs' not found" },
    })
    expect(await mine.delete('/v2/contexts/app/theirs')).toMatchObject({ status: 404, body: { message } })
    expect((await other.get('/v2/contexts/app/theirs')).status).toBe(200)
  })

  test.each([
    [{}, 'data should not be null or undefined'],
    [{ data: null }, 'data must be an object'],
    [{ data: [] }, 'data must be an object'],
  ])('%j is not a valid change', async (body, message) => {
    const answer = await server.api.patch('/v2/contexts/app/any', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })
})

describe('the list', () => {
  test('filters by type, id and any part of both', async () => {
    const api = await server.freshApi()
    for (const [type, id] of [
      ['tenant', 'acme'],
      ['tenant', 'apex'],
      ['app', 'acme'],
    ])
      await api.post('/v2/contexts', { type, id })
    const keys = async (query: string) =>
      (await api.get(`/v2/contexts?${query}`)).body.data.map((c: { type: string; id: string }) => `${c.type}:${c.id}`)
    expect(await keys('orderDirection=ASC')).toEqual(['tenant:acme', 'tenant:apex', 'app:acme'])
    expect(await keys('type=tenant')).toEqual(['tenant:apex', 'tenant:acme'])
    expect(await keys('id=acme')).toEqual(['app:acme', 'tenant:acme'])
    expect(await keys('id=ACME')).toEqual([])
    expect(await keys('id=acme&type=app')).toEqual(['app:acme'])
    expect(await keys('search=NT:A')).toEqual(['tenant:apex', 'tenant:acme'])
    expect(await keys('search=%25')).toEqual([])
  })

  test('orders by creation or change, and is paged by cursor', async () => {
    const api = await server.freshApi()
    for (const id of ['a', 'b', 'c']) {
      server.clock.advance({ minutes: 1 })
      await api.post('/v2/contexts', { type: 'x', id })
    }
    server.clock.advance({ minutes: 1 })
    await api.patch('/v2/contexts/x/a', { data: {} })
    const page = async (query: string) => (await api.get(`/v2/contexts?${query}`)).body
    const ids = async (query: string) => (await page(query)).data.map((context: { id: string }) => context.id)
    expect(await ids('')).toEqual(['c', 'b', 'a'])
    expect(await ids('orderBy=createdAt&orderDirection=ASC')).toEqual(['a', 'b', 'c'])
    expect(await ids('orderBy=updatedAt')).toEqual(['a', 'c', 'b'])
    expect(await ids('orderBy=colour')).toEqual(['c', 'b', 'a'])
    const first = await page('limit=2')
    expect(first).toMatchObject({ data: [{ id: 'c' }, { id: 'b' }], previous: null, totalCount: 3 })
    const second = await page(`limit=2&after=${first.next}`)
    expect(second).toMatchObject({ data: [{ id: 'a' }], next: null, totalCount: 3 })
    expect(await page(`limit=2&before=${second.previous}`)).toEqual(first)
  })

  test('refuses a limit out of range and two cursors', async () => {
    for (const [limit, message] of [
      [101, 'limit must not be greater than 100'],
      [-1, 'limit must not be less than 1'],
    ])
      expect(await server.api.get(`/v2/contexts?limit=${limit}`)).toMatchObject({
        status: 422,
        body: {
          message: `Validation failed for ListContextsCommand: limit: ${message}`,
          errors: { limit: { messages: [message], value: limit } },
        },
      })
    expect((await server.api.get('/v2/contexts?after=a&before=b')).status).toBe(400)
  })

  test('has no contexts of other environments', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    await other.post('/v2/contexts', { type: 'app', id: 'theirs' })
    expect((await mine.get('/v2/contexts')).body).toMatchObject({ data: [], totalCount: 0 })
  })
})

describe('contexts named by other resources', () => {
  const subscribe = (api: Api, context: object) =>
    api.post('/v2/topics/news/subscriptions', { subscriptions: ['ada'], context })

  test('are created if missing, and unchanged if they exist', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    await api.post('/v2/contexts', { type: 'tenant', id: 'acme', data: { plan: 'pro' } })
    const { updatedAt } = (await api.get('/v2/contexts/tenant/acme')).body
    server.clock.advance({ minutes: 1 })
    const answer = await subscribe(api, {
      tenant: { id: 'acme', data: { plan: 'free' } },
      app: { id: 'jira', data: { a: 1 } },
      Team: 'Ops',
    })
    expect(answer.body.data[0].contextKeys).toEqual(['Team:Ops', 'app:jira', 'tenant:acme'])
    expect((await api.get('/v2/contexts/tenant/acme')).body).toMatchObject({ data: { plan: 'pro' }, updatedAt })
    expect((await api.get('/v2/contexts/app/jira')).body.data).toEqual({ a: 1 })
    expect((await api.get('/v2/contexts/Team/Ops')).body.data).toEqual({})
  })

  test('have the same limits as contexts created directly', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const longest = 'x'.repeat(100)
    expect((await subscribe(api, { [longest]: longest })).status).toBe(201)
    for (const context of [{ [`${longest}x`]: 'a' }, { a: `${longest}x` }, { a: '' }, { '': 'a' }, { 'a.b': 'c' }])
      expect((await subscribe(api, context)).status).toBe(422)
    expect(await subscribe(api, { a: { id: 'b', data: { text: 'x'.repeat(65_526) } } })).toMatchObject({
      status: 422,
      body: { message: "Context 'a' Data is too large: 65KB exceeds 64KB limit" },
    })
    expect((await api.get('/v2/contexts')).body.totalCount).toBe(1)
  })
})
