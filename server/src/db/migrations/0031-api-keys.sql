-- Several named keys with rights of their own. A key belongs to an environment, or to a whole organization.
-- The defaults serve processes of the version before, which still insert keys without these columns.
ALTER TABLE api_keys
  ADD COLUMN id text COLLATE "C" NOT NULL DEFAULT substr(md5(random()::text || clock_timestamp()::text), 1, 24),
  ADD COLUMN organization_id text COLLATE "C" REFERENCES organizations ON DELETE CASCADE,
  ADD COLUMN name text NOT NULL DEFAULT 'Compatible key',
  ADD COLUMN scopes text[] NOT NULL DEFAULT '{administer}',
  -- Networks it may be used from; null is everywhere.
  ADD COLUMN allowed_addresses text[],
  -- The beginning of the key, to recognize it by.
  ADD COLUMN hint text NOT NULL DEFAULT '',
  -- Only the compatible key is kept, encrypted: public client libraries make and check signatures with it.
  ALTER COLUMN encrypted_key DROP NOT NULL,
  ALTER COLUMN environment_id DROP NOT NULL,
  ADD CONSTRAINT api_keys_owner CHECK ((environment_id IS NULL) <> (organization_id IS NULL));
CREATE UNIQUE INDEX api_keys_id ON api_keys (id);
CREATE INDEX api_keys_organization ON api_keys (organization_id) WHERE organization_id IS NOT NULL;

-- When a key was last used, written now and then by each process. Apart from the keys, so that noting a use makes no process
-- forget what it remembers of the environment.
CREATE TABLE api_key_uses (
  key_id  text COLLATE "C" PRIMARY KEY REFERENCES api_keys (id) ON DELETE CASCADE,
  used_at timestamptz(3) NOT NULL
);
