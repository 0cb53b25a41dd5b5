-- What happens: triggers as they were accepted, the runs they start, what those wait for, and the messages that come of it.

-- Counts every change to what processes remember of an environment. Whoever acts on remembered data says which count it
-- belongs to, so that a stale memory is noticed by the very statement that would act on it. A table of its own, written at
-- commit by a trigger: its row is the last lock of every transaction, so that none can wait for another in a circle.
CREATE TABLE environment_revisions (
  environment_id text COLLATE "C" PRIMARY KEY,
  revision       bigint NOT NULL
);

-- Its argument is the column that holds the environment, or for organizations the organization, whose environments all count.
CREATE FUNCTION count_environment_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed_id text;
BEGIN
  EXECUTE format('SELECT ($1).%I', TG_ARGV[0]) INTO changed_id USING CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  INSERT INTO environment_revisions AS r (environment_id, revision)
  SELECT id, 1 FROM environments WHERE CASE TG_TABLE_NAME WHEN 'organizations' THEN organization_id ELSE id END = changed_id
  ORDER BY id
  ON CONFLICT (environment_id) DO UPDATE SET revision = r.revision + 1;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE OF version ON workflows
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON integrations
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON layouts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON translations
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON environment_variable_values
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON api_keys
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
CREATE CONSTRAINT TRIGGER counted AFTER UPDATE ON environments
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('id');
CREATE CONSTRAINT TRIGGER counted AFTER UPDATE ON organizations
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('id');

-- Members of topics in the order in which a trigger walks them: by subscriber, so that nobody in two topics comes twice.
CREATE INDEX topic_subscriptions_member ON topic_subscriptions (environment_id, topic_id, subscriber_row_id);

-- The exact dedup key of triggers. Not partitioned, because the key must hold across all time.
CREATE TABLE transactions (
  environment_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C" NOT NULL,
  expires_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, transaction_id)
);
-- In the order of time, as the rows come: next to nothing to keep, enough to find what is old.
CREATE INDEX transactions_expiry ON transactions USING brin (expires_at);

-- The tables that grow for ever are partitioned by the time in their ids: old data is dropped by partition, and a look-up
-- by id touches one. The default partitions hold what no other does; they stay empty in a service that runs.
-- What callers sent is json, not jsonb: it is only ever read back whole, in the order it was written.
CREATE TABLE events (
  environment_id   text COLLATE "C" NOT NULL,
  id               text COLLATE "C" NOT NULL,
  transaction_id   text COLLATE "C" NOT NULL,
  workflow_id      text COLLATE "C" NOT NULL,
  workflow_version integer NOT NULL,
  -- Null is everybody.
  recipients       json,
  payload          json NOT NULL,
  overrides        json NOT NULL,
  actor            json,
  tenant           json,
  context          json,
  -- Set with the runs of those named directly, in one transaction: a second delivery of the queue's job starts nothing.
  started_at       timestamptz(3),
  created_at       timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);

-- A walk through the topics of a trigger, or through everybody, while it is under way. `reached` is the last subscriber whose
-- run has been started. A long one goes on in lanes, each with its share of the subscribers.
CREATE TABLE walks (
  environment_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C" NOT NULL,
  lane           smallint NOT NULL,
  lanes          smallint NOT NULL,
  reached        text COLLATE "C" NOT NULL,
  PRIMARY KEY (environment_id, event_id, lane)
);

-- One run: one trigger for one subscriber.
CREATE TABLE notifications (
  environment_id    text COLLATE "C" NOT NULL,
  id                text COLLATE "C" NOT NULL,
  event_id          text COLLATE "C" NOT NULL,
  transaction_id    text COLLATE "C" NOT NULL,
  workflow_id       text COLLATE "C" NOT NULL,
  workflow_version  integer NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id     text COLLATE "C" NOT NULL,
  status            text NOT NULL,
  severity          text NOT NULL,
  critical          boolean NOT NULL,
  channels          text[] NOT NULL,
  tags              text[] NOT NULL,
  context_keys      text[] COLLATE "C" NOT NULL,
  -- The topics it came through, each with what the subscription's preference said.
  topics            json,
  -- The run whose digest took this one's event.
  digested_into     text COLLATE "C",
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE INDEX notifications_transaction ON notifications (environment_id, transaction_id, id);
CREATE INDEX notifications_subscriber ON notifications (environment_id, subscriber_row_id, id);
CREATE INDEX notifications_workflow ON notifications (environment_id, workflow_id, id);

-- One step of one run. `details` is its log: a list in the row costs one write where rows of their own cost three or more.
CREATE TABLE jobs (
  environment_id      text COLLATE "C" NOT NULL,
  notification_id     text COLLATE "C" NOT NULL,
  position            smallint NOT NULL,
  id                  text COLLATE "C" NOT NULL,
  step_row_id         text COLLATE "C" NOT NULL,
  step_id             text COLLATE "C" NOT NULL,
  type                text NOT NULL,
  status              text NOT NULL,
  -- Why it ended as it did, where it did not just complete: one of the reasons in steps/contract/outcome.ts.
  reason              text,
  error               text,
  provider_id         text COLLATE "C",
  details             jsonb NOT NULL,
  -- What later steps read of it.
  output              json,
  -- The settings of a digest, and once it has fired its events.
  digest              json,
  -- The run whose digest this one was merged into.
  merged_into         text COLLATE "C",
  schedule_extensions smallint NOT NULL,
  -- Calls to the outside: how many were begun, and what a later attempt has to know of the earlier ones.
  attempts            smallint NOT NULL,
  delivery            json,
  due_at              timestamptz(3),
  created_at          timestamptz(3) NOT NULL,
  updated_at          timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, notification_id, position)
) PARTITION BY RANGE (notification_id);
CREATE INDEX jobs_merged ON jobs (environment_id, merged_into) WHERE merged_into IS NOT NULL;

