// Stores workflows: one row with its steps, and a copy of the whole definition for every version.
import { type Selectable, sql } from 'kysely'
import { fail } from '../../errors.ts'
import { announce } from '../core/changes.ts'
import type { Db, Tx } from '../core/database.ts'
import type { WorkflowTable } from '../core/tables.ts'
import { isChanged } from '../core/upsert.ts'
import { refuseOwned, refuseOwnedTexts } from './definition-files.ts'
import { continueHistory, noteDeleted } from './deleted-definitions.ts'
import { keepTexts } from './version-texts.ts'
import { type Authorship, authorshipColumns, type VersionSource } from './versions.ts'
import { type EventType, type NewEvent, tell, wantedTypes } from './webhook-events.ts'

/** A stored step. `_id` and `stepId` never change; `controlSchema` is set if code declared it. */
export interface WorkflowStep {
  _id: string
  stepId: string
  name: string
  type: string
  controlValues: Record<string, unknown> | null
  controlSchema?: Record<string, unknown>
  /** Runs skip an inactive step. Default: active. */
  active?: boolean
  /** Whether its failure ends the run. */
  shouldStopOnFail?: boolean
  /** What to do if a crash or timeout leaves open whether a message arrived. Default: the integration's choice. */
  onUnknown?: OnUnknown
  /** Where replies to its emails go. */
  replyCallback?: { active?: boolean; url?: string }
  /** Conditions in the older form: the step runs if one of them passes. */
  filters?: object[]
  /** Alternative values; the first whose filters pass replaces the step's own. */
  variants?: StepVariant[]
}

/** Send again, or rather miss one than send twice. */
export type OnUnknown = 'retry' | 'hold'
export const onUnknownChoices = ['retry', 'hold'] as const satisfies readonly OnUnknown[]

export interface StepVariant {
  _id: string
  name?: string
  active?: boolean
  filters: object[]
  controlValues: Record<string, unknown> | null
}

type Switch = 'active' | 'shouldStopOnFail' | 'onUnknown' | 'replyCallback' | 'filters' | 'variants'
type Switches = { [name in Switch]?: WorkflowStep[name] | undefined }

/** A step's options besides its values; only those that are set. */
export const switchesOf = ({ active, shouldStopOnFail, onUnknown, replyCallback, filters, variants }: Switches) => ({
  ...(active === undefined ? {} : { active }),
  ...(shouldStopOnFail === undefined ? {} : { shouldStopOnFail }),
  ...(onUnknown === undefined ? {} : { onUnknown }),
  ...(replyCallback === undefined ? {} : { replyCallback }),
  ...(filters === undefined ? {} : { filters }),
  ...(variants === undefined ? {} : { variants }),
})

export type WorkflowRow = Omit<Selectable<WorkflowTable>, 'steps'> & { steps: WorkflowStep[] }

/** The fields a caller may set; `saveWorkflow` maintains the rest. */
export type WorkflowFields = Pick<
  WorkflowRow,
  | 'name'
  | 'identifier'
  | 'description'
  | 'origin'
  | 'active'
  | 'critical'
  | 'severity'
  | 'tags'
  | 'data'
  | 'steps'
  | 'payload_schema'
  | 'validate_payload'
  | 'is_translation_enabled'
  | 'preferences'
  | 'user_preferences'
> &
  Partial<Pick<WorkflowRow, 'message_class' | 'consent_category' | 'tracking' | 'journey'>>

/** By identifier, else by internal id. */
export async function findWorkflow(
  db: Db | Tx,
  environmentId: string,
  identifier: string,
  id: string = identifier,
): Promise<WorkflowRow | undefined> {
  const rows = await db
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where((where) => where.or([where('identifier', '=', identifier), where('id', '=', id)]))
    .execute()
  return (rows.find((row) => row.identifier === identifier) ?? rows[0]) as WorkflowRow | undefined
}

/** The current row, locked until the transaction ends. */
export async function lockWorkflow(tx: Tx, environmentId: string, id: string): Promise<WorkflowRow | undefined> {
  const row = await tx
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row as WorkflowRow | undefined
}

/** A workflow's fields for `saveWorkflow`: a change is `{ ...fieldsOf(row), name }`. */
export const fieldsOf = (row: WorkflowRow): WorkflowFields => ({
  name: row.name,
  identifier: row.identifier,
  description: row.description,
  origin: row.origin,
  active: row.active,
  critical: row.critical,
  message_class: row.message_class,
  consent_category: row.consent_category,
  tracking: row.tracking,
  severity: row.severity,
  tags: row.tags,
  data: row.data,
  steps: row.steps,
  payload_schema: row.payload_schema,
  validate_payload: row.validate_payload,
  is_translation_enabled: row.is_translation_enabled,
  preferences: row.preferences,
  user_preferences: row.user_preferences,
  journey: row.journey,
})

