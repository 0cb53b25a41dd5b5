// A killed worker's jobs: another worker, or the next start, continues them.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { describe, expect, type TestContext, test, vi } from 'vitest'
import { freePort } from './free-port.ts'
import { startHere } from './here.ts'
import { type Run, usePrograms } from './program.ts'
import { createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

const programs = usePrograms({ until: 'after all' })

/** A process has one for deliveries and one for everything else. */
const workersOfProcess = 2
/** Of the one for everything but deliveries (main.ts). */
const jobsAtOnce = 10

vi.setConfig({ testTimeout: 240_000 })

/** Busy machines need long. */
const patienceMs = 60_000

/** A database of the test's own, with workers. Its end is the context's, since tests run side by side here. */
async function newScene({ onTestFinished }: TestContext) {
  const name = `t_${randomBytes(6).toString('hex')}`
  const databaseUrl = await createTestDatabase(name)
  const client = new pg.Client({ connectionString: databaseUrl })
  /** Locks a table that a job needs, for the duration of its transaction. */
  const holder = new pg.Client({ connectionString: databaseUrl })
  const ends: Array<() => Promise<unknown>> = []
  onTestFinished(async () => {
    await holder.end()
    for (const end of ends) await end()
    await client.end()
    await dropTestDatabase(name)
  })
  await Promise.all([client.connect(), holder.connect()])
  const settings = { DATABASE_URL: databaseUrl, BELFRY_SECRET_KEY: secretKey, BELFRY_ROLE: 'worker' }

  const count = async (query: string): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${query}`)
    return rows[0]?.count ?? 0
  }
  const until = (query: string, expected: number) =>
    vi.waitUntil(async () => (await count(query)) === expected, { timeout: patienceMs, interval: 50 })

  return {
    client,
    holder,
    count,
    until,

    /** A worker that the test kills. */
    async startMortal(): Promise<Run> {
      return programs.start({ ...settings, PORT: String(await freePort()) }).ready()
    },

    /** A worker that nothing kills. */
    async startWorker() {
      const worker = await startHere(settings)
      ends.push(() => worker.stop())
      return worker
    },

    /** Queues a job that cannot continue and waits until a worker has it. */
    async queueHeldJob(): Promise<void> {
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE tenants IN ACCESS EXCLUSIVE MODE')
      await client.query(`
        SELECT graphile_worker.add_job('purge_environment', '{"environmentId": "000000000000000000000000"}')`)
      await until("pg_locks WHERE relation = 'tenants'::regclass AND NOT granted", 1)
    },

    letGoOn: () => holder.query('COMMIT'),
  }
}

async function kill(run: Run): Promise<void> {
  // Paused first, so that it cannot react.
  run.signal('SIGSTOP')
  run.signal('SIGKILL')
  await run.ended
}

// Each on its own database, and most of their time is grace for the dead: side by side.
describe.concurrent("a killed worker's jobs", () => {
  test('a second worker takes over', async (context) => {
    const { startMortal, startWorker, queueHeldJob, letGoOn, until, count } = await newScene(context)
    const first = await startMortal()
    await queueHeldJob()
    const second = await startWorker()
    await kill(first)
    await letGoOn()
    await until('graphile_worker.jobs', 0)
    await second.says('released the jobs of dead workers')
    // The dead process had two workers; they may be found dead at different looks.
    await until('workers', workersOfProcess)
    await second.stop()
    expect(await count('workers')).toBe(0)
  })

  test('the next start takes over', async (context) => {
    const { startMortal, startWorker, queueHeldJob, letGoOn, until } = await newScene(context)
    const first = await startMortal()
    await queueHeldJob()
    await kill(first)
    await letGoOn()
    await startWorker()
    await until('graphile_worker.jobs', 0)
  })

  test('a living worker keeps its job, even if its connection breaks', async (context) => {
    const { client, startMortal, startWorker, queueHeldJob, letGoOn, until, count } = await newScene(context)
    const first = await startWorker()
    await queueHeldJob()
    const second = await startWorker()
    const shown =
      "pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND datname = current_database()"
    await client.query(`SELECT pg_terminate_backend(pid) FROM ${shown}`)
    await until(shown, 2 * workersOfProcess)
    // Longer than either takes to declare the other dead.
    const third = await startMortal()
    await kill(third)
    await until('workers', 2 * workersOfProcess)
    const held = "graphile_worker.jobs WHERE task_identifier = 'purge_environment' AND locked_at IS NOT NULL"
    expect(await count(`${held} AND attempts = 1`)).toBe(1)
    await letGoOn()
    await until('graphile_worker.jobs', 0)
    for (const worker of [first, second]) expect(worker.output).not.toContain('taken for dead')
  })
})

test('a stopping service takes no new jobs while it finishes its current ones', async (context) => {
  const { client, holder, startWorker, letGoOn, until, count } = await newScene(context)
  const service = await startWorker()
  await holder.query('BEGIN; LOCK TABLE notifications IN ACCESS EXCLUSIVE MODE')
  const nobody = '0'.repeat(24)
  await client.query("SELECT graphile_worker.add_job('deliver', $1::json)", [{ calls: [[nobody, nobody, 0]] }])
  await until("pg_locks WHERE relation = 'notifications'::regclass AND NOT granted", 1)
  const stopped = service.stop()
  // From then on it gets no notifications of jobs, and a poll in progress has finished.
  const sessions = 'pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
  await until(`${sessions} AND query LIKE 'LISTEN "jobs:insert"%'`, 0)
  await until(`${sessions} AND query LIKE '%skip locked%' AND state <> 'idle'`, 0)
  const queue = () => client.query("SELECT graphile_worker.add_job('re_encrypt')")
  const left = "graphile_worker.jobs WHERE task_identifier = 're_encrypt' AND locked_at IS NULL"
  await queue()
  // Each of the library's workers may have one poll in progress, for example waiting for a connection; none starts another.
  let taken = 0
  for (let look = 0; look < 20; look += 1) {
    if ((await count(left)) === 1) continue
    taken += 1
    expect(taken).toBeLessThanOrEqual(jobsAtOnce)
    await queue()
    look = 0
  }
  await letGoOn()
  await stopped
  expect(await count(left)).toBe(1)
})
