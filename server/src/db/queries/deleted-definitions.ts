// Deleted workflows and layouts, whose history is kept for 30 days: one with the same identifier continues it.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import type { DeletedDefinitionTable } from '../core/tables.ts'
import type { VersionedKind } from './versions.ts'

export type DeletedRow = Selectable<DeletedDefinitionTable>

/** Its history is no longer shown after this time, whether it was removed yet or not. */
export const keptDays = 30
const dayMs = 86_400_000
export const keptSince = (now: Date): Date => new Date(now.getTime() - keptDays * dayMs)

export async function noteDeleted(
  tx: Tx,
  environmentId: string,
  kind: VersionedKind,
  rows: Array<{ id: string; identifier: string; version: number }>,
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  await tx
    .insertInto('deleted_definitions')
    .values(
      rows.map(({ id, identifier, version }) => ({
        ...{ environment_id: environmentId, kind, identifier, id, version },
        deleted_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'kind', 'identifier']).doUpdateSet((update) => ({
        id: update.ref('excluded.id'),
        version: update.ref('excluded.version'),
        deleted_at: update.ref('excluded.deleted_at'),
      })),
    )
    .execute()
}

/** By identifier, else by the internal id it had. */
export async function findDeleted(
  db: Db | Tx,
  environmentId: string,
  kind: VersionedKind,
  { identifier, id = identifier }: { identifier: string; id?: string | undefined },
  now: Date,
): Promise<DeletedRow | undefined> {
  const rows = await db
    .selectFrom('deleted_definitions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('kind', '=', kind)
    .where('deleted_at', '>', keptSince(now))
    .where((where) => where.or([where('identifier', '=', identifier), where('id', '=', id)]))
    .execute()
  return rows.find((row) => row.identifier === identifier) ?? rows[0]
}

/** Those of an environment. */
export const listDeleted = async (db: Db | Tx, environmentId: string, now: Date): Promise<DeletedRow[]> =>
  db
    .selectFrom('deleted_definitions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('deleted_at', '>', keptSince(now))
    .execute()

/**
 * New ones with these identifiers go on with the history of deleted ones: it is copied, because runs under way need theirs.
 * @returns the last version of each that has one, by identifier
 */
export async function continueHistory(
  tx: Tx,
  environmentId: string,
  kind: VersionedKind,
  made: Array<{ id: string; identifier: string }>,
  now: Date,
): Promise<Map<string, number>> {
  const { rows } = await sql<{ identifier: string; id: string; old: string; version: number }>`
    DELETE FROM deleted_definitions d
    USING unnest(${made.map(({ id }) => id)}::text[], ${made.map(({ identifier }) => identifier)}::text[])
      AS made (id, identifier)
    WHERE d.environment_id = ${environmentId} AND d.kind = ${kind} AND d.identifier = made.identifier
      AND d.deleted_at > ${keptSince(now)}
      AND NOT EXISTS (SELECT FROM ${sql.table(`${kind}s`)} r WHERE r.environment_id = ${environmentId} AND r.id = made.id)
    RETURNING d.identifier, made.id, d.id AS old, d.version`.execute(tx)
  if (rows.length === 0) return new Map()
  const [table, column] = [sql.table(`${kind}_versions`), sql.ref(`${kind}_id`)]
  const more = kind === 'workflow' ? sql`, published_at, payload_schema` : sql``
  await sql`
    INSERT INTO ${table} (environment_id, ${column}, version, definition, created_at, author, source, message,
                          translations, saves ${more})
    SELECT v.environment_id, made.id, v.version, v.definition || jsonb_build_object('id', made.id), v.created_at, v.author,
           v.source, v.message, v.translations, v.saves ${more}
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ old }) => old)}::text[]) AS made (id, old)
    JOIN ${table} v ON v.environment_id = ${environmentId} AND ${sql.ref(`v.${kind}_id`)} = made.old`.execute(tx)
  return new Map(rows.map(({ identifier, version }) => [identifier, version]))
}
