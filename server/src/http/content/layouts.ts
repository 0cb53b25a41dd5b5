// Layouts: what surrounds the content of an email.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { type Db, type Tx, violatedKey } from '../../db/core/database.ts'
import { findEnvironmentAccess } from '../../db/core/environment-access.ts'
import { randomLower } from '../../db/core/ids.ts'
import { allOf, contains } from '../../db/core/page.ts'
import { refuseOwned, refuseOwnedTexts } from '../../db/queries/definition-files.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import {
  deleteLayouts,
  findLayout,
  insertLayout,
  type LayoutContent,
  type LayoutRow,
  layoutFieldsOf,
  saveLayout,
  saveLayouts,
} from '../../db/queries/layouts.ts'
import { copyTranslations, disableTranslations, enableTranslations } from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import { fieldsOf, saveWorkflows, type WorkflowRow, type WorkflowStep } from '../../db/queries/workflows.ts'
import { previewLayout } from '../../engine/authoring/layout-preview.ts'
import { layoutDefinition } from '../../engine/definitions/layout-definition.ts'
import { revisionOf } from '../../engine/definitions/revision.ts'
import { fail, RequestError } from '../../errors.ts'
import { brandingOf } from '../../render/branding.ts'
import { mapSteps } from '../../steps/contract/tree.ts'
import { authorOf } from '../edge/authorship.ts'
import type { Brand } from '../edge/brand.ts'
import { entityTag, isExpected } from '../edge/preconditions.ts'
import type { Environment, Resource, Services } from '../edge/resource.ts'
import { Body, Empty, Enum, FreeObject, Identifier, Nullable, Timestamp } from '../edge/schema.ts'
import { idIn, slugify, slugOf } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'
import { Files, filesOf } from '../workflows/owned-by-files.ts'
import { largestPreview, PreviewError } from '../workflows/preview.ts'
import { identifierProblem, OwnIdentifier, userOf } from '../workflows/shape.ts'
import type { Writing } from '../workflows/write.ts'
import { layoutVariables, refuseContent } from './layout-content.ts'

/** Fits the largest renderable body, as JSON in JSON. */
const largestBody = 4 * 1024 * 1024

const EditorType = Enum(['block', 'html'])
const Email = Type.Object({ body: Type.String(), editorType: EditorType })
const Values = Type.Object({ email: Type.Optional(Email) })

export const Layout = Type.Object({
  _id: Type.String(),
  layoutId: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  isDefault: Type.Boolean(),
  isTranslationEnabled: Type.Boolean(),
  updatedAt: Timestamp,
  updatedBy: Type.Optional(Type.Object({ _id: Type.String() })),
  createdAt: Timestamp,
  origin: Type.String(),
  type: Enum(['BRIDGE']),
  variables: Type.Optional(FreeObject),
  controls: Type.Object({ dataSchema: FreeObject, uiSchema: FreeObject, values: Values }),
  version: Type.Integer({ description: 'Every save that changes something makes the next one' }),
  revision: Type.Optional(
    Type.String({
      description:
        'SHA-256 of the definition; the same definition has the same revision in every environment. Absent in the list',
    }),
  ),
  files: Type.Optional({ ...Files, description: 'Where it is kept in files; absent if they did not push it' }),
})

