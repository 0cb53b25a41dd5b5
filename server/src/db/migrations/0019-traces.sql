-- The trace a trigger belongs to, as in `traceparent`; written only where traces are sent somewhere.
ALTER TABLE events ADD COLUMN trace text COLLATE "C";
