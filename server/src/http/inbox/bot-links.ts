// Links by which a subscriber tells a bot who they are: made for a page or a backend, followed in the chat, and told to us by
// the vendor. The word in a link is good for one chat and ten minutes; only its hash is kept.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { sha256 } from '../../db/core/secrets.ts'
import { requireIntegration, requireSubscriber } from '../../db/queries/channel-connections.ts'
import { insertEndpoint } from '../../db/queries/channel-endpoints.ts'
import { resolveContexts } from '../../db/queries/contexts.ts'
import { findIntegration, type IntegrationRow } from '../../db/queries/integrations.ts'
import { newToken } from '../../db/queries/sign-in-links.ts'
import { fail } from '../../errors.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { InboundRequest } from '../../providers/events.ts'
import { deliveryProvider } from '../../providers/index.ts'
import { hasBot, type Introduction } from '../../providers/provider.ts'
import type { App, Resource, Services } from '../edge/resource.ts'
import { Body, ContextPayload, Identifier, Timestamp } from '../edge/schema.ts'
import { openCredentials } from '../integrations/credentials.ts'
import { contextFor } from './channels.ts'

const linkMinutes = 10
const webhookPath = '/v2/inbound-webhooks/bots'

const Link = Type.Object({
  url: Type.String(),
  providerMetadata: Type.Object({ botUsername: Type.String(), expiresAt: Timestamp }),
})
const asked = { integrationIdentifier: Identifier(), context: Type.Optional(ContextPayload()) }
const description = `Telegram has such links. It can be followed once, within ${linkMinutes} minutes.`

interface Asked {
  integrationIdentifier: string
  subscriberId: string
  context?: Record<string, unknown> | undefined
}

export const botLinks: Resource = (app, services) => {
  const { db, clock, secrets, brand, http, config } = services
  // Remembers for a while which bots have been told where to bring what is said to them.
  const delivery = new Delivery({ http, clock, brand: brand.word })
  app.addHook('onClose', () => delivery.close())

  const findBot = async (environmentId: string, integrationId: string) => {
    const row = await findIntegration(db, environmentId, integrationId)
    const provider = row && deliveryProvider(row.provider_id)
    return row && hasBot(provider) ? { row, provider, credentials: openCredentials(secrets, row) } : undefined
  }

  const makeLink = async (
    environmentId: string,
    { integrationIdentifier, subscriberId, context }: Asked,
  ): Promise<Static<typeof Link>> => {
    const { id, identifier } = await requireIntegration(db, environmentId, integrationIdentifier)
    const bot = await findBot(environmentId, id)
    if (!bot) throw fail('link_not_offered', { identifier })
    await requireSubscriber(db, environmentId, subscriberId)
    const now = clock.now()
    const contextKeys = await resolveContexts(db, environmentId, context, now)
    const { provider, credentials } = bot
    const word = newToken()
    const webhookUrl = `${config.publicUrl}${webhookPath}/${environmentId}/${id}`
    const link = await delivery.invite(provider, { id, credentials }, { webhookUrl, word }).catch((cause: unknown) => {
      throw cause instanceof DeliveryError ? refusal(provider.name, cause) : cause
    })
    const expiresAt = new Date(now.getTime() + linkMinutes * 60_000)
    await db
      .insertInto('bot_links')
      .values({
        environment_id: environmentId,
        hash: sha256(word),
        integration_id: id,
        subscriber_id: subscriberId,
        context_keys: contextKeys,
        created_at: now,
        expires_at: expiresAt,
      })
      .execute()
    return { url: link.url, providerMetadata: { botUsername: link.botUsername, expiresAt } }
  }

  app.post(
    '/v1/inbox/channel-endpoints/link',
    {
      config: { public: true, inbox: true },
      schema: {
        tags: ['Inbox in browsers'],
        summary: 'Make a link by which the subscriber tells a bot who they are',
        description,
        body: Body({ ...asked, contextHash: Type.Optional(Type.String()) }),
        response: { 200: Type.Object({ data: Link }) },
      },
    },
    async ({ session, body: { integrationIdentifier, ...more } }) => {
      const context = await contextFor(services, session, { integrationIdentifier, ...more })
      const subscriberId = session.subscriber.subscriber_id
      return { data: await makeLink(session.environmentId, { integrationIdentifier, subscriberId, context }) }
    },
  )

  app.post(
    '/v1/integrations/channel-endpoints/link',
    {
      // It also changes where the bot brings what it hears.
      config: { role: 'admin' },
      schema: {
        tags: ['Chat sign-in'],
        summary: 'Make a link by which a subscriber tells a bot who they are',
        description,
        body: Body({ ...asked, subscriberId: Identifier() }),
        response: { 200: Link },
      },
    },
    async ({ environment, body }) => makeLink(environment.id, body),
  )

  void app.register(async (scope: App) => {
    // As the provider's file reads it, whatever its type is said to be.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) => bytes)

    scope.post(
      `${webhookPath}/:environmentId/:integrationId`,
      {
        config: { public: true },
        schema: {
          tags: ['Inbound webhooks'],
          summary: 'Where a vendor brings what is said to a bot',
          description: 'A word of a link makes an endpoint of whoever says it; everything else is left alone.',
          params: Type.Object({ environmentId: Type.String(), integrationId: Type.String() }),
          response: {
            200: Type.Object({}, { description: 'Nothing: vendors take an answer for something to be said' }),
          },
        },
      },
      async ({ url, headers, body, params: { environmentId, integrationId } }) => {
        const bot = await findBot(environmentId, integrationId)
        if (!bot) throw fail('inbound_integration_not_found', { id: integrationId })
        const rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        const request = new InboundRequest({ url: config.publicUrl + url, headers, rawBody })
        const introductions = delivery.hear(bot.provider, bot.credentials, request)
        if (!introductions) throw fail('inbound_signature_invalid')
        for (const introduction of introductions) await introduce(services, bot.row, introduction)
        return {}
      },
    )
  })
}

