-- Made by `npm run generate` from the migrated database; the migrations are what is run.

CREATE TABLE api_keys (
  hash text COLLATE "C" NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  encrypted_key text NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT api_keys_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT api_keys_pkey PRIMARY KEY (hash)
);
CREATE INDEX api_keys_environment ON public.api_keys USING btree (environment_id);

CREATE TABLE belfry_migrations (
  name text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT belfry_migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE channel_connections (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  integration_identifier text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  subscriber_id text COLLATE "C",
  context_keys text[] COLLATE "C" DEFAULT '{}'::text[] NOT NULL,
  workspace jsonb NOT NULL,
  encrypted_access_token text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT channel_connections_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT channel_connections_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE INDEX channel_connections_created ON public.channel_connections USING btree (environment_id, created_at, id);
CREATE UNIQUE INDEX channel_connections_resource ON public.channel_connections USING btree (environment_id, integration_id, subscriber_id, context_keys) NULLS NOT DISTINCT;
CREATE INDEX channel_connections_updated ON public.channel_connections USING btree (environment_id, updated_at, id);

CREATE TABLE channel_endpoints (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  integration_identifier text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  connection_identifier text COLLATE "C",
  subscriber_id text COLLATE "C" NOT NULL,
  context_keys text[] COLLATE "C" DEFAULT '{}'::text[] NOT NULL,
  type text NOT NULL,
  endpoint jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT channel_endpoints_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT channel_endpoints_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE INDEX channel_endpoints_created ON public.channel_endpoints USING btree (environment_id, created_at, id);
CREATE INDEX channel_endpoints_subscriber ON public.channel_endpoints USING btree (environment_id, subscriber_id);
CREATE INDEX channel_endpoints_updated ON public.channel_endpoints USING btree (environment_id, updated_at, id);

CREATE TABLE contexts (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  data jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT contexts_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT contexts_environment_id_type_context_id_key UNIQUE (environment_id, type, context_id)
);
CREATE INDEX contexts_created ON public.contexts USING btree (environment_id, created_at, id);
CREATE INDEX contexts_updated ON public.contexts USING btree (environment_id, updated_at, id);

CREATE TABLE environment_variable_values (
  variable_id text COLLATE "C" NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  value text NOT NULL,
  CONSTRAINT environment_variable_values_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT environment_variable_values_variable_id_fkey FOREIGN KEY (variable_id) REFERENCES environment_variables(id) ON DELETE CASCADE,
  CONSTRAINT environment_variable_values_pkey PRIMARY KEY (variable_id, environment_id)
);

CREATE TABLE environment_variables (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  type text NOT NULL,
  is_secret boolean NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT environment_variables_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT environment_variables_pkey PRIMARY KEY (id),
  CONSTRAINT environment_variables_organization_id_key_key UNIQUE (organization_id, key)
);

CREATE TABLE environments (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  type text NOT NULL,
  color text,
  parent_id text COLLATE "C",
  dns jsonb DEFAULT '{}'::jsonb NOT NULL,
  bridge jsonb DEFAULT '{}'::jsonb NOT NULL,
  rate_limits jsonb,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT environments_type_check CHECK ((type = ANY (ARRAY['dev'::text, 'prod'::text]))),
  CONSTRAINT environments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT environments_pkey PRIMARY KEY (id),
  CONSTRAINT environments_identifier_key UNIQUE (identifier)
);
CREATE UNIQUE INDEX environments_name ON public.environments USING btree (organization_id, lower(name));

CREATE TABLE idempotency_keys (
  environment_id text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  body_hash text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL,
  status smallint,
  body text,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (environment_id, request_hash)
);
CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (expires_at);

CREATE TABLE integrations (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  kind text DEFAULT 'delivery'::text NOT NULL,
  credentials jsonb DEFAULT '{}'::jsonb NOT NULL,
  configurations jsonb DEFAULT '{}'::jsonb NOT NULL,
  conditions jsonb DEFAULT '[]'::jsonb NOT NULL,
  active boolean DEFAULT false NOT NULL,
  is_primary boolean DEFAULT false NOT NULL,
  priority integer DEFAULT 0 NOT NULL,
  deleted_at timestamp(3) with time zone,
  deleted_by text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  connected boolean DEFAULT false NOT NULL,
  CONSTRAINT integrations_channel_check CHECK ((channel = ANY (ARRAY['in_app'::text, 'email'::text, 'sms'::text, 'chat'::text, 'push'::text]))),
  CONSTRAINT integrations_pkey PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX integrations_identifier ON public.integrations USING btree (environment_id, identifier) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX integrations_primary ON public.integrations USING btree (environment_id, channel) WHERE (is_primary AND (deleted_at IS NULL));

CREATE TABLE layouts (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  name text NOT NULL,
  is_default boolean DEFAULT false NOT NULL,
  is_translation_enabled boolean DEFAULT false NOT NULL,
  content jsonb,
  updated_by text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT layouts_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT layouts_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE UNIQUE INDEX layouts_default ON public.layouts USING btree (environment_id) WHERE is_default;

CREATE TABLE organizations (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  owner_user_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  default_locale text DEFAULT 'en_US'::text NOT NULL,
  target_locales text[] DEFAULT '{}'::text[] NOT NULL,
  remove_branding boolean DEFAULT false NOT NULL,
  CONSTRAINT organizations_pkey PRIMARY KEY (id)
);

CREATE UNLOGGED TABLE rate_buckets (
  environment_id text COLLATE "C" NOT NULL,
  category text COLLATE "C" NOT NULL,
  tokens integer NOT NULL,
  refilled_at timestamp with time zone NOT NULL,
  granted boolean NOT NULL,
  CONSTRAINT rate_buckets_pkey PRIMARY KEY (environment_id, category)
);

CREATE TABLE subscriber_preferences (
  environment_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C",
  context_keys text[] COLLATE "C" DEFAULT '{}'::text[] NOT NULL,
  channels jsonb DEFAULT '{}'::jsonb NOT NULL,
  schedule jsonb,
  updated_at timestamp(3) with time zone NOT NULL
);
CREATE UNIQUE INDEX subscriber_preferences_key ON public.subscriber_preferences USING btree (environment_id, subscriber_row_id, workflow_id, context_keys) NULLS NOT DISTINCT;
CREATE INDEX subscriber_preferences_workflow ON public.subscriber_preferences USING btree (environment_id, workflow_id);

CREATE TABLE subscribers (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  first_name text,
  last_name text,
  email text,
  phone text,
  avatar text,
  locale text,
  timezone text,
  data jsonb,
  channels jsonb DEFAULT '[]'::jsonb NOT NULL,
  is_online boolean DEFAULT false NOT NULL,
  last_online_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT subscribers_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT subscribers_environment_id_subscriber_id_key UNIQUE (environment_id, subscriber_id)
);
CREATE INDEX subscribers_updated ON public.subscribers USING btree (environment_id, updated_at, id);

CREATE TABLE subscription_preferences (
  environment_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  enabled boolean NOT NULL,
  condition jsonb,
  CONSTRAINT subscription_preferences_pkey PRIMARY KEY (environment_id, subscription_id, workflow_id)
);

CREATE TABLE tenants (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  name text,
  data jsonb,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT tenants_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT tenants_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE INDEX tenants_created ON public.tenants USING btree (environment_id, created_at, id);

CREATE TABLE topic_subscriptions (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  topic_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  name text,
  context_keys text[] COLLATE "C" DEFAULT '{}'::text[] NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT topic_subscriptions_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT topic_subscriptions_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE INDEX topic_subscriptions_subscriber ON public.topic_subscriptions USING btree (environment_id, subscriber_row_id, id) INCLUDE (topic_id);
CREATE INDEX topic_subscriptions_topic ON public.topic_subscriptions USING btree (environment_id, topic_id, id);

CREATE TABLE topics (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  name text,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT topics_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT topics_environment_id_key_key UNIQUE (environment_id, key)
);
CREATE INDEX topics_created ON public.topics USING btree (environment_id, created_at, id);
CREATE INDEX topics_updated ON public.topics USING btree (environment_id, updated_at, id);

CREATE TABLE translations (
  environment_id text COLLATE "C" NOT NULL,
  resource_type text NOT NULL,
  resource_row_id text COLLATE "C" NOT NULL,
  locale text COLLATE "C" NOT NULL,
  content json NOT NULL,
  key_hash text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT translations_resource_type_check CHECK ((resource_type = ANY (ARRAY['workflow'::text, 'layout'::text]))),
  CONSTRAINT translations_pkey PRIMARY KEY (environment_id, resource_type, resource_row_id, locale)
);

CREATE TABLE workflow_versions (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT workflow_versions_pkey PRIMARY KEY (environment_id, workflow_id, version)
);

CREATE TABLE workflows (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  name text NOT NULL,
  active boolean DEFAULT false NOT NULL,
  critical boolean DEFAULT false NOT NULL,
  severity text DEFAULT 'none'::text NOT NULL,
  tags text[] DEFAULT '{}'::text[] NOT NULL,
  data jsonb,
  steps jsonb DEFAULT '[]'::jsonb NOT NULL,
  preferences jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  description text DEFAULT ''::text NOT NULL,
  origin text DEFAULT 'svc-cloud'::text NOT NULL,
  payload_schema json,
  validate_payload boolean DEFAULT false NOT NULL,
  is_translation_enabled boolean DEFAULT false NOT NULL,
  user_preferences jsonb,
  version integer DEFAULT 1 NOT NULL,
  updated_by text COLLATE "C",
  last_published_at timestamp(3) with time zone,
  last_published_by text COLLATE "C",
  last_triggered_at timestamp(3) with time zone,
  CONSTRAINT workflows_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT workflows_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
