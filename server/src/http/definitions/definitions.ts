// Definitions: everything an environment defines in one answer, and in one push, all or nothing. For files beside your code.
import { type Static, Type } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import { envKeysOf } from '../../db/core/environment-access.ts'
import { type DefinitionKind, definitionEdits } from '../../db/core/tables.ts'
import { deleteDefinitionFiles, listDefinitionFiles } from '../../db/queries/definition-files.ts'
import { listDeleted } from '../../db/queries/deleted-definitions.ts'
import { lockEnvironment, lockOrganization } from '../../db/queries/environments.ts'
import { currentAuthors, type VersionAuthor, type VersionSource, withNames } from '../../db/queries/versions.ts'
import type { Change } from '../../engine/authoring/renders.ts'
import {
  compareDefinitions,
  definitionKinds,
  definitionsIn,
  type EnvironmentRows,
  ownOrigin,
  readEnvironmentName,
  readRows,
  usualKinds,
} from '../../engine/definitions/content.ts'
import {
  readIntegrations,
  readTopics,
  readVariables,
  type SettingRows,
  settingsIn,
} from '../../engine/definitions/settings.ts'
import { readWaiting } from '../../engine/simulation/impact-reads.ts'
import { fail } from '../../errors.ts'
import { authorOf, longestMessage } from '../edge/authorship.ts'
import { requireOrganization } from '../edge/reach.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Nullable, NullableTimestamp } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { Files, showFiles } from '../workflows/owned-by-files.ts'
import { applyPush, type Source } from './apply.ts'
import { Author, VersionOrigin } from './history.ts'
import { type Conflict as Planned, type PushedResource, type PushPlan, planPush } from './plan.ts'
import { notePush } from './pushes.ts'
import {
  contentAfter,
  HasMore,
  nothingRendered,
  prepareRenders,
  RenderAsked,
  Renders,
  refuseUnread,
} from './renders.ts'
import { refuseMissingRights } from './scopes.ts'

const largestPush = 64 * 1024 * 1024
const mostResources = 5_000
const mostIds = 200

const Kind = Enum(definitionKinds)
const Revision = Type.String({ description: 'SHA-256, in hex, of the definition as RFC 8785 writes it' })
const Version = Nullable(Type.Integer({ description: 'Null for kinds without history' }))
const Definitions = Type.Object({
  format: Type.Integer(),
  environment: Type.Object({ name: Type.String(), identifier: Type.String() }),
  resources: Type.Array(
    Type.Object({
      kind: Kind,
      id: Type.String(),
      revision: Revision,
      version: Version,
      files: Type.Unsafe<Static<typeof Files> | null>({ ...Files, type: ['object', 'null'] }),
      definition: FreeObject,
    }),
  ),
  passedOver: Type.Array(Type.Object({ kind: Kind, id: Type.String(), why: Type.String() })),
})

const text = (maxLength: number, options: object = {}) =>
  Type.Optional(Nullable(Type.String({ maxLength, ...options })))
const PushBody = {
  source: Type.Optional(
    Nullable(
      Body(
        {
          ...{ repository: text(500), commit: text(200), url: text(2_048) },
          dirty: Type.Optional(Nullable(Type.Boolean())),
          importedFrom: text(50, {
            description: 'The service that an importer read them from. They are then owned by no files',
          }),
        },
        { description: 'Where the files come from' },
      ),
    ),
  ),
  message: text(longestMessage, { description: 'The name of the change, for the history' }),
  prune: Type.Optional(
    Type.Boolean({
      description: 'Delete what files once pushed here, nobody changed since and the list no longer has',
    }),
  ),
  kinds: Type.Optional(
    Nullable(
      Type.Array(Kind, {
        description: 'The kinds that the files manage: `prune` deletes nothing of others. Default: all',
      }),
    ),
  ),
  resources: Type.Array(
    Body({
      kind: Kind,
      id: Type.String({ minLength: 1, maxLength: 255 }),
      base: Type.Optional(
        Nullable(
          Type.String({
            maxLength: 64,
            description:
              'What the change began as: a revision; `files` (the default): what files last pushed, or nothing; null: nothing; `any`: whatever it is',
          }),
        ),
      ),
      path: text(500, { description: 'The file' }),
      definition: FreeObject,
    }),
    { description: 'Each kind once per id' },
  ),
}

