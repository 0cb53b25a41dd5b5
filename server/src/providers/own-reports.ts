// Reports from a server of the user's own, to which messages went as they are.
import {
  type DeliveryEvent,
  type EventStatus,
  eventOf,
  hmac,
  type InboundRequest,
  type InboundText,
  isSame,
  textOf,
} from './events.ts'
import { at, textAt } from './provider.ts'

const statuses: EventStatus[] = [
  ...(['accepted', 'queued', 'sending', 'sent', 'delivered', 'undelivered', 'failed', 'opened', 'clicked'] as const),
  ...(['dismissed', 'bounced', 'blocked', 'dropped', 'delayed', 'deferred', 'rejected', 'spam', 'complaint'] as const),
  'unsubscribed',
]
const means = Object.fromEntries(statuses.map((status) => [status, status]))

/** Signed as our own requests to that server are; without a key, nothing is genuine. */
export function isSignedBy(key: string | undefined, brand: string, { headers, rawBody }: InboundRequest): boolean {
  if (!key) return false
  const given = Buffer.from(headers[`x-${brand}-signature`] ?? '', 'hex')
  return isSame(given, hmac('sha256', key, rawBody))
}

const listAt = (body: unknown, name: string): unknown[] => {
  const list = at(body, name)
  return Array.isArray(list) ? list : []
}

/** How much such a server can tell in one request. */
export const ownLimit = {
  most: 1_000,
  count: ({ body }: InboundRequest): number => Math.max(listAt(body, 'events').length, listAt(body, 'inbound').length),
}

/** `{"events": [{"id", "status", "recipient"?, "permanent"?, "at"?, "eventId"?}]}` */
export const ownReports = ({ body }: InboundRequest): DeliveryEvent[] =>
  listAt(body, 'events').flatMap((event) =>
    eventOf(event, {
      ...{ id: textAt(event, 'id'), event: textAt(event, 'status'), means, at: textAt(event, 'at') },
      ...{ externalId: textAt(event, 'eventId'), recipient: textAt(event, 'recipient') },
      permanent: at(event, 'permanent') === true,
    }),
  )

/** `{"inbound": [{"id", "from", "to", "text"}]}` */
export const ownTexts = ({ body }: InboundRequest): InboundText[] =>
  listAt(body, 'inbound').flatMap((each) =>
    textOf({ id: textAt(each, 'id'), from: textAt(each, 'from'), to: textAt(each, 'to'), text: textAt(each, 'text') }),
  )
