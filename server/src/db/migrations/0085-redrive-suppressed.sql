-- A message that the suppression list held back can be sent again once its entry is gone. Older processes ask for fewer reasons,
-- which this index has too.
CREATE INDEX jobs_undelivered_too ON jobs (environment_id, id)
  WHERE reason IN ('provider_failed', 'provider_refused', 'outcome_unknown', 'no_integration', 'content_failed',
                   'layout_not_found', 'filter_failed', 'bridge_failed', 'braked', 'internal', 'suppressed');
DROP INDEX jobs_undelivered;
ALTER INDEX jobs_undelivered_too RENAME TO jobs_undelivered;
