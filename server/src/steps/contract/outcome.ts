// The outcomes of a step, their reasons, and the lines of its log. Steps return outcomes; only engine/runs/run.ts acts on them.
import type { StoredDetail } from '../../db/core/tables.ts'
import type { NewMessage } from './message.ts'
import type { Awaited } from './need.ts'
import type { Asking } from './question.ts'

/** Why a step did not simply complete. Stored with it, so that "why did this person not get it?" is a query. */
export type Reason =
  // Held back.
  | 'preference'
  | 'step_condition'
  | 'outside_schedule'
  | 'throttled'
  | 'capped'
  | 'merged_into_digest'
  | 'first_of_digest'
  | 'exited'
  | 'nothing_to_wait_for'
  | 'nobody_to_ask'
  | 'question_closed'
  | 'goal_met'
  | 'canceled_by_user'
  | 'previous_step_failed'
  | 'subscriber_gone'
  | 'suppressed'
  | 'snoozed'
  // The subscriber cannot be reached this way.
  | 'missing_email'
  | 'missing_phone'
  | 'missing_push_token'
  | 'missing_webhook_url'
  | 'some_channels_missing_credentials'
  // Not set up.
  | 'no_integration'
  | 'invalid_settings'
  | 'over_limit'
  | 'content_failed'
  | 'layout_not_found'
  | 'workflow_unavailable'
  | 'too_deep'
  // Something outside refused or failed.
  | 'filter_failed'
  | 'bridge_failed'
  | 'http_request_failed'
  | 'failure_allowed'
  | 'provider_failed'
  | 'provider_refused'
  | 'outcome_unknown'
  | 'braked'
  | 'internal'

/** Reasons of failed deliveries: once the cause is fixed, they can be redriven. */
export const undeliveredReasons = [
  'provider_failed',
  'provider_refused',
  'outcome_unknown',
  'no_integration',
  'content_failed',
  'layout_not_found',
  'filter_failed',
  'bridge_failed',
  'braked',
  'internal',
] as const
export const undelivered: ReadonlySet<Reason | null> = new Set<Reason | null>(undeliveredReasons)

type Status = StoredDetail['status']

