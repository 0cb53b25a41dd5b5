-- A word that the runs of a trigger can be cancelled by, such as the number of an order.
ALTER TABLE events ADD COLUMN cancellation_key text COLLATE "C";
CREATE INDEX events_cancellation_key ON events (environment_id, cancellation_key, id) WHERE cancellation_key IS NOT NULL;

-- What concerns the runs of a workflow as a whole.
ALTER TABLE workflows ADD COLUMN journey jsonb;
