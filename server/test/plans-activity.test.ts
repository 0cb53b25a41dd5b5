// The statements behind activity, messages and inboxes use an index at every size, and skip partitions that cannot contain
// what they look for.
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { firstIdAt } from '../src/db/core/ids.ts'
import { countUnread, findMessages } from '../src/db/queries/messages.ts'
import { findContexts, findRecipients, findTenants, takeEvents } from '../src/engine/core/accept-statements.ts'
import { dropCalls, takeCalls } from '../src/engine/core/call-statements.ts'
import { holdRuns, loadRuns } from '../src/engine/core/run-statements.ts'
import { type InboxClient, openInbox } from './inbox.ts'
import { costlyNodes, planOf, statementsOf } from './plan.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()
const runs = 30_000
const subscribers = 300
const tables = [
  ...['notifications', 'jobs', 'messages', 'events', 'subscribers', 'timers', 'workflow_versions'],
  ...['topic_subscriptions', 'activity_counts'],
]
const partitioned = ['notifications', 'jobs', 'messages', 'events']
/** A run every minute from 1 March; each partition holds ten days. */
const start = new Date('2026-03-01T00:00:00Z')
const day = (number: number) => new Date(start.getTime() + number * 86_400_000)
let api: Api
let browser: InboxClient

const rowId = (table: string, number: string) =>
  `lpad(to_hex(${start.getTime() / 1000} + 60 * (${number})), 8, '0') || '${table}' || lpad(to_hex(${number}), 8, '0')`
const idOf = (table: string, number: number) =>
  `${(start.getTime() / 1000 + 60 * number).toString(16)}${table}${number.toString(16).padStart(8, '0')}`
const time = (number: string) => `'${start.toISOString()}'::timestamptz + (${number}) * interval '1 minute'`

