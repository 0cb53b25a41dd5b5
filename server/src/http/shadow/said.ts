// What requests and answers say that pass through the door: their route, their events, their transaction ids.
import type { FastifyRequest } from 'fastify'
import type { RelayedAnswer } from '../../providers/http-client.ts'

export type Event = Record<string, unknown> & { name: string }

/** Of the route; of an unknown one, as it was asked. */
export function pathOf(request: FastifyRequest): string {
  const { url } = request.rules
  return url === undefined || url === '/*' ? (request.url.split('?', 1)[0] ?? '') : url
}

export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

/** The body of an answer, also if it is wrapped in `{"data": …}`, as Novu's are. */
export function jsonOf({ bytes }: RelayedAnswer): { value: unknown; list: unknown[] | undefined; isWrapped: boolean } {
  const value = parsed(bytes)
  const inner = (value as { data?: unknown } | null | undefined)?.data
  const isWrapped = typeof inner === 'object' && inner !== null
  const list = isWrapped ? inner : value
  return {
    value: isWrapped && !Array.isArray(inner) ? inner : value,
    list: Array.isArray(list) ? list : undefined,
    isWrapped,
  }
}

const isEvent = (value: unknown): value is Event =>
  typeof value === 'object' && value !== null && typeof (value as { name?: unknown }).name === 'string'

/** What the service behind will refuse has none. */
export function readEvents(body: Buffer, isBulk: boolean): Event[] {
  const said = parsed(body)
  const given = isBulk ? (said as { events?: unknown } | null | undefined)?.events : [said]
  return Array.isArray(given) && given.every(isEvent) ? given : []
}

export const toJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** The same bulk request with these events. */
export const withEvents = (body: Buffer, events: Event[]): Buffer => toJson({ ...(parsed(body) as object), events })
