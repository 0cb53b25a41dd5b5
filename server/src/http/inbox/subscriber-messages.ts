// In-app messages of a subscriber, v1: mark as read or seen, buttons, the feed and its unseen count.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { idPattern } from '../../db/core/ids.ts'
import { countedUpTo } from '../../db/core/page.ts'
import type { MemberCondition } from '../../db/queries/message-filter.ts'
import {
  type ButtonType,
  countInbox,
  lockMessage,
  type Marking,
  type MessageRow,
  markAll,
  markMessages,
  readInbox,
  setAction,
} from '../../db/queries/messages.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import { given, Message, messageFields, showMessages, toMessageFields, triggersOf } from '../activity/message-shape.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, Enum, FreeObject, NumberedPage, numberedQuery } from '../edge/schema.ts'
import { fieldError, generalError } from '../edge/validation.ts'
import { leavesOf } from './filter.ts'
import { pressAnswer, questionOf } from './press-answer.ts'

const mostMarked = 1_000
const deepestPayload = 3
const defaultUnseenLimit = 100
const mostUnseen = 1_000

const Params = Type.Object({ subscriberId: Type.String() })
const markings = { read: 'read', unread: 'mark_unread', seen: 'seen', unseen: 'unseen' } as const
const MarkAs = Enum(['read', 'seen', 'unread', 'unseen'])
/** Feeds no longer exist: messages are in none, so this matches nothing. */
const FeedIdentifier = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], { deprecated: true }))

/** One id or a list of them, with one error message for both. */
const MessageId = Type.Unsafe<string | string[]>({
  anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
  description: 'The id of a message, or a list of them',
})
const isId = new RegExp(idPattern)

function readMessageIds(given: string | string[]): string[] {
  const ids = [...new Set([given].flat())]
  if (ids.length === 0 || !ids.every((id) => isId.test(id)))
    throw generalError(['messageId must be a valid MongoDB ObjectId or an array of valid MongoDB ObjectIds'])
  if (ids.length > mostMarked) throw generalError([`messageId must contain no more than ${mostMarked} elements`])
  return ids
}

const FeedItem = Type.Object({
  ...messageFields,
  content: Type.String(),
  subscriber: Type.Optional(
    Type.Object({
      _id: Type.String(),
      subscriberId: Type.String(),
      firstName: Type.Optional(Type.String()),
      lastName: Type.Optional(Type.String()),
      avatar: Type.Optional(Type.String()),
    }),
  ),
})

