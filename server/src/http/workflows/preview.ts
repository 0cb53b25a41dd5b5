// Previews of steps, and test requests of HTTP request steps.
import { type Static, Type } from 'typebox'
import { envOf, findEnvironmentAccess, mask } from '../../db/core/environment-access.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import { checkSteps } from '../../engine/authoring/check-steps.ts'
import { previewStep } from '../../engine/authoring/preview.ts'
import { type PreviewPayload, previewData } from '../../engine/authoring/preview-example.ts'
import { Bridge } from '../../engine/core/bridge.ts'
import { fail } from '../../errors.ts'
import type { DeliveryErrorCode } from '../../providers/delivery-error.ts'
import { brandingOf } from '../../render/branding.ts'
import { RenderError } from '../../render/limits.ts'
import { situation } from '../../render/liquid.ts'
import { pathsIn, stepTemplates } from '../../steps/check/templates.ts'
import type { ControlValues } from '../../steps/contract/kind.ts'
import { wireType } from '../../steps/contract/wire.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import {
  callAddress,
  longestTimeoutMs,
  RequestInvalid,
  type ResolvedRequest,
  resolveRequest,
  showRequest,
} from '../../steps/kinds/http-request-call.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, FreeObject } from '../edge/schema.ts'
import { idIn } from '../edge/slug.ts'
import { Maybe } from './shape.ts'
import { findStep } from './steps.ts'

/** As large as a trigger may be, without its files. */
export const largestPreview = 512 * 1024

const PreviewRequest = Body({
  controlValues: Maybe(FreeObject),
  previewPayload: Maybe(
    Body({
      payload: Maybe(FreeObject),
      subscriber: Maybe(FreeObject),
      context: Maybe(FreeObject),
      steps: Maybe(FreeObject),
      env: Maybe(FreeObject),
    }),
  ),
})

export const PreviewError = Type.Optional(
  Type.Object(
    { title: Type.String(), message: Type.String(), hint: Type.String() },
    { description: 'Why there is no preview' },
  ),
)

const Preview = Type.Object({
  result: Type.Object({
    type: Type.Optional(Type.String()),
    preview: FreeObject,
    error: PreviewError,
  }),
  previewPayloadExample: FreeObject,
  schema: Type.Unsafe<JsonSchema | null>({ type: ['object', 'null'], additionalProperties: true }),
})

const NullableBoolean = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })

const Checked = Type.Object({
  steps: Type.Array(
    Type.Object({
      stepId: Type.String(),
      holds: Type.Unsafe<boolean | null>({
        ...NullableBoolean,
        description: 'Whether the condition holds; null if it cannot be evaluated',
      }),
      rows: Type.Record(Type.String(), NullableBoolean, {
        description: 'The same for each row of the condition, by its place: `0.1` is the second row of the first group',
      }),
      error: PreviewError,
      unknownVariables: Type.Array(Type.String(), {
        description: 'Variables that neither the given payload nor those of the last triggers have',
      }),
    }),
  ),
})

const Tried = Type.Object({
  statusCode: Type.Integer(),
  body: Type.Unknown(),
  headers: FreeObject,
  durationMs: Type.Integer(),
  resolvedRequest: Type.Object({
    url: Type.String(),
    method: Type.String(),
    headers: FreeObject,
    body: Type.Optional(Type.Unknown()),
  }),
})

