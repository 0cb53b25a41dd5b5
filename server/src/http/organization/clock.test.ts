import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { ada, delay, email, heldApi, inApp, trigger, workflow } from '../../../test/held.ts'
import { signInAs } from '../../../test/people.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer({ allowLoopbackInDevelopment: true })
const start = '2026-03-28T19:00:00.000Z'

test('an environment with a clock shows it wherever it is shown, is for tests only, and others have none', async () => {
  const api = await heldApi(server, { now: start, seed: 7 })
  const clock = { held: true, now: start, seed: 7 }
  expect((await api.get('/v1/environments/me')).body).toMatchObject({ type: 'dev', clock })
  const all = (await server.wideApi.get('/v1/environments')).body as Array<{ _id: string; clock?: object }>
  expect(all.find(({ _id }) => _id === api.environmentId)).toMatchObject({ clock })
  expect(all.find(({ _id }) => _id === server.api.environmentId)).not.toHaveProperty('clock')
  const channels = (await api.get('/v1/integrations')).body.map(({ channel, active }: Record<string, unknown>) => [
    channel,
    active,
  ])
  expect(channels.sort()).toEqual(['chat', 'email', 'in_app', 'push', 'sms'].map((channel) => [channel, true]))
  const changed = await server.wideApi.put(`/v1/environments/${api.environmentId}`, { clock: null })
  expect(changed).toMatchObject({ status: 422, body: { code: 'clock_fixed' } })
  const renamed = await server.wideApi.put(`/v1/environments/${api.environmentId}`, { name: 'Night of the clocks' })
  expect(renamed).toMatchObject({ status: 200, body: { clock } })
  const given = { providerId: 'sendgrid', channel: 'email', active: false, credentials: { apiKey: 'a', from: 'a@b.c' } }
  expect(await api.post('/v1/integrations', given)).toMatchObject({ status: 422, body: { code: 'clock_sandbox_only' } })
  const [first] = (await server.wideApi.get('/v1/audit?limit=20')).body.data.filter(
    ({ action, target }: { action: string; target: { id: string } }) =>
      action === 'environment.created' && target?.id === api.environmentId,
  )
  expect(first).toBeDefined()
})

test('without a time it begins with the real one; impossible ones are refused', async () => {
  const api = await heldApi(server)
  expect((await api.get('/v1/clock')).body).toEqual({
    ...{ held: true, now: server.clock.now().toISOString(), seed: 0 },
    ...{ waiting: { count: 0, next: null }, advancingTo: null },
  })
  const make = (clock: unknown) =>
    server.wideApi.post('/v1/environments', { name: 'Impossible', color: '#123456', clock })
  expect(await make({ now: '1999-12-31T23:59:59Z' })).toMatchObject({ body: { code: 'clock_out_of_range' } })
  expect(await make({ now: 'soon' })).toMatchObject({ status: 422 })
  // The zone of the server is nobody's business.
  expect(await make({ now: '2026-03-28T19:00:00' })).toMatchObject({
    ...{ status: 422, text: expect.stringContaining('clock.now: \\"2026-03-28T19:00:00\\" is not a moment') },
  })
  expect(await make({ seed: -1 })).toMatchObject({ status: 422 })
  expect(await make(7)).toMatchObject({ status: 422 })
})

test('it begins with a wall clock in its zone, or with an offset', async () => {
  for (const now of ['2026-03-28T19:00[Europe/Berlin]', '2026-03-28T19:00:00+01:00']) {
    const api = await heldApi(server, { now })
    expect((await api.get('/v1/clock')).body.now).toBe('2026-03-28T18:00:00.000Z')
  }
})

test('there can be a hundred of them, beside the others', async () => {
  const { development } = await server.freshOrganizationWide()
  await server.database.pool.query(
    `INSERT INTO environments (id, organization_id, name, identifier, type, created_at, updated_at, clock_now, clock_seed)
     SELECT 'h' || n, $1, 'held ' || n, 'held-' || $1 || n, 'dev', now(), now(), now(), 0 FROM generate_series(1, 100) n`,
    [development.organizationId],
  )
  const make = (name: string, clock?: object) =>
    development.post('/v1/environments', { name, color: '#123456', ...(clock ? { clock } : {}) })
  expect(await make('One more', {})).toMatchObject({ status: 400, body: { code: 'too_many_held_environments' } })
  expect(await make('Staging')).toMatchObject({ status: 201 })
})

