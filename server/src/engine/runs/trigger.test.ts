// Triggers in a process that is also a worker: small ones are started with the commit that accepts them.
import { describe, expect, test } from 'vitest'
import { statementsOf } from '../../../test/plan.ts'
import { inApp, makeWorkflow, messagesOf, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer({ role: 'all' })
const waiting = { type: 'throttle', controlValues: { amount: 1, unit: 'hours' } }

describe('a trigger for a few people', () => {
  test('has its messages when the trigger is answered', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp('Hello {{subscriber.firstName}} {{payload.n}}')])
    const to = ['bob', { subscriberId: 'ada', firstName: 'Ada' }]
    const transactionId = await trigger(api, 'news', to, { payload: { n: 1 }, context: { tenant: 'acme' } })
    expect((await messagesOf(api, '')).map(({ content }) => content).sort()).toEqual(['Hello  1', 'Hello Ada 1'])
    const { rows } = await server.database.pool.query('SELECT started_at FROM events WHERE transaction_id = $1', [
      transactionId,
    ])
    expect(rows).toEqual([{ started_at: server.clock.now() }])
  })

  test('with a used transaction id starts nothing, however many come at once', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    const send = () => trigger(api, 'news', 'ada', { transactionId: 'once' })
    await Promise.all(Array.from({ length: 20 }, send))
    await send()
    expect(await messagesOf(api, '')).toHaveLength(1)
    expect(storyOf(await runOf(api, 'once'))).toEqual(['in_app completed: Step queued, Message created, Message sent'])
  })

  test('sees a workflow saved a moment ago, by whichever process', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp('old')])
    await trigger(api, 'news', 'ada')
    const other = await server.startAnother({ role: 'api' })
    const { body } = await api.get('/v2/workflows/news')
    const steps = [{ ...body.steps[0], controlValues: { body: 'new' } }]
    const answer = await fetch(`${other.url}/v2/workflows/news`, {
      method: 'PUT',
      headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'news', active: true, origin: 'svc-cloud', preferences: {}, steps }),
    })
    expect(answer.status, await answer.text()).toBe(200)
    await trigger(api, 'news', 'bob')
    expect(await messagesOf(api, 'subscriberId=bob')).toMatchObject([{ content: 'new' }])
  })

  test('whose row is locked is left to the queue, and they are still reached', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp('Hello {{subscriber.firstName}}')])
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const client = await server.database.pool.connect()
    await client.query('BEGIN')
    await client.query("SELECT FROM subscribers WHERE environment_id = $1 AND subscriber_id = 'ada' FOR UPDATE", [
      api.environmentId,
    ])
    await trigger(api, 'news', { subscriberId: 'ada', firstName: 'Ada' })
    expect(await messagesOf(api, '')).toEqual([])
    await client.query('COMMIT')
    client.release()
    await expect.poll(() => messagesOf(api, ''), { timeout: 20_000 }).toMatchObject([{ content: 'Hello Ada' }])
  })
})

test('a transaction id is remembered for 30 days', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  await trigger(api, 'news', 'ada', { transactionId: 'kept' })
  const { rows } = await server.database.pool.query(
    'SELECT expires_at FROM transactions WHERE environment_id = $1 AND transaction_id = $2',
    [api.environmentId, 'kept'],
  )
  expect(rows).toEqual([{ expires_at: new Date(server.clock.now().getTime() + 30 * 24 * 3_600_000) }])
})

describe('a transaction id that we generated', () => {
  test('needs no row of its own, and is known all the same', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    const transactionId = await trigger(api, 'news', 'ada')
    const { rows } = await server.database.pool.query('SELECT FROM transactions WHERE environment_id = $1', [
      api.environmentId,
    ])
    expect(rows).toEqual([])
    // Given again, it is a duplicate; one that only looks like ours is not.
    await Promise.all(Array.from({ length: 3 }, () => trigger(api, 'news', 'ada', { transactionId })))
    expect(await messagesOf(api, '')).toHaveLength(1)
    await trigger(api, 'news', 'ada', { transactionId: `txn_${'0'.repeat(24)}` })
    await trigger(api, 'news', 'ada', { transactionId: `txn_${'0'.repeat(24)}` })
    expect(await messagesOf(api, '')).toHaveLength(2)
    expect((await api.get(`/v1/events/trigger/${transactionId}`)).body).toMatchObject({
      ...{ transactionId, status: 'expanded', runs: { completed: 1 } },
    })
  })

  test('is forgotten after as many days as any other', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    const transactionId = await trigger(api, 'news', 'ada')
    await server.database.pool.query(
      "UPDATE events SET created_at = created_at - interval '31 days' WHERE environment_id = $1",
      [api.environmentId],
    )
    await trigger(api, 'news', 'ada', { transactionId })
    expect(await messagesOf(api, '')).toHaveLength(2)
  })
})

