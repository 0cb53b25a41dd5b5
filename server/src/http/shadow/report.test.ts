// How both sides compare, over the API: planted faults of each kind, and none where there is none. files.md §7, §9, §11.
import { beforeEach, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { inApp, makeWorkflow, pass, prefer, runsOf, trigger } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'
import { asking, compareNow, differencesOf, makeShadow, reportOf, type Shadowed, settle } from '../../../test/shadow.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
let shadow: Shadowed

const mail = (subject = 'Hi {{payload.n}}', more: object = {}) => ({
  ...{
    type: 'email',
    stepId: 'mail',
    controlValues: { subject, body: '<p>Dear {{subscriber.firstName}}</p>', editorType: 'html' },
  },
  ...more,
})
const delay = (amount: number) => ({ type: 'delay', stepId: 'wait', controlValues: { amount, unit: 'minutes' } })
const both = async (workflowId: string, there: object[], here = there) => {
  await makeWorkflow(shadow.upstream, workflowId, there as never)
  await makeWorkflow(shadow.here, workflowId, here as never)
}

beforeEach(async () => {
  shadow = await makeShadow(server)
  await shadow.front.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
})

const shown = (difference: Record<string, unknown>) => {
  const { _id, createdAt, ...rest } = difference
  return rest
}

describe('compared', () => {
  test('as soon as both sides have ended', async () => {
    await both('hello', [mail(), inApp('Hello {{subscriber.firstName}}')])
    await trigger(shadow.front, 'hello', 'ada', { payload: { n: 1 } })
    expect(await reportOf(shadow)).toMatchObject({ triggers: 1, compared: 0, pending: 1 })
    await server.drain()
    server.clock.advance({ seconds: 6 })
    await compareNow(server)
    expect(await reportOf(shadow)).toEqual({
      ...{ triggers: 1, compared: 1, same: 1, different: 0, pending: 0 },
      kinds: { missing: 0, extra: 0, status: 0, recipient: 0, content: 0, time: 0 },
      workflows: [{ workflowId: 'hello', compared: 1, different: 0, cleanSince: expect.any(String) }],
    })
    expect(await differencesOf(shadow)).toEqual([])
  })

  test('else when the time is up, as they are then', async () => {
    await both('late', [delay(600), mail()])
    await trigger(shadow.front, 'late', 'ada')
    server.clock.advance({ minutes: 5 })
    await compareNow(server)
    expect(await reportOf(shadow)).toMatchObject({ compared: 0, pending: 1 })
    await settle(server)
    expect(await reportOf(shadow)).toMatchObject({ compared: 1, same: 1 })
  })

  test('after no minutes at once, if so said', async () => {
    const { upstream, here } = shadow
    expect((await here.patch('/v2/shadow', { settleMinutes: 0 })).body.settleMinutes).toBe(0)
    await both('hello', [mail()])
    expect(upstream.environmentId).not.toBe(here.environmentId)
    await trigger(shadow.front, 'hello', 'ada')
    await compareNow(server)
    expect(await reportOf(shadow)).toMatchObject({ compared: 1, pending: 0 })
  })

  test('later, while the service behind cannot be read', async () => {
    await both('hello', [mail()])
    await trigger(shadow.front, 'hello', 'ada')
    await shadow.here.patch('/v2/shadow', { upstreamUrl: vendor.url })
    vendor.plays(() => ({ status: 500 }))
    await settle(server)
    expect(vendor.asked.length).toBeGreaterThan(0)
    expect(await reportOf(shadow)).toMatchObject({ compared: 0, pending: 1 })
    await shadow.here.patch('/v2/shadow', { upstreamUrl: server.url })
    await settle(server, 2)
    expect(await reportOf(shadow)).toMatchObject({ same: 1, pending: 0 })
  })

  test('once, though two processes look at the same time', async () => {
    await both('hello', [mail('There')], [mail('Here')])
    for (let n = 0; n < 5; n += 1) await trigger(shadow.front, 'hello', 'ada')
    await server.drain()
    server.clock.advance({ minutes: 11 })
    for (let n = 0; n < 4; n += 1) await server.database.pool.query("SELECT queue_job('compare_shadow', '{}')")
    await Promise.all([server.drain(), server.drain(), server.drain()])
    expect(await differencesOf(shadow)).toHaveLength(5)
  })

  test('once, though the same triggers come through two processes at the same time', async () => {
    await both('hello', [mail()])
    const other = await server.startAnother()
    const { key, environmentId, organizationId } = shadow.front
    const fronts = [shadow.front, new Api(other.url, key, environmentId, organizationId)]
    const ids = Array.from({ length: 10 }, (_, n) => `twice-${n}`)
    await Promise.all(
      ids.flatMap((transactionId) => fronts.map((front) => trigger(front, 'hello', 'ada', { transactionId }))),
    )
    await settle(server)
    expect(await reportOf(shadow)).toMatchObject({ triggers: 10, compared: 10, same: 10, different: 0 })
    for (const id of ids) {
      expect(await runsOf(shadow.upstream, id)).toHaveLength(1)
      expect(await runsOf(shadow.here, id)).toHaveLength(1)
    }
  })
})

describe('planted faults', () => {
  const only = async (expected: Record<string, unknown>) => {
    await settle(server)
    const found = await differencesOf(shadow)
    expect(found.map(shown)).toEqual([expect.objectContaining(expected)])
    expect((await reportOf(shadow)).kinds[String(expected.kind)]).toBe(1)
    expect(await differencesOf(shadow, `?kind=${String(expected.kind)}`)).toEqual(found)
  }

  test('missing: a recipient who is not reached here', async () => {
    await both('news', [inApp()])
    await shadow.front.post('/v2/topics', { key: 'all', name: 'All' })
    const joined = await shadow.upstream.post('/v2/topics/all/subscriptions', { subscriberIds: ['ada'] })
    expect(joined, joined.text).toMatchObject({ status: 201 })
    const transactionId = await trigger(shadow.front, 'news', { type: 'Topic', topicKey: 'all' })
    await only({
      ...{ transactionId, subscriberId: 'ada', workflowId: 'news', stepId: null, kind: 'missing', path: 'run' },
      ...{ upstream: { 'in_app-0': 'completed' }, here: null },
    })
  })

  test('extra: a step that only this side has', async () => {
    await both('hello', [mail()], [mail(), inApp()])
    await trigger(shadow.front, 'hello', 'ada')
    await only({ kind: 'extra', path: 'step', stepId: 'in_app-1', upstream: null, here: 'completed' })
  })

  test('status: a preference that only this side knows', async () => {
    await both('hello', [mail()])
    await prefer(shadow.here, 'ada', { channels: { email: false } })
    await trigger(shadow.front, 'hello', 'ada')
    await only({ kind: 'status', path: 'status', stepId: 'mail', upstream: 'completed', here: 'skipped' })
  })

  test('recipient: another address', async () => {
    await both('hello', [mail()])
    await shadow.here.patch('/v2/subscribers/ada', { email: 'old@example.com' })
    await trigger(shadow.front, 'hello', 'ada')
    await only({ kind: 'recipient', upstream: ['ada@example.com'], here: ['old@example.com'] })
  })

  test('content: another subject', async () => {
    await both('hello', [mail('Hi {{payload.n}}')], [mail('Hello {{payload.n}}')])
    await trigger(shadow.front, 'hello', 'ada', { payload: { n: 7 } })
    await only({ kind: 'content', path: 'subject', upstream: 'Hi 7', here: 'Hello 7' })
  })

  test('content: another subject of an in-app message without a text', async () => {
    const titled = (subject: string) => ({ type: 'in_app', stepId: 'tell', controlValues: { subject, body: '' } })
    await both('hello', [titled('There')], [titled('Here')])
    await trigger(shadow.front, 'hello', 'ada')
    await only({ stepId: 'tell', kind: 'content', path: 'subject', upstream: 'There', here: 'Here' })
  })

  test('time: sent minutes later', async () => {
    await both('late', [delay(1), mail()], [delay(4), mail()])
    await trigger(shadow.front, 'late', 'ada')
    await server.drain()
    for (let minute = 0; minute < 5; minute += 1) await pass(server, { minutes: 1 })
    await only({ kind: 'time', stepId: 'mail', upstream: expect.any(String), here: expect.any(String) })
  })
})

describe('report and list', () => {
  const differing = async () => {
    await both('hello', [mail('There')], [mail('Here')])
    await both('fine', [inApp('Fine')])
    await trigger(shadow.front, 'fine', 'ada')
    for (let n = 0; n < 3; n += 1) {
      await trigger(shadow.front, 'hello', 'ada')
      server.clock.advance({ seconds: 1 })
    }
    await settle(server)
  }

  test('a workflow is clean since the first trigger after the last difference', async () => {
    await differing()
    const byName = async () =>
      Object.fromEntries(
        (await reportOf(shadow)).workflows.map((each: { workflowId: string }) => [each.workflowId, each]),
      )
    expect((await byName()).hello).toMatchObject({ compared: 3, different: 3, cleanSince: null })
    expect((await byName()).fine.cleanSince).not.toBeNull()
    const { body } = await shadow.here.get('/v2/workflows/hello')
    body.steps[0].controlValues.subject = 'There'
    expect((await shadow.here.put('/v2/workflows/hello', body)).status).toBe(200)
    const since = server.clock.now().toISOString()
    await trigger(shadow.front, 'hello', 'ada')
    await settle(server)
    expect((await byName()).hello).toMatchObject({ compared: 4, different: 3, cleanSince: since })
    const later = (await shadow.here.get(`/v2/shadow/report?since=${since}`)).body
    expect(later).toMatchObject({ triggers: 1, compared: 1, same: 1, different: 0, kinds: { content: 0 } })
    expect(later.workflows.find((each: { workflowId: string }) => each.workflowId === 'hello').cleanSince).toBe(since)
  })

  test('differences are listed newest first, by page, kind and workflow', async () => {
    await differing()
    const page = (await shadow.here.get('/v2/shadow/differences?limit=2')).body
    expect(page.data).toHaveLength(2)
    const rest = (await shadow.here.get(`/v2/shadow/differences?limit=2&after=${page.next}`)).body
    expect(rest).toMatchObject({ data: [{ workflowId: 'hello' }], next: null })
    const ids = [...page.data, ...rest.data].map(({ _id }) => _id)
    expect(ids).toEqual(ids.toSorted().reverse())
    expect(await differencesOf(shadow, '?workflowId=fine')).toEqual([])
    expect(await differencesOf(shadow, '?workflowId=hello&kind=content')).toHaveLength(3)
    expect(await differencesOf(shadow, '?kind=time')).toEqual([])
    expect((await shadow.here.get('/v2/shadow/differences?kind=none')).status).toBe(422)
    expect((await shadow.here.get('/v2/shadow/report?since=yesterday')).status).toBe(422)
  })

  test('erasing somebody removes what differed for them', async () => {
    await differing()
    expect((await shadow.here.post('/v2/subscribers/ada/erase')).status).toBe(202)
    await server.drain()
    expect(await differencesOf(shadow)).toEqual([])
  })

  test('thirty days later nothing of it is left', async () => {
    await differing()
    server.clock.advance({ days: 31 })
    await server.database.pool.query("SELECT queue_job('purge_expired', '{}')")
    await server.drain()
    expect(await reportOf(shadow)).toMatchObject({ triggers: 0, workflows: [] })
    expect(await differencesOf(shadow)).toEqual([])
  })
})

describe('settings', () => {
  test('are shown without the key, which is stored encrypted', async () => {
    const { upstream, front } = shadow
    const wanted = { upstreamUrl: server.url, settleMinutes: 10, live: [] }
    expect((await front.get('/v2/shadow')).body).toEqual(wanted)
    const me = await front.get('/v1/environments/me')
    expect(me.body).toMatchObject({ type: 'dev', shadow: wanted })
    expect(me.text).not.toContain(upstream.key)
    const ordinary = (await upstream.get('/v1/environments/me')).body
    expect(ordinary).not.toHaveProperty('shadow')
    const listed = (await upstream.get('/v1/environments')).body
    expect(listed.some((each: object) => 'shadow' in each)).toBe(false)
    const { shadow_key } = await server.database.db
      .selectFrom('environments')
      .select('shadow_key')
      .where('id', '=', front.environmentId)
      .executeTakeFirstOrThrow()
    expect(shadow_key).toMatch(/^enc:/)
  })

  test('are refused where they make no sense', async () => {
    const organization = await server.organizationOf(shadow.upstream)
    const make = (settings: object, more: object = {}) =>
      organization.post('/v1/environments', { name: 'Another', color: '#123456', shadow: settings, ...more })
    const right = { upstreamUrl: 'https://api.novu.co', upstreamKey: 'k' }
    for (const wrong of [
      ...[
        {},
        { upstreamUrl: 'https://api.novu.co' },
        { ...right, upstreamKey: '' },
        { ...right, settleMinutes: 1_441 },
      ],
      ...[
        { ...right, settleMinutes: -1 },
        { ...right, upstreamUrl: 'ftp://x' },
        { ...right, upstreamUrl: 'x' },
      ],
      ...[
        { ...right, upstreamUrl: 'https://u:p@x' },
        { ...right, upstreamUrl: 'https://x/?a' },
      ],
    ])
      expect([wrong, (await make(wrong)).status]).toEqual([wrong, 422])
    expect((await make(right, { clock: {} })).body.code).toBe('shadow_without_clock')
    expect((await shadow.here.patch('/v2/shadow', { live: ['none'] })).body).toMatchObject({
      ...{ statusCode: 404, code: 'workflow_not_found', ctx: { workflowId: 'none' } },
    })
    expect((await shadow.here.patch('/v2/shadow', { live: ['a', 'a'] })).status).toBe(422)
    expect((await shadow.here.patch('/v2/shadow', { settleMinutes: 1_440 })).body.settleMinutes).toBe(1_440)
    expect((await shadow.here.patch('/v2/shadow', { settleMinutes: 1_441 })).status).toBe(422)
    for (const path of ['/v2/shadow', '/v2/shadow/report', '/v2/shadow/differences'])
      expect((await shadow.upstream.get(path)).body).toMatchObject({ statusCode: 409, code: 'shadow_not_set' })
    expect((await shadow.upstream.patch('/v2/shadow', { live: [] })).status).toBe(409)
  })

  test('are changed by admins, and the audit log says how', async () => {
    await both('hello', [mail()])
    const editor = await signInAs(server, shadow.front, 'editor')
    expect((await editor.patch('/v2/shadow', { live: ['hello'] })).status).toBe(403)
    expect((await editor.get('/v2/shadow/report')).status).toBe(200)
    const admin = await signInAs(server, shadow.front, 'admin')
    const changed = await admin.patch('/v2/shadow', { live: ['hello'], upstreamKey: 'another', settleMinutes: 3 })
    expect(changed.body).toEqual({ upstreamUrl: server.url, settleMinutes: 3, live: ['hello'] })
    const [entry] = (await admin.get('/v1/audit?action=shadow.changed')).body.data
    expect(entry.details).toEqual({ before: [], live: ['hello'], keyReplaced: true, settleMinutes: 3 })
    expect(JSON.stringify(entry)).not.toContain('another')
    const reader = await server.keyFor(shadow.front, ['read'])
    expect((await asking(reader, {}).patch('/v2/shadow', { live: [] })).status).toBe(403)
  })
})

test('ten thousand equal runs have no difference', async () => {
  const { front, upstream, here } = shadow
  const people = Array.from({ length: 100 }, (_, n) => ({
    ...{ subscriberId: `p-${n}`, firstName: `P ${n}`, email: `p${n}@example.com`, locale: n % 2 ? 'de' : 'en_US' },
  }))
  expect((await front.post('/v1/subscribers/bulk', { subscribers: people })).status).toBe(201)
  await both('equal', [
    inApp('{{subscriber.firstName}} {{payload.n}}', {
      subject: 'N {{payload.n}}',
      redirect: { url: 'https://x.example/{{payload.n}}' },
    }),
  ])
  const send = (api: Api, n: number) =>
    api.post('/v1/events/trigger', {
      name: 'equal',
      to: people.map(({ subscriberId }) => subscriberId),
      payload: { n },
    })
  for (let n = 0; n < 100; n += 10) await Promise.all(Array.from({ length: 10 }, (_, place) => send(front, n + place)))
  await server.drain()
  await settle(server)
  const report = await reportOf(shadow)
  expect(report).toMatchObject({ triggers: 100, compared: 100, same: 100, different: 0 })
  const counted = async (api: Api) => {
    const { rows } = await server.database.pool.query('SELECT count(*)::int FROM messages WHERE environment_id = $1', [
      api.environmentId,
    ])
    return rows[0].count
  }
  expect([await counted(upstream), await counted(here)]).toEqual([10_000, 10_000])
}, 120_000)
