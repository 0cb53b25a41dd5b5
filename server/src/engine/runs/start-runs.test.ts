import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { inApp, makeWorkflow, messagesOf, runOf, runsOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

async function freshApi(body = 'Hello'): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'hello', [inApp(body)])
  return api
}

const subscriber = async (api: Api, id: string) => (await api.get(`/v2/subscribers/${id}`)).body

const idsOf = (runs: Array<{ subscriber: { subscriberId: string } }>) =>
  runs.map((run) => run.subscriber.subscriberId).sort()

describe('recipients', () => {
  test('an unknown id becomes an empty subscriber; a known one is unchanged', async () => {
    const api = await freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
    const before = await subscriber(api, 'ada')
    server.clock.advance({ seconds: 1 })
    await trigger(api, 'hello', ['ada', 'bob'])
    await server.drain()
    expect(await subscriber(api, 'ada')).toEqual(before)
    expect(await subscriber(api, 'bob')).toMatchObject({ subscriberId: 'bob', firstName: null, channels: [] })
  })

  test('an object creates the subscriber with all its fields', async () => {
    const api = await freshApi()
    const ada = {
      subscriberId: 'ada',
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'ada@example.com',
      phone: '+441234567',
      avatar: 'https://example.com/a.png',
      locale: 'en_GB',
      timezone: 'Europe/London',
      data: { plan: 'pro', nested: { a: [1] } },
    }
    await trigger(api, 'hello', ada)
    await server.drain()
    expect(await subscriber(api, 'ada')).toMatchObject(ada)
  })

  test('an object changes the fields it names, clears null ones and keeps the rest', async () => {
    const api = await freshApi()
    await api.post('/v2/subscribers', {
      subscriberId: 'ada',
      firstName: 'Ada',
      lastName: 'L',
      email: 'ada@example.com',
      data: { old: true },
    })
    await trigger(api, 'hello', { subscriberId: 'ada', firstName: 'Augusta', email: null, data: { new: true } })
    await server.drain()
    expect(await subscriber(api, 'ada')).toMatchObject({
      firstName: 'Augusta',
      lastName: 'L',
      email: null,
      data: { new: true },
    })
  })

  test('the message is rendered with what the trigger just set', async () => {
    const api = await freshApi('Hi {{subscriber.firstName}}')
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Old' })
    await trigger(api, 'hello', { subscriberId: 'ada', firstName: 'New' })
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'Hi New' }])
  })

  test('a recipient named twice gets one run, and the last definition counts', async () => {
    const api = await freshApi('{{subscriber.firstName}}')
    const transactionId = await trigger(api, 'hello', [
      { subscriberId: 'ada', firstName: 'First' },
      'bob',
      { subscriberId: 'ada', firstName: 'Last' },
      'bob',
    ])
    await server.drain()
    expect(idsOf(await runsOf(api, transactionId))).toEqual(['ada', 'bob'])
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'Last' }])
  })

  test('channels are added to existing ones; one without an integration is left out', async () => {
    const api = await freshApi()
    await addIntegration(server, api, { identifier: 'push', provider: 'fcm', channel: 'push' })
    await addIntegration(server, api, { identifier: 'chat', provider: 'slack', channel: 'chat' })
    const push = (...deviceTokens: string[]) => ({ providerId: 'fcm', credentials: { deviceTokens } })
    const slack = { providerId: 'slack', credentials: { webhookUrl: 'https://example.com' } }
    const events = [
      { name: 'hello', to: { subscriberId: 'ada', channels: [push('one'), { ...slack, providerId: 'discord' }] } },
      { name: 'hello', to: { subscriberId: 'ada', channels: [push('two', 'one'), slack] } },
    ]
    await api.post('/v1/events/trigger/bulk', { events })
    await server.drain()
    expect((await subscriber(api, 'ada')).channels).toMatchObject([
      { providerId: 'fcm', credentials: { deviceTokens: ['one', 'two'] } },
      { providerId: 'slack', credentials: slack.credentials },
    ])
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(2)
  })

  test('a new subscriber in many concurrent triggers is created once', async () => {
    const api = await freshApi()
    await Promise.all(Array.from({ length: 20 }, (_, n) => trigger(api, 'hello', { subscriberId: 'new', data: { n } })))
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=new')).toHaveLength(20)
    const { rows } = await sql`
      SELECT FROM subscribers WHERE environment_id = ${api.environmentId}`.execute(server.database.db)
    expect(rows).toHaveLength(1)
  })

  test('subscribers belong to their environment', async () => {
    const [one, other] = [await freshApi('Hi {{subscriber.firstName}}'), await freshApi('Hi {{subscriber.firstName}}')]
    await one.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'One' })
    await trigger(other, 'hello', 'ada')
    await server.drain()
    expect(await messagesOf(one, 'subscriberId=ada')).toEqual([])
    expect(await messagesOf(other, 'subscriberId=ada')).toMatchObject([{ content: 'Hi ' }])
  })

  test('texts that a template cuts inside a character are kept as far as possible', async () => {
    const api = await freshApi('{{payload.text | slice: 0, 2}}')
    const transactionId = await trigger(api, 'hello', 'ada', { payload: { text: 'a😀' } })
    await server.drain()
    expect((await runOf(api, transactionId)).status).toBe('completed')
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(1)
  })
})

