// Translations of workflows and layouts. A resource has them while translation is turned on for it.
import { sql } from 'kysely'
import { announce } from '../core/changes.ts'
import type { Db, Tx } from '../core/database.ts'
import { sha256 } from '../core/secrets.ts'

export type TranslatedType = 'workflow' | 'layout'
const tables = { workflow: 'workflows', layout: 'layouts' } as const

/** Which workflow or layout, by its internal id. */
export interface Translated {
  environmentId: string
  resourceType: TranslatedType
  resourceRowId: string
}

export type TranslationContent = Record<string, unknown>

export interface NewTranslation {
  resourceType: TranslatedType
  resourceRowId: string
  locale: string
  content: TranslationContent
}

export interface TranslatableRow {
  id: string
  identifier: string
  name: string
  is_translation_enabled: boolean
}

/**
 * By identifier, else by internal id. With `lock` the resource can neither be deleted nor its translation turned off before the
 * transaction ends, so that no orphaned texts remain; and of two that write texts, one waits: each writes a version.
 */
export async function findTranslatable(
  db: Db | Tx,
  { environmentId, resourceType }: Pick<Translated, 'environmentId' | 'resourceType'>,
  { identifier, id }: { identifier: string; id?: string | undefined },
  lock: 'lock' | undefined = undefined,
): Promise<TranslatableRow | undefined> {
  const { rows } = await sql<TranslatableRow>`
    SELECT id, identifier, name, is_translation_enabled FROM ${sql.table(tables[resourceType])}
    WHERE environment_id = ${environmentId} AND (identifier = ${identifier} OR id = ${id ?? null})
    ORDER BY identifier = ${identifier} DESC LIMIT 1 ${lock ? sql`FOR NO KEY UPDATE` : sql``}`.execute(db)
  return rows[0]
}

/** The existing resources with translation on, of these identifiers, locked as above. */
export async function lockTranslatables(
  tx: Tx,
  { environmentId, resourceType }: Pick<Translated, 'environmentId' | 'resourceType'>,
  identifiers: string[],
): Promise<Array<Pick<TranslatableRow, 'id' | 'identifier'>>> {
  const { rows } = await sql<Pick<TranslatableRow, 'id' | 'identifier'>>`
    SELECT id, identifier FROM ${sql.table(tables[resourceType])}
    WHERE environment_id = ${environmentId} AND identifier = ANY (${identifiers}::text[]) AND is_translation_enabled
    ORDER BY id FOR NO KEY UPDATE`.execute(tx)
  return rows
}

/** Part of turning translation on: the resource starts with no texts in the default locale. */
export async function enableTranslations(tx: Tx, translated: Translated, now: Date): Promise<void> {
  await enableAllTranslations(tx, translated.environmentId, [translated], now)
}

/** The same for any number of resources, in one statement. */
export async function enableAllTranslations(
  tx: Tx,
  environmentId: string,
  resources: Array<Omit<Translated, 'environmentId'>>,
  now: Date,
): Promise<void> {
  if (resources.length === 0) return
  await sql`
    INSERT INTO translations
      (environment_id, resource_type, resource_row_id, locale, content, key_hash, created_at, updated_at)
    SELECT e.id, given.type, given.id, o.default_locale, '{}', ${keyHashOf({})}, ${now}, ${now}
    FROM environments e JOIN organizations o ON o.id = e.organization_id
    CROSS JOIN unnest(${resources.map(({ resourceType }) => resourceType)}::text[],
                      ${resources.map(({ resourceRowId }) => resourceRowId)}::text[]) AS given (type, id)
    WHERE e.id = ${environmentId}
    ON CONFLICT DO NOTHING`.execute(tx)
}

/** Texts in single locales. Those of the default locale become empty, since a translated resource has one. */
export async function removeTexts(
  tx: Tx,
  environmentId: string,
  texts: Array<Omit<NewTranslation, 'content'>>,
  now: Date,
): Promise<void> {
  if (texts.length === 0) return
  const column = (of: keyof Omit<NewTranslation, 'content'>) => sql`${texts.map((text) => text[of])}::text[]`
  const given = sql`unnest(${column('resourceType')}, ${column('resourceRowId')}, ${column('locale')}) AS gone (type, id, locale)`
  const standard = sql`(SELECT o.default_locale FROM environments e JOIN organizations o ON o.id = e.organization_id
    WHERE e.id = ${environmentId})`
  const isGone = sql`t.environment_id = ${environmentId} AND t.resource_type = gone.type
    AND t.resource_row_id = gone.id AND t.locale = gone.locale`
  await sql`DELETE FROM translations t USING ${given} WHERE ${isGone} AND t.locale <> ${standard}`.execute(tx)
  await sql`
    UPDATE translations t SET content = '{}', key_hash = ${keyHashOf({})}, updated_at = ${now}
    FROM ${given} WHERE ${isGone} AND t.locale = ${standard} AND t.content::text <> '{}'`.execute(tx)
  for (const resourceType of new Set(texts.map((text) => text.resourceType)))
    await announceTranslations(tx, resourceType, environmentId)
}

