// The suppression list: adds entries in one order with the calls to their addresses, finds and removes them.
import { type Selectable, sql } from 'kysely'
import { type AddressChannel, comparedAddress, hashOfAddress, lockOfHash } from '../core/addresses.ts'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import { afterWish } from '../core/refusals.ts'
import type { SuppressionTable } from '../core/tables.ts'
import { telling, wantedTypes } from './webhook-events.ts'

export type SuppressionRow = Selectable<SuppressionTable>

export const suppressionReasons = ['hard_bounce', 'soft_bounces', 'complaint', 'unsubscribe', 'manual', 'stop'] as const
export type SuppressionReason = (typeof suppressionReasons)[number]

export const scopeTypes = ['all', 'commercial', 'workflow', 'category'] as const
export type ScopeType = (typeof scopeTypes)[number]

export const suppressionSources = [
  'header',
  'page',
  'mailto',
  'provider',
  'dsn',
  'feedback',
  'sms',
  'api',
  'import',
  'dashboard',
] as const
export type SuppressionSource = (typeof suppressionSources)[number]

export interface NewSuppression {
  channel: AddressChannel
  /** In the compared form; null if only its hash is known. */
  address: string | null
  addressHash: Buffer
  reason: SuppressionReason
  scope: ScopeType
  scopeId?: string
  exceptions?: string[]
  source: SuppressionSource
  subscriberId?: string | null
  integrationId?: string | null
  messageId?: string | null
  note?: string | null
  expiresAt?: Date | null
}

export interface AddedSuppression {
  row: SuppressionRow
  isNew: boolean
}

/** What the list knows about an address that is given: its compared form and hash. */
export const ofAddress = (compared: string): Pick<NewSuppression, 'address' | 'addressHash'> => ({
  address: compared,
  addressHash: hashOfAddress(compared),
})

/**
 * Adds entries in the caller's transaction. First it waits, for two seconds at most, until no call to these addresses is about
 * to start; so when the transaction is committed, none will. An entry that exists keeps its id, the later end (null is the
 * latest), and only the exceptions that both have. One that had expired begins anew.
 * @returns one for each, in their order
 */
export async function addSuppressions(
  tx: Tx,
  environmentId: string,
  entries: NewSuppression[],
  now: Date,
): Promise<AddedSuppression[]> {
  if (entries.length === 0) return []
  const keys = entries.map(keyOf)
  const given = givenRows(entries, keys, now)
  const isNew = sql`c.id IN (SELECT id FROM given)`
  const { rows: stored } = await sql<SuppressionRow>`
    WITH ${given.rows}, changed AS (${storing(environmentId, now)} RETURNING s.*), ${tellingOf('created', now, isNew)}
    SELECT c.* FROM changed c, webhooks`.execute(tx)
  const byKey = new Map(stored.map((row) => [keyOfRow(row), { row, isNew: given.ids.has(row.id) }]))
  return keys.map((key) => byKey.get(key)).filter((each) => each !== undefined)
}

/** The same for many, where nobody has to be told of each. @returns how many are new */
export async function importSuppressions(
  tx: Tx,
  environmentId: string,
  entries: NewSuppression[],
  now: Date,
): Promise<number> {
  if ((await wantedTypes(tx, environmentId)).has('suppression.created')) {
    const added = await addSuppressions(tx, environmentId, entries, now)
    return new Set(added.filter(({ isNew }) => isNew).map(({ row }) => row.id)).size
  }
  const given = givenRows(entries, entries.map(keyOf), now)
  const { rows } = await sql<{ count: number }>`
    WITH ${given.rows}, stored AS (${storing(environmentId, now)} RETURNING s.id)
    SELECT count(*)::int AS count FROM stored JOIN given USING (id)`.execute(tx)
  return rows[0]?.count ?? 0
}

