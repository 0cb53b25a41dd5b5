-- Calls to the outside that a worker has begun, in groups. If the worker dies, these may have arrived; the others it had taken
-- were never made. A call is named by its step's id and its attempt. A worker removes its groups when all their calls have
-- ended.
CREATE TABLE begun_calls (
  worker_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  calls text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (worker_id, seq)
);
