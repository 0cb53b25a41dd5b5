// The promise of DATABASE_URL: the program joins an external PostgreSQL, alone or as one of many.
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeEach, expect, inject, test, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import { StartError } from '../src/errors.ts'
import { startService } from '../src/main.ts'
import { freePort } from './free-port.ts'
import { withDatabase } from './global-setup.ts'
import { ask, type Run, usePrograms } from './program.ts'
import { dropTestDatabase, secretKey } from './server.ts'

const programs = usePrograms()
const databases: string[] = []
let databaseUrl: string

vi.setConfig({ testTimeout: 120_000 })

function newName(): string {
  const name = `t_${randomBytes(6).toString('hex')}`
  databases.push(name)
  return name
}

beforeEach(async () => {
  const name = newName()
  await query(inject('databaseUrl'), `CREATE DATABASE ${name}`)
  databaseUrl = withDatabase(inject('databaseUrl'), name)
})

afterAll(async () => {
  for (const name of databases) await dropTestDatabase(name)
})

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function start(env: Record<string, string> = {}): Promise<Run> {
  return programs.start({
    PORT: String(await freePort()),
    DATABASE_URL: databaseUrl,
    BELFRY_SECRET_KEY: secretKey,
    // No balancer has to find out first.
    BELFRY_DRAIN_SECONDS: '0',
    ...env,
  })
}

const status = async (url: string) => (await fetch(url)).status

test('of two processes that start at once on an empty database, one sets it up, and every role shares it', async () => {
  const [whole, api] = await Promise.all([start({ BELFRY_CANARY: 'false' }), start({ BELFRY_ROLE: 'api' })])
  await Promise.all([whole.ready(), api.ready()])
  expect([whole.keys.length, api.keys.length].sort()).toEqual([0, 2])
  expect(await query(databaseUrl, 'SELECT count(*)::int FROM organizations')).toEqual([{ count: 1 }])
  expect(await query(databaseUrl, 'SELECT count(*)::int FROM environments')).toEqual([{ count: 2 }])
  const migrated = [whole, api].filter((run) => run.output.includes('database migrated'))
  expect(migrated).toHaveLength(1)

  const [key = ''] = [...whole.keys, ...api.keys]
  const isCanaryKnown = async () =>
    (await query(databaseUrl, "SELECT FROM graphile_worker._private_known_crontabs WHERE identifier = 'canary'")).length
  const rounds = 'SELECT FROM graphile_worker._private_known_crontabs'
  await expect.poll(async () => (await query(databaseUrl, rounds)).length, { timeout: 60_000 }).toBeGreaterThan(0)
  expect(await isCanaryKnown()).toBe(0)
  const worker = await (await start({ BELFRY_ROLE: 'worker' })).ready()
  await expect.poll(isCanaryKnown, { timeout: 60_000 }).toBe(1)
  expect(worker.keys).toEqual([])

  expect((await ask(`${api.url}/v2/subscribers`, key, { subscriberId: 'ada' })).status).toBe(201)
  expect((await ask(`${whole.url}/v2/subscribers/ada`, key)).status).toBe(200)

  expect(await status(`${worker.url}/health/live`)).toBe(200)
  expect(await status(`${worker.url}/health/ready`)).toBe(200)
  expect(await status(`${worker.url}/metrics`)).toBe(200)
  for (const place of ['/v2/subscribers/ada', '/docs', '/openapi.json'])
    expect(await ask(worker.url + place, key)).toMatchObject({ status: 404, body: { message: `Cannot GET ${place}` } })
  expect(worker.output).not.toContain('API reference')

  const ends = await Promise.all([whole.stop(), api.stop(), worker.stop()])
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0])
})

const unusable: Array<[problem: string, url: () => string, reason: string]> = [
  ['nobody listens there', () => 'postgres://u:hush-hush@127.0.0.1:1/belfry', 'ECONNREFUSED'],
  ['the host does not exist', () => 'postgres://u:hush-hush@nowhere.invalid/belfry', 'nowhere.invalid'],
  ['the database does not exist', () => withDatabase(databaseUrl, 'nothing'), 'database "nothing" does not exist'],
  ['the password is wrong', () => wrongPassword(), 'password authentication failed'],
]
const wrongPassword = () => databaseUrl.replace(':test@', ':hush-hush@')

test.each(unusable)(
  '%s: the service does not start, and says why without the password',
  async (_problem, url, reason) => {
    const { config } = readConfig({ PORT: '0', BELFRY_LOG: 'silent' })
    const surroundings = {
      databaseUrl: url(),
      secretKey,
      clock: { now: () => new Date() },
      log: pino({ level: 'silent' }),
    }
    const error: unknown = await startService(config, surroundings).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StartError)
    const { message, cause } = error as StartError
    expect(message).toBe('The database cannot be used; is DATABASE_URL right?')
    expect(`${(cause as NodeJS.ErrnoException).message} ${(cause as NodeJS.ErrnoException).code}`).toContain(reason)
    expect(inspect(error)).not.toContain('hush-hush')
  },
)

test('the program prints one clear message for a database it cannot use', async () => {
  const { code, output } = await (await start({ DATABASE_URL: wrongPassword() })).ended
  expect(code).toBe(1)
  expect(output).toContain(
    'The database cannot be used; is DATABASE_URL right?\nReason: password authentication failed',
  )
  expect(output).not.toMatch(/hush-hush| {4}at /)
})
