import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { Alarm } from './alarm.ts'
import { type Pace, Presence } from './presence.ts'
import { startWorker } from './worker.ts'

const server = useServer()
const patiently = { timeout: 20_000, interval: 5 }
const fast: Pace = { lookMs: 10, graceMs: 200 }
const never: Pace = { lookMs: 10, graceMs: 3_600_000 }
const ends: Array<() => unknown> = []
const lines: string[] = []
const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  lines.length = 0
  await sql`DELETE FROM graphile_worker._private_jobs`.execute(server.database.db)
  await sql`DELETE FROM workers`.execute(server.database.db)
})

const newPoolId = () => `pool-${randomBytes(9).toString('hex')}`

async function enter(pace: Pace, poolId = newPoolId()): Promise<{ presence: Presence; poolId: string }> {
  const presence = new Presence({ url: server.database.url, log, pace })
  presence.enter(poolId)
  ends.push(() => presence.leave())
  await presence.untilShown()
  return { presence, poolId }
}

/** A job locked by the pool. */
async function addLockedJob(poolId: string): Promise<void> {
  const id = await addJob('some_task')
  await sql`
    UPDATE graphile_worker._private_jobs SET locked_by = ${poolId}, locked_at = now() WHERE id = ${id}`.execute(
    server.database.db,
  )
}

