// Imported device tokens and chat addresses. Integrations come without their secrets and are not active yet, so these count too.
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { Type } from 'typebox'
import { openChannels, sealChannels } from '../../db/core/chat-addresses.ts'
import type { SubscriberChannel, SubscriberCredentials } from '../../db/core/tables.ts'
import { mergeChannels, mostDeviceTokens } from '../../db/queries/subscriber-channels.ts'
import { fail } from '../../errors.ts'
import { Body, Identifier } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { Credentials, SubscriberId } from '../subscribers/subscribers.ts'
import { type Importing, type ImportKind, type Outcome, timeOf } from './kind.ts'
import { Time } from './times.ts'

interface CredentialItem extends SubscriberCredentials {
  subscriberId: string
  providerId: string
  integrationIdentifier?: string
  updatedAt?: string
}

export const importedCredentials: ImportKind<CredentialItem> = {
  name: 'credentials',
  summary: 'Import up to 500 device tokens or chat addresses of subscribers',
  description:
    'Device tokens are added to those of the integration. The integration need not be active; without `integrationIdentifier` it is the newest of the provider, an active one first. Deleted ones come back only if `updatedAt` is later than their deletion.',
  item: Body({
    subscriberId: SubscriberId,
    providerId: Identifier(),
    integrationIdentifier: Type.Optional(Identifier()),
    ...Credentials.properties,
    updatedAt: Type.Optional(Time),
  }),
  example: { subscriberId: 'ada', providerId: 'fcm', deviceTokens: ['the-token-of-a-device'] },
  scope: 'write:subscribers',

  /** Those of one subscriber are merged in memory. */
  async store(importing, items) {
    const { tx, environmentId, now, secrets, brand } = importing
    const integrations = await findIntegrations(importing, items)
    const subscribers = await lockChannels(
      importing,
      items.map(({ subscriberId }) => subscriberId.trim()),
    )
    const changed = new Set<Held>()
    const outcomes = items.map((item): Outcome => {
      const { subscriberId, providerId: said, integrationIdentifier: _, updatedAt, ...given } = item
      const held = subscribers.get(subscriberId.trim())
      if (!held) return fail('subscriber_not_found', item)
      if (Object.keys(given).length === 0) return generalError(['deviceTokens or webhookUrl is required'])
      const providerId = brand.toStored(said)
      const integration = integrations.get(nameOf(item, brand.toStored(said)))
      if (!integration) return fail('no_active_integration', { environmentId, providerId: said })
      const time = timeOf(updatedAt, now)
      const own = held.channels.find((entry) => entry._integrationId === integration.id)
      if (own && isLater(own, held, time)) return 'unchanged'
      const entry: SubscriberChannel = {
        ...{ providerId, _integrationId: integration.id, integrationIdentifier: integration.identifier },
        credentials: given,
      }
      const merged = mergeChannels(held.channels, [entry], 'append')
      const count = Math.max(0, ...merged.map(({ credentials }) => credentials.deviceTokens?.length ?? 0))
      if (count > mostDeviceTokens)
        return fail('too_many_device_tokens', { currentCount: count, limit: mostDeviceTokens })
      if (isDeepStrictEqual(merged, held.channels)) return 'unchanged'
      held.channels = merged
      held.updatedAt = new Date(Math.max(held.updatedAt.getTime(), (time ?? now).getTime()))
      changed.add(held)
      return 'imported'
    })
    if (changed.size > 0) {
      const rows = [...changed]
      await sql`
        UPDATE subscribers s SET channels = given.channels, updated_at = given.updated_at
        FROM unnest(${rows.map(({ id }) => id)}::text[],
                    ${rows.map(({ channels }) => JSON.stringify(sealChannels(channels, secrets)))}::jsonb[],
                    ${rows.map(({ updatedAt }) => updatedAt)}::timestamptz[]) AS given (id, channels, updated_at)
        WHERE s.environment_id = ${environmentId} AND s.id = given.id`.execute(tx)
    }
    return outcomes
  },
}

/** Whether this was written here later than the item. Deleted ones come back only with something that is newer for sure. */
function isLater({ deletedAt }: SubscriberChannel, { writtenAt }: Held, time: Date | null): boolean {
  if (deletedAt !== undefined) return time === null || new Date(deletedAt) >= time
  return time !== null && writtenAt > time
}

interface Held {
  id: string
  channels: SubscriberChannel[]
  /** When something was last written before this request. */
  writtenAt: Date
  updatedAt: Date
}

/** In the order of ids, as every other change of channels locks them. */
async function lockChannels(
  { tx, environmentId, secrets }: Importing,
  subscriberIds: string[],
): Promise<Map<string, Held>> {
  const { rows } = await sql<{ id: string; subscriber_id: string; channels: SubscriberChannel[]; updated_at: Date }>`
    SELECT id, subscriber_id, channels, updated_at FROM subscribers
    WHERE environment_id = ${environmentId} AND subscriber_id = ANY(${[...new Set(subscriberIds)]}::text[])
    ORDER BY subscriber_id FOR NO KEY UPDATE`.execute(tx)
  return new Map(
    rows.map(({ id, subscriber_id, channels, updated_at }) => [
      subscriber_id,
      { id, channels: openChannels(channels, secrets), writtenAt: updated_at, updatedAt: updated_at },
    ]),
  )
}

const nameOf = ({ integrationIdentifier }: CredentialItem, providerId: string) =>
  JSON.stringify([providerId, integrationIdentifier ?? null])

async function findIntegrations({ tx, environmentId, brand }: Importing, items: CredentialItem[]) {
  const wanted = [
    ...new Map(
      items.map((item) => {
        const providerId = brand.toStored(item.providerId)
        return [nameOf(item, providerId), { providerId, identifier: item.integrationIdentifier ?? null }]
      }),
    ),
  ]
  const { rows } = await sql<{ name: string; id: string; identifier: string }>`
    SELECT wanted.name, chosen.id, chosen.identifier
    FROM unnest(${wanted.map(([name]) => name)}::text[], ${wanted.map(([, { providerId }]) => providerId)}::text[],
                ${wanted.map(([, { identifier }]) => identifier)}::text[]) AS wanted (name, provider_id, identifier)
    CROSS JOIN LATERAL (
      SELECT i.id, i.identifier FROM integrations i
      WHERE i.environment_id = ${environmentId} AND i.provider_id = wanted.provider_id AND i.deleted_at IS NULL
        AND (wanted.identifier IS NULL OR i.identifier = wanted.identifier)
      ORDER BY i.active DESC, i.created_at DESC, i.id DESC LIMIT 1) chosen`.execute(tx)
  return new Map(rows.map(({ name, id, identifier }) => [name, { id, identifier }]))
}
