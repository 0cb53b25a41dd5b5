import pg from 'pg'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { insertMessage, insertRun, timersOf } from '../../../test/activity.ts'
import { inApp, makeWorkflow, runOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'

const server = useServer()
const now = '2026-05-01T10:00:00.000Z'
const anId = expect.stringMatching(/^[0-9a-f]{24}$/)

const stepsOf = async (workflowId: string) => {
  const { steps } = await server.database.db
    .selectFrom('workflows')
    .select('steps')
    .where('id', '=', workflowId)
    .executeTakeFirstOrThrow()
  return steps as Array<{ _id: string; stepId: string }>
}

describe('a record', () => {
  test('shows the run, its steps with their logs and messages, and the delivery progress', async () => {
    const api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
    const workflow_id = await addWorkflow(server, api.environmentId, 'welcome', {
      name: 'Welcome',
      stepTypes: ['in_app', 'digest', 'email'],
    })
    const [inbox, digest, email] = await stepsOf(workflow_id)
    const run = await insertRun(server, api, 'ada', {
      workflow_id,
      ...{ status: 'error', severity: 'high', critical: true, tags: ['t'], context_keys: ['tenant:acme'] },
      topics: [
        { _topicId: 'a'.repeat(24), topicKey: 'news', subscriptionIdentifier: 'tk_news:si_ada', preference: 'enabled' },
      ],
      event: {
        recipients: [{ subscriberId: 'bob' }, { subscriberId: 'ada', firstName: 'Ada' }, { topicKey: 'news' }],
        payload: { order: 7 },
        overrides: { severity: 'high' },
      },
      jobs: [
        {
          ...{ type: 'in_app', step_row_id: inbox?._id ?? '', step_id: 'in_app-0', provider_id: 'svc' },
          details: [
            { detail: 'Step queued', status: 'Pending' },
            { detail: 'Message sent', source: 'Webhook', providerId: 'svc', isRetry: true, raw: '{"a":1}' },
          ],
        },
        {
          ...{ type: 'digest', step_row_id: digest?._id ?? '', step_id: 'digest-1', schedule_extensions: 2 },
          digest: { type: 'timed', amount: 5, unit: 'minutes', events: [{ order: 7 }] },
        },
        {
          ...{ type: 'email', step_row_id: email?._id ?? '', step_id: 'email-2', status: 'failed' },
          ...{ reason: 'provider_refused', error: 'No such mailbox', provider_id: 'sendgrid' },
        },
      ],
    })
    const message = await insertMessage(server, run, { cta: { data: { url: '/orders/7' } }, data: { order: '7' } })
    const failed = await insertMessage(server, run, {
      ...{ job_id: run.jobIds[2] ?? '', channel: 'email', provider_id: 'sendgrid', status: 'error' },
      ...{
        email: 'ada@example.com',
        subject: 'Your order',
        content: '<p>7</p>',
        identifier: 'sg-1',
        delivered_at: null,
      },
      ...{ integration_id: 'e'.repeat(24), error_id: 'mail_unexpected_error', error_text: 'No such mailbox' },
    })
    const { status, body } = await api.get(`/v1/notifications/${run.id}`)
    expect(status).toBe(200)
    const common = { createdAt: now, updatedAt: now, payload: { order: 7 }, overrides: { severity: 'high' } }
    expect(body).toEqual({
      _id: run.id,
      _environmentId: api.environmentId,
      _organizationId: api.organizationId,
      _subscriberId: run.subscriberRowId,
      _templateId: workflow_id,
      workflowVersion: 1,
      transactionId: run.transaction_id,
      status: 'error',
      deliveryLifecycle: { status: 'delivered' },
      channels: ['in_app', 'digest', 'email'],
      subscriber: {
        ...{ _id: run.subscriberRowId, subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' },
      },
      template: {
        ...{ _id: workflow_id, name: 'Welcome', origin: 'svc-cloud' },
        triggers: [{ type: 'event', identifier: 'welcome', variables: [] }],
      },
      payload: { order: 7 },
      overrides: { severity: 'high' },
      triggeredAt: now,
      to: { subscriberId: 'ada', firstName: 'Ada' },
      topics: [{ _topicId: 'a'.repeat(24), topicKey: 'news' }],
      ...{ tags: ['t'], severity: 'high', critical: true, contextKeys: ['tenant:acme'] },
      createdAt: now,
      updatedAt: now,
      jobs: [
        {
          ...{ ...common, _id: run.jobIds[0], type: 'in_app', status: 'completed', providerId: 'svc' },
          scheduleExtensionsCount: 0,
          executionDetails: [
            {
              ...{ _id: anId, createdAt: now, status: 'Pending', detail: 'Step queued', source: 'Internal' },
              ...{ isRetry: false, isTest: false },
            },
            {
              ...{ _id: anId, createdAt: now, status: 'Success', detail: 'Message sent', source: 'Webhook' },
              ...{ isRetry: true, isTest: false, providerId: 'svc', raw: '{"a":1}' },
            },
          ],
          messages: [
            {
              ...{ _id: message, channel: 'in_app', status: 'sent', providerId: 'svc', content: 'Hello' },
              ...{ cta: { data: { url: '/orders/7' } }, data: { order: '7' }, createdAt: now, updatedAt: now },
            },
          ],
          step: {
            ...{ _id: inbox?._id, _templateId: inbox?._id, _parentId: null, stepId: 'in_app-0', name: 'in_app' },
            ...{ active: true, filters: [] },
          },
        },
        {
          ...{ ...common, _id: run.jobIds[1], type: 'digest', status: 'completed', providerId: 'svc' },
          ...{ scheduleExtensionsCount: 2, executionDetails: [], messages: [] },
          digest: { type: 'timed', amount: 5, unit: 'minutes', events: [{ order: 7 }] },
          step: expect.objectContaining({ _id: digest?._id, _parentId: inbox?._id }),
        },
        {
          ...{ ...common, _id: run.jobIds[2], type: 'email', status: 'failed', providerId: 'sendgrid' },
          ...{ reason: 'provider_refused', error: 'No such mailbox', scheduleExtensionsCount: 0, executionDetails: [] },
          messages: [
            {
              ...{ _id: failed, channel: 'email', status: 'error', providerId: 'sendgrid' },
              ...{ errorId: 'mail_unexpected_error', errorText: 'No such mailbox', recipient: 'ada@example.com' },
              ...{
                subject: 'Your order',
                content: '<p>7</p>',
                providerMessageId: 'sg-1',
                createdAt: now,
                updatedAt: now,
              },
              integrationId: 'e'.repeat(24),
            },
          ],
          step: expect.objectContaining({ _id: email?._id, _parentId: digest?._id }),
        },
      ],
    })
  })

  test('lists leave out the content of messages', async () => {
    const api = await server.freshApi()
    const run = await insertRun(server, api, 'ada', { jobs: [{ type: 'in_app' }] })
    const _id = await insertMessage(server, run)
    expect((await api.get('/v1/notifications')).body.data[0].jobs[0].messages).toEqual([
      { _id, channel: 'in_app', status: 'sent', providerId: 'svc' },
    ])
  })

  test('shows when a waiting step continues', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'later', [{ type: 'delay', controlValues: { amount: 10, unit: 'minutes' } }, inApp()])
    const transactionId = await trigger(api, 'later', 'ada')
    await server.drain()
    const { jobs } = await runOf(api, transactionId)
    expect(jobs.map(({ dueAt }: { dueAt?: string }) => dueAt)).toEqual(['2026-05-01T10:10:00.000Z', undefined])
  })

  test('says why a subscriber did not get it', async () => {
    const api = await server.freshApi()
    const run = await insertRun(server, api, 'ada', {
      jobs: [
        { type: 'email', status: 'canceled', reason: 'missing_email' },
        { type: 'sms', status: 'canceled', reason: 'preference' },
      ],
    })
    expect((await api.get(`/v1/notifications/${run.id}`)).body).toMatchObject({
      deliveryLifecycle: { status: 'skipped', detail: 'preference' },
      jobs: [{ reason: 'missing_email' }, { reason: 'preference' }],
    })
  })

  test('shows the steps that the run began with, whatever was edited since', async () => {
    const api = await server.freshApi()
    const step = { name: 'First', type: 'in_app', controlValues: { body: 'One' } }
    const made = await api.post('/v2/workflows', { name: 'W', workflowId: 'w', steps: [step], active: true })
    const [{ _id: step_row_id }] = made.body.steps
    const run = await insertRun(server, api, 'ada', {
      workflow_id: made.body._id,
      jobs: [{ type: 'in_app', step_row_id }],
    })
    const changed = { ...step, _id: step_row_id, name: 'Second', controlValues: { body: 'Two' } }
    await api.put('/v2/workflows/w', { name: 'W', steps: [changed], active: true })
    const shownStep = async () => (await api.get(`/v1/notifications/${run.id}`)).body.jobs[0].step
    expect(await shownStep()).toMatchObject({ name: 'First', controlVariables: { body: 'One' } })
    await api.delete('/v2/workflows/w')
    expect(await shownStep()).toMatchObject({ name: 'First', controlVariables: { body: 'One' } })
  })

  test('stays when its workflow and subscriber are deleted', async () => {
    const api = await server.freshApi()
    const workflow_id = await addWorkflow(server, api.environmentId, 'welcome')
    const run = await insertRun(server, api, 'ada', { workflow_id, digested_into: 'd'.repeat(24) })
    await api.delete('/v2/workflows/welcome')
    await api.delete('/v2/subscribers/ada')
    const { body } = await api.get(`/v1/notifications/${run.id}`)
    expect(body).toMatchObject({
      ...{ _id: run.id, _templateId: workflow_id, _subscriberId: run.subscriberRowId, to: { subscriberId: 'ada' } },
      _digestedNotificationId: 'd'.repeat(24),
      ...{
        jobs: [],
        severity: 'none',
        deliveryLifecycle: { status: 'errored', detail: 'workflow_missing_channel_step' },
      },
    })
    expect(body).not.toHaveProperty('subscriber')
    expect(body).not.toHaveProperty('template')
    expect(body).not.toHaveProperty('topics')
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    expect((await api.get(`/v1/notifications/${run.id}`)).body).not.toHaveProperty('subscriber')
  })

  test('shows an unknown or missing provider as the native one, and steps of no known version by id', async () => {
    const api = await server.freshApi()
    const { id, jobIds } = await insertRun(server, api, 'ada', {
      jobs: [
        { type: 'email', provider_id: 'long-gone', details: [{ detail: 'x', providerId: 'long-gone' }] },
        { type: 'delay' },
        { type: 'sms' },
      ],
      event: { recipients: null },
    })
    await insertMessage(server, { ...(await insertRun(server, api, 'ada')), id, jobIds }, {})
    const { body } = await api.get(`/v1/notifications/${id}`)
    expect(body.jobs.map((job: any) => [job.providerId, job.step.name])).toEqual([
      ['svc', undefined],
      ['svc', undefined],
      ['svc', undefined],
    ])
    expect(body.jobs[0].executionDetails[0]).not.toHaveProperty('providerId')
    expect(body.jobs[0]).not.toHaveProperty('overrides')
    expect(body.to).toEqual({ subscriberId: 'ada' })
  })

  test('of another environment, or unknown, is not found; a malformed id is refused', async () => {
    const run = await insertRun(server, await server.freshApi(), 'ada')
    const notFound = { status: 404, body: { message: 'Notification not found' } }
    expect(await server.api.get(`/v1/notifications/${run.id}`)).toMatchObject(notFound)
    expect(await server.api.get('/v1/notifications/65f0c0ffee65f0c0ffee65f0')).toMatchObject(notFound)
    expect(await server.api.get('/v1/notifications/x')).toMatchObject({
      status: 422,
      body: { errors: { notificationId: { messages: ['notificationId must be a mongodb id'], value: 'x' } } },
    })
  })

  test('has a payload of any size; lists leave out payloads over 64 KB', async () => {
    const api = await server.freshApi()
    const sizes = [64 * 1024 - 11, 64 * 1024 - 10]
    const runs = []
    for (const size of sizes)
      runs.push(
        await insertRun(server, api, 'ada', {
          event: { payload: { text: 'x'.repeat(size) } },
          jobs: [{ type: 'sms' }],
        }),
      )
    const { data } = (await api.get('/v1/notifications')).body
    expect(data.map((record: any) => record.payload?.text.length)).toEqual([undefined, sizes[0]])
    expect(data[1].jobs[0]).not.toHaveProperty('payload')
    const alone = (await api.get(`/v1/notifications/${runs[1]?.id}`)).body
    expect([alone.payload.text.length, alone.jobs[0].payload.text.length]).toEqual([sizes[1], sizes[1]])
  })
})

