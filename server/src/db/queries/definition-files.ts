// What files own in an environment: what they last pushed, and whether others may change it.
import { type Selectable, sql } from 'kysely'
import { fail } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import type { DefinitionFileTable, DefinitionKind } from '../core/tables.ts'

export type DefinitionFileRow = Selectable<DefinitionFileTable>

/** Of one environment; of these ids only, if given. */
export async function listDefinitionFiles(
  db: Db | Tx,
  environmentId: string,
  only?: { kind: DefinitionKind; ids: string[] },
): Promise<DefinitionFileRow[]> {
  return db
    .selectFrom('definition_files')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .$if(only !== undefined, (query) =>
      query
        .where('kind', '=', only?.kind ?? 'workflow')
        .where('id', '=', sql<string>`ANY (${only?.ids ?? []}::text[])`),
    )
    .orderBy('kind')
    .orderBy('id')
    .execute()
}

export async function writeDefinitionFiles(tx: Tx, rows: DefinitionFileRow[]): Promise<void> {
  if (rows.length === 0) return
  const column = (name: keyof DefinitionFileRow) => sql`${rows.map((row) => row[name])}::text[]`
  await sql`
    INSERT INTO definition_files (environment_id, kind, id, revision, path, repository, commit, url, pushed_at)
    SELECT environment_id, kind, id, revision, path, repository, commit, url, ${rows[0]?.pushed_at}::timestamptz
    FROM unnest(${column('environment_id')}, ${column('kind')}, ${column('id')}, ${column('revision')}, ${column('path')},
                ${column('repository')}, ${column('commit')}, ${column('url')})
      AS given (environment_id, kind, id, revision, path, repository, commit, url)
    ON CONFLICT (environment_id, kind, id) DO UPDATE
      SET revision = excluded.revision, path = excluded.path, repository = excluded.repository,
          commit = excluded.commit, url = excluded.url, pushed_at = excluded.pushed_at`.execute(tx)
}

/** @returns how many files owned */
export async function deleteDefinitionFiles(
  tx: Tx,
  environmentId: string,
  resources: Array<{ kind: DefinitionKind; id: string }>,
): Promise<number> {
  if (resources.length === 0) return 0
  const { rows } = await sql<{ id: string }>`
    DELETE FROM definition_files f
    USING unnest(${resources.map(({ kind }) => kind)}::text[], ${resources.map(({ id }) => id)}::text[]) AS gone (kind, id)
    WHERE f.environment_id = ${environmentId} AND f.kind = gone.kind AND f.id = gone.id RETURNING f.id`.execute(tx)
  return rows.length
}

/** Where the environment says so, what files own is changed by a push or a publish only. */
export async function refuseOwned(tx: Tx, environmentId: string, kind: DefinitionKind, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await sql<Owned>`
    SELECT f.id, f.path FROM environments e
    JOIN definition_files f ON f.environment_id = e.id AND f.kind = ${kind} AND f.id = ANY (${ids}::text[])
    WHERE e.id = ${environmentId} AND e.definition_edits = 'refuse' ORDER BY f.id LIMIT 1`.execute(tx)
  refuseFound(kind, rows)
}

/**
 * The same for everything that workflows or layouts say in a locale that files own: the texts of a locale are one file. Call
 * before they are deleted, or after they were copied.
 */
export async function refuseOwnedTexts(
  tx: Tx,
  environmentId: string,
  resourceType: 'workflow' | 'layout',
  rowIds: string[],
): Promise<void> {
  if (rowIds.length === 0) return
  const { rows } = await sql<Owned>`
    SELECT f.id, f.path FROM environments e
    JOIN definition_files f ON f.environment_id = e.id AND f.kind = 'translation'
    WHERE e.id = ${environmentId} AND e.definition_edits = 'refuse' AND EXISTS (
      SELECT FROM translations t
      WHERE t.environment_id = e.id AND t.resource_type = ${resourceType} AND t.resource_row_id = ANY (${rowIds}::text[])
        AND t.locale = f.id AND t.content::text <> '{}')
    ORDER BY f.id LIMIT 1`.execute(tx)
  refuseFound('translation', rows)
}

interface Owned {
  id: string
  path: string | null
}

function refuseFound(kind: DefinitionKind, [owned]: Owned[]): void {
  if (owned)
    throw fail('owned_by_files', { id: owned.id, path: owned.path ?? 'no path given' }, { ctx: { ...owned, kind } })
}
