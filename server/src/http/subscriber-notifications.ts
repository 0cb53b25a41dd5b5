// The inbox of a subscriber as the backend sees it, version 2: listed, counted, marked, snoozed and removed.
import { type Static, Type } from 'typebox'
import type { Inbox, MessageFilter } from '../db/message-filter.ts'
import {
  type ButtonType,
  countInbox,
  deleteFromInbox,
  lockMessage,
  type Marking,
  type MessageRow,
  markAll,
  markMessages,
  readInbox,
  setAction,
  snoozeMessage,
  unsnoozeMessage,
} from '../db/messages.ts'
import { findSubscriber, type SubscriberRow } from '../db/subscribers.ts'
import { fail } from '../errors.ts'
import { readCountFilters, readData, readTags, refuseUnreadArchived, tagsOfQuery } from './inbox-filter.ts'
import { buttonOf, InboxNotification, showNotifications } from './inbox-notification.ts'
import { given } from './message-shape.ts'
import type { Environment, Resource } from './resource.ts'
import { Body, ContextKeys, Empty, Enum, FreeObject, Id } from './schema.ts'
import { Severity } from './workflow-shape.ts'

const shortestSnoozeMs = 60_000
const longestSnoozeDays = 90
const mostCounted = 100
const latestTimestamp = 253_402_300_799_999

const Params = Type.Object({ subscriberId: Type.String() })
const ItemParams = Type.Object({ subscriberId: Type.String(), notificationId: Type.String() })
const ItemQuery = Type.Object({ contextKeys: Type.Optional(ContextKeys) })
const State = Type.Optional(Type.Boolean())
const Moment = Type.Optional(
  Type.Integer({ minimum: 0, maximum: latestTimestamp, description: 'In milliseconds since 1970; inclusive' }),
)

const bulkFields = {
  tags: Type.Optional(
    Type.Unknown({
      description: 'A list: any of these; `{"or": [...]}`: the same; `{"and": [{"or": [...]}]}`: one of every group',
    }),
  ),
  data: Type.Optional(Type.String({ description: 'The text of a JSON object: those whose data has all of it' })),
  contextKeys: Type.Optional(Type.Array(Type.String(), { description: 'Those with at least one of these' })),
}
const Selection = Body(bulkFields, { examples: [{ tags: ['billing'] }] })

const filterOf = ({ tags, data, contextKeys }: Static<typeof Selection>): MessageFilter => ({
  tags: readTags(tags),
  data: readData(data).conditions,
  someContextKey: contextKeys,
})