const dataSchema = {
  type: 'object',
  properties: {
    email: {
      type: 'object',
      properties: {
        body: { type: 'string', minLength: 1 },
        editorType: { type: 'string', enum: ['block', 'html'], default: 'block' },
      },
      required: ['body'],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}

const uiSchema = {
  group: 'LAYOUT',
  properties: {
    email: {
      component: 'LAYOUT_EMAIL',
      properties: {
        body: { component: 'EMAIL_BODY', placeholder: '' },
        editorType: { component: 'EMAIL_EDITOR_SELECT', placeholder: 'block' },
      },
    },
  },
}

const Preview = Type.Object({
  result: Type.Object({
    type: Enum(['email']),
    preview: Type.Optional(Type.Object({ body: Type.String() })),
    error: PreviewError,
  }),
  previewPayloadExample: FreeObject,
  schema: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
})

const Name = Identifier()
const Params = Type.Object({ layoutId: Type.String({ description: 'Identifier, slug or internal id' }) })

export const layouts: Resource = (app, { db, secrets, brand, config: { limits } }) => {
  const tags = ['Layouts']
  const branding = brandingOf(brand.word)

  const show = async (row: LayoutRow, reply: FastifyReply) => {
    const layout = await showLayout({ db, brand }, row)
    reply.header('ETag', entityTag(layout.revision))
    return layout
  }
  const writing = (request: FastifyRequest) => {
    const { id: environmentId, userId } = request.environment
    return { environmentId, userId, now: request.now(), by: authorOf(request) }
  }

  app.post(
    '/v2/layouts',
    {
      schema: {
        tags,
        summary: 'Create a layout; at first it only shows the content of the email',
        body: Body({
          layoutId: OwnIdentifier,
          name: Name,
          isTranslationEnabled: Type.Optional(Type.Boolean()),
          __source: Type.Optional(Type.String({ description: 'Where it is created; ignored' })),
        }),
        response: { 201: Layout },
      },
    },
    async (request, reply) => {
      const { layoutId, name, isTranslationEnabled = false } = request.body
      const row = await addLayout(db, request, { identifier: layoutId, name, isTranslationEnabled }, limits.layouts)
      reply.code(201)
      return show(row, reply)
    },
  )

  app.get(
    '/v2/layouts',
    {
      schema: {
        tags,
        summary: 'List layouts, without their content',
        querystring: Type.Object({
          limit: Type.Optional(Type.Integer({ minimum: 1, default: 50 })),
          offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
          orderBy: Type.Optional(Enum(['createdAt', 'updatedAt', 'name'], { default: 'createdAt' })),
          orderDirection: Type.Optional(Enum(['ASC', 'DESC'], { default: 'DESC' })),
          query: Type.Optional(Type.String({ description: 'Part of the name or identifier, case-insensitive' })),
        }),
        response: { 200: Type.Object({ layouts: Type.Array(Layout), totalCount: Type.Integer() }) },
      },
    },
    async (request) => {
      const { query, limit = 50, offset = 0, orderBy = 'createdAt', orderDirection } = request.query
      const where = allOf([
        sql`environment_id = ${request.environment.id}`,
        ...(query ? [sql`(${contains(sql`name`, query)} OR ${contains(sql`identifier`, query)})`] : []),
      ])
      const direction = orderDirection === 'ASC' ? sql`ASC` : sql`DESC`
      const [page, total] = await Promise.all([
        // Without the content, which is large and not shown.
        sql<LayoutRow>`
          SELECT id, identifier, name, is_default, is_translation_enabled, version, updated_by, created_at, updated_at,
                 NULL AS content
          FROM layouts WHERE ${where}
          ORDER BY ${orderColumns[orderBy]} ${direction}, id ${direction} LIMIT ${limit} OFFSET ${offset}`.execute(db),
        sql<{ count: number }>`SELECT count(*)::int AS count FROM layouts WHERE ${where}`.execute(db),
      ])
      return {
        layouts: page.rows.map((row) => toLayout(row, brand, {})),
        totalCount: total.rows[0]?.count ?? 0,
      }
    },
  )

  app.get(
    '/v2/layouts/:layoutId',
    { schema: { tags, summary: 'Retrieve a layout', params: Params, response: { 200: Layout } } },
    async (request, reply) => {
      const row = await readLayout(db, request.environment, request.params.layoutId)
      return show(row, reply)
    },
  )

  app.put(
    '/v2/layouts/:layoutId',
    {
      bodyLimit: largestBody,
      config: { refusals: [412] },
      schema: {
        tags,
        summary: 'Change a layout: its name and, if given, its content and whether it is translated',
        description:
          'If nothing differs, nothing is written. `If-Match` with the `ETag` of an answer refuses the change with 412 if somebody changed it since.',
        params: Params,
        querystring: Type.Object({
          upsert: Type.Optional(
            Type.Boolean({
              description:
                'Make it with exactly this identifier if there is none (201). With the header `If-None-Match: *` it is only made, never changed',
            }),
          ),
        }),
        body: Body({
          name: Name,
          layoutId: Type.Optional(
            Nullable(Type.String({ description: 'With `upsert` it must be the one in the path; ignored otherwise' })),
          ),
          isTranslationEnabled: Type.Optional(Type.Boolean()),
          controlValues: Type.Optional(
            Nullable(
              Body({
                email: Type.Optional(Body({ body: Type.String(), editorType: Type.Optional(EditorType) })),
              }),
            ),
          ),
        }),
        response: { 200: Layout, 201: Layout },
      },
    },
    async (request, reply) => {
      const { environment, body, headers } = request
      const { layoutId } = request.params
      const { upsert: isUpsert = false } = request.query
      const email = body.controlValues?.email && { editorType: 'block' as const, ...body.controlValues.email }
      const content = email ? { email } : null
      if (isUpsert && !(await findLayout(db, environment.id, { identifier: layoutId, id: idIn(layoutId, 'lt') }))) {
        if (!isExpected(headers, undefined)) throw fail('revision_changed', { revision: undefined })
        refuseIdentifier(layoutId, body.layoutId)
        if (email) refuseContent(email, await layoutVariables(db, environment.id, email.body))
        const made = await addLayout(
          db,
          request,
          {
            ...{ identifier: layoutId, name: body.name, isTranslationEnabled: body.isTranslationEnabled },
            ...(body.controlValues === undefined ? {} : { content }),
          },
          limits.layouts,
        ).catch((error: unknown) => {
          // Of two at once, the other one made it.
          if (error instanceof RequestError && error.code === 'layout_exists') return undefined
          throw error
        })
        if (made) {
          reply.code(201)
          return show(made, reply)
        }
      }
      const row = await db.transaction().execute(async (tx) => {
        const current = await readLayout(tx, environment, layoutId, 'FOR UPDATE')
        if (isUpsert && typeof body.layoutId === 'string' && ![current.identifier, layoutId].includes(body.layoutId))
          throw generalError([`layoutId must be "${current.identifier}", as in the path`])
        refuseStale(current, headers)
        if (email) refuseContent(email, await layoutVariables(tx, environment.id, email.body))
        const isTranslationEnabled = body.isTranslationEnabled ?? current.is_translation_enabled
        await switchTranslation(tx, current, isTranslationEnabled, request.now())
        return saveLayout(
          tx,
          { ...writing(request), id: current.id },
          {
            ...layoutFieldsOf(current),
            name: body.name,
            is_translation_enabled: isTranslationEnabled,
            ...(body.controlValues === undefined ? {} : { content }),
          },
        )
      })
      return show(row, reply)
    },
  )

  app.delete(
    '/v2/layouts/:layoutId',
    {
      config: { refusals: [412] },
      schema: {
        tags,
        summary: 'Delete a layout; emails that used it get the default layout',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { environment } = request
      await db.transaction().execute(async (tx) => {
        const row = await readLayout(tx, environment, request.params.layoutId, 'FOR UPDATE')
        refuseStale(row, request.headers)
        if (row.is_default) throw fail('default_layout_kept', { layoutId: row.identifier })
        await refuseOwned(tx, environment.id, 'layout', [row.identifier])
        await refuseOwnedTexts(tx, environment.id, 'layout', [row.id])
        await unsetLayout(tx, writing(request), row)
        await deleteLayouts(tx, environment.id, [row.id], request.now())
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/layouts/:layoutId/default',
    {
      schema: {
        tags,
        summary: 'Make a layout the default for emails that name none, from the next message on',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { environment } = request
      await db.transaction().execute(async (tx) => {
        // Of two concurrent choices, the later one wins.
        await lockEnvironment(tx, environment.id)
        const chosen = await readLayout(tx, environment, request.params.layoutId, 'FOR UPDATE')
        if (chosen.is_default) return
        const before = await tx
          .selectFrom('layouts')
          .selectAll()
          .where('environment_id', '=', environment.id)
          .where('is_default', '=', true)
          .forUpdate()
          .execute()
        await saveLayouts(tx, writing(request), [
          ...before.map((row) => ({ id: row.id, fields: { ...layoutFieldsOf(row), is_default: false } })),
          { id: chosen.id, fields: { ...layoutFieldsOf(chosen), is_default: true } },
        ])
      })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v2/layouts/:layoutId/duplicate',
    {
      schema: {
        tags,
        summary: 'Create a layout with the content of another',
        params: Params,
        body: Body({
          name: Name,
          layoutId: Type.Optional({ ...OwnIdentifier, description: 'Default: made from the name' }),
          isTranslationEnabled: Type.Optional(
            Type.Boolean({ description: 'Default: as the original; its translations are copied' }),
          ),
        }),
        response: { 201: Layout },
      },
    },
    async (request, reply) => {
      const { name, layoutId, isTranslationEnabled } = request.body
      const original = request.params.layoutId
      const identifier = layoutId ?? (slugify(name) || `layout-${randomLower(8)}`)
      const row = await addLayout(db, request, { identifier, name, isTranslationEnabled, original }, limits.layouts)
      reply.code(201)
      return show(row, reply)
    },
  )

  app.post(
    '/v2/layouts/:layoutId/preview',
    {
      config: { role: 'viewer' },
      bodyLimit: largestPreview,
      schema: {
        tags,
        summary: 'Show a layout around a placeholder for the content of the email',
        params: Params,
        body: Type.Optional(
          Body({
            controlValues: Type.Optional({ ...FreeObject, description: 'Shown instead of the stored content' }),
            previewPayload: Type.Optional(
              Body({ subscriber: Type.Optional(FreeObject), context: Type.Optional(FreeObject) }),
            ),
          }),
        ),
        response: { 201: Preview },
      },
    },
    async (request, reply) => {
      const { controlValues, previewPayload = {} } = request.body ?? {}
      const layout = await readLayout(db, request.environment, request.params.layoutId)
      const { body } = ((controlValues ?? layout.content)?.email ?? {}) as { body?: unknown }
      const access = await findEnvironmentAccess(db, secrets, request.environment.id)
      // The environment was deleted after the key was checked.
      if (!access) throw fail('api_key_not_found')
      const preview = await previewLayout(
        { db, access, branding, now: request.now() },
        { layout, body, previewPayload },
      )
      reply.code(201)
      if ('error' in preview)
        return { result: { type: 'email' as const, error: preview.error }, previewPayloadExample: {}, schema: null }
      return {
        result: { type: 'email' as const, preview: { body: preview.html } },
        previewPayloadExample: preview.data,
        schema: await layoutVariables(db, request.environment.id, preview.source),
      }
    },
  )

  app.get(
    '/v2/layouts/:layoutId/usage',
    {
      schema: {
        tags,
        summary: 'List the workflows with an email that uses the layout',
        params: Params,
        response: {
          200: Type.Object({ workflows: Type.Array(Type.Object({ name: Type.String(), workflowId: Type.String() })) }),
        },
      },
    },
    async (request) => {
      const layout = await readLayout(db, request.environment, request.params.layoutId)
      const { rows } = await sql<{ name: string; workflowId: string }>`
        SELECT name, identifier AS "workflowId" FROM workflows
        WHERE environment_id = ${request.environment.id} AND ${hasStep({ type: 'email' }, layout)}
        ORDER BY name, identifier LIMIT 1000`.execute(db)
      return { workflows: rows }
    },
  )
}

const orderColumns = { createdAt: sql`created_at`, updatedAt: sql`updated_at`, name: sql`name COLLATE "C"` }

function toLayout(row: LayoutRow, brand: Brand, variables: Record<string, unknown>): Static<typeof Layout> {
  return {
    _id: row.id,
    layoutId: row.identifier,
    slug: slugOf(row.name, 'lt', row.id),
    name: row.name,
    isDefault: row.is_default,
    isTranslationEnabled: row.is_translation_enabled,
    updatedAt: row.updated_at,
    ...userOf('updatedBy', row.updated_by),
    createdAt: row.created_at,
    origin: brand.toWire('svc-cloud'),
    type: 'BRIDGE',
    variables,
    controls: { dataSchema, uiSchema, values: row.content ?? {} },
    version: row.version,
  }
}

/** The whole layout. */
export async function showLayout({ db, brand }: Pick<Services, 'db' | 'brand'>, row: LayoutRow) {
  const revision = revisionOf(layoutDefinition(row))
  const [variables, files] = await Promise.all([
    layoutVariables(db, row.environment_id, row.content?.email?.body),
    filesOf(db, row.environment_id, { kind: 'layout', id: row.identifier, revision }),
  ])
  return { ...toLayout(row, brand, variables), revision, ...files }
}

/** The caller has locked the row. */
function refuseStale(row: LayoutRow, headers: IncomingHttpHeaders): void {
  const revision = revisionOf(layoutDefinition(row))
  if (isExpected(headers, revision)) return
  const { version, updated_at: savedAt, updated_by: by } = row
  throw fail('revision_changed', { revision }, { ctx: { revision, version, savedAt, savedBy: { _id: by } } })
}

/** For an identifier that becomes a new layout's. */
function refuseIdentifier(layoutId: string, inBody: string | null | undefined): void {
  const problem = identifierProblem(layoutId)
  if (problem) throw generalError([`layoutId ${problem}`])
  if (typeof inBody === 'string' && inBody !== layoutId)
    throw generalError([`layoutId must be "${layoutId}", as in the path`])
}

async function readLayout(
  db: Db | Tx,
  { id: environmentId }: Environment,
  layoutId: string,
  lock?: 'FOR UPDATE',
): Promise<LayoutRow> {
  const row = await findLayout(db, environmentId, { identifier: layoutId, id: idIn(layoutId, 'lt') }, lock)
  if (!row) throw fail('layout_not_found', undefined, { ctx: { layoutId } })
  return row
}

interface NewLayout {
  identifier: string
  name: string
  isTranslationEnabled?: boolean | undefined
  /** Default: only the email. */
  content?: LayoutContent | null
  /** The layout whose content it copies. */
  original?: string
}

/** Locks the environment first, so that one of two concurrent layouts becomes the default, and the limit is exact. */
async function addLayout(
  db: Db,
  request: FastifyRequest,
  { identifier, name, isTranslationEnabled, original, content }: NewLayout,
  limit: number,
): Promise<LayoutRow> {
  const { environment } = request
  try {
    return await db.transaction().execute(async (tx) => {
      await lockEnvironment(tx, environment.id)
      await refuseOneTooMany(tx, environment.id, limit)
      const source = original === undefined ? undefined : await readLayout(tx, environment, original)
      const isTranslated = isTranslationEnabled ?? source?.is_translation_enabled ?? false
      const row = await insertLayout(
        tx,
        {
          environmentId: environment.id,
          identifier,
          name,
          isTranslationEnabled: isTranslated,
          ...(content === undefined ? {} : { content }),
          ...(source ? { content: source.content } : {}),
          userId: environment.userId,
          by: authorOf(request),
        },
        request.now(),
      )
      if (!isTranslated) return row
      if (source) {
        await copyTranslations(tx, translatedBy(source), translatedBy(row))
        await refuseOwnedTexts(tx, environment.id, 'layout', [row.id])
      }
      await enableTranslations(tx, translatedBy(row), request.now())
      await keepTexts(tx, environment.id, 'layout', [row.id], { now: request.now() })
      return row
    })
  } catch (error) {
    if (violatedKey(error) === 'layouts_environment_id_identifier_key')
      throw fail('layout_exists', { layoutId: identifier })
    throw error
  }
}

export async function refuseOneTooMany(tx: Tx, environmentId: string, limit: number): Promise<void> {
  const { count } = await tx
    .selectFrom('layouts')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('environment_id', '=', environmentId)
    .executeTakeFirstOrThrow()
  if (Number(count) >= limit) throw fail('too_many_layouts', { limit }, { ctx: { currentCount: Number(count), limit } })
}

const translatedBy = ({ environment_id, id }: LayoutRow) =>
  ({ environmentId: environment_id, resourceType: 'layout', resourceRowId: id }) as const

export async function switchTranslation(tx: Tx, layout: LayoutRow, isEnabled: boolean, now: Date): Promise<void> {
  if (isEnabled === layout.is_translation_enabled) return
  if (isEnabled) return enableTranslations(tx, translatedBy(layout), now)
  await refuseOwnedTexts(tx, layout.environment_id, 'layout', [layout.id])
  await disableTranslations(tx, translatedBy(layout))
}

/** Steps store the identifier of their layout; code-first ones may have stored its id. */
const hasStep = (step: object, { identifier, id }: LayoutRow): RawBuilder<boolean> => {
  const one = (layoutId: string) => JSON.stringify([{ ...step, controlValues: { layoutId } }])
  const isIn = (steps: RawBuilder<unknown>) =>
    sql`(${steps} @> ${one(identifier)}::jsonb OR ${steps} @> ${one(id)}::jsonb)`
  return sql`(${isIn(sql`steps`)} OR steps @> '[{"type": "branch"}]' AND ${isIn(
    sql`(SELECT jsonb_agg(a.step) FROM all_steps(steps) a)`,
  )})`
}

/** Locks layouts before workflows, as saving a workflow does, to avoid deadlocks. */
async function unsetLayout(tx: Tx, writing: Writing, layout: LayoutRow) {
  const { environmentId } = writing
  const { rows } = await sql<WorkflowRow>`
    SELECT * FROM workflows WHERE environment_id = ${environmentId} AND ${hasStep({}, layout)}
    ORDER BY id FOR UPDATE`.execute(tx)
  const unset = (step: WorkflowStep): WorkflowStep => {
    const { layoutId, ...others } = step.controlValues ?? {}
    return layoutId === layout.identifier || layoutId === layout.id ? { ...step, controlValues: others } : step
  }
  await saveWorkflows(
    tx,
    writing,
    rows.map((row) => ({ id: row.id, fields: { ...fieldsOf(row), steps: mapSteps(row.steps, unset) } })),
  )
}
