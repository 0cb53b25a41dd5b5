import { expect } from 'vitest'
import { testProvider } from '../../../test/provider-suite.ts'
import { oneSignal } from './one-signal.ts'

const url = 'https://onesignal.com/api/v1/notifications'
const result = { providerMessageId: 'b98881cc-1e94-4366-bbd9-db8f3429292b' }
const base = {
  app_id: 'app-1',
  headings: { en: 'Hello' },
  contents: { en: 'Hi' },
  data: {},
  ios_badgeType: 'Increase',
  ios_badgeCount: 1,
  idempotency_key: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
}

testProvider(oneSignal, {
  credentials: { applicationId: 'app-1', apiKey: 'rest-key' },
  accepted: { body: { id: result.providerMessageId, external_id: null } },
  errorBody: (words) => ({ errors: [words] }),

  sends: [
    {
      title: 'for a player',
      message: { payload: { order: 7 } },
      requests: [
        {
          url,
          headers: { authorization: 'Basic rest-key' },
          json: { ...base, include_player_ids: ['device-token'], data: { order: 7 } },
        },
      ],
      result,
    },
    {
      title: 'for an external id, with a key of the new kind',
      credentials: { apiVersion: 'externalId', apiKey: 'os_v2_app_key' },
      requests: [
        {
          url: 'https://api.onesignal.com/notifications',
          headers: { authorization: 'Key os_v2_app_key' },
          json: { ...base, include_aliases: { external_id: ['device-token'] }, target_channel: 'push' },
        },
      ],
      result,
    },
    {
      title: 'with what the caller wishes',
      message: {
        overrides: {
          subtitle: 'Again',
          sound: 'chime',
          mutableContent: true,
          channelId: 'orders',
          icon: 'bell',
          categoryId: 'invite',
        },
        providerData: {
          iosBadgeType: 'SetTo',
          iosBadgeCount: 5,
          isIos: true,
          ttl: 60,
          _passthrough: { body: { data: { fooBar: 1 } } },
        },
      },
      requests: [
        {
          url,
          json: {
            ...base,
            include_player_ids: ['device-token'],
            subtitle: { en: 'Again' },
            ios_sound: 'chime',
            android_sound: 'chime',
            mutable_content: true,
            android_channel_id: 'orders',
            small_icon: 'bell',
            large_icon: 'bell',
            chrome_icon: 'bell',
            firefox_icon: 'bell',
            ios_category: 'invite',
            ios_badgeType: 'SetTo',
            ios_badgeCount: 5,
            isIos: true,
            ttl: 60,
            data: { fooBar: 1 },
          },
        },
      ],
      result,
    },
  ],

  refusals: [
    [
      'there is no such player',
      { body: { id: '', errors: { invalid_player_ids: ['device-token'] } } },
      { code: 'recipient_refused', kind: 'address', says: '{"invalid_player_ids":["device-token"]}' },
    ],
    [
      'nobody would get it, which can change',
      { body: { id: '', errors: ['All included players are not subscribed'] } },
      { code: 'rejected', says: 'All included players are not subscribed' },
    ],
  ],
})
