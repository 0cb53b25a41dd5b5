// The number of statements per notification stays small, however many are processed together.
import { expect, test } from 'vitest'
import { statementsOf } from './plan.ts'
import { inApp, makeWorkflow, messagesOf, trigger } from './runs.ts'
import { type Answer, useServer } from './server.ts'

const server = useServer()
const tables = [
  'begun_calls',
  'events',
  'transactions',
  'subscribers',
  'notifications',
  'jobs',
  'messages',
  'topic_subscriptions',
  'walks',
]

const statementsWhile = async (work: () => Promise<Answer | undefined>): Promise<string[]> => {
  const found = await statementsOf(async () => (await work()) ?? { status: 200, text: '' }, tables)
  // The queue takes and completes a job once for the whole batch, the bell rings once, and growing tables are analyzed.
  const own = found.filter(({ text }) => !/graphile_worker"|jobs:insert|ANALYZE/.test(text))
  return own.map(
    ({ text }) =>
      /\b(INSERT INTO|UPDATE|DELETE FROM|FROM) (?!unnest|json_to_recordset|input|workers|OF )\w+/.exec(text)?.[0] ??
      text,
  )
}
const drained = async () => {
  await server.drain()
  return undefined
}

test('a trigger takes one statement and its run three more; so do a hundred triggers and their runs', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  // Warms the caches of the environment and its recipients.
  for (const to of ['ada', 'bob']) await trigger(api, 'news', to)
  await server.drain()

  const accepting = ['INSERT INTO transactions']
  const running = ['UPDATE events', 'FROM subscriber_preferences', 'INSERT INTO notifications']
  expect(await statementsWhile(() => api.post('/v1/events/trigger', { name: 'news', to: 'ada' }))).toEqual(accepting)
  expect(await statementsWhile(drained)).toEqual(running)
  const events = Array.from({ length: 100 }, (_, number) => ({ name: 'news', to: number % 2 ? 'bob' : 'ada' }))
  expect(await statementsWhile(() => api.post('/v1/events/trigger/bulk', { events }))).toEqual(accepting)
  expect(await statementsWhile(drained)).toEqual(running)
  expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(52)
})

test('a chunk of a topic takes two statements for its members and their runs, and two for its progress', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  const ids = Array.from({ length: 90 }, (_, number) => `member-${number}`)
  await api.post('/v1/subscribers/bulk', { subscribers: ids.map((subscriberId) => ({ subscriberId })) })
  expect((await api.post('/v2/topics/all/subscriptions', { subscriptions: ids })).status).toBeLessThan(300)
  await trigger(api, 'news', 'member-1')
  await server.drain()
  await trigger(api, 'news', { type: 'Topic', topicKey: 'all' })
  expect(await statementsWhile(drained)).toEqual([
    'UPDATE events',
    'INSERT INTO walks',
    'FROM walks',
    'FROM topics',
    'INSERT INTO notifications',
    'DELETE FROM walks',
  ])
  expect(await messagesOf(api, 'channel=in_app')).toHaveLength(91)
})

test('a delivery from the queue takes one statement before the call and one after, and an unchanged recipient writes nothing', async () => {
  const { api } = server
  await makeWorkflow(api, 'mail', [{ type: 'email', controlValues: { subject: 'News', body: '<p>Hello</p>' } }])
  const to = { subscriberId: 'ada', email: 'ada@example.com', data: { team: { name: 'core', size: 3 } } }
  await trigger(api, 'mail', to)
  await server.drain()
  await trigger(api, 'mail', { ...to, data: { team: { size: 3, name: 'core' } } })
  expect(await statementsWhile(drained)).toEqual([
    'UPDATE events',
    'FROM subscriber_preferences',
    'INSERT INTO notifications',
    'UPDATE jobs',
    'UPDATE jobs',
  ])
  const messages = await messagesOf(api, 'subscriberId=ada')
  expect(messages.map(({ status, channel }) => [status, channel])).toEqual([
    ['sent', 'email'],
    ['sent', 'email'],
  ])
})

test('a delivery that has to be retried also takes one statement after the call', async () => {
  const { development: api } = await server.freshOrganization()
  await makeWorkflow(api, 'mail', [{ type: 'email', controlValues: { subject: 'News', body: '<p>Hello</p>' } }])
  const to = { subscriberId: 'ada', email: 'ada@example.com' }
  await trigger(api, 'mail', to)
  await server.drain()
  await api.put('/v1/sandbox/faults', { channel: 'email', fault: 'rate_limited', retryAfterSeconds: 20 })
  await trigger(api, 'mail', to)
  expect((await statementsWhile(drained)).slice(-3)).toEqual([
    'INSERT INTO notifications',
    'UPDATE jobs',
    'UPDATE jobs',
  ])
  await api.delete('/v1/sandbox/faults')
  server.clock.advance({ seconds: 20 })
  await server.drain()
  expect((await messagesOf(api, 'subscriberId=ada')).map(({ status }) => status)).toEqual(['sent', 'sent'])
})
