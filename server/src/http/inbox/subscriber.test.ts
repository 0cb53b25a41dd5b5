import { beforeEach, expect, test } from 'vitest'
import { type InboxClient, openInbox } from '../../../test/inbox.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
let inbox: InboxClient

beforeEach(async () => {
  api = await server.freshApi()
  inbox = await openInbox(server, api, 'ada')
})

test('a subscriber sees and changes the time zone of its schedule', async () => {
  expect(await inbox.get('/subscriber')).toMatchObject({ status: 200, body: { data: { subscriberId: 'ada' } } })
  const changed = { status: 200, body: { data: { subscriberId: 'ada', timezone: 'Asia/Tokyo' } } }
  expect(await inbox.patch('/subscriber', { timezone: 'Asia/Tokyo' })).toMatchObject(changed)
  expect(await inbox.get('/subscriber')).toMatchObject(changed)
  expect((await api.get('/v2/subscribers/ada')).body).toMatchObject({ timezone: 'Asia/Tokyo' })
})

test('a time zone from the page is there from the start', async () => {
  const ben = await openInbox(server, api, 'ben', { subscriber: { subscriberId: 'ben', timezone: 'Europe/Paris' } })
  expect((await ben.get('/subscriber')).body.data).toEqual({ subscriberId: 'ben', timezone: 'Europe/Paris' })
})

test.each([[{ timezone: 'Mars/Olympus' }], [{ timezone: null }], [{}]])('%j is refused', async (body) => {
  expect(await inbox.patch('/subscriber', body)).toMatchObject({ status: 422 })
  expect((await api.get('/v2/subscribers/ada')).body.timezone ?? null).toBeNull()
})

test('nothing else about the subscriber can be changed', async () => {
  await inbox.patch('/subscriber', { timezone: 'Asia/Tokyo', email: 'mallory@example.com' })
  expect((await api.get('/v2/subscribers/ada')).body.email ?? null).toBeNull()
})

test('other subscribers are not affected, even with the same id in another environment', async () => {
  const elsewhere = await server.freshApi()
  await elsewhere.post('/v2/subscribers', { subscriberId: 'ada', timezone: 'Europe/Paris' })
  await api.post('/v2/subscribers', { subscriberId: 'ben', timezone: 'Europe/Paris' })
  await inbox.patch('/subscriber', { timezone: 'Asia/Tokyo' })
  expect((await elsewhere.get('/v2/subscribers/ada')).body.timezone).toBe('Europe/Paris')
  expect((await api.get('/v2/subscribers/ben')).body.timezone).toBe('Europe/Paris')
})

test('without a token, or for a deleted subscriber, it is refused', async () => {
  const anonymous = { authorization: '' }
  expect(await inbox.get('/subscriber', anonymous)).toMatchObject({ status: 401 })
  expect(await inbox.patch('/subscriber', { timezone: 'Asia/Tokyo' }, anonymous)).toMatchObject({ status: 401 })
  await api.delete('/v2/subscribers/ada')
  expect(await inbox.patch('/subscriber', { timezone: 'Asia/Tokyo' })).toMatchObject({ status: 401 })
})
