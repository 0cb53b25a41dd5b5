import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { branch, is, say, statesOf, waitAnHour } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, pass, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const wait = (entries: object[], more: object = {}, stepId = 'wait'): Step => ({
  ...{ name: stepId, stepId, type: 'wait_for_event' },
  controlValues: { for: entries, amount: 2, unit: 'hours', ...more },
})
const paid = { event: 'cart.paid', key: '{{payload.cartId}}' }
const delay = waitAnHour('delay')
const waitDays = (amount: number): Step => ({
  ...{ name: 'delay', stepId: 'delay', type: 'delay' },
  controlValues: { type: 'regular', amount, unit: 'days' },
})
const after = say('after', '{{steps.wait.outcome}} {{steps.wait.matched}} {{steps.wait.event.payload.total}}')

async function apiWith(...steps: Step[]): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'cart', steps)
  return api
}

const start = async (api: Api, payload: object = { cartId: 'c1' }, to = 'ada') => {
  const transactionId = await trigger(api, 'cart', to, { payload })
  await server.drain()
  return transactionId
}

async function post(api: Api, event: object) {
  const answer = await api.post('/v2/events', { name: 'cart.paid', ...event })
  expect(answer, answer.text).toMatchObject({ status: 201, body: { acknowledged: true } })
  await server.drain()
  return answer.body
}

test.each([
  ['wait_for_event', { for: [{ event: 'cart.paid' }] }],
  ['ask', { question: 'Now?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'] }],
  ['delay', { type: 'regular' }],
  ['digest', {}],
])('a fraction of an hour counts: %s', async (type, values) => {
  const api = await apiWith({
    name: type,
    stepId: 'wait',
    type,
    controlValues: { ...values, amount: 1.5, unit: 'hours' },
  })
  const { body } = await api.get('/v2/workflows/cart')
  expect(body).toMatchObject({ status: 'ACTIVE', steps: [{ controls: { values: { amount: 1.5 } } }] })
  const transactionId = await start(api)
  await pass(server, { minutes: 89 })
  expect((await runOf(api, transactionId)).jobs[0].status).toBe('delayed')
  await pass(server, { minutes: 1 })
  expect((await runOf(api, transactionId)).jobs[0].status).not.toBe('delayed')
})

