// Workflow overrides: settings of a workflow for one tenant, whether it is active and which channels it may use.
import { type Static, Type } from 'typebox'
import { newId } from '../../db/core/ids.ts'
import type { ChannelChoices } from '../../db/core/tables.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Nullable, NumberedPage, numberedQuery, Timestamp } from '../edge/schema.ts'

const Choice = Type.Optional(Type.Boolean())
const choices = { email: Choice, sms: Choice, in_app: Choice, chat: Choice, push: Choice }
const OptionalId = Type.Optional(Type.String())

const Override = Type.Object({
  _id: Type.String(),
  _environmentId: Type.String(),
  _organizationId: Type.String(),
  _workflowId: Type.String(),
  _tenantId: Type.String(),
  workflowId: OptionalId,
  tenantId: OptionalId,
  active: Type.Optional(Type.Boolean({ description: 'Absent: as the workflow' })),
  preferenceSettings: Type.Object(choices, { description: 'Absent channels follow the workflow' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

/** The settings; null removes one. */
const settings = {
  active: Type.Optional(Nullable(Type.Boolean({ description: 'Whether triggers for this tenant run the workflow' }))),
  preferenceSettings: Type.Optional(Nullable(Body(choices, { description: 'Replaces the previous settings' }))),
}
const SettingsBody = Body(settings, { examples: [{ active: true, preferenceSettings: { email: false } }] })
type Settings = Static<typeof SettingsBody>

const OverrideParams = Type.Object({ overrideId: Type.String() })
const PairParams = Type.Object({
  workflowId: Type.String({ description: 'Identifier or internal id' }),
  tenantId: Type.String({ description: 'Identifier or internal id' }),
})

interface Row {
  environment_id: string
  id: string
  workflow_id: string
  tenant_id: string
  active: boolean | null
  channels: ChannelChoices
  created_at: Date
  updated_at: Date
  workflow: string | null
  tenant: string | null
}

export const workflowOverrides: Resource = (app, { db }) => {
  const tags = ['Tenants']

  const select = (environmentId: string) =>
    db
      .selectFrom('workflow_overrides as o')
      .leftJoin('workflows as w', (join) =>
        join.onRef('w.environment_id', '=', 'o.environment_id').onRef('w.id', '=', 'o.workflow_id'),
      )
      .leftJoin('tenants as t', (join) =>
        join.onRef('t.environment_id', '=', 'o.environment_id').onRef('t.id', '=', 'o.tenant_id'),
      )
      .selectAll('o')
      .select(['w.identifier as workflow', 't.identifier as tenant'])
      .where('o.environment_id', '=', environmentId)

  const find = async (environmentId: string, id: string): Promise<Row> => {
    const row = await select(environmentId).where('o.id', '=', id).executeTakeFirst()
    if (!row) throw fail('workflow_override_not_found')
    return row
  }

  const pairOf = async (environmentId: string, { workflowId, tenantId }: Static<typeof PairParams>) => {
    const workflow = await findWorkflow(db, environmentId, workflowId)
    if (!workflow) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
    const tenants = await db
      .selectFrom('tenants')
      .select(['id', 'identifier'])
      .where('environment_id', '=', environmentId)
      .where((where) => where.or([where('identifier', '=', tenantId), where('id', '=', tenantId)]))
      .execute()
    const tenant = tenants.find(({ identifier }) => identifier === tenantId) ?? tenants[0]
    if (!tenant) throw fail('tenant_not_found', { identifier: tenantId, environmentId })
    return { workflow, tenant }
  }

  const findPair = async (environmentId: string, pair: Static<typeof PairParams>): Promise<Row> => {
    const { workflow, tenant } = await pairOf(environmentId, pair)
    const row = await select(environmentId)
      .where('o.workflow_id', '=', workflow.id)
      .where('o.tenant_id', '=', tenant.id)
      .executeTakeFirst()
    if (!row) throw fail('workflow_override_not_found')
    return row
  }

  const change = async (
    { environment_id, id }: Row,
    { active, preferenceSettings }: Settings,
    now: Date,
  ): Promise<Row> => {
    const { numUpdatedRows } = await db
      .updateTable('workflow_overrides')
      .set({
        ...(active === undefined ? {} : { active }),
        ...(preferenceSettings === undefined ? {} : { channels: JSON.stringify(preferenceSettings ?? {}) }),
        updated_at: now,
      })
      .where('environment_id', '=', environment_id)
      .where('id', '=', id)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw fail('workflow_override_not_found')
    return find(environment_id, id)
  }

  app.get(
    '/v1/workflow-overrides',
    {
      schema: {
        tags,
        summary: 'List workflow overrides, newest first',
        querystring: Type.Object(numberedQuery()),
        response: { 200: NumberedPage(Override) },
      },
    },
    async ({ environment, query }) => {
      const { page = 0, limit = 10 } = query
      const rows = await select(environment.id)
        .orderBy('o.created_at', 'desc')
        .orderBy('o.id', 'desc')
        .limit(limit + 1)
        .offset(page * limit)
        .execute()
      const data = rows.slice(0, limit).map((row) => toOverride(row, environment.organizationId))
      return { data, page, pageSize: limit, hasMore: rows.length > limit }
    },
  )

  app.post(
    '/v1/workflow-overrides',
    {
      config: { keepsContent: true },
      schema: {
        tags,
        summary: 'Override a workflow for a tenant',
        body: Body(
          { ...PairParams.properties, ...settings },
          { examples: [{ workflowId: 'invoice', tenantId: 'acme', active: false }] },
        ),
        response: { 201: Override },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const { active = null, preferenceSettings } = body
      const { workflow, tenant } = await pairOf(environment.id, body)
      const now = request.now()
      const added = await db
        .insertInto('workflow_overrides')
        .values({
          environment_id: environment.id,
          id: newId(now),
          workflow_id: workflow.id,
          tenant_id: tenant.id,
          active,
          channels: JSON.stringify(preferenceSettings ?? {}),
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.columns(['environment_id', 'tenant_id', 'workflow_id']).doNothing())
        .returning('id')
        .executeTakeFirst()
      if (!added)
        throw fail('workflow_override_exists', { workflowId: workflow.identifier, tenantId: tenant.identifier })
      reply.code(201)
      return toOverride(await find(environment.id, added.id), environment.organizationId)
    },
  )

  app.get(
    '/v1/workflow-overrides/:overrideId',
    {
      schema: { tags, summary: 'Retrieve a workflow override', params: OverrideParams, response: { 200: Override } },
    },
    async ({ environment, params }) =>
      toOverride(await find(environment.id, params.overrideId), environment.organizationId),
  )

  app.put(
    '/v1/workflow-overrides/:overrideId',
    {
      config: { keepsContent: true },
      schema: {
        tags,
        summary: 'Change the given fields of a workflow override',
        params: OverrideParams,
        body: SettingsBody,
        response: { 200: Override },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const row = await change(await find(environment.id, params.overrideId), body, request.now())
      return toOverride(row, environment.organizationId)
    },
  )

  app.get(
    '/v1/workflow-overrides/workflows/:workflowId/tenants/:tenantId',
    {
      schema: {
        tags,
        summary: 'Retrieve the override of a workflow for a tenant',
        params: PairParams,
        response: { 200: Override },
      },
    },
    async ({ environment, params }) => toOverride(await findPair(environment.id, params), environment.organizationId),
  )

  app.put(
    '/v1/workflow-overrides/workflows/:workflowId/tenants/:tenantId',
    {
      config: { keepsContent: true },
      schema: {
        tags,
        summary: 'Change the given fields of the override of a workflow for a tenant',
        params: PairParams,
        body: SettingsBody,
        response: { 200: Override },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const row = await change(await findPair(environment.id, params), body, request.now())
      return toOverride(row, environment.organizationId)
    },
  )

  app.delete(
    '/v1/workflow-overrides/:overrideId',
    {
      config: { keepsContent: true },
      schema: {
        tags,
        summary: 'Delete a workflow override',
        params: OverrideParams,
        response: { 204: Empty },
      },
    },
    async ({ environment, params }, reply) => {
      const { numDeletedRows } = await db
        .deleteFrom('workflow_overrides')
        .where('environment_id', '=', environment.id)
        .where('id', '=', params.overrideId)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw fail('workflow_override_not_found')
      return reply.code(204).send(null)
    },
  )
}

const toOverride = (row: Row, organizationId: string): Static<typeof Override> => ({
  _id: row.id,
  _environmentId: row.environment_id,
  _organizationId: organizationId,
  _workflowId: row.workflow_id,
  _tenantId: row.tenant_id,
  ...(row.workflow === null ? {} : { workflowId: row.workflow }),
  ...(row.tenant === null ? {} : { tenantId: row.tenant }),
  ...(row.active === null ? {} : { active: row.active }),
  preferenceSettings: row.channels,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})
