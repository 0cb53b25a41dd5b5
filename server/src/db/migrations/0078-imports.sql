-- Imports of data from another service: how far each kind is, as the requests of the importer say.
CREATE TABLE imports (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  source text NOT NULL,
  found bigint NOT NULL,
  done bigint NOT NULL,
  imported bigint NOT NULL,
  unchanged bigint NOT NULL,
  failed bigint NOT NULL,
  started_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id, kind)
);
CREATE INDEX imports_newest ON imports (environment_id, updated_at);
