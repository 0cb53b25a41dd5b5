-- What the engine has to say of those who got no run, what tenants want otherwise, and more that can be sent once more.

-- Recipients of a trigger who were passed over. One row for all of a chunk with the same reason: a topic has many members.
CREATE TABLE passed_over (
  environment_id text COLLATE "C" NOT NULL,
  event_id       text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  reason         text NOT NULL,
  detail         text,
  -- Of a topic that is not there, or ids that cannot be one: as the trigger named it.
  named          text,
  subscriber_ids text[] COLLATE "C" NOT NULL,
  created_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, event_id, id)
);
-- They go with the months of the events.
CREATE INDEX passed_over_age ON passed_over (event_id);

-- What holds for one tenant in place of what the workflow says.
CREATE TABLE workflow_overrides (
  environment_id text COLLATE "C" NOT NULL,
  id             text COLLATE "C" NOT NULL,
  workflow_id    text COLLATE "C" NOT NULL,
  tenant_id      text COLLATE "C" NOT NULL,
  -- Null leaves it to the workflow.
  active         boolean,
  -- By channel; one that is not named is left to the workflow.
  channels       jsonb NOT NULL DEFAULT '{}',
  created_at     timestamptz(3) NOT NULL,
  updated_at     timestamptz(3) NOT NULL,
  PRIMARY KEY (environment_id, id),
  UNIQUE (environment_id, tenant_id, workflow_id),
  FOREIGN KEY (environment_id, tenant_id) REFERENCES tenants (environment_id, id) ON DELETE CASCADE,
  FOREIGN KEY (environment_id, workflow_id) REFERENCES workflows (environment_id, id) ON DELETE CASCADE
);
CREATE INDEX workflow_overrides_workflow ON workflow_overrides (environment_id, workflow_id);
CREATE INDEX workflow_overrides_created ON workflow_overrides (environment_id, created_at, id);

-- Also what failed before a provider was asked, and would not now.
DROP INDEX jobs_undelivered;
CREATE INDEX jobs_undelivered ON jobs (environment_id, id)
  WHERE reason IN ('provider_failed', 'provider_refused', 'outcome_unknown', 'no_integration', 'content_failed',
                   'layout_not_found', 'filter_failed', 'bridge_failed', 'internal');
