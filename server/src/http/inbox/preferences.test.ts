import { beforeEach, describe, expect, test } from 'vitest'
import { type InboxClient, openInbox } from '../../../test/inbox.ts'
import { inApp, makeWorkflow, type Step } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
const critical = { preferences: { user: null, workflow: { all: { enabled: true, readOnly: true } } } }
let api: Api
let inbox: InboxClient
let newsId: string

beforeEach(async () => {
  api = await server.freshApi()
  inbox = await openInbox(server, api, 'ada')
  newsId = await makeWorkflow(api, 'news', [inApp(), email], { tags: ['press'], severity: 'low' })
  await makeWorkflow(api, 'chatter', [inApp()], { tags: ['social'] })
  await makeWorkflow(api, 'alarm', [email], critical)
  await makeWorkflow(api, 'sleeping', [{ type: 'sms', controlValues: { body: 'x' } }], { active: false })
})

const news = (channels: object) => ({
  level: 'template',
  enabled: true,
  channels,
  workflow: { id: newsId, identifier: 'news', name: 'news', critical: false, tags: ['press'], severity: 'low' },
})
const general = (channels: object) => ({ level: 'global', enabled: true, channels })
const names = async (query: string) => {
  const answer = await inbox.get(`/preferences?${query}`)
  expect([query, answer.status]).toEqual([query, 200])
  return answer.body.data.map((one: { workflow?: { identifier: string } }) => one.workflow?.identifier ?? 'global')
}

describe('reading', () => {
  test('the global ones come first, with the channels in use, then the workflows', async () => {
    const { body } = await inbox.get('/preferences')
    expect(body.data[0]).toEqual(general({ email: true, in_app: true }))
    expect(body.data[1]).toEqual(news({ email: true, in_app: true }))
    expect((await inbox.get('/preferences/global')).body).toEqual({ data: general({ email: true, in_app: true }) })
  })

  test.each([
    ['', ['global', 'news', 'chatter']],
    ['criticality=nonCritical', ['global', 'news', 'chatter']],
    ['criticality=critical', ['global', 'alarm']],
    ['criticality=all', ['global', 'news', 'chatter', 'alarm']],
    ['tags[]=press&tags[]=x', ['global', 'news']],
    ['tags=social', ['global', 'chatter']],
    ['severity[]=low', ['global', 'news']],
    ['severity=none', ['global', 'chatter']],
  ])('%s', async (query, expected) => {
    expect(await names(query)).toEqual(expected)
  })

  test.each(['criticality=x', 'severity[]=x'])('%s is refused', async (query) => {
    expect(await inbox.get(`/preferences?${query}`)).toMatchObject({ status: 422 })
  })
})

