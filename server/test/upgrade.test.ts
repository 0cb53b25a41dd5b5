// A database filled by an older version: the current program migrates it once, and continues all waiting work.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, expect, inject, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { type Database, openDatabase } from '../src/db/core/database.ts'
import { knownMigrations, migrate, pendingMigrations } from '../src/db/core/migrate.ts'
import { StartError } from '../src/errors.ts'
import { startService } from '../src/main.ts'
import { withDatabase } from './global-setup.ts'
import { contentsOf, inApp, makeWorkflow, trigger } from './runs.ts'
import { Api, secretKey, useServer } from './server.ts'

const server = useServer()
const ends: Array<() => Promise<unknown>> = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** An empty database, dropped after the test. */
async function emptyDatabase(): Promise<Database> {
  const name = `u_${randomBytes(6).toString('hex')}`
  const administer = async (statement: string) => {
    const client = new pg.Client({ connectionString: inject('databaseUrl') })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await administer(`CREATE DATABASE ${name}`)
  ends.push(() => administer(`DROP DATABASE ${name} WITH (FORCE)`))
  const database = openDatabase(withDatabase(inject('databaseUrl'), name), { connections: 4, onError: () => undefined })
  ends.push(() => database.close())
  return database
}

const start = async ({ url }: Database) => {
  const { config } = readConfig({ PORT: '0', BELFRY_LOG: 'silent' })
  const surroundings = { databaseUrl: url, secretKey, clock: server.clock, log: pino({ level: 'silent' }) }
  const service = await startService({ ...config, role: 'api' }, surroundings)
  ends.push(() => service.stop())
  return service
}

const day = { amount: 1, unit: 'days' }
const awaited = { type: 'wait_for_event', stepId: 'paid', controlValues: { for: [{ event: 'paid' }], ...day } }
const asked = {
  ...{ type: 'ask', stepId: 'fine' },
  controlValues: { question: 'Fine?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'], ...day },
}

/** Runs that wait for an event, an answer and a goal. Schemas before those kinds have none. */
async function fillJourneys(api: Api): Promise<void> {
  const goals = [{ name: 'Bought', for: [{ event: 'bought' }] }]
  const branch = {
    ...{ type: 'branch', stepId: 'which' },
    controlValues: {
      arms: [
        {
          ...{ name: 'Asked', condition: { '==': [{ var: 'steps.paid.outcome' }, 'event'] } },
          steps: [{ name: 'Fine', ...asked }],
        },
      ],
    },
  }
  await makeWorkflow(api, 'journey', [awaited, branch, inApp('{{steps.fine.outcome}}')])
  await makeWorkflow(api, 'goal', [{ type: 'delay', controlValues: { type: 'regular', ...day } }, inApp('never')], {
    journey: { goals },
  })
  for (const who of ['eve', 'fay']) await trigger(api, 'journey', who)
  await trigger(api, 'goal', 'gus')
  await server.drain()
  await api.post('/v2/events', { name: 'paid', subscriberId: 'fay' })
  await server.drain()
}

/** An installation in mid-work: created through the API, with waiting runs. */
async function fill(hasJourneys: boolean): Promise<Api> {
  // Older schemas have no keys of organizations.
  await server.database.pool.query('DELETE FROM api_keys WHERE environment_id IS NULL')
  const { development: api } = await server.freshOrganization()
  const wait = { type: 'regular', amount: 3, unit: 'hours' }
  await makeWorkflow(api, 'later', [{ type: 'delay', controlValues: wait }, inApp('{{payload.n}}')])
  await makeWorkflow(api, 'collected', [
    { type: 'digest', controlValues: wait },
    inApp('{{steps.digest-0.eventCount}} collected'),
  ])
  await makeWorkflow(api, 'now', [inApp('at once')])
  for (const n of [1, 2]) {
    await trigger(api, 'later', `ada-${n}`, { payload: { n: `number ${n}` } })
    await trigger(api, 'collected', 'ada', { payload: { n } })
  }
  if (hasJourneys) await fillJourneys(api)
  await trigger(api, 'now', { subscriberId: 'ada', firstName: 'Ada', data: { plan: 'pro' } })
  await server.drain()
  // Accepted, not started.
  await trigger(api, 'now', 'ada')
  return api
}

/** Copies everything into a database with an older schema, without the tables and columns it lacks. */
async function copyInto({ pool }: Database): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('SET session_replication_role = replica')
    const { rows: tables } = await client.query<{ name: string; columns: string }>(`
      SELECT format('%I.%I', n.nspname, c.relname) AS name, string_agg(quote_ident(a.attname), ', ') AS columns
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      WHERE n.nspname IN ('public', 'graphile_worker') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname NOT IN ('belfry_migrations', 'migrations')
      GROUP BY 1`)
    for (const { name, columns } of tables) {
      const { rows } = await server.database.pool.query<{ row: object }>(`SELECT to_jsonb(t) AS row FROM ${name} t`)
      await client.query(`DELETE FROM ${name}`)
      await client.query(
        `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
         SELECT ${columns} FROM jsonb_populate_recordset(NULL::${name}, $1::jsonb)`,
        [JSON.stringify(rows.map(({ row }) => row))],
      )
    }
  } finally {
    client.release(true)
  }
}

