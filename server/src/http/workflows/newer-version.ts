// What a caller is told who has an older version of a workflow: the current one, and who saved it when.
import type { IncomingHttpHeaders } from 'node:http'
import { type Static, Type } from 'typebox'
import type { WorkflowRow } from '../../db/queries/workflows.ts'
import { revisionOf } from '../../engine/definitions/revision.ts'
import { workflowDefinition } from '../../engine/definitions/workflow-definition.ts'
import { fail, type RequestError } from '../../errors.ts'
import { isExpected } from '../edge/preconditions.ts'
import type { Services } from '../edge/resource.ts'
import { Nullable, Timestamp } from '../edge/schema.ts'
import { Maybe, showWorkflow, Workflow } from './shape.ts'

/** In a save: refuses it if somebody saved since. */
export const BaseVersion = Maybe(
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description:
      'The `version` on which the change is based. If another one is stored, the answer is 409 `workflow_changed` with the stored workflow, and nothing is saved. Without it, the last save wins',
  }),
)

export const NewerVersion = Type.Object({
  version: Type.Integer(),
  savedAt: Timestamp,
  savedBy: Type.Object({
    _id: Nullable(Type.String()),
    name: Nullable(Type.String({ description: 'Null if the account is gone' })),
  }),
  workflow: Workflow,
})

type Surroundings = Pick<Services, 'db' | 'brand' | 'clock'>

export async function showNewer(services: Surroundings, row: WorkflowRow): Promise<Static<typeof NewerVersion>> {
  const { version, updated_at: savedAt, updated_by: by } = row
  const [workflow, user] = await Promise.all([
    showWorkflow(services, row),
    by === null ? undefined : services.db.selectFrom('users').select('name').where('id', '=', by).executeTakeFirst(),
  ])
  return { version, savedAt, savedBy: { _id: by, name: user?.name ?? null }, workflow }
}

/** What a change says it began from: the version in its body, or the revision in its headers. */
export interface Expected {
  baseVersion?: number | null | undefined
  headers?: IncomingHttpHeaders | undefined
}

type Refusal = 'workflow_changed' | 'revision_changed'

/** The caller has locked the row. */
export function refusalOf(row: WorkflowRow, { baseVersion, headers = {} }: Expected): Refusal | undefined {
  if (!isExpected(headers, revisionOf(workflowDefinition(row)))) return 'revision_changed'
  return typeof baseVersion === 'number' && baseVersion !== row.version ? 'workflow_changed' : undefined
}

export async function staleSave(services: Surroundings, row: WorkflowRow, refusal: Refusal): Promise<RequestError> {
  const ctx = await showNewer(services, row)
  if (refusal === 'workflow_changed') return fail(refusal, { version: ctx.version }, { ctx })
  return fail(refusal, { revision: ctx.workflow.revision }, { ctx: { ...ctx, revision: ctx.workflow.revision } })
}
