// Every error a client can get: code, status and sentence. `throw fail(code, params)` raises one; http/app.ts sends it.

type Sentence = (params: never) => string
interface ErrorKind {
  status: number
  message: Sentence
}

const says = (sentence: string) => () => sentence
/** Also used for the field itself when an endpoint is created. */
export const endpointFormatText = (type: string) => `Endpoint must match the required format for type "${type}"`

export const errorTable = {
  // the request as such
  malformed_json: {
    status: 400,
    message: (p: { reason: string }) => `The request body is not valid JSON: ${p.reason}`,
  },
  invalid_text: {
    status: 400,
    message: (p: { reason: string }) => `The request contains text that cannot be stored: ${p.reason}`,
  },
  unstorable: { status: 400, message: says('The request contains a value that is too long or too large to be stored') },
  malformed_encoding: {
    status: 400,
    message: says(
      'The request contains percent-encoded text that is not valid UTF-8; a percent sign itself is sent as %25',
    ),
  },
  body_too_large: { status: 413, message: says('Payload Too Large') },
  url_too_long: { status: 414, message: says('A part of the URL is longer than any identifier can be') },
  unsupported_media_type: {
    status: 415,
    message: (p: { contentType: string }) =>
      p.contentType === ''
        ? 'The request has a body, but no Content-Type; send "Content-Type: application/json"'
        : `Unsupported content type "${p.contentType}"; send application/json`,
  },
  form_expected: {
    status: 415,
    message: (p: { contentType: string }) => `Unsupported content type "${p.contentType}"; send multipart/form-data`,
  },
  malformed_form: { status: 400, message: (p: { reason: string }) => `The form cannot be read: ${p.reason}` },
  too_many_files: { status: 400, message: (p: { limit: number }) => `At most ${p.limit} files can be sent at once` },
  file_too_large: {
    status: 413,
    message: (p: { name: string; bytes: number }) => `File "${p.name}" is larger than ${p.bytes} bytes`,
  },
  malformed_request: { status: 400, message: says('The request is not valid HTTP') },
  request_timeout: { status: 408, message: says('The request did not arrive in time') },
  headers_too_large: { status: 431, message: says('The URL and headers of the request are too long') },
  bad_request: { status: 400, message: (p: { reason: string }) => p.reason },
  validation: { status: 422, message: says('Validation Error') },
  field_validation: {
    status: 422,
    message: (p: { command: string; fields: Record<string, string[]> }) =>
      `Validation failed for ${p.command}: ${Object.entries(p.fields)
        .map(([field, messages]) => `${field}: ${messages.join(', ')}`)
        .join('; ')}`,
  },
  route_not_found: { status: 404, message: (p: { method: string; path: string }) => `Cannot ${p.method} ${p.path}` },
  internal: { status: 500, message: says('Internal server error, contact support and provide them with the errorId') },
  unavailable: {
    status: 503,
    message: says('The database cannot be reached at the moment. Please retry.'),
  },
  unfinished: {
    status: 503,
    message: says('The request took too long. Please retry.'),
  },
  overloaded: { status: 503, message: says('The service is overloaded at the moment. Please retry.') },
  too_many_sockets: { status: 503, message: says('No more sockets can be opened at the moment. Please retry.') },
  too_many_at_once: {
    status: 429,
    message: says('Too many requests of this environment are in flight. Wait for some of them to finish, then retry.'),
  },

  // authentication, idempotency, rate limits
  missing_authorization: { status: 401, message: says('Missing authorization header') },
  invalid_scheme: {
    status: 401,
    message: (p: { scheme: string; expected: string }) =>
      `Invalid authentication scheme: "${p.scheme}"; send "Authorization: ${p.expected}"`,
  },
  unauthorized: { status: 401, message: says('Unauthorized') },
  api_key_not_found: { status: 401, message: says('API Key not found') },
  too_many_api_keys: {
    status: 409,
    message: (p: { limit: number }) =>
      `There are ${p.limit} valid API keys already; revoke one, or wait until one of them expires`,
  },
  foreign_environment: {
    status: 403,
    message: says(
      'API key authentication is scoped to a single environment; use the key of the environment you want to change, or one of the organization',
    ),
  },
  insufficient_scope: {
    status: 403,
    message: (p: { needed: string }) =>
      `This API key lacks the scope ${p.needed}; use a key that has it, or create one on the page "API keys"`,
  },
  approval_needed: {
    status: 403,
    message: (p: { environmentId: string }) =>
      `The environment is protected: ask a second person with POST /v2/environments/${p.environmentId}/publish-requests, or on the dashboard`,
  },
  content_protected: {
    status: 403,
    message: says(
      'The environment is protected: its workflows, layouts and translations change by an approved publish only. Make the change in another environment and ask for approval',
    ),
  },
  protection_first: {
    status: 409,
    message: (p: { name: string }) =>
      `The environment "${p.name}" is protected. An owner has to turn the protection off before it can be deleted`,
  },
  protection_owner_needed: {
    status: 403,
    message: says('Only an owner can turn the protection off, or open it to automation'),
  },
  publish_request_not_found: {
    status: 404,
    message: (p: { requestId: string }) => `There is no publish request ${p.requestId} in this environment`,
  },
  publish_request_empty: {
    status: 409,
    message: says('There is nothing to publish: the environments agree on all of it'),
  },
  publish_request_unneeded: {
    status: 409,
    message: says('The environment is not protected, so no approval is needed: publish directly'),
  },
  too_many_publish_requests: {
    status: 409,
    message: (p: { limit: number }) =>
      `There are ${p.limit} open publish requests already; decide or withdraw some of them first`,
  },
  publish_request_closed: {
    status: 409,
    message: (p: { status: string }) => `The publish request is ${p.status} already; create a new one`,
  },
  publish_request_outdated: {
    status: 409,
    message: (p: { names: string }) =>
      `This has changed since the request was made: ${p.names}. Nothing was published. Create a new request, so that what is approved is what was seen`,
  },
  own_publish_request: {
    status: 403,
    message: says('You cannot approve your own request; another person with the right to publish has to'),
  },
  not_your_publish_request: {
    status: 403,
    message: says('Only the person or API key that made a request can withdraw it'),
  },
  publish_refused: {
    status: 403,
    message: (p: { environmentId: string }) =>
      `This API key may not publish into the environment ${p.environmentId}; use a key with the scope publish:${p.environmentId}, or publish on the dashboard`,
  },
  organization_key_needed: {
    status: 403,
    message: says(
      'This concerns the whole organization, and the API key is of one environment; use a key of the organization, or sign in to the dashboard',
    ),
  },
  api_key_address_refused: {
    status: 403,
    message: (p: { address: string }) =>
      `This API key is not allowed from the address ${p.address}; change its allowed addresses, or call from one of them`,
  },
  key_not_found: { status: 404, message: (p: { keyId: string }) => `No API key with the id ${p.keyId} was found` },
  scope_unknown: {
    status: 422,
    message: (p: { scope: string }) =>
      `There is no scope ${p.scope}; the scopes are administer, read, send, write:<resource> and publish:<id of an environment>`,
  },
  address_unknown: {
    status: 422,
    message: (p: { address: string }) =>
      `${p.address} is no IP address and no network such as 192.0.2.0/24 or 2001:db8::/32`,
  },
  expiry_past: { status: 422, message: says('The expiry must be in the future') },
  idempotency_key_too_long: {
    status: 400,
    message: (p: { key: string }) =>
      `idempotencyKey "${p.key}" has exceeded the maximum allowed length of 255 characters`,
  },
  idempotency_key_reused: {
    status: 422,
    message: (p: { key: string }) => `Request with key "${p.key}" is being reused for a different body`,
  },
  idempotency_in_progress: {
    status: 409,
    message: (p: { key: string }) =>
      `Request with key "${p.key}" is currently being processed. Please retry after 1 second`,
  },
  rate_limited: { status: 429, message: says('API rate limit exceeded') },

  // people and their sessions
  not_signed_in: { status: 401, message: says('Sign in to continue: there is no session, or it has expired') },
  cross_site_request: {
    status: 403,
    message: says(
      'A request with a session must come from a page of this service, and needs a Belfry-Environment header to change anything',
    ),
  },
  insufficient_role: {
    status: 403,
    message: (p: { role: string; needed: string }) =>
      p.role === 'none'
        ? 'You have no access to this environment; ask an owner or admin of the organization'
        : `This needs the role ${p.needed}, and yours is ${p.role}; ask an owner or admin of the organization`,
  },
  too_many_wrong_keys: {
    status: 429,
    message: says('This key is unknown, as were many others from this address; use the key of the environment'),
  },
  metrics_token_needed: {
    status: 401,
    message: says('Send `Authorization: Bearer <the value of BELFRY_METRICS_TOKEN>` to read metrics'),
  },
  people_only: { status: 403, message: says('This is for people who have signed in; an API key cannot do it') },
  sign_in_failed: { status: 401, message: says('The email address or the password is wrong') },
  sign_in_limited: {
    status: 429,
    message: says(
      'Too many attempts at once; retry after as long as Retry-After says, or ask for a link to choose a new password',
    ),
  },
  sign_in_busy: { status: 503, message: says('Too many people are signing in at the moment. Please retry.') },
  answer_for_nobody: { status: 422, message: says('Say in subscriberId who answers') },
  link_not_found: {
    status: 404,
    message: says('The link is not valid: it was used, replaced or has expired. Ask for a new one'),
  },
  already_set_up: {
    status: 409,
    message: says('The organization already has an owner; sign in, or ask for an invitation'),
  },
  email_taken: { status: 409, message: says('An account with this email address already exists') },
  wrong_password: { status: 400, message: says('The current password is wrong') },
  proof_needed: {
    status: 403,
    message: says(
      'This cannot be undone or shows a secret: prove who you are with POST /v1/auth/proof, or sign in again, and repeat it within 15 minutes',
    ),
  },
  proof_failed: { status: 400, message: says('That is not right. Try again, or use another way to prove who you are') },
  second_factor_required: {
    status: 403,
    message: says(
      'Every member needs a second factor here; set one up to continue, at /second-factor or with POST /v1/auth/factors/app',
    ),
  },
  second_step_expired: {
    status: 401,
    message: says('This took too long, or there were too many wrong codes. Sign in again'),
  },
  wrong_code: { status: 401, message: says('The code is wrong, was used before or has expired. Try the next one') },
  passkey_refused: {
    status: 401,
    message: says('The passkey was not accepted: it is unknown, was removed, or took too long. Try again'),
  },
  passkeys_unavailable: {
    status: 400,
    message: (p: { host: string }) =>
      `Passkeys need a host name and HTTPS or localhost; open Belfry at its public address instead of ${p.host}`,
  },
  authenticator_app_exists: {
    status: 409,
    message: says('There is an authenticator app already; remove it before you set up another'),
  },
  authenticator_app_not_found: {
    status: 404,
    message: says('There is no authenticator app, or its set-up was not begun'),
  },
  passkey_not_found: { status: 404, message: (p: { passkeyId: string }) => `Passkey ${p.passkeyId} not found` },
  too_many_passkeys: { status: 409, message: (p: { limit: number }) => `A person has at most ${p.limit} passkeys` },
  last_second_factor: {
    status: 409,
    message: says('A second factor is required here; set up another one before you remove the last'),
  },
  no_second_factor: {
    status: 409,
    message: says('You have no second factor of your own yet; set one up first'),
  },
  member_without_second_factor: { status: 409, message: says('This member has no second factor') },
  session_not_found: { status: 404, message: (p: { sessionId: string }) => `Session ${p.sessionId} not found` },
  member_not_found: { status: 404, message: (p: { memberId: string }) => `Member ${p.memberId} not found` },
  role_unlimited: {
    status: 400,
    message: (p: { role: string }) =>
      `Somebody with the role ${p.role} cannot be limited in single environments; give them the role editor or viewer first`,
  },
  owner_needed: { status: 403, message: says('Only an owner can make, change or remove an owner') },
  last_owner: {
    status: 409,
    message: says('An organization needs at least one owner; make somebody else an owner first'),
  },
  too_many_members: {
    status: 409,
    message: (p: { limit: number }) => `An organization has at most ${p.limit} members and open invitations`,
  },
  invitation_not_found: {
    status: 404,
    message: (p: { invitationId: string }) => `Invitation ${p.invitationId} not found`,
  },
  view_not_found: {
    status: 404,
    message: (p: { viewId: string }) => `You have no saved view ${p.viewId}`,
  },
  view_exists: {
    status: 409,
    message: (p: { name: string }) => `You already have a view named "${p.name}"`,
  },
  too_many_views: {
    status: 409,
    message: (p: { limit: number }) => `You can save up to ${p.limit} views of a list; delete one first`,
  },
  oidc_not_configured: {
    status: 404,
    message: says('Signing in with an identity provider is not configured; see BELFRY_OIDC_ISSUER'),
  },

  // lists
  both_cursors: { status: 400, message: says('Cannot specify both "before" and "after" cursors at the same time.') },

  // contexts
  invalid_context: {
    status: 422,
    message: says(
      'Invalid context payload structure. Expected object with context types as keys and string IDs or {id, data} objects as values',
    ),
  },
  too_many_contexts: {
    status: 422,
    message: (p: { count: number }) => `Too many contexts: ${p.count} provided, maximum allowed is 5`,
  },
  context_data_too_large: {
    status: 422,
    message: (p: { type: string; kilobytes: number }) =>
      `Context '${p.type}' Data is too large: ${p.kilobytes}KB exceeds 64KB limit`,
  },
  context_exists: {
    status: 409,
    message: (p: { type: string; id: string }) => `Context with type '${p.type}' and id '${p.id}' already exists`,
  },
  context_not_found: {
    status: 404,
    message: (p: { type: string; id: string; environmentId: string }) =>
      `Context with id '${p.id}' and type '${p.type}' not found in environment ${p.environmentId}`,
  },
  context_to_update_not_found: {
    status: 404,
    message: (p: { type: string; id: string }) => `Context with type '${p.type}' and id '${p.id}' not found`,
  },

  // subscribers
  subscriber_not_found: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber: ${p.subscriberId} was not found`,
  },
  subscriber_to_update_not_found: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber ${p.subscriberId} was not found`,
  },
  erasure_not_found: { status: 404, message: (p: { erasureId: string }) => `Erasure ${p.erasureId} not found` },
  too_many_exports: {
    status: 429,
    message: says('Too many exports are running at the moment; try again when they have finished.'),
  },
  subscriber_to_delete_not_found: { status: 404, message: says('Subscriber was not found') },
  subscriber_exists: {
    status: 409,
    message: (p: { subscriberId: string }) => `Subscriber with id "${p.subscriberId}" already exists`,
  },
  subscriber_missing: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber '${p.subscriberId}' was not found`,
  },
  subscriber_going_online_not_found: { status: 404, message: says('Subscriber not found') },
  subscriber_id_unknown: {
    status: 400,
    message: (p: { subscriberId: string }) => `SubscriberId: ${p.subscriberId} not found`,
  },
  no_active_integration: {
    status: 400,
    message: (p: { environmentId: string; providerId: string }) =>
      `Subscribers environment (${p.environmentId}) do not have active ${p.providerId} integration.`,
  },
  too_many_device_tokens: {
    status: 400,
    message: (p: { currentCount: number; limit: number }) =>
      `Device tokens limit exceeded. An integration keeps up to ${p.limit} tokens of a subscriber, and these would make ${p.currentCount}; replace the list to drop old ones.`,
  },

  // preferences
  preference_workflows_not_found: {
    status: 404,
    message: (p: { workflowIds: string[] }) =>
      p.workflowIds.length === 1
        ? `Workflow with id: ${p.workflowIds[0]} is not found`
        : `Workflows with ids: ${p.workflowIds.join(', ')} are not found`,
  },
  preference_workflows_critical: {
    status: 400,
    message: (p: { workflowIds: string[] }) =>
      p.workflowIds.length === 1
        ? `Critical workflow with id: ${p.workflowIds[0]} can not be updated`
        : `Critical workflows with ids: ${p.workflowIds.join(', ')} can not be updated`,
  },
  no_preferences: { status: 400, message: says('Send at least one preference to update') },

  // the inbox in browsers
  application_identifier_missing: {
    status: 422,
    message: says('A valid application identifier is required when providing subscriber information'),
  },
  demo_closed: {
    status: 403,
    message: says('Open the demo on the machine Belfry runs on, or sign in to the dashboard first'),
  },
  demo_without_development: { status: 404, message: says('The demo needs a Development environment') },
  keyless_not_offered: { status: 400, message: says('Keyless is not supported in community edition') },
  session_subscriber_missing: { status: 422, message: says('Subscriber ID is required') },
  application_identifier_unknown: { status: 400, message: says('Please provide a valid application identifier') },
  in_app_integration_not_found: { status: 404, message: says('The active in-app integration could not be found') },
  subscriber_hash_invalid: { status: 400, message: says('Please provide a valid HMAC hash') },
  context_hash_invalid: { status: 400, message: says('Please provide a valid context HMAC hash') },
  anonymous_profile_too_large: {
    status: 413,
    message: (p: { limit: number }) =>
      `Without a valid HMAC hash, the subscriber's fields and the context may have up to ${p.limit} bytes; send more from your backend`,
  },
  profile_field_refused: {
    status: 403,
    message: (p: { field: string }) =>
      `Pages may not change ${p.field} in this environment; change it from your backend, or allow it in the settings of the environment`,
  },
  inbox_trigger_refused: {
    status: 403,
    message: says('Workflows cannot be triggered from a browser; trigger them from your backend with an API key'),
  },
  topic_not_joinable: {
    status: 403,
    message: (p: { key: string }) =>
      `Browsers cannot subscribe to topic ${p.key}: subscribe from your backend, or create the topic with joinableFromBrowser`,
  },
  shared_connection_refused: {
    status: 403,
    message: (p: { identifier: string }) =>
      `Connection ${p.identifier} is shared: disconnecting it needs a session with a valid contextHash, or your backend`,
  },
  own_endpoint_refused: {
    status: 403,
    message: says('Subscribers cannot declare endpoints themselves; create them from your backend with an API key'),
  },
  link_not_offered: {
    status: 400,
    message: (p: { identifier: string }) =>
      `Integration ${p.identifier} has no link to follow; use the sign-in URL of channel-endpoints/oauth`,
  },
  link_refused: {
    status: 400,
    message: (p: { vendor: string; reason: string }) =>
      `${p.vendor} does not work with this integration (${p.reason}); check its credentials, and that BELFRY_PUBLIC_URL is an HTTPS address that ${p.vendor} can reach`,
  },
  link_unavailable: {
    status: 502,
    message: (p: { vendor: string; reason: string }) =>
      `${p.vendor} gave no usable answer (${p.reason}), so there is no link. Please retry.`,
  },

  // messages, subscriber notifications, activity
  message_not_found: { status: 404, message: (p: { messageId: string }) => `Message with id ${p.messageId} not found` },
  message_subscriber_gone: {
    status: 400,
    message: (p: { messageId: string }) => `A subscriber was not found for message ${p.messageId}`,
  },
  messages_of_transaction_not_found: { status: 404, message: says('Invalid transactionId or channel') },
  message_page_too_large: {
    status: 400,
    message: (p: { limit: number }) => `Limit can not be larger then ${p.limit}`,
  },
  marking_subscriber_not_found: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber ${p.subscriberId} not found`,
  },
  marking_all_subscriber_not_found: {
    status: 404,
    message: (p: { subscriberId: string; environmentId: string }) =>
      `Subscriber ${p.subscriberId} does not exist in environment ${p.environmentId}, please provide a valid subscriber identifier`,
  },
  message_of_action_not_found: {
    status: 404,
    message: (p: { messageId: string }) => `Message ${p.messageId} not found`,
  },
  message_of_another_subscriber: {
    status: 400,
    message: (p: { messageId: string; subscriberId: string }) =>
      `Message ${p.messageId} was not sent to subscriber ${p.subscriberId}; nothing was changed`,
  },
  feed_subscriber_not_found: {
    status: 400,
    message: (p: { subscriberId: string }) =>
      `Subscriber not found for this environment with the id: ${p.subscriberId}. Make sure to create a subscriber before fetching the feed.`,
  },
  feed_payload_invalid: {
    status: 400,
    message: says('Invalid payload, the JSON object should be encoded to base64 string.'),
  },
  inbox_notification_not_found: {
    status: 404,
    message: (p: { notificationId: string }) => `Notification with id: ${p.notificationId} is not found.`,
  },
  notification_to_snooze_not_found: {
    status: 404,
    message: (p: { notificationId: string }) => `Notification id: '${p.notificationId}' not found`,
  },
  notification_not_snoozed: {
    status: 404,
    message: (p: { notificationId: string }) =>
      `Could not find a snoozed notification with id '${p.notificationId}'. It does not exist, or is not snoozed any more.`,
  },
  snooze_too_short: { status: 422, message: says('Snooze time must be at least 60 seconds in the future') },
  snooze_too_long: {
    status: 402,
    message: (p: { days: number }) => `Snooze time must be at most ${p.days} days in the future`,
  },
  button_not_found: {
    status: 400,
    message: (p: { type: string }) => `Could not perform action on the ${p.type} button because it does not exist.`,
  },
  notification_cursor_unknown: {
    status: 400,
    message: (p: { after: string }) =>
      `Notification "${p.after}" does not exist, so the list cannot continue after it; it may have been deleted. Start again from the newest`,
  },
  unread_and_archived: {
    status: 400,
    message: says('Filtering for unread and archived notifications is not supported.'),
  },
  data_filter_invalid: { status: 400, message: (p: { reason: string }) => p.reason },
  count_filters_invalid: {
    status: 400,
    message: says('Invalid filters, the JSON object should be provided.'),
  },
  activity_not_found: { status: 404, message: says('Notification not found') },
  activity_date_invalid: {
    status: 400,
    message: (p: { name: string; value: string }) =>
      `Invalid date format for parameter '${p.name}': ${p.value}. Please provide a valid ISO 8601 date string.`,
  },
  activity_range_invalid: {
    status: 400,
    message: says('Invalid date range: start date (after) must be earlier than end date (before)'),
  },
  activity_too_many_buckets: {
    status: 400,
    message: (p: { buckets: number; limit: number }) =>
      `That makes ${p.buckets} intervals, and at most ${p.limit} are shown; choose a longer interval or a shorter time range`,
  },
  run_not_waiting: {
    status: 409,
    message: says('The run is not waiting, so there is no wait to end'),
  },
  replay_workflow_gone: {
    status: 409,
    message: says('The workflow of this record has been deleted; trigger another one'),
  },
  replay_files_gone: {
    status: 409,
    message: says('The attachments of the trigger are no longer stored; trigger the workflow again with them'),
  },

  // topics and their subscriptions
  topic_not_found: { status: 404, message: (p: { key: string }) => `Topic with key ${p.key} not found` },
  topic_exists: { status: 409, message: (p: { key: string }) => `Topic with key "${p.key}" already exists` },
  invalid_topic_key: {
    status: 400,
    message: (p: { key: string }) =>
      `Invalid topic key: "${p.key}". Topic keys must contain only alphanumeric characters (a-z, A-Z, 0-9), hyphens (-), underscores (_), colons (:), or be a valid email address.`,
  },
  topic_has_subscribers: {
    status: 409,
    message: (p: { key: string }) => `Topic with key ${p.key} has subscribers; remove them before deleting it`,
  },
  subscription_not_found: {
    status: 404,
    message: (p: { identifier: string; key: string }) =>
      `Subscription with identifier ${p.identifier} not found for topic ${p.key}`,
  },
  own_subscription_not_found: {
    status: 404,
    message: (p: { identifier: string }) => `Subscription with identifier "${p.identifier}" is not found`,
  },
  subscription_refused: { status: 400, message: (p: { message: string }) => p.message },
  no_subscription_succeeded: { status: 400, message: says('Api Exception Raised with status 400') },
  subscriber_of_subscriptions_not_found: { status: 404, message: says('Subscriber not found') },
  topic_subscriber_not_found: {
    status: 404,
    message: (p: { subscriberId: string; key: string; environmentId: string }) =>
      `Subscriber ${p.subscriberId} not found for topic ${p.key} in the environment ${p.environmentId}`,
  },

  // integrations
  integration_exists: { status: 409, message: says('Integration with identifier already exists') },
  integration_to_change_not_found: { status: 404, message: (p: { id: string }) => `Entity with id ${p.id} not found` },
  integration_not_testable: {
    status: 400,
    message: (p: { providerId: string }) =>
      `${p.providerId} cannot send a test message; to see a message in an inbox, trigger a workflow with an in-app step`,
  },
  integration_not_found: { status: 404, message: (p: { id: string }) => `Integration with id ${p.id} not found` },
  integration_to_configure_not_found: {
    status: 404,
    message: (p: { id: string }) => `Integration not found, id: ${p.id}`,
  },
  integration_of_webhook_not_found: {
    status: 404,
    message: (p: { id: string }) => `Integration for ${p.id} was not found`,
  },
  integration_environment_not_found: {
    status: 404,
    message: (p: { environmentId: string }) => `Environment with id ${p.environmentId} not found`,
  },
  integration_unchanged: { status: 400, message: says('No properties found for update') },
  integration_check_failed: { status: 400, message: (p: { reason: string }) => p.reason },
  second_in_app_integration: { status: 400, message: says('One environment can only have one In app provider') },
  second_native_integration: {
    status: 409,
    message: (p: { brand: string; channel: string }) =>
      `Integration with ${p.brand} provider for ${p.channel} channel already exists`,
  },
  native_integration_not_offered: {
    status: 400,
    message: (p: { brand: string; providerId: string }) =>
      `Creating ${p.brand} integration for ${p.providerId} provider is not allowed`,
  },
  too_many_integrations: {
    status: 400,
    message: (p: { limit: number }) => `An environment cannot have more than ${p.limit} integrations`,
  },
  channel_without_primary: {
    status: 400,
    message: (p: { channel: string }) => `Channel ${p.channel} does not support primary`,
  },
  webhook_without_credentials: {
    status: 400,
    message: (p: { id: string }) => `Integration ${p.id} doesn't have credentials set up`,
  },
  inbound_integration_not_found: {
    status: 404,
    message: (p: { id: string }) => `Integration ${p.id} was not found in this environment`,
  },
  inbound_events_not_offered: {
    status: 404,
    message: (p: { providerId: string }) => `Provider ${p.providerId} does not report delivery events`,
  },
  inbound_webhook_off: {
    status: 400,
    message: says(
      'The integration does not accept delivery events; set "inboundWebhookEnabled" in its configurations, or call auto-configure',
    ),
  },
  inbound_signature_invalid: {
    status: 401,
    message: says('The signature is missing, or was not made with the signing key of this integration'),
  },
  inbound_not_verifiable: {
    status: 503,
    message: (p: { providerId: string }) =>
      `The signing keys of ${p.providerId} could not be fetched, so the request was not accepted. Please retry.`,
  },
  webhook_not_offered: {
    status: 400,
    message: (p: { providerId: string; channel: string }) =>
      `Webhook for ${p.providerId}-${p.channel} is not supported yet`,
  },

  // webhooks of ours
  webhook_endpoint_not_found: { status: 404, message: (p: { id: string }) => `Webhook endpoint ${p.id} not found` },
  webhook_endpoint_off: { status: 400, message: says('The webhook endpoint is disabled; enable it first') },
  webhook_event_not_found: { status: 404, message: (p: { id: string }) => `Webhook event ${p.id} not found` },
  too_many_webhook_endpoints: {
    status: 400,
    message: (p: { limit: number }) => `An environment cannot have more than ${p.limit} webhook endpoints`,
  },

  // channel connections and endpoints, chat OAuth
  channel_integration_not_found: {
    status: 404,
    message: (p: { identifier: string }) => `Integration not found: ${p.identifier}`,
  },
  channel_subscriber_not_found: {
    status: 404,
    message: (p: { subscriberId: string }) => `Subscriber not found: ${p.subscriberId}`,
  },
  shared_connection_needs_context: {
    status: 400,
    message: says('context is required when connectionMode is "shared"'),
  },
  subscriber_connection_needs_subscriber: {
    status: 400,
    message: says('subscriberId is required when connectionMode is "subscriber"'),
  },
  connection_needs_owner: { status: 400, message: says('Either subscriberId or context must be provided') },
  connection_exists: {
    status: 409,
    message: (p: {
      integrationIdentifier: string
      subscriberId: string | null
      contextKeys: string[]
      identifier: string
    }) => {
      const subscriber = p.subscriberId === null ? 'no subscriberId' : `subscriberId "${p.subscriberId}"`
      const context = p.contextKeys.length === 0 ? 'no context' : `context [${p.contextKeys.join(', ')}]`
      return `A channel connection already exists for integration "${p.integrationIdentifier}" with ${subscriber} and ${context}. Connection ID: ${p.identifier}`
    },
  },
  connection_identifier_exists: {
    status: 409,
    message: (p: { identifier: string; environmentId: string }) =>
      `Channel connection with identifier "${p.identifier}" already exists in environment "${p.environmentId}"`,
  },
  connection_not_found: {
    status: 404,
    message: (p: { identifier: string }) => `Channel connection with identifier '${p.identifier}' not found`,
  },
  connection_to_update_not_found: {
    status: 404,
    message: (p: { identifier: string }) => `Channel connection with identifier "${p.identifier}" not found`,
  },
  endpoint_connection_not_found: {
    status: 404,
    message: (p: { identifier: string }) => `Channel connection not found: ${p.identifier}`,
  },
  endpoint_identifier_exists: {
    status: 409,
    message: (p: { identifier: string; environmentId: string }) =>
      `Channel endpoint with identifier "${p.identifier}" already exists in environment "${p.environmentId}"`,
  },
  endpoint_format: { status: 400, message: (p: { type: string }) => endpointFormatText(p.type) },
  endpoint_not_found: {
    status: 404,
    message: (p: { identifier: string }) => `Channel endpoint with identifier '${p.identifier}' not found`,
  },
  endpoint_to_update_not_found: {
    status: 404,
    message: (p: { identifier: string; environmentId: string }) =>
      `Channel endpoint with identifier "${p.identifier}" not found in environment "${p.environmentId}"`,
  },
  oauth_integration_not_found: {
    status: 404,
    message: (p: { identifier: string; environmentId: string }) =>
      `Integration not found: ${p.identifier} in environment ${p.environmentId}`,
  },
  oauth_environment_not_found: {
    status: 404,
    message: (p: { environmentId: string }) => `Environment not found: ${p.environmentId}`,
  },
  oauth_credentials_missing: {
    status: 404,
    message: (p: { identifier: string; names: string[] }) =>
      `Integration ${p.identifier} is missing required OAuth credentials (${p.names.join(', ')})`,
  },
  webhook_needs_subscriber: { status: 400, message: says('subscriberId is required for incoming webhook') },
  oauth_denied: {
    status: 400,
    message: (p: { error: string; description: string | undefined }) =>
      `OAuth error: ${p.error}${p.description ? ` - ${p.description}` : ''}`,
  },
  oauth_parameter_missing: {
    status: 400,
    message: (p: { name: string }) => `Missing required OAuth parameter: ${p.name}`,
  },
  oauth_result_missing: { status: 400, message: says('Missing required OAuth parameters: code or tenant') },
  oauth_state_invalid: { status: 400, message: says('Invalid OAuth state parameter') },
  oauth_tenant_invalid: { status: 400, message: says('Invalid OAuth parameter: tenant') },
  oauth_consent_missing: {
    status: 400,
    message: says('MS Teams admin consent was not granted; an administrator of the tenant has to approve the app'),
  },
  oauth_refused: {
    status: 400,
    message: (p: { vendor: string; error: string }) => `${p.vendor} OAuth error: ${p.error}`,
  },
  oauth_unavailable: {
    status: 502,
    message: (p: { vendor: string; reason: string }) =>
      `${p.vendor} gave no usable answer (${p.reason}); nothing was connected. Please start again from the application`,
  },

  // environments, environment variables
  environment_not_found: {
    status: 404,
    message: (p: { environmentId: string }) => `Environment ${p.environmentId} not found`,
  },
  environment_to_update_not_found: { status: 401, message: says('Environment not found') },
  environment_name_reserved: { status: 422, message: says('Environment name cannot be Development or Production') },
  environment_name_fixed: {
    status: 422,
    message: says('Cannot update the name of Development or Production environments'),
  },
  environment_name_taken: { status: 400, message: says('Environment name must be unique') },
  environment_identifier_taken: { status: 400, message: says('Environment identifier must be unique') },
  too_many_environments: {
    status: 400,
    message: (p: { limit: number }) => `Organization cannot have more than ${p.limit} environments`,
  },
  too_many_held_environments: {
    status: 400,
    message: (p: { limit: number }) => `Organization cannot have more than ${p.limit} environments with a held clock`,
  },
  clock_not_held: {
    status: 409,
    message: says('The clock of this environment is not held; make an environment with a clock to move it'),
  },
  clock_moving: {
    status: 409,
    message: (p: { to: string }) => `The clock is being advanced to ${p.to}. Please retry.`,
  },
  clock_started: {
    status: 409,
    message: says('Triggers have been taken since; advance the clock, or make another environment'),
  },
  clock_backwards: {
    status: 422,
    message: (p: { now: string }) => `The clock stands at ${p.now} and does not go back`,
  },
  clock_out_of_range: {
    status: 422,
    message: says('The clock goes from 2000 to 2100, and at most 366 days at once'),
  },
  clock_fixed: {
    status: 422,
    message: says("Whether an environment's clock is held is decided when it is made"),
  },
  clock_sandbox_only: {
    status: 422,
    message: (p: { providerId: string }) =>
      `An environment whose clock is held sends to the sandbox only, not through ${p.providerId}`,
  },
  parent_environment_not_found: {
    status: 400,
    message: (p: { parentId: string }) => `Parent environment ${p.parentId} not found in this organization`,
  },
  environment_own_ancestor: { status: 400, message: says('An environment cannot be its own parent or ancestor') },
  environment_protected: {
    status: 400,
    message: (p: { name: string }) =>
      `The ${p.name} environment is protected and cannot be deleted. Only custom environments can be deleted.`,
  },
  variable_not_found: {
    status: 404,
    message: (p: { key: string }) => `Environment variable with key "${p.key}" not found`,
  },
  variable_exists: {
    status: 409,
    message: (p: { key: string }) => `Environment variable with key "${p.key}" already exists`,
  },
  too_many_variables: {
    status: 400,
    message: (p: { limit: number }) => `Organization cannot have more than ${p.limit} environment variables`,
  },
  variable_patch_empty: { status: 400, message: says('At least one field must be provided to update') },
  variable_value_masked: {
    status: 400,
    message: (p: { mask: string }) => `The value "${p.mask}" is the mask of a secret; send the value itself`,
  },
  variable_environment_unknown: {
    status: 400,
    message: (p: { environmentId: string }) => `Environment ${p.environmentId} is not part of this organization`,
  },
  variable_stays_secret: {
    status: 400,
    message: (p: { key: string }) =>
      `Environment variable "${p.key}" is a secret; to show it, send a new value for every environment that has one`,
  },

  // workflows
  trigger_payload_too_large: {
    status: 413,
    message: (p: { bytes: number; limit: number; index: number | undefined }) =>
      `The payload${p.index === undefined ? '' : ` of event ${p.index}`} has ${p.bytes} bytes; at most ${p.limit} are allowed, attachments not counted`,
  },
  transaction_not_found: {
    status: 404,
    message: (p: { transactionId: string }) =>
      `There is no trigger with the transaction id ${p.transactionId}, or it has expired`,
  },
  /** The answer to a trigger of an unknown workflow; clients compare the text. */
  workflow_version_not_found: {
    status: 404,
    message: (p: { workflowId: string; version: number }) =>
      `Workflow "${p.workflowId}" has no version ${p.version}, or it is no longer kept`,
  },
  simulation_invalid: {
    status: 422,
    message: (p: { where: string; problem: string }) => `The scenario cannot be played: ${p.where}: ${p.problem}`,
  },
  simulation_too_large: {
    status: 422,
    message: (p: { most: number; what: string }) =>
      `The scenario comes to more than ${p.most} ${p.what}; make it smaller`,
  },
  simulation_needs_answers: {
    status: 422,
    message: (p: { workflowId: string; steps: string[] }) =>
      `Workflow "${p.workflowId}" is defined in code, which is not called here; say in \`answers\` what it would say for ${p.steps.join(', ')}`,
  },
  impact_stale: {
    status: 409,
    message: says('The workflow or the change is not the one that was looked at; look again'),
  },
  too_many_simulations: { status: 429, message: says('Too many simulations are under way. Please retry.') },
  unknown_trigger: { status: 422, message: says('workflow_not_found') },
  workflow_not_found: { status: 404, message: says('Workflow cannot be found') },
  workflow_step_not_found: { status: 400, message: says('No step found') },
  too_many_workflows: {
    status: 400,
    message: (p: { limit: number }) => `An environment cannot have more than ${p.limit} workflows`,
  },
  workflow_exists: {
    status: 409,
    message: (p: { workflowId: string }) => `Workflow "${p.workflowId}" exists already; use PUT, or onConflict=update`,
  },
  revision_changed: {
    status: 412,
    message: (p: { revision: string | undefined }) =>
      `It has been changed since you read it (it is ${p.revision ?? 'gone'} now); read it again`,
  },
  too_many_topics_to_define: {
    status: 422,
    message: (p: { limit: number }) =>
      `The environment has more than ${p.limit} topics; name the ones you keep in files with ids`,
  },
  definitions_conflict: {
    status: 409,
    message: (p: { count: number }) =>
      `${p.count} of them ${p.count === 1 ? 'was' : 'were'} changed since; pull first, or say which ones to overwrite`,
  },
  definitions_invalid: {
    status: 422,
    message: (p: { count: number }) =>
      `${p.count} ${p.count === 1 ? 'problem' : 'problems'} in the definitions; nothing was changed`,
  },
  message_id_taken: { status: 409, message: (p: { id: string }) => `Message "${p.id}" belongs to another subscriber` },
  subscription_identifier_taken: {
    status: 409,
    message: (p: { identifier: string }) => `Another subscription has the identifier "${p.identifier}"`,
  },
  too_many_topic_subscriptions: {
    status: 400,
    message: (p: { limit: number; topicKey: string }) =>
      `A subscriber has at most ${p.limit} subscriptions to topic "${p.topicKey}"`,
  },
  upstream_unavailable: {
    status: 502,
    message: (p: { reason: string }) => `The service behind this environment gave no answer (${p.reason})`,
  },
  shadow_not_set: {
    status: 409,
    message: says('This environment stands in front of no other service; make an environment with `shadow` for that'),
  },
  shadow_without_clock: {
    status: 422,
    message: says('An environment in front of another service has no held clock; leave out `clock` or `shadow`'),
  },
  past_retention: { status: 422, message: says('Older than messages are kept here') },
  owned_by_files: {
    status: 409,
    message: (p: { id: string; path: string }) =>
      `"${p.id}" is kept in files (${p.path}); change it there, or release it`,
  },
  layout_version_not_found: {
    status: 404,
    message: (p: { layoutId: string; version: number }) =>
      `Layout "${p.layoutId}" has no version ${p.version}, or it is no longer kept`,
  },
  too_many_steps: {
    status: 400,
    message: (p: { limit: number }) => `A workflow cannot have more than ${p.limit} steps`,
  },
  workflow_changed: {
    status: 409,
    message: (p: { version: number }) =>
      `Somebody saved version ${p.version} of the workflow since; merge your change with it and save again with that \`baseVersion\``,
  },
  workflow_id_taken: {
    status: 400,
    message: (p: { workflowId: string }) =>
      `Another workflow has the identifier "${p.workflowId}"; choose a different one`,
  },
  event_not_found: {
    status: 404,
    message: (p: { id: string }) => `There is no event ${p.id}, or it is no longer kept`,
  },
  event_payload_too_large: {
    status: 413,
    message: (p: { bytes: number; limit: number }) =>
      `The payload of the event has ${p.bytes} bytes; at most ${p.limit} are taken`,
  },
  question_not_found: { status: 404, message: (p: { id: string }) => `Question ${p.id} not found` },
  question_closed: { status: 409, message: (p: { state: string }) => `The question is closed: ${p.state}` },
  answer_unknown: {
    status: 422,
    message: (p: { answer: string; answers: string }) => `"${p.answer}" is not among the answers: ${p.answers}`,
  },
  answer_needs_text: { status: 422, message: says('This question asks for a text beside the answer') },
  answer_too_long: {
    status: 422,
    message: (p: { limit: number }) => `The text beside an answer has at most ${p.limit} characters`,
  },
  not_asked: { status: 403, message: (p: { subscriberId: string }) => `${p.subscriberId} was not asked this question` },
  rota_exists: { status: 409, message: (p: { rotaId: string }) => `Rota "${p.rotaId}" exists already` },
  rota_not_found: { status: 404, message: (p: { rotaId: string }) => `Rota "${p.rotaId}" not found` },
  rota_in_use: {
    status: 409,
    message: (p: { rotaId: string; workflows: string }) => `Rota "${p.rotaId}" is used by ${p.workflows}`,
  },
  too_many_rotas: {
    status: 400,
    message: (p: { limit: number }) => `An environment cannot have more than ${p.limit} rotas`,
  },
  event_for_nobody: {
    status: 422,
    message: () => 'An event needs a subscriberId, a key, or both',
  },
  branch_too_deep: {
    status: 400,
    message: (p: { limit: number; stepId: string }) =>
      `Branches can be nested ${p.limit} deep; move what is inside "${p.stepId}" into a workflow of its own`,
  },
  step_id_taken: {
    status: 400,
    message: (p: { stepId: string }) => `Another step has the identifier "${p.stepId}"; choose a different one`,
  },
  step_layout_not_found: {
    status: 404,
    message: (p: { layoutId: string }) => `Layout "${p.layoutId}" cannot be found; nothing was saved`,
  },
  workflow_not_duplicable: {
    status: 400,
    message: (p: { origins: string[] }) => `Only workflows of these origins can be duplicated: ${p.origins.join(', ')}`,
  },
  environment_id_malformed: {
    status: 400,
    message: (p: { environmentId: string }) => `"${p.environmentId}" is not the internal id of an environment`,
  },
  payload_invalid: {
    status: 400,
    message: (p: { problems: string[] }) => `Payload validation failed: ${p.problems.join('; ')}`,
  },

  // environment diff and publish, workflow sync
  publish_environment_not_found: {
    status: 400,
    message: (p: { environmentId: string }) => `Environment ${p.environmentId} not found`,
  },
  publish_into_itself: {
    status: 400,
    message: says('Source and target environment are the same; name two different ones'),
  },
  workflow_not_publishable: {
    status: 400,
    message: (p: { workflowId: string }) =>
      `Workflow "${p.workflowId}" cannot be copied to another environment: only workflows made in the dashboard or with the API can`,
  },
  published_identifier_taken: {
    status: 400,
    message: (p: { workflowId: string }) =>
      `The target environment already has a workflow "${p.workflowId}" of another origin, and publishing does not overwrite it; nothing was published. To publish the others, name them in resources`,
  },

  // deliveries and the sandbox
  delivery_not_found: {
    status: 404,
    message: (p: { id: string }) => `There is no failed delivery with the id ${p.id}`,
  },
  delivery_not_redrivable: {
    status: 409,
    message: (p: { id: string }) =>
      `Delivery ${p.id} cannot be sent again: its subscriber, workflow or trigger has been deleted`,
  },
  delivery_suppressed: {
    status: 409,
    message: (p: { id: string }) => `Delivery ${p.id} is held back by the suppression list; remove the entry first`,
  },
  sandbox_message_not_found: {
    status: 404,
    message: (p: { id: string }) => `The sandbox has no message with the id ${p.id}`,
  },

  // tenants
  tenant_not_found: {
    status: 404,
    message: (p: { identifier: string; environmentId: string }) =>
      `Tenant with identifier: ${p.identifier} does not exist under environment ${p.environmentId}`,
  },
  tenant_exists: {
    status: 409,
    message: (p: { identifier: string; environmentId: string }) =>
      `Tenant with identifier: ${p.identifier} already exists under environment ${p.environmentId}`,
  },

  workflow_override_not_found: {
    status: 404,
    message: says('Workflow override not found; it was deleted, or the tenant has none for this workflow'),
  },
  workflow_override_exists: {
    status: 409,
    message: (p: { workflowId: string; tenantId: string }) =>
      `Tenant ${p.tenantId} already has an override for workflow ${p.workflowId}; change that one`,
  },

  // layouts
  layout_not_found: { status: 404, message: says('Layout cannot be found') },
  layout_exists: {
    status: 409,
    message: (p: { layoutId: string }) => `Layout with identifier "${p.layoutId}" already exists`,
  },
  default_layout_kept: {
    status: 409,
    message: (p: { layoutId: string }) =>
      `Layout "${p.layoutId}" is the default layout of the environment and cannot be deleted`,
  },
  too_many_layouts: {
    status: 400,
    message: (p: { limit: number }) => `An environment cannot have more than ${p.limit} layouts`,
  },
  layout_invalid: {
    status: 400,
    message: says('The layout was not saved; `controls` lists what is wrong with its content'),
  },

  // translations
  translated_resource_not_found: {
    status: 404,
    message: (p: { resourceType: string; resourceId: string }) =>
      `There is no ${p.resourceType} with the identifier "${p.resourceId}"`,
  },
  translations_disabled: {
    status: 404,
    message: (p: { resourceType: string; resourceId: string }) =>
      `Translation is not enabled for the ${p.resourceType} "${p.resourceId}"; set its isTranslationEnabled to true first`,
  },
  translation_not_found: {
    status: 404,
    message: (p: { resourceType: string; resourceId: string; locale: string }) =>
      `The ${p.resourceType} "${p.resourceId}" has no translation for ${p.locale}`,
  },
  translation_file_names: {
    status: 400,
    message: says('Translation files are named after a supported locale, such as en_US.json, one file per locale'),
  },
  translation_locales_not_configured: {
    status: 400,
    message: says('Add the locale to the target locales of the organization before uploading texts for it'),
  },
  no_translation_files: { status: 400, message: says('No valid translation files') },
  master_json_file_count: {
    status: 400,
    message: says('Send exactly one master JSON file, named after its locale, such as en_US.json'),
  },
  master_json_invalid: {
    status: 400,
    message: (p: { reason: string }) => `The master JSON file cannot be imported: ${p.reason}`,
  },

  // code-first workflows, HTTP request steps
  bridge_not_configured: {
    status: 400,
    message: says('The environment has no bridge URL; sync it with POST /v1/bridge/sync first'),
  },
  bridge_failed: { status: 400, message: (p: { reason: string }) => p.reason },
  bridge_workflow_invalid: {
    status: 400,
    message: (p: { workflow: string; reason: string }) => `Workflow "${p.workflow}" cannot be synced: ${p.reason}`,
  },
  bridge_workflow_taken: {
    status: 400,
    message: (p: { workflowId: string }) =>
      `Workflow "${p.workflowId}" already exists and was not made by code; rename one of the two`,
  },
  bridge_step_not_found: {
    status: 404,
    message: (p: { workflowId: string; stepId: string }) =>
      `Code-first workflow "${p.workflowId}" with a step "${p.stepId}" not found`,
  },
  // consent
  suppression_not_found: { status: 404, message: (p: { id: string }) => `There is no suppression ${p.id}` },
  suppression_address_invalid: {
    status: 422,
    message: (p: { address: string; channel: string }) => `"${p.address}" is no address for ${p.channel}`,
  },
  suppression_workflow_unknown: {
    status: 422,
    message: (p: { workflowId: string }) => `There is no workflow ${p.workflowId}`,
  },
  suppression_expired: {
    status: 422,
    message: says('expiresAt lies in the past, leave it out to suppress for ever'),
  },
  suppression_protected: {
    status: 409,
    message: says('Somebody has complained; to write to this address again, say force=true'),
  },
  workflow_not_braked: {
    status: 409,
    message: (p: { workflowId: string }) => `Workflow ${p.workflowId} is not braked`,
  },
  commercial_critical: {
    status: 400,
    message: says('A critical workflow cannot be commercial: people could not refuse it'),
  },
  unsubscribe_body: { status: 400, message: says('To unsubscribe, post List-Unsubscribe=One-Click') },
  preferences_body: { status: 400, message: says('To save preferences, post the form of the page') },
  link_unknown: { status: 404, message: says('This link is not one of ours') },
  link_expired: { status: 410, message: says('This link has expired: use the one in a newer message') },
  preferences_session: { status: 403, message: says('This token opens preferences only') },
  web_push_off: { status: 404, message: says('Web push is switched off in this environment') },
  push_subscription_invalid: {
    status: 422,
    message: (p: { reason: string }) => `The push subscription cannot be used: ${p.reason}`,
  },
  push_subscription_not_found: {
    status: 404,
    message: (p: { id: string }) => `There is no push subscription ${p.id}`,
  },
  snooze_invalid: {
    status: 422,
    message: (p: { days: number }) => `A pause ends in the future, and within ${p.days} days`,
  },
  link_base_unreachable: {
    status: 400,
    message: (p: { url: string; reason: string }) => `${p.url} does not lead to this service (${p.reason})`,
  },
  deliverability_not_offered: { status: 400, message: says('Only e-mail integrations have a domain to check') },
  deliverability_no_sender: {
    status: 400,
    message: says('The integration has no From address: name a domain'),
  },
  csv_expected: {
    status: 415,
    message: (p: { contentType: string }) => `Unsupported content type "${p.contentType}"; send text/csv`,
  },
  csv_invalid: { status: 400, message: (p: { reason: string }) => `The file cannot be read: ${p.reason}` },
  too_many_rows: { status: 413, message: (p: { limit: number }) => `At most ${p.limit} rows are taken at once` },
  http_request_invalid: { status: 400, message: (p: { reason: string }) => `The request cannot be made: ${p.reason}` },
} satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorTable
interface Extras {
  /** Extra members of the answer, under `ctx` and, for older callers, at the top level too. */
  ctx?: Record<string, unknown>
  headers?: Record<string, string>
  cause?: unknown
}

