// Compares two environments of an organization, and publishes one into the other.
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { timeIn } from '../../db/queries/environments.ts'
import { diffEnvironments, type ResourceDiff } from '../../engine/authoring/environment-diff.ts'
import { type Contents, publish, type Route, readEnvironments, tryPublish } from '../../engine/authoring/publish.ts'
import { refuseUnseenPublish } from '../../engine/authoring/publish-impact.ts'
import { findLacks, type Lack } from '../../engine/authoring/publish-lacks.ts'
import {
  type NamedResource,
  type Outcome,
  type PublishOptions,
  type PublishReport,
  report,
} from '../../engine/authoring/publish-plan.ts'
import { fail } from '../../errors.ts'
import { wireType } from '../../steps/contract/wire.ts'
import { authorOf } from '../edge/authorship.ts'
import type { Brand } from '../edge/brand.ts'
import { impactTokenHeader } from '../edge/preconditions.ts'
import { requirePublish } from '../edge/reach.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Identifier, Nullable, NullableTimestamp } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'

const Count = Type.Integer()
const ResourceType = Enum(['workflow', 'layout'])
const Content = Type.Unsafe<Record<string, unknown> | null>({ ...FreeObject, type: ['object', 'null'] })

const ResourceInfo = Nullable(
  Type.Object({
    id: Type.String({ description: 'Its identifier: workflowId, layoutId or stepId' }),
    name: Type.String(),
    updatedBy: Nullable(Type.Object({ _id: Type.String(), firstName: Type.String() })),
    updatedAt: NullableTimestamp,
  }),
)

const Change = Type.Object({
  resourceType: Enum(['workflow', 'layout', 'step', 'localization_group']),
  action: Enum(['added', 'modified', 'deleted', 'moved']),
  sourceResource: ResourceInfo,
  targetResource: ResourceInfo,
  diffs: Type.Optional(Type.Object({ previous: Content, new: Content })),
  stepType: Type.Optional(Type.String()),
  previousIndex: Type.Optional(Count),
  newIndex: Type.Optional(Count),
})

const Dependency = Type.Object({
  resourceType: Enum(['workflow', 'layout', 'rota']),
  resourceId: Type.String(),
  resourceName: Type.String(),
  isBlocking: Type.Boolean(),
  reason: Enum(['LAYOUT_REQUIRED_FOR_WORKFLOW', 'LAYOUT_EXISTS_IN_TARGET', 'ROTA_MISSING_IN_TARGET'], {
    description: 'A rota is not copied: make it in the target',
  }),
})

export const Diff = Type.Object({
  sourceEnvironmentId: Type.String(),
  targetEnvironmentId: Type.String(),
  resources: Type.Array(
    Type.Object({
      resourceType: ResourceType,
      sourceResource: ResourceInfo,
      targetResource: ResourceInfo,
      changes: Type.Array(Change),
      summary: Type.Object({ added: Count, modified: Count, deleted: Count, unchanged: Count }),
      dependencies: Type.Optional(Type.Array(Dependency)),
    }),
  ),
  summary: Type.Object({ totalEntities: Count, totalChanges: Count, hasChanges: Type.Boolean() }),
  lacks: Type.Array(
    Type.Object({
      kind: Enum(['provider', 'variable', 'translation', 'rota', 'hmac']),
      name: Type.String({ description: 'The channel, the key of the variable, the locale, or the id of the rota' }),
      workflowIds: Type.Array(Type.String(), { description: 'The workflows of the source that need it' }),
    }),
    { description: 'What the target lacks for the workflows of the source' },
  ),
})

const Reported = { resourceType: ResourceType, resourceId: Type.String(), resourceName: Type.String() }
export const Report = Type.Object({
  results: Type.Array(
    Type.Object({
      resourceType: ResourceType,
      successful: Type.Array(Type.Object({ ...Reported, action: Enum(['created', 'updated', 'deleted']) })),
      failed: Type.Array(Type.Object({ ...Reported, error: Type.String() })),
      skipped: Type.Array(Type.Object({ ...Reported, reason: Type.String() })),
      totalProcessed: Count,
    }),
  ),
  summary: Type.Object({ resources: Count, successful: Count, failed: Count, skipped: Count }),
})

export const Params = Type.Object({ targetEnvironmentId: Type.String() })
export const sourceEnvironmentId = Type.Optional(
  Type.String({ description: 'Where to publish from; default: the Development environment' }),
)

/** The public clients only know the last three, which are types of both workflows and layouts. */
const requestedTypes = ['workflow', 'layout', 'WORKFLOW', 'LAYOUT', 'REGULAR', 'ECHO', 'BRIDGE'] as const
export const RequestedResource = Body({
  resourceType: Enum(requestedTypes, {
    description: '`workflow` or `layout`; the last three mean the workflow with that id, or else the layout',
  }),
  resourceId: Identifier({ description: 'Identifier, slug or internal id' }),
})

export const publishMembers = {
  sourceEnvironmentId,
  dryRun: Type.Optional(Type.Boolean({ description: 'Change nothing, and report what would happen' })),
  deleteMissing: Type.Optional(
    Type.Boolean({
      description: 'Also delete what only the target has; otherwise it is kept, and reported as skipped',
    }),
  ),
  resources: Type.Optional(
    Type.Array(RequestedResource, {
      maxItems: 1_000,
      description:
        'Publish only these, and the layouts that the workflows among them use. A named resource that only the target has is deleted',
    }),
  ),
}
const PublishBody = Type.Object(publishMembers)

/** Naming a resource that only the target has asks for its deletion. */
export const optionsOf = (
  { deleteMissing = false, resources }: Static<typeof PublishBody>,
  limits: PublishOptions['limits'],
): PublishOptions => ({
  resources: resources?.map(asNamed),
  deleteMissing: deleteMissing || resources !== undefined,
  limits,
})

