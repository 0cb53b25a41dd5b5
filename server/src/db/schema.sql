-- Made by `npm run generate` from the migrated database; the migrations are what is run.

CREATE TABLE activity_counted (
  only_row boolean DEFAULT true NOT NULL,
  until timestamp(3) with time zone NOT NULL,
  CONSTRAINT activity_counted_only_row_check CHECK (only_row),
  CONSTRAINT activity_counted_pkey PRIMARY KEY (only_row)
);

CREATE TABLE activity_counts (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  slot timestamp(3) with time zone NOT NULL,
  measure text COLLATE "C" NOT NULL,
  bin smallint NOT NULL,
  count integer NOT NULL,
  CONSTRAINT activity_counts_pkey PRIMARY KEY (environment_id, workflow_id, slot, measure, bin)
);
CREATE INDEX activity_counts_age ON public.activity_counts USING brin (slot);

CREATE TABLE api_key_uses (
  key_id text COLLATE "C" NOT NULL,
  used_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT api_key_uses_key_id_fkey FOREIGN KEY (key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (key_id)
);

CREATE TABLE api_keys (
  hash text COLLATE "C" NOT NULL,
  environment_id text COLLATE "C",
  encrypted_key text,
  user_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone,
  id text COLLATE "C" DEFAULT substr(md5(((random())::text || (clock_timestamp())::text)), 1, 24) NOT NULL,
  organization_id text COLLATE "C",
  name text DEFAULT 'Compatible key'::text NOT NULL,
  scopes text[] DEFAULT '{administer}'::text[] NOT NULL,
  allowed_addresses text[],
  hint text DEFAULT ''::text NOT NULL,
  CONSTRAINT api_keys_owner CHECK (((environment_id IS NULL) <> (organization_id IS NULL))),
  CONSTRAINT api_keys_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
  CONSTRAINT api_keys_pkey PRIMARY KEY (hash),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX api_keys_environment ON public.api_keys USING btree (environment_id);
CREATE UNIQUE INDEX api_keys_id ON public.api_keys USING btree (id);
CREATE INDEX api_keys_organization ON public.api_keys USING btree (organization_id) WHERE (organization_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON public.api_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE attachments (
  environment_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  name text NOT NULL,
  mime text NOT NULL,
  content bytea NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT attachments_pkey PRIMARY KEY (environment_id, event_id, "position")
);
CREATE INDEX attachments_age ON public.attachments USING btree (created_at);

CREATE TABLE audit_heads (
  organization_id text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT audit_heads_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT audit_heads_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE audit_log (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  action text NOT NULL,
  actor_type text NOT NULL,
  actor_id text COLLATE "C",
  actor_name text NOT NULL,
  actor_email text,
  target_type text NOT NULL,
  target_id text,
  target_name text,
  acted_in text COLLATE "C",
  address text,
  details jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  number bigint NOT NULL,
  target_salt text,
  target_digest bytea NOT NULL,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  CONSTRAINT audit_log_actor_type_check CHECK ((actor_type = ANY (ARRAY['person'::text, 'api-key'::text, 'system'::text]))),
  CONSTRAINT audit_log_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_age ON public.audit_log USING btree (created_at);
CREATE UNIQUE INDEX audit_log_number ON public.audit_log USING btree (organization_id, number);
CREATE INDEX audit_log_organization ON public.audit_log USING btree (organization_id, id);
CREATE TRIGGER audit_log_chained BEFORE INSERT ON public.audit_log FOR EACH ROW EXECUTE FUNCTION chain_audit_entry();
CREATE TRIGGER audit_log_kept BEFORE UPDATE ON public.audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();

CREATE TABLE authenticator_apps (
  user_id text COLLATE "C" NOT NULL,
  secret text NOT NULL,
  last_step bigint,
  created_at timestamp(3) with time zone NOT NULL,
  confirmed_at timestamp(3) with time zone,
  CONSTRAINT authenticator_apps_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT authenticator_apps_pkey PRIMARY KEY (user_id)
);

CREATE TABLE begun_calls (
  worker_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  calls text[] COLLATE "C" NOT NULL,
  CONSTRAINT begun_calls_pkey PRIMARY KEY (worker_id, seq)
);

CREATE TABLE belfry_migrations (
  name text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  CONSTRAINT belfry_migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE bot_links (
  environment_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  context_keys text[] COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT bot_links_pkey PRIMARY KEY (environment_id, hash)
);
CREATE INDEX bot_links_expiry ON public.bot_links USING btree (expires_at);
CREATE INDEX bot_links_subscriber ON public.bot_links USING btree (environment_id, subscriber_id);

CREATE TABLE brake_marks (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  sent_at timestamp(3) with time zone NOT NULL,
  refused boolean NOT NULL,
  CONSTRAINT brake_marks_pkey PRIMARY KEY (environment_id, workflow_id, cause, message_id)
);
CREATE INDEX brake_marks_time ON public.brake_marks USING btree (sent_at);

CREATE TABLE cap_counts (
  environment_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  cap_id text COLLATE "C" NOT NULL,
  places timestamp(3) with time zone[] NOT NULL,
  last_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT cap_counts_pkey PRIMARY KEY (environment_id, subscriber_row_id, cap_id)
);
CREATE INDEX cap_counts_age ON public.cap_counts USING btree (environment_id, cap_id, last_at);

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
CREATE INDEX channel_endpoints_clear ON public.channel_endpoints USING btree (environment_id, id) WHERE (endpoint @? '$."url"?(!(@ starts with "enc:v1:"))'::jsonpath);
CREATE INDEX channel_endpoints_created ON public.channel_endpoints USING btree (environment_id, created_at, id);
CREATE INDEX channel_endpoints_subscriber ON public.channel_endpoints USING btree (environment_id, subscriber_id);
CREATE INDEX channel_endpoints_updated ON public.channel_endpoints USING btree (environment_id, updated_at, id);

CREATE TABLE circuits (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  failures integer NOT NULL,
  error text,
  retry_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT circuits_pkey PRIMARY KEY (environment_id, integration_id, host)
);

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

CREATE TABLE definition_files (
  environment_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  revision text COLLATE "C" NOT NULL,
  path text,
  repository text,
  commit text,
  url text,
  pushed_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT definition_files_kind_check CHECK ((kind = ANY (ARRAY['workflow'::text, 'layout'::text, 'translation'::text, 'topic'::text, 'integration'::text, 'variable'::text]))),
  CONSTRAINT definition_files_pkey PRIMARY KEY (environment_id, kind, id)
);

CREATE TABLE definition_pushes (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  pushed_at timestamp(3) with time zone NOT NULL,
  author jsonb NOT NULL,
  repository text,
  commit text,
  url text,
  message text,
  summary jsonb NOT NULL,
  conflicts jsonb NOT NULL,
  CONSTRAINT definition_pushes_pkey PRIMARY KEY (environment_id, id)
);

CREATE TABLE deleted_definitions (
  environment_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  deleted_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT deleted_definitions_kind_check CHECK ((kind = ANY (ARRAY['workflow'::text, 'layout'::text]))),
  CONSTRAINT deleted_definitions_pkey PRIMARY KEY (environment_id, kind, identifier)
);
CREATE INDEX deleted_definitions_deleted_at ON public.deleted_definitions USING btree (deleted_at);

CREATE TABLE digests (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  step_row_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C",
  seen_at timestamp(3) with time zone NOT NULL,
  forget_at timestamp(3) with time zone NOT NULL,
  bounds json,
  CONSTRAINT digests_pkey PRIMARY KEY (environment_id, workflow_id, step_row_id, subscriber_row_id, value)
);
CREATE INDEX digests_forget ON public.digests USING btree (forget_at) WHERE (notification_id IS NULL);

CREATE TABLE environment_revisions (
  environment_id text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  CONSTRAINT environment_revisions_pkey PRIMARY KEY (environment_id)
);

CREATE TABLE environment_variable_values (
  variable_id text COLLATE "C" NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  value text NOT NULL,
  CONSTRAINT environment_variable_values_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT environment_variable_values_variable_id_fkey FOREIGN KEY (variable_id) REFERENCES environment_variables(id) ON DELETE CASCADE,
  CONSTRAINT environment_variable_values_pkey PRIMARY KEY (variable_id, environment_id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON public.environment_variable_values DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

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
  retention jsonb,
  inbox_access jsonb,
  inbox_generation integer DEFAULT 0 NOT NULL,
  open_to_keys boolean,
  is_protected boolean DEFAULT false NOT NULL,
  is_open_to_automation boolean DEFAULT false NOT NULL,
  consent jsonb,
  definition_edits text DEFAULT 'warn'::text NOT NULL,
  clock_now timestamp(3) with time zone,
  clock_seed integer,
  clock_target timestamp(3) with time zone,
  guards jsonb,
  shadow jsonb,
  shadow_key text,
  CONSTRAINT environments_clock_check CHECK (((clock_now IS NULL) = (clock_seed IS NULL))),
  CONSTRAINT environments_definition_edits_check CHECK ((definition_edits = ANY (ARRAY['allow'::text, 'warn'::text, 'refuse'::text]))),
  CONSTRAINT environments_shadow_check CHECK (((shadow IS NULL) = (shadow_key IS NULL))),
  CONSTRAINT environments_type_check CHECK ((type = ANY (ARRAY['dev'::text, 'prod'::text]))),
  CONSTRAINT environments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT environments_pkey PRIMARY KEY (id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT environments_identifier_key UNIQUE (identifier)
);
CREATE INDEX environments_mail_domain ON public.environments USING btree (lower((dns ->> 'inboundParseDomain'::text)));
CREATE UNIQUE INDEX environments_name ON public.environments USING btree (organization_id, lower(name));
CREATE CONSTRAINT TRIGGER counted AFTER UPDATE ON public.environments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((NOT (old.clock_now IS DISTINCT FROM new.clock_now)) AND (NOT (old.clock_target IS DISTINCT FROM new.clock_target)))) EXECUTE FUNCTION count_environment_change('id');

CREATE TABLE erasures (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  subject_hash text COLLATE "C" NOT NULL,
  subject text,
  subscriber_row_ids text[] COLLATE "C" NOT NULL,
  part text NOT NULL,
  reached text COLLATE "C" NOT NULL,
  report jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  completed_at timestamp(3) with time zone,
  CONSTRAINT erasures_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text]))),
  CONSTRAINT erasures_pkey PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX erasures_under_way ON public.erasures USING btree (environment_id, subject_hash) WHERE (status <> 'completed'::text);

CREATE TABLE event_waits (
  environment_id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  entry smallint NOT NULL,
  kind text NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  CONSTRAINT event_waits_kind_check CHECK ((kind = ANY (ARRAY['key'::text, 'subscriber'::text, 'message'::text, 'schedule'::text]))),
  CONSTRAINT event_waits_pkey PRIMARY KEY (environment_id, notification_id, "position", entry)
);
CREATE INDEX event_waits_value ON public.event_waits USING btree (environment_id, name, kind, value, notification_id) WHERE (kind <> 'message'::text);

CREATE TABLE events (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow_version integer NOT NULL,
  recipients json,
  payload json NOT NULL,
  overrides json NOT NULL,
  actor json,
  tenant json,
  context json,
  started_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  trace text COLLATE "C",
  cancellation_key text COLLATE "C",
  started_by json,
  CONSTRAINT events_pkey PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX events_cancellation_key ON ONLY public.events USING btree (environment_id, cancellation_key, id) WHERE (cancellation_key IS NOT NULL);

CREATE TABLE events_default (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow_version integer NOT NULL,
  recipients json,
  payload json NOT NULL,
  overrides json NOT NULL,
  actor json,
  tenant json,
  context json,
  started_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  trace text COLLATE "C",
  cancellation_key text COLLATE "C",
  started_by json,
  CONSTRAINT events_default_pkey PRIMARY KEY (environment_id, id)
) PARTITION OF events DEFAULT;
CREATE INDEX events_default_environment_id_cancellation_key_id_idx ON public.events_default USING btree (environment_id, cancellation_key, id) WHERE (cancellation_key IS NOT NULL);

CREATE TABLE held_circuits (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  failures integer NOT NULL,
  openings integer NOT NULL,
  open_until timestamp(3) with time zone,
  CONSTRAINT held_circuits_pkey PRIMARY KEY (environment_id, integration_id, host)
);

CREATE TABLE idempotency_keys (
  environment_id text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  body_hash text COLLATE "C" NOT NULL,
  holder text COLLATE "C" NOT NULL,
  status smallint,
  body text,
  expires_at timestamp(3) with time zone NOT NULL,
  suspect_since timestamp(3) with time zone,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (environment_id, request_hash)
);
CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (expires_at);

CREATE TABLE imports (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  source text NOT NULL,
  found bigint NOT NULL,
  done bigint NOT NULL,
  imported bigint NOT NULL,
  unchanged bigint NOT NULL,
  failed bigint NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT imports_pkey PRIMARY KEY (environment_id, id, kind)
);
CREATE INDEX imports_newest ON public.imports USING btree (environment_id, updated_at);

CREATE TABLE inbound_mails (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  mail json,
  attempts smallint NOT NULL,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT inbound_mails_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT inbound_mails_environment_id_message_id_fingerprint_key UNIQUE (environment_id, message_id, fingerprint)
);
CREATE INDEX inbound_mails_age ON public.inbound_mails USING btree (created_at);
CREATE INDEX inbound_mails_due ON public.inbound_mails USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE TABLE inbound_texts (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  received_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT inbound_texts_pkey PRIMARY KEY (environment_id, integration_id, external_id)
);
CREATE INDEX inbound_texts_time ON public.inbound_texts USING btree (received_at);

CREATE TABLE inbox_connections (
  environment_id text COLLATE "C" NOT NULL,
  connected_at timestamp(3) with time zone NOT NULL,
  origin text,
  CONSTRAINT inbox_connections_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT inbox_connections_pkey PRIMARY KEY (environment_id)
);

CREATE UNLOGGED TABLE inbox_presence (
  environment_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  contexts text COLLATE "C" NOT NULL,
  process_id text COLLATE "C" NOT NULL,
  CONSTRAINT inbox_presence_pkey PRIMARY KEY (environment_id, subscriber_row_id, contexts, process_id)
);
CREATE INDEX inbox_presence_process ON public.inbox_presence USING btree (process_id);

CREATE UNLOGGED TABLE inbox_processes (
  id text COLLATE "C" NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  CONSTRAINT inbox_processes_pkey PRIMARY KEY (id)
);

CREATE TABLE integration_health (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  last_sent_at timestamp(3) with time zone,
  refused_since timestamp(3) with time zone,
  refusals integer DEFAULT 0 NOT NULL,
  error text,
  error_code text,
  CONSTRAINT integration_health_pkey PRIMARY KEY (environment_id, integration_id)
);

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
  CONSTRAINT integrations_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE UNIQUE INDEX integrations_identifier ON public.integrations USING btree (environment_id, identifier) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX integrations_primary ON public.integrations USING btree (environment_id, channel) WHERE (is_primary AND (deleted_at IS NULL));
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON public.integrations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE invitations (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  invited_by text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  accepted_at timestamp(3) with time zone,
  environment_roles jsonb DEFAULT '{}'::jsonb NOT NULL,
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'editor'::text, 'viewer'::text]))),
  CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT invitations_pkey PRIMARY KEY (id),
  CONSTRAINT invitations_hash_key UNIQUE (hash)
);
CREATE UNIQUE INDEX invitations_open ON public.invitations USING btree (organization_id, lower(email)) WHERE (accepted_at IS NULL);

CREATE TABLE jobs (
  environment_id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  id text COLLATE "C" NOT NULL,
  step_row_id text COLLATE "C" NOT NULL,
  step_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  reason text,
  error text,
  provider_id text COLLATE "C",
  details jsonb NOT NULL,
  output json,
  digest json,
  merged_into text COLLATE "C",
  schedule_extensions smallint NOT NULL,
  attempts smallint NOT NULL,
  delivery json,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  cut_off boolean,
  held_at timestamp with time zone,
  asked json,
  CONSTRAINT jobs_pkey PRIMARY KEY (environment_id, notification_id, "position")
) PARTITION BY RANGE (notification_id);
CREATE INDEX jobs_held ON ONLY public.jobs USING btree (environment_id, notification_id) WHERE (held_at IS NOT NULL);
CREATE INDEX jobs_merged ON ONLY public.jobs USING btree (environment_id, merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX jobs_reason ON ONLY public.jobs USING btree (environment_id, reason, notification_id) WHERE (reason IS NOT NULL);
CREATE INDEX jobs_undelivered ON ONLY public.jobs USING btree (environment_id, id) WHERE (reason = ANY (ARRAY['provider_failed'::text, 'provider_refused'::text, 'outcome_unknown'::text, 'no_integration'::text, 'content_failed'::text, 'layout_not_found'::text, 'filter_failed'::text, 'bridge_failed'::text, 'braked'::text, 'internal'::text, 'suppressed'::text]));

CREATE TABLE jobs_default (
  environment_id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  id text COLLATE "C" NOT NULL,
  step_row_id text COLLATE "C" NOT NULL,
  step_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  status text NOT NULL,
  reason text,
  error text,
  provider_id text COLLATE "C",
  details jsonb NOT NULL,
  output json,
  digest json,
  merged_into text COLLATE "C",
  schedule_extensions smallint NOT NULL,
  attempts smallint NOT NULL,
  delivery json,
  due_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  cut_off boolean,
  held_at timestamp with time zone,
  asked json,
  CONSTRAINT jobs_default_pkey PRIMARY KEY (environment_id, notification_id, "position")
) PARTITION OF jobs DEFAULT;
CREATE INDEX jobs_default_environment_id_id_idx ON public.jobs_default USING btree (environment_id, id) WHERE (reason = ANY (ARRAY['provider_failed'::text, 'provider_refused'::text, 'outcome_unknown'::text, 'no_integration'::text, 'content_failed'::text, 'layout_not_found'::text, 'filter_failed'::text, 'bridge_failed'::text, 'braked'::text, 'internal'::text, 'suppressed'::text]));
CREATE INDEX jobs_default_environment_id_merged_into_idx ON public.jobs_default USING btree (environment_id, merged_into) WHERE (merged_into IS NOT NULL);
CREATE INDEX jobs_default_environment_id_notification_id_idx ON public.jobs_default USING btree (environment_id, notification_id) WHERE (held_at IS NOT NULL);
CREATE INDEX jobs_default_environment_id_reason_notification_id_idx ON public.jobs_default USING btree (environment_id, reason, notification_id) WHERE (reason IS NOT NULL);

CREATE TABLE layout_versions (
  environment_id text COLLATE "C" NOT NULL,
  layout_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  author jsonb,
  source jsonb,
  message text,
  translations json,
  saves integer DEFAULT 1 NOT NULL,
  published_at timestamp(3) with time zone,
  CONSTRAINT layout_versions_pkey PRIMARY KEY (environment_id, layout_id, version)
);

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
  version integer DEFAULT 1 NOT NULL,
  CONSTRAINT layouts_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT layouts_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE UNIQUE INDEX layouts_default ON public.layouts USING btree (environment_id) WHERE is_default;
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON public.layouts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE messages (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  step_row_id text COLLATE "C" NOT NULL,
  step_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  provider_id text COLLATE "C",
  integration_id text COLLATE "C",
  identifier text COLLATE "C",
  subject text,
  content text,
  avatar text,
  cta json,
  data jsonb,
  email text,
  phone text,
  device_tokens text[],
  webhook_url text,
  channel_data json,
  tags text[] NOT NULL,
  severity text NOT NULL,
  context_keys text[] COLLATE "C" NOT NULL,
  actor_row_id text COLLATE "C",
  status text NOT NULL,
  error_id text,
  error_text text,
  seen boolean DEFAULT false NOT NULL,
  read boolean DEFAULT false NOT NULL,
  archived boolean DEFAULT false NOT NULL,
  snoozed_until timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone[],
  first_seen_at timestamp(3) with time zone,
  last_seen_at timestamp(3) with time zone,
  last_read_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  commercial boolean,
  CONSTRAINT messages_pkey PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX messages_commercial ON ONLY public.messages USING btree (environment_id, workflow_id, created_at) WHERE (commercial AND (identifier IS NOT NULL));
CREATE INDEX messages_identifier ON ONLY public.messages USING btree (environment_id, identifier) WHERE (identifier IS NOT NULL);
CREATE INDEX messages_subscriber ON ONLY public.messages USING btree (environment_id, subscriber_row_id, channel, created_at, id);
CREATE INDEX messages_time ON ONLY public.messages USING brin (created_at) WITH (autosummarize='on');
CREATE INDEX messages_transaction ON ONLY public.messages USING btree (environment_id, transaction_id, notification_id);
CREATE INDEX messages_unread ON ONLY public.messages USING btree (environment_id, subscriber_row_id, created_at, id, severity) WHERE ((channel = 'in_app'::text) AND ((NOT read) OR (NOT seen)));

CREATE TABLE messages_default (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  step_row_id text COLLATE "C" NOT NULL,
  step_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  provider_id text COLLATE "C",
  integration_id text COLLATE "C",
  identifier text COLLATE "C",
  subject text,
  content text,
  avatar text,
  cta json,
  data jsonb,
  email text,
  phone text,
  device_tokens text[],
  webhook_url text,
  channel_data json,
  tags text[] NOT NULL,
  severity text NOT NULL,
  context_keys text[] COLLATE "C" NOT NULL,
  actor_row_id text COLLATE "C",
  status text NOT NULL,
  error_id text,
  error_text text,
  seen boolean DEFAULT false NOT NULL,
  read boolean DEFAULT false NOT NULL,
  archived boolean DEFAULT false NOT NULL,
  snoozed_until timestamp(3) with time zone,
  delivered_at timestamp(3) with time zone[],
  first_seen_at timestamp(3) with time zone,
  last_seen_at timestamp(3) with time zone,
  last_read_at timestamp(3) with time zone,
  archived_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  commercial boolean,
  CONSTRAINT messages_default_pkey PRIMARY KEY (environment_id, id)
) PARTITION OF messages DEFAULT;
CREATE INDEX messages_default_created_at_idx ON public.messages_default USING brin (created_at) WITH (autosummarize='on');
CREATE INDEX messages_default_environment_id_identifier_idx ON public.messages_default USING btree (environment_id, identifier) WHERE (identifier IS NOT NULL);
CREATE INDEX messages_default_environment_id_subscriber_row_id_channel_c_idx ON public.messages_default USING btree (environment_id, subscriber_row_id, channel, created_at, id);
CREATE INDEX messages_default_environment_id_subscriber_row_id_created_a_idx ON public.messages_default USING btree (environment_id, subscriber_row_id, created_at, id, severity) WHERE ((channel = 'in_app'::text) AND ((NOT read) OR (NOT seen)));
CREATE INDEX messages_default_environment_id_transaction_id_notification_idx ON public.messages_default USING btree (environment_id, transaction_id, notification_id);
CREATE INDEX messages_default_environment_id_workflow_id_created_at_idx ON public.messages_default USING btree (environment_id, workflow_id, created_at) WHERE (commercial AND (identifier IS NOT NULL));

CREATE TABLE notification_groups (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT notification_groups_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT notification_groups_environment_id_name_key UNIQUE (environment_id, name)
);

CREATE TABLE notifications (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow_version integer NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  severity text NOT NULL,
  critical boolean NOT NULL,
  channels text[] NOT NULL,
  tags text[] NOT NULL,
  context_keys text[] COLLATE "C" NOT NULL,
  topics json,
  digested_into text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  goals json,
  CONSTRAINT notifications_pkey PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX notifications_severity ON ONLY public.notifications USING btree (environment_id, severity, id) WHERE (severity <> 'none'::text);
CREATE INDEX notifications_status ON ONLY public.notifications USING btree (environment_id, status, id) INCLUDE (workflow_id) WHERE (status <> 'completed'::text);
CREATE INDEX notifications_subscriber ON ONLY public.notifications USING btree (environment_id, subscriber_row_id, id);
CREATE INDEX notifications_topic ON ONLY public.notifications USING btree (environment_id, ((topics #>> '{0,topicKey}'::text[])), id) WHERE (topics IS NOT NULL);
CREATE INDEX notifications_topics ON ONLY public.notifications USING btree (environment_id, id) WHERE ((topics IS NOT NULL) AND (json_array_length(topics) > 1));
CREATE INDEX notifications_transaction ON ONLY public.notifications USING btree (environment_id, transaction_id, id);
CREATE INDEX notifications_workflow ON ONLY public.notifications USING btree (environment_id, workflow_id, id);

CREATE TABLE notifications_default (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow_version integer NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  severity text NOT NULL,
  critical boolean NOT NULL,
  channels text[] NOT NULL,
  tags text[] NOT NULL,
  context_keys text[] COLLATE "C" NOT NULL,
  topics json,
  digested_into text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  goals json,
  CONSTRAINT notifications_default_pkey PRIMARY KEY (environment_id, id)
) PARTITION OF notifications DEFAULT;
CREATE INDEX notifications_default_environment_id_expr_id_idx ON public.notifications_default USING btree (environment_id, ((topics #>> '{0,topicKey}'::text[])), id) WHERE (topics IS NOT NULL);
CREATE INDEX notifications_default_environment_id_id_idx ON public.notifications_default USING btree (environment_id, id) WHERE ((topics IS NOT NULL) AND (json_array_length(topics) > 1));
CREATE INDEX notifications_default_environment_id_severity_id_idx ON public.notifications_default USING btree (environment_id, severity, id) WHERE (severity <> 'none'::text);
CREATE INDEX notifications_default_environment_id_status_id_workflow_id_idx ON public.notifications_default USING btree (environment_id, status, id) INCLUDE (workflow_id) WHERE (status <> 'completed'::text);
CREATE INDEX notifications_default_environment_id_subscriber_row_id_id_idx ON public.notifications_default USING btree (environment_id, subscriber_row_id, id);
CREATE INDEX notifications_default_environment_id_transaction_id_id_idx ON public.notifications_default USING btree (environment_id, transaction_id, id);
CREATE INDEX notifications_default_environment_id_workflow_id_id_idx ON public.notifications_default USING btree (environment_id, workflow_id, id);

CREATE TABLE organizations (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  owner_user_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  default_locale text DEFAULT 'en_US'::text NOT NULL,
  target_locales text[] DEFAULT '{}'::text[] NOT NULL,
  remove_branding boolean DEFAULT false NOT NULL,
  requires_second_factor boolean DEFAULT false NOT NULL,
  CONSTRAINT organizations_pkey PRIMARY KEY (id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE CONSTRAINT TRIGGER counted AFTER UPDATE ON public.organizations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('id');

CREATE TABLE passed_over (
  environment_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  detail text,
  named text,
  subscriber_ids text[] COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT passed_over_pkey PRIMARY KEY (environment_id, event_id, id)
);
CREATE INDEX passed_over_age ON public.passed_over USING btree (event_id);

CREATE TABLE passkey_challenges (
  hash text COLLATE "C" NOT NULL,
  purpose text NOT NULL,
  owner text COLLATE "C" NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT passkey_challenges_purpose_check CHECK ((purpose = ANY (ARRAY['register'::text, 'sign-in'::text, 'second-step'::text, 'proof'::text]))),
  CONSTRAINT passkey_challenges_pkey PRIMARY KEY (hash)
);
CREATE INDEX passkey_challenges_expiry ON public.passkey_challenges USING btree (expires_at);
CREATE INDEX passkey_challenges_owner ON public.passkey_challenges USING btree (owner, expires_at);

CREATE TABLE passkeys (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  public_key text NOT NULL,
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  host text NOT NULL,
  name text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  last_used_at timestamp(3) with time zone,
  CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT passkeys_pkey PRIMARY KEY (id),
  CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id)
);
CREATE INDEX passkeys_user ON public.passkeys USING btree (user_id, created_at);

CREATE TABLE posted_event_ids (
  environment_id text COLLATE "C" NOT NULL,
  given_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT posted_event_ids_pkey PRIMARY KEY (environment_id, given_id)
);
CREATE INDEX posted_event_ids_expiry ON public.posted_event_ids USING btree (expires_at);

CREATE TABLE posted_events (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  given_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  subscriber_id text COLLATE "C",
  payload json NOT NULL,
  matched integer DEFAULT 0 NOT NULL,
  reached text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT posted_events_pkey PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX posted_events_given ON ONLY public.posted_events USING btree (environment_id, given_id, id) WHERE (given_id IS NOT NULL);
CREATE INDEX posted_events_key ON ONLY public.posted_events USING btree (environment_id, name, key, id) WHERE (key IS NOT NULL);
CREATE INDEX posted_events_subscriber ON ONLY public.posted_events USING btree (environment_id, subscriber_id, name, id) WHERE (subscriber_id IS NOT NULL);

CREATE TABLE posted_events_default (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  given_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  subscriber_id text COLLATE "C",
  payload json NOT NULL,
  matched integer DEFAULT 0 NOT NULL,
  reached text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT posted_events_default_pkey PRIMARY KEY (environment_id, id)
) PARTITION OF posted_events DEFAULT;
CREATE INDEX posted_events_default_environment_id_given_id_id_idx ON public.posted_events_default USING btree (environment_id, given_id, id) WHERE (given_id IS NOT NULL);
CREATE INDEX posted_events_default_environment_id_name_key_id_idx ON public.posted_events_default USING btree (environment_id, name, key, id) WHERE (key IS NOT NULL);
CREATE INDEX posted_events_default_environment_id_subscriber_id_name_id_idx ON public.posted_events_default USING btree (environment_id, subscriber_id, name, id) WHERE (subscriber_id IS NOT NULL);

CREATE TABLE publish_requests (
  id text COLLATE "C" NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  source_id text COLLATE "C" NOT NULL,
  status text DEFAULT 'pending'::text NOT NULL,
  comment text DEFAULT ''::text NOT NULL,
  resources jsonb NOT NULL,
  diff jsonb NOT NULL,
  requester_type text NOT NULL,
  requester_id text COLLATE "C" NOT NULL,
  requester_name text NOT NULL,
  requester_user_id text COLLATE "C" NOT NULL,
  decided_by text COLLATE "C",
  decided_by_name text,
  decision_comment text DEFAULT ''::text NOT NULL,
  decided_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT publish_requests_requester_type_check CHECK ((requester_type = ANY (ARRAY['person'::text, 'api-key'::text]))),
  CONSTRAINT publish_requests_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'declined'::text, 'withdrawn'::text]))),
  CONSTRAINT publish_requests_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT publish_requests_source_id_fkey FOREIGN KEY (source_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT publish_requests_pkey PRIMARY KEY (id)
);
CREATE INDEX publish_requests_environment ON public.publish_requests USING btree (environment_id, id DESC);
CREATE INDEX publish_requests_source ON public.publish_requests USING btree (source_id);

CREATE TABLE push_subscriptions (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  endpoint_hash bytea NOT NULL,
  sealed text NOT NULL,
  origin text NOT NULL,
  page text,
  label text,
  created_at timestamp(3) with time zone NOT NULL,
  used_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT push_subscriptions_pkey PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX push_subscriptions_endpoint ON public.push_subscriptions USING btree (environment_id, endpoint_hash);
CREATE INDEX push_subscriptions_subscriber ON public.push_subscriptions USING btree (environment_id, subscriber_row_id, used_at);

CREATE TABLE question_people (
  environment_id text COLLATE "C" NOT NULL,
  question_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  CONSTRAINT question_people_pkey PRIMARY KEY (environment_id, subscriber_id, question_id)
) PARTITION BY RANGE (question_id);

CREATE TABLE question_people_default (
  environment_id text COLLATE "C" NOT NULL,
  question_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  CONSTRAINT question_people_default_pkey PRIMARY KEY (environment_id, subscriber_id, question_id)
) PARTITION OF question_people DEFAULT;

CREATE TABLE questions (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow text NOT NULL,
  step_id text NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  question text NOT NULL,
  details text,
  answers jsonb NOT NULL,
  free_text jsonb,
  answer text,
  text text,
  answered_by jsonb,
  level smallint NOT NULL,
  round smallint NOT NULL,
  asked jsonb NOT NULL,
  deadline timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT questions_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'expired'::text, 'canceled'::text]))),
  CONSTRAINT questions_pkey PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX questions_open ON ONLY public.questions USING btree (environment_id, id) WHERE (state = 'open'::text);
CREATE INDEX questions_run ON ONLY public.questions USING btree (environment_id, notification_id);
CREATE INDEX questions_transaction ON ONLY public.questions USING btree (environment_id, transaction_id);

CREATE TABLE questions_default (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow text NOT NULL,
  step_id text NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  state text NOT NULL,
  question text NOT NULL,
  details text,
  answers jsonb NOT NULL,
  free_text jsonb,
  answer text,
  text text,
  answered_by jsonb,
  level smallint NOT NULL,
  round smallint NOT NULL,
  asked jsonb NOT NULL,
  deadline timestamp(3) with time zone NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT questions_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'expired'::text, 'canceled'::text]))),
  CONSTRAINT questions_default_pkey PRIMARY KEY (environment_id, id)
) PARTITION OF questions DEFAULT;
CREATE INDEX questions_default_environment_id_id_idx ON public.questions_default USING btree (environment_id, id) WHERE (state = 'open'::text);
CREATE INDEX questions_default_environment_id_notification_id_idx ON public.questions_default USING btree (environment_id, notification_id);
CREATE INDEX questions_default_environment_id_transaction_id_idx ON public.questions_default USING btree (environment_id, transaction_id);

CREATE UNLOGGED TABLE rate_buckets (
  environment_id text COLLATE "C" NOT NULL,
  category text COLLATE "C" NOT NULL,
  tokens integer NOT NULL,
  refilled_at timestamp with time zone NOT NULL,
  granted boolean NOT NULL,
  CONSTRAINT rate_buckets_pkey PRIMARY KEY (environment_id, category)
);

CREATE TABLE recovery_codes (
  user_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, hash)
);

CREATE TABLE rotas (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  rota_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  timezone text NOT NULL,
  shifts jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT rotas_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT rotas_environment_id_rota_id_key UNIQUE (environment_id, rota_id)
);

CREATE TABLE sandbox_faults (
  environment_id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  fault text NOT NULL,
  retry_after_seconds integer,
  remaining integer,
  CONSTRAINT sandbox_faults_pkey PRIMARY KEY (environment_id, channel)
);

CREATE TABLE sandbox_messages (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  channel text NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  workflow text COLLATE "C" NOT NULL,
  step_id text COLLATE "C" NOT NULL,
  recipients text[] NOT NULL,
  subject text,
  html text,
  text text,
  message json NOT NULL,
  attachments json NOT NULL,
  files bytea[] NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT sandbox_messages_pkey PRIMARY KEY (environment_id, id)
);
CREATE INDEX sandbox_messages_age ON public.sandbox_messages USING btree (created_at);
CREATE INDEX sandbox_messages_newest ON public.sandbox_messages USING btree (environment_id, created_at, id);

CREATE TABLE saved_views (
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  page text COLLATE "C" NOT NULL,
  name text NOT NULL,
  search text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT saved_views_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT saved_views_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX saved_views_name ON public.saved_views USING btree (user_id, page, lower(name));

CREATE TABLE shadow_differences (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C",
  subscriber_id text COLLATE "C",
  workflow_id text COLLATE "C",
  step_id text COLLATE "C",
  kind text COLLATE "C" NOT NULL,
  path text NOT NULL,
  upstream json,
  here json,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT shadow_differences_kind_check CHECK ((kind = ANY (ARRAY['missing'::text, 'extra'::text, 'status'::text, 'recipient'::text, 'content'::text, 'time'::text]))),
  CONSTRAINT shadow_differences_pkey PRIMARY KEY (environment_id, id)
);
CREATE INDEX shadow_differences_age ON public.shadow_differences USING btree (created_at);
CREATE INDEX shadow_differences_kind ON public.shadow_differences USING btree (environment_id, kind, id);
CREATE INDEX shadow_differences_subscriber ON public.shadow_differences USING btree (environment_id, subscriber_id);
CREATE INDEX shadow_differences_workflow ON public.shadow_differences USING btree (environment_id, workflow_id, id);

CREATE TABLE shadow_triggers (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  settles_at timestamp(3) with time zone NOT NULL,
  due_at timestamp(3) with time zone,
  looks smallint DEFAULT 0 NOT NULL,
  outcome text,
  compared_at timestamp(3) with time zone,
  CONSTRAINT shadow_triggers_check CHECK (((outcome IS NULL) = (compared_at IS NULL))),
  CONSTRAINT shadow_triggers_outcome_check CHECK ((outcome = ANY (ARRAY['same'::text, 'different'::text]))),
  CONSTRAINT shadow_triggers_pkey PRIMARY KEY (environment_id, id)
);
CREATE INDEX shadow_triggers_age ON public.shadow_triggers USING btree (created_at);
CREATE INDEX shadow_triggers_due ON public.shadow_triggers USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE UNIQUE INDEX shadow_triggers_transaction ON public.shadow_triggers USING btree (environment_id, transaction_id);
CREATE INDEX shadow_triggers_workflow ON public.shadow_triggers USING btree (environment_id, workflow_id, created_at) INCLUDE (outcome);

CREATE TABLE sign_in_attempts (
  key text COLLATE "C" NOT NULL,
  attempts integer NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT sign_in_attempts_pkey PRIMARY KEY (key)
);
CREATE INDEX sign_in_attempts_end ON public.sign_in_attempts USING btree (ends_at);

CREATE TABLE sign_in_links (
  hash text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT sign_in_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT sign_in_links_pkey PRIMARY KEY (hash),
  CONSTRAINT sign_in_links_one UNIQUE NULLS NOT DISTINCT (organization_id, user_id)
);

CREATE TABLE sign_in_steps (
  hash text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  attempts integer DEFAULT 0 NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT sign_in_steps_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT sign_in_steps_pkey PRIMARY KEY (hash)
);
CREATE INDEX sign_in_steps_expiry ON public.sign_in_steps USING btree (expires_at);
CREATE INDEX sign_in_steps_user ON public.sign_in_steps USING btree (user_id, expires_at);

CREATE TABLE signing_secrets (
  id text COLLATE "C" NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  purpose text NOT NULL,
  secret text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone,
  CONSTRAINT signing_secrets_purpose_check CHECK ((purpose = ANY (ARRAY['inbox'::text, 'bridge'::text, 'replies'::text, 'requests'::text]))),
  CONSTRAINT signing_secrets_environment_id_fkey FOREIGN KEY (environment_id) REFERENCES environments(id) ON DELETE CASCADE,
  CONSTRAINT signing_secrets_pkey PRIMARY KEY (id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX signing_secrets_environment ON public.signing_secrets USING btree (environment_id);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON public.signing_secrets DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE soft_bounces (
  environment_id text COLLATE "C" NOT NULL,
  address_hash bytea NOT NULL,
  channel text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  happened_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT soft_bounces_pkey PRIMARY KEY (environment_id, address_hash, channel, message_id)
);
CREATE INDEX soft_bounces_time ON public.soft_bounces USING btree (happened_at);

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
CREATE TRIGGER schedule_added AFTER INSERT ON public.subscriber_preferences FOR EACH ROW WHEN ((new.schedule IS NOT NULL)) EXECUTE FUNCTION tell_held_steps_of_row();
CREATE TRIGGER schedule_changed AFTER UPDATE OF schedule ON public.subscriber_preferences FOR EACH ROW WHEN ((old.schedule IS DISTINCT FROM new.schedule)) EXECUTE FUNCTION tell_held_steps_of_row();
CREATE TRIGGER schedule_removed AFTER DELETE ON public.subscriber_preferences FOR EACH ROW WHEN ((old.schedule IS NOT NULL)) EXECUTE FUNCTION tell_held_steps_of_row();

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
  inbox_generation integer DEFAULT 0 NOT NULL,
  snoozed_until timestamp(3) with time zone,
  CONSTRAINT subscribers_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT subscribers_environment_id_subscriber_id_key UNIQUE (environment_id, subscriber_id)
);
CREATE INDEX subscribers_clear ON public.subscribers USING btree (environment_id, id) WHERE (channels @? '$[*]."credentials"."webhookUrl"?(!(@ starts with "enc:v1:"))'::jsonpath);
CREATE INDEX subscribers_updated ON public.subscribers USING btree (environment_id, updated_at, id);
CREATE TRIGGER zone_told AFTER UPDATE OF timezone ON public.subscribers FOR EACH ROW WHEN ((old.timezone IS DISTINCT FROM new.timezone)) EXECUTE FUNCTION tell_held_steps_of_row();

CREATE TABLE subscription_preferences (
  environment_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  enabled boolean NOT NULL,
  condition jsonb,
  CONSTRAINT subscription_preferences_pkey PRIMARY KEY (environment_id, subscription_id, workflow_id)
);

CREATE TABLE suppressions (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  address_hash bytea NOT NULL,
  address text,
  reason text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  scope_id text COLLATE "C" DEFAULT ''::text NOT NULL,
  exceptions text[] DEFAULT '{}'::text[] NOT NULL,
  source text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C",
  integration_id text COLLATE "C",
  message_id text COLLATE "C",
  note text,
  expires_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT suppressions_pkey PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX suppressions_address ON public.suppressions USING btree (environment_id, address_hash, channel, reason, scope, scope_id);
CREATE INDEX suppressions_expiry ON public.suppressions USING btree (expires_at) WHERE (expires_at IS NOT NULL);
CREATE INDEX suppressions_reason ON public.suppressions USING btree (environment_id, reason, id);
CREATE INDEX suppressions_subscriber ON public.suppressions USING btree (environment_id, subscriber_id, id) WHERE (subscriber_id IS NOT NULL);

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

CREATE TABLE text_answers (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  address_hash bytea NOT NULL,
  keyword text COLLATE "C" NOT NULL,
  answered_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT text_answers_pkey PRIMARY KEY (environment_id, integration_id, address_hash, keyword)
);
CREATE INDEX text_answers_time ON public.text_answers USING btree (answered_at);

CREATE TABLE throttles (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  step_row_id text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  passed integer NOT NULL,
  started_at timestamp(3) with time zone NOT NULL,
  ends_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT throttles_pkey PRIMARY KEY (environment_id, workflow_id, step_row_id, subscriber_row_id, value)
);
CREATE INDEX throttles_end ON public.throttles USING btree (ends_at);

CREATE TABLE timers (
  environment_id text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  kind text NOT NULL,
  due_at timestamp(3) with time zone NOT NULL,
  held bigint,
  CONSTRAINT timers_kind_check CHECK ((kind = ANY (ARRAY['step'::text, 'unsnooze'::text, 'clicks'::text, 'start'::text, 'walk'::text, 'call'::text, 'event'::text, 'messages'::text]))),
  CONSTRAINT timers_pkey PRIMARY KEY (environment_id, subject_id, "position")
);
CREATE INDEX timers_by_environment ON public.timers USING btree (environment_id, due_at) WHERE (held IS NULL);
CREATE INDEX timers_due ON public.timers USING btree (due_at) WHERE (held IS NULL);
CREATE INDEX timers_held ON public.timers USING btree (environment_id, due_at, held) WHERE (held IS NOT NULL);

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
CREATE INDEX topic_subscriptions_member ON public.topic_subscriptions USING btree (environment_id, topic_id, subscriber_row_id);
CREATE INDEX topic_subscriptions_subscriber ON public.topic_subscriptions USING btree (environment_id, subscriber_row_id, id) INCLUDE (topic_id);
CREATE INDEX topic_subscriptions_topic ON public.topic_subscriptions USING btree (environment_id, topic_id, id);

CREATE TABLE topics (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  name text,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  joinable_from_browser boolean DEFAULT false NOT NULL,
  CONSTRAINT topics_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT topics_environment_id_key_key UNIQUE (environment_id, key)
);
CREATE INDEX topics_created ON public.topics USING btree (environment_id, created_at, id);
CREATE INDEX topics_updated ON public.topics USING btree (environment_id, updated_at, id);

CREATE TABLE tracked_clicks (
  environment_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  link_hash bytea NOT NULL,
  url text NOT NULL,
  first_at timestamp(3) with time zone NOT NULL,
  last_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT tracked_clicks_pkey PRIMARY KEY (environment_id, message_id, link_hash)
);

CREATE TABLE transactions (
  environment_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT transactions_pkey PRIMARY KEY (environment_id, transaction_id)
);
CREATE INDEX transactions_expiry ON public.transactions USING brin (expires_at);

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
  CONSTRAINT translations_pkey PRIMARY KEY (environment_id, resource_type, resource_row_id, locale),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON public.translations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE user_sessions (
  id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  user_agent text,
  address text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  last_seen_at timestamp(3) with time zone NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  proved_at timestamp(3) with time zone,
  is_from_provider boolean DEFAULT false NOT NULL,
  CONSTRAINT user_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT user_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT user_sessions_hash_key UNIQUE (hash)
);
CREATE INDEX user_sessions_expiry ON public.user_sessions USING btree (expires_at);
CREATE INDEX user_sessions_user ON public.user_sessions USING btree (user_id, last_seen_at);

CREATE TABLE users (
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  email text NOT NULL,
  password_hash text,
  role text NOT NULL,
  oidc_issuer text,
  oidc_subject text,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  environment_roles jsonb DEFAULT '{}'::jsonb NOT NULL,
  CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'editor'::text, 'viewer'::text]))),
  CONSTRAINT users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT users_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX users_email ON public.users USING btree (lower(email));
CREATE UNIQUE INDEX users_oidc ON public.users USING btree (oidc_issuer, oidc_subject);
CREATE INDEX users_organization ON public.users USING btree (organization_id, lower(name), id);

CREATE TABLE walks (
  environment_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  lane smallint NOT NULL,
  lanes smallint NOT NULL,
  reached text COLLATE "C" NOT NULL,
  CONSTRAINT walks_pkey PRIMARY KEY (environment_id, event_id, lane)
);

CREATE TABLE webhook_deliveries (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  endpoint_id text COLLATE "C" NOT NULL,
  status text NOT NULL,
  attempts smallint NOT NULL,
  due_at timestamp(3) with time zone,
  history jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'sending'::text, 'delivered'::text, 'failed'::text]))),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT webhook_deliveries_once UNIQUE (environment_id, event_id, endpoint_id)
);
CREATE INDEX webhook_deliveries_age ON public.webhook_deliveries USING btree (created_at);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (endpoint_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX webhook_deliveries_endpoint ON public.webhook_deliveries USING btree (environment_id, endpoint_id, id);
CREATE INDEX webhook_deliveries_soon ON public.webhook_deliveries USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE TRIGGER queued AFTER INSERT ON public.webhook_deliveries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION queue_webhooks();

CREATE TABLE webhook_endpoints (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  description text,
  event_types text[],
  active boolean NOT NULL,
  secret text NOT NULL,
  previous_secret text,
  previous_secret_expires_at timestamp(3) with time zone,
  failing_since timestamp(3) with time zone,
  disabled_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED
);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF active, event_types ON public.webhook_endpoints DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE webhook_events (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  object json NOT NULL,
  previous json,
  subscriber_id text COLLATE "C",
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT webhook_events_pkey PRIMARY KEY (environment_id, id)
);
CREATE INDEX webhook_events_age ON public.webhook_events USING btree (created_at);
CREATE INDEX webhook_events_subscriber ON public.webhook_events USING btree (environment_id, subscriber_id, id) WHERE (subscriber_id IS NOT NULL);
CREATE INDEX webhook_events_type ON public.webhook_events USING btree (environment_id, type, id);

CREATE TABLE workers (
  pool_id text COLLATE "C" NOT NULL,
  CONSTRAINT workers_pkey PRIMARY KEY (pool_id)
);

CREATE TABLE workflow_overrides (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  tenant_id text COLLATE "C" NOT NULL,
  active boolean,
  channels jsonb DEFAULT '{}'::jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  updated_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT workflow_overrides_environment_id_tenant_id_fkey FOREIGN KEY (environment_id, tenant_id) REFERENCES tenants(environment_id, id) ON DELETE CASCADE,
  CONSTRAINT workflow_overrides_environment_id_workflow_id_fkey FOREIGN KEY (environment_id, workflow_id) REFERENCES workflows(environment_id, id) ON DELETE CASCADE,
  CONSTRAINT workflow_overrides_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT workflow_overrides_environment_id_tenant_id_workflow_id_key UNIQUE (environment_id, tenant_id, workflow_id)
);
CREATE INDEX workflow_overrides_created ON public.workflow_overrides USING btree (environment_id, created_at, id);
CREATE INDEX workflow_overrides_workflow ON public.workflow_overrides USING btree (environment_id, workflow_id);

CREATE TABLE workflow_presence (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  expires_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT workflow_presence_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON DELETE CASCADE,
  CONSTRAINT workflow_presence_pkey PRIMARY KEY (environment_id, workflow_id, user_id)
);
CREATE INDEX workflow_presence_expiry ON public.workflow_presence USING btree (expires_at);
CREATE INDEX workflow_presence_user ON public.workflow_presence USING btree (user_id);

CREATE TABLE workflow_versions (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  definition jsonb NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  author jsonb,
  source jsonb,
  message text,
  published_at timestamp(3) with time zone,
  payload_schema json,
  translations json,
  saves integer DEFAULT 1 NOT NULL,
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
  created_by text COLLATE "C",
  message_class text COLLATE "C" DEFAULT 'transactional'::text NOT NULL,
  consent_category text COLLATE "C",
  journey jsonb,
  tracking jsonb,
  brake jsonb,
  brake_released_at timestamp(3) with time zone,
  CONSTRAINT workflows_pkey PRIMARY KEY (environment_id, id),
  CONSTRAINT counted TRIGGER DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT workflows_environment_id_identifier_key UNIQUE (environment_id, identifier)
);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF version, brake ON public.workflows DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

CREATE TABLE belfry.allowed (
  environment_id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT allowed_pkey PRIMARY KEY (role, environment_id)
);

CREATE TABLE belfry.outbox (
  xact xid8 DEFAULT pg_current_xact_id() NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  format smallint NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C",
  body jsonb NOT NULL,
  role text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT outbox_kind_check CHECK ((kind = ANY (ARRAY['trigger'::text, 'cancel'::text, 'upsert_subscriber'::text]))),
  CONSTRAINT outbox_pkey PRIMARY KEY (xact, id)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX outbox_transaction ON belfry.outbox USING btree (environment_id, transaction_id);

CREATE TABLE belfry.refused (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  format smallint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C",
  body jsonb NOT NULL,
  role text NOT NULL,
  created_at timestamp(3) with time zone NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  refused_at timestamp(3) with time zone NOT NULL,
  CONSTRAINT refused_pkey PRIMARY KEY (environment_id, id)
);
CREATE INDEX refused_age ON belfry.refused USING btree (refused_at);
CREATE INDEX refused_transaction ON belfry.refused USING btree (environment_id, transaction_id);

CREATE OR REPLACE FUNCTION public.all_steps(steps jsonb)
 RETURNS TABLE(step jsonb, place integer[])
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  WITH RECURSIVE found (step, place) AS (
    SELECT top.step, ARRAY[top.n::int] FROM jsonb_array_elements(steps) WITH ORDINALITY AS top (step, n)
    UNION ALL
    SELECT below.step, found.place || ARRAY[arm.n::int, below.n::int]
    FROM found
    CROSS JOIN LATERAL jsonb_array_elements(
      jsonb_path_query_array(found.step, '$.controlValues.arms[*]') || jsonb_path_query_array(found.step, '$.controlValues.default')
    ) WITH ORDINALITY AS arm (arm, n)
    CROSS JOIN LATERAL jsonb_array_elements(jsonb_path_query_array(arm.arm, '$.steps[*]')) WITH ORDINALITY AS below (step, n)
    WHERE found.step ->> 'type' = 'branch'
  )
  SELECT found.step, found.place FROM found
$function$;

CREATE OR REPLACE FUNCTION public.ask_suppressions(at timestamp with time zone, locks bigint[], environments text[], channels text[], hashes bytea[])
 RETURNS TABLE(place integer, is_busy boolean, entry json)
 LANGUAGE plpgsql
AS $function$
DECLARE granted boolean[];
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '1000', true);
  SELECT array_agg(pg_try_advisory_xact_lock_shared(l.key) ORDER BY l.place) INTO granted
  FROM unnest(locks) WITH ORDINALITY AS l (key, place);
  RETURN QUERY
    SELECT a.place::integer, NOT granted[a.place], CASE WHEN s.id IS NOT NULL THEN to_json(s) END
    FROM unnest(environments, channels, hashes) WITH ORDINALITY AS a (environment_id, channel, hash, place)
    LEFT JOIN LATERAL (
      SELECT s.* FROM suppressions s
      WHERE s.environment_id = a.environment_id AND s.address_hash = a.hash AND s.channel = a.channel
        AND (s.expires_at IS NULL OR s.expires_at > at)) s ON true
    WHERE s.id IS NOT NULL OR NOT granted[a.place];
END
$function$;

CREATE OR REPLACE FUNCTION public.audit_entry_hash(entry audit_log)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT sha256(entry.previous_hash || convert_to(jsonb_build_array(
    entry.number, entry.id, entry.organization_id, entry.action, entry.actor_type, entry.actor_id, entry.actor_name,
    entry.actor_email, entry.target_type, encode(entry.target_digest, 'hex'), entry.acted_in, entry.address, entry.details,
    (extract(epoch FROM entry.created_at) * 1000)::bigint)::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION public.audit_target_digest(entry audit_log)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT sha256(convert_to(jsonb_build_array(entry.target_salt, entry.target_id, entry.target_name)::text, 'UTF8'))
$function$;

CREATE OR REPLACE FUNCTION public.chain_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- Restored from a backup.
  IF NEW.hash IS NOT NULL THEN RETURN NEW; END IF;
  INSERT INTO audit_heads VALUES (NEW.organization_id, 0, '') ON CONFLICT DO NOTHING;
  -- Entries of an organization wait for each other here: administrative acts are rare.
  UPDATE audit_heads SET number = number + 1 WHERE organization_id = NEW.organization_id
    RETURNING number, hash INTO NEW.number, NEW.previous_hash;
  NEW.target_salt := gen_random_uuid()::text;
  NEW.target_digest := audit_target_digest(NEW);
  NEW.hash := audit_entry_hash(NEW);
  UPDATE audit_heads SET hash = NEW.hash WHERE organization_id = NEW.organization_id;
  RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.count_environment_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  changed_id text;
BEGIN
  EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO changed_id USING CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  INSERT INTO environment_revisions AS r (environment_id, revision)
  SELECT id, 1 FROM environments WHERE CASE TG_TABLE_NAME WHEN 'organizations' THEN organization_id ELSE id END = changed_id
  ORDER BY id
  ON CONFLICT (environment_id) DO UPDATE SET revision = r.revision + 1;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.hold_suppressed(locks bigint[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  wanted   bigint;
  left_ms  integer;
  missed   integer := 0;
  deadline timestamptz := clock_timestamp() + interval '2 seconds';
  before   text := current_setting('lock_timeout');
BEGIN
  FOR wanted IN SELECT DISTINCT key FROM unnest(locks) AS l (key) ORDER BY key LOOP
    IF pg_try_advisory_xact_lock(wanted) THEN CONTINUE; END IF;
    left_ms := ceil(extract(epoch FROM deadline - clock_timestamp()) * 1000);
    IF left_ms <= 0 THEN
      missed := missed + 1;
      CONTINUE;
    END IF;
    BEGIN
      PERFORM set_config('lock_timeout', left_ms::text, true);
      PERFORM pg_advisory_xact_lock(wanted);
    EXCEPTION WHEN lock_not_available THEN
      missed := missed + 1;
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', before, true);
  RETURN missed;
END
$function$;

CREATE OR REPLACE FUNCTION public.keep_audit_entry()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE erasable text[] := '{target_id,target_name,target_salt}';
BEGIN
  IF to_jsonb(NEW) - erasable <> to_jsonb(OLD) - erasable THEN RAISE EXCEPTION 'The audit log can only be added to.'; END IF;
  RETURN NEW;
END
$function$;

CREATE OR REPLACE FUNCTION public.mark_begun(worker text, group_seq bigint, names text[], ended bigint[], listing text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF listing IS NOT NULL THEN
    PERFORM FROM workers w WHERE w.xmin::text || ' ' || w.pool_id = listing FOR KEY SHARE;
    IF NOT FOUND THEN RETURN false; END IF;
  END IF;
  IF ended <> '{}' THEN
    DELETE FROM begun_calls b WHERE b.worker_id = worker AND b.seq = ANY (ended);
  END IF;
  INSERT INTO begun_calls (worker_id, seq, calls) VALUES (worker, group_seq, names);
  RETURN true;
END
$function$;

CREATE OR REPLACE FUNCTION public.new_row_id(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
AS $function$
  SELECT lpad(to_hex(floor(extract(epoch FROM at))::bigint), 8, '0') || right(replace(gen_random_uuid()::text, '-', ''), 16)
$function$;

CREATE OR REPLACE FUNCTION public.queue_job(task text, job_payload json, job_priority smallint DEFAULT (0)::smallint, due_at timestamp with time zone DEFAULT now(), job_key text DEFAULT NULL::text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  known_id int := (SELECT t.id FROM graphile_worker._private_tasks t WHERE t.identifier = task);
BEGIN
  IF known_id IS NULL THEN
    INSERT INTO graphile_worker._private_tasks (identifier) VALUES (task) ON CONFLICT DO NOTHING;
    known_id := (SELECT t.id FROM graphile_worker._private_tasks t WHERE t.identifier = task);
  END IF;
  -- One that has begun does not know what is new.
  IF job_key IS NOT NULL THEN
    UPDATE graphile_worker._private_jobs j SET key = NULL, attempts = j.max_attempts, updated_at = now()
    WHERE j.key = job_key AND is_available IS NOT true;
  END IF;
  INSERT INTO graphile_worker._private_jobs AS j (task_id, payload, run_at, max_attempts, key, priority)
  VALUES (known_id, job_payload, due_at, 1000, job_key, job_priority)
  ON CONFLICT (key) DO UPDATE SET task_id = excluded.task_id, payload = excluded.payload, run_at = excluded.run_at,
    max_attempts = excluded.max_attempts, priority = excluded.priority, revision = j.revision + 1, attempts = 0,
    last_error = NULL, updated_at = now()
  WHERE j.locked_at IS NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.queue_webhooks()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM added) THEN
    PERFORM graphile_worker.add_job('send_webhooks', '{}', max_attempts := 1000);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tell_held_steps(environment text, subscriber text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
DECLARE
  waiting text[];
  shown timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(
    hashtextextended(environment || ' ' || '' || ' ' || (hashtextextended(subscriber, 0) & 15), 57));
  waiting := ARRAY(
    SELECT DISTINCT w.notification_id FROM event_waits w
    WHERE w.environment_id = environment AND w.name = '' AND w.kind = 'schedule' AND w.value = subscriber ORDER BY 1);
  IF waiting = '{}' THEN RETURN; END IF;
  SELECT e.clock_now INTO shown FROM environments e WHERE e.id = environment;
  IF shown IS NULL THEN
    PERFORM queue_job('look_at_messages', json_build_object('environmentId', environment, 'runs', waiting));
  ELSE
    INSERT INTO timers (environment_id, subject_id, position, due_at, kind, held)
    SELECT environment, r.id, 32767, shown, 'messages', nextval('held_order') FROM unnest(waiting) AS r (id)
    ON CONFLICT DO NOTHING;
    PERFORM queue_job('held_work', json_build_object('environmentId', environment), job_key := 'held_work ' || environment);
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION public.tell_held_steps_of_row()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_TABLE_NAME = 'subscribers' THEN
    PERFORM tell_held_steps(NEW.environment_id, NEW.id);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM tell_held_steps(OLD.environment_id, OLD.subscriber_row_id);
  ELSE
    PERFORM tell_held_steps(NEW.environment_id, NEW.subscriber_row_id);
  END IF;
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.tell_message_waits(environment text, runs text[])
 RETURNS integer
 LANGUAGE plpgsql
AS $function$
DECLARE
  waiting text[] := ARRAY(
    SELECT DISTINCT w.notification_id FROM event_waits w
    WHERE w.environment_id = environment AND w.notification_id = ANY (runs) AND w.kind = 'message' ORDER BY 1);
  shown timestamptz;
BEGIN
  IF waiting = '{}' THEN RETURN 0; END IF;
  SELECT e.clock_now INTO shown FROM environments e WHERE e.id = environment;
  IF shown IS NULL THEN
    PERFORM queue_job('look_at_messages', json_build_object('environmentId', environment, 'runs', waiting));
  ELSE
    INSERT INTO timers (environment_id, subject_id, position, due_at, kind, held)
    SELECT environment, r.id, 32767, shown, 'messages', nextval('held_order') FROM unnest(waiting) AS r (id)
    ON CONFLICT DO NOTHING;
    PERFORM queue_job('held_work', json_build_object('environmentId', environment), job_key := 'held_work ' || environment);
  END IF;
  RETURN cardinality(waiting);
END $function$;

CREATE OR REPLACE FUNCTION public.tell_webhooks(at timestamp with time zone, events json)
 RETURNS void
 LANGUAGE plpgsql
 STRICT
AS $function$
BEGIN
  WITH told AS (
    INSERT INTO webhook_events (environment_id, id, type, object, previous, subscriber_id, created_at)
    SELECT r.environment_id, new_row_id(at), r.type, r.object, r.previous, r.subscriber_id, at
    FROM json_to_recordset(events) AS r (environment_id text, type text, object json, previous json, subscriber_id text)
    WHERE EXISTS (
      SELECT FROM webhook_endpoints e
      WHERE e.environment_id = r.environment_id AND e.active AND (e.event_types IS NULL OR r.type = ANY (e.event_types)))
    RETURNING environment_id, id, type
  )
  INSERT INTO webhook_deliveries (environment_id, id, event_id, endpoint_id, status, attempts, due_at, history, created_at, updated_at)
  SELECT t.environment_id, new_row_id(at), t.id, e.id, 'pending', 0, at, '[]', at, at
  FROM told t JOIN webhook_endpoints e ON e.environment_id = t.environment_id
    AND e.active AND (e.event_types IS NULL OR t.type = ANY (e.event_types));
END $function$;

CREATE OR REPLACE FUNCTION belfry.acting_for(word text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  places text[] := ARRAY(SELECT belfry.open_environments());
  wanted text;
BEGIN
  IF cardinality(places) = 0 THEN
    RAISE EXCEPTION 'Role "%" may not act for any environment', belfry.calling_role() USING ERRCODE = '42501',
      HINT = format('The owner of the database allows it: SELECT belfry.allow(%L, ''<environment>'')', belfry.calling_role());
  END IF;
  IF word IS NULL THEN
    IF cardinality(places) = 1 THEN RETURN places[1]; END IF;
    RAISE EXCEPTION 'Role "%" may act for % environments, and the call names none', belfry.calling_role(), cardinality(places)
      USING ERRCODE = '42501', HINT = 'Say which one: {"environment": "<name>"} in the options';
  END IF;
  wanted := belfry.find_environment(word);
  IF wanted IS NULL OR wanted <> ALL (places) THEN
    RAISE EXCEPTION 'Role "%" may not act for the environment "%"', belfry.calling_role(), word USING ERRCODE = '42501',
      HINT = format('The owner of the database allows it: SELECT belfry.allow(%L, %L)', belfry.calling_role(), word);
  END IF;
  RETURN wanted;
END $function$;

CREATE OR REPLACE FUNCTION belfry.add_call(environment text, kind text, of_transaction text, body jsonb)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO belfry.outbox (format, environment_id, kind, transaction_id, body, role, created_at)
  VALUES (belfry.version(), environment, kind, of_transaction, body, belfry.calling_role(), now());
  IF lower(coalesce(current_setting('belfry.notify', true), '')) IN ('off', 'false', 'no', '0') THEN RETURN; END IF;
  IF pg_try_advisory_xact_lock_shared(7313884028) THEN
    IF NOT pg_try_advisory_lock_shared(7313884026) THEN RETURN; END IF;
    PERFORM pg_advisory_unlock_shared(7313884026);
  END IF;
  PERFORM pg_notify('belfry_outbox', '');
END $function$;

CREATE OR REPLACE FUNCTION belfry.allow(role text, environment text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  wanted text := belfry.find_environment(environment);
BEGIN
  PERFORM belfry.check_role(role);
  IF wanted IS NULL THEN
    PERFORM belfry.refuse_shape(format('There is no environment "%s"', environment), 'Give its name, identifier or id');
  END IF;
  INSERT INTO belfry.allowed (environment_id, role, created_at) VALUES (wanted, allow.role, now()) ON CONFLICT DO NOTHING;
  EXECUTE format('GRANT USAGE ON SCHEMA belfry TO %I', role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.trigger(text, jsonb, jsonb, jsonb), belfry.cancel(text),
    belfry.upsert_subscriber(jsonb), belfry.status(text), belfry.on_change(), belfry.version() TO %I', role);
  PERFORM pg_notify('belfry_outbox', '');
END $function$;

CREATE OR REPLACE FUNCTION belfry.bytes_of(value jsonb)
 RETURNS integer
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
  written text := value::text;
  outside text;
BEGIN
  -- At most every third character is such a blank.
  IF octet_length(written) <= 524288 OR octet_length(written) > 800000 THEN RETURN octet_length(written); END IF;
  outside := regexp_replace(written, '"(?:[^"\\]|\\.)*"', '', 'g');
  RETURN octet_length(written) - (length(outside) - length(replace(outside, ' ', '')));
END $function$;

CREATE OR REPLACE FUNCTION belfry.calling_role()
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$SELECT coalesce(nullif(current_setting('role'), 'none'), session_user)$function$;

CREATE OR REPLACE FUNCTION belfry.cancel(transaction_id text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  environment text;
  many integer;
BEGIN
  IF transaction_id IS NULL OR length(transaction_id) NOT BETWEEN 1 AND 255 THEN
    PERFORM belfry.refuse_shape('The transaction id is missing or longer than 255 characters', 'It is what belfry.trigger returned');
  END IF;
  -- Ids are told apart by environment. Of several, the one that knows the id.
  SELECT count(*) INTO many FROM belfry.open_environments();
  IF many > 1 THEN
    SELECT min(place.id) INTO environment FROM belfry.open_environments() AS place (id)
    WHERE belfry.is_accepted(place.id, cancel.transaction_id)
      OR EXISTS (SELECT FROM belfry.outbox o WHERE o.environment_id = place.id AND o.transaction_id = cancel.transaction_id);
    IF environment IS NULL THEN RETURN; END IF;
  ELSE
    environment := belfry.acting_for(NULL);
  END IF;
  PERFORM belfry.add_call(environment, 'cancel', transaction_id, jsonb_build_object('transactionId', transaction_id));
END $function$;

CREATE OR REPLACE FUNCTION belfry.check_options(options jsonb)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
  known text[] := ARRAY['transactionId', 'overrides', 'actor', 'tenant', 'context', 'cancellationKey', 'environment', 'strict'];
  name text;
  value jsonb;
  expected text;
BEGIN
  IF jsonb_typeof(options) IS DISTINCT FROM 'object' THEN
    PERFORM belfry.refuse_shape('The options are no object', 'For example ''{"transactionId": "shipped-42"}''');
  END IF;
  FOR name, value IN SELECT * FROM jsonb_each(options) LOOP
    IF name <> ALL (known) THEN
      PERFORM belfry.refuse_shape(format('There is no option "%s"', name), 'The options are ' || array_to_string(known, ', '));
    END IF;
    CONTINUE WHEN jsonb_typeof(value) = 'null';
    expected := CASE
      WHEN name IN ('transactionId', 'cancellationKey') AND NOT (jsonb_typeof(value) = 'string'
        AND length(value #>> '{}') BETWEEN 1 AND 255) THEN 'a text of 1 to 255 characters'
      WHEN name = 'environment' AND jsonb_typeof(value) <> 'string' THEN 'a name, identifier or id'
      WHEN name IN ('overrides', 'context') AND jsonb_typeof(value) <> 'object' THEN 'an object'
      WHEN name = 'strict' AND jsonb_typeof(value) <> 'boolean' THEN 'true or false'
      WHEN name = 'actor' AND NOT belfry.is_person(value) THEN 'a subscriber id, or an object with a subscriberId'
      WHEN name = 'tenant' AND NOT coalesce(jsonb_typeof(value) = 'string' OR jsonb_typeof(value -> 'identifier') = 'string', false)
        THEN 'an identifier, or an object with an identifier'
    END;
    IF expected IS NOT NULL THEN
      PERFORM belfry.refuse_shape(format('The option "%s" must be %s', name, expected), 'See docs/sql.md');
    END IF;
  END LOOP;
END $function$;

CREATE OR REPLACE FUNCTION belfry.check_recipients(recipients jsonb)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
  given jsonb := CASE jsonb_typeof(recipients) WHEN 'array' THEN recipients ELSE jsonb_build_array(recipients) END;
  advice text := 'Recipients are as "to" of the API: ''"ada"'', ''["ada", {"subscriberId": "bob"}]'', ''{"type": "Topic", "topicKey": "news"}''';
  each jsonb;
  many integer := 0;
BEGIN
  FOR each IN SELECT * FROM jsonb_array_elements(given) LOOP
    CONTINUE WHEN each IS NULL OR jsonb_typeof(each) = 'null';
    many := many + 1;
    IF NOT belfry.is_person(each)
      AND NOT coalesce(jsonb_typeof(each -> 'topicKey') = 'string' AND btrim(each ->> 'topicKey') <> '', false) THEN
      PERFORM belfry.refuse_shape(format('Recipient %s is neither a subscriber nor a topic', many), advice);
    END IF;
  END LOOP;
  IF many = 0 THEN PERFORM belfry.refuse_shape('There are no recipients', advice); END IF;
  IF many > 100 THEN
    PERFORM belfry.refuse_shape(format('There are %s recipients; at most 100 are allowed', many),
      'Trigger for a topic, or several times');
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION belfry.check_role(role text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
    RAISE EXCEPTION 'There is no role "%"', role USING ERRCODE = '42704', HINT = 'CREATE ROLE makes one';
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION belfry.check_strictly(environment text, workflow text, payload jsonb, tenant text)
 RETURNS void
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      is_active boolean;
      schema json;
      problem text;
    BEGIN
      SELECT coalesce(o.active, w.active), CASE WHEN w.validate_payload THEN w.payload_schema END INTO is_active, schema
      FROM public.workflows w
      LEFT JOIN public.tenants t ON t.environment_id = w.environment_id AND t.identifier = tenant
      LEFT JOIN public.workflow_overrides o
        ON o.environment_id = w.environment_id AND o.tenant_id = t.id AND o.workflow_id = w.id
      WHERE w.environment_id = environment AND w.identifier = workflow;
      IF is_active IS NULL THEN
        RAISE EXCEPTION 'workflow_not_found' USING ERRCODE = 'P0001',
          DETAIL = format('There is no workflow "%s" in this environment', workflow), HINT = 'Create it, or correct its id';
      ELSIF NOT is_active THEN
        RAISE EXCEPTION 'trigger_not_active' USING ERRCODE = 'P0001',
          DETAIL = format('Workflow "%s" is not active', workflow), HINT = 'Activate it';
      ELSIF schema IS NULL THEN
        RETURN;
      END IF;
      BEGIN
        problem := belfry.misfit(schema::jsonb, payload);
      EXCEPTION WHEN data_exception THEN
        -- JSON that jsonb cannot hold, such as a NUL. The service judges it after the commit.
        problem := NULL;
      END;
      IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'payload_invalid' USING ERRCODE = 'P0001', DETAIL = problem,
          HINT = format('Correct the payload, or the schema of workflow "%s"', workflow);
      END IF;
    END $function$;

CREATE OR REPLACE FUNCTION belfry.find_environment(word text)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
    DECLARE
      found text[] := ARRAY(SELECT e.id FROM public.environments e
        WHERE e.id <> repeat('f', 24) AND (e.id = word OR e.identifier = word OR e.name = word));
    BEGIN
      IF cardinality(found) > 1 THEN
        RAISE EXCEPTION 'There are % environments called "%"', cardinality(found), word
          USING ERRCODE = '22023', HINT = 'Give the identifier or id';
      END IF;
      RETURN found[1];
    END $function$;

CREATE OR REPLACE FUNCTION belfry.forbid(role text, environment text)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  wanted text := belfry.find_environment(environment);
BEGIN
  DELETE FROM belfry.allowed a WHERE a.role = forbid.role AND a.environment_id IN (wanted, environment);
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = role)
    AND NOT EXISTS (SELECT FROM belfry.allowed a WHERE a.role = forbid.role) THEN
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA belfry FROM %I', role);
    EXECUTE format('REVOKE ALL ON SCHEMA belfry FROM %I', role);
  END IF;
END $function$;

CREATE OR REPLACE FUNCTION belfry.is_accepted(environment text, of_transaction text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
      SELECT EXISTS (SELECT FROM public.transactions t
                     WHERE t.environment_id = environment AND t.transaction_id = of_transaction)
        OR (of_transaction ~ '^txn_[0-9a-f]{24}$' AND EXISTS (
          SELECT FROM public.events e WHERE e.environment_id = environment AND e.id = substr(of_transaction, 5)))
    $function$;

CREATE OR REPLACE FUNCTION belfry.is_person(value jsonb)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT coalesce(CASE jsonb_typeof(value)
    WHEN 'string' THEN btrim(value #>> '{}') <> ''
    WHEN 'object' THEN jsonb_typeof(value -> 'subscriberId') = 'string' AND btrim(value ->> 'subscriberId') <> ''
  END, false)
$function$;

CREATE OR REPLACE FUNCTION belfry.judge(root jsonb, schema jsonb, value jsonb, place text, is_trial boolean, depth integer, INOUT steps integer, OUT fits boolean, OUT problem text)
 RETURNS record
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
#variable_conflict use_variable
DECLARE
  kind text := jsonb_typeof(value);
  given jsonb;
  written text;
  size double precision;
  below record;
  part jsonb;
  name text;
  answer boolean;
  told text;
  is_open boolean := false;
  passed integer;
  unsure integer;
BEGIN
  steps := steps - 1;
  IF schema = 'true' THEN fits := true; RETURN; END IF;
  IF schema = 'false' THEN fits := false; problem := place || ' is not allowed'; RETURN; END IF;
  IF schema IS NULL OR jsonb_typeof(schema) <> 'object' OR steps <= 0 OR depth > 100 THEN RETURN; END IF;
  fits := false;

  -- Before all else, as the service does: what has a default is never missing.
  IF kind = 'object' AND NOT is_trial AND schema ? 'properties' THEN
    SELECT value || coalesce(jsonb_object_agg(p.key, p.value -> 'default'), '{}') INTO value
    FROM jsonb_each(schema -> 'properties') p
    WHERE jsonb_typeof(p.value) = 'object' AND p.value ? 'default' AND NOT value ? p.key;
  END IF;

  -- Values of one type.
  IF schema ? 'type' THEN
    given := CASE jsonb_typeof(schema -> 'type') WHEN 'array' THEN schema -> 'type' ELSE jsonb_build_array(schema -> 'type') END;
    IF NOT (given ? kind OR (kind = 'null' AND schema -> 'nullable' = 'true') OR (kind = 'number' AND given ? 'integer'
      AND trunc((value #>> '{}')::double precision) = (value #>> '{}')::double precision)) THEN
      problem := format('%s must be %s', place, (SELECT string_agg(t, ' or ') FROM jsonb_array_elements_text(given) t));
      RETURN;
    END IF;
  END IF;
  IF schema ? 'const' AND value <> schema -> 'const' THEN
    problem := place || ' must be equal to constant';
    RETURN;
  END IF;
  IF schema ? 'enum' AND NOT EXISTS (SELECT FROM jsonb_array_elements(schema -> 'enum') e WHERE e.value = judge.value) THEN
    problem := place || ' must be equal to one of the allowed values';
    RETURN;
  END IF;
  IF kind = 'number' THEN
    size := (value #>> '{}')::double precision;
    problem := place || CASE
      WHEN size < (schema ->> 'minimum')::double precision THEN ' must be >= ' || (schema ->> 'minimum')
      WHEN size > (schema ->> 'maximum')::double precision THEN ' must be <= ' || (schema ->> 'maximum')
      WHEN size <= (schema ->> 'exclusiveMinimum')::double precision THEN ' must be > ' || (schema ->> 'exclusiveMinimum')
      WHEN size >= (schema ->> 'exclusiveMaximum')::double precision THEN ' must be < ' || (schema ->> 'exclusiveMaximum')
      WHEN trunc(size / (schema ->> 'multipleOf')::double precision) <> size / (schema ->> 'multipleOf')::double precision
        THEN ' must be multiple of ' || (schema ->> 'multipleOf')
    END;
    is_open := schema ? 'format';
  ELSIF kind = 'string' THEN
    written := value #>> '{}';
    problem := place || CASE
      WHEN length(written) < (schema ->> 'minLength')::numeric
        THEN format(' must NOT have fewer than %s characters', schema ->> 'minLength')
      WHEN length(written) > (schema ->> 'maxLength')::numeric
        THEN format(' must NOT have more than %s characters', schema ->> 'maxLength')
    END;
    -- Only patterns and texts that every engine reads in the same way.
    IF problem IS NULL AND schema ? 'pattern' THEN
      IF schema ->> 'pattern' ~ '^(\\[dws.\-/+*?()\[\]{}|^$\\]|[^\\])*$' AND schema ->> 'pattern' !~ '\(\?[^:]|\[\^?[\]:.=]'
        AND written !~ '[^\u0020-\u007e]' AND length(written) <= 10000 THEN
        IF written COLLATE "C" !~ (schema ->> 'pattern') THEN
          problem := format('%s must match pattern "%s"', place, schema ->> 'pattern');
        END IF;
      ELSE
        is_open := true;
      END IF;
    END IF;
    -- Formats are for the service to know.
    is_open := is_open OR schema ? 'format';
  ELSIF kind = 'array' THEN
    problem := place || CASE
      WHEN jsonb_array_length(value) < (schema ->> 'minItems')::numeric
        THEN format(' must NOT have fewer than %s items', schema ->> 'minItems')
      WHEN jsonb_array_length(value) > (schema ->> 'maxItems')::numeric
        THEN format(' must NOT have more than %s items', schema ->> 'maxItems')
      WHEN schema -> 'uniqueItems' = 'true'
        AND (SELECT count(*) <> count(DISTINCT e.value) FROM jsonb_array_elements(value) e) THEN ' must NOT have duplicate items'
    END;
    -- Of drafts before 2020-12: items by their place.
    is_open := coalesce(jsonb_typeof(schema -> 'items') = 'array', false) AND jsonb_array_length(value) > 0;
  ELSIF kind = 'object' THEN
    SELECT format('%s must have required property ''%s''', place, r) INTO problem
    FROM jsonb_array_elements_text(schema -> 'required') r WHERE NOT value ? r LIMIT 1;
    IF problem IS NULL THEN
      SELECT format('%s must have property %s when property %s is present', place, needed, d.key) INTO problem
      FROM jsonb_each(schema -> 'dependentRequired') d, jsonb_array_elements_text(d.value) needed
      WHERE value ? d.key AND NOT value ? needed LIMIT 1;
    END IF;
    IF problem IS NULL AND schema ?| '{minProperties,maxProperties}' THEN
      size := (SELECT count(*) FROM jsonb_object_keys(value));
      problem := place || CASE
        WHEN size < (schema ->> 'minProperties')::numeric
          THEN format(' must NOT have fewer than %s properties', schema ->> 'minProperties')
        WHEN size > (schema ->> 'maxProperties')::numeric
          THEN format(' must NOT have more than %s properties', schema ->> 'maxProperties')
      END;
    END IF;
    is_open := schema ?| '{patternProperties,dependencies}' AND value <> '{}';
  END IF;
  IF problem IS NOT NULL THEN RETURN; END IF;

  -- Most schemas end here, and what follows costs ten times as much.
  IF NOT schema ?| '{allOf,$ref,dependentSchemas,properties,additionalProperties,propertyNames,prefixItems,items,anyOf,oneOf,contains,not,if}'
  THEN
    fits := CASE WHEN NOT is_open THEN true END;
    RETURN;
  END IF;

  -- What has to hold as well, of the value and of its parts.
  FOR below IN
    SELECT a.value AS rules, judge.value AS of, place AS at, is_trial AS is_tried FROM jsonb_array_elements(schema -> 'allOf') a
    UNION ALL SELECT root #> string_to_array(substr(schema ->> '$ref', 3), '/'), judge.value, place, is_trial WHERE schema ? '$ref'
    UNION ALL SELECT d.value, judge.value, place, is_trial FROM jsonb_each(schema -> 'dependentSchemas') d
      WHERE kind = 'object' AND judge.value ? d.key
    UNION ALL SELECT p.value, judge.value -> p.key, place || '.' || p.key, is_trial FROM jsonb_each(schema -> 'properties') p
      WHERE kind = 'object' AND judge.value ? p.key
    UNION ALL SELECT schema -> 'additionalProperties', m.value, place || '.' || m.key, is_trial
      FROM jsonb_each(CASE kind WHEN 'object' THEN judge.value END) m
      WHERE schema ? 'additionalProperties' AND NOT schema ? 'patternProperties'
        AND NOT coalesce(schema -> 'properties' ? m.key, false)
    UNION ALL SELECT schema -> 'propertyNames', to_jsonb(m), place || '.' || m, true
      FROM jsonb_object_keys(CASE kind WHEN 'object' THEN judge.value END) m WHERE schema ? 'propertyNames'
    UNION ALL SELECT coalesce(schema -> 'prefixItems' -> (i.position::integer - 1), schema -> 'items'), i.value,
        place || '.' || i.position - 1, is_trial
      FROM jsonb_array_elements(CASE kind WHEN 'array' THEN judge.value END) WITH ORDINALITY i (value, position)
      WHERE jsonb_typeof(schema -> 'items') <> 'array'
        OR (NOT schema ? 'items' AND i.position <= jsonb_array_length(schema -> 'prefixItems'))
  LOOP
    SELECT j.steps, j.fits, j.problem INTO steps, answer, problem
    FROM belfry.judge(root, below.rules, below.of, below.at, below.is_tried, depth + 1, steps) j;
    IF NOT answer THEN RETURN; END IF;
    is_open := is_open OR answer IS NULL;
    EXIT WHEN steps <= 0;
  END LOOP;

  -- What is tried.
  FOREACH name IN ARRAY '{anyOf,oneOf,contains,not,if}'::text[] LOOP
    CONTINUE WHEN NOT schema ? name OR (name = 'contains' AND kind <> 'array') OR steps <= 0;
    SELECT 0, 0 INTO passed, unsure;
    FOR below IN
      SELECT a.value AS rules, judge.value AS of FROM jsonb_array_elements(CASE WHEN name IN ('anyOf', 'oneOf') THEN schema -> name END) a
      UNION ALL SELECT schema -> name, i.value FROM jsonb_array_elements(CASE name WHEN 'contains' THEN judge.value END) i
      UNION ALL SELECT schema -> name, judge.value WHERE name IN ('not', 'if')
    LOOP
      SELECT j.steps, j.fits INTO steps, answer FROM belfry.judge(root, below.rules, below.of, place, true, depth + 1, steps) j;
      passed := passed + coalesce(answer, false)::integer;
      unsure := unsure + (answer IS NULL)::integer;
    END LOOP;
    IF name = 'if' THEN
      IF unsure > 0 THEN is_open := true; CONTINUE; END IF;
      name := CASE passed WHEN 1 THEN 'then' ELSE 'else' END;
      CONTINUE WHEN NOT schema ? name;
      SELECT j.steps, j.fits, j.problem INTO steps, answer, problem
      FROM belfry.judge(root, schema -> name, value, place, is_trial, depth + 1, steps) j;
      IF NOT answer THEN RETURN; END IF;
      is_open := is_open OR answer IS NULL;
      CONTINUE;
    END IF;
    answer := CASE
      WHEN name = 'not' THEN CASE WHEN unsure = 0 THEN passed = 0 END
      WHEN name = 'oneOf' THEN CASE WHEN passed > 1 THEN false WHEN unsure = 0 THEN passed = 1 END
      ELSE CASE WHEN passed > 0 THEN true WHEN unsure = 0 THEN false END
    END;
    IF NOT answer THEN
      problem := place || CASE name WHEN 'not' THEN ' must NOT be valid' WHEN 'contains' THEN ' must contain at least 1 valid item'
        WHEN 'oneOf' THEN ' must match exactly one schema in oneOf' ELSE ' must match a schema in anyOf' END;
      RETURN;
    END IF;
    is_open := is_open OR answer IS NULL;
  END LOOP;

  problem := NULL;
  fits := CASE WHEN steps > 0 AND NOT is_open THEN true END;
END $function$;

CREATE OR REPLACE FUNCTION belfry.misfit(schema jsonb, payload jsonb)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
DECLARE
  written text := schema::text;
BEGIN
  -- Later drafts, which the service refuses, and schemas of which it depends on the order where a default is seen.
  IF written ~ '"(minContains|maxContains|unevaluated\w+|\$dynamicRef|\$recursiveRef)":' OR (written ~ '"default":'
    AND written ~ '"(allOf|\$ref|then|else|dependencies|dependentSchemas|patternProperties|contains|prefixItems)":|"items": \[')
  THEN RETURN NULL; END IF;
  RETURN (SELECT problem FROM belfry.judge(schema, schema, payload, 'payload', false, 0, 5000) WHERE NOT fits);
EXCEPTION WHEN data_exception OR statement_too_complex THEN
  -- A schema that is none, or numbers beyond all measure.
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION belfry.on_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  before jsonb := CASE WHEN TG_OP IN ('UPDATE', 'DELETE') THEN to_jsonb(OLD) END;
  after jsonb := CASE WHEN TG_OP IN ('INSERT', 'UPDATE') THEN to_jsonb(NEW) END;
  given jsonb := coalesce(after, before);
  options jsonb := '{}';
  columns jsonb;
BEGIN
  IF TG_LEVEL <> 'ROW' OR TG_OP = 'TRUNCATE' OR TG_NARGS NOT BETWEEN 2 AND 3 THEN
    PERFORM belfry.refuse_shape('belfry.on_change is for each row, and takes a workflow, a column and options',
      'CREATE TRIGGER … FOR EACH ROW EXECUTE FUNCTION belfry.on_change(''order-shipped'', ''customer_id'')');
  END IF;
  IF NOT given ? TG_ARGV[1] THEN
    PERFORM belfry.refuse_shape(format('Table "%s" has no column "%s"', TG_TABLE_NAME, TG_ARGV[1]),
      'The second argument of belfry.on_change is the column with the subscriberId');
  END IF;
  IF TG_NARGS = 3 THEN
    BEGIN
      options := TG_ARGV[2]::jsonb;
    EXCEPTION WHEN invalid_text_representation THEN
      PERFORM belfry.refuse_shape('The options of belfry.on_change are not JSON', 'For example ''{"columns": ["id"]}''');
    END;
    IF jsonb_typeof(options) <> 'object' THEN
      PERFORM belfry.refuse_shape('The options of belfry.on_change are no object', 'For example ''{"columns": ["id"]}''');
    END IF;
  END IF;
  columns := options -> 'columns';
  IF jsonb_typeof(coalesce(columns, '[]')) <> 'array'
    OR EXISTS (SELECT FROM jsonb_array_elements(coalesce(columns, '[]')) c WHERE jsonb_typeof(c) <> 'string' OR NOT given ? (c #>> '{}'))
  THEN
    PERFORM belfry.refuse_shape(format('"columns" must list columns of table "%s"', TG_TABLE_NAME),
      'Without it, the payload has all columns');
  END IF;
  IF given ->> TG_ARGV[1] IS NOT NULL THEN
    IF columns IS NOT NULL THEN
      before := (SELECT jsonb_object_agg(key, value) FROM jsonb_each(before) WHERE columns ? key);
      after := (SELECT jsonb_object_agg(key, value) FROM jsonb_each(after) WHERE columns ? key);
    END IF;
    PERFORM belfry.trigger(TG_ARGV[0], to_jsonb(given ->> TG_ARGV[1]),
      jsonb_build_object('op', lower(TG_OP), 'table', TG_TABLE_NAME, 'new', after, 'old', before), options - 'columns');
  END IF;
  RETURN coalesce(NEW, OLD);
END $function$;

CREATE OR REPLACE FUNCTION belfry.open_environments()
 RETURNS SETOF text
 LANGUAGE sql
 STABLE
AS $function$
  SELECT DISTINCT a.environment_id FROM belfry.allowed a
  JOIN pg_roles r ON r.rolname = a.role
  JOIN pg_roles caller ON caller.rolname = belfry.calling_role()
  WHERE r.oid = caller.oid OR (NOT caller.rolsuper AND pg_has_role(caller.oid, r.oid, 'USAGE'))
$function$;

CREATE OR REPLACE FUNCTION belfry.refuse_shape(problem text, advice text)
 RETURNS void
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
BEGIN
  RAISE EXCEPTION '%', problem USING ERRCODE = '22023', HINT = advice;
END $function$;

CREATE OR REPLACE FUNCTION belfry.status(transaction_id text)
 RETURNS text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  SELECT CASE
    WHEN EXISTS (SELECT FROM belfry.outbox o WHERE o.environment_id = ANY (open.ids) AND o.transaction_id = status.transaction_id
                   AND o.kind = 'trigger') THEN 'waiting'
    WHEN EXISTS (SELECT FROM unnest(open.ids) id WHERE belfry.is_accepted(id, status.transaction_id)) THEN 'accepted'
    WHEN EXISTS (SELECT FROM belfry.refused r WHERE r.environment_id = ANY (open.ids) AND r.transaction_id = status.transaction_id
                   AND r.kind = 'trigger') THEN 'refused'
    ELSE 'unknown' END
  FROM (SELECT ARRAY(SELECT belfry.open_environments()) AS ids) open
$function$;

CREATE OR REPLACE FUNCTION belfry.trigger(workflow text, recipients jsonb, payload jsonb DEFAULT '{}'::jsonb, options jsonb DEFAULT '{}'::jsonb)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  environment text;
  of_transaction text;
  bytes integer;
BEGIN
  payload := coalesce(payload, '{}');
  options := coalesce(options, '{}');
  PERFORM belfry.check_options(options);
  environment := belfry.acting_for(options ->> 'environment');
  IF workflow IS NULL OR btrim(workflow) = '' THEN
    PERFORM belfry.refuse_shape('The workflow is missing', 'The first argument is the workflowId');
  END IF;
  PERFORM belfry.check_recipients(recipients);
  IF jsonb_typeof(payload) <> 'object' THEN
    PERFORM belfry.refuse_shape('The payload is no object', 'For example ''{"orderId": 42}''');
  END IF;
  bytes := belfry.bytes_of(payload - 'attachments');
  IF bytes > 524288 THEN
    PERFORM belfry.refuse_shape(format('The payload has %s bytes; at most 524288 are allowed', bytes),
      'Send what identifies the data, and let templates or your application look it up');
  END IF;
  IF payload ? 'attachments' AND octet_length(payload::text) > 27262976 THEN
    PERFORM belfry.refuse_shape('The attachments have more than 26 MB', 'Send links to large files');
  END IF;
  IF (options ->> 'strict')::boolean THEN
    PERFORM belfry.check_strictly(environment, workflow, payload, coalesce(options #>> '{tenant,identifier}', options ->> 'tenant'));
  END IF;
  of_transaction := coalesce(options ->> 'transactionId', 'sql_' || replace(gen_random_uuid()::text, '-', ''));
  PERFORM belfry.add_call(environment, 'trigger', of_transaction, jsonb_strip_nulls(
    options - '{environment,strict,overrides,context,actor,tenant}'::text[])
    || jsonb_build_object('name', workflow, 'to', recipients, 'payload', payload, 'transactionId', of_transaction)
    || (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(options)
        WHERE key IN ('overrides', 'context', 'actor', 'tenant') AND jsonb_typeof(value) <> 'null'));
  RETURN of_transaction;
END $function$;

CREATE OR REPLACE FUNCTION belfry.upsert_subscriber(subscriber jsonb)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
DECLARE
  environment text;
BEGIN
  IF jsonb_typeof(subscriber) IS DISTINCT FROM 'object' OR NOT belfry.is_person(subscriber) THEN
    PERFORM belfry.refuse_shape('The subscriber is no object with a subscriberId',
      'For example ''{"subscriberId": "ada", "email": "ada@example.com"}''');
  END IF;
  IF jsonb_typeof(coalesce(subscriber -> 'environment', 'null')) NOT IN ('string', 'null') THEN
    PERFORM belfry.refuse_shape('"environment" must be a name, identifier or id', 'It may be left out');
  END IF;
  IF belfry.bytes_of(subscriber) > 524288 THEN
    PERFORM belfry.refuse_shape('The subscriber has more than 524288 bytes', 'Keep less in "data"');
  END IF;
  environment := belfry.acting_for(subscriber ->> 'environment');
  PERFORM belfry.add_call(environment, 'upsert_subscriber', NULL, subscriber - 'environment');
END $function$;

CREATE OR REPLACE FUNCTION belfry.version()
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$SELECT 1$function$;
