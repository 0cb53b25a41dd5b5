// Publishing: copies workflows, layouts and their translations from one environment to another, all or nothing.
import type { Db, Tx } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import { deleteLayouts, type LayoutFields, layoutFieldsOf, saveLayouts } from '../../db/queries/layouts.ts'
import { announceTranslations, copyAllTranslations, deleteTranslations } from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import { type Authorship, markVersionsPublished, type VersionAuthor } from '../../db/queries/versions.ts'
import {
  deleteWorkflows,
  fieldsOf,
  saveWorkflows,
  type WorkflowFields,
  type WorkflowRow,
} from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { allSteps, mapSteps } from '../../steps/contract/tree.ts'
import type { EnvironmentContent, Pair, ResourceType } from './environment-diff.ts'
import { type Action, isDone, type Outcome, type PublishOptions, planPublish } from './publish-plan.ts'

/** Two environments of one organization. */
export interface Route {
  organizationId: string
  sourceId: string
  targetId: string
}

/** Who publishes, and when. */
interface Occasion {
  userId: string
  now: Date
  /** For the history of the target. */
  author?: VersionAuthor | undefined
  message?: string | null | undefined
  /** An API key publishes: some protected environments let it. */
  isAutomation?: boolean
  /** A second person approved this: throws unless the plan is what they saw. Without it, a protected target is refused. */
  approved?: (plan: Outcome[]) => void
  /** Throws unless the plan is what the caller has looked at. */
  look?: ((plan: Outcome[], contents: Contents) => void) | undefined
}

export interface Contents {
  source: EnvironmentContent
  target: EnvironmentContent
}

/** Both environments at the same moment. */
export async function readEnvironments(db: Db, route: Route): Promise<Contents> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((tx) => readContents(tx, route))
}

/** What `publish` would do now. @param look throws to refuse it */
export async function tryPublish(
  db: Db,
  route: Route,
  options: PublishOptions,
  look?: Occasion['look'],
): Promise<Outcome[]> {
  const contents = await readEnvironments(db, route)
  const outcomes = planPublish(contents.source, contents.target, options)
  look?.(outcomes, contents)
  return outcomes
}

/**
 * Makes the target like the source, in the caller's transaction. It takes locks in the usual order (environments, layouts,
 * workflows; each by id), so that concurrent publishes in both directions, or edits, go one after the other.
 */
export async function publish(tx: Tx, route: Route, options: PublishOptions, occasion: Occasion): Promise<Outcome[]> {
  await lockEnvironments(tx, route, occasion)
  const contents = await readContents(tx, route, 'locked')
  const outcomes = planPublish(contents.source, contents.target, options)
  occasion.approved?.(outcomes)
  occasion.look?.(outcomes, contents)
  const by = await authorship(tx, route, occasion)
  const writes = writesIn(outcomes, occasion.now)
  await writeLayouts(tx, route, contents, writes, { ...occasion, by })
  await writeWorkflows(tx, route, contents, writes, { ...occasion, by })
  await writeTexts(tx, route, writes, { ...occasion, by })
  await deleteWorkflows(tx, route.targetId, deletedIn(outcomes, 'workflow'), occasion.now, { isPublished: true })
  // No step of the target uses them: the plan keeps those in use.
  await deleteLayouts(tx, route.targetId, deletedIn(outcomes, 'layout'), occasion.now)
  const published = (of: ResourceType) => writes.filter(({ type }) => type === of).map(({ from }) => from)
  await markPublished(tx, route.sourceId, published('workflow'), occasion)
  await markVersionsPublished(tx, route.sourceId, 'layout', published('layout'), occasion.now)
  return outcomes
}

type Signed = Occasion & { by: Authorship }

async function authorship(tx: Tx, { sourceId }: Route, { author, message }: Occasion): Promise<Authorship> {
  const { name } = await tx
    .selectFrom('environments')
    .select('name')
    .where('id', '=', sourceId)
    .executeTakeFirstOrThrow()
  return {
    author: author ?? { type: 'service', id: null, name: null },
    source: { kind: 'publish', environment: name },
    message: message ?? null,
  }
}

/** Records on the source's workflows that they were published. Their version stays. */
export async function markPublished(tx: Tx, sourceId: string, ids: string[], { userId, now }: Occasion): Promise<void> {
  if (ids.length === 0) return
  await tx
    .updateTable('workflows')
    .set({ last_published_at: now, last_published_by: userId })
    .where('environment_id', '=', sourceId)
    .where('id', 'in', ids)
    .execute()
  await markVersionsPublished(tx, sourceId, 'workflow', ids, now)
}

