import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { makeWorkflow, messagesOf, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const ada = { subscriberId: 'ada', email: 'ada@example.com', phone: '+15550100' }
const sms: Step = { type: 'sms', controlValues: { body: 'Hi' } }
const inApp: Step = { type: 'in_app', controlValues: { body: 'after' } }

async function prepared(steps = [sms, inApp]): Promise<Api> {
  const { development: api } = await server.freshOrganization()
  await makeWorkflow(api, 'code', steps)
  return api
}
const send = async (api: Api, to: object = ada) => {
  const transactionId = await trigger(api, 'code', to)
  await server.drain()
  return transactionId
}
async function failed(api: Api, to: object = ada, fault = 'rejected'): Promise<string> {
  await api.put('/v1/sandbox/faults', { fault })
  const transactionId = await send(api, to)
  await api.delete('/v1/sandbox/faults')
  return transactionId
}
const listed = async (api: Api, query = '') => {
  const answer = await api.get(`/v1/deliveries?status=failed&${query}`)
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body.data
}
const inSandbox = async (api: Api) => (await api.get('/v1/sandbox/messages')).body.data

describe('failed deliveries', () => {
  test('are listed with the reason, newest first', async () => {
    const api = await prepared()
    await send(api)
    const first = await failed(api)
    server.clock.advance({ seconds: 2 })
    const second = await failed(api, { ...ada, subscriberId: 'bob' }, 'unauthorized')
    const all = await listed(api)
    expect(all.map(({ transactionId }: { transactionId: string }) => transactionId)).toEqual([second, first])
    expect(all[1]).toEqual({
      id: (await runOf(api, first)).jobs[0]._id,
      status: 'failed',
      channel: 'sms',
      reason: 'provider_refused',
      error: 'sandbox: it refuses the request (HTTP status 400)',
      providerId: 'svc-sms',
      notificationId: (await runOf(api, first))._id,
      transactionId: first,
      subscriberId: 'ada',
      workflowId: 'code',
      stepId: 'sms-0',
      destinations: [
        {
          status: 'failed',
          calls: 1,
          providerId: 'svc-sms',
          integrationId: expect.any(String),
          error: 'sandbox: it refuses the request (HTTP status 400)',
        },
      ],
      createdAt: expect.any(String),
      failedAt: expect.any(String),
    })
  })

  test('can be filtered and paged', async () => {
    const api = await prepared()
    const first = await failed(api)
    server.clock.advance({ seconds: 2 })
    await failed(api, { ...ada, subscriberId: 'bob' })
    expect(await listed(api, 'subscriberId=bob')).toHaveLength(1)
    expect(await listed(api, `transactionId=${first}`)).toMatchObject([{ subscriberId: 'ada' }])
    expect(await listed(api, 'channel=sms&reason=provider_refused&providerId=svc-sms&workflowId=code')).toHaveLength(2)
    for (const query of ['channel=email', 'reason=outcome_unknown', 'providerId=twilio', 'workflowId=other'])
      expect(await listed(api, query)).toEqual([])
    const page = (await api.get('/v1/deliveries?limit=1')).body
    expect(page.data).toMatchObject([{ subscriberId: 'bob' }])
    const next = (await api.get(`/v1/deliveries?limit=1&after=${page.next}`)).body
    expect(next).toMatchObject({ data: [{ subscriberId: 'ada' }], next: null })
  })

  test('with an invalid filter are refused', async () => {
    for (const query of ['status=sent', 'channel=digest', 'reason=preference', 'limit=101'])
      expect(await server.api.get(`/v1/deliveries?${query}`)).toMatchObject({ status: 422 })
  })

  test('of other environments are not listed', async () => {
    const [api, other] = [await prepared(), await prepared()]
    await failed(api)
    const [{ id }] = await listed(api)
    expect(await listed(other)).toEqual([])
    expect(await other.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({
      status: 404,
      body: { message: `There is no failed delivery with the id ${id}` },
    })
    expect((await other.post('/v1/deliveries/redrive', {})).body).toEqual({ redriven: 0, hasMore: false })
    expect(await listed(api)).toHaveLength(1)
  })
})

describe('a redriven delivery', () => {
  test('is sent, and later steps are not repeated', async () => {
    const api = await prepared()
    const transactionId = await failed(api)
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'error' })
    const [{ id }] = await listed(api)
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 200, body: { redriven: 1 } })
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'processing' })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('completed')
    expect(storyOf(run)).toEqual([
      'sms completed: Step queued, Belfry SMS provider was selected, Message created, Unexpected provider error, ' +
        'The message is sent again, as requested, Message sent',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    expect(run.jobs[0]).not.toHaveProperty('reason')
    expect(run.jobs[0]).not.toHaveProperty('error')
    expect(await inSandbox(api)).toHaveLength(1)
    expect(await messagesOf(api, 'channel=sms')).toMatchObject([{ status: 'sent' }])
    expect(await messagesOf(api, 'channel=in_app')).toHaveLength(1)
    expect(await listed(api)).toEqual([])
  })

  test('can fail again, and is listed again', async () => {
    const api = await prepared()
    await failed(api)
    await api.put('/v1/sandbox/faults', { fault: 'bounce' })
    const [{ id }] = await listed(api)
    await api.post(`/v1/deliveries/${id}/redrive`)
    await server.drain()
    expect(await listed(api)).toMatchObject([{ id, error: expect.stringMatching(/cannot reach this recipient/) }])
  })

  test('is sent once when redriven twice at once', async () => {
    const api = await prepared()
    await failed(api)
    const [{ id }] = await listed(api)
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.post(`/v1/deliveries/${id}/redrive`)))
    const redriven = answers.filter(({ status, body }) => status === 200 && body.redriven === 1)
    expect(redriven).toHaveLength(1)
    await server.drain()
    expect(await inSandbox(api)).toHaveLength(1)
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 404 })
  })

  test('for several devices goes only to those that have not got it', async () => {
    const api = await prepared([{ type: 'push', controlValues: { subject: 'Ping', body: 'Hi' } }])
    await api.post('/v2/subscribers', ada)
    const integrations = (await api.get('/v1/integrations')).body
    const { _id } = integrations.find(({ channel }: { channel: string }) => channel === 'push')
    const entry = { providerId: 'expo', _integrationId: _id, credentials: { deviceTokens: ['phone', 'tablet'] } }
    await server.database.db
      .updateTable('subscribers')
      .set({ channels: JSON.stringify([entry]) })
      .where('environment_id', '=', api.environmentId)
      .execute()
    await api.put('/v1/sandbox/faults', { fault: 'rejected', count: 1 })
    const transactionId = await send(api)
    const [{ id, destinations }] = await listed(api)
    expect(destinations.map(({ status }: { status: string }) => status).sort()).toEqual(['failed', 'sent'])
    expect(await runOf(api, transactionId)).toMatchObject({ status: 'completed' })
    await api.delete('/v1/sandbox/messages')
    await api.post(`/v1/deliveries/${id}/redrive`)
    await server.drain()
    expect(await inSandbox(api)).toHaveLength(1)
    expect((await messagesOf(api, 'channel=push')).map(({ status }) => status)).toEqual(['sent', 'sent'])
  })

  test('whose subscriber was deleted is refused', async () => {
    const api = await prepared()
    await failed(api)
    const [{ id }] = await listed(api)
    await api.delete('/v2/subscribers/ada')
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({
      status: 409,
      body: { code: 'delivery_not_redrivable' },
    })
  })
})

