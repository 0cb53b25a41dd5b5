import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { contentsOf, inApp, makeWorkflow, prefer, runOf, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { makeEndpoint } from '../../../test/webhook-receiver.ts'
import { noteFailed } from '../../db/queries/shadow.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

/** A mark in every text about the person and nowhere else; the number serves where only digits are allowed. */
const mark = 'qzmark'
const number = '+15557135790'
const needles = [mark, number, ...[mark, number].map((text) => Buffer.from(text).toString('hex'))]

const ada = {
  subscriberId: `ada-${mark}`,
  firstName: `Ada ${mark}`,
  lastName: `Lovelace ${mark}`,
  email: `ada@${mark}.example.com`,
  phone: number,
  avatar: `https://example.com/${mark}.png`,
  data: { diary: `dear ${mark}`, [`${mark}Key`]: 1 },
}
const path = `/v2/subscribers/${ada.subscriberId}`
const wait = { type: 'regular', amount: 3, unit: 'hours' }
const content = 'for {{subscriber.firstName}}: {{payload.note}}'

const ok = async (answer: Promise<Answer>) => {
  const { status, text, body } = await answer
  expect([status, text]).toEqual([expect.toBeOneOf([200, 201, 202, 204]), expect.anything()])
  return body
}

/** Every row of every table, ours and the queue's, as text, so that future tables are searched too. */
async function storedRows(): Promise<Array<{ table: string; row: string }>> {
  const { db } = server.database
  const { rows: tables } = await sql<{ name: string }>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`.execute(db)
  const found: Array<{ table: string; row: string }> = []
  for (const { name } of tables) {
    const table = name.replace('public.', '').replace(/_(default|\d{4}_\d\d)$/, '')
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.raw(name)} t ORDER BY 1`.execute(db)
    found.push(...rows.map(({ row }) => ({ table, row })))
  }
  return found
}

const traces = async () =>
  (await storedRows()).filter(({ row }) => needles.some((needle) => row.toLowerCase().includes(needle)))

/** Every text with the mark in it, of every column, also inside JSON. */
async function markedTexts(): Promise<string[]> {
  const { db } = server.database
  const { rows: columns } = await sql<{ table: string; column: string }>`
    SELECT format('%I.%I', table_schema, table_name) AS table, column_name AS column FROM information_schema.columns
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND (table_schema, table_name) IN (
      SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE')`.execute(db)
  const found: string[][] = []
  for (const { table, column } of columns) {
    const { rows } = await sql<{ value: unknown }>`
      SELECT ${sql.ref(column)} AS value FROM ${sql.raw(table)} WHERE ${sql.ref(column)} IS NOT NULL`.execute(db)
    found.push(rows.flatMap(({ value }) => textsIn(value)))
  }
  return [...new Set(found.flat().filter((text) => text.includes(mark) || text.includes(number)))].sort()
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Buffer.isBuffer(value)) return [value.toString('latin1')]
  if (typeof value !== 'object' || value === null || value instanceof Date) return []
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(textsIn)]
}

