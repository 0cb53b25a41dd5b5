import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { is, say, statesOf, waitAnHour } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, pass, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { newId } from '../../db/core/ids.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

const paid = { event: 'cart.paid', key: '{{payload.cartId}}' }
const bought = { name: 'Bought', for: [paid] }
const steps: Step[] = [say('hello'), waitAnHour(), say('remind'), waitAnHour('again'), say('last')]

async function apiWith(goals: object[], all: Step[] = steps): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'cart', all, { journey: { goals } })
  return api
}

const start = async (api: Api, more: object = {}, to: unknown = 'ada') => {
  const transactionId = await trigger(api, 'cart', to, { payload: { cartId: 'c1' }, ...more })
  await server.drain()
  return transactionId
}

async function post(api: Api, event: object = { key: 'c1' }) {
  const answer = await api.post('/v2/events', { name: 'cart.paid', ...event })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  await server.drain()
  return answer.body
}

const left = async (api: Api) => {
  const { rows } = await server.database.pool.query(
    `SELECT (SELECT count(*)::int FROM event_waits WHERE environment_id = $1) AS waits,
       (SELECT count(*)::int FROM timers WHERE environment_id = $1) AS timers`,
    [api.environmentId],
  )
  return rows[0]
}

describe('a goal that is met ends the run', () => {
  test('also by an event whose time, given by another process, is ahead', async () => {
    const api = await apiWith([bought])
    const transactionId = await start(api)
    await api.post('/v2/events', { name: 'cart.paid', key: 'c1' })
    await server.database.pool.query(
      `UPDATE posted_events SET created_at = created_at + interval '1 second' WHERE environment_id = $1`,
      [api.environmentId],
    )
    await server.drain()
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed', goal: { name: 'Bought' } })
  })

  test('wherever it stands: what waits and what is left is canceled, and the record says which', async () => {
    const api = await apiWith([{ name: 'Left', for: [{ event: 'cart.left' }] }, bought])
    const transactionId = await start(api)
    await pass(server, { hours: 1 })
    const { id, createdAt } = await post(api)
    const found = await runOf(api, transactionId)
    expect(statesOf(found)).toEqual([
      ...['hello completed', 'wait completed', 'remind completed'],
      ...['again canceled goal_met', 'last canceled goal_met'],
    ])
    expect(found).toMatchObject({
      status: 'completed',
      goal: { name: 'Bought', event: { id, name: 'cart.paid', key: 'c1' }, createdAt },
    })
    expect((await api.get(`/v2/events/${id}`)).body).toMatchObject({ status: 'done', matched: 1 })
    expect(await left(api)).toEqual({ waits: 0, timers: 0 })
    await pass(server, { hours: 2 })
    expect(await contentsOf(api, 'ada')).toEqual(['hello', 'remind'])
  })

  test('and a webhook is told once', async () => {
    const api = await apiWith([bought])
    await api.post('/v2/webhooks/endpoints', { url: 'https://hooks.example.com/x', eventTypes: ['run.goal-met'] })
    const transactionId = await start(api)
    await post(api)
    await post(api)
    const { rows } = await server.database.pool.query(
      "SELECT object FROM webhook_events WHERE environment_id = $1 AND type = 'run.goal-met'",
      [api.environmentId],
    )
    expect(rows).toMatchObject([{ object: { transaction_id: transactionId, goal: { name: 'Bought' } } }])
  })

  test('also by an event that came before the run had begun, since the trigger', async () => {
    const api = await apiWith(
      [bought],
      [
        { ...waitAnHour('digest'), type: 'throttle', controlValues: { amount: 1, unit: 'minutes', threshold: 9 } },
        ...steps,
      ],
    )
    const transactionId = await trigger(api, 'cart', 'ada', { payload: { cartId: 'c1' } })
    const { body } = await api.post('/v2/events', { name: 'cart.paid', key: 'c1' })
    await server.drain()
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed', goal: { event: { id: body.id } } })
    expect(statesOf(await runOf(api, transactionId))).toContain('last canceled goal_met')
    server.clock.advance({ minutes: 1 })
    const next = await start(api)
    expect((await runOf(api, next)).goal).toBeUndefined()
  })

  test('by what becomes of a message, and not by other things', async () => {
    const api = await apiWith([{ name: 'Archived', for: [{ message: 'hello', happens: ['archived'] }] }])
    const transactionId = await start(api)
    const { _id } = (await api.get('/v1/messages?subscriberId=ada&limit=1')).body.data[0]
    await api.patch(`/v2/subscribers/ada/notifications/${_id}/read`, {})
    await server.drain()
    expect((await runOf(api, transactionId)).goal).toBeUndefined()
    await api.patch(`/v2/subscribers/ada/notifications/${_id}/archive`, {})
    await server.drain()
    expect(await runOf(api, transactionId)).toMatchObject({
      ...{ status: 'completed', goal: { name: 'Archived', event: { name: 'message.archived', messageId: _id } } },
    })
  })

  test('only if its condition holds, which reads the event', async () => {
    const large = { '>': [{ var: 'event.payload.total' }, 10] }
    const api = await apiWith([{ ...bought, condition: large }])
    const transactionId = await start(api)
    await post(api, { key: 'c1', payload: { total: 1 } })
    expect((await runOf(api, transactionId)).goal).toBeUndefined()
    await post(api, { key: 'c1', payload: { total: 11 } })
    expect(await runOf(api, transactionId)).toMatchObject({ goal: { event: { payload: { total: 11 } } } })
  })

  test('by a condition alone, asked before each step', async () => {
    const api = await apiWith([{ name: 'Pro', condition: is('subscriber.data.plan', 'pro') }])
    const transactionId = await start(api)
    expect(statesOf(await runOf(api, transactionId))[0]).toBe('hello completed')
    await api.patch('/v2/subscribers/ada', { data: { plan: 'pro' } })
    await pass(server, { hours: 1 })
    const found = await runOf(api, transactionId)
    expect(statesOf(found).slice(1, 3)).toEqual(['wait completed', 'remind canceled goal_met'])
    expect(found).toMatchObject({ status: 'completed', goal: { name: 'Pro', event: null } })
  })

  test('before it is woken, however late the event is told of', async () => {
    const api = await apiWith([bought])
    const transactionId = await start(api)
    await server.database.pool.query(
      `INSERT INTO posted_events (environment_id, id, name, key, payload, reached, created_at)
       VALUES ($1, $2, 'cart.paid', 'c1', '{}', '', $3)`,
      [api.environmentId, newId(server.clock.now()), server.clock.now()],
    )
    await pass(server, { hours: 1 })
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed', goal: { name: 'Bought' } })
    expect(await contentsOf(api, 'ada')).toEqual(['hello'])
  })
})

