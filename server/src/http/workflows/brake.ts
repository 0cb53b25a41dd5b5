// The brake of a commercial workflow: what is behind it, and its release.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { brakeOf, releaseBrake } from '../../db/queries/brakes.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { entityTag } from '../edge/preconditions.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum, Nullable, Timestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { Brake, brakeCauses, showWorkflow, Workflow } from './shape.ts'

const Params = Type.Object({ workflowId: Type.String({ description: 'Identifier, slug or internal id' }) })
const mostShown = 100

const Mail = Type.Object({
  messageId: Type.String(),
  cause: Enum(brakeCauses),
  sentAt: Timestamp,
  address: Nullable(Type.String({ description: 'Null once the message is deleted' })),
  subscriberId: Nullable(Type.String()),
  transactionId: Nullable(Type.String()),
  notificationId: Nullable(Type.String()),
  error: Nullable(Type.String({ description: 'What the mail server said' })),
})

export const workflowBrakes: Resource = (app, services) => {
  const { db } = services
  const tags = ['Workflows']

  const find = async (environmentId: string, workflowId: string) => {
    const row = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
    if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
    return row
  }

  app.get(
    '/v2/workflows/:workflowId/brake',
    {
      config: { role: 'viewer' },
      schema: {
        tags,
        summary: 'Show the emails that count for the brake of a workflow',
        description: 'Those that bounced for good or were complained about: the newest 100.',
        params: Params,
        response: { 200: Type.Object({ brake: Nullable(Brake), data: Type.Array(Mail) }) },
      },
    },
    async ({ environment, params: { workflowId } }) => {
      const row = await find(environment.id, workflowId)
      const { rows: data } = await sql<Static<typeof Mail>>`
        SELECT k.message_id AS "messageId", k.cause, k.sent_at AS "sentAt", m.email AS address,
          m.subscriber_id AS "subscriberId", m.transaction_id AS "transactionId", m.notification_id AS "notificationId",
          m.error_text AS error
        FROM brake_marks k LEFT JOIN messages m ON m.environment_id = k.environment_id AND m.id = k.message_id
        WHERE k.environment_id = ${environment.id} AND k.workflow_id = ${row.id}
        ORDER BY k.sent_at DESC, k.message_id DESC LIMIT ${mostShown}`.execute(db)
      return { brake: brakeOf(row), data }
    },
  )

  app.post(
    '/v2/workflows/:workflowId/release-brake',
    {
      config: { role: 'admin', act: 'workflow.brake-released', keepsContent: true, refusals: [409] },
      schema: {
        tags,
        summary: 'Release the brake of a workflow: it sends email again, and counts begin anew',
        description: 'What failed as `braked` is listed under `/v1/deliveries` and can be sent again.',
        params: Params,
        response: { 200: Workflow },
      },
    },
    async (request, reply) => {
      const { id: environmentId } = request.environment
      const { workflowId } = request.params
      const found = await find(environmentId, workflowId)
      const released = await db.transaction().execute((tx) => releaseBrake(tx, environmentId, found.id, request.now()))
      if (!released) throw fail('workflow_not_braked', { workflowId: found.identifier })
      const workflow = await showWorkflow(services, released)
      reply.header('ETag', entityTag(workflow.revision))
      return workflow
    },
  )
}
