import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, test } from 'vitest'
import {
  drainBySeveral,
  makeWorkflow,
  messagesOf,
  prefer,
  runOf,
  runsOf,
  type Step,
  storyOf,
  trigger,
} from '../../../test/runs.ts'
import { type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { hashOfAddress, lockOfHash } from '../../db/core/addresses.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const accepted = { body: {} }
const down = { status: 503, body: {} }
const address = 'ada@example.com'
const ada = { subscriberId: 'ada', email: address, phone: '+14155550123' }
const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }
const sms: Step = { type: 'sms', controlValues: { body: 'Hi' } }
const line = 'The recipient is on the suppression list'

async function integrate(api: Api, name = 'mail'): Promise<string> {
  const answer = await api.post('/v1/integrations', {
    ...{
      providerId: 'email-webhook',
      channel: 'email',
      name,
      identifier: `${name}-${api.environmentId}`,
      active: true,
    },
    credentials: { webhookUrl: `${vendor.url}/${name}`, secretKey: 'x', from: 'a@acme.example', senderName: 'Acme' },
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

/** A production environment whose mail goes to the vendor. */
async function prepared({ names = ['mail'], more = {} }: { names?: string[]; more?: object } = {}): Promise<Api> {
  const api = await server.freshApi()
  for (const name of names) await integrate(api, name)
  await makeWorkflow(api, 'news', [email], more)
  vendor.plays(() => accepted)
  return api
}

async function suppress(api: Api, more: object = {}): Promise<{ _id: string }> {
  const answer = await api.post('/v1/suppressions', { channel: 'email', address, ...more })
  expect(answer, answer.text).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
  return answer.body
}

const send = async (api: Api, more: object = {}, to: unknown = ada) => {
  const transactionId = await trigger(api, 'news', to, more)
  await server.drain()
  return transactionId
}
const sentTo = () => vendor.asked.map(({ body }) => JSON.parse(body) as { to: string[]; cc: string[]; bcc: string[] })

describe('somebody on the list', () => {
  test('gets nothing, and the run says why', async () => {
    const api = await prepared()
    const { _id } = await suppress(api, { address: 'ADA@example.com' })
    const run = await runOf(api, await send(api))
    expect(vendor.asked).toEqual([])
    expect(storyOf(run)).toEqual([
      `email canceled: Step queued, Email Webhook provider was selected, Layout selected, Message created, ${line}`,
    ])
    expect(run).toMatchObject({
      status: 'completed',
      deliveryLifecycle: { status: 'skipped', detail: 'suppressed' },
      jobs: [{ status: 'canceled', reason: 'suppressed' }],
    })
    const told = run.jobs[0].executionDetails.find(({ detail }: { detail: string }) => detail === line)
    expect(told).toMatchObject({ status: 'Success' })
    expect(JSON.parse(told.raw)).toEqual({
      ...{ channel: 'email', reason: 'manual', scope: { type: 'all' }, suppressionId: _id },
      since: server.clock.now().toISOString(),
    })
    expect(await messagesOf(api, 'channel=email')).toMatchObject([{ status: 'warning', errorText: 'suppressed' }])
  })

  test('is told to webhooks as a failed message', async () => {
    const api = await prepared()
    await api.post('/v2/webhooks/endpoints', { url: `${vendor.url}/hook` })
    await suppress(api)
    await send(api)
    const events = (await api.get('/v2/webhooks/events')).body.data
    expect(events.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['suppression.created', 'message.failed']),
    )
    const of = (type: string) => events.find((event: { type: string }) => event.type === type).data
    expect(of('message.failed').error).toEqual({ message: 'suppressed' })
    expect(of('suppression.created').object).toMatchObject({
      channel: 'email',
      address,
      reason: 'manual',
      scope: { type: 'all' },
    })
  })

  test('gets it again once the entry has expired or is removed', async () => {
    const api = await prepared()
    const expiresAt = new Date(server.clock.now().getTime() + 60_000).toISOString()
    await suppress(api, { expiresAt })
    await send(api)
    expect(vendor.asked).toHaveLength(0)
    server.clock.advance({ minutes: 1 })
    await send(api)
    expect(vendor.asked).toHaveLength(1)
    const { _id } = await suppress(api)
    await send(api)
    expect(vendor.asked).toHaveLength(1)
    expect(await api.delete(`/v1/suppressions/${_id}`)).toMatchObject({ status: 204 })
    await send(api)
    expect(vendor.asked).toHaveLength(2)
  })

  test('still gets critical mail, unless the address is dead or its owner complained', async () => {
    const api = await prepared({
      more: { preferences: { user: null, workflow: { all: { enabled: true, readOnly: true } } } },
    })
    await suppress(api)
    await send(api)
    expect(vendor.asked).toHaveLength(1)
    await suppress(api, { reason: 'hard_bounce' })
    await send(api)
    expect(vendor.asked).toHaveLength(1)
  })

  test('gets nothing of a workflow that was critical when its run began and is commercial now', async () => {
    const preferences = (readOnly: boolean) => ({ user: null, workflow: { all: { enabled: true, readOnly } } })
    const api = await prepared()
    const delay: Step = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }
    for (const name of ['refused', 'paused'])
      await makeWorkflow(api, name, [delay, email], { preferences: preferences(true) })
    const bob = { subscriberId: 'bob', email: 'bob@example.com' }
    const runs = [await trigger(api, 'refused', ada), await trigger(api, 'paused', bob)]
    await server.drain()
    for (const name of ['refused', 'paused']) {
      const { body } = await api.get(`/v2/workflows/${name}`)
      const { steps, origin } = body
      const changed = { name, steps, origin, preferences: preferences(false), messageClass: 'commercial' }
      const answer = await api.put(`/v2/workflows/${name}`, changed)
      expect(answer, answer.text).toMatchObject({ status: 200, body: { messageClass: 'commercial' } })
    }
    await suppress(api, { reason: 'unsubscribe', scope: { type: 'commercial' } })
    const snoozedUntil = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
    const paused = await api.patch('/v2/subscribers/bob/preferences', { snoozedUntil })
    expect(paused, paused.text).toMatchObject({ status: 200 })
    server.clock.advance({ hours: 2 })
    await server.drain()
    expect(vendor.asked).toEqual([])
    const reasons = await Promise.all(runs.map(async (id) => (await runOf(api, id)).jobs.at(-1).reason))
    expect(reasons).toEqual(['suppressed', 'snoozed'])
  })

  test('of another environment, channel or workflow does not matter', async () => {
    const [api, other] = [await prepared(), await prepared()]
    await makeWorkflow(api, 'weekly', [email])
    await suppress(other)
    await suppress(api, { channel: 'push' })
    await suppress(api, { scope: { type: 'workflow', workflowId: 'weekly' } })
    await suppress(api, { scope: { type: 'commercial' } })
    await send(api)
    expect(vendor.asked).toHaveLength(1)
  })

  test('is left out of the sandbox too, which asks by phone number for an SMS', async () => {
    const { development: api } = await server.freshOrganization()
    await makeWorkflow(api, 'news', [sms, email])
    await suppress(api, { channel: 'sms', address: '+1 415 555 0123' })
    const run = await runOf(api, await send(api))
    expect(run.jobs.map(({ status }: { status: string }) => status)).toEqual(['canceled', 'completed'])
    expect((await api.get('/v1/sandbox/messages')).body.data).toMatchObject([{ channel: 'email' }])
  })
})

describe('every call asks:', () => {
  test('a retry that waits ends at its next turn', async () => {
    const api = await prepared()
    vendor.plays(() => down)
    const transactionId = await send(api)
    expect(vendor.asked).toHaveLength(1)
    await suppress(api)
    server.clock.advance({ minutes: 5 })
    await server.drain()
    expect(vendor.asked).toHaveLength(1)
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'canceled', reason: 'suppressed' })
    expect(await messagesOf(api, 'channel=email')).toMatchObject([{ status: 'warning', errorText: 'suppressed' }])
  })

  const paused = () => ({ snoozedUntil: new Date(server.clock.now().getTime() + 86_400_000).toISOString() })
  test.each([
    ['has switched the workflow off', 'preference', () => ({ workflowId: 'news', channels: { email: false } })],
    ['has paused commercial messages', 'snoozed', paused],
  ])('a retry or redrive of commercial mail to somebody who %s', async (_, reason, choice) => {
    const api = await prepared({ more: { messageClass: 'commercial' } })
    vendor.plays(() => down)
    const retried = await send(api)
    vendor.plays(() => ({ status: 400, body: { message: 'no' } }))
    const redriven = await send(api)
    const [{ id }] = (await api.get('/v1/deliveries')).body.data
    const before = vendor.asked.length
    vendor.plays(() => accepted)
    await prefer(api, 'ada', choice())
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 200 })
    server.clock.advance({ minutes: 5 })
    await server.drain()
    expect(vendor.asked).toHaveLength(before)
    for (const transactionId of [retried, redriven])
      expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'canceled', reason })
  })

  test('a push message that one device has got does not go to the other once its link has unsubscribed', async () => {
    const api = await server.freshApi()
    const made = await api.post('/v1/integrations', {
      ...{ providerId: 'push-webhook', channel: 'push', name: 'Push', active: true },
      credentials: { webhookUrl: `${vendor.url}/push`, secretKey: 'x' },
    })
    expect(made, made.text).toMatchObject({ status: 201 })
    const push: Step = { type: 'push', controlValues: { subject: 'News', body: 'Off: {{unsubscribe_url}}' } }
    await makeWorkflow(api, 'news', [push], { messageClass: 'commercial' })
    await api.post('/v2/subscribers', ada)
    const credentials = { deviceTokens: ['phone', 'tablet'] }
    const entry = { providerId: 'push-webhook', _integrationId: made.body._id, credentials }
    await server.database.db
      .updateTable('subscribers')
      .set({ channels: JSON.stringify([entry]) })
      .where('environment_id', '=', api.environmentId)
      .execute()
    vendor.plays(({ body }) => (body.includes('tablet') ? down : accepted))
    const transactionId = await send(api, {}, 'ada')
    expect(vendor.asked).toHaveLength(2)
    const link = /\/l\/u\/[\w-]+/.exec(vendor.asked[0]?.body ?? '')?.[0] ?? ''
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await sendTo(server.url + link, 'POST', 'confirm=1', form)).toMatchObject({ status: 200 })
    vendor.plays(() => accepted)
    server.clock.advance({ minutes: 5 })
    await server.drain()
    expect(vendor.asked).toHaveLength(2)
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'completed', reason: 'preference' })
  })

  test('a failover', async () => {
    const api = await prepared({ names: ['first', 'second'] })
    vendor.plays(async ({ path }) => {
      if (path === '/hook') return accepted
      await suppress(api)
      return { status: 400, body: { message: 'no' } }
    })
    const { jobs } = await runOf(api, await send(api))
    expect(vendor.asked).toHaveLength(1)
    expect(jobs[0]).toMatchObject({ status: 'canceled', reason: 'suppressed' })
  })

  test('a redrive', async () => {
    const api = await prepared()
    vendor.plays(() => ({ status: 400, body: { message: 'no' } }))
    const transactionId = await send(api)
    const [{ id }] = (await api.get('/v1/deliveries')).body.data
    await suppress(api)
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 200 })
    await server.drain()
    expect(vendor.asked).toHaveLength(1)
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'canceled', reason: 'suppressed' })
    expect((await api.get('/v1/deliveries')).body.data).toEqual([])
  })

  test('a redrive of what was held back: refused while the entry stands, sent once it is gone', async () => {
    const api = await prepared()
    const { _id } = await suppress(api)
    const transactionId = await send(api)
    const { _id: id } = (await runOf(api, transactionId)).jobs[0]
    expect((await api.get('/v1/deliveries')).body.data).toEqual([])
    const refused = await api.post(`/v1/deliveries/${id}/redrive`)
    expect(refused).toMatchObject({ status: 409, body: { code: 'delivery_suppressed' } })
    expect((await api.post('/v1/deliveries/redrive', {})).body).toEqual({ redriven: 0, hasMore: false })
    // Another entry instead: the gate decides, and from then on that one is looked at.
    await api.delete(`/v1/suppressions/${_id}`)
    const other = await suppress(api, { scope: { type: 'workflow', workflowId: 'news' } })
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 200, body: { redriven: 1 } })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'canceled', reason: 'suppressed' })
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 409 })
    expect(vendor.asked).toEqual([])
    await api.delete(`/v1/suppressions/${other._id}`)
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 200, body: { redriven: 1 } })
    await server.drain()
    expect(sentTo()).toMatchObject([{ to: [address] }])
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'completed' })
    expect(await messagesOf(api, 'channel=email')).toMatchObject([{ status: 'sent' }])
    expect(await api.post(`/v1/deliveries/${id}/redrive`)).toMatchObject({ status: 404 })
  })

  test('every device of its own', async () => {
    const { development: api } = await server.freshOrganization()
    await makeWorkflow(api, 'news', [{ type: 'push', controlValues: { subject: 'Ping', body: 'Hi' } }])
    await api.post('/v2/subscribers', ada)
    const integrations = (await api.get('/v1/integrations')).body
    const { _id } = integrations.find(({ channel }: { channel: string }) => channel === 'push')
    const entry = { providerId: 'expo', _integrationId: _id, credentials: { deviceTokens: ['phone', 'tablet'] } }
    await server.database.db
      .updateTable('subscribers')
      .set({ channels: JSON.stringify([entry]) })
      .where('environment_id', '=', api.environmentId)
      .execute()
    await suppress(api, { channel: 'push', address: 'tablet' })
    const run = await runOf(api, await send(api, {}, 'ada'))
    expect(run.jobs[0]).toMatchObject({ status: 'completed' })
    expect(run.jobs[0].reason).toBeUndefined()
    expect((await api.get('/v1/sandbox/messages')).body.data).toMatchObject([{ to: ['phone'] }])
    expect((await messagesOf(api, 'channel=push')).map(({ status }) => status).sort()).toEqual(['sent', 'warning'])
  })
})