const Summary = Type.Object({
  created: Type.Integer(),
  updated: Type.Integer(),
  deleted: Type.Integer(),
  unchanged: Type.Integer(),
})
const Issue = Type.Object({
  kind: Kind,
  id: Type.String(),
  stepId: Nullable(Type.String()),
  path: Type.String(),
  issueType: Type.String(),
  message: Type.String(),
})
const Action = Enum(['created', 'updated', 'deleted'])
const Pushed = Type.Object({
  applied: Type.Boolean(),
  changes: Type.Array(
    Type.Object({ kind: Kind, id: Type.String(), action: Action, version: Version, revision: Nullable(Revision) }),
  ),
  issues: Type.Array(Issue),
  summary: Summary,
})
const Conflict = Type.Object({
  kind: Kind,
  id: Type.String(),
  base: Nullable(Type.String()),
  current: Type.Unsafe<Planned['current']>({
    ...Type.Object({
      revision: Revision,
      version: Version,
      updatedAt: NullableTimestamp,
      author: Type.Unsafe<VersionAuthor | null>({ ...Author, type: ['object', 'null'] }),
      source: VersionOrigin,
    }),
    type: ['object', 'null'],
  }),
  why: Enum(['changed', 'exists', 'deleted', 'code_first']),
})
const Waiting = Type.Array(
  Type.Object({
    workflowId: Type.String(),
    stepId: Type.String(),
    runs: Type.Integer(),
    change: Enum(['none', 'changed', 'removed'], { description: 'What becomes of the step' }),
  }),
  { description: 'Runs that wait in a workflow that would change. They go on as they began' },
)
const Plan = Type.Object({
  changes: Type.Array(
    Type.Object({
      kind: Kind,
      id: Type.String(),
      action: Action,
      paths: Type.Array(Type.Object({ path: Type.String(), before: Type.Unknown(), after: Type.Unknown() })),
    }),
  ),
  conflicts: Type.Array(Conflict),
  issues: Type.Array(Issue),
  renders: Renders,
  hasMore: HasMore,
  waiting: Waiting,
  summary: Summary,
})
const Settings = Type.Object({
  edits: Enum(definitionEdits, {
    description:
      'Whether others may change what files own: `warn` lets them, and the dashboard says so; `refuse` allows pushing and publishing only',
  }),
})

interface Pushing {
  resources: PushedResource[]
  prune?: boolean | undefined
  kinds?: DefinitionKind[] | null | undefined
}

