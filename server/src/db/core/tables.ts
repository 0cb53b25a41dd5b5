// The columns of every table as the code sees them. A test compares this list with the migrated database.
import type { ColumnType, Generated, JSONColumnType } from 'kysely'

type Json<T> = JSONColumnType<T & (object | null), string | undefined, string>
type Defaulted<T> = ColumnType<T, T | undefined, T>

interface Row {
  environment_id: string
  id: string
  created_at: Date
  updated_at: Date
}

export interface OrganizationTable {
  id: string
  name: string
  owner_user_id: string
  default_locale: Defaulted<string>
  target_locales: Defaulted<string[]>
  remove_branding: Defaulted<boolean>
  requires_second_factor: Defaulted<boolean>
  created_at: Date
}

export interface EnvironmentTable {
  id: string
  organization_id: string
  name: string
  identifier: string
  type: 'dev' | 'prod'
  color: string | null
  parent_id: string | null
  dns: Json<{ inboundParseDomain?: string }>
  bridge: Json<{ url?: string }>
  rate_limits: ColumnType<RateLimits | null, string | null | undefined, string | null>
  retention: ColumnType<EnvironmentRetention | null, string | null | undefined, string | null>
  /** Null: the default of the brand. */
  open_to_keys: Optional<boolean>
  is_protected: Defaulted<boolean>
  is_open_to_automation: Defaulted<boolean>
  /** Whether others may change what files own. */
  definition_edits: Defaulted<DefinitionEdits>
  inbox_access: ColumnType<InboxAccessChoices | null, string | null | undefined, string | null>
  inbox_generation: Defaulted<number>
  consent: ColumnType<ConsentChoices | null, string | null | undefined, string | null>
  guards: ColumnType<Partial<Guards> | null, string | null | undefined, string | null>
  /** Where the clock is held: what it shows. */
  clock_now: Optional<Date>
  clock_seed: Optional<number>
  /** How far it is being advanced. */
  clock_target: Optional<Date>
  /** Where it stands in front of another service. */
  shadow: ColumnType<ShadowSettings | null, string | null | undefined, string | null>
  /** Encrypted. */
  shadow_key: Optional<string>
  created_at: Date
  updated_at: Date
}

export interface ShadowSettings {
  upstreamUrl: string
  /** How long after a trigger both sides are compared at the latest. */
  settleMinutes: number
  /** The workflows that are delivered here, and no longer there. */
  live: string[]
}

/** An environment's consent settings, as far as they were changed. */
export interface ConsentChoices {
  brand?: {
    name?: string | null
    logoUrl?: string | null
    primaryColor?: string | null
    postalAddress?: string | null
    linkBaseUrl?: string | null
  }
  footer?: boolean
  softBounces?: { count?: number; days?: number; suppressDays?: number }
  sms?: {
    keywords?: boolean
    scope?: 'all' | 'commercial'
    stopReply?: string | null
    startReply?: string | null
    helpReply?: string | null
    extraStopWords?: string[]
  }
  brakes?: { enabled?: boolean; bouncePercent?: number; complaintPercent?: number; minimum?: number; hours?: number }
}

/** How much an environment sends to one person, and what it does while their schedule is closed. */
export interface Guards {
  quietHours: QuietHours
  caps: Cap[]
}

/** Outside the subscriber's schedule a step is skipped, or held until it opens. */
export const quietHours = ['skip', 'hold'] as const
export type QuietHours = (typeof quietHours)[number]

/** At most so many messages in a window, to one person over all workflows that it concerns. */
export interface Cap {
  id: string
  limit: number
  window: { amount: number; unit: 'seconds' | 'minutes' | 'hours' | 'days' | 'weeks' | 'months' }
  /** Absent: all but in-app. */
  channels?: string[]
  /** Of workflows; absent: all. */
  tags?: string[]
}

/** An environment's own rate limits: requests per second and category. */
export interface RateLimits {
  trigger?: number
  configuration?: number
  global?: number
}

/** An environment's own retention, in days; 0 is forever. */
export interface EnvironmentRetention {
  activityDays?: number
  messageDays?: number
  inboxDays?: number
}

/** What an environment itself allows the browsers of subscribers. */
export interface InboxAccessChoices {
  openTopics?: boolean
  profileFields?: string[]
}

export interface ApiKeyTable {
  id: string
  hash: string
  /** Exactly one of these two is set. */
  environment_id: Optional<string>
  organization_id: Optional<string>
  /** Set for the compatible key only, which signs and checks signatures. */
  encrypted_key: Optional<string>
  name: string
  scopes: string[]
  allowed_addresses: Optional<string[]>
  hint: string
  user_id: string
  expires_at: Optional<Date>
  created_at: Date
}

export interface ApiKeyUseTable {
  key_id: string
  used_at: Date
}

export interface SigningSecretTable {
  id: string
  environment_id: string
  purpose: 'inbox' | 'bridge' | 'replies' | 'requests'
  secret: string
  created_at: Date
  expires_at: Date | null
}

