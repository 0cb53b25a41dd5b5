// Subscribers' device tokens and chat addresses, one entry per integration in `channels`.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { openChannels, sealChannels } from '../core/chat-addresses.ts'
import type { Db, Tx } from '../core/database.ts'
import type { Secrets } from '../core/secrets.ts'
import type { SubscriberChannel, SubscriberCredentials } from '../core/tables.ts'

export const mostDeviceTokens = 100

/** A caller's input for one provider, in stored form. Its integration is looked up. */
export interface ChannelInput {
  providerId: string
  integrationIdentifier?: string
  credentials: SubscriberCredentials
}

/** The channels to set for one subscriber: all of them, or none if one has a problem. */
export interface ChannelRequest {
  subscriberId: string
  channels: ChannelInput[]
}

export type ChannelProblem =
  | { kind: 'unknown_subscriber' }
  | { kind: 'no_active_integration'; providerId: string }
  | { kind: 'too_many_device_tokens'; count: number }

/** Whether device tokens are added to the stored ones or replace them. */
export type TokenMode = 'append' | 'replace'

/**
 * Merges the given entries into the stored ones. Members that are not given stay; tokens are unique; an empty list of tokens
 * clears the stored one in both modes.
 */
export function mergeChannels(
  stored: SubscriberChannel[],
  given: SubscriberChannel[],
  mode: TokenMode,
): SubscriberChannel[] {
  const merged = [...stored]
  for (const entry of given) {
    const isSame = (other: SubscriberChannel) =>
      other.providerId === entry.providerId && other._integrationId === entry._integrationId
    const index = merged.findIndex(isSame)
    const old = merged[index]?.credentials
    const credentials = { ...old, ...entry.credentials }
    const tokens = entry.credentials.deviceTokens
    if (tokens) {
      const kept = mode === 'append' && tokens.length > 0 ? (old?.deviceTokens ?? []) : []
      credentials.deviceTokens = [...new Set([...kept, ...tokens])]
    }
    merged[index < 0 ? merged.length : index] = { ...entry, credentials }
  }
  return merged
}

/** What a channel is set with: a transaction, and the key that encrypts addresses. */
export interface ChannelStore {
  tx: Tx
  secrets: Secrets
}

/**
 * Sets channels of any number of subscribers in three statements. A request with a problem changes nothing; several requests
 * for one subscriber are applied in order.
 * @returns the problems, by request
 */
export async function applyChannels<Request extends ChannelRequest>(
  { tx, secrets }: ChannelStore,
  environmentId: string,
  requests: Request[],
  mode: TokenMode,
  now: Date,
): Promise<Map<Request, ChannelProblem>> {
  const problems = new Map<Request, ChannelProblem>()
  const wanted = requests.filter((request) => request.channels.length > 0)
  if (wanted.length === 0) return problems
  const integrations = await findIntegrations(
    tx,
    environmentId,
    wanted.flatMap((request) => request.channels),
  )
  const stored = await lockChannels({ tx, secrets }, environmentId, [
    ...new Set(wanted.map((request) => request.subscriberId)),
  ])
  const current = new Map(stored)
  for (const request of wanted) {
    const outcome = addTo(current.get(request.subscriberId), request.channels, integrations, mode)
    if (Array.isArray(outcome)) current.set(request.subscriberId, outcome)
    else problems.set(request, outcome)
  }
  const changed = [...current].filter(([id, channels]) => !isDeepStrictEqual(channels, stored.get(id)))
  if (changed.length > 0) await writeChannels({ tx, secrets }, environmentId, changed, now)
  return problems
}

function addTo(
  stored: SubscriberChannel[] | undefined,
  inputs: ChannelInput[],
  integrations: Map<string, Integration>,
  mode: TokenMode,
): SubscriberChannel[] | ChannelProblem {
  if (!stored) return { kind: 'unknown_subscriber' }
  const entries: SubscriberChannel[] = []
  for (const input of inputs) {
    const integration = integrations.get(nameOf(input))
    if (!integration) return { kind: 'no_active_integration', providerId: input.providerId }
    entries.push({
      providerId: input.providerId,
      _integrationId: integration.id,
      integrationIdentifier: integration.identifier,
      credentials: input.credentials,
    })
  }
  const merged = mergeChannels(stored, entries, mode)
  const count = Math.max(0, ...merged.map(({ credentials }) => credentials.deviceTokens?.length ?? 0))
  return count > mostDeviceTokens ? { kind: 'too_many_device_tokens', count } : merged
}