describe('changing', () => {
  test('a global choice changes the named channels, and removes them from per-workflow choices', async () => {
    await inbox.patch('/preferences/news', { email: false, in_app: false })
    expect((await inbox.patch('/preferences', { email: true })).body).toEqual({
      data: general({ email: true, in_app: true }),
    })
    expect((await inbox.get('/preferences')).body.data[1]).toEqual(news({ email: true, in_app: false }))
  })

  test.each(['identifier', 'id'])('a workflow by its %s', async (by) => {
    const { body } = await inbox.patch(`/preferences/${by === 'id' ? newsId : 'news'}`, { email: false })
    expect(body).toEqual({ data: news({ email: false, in_app: true }) })
  })

  test('many workflows at once', async () => {
    const preferences = [
      { workflowId: 'news', email: false },
      { workflowId: 'chatter', in_app: false },
    ]
    expect((await inbox.patch('/preferences/bulk', { preferences })).body).toMatchObject({
      data: [news({ email: false, in_app: true }), { channels: { in_app: false } }],
    })
  })

  test('a schedule, without affecting channels', async () => {
    const schedule = { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } }
    await inbox.patch('/preferences', { email: false })
    expect((await inbox.patch('/preferences', { schedule })).body).toEqual({
      data: { ...general({ email: false, in_app: true }), schedule },
    })
    expect((await inbox.get('/preferences/global')).body.data.schedule).toEqual(schedule)
  })

  test('a choice applies to one context and one subscriber only', async () => {
    const ofTenant = await openInbox(server, api, 'ada', { context: { tenant: 'acme' } })
    await ofTenant.patch('/preferences', { email: false })
    expect((await ofTenant.get('/preferences/global')).body.data.channels.email).toBe(false)
    expect((await inbox.get('/preferences/global')).body.data.channels.email).toBe(true)
    const bob = await openInbox(server, api, 'bob')
    await bob.patch('/preferences/news', { in_app: false })
    expect((await inbox.get('/preferences')).body.data[1]).toEqual(news({ email: true, in_app: true }))
  })

  test.each([
    ['/preferences', { email: 'no' }, 422],
    ['/preferences', { schedule: { isEnabled: true, weeklySchedule: {} } }, 422],
    ['/preferences', { schedule: { isEnabled: true, weeklySchedule: { noday: { isEnabled: true } } } }, 422],
    ['/preferences/nothing', { email: false }, 404],
    ['/preferences/alarm', { email: false }, 400],
    ['/preferences/bulk', { preferences: [] }, 400],
    ['/preferences/bulk', { preferences: Array.from({ length: 101 }, () => ({ workflowId: 'news' })) }, 422],
    ['/preferences/bulk', { preferences: [{ workflowId: 'news', email: false }, { workflowId: 'nothing' }] }, 404],
    ['/preferences/bulk', { preferences: [{ workflowId: 'news', email: false }, { workflowId: 'alarm' }] }, 400],
    ['/preferences/bulk', { preferences: [{ workflowId: 'news', email: 1 }] }, 422],
    ['/preferences/bulk', { preferences: [{ workflowId: 'news', subscriptionIdentifier: 'x' }] }, 404],
  ])('%s %j is refused, and nothing changes', async (path, body, status) => {
    expect(await inbox.patch(path, body)).toMatchObject({ status })
    expect((await inbox.get('/preferences')).body.data[1]).toEqual(news({ email: true, in_app: true }))
  })
})

