// The inbox of a subscriber in the browser: list, count, mark, snooze and delete.
import { Type } from 'typebox'
import { fail } from '../../errors.ts'
import type { InboxSession, Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, FreeObject } from '../edge/schema.ts'
import {
  bulkMarks,
  countQuery,
  InboxItems,
  listQuery,
  marks,
  NotificationIds,
  Snooze,
  selectionFields,
} from './items.ts'
import { InboxNotification } from './notification.ts'

const ItemParams = Type.Object({ notificationId: Type.String() })
const Item = Type.Object({ data: InboxNotification })
const Selection = Body(selectionFields, { examples: [{ tags: ['billing'] }] })

export const inboxNotifications: Resource = (app, services) => {
  const tags = ['Inbox in browsers']
  const config = { public: true, inbox: true }
  const path = '/v1/inbox/notifications'
  const items = new InboxItems(services, { lists: true })
  const one = ({ session, params }: { session: InboxSession; params: { notificationId: string } }) => ({
    ids: [params.notificationId] as [string],
    contextKeys: session.contextKeys,
  })

  app.get(
    path,
    {
      config,
      schema: {
        tags,
        summary: 'List notifications, newest first',
        querystring: Type.Object(listQuery),
        response: {
          200: Type.Object({ data: Type.Array(InboxNotification), hasMore: Type.Boolean(), filter: FreeObject }),
        },
      },
    },
    async (request) => {
      const { session, query } = request
      return items.list(async () => session.subscriber, query, request.now(), session.contextKeys)
    },
  )

  app.get(
    `${path}/count`,
    {
      config,
      schema: {
        tags,
        summary: 'Count notifications for up to 30 filters',
        querystring: countQuery,
        response: {
          200: Type.Object({ data: Type.Array(Type.Object({ count: Type.Integer(), filter: FreeObject })) }),
        },
      },
    },
    async ({ session, query }) => ({
      data: await items.count(async () => session.subscriber, query.filters, session.contextKeys),
    }),
  )

  for (const [operation, marking, summary] of marks) {
    app.patch(
      `${path}/:notificationId/${operation}`,
      { config, schema: { tags, summary, params: ItemParams, response: { 200: Item } } },
      async (request) => ({ data: await items.mark(request.session.subscriber, one(request), marking, request.now()) }),
    )
  }

  app.patch(
    `${path}/:notificationId/snooze`,
    {
      config: { ...config, refusals: [402] },
      schema: {
        tags,
        summary: 'Snooze a notification',
        description: 'It returns at that time as a new one.',
        params: ItemParams,
        body: Snooze,
        response: { 200: Item },
      },
    },
    async (request) => {
      const until = items.readSnooze(request.body, request.now())
      return { data: await items.snooze(request.session.subscriber, one(request), until, request.now()) }
    },
  )

  app.patch(
    `${path}/:notificationId/unsnooze`,
    {
      config,
      schema: {
        tags,
        summary: 'Unsnooze a notification',
        params: ItemParams,
        response: { 200: Item },
      },
    },
    async (request) => ({ data: await items.unsnooze(request.session.subscriber, one(request), request.now()) }),
  )

  for (const operation of ['complete', 'revert'] as const) {
    const isDone = operation === 'complete'
    app.patch(
      `${path}/:notificationId/${operation}`,
      {
        config,
        schema: {
          tags,
          summary: isDone ? 'Mark the action of a button as completed' : 'Mark the action of a button as pending again',
          params: ItemParams,
          body: Body({ actionType: Enum(['primary', 'secondary']) }, { examples: [{ actionType: 'primary' }] }),
          response: { 200: Item },
        },
      },
      async (request) => ({
        data: await items.press(
          request.session.subscriber,
          one(request),
          { type: request.body.actionType, isDone },
          request.now(),
        ),
      }),
    )
  }

  app.delete(
    `${path}/:notificationId/delete`,
    { config, schema: { tags, summary: 'Delete a notification', params: ItemParams, response: { 204: Empty } } },
    async (request, reply) => {
      await items.delete(request.session.subscriber, one(request), request.now())
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/seen`,
    {
      config,
      schema: {
        tags,
        summary: 'Mark notifications as seen: the named ones, or else all that match',
        body: Body(
          { notificationIds: NotificationIds, ...selectionFields },
          { examples: [{ notificationIds: ['65f0c0ffee65f0c0ffee65f0'] }] },
        ),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { session, body } = request
      const { contextKeys } = session
      const { notificationIds, ...selection } = body
      const filter = notificationIds ? { ids: notificationIds } : items.selection(selection, request.now())
      await items.markAll(session.subscriber, { ...filter, contextKeys }, 'seen', request.now())
      return reply.code(204).send(null)
    },
  )

  for (const [operation, marking, only, summary] of bulkMarks) {
    app.post(
      `${path}/${operation}`,
      { config, schema: { tags, summary, body: Selection, response: { 204: Empty } } },
      async (request, reply) => {
        const { session, body } = request
        const filter = { ...items.selection(body, request.now()), ...only, contextKeys: session.contextKeys }
        await items.markAll(session.subscriber, filter, marking, request.now())
        return reply.code(204).send(null)
      },
    )
  }

  app.post(
    `${path}/delete`,
    {
      config,
      schema: { tags, summary: 'Delete all matching notifications', body: Selection, response: { 204: Empty } },
    },
    async (request, reply) => {
      const { session, body } = request
      const filter = { ...items.selection(body, request.now()), contextKeys: session.contextKeys }
      await items.deleteAll(session.subscriber, filter, request.now())
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/inbox/events',
    { config, schema: { hide: true, body: Body({}), response: { 204: Empty } } },
    async () => {
      throw fail('inbox_trigger_refused')
    },
  )
}
