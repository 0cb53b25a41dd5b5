// Partitions of the tables that grow without limit: one per table and calendar month, by the time in the ids, created ahead.
//
// Months, not weeks: a lookup that is not by id (an inbox, a transaction, a subscriber's activity) reads every partition, and a
// year of messages has 12 of them instead of 52. The price: old data is deleted up to a month late.
import type pg from 'pg'
import { firstIdAt } from './ids.ts'
import { ownSchema } from './migrate.ts'

/** Each table's partition key. */
const keys = {
  events: 'id',
  notifications: 'id',
  jobs: 'notification_id',
  messages: 'id',
  posted_events: 'id',
  questions: 'id',
  question_people: 'question_id',
} as const

export type PartitionedTable = keyof typeof keys

export const partitionedTables = Object.keys(keys) as PartitionedTable[]
const lockKey = 7_313_884_013
/**
 * While we wait for a lock, every query on the table queues behind us. A chore that times out is retried; meanwhile rows go
 * to the default partition.
 */
const lockTimeout = '2s'

/** A calendar month in UTC. */
export interface Month {
  start: Date
  end: Date
  /** The range of its ids: `from` inclusive, `to` exclusive. */
  from: string
  to: string
}

export function monthOf(time: Date, later = 0): Month {
  const startOf = (offset: number) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + offset, 1))
  const [start, end] = [startOf(later), startOf(later + 1)]
  return { start, end, from: firstIdAt(start), to: firstIdAt(end) }
}

export function partitionName(table: PartitionedTable, { start }: Month): string {
  return `${table}_${start.toISOString().slice(0, 7).replace('-', '_')}`
}

/**
 * Creates the partitions of this month and the next, and empties the default ones of past months' rows, which land there if
 * no worker ran at the turn of a month. With nothing to do it costs two lookups. @returns the new partitions
 */
export async function preparePartitions(pool: pg.Pool, now: Date): Promise<string[]> {
  const current = monthOf(now)
  const made: string[] = []
  const make = async (table: PartitionedTable, month: Month) => {
    if (await makePartition(pool, table, month, month.start > now)) made.push(partitionName(table, month))
  }
  for (const { table, month } of await missingPartitions(pool, [current, monthOf(now, 1)])) await make(table, month)
  let strays = await oldestStrays(pool, current)
  while (strays.length > 0) {
    for (const { table, id } of strays) await make(table, monthOf(new Date(Number.parseInt(id.slice(0, 8), 16) * 1000)))
    strays = await oldestStrays(pool, current)
  }
  return made
}

/** Not to_regclass: that may answer from the session's catalog cache, which waiting for an advisory lock does not refresh. */
const tableNamed = (name: string) => `SELECT FROM pg_class WHERE relname = ${name} AND relnamespace = ${ownSchema}`

async function missingPartitions(
  pool: pg.Pool,
  months: Month[],
): Promise<Array<{ table: PartitionedTable; month: Month }>> {
  const wanted = months.flatMap((month) => partitionedTables.map((table) => ({ table, month })))
  const { rows } = await pool.query<{ place: number }>(
    `SELECT place::int FROM unnest($1::text[]) WITH ORDINALITY AS t (name, place)
     WHERE NOT EXISTS (${tableNamed('t.name')}) ORDER BY place`,
    [wanted.map(({ table, month }) => partitionName(table, month))],
  )
  return rows.flatMap(({ place }) => wanted[place - 1] ?? [])
}

/** Each table's oldest row of a past month in the default partition. */
async function oldestStrays(pool: pg.Pool, current: Month): Promise<Array<{ table: PartitionedTable; id: string }>> {
  const each = partitionedTables.map(
    (table) => `SELECT '${table}' AS table, min(${keys[table]}) AS id FROM ${table}_default
                WHERE ${keys[table]} < $1 AND ${keys[table]} ~ '^[0-9a-f]{24}$'`,
  )
  const { rows } = await pool.query<{ table: PartitionedTable; id: string }>(
    `SELECT * FROM (${each.join(' UNION ALL ')}) strays WHERE id IS NOT NULL`,
    [current.from],
  )
  return rows
}

