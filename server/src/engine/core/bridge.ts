// Calls to the application that holds an environment's code-first workflows: discovering them and executing their steps.
import { setTimeout as sleep } from 'node:timers/promises'
import { timedSignature } from '../../db/core/secrets.ts'
import type { Signing } from '../../db/core/signing.ts'
import { parseStorable } from '../../db/core/storable.ts'
import { DeliveryError, type DeliveryErrorCode } from '../../providers/delivery-error.ts'
import type { HttpAnswer, HttpClient } from '../../providers/http-client.ts'

const timeoutMs = 5_000
const mostBytes = 25 * 1024 * 1024
const mostRedirects = 10
const firstPauseMs = 500
const retriedStatuses = new Set([408, 429, 500, 503, 504, 521, 522, 524])
const retriedFailures = new Set<DeliveryErrorCode>(['host_unknown', 'connection_failed', 'connection_lost', 'timeout'])

/** The application and the environment that calls it. */
export interface BridgeTarget {
  url: string
  /** Signs our requests; the application has the same secret. */
  signing: Pick<Signing, 'keysFor'>
  type: 'dev' | 'prod'
}

export const targetIn = (
  { signing, type, bridgeUrl = '' }: Pick<BridgeTarget, 'signing' | 'type'> & { bridgeUrl?: string | undefined },
  url: string = bridgeUrl,
): BridgeTarget => ({ url, signing, type })

/** What we send about the step to run and everything before it. */
export interface BridgeEvent {
  payload: Record<string, unknown>
  controls: Record<string, unknown>
  /** Every earlier step, the nearest first. */
  state: BridgeStepState[]
  subscriber: Record<string, unknown>
  context: Record<string, unknown>
  env: Record<string, unknown>
  actor?: Record<string, unknown>
}

export interface BridgeStepState {
  stepId: string
  outputs: Record<string, unknown>
  state: { status: string; error?: string }
}

export interface BridgeAnswer {
  outputs: Record<string, unknown>
  providers: Record<string, Record<string, unknown>>
  options: { skip: boolean }
  metadata: Record<string, unknown>
}

const sentences = {
  InvalidBridgeUrl: 'The bridge URL cannot be called',
  UnsupportedProtocol: 'The bridge URL must start with http:// or https://',
  BridgeEndpointUnavailable: 'The bridge cannot be reached; is the application running, and is the URL right?',
  BridgeEndpointNotFound: 'Nothing answers at the bridge URL',
  BridgeMethodNotConfigured: 'The bridge endpoint does not accept this method; it must serve GET, POST and OPTIONS',
  BridgeAuthenticationFailed:
    'The bridge refused the request; does the application have the API key of this environment?',
  BridgeRequestTimeout: 'The bridge did not answer in time',
  PayloadTooLarge: 'The bridge refused the request as too large',
  TunnelNotFound: 'There is no tunnel at the bridge URL; open it again and sync its new URL',
  SelfSignedCertificate: 'The certificate of the bridge is not trusted; only development environments accept that',
  ResponseParseError: 'The answer is not what a bridge sends',
  ResponseReadError: 'The answer from the bridge is too large',
  MaximumRedirectsExceeded: 'The bridge redirects too many times',
  UnknownBridgeRequestError: 'The request to the bridge failed',
}
type TransportCode = keyof typeof sentences

/** Carries the application's own code and message if it sent them, else one of ours for a failure in transport. */
export class BridgeError extends Error {
  readonly code: string
  readonly data: unknown
  /** The application may answer later: it is restarted or overloaded, or the network is down. */
  readonly mayPass: boolean

  constructor({ code, message, data, mayPass = false }: BridgeFailure) {
    super(message)
    this.code = code
    this.data = data
    this.mayPass = mayPass
  }
}

interface BridgeFailure {
  code: string
  message: string
  data?: unknown
  mayPass?: boolean
}

const problem = (code: TransportCode, remark?: string, mayPass = false) =>
  new BridgeError({ code, message: `${sentences[code]}${remark === undefined ? '' : ` (${remark})`}`, mayPass })

interface Surroundings {
  http: HttpClient
  clock: { now(): Date }
  /** With the brand's word, such as `svc-signature`. */
  signatureHeader: string
  /** Between retries. */
  pause?: (ms: number) => Promise<unknown>
}

interface Call {
  action: 'discover' | 'health-check' | 'execute' | 'preview'
  query?: Record<string, string>
  event?: BridgeEvent
  retries: number
}

export class Bridge {
  readonly #surroundings: Surroundings

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** The workflows, as the application describes them. */
  async discover(target: BridgeTarget): Promise<unknown[]> {
    const { workflows } = await this.#call(target, { action: 'discover', retries: 1 })
    if (!Array.isArray(workflows)) throw problem('ResponseParseError', 'no list of workflows')
    return workflows
  }

  /** The application's own health report; at least `{status}`. */
  async healthCheck(target: BridgeTarget): Promise<Record<string, unknown> & { status: string }> {
    const body = await this.#call(target, { action: 'health-check', retries: 1 })
    const { status } = body
    if (typeof status !== 'string') throw problem('ResponseParseError', 'no status')
    return { ...body, status }
  }

