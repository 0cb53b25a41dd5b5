// The service over HTTP: retries what may be repeated, and turns refusals into failures.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvHttpProxyAgent, fetch } from 'undici'
import { refusalIn } from '../../scripts/answers.mjs'
import { Failure } from './failure.ts'

const mostTries = 5
/** Where nobody listens, it is given up after this time. */
const patienceMs = 10_000
const longestWaitMs = 60_000

interface Answer<T> {
  status: number
  body: T
}

interface Sent {
  status: number
  ok: boolean
  retryAfter: string | null
  text: string
}

interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  /** May be sent again; GETs always may. */
  isRepeatable?: boolean
}

interface Place {
  url: string
  key: string
  environment?: string | undefined
  asksHere?: boolean
}

export class Service {
  readonly url: string
  readonly #key: string
  /** Which one, for a key of the organization. */
  readonly #environment: string | undefined
  /** Where the environment stands in front of another service: whether it is asked itself. */
  readonly #asksHere: boolean
  /** HTTPS_PROXY and NO_PROXY hold. */
  readonly #dispatcher = new EnvHttpProxyAgent({ connect: { timeout: patienceMs } })

  constructor({ url, key, environment, asksHere = true }: Place) {
    this.url = url.replace(/\/+$/, '')
    this.#key = key
    this.#environment = environment
    this.#asksHere = asksHere
  }

  /** For what speaks HTTP itself. */
  get place(): { url: string; key: string; environment: string | undefined; fetch: typeof globalThis.fetch } {
    const through = (url: string, init: { headers?: Record<string, string> }) =>
      fetch(url, { ...init, headers: { ...init.headers, ...this.#asked }, dispatcher: this.#dispatcher })
    return {
      ...{ url: this.url, key: this.#key, environment: this.#environment },
      fetch: through as unknown as typeof globalThis.fetch,
    }
  }

  get #asked(): Record<string, string> {
    return this.#asksHere ? { 'belfry-shadow': 'here' } : {}
  }

  async get<T>(path: string): Promise<T> {
    return (await this.call<T>(path)).body
  }

  /** With an idempotency key, so that a repetition is answered and not done again. */
  async post<T>(path: string, body: unknown, { isIdempotent = false } = {}): Promise<T> {
    const headers: Record<string, string> = isIdempotent ? { 'idempotency-key': randomUUID() } : {}
    return (await this.call<T>(path, { method: 'POST', body, headers, isRepeatable: true })).body
  }

  async call<T>(path: string, call: Call = {}): Promise<Answer<T>> {
    const { method = 'GET', body, headers = {}, isRepeatable = method === 'GET' } = call
    const began = Date.now()
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#send(path, { method, body, headers }).catch((error: unknown) => error as Error)
      const mayRepeat = isRepeatable && attempt < mostTries
      if (answer instanceof Error) {
        const isHopeful = isBroken(answer) || (nobodyListens(answer) && Date.now() - began < patienceMs)
        if (!mayRepeat || !isHopeful)
          throw new Failure('unreachable', 'unreachable', `${this.url} cannot be reached: ${causeOf(answer)}`)
        await sleep(Math.min(250 * 2 ** attempt, 2_000))
        continue
      }
      if (!mayRepeat || !isPassing(answer.status)) return readAnswer<T>(answer)
      await sleep(waitOf(answer.retryAfter, attempt))
    }
  }

  /** With all of its text, because a connection can break in the midst of it too. */
  async #send(
    path: string,
    { method, body, headers }: Required<Pick<Call, 'method' | 'headers'>> & { body: unknown },
  ): Promise<Sent> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `ApiKey ${this.#key}`,
        ...(this.#environment ? { 'belfry-environment': this.#environment } : {}),
        ...this.#asked,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      dispatcher: this.#dispatcher,
      signal: AbortSignal.timeout(120_000),
    })
    const { status, ok } = response
    return { status, ok, retryAfter: response.headers.get('retry-after'), text: await response.text() }
  }
}

const codesOfNobody = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT']
/** Nobody listens at the address, for now. */
const nobodyListens = (error: Error) => [...codesOfNobody, 'UND_ERR_CONNECT_TIMEOUT'].includes(codeOf(error))

const codesOfBreaks = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']
/** Somebody listened, and the connection broke or the answer did not come in time. */
const isBroken = (error: Error) => codesOfBreaks.includes(codeOf(error)) || error.name === 'TimeoutError'

/** Of the innermost cause that has one. Several addresses of a name fail as one error with all of theirs. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  const inner = codeOf(cause) || (error instanceof AggregateError ? codeOf(error.errors[0]) : '')
  return inner || (typeof code === 'string' ? code : '')
}

const isPassing = (status: number) => status === 429 || status === 502 || status === 503 || status === 504

function waitOf(retryAfter: string | null, attempt: number): number {
  const seconds = Number(retryAfter)
  const asked = retryAfter === null || Number.isNaN(seconds) ? 250 * 2 ** attempt : seconds * 1000
  return Math.min(asked, longestWaitMs)
}

function readAnswer<T>({ status, ok, text }: Sent): Answer<T> {
  let body: unknown
  try {
    body = text === '' ? undefined : JSON.parse(text)
  } catch {
    throw new Failure('unreachable', 'no_json', `The answer is not JSON (status ${status}); is this the right address?`)
  }
  if (ok) return { status, body: unwrapped(body) as T }
  const told = (body ?? {}) as { code?: string; error?: string; ctx?: unknown }
  const message = refusalIn(body) || `status ${status}`
  const code = told.code ?? told.error ?? `status_${status}`
  const ctx = told.ctx ?? null
  const exit = code === 'definitions_conflict' ? 'conflict' : 'refused'
  throw new Failure(exit, code, message, ctx, status)
}

/** What is no page comes under `data`. */
function unwrapped(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const { data, ...others } = body as { data?: unknown }
  return data !== undefined && Object.keys(others).length === 0 ? data : body
}

function causeOf(error: Error): string {
  const { cause } = error
  // Where a name has several addresses, the first of them says it.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause
  return first instanceof Error && first.message !== '' ? first.message : error.message
}