describe('a transaction id', () => {
  test('that was used before starts nothing, whatever the workflow', async () => {
    const api = await freshApi()
    await makeWorkflow(api, 'other', [inApp('Other')])
    await trigger(api, 'hello', 'ada', { transactionId: 'once' })
    await server.drain()
    expect(await trigger(api, 'hello', 'ada', { transactionId: 'once' })).toBe('once')
    expect(await trigger(api, 'other', 'bob', { transactionId: 'once' })).toBe('once')
    await server.drain()
    expect(await messagesOf(api, 'channel=in_app')).toHaveLength(1)
    expect(await runsOf(api, 'once')).toHaveLength(1)
  })

  test('that arrives many times at once starts one run', async () => {
    const api = await freshApi()
    await Promise.all(Array.from({ length: 25 }, () => trigger(api, 'hello', 'ada', { transactionId: 'race' })))
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(1)
  })

  test('that arrives at two processes at once starts one run', async () => {
    const api = await freshApi()
    const another = await server.startAnother()
    const send = (url: string, n: number) =>
      fetch(`${url}/v1/events/trigger`, {
        method: 'POST',
        headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'hello', to: 'ada', transactionId: `both-${n % 5}` }),
      })
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) => send(n % 2 === 0 ? server.url : another.url, n)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(5)
  })

  test('belongs to its environment, and a refused trigger does not use it up', async () => {
    const [one, other] = [await freshApi(), await freshApi()]
    await makeWorkflow(one, 'asleep', [inApp()], { active: false })
    await one.post('/v1/events/trigger', { name: 'asleep', to: 'ada', transactionId: 'free' })
    await one.post('/v1/events/trigger', { name: 'hello', to: 'not valid!', transactionId: 'free' })
    await trigger(one, 'hello', 'ada', { transactionId: 'free' })
    await trigger(other, 'hello', 'ada', { transactionId: 'free' })
    await server.drain()
    expect(await messagesOf(one, 'subscriberId=ada')).toHaveLength(1)
    expect(await messagesOf(other, 'subscriberId=ada')).toHaveLength(1)
  })
})

describe('the actor', () => {
  test('is created or updated, readable by templates, and stored on the message', async () => {
    const api = await freshApi('{{actor.firstName}} ({{actor.subscriberId}})')
    await trigger(api, 'hello', 'ada', { actor: { subscriberId: 'bob', firstName: 'Bob' } })
    await trigger(api, 'hello', 'carol', { actor: 'dave' })
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'Bob (bob)' }])
    expect(await messagesOf(api, 'subscriberId=carol')).toMatchObject([{ content: ' (dave)' }])
    expect(await subscriber(api, 'bob')).toMatchObject({ firstName: 'Bob' })
    expect(await subscriber(api, 'dave')).toMatchObject({ subscriberId: 'dave' })
  })

  test('gets the notification too if named directly', async () => {
    const api = await freshApi()
    const transactionId = await trigger(api, 'hello', ['ada', 'bob'], { actor: 'bob' })
    await server.drain()
    expect(idsOf(await runsOf(api, transactionId))).toEqual(['ada', 'bob'])
  })
})

describe('the tenant', () => {
  const makeTenant = (api: Api) => api.post('/v1/tenants', { identifier: 'acme', name: 'Acme', data: { plan: 'pro' } })

  test('is readable by templates, and every step notes it', async () => {
    const api = await freshApi('{{tenant.name}} {{tenant.data.plan}} {{tenant.identifier}}')
    await makeTenant(api)
    const transactionId = await trigger(api, 'hello', 'ada', { tenant: 'acme' })
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'Acme pro acme' }])
    expect(storyOf(await runOf(api, transactionId))).toEqual([
      'in_app completed: Step queued, Tenant context selected, Message created, Message sent',
    ])
  })

  test('is updated by the trigger; the last one wins', async () => {
    const api = await freshApi('{{tenant.name}} {{tenant.data.plan}}')
    await makeTenant(api)
    const events = [
      { name: 'hello', to: 'ada', tenant: { identifier: 'acme', name: 'First' } },
      { name: 'hello', to: 'ada', tenant: { identifier: 'acme', name: 'Last' } },
      { name: 'hello', to: 'ada', tenant: { identifier: 'acme', data: { plan: 'team' } } },
    ]
    for (const event of events) await api.post('/v1/events/trigger', event)
    await server.drain()
    expect((await api.get('/v1/tenants/acme')).body).toMatchObject({ name: 'Last', data: { plan: 'team' } })
  })

  test('that was deleted meanwhile is reported missing, and the run goes on', async () => {
    const api = await freshApi('{{tenant.name}}!')
    await makeTenant(api)
    const transactionId = await trigger(api, 'hello', 'ada', { tenant: 'acme' })
    expect((await api.delete('/v1/tenants/acme')).status).toBe(204)
    await server.drain()
    expect(storyOf(await runOf(api, transactionId))).toEqual([
      'in_app completed: Step queued, Tenant identifier not found, Message created, Message sent',
    ])
  })
})

