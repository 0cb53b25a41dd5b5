import { beforeEach, describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, pass, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp('News')])
})

const topic = (topicKey: string, exclude?: string[]) => ({ type: 'Topic', topicKey, ...(exclude ? { exclude } : {}) })

async function subscribe(topicKey: string, subscriptions: string[], more: object = {}): Promise<void> {
  for (const subscriberId of subscriptions) await api.post('/v2/subscribers', { subscriberId })
  const answer = await api.post(`/v2/topics/${topicKey}/subscriptions`, { subscriptions, ...more })
  expect(answer, answer.text).toMatchObject({ status: 201 })
}

async function send(to: unknown, more: object = {}): Promise<string> {
  const transactionId = await trigger(api, 'news', to, more)
  await server.drain()
  return transactionId
}

const report = async (transactionId: string, query = '') => {
  const answer = await api.get(`/v1/events/trigger/${transactionId}?${query}`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body
}

/** Each as `reason, subscriber or name`. */
const passedOver = async (transactionId: string, query = '') =>
  (await report(transactionId, query)).passedOver.map(
    ({ reason, named, subscriberIds }: { reason: string; named?: string; subscriberIds: string[] }) =>
      [reason, ...(named === undefined ? [] : [named]), ...subscriberIds].join(' '),
  )

describe('a trigger', () => {
  test('reports its progress', async () => {
    const createdAt = server.clock.now().toISOString()
    const transactionId = await trigger(api, 'news', ['ada', 'bob'])
    expect(await report(transactionId)).toEqual({
      transactionId,
      workflowId: 'news',
      status: 'queued',
      runs: { processing: 0, completed: 0, error: 0 },
      passedOver: [],
      hasMore: false,
      createdAt,
    })
    await server.drain()
    expect(await report(transactionId)).toMatchObject({
      status: 'expanded',
      runs: { processing: 0, completed: 2, error: 0 },
      startedAt: createdAt,
    })
  })

  test('counts waiting and failed runs', async () => {
    const delay = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }
    await makeWorkflow(api, 'slow', [delay, inApp('{{payload.missing}}')])
    const transactionId = await trigger(api, 'slow', ['ada', 'bob'])
    await server.drain()
    expect((await report(transactionId)).runs).toEqual({ processing: 2, completed: 0, error: 0 })
    await pass(server, { hours: 1 })
    expect((await report(transactionId)).runs).toEqual({ processing: 0, completed: 0, error: 2 })
  })

  test('is not found by an unknown id, or from another environment', async () => {
    const transactionId = await send('ada')
    expect(await api.get('/v1/events/trigger/nothing')).toMatchObject({
      status: 404,
      body: { code: 'transaction_not_found' },
    })
    const other = await server.freshApi()
    expect(await other.get(`/v1/events/trigger/${transactionId}`)).toMatchObject({ status: 404 })
  })
})