describe('of several recipients of a mail', () => {
  const overrides = { email: { to: ['bob@example.com'], cc: ['cc@example.com'], bcc: ['bcc@example.com'] } }

  test('those on the list are taken out', async () => {
    const api = await prepared()
    for (const each of [address, 'cc@example.com', 'bcc@example.com']) await suppress(api, { address: each })
    const run = await runOf(api, await send(api, { overrides }))
    expect(sentTo()).toMatchObject([{ to: ['bob@example.com'], cc: [], bcc: [] }])
    expect(storyOf(run)[0]).toMatch(new RegExp(`completed: .*(${line}, ){3}Message sent`))
  })

  test('cc and bcc alone get nothing', async () => {
    const api = await prepared()
    for (const each of [address, 'bob@example.com']) await suppress(api, { address: each })
    const run = await runOf(api, await send(api, { overrides }))
    expect(vendor.asked).toEqual([])
    expect(run.jobs[0]).toMatchObject({ status: 'canceled', reason: 'suppressed' })
  })
})

describe('addresses that the trigger gives a provider itself', () => {
  const given = (data: object) => ({ overrides: { providers: { 'email-webhook': data } } })

  test.each([
    ['to', { to: ['Bob <BOB@example.com>'] }],
    ['cc', { cc: ['bob@example.com'] }],
    [
      'a list in one text, in the body that goes out as it is',
      { _passthrough: { body: { to: 'eve@example.com, bob@example.com' } } },
    ],
    ['a member of any name', { envelope: { recipients: [{ email: 'bob@example.com' }] } }],
  ])('are asked about: %s', async (_, data) => {
    const api = await prepared()
    await send(api, given(data))
    expect(vendor.asked).toHaveLength(1)
    await suppress(api, { address: 'bob@example.com' })
    const { jobs } = await runOf(api, await send(api, given(data)))
    expect(jobs[0]).toMatchObject({ status: 'canceled', reason: 'suppressed' })
    expect(vendor.asked).toHaveLength(1)
  })

  test('are those of recipients: a sender, or somebody whom the mail is about, is not asked about', async () => {
    const api = await prepared()
    await suppress(api, { address: 'bob@example.com' })
    const data = { replyTo: 'bob@example.com', customData: { customer: 'bob@example.com' } }
    expect((await runOf(api, await send(api, given(data)))).jobs[0]).toMatchObject({ status: 'completed' })
  })

  test('are left out of commercial mail, which goes to one person', async () => {
    const api = await prepared({ more: { messageClass: 'commercial' } })
    const run = await runOf(api, await send(api, given({ to: ['bob@example.com'], cc: ['eve@example.com'], tag: 'x' })))
    expect(sentTo()).toMatchObject([{ to: [address], cc: [], tag: 'x' }])
    expect(storyOf(run)[0]).toContain('Commercial mail goes to one person; further recipients are left out')
  })

  test('are at most a thousand', async () => {
    const api = await prepared()
    const to = Array.from({ length: 1_001 }, (_, index) => `n${index}@example.com`)
    expect((await runOf(api, await send(api, given({ to })))).jobs[0]).toMatchObject({ status: 'failed' })
    expect(vendor.asked).toEqual([])
  })

  test('of a text message are numbers', async () => {
    const { development: api } = await server.freshOrganization()
    await makeWorkflow(api, 'news', [sms])
    await suppress(api, { channel: 'sms', address: '+14155550199' })
    const overrides = { providers: { 'svc-sms': { To: '+1 415 555 0199' } } }
    expect((await runOf(api, await send(api, { overrides }))).jobs[0]).toMatchObject({ reason: 'suppressed' })
  })
})

