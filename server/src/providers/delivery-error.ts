// Why something could not be handed to another service, and whether trying again can help. Providers throw it; only the
// engine decides what follows. Its sentence names the host at most: paths, headers and bodies can hold secrets.

interface Kind {
  retry: 'later' | 'never'
  sentence: string
}

const kinds = {
  invalid_url: { retry: 'never', sentence: 'the address is not an http(s) URL' },
  invalid_request: { retry: 'never', sentence: 'the request cannot be sent as HTTP' },
  address_refused: {
    retry: 'never',
    sentence: 'the address is private or reserved; with BELFRY_ALLOW_PRIVATE_ADDRESSES it can be called',
  },
  host_unknown: { retry: 'later', sentence: 'the host name cannot be resolved' },
  connection_failed: { retry: 'later', sentence: 'no connection could be made' },
  certificate_refused: { retry: 'later', sentence: 'the certificate is not accepted' },
  connection_lost: { retry: 'later', sentence: 'the connection was lost before the answer was complete' },
  timeout: { retry: 'later', sentence: 'no complete answer came in time' },
  too_many_redirects: { retry: 'never', sentence: 'it redirects too many times' },
  answer_too_large: { retry: 'never', sentence: 'the answer is too large' },
  unreadable_answer: { retry: 'later', sentence: 'the answer cannot be read' },
  unauthorized: { retry: 'never', sentence: 'it does not accept the credentials' },
  rate_limited: { retry: 'later', sentence: 'it asks for fewer requests' },
  unavailable: { retry: 'later', sentence: 'it is out of order' },
  rejected: { retry: 'never', sentence: 'it refuses the request' },
} satisfies Record<string, Kind>

export type DeliveryErrorCode = keyof typeof kinds

interface Details {
  host?: string | undefined
  /** The transport's own name for it, such as ECONNREFUSED. */
  reason?: string | undefined
  status?: number
  afterSeconds?: number | undefined
}

export class DeliveryError extends Error {
  readonly code: DeliveryErrorCode
  readonly retry: 'later' | 'never'
  /** How long the other side asked to be left alone. */
  readonly afterSeconds: number | undefined
  /** Of the answer, where there was one. */
  readonly status: number | undefined
  readonly reason: string | undefined

  constructor(code: DeliveryErrorCode, { host, reason, status, afterSeconds }: Details = {}) {
    const { sentence, retry } = kinds[code]
    const remark = status === undefined ? reason : `HTTP status ${status}`
    super(`${host === undefined ? '' : `${host}: `}${sentence}${remark === undefined ? '' : ` (${remark})`}`)
    this.code = code
    this.retry = retry
    this.status = status
    this.afterSeconds = afterSeconds
    this.reason = reason
  }
}

/** What a status that is no success means. */
export function statusError(
  host: string,
  { status, retryAfter }: { status: number; retryAfter: string | undefined },
  now: Date,
): DeliveryError {
  return new DeliveryError(codeOfStatus(status), { host, status, afterSeconds: secondsUntil(retryAfter, now) })
}

function codeOfStatus(status: number): DeliveryErrorCode {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 429) return 'rate_limited'
  // 501 and 505 say that it never will be possible; 408 and 425 that it may be the next time.
  if (status === 408 || status === 425) return 'unavailable'
  return status >= 500 && status !== 501 && status !== 505 ? 'unavailable' : 'rejected'
}

/** `Retry-After` is a number of seconds or a date. */
function secondsUntil(retryAfter: string | undefined, now: Date): number | undefined {
  if (retryAfter === undefined) return undefined
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter)
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}

const certificateCodes = /CERT|^ERR_TLS|^ERR_SSL|UNABLE_TO_(VERIFY|GET_ISSUER)/

/** What a failure below HTTP means, by the code the transport gave it. */
export function transportError(host: string, reason: string): DeliveryError {
  return new DeliveryError(codeOfTransport(reason), { host, reason })
}

function codeOfTransport(reason: string): DeliveryErrorCode {
  switch (reason) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'ENODATA':
      return 'host_unknown'
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return 'timeout'
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return 'connection_lost'
    case 'UND_ERR_INVALID_ARG':
    case 'UND_ERR_NOT_SUPPORTED':
      return 'invalid_request'
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'answer_too_large'
    default:
      return certificateCodes.test(reason) ? 'certificate_refused' : 'connection_failed'
  }
}
