import pg from 'pg'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { insertMessage, insertRun, timersOf } from '../../test/activity.ts'
import { inApp, makeWorkflow, runOf, trigger } from '../../test/runs.ts'
import { type Api, useServer } from '../../test/server.ts'
import { addWorkflow } from '../../test/workflows.ts'

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
  test('shows the run, its steps, what each logged and sent, and how far it got', async () => {
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
    const message = await insertMessage(server, run)
    const failed = await insertMessage(server, run, {
      ...{
        job_id: run.jobIds[2] ?? '',
        channel: 'email',
        provider_id: 'sendgrid',
        status: 'error',
        delivered_at: null,
      },
      ...{ error_id: 'mail_unexpected_error', error_text: 'No such mailbox' },
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
          messages: [{ _id: message, channel: 'in_app', status: 'sent', providerId: 'svc' }],
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
              ...{ errorId: 'mail_unexpected_error', errorText: 'No such mailbox' },
            },
          ],
          step: expect.objectContaining({ _id: email?._id, _parentId: digest?._id }),
        },
      ],
    })
  })

  test('says why somebody did not get it', async () => {
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

  test('the steps are those the run began with, whatever is edited meanwhile', async () => {
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

  test('stays when its workflow and its subscriber are gone, without them', async () => {
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

  test('a provider nobody knows, and none, is shown as our own; steps of no version by their ids', async () => {
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

  test('of another environment, or none, is not found; what is no id is refused', async () => {
    const run = await insertRun(server, await server.freshApi(), 'ada')
    const notFound = { status: 404, body: { message: 'Notification not found' } }
    expect(await server.api.get(`/v1/notifications/${run.id}`)).toMatchObject(notFound)
    expect(await server.api.get('/v1/notifications/65f0c0ffee65f0c0ffee65f0')).toMatchObject(notFound)
    expect(await server.api.get('/v1/notifications/x')).toMatchObject({
      status: 422,
      body: { errors: { notificationId: { messages: ['notificationId must be a mongodb id'], value: 'x' } } },
    })
  })

  test('has its payload whatever its size; lists leave out what is over 64 KB', async () => {
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

describe('what the engine did', () => {
  test('two triggers, one digest: who sent it, with which events, and where the other went', async () => {
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

  test('a notification that was put aside comes back when its time has come', async () => {
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
    await put('a', 'ada', 1, { workflow_id: workflows[0], channels: ['email'], severity: 'high' })
    await put('b', 'bob', 2, { workflow_id: workflows[1], channels: ['email', 'in_app'], transaction_id: 'shared' })
    await put('c', 'cy', 3, { workflow_id: workflows[0], channels: ['digest', 'sms'], transaction_id: 'shared' })
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
    ['severity=high', 'a'],
    ['severity=none', 'dcb'],
    ['severity=high&severity=low', 'ea'],
    ['transactionId=shared', 'cb'],
    ['transactionId=shared&transactionId=none', 'cb'],
    ['transactionId=shared&subscriberIds=bob', 'b'],
    ['topicKey=news', 'd'],
    ['topicKey=more', 'ed'],
    ['topicKey=other', ''],
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
  ])('%s', async (query, expected) => {
    expect(await names(query.replaceAll(/\$(\d)/g, (_, n) => workflows[Number(n)] ?? ''))).toBe(expected)
  })

  test('there is more only when there is', async () => {
    const page = async (query: string) => {
      const { data, ...rest } = (await api.get(`/v1/notifications?${query}`)).body
      return { ...rest, items: data.length }
    }
    expect(await page('limit=4')).toEqual({ page: 0, pageSize: 4, hasMore: true, items: 4 })
    expect(await page('limit=5')).toEqual({ page: 0, pageSize: 5, hasMore: false, items: 5 })
    expect(await page('limit=2&page=2')).toEqual({ page: 2, pageSize: 2, hasMore: false, items: 1 })
    expect(await page('limit=2&page=3')).toEqual({ page: 3, pageSize: 2, hasMore: false, items: 0 })
  })

  test('nobody is meant: an empty first page', async () => {
    const answer = await api.get('/v1/notifications?emails=x@example.com&page=4&limit=7')
    expect(answer.body).toEqual({ page: 0, pageSize: 7, hasMore: false, data: [] })
  })

  test('people too many to be named one by one', async () => {
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
  ])('%s is a bad request', async (query, message) => {
    expect(await api.get(`/v1/notifications?${query}`)).toMatchObject({ status: 400, body: { message } })
  })

  test.each([
    ['page=-1', 'page must not be less than 0'],
    ['limit=0', 'limit must not be less than 1'],
    ['limit=51', 'limit must not be greater than 50'],
    ['severity=loud', 'each value in severity must be one of the following values: high, medium, low, none'],
  ])('%s is refused', async (query, message) => {
    const answer = await api.get(`/v1/notifications?${query}`)
    expect([answer.status, answer.body.errors.general.messages]).toEqual([422, [message]])
  })

  test('another environment has its own', async () => {
    expect((await server.api.get('/v1/notifications?transactionId=shared')).body.data).toEqual([])
  })
})

describe('however many', () => {
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
      ['/v1/messages?limit=50', 4],
      ['/v1/messages?limit=50&subscriberId=ada', 5],
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
