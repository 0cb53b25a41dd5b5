// Webhook endpoints: which events go to which address, and the secret that signs them.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { announce } from '../../db/core/changes.ts'
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { cursorPage } from '../../db/core/page.ts'
import { type EndpointRow, eventTypes } from '../../db/queries/webhook-events.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Empty, Enum, Nullable, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

/** Each one multiplies the requests per event. */
const mostEndpoints = 50
const secretBytes = 32
const usualOverlapHours = 24
const hourMs = 3_600_000

const EventTypes = Type.Array(Enum(eventTypes), { maxItems: 100 })

const Endpoint = Type.Object({
  _id: Type.String(),
  url: Type.String(),
  description: Nullable(Type.String()),
  eventTypes: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'The event types it gets; null is all of them',
  }),
  active: Type.Boolean(),
  failingSince: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Since when every delivery has failed' }),
  disabledAt: Type.Unsafe<Date | null>({
    ...NullableTimestamp,
    description: 'Set when the service disabled it, after every delivery had failed for five days',
  }),
  previousSecretExpiresAt: Type.Unsafe<Date | null>({
    ...NullableTimestamp,
    description: 'Until then requests are also signed with the previous secret',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
const EndpointWithSecret = Type.Object({
  ...Endpoint.properties,
  secret: Type.String({ description: 'Shown only this once' }),
})

const Url = Type.String({ minLength: 1, maxLength: 2_000 })
const fields = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
  eventTypes: Type.Optional(
    Type.Unsafe<Static<typeof EventTypes> | null>({
      ...EventTypes,
      type: ['array', 'null'],
      description: 'All, if null',
    }),
  ),
  active: Type.Optional(Type.Boolean()),
}
const example = { url: 'https://example.com/hooks/belfry', eventTypes: ['message.sent', 'message.failed'] }
const Params = Type.Object({ endpointId: Type.String({ description: 'Its `_id`' }) })

const toEndpoint = (row: EndpointRow): Static<typeof Endpoint> => ({
  _id: row.id,
  url: row.url,
  description: row.description,
  eventTypes: row.event_types,
  active: row.active,
  failingSince: row.failing_since,
  disabledAt: row.disabled_at,
  previousSecretExpiresAt: row.previous_secret_expires_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const newSecret = () => `whsec_${randomBytes(secretBytes).toString('base64')}`

export const webhookEndpoints: Resource = (app, { db, clock, secrets }) => {
  const tags = ['Webhooks']

  /** Announces the change to every process that caches the wanted event types. */
  const change = <T>(environmentId: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      const result = await work(tx)
      await announce(tx, 'webhook_endpoints', environmentId)
      return result
    })

  app.post(
    '/v2/webhooks/endpoints',
    {
      config: { role: 'admin', act: 'webhook.created' },
      schema: {
        tags,
        summary: 'Create a webhook endpoint',
        description: 'The secret is in this answer only.',
        body: Body({ url: Url, ...fields }, { examples: [example] }),
        response: { 201: EndpointWithSecret },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { url, description = null, eventTypes: wanted = null, active = true } = request.body
      refuseBadUrl(url)
      const secret = newSecret()
      const now = clock.now()
      const row = await change(environmentId, async (tx) => {
        // Serializes concurrent requests, so that they cannot both take the last place.
        await sql`SELECT FROM environments WHERE id = ${environmentId} FOR NO KEY UPDATE`.execute(tx)
        const { count } = await tx
          .selectFrom('webhook_endpoints')
          .select((select) => select.fn.countAll<string>().as('count'))
          .where('environment_id', '=', environmentId)
          .executeTakeFirstOrThrow()
        if (Number(count) >= mostEndpoints) throw fail('too_many_webhook_endpoints', { limit: mostEndpoints })
        return tx
          .insertInto('webhook_endpoints')
          .values({
            environment_id: environmentId,
            id: newId(now),
            url,
            description,
            event_types: wanted,
            active,
            secret: secrets.encrypt(secret),
            created_at: now,
            updated_at: now,
          })
          .returningAll()
          .executeTakeFirstOrThrow()
      })
      return reply.code(201).send({ ...toEndpoint(row), secret })
    },
  )

  app.get(
    '/v2/webhooks/endpoints',
    {
      schema: {
        tags,
        summary: 'List webhook endpoints',
        querystring: Type.Object(cursorQuery('ListWebhookEndpointsCommand')),
        response: { 200: CursorPage(Endpoint) },
      },
    },
    async (request) => {
      const environmentId = request.environment.id
      const page = await cursorPage<EndpointRow>(
        db,
        {
          from: sql`webhook_endpoints t`,
          table: 'webhook_endpoints',
          columns: sql`t.*`,
          where: sql`t.environment_id = ${environmentId}`,
          environmentId,
        },
        request.query,
      )
      return { ...page, data: page.data.map(toEndpoint) }
    },
  )

  app.get(
    '/v2/webhooks/endpoints/:endpointId',
    { schema: { tags, summary: 'Retrieve a webhook endpoint', params: Params, response: { 200: Endpoint } } },
    async (request) => {
      const { endpointId: id } = request.params
      const row = await db
        .selectFrom('webhook_endpoints')
        .selectAll()
        .where('environment_id', '=', request.environment.id)
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row) throw fail('webhook_endpoint_not_found', { id })
      return toEndpoint(row)
    },
  )

  app.patch(
    '/v2/webhooks/endpoints/:endpointId',
    {
      config: { role: 'admin', act: 'webhook.changed' },
      schema: {
        tags,
        summary: 'Change the given fields of a webhook endpoint',
        description: 'Enabling it again resets its failures. Missed events can be replayed.',
        params: Params,
        body: Body({ url: Type.Optional(Url), ...fields }, { examples: [{ active: true }] }),
        response: { 200: Endpoint },
      },
    },
    async (request) => {
      const environmentId = request.environment.id
      const { endpointId: id } = request.params
      const { url, description, eventTypes: wanted, active } = request.body
      if (url !== undefined) refuseBadUrl(url)
      const row = await change(environmentId, (tx) =>
        tx
          .updateTable('webhook_endpoints')
          .set({
            url,
            description,
            event_types: wanted,
            active,
            ...(active === true ? { failing_since: null, disabled_at: null } : {}),
            updated_at: clock.now(),
          })
          .where('environment_id', '=', environmentId)
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst(),
      )
      if (!row) throw fail('webhook_endpoint_not_found', { id })
      return toEndpoint(row)
    },
  )

  app.delete(
    '/v2/webhooks/endpoints/:endpointId',
    {
      config: { role: 'admin', act: 'webhook.deleted' },
      schema: {
        tags,
        summary: 'Delete a webhook endpoint',
        description: 'Deletes its pending and past deliveries too.',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { endpointId: id } = request.params
      await change(environmentId, async (tx) => {
        const { numDeletedRows } = await tx
          .deleteFrom('webhook_endpoints')
          .where('environment_id', '=', environmentId)
          .where('id', '=', id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw fail('webhook_endpoint_not_found', { id })
        await tx
          .deleteFrom('webhook_deliveries')
          .where('environment_id', '=', environmentId)
          .where('endpoint_id', '=', id)
          .execute()
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v2/webhooks/endpoints/:endpointId/rotate-secret',
    {
      config: { role: 'admin', act: 'webhook.secret-rotated' },
      schema: {
        tags,
        summary: 'Give a webhook endpoint a new secret',
        description:
          'The new secret is in this answer only. Until the overlap ends, requests carry a signature by both secrets.',
        params: Params,
        body: Type.Optional(
          Body(
            { overlapHours: Type.Optional(Type.Number({ minimum: 0, maximum: 168, default: usualOverlapHours })) },
            { examples: [{ overlapHours: 24 }] },
          ),
        ),
        response: { 201: EndpointWithSecret },
      },
    },
    async (request, reply) => {
      const { endpointId: id } = request.params
      const { overlapHours = usualOverlapHours } = request.body ?? {}
      const secret = newSecret()
      const now = clock.now()
      const { rows } = await sql<EndpointRow>`
        UPDATE webhook_endpoints SET previous_secret = secret, secret = ${secrets.encrypt(secret)}, updated_at = ${now},
          previous_secret_expires_at = ${new Date(now.getTime() + overlapHours * hourMs)}
        WHERE environment_id = ${request.environment.id} AND id = ${id} RETURNING *`.execute(db)
      const [row] = rows
      if (!row) throw fail('webhook_endpoint_not_found', { id })
      return reply.code(201).send({ ...toEndpoint(row), secret })
    },
  )
}

/** Private addresses are refused when the endpoint is called, since DNS names can change. */
function refuseBadUrl(url: string): void {
  const { protocol, username, password } = URL.canParse(url)
    ? new URL(url)
    : { protocol: '', username: '', password: '' }
  if (protocol !== 'https:' && protocol !== 'http:') throw generalError(['url must be an http or https URL'])
  if (username !== '' || password !== '') throw generalError(['url must not contain a user name or password'])
}
