-- What signs and checks signatures, one secret for each purpose, apart from API keys. Without one, the environment's compatible
-- key serves, as public client libraries expect.
CREATE TABLE signing_secrets (
  id             text COLLATE "C" PRIMARY KEY,
  environment_id text COLLATE "C" NOT NULL REFERENCES environments ON DELETE CASCADE,
  purpose        text NOT NULL CHECK (purpose IN ('inbox', 'bridge', 'replies', 'requests')),
  secret         text NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  -- Set once it has been replaced: it is accepted, and signs beside the new one, until then.
  expires_at     timestamptz(3)
);
CREATE INDEX signing_secrets_environment ON signing_secrets (environment_id);
CREATE CONSTRAINT TRIGGER counted AFTER INSERT OR DELETE OR UPDATE ON signing_secrets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_environment_change('environment_id');
