// Contexts: what a notification is about beyond its recipient, such as a tenant or an application.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { violatedKey } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { allOf, contains, cursorPage } from '../../db/core/page.ts'
import { contextNamePattern, refuseLargeData } from '../../db/queries/contexts.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Empty, FreeObject, Timestamp } from '../edge/schema.ts'

const Context = Type.Object({
  type: Type.String(),
  id: Type.String(),
  data: FreeObject,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const nameOf = (what: string) =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: contextNamePattern,
    texts: { pattern: `${what} must be lowercase alphanumeric with optional ., _, or - separators` },
  })
const Params = Type.Object({ type: Type.String(), id: Type.String() })

interface Row {
  id: string
  type: string
  context_id: string
  data: Record<string, unknown>
  created_at: Date
  updated_at: Date
}

const toContext = (row: Omit<Row, 'id'>): Static<typeof Context> => ({
  type: row.type,
  id: row.context_id,
  data: row.data,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const contexts: Resource = (app, { db }) => {
  const tags = ['Contexts']
  const columns = ['type', 'context_id', 'data', 'created_at', 'updated_at'] as const

  app.post(
    '/v2/contexts',
    {
      schema: {
        tags,
        summary: 'Create a context',
        body: Body(
          { type: nameOf('Type'), id: nameOf('ID'), data: Type.Optional(FreeObject) },
          { examples: [{ type: 'tenant', id: 'acme', data: { plan: 'pro' } }] },
        ),
        response: { 201: Context },
      },
    },
    async (request, reply) => {
      const { type, id, data = {} } = request.body
      refuseLargeData(type, data)
      const now = request.now()
      try {
        const row = await db
          .insertInto('contexts')
          .values({
            environment_id: request.environment.id,
            id: newId(now),
            type,
            context_id: id,
            data: JSON.stringify(data),
            created_at: now,
            updated_at: now,
          })
          .returning(columns)
          .executeTakeFirstOrThrow()
        reply.code(201)
        return toContext(row)
      } catch (error) {
        if (violatedKey(error)) throw fail('context_exists', { type, id })
        throw error
      }
    },
  )

  app.get(
    '/v2/contexts',
    {
      schema: {
        tags,
        summary: 'List contexts',
        querystring: Type.Object({
          ...cursorQuery('ListContextsCommand', ['minimum', 'maximum']),
          type: Type.Optional(Type.String()),
          id: Type.Optional(Type.String()),
          search: Type.Optional(Type.String({ description: 'Part of `type:id`, case-insensitive' })),
        }),
        response: { 200: CursorPage(Context) },
      },
    },
    async (request) => {
      const { type, id, search, orderBy } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(type === undefined ? [] : [sql`t.type = ${type}`]),
        ...(id === undefined ? [] : [sql`t.context_id = ${id}`]),
        ...(search ? [contains(sql`t.type || ':' || t.context_id`, search)] : []),
      ]
      const page = await cursorPage<Row>(
        db,
        {
          from: sql`contexts t`,
          table: 'contexts',
          columns: sql`t.id, t.type, t.context_id, t.data, t.created_at, t.updated_at`,
          where: allOf(where),
          environmentId,
          order: orderBy === 'updatedAt' ? 'updated_at' : 'created_at',
        },
        request.query,
      )
      return { ...page, data: page.data.map(toContext) }
    },
  )

  app.get(
    '/v2/contexts/:type/:id',
    { schema: { tags, summary: 'Retrieve a context', params: Params, response: { 200: Context } } },
    async (request) => {
      const { type, id } = request.params
      const row = await db
        .selectFrom('contexts')
        .select(columns)
        .where('environment_id', '=', request.environment.id)
        .where('type', '=', type)
        .where('context_id', '=', id)
        .executeTakeFirst()
      if (!row) throw fail('context_not_found', { type, id, environmentId: request.environment.id })
      return toContext(row)
    },
  )

  app.patch(
    '/v2/contexts/:type/:id',
    {
      schema: {
        tags,
        summary: "Replace a context's data",
        params: Params,
        body: Body({ data: FreeObject }, { examples: [{ data: { plan: 'free' } }] }),
        response: { 200: Context },
      },
    },
    async (request) => {
      const { type, id } = request.params
      refuseLargeData(type, request.body.data)
      const row = await db
        .updateTable('contexts')
        .set({ data: JSON.stringify(request.body.data), updated_at: request.now() })
        .where('environment_id', '=', request.environment.id)
        .where('type', '=', type)
        .where('context_id', '=', id)
        .returning(columns)
        .executeTakeFirst()
      if (!row) throw fail('context_to_update_not_found', { type, id })
      return toContext(row)
    },
  )

  app.delete(
    '/v2/contexts/:type/:id',
    { schema: { tags, summary: 'Delete a context', params: Params, response: { 204: Empty } } },
    async (request, reply) => {
      const { type, id } = request.params
      const { numDeletedRows } = await db
        .deleteFrom('contexts')
        .where('environment_id', '=', request.environment.id)
        .where('type', '=', type)
        .where('context_id', '=', id)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw fail('context_not_found', { type, id, environmentId: request.environment.id })
      return reply.code(204).send(null)
    },
  )
}