export interface EnvironmentVariableTable {
  id: string
  organization_id: string
  key: string
  type: string
  is_secret: boolean
  created_at: Date
  updated_at: Date
}

export interface EnvironmentVariableValueTable {
  variable_id: string
  environment_id: string
  value: string
}

type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>
type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>

/** What concerns the runs of a workflow as a whole. */
export interface Journey {
  /** A template over `payload` and `context`. */
  cancellationKey?: string
  /** Instead of the environment's. */
  quietHours?: QuietHours
  /** Its messages neither count in caps nor are held back by them. */
  exemptFromCaps?: boolean
  /** The first that is met ends the run. */
  goals?: Goal[]
}

export interface Goal {
  name: string
  /** What it waits for, as a step that waits for events. */
  for?: Array<Record<string, unknown>>
  condition?: Record<string, unknown>
}

/** Why a commercial workflow sends no mail until it is released. */
export interface Brake {
  since: string
  cause: 'bounces' | 'complaints'
  /** Counted of sent, in percent. */
  percent: number
  sent: number
  counted: number
}

/** What is counted of the e-mails of a workflow. */
export interface Tracking {
  opens: boolean
  clicks: boolean
}

export interface WorkflowTable extends Row {
  identifier: string
  name: string
  description: Defaulted<string>
  origin: Defaulted<string>
  active: Defaulted<boolean>
  critical: Defaulted<boolean>
  message_class: Defaulted<string>
  consent_category: Defaulted<string | null>
  /** Null: nothing. */
  tracking: NullableJson<Tracking>
  severity: Defaulted<string>
  tags: Defaulted<string[]>
  data: NullableJson<Record<string, unknown>>
  steps: Json<unknown[]>
  payload_schema: NullableJson<Record<string, unknown>>
  validate_payload: Defaulted<boolean>
  is_translation_enabled: Defaulted<boolean>
  /** The workflow's own default. */
  preferences: Json<Record<string, unknown>>
  /** Set by a dashboard user; overrides the default. */
  user_preferences: NullableJson<Record<string, unknown>>
  journey: NullableJson<Journey>
  brake: NullableJson<Brake>
  /** What was sent before does not count. */
  brake_released_at: Optional<Date>
  version: Defaulted<number>
  created_by: Optional<string>
  updated_by: Optional<string>
  last_published_at: Optional<Date>
  last_published_by: Optional<string>
  last_triggered_at: Optional<Date>
}

export interface WorkflowVersionTable {
  environment_id: string
  workflow_id: string
  version: number
  definition: Json<Record<string, unknown>>
  created_at: Date
  author: NullableJson<Record<string, unknown>>
  source: NullableJson<Record<string, unknown>>
  message: Optional<string>
  published_at: Optional<Date>
  /** As it was written: the definition has lost the order of its members. */
  payload_schema: NullableJson<Record<string, unknown>>
  /** The texts by locale; null in versions of earlier releases. */
  translations: NullableJson<Record<string, unknown>>
  /** How many saves it stands for. */
  saves: Defaulted<number>
}

export interface NotificationGroupTable extends Row {
  name: string
}

export interface LayoutTable extends Row {
  identifier: string
  name: string
  is_default: Defaulted<boolean>
  is_translation_enabled: Defaulted<boolean>
  content: NullableJson<{ email?: { body: string; editorType: 'block' | 'html' } }>
  version: Defaulted<number>
  updated_by: Optional<string>
}

export interface LayoutVersionTable {
  environment_id: string
  layout_id: string
  version: number
  definition: Json<Record<string, unknown>>
  created_at: Date
  author: NullableJson<Record<string, unknown>>
  source: NullableJson<Record<string, unknown>>
  message: Optional<string>
  translations: NullableJson<Record<string, unknown>>
  saves: Defaulted<number>
  published_at: Optional<Date>
}

/** What was deleted, and whose history is still kept. */
export interface DeletedDefinitionTable {
  environment_id: string
  kind: 'workflow' | 'layout'
  identifier: string
  /** The internal id it had. */
  id: string
  /** Its last. */
  version: number
  deleted_at: Date
}

/** A push of files, or one that was refused. */
export interface DefinitionPushTable {
  environment_id: string
  id: string
  pushed_at: Date
  author: Json<Record<string, unknown>>
  repository: string | null
  commit: string | null
  url: string | null
  message: string | null
  summary: Json<Record<string, number>>
  /** Empty if it was carried out. */
  conflicts: Json<Array<{ kind: string; id: string; why: string }>>
}

export const definitionEdits = ['allow', 'warn', 'refuse'] as const
export type DefinitionEdits = (typeof definitionEdits)[number]
export type DefinitionKind = 'workflow' | 'layout' | 'translation' | 'topic' | 'integration' | 'variable'

/** What files last pushed into an environment. */
export interface DefinitionFileTable {
  environment_id: string
  kind: DefinitionKind
  id: string
  revision: string
  path: string | null
  repository: string | null
  commit: string | null
  url: string | null
  pushed_at: Date
}

