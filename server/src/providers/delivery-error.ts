// Why a request to another service failed, and what can help. Providers throw it; only the engine decides what follows. The
// sentence names the host at most: paths, headers and bodies can hold secrets.

/**
 * What can help:
 * `later`        a retry;
 * `failover`     another provider: this one refuses the message, others may not;
 * `credentials`  another provider, until somebody corrects the credentials of this one;
 * `address`      nothing: the address is dead, so a device token is deleted;
 * `never`        nothing: every provider would refuse it.
 */
export type DeliveryErrorKind = 'later' | 'failover' | 'credentials' | 'address' | 'never'

interface Meaning {
  kind: DeliveryErrorKind
  sentence: string
  /** The request may have succeeded: a retry may deliver the message twice. */
  mayHaveArrived?: true
}

const meanings = {
  invalid_url: { kind: 'failover', sentence: 'the address is not an http(s) URL' },
  invalid_request: { kind: 'failover', sentence: 'the request cannot be sent as HTTP' },
  address_refused: {
    kind: 'failover',
    sentence: 'the address is private or reserved; with BELFRY_ALLOW_PRIVATE_ADDRESSES it can be called',
  },
  host_unknown: { kind: 'later', sentence: 'the host could not be found' },
  connection_failed: { kind: 'later', sentence: 'no connection could be made' },
  certificate_refused: { kind: 'later', sentence: 'the certificate is not accepted' },
  connection_lost: {
    kind: 'later',
    sentence: 'the connection was lost before the answer was complete',
    mayHaveArrived: true,
  },
  timeout: { kind: 'later', sentence: 'no complete answer before the timeout', mayHaveArrived: true },
  cut_off: { kind: 'later', sentence: 'the service stopped before the answer came', mayHaveArrived: true },
  too_many_redirects: { kind: 'failover', sentence: 'it redirects too many times' },
  answer_too_large: { kind: 'never', sentence: 'the answer is too large', mayHaveArrived: true },
  unreadable_answer: { kind: 'later', sentence: 'the answer cannot be read', mayHaveArrived: true },
  unauthorized: { kind: 'credentials', sentence: 'it does not accept the credentials' },
  incomplete_credentials: { kind: 'credentials', sentence: 'credentials are missing or cannot be used' },
  rate_limited: { kind: 'later', sentence: 'its rate limit was exceeded' },
  unavailable: { kind: 'later', sentence: 'it is unavailable' },
  quota_exhausted: { kind: 'failover', sentence: 'the quota of the account is used up' },
  rejected: { kind: 'failover', sentence: 'it refuses the request' },
  recipient_refused: { kind: 'address', sentence: 'it cannot reach this recipient' },
  message_refused: { kind: 'never', sentence: 'the message cannot be sent as it is' },
  held_back: { kind: 'never', sentence: 'nothing may be sent to this recipient' },
} satisfies Record<string, Meaning>

export type DeliveryErrorCode = keyof typeof meanings

export interface Details {
  host?: string | undefined
  /** The transport's error code, such as ECONNREFUSED. */
  reason?: string | undefined
  status?: number | undefined
  afterSeconds?: number | undefined
  /** The other side's own words, with secrets masked. */
  says?: string | undefined
  /** Overrides what the code implies. */
  mayHaveArrived?: boolean
  /** The other side says that the recipient's address does not exist, or never will. */
  isDead?: boolean | undefined
}

/** A request to a provider and its answer, shortened and with secrets masked. */
export interface Exchange {
  request: { method: string; url: string; body?: string }
  response?: { status: number; body?: string }
}

export class DeliveryError extends Error {
  /** Of the request that was to deliver, if there was one. */
  exchange: Exchange | undefined
  readonly code: DeliveryErrorCode
  readonly kind: DeliveryErrorKind
  readonly retry: 'later' | 'never'
  readonly mayHaveArrived: boolean
  /** How long the other side asked us to wait. */
  readonly afterSeconds: number | undefined
  /** Of the answer, if there was one. */
  readonly status: number | undefined
  readonly reason: string | undefined
  readonly host: string | undefined
  readonly says: string | undefined
  readonly isDead: boolean

  constructor(
    code: DeliveryErrorCode,
    { host, reason, status, afterSeconds, says, mayHaveArrived, isDead }: Details = {},
  ) {
    const meaning: Meaning = meanings[code]
    const remark = status === undefined ? reason : `HTTP status ${status}`
    const after = `${remark === undefined ? '' : ` (${remark})`}${says === undefined ? '' : `: ${says}`}`
    const where = host === undefined ? '' : `${host}: `
    super(
      code === 'host_unknown' && host !== undefined
        ? `The host ${host.replace(/:\d+$/, '')} could not be found${after}`
        : `${where}${meaning.sentence}${after}`,
    )
    this.code = code
    this.kind = meaning.kind
    this.retry = meaning.kind === 'later' ? 'later' : 'never'
    this.mayHaveArrived = mayHaveArrived ?? meaning.mayHaveArrived ?? false
    this.status = status
    this.afterSeconds = afterSeconds
    this.reason = reason
    this.host = host
    this.says = says
    this.isDead = isDead ?? false
  }
}

/** The error for a status other than success, unless the answer says more. */
export function statusError(
  host: string,
  { status, retryAfter }: { status: number; retryAfter: string | undefined },
  now: Date,
  more: Pick<Details, 'says' | 'afterSeconds' | 'isDead'> & { code?: DeliveryErrorCode | undefined } = {},
): DeliveryError {
  return new DeliveryError(more.code ?? codeOfStatus(status), {
    host,
    status,
    says: more.says,
    isDead: more.isDead,
    afterSeconds: more.afterSeconds ?? secondsUntil(retryAfter, now),
  })
}

function codeOfStatus(status: number): DeliveryErrorCode {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 429) return 'rate_limited'
  // A retry can help after 408 and 425, and never after 501 and 505.
  if (status === 408 || status === 425) return 'unavailable'
  return status >= 500 && status !== 501 && status !== 505 ? 'unavailable' : 'rejected'
}

/** `Retry-After` is a number of seconds or a date. */
export function secondsUntil(retryAfter: string | undefined, now: Date): number | undefined {
  if (retryAfter === undefined) return undefined
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter)
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}

/** Errors before the connection was open, so nothing was sent. */
const neverSent = new Set(['UND_ERR_CONNECT_TIMEOUT'])
const certificateCodes = /CERT|^ERR_TLS|^ERR_SSL|UNABLE_TO_(VERIFY|GET_ISSUER)/

/** The error for a failure below HTTP, by the transport's error code. */
export function transportError(host: string, reason: string): DeliveryError {
  const details = neverSent.has(reason) ? { mayHaveArrived: false } : {}
  return new DeliveryError(codeOfTransport(reason), { host, reason, ...details })
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
