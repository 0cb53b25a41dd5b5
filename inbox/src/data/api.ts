// The HTTP calls of the inbox. One session opens everything; its token is renewed when it expires.
import type { Filter, Notification, Severity } from './notification.ts'

export interface SubscriberInput {
  subscriberId: string
  firstName?: string
  lastName?: string
  email?: string
  phone?: string
  avatar?: string
  locale?: string
  timezone?: string
  data?: Record<string, unknown>
}

export interface InboxOptions {
  /** Belfry's address, including a path prefix if there is one. */
  backendUrl: string
  /** The `identifier` of the environment. */
  applicationIdentifier: string
  subscriber: string | SubscriberInput
  /** HMAC of the subscriber id, computed by your backend. */
  subscriberHash?: string | undefined
  context?: Record<string, unknown> | undefined
  contextHash?: string | undefined
  defaultSchedule?: Schedule | undefined
  /** The address for sockets, if not `backendUrl`. */
  socketUrl?: string | undefined
  /** Of the hosted page: opens preferences only, without a session of the inbox. */
  preferencesToken?: string | undefined
}

export interface UnreadCount {
  total: number
  severity: Record<Severity, number>
}

export interface Session {
  token: string
  unreadCount: UnreadCount
  maxSnoozeDurationHours: number
  contextKeys: string[]
  timezone?: string
}

export type Channel = 'email' | 'sms' | 'in_app' | 'chat' | 'push'

export interface Workflow {
  id: string
  identifier: string
  name: string
  critical: boolean
  tags?: string[]
  severity: Severity
  data?: Record<string, unknown>
}

export interface Preference {
  level: 'global' | 'template'
  enabled: boolean
  channels: { [channel in Channel]?: boolean }
  workflow?: Workflow
  schedule?: Schedule
}

export const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
export type Day = (typeof days)[number]

export interface DaySchedule {
  isEnabled: boolean
  /** Both as `09:00 AM`. */
  hours?: Array<{ start: string; end: string }>
}

export interface Schedule {
  isEnabled: boolean
  weeklySchedule?: { [day in Day]?: DaySchedule }
}

export interface TopicSubscription {
  id: string
  identifier: string
  name?: string
  preferences: Array<{ workflow: Workflow; enabled: boolean }>
}

export interface Connection {
  identifier: string
  workspace?: { id: string; name?: string }
}

export interface Page {
  data: Notification[]
  hasMore: boolean
}

/** A failed call: the service's message and status, or status 0 if the service could not be reached. */
export class InboxError extends Error {
  readonly status: number

  constructor(message: string, status: number, options?: ErrorOptions) {
    super(message, options)
    this.name = 'InboxError'
    this.status = status
  }
}

interface CallOptions {
  body?: unknown
  /** Sent even while the page unloads. */
  keepalive?: boolean
  signal?: AbortSignal
}

const timeoutMs = 20_000
export const none: UnreadCount = { total: 0, severity: { high: 0, medium: 0, low: 0, none: 0 } }
const severities: Severity[] = ['high', 'medium', 'low', 'none']

export class Api {
  readonly #options: InboxOptions
  readonly #root: string
  #session: Promise<Session> | undefined

  constructor(options: InboxOptions) {
    this.#options = options
    this.#root = `${options.backendUrl.replace(/\/+$/, '')}/v1/inbox`
  }

  get subscriber(): SubscriberInput {
    const { subscriber } = this.#options
    return typeof subscriber === 'string' ? { subscriberId: subscriber } : subscriber
  }

  /** One session for all callers. A failure is not cached, so the next call tries again. */
  session(): Promise<Session> {
    if (!this.#session) {
      const begun = this.#begin()
      this.#session = begun
      begun.catch(() => this.forget(begun))
    }
    return this.#session
  }

