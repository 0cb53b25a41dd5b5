import { beforeEach, describe, expect, test } from 'vitest'
import { insertMessage, insertRun, type Run } from '../../../test/activity.ts'
import { type InboxClient, openInbox } from '../../../test/inbox.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const unknownId = '65f0c0ffee65f0c0ffee65f0'
const iso = (date: Date = server.clock.now()) => date.toISOString()
const j = (value: unknown) => encodeURIComponent(JSON.stringify(value))
let api: Api
let run: Run
let inbox: InboxClient

beforeEach(async () => {
  api = await server.freshApi()
  run = await insertRun(server, api, 'ada', { jobs: [{ type: 'in_app' }] })
  inbox = await openInbox(server, api, 'ada')
})

const put = (fields: Parameters<typeof insertMessage>[2] = {}) => insertMessage(server, run, fields)
const ids = ({ body }: { body: { data: Array<{ id: string }> } }) => body.data.map(({ id }) => id)
const shown = async (id: string, as = inbox) =>
  (await as.get('/notifications?limit=100')).body.data.find((one: { id: string }) => one.id === id)
const buttons = [
  { type: 'primary', content: 'Yes', url: '/yes', target: '_self' },
  { type: 'secondary', content: 'No' },
]
const cta = { type: 'redirect', data: { url: '/x', target: '_blank' }, action: { buttons, result: {} } }

