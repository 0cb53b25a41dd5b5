// Stores layouts: the HTML around the content of an email. Each environment has a default.
import { type Selectable, sql } from 'kysely'
import { announce } from '../core/changes.ts'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import type { LayoutTable } from '../core/tables.ts'
import { isChanged } from '../core/upsert.ts'
import { refuseOwned } from './definition-files.ts'
import { continueHistory, noteDeleted } from './deleted-definitions.ts'
import { deleteTranslations } from './translations.ts'
import { keepTexts } from './version-texts.ts'
import { type Authorship, authorshipColumns, type VersionSource } from './versions.ts'

export type LayoutRow = Selectable<LayoutTable>
export type LayoutContent = NonNullable<LayoutRow['content']>

const paragraph = (...content: object[]) => ({
  type: 'paragraph',
  attrs: { textAlign: 'left', showIfKey: null },
  content,
})
const contentVariable = {
  type: 'variable',
  attrs: { id: 'content', label: null, fallback: null, required: false, aliasFor: null, showIfKey: null },
}

/** A new layout: only the content of the email. */
export const plainContent: LayoutContent = {
  email: {
    body: JSON.stringify({ type: 'doc', content: [paragraph(), paragraph(contentVariable), paragraph()] }),
    editorType: 'block',
  },
}

/** By identifier, else by internal id. */
export async function findLayout(
  db: Db | Tx,
  environmentId: string,
  { identifier, id }: { identifier: string; id?: string | undefined },
  lock: 'FOR UPDATE' | 'FOR KEY SHARE' | undefined = undefined,
): Promise<LayoutRow | undefined> {
  const { rows } = await sql<LayoutRow>`
    SELECT * FROM layouts
    WHERE environment_id = ${environmentId} AND (identifier = ${identifier} OR id = ${id ?? null})
    ORDER BY identifier = ${identifier} DESC LIMIT 1 ${sql.raw(lock ?? '')}`.execute(db)
  return rows[0]
}

