-- When the version of a layout was published, as of a workflow: later saves are no part of what was.
ALTER TABLE layout_versions ADD COLUMN published_at timestamptz(3);
