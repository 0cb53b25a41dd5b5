// A backup of everything in the database as it is at one moment, taken while it is in use: every table through COPY, in one
// transaction. The schema is not in it, but which migrations had been applied: they make it again.
import type pg from 'pg'
import { partitionedMonths, partitionedTables } from '../core/partitions.ts'
import { Secrets } from '../core/secrets.ts'
import { type BackupHeader, type BackupTable, type Piece, writeBackupFile } from './backup-file.ts'
import { copyOut } from './copy.ts'

interface Options {
  pool: pg.Pool
  file: string
  secretKey: string
  /** Whether the key goes into the file. */
  withKey: boolean
  now: Date
  say: (line: string) => void
}

interface Totals {
  tables: number
  rows: number
}

/** How often a long backup or restore says how far it is. */
export const sayEveryMs = 5_000

export async function makeBackup({ pool, file, say, ...given }: Options): Promise<Totals> {
  const totals: Totals = { tables: 0, rows: 0 }
  const client = await pool.connect()
  try {
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    const tables = await storedTables(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    // Before the snapshot, so that no partition of it can be dropped meanwhile; what wants to has to try again later.
    await client.query(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS SHARE MODE`)
    const header = await headerOf(pool, client, given)
    await writeBackupFile(file, piecesOf(client, header, tables, totals, say))
  } finally {
    // Closed, which ends the transaction, and a COPY that nobody reads to its end.
    client.release(true)
  }
  return totals
}

async function* piecesOf(
  client: pg.PoolClient,
  header: BackupHeader,
  tables: BackupTable[],
  totals: Totals,
  say: Options['say'],
): AsyncGenerator<Piece> {
  yield { kind: 'header', header }
  let bytes = 0
  let saidAt = Date.now()
  for (const table of tables) {
    yield { kind: 'table', table }
    const copy = copyOut(client, `SELECT ${table.columns.join(', ')} FROM ${table.name}`)
    for await (const chunk of copy) {
      yield { kind: 'rows', chunk }
      bytes += chunk.length
      if (Date.now() - saidAt < sayEveryMs) continue
      saidAt = Date.now()
      say(`${totals.tables} of ${tables.length} tables, ${Math.round(bytes / 1_000_000)} MB so far`)
    }
    const rows = await copy.rows
    yield { kind: 'table-end', rows }
    totals.tables += 1
    totals.rows += rows
  }
}

const identity = `
  SELECT format('%I.%I', n.nspname, c.relname) AS name, quote_ident(a.attname) AS column, c.oid, a.attnum,
    pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname) AS sequence
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  WHERE n.nspname IN (current_schema(), 'graphile_worker') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relpersistence = 'p' AND c.relname NOT IN ('belfry_migrations', 'migrations')`

/**
 * Of the catalogue, so that a table made later is not forgotten: Belfry's own and the queue's. Not what would not survive
 * a crash either (unlogged), and not the lists of migrations, which the migrations write.
 */
export async function storedTables(client: pg.ClientBase): Promise<BackupTable[]> {
  const { rows } = await client.query<BackupTable>(
    `SELECT name, array_agg("column" ORDER BY attnum) AS columns FROM (${identity}) stored GROUP BY name ORDER BY name`,
  )
  return rows
}

async function headerOf(
  pool: pg.Pool,
  client: pg.ClientBase,
  { secretKey, withKey, now }: Pick<Options, 'secretKey' | 'withKey' | 'now'>,
): Promise<BackupHeader> {
  const { rows: migrations } = await client.query<{ name: string }>('SELECT name FROM belfry_migrations ORDER BY name')
  // After the snapshot was taken: a number that a row in it has was given out before.
  const { rows: sequences } = await client.query<{ sequence: string; last: string | null }>(
    `SELECT sequence, pg_sequence_last_value(sequence::regclass)::text AS last FROM (${identity}) stored
     WHERE sequence IS NOT NULL ORDER BY sequence`,
  )
  const months: BackupHeader['months'] = {}
  for (const table of partitionedTables)
    months[table] = (await partitionedMonths(pool, [table])).map(({ start }) => start.toISOString().slice(0, 7))
  return {
    format: 1,
    createdAt: now.toISOString(),
    migrations: migrations.map(({ name }) => name),
    queueMigrations: await queueMigrations(client),
    months,
    sequences: Object.fromEntries(sequences.flatMap(({ sequence, last }) => (last === null ? [] : [[sequence, last]]))),
    secretKey: withKey ? secretKey : null,
    keyCheck: keyCheckOf(secretKey),
  }
}

export const keyCheckOf = (secretKey: string): string => new Secrets(secretKey).sign('backup')

/** How far the queue's own schema is. */
export async function queueMigrations(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ id: number }>('SELECT max(id) AS id FROM graphile_worker.migrations')
  return rows[0]?.id ?? 0
}
