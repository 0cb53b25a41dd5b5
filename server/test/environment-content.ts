// Stored workflows, layouts and translations, for tests that compare two environments.
import { newId } from '../src/db/core/ids.ts'
import type { LayoutRow } from '../src/db/queries/layouts.ts'
import {
  fieldsOf,
  findWorkflow,
  saveWorkflow,
  type WorkflowFields,
  type WorkflowRow,
  type WorkflowStep,
} from '../src/db/queries/workflows.ts'
import type { EnvironmentContent } from '../src/engine/authoring/environment-diff.ts'
import type { Api, TestServer } from './server.ts'

export type TranslationRow = EnvironmentContent['translations'][number]

export const written = new Date('2026-05-01T10:00:00.000Z')

export const step = (stepId: string, changes: Partial<WorkflowStep> = {}): WorkflowStep => ({
  _id: stepId.padStart(24, '0'),
  stepId,
  name: `Step ${stepId}`,
  type: 'in_app',
  controlValues: { body: stepId },
  ...changes,
})

export const workflow = (identifier: string, changes: Partial<WorkflowRow> = {}): WorkflowRow => ({
  environment_id: 'e1',
  journey: null,
  brake: null,
  brake_released_at: null,
  id: identifier.padStart(24, '0'),
  identifier,
  name: `Workflow ${identifier}`,
  description: '',
  origin: 'svc-cloud',
  active: true,
  critical: false,
  message_class: 'transactional',
  consent_category: null,
  tracking: null,
  severity: 'none',
  tags: [],
  data: null,
  steps: [],
  payload_schema: null,
  validate_payload: false,
  is_translation_enabled: false,
  preferences: { all: { enabled: true } },
  user_preferences: null,
  version: 1,
  created_by: 'ada',
  updated_by: 'ada',
  last_published_at: null,
  last_published_by: null,
  last_triggered_at: null,
  created_at: written,
  updated_at: written,
  ...changes,
})

export const layout = (identifier: string, changes: Partial<LayoutRow> = {}): LayoutRow => ({
  environment_id: 'e1',
  id: identifier.padStart(24, '1'),
  identifier,
  name: `Layout ${identifier}`,
  is_default: false,
  is_translation_enabled: false,
  content: { email: { body: '{{content}}', editorType: 'html' } },
  version: 1,
  updated_by: null,
  created_at: written,
  updated_at: written,
  ...changes,
})

export const texts = (
  of: WorkflowRow | LayoutRow,
  locale: string,
  content: Record<string, unknown>,
): TranslationRow => ({
  environment_id: of.environment_id,
  resource_type: 'steps' in of ? 'workflow' : 'layout',
  resource_row_id: of.id,
  locale,
  content,
  key_hash: '',
  created_at: written,
  updated_at: written,
})

export const content = (
  workflows: WorkflowRow[],
  layouts: LayoutRow[] = [],
  translations: TranslationRow[] = [],
): EnvironmentContent => ({ workflows, layouts, translations })
export const nothing = content([])

/** The author of the content below. */
export const owner = 'f'.repeat(24)

/** Writes a workflow, or the next version of an existing one. */
export async function writeWorkflow(
  { database, clock }: TestServer,
  { environmentId }: Pick<Api, 'environmentId'>,
  identifier: string,
  changes: Partial<WorkflowFields> = {},
): Promise<WorkflowRow> {
  return database.db.transaction().execute(async (tx) => {
    const current = await findWorkflow(tx, environmentId, identifier)
    const writing = { environmentId, id: current?.id ?? newId(clock.now()), userId: owner, now: clock.now() }
    return saveWorkflow(tx, writing, { ...fieldsOf(current ?? workflow(identifier)), ...changes })
  })
}
