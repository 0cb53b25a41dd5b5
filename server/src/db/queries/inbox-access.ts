// What browsers of subscribers may do in an environment, and which of their sessions still count.
import { sql } from 'kysely'
import { fail } from '../../errors.ts'
import { announce } from '../core/changes.ts'
import type { Db, Tx } from '../core/database.ts'
import { inboxKeyNames } from '../core/signing.ts'
import type { InboxAccessChoices } from '../core/tables.ts'
import type { SubscriberRow } from './subscribers.ts'

/** What the environment itself has chosen. Members are absent where it follows the service. */
export async function findInboxAccess(
  db: Db | Tx,
  environmentId: string,
  organizationId?: string,
): Promise<InboxAccessChoices> {
  const row = await db
    .selectFrom('environments')
    .select('inbox_access')
    .where('id', '=', environmentId)
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId })
  return row.inbox_access ?? {}
}

/** Fields that a browser may give where the environment has not chosen. */
export const usualProfileFields = (requiresHash: boolean): readonly string[] =>
  requiresHash ? ['locale', 'timezone'] : profileFields
export const profileFields = [
  ...['firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone', 'data'],
] as const

/** What decides whether a session still counts. */
export interface Standing {
  /** Raised when all sessions of the environment are ended. */
  generation: number
  /** The names of the secrets whose hashes count. */
  keys: string[]
  /** Whether the inbox needs a hash of the subscriber id. */
  requiresHash: boolean
}

const requiresHash = sql<boolean>`EXISTS (
  SELECT FROM integrations i WHERE i.environment_id = e.id AND i.channel = 'in_app' AND i.active
    AND i.deleted_at IS NULL AND i.credentials @> '{"hmac": true}')`
const standing = (now: Date) =>
  sql`e.inbox_generation AS generation, ${requiresHash} AS "requiresHash", ${inboxKeyNames(now)} AS keys`

export async function inboxRequiresHash(db: Db | Tx, environmentId: string): Promise<boolean> {
  const { rows } = await sql<{ isRequired: boolean }>`
    SELECT ${requiresHash} AS "isRequired" FROM environments e WHERE e.id = ${environmentId}`.execute(db)
  return rows[0]?.isRequired ?? false
}

/** By environment; deleted ones are absent. */
export async function readStandings(db: Db, environmentIds: string[], now: Date): Promise<Map<string, Standing>> {
  const { rows } = await sql<Standing & { id: string }>`
    SELECT e.id, ${standing(now)} FROM environments e WHERE e.id = ANY(${environmentIds}::text[])`.execute(db)
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}

/** The subscriber a token names, with what decides about the token; undefined also if the environment was deleted. */
export async function findHolder(
  db: Db,
  environmentId: string,
  subscriberRowId: string,
  now: Date,
): Promise<{ subscriber: SubscriberRow; organizationId: string; isHeld: boolean; standing: Standing } | undefined> {
  const { rows } = await sql<SubscriberRow & Standing & { organization_id: string; is_held: boolean }>`
    SELECT s.*, e.organization_id, e.clock_seed IS NOT NULL AS is_held, ${standing(now)}
    FROM subscribers s JOIN environments e ON e.id = s.environment_id
    WHERE s.environment_id = ${environmentId} AND s.id = ${subscriberRowId}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  const {
    organization_id: organizationId,
    is_held: isHeld,
    generation,
    keys,
    requiresHash: isRequired,
    ...subscriber
  } = row
  return { subscriber, organizationId, isHeld, standing: { generation, keys, requiresHash: isRequired } }
}

/** Ends all inbox sessions of these environments, also open sockets. */
export async function endInboxSessions(tx: Tx, environmentIds: string[]): Promise<void> {
  await sql`
    UPDATE environments SET inbox_generation = inbox_generation + 1
    WHERE id = ANY(${environmentIds}::text[])`.execute(tx)
  for (const id of environmentIds) await announce(tx, 'inbox_sessions', id)
}

/** Ends all inbox sessions of one subscriber. False if there is no such subscriber. */
export async function endSessionsOf(tx: Tx, environmentId: string, subscriberId: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    UPDATE subscribers SET inbox_generation = inbox_generation + 1
    WHERE environment_id = ${environmentId} AND subscriber_id = ${subscriberId} RETURNING id`.execute(tx)
  for (const { id } of rows) await announce(tx, 'inbox_sessions', `${environmentId}:${id}`)
  return rows.length > 0
}
