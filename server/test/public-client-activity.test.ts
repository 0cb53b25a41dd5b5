// The public client library, unmodified, with its response validation on, reads activity, messages and inboxes, and changes them.
import { Novu } from '@novu/api'
import { ChannelTypeEnum } from '@novu/api/models/components/index.js'
import { ErrorDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import { beforeEach, expect, test } from 'vitest'
import { insertMessage, insertRun, type Run } from './activity.ts'
import { type Api, useServer } from './server.ts'
import { addWorkflow } from './workflows.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let novu: Novu
let run: Run
let inApp: string
let email: string

const buttons = [
  { type: 'primary', content: 'Yes', url: '/yes', target: '_self' },
  { type: 'secondary', content: 'No' },
]
const cta = { type: 'redirect', data: { url: '/x', target: '_blank' }, action: { buttons, result: {} } }

beforeEach(async () => {
  api = await server.freshApi()
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
  await novu.subscribers.create({ subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
  const workflow_id = await addWorkflow(server, api.environmentId, 'welcome', { data: { team: 'x' } })
  run = await insertRun(server, api, 'ada', {
    ...{ workflow_id, severity: 'high', tags: ['t'], context_keys: ['tenant:acme'] },
    topics: [{ _topicId: 'a'.repeat(24), topicKey: 'news', subscriptionIdentifier: 'tk_news:si_ada' }],
    event: { payload: { order: 7 }, overrides: { email: {} } },
    jobs: [
      {
        ...{ type: 'in_app', provider_id: 'svc' },
        details: [{ detail: 'Message sent', providerId: 'svc', raw: '{}' }],
      },
      {
        type: 'digest',
        schedule_extensions: 1,
        digest: { type: 'timed', amount: 5, unit: 'minutes', events: [{ a: 1 }], timed: { weekDays: ['monday'] } },
      },
      { ...{ type: 'email', status: 'failed', reason: 'provider_failed' }, provider_id: 'svc-email' },
      { type: 'http_request' },
    ],
  })
  inApp = await insertMessage(server, run, {
    ...{ subject: 'Hi', cta, data: { a: 1 }, tags: ['t'], severity: 'high', context_keys: ['tenant:acme'] },
    actor_row_id: run.subscriberRowId,
  })
  email = await insertMessage(server, run, {
    ...{ channel: 'email', provider_id: 'svc-email', email: 'ada@example.com', content: null, delivered_at: null },
    ...{ status: 'error', error_id: 'mail_unexpected_error', error_text: 'refused', context_keys: ['tenant:acme'] },
  })
})

test('activity: list with every filter, retrieve', async () => {
  const { result } = await novu.notifications.list({
    channels: [ChannelTypeEnum.Email],
    templates: [run.workflow_id],
    emails: ['ada@example.com'],
    subscriberIds: ['ada'],
    severity: ['high'],
    transactionId: run.transaction_id,
    topicKey: 'news',
    subscriptionId: 'tk_news:si_ada',
    contextKeys: ['tenant:acme'],
    after: '2026-01-01T00:00:00.000Z',
    before: '2027-01-01T00:00:00.000Z',
  })
  expect(result).toMatchObject({ page: 0, pageSize: 10, hasMore: false, data: [{ id: run.id, severity: 'high' }] })
  const { result: record } = await novu.notifications.retrieve(run.id)
  expect(record).toMatchObject({
    ...{ id: run.id, templateId: run.workflow_id, critical: false, contextKeys: ['tenant:acme'], tags: ['t'] },
    ...{ payload: { order: 7 }, to: { subscriberId: 'ada' }, topics: [{ topicKey: 'news' }] },
    subscriber: { subscriberId: 'ada', firstName: 'Ada' },
    template: { name: 'welcome', origin: 'novu-cloud', triggers: [{ type: 'event', identifier: 'welcome' }] },
    jobs: [
      { type: 'in_app', providerId: 'novu', executionDetails: [{ detail: 'Message sent', providerId: 'novu' }] },
      { type: 'digest', providerId: 'novu', scheduleExtensionsCount: 1, digest: { type: 'timed', events: [{ a: 1 }] } },
      { type: 'email', status: 'failed', providerId: 'novu-email' },
      { type: 'http_request', providerId: 'novu' },
    ],
  })
  await expect(novu.notifications.retrieve('65f0c0ffee65f0c0ffee65f0')).rejects.toBeInstanceOf(ErrorDto)
  await expect(novu.notifications.retrieve('x')).rejects.toBeInstanceOf(ValidationErrorDto)
})

test('messages: list, delete, delete by transaction', async () => {
  const { result } = await novu.messages.retrieve({
    subscriberId: 'ada',
    transactionId: [run.transaction_id],
    contextKeys: ['tenant:acme'],
  })
  expect(result).toMatchObject({
    ...{ page: 0, pageSize: 10, hasMore: false, totalCount: 2 },
    data: [
      { id: email, channel: 'email', status: 'error', errorId: 'mail_unexpected_error', providerId: 'novu-email' },
      { id: inApp, channel: 'in_app', cta: { action: { buttons: [{}, {}] } }, subscriber: { subscriberId: 'ada' } },
    ],
  })
  expect(result.data[0]?.template).toMatchObject({
    id: run.workflow_id,
    notificationGroupId: expect.any(String),
    notificationGroup: { name: 'General', environmentId: api.environmentId },
  })
  expect((await novu.messages.delete(email)).result).toEqual({ acknowledged: true, status: 'deleted' })
  await novu.messages.deleteByTransactionId(run.transaction_id, 'in_app')
  await expect(novu.messages.deleteByTransactionId(run.transaction_id)).rejects.toBeInstanceOf(ErrorDto)
})

test('messages of a subscriber: marked by id and all, buttons, feed and unseen count', async () => {
  const { messages, notifications } = novu.subscribers
  expect((await notifications.unseenCount({ subscriberId: 'ada' })).result).toEqual({ count: 1 })
  const marked = await messages.markAllAs({ messageId: [inApp, email], markAs: 'read' }, 'ada')
  expect(marked.result).toMatchObject([
    { id: inApp, read: true, seen: true },
    { id: email, read: true, seen: true },
  ])
  expect((await messages.markAll({ markAs: 'unseen' }, 'ada')).result).toBe(1)
  const pressed = await messages.updateAsSeen({
    ...{ messageId: inApp, type: 'primary', subscriberId: 'ada' },
    markMessageActionAsSeenDto: { status: 'done' },
  })
  expect(pressed.result).toMatchObject({ id: inApp, cta: { action: { status: 'done', result: { type: 'primary' } } } })
  const payload = Buffer.from('{"order":7}').toString('base64')
  const feed = await notifications.feed({ subscriberId: 'ada', read: true, seen: false, payload })
  expect(feed.result).toMatchObject({
    ...{ page: 0, pageSize: 10, hasMore: false, totalCount: 1 },
    data: [{ id: inApp, content: 'Hello', archived: false, data: { a: 1 }, subscriber: { firstName: 'Ada' } }],
  })
})

test('the inbox: list, count, and one notification', async () => {
  const { notifications } = novu.subscribers
  const listed = await notifications.list({
    ...{ subscriberId: 'ada', limit: 5, offset: 0, read: false, archived: false, snoozed: false, seen: false },
    ...{ data: '{"a":1}', severity: ['high', 'none'], createdGte: 0, createdLte: 4_000_000_000_000 },
    contextKeys: ['tenant:acme'],
  })
  expect(listed.result).toMatchObject({
    hasMore: false,
    data: [
      {
        ...{ id: inApp, body: 'Hello', subject: 'Hi', severity: 'high', tags: ['t'], data: { a: 1 } },
        primaryAction: { label: 'Yes', isCompleted: false, redirect: { url: '/yes', target: '_self' } },
        redirect: { url: '/x', target: '_blank' },
        workflow: { identifier: 'welcome', name: 'welcome', critical: false, data: {} },
        to: { subscriberId: 'ada', firstName: 'Ada' },
      },
    ],
  })
  const counts = await notifications.count('ada', '[{"read":false},{"tags":["x"]}]')
  expect(counts.result).toEqual([
    { count: 1, filter: { read: false } },
    { count: 0, filter: { tags: ['x'] } },
  ])

  const one = { subscriberId: 'ada', notificationId: inApp }
  const button = { ...one, actionType: 'primary' } as const
  expect((await notifications.markAsRead(one)).result).toMatchObject({ isRead: true, isSeen: true })
  expect((await notifications.markAsUnread(one)).result).toMatchObject({ isRead: false, readAt: null })
  expect((await notifications.archive(one)).result).toMatchObject({ isArchived: true, archivedAt: expect.any(String) })
  expect((await notifications.unarchive(one)).result).toMatchObject({ isArchived: false, archivedAt: null })
  const snoozeUntil = new Date('2026-05-02T10:00:00Z')
  const snoozed = await notifications.snooze({ ...one, snoozeSubscriberNotificationDto: { snoozeUntil } })
  expect(snoozed.result).toMatchObject({ isSnoozed: true, snoozedUntil: snoozeUntil.toISOString() })
  expect((await notifications.unsnooze(one)).result).toMatchObject({ isSnoozed: false, snoozedUntil: null })
  expect((await notifications.completeAction(button)).result.primaryAction?.isCompleted).toBe(true)
  expect((await notifications.revertAction(button)).result.primaryAction?.isCompleted).toBe(false)
  await expect(notifications.markAsRead({ ...one, contextKeys: ['tenant:x'] })).rejects.toBeInstanceOf(ErrorDto)
  await notifications.delete({ ...one, contextKeys: ['tenant:acme'] })
  await expect(notifications.markAsRead(one)).rejects.toBeInstanceOf(ErrorDto)
})

test('the inbox: many notifications at once', async () => {
  const { notifications } = novu.subscribers
  const state = async () => {
    const [item] = (await notifications.list({ subscriberId: 'ada' })).result.data
    return item && [item.isSeen, item.isRead, item.isArchived]
  }
  await notifications.markAsSeen({ notificationIds: [inApp] }, 'ada')
  expect(await state()).toEqual([true, false, false])
  await notifications.archiveAllRead({}, 'ada')
  expect(await state()).toEqual([true, false, false])
  await notifications.markAllAsRead({ data: '{"a":1}', contextKeys: ['tenant:acme'] }, 'ada')
  expect(await state()).toEqual([true, true, false])
  await notifications.archiveAll({ data: '{"a":2}' }, 'ada')
  expect(await state()).toEqual([true, true, false])
  await notifications.archiveAllRead({}, 'ada')
  expect(await state()).toEqual([true, true, true])
  await notifications.deleteAll({}, 'ada')
  expect(await state()).toBeUndefined()
})
