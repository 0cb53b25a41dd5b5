// Messages of all channels: list and delete.
import { type RawBuilder, sql } from 'kysely'
import { Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { allOf, countedUpTo } from '../../db/core/page.ts'
import { hasContextKeys } from '../../db/queries/contexts.ts'
import { deleteMessages, type MessageRow } from '../../db/queries/messages.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Channel, ContextKeys, Empty, Id, NumberedPage, QueryList } from '../edge/schema.ts'
import { Deleted } from '../subscribers/subscribers.ts'
import { Message, showMessages } from './message-shape.ts'

const mostPerPage = 1_000
const channels: Channel[] = ['in_app', 'email', 'sms', 'chat', 'push']

interface Selection {
  environmentId: string
  subscriberRowId: string | undefined
  transactionIds: string[] | undefined
  channel: Channel | undefined
  contextKeys: string[] | undefined
}

const conditionsOf = (selection: Selection): RawBuilder<unknown>[] => [
  sql`t.environment_id = ${selection.environmentId}`,
  ...(selection.subscriberRowId === undefined ? [] : [sql`t.subscriber_row_id = ${selection.subscriberRowId}`]),
  ...(selection.transactionIds === undefined ? [] : [sql`t.transaction_id = ANY(${selection.transactionIds}::text[])`]),
  ...(selection.channel === undefined ? [] : [sql`t.channel = ${selection.channel}`]),
  ...hasContextKeys(selection.contextKeys),
]

/**
 * Newest first. Every kind of selection has an index in that order: a subscriber's messages by channel and time, those of a
 * transaction by run, all others by id. With several channels or transactions each contributes its first rows, and only
 * those are sorted.
 */
async function readPage(db: Db, selection: Selection, limit: number, offset: number): Promise<MessageRow[]> {
  const where = allOf(conditionsOf(selection))
  const inOrder = (keys: string[], column: string, order: RawBuilder<unknown>) => sql<MessageRow>`
    SELECT m.* FROM unnest(${[...new Set(keys)]}::text[]) AS given (key) CROSS JOIN LATERAL (
      SELECT t.* FROM messages t WHERE ${where} AND t.${sql.ref(column)} = given.key
      ORDER BY ${order} LIMIT ${offset + limit}) m
    ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`
  const { subscriberRowId, transactionIds, channel } = selection
  const query =
    subscriberRowId !== undefined
      ? inOrder(channel === undefined ? channels : [channel], 'channel', sql`created_at DESC, id DESC`)
      : transactionIds !== undefined
        ? inOrder(transactionIds, 'transaction_id', sql`notification_id DESC, id DESC`)
        : sql<MessageRow>`SELECT t.* FROM messages t WHERE ${where} ORDER BY t.id DESC LIMIT ${limit} OFFSET ${offset}`
  return (await query.execute(db)).rows
}

/** Counts up to the cap of lists. The ORDER BY keeps the scan on an index of this environment's rows. */
async function count(db: Db, selection: Selection): Promise<number> {
  const isWhole = selection.subscriberRowId === undefined && selection.transactionIds === undefined
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM (
      SELECT FROM messages t WHERE ${allOf(conditionsOf(selection))}
      ${isWhole ? sql`ORDER BY t.id` : sql``} LIMIT ${countedUpTo}) counted`.execute(db)
  return rows[0]?.count ?? 0
}

export const messages: Resource = (app, { db, brand }) => {
  const tags = ['Messages']

  app.get(
    '/v1/messages',
    {
      schema: {
        tags,
        summary: 'List messages of all channels, newest first',
        querystring: Type.Object({
          channel: Type.Optional(Channel),
          subscriberId: Type.Optional(Type.String()),
          transactionId: Type.Optional(QueryList),
          contextKeys: Type.Optional(ContextKeys),
          page: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0 })),
          limit: Type.Optional(
            Type.Integer({
              minimum: 1,
              default: 10,
              zeroIsAbsent: true,
              description: `At most ${mostPerPage}`,
            }),
          ),
        }),
        response: { 200: NumberedPage(Message) },
      },
    },
    async (request) => {
      const { environment } = request
      const { channel, subscriberId, transactionId: transactionIds, contextKeys, page = 0, limit = 10 } = request.query
      if (limit > mostPerPage) throw fail('message_page_too_large', { limit: mostPerPage })
      const subscriber = subscriberId === undefined ? undefined : await findSubscriber(db, environment.id, subscriberId)
      if (subscriberId !== undefined && !subscriber) throw fail('subscriber_missing', { subscriberId })
      const selection = {
        environmentId: environment.id,
        subscriberRowId: subscriber?.id,
        transactionIds,
        channel,
        contextKeys,
      }
      const [rows, totalCount] = await Promise.all([
        readPage(db, selection, limit + 1, page * limit),
        count(db, selection),
      ])
      const data = await showMessages(db, rows.slice(0, limit), environment, brand)
      return { page, pageSize: limit, hasMore: rows.length > limit, data, totalCount }
    },
  )

  app.delete(
    '/v1/messages/:messageId',
    {
      schema: {
        tags,
        summary: 'Delete a message',
        params: Type.Object({ messageId: Id }),
        response: { 200: Deleted },
      },
    },
    async (request) => {
      const { messageId } = request.params
      const { id: environmentId } = request.environment
      await db.transaction().execute(async (tx) => {
        const [deleted] = await deleteMessages(tx, { environmentId, ids: [messageId], now: request.now() })
        if (!deleted) throw fail('message_not_found', { messageId })
        const subscriber = await findSubscriber(tx, environmentId, deleted.subscriber_id)
        if (subscriber?.id !== deleted.subscriber_row_id) throw fail('message_subscriber_gone', { messageId })
      })
      return { acknowledged: true, status: 'deleted' }
    },
  )

  app.delete(
    '/v1/messages/transaction/:transactionId',
    {
      schema: {
        tags,
        summary: 'Delete the messages of a transaction',
        params: Type.Object({ transactionId: Type.String() }),
        querystring: Type.Object({ channel: Type.Optional(Channel) }),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { transactionId } = request.params
      const { channel } = request.query
      const deleted = await db
        .transaction()
        .execute((tx) =>
          deleteMessages(tx, { environmentId: request.environment.id, now: request.now() }, [
            sql`t.transaction_id = ${transactionId}`,
            ...(channel === undefined ? [] : [sql`t.channel = ${channel}`]),
          ]),
        )
      if (deleted.length === 0) throw fail('messages_of_transaction_not_found')
      return reply.code(204).send(null)
    },
  )
}
