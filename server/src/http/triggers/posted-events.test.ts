import { beforeEach, expect, test } from 'vitest'
import { costlyNodes, statementsOf } from '../../../test/plan.ts'
import { makeWorkflow, runOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
beforeEach(async () => {
  api = await server.freshApi()
})

const post = (event: object) => api.post('/v2/events', event)

test('an event is accepted, read and listed, newest first', async () => {
  const { status, body } = await post({ name: 'a', key: 'k', payload: { x: 1 } })
  expect(status).toBe(201)
  expect(body).toEqual({
    ...{ acknowledged: true, id: expect.stringMatching(/^[0-9a-f]{24}$/), isDuplicate: false },
    createdAt: server.clock.now().toISOString(),
  })
  expect((await api.get(`/v2/events/${body.id}`)).body).toMatchObject({ status: 'matching', matched: 0 })
  await server.drain()
  expect((await api.get(`/v2/events/${body.id}`)).body).toEqual({
    ...{ id: body.id, name: 'a', key: 'k', subscriberId: null, payload: { x: 1 }, status: 'done', matched: 0 },
    createdAt: body.createdAt,
  })
  await post({ name: 'b', subscriberId: 'ada', id: 'second' })
  await post({ name: 'a', key: 'k', subscriberId: 'ada', id: 'third' })
  const list = async (query: string) => (await api.get(`/v2/events?${query}`)).body
  const ids = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id)
  expect(await ids('')).toEqual(['third', 'second', body.id])
  expect(await ids('name=a')).toEqual(['third', body.id])
  expect(await ids('subscriberId=ada')).toEqual(['third', 'second'])
  expect(await ids('key=k&name=a&subscriberId=ada')).toEqual(['third'])
  const first = await list('limit=2')
  expect(await ids(`limit=2&after=${first.next}`)).toEqual([body.id])
  expect((await list('')).next).toBeNull()
  expect((await api.get('/v2/events/second')).body.name).toBe('b')
  expect(await api.get('/v2/events/none')).toMatchObject({ status: 404, body: { code: 'event_not_found' } })
  // Nobody is made of it.
  expect((await api.get('/v2/subscribers/ada')).status).toBe(404)
})

test('an id that was used is answered alike and does nothing, also at the same moment; after its days it is free', async () => {
  const all = await Promise.all([1, 2, 3, 4].map((x) => post({ name: 'a', key: 'k', id: 'one', payload: { x } })))
  expect(all.filter(({ body }) => !body.isDuplicate)).toHaveLength(1)
  expect(new Set(all.map(({ body }) => `${body.id} ${body.createdAt}`)).size).toBe(1)
  expect((await api.get('/v2/events')).body.data).toHaveLength(1)
  server.clock.advance({ minutes: 1 })
  const again = await post({ name: 'a', key: 'k', id: 'one' })
  expect(again.body).toEqual({ ...all[0]?.body, isDuplicate: true })
  server.clock.advance({ days: 31 })
  expect((await post({ name: 'a', key: 'k', id: 'one' })).body.isDuplicate).toBe(false)
})

test('in bulk: one commit, in the same order, all or none', async () => {
  const events = [
    { name: 'a', key: 'k', id: 'x' },
    { name: 'b', subscriberId: 'ada' },
    { name: 'a', key: 'k', id: 'x' },
  ]
  const { status, body } = await api.post('/v2/events/bulk', { events })
  expect(status).toBe(201)
  expect(body.map(({ isDuplicate }: { isDuplicate: boolean }) => isDuplicate)).toEqual([false, false, true])
  expect(body[0].id).toBe('x')
  const wrong = await api.post('/v2/events/bulk', { events: [...events, { name: 'no one', key: 'k' }] })
  expect(wrong.status).toBe(422)
  expect((await api.post('/v2/events/bulk', { events: [] })).status).toBe(422)
  expect((await api.post('/v2/events/bulk', { events: Array(101).fill(events[1]) })).status).toBe(422)
  expect((await api.get('/v2/events')).body.data).toHaveLength(2)
})

test.each([
  [{ key: 'k' }, 422],
  [{ name: 'message.read', key: 'k' }, 422],
  [{ name: '-a', key: 'k' }, 422],
  [{ name: 'a'.repeat(129), key: 'k' }, 422],
  [{ name: 'a' }, 422],
  [{ name: 'a', key: '' }, 422],
  [{ name: 'a', key: 'x'.repeat(256) }, 422],
  [{ name: 'a', key: 'k', payload: [] }, 422],
  [{ name: 'a', key: 'k', payload: { x: 'y'.repeat(65 * 1024) } }, 413],
])('refuses %j with %i', async (event, status) => {
  expect((await post(event)).status).toBe(status)
})

test('events of an erased person go, and an export has them', async () => {
  await api.post('/v2/subscribers', { subscriberId: 'ada-lovelace' })
  await post({ name: 'a', subscriberId: 'ada-lovelace', id: 'hers', payload: { secret: 1 } })
  await post({ name: 'a', subscriberId: 'bob', id: 'his' })
  await post({ name: 'a', subscriberId: 'bob', id: 'about-her', payload: { of: ['ada-lovelace'] } })
  await post({ name: 'a', key: 'ada-lovelace', id: 'by-key' })
  await server.drain()
  const exported = await api.get('/v2/subscribers/ada-lovelace/export')
  expect(exported.text).toContain('"hers"')
  expect(exported.text).toContain('"by-key"')
  expect(exported.text).not.toContain('"bob"')
  expect((await api.post('/v2/subscribers/ada-lovelace/erase', {})).status).toBeLessThan(300)
  await server.drain()
  expect((await api.get('/v2/events')).body.data.map(({ id }: { id: string }) => id)).toEqual(['his'])
})

test('events and waits find each other by index, however many there are', async () => {
  const tables = ['posted_events', 'event_waits', 'posted_event_ids']
  const id = "lpad(to_hex(1770000000 + n), 8, '0') || lpad(to_hex(n), 16, '0')"
  await server.database.pool.query(
    `INSERT INTO posted_events (environment_id, id, name, key, subscriber_id, payload, created_at)
     SELECT $1, ${id}, 'paid', 'cart-' || n, 'user-' || n, '{}', now() FROM generate_series(1, 20000) n`,
    [api.environmentId],
  )
  await server.database.pool.query(
    `INSERT INTO event_waits (environment_id, notification_id, position, entry, kind, name, value, subscriber_id)
     SELECT $1, ${id}, 0, 0, 'key', 'paid', 'cart-' || n, 'user-' || n FROM generate_series(1, 20000) n`,
    [api.environmentId],
  )
  await server.database.pool.query('ANALYZE posted_events, event_waits')
  const entries = [{ event: 'paid', key: '{{payload.cart}}' }, { event: 'paid' }]
  const values = { for: entries, amount: 1, unit: 'hours' }
  await makeWorkflow(api, 'cart', [
    { stepId: 'wait', type: 'wait_for_event', controlValues: values },
    { type: 'in_app', controlValues: { body: 'Over' } },
  ])
  const given = await statementsOf(async () => {
    const transactionId = await trigger(api, 'cart', 'ada', { payload: { cart: 'mine' } })
    await server.drain()
    const answer = await post({ name: 'paid', key: 'mine', id: 'mine' })
    await server.drain()
    expect((await runOf(api, transactionId)).status).toBe('completed')
    return answer
  }, tables)
  expect(given.length).toBeGreaterThan(8)
  const costly: string[] = []
  for (const each of given)
    costly.push(...(await costlyNodes(server.database, each, [...tables, 'posted_events_default'], 200)))
  expect(costly).toEqual([])
})