describe('after the engine ran', () => {
  test('two triggers, one digest: one record has the events and the message, the other says it was merged', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'comments', [
      { type: 'digest', controlValues: { amount: 10, unit: 'minutes' } },
      inApp('{{steps.digest-0.eventCount}} comments'),
      { type: 'email', controlValues: { subject: 'Comments', body: 'x' } },
    ])
    const first = await trigger(api, 'comments', 'ada', { payload: { n: 1 } })
    await server.drain()
    const second = await trigger(api, 'comments', 'ada', { payload: { n: 2 } })
    await server.drain()
    const waiting = await runOf(api, first)
    expect(waiting).toMatchObject({ status: 'processing', deliveryLifecycle: { status: 'pending' } })
    server.clock.advance({ minutes: 10 })
    await server.drain()
    server.clock.advance({ minutes: -10 })

    const main = (await api.get(`/v1/notifications/${waiting._id}`)).body
    expect(main).toMatchObject({
      deliveryLifecycle: { status: 'delivered' },
      jobs: [
        { type: 'digest', status: 'completed', digest: { type: 'regular', amount: 10, unit: 'minutes' } },
        { type: 'in_app', status: 'completed', messages: [{ channel: 'in_app', status: 'sent', providerId: 'svc' }] },
        { type: 'email', reason: expect.stringMatching(/^[a-z_]+$/) },
      ],
    })
    expect(main.jobs[0].digest.events.map((event: any) => event.payload)).toEqual([{ n: 1 }, { n: 2 }])
    expect((await runOf(api, first)).jobs[0].digest).not.toHaveProperty('events')
    expect(await runOf(api, second)).toMatchObject({
      status: 'completed',
      deliveryLifecycle: { status: 'merged' },
      _digestedNotificationId: main._id,
    })
  })

  test('a snoozed notification returns at its time', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [inApp()])
    await trigger(api, 'hello', 'ada')
    await server.drain()
    const path = '/v2/subscribers/ada/notifications'
    const [{ id }] = (await api.get(path)).body.data
    const snoozeUntil = new Date(server.clock.now().getTime() + 3_600_000).toISOString()
    expect((await api.patch(`${path}/${id}/snooze`, { snoozeUntil })).status).toBe(200)
    await server.drain()
    expect((await api.get(`${path}?snoozed=true`)).body.data).toMatchObject([{ id }])
    server.clock.advance({ hours: 1 })
    await server.drain()
    const [back] = (await api.get(path)).body.data
    server.clock.advance({ hours: -1 })
    expect(back).toMatchObject({ id, isSnoozed: false, createdAt: snoozeUntil, deliveredAt: [now, snoozeUntil] })
    expect((await timersOf(server, api)).length).toBe(0)
  })
})

