// Calls of the SQL functions that were refused after their transaction had committed: listed, and carried out again. And what whoever
// carries out calls from another database has to know.
import { type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { allOf, cursorPage } from '../../db/core/page.ts'
import type { RefusedCallTable } from '../../db/core/tables.ts'
import { retryRows } from '../../engine/outbox/rows.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Enum, FreeObject, Id, Nullable, Timestamp } from '../edge/schema.ts'

const kinds = ['trigger', 'cancel', 'upsert_subscriber'] as const
const mostIds = 200

const RefusedCall = Type.Object({
  _id: Type.String(),
  kind: Enum(kinds, { description: 'The function that was called' }),
  transactionId: Nullable(Type.String()),
  workflowId: Nullable(Type.String()),
  code: Type.String({ description: 'The code that the API would answer with' }),
  message: Type.String(),
  role: Type.String({ description: 'The role of the database that called' }),
  body: Type.Unsafe<Record<string, unknown>>({
    ...FreeObject,
    description: 'What the call said, as a request says it',
  }),
  calledAt: Timestamp,
  refusedAt: Timestamp,
})

type Row = Selectable<RefusedCallTable>

const toRefusedCall = (row: Row): Static<typeof RefusedCall> => ({
  _id: row.id,
  kind: row.kind,
  transactionId: row.transaction_id,
  workflowId: typeof row.body.name === 'string' ? row.body.name : null,
  code: row.code,
  message: row.message,
  role: row.role,
  body: row.body,
  calledAt: row.created_at,
  refusedAt: row.refused_at,
})

export const refusedCalls: Resource = (app, { db, pool, clock, config }) => {
  const tags = ['Events']

  app.get(
    '/v2/outbox/settings',
    {
      schema: {
        tags,
        summary: 'What to know for carrying out calls of another database',
        description: 'For `belfry outbox drain`. See docs/sql.md.',
        response: {
          200: Type.Object({
            dedupDays: Type.Number({
              description: 'How long a transactionId is remembered, in days (BELFRY_DEDUP_DAYS)',
            }),
          }),
        },
      },
    },
    () => ({ dedupDays: config.dedupDays }),
  )

  app.get(
    '/v2/outbox/refused',
    {
      schema: {
        tags,
        summary: 'List calls of the SQL functions that were refused',
        description: 'Of the last 30 days. See docs/sql.md.',
        querystring: Type.Object({
          ...cursorQuery('ListRefusedCallsCommand'),
          code: Type.Optional(Type.String({ description: 'Only with this code' })),
        }),
        response: { 200: CursorPage(RefusedCall) },
      },
    },
    async ({ environment, query: { code, ...query } }) => {
      const where = [sql`t.environment_id = ${environment.id}`, ...(code === undefined ? [] : [sql`t.code = ${code}`])]
      const list = { from: sql`belfry.refused t`, table: 'belfry.refused', columns: sql`t.*`, where: allOf(where) }
      const page = await cursorPage<Row>(db, { ...list, environmentId: environment.id }, query)
      return { ...page, data: page.data.map(toRefusedCall) }
    },
  )

  app.post(
    '/v2/outbox/refused/retry',
    {
      config: { role: 'editor', scope: 'send', act: 'outbox.retried' },
      schema: {
        tags,
        summary: 'Carry out refused calls again',
        description: 'They go back into the outbox; what is still wrong is refused anew.',
        body: Body({
          ids: Type.Optional(
            Type.Array(Id, {
              minItems: 1,
              maxItems: mostIds,
              description: 'Which ones. Default: all of this environment',
            }),
          ),
        }),
        response: { 200: Type.Object({ retried: Type.Integer() }) },
      },
    },
    async (request) => {
      const { environment, body } = request
      const { rowCount } = await pool.query(retryRows.text, [[environment.id], body.ids ?? null, clock.now()])
      request.acted = { count: rowCount ?? 0 }
      return { retried: rowCount ?? 0 }
    },
  )
}