test('a test message of an integration asks nobody', async () => {
  const api = await prepared()
  const id = await integrate(api, 'tested')
  await suppress(api)
  const answer = await api.post(`/v1/integrations/${id}/test`, { to: address })
  expect(answer, answer.text).toMatchObject({ status: 200 })
  expect(vendor.asked).toHaveLength(1)
})

describe('one order of sends and entries:', () => {
  const oneClick = async (mail: string) => {
    const { headers } = JSON.parse(mail)
    const link = new URL(headers['List-Unsubscribe'].replace(/^<|>.*$/g, ''))
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await sendTo(server.url + link.pathname, 'POST', 'List-Unsubscribe=One-Click', form)
    expect(answer, answer.text).toMatchObject({ status: 200 })
  }

  test.each([
    ['an entry', {}, (api: Api) => suppress(api)],
    ['its click to unsubscribe', { messageClass: 'commercial' }, (_: Api, mail: string) => oneClick(mail)],
  ])('of 500 mails to one address each is either sent before %s is answered, or held back', async (_, more, refuse) => {
    const api = await prepared({ more })
    const subscribers = Array.from({ length: 500 }, (_, index) => ({ subscriberId: `s-${index}`, email: address }))
    const transactions = await Promise.all(
      Array.from({ length: 5 }, (_, part) => trigger(api, 'news', subscribers.slice(part * 100, part * 100 + 100))),
    )
    const began: number[] = []
    const note = (message: unknown) => {
      const { request } = message as { request: { origin: string; path: string } }
      if (request.origin === vendor.url && request.path === '/mail') began.push(performance.now())
    }
    subscribe('undici:request:create', note)
    let answeredAt: Promise<number> | undefined
    vendor.plays(({ body }) => {
      if (vendor.asked.length === 60) answeredAt = Promise.resolve(refuse(api, body)).then(() => performance.now())
      return accepted
    })
    await drainBySeveral(server)
    unsubscribe('undici:request:create', note)
    const until = (await answeredAt) ?? 0
    expect(until).toBeGreaterThan(0)
    expect(began.filter((at) => at > until)).toEqual([])
    const runs = (await Promise.all(transactions.map(async (each) => pagesOf(api, each)))).flat()
    expect(runs).toHaveLength(500)
    const states = runs.map(({ jobs }) => `${jobs[0].status} ${jobs[0].reason ?? ''}`.trim())
    const sent = states.filter((state) => state === 'completed').length
    expect(states.filter((state) => state === 'canceled suppressed')).toHaveLength(500 - sent)
    expect([vendor.asked.length, began.length]).toEqual([sent, sent])
    expect(sent).toBeGreaterThanOrEqual(60)
    expect(sent).toBeLessThan(500)
  })

  const pagesOf = async (api: Api, transactionId: string) => {
    const found = []
    for (let page = 0; page < 2; page += 1) {
      const answer = await api.get(`/v1/notifications?transactionId=${transactionId}&limit=50&page=${page}`)
      found.push(...answer.body.data)
    }
    return found
  }

  const lock = lockOfHash(hashOfAddress(address))
  const waiting = async () => {
    const { rows } = await server.database.pool.query(
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
    )
    return rows.length
  }
  const ask = [
    'SELECT * FROM ask_suppressions(now(), $1::bigint[], $2::text[], $3::text[], $4::bytea[])',
    (api: Api) => [[lock], [api.environmentId], ['email'], [hashOfAddress(address)]],
  ] as const

  test('an entry waits until a batch that has asked is committed', async () => {
    const api = await prepared()
    const client = await server.database.pool.connect()
    try {
      await client.query('BEGIN')
      expect((await client.query(ask[0], ask[1](api))).rows).toEqual([])
      let isAnswered = false
      const answer = suppress(api).then(() => {
        isAnswered = true
      })
      await expect.poll(waiting).toBe(1)
      expect(isAnswered).toBe(false)
      await client.query('COMMIT')
      await answer
    } finally {
      client.release()
    }
  })

  test('a call waits while an entry is being added, and is held back by it', async () => {
    const api = await prepared()
    const client = await server.database.pool.connect()
    try {
      await client.query('BEGIN')
      await client.query('SELECT hold_suppressed($1::bigint[])', [[lock]])
      const transactionId = await trigger(api, 'news', ada)
      const draining = server.drain()
      await expect.poll(async () => (await runsOf(api, transactionId)).length).toBe(1)
      await client.query(
        `INSERT INTO suppressions (environment_id, id, channel, address_hash, reason, scope, source, created_at, updated_at)
         VALUES ($1, 'x', 'email', $2, 'manual', 'all', 'api', now(), now())`,
        [api.environmentId, hashOfAddress(address)],
      )
      expect(vendor.asked).toEqual([])
      await client.query('COMMIT')
      await draining
      expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ reason: 'suppressed' })
      expect(vendor.asked).toEqual([])
    } finally {
      client.release()
    }
  })

  test('a batch that is stuck is cut off, and one that keeps busy is waited for two seconds only', async () => {
    const api = await prepared()
    const [idle, busy] = [await server.database.pool.connect(), await server.database.pool.connect()]
    const lost = new Promise((resolve) => idle.once('error', resolve))
    await idle.query('BEGIN')
    await idle.query(ask[0], ask[1](api))
    await busy.query('BEGIN')
    await busy.query(ask[0], ask[1](api))
    const working = busy.query('SELECT pg_sleep(4)').catch(() => undefined)
    await suppress(api)
    await lost
    idle.release(true)
    const { rows } = await server.database.pool.query(
      'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query = $1',
      ['SELECT pg_sleep(4)'],
    )
    // It still held its lock when the entry was written without it.
    expect(rows).toHaveLength(1)
    await working
    busy.release(true)
  })

  test('two entries at once make one', async () => {
    const api = await prepared()
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await suppress(api))._id))
    expect(new Set(ids).size).toBe(1)
    expect((await api.get('/v1/suppressions')).body).toMatchObject({ totalCount: 1 })
  })
})
