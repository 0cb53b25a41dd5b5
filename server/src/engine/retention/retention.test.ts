import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { type Activity, addActivity, addRow } from '../../../test/activity-rows.ts'
import { useServer } from '../../../test/server.ts'
import { firstIdAt, newId } from '../../db/core/ids.ts'
import { monthOf, partitionedMonths, partitionName, preparePartitions } from '../../db/core/partitions.ts'
import { dropExpired, type Retention } from './retention.ts'

const server = useServer()
const tables = ['events', 'notifications', 'jobs', 'messages'] as const
const lines: Array<{ msg: string; reason?: string }> = []
const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) })
const january = new Date('2026-01-10T08:00:00Z')
const days = 86_400_000

afterEach(async () => {
  lines.length = 0
  for (const month of await partitionedMonths(server.database.pool, tables))
    for (const table of tables)
      await sql`DROP TABLE IF EXISTS ${sql.table(partitionName(table, month))}`.execute(server.database.db)
  await sql`DELETE FROM timers; DELETE FROM graphile_worker._private_jobs`.execute(server.database.db)
})

/** One row in January, and partitions for every month up to May. */
async function januaryActivity(given: Partial<Parameters<typeof addActivity>[1]> = {}): Promise<Activity> {
  for (const month of [0, 2, 4])
    await preparePartitions(server.database.pool, monthOf(new Date('2026-01-01T00:00:00Z'), month).start)
  return add({ at: january, ...given })
}

const add = (given: Omit<Parameters<typeof addActivity>[1], 'environmentId'>) =>
  addActivity(server.database, { environmentId: server.api.environmentId, ...given })

/** At the last moment that still counts, or later. */
async function drop(now: Date, retention: Partial<Retention> = {}): Promise<void> {
  await dropExpired(
    {
      pool: server.database.pool,
      clock: { now: () => now },
      log,
      retention: { activityDays: 30, messageDays: 60, ...retention },
    },
    new AbortController().signal,
  )
}

/** The months with data left, by table. */
async function left(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of tables) {
    const months = await partitionedMonths(server.database.pool, [table])
    found[table] = months.map(({ start }) => start.toISOString().slice(5, 7))
  }
  return found
}

const from = (month: number) => ['01', '02', '03', '04', '05', '06'].slice(month - 1)
const endOfJanuary = new Date('2026-02-01T00:00:00Z')
const after = (time: Date, ms: number) => new Date(time.getTime() + ms)

test('a month is dropped when its last moment expires, activity and messages each on their own', async () => {
  await januaryActivity()
  await drop(after(endOfJanuary, 30 * days - 1))
  expect(await left()).toEqual({ events: from(1), notifications: from(1), jobs: from(1), messages: from(1) })

  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toEqual({ events: from(2), notifications: from(2), jobs: from(2), messages: from(1) })
  expect(lines).toMatchObject([
    {
      msg: 'dropped expired data',
      partitions: ['notifications', 'jobs', 'events', 'posted_events', 'question_people', 'questions'].map(
        (table) => `${table}_2026_01`,
      ),
    },
  ])

  await drop(after(endOfJanuary, 60 * days))
  expect(await left()).toEqual({ events: from(3), notifications: from(3), jobs: from(3), messages: from(2) })
})

test('the reasons of recipients without a run are deleted with their trigger', async () => {
  await januaryActivity()
  const note = (eventId: string) =>
    sql`INSERT INTO passed_over (environment_id, event_id, id, reason, subscriber_ids, created_at)
        VALUES (${server.api.environmentId}, ${eventId}, ${eventId}, 'excluded', '{ada}', ${january})`.execute(
      server.database.db,
    )
  const [old, recent] = [firstIdAt(january), firstIdAt(endOfJanuary)]
  for (const eventId of [old, recent]) await note(eventId)
  await drop(after(endOfJanuary, 30 * days))
  const kept = await server.database.db.selectFrom('passed_over').select('event_id').execute()
  expect(kept).toEqual([{ event_id: recent }])
})

test('what is kept forever is kept', async () => {
  await januaryActivity()
  await drop(after(endOfJanuary, 3650 * days), { activityDays: 0 })
  expect(await left()).toMatchObject({ events: from(1), notifications: from(1), jobs: from(1), messages: [] })
  await januaryActivity()
  await drop(after(endOfJanuary, 3650 * days), { messageDays: 0 })
  expect(await left()).toMatchObject({ events: [], messages: from(1) })
})

test('a month with a run in progress is kept until it has ended', async () => {
  const { notificationId } = await januaryActivity({ status: 'processing' })
  await drop(after(endOfJanuary, 60 * days))
  const others = { events: ['01', ...from(3)], notifications: ['01', ...from(3)], jobs: ['01', ...from(3)] }
  expect(await left()).toMatchObject(others)
  expect(lines).toContainEqual(
    expect.objectContaining({
      msg: 'kept expired data that is still needed',
      reason: 'a run, or the digest it was merged into, has not ended',
    }),
  )
  await sql`UPDATE notifications SET status = 'completed' WHERE id = ${notificationId}`.execute(server.database.db)
  await drop(after(endOfJanuary, 60 * days))
  expect(await left()).toMatchObject({ events: from(3), notifications: from(3), jobs: from(3) })
})

