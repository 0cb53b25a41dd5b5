// History: every version of a workflow or layout, listed, compared, named and restored.
import type { FastifyRequest } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { findLayout, type LayoutFields, layoutFieldsOf, lockLayout, saveLayout } from '../../db/queries/layouts.ts'
import {
  listVersions,
  nameVersion,
  readVersions,
  type VersionAuthor,
  type VersionContent,
  type Versioned,
  type VersionSource,
  withNames,
} from '../../db/queries/versions.ts'
import {
  fieldsOf,
  findWorkflow,
  lockWorkflow,
  saveWorkflow,
  type WorkflowFields,
  type WorkflowRow,
  type WorkflowStep,
} from '../../db/queries/workflows.ts'
import { type Entry, foldSaves } from '../../engine/definitions/entries.ts'
import { layoutDefinition } from '../../engine/definitions/layout-definition.ts'
import { changedPaths } from '../../engine/definitions/paths.ts'
import { revisionOf } from '../../engine/definitions/revision.ts'
import { unifiedDiff } from '../../engine/definitions/unified-diff.ts'
import { type Definition, workflowDefinition } from '../../engine/definitions/workflow-definition.ts'
import { fail } from '../../errors.ts'
import { allSteps, mapSteps } from '../../steps/contract/tree.ts'
import { Layout, showLayout, switchTranslation } from '../content/layouts.ts'
import { authorOf, longestMessage } from '../edge/authorship.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Nullable, Timestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { type StepInput, showWorkflow, Workflow } from '../workflows/shape.ts'
import { withLayouts } from '../workflows/steps.ts'
import { followSwitch } from '../workflows/write.ts'

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
    '`kind` is `dashboard`, `api`, `sync`, `files` (with `repository`, `commit`, `url`, `dirty`), `publish` (with `environment`), `restore` (with `version`) or `import` (with `from`). Null for versions of earlier releases',
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
  find(db: Db | Tx, environmentId: string, id: string): Promise<{ id: string; version: number }>
  definitionOf(content: VersionContent): Definition
  missing(id: string, version: number): Error
}

const workflowKind: Kind = {
  ...{ kind: 'workflow', parameter: 'workflowId', path: '/v2/workflows/:workflowId/versions', tag: 'Workflows' },
  shown: Workflow,
  async find(db, environmentId, workflowId) {
    const row = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
    if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
    return row
  },
  definitionOf: (content) => workflowDefinition(workflowIn(content)),
  missing: (workflowId, version) => fail('workflow_version_not_found', { workflowId, version }),
}

const layoutKind: Kind = {
  ...{ kind: 'layout', parameter: 'layoutId', path: '/v2/layouts/:layoutId/versions', tag: 'Layouts' },
  shown: Layout,
  async find(db, environmentId, layoutId) {
    const row = await findLayout(db, environmentId, { identifier: layoutId, id: idIn(layoutId, 'lt') })
    if (!row) throw fail('layout_not_found', undefined, { ctx: { layoutId } })
    return row
  },
  definitionOf: ({ definition }) => layoutDefinition(definition as unknown as LayoutFields),
  missing: (layoutId, version) => fail('layout_version_not_found', { layoutId, version }),
}

const workflowIn = ({ definition, payload_schema }: VersionContent): WorkflowFields => {
  const fields = definition as unknown as WorkflowFields
  return payload_schema === null ? fields : { ...fields, payload_schema }
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
      const row = await subject.find(db, request.environment.id, idOf(request))
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
        const entries = all ? versions.map((version) => ({ ...version, saves: 1 })) : foldSaves(versions)
        const start = after === undefined ? 0 : entries.findIndex(({ version }) => version < after)
        // One more than shown: the last entry is compared with the one before it.
        const page = start < 0 ? [] : entries.slice(start, start + limit + 1)
        const data = await showEntries(db, subject, versioned, { page, limit, current: row.version })
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
        const { to = row.version } = request.query
        const from = request.query.from ?? (await versionBefore(db, versioned, to))
        const contents = await readVersions(db, versioned, [from, to])
        const definition = (version: number) => {
          const content = contents.get(version)
          if (!content) throw subject.missing(idOf(request), version)
          return subject.definitionOf(content)
        }
        const [before, after] = [definition(from), definition(to)]
        const side = (version: number, of: Definition) => ({ name: `version ${version}`, definition: of })
        return {
          ...{ from, to, paths: changedPaths(before, after) },
          text: unifiedDiff(subject.kind, side(from, before), side(to, after)),
        }
      },
    )

    app.get(
      `${subject.path}/:version`,
      {
        schema: {
          tags,
          summary: `Retrieve a version of a ${subject.kind}`,
          params: VersionParams,
          response: { 200: Type.Object({ ...Version.properties, definition: FreeObject }) },
        },
      },
      async (request) => {
        const { row, versioned } = await versionedBy(request)
        const { version } = request.params
        const versions = await listVersions(db, versioned)
        const at = versions.findIndex((each) => each.version === version)
        const page = at < 0 ? [] : versions.slice(at, at + 2).map((each) => ({ ...each, saves: 1 }))
        const [shown] = await showEntries(db, subject, versioned, { page, limit: 1, current: row.version })
        const content = (await readVersions(db, versioned, [version])).get(version)
        if (!shown || !content) throw subject.missing(idOf(request), version)
        return { ...shown, definition: subject.definitionOf(content) }
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
          summary: `Make a version of a ${subject.kind} the current one again, as a new version`,
          params: VersionParams,
          body: Type.Optional(Body({ message: Type.Optional(Message) })),
          response: { 200: subject.shown },
        },
      },
      async (request) => {
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
          return restore(tx, services, restoring, row.id, content)
        })
        request.acted = now !== row.version && { version }
        return shown()
      },
    )
  }
}

