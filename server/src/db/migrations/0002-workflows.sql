-- What a workflow is, what its messages look like, and who wants them.

ALTER TABLE workflows
  ADD COLUMN description            text NOT NULL DEFAULT '',
  ADD COLUMN origin                 text NOT NULL DEFAULT 'svc-cloud',
  -- json, not jsonb: forms made from a schema show its properties in the order they were written.
  ADD COLUMN payload_schema         json,
  ADD COLUMN validate_payload       boolean NOT NULL DEFAULT false,
  ADD COLUMN is_translation_enabled boolean NOT NULL DEFAULT false,
  ADD COLUMN user_preferences       jsonb,
  ADD COLUMN version                integer NOT NULL DEFAULT 1,
  ADD COLUMN updated_by             text COLLATE "C",
  ADD COLUMN last_published_at      timestamptz(3),
  ADD COLUMN last_published_by      text COLLATE "C",
  ADD COLUMN last_triggered_at      timestamptz(3);

-- Every write of a workflow also writes its whole definition here, in the same transaction: a run that has started
-- goes on with the version it started with, whatever is edited meanwhile.
CREATE TABLE workflow_versions (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id    text COLLATE "C" NOT NULL,
  version        integer NOT NULL,
  definition     jsonb NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, workflow_id, version)
);

CREATE TABLE layouts (
  environment_id         text COLLATE "C" NOT NULL,
  id                     text COLLATE "C" NOT NULL,
  identifier             text COLLATE "C" NOT NULL,
  name                   text NOT NULL,
  is_default             boolean NOT NULL DEFAULT false,
  is_translation_enabled boolean NOT NULL DEFAULT false,
  content                jsonb,
  updated_by             text COLLATE "C",
  created_at             timestamptz(3) NOT NULL,
  updated_at             timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, identifier)
);
CREATE UNIQUE INDEX layouts_default ON layouts (environment_id) WHERE is_default;

-- Texts of one workflow or layout in one locale. `resource_row_id` is the internal id, so that renaming keeps them.
-- json, not jsonb: whoever translates gets the texts back in the order they were written. `key_hash` stands for the set of
-- keys, so that what lacks a translation is seen without reading the texts.
CREATE TABLE translations (
  environment_id  text COLLATE "C" NOT NULL,
  resource_type   text NOT NULL CHECK (resource_type IN ('workflow', 'layout')),
  resource_row_id text COLLATE "C" NOT NULL,
  locale          text COLLATE "C" NOT NULL,
  content         json NOT NULL,
  key_hash        text COLLATE "C" NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, resource_type, resource_row_id, locale)
);

-- Whether a client of the inbox has ever opened a session with this integration.
ALTER TABLE integrations
  ADD COLUMN connected boolean NOT NULL DEFAULT false;

ALTER TABLE organizations
  ADD COLUMN default_locale  text NOT NULL DEFAULT 'en_US',
  ADD COLUMN target_locales  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN remove_branding boolean NOT NULL DEFAULT false;

-- What a subscriber wants: for everything (workflow_id null, with the weekly schedule) or for one workflow,
-- for each set of context keys separately. `channels` holds only what was said.
CREATE TABLE subscriber_preferences (
  environment_id    text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  workflow_id       text COLLATE "C",
  context_keys      text[] COLLATE "C" NOT NULL DEFAULT '{}',
  channels          jsonb NOT NULL DEFAULT '{}',
  schedule          jsonb,
  updated_at        timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX subscriber_preferences_key ON subscriber_preferences
  (environment_id, subscriber_row_id, workflow_id, context_keys) NULLS NOT DISTINCT;
CREATE INDEX subscriber_preferences_workflow ON subscriber_preferences (environment_id, workflow_id);
