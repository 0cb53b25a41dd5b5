// Workflows inserted directly, for tests that are not about creating them.
import type { Database } from '../src/db/core/database.ts'
import { newId } from '../src/db/core/ids.ts'
import { saveWorkflow, type WorkflowFields } from '../src/db/queries/workflows.ts'

/** With a step of each of these types. @returns its internal id */
export async function addWorkflow(
  { database, clock }: { database: Database; clock: { now(): Date } },
  environmentId: string,
  identifier: string,
  { stepTypes = ['email', 'in_app'], ...fields }: Partial<WorkflowFields> & { stepTypes?: string[] } = {},
): Promise<string> {
  const now = clock.now()
  const id = newId(now)
  const steps = stepTypes.map((type, index) => ({
    _id: newId(now),
    stepId: `${type}-${index}`,
    name: type,
    type,
    controlValues: null,
  }))
  const workflow: WorkflowFields = {
    name: identifier,
    identifier,
    description: '',
    origin: 'svc-cloud',
    active: true,
    critical: false,
    severity: 'none',
    tags: [],
    data: null,
    steps,
    payload_schema: null,
    validate_payload: false,
    is_translation_enabled: false,
    preferences: {},
    user_preferences: null,
    ...fields,
  }
  await database.db
    .transaction()
    .execute((tx) => saveWorkflow(tx, { environmentId, id, userId: '0'.repeat(24), now }, workflow))
  return id
}
