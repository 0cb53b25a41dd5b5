// Every row of the database as text, for tests that compare what is stored before and after.
import { createHash } from 'node:crypto'
import type pg from 'pg'

interface Choice {
  schemas?: string[]
  /** Tables that every request may write to. */
  without?: string[]
}

/**
 * By table; those outside of `public` with their schema. In one statement, which a connection plans once: with one for each of a
 * hundred tables, some tests did little else.
 */
export async function storedRows(pool: pg.Pool, choice: Choice = {}): Promise<Record<string, string[]>> {
  const { schemas = ['public', 'belfry'], without = [] } = choice
  const { rows: tables } = await pool.query<{ name: string }>({
    name: 'tables_to_read',
    text: `
      SELECT CASE n.nspname WHEN 'public' THEN '' ELSE n.nspname || '.' END || c.relname AS name
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind = 'r' AND n.nspname = ANY ($1) AND c.relname <> ALL ($2) ORDER BY 1`,
    values: [schemas, without],
  })
  const text = tables.map(({ name }) => `SELECT '${name}' AS name, t::text AS row FROM ${name} t`).join(' UNION ALL ')
  const named = createHash('sha256').update(text).digest('hex').slice(0, 32)
  const { rows } = await pool.query<{ name: string; row: string }>({ name: named, text })
  const found = Object.fromEntries(tables.map(({ name }): [string, string[]] => [name, []]))
  for (const { name, row } of rows) found[name]?.push(row)
  for (const list of Object.values(found)) list.sort()
  return found
}