describe('a call', () => {
  const call = (more: object = {}): Step => ({
    ...{ name: 'Call', stepId: 'call', type: 'http_request' },
    controlValues: { method: 'POST', url: vendor.url, ...more },
  })

  test('that waits to be made again is not', async () => {
    vendor.plays(() => ({ status: 500 }))
    const api = await apiWith([bought], [call({ retry: true }), say('last')])
    const transactionId = await start(api)
    expect(statesOf(await runOf(api, transactionId))).toEqual(['call queued', 'last pending'])
    await post(api)
    expect(statesOf(await runOf(api, transactionId))).toEqual(['call canceled goal_met', 'last canceled goal_met'])
    await pass(server, { minutes: 1 })
    expect(vendor.asked).toHaveLength(1)
    expect(await left(api)).toEqual({ waits: 0, timers: 0 })
  })

  test.each<[number, string, Step[]]>([
    [200, 'call completed', [say('last')]],
    [500, 'call canceled goal_met', [say('last')]],
    [200, 'call completed', []],
    [500, 'call canceled goal_met', []],
  ])('under way is finished and recorded first: %i, %s, before %j', async (status, state, rest) => {
    const api = await apiWith([bought], [call({ retry: true }), ...rest])
    const other = await server.startAnother()
    vendor.plays(async () => {
      await api.post('/v2/events', { name: 'cart.paid', key: 'c1' })
      const { rows } = await server.database.pool.query('SELECT id FROM posted_events WHERE environment_id = $1', [
        api.environmentId,
      ])
      const events = rows.map(({ id }) => [api.environmentId, id])
      await other.engine.tasks().match_events?.({ events }, {} as never)
      return { status, body: {} }
    })
    const transactionId = await start(api)
    const found = await runOf(api, transactionId)
    expect(statesOf(found)).toEqual([state, ...rest.map(() => 'last canceled goal_met')])
    expect(found).toMatchObject({ status: 'completed', goal: { name: 'Bought' } })
    expect((await api.get('/v2/events')).body.data).toMatchObject([{ status: 'done', matched: 1 }])
    expect(await left(api)).toEqual({ waits: 0, timers: 0 })
    await other.stop()
  })
})

