// Stores layouts: the HTML around the content of an email. Each environment has a default.
import { type Selectable, sql } from 'kysely'
import { announce } from '../core/changes.ts'
import type { Db, Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import type { LayoutTable } from '../core/tables.ts'

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
const plainContent: LayoutContent = {
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

interface NewLayout {
  environmentId: string
  identifier: string
  name: string
  isTranslationEnabled?: boolean
  content?: LayoutContent | null
  userId: string
}

/** The first layout of an environment is its default. The caller has locked or just created the environment. */
export async function insertLayout(tx: Tx, layout: NewLayout, now: Date): Promise<LayoutRow> {
  const { environmentId, identifier, name, isTranslationEnabled = false, content = plainContent, userId } = layout
  const row = await tx
    .insertInto('layouts')
    .values({
      environment_id: environmentId,
      id: newId(now),
      identifier,
      name,
      is_default: sql<boolean>`NOT EXISTS (SELECT FROM layouts WHERE environment_id = ${environmentId} AND is_default)`,
      is_translation_enabled: isTranslationEnabled,
      content: content === null ? null : JSON.stringify(content),
      updated_by: userId,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await announce(tx, 'layouts', environmentId)
  return row
}