describe('listing', () => {
  let made: Record<string, string>
  beforeEach(async () => {
    made = {}
    const at = (second: number) => ({ created_at: new Date(Date.UTC(2026, 3, 1, 10, 0, second)) })
    made.a = await put({ ...at(1), tags: ['x'], data: { n: 1, deep: { s: 'q' } } })
    made.b = await put({ ...at(2), tags: ['x', 'y'], seen: true, severity: 'high', data: { n: 2, list: [1, 2] } })
    made.c = await put({ ...at(3), tags: ['y'], seen: true, read: true, severity: 'low', data: { n: null } })
    made.d = await put({ ...at(4), seen: true, read: true, archived: true })
    made.e = await put({ ...at(5), seen: true, snoozed_until: new Date('2027-01-01') })
    await put({ channel: 'email' })
    await put({ context_keys: ['tenant:acme'] })
    await insertMessage(server, await insertRun(server, api, 'bob'))
  })
  const names = async (query: string) => {
    const answer = await inbox.get(`/notifications?${query}`)
    expect([query, answer.status, answer.body.message]).toEqual([query, 200, undefined])
    return ids(answer)
      .map((id) => Object.keys(made).find((name) => made[name] === id))
      .join('')
  }

  test.each([
    ['', 'edcba'],
    ['limit=2', 'ed'],
    ['limit=10&archived=false&snoozed=false', 'cba'],
    ['read=false&snoozed=false', 'ba'],
    ['archived=true', 'd'],
    ['snoozed=true', 'e'],
    ['seen=false', 'a'],
    ['tags[]=x&tags[]=y', 'cba'],
    ['tags[0][]=x&tags[1][]=y', 'b'],
    [`${Array.from({ length: 24 }, (_, n) => `tags[]=t${n}&`).join('')}tags[]=x`, 'ba'],
    ['severity[]=high&severity[]=low', 'cb'],
    ['severity=high', 'b'],
    ['severity[]=none', 'eda'],
    [`data=${j({ n: 1 })}`, 'a'],
    [`data=${j({ n: [1, 2] })}`, 'ba'],
    [`data=${j({ n: { or: [1, 2] } })}`, 'ba'],
    [`data=${j({ list: { and: [{ or: [1] }, { or: [2, 3] }] } })}`, 'b'],
    [`data=${j({ list: { and: [{ or: [1] }, { or: [3] }] } })}`, ''],
    [`data=${j({ deep: { s: ['q', 'r'] } })}`, 'a'],
    [`data=${j({ n: { or: [] } })}`, 'edcba'],
    [`createdGte=${Date.UTC(2026, 3, 1, 10, 0, 4)}`, 'ed'],
    [`createdLte=${Date.UTC(2026, 3, 1, 10, 0, 2)}`, 'ba'],
    ['contextKeys=tenant:acme&subscriberId=bob', 'edcba'],
  ])('%s', async (query, expected) => {
    expect(await names(query)).toBe(expected)
  })

  test('continues after the last one of a page, echoes the filter, and has an exact hasMore', async () => {
    const first = await inbox.get(`/notifications?limit=3&seen=true&data=${j({})}&tags[]=&severity[]=high`)
    expect(first.body).toMatchObject({ hasMore: false, filter: { seen: true, severity: ['high'], data: {} } })
    expect(await names(`limit=3&after=${made.c}`)).toBe('ba')
    expect(await names('limit=3&offset=3')).toBe('ba')
    const exact = await inbox.get(`/notifications?limit=2&after=${made.c}`)
    expect(exact.body.hasMore).toBe(false)
    expect((await inbox.get('/notifications?limit=4')).body.hasMore).toBe(true)
  })

  test('pages do not shift while messages arrive', async () => {
    const first = ids(await inbox.get('/notifications?limit=2'))
    await put({})
    expect(await names(`limit=3&after=${first.at(-1)}`)).toBe('cba')
  })

  test.each([
    ['limit=0', 422],
    ['limit=101', 422],
    ['after=x', 422],
    [`after=${unknownId}`, 400],
    ['severity[]=x', 422],
    ['read=false&archived=true', 400],
    ['data=x', 400],
    [`data=${j([])}`, 400],
    [`data=${j({ a: { b: { c: 1 } } })}`, 400],
    [`data=${j({ $where: 1 })}`, 400],
    [`data=${j({ constructor: 1 })}`, 400],
    [`data=${j({ prototype: 1 })}`, 400],
    ['data=%7B%22__proto__%22%3A1%7D', 400],
    [`data=${j({ '.x': 1 })}`, 400],
    [`data=${j({ a: ['x'.repeat(257)] })}`, 400],
    [`data=${j({ a: [{ b: 1 }] })}`, 400],
    [`data=${j({ a: [[1]] })}`, 400],
  ])('%s is refused', async (query, status) => {
    expect([query, await inbox.get(`/notifications?${query}`)]).toMatchObject([query, { status }])
  })

  test("another subscriber's message is not a valid cursor", async () => {
    const bobs = ids(await (await openInbox(server, api, 'bob')).get('/notifications'))[0]
    expect(await inbox.get(`/notifications?after=${bobs}`)).toMatchObject({ status: 400 })
  })

  test('counts are returned with their filter as sent', async () => {
    const filters = [
      { read: false, archived: false, snoozed: false, severity: ['high'] },
      { tags: { and: [{ or: ['x'] }, { or: ['y'] }] }, data: { n: [1, 2] } },
      { seen: false, createdGte: 0, contextKeys: ['tenant:acme'] },
      {},
    ]
    const { body } = await inbox.get(`/notifications/count?filters=${j(filters)}`)
    expect(body).toEqual({ data: [1, 1, 1, 5].map((count, index) => ({ count, filter: filters[index] })) })
    for (const [text, status] of [
      ['x', 400],
      ['{}', 400],
      ['[1]', 400],
      [j([{ read: 'x' }]), 400],
      [j([{ createdGte: 'x' }]), 400],
      [j([{ read: false, archived: true }]), 400],
      [j(Array.from({ length: 31 }, () => ({}))), 422],
    ] as const)
      expect([text, await inbox.get(`/notifications/count?filters=${text}`)]).toMatchObject([text, { status }])
  })
})

