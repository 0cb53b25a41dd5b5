// How far imports are, as their requests say.
import { sql } from 'kysely'
import type { Db, Tx } from '../../db/core/database.ts'

export const mostListed = 20
/** Without a request for this long, an import counts as stopped. */
const patienceMs = 60_000

export interface Progress {
  importId: string
  source: string
  found: Record<string, number>
  offset: number
}

interface Counts {
  imported: number
  unchanged: number
  failed: number
}

/**
 * All kinds of the import get a row, so that it is known what is left. A page that comes twice counts once: `done` is a place,
 * and what a repetition finds is not added. @returns whether it is the first page of the kind
 */
export async function saveProgress(
  tx: Tx,
  at: { environmentId: string; kind: string; progress: Progress; now: Date },
  counts: Counts,
): Promise<boolean> {
  const { environmentId, kind, now } = at
  const { importId, source, found, offset } = at.progress
  const items = counts.imported + counts.unchanged + counts.failed
  const kinds = Object.entries({ [kind]: offset + items, ...found }).sort(([a], [b]) => (a < b ? -1 : 1))
  const { rows } = await sql<{ before: string | null }>`
    WITH old AS (
      SELECT done FROM imports WHERE environment_id = ${environmentId} AND id = ${importId} AND kind = ${kind}
    ), saved AS (
      INSERT INTO imports AS i
        (environment_id, id, kind, source, found, done, imported, unchanged, failed, started_at, updated_at)
      SELECT ${environmentId}, ${importId}, given.kind, ${source}, given.found,
             CASE WHEN given.kind = ${kind} THEN ${offset + items}::bigint ELSE 0 END,
             CASE WHEN given.kind = ${kind} THEN ${counts.imported}::bigint ELSE 0 END,
             CASE WHEN given.kind = ${kind} THEN ${counts.unchanged}::bigint ELSE 0 END,
             CASE WHEN given.kind = ${kind} THEN ${counts.failed}::bigint ELSE 0 END, ${now}, ${now}
      FROM unnest(${kinds.map(([name]) => name)}::text[], ${kinds.map(([, count]) => count)}::bigint[]) AS given (kind, found)
      ON CONFLICT (environment_id, id, kind) DO UPDATE
      SET found = greatest(excluded.found, excluded.done), done = greatest(i.done, excluded.done),
          imported = i.imported + CASE WHEN excluded.done > i.done THEN excluded.imported ELSE 0 END,
          unchanged = i.unchanged + CASE WHEN excluded.done > i.done THEN excluded.unchanged ELSE 0 END,
          failed = i.failed + CASE WHEN excluded.done > i.done THEN excluded.failed ELSE 0 END,
          updated_at = excluded.updated_at
      WHERE i.kind = ${kind}
    )
    SELECT (SELECT done FROM old) AS before`.execute(tx)
  return rows[0]?.before === null || rows[0]?.before === '0'
}

export interface ShownImport {
  importId: string
  source: string
  status: 'running' | 'stopped' | 'done'
  startedAt: Date
  updatedAt: Date
  kinds: Array<{ kind: string; found: number; done: number } & Counts>
}

/** Newest first. */
export async function listImports(db: Db, environmentId: string, now: Date): Promise<ShownImport[]> {
  const { rows } = await sql<{
    id: string
    source: string
    started_at: Date
    updated_at: Date
    kinds: ShownImport['kinds']
  }>`
    SELECT id, min(source) AS source, min(started_at) AS started_at, max(updated_at) AS updated_at,
           json_agg(json_build_object('kind', kind, 'found', found, 'done', done, 'imported', imported,
                                      'unchanged', unchanged, 'failed', failed) ORDER BY kind) AS kinds
    FROM imports WHERE environment_id = ${environmentId}
    GROUP BY id ORDER BY max(updated_at) DESC, id LIMIT ${mostListed}`.execute(db)
  return rows.map(({ id, source, started_at, updated_at, kinds }) => {
    const isDone = kinds.every(({ found, done }) => done >= found)
    const isQuiet = now.getTime() - updated_at.getTime() > patienceMs
    return {
      ...{ importId: id, source, startedAt: started_at, updatedAt: updated_at, kinds },
      status: isDone ? 'done' : isQuiet ? 'stopped' : 'running',
    }
  })
}
