// Triggers in a process that is also a worker: small ones are started with the commit that accepts them.
import { describe, expect, test } from 'vitest'
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
