import { beforeEach, describe, expect, test } from 'vitest'
import { insertMessage, insertRun, type Run } from '../../../test/activity.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const now = '2026-05-01T10:00:00.000Z'
const unknownId = '65f0c0ffee65f0c0ffee65f0'
let api: Api
let run: Run

beforeEach(async () => {
  api = await server.freshApi()
  run = await insertRun(server, api, 'ada')
})

const put = (fields: Parameters<typeof insertMessage>[2] = {}) => insertMessage(server, run, fields)
const rows = () =>
  server.database.db
    .selectFrom('messages')
    .select(['id', 'read', 'seen', 'archived', 'last_read_at', 'last_seen_at', 'first_seen_at', 'updated_at'])
    .where('environment_id', '=', api.environmentId)
    .orderBy('id')
    .execute()

const messages = '/v1/subscribers/ada/messages'
const longAgo = new Date('2026-04-01T10:00:00.000Z')
const dates = { last_read_at: longAgo, last_seen_at: longAgo, first_seen_at: longAgo }

describe('mark-as', () => {
  test.each([
    ['read', { read: true, seen: true, lastReadDate: now, lastSeenDate: now, firstSeenDate: now }],
    ['unread', { read: false, seen: true, lastReadDate: now, lastSeenDate: now, firstSeenDate: now }],
    ['seen', { read: false, seen: true, lastReadDate: undefined, lastSeenDate: now, firstSeenDate: now }],
    ['unseen', { read: false, seen: false, lastReadDate: undefined, lastSeenDate: now, firstSeenDate: undefined }],
  ])('%s, of a new message', async (markAs, state) => {
    const messageId = await put()
    const { status, body } = await api.post(`${messages}/mark-as`, { messageId, markAs })
    expect(status).toBe(201)
    expect(body).toHaveLength(1)
    expect({ ...body[0] }).toMatchObject({ _id: messageId, updatedAt: now, subscriber: { subscriberId: 'ada' } })
    const { read, seen, lastReadDate, lastSeenDate, firstSeenDate } = body[0]
    expect({ read, seen, lastReadDate, lastSeenDate, firstSeenDate }).toEqual(state)
  })

  test.each([
    ['read', { read: true, seen: true, lastReadDate: now, firstSeenDate: longAgo.toISOString(), archived: true }],
    ['unread', { read: false, seen: true, lastReadDate: now, firstSeenDate: longAgo.toISOString(), archived: true }],
    ['seen', { read: true, seen: true, lastReadDate: longAgo.toISOString(), firstSeenDate: longAgo.toISOString() }],
    ['unseen', { read: true, seen: false, lastReadDate: longAgo.toISOString() }],
  ])('%s, of one that was read', async (markAs, state) => {
    const messageId = await put({ read: true, seen: true, archived: true, ...dates })
    const { body } = await api.post(`${messages}/mark-as`, { messageId, markAs })
    expect(body).toMatchObject([{ ...state, lastSeenDate: now }])
  })

  test('many at once, of any channel, in the given order; those of other subscribers are skipped', async () => {
    const [first, mail] = [await put(), await put({ channel: 'email' })]
    const others = await insertMessage(server, await insertRun(server, api, 'bob'))
    const elsewhere = await insertMessage(server, await insertRun(server, await server.freshApi(), 'ada'))
    const messageId = [mail, others, first, elsewhere, unknownId, mail]
    const { body } = await api.post(`${messages}/mark-as`, { messageId, markAs: 'read' })
    expect(body.map((message: any) => [message._id, message.channel, message.read])).toEqual([
      [mail, 'email', true],
      [first, 'in_app', true],
    ])
    expect((await rows()).map(({ id, read }) => [id, read])).toEqual([
      [first, true],
      [mail, true],
      [others, false],
    ])
    expect((await api.post(`${messages}/mark-as`, { messageId: unknownId, markAs: 'read' })).body).toEqual([])
  })

  test.each([
    [{ messageId: 'x', markAs: 'read' }],
    [{ messageId: [], markAs: 'read' }],
    [{ messageId: [unknownId, 'x'], markAs: 'read' }],
  ])('%j is refused', async (body) => {
    const answer = await api.post(`${messages}/mark-as`, body)
    expect([answer.status, answer.body.errors.general.messages]).toEqual([
      422,
      ['messageId must be a valid MongoDB ObjectId or an array of valid MongoDB ObjectIds'],
    ])
  })

  test.each([
    [
      { messageId: unknownId, markAs: 'gone' },
      'markAs must be one of the following values: read, seen, unread, unseen',
    ],
    [{ messageId: unknownId }, 'markAs should not be empty'],
    [{ markAs: 'read' }, 'messageId should not be null or undefined'],
    [
      { messageId: Array.from({ length: 1_001 }, (_, n) => n.toString(16).padStart(24, '0')), markAs: 'read' },
      'messageId must contain no more than 1000 elements',
    ],
  ])('a malformed body is refused', async (body, message) => {
    const answer = await api.post(`${messages}/mark-as`, body)
    expect([answer.status, answer.body.errors.general.messages]).toEqual([422, [message]])
  })

  test('an unknown subscriber is refused', async () => {
    const body = { messageId: unknownId, markAs: 'read' }
    const notFound = { status: 404, body: { message: 'Subscriber eve not found' } }
    expect(await api.post('/v1/subscribers/eve/messages/mark-as', body)).toMatchObject(notFound)
    const old = { messageId: unknownId, mark: { read: true } }
    expect(await api.post('/v1/subscribers/eve/messages/markAs', old)).toMatchObject(notFound)
  })
})

