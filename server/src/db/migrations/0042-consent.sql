-- Whether people may refuse what a workflow sends, what is unsubscribed together, and the consent settings of an environment.
ALTER TABLE workflows
  ADD COLUMN message_class text COLLATE "C" NOT NULL DEFAULT 'transactional',
  ADD COLUMN consent_category text COLLATE "C";
ALTER TABLE environments ADD COLUMN consent jsonb;