async function addJob(task: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM graphile_worker.add_job(${task})`.execute(
    server.database.db,
  )
  return rows[0]?.id ?? ''
}

/** What a killed worker leaves behind. */
async function addDead(): Promise<string> {
  const poolId = newPoolId()
  await server.database.db.insertInto('workers').values({ pool_id: poolId }).execute()
  await addLockedJob(poolId)
  return poolId
}

async function holders(): Promise<Array<string | null>> {
  const { rows } = await sql<{ locked_by: string | null }>`
    SELECT locked_by FROM graphile_worker.jobs ORDER BY id`.execute(server.database.db)
  return rows.map((row) => row.locked_by)
}

async function listed(): Promise<string[]> {
  const rows = await server.database.db.selectFrom('workers').select('pool_id').execute()
  return rows.map((row) => row.pool_id)
}

/** The server process that holds the pool's lock; undefined if none does. */
async function lockHolder(poolId: string): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`
    SELECT pid FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock'
      AND (classid::bigint << 32 | objid::bigint) = hashtextextended(${poolId}, 0)`.execute(server.database.db)
  return rows[0]?.pid
}

async function breakConnection(pid: number | undefined): Promise<void> {
  await sql`SELECT pg_terminate_backend(${pid})`.execute(server.database.db)
}

test('the jobs of a dead worker are released, once, and no others', async () => {
  const [one, two] = [await enter(fast), await enter(fast)]
  await addLockedJob(one.poolId)
  await addLockedJob(two.poolId)
  // Run by hand, as from a script; it holds no lock.
  await addLockedJob('otpool-1')
  await addDead()
  await expect.poll(holders, patiently).toEqual([one.poolId, two.poolId, 'otpool-1', null])
  await expect.poll(listed, patiently).not.toContain(await addDead())
  expect((await listed()).sort()).toEqual([one.poolId, two.poolId].sort())
  expect(await holders()).toEqual([one.poolId, two.poolId, 'otpool-1', null, null])
})

test('a worker that leaves is no longer listed and holds nothing', async () => {
  const { presence, poolId } = await enter(never)
  await addLockedJob(poolId)
  await presence.leave()
  expect(await listed()).toEqual([])
  expect(await holders()).toEqual([null])
  // The database releases the lock once it notices the closed connection.
  await vi.waitFor(async () => expect(await lockHolder(poolId)).toBeUndefined(), patiently)
})

test('a worker whose connection breaks takes its lock again before others take it for dead', async () => {
  const { poolId } = await enter(never)
  await enter({ lookMs: 10, graceMs: 1_500 })
  await addLockedJob(poolId)
  for (let round = 0; round < 2; round += 1) {
    const before = await lockHolder(poolId)
    await breakConnection(before)
    await vi.waitFor(async () => {
      const after = await lockHolder(poolId)
      expect(after).toBeDefined()
      expect(after).not.toBe(before)
    }, patiently)
  }
  // A whole grace period later it still holds its job.
  const dead = await addDead()
  await expect.poll(listed, patiently).not.toContain(dead)
  expect(await holders()).toEqual([poolId, null])
  expect(lines.join()).not.toContain('taken for dead')
})

test('a worker that did not hear that it was listed finds out', async () => {
  const poolId = 'otpool-unheard'
  // As if the answer had been lost with the connection.
  await server.database.db.insertInto('workers').values({ pool_id: poolId }).execute()
  const told: string[] = []
  const presence = new Presence({ url: server.database.url, log, pace: never, onListed: (each) => told.push(each) })
  presence.enter(poolId)
  await expect.poll(() => told, patiently).toEqual([expect.stringMatching(/^\d+ otpool-unheard$/)])
  await breakConnection(await lockHolder(poolId))
  await presence.leave()
  expect(told).toHaveLength(1)
})

test('a live worker that was taken for dead is listed again, and says so', async () => {
  const { poolId } = await enter(never)
  await addLockedJob(poolId)
  const peer = await enter(fast)
  const usurper = await waitInLineFor(poolId)
  await breakConnection(await lockHolder(poolId))
  await usurper.hasLock
  // What a peer does after the grace period.
  await server.database.db.deleteFrom('workers').where('pool_id', '=', poolId).execute()
  await usurper.end()
  await expect.poll(listed, patiently).toEqual(expect.arrayContaining([poolId, peer.poolId]))
  await expect.poll(() => lines.join(), patiently).toContain('taken for dead')
})

test('a worker takes no job while its lock is lost', async () => {
  const done: string[] = []
  const worker = await startWorker({
    ...server.database,
    alarm: new Alarm(server.database.pool),
    tasks: { note: async (_payload, { job }) => void done.push(job.id) },
    schedule: [],
    concurrency: 2,
    log,
    pace: never,
  })
  ends.push(() => worker.stop())
  await addJob('note')
  await expect.poll(() => done, patiently).toHaveLength(1)
  const [poolId = ''] = await listed()

  const usurper = await waitInLineFor(poolId)
  await breakConnection(await lockHolder(poolId))
  await usurper.hasLock
  await vi.waitFor(async () => expect(await waitersFor(poolId)).toBe(1), patiently)
  await addJob('note')
  await sql`NOTIFY "jobs:insert"`.execute(server.database.db)
  expect(await holders()).toEqual([null])
  expect(done).toHaveLength(1)
  await usurper.end()
  await expect.poll(() => done, patiently).toHaveLength(2)
})

test('a worker can be stopped while its lock is lost', async () => {
  const alarm = new Alarm(server.database.pool)
  const worker = await startWorker({
    ...{ ...server.database, alarm, tasks: {}, schedule: [], concurrency: 2, log, pace: never },
  })
  await expect.poll(listed, patiently).toHaveLength(1)
  const [poolId = ''] = await listed()
  const usurper = await waitInLineFor(poolId)
  await breakConnection(await lockHolder(poolId))
  await usurper.hasLock
  await vi.waitFor(async () => expect(await waitersFor(poolId)).toBe(1), patiently)
  const stopped = worker.stop()
  await usurper.end()
  await stopped
  expect(await listed()).toEqual([])
})

async function waitersFor(poolId: string): Promise<number> {
  const { rows } = await sql`
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND NOT granted
      AND (classid::bigint << 32 | objid::bigint) = hashtextextended(${poolId}, 0)`.execute(server.database.db)
  return rows.length
}

/** Grabs the pool's lock the moment it is lost, and keeps it from its owner. */
async function waitInLineFor(poolId: string): Promise<{ hasLock: Promise<unknown>; end(): Promise<void> }> {
  const client = new pg.Client({ connectionString: server.database.url })
  await client.connect()
  const hasLock = client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [poolId])
  await vi.waitFor(async () => expect(await waitersFor(poolId)).toBe(1), patiently)
  return { hasLock, end: () => client.end() }
}
