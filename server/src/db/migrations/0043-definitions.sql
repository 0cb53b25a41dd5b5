-- Layouts have versions as workflows do. Processes of the version before write none; their changes appear with the next one.
ALTER TABLE layouts ADD COLUMN version integer NOT NULL DEFAULT 1;

CREATE TABLE layout_versions (
  environment_id text COLLATE "C" NOT NULL,
  layout_id      text COLLATE "C" NOT NULL,
  version        integer NOT NULL,
  definition     jsonb NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, layout_id, version)
);

INSERT INTO layout_versions (environment_id, layout_id, version, definition, created_at)
SELECT environment_id, id, version,
       jsonb_build_object('id', id, 'version', version, 'identifier', identifier, 'name', name, 'is_default', is_default,
                          'is_translation_enabled', is_translation_enabled, 'content', content),
       updated_at
FROM layouts;

-- What files last pushed into an environment: the revision they pushed, and where they say it comes from. It stays when
-- somebody else deletes the resource, so that the next push notices.
CREATE TABLE definition_files (
  environment_id text COLLATE "C" NOT NULL,
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('workflow', 'layout', 'translation')),
  id             text COLLATE "C" NOT NULL,
  revision       text COLLATE "C" NOT NULL,
  path           text,
  repository     text,
  commit         text,
  url            text,
  pushed_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, kind, id)
);

-- Whether others may change what files own: allow, warn (the dashboard says so), or refuse.
ALTER TABLE environments
  ADD COLUMN definition_edits text NOT NULL DEFAULT 'warn' CHECK (definition_edits IN ('allow', 'warn', 'refuse'));

-- Who made a version and where it comes from; null in versions of earlier releases. A workflow's schema once more, as it was
-- written: jsonb sorts its members.
ALTER TABLE workflow_versions
  ADD COLUMN author jsonb,
  ADD COLUMN source jsonb,
  ADD COLUMN message text,
  ADD COLUMN published_at timestamptz(3),
  ADD COLUMN payload_schema json;
ALTER TABLE layout_versions
  ADD COLUMN author jsonb,
  ADD COLUMN source jsonb,
  ADD COLUMN message text;
