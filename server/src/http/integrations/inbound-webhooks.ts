// Where providers report what became of messages: delivered, opened, bounced. The provider's file says whether a request is
// genuine and what it means; the engine writes it down.
import { type Static, Type } from 'typebox'
import { findIntegration, type IntegrationRow } from '../../db/queries/integrations.ts'
import { fail } from '../../errors.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { type DeliveryEvent, InboundRequest } from '../../providers/events.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { App, Resource } from '../edge/resource.ts'
import { Enum, Timestamp } from '../edge/schema.ts'
import { openConfigurations, openCredentials } from './credentials.ts'

/** Vendors collect events for a while and send them together. */
const bodyLimit = 5 * 1024 * 1024

const Reported = Type.Object({
  id: Type.String({ description: 'What the provider calls the message' }),
  event: Type.Object({
    status: Type.String(),
    date: Timestamp,
    externalId: Type.Optional(Type.String()),
    attempts: Type.Optional(Type.Integer()),
    response: Type.Optional(Type.String()),
    row: Type.Optional(Type.Unknown()),
  }),
})

const EnvironmentParam = Type.String({ description: 'Its `_id`' })

export const inboundWebhooks: Resource = (app, services) => {
  const { db, clock, secrets, brand, http, config, engine } = services
  // Keeps what lives longer than a request, such as the certificates others sign with.
  const delivery = new Delivery({ http, clock, brand: brand.word })
  app.addHook('onClose', () => delivery.close())

  interface Given {
    row: IntegrationRow | undefined
    /** As the caller named it. */
    name: string
    wording: 'v1' | 'v2'
  }
  interface Taken {
    headers: Record<string, string>
    reported: Static<typeof Reported>[]
  }

  const take = async (inbound: InboundRequest, { row, name, wording }: Given): Promise<Taken> => {
    if (!row) throw fail('inbound_integration_not_found', { id: name })
    const provider = deliveryProvider(row.provider_id)
    const providerId = brand.toWire(row.provider_id)
    if (!provider?.events) throw fail('inbound_events_not_offered', { providerId })
    if (Object.keys(row.credentials).length === 0) throw fail('webhook_without_credentials', { id: row.id })
    const configurations = openConfigurations(secrets, row)
    if (configurations.inboundWebhookEnabled !== true) throw fail('inbound_webhook_off')
    const greeting = provider.events.greet?.(inbound)
    if (greeting) return { headers: greeting, reported: [] }
    const integration = { id: row.id, credentials: openCredentials(secrets, row), configurations }
    const events = await delivery.receive(provider, integration, inbound).catch((cause: unknown) => {
      if (cause instanceof DeliveryError) throw fail('inbound_not_verifiable', { providerId }, { cause })
      throw cause
    })
    if (!events) throw fail('inbound_signature_invalid')
    const reporter = { environmentId: row.environment_id, integrationId: row.id, providerId: row.provider_id, wording }
    const known = await engine.report(reporter, events)
    return { headers: {}, reported: known.map((event) => toReported(event, clock.now())) }
  }

  const schema = {
    tags: ['Inbound webhooks'],
    description:
      'Whatever the provider sends. Answered with the events about messages that are known; the same event sent twice changes nothing.',
    response: { 200: Type.Array(Reported) },
  }
  const toInbound = (request: { url: string; headers: InboundHeaders; body: unknown }) =>
    new InboundRequest({
      url: config.publicUrl + request.url,
      headers: request.headers,
      rawBody: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    })

  void app.register(async (scope: App) => {
    // Signatures are made over the very bytes, whatever their type is said to be.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, async (_: unknown, bytes: Buffer) => bytes)

    scope.get(
      '/v2/inbound-webhooks/delivery-providers/:environmentId/:integrationId',
      {
        config: { public: true },
        schema: {
          tags: schema.tags,
          summary: 'Where a provider sees that the address is ours, before it reports anything',
          description:
            'WhatsApp asks so. The word to be agreed on with it is the `token` of the credentials, or the `identifier` of the integration where there is none.',
          params: Type.Object({ environmentId: EnvironmentParam, integrationId: EnvironmentParam }),
          response: { 200: Type.String({ description: 'What the provider wants to hear' }) },
        },
      },
      async (request, reply) => {
        const { environmentId, integrationId } = request.params
        const row = await findIntegration(db, environmentId, integrationId)
        if (!row) throw fail('inbound_integration_not_found', { id: integrationId })
        const provider = deliveryProvider(row.provider_id)
        if (!provider?.events?.challenge)
          throw fail('inbound_events_not_offered', { providerId: brand.toWire(row.provider_id) })
        const asked = { identifier: row.identifier, credentials: openCredentials(secrets, row) }
        const answer = delivery.challenge(provider, asked, new URL(request.url, config.publicUrl).searchParams)
        if (answer === undefined) throw fail('inbound_signature_invalid')
        // Plain, for it is the caller's own text.
        return reply.type('text/plain; charset=utf-8').send(answer)
      },
    )

    scope.post(
      '/v2/inbound-webhooks/delivery-providers/:environmentId/:integrationId',
      {
        bodyLimit,
        config: { public: true },
        schema: {
          ...schema,
          summary: 'Where a provider reports what became of messages',
          params: Type.Object({ environmentId: EnvironmentParam, integrationId: EnvironmentParam }),
        },
      },
      async (request, reply) => {
        const { environmentId, integrationId } = request.params
        const row = await findIntegration(db, environmentId, integrationId)
        const { headers, reported } = await take(toInbound(request), { row, name: integrationId, wording: 'v2' })
        return reply.headers(headers).send(reported)
      },
    )

    scope.post(
      '/webhooks/organizations/:organizationId/environments/:environmentId/:channel/:providerOrIntegrationId',
      {
        bodyLimit,
        config: { public: true },
        schema: {
          ...schema,
          summary: 'The same, at the address that older set-ups know',
          params: Type.Object({
            organizationId: EnvironmentParam,
            environmentId: EnvironmentParam,
            channel: Enum(['email', 'sms']),
            providerOrIntegrationId: Type.String({ description: 'A provider id, or the `_id` of an integration' }),
          }),
        },
      },
      async (request, reply) => {
        const { organizationId, environmentId, channel, providerOrIntegrationId: name } = request.params
        const row = await db
          .selectFrom('integrations as i')
          .innerJoin('environments as e', 'e.id', 'i.environment_id')
          .selectAll('i')
          .where('i.environment_id', '=', environmentId)
          .where('e.organization_id', '=', organizationId)
          .where('i.channel', '=', channel)
          .where('i.deleted_at', 'is', null)
          .where((where) => where.or([where('i.id', '=', name), where('i.provider_id', '=', brand.toStored(name))]))
          // Of several with one provider, the one that delivers.
          .orderBy('i.is_primary', 'desc')
          .orderBy('i.active', 'desc')
          .orderBy('i.id')
          .limit(1)
          .executeTakeFirst()
        const { headers, reported } = await take(toInbound(request), { row, name, wording: 'v1' })
        return reply.headers(headers).send(reported)
      },
    )
  })
}

type InboundHeaders = ConstructorParameters<typeof InboundRequest>[0]['headers']

const toReported = (
  { providerMessageId, status, date, externalId, attempts, response, raw }: DeliveryEvent,
  now: Date,
): Static<typeof Reported> => ({
  id: providerMessageId,
  event: {
    status,
    date: date ?? now,
    ...(externalId === undefined ? {} : { externalId }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(response === undefined ? {} : { response }),
    row: raw,
  },
})
