// A notification: which lists it belongs to, and how actions change it.

export type Severity = 'high' | 'medium' | 'low' | 'none'
export type ActionType = 'primary' | 'secondary'

export interface Redirect {
  url: string
  target?: string
}

export interface Action {
  label: string
  isCompleted: boolean
  redirect?: Redirect
}

export interface Notification {
  id: string
  transactionId: string
  subject?: string
  body: string
  to: { id: string; subscriberId: string; firstName?: string; lastName?: string; avatar?: string }
  isRead: boolean
  isSeen: boolean
  isArchived: boolean
  isSnoozed: boolean
  snoozedUntil?: string | null
  deliveredAt?: string[]
  createdAt: string
  readAt?: string | null
  firstSeenAt?: string | null
  archivedAt?: string | null
  avatar?: string
  primaryAction?: Action
  secondaryAction?: Action
  redirect?: Redirect
  tags: string[]
  data?: Record<string, unknown>
  severity: Severity
  workflow?: { id: string; identifier: string; name: string; critical: boolean; tags?: string[]; severity: Severity }
}

type Either = { or: string[] }
export type TagFilter = string[] | Either | { and: Either[] }

export interface Filter {
  tags?: TagFilter | undefined
  data?: Record<string, unknown> | undefined
  severity?: Severity | Severity[] | undefined
  read?: boolean | undefined
  archived?: boolean | undefined
  snoozed?: boolean | undefined
  seen?: boolean | undefined
}

/** Newest first; at equal times the higher id first. */
export function compare(a: Notification, b: Notification): number {
  const [newer, older] = [Date.parse(b.createdAt), Date.parse(a.createdAt)]
  return newer - older || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
}

/** Whether the bell counts it. */
export const isUnread = ({ isRead, isArchived, isSnoozed }: Notification) => !isRead && !isArchived && !isSnoozed

/** The same rules as the service's lists. */
export function matches(filter: Filter, item: Notification): boolean {
  const { tags, data, severity = [] } = filter
  const severities = [severity].flat()
  const is = (wanted: boolean | undefined, value: boolean) => wanted === undefined || wanted === value
  return (
    is(filter.read, item.isRead) &&
    is(filter.archived, item.isArchived) &&
    is(filter.snoozed, item.isSnoozed) &&
    is(filter.seen, item.isSeen) &&
    (severities.length === 0 || severities.includes(item.severity)) &&
    groupsOf(tags).every(({ or }) => or.length === 0 || or.some((tag) => item.tags.includes(tag))) &&
    (data === undefined || hasData(data, item.data ?? {}))
  )
}

function groupsOf(tags: TagFilter | undefined): Either[] {
  if (!tags) return []
  if (Array.isArray(tags)) return [{ or: tags }]
  return 'and' in tags ? tags.and : [tags]
}

function hasData(wanted: object, data: unknown): boolean {
  return Object.entries(wanted).every(([name, value]) => hasValue(value, (data as Record<string, unknown>)?.[name]))
}

function hasValue(wanted: unknown, value: unknown): boolean {
  if (Array.isArray(wanted)) return wanted.some((each) => hasValue(each, value))
  if (typeof wanted !== 'object' || wanted === null)
    return Array.isArray(value) ? value.includes(wanted) : value === wanted
  const { or, and } = wanted as { or?: unknown; and?: unknown }
  if (Array.isArray(or)) return hasValue(or, value)
  if (Array.isArray(and)) return and.every((group) => hasValue(group, value))
  return hasData(wanted, value)
}

export type Operation =
  | { name: 'read' | 'unread' | 'archive' | 'unarchive' | 'unsnooze' }
  | { name: 'snooze'; until: Date }
  | { name: 'complete' | 'revert'; action: ActionType }

