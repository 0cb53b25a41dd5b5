import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { secretKey, useServer } from '../../../test/server.ts'
import { openDatabase } from '../../db/core/database.ts'
import { Secrets } from '../../db/core/secrets.ts'
import { engineSchedule } from '../engine.ts'
import { Alarm } from './alarm.ts'
import { chores } from './chores.ts'
import { startWorker } from './worker.ts'

const server = useServer()
const patiently = { timeout: 20_000, interval: 10 }
const hourMs = 3_600_000

afterEach(() => sql`DELETE FROM graphile_worker._private_jobs`.execute(server.database.db))

/** A worker in this process, and the errors it logs. */
async function startLoggingWorker() {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => lines.push(line) })
  const { database, clock } = server
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: chores({
      ...database,
      clock,
      log,
      secrets: new Secrets(secretKey),
      retention: { activityDays: 0, messageDays: 0 },
      keepVersions: 200,
    }),
    schedule: [],
    concurrency: 3,
    log,
  })
  return { worker, lines }
}

async function addJob(): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM graphile_worker.add_job('purge_idempotency_keys')`.execute(server.database.db)
  return rows[0]?.id ?? ''
}

/** Until the trigger is dropped, no job can be recorded as done. */
async function refuseEnds(): Promise<void> {
  await sql`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON graphile_worker._private_jobs EXECUTE FUNCTION refuse()`.execute(
    server.database.db,
  )
}

async function waitingJobs(): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`SELECT id FROM graphile_worker.jobs ORDER BY id`.execute(
    server.database.db,
  )
  return rows.map((row) => row.id)
}

test('a process with the worker role does what others queue', async () => {
  const process = await server.startAnother({ role: 'worker' })
  const created = await server.wideApi.post('/v1/environments', { name: 'qa', color: '#000' })
  const { _id: id } = created.body
  await server.wideApi.delete(`/v1/environments/${id}`)
  const integrations = () =>
    server.database.db.selectFrom('integrations').select('id').where('environment_id', '=', id).execute()
  await expect.poll(integrations, patiently).toEqual([])
  await process.stop()
})

test('a job runs when it comes due, long before a worker would poll', async () => {
  const { worker } = await startLoggingWorker()
  await sql`SELECT graphile_worker.add_job('purge_idempotency_keys', run_at := now() + interval '1500 ms')`.execute(
    server.database.db,
  )
  await expect.poll(waitingJobs, { timeout: 30_000, interval: 10 }).toEqual([])
  await worker.stop()
})

test('a job that was not announced is found within moments', async () => {
  const { worker } = await startLoggingWorker()
  const { db } = server.database
  // Released by hand, which announces nothing.
  await sql`SELECT graphile_worker.add_job('purge_idempotency_keys', run_at := now() + interval '1 hour')`.execute(db)
  await sql`UPDATE graphile_worker._private_jobs SET run_at = now()`.execute(db)
  await expect.poll(waitingJobs, { timeout: 30_000, interval: 10 }).toEqual([])
  await worker.stop()
})

test('a stopped worker finishes its current job and takes no other', async () => {
  const { worker, lines } = await startLoggingWorker()
  await sql`
    INSERT INTO idempotency_keys (environment_id, request_hash, body_hash, holder, expires_at)
    VALUES (${server.api.environmentId}, 'old', '', '', ${server.clock.now()})`.execute(server.database.db)
  let stopped: Promise<void> | undefined
  await server.database.db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE`.execute(tx)
    await addJob()
    await vi.waitFor(async () => {
      const { rows } = await sql`
        SELECT FROM pg_locks WHERE relation = 'idempotency_keys'::regclass AND NOT granted`.execute(tx)
      expect(rows).toHaveLength(1)
    }, patiently)
    stopped = worker.stop()
  })
  await stopped
  expect(await waitingJobs()).toEqual([])
  const later = await addJob()
  expect(await server.database.db.selectFrom('idempotency_keys').select('holder').execute()).toEqual([])
  expect(lines).toEqual([])
  expect(await waitingJobs()).toEqual([later])
})