  /** The next call starts a new session. */
  forget(session = this.#session): void {
    if (this.#session === session) this.#session = undefined
  }

  async #begin(): Promise<Session> {
    const { preferencesToken: token } = this.#options
    if (token !== undefined) return { token, unreadCount: none, maxSnoozeDurationHours: 0, contextKeys: [] }
    const { applicationIdentifier, subscriberHash, context, contextHash, defaultSchedule } = this.#options
    const { timeZone: timezone } = Intl.DateTimeFormat().resolvedOptions()
    const body = {
      ...{ applicationIdentifier, subscriberHash, context, contextHash, defaultSchedule },
      subscriber: { timezone, ...this.subscriber },
    }
    return this.#send<Session>('POST', '/session', { body }).then(dataOf)
  }

  async call<Result>(method: string, path: string, options: CallOptions = {}): Promise<Result> {
    const session = this.session()
    const { token } = await session
    try {
      return await this.#send<Result>(method, path, options, token).then(bodyOf)
    } catch (error) {
      if (!(error instanceof InboxError) || error.status !== 401) throw error
      // The token expired while the page was open. If the new session is refused too, the error goes to the page.
      this.forget(session)
      const renewed = await this.session()
      return this.#send<Result>(method, path, options, renewed.token).then(bodyOf)
    }
  }

  async #send<Result>(method: string, path: string, options: CallOptions, token?: string): Promise<Answer<Result>> {
    const { body, keepalive = false, signal = AbortSignal.timeout(timeoutMs) } = options
    let response: Response
    let text: string
    try {
      response = await fetch(this.#root + path, {
        method,
        keepalive,
        signal,
        headers: {
          'Content-Type': 'application/json',
          ...(token ? { Authorization: `Bearer ${token}` } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      text = await response.text()
    } catch (cause) {
      throw new InboxError('The service could not be reached.', 0, { cause })
    }
    let parsed: unknown
    try {
      parsed = text === '' ? undefined : JSON.parse(text)
    } catch {
      // Not JSON: a proxy in between answered.
    }
    if (response.ok) return parsed as Answer<Result>
    const { message = response.statusText } = (parsed ?? {}) as { message?: unknown }
    throw new InboxError(String(message), response.status)
  }

  async list(filter: Filter, page: { limit: number; after?: string | undefined }): Promise<Page> {
    return this.call('GET', `/notifications?${queryOf(filter, page)}`)
  }

  async count(filters: Filter[]): Promise<number[]> {
    const query = new URLSearchParams({ filters: JSON.stringify(filters) })
    const { data } = await this.call<{ data: Array<{ count: number }> }>('GET', `/notifications/count?${query}`)
    return data.map(({ count }) => count)
  }

  async countUnread(): Promise<UnreadCount> {
    const unread = { read: false, archived: false, snoozed: false }
    const [total = 0, ...counts] = await this.count([
      unread,
      ...severities.map((severity) => ({ ...unread, severity: [severity] })),
    ])
    const severity = Object.fromEntries(severities.map((name, index) => [name, counts[index] ?? 0]))
    return { total, severity: severity as UnreadCount['severity'] }
  }

  async change(id: string, operation: string, body?: object): Promise<Notification> {
    return this.call<Answer<Notification>>('PATCH', `/notifications/${id}/${operation}`, { body }).then(dataOf)
  }
}

type Answer<Result> = Result | { data: Result }
const dataOf = <Result>(answer: Answer<Result>): Result => (answer as { data: Result }).data
const bodyOf = <Result>(answer: Answer<Result>): Result => answer as Result

function queryOf(filter: Filter, { limit, after }: { limit: number; after?: string | undefined }): URLSearchParams {
  const { tags, data, severity = [], ...states } = filter
  const query = new URLSearchParams({ limit: String(limit) })
  if (after) query.set('after', after)
  for (const [name, value] of Object.entries(states)) if (value !== undefined) query.set(name, String(value))
  // As JSON, because the query form cannot express all three kinds of tag filter.
  if (tags) query.set('tags', JSON.stringify(Array.isArray(tags) ? { or: tags } : tags))
  if (data) query.set('data', JSON.stringify(data))
  for (const each of [severity].flat()) query.append('severity[]', each)
  return query
}
