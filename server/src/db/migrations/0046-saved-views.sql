-- The views of lists that people have saved: filters and order, as the dashboard writes them into its URL.
CREATE TABLE saved_views (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  page text COLLATE "C" NOT NULL,
  name text NOT NULL,
  search text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX saved_views_name ON saved_views (user_id, page, lower(name));