/** Ada in every kind of data, and Ben, who shares some of it. */
async function populate(api: Api): Promise<void> {
  vendor.plays(() => ({ status: 204, body: '' }))
  await makeEndpoint(api, vendor)
  await addIntegration(server, api, { identifier: 'slack-main' })
  await addIntegration(server, api, { identifier: 'fcm', provider: 'fcm', channel: 'push' })
  await ok(api.post('/v2/subscribers', ada, { 'idempotency-key': 'once' }))
  await ok(api.post('/v2/subscribers', { subscriberId: 'ben-bystander', firstName: 'Ben' }))
  await ok(
    api.put(`/v1/subscribers/${ada.subscriberId}/credentials`, {
      providerId: 'fcm',
      credentials: { deviceTokens: [`token-${mark}`] },
    }),
  )
  const integrationIdentifier = 'slack-main'
  const owner = { integrationIdentifier, subscriberId: ada.subscriberId }
  await ok(
    api.post('/v1/channel-connections', {
      ...{ ...owner, identifier: `connection-${mark}`, workspace: { id: 'T1', name: `her ${mark}` } },
      auth: { accessToken: `xoxb-${mark}` },
    }),
  )
  await ok(
    api.post('/v1/channel-endpoints', {
      ...{ ...owner, identifier: `endpoint-${mark}`, connectionIdentifier: `connection-${mark}` },
      ...{ type: 'slack_user', endpoint: { userId: `U${mark}` } },
    }),
  )

  const email = { subject: content, body: `<p>${content}</p>`, editorType: 'html', layoutId: null }
  await makeWorkflow(api, 'all', [
    {
      type: 'throttle',
      controlValues: { type: 'fixed', amount: 1, unit: 'hours', threshold: 9, throttleKey: 'payload.note' },
    },
    { type: 'email', controlValues: email },
    { type: 'sms', controlValues: { body: content } },
    inApp(content, {
      subject: content,
      data: { about: '{{payload.note}}' },
      redirect: { url: '/{{payload.note}}', target: '_self' },
    }),
    {
      type: 'http_request',
      controlValues: { method: 'POST', url: `${vendor.url}/call`, body: [{ key: 'who', value: '{{payload.note}}' }] },
    },
    // No provider answers for these two: they wait for a retry.
    { type: 'push', controlValues: { subject: content, body: content } },
    { type: 'chat', controlValues: { body: content } },
  ])
  await makeWorkflow(api, 'later', [{ type: 'delay', controlValues: wait }, inApp(content)])
  await makeWorkflow(api, 'collected', [
    { type: 'digest', controlValues: { ...wait, digestKey: 'payload.note' } },
    inApp(content),
  ])
  const shared = await makeWorkflow(api, 'shared', [inApp('{{subscriber.firstName}} got something')])
  await prefer(api, ada.subscriberId, { workflowId: shared, channels: { email: false } })
  await ok(api.post('/v2/topics', { key: 'crowd', name: 'Crowd' }))
  const subscriberIds = [
    { identifier: `subscription-${mark}`, subscriberId: ada.subscriberId, name: `Her ${mark}` },
    'ben-bystander',
  ]
  await ok(api.post('/v2/topics/crowd/subscriptions', { subscriptions: subscriberIds }))
  await ok(
    api.patch(`/v2/topics/crowd/subscriptions/subscription-${mark}`, {
      preferences: [{ workflowId: 'shared', condition: { '!=': [{ var: 'payload.for' }, `not ${mark}`] } }],
    }),
  )

  const own = { payload: { note: `note ${mark}` }, transactionId: `all-${mark}` }
  const file = { file: Buffer.from(`a file of ${mark}`).toString('base64'), mime: 'text/plain', name: `${mark}.txt` }
  await trigger(
    api,
    'all',
    { ...ada, locale: 'en_GB' },
    {
      ...own,
      payload: { ...own.payload, attachments: [file] },
      overrides: { email: { replyTo: `reply@${mark}.example.com` } },
    },
  )
  for (const name of ['later', 'collected', 'collected'])
    await trigger(api, name, ada.subscriberId, { payload: own.payload })
  await trigger(api, 'shared', [ada, 'ben-bystander'], {
    payload: { assignee: ada.email, kept: 'as it is' },
    transactionId: 'to-both',
  })
  await trigger(api, 'shared', 'ben-bystander', { actor: ada, transactionId: 'by-ada' })
  await trigger(
    api,
    'shared',
    { type: 'Topic', topicKey: 'crowd', exclude: [ada.subscriberId] },
    { transactionId: 'excluding' },
  )
  await trigger(
    api,
    'shared',
    { type: 'Topic', topicKey: 'crowd' },
    { transactionId: 'to-all', actor: { subscriberId: ada.subscriberId } },
  )
  await server.drain()
  // An email reply of hers that her application has not fetched yet.
  const { _id: runId } = await runOf(api, own.transactionId)
  const now = server.clock.now()
  await server.database.db
    .insertInto('inbound_mails')
    .values({
      ...{ environment_id: api.environmentId, id: 'f'.repeat(24), notification_id: runId, message_id: 'f'.repeat(24) },
      ...{ fingerprint: 'f', mail: JSON.stringify({ text: `a letter of ${mark}` }), attempts: 0, due_at: null },
      ...{ created_at: now, updated_at: now },
    })
    .execute()
  // What differed for her at the service behind her environment.
  await noteFailed(
    server.database.db,
    api.environmentId,
    [
      {
        ...{ transactionId: null, subscriberId: ada.subscriberId, workflowId: null, stepId: null },
        ...{ kind: 'content', path: 'subject', upstream: `there ${mark}`, here: `here ${mark}` },
      },
    ],
    now,
  )
  // A bot link that she has not followed yet.
  await server.database.db
    .insertInto('bot_links')
    .values({
      ...{ environment_id: api.environmentId, hash: 'f', integration_id: 'f', subscriber_id: ada.subscriberId },
      ...{ context_keys: [], created_at: now, expires_at: now },
    })
    .execute()
  const [message] = (await api.get(`/v1/messages?channel=in_app&subscriberId=${ada.subscriberId}`)).body.data
  await ok(api.patch(`${path}/notifications/${message._id}/snooze`, { snoozeUntil: '2026-05-03T10:00:00.000Z' }))
  // Accepted, but not started.
  await trigger(api, 'later', ada, { payload: own.payload })
}