test('a digest hands on what it collected, as with a cancel', async () => {
  const digest: Step = { name: 'Digest', stepId: 'digest', type: 'digest', controlValues: { amount: 1, unit: 'hours' } }
  const api = await apiWith([bought], [digest, say('mail', '{{steps.digest.eventCount}} of {{payload.cartId}}')])
  const first = await start(api)
  const second = await start(api, { payload: { cartId: 'c2' } })
  const third = await start(api, { payload: { cartId: 'c3' } })
  await post(api)
  expect(statesOf(await runOf(api, first))).toEqual(['digest canceled goal_met', 'mail canceled goal_met'])
  expect(statesOf(await runOf(api, second))).toEqual(['digest delayed', 'mail pending'])
  await pass(server, { hours: 1 })
  expect(await contentsOf(api, 'ada')).toEqual(['2 of c2'])
  expect(statesOf(await runOf(api, third))).toContain('mail merged merged_into_digest')
  // Who goes on with it can meet a goal, too.
  const [fourth, fifth] = [
    await start(api, { payload: { cartId: 'c4' } }),
    await start(api, { payload: { cartId: 'c5' } }),
  ]
  await post(api, { key: 'c4' })
  await post(api, { key: 'c5' })
  expect((await runOf(api, fourth)).goal).toMatchObject({ name: 'Bought' })
  expect((await runOf(api, fifth)).goal).toMatchObject({ name: 'Bought' })
  await pass(server, { hours: 1 })
  expect(await contentsOf(api, 'ada')).toHaveLength(1)
})

/** Until so many connections wait for a lock. */
const untilBlocked = (count: number) =>
  vi.waitFor(async () => {
    const { rows } = await server.database.pool.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    )
    expect(rows.length).toBeGreaterThanOrEqual(count)
  }, 10_000)

const eventsIn = async (api: Api) => {
  const { rows } = await server.database.pool.query('SELECT id FROM posted_events WHERE environment_id = $1', [
    api.environmentId,
  ])
  return rows.map(({ id }) => [api.environmentId, id])
}

type Racer = 'goal' | 'cancel' | 'wake'
const pairs: Array<[Racer, Racer]> = [
  ...([
    ['goal', 'cancel'],
    ['cancel', 'goal'],
  ] as Array<[Racer, Racer]>),
  ...([
    ['goal', 'wake'],
    ['wake', 'goal'],
  ] as Array<[Racer, Racer]>),
]

