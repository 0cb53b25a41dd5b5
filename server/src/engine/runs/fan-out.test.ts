import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, messagesOf, runOf, runsOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { newId } from '../../db/core/ids.ts'

const server = useServer()

async function freshApi(): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp('News {{payload.n}}')])
  return api
}

/** Subscribes people to a topic, creating it if missing. */
async function subscribe(api: Api, topicKey: string, subscriptions: unknown[], more: object = {}): Promise<void> {
  const answer = await api.post(`/v2/topics/${topicKey}/subscriptions`, { subscriptions, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201 })
}

async function addPeople(api: Api, ...ids: string[]): Promise<void> {
  for (const subscriberId of ids) await api.post('/v2/subscribers', { subscriberId })
}

const topic = (topicKey: string, exclude?: string[]) => ({ type: 'Topic', topicKey, ...(exclude ? { exclude } : {}) })

async function reached(api: Api, transactionId: string): Promise<string[]> {
  const { rows } = await sql<{ subscriber_id: string }>`
    SELECT subscriber_id FROM messages
    WHERE environment_id = ${api.environmentId} AND transaction_id = ${transactionId} ORDER BY subscriber_id`.execute(
    server.database.db,
  )
  return rows.map((row) => row.subscriber_id)
}

async function send(api: Api, to: unknown, more: object = {}): Promise<string[]> {
  const transactionId = await trigger(api, 'news', to, more)
  await server.drain()
  return reached(api, transactionId)
}

describe('a topic', () => {
  test('reaches its members, whose record names it', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada', 'bob', 'carol')
    await subscribe(api, 'cats', ['ada', 'bob'])
    const transactionId = await trigger(api, 'news', topic('cats'))
    await server.drain()
    expect(await reached(api, transactionId)).toEqual(['ada', 'bob'])
    const [run] = await runsOf(api, transactionId)
    expect(run.topics).toEqual([{ _topicId: expect.any(String), topicKey: 'cats' }])
    expect(storyOf(run)).toEqual([
      'in_app completed: Step queued, Topic subscription preference evaluated, Message created, Message sent',
    ])
    expect(JSON.parse(run.jobs[0].executionDetails[1].raw)).toMatchObject({
      topics: [{ topic: 'cats', preferenceEvaluation: { result: true } }],
    })
  })

  test('that does not exist is passed over; the others go on', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada')
    await subscribe(api, 'cats', ['ada'])
    expect(await send(api, [topic('dogs'), topic('cats')])).toEqual(['ada'])
    expect(await send(api, topic('dogs'))).toEqual([])
  })

  test('exclusions hold for all topics of the trigger, the actor is left out, and direct recipients are not doubled', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada', 'bob', 'carol', 'dave', 'eve')
    await subscribe(api, 'cats', ['ada', 'bob', 'carol', 'dave'])
    await subscribe(api, 'dogs', ['bob', 'carol', 'eve'])
    const to = [topic('cats', ['bob']), topic('dogs'), 'carol', 'frank']
    expect(await send(api, to, { actor: 'dave' })).toEqual(['ada', 'carol', 'eve', 'frank'])
    expect(await send(api, [topic('cats'), 'dave'], { actor: 'dave' })).toEqual(['ada', 'bob', 'carol', 'dave'])
  })

  test('a member of several topics gets one run that names all of them', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada')
    await subscribe(api, 'cats', ['ada'])
    await subscribe(api, 'dogs', ['ada'])
    const transactionId = await trigger(api, 'news', [topic('cats'), topic('dogs'), topic('cats')])
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.topics.map(({ topicKey }: { topicKey: string }) => topicKey).sort()).toEqual(['cats', 'dogs'])
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(1)
  })

  test('of another environment is not reached', async () => {
    const [api, other] = [await freshApi(), await freshApi()]
    await addPeople(other, 'ada')
    await subscribe(other, 'cats', ['ada'])
    expect(await send(api, topic('cats'))).toEqual([])
  })

  test('reaches those whose subscription has exactly the contexts of the trigger', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada', 'bob', 'carol')
    await subscribe(api, 'cats', ['ada'])
    await subscribe(api, 'cats', ['bob'], { context: { tenant: 'acme' } })
    await subscribe(api, 'cats', ['carol'], { context: { tenant: 'acme', app: 'web' } })
    expect(await send(api, topic('cats'))).toEqual(['ada'])
    expect(await send(api, topic('cats'), { context: { tenant: 'acme' } })).toEqual(['bob'])
    expect(await send(api, topic('cats'), { context: { app: 'web', tenant: 'acme' } })).toEqual(['carol'])
    expect(await send(api, topic('cats'), { context: { app: 'web' } })).toEqual([])
  })

  test('is walked in chunks that lose and double nobody', async () => {
    const api = await freshApi()
    await subscribeMany(api, ['even', 'all'], 1_203)
    const transactionId = await trigger(api, 'news', [topic('even'), topic('all'), 's0000'])
    await server.drain()
    const people = await reached(api, transactionId)
    expect(people).toHaveLength(1_203)
    expect(new Set(people).size).toBe(1_203)
  })

  test.each([499, 500, 501, 1_000])('of %i members reaches all of them', async (count) => {
    const api = await freshApi()
    await subscribeMany(api, ['all'], count)
    expect(await send(api, topic('all'))).toHaveLength(count)
  })
})

