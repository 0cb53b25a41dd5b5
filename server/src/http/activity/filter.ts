// The filters of the activity, and query plans that stay fast however many runs there are. For a subscriber, a trigger or a
// workflow an index gives the runs in order. Without one of those, another filter leads: ids come from its own index, newest
// first and in batches, and each run is looked up by id until the page is full.
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { firstIdAt, idPattern } from '../../db/core/ids.ts'
import { allOf, contains } from '../../db/core/page.ts'
import { hasContextKeys } from '../../db/queries/contexts.ts'
import { fail } from '../../errors.ts'
import { ContextKeys, Enum, QueryList } from '../edge/schema.ts'
import { Severity } from '../workflows/shape.ts'

/** With more subscribers than this the query looks up each run's subscriber instead of listing them. */
const mostNamedSubscribers = 1_000
/** Batch sizes of ids, when some of them may not match. */
const [fewestAtOnce, mostAtOnce] = [50, 5_000]
/** A run's id and its time come from the same clock, within a second. */
const secondMs = 1_000

export const RunStatus = Enum(['processing', 'completed', 'error'])

export const activityFilter = {
  channels: Type.Optional(QueryList),
  templates: Type.Optional(Type.Array(Type.String(), { description: 'Internal ids of workflows' })),
  workflowIds: Type.Optional(Type.Array(Type.String(), { description: 'Identifiers of workflows' })),
  emails: Type.Optional(QueryList),
  search: Type.Optional(
    Type.String({
      deprecated: true,
      description:
        'Part of the email address of the subscriber, or its id. Matches of this, `emails` and `subscriberIds` are combined',
    }),
  ),
  subscriberIds: Type.Optional(QueryList),
  status: Type.Optional(Type.Array(RunStatus)),
  reasons: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Runs with a step that did not complete normally, for one of these reasons, such as `provider_failed`',
    }),
  ),
  held: Type.Optional(
    Type.Boolean({ description: 'Runs with a step that was held until the schedule of its subscriber opened' }),
  ),
  stepsAfter: Type.Optional(
    Type.String({ description: 'With `reasons` or `held`: the step ended so, or was held, then or later. ISO 8601' }),
  ),
  severity: Type.Optional(Type.Array(Severity)),
  transactionId: Type.Optional(QueryList),
  startedBy: Type.Optional(Type.String({ description: 'Runs that a step of this run has started' })),
  topicKey: Type.Optional(Type.String()),
  subscriptionId: Type.Optional(Type.String({ description: 'The identifier of a topic subscription' })),
  contextKeys: Type.Optional(ContextKeys),
  after: Type.Optional(Type.String({ description: 'ISO 8601; inclusive' })),
  before: Type.Optional(Type.String({ description: 'ISO 8601; inclusive' })),
}
const Filter = Type.Object(activityFilter)
type Filter = Static<typeof Filter>

/** The conditions on runs `t`; and the filter that leads, if one does. */
export interface Selection {
  environmentId: string
  where: RawBuilder<unknown>
  lead?: Lead
}

/** Bounds of a page: ids on one side of this one. */
interface Beyond {
  newerThan?: string | Date | undefined
  olderThan?: string | undefined
}

const isoDate = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/
const isId = new RegExp(idPattern)

export function readDate(name: string, value: string | undefined): Date | undefined {
  if (value === undefined || value === '') return undefined
  const date = new Date(value)
  if (!isoDate.test(value) || Number.isNaN(date.getTime())) throw fail('activity_date_invalid', { name, value })
  return date
}

export function readRange(query: { after?: string; before?: string }): { after?: Date; before?: Date } {
  const after = readDate('after', query.after)
  const before = readDate('before', query.before)
  if (after && before && after > before) throw fail('activity_range_invalid')
  return { ...(after ? { after } : {}), ...(before ? { before } : {}) }
}

/** The id of a record, or a time. */
export const readMoment = (name: string, value: string): string | Date =>
  isId.test(value) ? value.toLowerCase() : (readDate(name, value) ?? value)

