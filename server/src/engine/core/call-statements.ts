// Calls to providers: taking them, writing down that they begin, ending them, and giving back those of a worker that died.
import { columnsIn } from '../../db/core/columns.ts'
import { rowsGiven, statement } from '../../db/core/transaction.ts'
import { tellOf } from '../../db/queries/inbox-changes.ts'
import { insertOfRuns, messageOfRun, replacing, runWithoutOthers, tablesFrom, wakesIn } from './run-statements.ts'

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
    columnsIn(`id text, environment_id text, row_version text, run_status text, position smallint, attempts smallint,
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