CREATE TABLE messages (
  environment_id    text COLLATE "C" NOT NULL,
  id                text COLLATE "C" NOT NULL,
  notification_id   text COLLATE "C" NOT NULL,
  event_id          text COLLATE "C" NOT NULL,
  transaction_id    text COLLATE "C" NOT NULL,
  job_id            text COLLATE "C" NOT NULL,
  workflow_id       text COLLATE "C" NOT NULL,
  workflow          text COLLATE "C" NOT NULL,
  step_row_id       text COLLATE "C" NOT NULL,
  step_id           text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  subscriber_id     text COLLATE "C" NOT NULL,
  channel           text NOT NULL,
  provider_id       text COLLATE "C",
  integration_id    text COLLATE "C",
  -- What the provider calls it.
  identifier        text COLLATE "C",
  subject           text,
  content           text,
  avatar            text,
  cta               json,
  data              jsonb,
  email             text,
  phone             text,
  device_tokens     text[],
  webhook_url       text,
  channel_data      json,
  tags              text[] NOT NULL,
  severity          text NOT NULL,
  context_keys      text[] COLLATE "C" NOT NULL,
  actor_row_id      text COLLATE "C",
  status            text NOT NULL,
  error_id          text,
  error_text        text,
  seen              boolean NOT NULL DEFAULT false,
  read              boolean NOT NULL DEFAULT false,
  archived          boolean NOT NULL DEFAULT false,
  snoozed_until     timestamptz(3),
  delivered_at      timestamptz(3)[],
  first_seen_at     timestamptz(3),
  last_seen_at      timestamptz(3),
  last_read_at      timestamptz(3),
  archived_at       timestamptz(3),
  created_at        timestamptz(3) NOT NULL,
  updated_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
-- By created_at, not by id: a message that was snoozed comes back as a new one. The channel stands in front of it: an inbox
-- is one channel in order, and all that a subscriber ever got is still found by the same index.
CREATE INDEX messages_subscriber ON messages (environment_id, subscriber_row_id, channel, created_at, id);
CREATE INDEX messages_transaction ON messages (environment_id, transaction_id, notification_id);
CREATE INDEX messages_identifier ON messages (environment_id, identifier) WHERE identifier IS NOT NULL;

CREATE TABLE events_default PARTITION OF events DEFAULT;
CREATE TABLE notifications_default PARTITION OF notifications DEFAULT;
CREATE TABLE jobs_default PARTITION OF jobs DEFAULT;
CREATE TABLE messages_default PARTITION OF messages DEFAULT;

-- What has to happen at a time: a wait that ends, an attempt to repeat, a snoozed message that comes back. The row goes in
-- the transaction that does it.
CREATE TABLE timers (
  environment_id text COLLATE "C" NOT NULL,
  subject_id     text COLLATE "C" NOT NULL,
  position       smallint NOT NULL,
  kind           text NOT NULL CHECK (kind IN ('step', 'unsnooze')),
  due_at         timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, subject_id, position)
);
CREATE INDEX timers_due ON timers (due_at);

-- A digest that collects: whoever comes while the row has a run is merged into it. Its lock is what makes windows exact.
-- `seen_at` is when the group last had an event, for digests that look back.
CREATE TABLE digests (
  environment_id    text COLLATE "C" NOT NULL,
  workflow_id       text COLLATE "C" NOT NULL,
  step_row_id       text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  value             text COLLATE "C" NOT NULL,
  notification_id   text COLLATE "C",
  seen_at           timestamptz(3) NOT NULL,
  forget_at         timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, workflow_id, step_row_id, subscriber_row_id, value)
);
CREATE INDEX digests_forget ON digests (forget_at) WHERE notification_id IS NULL;

-- A throttle's window: how many runs it has let pass.
CREATE TABLE throttles (
  environment_id    text COLLATE "C" NOT NULL,
  workflow_id       text COLLATE "C" NOT NULL,
  step_row_id       text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  value             text COLLATE "C" NOT NULL,
  passed            integer NOT NULL,
  started_at        timestamptz(3) NOT NULL,
  ends_at           timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, workflow_id, step_row_id, subscriber_row_id, value)
);
CREATE INDEX throttles_end ON throttles (ends_at);

-- Files that came with a trigger, until its last run has ended.
CREATE TABLE attachments (
  environment_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C" NOT NULL,
  position       smallint NOT NULL,
  name           text NOT NULL,
  mime           text NOT NULL,
  content        bytea NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, event_id, position)
);
CREATE INDEX attachments_age ON attachments (created_at);