test('a worker that could not record the end of a job restarts and repeats it', async () => {
  const { db } = server.database
  await refuseEnds()
  const { worker, lines } = await startLoggingWorker()
  await addJob()
  await expect.poll(() => lines.join(), patiently).toContain('ended by itself')
  await sql`DROP TRIGGER refuse ON graphile_worker._private_jobs`.execute(db)
  await addJob()
  await expect.poll(waitingJobs, patiently).toEqual([])
  await worker.stop()
})

test('a worker that could not record the ends of several jobs in a row restarts too', async () => {
  const { database } = server
  await refuseEnds()
  const lines: string[] = []
  const held: Array<() => void> = []
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: { held: () => new Promise<void>((resolve) => held.push(resolve)) },
    schedule: [],
    concurrency: 5,
    log: pino({ level: 'error' }, { write: (line: string) => lines.push(line) }),
  })
  for (let count = 0; count < 5; count += 1) await sql`SELECT graphile_worker.add_job('held')`.execute(database.db)
  await expect.poll(() => held.length, patiently).toBe(5)
  for (const [place, letGo] of held.splice(0).entries()) {
    letGo()
    const failures = () => lines.filter((line) => line.includes('Failed to complete jobs')).length
    await expect.poll(failures, patiently).toBe(place + 1)
  }
  await sql`DROP TRIGGER refuse ON graphile_worker._private_jobs`.execute(database.db)
  const finished = async () => {
    for (const letGo of held.splice(0)) letGo()
    return waitingJobs()
  }
  await expect.poll(finished, { timeout: 50_000, interval: 20 }).toEqual([])
  await worker.stop()
})

test('a worker can be stopped while it waits to restart', async () => {
  const { db } = server.database
  await refuseEnds()
  const { worker, lines } = await startLoggingWorker()
  await addJob()
  await expect.poll(() => lines.join(), patiently).toContain('ended by itself')
  await worker.stop()
  await sql`DROP TRIGGER refuse ON graphile_worker._private_jobs`.execute(db)
  const later = await addJob()
  await worker.stop()
  expect(await waitingJobs()).toContain(later)
})

test('periodic jobs still run when the clock is set back by hours', async () => {
  let done = 0
  const { database } = server
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: {
      round: async () => {
        done += 1
      },
    },
    schedule: [{ task: 'round', everyMs: 20 }],
    concurrency: 1,
    log: pino({ level: 'silent' }),
  })
  await expect.poll(() => done, patiently).toBeGreaterThan(0)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3 * 3_600_000 })
  const before = done
  await vi.waitUntil(() => done > before + 1, patiently)
  vi.useRealTimers()
  await worker.stop()
})

test('periodic jobs still run after so many failures that the library would wait for hours', async () => {
  const { database } = server
  // As the library leaves it after ten failures in a row.
  await sql`SELECT graphile_worker.add_job('round', run_at := now() + interval '6 hours')`.execute(database.db)
  await sql`UPDATE graphile_worker._private_jobs SET attempts = 10, last_error = 'no'`.execute(database.db)
  let done = 0
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: {
      round: async () => {
        done += 1
      },
    },
    schedule: [{ task: 'round', everyMs: 600_000 }],
    concurrency: 1,
    log: pino({ level: 'silent' }),
  })
  await expect.poll(() => done, patiently).toBe(1)
  await expect.poll(waitingJobs, patiently).toEqual([])
  await worker.stop()
})

test('scheduled jobs run once, however many workers there are', async () => {
  const { database } = server
  const done: string[] = []
  // Due twice since it last ran.
  await sql`
    INSERT INTO graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
    VALUES ('chore', now() - interval '1 hour', date_trunc('minute', now()) - interval '2 minutes')`.execute(
    database.db,
  )
  const options = {
    ...database,
    alarm: new Alarm(database.pool),
    tasks: { chore: (payload: unknown) => void done.push((payload as { _cron: { ts: string } })._cron.ts) },
    schedule: [{ task: 'chore', match: '* * * * *', options: { backfillPeriod: 600_000, maxAttempts: 3 } }],
    concurrency: 1,
    log: pino({ level: 'silent' }),
  }
  const workers = await Promise.all([1, 2, 3].map(() => startWorker(options)))
  await expect.poll(() => done.length, patiently).toBeGreaterThanOrEqual(2)
  await expect.poll(waitingJobs, patiently).toEqual([])
  for (const worker of workers) await worker.stop()
  expect(done).toEqual([...new Set(done)])
})

