// A person's data: export all of it, or erase it with a report of what was removed.
import { Readable } from 'node:stream'
import { type RawBuilder, type Selectable, sql } from 'kysely'
import type pg from 'pg'
import { type Static, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { mask } from '../../db/core/environment-access.ts'
import { cursorPage } from '../../db/core/page.ts'
import { sealedText } from '../../db/core/secrets.ts'
import { wholeLog } from '../../db/core/step-log.ts'
import type { ErasureTable, JobTable, QuestionTable } from '../../db/core/tables.ts'
import { recordAct } from '../../db/queries/audit-log.ts'
import {
  auditRows,
  callsNaming,
  type EventRow,
  mayName,
  ownCall,
  ownRows,
  ownTold,
  type Person,
  passedOverRows,
  runRows,
  suppressionRows,
  toldRows,
  withoutPerson,
} from '../../db/queries/personal-data.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import { requestActs } from '../edge/audit.ts'
import type { Brand } from '../edge/brand.ts'
import type { Resource } from '../edge/resource.ts'
import { CursorPage, cursorQuery, Enum, FreeObject, NullableTimestamp, Timestamp } from '../edge/schema.ts'

const Params = Type.Object({ subscriberId: Type.String() })

const Erasure = Type.Object({
  _id: Type.String(),
  status: Enum(['pending', 'running', 'completed']),
  report: Type.Record(Type.String(), Type.Integer(), {
    description: 'Removed rows, by table; `events_changed` counts triggers for others that named the person',
  }),
  createdAt: Timestamp,
  completedAt: NullableTimestamp,
})

const toErasure = (row: Selectable<ErasureTable>): Static<typeof Erasure> => ({
  _id: row.id,
  status: row.status,
  report: row.report,
  createdAt: row.created_at,
  completedAt: row.completed_at,
})

/** Each holds a connection until its client has read it all. */
const mostExports = 2
/** How long a client may stop reading before the export is aborted. */
const longestStall = '60s'
const rowsAtOnce = 100

export const subscriberData: Resource = (app, { db, pool, clock, brand, engine }) => {
  const tags = ['Subscribers']
  let exporting = 0

  app.post(
    '/v2/subscribers/:subscriberId/erase',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Erase a subscriber with all data of the person in this environment',
        description:
          'The subscriber is deleted at once; a job removes the rest, and the erasure reports its progress and what was removed. Pending steps for the person are cancelled.',
        params: Params,
        response: { 202: Erasure },
      },
    },
    async (request, reply) => {
      const { environment, params } = request
      const id = await engine.erase(environment.id, params.subscriberId)
      if (id === undefined) throw fail('subscriber_not_found', params)
      // Not by naming an act on the route: that would log who it was.
      await recordAct(db, { ...requestActs(request), action: 'subscriber.erased', target: { id } }, clock.now())
      return reply.code(202).send(toErasure(await findErasure(db, environment.id, id)))
    },
  )

  app.get(
    '/v2/erasures',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'List the erasures of this environment',
        querystring: Type.Object(cursorQuery('ListErasuresCommand', ['minimum', 'maximum'])),
        response: { 200: CursorPage(Erasure) },
      },
    },
    async ({ environment, query }) => {
      const list = {
        from: sql`erasures t`,
        table: 'erasures',
        columns: sql`t.*`,
        where: sql`t.environment_id = ${environment.id}`,
        environmentId: environment.id,
      }
      const page = await cursorPage<Selectable<ErasureTable>>(db, list, query)
      return { ...page, data: page.data.map(toErasure) }
    },
  )

  app.get(
    '/v2/erasures/:erasureId',
    {
      config: { role: 'admin' },
      schema: {
        tags,
        summary: 'Retrieve the progress of an erasure, and what was removed',
        params: Type.Object({ erasureId: Type.String() }),
        response: { 200: Erasure },
      },
    },
    async ({ environment, params }) => toErasure(await findErasure(db, environment.id, params.erasureId)),
  )

  app.get(
    '/v2/subscribers/:subscriberId/export',
    {
      config: { role: 'admin', act: 'subscriber.exported' },
      schema: {
        tags,
        summary: 'Export all data of a subscriber, as JSON',
        description:
          'Streamed, whatever its size. Secrets, such as tokens of chat workspaces and addresses of chat webhooks, are left out.',
        params: Params,
        response: {
          200: Type.Object({
            subscriberId: Type.String(),
            exportedAt: Timestamp,
            data: Type.Record(Type.String(), Type.Array(FreeObject), { description: 'Rows by kind' }),
          }),
        },
      },
    },
    async (request, reply) => {
      const { environment, params } = request
      const subscriber = await findSubscriber(db, environment.id, params.subscriberId)
      if (!subscriber) throw fail('subscriber_not_found', params)
      if (exporting >= mostExports) throw fail('too_many_exports', undefined, { headers: { 'Retry-After': '10' } })
      exporting += 1
      const { subscriber_id: subscriberId, email, phone } = subscriber
      const person = { environmentId: environment.id, subscriberId, rowIds: [subscriber.id], email, phone }
      const text = Readable.from(exportOf({ pool, db, brand }, person, clock.now()))
      text.once('close', () => {
        exporting -= 1
      })
      reply.type('application/json; charset=utf-8')
      reply.header('Content-Disposition', 'attachment; filename="subscriber.json"')
      return reply.send(text as never)
    },
  )
}

