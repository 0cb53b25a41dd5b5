// The whole API: one line per resource.

import { activityCharts } from './activity/charts.ts'
import { deliveries } from './activity/deliveries.ts'
import { messages } from './activity/messages.ts'
import { notifications } from './activity/notifications.ts'
import { triggerReport } from './activity/trigger-report.ts'
import { links } from './consent/links.ts'
import { preferencesLink } from './consent/preferences.ts'
import { consentSettings } from './consent/settings.ts'
import { suppressions } from './consent/suppressions.ts'
import { layouts } from './content/layouts.ts'
import { translationFiles } from './content/translation-files.ts'
import { translations } from './content/translations.ts'
import { definitions } from './definitions/definitions.ts'
import { history } from './definitions/history.ts'
import { definitionPushes } from './definitions/pushes.ts'
import { audit } from './edge/audit.ts'
import { health } from './edge/health.ts'
import type { Resource } from './edge/resource.ts'
import { imports } from './import/import.ts'
import { botLinks } from './inbox/bot-links.ts'
import { inboxChannels } from './inbox/channels.ts'
import { inboxNotifications } from './inbox/notifications.ts'
import { inboxPreferences } from './inbox/preferences.ts'
import { inboxPush, pushSubscriptions } from './inbox/push.ts'
import { inboxSession } from './inbox/session.ts'
import { inboxSubscriber } from './inbox/subscriber.ts'
import { subscriberMessages } from './inbox/subscriber-messages.ts'
import { subscriberNotifications } from './inbox/subscriber-notifications.ts'
import { inboxSubscriptions } from './inbox/subscriptions.ts'
import { channelConnections } from './integrations/channel-connections.ts'
import { channelEndpoints } from './integrations/channel-endpoints.ts'
import { chatOAuth } from './integrations/chat-oauth.ts'
import { chatOAuthCallback } from './integrations/chat-oauth-callback.ts'
import { deliverability } from './integrations/deliverability.ts'
import { integrationHealth } from './integrations/health.ts'
import { inboundWebhooks } from './integrations/inbound-webhooks.ts'
import { integrations } from './integrations/integrations.ts'
import { providers } from './integrations/providers.ts'
import { sandbox } from './integrations/sandbox.ts'
import { integrationTest } from './integrations/test-message.ts'
import { account } from './organization/account.ts'
import { apiKeys } from './organization/api-keys.ts'
import { clocks } from './organization/clock.ts'
import { environmentDoors } from './organization/environment-doors.ts'
import { environments } from './organization/environments.ts'
import { forgottenPassword } from './organization/forgotten-password.ts'
import { guards } from './organization/guards.ts'
import { inboxAccess } from './organization/inbox-access.ts'
import { invitations } from './organization/invitations.ts'
import { members } from './organization/members.ts'
import { oidc } from './organization/oidc.ts'
import { organizations } from './organization/organizations.ts'
import { ownFactors } from './organization/own-factors.ts'
import { environmentProtection } from './organization/protection.ts'
import { prove } from './organization/prove.ts'
import { environmentPublish } from './organization/publish.ts'
import { publishRequests } from './organization/publish-requests.ts'
import { environmentRetention } from './organization/retention.ts'
import { savedViews } from './organization/saved-views.ts'
import { secondStep } from './organization/second-step.ts'
import { signIn } from './organization/sign-in.ts'
import { signingSecrets } from './organization/signing-secrets.ts'
import { environmentVariables } from './organization/variables.ts'
import { refusedCalls } from './outbox/refused.ts'
import { answerPage } from './questions/answer-page.ts'
import { questions } from './questions/questions.ts'
import { rotas } from './questions/rotas.ts'
import { shadow } from './shadow/shadow.ts'
import { simulations } from './simulate/simulations.ts'
import { dashboard } from './site/dashboard.ts'
import { demo } from './site/demo.ts'
import { inboxFiles } from './site/inbox-files.ts'
import { contexts } from './subscribers/contexts.ts'
import { subscriberCredentials } from './subscribers/credentials.ts'
import { subscriberData } from './subscribers/data.ts'
import { preferences } from './subscribers/preferences.ts'
import { preferencesV1 } from './subscribers/preferences-v1.ts'
import { subscribers } from './subscribers/subscribers.ts'
import { subscribersV1 } from './subscribers/subscribers-v1.ts'
import { tenants } from './subscribers/tenants.ts'
import { topicSubscriptions } from './subscribers/topic-subscriptions.ts'
import { topics } from './subscribers/topics.ts'
import { topicsV1 } from './subscribers/topics-v1.ts'
import { events } from './triggers/events.ts'
import { postedEvents } from './triggers/posted-events.ts'
import { webhookEndpoints } from './webhooks/endpoints.ts'
import { webhookEvents } from './webhooks/events.ts'
import { workflowBrakes } from './workflows/brake.ts'
import { bridges } from './workflows/bridge.ts'
import { workflowOverrides } from './workflows/overrides.ts'
import { workflowPresence } from './workflows/presence.ts'
import { previews } from './workflows/preview.ts'
import { workflowSync } from './workflows/sync.ts'
import { workflows } from './workflows/workflows.ts'

export const resources: Resource[] = [
  health,
  events,
  postedEvents,
  refusedCalls,
  questions,
  rotas,
  simulations,
  triggerReport,
  contexts,
  subscribers,
  subscribersV1,
  subscriberCredentials,
  preferences,
  preferencesV1,
  subscriberData,
  suppressions,
  links,
  answerPage,
  subscriberMessages,
  subscriberNotifications,
  inboxFiles,
  inboxSession,
  inboxNotifications,
  inboxPreferences,
  inboxPush,
  pushSubscriptions,
  inboxSubscriber,
  inboxSubscriptions,
  inboxChannels,
  messages,
  notifications,
  activityCharts,
  integrations,
  inboundWebhooks,
  webhookEndpoints,
  webhookEvents,
  integrationHealth,
  deliverability,
  integrationTest,
  deliveries,
  sandbox,
  providers,
  channelConnections,
  channelEndpoints,
  chatOAuth,
  chatOAuthCallback,
  botLinks,
  tenants,
  workflowOverrides,
  environments,
  clocks,
  environmentPublish,
  publishRequests,
  environmentRetention,
  guards,
  consentSettings,
  preferencesLink,
  environmentDoors,
  environmentProtection,
  apiKeys,
  signingSecrets,
  inboxAccess,
  environmentVariables,
  topics,
  topicSubscriptions,
  topicsV1,
  workflows,
  workflowBrakes,
  workflowPresence,
  workflowSync,
  layouts,
  translations,
  translationFiles,
  definitions,
  definitionPushes,
  history,
  imports,
  shadow,
  organizations,
  previews,
  bridges,
  signIn,
  forgottenPassword,
  secondStep,
  oidc,
  account,
  ownFactors,
  prove,
  members,
  invitations,
  savedViews,
  audit,
  demo,
  dashboard,
]