/** What an importer asked for, by kind. */
export interface ImportTable {
  environment_id: string
  id: string
  kind: string
  source: string
  found: Generated<string>
  done: Generated<string>
  imported: Generated<string>
  unchanged: Generated<string>
  failed: Generated<string>
  started_at: Date
  updated_at: Date
}

/** A trigger that was passed on to the service behind the environment. */
export interface ShadowTriggerTable {
  environment_id: string
  id: string
  transaction_id: string
  /** The identifier, as the trigger named it. */
  workflow_id: string
  created_at: Date
  settles_at: Date
  /** Null once it was compared. */
  due_at: Optional<Date>
  looks: Defaulted<number>
  outcome: Optional<'same' | 'different'>
  compared_at: Optional<Date>
}

export const differenceKinds = ['missing', 'extra', 'status', 'recipient', 'content', 'time'] as const
export type DifferenceKind = (typeof differenceKinds)[number]

export interface ShadowDifferenceTable {
  environment_id: string
  id: string
  /** Null: a write that is no trigger, and failed here. */
  transaction_id: string | null
  subscriber_id: string | null
  workflow_id: string | null
  step_id: string | null
  kind: DifferenceKind
  path: string
  upstream: JSONColumnType<object | null>
  here: JSONColumnType<object | null>
  created_at: Date
}

export interface TranslationTable {
  environment_id: string
  resource_type: 'workflow' | 'layout'
  resource_row_id: string
  locale: string
  content: Json<Record<string, unknown>>
  key_hash: string
  created_at: Date
  updated_at: Date
}

/** A subscriber's choices: only the channels it has set. */
export type ChannelChoices = { [channel in 'email' | 'sms' | 'in_app' | 'chat' | 'push']?: boolean }

export interface SubscriberPreferenceTable {
  environment_id: string
  subscriber_row_id: string
  workflow_id: Optional<string>
  context_keys: Defaulted<string[]>
  channels: Json<ChannelChoices>
  schedule: NullableJson<Record<string, unknown>>
  updated_at: Date
}

export interface SubscriberTable extends Row {
  subscriber_id: string
  first_name: string | null
  last_name: string | null
  email: string | null
  phone: string | null
  avatar: string | null
  locale: string | null
  timezone: string | null
  data: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
  channels: Json<SubscriberChannel[]>
  is_online: Defaulted<boolean>
  last_online_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  inbox_generation: Defaulted<number>
  /** Until then, nothing commercial reaches them but in the inbox. */
  snoozed_until: ColumnType<Date | null, Date | null | undefined, Date | null>
}

/** How one push or chat integration reaches a subscriber. `providerId` is the neutral form (`svc-…`). */
export interface SubscriberChannel {
  providerId: string
  _integrationId: string
  integrationIdentifier?: string
  credentials: SubscriberCredentials
  /** It was deleted then. It is kept without credentials, so that an import of older ones does not bring it back. */
  deletedAt?: string
}

export interface SubscriberCredentials {
  webhookUrl?: string
  channel?: string
  deviceTokens?: string[]
  alertUid?: string
  title?: string
  imageUrl?: string
  state?: string
  externalUrl?: string
}

export interface TopicTable extends Row {
  key: string
  name: string | null
  joinable_from_browser: Defaulted<boolean>
}

export interface TopicSubscriptionTable extends Row {
  topic_id: string
  subscriber_row_id: string
  identifier: string
  name: string | null
  context_keys: Defaulted<string[]>
}

export interface SubscriptionPreferenceTable {
  environment_id: string
  subscription_id: string
  workflow_id: string
  enabled: boolean
  condition: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
}

export interface IntegrationTable extends Row {
  name: string
  identifier: string
  provider_id: string
  channel: string
  kind: Defaulted<string>
  credentials: Json<Record<string, unknown>>
  configurations: Json<Record<string, unknown>>
  conditions: Json<unknown[]>
  active: Defaulted<boolean>
  is_primary: Defaulted<boolean>
  priority: Defaulted<number>
  connected: Defaulted<boolean>
  deleted_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  deleted_by: ColumnType<string | null, string | null | undefined, string | null>
}

export interface ChannelConnectionTable extends Row {
  identifier: string
  integration_id: string
  integration_identifier: string
  provider_id: string
  channel: string
  subscriber_id: string | null
  context_keys: Defaulted<string[]>
  workspace: Json<{ id: string; name?: string }>
  encrypted_access_token: string
}

export interface ChannelEndpointTable extends Row {
  identifier: string
  integration_id: string
  integration_identifier: string
  provider_id: string
  channel: string
  connection_identifier: string | null
  subscriber_id: string
  context_keys: Defaulted<string[]>
  type: string
  endpoint: Json<Record<string, string>>
}

export interface ContextTable extends Row {
  type: string
  context_id: string
  data: Json<Record<string, unknown>>
}