/** Also keeps others from adding what the plan does not know, and from protecting the target meanwhile. */
async function lockEnvironments(
  tx: Tx,
  { organizationId, sourceId, targetId }: Route,
  { approved, isAutomation = false }: Occasion,
): Promise<void> {
  const rows = await tx
    .selectFrom('environments')
    .select(['id', 'is_protected', 'is_open_to_automation'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [sourceId, targetId])
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const found = rows.map(({ id }) => id)
  const missing = [sourceId, targetId].find((id) => !found.includes(id))
  if (missing !== undefined) throw fail('publish_environment_not_found', { environmentId: missing })
  const target = rows.find(({ id }) => id === targetId)
  const isExempt = isAutomation && target?.is_open_to_automation
  if (target?.is_protected && !approved && !isExempt) throw fail('approval_needed', { environmentId: targetId })
}

/** The limits in PublishOptions bound both lists. Translations need no lock: their writers lock the resource. */
export async function readContents(tx: Tx, { sourceId, targetId }: Route, lock?: 'locked'): Promise<Contents> {
  const both = [sourceId, targetId]
  const isLocked = lock === 'locked'
  const layouts = await tx
    .selectFrom('layouts')
    .selectAll()
    .where('environment_id', 'in', both)
    .orderBy('id')
    .$if(isLocked, (query) => query.forUpdate())
    .execute()
  const workflows = (await tx
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', 'in', both)
    .orderBy('id')
    .$if(isLocked, (query) => query.forUpdate())
    .execute()) as WorkflowRow[]
  const translations = await tx
    .selectFrom('translations')
    .selectAll()
    .where('environment_id', 'in', both)
    .orderBy('locale')
    .execute()
  const of = (id: string): EnvironmentContent => ({
    layouts: layouts.filter((row) => row.environment_id === id),
    workflows: workflows.filter((row) => row.environment_id === id),
    translations: translations.filter((row) => row.environment_id === id),
  })
  return { source: of(sourceId), target: of(targetId) }
}

/** A resource of the source, and the one of the target that becomes like it. */
interface Write {
  type: ResourceType
  from: string
  to: string
  hasNewFields: boolean
  texts: 'unchanged' | 'copied' | 'deleted'
}

function writesIn(outcomes: Outcome[], now: Date): Write[] {
  return pairsIn(outcomes, 'created', 'updated').flatMap(({ type, source, target, changes }): Write[] => {
    if (!source) return []
    const own = changes.filter(({ resourceType }) => resourceType !== 'localization_group')
    const texts = own.length === changes.length ? 'unchanged' : source.texts ? 'copied' : 'deleted'
    return [{ type, from: source.rowId, to: target?.rowId ?? newId(now), hasNewFields: own.length > 0, texts }]
  })
}

const deletedIn = (outcomes: Outcome[], type: ResourceType): string[] =>
  pairsIn(outcomes, 'deleted').flatMap((pair) => (pair.type === type && pair.target ? [pair.target.rowId] : []))

const pairsIn = (outcomes: Outcome[], ...actions: Action[]): Pair[] =>
  outcomes.flatMap(({ verdict, pair }) => (pair && isDone(verdict, ...actions) ? [pair] : []))

interface Published<Fields> {
  id: string
  /** That of the source. */
  version: number
  fields: Fields
}

const withSources = <Fields>(published: Array<Published<Fields>>, { source }: Authorship) =>
  published.map(({ version, ...each }) => ({
    ...each,
    ...(source.kind === 'publish' ? { source: { ...source, version } } : {}),
  }))

/** Each environment has its own default layout; one without a default takes the source's, or any. */
function layoutsIn({ source, target }: Contents, writes: Write[]): Array<Published<LayoutFields>> {
  const rows = source.layouts.flatMap((row) => {
    const write = writes.find(({ type, from, hasNewFields }) => type === 'layout' && from === row.id && hasNewFields)
    return write ? [{ ...row, id: write.to }] : []
  })
  const hasDefault = target.layouts.some((row) => row.is_default)
  const becomesDefault = hasDefault ? undefined : (rows.find((row) => row.is_default) ?? rows[0])
  const isDefault = new Set(target.layouts.flatMap((row) => (row.is_default ? row.id : [])))
  return rows.map((row) => ({
    id: row.id,
    version: row.version,
    fields: { ...layoutFieldsOf(row), is_default: row === becomesDefault || isDefault.has(row.id) },
  }))
}

async function writeLayouts(
  tx: Tx,
  { targetId: environmentId }: Route,
  contents: Contents,
  writes: Write[],
  { userId, now, by }: Signed,
): Promise<void> {
  const layouts = withSources(layoutsIn(contents, writes), by)
  if (layouts.length > 0) await saveLayouts(tx, { environmentId, userId, now, isPublished: true, by }, layouts)
}

/** Steps that the target has keep their ids. */
const workflowsIn = ({ source, target }: Contents, writes: Write[], now: Date): Array<Published<WorkflowFields>> =>
  source.workflows.flatMap((row) => {
    const write = writes.find(({ type, from, hasNewFields }) => type === 'workflow' && from === row.id && hasNewFields)
    if (!write) return []
    const current = target.workflows.find(({ id }) => id === write.to)
    const idOf = new Map(allSteps(current?.steps ?? []).map((step) => [step.stepId, step._id]))
    const steps = mapSteps(row.steps, (step) => ({ ...step, _id: idOf.get(step.stepId) ?? newId(now) }))
    return [{ id: write.to, version: row.version, fields: { ...fieldsOf(row), steps } }]
  })

async function writeWorkflows(
  tx: Tx,
  { targetId: environmentId }: Route,
  contents: Contents,
  writes: Write[],
  { userId, now, by }: Signed,
): Promise<void> {
  const workflows = withSources(workflowsIn(contents, writes, now), by)
  await saveWorkflows(tx, { environmentId, userId, now, isPublished: true, by }, workflows)
}

/** The target as it would be after the publish. */
export function contentAfter(contents: Contents, outcomes: Outcome[], targetId: string, now: Date): EnvironmentContent {
  const { source, target } = contents
  const writes = writesIn(outcomes, now)
  const about = { environment_id: targetId, created_at: now, updated_at: now }
  const left = <Row extends { id: string }>(type: ResourceType, rows: Row[], written: Row[]) => {
    const gone = new Set([...deletedIn(outcomes, type), ...written.map(({ id }) => id)])
    return [...rows.filter(({ id }) => !gone.has(id)), ...written]
  }
  const layouts = layoutsIn(contents, writes).map(({ id, fields }) => {
    const row =
      target.layouts.find((each) => each.id === id) ??
      source.layouts.find(({ identifier }) => identifier === fields.identifier)
    if (!row) throw new Error('The layout to publish is in neither environment.')
    return { ...row, ...about, ...fields, id }
  })
  const workflows = workflowsIn(contents, writes, now).map(({ id, fields }) => {
    const row =
      target.workflows.find((each) => each.id === id) ??
      source.workflows.find(({ identifier }) => identifier === fields.identifier)
    if (!row) throw new Error('The workflow to publish is in neither environment.')
    return { ...row, ...about, ...fields, id }
  })
  const texts = writes.filter((write) => write.texts !== 'unchanged')
  const isReplaced = (row: EnvironmentContent['translations'][number]) =>
    texts.some(({ type, to }) => type === row.resource_type && to === row.resource_row_id)
  return {
    layouts: left('layout', target.layouts, layouts),
    workflows: left('workflow', target.workflows, workflows),
    translations: [
      ...target.translations.filter((row) => !isReplaced(row)),
      ...texts.flatMap((write) =>
        write.texts === 'deleted'
          ? []
          : source.translations
              .filter((row) => row.resource_type === write.type && row.resource_row_id === write.from)
              .map((row) => ({ ...row, environment_id: targetId, resource_row_id: write.to })),
      ),
    ],
  }
}

async function writeTexts(tx: Tx, { sourceId, targetId }: Route, writes: Write[], { now, by }: Signed): Promise<void> {
  const changed = writes.filter(({ texts }) => texts !== 'unchanged')
  if (changed.length === 0) return
  const all = changed.map(({ type, from, to, texts }) => ({ resourceType: type, resourceRowId: to, from, to, texts }))
  await copyAllTranslations(
    tx,
    { from: sourceId, to: targetId },
    all.filter(({ texts }) => texts === 'copied'),
  )
  await deleteTranslations(
    tx,
    targetId,
    all.filter(({ texts }) => texts === 'deleted'),
  )
  for (const type of ['layout', 'workflow'] as const) {
    const ids = changed.filter((write) => write.type === type).map(({ to }) => to)
    if (ids.length === 0) continue
    await announceTranslations(tx, type, targetId)
    await keepTexts(tx, targetId, type, ids, { now, by })
  }
}