/** Directly in the database: `even` gets every second subscriber, any other topic all. */
async function subscribeMany({ environmentId }: Api, topics: string[], count: number): Promise<void> {
  const now = server.clock.now()
  const people = Array.from({ length: count }, (_, n) => ({ id: newId(now), name: `s${String(n).padStart(4, '0')}` }))
  await sql`
    INSERT INTO subscribers (environment_id, id, subscriber_id, created_at, updated_at)
    SELECT ${environmentId}, id, name, ${now}, ${now}
    FROM unnest(${people.map(({ id }) => id)}::text[], ${people.map(({ name }) => name)}::text[]) AS t (id, name)`.execute(
    server.database.db,
  )
  for (const key of topics) {
    const members = people.filter((_, n) => key !== 'even' || n % 2 === 0)
    const topicId = newId(now)
    await sql`
      INSERT INTO topics (environment_id, id, key, name, created_at, updated_at)
      VALUES (${environmentId}, ${topicId}, ${key}, ${key}, ${now}, ${now})`.execute(server.database.db)
    await sql`
      INSERT INTO topic_subscriptions (environment_id, id, identifier, topic_id, subscriber_row_id, context_keys, created_at, updated_at)
      SELECT ${environmentId}, id, ${key} || id, ${topicId}, member, '{}', ${now}, ${now}
      FROM unnest(${members.map(() => newId(now))}::text[], ${members.map(({ id }) => id)}::text[]) AS t (id, member)`.execute(
      server.database.db,
    )
  }
}

test('a digest collects for each of many members', { timeout: 60_000 }, async () => {
  const api = await server.freshApi()
  const digest = { type: 'digest', stepId: 'digest', controlValues: { amount: 1, unit: 'hours' } }
  await makeWorkflow(api, 'news', [digest, inApp('{{steps.digest.eventCount}}')])
  await subscribeMany(api, ['all'], 601)
  for (let n = 0; n < 3; n += 1) await trigger(api, 'news', topic('all'))
  await server.drain()
  server.clock.advance({ hours: 1 })
  await server.drain()
  const { rows } = await sql<{ content: string; count: number }>`
    SELECT content, count(*)::int AS count FROM messages
    WHERE environment_id = ${api.environmentId} GROUP BY content`.execute(server.database.db)
  expect(rows).toEqual([{ content: '3', count: 601 }])
})