describe('a replay', () => {
  const replay = (api: Api, id: string) => api.post(`/v1/notifications/${id}/replay`)

  test('triggers a record again for its subscriber, with everything the trigger had', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'order', [
      inApp('Order {{payload.order}} for {{tenant.identifier}} by {{actor.subscriberId}}'),
    ])
    await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    const said = {
      payload: { order: 7 },
      overrides: { severity: 'high' },
      tenant: 'acme',
      actor: 'bob',
      context: { app: 'shop' },
    }
    const to = [{ subscriberId: 'ada', firstName: 'Ada' }, 'cy']
    const first = await trigger(api, 'order', to, said)
    await server.drain()
    const { data } = (await api.get(`/v1/notifications?transactionId=${first}&subscriberIds=ada`)).body
    const answer = await replay(api, data[0]._id)
    expect(answer).toMatchObject({ status: 201, body: { acknowledged: true, status: 'processed' } })
    const { transactionId, activityFeedLink } = answer.body
    expect(transactionId).not.toBe(first)
    expect(activityFeedLink).toMatch(new RegExp(`/activity\\?transactionId=${transactionId}$`))
    await server.drain()
    const again = await runOf(api, transactionId)
    expect(again).toMatchObject({
      ...{ subscriber: { subscriberId: 'ada' }, to: { subscriberId: 'ada', firstName: 'Ada' }, severity: 'high' },
      ...{ payload: { order: 7 }, overrides: { severity: 'high' }, contextKeys: ['app:shop'] },
    })
    const { body } = await api.get(`/v1/notifications/${again._id}`)
    expect(body.jobs[0].messages).toMatchObject([{ content: 'Order 7 for acme by bob' }])
  })

  test('includes the attachments', async () => {
    const api = server.api
    await makeWorkflow(api, 'invoice', [{ type: 'email', controlValues: { subject: 'Invoice', body: 'Here' } }])
    const attachments = [{ name: 'a.txt', mime: 'text/plain', file: Buffer.from('Total: 7').toString('base64') }]
    const to = { subscriberId: 'ada', email: 'ada@example.com' }
    const first = await trigger(api, 'invoice', to, { payload: { attachments } })
    await server.drain()
    const { _id } = await runOf(api, first)
    const { transactionId } = (await replay(api, _id)).body
    await server.drain()
    const { data } = (await api.get(`/v1/sandbox/messages?transactionId=${transactionId}`)).body
    expect(data[0].attachments).toMatchObject([{ name: 'a.txt', mime: 'text/plain' }])

    await server.database.db.deleteFrom('attachments').execute()
    expect(await replay(api, _id)).toMatchObject({ status: 409, body: { code: 'replay_files_gone' } })
  })

  test('is refused when the subscriber or workflow was deleted', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [inApp()])
    const { _id } = await trigger(api, 'hello', 'ada').then(async (transactionId) => {
      await server.drain()
      return runOf(api, transactionId)
    })
    expect(await replay(server.api, _id)).toMatchObject({ status: 404, body: { code: 'activity_not_found' } })
    expect(await replay(api, 'a'.repeat(24))).toMatchObject({ status: 404, body: { code: 'activity_not_found' } })
    expect(await replay(api, 'x')).toMatchObject({ status: 422 })
    await api.patch('/v2/workflows/hello', { active: false })
    expect((await replay(api, _id)).body).toEqual({
      ...{ acknowledged: true, status: 'trigger_not_active', transactionId: expect.any(String) },
    })
    await api.delete('/v2/workflows/hello')
    expect(await replay(api, _id)).toMatchObject({ status: 409, body: { code: 'replay_workflow_gone' } })
    await api.delete('/v2/subscribers/ada')
    expect(await replay(api, _id)).toMatchObject({ status: 404, body: { code: 'subscriber_not_found' } })
    expect((await api.get('/v2/subscribers/ada')).status).toBe(404)
  })
})

