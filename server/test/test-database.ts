// A database for a test file: a copy of the migrated template. And what has to happen before another file may use it.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'
import { keptPrefix, template, withDatabase } from './global-setup.ts'

/** A copy of the migrated template, file by file: through the write-ahead log it takes six times as long. */
export async function createTestDatabase(name: string): Promise<string> {
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  // As the migrations leave it for a role of this name; a copy of a database does not have it.
  await administer(`ALTER ROLE belfry IN DATABASE ${name} SET search_path = public`)
  return withDatabase(inject('databaseUrl'), name)
}

export async function dropTestDatabase(name: string): Promise<void> {
  await administer(`DROP DATABASE ${name} WITH (FORCE)`)
}

/** Drops it not: whoever looks for the cause of a failure finds it. @returns its new name */
export async function keepTestDatabase(name: string): Promise<string> {
  await administer(`ALTER DATABASE ${name} RENAME TO ${keptPrefix}${name}`)
  return `${keptPrefix}${name}`
}

let admin: pg.Pool | undefined

async function administer(statement: string): Promise<void> {
  // One connection for all files of the worker; it ends with the process, or with the database.
  admin ??= new pg.Pool({ connectionString: inject('databaseUrl'), max: 1, allowExitOnIdle: true }).on(
    'error',
    () => undefined,
  )
  await admin.query(statement)
}

/** The tables that tests fill, and everything else in a database, which has to stay as it was. */
export class Contents {
  readonly #pool: pg.Pool
  readonly #tables: string[]
  readonly #untouched: string
  readonly #schema: string

  private constructor(
    pool: pg.Pool,
    { tables, untouched, schema }: { [name in 'untouched' | 'schema']: string } & { tables: string[] },
  ) {
    this.#pool = pool
    this.#tables = tables
    this.#untouched = untouched
    this.#schema = schema
  }

  /** Of a database that only the migrations have written to. */
  static async of(pool: pg.Pool): Promise<Contents> {
    const { rows } = await pool.query<{ name: string }>(`
      SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND n.nspname !~ '^pg_|^information_schema$' ORDER BY 1`)
    const all = rows.map(({ name }) => name).filter((name) => name !== knownTasks)
    const filled = new Set(await withRows(pool, all))
    const untouched = unionOf([...filled], (table) => `SELECT format('${table} %s', t) AS item FROM ${table} t`)
    const tables = all.filter((table) => !filled.has(table))
    return new Contents(pool, { tables, untouched, schema: await schemaOf(pool, untouched) })
  }

  /** @returns whether everything is as it was */
  async empty(): Promise<boolean> {
    if (!(await this.#isQuiet())) return false
    if ((await schemaOf(this.#pool, this.#untouched)) !== this.#schema) return false
    const { rowCount } = await this.#pool.query('SELECT FROM sign_in_attempts WHERE attempts > $1', [mostAttempts])
    if (rowCount) return false
    const filled = await withRows(this.#pool, this.#tables)
    if (filled.length === 0) return true
    const { rows } = await this.#pool.query<{ name: string; is_large: boolean }>(
      'SELECT name, pg_relation_size(name::regclass) > $2 AS is_large FROM unnest($1::text[]) AS name',
      [filled, largest],
    )
    // To delete a few rows takes less than to truncate, and leaves the plans of other connections valid.
    const statements = rows.map(({ name, is_large }) => (is_large ? `TRUNCATE ${name} CASCADE` : `DELETE FROM ${name}`))
    // Without triggers, and whatever refers to whatever.
    await this.#pool.query(['BEGIN', 'SET LOCAL session_replication_role = replica', ...statements, 'COMMIT'].join(';'))
    return true
  }

  /** What the last requests began may take a moment; whoever still holds a transaction then has forgotten it. */
  async #isQuiet(): Promise<boolean> {
    for (let looks = 0; looks < 50; looks += 1) {
      const { rowCount } = await this.#pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
         UNION ALL SELECT FROM pg_prepared_xacts WHERE database = current_database()`,
      )
      if (rowCount === 0) return true
      await sleep(20)
    }
    return false
  }
}

/** The queue's library remembers the numbers of its tasks. */
const knownTasks = 'graphile_worker._private_tasks'
/** From about so many wrong keys or passwords on, a process remembers addresses. */
const mostAttempts = 40
/** Of a table, in bytes: rows that were deleted stay in it until a vacuum. */
const largest = 256 * 1024

const unionOf = (tables: string[], select: (table: string) => string) => tables.map(select).join(' UNION ALL ')

async function withRows(pool: pg.Pool, tables: string[]): Promise<string[]> {
  const text = unionOf(tables, (table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT FROM ${table})`)
  const { rows } = await pool.query<{ name: string }>(text)
  return rows.map(({ name }) => name)
}

/** Everything that a migration or an administrator could change, and the rows of the tables that migrations fill. */
async function schemaOf(pool: pg.Pool, untouched: string): Promise<string> {
  const { rows } = await pool.query<{ schema: string }>(`
    WITH ours AS (SELECT oid, nspname, nspacl FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$')
    SELECT md5(string_agg(item, ' ' ORDER BY item)) AS schema FROM (
      SELECT concat_ws(' ', oid, nspname, nspacl) AS item FROM ours
      UNION ALL SELECT concat_ws(' ', c.oid, c.relname, c.relkind, c.relacl, c.relowner, c.reloptions)
        FROM pg_class c JOIN ours ON ours.oid = c.relnamespace
      UNION ALL SELECT concat_ws(' ', a.attrelid, a.attname, a.atttypid, a.attnotnull, a.atthasdef)
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN ours ON ours.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p')
      UNION ALL SELECT concat_ws(' ', p.oid, p.proname, p.xmin, p.proacl) FROM pg_proc p JOIN ours ON ours.oid = p.pronamespace
      UNION ALL SELECT concat_ws(' ', t.oid, t.tgname, t.tgenabled) FROM pg_trigger t
      UNION ALL SELECT concat_ws(' ', o.oid, o.conname, o.convalidated) FROM pg_constraint o
      UNION ALL SELECT concat_ws(' ', s.setrole, s.setconfig) FROM pg_db_role_setting s
        WHERE s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
      ${untouched === '' ? '' : `UNION ALL (${untouched})`}) AS items`)
  return rows[0]?.schema ?? ''
}
