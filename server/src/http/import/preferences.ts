// Imported preferences: what subscribers chose at the source, globally or for a workflow, in one set of contexts.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { ChannelChoices } from '../../db/core/tables.ts'
import { fail, RequestError } from '../../errors.ts'
import { Body, Identifier } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { choices, readSchedule, Schedule } from '../subscribers/preferences.ts'
import { SubscriberId } from '../subscribers/subscribers.ts'
import { GivenContextKeys, makeContexts, sortedKeys } from './context-keys.ts'
import { type Importing, type ImportKind, type Outcome, timeOf } from './kind.ts'
import { Time } from './times.ts'

interface PreferenceItem {
  subscriberId: string
  workflowId?: string
  channels?: ChannelChoices
  schedule?: Static<typeof Schedule>
  contextKeys?: string[]
  updatedAt?: string
}

export const importedPreferences: ImportKind<PreferenceItem> = {
  name: 'preferences',
  summary: 'Import up to 500 preferences of subscribers',
  description:
    'Without `workflowId` an item is about all workflows, and may have a schedule. A global item leaves those of single workflows alone.',
  item: Body({
    subscriberId: SubscriberId,
    workflowId: Type.Optional(Identifier()),
    channels: Type.Optional(Body(choices)),
    schedule: Type.Optional(Schedule),
    contextKeys: GivenContextKeys,
    updatedAt: Type.Optional(Time),
  }),
  example: { subscriberId: 'ada', workflowId: 'comments', channels: { email: false } },
  scope: 'write:subscribers',
  keyOf: ({ subscriberId, workflowId, contextKeys }) =>
    JSON.stringify([subscriberId.trim(), workflowId ?? null, sortedKeys(contextKeys)]),

  async store(importing, items) {
    const { tx, environmentId, now } = importing
    await makeContexts(importing, items)
    const subscribers = await lockSubscribers(
      importing,
      items.map(({ subscriberId }) => subscriberId.trim()),
    )
    const workflows = await holdWorkflows(
      importing,
      items.flatMap(({ workflowId }) => workflowId ?? []),
    )
    const planned: Array<{ index: number; rowId: string; workflowId: string | null; item: PreferenceItem }> = []
    const outcomes = items.map((item, index): Outcome => {
      const rowId = subscribers.get(item.subscriberId.trim())
      if (rowId === undefined) return fail('subscriber_not_found', item)
      const workflowId = item.workflowId === undefined ? null : workflows.get(item.workflowId)
      if (workflowId === undefined)
        return fail('preference_workflows_not_found', { workflowIds: [String(item.workflowId)] })
      const problem = problemOf(item)
      if (problem) return problem
      planned.push({ index, rowId, workflowId, item })
      return 'unchanged'
    })
    if (planned.length === 0) return outcomes
    const { rows } = await sql<{ index: number }>`
      WITH given AS (
        SELECT place, row_id, workflow_id, ARRAY(SELECT jsonb_array_elements_text(keys)) AS context_keys, channels,
               nullif(schedule, 'null') AS schedule, coalesce(updated_at, ${now}) AS updated_at
        FROM unnest(${planned.map(({ index }) => index)}::int[], ${planned.map(({ rowId }) => rowId)}::text[],
                    ${planned.map(({ workflowId }) => workflowId)}::text[],
                    ${planned.map(({ item }) => JSON.stringify(sortedKeys(item.contextKeys)))}::jsonb[],
                    ${planned.map(({ item }) => JSON.stringify(item.channels ?? {}))}::jsonb[],
                    ${planned.map(({ item }) => JSON.stringify(item.schedule ? readSchedule(item.schedule) : null))}::jsonb[],
                    ${planned.map(({ item }) => timeOf(item.updatedAt, now))}::timestamptz[])
          AS t (place, row_id, workflow_id, keys, channels, schedule, updated_at)
      ), changed AS (
        INSERT INTO subscriber_preferences AS p
          (environment_id, subscriber_row_id, workflow_id, context_keys, channels, schedule, updated_at)
        SELECT ${environmentId}, row_id, workflow_id, context_keys, channels, schedule, updated_at FROM given
        ON CONFLICT (environment_id, subscriber_row_id, workflow_id, context_keys) DO UPDATE
        SET channels = p.channels || excluded.channels, schedule = coalesce(excluded.schedule, p.schedule),
            updated_at = excluded.updated_at
        WHERE p.updated_at <= excluded.updated_at
          AND (p.channels || excluded.channels, coalesce(excluded.schedule, p.schedule)) IS DISTINCT FROM (p.channels, p.schedule)
        RETURNING p.subscriber_row_id, p.workflow_id, p.context_keys)
      SELECT g.place AS index FROM changed c
      JOIN given g ON g.row_id = c.subscriber_row_id AND g.context_keys = c.context_keys
        AND g.workflow_id IS NOT DISTINCT FROM c.workflow_id`.execute(tx)
    for (const { index } of rows) outcomes[index] = 'imported'
    return outcomes
  },
}

function problemOf({ workflowId, channels, schedule }: PreferenceItem): RequestError | undefined {
  if (channels === undefined && schedule === undefined) return generalError(['channels or schedule is required'])
  if (workflowId !== undefined && schedule) return generalError(['a schedule belongs to an item without workflowId'])
  try {
    if (schedule) readSchedule(schedule)
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
  return undefined
}

/** As every change of preferences does: one after the other for each subscriber. */
export async function lockSubscribers(
  { tx, environmentId }: Importing,
  subscriberIds: string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; subscriber_id: string }>`
    SELECT id, subscriber_id FROM subscribers
    WHERE environment_id = ${environmentId} AND subscriber_id = ANY(${[...new Set(subscriberIds)]}::text[])
    ORDER BY subscriber_id FOR NO KEY UPDATE`.execute(tx)
  return new Map(rows.map((row) => [row.subscriber_id, row.id]))
}

/** The internal ids of workflows, which cannot be deleted before the transaction ends. */
async function holdWorkflows({ tx, environmentId }: Importing, identifiers: string[]): Promise<Map<string, string>> {
  if (identifiers.length === 0) return new Map()
  const { rows } = await sql<{ id: string; identifier: string }>`
    SELECT id, identifier FROM workflows
    WHERE environment_id = ${environmentId} AND identifier = ANY(${[...new Set(identifiers)]}::text[])
    ORDER BY id FOR KEY SHARE`.execute(tx)
  return new Map(rows.map((row) => [row.identifier, row.id]))
}
