// Every error a caller can get: its code, status and sentence. `throw fail(code, params)` raises one; http/app.ts answers it.

type Sentence = (params: never) => string
interface ErrorKind {
  status: number
  message: Sentence
}

const says = (sentence: string) => () => sentence

export const errorTable = {
  // the request as such
  malformed_json: {
    status: 400,
    message: (p: { reason: string }) => `The request body is not valid JSON: ${p.reason}`,
  },
  invalid_text: {
    status: 400,
    message: (p: { reason: string }) => `The request contains text that cannot be stored: ${p.reason}`,
  },
  body_too_large: { status: 413, message: says('Payload Too Large') },
  unsupported_media_type: {
    status: 415,
    message: (p: { contentType: string }) => `Unsupported content type "${p.contentType}"; send application/json`,
  },
  bad_request: { status: 400, message: (p: { reason: string }) => p.reason },
  validation: { status: 422, message: says('Validation Error') },
  field_validation: {
    status: 422,
    message: (p: { command: string; fields: Record<string, string[]> }) =>
      `Validation failed for ${p.command}: ${Object.entries(p.fields)
        .map(([field, messages]) => `${field}: ${messages.join(', ')}`)
        .join('; ')}`,
  },
  route_not_found: { status: 404, message: (p: { method: string; path: string }) => `Cannot ${p.method} ${p.path}` },
  internal: { status: 500, message: says('Internal server error, contact support and provide them with the errorId') },
  unavailable: {
    status: 503,
    message: says('The database cannot be reached at the moment; nothing was changed. Please retry.'),
  },

  // authentication, idempotency, rate limits
  missing_authorization: { status: 401, message: says('Missing authorization header') },
  invalid_scheme: { status: 401, message: (p: { scheme: string }) => `Invalid authentication scheme: "${p.scheme}"` },
  unauthorized: { status: 401, message: says('Unauthorized') },
  api_key_not_found: { status: 401, message: says('API Key not found') },
  foreign_environment: {
    status: 403,
    message: says(
      'API key authentication is scoped to a single environment; use the key of the environment you want to change',
    ),
  },
  idempotency_key_too_long: {
    status: 400,
    message: (p: { key: string }) =>
      `idempotencyKey "${p.key}" has exceeded the maximum allowed length of 255 characters`,
  },
  idempotency_key_reused: {
    status: 422,
    message: (p: { key: string }) => `Request with key "${p.key}" is being reused for a different body`,
  },
  idempotency_in_progress: {
    status: 409,
    message: (p: { key: string }) =>
      `Request with key "${p.key}" is currently being processed. Please retry after 1 second`,
  },
  rate_limited: { status: 429, message: says('API rate limit exceeded') },

  // lists
  both_cursors: { status: 400, message: says('Cannot specify both "before" and "after" cursors at the same time.') },

  // contexts
  invalid_context: {
    status: 422,
    message: says(
      'Invalid context payload structure. Expected object with context types as keys and string IDs or {id, data} objects as values',
    ),
  },
  too_many_contexts: {
    status: 422,
    message: (p: { count: number }) => `Too many contexts: ${p.count} provided, maximum allowed is 5`,
  },
  context_data_too_large: {
    status: 422,
    message: (p: { type: string; kilobytes: number }) =>
      `Context '${p.type}' Data is too large: ${p.kilobytes}KB exceeds 64KB limit`,
  },
  context_exists: {
    status: 409,
    message: (p: { type: string; id: string }) => `Context with type '${p.type}' and id '${p.id}' already exists`,
  },
  context_not_found: {
    status: 404,
    message: (p: { type: string; id: string; environmentId: string }) =>
      `Context with id '${p.id}' and type '${p.type}' not found in environment ${p.environmentId}`,
  },
  context_to_update_not_found: {
    status: 404,
    message: (p: { type: string; id: string }) => `Context with type '${p.type}' and id '${p.id}' not found`,
  },

  // subscribers
  subscriber_not_found: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber: ${p.subscriberId} was not found`,
  },
  subscriber_to_update_not_found: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber ${p.subscriberId} was not found`,
  },
  subscriber_to_delete_not_found: { status: 404, message: says('Subscriber was not found') },
  subscriber_exists: {
    status: 409,
    message: (p: { subscriberId: string }) => `Subscriber with id "${p.subscriberId}" already exists`,
  },

  // topics and their subscriptions

  // integrations

  // channel connections and endpoints, chat OAuth

  // environments, environment variables

  // tenants
} satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorTable
interface Extras {
  /** Extra members of the answer, under `ctx` and, for older callers, at the top level too. */
  ctx?: Record<string, unknown>
  headers?: Record<string, string>
  cause?: unknown
}

export class RequestError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly ctx: Record<string, unknown> | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, extras: Extras) {
    super(message, { cause: extras.cause })
    this.code = code
    this.status = errorTable[code].status
    this.ctx = extras.ctx
    this.headers = extras.headers ?? {}
  }
}

type Arguments<Code extends ErrorCode> =
  Parameters<(typeof errorTable)[Code]['message']> extends [infer Params]
    ? [params: Params, extras?: Extras]
    : [params?: undefined, extras?: Extras]

/** Makes the error with this code, to be thrown; `params` fill its sentence, where it has any. */
export function fail<Code extends ErrorCode>(code: Code, ...[params, extras]: Arguments<Code>): RequestError {
  const sentence = errorTable[code].message as (params: unknown) => string
  return new RequestError(code, sentence(params), extras ?? {})
}
