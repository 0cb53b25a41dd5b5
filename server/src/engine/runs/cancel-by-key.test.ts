import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { say, statesOf, waitAnHour } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, pass, runOf, runsOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const steps = [waitAnHour(), say('late', 'Late')]
const cancel = (api: Api, body: object) => api.post('/v1/events/cancel', body)

async function apiWith(more: object = {}): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'order', steps, more)
  return api
}

describe('by the key of the trigger', () => {
  test('all its runs under way are cancelled, and later ones are not touched', async () => {
    const api = await apiWith()
    for (const to of ['ada', ['bob', 'cy']]) await trigger(api, 'order', to, { cancellationKey: 'cart-7' })
    await trigger(api, 'order', 'di', { cancellationKey: 'cart-8' })
    await trigger(api, 'order', 'eve')
    await server.drain()
    expect(await cancel(api, { key: 'cart-7' })).toMatchObject({ status: 200, body: { canceled: 3, hasMore: false } })
    expect((await cancel(api, { key: 'cart-7' })).body).toEqual({ canceled: 0, hasMore: false })
    const after = await trigger(api, 'order', 'ada', { cancellationKey: 'cart-7' })
    await server.drain()
    await pass(server, { hours: 1 })
    expect(statesOf(await runOf(api, after))).toEqual(['wait completed', 'late completed'])
    for (const [to, count] of Object.entries({ ada: 1, bob: 0, cy: 0, di: 1, eve: 1 }))
      expect([to, (await contentsOf(api, to)).length]).toEqual([to, count])
  })

  test('5,000 runs at a call; the answer says whether there are more', async () => {
    const api = await apiWith()
    const transactionId = await trigger(api, 'order', 'ada', { cancellationKey: 'many' })
    await server.drain()
    const { _id } = await runOf(api, transactionId)
    // As if the trigger had been for 5,001 people.
    const { pool } = server.database
    const other = `{"id": "' || substr($1, 1, 16) || lpad(to_hex(n), 8, '0') || '"}`
    await pool.query(
      `WITH runs AS (
         INSERT INTO notifications SELECT (jsonb_populate_record(r, ('${other}')::jsonb)).*
         FROM notifications r, generate_series(1, 5000) n WHERE r.id = $1 RETURNING id
       )
       INSERT INTO jobs SELECT (jsonb_populate_record(j, jsonb_build_object('notification_id', runs.id))).*
       FROM jobs j, runs WHERE j.notification_id = $1`,
      [_id],
    )
    expect((await cancel(api, { key: 'many' })).body).toEqual({ canceled: 5_000, hasMore: true })
    expect((await cancel(api, { key: 'many' })).body).toEqual({ canceled: 1, hasMore: false })
  })

  test('the record says that somebody cancelled it', async () => {
    const api = await apiWith()
    const transactionId = await trigger(api, 'order', 'ada', { cancellationKey: 'k' })
    await server.drain()
    await cancel(api, { key: 'k' })
    const found = await runOf(api, transactionId)
    expect(statesOf(found)).toEqual(['wait canceled canceled_by_user', 'late canceled canceled_by_user'])
    expect(found.status).toBe('completed')
  })

  test('only runs of a workflow, or of a subscriber', async () => {
    const api = await apiWith()
    await makeWorkflow(api, 'other', steps)
    for (const name of ['order', 'other'])
      await trigger(api, name, ['ada', 'bob'], { cancellationKey: 'k', transactionId: name })
    await server.drain()
    expect((await cancel(api, { key: 'k', workflowId: 'order', subscriberId: 'ada' })).body.canceled).toBe(1)
    expect((await cancel(api, { key: 'k', subscriberId: 'ada' })).body.canceled).toBe(1)
    expect((await cancel(api, { key: 'k', workflowId: 'order' })).body.canceled).toBe(1)
    expect((await cancel(api, { key: 'k' })).body.canceled).toBe(1)
    expect(await cancel(api, { key: 'k', workflowId: 'none' })).toMatchObject({
      status: 404,
      body: { code: 'workflow_not_found' },
    })
  })

  test('a trigger that is accepted but not begun is begun, then cancelled', async () => {
    const api = await apiWith()
    const transactionId = await trigger(api, 'order', 'ada', { cancellationKey: 'k' })
    expect((await cancel(api, { key: 'k' })).body.canceled).toBe(1)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    expect(statesOf(await runOf(api, transactionId))[0]).toBe('wait canceled canceled_by_user')
  })

  test('a topic that is still being walked stops; for one subscriber it goes on for the others', async () => {
    const api = await apiWith()
    const ids = Array.from({ length: 3 }, (_, number) => `member-${number}`)
    await api.post('/v1/subscribers/bulk', { subscribers: ids.map((subscriberId) => ({ subscriberId })) })
    await api.post('/v2/topics/all/subscriptions', { subscriptions: ids })
    const to = { type: 'Topic', topicKey: 'all' }
    const first = await trigger(api, 'order', to, { cancellationKey: 'k' })
    await cancel(api, { key: 'k' })
    await server.drain()
    expect(await runsOf(api, first)).toEqual([])
    expect((await api.get(`/v1/events/trigger/${first}`)).body.passedOver).toMatchObject([
      { reason: 'canceled_by_user' },
    ])
    const second = await trigger(api, 'order', to, { cancellationKey: 'k' })
    await cancel(api, { key: 'k', subscriberId: 'member-0' })
    await server.drain()
    const reached = (await runsOf(api, second)).map((run) => run.subscriber.subscriberId)
    expect(reached.sort()).toEqual(['member-1', 'member-2'])
    const report = async (who: string) => {
      const { body } = await api.get(`/v1/events/trigger/${second}?subscriberId=${who}`)
      return body.passedOver.map(({ reason, named }: Record<string, string>) => [reason, named])
    }
    expect(await report('member-0')).toEqual([['canceled_by_user', 'member-0']])
    expect(await report('member-1')).toEqual([])
    // So does a broadcast, and later triggers are not touched.
    const third = await trigger(api, 'order', to, { cancellationKey: 'k' })
    const wide = { name: 'order', payload: {}, cancellationKey: 'wide' }
    const { body, text } = await api.post('/v1/events/trigger/broadcast', wide)
    expect(body.status, text).toBe('processed')
    await cancel(api, { key: 'wide', subscriberId: 'member-1' })
    await server.drain()
    expect(await runsOf(api, third)).toHaveLength(3)
    const everybody = (await runsOf(api, body.transactionId)).map((run) => run.subscriber.subscriberId)
    expect(everybody.sort()).toEqual(['member-0', 'member-2'])
  })

  test('a run in flight is left alone, and an event in a digest is taken out of it', async () => {
    const api = await server.freshApi()
    const digest = { name: 'c', stepId: 'c', type: 'digest', controlValues: { amount: 1, unit: 'hours' } }
    await makeWorkflow(api, 'order', [digest, say('all', '{{steps.c.eventCount}}')])
    for (const key of ['a', 'b', 'c']) await trigger(api, 'order', 'ada', { cancellationKey: key })
    await server.drain()
    expect((await cancel(api, { key: 'b' })).body.canceled).toBe(1)
    // The first collects; another goes on with the rest.
    expect((await cancel(api, { key: 'a' })).body.canceled).toBe(1)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['1'])
    expect((await cancel(api, { key: 'c' })).body.canceled).toBe(0)
  })

  test('of a cancel and a wait that ends at the same moment exactly one happens', async () => {
    const api = await apiWith()
    for (let round = 0; round < 5; round += 1) {
      const to = `racer-${round}`
      await trigger(api, 'order', to, { cancellationKey: to })
      await server.drain()
      server.clock.advance({ hours: 1 })
      const [{ body }] = await Promise.all([cancel(api, { key: to }), server.drain()])
      await server.drain()
      expect([to, (await contentsOf(api, to)).length]).toEqual([to, 1 - body.canceled])
    }
  })

  test('a key that names an erased person goes from triggers for others', async () => {
    const api = await apiWith()
    await api.post('/v2/subscribers', { subscriberId: 'ada-lovelace' })
    await trigger(api, 'order', 'bob', { cancellationKey: 'ada-lovelace' })
    await server.drain()
    expect((await api.post('/v2/subscribers/ada-lovelace/erase', {})).status).toBeLessThan(300)
    await server.drain()
    expect((await cancel(api, { key: 'ada-lovelace' })).body.canceled).toBe(0)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'bob')).toEqual(['Late'])
  })

  test('what cannot be one is refused', async () => {
    const api = await apiWith()
    expect((await cancel(api, {})).status).toBe(422)
    expect((await cancel(api, { key: '' })).status).toBe(422)
    expect((await cancel(api, { key: 'x'.repeat(256) })).status).toBe(422)
    const long = { name: 'order', to: 'ada', cancellationKey: 'x'.repeat(256) }
    expect((await api.post('/v1/events/trigger', long)).status).toBe(422)
    const viewer = await server.keyFor(api, ['read:activity'])
    expect((await cancel(viewer, { key: 'k' })).status).toBe(403)
  })
})

