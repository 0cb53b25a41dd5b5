// Until its workflow is live, nothing of a trigger leaves; from then on it is delivered here and not passed on. files.md §7.
import { beforeEach, describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, pass, runOf, runsOf, trigger } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'
import { makeShadow, type Shadowed } from '../../../test/shadow.ts'
import { type Asked, useVendor } from '../../../test/vendor.ts'
import { makeEndpoint } from '../../../test/webhook-receiver.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
let shadow: Shadowed
/** Requests that arrived at a provider or at an application, by path. */
const sent = () => vendor.asked.map(({ path }: Asked) => path)

const email = {
  type: 'email',
  stepId: 'mail',
  controlValues: { subject: 'Hi {{payload.n}}', body: '<p>Body</p>', editorType: 'html' },
}
const sms = { type: 'sms', stepId: 'text', controlValues: { body: 'Text' } }
const push = { type: 'push', stepId: 'push', controlValues: { subject: 'Push', body: 'Body' } }
const chat = { type: 'chat', stepId: 'chat', controlValues: { body: 'Chat' } }
const digest = { type: 'digest', stepId: 'collect', controlValues: { type: 'regular', amount: 5, unit: 'minutes' } }

async function integrate(api: Api, providerId: string, channel: string, credentials: object, more: object = {}) {
  const answer = await api.post('/v1/integrations', {
    ...{
      providerId,
      channel,
      name: `${providerId} ${Math.random()}`,
      active: true,
      check: false,
      credentials,
      ...more,
    },
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  const made = answer.body
  if (channel === 'email' || channel === 'sms') await api.post(`/v1/integrations/${made._id}/set-primary`)
  return made
}

/** Real providers on all channels, which all lead to the vendor. */
async function integrateAll(api: Api): Promise<void> {
  const { url } = vendor
  await integrate(api, 'email-webhook', 'email', {
    webhookUrl: `${url}/mail-2`,
    secretKey: 's',
    from: 'us@example.com',
  })
  await integrate(api, 'email-webhook', 'email', {
    webhookUrl: `${url}/mail`,
    secretKey: 's',
    from: 'us@example.com',
  })
  await integrate(api, 'generic-sms', 'sms', {
    baseUrl: `${url}/sms`,
    apiKeyRequestHeader: 'k',
    apiKey: 'k',
    from: '+1555',
  })
  await integrate(api, 'push-webhook', 'push', { webhookUrl: `${url}/push`, secretKey: 's' })
  await integrate(api, 'chat-webhook', 'chat', { secretKey: 's' })
  await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com', phone: '+15551230000' })
  const tokens = { deviceTokens: ['device-1', 'device-2'] }
  expect(
    (await api.put('/v1/subscribers/ada/credentials', { providerId: 'push-webhook', credentials: tokens })).status,
  ).toBe(200)
  const webhook = { webhookUrl: `${url}/chat/secret` }
  expect(
    (await api.put('/v1/subscribers/ada/credentials', { providerId: 'chat-webhook', credentials: webhook })).status,
  ).toBe(200)
}

const sandboxed = async () =>
  (await shadow.here.get('/v1/sandbox/messages?limit=100')).body.data.map(
    ({ channel, to }: { channel: string; to: string[] }) => `${channel} ${to.join(' ')}`,
  )

const goLive = async (...live: string[]) => {
  const answer = await shadow.here.patch('/v2/shadow', { live })
  expect(answer, answer.text).toMatchObject({ status: 200, body: { live: live.toSorted() } })
}

beforeEach(async () => {
  shadow = await makeShadow(server)
  vendor.plays(() => ({ status: 200, body: { id: 'taken' } }))
})

describe('nothing of what was passed on leaves', () => {
  test('on every channel the sandbox takes it, as it would have gone out; real integrations are not called', async () => {
    await integrateAll(shadow.here)
    for (const api of [shadow.upstream, shadow.here]) await makeWorkflow(api, 'all', [email, sms, push, chat, inApp()])
    const id = await trigger(shadow.front, 'all', 'ada', { payload: { n: 1 } })
    await server.drain()
    expect(sent()).toEqual([])
    expect((await sandboxed()).sort()).toEqual([
      ...[
        `chat ${vendor.url}/chat/secret`,
        'email ada@example.com',
        'push device-1',
        'push device-2',
        'sms +15551230000',
      ],
    ])
    const run = await runOf(shadow.here, id)
    expect(run.jobs.map(({ status }: { status: string }) => status)).toEqual(
      Array.from({ length: 5 }, () => 'completed'),
    )
  })

  test('also if the trigger names an integration, none is active, or the sandbox was removed', async () => {
    await integrateAll(shadow.here)
    for (const api of [shadow.upstream, shadow.here]) await makeWorkflow(api, 'mail', [email, sms])
    const named = { overrides: { email: { integrationIdentifier: 'unknown' } } }
    await trigger(shadow.front, 'mail', 'ada', named)
    const { body } = await shadow.here.get('/v1/integrations')
    const data: Array<{ _id: string; channel: string }> = Array.isArray(body) ? body : body.data
    for (const { _id, channel } of data) if (channel !== 'in_app') await shadow.here.delete(`/v1/integrations/${_id}`)
    const id = await trigger(shadow.front, 'mail', 'ada')
    await server.drain()
    expect(sent()).toEqual([])
    expect(await sandboxed()).toHaveLength(4)
    expect((await runOf(shadow.here, id)).status).toBe('completed')
  })

  test('a failure of the sandbox is retried there; it never fails over, also when it is driven again', async () => {
    await integrateAll(shadow.here)
    for (const api of [shadow.upstream, shadow.here]) await makeWorkflow(api, 'mail', [email])
    await shadow.here.put('/v1/sandbox/faults', { channel: 'email', fault: 'server_error', count: 2 })
    await trigger(shadow.front, 'mail', 'ada', { transactionId: 'retried' })
    await server.drain()
    for (let look = 0; look < 6; look += 1) await pass(server, { hours: 2 })
    await shadow.here.put('/v1/sandbox/faults', { channel: 'email', fault: 'rejected', count: 1 })
    const id = await trigger(shadow.front, 'mail', 'ada', { transactionId: 'redriven' })
    await server.drain()
    expect((await runOf(shadow.here, id)).jobs[0].status).toBe('failed')
    await goLive('mail')
    const redriven = await shadow.here.post('/v1/deliveries/redrive', { transactionId: id })
    expect(redriven, redriven.text).toMatchObject({ status: 200 })
    await server.drain()
    expect((await runOf(shadow.here, id)).jobs[0].status).toBe('completed')
    expect(sent()).toEqual([])
    expect(await sandboxed()).toHaveLength(2)
  })

  test('waits and digests end in the sandbox, though their workflow went live meanwhile', async () => {
    await integrateAll(shadow.here)
    const late = { type: 'delay', stepId: 'wait', controlValues: { amount: 10, unit: 'minutes' } }
    for (const api of [shadow.upstream, shadow.here]) {
      await makeWorkflow(api, 'late', [late, email])
      await makeWorkflow(api, 'digested', [digest, email])
    }
    await trigger(shadow.front, 'late', 'ada')
    await trigger(shadow.front, 'digested', 'ada', { payload: { n: 1 } })
    await server.drain()
    await goLive('late', 'digested')
    await pass(server, { minutes: 11 })
    expect(sent()).toEqual([])
    expect(await sandboxed()).toEqual(['email ada@example.com', 'email ada@example.com'])
  })

  test('a workflow that a step starts, and questions', async () => {
    await integrateAll(shadow.here)
    const starts = { type: 'start_workflow', stepId: 'start', controlValues: { workflowId: 'child', to: 'ada' } }
    const ask = {
      ...{ type: 'ask', stepId: 'ask' },
      controlValues: {
        to: 'ada',
        question: 'Sure?',
        answers: [{ value: 'yes', label: 'Yes' }],
        channels: ['email', 'sms'],
      },
    }
    await makeWorkflow(shadow.here, 'child', [email])
    await makeWorkflow(shadow.here, 'parent', [starts, ask])
    await makeWorkflow(shadow.upstream, 'parent', [inApp()])
    await goLive('child')
    const id = await trigger(shadow.front, 'parent', 'ada')
    await server.drain()
    expect((await runOf(shadow.here, id)).jobs[0].status).toBe('completed')
    expect(sent()).toEqual([])
    expect((await sandboxed()).filter((each: string) => each.startsWith('email')).length).toBeGreaterThan(0)
  })

  test('webhooks do not tell of it, HTTP requests that change something are not made, those that read are', async () => {
    const { url } = vendor
    const call = (method: string) => ({
      ...{ type: 'http_request', stepId: method.toLowerCase(), controlValues: { method, url: `${url}/${method}` } },
    })
    await makeEndpoint(shadow.here, vendor, { eventTypes: ['message.sent'] })
    await makeWorkflow(shadow.upstream, 'calls', [inApp()])
    await makeWorkflow(shadow.here, 'calls', [call('GET'), call('POST'), inApp()])
    const id = await trigger(shadow.front, 'calls', 'ada')
    await server.drain()
    expect(sent()).toEqual(['/GET'])
    const run = await runOf(shadow.here, id)
    expect(run.jobs.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed', 'completed'])
    expect(JSON.stringify(run.jobs[1].executionDetails)).toContain('The request was not made')
    await goLive('calls')
    await trigger(shadow.front, 'calls', 'ada')
    await server.drain()
    expect(sent().toSorted()).toEqual(['/GET', '/GET', '/POST', '/hooks'])
  })

  test('triggers of the dashboard and of `Belfry-Shadow: here` do not leave either', async () => {
    await integrateAll(shadow.here)
    await makeWorkflow(shadow.here, 'mail', [email])
    const id = await trigger(shadow.here, 'mail', 'ada')
    await server.drain()
    const run = await runOf(shadow.here, id)
    await shadow.here.post(`/v1/notifications/${run._id}/replay`)
    await server.drain()
    expect(sent()).toEqual([])
    expect(await sandboxed()).toHaveLength(2)
  })
})

describe('a live workflow', () => {
  beforeEach(async () => {
    await integrateAll(shadow.here)
    for (const api of [shadow.upstream, shadow.here]) {
      await makeWorkflow(api, 'mail', [email])
      await makeWorkflow(api, 'other', [inApp('Other')])
    }
  })

  test('is delivered here and not passed on; taking it out again goes back', async () => {
    await goLive('mail')
    const live = await trigger(shadow.front, 'mail', 'ada', { payload: { n: 1 } })
    await server.drain()
    expect(sent()).toEqual(['/mail'])
    expect(await runsOf(shadow.upstream, live)).toEqual([])
    expect(await runsOf(shadow.here, live)).toHaveLength(1)
    await goLive()
    const back = await trigger(shadow.front, 'mail', 'ada', { payload: { n: 2 } })
    await server.drain()
    expect(sent()).toEqual(['/mail'])
    expect(await runsOf(shadow.upstream, back)).toHaveLength(1)
    expect((await shadow.here.get('/v2/shadow/report')).body).toMatchObject({ triggers: 1 })
  })

  test('of a bulk request each event goes its own way, and the answers keep their order', async () => {
    await goLive('mail')
    const events = ['mail', 'other', 'mail', 'other'].map((name, n) => ({
      name,
      to: 'ada',
      payload: { n },
      transactionId: `t-${n}`,
    }))
    const answer = await shadow.front.post('/v1/events/trigger/bulk', { events })
    expect(answer.body.map(({ transactionId }: { transactionId: string }) => transactionId)).toEqual([
      't-0',
      't-1',
      't-2',
      't-3',
    ])
    await server.drain()
    expect(sent()).toEqual(['/mail', '/mail'])
    const there = await Promise.all(
      events.map(async ({ transactionId }) => (await runsOf(shadow.upstream, transactionId)).length),
    )
    expect(there).toEqual([0, 1, 0, 1])
    for (const { transactionId } of events) expect(await runsOf(shadow.here, transactionId)).toHaveLength(1)
  })

  test('a live event that is refused here is an error of its own', async () => {
    await goLive('mail')
    const answer = await shadow.front.post('/v1/events/trigger/bulk', {
      events: [
        { name: 'other', to: 'ada' },
        { name: 'mail', to: { subscriberId: 'ada', email: 'no address' } },
      ],
    })
    expect(answer.body).toMatchObject([{ status: 'processed' }, { status: 'error', error: [expect.any(String)] }])
  })

  test('can be cancelled, repeated by its idempotency key, and works while the other service is away', async () => {
    const late = { type: 'delay', stepId: 'wait', controlValues: { amount: 10, unit: 'minutes' } }
    await makeWorkflow(shadow.here, 'late', [late, email])
    await goLive('mail', 'late')
    await shadow.here.patch('/v2/shadow', { upstreamUrl: 'http://127.0.0.1:1' })
    const waiting = await trigger(shadow.front, 'late', 'ada')
    await server.drain()
    expect(await shadow.front.delete(`/v1/events/trigger/${waiting}`)).toMatchObject({ status: 200, body: true })
    const key = { 'idempotency-key': 'once' }
    const first = await shadow.front.post('/v1/events/trigger', { name: 'mail', to: 'ada' }, key)
    const again = await shadow.front.post('/v1/events/trigger', { name: 'mail', to: 'ada' }, key)
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replay')).toBe('true')
    await server.drain()
    expect(sent()).toEqual(['/mail'])
    expect(await shadow.front.post('/v1/events/trigger', { name: 'other', to: 'ada' })).toMatchObject({ status: 502 })
  })

  test('is cancelled by its key, with what was passed on under the same key', async () => {
    const late = { type: 'delay', stepId: 'wait', controlValues: { amount: 10, unit: 'minutes' } }
    for (const side of [shadow.upstream, shadow.here])
      for (const workflowId of ['late', 'there']) await makeWorkflow(side, workflowId, [late, email])
    await goLive('late')
    const ids = []
    for (const name of ['late', 'there'])
      ids.push(await trigger(shadow.front, name, 'ada', { cancellationKey: 'order-7' }))
    await server.drain()
    const answer = await shadow.front.post('/v1/events/cancel', { key: 'order-7' })
    expect(answer).toMatchObject({ status: 200, body: { canceled: 2 } })
    const waits = async (side: Api, id = '') => (await runsOf(side, id)).map(({ jobs }) => jobs[0].status)
    expect(await waits(shadow.here, ids[0])).toEqual(['canceled'])
    expect(await waits(shadow.upstream, ids[1])).toEqual(['canceled'])

    vendor.plays(() => ({ status: 503, body: {} }))
    await shadow.here.patch('/v2/shadow', { upstreamUrl: vendor.url })
    expect(await shadow.front.post('/v1/events/cancel', { key: 'order-7' })).toMatchObject({ status: 503 })
    vendor.plays(() => ({ status: 404, body: {} }))
    expect(await shadow.front.post('/v1/events/cancel', { key: 'order-7' })).toMatchObject({ status: 200 })

    // Whoever is told that the other service gave no answer asks again; what is delivered here is cancelled at once.
    const alone = await trigger(shadow.front, 'late', 'ada', { cancellationKey: 'order-8' })
    await server.drain()
    await shadow.here.patch('/v2/shadow', { upstreamUrl: 'http://127.0.0.1:1' })
    expect(await shadow.front.post('/v1/events/cancel', { key: 'order-8' })).toMatchObject({ status: 502 })
    expect(await waits(shadow.here, alone)).toEqual(['canceled'])
  })

  test('shares no digest with what was passed on: each event is sent by one side', async () => {
    for (const api of [shadow.upstream, shadow.here]) await makeWorkflow(api, 'digested', [digest, email])
    const upstreamMail = { webhookUrl: `${vendor.url}/there`, secretKey: 's', from: 'us@example.com' }
    await integrate(shadow.upstream, 'email-webhook', 'email', upstreamMail)
    await shadow.upstream.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    await trigger(shadow.front, 'digested', 'ada', { payload: { n: 1 } })
    await server.drain()
    await goLive('digested')
    await trigger(shadow.front, 'digested', 'ada', { payload: { n: 2 } })
    await server.drain()
    await goLive()
    await trigger(shadow.front, 'digested', 'ada', { payload: { n: 3 } })
    await server.drain()
    await pass(server, { minutes: 6 })
    expect(sent().toSorted()).toEqual(['/mail', '/there'])
    const subjects = vendor.asked.map(({ path, body }) => [path, JSON.parse(body).subject])
    expect(subjects).toContainEqual(['/mail', 'Hi 2'])
  })

  test('what was not passed on is delivered, though its workflow was taken out meanwhile', async () => {
    const late = { type: 'delay', stepId: 'wait', controlValues: { amount: 10, unit: 'minutes' } }
    for (const api of [shadow.upstream, shadow.here]) await makeWorkflow(api, 'late', [late, email])
    await goLive('late')
    await trigger(shadow.front, 'late', 'ada')
    await server.drain()
    await goLive()
    await pass(server, { minutes: 11 })
    expect(sent()).toEqual(['/mail'])
  })

  test('starts only live workflows for real', async () => {
    const starts = (workflowId: string) => ({
      type: 'start_workflow',
      stepId: workflowId,
      controlValues: { workflowId, to: 'ada' },
    })
    await makeWorkflow(shadow.here, 'quiet', [sms])
    await makeWorkflow(shadow.here, 'parent', [starts('mail'), starts('quiet')])
    await goLive('parent', 'mail')
    await trigger(shadow.front, 'parent', 'ada')
    await server.drain()
    expect(sent()).toEqual(['/mail'])
    expect(await sandboxed()).toEqual(['sms +15551230000'])
  })

  test('one that was delivered here is not passed on when it is repeated after its workflow was taken out', async () => {
    await goLive('mail')
    const event = { name: 'mail', to: 'ada', payload: { n: 1 }, transactionId: 'again' }
    const many = ['again-1', 'again-2'].map((transactionId) => ({ ...event, transactionId }))
    const first = await shadow.front.post('/v1/events/trigger', event)
    await shadow.front.post('/v1/events/trigger/bulk', { events: many })
    await server.drain()
    const before = sent()
    expect(before).toHaveLength(3)
    await goLive()
    const again = await shadow.front.post('/v1/events/trigger', event)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    const fresh = { ...event, transactionId: 'fresh' }
    const mixed = await shadow.front.post('/v1/events/trigger/bulk', { events: [many[0], fresh, many[1]] })
    expect(mixed.body.map(({ transactionId }: { transactionId: string }) => transactionId)).toEqual([
      ...['again-1', 'fresh', 'again-2'],
    ])
    await server.drain()
    expect(sent()).toEqual(before)
    // Whatever the service behind says of it.
    expect((await shadow.front.post('/v1/events/trigger', { ...event, transactionId: 'a\0b' })).status).toBeLessThan(
      500,
    )
    for (const id of ['again', 'again-1', 'again-2']) expect(await runsOf(shadow.upstream, id)).toEqual([])
    expect(await runsOf(shadow.upstream, 'fresh')).toHaveLength(1)
  })

  test('many triggers through two processes, while it is switched, go one way each', async () => {
    const another = await server.startAnother()
    const { key, environmentId, organizationId } = shadow.front
    const fronts = [shadow.front, new Api(another.url, key, environmentId, organizationId)]
    let isRunning = true
    const switching = (async () => {
      while (isRunning) {
        await goLive('mail')
        await goLive()
      }
    })()
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        trigger(fronts[n % 2] as Api, 'mail', 'ada', { payload: { n }, transactionId: `s-${n}` }),
      ),
    )
    isRunning = false
    await switching
    await server.drain()
    const there = await Promise.all(ids.map(async (id) => (await runsOf(shadow.upstream, id)).length))
    const here = vendor.asked.map(({ body }) => Number(JSON.parse(body).payloadDetails.n))
    expect(here.toSorted()).toEqual([...ids.keys()].filter((n) => there[n] === 0).toSorted())
  })
})
