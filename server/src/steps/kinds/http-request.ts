// The HTTP request step: calls a URL of the user's and passes the answer to later steps.
import { realOf } from '../../db/core/held-clock.ts'
import { type DeliveryErrorCode, secondsUntil } from '../../providers/delivery-error.ts'
import { mask } from '../../providers/masking.ts'
import { RenderError } from '../../render/limits.ts'
import { situation } from '../../render/liquid.ts'
import {
  absoluteUrlPattern,
  type ControlValues,
  objectSchema,
  openObject,
  type StepKind,
  skip,
  skipUi,
  withoutNulls,
} from '../contract/kind.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { digestOf, type StepRun, variablesOf } from '../contract/step-run.ts'
import { isMirrored } from '../delivery/mirrored.ts'
import {
  callAddress,
  defaultTimeoutMs,
  type HttpRequestFailed,
  longestTimeoutMs,
  RequestInvalid,
  resolveRequest,
  shortestTimeoutMs,
} from './http-request-call.ts'

const pair = objectSchema({ key: { type: 'string', minLength: 1 }, value: { type: 'string', minLength: 1 } }, [
  'key',
  'value',
])

/** These change nothing. What a trigger changes, the service that it was passed on to has changed already. */
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** With `retry`: tries in all, and the waits between them. */
const mostTries = 3
const pausesMs = [1_000, 3_000]
/** Of a wait that the answer asks for. */
const longestPauseMs = 60_000
const unanswered: ReadonlySet<DeliveryErrorCode> = new Set<DeliveryErrorCode>([
  ...(['host_unknown', 'connection_failed', 'connection_lost', 'timeout', 'cut_off'] as const),
])

export const httpRequest: StepKind = {
  type: 'http_request',

  async call(of, { http, signatureHeader, brand, clock }) {
    const { now, run, values } = of
    const tries = triesBefore(of)
    const mayRepeat = values.retry === true ? tries < mostTries : of.step.onUnknown === 'retry'
    if (of.isRepeated && !mayRepeat)
      return failed('The process stopped during the request; whether it was answered is unknown', values, [
        detail('outcome_unknown'),
      ])
    try {
      // Whoever checks the signature has the real time.
      const real = realOf(now)
      const signing = { header: signatureHeader, keys: run.environment.signing.keysFor('requests', real), now: real }
      const data = { ...variablesOf(run), step: digestOf(run.results) }
      const request = resolveRequest(values, situation(data, now), signing)
      // Lets the address drop repetitions. A key in the step's values goes before ours.
      if (values.retry === true)
        request.headers = {
          ...{ 'idempotency-key': of.job.id, ...request.headers },
          [`${brand}-attempt`]: String(tries + 1),
        }
      if (isMirrored(of) && !safeMethods.has(request.method))
        return { kind: 'done', output: {}, details: [detail('not_called_in_shadow', { method: request.method })] }
      await of.beginning?.begin()
      const answer = await callAddress(http, request, values)
      // The answer may repeat what we sent, and everybody in the organization can read it.
      const { secretValues } = run.environment
      if (answer.outcome === 'failed') {
        const waitMs = values.retry === true ? pauseAfter(answer, tries, realOf(clock.now())) : undefined
        if (waitMs !== undefined)
          return retryOf(of, withoutSecrets(answer, secretValues), {
            tries: tries + 1,
            at: new Date(clock.now().getTime() + waitMs),
          })
        return failed(mask(answer.error, secretValues), values, withoutSecrets(failureDetails(answer), secretValues))
      }
      const { statusCode, isObject } = answer
      const { body, headers } = withoutSecrets({ body: answer.body, headers: answer.headers }, secretValues)
      return {
        kind: 'done',
        output: isObject ? (body as Record<string, unknown>) : {},
        details: [
          ...(isObject ? [] : [detail('response_not_object', { body })]),
          detail('processed', { statusCode, body, headers }),
        ],
      }
    } catch (error) {
      if (!(error instanceof RequestInvalid || error instanceof RenderError)) throw error
      return failed(error.message, values, [detail('action_failed', { error: error.message })])
    }
  },

  dataSchema: objectSchema(
    {
      skip,
      method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] },
      url: { type: 'string', minLength: 1, maxLength: 2048, pattern: absoluteUrlPattern },
      headers: { type: 'array', items: pair, maxItems: 50 },
      body: {
        anyOf: [
          { type: 'string', maxLength: 65_536 },
          { type: 'array', items: pair, maxItems: 100 },
        ],
      },
      responseBodySchema: openObject,
      enforceSchemaValidation: { type: 'boolean', default: false },
      continueOnFailure: { type: 'boolean', default: false },
      timeout: { type: 'number', minimum: shortestTimeoutMs, maximum: longestTimeoutMs, default: defaultTimeoutMs },
      retry: { type: 'boolean', default: false },
    },
    ['method', 'url'],
  ),
  uiSchema: {
    group: 'HTTP_REQUEST',
    properties: {
      ...skipUi,
      method: { component: 'DESTINATION_METHOD', placeholder: 'POST' },
      url: { component: 'DESTINATION_URL', placeholder: 'https://api.example.com/endpoint' },
      headers: { component: 'DESTINATION_HEADERS' },
      body: { component: 'DESTINATION_BODY' },
      responseBodySchema: { component: 'DESTINATION_RESPONSE_BODY_SCHEMA' },
      enforceSchemaValidation: { component: 'DESTINATION_ENFORCE_SCHEMA_VALIDATION', placeholder: false },
      continueOnFailure: { component: 'DESTINATION_CONTINUE_ON_FAILURE', placeholder: false },
      timeout: { component: 'DESTINATION_TIMEOUT', placeholder: defaultTimeoutMs },
    },
  },
  normalise: withoutNulls,
  literals: ['responseBodySchema'],
  ownVariables: {
    schema: {
      step: objectSchema({
        digest: { type: 'boolean' },
        events: { type: 'array', items: openObject },
        total_count: { type: 'number' },
      }),
    },
    of: (results) => ({ step: digestOf(results) }),
  },
  urlText: 'Invalid URL. Must be a full URL starting with http:// or https://, or start with a {{variable}}',
  resultSchema({ responseBodySchema }) {
    const declared = responseBodySchema as Record<string, unknown> | null | undefined
    return declared && Object.keys(declared).length > 0 ? declared : openObject
  },
}

