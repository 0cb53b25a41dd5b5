// Waits that end at the same moment: one environment with many does not hold up another's. And the timers of waits that are over.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { planOf, statementsOf } from '../../../test/plan.ts'
import { contentsOf, inApp, makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { engineSchedule } from '../engine.ts'

const server = useServer()

// A trigger in the database records what each transaction took.
beforeAll(async () => {
  await server.database.pool.query(`
    CREATE TABLE taken (batch bigint, environment_id text, count int);
    CREATE FUNCTION note_taken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO taken SELECT pg_current_xact_id()::text::bigint, environment_id, count(*) FROM gone GROUP BY 2;
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_taken AFTER DELETE ON timers REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION note_taken()`)
})
beforeEach(async () => {
  await server.database.pool.query('TRUNCATE taken, timers')
})
afterAll(async () => {
  await server.database.pool.query('DROP TRIGGER note_taken ON timers')
})

/** Each batch in order: environment to count. */
async function batches(): Promise<Array<Record<string, number>>> {
  const { rows } = await server.database.pool.query<{ took: Record<string, number> }>(
    'SELECT json_object_agg(environment_id, count) AS took FROM taken GROUP BY batch ORDER BY batch',
  )
  return rows.map(({ took }) => took)
}

/** Timers of deleted runs: taking them is all the work. */
async function addTimers(environmentId: string, count: number): Promise<void> {
  await server.database.pool.query(
    `INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
     SELECT $1, lpad(n::text, 24, '0'), 0, 'step', $2::timestamptz + n * interval '1 millisecond'
     FROM generate_series(1, $3::int) n`,
    [environmentId, server.clock.now(), count],
  )
}

const delay: Step = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }

/** One timer of another environment, due after all that exist now. */
async function waitOnce(api: Api, then: Step): Promise<void> {
  await makeWorkflow(api, 'later', [delay, then])
  await trigger(api, 'later', { subscriberId: 'ada', phone: '+14155550100' })
  await server.drain()
}

test('a wait of another environment ends in the second batch, however many were due before it', async () => {
  const other = await server.freshApi()
  await addTimers('flood', 3_000)
  await waitOnce(other, inApp('It is time'))
  server.clock.advance({ hours: 1 })
  await server.drain()
  const took = await batches()
  expect(took.findIndex((batch) => batch[other.environmentId] === 1)).toBe(1)
  expect(took[0]).toEqual({ flood: 200 })
  expect(took.reduce((sum, { flood = 0 }) => sum + flood, 0)).toBe(3_000)
  expect(await contentsOf(other, 'ada')).toEqual(['It is time'])
})

test('environments with something due share a batch', async () => {
  await addTimers('flood', 1_000)
  server.clock.advance({ minutes: 1 })
  await addTimers('other', 90)
  server.clock.advance({ minutes: 1 })
  await server.drain()
  expect((await batches()).slice(0, 2)).toEqual([{ flood: 200 }, { flood: 100, other: 90 }])
})

test('environments that get no turn in one batch get it in the next', async () => {
  for (let number = 100; number < 350; number += 1) await addTimers(`flood-${number}`, 6)
  await server.database.pool.query(
    "UPDATE timers SET due_at = due_at + interval '1 second' WHERE environment_id LIKE '%49'",
  )
  server.clock.advance({ minutes: 1 })
  await server.drain()
  const took = await batches()
  const inTurn = [took[1], took[5]].map((batch) => Object.keys(batch ?? {}))
  expect(inTurn.map((names) => names.length)).toEqual([200, 50])
  expect(inTurn.flat()).toContain('flood-349')
})

test('the calls of a flood go after those of others', async () => {
  const flooded = (await server.freshOrganization()).development
  const other = (await server.freshOrganization()).development
  const sms = { type: 'sms', controlValues: { body: 'News' } }
  await makeWorkflow(flooded, 'later', [delay, sms])
  for (let at = 0; at < 700; at += 100) {
    const to = Array.from({ length: 100 }, (_, n) => ({ subscriberId: `many-${at + n}`, phone: '+14155550100' }))
    await trigger(flooded, 'later', to)
  }
  await waitOnce(other, sms)
  server.clock.advance({ hours: 1 })
  const queued = new Map<string, Set<number>>()
  await server.drain(async (work) => {
    if (queued.size > 0) return
    await work()
    const { rows } = await server.database.pool.query<{ owner: string; priority: number }>(
      `SELECT payload -> 'calls' -> 0 ->> 0 AS owner, priority FROM graphile_worker._private_jobs WHERE (payload -> 'calls') IS NOT NULL`,
    )
    for (const { owner, priority } of rows) queued.set(owner, (queued.get(owner) ?? new Set()).add(priority))
  })
  expect(Object.fromEntries(queued)).toEqual({
    [flooded.environmentId]: new Set([0, 1]),
    [other.environmentId]: new Set([0]),
  })
})

