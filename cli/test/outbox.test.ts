// Calls of the SQL functions in a database of the application's own, carried out by the tool and by the service.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { drainOther } from '../../server/src/engine/outbox/other-database.ts'
import { call, useRoles } from '../../server/test/database-role.ts'
import { withDatabase } from '../../server/test/global-setup.ts'
import { inApp, makeWorkflow, messagesOf } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { useCommand } from './command.ts'

const server = useServer()
const command = useCommand()
const name = `t_${randomBytes(6).toString('hex')}`
let url: string
let owner: pg.Client
let app: pg.Client
let api: Api
let folder: string
// After the roles are gone, which hooks in the other order do.
afterAll(() => administer(`DROP DATABASE ${name} WITH (FORCE)`))
const roles = useRoles(() => url)

const administer = async (text: string) => {
  const admin = new pg.Client({ connectionString: inject('databaseUrl') })
  await admin.connect()
  await admin.query(text)
  await admin.end()
}

beforeAll(async () => {
  await administer(`CREATE DATABASE ${name}`)
  url = withDatabase(inject('databaseUrl'), name)
  owner = await roles.owner()
  folder = command.newFolder()
  api = server.api
  await makeWorkflow(api, 'order', [inApp('Order {{payload.id}}')])
})

const belfry = (...args: string[]) => command.run(folder, { url: server.url, key: api.key }, 'outbox', ...args)
const statusOf = async (id: string) => (await app.query('SELECT belfry.status($1) AS status', [id])).rows[0].status
const contents = async () => (await messagesOf(api, '')).map(({ content }) => content).sort()
const waiting = async () => (await owner.query('SELECT FROM belfry.outbox')).rowCount

test('install makes the functions, twice if asked to, and not where the service has its own', async () => {
  expect(await belfry('drain', '--database', url, '--once')).toMatchObject({ code: 4 })
  await owner.query(`
    CREATE SCHEMA older;
    CREATE FUNCTION older.current_setting(name text) RETURNS text LANGUAGE sql AS
      $$SELECT CASE name WHEN 'server_version_num' THEN '130016' ELSE pg_catalog.current_setting(name) END$$`)
  await owner.query(`ALTER DATABASE ${name} SET search_path = older, pg_catalog, public`)
  expect(await belfry('install', '--database', url)).toMatchObject({
    ...{ code: 4, stderr: expect.stringContaining('PostgreSQL 14 or newer') },
  })
  await owner.query(`ALTER DATABASE ${name} RESET search_path; DROP SCHEMA older CASCADE`)
  expect(await belfry('install', '--database', url, '--json')).toMatchObject({
    code: 0,
    json: { version: 1, before: null },
  })
  expect(await belfry('install', '--database', url, '--json')).toMatchObject({
    code: 0,
    json: { version: 1, before: 1 },
  })
  expect(await belfry('install', '--database', server.database.url)).toMatchObject({
    ...{ code: 4, stderr: expect.stringContaining('service itself') },
  })
  const role = await roles.newRole()
  await owner.query('SELECT belfry.allow($1, $2)', [role, 'Development'])
  app = await roles.as(role)
})

test.each([
  [['install'], 2, 'Which database?'],
  [['drain', '--database', 'mysql://x'], 2, 'postgres://'],
  [['dance'], 2, 'install, drain, refused, retry'],
  [['refused', 'x'], 2, 'takes no ids'],
  [['install', '--database', 'postgres://nobody:secret@127.0.0.1:1/none'], 5, 'cannot be used'],
])('%j is wrong, and says why', async (args, code, message) => {
  const ended = await belfry(...args)
  expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) })
  expect(ended.stderr).not.toContain('secret')
})