/** Part of turning translation off, and of deleting the resource: deletes all its texts. */
export async function disableTranslations(tx: Tx, translated: Translated): Promise<void> {
  await tx
    .deleteFrom('translations')
    .where('environment_id', '=', translated.environmentId)
    .where('resource_type', '=', translated.resourceType)
    .where('resource_row_id', '=', translated.resourceRowId)
    .execute()
}

/** Replaces the texts of `to` with those of `from`, with their times, which show what is outdated. */
export async function copyTranslations(tx: Tx, from: Translated, to: Translated): Promise<void> {
  const copy = { resourceType: to.resourceType, from: from.resourceRowId, to: to.resourceRowId }
  await copyAllTranslations(tx, { from: from.environmentId, to: to.environmentId }, [copy])
}

/** The same for any number of resources, in as many statements as for one. */
export async function copyAllTranslations(
  tx: Tx,
  environment: { from: string; to: string },
  copies: Array<{ resourceType: TranslatedType; from: string; to: string }>,
): Promise<void> {
  const gone = copies.map(({ resourceType, to }) => ({ resourceType, resourceRowId: to }))
  await deleteTranslations(tx, environment.to, gone)
  const column = (of: 'resourceType' | 'from' | 'to') => sql`${copies.map((copy) => copy[of])}::text[]`
  await sql`
    INSERT INTO translations
      (environment_id, resource_type, resource_row_id, locale, content, key_hash, created_at, updated_at)
    SELECT ${environment.to}, t.resource_type, copy.to_id, t.locale, t.content, t.key_hash, t.created_at, t.updated_at
    FROM unnest(${column('resourceType')}, ${column('from')}, ${column('to')}) AS copy (type, from_id, to_id)
      JOIN translations t ON t.environment_id = ${environment.from} AND t.resource_type = copy.type
        AND t.resource_row_id = copy.from_id`.execute(tx)
}

/** All texts of these resources of one environment. */
export async function deleteTranslations(
  tx: Tx,
  environmentId: string,
  resources: Array<Omit<Translated, 'environmentId'>>,
): Promise<void> {
  await sql`
    DELETE FROM translations t
    USING unnest(${resources.map(({ resourceType }) => resourceType)}::text[],
                 ${resources.map(({ resourceRowId }) => resourceRowId)}::text[]) AS gone (type, id)
    WHERE t.environment_id = ${environmentId} AND t.resource_type = gone.type
      AND t.resource_row_id = gone.id`.execute(tx)
}

/**
 * Writes texts of resources the caller has locked. A locale's texts are replaced as a whole. Writing the default locale
 * unchanged keeps its time, so that the other locales do not become outdated.
 */
export async function writeTranslations(
  tx: Tx,
  environmentId: string,
  texts: NewTranslation[],
  now: Date,
): Promise<Array<{ locale: string; created_at: Date; updated_at: Date }>> {
  const column = (of: (text: NewTranslation) => string) => sql`${texts.map(of)}::text[]`
  const { rows } = await sql<{ locale: string; created_at: Date; updated_at: Date }>`
    INSERT INTO translations AS t
      (environment_id, resource_type, resource_row_id, locale, content, key_hash, created_at, updated_at)
    SELECT ${environmentId}, given.type, given.id, given.locale, given.content::json, given.key_hash, ${now}, ${now}
    FROM unnest(${column((text) => text.resourceType)}, ${column((text) => text.resourceRowId)},
                ${column((text) => text.locale)}, ${column((text) => JSON.stringify(text.content))},
                ${column((text) => keyHashOf(text.content))}) AS given (type, id, locale, content, key_hash)
    ORDER BY given.type, given.id, given.locale
    ON CONFLICT (environment_id, resource_type, resource_row_id, locale) DO UPDATE
      SET content = excluded.content, key_hash = excluded.key_hash,
          updated_at = CASE WHEN t.content::text = excluded.content::text AND t.locale = (
            SELECT o.default_locale FROM environments e JOIN organizations o ON o.id = e.organization_id
            WHERE e.id = t.environment_id) THEN t.updated_at ELSE excluded.updated_at END
    RETURNING locale, created_at, updated_at`.execute(tx)
  for (const resourceType of new Set(texts.map((text) => text.resourceType)))
    await announceTranslations(tx, resourceType, environmentId)
  return rows
}