test('an ordinary environment has the real time, and its clock is nobody’s to move', async () => {
  const { api } = server
  expect((await api.get('/v1/clock')).body).toEqual({ held: false, now: server.clock.now().toISOString() })
  for (const answer of [await api.post('/v1/clock/advance', { by: '1d' }), await api.put('/v1/clock', { now: start })])
    expect(answer).toMatchObject({ status: 409, body: { code: 'clock_not_held' } })
})

test('what is no time, or the wrong one, is refused', async () => {
  const api = await heldApi(server, { now: start })
  for (const body of [
    {},
    { by: '1d', to: 'next' },
    { by: '1 day' },
    { to: 'tomorrow' },
    { to: '2026-03-28' },
    { by: 3 },
  ])
    expect(await api.post('/v1/clock/advance', body)).toMatchObject({ status: 422, body: { code: 'validation' } })
  const far = await api.post('/v1/clock/advance', { to: '+2h' })
  expect(far).toMatchObject({ status: 422, body: { code: 'validation' } })
  expect(far.text).toContain('is a duration; say how far in by')
  expect(await api.post('/v1/clock/advance', { to: '2026-03-28T18:59:59Z' })).toMatchObject({
    ...{ status: 422, body: { code: 'clock_backwards', message: `The clock stands at ${start} and does not go back` } },
  })
  for (const body of [{ by: '367d' }, { to: '2101-01-01T00:00:00Z' }])
    expect(await api.post('/v1/clock/advance', body)).toMatchObject({
      status: 422,
      body: { code: 'clock_out_of_range' },
    })
  expect(await api.put('/v1/clock', { now: 'x' })).toMatchObject({ status: 422, body: { code: 'validation' } })
  expect(await api.put('/v1/clock', { now: '2200-01-01T00:00:00Z' })).toMatchObject({
    body: { code: 'clock_out_of_range' },
  })
})

test('it is set until the first trigger, and by editors', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [inApp])
  expect((await api.put('/v1/clock', { now: '2026-03-29T02:30[Europe/Berlin]' })).body.now).toBe(
    '2026-03-29T01:30:00.000Z',
  )
  expect((await api.put('/v1/clock', { now: start })).body.now).toBe(start)
  const [viewer, editor] = [await signInAs(server, api, 'viewer'), await signInAs(server, api, 'editor')]
  expect((await viewer.get('/v1/clock')).status).toBe(200)
  expect((await viewer.post('/v1/clock/advance', { by: '0s' })).status).toBe(403)
  expect((await editor.post('/v1/clock/advance', { by: '1s' })).status).toBe(200)
  await trigger(api)
  expect(await api.put('/v1/clock', { now: start })).toMatchObject({ status: 409, body: { code: 'clock_started' } })
})

test('an advance ends every wait exactly at its time, and tells what happened', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [inApp, delay(2), email()])
  await trigger(api, { transactionId: 'c-1' })
  expect(await api.advance()).toMatchObject({
    from: start,
    now: start,
    reached: true,
    waitsEnded: 0,
    messages: { in_app: 1 },
  })
  expect((await api.get('/v1/clock')).body.waiting).toEqual({ count: 1, next: '2026-03-28T21:00:00.000Z' })
  const told = await api.advance({ by: '3d' })
  const of = { transactionId: 'c-1', subscriberId: 'ada', workflowId: 'news' }
  const at = '2026-03-28T21:00:00.000Z'
  expect(told).toEqual({
    ...{ from: start, now: '2026-03-31T19:00:00.000Z', reached: true, moments: 1, waitsEnded: 1, runsEnded: 1 },
    ...{ attempts: 1, messages: { email: 1 }, reasons: {}, hasMore: false, waiting: { count: 0, next: null } },
    events: [
      { at, ...of, stepId: 'wait', status: 'completed', reason: null },
      { at, ...of, stepId: 'mail', status: 'completed', reason: null },
    ],
  })
  const [run] = (await api.get('/v1/notifications')).body.data
  expect(run).toMatchObject({ createdAt: start, updatedAt: at, triggeredAt: start, status: 'completed' })
  expect(run.jobs.map(({ updatedAt }: { updatedAt: string }) => updatedAt)).toEqual([start, at, at])
  const [message] = (await api.get('/v1/sandbox/messages')).body.data
  expect(message).toMatchObject({ createdAt: at, text: expect.stringContaining('It is Ada') })
  const subscriber = (await api.get('/v2/subscribers/ada')).body
  expect(subscriber).toMatchObject({ createdAt: start })
  expect((await api.get('/v2/workflows/news')).body).toMatchObject({ createdAt: start })
  // Ids, and with them partitions and retention, go by the real time.
  expect(Number.parseInt(run._id.slice(0, 8), 16)).toBe(Math.floor(server.clock.now().getTime() / 1000))
})