// The engine came with 0003; older schemas had no waiting work. The last one is the schema before the current one.
const before = (await knownMigrations()).at(-2) ?? ''
const states = ['0005-deliveries.sql', '0008-people.sql', '0010-dashboard.sql', '0014-inbound-mail.sql', before]

test.each(states)(
  'a database left by %s continues where it was',
  async (last) => {
    const known = await knownMigrations()
    const only = known.slice(0, known.indexOf(last) + 1)
    expect(only.length).toBeLessThan(known.length)
    const api = await fill(last === before)
    const database = await emptyDatabase()
    expect((await migrate(database.pool, { only })).applied).toEqual(only)
    await copyInto(database)

    const service = await start(database)
    expect(await pendingMigrations(database.pool)).toEqual([])
    const there = new Api(service.url, api.key, api.environmentId, api.organizationId)
    expect((await there.get('/v2/subscribers/ada')).body).toMatchObject({ firstName: 'Ada', data: { plan: 'pro' } })
    expect(await contentsOf(there, 'ada')).toEqual(['at once'])
    const run = async () => {
      for (const { payload, identifier } of await queuedIn(database))
        await service.tasks[identifier]?.(payload, { abortSignal: undefined } as never)
      await service.engine.wake()
    }
    await run()
    expect(await contentsOf(there, 'ada')).toEqual(['at once', 'at once'])
    server.clock.advance({ hours: 3 })
    await run()
    expect((await contentsOf(there, 'ada')).sort()).toEqual(['2 collected', 'at once', 'at once'])
    for (const n of [1, 2]) expect(await contentsOf(there, `ada-${n}`)).toEqual([`number ${n}`])
    if (last === before) await expectJourneys(there, run)
    await server.database.pool.query('DELETE FROM graphile_worker._private_jobs')
  },
  120_000,
)

/** Those who waited for an event, an answer and a goal get them. */
async function expectJourneys(there: Api, run: () => Promise<void>): Promise<void> {
  for (const [name, subscriberId] of [
    ['paid', 'eve'],
    ['bought', 'gus'],
  ])
    expect((await there.post('/v2/events', { name, subscriberId })).status).toBe(201)
  await run()
  const { data } = (await there.get('/v2/questions?state=open')).body
  expect(data).toHaveLength(2)
  for (const { id, asked: people } of data) {
    const body = { answer: 'yes', subscriberId: people[0].subscriberId }
    expect((await there.post(`/v2/questions/${id}/answer`, body)).status).toBe(200)
  }
  await run()
  for (const who of ['eve', 'fay']) expect((await contentsOf(there, who)).at(-1)).toBe('answered')
  server.clock.advance({ days: 2 })
  await run()
  expect(await contentsOf(there, 'gus')).toEqual([])
}

/** The queue's jobs, removed from it. */
async function queuedIn({ pool }: Database): Promise<Array<{ identifier: string; payload: unknown }>> {
  const { rows } = await pool.query<{ identifier: string; payload: unknown }>(
    `DELETE FROM graphile_worker._private_jobs j USING graphile_worker._private_tasks t
     WHERE t.id = j.task_id AND t.identifier <> 'wake' RETURNING t.identifier, j.payload`,
  )
  return rows
}

test('of several processes that start at once, one migrates', async () => {
  const database = await emptyDatabase()
  const others = [1, 2, 3].map(() => openDatabase(database.url, { connections: 2, onError: () => undefined }))
  ends.push(async () => void (await Promise.all(others.map((each) => each.close()))))
  const done = await Promise.all(others.map(({ pool }) => migrate(pool)))
  const known = await knownMigrations()
  expect(done.map(({ applied }) => applied.length).sort((a, b) => a - b)).toEqual([0, 0, known.length])
})

test('a program older than its database says so, and does not touch it', async () => {
  const database = await emptyDatabase()
  await migrate(database.pool)
  await database.pool.query(`INSERT INTO belfry_migrations (name) VALUES ('9999-next.sql')`)
  const refusal: unknown = await start(database).catch((error: unknown) => error)
  // Of this kind, the program prints the sentence alone.
  expect(refusal).toBeInstanceOf(StartError)
  expect((refusal as StartError).message).toBe(
    'The database was migrated by a newer Belfry (9999-next.sql). Start that version, or restore a backup.',
  )
  const { rows } = await database.pool.query('SELECT FROM environments')
  expect(rows).toEqual([])
})
