-- The URL of an incoming chat webhook is a credential, and is encrypted from now on. These find what is still in the clear: rows
-- from before, and from processes of the version before. Once those are encrypted the indexes are empty.
CREATE INDEX channel_endpoints_clear ON channel_endpoints (environment_id, id)
  WHERE endpoint @? '$.url ? (!(@ starts with "enc:v1:"))';
CREATE INDEX subscribers_clear ON subscribers (environment_id, id)
  WHERE channels @? '$[*].credentials.webhookUrl ? (!(@ starts with "enc:v1:"))';
