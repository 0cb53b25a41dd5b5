// What happens to a run during a call to the outside.
import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, expect, test, vi } from 'vitest'
import { inApp, makeWorkflow, messagesOf, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
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

const jobsOf = async (transactionId: string) =>
  (await server.database.db
    .selectFrom('jobs as j')
    .innerJoin('notifications as n', (join) =>
      join.onRef('n.environment_id', '=', 'j.environment_id').onRef('n.id', '=', 'j.notification_id'),
    )
    .select(['j.type', 'j.status', 'j.reason', 'j.attempts', 'n.status as run'])
    .where('n.environment_id', '=', api.environmentId)
    .where('n.transaction_id', '=', transactionId)
    .orderBy('j.position')
    .execute()) as unknown[]

test('a call that is the last of its run ends it', async () => {
  await makeWorkflow(api, 'w', [inApp(), ask])
  const transactionId = await trigger(api, 'w', 'ada')
  await server.drain()
  expect(await jobsOf(transactionId)).toEqual([
    { type: 'in_app', status: 'completed', reason: null, attempts: 0, run: 'completed' },
    { type: 'http_request', status: 'completed', reason: null, attempts: 1, run: 'completed' },
  ])
})

test('a subscriber deleted during the last call gets nothing more, and the run says so', async () => {
  await makeWorkflow(api, 'w', [ask])
  meanwhile = () => api.delete('/v2/subscribers/ada')
  const transactionId = await trigger(api, 'w', 'ada')
  await server.drain()
  expect(await jobsOf(transactionId)).toEqual([
    { type: 'http_request', status: 'failed', reason: 'subscriber_gone', attempts: 1, run: 'error' },
  ])
})

test('steps canceled during a call do not run after it', async () => {
  await makeWorkflow(api, 'w', [
    ask,
    { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
    inApp(),
  ])
  const transactionId = await trigger(api, 'w', 'ada')
  meanwhile = () =>
    server.database.db.updateTable('jobs').set({ status: 'canceled' }).where('status', '=', 'pending').execute()
  await server.drain()
  server.clock.advance({ hours: 2 })
  await server.drain()
  expect(await messagesOf(api, 'subscriberId=ada')).toEqual([])
  expect(storyOf(await runOf(api, transactionId))).toHaveLength(3)
})

test('a run that changes during its last call is read again', async () => {
  await makeWorkflow(api, 'w', [ask])
  const transactionId = await trigger(api, 'w', 'ada')
  meanwhile = () =>
    server.database.db
      .updateTable('notifications')
      .set({ updated_at: server.clock.now() })
      .where('transaction_id', '=', transactionId)
      .execute()
  await server.drain()
  expect(await jobsOf(transactionId)).toEqual([
    { type: 'http_request', status: 'completed', reason: null, attempts: 1, run: 'completed' },
  ])
})

test('of two attempts at the same call only the later one counts', async () => {
  await makeWorkflow(api, 'w', [ask])
  const transactionId = await trigger(api, 'w', 'ada')
  let asked = 0
  meanwhile = async () => {
    asked += 1
    // As if the queue had taken the first worker for dead: another begins the call again.
    if (asked === 1)
      await server.database.db.updateTable('jobs').set({ attempts: 2 }).where('status', '=', 'running').execute()
  }
  await server.drain()
  expect(await jobsOf(transactionId)).toEqual([
    { type: 'http_request', status: 'running', reason: null, attempts: 2, run: 'processing' },
  ])
})

test('the same when steps follow', async () => {
  await makeWorkflow(api, 'w', [ask, inApp()])
  const transactionId = await trigger(api, 'w', 'ada')
  meanwhile = () =>
    server.database.db.updateTable('jobs').set({ attempts: 2 }).where('status', '=', 'running').execute()
  await server.drain()
  expect(await jobsOf(transactionId)).toEqual([
    { type: 'http_request', status: 'running', reason: null, attempts: 2, run: 'processing' },
    { type: 'in_app', status: 'pending', reason: null, attempts: 0, run: 'processing' },
  ])
})

test('a call is not begun again while its result is being stored', async () => {
  await makeWorkflow(api, 'w', [ask, inApp()])
  const transactionId = await trigger(api, 'w', 'ada')
  let again: Promise<{ rowCount: number | null }> | undefined
  const send = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => Promise<unknown>
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(async function query(
    this: pg.Client,
    ...given: unknown[]
  ) {
    const answer = await send.apply(this, given)
    const [{ name }] = given as [{ name?: string }]
    if (name === 'load_runs' && vendor.asked.length > 0 && !again) {
      // As if the queue had taken this worker for dead.
      again = server.database.pool.query(
        `UPDATE jobs SET attempts = 2, status = 'running' WHERE environment_id = $1 AND status = 'running'`,
        [api.environmentId],
      )
      const isWaiting = async () => {
        const { rows } = await server.database.pool.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE jobs SET attempts = 2%'`,
        )
        return rows.length > 0
      }
      const done = again.then(() => true)
      while (!(await Promise.race([done, isWaiting()]))) await new Promise(setImmediate)
    }
    return answer
  } as never)
  try {
    vendor.asked.length = 0
    await server.drain()
  } finally {
    spy.mockRestore()
  }
  expect((await again)?.rowCount).toBe(0)
  expect(await jobsOf(transactionId)).toEqual([
    { type: 'http_request', status: 'completed', reason: null, attempts: 1, run: 'completed' },
    { type: 'in_app', status: 'completed', reason: null, attempts: 0, run: 'completed' },
  ])
})

test('a step that a job names twice is called once', async () => {
  await makeWorkflow(api, 'w', [ask])
  await trigger(api, 'w', 'ada')
  vendor.asked.length = 0
  let worked = 0
  await server.drain(async (work) => {
    await work()
    worked += 1
    if (worked === 1)
      await sql`UPDATE graphile_worker._private_jobs
                SET payload = json_build_object('calls', (payload->'calls')::jsonb || (payload->'calls')::jsonb)`.execute(
        server.database.db,
      )
  })
  expect(vendor.asked).toHaveLength(1)
})

test('a job whose result cannot be recorded stays in the queue, and says why', async () => {
  await makeWorkflow(api, 'w', [ask])
  const transactionId = await trigger(api, 'w', 'ada')
  const { db } = server.database
  meanwhile = async () => {
    await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`.execute(db)
    await sql`CREATE TRIGGER refuse BEFORE UPDATE ON jobs FOR EACH ROW EXECUTE FUNCTION refuse()`.execute(db)
  }
  await server.drain()
  await sql`DROP FUNCTION refuse CASCADE`.execute(db)
  expect(await jobsOf(transactionId)).toMatchObject([{ status: 'running', run: 'processing' }])
  const { rows } = await sql`SELECT task_identifier, last_error FROM graphile_worker.jobs`.execute(db)
  expect(rows).toEqual([{ task_identifier: 'deliver', last_error: 'Some calls could not be recorded.' }])
})