test('is one of many when all that match are redriven', async () => {
  const api = await prepared()
  for (const subscriberId of ['ada', 'bob', 'eve']) await failed(api, { ...ada, subscriberId })
  expect(await api.post('/v1/deliveries/redrive', { subscriberId: 'bob' })).toMatchObject({
    status: 200,
    body: { redriven: 1, hasMore: false },
  })
  await server.drain()
  expect(await inSandbox(api)).toMatchObject([{ subscriberId: 'bob' }])
  expect((await api.post('/v1/deliveries/redrive')).body).toEqual({ redriven: 2, hasMore: false })
  await server.drain()
  expect(await inSandbox(api)).toHaveLength(3)
  expect(await listed(api)).toEqual([])
})

test('that found no integration can be sent once there is one', async () => {
  const { production: api } = await server.freshOrganization()
  await makeWorkflow(api, 'code', [sms])
  await send(api)
  expect(await listed(api)).toMatchObject([{ reason: 'no_integration', destinations: [] }])
  const made = await api.post('/v1/integrations', { providerId: 'svc-sms', channel: 'sms', active: true })
  expect(made).toMatchObject({ status: 201 })
  await api.post('/v1/deliveries/redrive', { reason: 'no_integration' })
  await server.drain()
  expect(await inSandbox(api)).toHaveLength(1)
})

