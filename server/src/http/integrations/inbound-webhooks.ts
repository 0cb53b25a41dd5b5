// Receives delivery events of providers (delivered, opened, bounced) and text messages that people sent. The provider's file
// verifies and parses a request; the engine stores what it says.
import { type Static, Type } from 'typebox'
import { newId } from '../../db/core/ids.ts'
import { findIntegration, type IntegrationRow } from '../../db/queries/integrations.ts'
import { findShadow } from '../../db/queries/shadow.ts'
import { sandboxOver } from '../../engine/core/step-ports.ts'
import type { TextAnswer } from '../../engine/feedback/texts.ts'
import { fail } from '../../errors.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { type DeliveryEvent, InboundRequest } from '../../providers/events.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { Provider } from '../../providers/provider.ts'
import { sandboxOf } from '../../steps/delivery/sandbox.ts'
import type { App, Resource } from '../edge/resource.ts'
import { Enum, Timestamp } from '../edge/schema.ts'
import { openConfigurations, openCredentials } from './credentials.ts'

/** Vendors send events in batches. */
const bodyLimit = 5 * 1024 * 1024

const Reported = Type.Object({
  id: Type.String({ description: 'The message id of the provider' }),
  event: Type.Object({
    status: Type.String(),
    date: Timestamp,
    externalId: Type.Optional(Type.String()),
    attempts: Type.Optional(Type.Integer()),
    response: Type.Optional(Type.String()),
    row: Type.Optional(Type.String({ description: 'The event of the provider, as JSON text' })),
  }),
})

const EnvironmentParam = Type.String({ description: 'Its `_id`' })

export const inboundWebhooks: Resource = (app, services) => {
  const { db, clock, secrets, brand, http, config, engine } = services
  // Caches data across requests, such as the certificates that vendors sign with.
  const delivery = new Delivery({ http, clock, brand: brand.word })
  app.addHook('onClose', () => delivery.close())

  interface Given {
    row: IntegrationRow | undefined
    /** As named in the request. */
    name: string
    wording: 'v1' | 'v2'
  }
  interface Taken {
    headers: Record<string, string>
    /** A text, where the vendor is told what to answer. */
    said: Static<typeof Reported>[] | string
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
    if (greeting) return { headers: greeting, said: [] }
    const integration = { id: row.id, credentials: openCredentials(secrets, row), configurations }
    const told = await delivery.inbound(provider, integration, inbound).catch((cause: unknown) => {
      if (cause instanceof DeliveryError) throw fail('inbound_not_verifiable', { providerId }, { cause })
      throw cause
    })
    if (!told) throw fail('inbound_signature_invalid')
    const { limit } = provider.events
    if (limit && limit.count(inbound) > limit.most) throw fail('too_many_rows', { limit: limit.most })
    const reporter = { environmentId: row.environment_id, integrationId: row.id, providerId: row.provider_id, wording }
    const known = await engine.report(reporter, told.events)
    if (told.texts.length > 0) {
      const answers = await spoken(row.environment_id, await engine.takeTexts(reporter, told.texts))
      const { answerText } = provider.events
      if (answerText) {
        const { type, body } = answerText(answers[0]?.text)
        return { headers: { 'content-type': type }, said: body }
      }
      await answer(provider, row, answers)
    }
    return { headers: {}, said: known.map((event) => toReported(event, clock.now())) }
  }

  /** The service behind an environment answers, until something is delivered here. */
  const spoken = async (environmentId: string, answers: TextAnswer[]): Promise<TextAnswer[]> => {
    const shadow = answers.length === 0 ? undefined : await findShadow(db, environmentId)
    return shadow?.live.length === 0 ? [] : answers
  }

  /** The list of suppressions is not asked: whoever says STOP is told once that it was heard. */
  const answer = async (provider: Provider, row: IntegrationRow, answers: TextAnswer[]) => {
    if (answers.length === 0) return
    const { type } = await db
      .selectFrom('environments')
      .select('type')
      .where('id', '=', row.environment_id)
      .executeTakeFirstOrThrow()
    const id = newId(clock.now())
    const origin = { transactionId: `answer_${id}`, subscriberId: '', workflow: '', stepId: '' }
    const integration = {
      ...{ id: row.id, credentials: openCredentials(secrets, row), configurations: openConfigurations(secrets, row) },
      isDevelopment: type === 'dev',
      sandbox: sandboxOf({ environmentId: row.environment_id, ...origin }, { sandbox: sandboxOver(db), clock }),
    }
    for (const [place, { to, from, text }] of answers.entries()) {
      const common = { id: `${id}${place}`, attempt: 1, providerData: {}, customData: {} }
      await delivery
        .send(provider, integration, { ...common, channel: 'sms', to, from, content: text })
        .catch((error: unknown) => {
          if (!(error instanceof DeliveryError)) throw error
          services.log.warn({ integrationId: row.id, reason: error.message }, 'could not answer a text message')
        })
    }
  }

  const schema = {
    tags: ['Inbound webhooks'],
    description:
      'The request of the provider. Returns the events of known messages; repeating an event changes nothing.',
    response: {
      200: {
        description: 'The events of known messages; for Twilio, the answer to a text',
        content: { 'application/json': { schema: Type.Array(Reported) }, 'text/xml': { schema: Type.String() } },
      },
    },
  }
  const toInbound = (request: { url: string; headers: InboundHeaders; body: unknown }) =>
    new InboundRequest({
      url: config.publicUrl + request.url,
      headers: request.headers,
      rawBody: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
    })

  void app.register(async (scope: App) => {
    // Signatures cover the raw bytes, whatever the content type.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, async (_: unknown, bytes: Buffer) => bytes)

    scope.get(
      '/v2/inbound-webhooks/delivery-providers/:environmentId/:integrationId',
      {
        config: { public: true },
        schema: {
          tags: schema.tags,
          summary: 'Verify the address for a provider, before it sends events',
          description:
            'Used by WhatsApp. The verify token is the `token` of the credentials, or else the `identifier` of the integration.',
          params: Type.Object({ environmentId: EnvironmentParam, integrationId: EnvironmentParam }),
          response: { 200: Type.String({ description: 'The challenge of the provider' }) },
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
        // As plain text, since it is the client's own input.
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
          summary: 'Receive delivery events of a provider',
          params: Type.Object({ environmentId: EnvironmentParam, integrationId: EnvironmentParam }),
        },
      },
      async (request, reply) => {
        const { environmentId, integrationId } = request.params
        const row = await findIntegration(db, environmentId, integrationId)
        const { headers, said } = await take(toInbound(request), { row, name: integrationId, wording: 'v2' })
        return reply.headers(headers).send(said)
      },
    )

    scope.post(
      '/webhooks/organizations/:organizationId/environments/:environmentId/:channel/:providerOrIntegrationId',
      {
        bodyLimit,
        config: { public: true },
        schema: {
          ...schema,
          summary: 'The same, at the legacy address',
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
          // Of several integrations with one provider, the primary one.
          .orderBy('i.is_primary', 'desc')
          .orderBy('i.active', 'desc')
          .orderBy('i.id')
          .limit(1)
          .executeTakeFirst()
        const { headers, said } = await take(toInbound(request), { row, name, wording: 'v1' })
        return reply.headers(headers).send(said)
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
    ...(raw === undefined ? {} : { row: JSON.stringify(raw) }),
  },
})
