// Integrations: found, ranked among those of their channel, and kept with their secrets encrypted.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import type { Secrets } from '../core/secrets.ts'
import type { IntegrationTable } from '../core/tables.ts'

export type IntegrationRow = Selectable<IntegrationTable>

/** More than anybody sets up; a list is never longer. */
export const mostIntegrations = 1000

/** These channels deliver through one chosen integration, the primary one. The others use whatever reaches a subscriber. */
export const hasPrimary = (channel: string) => channel === 'email' || channel === 'sms'

/**
 * Held until the transaction ends: which integration is primary and where it ranks depends on all others of the channel,
 * so they change one after another. The environment's row stands for all of them, also for those not made yet.
 * False when the environment is gone.
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

/** Where one that is about to be active comes in: below the primary, which makes room, or above all where there is none. */
export async function makeRoom(
  tx: Tx,
  environmentId: string,
  channel: string,
  now: Date,
): Promise<Pick<IntegrationRow, 'priority' | 'is_primary'>> {
  if (!hasPrimary(channel)) return { priority: 0, is_primary: false }
  const first = await tx
    .selectFrom('integrations')
    .select(['id', 'priority', 'is_primary'])
    .where('environment_id', '=', environmentId)
    .where('channel', '=', channel)
    .where('active', '=', true)
    .where('deleted_at', 'is', null)
    .orderBy('priority', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!first?.is_primary) return { priority: (first?.priority ?? 0) + 1, is_primary: true }
  await tx
    .updateTable('integrations')
    .set({ priority: first.priority + 1, updated_at: now })
    .where('environment_id', '=', environmentId)
    .where('id', '=', first.id)
    .execute()
  return { priority: first.priority, is_primary: false }
}

/** Priorities of a channel's active integrations become n, n-1, …, 1 in their present order, `firstId` before all others. */
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
  /** Afterwards, with this one first if it is named. */
  renumber?: { first?: string }
}

/** What switching it on or off, or giving it conditions, does to its place among the others. Nobody takes the place of a primary one. */
export async function rankAfter(
  tx: Tx,
  row: IntegrationRow,
  { active = row.active, conditions }: { active: boolean | undefined; conditions: unknown[] | undefined },
  now: Date,
): Promise<Rank | undefined> {
  if (!hasPrimary(row.channel)) return undefined
  if (row.active && !active) return { columns: { is_primary: false, priority: 0 }, renumber: {} }
  if (!row.active && active) {
    const { priority } = await makeRoom(tx, row.environment_id, row.channel, now)
    return { columns: { priority } }
  }
  const isConditional = conditions !== undefined && conditions.length > 0
  return row.is_primary && isConditional ? { columns: { is_primary: false }, renumber: { first: row.id } } : undefined
}

/** Two statements: at no moment may there be two primaries. */
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

type Members = Record<string, unknown>

/** As it is stored: the text in members with these names encrypted. */
export const sealSecrets = (members: Members, names: ReadonlySet<string>, secrets: Secrets): Members =>
  mapSecrets(members, names, (text) => secrets.encrypt(text))

/** In clear again. */
export const openSecrets = (stored: Members, names: ReadonlySet<string>, secrets: Secrets): Members =>
  mapSecrets(stored, names, (text) => secrets.decrypt(text))

function mapSecrets(members: Members, names: ReadonlySet<string>, change: (text: string) => string): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, names.has(name) ? mapTexts(value, change) : value]),
  )
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, change)]))
}