test('the minutely job does not queue known wake-ups again', async () => {
  const api = await server.freshApi()
  const soon = { type: 'delay', controlValues: { type: 'regular', amount: 30, unit: 'seconds' } }
  await makeWorkflow(api, 'soon', [soon, inApp('It is time')])
  await trigger(api, 'soon', 'ada')
  await server.drain()
  const queued = async () => {
    const { rows } = await server.database.pool.query<{ key: string; revision: number }>(
      "SELECT key, revision FROM graphile_worker.jobs WHERE task_identifier = 'wake'",
    )
    return rows
  }
  const before = await queued()
  expect(before).toEqual([{ key: expect.stringMatching(/^wake \d+$/), revision: 0 }])
  await server.database.pool.query("SELECT graphile_worker.add_job('queue_soon')")
  await server.drain()
  expect(await queued()).toEqual(before)
})

test('the minutely job is queued where something waits that comes due within minutes, or was missed', async () => {
  const { pool } = server.database
  const [round] = engineSchedule
  const isNeeded = async (ahead = '0') => {
    const asked = `SELECT ${round?.when} AS is FROM (SELECT now() + $1::interval AS now) clock`
    return (await pool.query<{ is: boolean | null }>(asked, [ahead])).rows[0]?.is
  }
  const add = (dueIn: string, held: number | null = null) =>
    pool.query(
      `INSERT INTO timers (environment_id, subject_id, position, kind, due_at, held)
       VALUES ('own', gen_random_uuid()::text, 0, 'step', now() + $1::interval, $2)`,
      [dueIn, held],
    )
  await add('1 minute', 1)
  expect(await isNeeded()).toBe(null)
  await add('1 hour')
  expect(await isNeeded()).toBe(false)
  expect(await isNeeded('1 hour')).toBe(true)
  for (const dueIn of ['2 minutes', '-1 day']) {
    await pool.query('TRUNCATE timers')
    await add(dueIn)
    expect(await isNeeded(), dueIn).toBe(true)
  }
})

test('neither way of taking timers reads or sorts those it leaves', async () => {
  const { pool } = server.database
  await addTimers('flood', 300)
  server.clock.advance({ minutes: 1 })
  const seen = await statementsOf(async () => {
    await server.drain()
    return { status: 200, text: '' }
  }, ['timers'])
  const taking = seen.filter(({ text }) => text.includes('DELETE FROM timers'))
  expect(new Set(taking.map(({ text }) => text)).size).toBe(2)
  const readsOf = (nodes: Awaited<ReturnType<typeof planOf>>) =>
    nodes.filter((node) => node['Relation Name'] === 'timers' && node['Node Type'] !== 'ModifyTable')
  // Also while the planner believes the table empty: due timers are searched for once, by index.
  await pool.query('TRUNCATE timers')
  for (const statement of taking)
    expect(readsOf(await planOf(server.database, statement)).map((node) => node['Node Type'])).toContain('Tid Scan')
  await addTimers('flood', 100_000)
  await pool.query(
    `INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
     SELECT 'other-' || n, lpad(n::text, 24, '0'), 0, 'step', $1::timestamptz + interval '1 day' FROM generate_series(1, 2000) n`,
    [server.clock.now()],
  )
  await pool.query('VACUUM (ANALYZE) timers')
  for (const statement of taking) {
    const nodes = await planOf(server.database, statement)
    const reads = readsOf(nodes)
    expect(reads.filter((node) => !/^(Tid|Index|Index Only) Scan$/.test(node['Node Type']))).toEqual([])
    const indexes = reads.flatMap((node) => node['Index Name'] ?? [])
    const isInTurn = statement.text.includes('turns')
    expect(new Set(indexes)).toEqual(new Set(isInTurn ? ['timers_pkey', 'timers_by_environment'] : ['timers_due']))
    expect(nodes.filter((node) => node['Node Type'].includes('Sort'))).toEqual([])
  }
})

