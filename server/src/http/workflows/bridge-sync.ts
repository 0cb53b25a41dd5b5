// Sync of code-first workflows: stores what an application declares and deletes what it no longer declares, all or nothing.
// Settings made here stay: control values, user preferences, active or not.
import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import type { VersionAuthor } from '../../db/queries/versions.ts'
import {
  deleteWorkflows,
  fieldsOf,
  saveWorkflows,
  type WorkflowFields,
  type WorkflowRow,
  type WorkflowStep,
} from '../../db/queries/workflows.ts'
import { completePreferences, isCritical, type PartialPreferences } from '../../engine/core/preferences.ts'
import { fail } from '../../errors.ts'
import { type StepType, stepTypes } from '../../steps/contract/kind.ts'
import { compileOwnSchema } from '../../steps/json-schema/json-schema.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import { workflowFields } from './shape.ts'

interface Discovered {
  workflowId: string
  name?: string
  description?: string
  severity?: string
  tags?: string[]
  preferences?: PartialPreferences
  payload?: { schema?: Record<string, unknown> }
  steps: Array<{ stepId: string; type: StepType; controls?: { schema?: Record<string, unknown> } }>
}

const { name, description, tags, severity } = workflowFields('SyncCommand')
const identifier = { type: 'string', minLength: 1, maxLength: 255 }
const enabled = { type: 'boolean' }
const declared = { type: 'object', properties: { schema: { type: 'object' } } }
const discoveredSchema: JsonSchema = {
  type: 'object',
  required: ['workflowId', 'steps'],
  properties: {
    workflowId: identifier,
    name,
    description,
    severity,
    tags,
    preferences: {
      type: 'object',
      properties: {
        all: { type: 'object', properties: { enabled, readOnly: enabled } },
        channels: { type: 'object', additionalProperties: { type: 'object', properties: { enabled } } },
      },
    },
    payload: declared,
    steps: {
      type: 'array',
      items: {
        type: 'object',
        required: ['stepId', 'type'],
        properties: { stepId: identifier, type: { enum: [...stepTypes] }, controls: declared },
      },
    },
  },
}

/** Validates the declared workflows; throws for one that cannot be stored. */
export function readDiscovered(workflows: unknown[], mostSteps: number): Discovered[] {
  const ids = new Set<string>()
  return workflows.map((workflow, i) => {
    const named = (workflow as Partial<Discovered> | null)?.workflowId
    const invalid = (reason: string) =>
      fail('bridge_workflow_invalid', { workflow: typeof named === 'string' ? named : `no. ${i + 1}`, reason })
    const [problem] = compileOwnSchema(discoveredSchema)(workflow)
    if (problem) throw invalid(`${problem.path.join('.') || 'it'} ${problem.message}`)
    const found = workflow as Discovered
    if (ids.has(found.workflowId)) throw invalid('it is declared twice')
    ids.add(found.workflowId)
    const steps = found.steps.map(({ stepId }) => stepId)
    if (steps.length > mostSteps) throw invalid(`it has ${steps.length} steps; at most ${mostSteps} are allowed`)
    if (new Set(steps).size < steps.length) throw invalid('two of its steps have the same stepId')
    return found
  })
}

interface Sync {
  environmentId: string
  userId: string
  bridgeUrl: string
  now: Date
  mostWorkflows: number
  author: VersionAuthor
}

export async function syncWorkflows(tx: Tx, sync: Sync, discovered: Discovered[]): Promise<WorkflowRow[]> {
  const { environmentId, bridgeUrl, now, mostWorkflows: limit } = sync
  // Serializes the creation of workflows, so that the limit and unique identifiers are exact.
  await lockEnvironment(tx, environmentId)
  const stored = (await tx
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('id')
    .forUpdate()
    .execute()) as WorkflowRow[]
  const byIdentifier = new Map(stored.map((row) => [row.identifier, row]))
  for (const { workflowId } of discovered) {
    const taken = byIdentifier.get(workflowId)
    if (taken && taken.origin !== 'external') throw fail('bridge_workflow_taken', { workflowId })
  }
  const others = stored.filter(({ origin }) => origin !== 'external').length
  const currentCount = others + discovered.length
  if (currentCount > limit) throw fail('too_many_workflows', { limit }, { ctx: { currentCount, limit } })

  const planned = discovered.map((workflow) => {
    const row = byIdentifier.get(workflow.workflowId)
    return { row, id: row?.id ?? newId(now), fields: fieldsAfter(workflow, row, now) }
  })
  const changed = planned.filter(({ row, fields }) => !row || !isDeepStrictEqual(fieldsOf(row), fields))
  const by = { author: sync.author, source: { kind: 'sync' as const } }
  const saved = await saveWorkflows(tx, { ...sync, by }, changed)
  const kept = new Set(discovered.map(({ workflowId }) => workflowId))
  const gone = stored.filter((row) => row.origin === 'external' && !kept.has(row.identifier))
  await deleteWorkflows(
    tx,
    environmentId,
    gone.map(({ id }) => id),
    now,
  )
  await tx
    .updateTable('environments')
    .set({ bridge: JSON.stringify({ url: bridgeUrl }), updated_at: now })
    .where('id', '=', environmentId)
    .execute()
  return planned.flatMap(({ id, row }) => saved.find((each) => each.id === id) ?? row ?? [])
}

function fieldsAfter(found: Discovered, row: WorkflowRow | undefined, now: Date): WorkflowFields {
  const preferences = completePreferences(found.preferences)
  const user = (row?.user_preferences ?? null) as PartialPreferences | null
  return {
    ...(row ? fieldsOf(row) : newFields),
    identifier: found.workflowId,
    name: found.name ?? found.workflowId.slice(0, 128),
    description: found.description ?? '',
    severity: found.severity ?? 'none',
    tags: found.tags ?? [],
    payload_schema: found.payload?.schema ?? null,
    preferences,
    critical: isCritical({ workflow: preferences, user }),
    steps: found.steps.map((step) => stepAfter(step, row?.steps ?? [], now)),
  }
}

/** For a workflow that runs as declared, without being stored. */
export const fieldsOfDiscovered = (found: Discovered): WorkflowFields => fieldsAfter(found, undefined, new Date(0))

/** Fields that code does not declare. */
const newFields = {
  origin: 'external',
  active: true,
  data: null,
  validate_payload: false,
  is_translation_enabled: false,
  user_preferences: null,
  message_class: 'transactional',
  consent_category: null,
  tracking: null,
}

function stepAfter(
  { stepId, type, controls }: Discovered['steps'][number],
  stored: readonly WorkflowStep[],
  now: Date,
): WorkflowStep {
  const known = stored.find((step) => step.stepId === stepId)
  return {
    _id: known?._id ?? newId(now),
    stepId,
    name: stepId,
    type,
    controlValues: known?.controlValues ?? null,
    controlSchema: controls?.schema ?? {},
  }
}