/** In the vendor's own words, where it has any. */
function refusal(vendor: string, cause: DeliveryError) {
  const reason = cause.says ?? cause.message
  return fail(cause.kind === 'later' ? 'link_unavailable' : 'link_refused', { vendor, reason }, { cause })
}

/** A word counts once, in time, and with the bot it was made for. */
function introduce(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  integration: IntegrationRow,
  { word, endpoint }: Introduction,
): Promise<void> {
  const { environment_id: environmentId } = integration
  const now = clock.now()
  return db.transaction().execute(async (tx) => {
    const link = await tx
      .deleteFrom('bot_links')
      .where('environment_id', '=', environmentId)
      .where('hash', '=', sha256(word))
      .where('integration_id', '=', integration.id)
      .where('expires_at', '>', now)
      .returning(['subscriber_id', 'context_keys'])
      .executeTakeFirst()
    if (!link) return
    const { subscriber_id: subscriberId, context_keys: contextKeys } = link
    // Held until the transaction ends, so that of two links followed at once only one makes an endpoint.
    const subscriber = await tx
      .selectFrom('subscribers')
      .select('id')
      .where('environment_id', '=', environmentId)
      .where('subscriber_id', '=', subscriberId)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!subscriber) return
    const known = await tx
      .selectFrom('channel_endpoints')
      .select('id')
      .where('environment_id', '=', environmentId)
      .where('subscriber_id', '=', subscriberId)
      .where('integration_id', '=', integration.id)
      .where(sql<boolean>`context_keys = ${contextKeys}::text[]`)
      .where(sql<boolean>`endpoint ->> 'channel' = ${endpoint.channel}`)
      .limit(1)
      .executeTakeFirst()
    if (known) return
    await insertEndpoint(tx, environmentId, { type: 'webhook', endpoint, integration, subscriberId, contextKeys }, now)
  })
}
