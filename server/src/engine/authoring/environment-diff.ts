// The differences between two environments: workflows and layouts matched by identifier, with their steps and translations.
import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import type { LayoutTable, TranslationTable } from '../../db/core/tables.ts'
import { switchesOf, type WorkflowRow, type WorkflowStep } from '../../db/queries/workflows.ts'
import type { StepType } from '../../steps/contract/kind.ts'
import { allSteps, withLists } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'

export type ResourceType = 'workflow' | 'layout'

/** The publishable content of an environment. */
export interface EnvironmentContent {
  workflows: WorkflowRow[]
  layouts: Array<Selectable<LayoutTable>>
  translations: Array<Selectable<TranslationTable>>
}

/** The origin of workflows made here, in the dashboard or by the API. */
export const publishedOrigin = 'svc-cloud'

/** A workflow or a layout, reduced to what is compared. */
interface Resource {
  /** The internal id, different in every environment. */
  rowId: string
  info: ResourceInfo
  fields: Record<string, unknown>
  steps: WorkflowStep[]
  texts: Record<string, unknown> | undefined
}

export interface ResourceInfo {
  /** The identifier the caller chose. */
  id: string
  name: string
  updatedBy: { _id: string; firstName: string } | null
  updatedAt: Date
}

export interface Change {
  resourceType: ResourceType | 'step' | 'localization_group'
  action: 'added' | 'modified' | 'deleted' | 'moved'
  sourceResource: ResourceInfo | null
  targetResource: ResourceInfo | null
  diffs?: { previous: Record<string, unknown> | null; new: Record<string, unknown> | null }
  stepType?: string
  previousIndex?: number
  newIndex?: number
}

export interface Dependency {
  resourceType: ResourceType
  resourceId: string
  resourceName: string
  isBlocking: boolean
  reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW' | 'LAYOUT_EXISTS_IN_TARGET'
}

interface Counts {
  added: number
  modified: number
  deleted: number
  unchanged: number
}

export interface ResourceDiff {
  resourceType: ResourceType
  sourceResource: ResourceInfo | null
  targetResource: ResourceInfo | null
  changes: Change[]
  summary: Counts
  dependencies?: Dependency[]
}

export interface EnvironmentDiff {
  /** Only what differs: workflows, then layouts, each by identifier. */
  resources: ResourceDiff[]
  summary: { totalEntities: number; totalChanges: number; hasChanges: boolean }
}

/** One identifier of one type, in one or both environments. */
export interface Pair {
  type: ResourceType
  identifier: string
  source: Resource | undefined
  target: Resource | undefined
  /** What makes the target equal to the source. */
  changes: Change[]
}

export function diffEnvironments(source: EnvironmentContent, target: EnvironmentContent): EnvironmentDiff {
  const pairs = pairUp(source, target)
  const resources = pairs.filter((pair) => pair.changes.length > 0).map((pair) => diffOf(pair, source, target))
  const counts = resources.map(({ summary }) => summary.added + summary.modified + summary.deleted)
  const totalChanges = counts.reduce((sum, each) => sum + each, 0)
  return { resources, summary: { totalEntities: pairs.length, totalChanges, hasChanges: totalChanges > 0 } }
}

export function diffOf(pair: Pair, source: EnvironmentContent, target: EnvironmentContent): ResourceDiff {
  const dependencies = dependenciesOf(pair, source, target)
  return {
    resourceType: pair.type,
    sourceResource: pair.source?.info ?? null,
    targetResource: pair.target?.info ?? null,
    changes: pair.changes,
    summary: count(pair),
    ...(dependencies.length === 0 ? {} : { dependencies }),
  }
}

