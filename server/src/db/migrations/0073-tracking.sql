-- Whether opens and clicks of a workflow's e-mails are counted.
ALTER TABLE workflows ADD COLUMN tracking jsonb;

-- Links that were followed in the last seconds. Whether a person or a robot did, is seen when there was a pause; then they go.
CREATE TABLE tracked_clicks (
  environment_id text COLLATE "C" NOT NULL,
  message_id     text COLLATE "C" NOT NULL,
  link_hash      bytea NOT NULL,
  url            text NOT NULL,
  first_at       timestamptz(3) NOT NULL,
  last_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, message_id, link_hash)
);

ALTER TABLE timers DROP CONSTRAINT timers_kind_check;
ALTER TABLE timers ADD CONSTRAINT timers_kind_check
  CHECK (kind IN ('step', 'unsnooze', 'clicks', 'start', 'walk', 'call', 'event', 'messages'));