describe('one notification', () => {
  test.each([
    ['read', {}, { isRead: true, isSeen: true, readAt: true, firstSeenAt: true }],
    ['unread', { read: true, archived: true }, { isRead: false, isSeen: true, isArchived: false, readAt: null }],
    ['archive', {}, { isArchived: true, isRead: true, isSeen: true, archivedAt: true, readAt: true }],
    ['unarchive', { archived: true }, { isArchived: false, archivedAt: null, isRead: true, isSeen: true }],
  ])('is marked: %s', async (operation, before, after) => {
    const id = await put(before)
    const answer = await inbox.patch(`/notifications/${id}/${operation}`)
    const expected = Object.fromEntries(
      Object.entries(after).map(([name, value]) => [name, name.endsWith('At') && value === true ? iso() : value]),
    )
    expect(answer).toMatchObject({ status: 200, body: { data: { id, ...expected } } })
    expect(await shown(id)).toEqual(answer.body.data)
  })

  test('is snoozed and unsnoozed', async () => {
    const id = await put({ archived: true })
    const until = iso(new Date(server.clock.now().getTime() + 3_600_000))
    const snoozed = await inbox.patch(`/notifications/${id}/snooze`, { snoozeUntil: until })
    expect(snoozed.body.data).toMatchObject({ isSnoozed: true, snoozedUntil: until, isSeen: true, isArchived: false })
    expect((await inbox.patch(`/notifications/${id}/unsnooze`)).body.data).toMatchObject({ isSnoozed: false })
    expect(await inbox.patch(`/notifications/${id}/unsnooze`)).toMatchObject({ status: 404 })
  })

  test.each([
    [59, 422],
    [90 * 86_400 + 1, 402],
  ])('cannot be snoozed for %i seconds', async (seconds, status) => {
    const id = await put()
    const snoozeUntil = iso(new Date(server.clock.now().getTime() + seconds * 1000))
    expect(await inbox.patch(`/notifications/${id}/snooze`, { snoozeUntil })).toMatchObject({ status })
    expect(await inbox.patch(`/notifications/${id}/snooze`, {})).toMatchObject({ status: 422 })
  })

  test('has one completed button at a time', async () => {
    const id = await put({ cta })
    const press = async (operation: string, actionType: string) =>
      (await inbox.patch(`/notifications/${id}/${operation}`, { actionType })).body.data
    expect(await press('complete', 'primary')).toMatchObject({
      ...{ primaryAction: { isCompleted: true }, secondaryAction: { isCompleted: false }, isRead: true, isSeen: true },
    })
    expect(await press('complete', 'secondary')).toMatchObject({
      ...{ primaryAction: { isCompleted: false }, secondaryAction: { isCompleted: true } },
    })
    expect(await press('revert', 'secondary')).toMatchObject({ secondaryAction: { isCompleted: false } })
    const plain = await put()
    expect((await inbox.patch(`/notifications/${plain}/complete`, { actionType: 'primary' })).body).toMatchObject({
      statusCode: 400,
      message: 'Could not perform action on the primary button because it does not exist.',
    })
    expect(await inbox.patch(`/notifications/${id}/complete`, { actionType: 'third' })).toMatchObject({ status: 422 })
  })

  test('is deleted', async () => {
    const id = await put()
    expect(await inbox.delete(`/notifications/${id}/delete`)).toMatchObject({ status: 204, text: '' })
    expect(await shown(id)).toBeUndefined()
  })

  test('belongs to one subscriber, in its contexts only', async () => {
    const others = [
      await insertMessage(server, await insertRun(server, api, 'bob'), { cta }),
      await put({ cta, context_keys: ['tenant:acme'] }),
      await insertMessage(server, await insertRun(server, await server.freshApi(), 'ada'), { cta }),
      unknownId,
      'x',
    ]
    const snoozeUntil = iso(new Date(server.clock.now().getTime() + 3_600_000))
    for (const id of others) {
      const calls = [
        ...['read', 'unread', 'archive', 'unarchive', 'unsnooze'].map((operation) => [operation, undefined] as const),
        ['snooze', { snoozeUntil }] as const,
        ['complete', { actionType: 'primary' }] as const,
        ['revert', { actionType: 'primary' }] as const,
      ]
      for (const [operation, body] of calls)
        expect([operation, await inbox.patch(`/notifications/${id}/${operation}`, body)]).toMatchObject([
          operation,
          { status: 404 },
        ])
      expect(await inbox.delete(`/notifications/${id}/delete`)).toMatchObject({ status: 404 })
    }
    const { rows } = await server.database.pool.query('SELECT 1 FROM messages WHERE read OR archived OR seen')
    const touched = rows.length
    await inbox.post('/notifications/read', {})
    await inbox.post('/notifications/delete', {})
    const after = await server.database.pool.query('SELECT 1 FROM messages WHERE read OR archived OR seen')
    expect(after.rows).toHaveLength(touched)
    const ofTenant = await openInbox(server, api, 'ada', { context: { tenant: 'acme' } })
    expect(ids(await ofTenant.get('/notifications'))).toEqual([others[1]])
    expect(await ofTenant.patch(`/notifications/${others[1]}/read`)).toMatchObject({ status: 200 })
  })
})