/** Every workflow, then every layout of either environment, by identifier. */
export function pairUp(source: EnvironmentContent, target: EnvironmentContent): Pair[] {
  const types = [
    { type: 'workflow', sources: workflowsIn(source), targets: workflowsIn(target) },
    { type: 'layout', sources: layoutsIn(source), targets: layoutsIn(target) },
  ] as const
  return types.flatMap(({ type, sources, targets }) =>
    [...new Set([...sources.keys(), ...targets.keys()])].sort().map((identifier) => {
      const pair = { type, identifier, source: sources.get(identifier), target: targets.get(identifier) }
      return { ...pair, changes: compare(pair) }
    }),
  )
}

/** Only those made here: code-first workflows are published with their code. */
function workflowsIn({ workflows, translations }: EnvironmentContent): Map<string, Resource> {
  const textsOf = textsIn(translations, 'workflow')
  const published = workflows.filter((row) => row.origin === publishedOrigin)
  return new Map(
    published.map((row) => {
      const fields = {
        workflowId: row.identifier,
        name: row.name,
        description: row.description,
        tags: row.tags,
        active: row.active,
        severity: row.severity,
        messageClass: row.message_class,
        consentCategory: row.consent_category,
        ...(row.tracking ? { tracking: row.tracking } : {}),
        preferences: { user: row.user_preferences, default: row.preferences },
        payloadSchema: row.payload_schema,
        validatePayload: row.validate_payload,
        isTranslationEnabled: row.is_translation_enabled,
        ...(row.journey ? { journey: row.journey } : {}),
      }
      return [row.identifier, { rowId: row.id, info: infoOf(row), fields, steps: row.steps, texts: textsOf(row) }]
    }),
  )
}

function layoutsIn({ layouts, translations }: EnvironmentContent): Map<string, Resource> {
  const textsOf = textsIn(translations, 'layout')
  return new Map(
    layouts.map((row) => {
      const fields = {
        layoutId: row.identifier,
        name: row.name,
        isTranslationEnabled: row.is_translation_enabled,
        controlValues: row.content ?? {},
      }
      return [row.identifier, { rowId: row.id, info: infoOf(row), fields, steps: [], texts: textsOf(row) }]
    }),
  )
}

/** A resource's texts by locale; undefined while its translation is turned off. */
function textsIn(translations: EnvironmentContent['translations'], type: ResourceType) {
  const texts = new Map<string, Record<string, unknown>>()
  for (const { resource_type, resource_row_id, locale, content } of translations)
    if (resource_type === type) texts.set(resource_row_id, { ...texts.get(resource_row_id), [locale]: content })
  return (row: { id: string; is_translation_enabled: boolean }) =>
    row.is_translation_enabled ? (texts.get(row.id) ?? {}) : undefined
}

interface Row {
  identifier: string
  name: string
  updated_by: string | null
  updated_at: Date
}

const infoOf = (row: Row): ResourceInfo => ({
  id: row.identifier,
  name: row.name,
  // We store no names of users, and clients require one.
  updatedBy: row.updated_by === null ? null : { _id: row.updated_by, firstName: '' },
  updatedAt: row.updated_at,
})

function compare({ type, source, target }: Omit<Pair, 'changes'>): Change[] {
  const own = compareContent(type, side(source?.info, source?.fields), side(target?.info, target?.fields))
  // A deleted resource takes its parts with it; that is one change.
  if (!source) return own
  const texts = compareContent('localization_group', side(source.info, source.texts), side(target?.info, target?.texts))
  return [...own, ...texts, ...compareSteps(source, target)]
}

interface Side {
  info: ResourceInfo
  content: Record<string, unknown>
}

const side = (info: ResourceInfo | undefined, content: Record<string, unknown> | undefined): Side | undefined =>
  info && content && { info, content }

function compareContent(
  resourceType: Change['resourceType'],
  after: Side | undefined,
  before: Side | undefined,
): Change[] {
  if (isDeepStrictEqual(before?.content, after?.content)) return []
  return [
    {
      resourceType,
      action: before === undefined ? 'added' : after === undefined ? 'deleted' : 'modified',
      sourceResource: after?.info ?? null,
      targetResource: before?.info ?? null,
      diffs: { previous: before?.content ?? null, new: after?.content ?? null },
    },
  ]
}

