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
} from './data/api.ts'
export { InboxError } from './data/api.ts'
export type { InboxState, Selection, Undo } from './data/client.ts'
export { InboxClient } from './data/client.ts'
export { FilterCounts } from './data/counts.ts'
export type { ListState, NotificationList } from './data/list.ts'
export type { Action, ActionType, Filter, Notification, Redirect, Severity, TagFilter } from './data/notification.ts'