describe('many notifications', () => {
  const states = async () => {
    const { body } = await inbox.get('/notifications?limit=100')
    return Object.fromEntries(
      body.data.map(({ tags, isRead, isSeen, isArchived }: Record<string, unknown>) => [
        String(tags),
        `${isRead ? 'r' : ''}${isSeen ? 's' : ''}${isArchived ? 'a' : ''}`,
      ]),
    )
  }
  let x: string
  beforeEach(async () => {
    x = await put({ tags: ['x'], data: { n: 1 } })
    await put({ tags: ['y'] })
    await put({ tags: ['r'], read: true, seen: true })
    await put({ tags: ['z'], snoozed_until: new Date('2027-01-01') })
  })

  test.each([
    ['seen', {}, { x: 's', y: 's', r: 'rs', z: 's' }],
    ['seen', { notificationIds: [] }, { x: '', y: '', r: 'rs', z: '' }],
    ['seen', { tags: ['y'] }, { x: '', y: 's', r: 'rs', z: '' }],
    ['read', {}, { x: 'rs', y: 'rs', r: 'rs', z: '' }],
    ['read', { tags: { or: ['x'] } }, { x: 'rs', y: '', r: 'rs', z: '' }],
    ['read', { data: '{"n":[1,2]}' }, { x: 'rs', y: '', r: 'rs', z: '' }],
    ['archive', {}, { x: 'rsa', y: 'rsa', r: 'rsa', z: '' }],
    ['read-archive', {}, { x: '', y: '', r: 'rsa', z: '' }],
    ['delete', { tags: ['x'] }, { y: '', r: 'rs', z: '' }],
    ['delete', undefined, {}],
  ])('%s %j', async (operation, body, expected) => {
    expect(await inbox.post(`/notifications/${operation}`, body)).toMatchObject({ status: 204, text: '' })
    expect(await states()).toEqual(expected)
  })

  test('are changed up to a creation time, however many arrived since', async () => {
    const createdLte = server.clock.now().getTime()
    server.clock.advance({ seconds: 1 })
    await put({ tags: ['late'], created_at: server.clock.now() })
    for (const operation of ['seen', 'read'])
      expect(await inbox.post(`/notifications/${operation}`, { createdLte })).toMatchObject({ status: 204 })
    expect(await states()).toEqual({ x: 'rs', y: 'rs', r: 'rs', z: 's', late: '' })
    await inbox.post('/notifications/delete', { createdLte, tags: ['x', 'late'] })
    expect(Object.keys(await states()).sort()).toEqual(['late', 'r', 'y', 'z'])
  })

  test('are marked as seen by id; unknown ids are ignored', async () => {
    await inbox.post('/notifications/seen', { notificationIds: [x, unknownId], tags: ['y'] })
    expect(await states()).toEqual({ x: 's', y: '', r: 'rs', z: '' })
  })

  test.each([
    ['seen', { notificationIds: ['x'] }, 422],
    ['read', { tags: [1] }, 422],
    ['archive', { tags: { or: [], and: [] } }, 422],
    ['delete', { data: '[' }, 400],
    ['read', { data: {} }, 422],
    ['read', { createdLte: 'yesterday' }, 422],
  ])('%s %j is refused', async (operation, body, status) => {
    expect(await inbox.post(`/notifications/${operation}`, body)).toMatchObject({ status })
  })
})