const erase = async (api: Api) => {
  const begun = await api.post(`${path}/erase`)
  await server.drain()
  return begun
}

test('the export has all data of a person, erasing removes it, and nobody else is affected', async () => {
  const { development: api, production } = await server.freshOrganization()
  await ok(production.post('/v2/subscribers', { subscriberId: 'ben-bystander' }))
  await populate(api)
  const marked = await markedTexts()
  const tables = new Set((await traces()).map(({ table }) => table))
  expect
    .soft([...tables].sort())
    .toEqual([
      'attachments',
      'bot_links',
      'channel_connections',
      'channel_endpoints',
      'digests',
      'events',
      'inbound_mails',
      'jobs',
      'messages',
      'notifications',
      'passed_over',
      'sandbox_messages',
      'shadow_differences',
      'subscribers',
      'subscription_preferences',
      'throttles',
      'topic_subscriptions',
      'transactions',
      'webhook_events',
    ])

  const exported = await api.get(`${path}/export`)
  expect(exported).toMatchObject({ status: 200, body: { subscriberId: ada.subscriberId } })
  expect(exported.headers.get('content-disposition')).toBe('attachment; filename="subscriber.json"')
  expect(exported.text).not.toMatch(/ben-bystander|xoxb-qzmark|enc:v1/)
  const { attachments, sandbox_messages, ...others } = exported.body.data
  const files = [attachments[0].content, ...sandbox_messages.flatMap(({ files }: { files: string[] }) => files)]
  const told = new Set([
    ...textsIn({ ...others, attachments, sandbox_messages }),
    ...files.map((text) => Buffer.from(text, 'base64').toString()),
  ])
  expect(marked.filter((text) => !told.has(text) && !text.startsWith('{'))).toEqual([])

  const before = (await storedRows()).filter(({ row }) => row.includes('ben-bystander') && !row.includes(mark))
  const waiting = (await contentsOf(api, 'ben-bystander')).length
  const begun = await erase(api)
  expect(begun).toMatchObject({ status: 202, body: { status: 'pending', completedAt: null } })
  expect(await traces()).toEqual([])
  expect((await api.get(path)).status).toBe(404)

  const { body: erasure } = await api.get(`/v2/erasures/${begun.body._id}`)
  expect(erasure).toMatchObject({ status: 'completed', completedAt: '2026-05-01T10:00:00.000Z' })
  expect(erasure.report).toEqual({
    attachments: 1,
    audit_log: 1,
    bot_links: 1,
    channel_connections: 1,
    channel_endpoints: 1,
    digests: 1,
    events: 5,
    events_changed: 4,
    idempotency_keys: 1,
    inbound_mails: 1,
    jobs: expect.any(Number),
    messages: 6,
    notifications: 6,
    passed_over: 2,
    sandbox_messages: 2,
    shadow_differences: 1,
    subscriber_preferences: 1,
    // The trigger that had not started created her again.
    subscribers: 2,
    subscription_preferences: 1,
    throttles: 1,
    timers: 5,
    topic_subscriptions: 1,
    transactions: 1,
    webhook_deliveries: expect.any(Number),
    webhook_events: expect.any(Number),
  })

  // Ben's data is unchanged; triggers for both no longer name Ada.
  const after = await storedRows()
  const kept = new Set(after.map(({ table, row }) => `${table} ${row}`))
  expect(before.filter(({ table, row }) => !kept.has(`${table} ${row}`))).toEqual([])
  expect(await contentsOf(api, 'ben-bystander')).toHaveLength(waiting)
  expect((await runOf(api, 'to-both')).payload).toEqual({ assignee: '[erased]', kept: 'as it is' })
  const entries = (await api.get('/v1/audit?action=subscriber')).body.data
  expect
    .soft(entries.map(({ action, target }: { action: string; target: { id: string } }) => [action, target.id]))
    .toEqual([
      ['subscriber.erased', begun.body._id],
      ['subscriber.exported', '[erased]'],
    ])

  // Pending steps do not run, and a person who returns is a new subscriber.
  server.clock.advance({ days: 3 })
  await server.drain()
  expect(await traces()).toEqual([])
  expect(server.logged.filter(({ level }) => level >= 50)).toEqual([])
  await ok(api.post('/v2/subscribers', { subscriberId: ada.subscriberId }))
  const { body } = await api.get(`${path}/export`)
  const { subscribers, webhook_events, webhook_deliveries, audit_log, ...nothing } = body.data
  // The last one is this export itself.
  expect([subscribers, webhook_events, audit_log].map((list) => list.length)).toEqual([1, 1, 1])
  expect(Object.values(nothing).flat().length).toBe(0)
  expect(webhook_deliveries).toHaveLength(1)
}, 240_000)

