// The API client: one typed function for every operation, and the error it throws with the server's message.
import type { Operations } from './types.ts'

export type Operation = keyof Operations
export type Answer<Name extends Operation> = Operations[Name]['answer']
export type Query<Name extends Operation> = Operations[Name] extends { query?: infer Type } ? NonNullable<Type> : never
export type Body<Name extends Operation> = Operations[Name] extends { body: infer Type } ? Type : never

type Request<Name extends Operation> = Omit<Operations[Name], 'answer'> & {
  signal?: AbortSignal
  idempotencyKey?: string
  /** The token of the impact that was looked at: anything else is refused. */
  impactToken?: string
  /** The name of the change in the history. */
  message?: string
  /** The revision that was changed: where it is another by now, the change is refused. */
  revision?: string
  /** For background work that continues after the user switches environments. Default: the current one. */
  environmentId?: string
}
type RequestArguments<Name extends Operation> =
  object extends Omit<Operations[Name], 'answer'> ? [request?: Request<Name>] : [request: Request<Name>]

/** An error answer. `message` is the server's sentence and can be shown; `code` is for programs. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly ctx: Record<string, unknown>
  /** Errors by field, on 422. Names of nested fields are joined by dots. */
  readonly errors: Record<string, string[]>
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, body: ErrorBody, retryAfter: string | null = null) {
    super(body.message ?? `The server answered with status ${status}.`)
    this.status = status
    this.code = body.code ?? 'unknown'
    this.ctx = body.ctx ?? {}
    this.errors = Object.fromEntries(
      Object.entries(body.errors ?? {}).map(([field, { messages = [] }]) => [field, messages]),
    )
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter) || undefined
  }
}

interface ErrorBody {
  message?: string
  code?: string
  ctx?: Record<string, unknown>
  errors?: Record<string, { messages?: string[] }>
}

/** Asks the person to prove who they are; whether they did. ui/domain/proof.tsx sets it. */
let askForProof: () => Promise<boolean> = async () => false
export function whenProofIsNeeded(ask: () => Promise<boolean>): void {
  askForProof = ask
}
let proof: Promise<boolean> | undefined

/** One question, however many requests wait for it. */
export function requestProof(): Promise<boolean> {
  proof ??= askForProof().finally(() => {
    proof = undefined
  })
  return proof
}

let environmentId = ''

/** The environment of all requests. The shell sets it before it renders a page. */
export const currentEnvironment = () => environmentId
export function setEnvironment(id: string): void {
  environmentId = id
}

/** Starts a cache key with the environment id, so that environments never share cached data. */
export const inEnvironment = <Rest extends readonly unknown[]>(...rest: Rest) => [environmentId, ...rest] as const

/**
 * Calls one operation of the API.
 *
 *     await api('GET /v2/subscribers/{subscriberId}', { path: { subscriberId } })
 */
export async function api<Name extends Operation>(
  operation: Name,
  ...given: RequestArguments<Name>
): Promise<Answer<Name>> {
  const [method = 'GET', template = ''] = operation.split(' ')
  const [{ path, query, body, ...how } = {}] = given as unknown as [LooseRequest?]
  const url = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path?.[name] ?? '')))
  const attempt = () => send(method, url + searchOf(query), { body, ...how }) as Promise<Answer<Name>>
  try {
    return await attempt()
  } catch (error) {
    // What a page merely loads does not open a dialog: it shows a button for that (ui/base/states.tsx).
    const mayAsk = error instanceof ApiError && error.code === 'proof_needed' && method !== 'GET'
    if (!mayAsk || !(await requestProof())) throw error
    return attempt()
  }
}

interface LooseRequest {
  path?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
  signal?: AbortSignal
  idempotencyKey?: string
  impactToken?: string
  message?: string
  revision?: string
  environmentId?: string
}

type SendOptions = Omit<LooseRequest, 'path' | 'query'>

async function send(method: string, url: string, options: SendOptions): Promise<unknown> {
  const { body, signal, idempotencyKey } = options
  const isForm = body instanceof FormData || body instanceof Blob
  const headers: Record<string, string> = { 'Belfry-Environment': options.environmentId ?? environmentId }
  if (body !== undefined && !isForm) headers['Content-Type'] = 'application/json'
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey
  if (options.impactToken) headers['Belfry-Impact-Token'] = options.impactToken
  if (options.message) headers['Belfry-Message'] = encodeURIComponent(options.message)
  if (options.revision) headers['If-Match'] = `"${options.revision}"`
  const response = await fetch(url, {
    method,
    headers,
    credentials: 'same-origin',
    ...(signal ? { signal } : {}),
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    const message = 'Belfry cannot be reached. Check that it is running and that you are online, then try again.'
    throw new ApiError(0, { message, code: 'unreachable' })
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== ''
  const answer: unknown = isJson ? JSON.parse(text) : undefined
  if (!response.ok) throw new ApiError(response.status, answer ?? {}, response.headers.get('retry-after'))
  if (response.headers.get('content-type')?.startsWith('text/csv')) return text
  return answer
}

function searchOf(query: Record<string, unknown> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat())
      if (one !== undefined && one !== null && one !== '') search.append(name, String(one))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}
