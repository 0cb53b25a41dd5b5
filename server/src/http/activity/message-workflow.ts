// The workflow of a message, in the API's format: its settings and steps, without their content.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { generalGroup } from '../../db/queries/environments.ts'
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { channelNames, isCritical, resolvePreference } from '../../engine/core/preferences.ts'
import { wireType } from '../../steps/contract/wire.ts'
import type { Brand } from '../edge/brand.ts'
import type { Environment } from '../edge/resource.ts'
import { Enum, FreeObject } from '../edge/schema.ts'

const OptionalBoolean = Type.Optional(Type.Boolean())

export const MessageWorkflow = Type.Object(
  {
    _id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    active: Type.Boolean(),
    draft: Type.Boolean(),
    critical: Type.Boolean(),
    preferenceSettings: Type.Object({
      email: Type.Boolean(),
      sms: Type.Boolean(),
      in_app: Type.Boolean(),
      chat: Type.Boolean(),
      push: Type.Boolean(),
    }),
    tags: Type.Array(Type.String()),
    steps: Type.Array(
      Type.Object({
        _id: Type.String(),
        name: Type.String(),
        _templateId: Type.String(),
        active: Type.Boolean(),
        shouldStopOnFail: Type.Boolean(),
        template: Type.Object({ type: Type.String() }),
        replyCallback: Type.Optional(Type.Object({ active: OptionalBoolean, url: Type.Optional(Type.String()) })),
      }),
    ),
    _organizationId: Type.String(),
    _creatorId: Type.String(),
    _environmentId: Type.String(),
    _notificationGroupId: Type.String(),
    triggers: Type.Array(
      Type.Object({
        type: Enum(['event']),
        identifier: Type.String(),
        variables: Type.Array(Type.Object({ name: Type.String() })),
      }),
    ),
    deleted: Type.Boolean(),
    deletedAt: Type.String(),
    deletedBy: Type.String(),
    notificationGroup: Type.Object({
      _id: Type.String(),
      name: Type.String(),
      _environmentId: Type.String(),
      _organizationId: Type.String(),
    }),
    data: Type.Optional(FreeObject),
  },
  { description: 'The workflow as it is now; absent after its deletion' },
)
type MessageWorkflow = Static<typeof MessageWorkflow>

interface Row
  extends Pick<
    WorkflowRow,
    | 'id'
    | 'identifier'
    | 'name'
    | 'description'
    | 'active'
    | 'critical'
    | 'tags'
    | 'data'
    | 'preferences'
    | 'user_preferences'
  > {
  creator_id: string
  steps: Array<Omit<WorkflowStep, 'controlValues' | 'controlSchema'>>
  group_id: string
  group_name: string
}

/** The existing workflows of these messages, by id; one statement for all. */
export async function workflowsOf(
  db: Db,
  { id: environmentId, organizationId }: Pick<Environment, 'id' | 'organizationId'>,
  messages: Array<{ workflow_id: string }>,
  brand: Brand,
): Promise<Map<string, MessageWorkflow>> {
  const ids = [...new Set(messages.map(({ workflow_id }) => workflow_id))]
  if (ids.length === 0) return new Map()
  // Without the steps' content, which can be megabytes and is not shown.
  const { rows } = await sql<Row>`
    SELECT w.id, w.identifier, w.name, w.description, w.active, w.critical, w.tags, w.data, w.preferences, w.user_preferences,
           coalesce(w.created_by, w.updated_by, '') AS creator_id, g.id AS group_id, g.name AS group_name,
           coalesce((
             SELECT jsonb_agg(step - 'controlValues' - 'controlSchema' ORDER BY n)
             FROM jsonb_array_elements(w.steps) WITH ORDINALITY AS all_steps (step, n)), '[]') AS steps
    FROM workflows w JOIN notification_groups g ON g.environment_id = w.environment_id AND g.name = ${generalGroup}
    WHERE w.environment_id = ${environmentId} AND w.id = ANY(${ids}::text[])`.execute(db)
  return new Map(rows.map((row) => [row.id, toMessageWorkflow(row, environmentId, organizationId, brand)]))
}

function toMessageWorkflow(row: Row, environmentId: string, organizationId: string, brand: Brand): MessageWorkflow {
  const place = { _environmentId: environmentId, _organizationId: organizationId }
  const layers = { workflow: row.preferences, user: row.user_preferences, isMarkedCritical: row.critical }
  const settings = channelNames.map((channel) => [channel, resolvePreference(layers, channel).enabled])
  return {
    _id: row.id,
    name: row.name,
    description: row.description,
    active: row.active,
    // There are no drafts: a saved workflow is live.
    draft: false,
    critical: isCritical(layers),
    preferenceSettings: Object.fromEntries(settings),
    tags: row.tags,
    steps: row.steps.map(({ _id, name, type, active = true, shouldStopOnFail = false, replyCallback }) => ({
      _id,
      name,
      _templateId: _id,
      active,
      shouldStopOnFail,
      template: { type: wireType(type, brand.word) },
      ...(replyCallback ? { replyCallback } : {}),
    })),
    ...place,
    _creatorId: row.creator_id,
    _notificationGroupId: row.group_id,
    triggers: [{ type: 'event', identifier: row.identifier, variables: [] }],
    deleted: false,
    // Clients expect strings here, even empty ones.
    deletedAt: '',
    deletedBy: '',
    notificationGroup: { _id: row.group_id, name: row.group_name, ...place },
    ...(row.data ? { data: row.data } : {}),
  }
}
