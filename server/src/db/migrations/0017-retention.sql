-- How long an environment keeps what it has, where it has periods of its own: {"activityDays", "messageDays", "inboxDays"}.
ALTER TABLE environments ADD COLUMN retention jsonb;
