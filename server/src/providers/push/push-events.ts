// What became of a push message is known to the app on the device only. The app, or its server, reports it to our inbound
// webhook under the id that came with the message, in `__nvMessageId`: ours, whoever the provider is.
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
