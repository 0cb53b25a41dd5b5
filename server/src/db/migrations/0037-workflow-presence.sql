-- Who has a workflow open in the dashboard: a row a person, renewed while the page is in sight. Processes of the version before
-- know nothing of it.
CREATE TABLE workflow_presence (
  environment_id text COLLATE "C" NOT NULL,
  workflow_id    text COLLATE "C" NOT NULL,
  user_id        text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  expires_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, workflow_id, user_id)
);
CREATE INDEX workflow_presence_user ON workflow_presence (user_id);
CREATE INDEX workflow_presence_expiry ON workflow_presence (expires_at);
