// Impact: what a change would do, before it is saved or published. The last triggers are played by the workflow of now and by the
// changed one; nothing is stored or sent.
import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import { contentAfter, readContents } from '../../engine/authoring/publish.ts'
import { affectedBy, publishToken } from '../../engine/authoring/publish-impact.ts'
import { planPublish } from '../../engine/authoring/publish-plan.ts'
import type { WorkflowVersion } from '../../engine/core/memory.ts'
import { kinds } from '../../engine/simulation/differences.ts'
import { readImpact } from '../../engine/simulation/impact-reads.ts'
import type { Snapshot } from '../../engine/simulation/scenario.ts'
import type { Simulations } from '../../engine/simulation/simulations.ts'
import { inSnapshot } from '../../engine/simulation/snapshot.ts'
import type { Brand } from '../../engine/simulation/tools.ts'
import { fail } from '../../errors.ts'
import { requirePublish } from '../edge/reach.ts'
import type { App, Services } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Nullable } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { optionsOf, Params, publishMembers, routeOf } from '../organization/publish.ts'
import { draftToken, fieldsAfter, refuseIncomplete, replacementBody, stepsFor } from '../workflows/replacement.ts'
import { readBody } from '../workflows/write.ts'
import { answerPlayed } from './playing.ts'

const bodyLimit = 26 * 1024 * 1024
const usualTriggers = 100

const Count = Type.Integer()
const triggers = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: 1_000,
    description: `How many of the last triggers to play; without it, ${usualTriggers}`,
  }),
)

const Message = Type.Unsafe<Record<string, unknown> | null>({ ...FreeObject, type: ['object', 'null'] })

const Impact = Type.Object({
  workflowId: Type.String(),
  version: Nullable(Type.Integer({ description: 'The one that would be changed; null for a new workflow' })),
  waiting: Type.Object(
    {
      runs: Count,
      steps: Type.Array(
        Type.Object({
          stepId: Type.String(),
          type: Type.String(),
          runs: Count,
          change: Enum(['none', 'changed', 'removed'], { description: 'What becomes of the step' }),
        }),
      ),
    },
    { description: 'Runs of any version that wait. They go on as they began' },
  ),
  variables: Type.Array(Type.Object({ stepId: Type.String(), name: Type.String(), missingIn: Count, of: Count }), {
    description: 'What the change reads and some of these triggers leave empty, without a default',
  }),
  replay: Type.Object({
    triggers: Count,
    runs: Count,
    same: Count,
    different: Count,
    left: Type.Integer({ description: 'Runs of people who are gone' }),
    kinds: Type.Object(Object.fromEntries(kinds.map((kind): [string, TSchema] => [kind, Count]))),
    examples: Type.Array(
      Type.Object({
        transactionId: Type.String(),
        subscriberId: Type.String(),
        kind: Enum(kinds),
        changes: Type.Array(
          Type.Object({ stepId: Type.String(), member: Type.String(), before: Type.Unknown(), after: Type.Unknown() }),
        ),
        messages: Type.Object(
          { before: Message, after: Message },
          { description: 'The message that differs; null on the side that has none' },
        ),
      }),
      { description: 'Up to 20, some of every kind. None for a key that may not read the environment' },
    ),
  }),
  impactToken: Type.String({ description: 'For `Belfry-Impact-Token`, so that exactly this is saved' }),
})

