// Channel connections, for the API and the chat sign-in: one authorized workspace each, of a subscriber or shared.
import { type Selectable, sql } from 'kysely'
import { fail } from '../../errors.ts'
import type { Db, Tx } from '../core/database.ts'
import { newId, randomLower } from '../core/ids.ts'
import type { Secrets } from '../core/secrets.ts'
import type { ChannelConnectionTable, IntegrationTable } from '../core/tables.ts'
import { type ContextPayload, resolveContexts } from './contexts.ts'

export const connectionModes = ['subscriber', 'shared'] as const
export type ConnectionMode = (typeof connectionModes)[number]
export type ConnectionRow = Selectable<ChannelConnectionTable>

export interface NewConnection {
  integrationIdentifier: string
  workspace: { id: string; name?: string }
  accessToken: string
  identifier?: string | undefined
  subscriberId?: string | undefined
  context?: ContextPayload | undefined
  connectionMode?: ConnectionMode | undefined
}

/** A connection needs an owner: a subscriber, or a context if it is shared. */
export function refuseMissingOwner(input: Pick<NewConnection, 'connectionMode' | 'subscriberId' | 'context'>): void {
  const { connectionMode, subscriberId, context } = input
  if (connectionMode === 'shared' && context === undefined) throw fail('shared_connection_needs_context')
  if (connectionMode === 'subscriber' && subscriberId === undefined)
    throw fail('subscriber_connection_needs_subscriber')
  if (subscriberId === undefined && context === undefined) throw fail('connection_needs_owner')
}

/** Creates the given contexts even if the connection is then refused, for example as a duplicate. */
export async function createConnection(
  { db, secrets }: { db: Db; secrets: Secrets },
  environmentId: string,
  input: NewConnection,
  now: Date,
): Promise<ConnectionRow> {
  refuseMissingOwner(input)
  const integration = await requireIntegration(db, environmentId, input.integrationIdentifier)
  const contextKeys = await resolveContexts(db, environmentId, input.context, now)
  return db.transaction().execute(async (tx) => {
    if (input.subscriberId !== undefined) await requireSubscriber(tx, environmentId, input.subscriberId)
    return insertUnlessTaken(tx, {
      environment_id: environmentId,
      id: newId(now),
      identifier: input.identifier ?? `chconn_${randomLower(12)}`,
      integration_id: integration.id,
      integration_identifier: integration.identifier,
      provider_id: integration.provider_id,
      channel: integration.channel,
      subscriber_id: input.connectionMode === 'shared' ? null : (input.subscriberId ?? null),
      context_keys: contextKeys,
      workspace: JSON.stringify(input.workspace),
      encrypted_access_token: secrets.encrypt(input.accessToken),
      created_at: now,
      updated_at: now,
    })
  })
}

type Values = Omit<ConnectionRow, 'workspace'> & { workspace: string }

/**
 * The unique keys decide, so that one of two concurrent requests wins. If a round neither inserts nor finds the conflicting
 * row, another request deleted that row in between.
 */
async function insertUnlessTaken(tx: Tx, values: Values): Promise<ConnectionRow> {
  for (;;) {
    const row = await tx
      .insertInto('channel_connections')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst()
    if (row) return row
    const existing = await findByResource(tx, values)
    if (existing)
      throw fail('connection_exists', {
        integrationIdentifier: values.integration_identifier,
        subscriberId: values.subscriber_id,
        contextKeys: values.context_keys,
        identifier: existing.identifier,
      })
    const { identifier, environment_id: environmentId } = values
    if (await findConnection(tx, environmentId, identifier))
      throw fail('connection_identifier_exists', { identifier, environmentId })
  }
}

function findByResource(tx: Tx, values: Values): Promise<{ identifier: string } | undefined> {
  return tx
    .selectFrom('channel_connections')
    .select('identifier')
    .where('environment_id', '=', values.environment_id)
    .where('integration_id', '=', values.integration_id)
    .where('subscriber_id', 'is not distinct from', values.subscriber_id)
    .where(sql<boolean>`context_keys = ${values.context_keys}::text[]`)
    .executeTakeFirst()
}

export function findConnection(
  db: Db | Tx,
  environmentId: string,
  identifier: string,
): Promise<ConnectionRow | undefined> {
  return db
    .selectFrom('channel_connections')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .executeTakeFirst()
}

/** Active or not: a connection outlives a pause of its integration. */
export async function requireIntegration(
  db: Db | Tx,
  environmentId: string,
  identifier: string,
): Promise<Pick<Selectable<IntegrationTable>, 'id' | 'identifier' | 'provider_id' | 'channel'>> {
  const row = await db
    .selectFrom('integrations')
    .select(['id', 'identifier', 'provider_id', 'channel'])
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) throw fail('channel_integration_not_found', { identifier })
  return row
}

/** Locks the subscriber until the transaction ends, so that it cannot be deleted meanwhile. */
export async function requireSubscriber(tx: Db | Tx, environmentId: string, subscriberId: string): Promise<void> {
  const row = await tx
    .selectFrom('subscribers')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('subscriber_id', '=', subscriberId)
    .forKeyShare()
    .executeTakeFirst()
  if (!row) throw fail('channel_subscriber_not_found', { subscriberId })
}
