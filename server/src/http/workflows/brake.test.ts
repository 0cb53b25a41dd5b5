import { createHmac } from 'node:crypto'
import { SMTPServer } from 'smtp-server'
import { afterAll, describe, expect, test } from 'vitest'
import { drainBySeveral, makeWorkflow, messagesOf, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }

interface Mailing {
  api: Api
  /** The ids by which the provider knows the mails, in their order. */
  ids: string[]
  report(...events: object[]): Promise<number>
}

async function prepared({
  api,
  brakes = {},
  more = {},
  steps = [email],
}: {
  api?: Api
  brakes?: object
  more?: object
  steps?: Step[]
} = {}): Promise<Mailing> {
  const own = api ?? (await server.freshApi())
  const ids: string[] = []
  vendor.plays(({ body, path }) => {
    if (path === '/mail') ids.push(JSON.parse(body).id)
    return { body: {} }
  })
  const made = await own.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', name: 'Mail', identifier: `mail-${own.environmentId}` },
    ...{ active: true, configurations: { inboundWebhookEnabled: true } },
    credentials: { webhookUrl: `${vendor.url}/mail`, secretKey: 'key', from: 'news@acme.example' },
  })
  expect(made, made.text).toMatchObject({ status: 201 })
  const set = await own.patch(`/v2/environments/${own.environmentId}/consent`, {
    brakes: { minimum: 10, bouncePercent: 10, complaintPercent: 5, ...brakes },
  })
  expect(set, set.text).toMatchObject({ status: 200 })
  await makeWorkflow(own, 'news', steps, { messageClass: 'commercial', ...more })
  const inbound = `${server.url}/v2/inbound-webhooks/delivery-providers/${own.environmentId}/${made.body._id}`
  const report = async (...events: object[]) => {
    const text = JSON.stringify({ events })
    const signature = createHmac('sha256', 'key').update(text).digest('hex')
    const headers = { 'content-type': 'application/json', 'x-svc-signature': signature }
    return (await sendTo(inbound, 'POST', text, headers)).status
  }
  return { api: own, ids, report }
}

let people = 0
/** To so many new people. */
async function send(api: Api, count: number, name = 'news'): Promise<void> {
  const to = Array.from({ length: count }, () => {
    people += 1
    return { subscriberId: `p-${people}`, email: `p-${people}@example.com`, phone: '+14155550123' }
  })
  await trigger(api, name, to)
  await drainBySeveral(server)
}

const bounce = (id: string | undefined, eventId = id) => ({ id, eventId, status: 'bounced', permanent: true })
const complaint = (id: string | undefined) => ({ id, eventId: `${id} c`, status: 'complaint' })
const workflowOf = async (api: Api) => (await api.get('/v2/workflows/news')).body
const brakeOf = async (api: Api) => (await workflowOf(api)).brake