describe('the timer of a wait that is over', () => {
  const wait: Step = {
    ...{ stepId: 'wait', type: 'wait_for_event' },
    controlValues: { for: [{ event: 'paid' }], amount: 30, unit: 'days' },
  }
  const question: Step = {
    ...{ stepId: 'ask', type: 'ask' },
    controlValues: {
      ...{ question: 'Fine?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'] },
      ...{ amount: 30, unit: 'days' },
    },
  }

  const left = async () => {
    const { rows } = await server.database.pool.query('SELECT position, kind, due_at FROM timers')
    return rows
  }
  const pay = async (api: Api) => {
    await api.post('/v2/events', { name: 'paid', subscriberId: 'ada' })
    await server.drain()
  }
  const answer = async (api: Api) => {
    const { data } = (await api.get('/v2/questions')).body
    await api.post(`/v2/questions/${data[0].id}/answer`, { answer: 'yes', subscriberId: 'ada' })
  }

  test.each([
    ['by an event', wait, pay],
    ['by an answer', question, answer],
  ])('goes, even if another session held it when the wait was ended %s', async (_, step, end) => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'long', [step, inApp('It is over')])
    const transactionId = await trigger(api, 'long', 'ada')
    await server.drain()
    await server.database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM timers WHERE environment_id = ${api.environmentId} FOR UPDATE`.execute(tx)
      await end(api)
      expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed' })
      // It is looked for again, as long as that lasts.
      for (const _try of [1, 2]) {
        server.clock.advance({ seconds: 1 })
        await server.drain()
        expect(await left()).toHaveLength(2)
      }
    })
    server.clock.advance({ seconds: 1 })
    await server.drain()
    expect(await left()).toEqual([])
    expect(await contentsOf(api, 'ada')).toContain('It is over')
  })

  test('goes with a digest that its last event closes', async () => {
    const api = await server.freshApi()
    const digest = { stepId: 'digest', type: 'digest', controlValues: { amount: 30, unit: 'days', maxEvents: 2 } }
    await makeWorkflow(api, 'few', [digest, inApp('{{steps.digest.eventCount}}')])
    for (const _event of [1, 2]) await trigger(api, 'few', 'ada')
    await server.drain()
    expect(await contentsOf(api, 'ada')).toEqual(['2'])
    expect(await left()).toEqual([])
  })

  test('goes with a run whose subscriber is found to be gone when an event comes', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'long', [
      { ...wait, controlValues: { ...wait.controlValues, for: [{ event: 'paid', key: 'k' }] } },
    ])
    const transactionId = await trigger(api, 'long', 'ada')
    await server.drain()
    await sql`DELETE FROM subscribers WHERE environment_id = ${api.environmentId}`.execute(server.database.db)
    await api.post('/v2/events', { name: 'paid', key: 'k' })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs).toMatchObject([{ status: 'failed', reason: 'subscriber_gone' }])
    expect(await left()).toEqual([])
  })

  test('goes with a cancel, even if the wait began while the cancel was waiting for the run', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'later', [delay, inApp('It is time')])
    const transactionId = await trigger(api, 'later', 'ada')
    await server.drain()
    const { pool, db } = server.database
    const { rows: timers } = await pool.query(
      'DELETE FROM timers RETURNING environment_id, subject_id, position, due_at',
    )
    const canceling = await db.transaction().execute(async (tx) => {
      await sql`SELECT FROM notifications WHERE environment_id = ${api.environmentId} FOR UPDATE`.execute(tx)
      const answered = api.delete(`/v1/events/trigger/${transactionId}`)
      await vi.waitUntil(
        async () => {
          const { rows } = await pool.query(
            `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
          return rows.length > 0
        },
        { interval: 5, timeout: 10_000 },
      )
      for (const { environment_id, subject_id, position, due_at } of timers)
        await sql`
          INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
          VALUES (${environment_id}, ${subject_id}, ${position}, 'step', ${due_at})`.execute(tx)
      return [answered]
    })
    expect(await Promise.all(canceling)).toMatchObject([{ status: 200, body: true }])
    expect(await left()).toEqual([])
  })
})
