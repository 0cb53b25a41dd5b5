-- The second factor of people: authenticator apps, passkeys and recovery codes, and when somebody last proved who they are.
-- The defaults serve sessions of before and processes of the version before.
ALTER TABLE organizations ADD COLUMN requires_second_factor boolean NOT NULL DEFAULT false;

ALTER TABLE user_sessions
  -- When the person last gave a password, a code or a passkey. Null: when the session began.
  ADD COLUMN proved_at timestamptz(3),
  -- Begun by the identity provider, which asks for a second factor itself, or does not.
  ADD COLUMN is_from_provider boolean NOT NULL DEFAULT false;
UPDATE user_sessions s SET is_from_provider = true FROM users u
  WHERE u.id = s.user_id AND u.oidc_subject IS NOT NULL AND u.password_hash IS NULL;

-- One authenticator app a person. It counts once a code has confirmed it.
CREATE TABLE authenticator_apps (
  user_id      text COLLATE "C" PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  secret       text NOT NULL,
  -- The time step of the last code that was accepted: that code and earlier ones are refused.
  last_step    bigint,
  created_at   timestamptz(3) NOT NULL,
  confirmed_at timestamptz(3)
);

CREATE TABLE passkeys (
  id            text COLLATE "C" PRIMARY KEY,
  user_id       text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  credential_id text COLLATE "C" NOT NULL UNIQUE,
  public_key    text NOT NULL,
  -- Authenticators that count their signatures show a copy by counting backwards.
  counter       bigint NOT NULL,
  transports    text[] NOT NULL,
  -- The host it was made for; no other host can use it.
  host          text NOT NULL,
  name          text NOT NULL,
  created_at    timestamptz(3) NOT NULL,
  last_used_at  timestamptz(3)
);
CREATE INDEX passkeys_user ON passkeys (user_id, created_at);

-- What a passkey has to sign: once, and soon. `owner` is a person or a network, each of which has a few at a time.
CREATE TABLE passkey_challenges (
  hash       text COLLATE "C" PRIMARY KEY,
  purpose    text NOT NULL CHECK (purpose IN ('register', 'sign-in', 'second-step', 'proof')),
  owner      text COLLATE "C" NOT NULL,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX passkey_challenges_owner ON passkey_challenges (owner, expires_at);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);

-- A row is a code that has not been used.
CREATE TABLE recovery_codes (
  user_id    text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  hash       text COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (user_id, hash)
);

-- Sign-ins whose password was right and whose second factor is awaited.
CREATE TABLE sign_in_steps (
  hash       text COLLATE "C" PRIMARY KEY,
  user_id    text COLLATE "C" NOT NULL REFERENCES users ON DELETE CASCADE,
  attempts   integer NOT NULL DEFAULT 0,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX sign_in_steps_user ON sign_in_steps (user_id, expires_at);
CREATE INDEX sign_in_steps_expiry ON sign_in_steps (expires_at);
