import { hash } from 'node:crypto'
import webPush from 'web-push'
import { withToken } from '../access-token.ts'
import { optional, pushProvider, secret, text, textAt } from '../provider.ts'
import { pushEvents } from './push-events.ts'

/** RFC 8030: a push service need not take more. */
const mostBytes = 4_096
/** What the encryption adds (RFC 8188, 8291): salt, record size, key, padding delimiter, tag. */
const overheadBytes = 16 + 4 + 1 + 65 + 1 + 16
const usualTtl = 86_400
const longestTtl = 2_419_200
/** A token is good for the library's twelve hours, and its signature costs twice as much as the encryption of a message. */
const tokenSeconds = 6 * 3_600
const urgencies = ['very-low', 'low', 'normal', 'high'] as const
/** RFC 8030, section 5.4. */
const topicForm = /^[\w-]{1,32}$/

/** The browsers' own push services. Belfry makes the keys; there is no account. */
export const webPushProvider = pushProvider({
  id: 'web-push',
  name: 'Web Push',
  docs: '/docs#tag/integrations',
  credentials: {
    applicationId: optional(text('Public key', 'Made by Belfry')),
    secretKey: optional(secret('Private key', 'Made by Belfry')),
    from: optional(text('Contact', 'For push services: mailto: or https')),
  },

  async send(message, { applicationId, secretKey, from }, tools) {
    const { start, accept, http, error, conceal, clock, timeoutMs, extend } = tools
    const { subscription, overrides } = message
    if (!subscription) throw error('message_refused', { says: 'There is no browser with this id' })
    if (applicationId === undefined || secretKey === undefined) throw error('incomplete_credentials')
    const { endpoint, p256dh, auth, contact } = subscription
    conceal(endpoint)
    const { body, headers } = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, noticeOf(message), {
      contentEncoding: 'aes128gcm',
      TTL: ttlOf(overrides.ttl),
      urgency: urgencyOf(overrides.urgency, message.severity),
    })
    const { 'Content-Length': _, ...encrypted } = headers
    const topic = textAt(overrides, 'topic')
    const added = extend({})
    const url = new URL(endpoint)
    for (const [name, value] of Object.entries(added.query)) url.searchParams.append(name, String(value))
    const subject = from ?? contact
    const sign = async () => ({
      value: webPush.getVapidHeaders(url.origin, subject, applicationId, secretKey, 'aes128gcm').Authorization,
      seconds: tokenSeconds,
    })
    await withToken(tools, `vapid ${url.origin} ${subject}`, sign, async (authorization) => {
      const place = await http.place(url.href, { timeoutMs })
      try {
        const answer = await start(() =>
          http.exchange(url.href, {
            method: 'POST',
            headers: {
              ...(encrypted as Record<string, string>),
              authorization,
              ...(topic === undefined ? {} : { Topic: topicOf(topic) }),
              ...added.headers,
            },
            body: body as Buffer,
            ...{ timeoutMs, place },
          }),
        )
        accept(url.host, answer)
      } finally {
        place.leave()
      }
    })
    return { providerMessageId: message.id, date: clock.now().toISOString() }
  },

  problem({ status, isSuccess, text: says }) {
    if (isSuccess) return undefined
    if (status === 404 || status === 410) return { says, code: 'recipient_refused' }
    if (status === 400 || status === 413) return { says, code: 'message_refused' }
    return status === 401 || status === 403 ? { says, code: 'unauthorized' } : { says }
  },

  events: pushEvents,
})

interface Noticed {
  id: string
  title: string
  content: string
  overrides: Record<string, unknown>
  subscriber: Record<string, unknown>
  subscription?: { page: string | null } | undefined
}

/** Declarative web push: browsers show it without a worker where they can; our worker reads the same. */
export function noticeOf({ id, title, content, overrides, subscriber, subscription }: Noticed): string {
  const lang = textAt(subscriber, 'locale')?.replaceAll('_', '-')
  const badge = overrides.badge
  const notice = (body: string) =>
    JSON.stringify({
      web_push: 8030,
      notification: {
        ...{ title, body, navigate: textAt(overrides, 'url') ?? subscription?.page ?? undefined },
        ...{ lang, dir: lang && /^(ar|he|fa|ur)\b/.test(lang) ? 'rtl' : 'auto', tag: textAt(overrides, 'tag') },
        silent: overrides.silent === true ? true : undefined,
        app_badge: typeof badge === 'number' ? String(badge) : undefined,
        data: { messageId: id },
      },
    })
  const fits = (body: string) => Buffer.byteLength(notice(body)) <= mostBytes - overheadBytes
  if (fits(content)) return notice(content)
  const characters = [...content]
  let [least, most] = [0, characters.length]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (fits(`${characters.slice(0, middle).join('')}…`)) least = middle
    else most = middle - 1
  }
  return notice(`${characters.slice(0, least).join('')}…`)
}

const ttlOf = (given: unknown): number =>
  typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= longestTtl ? given : usualTtl

function urgencyOf(given: unknown, severity: string | undefined): (typeof urgencies)[number] {
  const chosen = urgencies.find((each) => each === given)
  return chosen ?? (severity === 'high' || severity === 'low' ? severity : 'normal')
}

const topicOf = (topic: string): string =>
  topicForm.test(topic) ? topic : hash('sha256', topic, 'base64url').slice(0, 32)