export const definitions: Resource = (app, services) => {
  const { db, secrets, brand, config } = services
  const { limits, hideCredentials } = config
  const tags = ['Definitions']
  const opening = { secrets, hidesCredentials: hideCredentials }

  app.get(
    '/v2/definitions',
    {
      schema: {
        tags,
        summary: 'Retrieve everything the environment defines, as files have it',
        description: 'One snapshot, by kind, then by id. Workflows that code declares are passed over.',
        querystring: Type.Object({
          kinds: Type.Optional(
            Type.String({
              description: `Of ${definitionKinds.join(', ')}, separated by commas; default: ${usualKinds.join(',')}`,
              maxLength: 200,
            }),
          ),
          ids: Type.Optional(Type.String({ description: `Only these, separated by commas; at most ${mostIds}` })),
        }),
        response: { 200: Definitions },
      },
    },
    async (request) => {
      const kinds = readKinds(request.query.kinds)
      const ids = readIds(request.query.ids)
      const { id: environmentId } = request.environment
      const isWanted = (kind: string, id: string) => kinds.has(kind) && (ids === undefined || ids.has(id))
      const { rows, settings, files, environment } = await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => ({
          rows: await readRows(tx, environmentId),
          settings: await settingsOf(tx, request.environment, kinds, ids && [...ids]),
          files: await listDefinitionFiles(tx, environmentId),
          environment: await readEnvironmentName(tx, environmentId),
        }))
      const owned = new Map(files.map((file) => [`${file.kind} ${file.id}`, file]))
      return {
        format: 1,
        environment,
        resources: [...definitionsIn(rows), ...settingsIn(settings, opening)]
          .sort(compareDefinitions)
          .filter(({ kind, id }) => isWanted(kind, id))
          .map(({ kind, id, revision, version, definition }) => {
            const file = owned.get(`${kind} ${id}`)
            return { kind, id, revision, version, files: file ? showFiles(file, revision) : null, definition }
          }),
        passedOver: rows.workflows
          .filter(({ origin, identifier }) => origin !== ownOrigin && isWanted('workflow', identifier))
          .map(({ identifier }) => ({ kind: 'workflow' as const, id: identifier, why: 'code_first' })),
      }
    },
  )

  const planOf = async (
    tx: Tx,
    { environment, now }: { environment: Environment; now: Date },
    { resources, prune = false, kinds }: Pushing,
    lock?: 'lock',
  ): Promise<PushPlan & { rows: EnvironmentRows }> => {
    const rows = await readRows(tx, environment.id, lock)
    const files = await listDefinitionFiles(tx, environment.id)
    const gone = await listDeleted(tx, environment.id, now)
    const deleted = new Map(gone.map(({ kind, identifier, version }) => [`${kind} ${identifier}`, version]))
    const envKeys = await envKeysOf(tx, environment.id)
    const prunes = new Set(prune ? (kinds ?? definitionKinds) : [])
    const concerned = [...resources, ...files.filter(({ kind }) => prunes.has(kind))]
    const topics = concerned.filter(({ kind }) => kind === 'topic').map(({ id }) => id)
    const settings = await settingsOf(tx, environment, kindsOf(concerned), topics)
    const around = { rows, settings, files, deleted, envKeys, limits, now, environmentId: environment.id }
    const plan = planPush(resources, { prunes }, { ...around, opening: { ...opening, isHeld: environment.isHeld } })
    return { ...plan, rows, conflicts: await withAuthors(tx, environment.id, plan.conflicts) }
  }

  app.post(
    '/v2/definitions/plan',
    {
      bodyLimit: largestPush,
      config: { keepsContent: true },
      schema: {
        tags,
        summary: 'Show what a push would change; nothing is written',
        body: Body({ ...PushBody, render: Type.Optional(Nullable(RenderAsked)) }),
        response: { 200: Plan },
      },
    },
    async (request) => {
      const { environment, body } = request
      const now = request.now()
      refuseTooMany(body.resources)
      if (body.render) refuseUnread(request)
      const { plan, waiting, render } = await db
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute(async (tx) => {
          const planned = await planOf(tx, { environment, now }, body)
          refuseProblems(planned)
          const changed = new Set(planned.changes.filter(({ kind }) => kind === 'workflow').map(({ id }) => id))
          const change = { before: planned.rows, after: contentAfter(planned.rows, planned.writes), changed }
          const at = { environmentId: environment.id, now }
          return {
            plan: planned,
            waiting: await waitingIn(tx, environment.id, change),
            render: body.render ? await prepareRenders(tx, services, at, change, body.render) : undefined,
          }
        })
      return {
        changes: plan.changes.map(({ kind, id, action, paths }) => ({ kind, id, action, paths })),
        conflicts: plan.conflicts,
        issues: plan.issues,
        ...((await render?.()) ?? nothingRendered),
        waiting,
        summary: summaryOf(plan),
      }
    },
  )

  app.post(
    '/v2/definitions/push',
    {
      bodyLimit: largestPush,
      config: { act: 'definitions.pushed', refusals: [409] },
      schema: {
        tags,
        summary: 'Make the environment define what these files say: all of it, or nothing',
        description:
          'Where something was changed since the base of a resource, the answer is 409 `definitions_conflict` with all conflicts in `ctx`, and nothing is written. What is there already is left alone.',
        body: Body({
          ...PushBody,
          dryRun: Type.Optional(
            Type.Boolean({ description: 'Write nothing; the answer is the same, but for `applied`' }),
          ),
        }),
        response: { 200: Pushed },
      },
    },
    async (request) => {
      const { body, environment } = request
      const { dryRun = false } = body
      const source = body.source ?? {}
      refuseTooMany(body.resources)
      refuseMissingRights(request, kindsOf(body.resources))
      const { author } = authorOf(request)
      const message = body.message || null
      const noted = { environmentId: environment.id, author, source, message }
      const plan = await db.transaction().execute(async (tx) => {
        // Variables are the organization's, which is locked first everywhere.
        if (kindsOf(body.resources).has('variable')) await lockOrganization(tx, environment.organizationId)
        await lockEnvironment(tx, environment.id)
        // Behind the lock: the times of pushes are in the order of their commits.
        const now = request.now()
        const planned = await planOf(tx, { environment, now }, body, 'lock')
        refuseProblems(planned)
        refuseMissingRights(request, kindsOf(planned.changes))
        if (planned.changesOrganization) await requireOrganization({ db: tx, brand }, request, 'admin')
        if (dryRun || planned.conflicts.length > 0) return planned
        const { id: environmentId, organizationId, userId } = environment
        const by = { author, source: sourceIn(source), message }
        await applyPush(tx, { environmentId, organizationId, userId, secrets, now, by }, planned.writes, source)
        await notePush(tx, { ...noted, now, summary: summaryOf(planned), conflicts: [] })
        return planned
      })
      const { conflicts } = plan
      const summary = summaryOf(plan)
      if (conflicts.length > 0) {
        if (!dryRun) await notePush(db, { ...noted, now: request.now(), summary, conflicts })
        throw fail('definitions_conflict', { count: conflicts.length }, { ctx: { conflicts } })
      }
      request.acted = !dryRun &&
        plan.changes.length > 0 && {
          ...summary,
          ...(source.commit ? { commit: source.commit } : {}),
          ids: plan.changes.slice(0, 50).map(({ kind, id }) => `${kind} ${id}`),
        }
      return {
        applied: !dryRun,
        changes: plan.changes.map(({ paths: _, ...change }) => change),
        issues: plan.issues,
        summary,
      }
    },
  )

  app.get(
    '/v2/definitions/settings',
    { schema: { tags, summary: 'Retrieve who may change what files own', response: { 200: Settings } } },
    async (request) => {
      const row = await db
        .selectFrom('environments')
        .select('definition_edits')
        .where('id', '=', request.environment.id)
        .executeTakeFirst()
      return { edits: row?.definition_edits ?? 'warn' }
    },
  )

  app.patch(
    '/v2/definitions/settings',
    {
      config: { role: 'admin', scope: 'administer', act: 'definitions.settings-changed' },
      schema: {
        tags,
        summary: 'Say who may change what files own',
        body: Body({ edits: Enum(definitionEdits) }, { examples: [{ edits: 'refuse' }] }),
        response: { 200: Settings },
      },
    },
    async (request) => {
      const { edits } = request.body
      const row = await db
        .updateTable('environments')
        .set({ definition_edits: edits })
        .where('id', '=', request.environment.id)
        .returning('definition_edits')
        .executeTakeFirst()
      request.acted = { edits }
      return { edits: row?.definition_edits ?? edits }
    },
  )

  app.post(
    '/v2/definitions/release',
    {
      config: { act: 'definitions.released', keepsContent: true },
      schema: {
        tags,
        summary: 'Give up what files own; it stays as it is, and anybody may change it',
        body: Body({
          resources: Type.Array(Body({ kind: Kind, id: Type.String({ minLength: 1, maxLength: 255 }) }), {
            minItems: 1,
            maxItems: mostResources,
          }),
        }),
        response: { 200: Type.Object({ released: Type.Integer() }) },
      },
    },
    async (request) => {
      const { resources } = request.body
      const released = await db
        .transaction()
        .execute((tx) => deleteDefinitionFiles(tx, request.environment.id, resources))
      request.acted = released > 0 && {
        released,
        ids: resources.slice(0, 50).map(({ kind, id }) => `${kind} ${id}`),
      }
      return { released }
    },
  )
}

