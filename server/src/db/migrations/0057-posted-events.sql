-- Events that programs post for the waits of runs. They are kept like the activity.
CREATE TABLE posted_events (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  -- The caller's own name for it.
  given_id text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  subscriber_id text COLLATE "C",
  payload json NOT NULL,
  -- How many waits it has ended, and the last run that was told of it; null once all were.
  matched integer NOT NULL DEFAULT 0,
  reached text COLLATE "C",
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE posted_events_default PARTITION OF posted_events DEFAULT;
CREATE INDEX posted_events_key ON posted_events (environment_id, name, key, id) WHERE key IS NOT NULL;
CREATE INDEX posted_events_subscriber ON posted_events (environment_id, subscriber_id, name, id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX posted_events_given ON posted_events (environment_id, given_id, id) WHERE given_id IS NOT NULL;

-- Ids that callers chose count once, across all months.
CREATE TABLE posted_event_ids (
  environment_id text COLLATE "C" NOT NULL,
  given_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, given_id)
);
CREATE INDEX posted_event_ids_expiry ON posted_event_ids (expires_at);

-- What steps wait for beside their time: events of a name with a key or for a subscriber, and messages of an earlier step.
CREATE TABLE event_waits (
  environment_id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  position smallint NOT NULL,
  entry smallint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('key', 'subscriber', 'message')),
  -- Of the event; empty for a message.
  name text COLLATE "C" NOT NULL,
  -- The key, the subscriber or the step.
  value text COLLATE "C" NOT NULL,
  -- Whose run it is: an event that names a subscriber is for that one only.
  subscriber_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (environment_id, notification_id, position, entry)
);
CREATE INDEX event_waits_value ON event_waits (environment_id, name, kind, value, notification_id) WHERE kind <> 'message';

-- Where the clock is held, events are told and messages looked at in their turn.
ALTER TABLE timers DROP CONSTRAINT timers_kind_check;
ALTER TABLE timers ADD CONSTRAINT timers_kind_check
  CHECK (kind IN ('step', 'unsnooze', 'start', 'walk', 'call', 'event', 'messages'));

-- Has those of these runs that wait for messages look at them again. A function, because it then sees waits that began while
-- its caller waited for the lock on a message: a statement sees only what there was when it began.
CREATE FUNCTION tell_message_waits(environment text, runs text[]) RETURNS integer LANGUAGE plpgsql AS $$
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
END $$;
