import { beforeAll, describe, expect, test } from 'vitest'
import { insertMessage, insertRun, timersOf } from '../../../test/activity.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const ids = (answer: { body: { data: Array<{ _id: string }> } }) => answer.body.data.map(({ _id }) => _id)

describe('listing', () => {
  test('a message is shown with all its fields, its subscriber and its actor', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada' })
    const { subscriberRowId: actor_row_id } = await insertRun(server, api, 'bob')
    const run = await insertRun(server, api, 'ada', {
      jobs: [{ type: 'in_app' }],
      event: { payload: { order: 7 }, overrides: { email: { from: 'a@b.c' } } },
    })
    const cta = { type: 'redirect', data: { url: '/x' }, action: { buttons: [], result: {} } }
    const id = await insertMessage(server, run, {
      ...{ subject: 'Hi', avatar: 'https://a/b.png', cta, data: { a: 1 }, tags: ['x'], severity: 'high', actor_row_id },
      context_keys: ['tenant:acme'],
    })
    const { status, body } = await api.get('/v1/messages')
    expect(status).toBe(200)
    expect(body).toEqual({
      ...{ page: 0, pageSize: 10, hasMore: false, totalCount: 1 },
      data: [
        {
          _id: id,
          _templateId: run.workflow_id,
          _environmentId: api.environmentId,
          _organizationId: api.organizationId,
          _messageTemplateId: expect.stringMatching(/^[0-9a-f]{24}$/),
          _notificationId: run.id,
          _subscriberId: run.subscriberRowId,
          _jobId: run.jobIds[0],
          ...{
            transactionId: run.transaction_id,
            templateIdentifier: 'welcome',
            stepId: 'in_app-0',
            providerId: 'svc',
          },
          ...{ channel: 'in_app', subject: 'Hi', content: 'Hello', avatar: 'https://a/b.png', status: 'sent', cta },
          ...{ read: false, seen: false, archived: false, tags: ['x'], severity: 'high', data: { a: 1 } },
          ...{ payload: { order: 7 }, overrides: { email: { from: 'a@b.c' } }, contextKeys: ['tenant:acme'] },
          createdAt: '2026-05-01T10:00:00.000Z',
          updatedAt: '2026-05-01T10:00:00.000Z',
          deliveredAt: ['2026-05-01T10:00:00.000Z'],
          subscriber: (await api.get('/v2/subscribers/ada')).body,
          actorSubscriber: (await api.get('/v2/subscribers/bob')).body,
        },
      ],
    })
  })

  test('a message shows its workflow, in the group of its environment, until the workflow is deleted', async () => {
    const api = await server.freshApi()
    const replyCallback = { active: true, url: 'https://example.com/replies' }
    const { body: workflow } = await api.post('/v2/workflows', {
      ...{ name: 'Order shipped', workflowId: 'order-shipped', active: true, description: 'Tells', tags: ['orders'] },
      steps: [
        { name: 'Bell', type: 'in_app', controlValues: { body: 'Secret' } },
        { name: 'Mail', type: 'email', controlValues: null, active: false, shouldStopOnFail: true, replyCallback },
      ],
      preferences: {
        user: { all: { enabled: true, readOnly: true }, channels: { sms: { enabled: false } } },
        workflow: { channels: { email: { enabled: false } } },
      },
    })
    const run = await insertRun(server, api, 'ada', { workflow_id: workflow._id })
    for (let n = 0; n < 2; n += 1) await insertMessage(server, run)
    const read = async () => (await api.get('/v1/messages')).body.data.map(({ template }: any) => template)
    const place = { _environmentId: api.environmentId, _organizationId: api.organizationId }
    const [first, second] = await read()
    expect(first).toEqual({
      ...place,
      _id: workflow._id,
      ...{ name: 'Order shipped', description: 'Tells', active: true, draft: false, critical: true, tags: ['orders'] },
      preferenceSettings: { email: true, sms: false, in_app: true, chat: true, push: true },
      steps: workflow.steps.map(({ _id, name, type }: any, n: number) => ({
        ...{ _id, name, _templateId: _id, template: { type } },
        ...(n === 0
          ? { active: true, shouldStopOnFail: false }
          : { active: false, shouldStopOnFail: true, replyCallback }),
      })),
      _creatorId: '0'.repeat(24),
      _notificationGroupId: expect.stringMatching(/^[0-9a-f]{24}$/),
      notificationGroup: { _id: first._notificationGroupId, name: 'General', ...place },
      triggers: [{ type: 'event', identifier: 'order-shipped', variables: [] }],
      ...{ deleted: false, deletedAt: '', deletedBy: '' },
    })
    expect(second).toEqual(first)
    await api.delete('/v2/workflows/order-shipped')
    expect(await read()).toEqual([undefined, undefined])
  })

  test('the workflows of an environment share one group', async () => {
    const { development, production } = await server.freshOrganization()
    const groupOf = async (api: Api, workflowId: string) => {
      const { body } = await api.post('/v2/workflows', { name: workflowId, workflowId, steps: [] })
      const run = await insertRun(server, api, workflowId, { workflow_id: body._id })
      const messageId = await insertMessage(server, run)
      const path = `/v1/subscribers/${workflowId}/messages/mark-as`
      const [{ template }] = (await api.post(path, { messageId, markAs: 'read' })).body
      expect(template.notificationGroup).toMatchObject({ _id: template._notificationGroupId, name: 'General' })
      return template._notificationGroupId
    }
    const here = await groupOf(development, 'one')
    expect(await groupOf(development, 'two')).toBe(here)
    expect(await groupOf(production, 'one')).not.toBe(here)
  })

  test('a failed message shows its error and its provider', async () => {
    const api = await server.freshApi()
    const run = await insertRun(server, api, 'ada')
    const none = { content: null, delivered_at: null }
    await insertMessage(server, run, {
      ...{ ...none, channel: 'email', provider_id: 'svc-email', email: 'ada@example.com' },
      ...{ status: 'error', error_id: 'mail_unexpected_error', error_text: 'refused' },
    })
    await insertMessage(server, run, { ...none, channel: 'sms', provider_id: 'twilio', phone: '+1555' })
    await insertMessage(server, run, { ...none, channel: 'chat', provider_id: null, webhook_url: 'https://hook' })
    await insertMessage(server, run, {
      ...{ ...none, channel: 'push', provider_id: 'fcm', device_tokens: ['t'], subject: 'Title', status: 'warning' },
    })
    const { body } = await api.get('/v1/messages')
    expect(body.data).toMatchObject([
      { channel: 'push', deviceTokens: ['t'], title: 'Title', status: 'warning', cta: {} },
      { channel: 'chat', directWebhookUrl: 'https://hook/***' },
      { channel: 'sms', phone: '+1555', providerId: 'twilio' },
      {
        ...{ channel: 'email', email: 'ada@example.com', providerId: 'svc-email' },
        ...{ status: 'error', errorId: 'mail_unexpected_error', errorText: 'refused' },
      },
    ])
    for (const message of body.data) expect(Object.values(message)).not.toContain(null)
    expect(body.data[1]).not.toHaveProperty('providerId')
  })

  test('a payload over 32 KB is left out', async () => {
    const api = await server.freshApi()
    for (const length of [32 * 1024 - 11, 32 * 1024 - 10]) {
      const run = await insertRun(server, api, 'ada', { event: { payload: { text: 'x'.repeat(length) } } })
      await insertMessage(server, run)
    }
    const { body } = await api.get('/v1/messages')
    expect(body.data.map((message: any) => message.payload?.text.length)).toEqual([undefined, 32 * 1024 - 11])
  })

  describe('filters', () => {
    let api: Api
    const made: Record<string, string> = {}
    beforeAll(async () => {
      api = await server.freshApi()
      const put = async (name: string, subscriberId: string, run: object, message: object) => {
        server.clock.advance({ seconds: 1 })
        made[name] = await insertMessage(server, await insertRun(server, api, subscriberId, run), message)
      }
      await put('a', 'ada', { transaction_id: 'one' }, {})
      await put('b', 'ada', { transaction_id: 'two' }, { channel: 'email' })
      await put('c', 'bob', { transaction_id: 'two' }, { context_keys: ['app:jira', 'tenant:acme'] })
      await put('d', 'bob', { transaction_id: 'three' }, { channel: 'sms', context_keys: ['tenant:acme'] })
      await put('e', 'ada', { transaction_id: 'four' }, {})
    })

    test.each([
      ['', 'edcba'],
      ['channel=in_app', 'eca'],
      ['subscriberId=ada', 'eba'],
      ['subscriberId=ada&channel=in_app', 'ea'],
      ['subscriberId=ada&channel=push', ''],
      ['transactionId=two', 'cb'],
      ['transactionId=two&transactionId=one&transactionId=one', 'cba'],
      ['transactionId=two&channel=email', 'b'],
      ['transactionId=two&subscriberId=bob', 'c'],
      ['transactionId=none', ''],
      ['contextKeys=', 'eba'],
      ['contextKeys=tenant:acme', 'd'],
      ['contextKeys=tenant:acme&contextKeys=app:jira', 'c'],
      ['limit=2', 'ed'],
      ['limit=2&page=1', 'cb'],
      ['limit=2&page=2', 'a'],
      ['limit=2&page=1&subscriberId=ada', 'a'],
      ['limit=1&page=1&transactionId=two', 'b'],
      ['limit=0', 'edcba'],
    ])('%s', async (query, names) => {
      const answer = await api.get(`/v1/messages?${query}`)
      expect(answer.status).toBe(200)
      expect(ids(answer)).toEqual([...names].map((name) => made[name]))
    })

    test('hasMore is exact, and the total does not depend on the page', async () => {
      const pages = await Promise.all([0, 1, 2, 3].map((page) => api.get(`/v1/messages?limit=2&page=${page}`)))
      expect(pages.map(({ body }) => [body.data.length, body.hasMore, body.totalCount, body.page])).toEqual([
        [2, true, 5, 0],
        [2, true, 5, 1],
        [1, false, 5, 2],
        [0, false, 5, 3],
      ])
      const exact = await api.get('/v1/messages?limit=5')
      expect(exact.body).toMatchObject({ hasMore: false, pageSize: 5, totalCount: 5 })
    })
  })

  test('a snoozed message that returned counts as new in the list of its subscriber', async () => {
    const api = await server.freshApi()
    const run = await insertRun(server, api, 'ada')
    const first = await insertMessage(server, run, { created_at: new Date('2026-05-01T09:00:00Z') })
    const second = await insertMessage(server, run, { created_at: new Date('2026-05-01T09:30:00Z') })
    await server.database.db.updateTable('messages').set({ created_at: new Date() }).where('id', '=', first).execute()
    expect(ids(await api.get('/v1/messages?subscriberId=ada'))).toEqual([first, second])
  })

  test.each([
    ['limit=1001', 400, 'Limit can not be larger then 1000'],
    ['subscriberId=nobody', 404, "Subscriber 'nobody' was not found"],
  ])('%s is refused', async (query, status, message) => {
    expect(await server.api.get(`/v1/messages?${query}`)).toMatchObject({ status, body: { message } })
  })

  test.each([
    ['limit=-1', 'limit must not be less than 1'],
    ['page=-1', 'page must not be less than 0'],
    ['channel=fax', 'channel must be one of the following values: in_app, email, sms, chat, push'],
  ])('%s is refused with a general error', async (query, message) => {
    const answer = await server.api.get(`/v1/messages?${query}`)
    expect([answer.status, answer.body.errors.general.messages]).toEqual([422, [message]])
  })

  test('another environment sees none of them', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    await insertMessage(server, await insertRun(server, api, 'ada', { transaction_id: 'shared' }))
    expect((await other.get('/v1/messages?transactionId=shared')).body).toMatchObject({ data: [], totalCount: 0 })
  })
})