test('the health of an unknown integration, or of another environment, is not found', async () => {
  const [api, other] = [await prepared(), await prepared()]
  const [{ _id }] = (await api.get('/v1/integrations')).body
  expect(await other.get(`/v1/integrations/${_id}/health`)).toMatchObject({ status: 404 })
  expect(await api.get(`/v1/integrations/${_id}/health`)).toMatchObject({ status: 200, body: { state: 'closed' } })
})

describe('a step that failed before its provider was called', () => {
  const redriven = async (api: Api) => {
    const answer = await api.post('/v1/deliveries/redrive', {})
    await server.drain()
    return answer.body
  }
  const correct = async (api: Api, change: (step: Step) => Step) => {
    const { body } = await api.get('/v2/workflows/code')
    const steps = body.steps.map(({ _id, name, type, controlValues }: Step) =>
      change({ _id, name, type, controlValues } as Step),
    )
    const answer = await api.put('/v2/workflows/code', {
      ...{ name: 'code', origin: 'svc-cloud', preferences: {}, active: true, steps },
    })
    expect(answer, answer.text).toMatchObject({ status: 200 })
  }

  test.each(['in_app', 'sms'])('because of its template (%s) is sent once that is fixed', async (type) => {
    const broken: Step = { type, controlValues: { body: '{{ payload.n | plus: }}{% bad %}' } }
    const api = await prepared([broken])
    const transactionId = await send(api)
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'content_failed' })
    expect(await listed(api)).toMatchObject([{ channel: type, reason: 'content_failed', destinations: [] }])
    await correct(api, (step) => ({ ...step, controlValues: { body: 'Mended' } }))
    expect(await redriven(api)).toEqual({ redriven: 1, hasMore: false })
    const run = await runOf(api, transactionId)
    expect(run).toMatchObject({ status: 'completed' })
    expect(storyOf(run)[0]).toMatch(/sent again, as requested.*Message sent$/)
    expect(await messagesOf(api, `channel=${type}`)).toMatchObject([{ status: 'sent' }])
    expect(await listed(api)).toEqual([])
  })

  test('fails again while it is not fixed, and stays listed', async () => {
    const api = await prepared([{ type: 'in_app', controlValues: { body: '{{payload.missing}}' } }])
    const transactionId = await send(api)
    await redriven(api)
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'content_failed' })
    expect(await listed(api)).toHaveLength(1)
  })

  test('because of a missing layout is sent once there is one', async () => {
    const mail: Step = { type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html' } }
    const api = await prepared([mail])
    const transactionId = await trigger(api, 'code', ada, { overrides: { layoutIdentifier: 'frame' } })
    await server.drain()
    expect(await listed(api)).toMatchObject([{ channel: 'email', reason: 'layout_not_found' }])
    await api.post('/v2/layouts', { layoutId: 'frame', name: 'Frame' })
    await redriven(api)
    expect((await runOf(api, transactionId)).status).toBe('completed')
    expect(await inSandbox(api)).toHaveLength(1)
  })

  test('because of its webhook condition asks that address again', async () => {
    let isUp = false
    const vendor = createServer((_, response) => {
      response.writeHead(isUp ? 200 : 500, { 'content-type': 'application/json' }).end('{"ok":true}')
    })
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = vendor.address() as AddressInfo
      const child = {
        on: 'webhook',
        webhookUrl: `http://127.0.0.1:${port}/`,
        field: 'ok',
        operator: 'EQUAL',
        value: 'true',
      }
      const filters = [{ isNegated: false, type: 'GROUP', value: 'AND', children: [child] }]
      const api = await prepared([{ ...inApp, filters }])
      const transactionId = await send(api)
      for (const seconds of [2, 4]) {
        server.clock.advance({ seconds })
        await server.drain()
      }
      expect(await listed(api)).toMatchObject([{ channel: 'in_app', reason: 'filter_failed' }])
      isUp = true
      await redriven(api)
      expect((await runOf(api, transactionId)).status).toBe('completed')
      expect(await messagesOf(api, 'channel=in_app')).toHaveLength(1)
    } finally {
      vendor.close()
      vendor.closeAllConnections()
    }
  })

  test('is not listed if it delivers nothing, such as an HTTP request', async () => {
    const api = await prepared([
      { type: 'http_request', controlValues: { method: 'GET', url: 'http://10.0.0.1/' } },
      inApp,
    ])
    const transactionId = await send(api)
    expect(await listed(api)).toEqual([])
    const [{ _id }] = (await runOf(api, transactionId)).jobs
    expect((await api.post(`/v1/deliveries/${_id}/redrive`)).status).toBe(404)
  })
})
