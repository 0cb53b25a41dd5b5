// Channel endpoints, for the API and the chat sign-in: a subscriber's exact address on a chat channel.
import type { Selectable } from 'kysely'
import { fail } from '../../errors.ts'
import { sealEndpoint } from '../core/chat-addresses.ts'
import type { Db, Tx } from '../core/database.ts'
import type { EndpointType } from '../core/endpoint-types.ts'
import { newId, randomLower } from '../core/ids.ts'
import type { Secrets } from '../core/secrets.ts'
import type { ChannelEndpointTable, IntegrationTable } from '../core/tables.ts'
import { findConnection, requireIntegration, requireSubscriber } from './channel-connections.ts'
import { type ContextPayload, resolveContexts } from './contexts.ts'

export type EndpointRow = Selectable<ChannelEndpointTable>

export interface NewEndpoint {
  type: EndpointType
  /** Validated by `fitsType`. */
  endpoint: Record<string, string>
  integrationIdentifier: string
  subscriberId: string
  connectionIdentifier?: string | undefined
  context?: ContextPayload | undefined
  identifier?: string | undefined
}

/** Creates the given contexts even if the endpoint is then refused. Duplicate endpoints are allowed. */
export async function createEndpoint(
  { db, secrets }: { db: Db; secrets: Secrets },
  environmentId: string,
  input: NewEndpoint,
  now: Date,
): Promise<EndpointRow> {
  const { identifier, connectionIdentifier } = input
  const integration = await requireIntegration(db, environmentId, input.integrationIdentifier)
  const contextKeys = await resolveContexts(db, environmentId, input.context, now)
  return db.transaction().execute(async (tx) => {
    await requireSubscriber(tx, environmentId, input.subscriberId)
    if (identifier !== undefined && (await findEndpoint(tx, environmentId, identifier)))
      throw fail('endpoint_identifier_exists', { identifier, environmentId })
    if (connectionIdentifier !== undefined && !(await findConnection(tx, environmentId, connectionIdentifier)))
      throw fail('endpoint_connection_not_found', { identifier: connectionIdentifier })
    return insertEndpoint({ tx, secrets }, environmentId, { ...input, integration, contextKeys }, now)
  })
}

interface Insertable extends Omit<NewEndpoint, 'integrationIdentifier' | 'context'> {
  integration: Pick<Selectable<IntegrationTable>, 'id' | 'identifier' | 'provider_id' | 'channel'>
  contextKeys: string[]
}

/** The caller has checked that everything it refers to exists. */
export async function insertEndpoint(
  { tx, secrets }: { tx: Tx; secrets: Secrets },
  environmentId: string,
  input: Insertable,
  now: Date,
): Promise<EndpointRow> {
  const { integration, identifier = `chendp_${randomLower(12)}` } = input
  const row = await tx
    .insertInto('channel_endpoints')
    .values({
      environment_id: environmentId,
      id: newId(now),
      identifier,
      integration_id: integration.id,
      integration_identifier: integration.identifier,
      provider_id: integration.provider_id,
      channel: integration.channel,
      connection_identifier: input.connectionIdentifier ?? null,
      subscriber_id: input.subscriberId,
      context_keys: input.contextKeys,
      type: input.type,
      endpoint: JSON.stringify(sealEndpoint(input.endpoint, secrets)),
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  // Another request took the identifier in the meantime.
  if (!row) throw fail('endpoint_identifier_exists', { identifier, environmentId })
  return row
}

export function findEndpoint(db: Db | Tx, environmentId: string, identifier: string): Promise<EndpointRow | undefined> {
  return db
    .selectFrom('channel_endpoints')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .executeTakeFirst()
}