describe('deleting', () => {
  test('a message of any channel is deleted; its activity record stays', async () => {
    const api = await server.freshApi()
    const run = await insertRun(server, api, 'ada', { jobs: [{ type: 'email' }] })
    const id = await insertMessage(server, run, { channel: 'email' })
    const kept = await insertMessage(server, run)
    expect(await api.delete(`/v1/messages/${id}`)).toMatchObject({
      status: 200,
      body: { acknowledged: true, status: 'deleted' },
    })
    expect(ids(await api.get('/v1/messages'))).toEqual([kept])
    expect((await api.get(`/v1/notifications/${run.id}`)).status).toBe(200)
    expect(await api.delete(`/v1/messages/${id}`)).toMatchObject({
      status: 404,
      body: { message: `Message with id ${id} not found` },
    })
  })

  test('deleting a snoozed message also deletes its timer', async () => {
    const api = await server.freshApi()
    const run = await insertRun(server, api, 'ada')
    const [id, kept] = [await insertMessage(server, run), await insertMessage(server, run)]
    for (const one of [id, kept])
      await api.patch(`/v2/subscribers/ada/notifications/${one}/snooze`, { snoozeUntil: '2026-05-09T10:00:00.000Z' })
    expect(await timersOf(server, api)).toHaveLength(2)
    await api.delete(`/v1/messages/${id}`)
    expect(await timersOf(server, api)).toMatchObject([{ subject_id: kept }])
  })

  test('a malformed id is refused', async () => {
    const answer = await server.api.delete('/v1/messages/x')
    expect([answer.status, answer.body.errors.general.messages]).toEqual([422, ['messageId must be a mongodb id']])
  })

  test('a message stays when its subscriber is deleted, even when the id is used again', async () => {
    const api = await server.freshApi()
    const id = await insertMessage(server, await insertRun(server, api, 'ada'))
    const refused = { status: 400, body: { message: `A subscriber was not found for message ${id}` } }
    await api.delete('/v1/subscribers/ada')
    expect(await api.delete(`/v1/messages/${id}`)).toMatchObject(refused)
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    expect(await api.delete(`/v1/messages/${id}`)).toMatchObject(refused)
    expect(ids(await api.get('/v1/messages'))).toEqual([id])
  })

  test('the messages of a transaction are deleted, of one channel or of all', async () => {
    const api = await server.freshApi()
    const put = async (transaction_id: string, channel: 'email' | 'in_app') =>
      insertMessage(server, await insertRun(server, api, 'ada', { transaction_id }), { channel })
    await put('one', 'email')
    const inApp = await put('one', 'in_app')
    const other = await put('two', 'email')
    expect((await api.delete('/v1/messages/transaction/one?channel=email')).status).toBe(204)
    expect(ids(await api.get('/v1/messages'))).toEqual([other, inApp])
    const none = { status: 404, body: { message: 'Invalid transactionId or channel' } }
    expect(await api.delete('/v1/messages/transaction/one?channel=email')).toMatchObject(none)
    expect(await api.delete('/v1/messages/transaction/one')).toMatchObject({ status: 204, text: '' })
    expect(await api.delete('/v1/messages/transaction/one')).toMatchObject(none)
    expect(ids(await api.get('/v1/messages'))).toEqual([other])
    const channel = await api.delete('/v1/messages/transaction/two?channel=fax')
    expect([channel.status, channel.body.errors.general.messages]).toEqual([
      422,
      ['channel must be one of the following values: in_app, email, sms, chat, push'],
    ])
  })

  test('messages of another environment are not found, and stay', async () => {
    const [api, other] = [await server.freshApi(), await server.freshApi()]
    const id = await insertMessage(server, await insertRun(server, api, 'ada', { transaction_id: 'shared' }))
    await insertRun(server, other, 'ada')
    expect((await other.delete(`/v1/messages/${id}`)).status).toBe(404)
    expect((await other.delete('/v1/messages/transaction/shared')).status).toBe(404)
    expect(ids(await api.get('/v1/messages'))).toEqual([id])
  })

  test('v2 deletes the messages of a deleted subscriber, v1 keeps them', async () => {
    const api = await server.freshApi()
    const put = async (subscriberId: string, channel: 'email' | 'in_app') =>
      insertMessage(server, await insertRun(server, api, subscriberId), { channel })
    await put('ada', 'email')
    const snoozed = await put('ada', 'in_app')
    const kept = await put('bob', 'in_app')
    await api.patch(`/v2/subscribers/ada/notifications/${snoozed}/snooze`, { snoozeUntil: '2026-05-09T10:00:00.000Z' })
    await api.delete('/v2/subscribers/ada')
    await api.delete('/v1/subscribers/bob')
    const { body } = await api.get('/v1/messages')
    expect(body.data.map((message: any) => [message._id, message.subscriber])).toEqual([[kept, undefined]])
    expect(await timersOf(server, api)).toEqual([])
  })
})
