-- Who is on duty when, for the chains of questions.
CREATE TABLE rotas (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  rota_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  timezone text NOT NULL,
  shifts jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, rota_id)
);
