import { bearer, pushProvider, secret, text, textAt } from '../provider.ts'
import { pushEvents } from './push-events.ts'

export const pusherBeams = pushProvider({
  id: 'pusher-beams',
  name: 'Pusher Beams',
  docs: 'https://pusher.com/docs/beams/reference/publish-api/#publish-to-users',
  credentials: { instanceId: text('Instance ID'), secretKey: secret('Secret key') },
  naming: { casing: 'snake' },

  async send({ target, title, content, payload, overrides }, { instanceId, secretKey }, { deliver }) {
    const { badge, categoryId, sound, channelId, clickAction, color, icon, tag, ttl } = overrides
    const instance = encodeURIComponent(instanceId)
    const answer = await deliver(
      `https://${instance}.pushnotifications.pusher.com/publish_api/v1/instances/${instance}/publishes/users`,
      {
        headers: bearer(secretKey),
        json: {
          users: [target],
          apns: { aps: { alert: { title, body: content }, badge, category: categoryId, sound } },
          fcm: {
            notification: {
              title,
              body: content,
              android_channel_id: channelId,
              click_action: clickAction,
              color,
              icon,
              sound,
              tag,
            },
            data: payload,
            time_to_live: ttl,
          },
          web: { notification: { title, body: content, icon }, data: payload, time_to_live: ttl },
        },
      },
    )
    return { providerMessageId: textAt(answer.json, 'publishId') }
  },

  problem: ({ body, isSuccess }) =>
    isSuccess ? undefined : { says: textAt(body, 'description') ?? textAt(body, 'error') },

  events: pushEvents,
})
