-- Each entry of the audit log carries a hash of itself and of the entry before it, so that a change or a gap shows. Who a
-- subscriber is can be erased from it: the chain covers a salted digest of the target, and the salt goes with the target.
CREATE TABLE audit_heads (
  organization_id text COLLATE "C" PRIMARY KEY REFERENCES organizations,
  number          bigint NOT NULL,
  hash            bytea NOT NULL
);

ALTER TABLE audit_log
  ADD COLUMN number bigint,
  ADD COLUMN target_salt text,
  ADD COLUMN target_digest bytea,
  ADD COLUMN previous_hash bytea,
  ADD COLUMN hash bytea;

CREATE FUNCTION audit_target_digest(entry audit_log) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(convert_to(jsonb_build_array(entry.target_salt, entry.target_id, entry.target_name)::text, 'UTF8'))
$$;

CREATE FUNCTION audit_entry_hash(entry audit_log) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(entry.previous_hash || convert_to(jsonb_build_array(
    entry.number, entry.id, entry.organization_id, entry.action, entry.actor_type, entry.actor_id, entry.actor_name,
    entry.actor_email, entry.target_type, encode(entry.target_digest, 'hex'), entry.acted_in, entry.address, entry.details,
    (extract(epoch FROM entry.created_at) * 1000)::bigint)::text, 'UTF8'))
$$;

CREATE FUNCTION chain_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Restored from a backup.
  IF NEW.hash IS NOT NULL THEN RETURN NEW; END IF;
  INSERT INTO audit_heads VALUES (NEW.organization_id, 0, '') ON CONFLICT DO NOTHING;
  -- Entries of an organization wait for each other here: administrative acts are rare.
  UPDATE audit_heads SET number = number + 1 WHERE organization_id = NEW.organization_id
    RETURNING number, hash INTO NEW.number, NEW.previous_hash;
  NEW.target_salt := gen_random_uuid()::text;
  NEW.target_digest := audit_target_digest(NEW);
  NEW.hash := audit_entry_hash(NEW);
  UPDATE audit_heads SET hash = NEW.hash WHERE organization_id = NEW.organization_id;
  RETURN NEW;
END
$$;

CREATE FUNCTION keep_audit_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE erasable text[] := '{target_id,target_name,target_salt}';
BEGIN
  IF to_jsonb(NEW) - erasable <> to_jsonb(OLD) - erasable THEN RAISE EXCEPTION 'The audit log can only be added to.'; END IF;
  RETURN NEW;
END
$$;

-- The entries so far, in their order.
DO $$
DECLARE entry audit_log;
BEGIN
  FOR entry IN SELECT * FROM audit_log ORDER BY organization_id, id LOOP
    INSERT INTO audit_heads VALUES (entry.organization_id, 0, '') ON CONFLICT DO NOTHING;
    UPDATE audit_heads SET number = number + 1 WHERE organization_id = entry.organization_id
      RETURNING number, hash INTO entry.number, entry.previous_hash;
    entry.target_salt := gen_random_uuid()::text;
    entry.target_digest := audit_target_digest(entry);
    entry.hash := audit_entry_hash(entry);
    UPDATE audit_log SET number = entry.number, target_salt = entry.target_salt, target_digest = entry.target_digest,
      previous_hash = entry.previous_hash, hash = entry.hash WHERE id = entry.id;
    UPDATE audit_heads SET hash = entry.hash WHERE organization_id = entry.organization_id;
  END LOOP;
END
$$;

ALTER TABLE audit_log
  ALTER COLUMN number SET NOT NULL,
  ALTER COLUMN target_digest SET NOT NULL,
  ALTER COLUMN previous_hash SET NOT NULL,
  ALTER COLUMN hash SET NOT NULL;
CREATE UNIQUE INDEX audit_log_number ON audit_log (organization_id, number);
CREATE TRIGGER audit_log_chained BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION chain_audit_entry();
CREATE TRIGGER audit_log_kept BEFORE UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION keep_audit_entry();
