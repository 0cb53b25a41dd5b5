-- Windows of digests whose end moves, that open with an event that is sent at once, or that end with a number of events.
ALTER TABLE digests ADD COLUMN bounds json;
