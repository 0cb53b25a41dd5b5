// A ledger written in the transactions that call `belfry.trigger` equals the runs, each once, while clients, Belfry and PostgreSQL are
// killed at random moments.
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type EmbeddedPostgres, startEmbedded } from '../src/db/install/embedded.ts'
import { asRole } from './database-role.ts'
import { freePort } from './free-port.ts'
import { type Run, usePrograms } from './program.ts'
import { Api, secretKey } from './server.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 })

const programs = usePrograms({ until: 'after all' })
const clientFile = fileURLToPath(new URL('outbox-client.mjs', import.meta.url))
const rounds = Number(process.env.ROUNDS ?? 9)
const clients = new Map<string, ChildProcess>()
let dataDir: string
let postgres: EmbeddedPostgres
let services: Run[]
let settings: Record<string, string>

beforeAll(async () => {
  dataDir = programs.folder()
  const server = { max_prepared_transactions: '100', max_connections: '200' }
  // Kept on disk as in production: what is committed survives the kill. It is started again by itself.
  postgres = await startEmbedded({ dataDir, password: 'test', settings: server, say: () => undefined })
  settings = {
    ...{ DATABASE_URL: postgres.url, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: 'the-key-of-development' },
    ...{ BELFRY_CANARY: 'false', BELFRY_LOG: 'silent' },
  }
  services = [await startService()]
  services.push(await startService())
})

afterAll(async () => {
  for (const child of clients.values()) child.kill('SIGKILL')
  for (const service of services) service.signal('SIGKILL')
  await postgres.stop()
})

const startService = async (): Promise<Run> => programs.start({ ...settings, PORT: String(await freePort()) }).ready()

function startClient(name: string): void {
  clients.set(name, spawn(process.execPath, [clientFile, asRole(postgres.url, 'app'), name], { stdio: 'ignore' }))
}

async function query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: postgres.url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}

const numberOf = async (text: string): Promise<number> => Number((await query<{ n: string }>(text))[0]?.n)

const clientsConnected = () => numberOf("SELECT count(*) AS n FROM pg_stat_activity WHERE usename = 'app'")

const faults: Array<() => Promise<void>> = [
  async function killClient() {
    for (const [name, child] of [...clients].slice(0, 2)) {
      child.kill('SIGKILL')
      startClient(name)
    }
  },
  async function killService() {
    const [service] = services.splice(0, 1)
    service?.signal('SIGKILL')
    await service?.ended
    // The other one has all the work for a while. Until the next is there nothing else dies, and what is called then meets no fault:
    // the clients die, too, and come back with it.
    await sleep(500)
    for (const child of clients.values()) child.kill('SIGKILL')
    services.push(await startService())
    for (const name of [...clients.keys()]) startClient(name)
    await vi.waitUntil(async () => (await clientsConnected()) === clients.size, { timeout: 30_000, interval: 100 })
  },
  async function killPostgres() {
    const pid = Number(readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(
      () =>
        query('SELECT 1').then(
          () => true,
          () => false,
        ),
      { timeout: 60_000, interval: 100 },
    )
  },
]

test('the ledger equals the runs, each once', async () => {
  const api = new Api(services[0]?.url ?? '', 'the-key-of-development', '', '')
  const steps = [{ name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: '{{payload.key}}' } }]
  const made = await api.post('/v2/workflows', { name: 'ledger', workflowId: 'ledger', active: true, steps })
  expect(made, made.text).toMatchObject({ status: 201 })
  await query(`
    CREATE ROLE app LOGIN PASSWORD 'app';
    CREATE TABLE ledger (key text PRIMARY KEY, transaction_id text);
    GRANT ALL ON ledger TO app;
    SELECT belfry.allow('app', 'Development')`)
  for (const name of ['a', 'b', 'c', 'd']) startClient(name)
  for (let round = 0; round < rounds; round += 1) {
    await sleep(300 + Math.random() * 700)
    await faults[round % faults.length]?.()
  }
  await sleep(500)
  for (const child of clients.values()) child.kill('SIGKILL')
  await vi.waitUntil(async () => (await clientsConnected()) === 0, { timeout: 30_000, interval: 100 })
  // Those whose client died between the two phases.
  const left = await query<{ gid: string }>('SELECT gid FROM pg_prepared_xacts')
  for (const [index, { gid }] of left.entries())
    await query(`${index % 2 === 0 ? 'COMMIT' : 'ROLLBACK'} PREPARED '${gid}'`)
  await vi.waitUntil(
    async () =>
      (await numberOf(
        `SELECT (SELECT count(*) FROM belfry.outbox) + (SELECT count(*) FROM events WHERE started_at IS NULL) AS n`,
      )) === 0,
    { timeout: 60_000, interval: 200 },
  )
  expect(await query('SELECT code FROM belfry.refused')).toEqual([])
  const [ledger = 0, events = 0, runs = 0, messages = 0] = await Promise.all(
    ['ledger', 'events', 'notifications', 'messages'].map((table) => numberOf(`SELECT count(*) AS n FROM ${table}`)),
  )
  expect(ledger).toBeGreaterThan(50)
  expect({ events, runs, messages }).toEqual({ events: ledger, runs: ledger, messages: ledger })
  expect(
    await query(`
      SELECT l.key, m.content FROM ledger l FULL JOIN messages m ON m.content = l.key AND m.subscriber_id = l.key
      WHERE l.key IS NULL OR m.content IS NULL`),
  ).toEqual([])
  expect(
    await query(`
      SELECT l.key FROM ledger l JOIN messages m ON m.content = l.key
      WHERE l.transaction_id IS NOT NULL AND m.transaction_id <> l.transaction_id`),
  ).toEqual([])
})
