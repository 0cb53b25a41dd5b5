// Webhook events, their deliveries to endpoints, and replays.
import { type RawBuilder, type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import { firstIdAt, newId } from '../../db/core/ids.ts'
import { allOf, cursorPage } from '../../db/core/page.ts'
import type { WebhookDeliveryTable } from '../../db/core/tables.ts'
import { type EndpointRow, type EventRow, eventTypes, testEventType } from '../../db/queries/webhook-events.ts'
import { envelopeOf, storedId, wireId } from '../../engine/feedback/webhook-envelope.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Enum, FreeObject, NullableTimestamp, Timestamp } from '../edge/schema.ts'

const Event = Type.Object(
  {
    id: Type.String(),
    type: Type.String(),
    object: Type.String(),
    data: FreeObject,
    timestamp: Type.String(),
    environmentId: Type.String(),
  },
  { description: 'The exact body that endpoints get' },
)

const statuses = ['pending', 'sending', 'delivered', 'failed'] as const

const Delivery = Type.Object({
  _id: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  endpointId: Type.String(),
  status: Enum(statuses),
  attempts: Type.Integer({ description: 'Since the delivery was created or replayed' }),
  nextAttemptAt: NullableTimestamp,
  history: Type.Array(
    Type.Object({
      at: Type.String(),
      durationMs: Type.Integer(),
      status: Type.Optional(Type.Integer()),
      response: Type.Optional(Type.String()),
      error: Type.Optional(Type.String()),
    }),
    { description: 'The latest attempts, newest last' },
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
type DeliveryRow = Selectable<WebhookDeliveryTable> & { type: string }

const toDelivery = (row: DeliveryRow): Static<typeof Delivery> => ({
  _id: row.id,
  eventId: wireId(row.event_id),
  eventType: row.type,
  endpointId: row.endpoint_id,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.status === 'pending' ? row.due_at : null,
  history: row.history,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

const Count = Type.Object({ count: Type.Integer({ description: 'How many will be sent' }) })
const Since = Type.String({ format: 'date-time', description: 'ISO 8601' })

export const webhookEvents: Resource = (app, { db, clock, brand }) => {
  const tags = ['Webhooks']

  const toEvents = async (environment: { id: string; organizationId: string }, rows: EventRow[]) => {
    const { identifier } = await db
      .selectFrom('environments')
      .select('identifier')
      .where('id', '=', environment.id)
      .executeTakeFirstOrThrow()
    const context = {
      environmentIdentifier: identifier,
      organizationId: environment.organizationId,
      toWire: (id: string) => brand.toWire(id),
    }
    return rows.map((row) => ({ ...envelopeOf(row, context) }))
  }

  app.get(
    '/v2/webhooks/events',
    {
      schema: {
        tags,
        summary: 'List events',
        description: 'Only events that some endpoint wanted when they happened.',
        querystring: Type.Object({
          ...cursorQuery('ListWebhookEventsCommand'),
          type: Type.Optional(Enum(eventTypes)),
          subscriberId: Type.Optional(Type.String()),
          since: Type.Optional(Since),
          until: Type.Optional(Since),
        }),
        response: { 200: CursorPage(Event) },
      },
    },
    async (request) => {
      const { type, subscriberId, since, until, after, before, ...rest } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(type === undefined ? [] : [sql`t.type = ${type}`]),
        ...(subscriberId === undefined ? [] : [sql`t.subscriber_id = ${subscriberId}`]),
        ...happened(since, until),
      ]
      const page = await cursorPage<EventRow>(
        db,
        { from: sql`webhook_events t`, table: 'webhook_events', columns: sql`t.*`, where: allOf(where), environmentId },
        {
          ...rest,
          ...(after === undefined ? {} : { after: storedId(after) }),
          ...(before === undefined ? {} : { before: storedId(before) }),
        },
      )
      return { ...page, data: await toEvents(request.environment, page.data) }
    },
  )

  const requireEvent = async (environmentId: string, eventId: string): Promise<EventRow> => {
    const row = await db
      .selectFrom('webhook_events')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .where('id', '=', storedId(eventId))
      .executeTakeFirst()
    if (!row) throw fail('webhook_event_not_found', { id: eventId })
    return row
  }

  app.get(
    '/v2/webhooks/events/:eventId',
    {
      schema: {
        tags,
        summary: 'Retrieve an event',
        params: Type.Object({ eventId: Type.String({ description: 'Its `id`' }) }),
        response: { 200: Event },
      },
    },
    async (request, reply) => {
      const row = await requireEvent(request.environment.id, request.params.eventId)
      const [event] = await toEvents(request.environment, [row])
      return reply.send(event as Static<typeof Event>)
    },
  )

  app.get(
    '/v2/webhooks/deliveries',
    {
      schema: {
        tags,
        summary: 'List deliveries of events to endpoints',
        querystring: Type.Object({
          ...cursorQuery('ListWebhookDeliveriesCommand'),
          endpointId: Type.Optional(Type.String()),
          eventId: Type.Optional(Type.String()),
          status: Type.Optional(Enum(statuses)),
          since: Type.Optional(Since),
          until: Type.Optional(Since),
        }),
        response: { 200: CursorPage(Delivery) },
      },
    },
    async (request) => {
      const { endpointId, eventId, status, since, until } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(endpointId === undefined ? [] : [sql`t.endpoint_id = ${endpointId}`]),
        ...(eventId === undefined ? [] : [sql`t.event_id = ${storedId(eventId)}`]),
        ...(status === undefined ? [] : [sql`t.status = ${status}`]),
        ...happened(since, until),
      ]
      const page = await cursorPage<DeliveryRow>(
        db,
        {
          from: sql`webhook_deliveries t JOIN webhook_events v ON v.environment_id = t.environment_id AND v.id = t.event_id`,
          countFrom: sql`webhook_deliveries t`,
          table: 'webhook_deliveries',
          columns: sql`t.*, v.type`,
          where: allOf(where),
          environmentId,
        },
        request.query,
      )
      return { ...page, data: page.data.map(toDelivery) }
    },
  )

  app.post(
    '/v2/webhooks/events/:eventId/resend',
    {
      config: { role: 'admin', act: 'webhook.resent' },
      schema: {
        tags,
        summary: 'Send an event again',
        description: 'To one endpoint, or to all enabled ones that want this event type. Its id stays the same.',
        params: Type.Object({ eventId: Type.String({ description: 'Its `id`' }) }),
        body: Type.Optional(Body({ endpointId: Type.Optional(Type.String()) }, { examples: [{}] })),
        response: { 202: Count },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { endpointId: id } = request.body ?? {}
      const event = await requireEvent(environmentId, request.params.eventId)
      const count = await db.transaction().execute(async (tx) => {
        if (id !== undefined) await requireEndpoint(tx, environmentId, id)
        return sendAgain(tx, environmentId, clock.now(), [
          sql`v.id = ${event.id}`,
          id === undefined ? sql`(e.event_types IS NULL OR v.type = ANY(e.event_types))` : sql`e.id = ${id}`,
        ])
      })
      return reply.code(202).send({ count })
    },
  )

  app.post(
    '/v2/webhooks/endpoints/:endpointId/test',
    {
      config: { role: 'admin', act: 'webhook.tested' },
      schema: {
        tags,
        summary: 'Send a test event to an endpoint',
        description:
          'Its type is `webhook.test`, whatever types the endpoint wants. It is delivered and signed like any other; its delivery has the response.',
        params: Type.Object({ endpointId: Type.String({ description: 'Its `_id`' }) }),
        response: { 202: Type.Object({ eventId: Type.String() }) },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { endpointId } = request.params
      const now = clock.now()
      const id = newId(now)
      await db.transaction().execute(async (tx) => {
        const { url } = await requireEndpoint(tx, environmentId, endpointId)
        const object = JSON.stringify({ endpoint_id: endpointId, url })
        const event = { environment_id: environmentId, id, type: testEventType, object, created_at: now }
        await tx
          .insertInto('webhook_events')
          .values({ ...event, previous: null, subscriber_id: null })
          .execute()
        await sendAgain(tx, environmentId, now, [sql`v.id = ${id}`, sql`e.id = ${endpointId}`])
      })
      return reply.code(202).send({ eventId: wireId(id) })
    },
  )

  app.post(
    '/v2/webhooks/endpoints/:endpointId/replay',
    {
      config: { role: 'admin', act: 'webhook.replayed' },
      schema: {
        tags,
        summary: 'Send an endpoint the events since a time again',
        description:
          'All events of its types that it has not accepted, even from before it was created; with `status: all` also those it has accepted.',
        params: Type.Object({ endpointId: Type.String({ description: 'Its `_id`' }) }),
        body: Body(
          {
            since: Since,
            until: Type.Optional(Since),
            status: Type.Optional(Enum(['missed', 'all'], { default: 'missed' })),
          },
          { examples: [{ since: '2026-05-01T00:00:00.000Z' }] },
        ),
        response: { 202: Count },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { endpointId: id } = request.params
      const { since, until, status = 'missed' } = request.body
      const count = await db.transaction().execute(async (tx) => {
        await requireEndpoint(tx, environmentId, id)
        return sendAgain(tx, environmentId, clock.now(), [
          sql`e.id = ${id} AND (e.event_types IS NULL OR v.type = ANY(e.event_types))`,
          // Test events are for one endpoint, once.
          sql`v.type <> ${testEventType}`,
          sql`v.created_at >= ${new Date(since)}`,
          ...(until === undefined ? [] : [sql`v.created_at < ${new Date(until)}`]),
          // Ids have whole seconds; this bounds the index scan.
          sql`v.id >= ${firstIdAt(new Date(since))}`,
          ...(status === 'all'
            ? []
            : [
                sql`NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.environment_id = v.environment_id
                      AND d.event_id = v.id AND d.endpoint_id = e.id AND d.status <> 'failed')`,
              ]),
        ])
      })
      return reply.code(202).send({ count })
    },
  )
}

const happened = (since: string | undefined, until: string | undefined): RawBuilder<unknown>[] => [
  ...(since === undefined ? [] : [sql`t.created_at >= ${new Date(since)}`]),
  ...(until === undefined ? [] : [sql`t.created_at < ${new Date(until)}`]),
]

/** Refuses a disabled endpoint, since it is sent nothing. */
async function requireEndpoint(tx: Tx, environmentId: string, id: string): Promise<EndpointRow> {
  const row = await tx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .forKeyShare()
    .executeTakeFirst()
  if (!row) throw fail('webhook_endpoint_not_found', { id })
  if (!row.active) throw fail('webhook_endpoint_off')
  return row
}

/** Conditions are on events `v` and endpoints `e`. Skips deliveries in flight. @returns how many */
async function sendAgain(tx: Tx, environmentId: string, now: Date, conditions: RawBuilder<unknown>[]): Promise<number> {
  const { rows } = await sql`
    INSERT INTO webhook_deliveries AS d
      (environment_id, id, event_id, endpoint_id, status, attempts, due_at, history, created_at, updated_at)
    SELECT v.environment_id, new_row_id(${now}), v.id, e.id, 'pending', 0, ${now}, '[]', ${now}, ${now}
    FROM webhook_events v JOIN webhook_endpoints e ON e.environment_id = v.environment_id AND e.active
    WHERE v.environment_id = ${environmentId} AND ${allOf(conditions)}
    ORDER BY v.id, e.id
    ON CONFLICT ON CONSTRAINT webhook_deliveries_once DO UPDATE
      SET status = 'pending', attempts = 0, due_at = excluded.due_at, updated_at = excluded.updated_at
      WHERE d.status <> 'sending'
    RETURNING 1`.execute(tx)
  // A trigger queues new rows; existing ones need a job here.
  if (rows.length > 0)
    await sql`SELECT graphile_worker.add_job('send_webhooks', '{}', max_attempts := 1000)`.execute(tx)
  return rows.length
}