describe('an event ends the wait', () => {
  test('and later steps read which, and what it said', async () => {
    const api = await apiWith(wait([{ event: 'cart.left', key: 'x' }, paid]), after)
    const transactionId = await start(api)
    const waiting = await runOf(api, transactionId)
    expect(statesOf(waiting)).toEqual(['wait delayed', 'after pending'])
    expect(waiting.jobs[0]).toMatchObject({ kind: 'wait_for_event', type: 'wait_for_event', dueAt: expect.any(String) })
    server.clock.advance({ minutes: 10 })
    const { id, createdAt } = await post(api, { key: 'c1', payload: { total: 40 } })
    const found = await runOf(api, transactionId)
    expect(statesOf(found)).toEqual(['wait completed', 'after completed'])
    expect(found.jobs[0].outcome).toEqual({
      ...{ outcome: 'event', matched: 1, deadline: expect.any(String), waitedMs: 600_000 },
      event: { id, name: 'cart.paid', key: 'c1', subscriberId: null, payload: { total: 40 }, createdAt },
    })
    expect(await contentsOf(api, 'ada')).toEqual(['event 1 40'])
    // Its time comes for nothing.
    await pass(server, { hours: 3 })
    expect(await contentsOf(api, 'ada')).toHaveLength(1)
    expect((await api.get(`/v2/events/${id}`)).body).toMatchObject({ status: 'done', matched: 1 })
  })

  test.each([
    ['and a key', paid, { key: 'c1' }, true],
    ['and a key', paid, { key: 'other' }, false],
    ['and a key', paid, { subscriberId: 'ada' }, false],
    ['and a key', paid, { key: 'c1', subscriberId: 'ada' }, true],
    ['and a key', paid, { key: 'c1', subscriberId: 'bob' }, false],
    ['without a key', { event: 'cart.paid' }, { subscriberId: 'ada' }, true],
    ['without a key', { event: 'cart.paid' }, { subscriberId: 'bob' }, false],
    ['without a key', { event: 'cart.paid' }, { key: 'c1' }, false],
    ['without a key', { event: 'cart.paid' }, { key: 'c1', subscriberId: 'ada' }, true],
    ['of another name', { event: 'cart.left' }, { subscriberId: 'ada' }, false],
  ])('an entry with an event %s: %j against %j', async (_, entry, event, ends) => {
    const api = await apiWith(wait([entry]), after)
    const transactionId = await start(api)
    await post(api, event)
    expect(statesOf(await runOf(api, transactionId))[0]).toBe(ends ? 'wait completed' : 'wait delayed')
  })

  test('its condition is asked with the event; one that cannot be evaluated does not match', async () => {
    const large = { ...paid, condition: { '>': [{ var: 'event.payload.total' }, 100] } }
    const broken = { event: 'cart.paid', key: 'c1', condition: { frobnicate: [1] } }
    const api = await apiWith(wait([broken, large]), after)
    const transactionId = await start(api)
    for (const total of [40, 41]) await post(api, { key: 'c1', payload: { total } })
    const waiting = (await runOf(api, transactionId)).jobs[0]
    expect(waiting.status).toBe('delayed')
    const warnings = waiting.executionDetails.filter(({ status }: { status: string }) => status === 'Warning')
    expect(warnings.map(({ detail, raw }: Record<string, string>) => [detail, JSON.parse(raw ?? '').entry])).toEqual([
      ['A condition on an event could not be evaluated', 0],
    ])
    await post(api, { key: 'c1', payload: { total: 400 } })
    expect(await contentsOf(api, 'ada')).toEqual(['event 1 400'])
  })

  test('one event ends any number of waits, each once, and a wait in an arm too', async () => {
    const api = await apiWith(branch('b', [{ name: 'A', steps: [wait([paid])] }]), after)
    for (const to of ['ada', 'bob', 'cy']) await start(api, { cartId: 'c1' }, to)
    await start(api, { cartId: 'c2' }, 'di')
    const { id } = await post(api, { key: 'c1' })
    expect((await api.get(`/v2/events/${id}`)).body.matched).toBe(3)
    for (const [to, count] of Object.entries({ ada: 1, bob: 1, cy: 1, di: 0 }))
      expect([to, (await contentsOf(api, to)).length]).toEqual([to, count])
  })

  test('more than a thousand waits are told in two lanes, each once, also by jobs that come twice', async () => {
    const api = await apiWith(wait([paid]), say('after'))
    // A chunk, and then two more in each lane.
    const count = 1_600
    await api.post('/v2/topics', { key: 'all', name: 'All' })
    for (let at = 0; at < count; at += 100) {
      const ids = Array.from({ length: 100 }, (_, number) => `member-${at + number}`)
      await api.post('/v1/subscribers/bulk', { subscribers: ids.map((subscriberId) => ({ subscriberId })) })
      await api.post('/v2/topics/all/subscriptions', { subscriptions: ids })
    }
    await trigger(api, 'cart', { type: 'Topic', topicKey: 'all' }, { payload: { cartId: 'c1' } })
    await server.drain()
    const { engine, stop } = await server.startAnother()
    try {
      await api.post('/v2/events', { name: 'cart.paid', key: 'c1', id: 'e1' })
      const { rows } = await server.database.pool.query(`SELECT id FROM posted_events WHERE given_id = 'e1'`)
      const again = async (...lanes: number[]) =>
        Promise.all(
          [...lanes, ...lanes].map(async (lane) =>
            engine.tasks().match_events?.({ events: [[api.environmentId, rows[0].id, lane]] }, {} as never),
          ),
        )
      await engine.tasks().match_events?.({ events: [[api.environmentId, rows[0].id]] }, {} as never)
      expect((await api.get('/v2/events/e1')).body).toMatchObject({ status: 'matching', matched: 500 })
      await again(0)
      expect((await api.get('/v2/events/e1')).body).toMatchObject({ status: 'matching' })
      await Promise.all([again(0, 1), server.drain()])
      await again(0, 1)
    } finally {
      await stop()
    }
    expect((await api.get('/v2/events/e1')).body).toMatchObject({ status: 'done', matched: count })
    const { rows } = await server.database.pool.query(
      `SELECT count(*)::int AS all, count(DISTINCT m.subscriber_row_id)::int AS people,
         (SELECT count(*)::int FROM walks w WHERE w.environment_id = $1) AS walks
       FROM messages m WHERE m.environment_id = $1`,
      [api.environmentId],
    )
    expect(rows).toEqual([{ all: count, people: count, walks: 0 }])
  })
})