/** False if another process created it first. */
async function makePartition(pool: pg.Pool, table: PartitionedTable, month: Month, isAhead: boolean): Promise<boolean> {
  const name = partitionName(table, month)
  const key = keys[table]
  return exclusively(pool, async (client) => {
    const { rowCount } = await client.query(tableNamed('$1'), [name])
    if (rowCount === 1) return false
    // Created separately and then attached, so that a table in use is only locked against other schema changes. But if rows
    // are moved or may arrive right now, lock the table exclusively: a cached plan without the new partition would look for
    // them in the default one. Locks are taken in the order in which every statement takes them.
    await client.query(`
      LOCK TABLE ONLY ${table} IN ${isAhead ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS EXCLUSIVE'} MODE;
      LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE;
      SELECT set_config('search_path', ${ownSchema}::regnamespace::text, true);
      CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL);
      WITH moved AS (DELETE FROM ${table}_default WHERE ${key} >= '${month.from}' AND ${key} < '${month.to}' RETURNING *)
      INSERT INTO ${name} SELECT * FROM moved;
      ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${month.from}') TO ('${month.to}')`)
    return true
  })
}

/** Creates what is missing for these times. If a table is too busy, they stay in the default partition until the daily chore. */
export async function makePartitionsFor(pool: pg.Pool, table: PartitionedTable, times: Date[]): Promise<void> {
  const months = new Map(times.map((time) => monthOf(time)).map((month) => [month.from, month]))
  const { rows } = await pool.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relname = ANY ($1::text[]) AND relnamespace = ${ownSchema}`,
    [[...months.values()].map((month) => partitionName(table, month))],
  )
  const known = new Set(rows.map(({ name }) => name))
  for (const month of months.values()) {
    if (known.has(partitionName(table, month))) continue
    await makePartition(pool, table, month, false).catch((error: unknown) => {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error
    })
  }
}

const lockNotAvailable = '55P03'

/** Recreates the partitions of another database: by table, its calendar months (`2026-11`). */
export async function makePartitions(pool: pg.Pool, months: Record<string, string[]>): Promise<void> {
  for (const table of partitionedTables)
    for (const month of months[table] ?? [])
      await makePartition(pool, table, monthOf(new Date(`${month}-01T00:00:00Z`)), false)
}

/** The months that have partitions, oldest first. */
export async function partitionedMonths(pool: pg.Pool, of: readonly PartitionedTable[]): Promise<Month[]> {
  const { rows } = await pool.query<{ start: string }>(
    `SELECT DISTINCT replace(right(c.relname, 7), '_', '-') AS start
     FROM unnest($1::text[]) AS t (name)
     JOIN pg_inherits i ON i.inhparent = t.name::regclass
     JOIN pg_class c ON c.oid = i.inhrelid AND c.relname ~ ('^' || t.name || '_[0-9]{4}_[0-9]{2}$')
     ORDER BY start`,
    [of],
  )
  return rows.map((row) => monthOf(new Date(`${row.start}-01T00:00:00Z`)))
}

export async function dropPartition(pool: pg.Pool, table: PartitionedTable, month: Month): Promise<void> {
  await exclusively(pool, (client) => client.query(`DROP TABLE IF EXISTS ${partitionName(table, month)}`))
}

/** One process at a time, in a transaction with a short lock timeout and no statement timeout. */
async function exclusively<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let failure: Error | undefined
  try {
    await client.query('BEGIN; SET LOCAL statement_timeout = 0')
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey])
    await client.query(`SET LOCAL lock_timeout = '${lockTimeout}'`)
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    // After a failure the connection is closed, which rolls back.
    client.release(failure)
  }
}
