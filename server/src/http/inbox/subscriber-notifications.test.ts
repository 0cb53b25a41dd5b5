import { beforeEach, describe, expect, test } from 'vitest'
import { insertMessage, insertRun, type Run, timersOf } from '../../../test/activity.ts'
import { during } from '../../../test/during.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'
import { unsnoozeDue } from '../../db/queries/messages.ts'

const server = useServer()
const path = '/v2/subscribers/ada/notifications'
const unknownId = '65f0c0ffee65f0c0ffee65f0'
const longAgo = new Date('2026-04-01T10:00:00.000Z')
const iso = (date: Date = server.clock.now()) => date.toISOString()
let api: Api
let run: Run

beforeEach(async () => {
  api = await server.freshApi()
  run = await insertRun(server, api, 'ada', { jobs: [{ type: 'in_app' }] })
})

const put = (fields: Parameters<typeof insertMessage>[2] = {}) => insertMessage(server, run, fields)
const shown = async (id: string) =>
  (await api.get(`${path}?limit=100`)).body.data.find((one: { id: string }) => one.id === id)
const buttons = [
  { type: 'primary', content: 'Yes', url: '/yes', target: '_self' },
  { type: 'secondary', content: 'No' },
]
const cta = { type: 'redirect', data: { url: '/x', target: '_blank' }, action: { buttons, result: {} } }

