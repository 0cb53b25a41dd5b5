// Plans a push: what each definition would change, what is in conflict, and what is wrong. Nothing is written here, and no
// database is asked: the same plan, against nothing, checks files where there is no service.
import { newId } from '../../db/core/ids.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { DefinitionKind } from '../../db/core/tables.ts'
import type { DefinitionFileRow } from '../../db/queries/definition-files.ts'
import { type LayoutFields, layoutFieldsOf } from '../../db/queries/layouts.ts'
import type { NewTranslation } from '../../db/queries/translations.ts'
import type { VersionAuthor, VersionSource } from '../../db/queries/versions.ts'
import type { WorkflowFields, WorkflowRow } from '../../db/queries/workflows.ts'
import {
  definitionsIn,
  type EnvironmentRows,
  ownOrigin,
  type StoredDefinition,
} from '../../engine/definitions/content.ts'
import { layoutDefinition } from '../../engine/definitions/layout-definition.ts'
import { type ChangedPath, changedPaths } from '../../engine/definitions/paths.ts'
import { revisionOf } from '../../engine/definitions/revision.ts'
import {
  integrationDefinition,
  type Opening,
  type SettingRows,
  settingsIn,
  topicDefinition,
} from '../../engine/definitions/settings.ts'
import { type Definition, workflowDefinition } from '../../engine/definitions/workflow-definition.ts'
import { fail } from '../../errors.ts'
import { variablesOfSteps } from '../../steps/check/inspect.ts'
import { controlIssues } from '../../steps/check/issues.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { allSteps, someStep } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import {
  byIdentifier,
  checkShape,
  fieldsOfLayout,
  fieldsOfWorkflow,
  type Problem,
  type Report,
  type Texts,
  textsOfLocale,
} from './pushed.ts'
import {
  checkIntegrations,
  noSettingWrites,
  rowOfIntegration,
  rowOfTopic,
  rowOfVariable,
  type SettingWrites,
} from './pushed-settings.ts'

export interface PushedResource {
  kind: DefinitionKind
  id: string
  /** What the change began as: a revision, `files`, `any`, or null for nothing. Absent: `files`. */
  base?: string | null
  path?: string | null
  definition: Definition
}

export interface PlannedChange {
  kind: DefinitionKind
  id: string
  action: 'created' | 'updated' | 'deleted'
  paths: ChangedPath[]
  /** After the change; null if deleted. */
  revision: string | null
  version: number | null
}

export interface Conflict {
  kind: DefinitionKind
  id: string
  base: string | null
  current: {
    revision: string
    version: number | null
    updatedAt: Date | null
    author: VersionAuthor | null
    source: VersionSource | null
  } | null
  why: 'changed' | 'exists' | 'deleted' | 'code_first'
}

export interface DefinitionIssue {
  kind: DefinitionKind
  id: string
  /** Null for what is no step's. */
  stepId: string | null
  path: string
  issueType: string
  message: string
}

export interface Writes {
  layouts: Array<{ id: string; fields: LayoutFields; wasTranslated: boolean }>
  workflows: Array<{ id: string; fields: WorkflowFields; wasTranslated: boolean }>
  texts: NewTranslation[]
  removedTexts: Array<Omit<NewTranslation, 'content'>>
  deletedWorkflows: string[]
  deletedLayouts: string[]
  settings: SettingWrites
  /** What files own afterwards, by the revision they pushed. */
  owned: Array<Pick<PushedResource, 'kind' | 'id' | 'path'> & { revision: string }>
  released: Array<Pick<PushedResource, 'kind' | 'id'>>
}

export interface PushPlan {
  changes: PlannedChange[]
  conflicts: Conflict[]
  problems: Problem[]
  issues: DefinitionIssue[]
  unchanged: number
  writes: Writes
  /** It changes which variables the organization has. */
  changesOrganization: boolean
  /** Each pushed resource as it would be read back, by kind and id. */
  normal: Map<string, Definition>
}

export interface Surroundings {
  rows: EnvironmentRows
  settings: SettingRows
  files: DefinitionFileRow[]
  /** The last versions of what was deleted, by kind and id: a new one continues them. */
  deleted?: ReadonlyMap<string, number>
  envKeys: string[]
  limits: { workflows: number; layouts: number; steps: number; variables: number }
  opening: Opening & { isHeld: boolean; secrets: Secrets; hasEverySecret?: boolean }
  environmentId: string
  now: Date
}