/** Undefined: nothing can match. */
export async function selectRuns(
  db: Db,
  { id: environmentId, isHeld }: { id: string; isHeld: boolean },
  query: Filter,
  beyond: Beyond = {},
): Promise<Selection | undefined> {
  const range = readRange(query)
  const [ofPeople, workflowIds, ofSubscription] = await Promise.all([
    runsOf(db, environmentId, query),
    idsOfWorkflows(db, environmentId, query.workflowIds),
    throughSubscription(db, environmentId, query.subscriptionId),
  ])
  if (ofPeople === 'nobody' || workflowIds?.length === 0) return undefined
  const found = [
    ...ofPeople,
    ...isOneOf(sql`t.transaction_id`, query.transactionId),
    ...isStartedBy(query.startedBy),
    ...isOneOf(sql`t.workflow_id`, query.templates),
    ...isOneOf(sql`t.workflow_id`, workflowIds),
    ...ofSubscription,
  ]
  // Where the clock is held, ids say nothing about its times.
  const { newerThan } = beyond
  const byId = isHeld && newerThan instanceof Date ? { ...beyond, newerThan: undefined } : beyond
  const within = boundsOf(isHeld ? {} : range, byId)
  const leads = leadsOf(environmentId, { ...query, stepsAfter: readDate('stepsAfter', query.stepsAfter) }, within)
  const lead = found.length === 0 ? leads[0] : undefined
  const where = allOf([
    sql`t.environment_id = ${environmentId}`,
    ...found,
    ...leads.filter((each) => each !== lead).map(({ condition }) => condition),
    ...(query.channels ? [sql`t.channels && ${query.channels}::text[]`] : []),
    ...hasContextKeys(query.contextKeys),
    ...within(sql`t.id`),
    ...timesOf(range, beyond),
  ])
  return { environmentId, where, ...(lead ? { lead } : {}) }
}

/** Their transaction ids begin with the run's own id; ids that callers chose may, too. */
const isStartedBy = (id: string | undefined): Array<RawBuilder<unknown>> =>
  id === undefined || id === ''
    ? []
    : [
        sql`t.transaction_id >= ${`${id}:`} AND t.transaction_id < ${`${id};`} AND EXISTS (
          SELECT FROM events e WHERE e.environment_id = t.environment_id AND e.id = t.event_id
            AND e.started_by ->> 'notificationId' = ${id})`,
      ]

/** The newest `count` of them. */
export async function findRunIds(db: Db, { environmentId, where, lead }: Selection, count: number): Promise<string[]> {
  if (!lead) {
    const { rows } = await sql<{ id: string }>`
      SELECT t.id FROM notifications t WHERE ${where} ORDER BY t.id DESC LIMIT ${count}`.execute(db)
    return rows.map(({ id }) => id)
  }
  const ids: string[] = []
  let olderThan: string | undefined
  for (let size = Math.max(count, fewestAtOnce); ids.length < count; size = Math.min(size * 4, mostAtOnce)) {
    // One look-up per id, behind the LIMITs: given a join, PostgreSQL may scan all runs for the few we want.
    const { rows } = await sql<{ ids: string[]; last: string | null; taken: number }>`
      WITH next AS MATERIALIZED (
        SELECT id FROM (${sql.join(lead.lists(olderThan, size), sql` UNION ALL `)}) lists ORDER BY id DESC LIMIT ${size})
      SELECT (SELECT min(id) FROM next) AS last, (SELECT count(*)::int FROM next) AS taken, ARRAY(
        SELECT t.id FROM (SELECT DISTINCT id FROM next) one, LATERAL (
          SELECT n.* FROM notifications n WHERE n.environment_id = ${environmentId} AND n.id = one.id OFFSET 0) t
        WHERE ${where} ORDER BY t.id DESC) AS ids`.execute(db)
    const [found] = rows
    ids.push(...(found?.ids ?? []))
    if (!found?.last || found.taken < size) break
    olderThan = found.last
  }
  return ids.slice(0, count)
}

type Within = (id: RawBuilder<unknown>) => RawBuilder<unknown>[]

