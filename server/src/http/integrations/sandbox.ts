// The sandbox: stores messages instead of sending them, and simulates faults of providers.
import { type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { answerTokenStart } from '../../db/core/link-tokens.ts'
import { allOf, contains, cursorPage } from '../../db/core/page.ts'
import type { SandboxMessageTable } from '../../db/core/tables.ts'
import { type SandboxFault, sandboxFaults } from '../../db/queries/sandbox.ts'
import { fail } from '../../errors.ts'
import { mayAnswer } from '../edge/answer-links.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Empty, Enum, FreeObject, Nullable, Timestamp } from '../edge/schema.ts'

const channels = ['email', 'sms', 'chat', 'push'] as const
/** An environment never has more: one per channel, and one for all. */
const mostFaults = 10

const attachment = {
  name: Type.String(),
  mime: Type.String(),
  cid: Type.Optional(Type.String()),
  disposition: Type.Optional(Type.String()),
}
const fields = {
  id: Type.String({ description: "The message's own id" }),
  channel: Enum(channels),
  transactionId: Type.String(),
  subscriberId: Type.String(),
  workflowId: Type.String(),
  stepId: Type.String(),
  to: Type.Array(Type.String(), { description: 'Addresses, numbers, devices or chats' }),
  subject: Nullable(Type.String()),
  text: Nullable(Type.String()),
  createdAt: Timestamp,
}
const Listed = Type.Object({ ...fields, attachments: Type.Array(Type.Object(attachment)) })
const Whole = Type.Object({
  ...fields,
  html: Nullable(Type.String()),
  headers: FreeObject,
  message: Type.Unsafe<Record<string, unknown>>({
    ...FreeObject,
    description: 'Everything the provider would have got',
  }),
  attachments: Type.Array(Type.Object({ ...attachment, content: Type.String({ description: 'Base64' }) })),
})

const Fault = Type.Object({
  channel: Type.Optional(Enum(channels, { description: 'Absent: every channel without its own fault' })),
  fault: Enum(sandboxFaults),
  retryAfterSeconds: Type.Optional(Type.Integer()),
  count: Type.Optional(Type.Integer({ description: 'For this many messages; absent: until it is removed' })),
})

/** The searchable text of a message. The sandbox keeps a week of tests, few enough for a scan. */
const searched = sql`concat_ws(' ', t.subject, t.text, t.subscriber_id, array_to_string(t.recipients, ' '))`

/** For those who may not answer for others: a link that answers cannot be guessed letter by letter either. */
const searchedWithoutLinks = (environmentId: string) =>
  sql`regexp_replace(${searched}, ${`${answerTokenStart(environmentId)}[A-Za-z0-9_-]*`}, '***', 'g')`

type Row = Selectable<SandboxMessageTable>
type Shown = Omit<Row, 'html' | 'message' | 'files' | 'environment_id' | 'updated_at'>

const toListed = (row: Shown) => ({
  id: row.id,
  channel: row.channel as (typeof channels)[number],
  transactionId: row.transaction_id,
  subscriberId: row.subscriber_id,
  workflowId: row.workflow,
  stepId: row.step_id,
  to: row.recipients,
  subject: row.subject,
  text: row.text,
  attachments: row.attachments,
  createdAt: row.created_at,
})

export const sandbox: Resource = (app, { db }) => {
  const tags = ['Sandbox']

  app.get(
    '/v1/sandbox/messages',
    {
      schema: {
        tags,
        summary: 'List the messages in the sandbox',
        querystring: Type.Object({
          ...cursorQuery('ListSandboxMessagesCommand', ['minimum', 'maximum']),
          channel: Type.Optional(Enum(channels)),
          subscriberId: Type.Optional(Type.String()),
          to: Type.Optional(Type.String({ description: 'An address, number, device or chat' })),
          transactionId: Type.Optional(Type.String()),
          search: Type.Optional(
            Type.String({ description: 'Part of the subject, the text, an address or the subscriber id' }),
          ),
        }),
        response: { 200: CursorPage(Listed) },
      },
    },
    async (request) => {
      const { channel, subscriberId, to, transactionId, search } = request.query
      const environmentId = request.environment.id
      const where = [
        sql`t.environment_id = ${environmentId}`,
        ...(channel === undefined ? [] : [sql`t.channel = ${channel}`]),
        ...(subscriberId === undefined ? [] : [sql`t.subscriber_id = ${subscriberId}`]),
        ...(to === undefined ? [] : [sql`${to} = ANY(t.recipients)`]),
        ...(transactionId === undefined ? [] : [sql`t.transaction_id = ${transactionId}`]),
        ...(search ? [contains(mayAnswer(request) ? searched : searchedWithoutLinks(environmentId), search)] : []),
      ]
      const page = await cursorPage<Shown>(
        db,
        {
          from: sql`sandbox_messages t`,
          table: 'sandbox_messages',
          columns: sql`t.id, t.channel, t.transaction_id, t.subscriber_id, t.workflow, t.step_id, t.recipients, t.subject,
                       t.text, t.attachments, t.created_at`,
          where: allOf(where),
          environmentId,
          order: 'created_at',
        },
        request.query,
      )
      return { ...page, data: page.data.map(toListed) }
    },
  )

  app.get(
    '/v1/sandbox/messages/:messageId',
    {
      schema: {
        tags,
        summary: 'Retrieve a message from the sandbox, with its HTML, headers and files',
        params: Type.Object({ messageId: Type.String() }),
        response: { 200: Whole },
      },
    },
    async (request): Promise<Static<typeof Whole>> => {
      const { messageId: id } = request.params
      const row = await db
        .selectFrom('sandbox_messages')
        .selectAll()
        .where('environment_id', '=', request.environment.id)
        .where('id', '=', id)
        .executeTakeFirst()
      if (!row) throw fail('sandbox_message_not_found', { id })
      const { headers } = row.message
      return {
        ...toListed(row),
        html: row.html,
        headers: typeof headers === 'object' && headers !== null ? { ...headers } : {},
        message: row.message,
        attachments: row.attachments.map((about, index) => ({
          ...about,
          content: row.files[index]?.toString('base64') ?? '',
        })),
      }
    },
  )

  app.delete(
    '/v1/sandbox/messages',
    { schema: { tags, summary: 'Empty the sandbox', response: { 204: Empty } } },
    async (request, reply) => {
      await db.deleteFrom('sandbox_messages').where('environment_id', '=', request.environment.id).execute()
      return reply.code(204).send(null)
    },
  )

  const faultsOf = async (environmentId: string): Promise<Array<Static<typeof Fault>>> => {
    const rows = await db
      .selectFrom('sandbox_faults')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .where((where) => where.or([where('remaining', 'is', null), where('remaining', '>', 0)]))
      .orderBy('channel')
      .limit(mostFaults)
      .execute()
    return rows.map(({ channel, fault, retry_after_seconds, remaining }) => ({
      ...(channel === '' ? {} : { channel: channel as (typeof channels)[number] }),
      fault: fault as SandboxFault,
      ...(retry_after_seconds === null ? {} : { retryAfterSeconds: retry_after_seconds }),
      ...(remaining === null ? {} : { count: remaining }),
    }))
  }

  app.get(
    '/v1/sandbox/faults',
    { schema: { tags, summary: 'List the simulated faults', response: { 200: Type.Array(Fault) } } },
    async (request) => faultsOf(request.environment.id),
  )

  app.put(
    '/v1/sandbox/faults',
    {
      schema: {
        tags,
        summary: 'Simulate a fault',
        description:
          'The fault of a provider: `rate_limited` (429), `timeout`, `reset`, `server_error` (500), `bounce`, `rejected` (400) or `unauthorized` (401). Replaces the current fault of the channel.',
        body: Body(
          {
            channel: Type.Optional(Enum(channels)),
            fault: Enum(sandboxFaults),
            retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
            count: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
          },
          { examples: [{ channel: 'email', fault: 'rate_limited', retryAfterSeconds: 10, count: 2 }] },
        ),
        response: { 200: Type.Array(Fault) },
      },
    },
    async (request) => {
      const { channel = '', fault, retryAfterSeconds = null, count = null } = request.body
      const values = { fault, retry_after_seconds: retryAfterSeconds, remaining: count }
      await db
        .insertInto('sandbox_faults')
        .values({ environment_id: request.environment.id, channel, ...values })
        .onConflict((conflict) => conflict.columns(['environment_id', 'channel']).doUpdateSet(values))
        .execute()
      return faultsOf(request.environment.id)
    },
  )

  app.delete(
    '/v1/sandbox/faults',
    { schema: { tags, summary: 'Remove the simulated faults', response: { 204: Empty } } },
    async (request, reply) => {
      await db.deleteFrom('sandbox_faults').where('environment_id', '=', request.environment.id).execute()
      return reply.code(204).send(null)
    },
  )
}
