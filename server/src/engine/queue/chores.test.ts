import { type JobHelpers, Logger, runOnce } from 'graphile-worker'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { addActivity, addRow } from '../../../test/activity-rows.ts'
import { signInAs } from '../../../test/people.ts'
import { secretKey, useServer } from '../../../test/server.ts'
import { newId } from '../../db/core/ids.ts'
import { Secrets } from '../../db/core/secrets.ts'
import type { Retention } from '../retention/retention.ts'
import { choreSchedule, chores, queueEnvironmentPurge } from './chores.ts'
import type { Round } from './worker.ts'

const server = useServer()
const moreThanTwoBatches = 10_001

afterEach(() => sql`DELETE FROM graphile_worker._private_jobs`.execute(server.database.db))

const log = pino({ level: 'silent' })
const tasks = (retention: Partial<Retention> = {}) =>
  chores({
    ...server.database,
    clock: server.clock,
    log,
    secrets: new Secrets(secretKey),
    retention: { activityDays: 0, messageDays: 0, ...retention },
    keepVersions: 200,
  })

/** Runs what is due and returns. */
async function runDueJobs(retention: Partial<Retention> = {}): Promise<void> {
  const logger = new Logger(() => () => undefined)
  // Without the delays it would not wait for the statements that end its jobs.
  const preset = { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } }
  await runOnce({ pgPool: server.database.pool, noHandleSignals: true, taskList: tasks(retention), preset, logger })
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

describe('jobs that failed', () => {
  interface Given {
    name: string
    attempts: number
    most?: number
    hours: number
    lockedBy?: string
  }

  async function add({ name, attempts, most = 25, hours, lockedBy }: Given): Promise<void> {
    await sql`
      SELECT graphile_worker.add_job('start_runs', json_build_object('name', ${name}::text), max_attempts := ${most}::int)`.execute(
      server.database.db,
    )
    await sql`
      UPDATE graphile_worker._private_jobs SET attempts = ${attempts}, run_at = now() + make_interval(hours => ${hours}::int),
        locked_by = ${lockedBy ?? null}, locked_at = CASE WHEN ${lockedBy ?? null}::text IS NOT NULL THEN now() END
      WHERE payload ->> 'name' = ${name}`.execute(server.database.db)
  }

  const found = async () => {
    const { rows } = await sql<{ name: string; attempts: number; isSoon: boolean }>`
      SELECT payload ->> 'name' AS name, attempts, run_at BETWEEN now() AND now() + interval '5 minutes' AS "isSoon"
      FROM graphile_worker._private_jobs ORDER BY 1`.execute(server.database.db)
    return Object.fromEntries(rows.map(({ name, attempts, isSoon }) => [name, [attempts, isSoon]]))
  }

  test('are retried within five minutes, however often they failed, and never given up', async () => {
    await add({ name: 'failed ten times', attempts: 10, hours: 6 })
    await add({ name: 'failed nearly for good', attempts: 24, hours: 6 })
    await add({ name: 'failed, with a limit of its own', attempts: 2, most: 3, hours: 1 })
    await add({ name: 'waits for its time', attempts: 0, hours: 6 })
    await add({ name: 'is being tried', attempts: 11, hours: 6, lockedBy: 'somebody' })
    await add({ name: 'was given up', attempts: 3, most: 3, hours: 6 })
    await tasks().hurry_failed?.({}, {} as JobHelpers)
    expect(await found()).toEqual({
      'failed ten times': [10, true],
      'failed nearly for good': [10, true],
      'failed, with a limit of its own': [2, true],
      'waits for its time': [0, false],
      'is being tried': [11, false],
      'was given up': [3, false],
    })
  })

  test('by a chore that runs every minute, where any waits for longer', async () => {
    const round = choreSchedule.find(({ task }) => task === 'hurry_failed') as Round
    expect(round).toEqual({ task: 'hurry_failed', everyMs: 60_000, when: expect.any(String) })
    const isNeeded = async () => {
      const { rows } = await sql<{ is: boolean }>`SELECT ${sql.raw(round.when ?? '')} AS is`.execute(server.database.db)
      return rows[0]?.is
    }
    await add({ name: 'is retried soon', attempts: 3, hours: 0 })
    await add({ name: 'waits for its time', attempts: 0, hours: 6 })
    await add({ name: 'is being tried', attempts: 11, hours: 6, lockedBy: 'somebody' })
    expect(await isNeeded()).toBe(false)
    await add({ name: 'failed ten times', attempts: 10, hours: 6 })
    expect(await isNeeded()).toBe(true)
  })
})

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

  test('expired ones are deleted, however many, and no others', async () => {
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

  test('a worker that stops does not wait for it', async () => {
    server.clock.advance({ hours: 2 })
    await remember('old', server.clock.now())
    const helpers = { abortSignal: AbortSignal.abort() } as JobHelpers
    await expect(tasks().purge_idempotency_keys?.({}, helpers)).rejects.toThrow('aborted')
    expect(await remembered()).toContain('old1')
  })
})

