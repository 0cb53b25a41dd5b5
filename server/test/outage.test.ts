// A database outage: callers are told to retry, and the service recovers once the database is back.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/db/install/embedded.ts'
import { type Service, startService } from '../src/main.ts'
import { Api, secretKey } from './server.ts'

let dataDir: string
let postgres: EmbeddedPostgres
let service: Service
let api: Api

vi.setConfig({ testTimeout: 60_000 })

const startPostgres = () =>
  startEmbedded({ dataDir, password: 'test', say: () => undefined, settings: { fsync: 'off' } })

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'belfry-outage-'))
  chmodSync(dataDir, 0o755)
  postgres = await startPostgres()
  service = await startService(readConfig({ PORT: '0' }).config, {
    databaseUrl: postgres.url,
    secretKey,
    clock: { now: () => new Date() },
    log: pino({ level: 'silent' }),
  })
  const development = service.created?.[0]
  api = new Api(service.url, development?.apiKey ?? '', development?.id ?? '', '')
})

afterAll(async () => {
  await service?.stop()
  await postgres?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('requests get 503 until the database is back, then are served again', async () => {
  expect(await api.post('/v2/subscribers', { subscriberId: 'ada' })).toMatchObject({ status: 201 })
  await postgres.stop()

  const refusal = await api.get('/v2/subscribers/ada')
  expect(refusal).toMatchObject({
    status: 503,
    body: {
      statusCode: 503,
      path: '/v2/subscribers/ada',
      code: 'unavailable',
      message: 'The database cannot be reached at the moment. Please retry.',
    },
  })
  expect(refusal.headers.get('retry-after')).toBe('1')
  expect(await api.post('/v2/subscribers', { subscriberId: 'bob' })).toMatchObject({ status: 503 })

  expect(await api.get('/health/live')).toMatchObject({ status: 200 })
  expect(await api.get('/health/ready')).toMatchObject({
    status: 503,
    body: { status: 'unavailable', checks: { database: { ok: false } } },
  })
  const figures = await api.get('/metrics')
  expect(figures.status).toBe(200)
  expect(figures.text).toContain('belfry_database_up 0')
  expect(figures.text).toContain('belfry_queue_jobs_due Nan')

  postgres = await startPostgres()
  await vi.waitUntil(async () => (await api.get('/health/ready')).status === 200, { timeout: 20_000 })
  expect(await api.get('/v2/subscribers/ada')).toMatchObject({ status: 200, body: { subscriberId: 'ada' } })
  expect(await api.get('/v2/subscribers/bob')).toMatchObject({ status: 404 })
  expect((await api.get('/metrics')).text).toContain('belfry_database_up 1')
})

test('a service without its database can still be stopped', async () => {
  await postgres.stop()
  await service.stop()
})
