// The engine's SQL statements. Each is prepared once per connection and handles any number of rows.
import { type Column, columnsIn, rowIn, rowsIn } from '../../db/core/columns.ts'
import { rowsGiven, statement } from '../../db/core/transaction.ts'
import { tellOf } from '../../db/queries/inbox-changes.ts'
import { droppingTimers, insertingTimers } from './timer-statements.ts'

/** Separates the values of a column sent as one text. It occurs in no JSON text and none of our ids. */
export const separator = '\x1f'

/** How triggers are read from the parameters: any number, or one alone, whose columns are its values. */
interface Reading {
  bases: string
  /** Rows `t` of columns, each with its parameter. */
  triggers(columns: string): string
}

const parsed = (columns: string) => columns.split(', ').map((each) => each.split(' ') as [string, string, string])
const many: Reading = {
  bases: 'unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS d (environment_id, revision, place)',
  triggers(columns) {
    const arrays = parsed(columns).map(([, parameter, type]) =>
      type === 'list' ? `${parameter}::text[]` : `string_to_array(${parameter}, E'\\x1f', '')::${type}[]`,
    )
    const names = parsed(columns).map(([name]) => name)
    return `unnest(${arrays.join(', ')}) AS t (${names.join(', ')})`
  },
}
const alone: Reading = {
  bases: '(SELECT ($1::text[])[1] AS environment_id, ($2::bigint[])[1] AS revision, 1 AS place) AS d',
  triggers(columns) {
    const values = parsed(columns).map(([name, parameter, type]) =>
      type === 'list' ? `(${parameter}::text[])[1] AS ${name}` : `nullif(${parameter}::text, '')::${type} AS ${name}`,
    )
    return `(SELECT ${values.join(', ')}) AS t`
  },
}

const ofTrigger =
  'place $3 int, id $5 text, transaction_id $4 list, workflow_id $6 text, workflow_version $7 int, recipients $8 text, ' +
  'payload $9 text, overrides $10 text, actor $11 text, tenant $12 text, context $13 text, created_at $15 timestamptz, ' +
  'trace $19 text, cancellation_key $20 text'

/**
 * Accepts triggers: dedup row, event and queue job in one statement, so all of it is stored or nothing. Triggers started by the
 * same transaction need no job, and a job may name events that were not accepted. A trigger judged by cached data older than
 * the environment's revision is not accepted but judged again; `place` tells which environment and revision each used. A used
 * transaction id adds no event; the unique key decides, also between triggers that arrive at the same moment. One that we
 * generated contains the event's id, which is unique by itself: it has no dedup row (a tenth of what is written), and whoever
 * gives it again is found out by that event. Each column is sent as one text: arrays took us twice as long to write, and JSON
 * took the database longer to read (82 µs per trigger for both together before, 59 now).
 */
const acceptingParts = ({ bases, triggers }: Reading, files = '') => `fresh AS MATERIALIZED (
     SELECT d.place, d.environment_id
     FROM ${bases}
     LEFT JOIN environment_revisions r USING (environment_id) WHERE coalesce(r.revision, 0) = d.revision
   ), named AS (
     INSERT INTO transactions (environment_id, transaction_id, event_id, expires_at)
     SELECT f.environment_id, t.transaction_id, t.id, $14::timestamptz
     FROM ${triggers('place $3 int, transaction_id $4 list, id $5 text')}
     JOIN fresh f ON f.place = t.place
     WHERE t.transaction_id IS NOT NULL AND (t.transaction_id !~ '^txn_[0-9a-f]{24}$' OR (
       SELECT true FROM events e WHERE e.environment_id = f.environment_id AND e.id = substr(t.transaction_id, 5)
         AND e.transaction_id = t.transaction_id AND e.created_at > $17::timestamptz) IS NULL)
     ON CONFLICT DO NOTHING RETURNING event_id
   ), accepted AS (
     INSERT INTO events (environment_id, id, transaction_id, workflow_id, workflow_version, recipients, payload,
                         overrides, actor, tenant, context, created_at, started_at, trace, cancellation_key)
     SELECT f.environment_id, t.id, coalesce(t.transaction_id, 'txn_' || t.id), t.workflow_id, t.workflow_version,
            t.recipients::json, t.payload::json, t.overrides::json, t.actor::json, t.tenant::json, t.context::json,
            t.created_at, $16::timestamptz, t.trace, t.cancellation_key
     FROM ${triggers(ofTrigger)}
     JOIN fresh f ON f.place = t.place WHERE t.transaction_id IS NULL OR t.id IN (SELECT event_id FROM named)
     RETURNING environment_id, id
   )${files}`

