-- Deliveries: what was given up on, how integrations fare, and the sandbox that takes messages meant for nobody.

-- What somebody may want to send once more. Nearly all jobs end without one of these reasons and are not in it.
CREATE INDEX jobs_undelivered ON jobs (environment_id, id)
  WHERE reason IN ('provider_failed', 'provider_refused', 'outcome_unknown', 'no_integration');

-- Integrations that are left alone for a while because they failed again and again, as the process that noticed it says.
CREATE TABLE circuits (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  -- Where addresses are the subscribers' own: whose server it is. Else empty.
  host           text COLLATE "C" NOT NULL,
  failures       integer NOT NULL,
  error          text,
  retry_at       timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, integration_id, host)
);

-- Everything a provider would have got.
CREATE TABLE sandbox_messages (
  environment_id text COLLATE "C" NOT NULL,
  -- The message's own, so that one that is sent again is there once.
  id             text COLLATE "C" NOT NULL,
  channel        text NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  subscriber_id  text COLLATE "C" NOT NULL,
  workflow       text COLLATE "C" NOT NULL,
  step_id        text COLLATE "C" NOT NULL,
  recipients     text[] NOT NULL,
  subject        text,
  html           text,
  text           text,
  -- All of it but the files.
  message        json NOT NULL,
  -- Names and kinds, and what is in them in the same order.
  attachments    json NOT NULL,
  files          bytea[] NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
);
CREATE INDEX sandbox_messages_newest ON sandbox_messages (environment_id, created_at, id);
CREATE INDEX sandbox_messages_age ON sandbox_messages (created_at);

-- How the sandbox is to fail, by channel; the empty one stands for all that have none of their own.
CREATE TABLE sandbox_faults (
  environment_id      text COLLATE "C" NOT NULL,
  channel             text NOT NULL,
  fault               text NOT NULL,
  retry_after_seconds integer,
  -- How many messages it is for; null for all until it is taken away.
  remaining           integer,
  PRIMARY KEY (environment_id, channel)
);
