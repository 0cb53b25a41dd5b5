// A fleet whose PostgreSQL is killed under load: every worker goes on, and callers who repeat a trigger get through.
import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbedded } from '../src/db/install/embedded.ts'
import { type Here, startHere } from './here.ts'
import { databasePid } from './program.ts'
import { Api, secretKey } from './server.ts'

vi.setConfig({ testTimeout: 120_000 })

const workerCount = 3
/** A process has one for deliveries and one for everything else. */
const workersOfProcess = 2
/** Of the one for everything else (main.ts). */
const jobsAtOnce = 10
const key = 'the-key-of-development'
let dataDir: string
let postgres: EmbeddedPostgres
const fleet: Here[] = []
let api: Api

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'belfry-fleet-'))
  chmodSync(dataDir, 0o755)
  postgres = await startEmbedded({ dataDir, password: 'test', say: () => undefined, settings: { fsync: 'off' } })
  const settings = {
    ...{ DATABASE_URL: postgres.url, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: key },
    ...{ BELFRY_DATABASE_CONNECTIONS: '8', BELFRY_CANARY: 'false' },
  }
  // One after the other: the first migrates.
  for (const role of ['api', ...Array<string>(workerCount).fill('worker')])
    fleet.push(await startHere({ ...settings, BELFRY_ROLE: role }))
  api = new Api(fleet[0]?.url ?? '', key, '', '')
  const step = { name: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } }
  const made = await api.post('/v2/workflows', { name: 'hello', workflowId: 'hello', active: true, steps: [step] })
  if (made.status !== 201) throw new Error(made.text)
})

afterAll(async () => {
  for (const each of fleet.splice(0)) await each.stop()
  await postgres?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function onDatabase<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: postgres.url })
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

/** How many workers hold a job, of more jobs than all but one of them could take. */
async function busyWorkers(): Promise<number> {
  return onDatabase(async (client) => {
    // Until those under the names from before the outage are found dead.
    const listed = async () => (await client.query('SELECT FROM workers')).rowCount
    await vi.waitUntil(async () => (await listed()) === workerCount * workersOfProcess, {
      timeout: 30_000,
      interval: 50,
    })
    await client.query('BEGIN')
    await client.query('LOCK TABLE tenants IN ACCESS EXCLUSIVE MODE')
    await onDatabase((other) =>
      other.query(
        `SELECT graphile_worker.add_job('purge_environment', '{"environmentId": "000000000000000000000000"}')
         FROM generate_series(1, $1::int)`,
        [workerCount * jobsAtOnce],
      ),
    )
    const busy = async () => {
      const { rows } = await client.query<{ count: number }>(
        "SELECT count(DISTINCT locked_by)::int AS count FROM graphile_worker.jobs JOIN workers ON pool_id = locked_by WHERE task_identifier = 'purge_environment'",
      )
      return rows[0]?.count ?? 0
    }
    await vi
      .waitUntil(async () => (await busy()) >= workerCount, { timeout: 30_000, interval: 50 })
      .catch(() => undefined)
    const found = await busy()
    await client.query('COMMIT')
    return found
  })
}

/** A caller that repeats what was not answered with success. @returns the answers before that */
async function persist(subscriberId: string): Promise<number[]> {
  const idempotencyKey = randomUUID()
  const refused: number[] = []
  for (;;) {
    const headers = { 'idempotency-key': idempotencyKey }
    const status = await api.post('/v1/events/trigger', { name: 'hello', to: subscriberId }, headers).then(
      (answer) => answer.status,
      () => 0,
    )
    if (status === 201) return refused
    refused.push(status)
    await sleep(100)
  }
}

test('after PostgreSQL was killed under load, every worker goes on, and every repeated trigger counts once', async () => {
  expect(await busyWorkers()).toBe(workerCount)

  const callers: Array<Promise<number[]>> = []
  let isOver = false
  const load = (async () => {
    while (!isOver) {
      callers.push(persist(`person-${callers.length}`))
      await sleep(5)
    }
  })()
  await vi.waitUntil(() => callers.length > 50, { timeout: 30_000 })
  const killed = databasePid(dataDir) as number
  process.kill(killed, 'SIGKILL')
  await vi.waitUntil(() => ![undefined, killed].includes(databasePid(dataDir)), { timeout: 30_000 })
  await vi.waitUntil(async () => (await api.get('/health/ready')).status === 200, { timeout: 30_000 })
  isOver = true
  await load

  const refused = (await Promise.all(callers)).flat()
  expect(refused.length).toBeGreaterThan(0)
  expect(await busyWorkers()).toBe(workerCount)
  const messages = () =>
    onDatabase(async (client) => (await client.query('SELECT count(*)::int AS count FROM messages')).rows[0].count)
  await vi.waitUntil(async () => (await messages()) >= callers.length, { timeout: 30_000, interval: 100 })
  await vi.waitUntil(
    () =>
      onDatabase(
        async (client) =>
          (await client.query('SELECT FROM graphile_worker.jobs WHERE attempts < max_attempts LIMIT 1')).rowCount === 0,
      ),
    { timeout: 30_000, interval: 100 },
  )
  expect(await messages()).toBe(callers.length)
})