test('to the next wait, or nowhere', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [delay(2), delay(30, 'minutes', 'again'), inApp])
  expect(await api.advance({ to: 'next' })).toMatchObject({ now: start, reached: true, moments: 0 })
  await trigger(api)
  expect(await api.advance({ to: 'next' })).toMatchObject({ now: '2026-03-28T21:00:00.000Z', waiting: { count: 1 } })
  expect(await api.advance({ to: 'next' })).toMatchObject({ now: '2026-03-28T21:30:00.000Z', messages: { in_app: 1 } })
  expect(await api.advance({ to: '2026-03-29T02:30[Europe/Berlin]' })).toMatchObject({
    now: '2026-03-29T01:30:00.000Z',
  })
})

test('signed-in people see it behind the others', async () => {
  const api = await heldApi(server, { now: start, seed: 7 })
  const { environments } = (await (await signInAs(server, api, 'viewer')).get('/v1/auth/session')).body
  expect(environments.slice(0, 2)).toMatchObject([{ name: 'Development' }, { name: 'Production' }])
  expect(environments[1]).not.toHaveProperty('clock')
  const clock = { held: true, now: start, seed: 7 }
  expect(environments.find(({ _id }: { _id: string }) => _id === api.environmentId)).toMatchObject({ clock })
})

test('a wait is canceled, ended early and counted at the time it shows', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [delay(5), inApp])
  const first = await trigger(api)
  await api.advance({ by: '1h' })
  expect((await api.delete(`/v1/events/trigger/${first}`)).status).toBe(200)
  const [{ _id }] = (await api.get('/v1/notifications')).body.data
  const [canceled] = (await api.get(`/v1/notifications/${_id}`)).body.jobs
  expect(canceled).toMatchObject({ status: 'canceled', updatedAt: '2026-03-28T20:00:00.000Z' })
  expect(await api.advance({ by: '1d' })).toMatchObject({ moments: 0, waiting: { count: 0, next: null } })
  await trigger(api)
  await api.advance()
  const [{ _id: second }] = (await api.get('/v1/notifications')).body.data
  expect((await api.post(`/v1/notifications/${second}/end-wait`)).status).toBeLessThan(300)
  expect(await api.advance()).toMatchObject({ waiting: { count: 0, next: null } })
  expect((await api.get('/v1/messages')).body.data).toMatchObject([{ createdAt: '2026-03-29T20:00:00.000Z' }])
})

test('retries and circuits go by it, and chance by its seed', async () => {
  const circuits = async () => {
    const { rowCount } = await server.database.pool.query('SELECT FROM held_circuits WHERE open_until IS NOT NULL')
    return rowCount
  }
  interface Health {
    state: string
    failures: number
    retryAt: string
  }
  const shown = ({ state, failures, retryAt }: Health) => ({ state, failures, retryAt })
  const attempts = async (seed: number) => {
    const api = await heldApi(server, { now: start, seed })
    await workflow(api, [email()])
    await api.put('/v1/sandbox/faults', { fault: 'server_error', channel: 'email' })
    await trigger(api, { transactionId: 'same' })
    await trigger(api, { transactionId: 'other' })
    const { attempts: calls } = await api.advance({ by: '40m' })
    const runs = (await api.get('/v1/notifications')).body.data
    const health: Health[] = (await api.get('/v1/integrations/health')).body
    return {
      calls,
      health: health.filter(({ state }) => state !== 'closed').map(shown),
      due: runs.map(({ jobs: [mail] }: { jobs: Array<{ dueAt: string }> }) => mail?.dueAt),
    }
  }
  const first = await attempts(1)
  // Five failures open the circuit, for both messages.
  expect(first.calls).toBeGreaterThan(5)
  expect(await circuits()).toBeGreaterThan(0)
  expect(first.health).toEqual([
    { state: 'open', failures: expect.any(Number), retryAt: expect.stringMatching(/^2026-03-28T/) },
  ])
  expect(await attempts(1)).toEqual(first)
  expect(await attempts(2)).not.toEqual(first)
})

test('what is triggered during an advance is taken at the time the clock shows, and finished before it moves on', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [...Array.from({ length: 15 }, (_, n) => delay(1, 'hours', `wait-${n}`)), inApp])
  await workflow(api, [delay(1, 'minutes'), inApp], 'other')
  await trigger(api)
  const moving = api.advance({ by: '2d' })
  const others: string[] = []
  for (let n = 0; n < 8; n += 1) others.push(await trigger(api, { name: 'other' }))
  await moving
  await api.advance({ by: '1m' })
  const runs = (await api.get('/v1/notifications?limit=50')).body.data
  const own = runs.filter(({ transactionId }: { transactionId: string }) => others.includes(transactionId))
  expect(own).toHaveLength(8)
  for (const { jobs, triggeredAt } of own) expect(Date.parse(jobs[0].updatedAt) - Date.parse(triggeredAt)).toBe(60_000)
})

