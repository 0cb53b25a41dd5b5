import { withToken } from '../access-token.ts'
import { flag, type PushMessage, pushProvider, secret, type Tools, text, textAt, uuidOf } from '../provider.ts'
import type { Data } from '../provider-data.ts'
import { Http2Connection } from './http2-connection.ts'
import { pushEvents } from './push-events.ts'

/** Apple accepts a token for 20 to 60 minutes. */
const tokenSeconds = 50 * 60

/** Members of `aps` and of its `alert`, by the names callers use, after casing. */
const inAps = {
  badge: 'badge',
  sound: 'sound',
  category: 'category',
  threadId: 'thread-id',
  'content-available': 'content-available',
  'mutable-content': 'mutable-content',
  'url-args': 'url-args',
  targetContentIdentifier: 'target-content-id',
  interruptionLevel: 'interruption-level',
  relevanceScore: 'relevance-score',
}
const inAlert = [
  ...['title', 'subtitle', 'body', 'launch-image', 'title-loc-key', 'title-loc-args'],
  ...['action-loc-key', 'loc-key', 'loc-args'],
]

/** https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns */
const codes = {
  BadDeviceToken: 'recipient_refused',
  DeviceTokenNotForTopic: 'recipient_refused',
  ExpiredToken: 'recipient_refused',
  Unregistered: 'recipient_refused',
  MissingDeviceToken: 'recipient_refused',
  BadCollapseId: 'message_refused',
  BadExpirationDate: 'message_refused',
  BadPriority: 'message_refused',
  InvalidPushType: 'message_refused',
  PayloadEmpty: 'message_refused',
  PayloadTooLarge: 'message_refused',
  BadTopic: 'unauthorized',
  MissingTopic: 'unauthorized',
  TopicDisallowed: 'unauthorized',
  IdleTimeout: 'unavailable',
} as const

export const apns = pushProvider({
  id: 'apns',
  name: 'Apple Push Notification service',
  docs: 'https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns',
  credentials: {
    secretKey: secret('Private key', 'The content of the .p8 file'),
    apiKey: secret('Key ID'),
    projectName: text('Team ID'),
    applicationId: text('Bundle ID'),
    secure: flag('Production', "Off, messages go to Apple's sandbox"),
  },
  naming: {
    casing: 'camel',
    names: {
      contentAvailable: 'content-available',
      launchImage: 'launch-image',
      mutableContent: 'mutable-content',
      urlArgs: 'url-args',
      titleLocKey: 'title-loc-key',
      titleLocArgs: 'title-loc-args',
      actionLocKey: 'action-loc-key',
      locKey: 'loc-key',
      locArgs: 'loc-args',
    },
  },
  // On the device, a notification replaces an earlier one with the same collapse id.
  idempotent: true,

  async send(message, { secretKey, apiKey, projectName, applicationId, secure }, tools) {
    const host = secure ? 'api.push.apple.com' : 'api.sandbox.push.apple.com'
    const { body, headers, query } = tools.extend(wishesOf(message, applicationId, tools.clock.now()))
    const search = new URLSearchParams(query).toString()
    const connection = await tools.keep(() => new Http2Connection(host, tools.http))
    const makeToken = async () => ({
      value: await tokenOf(secretKey, apiKey, projectName, tools),
      seconds: tokenSeconds,
    })
    return withToken(tools, 'token', makeToken, async (token) => {
      const request = {
        path: `/3/device/${encodeURIComponent(message.target)}${search === '' ? '' : `?${search}`}`,
        headers: { ...headersOf(body, message), authorization: `bearer ${token}`, ...headers },
        body: JSON.stringify(contentOf(body)),
        timeoutMs: tools.timeoutMs,
      }
      const answer = await tools.start(() => connection.post(request))
      tools.accept(host, answer)
      return { providerMessageId: answer.headers['apns-id'] }
    })
  },

  problem({ body, status, isSuccess }) {
    if (isSuccess) return undefined
    const reason = textAt(body, 'reason')
    return {
      says: reason,
      code: codes[reason as keyof typeof codes] ?? (status === 410 ? 'recipient_refused' : undefined),
    }
  },

  events: pushEvents,
})

/** The workflow's options in one flat object: Apple's headers and members alike. */
function wishesOf({ title, content, payload, overrides }: PushMessage, topic: string, now: Date): Data {
  const { bodyLocKey, bodyLocArgs, titleLocKey, titleLocArgs, contentAvailable, mutableContent, urlArgs, launchImage } =
    overrides
  const { categoryId, ttl, locKey = bodyLocKey, locArgs = bodyLocArgs, actionLocKey, ...same } = overrides
  const expiry = typeof ttl === 'number' ? Math.floor(now.getTime() / 1000) + ttl : undefined
  return {
    alert: { title, body: content },
    payload,
    topic,
    expiry,
    category: categoryId,
    'title-loc-key': titleLocKey,
    'title-loc-args': titleLocArgs,
    'loc-key': locKey,
    'loc-args': locArgs,
    'action-loc-key': actionLocKey,
    'content-available': contentAvailable,
    'mutable-content': mutableContent,
    'url-args': urlArgs,
    'launch-image': launchImage,
    ...same,
  }
}

const isBackground = ({ pushType }: Data) => pushType === 'background'

function headersOf(wishes: Data, { id }: PushMessage): Record<string, string> {
  const { topic, pushType = 'alert', expiry, collapseId = id } = wishes
  // Apple refuses a background notification with high priority.
  const { priority = isBackground(wishes) ? 5 : 10 } = wishes
  return Object.fromEntries(
    Object.entries({
      'apns-topic': topic,
      'apns-push-type': pushType,
      'apns-priority': priority,
      'apns-expiration': expiry,
      'apns-collapse-id': collapseId,
      'apns-id': uuidOf(id),
    }).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  )
}

function contentOf(wishes: Data): unknown {
  const { rawPayload, payload, alert, aps } = wishes
  if (rawPayload !== undefined) return rawPayload
  const ofAlert = inAlert.flatMap((name) => (wishes[name] === undefined ? [] : [[name, wishes[name]]]))
  const shown =
    typeof alert === 'string' && ofAlert.length === 0
      ? alert
      : { ...(typeof alert === 'string' ? { body: alert } : (alert as Data)), ...Object.fromEntries(ofAlert) }
  const members = Object.entries(inAps).map(([name, inside]) => [inside, numbered(inside, wishes[name])])
  return {
    ...(payload as Data),
    // Apple delivers a background notification only if it shows nothing.
    aps: { ...(isBackground(wishes) ? {} : { alert: shown }), ...Object.fromEntries(members), ...(aps as Data) },
  }
}

/** Callers use booleans; Apple uses 1 or nothing. */
function numbered(name: string, value: unknown): unknown {
  if (!name.endsWith('-available') && !name.startsWith('mutable-')) return value
  if (typeof value === 'boolean') return value ? 1 : undefined
  return value
}

async function tokenOf(secretKey: string, keyId: string, teamId: string, { clock, error }: Tools): Promise<string> {
  const { importPKCS8, SignJWT } = await import('jose')
  const key = await importPKCS8(secretKey.replaceAll('\\n', '\n').trim(), 'ES256').catch(() => undefined)
  if (!key) throw error('incomplete_credentials', { says: 'The private key is not the content of a .p8 file' })
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setIssuedAt(clock.now())
    .sign(key)
}