/** Which triggers were accepted: null for all. */
const acceptedOnes = `ARRAY(SELECT place::int FROM fresh) AS fresh,
     CASE WHEN (SELECT count(*) FROM accepted) < $18::int THEN ARRAY(SELECT id FROM accepted) END AS accepted`

const accepting = (name: string, files = '') =>
  statement(
    name,
    `WITH ${acceptingParts(many, files)}, queued AS (
     SELECT queue_job('start_runs', j.payload::json, j.priority)
     FROM unnest($21::text[], $22::smallint[]) AS j (payload, priority) WHERE EXISTS (SELECT FROM accepted)
   )
   SELECT ${acceptedOnes}, (SELECT count(*) FROM queued) AS queued`,
  )

export const acceptTriggers = accepting('accept_triggers')
/** The same with attachments. */
export const acceptTriggersWithFiles = accepting(
  'accept_triggers_with_files',
  `, files AS (
     INSERT INTO attachments (environment_id, event_id, position, name, mime, content, created_at)
     SELECT a.environment_id, a.id, x.position, x.name, x.mime, x.content, x.created_at
     FROM unnest($23::text[], $24::smallint[], $25::text[], $26::text[], $27::bytea[], $28::timestamptz[])
       AS x (event_id, position, name, mime, content, created_at)
     JOIN accepted a ON a.id = x.event_id
   )`,
)

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

/** A subscriber's preferences: all that may matter to any of its runs. */
export const preferencesOf = (subscriber: string) => `
  (SELECT json_agg(json_build_object('workflow_id', p.workflow_id, 'context_keys', p.context_keys,
                                     'channels', p.channels, 'schedule', p.schedule))
   FROM subscriber_preferences p
   WHERE p.environment_id = ${subscriber}.environment_id AND p.subscriber_row_id = ${subscriber}.id)`

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

const changedJob = `environment_id text, notification_id text, position smallint, status text, reason text, error text,
  provider_id text, details jsonb, output json, digest json, merged_into text, schedule_extensions smallint,
  attempts smallint, delivery json, due_at timestamptz`
/** Of steps that come later: also whom a copy of a question asks. */
const addedJob = `${changedJob}, id text, step_row_id text, step_id text, type text, created_at timestamptz,
  updated_at timestamptz, asked json`
const changedRun = 'environment_id text, id text, status text, digested_into text, goals json'
const namesIn = (columns: string, prefix = '') =>
  columns
    .split(',')
    .map((column) => prefix + column.trim().replace(/ .*/, ''))
    .join(', ')

/** The columns that inbox clients are notified with. */
const toldOf = 'environment_id, subscriber_row_id, channel, context_keys, id'

/** What a later attempt changes in a message that an earlier one stored. */
const replacing = `ON CONFLICT (environment_id, id) DO UPDATE SET status = excluded.status, subject = excluded.subject,
    content = excluded.content, email = excluded.email, phone = excluded.phone, provider_id = excluded.provider_id,
    integration_id = excluded.integration_id, identifier = excluded.identifier, error_id = excluded.error_id,
    error_text = excluded.error_text, delivered_at = excluded.delivered_at, updated_at = excluded.updated_at
  RETURNING ${toldOf}`
const insertTimers = (parameter: number) => `t AS (${insertingTimers(parameter)})`

/** One job for all timers of a tenth of a second. Its delay counts from now, so that only the database's clock matters. */
const wakesIn = (slots: number, delays: number) => `
  SELECT queue_job('wake', '{}', due_at := now() + make_interval(secs => delay_ms / 1000.0), job_key := 'wake ' || slot)
  FROM unnest($${slots}::text[], $${delays}::double precision[]) AS t (slot, delay_ms)`

const newNotification = `environment_id text, id text, event_id text, transaction_id text, workflow_id text,
  workflow_version integer, subscriber_row_id text, subscriber_id text, status text, severity text, critical boolean,
  channels text[], tags text[], context_keys text[], topics json, digested_into text, goals json`
