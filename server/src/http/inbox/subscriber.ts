// What a browser may read and change of the subscriber: the time zone of its schedule.
import { Type } from 'typebox'
import { findInboxAccess } from '../../db/queries/inbox-access.ts'
import { updateSubscriber } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import { given } from '../activity/message-shape.ts'
import type { Resource } from '../edge/resource.ts'
import { Body } from '../edge/schema.ts'

const Own = Type.Object({
  data: Type.Object({
    subscriberId: Type.String(),
    timezone: Type.Optional(Type.String({ description: 'Absent if not set; then UTC applies' })),
  }),
})

export const inboxSubscriber: Resource = (app, { db }) => {
  const tags = ['Inbox in browsers']
  const config = { public: true, inbox: true, preferences: true }
  const path = '/v1/inbox/subscriber'

  app.get(
    path,
    { config, schema: { tags, summary: "Retrieve the subscriber's time zone", response: { 200: Own } } },
    async ({ session: { subscriber } }) => ({
      data: { subscriberId: subscriber.subscriber_id, ...given({ timezone: subscriber.timezone }) },
    }),
  )

  app.patch(
    path,
    {
      config,
      schema: {
        tags,
        summary: "Change the subscriber's time zone",
        body: Body({ timezone: Type.String({ format: 'timezone' }) }, { examples: [{ timezone: 'Europe/Berlin' }] }),
        response: { 200: Own },
      },
    },
    async (request) => {
      const { timezone } = request.body
      const { environmentId, subscriber } = request.session
      const { profileFields } = await findInboxAccess(db, environmentId)
      if (profileFields && !profileFields.includes('timezone'))
        throw fail('profile_field_refused', { field: 'timezone' })
      const row = await updateSubscriber(db, environmentId, subscriber.subscriber_id, { timezone }, request.now())
      // Deleted, or replaced under the same id, since the token was checked.
      if (row?.id !== subscriber.id) throw fail('unauthorized')
      return { data: { subscriberId: row.subscriber_id, ...given({ timezone: row.timezone }) } }
    },
  )
}
