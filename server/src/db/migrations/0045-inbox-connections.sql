-- When a page last opened an inbox of the environment, and from which origin. Pages of the dashboard and the demo do not count.
CREATE TABLE inbox_connections (
  environment_id text COLLATE "C" PRIMARY KEY REFERENCES environments (id) ON DELETE CASCADE,
  connected_at timestamptz(3) NOT NULL,
  origin text
);