const newJob = `position smallint, id text, step_row_id text, step_id text, type text, status text, reason text,
  error text, provider_id text, details jsonb, output json, digest json, merged_into text, delivery json, due_at timestamptz`
const newMessage = `id text, job_id text, workflow text, step_row_id text, step_id text, channel text, provider_id text,
  integration_id text, identifier text, subject text, content text, avatar text, cta json, data jsonb, email text,
  phone text, device_tokens text[], webhook_url text, channel_data json, actor_row_id text, status text, error_id text,
  error_text text, delivered_at timestamptz[], commercial boolean`
/** What a message copies from its run. */
const sharedWithRun = `environment_id text, event_id text, transaction_id text, workflow_id text, subscriber_row_id text,
  subscriber_id text, tags text[], severity text, context_keys text[]`
const ofRun = namesIn(sharedWithRun, 'n.')
const messageOfRun = `notification_id text, ${newMessage}`
/** Of a copy of a question, whose reader is not that of the run. */
const wholeMessage = `${messageOfRun}, ${sharedWithRun}`
const ofRow = (columns: string) => namesIn(columns, 'r.')

/** Inserts the messages in `r` for the runs in `n`. */
const insertOfRuns = (r: string, now: number) => `
     INSERT INTO messages (notification_id, ${namesIn(sharedWithRun)}, ${namesIn(newMessage)}, created_at, updated_at)
     SELECT n.id, ${ofRun}, ${ofRow(newMessage)}, $${now}, $${now}
     FROM ${r} JOIN n ON n.id = r.notification_id`

/** The columns that `insertRuns` writes. */
export const columnsOfRuns = {
  notifications: columnsIn(newNotification),
  jobs: columnsIn(`notification_id text, ${newJob}`),
  messages: columnsIn(messageOfRun),
}

/** Rows of one table after the other, named `r`, from parameters that begin with the marks. */
function tablesFrom(marks: number): (columns: Column[]) => string {
  let after = marks + 1
  return (columns) => {
    const rows = rowsIn(columns, { first: marks, after })
    after += columns.length
    return `${rows} AS r`
  }
}

/** The same of one row each, without marks. */
function rowsFrom(after: number): (columns: Column[]) => string {
  let before = after
  return (columns) => {
    const row = rowIn(columns, before)
    before += columns.length
    return `${row} AS r`
  }
}

/**
 * Stores new runs as they are after their first steps, with all that those produced. Values shared by many rows come once, as a
 * parameter or from the run, because reading rows was most of the work: 0.117 ms per run went to 0.077, and columns instead of
 * JSON made it 0.058. The parameters are the time, and the columns with their marks.
 * @param condition on a run `r`
 */
function insertingRuns(now: number, condition: string, rowsOf = tablesFrom(now + 1)): string {
  const { notifications, jobs, messages } = columnsOfRuns
  return `n AS (
     INSERT INTO notifications (${namesIn(newNotification)}, created_at, updated_at)
     SELECT ${namesIn(newNotification)}, $${now}::timestamptz, $${now}::timestamptz
     FROM ${rowsOf(notifications)} WHERE ${condition} RETURNING *
   ), j AS (
     INSERT INTO jobs (environment_id, notification_id, ${namesIn(newJob)}, schedule_extensions, attempts, created_at, updated_at)
     SELECT n.environment_id, n.id, ${ofRow(newJob)}, 0, CASE r.status WHEN 'running' THEN 1 ELSE 0 END, $${now}, $${now}
     FROM ${rowsOf(jobs)} JOIN n ON n.id = r.notification_id
   ), m AS (
     ${insertOfRuns(rowsOf(messages), now)}
     RETURNING ${toldOf}
   )`
}

export const insertRuns = statement(
  'insert_runs',
  `WITH ${insertingRuns(2, 'r.id IS NOT NULL')}, ${insertTimers(1)} ${tellOf('m', 'id')}`,
)

/**
 * Accepts triggers together with their runs, where those neither wait nor call: what a notification needs in one statement, and
 * so in one commit without a BEGIN. Runs of triggers that are not accepted are not stored.
 */
const acceptingWithRuns = (name: string, given: Reading, rowsOf: (columns: Column[]) => string) =>
  statement(
    name,
    `WITH ${acceptingParts(given)}, ${insertingRuns(21, 'r.event_id IN (SELECT id FROM accepted)', rowsOf)}, told AS (${tellOf('m', 'id')})
   SELECT ${acceptedOnes}, (SELECT count(*) FROM told) AS told`,
  )

