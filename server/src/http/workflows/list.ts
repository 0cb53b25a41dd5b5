// The list of workflows: the database filters and sorts, and their steps determine the status.
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { allOf, contains } from '../../db/core/page.ts'
import { type DefaultTextsRow, defaultTexts } from '../../db/queries/translations.ts'
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { type Around, issuesOfSteps, type OfSteps, rememberedIssues, statusOf } from '../../steps/check/inspect.ts'
import type { ControlIssues } from '../../steps/check/issues.ts'
import { wireKind, wireType } from '../../steps/contract/wire.ts'
import type { Brand } from '../edge/brand.ts'
import type { Services } from '../edge/resource.ts'
import { Enum, QueryList, Timestamp } from '../edge/schema.ts'
import { slugOf } from '../edge/slug.ts'
import { aroundOf, consentMembers, Status, StepIssues, shownConsent, shownIssues, User, userOf } from './shape.ts'

const mostListed = 1_000
const Order = Enum(['createdAt', 'updatedAt', 'name', 'lastTriggeredAt'], { default: 'createdAt' })

export const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
  orderBy: Type.Optional(Order),
  orderDirection: Type.Optional(Enum(['ASC', 'DESC'], { default: 'DESC' })),
  query: Type.Optional(Type.String({ description: 'Part of the name or identifier, case-insensitive' })),
  tags: Type.Optional({ ...QueryList, description: 'Any of these' }),
  status: Type.Optional(Type.Array(Status, { description: 'Any of these' })),
})
type ListQuery = Static<typeof ListQuery>

export const ListedWorkflow = Type.Object({
  _id: Type.String(),
  workflowId: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  origin: Type.String(),
  tags: Type.Array(Type.String()),
  status: Status,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updatedBy: Type.Optional(User),
  lastPublishedAt: Type.String({ description: 'Empty if never published' }),
  lastPublishedBy: Type.Optional(User),
  lastTriggeredAt: Type.Optional(Timestamp),
  isTranslationEnabled: Type.Boolean(),
  ...consentMembers,
  stepTypeOverviews: Type.Array(Type.String()),
  steps: Type.Array(
    Type.Object({
      slug: Type.String(),
      type: Type.String(),
      kind: Type.Optional(Type.String()),
      issues: Type.Optional(StepIssues),
    }),
  ),
})

export const WorkflowPage = Type.Object({ workflows: Type.Array(ListedWorkflow), totalCount: Type.Integer() })

/** The row without the large parts: of each step only id, name and type. */
type ListedRow = Omit<WorkflowRow, 'steps' | 'payload_schema'> & {
  steps: Array<Pick<WorkflowStep, '_id' | 'name' | 'type'>>
  /** With those in arms, if there are any. */
  all_types?: string[] | null
}

export const toListedWorkflow = (
  row: ListedRow,
  brand: Brand,
  issues: OfSteps<ControlIssues>,
): Static<typeof ListedWorkflow> => ({
  _id: row.id,
  workflowId: row.identifier,
  slug: slugOf(row.name, 'wf', row.id),
  name: row.name,
  origin: brand.toWire(row.origin),
  tags: row.tags,
  status: statusOf(row, issues),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...userOf('updatedBy', row.updated_by),
  lastPublishedAt: row.last_published_at?.toISOString() ?? '',
  ...userOf('lastPublishedBy', row.last_published_by),
  ...(row.last_triggered_at === null ? {} : { lastTriggeredAt: row.last_triggered_at }),
  isTranslationEnabled: row.is_translation_enabled,
  ...shownConsent(row),
  stepTypeOverviews: (row.all_types ?? row.steps.map(({ type }) => type)).map((type) => wireType(type, brand.word)),
  steps: row.steps.map((step) => ({
    slug: slugOf(step.name, 'st', step._id),
    type: wireType(step.type, brand.word),
    ...wireKind(step.type),
    ...shownIssues(issues.get(step._id) ?? {}),
  })),
})

