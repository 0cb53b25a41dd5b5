import { sql } from 'kysely'
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { addActivity, addRow } from '../../../test/activity-rows.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { newId } from '../../db/core/ids.ts'
import { partitionedMonths, preparePartitions } from '../../db/core/partitions.ts'
import { dropExpired } from './retention.ts'

const server = useServer()
const log = pino({ level: 'silent' })
const now = new Date('2026-05-01T10:00:00.000Z')
const days = (count: number) => new Date(now.getTime() - count * 86_400_000)
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const keep = async (retention: object, of = api) =>
  expect((await of.patch(`/v2/environments/${of.environmentId}/retention`, retention)).status).toBe(200)
const add = (at: Date, more: object = {}, of = api) =>
  addActivity(server.database, { environmentId: of.environmentId, at, ...more })
const drop = (retention = { activityDays: 90, messageDays: 365 }) =>
  dropExpired({ pool: server.database.pool, clock: { now: () => now }, log, retention }, new AbortController().signal)

/** The age of what is left, in days, by table. */
async function ages(of = api): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {}
  for (const [table, id] of Object.entries({
    events: 'id',
    notifications: 'id',
    jobs: 'notification_id',
    messages: 'id',
  })) {
    const { rows } = await sql<{ id: string }>`
      SELECT ${sql.ref(id)} AS id FROM ${sql.table(table)} WHERE environment_id = ${of.environmentId} ORDER BY 1`.execute(
      server.database.db,
    )
    found[table] = rows.map((row) =>
      Math.round((now.getTime() / 1000 - Number.parseInt(row.id.slice(0, 8), 16)) / 86_400),
    )
  }
  return found
}

test('posted events go with the activity, once all runs were told of them', async () => {
  await keep({ activityDays: 7 })
  const post = (age: number, reached: string | null) =>
    addRow(server.database, 'posted_events', {
      ...{ environment_id: api.environmentId, id: newId(days(age)), name: `${age}`, key: 'k', payload: {}, matched: 0 },
      ...{ reached, created_at: days(age) },
    })
  for (const age of [3, 10]) await post(age, null)
  await post(11, '')
  await drop()
  const { body } = await api.get('/v2/events')
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['3', '11'])
})

test('questions go with their run: neither while they are open, nor while it is under way', async () => {
  await keep({ activityDays: 7 })
  const ask = async (age: number, question: string, state: string, status: 'processing' | 'completed') => {
    const { notificationId } = await add(days(age), { status })
    const id = newId(days(age))
    await addRow(server.database, 'questions', {
      ...{ environment_id: api.environmentId, id, notification_id: notificationId, position: 0, transaction_id: 't' },
      ...{ workflow_id: 'w', workflow: 'approve', step_id: 'ask', subscriber_row_id: 's', state, question, level: 0 },
      ...{ answers: [], round: 1, asked: [], deadline: now, created_at: days(age), updated_at: days(age) },
    })
    await addRow(server.database, 'question_people', {
      ...{ environment_id: api.environmentId, question_id: id, subscriber_id: 'ada' },
    })
  }
  await ask(12, 'open', 'open', 'processing')
  await ask(11, 'closed, the run goes on', 'answered', 'processing')
  await ask(10, 'closed', 'answered', 'completed')
  await ask(3, 'young', 'answered', 'completed')
  expect(await drop()).toBe(false)
  const { data } = (await api.get('/v2/questions?subscriberId=ada')).body
  expect(data.map(({ question }: { question: string }) => question)).toEqual([
    ...['young', 'closed, the run goes on', 'open'],
  ])
  const { rows } = await sql`SELECT FROM question_people WHERE environment_id = ${api.environmentId}`.execute(
    server.database.db,
  )
  expect(rows).toHaveLength(3)
})

