// Only the app on the device knows what happened to a push message. The app, or its server, reports it to our inbound webhook
// with the id it got in `__nvMessageId`, which is ours with every provider.
import { type EventStatus, eventOf, eventsIn, type InboundRequest } from '../events.ts'
import { textAt } from '../provider.ts'

const means: Record<string, EventStatus> = {
  delivered: 'delivered',
  opened: 'opened',
  dismissed: 'dismissed',
  clicked: 'clicked',
  failed: 'failed',
}

export const pushEvents = {
  read: ({ body }: InboundRequest) =>
    eventsIn(body).flatMap((event) =>
      eventOf(event, { id: textAt(event, 'eventId'), event: textAt(event, 'eventType'), means }),
    ),
}
