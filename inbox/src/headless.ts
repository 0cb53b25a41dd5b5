// For programs that draw their own inbox.
// biome-ignore-all lint/performance/noBarrelFile: the one module that such programs import
export type {
  Channel,
  Connection,
  InboxOptions,
  Page,
  Preference,
  Schedule,
  Session,
  SubscriberInput,
  TopicSubscription,
  UnreadCount,
  Workflow,
} from './api.ts'
export { InboxError } from './api.ts'
export type { InboxState, Selection, Undo } from './client.ts'
export { InboxClient } from './client.ts'
export { FilterCounts } from './counts.ts'
export type { ListState, NotificationList } from './list.ts'
export type { Action, ActionType, Filter, Notification, Redirect, Severity, TagFilter } from './notification.ts'