test.each([
  [{ read: true }, { read: true, seen: true }],
  [
    { read: true, seen: true },
    { read: true, seen: true },
  ],
  [{ read: false }, { read: false, seen: true }],
  [{ seen: true }, { read: false, seen: true }],
  [
    { read: false, seen: false },
    { read: false, seen: false },
  ],
  [
    { read: true, seen: false },
    { read: true, seen: false },
  ],
  [{ seen: false }, { read: false, seen: false }],
])('markAs, in the form of older clients: %j', async (mark, state) => {
  const messageId = await put()
  const answer = await api.post(`${messages}/markAs`, { messageId: [messageId], mark })
  expect(answer).toMatchObject({ status: 201, body: [{ _id: messageId, ...state }] })
})

test('markAs without a mark or a message is refused', async () => {
  const nothing = await api.post(`${messages}/markAs`, { messageId: unknownId, mark: {} })
  expect([nothing.status, nothing.body.errors.general.messages]).toEqual([422, ['mark should not be empty']])
  expect((await api.post(`${messages}/markAs`, { messageId: 'x', mark: { read: true } })).status).toBe(422)
})

describe('mark-all', () => {
  test.each([
    ['read', 3],
    ['unread', 1],
    ['seen', 2],
    ['unseen', 2],
  ])('%s changes %i: only in-app messages without that mark', async (markAs, count) => {
    await put()
    await put()
    await put({ seen: true, ...dates })
    await put({ seen: true, read: true, ...dates })
    await put({ channel: 'email' })
    await insertMessage(server, await insertRun(server, api, 'bob'))
    server.clock.advance({ ms: 1 })
    const before = await rows()
    expect(await api.post(`${messages}/mark-all`, { markAs })).toMatchObject({ status: 201, body: count })
    const changed = (await rows()).filter((row, n) => row.updated_at.getTime() !== before[n]?.updated_at.getTime())
    expect(changed).toHaveLength(count)
    const wanted = { read: { read: true, seen: true }, unread: { read: false, seen: true } }[markAs] ?? {
      seen: markAs === 'seen',
    }
    for (const row of changed) expect(row).toMatchObject(wanted)
    expect((await api.post(`${messages}/mark-all`, { markAs })).body).toBe(0)
    server.clock.advance({ ms: -1 })
  })

  test('a feed identifier matches no message', async () => {
    await put()
    for (const feedIdentifier of ['news', ['news', 'more']])
      expect((await api.post(`${messages}/mark-all`, { markAs: 'read', feedIdentifier })).body).toBe(0)
    expect((await api.post(`${messages}/mark-all`, { markAs: 'read', feedIdentifier: '' })).body).toBe(1)
  })

  test('its body is validated', async () => {
    expect(await api.post('/v1/subscribers/eve/messages/mark-all', { markAs: 'read' })).toMatchObject({
      status: 404,
      body: {
        message: `Subscriber eve does not exist in environment ${api.environmentId}, please provide a valid subscriber identifier`,
      },
    })
    expect((await api.post(`${messages}/mark-all`, { markAs: 'lost' })).status).toBe(422)
  })

  test('concurrent requests count each message once', async () => {
    for (let n = 0; n < 20; n += 1) await put()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => api.post(`${messages}/mark-all`, { markAs: 'read' })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(answers.reduce((sum, { body }) => sum + body, 0)).toBe(20)
  })
})

