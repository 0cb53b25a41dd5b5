// Translations in bulk: a file per locale of one resource, and one master JSON per locale for all of them.
import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { Unstorable } from '../../db/core/storable.ts'
import {
  lockTranslatables,
  type NewTranslation,
  type TranslatedType,
  type TranslationContent,
  writeTranslations,
} from '../../db/queries/translations.ts'
import { fail, RequestError } from '../../errors.ts'
import { parseBody } from '../edge/body.ts'
import { Locale, supportedLocale } from '../edge/locales.ts'
import type { App, Environment, Resource } from '../edge/resource.ts'
import { Body, FreeObject } from '../edge/schema.ts'
import { keepChangedTexts, largestContent, ResourceId, ResourceType, readTranslated } from './translations.ts'
import { takeForms, UploadedFile } from './upload.ts'

/** Enough for every locale in use; the whole request is held in memory. */
const mostFiles = 100
const largestUpload = 26 * 1024 * 1024
/** A master JSON has the texts of all resources in one locale. */
const largestMaster = 10 * 1024 * 1024

const Files = Type.Unsafe<UploadedFile[]>({
  type: 'array',
  items: { contentMediaType: 'application/json' },
  description: 'JSON files, each named after its locale: `en_US.json`',
})

const UploadResult = Type.Object({
  totalFiles: Type.Integer(),
  successfulUploads: Type.Integer(),
  failedUploads: Type.Integer(),
  errors: Type.Array(Type.String()),
})

const MasterJson = Type.Object({ workflows: FreeObject, layouts: FreeObject })
const ImportResult = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  successful: Type.Optional(Type.Array(Type.String())),
  failed: Type.Optional(Type.Array(Type.String())),
})

export const translationFiles: Resource = (app, { db }) => {
  const tags = ['Translations']

  void app.register(async (scope: App) => {
    takeForms(scope, { body: largestUpload, files: mostFiles, fileBytes: largestContent })
    scope.post(
      '/v2/translations/upload',
      {
        schema: {
          tags,
          summary: 'Write the texts of a workflow or layout from files, one per locale',
          consumes: ['multipart/form-data'],
          body: Body({ resourceId: ResourceId, resourceType: ResourceType, files: Type.Optional(Files) }),
          response: { 200: UploadResult },
        },
      },
      async (request) => {
        const { resourceType } = request.body
        const files = filesIn(request.body.files)
        if (files.length === 0) throw fail('no_translation_files')
        const locales = localesOf(files)
        await refuseOtherLocales(db, request.environment, locales)
        const { valid, errors } = readFiles(files)
        await db.transaction().execute(async (tx) => {
          const { id } = await readTranslated(tx, request.environment, request.body, 'lock')
          if (valid.length === 0) throw fail('no_translation_files', undefined, { ctx: { errors } })
          const texts = valid.map((text) => ({ resourceType, resourceRowId: id, ...text }))
          await writeTranslations(tx, request.environment.id, texts, request.now())
          await keepChangedTexts(tx, request, texts)
        })
        return {
          totalFiles: files.length,
          successfulUploads: valid.length,
          failedUploads: errors.length,
          errors,
        }
      },
    )
  })

  app.get(
    '/v2/translations/master-json',
    {
      schema: {
        tags,
        summary: 'Export the texts of all workflows and layouts in one locale',
        querystring: Type.Object({
          locale: Type.Optional({ ...Locale, description: 'Default: the default locale of the organization' }),
        }),
        response: { 200: MasterJson },
      },
    },
    async (request) => {
      const locale = supportedLocale(request.query.locale ?? '') ?? (await readLocales(db, request.environment)).default
      return readMaster(db, request.environment, locale)
    },
  )

  app.post(
    '/v2/translations/master-json',
    {
      bodyLimit: largestMaster,
      schema: {
        tags,
        summary: 'Import the texts of many workflows and layouts in one locale',
        body: Body({
          locale: Locale,
          masterJson: Body({ workflows: Type.Optional(FreeObject), layouts: Type.Optional(FreeObject) }),
        }),
        response: { 200: ImportResult },
      },
    },
    async (request) => {
      const locale = supportedLocale(request.body.locale) ?? request.body.locale
      return db.transaction().execute((tx) => importMaster(tx, request, { locale, master: request.body.masterJson }))
    },
  )

  void app.register(async (scope: App) => {
    takeForms(scope, { body: largestMaster + 64 * 1024, files: 2, fileBytes: largestMaster })
    scope.post(
      '/v2/translations/master-json/upload',
      {
        schema: {
          tags,
          summary: 'Import the texts of many workflows and layouts from one file, named after its locale',
          consumes: ['multipart/form-data'],
          body: Body({ file: Type.Optional(Files) }),
          response: { 200: ImportResult },
        },
      },
      async (request) => {
        const [file, ...more] = filesIn(request.body.file)
        if (!file || more.length > 0) throw fail('master_json_file_count')
        const [locale = ''] = localesOf([file])
        const master = readMasterFile(file)
        return db.transaction().execute((tx) => importMaster(tx, request, { locale, master }))
      },
    )
  })
}

/** A plain field can have the same name. */
const filesIn = (files: UploadedFile[] = []) => files.filter((file) => file instanceof UploadedFile)

/** The locale of each file, from its name. One bad name refuses all: a file under the wrong locale would overwrite texts. */
function localesOf(files: UploadedFile[]): string[] {
  const locales = files.map(({ name }) => (name.endsWith('.json') ? supportedLocale(name.slice(0, -5)) : undefined))
  const errors = files.flatMap(({ name }, i) => {
    const locale = locales[i]
    if (locale === undefined) return [`${name}: the name is not that of a supported locale with .json behind it`]
    return locales.indexOf(locale) < i ? [`${name}: there is another file for ${locale}`] : []
  })
  if (errors.length > 0) throw fail('translation_file_names', undefined, { ctx: { errors } })
  return locales.filter((locale) => locale !== undefined)
}

