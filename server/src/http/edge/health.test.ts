import { describe, expect, test } from 'vitest'
import { sendTo, useServer } from '../../../test/server.ts'
import { shared } from './health.ts'

const server = useServer()
const open = async (path: string) => {
  const response = await fetch(server.url + path)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

test('hole 11: /metrics asks for the token, if there is one', async () => {
  const { url, stop } = await server.startAnother({ metricsToken: 'only-for-prometheus' })
  const read = (headers: Record<string, string>) => sendTo(`${url}/metrics`, 'GET', undefined, headers)
  for (const headers of [{}, { authorization: 'only-for-prometheus' }, { authorization: 'Bearer only-for-prometheu' }])
    expect(await read(headers as Record<string, string>)).toMatchObject({
      status: 401,
      body: { code: 'metrics_token_needed' },
    })
  expect((await read({ authorization: 'Bearer only-for-prometheus' })).text).toContain('belfry_database_up 1')
  await stop()
})

test('hole 11: many who ask at once cost the database one look', async () => {
  const finish: Array<(n: number) => void> = []
  const look = shared(() => new Promise<number>((resolve) => finish.push(resolve)))
  const answers = Array.from({ length: 50 }, look)
  expect(finish).toHaveLength(1)
  finish[0]?.(1)
  expect(new Set(await Promise.all(answers))).toEqual(new Set([1]))
  const next = look()
  finish[1]?.(2)
  expect(await next).toBe(2)
  const statuses = await Promise.all(Array.from({ length: 50 }, async () => (await open('/health/ready')).status))
  expect(new Set(statuses)).toEqual(new Set([200]))
})

describe('health', () => {
  test('the process is alive and ready', async () => {
    expect(await open('/health/live')).toMatchObject({ status: 200, text: '{"status":"ok"}' })
    const ready = await open('/health/ready')
    expect(ready.status).toBe(200)
    expect(JSON.parse(ready.text)).toEqual({
      status: 'ok',
      checks: { database: { ok: true }, migrations: { ok: true }, queue: { ok: true } },
    })
  })

  test('a queue that has stalled for a minute makes the service not ready; a fresh start gets a minute to catch up', async () => {
    const { pool } = server.database
    await pool.query("SELECT graphile_worker.add_job('nobody_does_this', run_at => now() - interval '61 seconds')")
    expect((await open('/health/ready')).status).toBe(200)
    server.clock.advance({ seconds: 61 })
    const standing = await open('/health/ready')
    expect(standing.status).toBe(503)
    expect(JSON.parse(standing.text).checks.queue).toEqual({
      ok: false,
      detail: expect.stringMatching(/^1 jobs are due, the oldest for \d+ s$/),
    })
    const metrics = (await open('/metrics')).text
    expect(metrics).toMatch(/^belfry_queue_jobs_due 1$/m)
    expect(Number(/^belfry_queue_oldest_due_seconds (.*)$/m.exec(metrics)?.[1])).toBeGreaterThan(60)
    await pool.query('DELETE FROM graphile_worker._private_jobs')
    expect(JSON.parse((await open('/health/ready')).text).checks.queue).toEqual({ ok: true })
  })

  test('a missing migration makes the service not ready', async () => {
    const { pool } = server.database
    await pool.query('ALTER TABLE belfry_migrations RENAME TO belfry_migrations_kept')
    await pool.query('CREATE TABLE belfry_migrations AS SELECT * FROM belfry_migrations_kept OFFSET 1')
    const answer = await open('/health/ready')
    await pool.query('DROP TABLE belfry_migrations; ALTER TABLE belfry_migrations_kept RENAME TO belfry_migrations')
    expect(answer.status).toBe(503)
    expect(JSON.parse(answer.text)).toMatchObject({
      status: 'unavailable',
      checks: { migrations: { ok: false, detail: expect.stringMatching(/^not applied yet: .*\.sql/) } },
    })
  })
})

test('metrics count requests by route pattern, not by path', async () => {
  await server.api.get('/v2/subscribers/one')
  await server.api.get('/v2/subscribers/two')
  await server.api.get('/v1/made/up/path')
  const { status, type, text } = await open('/metrics')
  expect(status).toBe(200)
  expect(type).toMatch(/^text\/plain/)
  expect(text).toContain(
    'belfry_http_request_seconds_count{method="GET",route="/v2/subscribers/:subscriberId",status="404"} 2',
  )
  for (const name of ['belfry_database_up 1', 'belfry_database_connections{state="open"}', 'process_cpu_seconds_total'])
    expect(text).toContain(name)
  expect(text).not.toContain('made/up')
  expect(text).not.toContain('/one')
})

test('processor time counts from the start of the process, not from the first look at it', async () => {
  const { url, stop } = await server.startAnother()
  const { user, system } = process.cpuUsage()
  const text = await (await fetch(`${url}/metrics`)).text()
  const of = (name: string) => Number(new RegExp(`^process_cpu_${name}seconds_total (.*)$`, 'm').exec(text)?.[1])
  expect(of('')).toBeGreaterThanOrEqual((user + system) / 1e6)
  expect(of('user_')).toBeGreaterThanOrEqual(user / 1e6)
  expect(of('system_')).toBeGreaterThanOrEqual(system / 1e6)
  await stop()
})

test('how long a job may wait is a setting', async () => {
  const patient = await server.startAnother({ queuePatienceSeconds: 3600 })
  await server.database.pool.query(
    "SELECT graphile_worker.add_job('nobody_does_this', run_at => now() - interval '30 minutes')",
  )
  server.clock.advance({ hours: 2 })
  expect((await open('/health/ready')).status).toBe(503)
  expect((await fetch(`${patient.url}/health/ready`)).status).toBe(200)
  await server.database.pool.query('DELETE FROM graphile_worker._private_jobs')
  await patient.stop()
})

test('metrics work while all database connections are busy', async () => {
  const { url } = await server.startAnother({ databaseConnections: 2 })
  const figures = async () => (await fetch(`${url}/metrics`)).text()
  const holder = await server.database.pool.connect()
  await holder.query('BEGIN; LOCK TABLE topics IN ACCESS EXCLUSIVE MODE')
  const held = Array.from({ length: 3 }, (_, number) =>
    fetch(`${url}/v2/topics/held-${number}`, { headers: { authorization: `ApiKey ${server.api.key}` } }),
  )
  await expect.poll(figures).toMatch(/^belfry_database_connections{state="waiting"} [1-9]/m)
  expect(await figures()).toContain('belfry_database_up 0')
  await holder.query('COMMIT')
  holder.release()
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([404, 404, 404])
  await expect.poll(figures).toContain('belfry_database_up 1')
})

test('a worker serves health and metrics, and nothing of the API', async () => {
  const worker = await server.startAnother({ role: 'worker' })
  const statusOf = async (path: string) =>
    (await fetch(worker.url + path, { headers: { authorization: `ApiKey ${server.api.key}` } })).status
  expect(await Promise.all(['/health/live', '/health/ready', '/metrics'].map(statusOf))).toEqual([200, 200, 200])
  expect(await Promise.all(['/v2/subscribers', '/docs/', '/openapi.json'].map(statusOf))).toEqual([404, 404, 404])
  await worker.stop()
})

test('a stopping service reports not ready, and keeps serving until load balancers notice', async () => {
  const other = await server.startAnother({ drainSeconds: 1 })
  const drained = other.drain()
  const ready = await fetch(`${other.url}/health/ready`)
  expect(ready.status).toBe(503)
  expect(await ready.json()).toMatchObject({
    status: 'unavailable',
    checks: { database: { ok: true }, stopping: { ok: false, detail: 'it is about to end' } },
  })
  const headers = { authorization: `ApiKey ${server.api.key}` }
  const served = await fetch(`${other.url}/v2/subscribers`, { headers })
  expect(served.status).toBe(200)
  expect(served.headers.get('connection')).toBe('close')
  expect((await fetch(`${other.url}/health/live`)).status).toBe(200)
  await drained
  await other.stop()
  await expect(fetch(`${other.url}/health/live`)).rejects.toThrow()
})