describe('a run that neither waits nor calls', () => {
  const statementsFor = async (request: Parameters<typeof statementsOf>[0]) =>
    (await statementsOf(request, ['BEGIN', 'COMMIT', 'subscribers', 'events', 'notifications', 'jobs', 'messages']))
      .map(({ text }) => text.slice(0, 10))
      .filter((text) => text.startsWith('SELECT s') || /^(WITH|BEGIN|COMMIT)/.test(text))

  test('takes two statements and one commit with its trigger, which a hundred triggers share', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    await trigger(api, 'news', 'ada')
    const two = ['SELECT s.*', 'WITH fresh']
    expect(await statementsFor(() => api.post('/v1/events/trigger', { name: 'news', to: 'ada' }))).toEqual(two)
    const events = Array.from({ length: 90 }, () => ({ name: 'news', to: 'ada' }))
    expect(await statementsFor(() => api.post('/v1/events/trigger/bulk', { events }))).toEqual(two)
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(92)
  })

  test('is not stored when its trigger is a duplicate, of the same statement or an earlier one', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [inApp()])
    await trigger(api, 'news', 'ada')
    const events = ['a', 'b', 'a', 'c'].map((transactionId) => ({ name: 'news', to: 'ada', transactionId }))
    await api.post('/v1/events/trigger/bulk', { events })
    await trigger(api, 'news', 'ada', { transactionId: 'a' })
    const { rows } = await server.database.pool.query(
      `SELECT (SELECT count(*)::int FROM events WHERE environment_id = $1) AS events,
              (SELECT count(*)::int FROM notifications WHERE environment_id = $1) AS runs,
              (SELECT count(*)::int FROM jobs WHERE environment_id = $1) AS steps,
              (SELECT count(*)::int FROM messages WHERE environment_id = $1) AS messages`,
      [api.environmentId],
    )
    expect(rows).toEqual([{ events: 4, runs: 4, steps: 4, messages: 4 }])
  })
})

test('a change that this process has not heard of yet decides all the same', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  await trigger(api, 'news', 'ada')
  // Written past the service, so that nobody announces it.
  const turn = (active: boolean) =>
    server.database.pool.query('UPDATE workflows SET active = $2, version = version + 1 WHERE environment_id = $1', [
      api.environmentId,
      active,
    ])
  const send = async () => (await api.post('/v1/events/trigger', { name: 'news', to: 'ada' })).body.status
  await turn(false)
  expect(await send()).toBe('trigger_not_active')
  await turn(true)
  expect(await send()).toBe('processed')
  expect(await messagesOf(api, '')).toHaveLength(2)
})

test('a hundred triggers that meet such a change read the environment once, not a hundred times', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  await trigger(api, 'news', 'ada')
  await server.database.pool.query('UPDATE workflows SET version = version + 1 WHERE environment_id = $1', [
    api.environmentId,
  ])
  const events = Array.from({ length: 90 }, () => ({ name: 'news', to: 'ada' }))
  const read = await statementsOf(() => api.post('/v1/events/trigger/bulk', { events }), ['clock_seed'])
  expect(read).toHaveLength(1)
  expect(await messagesOf(api, '')).toHaveLength(91)
})

test('shared steps, many recipients and topics are left to the queue', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'throttled', [waiting, inApp()])
  await makeWorkflow(api, 'news', [inApp()])
  await trigger(api, 'throttled', 'ada')
  await trigger(
    api,
    'news',
    Array.from({ length: 11 }, (_, number) => `many-${number}`),
  )
  await expect.poll(() => messagesOf(api, ''), { timeout: 20_000 }).toHaveLength(12)
})
