import { beforeAll, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer({ wrapData: true })
let api: Api

beforeAll(async () => {
  api = await server.freshApi()
})

describe('with BELFRY_WRAP_DATA', () => {
  test('a single resource is wrapped', async () => {
    const created = await api.post('/v2/subscribers', { subscriberId: 'ada', data: { plan: 'pro' } })
    expect(created.status).toBe(201)
    expect(Object.keys(created.body)).toEqual(['data'])
    expect(created.body.data).toMatchObject({ subscriberId: 'ada', data: { plan: 'pro' } })
    expect(created.headers.get('content-length')).toBe(String(Buffer.byteLength(created.text)))
    expect((await api.get('/v2/subscribers/ada')).body).toEqual({ data: created.body.data })
    // A context has its own `data`, which does not make it a page.
    const context = await api.post('/v2/contexts', { type: 'tenant', id: 'acme', data: { a: 1 } })
    expect(context.body).toMatchObject({ data: { type: 'tenant', data: { a: 1 } } })
  })

  test('a list that is not a page is wrapped', async () => {
    const { body } = await api.get('/v1/integrations')
    expect(body).toEqual({ data: [expect.objectContaining({ channel: 'in_app' })] })
  })

  test('pages are not wrapped', async () => {
    expect((await api.get('/v2/subscribers')).body).toMatchObject({ data: [{ subscriberId: 'ada' }], totalCount: 1 })
    expect((await api.get('/v1/subscribers')).body).toMatchObject({ data: [{ subscriberId: 'ada' }], page: 0 })
  })

  test('errors are not wrapped', async () => {
    expect((await api.get('/v2/subscribers/nobody')).body).toMatchObject({ statusCode: 404 })
    expect((await api.post('/v2/subscribers', {})).body).toMatchObject({ statusCode: 422 })
    expect((await api.get('/v1/nothing')).body).toMatchObject({ statusCode: 404 })
  })

  test('an empty answer stays empty', async () => {
    await api.post('/v2/contexts', { type: 'tenant', id: 'gone' })
    expect(await api.delete('/v2/contexts/tenant/gone')).toMatchObject({ status: 204, text: '' })
  })

  test('HEAD gives the length of what GET would send', async () => {
    const [head, get] = [await api.send('HEAD', '/v2/subscribers/ada'), await api.get('/v2/subscribers/ada')]
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)))
  })

  test('a replayed answer is wrapped once', async () => {
    const send = () => api.post('/v2/subscribers', { subscriberId: 'bob' }, { 'idempotency-key': 'k' })
    const [first, again] = [await send(), await send()]
    expect(again.headers.get('idempotency-replay')).toBe('true')
    expect(again.text).toBe(first.text)
    expect(again.body.data.subscriberId).toBe('bob')
  })

  test('health, metrics and pages are not wrapped', async () => {
    expect((await api.get('/health/live')).text).toBe('{"status":"ok"}')
    expect((await api.get('/openapi.json')).body.openapi).toBe('3.1.0')
    expect((await api.get('/docs/')).text).toMatch(/^<!doctype html>/)
  })
})
