// What the target of a publish lacks for the workflows of the source: providers, values of variables, texts, rotas, a protected
// inbox.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { hasPrimary } from '../../db/core/integration-facts.ts'
import { inboxRequiresHash } from '../../db/queries/inbox-access.ts'
import { listIntegrations } from '../../db/queries/integrations.ts'
import type { WorkflowRow } from '../../db/queries/workflows.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { allSteps, someStep } from '../../steps/contract/tree.ts'
import { rotasOf } from '../../steps/kinds/ask-settings.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { EnvironmentContent } from './environment-diff.ts'
import type { Route } from './publish.ts'

export interface Lack {
  kind: 'provider' | 'variable' | 'translation' | 'rota' | 'hmac'
  /** The channel, the key of the variable, the locale, or the rota's id. */
  name: string
  /** The workflows that need it. */
  workflowIds: string[]
}

/** A fixed number of statements, however many workflows there are. */
export async function findLacks(db: Db, route: Route, source: EnvironmentContent): Promise<Lack[]> {
  const { targetId, organizationId } = route
  const [integrations, requiresHash, target, organization, variables, own] = await Promise.all([
    listIntegrations(db, targetId, { onlyActive: true }),
    inboxRequiresHash(db, targetId),
    db.selectFrom('environments').select('type').where('id', '=', targetId).executeTakeFirstOrThrow(),
    db.selectFrom('organizations').select('target_locales').where('id', '=', organizationId).executeTakeFirstOrThrow(),
    variablesIn(db, route),
    db.selectFrom('rotas').select('rota_id').where('environment_id', '=', targetId).execute(),
  ])
  const workflowsWith = (isIn: (workflow: WorkflowRow) => boolean) =>
    source.workflows.filter(isIn).map(({ identifier }) => identifier)
  const using = (channel: string) =>
    workflowsWith(({ steps }) => someStep(steps, ({ type }) => stepKinds[type as StepType]?.channel === channel))

  const isServed = (channel: string) =>
    integrations.some(
      (one) =>
        one.channel === channel && (!hasPrimary(channel) || one.is_primary || (one.conditions as unknown[]).length > 0),
    )
  const providers = ['in_app', 'email', 'sms', 'chat', 'push'].flatMap((channel): Lack[] =>
    isServed(channel) ? [] : [{ kind: 'provider', name: channel, workflowIds: using(channel) }],
  )
  const hmac: Lack[] =
    target.type === 'prod' && !requiresHash ? [{ kind: 'hmac', name: 'in_app', workflowIds: using('in_app') }] : []
  const translated = (locale: string) =>
    new Set(
      source.translations
        .filter((text) => text.resource_type === 'workflow' && text.locale === locale)
        .map(({ resource_row_id }) => resource_row_id),
    )
  const translations = organization.target_locales.map((locale): Lack => {
    const has = translated(locale)
    const workflowIds = workflowsWith(({ id, is_translation_enabled }) => is_translation_enabled && !has.has(id))
    return { kind: 'translation', name: locale, workflowIds }
  })
  const needed = new Set(source.workflows.flatMap(({ steps }) => allSteps(steps).flatMap(rotasOf)))
  const rotas = [...needed].sort().flatMap((name): Lack[] => {
    if (own.some(({ rota_id }) => rota_id === name)) return []
    const asks = (workflow: WorkflowRow) => someStep(workflow.steps, (step) => rotasOf(step).includes(name))
    return [{ kind: 'rota', name, workflowIds: workflowsWith(asks) }]
  })
  return [...providers, ...variables, ...translations, ...rotas, ...hmac].filter(
    ({ workflowIds }) => workflowIds.length > 0,
  )
}

/** Variables without a value in the target, and the workflows of the source whose steps use them. */
async function variablesIn(db: Db, { organizationId, sourceId, targetId }: Route): Promise<Lack[]> {
  const empty = await db
    .selectFrom('environment_variables as v')
    .leftJoin('environment_variable_values as value', (join) =>
      join.onRef('value.variable_id', '=', 'v.id').on('value.environment_id', '=', targetId),
    )
    .select('v.key')
    .where('v.organization_id', '=', organizationId)
    .where((where) => where.or([where('value.value', 'is', null), where('value.value', '=', '')]))
    .orderBy('v.key')
    .limit(mostVariables)
    .execute()
  if (empty.length === 0) return []
  // As the usage of one variable is found: string by string, and `payload.env.KEY` is another `env`.
  const { rows } = await sql<{ key: string; identifier: string }>`
    SELECT DISTINCT k.key, w.identifier
    FROM workflows w, jsonb_path_query(w.steps, 'strict $.** ? (@.type() == "string")') AS text,
      unnest(${empty.map(({ key }) => key)}::text[]) AS k (key)
    WHERE w.environment_id = ${sourceId} AND text #>> '{}' ~ (${before}::text || k.key || ${after}::text)
    ORDER BY k.key, w.identifier`.execute(db)
  return empty.map(({ key }) => ({
    kind: 'variable',
    name: key,
    workflowIds: rows.filter((row) => row.key === key).map(({ identifier }) => identifier),
  }))
}

const mostVariables = 500
const before = '(?<![\\w.])env\\.'
const after = '(?!\\w)'
