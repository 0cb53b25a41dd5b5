import { type JobHelpers, Logger, runOnce } from 'graphile-worker'
import { sql } from 'kysely'
import { afterEach, describe, expect, test } from 'vitest'
import { useServer } from '../../test/server.ts'
import { newId } from '../db/ids.ts'
import { chores, queueEnvironmentPurge } from './chores.ts'

const server = useServer()
const moreThanTwoBatches = 10_001

afterEach(() => sql`DELETE FROM graphile_worker._private_jobs`.execute(server.database.db))

const tasks = () => chores({ db: server.database.db, clock: server.clock })

/** Runs what is due and returns. */
async function runDueJobs(): Promise<void> {
  const logger = new Logger(() => () => undefined)
  await runOnce({ pgPool: server.database.pool, noHandleSignals: true, taskList: tasks(), logger })
}

async function addJob(task: string, payload: object = {}): Promise<void> {
  await sql`SELECT graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::json)`.execute(server.database.db)
}

async function waitingJobs() {
  const { rows } = await sql<{ task: string; last_error: string | null; is_due: boolean }>`
    SELECT task_identifier AS task, last_error, run_at <= now() AS is_due
    FROM graphile_worker.jobs ORDER BY run_at, id`.execute(server.database.db)
  return rows
}

describe('idempotency keys', () => {
  async function remember(name: string, expiresAt: Date, count = 1): Promise<void> {
    await sql`
      INSERT INTO idempotency_keys (environment_id, request_hash, body_hash, holder, expires_at)
      SELECT ${server.api.environmentId}, ${name} || i, '', '', ${expiresAt} FROM generate_series(1, ${count}::int) i`.execute(
      server.database.db,
    )
  }
  const remembered = async () =>
    (await server.database.db.selectFrom('idempotency_keys').select('request_hash').execute()).map(
      (row) => row.request_hash,
    )
  const inAnHour = () => new Date(server.clock.now().getTime() + 3_600_000)

  test('those past their time are removed, however many, and no other', async () => {
    await remember('old', server.clock.now(), moreThanTwoBatches)
    await remember('new', inAnHour())
    await addJob('purge_idempotency_keys')
    await runDueJobs()
    expect(await remembered()).toEqual(['new1'])
    expect(await waitingJobs()).toEqual([])

    server.clock.advance({ hours: 1 })
    await addJob('purge_idempotency_keys')
    await runDueJobs()
    expect(await remembered()).toEqual([])
  })

  test('one that a request is just taking again stays', async () => {
    await remember('old', server.clock.now(), 3)
    await addJob('purge_idempotency_keys')
    await server.database.db.transaction().execute(async (tx) => {
      await tx
        .updateTable('idempotency_keys')
        .set({ expires_at: inAnHour() })
        .where('request_hash', '=', 'old2')
        .execute()
      await runDueJobs()
    })
    expect(await remembered()).toEqual(['old2'])
  })

  test('a worker that stops is not kept waiting', async () => {
    server.clock.advance({ hours: 2 })
    await remember('old', server.clock.now())
    const helpers = { abortSignal: AbortSignal.abort() } as JobHelpers
    await expect(tasks().purge_idempotency_keys?.({}, helpers)).rejects.toThrow('aborted')
    expect(await remembered()).toContain('old1')
  })
})

describe('deleted environments', () => {
  /** How many rows each table holds of an environment; tables without any are left out. */
  async function rowsOf(environmentId: string): Promise<Record<string, number>> {
    const { rows: tables } = await sql<{ table_name: string }>`
      SELECT table_name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'environment_id'`.execute(server.database.db)
    const found: Record<string, number> = {}
    for (const { table_name: table } of tables) {
      const { rows } = await sql<{ count: number }>`
        SELECT count(*)::int AS count FROM ${sql.table(table)} WHERE environment_id = ${environmentId}`.execute(
        server.database.db,
      )
      if (rows[0]?.count) found[table] = rows[0].count
    }
    return found
  }

  async function createFilled(name: string): Promise<string> {
    const created = await server.api.post('/v1/environments', { name, color: '#000' })
    const { _id: id, apiKeys } = created.body
    const headers = { authorization: `ApiKey ${apiKeys[0].key}`, 'idempotency-key': 'once' }
    await server.api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' }, headers)
    await server.api.post('/v2/contexts', { type: 'tenant', id: 'acme' }, headers)
    await sql`
      INSERT INTO subscribers (environment_id, id, subscriber_id, created_at, updated_at)
      SELECT ${id}, i, i, now(), now() FROM generate_series(1, ${moreThanTwoBatches}::int) i`.execute(
      server.database.db,
    )
    return id
  }

  test('all they held is removed, however much, and nothing of others', async () => {
    await sql`
      CREATE TABLE partitioned (environment_id text, part int) PARTITION BY LIST (part);
      CREATE TABLE partitioned_1 PARTITION OF partitioned FOR VALUES IN (1);
      CREATE TABLE partitioned_2 PARTITION OF partitioned FOR VALUES IN (2);`.execute(server.database.db)
    const [gone, kept] = [await createFilled('gone'), await createFilled('kept')]
    await sql`
      INSERT INTO partitioned SELECT id, part FROM unnest(${[gone, kept]}::text[]) id, generate_series(1, 2) part`.execute(
      server.database.db,
    )
    const before = await rowsOf(kept)
    expect(await rowsOf(gone)).toEqual(before)
    expect(before).toMatchObject({
      api_keys: 1,
      contexts: 1,
      idempotency_keys: 2,
      integrations: 1,
      partitioned: 2,
      subscribers: moreThanTwoBatches,
      tenants: 1,
    })

    expect((await server.api.delete(`/v1/environments/${gone}`)).status).toBe(200)
    expect(await waitingJobs()).toMatchObject([
      { task: 'purge_environment', is_due: true },
      { task: 'purge_environment', is_due: false },
    ])
    await runDueJobs()
    expect(await rowsOf(gone)).toEqual({})
    expect(await rowsOf(kept)).toEqual(before)

    // Written by a request that was under way.
    await sql`INSERT INTO partitioned VALUES (${gone}, 1)`.execute(server.database.db)
    await sql`UPDATE graphile_worker._private_jobs SET run_at = now()`.execute(server.database.db)
    await runDueJobs()
    expect(await rowsOf(gone)).toEqual({})
    expect(await waitingJobs()).toEqual([])
  })

  test('an environment that exists is never purged', async () => {
    const api = await server.freshApi()
    await addJob('purge_environment', { environmentId: api.environmentId })
    await runDueJobs()
    expect(await waitingJobs()).toMatchObject([
      { last_error: `Environment ${api.environmentId} exists; only a deleted one is purged.` },
    ])
    expect(await rowsOf(api.environmentId)).toMatchObject({ api_keys: 1, integrations: 1 })
  })

  test('a deletion that fails queues nothing', async () => {
    const failed = server.database.db.transaction().execute(async (tx) => {
      await queueEnvironmentPurge(tx, newId(server.clock.now()))
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await waitingJobs()).toEqual([])
  })
})
