// Accepts triggers: what is written for one, and reads whom and what it names.
import { type Column, columnsIn } from '../../db/core/columns.ts'
import { rowsGiven, statement } from '../../db/core/transaction.ts'
import { tellOf } from '../../db/queries/inbox-changes.ts'
import { insertingRuns, preferencesOf, rowsFrom, tablesFrom } from './run-statements.ts'

/** What is stored of a trigger. Objects are JSON already. `place` counts the environments and revisions that they were judged by. */
export const columnsOfTriggers = columnsIn(`id text, place integer, transaction_id text, workflow_id text,
  workflow_version integer, recipients text, payload text, overrides text, actor text, tenant text, context text,
  created_at timestamptz, trace text, cancellation_key text`)

/**
 * Accepts triggers: dedup row, event and queue job in one statement, so all of it is stored or nothing. Triggers started by the
 * same transaction need no job, and a job may name events that were not accepted. A trigger judged by cached data older than
 * the environment's revision is not accepted but judged again; `place` tells which environment and revision each used. A used
 * transaction id adds no event; the unique key decides, also between triggers that arrive at the same moment. One that we
 * generated contains the event's id, which is unique by itself: it has no dedup row (a tenth of what is written), and whoever
 * gives it again is found out by that event. The parameters are those of `acceptedBy` in runs/trigger.ts.
 */
const acceptingParts = (rowsOf: (columns: Column[]) => string, files = '') => `fresh AS MATERIALIZED (
     SELECT d.place, d.environment_id
     FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS d (environment_id, revision, place)
     LEFT JOIN environment_revisions r USING (environment_id) WHERE coalesce(r.revision, 0) = d.revision
   ), given AS MATERIALIZED (
     SELECT f.environment_id, r.* FROM ${rowsOf(columnsOfTriggers)} JOIN fresh f ON f.place = r.place
   ), named AS (
     INSERT INTO transactions (environment_id, transaction_id, event_id, expires_at)
     SELECT t.environment_id, t.transaction_id, t.id, $3::timestamptz FROM given t
     WHERE t.transaction_id IS NOT NULL AND (t.transaction_id !~ '^txn_[0-9a-f]{24}$' OR (
       SELECT true FROM events e WHERE e.environment_id = t.environment_id AND e.id = substr(t.transaction_id, 5)
         AND e.transaction_id = t.transaction_id AND e.created_at > $4::timestamptz) IS NULL)
     ON CONFLICT DO NOTHING RETURNING event_id
   ), accepted AS (
     INSERT INTO events (environment_id, id, transaction_id, workflow_id, workflow_version, recipients, payload,
                         overrides, actor, tenant, context, created_at, started_at, trace, cancellation_key)
     SELECT t.environment_id, t.id, coalesce(t.transaction_id, 'txn_' || t.id), t.workflow_id, t.workflow_version,
            t.recipients::json, t.payload::json, t.overrides::json, t.actor::json, t.tenant::json, t.context::json,
            t.created_at, $6::timestamptz, t.trace, t.cancellation_key
     FROM given t WHERE t.transaction_id IS NULL OR t.id IN (SELECT event_id FROM named)
     RETURNING environment_id, id
   )${files}`

/** Which triggers were accepted: null for all. */
const acceptedOnes = `ARRAY(SELECT place::int FROM fresh) AS fresh,
     CASE WHEN (SELECT count(*) FROM accepted) < $5::int THEN ARRAY(SELECT id FROM accepted) END AS accepted`

const accepting = (name: string, marks: number, files = '') =>
  statement(
    name,
    `WITH ${acceptingParts(tablesFrom(marks), files)}, queued AS (
     SELECT queue_job('start_runs', j.payload::json, j.priority)
     FROM unnest($7::text[], $8::smallint[]) AS j (payload, priority) WHERE EXISTS (SELECT FROM accepted)
   )
   SELECT ${acceptedOnes}, (SELECT count(*) FROM queued) AS queued`,
  )

export const acceptTriggers = accepting('accept_triggers', 9)

/** The same with attachments. */
export const acceptTriggersWithFiles = accepting(
  'accept_triggers_with_files',
  15,
  `, files AS (
     INSERT INTO attachments (environment_id, event_id, position, name, mime, content, created_at)
     SELECT a.environment_id, a.id, x.position, x.name, x.mime, x.content, x.created_at
     FROM unnest($9::text[], $10::smallint[], $11::text[], $12::text[], $13::bytea[], $14::timestamptz[])
       AS x (event_id, position, name, mime, content, created_at)
     JOIN accepted a ON a.id = x.event_id
   )`,
)

/**
 * Accepts triggers together with their runs, where those neither wait nor call: what a notification needs in one statement, and
 * so in one commit without a BEGIN. Runs of triggers that are not accepted are not stored.
 */
