import { describe, expect, test } from 'vitest'
import { makeWorkflow, messagesOf, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const ada = { subscriberId: 'ada', email: 'ada@example.com', phone: '+15550100' }
const steps: Step[] = [
  { type: 'email', controlValues: { subject: 'Hi', body: '<p>Hello</p>', editorType: 'html', layoutId: null } },
  { type: 'sms', controlValues: { body: 'an SMS' } },
  { type: 'push', controlValues: { subject: 'Ping', body: 'a push' } },
  { type: 'chat', controlValues: { body: 'a chat' } },
  { type: 'in_app', controlValues: { body: 'in the inbox' } },
]

async function development(only?: string[]): Promise<Api> {
  const { development: api } = await server.freshOrganization()
  await makeWorkflow(
    api,
    'all',
    steps.filter(({ type }) => only === undefined || only.includes(type)),
  )
  return api
}
const send = async (api: Api, more: object = {}, to: unknown = ada) => {
  const transactionId = await trigger(api, 'all', to, more)
  await server.drain()
  return transactionId
}
const inSandbox = async (api: Api, query = '') => (await api.get(`/v1/sandbox/messages?${query}`)).body.data

describe('Development', () => {
  test('delivers through every channel without a provider account', async () => {
    const api = await development()
    const transactionId = await send(api)
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('completed')
    expect(storyOf(run)).toEqual([
      'email completed: Step queued, Belfry Email provider was selected, Message created, Message sent',
      'sms completed: Step queued, Belfry SMS provider was selected, Message created, Message sent',
      'push completed: Step queued, Belfry Push provider was selected, Message created, Message sent',
      'chat completed: Step queued, Belfry Slack provider was selected, Message created, Message sent',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    const taken = await inSandbox(api)
    expect(taken.map(({ channel, to, text }: Record<string, unknown>) => [channel, to, text]).sort()).toEqual([
      ['chat', ['ada'], 'a chat'],
      ['email', ['ada@example.com'], expect.stringMatching(/^Hello/)],
      ['push', ['ada'], 'a push'],
      ['sms', ['+15550100'], 'an SMS'],
    ])
    expect(taken[0]).toMatchObject({ transactionId, subscriberId: 'ada', workflowId: 'all' })
  })

  test('names the sandbox providers as clients know them', async () => {
    const api = await development()
    await send(api)
    const [run] = (await api.get('/v1/notifications')).body.data
    expect(run.jobs.map(({ providerId }: { providerId: string }) => providerId)).toEqual([
      'svc-email',
      'svc-sms',
      'svc',
      'svc-slack',
      'svc',
    ])
  })
})

describe('a message in the sandbox', () => {
  test('has everything that a provider would have got', async () => {
    const api = await development(['email'])
    const attachments = [{ file: Buffer.from('one').toString('base64'), name: 'a.txt', mime: 'text/plain' }]
    const overrides = { email: { headers: { 'X-One': '1' }, cc: ['cc@example.com'] } }
    await send(api, { payload: { attachments }, overrides })
    const [listed] = await inSandbox(api)
    expect(listed).not.toHaveProperty('html')
    expect(listed.attachments).toEqual([{ name: 'a.txt', mime: 'text/plain' }])
    const { status, body } = await api.get(`/v1/sandbox/messages/${listed.id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      id: (await messagesOf(api, 'channel=email'))[0]._id,
      channel: 'email',
      to: ['ada@example.com', 'cc@example.com'],
      subject: 'Hi',
      html: expect.stringMatching(/^<p>Hello<\/p>/),
      headers: { 'X-One': '1' },
      message: { to: ['ada@example.com'], cc: ['cc@example.com'], from: 'no-reply@sandbox.invalid' },
      attachments: [{ name: 'a.txt', mime: 'text/plain', content: Buffer.from('one').toString('base64') }],
    })
  })

  test('is found by channel, recipient, subscriber and transaction, in pages', async () => {
    const api = await development(['email', 'sms'])
    const first = await send(api)
    server.clock.advance({ seconds: 1 })
    await send(api, {}, { ...ada, subscriberId: 'bob', email: 'bob@example.com' })
    expect(await inSandbox(api, 'channel=sms')).toHaveLength(2)
    expect(await inSandbox(api, 'to=bob@example.com')).toMatchObject([{ subscriberId: 'bob', channel: 'email' }])
    expect(await inSandbox(api, 'subscriberId=ada')).toHaveLength(2)
    expect(await inSandbox(api, `transactionId=${first}&channel=email`)).toMatchObject([{ to: ['ada@example.com'] }])
    expect(await inSandbox(api, 'search=BOB@example')).toMatchObject([{ subscriberId: 'bob', channel: 'email' }])
    expect(await inSandbox(api, 'search=an%20sms')).toHaveLength(2)
    expect(await inSandbox(api, 'search=%25')).toEqual([])
    const page = (await api.get('/v1/sandbox/messages?limit=3')).body
    expect(page).toMatchObject({ totalCount: 4, previous: null })
    expect(page.data).toHaveLength(3)
    expect(await inSandbox(api, `after=${page.next}`)).toHaveLength(1)
  })

  test('is not found from another environment, or after the sandbox was emptied', async () => {
    const [api, other] = [await development(['sms']), await development(['sms'])]
    await send(api)
    await send(other)
    const [{ id }] = await inSandbox(api)
    expect(await other.get(`/v1/sandbox/messages/${id}`)).toMatchObject({
      status: 404,
      body: { message: `The sandbox has no message with the id ${id}` },
    })
    expect(await api.delete('/v1/sandbox/messages')).toMatchObject({ status: 204 })
    expect(await inSandbox(api)).toEqual([])
    expect(await inSandbox(other)).toHaveLength(1)
  })

  test('cannot be listed with an unknown channel or an empty page', async () => {
    expect(await server.api.get('/v1/sandbox/messages?channel=in_app')).toMatchObject({ status: 422 })
    expect(await server.api.get('/v1/sandbox/messages?limit=101')).toMatchObject({ status: 422 })
  })
})

describe('a simulated fault', () => {
  const fault = (api: Api, body: object) => api.put('/v1/sandbox/faults', body)
  const jobOf = async (api: Api, transactionId: string) => (await runOf(api, transactionId)).jobs[0]

  test('with a rate limit pauses for as long as it says', async () => {
    const api = await development(['sms'])
    const answer = await fault(api, { channel: 'sms', fault: 'rate_limited', retryAfterSeconds: 20, count: 1 })
    expect(answer).toMatchObject({
      status: 200,
      body: [{ channel: 'sms', fault: 'rate_limited', retryAfterSeconds: 20, count: 1 }],
    })
    const transactionId = await send(api)
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'queued' })
    expect((await api.get('/v1/sandbox/faults')).body).toEqual([])
    server.clock.advance({ seconds: 19 })
    await server.drain()
    expect(await inSandbox(api)).toEqual([])
    server.clock.advance({ seconds: 1 })
    await server.drain()
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
    expect(await inSandbox(api)).toHaveLength(1)
  })

  test.each(['timeout', 'reset', 'server_error'])('with a %s is retried', async (name) => {
    const api = await development(['sms'])
    await fault(api, { fault: name, count: 2 })
    const transactionId = await send(api)
    for (let i = 0; i < 2; i += 1) {
      server.clock.advance({ seconds: 10 })
      await server.drain()
    }
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
    expect(await inSandbox(api)).toHaveLength(1)
  })

  test.each(['bounce', 'rejected', 'unauthorized'])('with %s ends the step, and holds nobody back', async (name) => {
    const api = await development(['sms', 'email'])
    await fault(api, { fault: name })
    const { jobs } = await runOf(api, await send(api))
    const failed = { status: 'failed', reason: 'provider_refused' }
    expect(jobs).toMatchObject([failed, failed])
    expect(await inSandbox(api)).toEqual([])
    expect((await api.get('/v1/suppressions')).body.data).toEqual([])
  })

  test('ends when it is removed; a fault of the channel wins over the one for all channels', async () => {
    const api = await development(['sms', 'email'])
    await fault(api, { fault: 'rejected' })
    await fault(api, { channel: 'sms', fault: 'bounce' })
    expect((await api.get('/v1/sandbox/faults')).body).toEqual([
      { fault: 'rejected' },
      { channel: 'sms', fault: 'bounce' },
    ])
    const run = await runOf(api, await send(api))
    const errorOf = (type: string) => run.jobs.find((job: { type: string }) => job.type === type).error
    expect(errorOf('email')).toMatch(/refuses the request/)
    expect(errorOf('sms')).toMatch(/cannot reach this recipient/)
    expect(await api.delete('/v1/sandbox/faults')).toMatchObject({ status: 204 })
    expect(await runOf(api, await send(api))).toMatchObject({ status: 'completed' })
  })

  test('is refused if malformed', async () => {
    const { development: api } = await server.freshOrganization()
    for (const body of [
      {},
      { fault: 'explode' },
      { fault: 'timeout', channel: 'in_app' },
      { fault: 'timeout', count: 0 },
    ])
      expect(await fault(api, body)).toMatchObject({ status: 422 })
    expect((await api.get('/v1/sandbox/faults')).body).toEqual([])
  })

  test('in one environment does not affect another', async () => {
    const [api, other] = [await development(['sms']), await development(['sms'])]
    await fault(api, { fault: 'bounce' })
    expect(await runOf(other, await send(other))).toMatchObject({ status: 'completed' })
    expect((await other.get('/v1/sandbox/faults')).body).toEqual([])
  })
})
