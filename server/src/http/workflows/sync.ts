// Publishes one workflow into another environment, with its layouts and translations.
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { timeIn } from '../../db/queries/environments.ts'
import { findWorkflow, type WorkflowRow } from '../../db/queries/workflows.ts'
import { publishedOrigin } from '../../engine/authoring/environment-diff.ts'
import { markPublished, publish } from '../../engine/authoring/publish.ts'
import { fail } from '../../errors.ts'
import { authorOf } from '../edge/authorship.ts'
import { entityTag } from '../edge/preconditions.ts'
import { requirePublish } from '../edge/reach.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { showWorkflow, Workflow } from './shape.ts'

export const workflowSync: Resource = (app, services) => {
  const { db, clock, brand, config } = services

  app.put(
    '/v2/workflows/:workflowId/sync',
    {
      config: { role: 'admin', scope: 'publish', act: 'workflow.published' },
      schema: {
        tags: ['Workflows'],
        summary: 'Publish a workflow into another environment of the organization',
        description: 'Creates or updates the workflow with the same `workflowId` there, and returns it.',
        params: Type.Object({ workflowId: Type.String({ description: 'Identifier, slug or internal id' }) }),
        body: Body({ targetEnvironmentId: Type.String({ minLength: 1, description: 'Its internal id' }) }),
        response: { 200: Workflow },
      },
    },
    async (request, reply) => {
      const { id: sourceId, organizationId, userId } = request.environment
      const { workflowId } = request.params
      const targetId = request.body.targetEnvironmentId
      await refuseTarget(db, request.environment, targetId)
      const missing = () => fail('workflow_not_found', undefined, { ctx: { workflowId } })
      const source = await findWorkflow(db, sourceId, workflowId, idIn(workflowId, 'wf'))
      if (!source) throw missing()
      await requirePublish(services, request, { sourceId, targetId })
      refuseOrigin(source, [brand.toWire(publishedOrigin)])
      const { identifier, id: rowId } = source
      const resources = [{ resourceType: 'workflow' as const, resourceId: identifier, rowId }]
      const { author, message } = authorOf(request)
      const act = { userId, isAutomation: request.key !== undefined, author, message }
      const row = await db.transaction().execute(async (tx) => {
        // If the workflow is being deleted at this moment, do not delete it in the target.
        const occasion = { ...act, now: await timeIn(tx, targetId, clock.now()) }
        const options = { resources, deleteMissing: false, limits: config.limits }
        const outcomes = await publish(tx, { organizationId, sourceId, targetId }, options, occasion)
        if (!outcomes.some(({ type, pair }) => type === 'workflow' && pair?.source?.rowId === rowId)) throw missing()
        await markPublished(tx, sourceId, [rowId], occasion)
        return findWorkflow(tx, targetId, identifier)
      })
      if (!row) throw new Error('The workflow written in this transaction cannot be read back.')
      const workflow = await showWorkflow(services, row)
      reply.header('ETag', entityTag(workflow.revision))
      return workflow
    },
  )
}

async function refuseTarget(db: Db, { id, organizationId }: Environment, environmentId: string): Promise<void> {
  if (environmentId === id) throw fail('publish_into_itself')
  const environment = await db
    .selectFrom('environments')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', environmentId)
    .executeTakeFirst()
  if (!environment) throw fail('environment_not_found', { environmentId })
}

function refuseOrigin({ identifier, origin }: WorkflowRow, allowedOrigins: string[]): void {
  if (origin !== publishedOrigin)
    throw fail(
      'workflow_not_publishable',
      { workflowId: identifier },
      { ctx: { workflowId: identifier, allowedOrigins } },
    )
}
