-- Writes calls down as begun, as one group, and removes groups that have ended. Returns false, and writes nothing, if the worker is
-- no longer listed: others have its calls then. The lock makes whoever is about to take it for dead wait. A listing of null means
-- that no worker runs.
CREATE FUNCTION mark_begun(worker text, group_seq bigint, names text[], ended bigint[], listing text) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF listing IS NOT NULL THEN
    PERFORM FROM workers w WHERE w.xmin::text || ' ' || w.pool_id = listing FOR KEY SHARE;
    IF NOT FOUND THEN RETURN false; END IF;
  END IF;
  IF ended <> '{}' THEN
    DELETE FROM begun_calls b WHERE b.worker_id = worker AND b.seq = ANY (ended);
  END IF;
  INSERT INTO begun_calls (worker_id, seq, calls) VALUES (worker, group_seq, names);
  RETURN true;
END
$$;
