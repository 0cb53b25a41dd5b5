// The whole API: one line per resource.
import { channelConnections } from './channel-connections.ts'
import { channelEndpoints } from './channel-endpoints.ts'
import { chatOAuth } from './chat-oauth.ts'
import { chatOAuthCallback } from './chat-oauth-callback.ts'
import { contexts } from './contexts.ts'
import { environmentVariables } from './environment-variables.ts'
import { environments } from './environments.ts'
import { health } from './health.ts'
import { integrations } from './integrations.ts'
import type { Resource } from './resource.ts'
import { subscriberCredentials } from './subscriber-credentials.ts'
import { subscribers } from './subscribers.ts'
import { subscribersV1 } from './subscribers-v1.ts'
import { tenants } from './tenants.ts'
import { topicSubscriptions } from './topic-subscriptions.ts'
import { topics } from './topics.ts'
import { topicsV1 } from './topics-v1.ts'

export const resources: Resource[] = [
  health,
  contexts,
  subscribers,
  subscribersV1,
  subscriberCredentials,
  integrations,
  channelConnections,
  channelEndpoints,
  chatOAuth,
  chatOAuthCallback,
  tenants,
  environments,
  environmentVariables,
  topics,
  topicSubscriptions,
  topicsV1,
]