/** Until so many connections wait for a lock. */
const untilBlocked = (count: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await server.database.pool.query(
        'SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0',
      )
      expect(rows.length).toBeGreaterThanOrEqual(count)
    },
    { timeout: 20_000, interval: 10 },
  )

/** Both come to wait for what is held, one after the other; then it is let go. */
async function inOrder<T>(
  held: ReturnType<typeof sql>,
  first: () => Promise<T>,
  second: () => Promise<T>,
): Promise<T[]> {
  const works = await server.database.db.transaction().execute(async (tx) => {
    await held.execute(tx)
    const one = first()
    await untilBlocked(1)
    const other = second()
    await Promise.race([untilBlocked(2), other])
    return [one, other]
  })
  return Promise.all(works)
}

describe('paused against', () => {
  const members = ['member-0', 'member-1', 'member-2']
  const orders = [
    ['cancel', 'other'],
    ['other', 'cancel'],
  ] as const

  /** A topic whose walk has begun, and its first chunk, which waits to be let through. */
  async function walking() {
    const api = await apiWith()
    await api.post('/v1/subscribers/bulk', { subscribers: members.map((subscriberId) => ({ subscriberId })) })
    await api.post('/v2/topics/all/subscriptions', { subscriptions: members })
    const transactionId = await trigger(api, 'order', { type: 'Topic', topicKey: 'all' }, { cancellationKey: 'k' })
    let letThrough: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      letThrough = resolve
    })
    let works = 0
    const drained = server.drain(async (work) => {
      works += 1
      if (works > 1) await gate
      await work()
    })
    await vi.waitFor(
      async () => {
        const { rows } = await sql`SELECT FROM walks WHERE environment_id = ${api.environmentId}`.execute(
          server.database.db,
        )
        expect(rows).toHaveLength(1)
      },
      { timeout: 20_000, interval: 10 },
    )
    const walkOn = () => {
      letThrough()
      return drained
    }
    return { api, transactionId, walkOn }
  }

  const reachedBy = async (api: Api, transactionId: string) =>
    (await runsOf(api, transactionId)).map((run) => `${run.subscriber.subscriberId} ${run.jobs[0].status}`).sort()

  test.each(orders)('a chunk of a walk that is about to begin: %s before %s', async (...order) => {
    const { api, transactionId, walkOn } = await walking()
    const answers: Array<{ canceled: number }> = []
    const sides = {
      cancel: async () => void answers.push((await cancel(api, { key: 'k' })).body),
      other: walkOn,
    }
    const held = sql`SELECT FROM walks WHERE environment_id = ${api.environmentId} FOR UPDATE`
    await inOrder(held, sides[order[0]], sides[order[1]])
    await server.drain()
    // Nobody is reached after the cancel, and whoever was reached before is cancelled.
    const isStopped = order[0] === 'cancel'
    expect(answers[0]).toEqual({ canceled: isStopped ? 0 : 3, hasMore: false })
    expect(await reachedBy(api, transactionId)).toEqual(isStopped ? [] : members.map((who) => `${who} canceled`))
    await pass(server, { hours: 1 })
    for (const who of members) expect(await contentsOf(api, who)).toEqual([])
  })

  test.each([undefined, 'member-1'])('a chunk that has read its members, for %s', async (subscriberId) => {
    const { api, transactionId, walkOn } = await walking()
    const answers: Array<{ canceled: number }> = []
    // The chunk knows whom it reaches, and cannot store the runs.
    await inOrder(sql`LOCK TABLE notifications IN SHARE MODE`, walkOn, async () => {
      answers.push((await cancel(api, { key: 'k', subscriberId })).body)
    })
    await server.drain()
    const canceled = members.filter((who) => subscriberId === undefined || who === subscriberId)
    expect(answers[0]).toEqual({ canceled: canceled.length, hasMore: false })
    expect(await reachedBy(api, transactionId)).toEqual(
      members.map((who) => `${who} ${canceled.includes(who) ? 'canceled' : 'delayed'}`),
    )
    await pass(server, { hours: 1 })
    for (const who of members) expect(await contentsOf(api, who)).toHaveLength(canceled.includes(who) ? 0 : 1)
  })

  test('a chunk that finds somebody left out: the cancel is stored before it waits for the walk', async () => {
    const { api, transactionId, walkOn } = await walking()
    const answers: Array<{ canceled: number }> = []
    const held = sql`SELECT FROM walks WHERE environment_id = ${api.environmentId} FOR UPDATE`
    const leaveOut = async () => void answers.push((await cancel(api, { key: 'k', subscriberId: 'member-1' })).body)
    await inOrder(held, walkOn, leaveOut)
    await server.drain()
    expect(answers[0]).toEqual({ canceled: 0, hasMore: false })
    expect(await reachedBy(api, transactionId)).toEqual(['member-0 delayed', 'member-2 delayed'])
  })

  test.each(orders)('the beginning of a trigger: %s before %s', async (...order) => {
    const api = await apiWith()
    const transactionId = await trigger(api, 'order', ['ada', 'bob'], { cancellationKey: 'k' })
    const answers: Array<{ canceled: number }> = []
    const sides = {
      cancel: async () => void answers.push((await cancel(api, { key: 'k' })).body),
      other: () => server.drain(),
    }
    // Who is first has taken the trigger, and cannot store its runs.
    await inOrder(sql`LOCK TABLE notifications IN SHARE MODE`, sides[order[0]], sides[order[1]])
    await server.drain()
    expect(answers[0]).toEqual({ canceled: 2, hasMore: false })
    expect(await reachedBy(api, transactionId)).toEqual(['ada canceled', 'bob canceled'])
  })

  test.each(orders)('the end of a wait: %s before %s', async (...order) => {
    const api = await apiWith()
    const transactionId = await trigger(api, 'order', 'ada', { cancellationKey: 'k' })
    await server.drain()
    const { _id } = await runOf(api, transactionId)
    const { engine, stop } = await server.startAnother()
    server.clock.advance({ hours: 1 })
    const answers: Array<{ canceled: number }> = []
    const sides = {
      cancel: async () => void answers.push((await cancel(api, { key: 'k' })).body),
      other: async () => void (await engine.wake()),
    }
    await inOrder(sql`SELECT FROM notifications WHERE id = ${_id} FOR UPDATE`, sides[order[0]], sides[order[1]])
    await server.drain()
    const canceled = order[0] === 'cancel' ? 1 : 0
    expect(answers[0]).toEqual({ canceled, hasMore: false })
    expect(await contentsOf(api, 'ada')).toHaveLength(1 - canceled)
    await stop()
  })
})