export class RequestError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly ctx: Record<string, unknown> | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, message: string, extras: Extras) {
    super(message, { cause: extras.cause })
    this.code = code
    this.status = errorTable[code].status
    this.ctx = extras.ctx
    this.headers = extras.headers ?? {}
  }
}

type Arguments<Code extends ErrorCode> =
  Parameters<(typeof errorTable)[Code]['message']> extends [infer Params]
    ? [params: Params, extras?: Extras]
    : [params?: undefined, extras?: Extras]

/** Why the service cannot start or continue, worded for its operator; clients never see it. */
export class StartError extends Error {}

/** One clear message for known problems; the stack trace for the others. */
export function explainError(error: unknown): string {
  if (!(error instanceof StartError)) return (error as Error).stack ?? String(error)
  const { message, cause } = error
  return cause instanceof Error ? `${message}\nReason: ${reasonOf(cause)}` : message
}

/** When several addresses fail, the combined error has a code but no message. */
export function reasonOf({ message, code = 'unknown' }: NodeJS.ErrnoException): string {
  return message || code
}

/** Creates the error with this code; `params` fill in its sentence. */
export function fail<Code extends ErrorCode>(code: Code, ...[params, extras]: Arguments<Code>): RequestError {
  const sentence = errorTable[code].message as (params: unknown) => string
  return new RequestError(code, sentence(params), extras ?? {})
}
