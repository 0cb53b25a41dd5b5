-- Links by which subscribers tell a bot who they are. The word in one is known by its hash alone, and counts once.
CREATE TABLE bot_links (
  environment_id text COLLATE "C" NOT NULL,
  hash text COLLATE "C" NOT NULL,
  integration_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  context_keys text[] COLLATE "C" NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, hash)
);
CREATE INDEX bot_links_subscriber ON bot_links (environment_id, subscriber_id);
CREATE INDEX bot_links_expiry ON bot_links (expires_at);
