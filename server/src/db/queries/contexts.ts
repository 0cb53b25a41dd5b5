// Contexts of other resources: validated, found or created, and referred to by their keys `type:id`.
import { sql } from 'kysely'
import { fail } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'

export const contextNamePattern = '^[a-zA-Z0-9_-]+$'
const name = new RegExp(contextNamePattern)
const longestName = 100
const mostContexts = 5
const mostDataBytes = 64 * 1024

/** As callers send it: each context type with a context's id, or with its id and data. */
export type ContextPayload = Record<string, unknown>

interface ContextRef {
  type: string
  id: string
  data: Record<string, unknown>
}

/**
 * The sorted keys of the given contexts. Missing contexts are created; an existing one keeps its data. Concurrent calls create
 * one record each.
 */
export async function resolveContexts(
  db: Db | Tx,
  environmentId: string,
  payload: ContextPayload | undefined,
  now: Date,
): Promise<string[]> {
  if (payload === undefined) return []
  const contexts = readContexts(payload)
  await addContexts(db, environmentId, contexts, now)
  return contexts.map(({ type, id }) => `${type}:${id}`).sort()
}

/** How many of the given contexts do not exist yet. */
export async function countContexts(
  db: Db,
  environmentId: string,
  payload: ContextPayload,
): Promise<{ missing: number }> {
  const contexts = readContexts(payload)
  const { rows } = await sql<{ known: number }>`
    SELECT count(*)::int AS known FROM contexts
    WHERE environment_id = ${environmentId} AND (type, context_id) IN (
      SELECT * FROM unnest(${contexts.map((c) => c.type)}::text[], ${contexts.map((c) => c.id)}::text[]))`.execute(db)
  return { missing: contexts.length - (rows[0]?.known ?? 0) }
}

/** Creates the missing ones. Of several with the same key the first wins. */
export async function addContexts(db: Db | Tx, environmentId: string, given: ContextRef[], now: Date): Promise<void> {
  const byKey = new Map(given.toReversed().map((context) => [`${context.type}:${context.id}`, context]))
  // Always in the same order, so that two calls with the same new contexts cannot deadlock.
  const contexts = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, context]) => context)
  await sql`
    INSERT INTO contexts (environment_id, id, type, context_id, data, created_at, updated_at)
    SELECT ${environmentId}, id, type, context_id, data, ${now}, ${now}
    FROM unnest(${contexts.map(() => newId(now))}::text[], ${contexts.map((c) => c.type)}::text[], ${contexts.map((c) => c.id)}::text[],
                ${contexts.map((c) => JSON.stringify(c.data))}::jsonb[]) AS given (id, type, context_id, data)
    ON CONFLICT (environment_id, type, context_id) DO NOTHING`.execute(db)
}

/** Validates what callers send. */
export function readContexts(payload: ContextPayload): ContextRef[] {
  const entries = Object.entries(payload)
  if (entries.length === 0) throw fail('invalid_context')
  if (entries.length > mostContexts) throw fail('too_many_contexts', { count: entries.length })
  return entries.map(([type, value]) => {
    const { id, data = {} } =
      typeof value === 'string' ? { id: value } : isObject(value) ? (value as { id?: unknown; data?: unknown }) : {}
    if (!isName(type) || !isName(id) || !isObject(data)) throw fail('invalid_context')
    refuseLargeData(type, data)
    return { type, id, data }
  })
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= longestName && name.test(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function refuseLargeData(type: string, data: Record<string, unknown>): void {
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes > mostDataBytes) throw fail('context_data_too_large', { type, kilobytes: Math.ceil(bytes / 1024) })
}

/**
 * The filter by context keys. None: no filter. One empty value: only records without context. Otherwise: records with exactly
 * these keys, in any order.
 */
export function hasContextKeys(keys: string[] | undefined) {
  if (keys === undefined) return []
  const wanted = [...new Set(keys.filter((key) => key !== ''))].sort()
  return [sql`t.context_keys = ${wanted}::text[]`]
}
