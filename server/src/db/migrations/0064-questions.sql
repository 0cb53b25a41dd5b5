-- Questions that steps put to people. They are kept like the activity.
CREATE TABLE questions (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  notification_id text COLLATE "C" NOT NULL,
  -- Of the step in its run.
  position smallint NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  workflow_id text COLLATE "C" NOT NULL,
  workflow text NOT NULL,
  step_id text NOT NULL,
  -- Whose run it is.
  subscriber_row_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'answered', 'expired', 'canceled')),
  question text NOT NULL,
  details text,
  answers jsonb NOT NULL,
  free_text jsonb,
  answer text,
  text text,
  answered_by jsonb,
  level smallint NOT NULL,
  round smallint NOT NULL,
  -- An entry for each time somebody was asked, oldest first: {subscriberId, level, round, at, remindedAt}.
  asked jsonb NOT NULL,
  deadline timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id)
) PARTITION BY RANGE (id);
CREATE TABLE questions_default PARTITION OF questions DEFAULT;
CREATE INDEX questions_run ON questions (environment_id, notification_id);
CREATE INDEX questions_transaction ON questions (environment_id, transaction_id);
CREATE INDEX questions_open ON questions (environment_id, id) WHERE state = 'open';

-- Who was asked, or answered, to find the questions of a person.
CREATE TABLE question_people (
  environment_id text COLLATE "C" NOT NULL,
  question_id text COLLATE "C" NOT NULL,
  subscriber_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (environment_id, subscriber_id, question_id)
) PARTITION BY RANGE (question_id);
CREATE TABLE question_people_default PARTITION OF question_people DEFAULT;

-- Of a copy of a question: {of, subscriberId, level, round, reminder}. It is a step of its channel beside that of the question.
ALTER TABLE jobs ADD COLUMN asked json;