describe('too many bounces', () => {
  test('brake the email of the workflow, until it is released, and what failed is sent again', async () => {
    const sms: Step = { type: 'sms', controlValues: { body: 'Hi' } }
    const { development } = await server.freshOrganization()
    const { api, ids, report } = await prepared({ api: development, steps: [email, sms] })
    await makeWorkflow(api, 'other', [email], { messageClass: 'commercial' })
    await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hooks` })
    expect(await brakeOf(api)).toBeNull()
    await send(api, 20)
    expect(ids).toHaveLength(20)
    expect(await report(bounce(ids[0]))).toBe(200)
    expect(await brakeOf(api)).toBeNull()
    expect(await report(bounce(ids[1]))).toBe(200)
    const brake = { since: server.clock.now().toISOString(), cause: 'bounces', percent: 10, sent: 20, counted: 2 }
    expect(await brakeOf(api)).toEqual(brake)
    expect((await api.get('/v2/workflows')).body.workflows).toContainEqual(
      expect.objectContaining({ workflowId: 'news', messageClass: 'commercial', brake }),
    )
    expect((await api.get('/v2/workflows/news/brake')).body).toMatchObject({
      brake,
      data: [
        { cause: 'bounces', address: expect.stringMatching(/^p-\d+@example\.com$/), error: 'Message bounced' },
        { cause: 'bounces' },
      ],
    })

    await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com', phone: '+14155550123' })
    const transactionId = await trigger(api, 'news', 'ada')
    await server.drain()
    expect(ids).toHaveLength(20)
    const run = await runOf(api, transactionId)
    expect(run.jobs).toMatchObject([
      { type: 'email', status: 'failed', reason: 'braked' },
      { type: 'sms', status: 'completed' },
    ])
    const line = run.jobs[0].executionDetails.at(-1)
    expect(line).toMatchObject({
      detail: 'The workflow is braked: too much of its mail bounced or was complained about',
      status: 'Failed',
    })
    expect(JSON.parse(line.raw)).toEqual({ since: brake.since, cause: 'bounces', percent: 10 })
    expect(await messagesOf(api, 'subscriberId=ada&channel=email')).toMatchObject([
      { status: 'error', errorText: 'braked' },
    ])
    await send(api, 1, 'other')
    expect(ids).toHaveLength(21)

    const [delivery] = (await api.get('/v1/deliveries?reason=braked')).body.data
    expect(delivery).toMatchObject({ subscriberId: 'ada', reason: 'braked', channel: 'email' })
    await api.post(`/v1/deliveries/${delivery.id}/redrive`)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'braked' })

    const released = await api.post('/v2/workflows/news/release-brake')
    expect(released).toMatchObject({ status: 200, body: { workflowId: 'news', brake: null } })
    expect(await api.post('/v2/workflows/news/release-brake')).toMatchObject({
      status: 409,
      body: { code: 'workflow_not_braked', message: 'Workflow news is not braked' },
    })
    expect(await api.post('/v2/workflows/nothing/release-brake')).toMatchObject({ status: 404 })
    expect(await api.post(`/v1/deliveries/${delivery.id}/redrive`)).toMatchObject({ status: 200 })
    await server.drain()
    expect(ids).toHaveLength(22)
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'completed' })

    const events = (await api.get('/v2/webhooks/events?limit=100')).body.data as Array<{ type: string; data: object }>
    const told = events.filter(({ type }) => /brake/.test(type))
    expect(told.map(({ type }) => type).sort()).toEqual(['workflow.brake-released', 'workflow.braked'])
    expect(told.find(({ type }) => type === 'workflow.braked')?.data).toMatchObject({
      object: { workflowId: 'news', brake },
    })
    const { rows } = await server.database.pool.query(
      'SELECT action, actor_type, target_name, details FROM audit_log WHERE acted_in = $1 AND action LIKE $2 ORDER BY number',
      [api.environmentId, 'workflow.brake%'],
    )
    expect(rows).toMatchObject([
      { action: 'workflow.braked', actor_type: 'system', target_name: 'news', details: { cause: 'bounces', sent: 20 } },
      { action: 'workflow.brake-released', actor_type: 'api-key' },
    ])
  })

  test('that arrive together pull it once, and count together', async () => {
    const { api, ids, report } = await prepared({ brakes: { bouncePercent: 50 } })
    await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hooks` })
    await send(api, 20)
    // None of them would do alone.
    expect(await Promise.all(ids.slice(0, 10).map((id) => report(bounce(id))))).toEqual(Array(10).fill(200))
    expect(await brakeOf(api)).toMatchObject({ percent: 50, sent: 20, counted: 10 })
    await Promise.all(ids.slice(10).map((id) => report(bounce(id))))
    expect(await brakeOf(api)).toMatchObject({ counted: 10 })
    const events = (await api.get('/v2/webhooks/events?limit=100')).body.data as Array<{ type: string }>
    expect(events.filter(({ type }) => type === 'workflow.braked')).toHaveLength(1)
  })

  test('of one message count once', async () => {
    const { api, ids, report } = await prepared()
    await send(api, 20)
    for (const eventId of ['a', 'b', 'c']) await report(bounce(ids[0], eventId))
    expect(await brakeOf(api)).toBeNull()
  })
})

test('complaints have a share of their own', async () => {
  const { api, ids, report } = await prepared({ brakes: { bouncePercent: 100 } })
  await send(api, 20)
  await report(bounce(ids[0]))
  expect(await brakeOf(api)).toBeNull()
  await report(complaint(ids[0]))
  expect(await brakeOf(api)).toMatchObject({ cause: 'complaints', percent: 5, sent: 20, counted: 1 })
})

test.each([
  ['of too few emails', { brakes: { minimum: 21 } }, 20],
  ['where brakes are off', { brakes: { enabled: false } }, 20],
  ['of a transactional workflow', { more: { messageClass: 'transactional' } }, 20],
])('bounces %s brake nothing', async (_, options, count) => {
  const { api, ids, report } = await prepared(options)
  await send(api, count)
  await report(...ids.map((id) => bounce(id)))
  expect(await brakeOf(api)).toBeNull()
})

