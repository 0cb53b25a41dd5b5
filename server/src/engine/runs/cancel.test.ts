import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import {
  contentsOf,
  inApp,
  makeWorkflow,
  messagesOf,
  pass,
  runOf,
  runsOf,
  storyOf,
  trigger,
} from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const hour = { amount: 1, unit: 'hours' }
const delay = { type: 'delay', controlValues: { type: 'regular', ...hour } }
const digest = { type: 'digest', stepId: 'digest', controlValues: hour }
const summary = inApp(
  '{{steps.digest.eventCount}}:{% for event in steps.digest.events %} {{event.payload.n}}{% endfor %}',
)

async function freshApi(): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'later', [inApp('Now'), delay, inApp('Later')])
  await makeWorkflow(api, 'collected', [digest, summary])
  return api
}

async function cancel(api: Api, transactionId: string): Promise<boolean> {
  const answer = await api.delete(`/v1/events/trigger/${transactionId}`)
  expect(answer.status).toBe(200)
  return answer.body
}

const collect = (api: Api, n: number) => trigger(api, 'collected', 'ada', { payload: { n } })

/** No wait is left, and no run is in progress. */
async function expectAllEnded({ environmentId }: Api): Promise<void> {
  const { rows } = await sql<{ left: number }>`
    SELECT (SELECT count(*) FROM timers WHERE environment_id = ${environmentId})
         + (SELECT count(*) FROM digests WHERE environment_id = ${environmentId} AND notification_id IS NOT NULL)
         + (SELECT count(*) FROM notifications WHERE environment_id = ${environmentId} AND status = 'processing')
         + (SELECT count(*) FROM jobs WHERE environment_id = ${environmentId}
              AND status IN ('pending', 'queued', 'running', 'delayed')) AS left`.execute(server.database.db)
  expect(Number(rows[0]?.left)).toBe(0)
}

