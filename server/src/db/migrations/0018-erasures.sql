-- People who are being erased, or were. It must not say who: only a job that is still at it knows (subject, encrypted).
CREATE TABLE erasures (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'running', 'completed')),
  -- Keyed, of the subscriberId: whoever knows that can find out whether it was erased.
  subject_hash text COLLATE "C" NOT NULL,
  subject text,
  -- The internal ids the person had. They lead nowhere once this is done, but to what was written meanwhile.
  subscriber_row_ids text[] COLLATE "C" NOT NULL,
  -- How far it is: the part, and the last key within it.
  part text NOT NULL,
  reached text COLLATE "C" NOT NULL,
  report jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX erasures_under_way ON erasures (environment_id, subject_hash) WHERE status <> 'completed';
