// Plans a publish from one environment to another, for each workflow and layout, before anything is written.
import type { WorkflowRow } from '../../db/queries/workflows.ts'
import { errorTable, fail } from '../../errors.ts'
import { type EnvironmentContent, layoutsUsedBy, type Pair, pairUp, type ResourceType } from './environment-diff.ts'

/** A resource as the caller names it. Without a type it is the source's workflow of that name or else its layout. */
export interface NamedResource {
  resourceType: ResourceType | undefined
  resourceId: string
  /** The internal id that it may be. */
  rowId: string | undefined
}

export interface PublishOptions {
  /** Only these, and the layouts that their workflows use; undefined: everything. */
  resources: NamedResource[] | undefined
  /** Delete from the target what the source does not have; of named resources, only those. */
  deleteMissing: boolean
  /** How many an environment may have. */
  limits: { workflows: number; layouts: number }
}

export type Action = 'created' | 'updated' | 'deleted'
export type Verdict = { done: Action } | { skipped: string } | { failed: string }

export interface Outcome {
  type: ResourceType
  identifier: string
  name: string
  verdict: Verdict
  /** Absent if neither environment has it. */
  pair?: Pair
}

const unchangedReason = 'No changes detected'
const keptReason =
  'Only in the target environment. Nothing is deleted unless deleteMissing is true or the resource is named in resources'

/** Throws if the publish would be refused as a whole. */
export function planPublish(
  source: EnvironmentContent,
  target: EnvironmentContent,
  { resources, deleteMissing, limits }: PublishOptions,
): Outcome[] {
  const pairs = pairUp(source, target)
  const named = resources?.map((resource) => findNamed(pairs, resource, source))
  const isNamed = (pair: Pair) => named?.some((each) => each.pair === pair) ?? false
  const used = (named ?? [])
    .flatMap(({ pair }) => (pair?.source ? layoutsUsedBy(pair.source, source.layouts) : []))
    .map((layout) => layout.identifier)
  const isUsed = ({ type, identifier }: Pair) => type === 'layout' && used.includes(identifier)
  const wanted = pairs
    .filter((pair) => !named || isNamed(pair) || isUsed(pair))
    .map((pair): Outcome => {
      const { type, identifier } = pair
      const name = (pair.source ?? pair.target)?.info.name ?? identifier
      return { type, identifier, name, pair, verdict: verdictOn(pair, deleteMissing) }
    })
  const outcomes = keepUsedLayouts(wanted, source, target)
  refuseTakenIdentifiers(outcomes, target)
  refuseTooMany(outcomes, target, limits)
  return [...outcomes, ...(named ?? []).flatMap(({ failure }) => failure ?? [])]
}

function findNamed(
  pairs: Pair[],
  { resourceType, resourceId, rowId }: NamedResource,
  { workflows }: EnvironmentContent,
): { pair?: Pair; failure?: Outcome } {
  const candidates = pairs.filter(({ type }) => resourceType === undefined || type === resourceType)
  const byIdentifier = candidates.filter(({ identifier }) => identifier === resourceId)
  const byId = candidates.filter(
    ({ source, target }) => rowId !== undefined && [source?.rowId, target?.rowId].includes(rowId),
  )
  const found = byIdentifier.length > 0 ? byIdentifier : byId
  const pair = found.find(({ source }) => source) ?? found[0]
  // A deletion must be unambiguous.
  const isClear = pair?.source !== undefined || found.length === 1
  if (pair && isClear) return { pair }
  const type = resourceType ?? 'workflow'
  const other = workflows.find(({ identifier }) => type === 'workflow' && identifier === resourceId)
  const failed = pair
    ? `The target environment has both a workflow and a layout "${resourceId}"; set resourceType to say which one`
    : other
      ? errorTable.workflow_not_publishable.message({ workflowId: resourceId })
      : `Neither environment has a ${type} "${resourceId}"`
  return { failure: { type, identifier: resourceId, name: other?.name ?? resourceId, verdict: { failed } } }
}

function verdictOn({ source, target, changes }: Pair, isDeleted: boolean): Verdict {
  if (!source) return isDeleted ? { done: 'deleted' } : { skipped: keptReason }
  if (!target) return { done: 'created' }
  return changes.length > 0 ? { done: 'updated' } : { skipped: unchangedReason }
}

/** An identifier is unique among all workflows of an environment, whatever their origin. */
function refuseTakenIdentifiers(outcomes: Outcome[], { workflows }: EnvironmentContent): void {
  const taken = new Set(workflows.map(({ identifier }) => identifier))
  const clash = outcomes.find(
    ({ type, identifier, verdict }) => type === 'workflow' && isDone(verdict, 'created') && taken.has(identifier),
  )
  if (clash) throw fail('published_identifier_taken', { workflowId: clash.identifier })
}

