// The statements of timers: what waits for its time, by that time. Whoever takes a timer deletes it; whoever needs its run too locks
// the timer first.
import { statement } from '../../db/core/transaction.ts'

const columns = 'environment_id text, subject_id text, position smallint, due_at timestamptz, kind text, held boolean'

/** A step has one timer. Where the clock is held, they are numbered in their order. */
export const insertingTimers = (parameter: number) => `
  INSERT INTO timers (environment_id, subject_id, position, due_at, kind, held)
  SELECT environment_id, subject_id, position, due_at, coalesce(kind, 'step'), CASE WHEN held THEN nextval('held_order') END
  FROM json_to_recordset($${parameter}::json) AS r (${columns})
  ON CONFLICT (environment_id, subject_id, position)
  DO UPDATE SET due_at = excluded.due_at, kind = excluded.kind, held = excluded.held`

const isTimerOf = `t.environment_id = g.environment_id AND t.subject_id = g.notification_id AND t.position = g.position
         AND t.kind = 'step'`

/**
 * Drops the timers of steps that wait no longer, for a statement that begins with WITH. The caller holds their runs, and whoever
 * holds such a timer may wait for one of these: so it is left, and a second timer drops it a second later
 * (`wakeTaken` in engine/runs/timers.ts). Without that, it would stay until its time if the other side does not take it after all.
 * @param given rows with `environment_id`, `notification_id` and `position`
 * @param now a parameter
 */
export const droppingTimers = (given: string, now: string) => `dropped_timers AS (
     DELETE FROM timers WHERE ctid = ANY (ARRAY(
       SELECT t.ctid FROM ${given} g JOIN timers t ON ${isTimerOf} FOR UPDATE OF t SKIP LOCKED))
     RETURNING environment_id, subject_id, position
   ), left_timers AS (
     INSERT INTO timers (environment_id, subject_id, position, due_at, kind, held)
     SELECT t.environment_id, t.subject_id, -1 - t.position,
       CASE WHEN t.held IS NULL THEN ${now}::timestamptz + interval '1 second' ELSE ${now}::timestamptz END, 'step',
       CASE WHEN t.held IS NOT NULL THEN nextval('held_order') END
     FROM ${given} g JOIN timers t ON ${isTimerOf}
     WHERE (SELECT count(*) FROM dropped_timers) < (SELECT count(*) FROM ${given})
       AND (t.environment_id, t.subject_id, t.position) NOT IN (
         SELECT environment_id, subject_id, position FROM dropped_timers)
     ON CONFLICT DO NOTHING
   )`

/**
 * Takes timers that are due; other workers skip them. They return if this transaction fails. Selected by ctid: by key, a
 * planner that believes the table empty searches for due timers once per row.
 */
export const takeTimers = statement(
  'take_timers',
  `DELETE FROM timers WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM timers WHERE due_at <= $1 AND held IS NULL ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING environment_id, subject_id, position, kind`,
)

/** Each tenth of a second in which timers are due, as one of its times. */
export const findSoon = statement(
  'find_soon',
  `SELECT min(due_at) AS due_at FROM timers WHERE due_at <= $1 AND held IS NULL
   GROUP BY floor(extract(epoch FROM due_at) * 10) ORDER BY 1 LIMIT 5000`,
)