beforeAll(async () => {
  api = await server.freshApi()
  const { pool } = server.database
  const environments = [api.environmentId, (await server.freshApi()).environmentId]
  for (const table of partitioned) {
    for (let part = 0; part < 3; part += 1)
      await pool.query(
        `CREATE TABLE ${table}_p${part} PARTITION OF ${table}
         FOR VALUES FROM ('${firstIdAt(day(part * 10))}') TO ('${firstIdAt(day(part * 10 + 10))}')`,
      )
  }
  for (const environment of environments) {
    const insert = (text: string) => pool.query(text, [environment])
    await insert(
      `INSERT INTO subscribers (environment_id, id, subscriber_id, email, created_at, updated_at)
       SELECT $1, ${rowId('50050050', 'n')}, 'user-' || n, 'user-' || n || '@example.com', now(), now()
       FROM generate_series(0, ${subscribers - 1}) n`,
    )
    await insert(
      `INSERT INTO workflow_versions (environment_id, workflow_id, version, definition, created_at)
       SELECT $1, ${rowId('40040040', 'w')}, v, '{"steps":[]}', now() FROM generate_series(0, 99) w, generate_series(1, 20) v`,
    )
    await insert(
      `INSERT INTO events (environment_id, id, transaction_id, workflow_id, workflow_version, payload, overrides, created_at)
       SELECT $1, ${rowId('eeeeeeee', 'n')}, 'txn-' || n / 10, ${rowId('40040040', 'n % 100')}, 1, '{}', '{}', ${time('n')}
       FROM generate_series(0, ${runs - 1}) n`,
    )
    await insert(
      `INSERT INTO notifications (environment_id, id, event_id, transaction_id, workflow_id, workflow_version,
         subscriber_row_id, subscriber_id, status, severity, critical, channels, tags, context_keys, created_at, updated_at)
       SELECT $1, ${rowId('aaaaaaaa', 'n')}, ${rowId('eeeeeeee', 'n')}, 'txn-' || n / 10, ${rowId('40040040', 'n % 100')}, 1,
         ${rowId('50050050', `n % ${subscribers}`)}, 'user-' || n % ${subscribers},
         CASE n % 3000 WHEN 11 THEN 'error' WHEN 12 THEN 'processing' ELSE 'completed' END,
         CASE n % 3000 WHEN 21 THEN 'high' WHEN 22 THEN 'low' ELSE 'none' END, false, '{in_app}', '{}', '{}',
         ${time('n')}, ${time('n')}
       FROM generate_series(0, ${runs - 1}) n`,
    )
    // Every third came through a topic; one in three thousand through a rare one, or a second one.
    await insert(
      `UPDATE notifications SET topics = json_build_array(json_build_object('_topicId', 't', 'topicKey',
         CASE WHEN id LIKE '%bb8' THEN 'rare' ELSE 'common' END, 'subscriptionIdentifier', 'sub-' || id))
       WHERE environment_id = $1 AND right(id, 1) IN ('0', '3', '8', 'c', 'f')`,
    )
    await insert(
      `UPDATE notifications SET topics = '[{"_topicId":"t","topicKey":"common"},{"_topicId":"u","topicKey":"rare"}]' WHERE environment_id = $1 AND id LIKE '%7d0'`,
    )
    await insert(
      `INSERT INTO topic_subscriptions (environment_id, id, topic_id, subscriber_row_id, identifier, created_at, updated_at)
       SELECT $1, ${rowId('66666666', 'n')}, 't', ${rowId('50050050', 'n')}, 'subscription-' || n, now(), now()
       FROM generate_series(0, ${subscribers - 1}) n`,
    )
    await insert(
      `INSERT INTO workflows (environment_id, id, identifier, name, created_at, updated_at)
       SELECT $1, ${rowId('40040040', 'n')}, 'workflow-' || n, 'w', now(), now() FROM generate_series(0, 99) n`,
    )
    await insert(
      `INSERT INTO jobs (environment_id, notification_id, position, id, step_row_id, step_id, type, status, reason, details,
         schedule_extensions, attempts, created_at, updated_at)
       SELECT $1, ${rowId('aaaaaaaa', 'n')}, 0, ${rowId('bbbbbbbb', 'n')}, ${rowId('55555555', 'n')}, 's', 'in_app', 'completed',
         CASE WHEN n % 3 = 0 THEN 'preference' WHEN n % 3000 = 11 THEN 'internal' END, '[]', 0, 0, ${time('n')}, ${time('n')}
       FROM generate_series(0, ${runs - 1}) n`,
    )
    await insert(
      `INSERT INTO messages (environment_id, id, notification_id, event_id, transaction_id, job_id, workflow_id, workflow,
         step_row_id, step_id, subscriber_row_id, subscriber_id, channel, tags, severity, context_keys, status, created_at, updated_at)
       SELECT $1, ${rowId('cccccccc', 'n')}, ${rowId('aaaaaaaa', 'n')}, ${rowId('eeeeeeee', 'n')}, 'txn-' || n / 10,
         ${rowId('bbbbbbbb', 'n')}, ${rowId('40040040', 'n % 100')}, 'w', ${rowId('55555555', 'n')}, 's',
         ${rowId('50050050', `n % ${subscribers}`)}, 'user-' || n % ${subscribers},
         CASE n / ${subscribers} % 4 WHEN 0 THEN 'email' ELSE 'in_app' END, '{}', 'none', '{}', 'sent', ${time('n')}, ${time('n')}
       FROM generate_series(0, ${runs - 1}) n`,
    )
    await insert(
      `INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
       SELECT $1, ${rowId('aaaaaaaa', 'n')}, 0, 'step', ${time('n')} FROM generate_series(0, ${runs - 1}) n`,
    )
  }
  await pool.query(`VACUUM (ANALYZE) ${tables.join(', ')}`)
  browser = await openInbox(server, api, 'user-7')
}, 120_000)

const inbox = '/v2/subscribers/user-7/notifications'
/** A message in the inbox of user-7. */
const mine = (round: number) => idOf('cccccccc', 7 + round * subscribers)
const iso = (number: number) => day(number).toISOString()