export interface TenantTable extends Row {
  identifier: string
  name: string | null
  data: ColumnType<Record<string, unknown> | null, string | null | undefined, string | null>
}

/** Overrides of a workflow for one tenant. */
export interface WorkflowOverrideTable extends Row {
  workflow_id: string
  tenant_id: string
  active: boolean | null
  channels: ColumnType<ChannelChoices, string | undefined, string>
}

export interface IdempotencyKeyTable {
  environment_id: string
  request_hash: string
  body_hash: string
  holder: string
  status: number | null
  body: string | null
  expires_at: Date
  suspect_since: Generated<Date | null>
}

export interface RateBucketTable {
  environment_id: string
  category: string
  tokens: number
  refilled_at: Date
  granted: boolean
}

export interface EnvironmentRevisionTable {
  environment_id: string
  revision: string
}

export interface TransactionTable {
  environment_id: string
  transaction_id: string
  event_id: string
  expires_at: Date
}

type JsonText<T> = ColumnType<T, string | null, string | null>

/** In a trigger's overrides, in front of another service: it was not passed on, so it is delivered here. Only the engine sets it. */
export const liveMark = '__live'

export interface EventTable {
  environment_id: string
  id: string
  transaction_id: string
  workflow_id: string
  workflow_version: number
  recipients: JsonText<Recipient[] | null>
  payload: JsonText<Record<string, unknown>>
  overrides: JsonText<Record<string, unknown>>
  actor: JsonText<Record<string, unknown> | null>
  tenant: JsonText<Record<string, unknown> | null>
  context: JsonText<Record<string, unknown> | null>
  started_at: Date | null
  created_at: Date
  /** The `traceparent` of the trigger, if it was traced. */
  trace: string | null
  cancellation_key: string | null
  started_by: JsonText<StartedBy | null>
}

/** The step that started a trigger. */
export interface StartedBy {
  notificationId: string
  transactionId: string
  workflowId: string
  stepId: string
  /** 1 for what a run starts that nobody started. */
  depth: number
}

export interface PostedEventTable {
  environment_id: string
  id: string
  /** The caller's own name for it. */
  given_id: string | null
  name: string
  key: string | null
  subscriber_id: string | null
  payload: JsonText<Record<string, unknown>>
  matched: Optional<number>
  /** The last run that was told of it; null once all were. */
  reached: string | null
  created_at: Date
}

export interface QuestionTable {
  environment_id: string
  id: string
  notification_id: string
  position: number
  transaction_id: string
  workflow_id: string
  workflow: string
  step_id: string
  subscriber_row_id: string
  state: QuestionState
  question: string
  details: string | null
  answers: JsonText<OfferedAnswer[]>
  free_text: JsonText<{ label: string; required: boolean } | null>
  answer: string | null
  text: string | null
  answered_by: JsonText<AnsweredBy | null>
  level: number
  round: number
  asked: JsonText<AskedEntry[]>
  deadline: Date
  created_at: Date
  updated_at: Date
}

export type QuestionState = 'open' | 'answered' | 'expired' | 'canceled'

export interface OfferedAnswer {
  id: string
  label: string
}

export interface AnsweredBy {
  /** Null where a member answered for nobody who was asked. */
  subscriberId: string | null
  name: string | null
  /** `api` for the endpoint. */
  channel: string
  createdAt: string
  /** Who pressed a button in a chat. */
  as?: { provider: string; userId: string; name: string | null }
  /** The member who answered as themselves. */
  member?: { id: string; name: string }
}

/** Each time somebody was asked. */
export interface AskedEntry {
  subscriberId: string
  level: number
  round: number
  at: string
  remindedAt: string[]
}

export interface QuestionPersonTable {
  environment_id: string
  question_id: string
  subscriber_id: string
}

export interface RotaTable extends Row {
  rota_id: string
  name: string
  timezone: string
  shifts: JsonText<Array<Record<string, unknown>>>
}

export interface PostedEventIdTable {
  environment_id: string
  given_id: string
  event_id: string
  created_at: Date
  expires_at: Date
}

export interface EventWaitTable {
  environment_id: string
  notification_id: string
  position: number
  entry: number
  kind: 'key' | 'subscriber' | 'message' | 'schedule'
  name: string
  value: string
  subscriber_id: string
}

export interface WalkTable {
  environment_id: string
  event_id: string
  lane: number
  lanes: number
  reached: string
}

/** Subscribers that a trigger skipped. */
export interface PassedOverTable {
  environment_id: string
  event_id: string
  id: string
  reason: string
  detail: string | null
  named: string | null
  subscriber_ids: string[]
  created_at: Date
}

/** A recipient of a trigger: one subscriber with the fields to set, or a topic. */
export type Recipient =
  | ({ subscriberId: string; channels?: unknown[] } & Record<string, unknown>)
  | { topicKey: string; exclude?: string[] }

