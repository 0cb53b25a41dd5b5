-- The suppression list: addresses that nothing, or nothing commercial, is sent to. An entry outlives its subscriber; after an
-- erasure only the hash is left.
CREATE TABLE suppressions (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  channel        text COLLATE "C" NOT NULL,
  address_hash   bytea NOT NULL,
  address        text,
  reason         text COLLATE "C" NOT NULL,
  scope          text COLLATE "C" NOT NULL,
  -- The workflow or category that the scope names.
  scope_id       text COLLATE "C" NOT NULL DEFAULT '',
  -- Workflows of the category that the entry does not hold back.
  exceptions     text[] NOT NULL DEFAULT '{}',
  source         text COLLATE "C" NOT NULL,
  subscriber_id  text COLLATE "C",
  integration_id text COLLATE "C",
  message_id     text COLLATE "C",
  note           text,
  expires_at     timestamptz(3),
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
);
-- What the gate reads, and what makes two entries one.
CREATE UNIQUE INDEX suppressions_address ON suppressions (environment_id, address_hash, channel, reason, scope, scope_id);
CREATE INDEX suppressions_reason ON suppressions (environment_id, reason, id);
CREATE INDEX suppressions_subscriber ON suppressions (environment_id, subscriber_id, id) WHERE subscriber_id IS NOT NULL;
CREATE INDEX suppressions_expiry ON suppressions (expires_at) WHERE expires_at IS NOT NULL;

-- Asks the list on behalf of calls that are about to start. The caller starts them before it commits: until then nobody adds an
-- entry for these addresses. It never waits: an address whose list somebody changes right now is busy. The second statement sees
-- what was committed before the locks were granted, because each statement of a function has a snapshot of its own.
CREATE FUNCTION ask_suppressions(at timestamptz, locks bigint[], environments text[], channels text[], hashes bytea[])
RETURNS TABLE (place integer, is_busy boolean, entry json) LANGUAGE plpgsql AS $$
DECLARE granted boolean[];
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout', '1000', true);
  SELECT array_agg(pg_try_advisory_xact_lock_shared(l.key) ORDER BY l.place) INTO granted
  FROM unnest(locks) WITH ORDINALITY AS l (key, place);
  RETURN QUERY
    SELECT a.place::integer, NOT granted[a.place], CASE WHEN s.id IS NOT NULL THEN to_json(s) END
    FROM unnest(environments, channels, hashes) WITH ORDINALITY AS a (environment_id, channel, hash, place)
    LEFT JOIN LATERAL (
      SELECT s.* FROM suppressions s
      WHERE s.environment_id = a.environment_id AND s.address_hash = a.hash AND s.channel = a.channel
        AND (s.expires_at IS NULL OR s.expires_at > at)) s ON true
    WHERE s.id IS NOT NULL OR NOT granted[a.place];
END
$$;

-- For who adds an entry, before it is written: waits until no call to these addresses is about to start, two seconds at most.
-- Always in the same order, so that two of them cannot deadlock. Returns how many addresses were not granted in time.
CREATE FUNCTION hold_suppressed(locks bigint[]) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  wanted   bigint;
  left_ms  integer;
  missed   integer := 0;
  deadline timestamptz := clock_timestamp() + interval '2 seconds';
  before   text := current_setting('lock_timeout');
BEGIN
  FOR wanted IN SELECT DISTINCT key FROM unnest(locks) AS l (key) ORDER BY key LOOP
    IF pg_try_advisory_xact_lock(wanted) THEN CONTINUE; END IF;
    left_ms := ceil(extract(epoch FROM deadline - clock_timestamp()) * 1000);
    IF left_ms <= 0 THEN
      missed := missed + 1;
      CONTINUE;
    END IF;
    BEGIN
      PERFORM set_config('lock_timeout', left_ms::text, true);
      PERFORM pg_advisory_xact_lock(wanted);
    EXCEPTION WHEN lock_not_available THEN
      missed := missed + 1;
    END;
  END LOOP;
  PERFORM set_config('lock_timeout', before, true);
  RETURN missed;
END
$$;