interface Integration {
  id: string
  identifier: string
}

const nameOf = ({ providerId, integrationIdentifier }: ChannelInput) =>
  JSON.stringify([providerId, integrationIdentifier ?? null])

/** For each input the active integration with its identifier or, without one, the provider's newest. */
async function findIntegrations(
  tx: Tx,
  environmentId: string,
  inputs: ChannelInput[],
): Promise<Map<string, Integration>> {
  const wanted = [...new Map(inputs.map((input) => [nameOf(input), input]))]
  const { rows } = await sql<Integration & { name: string }>`
    SELECT wanted.name, chosen.id, chosen.identifier
    FROM unnest(${wanted.map(([name]) => name)}::text[], ${wanted.map(([, input]) => input.providerId)}::text[],
                ${wanted.map(([, input]) => input.integrationIdentifier ?? null)}::text[]) AS wanted (name, provider_id, identifier)
    CROSS JOIN LATERAL (
      SELECT i.id, i.identifier FROM integrations i
      WHERE i.environment_id = ${environmentId} AND i.provider_id = wanted.provider_id
        AND (wanted.identifier IS NULL OR i.identifier = wanted.identifier) AND i.active AND i.deleted_at IS NULL
      ORDER BY i.created_at DESC, i.id DESC LIMIT 1) chosen`.execute(tx)
  return new Map(rows.map(({ name, id, identifier }) => [name, { id, identifier }]))
}

/**
 * Locks the rows from reading to writing, so that no token added in between is lost. In the order of ids, so that two calls
 * cannot deadlock. NO KEY, because it need not block new topic subscriptions.
 */
async function lockChannels(
  { tx, secrets }: ChannelStore,
  environmentId: string,
  subscriberIds: string[],
): Promise<Map<string, SubscriberChannel[]>> {
  const { rows } = await sql<{ subscriber_id: string; channels: SubscriberChannel[] }>`
    SELECT subscriber_id, channels FROM subscribers
    WHERE environment_id = ${environmentId} AND subscriber_id = ANY(${subscriberIds}::text[])
    ORDER BY subscriber_id FOR NO KEY UPDATE`.execute(tx)
  return new Map(rows.map((row) => [row.subscriber_id, openChannels(row.channels, secrets)]))
}

async function writeChannels(
  { tx, secrets }: ChannelStore,
  environmentId: string,
  changed: Array<[string, SubscriberChannel[]]>,
  now: Date,
): Promise<void> {
  await sql`
    UPDATE subscribers s SET channels = given.channels, updated_at = ${now}
    FROM unnest(${changed.map(([id]) => id)}::text[], ${changed.map(([, channels]) => JSON.stringify(sealChannels(channels, secrets)))}::jsonb[])
      AS given (subscriber_id, channels)
    WHERE s.environment_id = ${environmentId} AND s.subscriber_id = given.subscriber_id`.execute(tx)
}

/** Removes a dead device token. In one statement, so that tokens added meanwhile stay. @returns whether it existed */
export async function removeDeviceToken(
  db: Db | Tx,
  {
    environmentId,
    subscriberRowId,
    integrationId,
  }: Record<'environmentId' | 'subscriberRowId' | 'integrationId', string>,
  token: string,
  now: Date,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE subscribers s SET updated_at = ${now}, channels = (
      SELECT jsonb_agg(
        CASE WHEN entry ->> '_integrationId' = ${integrationId} AND jsonb_typeof(entry #> '{credentials,deviceTokens}') = 'array'
          THEN jsonb_set(entry, '{credentials,deviceTokens}', (entry #> '{credentials,deviceTokens}') - ${token}::text)
          ELSE entry END ORDER BY place)
      FROM jsonb_array_elements(s.channels) WITH ORDINALITY AS each_entry (entry, place))
    WHERE s.environment_id = ${environmentId} AND s.id = ${subscriberRowId}
      AND s.channels @> ${JSON.stringify([{ _integrationId: integrationId, credentials: { deviceTokens: [token] } }])}::jsonb
  `.execute(db)
  return numAffectedRows === 1n
}