describe('what the engine keeps for a while', () => {
  const inAnHour = () => new Date(server.clock.now().getTime() + 3_600_000)
  async function purge(): Promise<void> {
    await addJob('purge_expired')
    await runDueJobs()
    expect(await waitingJobs()).toEqual([])
  }

  test('sandbox messages are deleted after a week, circuits of silent integrations after a day', async () => {
    const { environmentId } = server.api
    const now = server.clock.now().getTime()
    const daysAgo = (days: number) => new Date(now - days * 86_400_000)
    for (const [id, days] of [
      ['old', 7],
      ['new', 6],
    ] as const)
      await sql`
        INSERT INTO sandbox_messages (environment_id, id, channel, transaction_id, subscriber_id, workflow, step_id,
                                      recipients, message, attachments, files, created_at, updated_at)
        VALUES (${environmentId}, ${id}, 'sms', 't', 's', 'w', 'x', '{}', '{}', '[]', '{}', ${daysAgo(days)}, ${daysAgo(days)})`.execute(
        server.database.db,
      )
    for (const [id, days] of [
      ['old', 1],
      ['new', 0],
    ] as const)
      await sql`
        INSERT INTO circuits (environment_id, integration_id, host, failures, retry_at, updated_at)
        VALUES (${environmentId}, ${id}, '', 5, ${daysAgo(days)}, ${daysAgo(days)})`.execute(server.database.db)
    await purge()
    const kept = await server.database.db.selectFrom('sandbox_messages').select('id').execute()
    expect(kept).toEqual([{ id: 'new' }])
    const open = await server.database.db.selectFrom('circuits').select('integration_id').execute()
    expect(open).toEqual([{ integration_id: 'new' }])
  })

  test('suppressions are deleted 30 days after their end, soft bounces after the days of their environment', async () => {
    const [{ environmentId }, other] = [server.api, await server.freshApi()]
    await other.patch(`/v2/environments/${other.environmentId}/consent`, { softBounces: { days: 3 } })
    const daysAgo = (days: number) => new Date(server.clock.now().getTime() - days * 86_400_000)
    const hash = (id: string) => Buffer.from(id.padEnd(32, '.'))
    for (const [id, end] of [
      ['old', daysAgo(30)],
      ['new', daysAgo(29)],
      ['endless', null],
    ] as const)
      await sql`
        INSERT INTO suppressions (environment_id, id, channel, address_hash, reason, scope, source, expires_at, created_at, updated_at)
        VALUES (${environmentId}, ${id}, 'email', ${hash(id)}, 'manual', 'all', 'api', ${end}, ${daysAgo(90)}, ${daysAgo(90)})`.execute(
        server.database.db,
      )
    for (const [environment, message, days] of [
      [environmentId, 'old', 14],
      [environmentId, 'new', 13],
      [other.environmentId, 'old of three days', 3],
      [other.environmentId, 'new of three days', 2],
    ] as const)
      await sql`
        INSERT INTO soft_bounces (environment_id, address_hash, channel, message_id, happened_at)
        VALUES (${environment}, ${hash('ada')}, 'email', ${message}, ${daysAgo(days)})`.execute(server.database.db)
    await purge()
    const { db } = server.database
    const kept = await db.selectFrom('suppressions').select('id').orderBy('id').execute()
    expect(kept.map(({ id }) => id)).toEqual(['endless', 'new'])
    const { rows } = await sql<{ message_id: string }>`SELECT message_id FROM soft_bounces ORDER BY 1`.execute(db)
    expect(rows.map((row) => row.message_id)).toEqual(['new', 'new of three days'])
  })

  test('expired transaction ids are deleted, however many, and no others', async () => {
    const { environmentId } = server.api
    await sql`
      INSERT INTO transactions (environment_id, transaction_id, event_id, expires_at)
      SELECT ${environmentId}, 'old' || i, 'e', ${server.clock.now()}::timestamptz FROM generate_series(1, ${moreThanTwoBatches}::int) i
      UNION ALL SELECT ${environmentId}, 'new', 'e', ${inAnHour()}`.execute(server.database.db)
    await purge()
    expect(await server.database.db.selectFrom('transactions').select('transaction_id').execute()).toEqual([
      { transaction_id: 'new' },
    ])
  })

  test('digests are deleted after their look-back, but never while they collect', async () => {
    const digest = (value: string, given: object) =>
      addRow(server.database, 'digests', {
        environment_id: server.api.environmentId,
        workflow_id: 'w',
        step_row_id: 's',
        subscriber_row_id: 'r',
        value,
        seen_at: server.clock.now(),
        forget_at: server.clock.now(),
        ...given,
      })
    await digest('over', {})
    await digest('collects', { notification_id: 'n' })
    await digest('looks back', { forget_at: inAnHour() })
    await purge()
    const values = await server.database.db.selectFrom('digests').select('value').orderBy('value').execute()
    expect(values).toEqual([{ value: 'collects' }, { value: 'looks back' }])
  })

  test('throttles are deleted when their window has ended', async () => {
    for (const [value, ends_at] of Object.entries({ over: server.clock.now(), open: inAnHour() }))
      await addRow(server.database, 'throttles', {
        environment_id: server.api.environmentId,
        workflow_id: 'w',
        step_row_id: 's',
        subscriber_row_id: 'r',
        value,
        passed: 1,
        granted: 1,
        started_at: server.clock.now(),
        ends_at,
      })
    await purge()
    expect(await server.database.db.selectFrom('throttles').select('value').execute()).toEqual([{ value: 'open' }])
  })

  test('files are deleted a day after their trigger, unless one of its runs still needs them', async () => {
    const { environmentId } = server.api
    const now = server.clock.now()
    const activity = (status: 'processing' | 'completed') =>
      addActivity(server.database, { environmentId, at: now, status })
    const attach = (name: string, event_id: string) =>
      addRow(server.database, 'attachments', {
        environment_id: environmentId,
        event_id,
        position: 0,
        name,
        mime: 'text/plain',
        content: '\\x00',
        created_at: now,
      })
    const [done, waiting, queued, failed] = [
      await activity('completed'),
      await activity('processing'),
      await activity('completed'),
      await activity('completed'),
    ]
    const reason = (value: string | null) =>
      sql`UPDATE jobs SET reason = ${value} WHERE notification_id = ${failed.notificationId}`.execute(
        server.database.db,
      )
    await reason('provider_failed')
    await attach('failed', failed.eventId)
    await attach('done', done.eventId)
    await attach('waiting', waiting.eventId)
    await attach('queued', queued.eventId)
    await attach('of what is gone', 'f'.repeat(24))
    const names = async () =>
      (await server.database.db.selectFrom('attachments').select('name').orderBy('name').execute()).map(
        (row) => row.name,
      )

    server.clock.advance({ hours: 24, ms: -1 })
    await purge()
    expect(await names()).toEqual(['done', 'failed', 'of what is gone', 'queued', 'waiting'])

    server.clock.advance({ ms: 1 })
    await addJob('fan_out', { environmentId, eventId: queued.eventId })
    await addJob('purge_expired')
    await runDueJobs()
    expect(await names()).toEqual(['failed', 'queued', 'waiting'])

    await sql`
      DELETE FROM graphile_worker._private_jobs;
      UPDATE notifications SET status = 'completed'`.execute(server.database.db)
    await purge()
    // It can be redriven, however late.
    expect(await names()).toEqual(['failed'])
    await reason(null)
    await purge()
    expect(await names()).toEqual([])
  })

  test('who had a workflow open is forgotten', async () => {
    const person = await signInAs(server, server.api, 'viewer')
    const open = (workflowId: string, expiresAt: Date) =>
      addRow(server.database, 'workflow_presence', {
        ...{ environment_id: server.api.environmentId, workflow_id: workflowId, user_id: person.id },
        expires_at: expiresAt,
      })
    await open('left', server.clock.now())
    await open('open', new Date(server.clock.now().getTime() + 1_000))
    await purge()
    const kept = await server.database.db.selectFrom('workflow_presence').select('workflow_id').execute()
    expect(kept).toEqual([{ workflow_id: 'open' }])
  })

  test('links to bots are deleted when they expire', async () => {
    const link = (hash: string, expiresAt: Date) =>
      addRow(server.database, 'bot_links', {
        ...{
          environment_id: server.api.environmentId,
          hash,
          integration_id: 'i',
          subscriber_id: 's',
          context_keys: [],
        },
        ...{ created_at: server.clock.now(), expires_at: expiresAt },
      })
    await link('old', server.clock.now())
    await link('new', inAnHour())
    await purge()
    expect(await server.database.db.selectFrom('bot_links').select('hash').execute()).toEqual([{ hash: 'new' }])
  })

  test('replaced API keys are deleted when their overlap has ended', async () => {
    const api = await server.freshApi()
    await api.post('/v1/environments/api-keys/rotate', { overlapHours: 1 })
    const keys = async () =>
      (
        await server.database.db
          .selectFrom('api_keys')
          .select('hash')
          .where('environment_id', '=', api.environmentId)
          .execute()
      ).length
    await purge()
    expect(await keys()).toBe(2)
    server.clock.advance({ hours: 1 })
    await purge()
    expect(await keys()).toBe(1)
  })

  test('activity counts are deleted with the activity', async () => {
    const slot = (days: number) => new Date(server.clock.now().getTime() - days * 86_400_000)
    for (const days of [1, 29, 30, 31])
      await addRow(server.database, 'activity_counts', {
        ...{
          environment_id: server.api.environmentId,
          workflow_id: '',
          slot: slot(days),
          measure: 'runs',
          bin: 0,
          count: 1,
        },
      })
    const left = async () => (await server.database.db.selectFrom('activity_counts').select('slot').execute()).length
    await purge()
    expect(await left()).toBe(4)
    await addJob('purge_expired')
    await runDueJobs({ activityDays: 30 })
    expect(await left()).toBe(2)
  })
})