test.each(pairs)('%s before %s: one of them happens', async (...order) => {
  const api = await apiWith([bought], [say('hello'), waitAnHour(), say('remind')])
  const transactionId = await start(api)
  const { _id } = await runOf(api, transactionId)
  const other = await server.startAnother()
  server.clock.advance({ hours: 1 })
  await api.post('/v2/events', { name: 'cart.paid', key: 'c1', id: 'it' })
  const events = await eventsIn(api)
  const race: Record<Racer, () => Promise<unknown>> = {
    goal: async () => other.engine.tasks().match_events?.({ events }, {} as never),
    cancel: () => api.delete(`/v1/events/trigger/${transactionId}`),
    wake: () => other.engine.wake(),
  }
  const client = await server.database.pool.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM notifications WHERE id = $1 FOR UPDATE', [_id])
  const first = race[order[0]]()
  await untilBlocked(1)
  const second = race[order[1]]()
  // One that finds the timer taken does not wait.
  await Promise.race([untilBlocked(2), second])
  await client.query('COMMIT')
  client.release()
  const [answer] = (await Promise.all([first, second])) as Array<{ text?: string } | undefined>
  await server.drain()
  const found = await runOf(api, transactionId)
  if (order[0] === 'cancel') {
    expect(answer?.text).toBe('true')
    expect(statesOf(found).at(-1)).toBe('remind canceled canceled_by_user')
    expect(found.goal).toBeUndefined()
  } else {
    // Whoever wakes looks for what has happened.
    expect(statesOf(found).at(-1)).toBe('remind canceled goal_met')
    expect(found.goal).toMatchObject({ name: 'Bought' })
  }
  expect((await api.get('/v2/events/it')).body).toMatchObject({
    status: 'done',
    matched: order[0] === 'cancel' ? 0 : 1,
  })
  // A timer that the other side held is looked for again a second later.
  await pass(server, { seconds: 1 })
  expect(await left(api)).toEqual({ waits: 0, timers: 0 })
  await other.stop()
})

test('an event that is posted while the run begins meets the goal', async () => {
  const api = await apiWith(
    [bought],
    [{ type: 'throttle', stepId: 'limit', controlValues: { amount: 1, unit: 'minutes' } }, ...steps],
  )
  const other = await server.startAnother()
  const client = await server.database.pool.connect()
  await client.query('BEGIN')
  // The goal has looked for events, and cannot be stored.
  await client.query('LOCK TABLE event_waits IN EXCLUSIVE MODE')
  const transactionId = await trigger(api, 'cart', 'ada', { payload: { cartId: 'c1' } })
  const work: Array<Promise<unknown>> = [server.drain()]
  await untilBlocked(1)
  expect((await api.post('/v2/events', { name: 'cart.paid', key: 'c1', id: 'it' })).status).toBe(201)
  const events = await eventsIn(api)
  work.push(Promise.resolve(other.engine.tasks().match_events?.({ events }, {} as never)))
  await untilBlocked(2)
  await client.query('COMMIT')
  client.release()
  await Promise.all(work)
  await server.drain()
  expect((await runOf(api, transactionId)).goal).toMatchObject({ event: { id: 'it' } })
  await other.stop()
})

test('a process that dies at any statement loses no goal, and starts nothing twice', async () => {
  const other = await server.startAnother()
  const cut = new AsyncLocalStorage<{ left: number }>()
  const send = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function query(
    this: pg.Client,
    ...given: unknown[]
  ) {
    const line = cut.getStore()
    if (line && given[0] !== 'ROLLBACK') {
      line.left -= 1
      if (line.left < 0) throw new Error('the line is cut')
    }
    return send.apply(this, given) as never
  } as never)
  const cutOff = (left: number, work: () => Promise<unknown>) =>
    cut.run({ left }, () =>
      work().then(
        () => false,
        () => true,
      ),
    )
  try {
    const api = await apiWith([bought])
    const startOther = { workflowId: 'other', to: ['{{payload.cartId}}'] }
    await makeWorkflow(api, 'other', [say('note')])
    await makeWorkflow(api, 'starts', [
      ...[waitAnHour(), { type: 'start_workflow', stepId: 'start', controlValues: startOther }],
    ])
    let isCut = true
    let count = 0
    for (; isCut; count += 1) {
      const to = `goal-${count}`
      const transactionId = await start(api, { payload: { cartId: to } }, to)
      await api.post('/v2/events', { name: 'cart.paid', key: to, id: to })
      const { rows } = await server.database.pool.query('SELECT id FROM posted_events WHERE given_id = $1', [to])
      const events = [[api.environmentId, rows[0].id]]
      isCut = await cutOff(count, async () => other.engine.tasks().match_events?.({ events }, {} as never))
      await server.drain()
      expect((await runOf(api, transactionId)).goal, to).toMatchObject({ event: { id: to } })
      expect((await api.get(`/v2/events/${to}`)).body, to).toMatchObject({ status: 'done', matched: 1 })
    }
    expect(count).toBeGreaterThan(10)
    isCut = true
    for (count = 0; isCut; count += 1) {
      const to = `start-${count}`
      const transactionId = await trigger(api, 'starts', `by-${to}`, { payload: { cartId: to } })
      await server.drain()
      server.clock.advance({ hours: 1 })
      isCut = await cutOff(count, () => other.engine.wake())
      await server.drain()
      expect(statesOf(await runOf(api, transactionId)), to).toEqual(['wait completed', 'start completed'])
      expect(await contentsOf(api, to), to).toEqual(['note'])
    }
    expect(count).toBeGreaterThan(6)
  } finally {
    spy.mockRestore()
    await other.stop()
  }
})

