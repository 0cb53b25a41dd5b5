// Who has a workflow open in the dashboard. The page asks every few seconds, and so hears of newer versions too.
import { sql } from 'kysely'
import { Type } from 'typebox'
import { findWorkflow } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { NewerVersion, showNewer } from './newer-version.ts'

/** Several requests of a page may be lost before its person is taken for gone. */
const presentForMs = 30_000
const mostShown = 20

export const workflowPresence: Resource = (app, services) => {
  const { db, clock } = services

  app.put(
    '/v2/workflows/:workflowId/presence',
    {
      config: { people: true, role: 'viewer', reach: 'environment' },
      schema: {
        tags: ['Workflows'],
        summary: 'Say that you have a workflow open; the answer names who else has, and a newer version',
        description: 'Counts for 30 seconds. For the dashboard, which repeats it while the page is in sight.',
        params: Type.Object({ workflowId: Type.String({ description: 'Identifier, slug or internal id' }) }),
        body: Body({
          version: Type.Optional(Type.Integer({ description: 'The version that the page shows' })),
        }),
        response: {
          200: Type.Object({
            others: Type.Array(Type.Object({ _id: Type.String(), name: Type.String() })),
            newer: Type.Optional(NewerVersion),
          }),
        },
      },
    },
    async (request) => {
      const { workflowId } = request.params
      const { id: environmentId, userId } = request.environment
      const now = clock.now()
      const found = await db
        .selectFrom('workflows')
        .select(['id', 'identifier', 'version'])
        .where('environment_id', '=', environmentId)
        .where(({ or, eb }) =>
          or([eb('identifier', '=', workflowId), eb('id', '=', idIn(workflowId, 'wf') ?? workflowId)]),
        )
        .execute()
      const workflow = found.find(({ identifier }) => identifier === workflowId) ?? found[0]
      if (!workflow) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
      const until = new Date(now.getTime() + presentForMs)
      const { rows: others } = await sql<{ _id: string; name: string }>`
        WITH here AS (
          INSERT INTO workflow_presence (environment_id, workflow_id, user_id, expires_at)
          VALUES (${environmentId}, ${workflow.id}, ${userId}, ${until})
          ON CONFLICT (environment_id, workflow_id, user_id) DO UPDATE SET expires_at = excluded.expires_at)
        SELECT u.id AS _id, u.name FROM workflow_presence p JOIN users u ON u.id = p.user_id
        WHERE p.environment_id = ${environmentId} AND p.workflow_id = ${workflow.id}
          AND p.user_id <> ${userId} AND p.expires_at > ${now}
        ORDER BY u.name, u.id LIMIT ${mostShown}`.execute(db)
      const { version = workflow.version } = request.body
      if (version === workflow.version) return { others }
      const row = await findWorkflow(db, environmentId, workflow.identifier)
      return { others, ...(row ? { newer: await showNewer(services, row) } : {}) }
    },
  )
}
