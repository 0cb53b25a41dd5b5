// What goes by the clock of an environment where it is held, and what by the real one.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { ada, delay, email, heldApi, inApp, trigger, workflow } from '../../../test/held.ts'
import { openInbox } from '../../../test/inbox.ts'
import { useServer } from '../../../test/server.ts'
import { enterInboxes, leaveInboxes } from '../../db/queries/inbox-presence.ts'

const server = useServer({ allowLoopbackInDevelopment: true })
const start = '2026-03-28T19:00:00.000Z'

test('the real time passes it by: nothing is woken, forgotten or purged by it', async () => {
  const api = await heldApi(server, { now: start })
  const limit = { name: 'Limit', stepId: 'limit', type: 'throttle', controlValues: { amount: 1, unit: 'hours' } }
  await workflow(api, [limit, inApp, delay(1), email()])
  await trigger(api)
  server.clock.advance({ days: 2 })
  await server.drain()
  await server.database.pool.query("SELECT graphile_worker.add_job('purge_expired')")
  await server.drain()
  expect((await api.get('/v1/clock')).body).toMatchObject({ now: start, waiting: { count: 1 } })
  expect((await api.get('/v1/sandbox/messages')).body.data).toEqual([])
  // Its throttle still knows the first.
  await trigger(api)
  expect(await api.advance()).toMatchObject({ reasons: { throttled: expect.any(Number) } })
  expect(await api.advance({ by: '365d' })).toMatchObject({ messages: { email: 1 } })
  expect((await api.get('/v1/notifications')).body.data).toHaveLength(2)
})

test('what is written there has its time: layouts, translations, overrides, versions, definitions and subscriptions', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [inApp])
  const layout = await api.post('/v2/layouts', { layoutId: 'frame', name: 'Frame', isTranslationEnabled: true })
  expect(layout, layout.text).toMatchObject({ status: 201, body: { createdAt: start, updatedAt: start } })
  const text = { resourceType: 'layout', resourceId: 'frame', locale: 'en_US', content: { title: 'Hello' } }
  const translated = await api.post('/v2/translations', text)
  expect(translated, translated.text).toMatchObject({ status: 200, body: { createdAt: start, updatedAt: start } })

  const [oneLater, twoLater, threeLater] = [20, 21, 22].map((hour) => `2026-03-28T${hour}:00:00.000Z`)
  await api.advance({ by: '1h' })
  const masterJson = { layouts: { frame: { title: 'Hello again' } } }
  await api.post('/v2/translations/master-json', { locale: 'en_US', masterJson })
  const changed = { createdAt: start, updatedAt: oneLater }
  expect((await api.get('/v2/translations/layout/frame/en_US')).body).toMatchObject(changed)
  expect((await api.put('/v2/layouts/frame', { name: 'Other frame' })).body).toMatchObject(changed)
  await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
  const { body: override } = await api.post('/v1/workflow-overrides', { workflowId: 'news', tenantId: 'acme' })
  expect(override).toMatchObject({ createdAt: oneLater, updatedAt: oneLater })
  await api.patch('/v2/workflows/news', { tags: ['changed'] })

  await api.advance({ by: '1h' })
  for (const path of [override._id, 'workflows/news/tenants/acme'])
    expect((await api.put(`/v1/workflow-overrides/${path}`, { active: true })).body.updatedAt).toBe(twoLater)
  const restored = await api.post('/v2/workflows/news/versions/1/restore', {})
  expect(restored, restored.text).toMatchObject({ status: 200 })
  expect((await api.get('/v2/workflows/news')).body.updatedAt).toBe(twoLater)
  const definition = { workflowId: 'pushed', name: 'Pushed', steps: [inApp] }
  const pushed = await api.post('/v2/definitions/push', { resources: [{ kind: 'workflow', id: 'pushed', definition }] })
  expect(pushed, pushed.text).toMatchObject({ status: 200 })
  expect((await api.get('/v2/workflows/pushed')).body.createdAt).toBe(twoLater)

  await api.post('/v2/topics', { key: 'press', name: 'Press', joinableFromBrowser: true })
  const browser = await openInbox(server, api, 'ada')
  const { body: own } = await browser.post('/topics/press/subscriptions', {})
  const times = async () => {
    const query = 'SELECT created_at, updated_at FROM topic_subscriptions WHERE environment_id = $1'
    const [row] = (await server.database.pool.query(query, [api.environmentId])).rows
    return [row.created_at.toISOString(), row.updated_at.toISOString()]
  }
  expect(await times()).toEqual([twoLater, twoLater])
  await api.advance({ by: '1h' })
  await browser.patch(`/topics/press/subscriptions/${own.data.identifier}`, { name: 'Mine' })
  expect(await times()).toEqual([twoLater, threeLater])
})