test('drain carries out what was committed, once, and tells what was refused', async () => {
  await app.query('BEGIN')
  await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "ada", "firstName": "Ada"}')`)
  await call(app, 'order', 'ada', { id: 1 }, { transactionId: 'one' })
  await call(app, 'order', 'ada', { id: 'again' }, { transactionId: 'one' })
  await call(app, 'missing', 'ada', {}, { transactionId: 'two' })
  await call(app, 'order', { subscriberId: 'ada', email: 'no address' }, {}, { transactionId: 'three' })
  await app.query("SELECT belfry.cancel('one')")
  await app.query('COMMIT')
  await app.query('BEGIN')
  await call(app, 'order', 'ada', { id: 'never' })
  await app.query('ROLLBACK')
  expect(await statusOf('one')).toBe('waiting')
  expect(await belfry('drain', '--database', url, '--once', '--json')).toMatchObject({
    ...{ code: 0, json: { accepted: 4, refused: 2 } },
  })
  await server.drain()
  expect(await contents()).toEqual(['Order 1'])
  expect((await api.get('/v2/subscribers/ada')).body.firstName).toBe('Ada')
  expect([await statusOf('one'), await statusOf('two')]).toEqual(['accepted', 'refused'])
  const { json } = await belfry('refused', '--database', url, '--json')
  expect(
    json.map(({ transactionId, code }: { transactionId: string; code: string }) => [transactionId, code]).sort(),
  ).toEqual([
    ['three', 'validation'],
    ['two', 'workflow_not_found'],
  ])
  const { id } = json.find(({ code }: { code: string }) => code === 'workflow_not_found')
  await makeWorkflow(api, 'missing', [inApp('found')])
  expect((await belfry('retry', id, '--database', url, '--json')).json).toEqual({ retried: 1 })
  expect((await belfry('drain', '--database', url, '--once', '--json')).json).toEqual({ accepted: 1, refused: 0 })
  await server.drain()
  expect(await contents()).toEqual(['Order 1', 'found'])
})

test('the commands of docs/sql.md work', async () => {
  const page = readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/^belfry outbox (\w+) --database \S+$/gm)].map(([, action = '']) => action)
  expect(commands).toEqual(['install', 'drain'])
  await call(app, 'order', 'ada', { id: 'as documented' })
  // It would go on otherwise.
  for (const action of commands)
    expect((await belfry(action, '--database', url, ...(action === 'drain' ? ['--once'] : []))).code).toBe(0)
  await server.drain()
  expect(await contents()).toContain('Order as documented')
})

test('a strict call is not possible there', async () => {
  await expect(call(app, 'order', 'ada', {}, { strict: true })).rejects.toMatchObject({
    code: '0A000',
    hint: expect.any(String),
  })
})

test('calls for another environment wait for another drain', async () => {
  await owner.query("SELECT belfry.allow(a.role, 'Elsewhere') FROM belfry.allowed a")
  await call(app, 'order', 'ada', { id: 'elsewhere' }, { environment: 'Elsewhere' })
  expect((await belfry('drain', '--database', url, '--once', '--json')).json).toEqual({ accepted: 0, refused: 0 })
  expect(await waiting()).toBe(1)
  await owner.query("DELETE FROM belfry.outbox; SELECT belfry.forbid(a.role, 'Elsewhere') FROM belfry.allowed a")
})

test('a drain that dies before its commit repeats, and the transaction id makes it one', async () => {
  const pool = new pg.Pool({ connectionString: url })
  await call(app, 'order', 'bob', { id: 'b' }, { transactionId: 'dies' })
  const dies = drainOther({
    ...{ pool, environments: ['Development'], now: () => new Date() },
    async accept(rows) {
      for (const { body, transaction_id } of rows)
        await api.post('/v1/events/trigger', { ...body, transactionId: transaction_id })
      throw new Error('killed')
    },
  })
  await expect(dies).rejects.toThrow('killed')
  await pool.end()
  expect(await waiting()).toBe(1)
  expect((await belfry('drain', '--database', url, '--once', '--json')).json).toEqual({ accepted: 1, refused: 0 })
  await server.drain()
  expect((await contents()).filter((content) => content === 'Order b')).toHaveLength(1)
})

test('a call that is older than 29 days is refused', async () => {
  await call(app, 'order', 'ada', { id: 'old' }, { transactionId: 'old' })
  await owner.query("UPDATE belfry.outbox SET created_at = created_at - interval '29 days'")
  expect((await belfry('drain', '--database', url, '--once', '--json')).json).toEqual({ accepted: 0, refused: 1 })
  const { json } = await belfry('refused', '--database', url, '--json')
  expect(json).toContainEqual(expect.objectContaining({ transactionId: 'old', code: 'too_old' }))
})

