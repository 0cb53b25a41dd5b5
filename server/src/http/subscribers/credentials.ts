// How a subscriber is reached through a push or chat provider: device tokens, chat webhooks and the like.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import {
  applyChannels,
  type ChannelInput,
  type ChannelProblem,
  mostDeviceTokens,
  type TokenMode,
} from '../../db/queries/subscriber-channels.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { fail, type RequestError } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import { ChatOrPushProviderId, type Offer } from '../edge/provider-id.ts'
import type { Resource } from '../edge/resource.ts'
import { addressesFor } from '../edge/roles.ts'
import { Body, Empty } from '../edge/schema.ts'
import { Credentials, Subscriber, toSubscriber } from './subscribers.ts'

const unknown = 'must be a valid provider ID'

/** Credentials for one provider, as in a request. */
export const channelFields = (offer: Offer) => ({
  providerId: { ...ChatOrPushProviderId(offer), texts: { enum: unknown, type: unknown, required: unknown } },
  integrationIdentifier: Type.Optional(Type.String({ description: 'Default: the newest active one of the provider' })),
  credentials: Body(Credentials.properties),
})

type Channel = Omit<ChannelInput, 'credentials'> & { credentials: Static<typeof Credentials> }

export const toChannelInput = (channel: Channel, brand: Brand): ChannelInput => ({
  ...channel,
  providerId: brand.toStored(channel.providerId),
})

export function channelError(
  problem: ChannelProblem,
  subject: { environmentId: string; subscriberId: string; brand: Brand },
): RequestError {
  switch (problem.kind) {
    case 'unknown_subscriber':
      return fail('subscriber_id_unknown', subject)
    case 'no_active_integration':
      return fail('no_active_integration', { ...subject, providerId: subject.brand.toWire(problem.providerId) })
    case 'too_many_device_tokens': {
      const ctx = { currentCount: problem.count, limit: mostDeviceTokens }
      return fail('too_many_device_tokens', ctx, { ctx })
    }
  }
}

export const subscriberCredentials: Resource = (app, { db, secrets, brand, config }) => {
  const tags = ['Subscribers']
  const url = '/v1/subscribers/:subscriberId/credentials'

  const setters = [
    {
      method: 'PUT',
      mode: 'replace',
      summary: "Set a subscriber's credentials for a provider; device tokens are replaced",
    },
    {
      method: 'PATCH',
      mode: 'append',
      summary: "Set a subscriber's credentials for a provider; device tokens are added",
    },
  ] as const satisfies Array<{ method: string; mode: TokenMode; summary: string }>
  for (const { method, mode, summary } of setters) {
    app.route({
      method,
      url,
      schema: {
        tags,
        summary,
        params: Type.Object({ subscriberId: Type.String() }),
        body: Body(channelFields({ brand, config }), {
          examples: [{ providerId: 'fcm', credentials: { deviceTokens: ['the-token-of-a-device'] } }],
        }),
        response: { 200: Subscriber },
      },
      handler: async (request) => {
        const { environment } = request
        const { subscriberId } = request.params
        const wanted = { subscriberId, channels: [toChannelInput(request.body, brand)] }
        const row = await db.transaction().execute(async (tx) => {
          const problems = await applyChannels({ tx, secrets }, environment.id, [wanted], mode, request.now())
          for (const problem of problems.values())
            throw channelError(problem, { environmentId: environment.id, subscriberId, brand })
          return findSubscriber(tx, environment.id, subscriberId)
        })
        if (!row) throw fail('subscriber_id_unknown', { subscriberId })
        return toSubscriber(row, environment, brand, addressesFor(request, secrets))
      },
    })
  }

  app.delete(
    `${url}/:providerId`,
    {
      schema: {
        tags,
        summary: "Delete a subscriber's credentials for all integrations of a provider",
        params: Type.Object({ subscriberId: Type.String(), providerId: Type.String() }),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { subscriberId } = request.params
      const provider = brand.toStored(request.params.providerId)
      const now = request.now()
      // What is left says that they are gone, so that an import of older ones does not bring them back.
      const gone = JSON.stringify({ credentials: {}, deletedAt: now.toISOString() })
      const isHeld = sql`jsonb_path_exists(s.channels, '$[*] ? (@.providerId == $provider && !exists(@.deletedAt))', ${JSON.stringify({ provider })})`
      const { rows } = await sql`
        UPDATE subscribers s
        SET updated_at = CASE WHEN ${isHeld} THEN ${now} ELSE updated_at END,
            channels = (
              SELECT coalesce(jsonb_agg(
                CASE WHEN entry ->> 'providerId' = ${provider} AND NOT entry ? 'deletedAt' THEN entry || ${gone}::jsonb ELSE entry END
                ORDER BY place), '[]')
              FROM jsonb_array_elements(s.channels) WITH ORDINALITY AS each_entry (entry, place))
        WHERE environment_id = ${request.environment.id} AND subscriber_id = ${subscriberId}
        RETURNING id`.execute(db)
      if (rows.length === 0) throw fail('subscriber_missing', { subscriberId })
      return reply.code(204).send(null)
    },
  )
}