test('a periodic job is queued only where there is something to do, if its round says how to tell', async () => {
  const { database } = server
  let done = 0
  const when = 'EXISTS (SELECT FROM idempotency_keys)'
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: {
      needed: async () => {
        done += 1
      },
      usual: () => undefined,
    },
    schedule: [
      { task: 'needed', everyMs: 10, when },
      { task: 'usual', everyMs: 10 },
    ],
    concurrency: 1,
    log: pino({ level: 'silent' }),
  })
  const rounds = async () => {
    const { rows } = await sql<{ task: string }>`SELECT task_identifier AS task FROM graphile_worker.jobs`.execute(
      database.db,
    )
    return rows.map(({ task }) => task)
  }
  await expect.poll(rounds, patiently).toContain('usual')
  await expect.poll(rounds, patiently).not.toContain('usual')
  await expect.poll(rounds, patiently).toContain('usual')
  expect(done).toBe(0)
  await sql`
    INSERT INTO idempotency_keys (environment_id, request_hash, body_hash, holder, expires_at)
    VALUES (${server.api.environmentId}, 'some', '', '', ${server.clock.now()})`.execute(database.db)
  await expect.poll(() => done, patiently).toBeGreaterThan(0)
  await worker.stop()
  await sql`DELETE FROM idempotency_keys`.execute(database.db)
})

test.each([
  ['by the clock of the database', 0, -60_000],
  ['by the clock of the process, where that is hours ahead', 3 * hourMs, 2 * hourMs],
])('what is due is found %s', async (_, aheadMs, dueInMs) => {
  const { database } = server
  const now = Date.now()
  await sql`
    INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
    VALUES ('own', 'late', 0, 'step', ${new Date(now + dueInMs)})`.execute(database.db)
  vi.useFakeTimers({ toFake: ['Date'], now: now + aheadMs })
  let found = 0
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: {
      queue_soon: () => {
        found += 1
      },
    },
    schedule: engineSchedule,
    concurrency: 1,
    log: pino({ level: 'silent' }),
  })
  await expect.poll(() => found, patiently).toBe(1)
  vi.useRealTimers()
  await worker.stop()
  await sql`DELETE FROM timers`.execute(database.db)
})

test('a start polls a few times over a few connections, however many jobs may run at a time', async () => {
  const { worker, polls, database } = await startWide()
  await expect.poll(polls, patiently).toBeGreaterThan(0)
  // By then each of a hundred would have polled.
  await sql`SELECT graphile_worker.add_job('idle')`.execute(database.db)
  await expect.poll(waitingJobs, patiently).toEqual([])
  expect(polls()).toBeLessThan(30)
  expect(database.pool.totalCount).toBeLessThan(10)
  await worker.stop()
  await database.close()
})

test('jobs that waited before a start, and those that come while others run, all run at once', async () => {
  for (let count = 0; count < 60; count += 1)
    await sql`SELECT graphile_worker.add_job('held')`.execute(server.database.db)
  const { worker, held, database } = await startWide()
  await expect.poll(() => held.length, patiently).toBe(60)
  await sql`SELECT count(graphile_worker.add_job('held')) FROM generate_series(1, 40)`.execute(database.db)
  await expect.poll(() => held.length, patiently).toBe(100)
  for (const letGo of held) letGo()
  await expect.poll(waitingJobs, patiently).toEqual([])
  await worker.stop()
  await database.close()
})

/** A worker that runs a hundred jobs at a time, and those of them that wait to be let go. */
async function startWide() {
  const database = openDatabase(server.database.url, { connections: 20, onError: () => undefined })
  let polls = 0
  database.pool.on('acquire', () => {
    polls += 1
  })
  const held: Array<() => void> = []
  const worker = await startWorker({
    ...database,
    alarm: new Alarm(database.pool),
    tasks: { idle: () => undefined, held: () => new Promise<void>((resolve) => held.push(resolve)) },
    schedule: [],
    concurrency: 100,
    log: pino({ level: 'silent' }),
  })
  return { worker, held, database, polls: () => polls }
}