test('so is a month whose run has a timer', async () => {
  const { environmentId, notificationId } = await januaryActivity()
  await addRow(server.database, 'timers', {
    environment_id: environmentId,
    subject_id: notificationId,
    position: 0,
    kind: 'step',
    due_at: after(january, 90 * days),
  })
  await drop(after(endOfJanuary, 60 * days))
  expect(await left()).toMatchObject({ events: ['01', ...from(3)], messages: from(1) })
  expect(lines).toContainEqual(expect.objectContaining({ reason: 'a timer is set' }))
})

test('so is a month with events in an open digest', async () => {
  await januaryActivity()
  const digest = await add({ at: new Date('2025-12-31T00:00:00Z'), status: 'processing' })
  await preparePartitions(server.database.pool, new Date('2026-01-01T00:00:00Z'))
  await add({ at: january, digestedInto: digest.notificationId })
  await drop(after(endOfJanuary, 60 * days))
  expect(await left()).toMatchObject({ notifications: ['12', '01', ...from(3)], events: ['12', '01', ...from(3)] })
})

test('so is a month with a trigger whose run started later and has not ended', async () => {
  await januaryActivity()
  await add({ at: new Date('2026-03-02T00:00:00Z'), eventAt: january, status: 'processing' })
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ notifications: from(1), events: from(1) })
  expect(lines).toMatchObject([{ reason: 'a run that was started in a later month has not ended' }])
})

test.each([
  [
    'start_runs',
    (eventId: string) => ({
      events: [
        ['e', 'f'.repeat(24)],
        ['e', eventId],
      ],
    }),
  ],
  ['fan_out', (eventId: string) => ({ environmentId: 'e', eventId })],
])('so is a month with a trigger that a %s job names', async (task, payload) => {
  const { eventId } = await januaryActivity()
  await sql`SELECT graphile_worker.add_job(${task}, ${JSON.stringify(payload(eventId))}::json)`.execute(
    server.database.db,
  )
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ notifications: from(1), events: from(1) })
  expect(lines).toMatchObject([{ reason: 'a trigger has not started all its runs' }])
})

test('so is a month with a posted event of which not all runs were told', async () => {
  const { environmentId } = await januaryActivity()
  await addRow(server.database, 'posted_events', {
    ...{ environment_id: environmentId, id: newId(january), name: 'paid', key: 'k', payload: {}, matched: 0 },
    ...{ reached: '', created_at: january },
  })
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ notifications: from(1), events: from(1) })
  expect(lines).toMatchObject([{ reason: 'not all runs were told of a posted event' }])
  await sql`UPDATE posted_events SET reached = NULL`.execute(server.database.db)
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ notifications: from(2), events: from(2) })
})

test.each([
  ['open', 'a question is open'],
  ['answered', 'a run of an earlier month that asked a question has not ended'],
])('so is a month with a question that is %s, until its run has ended', async (state, reason) => {
  await januaryActivity()
  await preparePartitions(server.database.pool, new Date('2025-12-01T00:00:00Z'))
  const { environmentId, notificationId } = await add({ at: new Date('2025-12-30T00:00:00Z'), status: 'processing' })
  await addRow(server.database, 'questions', {
    ...{ environment_id: environmentId, id: newId(january), notification_id: notificationId, position: 0, state },
    ...{ transaction_id: 't', workflow_id: 'w', workflow: 'approve', step_id: 'ask', subscriber_row_id: 's' },
    ...{ question: 'Fine?', answers: [], level: 0, round: 1, asked: [] },
    ...{ deadline: endOfJanuary, created_at: january, updated_at: january },
  })
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ notifications: ['12', ...from(1)], events: ['12', ...from(1)] })
  expect(lines).toContainEqual(expect.objectContaining({ reason }))
  await sql`UPDATE questions SET state = 'answered'`.execute(server.database.db)
  await sql`UPDATE notifications SET status = 'completed'`.execute(server.database.db)
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ notifications: from(2), events: from(2) })
})

test('a month that was partly dropped before is finished', async () => {
  await januaryActivity()
  await sql`DROP TABLE notifications_2026_01`.execute(server.database.db)
  await drop(after(endOfJanuary, 30 * days))
  expect(await left()).toMatchObject({ events: from(2), notifications: from(2), jobs: from(2) })
})

test('a worker that stops does not wait for it', async () => {
  await januaryActivity()
  const clock = { now: () => after(endOfJanuary, 365 * days) }
  const retention = { activityDays: 30, messageDays: 30 }
  const stopped = dropExpired({ pool: server.database.pool, clock, log, retention }, AbortSignal.abort())
  await expect(stopped).rejects.toThrow('aborted')
  expect(await left()).toMatchObject({ events: from(1), messages: from(1) })
})
