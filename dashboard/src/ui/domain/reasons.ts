// Short labels for the reason of a step, for filters and lists. The activity page builds full sentences.

export const reasonLabels = {
  preference: 'Turned off by a preference',
  step_condition: 'Condition not met',
  outside_schedule: 'Outside the schedule',
  throttled: 'Throttled',
  capped: 'Held back by a cap',
  merged_into_digest: 'Merged into a digest',
  first_of_digest: 'First event of a digest',
  canceled_by_user: 'Cancelled',
  exited: 'The run was ended before it',
  nothing_to_wait_for: 'Nothing to wait for',
  nobody_to_ask: 'Nobody could be asked',
  goal_met: 'The goal was met',
  previous_step_failed: 'An earlier step failed',
  suppressed: 'On the suppression list',
  snoozed: 'Commercial messages paused',
  subscriber_gone: 'Subscriber or workflow deleted',
  missing_email: 'No email address',
  missing_phone: 'No phone number',
  missing_push_token: 'No device',
  missing_webhook_url: 'No chat webhook',
  some_channels_missing_credentials: 'No chat connected',
  no_integration: 'No active integration',
  invalid_settings: 'Invalid step settings',
  over_limit: 'Longer than 180 days',
  content_failed: 'Content could not be rendered',
  layout_not_found: 'Layout does not exist',
  workflow_unavailable: 'The other workflow could not be started',
  too_deep: 'Workflows start each other too deep',
  filter_failed: 'Filter webhook failed',
  bridge_failed: 'Your application did not answer',
  http_request_failed: 'HTTP request failed',
  failure_allowed: 'Failed, but allowed to',
  provider_failed: 'Provider unavailable',
  provider_refused: 'Provider refused',
  outcome_unknown: 'Outcome unknown',
  braked: 'The workflow is braked',
  internal: 'Internal error',
} as const

export type Reason = keyof typeof reasonLabels

/** A newer server may have others. */
export const reasonLabel = (reason: string): string => reasonLabels[reason as Reason] ?? reason.replaceAll('_', ' ')