describe('actions', () => {
  const buttons = [{ type: 'primary', content: 'Yes', url: '/yes' }]
  const cta = { type: 'redirect', data: { url: '/x' }, action: { buttons, result: {} } }

  test('the state of a button is stored with the message', async () => {
    const id = await put({ cta })
    const answer = await api.post(`${messages}/${id}/actions/primary`, { status: 'done', payload: { a: 1 } })
    expect(answer).toMatchObject({ status: 201, body: { _id: id, read: false } })
    const result = { type: 'primary', payload: { a: 1 } }
    expect(answer.body.cta).toEqual({ ...cta, action: { buttons, status: 'done', result } })
    const back = await api.post(`${messages}/${id}/actions/secondary`, { status: 'pending' })
    expect(back.body.cta.action).toEqual({ buttons, status: 'pending', result: { type: 'secondary' } })
    expect((await api.get('/v1/messages')).body.data[0].cta).toEqual(back.body.cta)
  })

  test('a message without buttons accepts it too', async () => {
    const answer = await api.post(`${messages}/${await put()}/actions/primary`, { status: 'done' })
    expect(answer.body.cta).toEqual({ action: { status: 'done', result: { type: 'primary' } } })
  })

  test('a message of another subscriber is refused', async () => {
    const id = await put({ cta })
    const others = await insertMessage(server, await insertRun(server, api, 'bob'), { cta })
    const elsewhere = await insertMessage(server, await insertRun(server, await server.freshApi(), 'ada'), { cta })
    const press = (subscriberId: string, messageId: string, body: object = { status: 'done' }, type = 'primary') =>
      api.post(`/v1/subscribers/${subscriberId}/messages/${messageId}/actions/${type}`, body)
    expect(await press('ada', others)).toMatchObject({
      status: 400,
      body: { message: `Message ${others} was not sent to subscriber ada; nothing was changed` },
    })
    expect(await press('ada', elsewhere)).toMatchObject({
      status: 404,
      body: { message: `Message ${elsewhere} not found` },
    })
    expect(await press('eve', id)).toMatchObject({ status: 400, body: { message: 'SubscriberId: eve not found' } })
    expect(await press('ada', 'x')).toMatchObject({
      status: 422,
      body: { errors: { messageId: { messages: ['messageId must be a mongodb id'], value: 'x' } } },
    })
    expect((await press('ada', id, { status: 'lost' })).status).toBe(422)
    expect((await press('ada', id, {}, 'third')).status).toBe(422)
    const stored = await server.database.db
      .selectFrom('messages')
      .select('cta')
      .where('id', 'in', [id, others])
      .execute()
    expect(stored.map((row) => row.cta)).toEqual([cta, cta])
  })
})