test('a cancel ends what a goal listens for', async () => {
  const api = await apiWith([bought])
  const transactionId = await start(api)
  expect(await left(api)).toEqual({ waits: 1, timers: 1 })
  await api.delete(`/v1/events/trigger/${transactionId}`)
  expect(await left(api)).toEqual({ waits: 0, timers: 0 })
})

test('a run keeps the goals of the version it began with', async () => {
  const api = await apiWith([bought])
  const transactionId = await start(api)
  await api.patch('/v2/workflows/cart', { journey: null })
  await post(api)
  expect((await runOf(api, transactionId)).goal).toMatchObject({ name: 'Bought' })
})

test.each<[string, object[]]>([
  ['neither entries nor a condition', [{ name: 'x' }]],
  ['no name', [{ for: [paid] }]],
  ['a name twice', [bought, bought]],
  ['an entry that names nothing', [{ name: 'x', for: [{ key: 'a' }] }]],
  ['an event that cannot be', [{ name: 'x', for: [{ event: 'a b' }] }]],
  ['a template that cannot be read', [{ name: 'x', for: [{ event: 'a', key: '{{' }] }]],
  ['a condition that cannot be read', [{ name: 'x', condition: { nonsense: [] } }]],
  ['more than five', Array.from({ length: 6 }, (_, index) => ({ ...bought, name: `g${index}` }))],
])('with %s is refused', async (_, goals) => {
  const body = { name: 'x', workflowId: 'x', active: true, steps: [], journey: { goals } }
  expect((await server.api.post('/v2/workflows', body)).status).toBe(422)
})

test('a simulation and a held clock agree', async () => {
  const api = await heldApi(server, { now: '2027-03-01T08:00:00.000Z' })
  await makeWorkflow(api, 'cart', steps, { journey: { goals: [bought] } })
  const transactionId = await trigger(api, 'cart', 'ada', { payload: { cartId: 'c1' } })
  await api.advance({ by: '90m' })
  const event = { name: 'cart.paid', key: 'c1', id: 'it' }
  await api.post('/v2/events', event)
  await api.advance({ by: '2h' })
  const lived = await runOf(api, transactionId)
  const { body } = await api.post('/v1/simulations', {
    ...{
      workflow: { workflowId: 'cart' },
      startAt: '2027-03-01T08:00:00.000Z',
      subscribers: [{ subscriberId: 'ada' }],
    },
    inputs: [
      { type: 'trigger', at: '+0s', to: 'ada', payload: { cartId: 'c1' } },
      { type: 'event', at: '+90m', ...event },
    ],
  })
  const [played] = body.runs
  expect(lived.goal).toEqual(played.goal)
  expect(played).toMatchObject({ status: 'completed', goal: { name: 'Bought', createdAt: '2027-03-01T09:30:00.000Z' } })
  const states = played.steps.map(
    ({ stepId, status, reason }: { stepId: string; status: string; reason: string | null }) =>
      `${stepId} ${status}${reason ? ` ${reason}` : ''}`,
  )
  expect(states).toEqual(statesOf(lived))
})