test('where ids are forgotten sooner, older calls are refused sooner', async () => {
  const pool = new pg.Pool({ connectionString: url })
  const accepted: Array<string | null> = []
  const drain = (dedupDays: number) =>
    drainOther({
      ...{ pool, environments: ['Development'], now: () => new Date(), dedupDays },
      async accept(rows) {
        accepted.push(...rows.map(({ transaction_id }) => transaction_id))
        return new Map()
      },
    })
  try {
    for (const [dedupDays, hours, isTaken] of [
      ...[[1, 11, true] as const, [1, 12, false] as const, [7, 143, true] as const, [7, 144, false] as const],
      ...[[90, 695, true] as const, [90, 696, false] as const],
    ]) {
      const transactionId = `aged-${dedupDays}-${hours}`
      await call(app, 'order', 'ada', {}, { transactionId })
      await owner.query(`UPDATE belfry.outbox SET created_at = created_at - interval '${hours} hours'`)
      expect(await drain(dedupDays)).toBe(1)
      expect(accepted.includes(transactionId), transactionId).toBe(isTaken)
    }
  } finally {
    await pool.end()
  }
  const { rows } = await owner.query("SELECT message FROM belfry.refused WHERE transaction_id = 'aged-1-12'")
  expect(rows).toEqual([{ message: 'The call is older than 12 hours; it may have been carried out already' }])
})

