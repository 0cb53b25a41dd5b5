import { testProvider } from '../../../test/provider-suite.ts'
import { pusherBeams } from './pusher-beams.ts'

const url = 'https://inst-1.pushnotifications.pusher.com/publish_api/v1/instances/inst-1/publishes/users'
const headers = { authorization: 'Bearer secret-key' }
const result = { providerMessageId: 'pubid-33f3f68e' }

testProvider(pusherBeams, {
  credentials: { instanceId: 'inst-1', secretKey: 'secret-key' },
  message: { target: 'user-1' },
  accepted: { body: { publishId: 'pubid-33f3f68e' } },
  errorBody: (description) => ({ error: 'Bad request', description }),

  sends: [
    {
      title: 'for a user, on all their devices',
      message: { payload: { order: 7 } },
      requests: [
        {
          url,
          headers,
          json: {
            users: ['user-1'],
            apns: { aps: { alert: { title: 'Hello', body: 'Hi' } } },
            fcm: { notification: { title: 'Hello', body: 'Hi' }, data: { order: 7 } },
            web: { notification: { title: 'Hello', body: 'Hi' }, data: { order: 7 } },
          },
        },
      ],
      result,
    },
    {
      title: 'with what the caller wishes',
      message: {
        overrides: {
          badge: 3,
          categoryId: 'invite',
          sound: 'chime',
          channelId: 'orders',
          clickAction: 'OPEN',
          color: '#fff',
          icon: 'bell',
          tag: 't',
          ttl: 60,
        },
        providerData: { web: { notification: { deepLink: 'https://acme.example' } }, users: ['user-2'] },
      },
      requests: [
        {
          url,
          json: {
            users: ['user-1', 'user-2'],
            apns: { aps: { alert: { title: 'Hello', body: 'Hi' }, badge: 3, category: 'invite', sound: 'chime' } },
            fcm: {
              notification: {
                title: 'Hello',
                body: 'Hi',
                android_channel_id: 'orders',
                click_action: 'OPEN',
                color: '#fff',
                icon: 'bell',
                sound: 'chime',
                tag: 't',
              },
              data: {},
              time_to_live: 60,
            },
            web: {
              notification: { title: 'Hello', body: 'Hi', icon: 'bell', deep_link: 'https://acme.example' },
              data: {},
              time_to_live: 60,
            },
          },
        },
      ],
      result,
    },
  ],
})