export const acceptWithRuns = acceptingWithRuns('accept_with_runs', many, tablesFrom(22))
/** For a trigger that comes alone and has one run, step and message: splitting columns was a third of the work. */
export const acceptWithRun = acceptingWithRuns('accept_with_run', alone, rowsFrom(21))

/** The columns that `updateRuns` writes. */
export const columnsOfChanges = {
  notifications: columnsIn(changedRun),
  jobs: columnsIn(changedJob),
  messages: columnsIn(wholeMessage),
}

/**
 * Updates runs. Only new log entries are passed, to be appended. The caller has locked the runs. The parameters are the timers,
 * the time, the marks of the columns, and the columns.
 */
function updatingRuns(): string {
  const { notifications, jobs, messages } = columnsOfChanges
  const rowsOf = tablesFrom(3)
  return `WITH n AS (
     UPDATE notifications n SET status = r.status, digested_into = r.digested_into, goals = coalesce(r.goals, n.goals),
       updated_at = $2::timestamptz
     FROM ${rowsOf(notifications)} WHERE n.environment_id = r.environment_id AND n.id = r.id
   ), j AS (
     UPDATE jobs j SET status = r.status, reason = r.reason, error = r.error, provider_id = r.provider_id,
       details = j.details || r.details, output = r.output, digest = r.digest, merged_into = r.merged_into,
       schedule_extensions = r.schedule_extensions, attempts = r.attempts, delivery = r.delivery, due_at = r.due_at,
       cut_off = NULL, updated_at = $2
     FROM ${rowsOf(jobs)}
     WHERE j.environment_id = r.environment_id AND j.notification_id = r.notification_id AND j.position = r.position
   ), m AS (
     INSERT INTO messages (${namesIn(wholeMessage)}, created_at, updated_at)
     SELECT ${namesIn(wholeMessage)}, $2, $2 FROM ${rowsOf(messages)} WHERE r.id IS NOT NULL
     ${replacing}
   ), ${insertTimers(1)}
   ${tellOf('m', 'id')}`
}

export const updateRuns = statement('update_runs', updatingRuns())

/** Adds steps to stored runs, which have entered an arm of a branch, and copies of questions. The caller has locked the runs. */
export const addJobs = statement(
  'add_jobs',
  `WITH r AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json) AS r (${addedJob})
   ), n AS (
     UPDATE notifications n SET channels = n.channels || ARRAY(
       SELECT DISTINCT r.type FROM r
       WHERE r.environment_id = n.environment_id AND r.notification_id = n.id AND r.type <> ALL (n.channels))
     WHERE (n.environment_id, n.id) IN (SELECT environment_id, notification_id FROM r)
   )
   INSERT INTO jobs (${namesIn(addedJob)}) SELECT ${namesIn(addedJob)} FROM r`,
)

/**
 * Locks these runs in the order of their ids: anyone else who works on one (a cancel, a second delivery of the same job) waits.
 * A statement of its own, because one that waits for a lock sees the new row of the run but the old state of everything else;
 * only the next statement sees what happened during the wait.
 */
export const holdRuns = statement(
  'hold_runs',
  `SELECT FROM notifications n
   WHERE (n.environment_id, n.id) IN (SELECT * FROM ${rowsGiven('text', 'text')})
   ORDER BY n.id FOR UPDATE OF n`,
)

/**
 * The same, with the steps whose calls have ended: who takes a call again, because its worker was taken for dead, locks its step
 * only. Without this lock both results would be stored, and the log would not say that there were two calls.
 */
export const lockEnded = statement(
  'lock_ended_calls',
  `SELECT FROM ${rowsGiven('text', 'text', 'smallint')} AS t (environment_id, notification_id, position)
   JOIN notifications n ON n.environment_id = t.environment_id AND n.id = t.notification_id
   JOIN jobs j ON j.environment_id = t.environment_id AND j.notification_id = t.notification_id AND j.position = t.position
   ORDER BY n.id, j.position FOR UPDATE OF n, j`,
)

