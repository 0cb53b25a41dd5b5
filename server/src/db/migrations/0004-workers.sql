-- The pools of workers that may hold jobs of the queue. Each holds an advisory lock for as long as it lives; one listed here
-- whose lock is free has died. The jobs themselves could tell who holds them, but only by reading the whole queue.
CREATE TABLE workers (
  pool_id text COLLATE "C" PRIMARY KEY
);