test.each<[string, (api: Api) => Promise<{ status: number }>]>([
  ['switched off', (api) => api.patch('/v2/workflows/cart', { active: false })],
  ['deleted', (api) => api.delete('/v2/workflows/cart')],
])('a run whose workflow is %s meanwhile is told of its event, and goes on', async (_, end) => {
  const api = await apiWith(
    wait([paid]),
    branch('b', [{ name: 'Paid', condition: is('steps.wait.matched', 0), steps: [after] }]),
  )
  const transactionId = await start(api)
  expect((await end(api)).status).toBeLessThan(300)
  await post(api, { key: 'c1', payload: { total: 40 } })
  expect(statesOf(await runOf(api, transactionId))).toEqual(['wait completed', 'b completed', 'after completed'])
  expect(await contentsOf(api, 'ada')).toEqual(['event 0 40'])
})

describe('no event', () => {
  test('the timeout ends the wait, and neither outcome is a failure', async () => {
    const arms = [{ name: 'Paid', condition: is('steps.wait.outcome', 'event'), steps: [], end: true }]
    const api = await apiWith(wait([paid]), branch('paid', arms), say('remind'))
    const transactionId = await start(api)
    await pass(server, { hours: 2 })
    const found = await runOf(api, transactionId)
    expect(found.status).toBe('completed')
    expect(statesOf(found)).toEqual(['wait completed', 'paid completed', 'remind completed'])
    expect(found.jobs[0].outcome).toMatchObject({ outcome: 'timeout', matched: null, event: null, waitedMs: 7_200_000 })
    // It comes too late.
    await post(api, { key: 'c1' })
    expect(await contentsOf(api, 'ada')).toEqual(['remind'])
  })

  test.each([
    ['a path', 'payload.until'],
    ['a template', '{{payload.until}}'],
  ])('the timeout can stand in the payload: %s', async (_, dynamicKey) => {
    const api = await apiWith(wait([paid], { amount: undefined, unit: undefined, dynamicKey }), after)
    const until = new Date(server.clock.now().getTime() + 5_400_000).toISOString()
    const transactionId = await start(api, { cartId: 'c1', until })
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'delayed', dueAt: until })
    await pass(server, { minutes: 90 })
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({
      ...{ outcome: 'timeout', deadline: until, waitedMs: 5_400_000 },
    })
    const none = await runOf(api, await start(api, { cartId: 'c1' }, 'bob'))
    expect(statesOf(none)[0]).toBe('wait failed invalid_settings')
  })

  test('an event before the deadline wins however late the wake-up comes; one after it never does', async () => {
    const api = await apiWith(wait([paid]), after)
    await start(api, { cartId: 'c1' }, 'ada')
    await start(api, { cartId: 'c2' }, 'bob')
    server.clock.advance({ minutes: 119 })
    // Accepted, and nobody is told before the timeout is.
    await api.post('/v2/events', { name: 'cart.paid', key: 'c1' })
    server.clock.advance({ minutes: 2 })
    await api.post('/v2/events', { name: 'cart.paid', key: 'c2' })
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['event 0 '])
    expect(await contentsOf(api, 'bob')).toEqual(['timeout  '])
  })

  test('further conditions of many events are asked, however many came before', async () => {
    const large = { ...paid, condition: { '>': [{ var: 'event.payload.total' }, 100] } }
    const api = await apiWith(delay, wait([large]), after)
    const transactionId = await start(api)
    const events = Array.from({ length: 100 }, (_, total) => ({ name: 'cart.paid', key: 'c1', payload: { total } }))
    expect((await api.post('/v2/events/bulk', { events })).status).toBe(201)
    server.clock.advance({ minutes: 1 })
    const { id } = await post(api, { key: 'c1', payload: { total: 101 } })
    await pass(server, { hours: 1 })
    expect((await runOf(api, transactionId)).jobs[1].outcome).toMatchObject({ event: { payload: { total: 101 } } })
    expect((await api.get(`/v2/events/${id}`)).body).toMatchObject({ status: 'done', matched: 1 })
  })

  test.each([
    ['an empty key', { for: [{ event: 'x', key: '{{payload.none}}' }] }, 'The key of the event "x" is empty'],
    ['no amount', { for: [{ event: 'x' }], amount: 0 }, 'amount'],
  ])('%s fails the step, and the run ends', async (_, values, error) => {
    const api = await apiWith(wait([], values), after)
    const found = await runOf(api, await start(api))
    expect(statesOf(found)).toEqual(['wait failed invalid_settings', 'after canceled previous_step_failed'])
    expect(found.jobs[0].error.toLowerCase()).toContain(error.toLowerCase())
  })
})