describe('the list', () => {
  let api: Api
  const workflows: string[] = []
  const made: Record<string, string> = {}
  const at = (hour: number) => `2026-04-01T${String(hour).padStart(2, '0')}:00:00.000Z`

  beforeAll(async () => {
    api = await server.freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    await api.post('/v2/subscribers', { subscriberId: 'bob', email: 'Bob@Other.org' })
    for (const name of ['one', 'two']) workflows.push(await addWorkflow(server, api.environmentId, name))
    const topic = (topicKey: string) => ({
      ...{ _topicId: 'a'.repeat(24), topicKey, subscriptionIdentifier: `tk_${topicKey}:si_bob` },
    })
    const put = async (name: string, subscriberId: string, hour: number, fields: object) => {
      const run = await insertRun(server, api, subscriberId, { created_at: new Date(at(hour)), ...fields })
      made[name] = run.id
    }
    const failed = [
      { type: 'email', status: 'failed', reason: 'provider_failed', error: 'Out of order' },
      { type: 'sms', status: 'failed', reason: 'provider_failed', error: 'Out of order' },
    ]
    const missing = { type: 'sms', status: 'canceled', reason: 'missing_phone' }
    await put('a', 'ada', 1, {
      workflow_id: workflows[0],
      channels: ['email'],
      severity: 'high',
      jobs: failed,
      status: 'error',
    })
    await put('b', 'bob', 2, {
      ...{ workflow_id: workflows[1], channels: ['email', 'in_app'], transaction_id: 'shared', status: 'processing' },
      jobs: [missing, ...failed],
    })
    await put('c', 'cy', 3, {
      ...{ workflow_id: workflows[0], channels: ['digest', 'sms'], transaction_id: 'shared', jobs: [missing] },
    })
    await put('d', 'bob', 4, { topics: [topic('news'), topic('more')], context_keys: ['app:jira', 'tenant:acme'] })
    await put('e', 'ada', 5, { topics: [topic('more')], context_keys: ['tenant:acme'], severity: 'low' })
  })

  const names = async (query: string) => {
    const answer = await api.get(`/v1/notifications?${query}`)
    expect([query, answer.status, answer.body.message]).toEqual([query, 200, undefined])
    return answer.body.data
      .map(({ _id }: { _id: string }) => Object.keys(made).find((name) => made[name] === _id))
      .join('')
  }

  test.each([
    ['', 'edcba'],
    ['channels=email', 'ba'],
    ['channels=sms&channels=in_app', 'cb'],
    ['templates=$0', 'ca'],
    ['templates=$0&templates=$1', 'cba'],
    ['templates=none', ''],
    ['emails=ada@example.com', 'ea'],
    ['emails=ADA@example.com', ''],
    ['emails=nobody@example.com&emails=Bob@Other.org', 'db'],
    ['subscriberIds=cy', 'c'],
    ['subscriberIds=cy&emails=ada@example.com', 'eca'],
    ['search=other.ORG', 'db'],
    ['search=cy', 'c'],
    ['search=c', 'ea'],
    ['search=cy&subscriberIds=ada', 'eca'],
    ['search=%25', ''],
    ['workflowIds=one', 'ca'],
    ['workflowIds=one&workflowIds=two&workflowIds=three', 'cba'],
    ['workflowIds=one&templates=$1', ''],
    ['workflowIds=three', ''],
    ['status=error', 'a'],
    ['status=processing', 'b'],
    ['status=completed', 'edc'],
    ['status=error&status=processing', 'ba'],
    ['status=error&status=error', 'a'],
    ['status=error&status=processing&severity=none', 'b'],
    ['status=completed&status=error&limit=2', 'ed'],
    ['reasons=provider_failed', 'ba'],
    ['reasons=provider_failed&limit=1&page=1', 'a'],
    ['reasons=missing_phone', 'cb'],
    ['reasons=missing_phone&reasons=provider_failed', 'cba'],
    ['reasons=missing_phone&reasons=provider_failed&status=processing', 'b'],
    ['reasons=missing_phone&subscriberIds=cy', 'c'],
    ['reasons=provider_failed&workflowIds=one', 'a'],
    [`reasons=provider_failed&after=${at(2)}`, 'b'],
    ['reasons=preference', ''],
    ['severity=high', 'a'],
    ['severity=high&severity=none&severity=low&status=error', 'a'],
    ['severity=none', 'dcb'],
    ['severity=high&severity=low', 'ea'],
    ['transactionId=shared', 'cb'],
    ['transactionId=shared&transactionId=none', 'cb'],
    ['transactionId=shared&subscriberIds=bob', 'b'],
    ['topicKey=news', 'd'],
    ['topicKey=more', 'ed'],
    ['topicKey=other', ''],
    [`topicKey=more&before=${at(4)}`, 'd'],
    ['topicKey=more&severity=low', 'e'],
    ['topicKey=more&subscriberIds=bob', 'd'],
    ['topicKey=more&limit=1&page=1', 'd'],
    ['subscriptionId=tk_news:si_bob', 'd'],
    ['subscriptionId=tk_news:si_bob&topicKey=more', 'd'],
    ['contextKeys=', 'cba'],
    ['contextKeys=tenant:acme', 'e'],
    ['contextKeys=tenant:acme&contextKeys=app:jira', 'd'],
    [`after=${at(3)}`, 'edc'],
    [`before=${at(3)}`, 'cba'],
    [`after=${at(2)}&before=${at(4)}`, 'dcb'],
    [`after=${at(3)}&before=${at(3)}`, 'c'],
    ['after=2026-04-01T03:00:00.001Z', 'ed'],
    ['before=2026-04-01T02:59:59.999Z', 'ba'],
    ['after=2026-04-01', 'edcba'],
    ['after=1900-01-01&before=9999-12-31', 'edcba'],
    ['after=&before=&topicKey=&search=', 'edcba'],
    [`after=${at(2)}&channels=email&templates=$1&subscriberIds=bob&severity=none`, 'b'],
    ['limit=2', 'ed'],
    ['limit=2&page=1', 'cb'],
    ['limit=2&page=2', 'a'],
    ['cursor=$c', 'ba'],
    ['cursor=$C', 'ba'],
    ['cursor=$c&limit=1', 'b'],
    ['cursor=$c&status=error', 'a'],
    ['cursor=$d&reasons=missing_phone', 'cb'],
    ['cursor=$a', ''],
  ])('%s', async (query, expected) => {
    const ids = (name: string) => made[name] ?? made[name.toLowerCase()]?.toUpperCase() ?? workflows[Number(name)] ?? ''
    expect(await names(query.replaceAll(/\$(\w)/g, (_, name) => ids(name)))).toBe(expected)
  })

  test('filters by subscription, existing or deleted', async () => {
    await api.post('/v2/topics', { key: 'weekly' })
    const added = await api.post('/v2/topics/weekly/subscriptions', { subscriberIds: ['bob'] })
    const { identifier } = added.body.data[0]
    const topics = [{ _topicId: 'b'.repeat(24), topicKey: 'weekly', subscriptionIdentifier: identifier }]
    const { id } = await insertRun(server, api, 'bob', { topics })
    const found = async () => (await api.get(`/v1/notifications?subscriptionId=${identifier}`)).body.data
    expect(await found()).toMatchObject([{ _id: id }])
    await api.delete('/v2/topics/weekly/subscriptions', { subscriberIds: ['bob'] })
    expect(await found()).toMatchObject([{ _id: id }])
    await server.database.db.deleteFrom('notifications').where('id', '=', id).execute()
  })

  describe('the count of new records', () => {
    const count = async (query: string) => {
      const answer = await api.get(
        `/v1/notifications/count?${query.replaceAll(/\$(\w)/g, (_, name) => made[name] ?? '')}`,
      )
      expect([query, answer.status]).toEqual([query, 200])
      return answer.body
    }

    test.each([
      ['since=$e', 0],
      ['since=$c', 2],
      ['since=000000000000000000000000', 5],
      [`since=${at(3)}`, 2],
      ['since=2026-04-01T02:59:59.999Z', 3],
      ['since=$a&subscriberIds=bob', 2],
      ['since=$a&subscriberIds=nobody', 0],
      ['since=$a&status=error', 0],
      ['since=000000000000000000000000&reasons=provider_failed', 2],
      ['since=$a&topicKey=more', 2],
      ['since=$a&workflowIds=two', 1],
    ])('%s: %i', async (query, expected) => {
      expect(await count(query)).toEqual({ count: expected, isCapped: false })
    })

    test('stops at a hundred, and says so', async () => {
      const busy = await server.freshApi()
      const add = (some: number, from: number) =>
        server.database.pool.query(
          `INSERT INTO notifications (environment_id, id, event_id, transaction_id, workflow_id, workflow_version,
             subscriber_row_id, subscriber_id, status, severity, critical, channels, tags, context_keys, created_at, updated_at)
           SELECT $1, '69f47c00' || lpad(to_hex(n), 16, '0'), 'e', 't', 'w', 1, 's', 's', 'completed', 'none', false, '{}', '{}', '{}',
             now(), now() FROM generate_series($2::int, $3::int) n`,
          [busy.environmentId, from, from + some - 1],
        )
      const counted = async () => (await busy.get('/v1/notifications/count?since=2026-04-01')).body
      await add(100, 1)
      await server.database.pool.query(`UPDATE notifications SET created_at = '2026-05-01' WHERE environment_id = $1`, [
        busy.environmentId,
      ])
      expect(await counted()).toEqual({ count: 100, isCapped: false })
      await add(1, 101)
      expect(await counted()).toEqual({ count: 100, isCapped: true })
    })

    test('needs a start, as an id or a time', async () => {
      expect(await api.get('/v1/notifications/count')).toMatchObject({ status: 422 })
      expect(await api.get('/v1/notifications/count?since=yesterday')).toMatchObject({
        status: 400,
        body: { code: 'activity_date_invalid' },
      })
      expect(await api.get('/v1/notifications/count?since=')).toMatchObject({ status: 422 })
    })

    test('another environment has its own records', async () => {
      const { body } = await server.api.get('/v1/notifications/count?since=2026-03-31&subscriberIds=bob')
      expect(body).toEqual({ count: 0, isCapped: false })
    })
  })

  test('hasMore is exact', async () => {
    const page = async (query: string) => {
      const { data, ...rest } = (await api.get(`/v1/notifications?${query}`)).body
      return { ...rest, items: data.length }
    }
    expect(await page('limit=4')).toEqual({ page: 0, pageSize: 4, hasMore: true, items: 4 })
    expect(await page('limit=5')).toEqual({ page: 0, pageSize: 5, hasMore: false, items: 5 })
    expect(await page('limit=2&page=2')).toEqual({ page: 2, pageSize: 2, hasMore: false, items: 1 })
    expect(await page('limit=2&page=3')).toEqual({ page: 3, pageSize: 2, hasMore: false, items: 0 })
  })

  test('filters that match no subscriber give an empty first page', async () => {
    const answer = await api.get('/v1/notifications?emails=x@example.com&page=4&limit=7')
    expect(answer.body).toEqual({ page: 0, pageSize: 7, hasMore: false, data: [] })
  })

  test('filters that match very many subscribers work', async () => {
    const crowded = await server.freshApi()
    const run = await insertRun(server, crowded, 'one@example.com')
    await insertRun(server, crowded, 'another')
    await server.database.pool.query(
      `INSERT INTO subscribers (environment_id, id, subscriber_id, email, created_at, updated_at)
       SELECT $1, lpad(to_hex(n), 24, '0'), 's' || n, 's' || n || '@example.com', now(), now() FROM generate_series(1, 1001) n`,
      [crowded.environmentId],
    )
    await crowded.patch('/v2/subscribers/one@example.com', { email: 'one@example.com' })
    const { data } = (await crowded.get('/v1/notifications?search=example')).body
    expect(data.map(({ _id }: { _id: string }) => _id)).toEqual([run.id])
  })

  test.each([
    [
      'after=yesterday',
      "Invalid date format for parameter 'after': yesterday. Please provide a valid ISO 8601 date string.",
    ],
    [
      'before=2026-13-01',
      "Invalid date format for parameter 'before': 2026-13-01. Please provide a valid ISO 8601 date string.",
    ],
    [
      'after=2026-04-02&before=2026-04-01',
      'Invalid date range: start date (after) must be earlier than end date (before)',
    ],
  ])('%s is refused with 400', async (query, message) => {
    expect(await api.get(`/v1/notifications?${query}`)).toMatchObject({ status: 400, body: { message } })
  })

  test.each([
    ['page=-1', 'page must not be less than 0'],
    ['limit=0', 'limit must not be less than 1'],
    ['limit=51', 'limit must not be greater than 50'],
    ['status=late', 'each value in status must be one of the following values: processing, completed, error'],
    ['cursor=x', 'cursor must be a mongodb id'],
    ['severity=loud', 'each value in severity must be one of the following values: high, medium, low, none'],
  ])('%s is refused', async (query, message) => {
    const answer = await api.get(`/v1/notifications?${query}`)
    expect([answer.status, answer.body.errors.general.messages]).toEqual([422, [message]])
  })

  test('another environment has its own records', async () => {
    expect((await server.api.get('/v1/notifications?transactionId=shared')).body.data).toEqual([])
  })
})

