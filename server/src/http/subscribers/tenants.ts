// Tenants: your customers, which a trigger can name, with data for templates. The predecessor of contexts.
import { type Static, Type } from 'typebox'
import { violatedKey } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, FreeObject, Identifier, NumberedPage, numberedQuery, Timestamp } from '../edge/schema.ts'

const Tenant = Type.Object({
  _id: Type.String(),
  identifier: Type.String(),
  name: Type.Optional(Type.String()),
  data: Type.Optional(FreeObject),
  _environmentId: Type.String(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const perField = { command: 'CreateTenantCommand' }
const Params = Type.Object({ identifier: Type.String() })

interface Row {
  environment_id: string
  id: string
  identifier: string
  name: string | null
  data: Record<string, unknown> | null
  created_at: Date
  updated_at: Date
}

const toTenant = (row: Row): Static<typeof Tenant> => ({
  _id: row.id,
  identifier: row.identifier,
  ...(row.name === null ? {} : { name: row.name }),
  ...(row.data === null ? {} : { data: row.data }),
  _environmentId: row.environment_id,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const tenants: Resource = (app, { db }) => {
  const tags = ['Tenants']

  app.get(
    '/v1/tenants',
    {
      schema: {
        tags,
        summary: 'List tenants, newest first',
        querystring: Type.Object(numberedQuery()),
        response: { 200: NumberedPage(Tenant) },
      },
    },
    async (request) => {
      const { page = 0, limit = 10 } = request.query
      const rows = await db
        .selectFrom('tenants')
        .selectAll()
        .where('environment_id', '=', request.environment.id)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(page * limit)
        .execute()
      return { data: rows.map(toTenant), page, pageSize: limit, hasMore: rows.length === limit }
    },
  )

  app.get(
    '/v1/tenants/:identifier',
    { schema: { tags, summary: 'Retrieve a tenant', params: Params, response: { 200: Tenant } } },
    async (request) => {
      const { identifier } = request.params
      const environmentId = request.environment.id
      const row = await db
        .selectFrom('tenants')
        .selectAll()
        .where('environment_id', '=', environmentId)
        .where('identifier', '=', identifier)
        .executeTakeFirst()
      if (!row) throw fail('tenant_not_found', { identifier, environmentId })
      return toTenant(row)
    },
  )

  app.post(
    '/v1/tenants',
    {
      schema: {
        tags,
        summary: 'Create a tenant',
        body: Body(
          {
            identifier: Identifier({ perField }),
            name: Type.String({ minLength: 1, perField }),
            data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ ...FreeObject, perField })),
          },
          { examples: [{ identifier: 'acme', name: 'Acme', data: { plan: 'pro' } }] },
        ),
        response: { 201: Tenant },
      },
    },
    async (request, reply) => {
      const { identifier, name, data } = request.body
      const environmentId = request.environment.id
      const now = request.now()
      const row = await db
        .insertInto('tenants')
        .values({
          environment_id: environmentId,
          id: newId(now),
          identifier,
          name,
          ...(data === undefined ? {} : { data: JSON.stringify(data) }),
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.columns(['environment_id', 'identifier']).doNothing())
        .returningAll()
        .executeTakeFirst()
      if (!row) throw fail('tenant_exists', { identifier, environmentId })
      reply.code(201)
      return toTenant(row)
    },
  )

  app.patch(
    '/v1/tenants/:identifier',
    {
      schema: {
        tags,
        summary: 'Change the given fields of a tenant; empty ones are ignored',
        params: Params,
        body: Type.Optional(
          Body({
            identifier: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255 })),
            name: Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'] })),
            data: Type.Optional(
              Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
            ),
          }),
        ),
        response: { 200: Tenant },
      },
    },
    async (request) => {
      const { identifier } = request.params
      const environmentId = request.environment.id
      const { identifier: newIdentifier, name, data } = request.body ?? {}
      const changes = {
        ...(newIdentifier ? { identifier: newIdentifier } : {}),
        ...(name ? { name } : {}),
        ...(data ? { data: JSON.stringify(data) } : {}),
      }
      const isChange = Object.keys(changes).length > 0
      try {
        const row = await db
          .updateTable('tenants')
          .set((set) => ({ ...changes, updated_at: isChange ? request.now() : set.ref('updated_at') }))
          .where('environment_id', '=', environmentId)
          .where('identifier', '=', identifier)
          .returningAll()
          .executeTakeFirst()
        if (!row) throw fail('tenant_not_found', { identifier, environmentId })
        return toTenant(row)
      } catch (error) {
        if (violatedKey(error)) throw fail('tenant_exists', { identifier: newIdentifier ?? identifier, environmentId })
        throw error
      }
    },
  )

  app.delete(
    '/v1/tenants/:identifier',
    { schema: { tags, summary: 'Delete a tenant', params: Params, response: { 204: Empty } } },
    async (request, reply) => {
      const { identifier } = request.params
      const environmentId = request.environment.id
      const { numDeletedRows } = await db
        .deleteFrom('tenants')
        .where('environment_id', '=', environmentId)
        .where('identifier', '=', identifier)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw fail('tenant_not_found', { identifier, environmentId })
      return reply.code(204).send(null)
    },
  )
}
