// Calls that a process makes itself for the runs it has just stored, and how they survive failures.
import type pg from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { statementsOf } from '../../../test/plan.ts'
import { makeWorkflow, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { inTransaction } from '../../db/core/transaction.ts'
import { BegunCalls } from './begun-calls.ts'
import { Hands } from './hands.ts'
import type { RunState } from './run-state.ts'

const server = useServer({ allowPrivateAddresses: true, role: 'all' })
const vendor = useVendor()
let ask: Step
let api: Api
/** Runs before the vendor answers. */
let meanwhile: () => Promise<unknown>

beforeEach(async () => {
  api = await server.freshApi()
  ask = { type: 'http_request', stepId: 'ask', controlValues: { method: 'POST', url: vendor.url } }
  meanwhile = async () => undefined
  vendor.plays(async () => {
    await meanwhile()
    return { body: { answer: 42 } }
  })
})

const heldJobs = async () => {
  const { rows } = await server.database.pool.query<{ payload: { calls: unknown[] } }>(
    `SELECT j.payload FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
     WHERE t.identifier = 'deliver' AND j.locked_by IS NOT NULL`,
  )
  return rows.map(({ payload }) => payload.calls.length)
}
const isOver = async (transactionId: string) =>
  expect.poll(async () => (await runOf(api, transactionId)).jobs.at(-1).status, { timeout: 30_000 }).toBe('completed')

test('the process that stored a run makes its call, without asking the queue', async () => {
  await makeWorkflow(api, 'w', [ask])
  await isOver(await trigger(api, 'w', 'ada'))
  let transactionId = ''
  const statements = await statementsOf(async () => {
    transactionId = await trigger(api, 'w', 'ada')
    await isOver(transactionId)
    return { status: 200, text: '' }
  }, ['jobs', '_private_jobs'])
  const written = statements.filter(({ text }) =>
    /\b(INSERT INTO|UPDATE|DELETE FROM) (graphile_worker._private_)?jobs\b/.test(text),
  )
  expect(written.map(({ text }) => /(INSERT INTO|UPDATE|DELETE FROM) \S*jobs\b/.exec(text)?.[0])).toEqual(
    // The run, the job for its call, and the end of the call; that job is removed sooner or later.
    expect.arrayContaining(['INSERT INTO jobs', 'INSERT INTO graphile_worker._private_jobs', 'UPDATE jobs']),
  )
  expect(statements.some(({ text }) => text.includes('j.status AS was'))).toBe(false)
  expect(storyOf(await runOf(api, transactionId))).toEqual([expect.stringContaining('http_request completed')])
  expect(vendor.asked).toHaveLength(2)
  await expect.poll(heldJobs, { timeout: 30_000 }).toEqual([])
})

test('during the call, others see it running, as a job of a live worker', async () => {
  await makeWorkflow(api, 'w', [ask])
  let seen: unknown
  meanwhile = async () => {
    seen = [
      await heldJobs(),
      await server.database.db
        .selectFrom('jobs')
        .select(['status', 'attempts'])
        .where('environment_id', '=', api.environmentId)
        .execute(),
    ]
  }
  await isOver(await trigger(api, 'w', 'ada'))
  expect(seen).toEqual([[1], [{ status: 'running', attempts: 1 }]])
})

test('the steps after it run as after any other call', async () => {
  await makeWorkflow(api, 'w', [ask, { ...ask, stepId: 'again' }])
  const transactionId = await trigger(api, 'w', 'ada')
  await isOver(transactionId)
  expect(vendor.asked).toHaveLength(2)
  expect((await runOf(api, transactionId)).jobs).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
})

test('the calls of continuing runs are made at once too: after another call, and after a wait', async () => {
  await makeWorkflow(api, 'w', [
    ask,
    { ...ask, stepId: 'again' },
    { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'seconds' } },
    { ...ask, stepId: 'later' },
  ])
  const seen: unknown[] = []
  meanwhile = async () => {
    seen.push(await heldJobs())
  }
  let transactionId = ''
  const statements = await statementsOf(async () => {
    transactionId = await trigger(api, 'w', 'ada')
    await expect
      .poll(async () => (await runOf(api, transactionId)).jobs[2]?.status, { timeout: 30_000 })
      .toBe('delayed')
    server.clock.advance({ seconds: 1 })
    await isOver(transactionId)
    return { status: 200, text: '' }
  }, ['jobs'])
  expect(vendor.asked).toHaveLength(3)
  expect(seen.map((held) => (held as number[]).length > 0)).toEqual([true, true, true])
  expect(statements.some(({ text }) => text.includes('j.status AS was'))).toBe(false)
})