/** Every line of a log: clients compare the texts. */
const lines = {
  queued: ['Step queued', 'Pending'],
  delayed: ['Step delayed', 'Pending'],
  digested: ['Step digested', 'Pending'],
  digest_merged: ['Digest was merged with other digest', 'Success'],
  digest_first: ['Digest was skipped, first backoff event', 'Success'],
  digest_fired: ['Digest triggered events', 'Success'],
  delay_finished: ['Delay is finished', 'Success'],
  wait_ended: ['The wait was ended before its time', 'Success'],
  delay_invalid: ['Invalid delay configuration', 'Failed'],
  digest_invalid: ['Invalid digest configuration', 'Failed'],
  delay_clamped: ['The date of the delay has passed; the step goes on at once', 'Warning'],
  over_limit: ['Defer duration limit exceeded', 'Failed'],
  throttled: ['Throttle limit exceeded for the given window', 'Success'],
  throttle_past: ['Throttle window date is in the past', 'Failed'],
  schedule_extended: ['Step was extended to the next available time in the subscriber schedule', 'Pending'],
  schedule_exhausted: ['Step was executed due to maximum number of subscriber schedule extensions reached', 'Success'],
  outside_schedule: ["The step was skipped as it fell outside the subscriber's schedule", 'Success'],
  held: ['The step is held until the schedule of the subscriber opens', 'Pending'],
  capped: ['The subscriber has had as many messages as a cap allows', 'Success'],
  condition_skipped_wait: ['Step was skipped based on steps conditions', 'Success'],
  condition_failed: ['Step was skipped based on steps conditions', 'Failed'],
  filter_failed: ['Processing step filter failed', 'Failed'],
  filter_retried: ['Webhook filter failed, retry will be executed', 'Pending'],
  filter_unanswered: ['Failed to get response from remote webhook filter on last retry', 'Pending'],
  variant_chosen: ['Variant was chosen by the provided condition criteria', 'Pending'],
  bridge_skipped: ['Bridge execution skipped', 'Failed'],
  bridge_failed: ['Bridge execution failed', 'Failed'],
  bridge_retried: ['The application did not answer; it will be asked again', 'Pending'],
  filtered_by_workflow: ['Step filtered by workflow preferences', 'Success'],
  filtered_by_user: ['Step filtered by user preferences', 'Success'],
  filtered_by_tenant: ['Step filtered by tenant workflow override', 'Success'],
  filtered_by_subscriberGlobal: ['Step filtered by subscriber global preferences', 'Success'],
  filtered_by_subscriberWorkflow: ['Step filtered by subscriber workflow preferences', 'Success'],
  snoozed_commercial: ['The subscriber has paused commercial messages', 'Success'],
  suppressed: ['The recipient is on the suppression list', 'Success'],
  braked: ['The workflow is braked: too much of its mail bounced or was complained about', 'Failed'],
  one_click_needs_https: ['One-click unsubscribe needs an https address', 'Warning'],
  no_unsubscribe_header: ['The provider takes no unsubscribe header', 'Warning'],
  one_person: ['Commercial mail goes to one person; further recipients are left out', 'Warning'],
  severity_overridden: ['Severity for the message was overridden', 'Pending'],
  topic_preference: ['Topic subscription preference evaluated', 'Pending'],
  digest_files_left: ['Files of other events of the digest are not attached', 'Warning'],
  tenant_selected: ['Tenant context selected', 'Pending'],
  tenant_missing: ['Tenant identifier not found', 'Failed'],
  layout_selected: ['Layout selected', 'Pending'],
  layout_missing: ['Layout not found ', 'Failed'],
  no_integration: ['Subscriber does not have an active integration', 'Failed'],
  message_created: ['Message created', 'Pending'],
  content_failed: ['Message content could not be generated', 'Failed'],
  missing_email: ['Subscriber missing email address', 'Failed'],
  missing_phone: ['Subscriber missing phone number', 'Failed'],
  no_channel: ['Subscriber does not have a configured channel', 'Warning'],
  no_channel_in_context: ['Subscriber does not have a configured channel with the given context', 'Warning'],
  missing_webhook_url: ['Webhook URL for the chat channel is missing', 'Failed'],
  missing_chat_phone: ['Subscriber is missing a phone number', 'Failed'],
  chat_some_skipped: ['Some chat channels skipped to send the message', 'Warning'],
  chat_all_failed: ['All chat channels failed to send the message', 'Failed'],
  missing_tokens: ['Subscriber credentials is missing the tokens for sending a push notification message', 'Failed'],
  push_some_skipped: ['Some push channels skipped to send the message', 'Warning'],
  push_all_failed: ['There was one or more errors when trying to execute the notification', 'Failed'],
  token_removed: ['Invalid push device token was removed from subscriber', 'Success'],
  message_sent: ['Message sent', 'Success'],
  recipients_refused: ['The message was sent, but not to these recipients, whom the provider refused', 'Warning'],
  provider_error: ['Unexpected provider error', 'Failed'],
  retry_planned: ['The provider did not accept the message; it will be tried again', 'Pending'],
  redriven: ['The message is sent again, as requested', 'Pending'],
  failed_over: ['The message goes on to the next integration', 'Warning'],
  outcome_unknown: ['The service stopped during the call; whether the message was accepted is unknown', 'Warning'],
  maybe_twice: ['An earlier attempt may have arrived too, so the message may have been delivered twice', 'Warning'],
  reply_missing_url: ['Inbound mail - Missing replay callback URL', 'Warning'],
  reply_missing_configuration: ['Inbound mail - Missing configuration', 'Warning'],
  reply_missing_mx: ['Inbound mail - Missing MX Record configuration', 'Warning'],
  reply_missing_domain: ['Inbound mail - Missing MX route domain configuration', 'Warning'],
  reply_received: ['Inbound mail - A reply was received', 'Pending'],
  reply_told: ['Inbound mail - The reply callback received a reply', 'Success'],
  reply_retried: ['Inbound mail - The reply callback did not accept a reply; it will be tried again', 'Warning'],
  reply_given_up: ['Inbound mail - The reply callback never accepted a reply, which was given up', 'Failed'],
  request_retried: ['The request failed; it will be tried again', 'Pending'],
  action_failed: ['Action step execution failed', 'Failed'],
  response_invalid: ['Response body schema validation failed', 'Failed'],
  response_not_object: ['HTTP request step received a non-object response', 'Warning'],
  processed: ['Step processed', 'Success'],
  event_awaited: ['The step waits for an event', 'Pending'],
  event_heard: ['The event that the step waited for has happened', 'Success'],
  event_missed: ['The wait for an event is over', 'Success'],
  event_condition_failed: ['A condition on an event could not be evaluated', 'Warning'],
  nothing_awaited: ['There is no message that the step could wait for', 'Success'],
  wait_invalid: ['Invalid wait configuration', 'Failed'],
  question_asked: ['The question was put', 'Pending'],
  question_escalated: ['The question was put to the next level', 'Pending'],
  question_answered: ['The question was answered', 'Success'],
  question_expired: ['Nobody answered the question in time', 'Success'],
  question_over: ['The question is closed; this copy is not sent any more', 'Success'],
  question_invalid: ['Invalid question', 'Failed'],
  nobody_to_ask: ['Nobody could be asked', 'Success'],
  levels_left_out: ['The chain has too many levels; the last ones are left out', 'Warning'],
  copies_left_out: ['The question has too many copies; further ones are left out', 'Warning'],
  person_gone: ['The subscriber who was to be asked no longer exists', 'Failed'],
  not_called_in_shadow: ['The request was not made: the service behind this environment makes it', 'Warning'],
  workflow_started: ['The other workflow was triggered', 'Success'],
  workflow_not_started: ['The other workflow could not be triggered', 'Failed'],
  subscriber_updated: ['The subscriber was updated', 'Success'],
  goal_met: ['A goal of the workflow was met, which ended the run', 'Success'],
  goal_invalid: ['A goal cannot be met: its key is empty or too long', 'Warning'],
  goal_condition_failed: ['The condition of a goal could not be evaluated', 'Warning'],
  arm_taken: ['The run goes on in an arm of the branch', 'Success'],
  arm_failed: ['The condition of an arm could not be evaluated', 'Failed'],
  exited: ['The step ended the run', 'Success'],
  left_out: ['Step was left out because the run was ended before it', 'Success'],
  previous_failed: ['Step was canceled because a previous step failed', 'Failed'],
  canceled: ['Step canceled', 'Success'],
  internal: ['Step failed unexpectedly', 'Failed'],
  unsnoozed: ['Message unsnoozed', 'Success'],
  snoozed: ['Message snoozed', 'Success'],
  counted_open: ['Message opened', 'Success'],
  counted_click: ['Message clicked', 'Success'],
  fetched_by_robot: ['Fetched by a robot', 'Success'],
} as const satisfies Record<string, readonly [text: string, status: Status]>

