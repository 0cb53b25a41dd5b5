// Runs: storing new ones, changing them, and reading all that is needed to go on with them.
import { type Column, columnsIn, parametersOfColumn, rowIn, rowsIn } from '../../db/core/columns.ts'
import { rowsGiven, statement } from '../../db/core/transaction.ts'
import { tellOf } from '../../db/queries/inbox-changes.ts'
import { droppingTimers, insertingTimers } from './timer-statements.ts'

/** A subscriber's preferences: all that may matter to any of its runs. */
export const preferencesOf = (subscriber: string) => `
  (SELECT json_agg(json_build_object('workflow_id', p.workflow_id, 'context_keys', p.context_keys,
                                     'channels', p.channels, 'schedule', p.schedule))
   FROM subscriber_preferences p
   WHERE p.environment_id = ${subscriber}.environment_id AND p.subscriber_row_id = ${subscriber}.id)`

const changedJob = `notification_id text, environment_id text, position smallint, status text, reason text, error text,
  provider_id text, details jsonb, output json, digest json, merged_into text, schedule_extensions smallint,
  attempts smallint, delivery json, due_at timestamptz`

/** Of steps that come later: also whom a copy of a question asks. */
const addedJob = `${changedJob}, id text, step_row_id text, step_id text, type text, created_at timestamptz,
  updated_at timestamptz, asked json`

const changedRun = 'id text, environment_id text, status text, digested_into text, goals json'

const namesIn = (columns: string, prefix = '') =>
  columns
    .split(',')
    .map((column) => prefix + column.trim().replace(/ .*/, ''))
    .join(', ')

/** The columns that inbox clients are notified with. */
const toldOf = 'environment_id, subscriber_row_id, channel, context_keys, id'

/** What a later attempt changes in a message that an earlier one stored. */
export const replacing = `ON CONFLICT (environment_id, id) DO UPDATE SET status = excluded.status, subject = excluded.subject,
    content = excluded.content, email = excluded.email, phone = excluded.phone, provider_id = excluded.provider_id,
    integration_id = excluded.integration_id, identifier = excluded.identifier, error_id = excluded.error_id,
    error_text = excluded.error_text, delivered_at = excluded.delivered_at, updated_at = excluded.updated_at
  RETURNING ${toldOf}`

const insertTimers = (parameter: number) => `t AS (${insertingTimers(parameter)})`

/** One job for all timers of a tenth of a second. Its delay counts from now, so that only the database's clock matters. */
export const wakesIn = (slots: number, delays: number) => `
  SELECT queue_job('wake', '{}', due_at := now() + make_interval(secs => delay_ms / 1000.0), job_key := 'wake ' || slot)
  FROM unnest($${slots}::text[], $${delays}::double precision[]) AS t (slot, delay_ms)`

const newNotification = `id text, environment_id text, event_id text, transaction_id text, workflow_id text,
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

export const messageOfRun = `notification_id text, ${newMessage}`

/** Of a copy of a question, whose reader is not that of the run. */
const wholeMessage = `${messageOfRun}, ${sharedWithRun}`

const ofRow = (columns: string) => namesIn(columns, 'r.')

/** Inserts the messages in `r` for the runs in `n`. */
export const insertOfRuns = (r: string, now: number) => `
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
export function tablesFrom(marks: number): (columns: Column[]) => string {
  let after = marks + 1
  return (columns) => {
    const rows = rowsIn(columns, { first: marks, after })
    after += columns.length * parametersOfColumn
    return `${rows} AS r`
  }
}

/** The same of one row each, without marks. */
export function rowsFrom(after: number): (columns: Column[]) => string {
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
export function insertingRuns(now: number, condition: string, rowsOf = tablesFrom(now + 1)): string {
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
export const runWithoutOthers = wholeRun('(j.asked IS NULL OR NOT g.is_partial OR j.position = ANY (g.positions))')

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

export const queueWakes = statement('queue_wakes', wakesIn(1, 2))