describe('topic subscriptions', () => {
  const path = '/topics/press/subscriptions'
  const subscribe = (body: object = { identifier: '' }) => inbox.post(path, body)
  beforeEach(() => api.post('/v2/topics', { key: 'press', name: 'Press', joinableFromBrowser: true }))

  test('are created once, under a predictable name', async () => {
    const made = await subscribe({ identifier: '', topic: { name: 'Other' }, preferences: ['news'] })
    expect(made).toMatchObject({
      status: 201,
      body: {
        data: {
          identifier: 'tk_press:si_ada',
          preferences: [{ subscriptionId: 'tk_press:si_ada', enabled: true, workflow: { id: newsId } }],
          contextKeys: [],
        },
      },
    })
    expect((await subscribe()).body.data.id).toBe(made.body.data.id)
    expect((await api.get('/v2/topics/press')).body.name).toBe('Press')
    expect((await inbox.get(path)).body.data).toEqual([made.body.data])
    expect((await inbox.get(`${path}/${made.body.data.id}`)).body).toEqual(made.body)
  })

  test('that do not exist are not an error', async () => {
    expect(await inbox.get('/topics/nothing/subscriptions')).toMatchObject({ status: 200, body: { data: [] } })
    expect(await inbox.get('/topics/nothing/subscriptions/x')).toMatchObject({ status: 204, text: '' })
    await subscribe()
    expect(await inbox.get(`${path}/x`)).toMatchObject({ status: 204, text: '' })
  })

  test('show further workflows with their defaults', async () => {
    await subscribe({ identifier: '', preferences: [{ workflowId: 'news', enabled: false }] })
    const { body } = await inbox.get(`${path}/tk_press:si_ada?workflowIds=chatter&workflowIds=news&tags=press`)
    expect(
      body.data.preferences.map(({ workflow, enabled }: { workflow: { identifier: string }; enabled: boolean }) => [
        workflow.identifier,
        enabled,
      ]),
    ).toEqual([
      ['news', false],
      ['chatter', true],
    ])
  })

  test('are renamed, and their preferences replaced', async () => {
    await subscribe({ identifier: 'mine', preferences: ['news'] })
    const changed = await inbox.patch(`${path}/mine`, { name: 'Mine', preferences: ['chatter'] })
    expect(changed.body.data).toMatchObject({ name: 'Mine', preferences: [{ workflow: { identifier: 'chatter' } }] })
    expect((await inbox.patch(`${path}/mine`, {})).body.data).toMatchObject({ name: 'Mine', preferences: [{}] })
  })

  test('can be deleted', async () => {
    await subscribe({ identifier: 'mine' })
    expect(await inbox.delete(`${path}/mine`)).toMatchObject({ status: 200, body: { data: { success: true } } })
    expect(await inbox.delete(`${path}/mine`)).toMatchObject({ status: 404 })
    expect((await inbox.get(path)).body.data).toEqual([])
  })

  test('decide which workflows come through them', async () => {
    await subscribe({ identifier: 'mine', preferences: ['news'] })
    const all = { email: false, sms: false, in_app: false, chat: false, push: false }
    const off = await inbox.patch('/subscriptions/mine/preferences/news', { enabled: false, ...all })
    expect(off).toMatchObject({
      status: 200,
      body: { data: { level: 'template', enabled: false, subscriptionId: 'mine' } },
    })
    const condition = { '==': [{ var: 'payload.n' }, 1] }
    const ruled = await inbox.patch(`/subscriptions/mine/preferences/${newsId}`, { condition })
    expect(ruled.body.data).toMatchObject({ enabled: false, condition, workflow: { id: newsId } })
    const preferences = [
      { workflowId: 'news', subscriptionIdentifier: 'mine', enabled: true, condition: null },
      { workflowId: 'alarm', subscriptionIdentifier: 'mine', enabled: false },
      { workflowId: 'chatter', in_app: false },
    ]
    const { body } = await inbox.patch('/preferences/bulk', { preferences })
    expect(body.data).toMatchObject([
      { subscriptionId: 'mine', enabled: true, channels: { email: true, in_app: true } },
      { subscriptionId: 'mine', enabled: true, workflow: { identifier: 'alarm', critical: true } },
      { enabled: true, channels: { in_app: false } },
    ])
    expect(body.data[0]).not.toHaveProperty('condition')
    expect(body.data[2]).not.toHaveProperty('subscriptionId')
  })

  test.each([
    ['POST', '/topics/b$d/subscriptions', { identifier: '' }, 403],
    ['POST', path, { identifier: '', preferences: [{}] }, 422],
    ['POST', path, { identifier: 'bobs' }, 400],
    ['PATCH', `${path}/nothing`, { name: 'x' }, 404],
    ['PATCH', `${path}/bobs`, { name: 'x' }, 404],
    ['DELETE', `${path}/bobs`, undefined, 404],
    ['PATCH', '/subscriptions/bobs/preferences/news', { enabled: false }, 404],
    ['PATCH', '/subscriptions/mine/preferences/nothing', { enabled: false }, 404],
    ['PATCH', '/subscriptions/mine/preferences/alarm', { enabled: false }, 400],
    ['PATCH', '/subscriptions/mine/preferences/news', { enabled: 'x' }, 422],
  ])('%s %s %j is refused', async (method, to, body, status) => {
    const bob = await openInbox(server, api, 'bob')
    await bob.post(path, { identifier: 'bobs', preferences: ['news'] })
    await subscribe({ identifier: 'mine' })
    expect([to, await inbox.send(method, to, body)]).toMatchObject([to, { status }])
    expect((await bob.get(`${path}/bobs`)).body.data).toMatchObject({ preferences: [{ enabled: true }] })
    expect((await inbox.get(`${path}/bobs`)).status).toBe(204)
  })

  test('are limited to ten', async () => {
    for (let n = 0; n < 10; n += 1) expect(await subscribe({ identifier: `s${n}` })).toMatchObject({ status: 201 })
    expect((await subscribe({ identifier: 's10' })).body).toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('maximum allowed'),
    })
  })

  test('of other contexts are separate', async () => {
    await subscribe({ identifier: 'mine' })
    const ofTenant = await openInbox(server, api, 'ada', { context: { tenant: 'acme' } })
    expect((await ofTenant.get(path)).body.data).toEqual([])
    expect(await ofTenant.delete(`${path}/mine`)).toMatchObject({ status: 404 })
    expect((await ofTenant.post(path, {})).body.data.identifier).toBe('tk_press:si_ada:ctx_tenant:acme')
  })
})