/** The parts of a run that Hands reads. */
const runWith = (id: string) =>
  ({
    id,
    environment: { id: api.environmentId },
    jobs: Array.from({ length: 1_000 }, (_, position) => ({ position, id, attempts: 1 })),
  }) as unknown as RunState

const idOf = (number: number) => `${Math.floor(Date.now() / 1000).toString(16)}${'0'.repeat(15)}${number}`

let workers = 0

/** Hands of a live worker, and the calls they made. */
function ownHands(call: (id: string) => Promise<void> = async () => undefined, pool = server.database.pool) {
  const called: string[] = []
  const log = { error: () => undefined } as unknown as ConstructorParameters<typeof Hands>[0]['log']
  const hands = new Hands({
    pool,
    log,
    begunCalls: new BegunCalls(server.database.pool),
    call: async ({ run }) => {
      called.push(run.id)
      await call(run.id)
    },
  })
  workers += 1
  hands.open({ id: `worker ${workers}`, isShown: () => true })
  return { hands, called }
}

/** Connections that lose the answer to a commit, after or before it took effect. */
const losing = (isCommitted: boolean): pg.Pool =>
  new Proxy(server.database.pool, {
    get(pool, name) {
      if (name !== 'connect') return Reflect.get(pool, name) as unknown
      return async () => {
        const client = await pool.connect()
        return new Proxy(client, {
          get(target, member) {
            if (member !== 'query') {
              const found: unknown = Reflect.get(target, member)
              return typeof found === 'function' ? found.bind(target) : found
            }
            return async (...given: Parameters<pg.PoolClient['query']>) => {
              if ((given[0] as unknown) !== 'COMMIT') return target.query(...given)
              if (isCommitted) await target.query('COMMIT')
              throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
            }
          },
        })
      }
    },
  })

test('committed calls are made, even if the answer to the commit was lost; others never', async () => {
  for (const [number, isCommitted] of [
    [1, true],
    [2, false],
  ] as const) {
    const { hands, called } = ownHands()
    const id = idOf(number)
    const work = inTransaction(losing(isCommitted), async (transaction) =>
      hands.hold(transaction, [{ run: runWith(id), position: 0 }])(),
    )
    await expect(work).rejects.toThrow('ECONNRESET')
    await hands.close()
    expect(called).toEqual(isCommitted ? [id] : [])
    expect(await heldJobs()).toEqual([])
  }
})

test('a job that got the number of one whose transaction a crash ended is another job', async () => {
  const { pool } = server.database
  let reuse: Promise<unknown> | undefined
  /** Looks only once the number was given to another job. */
  const late = new Proxy(pool, {
    get: (target, name) =>
      name === 'query'
        ? async (...given: Parameters<pg.Pool['query']>) => {
            await reuse
            return target.query(...given)
          }
        : (Reflect.get(target, name) as unknown),
  })
  const { hands, called } = ownHands(undefined, late)
  const work = inTransaction(losing(false), async (transaction) => {
    await hands.hold(transaction, [{ run: runWith(idOf(6)), position: 0 }])()
    const newest = { name: 'newest', text: 'SELECT max(id) AS id FROM graphile_worker._private_jobs' }
    const [row] = await transaction.run<{ id: string }>(newest, [])
    // Waits for the end of this transaction, whose number it has.
    reuse = pool.query(
      `INSERT INTO graphile_worker._private_jobs (id, task_id, payload, locked_at, locked_by) OVERRIDING SYSTEM VALUE
       SELECT $1, id, $2, now(), 'somebody' FROM graphile_worker._private_tasks WHERE identifier = 'deliver'`,
      [row?.id, JSON.stringify({ calls: [[api.environmentId, idOf(7), 0]] })],
    )
  })
  await expect(work).rejects.toThrow('ECONNRESET')
  await hands.close()
  expect(called).toEqual([])
  await pool.query("DELETE FROM graphile_worker._private_jobs WHERE locked_by = 'somebody'")
})

