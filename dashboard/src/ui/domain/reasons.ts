// Why a step did not simply complete, in the words of filters and lists. Sentences about one run are made where it is shown.

export const reasonLabels = {
  preference: 'Switched off by a preference',
  step_condition: 'Condition does not hold',
  outside_schedule: 'Outside the schedule',
  throttled: 'Throttled',
  merged_into_digest: 'Merged into a digest',
  first_of_digest: 'First of a digest',
  canceled_by_user: 'Cancelled',
  previous_step_failed: 'An earlier step failed',
  subscriber_gone: 'Subscriber or workflow deleted',
  missing_email: 'No email address',
  missing_phone: 'No phone number',
  missing_push_token: 'No device',
  missing_webhook_url: 'No chat webhook',
  some_channels_missing_credentials: 'No chat connected',
  no_integration: 'No active integration',
  invalid_settings: 'Invalid settings of a step',
  over_limit: 'Longer than 180 days',
  content_failed: 'Content could not be rendered',
  layout_not_found: 'Layout does not exist',
  filter_failed: 'Filter did not answer',
  bridge_failed: 'Your application did not answer',
  http_request_failed: 'HTTP request failed',
  failure_allowed: 'Failed, which is allowed',
  provider_failed: 'Provider out of order',
  provider_refused: 'Provider refused',
  outcome_unknown: 'Outcome unknown',
  internal: 'Fault of the service',
} as const

export type Reason = keyof typeof reasonLabels

/** A newer server may know others. */
export const reasonLabel = (reason: string): string => reasonLabels[reason as Reason] ?? reason.replaceAll('_', ' ')