describe('contexts', () => {
  test('are created if missing and never changed; they are readable, and stored on run and message', async () => {
    const api = await freshApi('{{context.tenant.id}} {{context.tenant.data.plan}} {{context.app.id}}')
    await api.post('/v2/contexts', { type: 'tenant', id: 'acme', data: { plan: 'pro' } })
    const transactionId = await trigger(api, 'hello', 'ada', {
      context: { tenant: { id: 'acme', data: { plan: 'free' } }, app: 'web' },
    })
    await server.drain()
    const contextKeys = ['app:web', 'tenant:acme']
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'acme pro web', contextKeys }])
    expect(await runOf(api, transactionId)).toMatchObject({ contextKeys })
    expect((await api.get('/v2/contexts/tenant/acme')).body.data).toEqual({ plan: 'pro' })
    expect((await api.get('/v2/contexts/app/web')).body.data).toEqual({})
  })

  test('of concurrent triggers are created once, and the first data counts', async () => {
    const api = await freshApi('{{context.tenant.data.n}}')
    const events = Array.from({ length: 30 }, (_, n) => ({
      name: 'hello',
      to: 'ada',
      context: { tenant: { id: `t${n % 3}`, data: { n } }, app: 'web' },
    }))
    await api.post('/v1/events/trigger/bulk', { events })
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(30)
    expect((await api.get('/v2/contexts/tenant/t1')).body.data).toEqual({ n: 1 })
  })
})

describe('a run', () => {
  test('has a job for each active step, in order, and names its origin', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'two', [inApp('One'), { ...inApp('Off'), active: false }, inApp('Two')], {
      tags: ['a', 'b'],
      severity: 'high',
    })
    const transactionId = await trigger(api, 'two', { subscriberId: 'ada', firstName: 'Ada' }, { payload: { n: 1 } })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run).toMatchObject({
      transactionId,
      status: 'completed',
      channels: ['in_app'],
      tags: ['a', 'b'],
      severity: 'high',
      critical: false,
      contextKeys: [],
      payload: { n: 1 },
      to: { subscriberId: 'ada', firstName: 'Ada' },
      jobs: [
        { type: 'in_app', status: 'completed', step: { stepId: 'in_app-0' } },
        { type: 'in_app', status: 'completed', step: { stepId: 'in_app-2' } },
      ],
    })
    const messages = await messagesOf(api, 'subscriberId=ada')
    expect(messages.map(({ content }) => content).sort()).toEqual(['One', 'Two'])
    expect(messages[0]).toMatchObject({ tags: ['a', 'b'], severity: 'high' })
  })

  test.each([
    ['high', 'high'],
    ['none', 'none'],
    ['bogus', 'low'],
    [7, 'low'],
  ])('an override of severity %j makes it %s', async (severity, expected) => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'severe', [inApp()], { severity: 'low' })
    const transactionId = await trigger(api, 'severe', 'ada', { overrides: { severity } })
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.severity).toBe(expected)
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ severity: expected }])
    const overridden = expected === 'low' ? [] : ['Severity for the message was overridden']
    expect(storyOf(run)).toEqual([
      `in_app completed: ${['Step queued', ...overridden, 'Message created', 'Message sent'].join(', ')}`,
    ])
  })

  test('is critical if its workflow is', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'urgent', [inApp()], { preferences: { user: { all: { enabled: true, readOnly: true } } } })
    const transactionId = await trigger(api, 'urgent', 'ada')
    await server.drain()
    expect(await runOf(api, transactionId)).toMatchObject({ critical: true })
  })

  test('of a workflow deleted after the trigger was accepted still happens', async () => {
    const api = await freshApi()
    await trigger(api, 'hello', 'ada')
    expect((await api.delete('/v2/workflows/hello')).status).toBe(204)
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(1)
  })

  test('stores the time of the last trigger with its workflow, to five minutes', async () => {
    const api = await freshApi()
    const lastTriggered = async () => (await api.get('/v2/workflows/hello')).body.lastTriggeredAt
    expect(await lastTriggered()).toBeNull()
    await trigger(api, 'hello', 'ada', { payload: { __source: 'dashboard' } })
    await server.drain()
    expect(await lastTriggered()).toBeNull()
    const first = server.clock.now().toISOString()
    await trigger(api, 'hello', 'ada')
    await server.drain()
    expect(await lastTriggered()).toBe(first)
    server.clock.advance({ minutes: 4 })
    await trigger(api, 'hello', 'ada')
    await server.drain()
    expect(await lastTriggered()).toBe(first)
    server.clock.advance({ minutes: 1 })
    await trigger(api, 'hello', 'ada')
    await server.drain()
    expect(await lastTriggered()).toBe(server.clock.now().toISOString())
  })
})
