// Browsers that a subscriber registers for push messages: the key they need, and the list.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { isPoint } from '../../db/core/vapid.ts'
import { listIntegrations } from '../../db/queries/integrations.ts'
import { holdSubscriber } from '../../db/queries/preferences.ts'
import {
  deletePushSubscription,
  listPushSubscriptions,
  type PushKeys,
  type PushSubscriptionRow,
  savePushSubscription,
} from '../../db/queries/push-subscriptions.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { Body, Empty, Nullable, Timestamp } from '../edge/schema.ts'

const longestEndpoint = 2_048
const authBytes = 16

const Browser = Type.Object({
  id: Type.String(),
  origin: Type.String({ description: 'Of the push service; the whole endpoint is a secret' }),
  label: Nullable(Type.String()),
  createdAt: Timestamp,
})
const One = Type.Object({ data: Browser })
const Many = Type.Object({ data: Type.Array(Browser) })

const toBrowser = ({ id, origin, label, created_at }: PushSubscriptionRow): Static<typeof Browser> => ({
  ...{ id, origin, label, createdAt: created_at },
})

/** `PushSubscription.toJSON()` of the browser. What is wrong with it is told in one way, so its members are free. */
const Given = Body(
  {
    endpoint: Type.Optional(Type.Unknown()),
    expirationTime: Type.Optional(Type.Unknown()),
    keys: Type.Optional(Type.Unknown()),
    label: Type.Optional(Type.String({ maxLength: 100 })),
  },
  {
    examples: [
      {
        endpoint: 'https://push.example.net/send/abc',
        keys: {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
        label: 'Firefox',
      },
    ],
  },
)

export const inboxPush: Resource = (app, services) => {
  const { db, secrets } = services
  const tags = ['Inbox in browsers']
  const config = { public: true, inbox: true }
  const path = '/v1/inbox/push'

  const requireWebPush = async (environmentId: string) => {
    const integrations = await listIntegrations(db, environmentId, { onlyActive: true })
    const integration = integrations.find(({ provider_id }) => provider_id === 'web-push')
    if (!integration) throw fail('web_push_off')
    return integration
  }

  app.get(
    `${path}/key`,
    {
      config,
      schema: {
        tags,
        summary: 'Retrieve the key that a browser needs to register for push messages',
        response: {
          200: Type.Object({
            data: Type.Object({ publicKey: Type.String(), integrationIdentifier: Type.String() }),
          }),
        },
      },
    },
    async ({ session }) => {
      const { credentials, identifier } = await requireWebPush(session.environmentId)
      return { data: { publicKey: String(credentials.applicationId ?? ''), integrationIdentifier: identifier } }
    },
  )

  app.post(
    `${path}/subscriptions`,
    {
      config,
      schema: {
        tags,
        summary: 'Register a browser for push messages',
        description: 'The same endpoint again keeps its id and gets the new keys. One of another subscriber moves.',
        body: Given,
        response: { 200: One, 201: One },
      },
    },
    async (request, reply) => {
      const { environmentId, subscriber } = request.session
      await requireWebPush(environmentId)
      const keys = await readKeys(services, environmentId, request.body)
      const { row, isNew } = await db.transaction().execute(async (tx) => {
        if ((await holdSubscriber(tx, environmentId, subscriber.subscriber_id)) !== subscriber.id)
          throw fail('unauthorized')
        const owner = { environmentId, subscriberRowId: subscriber.id, subscriberId: subscriber.subscriber_id }
        const said = { keys, page: pageOf(request), label: request.body.label ?? null }
        return savePushSubscription(tx, owner, said, { secrets, now: request.now() })
      })
      return reply.code(isNew ? 201 : 200).send({ data: toBrowser(row) })
    },
  )

  app.get(
    `${path}/subscriptions`,
    { config, schema: { tags, summary: 'List the browsers that are registered', response: { 200: Many } } },
    async ({ session }) => {
      const rows = await listPushSubscriptions(db, session.environmentId, session.subscriber.id)
      return { data: rows.map(toBrowser) }
    },
  )

  app.delete(
    `${path}/subscriptions/:pushSubscriptionId`,
    {
      config,
      schema: {
        tags,
        summary: 'Remove a browser',
        params: Type.Object({ pushSubscriptionId: Type.String() }),
        response: { 204: Empty },
      },
    },
    async ({ session, params: { pushSubscriptionId: id } }, reply) => {
      const where = { subscriberRowId: session.subscriber.id, id }
      if (!(await deletePushSubscription(db, session.environmentId, where)))
        throw fail('push_subscription_not_found', { id })
      return reply.code(204).send(null)
    },
  )
}

/** The same for callers with a key. */
export const pushSubscriptions: Resource = (app, { db }) => {
  const tags = ['Subscribers']
  const path = '/v2/subscribers/:subscriberId/push-subscriptions'
  const subscriberOf = async (environmentId: string, subscriberId: string) => {
    const subscriber = await findSubscriber(db, environmentId, subscriberId)
    if (!subscriber) throw fail('subscriber_not_found', { subscriberId })
    return subscriber
  }

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'List the browsers that a subscriber has registered for push messages',
        params: Type.Object({ subscriberId: Type.String() }),
        response: { 200: Many },
      },
    },
    async ({ environment, params }) => {
      const { id } = await subscriberOf(environment.id, params.subscriberId)
      return { data: (await listPushSubscriptions(db, environment.id, id)).map(toBrowser) }
    },
  )

  app.delete(
    `${path}/:pushSubscriptionId`,
    {
      config: { act: 'subscriber.push-subscription-removed' },
      schema: {
        tags,
        summary: 'Remove a browser of a subscriber',
        params: Type.Object({ subscriberId: Type.String(), pushSubscriptionId: Type.String() }),
        response: { 204: Empty },
      },
    },
    async ({ environment, params }, reply) => {
      const { id: subscriberRowId } = await subscriberOf(environment.id, params.subscriberId)
      const { pushSubscriptionId: id } = params
      if (!(await deletePushSubscription(db, environment.id, { subscriberRowId, id })))
        throw fail('push_subscription_not_found', { id })
      return reply.code(204).send(null)
    },
  )
}