export async function listWorkflows(
  { db, brand }: Pick<Services, 'db' | 'brand'>,
  environmentId: string,
  { limit = 50, offset = 0, status, ...filter }: ListQuery,
): Promise<Static<typeof WorkflowPage>> {
  const [around, rows] = await Promise.all([aroundOf(db, environmentId), listRows(db, environmentId, filter)])
  const isOnPage = (_: ListedRow, i: number) => i >= offset && i < offset + limit
  // A filter on status needs the issues of every row.
  const issues = await issuesByRow(db, around, status ? rows : rows.filter(isOnPage))
  const found = status ? rows.filter((row) => status.includes(statusOf(row, issues.get(row.id) ?? new Map()))) : rows
  const workflows = found.filter(isOnPage).map((row) => toListedWorkflow(row, brand, issues.get(row.id) ?? new Map()))
  return { workflows, totalCount: found.length }
}

/** "Never" sorts before any time. */
const orders: Record<Static<typeof Order>, [column: RawBuilder<unknown>, nulls: Record<'ASC' | 'DESC', string>]> = {
  createdAt: [sql`created_at`, { ASC: '', DESC: '' }],
  updatedAt: [sql`updated_at`, { ASC: '', DESC: '' }],
  name: [sql`name COLLATE "C"`, { ASC: '', DESC: '' }],
  lastTriggeredAt: [sql`last_triggered_at`, { ASC: 'NULLS FIRST', DESC: 'NULLS LAST' }],
}

/** All matches, with only id, name and type of each step: workflows are few, but their steps can be large. */
async function listRows(
  db: Db,
  environmentId: string,
  filter: Pick<ListQuery, 'orderBy' | 'orderDirection' | 'query' | 'tags'>,
): Promise<ListedRow[]> {
  const { orderBy = 'createdAt', orderDirection = 'DESC', query, tags } = filter
  const [column, nulls] = orders[orderBy]
  const direction = sql.raw(orderDirection)
  const where = [
    sql`environment_id = ${environmentId}`,
    ...(query ? [sql`(${contains(sql`name`, query)} OR ${contains(sql`identifier`, query)})`] : []),
    ...(tags ? [sql`tags && ${tags}::text[]`] : []),
  ]
  const { rows } = await sql<ListedRow>`
    SELECT environment_id, id, identifier, name, origin, active, tags, version, is_translation_enabled, message_class,
           consent_category, tracking, brake,
           updated_by, last_published_at, last_published_by, last_triggered_at, created_at, updated_at,
           coalesce((
             SELECT jsonb_agg(jsonb_build_object('_id', step -> '_id', 'name', step -> 'name', 'type', step -> 'type') ORDER BY n)
             FROM jsonb_array_elements(steps) WITH ORDINALITY AS top (step, n)), '[]') AS steps,
           CASE WHEN steps @> '[{"type": "branch"}]' THEN
             ARRAY(SELECT a.step ->> 'type' FROM all_steps(steps) a ORDER BY a.place) END AS all_types
    FROM workflows
    WHERE ${allOf(where)}
    ORDER BY ${column} ${direction} ${sql.raw(nulls[orderDirection])}, id ${direction}
    LIMIT ${mostListed}`.execute(db)
  return rows
}

/** Reads whole rows only for versions that are not cached, a few at a time, and yields to other requests in between. */
async function issuesByRow(
  db: Db,
  around: Around,
  rows: readonly ListedRow[],
): Promise<Map<string, OfSteps<ControlIssues>>> {
  const found = new Map<string, OfSteps<ControlIssues>>()
  const unknown: ListedRow[] = []
  const environmentId = rows[0]?.environment_id ?? ''
  const isTranslated = rows.some(({ is_translation_enabled: isEnabled }) => isEnabled)
  const revisions = isTranslated ? await defaultTexts(db, environmentId) : new Map<string, DefaultTextsRow>()
  for (const row of rows) {
    const issues = rememberedIssues(row, around, revisions.get(row.id)?.revision)
    if (issues) found.set(row.id, issues)
    else unknown.push(row)
  }
  const atOnce = 10
  for (let i = 0; i < unknown.length; i += atOnce) {
    const some = unknown.slice(i, i + atOnce)
    const whole = (await db
      .selectFrom('workflows')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .where(
        'id',
        'in',
        some.map(({ id }) => id),
      )
      .execute()) as WorkflowRow[]
    const translated = whole.filter(({ is_translation_enabled: isEnabled }) => isEnabled).map(({ id }) => id)
    const texts = translated.length > 0 ? await defaultTexts(db, environmentId, translated) : undefined
    for (const row of whole) {
      await new Promise(setImmediate)
      found.set(row.id, issuesOfSteps(row, around, texts?.get(row.id)))
    }
  }
  return found
}