export interface NotificationTable extends Row {
  event_id: string
  transaction_id: string
  workflow_id: string
  workflow_version: number
  subscriber_row_id: string
  subscriber_id: string
  status: string
  severity: string
  critical: boolean
  channels: string[]
  tags: string[]
  context_keys: string[]
  topics: JsonText<RunTopic[] | null>
  digested_into: string | null
  goals: JsonText<RunGoals | null>
}

/** Of a run whose workflow has goals. */
export interface RunGoals {
  /** As this run has them, by goal and entry; null without one, and for a goal that cannot be met. */
  keys: Array<Array<string | null> | null>
  /** The first that was met: it has ended the run. */
  met?: { name: string; event: Record<string, unknown> | null; createdAt: string }
}

/** A topic that led to a run, and the subscription's preference. */
export interface RunTopic {
  _topicId: string
  topicKey: string
  subscriptionIdentifier: string
  preference?: string
  condition?: Record<string, unknown>
}

export interface JobTable extends Row {
  notification_id: string
  position: number
  step_row_id: string
  step_id: string
  type: string
  status: string
  reason: string | null
  error: string | null
  provider_id: string | null
  details: ColumnType<LogEntry[], string, string>
  output: JsonText<Record<string, unknown> | null>
  digest: JsonText<Record<string, unknown> | null>
  merged_into: string | null
  schedule_extensions: number
  cut_off: Generated<boolean | null>
  attempts: number
  delivery: JsonText<Record<string, unknown> | null>
  due_at: Date | null
  /** Of a copy of a question. */
  asked: Generated<CopyOf | null>
  /** When it was first held until the subscriber's schedule opens. */
  held_at: Generated<Date | null>
}

/** Which question a copy is of (the position of its step), and whom it asks. */
export interface CopyOf {
  of: number
  subscriberId: string
  level: number
  round: number
  /** The number of the reminder; 0 for the first copy. */
  reminder: number
}

/** A line, or the number of a usual one: see step-log.ts. */
export type LogEntry = StoredDetail | number

/** One line of a job's log. `at` is ISO 8601; false flags are left out. Its id derives from its index in the log. */
export interface StoredDetail {
  at: string
  detail: string
  status: 'Success' | 'Warning' | 'Failed' | 'Pending' | 'Queued' | 'ReadConfirmation'
  source?: 'Credentials' | 'Internal' | 'Payload' | 'Webhook'
  providerId?: string
  messageId?: string
  isRetry?: boolean
  raw?: string
  /** A provider's delivery event, with time and id if the provider gives them; or an open or a click that we counted. */
  webhook?: { status: string; at?: string; id?: string; recipient?: string; permanent?: true }
  /** Whom a call was for, where that was not only the message's own address. */
  recipients?: string[]
}

export interface MessageTable extends Row {
  notification_id: string
  event_id: string
  transaction_id: string
  job_id: string
  workflow_id: string
  workflow: string
  step_row_id: string
  step_id: string
  subscriber_row_id: string
  subscriber_id: string
  channel: 'in_app' | 'email' | 'sms' | 'chat' | 'push'
  provider_id: string | null
  integration_id: string | null
  identifier: string | null
  subject: string | null
  content: string | null
  avatar: string | null
  cta: JsonText<Record<string, unknown> | null>
  data: JsonText<Record<string, unknown> | null>
  email: string | null
  phone: string | null
  device_tokens: string[] | null
  webhook_url: string | null
  channel_data: JsonText<Record<string, unknown>[] | null>
  tags: string[]
  severity: string
  context_keys: string[]
  actor_row_id: string | null
  status: 'sent' | 'warning' | 'error'
  error_id: string | null
  error_text: string | null
  seen: Defaulted<boolean>
  read: Defaulted<boolean>
  archived: Defaulted<boolean>
  snoozed_until: Date | null
  delivered_at: Date[] | null
  first_seen_at: Date | null
  last_seen_at: Date | null
  last_read_at: Date | null
  archived_at: Date | null
  /** Mail that people may refuse; null for everything else. */
  commercial: Optional<boolean>
}

export interface TimerTable {
  environment_id: string
  subject_id: string
  position: number
  /** All but the first two only where the clock is held: elsewhere they are in the queue. */
  kind: 'step' | 'unsnooze' | 'clicks' | 'start' | 'walk' | 'call' | 'event' | 'messages'
  due_at: Date
  /** Where the clock is held: its place in the order in which waits began. */
  held: Optional<string>
}

export interface DigestTable {
  environment_id: string
  workflow_id: string
  step_row_id: string
  subscriber_row_id: string
  value: string
  notification_id: string | null
  seen_at: Date
  forget_at: Date
  /** Of a window that does not simply end some time after its first event. */
  bounds: Generated<DigestBounds | null>
}

/** Times are milliseconds since 1970. */
export interface DigestBounds {
  endsAt: number
  /** The end does not move beyond this. */
  latestAt: number
  /** Collected so far. */
  events: number
  /** Of the digest in the run that collects. */
  position: number
}

