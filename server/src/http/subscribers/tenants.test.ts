import { describe, expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'

const server = useServer()

describe('creating', () => {
  test('a tenant is created once; a second time is a conflict', async () => {
    const api = await server.freshApi()
    const tenant = { identifier: 'acme', name: 'Acme', data: { plan: { seats: 5 } } }
    const created = await api.post('/v1/tenants', { ...tenant, other: 1 })
    expect(created.status).toBe(201)
    expect(created.body).toEqual({
      ...tenant,
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      _environmentId: api.environmentId,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect(await api.post('/v1/tenants', { identifier: 'acme', name: 'Other' })).toMatchObject({
      status: 409,
      body: { message: `Tenant with identifier: acme already exists under environment ${api.environmentId}` },
    })
    expect(await api.get('/v1/tenants/acme')).toMatchObject({ status: 200, body: created.body })
    const elsewhere = await server.freshApi()
    const bare = await elsewhere.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    expect(bare.status).toBe(201)
    expect(bare.body).not.toHaveProperty('data')
  })

  test('concurrent creations make one tenant', async () => {
    const api = await server.freshApi()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.post('/v1/tenants', { identifier: 'one', name: 'One' })),
    )
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409])
  })

  test.each([
    [{ name: 'Acme' }, 'identifier', 'identifier should not be empty'],
    [{ identifier: '', name: 'Acme' }, 'identifier', 'identifier should not be empty'],
    [{ identifier: 5, name: 'Acme' }, 'identifier', 'identifier must be a string'],
    [
      { identifier: 'x'.repeat(256), name: 'Acme' },
      'identifier',
      'identifier must be shorter than or equal to 255 characters',
    ],
    [{ identifier: 'acme' }, 'name', 'name should not be empty'],
    [{ identifier: 'acme', name: '' }, 'name', 'name should not be empty'],
    [{ identifier: 'acme', name: 'Acme', data: [] }, 'data', 'data must be an object'],
  ])('%j is refused', async (body, field, message) => {
    const answer = await server.api.post('/v1/tenants', body)
    expect(answer).toMatchObject({
      status: 422,
      body: { message: `Validation failed for CreateTenantCommand: ${field}: ${message}` },
    })
    expect(answer.body.errors[field].messages).toEqual([message])
  })
})

describe('listing', () => {
  test('pages are numbered from 0, newest first; a full page has more', async () => {
    const api = await server.freshApi()
    for (const identifier of ['a', 'b', 'c', 'd', 'e']) {
      await api.post('/v1/tenants', { identifier, name: identifier })
      server.clock.advance({ seconds: 1 })
    }
    const page = async (query: string) => {
      const { status, body } = await api.get(`/v1/tenants${query}`)
      expect(status).toBe(200)
      return { ...body, data: body.data.map((tenant: { identifier: string }) => tenant.identifier).join('') }
    }
    expect(await page('')).toEqual({ data: 'edcba', page: 0, pageSize: 10, hasMore: false })
    expect(await page('?limit=2')).toEqual({ data: 'ed', page: 0, pageSize: 2, hasMore: true })
    expect(await page('?limit=2&page=1')).toEqual({ data: 'cb', page: 1, pageSize: 2, hasMore: true })
    expect(await page('?limit=2&page=2')).toEqual({ data: 'a', page: 2, pageSize: 2, hasMore: false })
    expect(await page('?page=1000000&limit=100')).toEqual({ data: '', page: 1000000, pageSize: 100, hasMore: false })
  })

  test.each([
    ['page=-1', 'page must not be less than 0'],
    ['limit=101', 'limit must not be greater than 100'],
    ['limit=x', 'limit must be a number conforming to the specified constraints'],
  ])('%s is refused', async (query, message) => {
    const answer = await server.api.get(`/v1/tenants?${query}`)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })
})

describe('changing', () => {
  test('the given fields change; empty ones and null are ignored', async () => {
    const api = await server.freshApi()
    const { body: before } = await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme', data: { a: 1 } })
    server.clock.advance({ minutes: 1 })
    for (const body of [{ identifier: '', name: null, data: null }, { identifier: null, name: '' }, {}, undefined])
      expect(await api.patch('/v1/tenants/acme', body)).toMatchObject({ status: 200, body: before })
    const patched = await api.patch('/v1/tenants/acme', { identifier: 'apex', name: 'Apex', data: { b: 2 } })
    expect(patched).toMatchObject({ status: 200 })
    expect(patched.body).toEqual({
      ...before,
      identifier: 'apex',
      name: 'Apex',
      data: { b: 2 },
      updatedAt: server.clock.now().toISOString(),
    })
    expect((await api.get('/v1/tenants/acme')).status).toBe(404)
    expect((await api.patch('/v1/tenants/apex', { identifier: 'apex', data: {} })).body.data).toEqual({})
  })

  test('a taken identifier is a conflict, and nothing changes', async () => {
    const api = await server.freshApi()
    await api.post('/v1/tenants', { identifier: 'one', name: 'One' })
    await api.post('/v1/tenants', { identifier: 'two', name: 'Two' })
    expect(await api.patch('/v1/tenants/two', { identifier: 'one', name: 'New' })).toMatchObject({
      status: 409,
      body: { message: `Tenant with identifier: one already exists under environment ${api.environmentId}` },
    })
    expect((await api.get('/v1/tenants/two')).body.name).toBe('Two')
  })

  test.each([
    [{ identifier: 5 }, 'identifier must be a string'],
    [{ identifier: 'x'.repeat(256) }, 'identifier must be shorter than or equal to 255 characters'],
    [{ name: [] }, 'name must be a string'],
    [{ data: 'x' }, 'data must be an object'],
  ])('%j is refused', async (body, message) => {
    const answer = await server.api.patch('/v1/tenants/any', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })

  test('a deleted tenant is gone', async () => {
    const api = await server.freshApi()
    await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    expect(await api.delete('/v1/tenants/acme')).toMatchObject({ status: 204, text: '' })
    expect((await api.get('/v1/tenants')).body.data).toEqual([])
  })

  test('an unknown tenant, or one of another environment, is not found', async () => {
    const [mine, other] = [await server.freshApi(), await server.freshApi()]
    await other.post('/v1/tenants', { identifier: 'theirs', name: 'Theirs' })
    const notFound = {
      status: 404,
      body: { message: `Tenant with identifier: theirs does not exist under environment ${mine.environmentId}` },
    }
    expect(await mine.get('/v1/tenants/theirs')).toMatchObject(notFound)
    expect(await mine.patch('/v1/tenants/theirs', { name: 'Mine' })).toMatchObject(notFound)
    expect(await mine.patch('/v1/tenants/theirs', {})).toMatchObject(notFound)
    expect(await mine.delete('/v1/tenants/theirs')).toMatchObject(notFound)
    expect((await other.get('/v1/tenants/theirs')).body.name).toBe('Theirs')
  })
})