/** Topics, integrations and variables: of these kinds, and of topics those with the given keys, if any are given. */
async function settingsOf(
  tx: Tx,
  environment: Environment,
  kinds: ReadonlySet<string>,
  keys: string[] | undefined,
): Promise<SettingRows> {
  const topics = kinds.has('topic') ? await readTopics(tx, environment, { keys, limit: mostResources + 1 }) : []
  if (topics.length > mostResources) throw fail('too_many_topics_to_define', { limit: mostResources })
  return {
    topics,
    integrations: kinds.has('integration') ? await readIntegrations(tx, environment) : [],
    variables: kinds.has('variable') ? await readVariables(tx, environment) : [],
  }
}

const kindsOf = (resources: Array<{ kind: DefinitionKind }>): ReadonlySet<DefinitionKind> =>
  new Set(resources.map(({ kind }) => kind))

/** The runs that wait in workflows that would change, by workflow and step. */
async function waitingIn(
  tx: Tx,
  environmentId: string,
  { before, after, changed }: Change,
): Promise<Static<typeof Waiting>> {
  const later = new Map(after.workflows.map((row) => [row.id, row]))
  const rows = before.workflows.filter(({ identifier }) => changed.has(identifier))
  if (rows.length === 0) return []
  const changes = rows.map((row) => ({ before: row, after: later.get(row.id) }))
  const waiting = await readWaiting(tx, environmentId, changes)
  return rows.flatMap(({ id, identifier: workflowId }) =>
    (waiting.get(id)?.steps ?? []).map(({ stepId, runs, change }) => ({ workflowId, stepId, runs, change })),
  )
}