async function findErasure(db: Db, environmentId: string, erasureId: string): Promise<Selectable<ErasureTable>> {
  const row = await db
    .selectFrom('erasures')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('id', '=', erasureId)
    .executeTakeFirst()
  if (!row) throw fail('erasure_not_found', { erasureId })
  return row
}

// ---- The export

interface Source {
  pool: pg.Pool
  db: Db
  brand: Brand
}

type Row = Record<string, unknown>

/** Rows of one kind, and their order. */
interface Section {
  name: string
  query: RawBuilder<unknown>
  /** The exported form of a row; undefined if it turns out to be about somebody else. */
  show?: (row: Row) => Row | undefined
}

/** Reads one snapshot, section by section, a few rows at a time. */
async function* exportOf({ pool, db, brand }: Source, person: Person, now: Date): AsyncGenerator<string> {
  const client = await pool.connect()
  try {
    await client.query(
      `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
       SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '${longestStall}'`,
    )
    const whole = { ...person, rowIds: await rowIdsOf(client, person) }
    const head = { subscriberId: person.subscriberId, exportedAt: now }
    yield `${JSON.stringify(head).slice(0, -1)},"data":{`
    let separator = ''
    for (const { name, query, show = (row: Row) => row } of sectionsOf(whole)) {
      yield `${separator}${JSON.stringify(name)}:[`
      separator = ','
      let between = ''
      for await (const row of rowsOf(client, db, query)) {
        const shown = show(row)
        if (!shown) continue
        yield between + JSON.stringify(presented(shown, brand)).replaceAll(sealedText, mask)
        between = ','
      }
      yield ']'
    }
    yield '}}'
  } finally {
    // Closes the connection, whether read to the end or not, which ends the transaction.
    client.release(true)
  }
}

