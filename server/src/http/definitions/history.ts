// History: every version of a workflow or layout, listed, compared, named and restored.
import type { FastifyRequest } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { findDeleted } from '../../db/queries/deleted-definitions.ts'
import { findLayout, type LayoutFields } from '../../db/queries/layouts.ts'
import type { TranslatedType } from '../../db/queries/translations.ts'
import {
  listVersions,
  nameVersion,
  readVersions,
  type VersionAuthor,
  type VersionContent,
  type Versioned,
  type VersionRow,
  type VersionSource,
  type VersionTexts,
  withNames,
} from '../../db/queries/versions.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import type { Content } from '../../engine/authoring/renders.ts'
import { canonicalYaml } from '../../engine/definitions/canonical.ts'
import { readRows } from '../../engine/definitions/content.ts'
import { foldSaves } from '../../engine/definitions/entries.ts'
import { layoutDefinition } from '../../engine/definitions/layout-definition.ts'
import { changedPaths } from '../../engine/definitions/paths.ts'
import { revisionOf } from '../../engine/definitions/revision.ts'
import { unifiedDiff } from '../../engine/definitions/unified-diff.ts'
import { type Definition, workflowDefinition } from '../../engine/definitions/workflow-definition.ts'
import { fail } from '../../errors.ts'
import { Layout } from '../content/layouts.ts'
import { authorOf, longestMessage } from '../edge/authorship.ts'
import { entityTag } from '../edge/preconditions.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Nullable, Timestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { Workflow } from '../workflows/shape.ts'
import { HasMore, prepareRenders, RenderAsked, Renders } from './renders.ts'
import { type Found, restoreLayout, restoreWorkflow, workflowIn } from './restore.ts'

const mostPaths = 20
const longestPath = 500