describe('recipients without a run', () => {
  test('are reported for a topic that does not exist, with or without other recipients', async () => {
    await subscribe('cats', ['ada'])
    await api.post('/v2/topics', { key: 'empty', name: 'Nobody' })
    expect(await passedOver(await send([topic('cats'), topic('dogs')]))).toEqual(['topic_not_found dogs'])
    expect(await passedOver(await send([topic('dogs')]))).toEqual(['topic_not_found dogs'])
    expect(await passedOver(await send([topic('empty')]))).toEqual([])
    expect(await passedOver(await send([topic('cats')]))).toEqual([])
  })

  test('are reported when the trigger excludes them, or they are its actor', async () => {
    await subscribe('cats', ['ada', 'bob', 'carol', 'dan'])
    const to = [topic('cats', ['ada', 'bob', 'stranger']), 'ada']
    const transactionId = await send(to, { actor: 'carol' })
    expect((await passedOver(transactionId)).sort()).toEqual(['actor carol', 'excluded bob'])
    expect((await report(transactionId)).runs.completed).toBe(2)
  })

  test('are reported when their topic subscriptions exclude the workflow', async () => {
    const condition = { '==': [{ var: 'payload.n' }, 1] }
    await subscribe('cats', ['ada'], { preferences: [{ filter: { workflowIds: ['news'] }, condition }] })
    await subscribe('cats', ['bob'], { preferences: [{ filter: { workflowIds: ['news'] }, enabled: false }] })
    const transactionId = await send(topic('cats'), { payload: { n: 2 } })
    const { passedOver: all } = await report(transactionId)
    const reason = 'topic_subscription_preference_evaluation'
    expect(
      all.map(({ reason, detail, subscriberIds }: Record<string, unknown>) => [reason, detail, subscriberIds]),
    ).toEqual(
      expect.arrayContaining([
        [reason, 'condition_not_met', ['ada']],
        [reason, 'disabled', ['bob']],
      ]),
    )
    expect(await passedOver(await send(topic('cats'), { payload: { n: 1 } }))).toEqual([`${reason} bob`])
  })

  test('are reported for an invalid id', async () => {
    expect(await passedOver(await send(['ada', 'no one', 'x'.repeat(300)]))).toEqual([
      'invalid_recipient no one',
      `invalid_recipient ${'x'.repeat(255)}`,
    ])
  })

  test('are reported once, however often the trigger is sent', async () => {
    await subscribe('cats', ['ada'])
    const again = () => send([topic('cats', ['ada']), 'no one'], { transactionId: 'once' })
    await again()
    await again()
    expect(await passedOver('once')).toEqual(expect.arrayContaining(['excluded ada', 'invalid_recipient no one']))
    expect(await passedOver('once')).toHaveLength(2)
  })

  test('after a cancellation are all who had not been reached', async () => {
    await subscribe('cats', ['ada'])
    const transactionId = await trigger(api, 'news', [topic('cats'), 'bob'])
    await api.delete(`/v1/events/trigger/${transactionId}`)
    await server.drain()
    expect(await passedOver(transactionId)).toEqual(['canceled_by_user'])
    expect(await passedOver(transactionId, 'subscriberId=ada')).toEqual(['canceled_by_user'])
    expect(await passedOver(transactionId, 'subscriberId=bob')).toEqual([])
  })

  test('can be looked up one by one', async () => {
    await subscribe('cats', ['ada', 'bob', 'carol'])
    const transactionId = await send([topic('cats', ['ada', 'bob']), topic('dogs')])
    expect(await passedOver(transactionId, 'subscriberId=bob')).toEqual(['excluded bob'])
    expect(await passedOver(transactionId, 'subscriberId=carol')).toEqual([])
    expect(await report(transactionId, 'limit=1')).toMatchObject({ passedOver: [{}], hasMore: true })
    expect((await api.get(`/v1/events/trigger/${transactionId}?limit=101`)).status).toBe(422)
  })

  test('of a large topic are all reported, in one row per chunk', async () => {
    const ids = Array.from({ length: 1_100 }, (_, number) => `member-${number}`)
    for (let at = 0; at < ids.length; at += 100) {
      const some = ids.slice(at, at + 100)
      await api.post('/v1/subscribers/bulk', { subscribers: some.map((subscriberId) => ({ subscriberId })) })
      await api.post('/v2/topics/many/subscriptions', {
        subscriptions: some,
        preferences: [{ filter: { workflowIds: ['news'] }, enabled: false }],
      })
    }
    const transactionId = await send([topic('many'), topic('nowhere')])
    const { passedOver: all } = await report(transactionId, 'limit=100')
    const told = all.flatMap(({ subscriberIds }: { subscriberIds: string[] }) => subscriberIds)
    expect(told.sort()).toEqual([...ids].sort())
    expect(all.filter(({ reason }: { reason: string }) => reason === 'topic_not_found')).toHaveLength(1)
    expect(all.length).toBeLessThan(8)
  })
})