/** Caches hold workflows and layouts with their texts. */
export const announceTranslations = (tx: Tx, resourceType: TranslatedType, environmentId: string) =>
  announce(tx, tables[resourceType], environmentId)

/**
 * The texts for one recipient: in the default locale and, if there are any, in theirs. None if translation is off.
 * @param version of the workflow or layout, if not the current one. Where a later one has replaced it, its own texts are loaded; the
 * versions of earlier releases have none
 */
export async function loadTranslations(
  db: Db | Tx,
  { environmentId, resourceType, resourceRowId, version }: Translated & { version?: number },
  recipientLocale: string | null | undefined,
): Promise<{ defaultLocale: string; locales: Record<string, TranslationContent> }> {
  const wanted = (recipientLocale ?? '').replaceAll('-', '_').toLowerCase()
  // One statement, so that a push is seen as a whole or not at all.
  const { rows } = await sql<{ default_locale: string; locale: string | null; content: TranslationContent }>`
    SELECT o.default_locale, t.locale, t.content
    FROM environments e JOIN organizations o ON o.id = e.organization_id
      LEFT JOIN ${sql.table(tables[resourceType])} r ON r.environment_id = e.id AND r.id = ${resourceRowId}
      LEFT JOIN ${sql.table(`${resourceType}_versions`)} v
        ON v.environment_id = e.id AND ${sql.ref(`v.${resourceType}_id`)} = ${resourceRowId} AND v.version = ${version ?? null}::int
        AND v.version IS DISTINCT FROM r.version
      LEFT JOIN LATERAL (
        SELECT s.locale, s.content FROM translations s
        WHERE v.translations IS NULL AND s.environment_id = e.id AND s.resource_type = ${resourceType}
          AND s.resource_row_id = ${resourceRowId}
        UNION ALL
        SELECT kept.key, kept.value FROM json_each(v.translations) AS kept
      ) t ON t.locale = o.default_locale OR lower(t.locale) = ${wanted}
    WHERE e.id = ${environmentId}`.execute(db)
  return {
    defaultLocale: rows[0]?.default_locale ?? '',
    locales: Object.fromEntries(rows.flatMap(({ locale, content }) => (locale === null ? [] : [[locale, content]]))),
  }
}

export interface DefaultTextsRow {
  id: string
  revision: string
  defaultLocale: string
  content: TranslationContent
}

/**
 * The texts of workflows in the default locale. Every key falls back to them, so that they decide whether it has a text.
 * @param ids of which workflows; without it those of all, and without their texts
 */
export async function defaultTexts(
  db: Db | Tx,
  environmentId: string,
  ids?: readonly string[],
): Promise<Map<string, DefaultTextsRow>> {
  const { rows } = await sql<DefaultTextsRow>`
    SELECT t.resource_row_id AS id, o.default_locale AS "defaultLocale",
           concat_ws('/', o.default_locale, t.key_hash, extract(epoch FROM t.updated_at)) AS revision,
           ${ids ? sql`t.content` : sql`NULL`} AS content
    FROM environments e JOIN organizations o ON o.id = e.organization_id
      JOIN translations t ON t.environment_id = e.id AND t.resource_type = 'workflow' AND t.locale = o.default_locale
    WHERE e.id = ${environmentId} ${ids ? sql`AND t.resource_row_id = ANY (${ids}::text[])` : sql``}`.execute(db)
  return new Map(rows.map((row) => [row.id, row]))
}

/** Equal for equal keys, in any order, nested or dotted. */
export function keyHashOf(content: TranslationContent): string {
  const keys: string[] = []
  const collect = (members: TranslationContent, prefix: string) => {
    for (const [name, value] of Object.entries(members)) {
      if (typeof value === 'object' && value !== null) collect(value as TranslationContent, `${prefix}${name}.`)
      else if (value !== null) keys.push(prefix + name)
    }
  }
  collect(content, '')
  return sha256(JSON.stringify([...new Set(keys)].sort()))
}
