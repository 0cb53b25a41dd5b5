// The storage floor: the rows that the engine writes for a notification, written again by plain multi-row inserts, each
// committed to disk. The difference to the service is what the service adds.
import pg from 'pg'
import { newId } from '../../../server/src/db/core/ids.ts'
import type { Service } from '../harness/service.ts'

const perStatement = 100
const connections = 4
/** A separate environment, so that counts of the service's rows do not include these. */
const environmentId = 'bench-floor'

type Row = Record<string, string | null>

/** In the engine's order. A row's own id is named as other tables refer to it. */
const tables = {
  events: 'event_id',
  notifications: 'notification_id',
  jobs: 'job_id',
  messages: undefined,
} as const

/** @returns notifications written per second */
export async function plainInserts(service: Service, count: number): Promise<number> {
  const examples = await readExamples(service.database)
  const pool = new pg.Pool({ connectionString: service.databaseUrl, max: connections })
  let left = Math.ceil(count / perStatement)
  const write = async () => {
    const client = await pool.connect()
    try {
      while (left > 0) {
        left -= 1
        const ids = Array.from({ length: perStatement }, idsOfOne)
        await client.query('BEGIN')
        for (const [table, example] of examples) await client.query(insertOf(table, example, ids))
        await client.query('COMMIT')
      }
    } finally {
      client.release()
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, write))
  const took = performance.now() - began
  await pool.end()
  return (Math.ceil(count / perStatement) * perStatement) / (took / 1000)
}

export function idsOfOne(): Row {
  const now = new Date()
  const event = newId(now)
  return {
    ...{ environment_id: environmentId, event_id: event, notification_id: newId(now), job_id: newId(now) },
    transaction_id: `txn_${event}`,
  }
}

/** The newest notification's row in each table, values as text. */
export async function readExamples(database: pg.Pool): Promise<Map<string, Row>> {
  const newest = await database.query<{ event_id: string; id: string }>(
    "SELECT event_id, id FROM notifications WHERE status = 'completed' ORDER BY id DESC LIMIT 1",
  )
  const { event_id: event, id: notification } = newest.rows[0] ?? {}
  const examples = new Map<string, Row>()
  for (const table of Object.keys(tables)) {
    const columns = await database.query<{ column_name: string }>(
      "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1",
      [table],
    )
    const texts = columns.rows.map(({ column_name }) => `${column_name}::text`).join(', ')
    const [key, value] = {
      events: ['id', event],
      notifications: ['id', notification],
    }[table] ?? ['notification_id', notification]
    const { rows } = await database.query<Row>(`SELECT ${texts} FROM ${table} WHERE ${key} = $1`, [value])
    if (!rows[0]) throw new Error(`no row to copy in ${table}`)
    examples.set(table, rows[0])
  }
  return examples
}

export function insertOf(table: string, example: Row, ids: Row[]): pg.QueryConfig {
  const columns = Object.keys(example)
  const ownId = tables[table as keyof typeof tables]
  const rows = ids.map((_, row) => `(${columns.map((_, column) => `$${row * columns.length + column + 1}`).join(',')})`)
  const valueAt = (column: string, known: Row) => {
    if (column === 'id') return ownId ? known[ownId] : newId(new Date())
    return known[column] ?? example[column]
  }
  return {
    name: `plain_${table}`,
    text: `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.join(', ')}`,
    values: ids.flatMap((known) => columns.map((column) => valueAt(column, known))),
  }
}
