// Filters for a subscriber's messages.
import { type RawBuilder, sql } from 'kysely'
import { realOf } from '../core/held-clock.ts'
import { firstIdAt } from '../core/ids.ts'
import { hasContextKeys } from './contexts.ts'

/** The in-app messages of one subscriber, in the order they arrived. */
export interface Inbox {
  environmentId: string
  subscriberRowId: string
}

/** The member at this path equals one of the values, or is a list that contains one. */
export interface MemberCondition {
  path: string[]
  anyOf: unknown[]
}

/** All given conditions must hold. */
export interface MessageFilter {
  ids?: string[] | undefined
  read?: boolean | undefined
  seen?: boolean | undefined
  archived?: boolean | undefined
  snoozed?: boolean | undefined
  /** At least one of each group. */
  tags?: string[][] | undefined
  data?: MemberCondition[] | undefined
  /** Of the trigger that caused it. */
  payload?: MemberCondition[] | undefined
  severity?: string[] | undefined
  createdFrom?: Date | undefined
  createdTo?: Date | undefined
  /** Exactly these, in any order. */
  contextKeys?: string[] | undefined
  /** At least one of these; an empty one means messages without context. */
  someContextKey?: string[] | undefined
}

/** Ids come from the clocks of several processes; none is off by more. */
const clockSkewMs = 60_000

/** The filter as SQL on the messages `t`. */
export function matching({ environmentId, subscriberRowId }: Inbox, filter: MessageFilter): RawBuilder<unknown>[] {
  return [
    sql`t.environment_id = ${environmentId} AND t.subscriber_row_id = ${subscriberRowId} AND t.channel = 'in_app'`,
    ...conditionsOf(filter),
  ]
}

/** The same for messages of any channel. */
export function matchingOfAnyChannel({ environmentId, subscriberRowId }: Inbox, filter: MessageFilter) {
  return [
    sql`t.environment_id = ${environmentId} AND t.subscriber_row_id = ${subscriberRowId}`,
    ...conditionsOf(filter),
  ]
}

function conditionsOf(filter: MessageFilter): RawBuilder<unknown>[] {
  const { ids, read, seen, archived, snoozed, tags = [], data = [], payload = [], severity = [] } = filter
  const { createdFrom, createdTo, contextKeys, someContextKey = [] } = filter
  return [
    ...(ids === undefined ? [] : [sql`t.id = ANY(${ids}::text[])`]),
    ...(read === undefined ? [] : [sql`t.read = ${read}`]),
    ...(seen === undefined ? [] : [sql`t.seen = ${seen}`]),
    ...(archived === undefined ? [] : [sql`t.archived = ${archived}`]),
    ...(snoozed === undefined ? [] : [sql`(t.snoozed_until IS NOT NULL) = ${snoozed}`]),
    ...tags.map((group) => sql`t.tags && ${group}::text[]`),
    ...data.map((condition) => holds(sql`t.data`, condition)),
    ...(payload.length === 0 ? [] : [fromTriggerWith(payload)]),
    ...(severity.length === 0 ? [] : [sql`t.severity = ANY(${severity}::text[])`]),
    ...(createdFrom === undefined ? [] : [sql`t.created_at >= ${createdFrom}`]),
    // A message is never older than its id, so the id range excludes partitions; where the clock is held, those to come.
    ...(createdTo === undefined
      ? []
      : [
          sql`t.created_at <= ${createdTo} AND t.id < ${firstIdAt(new Date(realOf(createdTo).getTime() + clockSkewMs + 1000))}`,
        ]),
    ...hasContextKeys(contextKeys),
    ...(someContextKey.length === 0 ? [] : [hasSomeContextKey(someContextKey)]),
  ]
}

const holds = (source: RawBuilder<unknown>, { path, anyOf }: MemberCondition) =>
  sql`coalesce(${source} #> ${path}::text[], 'null') @> ANY (${anyOf.map((value) => JSON.stringify(value))}::jsonb[])`

function fromTriggerWith(payload: MemberCondition[]) {
  const conditions = payload.map((condition) => holds(sql`e.payload::jsonb`, condition))
  return sql`EXISTS (
    SELECT FROM events e
    WHERE e.environment_id = t.environment_id AND e.id = t.event_id AND ${sql.join(conditions, sql` AND `)})`
}

function hasSomeContextKey(keys: string[]) {
  const overlaps = sql`t.context_keys && ${keys}::text[]`
  return keys.includes('') ? sql`(${overlaps} OR t.context_keys = '{}')` : overlaps
}