/** Bounds on the id limit the scan to the partitions of that time and a part of the index. */
function boundsOf({ after, before }: { after?: Date; before?: Date }, { newerThan, olderThan }: Beyond): Within {
  const until = before && firstIdAt(new Date(before.getTime() + secondMs))
  return (id) => [
    ...(after ? [sql`${id} >= ${firstIdAt(after)}`] : []),
    ...(until === undefined ? [] : [sql`${id} < ${until}`]),
    ...(typeof newerThan === 'string' ? [sql`${id} > ${newerThan}`] : []),
    ...(newerThan instanceof Date ? [sql`${id} >= ${firstIdAt(newerThan)}`] : []),
    ...(olderThan === undefined ? [] : [sql`${id} < ${olderThan}`]),
  ]
}

const timesOf = ({ after, before }: { after?: Date; before?: Date }, { newerThan }: Beyond) => [
  ...(after ? [sql`t.created_at >= ${after}`] : []),
  ...(before ? [sql`t.created_at <= ${before}`] : []),
  ...(newerThan instanceof Date ? [sql`t.created_at > ${newerThan}`] : []),
]

/** A filter with an index that gives the ids of matching runs in order. */
interface Lead {
  condition: RawBuilder<unknown>
  /** Lists of ids older than this one, newest first, at most `length` each; an id may occur more than once. */
  lists(olderThan: string | undefined, length: number): RawBuilder<unknown>[]
}

type LeadingFilter = Omit<Filter, 'stepsAfter'> & { stepsAfter: Date | undefined }

function leadsOf(environmentId: string, query: LeadingFilter, within: Within): Lead[] {
  const { reasons, held, stepsAfter, topicKey, severity, status } = query
  const list = (from: RawBuilder<unknown>, alias: string, id: string) => {
    const [place, column] = [sql.ref(`${alias}.environment_id`), sql.ref(`${alias}.${id}`)]
    return (conditions: RawBuilder<unknown>[]): Lead['lists'] =>
      (olderThan, length) =>
        conditions.map((condition) => {
          const bounds = [...within(column), ...(olderThan === undefined ? [] : [sql`${column} < ${olderThan}`])]
          return sql`(SELECT ${column} AS id FROM ${from}
            WHERE ${allOf([sql`${place} = ${environmentId}`, condition, ...bounds])} ORDER BY ${column} DESC LIMIT ${length})`
        })
  }
  const runs = list(sql`notifications t`, 't', 'id')
  const steps = list(sql`jobs j`, 'j', 'notification_id')
  // Written out, because PostgreSQL uses a partial index only if the query implies its condition.
  const eachOf = (column: RawBuilder<unknown>, values: readonly string[] | undefined): Lead[] => {
    if (values === undefined) return []
    const names = [...new Set(values)].map((name) => sql.lit(name))
    return [
      { condition: sql`${column} IN (${sql.join(names)})`, lists: runs(names.map((name) => sql`${column} = ${name}`)) },
    ]
  }
  return [
    ...(reasons ? [byReason([...new Set(reasons)], steps, stepsAfter)] : []),
    ...(held ? [byHold(steps, stepsAfter)] : []),
    ...(topicKey ? [byTopic(topicKey, runs)] : []),
    ...eachOf(sql`t.severity`, severity),
    ...eachOf(sql`t.status`, status),
  ]
}

type ListsOf = (conditions: RawBuilder<unknown>[]) => Lead['lists']

/** @param which a condition on its steps `j` */
const hasStep = (which: RawBuilder<unknown>) =>
  // The OFFSET makes PostgreSQL look up each run's steps instead of all steps of the kind.
  sql`EXISTS (SELECT FROM jobs j
    WHERE j.environment_id = t.environment_id AND j.notification_id = t.id AND ${which} OFFSET 0)`

function byReason(reasons: string[], steps: ListsOf, since: Date | undefined): Lead {
  const when = since ? [sql`j.updated_at >= ${since}`] : []
  return {
    condition: hasStep(allOf([sql`j.reason = ANY(${reasons}::text[])`, ...when])),
    lists: steps(reasons.map((reason) => allOf([sql`j.reason = ${reason}`, ...when]))),
  }
}