test('a preview there is of its time', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [email({ subject: '{{ "now" | date: "%Y-%m-%d" }}' })])
  const shown = await api.post('/v2/workflows/news/step/mail/preview', { previewPayload: {} })
  expect(shown.body.result?.preview, shown.text).toMatchObject({ subject: '2026-03-28' })
})

test('what is published into it has its time', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(server.api, [inApp], 'published')
  const body = { sourceEnvironmentId: server.api.environmentId }
  const told = await server.wideApi.post(`/v2/environments/${api.environmentId}/publish`, body)
  expect(told, told.text).toMatchObject({ status: 200 })
  expect((await api.get('/v2/workflows/published')).body).toMatchObject({ createdAt: start, updatedAt: start })
  await workflow(server.api, [inApp], 'one')
  const into = { targetEnvironmentId: api.environmentId }
  const one = await server.wideApi.put('/v2/workflows/one/sync', into)
  expect(one, one.text).toMatchObject({ status: 200, body: { createdAt: start, updatedAt: start } })
})

test('the inbox goes by it: reading, pressing and snoozing', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [inApp])
  await trigger(api)
  await api.advance({ by: '1h' })
  const path = '/v2/subscribers/ada/notifications'
  const [{ id }] = (await api.get(path)).body.data
  const at = '2026-03-28T20:00:00.000Z'
  expect((await api.patch(`${path}/${id}/read`)).body).toMatchObject({ isRead: true, readAt: at })
  expect((await api.patch(`${path}/${id}/snooze`, { snoozeUntil: at })).body.code).toBe('snooze_too_short')
  const snoozed = await api.patch(`${path}/${id}/snooze`, { snoozeUntil: '2026-03-30T08:00:00Z' })
  expect(snoozed).toMatchObject({ status: 200, body: { isSnoozed: true } })
  expect((await api.get('/v1/clock')).body.waiting).toEqual({ count: 1, next: '2026-03-30T08:00:00.000Z' })
  await server.drain()
  expect((await api.get(path)).body.data[0]).toMatchObject({ isSnoozed: true })
  expect(await api.advance({ to: 'next' })).toMatchObject({ waitsEnded: 1 })
  const [back] = (await api.get(path)).body.data
  expect(back).toMatchObject({ isSnoozed: false, createdAt: '2026-03-30T08:00:00.000Z' })
})

test('others are called as in Development, and webhooks are sent by the real time with the held one in them', async () => {
  const api = await heldApi(server, { now: start })
  const called: string[] = []
  const signed: string[] = []
  const other = createServer((request, response) => {
    called.push(`${request.method} ${request.url}`)
    signed.push(...Object.values(request.headers).flatMap((value) => /^t=(\d+),/.exec(String(value))?.[1] ?? []))
    response.setHeader('content-type', 'application/json').end('{"level": 3}')
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  const ask = {
    name: 'Ask',
    stepId: 'ask',
    type: 'http_request',
    controlValues: { method: 'GET', url: `${url}/level` },
  }
  await workflow(api, [delay(1), ask, { ...inApp, controlValues: { body: 'Level {{steps.ask.level}}' } }])
  expect((await api.post('/v2/webhooks/endpoints', { url: `${url}/hook`, eventTypes: ['message.sent'] })).status).toBe(
    201,
  )
  await trigger(api)
  await api.advance({ by: '2h' })
  expect(called).toEqual(['GET /level'])
  // Whoever checks the signature has the real time.
  expect(signed).toEqual([String(server.clock.now().getTime())])
  const at = '2026-03-28T20:00:00.000Z'
  expect((await api.get('/v1/messages')).body.data).toMatchObject([{ content: 'Level 3', createdAt: at }])
  const { rows } = await server.database.pool.query(
    "SELECT created_at, object ->> 'created_at' AS told FROM webhook_events WHERE environment_id = $1",
    [api.environmentId],
  )
  expect(rows.map(({ told }) => new Date(told).toISOString())).toEqual([at])
  expect(rows.map(({ created_at }) => created_at)).toEqual([server.clock.now()])
  await server.drain()
  expect(called).toEqual(['GET /level', 'POST /hook'])
  other.close()
})

test('its people are exported and erased like others, and the file has the times of its clock', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [inApp, email()])
  await trigger(api)
  await api.advance()
  const exported = await api.get('/v2/subscribers/ada/export')
  expect(exported.status, exported.text).toBe(200)
  expect(exported.text).toContain('ada@example.com')
  expect(exported.text).toContain(start)
  const erasing = await api.post('/v2/subscribers/ada/erase')
  expect(erasing.status, erasing.text).toBeLessThan(300)
  await server.drain()
  const { rows } = await server.database.pool.query('SELECT status FROM erasures WHERE environment_id = $1', [
    api.environmentId,
  ])
  expect(rows).toEqual([{ status: 'completed' }])
  expect((await api.get('/v2/subscribers/ada')).status).toBe(404)
  for (const table of ['messages', 'sandbox_messages', 'subscribers']) {
    const { rows: left } = await server.database.pool.query(
      `SELECT FROM ${table} t WHERE environment_id = $1 AND t::text ILIKE '%ada@example%'`,
      [api.environmentId],
    )
    expect(left, table).toEqual([])
  }
  expect((await api.get('/v1/explain?workflowId=news&subscriberId=ada')).body.subscriberId).toBe('ada')
})

