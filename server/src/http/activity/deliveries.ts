// Failed deliveries: listed with the reason, and sent again on request.
import { type RawBuilder, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { allOf } from '../../db/core/page.ts'
import { wholeLog } from '../../db/core/step-log.ts'
import type { LogEntry } from '../../db/core/tables.ts'
import { suppressionsById } from '../../db/queries/suppressions.ts'
import { holdsBack } from '../../engine/consent/rules.ts'
import type { FailedJob } from '../../engine/runs/redrive.ts'
import { fail } from '../../errors.ts'
import { detail, undeliveredReasons } from '../../steps/contract/outcome.ts'
import type { Progress } from '../../steps/delivery/progress.ts'
import type { Brand } from '../edge/brand.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Enum, Timestamp } from '../edge/schema.ts'
import { given } from './message-shape.ts'

const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const
const mostPerPage = 100
/** Per request. */
const mostRedriven = 1_000

const Destination = Type.Object({
  status: Enum(['waiting', 'sent', 'failed']),
  calls: Type.Integer({ description: 'How often the provider was called' }),
  providerId: Type.Optional(Type.String()),
  integrationId: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
})

const Delivery = Type.Object({
  id: Type.String(),
  status: Enum(['failed']),
  channel: Enum(channels),
  reason: Enum(undeliveredReasons),
  error: Type.Optional(Type.String()),
  providerId: Type.Optional(Type.String()),
  notificationId: Type.String({ description: 'The id of its activity record' }),
  transactionId: Type.String(),
  subscriberId: Type.String(),
  workflowId: Type.Optional(Type.String()),
  stepId: Type.String(),
  destinations: Type.Array(Destination, {
    description: 'One, or one per device or chat of the subscriber; those already sent are not sent again',
  }),
  createdAt: Timestamp,
  failedAt: Timestamp,
})

const filters = {
  channel: Type.Optional(Enum(channels)),
  reason: Type.Optional(Enum(undeliveredReasons)),
  providerId: Type.Optional(Type.String()),
  transactionId: Type.Optional(Type.String()),
  subscriberId: Type.Optional(Type.String()),
  workflowId: Type.Optional(Type.String()),
}
type Filters = { [name in keyof typeof filters]?: string }

interface Row extends FailedJob {
  status: string
  type: (typeof channels)[number]
  reason: (typeof undeliveredReasons)[number]
  error: string | null
  provider_id: string | null
  step_id: string
  delivery: { destinations?: Record<string, Progress> } | null
  transaction_id: string
  subscriber_id: string
  workflow: string | null
  message_class: 'transactional' | 'commercial' | null
  consent_category: string | null
  /** Only of one that was held back. */
  details: LogEntry[] | null
  created_at: Date
  updated_at: Date
}

/** Constants, as in the partial index, so that PostgreSQL uses it. */
const isUndelivered = sql.raw(
  `j.reason IN (${undeliveredReasons.map((reason) => `'${reason}'`).join(', ')}) AND j.status IN ('failed', 'completed')`,
)
/** Not listed, as nothing is wrong with it; it can be sent again once its entry is gone. */
const isSuppressed = sql.raw(`j.reason IN ('suppressed') AND j.status = 'canceled'`)

export const deliveries: Resource = (app, { db, engine, brand }) => {
  const tags = ['Deliveries']

  const find = async (environmentId: string, conditions: RawBuilder<unknown>[], limit: number): Promise<Row[]> => {
    const where = [sql`j.environment_id = ${environmentId}`, sql`j.type = ANY(${[...channels]}::text[])`, ...conditions]
    const { rows } = await sql<Row>`
      SELECT j.id, j.notification_id, j.type, j.reason, j.error, j.provider_id, j.step_id, j.delivery, j.created_at, j.updated_at,
             j.status, CASE WHEN j.status = 'canceled' THEN j.details END AS details, n.transaction_id, n.subscriber_id, w.identifier AS workflow, w.message_class, w.consent_category
      FROM jobs j
      JOIN notifications n ON n.environment_id = j.environment_id AND n.id = j.notification_id
      LEFT JOIN workflows w ON w.environment_id = n.environment_id AND w.id = n.workflow_id
      WHERE ${allOf(where)} ORDER BY j.id DESC LIMIT ${limit}`.execute(db)
    return rows
  }

  app.get(
    '/v1/deliveries',
    {
      schema: {
        tags,
        summary: 'List failed deliveries, newest first',
        querystring: Type.Object({
          status: Type.Optional(Enum(['failed'])),
          ...filters,
          after: Type.Optional(Type.String({ description: 'Cursor: `next` of the previous page' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostPerPage, default: 10, zeroIsAbsent: true })),
        }),
        response: {
          200: Type.Object({
            data: Type.Array(Delivery),
            next: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
          }),
        },
      },
    },
    async (request) => {
      const { after, limit = 10, status: _, ...asked } = request.query
      const conditions = [
        isUndelivered,
        ...conditionsOf(asked, brand),
        ...(after === undefined ? [] : [sql`j.id < ${after}`]),
      ]
      const rows = await find(request.environment.id, conditions, limit + 1)
      const data = rows.slice(0, limit).map((row) => toDelivery(row, brand))
      return { data, next: rows.length > limit ? (data.at(-1)?.id ?? null) : null }
    },
  )

  app.post(
    '/v1/deliveries/:deliveryId/redrive',
    {
      schema: {
        tags,
        summary: 'Send a failed delivery again',
        description:
          'Only this step is repeated. Devices and chats that got the message do not get it again. A step that the suppression list held back can be sent again once its entry is gone.',
        params: Type.Object({ deliveryId: Type.String() }),
        response: { 200: Type.Object({ redriven: Type.Integer() }) },
      },
    },
    async (request) => {
      const { deliveryId: id } = request.params
      const { environment } = request
      const findOne = async () =>
        (await find(environment.id, [isUndelivered, sql`j.id = ${id}`], 1))[0] ??
        (await find(environment.id, [isSuppressed, sql`j.id = ${id}`], 1))[0]
      const found = await findOne()
      if (!found) throw fail('delivery_not_found', { id })
      if (found.status === 'canceled' && (await isHeldBack(db, environment.id, found, request.now())))
        throw fail('delivery_suppressed', { id })
      const redriven = await engine.redrive(environment.id, [found])
      if (redriven.length === 0 && (await findOne())) throw fail('delivery_not_redrivable', { id })
      return { redriven: redriven.length }
    },
  )

  app.post(
    '/v1/deliveries/redrive',
    {
      schema: {
        tags,
        summary: 'Send all matching failed deliveries again',
        description: `At most ${mostRedriven} at a time, newest first; \`hasMore\` says whether more are left.`,
        body: Type.Optional(Body(filters, { examples: [{ channel: 'email', reason: 'provider_failed' }] })),
        response: { 200: Type.Object({ redriven: Type.Integer(), hasMore: Type.Boolean() }) },
      },
    },
    async (request) => {
      const { environment, body = {} } = request
      const rows = await find(environment.id, [isUndelivered, ...conditionsOf(body, brand)], mostRedriven + 1)
      const redriven = await engine.redrive(environment.id, rows.slice(0, mostRedriven))
      return { redriven: redriven.length, hasMore: rows.length > mostRedriven }
    },
  )
}

/** Whether each entry that held it back, the last time, still does. */
async function isHeldBack(db: Db, environmentId: string, row: Row, now: Date): Promise<boolean> {
  const lines = wholeLog(row.details ?? [], { createdAt: row.created_at, providerId: row.provider_id, output: null })
  const again = lines.findLastIndex((line) => line.detail === detail('redriven').detail)
  const ids = lines.slice(again + 1).flatMap(({ detail: text, raw }) => {
    if (text !== detail('suppressed').detail || raw === undefined) return []
    return [(JSON.parse(raw) as { suppressionId: string }).suppressionId]
  })
  if (ids.length === 0) return false
  const asking = {
    ...{ workflowId: row.workflow ?? undefined, category: row.consent_category, isCritical: false },
    messageClass: row.message_class ?? 'transactional',
  }
  const standing = (await suppressionsById(db, environmentId, ids, now)).filter((entry) => holdsBack(entry, asking))
  return standing.length === new Set(ids).size
}

function conditionsOf(asked: Filters, brand: Brand): RawBuilder<unknown>[] {
  const equals = (column: string, value: string | undefined) =>
    value === undefined ? [] : [sql`${sql.ref(column)} = ${value}`]
  const { channel, reason, providerId, transactionId, subscriberId, workflowId } = asked
  return [
    ...equals('j.type', channel),
    ...equals('j.reason', reason),
    ...equals('j.provider_id', providerId === undefined ? undefined : brand.toStored(providerId)),
    ...equals('n.transaction_id', transactionId),
    ...equals('n.subscriber_id', subscriberId),
    ...equals('w.identifier', workflowId),
  ]
}

function toDelivery(row: Row, brand: Brand): Static<typeof Delivery> {
  const wire = (id: string | undefined) => (id === undefined ? undefined : brand.toWire(id))
  const destinations = Object.values(row.delivery?.destinations ?? {})
  const failed = destinations.find(({ status }) => status === 'failed')
  return {
    id: row.id,
    status: 'failed',
    channel: row.type,
    reason: row.reason,
    notificationId: row.notification_id,
    transactionId: row.transaction_id,
    subscriberId: row.subscriber_id,
    stepId: row.step_id,
    destinations: destinations.map(({ status, calls, providerId, integrationId, error }) => ({
      status,
      calls,
      ...given({ providerId: wire(providerId), integrationId, error }),
    })),
    createdAt: row.created_at,
    failedAt: row.updated_at,
    ...given({
      error: row.error ?? failed?.error,
      providerId: wire(row.provider_id ?? undefined),
      workflowId: row.workflow,
    }),
  }
}