describe('by the key that the workflow makes', () => {
  const journey = { cancellationKey: '{{payload.cartId}}{{context.shop.id}}' }

  test('it is rendered of payload and context when the trigger is accepted; the trigger can say another', async () => {
    const api = await apiWith({ journey })
    await trigger(api, 'order', 'ada', { payload: { cartId: 'c1' } })
    await trigger(api, 'order', 'bob', { context: { shop: 'north' } })
    await trigger(api, 'order', 'cy', { payload: { cartId: 'c1' }, cancellationKey: 'own' })
    await trigger(api, 'order', 'di', {})
    await server.drain()
    for (const [key, canceled] of Object.entries({ c1: 1, north: 1, own: 1 }))
      expect([key, (await cancel(api, { key })).body.canceled]).toEqual([key, canceled])
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'di')).toHaveLength(1)
  })

  test('a change that leaves it out keeps it, null removes it, and copies have it', async () => {
    const { development: api, production } = await server.freshOrganizationWide()
    await makeWorkflow(api, 'order', steps, { journey })
    const read = async (from = api) => (await from.get('/v2/workflows/order')).body
    const { journey: shown, ...without } = await read()
    expect(shown).toEqual(journey)
    expect((await api.put('/v2/workflows/order', { ...without, name: 'Renamed' })).body.journey).toEqual(journey)
    expect((await api.patch('/v2/workflows/order', { name: 'Again' })).body.journey).toEqual(journey)
    expect((await api.post('/v2/workflows/order/duplicate', {})).body.journey).toEqual(journey)
    expect((await api.post(`/v2/environments/${production.environmentId}/publish`, {})).status).toBe(200)
    expect((await read(production)).journey).toEqual(journey)
    expect((await read(production)).revision).toBe((await read()).revision)
    expect((await api.patch('/v2/workflows/order', { journey: null })).body).not.toHaveProperty('journey')
    const refused = await api.patch('/v2/workflows/order', { journey: { cancellationKey: '{{payload.' } })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('journey.cancellationKey')
  })

  test('a simulation cancels by key, too', async () => {
    const api = await apiWith({ journey })
    const { body } = await api.post('/v1/simulations', {
      ...{ workflow: { workflowId: 'order' }, subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }] },
      inputs: [
        { type: 'trigger', at: '+0s', to: ['ada', 'bob'], payload: { cartId: 'c1' } },
        { type: 'trigger', at: '+0s', to: 'ada', payload: { cartId: 'c2' } },
        { type: 'cancel', at: '+1m', key: 'c1', subscriberId: 'bob' },
        { type: 'cancel', at: '+2m', key: 'c2' },
      ],
    })
    expect(body.messages.map(({ subscriberId }: { subscriberId: string }) => subscriberId)).toEqual(['ada'])
    const neither = { workflow: { workflowId: 'order' }, inputs: [{ type: 'cancel', at: '+1m' }] }
    expect((await api.post('/v1/simulations', neither)).status).toBe(422)
  })
})
