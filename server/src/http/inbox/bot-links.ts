// Links that connect a subscriber's chat with a bot: created for a page or a backend, followed in the chat, and reported to us
// by the vendor. The code in a link works for one chat and ten minutes; we store only its hash.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { readButton } from '../../db/core/link-tokens.ts'
import { sha256 } from '../../db/core/secrets.ts'
import { requireIntegration, requireSubscriber } from '../../db/queries/channel-connections.ts'
import { insertEndpoint } from '../../db/queries/channel-endpoints.ts'
import { resolveContexts } from '../../db/queries/contexts.ts'
import { findIntegration, type IntegrationRow } from '../../db/queries/integrations.ts'
import { newToken } from '../../db/queries/sign-in-links.ts'
import { fail, RequestError } from '../../errors.ts'
import { Delivery } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { InboundRequest } from '../../providers/events.ts'
import { deliveryProvider } from '../../providers/index.ts'
import { type Click, hasBot, type Introduction, isClickable } from '../../providers/provider.ts'
import { nameOf } from '../../steps/contract/question.ts'
import type { App, Resource, Services } from '../edge/resource.ts'
import { Body, ContextPayload, Identifier, Timestamp } from '../edge/schema.ts'
import { openCredentials } from '../integrations/credentials.ts'
import { contextFor } from './channels.ts'

const linkMinutes = 10
/** Vendors wait three seconds for an answer to a click, and show an error afterwards. */
const clickMs = 1_500
const webhookPath = '/v2/inbound-webhooks/bots'

const Link = Type.Object({
  url: Type.String(),
  providerMetadata: Type.Object({ botUsername: Type.String(), expiresAt: Timestamp }),
})
const asked = { integrationIdentifier: Identifier(), context: Type.Optional(ContextPayload()) }
const description = `Telegram has such links. It works once, within ${linkMinutes} minutes.`

interface Asked {
  integrationIdentifier: string
  subscriberId: string
  context?: Record<string, unknown> | undefined
}

export const botLinks: Resource = (app, services) => {
  const { db, clock, secrets, brand, http, config } = services
  // Caches for a while which bots have our webhook registered.
  const delivery = new Delivery({ http, clock, brand: brand.word })
  app.addHook('onClose', () => delivery.close())

  const findIntegrationOf = async (environmentId: string, integrationId: string) => {
    const row = await findIntegration(db, environmentId, integrationId)
    const provider = row && deliveryProvider(row.provider_id)
    if (!row || !provider || !(hasBot(provider) || isClickable(provider))) return undefined
    return { row, provider, credentials: openCredentials(secrets, row) }
  }
  const findBot = async (environmentId: string, integrationId: string) => {
    const found = await findIntegrationOf(environmentId, integrationId)
    const provider = found?.provider
    return found && hasBot(provider) ? { ...found, provider } : undefined
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
        summary: 'Create a link that connects the subscriber with a bot',
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
      // It also changes the webhook of the bot.
      config: { role: 'admin' },
      schema: {
        tags: ['Chat sign-in'],
        summary: 'Create a link that connects a subscriber with a bot',
        description,
        body: Body({ ...asked, subscriberId: Identifier() }),
        response: { 200: Link },
      },
    },
    async ({ environment, body }) => makeLink(environment.id, body),
  )

  void app.register(async (scope: App) => {
    // The provider's file parses the body, whatever the content type.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, bytes: Buffer) => bytes)

    scope.post(
      `${webhookPath}/:environmentId/:integrationId`,
      {
        config: { public: true },
        schema: {
          tags: ['Inbound webhooks'],
          summary: 'Receive updates of a bot',
          description:
            'The code of a link creates an endpoint for its sender; a click on a button of a question answers it. Other updates are ignored.',
          params: Type.Object({ environmentId: Type.String(), integrationId: Type.String() }),
          response: {
            200: Type.Object(
              {},
              {
                additionalProperties: true,
                description:
                  'Empty, because vendors would send an answer to the chat; after a click what the vendor wants',
              },
            ),
          },
        },
      },
      async ({ url, headers, body, params: { environmentId, integrationId } }) => {
        const bot = await findIntegrationOf(environmentId, integrationId)
        if (!bot) throw fail('inbound_integration_not_found', { id: integrationId })
        const { row, provider, credentials } = bot
        const rawBody = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
        const request = new InboundRequest({ url: config.publicUrl + url, headers, rawBody })
        const clicks = isClickable(provider)
          ? await delivery.clicks(provider, { id: row.id, credentials }, request).catch((cause: unknown) => {
              if (cause instanceof DeliveryError)
                throw fail('inbound_not_verifiable', { providerId: brand.toWire(row.provider_id) }, { cause })
              throw cause
            })
          : undefined
        const introductions = hasBot(provider) ? delivery.hear(provider, credentials, request) : undefined
        if (!clicks && !introductions) throw fail('inbound_signature_invalid')
        for (const introduction of introductions ?? []) await introduce(services, row, introduction)
        for (const click of clicks ?? []) await answerBy(services, row, click)
        return clicks?.[0]?.reply ?? {}
      },
    )
  })
}

/** A click on a button of a question. One that comes too late changes nothing: the message will say so. */
async function answerBy(
  { db, secrets, engine, brand }: Pick<Services, 'db' | 'secrets' | 'engine' | 'brand'>,
  { environment_id: environmentId, provider_id }: IntegrationRow,
  { value, user }: Click,
): Promise<void> {
  const button = readButton(secrets, environmentId, value)
  if (!button) return
  const { questionId, subscriberRowId } = button.link
  const [question, subscriber] = await Promise.all([
    db
      .selectFrom('questions')
      .select('answers')
      .where('environment_id', '=', environmentId)
      .where('id', '=', questionId)
      .executeTakeFirst(),
    db
      .selectFrom('subscribers')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .where('id', '=', subscriberRowId)
      .executeTakeFirst(),
  ])
  const answer = question?.answers[button.place]?.id
  if (answer === undefined || !subscriber) return
  const as = { provider: brand.toWire(provider_id), userId: user.id, name: user.name }
  const by = { subscriberId: subscriber.subscriber_id, name: nameOf(subscriber), channel: 'chat', as }
  await engine.answerWithin({ environmentId, questionId, answer, by }, clickMs).catch((error: unknown) => {
    if (!(error instanceof RequestError)) throw error
  })
}

/** With the vendor's own message, if there is one. */
function refusal(vendor: string, cause: DeliveryError) {
  const reason = cause.says ?? cause.message
  return fail(cause.kind === 'later' ? 'link_unavailable' : 'link_refused', { vendor, reason }, { cause })
}

/** Redeems a code: once, before it expires, and with its own bot. */
function introduce(
  { db, clock, secrets }: Pick<Services, 'db' | 'clock' | 'secrets'>,
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
    // Locked until the transaction ends, so that two concurrent codes create one endpoint.
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
    await insertEndpoint(
      { tx, secrets },
      environmentId,
      { type: 'webhook', endpoint, integration, subscriberId, contextKeys },
      now,
    )
  })
}
