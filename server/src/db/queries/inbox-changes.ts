// Notifies the processes that hold subscribers' sockets of changes in their inboxes. The NOTIFY is part of the statement that
// makes the change, so it is sent if and only if that commits. Only connected subscribers are included, so that a broadcast to
// a hundred thousand costs one lookup in an empty table: NOTIFY serializes commits.
import { createHash } from 'node:crypto'
import { channel } from '../core/changes.ts'

/** One subscriber in one set of contexts. */
export interface InboxKey {
  environmentId: string
  subscriberRowId: string
  /** See `contextsOf`. */
  contexts: string
}

/** `read`: a state changed that affects the unread count. `seen`: only the seen state changed. */
export interface InboxChange extends InboxKey {
  what: 'read' | 'seen' | { messageId: string }
}

/** A short hash of a set of contexts. The keys are sorted, as everywhere. */
export const contextsOf = (contextKeys: string[]): string =>
  createHash('md5').update(contextKeys.join()).digest('hex').slice(0, 8)

/** Each change takes at most 83 characters, and a NOTIFY payload less than 8,000. */
const mostAtOnce = 90

/**
 * SQL that notifies of message rows; a statement must select from it, or it does not run. `rows` is the name of the relation,
 * `what` one of the kinds above, or `id` for new messages.
 */
export const tellOf = (rows: string, what: 'read' | 'seen' | 'id'): string => `
  SELECT pg_notify('${channel}', 'inbox ' || string_agg(entry, ',' ORDER BY place)) AS told FROM (
    SELECT entry, row_number() OVER (ORDER BY entry) - 1 AS place FROM (
      SELECT DISTINCT concat_ws(':', r.environment_id, r.subscriber_row_id, ${contextsSql}, ${what === 'id' ? 'r.id' : `'${what}'`}) AS entry
      FROM ${rows} r
      WHERE r.channel = 'in_app' AND EXISTS (
        SELECT FROM inbox_presence p
        WHERE p.environment_id = r.environment_id AND p.subscriber_row_id = r.subscriber_row_id AND p.contexts = ${contextsSql})
    ) entries) numbered
  GROUP BY place / ${mostAtOnce}`

const contextsSql = `left(md5(array_to_string(r.context_keys, ',')), 8)`

/** Parses a notification. */
export const readChanges = (text: string): InboxChange[] =>
  text.split(',').map((entry) => {
    const [environmentId = '', subscriberRowId = '', contexts = '', what = ''] = entry.split(':')
    const isWord = what === 'read' || what === 'seen'
    return { environmentId, subscriberRowId, contexts, what: isWord ? what : { messageId: what } }
  })
