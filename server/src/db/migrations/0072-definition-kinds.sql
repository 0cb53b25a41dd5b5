-- Files can also own topics, integrations and variables.
ALTER TABLE definition_files DROP CONSTRAINT definition_files_kind_check;
ALTER TABLE definition_files ADD CONSTRAINT definition_files_kind_check
  CHECK (kind IN ('workflow', 'layout', 'translation', 'topic', 'integration', 'variable'));