test('a throttle counts for each of many members', async () => {
  const api = await server.freshApi()
  const throttle = { type: 'throttle', controlValues: { type: 'fixed', amount: 1, unit: 'hours', threshold: 2 } }
  await makeWorkflow(api, 'news', [throttle, inApp()])
  await subscribeMany(api, ['all'], 601)
  for (let n = 0; n < 3; n += 1) await trigger(api, 'news', topic('all'))
  await server.drain()
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM messages WHERE environment_id = ${api.environmentId}`.execute(server.database.db)
  expect(rows).toEqual([{ count: 1_202 }])
})

test('a cancel in the middle of a topic covers members already reached and those still to come', async () => {
  const api = await server.freshApi()
  const delay = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }
  await makeWorkflow(api, 'news', [delay, inApp()])
  await subscribeMany(api, ['all'], 750)
  const transactionId = await trigger(api, 'news', topic('all'))
  let jobs = 0
  await server.drain(async (work) => {
    await work()
    jobs += 1
    // The trigger has started and the first chunk is through; the rest continues in lanes.
    if (jobs === 2) expect((await api.delete(`/v1/events/trigger/${transactionId}`)).body).toBe(true)
  })
  server.clock.advance({ hours: 1 })
  await server.drain()
  expect(await reached(api, transactionId)).toEqual([])
  const { rows } = await sql<{ status: string; count: number }>`
    SELECT status, count(*)::int AS count FROM notifications
    WHERE environment_id = ${api.environmentId} GROUP BY status`.execute(server.database.db)
  expect(rows).toEqual([{ status: 'completed', count: 500 }])
})

describe('the choice of a topic subscription', () => {
  const wanting = (preference: object) => ({ preferences: [{ workflowId: 'news', ...preference }] })

  test.each([
    ['nothing said', {}, 5, true],
    ['turned on', wanting({ enabled: true }), 5, true],
    ['turned off', wanting({ enabled: false }), 5, false],
    ['a condition that holds', wanting({ condition: { '>': [{ var: 'payload.n' }, 3] } }), 5, true],
    ['a condition that does not hold', wanting({ condition: { '>': [{ var: 'payload.n' }, 3] } }), 2, false],
    ['a condition that yields no boolean', wanting({ condition: { var: 'payload.n' } }), 5, false],
    [
      'a condition beside a switch that is off',
      wanting({ enabled: false, condition: { '==': [{ var: 'payload.n' }, 5] } }),
      5,
      true,
    ],
  ])('%s', async (_, more, n, isReached) => {
    const api = await freshApi()
    await addPeople(api, 'ada')
    await subscribe(api, 'cats', ['ada'], more)
    expect(await send(api, topic('cats'), { payload: { n } })).toEqual(isReached ? ['ada'] : [])
  })

  test('counts for its workflow only', async () => {
    const api = await freshApi()
    await makeWorkflow(api, 'other', [inApp()])
    await addPeople(api, 'ada')
    await subscribe(api, 'cats', ['ada'], { preferences: [{ workflowId: 'other', enabled: false }] })
    expect(await send(api, topic('cats'))).toEqual(['ada'])
  })

  test('of several subscriptions of one person, those that pass are named; one is enough', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada')
    await subscribe(api, 'cats', ['ada'], wanting({ enabled: false }))
    await subscribe(api, 'dogs', ['ada'], wanting({ condition: { '==': [{ var: 'payload.n' }, 1] } }))
    await subscribe(
      api,
      'cats',
      [{ identifier: 'second', subscriberId: 'ada' }],
      wanting({ condition: { '==': [{ var: 'payload.n' }, 2] } }),
    )
    const topicsFor = async (n: number) => {
      const transactionId = await trigger(api, 'news', [topic('cats'), topic('dogs')], { payload: { n } })
      await server.drain()
      const runs = await runsOf(api, transactionId)
      return runs.map((run) => run.topics.map(({ topicKey }: { topicKey: string }) => topicKey))
    }
    expect(await topicsFor(1)).toEqual([['dogs']])
    expect(await topicsFor(2)).toEqual([['cats']])
    expect(await topicsFor(3)).toEqual([])
  })
})

describe('a broadcast', () => {
  test('reaches everybody even after a clock was set back', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada', 'bob')
    server.clock.advance({ hours: -3 })
    const answer = await api.post('/v1/events/trigger/broadcast', { name: 'news', payload: {} })
    await server.drain()
    server.clock.advance({ hours: 3 })
    expect(await reached(api, answer.body.transactionId)).toEqual(['ada', 'bob'])
  })

  test('reaches all subscribers, the actor too, but none who came later', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada', 'bob')
    const answer = await api.post('/v1/events/trigger/broadcast', { name: 'news', payload: {}, actor: 'ada' })
    const other = await freshApi()
    await addPeople(other, 'carol')
    await server.drain()
    await addPeople(api, 'dave')
    await server.drain()
    expect(await reached(api, answer.body.transactionId)).toEqual(['ada', 'bob'])
  })

  test('is walked in chunks', async () => {
    const api = await freshApi()
    await subscribeMany(api, [], 1_100)
    const answer = await api.post('/v1/events/trigger/broadcast', { name: 'news', payload: {} })
    await server.drain()
    expect(await reached(api, answer.body.transactionId)).toHaveLength(1_100)
  })

  test('of one transaction id goes out once', async () => {
    const api = await freshApi()
    await addPeople(api, 'ada')
    const body = { name: 'news', payload: {}, transactionId: 'all' }
    await Promise.all([1, 2, 3].map(() => api.post('/v1/events/trigger/broadcast', body)))
    await server.drain()
    expect(await reached(api, 'all')).toEqual(['ada'])
  })
})

test('single triggers do not wait behind a topic', async () => {
  const api = await freshApi()
  await subscribeMany(api, ['all'], 1_500)
  await trigger(api, 'news', topic('all'))
  const { rows: before } = await sql<{ task: string; priority: number }>`
    SELECT task_identifier AS task, priority FROM graphile_worker.jobs`.execute(server.database.db)
  expect(before).toMatchObject([{ task: 'start_runs', priority: 0 }])
  await server.drain()
  const { rows } = await sql`SELECT FROM graphile_worker.jobs`.execute(server.database.db)
  expect(rows).toEqual([])
})