test('the tool asks the service how long it remembers ids', async () => {
  const other = createServer((request, response) => {
    const send = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === '/v2/outbox/settings') return settings === undefined ? send(404, {}) : send(200, settings)
    if (request.url?.startsWith('/v1/environments/me'))
      return send(200, { data: { name: 'Development', identifier: 'dev', _id: 'dev' } })
    return send(201, [{ status: 'processed' }])
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  let settings: object | undefined
  const drain = async (hours: number) => {
    await call(app, 'order', 'ada', {}, {})
    await owner.query(`UPDATE belfry.outbox SET created_at = created_at - interval '${hours} hours'`)
    const place = { url: `http://127.0.0.1:${port}`, key: 'any' }
    return (await command.run(folder, place, 'outbox', 'drain', '--database', url, '--once', '--json')).json
  }
  try {
    settings = { dedupDays: 1 }
    expect(await drain(11)).toEqual({ accepted: 1, refused: 0 })
    expect(await drain(12)).toEqual({ accepted: 0, refused: 1 })
    settings = { dedupDays: 90 }
    expect(await drain(695)).toEqual({ accepted: 1, refused: 0 })
    expect(await drain(696)).toEqual({ accepted: 0, refused: 1 })
    // One of an earlier version does not say.
    settings = undefined
    expect(await drain(695)).toEqual({ accepted: 1, refused: 0 })
    expect(await drain(696)).toEqual({ accepted: 0, refused: 1 })
  } finally {
    other.closeAllConnections()
    await new Promise((resolve) => other.close(resolve))
  }
  expect((await api.get('/v2/outbox/settings')).body).toMatchObject({ dedupDays: 30 })
})

test('drain without --once goes on until it is told to end: what is committed meanwhile is carried out', async () => {
  const others = new Set(process.listeners('SIGTERM'))
  const running = belfry('drain', '--database', url, '--json')
  const handlers = () => process.listeners('SIGTERM').filter((handler) => !others.has(handler))
  await vi.waitUntil(() => handlers().length === 1, { timeout: 20_000, interval: 20 })
  for (const id of ['first', 'second']) {
    await call(app, 'order', 'dan', { id }, { transactionId: `kept-${id}` })
    await vi.waitUntil(async () => (await statusOf(`kept-${id}`)) === 'accepted', { timeout: 20_000, interval: 50 })
  }
  await call(app, 'none', 'dan', {}, { transactionId: 'kept-refused' })
  await vi.waitUntil(async () => (await statusOf('kept-refused')) === 'refused', { timeout: 20_000, interval: 50 })
  // As the signal does, but for this command only.
  for (const handler of handlers()) handler('SIGTERM')
  const ended = await running
  expect(ended).toMatchObject({ code: 0, json: { accepted: 2, refused: 1 } })
  expect(ended.stderr).toContain('1 trigger accepted')
  expect(ended.stderr).toContain('0 trigger accepted, 1 refused')
  await call(app, 'order', 'dan', { id: 'after' }, { transactionId: 'kept-after' })
  await server.drain()
  expect(await contents()).toEqual(expect.arrayContaining(['Order first', 'Order second']))
  expect([await statusOf('kept-after'), await waiting()]).toEqual(['waiting', 1])
  await belfry('drain', '--database', url, '--once')
})

test('what was refused or accepted more than 30 days ago is forgotten, and nothing younger', async () => {
  const remembered = async () => {
    const { rows } = await owner.query(`
      SELECT transaction_id AS id FROM belfry.refused WHERE transaction_id LIKE 'age-%'
      UNION ALL SELECT transaction_id FROM belfry.accepted WHERE transaction_id LIKE 'age-%' ORDER BY 1`)
    return rows.map(({ id }) => id)
  }
  for (const days of [29, 31]) {
    await call(app, 'order', 'ada', { id: days }, { transactionId: `age-${days}-accepted` })
    await call(app, 'none', 'ada', {}, { transactionId: `age-${days}-refused` })
  }
  await belfry('drain', '--database', url, '--once')
  expect(await remembered()).toHaveLength(4)
  for (const [table, time] of Object.entries({ refused: 'refused_at', accepted: 'accepted_at' }))
    for (const days of [29, 31])
      await owner.query(
        `UPDATE belfry.${table} SET ${time} = now() - make_interval(days => $1) WHERE transaction_id = $2`,
        [...[days, `age-${days}-${table}`]],
      )
  await belfry('drain', '--database', url, '--once')
  expect(await remembered()).toEqual(['age-29-accepted', 'age-29-refused'])
  expect(await statusOf('age-31-accepted')).toBe('unknown')
})

test('any number of drains at once carry out each call once', async () => {
  const before = (await contents()).length
  for (let n = 0; n < 60; n += 1) await call(app, 'order', 'ada', { id: `many-${n}` }, { transactionId: `many-${n}` })
  const pools = [1, 2, 3].map(() => new pg.Pool({ connectionString: url }))
  const sent: string[] = []
  await Promise.all(
    pools.map(async (pool) => {
      const place = { pool, environments: ['Development'], now: () => new Date() }
      const accept = async (rows: Array<{ transaction_id: string | null }>) => {
        sent.push(...rows.map(({ transaction_id }) => transaction_id ?? ''))
        return new Map<string, never>()
      }
      while ((await drainOther({ ...place, accept })) > 0);
    }),
  )
  await Promise.all(pools.map((pool) => pool.end()))
  expect(sent).toHaveLength(60)
  expect(new Set(sent).size).toBe(60)
  expect(await contents()).toHaveLength(before)
})

describe('the service itself', () => {
  test('empties the outboxes that BELFRY_OUTBOX_URLS names, for the environment behind the #', async () => {
    const worker = await server.startAnother({ role: 'worker', outboxes: [{ url, environment: 'Development' }] })
    await app.query('BEGIN')
    await app.query(`SELECT belfry.upsert_subscriber('{"subscriberId": "cid", "firstName": "Cid"}')`)
    await call(app, 'order', 'cid', { id: 'c' }, { transactionId: 'by-service' })
    await call(app, 'nowhere', 'cid', {}, { transactionId: 'refused-by-service' })
    await app.query("SELECT belfry.cancel('by-service')")
    await app.query('COMMIT')
    await vi.waitUntil(async () => (await waiting()) === 0, { timeout: 20_000, interval: 100 })
    await vi.waitUntil(async () => (await contents()).includes('Order c'), { timeout: 20_000, interval: 100 })
    expect([await statusOf('by-service'), await statusOf('refused-by-service')]).toEqual(['accepted', 'refused'])
    expect((await api.get('/v2/subscribers/cid')).body.firstName).toBe('Cid')
    await worker.stop()
  })
})

test('without a database, refused calls are those of the service', async () => {
  const role = await roles.newRole()
  await server.database.pool.query('SELECT belfry.allow($1, $2)', [role, api.environmentId])
  const client = await roles.connect(server.database.url.replace(/\/\/[^@]*@/, `//${role}:${role}@`))
  await call(client, 'unknown', 'ada', {}, { transactionId: 'shared' })
  await server.drain()
  expect((await belfry('refused', '--json')).json).toMatchObject([
    { transactionId: 'shared', code: 'workflow_not_found' },
  ])
  expect((await belfry('refused')).stdout).toContain('workflow_not_found')
  expect((await belfry('retry', '--json')).json).toEqual({ retried: 1 })
  await server.drain()
  expect((await belfry('refused', '--json')).json).toHaveLength(1)
})
