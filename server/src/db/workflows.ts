// Workflows as they are kept: one row with its steps, and a copy of the whole definition for every version.
import { type Selectable, sql } from 'kysely'
import { announce } from './changes.ts'
import type { Db, Tx } from './database.ts'
import type { WorkflowTable } from './tables.ts'

/** One step as stored. `_id` and `stepId` stay with it for life; `controlSchema` is set where code declared it. */
export interface WorkflowStep {
  _id: string
  stepId: string
  name: string
  type: string
  controlValues: Record<string, unknown> | null
  controlSchema?: Record<string, unknown>
}

export type WorkflowRow = Omit<Selectable<WorkflowTable>, 'steps'> & { steps: WorkflowStep[] }

/** Every field a caller may set; the rest is kept by `saveWorkflow`. */
export type WorkflowFields = Pick<
  WorkflowRow,
  | 'name'
  | 'identifier'
  | 'description'
  | 'origin'
  | 'active'
  | 'critical'
  | 'severity'
  | 'tags'
  | 'data'
  | 'steps'
  | 'payload_schema'
  | 'validate_payload'
  | 'is_translation_enabled'
  | 'preferences'
  | 'user_preferences'
>

/** By internal id or by identifier; an identifier that looks like an id wins over the id. */
export async function findWorkflow(
  db: Db | Tx,
  environmentId: string,
  idOrIdentifier: string,
): Promise<WorkflowRow | undefined> {
  const rows = await db
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where((where) => where.or([where('identifier', '=', idOrIdentifier), where('id', '=', idOrIdentifier)]))
    .execute()
  return (rows.find((row) => row.identifier === idOrIdentifier) ?? rows[0]) as WorkflowRow | undefined
}

/**
 * Writes a new workflow, or the next version of one, with the copy that running notifications keep, and tells every process.
 * The caller's transaction makes all of it visible at once. For an update the row must be locked (`FOR UPDATE`) by then.
 */
export async function saveWorkflow(
  tx: Tx,
  { environmentId, id, userId, now }: { environmentId: string; id: string; userId: string; now: Date },
  fields: WorkflowFields,
): Promise<WorkflowRow> {
  const { steps, payload_schema, preferences, user_preferences, data, ...plain } = fields
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
  const columns = {
    ...plain,
    steps: JSON.stringify(steps),
    payload_schema: json(payload_schema),
    preferences: JSON.stringify(preferences),
    user_preferences: json(user_preferences),
    data: json(data),
    updated_by: userId,
    updated_at: now,
  }
  const row = (await tx
    .insertInto('workflows')
    .values({ ...columns, environment_id: environmentId, id, version: 1, created_at: now })
    .onConflict((conflict) =>
      conflict.columns(['environment_id', 'id']).doUpdateSet({ ...columns, version: sql`workflows.version + 1` }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()) as WorkflowRow
  await tx
    .insertInto('workflow_versions')
    .values({
      environment_id: environmentId,
      workflow_id: id,
      version: row.version,
      definition: JSON.stringify({ ...fields, id, version: row.version }),
      created_at: now,
    })
    .execute()
  await announce(tx, 'workflows', environmentId)
  return row
}

/** Removes the workflow and what is kept for it. Versions stay: notifications under way still need theirs. */
export async function deleteWorkflow(tx: Tx, environmentId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('workflows')
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (numDeletedRows === 0n) return false
  await tx
    .deleteFrom('subscriber_preferences')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', '=', id)
    .execute()
  await tx
    .deleteFrom('subscription_preferences')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', '=', id)
    .execute()
  await tx
    .deleteFrom('translations')
    .where('environment_id', '=', environmentId)
    .where('resource_type', '=', 'workflow')
    .where('resource_row_id', '=', id)
    .execute()
  await announce(tx, 'workflows', environmentId)
  return true
}