test('a call that a dead process begins once more, behind its locks, is made again by whoever works there', async () => {
  const api = await heldApi(server, { now: start })
  let asked = 0
  const outside = createServer((_, response) => {
    asked += 1
    // Its statement was on the way when it died.
    const begunAgain =
      asked === 1
        ? server.database.pool.query(
            `UPDATE jobs SET attempts = attempts + 1, cut_off = true WHERE environment_id = $1 AND status = 'running'`,
            [api.environmentId],
          )
        : undefined
    void Promise.resolve(begunAgain).then(() => response.end('{}'))
  })
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
    await workflow(api, [
      { name: 'Ask', stepId: 'ask', type: 'http_request', controlValues: { method: 'POST', url, retry: true } },
      inApp,
    ])
    await trigger(api)
    await api.advance()
    const [{ jobs, status }] = (await api.get('/v1/notifications')).body.data
    expect(jobs.map((job: { status: string }) => job.status)).toEqual(['completed', 'completed'])
    expect([status, asked]).toEqual(['completed', 2])
  } finally {
    outside.close()
  }
})

test('a clock does not move before a request at its time is answered', async () => {
  const api = await heldApi(server, { now: start })
  const acting = await server.database.pool.connect()
  await acting.query('BEGIN')
  await acting.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [`act ${api.environmentId}`])
  const moving = api.advance({ by: '1h' })
  await vi.waitUntil(async () => {
    const { rows } = await server.database.pool.query(
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
    )
    return rows.length > 0
  })
  expect((await api.get('/v1/clock')).body.now).toBe(start)
  await acting.query('COMMIT')
  acting.release()
  expect((await moving).now).toBe('2026-03-28T20:00:00.000Z')
})

test('a simulation begins at the time it shows, and neither it nor an impact waits until the clock has moved', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [delay(1), email()])
  await trigger(api)
  await api.advance()
  const { name, active, origin, preferences, steps } = (await api.get('/v2/workflows/news')).body
  const moving = await server.database.pool.connect()
  try {
    await moving.query('BEGIN')
    await moving.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`act ${api.environmentId}`])
    const scenario = { workflow: { workflowId: 'news' }, inputs: [{ type: 'trigger', at: '+0s', to: ada }] }
    const simulated = await api.post('/v1/simulations', scenario)
    expect(simulated.body).toMatchObject({ startAt: start, endAt: '2026-03-28T20:00:00.000Z' })
    const draft = {
      ...{ name, active, origin, preferences: { user: preferences.user } },
      steps: steps.map((step: { stepId: string; controlValues: object }) =>
        step.stepId === 'mail' ? { ...step, controlValues: { ...step.controlValues, subject: 'Other' } } : step,
      ),
    }
    const change = await api.post('/v2/workflows/news/impact', { draft })
    expect(change.status, change.text).toBe(200)
    expect(change.body).toMatchObject({ waiting: { runs: 1 }, replay: { triggers: 1, kinds: { content: 1 } } })
    const published = await server.wideApi.post(`/v2/environments/${api.environmentId}/impact`, {
      ...{ sourceEnvironmentId: server.api.environmentId, triggers: 0 },
    })
    expect(published.status, published.text).toBe(200)
  } finally {
    await moving.query('ROLLBACK')
    moving.release()
  }
})

test('a second advance meanwhile is refused, and a process that died leaves none', async () => {
  const api = await heldApi(server, { now: start })
  const other = await server.database.pool.connect()
  const to = '2026-04-01T00:00:00.000Z'
  await other.query('UPDATE environments SET clock_target = $2 WHERE id = $1', [api.environmentId, to])
  expect((await api.get('/v1/clock')).body.advancingTo).toBeNull()
  await other.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`advance ${api.environmentId}`])
  expect((await api.get('/v1/clock')).body.advancingTo).toBe(to)
  for (const second of [
    await api.post('/v1/clock/advance', { by: '0s' }),
    await api.put('/v1/clock', { now: start }),
  ]) {
    expect(second).toMatchObject({ status: 409, body: { code: 'clock_moving', to } })
    expect(second.headers.get('retry-after')).toBe('1')
  }
  // Its locks end once PostgreSQL notices that it is gone.
  other.release(true)
  await vi.waitUntil(async () => (await api.get('/v1/clock')).body.advancingTo === null, { timeout: 20_000 })
  expect(await api.advance({ to })).toMatchObject({ reached: true, now: to })
})

