// What happens in inboxes, told to the processes that hold their subscribers' sockets. It is part of the statement that makes
// the change, so that it is heard when, and only when, that commits; and only those are told of who are connected, so that a
// broadcast to a hundred thousand costs a look at an empty table. NOTIFY would otherwise let commits pass one at a time.
import { createHash } from 'node:crypto'
import { channel } from '../core/changes.ts'

/** One subscriber in one set of contexts. */
export interface InboxKey {
  environmentId: string
  subscriberRowId: string
  /** See `contextsOf`. */
  contexts: string
}

/** `read`: states changed that unread messages are counted by. `seen`: only whether they were seen. */
export interface InboxChange extends InboxKey {
  what: 'read' | 'seen' | { messageId: string }
}

/** A set of contexts in few characters. The keys are sorted, as they are everywhere. */
export const contextsOf = (contextKeys: string[]): string =>
  createHash('md5').update(contextKeys.join()).digest('hex').slice(0, 8)

/** What is sent is at most 83 characters for each, and PostgreSQL takes less than 8,000 at once. */
const mostAtOnce = 90

/**
 * SQL that tells of rows of messages, to be selected from so that it runs. `rows` is the name of where they are, `what` one of
 * the words above, or the id of each where it is news itself.
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

/** What a listener hears. */
export const readChanges = (text: string): InboxChange[] =>
  text.split(',').map((entry) => {
    const [environmentId = '', subscriberRowId = '', contexts = '', what = ''] = entry.split(':')
    const isWord = what === 'read' || what === 'seen'
    return { environmentId, subscriberRowId, contexts, what: isWord ? what : { messageId: what } }
  })
