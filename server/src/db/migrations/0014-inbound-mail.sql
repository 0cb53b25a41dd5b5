-- Answers to e-mails: kept from the moment they are taken until the application has heard of them.
CREATE TABLE inbound_mails (
  environment_id  text COLLATE "C" NOT NULL,
  id              text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  -- The message that it answers.
  message_id      text COLLATE "C" NOT NULL,
  -- What tells a mail that comes twice: a hash of its Message-ID, or of all of it where it has none.
  fingerprint     text COLLATE "C" NOT NULL,
  -- Null once nobody has to be told any more.
  mail            json,
  attempts        smallint NOT NULL,
  due_at          timestamptz(3),
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, message_id, fingerprint)
);
CREATE INDEX inbound_mails_due ON inbound_mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX inbound_mails_age ON inbound_mails (created_at);
