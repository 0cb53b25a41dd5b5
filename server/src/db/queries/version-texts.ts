// The texts of workflows and layouts in their versions: a change of translations is a version too.
import { type RawBuilder, sql } from 'kysely'
import { announce } from '../core/changes.ts'
import type { Tx } from '../core/database.ts'
import type { TranslatedType } from './translations.ts'
import { type Authorship, authorshipColumns } from './versions.ts'

const tables = {
  workflow: { rows: 'workflows', versions: 'workflow_versions', id: 'workflow_id', more: ['payload_schema'] },
  layout: { rows: 'layouts', versions: 'layout_versions', id: 'layout_id', more: [] },
} as const

interface Written {
  now: Date
  /** For the history. */
  by?: Authorship | undefined
}

/**
 * Call after texts were written, or a version: where the texts are not those of the current version, they are added to it if this
 * transaction made it, else to a new one. The caller has locked the rows against changes.
 */
export async function keepTexts(
  tx: Tx,
  environmentId: string,
  kind: TranslatedType,
  ids: string[],
  { now, by }: Written,
): Promise<void> {
  if (ids.length === 0) return
  const { rows, versions, id, more } = tables[kind]
  const { author, source, message } = authorshipColumns(by)
  const copied: RawBuilder<unknown> = sql.join(
    more.map((column) => sql`, ${sql.ref(column)}`),
    sql``,
  )
  const isOfVersion = sql`v.environment_id = ${environmentId} AND ${sql.ref(`v.${id}`)} = s.id`
  const { rows: made } = await sql<{ id: string }>`
    WITH stale AS (
      SELECT r.id, r.version, t.texts, v.xmin = pg_current_xact_id()::xid AS is_own
      FROM ${sql.table(rows)} r
      JOIN ${sql.table(versions)} v
        ON v.environment_id = r.environment_id AND ${sql.ref(`v.${id}`)} = r.id AND v.version = r.version
      CROSS JOIN LATERAL (
        SELECT coalesce(json_object_agg(t.locale, t.content ORDER BY t.locale), '{}'::json) AS texts FROM translations t
        WHERE t.environment_id = r.environment_id AND t.resource_type = ${kind} AND t.resource_row_id = r.id
          AND t.content::text <> '{}') t
      WHERE r.environment_id = ${environmentId} AND r.id = ANY (${ids}::text[])
        AND v.translations::text IS DISTINCT FROM t.texts::text
    ), amended AS (
      UPDATE ${sql.table(versions)} v SET translations = s.texts FROM stale s
      WHERE s.is_own AND ${isOfVersion} AND v.version = s.version
    ), next AS (
      UPDATE ${sql.table(rows)} r SET version = r.version + 1 FROM stale s
      WHERE NOT s.is_own AND r.environment_id = ${environmentId} AND r.id = s.id
      RETURNING r.id, r.version, s.version AS before, s.texts
    )
    INSERT INTO ${sql.table(versions)}
      (environment_id, ${sql.ref(id)}, version, definition, created_at, author, source, message, translations ${copied})
    SELECT ${environmentId}, s.id, s.version, v.definition || jsonb_build_object('version', s.version), ${now}::timestamptz,
           ${author}::jsonb, ${source}::jsonb, ${message}::text, s.texts ${copied}
    FROM next s JOIN ${sql.table(versions)} v ON ${isOfVersion} AND v.version = s.before
    RETURNING ${sql.ref(id)} AS id`.execute(tx)
  if (made.length > 0) await announce(tx, rows, environmentId)
}
