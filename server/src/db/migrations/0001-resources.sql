-- Organizations, environments and everything a caller configures before the first notification.
-- Every unique key starts with environment_id: an environment is the unit of isolation and, later, of sharding.

CREATE TABLE organizations (
  id            text COLLATE "C" PRIMARY KEY,
  name          text NOT NULL,
  owner_user_id text COLLATE "C" NOT NULL,
  created_at    timestamptz(3) NOT NULL
);

CREATE TABLE environments (
  id              text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organizations,
  name            text NOT NULL,
  identifier      text COLLATE "C" NOT NULL UNIQUE,
  type            text NOT NULL CHECK (type IN ('dev', 'prod')),
  color           text,
  parent_id       text COLLATE "C",
  dns             jsonb NOT NULL DEFAULT '{}',
  bridge          jsonb NOT NULL DEFAULT '{}',
  rate_limits     jsonb,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX environments_name ON environments (organization_id, lower(name));

-- A request finds its environment by the SHA-256 of its key; the key itself is kept encrypted so that it can be shown again.
CREATE TABLE api_keys (
  hash           text COLLATE "C" PRIMARY KEY,
  environment_id text COLLATE "C" NOT NULL REFERENCES environments ON DELETE CASCADE,
  encrypted_key  text NOT NULL,
  user_id        text COLLATE "C" NOT NULL,
  created_at     timestamptz(3) NOT NULL
);
CREATE INDEX api_keys_environment ON api_keys (environment_id);

CREATE TABLE environment_variables (
  id              text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organizations,
  key             text COLLATE "C" NOT NULL,
  type            text NOT NULL,
  is_secret       boolean NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  UNIQUE (organization_id, key)
);

CREATE TABLE environment_variable_values (
  variable_id    text COLLATE "C" NOT NULL REFERENCES environment_variables ON DELETE CASCADE,
  environment_id text COLLATE "C" NOT NULL REFERENCES environments ON DELETE CASCADE,
  value          text NOT NULL,
  PRIMARY KEY (variable_id, environment_id)
);

CREATE TABLE workflows (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  identifier     text COLLATE "C" NOT NULL,
  name           text NOT NULL,
  active         boolean NOT NULL DEFAULT false,
  critical       boolean NOT NULL DEFAULT false,
  severity       text NOT NULL DEFAULT 'none',
  tags           text[] NOT NULL DEFAULT '{}',
  data           jsonb,
  steps          jsonb NOT NULL DEFAULT '[]',
  preferences    jsonb NOT NULL DEFAULT '{}',
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, identifier)
);

CREATE TABLE subscribers (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  subscriber_id  text COLLATE "C" NOT NULL,
  first_name     text,
  last_name      text,
  email          text,
  phone          text,
  avatar         text,
  locale         text,
  timezone       text,
  data           jsonb,
  channels       jsonb NOT NULL DEFAULT '[]',
  is_online      boolean NOT NULL DEFAULT false,
  last_online_at timestamptz(3),
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, subscriber_id)
);
CREATE INDEX subscribers_updated ON subscribers (environment_id, updated_at, id);

CREATE TABLE topics (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  key            text COLLATE "C" NOT NULL,
  name           text,
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, key)
);
CREATE INDEX topics_created ON topics (environment_id, created_at, id);
CREATE INDEX topics_updated ON topics (environment_id, updated_at, id);

-- No foreign keys here: five million rows would pay for them on every insert. The insert itself takes its
-- subscribers and topic FOR KEY SHARE, and deleting either removes its subscriptions in the same transaction.
CREATE TABLE topic_subscriptions (
  environment_id    text COLLATE "C" NOT NULL,
  id                text COLLATE "C" NOT NULL,
  topic_id          text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  identifier        text COLLATE "C" NOT NULL,
  name              text,
  context_keys      text[] COLLATE "C" NOT NULL DEFAULT '{}',
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, identifier)
);
CREATE INDEX topic_subscriptions_topic ON topic_subscriptions (environment_id, topic_id, id);
CREATE INDEX topic_subscriptions_subscriber ON topic_subscriptions (environment_id, subscriber_row_id, id) INCLUDE (topic_id);

CREATE TABLE subscription_preferences (
  environment_id  text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C" NOT NULL,
  workflow_id     text COLLATE "C" NOT NULL,
  enabled         boolean NOT NULL,
  condition       jsonb,
  PRIMARY KEY (environment_id, subscription_id, workflow_id)
);