export type DetailKey = keyof typeof lines

/** A line as a step writes it; the engine adds id and time. */
export interface Detail
  extends Pick<StoredDetail, 'detail' | 'status' | 'source' | 'providerId' | 'messageId' | 'isRetry' | 'recipients'> {
  raw?: unknown
}

export function detail(key: DetailKey, raw?: unknown, more: Partial<Detail> = {}): Detail {
  const [text, status] = lines[key]
  return { detail: text, status, ...(raw === undefined ? {} : { raw }), ...more }
}

/** `SendGrid provider was selected`. */
export const providerSelected = (name: string, raw: unknown, providerId: string): Detail => ({
  detail: `${name} provider was selected`,
  status: 'Pending',
  raw,
  providerId,
})

interface Common {
  details: Detail[]
  providerId?: string
  /** What later steps read under `steps.<id>`. */
  output?: Record<string, unknown>
  messages?: NewMessage[]
  /** State that the step gets back when it continues or is retried. */
  delivery?: Record<string, unknown>
  /** What becomes of the question that it asks. */
  asking?: Asking
  /** Addresses that a provider calls dead. */
  dead?: DeadAddress[]
}

export interface DeadAddress {
  channel: 'email' | 'sms'
  address: string
  messageId: string
  integrationId: string | undefined
  /** Whether the message reached nobody because of it. */
  isOnly: boolean
}

/** It did its job. */
export interface Done extends Common {
  kind: 'done'
  /** If part of it failed for good. */
  reason?: Reason
  /** The posted event that ended its wait. */
  heard?: string
}

/** It waits until then. */
export interface Wait extends Common {
  kind: 'wait'
  until: Date
  digest?: Record<string, unknown>
  /** Or until one of these happens. */
  listens?: Awaited[]
}

/** Held back, and the run goes on. A waiting step ends `skipped`, any other `canceled`. */
export interface Skip extends Common {
  kind: 'skip'
  reason: Reason
  digest?: Record<string, unknown>
}

/** It failed. The run goes on, unless the step stops it. */
export interface Fail extends Common {
  kind: 'fail'
  reason: Reason
  error: string
  stops: boolean
}

/** The run ends here without a failure: throttled, or merged into another run's digest. */
export interface Stop extends Common {
  kind: 'stop'
  status: 'skipped' | 'merged'
  reason: Reason
  mergedInto?: string
  digest?: Record<string, unknown>
  /** A step of another run, whose wait is over now. */
  wakes?: { runId: string; position: number }
}

/** The run goes on in one of its arms, and then behind it. */
export interface Enter extends Common {
  kind: 'enter'
  /** Null for the default. */
  arm: number | null
}

/** The run ends here because the workflow says so. */
export interface Exit extends Common {
  kind: 'exit'
}

/** It has to make a call, which no transaction can wait for. */
export interface Call {
  kind: 'call'
  details: Detail[]
}

/** The call is to be made again then, with this state. */
export interface Retry extends Common {
  kind: 'retry'
  at: Date
  delivery: Record<string, unknown>
}

export type StepOutcome = Done | Wait | Skip | Fail | Stop | Enter | Exit | Call | Retry