describe('looking back', () => {
  const outcomes = async (lookBack: unknown) => {
    const api = await apiWith(delay, wait([paid], lookBack === undefined ? {} : { lookBack }), after)
    await post(api, { key: 'c1', id: 'before' })
    server.clock.advance({ minutes: 5 })
    const transactionId = await start(api)
    const early = (await runOf(api, transactionId))._id
    expect(early).toBeDefined()
    server.clock.advance({ minutes: 5 })
    await post(api, { key: 'c1', id: 'during' })
    await pass(server, { hours: 1 })
    return (await runOf(api, transactionId)).jobs[1]
  }

  test('events since the trigger count, whenever the wait begins', async () => {
    expect((await outcomes(undefined)).outcome).toMatchObject({
      outcome: 'event',
      event: { id: 'during' },
      waitedMs: 0,
    })
  })
  test('further back, if the step says so; of several the oldest', async () => {
    expect((await outcomes({ amount: 2, unit: 'hours' })).outcome).toMatchObject({ event: { id: 'before' } })
  })
  test('or only from the beginning of the wait on', async () => {
    expect((await outcomes(false)).status).toBe('delayed')
  })

  test('no further than the environment keeps activity, however long the rows live; simulated too', async () => {
    const api = await apiWith(waitDays(3), wait([paid]), after)
    const kept = (activityDays: number | null) =>
      api.patch(`/v2/environments/${api.environmentId}/retention`, { activityDays })
    const found = async (daysBefore: number) => {
      const cartId = `kept-${daysBefore}`
      const transactionId = await start(api, { cartId })
      await pass(server, { days: 3 - daysBefore })
      await post(api, { key: cartId })
      await pass(server, { days: daysBefore })
      return (await runOf(api, transactionId)).jobs[1].status
    }
    const simulated = async () => {
      const inputs = [
        { at: '+0s', type: 'trigger', to: 'ada', payload: { cartId: 'c1' } },
        { at: '+1d', type: 'event', name: 'cart.paid', key: 'c1' },
      ]
      const played = await api.post('/v1/simulations', { workflow: { workflowId: 'cart' }, inputs })
      return played.body.runs[0].steps[1].waits.length
    }
    expect([await found(2), await simulated()]).toEqual(['completed', 0])
    expect(await kept(1)).toMatchObject({ status: 200 })
    expect([await found(2), await simulated()]).toEqual(['delayed', 1])
    expect(await kept(0)).toMatchObject({ status: 200 })
    expect([await found(2), await simulated()]).toEqual(['completed', 0])
  })

  test('an event ends one wait of a run, not a second one', async () => {
    const api = await apiWith(wait([paid]), wait([paid], {}, 'second'), say('end'))
    const transactionId = await start(api)
    await post(api, { key: 'c1' })
    expect(statesOf(await runOf(api, transactionId))).toEqual(['wait completed', 'second delayed', 'end pending'])
    await post(api, { key: 'c1' })
    expect(statesOf(await runOf(api, transactionId))[1]).toBe('second completed')
  })
})

/** Those who wait for a lock, once it is so many. */
const untilBlocked = (count: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await server.database.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
      )
      expect(rows).toHaveLength(count)
    },
    { timeout: 20_000, interval: 10 },
  )

