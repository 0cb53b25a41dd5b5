-- When a step was first held until the schedule of its subscriber opens, so that they can be found and counted.
ALTER TABLE jobs ADD COLUMN held_at timestamptz;
CREATE INDEX jobs_held ON jobs (environment_id, notification_id) WHERE held_at IS NOT NULL;