/** A step. Of a copy of a question that has ended for good only what the question looks at: there may be thousands. */
const jobOf = (j: string) => `CASE
       WHEN ${j}.asked IS NOT NULL AND (${j}.status = 'completed' AND ${j}.reason IS NULL
         OR ${j}.status IN ('canceled', 'skipped') AND ${j}.reason IS DISTINCT FROM 'suppressed')
       THEN json_build_object('id', ${j}.id, 'position', ${j}.position, 'step_row_id', ${j}.step_row_id, 'step_id', ${j}.step_id,
         'type', ${j}.type, 'status', ${j}.status, 'reason', ${j}.reason, 'asked', ${j}.asked, 'created_at', ${j}.created_at)
       ELSE to_json(${j}) END`

/**
 * Everything needed to continue a run `n`. Of an event that several runs share, only the first has it. Messages are looked for
 * where an in-app step has begun.
 * @param jobs a condition on those that are read
 */
const wholeRun = (jobs = 'true') => ({
  columns: `n.*, coalesce(r.revision, 0)::text AS revision, own.jobs,
     CASE WHEN lag(n.event_id) OVER (ORDER BY n.id) IS DISTINCT FROM n.event_id THEN (
       SELECT row_to_json(e) FROM events e WHERE e.environment_id = n.environment_id AND e.id = n.event_id) END AS event,
     (SELECT row_to_json(s) FROM subscribers s
      WHERE s.environment_id = n.environment_id AND s.id = n.subscriber_row_id) AS subscriber,
     (SELECT ${preferencesOf('s')} FROM (SELECT n.environment_id, n.subscriber_row_id AS id) s) AS preferences,
     CASE WHEN own.has_told THEN (
       SELECT json_object_agg(m.job_id, json_build_object('seen', m.seen, 'read', m.read,
                'lastSeenDate', m.last_seen_at, 'lastReadDate', m.last_read_at)) FROM messages m
       WHERE m.environment_id = n.environment_id AND m.transaction_id = n.transaction_id AND m.notification_id = n.id
         AND m.channel = 'in_app' AND m.subscriber_row_id = n.subscriber_row_id) END AS seen`,
  joins: `LEFT JOIN environment_revisions r ON r.environment_id = n.environment_id
   CROSS JOIN LATERAL (
     SELECT json_agg(${jobOf('j')} ORDER BY j.position) AS jobs,
       bool_or(j.type = 'in_app' AND j.status <> 'pending') AS has_told
     FROM jobs j WHERE j.environment_id = n.environment_id AND j.notification_id = n.id AND ${jobs}) own`,
})
const runWhole = wholeRun()

/** The caller has locked the runs. */
export const loadRuns = statement(
  'load_runs',
  `SELECT ${runWhole.columns}, false AS is_partial FROM notifications n ${runWhole.joins}
   WHERE (n.environment_id, n.id) IN (SELECT * FROM ${rowsGiven('text', 'text')}) ORDER BY n.id`,
)

/** Where only copies of questions of the run `g` go on: no others are read, of which there may be thousands. */
const runWithoutOthers = wholeRun('(j.asked IS NULL OR NOT g.is_partial OR j.position = ANY (g.positions))')

/** The same with the steps that go on. */
export const loadRunsOf = statement(
  'load_runs_of',
  `WITH g AS MATERIALIZED (
     SELECT t.environment_id, t.notification_id, array_agg(t.position) AS positions, bool_and(k.asked IS NOT NULL) AS is_partial
     FROM ${rowsGiven('text', 'text', 'smallint')} AS t (environment_id, notification_id, position)
     LEFT JOIN jobs k USING (environment_id, notification_id, position) GROUP BY 1, 2
   )
   SELECT ${runWithoutOthers.columns}, g.is_partial
   FROM g JOIN notifications n ON n.environment_id = g.environment_id AND n.id = g.notification_id
   ${runWithoutOthers.joins} ORDER BY n.id`,
)

/** All copies of questions of these runs. */
export const findCopies = statement(
  'find_copies',
  `SELECT j.environment_id, j.notification_id, json_agg(${jobOf('j')} ORDER BY j.position) AS jobs FROM jobs j
   WHERE (j.environment_id, j.notification_id) IN (SELECT * FROM ${rowsGiven('text', 'text')}) AND j.asked IS NOT NULL
   GROUP BY 1, 2`,
)

/** Names a worker's row in the list. One that was taken for dead and is back has another row. */
export const listingOf = (worker: string) => `${worker}.xmin::text || ' ' || ${worker}.pool_id`

