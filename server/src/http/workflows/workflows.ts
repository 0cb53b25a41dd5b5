// Workflows, v2: an ordered list of steps that a trigger runs.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { idPattern, newId } from '../../db/core/ids.ts'
import { refuseOwnedTexts } from '../../db/queries/definition-files.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { copyTranslations } from '../../db/queries/translations.ts'
import { keepTexts } from '../../db/queries/version-texts.ts'
import {
  deleteWorkflow,
  fieldsOf,
  findWorkflow,
  lockWorkflow,
  saveWorkflow,
  type WorkflowFields,
  type WorkflowRow,
} from '../../db/queries/workflows.ts'
import { fail } from '../../errors.ts'
import { usedPaths } from '../../steps/check/inspect.ts'
import { payloadVariables } from '../../steps/check/variables.ts'
import { objectSchema, openObject } from '../../steps/contract/kind.ts'
import { mapSteps, someStep } from '../../steps/contract/tree.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import { authorOf } from '../edge/authorship.ts'
import { entityTag, impactTokenHeader, isExpected } from '../edge/preconditions.ts'
import type { Environment, Resource, Services } from '../edge/resource.ts'
import { Body, Empty, Enum, FreeObject } from '../edge/schema.ts'
import { idIn, slugify } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'
import { ListQuery, listWorkflows, WorkflowPage } from './list.ts'
import { BaseVersion, type Expected, refusalOf, staleSave } from './newer-version.ts'
import { fieldsAfter, refuseIncomplete, refuseUnseen, replacementBody, stepsFor } from './replacement.ts'
import {
  consentAfter,
  identifierProblem,
  journeyAfter,
  Maybe,
  newWorkflowFields,
  OwnIdentifier,
  Step,
  showStep,
  showWorkflow,
  Workflow,
  workflowFields,
} from './shape.ts'
import { findStep, storedValues, withLayouts } from './steps.ts'
import { refuseInCode } from './tree.ts'
import {
  createWorkflow,
  followSwitch,
  freeIdentifier,
  isTaken,
  readBody,
  refuseJourney,
  refuseOneTooMany,
  refuseSchema,
  replacedFields,
  reservePlace,
  type WorkflowBody,
} from './write.ts'

/** Emails with embedded images are large. */
const bodyLimit = 26 * 1024 * 1024

const sources =
  'template_store editor notification_directory onboarding_digest_demo onboarding_in_app empty_state dropdown onboarding_get_started bridge dashboard ai'.split(
    ' ',
  )
const Params = Type.Object({ workflowId: Type.String({ description: 'Identifier, slug or internal id' }) })
const StepParams = Type.Object({
  ...Params.properties,
  stepId: Type.String({ description: '`stepId`, slug or internal id' }),
})

type Reference = { environmentId: string; workflowId: string }

/** By identifier, else by internal id or slug. */
async function readWorkflow(db: Db | Tx, { environmentId, workflowId }: Reference): Promise<WorkflowRow> {
  const row = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
  if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
  return row
}