describe('cancelling a delay', () => {
  test('ends it for all subscribers; finished steps stay', async () => {
    const api = await freshApi()
    const transactionId = await trigger(api, 'later', ['ada', 'bob'])
    await server.drain()
    expect(await cancel(api, transactionId)).toBe(true)
    for (const run of await runsOf(api, transactionId)) {
      expect(run.status).toBe('completed')
      expect(storyOf(run)).toEqual([
        'in_app completed: Step queued, Message created, Message sent',
        'delay canceled: Step queued, Step delayed, Step canceled',
        'in_app canceled: Step canceled',
      ])
      expect(run.jobs[1].reason).toBe('canceled_by_user')
    }
    await pass(server, { hours: 2 })
    expect(await contentsOf(api, 'ada')).toEqual(['Now'])
    expect(await contentsOf(api, 'bob')).toEqual(['Now'])
    expect(await cancel(api, transactionId)).toBe(false)
    await expectAllEnded(api)
  })

  test('works at once, before the queue has reached the trigger', async () => {
    const api = await freshApi()
    const transactionId = await trigger(api, 'later', 'ada')
    expect(await cancel(api, transactionId)).toBe(true)
    await server.drain()
    await pass(server, { hours: 2 })
    expect(await contentsOf(api, 'ada')).toEqual(['Now'])
    await expectAllEnded(api)
  })

  test('leaves out topic members who were not reached yet', async () => {
    const api = await freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    await api.post('/v2/topics/all/subscriptions', { subscriptions: ['ada'] })
    const transactionId = await trigger(api, 'later', { type: 'Topic', topicKey: 'all' })
    expect(await cancel(api, transactionId)).toBe(true)
    await server.drain()
    await pass(server, { hours: 2 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    expect(await cancel(api, transactionId)).toBe(false)
  })

  test('stops a broadcast, even where nothing waits yet', async () => {
    const api = await freshApi()
    await makeWorkflow(api, 'news', [inApp('News')])
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    const { body } = await api.post('/v1/events/trigger/broadcast', { name: 'news', payload: {} })
    expect(await cancel(api, body.transactionId)).toBe(true)
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual([])
  })

  test('ends the retries of a call, and the steps after it', async () => {
    const { development: api } = await server.freshOrganization()
    const email = { type: 'email', controlValues: { subject: 'Hello', body: '<p>Hello</p>' } }
    await makeWorkflow(api, 'mail', [email, inApp('Sent')])
    await api.put('/v1/sandbox/faults', { channel: 'email', fault: 'server_error' })
    const transactionId = await trigger(api, 'mail', { subscriberId: 'ada', email: 'ada@example.com' })
    await server.drain()
    expect(await cancel(api, transactionId)).toBe(true)
    await api.delete('/v1/sandbox/faults')
    await pass(server, { hours: 2 })
    expect(await messagesOf(api, 'channel=in_app')).toEqual([])
    expect((await api.get('/v1/sandbox/messages')).body.data).toEqual([])
    const run = await runOf(api, transactionId)
    expect(run.jobs).toMatchObject([
      { status: 'canceled', reason: 'canceled_by_user' },
      { status: 'canceled', reason: 'canceled_by_user' },
    ])
  })

  test('does not touch other transactions', async () => {
    const api = await freshApi()
    const one = await trigger(api, 'later', 'ada')
    await trigger(api, 'later', 'ada')
    await server.drain()
    expect(await cancel(api, one)).toBe(true)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['Now', 'Now', 'Later'])
  })

  test('is too late once the delay is over', async () => {
    const api = await freshApi()
    const transactionId = await trigger(api, 'later', 'ada')
    await server.drain()
    await pass(server, { hours: 1 })
    expect(await cancel(api, transactionId)).toBe(false)
    expect((await runOf(api, transactionId)).status).toBe('completed')
  })

  test('and its end at the same moment: exactly one of the two happens', async () => {
    const api = await freshApi()
    const outcomes = new Set<boolean>()
    for (let round = 0; round < 25; round += 1) {
      const transactionId = await trigger(api, 'later', [`a${round}`, `b${round}`])
      await server.drain()
      server.clock.advance({ hours: 1 })
      const [canceled] = await Promise.all([cancel(api, transactionId), server.drain()])
      await server.drain()
      outcomes.add(canceled)
      const runs = await runsOf(api, transactionId)
      for (const run of runs) {
        const wasCanceled = run.jobs[1].status === 'canceled'
        expect(run.jobs[2].status).toBe(wasCanceled ? 'canceled' : 'completed')
        const contents = await contentsOf(api, run.subscriber.subscriberId)
        expect(contents).toEqual(wasCanceled ? ['Now'] : ['Now', 'Later'])
      }
      expect(canceled).toBe(runs.some((run) => run.jobs[1].status === 'canceled'))
    }
    expect(outcomes.size).toBeGreaterThan(0)
    await expectAllEnded(api)
  })
})

describe('cancelling a digest', () => {
  test('without followers closes it', async () => {
    const api = await freshApi()
    const one = await collect(api, 1)
    await server.drain()
    expect(await cancel(api, one)).toBe(true)
    await pass(server, { minutes: 30 })
    await collect(api, 2)
    await server.drain()
    await pass(server, { minutes: 59 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { minutes: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 2'])
    await expectAllEnded(api)
  })

  test('hands it to the oldest follower, which delivers the others at the original time', async () => {
    const api = await freshApi()
    const [one, two, three] = [await collect(api, 1), await collect(api, 2), await collect(api, 3)]
    await server.drain()
    await pass(server, { minutes: 30 })
    expect(await cancel(api, one)).toBe(true)
    expect((await runOf(api, one)).jobs.map((job: { status: string }) => job.status)).toEqual(['canceled', 'canceled'])
    const heir = await runOf(api, two)
    expect(heir).toMatchObject({ status: 'processing', jobs: [{ status: 'delayed' }, { status: 'pending' }] })
    expect(heir).not.toHaveProperty('_digestedNotificationId')
    expect(await runOf(api, three)).toMatchObject({ _digestedNotificationId: heir._id })
    await collect(api, 4)
    await server.drain()
    await pass(server, { minutes: 29, seconds: 59 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { seconds: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['3: 2 3 4'])
    expect(storyOf(await runOf(api, two))).toEqual([
      'digest completed: Step queued, Digest was merged with other digest, Step digested, Digest triggered events',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    await expectAllEnded(api)
  })

  test('again and again hands it on, down to the last', async () => {
    const api = await freshApi()
    const ids = [await collect(api, 1), await collect(api, 2), await collect(api, 3)]
    await server.drain()
    expect(await cancel(api, ids[0] ?? '')).toBe(true)
    expect(await cancel(api, ids[1] ?? '')).toBe(true)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['1: 3'])
    await expectAllEnded(api)
  })

  test('takes a single event out while it collects, but not once it is delivered', async () => {
    const api = await freshApi()
    const [, two, three] = [await collect(api, 1), await collect(api, 2), await collect(api, 3)]
    await server.drain()
    expect(await cancel(api, two)).toBe(true)
    expect((await runOf(api, two)).jobs[0]).toMatchObject({ status: 'canceled', reason: 'canceled_by_user' })
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['2: 1 3'])
    expect(await cancel(api, three)).toBe(false)
    expect((await runOf(api, three)).jobs[0].status).toBe('merged')
  })

  test('loses no event while others join', async () => {
    const api = await freshApi()
    for (let round = 0; round < 15; round += 1) {
      const one = await collect(api, 1)
      await server.drain()
      await collect(api, 2)
      const [canceled] = await Promise.all([cancel(api, one), server.drain()])
      expect(canceled).toBe(true)
      await server.drain()
      await pass(server, { hours: 1 })
      expect(await contentsOf(api, 'ada')).toEqual(Array.from({ length: round + 1 }, () => '1: 2'))
    }
    await expectAllEnded(api)
  })

  test('or one of its events as it ends: canceled events are not delivered, the others are', async () => {
    const api = await freshApi()
    for (let round = 0; round < 15; round += 1) {
      const [one, two] = [await collect(api, 1), await collect(api, 2)]
      await server.drain()
      server.clock.advance({ hours: 1 })
      const before = (await contentsOf(api, 'ada')).length
      const [firstGone, secondGone] = await Promise.all([cancel(api, one), cancel(api, two), server.drain()])
      await server.drain()
      const left = [...(firstGone ? [] : [1]), ...(secondGone ? [] : [2])]
      const contents = (await contentsOf(api, 'ada')).slice(before)
      expect(contents).toEqual(left.length === 0 ? [] : [`${left.length}: ${left.join(' ')}`])
    }
    await expectAllEnded(api)
  })
})