test.each<[string, () => ReturnType<Api['get']>]>([
  ['the newest activity', () => api.get('/v1/notifications')],
  ['a later page of it', () => api.get('/v1/notifications?page=20')],
  ['of one workflow', () => api.get(`/v1/notifications?templates=${idOf('40040040', 3)}`)],
  ['of one subscriber', () => api.get('/v1/notifications?subscriberIds=user-7')],
  ['of one transaction', () => api.get('/v1/notifications?transactionId=txn-7')],
  ['of a transaction and a subscriber', () => api.get('/v1/notifications?transactionId=txn-7&subscriberIds=user-71')],
  ['of a time', () => api.get(`/v1/notifications?after=${iso(3)}&before=${iso(4)}`)],
  ['of one workflow by its name', () => api.get('/v1/notifications?workflowIds=workflow-3')],
  ['failed', () => api.get('/v1/notifications?status=error')],
  ['under way', () => api.get('/v1/notifications?status=processing')],
  ['failed or in progress', () => api.get('/v1/notifications?status=error&status=processing')],
  ['failed, of one subscriber', () => api.get('/v1/notifications?status=error&subscriberIds=user-11')],
  ['ended', () => api.get('/v1/notifications?status=completed')],
  ['for a rare reason', () => api.get('/v1/notifications?reasons=internal')],
  ['for a frequent reason', () => api.get('/v1/notifications?reasons=preference&page=15')],
  ['for one of several reasons', () => api.get('/v1/notifications?reasons=preference&reasons=internal')],
  ['of a rare severity', () => api.get('/v1/notifications?severity=high')],
  ['of rare severities', () => api.get('/v1/notifications?severity=high&severity=low')],
  ['through a frequent topic', () => api.get('/v1/notifications?topicKey=common')],
  ['through a rare topic', () => api.get('/v1/notifications?topicKey=rare')],
  ['through a subscription', () => api.get('/v1/notifications?subscriptionId=subscription-7')],
  ['below a record', () => api.get(`/v1/notifications?cursor=${idOf('aaaaaaaa', 20_000)}`)],
  ['what is new', () => api.get(`/v1/notifications/count?since=${idOf('aaaaaaaa', 29_990)}`)],
  [
    'new failures',
    () => api.get(`/v1/notifications/count?since=${idOf('aaaaaaaa', 20_000)}&reasons=internal&topicKey=rare`),
  ],
  ['one record', () => api.get(`/v1/notifications/${idOf('aaaaaaaa', 20_000)}`)],
  ['the newest messages', () => api.get('/v1/messages')],
  ['messages of a subscriber', () => api.get('/v1/messages?subscriberId=user-7')],
  ['messages of a subscriber in one channel', () => api.get('/v1/messages?subscriberId=user-7&channel=email')],
  ['messages of two transactions', () => api.get('/v1/messages?transactionId=txn-7&transactionId=txn-8')],
  ['deleting a message', () => api.delete(`/v1/messages/${idOf('cccccccc', 12_001)}`)],
  ['deleting the messages of a transaction', () => api.delete('/v1/messages/transaction/txn-11')],
  ['the feed', () => api.get('/v1/subscribers/user-7/notifications/feed')],
  ['what is unseen', () => api.get('/v1/subscribers/user-7/notifications/unseen')],
  [
    'marking by id',
    () =>
      api.post('/v1/subscribers/user-7/messages/mark-as', { messageId: [mine(1), mine(2), mine(90)], markAs: 'read' }),
  ],
  ['marking all', () => api.post('/v1/subscribers/user-7/messages/mark-all', { markAs: 'seen' })],
  ['the inbox', () => api.get(`${inbox}?archived=false&snoozed=false`)],
  ['the inbox, further down', () => api.get(`${inbox}?after=${mine(50)}`)],
  ['counts', () => api.get(`${inbox}/count?filters=[{"read":false},{"severity":"high"}]`)],
  ['reading one', () => api.patch(`${inbox}/${mine(1)}/read`)],
  ['putting one aside', () => api.patch(`${inbox}/${mine(2)}/snooze`, { snoozeUntil: '2026-05-09T10:00:00.000Z' })],
  ['taking it back', () => api.patch(`${inbox}/${mine(2)}/unsnooze`)],
  ['archiving read messages', () => api.post(`${inbox}/read-archive`)],
  ['a session', () => openInbox(server, api, 'user-7').then(() => ({ status: 201, text: '' }) as never)],
  ['the inbox in a browser', () => browser.get('/notifications?archived=false&snoozed=false')],
  ['unread messages in it', () => browser.get('/notifications?read=false&snoozed=false')],
  ['a later page of it', () => browser.get(`/notifications?archived=false&snoozed=false&after=${mine(50)}`)],
  ['messages since a time', () => browser.get(`/notifications?createdGte=${day(5).getTime()}`)],
  [
    'its counts',
    () =>
      browser.get('/notifications/count?filters=[{"read":false,"archived":false,"snoozed":false,"severity":"high"}]'),
  ],
  ['marking some as seen', () => browser.post('/notifications/seen', { notificationIds: [mine(4), mine(5)] })],
  ['reading one', () => browser.patch(`/notifications/${mine(1)}/read`)],
  [
    "its socket's events",
    async () => {
      const { pool } = server.database
      const { environmentId } = api
      const ids = [mine(4), mine(60)]
      const [rows] = await Promise.all([
        findMessages(
          pool,
          ids.map((id) => ({ environmentId, id })),
        ),
        countUnread(pool, [{ environmentId, subscriberRowId: idOf('50050050', 7), contextKeys: [] }], 101),
      ])
      expect(rows.map(({ id }) => id)).toEqual(ids)
      return { status: 200, text: '' } as never
    },
  ],
  ['deleting one', () => api.delete(`${inbox}/${mine(3)}`)],
  ['deleting all', () => api.post(`${inbox}/delete`)],
  ['deleting a subscriber', () => api.delete('/v2/subscribers/user-8')],
])('%s', async (_name, request) => {
  const statements = await statementsOf(request, tables)
  expect(statements.length).toBeGreaterThan(0)
  // A page may be sorted once found, and so may all messages of one subscriber that are about to change.
  for (const statement of statements) expect(await costlyNodes(server.database, statement, tables, 200)).toEqual([])
})

