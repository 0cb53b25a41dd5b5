-- Brakes: a commercial workflow whose mail bounces or annoys too often stops sending mail until somebody releases it.
ALTER TABLE workflows
  ADD COLUMN brake jsonb,
  ADD COLUMN brake_released_at timestamptz(3);
-- Whoever caches the workflow learns of its brake as of a new version.
DROP TRIGGER counted ON workflows;
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR UPDATE OF version, brake OR DELETE ON workflows
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');

-- Set for mail of commercial workflows only: nothing else pays for being counted.
ALTER TABLE messages ADD COLUMN commercial boolean;
CREATE INDEX messages_commercial ON messages (environment_id, workflow_id, created_at)
  WHERE commercial AND identifier IS NOT NULL;

-- Commercial mail that bounced for good or was complained about. A message counts once for each.
CREATE TABLE brake_marks (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id    text COLLATE "C" NOT NULL,
  cause          text COLLATE "C" NOT NULL,
  message_id     text COLLATE "C" NOT NULL,
  -- When the message was made: the figures are about the mail of the last hours, whenever its reports arrive.
  sent_at        timestamptz(3) NOT NULL,
  -- Refused during the call, so it is not among the messages that were sent.
  refused        boolean NOT NULL,
  PRIMARY KEY (environment_id, workflow_id, cause, message_id)
);
CREATE INDEX brake_marks_time ON brake_marks (sent_at);

-- Deliveries that a brake has stopped can be sent again. Older processes ask for fewer reasons, which this index has too.
CREATE INDEX jobs_undelivered_too ON jobs (environment_id, id)
  WHERE reason IN ('provider_failed', 'provider_refused', 'outcome_unknown', 'no_integration', 'content_failed',
                   'layout_not_found', 'filter_failed', 'bridge_failed', 'braked', 'internal');
DROP INDEX jobs_undelivered;
ALTER INDEX jobs_undelivered_too RENAME TO jobs_undelivered;