export function impact(app: App, services: Services, { threads, brand }: { threads: Simulations; brand: Brand }): void {
  const { db, secrets, clock, log, config } = services
  const means = { secrets, activityDays: config.retention.activityDays }
  const Replacement = { ...replacementBody(services.brand), description: 'The body of `PUT`' }

  app.post(
    '/v2/workflows/:workflowId/impact',
    {
      bodyLimit,
      config: { keepsContent: true, leavesClock: true, refusals: [404, 429] },
      schema: {
        tags: ['Simulations'],
        summary: 'What a change of a workflow would do',
        description:
          'Plays the last triggers twice, by the version of now and by the draft, for those who had runs then, as they are now. Nothing is stored or sent. Steps in your code are not played.',
        params: Type.Object({ workflowId: Type.String({ description: 'Identifier, slug or internal id' }) }),
        body: Body({
          draft: Replacement,
          triggers,
        }),
        response: { 200: Impact },
      },
    },
    async (request, reply) => {
      const { draft, triggers: asked = usualTriggers } = request.body
      const environmentId = request.environment.id
      const { workflowId } = request.params
      refuseIncomplete(draft)
      readBody(draft, config.limits)
      return answerPlayed({ threads, log }, reply, () =>
        inSnapshot(db, async (tx) => {
          const before = await findWorkflow(tx, environmentId, workflowId, idIn(workflowId, 'wf'))
          if (!before) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
          const given = await stepsFor(tx, before, draft, { isRead: true })
          const { id, version, identifier } = before
          const after: WorkflowVersion = { ...fieldsAfter(before, draft, given, request.now()), id, version }
          const change = { workflowId: identifier, before, after, token: draftToken(before, draft) }
          const found = await readImpact(tx, means, { environmentId, changes: [change], triggers: asked })
          return { impact: { ...found, brand, hasExamples: true }, token: undefined }
        }),
      ) as never
    },
  )

  app.post(
    '/v2/environments/:targetEnvironmentId/impact',
    {
      config: { role: 'viewer', scope: 'publish', leavesClock: true, refusals: [429] },
      schema: {
        tags: ['Simulations'],
        summary: 'What a publish would do',
        description:
          'For every workflow that would change, also by its layout, its last triggers in the target are played by the version of now and by the published one.',
        params: Params,
        body: Body({ ...publishMembers, triggers }),
        response: {
          200: Type.Object({
            workflows: Type.Array(Impact),
            impactToken: Type.String({ description: 'For the whole publish' }),
          }),
        },
      },
    },
    async (request, reply) => {
      const { triggers: asked = usualTriggers } = request.body
      const route = await routeOf(db, request.environment, request.params, request.body)
      await requirePublish(services, request, route)
      const options = optionsOf(request.body, config.limits)
      const { targetId } = route
      return answerPlayed({ threads, log }, reply, () =>
        inSnapshot(db, async (tx) => {
          const contents = await readContents(tx, route)
          const plan = planPublish(contents.source, contents.target, options)
          const later = contentAfter(contents, plan, targetId, clock.now())
          const changes = affectedBy(plan, contents).map(({ workflowId, before, isDeleted, token }) => {
            const row = later.workflows.find(({ identifier }) => identifier === workflowId)
            return { workflowId, before, after: isDeleted ? undefined : (row as WorkflowVersion | undefined), token }
          })
          const after = { layouts: later.layouts, translations: await groupsOf(tx, targetId, later.translations) }
          const found = await readImpact(tx, means, { environmentId: targetId, changes, triggers: asked, after })
          return {
            impact: { ...found, brand, hasExamples: mayRead(request, targetId) },
            token: publishToken(plan, contents, targetId),
          }
        }),
      ) as never
    },
  )
}

/** A key that may only publish into an environment does not see what its people get. */
const mayRead = ({ key, environment }: FastifyRequest, environmentId: string): boolean =>
  !key || (key.may('read') && (key.isOrganizationWide || environment.id === environmentId))

async function groupsOf(
  tx: Tx,
  environmentId: string,
  rows: ReturnType<typeof contentAfter>['translations'],
): Promise<Snapshot['translations']> {
  const { default_locale: defaultLocale } = await tx
    .selectFrom('environments as e')
    .innerJoin('organizations as o', 'o.id', 'e.organization_id')
    .select('o.default_locale')
    .where('e.id', '=', environmentId)
    .executeTakeFirstOrThrow()
  const groups: Snapshot['translations'] = {}
  for (const { resource_type, resource_row_id, locale, content } of rows) {
    const name = `${resource_type} ${resource_row_id}`
    const group = groups[name] ?? { defaultLocale, locales: {} }
    groups[name] = { ...group, locales: { ...group.locales, [locale]: content as never } }
  }
  return groups
}