test.each([
  ['reasons=internal', 10],
  ['reasons=preference&reasons=internal', 11],
  ['topicKey=rare', 14],
  ['topicKey=common', 11],
  ['severity=high&severity=low', 20],
  ['status=error&status=processing', 20],
])('a page of %s is found without reading others', async (query, most) => {
  const statements = await statementsOf(() => api.get(`/v1/notifications?${query}`), ['notifications'])
  let read = 0
  for (const { text, values } of statements) {
    const { rows } = await server.database.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values)
    read += rowsRead(rows[0]['QUERY PLAN'][0].Plan)
  }
  // Ids from an index, some in vain; each run; and again with its steps and trigger.
  expect(read).toBeGreaterThanOrEqual(Math.min(most, 10))
  expect(read).toBeLessThanOrEqual(300)
})

interface Ran {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Ran[]
}

/** Rows of runs and steps read, including those in vain. */
function rowsRead(node: Ran): number {
  const own = /^(notifications|jobs)/.test(node['Relation Name'] ?? '')
    ? (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']
    : 0
  return (node.Plans ?? []).reduce((sum, inner) => sum + rowsRead(inner), own)
}

describe('charts', () => {
  /** Rows read by the statements of a request; throws for scans of whole tables and partitions. */
  const readsOf = async (request: () => ReturnType<Api['get']>) => {
    const found: string[] = []
    for (const statement of await statementsOf(request, tables)) {
      expect(await costlyNodes(server.database, statement, partitioned)).toEqual([])
      for (const node of await planOf(server.database, statement)) found.push(node['Relation Name'] ?? '')
    }
    return [...new Set(found)]
  }
  const charts = (from: number, to: number) => api.get(`/v1/activity/charts?after=${iso(from)}&before=${iso(to)}`)

  test('reads no rows that have been counted, except failures, by their own index', async () => {
    await server.database.pool.query('INSERT INTO activity_counted (until) VALUES ($1)', [day(20)])
    const reads = await readsOf(() => charts(1, 15))
    expect(reads).toContain('activity_counts')
    expect(reads.filter((name) => /^(events|messages|jobs)_p/.test(name))).toEqual([])
    expect(reads.filter((name) => /^notifications_p/.test(name)).sort()).toEqual([
      'notifications_p0',
      'notifications_p1',
    ])
  })

  test('finds uncounted rows by their time', async () => {
    const reads = await readsOf(() => charts(20, 20.05))
    expect(reads).toContain('messages_p2')
  })
})

describe('partitions', () => {
  /** The partitions that the statements of a request would read. */
  const partitionsOf = async (request: () => ReturnType<Api['get']>) => {
    const found = new Set<string>()
    for (const statement of await statementsOf(request, partitioned)) {
      for (const { 'Relation Name': name } of await planOf(server.database, statement))
        if (name && /_(p\d|default)$/.test(name)) found.add(name)
    }
    return [...found].sort()
  }

  test('a record is looked up by id only in partitions that can contain it', async () => {
    const found = await partitionsOf(() => api.get(`/v1/notifications/${idOf('aaaaaaaa', 20_000)}`))
    // Messages are newer than their run: earlier partitions are skipped, later ones are not.
    expect(found).toEqual([
      'events_p1',
      'jobs_p1',
      'messages_default',
      'messages_p1',
      'messages_p2',
      'notifications_p1',
    ])
  })

  test('a time range reads only its partitions', async () => {
    const found = await partitionsOf(() => api.get(`/v1/notifications?after=${iso(3)}&before=${iso(4)}`))
    expect(found.filter((name) => name.startsWith('notifications'))).toEqual(['notifications_p0'])
    expect(found.filter((name) => name.startsWith('jobs'))).toEqual(['jobs_p0'])
  })

  test('changing messages by id touches only their partitions', async () => {
    const theirs = idOf('cccccccc', 309 + 60 * subscribers)
    const found = await partitionsOf(() => api.patch(`/v2/subscribers/user-9/notifications/${theirs}/read`))
    expect(found).toEqual(['messages_p1'])
    expect(await partitionsOf(() => api.delete(`/v1/messages/${theirs}`))).toEqual(['messages_p1'])
  })

  test('an inbox up to a time skips later partitions', async () => {
    const found = await partitionsOf(() => api.get(`${inbox}?createdLte=${day(5).getTime()}`))
    expect(found.filter((name) => name.startsWith('messages_p'))).toEqual(['messages_p0'])
  })
})

test('statements of every message are planned once', async () => {
  const { environmentId } = api
  const one = [[environmentId], [idOf('50050050', 7)]]
  const [now, times] = [new Date(), 12]
  const pool = new pg.Pool({ connectionString: server.database.url, max: 1 })
  try {
    for (let time = 0; time < times; time += 1) {
      await findMessages(pool, [{ environmentId, id: mine(4) }])
      await countUnread(pool, [{ environmentId, subscriberRowId: idOf('50050050', 7), contextKeys: [] }], 101)
      for (const statement of [findRecipients, holdRuns, loadRuns, findTenants])
        await pool.query({ ...statement, values: one })
      await pool.query({ ...findContexts, values: [...one, ['tenant']] })
      await pool.query({ ...takeEvents, values: [...one, now] })
      await pool.query({ ...takeCalls, values: [...one, [0], now, '[]', null, 'nobody', 1, 64, []] })
      await pool.query({ ...dropCalls, values: [['1'], ['nobody']] })
    }
    const { rows } = await pool.query<{ name: string; custom_plans: string }>(
      'SELECT name, custom_plans FROM pg_prepared_statements',
    )
    expect(rows).toHaveLength(10)
    // PostgreSQL makes five custom plans before it compares.
    expect(rows.filter(({ custom_plans }) => Number(custom_plans) > 5)).toEqual([])
  } finally {
    await pool.end()
  }
})