/**
 * Whether this worker is still listed. One that was taken for dead is not: others have its calls. The lock makes whoever is
 * about to take it for dead wait (`queue/presence.ts`). A null means that no worker runs.
 */
const isListed = (listing: string) =>
  `(${listing}::text IS NULL OR EXISTS (SELECT FROM workers w WHERE ${listingOf('w')} = ${listing}::text FOR KEY SHARE))`

/** Asked only where a worker found nothing to take. */
export const findListing = statement('find_listing', `SELECT FROM workers w WHERE ${listingOf('w')} = $1::text`)

/** Removes the groups of begun calls that have ended. */
const removing = (place: { worker: number; ended: number }) => `gone AS (
     DELETE FROM begun_calls WHERE worker_id = $${place.worker}::text AND seq = ANY ($${place.ended}::bigint[])
   )`

/**
 * Takes calls, and reads their runs as they were before. The lock on the steps tells a second worker that the first has taken
 * them. Steps that wait for a retry, or have ended, are left out. One that is running was cut off. The first $9 are also written
 * down as begun, as group $8 of worker $7.
 */
export const takeCalls = statement(
  'take_calls',
  `WITH held AS (
     SELECT j.environment_id, j.notification_id, j.position, j.status AS was
     FROM ${rowsGiven('text', 'text', 'smallint')} AS t (environment_id, notification_id, position)
     JOIN jobs j USING (environment_id, notification_id, position)
     WHERE j.due_at IS NULL AND j.status IN ('queued', 'running') AND ${isListed('$6')}
     ORDER BY j.notification_id, j.position FOR UPDATE OF j
   ), taken AS (
     UPDATE jobs j SET status = 'running', attempts = j.attempts + 1, updated_at = $4,
       details = CASE h.was WHEN 'running' THEN j.details || $5::jsonb ELSE j.details END,
       cut_off = CASE h.was WHEN 'running' THEN true ELSE j.cut_off END
     FROM held h
     WHERE j.environment_id = h.environment_id AND j.notification_id = h.notification_id AND j.position = h.position
     RETURNING j.environment_id, j.notification_id, j.position, j.attempts, h.was, j.cut_off, j.id || ' ' || j.attempts AS call,
       j.asked IS NOT NULL AS is_copy
   ), calls AS MATERIALIZED (
     SELECT *, row_number() OVER () <= $9::int AS is_begun FROM taken
   ), ${removing({ worker: 7, ended: 10 })}, marked AS (
     INSERT INTO begun_calls (worker_id, seq, calls)
     SELECT $7::text, $8::bigint, array_agg(call) FROM calls WHERE is_begun HAVING count(*) > 0
   ), grouped AS (
     SELECT environment_id, notification_id, json_agg(json_build_object(
       'position', position, 'attempts', attempts, 'was', was, 'isCutOff', cut_off, 'isBegun', is_begun)) AS taken,
       array_agg(position) AS positions, bool_and(is_copy) AS is_partial
     FROM calls GROUP BY 1, 2
   )
   SELECT ${runWithoutOthers.columns}, n.xmin::text AS row_version, g.taken, g.is_partial
   FROM grouped g JOIN notifications n ON n.environment_id = g.environment_id AND n.id = g.notification_id
   ${runWithoutOthers.joins} ORDER BY n.id`,
)

/** The columns that `endCalls` writes. */
export const columnsOfEnds = {
  calls:
    columnsIn(`environment_id text, id text, row_version text, run_status text, position smallint, attempts smallint,
    status text, reason text, error text, provider_id text, details jsonb, output json, delivery json, due_at timestamptz`),
  messages: columnsIn(messageOfRun),
}

/**
 * Ends calls without reading their runs again, where nothing is left to do, or nothing before a retry. It writes what is right
 * if nothing changed since the calls began, and writes nothing otherwise. A call whose attempt is no longer the latest is left
 * out with its results. Any other change to a run changed its row; then the division fails the whole statement, and the caller
 * locks and reads the runs. This saves four statements per group. As an EXISTS, the subscriber lookup became a join that began
 * with all subscribers: 1.9 s for 100 runs.
 */