/** Author, environment and time of a write. */
interface Writing {
  environmentId: string
  userId: string
  now: Date
  /** Published from another environment. */
  isPublished?: boolean
  /** Pushed from files: they may change what they own. */
  isPushed?: boolean
  /** For the history. */
  by?: Authorship | undefined
}

/**
 * Writes a new workflow, or the next version of one, with the copy that running notifications use, and invalidates caches. A
 * change that changes nothing writes nothing. For an update the caller must have locked the row (`FOR UPDATE`).
 */
export async function saveWorkflow(
  tx: Tx,
  { id, ...writing }: Writing & { id: string },
  fields: WorkflowFields,
): Promise<WorkflowRow> {
  const [row] = await saveWorkflows(tx, writing, [{ id, fields }])
  if (!row) throw new Error('The workflow written in this transaction is not there.')
  return row
}

/** People can always refuse what is commercial, so it cannot be critical. */
export const isRefusable = ({ critical, message_class }: WorkflowFields): boolean =>
  !critical || message_class !== 'commercial'

/** The same for any number of workflows of one environment, in as many statements as for one. */
export async function saveWorkflows(
  tx: Tx,
  { environmentId, userId, now, isPublished = false, isPushed = false, by }: Writing,
  workflows: Array<{ id: string; fields: WorkflowFields; source?: VersionSource }>,
): Promise<WorkflowRow[]> {
  if (workflows.length === 0) return []
  if (!workflows.every(({ fields }) => isRefusable(fields))) throw fail('commercial_critical')
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value))
  const made = workflows.map(({ id, fields: { identifier } }) => ({ id, identifier }))
  const earlier = await continueHistory(tx, environmentId, 'workflow', made, now)
  const rows = (await tx
    .insertInto('workflows')
    .values(
      workflows.map(({ id, fields }) => ({
        ...fields,
        steps: JSON.stringify(fields.steps),
        payload_schema: json(fields.payload_schema),
        preferences: JSON.stringify(fields.preferences),
        user_preferences: json(fields.user_preferences),
        journey: json(fields.journey ?? null),
        tracking: json(fields.tracking ?? null),
        data: json(fields.data),
        environment_id: environmentId,
        id,
        version: (earlier.get(fields.identifier) ?? 0) + 1,
        created_by: userId,
        updated_by: userId,
        created_at: now,
        updated_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['environment_id', 'id'])
        .doUpdateSet((update) => ({
          ...Object.fromEntries(writtenColumns.map((column) => [column, update.ref(`excluded.${column}`)])),
          version: sql`workflows.version + 1`,
        }))
        .where(isChanged('workflows', comparedColumns)),
    )
    .returningAll()
    .execute()) as WorkflowRow[]
  const written = new Map(rows.map((row) => [row.id, row]))
  const saved = workflows.flatMap(({ id }) => written.get(id) ?? [])
  if (!isPublished && !isPushed) await refuseOwned(tx, environmentId, 'workflow', identifiersOf(saved))
  if (saved.length > 0) {
    const sources = new Map(workflows.map(({ id, source }) => [id, source]))
    const isNew = ({ identifier, version }: WorkflowRow) => version === (earlier.get(identifier) ?? 0) + 1
    const versions = saved.map((row) => ({ row, isNew: isNew(row), source: sources.get(row.id) }))
    await keepVersions(tx, { environmentId, isPublished, now, by }, versions)
  }
  const unchanged = await rowsOf(
    tx,
    environmentId,
    workflows.flatMap(({ id }) => (written.has(id) ? [] : id)),
  )
  return workflows.flatMap(({ id }) => written.get(id) ?? unchanged.get(id) ?? [])
}

async function rowsOf(tx: Tx, environmentId: string, ids: string[]): Promise<Map<string, WorkflowRow>> {
  if (ids.length === 0) return new Map()
  const rows = (await tx
    .selectFrom('workflows')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .execute()) as WorkflowRow[]
  return new Map(rows.map((row) => [row.id, row]))
}

async function keepVersions(
  tx: Tx,
  { environmentId, isPublished, now, by }: Omit<Writing, 'userId'>,
  saved: SavedWorkflow[],
): Promise<void> {
  await tx
    .insertInto('workflow_versions')
    .values(
      saved.map(({ row, source }) => ({
        environment_id: environmentId,
        workflow_id: row.id,
        version: row.version,
        definition: JSON.stringify({ ...fieldsOf(row), id: row.id, version: row.version }),
        payload_schema: row.payload_schema === null ? null : JSON.stringify(row.payload_schema),
        created_at: now,
        ...authorshipColumns(by && source ? { ...by, source } : by),
      })),
    )
    .execute()
  const ids = saved.map(({ row }) => row.id)
  await keepTexts(tx, environmentId, 'workflow', ids, { now })
  await tellOfWorkflows(tx, environmentId, saved, isPublished ? ['saved', 'published'] : ['saved'], now)
  await announce(tx, 'workflows', environmentId)
}

interface SavedWorkflow {
  row: WorkflowRow
  isNew: boolean
  /** If it comes from elsewhere than the others. */
  source?: VersionSource | undefined
}

type Happening = 'saved' | 'published' | 'deleted'

/** An update's event includes the previous definition, from the last version. */
async function tellOfWorkflows(
  tx: Tx,
  environmentId: string,
  of: Array<Pick<SavedWorkflow, 'row' | 'isNew'>>,
  happenings: Happening[],
  now: Date,
): Promise<void> {
  const wanted = await wantedTypes(tx, environmentId)
  if (wanted.size === 0) return
  const rows = of.map(({ row }) => row)
  const before = wanted.has('workflow.updated') ? await versionsBefore(tx, environmentId, rows) : new Map()
  const events = of.flatMap(({ row, isNew }) =>
    happenings.map((happening): NewEvent => {
      const saved = isNew ? 'workflow.created' : 'workflow.updated'
      const type: EventType = happening === 'saved' ? saved : `workflow.${happening}`
      const previous = type === 'workflow.updated' ? before.get(row.id) : undefined
      return { type, object: row, ...(previous ? { previous } : {}) }
    }),
  )
  await tell(
    tx,
    environmentId,
    events.filter(({ type }) => wanted.has(type)),
    now,
  )
}

async function versionsBefore(tx: Tx, environmentId: string, rows: WorkflowRow[]): Promise<Map<string, object>> {
  const { rows: versions } = await sql<{ workflow_id: string; definition: object }>`
    SELECT v.workflow_id, v.definition
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ version }) => version - 1)}::int[]) AS g (id, version)
    JOIN workflow_versions v ON v.environment_id = ${environmentId} AND v.workflow_id = g.id AND v.version = g.version`.execute(
    tx,
  )
  return new Map(versions.map(({ workflow_id, definition }) => [workflow_id, definition]))
}

/** The columns that a caller sets. */
const comparedColumns = [
  'name',
  'identifier',
  'description',
  'origin',
  'active',
  'critical',
  'message_class',
  'consent_category',
  'tracking',
  'severity',
  'tags',
  'data',
  'steps',
  'payload_schema',
  'validate_payload',
  'is_translation_enabled',
  'preferences',
  'user_preferences',
  'journey',
] as const satisfies ReadonlyArray<keyof WorkflowFields>
/** The columns that every write replaces. */
const writtenColumns = [...comparedColumns, 'updated_by', 'updated_at'] as const

const identifiersOf = (rows: WorkflowRow[]) => rows.map(({ identifier }) => identifier)

export async function deleteWorkflow(tx: Tx, environmentId: string, id: string, now: Date): Promise<boolean> {
  return (await deleteWorkflows(tx, environmentId, [id], now)) > 0
}

/** Deletes workflows with their dependent rows. Versions stay: running notifications need theirs, and history is kept for a while. */
export async function deleteWorkflows(
  tx: Tx,
  environmentId: string,
  ids: string[],
  now: Date,
  { isPublished = false, isPushed = false }: Pick<Writing, 'isPublished' | 'isPushed'> = {},
): Promise<number> {
  if (ids.length === 0) return 0
  const deleted = (await tx
    .deleteFrom('workflows')
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .returningAll()
    .execute()) as WorkflowRow[]
  if (deleted.length === 0) return 0
  if (!isPublished && !isPushed) {
    await refuseOwned(tx, environmentId, 'workflow', identifiersOf(deleted))
    await refuseOwnedTexts(tx, environmentId, 'workflow', ids)
  }
  // Code declares others, and would have to declare them again.
  const kept = deleted.filter(({ origin }) => origin !== 'external')
  await noteDeleted(tx, environmentId, 'workflow', kept, now)
  const gone = deleted.map((row) => ({ row, isNew: false }))
  await tellOfWorkflows(tx, environmentId, gone, ['deleted'], now)
  await tx
    .deleteFrom('subscriber_preferences')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', 'in', ids)
    .execute()
  await tx
    .deleteFrom('subscription_preferences')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', 'in', ids)
    .execute()
  await tx
    .deleteFrom('translations')
    .where('environment_id', '=', environmentId)
    .where('resource_type', '=', 'workflow')
    .where('resource_row_id', 'in', ids)
    .execute()
  await tx
    .deleteFrom('brake_marks')
    .where('environment_id', '=', environmentId)
    .where('workflow_id', 'in', ids)
    .execute()
  await announce(tx, 'workflows', environmentId)
  return deleted.length
}
