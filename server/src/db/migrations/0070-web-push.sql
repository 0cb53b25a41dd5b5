-- Browsers that subscribers have registered for push messages. The endpoint is a secret: whoever knows it can send there.
CREATE TABLE push_subscriptions (
  environment_id    text COLLATE "C" NOT NULL,
  id                text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id     text COLLATE "C" NOT NULL,
  endpoint_hash     bytea NOT NULL,
  -- Endpoint and keys, encrypted.
  sealed            text NOT NULL,
  -- The push service, as its origin.
  origin            text NOT NULL,
  -- The page that registered, as its origin.
  page              text,
  label             text,
  created_at        timestamptz(3) NOT NULL,
  used_at           timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
);
CREATE UNIQUE INDEX push_subscriptions_endpoint ON push_subscriptions (environment_id, endpoint_hash);
CREATE INDEX push_subscriptions_subscriber ON push_subscriptions (environment_id, subscriber_row_id, used_at);