function byHold(steps: ListsOf, since: Date | undefined): Lead {
  const which = allOf([sql`j.held_at IS NOT NULL`, ...(since ? [sql`j.held_at >= ${since}`] : [])])
  return { condition: hasStep(which), lists: steps([which]) }
}

/** The index has each run's first topic; the few runs with several topics are searched separately. */
function byTopic(topicKey: string, runs: ListsOf): Lead {
  const first = sql`(t.topics #>> '{0,topicKey}')`
  const condition = cameThrough(sql`topic ->> 'topicKey' = ${topicKey}`)
  return {
    condition,
    lists: runs([
      sql`t.topics IS NOT NULL AND ${first} = ${topicKey}`,
      sql`json_array_length(t.topics) > 1 AND ${first} <> ${topicKey} AND ${condition}`,
    ]),
  }
}

/** Runs that came through a topic with this condition. */
const cameThrough = (condition: RawBuilder<unknown>) =>
  sql`t.topics IS NOT NULL AND EXISTS (SELECT FROM json_array_elements(t.topics) topic WHERE ${condition})`

/** A subscription belongs to one subscriber. A deleted one is searched for among all runs. */
async function throughSubscription(
  db: Db,
  environmentId: string,
  identifier: string | undefined,
): Promise<RawBuilder<unknown>[]> {
  if (!identifier) return []
  const row = await db
    .selectFrom('topic_subscriptions')
    .select('subscriber_row_id')
    .where('environment_id', '=', environmentId)
    .where('identifier', '=', identifier)
    .executeTakeFirst()
  return [
    ...(row ? [sql`t.subscriber_row_id = ${row.subscriber_row_id}`] : []),
    cameThrough(sql`topic ->> 'subscriptionIdentifier' = ${identifier}`),
  ]
}

/** The internal ids of those that exist. */
export async function idsOfWorkflows(
  db: Db,
  environmentId: string,
  identifiers: string[] | undefined,
): Promise<string[] | undefined> {
  if (identifiers === undefined) return undefined
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM workflows WHERE environment_id = ${environmentId} AND identifier = ANY(${identifiers}::text[])
    ORDER BY id`.execute(db)
  return rows.map(({ id }) => id)
}

/** One value compares with `=`, which lets an index give the rows in order. */
const isOneOf = (column: RawBuilder<unknown>, values: string[] | undefined) => {
  if (values === undefined) return []
  return values.length === 1 ? [sql`${column} = ${values[0]}`] : [sql`${column} = ANY(${values}::text[])`]
}

type People = Pick<Filter, 'emails' | 'subscriberIds' | 'search'>

/** Matches subscribers `s` by any of these. */
function isMeant({ emails, subscriberIds, search }: People): RawBuilder<unknown> | undefined {
  const alternatives = [
    ...(emails ? [sql`s.email = ANY(${emails}::text[])`] : []),
    ...(subscriberIds ? [sql`s.subscriber_id = ANY(${subscriberIds}::text[])`] : []),
    ...(search ? [contains(sql`s.email`, search), sql`s.subscriber_id = ${search}`] : []),
  ]
  return alternatives.length === 0 ? undefined : sql`(${sql.join(alternatives, sql` OR `)})`
}

/** The runs of those subscribers, or 'nobody' when no subscriber matches. */
async function runsOf(db: Db, environmentId: string, people: People): Promise<RawBuilder<unknown>[] | 'nobody'> {
  const meant = isMeant(people)
  if (!meant) return []
  const { rows } = await sql<{ id: string }>`
    SELECT s.id FROM subscribers s WHERE s.environment_id = ${environmentId} AND ${meant}
    LIMIT ${mostNamedSubscribers + 1}`.execute(db)
  if (rows.length === 0) return 'nobody'
  if (rows.length <= mostNamedSubscribers)
    return isOneOf(
      sql`t.subscriber_row_id`,
      rows.map(({ id }) => id),
    )
  return [
    sql`EXISTS (SELECT FROM subscribers s
      WHERE s.environment_id = t.environment_id AND s.id = t.subscriber_row_id AND ${meant})`,
  ]
}