test('an environment with its own periods has its rows deleted to the day, and the others keep theirs', async () => {
  const other = await server.freshApi()
  await keep({ activityDays: 7, messageDays: 14, inboxDays: 14 })
  for (const age of [3, 10, 20]) for (const owner of [api, other]) await add(days(age), {}, owner)
  expect(await drop()).toBe(false)
  expect(await ages()).toEqual({ events: [3], notifications: [3], jobs: [3], messages: [10, 3] })
  const all = [20, 10, 3]
  expect(await ages(other)).toEqual({ events: all, notifications: all, jobs: all, messages: all })
  // Dependent rows were deleted too.
  await keep({ activityDays: 1 })
  const { eventId } = await add(days(2))
  for (const table of ['passed_over', 'attachments'] as const)
    await addRow(server.database, table, {
      environment_id: api.environmentId,
      event_id: eventId,
      created_at: days(2),
      ...(table === 'passed_over'
        ? { id: 'p', reason: 'excluded', subscriber_ids: ['ada'] }
        : { position: 0, name: 'a', mime: 'b', content: Buffer.from('c') }),
    })
  await drop()
  const { rows } = await sql`
    SELECT event_id FROM passed_over WHERE environment_id = ${api.environmentId}
    UNION ALL SELECT event_id FROM attachments WHERE environment_id = ${api.environmentId}`.execute(server.database.db)
  expect(rows).toEqual([])
})

test('inbox messages and other messages each have a period of their own', async () => {
  await keep({ inboxDays: 5, messageDays: 50 })
  const { notificationId } = await add(days(10))
  await sql`
    UPDATE messages SET channel = 'email' WHERE environment_id = ${api.environmentId} AND notification_id = ${notificationId}`.execute(
    server.database.db,
  )
  await add(days(10))
  await drop()
  const { rows } = await sql`SELECT channel FROM messages WHERE environment_id = ${api.environmentId}`.execute(
    server.database.db,
  )
  expect(rows).toEqual([{ channel: 'email' }])
})

test('what is still needed stays: a run in progress, its digest, a snoozed message, a trigger yet to start', async () => {
  await keep({ activityDays: 1, inboxDays: 1 })
  const at = days(10)
  const open = await add(at, { status: 'processing' })
  await add(at, { digestedInto: open.notificationId })
  const snoozed = await add(at)
  const waiting = await add(at)
  const { db } = server.database
  const message = await db
    .selectFrom('messages')
    .select('id')
    .where('notification_id', '=', snoozed.notificationId)
    .executeTakeFirstOrThrow()
  const timer = { environment_id: api.environmentId, position: 0, due_at: new Date('2027-01-01T00:00:00Z') }
  await addRow(server.database, 'timers', { ...timer, subject_id: message.id, kind: 'unsnooze' })
  await sql`SELECT graphile_worker.add_job('fan_out', ${JSON.stringify({ eventId: waiting.eventId })}::json)`.execute(
    db,
  )
  await drop()
  // The merged run no longer sends anything, but the digest lists its event.
  expect(await ages()).toMatchObject({ notifications: [10, 10], events: [10, 10, 10], messages: [10] })
  await sql`DELETE FROM timers; DELETE FROM graphile_worker._private_jobs`.execute(db)
  await sql`UPDATE notifications SET status = 'completed' WHERE id = ${open.notificationId}`.execute(db)
  await drop()
  expect(await ages()).toEqual({ events: [], notifications: [], jobs: [], messages: [] })
})

test('a month is dropped as a whole only when no environment keeps it; until then, environments without a choice lose its rows', async () => {
  const { pool, db } = server.database
  await preparePartitions(pool, new Date('2026-01-01T00:00:00Z'))
  const keeper = await server.freshApi()
  await keep({ activityDays: 0, messageDays: 0, inboxDays: 0 }, keeper)
  const january = new Date('2026-01-10T00:00:00Z')
  await add(january)
  await add(january, {}, keeper)
  const usual = { activityDays: 60, messageDays: 60 }
  await drop(usual)
  expect(await ages()).toEqual({ events: [], notifications: [], jobs: [], messages: [] })
  expect((await ages(keeper)).events).toHaveLength(1)
  await keep({ activityDays: null, messageDays: null, inboxDays: null }, keeper)
  await sql`UPDATE environments SET retention = NULL`.execute(db)
  await drop(usual)
  expect((await ages(keeper)).events).toEqual([])
  const months = await partitionedMonths(pool, ['events'])
  expect(months.filter(({ end }) => end <= days(60))).toEqual([])
})