CREATE TABLE integrations (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  name           text NOT NULL,
  identifier     text COLLATE "C" NOT NULL,
  provider_id    text COLLATE "C" NOT NULL,
  channel        text NOT NULL CHECK (channel IN ('in_app', 'email', 'sms', 'chat', 'push')),
  kind           text NOT NULL DEFAULT 'delivery',
  credentials    jsonb NOT NULL DEFAULT '{}',
  configurations jsonb NOT NULL DEFAULT '{}',
  conditions     jsonb NOT NULL DEFAULT '[]',
  active         boolean NOT NULL DEFAULT false,
  is_primary     boolean NOT NULL DEFAULT false,
  priority       integer NOT NULL DEFAULT 0,
  deleted_at     timestamptz(3),
  deleted_by     text COLLATE "C",
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX integrations_identifier ON integrations (environment_id, identifier) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX integrations_primary ON integrations (environment_id, channel) WHERE is_primary AND deleted_at IS NULL;

CREATE TABLE channel_connections (
  environment_id         text COLLATE "C" NOT NULL,
  id                     text COLLATE "C" NOT NULL,
  identifier             text COLLATE "C" NOT NULL,
  integration_id         text COLLATE "C" NOT NULL,
  integration_identifier text COLLATE "C" NOT NULL,
  provider_id            text COLLATE "C" NOT NULL,
  channel                text NOT NULL,
  subscriber_id          text COLLATE "C",
  context_keys           text[] COLLATE "C" NOT NULL DEFAULT '{}',
  workspace              jsonb NOT NULL,
  encrypted_access_token text NOT NULL,
  created_at             timestamptz(3) NOT NULL,
  updated_at             timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, identifier)
);
CREATE UNIQUE INDEX channel_connections_resource ON channel_connections
  (environment_id, integration_id, subscriber_id, context_keys) NULLS NOT DISTINCT;
CREATE INDEX channel_connections_created ON channel_connections (environment_id, created_at, id);
CREATE INDEX channel_connections_updated ON channel_connections (environment_id, updated_at, id);

CREATE TABLE channel_endpoints (
  environment_id         text COLLATE "C" NOT NULL,
  id                     text COLLATE "C" NOT NULL,
  identifier             text COLLATE "C" NOT NULL,
  integration_id         text COLLATE "C" NOT NULL,
  integration_identifier text COLLATE "C" NOT NULL,
  provider_id            text COLLATE "C" NOT NULL,
  channel                text NOT NULL,
  connection_identifier  text COLLATE "C",
  subscriber_id          text COLLATE "C" NOT NULL,
  context_keys           text[] COLLATE "C" NOT NULL DEFAULT '{}',
  type                   text NOT NULL,
  endpoint               jsonb NOT NULL,
  created_at             timestamptz(3) NOT NULL,
  updated_at             timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, identifier)
);
CREATE INDEX channel_endpoints_created ON channel_endpoints (environment_id, created_at, id);
CREATE INDEX channel_endpoints_updated ON channel_endpoints (environment_id, updated_at, id);
CREATE INDEX channel_endpoints_subscriber ON channel_endpoints (environment_id, subscriber_id);

CREATE TABLE contexts (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  type           text COLLATE "C" NOT NULL,
  context_id     text COLLATE "C" NOT NULL,
  data           jsonb NOT NULL DEFAULT '{}',
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, type, context_id)
);
CREATE INDEX contexts_created ON contexts (environment_id, created_at, id);
CREATE INDEX contexts_updated ON contexts (environment_id, updated_at, id);

CREATE TABLE tenants (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  identifier     text COLLATE "C" NOT NULL,
  name           text,
  data           jsonb,
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, identifier)
);
CREATE INDEX tenants_created ON tenants (environment_id, created_at, id);

-- One row per POST or PATCH that carried an idempotency-key: first as a lock, then as its result.
CREATE TABLE idempotency_keys (
  environment_id text COLLATE "C" NOT NULL,
  request_hash   text COLLATE "C" NOT NULL,
  body_hash      text COLLATE "C" NOT NULL,
  holder         text COLLATE "C" NOT NULL,
  status         smallint,
  body           text,
  expires_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, request_hash)
);
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

-- Token buckets of the rate limiter. Unlogged: after a crash they start full, which harms nobody.
CREATE UNLOGGED TABLE rate_buckets (
  environment_id text COLLATE "C" NOT NULL,
  category       text COLLATE "C" NOT NULL,
  tokens         integer NOT NULL,
  refilled_at    timestamptz NOT NULL,
  granted        boolean NOT NULL,
  PRIMARY KEY (environment_id, category)
);
