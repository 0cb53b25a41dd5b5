// The statements behind activity, messages and inboxes use an index at every size, and stay out of partitions in which nothing
// of what they look for can be.
import { beforeAll, describe, expect, test } from 'vitest'
import { firstIdAt } from '../src/db/ids.ts'
import { costlyNodes, planOf, statementsOf } from './plan.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()
const runs = 30_000
const subscribers = 300
const tables = ['notifications', 'jobs', 'messages', 'events', 'subscribers', 'timers', 'workflow_versions']
const partitioned = ['notifications', 'jobs', 'messages', 'events']
/** A run every minute from the first of March; each partition holds ten days. */
const start = new Date('2026-03-01T00:00:00Z')
const day = (number: number) => new Date(start.getTime() + number * 86_400_000)
let api: Api

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
         ${rowId('50050050', `n % ${subscribers}`)}, 'user-' || n % ${subscribers}, 'completed', 'none', false, '{in_app}', '{}', '{}',
         ${time('n')}, ${time('n')}
       FROM generate_series(0, ${runs - 1}) n`,
    )
    await insert(
      `INSERT INTO jobs (environment_id, notification_id, position, id, step_row_id, step_id, type, status, details,
         schedule_extensions, attempts, created_at, updated_at)
       SELECT $1, ${rowId('aaaaaaaa', 'n')}, 0, ${rowId('bbbbbbbb', 'n')}, ${rowId('55555555', 'n')}, 's', 'in_app', 'completed', '[]',
         0, 0, ${time('n')}, ${time('n')}
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
  ['one record', () => api.get(`/v1/notifications/${idOf('aaaaaaaa', 20_000)}`)],
  ['the newest messages', () => api.get('/v1/messages')],
  ['messages of a subscriber', () => api.get('/v1/messages?subscriberId=user-7')],
  ['messages of a subscriber in one channel', () => api.get('/v1/messages?subscriberId=user-7&channel=email')],
  ['messages of two transactions', () => api.get('/v1/messages?transactionId=txn-7&transactionId=txn-8')],
  ['deleting a message', () => api.delete(`/v1/messages/${idOf('cccccccc', 12_001)}`)],
  ['deleting those of a transaction', () => api.delete('/v1/messages/transaction/txn-11')],
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
  ['archiving what is read', () => api.post(`${inbox}/read-archive`)],
  ['deleting one', () => api.delete(`${inbox}/${mine(3)}`)],
  ['deleting all', () => api.post(`${inbox}/delete`)],
  ['deleting a subscriber', () => api.delete('/v2/subscribers/user-8')],
])('%s', async (_name, request) => {
  const statements = await statementsOf(request, tables)
  expect(statements.length).toBeGreaterThan(0)
  // A page may be put in order once it has been found, and so may all of one subscriber that is about to change.
  for (const statement of statements) expect(await costlyNodes(server.database, statement, tables, 200)).toEqual([])
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

  test('a record by its id is looked for where it can be', async () => {
    const found = await partitionsOf(() => api.get(`/v1/notifications/${idOf('aaaaaaaa', 20_000)}`))
    // Messages are made later than their run: those of the time before are left out, those after are not.
    expect(found).toEqual([
      'events_p1',
      'jobs_p1',
      'messages_default',
      'messages_p1',
      'messages_p2',
      'notifications_p1',
    ])
  })

  test('of a time, only what is of that time', async () => {
    const found = await partitionsOf(() => api.get(`/v1/notifications?after=${iso(3)}&before=${iso(4)}`))
    expect(found.filter((name) => name.startsWith('notifications'))).toEqual(['notifications_p0'])
    expect(found.filter((name) => name.startsWith('jobs'))).toEqual(['jobs_p0'])
  })

  test('what is done to messages by their ids touches theirs only', async () => {
    const theirs = idOf('cccccccc', 309 + 60 * subscribers)
    const found = await partitionsOf(() => api.patch(`/v2/subscribers/user-9/notifications/${theirs}/read`))
    expect(found).toEqual(['messages_p1'])
    expect(await partitionsOf(() => api.delete(`/v1/messages/${theirs}`))).toEqual(['messages_p1'])
  })

  test('an inbox up to a time leaves out what came later', async () => {
    const found = await partitionsOf(() => api.get(`${inbox}?createdLte=${day(5).getTime()}`))
    expect(found.filter((name) => name.startsWith('messages_p'))).toEqual(['messages_p0'])
  })
})
