-- In this database the functions of 0076 know environments, workflows and what was accepted. The tables are named with their
-- schema, because the functions run with the rights of their owner and a fixed search path.
DO $here$
DECLARE
  own text := quote_ident((SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                           WHERE c.oid = 'belfry_migrations'::regclass));
BEGIN
  EXECUTE replace($$
    CREATE OR REPLACE FUNCTION belfry.find_environment(word text) RETURNS text
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      found text[] := ARRAY(SELECT e.id FROM own.environments e
        WHERE e.id <> repeat('f', 24) AND (e.id = word OR e.identifier = word OR e.name = word));
    BEGIN
      IF cardinality(found) > 1 THEN
        RAISE EXCEPTION 'There are % environments called "%"', cardinality(found), word
          USING ERRCODE = '22023', HINT = 'Give the identifier or id';
      END IF;
      RETURN found[1];
    END $body$
  $$, 'own.', own || '.');

  EXECUTE replace($$
    CREATE OR REPLACE FUNCTION belfry.check_strictly(environment text, workflow text) RETURNS void
    LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      is_active boolean := (SELECT w.active FROM own.workflows w
        WHERE w.environment_id = environment AND w.identifier = workflow);
    BEGIN
      IF is_active IS NULL THEN
        RAISE EXCEPTION 'workflow_not_found' USING ERRCODE = 'P0001',
          DETAIL = format('There is no workflow "%s" in this environment', workflow), HINT = 'Create it, or correct its id';
      ELSIF NOT is_active THEN
        RAISE EXCEPTION 'trigger_not_active' USING ERRCODE = 'P0001',
          DETAIL = format('Workflow "%s" is not active', workflow), HINT = 'Activate it';
      END IF;
    END $body$
  $$, 'own.', own || '.');

  EXECUTE replace($$
    CREATE OR REPLACE FUNCTION belfry.is_accepted(environment text, of_transaction text) RETURNS boolean
    LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $body$
      SELECT EXISTS (SELECT FROM own.transactions t
                     WHERE t.environment_id = environment AND t.transaction_id = of_transaction)
        OR (of_transaction ~ '^txn_[0-9a-f]{24}$' AND EXISTS (
          SELECT FROM own.events e WHERE e.environment_id = environment AND e.id = substr(of_transaction, 5)))
    $body$
  $$, 'own.', own || '.');
END $here$;

DROP TABLE belfry.accepted;
