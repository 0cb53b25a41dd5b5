-- A strict call fails at once for a payload that does not fit the workflow's schema, too. `belfry outbox install` runs this file after
-- 0076 and 0086, also over an earlier version; 0101 tells it about our own tables.
--
-- Judges a value by a JSON Schema, as far as it can do so exactly as the service: `fits` is null where it cannot, and then the
-- service judges after the commit. False only where the service would refuse it, with what is wrong in `problem`.
-- `is_trial`: within anyOf, not and the like, where defaults are not filled in. `steps`: what may still be done.
CREATE OR REPLACE FUNCTION belfry.judge(
  root jsonb, schema jsonb, value jsonb, place text, is_trial boolean, depth integer,
  INOUT steps integer, OUT fits boolean, OUT problem text
)
LANGUAGE plpgsql IMMUTABLE AS $$
#variable_conflict use_variable
DECLARE
  kind text := jsonb_typeof(value);
  given jsonb;
  written text;
  size double precision;
  below record;
  part jsonb;
  name text;
  answer boolean;
  told text;
  is_open boolean := false;
  passed integer;
  unsure integer;
BEGIN
  steps := steps - 1;
  IF schema = 'true' THEN fits := true; RETURN; END IF;
  IF schema = 'false' THEN fits := false; problem := place || ' is not allowed'; RETURN; END IF;
  IF schema IS NULL OR jsonb_typeof(schema) <> 'object' OR steps <= 0 OR depth > 100 THEN RETURN; END IF;
  fits := false;

  -- Before all else, as the service does: what has a default is never missing.
  IF kind = 'object' AND NOT is_trial AND schema ? 'properties' THEN
    SELECT value || coalesce(jsonb_object_agg(p.key, p.value -> 'default'), '{}') INTO value
    FROM jsonb_each(schema -> 'properties') p
    WHERE jsonb_typeof(p.value) = 'object' AND p.value ? 'default' AND NOT value ? p.key;
  END IF;

  -- Values of one type.
  IF schema ? 'type' THEN
    given := CASE jsonb_typeof(schema -> 'type') WHEN 'array' THEN schema -> 'type' ELSE jsonb_build_array(schema -> 'type') END;
    IF NOT (given ? kind OR (kind = 'null' AND schema -> 'nullable' = 'true') OR (kind = 'number' AND given ? 'integer'
      AND trunc((value #>> '{}')::double precision) = (value #>> '{}')::double precision)) THEN
      problem := format('%s must be %s', place, (SELECT string_agg(t, ' or ') FROM jsonb_array_elements_text(given) t));
      RETURN;
    END IF;
  END IF;
  IF schema ? 'const' AND value <> schema -> 'const' THEN
    problem := place || ' must be equal to constant';
    RETURN;
  END IF;
  IF schema ? 'enum' AND NOT EXISTS (SELECT FROM jsonb_array_elements(schema -> 'enum') e WHERE e.value = judge.value) THEN
    problem := place || ' must be equal to one of the allowed values';
    RETURN;
  END IF;
  IF kind = 'number' THEN
    size := (value #>> '{}')::double precision;
    problem := place || CASE
      WHEN size < (schema ->> 'minimum')::double precision THEN ' must be >= ' || (schema ->> 'minimum')
      WHEN size > (schema ->> 'maximum')::double precision THEN ' must be <= ' || (schema ->> 'maximum')
      WHEN size <= (schema ->> 'exclusiveMinimum')::double precision THEN ' must be > ' || (schema ->> 'exclusiveMinimum')
      WHEN size >= (schema ->> 'exclusiveMaximum')::double precision THEN ' must be < ' || (schema ->> 'exclusiveMaximum')
      WHEN trunc(size / (schema ->> 'multipleOf')::double precision) <> size / (schema ->> 'multipleOf')::double precision
        THEN ' must be multiple of ' || (schema ->> 'multipleOf')
    END;
    is_open := schema ? 'format';
  ELSIF kind = 'string' THEN
    written := value #>> '{}';
    problem := place || CASE
      WHEN length(written) < (schema ->> 'minLength')::numeric
        THEN format(' must NOT have fewer than %s characters', schema ->> 'minLength')
      WHEN length(written) > (schema ->> 'maxLength')::numeric
        THEN format(' must NOT have more than %s characters', schema ->> 'maxLength')
    END;
    -- Only patterns and texts that every engine reads in the same way.
    IF problem IS NULL AND schema ? 'pattern' THEN
      IF schema ->> 'pattern' ~ '^(\\[dws.\-/+*?()\[\]{}|^$\\]|[^\\])*$' AND schema ->> 'pattern' !~ '\(\?[^:]|\[\^?[\]:.=]'
        AND written !~ '[^\u0020-\u007e]' AND length(written) <= 10000 THEN
        IF written COLLATE "C" !~ (schema ->> 'pattern') THEN
          problem := format('%s must match pattern "%s"', place, schema ->> 'pattern');
        END IF;
      ELSE
        is_open := true;
      END IF;
    END IF;
    -- Formats are for the service to know.
    is_open := is_open OR schema ? 'format';
  ELSIF kind = 'array' THEN
    problem := place || CASE
      WHEN jsonb_array_length(value) < (schema ->> 'minItems')::numeric
        THEN format(' must NOT have fewer than %s items', schema ->> 'minItems')
      WHEN jsonb_array_length(value) > (schema ->> 'maxItems')::numeric
        THEN format(' must NOT have more than %s items', schema ->> 'maxItems')
      WHEN schema -> 'uniqueItems' = 'true'
        AND (SELECT count(*) <> count(DISTINCT e.value) FROM jsonb_array_elements(value) e) THEN ' must NOT have duplicate items'
    END;
    -- Of drafts before 2020-12: items by their place.
    is_open := coalesce(jsonb_typeof(schema -> 'items') = 'array', false) AND jsonb_array_length(value) > 0;
  ELSIF kind = 'object' THEN
    SELECT format('%s must have required property ''%s''', place, r) INTO problem
    FROM jsonb_array_elements_text(schema -> 'required') r WHERE NOT value ? r LIMIT 1;
    IF problem IS NULL THEN
      SELECT format('%s must have property %s when property %s is present', place, needed, d.key) INTO problem
      FROM jsonb_each(schema -> 'dependentRequired') d, jsonb_array_elements_text(d.value) needed
      WHERE value ? d.key AND NOT value ? needed LIMIT 1;
    END IF;
    IF problem IS NULL AND schema ?| '{minProperties,maxProperties}' THEN
      size := (SELECT count(*) FROM jsonb_object_keys(value));
      problem := place || CASE
        WHEN size < (schema ->> 'minProperties')::numeric
          THEN format(' must NOT have fewer than %s properties', schema ->> 'minProperties')
        WHEN size > (schema ->> 'maxProperties')::numeric
          THEN format(' must NOT have more than %s properties', schema ->> 'maxProperties')
      END;
    END IF;
    is_open := schema ?| '{patternProperties,dependencies}' AND value <> '{}';
  END IF;
  IF problem IS NOT NULL THEN RETURN; END IF;

  -- Most schemas end here, and what follows costs ten times as much.
  IF NOT schema ?| '{allOf,$ref,dependentSchemas,properties,additionalProperties,propertyNames,prefixItems,items,anyOf,oneOf,contains,not,if}'
  THEN
    fits := CASE WHEN NOT is_open THEN true END;
    RETURN;
  END IF;

  -- What has to hold as well, of the value and of its parts.
  FOR below IN
    SELECT a.value AS rules, judge.value AS of, place AS at, is_trial AS is_tried FROM jsonb_array_elements(schema -> 'allOf') a
    UNION ALL SELECT root #> string_to_array(substr(schema ->> '$ref', 3), '/'), judge.value, place, is_trial WHERE schema ? '$ref'
    UNION ALL SELECT d.value, judge.value, place, is_trial FROM jsonb_each(schema -> 'dependentSchemas') d
      WHERE kind = 'object' AND judge.value ? d.key
    UNION ALL SELECT p.value, judge.value -> p.key, place || '.' || p.key, is_trial FROM jsonb_each(schema -> 'properties') p
      WHERE kind = 'object' AND judge.value ? p.key
    UNION ALL SELECT schema -> 'additionalProperties', m.value, place || '.' || m.key, is_trial
      FROM jsonb_each(CASE kind WHEN 'object' THEN judge.value END) m
      WHERE schema ? 'additionalProperties' AND NOT schema ? 'patternProperties'
        AND NOT coalesce(schema -> 'properties' ? m.key, false)
    UNION ALL SELECT schema -> 'propertyNames', to_jsonb(m), place || '.' || m, true
      FROM jsonb_object_keys(CASE kind WHEN 'object' THEN judge.value END) m WHERE schema ? 'propertyNames'
    UNION ALL SELECT coalesce(schema -> 'prefixItems' -> (i.position::integer - 1), schema -> 'items'), i.value,
        place || '.' || i.position - 1, is_trial
      FROM jsonb_array_elements(CASE kind WHEN 'array' THEN judge.value END) WITH ORDINALITY i (value, position)
      WHERE jsonb_typeof(schema -> 'items') <> 'array'
        OR (NOT schema ? 'items' AND i.position <= jsonb_array_length(schema -> 'prefixItems'))
  LOOP
    SELECT j.steps, j.fits, j.problem INTO steps, answer, problem
    FROM belfry.judge(root, below.rules, below.of, below.at, below.is_tried, depth + 1, steps) j;
    IF NOT answer THEN RETURN; END IF;
    is_open := is_open OR answer IS NULL;
    EXIT WHEN steps <= 0;
  END LOOP;

  -- What is tried.
  FOREACH name IN ARRAY '{anyOf,oneOf,contains,not,if}'::text[] LOOP
    CONTINUE WHEN NOT schema ? name OR (name = 'contains' AND kind <> 'array') OR steps <= 0;
    SELECT 0, 0 INTO passed, unsure;
    FOR below IN
      SELECT a.value AS rules, judge.value AS of FROM jsonb_array_elements(CASE WHEN name IN ('anyOf', 'oneOf') THEN schema -> name END) a
      UNION ALL SELECT schema -> name, i.value FROM jsonb_array_elements(CASE name WHEN 'contains' THEN judge.value END) i
      UNION ALL SELECT schema -> name, judge.value WHERE name IN ('not', 'if')
    LOOP
      SELECT j.steps, j.fits INTO steps, answer FROM belfry.judge(root, below.rules, below.of, place, true, depth + 1, steps) j;
      passed := passed + coalesce(answer, false)::integer;
      unsure := unsure + (answer IS NULL)::integer;
    END LOOP;
    IF name = 'if' THEN
      IF unsure > 0 THEN is_open := true; CONTINUE; END IF;
      name := CASE passed WHEN 1 THEN 'then' ELSE 'else' END;
      CONTINUE WHEN NOT schema ? name;
      SELECT j.steps, j.fits, j.problem INTO steps, answer, problem
      FROM belfry.judge(root, schema -> name, value, place, is_trial, depth + 1, steps) j;
      IF NOT answer THEN RETURN; END IF;
      is_open := is_open OR answer IS NULL;
      CONTINUE;
    END IF;
    answer := CASE
      WHEN name = 'not' THEN CASE WHEN unsure = 0 THEN passed = 0 END
      WHEN name = 'oneOf' THEN CASE WHEN passed > 1 THEN false WHEN unsure = 0 THEN passed = 1 END
      ELSE CASE WHEN passed > 0 THEN true WHEN unsure = 0 THEN false END
    END;
    IF NOT answer THEN
      problem := place || CASE name WHEN 'not' THEN ' must NOT be valid' WHEN 'contains' THEN ' must contain at least 1 valid item'
        WHEN 'oneOf' THEN ' must match exactly one schema in oneOf' ELSE ' must match a schema in anyOf' END;
      RETURN;
    END IF;
    is_open := is_open OR answer IS NULL;
  END LOOP;

  problem := NULL;
  fits := CASE WHEN steps > 0 AND NOT is_open THEN true END;
END $$;

-- What is wrong with a payload; null if it fits, or cannot be judged here.
CREATE OR REPLACE FUNCTION belfry.misfit(schema jsonb, payload jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  written text := schema::text;
BEGIN
  -- Later drafts, which the service refuses, and schemas of which it depends on the order where a default is seen.
  IF written ~ '"(minContains|maxContains|unevaluated\w+|\$dynamicRef|\$recursiveRef)":' OR (written ~ '"default":'
    AND written ~ '"(allOf|\$ref|then|else|dependencies|dependentSchemas|patternProperties|contains|prefixItems)":|"items": \[')
  THEN RETURN NULL; END IF;
  RETURN (SELECT problem FROM belfry.judge(schema, schema, payload, 'payload', false, 0, 5000) WHERE NOT fits);
EXCEPTION WHEN data_exception OR statement_too_complex THEN
  -- A schema that is none, or numbers beyond all measure.
  RETURN NULL;
END $$;

-- Raises where a strict trigger would be refused.
DROP FUNCTION IF EXISTS belfry.check_strictly(text, text);
CREATE OR REPLACE FUNCTION belfry.check_strictly(environment text, workflow text, payload jsonb, tenant text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RAISE EXCEPTION 'This database does not know the workflows, so no call can be strict'
    USING ERRCODE = '0A000', HINT = 'Leave "strict" out; what is refused is listed by: belfry outbox refused';
END $$;
REVOKE ALL ON FUNCTION belfry.judge(jsonb, jsonb, jsonb, text, boolean, integer, integer), belfry.misfit(jsonb, jsonb),
  belfry.check_strictly(text, text, jsonb, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION belfry.trigger(
  workflow text, recipients jsonb, payload jsonb DEFAULT '{}', options jsonb DEFAULT '{}'
) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  environment text;
  of_transaction text;
  bytes integer;
BEGIN
  payload := coalesce(payload, '{}');
  options := coalesce(options, '{}');
  PERFORM belfry.check_options(options);
  environment := belfry.acting_for(options ->> 'environment');
  IF workflow IS NULL OR btrim(workflow) = '' THEN
    PERFORM belfry.refuse_shape('The workflow is missing', 'The first argument is the workflowId');
  END IF;
  PERFORM belfry.check_recipients(recipients);
  IF jsonb_typeof(payload) <> 'object' THEN
    PERFORM belfry.refuse_shape('The payload is no object', 'For example ''{"orderId": 42}''');
  END IF;
  bytes := belfry.bytes_of(payload - 'attachments');
  IF bytes > 524288 THEN
    PERFORM belfry.refuse_shape(format('The payload has %s bytes; at most 524288 are allowed', bytes),
      'Send what identifies the data, and let templates or your application look it up');
  END IF;
  IF payload ? 'attachments' AND octet_length(payload::text) > 27262976 THEN
    PERFORM belfry.refuse_shape('The attachments have more than 26 MB', 'Send links to large files');
  END IF;
  IF (options ->> 'strict')::boolean THEN
    PERFORM belfry.check_strictly(environment, workflow, payload, coalesce(options #>> '{tenant,identifier}', options ->> 'tenant'));
  END IF;
  of_transaction := coalesce(options ->> 'transactionId', 'sql_' || replace(gen_random_uuid()::text, '-', ''));
  PERFORM belfry.add_call(environment, 'trigger', of_transaction, jsonb_strip_nulls(
    options - '{environment,strict,overrides,context,actor,tenant}'::text[])
    || jsonb_build_object('name', workflow, 'to', recipients, 'payload', payload, 'transactionId', of_transaction)
    || (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(options)
        WHERE key IN ('overrides', 'context', 'actor', 'tenant') AND jsonb_typeof(value) <> 'null'));
  RETURN of_transaction;
END $$;