/** @returns the rows to store, as the CTEs `given` and `held`; what is usual is left out of them */
function givenRows(entries: NewSuppression[], keys: string[], now: Date) {
  // One statement must not touch a row twice.
  const once = new Map<string, NewSuppression>()
  for (const [index, entry] of entries.entries()) {
    const key = keys[index] ?? ''
    const known = once.get(key)
    once.set(key, known ? merged(known, entry) : entry)
  }
  const locks = [...new Set(entries.map(({ addressHash }) => lockOfHash(addressHash)))]
  const rows = [...once.values()].map((entry) => ({
    id: newId(now),
    channel: entry.channel,
    address_hash: `\\x${entry.addressHash.toString('hex')}`,
    address: entry.address ?? undefined,
    reason: entry.reason,
    scope: entry.scope,
    scope_id: entry.scopeId,
    exceptions: entry.exceptions,
    source: entry.source,
    subscriber_id: entry.subscriberId ?? undefined,
    integration_id: entry.integrationId ?? undefined,
    message_id: entry.messageId ?? undefined,
    note: entry.note ?? undefined,
    expires_at: entry.expiresAt ?? undefined,
  }))
  return {
    ids: new Set(rows.map(({ id }) => id)),
    rows: sql`given AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS r (id text, channel text, address_hash bytea,
        address text, reason text, scope text, scope_id text, exceptions text[], source text, subscriber_id text,
        integration_id text, message_id text, note text, expires_at timestamptz)
    ), held AS MATERIALIZED (SELECT hold_suppressed(${locks}::bigint[]))`,
  }
}

/** As if one had been stored after the other. */
function merged(one: NewSuppression, other: NewSuppression): NewSuppression {
  const [end, otherEnd] = [one.expiresAt ?? null, other.expiresAt ?? null]
  const common = (one.exceptions ?? []).filter((each) => other.exceptions?.includes(each))
  return {
    ...one,
    address: one.address ?? other.address,
    exceptions: common,
    subscriberId: one.subscriberId ?? other.subscriberId ?? null,
    note: other.note ?? one.note ?? null,
    expiresAt: end === null || otherEnd === null ? null : new Date(Math.max(end.getTime(), otherEnd.getTime())),
  }
}

/** Once the addresses are held. Of an entry that had expired nothing stays. */
const storing = (environmentId: string, now: Date) => {
  const anew = sql`s.expires_at <= ${now}`
  return sql`
    INSERT INTO suppressions AS s (environment_id, id, channel, address_hash, address, reason, scope, scope_id, exceptions,
      source, subscriber_id, integration_id, message_id, note, expires_at, created_at, updated_at)
    SELECT ${environmentId}, r.id, r.channel, r.address_hash, r.address, r.reason, r.scope, coalesce(r.scope_id, ''),
      coalesce(r.exceptions, '{}'), r.source, r.subscriber_id, r.integration_id, r.message_id, r.note, r.expires_at, ${now}, ${now}
    FROM given r, held ORDER BY r.address_hash, r.channel, r.reason, r.scope, r.scope_id
    ON CONFLICT (environment_id, address_hash, channel, reason, scope, scope_id) DO UPDATE SET
      id = CASE WHEN ${anew} THEN excluded.id ELSE s.id END,
      source = CASE WHEN ${anew} THEN excluded.source ELSE s.source END,
      integration_id = CASE WHEN ${anew} THEN excluded.integration_id ELSE s.integration_id END,
      message_id = CASE WHEN ${anew} THEN excluded.message_id ELSE s.message_id END,
      created_at = CASE WHEN ${anew} THEN excluded.created_at ELSE s.created_at END,
      expires_at = CASE WHEN ${anew} THEN excluded.expires_at
                   WHEN s.expires_at IS NULL OR excluded.expires_at IS NULL THEN NULL
                   ELSE greatest(s.expires_at, excluded.expires_at) END,
      exceptions = CASE WHEN ${anew} THEN excluded.exceptions
                   ELSE ARRAY(SELECT unnest(s.exceptions) INTERSECT SELECT unnest(excluded.exceptions) ORDER BY 1) END,
      address = CASE WHEN ${anew} THEN excluded.address ELSE coalesce(s.address, excluded.address) END,
      subscriber_id = CASE WHEN ${anew} THEN excluded.subscriber_id ELSE coalesce(s.subscriber_id, excluded.subscriber_id) END,
      note = CASE WHEN ${anew} THEN excluded.note ELSE coalesce(excluded.note, s.note) END,
      updated_at = excluded.updated_at`
}

/** Removes entries and tells of it. @returns those that were there */
export async function removeSuppressions(
  tx: Tx,
  environmentId: string,
  ids: string[],
  now: Date,
): Promise<SuppressionRow[]> {
  const { rows } = await sql<SuppressionRow>`
    WITH changed AS (
      DELETE FROM suppressions WHERE environment_id = ${environmentId} AND id = ANY (${ids}::text[]) RETURNING *
    ), ${tellingOf('removed', now)}
    SELECT c.* FROM changed c, webhooks`.execute(tx)
  return rows
}

