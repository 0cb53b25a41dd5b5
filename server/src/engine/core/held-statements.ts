// The statements of environments whose clock is held: what is to be done there, in which order, and the clock itself.
import { statement } from '../../db/core/transaction.ts'
import { insertingTimers } from './timer-statements.ts'

/** Begins walks where the clock is held: each is done there in its turn. */
export const beginHeldWalks = statement(
  'begin_held_walks',
  `WITH begun AS (
     INSERT INTO walks (environment_id, event_id, lane, lanes, reached)
     SELECT $1, event_id, 0, 1, '' FROM unnest($2::text[]) AS t (event_id)
     RETURNING environment_id, event_id, lane
   )
   INSERT INTO timers (environment_id, subject_id, position, due_at, kind, held)
   SELECT environment_id, event_id, lane, $3, 'walk', nextval('held_order') FROM begun`,
)
/** What is to be done in an environment whose clock is held, in this order. */
export const addHeldWork = statement('add_held_work', insertingTimers(1))
/** Whoever works there comes by; one job for all that is to be done. */
export const queueHeldWork = statement(
  'queue_held_work',
  `SELECT queue_job('held_work', json_build_object('environmentId', $1::text), job_key := 'held_work ' || $1,
     due_at := now() + make_interval(secs => $2))`,
)
/** The time of an environment whose clock is held; it does not move before the transaction has ended. */
export const holdClock = statement(
  'hold_clock',
  'SELECT clock_now, clock_seed FROM environments WHERE id = $1 AND clock_now IS NOT NULL FOR SHARE',
)
/** The same for whoever moves it: everybody who acts at this time has ended. */
export const lockClock = statement(
  'lock_clock',
  'SELECT clock_now, clock_seed FROM environments WHERE id = $1 AND clock_now IS NOT NULL FOR NO KEY UPDATE',
)
export const setClock = statement('set_clock', 'UPDATE environments SET clock_now = $2 WHERE id = $1')
/**
 * What an environment's clock shows, and what is to be done by then, first what began first. Calls are before all. With each the
 * subscriber it is about, whether its run may wait again or start others, and whether a fault or a failing integration makes calls
 * depend on each other.
 */
export const findHeldWork = statement(
  'find_held_work',
  `SELECT e.clock_now, t.subject_id, t.position, t.kind, n.subscriber_row_id,
     t.kind = 'step' AND EXISTS (
       SELECT FROM jobs j WHERE j.environment_id = e.id AND j.notification_id = t.subject_id AND j.status IN ('pending', 'delayed')
         AND (j.status = 'pending' AND j.type IN (
             'delay', 'digest', 'wait_for_event', 'ask', 'branch', 'start_workflow') OR j.type = 'ask'
           OR j.type IN ('email', 'sms', 'chat', 'push', 'custom') AND 'hold' IN (e.guards ->> 'quietHours', (
             SELECT w.journey ->> 'quietHours' FROM workflows w
             WHERE w.environment_id = e.id AND w.id = n.workflow_id)))) AS waits_again,
     EXISTS (SELECT FROM sandbox_faults f WHERE f.environment_id = e.id)
       OR EXISTS (SELECT FROM held_circuits c WHERE c.environment_id = e.id) AS is_rough
   FROM environments e LEFT JOIN LATERAL (
     SELECT t.* FROM timers t WHERE t.environment_id = e.id AND t.held IS NOT NULL AND t.due_at <= e.clock_now
     ORDER BY t.due_at, t.held LIMIT $2) t ON true
   LEFT JOIN notifications n ON n.environment_id = e.id AND n.id = t.subject_id
   WHERE e.id = $1 AND e.clock_now IS NOT NULL ORDER BY t.due_at, t.held`,
)
/** The next wait that ends after what the clock shows. */
export const findHeldWait = statement(
  'find_held_wait',
  `SELECT due_at FROM timers WHERE environment_id = $1 AND held IS NOT NULL ORDER BY due_at LIMIT 1`,
)
export const countHeldWaits = statement(
  'count_held_waits',
  `SELECT count(*)::int AS count, min(due_at) AS next FROM timers
   WHERE environment_id = $1 AND held IS NOT NULL AND kind IN ('step', 'unsnooze')`,
)
/** Whoever deletes it, does it. */
export const takeHeldWork = statement(
  'take_held_work',
  `DELETE FROM timers t USING unnest($2::text[], $3::smallint[]) AS g (subject_id, position)
   WHERE t.environment_id = $1 AND t.subject_id = g.subject_id AND t.position = g.position AND t.kind = $4
     AND t.held IS NOT NULL AND t.due_at <= $5 RETURNING t.subject_id, t.position`,
)