/** Who changed what is in conflict, and from where. */
async function withAuthors(tx: Tx, environmentId: string, conflicts: Planned[]): Promise<Planned[]> {
  const of = (kind: 'workflow' | 'layout') =>
    currentAuthors(
      tx,
      environmentId,
      kind,
      conflicts.filter((each) => each.kind === kind).map(({ id }) => id),
    )
  const found = { workflow: await of('workflow'), layout: await of('layout') }
  const made = conflicts.map(
    ({ kind, id }) =>
      (kind === 'workflow' || kind === 'layout' ? found[kind].get(id) : undefined) ?? { author: null, source: null },
  )
  const authors = await withNames(
    tx,
    made.map(({ author }) => author),
  )
  return conflicts.map((conflict, i) => ({
    ...conflict,
    current: conflict.current && {
      ...conflict.current,
      author: authors[i] ?? null,
      source: made[i]?.source ?? null,
    },
  }))
}

const sourceIn = ({ repository = null, commit = null, url = null, dirty, importedFrom }: Source): VersionSource =>
  importedFrom
    ? { kind: 'import', from: importedFrom }
    : { kind: 'files', repository, commit, url, dirty: dirty ?? false }

function readKinds(given: string | undefined): Set<string> {
  if (given === undefined) return new Set(usualKinds)
  const kinds = given.split(',')
  if (kinds.some((kind) => !definitionKinds.some((known) => known === kind)))
    throw generalError([`kinds must be of the following values, separated by commas: ${definitionKinds.join(', ')}`])
  return new Set(kinds)
}

function readIds(given: string | undefined): Set<string> | undefined {
  if (given === undefined) return undefined
  const ids = given.split(',')
  if (ids.length > mostIds) throw generalError([`ids must contain no more than ${mostIds} elements`])
  return new Set(ids)
}

function refuseTooMany(resources: unknown[]): void {
  if (resources.length > mostResources) throw fail('body_too_large')
}

function refuseProblems({ problems }: PushPlan): void {
  if (problems.length > 0) throw fail('definitions_invalid', { count: problems.length }, { ctx: { problems } })
}

function summaryOf({ changes, unchanged }: PushPlan): Static<typeof Summary> {
  const count = (action: string) => changes.filter((change) => change.action === action).length
  return { created: count('created'), updated: count('updated'), deleted: count('deleted'), unchanged }
}