function compareSteps(source: Resource, target: Resource | undefined): Change[] {
  const there = stepsIn(target)
  const here = stepsIn(source)
  const gone = [...there].filter(([stepId]) => !here.has(stepId))
  return [...here, ...gone].flatMap(([stepId, { type }]): Change[] => {
    const [after, before] = [here.get(stepId), there.get(stepId)]
    const place = {
      stepType: type,
      ...(before === undefined ? {} : { previousIndex: before.index }),
      ...(after === undefined ? {} : { newIndex: after.index }),
    }
    const [change] = compareContent('step', after, before)
    if (change) return [{ ...change, ...place }]
    if (!after || !before || after.index === before.index) return []
    return [
      { resourceType: 'step', action: 'moved', sourceResource: after.info, targetResource: before.info, ...place },
    ]
  })
}

function stepsIn(resource: Resource | undefined): Map<string, Side & { type: string; index: number }> {
  if (!resource) return new Map()
  return new Map(
    allSteps(resource.steps)
      .map(withStepIds)
      .map(({ stepId, name, type, controlValues, ...switches }, index) => [
        stepId,
        {
          // Steps have no history of their own: they change with their workflow.
          info: { ...resource.info, id: stepId, name },
          // Null and empty values are the same.
          content: { stepId, name, type, controlValues: controlValues ?? {}, ...switchesOf(switches) },
          type,
          index,
        },
      ]),
  )
}

/** A branch names what is in its arms: those steps are compared by themselves. */
const withStepIds = (step: WorkflowStep): WorkflowStep => withLists(step, (steps) => steps.map(({ stepId }) => stepId))

/** A changed resource counts once, a new one counts with each of its steps. */
function count({ source, target }: Pair): Counts {
  const none = { added: 0, modified: 0, deleted: 0, unchanged: 0 }
  if (!source) return { ...none, deleted: 1 }
  if (!target) return { ...none, added: 1 + allSteps(source.steps).length }
  return { ...none, modified: 1 }
}

function dependenciesOf(pair: Pair, source: EnvironmentContent, target: EnvironmentContent): Dependency[] {
  if (pair.source && pair.type === 'workflow') {
    const there = layoutsUsedBy(pair.source, target.layouts)
    const missing = layoutsUsedBy(pair.source, source.layouts).filter(
      ({ identifier }) => !there.some((layout) => layout.identifier === identifier),
    )
    return [
      ...missing.map((layout) => dependency('layout', layout, 'LAYOUT_REQUIRED_FOR_WORKFLOW')),
      ...there.map((layout) => dependency('layout', layout, 'LAYOUT_EXISTS_IN_TARGET')),
    ]
  }
  if (pair.source || pair.type === 'workflow') return []
  const layout = target.layouts.filter(({ identifier }) => identifier === pair.identifier)
  return target.workflows
    .filter((workflow) => layoutsUsedBy(workflow, layout).length > 0)
    .map((workflow) => dependency('workflow', workflow, 'LAYOUT_REQUIRED_FOR_WORKFLOW'))
}

const dependency = (
  resourceType: ResourceType,
  { identifier, name }: { identifier: string; name: string },
  reason: Dependency['reason'],
): Dependency => ({
  resourceType,
  resourceId: identifier,
  resourceName: name,
  isBlocking: reason === 'LAYOUT_REQUIRED_FOR_WORKFLOW',
  reason,
})

/** The layouts that the workflow's steps name. A step that names none uses the default of its environment. */
export function layoutsUsedBy<T extends { id: string; identifier: string }>(
  { steps }: { steps: WorkflowStep[] },
  layouts: T[],
): T[] {
  const users = allSteps(steps).filter(({ type }) => stepKinds[type as StepType]?.usesLayout)
  const named = new Set(users.map(({ controlValues }) => controlValues?.layoutId))
  // Steps store the identifier; code may have written the id.
  return layouts.filter(({ id, identifier }) => named.has(identifier) || named.has(id))
}
