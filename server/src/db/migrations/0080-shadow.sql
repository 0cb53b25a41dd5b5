-- An environment that stands in front of another service: where that is, how long a trigger may take before it is compared, and
-- the workflows that are delivered here. The key of that service is encrypted.
ALTER TABLE environments
  ADD COLUMN shadow jsonb,
  ADD COLUMN shadow_key text,
  ADD CONSTRAINT environments_shadow_check CHECK ((shadow IS NULL) = (shadow_key IS NULL));

-- Triggers that were passed on, until and after they were compared. `due_at` is the next look; null once it was compared.
CREATE TABLE shadow_triggers (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id    text COLLATE "C" NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  settles_at     timestamptz(3) NOT NULL,
  due_at         timestamptz(3),
  looks          smallint NOT NULL DEFAULT 0,
  outcome        text CHECK (outcome IN ('same', 'different')),
  compared_at    timestamptz(3),
  PRIMARY KEY (environment_id, id),
  CHECK ((outcome IS NULL) = (compared_at IS NULL))
);
CREATE UNIQUE INDEX shadow_triggers_transaction ON shadow_triggers (environment_id, transaction_id);
CREATE INDEX shadow_triggers_workflow ON shadow_triggers (environment_id, workflow_id, created_at) INCLUDE (outcome);
CREATE INDEX shadow_triggers_due ON shadow_triggers (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX shadow_triggers_age ON shadow_triggers (created_at);

-- What was found. Without a transaction: a write of another kind that failed here.
CREATE TABLE shadow_differences (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C",
  subscriber_id  text COLLATE "C",
  workflow_id    text COLLATE "C",
  step_id        text COLLATE "C",
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('missing', 'extra', 'status', 'recipient', 'content', 'time')),
  path           text NOT NULL,
  upstream       json,
  here           json,
  created_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
);
CREATE INDEX shadow_differences_kind ON shadow_differences (environment_id, kind, id);
CREATE INDEX shadow_differences_workflow ON shadow_differences (environment_id, workflow_id, id);
CREATE INDEX shadow_differences_subscriber ON shadow_differences (environment_id, subscriber_id);
CREATE INDEX shadow_differences_age ON shadow_differences (created_at);