const acceptingWithRuns = (name: string, rowsOf: (columns: Column[]) => string) =>
  statement(
    name,
    `WITH ${acceptingParts(rowsOf)}, ${insertingRuns(6, 'r.event_id IN (SELECT id FROM accepted)', rowsOf)}, told AS (${tellOf('m', 'id')})
   SELECT ${acceptedOnes}, (SELECT count(*) FROM told) AS told`,
  )

export const acceptWithRuns = acceptingWithRuns('accept_with_runs', tablesFrom(7))

/** For a trigger that comes alone and has one run, step and message: splitting columns was a third of the work. */
export const acceptWithRun = acceptingWithRuns('accept_with_run', rowsFrom(6))

/**
 * Keeps a workflow that an application described at the trigger, for its runs. Returns nothing if the version number holds
 * another definition, or if another transaction is adding the same one right now.
 */
export const keepBridged = statement(
  'keep_bridged',
  `WITH added AS (
     INSERT INTO workflow_versions (environment_id, workflow_id, version, definition, created_at)
     VALUES ($1, $2, $3, $4::jsonb, $5) ON CONFLICT DO NOTHING RETURNING version
   )
   SELECT version FROM added UNION ALL
   SELECT version FROM workflow_versions
   WHERE environment_id = $1 AND workflow_id = $2 AND version = $3 AND definition = $4::jsonb`,
)

/**
 * Marks events as started, in the transaction that starts their runs, and returns those that were not. The queue may hand a job
 * to a second worker when it takes the first for dead; the second waits here and finds them started. A broadcast goes to all
 * subscribers created by `started_at`, which is therefore never before the newest of them, even if our clock is behind.
 */
export const takeEvents = statement(
  'take_events',
  `UPDATE events e SET started_at = CASE WHEN e.recipients IS NULL THEN greatest($3::timestamptz, (
     SELECT last.created_at + interval '1 second'
     FROM (SELECT s.created_at FROM subscribers s WHERE s.environment_id = e.environment_id ORDER BY s.id DESC LIMIT 1) last
     WHERE last.created_at > $3::timestamptz)) ELSE $3::timestamptz END
   WHERE (e.environment_id, e.id) IN (SELECT * FROM ${rowsGiven('text', 'text')}) AND e.started_at IS NULL
   RETURNING e.*, (SELECT coalesce(max(r.revision), 0)::text FROM environment_revisions r
                   WHERE r.environment_id = e.environment_id) AS revision`,
)

export const findRecipients = statement(
  'find_recipients',
  `SELECT s.*, ${preferencesOf('s')} AS preferences
   FROM subscribers s
   WHERE (s.environment_id, s.subscriber_id) IN (SELECT * FROM ${rowsGiven('text', 'text')})`,
)

/** Adds new subscribers. Always in the same order, so that two batches cannot deadlock. */
export const addRecipients = statement(
  'add_recipients',
  `INSERT INTO subscribers (environment_id, id, subscriber_id, created_at, updated_at)
   SELECT environment_id, id, subscriber_id, $4, $4
   FROM unnest($1::text[], $2::text[], $3::text[]) AS t (environment_id, id, subscriber_id)
   ORDER BY environment_id, subscriber_id
   ON CONFLICT (environment_id, subscriber_id) DO NOTHING`,
)

/** Contexts, tenants and actors that runs name. */
export const findContexts = statement(
  'find_contexts',
  `SELECT environment_id, type, context_id, data FROM contexts
   WHERE (environment_id, type, context_id) IN (SELECT * FROM ${rowsGiven('text', 'text', 'text')})`,
)

export const findTenants = statement(
  'find_tenants',
  `SELECT t.environment_id, t.identifier, t.name, t.data,
     (SELECT json_object_agg(o.workflow_id, o.channels) FROM workflow_overrides o
      WHERE o.environment_id = t.environment_id AND o.tenant_id = t.id AND o.channels <> '{}') AS overrides
   FROM tenants t
   WHERE (t.environment_id, t.identifier) IN (SELECT * FROM ${rowsGiven('text', 'text')})`,
)

/** Changes only the members given. */
export const saveTenants = statement(
  'save_tenants',
  `UPDATE tenants t SET name = coalesce(r.name, t.name), data = coalesce(r.data, t.data), updated_at = $2
   FROM json_to_recordset($1::json) AS r (environment_id text, identifier text, name text, data jsonb)
   WHERE t.environment_id = r.environment_id AND t.identifier = r.identifier
     AND (t.name IS DISTINCT FROM coalesce(r.name, t.name) OR t.data IS DISTINCT FROM coalesce(r.data, t.data))`,
)

export const touchWorkflows = statement(
  'touch_workflows',
  `UPDATE workflows w SET last_triggered_at = $3
   WHERE (w.environment_id, w.id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
     AND (w.last_triggered_at IS NULL OR w.last_triggered_at <= $4)`,
)