async function readKeys({ db, http }: Services, environmentId: string, given: Static<typeof Given>): Promise<PushKeys> {
  const refused = (reason: string) => fail('push_subscription_invalid', { reason })
  const { endpoint } = given
  const { p256dh, auth } = (given.keys ?? {}) as Record<string, unknown>
  if (typeof endpoint !== 'string' || !URL.canParse(endpoint)) throw refused('endpoint must be an address')
  if (endpoint.length > longestEndpoint) throw refused(`endpoint may have ${longestEndpoint} characters`)
  if (typeof p256dh !== 'string' || !isPoint(p256dh)) throw refused('keys.p256dh must be a point on P-256')
  if (typeof auth !== 'string' || Buffer.from(auth, 'base64url').length !== authBytes)
    throw refused(`keys.auth must be ${authBytes} bytes`)
  const { type } = await db
    .selectFrom('environments')
    .select('type')
    .where('id', '=', environmentId)
    .executeTakeFirstOrThrow()
  const client = type === 'dev' ? http.development : http
  const { protocol, hostname } = new URL(endpoint)
  const isLocal = protocol === 'http:' && client.mayCallHere
  if (protocol !== 'https:' && !isLocal) throw refused('endpoint must be an https address')
  if (!client.mayCallHost(hostname)) throw refused('endpoint leads to an address that may not be called')
  return { endpoint, p256dh, auth }
}

/** Where a click on the message leads, unless the message says so. */
function pageOf({ headers }: FastifyRequest): string | null {
  const { origin } = headers
  return origin === undefined || origin === 'null' || origin.length > 300 || !URL.canParse(origin) ? null : origin
}
