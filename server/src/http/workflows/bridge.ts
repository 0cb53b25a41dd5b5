// The bridge: the user's application that holds an environment's code-first workflows, at one URL.
import { Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { type EnvironmentAccess, findEnvironmentAccess } from '../../db/core/environment-access.ts'
import {
  fieldsOf,
  findWorkflow,
  lockWorkflow,
  saveWorkflow,
  type WorkflowRow,
  type WorkflowStep,
} from '../../db/queries/workflows.ts'
import { bridgeEvent, dataFor } from '../../engine/authoring/preview.ts'
import { Bridge, BridgeError, targetIn } from '../../engine/core/bridge.ts'
import { fail } from '../../errors.ts'
import { issuesOfSteps } from '../../steps/check/inspect.ts'
import { authorOf } from '../edge/authorship.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, FreeObject } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { readDiscovered, syncWorkflows } from './bridge-sync.ts'
import { ListedWorkflow, toListedWorkflow } from './list.ts'
import { aroundOf, Maybe } from './shape.ts'
import { findStep } from './steps.ts'

const bodyLimit = 26 * 1024 * 1024
const BridgeUrl = Type.String({ minLength: 1, maxLength: 2048 })
const Controls = Type.Object({ controls: FreeObject })
const StepParams = Type.Object({
  workflowId: Type.String({ description: 'Identifier, slug or internal id' }),
  stepId: Type.String({ description: '`stepId`, slug or internal id' }),
})

export const bridges: Resource = (app, { db, clock, secrets, brand, http, config: { limits } }) => {
  const tags = ['Bridge']
  const bridge = new Bridge({ http, clock, signatureHeader: `${brand.word}-signature` })

  const accessOf = async (environmentId: string): Promise<EnvironmentAccess> => {
    const access = await findEnvironmentAccess(db, secrets, environmentId)
    // The environment was deleted after the key was checked.
    if (!access) throw fail('api_key_not_found')
    return access
  }
  const bridged = async (environmentId: string): Promise<EnvironmentAccess & { bridgeUrl: string }> => {
    const { bridgeUrl, ...access } = await accessOf(environmentId)
    if (bridgeUrl === undefined) throw fail('bridge_not_configured')
    return { ...access, bridgeUrl }
  }

  app.post(
    '/v1/bridge/sync',
    {
      config: { role: 'admin', act: 'bridge.synced' },
      bodyLimit,
      schema: {
        tags,
        summary: 'Store the workflows that an application declares',
        description:
          'Deletes code-first workflows that are no longer declared. Keeps control values and preferences set here.',
        querystring: Type.Object({ source: Type.Optional(Type.String({ description: 'Accepted and ignored' })) }),
        body: Body({ bridgeUrl: BridgeUrl }),
        response: { 201: Type.Array(ListedWorkflow) },
      },
    },
    async (request, reply) => {
      const { id: environmentId, userId } = request.environment
      const { bridgeUrl } = request.body
      const access = await accessOf(environmentId)
      const declared = await worded(bridge.discover(targetIn(access, bridgeUrl)))
      const discovered = readDiscovered(declared, limits.steps)
      const sync = { environmentId, userId, bridgeUrl, now: request.now(), mostWorkflows: limits.workflows }
      const { author } = authorOf(request)
      const rows = await db.transaction().execute((tx) => syncWorkflows(tx, { ...sync, author }, discovered))
      const around = await aroundOf(db, environmentId)
      reply.code(201)
      return rows.map((row) => toListedWorkflow(row, brand, issuesOfSteps(row, around)))
    },
  )

  app.post(
    '/v1/bridge/diff',
    {
      config: { keepsContent: true },
      bodyLimit,
      schema: {
        tags,
        summary: 'Compare the workflows of the application at the stored URL with those given',
        body: FreeObject,
        response: {
          201: Type.Object({
            current: Type.Object({ workflows: Type.Array(Type.Unknown()), bridgeUrl: Type.String() }),
            new: FreeObject,
          }),
        },
      },
    },
    async (request, reply) => {
      const access = await bridged(request.environment.id)
      const workflows = await worded(bridge.discover(targetIn(access)))
      reply.code(201)
      return { current: { workflows, bridgeUrl: access.bridgeUrl }, new: request.body }
    },
  )

  app.get(
    '/v1/bridge/status',
    { schema: { tags, summary: 'Retrieve the status of the application', response: { 200: FreeObject } } },
    async (request) => worded(bridge.healthCheck(targetIn(await bridged(request.environment.id)))),
  )

  app.post(
    '/v1/bridge/validate',
    {
      config: { keepsContent: true },
      schema: {
        tags,
        summary: 'Check whether an application answers at a URL',
        body: Body({ bridgeUrl: BridgeUrl }),
        response: { 201: Type.Object({ isValid: Type.Boolean(), error: Type.Optional(Type.String()) }) },
      },
    },
    async (request, reply) => {
      const access = await accessOf(request.environment.id)
      reply.code(201)
      try {
        const { status } = await bridge.healthCheck(targetIn(access, request.body.bridgeUrl))
        if (status === 'ok') return { isValid: true }
        return { isValid: false, error: `The application says that its status is "${status}"` }
      } catch (error) {
        if (error instanceof BridgeError) return { isValid: false, error: error.message }
        throw error
      }
    },
  )

  app.get(
    '/v1/bridge/controls/:workflowId/:stepId',
    { schema: { tags, summary: 'Read the control values of a step', params: StepParams, response: { 200: Controls } } },
    async (request) => {
      const { step } = await findBridged(db, request.environment.id, request.params)
      return { controls: step.controlValues ?? {} }
    },
  )

  app.put(
    '/v1/bridge/controls/:workflowId/:stepId',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Replace the control values of a step',
        params: StepParams,
        body: Body({ variables: FreeObject }),
        response: { 200: Controls },
      },
    },
    async (request) => {
      const { id: environmentId, userId } = request.environment
      const controlValues = request.body.variables
      await db.transaction().execute(async (tx) => {
        const { workflow } = await findBridged(tx, environmentId, request.params)
        const row = await lockWorkflow(tx, environmentId, workflow.id)
        const step = row && findStep(row.steps, request.params.stepId)
        if (!row || !step) throw fail('bridge_step_not_found', request.params)
        const steps = row.steps.map((each) => (each === step ? { ...step, controlValues } : each))
        const writing = { environmentId, userId, id: row.id, now: request.now(), by: authorOf(request) }
        await saveWorkflow(tx, writing, { ...fieldsOf(row), steps })
      })
      return { controls: controlValues }
    },
  )

  app.post(
    '/v1/bridge/preview/:workflowId/:stepId',
    {
      config: { keepsContent: true },
      bodyLimit,
      schema: {
        tags,
        summary: 'Preview a step with the application',
        params: StepParams,
        body: Body({ controls: Maybe(FreeObject), payload: Maybe(FreeObject) }),
        response: {
          201: Type.Object({ outputs: FreeObject, providers: FreeObject, options: FreeObject, metadata: FreeObject }),
        },
      },
    },
    async (request, reply) => {
      const access = await bridged(request.environment.id)
      const { workflow, step } = await findBridged(db, request.environment.id, request.params)
      const controls = request.body.controls ?? step.controlValues ?? {}
      const payload = request.body.payload ?? {}
      const data = { ...dataFor(access, { workflow, step, values: controls, given: {}, now: request.now() }), payload }
      const ids = { workflowId: workflow.identifier, stepId: step.stepId }
      const answer = await worded(
        bridge.preview(targetIn(access), ids, bridgeEvent({ workflow, step, values: controls, data })),
      )
      reply.code(201)
      return { ...answer, options: { ...answer.options } }
    },
  )
}

/** The step of a code-first workflow; other workflows have their own operations. */
async function findBridged(
  db: Db | Tx,
  environmentId: string,
  { workflowId, stepId }: { workflowId: string; stepId: string },
): Promise<{ workflow: WorkflowRow; step: WorkflowStep }> {
  const workflow = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
  const step = workflow?.origin === 'external' ? findStep(workflow.steps, stepId) : undefined
  if (!workflow || !step) throw fail('bridge_step_not_found', { workflowId, stepId })
  return { workflow, step }
}

/** Turns failures of the application into errors for the client. */
export async function worded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error
    const { code: bridgeCode, data, message } = error
    throw fail('bridge_failed', { reason: message }, { ctx: { bridgeCode, ...(data === undefined ? {} : { data }) } })
  }
}
