// Workflows, v2: an ordered list of steps that a trigger runs.
import { Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { idPattern, newId, randomLower } from '../../db/core/ids.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { copyTranslations, disableTranslations, enableTranslations } from '../../db/queries/translations.ts'
import {
  deleteWorkflow,
  fieldsOf,
  findWorkflow,
  lockWorkflow,
  saveWorkflow,
  type WorkflowFields,
  type WorkflowRow,
} from '../../db/queries/workflows.ts'
import { completePreferences, isCritical } from '../../engine/core/preferences.ts'
import { fail } from '../../errors.ts'
import { usedPaths } from '../../steps/check/inspect.ts'
import { payloadVariables } from '../../steps/check/variables.ts'
import { objectSchema, openObject } from '../../steps/contract/kind.ts'
import { compileSchema } from '../../steps/json-schema/json-schema.ts'
import { type JsonSchema, SchemaError } from '../../steps/json-schema/run.ts'
import type { Environment, Resource, Services } from '../edge/resource.ts'
import { Body, Empty, Enum, FreeObject } from '../edge/schema.ts'
import { idIn, slugify } from '../edge/slug.ts'
import { generalError } from '../edge/validation.ts'
import { ListQuery, listWorkflows, WorkflowPage } from './list.ts'
import { BaseVersion, staleSave } from './newer-version.ts'
import {
  consentAfter,
  Maybe,
  OwnIdentifier,
  origins,
  PreferencesInput,
  Step,
  showStep,
  showWorkflow,
  Workflow,
  workflowFields,
} from './shape.ts'
import { findStep, planSteps, refuseTooManySteps, storedValues, withLayouts } from './steps.ts'

const mostTries = 3
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

/** The schema of a workflow without one: allows anything. */
const openPayload = { type: 'object', additionalProperties: true, properties: {} }

type Reference = { environmentId: string; workflowId: string }

/** By identifier, else by internal id or slug. */
async function readWorkflow(db: Db | Tx, { environmentId, workflowId }: Reference): Promise<WorkflowRow> {
  const row = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
  if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
  return row
}

/** Refuses an invalid schema on writing, not at the first trigger. */
function refuseSchema(schema: JsonSchema | null | undefined): void {
  if (!schema) return
  try {
    compileSchema(schema)
  } catch (error) {
    if (error instanceof SchemaError)
      throw generalError([`payloadSchema must be a valid JSON schema: ${error.message}`])
    throw error
  }
}

/** Serializes the creation of workflows in an environment, so that the limit and unique identifiers are exact. */
async function reservePlace(tx: Tx, environmentId: string, limit: number): Promise<void> {
  await lockEnvironment(tx, environmentId)
  const { count } = await tx
    .selectFrom('workflows')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('environment_id', '=', environmentId)
    .executeTakeFirstOrThrow()
  if (Number(count) >= limit)
    throw fail('too_many_workflows', { limit }, { ctx: { currentCount: Number(count), limit } })
}

/** The wanted identifier, or with a random suffix if another workflow has it. */
async function freeIdentifier(tx: Tx, environmentId: string, wanted: string): Promise<string> {
  for (let i = 0; i < mostTries; i += 1) {
    const identifier = i === 0 ? wanted : `${wanted}-${randomLower(8)}`
    if (!(await isTaken(tx, environmentId, identifier))) return identifier
  }
  throw fail('workflow_id_taken', { workflowId: wanted })
}

async function isTaken(tx: Tx, environmentId: string, identifier: string): Promise<boolean> {
  const row = await tx
    .selectFrom('workflows')
    .select('id')
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .executeTakeFirst()
  return row !== undefined
}

/** Creates or deletes the texts when translation is turned on or off. */
async function followSwitch(tx: Tx, row: WorkflowRow, wasEnabled: boolean): Promise<void> {
  if (row.is_translation_enabled === wasEnabled) return
  const translated = { environmentId: row.environment_id, resourceType: 'workflow', resourceRowId: row.id } as const
  if (wasEnabled) await disableTranslations(tx, translated)
  else await enableTranslations(tx, translated, row.updated_at)
}

export const workflows: Resource = (app, services) => {
  const { db, clock, brand } = services
  const { limits } = services.config
  const tags = ['Workflows']
  const upsert = workflowFields('UpsertWorkflowCommand', 'workflowDto')
  const patch = workflowFields('PatchWorkflowCommand')
  const duplicate = workflowFields('DuplicateWorkflowCommand')

  const show = async (row: WorkflowRow) => showWorkflow(services, row)
  const writing = ({ id: environmentId, userId }: Environment) => ({ environmentId, userId, now: clock.now() })

  /** Locks the row from reading to writing, so that concurrent changes are not lost. */
  const change = async (
    { id: environmentId, userId }: Environment,
    workflowId: string,
    work: (row: WorkflowRow, tx: Tx) => Promise<WorkflowFields> | WorkflowFields,
    {
      baseVersion,
      prepare = async () => undefined,
    }: {
      baseVersion?: number | null | undefined
      prepare?: (row: WorkflowRow, tx: Tx) => Promise<void>
    },
  ): Promise<WorkflowRow> => {
    const { row: result, isStale } = await db.transaction().execute(async (tx) => {
      const found = await readWorkflow(tx, { environmentId, workflowId })
      // Layouts are locked before workflows everywhere, to avoid deadlocks.
      await prepare(found, tx)
      const row = await lockWorkflow(tx, environmentId, found.id)
      if (!row) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
      // Under the lock: of two saves that began from one version, the second is refused.
      if (typeof baseVersion === 'number' && baseVersion !== row.version) return { row, isStale: true }
      const fields = await work(row, tx)
      const saved = await saveWorkflow(tx, { environmentId, userId, id: row.id, now: clock.now() }, fields)
      await followSwitch(tx, saved, row.is_translation_enabled)
      return { row: saved, isStale: false }
    })
    if (isStale) throw await staleSave(services, result)
    return result
  }

  app.post(
    '/v2/workflows',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Create a workflow',
        description:
          'A taken identifier gets a random suffix. Control values are stored unchanged; `issues` of each step lists their problems.',
        body: Body({
          name: upsert.name,
          workflowId: OwnIdentifier,
          steps: upsert.steps,
          description: Maybe(upsert.description),
          tags: Maybe(upsert.tags),
          active: Maybe(upsert.active),
          validatePayload: Maybe(upsert.validatePayload),
          payloadSchema: Maybe(upsert.payloadSchema),
          isTranslationEnabled: Maybe(upsert.isTranslationEnabled),
          severity: Maybe(upsert.severity),
          messageClass: Maybe(upsert.messageClass),
          consentCategory: Maybe(upsert.consentCategory),
          preferences: Maybe(PreferencesInput),
          __source: Maybe(Enum(sources, { description: 'Where it is created; ignored' })),
        }),
        response: { 201: Workflow },
      },
    },
    async (request, reply) => {
      const { name, workflowId, severity, preferences, payloadSchema, ...body } = request.body
      refuseTooManySteps(body.steps, limits.steps)
      refuseSchema(payloadSchema)
      const { environmentId, userId, now } = writing(request.environment)
      const given = storedValues(body.steps)
      const workflow = completePreferences(preferences?.workflow)
      const user = preferences?.user ? completePreferences(preferences.user) : null
      const row = await db.transaction().execute(async (tx) => {
        await reservePlace(tx, environmentId, limits.workflows)
        const saved = await saveWorkflow(
          tx,
          { environmentId, userId, now, id: newId(now) },
          {
            name,
            identifier: await freeIdentifier(tx, environmentId, workflowId),
            description: body.description ?? '',
            origin: 'svc-cloud',
            active: body.active ?? false,
            critical: isCritical({ workflow, user }),
            severity: severity ?? 'none',
            ...consentAfter(body),
            tags: body.tags ?? [],
            data: null,
            steps: planSteps(await withLayouts(tx, environmentId, given), [], now),
            payload_schema: payloadSchema ?? openPayload,
            validate_payload: body.validatePayload ?? !payloadSchema,
            is_translation_enabled: body.isTranslationEnabled ?? false,
            preferences: workflow,
            user_preferences: user,
          },
        )
        await followSwitch(tx, saved, false)
        return saved
      })
      reply.code(201)
      return show(row)
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
    async (request) => {
      const environmentId = await environmentToRead(db, request.environment, request.query.environmentId)
      return show(await readWorkflow(db, { environmentId, workflowId: request.params.workflowId }))
    },
  )

  app.put(
    '/v2/workflows/:workflowId',
    {
      bodyLimit,
      config: { refusals: [409] },
      schema: {
        tags,
        summary: 'Replace a workflow',
        description:
          'Steps are matched by `_id`; the given list replaces the stored one. A step without `controlValues` loses its stored ones.',
        params: Params,
        body: Body({
          name: upsert.name,
          steps: upsert.steps,
          preferences: PreferencesInput,
          origin: Enum(
            origins.map((origin) => brand.toWire(origin)),
            { description: 'Accepted and ignored: a workflow keeps its origin' },
          ),
          workflowId: Maybe(
            Type.String({ minLength: 1, maxLength: 255, description: 'Applied to code-first workflows only' }),
          ),
          description: Maybe(upsert.description),
          tags: Maybe(upsert.tags),
          active: Maybe(upsert.active),
          validatePayload: Maybe(upsert.validatePayload),
          payloadSchema: Maybe(upsert.payloadSchema),
          isTranslationEnabled: Maybe(upsert.isTranslationEnabled),
          severity: Maybe(upsert.severity),
          messageClass: Maybe(upsert.messageClass),
          consentCategory: Maybe(upsert.consentCategory),
          baseVersion: BaseVersion,
        }),
        response: { 200: Workflow },
      },
    },
    async (request) => {
      const { body, environment } = request
      refuseTooManySteps(body.steps, limits.steps)
      refuseSchema(body.payloadSchema)
      const workflow = completePreferences(body.preferences.workflow)
      const user = body.preferences.user ? completePreferences(body.preferences.user) : null
      let given = body.steps
      const saved = await change(
        environment,
        request.params.workflowId,
        async (row, tx) => ({
          ...fieldsOf(row),
          name: body.name,
          identifier: await identifierAfter(tx, row, body.workflowId),
          description: body.description ?? row.description,
          active: body.active ?? false,
          critical: isCritical({ workflow, user }),
          severity: body.severity ?? row.severity,
          ...consentAfter(body, row),
          tags: body.tags ?? row.tags,
          steps: planSteps(given, row.steps, clock.now()),
          payload_schema: body.payloadSchema === undefined ? row.payload_schema : body.payloadSchema,
          validate_payload: body.validatePayload ?? row.validate_payload,
          is_translation_enabled: body.isTranslationEnabled ?? row.is_translation_enabled,
          preferences: workflow,
          user_preferences: user,
        }),
        {
          baseVersion: body.baseVersion,
          prepare: async (row, tx) => {
            if (row.origin === 'svc-cloud') given = await withLayouts(tx, row.environment_id, storedValues(body.steps))
          },
        },
      )
      return show(saved)
    },
  )

  app.patch(
    '/v2/workflows/:workflowId',
    {
      bodyLimit,
      config: { refusals: [409] },
      schema: {
        tags,
        summary: 'Change the given fields of a workflow; null changes nothing but `messageClass` and `consentCategory`',
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
          baseVersion: BaseVersion,
        }),
        response: { 200: Workflow },
      },
    },
    async (request) => {
      const { environment } = request
      const { baseVersion, ...body } = request.body
      const { workflowId } = request.params
      refuseSchema(body.payloadSchema)
      const { messageClass, consentCategory, ...others } = body
      const isEmpty =
        messageClass === undefined &&
        consentCategory === undefined &&
        Object.values(others).every((value) => value === null || value === undefined)
      if (isEmpty) return show(await readWorkflow(db, { environmentId: environment.id, workflowId }))
      const saved = await change(
        environment,
        workflowId,
        (row) => ({
          ...fieldsOf(row),
          active: body.active ?? row.active,
          name: body.name ?? row.name,
          description: body.description ?? row.description,
          tags: body.tags ?? row.tags,
          ...consentAfter(body, row),
          payload_schema: body.payloadSchema ?? row.payload_schema,
          validate_payload: body.validatePayload ?? row.validate_payload,
          is_translation_enabled: body.isTranslationEnabled ?? row.is_translation_enabled,
        }),
        { baseVersion },
      )
      return show(saved)
    },
  )

  app.delete(
    '/v2/workflows/:workflowId',
    {
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
      await db.transaction().execute(async (tx) => {
        const { id } = await readWorkflow(tx, { environmentId, workflowId })
        if (!(await deleteWorkflow(tx, environmentId, id, clock.now())))
          throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
      })
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
      const { environmentId, userId, now } = writing(request.environment)
      const body = request.body ?? {}
      const row = await db.transaction().execute(async (tx) => {
        await reservePlace(tx, environmentId, limits.workflows)
        const original = await readWorkflow(tx, { environmentId, workflowId: request.params.workflowId })
        refuseOtherOrigins(original, brand)
        const name = body.name ?? `${original.name.slice(0, 128 - copySuffix.length)}${copySuffix}`
        const fields = fieldsOf(original)
        const saved = await saveWorkflow(
          tx,
          { environmentId, userId, now, id: newId(now) },
          {
            ...fields,
            name,
            identifier: await freeIdentifier(tx, environmentId, body.workflowId ?? (slugify(name) || 'workflow')),
            description: body.description ?? fields.description,
            tags: body.tags ?? fields.tags,
            active: false,
            is_translation_enabled: body.isTranslationEnabled ?? fields.is_translation_enabled,
            steps: fields.steps.map((step) => ({ ...step, _id: newId(now) })),
          },
        )
        await followSwitch(tx, saved, false)
        const texts = (of: WorkflowRow) => ({ environmentId, resourceType: 'workflow', resourceRowId: of.id }) as const
        if (saved.is_translation_enabled && original.is_translation_enabled)
          await copyTranslations(tx, texts(original), texts(saved))
        return saved
      })
      reply.code(201)
      return show(row)
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
  const has = (type: string) => steps.some((step) => step.type === type)
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