export const Author = Type.Object({
  type: Enum(['person', 'api_key', 'command', 'service']),
  id: Nullable(Type.String()),
  name: Nullable(Type.String()),
})
export const VersionOrigin = Type.Unsafe<VersionSource | null>({
  type: ['object', 'null'],
  additionalProperties: true,
  description:
    '`kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment` and `version`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases',
})
const Version = Type.Object({
  version: Type.Integer(),
  revision: Type.String(),
  createdAt: Timestamp,
  author: Type.Unsafe<VersionAuthor | null>({ ...Author, type: ['object', 'null'] }),
  message: Nullable(Type.String()),
  source: VersionOrigin,
  paths: Type.Array(Type.String(), { description: `Up to ${mostPaths} changed places` }),
  saves: Type.Integer({ description: 'How many saves in one sitting the entry stands for' }),
  isCurrent: Type.Boolean(),
})
const Compared = Type.Object({
  from: Type.Integer(),
  to: Type.Integer(),
  paths: Type.Array(Type.Object({ path: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
  text: Type.String({ description: 'The difference of the two as YAML, as `diff -u` writes it' }),
})
const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const Message = Nullable(Type.String({ minLength: 1, maxLength: longestMessage }))

/** What the two kinds differ in. */
interface Kind {
  kind: 'workflow' | 'layout'
  /** The name of the path's parameter. */
  parameter: 'workflowId' | 'layoutId'
  path: string
  tag: string
  /** The schema of the whole resource. */
  shown: TSchema
  find(db: Db | Tx, environmentId: string, id: string, now: Date): Promise<Found>
  definitionOf(content: VersionContent): Definition
  missing(id: string, version: number): Error
}

const workflowKind: Kind = {
  ...{ kind: 'workflow', parameter: 'workflowId', path: '/v2/workflows/:workflowId/versions', tag: 'Workflows' },
  shown: Workflow,
  async find(db, environmentId, workflowId, now) {
    const id = idIn(workflowId, 'wf')
    const row = await findWorkflow(db, environmentId, workflowId, id)
    if (row) return row
    const deleted = await findDeleted(db, environmentId, 'workflow', { identifier: workflowId, id }, now)
    if (!deleted) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
    return { ...deleted, isDeleted: true }
  },
  definitionOf: (content) => workflowDefinition(workflowIn(content)),
  missing: (workflowId, version) => fail('workflow_version_not_found', { workflowId, version }),
}

const layoutKind: Kind = {
  ...{ kind: 'layout', parameter: 'layoutId', path: '/v2/layouts/:layoutId/versions', tag: 'Layouts' },
  shown: Layout,
  async find(db, environmentId, layoutId, now) {
    const names = { identifier: layoutId, id: idIn(layoutId, 'lt') }
    const row = await findLayout(db, environmentId, names)
    if (row) return row
    const deleted = await findDeleted(db, environmentId, 'layout', names, now)
    if (!deleted) throw fail('layout_not_found', undefined, { ctx: { layoutId } })
    return { ...deleted, isDeleted: true }
  },
  definitionOf: ({ definition }) => layoutDefinition(definition as unknown as LayoutFields),
  missing: (layoutId, version) => fail('layout_version_not_found', { layoutId, version }),
}

export const history: Resource = (app, services) => {
  const { db } = services
  for (const subject of [workflowKind, layoutKind]) {
    const tags = [subject.tag]
    const Id = Type.String({ description: 'Identifier, slug or internal id' })
    const Params = Type.Object({ [subject.parameter]: Id } as { workflowId: typeof Id })
    const VersionParams = Type.Object({ ...Params.properties, version: VersionNumber })
    const idOf = ({ params }: { params: unknown }) => (params as Record<string, string>)[subject.parameter] ?? ''
    const versionedBy = async (request: FastifyRequest) => {
      const row = await subject.find(db, request.environment.id, idOf(request), request.now())
      return { row, versioned: { kind: subject.kind, environmentId: request.environment.id, id: row.id } as Versioned }
    }

    app.get(
      subject.path,
      {
        schema: {
          tags,
          summary: `List the versions of a ${subject.kind}, newest first; saves in one sitting are one entry`,
          params: Params,
          querystring: Type.Object({
            limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
            after: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: '`next` of a page' })),
            all: Type.Optional(Type.Boolean({ description: 'Each save as an entry of its own' })),
          }),
          response: { 200: Type.Object({ data: Type.Array(Version), next: Nullable(Type.Integer()) }) },
        },
      },
      async (request) => {
        const { row, versioned } = await versionedBy(request)
        const { limit = 20, after, all = false } = request.query
        const versions = await listVersions(db, versioned)
        const entries = all ? versions : foldSaves(versions)
        const start = after === undefined ? 0 : entries.findIndex(({ version }) => version < after)
        // One more than shown: the last entry is compared with the one before it.
        const page = start < 0 ? [] : entries.slice(start, start + limit + 1)
        const data = await showEntries(db, subject, versioned, { page, limit, current: currentOf(row) })
        return { data, next: page.length > limit ? (data.at(-1)?.version ?? null) : null }
      },
    )

    app.get(
      `${subject.path}/compare`,
      {
        schema: {
          tags,
          summary: `Compare two versions of a ${subject.kind}`,
          params: Params,
          querystring: Type.Object({
            from: Type.Optional({ ...VersionNumber, description: 'Default: the version before `to`' }),
            to: Type.Optional({ ...VersionNumber, description: 'Default: the current version' }),
          }),
          response: { 200: Compared },
        },
      },
      async (request) => {
        const { row, versioned } = await versionedBy(request)
        const { before, after } = await readBoth(db, subject, versioned, row, idOf(request), request.query)
        return compared(subject, before, after)
      },
    )

    app.post(
      `${subject.path}/compare`,
      {
        config: { keepsContent: true, scope: 'read' },
        schema: {
          tags,
          summary: `Compare two versions of a ${subject.kind}, with the messages they make`,
          params: Params,
          body: Body({
            from: Type.Optional({ ...VersionNumber, description: 'Default: the version before `to`' }),
            to: Type.Optional({ ...VersionNumber, description: 'Default: the current version' }),
            render: Type.Optional(Nullable(RenderAsked)),
          }),
          response: { 200: Type.Object({ ...Compared.properties, renders: Renders, hasMore: HasMore }) },
        },
      },
      async (request) => {
        const at = { environmentId: request.environment.id, now: request.now() }
        const { answer, render } = await db
          .transaction()
          .setIsolationLevel('repeatable read')
          .setAccessMode('read only')
          .execute(async (tx) => {
            const row = await subject.find(tx, at.environmentId, idOf(request), at.now)
            const versioned: Versioned = { kind: subject.kind, environmentId: at.environmentId, id: row.id }
            const { before, after } = await readBoth(tx, subject, versioned, row, idOf(request), request.body)
            const rows = await readRows(tx, at.environmentId)
            const change = {
              before: withVersion(rows, subject.kind, row, before),
              after: withVersion(rows, subject.kind, row, after),
              changed: new Set(subject.kind === 'workflow' ? [row.identifier] : []),
            }
            const asked = request.body.render ?? {}
            return {
              answer: compared(subject, before, after),
              render: await prepareRenders(tx, services, at, change, asked),
            }
          })
        return { ...answer, ...(await render()) }
      },
    )

    app.get(
      `${subject.path}/:version`,
      {
        schema: {
          tags,
          summary: `Retrieve a version of a ${subject.kind}`,
          params: VersionParams,
          response: {
            200: Type.Object({
              ...Version.properties,
              definition: FreeObject,
              text: Type.String({ description: 'The definition as a file: YAML with its bodies in it' }),
              translations: Type.Unsafe<VersionTexts | null>({
                ...FreeObject,
                type: ['object', 'null'],
                description: 'Its texts by locale; null for versions of earlier releases',
              }),
            }),
          },
        },
      },
      async (request) => {
        const { row, versioned } = await versionedBy(request)
        const { version } = request.params
        const versions = await listVersions(db, versioned)
        const at = versions.findIndex((each) => each.version === version)
        const page = at < 0 ? [] : versions.slice(at, at + 2)
        const [shown] = await showEntries(db, subject, versioned, { page, limit: 1, current: currentOf(row) })
        const content = (await readVersions(db, versioned, [version])).get(version)
        if (!shown || !content) throw subject.missing(idOf(request), version)
        const definition = subject.definitionOf(content)
        const text = canonicalYaml(subject.kind, definition)
        return { ...shown, definition, text, translations: content.translations }
      },
    )

    app.patch(
      `${subject.path}/:version`,
      {
        config: { keepsContent: true },
        schema: {
          tags,
          summary: `Name a version of a ${subject.kind}; null takes the name away`,
          params: VersionParams,
          body: Body({ message: Message }),
          response: { 200: Type.Object({ version: Type.Integer(), message: Nullable(Type.String()) }) },
        },
      },
      async (request) => {
        const { versioned } = await versionedBy(request)
        const { version } = request.params
        const { message } = request.body
        if (!(await nameVersion(db, versioned, version, message))) throw subject.missing(idOf(request), version)
        return { version, message }
      },
    )

    app.post(
      `${subject.path}/:version/restore`,
      {
        config: { act: `${subject.kind}.restored` },
        schema: {
          tags,
          summary: `Make a version of a ${subject.kind} the current one again, as a new version; also of a deleted one`,
          params: VersionParams,
          body: Type.Optional(Body({ message: Type.Optional(Message) })),
          response: { 200: subject.shown },
        },
      },
      async (request, reply) => {
        const { row, versioned } = await versionedBy(request)
        const { version } = request.params
        const restoring = {
          ...{ environmentId: request.environment.id, userId: request.environment.userId, now: request.now() },
          by: {
            ...authorOf(request),
            source: { kind: 'restore' as const, version },
            message: request.body?.message ?? null,
          },
        }
        const { version: now, shown } = await db.transaction().execute(async (tx) => {
          const content = (await readVersions(tx, versioned, [version])).get(version)
          if (!content) throw subject.missing(idOf(request), version)
          const restore = subject.kind === 'workflow' ? restoreWorkflow : restoreLayout
          return restore(tx, services, restoring, row, content)
        })
        request.acted = now !== row.version && { version }
        const resource = await shown()
        reply.header('ETag', entityTag(resource.revision))
        return resource
      },
    )
  }
}