test('a transaction that fails before it holds calls makes none and frees their slots', async () => {
  const { hands, called } = ownHands()
  const before = hands.room(false)
  const work = inTransaction(server.database.pool, async (transaction) => {
    await transaction.run({ name: 'fail', text: 'SELECT 1 / 0' }, []).catch(() => undefined)
    await hands.hold(transaction, [{ run: runWith(idOf(3)), position: 0 }])()
  })
  await expect(work).rejects.toThrow()
  await expect.poll(() => hands.room(false), { timeout: 30_000 }).toBe(before)
  expect(called).toEqual([])
})

test('a call whose end cannot be recorded is left to the queue', async () => {
  const { hands } = ownHands(() => Promise.reject(new Error('no')))
  await inTransaction(server.database.pool, async (transaction) =>
    hands.hold(transaction, [{ run: runWith(idOf(4)), position: 0 }])(),
  )
  await hands.close()
  expect(await heldJobs()).toEqual([])
  const { rows } = await server.database.pool.query(
    `DELETE FROM graphile_worker._private_jobs WHERE payload::text LIKE $1 RETURNING locked_by, is_available`,
    [`%${idOf(4).slice(8)}%`],
  )
  expect(rows).toEqual([{ locked_by: null, is_available: true }])
})

test('calls of a worker that was taken for dead meanwhile go to the queue, as if never taken', async () => {
  await makeWorkflow(api, 'w', [ask])
  const { hands, called } = ownHands()
  hands.list({ id: 'gone', listing: '0 gone' })
  const before = hands.room(false)
  const transactionId = await trigger(api, 'w', 'ada')
  await isOver(transactionId)
  const { _id, jobs } = await runOf(api, transactionId)
  await server.database.pool.query("UPDATE jobs SET status = 'running', attempts = 1 WHERE id = $1", [jobs[0]._id])
  await inTransaction(server.database.pool, async (transaction) =>
    hands.hold(transaction, [{ run: runWith(_id as string), position: 0 }])(),
  )
  expect([called, await heldJobs(), hands.room(false)]).toEqual([[], [], before])
  const { rows } = await server.database.pool.query('SELECT status, attempts FROM jobs WHERE id = $1', [jobs[0]._id])
  expect(rows).toEqual([{ status: 'queued', attempts: 0 }])
  await server.database.pool.query(
    "DELETE FROM graphile_worker._private_jobs WHERE payload::text LIKE '%' || $1 || '%'",
    [_id],
  )
})

test('a busy environment leaves slots for others; without a visible worker no calls are held', async () => {
  const ends: Array<() => void> = []
  const { hands } = ownHands(() => new Promise((resolve) => ends.push(resolve)))
  const [room, ofBusy] = [hands.room(false), hands.room(true)]
  expect(ofBusy).toBeLessThan(room)
  await inTransaction(server.database.pool, async (transaction) => {
    const run = runWith(idOf(5))
    const write = hands.hold(
      transaction,
      Array.from({ length: ofBusy }, (_, position) => ({ run, position })),
    )
    // Concurrent transactions do not get the same slots.
    expect(hands.room(true)).toBe(0)
    await write()
  })
  expect([hands.room(true), hands.room(false)]).toEqual([0, room - ofBusy])
  hands.open({ id: 'somebody', isShown: () => false })
  expect(hands.room(false)).toBe(0)
  const closed = hands.close()
  for (const end of ends) end()
  await closed
  expect(hands.room(false)).toBe(0)
  expect(await heldJobs()).toEqual([])
})