/** An environment that already has too many, made otherwise, can still be changed. */
function refuseTooMany(
  outcomes: Outcome[],
  { workflows, layouts }: EnvironmentContent,
  limits: PublishOptions['limits'],
): void {
  const refuse = (
    type: ResourceType,
    code: 'too_many_workflows' | 'too_many_layouts',
    present: number,
    limit: number,
  ) => {
    const count = (action: Action) =>
      outcomes.filter((outcome) => outcome.type === type && isDone(outcome.verdict, action)).length
    const currentCount = present + count('created') - count('deleted')
    if (count('created') > 0 && currentCount > limit) throw fail(code, { limit }, { ctx: { currentCount, limit } })
  }
  refuse('workflow', 'too_many_workflows', workflows.length, limits.workflows)
  refuse('layout', 'too_many_layouts', layouts.length, limits.layouts)
}

/** Keeps the default layout, and those that workflows of the target will still use after the publish. */
function keepUsedLayouts(outcomes: Outcome[], source: EnvironmentContent, target: EnvironmentContent): Outcome[] {
  const workflows = workflowsAfter(outcomes, source, target)
  return outcomes.map((outcome) => {
    const layout = target.layouts.find(({ identifier }) => identifier === outcome.identifier)
    if (outcome.type !== 'layout' || !isDone(outcome.verdict, 'deleted') || !layout) return outcome
    const users = workflows.filter((workflow) => layoutsUsedBy(workflow, [layout]).length > 0)
    if (layout.is_default)
      return {
        ...outcome,
        verdict: { failed: errorTable.default_layout_kept.message({ layoutId: layout.identifier }) },
      }
    if (users.length === 0) return outcome
    const names = users.map(({ identifier }) => identifier).join(', ')
    return { ...outcome, verdict: { failed: `Workflows of the target environment still use the layout: ${names}` } }
  })
}

function workflowsAfter(outcomes: Outcome[], source: EnvironmentContent, target: EnvironmentContent): WorkflowRow[] {
  const written = new Set<string>()
  const gone = new Set<string>()
  for (const { type, identifier, verdict } of outcomes) {
    if (type !== 'workflow' || !('done' in verdict)) continue
    gone.add(identifier)
    if (verdict.done !== 'deleted') written.add(identifier)
  }
  return [
    ...target.workflows.filter(({ identifier }) => !gone.has(identifier)),
    ...source.workflows.filter(({ identifier }) => written.has(identifier)),
  ]
}

export const isDone = (verdict: Verdict, ...actions: Action[]): boolean =>
  'done' in verdict && actions.includes(verdict.done)

interface Reported {
  resourceType: ResourceType
  resourceId: string
  resourceName: string
}

interface TypeReport {
  resourceType: ResourceType
  successful: Array<Reported & { action: Action }>
  failed: Array<Reported & { error: string }>
  skipped: Array<Reported & { reason: string }>
  totalProcessed: number
}

export interface PublishReport {
  results: TypeReport[]
  summary: { resources: number; successful: number; failed: number; skipped: number }
}

/** A dry run skips everything, and gives each resource's outcome as the reason. */
export function report(outcomes: Outcome[], { dryRun }: { dryRun: boolean }): PublishReport {
  const results = (['workflow', 'layout'] as const).map((resourceType): TypeReport => {
    const own = outcomes.filter(({ type }) => type === resourceType)
    const reported: TypeReport = { resourceType, successful: [], failed: [], skipped: [], totalProcessed: own.length }
    for (const { identifier, name, verdict } of own) {
      const resource = { resourceType, resourceId: identifier, resourceName: name }
      if ('skipped' in verdict) reported.skipped.push({ ...resource, reason: verdict.skipped })
      else if (dryRun) reported.skipped.push({ ...resource, reason: dryRunReason(verdict) })
      else if ('failed' in verdict) reported.failed.push({ ...resource, error: verdict.failed })
      else reported.successful.push({ ...resource, action: verdict.done })
    }
    return reported
  })
  const total = (of: (result: TypeReport) => number) => results.reduce((sum, result) => sum + of(result), 0)
  return {
    results,
    summary: {
      resources: outcomes.length,
      successful: total(({ successful }) => successful.length),
      failed: total(({ failed }) => failed.length),
      skipped: total(({ skipped }) => skipped.length),
    },
  }
}

const dryRunReason = (verdict: { done: Action } | { failed: string }): string =>
  `Dry run mode: would ${'done' in verdict ? `be ${verdict.done}` : `fail: ${verdict.failed}`}`