/** Of a deleted one none is. */
const currentOf = ({ version, isDeleted = false }: Found) => (isDeleted ? undefined : version)

async function readBoth(
  db: Db | Tx,
  subject: Kind,
  versioned: Versioned,
  row: Found,
  id: string,
  asked: { from?: number; to?: number },
): Promise<{ before: VersionContent; after: VersionContent }> {
  const { to = row.version } = asked
  const from = asked.from ?? (await versionBefore(db, versioned, to))
  const contents = await readVersions(db, versioned, [from, to])
  const contentOf = (version: number) => {
    const content = contents.get(version)
    if (!content) throw subject.missing(id, version)
    return content
  }
  return { before: contentOf(from), after: contentOf(to) }
}

function compared(subject: Kind, before: VersionContent, after: VersionContent): Static<typeof Compared> {
  const [then, now] = [wholeOf(subject, before), wholeOf(subject, after)]
  const areTextsKnown = before.translations !== null && after.translations !== null
  const [from, to] = areTextsKnown ? [then, now] : [subject.definitionOf(before), subject.definitionOf(after)]
  return {
    ...{ from: before.version, to: after.version, paths: changedPaths(from, to) },
    text: unifiedDiff(
      subject.kind,
      { name: `version ${before.version}`, definition: from },
      { name: `version ${after.version}`, definition: to },
    ),
  }
}