describe('with many records', () => {
  test('a page takes the same few statements', async () => {
    const api = await server.freshApi()
    await api.get('/v1/notifications')
    const statements = async (request: string) => {
      const sent = vi.spyOn(pg.Client.prototype, 'query')
      try {
        expect((await api.get(request)).status).toBe(200)
        return sent.mock.calls.length
      } finally {
        sent.mockRestore()
      }
    }
    const grow = async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        const workflow_id = await addWorkflow(server, api.environmentId, `w${n}`)
        const run = await insertRun(server, api, `s${n}`, { workflow_id, jobs: [{ type: 'sms' }, { type: 'in_app' }] })
        await insertMessage(server, run)
        await insertMessage(server, await insertRun(server, api, 'ada', { workflow_id }))
        await api.delete(`/v2/workflows/w${n}`)
      }
    }
    const requests: Array<[path: string, most: number]> = [
      ['/v1/notifications?limit=50', 5],
      ['/v1/notifications?limit=50&search=s0', 6],
      ['/v1/messages?limit=50', 5],
      ['/v1/messages?limit=50&subscriberId=ada', 6],
      ['/v1/subscribers/ada/notifications/feed?limit=50', 4],
      ['/v2/subscribers/ada/notifications?limit=50', 3],
      ['/v2/subscribers/ada/notifications/count?filters=[{},{"read":true},{"seen":false}]', 2],
    ]
    await grow(1)
    const withFew = []
    for (const [request] of requests) withFew.push([request, await statements(request)])
    await grow(12)
    const withMany = []
    for (const [request] of requests) withMany.push([request, await statements(request)])
    expect(withMany).toEqual(withFew)
    expect(withMany).toEqual(requests)
  })
})