test('a person with more data than fits a transaction is erased completely, even after being deleted and created again', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'hello', [inApp()])
  await trigger(api, 'hello', 'cleo')
  await server.drain()
  await ok(api.delete('/v1/subscribers/cleo'))
  await trigger(api, 'hello', 'cleo')
  await trigger(api, 'hello', 'dora')
  await server.drain()
  const { db } = server.database
  await sql`
    INSERT INTO sandbox_messages (environment_id, id, channel, transaction_id, subscriber_id, workflow, step_id, recipients,
                                  message, attachments, files, created_at, updated_at)
    SELECT ${api.environmentId}, 'm' || n, 'sms', '', 'cleo', '', '', '{}', '{}', '[]', '{}', now(), now()
    FROM generate_series(1, 2500) n`.execute(db)
  const { body: begun } = await api.post('/v2/subscribers/cleo/erase')
  // Repeated before it has finished, it is the same erasure.
  expect((await api.post('/v2/subscribers/cleo/erase')).body._id).toBe(begun._id)
  await server.drain()
  const { body } = await api.get(`/v2/erasures/${begun._id}`)
  expect(body).toMatchObject({
    status: 'completed',
    report: { sandbox_messages: 2500, notifications: 2, subscribers: 1 },
  })
  expect(await sql`SELECT FROM notifications WHERE environment_id = ${api.environmentId}`.execute(db)).toMatchObject({
    rows: [{}],
  })
  expect((await api.get('/v2/erasures')).body.data).toEqual([body])
  // Rows that a step in flight wrote in the meantime are removed an hour later.
  const { rows } = await sql<{ payload: object }>`
    SELECT payload FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
    WHERE t.identifier = 'erase_subscriber' AND run_at > now() + interval '50 minutes'
      AND payload ->> 'erasureId' = ${begun._id}`.execute(db)
  expect(rows).toHaveLength(1)
  await sql`
    INSERT INTO digests (environment_id, workflow_id, step_row_id, subscriber_row_id, value, seen_at, forget_at)
    SELECT environment_id, 'w', 's', subscriber_row_ids[1], 'late', now(), now() FROM erasures WHERE id = ${begun._id}`.execute(
    db,
  )
  await sql`UPDATE graphile_worker._private_jobs SET run_at = now()`.execute(db)
  await server.drain()
  const { body: swept } = await api.get(`/v2/erasures/${begun._id}`)
  expect(swept.report).toEqual({ ...body.report, digests: 1 })
}, 120_000)

test('unknown subscribers and erasures are not found', async () => {
  const api = await server.freshApi()
  const other = await server.freshApi()
  await ok(other.post('/v2/subscribers', { subscriberId: 'elsewhere' }))
  const { body: erasure } = await other.post('/v2/subscribers/elsewhere/erase')
  await ok(other.post('/v2/subscribers', { subscriberId: 'elsewhere' }))
  for (const [method, place] of [
    ['POST', '/v2/subscribers/elsewhere/erase'],
    ['GET', '/v2/subscribers/elsewhere/export'],
  ] as const)
    expect(await api.send(method, place)).toMatchObject({ status: 404, body: { code: 'subscriber_not_found' } })
  expect(await api.get(`/v2/erasures/${erasure._id}`)).toMatchObject({
    status: 404,
    body: { code: 'erasure_not_found' },
  })
  expect((await api.get('/v2/erasures')).body.data).toEqual([])
  expect((await other.get('/v2/subscribers/elsewhere')).status).toBe(200)
})