/** The current row, locked until the transaction ends. */
export async function lockLayout(tx: Tx, environmentId: string, id: string): Promise<LayoutRow | undefined> {
  return tx
    .selectFrom('layouts')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/**
 * The layout of an email step with this `layoutId`: null means none, undefined the environment's default, if it has one.
 * Anything else is an identifier or an internal id, and may not exist.
 */
export async function layoutOfStep(
  db: Db | Tx,
  environmentId: string,
  layoutId: string | null | undefined,
): Promise<LayoutRow | 'none' | 'missing'> {
  if (layoutId === null) return 'none'
  if (layoutId !== undefined)
    return (await findLayout(db, environmentId, { identifier: layoutId, id: layoutId })) ?? 'missing'
  const row = await db
    .selectFrom('layouts')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('is_default', '=', true)
    .executeTakeFirst()
  return row ?? 'none'
}

/** What an email needs of its layout. */
export type StepLayout = Pick<
  LayoutRow,
  'id' | 'version' | 'identifier' | 'name' | 'is_translation_enabled' | 'content'
>

/**
 * The same for a step of this version of a workflow. Where a later version has replaced it, the layout is as it was until then: what
 * was pushed or published together with the later version is not for runs of the earlier one.
 */
export async function layoutOfVersion(
  db: Db | Tx,
  environmentId: string,
  layoutId: string | null | undefined,
  workflow: { id: string; version: number },
): Promise<StepLayout | 'none' | 'missing'> {
  if (layoutId === null) return 'none'
  const isMeant = layoutId === undefined ? sql`is_default` : sql`(identifier = ${layoutId} OR id = ${layoutId})`
  const columns = sql`l.id, l.version, l.identifier, l.name, l.is_translation_enabled, l.content`
  // One statement: what changes together is seen as a whole, or not at all.
  const { rows } = await sql<StepLayout>`
    WITH replaced AS (
      SELECT min(created_at) AS at FROM workflow_versions
      WHERE environment_id = ${environmentId} AND workflow_id = ${workflow.id} AND version > ${workflow.version}
    ), kept AS (
      SELECT DISTINCT ON (v.layout_id) v.definition FROM layout_versions v, replaced
      WHERE v.environment_id = ${environmentId} AND v.created_at < replaced.at
      ORDER BY v.layout_id, v.version DESC
    ), found AS (
      SELECT ${columns} FROM layouts l, replaced
      WHERE replaced.at IS NULL AND l.environment_id = ${environmentId} AND ${isMeant}
      UNION ALL
      SELECT ${columns} FROM kept CROSS JOIN LATERAL jsonb_populate_record(NULL::layouts, kept.definition) l
      WHERE ${isMeant}
    )
    SELECT * FROM found ORDER BY identifier = ${layoutId ?? ''} DESC, version DESC LIMIT 1`.execute(db)
  // Not in the history, which has a limit.
  return rows[0] ?? (await layoutOfStep(db, environmentId, layoutId))
}

/** The fields a caller may set; `saveLayouts` maintains the rest. */
export type LayoutFields = Pick<LayoutRow, 'identifier' | 'name' | 'is_default' | 'is_translation_enabled' | 'content'>

/** A layout's fields for `saveLayouts`: a change is `{ ...layoutFieldsOf(row), name }`. */
export const layoutFieldsOf = (row: LayoutRow): LayoutFields => ({
  identifier: row.identifier,
  name: row.name,
  is_default: row.is_default,
  is_translation_enabled: row.is_translation_enabled,
  content: row.content,
})

const comparedColumns = [
  'identifier',
  'name',
  'is_default',
  'is_translation_enabled',
  'content',
] as const satisfies ReadonlyArray<keyof LayoutFields>

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
 * Writes new layouts, or the next version of existing ones, with a copy of each version, and invalidates caches. A change that
 * changes nothing writes nothing. The caller has locked the rows of an update, and the environment for new ones.
 */
export async function saveLayouts(
  tx: Tx,
  { environmentId, userId, now, isPublished = false, isPushed = false, by }: Writing,
  layouts: Array<{ id: string; fields: LayoutFields; source?: VersionSource }>,
): Promise<LayoutRow[]> {
  if (layouts.length === 0) return []
  const made = layouts.map(({ id, fields: { identifier } }) => ({ id, identifier }))
  const earlier = await continueHistory(tx, environmentId, 'layout', made, now)
  // At no moment may two be the default.
  const ordered = [...layouts].sort((a, b) => Number(a.fields.is_default) - Number(b.fields.is_default))
  const rows = await tx
    .insertInto('layouts')
    .values(
      ordered.map(({ id, fields }) => ({
        ...fields,
        content: fields.content === null ? null : JSON.stringify(fields.content),
        environment_id: environmentId,
        id,
        version: (earlier.get(fields.identifier) ?? 0) + 1,
        updated_by: userId,
        created_at: now,
        updated_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['environment_id', 'id'])
        .doUpdateSet((update) => ({
          ...Object.fromEntries(
            [...comparedColumns, 'updated_by', 'updated_at'].map((column) => [column, sql.ref(`excluded.${column}`)]),
          ),
          version: sql`${update.ref('layouts.version')} + 1`,
        }))
        .where(isChanged('layouts', comparedColumns)),
    )
    .returningAll()
    .execute()
  const written = new Map(rows.map((row) => [row.id, row]))
  if (!isPublished && !isPushed)
    await refuseOwned(
      tx,
      environmentId,
      'layout',
      rows.map(({ identifier }) => identifier),
    )
  if (rows.length > 0) {
    const sources = new Map(layouts.map(({ id, source }) => [id, source]))
    const signed = (source: VersionSource | undefined) => (by && source ? { ...by, source } : by)
    await tx
      .insertInto('layout_versions')
      .values(
        rows.map((row) => ({
          environment_id: environmentId,
          layout_id: row.id,
          version: row.version,
          definition: JSON.stringify({ ...layoutFieldsOf(row), id: row.id, version: row.version }),
          created_at: now,
          ...authorshipColumns(signed(sources.get(row.id))),
        })),
      )
      .execute()
    await keepTexts(tx, environmentId, 'layout', [...written.keys()], { now })
    await announce(tx, 'layouts', environmentId)
  }
  const unchanged = await layoutRows(
    tx,
    environmentId,
    layouts.flatMap(({ id }) => (written.has(id) ? [] : id)),
  )
  return layouts.flatMap(({ id }) => written.get(id) ?? unchanged.get(id) ?? [])
}

async function layoutRows(tx: Tx, environmentId: string, ids: string[]): Promise<Map<string, LayoutRow>> {
  if (ids.length === 0) return new Map()
  const rows = await tx
    .selectFrom('layouts')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The same for one layout. */
export async function saveLayout(
  tx: Tx,
  { id, ...writing }: Writing & { id: string },
  fields: LayoutFields,
): Promise<LayoutRow> {
  const [row] = await saveLayouts(tx, writing, [{ id, fields }])
  if (!row) throw new Error('The layout written in this transaction is not there.')
  return row
}

interface NewLayout {
  environmentId: string
  identifier: string
  name: string
  isTranslationEnabled?: boolean
  content?: LayoutContent | null
  userId: string
  /** For the history. */
  by?: Authorship | undefined
}

/** The first layout of an environment is its default. The caller has locked or just created the environment. */
export async function insertLayout(tx: Tx, layout: NewLayout, now: Date): Promise<LayoutRow> {
  const { environmentId, identifier, name, isTranslationEnabled = false, content = plainContent, userId, by } = layout
  const standard = await tx
    .selectFrom('layouts')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('is_default', '=', true)
    .executeTakeFirst()
  return saveLayout(
    tx,
    { environmentId, userId, now, by, id: newId(now) },
    { identifier, name, is_default: !standard, is_translation_enabled: isTranslationEnabled, content },
  )
}

/** Deletes layouts with their texts; their history is kept for a while. The caller has made sure that no step uses them. */
export async function deleteLayouts(tx: Tx, environmentId: string, ids: string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  const deleted = await tx
    .deleteFrom('layouts')
    .where('environment_id', '=', environmentId)
    .where('id', 'in', ids)
    .returning(['id', 'identifier', 'version'])
    .execute()
  await noteDeleted(tx, environmentId, 'layout', deleted, now)
  const gone = deleted.map(({ id }) => ({ resourceType: 'layout' as const, resourceRowId: id }))
  await deleteTranslations(tx, environmentId, gone)
  await announce(tx, 'layouts', environmentId)
}