describe('exactly one of match, timeout and cancel happens', () => {
  type Racer = 'match' | 'timeout' | 'cancel'
  const pairs: Array<[Racer, Racer]> = [
    ...([
      ['match', 'timeout'],
      ['timeout', 'match'],
      ['match', 'cancel'],
    ] as Array<[Racer, Racer]>),
    ...([
      ['cancel', 'match'],
      ['timeout', 'cancel'],
      ['cancel', 'timeout'],
    ] as Array<[Racer, Racer]>),
  ]

  test.each(pairs)('%s before %s', async (...order) => {
    const api = await apiWith(wait([paid]), after)
    const transactionId = await start(api)
    const { _id } = await runOf(api, transactionId)
    const { engine, stop } = await server.startAnother()
    // Posted at the deadline: whoever comes first decides between the event and the cancel, but not the timeout.
    server.clock.advance({ hours: order.includes('timeout') ? 2 : 1 })
    if (order.includes('match')) await api.post('/v2/events', { name: 'cart.paid', key: 'c1', id: 'it' })
    const { rows } = await server.database.pool.query(
      `SELECT environment_id, id FROM posted_events WHERE environment_id = $1`,
      [api.environmentId],
    )
    const events = rows.map((row: { environment_id: string; id: string }) => [row.environment_id, row.id])
    const race: Record<Racer, () => Promise<unknown>> = {
      match: async () => engine.tasks().match_events?.({ events }, {} as never),
      timeout: () => engine.wake(),
      cancel: () => api.delete(`/v1/events/trigger/${transactionId}`),
    }
    const answers = await server.database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM notifications WHERE id = ${_id} FOR UPDATE`.execute(tx)
      const first = race[order[0]]()
      await untilBlocked(1)
      const second = race[order[1]]()
      // One that finds the timer taken does not wait.
      await Promise.race([untilBlocked(2), second])
      return [first, second]
    })
    const [first] = await Promise.all(answers as Array<Promise<{ text?: string }>>)
    await server.drain()
    const [job] = (await runOf(api, transactionId)).jobs
    // The timeout looks once more, so the event wins over it from either side.
    const winner = order.includes('match') && order.includes('timeout') ? 'match' : order[0]
    expect([job.status, job.outcome.outcome]).toEqual(
      winner === 'cancel' ? ['canceled', null] : ['completed', winner === 'match' ? 'event' : 'timeout'],
    )
    if (order[0] === 'cancel') expect(first?.text).toBe('true')
    expect(await contentsOf(api, 'ada')).toHaveLength(winner === 'cancel' ? 0 : 1)
    if (order.includes('match'))
      expect((await api.get('/v2/events/it')).body).toMatchObject({
        status: 'done',
        matched: winner === 'match' ? 1 : 0,
      })
    expect(
      (await sql`SELECT FROM event_waits WHERE environment_id = ${api.environmentId}`.execute(server.database.db)).rows,
    ).toEqual([])
    await stop()
  })

  test('a process that dies at any statement of a match loses nothing and does nothing twice', async () => {
    const { engine, stop } = await server.startAnother()
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
    try {
      const api = await apiWith(wait([paid]), after)
      let isCut = true
      let statements = 0
      for (; isCut; statements += 1) {
        const to = `to-${statements}`
        const transactionId = await start(api, { cartId: to }, to)
        await api.post('/v2/events', { name: 'cart.paid', key: to, id: to })
        const { rows } = await server.database.pool.query('SELECT id FROM posted_events WHERE given_id = $1', [to])
        const events = [[api.environmentId, rows[0].id]]
        isCut = await cut.run({ left: statements }, async () => {
          try {
            await engine.tasks().match_events?.({ events }, {} as never)
            return false
          } catch {
            return true
          }
        })
        await server.drain()
        expect((await runOf(api, transactionId)).jobs[0].outcome, to).toMatchObject({
          outcome: 'event',
          event: { id: to },
        })
        expect([to, await contentsOf(api, to)]).toEqual([to, ['event 0 ']])
        expect((await api.get(`/v2/events/${to}`)).body, to).toMatchObject({ status: 'done', matched: 1 })
      }
      expect(statements).toBeGreaterThan(10)
    } finally {
      spy.mockRestore()
      await stop()
    }
  })

  test('an event that is posted while the wait begins ends it', async () => {
    const api = await apiWith(wait([paid]), after)
    const { engine, stop } = await server.startAnother()
    let work: Array<Promise<unknown>> = []
    let transactionId = ''
    await server.database.db.transaction().execute(async (tx) => {
      // The wait has looked for events, and cannot be stored.
      await sql`LOCK TABLE event_waits IN EXCLUSIVE MODE`.execute(tx)
      transactionId = await trigger(api, 'cart', 'ada', { payload: { cartId: 'c1' } })
      work = [server.drain()]
      await untilBlocked(1)
      expect((await api.post('/v2/events', { name: 'cart.paid', key: 'c1', id: 'it' })).status).toBe(201)
      const { rows } = await sql<{
        id: string
      }>`SELECT id FROM posted_events WHERE environment_id = ${api.environmentId}`.execute(tx)
      const events = rows.map(({ id }) => [api.environmentId, id])
      work.push(Promise.resolve(engine.tasks().match_events?.({ events }, {} as never)))
      await untilBlocked(2)
    })
    await Promise.all(work)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'event', event: { id: 'it' } })
    await stop()
  })
})

describe('messages of earlier steps', () => {
  const mail = say('mail', 'Read me', {})
  const read = { message: 'mail', happens: ['read', 'acted'] }
  const messageOf = async (api: Api) =>
    (await api.get('/v1/messages?subscriberId=ada&limit=1')).body.data[0]._id as string
  const mark = (api: Api, id: string, what: string) => api.patch(`/v2/subscribers/ada/notifications/${id}/${what}`, {})

  test('end the wait when one is read', async () => {
    const api = await apiWith(mail, wait([{ event: 'x' }, read]), after)
    const transactionId = await start(api)
    expect(statesOf(await runOf(api, transactionId))[1]).toBe('wait delayed')
    server.clock.advance({ minutes: 10 })
    const messageId = await messageOf(api)
    expect((await mark(api, messageId, 'read')).status).toBe(200)
    await server.drain()
    const createdAt = server.clock.now().toISOString()
    expect((await runOf(api, transactionId)).jobs[1].outcome).toEqual({
      ...{ outcome: 'event', matched: 1, deadline: expect.any(String), waitedMs: 600_000 },
      event: { name: 'message.read', messageId, channel: 'in_app', createdAt },
    })
  })

  test('what is so already when the wait begins counts at once', async () => {
    const seen = { message: 'mail', happens: ['seen'] }
    const api = await apiWith(mail, delay, wait([seen]), after)
    const transactionId = await start(api)
    await mark(api, await messageOf(api), 'read')
    await pass(server, { hours: 1 })
    expect((await runOf(api, transactionId)).jobs[2].outcome).toMatchObject({
      event: { name: 'message.seen' },
      waitedMs: 0,
    })
    const made = await apiWith(mail, wait([{ message: 'mail', happens: ['delivered'] }]), after)
    expect((await runOf(made, await start(made))).jobs[1].outcome).toMatchObject({
      event: { name: 'message.delivered' },
    })
  })

  test('are waited for in vain until the timeout; other things that happen to them do not count', async () => {
    const api = await apiWith(mail, wait([{ message: 'mail', happens: ['archived'] }]), after)
    const transactionId = await start(api)
    await mark(api, await messageOf(api), 'read')
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))[1]).toBe('wait delayed')
    await pass(server, { hours: 2 })
    expect((await runOf(api, transactionId)).jobs[1].outcome).toMatchObject({ outcome: 'timeout' })
  })

  test('that were never made are nothing to wait for, and the run goes on', async () => {
    const never = { ...mail, controlValues: { body: 'x', skip: is('payload.cartId', 'other') } }
    const api = await apiWith(never, wait([read]), after)
    const found = await runOf(api, await start(api))
    expect(statesOf(found).slice(1)).toEqual(['wait skipped nothing_to_wait_for', 'after completed'])
    expect(found.jobs[1].outcome).toMatchObject({ outcome: 'nothing', matched: null, event: null })
    const either = await apiWith(never, wait([read, { event: 'x' }]), after)
    expect(statesOf(await runOf(either, await start(either)))[1]).toBe('wait delayed')
  })

  test.each([
    ['archived', 'archive'],
    ['acted', 'actions/primary/complete'],
  ])('end the wait when one is %s', async (happening, path) => {
    const button = { ...mail, controlValues: { body: 'Read me', primaryAction: { label: 'Yes' } } }
    const api = await apiWith(button, wait([{ message: 'mail', happens: ['clicked', happening] }]), after)
    const transactionId = await start(api)
    const messageId = await messageOf(api)
    await mark(api, messageId, 'read')
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))[1]).toBe('wait delayed')
    expect((await mark(api, messageId, path)).status).toBe(200)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[1].outcome).toMatchObject({
      ...{ outcome: 'event', matched: 0, event: { name: `message.${happening}`, messageId, channel: 'in_app' } },
    })
  })

  test('end the wait as providers report it', async () => {
    const mailStep = { name: 'Mail', stepId: 'mail', type: 'email', controlValues: { subject: 'Hi', body: 'Hi' } }
    const entries = ['delivered', 'bounced', 'opened', 'clicked'].map((happening) => ({
      message: 'mail',
      happens: [happening],
    }))
    const api = await apiWith(
      mailStep,
      ...entries.map((entry, index) => wait([{ event: 'x' }, entry], {}, `w${index}`)),
    )
    const integration = { providerId: 'svc-email', channel: 'email', active: true, credentials: {} }
    const made = await api.post('/v1/integrations', integration)
    expect(made, made.text).toMatchObject({ status: 201 })
    const transactionId = await trigger(api, 'cart', { subscriberId: 'ada', email: 'ada@example.com' })
    await server.drain()
    const { rows } = await server.database.pool.query(
      'SELECT id, identifier, integration_id FROM messages WHERE environment_id = $1',
      [api.environmentId],
    )
    const [{ id, identifier, integration_id }] = rows
    const { engine, stop } = await server.startAnother()
    const report = (status: 'delivered' | 'bounced' | 'opened' | 'clicked') =>
      engine.report(
        { environmentId: api.environmentId, integrationId: integration_id, providerId: 'svc-email', wording: 'v2' },
        [{ providerMessageId: identifier, status, raw: {} }],
      )
    for (const [at, [before, awaited]] of (
      [
        [undefined, 'delivered'],
        ['delivered', 'bounced'],
        ['delivered', 'opened'],
        ['opened', 'clicked'],
      ] as const
    ).entries()) {
      if (before) await report(before)
      await server.drain()
      expect(statesOf(await runOf(api, transactionId))[at + 1]).toBe(`w${at} delayed`)
      await report(awaited)
      await server.drain()
      expect((await runOf(api, transactionId)).jobs[at + 1].outcome).toMatchObject({
        ...{ outcome: 'event', matched: 1, event: { name: `message.${awaited}`, messageId: id, channel: 'email' } },
      })
    }
    await stop()
  })

  test('that are read while the wait begins end it', async () => {
    const api = await apiWith(mail, delay, wait([read]), after)
    const transactionId = await start(api)
    const id = await messageOf(api)
    let work: Array<Promise<unknown>> = []
    await server.database.db.transaction().execute(async (tx) => {
      await sql`LOCK TABLE event_waits IN EXCLUSIVE MODE`.execute(tx)
      server.clock.advance({ hours: 1 })
      work = [server.drain()]
      await untilBlocked(1)
      work.push(mark(api, id, 'read'))
      await untilBlocked(2)
    })
    await Promise.all(work)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[2].outcome).toMatchObject({ outcome: 'event' })
  })
})

test('where the clock is held, an advance ends waits, and events end them at the time it shows', async () => {
  const api = await heldApi(server, { now: '2027-03-01T08:00:00.000Z' })
  await makeWorkflow(api, 'cart', [say('mail'), wait([paid, { message: 'mail', happens: ['read'] }]), after])
  const all = []
  for (const [to, cartId] of [
    ['ada', 'c1'],
    ['bob', 'c2'],
    ['cy', 'c3'],
  ])
    all.push(await trigger(api, 'cart', to, { payload: { cartId } }))
  await api.advance({ by: '30m' })
  const { body } = await api.post('/v2/events', { name: 'cart.paid', key: 'c1', payload: { total: 1 } })
  expect(body.createdAt).toBe('2027-03-01T08:30:00.000Z')
  const { _id } = (await api.get('/v1/messages?subscriberId=bob&limit=1')).body.data[0]
  await api.patch(`/v2/subscribers/bob/notifications/${_id}/read`, {})
  await api.advance({ by: '3h' })
  const outcomes = []
  for (const each of all) outcomes.push((await runOf(api, each)).jobs[1].outcome)
  expect(outcomes).toMatchObject([
    { outcome: 'event', waitedMs: 1_800_000 },
    { outcome: 'event', event: { name: 'message.read', createdAt: '2027-03-01T08:30:00.000Z' }, waitedMs: 1_800_000 },
    { outcome: 'timeout', waitedMs: 7_200_000 },
  ])
  expect((await api.get(`/v2/events/${body.id}`)).body).toMatchObject({ status: 'done', matched: 1 })
  expect((await api.get('/v1/clock')).body.waiting.count).toBe(0)
})

test('issues name the entry', async () => {
  const api = await server.freshApi()
  const { body } = await api.post('/v2/workflows', {
    ...{ name: 'x', workflowId: 'x', active: true },
    steps: [
      {
        name: 'w',
        stepId: 'w',
        type: 'wait_for_event',
        controlValues: { for: [{ key: 'a' }, { event: 'a b' }, { message: 'none', happens: ['read'] }] },
      },
      {
        ...{ name: 'v', stepId: 'v', type: 'wait_for_event' },
        controlValues: {
          for: [
            { event: 'x', condition: { '==': [{ var: 'steps.later.seen' }, 1] } },
            { event: 'x', condition: { '==': [{ var: 'event.payload.total' }, 1] } },
          ],
          ...{ amount: 181, unit: 'days', lookBack: { amount: 8, unit: 'days' } },
        },
      },
      wait(Array(11).fill({ event: 'x' }), {}, 'many'),
      wait(Array(10).fill({ event: 'x' }), {}, 'fine'),
    ],
  })
  const issues = (index: number) =>
    Object.entries(body.steps[index].issues.controls).map(
      ([path, [issue]]: [string, any]) => `${path} ${issue.issueType}`,
    )
  expect(issues(0).sort()).toEqual([
    ...['amount MISSING_VALUE', 'for.0.event MISSING_VALUE', 'for.1.event MISSING_VALUE'],
    ...['for.2.message ILLEGAL_VARIABLE_IN_CONTROL_VALUE', 'unit MISSING_VALUE'],
  ])
  expect(issues(1).sort()).toEqual([
    'amount TIER_LIMIT_EXCEEDED',
    'for.0.condition ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
    ...['lookBack.amount TIER_LIMIT_EXCEEDED', 'lookBack.unit TIER_LIMIT_EXCEEDED'],
    'unit TIER_LIMIT_EXCEEDED',
  ])
  expect(issues(2)).toEqual(['for MISSING_VALUE'])
  expect(body.steps[3].issues).toBeUndefined()
})

test('a simulation posts events too', async () => {
  const api = await apiWith(wait([paid]), after)
  const { body } = await api.post('/v1/simulations', {
    ...{ workflow: { workflowId: 'cart' }, subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }] },
    inputs: [
      { type: 'trigger', at: '+0s', to: 'ada', payload: { cartId: 'c1' } },
      { type: 'trigger', at: '+0s', to: 'bob', payload: { cartId: 'c2' } },
      { type: 'event', at: '+10m', name: 'cart.paid', key: 'c1', payload: { total: 7 } },
    ],
  })
  expect(body.messages.map(({ text }: { text: string }) => text)).toEqual(['event 0 7', 'timeout  '])
  const refused = { workflow: { workflowId: 'cart' }, inputs: [{ type: 'event', at: '+1m', name: 'x' }] }
  expect((await api.post('/v1/simulations', refused)).status).toBe(422)
})
