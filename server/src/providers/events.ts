// Delivery events from providers: the requests to our inbound webhook, and the events in them.
import { createHmac, timingSafeEqual } from 'node:crypto'

export type EventStatus =
  | 'accepted'
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'undelivered'
  | 'failed'
  | 'opened'
  | 'clicked'
  | 'dismissed'
  | 'bounced'
  | 'blocked'
  | 'dropped'
  | 'delayed'
  | 'deferred'
  | 'rejected'
  | 'spam'
  | 'complaint'
  | 'unsubscribed'

export interface DeliveryEvent {
  /** As `send` returned it. */
  providerMessageId: string
  status: EventStatus
  /** When it happened, if the vendor says so. */
  date?: Date
  /** The vendor's id of the event. */
  externalId?: string
  attempts?: number
  /** The vendor's own words about it. */
  response?: string
  /** Whom it is about: a mail can have several recipients. */
  recipient?: string
  /** A failure that the vendor calls permanent: the address is dead. */
  permanent?: true
  /** The event as it came. */
  raw: unknown
}

/** A text message that somebody sent to one of our numbers. */
export interface InboundText {
  /** The vendor's id. */
  id: string
  from: string
  to: string
  text: string
  /** The vendor has answered a word such as STOP itself. */
  isAnswered?: true
}

/** Empty unless all of it is there. */
export const textOf = (given: { [name in 'id' | 'from' | 'to' | 'text']: string | undefined }): InboundText[] => {
  const { id, from, to, text } = given
  return id === undefined || from === undefined || to === undefined || text === undefined
    ? []
    : [{ id, from, to, text }]
}

/** Some vendors leave out the plus sign of a number. */
export const withPlus = (number: string | undefined): string | undefined =>
  number !== undefined && /^[1-9]\d{6,14}$/.test(number) ? `+${number}` : number

export interface AutoConfigured {
  success: boolean
  message: string
  /** To be merged into the integration's configurations. */
  configurations?: { inboundWebhookEnabled: boolean; inboundWebhookSigningKey: string }
}

export const notConfigurable = (name: string): AutoConfigured => ({
  success: false,
  message: `${name} does not currently offer automatic inbound webhook configuration. Please configure your webhook manually.`,
})

/** A request to our inbound webhook. */
export class InboundRequest {
  /** As the vendor knows it, query included. */
  readonly url: string
  /** By lower-case name. */
  readonly headers: Record<string, string>
  readonly rawBody: Buffer

  constructor(request: { url: string; headers: Record<string, string | string[] | undefined>; rawBody: Uint8Array }) {
    this.url = request.url
    this.headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), [value ?? ''].flat().join(', ')]),
    )
    this.rawBody = Buffer.from(request.rawBody)
  }

  /** The body: a form's members, else JSON whatever the content type says, else undefined. */
  get body(): unknown {
    if (this.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return this.form
    try {
      return JSON.parse(this.rawBody.toString('utf8')) as unknown
    } catch {
      return undefined
    }
  }

  get form(): Record<string, string> {
    return Object.fromEntries(new URLSearchParams(this.rawBody.toString('utf8')))
  }
}

/** Batches and single events alike. */
export const eventsIn = (body: unknown): unknown[] =>
  (Array.isArray(body) ? (body as unknown[]) : [body]).filter((event) => typeof event === 'object' && event !== null)

interface Reading {
  id: string | undefined
  /** The vendor's word, and what it means. */
  event: string | undefined
  means: Record<string, EventStatus>
  at?: string | number | Date | undefined
  externalId?: string | undefined
  attempts?: number | undefined
  response?: string | undefined
  recipient?: string | undefined
  permanent?: boolean
}

/** Empty for an event we do not track or that belongs to no message. */
export function eventOf(raw: unknown, { id, event, means, at, permanent = false, ...rest }: Reading): DeliveryEvent[] {
  if (id === undefined || event === undefined || !Object.hasOwn(means, event)) return []
  const status = means[event]
  if (status === undefined) return []
  const date = at === undefined ? undefined : new Date(at)
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const isDated = date !== undefined && !Number.isNaN(date.getTime())
  const isPermanent = permanent ? ({ permanent } as const) : {}
  return [{ providerMessageId: id, status, ...(isDated ? { date } : {}), ...known, ...isPermanent, raw }]
}

export const hmac = (algorithm: 'sha1' | 'sha256', key: string | Buffer, content: string | Buffer): Buffer =>
  createHmac(algorithm, key).update(content).digest()

/** Vendors retry a report for up to a day, some with the first signature. */
const oldestMs = 86_400_000

/** Whether a report was signed at most a day ago, by its time in seconds. An older one is a replay attack. */
export const isRecent = (seconds: string | undefined, now: Date): boolean =>
  seconds !== undefined && Math.abs(now.getTime() - Number(seconds) * 1000) <= oldestMs

/**
 * Whether the request carries our key, for vendors that do not sign: as the password of Basic authentication, a bearer token,
 * or a query parameter `token` or `key`.
 */
export function carriesKey({ url, headers }: InboundRequest, key: string): boolean {
  const [, scheme = '', proof = ''] = /^(\S+)\s+(\S+)$/.exec(headers.authorization ?? '') ?? []
  const { searchParams } = new URL(url)
  const given = [...searchParams.getAll('token'), ...searchParams.getAll('key')]
  if (/^bearer$/i.test(scheme)) given.push(proof)
  if (/^basic$/i.test(scheme))
    given.push(
      Buffer.from(proof, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, ''),
    )
  return given.some((word) => isSame(Buffer.from(word), Buffer.from(key)))
}

/** In constant time. */
export const isSame = (given: Buffer, expected: Buffer): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected)
