// A consistent backup of a database in use: every table through COPY, in one transaction. It holds no schema, only the list of
// applied migrations, which recreate it.
import type pg from 'pg'
import { ownSchema } from '../core/migrate.ts'
import { partitionedMonths, partitionedTables } from '../core/partitions.ts'
import { Secrets } from '../core/secrets.ts'
import { type BackupHeader, type BackupTable, type Piece, writeBackupFile } from './backup-file.ts'
import { copyOut } from './copy.ts'

interface Options {
  pool: pg.Pool
  file: string
  secretKey: string
  /** Whether to include the key. */
  withKey: boolean
  now: Date
  say: (line: string) => void
}

interface Totals {
  tables: number
  rows: number
}

/** How often a long backup or restore reports its progress. */
export const progressEveryMs = 5_000

export async function makeBackup({ pool, file, say, ...given }: Options): Promise<Totals> {
  const totals: Totals = { tables: 0, rows: 0 }
  const client = await pool.connect()
  try {
    await client.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    const tables = await storedTables(client)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    // Locked before the snapshot, so that no partition is dropped meanwhile; the chore that drops them retries later.
    await client.query(`LOCK TABLE ${tables.map(({ name }) => name).join(', ')} IN ACCESS SHARE MODE`)
    const header = await headerOf(pool, client, given)
    await writeBackupFile(file, piecesOf(client, header, tables, totals, say))
  } finally {
    // Closing it ends the transaction, and a COPY that was not read to its end.
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
      if (Date.now() - saidAt < progressEveryMs) continue
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
  WHERE (n.oid = ${ownSchema} OR n.nspname IN ('belfry', 'graphile_worker')) AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relpersistence = 'p' AND c.relname NOT IN ('belfry_migrations', 'migrations')`

/**
 * Belfry's tables and the queue's, from the catalog, so that new tables are included. Without unlogged tables, which do not
 * survive a crash either, and without the lists of migrations, which the migrations write.
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
  // Read after the snapshot, so that every number in its rows has been issued.
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

/** The version of the queue's schema. */
export async function queueMigrations(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ id: number }>('SELECT max(id) AS id FROM graphile_worker.migrations')
  return rows[0]?.id ?? 0
}
