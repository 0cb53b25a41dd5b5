// Brings the database to the newest schema: numbered plain SQL files, forward only, one process at a time.
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runMigrations } from 'graphile-worker'
import type pg from 'pg'

// The same folder whether this runs from src/ or dist/.
const folder = fileURLToPath(new URL('../../src/db/migrations', import.meta.url))
const lockKey = 7_313_884_012
const oldestServer = 150_000

export async function migrate(pool: pg.Pool): Promise<{ applied: string[] }> {
  const client = await pool.connect()
  const applied: string[] = []
  try {
    await refuseOldServer(client)
    // Session level, so that it also covers the queue's own migrations, which use connections of their own.
    await client.query('SELECT pg_advisory_lock($1)', [lockKey])
    try {
      await client.query(
        'CREATE TABLE IF NOT EXISTS belfry_migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
      )
      const done = await client.query<{ name: string }>('SELECT name FROM belfry_migrations')
      const known = await migrationFiles()
      const unknown = done.rows.filter((row) => !known.includes(row.name))
      if (unknown.length > 0) {
        throw new Error(
          `The database was migrated by a newer Belfry (${unknown.map((row) => row.name).join(', ')}). Start that version, or restore a backup.`,
        )
      }
      for (const name of known.filter((file) => !done.rows.some((row) => row.name === file))) {
        await applyMigration(client, name)
        applied.push(name)
      }
      await runMigrations({ pgPool: pool })
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [lockKey])
    }
  } finally {
    client.release()
  }
  return { applied }
}

/** The migrations this program knows that the database has not had yet. */
export async function pendingMigrations(pool: pg.Pool): Promise<string[]> {
  const done = await pool.query<{ name: string }>('SELECT name FROM belfry_migrations')
  return (await migrationFiles()).filter((file) => !done.rows.some((row) => row.name === file))
}

async function migrationFiles(): Promise<string[]> {
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
    await client.query('ROLLBACK')
    throw new Error(`Migration ${name} failed; the database is unchanged by it.`, { cause })
  }
}

async function refuseOldServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version",
  )
  const server = rows[0]
  if (server && Number(server.number) < oldestServer) {
    throw new Error(`Belfry needs PostgreSQL 15 or newer; DATABASE_URL leads to ${server.version}.`)
  }
}