/** The first version is compared with itself. */
async function versionBefore(db: Db, versioned: Versioned, to: number): Promise<number> {
  const versions = await listVersions(db, versioned)
  return versions.find(({ version }) => version < to)?.version ?? to
}

async function showEntries(
  db: Db,
  { definitionOf }: Kind,
  versioned: Versioned,
  { page, limit, current }: { page: Entry[]; limit: number; current: number },
): Promise<Array<Static<typeof Version>>> {
  const contents = await readVersions(
    db,
    versioned,
    page.map(({ version }) => version),
  )
  const definitions = page.map(({ version }) => {
    const content = contents.get(version)
    return content ? definitionOf(content) : {}
  })
  const authors = await withNames(
    db,
    page.map(({ author }) => author),
  )
  return page.slice(0, limit).map((entry, i) => ({
    version: entry.version,
    revision: revisionOf(definitions[i]),
    createdAt: entry.created_at,
    author: authors[i] ?? null,
    message: entry.message,
    source: entry.source,
    // The first version has no predecessor: everything in it is new.
    paths: definitions[i + 1]
      ? changedPaths(definitions[i + 1] ?? {}, definitions[i] ?? {})
          .slice(0, mostPaths)
          .map(({ path }) => path.slice(0, longestPath))
      : [],
    saves: entry.saves,
    isCurrent: entry.version === current,
  }))
}

interface Restoring {
  environmentId: string
  userId: string
  now: Date
  by: Parameters<typeof saveWorkflow>[1]['by']
}
type Restored = { version: number; shown: () => Promise<object> }

/** Identifier and origin stay; steps are matched by `stepId` and `type`. */
async function restoreWorkflow(
  tx: Tx,
  services: Services,
  restoring: Restoring,
  id: string,
  content: VersionContent,
): Promise<Restored> {
  const { environmentId } = restoring
  const then = workflowIn(content)
  // Layouts are locked before workflows everywhere. A layout that is gone by now is refused.
  await withLayouts(tx, environmentId, then.steps as unknown as StepInput[])
  const row = await lockWorkflow(tx, environmentId, id)
  if (!row) throw fail('workflow_not_found')
  const { identifier, origin, data } = row
  const fields = { ...fieldsOf(row), ...withoutRowMembers(then), identifier, origin, data, steps: matched(then, row) }
  const saved = await saveWorkflow(tx, { ...restoring, id }, fields)
  await followSwitch(tx, saved, row.is_translation_enabled)
  return { version: saved.version, shown: () => showWorkflow(services, saved) }
}

/** Version rows also hold the id and the version. */
function withoutRowMembers(fields: WorkflowFields): WorkflowFields {
  const { id: _, version: __, ...rest } = fields as WorkflowFields & { id?: string; version?: number }
  return rest
}

/** A step that exists by its `stepId` keeps its id; one that is gone comes back with the id it had. */
function matched({ steps }: WorkflowFields, row: WorkflowRow): WorkflowStep[] {
  const there = allSteps(row.steps)
  return mapSteps(steps, (step) => {
    const now = there.find(({ stepId, type }) => stepId === step.stepId && type === step.type)
    return { ...step, _id: now?._id ?? step._id }
  })
}

/** Whether it is the default belongs to the environment, and stays. */
async function restoreLayout(
  tx: Tx,
  services: Services,
  restoring: Restoring,
  id: string,
  content: VersionContent,
): Promise<Restored> {
  const row = await lockLayout(tx, restoring.environmentId, id)
  if (!row) throw fail('layout_not_found')
  const { name, is_translation_enabled, content: email } = content.definition as unknown as LayoutFields
  await switchTranslation(tx, row, is_translation_enabled, restoring.now)
  const saved = await saveLayout(
    tx,
    { ...restoring, id },
    { ...layoutFieldsOf(row), name, is_translation_enabled, content: email },
  )
  return { version: saved.version, shown: () => showLayout(services, saved) }
}
