// Preferences of topic subscriptions: which workflows each one allows.
import { type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import type { WorkflowTable } from '../core/tables.ts'

/** As callers send it: a workflow by identifier or id, or workflows by either or by tags, with their settings. */
export type PreferenceRequest = string | PreferenceObject

export interface PreferenceObject {
  workflowId?: string
  filter?: { workflowIds?: string[]; tags?: string[] }
  /** Default: the workflow's own. */
  enabled?: boolean
  /** A JSON Logic rule over the payload; if given, it alone decides. */
  condition?: Condition
}

type Condition = Record<string, unknown> | null

/** The stored preference for one workflow. */
export interface Preference {
  workflowId: string
  enabled: boolean
  condition: Condition
}

type Workflow = Pick<Selectable<WorkflowTable>, 'id' | 'identifier' | 'tags' | 'preferences' | 'user_preferences'>

/**
 * One statement for all `requests`. If several match a workflow, the first wins.
 * @returns the preferences to store, and the ids and tags that no workflow has
 */
export async function resolvePreferences(
  db: Db | Tx,
  environmentId: string,
  requests: PreferenceRequest[],
): Promise<{ preferences: Preference[]; unknown: string[] }> {
  if (requests.length === 0) return { preferences: [], unknown: [] }
  const wanted = requests.map(wishOf)
  const ids = [...new Set(wanted.flatMap((wish) => wish.workflowIds))]
  const tags = [...new Set(wanted.flatMap((wish) => wish.tags))]
  const { rows: workflows } = await sql<Workflow>`
    SELECT id, identifier, tags, preferences, user_preferences FROM workflows
    WHERE environment_id = ${environmentId}
      AND (identifier = ANY(${ids}::text[]) OR id = ANY(${ids}::text[]) OR tags && ${tags}::text[])
    ORDER BY id`.execute(db)

  // An identifier may look like an id. Identifiers win, so they are entered last.
  const byId = new Map([
    ...workflows.map((workflow) => [workflow.id, workflow] as const),
    ...workflows.map((workflow) => [workflow.identifier, workflow] as const),
  ])
  const byTag = new Map(tags.map((tag) => [tag, workflows.filter((workflow) => workflow.tags.includes(tag))]))
  const chosen = new Map<string, Preference>()
  for (const wish of wanted) {
    const matches = [
      ...wish.workflowIds.flatMap((id) => byId.get(id) ?? []),
      ...wish.tags.flatMap((tag) => byTag.get(tag) ?? []),
    ]
    for (const workflow of matches) {
      if (chosen.has(workflow.id)) continue
      const enabled = wish.enabled ?? isEnabledByDefault(workflow)
      chosen.set(workflow.id, { workflowId: workflow.id, enabled, condition: wish.condition })
    }
  }
  const unknown = [...ids.filter((id) => !byId.has(id)), ...tags.filter((tag) => byTag.get(tag)?.length === 0)]
  return { preferences: [...chosen.values()], unknown }
}

function wishOf(request: PreferenceRequest) {
  const { workflowId, filter, enabled, condition = null } = typeof request === 'string' ? byName(request) : request
  const workflowIds = [...(workflowId === undefined ? [] : [workflowId]), ...(filter?.workflowIds ?? [])]
  return { workflowIds, tags: filter?.tags ?? [], enabled, condition }
}

const byName = (workflowId: string): PreferenceObject => ({ workflowId })

/** A dashboard user's setting beats the author's. */
function isEnabledByDefault({ preferences, user_preferences }: Workflow): boolean {
  const { all } = (user_preferences ?? preferences) as { all?: { enabled?: boolean } }
  return all?.enabled ?? true
}

/** Gives each of these new subscriptions all of these preferences, in one statement. */
export async function insertPreferences(
  tx: Tx,
  environmentId: string,
  subscriptionIds: string[],
  preferences: Preference[],
): Promise<void> {
  if (subscriptionIds.length === 0 || preferences.length === 0) return
  await sql`
    INSERT INTO subscription_preferences (environment_id, subscription_id, workflow_id, enabled, condition)
    SELECT ${environmentId}, subscription_id, workflow_id, enabled, condition
    FROM unnest(${subscriptionIds}::text[]) AS subscription_id,
         unnest(${preferences.map((p) => p.workflowId)}::text[], ${preferences.map((p) => p.enabled)}::boolean[],
                ${preferences.map((p) => (p.condition === null ? null : JSON.stringify(p.condition)))}::jsonb[])
           AS given (workflow_id, enabled, condition)`.execute(tx)
}

/** The caller has locked the subscription's row, which serializes replacements. */
export async function replacePreferences(
  tx: Tx,
  environmentId: string,
  subscriptionId: string,
  preferences: Preference[],
): Promise<void> {
  await tx
    .deleteFrom('subscription_preferences')
    .where('environment_id', '=', environmentId)
    .where('subscription_id', '=', subscriptionId)
    .execute()
  await insertPreferences(tx, environmentId, [subscriptionId], preferences)
}

export interface PreferenceRow {
  subscription_id: string
  enabled: boolean
  condition: Condition
  workflow_id: string
  identifier: string
  name: string
  critical: boolean
  severity: string
  tags: string[]
  data: Record<string, unknown> | null
}

/** The preferences of each of these subscriptions, oldest workflow first. */
export async function readPreferences(
  db: Db | Tx,
  environmentId: string,
  subscriptionIds: string[],
): Promise<Map<string, PreferenceRow[]>> {
  const { rows } = await sql<PreferenceRow>`
    SELECT p.subscription_id, p.enabled, p.condition,
           w.id AS workflow_id, w.identifier, w.name, w.critical, w.severity, w.tags, w.data
    FROM subscription_preferences p
    JOIN workflows w ON w.environment_id = p.environment_id AND w.id = p.workflow_id
    WHERE p.environment_id = ${environmentId} AND p.subscription_id = ANY(${subscriptionIds}::text[])
    ORDER BY p.subscription_id, w.id`.execute(db)
  const bySubscription = new Map<string, PreferenceRow[]>(subscriptionIds.map((id) => [id, []]))
  for (const row of rows) bySubscription.get(row.subscription_id)?.push(row)
  return bySubscription
}

/** The defaults of workflows with these ids, identifiers or tags. */
export async function readDefaults(
  db: Db | Tx,
  environmentId: string,
  filter: { workflowIds: string[]; tags: string[] },
): Promise<PreferenceRow[]> {
  const { preferences } = await resolvePreferences(db, environmentId, [{ filter }])
  if (preferences.length === 0) return []
  const enabled = new Map(preferences.map((preference) => [preference.workflowId, preference.enabled]))
  const { rows } = await sql<Omit<PreferenceRow, 'subscription_id' | 'enabled' | 'condition'>>`
    SELECT w.id AS workflow_id, w.identifier, w.name, w.critical, w.severity, w.tags, w.data FROM workflows w
    WHERE w.environment_id = ${environmentId} AND w.id = ANY(${[...enabled.keys()]}::text[])
    ORDER BY w.id`.execute(db)
  return rows.map((row) => ({
    ...row,
    subscription_id: '',
    enabled: enabled.get(row.workflow_id) ?? true,
    condition: null,
  }))
}

/** Sets the given members for one workflow; a new entry is enabled by default. The caller has locked the subscription. */
export async function savePreference(
  tx: Tx,
  environmentId: string,
  subscriptionId: string,
  { workflowId, enabled, condition }: { workflowId: string; enabled?: boolean | undefined; condition?: Condition },
): Promise<void> {
  const rule = condition === undefined || condition === null ? null : JSON.stringify(condition)
  await sql`
    INSERT INTO subscription_preferences AS p (environment_id, subscription_id, workflow_id, enabled, condition)
    VALUES (${environmentId}, ${subscriptionId}, ${workflowId}, ${enabled ?? true}, ${rule}::jsonb)
    ON CONFLICT (environment_id, subscription_id, workflow_id) DO UPDATE
    SET enabled = ${enabled === undefined ? sql`p.enabled` : sql`excluded.enabled`},
        condition = ${condition === undefined ? sql`p.condition` : sql`excluded.condition`}`.execute(tx)
}

/** These subscriptions' preferences for one workflow; subscriptions without one are left out. */
export async function readChoices(
  db: Db | Tx,
  environmentId: string,
  workflowId: string,
  subscriptionIds: string[],
): Promise<Map<string, Pick<PreferenceRow, 'enabled' | 'condition'>>> {
  const { rows } = await sql<Pick<PreferenceRow, 'subscription_id' | 'enabled' | 'condition'>>`
    SELECT subscription_id, enabled, condition FROM subscription_preferences
    WHERE environment_id = ${environmentId} AND subscription_id = ANY(${subscriptionIds}::text[])
      AND workflow_id = ${workflowId}`.execute(db)
  return new Map(rows.map(({ subscription_id, ...choice }) => [subscription_id, choice]))
}
