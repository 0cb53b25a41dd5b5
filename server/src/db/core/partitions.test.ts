import { sql } from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import { addActivity, rowsByPartition } from '../../../test/activity-rows.ts'
import { useServer } from '../../../test/server.ts'
import { newId } from './ids.ts'
import { monthOf, partitionedMonths, preparePartitions } from './partitions.ts'

const server = useServer()
const filled = ['events', 'notifications', 'jobs', 'messages'] as const
const tables = [...filled, 'posted_events', 'questions', 'question_people'] as const
const may = new Date('2026-05-20T12:00:00Z')

const prepare = (now = may) => preparePartitions(server.database.pool, now)

afterEach(async () => {
  for (const table of tables) {
    const { rows } = await sql<{ name: string }>`
      SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = ${table}::regclass AND inhrelid::regclass::text !~ '_default$'`.execute(server.database.db)
    for (const { name } of rows) await sql`DROP TABLE ${sql.table(name)}`.execute(server.database.db)
    await sql`DELETE FROM ${sql.table(table)}`.execute(server.database.db)
  }
})

const add = (at: Date) => addActivity(server.database, { environmentId: server.api.environmentId, at })

test('this month and the next get partitions, once', async () => {
  const names = tables.map((table) => `${table}_2026_05`)
  const next = tables.map((table) => `${table}_2026_06`)
  expect(await prepare()).toEqual([...names, ...next])
  expect(await prepare()).toEqual([])
  expect(await prepare(new Date('2026-06-01T00:00:00Z'))).toEqual(tables.map((table) => `${table}_2026_07`))
  const months = await partitionedMonths(server.database.pool, tables)
  expect(months.map(({ start }) => start.toISOString().slice(0, 7))).toEqual(['2026-05', '2026-06', '2026-07'])
})

test('a year ends in December', async () => {
  expect(await prepare(new Date('2026-12-31T23:59:59Z'))).toEqual([
    ...tables.map((table) => `${table}_2026_12`),
    ...tables.map((table) => `${table}_2027_01`),
  ])
  expect(monthOf(new Date('2026-12-31T23:59:59Z'))).toMatchObject({
    start: new Date('2026-12-01T00:00:00Z'),
    end: new Date('2027-01-01T00:00:00Z'),
  })
})

test('each row goes to the month of its id, from the first second to the last', async () => {
  await prepare()
  await add(new Date('2026-05-01T00:00:00Z'))
  await add(new Date('2026-05-31T23:59:59.999Z'))
  await add(new Date('2026-06-01T00:00:00Z'))
  expect(await rowsByPartition(server.database)).toEqual({
    ...Object.fromEntries(filled.map((table) => [`${table}_2026_05`, 2])),
    ...Object.fromEntries(filled.map((table) => [`${table}_2026_06`, 1])),
  })
})

test('a partition has the keys and indexes of its table', async () => {
  await prepare()
  const indexesOf = async (name: string) => {
    const { rows } = await sql<{ text: string }>`
      SELECT regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', '') AS text FROM pg_index
      WHERE indrelid = ${name}::regclass AND indisvalid ORDER BY 1`.execute(server.database.db)
    return rows.map(({ text }) => text)
  }
  for (const table of tables) expect(await indexesOf(`${table}_2026_05`)).toEqual(await indexesOf(`${table}_default`))
})

test("rows in the default partition are moved to their month's", async () => {
  await add(new Date('2026-02-10T00:00:00Z'))
  await add(new Date('2026-04-30T23:59:59Z'))
  const kept = await add(may)
  await add(new Date('2026-06-03T00:00:00Z'))
  // Not an id of ours.
  await sql`UPDATE messages SET id = 'strange' WHERE id = ${(await add(may)).messageId}`.execute(server.database.db)
  await prepare()
  const each = (month: string, count: number) => filled.map((table) => [`${table}_${month}`, count])
  expect(await rowsByPartition(server.database)).toEqual({
    ...Object.fromEntries([...each('2026_02', 1), ...each('2026_04', 1), ...each('2026_05', 2), ...each('2026_06', 1)]),
    messages_2026_05: 1,
    messages_default: 1,
  })
  const row = await server.database.db
    .selectFrom('notifications')
    .select(['event_id', 'channels', 'created_at'])
    .where('environment_id', '=', kept.environmentId)
    .where('id', '=', kept.notificationId)
    .executeTakeFirst()
  expect(row).toEqual({ event_id: kept.eventId, channels: ['in_app'], created_at: may })
  expect(await prepare()).toEqual([])
})

test('concurrent workers share the work', async () => {
  await add(may)
  const made = (await Promise.all([prepare(), prepare(), prepare()])).flat()
  expect(made).toHaveLength(2 * tables.length)
  expect(new Set(made).size).toBe(2 * tables.length)
  expect(await rowsByPartition(server.database)).toEqual(
    Object.fromEntries(filled.map((table) => [`${table}_2026_05`, 1])),
  )
})

async function waitersFor(table: string): Promise<number> {
  const { rows } = await sql`SELECT FROM pg_locks WHERE relation = ${table}::regclass AND NOT granted`.execute(
    server.database.db,
  )
  return rows.length
}

test('a change to a row that is being moved is not lost', async () => {
  const { eventId } = await add(may)
  let prepared: Promise<string[]> | undefined
  let changed: Promise<{ numAffectedRows?: bigint }> | undefined
  await server.database.db.transaction().execute(async (tx) => {
    await sql`SELECT FROM events_default`.execute(tx)
    prepared = prepare()
    await vi.waitUntil(async () => (await waitersFor('events_default')) === 1, { interval: 5 })
    changed = sql`UPDATE events SET started_at = ${may} WHERE id = ${eventId}`.execute(server.database.db)
    await vi.waitUntil(async () => (await waitersFor('events')) === 1, { interval: 5 })
  })
  expect(await prepared).toHaveLength(2 * tables.length)
  expect(await changed).toMatchObject({ numAffectedRows: 1n })
})

test('a long transaction is not interrupted; the next try succeeds', async () => {
  await server.database.db.transaction().execute(async (tx) => {
    await sql`INSERT INTO jobs SELECT * FROM jobs_default`.execute(tx)
    await expect(prepare()).rejects.toThrow('lock timeout')
  })
  // The insert locked only its table, so the partitions before it were created.
  expect(await prepare()).not.toContain('events_2026_05')
  expect(await prepare()).toEqual([])
})

test("next month's partition is created while its table is in use", async () => {
  await prepare()
  const id = newId(may)
  await server.database.db.transaction().execute(async (tx) => {
    await sql`UPDATE events SET started_at = NULL WHERE id = ${id}`.execute(tx)
    expect(await prepare(new Date('2026-06-02T00:00:00Z'))).toHaveLength(tables.length)
  })
})