test('however many clocks are moved at once, what is due elsewhere is done, and all of them get there', async () => {
  const moved = await Promise.all(Array.from({ length: 12 }, () => heldApi(server, { now: start })))
  const other = await heldApi(server, { now: start })
  await workflow(other, [inApp])
  const acting = await server.database.pool.connect()
  await acting.query('BEGIN')
  for (const { environmentId } of moved)
    await acting.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [`act ${environmentId}`])
  const advances = moved.map((api) => api.advance({ by: '1h' }))
  await vi.waitUntil(async () => {
    const { rows } = await server.database.pool.query(
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
    )
    return rows.length >= 8
  })
  await trigger(other)
  await server.drain()
  expect((await other.get('/v1/messages')).body.data).toHaveLength(1)
  await acting.query('COMMIT')
  acting.release()
  for (const told of await Promise.all(advances)) expect(told).toMatchObject({ reached: true })
})

test('deleting the environment ends an advance', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [...Array.from({ length: 15 }, (_, n) => delay(1, 'hours', `wait-${n}`)), inApp])
  await trigger(api)
  const moving = api.post('/v1/clock/advance', { by: '30d' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect((await server.wideApi.delete(`/v1/environments/${api.environmentId}`)).status).toBe(200)
  expect([200, 401]).toContain((await moving).status)
  const late = await api.post('/v1/events/trigger', { name: 'news', to: ada })
  expect(late).toMatchObject({ status: 401 })
})

const chain = (count: number) => Array.from({ length: count }, (_, n) => delay(1, 'hours', `wait-${n}`))

test('a caller who hangs up ends the advance; the clock stays where it came to, and the next one goes on', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [...chain(15), inApp])
  for (let n = 0; n < 12; n += 1) {
    await trigger(api)
    await api.advance({ by: '1m' })
  }
  const gone = new AbortController()
  const to = '2026-04-28T19:00:00.000Z'
  const moving = fetch(`${server.url}/v1/clock/advance`, {
    ...{ method: 'POST', body: JSON.stringify({ to }), signal: gone.signal },
    headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
  }).catch((error: unknown) => (error as Error).name)
  const shown = async () => (await api.get('/v1/clock')).body
  await vi.waitUntil(async () => (await shown()).advancingTo === to, { interval: 1 })
  gone.abort()
  expect(await moving).toBe('AbortError')
  await vi.waitUntil(async () => (await shown()).advancingTo === null)
  const { now, waiting } = await shown()
  expect(now < to).toBe(true)
  expect(waiting.count).toBeGreaterThan(0)
  expect(await api.advance({ to })).toMatchObject({ from: now, now: to, reached: true })
  expect((await api.get('/v1/messages?limit=50')).body.data).toHaveLength(12)
})

test('a call works for a minute: then it says how far it came, and the same `to` goes on', async () => {
  const api = await heldApi(server, { now: start })
  await workflow(api, [...chain(15), inApp])
  for (let n = 0; n < 3; n += 1) {
    await trigger(api)
    await api.advance({ by: '1m' })
  }
  const real = performance.now.bind(performance)
  let passed = 0
  const watch = vi.spyOn(performance, 'now').mockImplementation(() => real() + passed)
  const to = '2026-04-28T19:00:00.000Z'
  const moving = api.advance({ to })
  await vi.waitUntil(async () => (await api.get('/v1/clock')).body.advancingTo === to, { interval: 1 })
  passed = 61_000
  const first = await moving
  watch.mockRestore()
  expect(first).toMatchObject({ reached: false, waiting: { count: 3 } })
  expect(first.now < to).toBe(true)
  const rest = await api.advance({ to })
  expect(rest).toMatchObject({ from: first.now, now: to, reached: true, messages: { in_app: 3 } })
  expect(first.waitsEnded + rest.waitsEnded).toBe(45)
})

test('it tells of the first thousand steps, and that there were more', async () => {
  const api = await heldApi(server, { now: start })
  const inboxes = Array.from({ length: 10 }, (_, n) => ({ ...inApp, stepId: `inbox-${n}` }))
  await workflow(api, [delay(1), ...inboxes])
  await trigger(api, { to: Array.from({ length: 100 }, (_, n) => `person-${n}`) })
  const told = await api.advance({ by: '2h' })
  expect(told).toMatchObject({ hasMore: true, waitsEnded: 100, runsEnded: 100, messages: { in_app: 1_000 } })
  expect(told.events).toHaveLength(1_000)
})
