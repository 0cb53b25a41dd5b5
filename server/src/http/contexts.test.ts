import { describe, expect, test } from 'vitest'
import { useServer } from '../../test/server.ts'

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

  test.each([
    [{ id: 'x' }, 'type should not be empty'],
    [{ type: 'a b', id: 'x' }, 'Type must be lowercase alphanumeric with optional ., _, or - separators'],
    [{ type: 'a', id: 'dots.are.not' }, 'ID must be lowercase alphanumeric with optional ., _, or - separators'],
    [{ type: 'a', id: 'x'.repeat(101) }, 'id must be shorter than or equal to 100 characters'],
    [{ type: 'a', id: 'x', data: [] }, 'data must be an object'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.api.post('/v2/contexts', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('data over 64 KB is refused', async () => {
    const answer = await server.api.post('/v2/contexts', { type: 'a', id: 'big', data: { text: 'x'.repeat(65_600) } })
    expect(answer).toMatchObject({
      status: 422,
      body: { message: "Context 'a' Data is too large: 65KB exceeds 64KB limit" },
    })
    expect((await server.api.get('/v2/contexts/a/big')).status).toBe(404)
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

  test('what is not there cannot be changed or deleted, nor what is elsewhere', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    await other.post('/v2/contexts', { type: 'app', id: 'theirs' })
    expect(await mine.patch('/v2/contexts/app/theirs', { data: {} })).toMatchObject({
      status: 404,
      body: { message: "Context with type 'app' and id 'theirs' not found" },
    })
    expect((await mine.delete('/v2/contexts/app/theirs')).status).toBe(404)
    expect((await mine.patch('/v2/contexts/app/theirs', {})).status).toBe(422)
    expect((await other.get('/v2/contexts/app/theirs')).status).toBe(200)
  })

  test('the list filters by type, id and any part of both', async () => {
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
    expect(await keys('id=acme&type=app')).toEqual(['app:acme'])
    expect(await keys('search=NT:A')).toEqual(['tenant:apex', 'tenant:acme'])
    expect(await keys('search=%25')).toEqual([])
    expect((await api.get('/v2/contexts?limit=101')).body.errors).toHaveProperty('limit')
  })
})
