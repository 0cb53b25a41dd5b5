// Events that programs post, for the steps that wait for them.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { allOf, cursorPage } from '../../db/core/page.ts'
import type { NewEvent } from '../../engine/runs/posted-events.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Enum, FreeObject, Nullable, Timestamp } from '../edge/schema.ts'

const bodyLimit = 8 * 1024 * 1024
const mostEvents = 100
export const mostPayloadBytes = 64 * 1024

const text = { minLength: 1, maxLength: 255 }
const Given = Body(
  {
    name: Type.String({
      pattern: '^(?!message\\.)[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$',
      texts: {
        pattern:
          'must have up to 128 letters, digits, underscores, periods, colons and hyphens, begin with a letter or digit, and not with "message."',
      },
    }),
    subscriberId: Type.Optional(Type.String({ ...text, description: 'Whom it is about' })),
    key: Type.Optional(
      Type.String({ ...text, description: 'A word that the waiting side knows too, such as the number of a cart' }),
    ),
    id: Type.Optional(
      Type.String({ ...text, description: 'Your name for it: one that was used is answered alike, and does nothing' }),
    ),
    payload: Type.Optional(FreeObject),
  },
  { examples: [{ name: 'cart.paid', key: 'cart-7', id: 'paid-77', payload: { total: 40 } }] },
)
type Given = Static<typeof Given>

const Accepted = Type.Object({
  acknowledged: Type.Boolean(),
  id: Type.String(),
  createdAt: Timestamp,
  isDuplicate: Type.Boolean(),
})

const PostedEvent = Type.Object({
  id: Type.String(),
  name: Type.String(),
  key: Nullable(Type.String()),
  subscriberId: Nullable(Type.String()),
  payload: FreeObject,
  status: Enum(['matching', 'done'], { description: '`done` once all runs that waited for it were told' }),
  matched: Type.Integer({ description: 'How many waits it has ended' }),
  createdAt: Timestamp,
})

interface Row {
  id: string
  given_id: string | null
  name: string
  key: string | null
  subscriber_id: string | null
  payload: Record<string, unknown>
  matched: number
  reached: string | null
  created_at: Date
}

const shown = (row: Row): Static<typeof PostedEvent> => ({
  id: row.given_id ?? row.id,
  name: row.name,
  key: row.key,
  subscriberId: row.subscriber_id,
  payload: row.payload,
  status: row.reached === null ? 'done' : 'matching',
  matched: row.matched,
  createdAt: row.created_at,
})

export const postedEvents: Resource = (app, { db, engine }) => {
  const tags = ['Events']

  app.post(
    '/v2/events',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Post an event that runs may wait for',
        description:
          'A 201 is committed; what it ends happens behind it. A subscriber or key nobody knows is no error.',
        body: Given,
        response: { 201: Accepted },
      },
    },
    async (request, reply) => {
      const [posted] = await engine.post(request.environment.id, [readEvent(request.body)])
      if (!posted) throw new Error('The event of this request was not posted.')
      reply.code(201)
      return { acknowledged: true, ...posted }
    },
  )

  app.post(
    '/v2/events/bulk',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Post up to 100 events, all or none of them',
        body: Body({ events: Type.Array(Given, { minItems: 1, maxItems: mostEvents }) }),
        response: { 201: Type.Array(Accepted) },
      },
    },
    async (request, reply) => {
      const posted = await engine.post(request.environment.id, request.body.events.map(readEvent))
      reply.code(201)
      return posted.map((each) => ({ acknowledged: true, ...each }))
    },
  )

  app.get(
    '/v2/events/:id',
    {
      schema: {
        tags,
        summary: 'Retrieve a posted event',
        params: Type.Object({ id: Type.String({ description: 'Your name for it, or the one that it was given' }) }),
        response: { 200: PostedEvent },
      },
    },
    async ({ environment, params: { id } }) => {
      const { rows } = await sql<Row>`
        (SELECT e.* FROM posted_events e
         WHERE e.environment_id = ${environment.id} AND e.given_id = ${id} ORDER BY e.id DESC LIMIT 1)
        UNION ALL SELECT e.* FROM posted_events e WHERE e.environment_id = ${environment.id} AND e.id = ${id}`.execute(
        db,
      )
      if (!rows[0]) throw fail('event_not_found', { id })
      return shown(rows[0])
    },
  )

  app.get(
    '/v2/events',
    {
      schema: {
        tags,
        summary: 'List posted events, newest first',
        querystring: Type.Object({
          ...cursorQuery('ListEventsCommand', ['minimum', 'maximum']),
          name: Type.Optional(Type.String()),
          subscriberId: Type.Optional(Type.String()),
          key: Type.Optional(Type.String()),
        }),
        response: { 200: CursorPage(PostedEvent) },
      },
    },
    async ({ environment, query }) => {
      const { name, subscriberId, key, ...page } = query
      const where = [
        sql`t.environment_id = ${environment.id}`,
        ...(name === undefined ? [] : [sql`t.name = ${name}`]),
        ...(subscriberId === undefined ? [] : [sql`t.subscriber_id = ${subscriberId}`]),
        ...(key === undefined ? [] : [sql`t.key = ${key}`]),
      ]
      const list = { from: sql`posted_events t`, table: 'posted_events', columns: sql`t.*`, where: allOf(where) }
      const found = await cursorPage<Row>(
        db,
        { ...list, environmentId: environment.id },
        { ...page, orderDirection: 'DESC' },
      )
      return { ...found, data: found.data.map(shown) }
    },
  )
}

function readEvent({ id, name, key, subscriberId, payload = {} }: Given): NewEvent {
  if (key === undefined && subscriberId === undefined) throw fail('event_for_nobody')
  const bytes = Buffer.byteLength(JSON.stringify(payload))
  if (bytes > mostPayloadBytes) throw fail('event_payload_too_large', { bytes, limit: mostPayloadBytes })
  return { givenId: id, name, key, subscriberId, payload }
}
