-- Which step of which run has started a trigger, and how deep.
ALTER TABLE events ADD COLUMN started_by json;
-- The goals of a run: what they listen for, and the one that was met.
ALTER TABLE notifications ADD COLUMN goals json;
