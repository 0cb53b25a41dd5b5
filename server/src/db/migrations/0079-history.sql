-- A version also holds the texts of its workflow or layout by locale, in the order in which they were written; null in versions
-- of earlier releases. `saves` counts saves of one sitting that were removed in its favor.
ALTER TABLE workflow_versions
  ADD COLUMN translations json,
  ADD COLUMN saves integer NOT NULL DEFAULT 1;
ALTER TABLE layout_versions
  ADD COLUMN translations json,
  ADD COLUMN saves integer NOT NULL DEFAULT 1;

UPDATE workflow_versions v SET translations = coalesce(
  (SELECT json_object_agg(t.locale, t.content ORDER BY t.locale) FROM translations t
   WHERE t.environment_id = w.environment_id AND t.resource_type = 'workflow' AND t.resource_row_id = w.id
     AND t.content::text <> '{}'), '{}'::json)
FROM workflows w
WHERE v.environment_id = w.environment_id AND v.workflow_id = w.id AND v.version = w.version;
UPDATE layout_versions v SET translations = coalesce(
  (SELECT json_object_agg(t.locale, t.content ORDER BY t.locale) FROM translations t
   WHERE t.environment_id = l.environment_id AND t.resource_type = 'layout' AND t.resource_row_id = l.id
     AND t.content::text <> '{}'), '{}'::json)
FROM layouts l
WHERE v.environment_id = l.environment_id AND v.layout_id = l.id AND v.version = l.version;

-- Deleted workflows and layouts: their history is kept for a while, continued by one with the same identifier, or restored.
CREATE TABLE deleted_definitions (
  environment_id text COLLATE "C" NOT NULL,
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('workflow', 'layout')),
  identifier     text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  version        integer NOT NULL,
  deleted_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, kind, identifier)
);
CREATE INDEX deleted_definitions_deleted_at ON deleted_definitions (deleted_at);

-- The last pushes of files into an environment, and those that were refused for conflicts.
CREATE TABLE definition_pushes (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  pushed_at      timestamptz(3) NOT NULL,
  author         jsonb NOT NULL,
  repository     text,
  commit         text,
  url            text,
  message        text,
  summary        jsonb NOT NULL,
  conflicts      jsonb NOT NULL,
  PRIMARY KEY (environment_id, id)
);