test('a bounce that passes is no reason to brake', async () => {
  const { api, ids, report } = await prepared()
  await send(api, 20)
  await report(...ids.map((id) => ({ id, eventId: id, status: 'bounced' })))
  expect(await brakeOf(api)).toBeNull()
})

test('only the emails of the last hours count, however late their reports come', async () => {
  const { api, ids, report } = await prepared({ brakes: { hours: 2 } })
  await send(api, 20)
  server.clock.advance({ hours: 2 })
  await report(...ids.map((id) => bounce(id)))
  expect(await brakeOf(api)).toBeNull()
  await send(api, 10)
  await report(bounce(ids[20]))
  expect(await brakeOf(api)).toMatchObject({ sent: 10, counted: 1, percent: 10 })
})

test('counts begin anew when it is released', async () => {
  const { api, ids, report } = await prepared()
  await send(api, 10)
  await report(bounce(ids[0]))
  expect(await brakeOf(api)).toMatchObject({ sent: 10 })
  server.clock.advance({ minutes: 1 })
  expect(await api.post('/v2/workflows/news/release-brake')).toMatchObject({ status: 200 })
  // Of what was sent before.
  await report(bounce(ids[1]), bounce(ids[2]))
  expect(await brakeOf(api)).toBeNull()
  server.clock.advance({ minutes: 1 })
  await send(api, 9)
  await report(bounce(ids[10]))
  expect(await brakeOf(api)).toBeNull()
  await send(api, 1)
  await report(bounce(ids[11]))
  expect(await brakeOf(api)).toMatchObject({ sent: 10, counted: 2 })
})

test('a retry that waits ends as braked at its next turn', async () => {
  const { api, ids, report } = await prepared()
  await send(api, 10)
  vendor.plays(() => ({ status: 503, body: {} }))
  const transactionId = await trigger(api, 'news', { subscriberId: 'ada', email: 'ada@example.com' })
  await server.drain()
  const asked = vendor.asked.length
  await report(bounce(ids[0]))
  server.clock.advance({ minutes: 10 })
  await server.drain()
  expect(vendor.asked).toHaveLength(asked)
  expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'braked' })
})

test('it stays through a save, is of commercial mail only, and goes with the workflow', async () => {
  const { api, ids, report } = await prepared()
  await send(api, 10)
  await report(bounce(ids[0]))
  const workflow = await workflowOf(api)
  const saved = await api.put('/v2/workflows/news', { ...workflow, name: 'News', preferences: {} })
  expect(saved, saved.text).toMatchObject({ status: 200, body: { brake: { sent: 10 } } })
  expect(await api.patch('/v2/workflows/news', { messageClass: 'transactional' })).toMatchObject({
    body: { brake: null },
  })
  await send(api, 1)
  expect(ids).toHaveLength(11)
  expect(await api.patch('/v2/workflows/news', { messageClass: 'commercial' })).toMatchObject({
    body: { brake: { sent: 10 } },
  })
  await send(api, 1)
  expect(ids).toHaveLength(11)
  const { body: copy } = await api.post('/v2/workflows/news/duplicate', {})
  expect(copy).toMatchObject({ messageClass: 'commercial', brake: null })
  await api.delete('/v2/workflows/news')
  await makeWorkflow(api, 'news', [email], { messageClass: 'commercial' })
  expect(await brakeOf(api)).toBeNull()
})

test('publishing carries no brake', async () => {
  const { development, production } = await server.freshOrganizationWide()
  const { api, ids, report } = await prepared({ api: development })
  await send(api, 10)
  await report(bounce(ids[0]))
  expect(await brakeOf(api)).toMatchObject({ sent: 10 })
  const answer = await api.put('/v2/workflows/news/sync', { targetEnvironmentId: production.environmentId })
  expect(answer, answer.text).toMatchObject({ status: 200, body: { messageClass: 'commercial', brake: null } })
  expect(await brakeOf(production)).toBeNull()
})

