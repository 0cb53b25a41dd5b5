// The activity: what every trigger started for every subscriber, and what became of it.
import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import { hasContextKeys } from '../db/contexts.ts'
import type { Db } from '../db/database.ts'
import { firstIdAt, idPattern } from '../db/ids.ts'
import { allOf, contains } from '../db/page.ts'
import { fail } from '../errors.ts'
import { Activity, type RunRow, showActivities } from './activity.ts'
import type { Resource } from './resource.ts'
import { ContextKeys, NumberedPage, QueryList } from './schema.ts'
import { Severity } from './workflow-shape.ts'

const mostPerPage = 50
/** More subscribers than this are not named one by one: each run's is looked up instead. */
const mostNamedSubscribers = 1_000
/** A run's id and its time come from one clock, in one second. */
const secondMs = 1_000

const isoDate = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/

function readDate(name: string, value: string | undefined): Date | undefined {
  if (value === undefined || value === '') return undefined
  const date = new Date(value)
  if (!isoDate.test(value) || Number.isNaN(date.getTime())) throw fail('activity_date_invalid', { name, value })
  return date
}

/** One value compares with `=`, which lets an index give the rows in order. */
const isOneOf = (column: RawBuilder<unknown>, values: string[] | undefined) => {
  if (values === undefined) return []
  return values.length === 1 ? [sql`${column} = ${values[0]}`] : [sql`${column} = ANY(${values}::text[])`]
}

interface People {
  emails: string[] | undefined
  subscriberIds: string[] | undefined
  search: string | undefined
}

/** Subscribers `s` of whom any of this is true. */
function isMeant({ emails, subscriberIds, search }: People): RawBuilder<unknown> | undefined {
  const alternatives = [
    ...(emails ? [sql`s.email = ANY(${emails}::text[])`] : []),
    ...(subscriberIds ? [sql`s.subscriber_id = ANY(${subscriberIds}::text[])`] : []),
    ...(search ? [contains(sql`s.email`, search), sql`s.subscriber_id = ${search}`] : []),
  ]
  return alternatives.length === 0 ? undefined : sql`(${sql.join(alternatives, sql` OR `)})`
}

/** The runs of those people. Nobody at all is told apart from people without runs. */
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

/** Runs with a topic of which this holds. */
const cameThrough = (condition: RawBuilder<unknown>) =>
  sql`t.topics IS NOT NULL AND EXISTS (SELECT FROM json_array_elements(t.topics) topic WHERE ${condition})`

/** The runs first, then what hangs on each: so only those of the page are looked up. */
async function readRuns(
  db: Db,
  conditions: RawBuilder<unknown>[],
  { limit, offset }: { limit: number; offset: number },
): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    SELECT n.*, s.first_name, s.last_name, s.email, s.phone, s.id IS NOT NULL AS is_subscriber_there,
           w.name AS workflow_name, w.identifier AS workflow_identifier, w.origin AS workflow_origin
    FROM (
      SELECT t.* FROM notifications t WHERE ${allOf(conditions)} ORDER BY t.id DESC LIMIT ${limit} OFFSET ${offset}) n
    LEFT JOIN subscribers s ON s.environment_id = n.environment_id AND s.id = n.subscriber_row_id
    LEFT JOIN workflows w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
    ORDER BY n.id DESC`.execute(db)
  return rows
}

export const notifications: Resource = (app, { db, brand }) => {
  const tags = ['Activity']

  app.get(
    '/v1/notifications',
    {
      schema: {
        tags,
        summary: 'List what triggers started, one record for each subscriber, the newest first',
        querystring: Type.Object({
          channels: Type.Optional(QueryList),
          templates: Type.Optional(Type.Array(Type.String(), { description: 'Internal ids of workflows' })),
          emails: Type.Optional(QueryList),
          search: Type.Optional(
            Type.String({
              deprecated: true,
              description:
                'Anywhere in the address of the subscriber, or its id. Anybody whom this, `emails` or `subscriberIds` mean is shown',
            }),
          ),
          subscriberIds: Type.Optional(QueryList),
          severity: Type.Optional(Type.Array(Severity)),
          page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0 })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostPerPage, default: 10 })),
          transactionId: Type.Optional(QueryList),
          topicKey: Type.Optional(Type.String()),
          subscriptionId: Type.Optional(Type.String({ description: 'The identifier of a topic subscription' })),
          contextKeys: Type.Optional(ContextKeys),
          after: Type.Optional(Type.String({ description: 'ISO 8601; inclusive' })),
          before: Type.Optional(Type.String({ description: 'ISO 8601; inclusive' })),
        }),
        response: { 200: NumberedPage(Activity) },
      },
    },
    async (request) => {
      const { environment, query } = request
      const { page = 0, limit = 10, topicKey, subscriptionId } = query
      const after = readDate('after', query.after)
      const before = readDate('before', query.before)
      if (after && before && after > before) throw fail('activity_range_invalid')
      const { emails, subscriberIds, search } = query
      const ofPeople = await runsOf(db, environment.id, { emails, subscriberIds, search })
      if (ofPeople === 'nobody') return { page: 0, pageSize: limit, hasMore: false, data: [] }
      const conditions = [
        sql`t.environment_id = ${environment.id}`,
        ...ofPeople,
        ...isOneOf(sql`t.workflow_id`, query.templates),
        ...isOneOf(sql`t.transaction_id`, query.transactionId),
        ...isOneOf(sql`t.severity`, query.severity),
        ...(query.channels ? [sql`t.channels && ${query.channels}::text[]`] : []),
        ...(topicKey ? [cameThrough(sql`topic ->> 'topicKey' = ${topicKey}`)] : []),
        ...(subscriptionId ? [cameThrough(sql`topic ->> 'subscriptionIdentifier' = ${subscriptionId}`)] : []),
        ...hasContextKeys(query.contextKeys),
        // The bounds of the id keep to the partitions of that time, and to a part of the index.
        ...(after ? [sql`t.created_at >= ${after} AND t.id >= ${firstIdAt(after)}`] : []),
        ...(before
          ? [sql`t.created_at <= ${before} AND t.id < ${firstIdAt(new Date(before.getTime() + secondMs))}`]
          : []),
      ]
      const runs = await readRuns(db, conditions, { limit: limit + 1, offset: page * limit })
      const data = await showActivities(db, runs.slice(0, limit), environment, brand, { isAlone: false })
      return { page, pageSize: limit, hasMore: runs.length > limit, data }
    },
  )

  app.get(
    '/v1/notifications/:notificationId',
    {
      schema: {
        tags,
        summary: 'Retrieve what a trigger started for one subscriber',
        params: Type.Object({
          notificationId: Type.String({
            pattern: idPattern,
            texts: { pattern: 'must be a mongodb id' },
            perField: { command: 'GetActivityCommand' },
          }),
        }),
        response: { 200: Activity },
      },
    },
    async (request) => {
      const { environment } = request
      const conditions = [sql`t.environment_id = ${environment.id} AND t.id = ${request.params.notificationId}`]
      const runs = await readRuns(db, conditions, { limit: 1, offset: 0 })
      const [record] = await showActivities(db, runs, environment, brand, { isAlone: true })
      if (!record) throw fail('activity_not_found')
      return record
    },
  )
}
