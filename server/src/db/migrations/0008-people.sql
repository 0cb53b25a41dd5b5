-- The people of an organization: how they sign in, who is invited, and what was administered by whom.

CREATE TABLE users (
  id              text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organizations,
  name            text NOT NULL,
  email           text NOT NULL,
  -- scrypt with its parameters and salt. Null for those who only come from the identity provider.
  password_hash   text,
  role            text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
  oidc_issuer     text,
  oidc_subject    text,
  created_at      timestamptz(3) NOT NULL,
  updated_at      timestamptz(3) NOT NULL
);
-- Across organizations: whoever signs in says nothing but the address.
CREATE UNIQUE INDEX users_email ON users (lower(email));
CREATE UNIQUE INDEX users_oidc ON users (oidc_issuer, oidc_subject);
CREATE INDEX users_organization ON users (organization_id, lower(name), id);

-- A request finds its session by the SHA-256 of the token in its cookie.
CREATE TABLE user_sessions (
  id           text COLLATE "C" PRIMARY KEY,
  hash         text COLLATE "C" NOT NULL UNIQUE,
  user_id      text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  user_agent   text,
  address      text NOT NULL,
  created_at   timestamptz(3) NOT NULL,
  last_seen_at timestamptz(3) NOT NULL,
  expires_at   timestamptz(3) NOT NULL
);
CREATE INDEX user_sessions_user ON user_sessions (user_id, last_seen_at);
CREATE INDEX user_sessions_expiry ON user_sessions (expires_at);

CREATE TABLE invitations (
  id              text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organizations,
  hash            text COLLATE "C" NOT NULL UNIQUE,
  email           text NOT NULL,
  role            text NOT NULL CHECK (role IN ('owner', 'admin', 'editor', 'viewer')),
  -- As they were called then: they may be gone before the invitation is.
  invited_by      text NOT NULL,
  created_at      timestamptz(3) NOT NULL,
  expires_at      timestamptz(3) NOT NULL,
  accepted_at     timestamptz(3)
);
CREATE UNIQUE INDEX invitations_open ON invitations (organization_id, lower(email)) WHERE accepted_at IS NULL;

-- Links that work once: without a user, to make the first owner; with one, to choose a new password. A newer one replaces it.
CREATE TABLE sign_in_links (
  hash            text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organizations,
  user_id         text COLLATE "C" REFERENCES users ON DELETE CASCADE,
  created_at      timestamptz(3) NOT NULL,
  expires_at      timestamptz(3) NOT NULL,
  CONSTRAINT sign_in_links_one UNIQUE NULLS NOT DISTINCT (organization_id, user_id)
);

-- How often passwords were tried, by the hash of an account's or a caller's address, until when that counts.
CREATE TABLE sign_in_attempts (
  key      text COLLATE "C" PRIMARY KEY,
  attempts integer NOT NULL,
  ends_at  timestamptz(3) NOT NULL
);
CREATE INDEX sign_in_attempts_end ON sign_in_attempts (ends_at);

-- What was administered. Names and addresses are copies: the log outlives those it tells of. For the same reason the
-- environment has another name here than elsewhere: what has an environment_id goes with its environment.
CREATE TABLE audit_log (
  id              text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organizations,
  action          text NOT NULL,
  actor_type      text NOT NULL CHECK (actor_type IN ('person', 'api-key', 'system')),
  actor_id        text COLLATE "C",
  actor_name      text NOT NULL,
  actor_email     text,
  target_type     text NOT NULL,
  target_id       text,
  target_name     text,
  acted_in        text COLLATE "C",
  address         text,
  details         jsonb NOT NULL DEFAULT '{}',
  created_at      timestamptz(3) NOT NULL
);
CREATE INDEX audit_log_organization ON audit_log (organization_id, id);
CREATE INDEX audit_log_age ON audit_log (created_at);