/** Kept between tries. A try that was cut off left no record, but was counted as an attempt of the step. */
interface Tries {
  made: number
  attempts: number
}

function triesBefore({ job, isRepeated }: StepRun): number {
  const kept = job.delivery?.tries as Tries | undefined
  if (kept) return kept.made + Math.max(0, job.attempts - kept.attempts - 1)
  return isRepeated ? Math.max(1, job.attempts - 1) : 0
}

/** The wait before another try; undefined if there is none. */
function pauseAfter(answer: HttpRequestFailed, triesBefore: number, now: Date): number | undefined {
  const { statusCode = 0, transport, headers } = answer
  const mayPass = transport ? unanswered.has(transport.code) : isTemporary(statusCode)
  const pauseMs = pausesMs[triesBefore]
  if (!mayPass || pauseMs === undefined) return undefined
  const asked = secondsUntil(headers?.['retry-after'], now)
  return asked === undefined ? pauseMs : Math.min(asked * 1_000, longestPauseMs)
}

const isTemporary = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

function retryOf({ job }: StepRun, answer: HttpRequestFailed, { tries, at }: { tries: number; at: Date }): StepOutcome {
  const { error, statusCode } = answer
  const told = { error, ...(statusCode === undefined ? {} : { statusCode }), attempt: tries }
  return {
    ...{ kind: 'retry', at, delivery: { tries: { made: tries, attempts: job.attempts } satisfies Tries } },
    details: [detail('request_retried', { ...told, nextAttemptAt: at.toISOString() }, { isRetry: true })],
  }
}

function withoutSecrets<T>(value: T, secrets: string[]): T {
  if (secrets.length === 0) return value
  if (typeof value === 'string') return mask(value, secrets) as T
  if (Array.isArray(value)) return value.map((item) => withoutSecrets<unknown>(item, secrets)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutSecrets(inner, secrets)])) as T
}

function failed(error: string, { continueOnFailure }: ControlValues, details: Detail[]): StepOutcome {
  const isAllowed = continueOnFailure === true
  const reason = isAllowed ? 'failure_allowed' : 'http_request_failed'
  return { kind: 'fail', reason, error, stops: !isAllowed, details }
}

function failureDetails({ error, schemaErrors, statusCode, body }: HttpRequestFailed): Detail[] {
  if (schemaErrors) return [detail('response_invalid', { errors: schemaErrors, responseBody: body })]
  return [detail('action_failed', { error, ...(statusCode === undefined ? {} : { statusCode, body }) })]
}