export interface ThrottleTable {
  environment_id: string
  workflow_id: string
  step_row_id: string
  subscriber_row_id: string
  value: string
  passed: number
  started_at: Date
  ends_at: Date
}

/** When places in a cap were taken. */
export interface CapCountTable {
  environment_id: string
  subscriber_row_id: string
  cap_id: string
  places: Date[]
  last_at: Date
}

export interface AttachmentTable {
  environment_id: string
  event_id: string
  position: number
  name: string
  mime: string
  content: Buffer
  created_at: Date
}

export interface CircuitTable {
  environment_id: string
  integration_id: string
  host: string
  failures: number
  error: string | null
  retry_at: Date
  updated_at: Date
}

/** The circuits of an environment whose clock is held. */
export interface HeldCircuitTable {
  environment_id: string
  integration_id: string
  host: string
  failures: number
  openings: number
  open_until: Date | null
}

export interface InboxConnectionTable {
  environment_id: string
  connected_at: Date
  origin: string | null
}

export interface IntegrationHealthTable {
  environment_id: string
  integration_id: string
  last_sent_at: Date | null
  refused_since: Date | null
  refusals: number
  error: string | null
  error_code: string | null
}

export interface SandboxMessageTable extends Row {
  channel: string
  transaction_id: string
  subscriber_id: string
  workflow: string
  step_id: string
  recipients: string[]
  subject: string | null
  html: string | null
  text: string | null
  message: Json<Record<string, unknown>>
  attachments: Json<Array<{ name: string; mime: string; cid?: string; disposition?: string }>>
  files: Buffer[]
}

export interface SandboxFaultTable {
  environment_id: string
  channel: string
  fault: string
  retry_after_seconds: number | null
  remaining: number | null
}

export interface BegunCallTable {
  worker_id: string
  seq: string
  calls: string[]
}

export interface WorkerTable {
  pool_id: string
}

export interface InboxProcessTable {
  id: string
  seen_at: Date
}

export interface InboxPresenceTable {
  environment_id: string
  subscriber_row_id: string
  contexts: string
  process_id: string
}

export interface WebhookEndpointTable extends Row {
  url: string
  description: string | null
  event_types: string[] | null
  active: boolean
  secret: string
  previous_secret: ColumnType<string | null, string | null | undefined, string | null>
  previous_secret_expires_at: ColumnType<Date | null, Date | null | undefined, Date | null>
  failing_since: ColumnType<Date | null, Date | null | undefined, Date | null>
  disabled_at: ColumnType<Date | null, Date | null | undefined, Date | null>
}

export interface WebhookEventTable {
  environment_id: string
  id: string
  type: string
  object: JsonText<Record<string, unknown>>
  previous: JsonText<Record<string, unknown> | null>
  subscriber_id: string | null
  created_at: Date
}

/** One attempt to call a webhook endpoint. `at` is ISO 8601. */
export interface WebhookAttempt {
  at: string
  durationMs: number
  /** Of the answer, if there was one. */
  status?: number
  /** The start of the response body. */
  response?: string
  error?: string
}

export interface WebhookDeliveryTable extends Row {
  event_id: string
  endpoint_id: string
  status: 'pending' | 'sending' | 'delivered' | 'failed'
  attempts: number
  due_at: Date | null
  history: ColumnType<WebhookAttempt[], string, string>
}

export interface InboundMailTable extends Row {
  notification_id: string
  message_id: string
  fingerprint: string
  mail: JsonText<Record<string, unknown> | null>
  attempts: number
  due_at: Date | null
}

export type Role = 'owner' | 'admin' | 'editor' | 'viewer'
/** A role in one environment; `none` is no access. */
export type EnvironmentRole = 'none' | 'viewer' | 'editor' | 'admin'
/** By the environment's id. */
export type EnvironmentRoles = Record<string, EnvironmentRole>

export interface UserTable {
  id: string
  organization_id: string
  name: string
  email: string
  password_hash: string | null
  role: Role
  environment_roles: ColumnType<EnvironmentRoles, string | undefined, string>
  oidc_issuer: Optional<string>
  oidc_subject: Optional<string>
  created_at: Date
  updated_at: Date
}

export interface UserSessionTable {
  id: string
  hash: string
  user_id: string
  user_agent: string | null
  address: string
  created_at: Date
  last_seen_at: Date
  expires_at: Date
  /** Null: when the session began. */
  proved_at: Optional<Date>
  is_from_provider: Defaulted<boolean>
}

export interface AuthenticatorAppTable {
  user_id: string
  /** Encrypted. */
  secret: string
  last_step: ColumnType<string | null, number | null | undefined, number | null>
  created_at: Date
  confirmed_at: Optional<Date>
}

export interface PasskeyTable {
  id: string
  user_id: string
  credential_id: string
  public_key: string
  counter: ColumnType<string, number, number>
  transports: string[]
  host: string
  name: string
  created_at: Date
  last_used_at: Optional<Date>
}

