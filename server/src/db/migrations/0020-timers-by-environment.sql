-- Who has waits that are due: found environment by environment, however many one of them has.
CREATE INDEX timers_by_environment ON timers (environment_id, due_at);
