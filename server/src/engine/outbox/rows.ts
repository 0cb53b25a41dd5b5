// Rows of `belfry.outbox`: calls of SQL functions that are committed and not carried out yet. The same here and in databases of
// applications, and for the command line tool; docs/sql.md describes the format.
import { newId } from '../../db/core/ids.ts'

export type CallKind = 'trigger' | 'cancel' | 'upsert_subscriber'

export interface OutboxRow {
  /** The transaction that called, and the place of the call in it. */
  xact: string
  id: string
  format: number
  environment_id: string
  kind: CallKind
  transaction_id: string | null
  body: Record<string, unknown>
  role: string
  created_at: Date
}

/** Why a call was not carried out. */
export interface Refusal {
  code: string
  message: string
}

/** Formats of rows that this version reads. */
export const knownFormats: readonly number[] = [1]
/** Rows that one transaction takes. */
export const mostRows = 500
/** How long refused calls are kept. */
export const refusedDays = 30
/**
 * In another database older calls are refused: they might have been carried out before a crash, and their transaction ids
 * forgotten since. So they have to be younger than the memory for ids, with some time to spare.
 * @param dedupDays how long ids are remembered
 */
export const oldestHours = (dedupDays = 30): number => Math.min(29, Math.max(dedupDays - 1, dedupDays / 2)) * 24

/** What callers tell a drain that sleeps. */
export const channel = 'belfry_outbox'
/** Held by a drain that is awake; then callers notify nobody (the function `belfry.add_call`). */
export const awakeLock = '7313884026'
/** Held by transactions that have called and count on a drain that is awake. */
export const callersLock = '7313884028'

const isWanted = '($2::text[] IS NULL OR o.environment_id = ANY ($2::text[]))'

/**
 * Takes the calls of some transactions. Only who holds the first row of a transaction may take any of it, so the calls of one are
 * carried out in their order by any number of drains. Goes through the index from one transaction to the next: one with many calls
 * costs no more than one with a single call. Four times as many as wanted are looked at, because other drains hold some.
 * $1: how many; $2: only of these environments, null for all.
 */
export const takeRows = {
  name: 'take_outbox',
  text: `
    WITH RECURSIVE first AS (
      (SELECT o.xact, o.id FROM belfry.outbox o WHERE ${isWanted} ORDER BY o.xact, o.id LIMIT 1)
      UNION ALL
      SELECT next.* FROM first, LATERAL (
        SELECT o.xact, o.id FROM belfry.outbox o WHERE o.xact > first.xact AND ${isWanted}
        ORDER BY o.xact, o.id LIMIT 1) next
    ), held AS MATERIALIZED (
      SELECT o.xact FROM (SELECT * FROM first LIMIT 4 * $1::int) f JOIN belfry.outbox o ON o.xact = f.xact AND o.id = f.id
      ORDER BY o.xact LIMIT $1::int FOR UPDATE OF o SKIP LOCKED
    )
    SELECT o.xact::text AS xact, o.id::text AS id, o.format, o.environment_id, o.kind, o.transaction_id, o.body, o.role, o.created_at
    FROM held JOIN belfry.outbox o ON o.xact = held.xact AND ${isWanted}
    ORDER BY o.xact, o.id LIMIT $1::int`,
}

/** Removes the calls that were carried out, and keeps the refused ones with the reason: $3 to $6, for some of the ids. */
export const settleRows = {
  name: 'settle_outbox',
  text: `
    WITH gone AS (
      DELETE FROM belfry.outbox o USING unnest($1::xid8[], $2::bigint[]) AS t (xact, id)
      WHERE o.xact = t.xact AND o.id = t.id RETURNING o.*
    )
    INSERT INTO belfry.refused (environment_id, id, format, kind, transaction_id, body, role, created_at, code, message, refused_at)
    SELECT g.environment_id, r.refused_id, g.format, g.kind, g.transaction_id, g.body, g.role, g.created_at, r.code, r.message,
           $7::timestamptz
    FROM gone g JOIN unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) AS r (id, refused_id, code, message) ON r.id = g.id`,
}

/** The values of `settleRows`. */
export function settled(rows: OutboxRow[], refusals: ReadonlyMap<string, Refusal>, now: Date): unknown[] {
  const refused = [...refusals]
  return [
    rows.map(({ xact }) => xact),
    rows.map(({ id }) => id),
    refused.map(([id]) => id),
    refused.map(() => newId(now)),
    refused.map(([, { code }]) => code),
    refused.map(([, { message }]) => message),
    now,
  ]
}

/** Puts refused calls back, and tells the drain; a row for each. $1: the environment; $2: their ids, null for all. */
export const retryRows = {
  name: 'retry_refused',
  text: `
    WITH back AS (
      DELETE FROM belfry.refused r WHERE r.environment_id = ANY ($1::text[]) AND ($2::text[] IS NULL OR r.id = ANY ($2::text[]))
      RETURNING r.*
    ), sorted AS (SELECT * FROM back ORDER BY id), added AS (
      INSERT INTO belfry.outbox (format, environment_id, kind, transaction_id, body, role, created_at)
      SELECT format, environment_id, kind, transaction_id, body, role, $3::timestamptz FROM sorted
      RETURNING id
    )
    SELECT pg_notify('${channel}', '') FROM added`,
}

/**
 * The rows to carry out together: of each transaction the calls up to the first of another kind, where it begins with the kind of
 * the very first row.
 */
export function waveOf(rows: OutboxRow[]): OutboxRow[] {
  const kind = rows[0]?.kind
  const over = new Set<string>()
  return rows.filter(({ xact, kind: own }) => {
    if (own !== kind) over.add(xact)
    return !over.has(xact)
  })
}

/** Rows of a later version, which this one must not guess at. */
export function formatRefusal({ format }: OutboxRow): Refusal | undefined {
  if (knownFormats.includes(format)) return undefined
  return {
    code: 'unknown_format',
    message: `The row has format ${format}, which this version does not know; upgrade the service, then retry`,
  }
}
