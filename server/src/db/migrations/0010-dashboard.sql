-- What people look for in the activity, what charts are made of, and API keys that end.

-- Runs that are under way or have failed: few among those that are over. A run that ends leaves it; that this makes its update
-- touch the other indexes too changes little, for the pages of new runs are full and nine of ten updates did so before.
CREATE INDEX notifications_status ON notifications (environment_id, status, id) INCLUDE (workflow_id)
  WHERE status <> 'completed';
CREATE INDEX notifications_severity ON notifications (environment_id, severity, id) WHERE severity <> 'none';
-- Nearly all who are reached through topics are so through one. Those through several are looked through one by one. That a
-- list of several is not null goes without saying, but not to the planner, who takes the second index for the larger one.
CREATE INDEX notifications_topic ON notifications (environment_id, (topics #>> '{0,topicKey}'), id) WHERE topics IS NOT NULL;
CREATE INDEX notifications_topics ON notifications (environment_id, id)
  WHERE topics IS NOT NULL AND json_array_length(topics) > 1;
-- Why steps did not simply complete. Most do, and are not in it.
CREATE INDEX jobs_reason ON jobs (environment_id, reason, notification_id) WHERE reason IS NOT NULL;

-- In the order of time, as the rows come: next to nothing to keep, enough to find what is of one time.
CREATE INDEX messages_time ON messages USING brin (created_at) WITH (autosummarize = on);

-- How many runs were started and messages made in each ten minutes, and how long messages took: counted afterwards by a chore,
-- never by those who make them. Charts over months read this and the few minutes that have not been counted yet.
CREATE TABLE activity_counts (
  environment_id text COLLATE "C" NOT NULL,
  -- Empty for all together.
  workflow_id    text COLLATE "C" NOT NULL,
  slot           timestamptz(3) NOT NULL,
  -- `runs`, `latency` or a channel.
  measure        text COLLATE "C" NOT NULL,
  -- Of latencies: which range of milliseconds, as in db/queries/activity-counts.ts. Else 0.
  bin            smallint NOT NULL,
  count          integer NOT NULL,
  PRIMARY KEY (environment_id, workflow_id, slot, measure, bin)
);
CREATE INDEX activity_counts_age ON activity_counts USING brin (slot);

-- One row: everything before this time has been counted.
CREATE TABLE activity_counted (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  until    timestamptz(3) NOT NULL
);

-- A key that has been replaced works until then.
ALTER TABLE api_keys
  ADD COLUMN expires_at timestamptz(3);
