-- The inbox in browsers: who is connected, and what has not been read.

-- Processes that hold sockets of browsers, by the database's clock. One that has not been heard of for a while is dead, and
-- what it said about subscribers is taken back by the others. Lost with the server's memory, these tables are filled again.
CREATE UNLOGGED TABLE inbox_processes (
  id      text COLLATE "C" PRIMARY KEY,
  seen_at timestamptz NOT NULL
);

-- Who is connected, in which set of contexts, and to which process. Whatever changes an inbox looks here first: as long as
-- nobody is connected, nobody is told.
CREATE UNLOGGED TABLE inbox_presence (
  environment_id    text COLLATE "C" NOT NULL,
  subscriber_row_id text COLLATE "C" NOT NULL,
  contexts          text COLLATE "C" NOT NULL,
  process_id        text COLLATE "C" NOT NULL,
  PRIMARY KEY (environment_id, subscriber_row_id, contexts, process_id)
);
CREATE INDEX inbox_presence_process ON inbox_presence (process_id);

-- What counts are made of, and the list of what is unread. By severity too, which is looked at before the row is.
CREATE INDEX messages_unread ON messages (environment_id, subscriber_row_id, created_at, id, severity)
  WHERE channel = 'in_app' AND (NOT read OR NOT seen);
