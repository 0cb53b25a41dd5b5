// New jobs are told of after their commit, and found without being told.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { inApp, makeWorkflow, messagesOf, trigger } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'
import { Bell } from './bell.ts'

const server = useServer({ role: 'api' })

async function listening() {
  const client = await server.database.pool.connect()
  const heard: string[] = []
  client.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await client.query('LISTEN "jobs:insert"')
  const leave = async () => {
    // Whatever was committed before is delivered before this answer.
    await client.query('UNLISTEN *')
    client.removeAllListeners('notification')
    client.release()
  }
  return { heard, leave }
}

test("the queue's library adds jobs as it did when `queue_job` was written", async () => {
  const { db } = server.database
  const { rows: functions } = await sql<{ name: string; source: string }>`
    SELECT proname AS name, prosrc AS source FROM pg_proc
    WHERE pronamespace = 'graphile_worker'::regnamespace AND proname IN ('add_job', 'add_jobs') ORDER BY 1`.execute(db)
  const { rows: columns } = await sql<{ name: string }>`
    SELECT column_name || ' ' || data_type || coalesce(' ' || column_default, '') AS name
    FROM information_schema.columns WHERE table_schema = 'graphile_worker' AND table_name = '_private_jobs'
    ORDER BY ordinal_position`.execute(db)
  const seen = JSON.stringify([functions, columns])
  // If this fails after an update of graphile-worker: read its sql/*.sql, adapt `queue_job` by a migration, then this hash.
  expect(createHash('sha256').update(seen).digest('hex').slice(0, 16)).toBe('4600328597a4d12e')
})

test('a job of ours is the same as one of the library', async () => {
  const { pool } = server.database
  const added = async (call: string) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SELECT ${call}`)
      const { rows } = await client.query<{ id: string }>(
        `SELECT (to_jsonb(j) - '{id,created_at,updated_at,task_id}'::text[]) AS job,
                (SELECT identifier FROM graphile_worker._private_tasks t WHERE t.id = j.task_id) AS task
         FROM graphile_worker._private_jobs j WHERE created_at = now() ORDER BY j.id`,
      )
      return rows.map((row) => JSON.stringify(row).replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+/g, 'time'))
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
  }
  for (const [ours, theirs] of [
    [`queue_job('new task', '{"a":1}')`, `graphile_worker.add_job('new task', '{"a":1}', max_attempts := 1000)`],
    [
      `queue_job('wake', '{}', 3::smallint, now() + interval '1 day', 'wake 7'), queue_job('wake', '{}', job_key := 'wake 7')`,
      `graphile_worker.add_job('wake', '{}', priority := 3, run_at := now() + interval '1 day', job_key := 'wake 7', max_attempts := 1000),
       graphile_worker.add_job('wake', '{}', job_key := 'wake 7', max_attempts := 1000)`,
    ],
  ] as const)
    expect(await added(ours)).toEqual(await added(theirs))
})

test('a key whose job has begun gets a new job', async () => {
  const { pool } = server.database
  await pool.query("SELECT queue_job('wake', '{}', due_at := now() + interval '1 day', job_key := 'wake 8')")
  await pool.query("UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'x' WHERE key = 'wake 8'")
  await pool.query("SELECT queue_job('wake', '{}', due_at := now() + interval '1 day', job_key := 'wake 8')")
  const { rows } = await pool.query(
    `SELECT key, locked_by, attempts = max_attempts AS is_last FROM graphile_worker._private_jobs
     WHERE key = 'wake 8' OR locked_by = 'x' ORDER BY id`,
  )
  expect(rows).toEqual([
    { key: null, locked_by: 'x', is_last: true },
    { key: 'wake 8', locked_by: null, is_last: false },
  ])
  await pool.query("DELETE FROM graphile_worker._private_jobs WHERE key = 'wake 8' OR locked_by = 'x'")
})

test('many commits ring once', async () => {
  const bell = new Bell(server.database.pool)
  const { heard, leave } = await listening()
  for (let count = 0; count < 5; count += 1) bell.ring('start_runs', 2)
  await expect.poll(() => heard).toEqual([expect.stringMatching(/"count":10\b/)])
  await leave()
})

test('nobody is told where all workers are of this process', async () => {
  const { pool } = server.database
  const bell = new Bell(pool)
  bell.join('own', ['wake'], () => undefined)
  await pool.query("INSERT INTO workers VALUES ('own')")
  const { heard, leave } = await listening()
  const told = vi.spyOn(pool, 'query')
  bell.ring('wake', 1)
  await expect.poll(() => told.mock.calls.length).toBe(1)
  await told.mock.results[0]?.value
  told.mockRestore()
  expect(heard).toEqual([])
  await pool.query("INSERT INTO workers VALUES ('of another process')")
  bell.ring('wake', 2)
  await expect.poll(() => heard).toEqual([expect.stringMatching(/"count":2\b/)])
  await pool.query("DELETE FROM workers WHERE pool_id IN ('own', 'of another process')")
  await leave()
})

test('accepting a trigger notifies nobody within its commit, and a worker that hears nothing finds the job', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [inApp()])
  const ring = vi.spyOn(Bell.prototype, 'ring').mockImplementation(() => undefined)
  try {
    const { heard, leave } = await listening()
    await trigger(api, 'news', 'ada')
    await leave()
    expect(heard).toEqual([])
    expect(ring.mock.calls).toEqual([['start_runs', 1]])
    await server.startAnother({ role: 'worker' })
    await trigger(api, 'news', 'ada')
    await expect.poll(() => messagesOf(api, ''), { timeout: 20_000 }).toHaveLength(2)
  } finally {
    ring.mockRestore()
  }
})

test('a worker of the same process hears of its tasks without the database', () => {
  const heard: number[] = []
  const bell = new Bell(server.database.pool)
  const leave = bell.join('own', ['wake'], (count) => heard.push(count))
  bell.ring('wake', 2)
  bell.ring('deliver', 1)
  expect(heard).toEqual([2])
  leave()
  bell.ring('wake', 1)
  expect(heard).toEqual([2])
  bell.silence()
})