/** The state the service will answer with; shown until it does. */
export function predict(item: Notification, operation: Operation): Notification {
  const seen = { isSeen: true }
  switch (operation.name) {
    case 'read':
      return { ...item, ...seen, isRead: true }
    case 'unread':
      return { ...item, ...seen, isRead: false, isArchived: false }
    case 'archive':
      return { ...item, ...seen, isRead: true, isArchived: true }
    case 'unarchive':
      return { ...item, ...seen, isRead: true, isArchived: false }
    case 'snooze':
      return { ...item, ...seen, isSnoozed: true, isArchived: false, snoozedUntil: operation.until.toISOString() }
    case 'unsnooze':
      return { ...item, isSnoozed: false, snoozedUntil: null }
    case 'complete':
    case 'revert':
      return press(item, operation.action, operation.name === 'complete')
  }
}

/** Completing one button resets the other. */
function press(item: Notification, action: ActionType, isDone: boolean): Notification {
  const { primaryAction, secondaryAction } = item
  const done = (type: ActionType) => ({ isCompleted: isDone && type === action })
  return {
    ...item,
    ...(primaryAction ? { primaryAction: { ...primaryAction, ...done('primary') } } : {}),
    ...(secondaryAction ? { secondaryAction: { ...secondaryAction, ...done('secondary') } } : {}),
    ...(isDone ? { isRead: true, isSeen: true } : {}),
  }
}

/** Sockets carry the stored row, which names some fields differently. */
export interface PushedMessage {
  _id: string
  transactionId: string
  subject?: string | null
  content: string
  read: boolean
  seen: boolean
  archived: boolean
  snoozedUntil?: string | null
  deliveredAt?: string[]
  createdAt: string
  lastReadDate?: string | null
  firstSeenDate?: string | null
  archivedAt?: string | null
  avatar?: string | null
  tags?: string[]
  data?: Record<string, unknown> | null
  severity?: Severity
  cta?: {
    data?: Redirect
    action?: {
      status?: string
      result?: { type?: string }
      buttons?: Array<{ type: string; content: string; url?: string; target?: string }>
    }
  }
  subscriber?: { _id: string; subscriberId: string; firstName?: string; lastName?: string; avatar?: string }
  workflow?: Notification['workflow']
}

export function fromPush(message: PushedMessage): Notification {
  const { _id, content, read, seen, archived, cta = {}, subscriber, workflow } = message
  const { snoozedUntil = null, subject, avatar, data, deliveredAt } = message
  const { status, result, buttons = [] } = cta.action ?? {}
  const redirectTo = (place: { url?: string; target?: string } | undefined) =>
    place?.url ? { redirect: { url: place.url, ...(place.target ? { target: place.target } : {}) } } : {}
  const action = (type: ActionType) => {
    const button = buttons.find((each) => each.type === type)
    const isCompleted = status === 'done' && result?.type === type
    return button && { label: button.content, isCompleted, ...redirectTo(button) }
  }
  const primaryAction = action('primary')
  const secondaryAction = action('secondary')
  return {
    id: _id,
    transactionId: message.transactionId,
    body: content,
    to: subscriber ? { ...subscriber, id: subscriber._id } : { id: '', subscriberId: '' },
    isRead: read,
    isSeen: seen,
    isArchived: archived,
    isSnoozed: snoozedUntil !== null,
    snoozedUntil,
    createdAt: message.createdAt,
    readAt: message.lastReadDate ?? null,
    firstSeenAt: message.firstSeenDate ?? null,
    archivedAt: message.archivedAt ?? null,
    tags: message.tags ?? [],
    severity: message.severity ?? 'none',
    ...(subject ? { subject } : {}),
    ...(avatar ? { avatar } : {}),
    ...(data ? { data } : {}),
    ...(deliveredAt ? { deliveredAt } : {}),
    ...(primaryAction ? { primaryAction } : {}),
    ...(secondaryAction ? { secondaryAction } : {}),
    ...redirectTo(cta.data),
    ...(workflow ? { workflow } : {}),
  }
}

/** Only links to web pages or within this page; nothing that could run a script. */
export function safeUrl(url: string | undefined): string | undefined {
  return url && /^(https?:\/\/|\/(?![/\\])|#|\?)/i.test(url.trim()) ? url.trim() : undefined
}
