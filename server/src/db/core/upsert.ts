// Insert-or-update statements.
import { type RawBuilder, sql } from 'kysely'

/**
 * For `ON CONFLICT DO UPDATE … WHERE`: the new row differs in one of these columns. Compared as text, since `json` cannot be
 * compared otherwise; the text of `jsonb` does not depend on the order of members.
 */
export function isChanged(table: string, columns: readonly string[]): RawBuilder<boolean> {
  const row = (of: string) => sql.join(columns.map((column) => sql`${sql.ref(`${of}.${column}`)}::text`))
  return sql<boolean>`(${row(table)}) IS DISTINCT FROM (${row('excluded')})`
}