export const previews: Resource = (app, { db, clock, secrets, brand, http, config }) => {
  const tags = ['Workflows']
  const signatureHeader = `${brand.word}-signature`
  const branding = brandingOf(brand.word)
  const bridge = new Bridge({ http, clock, signatureHeader })

  app.post(
    '/v2/workflows/:workflowId/step/:stepId/preview',
    {
      config: { role: 'viewer' },
      bodyLimit: largestPreview,
      schema: {
        tags,
        summary: 'Preview what a step would deliver',
        params: Type.Object({ workflowId: Type.String(), stepId: Type.String() }),
        body: PreviewRequest,
        response: { 201: Preview },
      },
    },
    async (request, reply) => {
      const { workflowId, stepId } = request.params
      const { controlValues, previewPayload } = request.body
      const environmentId = request.environment.id
      reply.code(201)
      const workflow = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
      const step = workflow && findStep(workflow.steps, stepId)
      const access = await findEnvironmentAccess(db, secrets, environmentId)
      // The editor asks while steps are added and removed; a missing one has an empty preview.
      if (!workflow || !step || !access) return { result: { preview: {} }, previewPayloadExample: {}, schema: null }
      const shown = await previewStep(
        { db, bridge, branding, linkBase: config.publicUrl, access, now: request.now() },
        {
          workflow,
          step,
          // The steps in the arms of a branch are not the branch's own values.
          controlValues: step.type === 'branch' ? undefined : withLayoutId(controlValues),
          previewPayload: previewPayloadOf(previewPayload),
        },
      )
      const { type, preview, error, data, schema } = shown
      return {
        result: { type: wireType(type, brand.word), preview, ...(error ? { error } : {}) },
        previewPayloadExample: { ...data },
        schema,
      }
    },
  )

  app.post(
    '/v2/workflows/:workflowId/check',
    {
      config: { role: 'viewer' },
      bodyLimit: largestPreview,
      schema: {
        tags,
        summary: 'Check what each step would do with an example',
        description:
          'Nothing is sent or stored. `previewPayload.payload` is taken as it is; without it, an example is made up. Steps ' +
          'declared in code are not called.',
        params: Type.Object({ workflowId: Type.String({ description: 'Identifier, slug or internal id' }) }),
        body: Body({
          controlValues: Maybe(
            Type.Record(Type.String(), FreeObject, { description: 'Instead of the stored ones, by `stepId`' }),
          ),
          previewPayload: PreviewRequest.properties.previewPayload,
        }),
        response: { 200: Checked },
      },
    },
    async (request) => {
      const { workflowId } = request.params
      const { controlValues, previewPayload } = request.body
      const environmentId = request.environment.id
      const workflow = await findWorkflow(db, environmentId, workflowId, idIn(workflowId, 'wf'))
      if (!workflow) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
      const access = await findEnvironmentAccess(db, secrets, environmentId)
      if (!access || workflow.origin === 'external') return { steps: [] }
      const steps = await checkSteps(
        { db, bridge, branding, linkBase: config.publicUrl, access, now: request.now() },
        { workflow, controlValues: controlValues ?? {}, previewPayload: previewPayloadOf(previewPayload) },
      )
      return { steps }
    },
  )

  app.post(
    '/v2/workflows/steps/test-http-request',
    {
      config: { keepsContent: true },
      bodyLimit: largestPreview,
      schema: {
        tags,
        summary: 'Try the request of an HTTP request step',
        body: PreviewRequest,
        response: { 201: Tried },
      },
    },
    async (request, reply) => {
      const access = await findEnvironmentAccess(db, secrets, request.environment.id)
      // The environment was deleted after the key was checked.
      if (!access) throw fail('api_key_not_found')
      const values = request.body.controlValues ?? {}
      const given = withoutMasks(previewPayloadOf(request.body.previewPayload))
      const now = clock.now()
      const signing = { header: signatureHeader, keys: access.signing.keysFor('requests', now), now }
      const withEnv = (env: Record<string, string>) => situation(dataOf(values, given, env, now), now)
      const resolved = worded(() => resolveRequest(values, withEnv(envOf(access, { showSecrets: true })), signing))
      const maskedEnv = envOf(access, { showSecrets: false })
      const shown = shownAs(resolved, signatureHeader, () => showRequest(values, withEnv(maskedEnv)))

      const startedAt = performance.now()
      const { timeout = longestTimeoutMs } = values
      const outcome = await callAddress(access.type === 'dev' ? http.development : http, resolved, { timeout })
      const durationMs = Math.round(performance.now() - startedAt)
      reply.code(201)
      const transport = outcome.outcome === 'failed' ? outcome.transport : undefined
      if (transport) {
        const statusCode = statusOf[transport.code] ?? 500
        return { statusCode, body: { error: transport.message }, headers: {}, durationMs, resolvedRequest: shown }
      }
      const { statusCode = 500, headers = {}, body } = outcome
      return { statusCode, body, headers, durationMs, resolvedRequest: shown }
    },
  )
}

type GivenPayload = Static<typeof PreviewRequest>['previewPayload']
const previewPayloadOf = (given: GivenPayload): PreviewPayload =>
  Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== null))

/** Replaces the slug of a layout by its id. */
function withLayoutId(values: ControlValues | null | undefined): ControlValues | undefined {
  const layoutId = values?.layoutId
  if (typeof layoutId !== 'string') return values ?? undefined
  return { ...values, layoutId: /_lt_/.test(layoutId) ? (idIn(layoutId, 'lt') ?? layoutId) : layoutId }
}

/** The status to show when there was no response. */
const statusOf: Partial<Record<DeliveryErrorCode, number>> = {
  timeout: 408,
  invalid_url: 400,
  invalid_request: 400,
  address_refused: 400,
  host_unknown: 502,
  connection_failed: 502,
  connection_lost: 502,
  certificate_refused: 502,
  too_many_redirects: 502,
  answer_too_large: 502,
  unreadable_answer: 502,
}

/** Without a workflow, the results of earlier steps are as the client gives them. */
function dataOf(values: ControlValues, given: PreviewPayload, env: Record<string, string>, now: Date) {
  const used = pathsIn(stepTemplates(values), undefined)
  const steps = given.steps ?? {}
  const own = stepKinds.http_request.ownVariables?.of(steps)
  return { ...previewData(given, { payloadSchema: null, used, previous: [], env, now }), ...own, steps }
}

/** A client may send back a preview's example; its masks are not meant as values. */
function withoutMasks(given: PreviewPayload): PreviewPayload {
  const { env = {}, ...rest } = given
  return { ...rest, env: Object.fromEntries(Object.entries(env).filter(([, value]) => value !== mask)) }
}

/** The request with its secrets and its signature masked; only its method if it cannot be built with masks. */
function shownAs({ method }: ResolvedRequest, header: string, masked: () => ResolvedRequest): ResolvedRequest {
  try {
    const shown = masked()
    return { ...shown, headers: { ...shown.headers, [header]: mask } }
  } catch (error) {
    if (error instanceof RequestInvalid || error instanceof RenderError) return { url: mask, method, headers: {} }
    throw error
  }
}

function worded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RequestInvalid || error instanceof RenderError)
      throw fail('http_request_invalid', { reason: error.message })
    throw error
  }
}
