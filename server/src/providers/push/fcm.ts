import { withToken } from '../access-token.ts'
import { at, bearer, type PushMessage, pushProvider, readJson, secret, type Tools, textAt } from '../provider.ts'
import { type Data, isPlain, merge } from '../provider-data.ts'
import { pushEvents } from './push-events.ts'

const tokenUrl = 'https://oauth2.googleapis.com/token'
const scope = 'https://www.googleapis.com/auth/firebase.messaging'

/** https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode */
const codes = {
  UNREGISTERED: 'recipient_refused',
  // The token belongs to another project.
  SENDER_ID_MISMATCH: 'rejected',
  INVALID_ARGUMENT: 'message_refused',
  QUOTA_EXCEEDED: 'rate_limited',
  UNAVAILABLE: 'unavailable',
  INTERNAL: 'unavailable',
  THIRD_PARTY_AUTH_ERROR: 'unauthorized',
} as const

/** Google's messages for an invalid or expired token: https://firebase.google.com/docs/cloud-messaging/error-codes */
const deadToken = /registration token is not a valid|requested entity was not found/i

export const fcm = pushProvider({
  id: 'fcm',
  name: 'Firebase Cloud Messaging',
  docs: 'https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages/send',
  credentials: {
    serviceAccount: {
      ...secret('Service account', 'The content of the JSON file Firebase makes for it'),
      formerly: 'user',
    },
  },
  naming: { casing: 'snake' },
  reserved: ['tokens'],

  async send(message, { serviceAccount }, tools) {
    const account = readAccount(serviceAccount, tools)
    const url = `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`
    const json = { token: message.target, ...contentOf(message) }
    return withToken(
      tools,
      'access token',
      () => signIn(account, tools),
      async (token) => {
        const answer = await tools.deliver(url, { headers: bearer(token), json, wrap })
        return { providerMessageId: textAt(answer.json, 'name') }
      },
    )
  },

  problem({ body, isSuccess }) {
    if (isSuccess) return undefined
    // OAuth's error format, from the sign-in.
    const refused = at(body, 'error')
    if (typeof refused === 'string')
      return {
        says: textAt(body, 'error_description') ?? refused,
        code: refused.startsWith('temporarily') ? undefined : 'unauthorized',
      }
    const says = textAt(body, 'error.message')
    const details = at(body, 'error.details')
    const errorCode = (Array.isArray(details) ? (details as unknown[]) : [])
      .map((detail) => textAt(detail, 'errorCode'))
      .find((code) => code !== undefined)
    if (deadToken.test(says ?? '')) return { says, code: 'recipient_refused' }
    return { says, code: codes[errorCode as keyof typeof codes] }
  },

  events: pushEvents,
})

interface Account {
  projectId: string
  email: string
  key: string
}

function readAccount(serviceAccount: string, { error, conceal }: Tools): Account {
  const account = readJson(serviceAccount)
  if (!isPlain(account)) {
    const says =
      'FCM credentials must be a valid JSON service account configuration. Received a non-JSON string instead.'
    throw error('incomplete_credentials', { says })
  }
  const projectId = textAt(account, 'project_id')
  const email = textAt(account, 'client_email')
  const key = textAt(account, 'private_key')?.replaceAll('\\n', '\n')
  if (projectId === undefined || email === undefined || key === undefined)
    throw error('incomplete_credentials', {
      says: 'The service account needs the members project_id, client_email and private_key',
    })
  conceal(key)
  return { projectId, email, key }
}

/** https://developers.google.com/identity/protocols/oauth2/service-account#httprest */
async function signIn({ email, key }: Account, { ask, clock, error }: Tools) {
  const { importPKCS8, SignJWT } = await import('jose')
  const privateKey = await importPKCS8(key, 'RS256').catch(() => undefined)
  if (!privateKey)
    throw error('incomplete_credentials', { says: 'The private_key of the service account is not a private key' })
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(email)
    .setAudience(tokenUrl)
    .setIssuedAt(clock.now())
    .setExpirationTime(new Date(clock.now().getTime() + 3_600_000))
    .sign(privateKey)
  const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
  const { json } = await ask(tokenUrl, { form: { grant_type, assertion } })
  const value = textAt(json, 'access_token')
  if (value === undefined) throw error('unreadable_answer', { says: 'Google returned no access token' })
  return { value, seconds: Number(at(json, 'expires_in') ?? 3600) }
}

/** Maps the options all push providers share to this API; the rest goes into the notification. */
function contentOf({ title, content, payload, overrides }: PushMessage): Data {
  const { type, data, android, apns, fcmOptions, webPush, deviceTokens: _, ...rest } = overrides
  const {
    icon,
    color,
    sound,
    tag,
    clickAction,
    channelId,
    bodyLocKey,
    bodyLocArgs,
    titleLocKey,
    titleLocArgs,
    ...less
  } = rest
  const { badge, categoryId, subtitle, mutableContent, ttl, collapseId, ...notification } = less
  const onAndroid = some({
    collapse_key: collapseId,
    ttl: typeof ttl === 'number' ? `${ttl}s` : ttl,
    notification: some({
      icon,
      color,
      sound,
      tag,
      click_action: clickAction,
      channel_id: channelId,
      body_loc_key: bodyLocKey,
      body_loc_args: bodyLocArgs,
      title_loc_key: titleLocKey,
      title_loc_args: titleLocArgs,
    }),
  })
  const aps = some({
    alert: subtitle === undefined ? undefined : { title, subtitle, body: content },
    badge,
    sound,
    category: categoryId,
    'mutable-content': mutableContent ? 1 : undefined,
  })
  const onApple = some({
    headers: some({ 'apns-collapse-id': collapseId }),
    payload: aps && { aps },
  })
  const isData = type === 'data'
  return {
    notification: isData ? undefined : { title, body: content, ...notification },
    data: isData
      ? { ...payload, title, body: content, message: content, ...(isPlain(data) ? data : {}) }
      : { __nvMessageId: payload.__nvMessageId, ...(isPlain(data) ? data : {}) },
    android: merge(onAndroid, android),
    apns: merge(onApple, apns),
    fcm_options: fcmOptions,
    webpush: webPush,
  }
}

function some(members: Data): Data | undefined {
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

/** A topic or condition replaces the token. FCM only takes strings as data. */
function wrap({ token, data, ...message }: Data): unknown {
  const isForMany = message.topic !== undefined || message.condition !== undefined
  const texts = Object.entries(isPlain(data) ? data : {}).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  )
  return {
    message: {
      ...(isForMany ? {} : { token }),
      ...message,
      ...(texts.length === 0 ? {} : { data: Object.fromEntries(texts) as Data }),
    },
  }
}
