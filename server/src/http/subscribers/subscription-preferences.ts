// Preferences of a topic subscription in the API's format: which workflows reach the subscriber through it.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import {
  type Preference as Chosen,
  type PreferenceRequest,
  type PreferenceRow,
  resolvePreferences,
} from '../../db/queries/subscription-preferences.ts'
import { FreeObject, StringOr } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

export const Preferences = Type.Array(
  StringOr<Exclude<PreferenceRequest, string>>({
    properties: {
      workflowId: Type.String({ description: 'Its identifier or its id' }),
      filter: Type.Object(
        { workflowIds: Type.Optional(Type.Array(Type.String())), tags: Type.Optional(Type.Array(Type.String())) },
        { additionalProperties: false, description: 'Every workflow with one of these ids or tags' },
      ),
      enabled: Type.Boolean({ description: "The workflow's default when absent" }),
      condition: {
        ...FreeObject,
        type: ['object', 'null'],
        description: 'JSON Logic over the payload; replaces `enabled`',
      },
    },
    required: [],
    texts: { type: 'must be a string or an object with a workflowId or a filter' },
  }),
  { maxItems: 100 },
)

export const Preference = Type.Object({
  subscriptionId: Type.String({ description: "The subscription's identifier" }),
  workflow: Type.Object({
    id: Type.String(),
    identifier: Type.String(),
    name: Type.String(),
    critical: Type.Boolean(),
    tags: Type.Array(Type.String()),
    data: Type.Optional(FreeObject),
    severity: Type.String(),
  }),
  enabled: Type.Boolean(),
  condition: Type.Optional(FreeObject),
})

/** The preferences to store for the workflows a request names. Unknown ones are left out, and logged. */
export async function choosePreferences(
  db: Db | Tx,
  { environmentId, log }: { environmentId: string; log: FastifyRequest['log'] },
  wanted: PreferenceRequest[],
): Promise<Chosen[]> {
  const empty = wanted.flatMap((wish, index) =>
    typeof wish === 'string' || wish.workflowId !== undefined || wish.filter !== undefined
      ? []
      : [`preferences.${index} must have a workflowId or a filter`],
  )
  if (empty.length > 0) throw generalError(empty)
  const { preferences, unknown } = await resolvePreferences(db, environmentId, wanted)
  if (unknown.length > 0)
    log.info({ environmentId, unknown }, 'subscription preferences name no workflow by these ids or tags; ignored')
  return preferences
}

export const toPreference = (row: PreferenceRow, identifier: string): Static<typeof Preference> => ({
  subscriptionId: identifier,
  workflow: {
    id: row.workflow_id,
    identifier: row.identifier,
    name: row.name,
    critical: row.critical,
    tags: row.tags,
    ...(row.data === null ? {} : { data: row.data }),
    severity: row.severity,
  },
  enabled: row.enabled,
  ...(row.condition === null ? {} : { condition: row.condition }),
})
