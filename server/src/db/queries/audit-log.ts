// Writes the audit log: who did what, to what, and from where.
import { sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import type { EventType } from './webhook-events.ts'

const auditEventType: EventType = 'audit.recorded'

export const actorTypes = ['person', 'api-key', 'system'] as const

export interface Actor {
  type: (typeof actorTypes)[number]
  id: string | null
  name: string
  email: string | null
}

export interface Act {
  organizationId: string
  actor: Actor
  /** `<resource>.<action>` */
  action: string
  target?: { type?: string; id?: string | null; name?: string | null }
  environmentId?: string
  address?: string
  details?: Record<string, unknown>
}

/**
 * The database chains it to the entry before (0034-audit-chain.sql). Webhooks get it if they name its type: those for everything
 * do not, because it tells of people of the team. What concerns the whole organization goes to endpoints of all environments.
 */
export async function recordAct(db: Db | Tx, act: Act, now: Date): Promise<void> {
  const { actor, target = {} } = act
  const entry = db
    .insertInto('audit_log')
    .values({
      id: newId(now),
      organization_id: act.organizationId,
      action: act.action,
      actor_type: actor.type,
      actor_id: actor.id,
      actor_name: actor.name,
      actor_email: actor.email,
      target_type: target.type ?? act.action.split('.', 1)[0] ?? '',
      target_id: target.id ?? null,
      target_name: target.name ?? null,
      acted_in: act.environmentId ?? null,
      address: act.address ?? null,
      details: JSON.stringify(act.details ?? {}),
      created_at: now,
    })
    .returningAll()
  const at = sql`${now}::timestamptz(3)`
  await sql`
    WITH entry AS (${entry}), wanted AS (
      SELECT e.environment_id, e.id AS endpoint_id FROM entry a
      JOIN environments n ON n.organization_id = a.organization_id AND n.id = coalesce(a.acted_in, n.id)
      JOIN webhook_endpoints e ON e.environment_id = n.id
      WHERE e.active AND ${auditEventType} = ANY (e.event_types)
    ), told AS (
      INSERT INTO webhook_events (environment_id, id, type, object, created_at)
      SELECT w.environment_id, new_row_id(${at}), ${auditEventType}, to_jsonb(a) - 'target_salt', ${at}
      FROM entry a, (SELECT DISTINCT environment_id FROM wanted) w
      RETURNING environment_id, id
    )
    INSERT INTO webhook_deliveries (environment_id, id, event_id, endpoint_id, status, attempts, due_at, history, created_at, updated_at)
    SELECT t.environment_id, new_row_id(${at}), t.id, w.endpoint_id, 'pending', 0, ${at}, '[]', ${at}, ${at}
    FROM told t JOIN wanted w USING (environment_id)`.execute(db)
}

export interface ChainReport {
  isWhole: boolean
  /** Entries that are left; older ones go by age. */
  entries: number
  /** Of these, the ones whose subscriber was erased. */
  erased: number
  first?: { number: string; createdAt: Date }
  last?: { number: string; hash: string }
  /** The first entry that does not fit. */
  broken?: { id: string | null; number: string; reason: string }
}

/** Computes every hash of an organization's chain again. */
export async function verifyChain(db: Db, organizationId: string): Promise<ChainReport> {
  const { rows } = await sql<{
    entries: number
    erased: number
    first: { number: string; createdAt: string } | null
    last: { number: string; hash: string } | null
    broken: { id: string | null; number: string; reason: string } | null
  }>`
    WITH chain AS (
      SELECT l.id, l.number, l.created_at, l.target_salt, l.hash,
        CASE
          WHEN lag(l.number) OVER w IS NOT NULL AND l.number <> lag(l.number) OVER w + 1 THEN 'Entries before it are missing'
          WHEN lag(l.hash) OVER w IS NOT NULL AND l.previous_hash <> lag(l.hash) OVER w THEN 'The entry before it was replaced'
          WHEN l.hash <> audit_entry_hash(l) THEN 'It was changed'
          WHEN l.target_salt IS NOT NULL AND l.target_digest <> audit_target_digest(l) THEN 'Its target was changed'
        END AS reason
      FROM audit_log l WHERE l.organization_id = ${organizationId} WINDOW w AS (ORDER BY l.number)
    ), head AS (
      SELECT number, encode(hash, 'hex') AS hash FROM audit_heads WHERE organization_id = ${organizationId}
    ), latest AS (SELECT number, encode(hash, 'hex') AS hash FROM chain ORDER BY number DESC LIMIT 1)
    SELECT (SELECT count(*)::int FROM chain) AS entries,
      (SELECT count(*)::int FROM chain WHERE target_salt IS NULL) AS erased,
      (SELECT json_build_object('number', number::text, 'createdAt', created_at) FROM chain ORDER BY number LIMIT 1) AS first,
      (SELECT json_build_object('number', number::text, 'hash', hash) FROM head) AS last,
      coalesce(
        (SELECT json_build_object('id', id, 'number', number::text, 'reason', reason) FROM chain
         WHERE reason IS NOT NULL ORDER BY number LIMIT 1),
        (SELECT json_build_object('id', NULL, 'number', h.number::text, 'reason', 'The last entries are missing')
         FROM head h LEFT JOIN latest l ON true
         WHERE l.number IS NOT NULL AND (l.number <> h.number OR l.hash <> h.hash))) AS broken`.execute(db)
  const { entries = 0, erased = 0, first, last, broken } = rows[0] ?? {}
  return {
    ...{ isWhole: !broken, entries, erased },
    ...(first ? { first: { ...first, createdAt: new Date(first.createdAt) } } : {}),
    ...(last ? { last } : {}),
    ...(broken ? { broken } : {}),
  }
}

/** The entries after this number, oldest first. @param environmentId only what was done there */
export async function entriesAfter(
  db: Db,
  {
    organizationId,
    environmentId,
    number,
  }: { organizationId: string; environmentId: string | undefined; number: string },
  limit: number,
) {
  let query = db.selectFrom('audit_log').selectAll().where('organization_id', '=', organizationId)
  if (environmentId !== undefined) query = query.where('acted_in', '=', environmentId)
  return query.where('number', '>', number).orderBy('number').limit(limit).execute()
}
