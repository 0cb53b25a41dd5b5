// A full disk: what cannot be stored is refused, and the service recovers once there is space.
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { type EmbeddedPostgres, startEmbedded } from '../src/db/install/embedded.ts'
import { type Service, startService } from '../src/main.ts'
import { makeWorkflow } from './runs.ts'
import { Api, secretKey } from './server.ts'
import { SmallDisk } from './small-disk.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const folder = mkdtempSync(path.join(tmpdir(), 'belfry-disk-'))
const disk = SmallDisk.mount(folder, 256)
const why = disk ? '' : ' (skipped: mounting a disk needs root)'
let postgres: EmbeddedPostgres
let service: Service
let api: Api

beforeAll(async () => {
  if (!disk) return
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const settings = { fsync: 'off', wal_recycle: 'off', min_wal_size: '32MB', max_wal_size: '32MB' }
  postgres = await startEmbedded({ dataDir, password: 'test', say: () => undefined, settings })
  service = await startService(readConfig({ PORT: '0', BELFRY_CANARY: 'false' }).config, {
    databaseUrl: postgres.url,
    secretKey,
    clock: { now: () => new Date() },
    log: pino({ level: 'silent' }),
  })
  const [development] = service.created ?? []
  api = new Api(service.url, development?.apiKey ?? '', development?.id ?? '', '')
})

afterAll(async () => {
  await service?.stop()
  await postgres?.stop()
  disk?.unmount()
  rmdirSync(folder)
})

let sent = 0
const accepted: string[] = []

/** A trigger that needs new space. */
async function trigger() {
  const transactionId = `transaction-${sent++}`
  const payload = { text: 'x'.repeat(100_000), number: Math.random() }
  const answer = await api.post('/v1/events/trigger', { name: 'large', to: 'ada', transactionId, payload })
  if (answer.status === 201) accepted.push(transactionId)
  return answer
}

test.skipIf(!disk)(`triggers get 503 while the disk is full, and 201 afterwards${why}`, async () => {
  await makeWorkflow(api, 'large', [{ type: 'in_app', controlValues: { body: '{{payload.number}}' } }])
  expect(await trigger()).toMatchObject({ status: 201 })

  disk?.fill()
  const refused = await vi.waitUntil(
    async () => {
      const answer = await trigger()
      return answer.status === 201 ? undefined : answer
    },
    { timeout: 60_000, interval: 0 },
  )
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await trigger()).status).toBe(503)
  expect((await api.get('/health/live')).status).toBe(200)

  disk?.free()
  await vi.waitUntil(async () => (await trigger()).status === 201, { timeout: 60_000 })

  // Accepted triggers are stored, refused ones are not.
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  const ids = async (table: string) =>
    (await client.query(`SELECT transaction_id FROM ${table} ORDER BY created_at, id`)).rows.map(
      ({ transaction_id }) => transaction_id,
    )
  expect(await ids('events')).toEqual(accepted)
  await vi.waitUntil(async () => (await ids('messages')).length >= accepted.length, { timeout: 60_000 })
  expect(await ids('messages')).toEqual(accepted)
  await client.end()
})

test.skipIf(!disk)(`the same when PostgreSQL stops because it cannot write its WAL${why}`, async () => {
  disk?.fill()
  const client = new pg.Client({ connectionString: postgres.url })
  client.on('error', () => undefined)
  await client.connect()
  const writeLog = async () => {
    for (;;) await client.query("SELECT pg_logical_emit_message(true, 'test', repeat('x', 1000000))")
  }
  await expect(writeLog()).rejects.toThrow()
  await client.end().catch(() => undefined)
  const refused = await trigger()
  expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(refused.headers.get('retry-after')).toBe('1')

  disk?.free()
  await vi.waitUntil(async () => (await trigger()).status === 201, { timeout: 90_000 })
})