test('suppressions, integrations, chats and test messages have its time, and an entry lasts as long as it shows', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [email()])
  const entry = { channel: 'email', address: ada.email, expiresAt: '2026-03-28T21:00:00Z' }
  const added = await api.post('/v1/suppressions', entry)
  expect(added, added.text).toMatchObject({ status: 201, body: { createdAt: start } })
  expect(await api.post('/v1/suppressions', { ...entry, expiresAt: start })).toMatchObject({
    body: { code: 'suppression_expired' },
  })
  const reasonNow = async () => {
    await trigger(api)
    return (await api.advance()).reasons
  }
  expect(await reasonNow()).toEqual({ suppressed: 1 })
  // The real time is months later, and the list still has it.
  await server.database.pool.query("SELECT graphile_worker.add_job('purge_expired')")
  await server.drain()
  const check = { channel: 'email', address: ada.email }
  expect((await api.post('/v1/suppressions/check', check)).body.suppressed).toBe(true)
  await api.advance({ by: '2h' })
  expect((await api.post('/v1/suppressions/check', check)).body.suppressed).toBe(false)
  expect((await api.get('/v1/suppressions')).body.data).toEqual([])
  expect(await reasonNow()).toEqual({})

  const later = '2026-03-28T21:00:00.000Z'
  const [sandbox] = (await api.get('/v1/integrations')).body.filter(
    ({ channel }: { channel: string }) => channel === 'chat',
  )
  const renamed = await api.put(`/v1/integrations/${sandbox._id}`, { name: 'Chats' })
  expect(renamed.body).toMatchObject({ createdAt: expect.any(String), updatedAt: later })
  const endpoint = await api.post('/v1/channel-endpoints', {
    ...{ subscriberId: 'ada', integrationIdentifier: sandbox.identifier, type: 'webhook' },
    endpoint: { url: 'https://example.com/hook' },
  })
  expect(endpoint, endpoint.text).toMatchObject({ status: 201, body: { createdAt: later } })
  const mails = (await api.get('/v1/integrations')).body.find(({ channel }: { channel: string }) => channel === 'email')
  const tested = await api.post(`/v1/integrations/${mails._id}/test`, { to: 'ada@example.com' })
  expect(tested.body, tested.text).toMatchObject({ success: true })
  expect((await api.get('/v1/sandbox/messages?limit=1')).body.data[0]).toMatchObject({ createdAt: later })
})

test('a provider gets in by no other door either', async () => {
  const api = await heldApi(server, { now: start })
  const definition = { identifier: 'sg', name: 'SendGrid', channel: 'email', providerId: 'sendgrid', active: false }
  const resources = [{ kind: 'integration', id: 'sg', definition }]
  for (const path of ['push', 'plan'])
    expect(await api.post(`/v2/definitions/${path}`, { resources })).toMatchObject({
      ...{ status: 422, body: { code: 'clock_sandbox_only', ctx: { providerId: 'sendgrid' } } },
    })
  expect((await api.get('/v1/integrations')).body).toHaveLength(5)
})

