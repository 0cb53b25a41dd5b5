// The report on a trigger: how many runs it has, and which recipients got none, and why.
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { isOfTransaction } from '../../db/queries/transactions.ts'
import { passedOverReasons } from '../../engine/runs/passed-over.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum, Timestamp } from '../edge/schema.ts'
import { given } from './message-shape.ts'

const PassedOver = Type.Object({
  reason: Enum(passedOverReasons),
  detail: Type.Optional(
    Type.String({ description: 'For a topic subscription: why it excluded the workflow, such as `disabled`' }),
  ),
  named: Type.Optional(Type.String({ description: 'The unknown topic or invalid id, as the trigger has it' })),
  subscriberIds: Type.Array(Type.String(), {
    description: 'Up to 500; empty for a `named` topic or id, and for recipients left when the trigger was cancelled',
  }),
  createdAt: Timestamp,
})

const Report = Type.Object({
  transactionId: Type.String(),
  workflowId: Type.Optional(Type.String()),
  status: Enum(['queued', 'expanding', 'expanded'], {
    description: 'Whether it waits for a worker, is expanding its topics, or has reached all its recipients',
  }),
  runs: Type.Object({ processing: Type.Integer(), completed: Type.Integer(), error: Type.Integer() }),
  passedOver: Type.Array(PassedOver),
  hasMore: Type.Boolean({ description: 'Whether there are more than listed' }),
  createdAt: Timestamp,
  startedAt: Type.Optional(Timestamp),
})

interface EventRow {
  id: string
  workflow: string | null
  created_at: Date
  started_at: Date | null
  is_walking: boolean
  runs: Partial<Static<typeof Report>['runs']> | null
}

interface PassedOverRow {
  reason: Static<typeof PassedOver>['reason']
  detail: string | null
  named: string | null
  subscriber_ids: string[]
  created_at: Date
}

export const triggerReport: Resource = (app, { db }) => {
  app.get(
    '/v1/events/trigger/:transactionId',
    {
      schema: {
        tags: ['Events'],
        summary: 'Report the progress of a trigger, and recipients without a run',
        description: 'Available as long as the transaction id is remembered.',
        params: Type.Object({ transactionId: Type.String() }),
        querystring: Type.Object({
          subscriberId: Type.Optional(Type.String({ description: 'Only why this subscriber got no run' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10, zeroIsAbsent: true })),
        }),
        response: { 200: Report },
      },
    },
    async ({ environment, params: { transactionId }, query: { subscriberId, limit = 10 } }) => {
      const { rows: events } = await sql<EventRow>`
        SELECT e.id, w.identifier AS workflow, e.created_at, e.started_at,
          EXISTS (SELECT FROM walks k WHERE k.environment_id = e.environment_id AND k.event_id = e.id) AS is_walking,
          (SELECT json_object_agg(status, runs) FROM (
             SELECT n.status, count(*)::int AS runs FROM notifications n
             WHERE n.environment_id = e.environment_id AND n.transaction_id = e.transaction_id GROUP BY n.status) counted) AS runs
        FROM (SELECT ${environment.id}::text AS environment_id, ${transactionId}::text AS transaction_id) asked
        JOIN events e ON ${sql.raw(isOfTransaction('asked.environment_id', 'asked.transaction_id'))}
        LEFT JOIN workflows w ON w.environment_id = e.environment_id AND w.id = e.workflow_id`.execute(db)
      const [event] = events
      if (!event) throw fail('transaction_not_found', { transactionId })
      const asked = subscriberId ?? null
      const { rows } = await sql<PassedOverRow>`
        SELECT reason, detail, named, created_at,
          CASE WHEN ${asked}::text = ANY (subscriber_ids) THEN ARRAY[${asked}::text] ELSE subscriber_ids END AS subscriber_ids
        FROM passed_over
        WHERE environment_id = ${environment.id} AND event_id = ${event.id} AND (${asked}::text IS NULL
          OR ${asked}::text = ANY (subscriber_ids) OR named = ${asked}::text
          OR reason = 'canceled_by_user' AND named IS NULL AND NOT EXISTS (
            SELECT FROM notifications n WHERE n.environment_id = ${environment.id}
              AND n.transaction_id = ${transactionId} AND n.subscriber_id = ${asked}::text))
        ORDER BY id LIMIT ${limit + 1}`.execute(db)
      return {
        transactionId,
        status: statusOf(event),
        runs: { processing: 0, completed: 0, error: 0, ...event.runs },
        passedOver: rows.slice(0, limit).map(toPassedOver),
        hasMore: rows.length > limit,
        createdAt: event.created_at,
        ...given({ workflowId: event.workflow, startedAt: event.started_at }),
      }
    },
  )
}

function statusOf({ started_at, is_walking }: EventRow): Static<typeof Report>['status'] {
  if (started_at === null) return 'queued'
  return is_walking ? 'expanding' : 'expanded'
}

const toPassedOver = ({ reason, detail, named, subscriber_ids, created_at }: PassedOverRow) => ({
  reason,
  subscriberIds: subscriber_ids,
  createdAt: created_at,
  ...given({ detail, named }),
})
