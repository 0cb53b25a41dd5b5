import { at, choice, optional, pushProvider, secret, text, textAt, uuidOf } from '../provider.ts'
import { pushEvents } from './push-events.ts'

export const oneSignal = pushProvider({
  id: 'one-signal',
  name: 'OneSignal',
  docs: 'https://documentation.onesignal.com/reference/push-notification',
  credentials: {
    applicationId: text('App ID'),
    apiKey: secret('App API key'),
    apiVersion: optional(
      choice('Tokens are', ['playerModel', 'externalId'], 'Player ids unless said otherwise; or external ids'),
    ),
  },
  naming: {
    casing: 'snake',
    names: {
      is_ios: 'isIos',
      is_android: 'isAndroid',
      is_huawei: 'isHuawei',
      is_any_web: 'isAnyWeb',
      is_chrome_web: 'isChromeWeb',
      is_firefox: 'isFirefox',
      is_safari: 'isSafari',
      is_wp_wns: 'isWP_WNS',
      is_adm: 'isAdm',
      is_chrome: 'isChrome',
      ios_badge_type: 'ios_badgeType',
      ios_badge_count: 'ios_badgeCount',
    },
  },
  idempotent: true,

  async send({ id, target, title, content, payload, overrides }, { applicationId, apiKey, apiVersion }, { deliver }) {
    const isExternal = apiVersion === 'externalId'
    const { subtitle, sound, mutableContent, channelId, icon, categoryId } = overrides
    const answer = await deliver(
      isExternal ? 'https://api.onesignal.com/notifications' : 'https://onesignal.com/api/v1/notifications',
      {
        headers: { authorization: `${apiKey.startsWith('os_v2_') ? 'Key' : 'Basic'} ${apiKey}` },
        json: {
          app_id: applicationId,
          ...(isExternal
            ? { include_aliases: { external_id: [target] }, target_channel: 'push' }
            : { include_player_ids: [target] }),
          headings: { en: title },
          contents: { en: content },
          subtitle: subtitle === undefined ? undefined : { en: subtitle },
          data: payload,
          ios_badgeType: 'Increase',
          ios_badgeCount: 1,
          ios_sound: sound,
          android_sound: sound,
          mutable_content: mutableContent,
          android_channel_id: channelId,
          small_icon: icon,
          large_icon: icon,
          chrome_icon: icon,
          firefox_icon: icon,
          ios_category: categoryId,
          idempotency_key: asVersion4(uuidOf(id)),
        },
      },
    )
    return { providerMessageId: textAt(answer.json, 'id') }
  },

  problem({ body, isSuccess }) {
    // Success without an id means that nothing was sent.
    if (isSuccess && (body === undefined || textAt(body, 'id') !== undefined)) return undefined
    const errors = at(body, 'errors')
    const isUnknownPlayer = at(errors, 'invalid_player_ids') !== undefined
    return {
      says: Array.isArray(errors) ? errors.join(', ') : errors === undefined ? undefined : JSON.stringify(errors),
      code: isUnknownPlayer ? 'recipient_refused' : undefined,
    }
  },

  events: pushEvents,
})

/** OneSignal only accepts UUIDs of version 3 and 4. */
const asVersion4 = (uuid: string) => `${uuid.slice(0, 14)}4${uuid.slice(15)}`
