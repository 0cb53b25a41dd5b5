// The statements of events that programs post, and of the steps and goals that wait for them.
import { rowsGiven, statement } from '../../db/core/transaction.ts'
import { droppingTimers } from './timer-statements.ts'

/**
 * The lock under which those who begin to wait for events of a name with a value, and those who tell of one, do not miss each
 * other. There are few for each name: a transaction may begin thousands of waits.
 */
export const heardUnder = (environmentId: string, name: string, value: string) =>
  `hashtextextended(${environmentId} || ' ' || ${name} || ' ' || (hashtextextended(${value}, 0) & 15), 57)`
/** Shared with all who begin to wait; in order, so that two batches cannot deadlock. */
export const holdBeginnings = statement(
  'hold_beginnings',
  `SELECT pg_advisory_xact_lock_shared(lock) FROM (
     SELECT DISTINCT ${heardUnder('environment_id', 'name', 'value')} AS lock
     FROM ${rowsGiven('text', 'text', 'text')} AS t (environment_id, name, value) ORDER BY 1) locks`,
)
/** The oldest events for each of these entries, after the last one that was found before. */
export const findPostedEvents = statement(
  'find_posted_events',
  `SELECT r.place, e.id, e.given_id, e.name, e.key, e.subscriber_id, e.payload, e.created_at
   FROM json_to_recordset($1::json) AS r (place int, environment_id text, subscriber_id text, kind text, name text,
     value text, since timestamptz, until timestamptz, from_id text, after_at timestamptz, after_id text)
   CROSS JOIN LATERAL (
     (SELECT p.* FROM posted_events p
      WHERE r.kind = 'key' AND p.environment_id = r.environment_id AND p.name = r.name AND p.key = r.value
        AND p.id >= r.from_id AND (p.subscriber_id IS NULL OR p.subscriber_id = r.subscriber_id)
        AND p.created_at BETWEEN r.since AND r.until
        AND (r.after_id IS NULL OR (p.created_at, p.id) > (r.after_at, r.after_id))
      ORDER BY p.created_at, p.id LIMIT $2)
     UNION ALL
     (SELECT p.* FROM posted_events p
      WHERE r.kind = 'subscriber' AND p.environment_id = r.environment_id AND p.subscriber_id = r.value AND p.name = r.name
        AND p.id >= r.from_id AND p.created_at BETWEEN r.since AND r.until
        AND (r.after_id IS NULL OR (p.created_at, p.id) > (r.after_at, r.after_id))
      ORDER BY p.created_at, p.id LIMIT $2)) e
   ORDER BY r.place, e.created_at, e.id`,
)
/**
 * Messages of steps of stored runs. Whoever marks one waits until this transaction has ended, and then finds the wait; reports
 * of providers lock the run.
 */
export const findMessageFacts = statement(
  'find_message_facts',
  `SELECT m.notification_id, m.id, m.step_id, m.channel, m.status, m.created_at, m.updated_at, m.seen, m.read, m.archived,
     m.first_seen_at, m.last_read_at, m.archived_at, m.cta, m.delivered_at, (
       SELECT json_object_agg(status, at) FROM (
         SELECT line -> 'webhook' ->> 'status' AS status, min(coalesce(line -> 'webhook' ->> 'at', line ->> 'at')) AS at
         FROM jobs j, jsonb_array_elements(j.details) line
         WHERE j.environment_id = m.environment_id AND j.notification_id = m.notification_id AND j.id = m.job_id
           AND line ->> 'messageId' = m.id AND line ? 'webhook' GROUP BY 1) reported) AS reports
   FROM json_to_recordset($1::json) AS r (environment_id text, transaction_id text, notification_id text, step_ids json)
   JOIN messages m ON m.environment_id = r.environment_id AND m.transaction_id = r.transaction_id
     AND m.notification_id = r.notification_id AND m.step_id IN (SELECT json_array_elements_text(r.step_ids))
   ORDER BY m.id FOR SHARE OF m`,
)
/** A step that waits for a schedule is held: that is noted, once, at $2. */
export const saveWaits = statement(
  'save_event_waits',
  `WITH r AS MATERIALIZED (
     SELECT * FROM json_to_recordset($1::json) AS r (environment_id text, notification_id text, position smallint,
       entry smallint, kind text, name text, value text, subscriber_id text)
   ), held AS (
     UPDATE jobs j SET held_at = $2 FROM r
     WHERE r.kind = 'schedule' AND j.environment_id = r.environment_id AND j.notification_id = r.notification_id
       AND j.position = r.position AND j.held_at IS NULL
   )
   INSERT INTO event_waits (environment_id, notification_id, position, entry, kind, name, value, subscriber_id)
   SELECT environment_id, notification_id, position, entry, kind, name, value, subscriber_id FROM r
   ON CONFLICT (environment_id, notification_id, position, entry)
   DO UPDATE SET kind = excluded.kind, name = excluded.name, value = excluded.value`,
)
/** With their timers. */
export const dropWaits = statement(
  'drop_event_waits',
  `WITH given AS MATERIALIZED (
     SELECT * FROM ${rowsGiven('text', 'text', 'smallint')} AS t (environment_id, notification_id, position)
   ), ${droppingTimers('given', '$4')}
   DELETE FROM event_waits w USING given g
   WHERE w.environment_id = g.environment_id AND w.notification_id = g.notification_id AND w.position = g.position`,
)
/** How many waits these events have ended. In the order of their ids, after the runs. */
export const countHeard = statement(
  'count_heard_events',
  `WITH given AS MATERIALIZED (
     SELECT environment_id, id, count(*)::int AS count FROM ${rowsGiven('text', 'text')} AS t (environment_id, id) GROUP BY 1, 2
   ), locked AS MATERIALIZED (
     SELECT e.environment_id, e.id FROM posted_events e
     WHERE (e.environment_id, e.id) IN (SELECT environment_id, id FROM given) ORDER BY e.id FOR UPDATE
   )
   UPDATE posted_events e SET matched = e.matched + g.count FROM locked l JOIN given g USING (environment_id, id)
   WHERE e.environment_id = l.environment_id AND e.id = l.id`,
)
