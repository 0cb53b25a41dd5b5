-- In this database a strict call knows the workflows and their schemas, and what holds for the tenant in place of the workflow.
DO $here$
DECLARE
  own text := quote_ident((SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                           WHERE c.oid = 'belfry_migrations'::regclass));
BEGIN
  EXECUTE replace($$
    CREATE OR REPLACE FUNCTION belfry.check_strictly(environment text, workflow text, payload jsonb, tenant text) RETURNS void
    LANGUAGE plpgsql STABLE AS $body$
    DECLARE
      is_active boolean;
      schema json;
      problem text;
    BEGIN
      SELECT coalesce(o.active, w.active), CASE WHEN w.validate_payload THEN w.payload_schema END INTO is_active, schema
      FROM own.workflows w
      LEFT JOIN own.tenants t ON t.environment_id = w.environment_id AND t.identifier = tenant
      LEFT JOIN own.workflow_overrides o
        ON o.environment_id = w.environment_id AND o.tenant_id = t.id AND o.workflow_id = w.id
      WHERE w.environment_id = environment AND w.identifier = workflow;
      IF is_active IS NULL THEN
        RAISE EXCEPTION 'workflow_not_found' USING ERRCODE = 'P0001',
          DETAIL = format('There is no workflow "%s" in this environment', workflow), HINT = 'Create it, or correct its id';
      ELSIF NOT is_active THEN
        RAISE EXCEPTION 'trigger_not_active' USING ERRCODE = 'P0001',
          DETAIL = format('Workflow "%s" is not active', workflow), HINT = 'Activate it';
      ELSIF schema IS NULL THEN
        RETURN;
      END IF;
      BEGIN
        problem := belfry.misfit(schema::jsonb, payload);
      EXCEPTION WHEN data_exception THEN
        -- JSON that jsonb cannot hold, such as a NUL. The service judges it after the commit.
        problem := NULL;
      END;
      IF problem IS NOT NULL THEN
        RAISE EXCEPTION 'payload_invalid' USING ERRCODE = 'P0001', DETAIL = problem,
          HINT = format('Correct the payload, or the schema of workflow "%s"', workflow);
      END IF;
    END $body$
  $$, 'own.', own || '.');
END $here$;