async function readLocales(db: Db, { organizationId }: Environment): Promise<{ default: string; targets: string[] }> {
  const { default_locale, target_locales } = await db
    .selectFrom('organizations')
    .select(['default_locale', 'target_locales'])
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return { default: default_locale, targets: target_locales }
}

async function refuseOtherLocales(db: Db, environment: Environment, locales: string[]): Promise<void> {
  const configured = await readLocales(db, environment)
  const others = locales.filter((locale) => locale !== configured.default && !configured.targets.includes(locale))
  if (others.length > 0)
    throw fail('translation_locales_not_configured', undefined, {
      ctx: { errors: others.map((locale) => `${locale}.json: ${locale} is neither the default nor a target locale`) },
    })
}

function readFiles(files: UploadedFile[]) {
  const valid: Array<Pick<NewTranslation, 'locale' | 'content'>> = []
  const errors: string[] = []
  for (const { name, bytes } of files) {
    const content = parseFile(bytes)
    if (typeof content === 'string') errors.push(`${name}: ${content}`)
    else valid.push({ locale: supportedLocale(name.slice(0, -5)) ?? '', content })
  }
  return { valid, errors }
}

/** The JSON object in a file, or why it cannot be read. */
function parseFile(bytes: Buffer): TranslationContent | string {
  try {
    const content = parseBody(bytes)
    return isObject(content) ? content : 'it has no JSON object'
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const { cause } = error
    if (!(cause instanceof Unstorable)) return 'it is not UTF-8'
    return cause.kind === 'json' ? `it is not valid JSON: ${cause.message}` : error.message
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Master {
  workflows?: Record<string, unknown>
  layouts?: Record<string, unknown>
}

function readMasterFile({ bytes }: UploadedFile): Master {
  const content = parseFile(bytes)
  if (typeof content === 'string') throw fail('master_json_invalid', { reason: content })
  const { workflows = {}, layouts = {} } = content
  if (!isObject(workflows) || !isObject(layouts))
    throw fail('master_json_invalid', { reason: 'workflows and layouts must be objects' })
  if (Object.keys(workflows).length + Object.keys(layouts).length === 0)
    throw fail('master_json_invalid', { reason: 'it has neither workflows nor layouts' })
  return { workflows, layouts }
}

/** Layouts are locked before workflows everywhere, to avoid deadlocks. */
const masterLists: Array<{ resourceType: TranslatedType; list: keyof Master }> = [
  { resourceType: 'layout', list: 'layouts' },
  { resourceType: 'workflow', list: 'workflows' },
]

async function importMaster(
  tx: Tx,
  request: FastifyRequest,
  { locale, master }: { locale: string; master: Master },
): Promise<Static<typeof ImportResult>> {
  const { id: environmentId } = request.environment
  const texts: NewTranslation[] = []
  const successful: string[] = []
  const failed: string[] = []
  for (const { resourceType, list } of masterLists) {
    const given = Object.entries(master[list] ?? {})
    const known = await lockTranslatables(
      tx,
      { environmentId, resourceType },
      given.map(([identifier]) => identifier),
    )
    const ids = new Map(known.map(({ id, identifier }) => [identifier, id]))
    for (const [identifier, content] of given) {
      const id = ids.get(identifier)
      if (id === undefined || !isObject(content) || JSON.stringify(content).length > largestContent) {
        failed.push(identifier)
        continue
      }
      successful.push(identifier)
      texts.push({ resourceType, resourceRowId: id, locale, content })
    }
  }
  if (texts.length > 0) {
    await writeTranslations(tx, environmentId, texts, request.now())
    await keepChangedTexts(tx, request, texts)
  }
  return {
    success: successful.length > 0,
    message: importMessage(locale, successful.length, failed.length),
    ...(successful.length > 0 ? { successful } : {}),
    ...(failed.length > 0 ? { failed } : {}),
  }
}

function importMessage(locale: string, successful: number, failed: number): string {
  if (successful + failed === 0) return 'Nothing to import: the master JSON names no workflows and no layouts'
  if (successful === 0)
    return `Nothing was imported for ${locale}: none of the ${failed} resources takes translations or has an object of texts`
  if (failed > 0) return `Partial import for ${locale}: ${successful} resources imported, ${failed} failed`
  return `Imported ${successful} resources for ${locale}`
}

async function readMaster(
  db: Db,
  { id: environmentId }: Environment,
  locale: string,
): Promise<Static<typeof MasterJson>> {
  const { rows } = await sql<{ type: TranslatedType; identifier: string; content: TranslationContent }>`
    SELECT t.resource_type AS type, coalesce(w.identifier, l.identifier) AS identifier, t.content
    FROM translations t
      LEFT JOIN workflows w ON t.resource_type = 'workflow' AND w.environment_id = t.environment_id AND w.id = t.resource_row_id
      LEFT JOIN layouts l ON t.resource_type = 'layout' AND l.environment_id = t.environment_id AND l.id = t.resource_row_id
    WHERE t.environment_id = ${environmentId} AND t.locale = ${locale} AND t.content::text <> '{}'
      AND coalesce(w.identifier, l.identifier) IS NOT NULL
    ORDER BY 1, 2 LIMIT 1000`.execute(db)
  const ofType = (type: TranslatedType) =>
    Object.fromEntries(rows.filter((row) => row.type === type).map(({ identifier, content }) => [identifier, content]))
  return { workflows: ofType('workflow'), layouts: ofType('layout') }
}