export const workflows: Resource = (app, services) => {
  const { db, brand } = services
  const { limits } = services.config
  const tags = ['Workflows']
  const upsert = workflowFields('UpsertWorkflowCommand', 'workflowDto')
  const patch = workflowFields('PatchWorkflowCommand')
  const duplicate = workflowFields('DuplicateWorkflowCommand')

  const show = async (row: WorkflowRow, reply: FastifyReply) => {
    const workflow = await showWorkflow(services, row)
    reply.header('ETag', entityTag(workflow.revision))
    return workflow
  }
  const writing = (request: FastifyRequest) => {
    const { id: environmentId, userId } = request.environment
    return { environmentId, userId, now: request.now(), by: authorOf(request) }
  }

  /** Locks the row from reading to writing, so that concurrent changes are not lost. */
  const change = async (
    request: FastifyRequest,
    workflowId: string,
    work: (row: WorkflowRow, tx: Tx) => Promise<WorkflowFields> | WorkflowFields,
    {
      prepare = async () => undefined,
      ...expected
    }: Expected & {
      prepare?: (row: WorkflowRow, tx: Tx) => Promise<void>
    },
  ): Promise<WorkflowRow> => {
    const write = writing(request)
    const { environmentId } = write
    const { row: result, refusal } = await db.transaction().execute(async (tx) => {
      const found = await readWorkflow(tx, { environmentId, workflowId })
      // Layouts are locked before workflows everywhere, to avoid deadlocks.
      await prepare(found, tx)
      const row = await lockWorkflow(tx, environmentId, found.id)
      if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
      // Under the lock: of two saves that began from one version, the second is refused.
      const refusal = refusalOf(row, expected)
      if (refusal) return { row, refusal }
      const fields = await work(row, tx)
      const saved = await saveWorkflow(tx, { ...write, id: row.id }, fields)
      await followSwitch(tx, saved, row.is_translation_enabled)
      return { row: saved }
    })
    if (refusal) throw await staleSave(services, result, refusal)
    return result
  }

  /** Makes it with exactly this identifier, unless there is one. Of two at once, one makes it. */
  const createMissing = async (
    request: FastifyRequest,
    workflowId: string,
    body: WorkflowBody & { workflowId?: string | null | undefined },
    headers: IncomingHttpHeaders = {},
  ): Promise<WorkflowRow | undefined> => {
    const { environment } = request
    const find = (from: Db | Tx) => findWorkflow(from, environment.id, workflowId, idIn(workflowId, 'wf'))
    if (await find(db)) return undefined
    return db.transaction().execute(async (tx) => {
      await lockEnvironment(tx, environment.id)
      if (await find(tx)) return undefined
      if (!isExpected(headers, undefined)) throw fail('revision_changed', { revision: undefined })
      if (headers[impactTokenHeader] !== undefined) throw fail('impact_stale')
      refuseIdentifier(workflowId)
      sameIdentifier(workflowId, workflowId, body.workflowId)
      await refuseOneTooMany(tx, environment.id, limits.workflows)
      return createWorkflow(tx, writing(request), workflowId, body)
    })
  }

  app.post(
    '/v2/workflows',
    {
      bodyLimit,
      config: { refusals: [409] },
      schema: {
        tags,
        summary: 'Create a workflow',
        description:
          'A taken identifier gets a random suffix, unless `onConflict` says otherwise. Control values are stored unchanged; `issues` of each step lists their problems. What was read can be sent as it is: members that only answers have are dropped.',
        querystring: Type.Object({
          onConflict: Type.Optional(
            Enum(['error', 'update'], {
              description:
                'If the identifier is taken: `error` answers 409 `workflow_exists`, `update` replaces that workflow, where absent fields get their defaults',
            }),
          ),
        }),
        body: Body({
          name: upsert.name,
          workflowId: OwnIdentifier,
          steps: upsert.steps,
          ...newWorkflowFields(upsert),
          __source: Maybe(Enum(sources, { description: 'Where it is created; ignored' })),
        }),
        response: { 200: Workflow, 201: Workflow },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const { workflowId } = body
      const { onConflict } = request.query
      readBody(body, limits)
      if (onConflict === undefined) {
        const made = await db.transaction().execute(async (tx) => {
          await reservePlace(tx, environment.id, limits.workflows)
          const identifier = await freeIdentifier(tx, environment.id, workflowId)
          return createWorkflow(tx, writing(request), identifier, body)
        })
        reply.code(201)
        return show(made, reply)
      }
      const made = await createMissing(request, workflowId, body)
      if (made) {
        reply.code(201)
        return show(made, reply)
      }
      if (onConflict === 'error') throw fail('workflow_exists', { workflowId }, { ctx: { workflowId } })
      let given = body.steps
      const saved = await change(request, workflowId, (row) => replacedFields(row, body, given, request.now()), {
        prepare: async (row, tx) => {
          if (row.origin === 'svc-cloud') given = await withLayouts(tx, row.environment_id, storedValues(body.steps))
          if (row.origin === 'external') refuseInCode(row.identifier, body.steps)
        },
      })
      reply.code(200)
      return show(saved, reply)
    },
  )

  app.get(
    '/v2/workflows',
    {
      schema: {
        tags,
        summary: 'List workflows, without the content of their steps',
        querystring: ListQuery,
        response: { 200: WorkflowPage },
      },
    },
    async (request) => listWorkflows(services, request.environment.id, request.query),
  )

  app.get(
    '/v2/workflows/:workflowId',
    {
      schema: {
        tags,
        summary: 'Retrieve a workflow',
        params: Params,
        querystring: Type.Object({
          environmentId: Type.Optional(
            Type.String({ description: "Internal id of another environment of the key's organization" }),
          ),
        }),
        response: { 200: Workflow },
      },
    },
    async (request, reply) => {
      const environmentId = await environmentToRead(db, request.environment, request.query.environmentId)
      return show(await readWorkflow(db, { environmentId, workflowId: request.params.workflowId }), reply)
    },
  )

  app.put(
    '/v2/workflows/:workflowId',
    {
      bodyLimit,
      config: { refusals: [409, 412] },
      schema: {
        tags,
        summary: 'Replace a workflow',
        description:
          'Steps are matched by `_id`, or else by `stepId` and `type`; the given list replaces the stored one. A step without `controlValues` loses its stored ones. What was read can be sent as it is; if nothing differs, nothing is written. `If-Match` with the `ETag` of an answer refuses the change with 412 if somebody changed it since. `Belfry-Impact-Token` with the `impactToken` of an impact refuses it with 409 `impact_stale` if it is another change, or on another version.',
        params: Params,
        querystring: Type.Object({
          upsert: Type.Optional(
            Type.Boolean({
              description:
                'Make it with exactly this identifier if there is none (201). With the header `If-None-Match: *` it is only made, never replaced',
            }),
          ),
        }),
        body: replacementBody(brand),
        response: { 200: Workflow, 201: Workflow },
      },
    },
    async (request, reply) => {
      const { body, headers } = request
      const { workflowId } = request.params
      const { upsert: isUpsert = false } = request.query
      if (!isUpsert) refuseIncomplete(body)
      readBody(body, limits)
      const token = headers[impactTokenHeader]
      if (isUpsert) {
        const made = await createMissing(request, workflowId, body, headers)
        if (made) {
          reply.code(201)
          return show(made, reply)
        }
      }
      let given = body.steps
      const saved = await change(
        request,
        workflowId,
        async (row, tx) => {
          refuseUnseen(token, row, body)
          return {
            ...fieldsAfter(row, body, given, request.now()),
            identifier: isUpsert
              ? sameIdentifier(row.identifier, workflowId, body.workflowId)
              : await identifierAfter(tx, row, body.workflowId),
          }
        },
        {
          baseVersion: body.baseVersion,
          headers,
          prepare: async (row, tx) => {
            given = await stepsFor(tx, row, body)
          },
        },
      )
      return show(saved, reply)
    },
  )

  app.patch(
    '/v2/workflows/:workflowId',
    {
      bodyLimit,
      config: { refusals: [409, 412] },
      schema: {
        tags,
        summary:
          'Change the given fields of a workflow; null changes nothing but `messageClass`, `consentCategory`, `tracking` and `journey`',
        params: Params,
        body: Body({
          active: Maybe(patch.active),
          name: Maybe(patch.name),
          description: Maybe(patch.description),
          tags: Maybe(patch.tags),
          payloadSchema: Maybe(patch.payloadSchema),
          validatePayload: Maybe(patch.validatePayload),
          isTranslationEnabled: Maybe(patch.isTranslationEnabled),
          messageClass: Maybe(patch.messageClass),
          consentCategory: Maybe(patch.consentCategory),
          tracking: Maybe(patch.tracking),
          journey: Maybe(patch.journey),
          baseVersion: BaseVersion,
        }),
        response: { 200: Workflow },
      },
    },
    async (request, reply) => {
      const { environment, headers } = request
      const { baseVersion, ...body } = request.body
      const { workflowId } = request.params
      refuseSchema(body.payloadSchema)
      refuseJourney(body.journey)
      const { messageClass, consentCategory, tracking, journey, ...others } = body
      const isEmpty =
        messageClass === undefined &&
        consentCategory === undefined &&
        tracking === undefined &&
        journey === undefined &&
        Object.values(others).every((value) => value === null || value === undefined)
      if (isEmpty && headers['if-match'] === undefined)
        return show(await readWorkflow(db, { environmentId: environment.id, workflowId }), reply)
      const saved = await change(
        request,
        workflowId,
        (row) => ({
          ...fieldsOf(row),
          active: body.active ?? row.active,
          name: body.name ?? row.name,
          description: body.description ?? row.description,
          tags: body.tags ?? row.tags,
          ...consentAfter(body, row),
          ...journeyAfter(body.journey, row),
          payload_schema: body.payloadSchema ?? row.payload_schema,
          validate_payload: body.validatePayload ?? row.validate_payload,
          is_translation_enabled: body.isTranslationEnabled ?? row.is_translation_enabled,
        }),
        { baseVersion, headers },
      )
      return show(saved, reply)
    },
  )

  app.delete(
    '/v2/workflows/:workflowId',
    {
      config: { refusals: [412] },
      schema: {
        tags,
        summary: 'Delete a workflow with its translations and all preferences for it',
        params: Params,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { workflowId } = request.params
      const missing = () => fail('workflow_not_found', undefined, { ctx: { workflowId } })
      const stale = await db.transaction().execute(async (tx) => {
        const { id } = await readWorkflow(tx, { environmentId, workflowId })
        const row = await lockWorkflow(tx, environmentId, id)
        if (!row) throw missing()
        if (refusalOf(row, { headers: request.headers })) return row
        if (!(await deleteWorkflow(tx, environmentId, id, request.now()))) throw missing()
        return undefined
      })
      if (stale) throw await staleSave(services, stale, 'revision_changed')
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v2/workflows/:workflowId/duplicate',
    {
      schema: {
        tags,
        summary: 'Copy a workflow; the copy is inactive',
        params: Params,
        body: Type.Optional(
          Body({
            name: Maybe(duplicate.name),
            workflowId: Maybe(OwnIdentifier),
            tags: Maybe(duplicate.tags),
            description: Maybe(duplicate.description),
            isTranslationEnabled: Maybe(duplicate.isTranslationEnabled),
          }),
        ),
        response: { 201: Workflow },
      },
    },
    async (request, reply) => {
      const write = writing(request)
      const { environmentId, now } = write
      const body = request.body ?? {}
      const row = await db.transaction().execute(async (tx) => {
        await reservePlace(tx, environmentId, limits.workflows)
        const original = await readWorkflow(tx, { environmentId, workflowId: request.params.workflowId })
        refuseOtherOrigins(original, brand)
        const name = body.name ?? `${original.name.slice(0, 128 - copySuffix.length)}${copySuffix}`
        const fields = fieldsOf(original)
        const saved = await saveWorkflow(
          tx,
          { ...write, id: newId(now) },
          {
            ...fields,
            name,
            identifier: await freeIdentifier(tx, environmentId, body.workflowId ?? (slugify(name) || 'workflow')),
            description: body.description ?? fields.description,
            tags: body.tags ?? fields.tags,
            active: false,
            is_translation_enabled: body.isTranslationEnabled ?? fields.is_translation_enabled,
            steps: mapSteps(fields.steps, (step) => ({ ...step, _id: newId(now) })),
          },
        )
        await followSwitch(tx, saved, false)
        const texts = (of: WorkflowRow) => ({ environmentId, resourceType: 'workflow', resourceRowId: of.id }) as const
        if (saved.is_translation_enabled && original.is_translation_enabled) {
          await copyTranslations(tx, texts(original), texts(saved))
          await refuseOwnedTexts(tx, environmentId, 'workflow', [saved.id])
        }
        await keepTexts(tx, environmentId, 'workflow', [saved.id], { now })
        return saved
      })
      reply.code(201)
      return show(row, reply)
    },
  )

  app.get(
    '/v2/workflows/:workflowId/steps/:stepId',
    { schema: { tags, summary: 'Retrieve a step of a workflow', params: StepParams, response: { 200: Step } } },
    async (request) => {
      const { workflowId, stepId } = request.params
      const row = await readWorkflow(db, { environmentId: request.environment.id, workflowId })
      const step = findStep(row.steps, stepId)
      if (!step) throw fail('workflow_step_not_found', undefined, { ctx: { stepId, workflowId } })
      return showStep(db, brand, row, step)
    },
  )

  app.get(
    '/v2/workflows/:workflowId/test-data',
    {
      schema: {
        tags,
        summary: 'Describe the recipient and payload of a trigger, as JSON Schemas',
        params: Params,
        response: { 200: Type.Object({ to: FreeObject, payload: FreeObject }) },
      },
    },
    async (request) => {
      const { id: environmentId, userId } = request.environment
      const row = await readWorkflow(db, { environmentId, workflowId: request.params.workflowId })
      return { to: recipientSchema(row, userId), payload: payloadSchemaOf(row) }
    },
  )
}

const copySuffix = ' (Copy)'

function refuseOtherOrigins(row: WorkflowRow, brand: Services['brand']): void {
  if (row.origin === 'svc-cloud') return
  const allowed = [brand.toWire('svc-cloud')]
  throw fail(
    'workflow_not_duplicable',
    { origins: allowed },
    { ctx: { workflowId: row.identifier, origin: brand.toWire(row.origin), allowedOrigins: allowed } },
  )
}

/** Public clients rely on these refusals. */
/** For an identifier that becomes a new workflow's. */
function refuseIdentifier(workflowId: string): void {
  const problem = identifierProblem(workflowId)
  if (problem) throw generalError([`workflowId ${problem}`])
}

function sameIdentifier(identifier: string, inPath: string, inBody: string | null | undefined): string {
  if (typeof inBody === 'string' && inBody !== identifier && inBody !== inPath)
    throw generalError([`workflowId must be "${identifier}", as in the path`])
  return identifier
}

/** Only a code-first workflow can change its identifier. */
async function identifierAfter(tx: Tx, row: WorkflowRow, wanted: string | null | undefined): Promise<string> {
  if (row.origin !== 'external' || !wanted || wanted === row.identifier) return row.identifier
  if (await isTaken(tx, row.environment_id, wanted)) throw fail('workflow_id_taken', { workflowId: wanted })
  return wanted
}

async function environmentToRead(db: Db, own: Environment, wanted: string | undefined): Promise<string> {
  if (wanted === undefined || wanted === own.id) return own.id
  if (!new RegExp(idPattern).test(wanted)) throw fail('environment_id_malformed', { environmentId: wanted })
  const row = await db
    .selectFrom('environments')
    .select('id')
    .where('organization_id', '=', own.organizationId)
    .where('id', '=', wanted)
    .executeTakeFirst()
  if (!row) throw fail('environment_not_found', { environmentId: wanted })
  return row.id
}

/** Describes a subscriber that every step can reach. */
function recipientSchema({ steps }: WorkflowRow, userId: string): JsonSchema {
  const has = (type: string) => someStep(steps, (step) => step.type === type)
  const properties: Record<string, JsonSchema> = {
    subscriberId: { type: 'string', default: userId },
    ...(has('email') ? { email: { type: 'string', format: 'email' } } : {}),
    ...(has('sms') ? { phone: { type: 'string' } } : {}),
  }
  return objectSchema(properties, Object.keys(properties))
}

function payloadSchemaOf(row: WorkflowRow): JsonSchema {
  if (row.payload_schema) return row.payload_schema
  return row.steps.length === 0 ? openObject : payloadVariables(usedPaths(row))
}