export const environmentPublish: Resource = (app, { db, clock, brand, config: { limits } }) => {
  const tags = ['Environments']

  app.post(
    '/v2/environments/:targetEnvironmentId/diff',
    {
      config: { role: 'viewer', scope: 'publish' },
      schema: {
        tags,
        summary: 'Compare the workflows and layouts of two environments',
        params: Params,
        body: Body({ sourceEnvironmentId }),
        response: { 200: Diff },
      },
    },
    async (request) => {
      const route = await routeOf(db, request.environment, request.params, request.body)
      await requirePublish({ db, brand }, request, route)
      const { source, target } = await readEnvironments(db, route)
      const diff = diffEnvironments(source, target)
      const lacks = await findLacks(db, route, source)
      const resources = diff.resources.map((resource) => ({
        ...withRotas(resource, lacks, brand),
        changes: resource.changes.map(({ stepType, ...change }) => ({
          ...change,
          ...(stepType === undefined ? {} : { stepType: wireType(stepType, brand.word) }),
        })),
      }))
      return { sourceEnvironmentId: route.sourceId, targetEnvironmentId: route.targetId, ...diff, resources, lacks }
    },
  )

  app.post(
    '/v2/environments/:targetEnvironmentId/publish',
    {
      config: { role: 'admin', scope: 'publish', act: 'environment.published', refusals: [409] },
      schema: {
        tags,
        summary: 'Publish the workflows and layouts of one environment into another; deletes nothing unless asked',
        description:
          'A protected environment needs the approval of a second person: create a publish request instead. `Belfry-Impact-Token` with the `impactToken` of an impact refuses it with 409 `impact_stale` if something has changed since.',
        params: Params,
        body: Body(publishMembers),
        response: { 200: Report },
      },
    },
    async (request) => {
      const { dryRun = false } = request.body
      const route = await routeOf(db, request.environment, request.params, request.body)
      await requirePublish({ db, brand }, request, route)
      const options = optionsOf(request.body, limits)
      const token = request.headers[impactTokenHeader]
      const look = (plan: Outcome[], contents: Contents) => {
        if (token !== undefined) refuseUnseenPublish(String(token), plan, contents, route.targetId)
      }
      const { author, message } = authorOf(request)
      const occasion = {
        ...{ userId: request.environment.userId },
        ...{ isAutomation: request.key !== undefined, author, message, look },
      }
      const outcomes = dryRun
        ? await tryPublish(db, route, options, look)
        : await db.transaction().execute(async (tx) => {
            const now = await timeIn(tx, route.targetId, clock.now())
            return publish(tx, route, options, { ...occasion, now })
          })
      const reported = report(outcomes, { dryRun })
      request.acted = !dryRun && { from: await nameOf(db, route.sourceId), ...done(reported) }
      return reported
    },
  )
}

const mostNames = 50

/** The names of what was published and deleted, for the audit log. */
function done({ results }: PublishReport): Record<string, string[]> {
  const all = results.flatMap(({ successful }) => successful)
  const namesOf = (isDeleted: boolean) =>
    all
      .filter(({ action }) => (action === 'deleted') === isDeleted)
      .slice(0, mostNames)
      .map(({ resourceName }) => resourceName)
  const deleted = namesOf(true)
  return { published: namesOf(false), ...(deleted.length > 0 ? { deleted } : {}) }
}

async function nameOf(db: Db, environmentId: string): Promise<string> {
  const { name } = await db
    .selectFrom('environments')
    .select('name')
    .where('id', '=', environmentId)
    .executeTakeFirstOrThrow()
  return name
}

export async function routeOf(
  db: Db,
  { organizationId }: Environment,
  { targetEnvironmentId: targetId }: { targetEnvironmentId: string },
  body: { sourceEnvironmentId?: string },
): Promise<Route> {
  const environments = await db
    .selectFrom('environments')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .limit(1_000)
    .execute()
  const development = environments.find(({ name }) => name === 'Development')
  const sourceId = body.sourceEnvironmentId ?? development?.id ?? 'Development'
  for (const environmentId of [targetId, sourceId])
    if (!environments.some(({ id }) => id === environmentId))
      throw fail('publish_environment_not_found', { environmentId })
  if (sourceId === targetId) throw fail('publish_into_itself')
  return { organizationId, sourceId, targetId }
}

/** With the rotas that the target lacks. The public client knows a closed set of dependencies; it finds them in `lacks` only. */
function withRotas<Resource extends Pick<ResourceDiff, 'resourceType' | 'sourceResource' | 'dependencies'>>(
  resource: Resource,
  lacks: Lack[],
  brand: Brand,
) {
  const { resourceType, sourceResource, dependencies = [] } = resource
  const rotas = lacks
    .filter(({ kind, workflowIds }) => kind === 'rota' && workflowIds.includes(sourceResource?.id ?? ''))
    .map(({ name }) => ({
      ...{ resourceType: 'rota' as const, resourceId: name, resourceName: name, isBlocking: false },
      reason: 'ROTA_MISSING_IN_TARGET' as const,
    }))
  if (brand.word === 'novu' || resourceType !== 'workflow' || rotas.length === 0) return resource
  return { ...resource, dependencies: [...dependencies, ...rotas] }
}

export function asNamed(named: { resourceType: (typeof requestedTypes)[number]; resourceId: string }): NamedResource {
  const { resourceId } = named
  const lower = named.resourceType.toLowerCase()
  const resourceType = lower === 'workflow' || lower === 'layout' ? lower : undefined
  const rowId = idIn(resourceId, resourceType === 'layout' ? 'lt' : 'wf') ?? idIn(resourceId, 'lt')
  return { resourceType, resourceId, rowId }
}
