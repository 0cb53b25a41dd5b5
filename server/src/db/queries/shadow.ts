// Environments in front of another service: their settings, the triggers that were passed on, and what differed.
import { sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import { storableJson } from '../core/storable.ts'
import { type DifferenceKind, liveMark, type ShadowSettings } from '../core/tables.ts'
import { isOfTransaction } from './transactions.ts'

/** The header that asks Belfry itself, and tells the service behind it nothing. */
export const shadowHeader = 'belfry-shadow'

export interface Shadow extends ShadowSettings {
  /** Encrypted. */
  key: string
}

/** As they are now: which way a trigger goes must not depend on what a process remembers. */
export async function findShadow(db: Db | Tx, environmentId: string): Promise<Shadow | undefined> {
  const row = await db
    .selectFrom('environments')
    .select(['shadow', 'shadow_key'])
    .where('id', '=', environmentId)
    .executeTakeFirst()
  return row?.shadow && row.shadow_key !== null ? { ...row.shadow, key: row.shadow_key } : undefined
}

/** Of these triggers, those that were delivered here and not passed on. */
export async function findLiveHere(db: Db, environmentId: string, transactionIds: string[]): Promise<Set<string>> {
  if (transactionIds.length === 0) return new Set()
  const { rows } = await sql<{ transaction_id: string }>`
    SELECT asked.transaction_id
    FROM (SELECT ${environmentId}::text AS environment_id, unnest(${transactionIds}::text[]) AS transaction_id) asked
    JOIN events e ON ${sql.raw(isOfTransaction('asked.environment_id', 'asked.transaction_id'))}
    WHERE e.overrides -> ${liveMark}::text IS NOT NULL`.execute(db)
  return new Set(rows.map((row) => row.transaction_id))
}

export interface PassedOn {
  transactionId: string
  workflowId: string
}

/** Looks come in slots, so that many triggers share a job. */
const slotMs = 5_000
/** Most triggers have ended on both sides by then. */
const firstLookMs = 5_000

/** Notes triggers that were passed on, and has them compared. One that is known already is not noted again. */
export async function notePassedOn(
  db: Db,
  environmentId: string,
  triggers: PassedOn[],
  { now, settleMinutes }: { now: Date; settleMinutes: number },
): Promise<void> {
  const settlesAt = new Date(now.getTime() + settleMinutes * 60_000)
  const dueAt = new Date(Math.min(settlesAt.getTime(), now.getTime() + firstLookMs))
  await sql`
    WITH noted AS (
      INSERT INTO shadow_triggers (environment_id, id, transaction_id, workflow_id, created_at, settles_at, due_at)
      SELECT ${environmentId}, t.id, t.transaction_id, t.workflow_id, ${now}, ${settlesAt}, ${dueAt}
      FROM unnest(${triggers.map(() => newId(now))}::text[], ${triggers.map((each) => each.transactionId)}::text[],
                  ${triggers.map((each) => each.workflowId)}::text[]) AS t (id, transaction_id, workflow_id)
      ORDER BY t.transaction_id
      ON CONFLICT DO NOTHING
    )
    ${queueingLook(dueAt, now)}`.execute(db)
}

/** Queues a look. Its delay counts from the database's clock, which the queue goes by. */
function queueingLook(at: Date, now: Date) {
  const slot = Math.ceil(at.getTime() / slotMs)
  const delayMs = Math.max(0, slot * slotMs - now.getTime())
  return sql`
    SELECT queue_job('compare_shadow', '{}', 10::smallint, now() + make_interval(secs => ${delayMs / 1000}),
                     ${`compare_shadow ${slot}`})`
}

export async function queueLook(db: Db, at: Date, now: Date): Promise<void> {
  await queueingLook(at, now).execute(db)
}

export interface Difference {
  transactionId: string | null
  subscriberId: string | null
  workflowId: string | null
  stepId: string | null
  kind: DifferenceKind
  path: string
  upstream: unknown
  here: unknown
}

const rowsOf = (differences: Difference[], now: Date) =>
  storableJson(
    differences.map((each) => ({
      ...{ id: newId(now), transaction_id: each.transactionId, subscriber_id: each.subscriberId },
      ...{ workflow_id: each.workflowId, step_id: each.stepId, kind: each.kind, path: each.path },
      ...{ upstream: each.upstream ?? null, here: each.here ?? null },
    })),
  )

/** Each of them, as `g`. */
const listed = (differences: Difference[], now: Date) => sql`
  json_to_recordset(${rowsOf(differences, now)}::json) AS g (id text, transaction_id text, subscriber_id text, workflow_id text,
    step_id text, kind text, path text, upstream json, here json)`
const inserting = sql`
  INSERT INTO shadow_differences (environment_id, id, transaction_id, subscriber_id, workflow_id, step_id, kind, path, upstream,
                                  here, created_at)`

/** Of writes that failed here. The triggers among them count as compared. */
export async function noteFailed(db: Db, environmentId: string, differences: Difference[], now: Date): Promise<void> {
  await sql`
    WITH given AS MATERIALIZED (SELECT g.* FROM ${listed(differences, now)}), compared AS (
      UPDATE shadow_triggers t SET outcome = 'different', compared_at = ${now}, due_at = NULL
      FROM given g
      WHERE t.environment_id = ${environmentId} AND t.transaction_id = g.transaction_id AND t.outcome IS NULL
    )
    ${inserting} SELECT ${environmentId}, g.*, ${now}::timestamptz FROM given g`.execute(db)
}

/** The result of a comparison. One that another process has written meanwhile stays. */
export async function noteCompared(
  db: Db,
  { environmentId, id }: { environmentId: string; id: string },
  differences: Difference[],
  now: Date,
): Promise<void> {
  await sql`
    WITH compared AS (
      UPDATE shadow_triggers SET outcome = ${differences.length === 0 ? 'same' : 'different'}, compared_at = ${now}, due_at = NULL
      WHERE environment_id = ${environmentId} AND id = ${id} AND outcome IS NULL RETURNING id
    )
    ${inserting} SELECT ${environmentId}, g.*, ${now}::timestamptz FROM compared, ${listed(differences, now)}`.execute(
    db,
  )
}