test('who unsubscribes, opens an inbox or leaves it does so at its time, and charts are drawn by it', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [email({ body: '<a href="{{unsubscribe_url}}">Leave</a>', editorType: 'html' })])
  await trigger(api)
  await api.advance({ by: '1h' })
  const later = '2026-03-28T20:00:00.000Z'
  const [{ id }] = (await api.get('/v1/sandbox/messages')).body.data
  const { html } = (await api.get(`/v1/sandbox/messages/${id}`)).body
  const [, path] = /href="https?:\/\/[^/"]+(\/l\/u\/[^"]+)"/.exec(html) ?? []
  expect(path, html).toBeDefined()
  const left = await fetch(server.url + path, { method: 'POST', body: new URLSearchParams({ confirm: '1' }) })
  expect(left.status).toBe(200)
  expect((await api.get('/v1/suppressions')).body.data).toMatchObject([{ reason: 'unsubscribe', createdAt: later }])
  await openInbox(server, api, 'bo')
  expect((await api.get('/v2/subscribers/bo')).body).toMatchObject({ createdAt: later })
  const { db, pool } = server.database
  const { rows } = await pool.query("SELECT id FROM subscribers WHERE environment_id = $1 AND subscriber_id = 'bo'", [
    api.environmentId,
  ])
  const key = { environmentId: api.environmentId, subscriberRowId: rows[0].id, contexts: '' }
  await enterInboxes(db, 'a process', [key])
  await leaveInboxes(db, 'a process', [key], server.clock.now())
  expect((await api.get('/v2/subscribers/bo')).body).toMatchObject({ isOnline: false, lastOnlineAt: later })
  const charts = (await api.get('/v1/activity/charts?interval=3600')).body
  expect(charts).toMatchObject({
    ...{ after: '2026-03-27T20:00:00.000Z', before: '2026-03-28T21:00:00.000Z' },
    totals: { runs: 1, messages: { email: 1 } },
  })
  const [busy] = charts.buckets.filter(({ runs }: { runs: number }) => runs > 0)
  expect(busy).toMatchObject({ at: '2026-03-28T19:00:00.000Z', runs: 1, messages: { email: 1 } })
})

test('links live and end by it: the page of preferences, the message in the browser, whether or not it is kept', async () => {
  const api = await heldApi(server, { now: start })
  const body = '<a href="{{preferences_url}}">P</a><a href="{{view_in_browser_url}}">V</a>'
  await workflow(api, [email({ body, editorType: 'html' })])
  await trigger(api)
  await api.advance()
  const [{ id }] = (await api.get('/v1/sandbox/messages')).body.data
  const { html } = (await api.get(`/v1/sandbox/messages/${id}`)).body
  const paths = [...html.matchAll(/href="https?:\/\/[^/"]+(\/l\/[pv]\/[^"]+)"/g)].map(([, path]) => path)
  expect(paths, html).toHaveLength(2)
  const made = await api.post('/v2/subscribers/ada/preferences-link', { expiresInDays: 200 })
  expect(made.body.expiresAt).toBe('2026-10-14T19:00:00.000Z')
  paths.push(new URL(made.body.url).pathname)
  const statuses = () => Promise.all(paths.map(async (path) => (await fetch(server.url + path)).status))
  // By the real time they were made months before they end, and years after.
  expect(await statuses()).toEqual([200, 200, 200])
  await api.advance({ by: '179d' })
  expect(await statuses()).toEqual([200, 200, 200])
  await api.advance({ by: '1d' })
  expect(await statuses()).toEqual([410, 410, 200])
  await api.advance({ by: '20d' })
  expect(await statuses()).toEqual([410, 410, 410])
  const gone = await server.database.pool.query('DELETE FROM messages WHERE environment_id = $1', [api.environmentId])
  expect(gone.rowCount).toBe(1)
  expect(await statuses()).toEqual([410, 410, 410])
})

test('triggers of one request keep their order, so a digest collects them in it', async () => {
  const api = await heldApi(server, { now: start })
  const digest = { name: 'Digest', stepId: 'collect', type: 'digest', controlValues: { amount: 1, unit: 'hours' } }
  await workflow(api, [digest, email({ subject: '{% for e in steps.collect.events %}{{e.payload.n}} {% endfor %}' })])
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const events = numbers.map((n) => ({ name: 'news', to: ada, payload: { n } }))
  expect(await api.post('/v1/events/trigger/bulk', { events })).toMatchObject({ status: 201 })
  await api.advance({ by: '2h' })
  const [mail] = (await api.get('/v1/sandbox/messages')).body.data
  expect(mail.subject.trim()).toBe(numbers.join(' '))
})

test('a cancellation key that asks for the time gets the time of its clock', async () => {
  const api = await heldApi(server, { now: start })
  const journey = { cancellationKey: '{{ "now" | date: "%Y" }}-{{payload.order}}' }
  const steps = [delay(1), inApp]
  const made = await api.post('/v2/workflows', { name: 'news', workflowId: 'news', active: true, steps, journey })
  expect(made, made.text).toMatchObject({ status: 201 })
  await api.advance({ by: '300d' })
  await trigger(api, { payload: { order: 7 } })
  await api.advance()
  expect((await api.post('/v1/events/cancel', { key: '2027-7' })).body).toMatchObject({ hasMore: false })
  expect(await api.advance({ by: '1d' })).toMatchObject({ messages: {}, waiting: { count: 0 } })
})