export const keyOf = ({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`

export function planPush(
  resources: PushedResource[],
  { prunes }: { prunes: ReadonlySet<DefinitionKind> },
  { rows, settings, files, deleted = new Map(), envKeys, limits, opening, environmentId, now }: Surroundings,
): PushPlan {
  const problems: Problem[] = []
  const reporter =
    ({ kind, id }: PushedResource): Report =>
    (path, message) =>
      problems.push({ kind, id, path, message })
  const stored = new Map([...definitionsIn(rows), ...settingsIn(settings, opening)].map((each) => [keyOf(each), each]))
  const owned = new Map(files.map((file) => [keyOf(file), file]))
  const valid = withoutRepeats(resources, reporter).filter((each) =>
    checkShape(each.kind, each.id, each.definition, reporter(each)),
  )
  const of = (kind: DefinitionKind) => valid.filter((each) => each.kind === kind)
  const listed = new Set(resources.map(keyOf))
  const pruned = prunable(
    files.filter(({ kind }) => prunes.has(kind)),
    listed,
    stored,
  )

  const plan: PushPlan = {
    changes: [],
    conflicts: [],
    problems,
    issues: [],
    unchanged: 0,
    writes: {
      ...{ layouts: [], workflows: [], texts: [], removedTexts: [], deletedWorkflows: [], deletedLayouts: [] },
      ...{ owned: [], released: [], settings: noSettingWrites() },
    },
    changesOrganization: false,
    normal: new Map(),
  }
  const { writes } = plan
  /** @returns whether it has to be written. `secrets` are members whose new value is no part of the definition */
  const settle = (resource: PushedResource, definition: Definition, secrets: string[] = []): boolean => {
    const { kind, id, path } = resource
    const current = stored.get(keyOf(resource))
    const revision = revisionOf(definition)
    plan.normal.set(keyOf(resource), definition)
    writes.owned.push({ kind, id, path: path ?? null, revision })
    if (current?.revision === revision && secrets.length === 0) {
      plan.unchanged += 1
      return false
    }
    const conflict = conflictOf(resource, current, owned.get(keyOf(resource)))
    if (conflict) plan.conflicts.push(conflict)
    plan.changes.push({
      ...{ kind, id, action: current ? 'updated' : 'created', revision },
      version:
        kind === 'workflow' || kind === 'layout' ? (current?.version ?? deleted.get(keyOf(resource)) ?? 0) + 1 : null,
      paths: [
        ...changedPaths(current?.definition ?? {}, definition),
        ...secrets.map((path) => ({ path, before: null, after: null })),
      ],
    })
    return true
  }

  const place = { ...opening, environmentId, now }
  const variables = new Map(settings.variables.map((row) => [row.key, row]))
  for (const resource of of('variable')) {
    const planned = rowOfVariable(resource.definition, variables.get(resource.id), place, reporter(resource))
    if (planned === undefined) continue
    if (planned === 'missing') {
      plan.issues.push(missingSecret(resource, 'value', 'its value is not set, so the variable is left out'))
      plan.unchanged += 1
      continue
    }
    const { definition, isSecretChanged, ...write } = planned
    if (!settle(resource, definition, isSecretChanged ? ['value'] : [])) continue
    writes.settings.variables.push(write)
    if (write.isNew || write.row.is_secret !== variables.get(resource.id)?.is_secret) plan.changesOrganization = true
  }
  const made = writes.settings.variables.filter(({ isNew }) => isNew).length
  if (made > 0 && settings.variables.length + made > limits.variables)
    throw fail(
      'too_many_variables',
      { limit: limits.variables },
      { ctx: { currentCount: settings.variables.length + made, limit: limits.variables } },
    )

  const integrations = new Map(settings.integrations.map((row) => [row.identifier, row]))
  const pushedIntegrations = of('integration').flatMap((resource) => {
    const report = reporter(resource)
    const twin = integrations.has(resource.id) ? undefined : twinOf(resource.definition, listed, settings)
    // Every environment begins with an inbox under a random name: it takes that of the file.
    if (twin) takeOver(stored, twin, resource)
    const planned = rowOfIntegration(resource.definition, integrations.get(resource.id) ?? twin, place, report)
    return planned ? [{ resource, report, id: resource.id, ...planned }] : []
  })
  const { unset: unsetPrimaries } = checkIntegrations(pushedIntegrations, settings)
  for (const { resource, row, definition, changedSecrets, missingSecrets } of pushedIntegrations) {
    for (const name of missingSecrets)
      plan.issues.push(
        missingSecret(
          resource,
          `credentials.${name}`,
          integrations.has(resource.id) ? 'is not set' : 'is not set, so the new integration is inactive',
        ),
      )
    const secrets = integrations.has(resource.id) ? changedSecrets.map((name) => `credentials.${name}`) : []
    if (settle(resource, definition, secrets)) writes.settings.integrations.push(row)
  }
  for (const row of unsetPrimaries) {
    writes.settings.unset.push(row)
    plan.changes.push({
      ...{ kind: 'integration', id: row.identifier, action: 'updated', version: null },
      revision: revisionOf(integrationDefinition({ ...row, is_primary: false }, opening.hidesCredentials)),
      paths: [{ path: 'primary', before: true, after: null }],
    })
  }

  const topics = new Map(settings.topics.map((row) => [row.key, row]))
  for (const resource of of('topic')) {
    const row = rowOfTopic(resource.definition, topics.get(resource.id), place, reporter(resource))
    if (settle(resource, topicDefinition(row))) writes.settings.topics.push(row)
  }
  const envKeysAfter = [...new Set([...envKeys, ...writes.settings.variables.map(({ row }) => row.key)])]

  // Layouts first: workflows may name new ones.
  const layoutRows = byIdentifier(rows.layouts)
  const layoutsAfter = new Map<string, LayoutFields>(rows.layouts.map((row) => [row.identifier, layoutFieldsOf(row)]))
  const pushedLayouts = of('layout').map((resource) => ({
    resource,
    fields: fieldsOfLayout(resource.definition, envKeysAfter, reporter(resource)),
  }))
  for (const { fields } of pushedLayouts) layoutsAfter.set(fields.identifier, fields)
  const unset = settleDefault(pushedLayouts, rows, reporter)
  for (const { resource, fields } of pushedLayouts) {
    const row = layoutRows.get(resource.id)
    if (settle(resource, layoutDefinition(fields)))
      writes.layouts.push({ id: row?.id ?? newId(now), fields, wasTranslated: row?.is_translation_enabled ?? false })
  }
  for (const row of unset) {
    const fields = { ...layoutFieldsOf(row), is_default: false }
    layoutsAfter.set(row.identifier, fields)
    writes.layouts.push({ id: row.id, fields, wasTranslated: row.is_translation_enabled })
    plan.changes.push({
      ...{ kind: 'layout', id: row.identifier, action: 'updated', version: row.version + 1 },
      revision: revisionOf(layoutDefinition(fields)),
      paths: [{ path: 'isDefault', before: true, after: null }],
    })
  }
  for (const { kind, id } of pruned) if (kind === 'layout') layoutsAfter.delete(id)

  const workflowRows = byIdentifier(rows.workflows)
  const workflowsAfter = new Map<string, WorkflowFields>(workflowRows)
  for (const { kind, id } of pruned) if (kind === 'workflow') workflowsAfter.delete(id)
  const layoutIds = new Set(layoutsAfter.keys())
  for (const resource of of('workflow')) {
    const row = workflowRows.get(resource.id)
    if (row && row.origin !== ownOrigin) {
      plan.conflicts.push(codeFirst(resource, row, owned.get(keyOf(resource))))
      continue
    }
    const fields = fieldsOfWorkflow(resource.definition, row, { layouts: layoutIds, limits, now }, reporter(resource))
    if (!fields) continue
    workflowsAfter.set(resource.id, fields)
    plan.issues.push(...issuesOf(resource.id, fields, envKeysAfter))
    if (settle(resource, workflowDefinition(fields)))
      writes.workflows.push({ id: row?.id ?? newId(now), fields, wasTranslated: row?.is_translation_enabled ?? false })
  }

  const idOf = idsAfter(rows, writes)
  for (const resource of of('translation')) {
    const report = reporter(resource)
    const texts = textsOfLocale(resource.definition, { workflows: workflowsAfter, layouts: layoutsAfter }, report)
    const isNothing = Object.keys(texts.workflows).length + Object.keys(texts.layouts).length === 0
    if (isNothing && !stored.has(keyOf(resource))) {
      plan.unchanged += 1
      continue
    }
    if (settle(resource, texts)) planTexts(resource.id, texts, rows, idOf, writes)
  }

  for (const resource of pruned) {
    const { kind, id } = resource
    const current = stored.get(keyOf(resource))
    if (kind === 'workflow') writes.deletedWorkflows.push(workflowRows.get(id)?.id ?? '')
    if (kind === 'layout') {
      const users = [...workflowsAfter.values()].filter((workflow) => usesLayout(workflow, id))
      for (const { identifier } of users)
        problems.push({ kind, id, path: '', message: `workflow "${identifier}" still uses it` })
      writes.deletedLayouts.push(layoutRows.get(id)?.id ?? '')
    }
    if (kind === 'translation') planTexts(id, { workflows: {}, layouts: {} }, rows, idOf, writes)
    const [topic, integration, variable] = [topics.get(id), integrations.get(id), variables.get(id)]
    if (kind === 'topic' && topic) writes.settings.deletedTopics.push(topic.id)
    if (kind === 'integration' && integration) writes.settings.deletedIntegrations.push(integration)
    if (kind === 'variable' && variable) writes.settings.deletedVariables.push(variable.id)
    writes.released.push({ kind, id })
    plan.changes.push({
      ...{ kind, id, action: 'deleted', revision: null, version: current?.version ?? null },
      paths: [],
    })
  }
  refuseTooMany(rows, writes, limits)
  plan.changes.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  return plan
}

/** The inbox of the environment, under another identifier, which the push does not name. */
function twinOf(
  { providerId }: Definition,
  listed: ReadonlySet<string>,
  { integrations }: SettingRows,
): SettingRows['integrations'][number] | undefined {
  if (providerId !== inboxProvider) return undefined
  return integrations.find(
    ({ provider_id, identifier }) =>
      provider_id === inboxProvider && !listed.has(keyOf({ kind: 'integration', id: identifier })),
  )
}

const inboxProvider = 'svc'

function takeOver(
  stored: Map<string, StoredDefinition>,
  twin: SettingRows['integrations'][number],
  resource: PushedResource,
): void {
  const key = keyOf({ kind: 'integration', id: twin.identifier })
  const before = stored.get(key)
  if (before) stored.set(keyOf(resource), before)
  stored.delete(key)
}

function withoutRepeats(resources: PushedResource[], reporter: (of: PushedResource) => Report): PushedResource[] {
  const seen = new Set<string>()
  return resources.filter((resource) => {
    const isRepeated = seen.has(keyOf(resource))
    seen.add(keyOf(resource))
    if (isRepeated) reporter(resource)('', 'is in the list twice')
    return !isRepeated
  })
}

function conflictOf(
  resource: PushedResource,
  current: StoredDefinition | undefined,
  file: DefinitionFileRow | undefined,
): Conflict | undefined {
  const { kind, id } = resource
  if (resource.base === 'any') return undefined
  const base = expectedBy(resource, file)
  if ((current?.revision ?? null) === base) return undefined
  const why = !current ? 'deleted' : base === null ? 'exists' : 'changed'
  return { kind, id, why, base, current: current ? thereNow(current) : null }
}

/** Code declares it again and again, so that a push could only lose, whatever its base is. */
function codeFirst(resource: PushedResource, row: WorkflowRow, file: DefinitionFileRow | undefined): Conflict {
  const { version, updated_at: updatedAt } = row
  const current = thereNow({ revision: revisionOf(workflowDefinition(row)), version, updatedAt })
  return { kind: 'workflow', id: resource.id, why: 'code_first', base: expectedBy(resource, file), current }
}

const expectedBy = ({ base = 'files' }: PushedResource, file: DefinitionFileRow | undefined): string | null =>
  base === 'files' ? (file?.revision ?? null) : base

/** Author and source are looked up for the few that are in conflict. */
const thereNow = ({
  revision,
  version,
  updatedAt,
}: Pick<StoredDefinition, 'revision' | 'version' | 'updatedAt'>): Conflict['current'] => ({
  ...{ revision, version, updatedAt, author: null, source: null },
})

/** What files once pushed, nobody changed since, and the list no longer has; never the default layout. */
function prunable(
  files: DefinitionFileRow[],
  listed: ReadonlySet<string>,
  stored: ReadonlyMap<string, StoredDefinition>,
): DefinitionFileRow[] {
  return files.filter((file) => {
    const current = stored.get(keyOf(file))
    const isDefault = current?.kind === 'layout' && current.definition.isDefault === true
    return !listed.has(keyOf(file)) && current?.revision === file.revision && !isDefault
  })
}

/** Exactly one layout is the default. @returns those that lose it, though the push does not name them */
function settleDefault(
  pushed: Array<{ resource: PushedResource; fields: LayoutFields }>,
  { layouts }: EnvironmentRows,
  reporter: (of: PushedResource) => Report,
): EnvironmentRows['layouts'] {
  const chosen = pushed.filter(({ fields }) => fields.is_default)
  if (chosen.length > 1)
    for (const { resource } of chosen) reporter(resource)('isDefault', 'only one layout can be the default')
  const before = layouts.filter((row) => row.is_default)
  const named = new Set(pushed.map(({ resource }) => resource.id))
  if (chosen.length > 0) return before.filter((row) => !named.has(row.identifier))
  for (const { resource } of pushed.filter(({ resource: { id } }) => before.some((row) => row.identifier === id)))
    reporter(resource)('isDefault', 'is the default layout here; say isDefault: true, or push another that says so')
  return []
}

const usesLayout = ({ steps }: Pick<WorkflowFields, 'steps'>, layoutId: string) =>
  someStep(
    steps,
    ({ type, controlValues }) =>
      stepKinds[type as StepType]?.usesLayout === true && controlValues?.layoutId === layoutId,
  )

function issuesOf(id: string, fields: WorkflowFields, envKeys: string[]): DefinitionIssue[] {
  const variables = variablesOfSteps(fields, envKeys)
  return allSteps(fields.steps).flatMap((step) =>
    Object.entries(controlIssues(step, variables.get(step._id) ?? {}, fields.payload_schema)).flatMap(([path, found]) =>
      found.map(({ issueType, message }) => ({
        kind: 'workflow' as const,
        ...{ id, stepId: step.stepId, path, issueType, message },
      })),
    ),
  )
}

const missingSecret = ({ kind, id }: PushedResource, path: string, message: string): DefinitionIssue => ({
  ...{ kind, id, stepId: null, path, issueType: 'MISSING_SECRET', message },
})

type IdOf = (list: 'workflows' | 'layouts', identifier: string) => string

/** The internal ids, those of new ones included. */
function idsAfter(rows: EnvironmentRows, writes: Writes): IdOf {
  const ids = (list: 'workflows' | 'layouts') =>
    new Map([
      ...rows[list].map(({ identifier, id }) => [identifier, id] as const),
      ...writes[list].map(({ fields, id }) => [fields.identifier, id] as const),
    ])
  const known = { workflows: ids('workflows'), layouts: ids('layouts') }
  return (list, identifier) => known[list].get(identifier) ?? ''
}

/** The texts of a locale are replaced as a whole. */
function planTexts(locale: string, wanted: Texts, { translations }: EnvironmentRows, idOf: IdOf, writes: Writes): void {
  const kept = new Set<string>()
  for (const [list, resourceType] of [
    ['layouts', 'layout'],
    ['workflows', 'workflow'],
  ] as const)
    for (const [identifier, content] of Object.entries(wanted[list])) {
      const resourceRowId = idOf(list, identifier)
      kept.add(`${resourceType} ${resourceRowId}`)
      writes.texts.push({ resourceType, resourceRowId, locale, content })
    }
  for (const { resource_type: resourceType, resource_row_id: resourceRowId, ...row } of translations)
    if (row.locale === locale && !kept.has(`${resourceType} ${resourceRowId}`))
      writes.removedTexts.push({ resourceType, resourceRowId, locale })
}

function refuseTooMany(rows: EnvironmentRows, writes: Writes, limits: Surroundings['limits']): void {
  const after = (list: 'workflows' | 'layouts', gone: string[]) => {
    const known = new Set(rows[list].map(({ id }) => id))
    const made = writes[list].filter(({ id }) => !known.has(id)).length
    return { made, currentCount: known.size + made - gone.length }
  }
  const workflows = after('workflows', writes.deletedWorkflows)
  const { currentCount } = workflows
  if (workflows.made > 0 && currentCount > limits.workflows)
    throw fail('too_many_workflows', { limit: limits.workflows }, { ctx: { currentCount, limit: limits.workflows } })
  const layouts = after('layouts', writes.deletedLayouts)
  if (layouts.made > 0 && layouts.currentCount > limits.layouts)
    throw fail(
      'too_many_layouts',
      { limit: limits.layouts },
      { ctx: { currentCount: layouts.currentCount, limit: limits.layouts } },
    )
}
