-- Why an integration takes no messages, as a code: a host that cannot be found is not a refusal.
ALTER TABLE integration_health ADD COLUMN error_code text;
