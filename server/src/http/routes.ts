// The whole API: one line per resource.

import { account } from './account.ts'
import { activityCharts } from './activity-charts.ts'
import { audit } from './audit.ts'
import { botLinks } from './bot-links.ts'
import { bridges } from './bridge.ts'
import { channelConnections } from './channel-connections.ts'
import { channelEndpoints } from './channel-endpoints.ts'
import { chatOAuth } from './chat-oauth.ts'
import { chatOAuthCallback } from './chat-oauth-callback.ts'
import { contexts } from './contexts.ts'
import { dashboard } from './dashboard.ts'
import { deliveries } from './deliveries.ts'
import { demo } from './demo.ts'
import { environmentPublish } from './environment-publish.ts'
import { environmentRetention } from './environment-retention.ts'
import { environmentVariables } from './environment-variables.ts'
import { environments } from './environments.ts'
import { events } from './events.ts'
import { health } from './health.ts'
import { inboundWebhooks } from './inbound-webhooks.ts'
import { inboxChannels } from './inbox-channels.ts'
import { inboxFiles } from './inbox-files.ts'
import { inboxNotifications } from './inbox-notifications.ts'
import { inboxPreferences } from './inbox-preferences.ts'
import { inboxSession } from './inbox-session.ts'
import { inboxSubscriber } from './inbox-subscriber.ts'
import { inboxSubscriptions } from './inbox-subscriptions.ts'
import { integrationHealth } from './integration-health.ts'
import { integrationTest } from './integration-test.ts'
import { integrations } from './integrations.ts'
import { invitations } from './invitations.ts'
import { layouts } from './layouts.ts'
import { members } from './members.ts'
import { messages } from './messages.ts'
import { notifications } from './notifications.ts'
import { oidc } from './oidc.ts'
import { organizations } from './organizations.ts'
import { preferences } from './preferences.ts'
import { preferencesV1 } from './preferences-v1.ts'
import { previews } from './preview.ts'
import { providers } from './providers.ts'
import type { Resource } from './resource.ts'
import { sandbox } from './sandbox.ts'
import { signIn } from './sign-in.ts'
import { subscriberCredentials } from './subscriber-credentials.ts'
import { subscriberData } from './subscriber-data.ts'
import { subscriberMessages } from './subscriber-messages.ts'
import { subscriberNotifications } from './subscriber-notifications.ts'
import { subscribers } from './subscribers.ts'
import { subscribersV1 } from './subscribers-v1.ts'
import { tenants } from './tenants.ts'
import { topicSubscriptions } from './topic-subscriptions.ts'
import { topics } from './topics.ts'
import { topicsV1 } from './topics-v1.ts'
import { translationFiles } from './translation-files.ts'
import { translations } from './translations.ts'
import { triggerReport } from './trigger-report.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'
import { webhookEvents } from './webhook-events.ts'
import { workflowOverrides } from './workflow-overrides.ts'
import { workflowSync } from './workflow-sync.ts'
import { workflows } from './workflows.ts'

export const resources: Resource[] = [
  health,
  events,
  triggerReport,
  contexts,
  subscribers,
  subscribersV1,
  subscriberCredentials,
  preferences,
  preferencesV1,
  subscriberData,
  subscriberMessages,
  subscriberNotifications,
  inboxFiles,
  inboxSession,
  inboxNotifications,
  inboxPreferences,
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
  environmentPublish,
  environmentRetention,
  environmentVariables,
  topics,
  topicSubscriptions,
  topicsV1,
  workflows,
  workflowSync,
  layouts,
  translations,
  translationFiles,
  organizations,
  previews,
  bridges,
  signIn,
  oidc,
  account,
  members,
  invitations,
  audit,
  demo,
  dashboard,
]