  async execute(
    target: BridgeTarget,
    { jobId, ...ids }: { workflowId: string; stepId: string; jobId: string },
    event: BridgeEvent,
  ): Promise<BridgeAnswer> {
    return readAnswer(await this.#call(target, { action: 'execute', query: { ...ids, jobId }, event, retries: 3 }))
  }

  async preview(
    target: BridgeTarget,
    ids: { workflowId: string; stepId: string },
    event: BridgeEvent,
  ): Promise<BridgeAnswer> {
    return readAnswer(await this.#call(target, { action: 'preview', query: ids, event, retries: 1 }))
  }

  async #call(target: BridgeTarget, call: Call): Promise<Record<string, unknown>> {
    const { pause = sleep } = this.#surroundings
    for (let tries = 0; ; tries += 1) {
      const last = tries === call.retries
      const answer = await this.#once(target, call).catch((error: unknown) => {
        if (!(error instanceof DeliveryError)) throw error
        if (last || !retriedFailures.has(error.code)) throw transportProblem(error)
      })
      if (answer && (last || !retriedStatuses.has(answer.status))) return bodyOf(answer)
      await pause(firstPauseMs * 2 ** tries)
    }
  }

  /** Signed for each attempt: the application refuses signatures a few minutes old. */
  async #once(target: BridgeTarget, { action, query = {}, event }: Call): Promise<HttpAnswer> {
    const { http, clock, signatureHeader } = this.#surroundings
    const url = urlOf(target.url)
    const now = clock.now()
    for (const [name, value] of Object.entries({ action, ...query, environmentType: target.type }))
      url.searchParams.set(name, value)
    const body = JSON.stringify(event ?? {})
    const client = target.type === 'dev' ? http.development : http
    return client.exchange(url.href, {
      method: event ? 'POST' : 'GET',
      headers: {
        'content-type': 'application/json',
        [signatureHeader]: timedSignature(target.signing.keysFor('bridge', now), body, now),
        // Without this header, development tunnels answer the first request with a page for people.
        'bypass-tunnel-reminder': 'true',
      },
      ...(event ? { body } : {}),
      timeoutMs,
      mostBytes,
      mostRedirects,
      acceptAnyCertificate: target.type === 'dev',
      sharesTrace: true,
    })
  }
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw problem('InvalidBridgeUrl')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw problem('UnsupportedProtocol')
  return url
}

function bodyOf({ status, text }: HttpAnswer): Record<string, unknown> {
  const body = parsed(text)
  if (status >= 200 && status < 300) {
    if (!body) throw problem('ResponseParseError')
    return body
  }
  // The application's own error says more than the status.
  if (typeof body?.code === 'string' && typeof body.message === 'string')
    throw new BridgeError({ code: body.code, message: body.message, data: body.data })
  // A proxy answers 502 while the application behind it is restarted.
  throw problem(codeOfStatus(status, text), `HTTP status ${status}`, retriedStatuses.has(status) || status === 502)
}

/** Undefined unless it is a JSON object that can be stored. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value = parseStorable(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function codeOfStatus(status: number, text: string): TransportCode {
  if (status >= 404 && /tunnel (?:\S+ )?(?:was )?not found|no tunnel/i.test(text.slice(0, 10_000)))
    return 'TunnelNotFound'
  switch (status) {
    case 401:
      return 'BridgeAuthenticationFailed'
    case 404:
      return 'BridgeEndpointUnavailable'
    case 405:
      return 'BridgeMethodNotConfigured'
    case 408:
    case 504:
      return 'BridgeRequestTimeout'
    case 413:
      return 'PayloadTooLarge'
    case 502:
      return 'BridgeEndpointNotFound'
    default:
      return 'UnknownBridgeRequestError'
  }
}

function transportProblem({ code, reason }: DeliveryError): BridgeError {
  switch (code) {
    case 'invalid_url':
      return problem('InvalidBridgeUrl')
    case 'address_refused':
      return problem(
        'InvalidBridgeUrl',
        'the address is private or reserved; set BELFRY_ALLOW_PRIVATE_ADDRESSES to allow it',
      )
    case 'host_unknown':
    case 'connection_failed':
    case 'connection_lost':
    case 'cut_off':
      return problem('BridgeEndpointUnavailable', reason, true)
    case 'timeout':
      return problem('BridgeRequestTimeout', undefined, true)
    case 'certificate_refused':
      return problem('SelfSignedCertificate', reason)
    case 'too_many_redirects':
      return problem('MaximumRedirectsExceeded')
    case 'answer_too_large':
      return problem('ResponseReadError')
    case 'unreadable_answer':
      return problem('ResponseParseError', reason)
    case 'invalid_request':
    case 'unauthorized':
    case 'incomplete_credentials':
    case 'rate_limited':
    case 'unavailable':
    case 'quota_exhausted':
    case 'rejected':
    case 'recipient_refused':
    case 'message_refused':
    case 'held_back':
      return problem('UnknownBridgeRequestError', reason)
  }
}

function readAnswer({ outputs, providers = {}, options, metadata = {} }: Record<string, unknown>): BridgeAnswer {
  if (!isObject(outputs) || !isObject(providers) || !isObject(metadata)) throw problem('ResponseParseError')
  const skip = isObject(options) && options.skip === true
  return { outputs, providers: providers as BridgeAnswer['providers'], options: { skip }, metadata }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
