// The inbox of a subscriber for the backend, v2: list, count, mark, snooze and delete.
import { type Static, Type } from 'typebox'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import type { Environment, Resource } from '../edge/resource.ts'
import { Body, ContextKeys, Empty, Enum, FreeObject } from '../edge/schema.ts'
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

const Params = Type.Object({ subscriberId: Type.String() })
const ItemParams = Type.Object({ subscriberId: Type.String(), notificationId: Type.String() })
const ItemQuery = Type.Object({ contextKeys: Type.Optional(ContextKeys) })

const bulkFields = {
  ...selectionFields,
  contextKeys: Type.Optional(Type.Array(Type.String(), { description: 'At least one of these' })),
}
const Selection = Body(bulkFields, { examples: [{ tags: ['billing'] }] })

export const subscriberNotifications: Resource = (app, services) => {
  const { db } = services
  const tags = ['Inbox']
  const path = '/v2/subscribers/:subscriberId/notifications'
  const items = new InboxItems(services)

  const findOwner = async (environment: Environment, subscriberId: string) => {
    const subscriber = await findSubscriber(db, environment.id, subscriberId)
    if (!subscriber) throw fail('subscriber_missing', { subscriberId })
    return subscriber
  }
  const one = ({ params, query }: { params: Static<typeof ItemParams>; query: Static<typeof ItemQuery> }) => ({
    ids: [params.notificationId] as [string],
    contextKeys: query.contextKeys,
  })
  const filterOf = (selection: Static<typeof Selection>, now: Date) => ({
    ...items.selection(selection, now),
    someContextKey: selection.contextKeys,
  })

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "List a subscriber's notifications, newest first",
        params: Params,
        querystring: Type.Object({ ...listQuery, contextKeys: Type.Optional(ContextKeys) }),
        response: {
          200: Type.Object({ data: Type.Array(InboxNotification), hasMore: Type.Boolean(), filter: FreeObject }),
        },
      },
    },
    async (request) => {
      const { environment, params, query } = request
      return items.list(() => findOwner(environment, params.subscriberId), query, request.now(), query.contextKeys)
    },
  )

  app.get(
    `${path}/count`,
    {
      schema: {
        tags,
        summary: "Count a subscriber's notifications for up to 30 filters",
        params: Params,
        querystring: countQuery,
        response: { 200: Type.Array(Type.Object({ count: Type.Integer(), filter: FreeObject })) },
      },
    },
    async ({ environment, params, query }) =>
      items.count(async () => {
        const subscriber = await findSubscriber(db, environment.id, params.subscriberId)
        if (!subscriber) throw fail('subscriber_id_unknown', params)
        return subscriber
      }, query.filters),
  )

  for (const [operation, marking, summary] of marks) {
    app.patch(
      `${path}/:notificationId/${operation}`,
      {
        schema: { tags, summary, params: ItemParams, querystring: ItemQuery, response: { 200: InboxNotification } },
      },
      async (request) => {
        const subscriber = await findOwner(request.environment, request.params.subscriberId)
        return items.mark(subscriber, one(request), marking, request.now())
      },
    )
  }

  app.patch(
    `${path}/:notificationId/snooze`,
    {
      config: { refusals: [402] },
      schema: {
        tags,
        summary: 'Snooze a notification',
        description: 'It returns at that time as a new one.',
        params: ItemParams,
        querystring: ItemQuery,
        body: Snooze,
        response: { 200: InboxNotification },
      },
    },
    async (request) => {
      const until = items.readSnooze(request.body, request.now())
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      return items.snooze(subscriber, one(request), until, request.now())
    },
  )

  app.patch(
    `${path}/:notificationId/unsnooze`,
    {
      schema: {
        tags,
        summary: 'Unsnooze a notification',
        params: ItemParams,
        querystring: ItemQuery,
        response: { 200: InboxNotification },
      },
    },
    async (request) => {
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      return items.unsnooze(subscriber, one(request), request.now())
    },
  )

  for (const operation of ['complete', 'revert'] as const) {
    const isDone = operation === 'complete'
    app.patch(
      `${path}/:notificationId/actions/:actionType/${operation}`,
      {
        schema: {
          tags,
          summary: isDone ? 'Mark the action of a button as completed' : 'Mark the action of a button as pending again',
          params: Type.Object({
            subscriberId: Type.String(),
            notificationId: Type.String(),
            actionType: Enum(['primary', 'secondary']),
          }),
          querystring: ItemQuery,
          response: { 200: InboxNotification },
        },
      },
      async (request) => {
        const subscriber = await findOwner(request.environment, request.params.subscriberId)
        return items.press(subscriber, one(request), { type: request.params.actionType, isDone }, request.now())
      },
    )
  }

  app.delete(
    `${path}/:notificationId`,
    {
      schema: {
        tags,
        summary: 'Delete a notification',
        params: ItemParams,
        querystring: ItemQuery,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      await items.delete(subscriber, one(request), request.now())
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/seen`,
    {
      schema: {
        tags,
        summary: 'Mark notifications as seen: the named ones, or else all that match',
        params: Params,
        body: Body(
          { notificationIds: NotificationIds, ...bulkFields },
          { examples: [{ notificationIds: ['65f0c0ffee65f0c0ffee65f0'] }] },
        ),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { notificationIds, ...selection } = request.body
      const filter = notificationIds
        ? { ids: notificationIds, someContextKey: selection.contextKeys }
        : filterOf(selection, request.now())
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      await items.markAll(subscriber, filter, 'seen', request.now())
      return reply.code(204).send(null)
    },
  )

  for (const [operation, marking, only, summary] of bulkMarks) {
    app.post(
      `${path}/${operation}`,
      { schema: { tags, summary, params: Params, body: Selection, response: { 204: Empty } } },
      async (request, reply) => {
        const filter = { ...filterOf(request.body, request.now()), ...only }
        const subscriber = await findOwner(request.environment, request.params.subscriberId)
        await items.markAll(subscriber, filter, marking, request.now())
        return reply.code(204).send(null)
      },
    )
  }

  app.post(
    `${path}/delete`,
    {
      schema: {
        tags,
        summary: 'Delete all matching notifications',
        params: Params,
        body: Selection,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const filter = filterOf(request.body, request.now())
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      await items.deleteAll(subscriber, filter, request.now())
      return reply.code(204).send(null)
    },
  )
}