export interface PasskeyChallengeTable {
  hash: string
  purpose: 'register' | 'sign-in' | 'second-step' | 'proof'
  owner: string
  expires_at: Date
}

export interface RecoveryCodeTable {
  user_id: string
  hash: string
  created_at: Date
}

export interface SignInStepTable {
  hash: string
  user_id: string
  attempts: Defaulted<number>
  expires_at: Date
}

export interface InvitationTable {
  id: string
  organization_id: string
  hash: string
  email: string
  role: Role
  environment_roles: ColumnType<EnvironmentRoles, string | undefined, string>
  invited_by: string
  created_at: Date
  expires_at: Date
  accepted_at: Optional<Date>
}

export interface SavedViewTable {
  id: string
  user_id: string
  /** The list it is a view of. */
  page: 'subscribers'
  name: string
  /** Filters and order, as in a URL. */
  search: string
  created_at: Date
}

export interface PublishRequestTable {
  id: string
  /** The target. */
  environment_id: string
  source_id: string
  status: Defaulted<'pending' | 'approved' | 'declined' | 'withdrawn'>
  comment: string
  resources: ColumnType<ReviewedResource[], string, never>
  diff: ColumnType<object[], string, never>
  requester_type: 'person' | 'api-key'
  requester_id: string
  requester_name: string
  /** The person who asked, or who made the key that asked. */
  requester_user_id: string
  decided_by: Optional<string>
  decided_by_name: Optional<string>
  decision_comment: Defaulted<string>
  decided_at: Optional<Date>
  created_at: Date
  expires_at: Date
}

/** A workflow or layout of a publish request, with the hash of its content on both sides. */
export interface ReviewedResource {
  resourceType: 'workflow' | 'layout'
  resourceId: string
  resourceName: string
  action: 'created' | 'updated' | 'deleted'
  hash: string
}

export interface SignInLinkTable {
  hash: string
  organization_id: string
  user_id: string | null
  created_at: Date
  expires_at: Date
}

export interface BotLinkTable {
  environment_id: string
  hash: string
  integration_id: string
  subscriber_id: string
  context_keys: string[]
  created_at: Date
  expires_at: Date
}

/** An entry of the suppression list. */
export interface SuppressionTable extends Row {
  channel: string
  address_hash: Buffer
  /** Null once its subscriber was erased. */
  address: string | null
  reason: string
  scope: string
  /** The workflow or category that the scope names, else empty. */
  scope_id: Defaulted<string>
  exceptions: Defaulted<string[]>
  source: string
  subscriber_id: string | null
  integration_id: string | null
  message_id: string | null
  note: string | null
  expires_at: Date | null
}

export interface WorkflowPresenceTable {
  environment_id: string
  workflow_id: string
  user_id: string
  expires_at: Date
}

/** A browser that a subscriber has registered. */
export interface PushSubscriptionTable {
  environment_id: string
  id: string
  subscriber_row_id: string
  subscriber_id: string
  endpoint_hash: Buffer
  /** Endpoint and keys, encrypted. */
  sealed: string
  /** Of the push service. */
  origin: string
  /** The origin of the page that registered. */
  page: string | null
  label: string | null
  created_at: Date
  used_at: Date
}

/** Commercial mail that bounced for good or was complained about. */
export interface BrakeMarkTable {
  environment_id: string
  workflow_id: string
  cause: Brake['cause']
  message_id: string
  sent_at: Date
  refused: boolean
}

/** A link that was followed in the last seconds. */
export interface TrackedClickTable {
  environment_id: string
  message_id: string
  /** Of the address that it leads to. */
  link_hash: Buffer
  url: string
  first_at: Date
  last_at: Date
}

export interface SoftBounceTable {
  environment_id: string
  address_hash: Buffer
  channel: string
  message_id: string
  happened_at: Date
}

/** Texts that arrived, so that each counts once. */
export interface InboundTextTable {
  environment_id: string
  integration_id: string
  /** The provider's id. */
  external_id: string
  received_at: Date
}

/** When a number was last answered to a word such as STOP. */
export interface TextAnswerTable {
  environment_id: string
  integration_id: string
  address_hash: Buffer
  keyword: string
  answered_at: Date
}

export interface SignInAttemptTable {
  key: string
  attempts: number
  ends_at: Date
}

export interface AuditLogTable {
  id: string
  organization_id: string
  action: string
  actor_type: 'person' | 'api-key' | 'system'
  actor_id: string | null
  actor_name: string
  actor_email: string | null
  target_type: string
  target_id: string | null
  target_name: string | null
  acted_in: string | null
  address: string | null
  details: Json<Record<string, unknown>>
  created_at: Date
  // The chain of hashes, made by the database.
  number: Generated<string>
  target_salt: Generated<string | null>
  target_digest: Generated<Buffer>
  previous_hash: Generated<Buffer>
  hash: Generated<Buffer>
}

/** The end of an organization's chain of audit entries. */
export interface AuditHeadTable {
  organization_id: string
  number: string
  hash: Buffer
}