const ending = (name: string, marks: number, waits?: { timers: string; wakes: string }) => {
  const rowsOf = tablesFrom(marks)
  return statement(
    name,
    `WITH r AS MATERIALIZED (
     SELECT * FROM ${rowsOf(columnsOfEnds.calls)} WHERE r.id IS NOT NULL
   ), j AS (
     UPDATE jobs j SET status = r.status, reason = r.reason, error = r.error, provider_id = r.provider_id,
       details = j.details || r.details, output = r.output, delivery = r.delivery, due_at = r.due_at, cut_off = NULL,
       updated_at = $1::timestamptz
     FROM r
     WHERE j.environment_id = r.environment_id AND j.notification_id = r.id AND j.position = r.position
       AND j.status = 'running' AND j.attempts = r.attempts
     RETURNING j.notification_id
   ), n AS (
     UPDATE notifications n SET status = r.run_status, updated_at = $1
     FROM r JOIN j ON j.notification_id = r.id
     WHERE n.environment_id = r.environment_id AND n.id = r.id AND n.xmin::text = r.row_version
       AND (SELECT true FROM subscribers s WHERE s.environment_id = n.environment_id AND s.id = n.subscriber_row_id)
     RETURNING n.*
   ), ${waits?.timers ?? ''} m AS (
     ${insertOfRuns(rowsOf(columnsOfEnds.messages), 1)}
     ${replacing}
   ), told AS (${tellOf('m', 'id')})
   SELECT 1 / (CASE WHEN (SELECT count(*) FROM j) = (SELECT count(*) FROM n) THEN 1 ELSE 0 END)
     + (SELECT count(*) FROM told) ${waits?.wakes ?? ''} AS done`,
  )
}

/** The parameters are the time, the marks of the columns, and the columns. */
export const endCalls = ending('end_calls', 2)
/** The same where some calls will be retried: the wake-ups come after the time. */
export const endCallsForNow = ending('end_calls_for_now', 4, {
  timers: `t AS (
     INSERT INTO timers (environment_id, subject_id, position, due_at, kind)
     SELECT n.environment_id, n.id, r.position, r.due_at, 'step' FROM r JOIN n ON n.id = r.id WHERE r.due_at IS NOT NULL
     ON CONFLICT (environment_id, subject_id, position) DO UPDATE SET due_at = excluded.due_at
   ),`,
  wakes: `+ (SELECT count(*) FROM (${wakesIn(2, 3)}) queued)`,
})

