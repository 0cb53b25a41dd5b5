-- Environments for tests, whose clock stands still until somebody moves it. `clock_target` says how far it is being advanced.
ALTER TABLE environments
  ADD COLUMN clock_now timestamptz(3),
  ADD COLUMN clock_seed integer,
  ADD COLUMN clock_target timestamptz(3),
  ADD CONSTRAINT environments_clock_check CHECK ((clock_now IS NULL) = (clock_seed IS NULL));

-- Nothing that processes remember of an environment depends on its time.
DROP TRIGGER counted ON environments;
CREATE CONSTRAINT TRIGGER counted AFTER UPDATE ON environments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.clock_now IS NOT DISTINCT FROM NEW.clock_now AND OLD.clock_target IS NOT DISTINCT FROM NEW.clock_target)
  EXECUTE FUNCTION count_environment_change('id');

-- What waits in such an environment, or is to be done there at once, is numbered in the order it came. It is never in the queue.
CREATE SEQUENCE held_order;
ALTER TABLE timers ADD COLUMN held bigint;
ALTER TABLE timers DROP CONSTRAINT timers_kind_check;
ALTER TABLE timers ADD CONSTRAINT timers_kind_check CHECK (kind IN ('step', 'unsnooze', 'start', 'walk', 'call'));
DROP INDEX timers_due;
DROP INDEX timers_by_environment;
CREATE INDEX timers_due ON timers (due_at) WHERE held IS NULL;
CREATE INDEX timers_by_environment ON timers (environment_id, due_at) WHERE held IS NULL;
CREATE INDEX timers_held ON timers (environment_id, due_at, held) WHERE held IS NOT NULL;

-- The circuits of such an environment: all processes see the same, whoever calls.
CREATE TABLE held_circuits (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  failures integer NOT NULL,
  openings integer NOT NULL,
  open_until timestamptz(3),
  PRIMARY KEY (environment_id, integration_id, host)
);
