// The statements of topics and broadcasts: how far a walk has come, who is next, and who was passed over.
import { statement } from '../../db/core/transaction.ts'
import { preferencesOf } from './run-statements.ts'

/** Begins a walk for each of these events with one lane. The first chunk shows whether more lanes are worth it. */
export const beginWalks = statement(
  'begin_walks',
  `WITH begun AS (
     INSERT INTO walks (environment_id, event_id, lane, lanes, reached)
     SELECT environment_id, id, 0, 1, '' FROM unnest($1::text[], $2::text[]) AS t (environment_id, id)
     RETURNING environment_id, event_id, lane
   )
   SELECT queue_job('fan_out', json_build_object('environmentId', environment_id, 'eventId', event_id, 'lane', lane), $3)
   FROM begun`,
)
export const queueWalks = statement(
  'queue_walks',
  `SELECT queue_job('fan_out', json_build_object('environmentId', $1::text, 'eventId', $2::text, 'lane', lane), $4)
   FROM unnest($3::smallint[]) lane`,
)

/**
 * Locks one lane of a walk and reads its trigger: of two jobs for the same lane, the second continues where the first ended.
 */
export const lockWalk = statement(
  'lock_walk',
  `SELECT e.*, w.lanes, w.reached, coalesce(r.revision, 0)::text AS revision
   FROM walks w JOIN events e ON e.environment_id = w.environment_id AND e.id = w.event_id
   LEFT JOIN environment_revisions r ON r.environment_id = w.environment_id
   WHERE w.environment_id = $1 AND w.event_id = $2 AND w.lane = $3 FOR UPDATE OF w`,
)
export const saveWalks = statement(
  'save_walks',
  `INSERT INTO walks (environment_id, event_id, lane, lanes, reached)
   SELECT $1, $2, lane, $4, $5 FROM unnest($3::smallint[]) lane
   ON CONFLICT (environment_id, event_id, lane) DO UPDATE SET lanes = excluded.lanes, reached = excluded.reached`,
)
export const endWalk = statement(
  'end_walk',
  'DELETE FROM walks WHERE environment_id = $1 AND event_id = $2 AND lane = $3',
)
/** Recipients without a run, grouped as in engine/runs/passed-over.ts. */
export const notePassedOver = statement(
  'note_passed_over',
  `INSERT INTO passed_over (environment_id, event_id, id, reason, detail, named, subscriber_ids, created_at)
   SELECT $1, $2, id, reason, detail, named, ARRAY(SELECT json_array_elements_text(ids::json)), $8
   FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS t (id, reason, detail, named, ids)`,
)
export const findMissingTopics = statement(
  'find_missing_topics',
  `SELECT key FROM unnest($2::text[]) AS t (key)
   WHERE NOT EXISTS (SELECT FROM topics o WHERE o.environment_id = $1 AND o.key = t.key)`,
)

/** Subscribers for whom a trigger was canceled by its key while it was walked. */
const canceledIn = (event: string): string =>
  `(SELECT array_agg(p.named) FROM passed_over p WHERE p.environment_id = $1 AND p.event_id = ${event}
      AND p.reason = 'canceled_by_user') AS canceled`

/**
 * The next members of these topics, in the order of their ids, each with all its subscriptions to them. The limit applies to
 * every topic by itself too: what lies beyond a topic's last member lies beyond the whole limit.
 */
export const findMembers = statement(
  'find_members',
  `WITH wanted AS (
     SELECT id, key FROM topics WHERE environment_id = $1 AND key = ANY ($2::text[])
   ), missing AS (
     SELECT array_agg(key) AS keys FROM unnest($2::text[]) AS t (key) WHERE key NOT IN (SELECT key FROM wanted)
   ), next AS (
     SELECT DISTINCT t.subscriber_row_id FROM wanted o CROSS JOIN LATERAL (
       SELECT DISTINCT t.subscriber_row_id FROM topic_subscriptions t
       WHERE t.environment_id = $1 AND t.topic_id = o.id AND t.subscriber_row_id > $3 AND t.context_keys = $4::text[]
         AND (hashtext(t.subscriber_row_id) & ($8::int - 1)) = $7::int
       ORDER BY t.subscriber_row_id LIMIT $6) t
     ORDER BY t.subscriber_row_id LIMIT $6
   )
   SELECT s.*, next.subscriber_row_id AS member_id, ${preferencesOf('s')} AS preferences,
     (SELECT keys FROM missing) AS missing_topics, ${canceledIn('$9')},
     (SELECT json_agg(json_build_object('topic_id', o.id, 'topic_key', o.key, 'identifier', t.identifier, 'choice',
         (SELECT json_build_object('enabled', c.enabled, 'condition', c.condition) FROM subscription_preferences c
          WHERE c.environment_id = $1 AND c.subscription_id = t.id AND c.workflow_id = $5)) ORDER BY t.id)
      FROM wanted o JOIN topic_subscriptions t ON t.environment_id = $1 AND t.topic_id = o.id
        AND t.subscriber_row_id = next.subscriber_row_id AND t.context_keys = $4::text[]) AS via
   FROM next LEFT JOIN subscribers s ON s.environment_id = $1 AND s.id = next.subscriber_row_id
   ORDER BY next.subscriber_row_id`,
)

/** All who were subscribers when the trigger was started. */
export const findEveryone = statement(
  'find_everyone',
  `SELECT s.*, s.id AS member_id, NULL AS via, ${preferencesOf('s')} AS preferences, ${canceledIn('$7')}
   FROM (SELECT * FROM subscribers WHERE environment_id = $1 AND id > $2 AND created_at <= $3
           AND (hashtext(id) & ($6::int - 1)) = $5::int ORDER BY id LIMIT $4) s
   ORDER BY s.id`,
)
