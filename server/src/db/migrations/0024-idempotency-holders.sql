-- Since when the process that holds the key has been without its lock (db/core/changes.ts), as seen by those that want the key.
ALTER TABLE idempotency_keys ADD COLUMN suspect_since timestamptz(3);