describe('the feed', () => {
  const feed = (query = '', subscriberId = 'ada') =>
    api.get(`/v1/subscribers/${subscriberId}/notifications/feed?${query}`)
  const listed = async (query: string) => (await feed(query)).body.data.map(({ _id }: { _id: string }) => _id)

  test('shows in-app messages, newest first, in pages', async () => {
    const made: string[] = []
    for (let n = 0; n < 3; n += 1) made.unshift(await put({ created_at: new Date(longAgo.getTime() + n) }))
    await put({ channel: 'email' })
    await insertMessage(server, await insertRun(server, api, 'bob'))
    const pages = [await feed('limit=2'), await feed('limit=2&page=1'), await feed('limit=3')]
    expect(pages.map(({ body }) => [body.data.map((item: any) => item._id), body.hasMore, body.totalCount])).toEqual([
      [made.slice(0, 2), true, 3],
      [made.slice(2), false, 3],
      [made, false, 3],
    ])
    expect(pages[1]?.body).toMatchObject({ page: 1, pageSize: 2 })
  })

  test('has complete items', async () => {
    await api.patch('/v2/subscribers/ada', { firstName: 'Ada', lastName: 'Lovelace', avatar: 'https://a' })
    run = await insertRun(server, api, 'ada', { event: { payload: { n: 1 } } })
    const id = await put({ data: { a: 1 }, tags: ['x'], subject: 'Hi', content: null })
    expect((await feed()).body.data[0]).toMatchObject({
      ...{ _id: id, channel: 'in_app', content: '', subject: 'Hi', cta: {}, status: 'sent', providerId: 'svc' },
      ...{ read: false, seen: false, archived: false, payload: { n: 1 }, data: { a: 1 }, tags: ['x'] },
      _subscriberId: run.subscriberRowId,
      subscriber: {
        ...{ _id: run.subscriberRowId, subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' },
        avatar: 'https://a',
      },
    })
  })

  test('filters by read and seen', async () => {
    const [fresh, seen, read] = [await put(), await put({ seen: true }), await put({ seen: true, read: true })]
    expect(await listed('seen=true')).toEqual([read, seen])
    expect(await listed('seen=false')).toEqual([fresh])
    expect(await listed('read=false')).toEqual([seen, fresh])
    expect(await listed('read=true&seen=true')).toEqual([read])
    expect(await listed('feedIdentifier=news')).toEqual([])
  })

  test('filters by the payload of the trigger', async () => {
    const of = async (payload: object) =>
      insertMessage(server, await insertRun(server, api, 'ada', { event: { payload } }))
    const [one, two] = [await of({ a: 1, b: { c: { d: 'x' } } }), await of({ a: [1, 2], b: { c: { d: 'y' } } })]
    const by = (payload: unknown) =>
      listed(`payload=${encodeURIComponent(Buffer.from(JSON.stringify(payload)).toString('base64'))}`)
    expect(await by({ a: 1 })).toEqual([two, one])
    expect(await by({ a: 1, b: { c: { d: 'x' } } })).toEqual([one])
    expect(await by({ b: { c: { d: 'z' } } })).toEqual([])
    expect(await by({ a: null })).toEqual([])
    expect(await by({ missing: null })).toEqual([two, one])
    expect(await by({})).toEqual([two, one])
  })

  test.each([
    [`payload=${btoa('nothing')}`, 400, 'Invalid payload, the JSON object should be encoded to base64 string.'],
    [`payload=${btoa('[1]')}`, 400, 'Invalid payload, the JSON object should be encoded to base64 string.'],
    [
      `payload=${btoa('{"a":{"b":{"c":{"d":1}}}}')}`,
      400,
      'Invalid payload, the JSON object should be encoded to base64 string.',
    ],
    ['limit=101', 422, 'Validation Error'],
    ['page=-1', 422, 'Validation Error'],
  ])('%s is refused', async (query, status, message) => {
    expect(await feed(query)).toMatchObject({ status, body: { message } })
  })

  test('an unknown subscriber is refused', async () => {
    const message =
      'Subscriber not found for this environment with the id: eve. Make sure to create a subscriber before fetching the feed.'
    expect(await feed('', 'eve')).toMatchObject({ status: 400, body: { message } })
    expect(await api.get('/v1/subscribers/eve/notifications/unseen')).toMatchObject({ status: 400, body: { message } })
  })
})

test('unseen messages are counted up to a limit', async () => {
  for (let n = 0; n < 3; n += 1) await put()
  await put({ seen: true })
  await put({ channel: 'email' })
  const count = async (query: string) => (await api.get(`/v1/subscribers/ada/notifications/unseen?${query}`)).body.count
  expect(await count('')).toBe(3)
  expect(await count('seen=true')).toBe(1)
  expect(await count('limit=2')).toBe(2)
  expect(await count('feedId=x')).toBe(0)
  for (const limit of ['0', '1001'])
    expect(await api.get(`/v1/subscribers/ada/notifications/unseen?limit=${limit}`)).toMatchObject({
      status: 422,
      body: { errors: { limit: { value: Number(limit) } } },
    })
})
