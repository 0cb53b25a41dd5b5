-- How much an environment sends to one person, and what it does while a schedule is closed.
ALTER TABLE environments ADD COLUMN guards jsonb;

-- When places in a cap were taken, oldest first. A row is locked while places in it are given, so that no cap gives too many.
CREATE TABLE cap_counts (
  environment_id    text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  cap_id            text COLLATE "C" NOT NULL,
  places            timestamptz(3)[] NOT NULL,
  last_at           timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, subscriber_row_id, cap_id)
);
-- For those whose window has passed.
CREATE INDEX cap_counts_age ON cap_counts (environment_id, cap_id, last_at);

-- A step that is held until the subscriber's schedule opens waits for changes of it: its value is the subscriber's row.
ALTER TABLE event_waits DROP CONSTRAINT event_waits_kind_check;
ALTER TABLE event_waits ADD CONSTRAINT event_waits_kind_check CHECK (kind IN ('key', 'subscriber', 'message', 'schedule'));

-- Has the runs of a subscriber that are held look at the schedule again, once the change is committed. Whoever begins to hold a
-- step shares the lock until that is stored, and reads the schedule under it: so a change is seen, or finds the held step.
CREATE FUNCTION tell_held_steps(environment text, subscriber text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  waiting text[];
  shown timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(
    hashtextextended(environment || ' ' || '' || ' ' || (hashtextextended(subscriber, 0) & 15), 57));
  waiting := ARRAY(
    SELECT DISTINCT w.notification_id FROM event_waits w
    WHERE w.environment_id = environment AND w.name = '' AND w.kind = 'schedule' AND w.value = subscriber ORDER BY 1);
  IF waiting = '{}' THEN RETURN; END IF;
  SELECT e.clock_now INTO shown FROM environments e WHERE e.id = environment;
  IF shown IS NULL THEN
    PERFORM queue_job('look_at_messages', json_build_object('environmentId', environment, 'runs', waiting));
  ELSE
    INSERT INTO timers (environment_id, subject_id, position, due_at, kind, held)
    SELECT environment, r.id, 32767, shown, 'messages', nextval('held_order') FROM unnest(waiting) AS r (id)
    ON CONFLICT DO NOTHING;
    PERFORM queue_job('held_work', json_build_object('environmentId', environment), job_key := 'held_work ' || environment);
  END IF;
END $$;

CREATE FUNCTION tell_held_steps_of_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'subscribers' THEN
    PERFORM tell_held_steps(NEW.environment_id, NEW.id);
  ELSIF TG_OP = 'DELETE' THEN
    PERFORM tell_held_steps(OLD.environment_id, OLD.subscriber_row_id);
  ELSE
    PERFORM tell_held_steps(NEW.environment_id, NEW.subscriber_row_id);
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER zone_told AFTER UPDATE OF timezone ON subscribers
  FOR EACH ROW WHEN (OLD.timezone IS DISTINCT FROM NEW.timezone) EXECUTE FUNCTION tell_held_steps_of_row();
CREATE TRIGGER schedule_added AFTER INSERT ON subscriber_preferences
  FOR EACH ROW WHEN (NEW.schedule IS NOT NULL) EXECUTE FUNCTION tell_held_steps_of_row();
CREATE TRIGGER schedule_changed AFTER UPDATE OF schedule ON subscriber_preferences
  FOR EACH ROW WHEN (OLD.schedule IS DISTINCT FROM NEW.schedule) EXECUTE FUNCTION tell_held_steps_of_row();
CREATE TRIGGER schedule_removed AFTER DELETE ON subscriber_preferences
  FOR EACH ROW WHEN (OLD.schedule IS NOT NULL) EXECUTE FUNCTION tell_held_steps_of_row();