export interface ActivityCountTable {
  environment_id: string
  workflow_id: string
  slot: Date
  measure: string
  bin: number
  count: number
}

export interface ActivityCountedTable {
  only_row: Defaulted<boolean>
  until: Date
}

export interface ErasureTable extends Row {
  status: 'pending' | 'running' | 'completed'
  subject_hash: string
  subject: string | null
  subscriber_row_ids: string[]
  part: string
  reached: string
  /** Rows by table. */
  report: Json<Record<string, number>>
  completed_at: Date | null
}

/** A call of an SQL function, as the application committed it; in the schema `belfry`, as all of these. */
interface CallTable {
  format: number
  environment_id: string
  kind: 'trigger' | 'cancel' | 'upsert_subscriber'
  transaction_id: string | null
  body: Json<Record<string, unknown>>
  /** The role that called. */
  role: string
  created_at: Date
}

export interface OutboxTable extends CallTable {
  /** The transaction that called. */
  xact: Generated<string>
  id: Generated<string>
}

export interface RefusedCallTable extends CallTable {
  id: string
  code: string
  message: string
  refused_at: Date
}

export interface AllowedRoleTable {
  environment_id: string
  role: string
  created_at: Date
}

export interface Tables {
  'belfry.outbox': OutboxTable
  'belfry.refused': RefusedCallTable
  'belfry.allowed': AllowedRoleTable
  organizations: OrganizationTable
  environments: EnvironmentTable
  api_keys: ApiKeyTable
  api_key_uses: ApiKeyUseTable
  signing_secrets: SigningSecretTable
  publish_requests: PublishRequestTable
  environment_variables: EnvironmentVariableTable
  environment_variable_values: EnvironmentVariableValueTable
  workflows: WorkflowTable
  workflow_versions: WorkflowVersionTable
  layout_versions: LayoutVersionTable
  deleted_definitions: DeletedDefinitionTable
  definition_files: DefinitionFileTable
  imports: ImportTable
  shadow_triggers: ShadowTriggerTable
  shadow_differences: ShadowDifferenceTable
  definition_pushes: DefinitionPushTable
  notification_groups: NotificationGroupTable
  layouts: LayoutTable
  translations: TranslationTable
  subscriber_preferences: SubscriberPreferenceTable
  subscribers: SubscriberTable
  topics: TopicTable
  topic_subscriptions: TopicSubscriptionTable
  subscription_preferences: SubscriptionPreferenceTable
  integrations: IntegrationTable
  channel_connections: ChannelConnectionTable
  channel_endpoints: ChannelEndpointTable
  bot_links: BotLinkTable
  contexts: ContextTable
  tenants: TenantTable
  workflow_overrides: WorkflowOverrideTable
  workflow_presence: WorkflowPresenceTable
  suppressions: SuppressionTable
  soft_bounces: SoftBounceTable
  brake_marks: BrakeMarkTable
  tracked_clicks: TrackedClickTable
  push_subscriptions: PushSubscriptionTable
  inbound_texts: InboundTextTable
  text_answers: TextAnswerTable
  idempotency_keys: IdempotencyKeyTable
  rate_buckets: RateBucketTable
  environment_revisions: EnvironmentRevisionTable
  transactions: TransactionTable
  events: EventTable
  posted_events: PostedEventTable
  posted_event_ids: PostedEventIdTable
  event_waits: EventWaitTable
  questions: QuestionTable
  question_people: QuestionPersonTable
  rotas: RotaTable
  walks: WalkTable
  passed_over: PassedOverTable
  notifications: NotificationTable
  jobs: JobTable
  messages: MessageTable
  activity_counts: ActivityCountTable
  activity_counted: ActivityCountedTable
  timers: TimerTable
  digests: DigestTable
  throttles: ThrottleTable
  cap_counts: CapCountTable
  attachments: AttachmentTable
  begun_calls: BegunCallTable
  workers: WorkerTable
  inbox_processes: InboxProcessTable
  inbox_presence: InboxPresenceTable
  circuits: CircuitTable
  held_circuits: HeldCircuitTable
  inbox_connections: InboxConnectionTable
  integration_health: IntegrationHealthTable
  sandbox_messages: SandboxMessageTable
  sandbox_faults: SandboxFaultTable
  webhook_endpoints: WebhookEndpointTable
  webhook_events: WebhookEventTable
  webhook_deliveries: WebhookDeliveryTable
  inbound_mails: InboundMailTable
  users: UserTable
  user_sessions: UserSessionTable
  authenticator_apps: AuthenticatorAppTable
  passkeys: PasskeyTable
  passkey_challenges: PasskeyChallengeTable
  recovery_codes: RecoveryCodeTable
  sign_in_steps: SignInStepTable
  invitations: InvitationTable
  sign_in_links: SignInLinkTable
  saved_views: SavedViewTable
  sign_in_attempts: SignInAttemptTable
  audit_log: AuditLogTable
  audit_heads: AuditHeadTable
  erasures: ErasureTable
}