// The last one: it moves the clock that the others share.
test('a record shows until when a question and a digest wait, which wake up before', async () => {
  const api = await server.freshApi()
  const until = async (transactionId: string) => {
    const { body, text } = await api.get(`/v1/explain?transactionId=${transactionId}&subscriberId=ada`)
    expect(body.steps, text).toBeDefined()
    return [(await runOf(api, transactionId)).jobs[0].dueAt, body.steps[0].until]
  }
  const startsAt = server.clock.now().getTime()
  const minutesOn = (minutes: number) => Array(2).fill(new Date(startsAt + minutes * 60_000).toISOString())
  const patience = { reminders: [{ amount: 10, unit: 'minutes' }], amount: 1, unit: 'hours' }
  const question = { question: 'Well?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'], ...patience }
  await makeWorkflow(api, 'asks', [{ type: 'ask', controlValues: question }])
  const sliding = { amount: 10, unit: 'minutes', window: 'sliding', maxWindow: { amount: 1, unit: 'hours' } }
  await makeWorkflow(api, 'collects', [{ type: 'digest', controlValues: sliding }, inApp()])
  const asks = await trigger(api, 'asks', 'ada')
  const collects = await trigger(api, 'collects', 'ada')
  await server.drain()
  expect(await until(asks)).toEqual(minutesOn(60))
  expect(await until(collects)).toEqual(minutesOn(10))
  server.clock.advance({ minutes: 5 })
  await trigger(api, 'collects', 'ada')
  await server.drain()
  expect(await until(collects)).toEqual(minutesOn(15))
})
