-- Every environment has a group that its workflows are in, and a workflow remembers who made it: messages show both.

CREATE TABLE notification_groups (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  name           text NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, name)
);
-- Ids begin with the time, here that of the environment.
INSERT INTO notification_groups (environment_id, id, name, created_at, updated_at)
SELECT id, left(id, 8) || left(md5(id), 16), 'General', created_at, created_at FROM environments;

ALTER TABLE workflows ADD COLUMN created_by text COLLATE "C";
-- The best that is known of those there are.
UPDATE workflows SET created_by = updated_by;