/** The definition with its texts, if it has any. */
const wholeOf = ({ definitionOf }: Kind, content: VersionContent): Definition => ({
  ...definitionOf(content),
  ...(Object.keys(content.translations ?? {}).length === 0 ? {} : { translations: content.translations }),
})

/** The environment as it is, but for one workflow or layout. */
function withVersion(
  rows: Awaited<ReturnType<typeof readRows>>,
  kind: TranslatedType,
  { id, identifier }: Found,
  { definition, payload_schema, translations }: VersionContent,
): Content {
  const then = { ...definition, ...(payload_schema === null ? {} : { payload_schema }), id, identifier }
  const replaced = <Row extends { id: string }>(list: Row[]): Row[] => {
    const row = list.find((each) => each.id === id)
    return [...list.filter((each) => each !== row), { ...row, ...then } as unknown as Row]
  }
  const isOwn = (text: { resource_type: string; resource_row_id: string }) =>
    text.resource_type === kind && text.resource_row_id === id
  return {
    workflows: kind === 'workflow' ? replaced(rows.workflows) : rows.workflows,
    // Whether it is the default belongs to the environment.
    layouts:
      kind === 'layout'
        ? replaced(rows.layouts).map((row) => ({
            ...row,
            is_default: rows.layouts.some((each) => each.id === row.id && each.is_default),
          }))
        : rows.layouts,
    translations:
      translations === null
        ? rows.translations
        : [
            ...rows.translations.filter((text) => !isOwn(text)),
            ...Object.entries(translations).map(([locale, content]) => ({
              ...{ resource_type: kind, resource_row_id: id, locale, content },
            })),
          ],
  }
}

/** The first version is compared with itself. */
async function versionBefore(db: Db | Tx, versioned: Versioned, to: number): Promise<number> {
  const versions = await listVersions(db, versioned)
  return versions.find(({ version }) => version < to)?.version ?? to
}

async function showEntries(
  db: Db,
  subject: Kind,
  versioned: Versioned,
  { page, limit, current }: { page: VersionRow[]; limit: number; current: number | undefined },
): Promise<Array<Static<typeof Version>>> {
  const contents = await readVersions(
    db,
    versioned,
    page.map(({ version }) => version),
  )
  const changesIn = (at: number) => {
    const [after, before] = [page[at], page[at + 1]].map((entry) => entry && contents.get(entry.version))
    // The first version has no predecessor: everything in it is new.
    return after && before ? compared(subject, before, after).paths : []
  }
  const authors = await withNames(
    db,
    page.map(({ author }) => author),
  )
  return page.slice(0, limit).map((entry, i) => ({
    version: entry.version,
    revision: revisionOf(definitionIn(subject, contents.get(entry.version))),
    createdAt: entry.created_at,
    author: authors[i] ?? null,
    message: entry.message,
    source: entry.source,
    paths: changesIn(i)
      .slice(0, mostPaths)
      .map(({ path }) => path.slice(0, longestPath)),
    saves: entry.saves,
    isCurrent: entry.version === current,
  }))
}

const definitionIn = ({ definitionOf }: Kind, content: VersionContent | undefined): Definition =>
  content ? definitionOf(content) : {}