export const subscriberMessages: Resource = (app, { db, brand, engine }) => {
  const tags = ['Messages']

  const inboxOf = async (environment: Environment, subscriberId: string) => {
    const subscriber = await findSubscriber(db, environment.id, subscriberId)
    return subscriber && { environmentId: environment.id, subscriberRowId: subscriber.id }
  }

  /** Applies the marks in order. @returns the changed messages, in the given order */
  const mark = async (request: FastifyRequest, subscriberId: string, ids: string[], wanted: Marking[]) => {
    const { environment } = request
    const inbox = await inboxOf(environment, subscriberId)
    if (!inbox) throw fail('marking_subscriber_not_found', { subscriberId })
    const rows = await db.transaction().execute(async (tx) => {
      let marked: MessageRow[] = []
      for (const marking of wanted)
        marked = await markMessages(tx, inbox, { ids, anyChannel: true }, marking, request.now())
      return marked
    })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return showMessages(
      db,
      ids.flatMap((id) => byId.get(id) ?? []),
      environment,
      brand,
    )
  }

  app.post(
    '/v1/subscribers/:subscriberId/messages/mark-as',
    {
      schema: {
        tags,
        summary: 'Mark messages as read, unread, seen or unseen',
        description: 'Skips messages that do not exist, or belong to another subscriber.',
        params: Params,
        body: Body(
          { messageId: MessageId, markAs: MarkAs },
          { examples: [{ messageId: ['65f0c0ffee65f0c0ffee65f0'], markAs: 'read' }] },
        ),
        response: { 201: Type.Array(Message) },
      },
    },
    async (request, reply) => {
      const { messageId, markAs } = request.body
      const ids = readMessageIds(messageId)
      reply.code(201)
      return mark(request, request.params.subscriberId, ids, [markings[markAs]])
    },
  )

  app.post(
    '/v1/subscribers/:subscriberId/messages/markAs',
    {
      schema: {
        // For older clients only; `mark-as` replaced it.
        hide: true,
        params: Params,
        body: Body({
          messageId: MessageId,
          mark: Body({ read: Type.Optional(Type.Boolean()), seen: Type.Optional(Type.Boolean()) }),
        }),
        response: { 201: Type.Array(Message) },
      },
    },
    async (request, reply) => {
      const { messageId, mark: given } = request.body
      const ids = readMessageIds(messageId)
      const { read, seen } = given
      if (read === undefined && seen === undefined) throw generalError(['mark should not be empty'])
      // Marking as read or unread also marks as seen, unless the request says otherwise.
      const wanted: Marking[] = [
        ...(read === undefined ? [] : [read ? markings.read : markings.unread]),
        ...(seen === undefined || (seen && read !== undefined) ? [] : [seen ? markings.seen : markings.unseen]),
      ]
      reply.code(201)
      return mark(request, request.params.subscriberId, ids, wanted)
    },
  )

  app.post(
    '/v1/subscribers/:subscriberId/messages/mark-all',
    {
      schema: {
        tags,
        summary: 'Mark all in-app messages as read, unread, seen or unseen',
        params: Params,
        body: Body({ markAs: MarkAs, feedIdentifier: FeedIdentifier }, { examples: [{ markAs: 'read' }] }),
        response: { 201: Type.Integer({ description: 'How many were changed' }) },
      },
    },
    async (request, reply) => {
      const { subscriberId } = request.params
      const { markAs, feedIdentifier } = request.body
      const inbox = await inboxOf(request.environment, subscriberId)
      if (!inbox)
        throw fail('marking_all_subscriber_not_found', { subscriberId, environmentId: request.environment.id })
      reply.code(201)
      if (namesFeed(feedIdentifier)) return 0
      return (await markAll(db, inbox, {}, markings[markAs], request.now())).length
    },
  )

  app.post(
    '/v1/subscribers/:subscriberId/messages/:messageId/actions/:type',
    {
      schema: {
        tags,
        summary: 'Set the state of the buttons of a message',
        params: Type.Object({ subscriberId: Type.String(), messageId: Type.String(), type: Type.String() }),
        body: Body(
          { status: Enum(['pending', 'done']), payload: Type.Optional(FreeObject) },
          { examples: [{ status: 'done', payload: { answer: 'yes' } }] },
        ),
        response: { 201: Message },
      },
    },
    async (request, reply) => {
      const { environment } = request
      const { subscriberId, messageId } = request.params
      const type = readButtonType(request.params.type)
      const { status, payload } = request.body
      if (!isId.test(messageId))
        throw fieldError(
          'UpdateMessageActionsCommand',
          { messageId: ['messageId must be a mongodb id'] },
          { messageId },
        )
      const inbox = await inboxOf(environment, subscriberId)
      if (!inbox) throw fail('subscriber_id_unknown', { subscriberId })
      const { row, questionId } = await db.transaction().execute(async (tx) => {
        const found = await lockMessage(tx, environment.id, messageId)
        if (!found) throw fail('message_of_action_not_found', { messageId })
        if (found.subscriber_row_id !== inbox.subscriberRowId)
          throw fail('message_of_another_subscriber', { messageId, subscriberId })
        const asked = await questionOf(tx, found)
        if (asked !== undefined) return { row: found, questionId: asked }
        return { row: await setAction(tx, found, { status, result: { type, payload } }, request.now()) }
      })
      if (questionId !== undefined && status === 'done') {
        const subscriber = await findSubscriber(db, environment.id, subscriberId)
        if (!subscriber) throw fail('subscriber_id_unknown', { subscriberId })
        await pressAnswer({ db, engine }, { subscriber, questionId, type })
      }
      const shown =
        questionId === undefined
          ? row
          : await db.transaction().execute((tx) => lockMessage(tx, environment.id, messageId))
      const [message] = await showMessages(db, [shown ?? row], environment, brand)
      return reply.code(201).send(message as Message)
    },
  )

  app.get(
    '/v1/subscribers/:subscriberId/notifications/feed',
    {
      schema: {
        tags,
        summary: 'List in-app messages of a subscriber, newest first',
        params: Params,
        querystring: Type.Object({
          ...numberedQuery(),
          read: Type.Optional(Type.Boolean()),
          seen: Type.Optional(Type.Boolean()),
          payload: Type.Optional(
            Type.String({
              description: 'A JSON object in base64; matches messages whose trigger payload contains all of it',
            }),
          ),
          feedIdentifier: Type.Optional(Type.Array(Type.String(), { deprecated: true })),
        }),
        response: { 200: NumberedPage(FeedItem) },
      },
    },
    async (request) => {
      const { environment } = request
      const { subscriberId } = request.params
      const { page = 0, limit = 10, read, seen, feedIdentifier } = request.query
      const subscriber = await findSubscriber(db, environment.id, subscriberId)
      if (!subscriber) throw fail('feed_subscriber_not_found', { subscriberId })
      const filter = { read, seen, payload: readPayload(request.query.payload) }
      if (namesFeed(feedIdentifier)) return { data: [], totalCount: 0, hasMore: false, pageSize: limit, page }
      const inbox = { environmentId: environment.id, subscriberRowId: subscriber.id }
      const [rows, [totalCount = 0]] = await Promise.all([
        readInbox(db, inbox, filter, { limit: limit + 1, offset: page * limit }),
        countInbox(db, inbox, [filter], countedUpTo),
      ])
      const shown = rows.slice(0, limit)
      const triggers = await triggersOf(db, environment.id, shown)
      const { id: _id, subscriber_id, first_name, last_name, avatar } = subscriber
      const person = {
        _id,
        subscriberId: subscriber_id,
        ...given({ firstName: first_name, lastName: last_name, avatar }),
      }
      const data: Static<typeof FeedItem>[] = shown.map((row) => ({
        ...toMessageFields(row, triggers.get(row.event_id), environment, brand),
        content: row.content ?? '',
        subscriber: person,
      }))
      return { data, totalCount, hasMore: rows.length > limit, pageSize: limit, page }
    },
  )

  app.get(
    '/v1/subscribers/:subscriberId/notifications/unseen',
    {
      schema: {
        tags,
        summary: 'Count unseen in-app messages',
        params: Params,
        querystring: Type.Object({
          seen: Type.Optional(Type.Boolean({ default: false })),
          limit: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: mostUnseen,
              default: defaultUnseenLimit,
              description: 'The maximum count',
              perField: { command: 'GetUnseenCountCommand' },
            }),
          ),
          feedId: Type.Optional(Type.Array(Type.String(), { deprecated: true })),
        }),
        response: { 200: Type.Object({ count: Type.Integer() }) },
      },
    },
    async (request) => {
      const { subscriberId } = request.params
      const { seen = false, limit = defaultUnseenLimit, feedId } = request.query
      const inbox = await inboxOf(request.environment, subscriberId)
      if (!inbox) throw fail('feed_subscriber_not_found', { subscriberId })
      if (namesFeed(feedId)) return { count: 0 }
      const [count = 0] = await countInbox(db, inbox, [{ seen }], limit)
      return { count }
    },
  )
}

function readButtonType(type: string): ButtonType {
  if (type !== 'primary' && type !== 'secondary')
    throw generalError(['type must be one of the following values: primary, secondary'])
  return type
}

const namesFeed = (given: string | string[] | undefined) => [given ?? []].flat().some((name) => name !== '')

function readPayload(text: string | undefined): MemberCondition[] | undefined {
  if (text === undefined || text === '') return undefined
  let payload: unknown
  try {
    payload = JSON.parse(Buffer.from(text, 'base64').toString())
  } catch {
    throw fail('feed_payload_invalid')
  }
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
  const conditions = isObject ? leavesOf(payload as Record<string, unknown>, deepestPayload) : undefined
  if (!conditions) throw fail('feed_payload_invalid')
  return conditions
}
