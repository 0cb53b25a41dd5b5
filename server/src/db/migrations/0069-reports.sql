-- Soft bounces of the last days: enough of them on different messages hold an address back for a while.
CREATE TABLE soft_bounces (
  environment_id text COLLATE "C" NOT NULL,
  address_hash   bytea NOT NULL,
  channel        text COLLATE "C" NOT NULL,
  message_id     text COLLATE "C" NOT NULL,
  happened_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, address_hash, channel, message_id)
);
CREATE INDEX soft_bounces_time ON soft_bounces (happened_at);

-- Text messages that arrived: one that is told twice counts once.
CREATE TABLE inbound_texts (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  external_id    text COLLATE "C" NOT NULL,
  received_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, integration_id, external_id)
);
CREATE INDEX inbound_texts_time ON inbound_texts (received_at);

-- When a number was last answered to a word such as STOP.
CREATE TABLE text_answers (
  environment_id text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  address_hash   bytea NOT NULL,
  keyword        text COLLATE "C" NOT NULL,
  answered_at    timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, integration_id, address_hash, keyword)
);
CREATE INDEX text_answers_time ON text_answers (answered_at);
CREATE INDEX environments_mail_domain ON environments (lower(dns ->> 'inboundParseDomain'));
