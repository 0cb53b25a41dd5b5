-- What is known about each integration from its calls: when it last took a message, and since when it refuses them.
CREATE TABLE integration_health (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  last_sent_at timestamptz(3),
  refused_since timestamptz(3),
  refusals integer NOT NULL DEFAULT 0,
  error text,
  PRIMARY KEY (environment_id, integration_id)
);
