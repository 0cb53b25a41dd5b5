// The statements behind reads, writes and pages use an index at every size: none scans or sorts a whole table.
import { beforeAll, expect, test } from 'vitest'
import { costlyNodes, statementsOf } from './plan.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()
const subscribers = 20_000
const topics = 3
const tables = ['subscribers', 'topic_subscriptions']
let api: Api

beforeAll(async () => {
  api = await server.freshApi()
  const { pool } = server.database
  const rowId = (table: string, number: string) =>
    `lpad(to_hex(1700000000 + ${number}), 8, '0') || '${table}' || lpad(to_hex(${number}), 8, '0')`
  await pool.query(
    `INSERT INTO topics (environment_id, id, key, created_at, updated_at)
     SELECT $1, ${rowId('70070070', 't')}, 'topic-' || t, now(), now() FROM generate_series(1, ${topics}) t`,
    [api.environmentId],
  )
  await pool.query(
    `INSERT INTO subscribers (environment_id, id, subscriber_id, created_at, updated_at)
     SELECT $1, ${rowId('50050050', 'n')}, 'user-' || n, now(), now() - n * interval '1 second' FROM generate_series(1, ${subscribers}) n`,
    [api.environmentId],
  )
  await pool.query(
    `INSERT INTO topic_subscriptions (environment_id, id, topic_id, subscriber_row_id, identifier, created_at, updated_at)
     SELECT $1, ${rowId('60060060', `(n * ${topics} + t)`)}, ${rowId('70070070', 't')}, ${rowId('50050050', 'n')},
            'tk_topic-' || t || ':si_user-' || n, now(), now()
     FROM generate_series(1, ${subscribers}) n, generate_series(1, ${topics}) t`,
    [api.environmentId],
  )
  await pool.query('VACUUM (ANALYZE) subscribers, topics, topic_subscriptions')
})

const middle = subscribers / 2
const subscriberCursor = (number: number) =>
  `${(1_700_000_000 + number).toString(16)}50050050${number.toString(16).padStart(8, '0')}`
const subscriptionCursor = (number: number) =>
  `${(1_700_000_000 + number * topics + 1).toString(16)}60060060${(number * topics + 1).toString(16).padStart(8, '0')}`

test.each<[string, () => ReturnType<Api['get']>]>([
  ['a subscriber by id', () => api.get('/v2/subscribers/user-7')],
  ['updating a subscriber', () => api.post('/v2/subscribers', { subscriberId: 'user-7', firstName: 'Ada' })],
  ['creating a subscriber', () => api.post('/v2/subscribers', { subscriberId: 'new' })],
  [
    'updating twenty subscribers at once',
    () =>
      api.post('/v1/subscribers/bulk', {
        subscribers: Array.from({ length: 20 }, (_, n) => ({ subscriberId: `user-${n}` })),
      }),
  ],
  ['the first page of subscribers', () => api.get('/v2/subscribers')],
  ['a page in the middle', () => api.get(`/v2/subscribers?after=${subscriberCursor(middle)}`)],
  ['a page in front of the middle', () => api.get(`/v2/subscribers?before=${subscriberCursor(middle)}`)],
  ['the last page', () => api.get(`/v2/subscribers?after=${subscriberCursor(9)}`)],
  ['the first page by time of change', () => api.get('/v2/subscribers?orderBy=updatedAt')],
  [
    'a page in the middle by time of change',
    () => api.get(`/v2/subscribers?orderBy=updatedAt&after=${subscriberCursor(middle)}`),
  ],
  ["the first page of a topic's subscriptions", () => api.get('/v2/topics/topic-1/subscriptions')],
  [
    "a middle page of a topic's subscriptions",
    () => api.get(`/v2/topics/topic-1/subscriptions?after=${subscriptionCursor(middle)}`),
  ],
  [
    "the last page of a topic's subscriptions",
    () => api.get(`/v2/topics/topic-1/subscriptions?after=${subscriptionCursor(9)}`),
  ],
  ["one subscriber's place in a topic", () => api.get('/v2/topics/topic-1/subscriptions?subscriberId=user-7')],
  ["a subscriber's subscriptions", () => api.get('/v2/subscribers/user-7/subscriptions')],
  ['a subscription', () => api.get('/v2/topics/topic-1/subscriptions/tk_topic-1:si_user-7')],
  ['subscribing', () => api.post('/v2/topics/topic-2/subscriptions', { subscriptions: ['user-7', 'user-8'] })],
  ['unsubscribing', () => api.delete('/v2/topics/topic-3/subscriptions', { subscriptions: ['user-9'] })],
  ['deleting a subscriber', () => api.delete('/v2/subscribers/user-11')],
])('%s', async (_name, request) => {
  const statements = await statementsOf(request, tables)
  expect(statements.length).toBeGreaterThan(0)
  for (const statement of statements) expect(await costlyNodes(server.database, statement, tables)).toEqual([])
})
