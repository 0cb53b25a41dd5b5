// Brings the database to the newest schema: numbered plain SQL files, forward only, one process at a time.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { StartError } from '../../errors.ts'
import { packageFolder } from '../../package-folder.ts'

const folder = fileURLToPath(new URL('src/db/migrations', packageFolder))
const lockKey = 7_313_884_012
const oldestServer = 150_000

/**
 * New tables go where ours are. For a role named `belfry` the schema of that name, which has the functions for applications, would
 * come first in the usual search path.
 */
const stayHome = `
  SELECT set_config('search_path', quote_ident(coalesce(
    (SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = to_regclass('belfry_migrations')),
    (SELECT name FROM unnest(current_schemas(false)) AS name WHERE name <> 'belfry' LIMIT 1), current_schema(), 'public')), false)`

/** The schema of our tables, in SQL: not always the first in the search path. */
export const ownSchema = `(SELECT relnamespace FROM pg_class WHERE oid = 'belfry_migrations'::regclass)`

/** @param only apply just these migrations, for a backup that needs its old schema */
export async function migrate(pool: pg.Pool, { only }: { only?: string[] } = {}): Promise<{ applied: string[] }> {
  const client = await pool.connect()
  try {
    await refuseOldServer(client)
    // Waiting for another process's migration can take long, and so can a statement of our own.
    await client.query('SET statement_timeout = 0')
    // A session lock, so that it also covers the queue's migrations, which use other connections.
    await client.query('SELECT pg_advisory_lock($1)', [lockKey])
    await client.query(stayHome)
    // Each commit would wait for the disk; what is lost in a crash is lost from the end, and applied again. The queue's migrations
    // wait for the disk, and so for ours.
    await client.query('SET synchronous_commit = off')
    const applied = await applyMissing(client, only)
    await client.query('RESET synchronous_commit')
    await runMigrations({ pgPool: pool })
    return { applied }
  } finally {
    // Closes the connection, which ends the lock and the setting.
    client.release(true)
  }
}

async function applyMissing(client: pg.PoolClient, only: string[] | undefined): Promise<string[]> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS belfry_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  )
  const done = await namesOfApplied(client)
  const known = await knownMigrations()
  const unknown = done.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    throw new StartError(
      `The database was migrated by a newer Belfry (${unknown.join(', ')}). Start that version, or restore a backup.`,
    )
  }
  const missing = known.filter((name) => !done.includes(name) && (only?.includes(name) ?? true))
  for (const name of missing) await applyMigration(client, name)
  return missing
}

/** The migrations that the database does not have yet. */
export async function pendingMigrations(pool: pg.Pool): Promise<string[]> {
  const done = await namesOfApplied(pool)
  return (await knownMigrations()).filter((name) => !done.includes(name))
}

async function namesOfApplied(db: pg.Pool | pg.PoolClient): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('SELECT name FROM belfry_migrations')
  return rows.map((row) => row.name)
}

/** Names in the order of application. */
export async function knownMigrations(): Promise<string[]> {
  return (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort()
}

async function applyMigration(client: pg.PoolClient, name: string): Promise<void> {
  const sql = await readFile(`${folder}/${name}`, 'utf8')
  try {
    await client.query('BEGIN')
    await client.query(sql)
    await client.query('INSERT INTO belfry_migrations (name) VALUES ($1)', [name])
    await client.query('COMMIT')
  } catch (cause) {
    // The caller closes the connection, which rolls back.
    throw new StartError(`Migration ${name} failed; the database is unchanged by it.`, { cause })
  }
}

async function refuseOldServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version",
  )
  const server = rows[0]
  if (server && Number(server.number) < oldestServer) {
    throw new StartError(`Belfry needs PostgreSQL 15 or newer; DATABASE_URL points to ${server.version}.`)
  }
}
