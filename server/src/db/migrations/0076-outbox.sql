-- Triggers inside a transaction of the application's own: functions that write into an outbox, which the service empties.
-- `belfry outbox install` runs this same file in other databases, also over an earlier version; so it can be run twice, and knows
-- nothing of Belfry's own tables. 0077 tells it about them.
-- Where somebody has made it for us, the right to make schemas is not needed.
DO $$
BEGIN
  IF to_regnamespace('belfry') IS NULL THEN CREATE SCHEMA belfry; END IF;
END $$;

-- A role called `belfry` would now find this schema first, and make its own tables here. It stays where it was.
DO $$
BEGIN
  IF current_user = 'belfry' AND (SELECT reset_val FROM pg_settings WHERE name = 'search_path') = '"$user", public' THEN
    EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET search_path = public', current_database());
  END IF;
END $$;

-- Calls that are committed and not carried out yet. `xact` and `id`: the calls of one transaction, in their order.
CREATE TABLE IF NOT EXISTS belfry.outbox (
  xact xid8 NOT NULL DEFAULT pg_current_xact_id(),
  id bigint GENERATED ALWAYS AS IDENTITY,
  format smallint NOT NULL,
  environment_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C",
  body jsonb NOT NULL,
  role text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (xact, id),
  CONSTRAINT outbox_kind_check CHECK (kind IN ('trigger', 'cancel', 'upsert_subscriber'))
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
CREATE INDEX IF NOT EXISTS outbox_transaction ON belfry.outbox (environment_id, transaction_id);

-- Calls that could not be carried out, and why.
CREATE TABLE IF NOT EXISTS belfry.refused (
  environment_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  format smallint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C",
  body jsonb NOT NULL,
  role text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  refused_at timestamptz(3) NOT NULL,
  CONSTRAINT refused_pkey PRIMARY KEY (environment_id, id)
);
CREATE INDEX IF NOT EXISTS refused_transaction ON belfry.refused (environment_id, transaction_id);
CREATE INDEX IF NOT EXISTS refused_age ON belfry.refused (refused_at);

-- Which role acts for which environment.
CREATE TABLE IF NOT EXISTS belfry.allowed (
  environment_id text COLLATE "C" NOT NULL,
  role text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT allowed_pkey PRIMARY KEY (role, environment_id)
);

-- Only where the service's own tables are elsewhere: what was accepted lately.
CREATE TABLE IF NOT EXISTS belfry.accepted (
  environment_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  accepted_at timestamptz(3) NOT NULL,
  CONSTRAINT accepted_pkey PRIMARY KEY (environment_id, transaction_id)
);
CREATE INDEX IF NOT EXISTS accepted_age ON belfry.accepted (accepted_at);

-- The version of these functions, and the format of the rows they write.
CREATE OR REPLACE FUNCTION belfry.version() RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 1';

-- ---- What 0077 replaces where Belfry's own tables are

-- The environment that a word means; null if there is none. Elsewhere the word itself, which the drain compares.
CREATE OR REPLACE FUNCTION belfry.find_environment(word text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS 'SELECT nullif(btrim(word), '''')';

-- Raises where a strict trigger would be refused.
CREATE OR REPLACE FUNCTION belfry.check_strictly(environment text, workflow text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'This database does not know the workflows, so no call can be strict'
    USING ERRCODE = '0A000', HINT = 'Leave "strict" out; what is refused is listed by: belfry outbox refused';
END $$;

CREATE OR REPLACE FUNCTION belfry.is_accepted(environment text, of_transaction text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS
  'SELECT EXISTS (SELECT FROM belfry.accepted a WHERE a.environment_id = environment AND a.transaction_id = of_transaction)';

-- ---- Parts of the functions

-- The role that calls: SET ROLE counts. `current_user` would be the owner of these functions.
CREATE OR REPLACE FUNCTION belfry.calling_role() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS
  $$SELECT coalesce(nullif(current_setting('role'), 'none'), session_user)$$;

-- Where the calling role may act: for itself, and as a member of another. Not as a superuser, who is a member of every role.
CREATE OR REPLACE FUNCTION belfry.open_environments() RETURNS SETOF text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT a.environment_id FROM belfry.allowed a
  JOIN pg_roles r ON r.rolname = a.role
  JOIN pg_roles caller ON caller.rolname = belfry.calling_role()
  WHERE r.oid = caller.oid OR (NOT caller.rolsuper AND pg_has_role(caller.oid, r.oid, 'USAGE'))
$$;

-- The environment that the calling role acts for.
CREATE OR REPLACE FUNCTION belfry.acting_for(word text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  places text[] := ARRAY(SELECT belfry.open_environments());
  wanted text;
BEGIN
  IF cardinality(places) = 0 THEN
    RAISE EXCEPTION 'Role "%" may not act for any environment', belfry.calling_role() USING ERRCODE = '42501',
      HINT = format('The owner of the database allows it: SELECT belfry.allow(%L, ''<environment>'')', belfry.calling_role());
  END IF;
  IF word IS NULL THEN
    IF cardinality(places) = 1 THEN RETURN places[1]; END IF;
    RAISE EXCEPTION 'Role "%" may act for % environments, and the call names none', belfry.calling_role(), cardinality(places)
      USING ERRCODE = '42501', HINT = 'Say which one: {"environment": "<name>"} in the options';
  END IF;
  wanted := belfry.find_environment(word);
  IF wanted IS NULL OR wanted <> ALL (places) THEN
    RAISE EXCEPTION 'Role "%" may not act for the environment "%"', belfry.calling_role(), word USING ERRCODE = '42501',
      HINT = format('The owner of the database allows it: SELECT belfry.allow(%L, %L)', belfry.calling_role(), word);
  END IF;
  RETURN wanted;
END $$;

-- The bytes of a value as JSON without blanks, as the API counts them.
CREATE OR REPLACE FUNCTION belfry.bytes_of(value jsonb) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  written text := value::text;
  outside text;
BEGIN
  -- At most every third character is such a blank.
  IF octet_length(written) <= 524288 OR octet_length(written) > 800000 THEN RETURN octet_length(written); END IF;
  outside := regexp_replace(written, '"(?:[^"\\]|\\.)*"', '', 'g');
  RETURN octet_length(written) - (length(outside) - length(replace(outside, ' ', '')));
END $$;

CREATE OR REPLACE FUNCTION belfry.refuse_shape(problem text, advice text) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '%', problem USING ERRCODE = '22023', HINT = advice;
END $$;

-- Whether it is a subscriber: an id, or an object with one.
CREATE OR REPLACE FUNCTION belfry.is_person(value jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT coalesce(CASE jsonb_typeof(value)
    WHEN 'string' THEN btrim(value #>> '{}') <> ''
    WHEN 'object' THEN jsonb_typeof(value -> 'subscriberId') = 'string' AND btrim(value ->> 'subscriberId') <> ''
  END, false)
$$;

CREATE OR REPLACE FUNCTION belfry.check_recipients(recipients jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  given jsonb := CASE jsonb_typeof(recipients) WHEN 'array' THEN recipients ELSE jsonb_build_array(recipients) END;
  advice text := 'Recipients are as "to" of the API: ''"ada"'', ''["ada", {"subscriberId": "bob"}]'', ''{"type": "Topic", "topicKey": "news"}''';
  each jsonb;
  many integer := 0;
BEGIN
  FOR each IN SELECT * FROM jsonb_array_elements(given) LOOP
    CONTINUE WHEN each IS NULL OR jsonb_typeof(each) = 'null';
    many := many + 1;
    IF NOT belfry.is_person(each)
      AND NOT coalesce(jsonb_typeof(each -> 'topicKey') = 'string' AND btrim(each ->> 'topicKey') <> '', false) THEN
      PERFORM belfry.refuse_shape(format('Recipient %s is neither a subscriber nor a topic', many), advice);
    END IF;
  END LOOP;
  IF many = 0 THEN PERFORM belfry.refuse_shape('There are no recipients', advice); END IF;
  IF many > 100 THEN
    PERFORM belfry.refuse_shape(format('There are %s recipients; at most 100 are allowed', many),
      'Trigger for a topic, or several times');
  END IF;
END $$;

-- Unknown options are mistakes: a misspelled one would be lost in silence.
CREATE OR REPLACE FUNCTION belfry.check_options(options jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known text[] := ARRAY['transactionId', 'overrides', 'actor', 'tenant', 'context', 'cancellationKey', 'environment', 'strict'];
  name text;
  value jsonb;
  expected text;
BEGIN
  IF jsonb_typeof(options) IS DISTINCT FROM 'object' THEN
    PERFORM belfry.refuse_shape('The options are no object', 'For example ''{"transactionId": "shipped-42"}''');
  END IF;
  FOR name, value IN SELECT * FROM jsonb_each(options) LOOP
    IF name <> ALL (known) THEN
      PERFORM belfry.refuse_shape(format('There is no option "%s"', name), 'The options are ' || array_to_string(known, ', '));
    END IF;
    CONTINUE WHEN jsonb_typeof(value) = 'null';
    expected := CASE
      WHEN name IN ('transactionId', 'cancellationKey') AND NOT (jsonb_typeof(value) = 'string'
        AND length(value #>> '{}') BETWEEN 1 AND 255) THEN 'a text of 1 to 255 characters'
      WHEN name = 'environment' AND jsonb_typeof(value) <> 'string' THEN 'a name, identifier or id'
      WHEN name IN ('overrides', 'context') AND jsonb_typeof(value) <> 'object' THEN 'an object'
      WHEN name = 'strict' AND jsonb_typeof(value) <> 'boolean' THEN 'true or false'
      WHEN name = 'actor' AND NOT belfry.is_person(value) THEN 'a subscriber id, or an object with a subscriberId'
      WHEN name = 'tenant' AND NOT coalesce(jsonb_typeof(value) = 'string' OR jsonb_typeof(value -> 'identifier') = 'string', false)
        THEN 'an identifier, or an object with an identifier'
    END;
    IF expected IS NOT NULL THEN
      PERFORM belfry.refuse_shape(format('The option "%s" must be %s', name, expected), 'See docs/sql.md');
    END IF;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION belfry.add_call(environment text, kind text, of_transaction text, body jsonb) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO belfry.outbox (format, environment_id, kind, transaction_id, body, role, created_at)
  VALUES (belfry.version(), environment, kind, of_transaction, body, belfry.calling_role(), now())
$$;

-- When the transaction ends, not when it calls: who reads the rows is asked as late as can be whether it is awake. Then it holds
-- this lock, and hears of nothing: commits that notify wait for each other.
CREATE OR REPLACE FUNCTION belfry.tell_drain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF lower(coalesce(current_setting('belfry.notify', true), '')) IN ('off', 'false', 'no', '0') THEN RETURN NULL; END IF;
  IF pg_try_advisory_lock_shared(7313884026) THEN
    PERFORM pg_advisory_unlock_shared(7313884026);
    PERFORM pg_notify('belfry_outbox', '');
  END IF;
  RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS tell_drain ON belfry.outbox;
CREATE CONSTRAINT TRIGGER tell_drain AFTER INSERT ON belfry.outbox
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION belfry.tell_drain();

-- ---- The functions

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
  IF (options ->> 'strict')::boolean THEN PERFORM belfry.check_strictly(environment, workflow); END IF;
  of_transaction := coalesce(options ->> 'transactionId', 'sql_' || replace(gen_random_uuid()::text, '-', ''));
  PERFORM belfry.add_call(environment, 'trigger', of_transaction, jsonb_strip_nulls(
    options - '{environment,strict,overrides,context,actor,tenant}'::text[])
    || jsonb_build_object('name', workflow, 'to', recipients, 'payload', payload, 'transactionId', of_transaction)
    || (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(options)
        WHERE key IN ('overrides', 'context', 'actor', 'tenant') AND jsonb_typeof(value) <> 'null'));
  RETURN of_transaction;
END $$;

CREATE OR REPLACE FUNCTION belfry.cancel(transaction_id text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  environment text;
  many integer;
BEGIN
  IF transaction_id IS NULL OR length(transaction_id) NOT BETWEEN 1 AND 255 THEN
    PERFORM belfry.refuse_shape('The transaction id is missing or longer than 255 characters', 'It is what belfry.trigger returned');
  END IF;
  -- Ids are told apart by environment. Of several, the one that knows the id.
  SELECT count(*) INTO many FROM belfry.open_environments();
  IF many > 1 THEN
    SELECT min(place.id) INTO environment FROM belfry.open_environments() AS place (id)
    WHERE belfry.is_accepted(place.id, cancel.transaction_id)
      OR EXISTS (SELECT FROM belfry.outbox o WHERE o.environment_id = place.id AND o.transaction_id = cancel.transaction_id);
    IF environment IS NULL THEN RETURN; END IF;
  ELSE
    environment := belfry.acting_for(NULL);
  END IF;
  PERFORM belfry.add_call(environment, 'cancel', transaction_id, jsonb_build_object('transactionId', transaction_id));
END $$;

CREATE OR REPLACE FUNCTION belfry.upsert_subscriber(subscriber jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  environment text;
BEGIN
  IF jsonb_typeof(subscriber) IS DISTINCT FROM 'object' OR NOT belfry.is_person(subscriber) THEN
    PERFORM belfry.refuse_shape('The subscriber is no object with a subscriberId',
      'For example ''{"subscriberId": "ada", "email": "ada@example.com"}''');
  END IF;
  IF jsonb_typeof(coalesce(subscriber -> 'environment', 'null')) NOT IN ('string', 'null') THEN
    PERFORM belfry.refuse_shape('"environment" must be a name, identifier or id', 'It may be left out');
  END IF;
  IF belfry.bytes_of(subscriber) > 524288 THEN
    PERFORM belfry.refuse_shape('The subscriber has more than 524288 bytes', 'Keep less in "data"');
  END IF;
  environment := belfry.acting_for(subscriber ->> 'environment');
  PERFORM belfry.add_call(environment, 'upsert_subscriber', NULL, subscriber - 'environment');
END $$;

CREATE OR REPLACE FUNCTION belfry.status(transaction_id text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT CASE
    WHEN EXISTS (SELECT FROM belfry.outbox o WHERE o.environment_id = ANY (open.ids) AND o.transaction_id = status.transaction_id
                   AND o.kind = 'trigger') THEN 'waiting'
    WHEN EXISTS (SELECT FROM unnest(open.ids) id WHERE belfry.is_accepted(id, status.transaction_id)) THEN 'accepted'
    WHEN EXISTS (SELECT FROM belfry.refused r WHERE r.environment_id = ANY (open.ids) AND r.transaction_id = status.transaction_id
                   AND r.kind = 'trigger') THEN 'refused'
    ELSE 'unknown' END
  FROM (SELECT ARRAY(SELECT belfry.open_environments()) AS ids) open
$$;

-- For CREATE TRIGGER: belfry.on_change('<workflow>', '<column with the subscriberId>', '{"columns": [...]}').
CREATE OR REPLACE FUNCTION belfry.on_change() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before jsonb := CASE WHEN TG_OP IN ('UPDATE', 'DELETE') THEN to_jsonb(OLD) END;
  after jsonb := CASE WHEN TG_OP IN ('INSERT', 'UPDATE') THEN to_jsonb(NEW) END;
  given jsonb := coalesce(after, before);
  options jsonb := '{}';
  columns jsonb;
BEGIN
  IF TG_LEVEL <> 'ROW' OR TG_OP = 'TRUNCATE' OR TG_NARGS NOT BETWEEN 2 AND 3 THEN
    PERFORM belfry.refuse_shape('belfry.on_change is for each row, and takes a workflow, a column and options',
      'CREATE TRIGGER … FOR EACH ROW EXECUTE FUNCTION belfry.on_change(''order-shipped'', ''customer_id'')');
  END IF;
  IF NOT given ? TG_ARGV[1] THEN
    PERFORM belfry.refuse_shape(format('Table "%s" has no column "%s"', TG_TABLE_NAME, TG_ARGV[1]),
      'The second argument of belfry.on_change is the column with the subscriberId');
  END IF;
  IF TG_NARGS = 3 THEN
    BEGIN
      options := TG_ARGV[2]::jsonb;
    EXCEPTION WHEN invalid_text_representation THEN
      PERFORM belfry.refuse_shape('The options of belfry.on_change are not JSON', 'For example ''{"columns": ["id"]}''');
    END;
    IF jsonb_typeof(options) <> 'object' THEN
      PERFORM belfry.refuse_shape('The options of belfry.on_change are no object', 'For example ''{"columns": ["id"]}''');
    END IF;
  END IF;
  columns := options -> 'columns';
  IF jsonb_typeof(coalesce(columns, '[]')) <> 'array'
    OR EXISTS (SELECT FROM jsonb_array_elements(coalesce(columns, '[]')) c WHERE jsonb_typeof(c) <> 'string' OR NOT given ? (c #>> '{}'))
  THEN
    PERFORM belfry.refuse_shape(format('"columns" must list columns of table "%s"', TG_TABLE_NAME),
      'Without it, the payload has all columns');
  END IF;
  IF given ->> TG_ARGV[1] IS NOT NULL THEN
    IF columns IS NOT NULL THEN
      before := (SELECT jsonb_object_agg(key, value) FROM jsonb_each(before) WHERE columns ? key);
      after := (SELECT jsonb_object_agg(key, value) FROM jsonb_each(after) WHERE columns ? key);
    END IF;
    PERFORM belfry.trigger(TG_ARGV[0], to_jsonb(given ->> TG_ARGV[1]),
      jsonb_build_object('op', lower(TG_OP), 'table', TG_TABLE_NAME, 'new', after, 'old', before), options - 'columns');
  END IF;
  RETURN coalesce(NEW, OLD);
END $$;

-- ---- Who may call them

CREATE OR REPLACE FUNCTION belfry.check_role(role text) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
    RAISE EXCEPTION 'There is no role "%"', role USING ERRCODE = '42704', HINT = 'CREATE ROLE makes one';
  END IF;
END $$;

CREATE OR REPLACE FUNCTION belfry.allow(role text, environment text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  wanted text := belfry.find_environment(environment);
BEGIN
  PERFORM belfry.check_role(role);
  IF wanted IS NULL THEN
    PERFORM belfry.refuse_shape(format('There is no environment "%s"', environment), 'Give its name, identifier or id');
  END IF;
  INSERT INTO belfry.allowed (environment_id, role, created_at) VALUES (wanted, allow.role, now()) ON CONFLICT DO NOTHING;
  EXECUTE format('GRANT USAGE ON SCHEMA belfry TO %I', role);
  EXECUTE format('GRANT EXECUTE ON FUNCTION belfry.trigger(text, jsonb, jsonb, jsonb), belfry.cancel(text),
    belfry.upsert_subscriber(jsonb), belfry.status(text), belfry.on_change(), belfry.version() TO %I', role);
  PERFORM pg_notify('belfry_outbox', '');
END $$;

-- The rights go with the last environment; the row counts for sessions that are open.
CREATE OR REPLACE FUNCTION belfry.forbid(role text, environment text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  wanted text := belfry.find_environment(environment);
BEGIN
  DELETE FROM belfry.allowed a WHERE a.role = forbid.role AND a.environment_id IN (wanted, environment);
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = role)
    AND NOT EXISTS (SELECT FROM belfry.allowed a WHERE a.role = forbid.role) THEN
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA belfry FROM %I', role);
    EXECUTE format('REVOKE ALL ON SCHEMA belfry FROM %I', role);
  END IF;
END $$;

REVOKE ALL ON SCHEMA belfry FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA belfry FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA belfry FROM PUBLIC;
GRANT USAGE ON SCHEMA belfry TO pg_database_owner;
GRANT EXECUTE ON FUNCTION belfry.allow(text, text), belfry.forbid(text, text), belfry.version() TO pg_database_owner;