/**
 * A subscriber wants these workflows again, each on a channel: an entry that refuses one is removed, and one that refuses its
 * category makes an exception for it.
 */
export async function endRefusals(
  tx: Tx,
  { environmentId, subscriberRowId }: { environmentId: string; subscriberRowId: string },
  wanted: Array<{ workflowId: string; channel: string }>,
  now: Date,
): Promise<void> {
  if (wanted.length === 0) return
  const person = await tx
    .selectFrom('subscribers')
    .select(['subscriber_id', 'email', 'phone'])
    .where('environment_id', '=', environmentId)
    .where('id', '=', subscriberRowId)
    .executeTakeFirst()
  if (!person) return
  const compared = [comparedAddress('email', person.email ?? ''), comparedAddress('sms', person.phone ?? '')]
  const { rows } = await sql<
    Pick<SuppressionRow, 'id' | 'reason' | 'scope' | 'scope_id'> & { workflow: string; category: string | null }
  >`
    SELECT s.id, s.reason, s.scope, s.scope_id, w.identifier AS workflow, w.consent_category AS category
    FROM unnest(${wanted.map(({ workflowId }) => workflowId)}::text[], ${wanted.map(({ channel }) => channel)}::text[])
      AS g (workflow_id, channel)
    JOIN workflows w ON w.environment_id = ${environmentId} AND w.id = g.workflow_id
    JOIN suppressions s ON s.environment_id = ${environmentId} AND s.channel = g.channel AND s.reason = 'unsubscribe'
      AND (s.address_hash = ANY (${compared.map(hashOfAddress)}::bytea[]) OR s.subscriber_id = ${person.subscriber_id})`.execute(
    tx,
  )
  const ending = rows.map((row) => ({ ...row, after: afterWish(row, { ...row, workflowId: row.workflow }) }))
  const ofWorkflows = ending.filter(({ after }) => after === 'ends').map(({ id }) => id)
  if (ofWorkflows.length > 0) await removeSuppressions(tx, environmentId, ofWorkflows, now)
  const ofCategories = ending.filter(({ after }) => after === 'makes an exception')
  if (ofCategories.length === 0) return
  await sql`
    UPDATE suppressions s SET updated_at = ${now},
      exceptions = ARRAY(SELECT DISTINCT each FROM unnest(s.exceptions || g.workflows) each ORDER BY 1)
    FROM (SELECT id, array_agg(workflow) AS workflows
          FROM unnest(${ofCategories.map(({ id }) => id)}::text[], ${ofCategories.map(({ workflow }) => workflow)}::text[])
            AS r (id, workflow) GROUP BY id) g
    WHERE s.environment_id = ${environmentId} AND s.id = g.id`.execute(tx)
}

export function findSuppression(db: Db | Tx, environmentId: string, id: string): Promise<SuppressionRow | undefined> {
  return db
    .selectFrom('suppressions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** All entries about an address that are in force. */
export function suppressionsOf(
  db: Db | Tx,
  environmentId: string,
  { channel, addressHash }: Pick<NewSuppression, 'channel' | 'addressHash'>,
  now: Date,
): Promise<SuppressionRow[]> {
  return inForce(db, environmentId, now)
    .where('address_hash', '=', addressHash)
    .where('channel', '=', channel)
    .execute()
}

/** Entries in force, of these. */
export function suppressionsById(
  db: Db | Tx,
  environmentId: string,
  ids: string[],
  now: Date,
): Promise<SuppressionRow[]> {
  return inForce(db, environmentId, now).where('id', 'in', ids).execute()
}

const inForce = (db: Db | Tx, environmentId: string, now: Date) =>
  db
    .selectFrom('suppressions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))

const tellingOf = (change: 'created' | 'removed', now: Date, when = sql`true`) =>
  telling({ type: `suppression.${change}`, object: sql`to_json(c)`, subscriberId: sql`c.subscriber_id`, when, now })

const keyOf = ({ addressHash, channel, reason, scope, scopeId = '' }: NewSuppression) =>
  [addressHash.toString('hex'), channel, reason, scope, scopeId].join(' ')
const keyOfRow = (row: SuppressionRow) =>
  [row.address_hash.toString('hex'), row.channel, row.reason, row.scope, row.scope_id].join(' ')