export const subscriberNotifications: Resource = (app, { db, clock }) => {
  const tags = ['Inbox']
  const path = '/v2/subscribers/:subscriberId/notifications'

  const findOwner = async (environment: Environment, subscriberId: string) => {
    const subscriber = await findSubscriber(db, environment.id, subscriberId)
    if (!subscriber) throw fail('subscriber_missing', { subscriberId })
    return subscriber
  }
  const inboxOf = (subscriber: SubscriberRow): Inbox => ({
    environmentId: subscriber.environment_id,
    subscriberRowId: subscriber.id,
  })

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "List a subscriber's notifications, the newest first",
        params: Params,
        querystring: Type.Object({
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
          after: Type.Optional(Id),
          offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
          read: State,
          archived: State,
          snoozed: State,
          seen: State,
          tags: Type.Optional(
            Type.Array(Type.String(), {
              description: 'Any of these; as one JSON text also `{"or": [...]}` or `{"and": [{"or": [...]}, ...]}`',
            }),
          ),
          data: Type.Optional(Type.String({ description: 'A JSON object: those whose data has all of it' })),
          severity: Type.Optional(Type.Array(Severity)),
          createdGte: Moment,
          createdLte: Moment,
          contextKeys: Type.Optional(ContextKeys),
        }),
        response: {
          200: Type.Object({ data: Type.Array(InboxNotification), hasMore: Type.Boolean(), filter: FreeObject }),
        },
      },
    },
    async (request) => {
      const { limit = 10, offset, after, contextKeys, ...query } = request.query
      const { read, archived, snoozed, seen, severity, createdGte, createdLte } = query
      const wantedTags = tagsOfQuery(request.query)
      const { data, conditions } = readData(query.data)
      const filter: MessageFilter = {
        ...{ read, archived, snoozed, seen, severity, contextKeys },
        tags: readTags(wantedTags),
        data: conditions,
        createdFrom: createdGte === undefined ? undefined : new Date(createdGte),
        createdTo: createdLte === undefined ? undefined : new Date(createdLte),
      }
      refuseUnreadArchived(filter)
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      const inbox = inboxOf(subscriber)
      const [cursor] = after === undefined ? [] : await readInbox(db, inbox, { ids: [after] }, { limit: 1 })
      if (after !== undefined && !cursor) throw fail('notification_cursor_unknown', { after })
      const rows = await readInbox(db, inbox, filter, {
        limit: limit + 1,
        offset: cursor ? 0 : (offset ?? 0),
        after: cursor,
      })
      return {
        data: await showNotifications(db, rows.slice(0, limit), subscriber),
        hasMore: rows.length > limit,
        filter: given({ tags: wantedTags, read, archived, snoozed, seen, severity, data, createdGte, createdLte }),
      }
    },
  )

  app.get(
    `${path}/count`,
    {
      schema: {
        tags,
        summary: "Count a subscriber's notifications for up to 30 filters",
        params: Params,
        querystring: Type.Object({
          filters: Type.Optional(
            Type.String({
              description: `A JSON list of filters: \`tags\`, \`read\`, \`archived\`, \`snoozed\`, \`seen\`, \`severity\`, \`data\`, \`contextKeys\`. Each is counted up to ${mostCounted}`,
            }),
          ),
        }),
        response: { 200: Type.Array(Type.Object({ count: Type.Integer(), filter: FreeObject })) },
      },
    },
    async (request) => {
      const filters = readCountFilters(request.query.filters)
      const { subscriberId } = request.params
      const subscriber = await findSubscriber(db, request.environment.id, subscriberId)
      if (!subscriber) throw fail('subscriber_id_unknown', { subscriberId })
      const wanted = filters.map(({ filter }) => filter)
      const counts = await countInbox(db, inboxOf(subscriber), wanted, mostCounted)
      return filters.map(({ shown }, index) => ({ count: counts[index] ?? 0, filter: shown }))
    },
  )

  /** Shows what one operation on one notification made of it. */
  const show = async (row: MessageRow | undefined, subscriber: SubscriberRow, notificationId: string) => {
    if (!row) throw fail('inbox_notification_not_found', { notificationId })
    const [notification] = await showNotifications(db, [row], subscriber)
    return notification as Static<typeof InboxNotification>
  }

  const marked: Array<[operation: string, marking: Marking, summary: string]> = [
    ['read', 'read', 'Mark a notification as read'],
    ['unread', 'unread', 'Mark a notification as unread, which takes it out of the archive'],
    ['archive', 'archive', 'Put a notification into the archive'],
    ['unarchive', 'unarchive', 'Take a notification out of the archive'],
  ]
  for (const [operation, marking, summary] of marked) {
    app.patch(
      `${path}/:notificationId/${operation}`,
      {
        schema: { tags, summary, params: ItemParams, querystring: ItemQuery, response: { 200: InboxNotification } },
      },
      async (request) => {
        const { notificationId } = request.params
        const subscriber = await findOwner(request.environment, request.params.subscriberId)
        const filter = { ids: [notificationId], contextKeys: request.query.contextKeys }
        const [row] = await markMessages(db, inboxOf(subscriber), filter, marking, clock.now())
        return show(row, subscriber, notificationId)
      },
    )
  }

  app.patch(
    `${path}/:notificationId/snooze`,
    {
      schema: {
        tags,
        summary: 'Put a notification aside until a time',
        description: 'It then returns as a new one.',
        params: ItemParams,
        querystring: ItemQuery,
        body: Body({ snoozeUntil: Type.String({ format: 'date-time' }) }),
        response: { 200: InboxNotification },
      },
    },
    async (request) => {
      const { notificationId, subscriberId } = request.params
      const now = clock.now()
      const until = new Date(request.body.snoozeUntil)
      const aheadMs = until.getTime() - now.getTime()
      if (aheadMs < shortestSnoozeMs) throw fail('snooze_too_short')
      if (aheadMs > longestSnoozeDays * 86_400_000) throw fail('snooze_too_long', { days: longestSnoozeDays })
      const subscriber = await findOwner(request.environment, subscriberId)
      const row = await db.transaction().execute(async (tx) => {
        const filter = { ids: [notificationId] as [string], contextKeys: request.query.contextKeys }
        const snoozed = await snoozeMessage(tx, inboxOf(subscriber), filter, until, now)
        if (!snoozed) throw fail('notification_to_snooze_not_found', { notificationId })
        return snoozed
      })
      return show(row, subscriber, notificationId)
    },
  )

  app.patch(
    `${path}/:notificationId/unsnooze`,
    {
      schema: {
        tags,
        summary: 'Take a notification back that was put aside',
        params: ItemParams,
        querystring: ItemQuery,
        response: { 200: InboxNotification },
      },
    },
    async (request) => {
      const { notificationId } = request.params
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      const filter = { ids: [notificationId] as [string], contextKeys: request.query.contextKeys }
      const row = await db.transaction().execute((tx) => unsnoozeMessage(tx, inboxOf(subscriber), filter, clock.now()))
      if (!row) throw fail('notification_not_snoozed', { notificationId })
      return show(row, subscriber, notificationId)
    },
  )

  /** A button was pressed, or is as if it had not been. */
  const press = async (
    subscriber: SubscriberRow,
    filter: MessageFilter & { ids: [string] },
    type: ButtonType,
    isDone: boolean,
  ) => {
    const now = clock.now()
    return db.transaction().execute(async (tx) => {
      const [id] = filter.ids
      const locked = await lockMessage(tx, subscriber.environment_id, id)
      const [found] = locked ? await readInbox(tx, inboxOf(subscriber), filter, { limit: 1 }) : []
      if (!found) throw fail('inbox_notification_not_found', { notificationId: id })
      if (!buttonOf(found, type)) throw fail('button_not_found', { type })
      const row = await setAction(tx, found, { status: isDone ? 'done' : 'pending', result: { type } }, now)
      if (!isDone || row.read) return row
      const [read] = await markMessages(tx, inboxOf(subscriber), filter, 'read', now)
      return read
    })
  }

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
        const { notificationId, actionType } = request.params
        const subscriber = await findOwner(request.environment, request.params.subscriberId)
        const filter = { ids: [notificationId] as [string], contextKeys: request.query.contextKeys }
        return show(await press(subscriber, filter, actionType, isDone), subscriber, notificationId)
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
      const { notificationId } = request.params
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      const filter = { ids: [notificationId], contextKeys: request.query.contextKeys }
      const [deleted] = await db.transaction().execute((tx) => deleteFromInbox(tx, inboxOf(subscriber), filter, clock.now()))
      if (!deleted) throw fail('inbox_notification_not_found', { notificationId })
      return reply.code(204).send(null)
    },
  )

  app.post(
    `${path}/seen`,
    {
      schema: {
        tags,
        summary: 'Mark notifications as seen: those named, else all that match',
        params: Params,
        body: Body(
          {
            notificationIds: Type.Optional(Type.Array(Id, { description: 'These, whatever else is asked for' })),
            ...bulkFields,
          },
          { examples: [{ notificationIds: ['65f0c0ffee65f0c0ffee65f0'] }] },
        ),
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const { notificationIds, ...selection } = request.body
      const filter = notificationIds
        ? { ids: notificationIds, someContextKey: selection.contextKeys }
        : filterOf(selection)
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      await markAll(db, inboxOf(subscriber), filter, 'seen', clock.now())
      return reply.code(204).send(null)
    },
  )

  // What was put aside stays so: it comes back, at its time, as something new.
  const bulk: Array<[operation: string, marking: Marking, filter: MessageFilter, summary: string]> = [
    ['read', 'read', { snoozed: false }, 'Mark all notifications that match as read'],
    ['archive', 'archive', { snoozed: false }, 'Put all notifications that match into the archive'],
    [
      'read-archive',
      'archive_read',
      { snoozed: false, read: true },
      'Put all read notifications that match into the archive',
    ],
  ]
  for (const [operation, marking, only, summary] of bulk) {
    app.post(
      `${path}/${operation}`,
      { schema: { tags, summary, params: Params, body: Selection, response: { 204: Empty } } },
      async (request, reply) => {
        const filter = { ...filterOf(request.body), ...only }
        const subscriber = await findOwner(request.environment, request.params.subscriberId)
        await markAll(db, inboxOf(subscriber), filter, marking, clock.now())
        return reply.code(204).send(null)
      },
    )
  }

  app.post(
    `${path}/delete`,
    {
      schema: {
        tags,
        summary: 'Delete all notifications that match',
        params: Params,
        body: Selection,
        response: { 204: Empty },
      },
    },
    async (request, reply) => {
      const filter = filterOf(request.body)
      const subscriber = await findOwner(request.environment, request.params.subscriberId)
      await db.transaction().execute((tx) => deleteFromInbox(tx, inboxOf(subscriber), filter, clock.now()))
      return reply.code(204).send(null)
    },
  )
}