async function rowIdsOf(client: pg.PoolClient, { environmentId, subscriberId, rowIds }: Person): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT unnest($3::text[]) AS id
     UNION SELECT subscriber_row_id FROM notifications WHERE environment_id = $1 AND subscriber_id = $2
     UNION SELECT subscriber_row_id FROM messages WHERE environment_id = $1 AND subscriber_id = $2`,
    [environmentId, subscriberId, rowIds],
  )
  return rows.map(({ id }) => id)
}

async function* rowsOf(client: pg.PoolClient, db: Db, query: RawBuilder<unknown>): AsyncGenerator<Row> {
  const { sql: text, parameters } = query.compile(db)
  await client.query(`DECLARE export NO SCROLL CURSOR FOR ${text}`, [...parameters])
  for (;;) {
    const { rows } = await client.query<Row>(`FETCH ${rowsAtOnce} FROM export`)
    yield* rows
    if (rows.length < rowsAtOnce) break
  }
  await client.query('CLOSE export')
}

const orders: Record<string, string> = {
  subscription_preferences: 'subscription_id, workflow_id',
  subscriber_preferences: 'workflow_id, context_keys',
  bot_links: 'hash',
  digests: 'workflow_id, step_row_id, value',
  throttles: 'workflow_id, step_row_id, value',
  cap_counts: 'cap_id',
  timers: 'subject_id, position',
  run_timers: 'subject_id, position',
  tracked_clicks: 'message_id, link_hash',
  jobs: 'notification_id, position',
  posted_event_ids: 'given_id',
  event_waits: 'notification_id, position, entry',
}

/** Of a question, what others were asked or said is not theirs. */
function showJob(row: Row, subscriberId: string): Row | undefined {
  const { details, created_at, provider_id, type, asked, output } = row as unknown as Selectable<JobTable>
  if (asked && asked.subscriberId !== subscriberId) return undefined
  const shown = { ...row, details: wholeLog(details, { createdAt: created_at, providerId: provider_id, output }) }
  if (type !== 'ask') return shown
  const { subscriberId: by } = (output?.answeredBy ?? {}) as { subscriberId?: string }
  const said = by === subscriberId ? output : { ...output, text: null, answeredBy: null }
  return { ...shown, output: said, delivery: null }
}

/** Of a question, what others were asked or said is not theirs. */
function ownPart(row: Row, subscriberId: string): Row {
  const { asked, answered_by: by } = row as unknown as Selectable<QuestionTable>
  const isTheirs = by?.subscriberId === subscriberId
  return {
    ...row,
    asked: asked.filter((entry) => entry.subscriberId === subscriberId),
    ...(isTheirs ? {} : { answered_by: null, text: null }),
  }
}

function sectionsOf(person: Person): Section[] {
  const { environmentId, rowIds, subscriberId } = person
  const tables = Object.entries({ ...ownRows, ...runRows }).map(([table, rows]) => ({
    name: table === 'push_subscriptions' ? 'pushSubscriptions' : table,
    query: sql`
      SELECT t.* FROM ${sql.table(table === 'run_timers' ? 'timers' : table)} t WHERE t.environment_id = ${environmentId} AND ${rows(person)}
      ORDER BY ${sql.raw(orders[table] ?? 'id')}`,
    ...(table === 'jobs' ? { show: (row: Row) => showJob(row, subscriberId) } : {}),
    ...(table === 'questions' ? { show: (row: Row) => ownPart(row, subscriberId) } : {}),
    // Events about others may mention the person.
    ...(table === 'posted_events'
      ? { show: (row: Row) => ([null, subscriberId].includes(row.subscriber_id as string | null) ? row : undefined) }
      : {}),
  }))
  const theirEvents = sql`
    SELECT n.event_id FROM notifications n
    WHERE n.environment_id = ${environmentId} AND n.subscriber_row_id = ANY (${rowIds}::text[])`
  const events = sql`
    SELECT t.*, t.id IN (${theirEvents}) AS got_it FROM events t
    WHERE t.environment_id = ${environmentId} AND (t.id IN (${theirEvents}) OR ${mayName(person)}) ORDER BY t.id`
  const isRecipient = (event: EventRow) =>
    (event.recipients ?? []).some((each) => 'subscriberId' in each && each.subscriberId === subscriberId)
  // Others' runs, which steps of theirs have started: that they did, and not for whom.
  const started = sql`
    SELECT e.id, e.transaction_id, e.workflow_id, e.started_by, e.created_at
    FROM notifications n CROSS JOIN LATERAL (
      SELECT DISTINCT s.event_id FROM notifications s
      WHERE s.environment_id = ${environmentId} AND s.transaction_id >= n.id || ':' AND s.transaction_id < n.id || ';') s
    JOIN events e ON e.environment_id = ${environmentId} AND e.id = s.event_id AND e.started_by ->> 'notificationId' = n.id
    WHERE n.environment_id = ${environmentId} AND n.subscriber_row_id = ANY (${rowIds}::text[]) ORDER BY e.id`
  return [
    ...tables,
    { name: 'started_runs', query: started },
    ...(['outbox', 'refused'] as const).map((name) => ({
      name,
      query: sql`
        SELECT t.* FROM ${sql.table(`belfry.${name}`)} t WHERE t.environment_id = ${environmentId} AND ${callsNaming(person)}
        ORDER BY t.id`,
      show: (row: Row) => {
        const body = ownCall(String(row.kind), row.body as Row, person)
        return body && { ...row, body }
      },
    })),
    {
      name: 'events',
      query: events,
      show: ({ got_it: gotIt, ...row }) => {
        const event = row as unknown as EventRow
        if (!gotIt && !isRecipient(event)) return undefined
        // Leave out the other recipients.
        const own = (event.recipients ?? []).filter(
          (each) => !('subscriberId' in each) || each.subscriberId === subscriberId,
        )
        return { ...row, recipients: own.map(withoutExcluded) }
      },
    },
    {
      name: 'mentions',
      query: events,
      show: ({ got_it: gotIt, ...row }) => {
        const event = row as unknown as EventRow
        if (gotIt || isRecipient(event)) return undefined
        const { mentions } = withoutPerson(event, person)
        if (mentions.length === 0) return undefined
        return { id: event.id, transaction_id: event.transaction_id, created_at: event.created_at, mentions }
      },
    },
    {
      name: 'attachments',
      query: sql`
        SELECT t.* FROM attachments t WHERE t.environment_id = ${environmentId} AND t.event_id IN (${theirEvents})
        ORDER BY t.event_id, t.position`,
    },
    {
      name: 'passed_over',
      query: sql`
        SELECT t.event_id, t.reason, t.detail, t.created_at, ${subscriberId} AS subscriber_id FROM passed_over t
        WHERE t.environment_id = ${environmentId} AND ${passedOverRows(person)} ORDER BY t.event_id, t.id`,
    },
    {
      name: 'told_questions',
      query: sql`
        SELECT t.id, t.type, t.object, t.created_at FROM webhook_events t
        WHERE t.environment_id = ${environmentId} AND ${toldRows(person)} ORDER BY t.id`,
      show: (row) => {
        const object = ownTold(row.object as Row, person)
        return object && { ...row, object }
      },
    },
    { name: 'opens', query: trackedLines(person, 'opened') },
    { name: 'clicks', query: trackedLines(person, 'clicked') },
    {
      name: 'suppressions',
      query: sql`
        SELECT t.*, encode(t.address_hash, 'hex') AS address_hash FROM suppressions t
        WHERE t.environment_id = ${environmentId} AND ${suppressionRows(person)} ORDER BY t.id`,
    },
    {
      name: 'audit_log',
      query: sql`
        SELECT t.action, t.target_id, t.target_name, t.created_at FROM audit_log t WHERE ${auditRows(person)} ORDER BY t.id`,
    },
  ]
}

/** Opens and clicks that were counted, from the logs of their steps. */
const trackedLines = (person: Person, status: 'opened' | 'clicked') => sql`
  SELECT line ->> 'messageId' AS message_id, line ->> 'at' AS at${
    status === 'clicked' ? sql`, (line ->> 'raw')::json ->> 'url' AS url` : sql``
  }
  FROM jobs t CROSS JOIN LATERAL jsonb_array_elements(t.details) WITH ORDINALITY AS l (line, place)
  WHERE t.environment_id = ${person.environmentId} AND ${runRows.jobs(person)} AND jsonb_typeof(line) = 'object'
    AND line ->> 'source' = 'Internal' AND line -> 'webhook' ->> 'status' = ${status}
  ORDER BY t.notification_id, t.position, place`

function withoutExcluded(each: object): object {
  const { exclude: _others, ...rest } = each as { exclude?: unknown }
  return rest
}

const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** In the API's format: names in camel case, branded identifiers, files as base64, no secrets. */
function presented(row: Row, brand: Brand): Row {
  const shown: Row = {}
  for (const [column, value] of Object.entries(row)) {
    if (column === 'environment_id' || column === 'sealed' || column.startsWith('encrypted_')) continue
    shown[camelCase(column)] =
      column === 'provider_id' && typeof value === 'string' ? brand.toWire(value) : withBase64(value)
  }
  return shown
}

function withBase64(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  return Array.isArray(value) ? value.map(withBase64) : value
}
