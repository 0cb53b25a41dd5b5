import { testProvider } from '../../../test/provider-suite.ts'
import { expo } from './expo.ts'

const url = 'https://exp.host/--/api/v2/push/send'
const headers = { authorization: 'Bearer access-token' }
const target = 'ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]'
const result = { providerMessageId: '019f-ticket' }
const ticket = (error: string, message = 'no') => ({
  body: { data: [{ status: 'error', message, details: { error } }] },
})

testProvider(expo, {
  credentials: { apiKey: 'access-token' },
  message: { target },
  accepted: { body: { data: [{ status: 'ok', id: '019f-ticket' }] } },
  errorBody: (message) => ({ errors: [{ code: 'API_ERROR', message }] }),

  sends: [
    {
      title: 'with its payload as data',
      message: { payload: { order: 7 } },
      requests: [{ url, headers, json: [{ to: target, title: 'Hello', body: 'Hi', data: { order: 7 } }] }],
      result,
    },
    {
      title: 'with what the caller wishes',
      message: {
        target: 'ExpoPushToken[y]',
        overrides: { badge: 3, sound: 'default', channelId: 'orders', subtitle: 'Again', deviceTokens: ['z'] },
        providerData: { priority: 'high', badge: 4, _passthrough: { body: { ttl: 60 } } },
      },
      requests: [
        {
          url,
          json: [
            {
              to: 'ExpoPushToken[y]',
              title: 'Hello',
              body: 'Hi',
              data: {},
              badge: 4,
              channelId: 'orders',
              subtitle: 'Again',
              sound: 'default',
              priority: 'high',
              ttl: 60,
            },
          ],
        },
      ],
      result,
    },
    {
      title: 'without a sound, where it is something else than a name',
      message: { overrides: { sound: { critical: true } } },
      replies: [{ body: { data: { status: 'ok', id: '019f-ticket' } } }],
      requests: [{ url, json: [{ to: target, title: 'Hello', body: 'Hi', data: {}, sound: null }] }],
      result,
    },
  ],

  refusals: [
    [
      'the app was removed',
      ticket('DeviceNotRegistered', `"${target}" is not a registered push notification recipient`),
      { code: 'recipient_refused', kind: 'address' },
    ],
    ['the message is too large', ticket('MessageTooBig'), { code: 'message_refused', kind: 'never' }],
    ['too many for one device', ticket('MessageRateExceeded'), { code: 'rate_limited', kind: 'later' }],
    ['the app has no key for its platform', ticket('InvalidCredentials'), { code: 'unauthorized' }],
    [
      'it says nothing more',
      { body: { data: [{ status: 'error', message: 'no' }] } },
      { code: 'rejected', says: 'no' },
    ],
    [
      'the whole request failed',
      { body: { errors: [{ code: 'PUSH_TOO_MANY_EXPERIENCE_IDS', message: 'All must be of one project' }] } },
      { code: 'rejected', says: 'All must be of one project' },
    ],
  ],
})