/** Writes runs that ended because their subscriber is gone (`endOrphan` in engine/runs/canceling.ts), unless they have ended. */
export const endOrphans = statement(
  'end_orphans',
  `WITH r AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json) AS r (environment_id text, notification_id text, position smallint,
       status text, reason text, error text, details jsonb, run text)
   ), n AS (
     UPDATE notifications n SET status = r.run, updated_at = $2 FROM r
     WHERE n.environment_id = r.environment_id AND n.id = r.notification_id AND n.status = 'processing'
   ), w AS (
     DELETE FROM event_waits w USING r
     WHERE w.environment_id = r.environment_id AND w.notification_id = r.notification_id
   ), ${droppingTimers('r', '$2')}
   UPDATE jobs j SET due_at = NULL, updated_at = $2, status = r.status, reason = r.reason, error = r.error,
     details = j.details || r.details
   FROM r
   WHERE j.environment_id = r.environment_id AND j.notification_id = r.notification_id AND j.position = r.position
     AND j.status IN ('pending', 'queued', 'running', 'delayed')`,
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

/** Queues calls for `engine/runs/deliver.ts`. */
export const queueCalls = statement(
  'queue_calls',
  `SELECT queue_job('deliver', payload::json, priority)
   FROM unnest($1::text[], $2::smallint[]) AS t (payload, priority)`,
)
/** Adds a group of begun calls, unless it is empty, and removes those that have ended. For a statement that begins with WITH. */
const marking = (place: { worker: number; seq: number; calls: number; ended: number }, condition: string) => `
   ${removing(place)}, marked AS (
     INSERT INTO begun_calls (worker_id, seq, calls)
     SELECT $${place.worker}::text, $${place.seq}::bigint, $${place.calls}::text[]
     WHERE $${place.calls}::text[] <> '{}' AND ${condition} RETURNING seq
   )`

/**
 * The same for calls that this process makes itself (`engine/runs/hands.ts`): a job already taken by our worker, written as the
 * queue's library would. The library has no function for that.
 */
export const holdCalls = statement(
  'hold_calls',
  `WITH listed AS MATERIALIZED (SELECT ${isListed('$6')} AS is_listed),
     ${marking({ worker: 2, seq: 3, calls: 4, ended: 5 }, '(SELECT is_listed FROM listed)')}
   INSERT INTO graphile_worker._private_jobs (task_id, payload, max_attempts, attempts, locked_at, locked_by)
   SELECT t.id, $1::json, 1000, 1, now(), $2 FROM graphile_worker._private_tasks t, listed
   WHERE t.identifier = 'deliver' AND is_listed
   RETURNING id::text, pg_current_xact_id()::xid::text AS row_version`,
)
/** Writes down which calls have begun (`engine/runs/begun-calls.ts`). */
export const markBegun = statement(
  'mark_begun',
  'SELECT mark_begun($1::text, $2::bigint, $3::text[], $4::bigint[], $5::text)',
)
export const dropCalls = statement(
  'drop_calls',
  `DELETE FROM graphile_worker._private_jobs j USING ${rowsGiven('bigint', 'text')} AS t (id, worker)
   WHERE j.id = t.id AND j.locked_by = t.worker`,
)
/** The calls that these workers have taken, without those that another has taken since. */
export const takenCalls = statement(
  'taken_calls',
  `SELECT c->>0 AS "environmentId", c->>1 AS id, (c->>2)::int AS position
   FROM graphile_worker._private_jobs q, json_array_elements(q.payload->'calls') c WHERE q.locked_by = ANY ($1::text[])
   EXCEPT SELECT c->>0, c->>1, (c->>2)::int
   FROM graphile_worker._private_jobs q, json_array_elements(q.payload->'calls') c WHERE q.locked_by <> ALL ($1::text[])`,
)
/** Undoes the taking of these calls. $5 is the listing of a worker that gives its own calls back: without it they belong to others. */
export const returnCalls = statement(
  'return_calls',
  `UPDATE jobs j SET attempts = j.attempts - 1, status = 'queued'
   FROM ${rowsGiven('text', 'text', 'smallint', 'int')} AS t (environment_id, notification_id, position, attempts)
   WHERE j.environment_id = t.environment_id AND j.notification_id = t.notification_id AND j.position = t.position
     AND j.status = 'running' AND j.attempts = t.attempts AND ${isListed('$5')}
   RETURNING j.environment_id AS "environmentId", j.notification_id AS id, j.position`,
)
/**
 * Puts the calls of workers that died back. Those that were begun may have arrived: they are marked as cut off at once, because
 * the next worker may die before it takes them. The others are as if never taken.
 */
export const recoverCalls = statement(
  'recover_calls',
  `WITH found AS (
     SELECT j.environment_id, j.notification_id, j.position, EXISTS (
       SELECT FROM begun_calls b WHERE j.id || ' ' || j.attempts = ANY (b.calls)) AS is_begun
     FROM ${rowsGiven('text', 'text', 'smallint')} AS t (environment_id, notification_id, position)
     JOIN jobs j USING (environment_id, notification_id, position)
     WHERE j.status = 'running'
     ORDER BY j.notification_id, j.position FOR UPDATE OF j
   )
   UPDATE jobs j SET status = 'queued', attempts = CASE WHEN f.is_begun THEN j.attempts ELSE j.attempts - 1 END,
     cut_off = CASE WHEN f.is_begun THEN true ELSE j.cut_off END,
     details = CASE WHEN f.is_begun THEN j.details || $4::jsonb ELSE j.details END
   FROM found f
   WHERE j.environment_id = f.environment_id AND j.notification_id = f.notification_id AND j.position = f.position`,
)
/**
 * Frees the jobs of workers that died. They get new numbers: a worker that was only taken for dead ends its jobs by their old
 * ones, whoever has them by then.
 */
export const freeJobs = statement(
  'free_jobs',
  `UPDATE graphile_worker._private_jobs SET id = DEFAULT, locked_at = NULL, locked_by = NULL
   WHERE locked_by = ANY ($1::text[])`,
)
/** Lets any worker take the calls over. */
export const releaseCalls = statement(
  'release_calls',
  `UPDATE graphile_worker._private_jobs SET locked_at = NULL, locked_by = NULL, run_at = now() + interval '5 seconds'
   WHERE id = $1 AND locked_by = $2`,
)
export const queueWakes = statement('queue_wakes', wakesIn(1, 2))
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
