// Translations: the texts of a workflow or layout per locale, and the group they form.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { allOf, contains } from '../../db/core/page.ts'
import { refuseOwned, refuseOwnedTexts } from '../../db/queries/definition-files.ts'
import { layoutFieldsOf, lockLayout, saveLayout } from '../../db/queries/layouts.ts'
import {
  announceTranslations,
  disableTranslations,
  findTranslatable,
  type NewTranslation,
  type TranslatableRow,
  type TranslatedType,
  writeTranslations,
} from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import { fieldsOf, saveWorkflow, type WorkflowRow } from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { authorOf } from '../edge/authorship.ts'
import { Locale, localeText, supportedLocale } from '../edge/locales.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, FreeObject, Identifier, Timestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'

/** Bytes of text per resource and locale; also the limit of an uploaded file. */
export const largestContent = 1024 * 1024

export const ResourceType = Enum(['workflow', 'layout'])
export const ResourceId = Identifier({ description: 'Identifier, slug or internal id of the workflow or layout' })

const Translation = Type.Object({
  resourceId: Type.String(),
  resourceType: ResourceType,
  locale: Type.String(),
  content: FreeObject,
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const Group = Type.Object({
  resourceId: Type.String(),
  resourceType: ResourceType,
  resourceName: Type.String(),
  locales: Type.Array(Type.String()),
  outdatedLocales: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Target locales whose keys differ from the default locale, or that are older; absent when there are none',
    }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

const ResourceParams = Type.Object({ resourceType: ResourceType, resourceId: Type.String() })
const LocaleParams = Type.Object({ ...ResourceParams.properties, locale: Type.String() })

export const translations: Resource = (app, { db }) => {
  const tags = ['Translations']

  app.post(
    '/v2/translations',
    {
      bodyLimit: largestContent,
      schema: {
        tags,
        summary: 'Replace the texts of a workflow or layout in one locale',
        body: Body({ resourceId: ResourceId, resourceType: ResourceType, locale: Locale, content: FreeObject }),
        response: { 200: Translation },
      },
    },
    async (request) => {
      const { resourceType, content } = request.body
      const locale = supportedLocale(request.body.locale) ?? request.body.locale
      return db.transaction().execute(async (tx) => {
        const resource = await readTranslated(tx, request.environment, request.body, 'lock')
        const text = { resourceType, resourceRowId: resource.id, locale, content }
        const [row] = await writeTranslations(tx, request.environment.id, [text], request.now())
        await keepChangedTexts(tx, request, [text])
        if (!row) throw new Error('The translation written in this transaction cannot be read back.')
        return toTranslation(resourceType, resource, { ...row, content })
      })
    },
  )

  app.get(
    '/v2/translations/list',
    {
      schema: {
        tags,
        summary: 'List translated workflows and layouts, last changed first',
        querystring: Type.Object({
          query: Type.Optional(Type.String({ description: 'Part of the name or identifier, case-insensitive' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
          offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
        }),
        response: {
          200: Type.Object({
            data: Type.Array(Group),
            total: Type.Integer(),
            limit: Type.Integer(),
            offset: Type.Integer(),
          }),
        },
      },
    },
    async (request) => {
      const { query, limit = 50, offset = 0 } = request.query
      const where = query ? sql`(${contains(sql`r.name`, query)} OR ${contains(sql`r.identifier`, query)})` : sql`true`
      const rows = await readGroups(db, request.environment, where)
      return { data: rows.slice(offset, offset + limit).map(toGroup), total: rows.length, limit, offset }
    },
  )

  app.get(
    '/v2/translations/group/:resourceType/:resourceId',
    {
      schema: {
        tags,
        summary: 'Retrieve the locales of a workflow or layout',
        params: ResourceParams,
        response: { 200: Group },
      },
    },
    async (request) => {
      const { id } = await readTranslated(db, request.environment, request.params)
      const [row] = await readGroups(
        db,
        request.environment,
        allOf([sql`r.type = ${request.params.resourceType}`, sql`r.id = ${id}`]),
      )
      if (!row) throw fail('translations_disabled', request.params)
      return toGroup(row)
    },
  )

  app.get(
    '/v2/translations/:resourceType/:resourceId/:locale',
    {
      schema: {
        tags,
        summary: 'Retrieve the texts of a workflow or layout in one locale',
        params: LocaleParams,
        response: { 200: Translation },
      },
    },
    async (request) => {
      const locale = localeInPath(request.params.locale)
      const { resourceType } = request.params
      const resource = await readTranslated(db, request.environment, request.params)
      const row = await db
        .selectFrom('translations')
        .select(['locale', 'content', 'created_at', 'updated_at'])
        .where('environment_id', '=', request.environment.id)
        .where('resource_type', '=', resourceType)
        .where('resource_row_id', '=', resource.id)
        .where('locale', '=', locale)
        .executeTakeFirst()
      if (!row) throw fail('translation_not_found', { resourceType, resourceId: resource.identifier, locale })
      return toTranslation(resourceType, resource, row)
    },
  )

  app.delete(
    '/v2/translations/:resourceType/:resourceId/:locale',
    {
      schema: {
        tags,
        summary: 'Delete the texts of a workflow or layout in one locale',
        params: LocaleParams,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const locale = localeInPath(request.params.locale)
      const { resourceType } = request.params
      await db.transaction().execute(async (tx) => {
        const resource = await readTranslated(tx, request.environment, request.params, 'lock')
        const { numDeletedRows } = await tx
          .deleteFrom('translations')
          .where('environment_id', '=', request.environment.id)
          .where('resource_type', '=', resourceType)
          .where('resource_row_id', '=', resource.id)
          .where('locale', '=', locale)
          .executeTakeFirst()
        if (numDeletedRows === 0n)
          throw fail('translation_not_found', { resourceType, resourceId: resource.identifier, locale })
        await announceTranslations(tx, resourceType, request.environment.id)
        await keepChangedTexts(tx, request, [{ resourceType, resourceRowId: resource.id, locale }])
      })
      return reply.code(204).send(null)
    },
  )

  app.delete(
    '/v2/translations/:resourceType/:resourceId',
    {
      schema: {
        tags,
        summary: 'Delete the texts of a workflow or layout in all locales and turn its translation off',
        params: ResourceParams,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { resourceType } = request.params
      await db.transaction().execute(async (tx) => {
        const { id } = await readTranslated(tx, request.environment, request.params)
        await switchOff(tx, request, { resourceType, resourceRowId: id }, request.now())
      })
      return reply.code(204).send(null)
    },
  )
}

/** Names a resource in a body, a form or a path. */
interface Named {
  resourceType: TranslatedType
  resourceId: string
}

/** Throws unless the resource exists and its translation is on. */
export async function readTranslated(
  db: Db | Tx,
  { id: environmentId }: Environment,
  { resourceType, resourceId }: Named,
  lock?: 'lock',
): Promise<TranslatableRow> {
  const names = { identifier: resourceId, id: idIn(resourceId, resourceType === 'workflow' ? 'wf' : 'lt') }
  const row = await findTranslatable(db, { environmentId, resourceType }, names, lock)
  if (!row) throw fail('translated_resource_not_found', { resourceType, resourceId })
  if (!row.is_translation_enabled) throw fail('translations_disabled', { resourceType, resourceId: row.identifier })
  return row
}

export function localeInPath(text: string): string {
  const locale = supportedLocale(text)
  if (locale === undefined) throw fail('bad_request', { reason: `locale ${localeText}` })
  return locale
}

function toTranslation(
  resourceType: TranslatedType,
  { identifier }: TranslatableRow,
  row: { locale: string; content: Record<string, unknown>; created_at: Date; updated_at: Date },
): Static<typeof Translation> {
  return {
    resourceId: identifier,
    resourceType,
    locale: row.locale,
    content: row.content,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

interface GroupRow {
  type: TranslatedType
  identifier: string
  name: string
  created_at: Date
  updated_at: Date
  default_locale: string
  target_locales: string[]
  texts: Array<{ locale: string; isBehind: boolean }>
}

/** As many as an environment can have: 1,000 workflows and 1,000 layouts. */
const mostGroups = 2_000

/** Does not read the texts: the hash of their keys and their age tell which are behind the default locale. */
async function readGroups(
  db: Db,
  { id: environmentId, organizationId }: Environment,
  where: ReturnType<typeof allOf>,
): Promise<GroupRow[]> {
  const columns = sql`id, identifier, name, created_at, updated_at`
  const enabled = sql`environment_id = ${environmentId} AND is_translation_enabled`
  const { rows } = await sql<GroupRow>`
    SELECT r.type, r.identifier, r.name, o.default_locale, o.target_locales,
      coalesce(min(t.created_at), r.created_at) AS created_at, coalesce(max(t.updated_at), r.updated_at) AS updated_at,
      coalesce(json_agg(json_build_object('locale', t.locale, 'isBehind', coalesce(
          d.key_hash <> t.key_hash OR d.updated_at > t.updated_at, false))
        ORDER BY t.locale) FILTER (WHERE t.locale IS NOT NULL), '[]') AS texts
    FROM (SELECT 'workflow' AS type, ${columns} FROM workflows WHERE ${enabled}
          UNION ALL SELECT 'layout', ${columns} FROM layouts WHERE ${enabled}) r
      JOIN organizations o ON o.id = ${organizationId}
      LEFT JOIN translations t ON t.environment_id = ${environmentId}
        AND t.resource_type = r.type AND t.resource_row_id = r.id
      LEFT JOIN translations d ON d.environment_id = ${environmentId}
        AND d.resource_type = r.type AND d.resource_row_id = r.id AND d.locale = o.default_locale
    WHERE ${where}
    GROUP BY r.type, r.id, r.identifier, r.name, r.created_at, r.updated_at, o.default_locale, o.target_locales
    ORDER BY updated_at DESC, r.id DESC LIMIT ${mostGroups}`.execute(db)
  return rows
}

function toGroup(row: GroupRow): Static<typeof Group> {
  const { default_locale, target_locales, texts } = row
  const written = new Map(texts.map(({ locale, isBehind }) => [locale, isBehind]))
  const outdated = target_locales.filter((locale) => locale !== default_locale && (written.get(locale) ?? true))
  return {
    resourceId: row.identifier,
    resourceType: row.type,
    resourceName: row.name,
    locales: [...new Set([default_locale, ...target_locales, ...written.keys()])],
    ...(outdated.length === 0 ? {} : { outdatedLocales: outdated }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Dropping the texts creates a new version of their workflow or layout. */
async function switchOff(
  tx: Tx,
  request: FastifyRequest,
  { resourceType, resourceRowId: id }: { resourceType: TranslatedType; resourceRowId: string },
  now: Date,
): Promise<void> {
  const { id: environmentId, userId } = request.environment
  const writing = { environmentId, id, userId, now, by: authorOf(request) }
  if (resourceType === 'layout') {
    const row = await lockLayout(tx, environmentId, id)
    const fields = row && { ...layoutFieldsOf(row), is_translation_enabled: false }
    if (fields) await saveLayout(tx, writing, fields)
  } else {
    const row = await tx
      .selectFrom('workflows')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    // Deleted in the meantime, with its texts.
    const fields = row && { ...fieldsOf(row as WorkflowRow), is_translation_enabled: false }
    if (fields) await saveWorkflow(tx, writing, fields)
  }
  await refuseOwnedTexts(tx, environmentId, resourceType, [id])
  await disableTranslations(tx, { environmentId, resourceType, resourceRowId: id })
  await keepTexts(tx, environmentId, resourceType, [id], writing)
}

/** Call after texts were written: each change is a version of what they belong to. Texts that files own may be kept to them. */
export async function keepChangedTexts(
  tx: Tx,
  request: FastifyRequest,
  texts: Array<Omit<NewTranslation, 'content'>>,
): Promise<void> {
  const { id: environmentId } = request.environment
  await refuseOwned(tx, environmentId, 'translation', [...new Set(texts.map(({ locale }) => locale))])
  const written = { now: request.now(), by: authorOf(request) }
  // Layouts are locked before workflows everywhere.
  for (const kind of ['layout', 'workflow'] as const) {
    const own = texts.filter(({ resourceType }) => resourceType === kind).map(({ resourceRowId }) => resourceRowId)
    await keepTexts(tx, environmentId, kind, [...new Set(own)], written)
  }
}
