-- A person's roles in single environments, by the environment's id; they replace the role in the organization there. Empty: the
-- same role everywhere. In the row itself, so that finding a session finds them too.
ALTER TABLE users ADD COLUMN environment_roles jsonb NOT NULL DEFAULT '{}';
ALTER TABLE invitations ADD COLUMN environment_roles jsonb NOT NULL DEFAULT '{}';

-- A protected environment takes workflows, layouts and translations only by a publish that a second person approved.
ALTER TABLE environments
  ADD COLUMN is_protected boolean NOT NULL DEFAULT false,
  -- Whether API keys are exempt.
  ADD COLUMN is_open_to_automation boolean NOT NULL DEFAULT false;

CREATE TABLE publish_requests (
  id                 text COLLATE "C" PRIMARY KEY,
  -- The target: the request belongs to it.
  environment_id     text COLLATE "C" NOT NULL REFERENCES environments ON DELETE CASCADE,
  source_id          text COLLATE "C" NOT NULL REFERENCES environments ON DELETE CASCADE,
  status             text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'declined', 'withdrawn')),
  comment            text NOT NULL DEFAULT '',
  -- What would be published: each resource with its action and the hash of both sides. Nothing else is published.
  resources          jsonb NOT NULL,
  -- The differences as they were reviewed.
  diff               jsonb NOT NULL,
  requester_type     text NOT NULL CHECK (requester_type IN ('person', 'api-key')),
  requester_id       text COLLATE "C" NOT NULL,
  requester_name     text NOT NULL,
  -- The person who asked, or who made the key that asked; not a reference, because people leave.
  requester_user_id  text COLLATE "C" NOT NULL,
  decided_by         text COLLATE "C",
  decided_by_name    text,
  decision_comment   text NOT NULL DEFAULT '',
  decided_at         timestamptz(3),
  created_at         timestamptz(3) NOT NULL,
  -- A pending request counts as expired from here on.
  expires_at         timestamptz(3) NOT NULL
);
CREATE INDEX publish_requests_environment ON publish_requests (environment_id, id DESC);
CREATE INDEX publish_requests_source ON publish_requests (source_id);