describe('an item', () => {
  test('with all fields', async () => {
    await api.patch('/v2/subscribers/ada', { firstName: 'Ada', lastName: 'Lovelace', avatar: 'https://a' })
    const workflow_id = await addWorkflow(server, api.environmentId, 'welcome', {
      ...{ name: 'Welcome', critical: true, severity: 'low', tags: ['t'], data: { team: 'x' } },
    })
    run = await insertRun(server, api, 'ada', { workflow_id })
    const id = await put({
      ...{ subject: 'Hi', content: 'Body', avatar: 'https://b', cta, data: { a: 1 }, tags: ['x'], severity: 'high' },
    })
    expect((await api.get(path)).body).toEqual({
      hasMore: false,
      filter: {},
      data: [
        {
          ...{ id, transactionId: run.transaction_id, subject: 'Hi', body: 'Body', avatar: 'https://b' },
          to: {
            ...{ id: run.subscriberRowId, subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace' },
            avatar: 'https://a',
          },
          ...{ isRead: false, isSeen: false, isArchived: false, isSnoozed: false },
          ...{ snoozedUntil: null, readAt: null, firstSeenAt: null, archivedAt: null },
          ...{ createdAt: iso(), deliveredAt: [iso()], channelType: 'in_app', tags: ['x'], data: { a: 1 } },
          primaryAction: { label: 'Yes', isCompleted: false, redirect: { url: '/yes', target: '_self' } },
          secondaryAction: { label: 'No', isCompleted: false },
          redirect: { url: '/x', target: '_blank' },
          severity: 'high',
          workflow: {
            ...{ id: workflow_id, identifier: 'welcome', name: 'Welcome', critical: true, tags: ['t'] },
            ...{ data: { team: 'x' }, severity: 'low' },
          },
        },
      ],
    })
    await api.delete('/v2/workflows/welcome')
    expect((await shown(id)).workflow).toMatchObject({
      name: 'Welcome',
      critical: true,
      tags: ['t'],
      data: { team: 'x' },
    })
  })

  test('with few fields, of an unknown workflow', async () => {
    const id = await put({ content: null, delivered_at: null })
    const item = await shown(id)
    expect(item).toMatchObject({ body: '', workflow: { identifier: 'welcome', name: 'welcome', critical: false } })
    for (const member of ['subject', 'avatar', 'primaryAction', 'secondaryAction', 'data', 'redirect', 'deliveredAt'])
      expect(item).not.toHaveProperty(member)
  })
})

describe('listing', () => {
  let made: Record<string, string>
  beforeEach(async () => {
    made = {}
    const at = (second: number) => ({ created_at: new Date(longAgo.getTime() + second * 1000) })
    made.a = await put({ ...at(1), tags: ['x'], data: { n: 1, deep: { s: 'q' } } })
    made.b = await put({ ...at(2), tags: ['x', 'y'], seen: true, severity: 'high', data: { n: 2, list: [1, 2] } })
    made.c = await put({ ...at(3), tags: ['y'], seen: true, read: true, severity: 'low', data: { n: null } })
    made.d = await put({ ...at(4), seen: true, read: true, archived: true, context_keys: ['app:jira', 'tenant:acme'] })
    made.e = await put({ ...at(5), seen: true, snoozed_until: new Date('2027-01-01'), context_keys: ['tenant:acme'] })
    await put({ channel: 'email' })
    await insertMessage(server, await insertRun(server, api, 'bob'))
  })
  const ask = async (query: string) => {
    const answer = await api.get(`${path}?${query}`)
    expect([query, answer.status, answer.body.message]).toEqual([query, 200, undefined])
    return answer.body
  }
  const names = async (query: string) => {
    const { data } = await ask(query)
    return data.map(({ id }: { id: string }) => Object.keys(made).find((name) => made[name] === id)).join('')
  }
  const j = (value: unknown) => encodeURIComponent(JSON.stringify(value))

  test.each([
    ['', 'edcba'],
    ['read=true', 'dc'],
    ['read=false', 'eba'],
    ['seen=false', 'a'],
    ['archived=true', 'd'],
    ['archived=false&snoozed=false', 'cba'],
    ['snoozed=true', 'e'],
    ['severity=high', 'b'],
    ['severity=high&severity=low', 'cb'],
    ['severity=none', 'eda'],
    ['tags=x', 'ba'],
    ['tags=x&tags=y', 'cba'],
    ['tags[]=x&tags[]=y', 'cba'],
    ['tags[0][]=x&tags[1][]=y', 'b'],
    [`tags=${j({ or: ['y'] })}`, 'cb'],
    [`tags=${j({ and: [{ or: ['x'] }, { or: ['y', 'z'] }] })}`, 'b'],
    [`tags=${j([])}`, 'edcba'],
    [`tags=${j({})}`, 'edcba'],
    [`data=${j({ n: 1 })}`, 'a'],
    [`data=${j({ n: 1, deep: { s: 'q' } })}`, 'a'],
    [`data=${j({ deep: { s: 'r' } })}`, ''],
    [`data=${j({ list: 2 })}`, 'b'],
    [`data=${j({ n: null })}`, 'edc'],
    ['data=', 'edcba'],
    [`createdGte=${longAgo.getTime() + 2000}&createdLte=${longAgo.getTime() + 4000}`, 'dcb'],
    ['contextKeys=', 'cba'],
    ['contextKeys=tenant:acme', 'e'],
    ['contextKeys=tenant:acme&contextKeys=app:jira', 'd'],
    ['limit=2', 'ed'],
    ['limit=2&offset=2', 'cb'],
    ['limit=2&offset=4', 'a'],
  ])('%s', async (query, expected) => {
    expect(await names(query)).toBe(expected)
  })

  test('continues after the last one of a page, with an exact hasMore', async () => {
    expect((await ask('limit=5')).hasMore).toBe(false)
    expect((await ask('limit=4')).hasMore).toBe(true)
    expect(await names(`limit=2&after=${made.d}`)).toBe('cb')
    expect((await ask(`limit=2&after=${made.d}`)).hasMore).toBe(true)
    expect(await names(`limit=2&after=${made.b}&offset=7`)).toBe('a')
    expect((await ask(`limit=2&after=${made.b}`)).hasMore).toBe(false)
    expect(await names(`read=false&after=${made.d}`)).toBe('ba')
  })

  test('notifications of the same time keep their order across pages', async () => {
    const same = []
    for (let n = 0; n < 7; n += 1) same.unshift(await put())
    const seen: string[] = []
    let after = ''
    for (let page = 0; page < 4; page += 1) {
      const { data } = await ask(`limit=2${after && `&after=${after}`}`)
      seen.push(...data.map(({ id }: { id: string }) => id))
      after = seen.at(-1) ?? ''
    }
    expect(seen).toEqual([...same, made.e])
  })

  test('echoes the filter', async () => {
    const query = `read=true&archived=false&snoozed=false&seen=true&severity=low&tags=y&data=${j({ n: null })}&createdGte=5&createdLte=${longAgo.getTime() + 9_000}&contextKeys=&limit=3`
    expect((await ask(query)).filter).toEqual({
      ...{ read: true, archived: false, snoozed: false, seen: true, severity: ['low'], tags: ['y'], data: { n: null } },
      ...{ createdGte: 5, createdLte: longAgo.getTime() + 9_000 },
    })
    expect((await ask('tags[0][]=x&tags[1][]=y')).filter).toEqual({ tags: { and: [{ or: ['x'] }, { or: ['y'] }] } })
  })

  test.each([
    ['read=false&archived=true', 'Filtering for unread and archived notifications is not supported.'],
    ['data=x', 'Invalid JSON format for data parameter'],
    ['data=[1]', 'Data must be an object'],
    [`data=${j({ a: [1] })}`, 'Arrays are not supported in data filter'],
    [`data=${j({ a: { b: { c: 1 } } })}`, 'Maximum nesting level exceeded (2 levels max)'],
    [`data=${j({ a: 'x'.repeat(257) })}`, 'Texts in data filter have at most 256 characters'],
    [
      `after=${unknownId}`,
      `Notification "${unknownId}" does not exist, so the list cannot continue after it; it may have been deleted. Start again from the newest`,
    ],
  ])('%s is refused with 400', async (query, message) => {
    expect(await api.get(`${path}?${query}`)).toMatchObject({ status: 400, body: { message } })
  })

  const tagForms = 'tags must be a list of tags, {"or": [...tags]} or {"and": [{"or": [...tags]}, ...]}'
  const many = (count: number) => Array.from({ length: count }, (_, n) => `t${n}`)
  test.each([
    ['limit=0', 'limit must not be less than 1'],
    ['limit=101', 'limit must not be greater than 100'],
    ['offset=-1', 'offset must not be less than 0'],
    ['after=x', 'after must be a mongodb id'],
    ['severity=loud', 'each value in severity must be one of the following values: high, medium, low, none'],
    [`tags=${j({ or: ['a'], and: [] })}`, tagForms],
    [`tags=${j({ or: [1] })}`, tagForms],
    [`tags=${j({ and: [['a']] })}`, tagForms],
    [`tags=${j([['a']])}`, tagForms],
    [`tags=${j({ and: many(31).map((tag) => ({ or: [tag] })) })}`, 'tags must contain no more than 30 groups'],
    [`tags=${j(many(101))}`, 'tags must contain no more than 100 elements in a group'],
    [`tags=${j({ and: many(3).map(() => ({ or: many(70) })) })}`, 'tags must contain no more than 200 elements'],
  ])('%s is refused', async (query, message) => {
    const answer = await api.get(`${path}?${query}`)
    expect([answer.status, answer.body.errors.general.messages]).toEqual([422, [message]])
  })
})

describe('counting', () => {
  const count = (filters: unknown, subscriberId = 'ada') =>
    api.get(
      `/v2/subscribers/${subscriberId}/notifications/count?filters=${encodeURIComponent(
        typeof filters === 'string' ? filters : JSON.stringify(filters),
      )}`,
    )

  test('each filter separately, in order, with the filter echoed', async () => {
    await put({ tags: ['x'], severity: 'high', data: { a: 1 } })
    await put({ tags: ['y'], read: true, seen: true, context_keys: ['tenant:acme'] })
    await put({ snoozed_until: new Date('2027-01-01') })
    await put({ archived: true })
    const filters = [
      {},
      { read: false, archived: false, snoozed: false },
      { tags: ['x'] },
      { tags: { and: [{ or: ['x'] }, { or: ['y'] }] } },
      { severity: ['high'] },
      { severity: 'none', seen: false },
      { contextKeys: ['tenant:acme'] },
      { contextKeys: [''] },
      { data: { a: 1 } },
    ]
    const { status, body } = await count(filters)
    expect(status).toBe(200)
    expect(body.map((one: any) => one.count)).toEqual([4, 1, 1, 0, 1, 2, 1, 3, 1])
    expect(body.map((one: any) => one.filter)).toEqual(filters)
    expect((await count([])).body).toEqual([])
  })

  test('stops at a hundred', async () => {
    await Promise.all(Array.from({ length: 103 }, () => put()))
    expect((await count([{}, { read: true }])).body.map((one: any) => one.count)).toEqual([100, 0])
  })

  test.each([
    ['no JSON', 'x', 400, 'Invalid filters, the JSON object should be provided.'],
    ['no list', '{}', 400, 'Invalid filters, the JSON object should be provided.'],
    ['no filter', '[1]', 400, 'Invalid filters, the JSON object should be provided.'],
    ['no state', '[{"read":"yes"}]', 400, 'Invalid filters, the JSON object should be provided.'],
    ['no severity', '[{"severity":"loud"}]', 400, 'Invalid filters, the JSON object should be provided.'],
    ['no keys', '[{"contextKeys":"a"}]', 400, 'Invalid filters, the JSON object should be provided.'],
    ['no data', '[{"data":"a"}]', 400, 'Invalid filters, the JSON object should be provided.'],
    [
      'both',
      '[{"read":false,"archived":true}]',
      400,
      'Filtering for unread and archived notifications is not supported.',
    ],
    ['no tags', '[{"tags":"a"}]', 422, 'Validation Error'],
    ['too many', JSON.stringify(Array.from({ length: 31 }, () => ({}))), 422, 'Validation Error'],
  ])('%s is refused', async (_what, filters, status, message) => {
    expect(await count(filters)).toMatchObject({ status, body: { message } })
  })

  test('needs filters and a subscriber', async () => {
    expect((await api.get(`${path}/count`)).status).toBe(400)
    expect(await count([{}], 'eve')).toMatchObject({ status: 400, body: { message: 'SubscriberId: eve not found' } })
  })
})

describe('one item', () => {
  const fresh = {}
  const archived = {
    read: true,
    seen: true,
    archived: true,
    last_read_at: longAgo,
    archived_at: longAgo,
    first_seen_at: longAgo,
  }
  test.each([
    ['read', fresh, { isRead: true, isSeen: true, readAt: 'now', firstSeenAt: 'now', isArchived: false }],
    ['read', archived, { isRead: true, readAt: 'now', firstSeenAt: 'before', isArchived: true }],
    ['unread', fresh, { isRead: false, isSeen: true, readAt: null, firstSeenAt: 'now' }],
    ['unread', archived, { isRead: false, isSeen: true, readAt: null, isArchived: false, archivedAt: null }],
    ['archive', fresh, { isArchived: true, isRead: true, isSeen: true, archivedAt: 'now', readAt: 'now' }],
    ['unarchive', archived, { isArchived: false, archivedAt: null, isRead: true, isSeen: true, readAt: 'before' }],
    ['unarchive', fresh, { isArchived: false, isRead: true, isSeen: true, readAt: 'now' }],
  ])('%s %j', async (operation, before, after) => {
    const [id, other] = [await put(before), await put()]
    const untouched = await shown(other)
    const answer = await api.patch(`${path}/${id}/${operation}`)
    const times: Record<string, string> = { now: iso(), before: iso(longAgo) }
    const expected = Object.entries(after).map(([name, value]) => [name, times[String(value)] ?? value])
    expect(answer).toMatchObject({ status: 200, body: { id, ...Object.fromEntries(expected) } })
    expect(await shown(id)).toEqual(answer.body)
    expect(await shown(other)).toEqual(untouched)
  })

  test('deleting', async () => {
    const [id, kept] = [await put(), await put()]
    expect(await api.delete(`${path}/${id}`)).toMatchObject({ status: 204, text: '' })
    expect((await api.get(path)).body.data).toMatchObject([{ id: kept }])
    expect((await api.delete(`${path}/${id}`)).status).toBe(404)
  })

  test('buttons are completed one at a time, and reverted', async () => {
    const id = await put({ cta })
    const press = (type: string, operation: string) => api.patch(`${path}/${id}/actions/${type}/${operation}`)
    const state = async (answer: ReturnType<typeof press>) => {
      const { status, body } = await answer
      return [status, body.primaryAction.isCompleted, body.secondaryAction.isCompleted, body.isRead, body.isSeen]
    }
    expect(await state(press('primary', 'revert'))).toEqual([200, false, false, false, false])
    expect(await state(press('primary', 'complete'))).toEqual([200, true, false, true, true])
    await api.patch(`${path}/${id}/unread`)
    expect(await state(press('secondary', 'complete'))).toEqual([200, false, true, true, true])
    expect(await state(press('secondary', 'revert'))).toEqual([200, false, false, true, true])
    expect((await shown(id)).primaryAction).toMatchObject({ label: 'Yes', isCompleted: false })
  })

  test('a missing button is refused', async () => {
    const id = await put({ cta: { ...cta, action: { buttons: [buttons[0]], result: {} } } })
    for (const operation of ['complete', 'revert'])
      expect(await api.patch(`${path}/${id}/actions/secondary/${operation}`)).toMatchObject({
        status: 400,
        body: { message: 'Could not perform action on the secondary button because it does not exist.' },
      })
    expect((await api.patch(`${path}/${id}/actions/third/complete`)).status).toBe(422)
    expect(await shown(id)).toMatchObject({ isRead: false, primaryAction: { isCompleted: false } })
  })

  const operations: Array<[method: string, operation: string, body?: object]> = [
    ['PATCH', '/read'],
    ['PATCH', '/unread'],
    ['PATCH', '/archive'],
    ['PATCH', '/unarchive'],
    ['PATCH', '/snooze', { snoozeUntil: '2026-05-09T10:00:00.000Z' }],
    ['PATCH', '/unsnooze'],
    ['PATCH', '/actions/primary/complete'],
    ['PATCH', '/actions/primary/revert'],
    ['DELETE', ''],
  ]
  test.each(operations)('%s …%s works for notifications of this inbox only', async (method, operation, body) => {
    const others = await insertMessage(server, await insertRun(server, api, 'bob'), { cta })
    const mail = await put({ channel: 'email', cta })
    const inContext = await put({ context_keys: ['tenant:acme'], cta, snoozed_until: new Date('2027-01-01') })
    const elsewhere = await insertMessage(server, await insertRun(server, await server.freshApi(), 'ada'), { cta })
    const stored = () => server.database.db.selectFrom('messages').selectAll().orderBy('id').execute()
    const before = [await stored(), await timersOf(server, api)]
    for (const [id, query] of [
      ...[others, mail, elsewhere, unknownId, 'x', run.id].map((one) => [one, '']),
      ...['contextKeys=', 'contextKeys=tenant:other'].map((one) => [inContext, one]),
    ]) {
      const answer = await api.send(method, `${path}/${id}${operation}?${query}`, body)
      const message =
        {
          '/snooze': `Notification id: '${id}' not found`,
          '/unsnooze': `Could not find a snoozed notification with id '${id}'. It does not exist, or is not snoozed any more.`,
        }[operation] ?? `Notification with id: ${id} is not found.`
      expect([answer.status, answer.body.message]).toEqual([404, message])
    }
    expect([await stored(), await timersOf(server, api)]).toEqual(before)
    const nobody = await api.send(method, `/v2/subscribers/eve/notifications/${inContext}${operation}`, body)
    expect(nobody).toMatchObject({ status: 404, body: { message: "Subscriber 'eve' was not found" } })
    const right = await api.send(method, `${path}/${inContext}${operation}?contextKeys=tenant:acme`, body)
    expect(right.status).toBeLessThan(300)
  })
})

describe('snoozing', () => {
  const until = (seconds: number) => iso(new Date(server.clock.now().getTime() + seconds * 1000))
  const snooze = (id: string, seconds: number) => api.patch(`${path}/${id}/snooze`, { snoozeUntil: until(seconds) })
  const wake = (...ids: string[]) =>
    server.database.db.transaction().execute((tx) =>
      unsnoozeDue(
        tx,
        ids.map((id) => ({ environmentId: api.environmentId, id })),
        server.clock.now(),
      ),
    )
  const lines = async () =>
    (await api.get(`/v1/notifications/${run.id}`)).body.jobs[0].executionDetails.map((line: any) => line.detail)

  test('hides a notification with a timer; later it returns as a new one', async () => {
    const arrived = server.clock.now()
    const id = await put({ archived: true, archived_at: longAgo, read: true, seen: true, last_read_at: longAgo })
    const answer = await snooze(id, 3600)
    expect(answer).toMatchObject({
      status: 200,
      body: { id, isSnoozed: true, snoozedUntil: until(3600), isSeen: true, isArchived: false, archivedAt: null },
    })
    expect(await timersOf(server, api)).toEqual([{ subject_id: id, kind: 'unsnooze', due_at: new Date(until(3600)) }])
    server.clock.advance({ minutes: 59 })
    expect(await wake(id)).toEqual([])
    server.clock.advance({ minutes: 1 })
    const newer = await put()
    server.clock.advance({ seconds: 1 })
    expect(await wake(id, unknownId)).toMatchObject([{ id, subscriber_id: 'ada' }])
    const [first] = (await api.get(`${path}?limit=1`)).body.data
    expect(first).toMatchObject({
      ...{ id, isSnoozed: false, snoozedUntil: null, isRead: false, readAt: null, isSeen: true },
      createdAt: iso(),
      deliveredAt: [iso(arrived), iso()],
    })
    expect(newer).not.toBe(id)
    expect(await wake(id)).toEqual([])
    expect(await lines()).toEqual(['Message snoozed', 'Message unsnoozed'])
  })

  test('gives a message without deliveredAt a first entry', async () => {
    const arrived = server.clock.now()
    const id = await put({ delivered_at: null })
    await snooze(id, 60)
    server.clock.advance({ minutes: 1 })
    await wake(id)
    expect((await shown(id)).deliveredAt).toEqual([iso(arrived), iso()])
  })

  test('again replaces the time', async () => {
    const id = await put()
    await snooze(id, 60)
    await snooze(id, 7200)
    expect(await timersOf(server, api)).toMatchObject([{ subject_id: id, due_at: new Date(until(7200)) }])
    server.clock.advance({ hours: 1 })
    expect(await wake(id)).toEqual([])
    expect(await shown(id)).toMatchObject({ isSnoozed: true })
  })

  test('can be undone, which deletes the timer', async () => {
    const arrived = iso()
    const [id, other] = [await put(), await put()]
    await snooze(id, 3600)
    await snooze(other, 3600)
    server.clock.advance({ minutes: 1 })
    expect(await api.patch(`${path}/${id}/unsnooze`)).toMatchObject({
      status: 200,
      body: { id, isSnoozed: false, snoozedUntil: null, isSeen: true, isArchived: false, createdAt: arrived },
    })
    expect(await timersOf(server, api)).toMatchObject([{ subject_id: other }])
    expect((await api.patch(`${path}/${id}/unsnooze`)).status).toBe(404)
    server.clock.advance({ hours: 2 })
    expect(await wake(id)).toEqual([])
    expect(await lines()).toEqual(['Message snoozed', 'Message snoozed', 'Message unsnoozed'])
  })

  test('again just as its time comes keeps it snoozed, without a deadlock', async () => {
    const id = await put()
    await snooze(id, 60)
    server.clock.advance({ minutes: 2 })
    const due = [{ environmentId: api.environmentId, id }]
    // The engine holds the timer and is about to return the message.
    const answer = await during(
      server,
      (tx) => tx.deleteFrom('timers').where('subject_id', '=', id).execute(),
      () => snooze(id, 3600),
      (tx) => unsnoozeDue(tx, due, server.clock.now()),
    )
    expect(answer).toMatchObject({ status: 200, body: { isSnoozed: true, snoozedUntil: until(3600) } })
    expect(await timersOf(server, api)).toMatchObject([{ subject_id: id, due_at: new Date(until(3600)) }])
  })

  test.each([
    [59, 422, 'Snooze time must be at least 60 seconds in the future'],
    [-3600, 422, 'Snooze time must be at least 60 seconds in the future'],
    [90 * 86_400 + 1, 402, 'Snooze time must be at most 90 days in the future'],
  ])('for %i seconds is refused', async (seconds, status, message) => {
    const id = await put()
    const answer = await snooze(id, seconds)
    expect(answer).toMatchObject({ status, body: { message } })
    if (status === 422) expect(answer.body.errors.general.messages).toEqual([message])
    expect((await shown(id)).isSnoozed).toBe(false)
    expect(await timersOf(server, api)).toEqual([])
  })

  test.each([[{}], [{ snoozeUntil: 'tomorrow' }], [{ snoozeUntil: 5 }]])('until %j is refused', async (body) => {
    expect((await api.patch(`${path}/${await put()}/snooze`, body)).status).toBe(422)
  })

  test('for exactly a minute, or ninety days', async () => {
    const id = await put()
    expect((await snooze(id, 60)).status).toBe(200)
    expect((await snooze(id, 90 * 86_400)).status).toBe(200)
  })
})

describe('many at once', () => {
  let made: Record<string, string>
  beforeEach(async () => {
    made = {
      plain: await put({ tags: ['x'], data: { n: 1 } }),
      read: await put({ tags: ['x', 'y'], read: true, seen: true, last_read_at: longAgo, first_seen_at: longAgo }),
      seen: await put({ tags: ['y'], seen: true, context_keys: ['tenant:acme'] }),
      both: await put({ context_keys: ['app:jira', 'tenant:acme'] }),
      snoozed: await put({ seen: true, read: true, snoozed_until: new Date('2027-01-01') }),
      archived: await put({ seen: true, read: true, archived: true, archived_at: longAgo }),
    }
    await put({ channel: 'email' })
    await insertMessage(server, await insertRun(server, api, 'bob'))
  })

  const stored = () => server.database.db.selectFrom('messages').selectAll().orderBy('id').execute()
  /** The names of the changed notifications, after checking that nothing else changed. */
  const changedBy = async (operation: string, body: object | undefined) => {
    server.clock.advance({ seconds: 1 })
    const before = new Map((await stored()).map((row) => [row.id, JSON.stringify(row)]))
    const answer = await api.post(`${path}/${operation}`, body)
    expect([answer.status, answer.text]).toEqual([204, ''])
    const after = new Map((await stored()).map((row) => [row.id, JSON.stringify(row)]))
    const changed = [...before.keys()].filter((id) => before.get(id) !== after.get(id))
    return changed.map((id) => Object.keys(made).find((name) => made[name] === id) ?? 'another')
  }

  test.each([
    ['seen', undefined, ['plain', 'both']],
    ['seen', {}, ['plain', 'both']],
    ['seen', { notificationIds: [] }, []],
    ['seen', { tags: ['x'] }, ['plain']],
    ['seen', { data: '{"n":1}' }, ['plain']],
    ['seen', { contextKeys: ['tenant:acme'] }, ['both']],
    ['seen', { contextKeys: ['app:jira', 'other:x'] }, ['both']],
    ['seen', { contextKeys: [''] }, ['plain']],
    ['read', undefined, ['plain', 'seen', 'both']],
    ['read', { tags: { and: [{ or: ['x'] }, { or: ['y'] }] } }, []],
    ['read', { tags: { or: ['x', 'y'] } }, ['plain', 'seen']],
    ['read', { contextKeys: ['tenant:acme'] }, ['seen', 'both']],
    ['archive', {}, ['plain', 'read', 'seen', 'both']],
    ['archive', { tags: ['y'] }, ['read', 'seen']],
    ['read-archive', {}, ['read']],
    ['read-archive', { data: '{"n":1}' }, []],
    ['delete', {}, ['plain', 'read', 'seen', 'both', 'snoozed', 'archived']],
    ['delete', { tags: ['x'] }, ['plain', 'read']],
    ['delete', { contextKeys: ['tenant:acme'], tags: ['y'] }, ['seen']],
  ])('%s %j', async (operation, body, names) => {
    expect(await changedBy(operation, body)).toEqual(names)
    expect(await changedBy(operation, body)).toEqual([])
  })

  test('change as described', async () => {
    await api.post(`${path}/read`)
    expect(await shown(made.plain ?? '')).toMatchObject({
      isRead: true,
      isSeen: true,
      readAt: iso(),
      firstSeenAt: iso(),
    })
    expect(await shown(made.read ?? '')).toMatchObject({ readAt: iso(longAgo) })
    await api.post(`${path}/read-archive`, { tags: ['x', 'y'] })
    expect(await shown(made.read ?? '')).toMatchObject({ isArchived: true, archivedAt: iso(), readAt: iso(longAgo) })
    await api.post(`${path}/archive`)
    expect(await shown(made.both ?? '')).toMatchObject({ isArchived: true, isRead: true, archivedAt: iso() })
    expect(await shown(made.snoozed ?? '')).toMatchObject({ isArchived: false, isSnoozed: true })
    expect(await shown(made.archived ?? '')).toMatchObject({ archivedAt: iso(longAgo) })
  })

  test('named ones are marked as seen, ignoring other filters; unknown ones are skipped', async () => {
    const others = (await stored()).map(({ id }) => id)
    const body = { notificationIds: [made.both, unknownId, ...others.slice(-2)], tags: ['x'] }
    expect(await changedBy('seen', body)).toEqual(['both'])
    const refused = await api.post(`${path}/seen`, { notificationIds: ['x'] })
    expect([refused.status, refused.body.errors.general.messages]).toEqual([
      422,
      ['each value in notificationIds must be a mongodb id'],
    ])
  })

  test.each(['seen', 'read', 'archive', 'read-archive', 'delete'])('%s is refused', async (operation) => {
    const before = await stored()
    expect((await api.post(`${path}/${operation}`, { tags: 'x' })).status).toBe(422)
    expect(await api.post(`${path}/${operation}`, { data: 'x' })).toMatchObject({
      status: 400,
      body: { message: 'Invalid JSON format for data parameter' },
    })
    expect(await api.post(`/v2/subscribers/eve/notifications/${operation}`)).toMatchObject({
      status: 404,
      body: { message: "Subscriber 'eve' was not found" },
    })
    expect(await stored()).toEqual(before)
  })

  test('all kinds of concurrent changes succeed', async () => {
    for (let n = 0; n < 30; n += 1) await put({ tags: ['x'] })
    const operations = ['seen', 'read', 'archive', 'read-archive', 'seen', 'read', 'delete', 'archive']
    const answers = await Promise.all(operations.map((operation) => api.post(`${path}/${operation}`, { tags: ['x'] })))
    expect(answers.map(({ status }) => status)).toEqual(operations.map(() => 204))
    expect((await api.get(`${path}?tags=x`)).body.data).toEqual([])
  })
})