describe('a recipient who is refused during the call', () => {
  const servers: SMTPServer[] = []
  afterAll(() => Promise.all(servers.map((each) => new Promise<void>((done) => each.close(done)))))

  /** Refuses everybody whose name begins so. */
  async function mailServer(reply: string): Promise<number> {
    const smtp = new SMTPServer({
      ...{ allowInsecureAuth: true, disabledCommands: ['STARTTLS'], closeTimeout: 10 },
      onAuth: (_auth, _session, done) => done(null, { user: 'u' }),
      onRcptTo({ address }, _session, done) {
        const error = Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })
        done(address.toLowerCase().startsWith('gone') ? error : null)
      },
      onData(stream, _session, done) {
        stream.on('end', () => done()).resume()
      },
    })
    servers.push(smtp)
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', () => resolve()))
    return (smtp.server.address() as { port: number }).port
  }

  async function overSmtp(reply: string, more: object = {}): Promise<Api> {
    const api = await server.freshApi()
    const made = await api.post('/v1/integrations', {
      ...{ providerId: 'nodemailer', channel: 'email', name: 'SMTP', active: true },
      credentials: {
        ...{ host: '127.0.0.1', port: String(await mailServer(reply)), from: 'news@acme.example' },
        ...{ user: 'u', password: 'p', ignoreTls: true },
      },
    })
    expect(made, made.text).toMatchObject({ status: 201 })
    await api.patch(`/v2/environments/${api.environmentId}/consent`, { brakes: { minimum: 10, bouncePercent: 20 } })
    await makeWorkflow(api, 'news', [email], more)
    return api
  }
  const entries = async (api: Api) => (await api.get('/v1/suppressions')).body.data

  test.each(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10', '5.2.1'])('with %s is a hard bounce', async (status) => {
    const api = await overSmtp(`550 ${status} No such user`)
    const transactionId = await trigger(api, 'news', { subscriberId: 'ada', email: 'Gone@example.com' })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'provider_refused' })
    const [{ _id }] = await messagesOf(api, 'channel=email')
    expect(await entries(api)).toMatchObject([
      {
        ...{ reason: 'hard_bounce', scope: { type: 'all' }, source: 'provider', address: 'gone@example.com' },
        ...{ subscriberId: 'ada', messageId: _id, integrationId: expect.any(String), expiresAt: null },
      },
    ])
  })

  test.each(['550 5.7.1 Not wanted', '550 5.2.2 Mailbox full', '550 5.1.11 Something else', '550 Go away'])(
    'with %j is none',
    async (reply) => {
      const api = await overSmtp(reply)
      await trigger(api, 'news', { subscriberId: 'ada', email: 'gone@example.com' })
      await server.drain()
      expect(await entries(api)).toEqual([])
    },
  )

  test('is the only one of several who gets an entry', async () => {
    const api = await overSmtp('550 5.1.1 No such user')
    const overrides = { email: { cc: ['gone@example.com'] } }
    const to = { subscriberId: 'ada', email: 'ada@example.com' }
    const transactionId = await trigger(api, 'news', to, { overrides })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'completed' })
    expect(await entries(api)).toMatchObject([{ reason: 'hard_bounce', address: 'gone@example.com' }])
  })

  test('in a test of the integration, or in another environment, gets none', async () => {
    const api = await overSmtp('550 5.1.1 No such user')
    const [{ _id }] = (await api.get('/v1/integrations')).body.filter(({ name }: { name: string }) => name === 'SMTP')
    expect((await api.post(`/v1/integrations/${_id}/test`, { to: 'gone@example.com' })).text).toContain('5.1.1')
    expect(await entries(api)).toEqual([])
    await trigger(api, 'news', { subscriberId: 'ada', email: 'gone@example.com' })
    await server.drain()
    expect(await entries(api)).toHaveLength(1)
    expect(await entries(await server.freshApi())).toEqual([])
  })

  test('counts for the brake of commercial mail', async () => {
    const api = await overSmtp('550 5.1.1 No such user', { messageClass: 'commercial' })
    const to = (name: string, count: number) =>
      Array.from({ length: count }, (_, each) => ({
        subscriberId: `${name}${each}`,
        email: `${name}${each}@a.example`,
      }))
    await trigger(api, 'news', [...to('here', 8), ...to('gone', 1)])
    await server.drain()
    expect(await brakeOf(api)).toBeNull()
    await trigger(api, 'news', { subscriberId: 'gone-too', email: 'gone-too@a.example' })
    await server.drain()
    expect(await brakeOf(api)).toMatchObject({ cause: 'bounces', percent: 20, sent: 10, counted: 2 })
  })
})
