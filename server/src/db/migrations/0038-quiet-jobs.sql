-- Adds a job as graphile_worker.add_job does, but without its NOTIFY: a commit that carries one waits for all others of the server.
-- Whoever commits tells the workers afterwards (engine/core/bell.ts). A test compares this with the library's function.
CREATE FUNCTION queue_job(task text, job_payload json, job_priority smallint DEFAULT 0::smallint,
                          due_at timestamptz DEFAULT now(), job_key text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  known_id int := (SELECT t.id FROM graphile_worker._private_tasks t WHERE t.identifier = task);
BEGIN
  IF known_id IS NULL THEN
    INSERT INTO graphile_worker._private_tasks (identifier) VALUES (task) ON CONFLICT DO NOTHING;
    known_id := (SELECT t.id FROM graphile_worker._private_tasks t WHERE t.identifier = task);
  END IF;
  -- One that has begun does not know what is new.
  IF job_key IS NOT NULL THEN
    UPDATE graphile_worker._private_jobs j SET key = NULL, attempts = j.max_attempts, updated_at = now()
    WHERE j.key = job_key AND is_available IS NOT true;
  END IF;
  INSERT INTO graphile_worker._private_jobs AS j (task_id, payload, run_at, max_attempts, key, priority)
  VALUES (known_id, job_payload, due_at, 1000, job_key, job_priority)
  ON CONFLICT (key) DO UPDATE SET task_id = excluded.task_id, payload = excluded.payload, run_at = excluded.run_at,
    max_attempts = excluded.max_attempts, priority = excluded.priority, revision = j.revision + 1, attempts = 0,
    last_error = NULL, updated_at = now()
  WHERE j.locked_at IS NULL;
END $$;