test('one chore creates partitions ahead and drops expired ones', async () => {
  const partitions = async () => {
    const { rows } = await sql<{ name: string }>`
      SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = 'messages'::regclass AND inhrelid::regclass::text !~ '_default$' ORDER BY 1`.execute(
      server.database.db,
    )
    return rows.map((row) => row.name)
  }
  await addJob('tend_partitions')
  await runDueJobs()
  expect(await partitions()).toEqual(['messages_2026_05', 'messages_2026_06'])
  server.clock.advance({ days: 70 })
  await addJob('tend_partitions')
  await runDueJobs({ messageDays: 30 })
  expect(await partitions()).toEqual(['messages_2026_06', 'messages_2026_07', 'messages_2026_08'])
})

describe('deleted environments', () => {
  /** Rows that each table holds of an environment; tables without any are left out. */
  async function rowsOf(environmentId: string): Promise<Record<string, number>> {
    const { rows: tables } = await sql<{ table_name: string }>`
      SELECT CASE table_schema WHEN 'belfry' THEN 'belfry.' ELSE '' END || table_name AS table_name
      FROM information_schema.columns WHERE table_schema IN ('public', 'belfry') AND column_name = 'environment_id'`.execute(
      server.database.db,
    )
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
    const created = await server.wideApi.post('/v1/environments', { name, color: '#000' })
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

  test('everything they held is deleted, however much, and nothing of others', async () => {
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

    expect((await server.wideApi.delete(`/v1/environments/${gone}`)).status).toBe(200)
    expect(await waitingJobs()).toMatchObject([
      { task: 'purge_environment', is_due: true },
      { task: 'purge_environment', is_due: false },
    ])
    await runDueJobs()
    expect(await rowsOf(gone)).toEqual({})
    expect(await rowsOf(kept)).toEqual(before)

    // Written by a request in flight.
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

test('a wake-up that was replaced while it ran, and whose worker died, is removed; its replacement stays', async () => {
  const add = (runAt: string) =>
    sql`SELECT graphile_worker.add_job('wake', '{}', run_at := now() + ${runAt}::interval, job_key := 'wake 1', max_attempts := 1000)`.execute(
      server.database.db,
    )
  await add('0 s')
  await sql`UPDATE graphile_worker._private_jobs SET locked_at = now(), locked_by = 'gone'`.execute(server.database.db)
  await add('1 hour')
  await sql`UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL`.execute(server.database.db)
  expect(await waitingJobs()).toHaveLength(2)
  await addJob('purge_expired')
  await runDueJobs()
  expect(await waitingJobs()).toEqual([{ task: 'wake', last_error: null, is_due: false }])
})
