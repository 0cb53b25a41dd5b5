// Forgets old versions of workflows and layouts: saves of one sitting that a later one stands for, entries beyond those that are
// kept, and the history of what was deleted long ago. What runs refer to stays, and so does the last version of everything.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { eventsToStart } from './rows.ts'

interface Pruning {
  now: Date
  /** Entries per workflow or layout. */
  keep: number
  stopping: AbortSignal
}

/** Inner saves, and anything else, are looked at a day later. */
const dayMs = 86_400_000

const kinds = {
  workflow: { versions: 'workflow_versions', id: 'workflow_id', rows: 'workflows' },
  layout: { versions: 'layout_versions', id: 'layout_id', rows: 'layouts' },
} as const
type Kind = keyof typeof kinds

/** Where the clock is held, times say nothing about the age of a version. @returns how many were removed */
export async function pruneVersions(db: Db, { now, keep, stopping }: Pruning): Promise<number> {
  const { rows: environments } = await sql<{ id: string }>`
    SELECT id FROM environments WHERE clock_seed IS NULL ORDER BY id`.execute(db)
  let removed = 0
  for (const { id } of environments)
    for (const kind of ['layout', 'workflow'] as const) {
      stopping.throwIfAborted()
      removed += await pruneKind(db, kind, id, { before: new Date(now.getTime() - dayMs), keep })
    }
  return removed
}

/**
 * A save is inner if the next version is one of the same sitting: the rule is that of `foldSaves`. What an entry loses, it
 * remembers in `saves`. Workflows that a trigger describes have versions without a source, and are left alone.
 */
async function pruneKind(
  db: Db,
  kind: Kind,
  environmentId: string,
  { before, keep }: { before: Date; keep: number },
): Promise<number> {
  const { versions, id, rows } = kinds[kind]
  const [table, column] = [sql.table(versions), sql.ref(id)]
  const { rows: gone } = await sql`
    WITH listed AS (
      SELECT ${column} AS id, version, created_at, message, saves, source IS NOT NULL AS is_signed,
        lead(created_at) OVER later AS next_at, max(version) OVER (PARTITION BY ${column}) AS last,
        coalesce(source ->> 'kind' = 'dashboard' AND lead(source ->> 'kind') OVER later = 'dashboard'
          AND author ->> 'id' = lead(author ->> 'id') OVER later
          AND message IS NULL AND lead(message) OVER later IS NULL AND published_at IS NULL
          AND lead(created_at) OVER later - created_at <= interval '10 minutes', false) AS is_inner
      FROM ${table} WHERE environment_id = ${environmentId}
      WINDOW later AS (PARTITION BY ${column} ORDER BY version)
    ), entered AS (
      SELECT *, count(*) FILTER (WHERE NOT is_inner) OVER (PARTITION BY id ORDER BY version DESC) AS entry,
        min(version) FILTER (WHERE NOT is_inner) OVER (
          PARTITION BY id ORDER BY version ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS heir
      FROM listed
    ), candidates AS MATERIALIZED (
      SELECT c.* FROM entered c
      LEFT JOIN ${sql.table(rows)} r ON r.environment_id = ${environmentId} AND r.id = c.id
      LEFT JOIN deleted_definitions d ON d.environment_id = ${environmentId} AND d.kind = ${kind} AND d.id = c.id
      WHERE c.created_at <= ${before} AND c.version <> c.last AND (
        c.is_inner OR (r.id IS NOT NULL AND c.entry > ${keep} AND c.message IS NULL)
        OR (r.id IS NULL AND d.id IS NULL AND c.is_signed))
    ), gone AS (
      DELETE FROM ${table} v USING candidates c
      WHERE v.environment_id = ${environmentId} AND ${sql.ref(`v.${id}`)} = c.id AND v.version = c.version
        AND v.message IS NOT DISTINCT FROM c.message
        AND ${kind === 'workflow' ? isUnreferred(environmentId) : sql`true`}
      RETURNING c.id, c.version, c.heir, c.is_inner, c.saves
    ), counted AS (
      UPDATE ${table} v SET saves = v.saves + g.saves
      FROM (SELECT id, heir, sum(saves)::int AS saves FROM gone WHERE is_inner GROUP BY id, heir) g
      WHERE v.environment_id = ${environmentId} AND ${sql.ref(`v.${id}`)} = g.id AND v.version = g.heir
        AND NOT EXISTS (SELECT FROM gone o WHERE o.id = g.id AND o.version = g.heir)
    )
    SELECT FROM gone`.execute(db)
  return gone.length
}

/**
 * Runs of a version begin after it was made and, unless the service was down for long, soon after the next one was. Runs that
 * are not over, and triggers that wait for their start, are looked at whatever their age.
 */
function isUnreferred(environmentId: string): RawBuilder<unknown> {
  const idAt = (time: RawBuilder<unknown>) => sql`lpad(to_hex(extract(epoch FROM ${time})::bigint), 8, '0')`
  const isOfVersion = (of: string) =>
    sql`${sql.ref(`${of}.environment_id`)} = ${environmentId} AND ${sql.ref(`${of}.workflow_id`)} = c.id
        AND ${sql.ref(`${of}.workflow_version`)} = c.version`
  return sql`
    NOT EXISTS (
      SELECT FROM notifications n
      WHERE ${isOfVersion('n')} AND n.id >= ${idAt(sql`c.created_at - interval '1 hour'`)}
        AND n.id < ${idAt(sql`coalesce(c.next_at, c.created_at) + interval '31 days'`)})
    AND NOT EXISTS (SELECT FROM notifications n WHERE ${isOfVersion('n')} AND n.status = 'processing')
    AND NOT EXISTS (
      SELECT FROM events e WHERE ${isOfVersion('e')} AND e.id = ANY (ARRAY(${sql.raw(eventsToStart)})))`
}
