// The statements of what is shared between the runs of one person: digests, throttles, caps and the schedule.
import { rowsGiven, statement } from '../../db/core/transaction.ts'
import { preferencesOf } from './run-statements.ts'

/**
 * Locks the digests of these groups and creates missing ones. The lock makes the window exact: joining and closing cannot
 * overlap. The update changes nothing; it is there to return the existing row.
 */
export const lockDigests = statement(
  'lock_digests',
  `INSERT INTO digests AS d (environment_id, workflow_id, step_row_id, subscriber_row_id, value, notification_id, seen_at, forget_at)
   SELECT environment_id, workflow_id, step_row_id, subscriber_row_id, value, NULL, 'epoch', 'epoch'
   FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
     AS t (environment_id, workflow_id, step_row_id, subscriber_row_id, value)
   ORDER BY environment_id, workflow_id, step_row_id, subscriber_row_id, value
   ON CONFLICT (environment_id, workflow_id, step_row_id, subscriber_row_id, value) DO UPDATE SET seen_at = d.seen_at
   RETURNING environment_id, workflow_id, step_row_id, subscriber_row_id, value, notification_id, seen_at, forget_at, bounds`,
)
export const saveDigests = statement(
  'save_digests',
  `UPDATE digests d SET notification_id = r.notification_id, seen_at = r.seen_at, forget_at = r.forget_at, bounds = r.bounds
   FROM json_to_recordset($1::json) AS r (environment_id text, workflow_id text, step_row_id text, subscriber_row_id text,
     value text, notification_id text, seen_at timestamptz, forget_at timestamptz, bounds json)
   WHERE d.environment_id = r.environment_id AND d.workflow_id = r.workflow_id AND d.step_row_id = r.step_row_id
     AND d.subscriber_row_id = r.subscriber_row_id AND d.value = r.value`,
)

/**
 * The events merged into these runs, with their payloads, oldest first, or newest first for the runs in $5; not more than a digest may hold (`collect` in
 * engine/runs/windows.ts), so that no more is sent. Each payload is looked up
 * by itself: for a join, a planner without statistics reads all of three tables for every row, and a thousand events take
 * minutes instead of 20 ms.
 */
export const findMerged = statement(
  'find_merged',
  `WITH aged AS (
     SELECT j.environment_id, j.notification_id, j.merged_into, j.id, j.created_at,
       count(*) OVER (PARTITION BY j.environment_id, j.merged_into)::int AS total,
       row_number() OVER (PARTITION BY j.environment_id, j.merged_into ORDER BY j.created_at, j.id) AS age
     FROM jobs j
     WHERE (j.environment_id, j.merged_into) IN (SELECT * FROM unnest($1::text[], $2::text[]))
       AND j.merged_into IS NOT NULL AND j.status = 'merged' AND j.digest IS NOT NULL
   ), merged AS (
     SELECT *, CASE WHEN merged_into = ANY ($5::text[]) THEN total + 1 - age ELSE age END AS place FROM aged
   ), sized AS (
     SELECT m.*, sum(octet_length(m.payload::text)) OVER (PARTITION BY m.environment_id, m.merged_into ORDER BY m.place) AS bytes
     FROM (
       SELECT m.*, e.payload, e.trace FROM merged m
       LEFT JOIN LATERAL (
         SELECT e.payload, e.trace FROM events e WHERE e.environment_id = m.environment_id AND e.id = (
           SELECT n.event_id FROM notifications n
           WHERE n.environment_id = m.environment_id AND n.id = m.notification_id)) e ON true
       WHERE m.place <= $3) m
     WHERE m.payload IS NOT NULL
   )
   SELECT merged_into, id, created_at, total, payload, trace, octet_length(payload::text) AS bytes
   FROM sized WHERE bytes <= $4 OR place = 1 ORDER BY place`,
)

/** As with digests: locked, created if missing, and returned unchanged. */
export const lockThrottles = statement(
  'lock_throttles',
  `INSERT INTO throttles AS d (environment_id, workflow_id, step_row_id, subscriber_row_id, value, passed, started_at, ends_at)
   SELECT environment_id, workflow_id, step_row_id, subscriber_row_id, value, 0, $6, 'epoch'
   FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
     AS t (environment_id, workflow_id, step_row_id, subscriber_row_id, value)
   ORDER BY environment_id, workflow_id, step_row_id, subscriber_row_id, value
   ON CONFLICT (environment_id, workflow_id, step_row_id, subscriber_row_id, value) DO UPDATE SET passed = d.passed
   RETURNING environment_id, workflow_id, step_row_id, subscriber_row_id, value, passed, started_at, ends_at`,
)
export const saveThrottles = statement(
  'save_throttles',
  `UPDATE throttles d SET passed = r.passed, started_at = r.started_at, ends_at = r.ends_at
   FROM json_to_recordset($1::json) AS r (environment_id text, workflow_id text, step_row_id text, subscriber_row_id text,
     value text, passed integer, started_at timestamptz, ends_at timestamptz)
   WHERE d.environment_id = r.environment_id AND d.workflow_id = r.workflow_id AND d.step_row_id = r.step_row_id
     AND d.subscriber_row_id = r.subscriber_row_id AND d.value = r.value`,
)

/**
 * The same for places in caps. Locking a row instead of updating it saves a version of it: a place is written once, not twice. A
 * row that somebody else adds meanwhile is not returned; asked again, it is. Places are milliseconds.
 */
export const lockCaps = statement(
  'lock_caps',
  `WITH given AS MATERIALIZED (
     SELECT * FROM ${rowsGiven('text', 'text', 'text')} AS t (environment_id, subscriber_row_id, cap_id) ORDER BY 1, 2, 3
   ), added AS (
     INSERT INTO cap_counts (environment_id, subscriber_row_id, cap_id, places, last_at)
     SELECT *, '{}', 'epoch' FROM given ON CONFLICT DO NOTHING
     RETURNING environment_id, subscriber_row_id, cap_id
   ), locked AS (
     SELECT c.* FROM given g JOIN cap_counts c USING (environment_id, subscriber_row_id, cap_id)
     ORDER BY environment_id, subscriber_row_id, cap_id FOR UPDATE OF c
   )
   SELECT *, '' AS places FROM added
   UNION ALL
   SELECT environment_id, subscriber_row_id, cap_id,
     array_to_string(ARRAY(SELECT (date_part('epoch', p) * 1000)::bigint FROM unnest(places) p), ',')
   FROM locked`,
)
/** Adds places to rows that are locked, and drops those that are too old to count. */
export const saveCaps = statement(
  'save_caps',
  `UPDATE cap_counts c SET last_at = greatest(c.last_at, $6),
     places = ARRAY(SELECT p FROM unnest(c.places || array_fill($6::timestamptz, ARRAY[r.added])) p
                    WHERE p > r.oldest ORDER BY p)
   FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::timestamptz[])
     AS r (environment_id, subscriber_row_id, cap_id, added, oldest)
   WHERE c.environment_id = r.environment_id AND c.subscriber_row_id = r.subscriber_row_id AND c.cap_id = r.cap_id`,
)
/** The caller shares the lock of those who begin to wait (`holdBeginnings`). */
export const findSchedules = statement(
  'find_schedules',
  `SELECT s.environment_id, s.id, s.timezone, ${preferencesOf('s')} AS preferences
   FROM subscribers s
   WHERE (s.environment_id, s.id) IN (SELECT * FROM ${rowsGiven('text', 'text')})`,
)
