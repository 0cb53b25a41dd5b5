-- A call of the SQL functions costs its commit nothing but the row. `belfry outbox install` runs this file too, after 0076, also over
-- an earlier version.
--
-- Whether to notify is decided by the call. Who reads the rows holds one lock while it is awake, and then hears of nothing: commits
-- that notify wait for each other. A call that counts on that holds another until its transaction ends, and nobody falls asleep
-- meanwhile. It is taken first: whoever finds it taken by one who falls asleep, notifies.
CREATE OR REPLACE FUNCTION belfry.add_call(environment text, kind text, of_transaction text, body jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO belfry.outbox (format, environment_id, kind, transaction_id, body, role, created_at)
  VALUES (belfry.version(), environment, kind, of_transaction, body, belfry.calling_role(), now());
  IF lower(coalesce(current_setting('belfry.notify', true), '')) IN ('off', 'false', 'no', '0') THEN RETURN; END IF;
  IF pg_try_advisory_xact_lock_shared(7313884028) THEN
    IF NOT pg_try_advisory_lock_shared(7313884026) THEN RETURN; END IF;
    PERFORM pg_advisory_unlock_shared(7313884026);
  END IF;
  PERFORM pg_notify('belfry_outbox', '');
END $$;
DROP TRIGGER IF EXISTS tell_drain ON belfry.outbox;
DROP FUNCTION IF EXISTS belfry.tell_drain();

-- The functions that roles can call fix the search path for those that they call; a second time for each part took half of a call.
ALTER FUNCTION belfry.add_call(text, text, text, jsonb) RESET search_path;
ALTER FUNCTION belfry.find_environment(text) RESET search_path;
ALTER FUNCTION belfry.check_strictly(text, text) RESET search_path;
ALTER FUNCTION belfry.is_accepted(text, text) RESET search_path;
ALTER FUNCTION belfry.calling_role() RESET search_path;
ALTER FUNCTION belfry.open_environments() RESET search_path;
ALTER FUNCTION belfry.acting_for(text) RESET search_path;
ALTER FUNCTION belfry.bytes_of(jsonb) RESET search_path;
ALTER FUNCTION belfry.refuse_shape(text, text) RESET search_path;
ALTER FUNCTION belfry.is_person(jsonb) RESET search_path;
ALTER FUNCTION belfry.check_recipients(jsonb) RESET search_path;
ALTER FUNCTION belfry.check_options(jsonb) RESET search_path;
ALTER FUNCTION belfry.check_role(text) RESET search_path;
