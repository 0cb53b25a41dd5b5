// Integrations: finding them, and ranking them within their channel.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { hasPrimary, isSandbox } from '../core/integration-facts.ts'
import type { IntegrationTable } from '../core/tables.ts'

export type IntegrationRow = Selectable<IntegrationTable>

/** The longest list; more than anybody sets up. */
export const mostIntegrations = 1000

/**
 * Locks until the transaction ends: an integration's rank depends on all others of its channel, so changes are serialized.
 * Locks the environment's row, which also covers integrations that do not exist yet. False if the environment was deleted.
 */
export async function lockIntegrations(tx: Tx, environmentId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('environments')
    .select('id')
    .where('id', '=', environmentId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

export async function listIntegrations(
  db: Db | Tx,
  environmentId: string,
  { onlyActive = false } = {},
): Promise<IntegrationRow[]> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('deleted_at', 'is', null)
    .$if(onlyActive, (query) => query.where('active', '=', true))
    .orderBy('created_at')
    .orderBy('id')
    .limit(mostIntegrations)
    .execute()
}

export async function findIntegration(
  db: Db | Tx,
  environmentId: string,
  id: string,
): Promise<IntegrationRow | undefined> {
  return db
    .selectFrom('integrations')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

type Coming = Pick<IntegrationRow, 'environment_id' | 'channel' | 'provider_id'> & { isConditional: boolean }

/** The rank of an integration about to become active: below the primary, or first if there is none or only the sandbox. */
export async function makeRoom(
  tx: Tx,
  { environment_id: environmentId, channel, provider_id, isConditional }: Coming,
  now: Date,
): Promise<Pick<IntegrationRow, 'priority' | 'is_primary'> & { takesFromSandbox: boolean }> {
  if (!hasPrimary(channel)) return { priority: 0, is_primary: false, takesFromSandbox: false }
  const first = await tx
    .selectFrom('integrations')
    .select(['id', 'priority', 'is_primary', 'provider_id'])
    .where('environment_id', '=', environmentId)
    .where('channel', '=', channel)
    .where('active', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('priority', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!first?.is_primary) return { priority: (first?.priority ?? 0) + 1, is_primary: true, takesFromSandbox: false }
  const takesFromSandbox = isSandbox(first) && !isSandbox({ provider_id }) && !isConditional
  await tx
    .updateTable('integrations')
    .set({ ...(takesFromSandbox ? { is_primary: false } : { priority: first.priority + 1 }), updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('id', '=', first.id)
    .execute()
  return { priority: first.priority + (takesFromSandbox ? 1 : 0), is_primary: takesFromSandbox, takesFromSandbox }
}

/** After a primary integration was deleted: the next active one without conditions takes its place, the sandbox last. */
export async function promoteNext(tx: Tx, environmentId: string, channel: string, now: Date): Promise<void> {
  if (!hasPrimary(channel)) return
  const active = await tx
    .selectFrom('integrations')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('channel', '=', channel)
    .where('active', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('priority', 'desc')
    .orderBy('id', 'desc')
    .execute()
  const able = active.filter(({ conditions }) => conditions.length === 0)
  const next = able.find((row) => !isSandbox(row)) ?? able[0]
  if (next && !active.some(({ is_primary }) => is_primary)) await makePrimary(tx, next, now)
}

/** Renumbers the priorities of a channel's active integrations to n, n-1, …, 1 in their order, with `firstId` first. */
export async function renumber(
  tx: Tx,
  environmentId: string,
  channel: string,
  now: Date,
  firstId?: string,
): Promise<void> {
  if (!hasPrimary(channel)) return
  await sql`
    UPDATE integrations t SET priority = ranked.priority, updated_at = ${now}
    FROM (
      SELECT id, row_number() OVER (ORDER BY id IS NOT DISTINCT FROM ${firstId ?? null}::text, priority, id DESC) AS priority
      FROM integrations
      WHERE environment_id = ${environmentId} AND channel = ${channel} AND active AND deleted_at IS NULL
    ) ranked
    WHERE t.environment_id = ${environmentId} AND t.id = ranked.id AND t.priority <> ranked.priority`.execute(tx)
}

interface Rank {
  columns: Partial<Pick<IntegrationRow, 'is_primary' | 'priority'>>
  /** Renumber afterwards, with `first` first if given. */
  renumber?: { first?: string }
}

/** How its rank changes when it is turned on or off, or gets conditions. */
export async function rankAfter(
  tx: Tx,
  row: IntegrationRow,
  { active = row.active, conditions }: { active: boolean | undefined; conditions: unknown[] | undefined },
  now: Date,
): Promise<Rank | undefined> {
  if (!hasPrimary(row.channel)) return undefined
  if (row.active && !active) return { columns: { is_primary: false, priority: 0 }, renumber: {} }
  if (!row.active && active) {
    const isConditional = (conditions ?? row.conditions).length > 0
    const { priority, takesFromSandbox } = await makeRoom(tx, { ...row, isConditional }, now)
    return { columns: { priority, ...(takesFromSandbox ? { is_primary: true } : {}) } }
  }
  const isConditional = conditions !== undefined && conditions.length > 0
  return row.is_primary && isConditional ? { columns: { is_primary: false }, renumber: { first: row.id } } : undefined
}

/** Two statements, because there must never be two primaries. */
export async function makePrimary(tx: Tx, row: IntegrationRow, now: Date): Promise<void> {
  await tx
    .updateTable('integrations')
    .set({ is_primary: false, updated_at: now })
    .where('environment_id', '=', row.environment_id)
    .where('channel', '=', row.channel)
    .where('is_primary', '=', true)
    .where('deleted_at', 'is', null)
    .execute()
  await tx
    .updateTable('integrations')
    .set({ is_primary: true, active: true, conditions: '[]', updated_at: now })
    .where('environment_id', '=', row.environment_id)
    .where('id', '=', row.id)
    .execute()
  await renumber(tx, row.environment_id, row.channel, now, row.id)
}
