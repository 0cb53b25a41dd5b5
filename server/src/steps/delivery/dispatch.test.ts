import { describe, expect, test } from 'vitest'
import { makeWorkflow, messagesOf, runOf, runsOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { type Asked, useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const taken = { body: { messages: [{ messageId: 'vendor-1' }] } }
const down = { status: 503, body: {} }
const ada = { subscriberId: 'ada', phone: '+15550100' }
const sms: Step = { type: 'sms', controlValues: { body: 'Hi' } }
const inApp: Step = { type: 'in_app', controlValues: { body: 'after' } }

async function integrate(api: Api, name: string, more: object = {}, baseUrl = vendor.url): Promise<string> {
  const answer = await api.post('/v1/integrations', {
    providerId: 'infobip-sms',
    channel: 'sms',
    name,
    identifier: `${name}-${api.environmentId}`,
    active: true,
    credentials: { apiKey: name, baseUrl, from: 'Acme' },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

async function prepared(names = ['first'], steps = [sms]): Promise<Api> {
  const api = await server.freshApi()
  for (const name of names) await integrate(api, name)
  await makeWorkflow(api, 'code', steps)
  return api
}

const send = async (api: Api, more: object = {}) => {
  const transactionId = await trigger(api, 'code', ada, more)
  await server.drain()
  return transactionId
}
const later = async (by: Parameters<typeof server.clock.advance>[0]) => {
  server.clock.advance(by)
  await server.drain()
}
const jobOf = async (api: Api, transactionId: string) => (await runOf(api, transactionId)).jobs[0]
const keyOf = ({ headers }: Asked) => String(headers.authorization).replace('App ', '')
const keysAsked = () => vendor.asked.map(keyOf)
/** Providers with these keys fail this way; the others accept the message. */
const failing = (names: string[], reply: ReturnType<Parameters<typeof vendor.plays>[0]>) =>
  vendor.plays((asked) => (names.includes(keyOf(asked)) ? reply : taken))

describe('a provider that fails for a while', () => {
  test('is retried, and the message arrives once', async () => {
    const api = await prepared(['first'], [sms, inApp])
    vendor.plays(() => (vendor.asked.length < 3 ? down : taken))
    const transactionId = await send(api)
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'queued' })
    expect(await messagesOf(api, 'channel=sms')).toMatchObject([{ status: 'warning', errorId: 'unexpected_sms_error' }])
    await later({ seconds: 2 })
    await later({ seconds: 4 })
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('completed')
    expect(storyOf(run)[0]).toBe(
      'sms completed: Step queued, Infobip provider was selected, Message created, ' +
        'The provider did not accept the message; it will be tried again, ' +
        'The provider did not accept the message; it will be tried again, Message sent',
    )
    const retries = run.jobs[0].executionDetails.filter(({ isRetry }: { isRetry: boolean }) => isRetry)
    expect(retries).toHaveLength(3)
    expect(JSON.parse(retries[0].raw)).toMatchObject({ name: 'unavailable', status: 503, attempt: 1 })
    expect(run.jobs[1]).toMatchObject({ type: 'in_app', status: 'completed' })
    expect(vendor.asked).toHaveLength(3)
    const messages = await messagesOf(api, 'channel=sms')
    expect(messages).toMatchObject([{ status: 'sent', providerId: 'infobip-sms' }])
    expect(messages[0].errorText).toBeUndefined()
  })

  test('gets the message that the run began with, even if the workflow has changed', async () => {
    const api = await prepared()
    vendor.plays(() => (vendor.asked.length < 2 ? down : taken))
    await send(api)
    const steps = [{ name: 'sms 0', stepId: 'sms-0', type: 'sms', controlValues: { body: 'Corrected' } }]
    const { body: workflow } = await api.get('/v2/workflows/code')
    const changed = await api.put('/v2/workflows/code', { ...workflow, steps: [{ ...workflow.steps[0], ...steps[0] }] })
    expect(changed, changed.text).toMatchObject({ status: 200 })
    await later({ seconds: 2 })
    expect(JSON.parse(vendor.asked[1]?.body ?? '').messages[0].text).toBe('Hi')
    expect(await messagesOf(api, 'channel=sms')).toMatchObject([{ status: 'sent', content: 'Hi' }])
  })

  test('is not called for as long as it asks', async () => {
    const api = await prepared()
    vendor.plays(() => (vendor.asked.length < 2 ? { status: 429, body: {}, headers: { 'retry-after': '40' } } : taken))
    const transactionId = await send(api)
    await later({ seconds: 39 })
    expect(vendor.asked).toHaveLength(1)
    await later({ seconds: 1 })
    expect(vendor.asked).toHaveLength(2)
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
  })

  test('is given up after a day; the message says so, and the run goes on', async () => {
    const api = await prepared(['first'], [sms, inApp])
    vendor.plays(() => down)
    const transactionId = await send(api)
    for (let hour = 0; hour < 30; hour += 1) await later({ hours: 1 })
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('error')
    expect(run.jobs.map(({ status }: { status: string }) => status)).toEqual(['failed', 'completed'])
    expect(run.jobs[0]).toMatchObject({ reason: 'provider_failed', error: expect.stringMatching(/is unavailable/) })
    expect(run.jobs[0].executionDetails.at(-1)).toMatchObject({
      detail: 'Unexpected provider error',
      status: 'Failed',
      providerId: 'infobip-sms',
    })
    expect(await messagesOf(api, 'channel=sms')).toMatchObject([
      { status: 'error', errorId: 'unexpected_sms_error', errorText: expect.stringMatching(/503/) },
    ])
  })

  test('for ten minutes loses nothing, and sends nothing twice', async () => {
    const api = await prepared()
    const endOfOutage = server.clock.now().getTime() + 10 * 60_000
    vendor.plays(() => (server.clock.now().getTime() < endOfOutage ? down : taken))
    const transactions: string[] = []
    for (let minute = 0; minute < 40; minute += 1) {
      if (minute < 10) for (let i = 0; i < 4; i += 1) transactions.push(await trigger(api, 'code', ada))
      await later({ minutes: 1 })
    }
    const runs = (await Promise.all(transactions.map((id) => runsOf(api, id)))).flat()
    expect(runs).toHaveLength(40)
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['completed']))
    const duringOutage = vendor.asked.length - 40
    expect(await messagesOf(api, 'channel=sms')).toHaveLength(40)
    // The circuit prevents most of the calls that could not succeed.
    expect(duringOutage).toBeLessThan(20)
  }, 60_000)
})

describe('with another integration', () => {
  test('a message that the first refuses goes to it at once', async () => {
    const api = await prepared(['first', 'second'])
    failing(['first'], { status: 400, body: {} })
    const transactionId = await send(api)
    const run = await runOf(api, transactionId)
    expect(storyOf(run)).toEqual([
      'sms completed: Step queued, Infobip provider was selected, Message created, ' +
        'The message goes on to the next integration, Infobip provider was selected, Message sent',
    ])
    expect(keysAsked()).toEqual(['first', 'second'])
    const line = run.jobs[0].executionDetails[3]
    expect(JSON.parse(line.raw)).toMatchObject({
      from: `first-${api.environmentId}`,
      to: `second-${api.environmentId}`,
      error: expect.stringMatching(/400/),
    })
  })

  test('it takes over from invalid credentials, and from one that fails several times', async () => {
    const api = await prepared(['first', 'second'])
    failing(['first'], { status: 401, body: {} })
    await send(api)
    expect(keysAsked()).toEqual(['first', 'second'])
    vendor.asked.length = 0
    failing(['first'], down)
    const transactionId = await send(api)
    await later({ seconds: 2 })
    await later({ seconds: 4 })
    expect(keysAsked()).toEqual(['first', 'first', 'first', 'second'])
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
  })

  test('all of them get their turn again and again if all fail', async () => {
    const api = await prepared(['first', 'second'])
    vendor.plays(() => down)
    const transactionId = await send(api)
    for (const seconds of [2, 4, 0, 16, 32, 64]) await later({ seconds })
    expect(keysAsked().slice(0, 7)).toEqual(['first', 'first', 'first', 'second', 'second', 'second', 'first'])
    vendor.plays(() => taken)
    await later({ minutes: 10 })
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
  })

  test("it must match the tenant's conditions, or have none", async () => {
    const api = await prepared()
    const isAcme = { on: 'tenant', field: 'identifier', operator: 'EQUAL', value: 'acme' }
    await integrate(api, 'for-acme', { conditions: [{ value: 'AND', children: [isAcme] }] })
    await integrate(api, 'for-all')
    for (const identifier of ['acme', 'other']) await api.post('/v1/tenants', { identifier, name: identifier })
    const asked = async (names: string[], tenant: string) => {
      vendor.asked.length = 0
      failing(names, { status: 400, body: {} })
      await send(api, { tenant })
      return keysAsked()
    }
    expect(await asked(['first'], 'other')).toEqual(['first', 'for-all'])
    expect(await asked(['first', 'for-all'], 'other')).toEqual(['first', 'for-all'])
    expect(await asked(['for-acme', 'first'], 'acme')).toEqual(['for-acme', 'first', 'for-all'])
  })

  test('a requested integration is not replaced', async () => {
    const api = await prepared(['first', 'second'])
    failing(['first'], { status: 400, body: {} })
    const overrides = { sms: { integrationIdentifier: `first-${api.environmentId}` } }
    const transactionId = await send(api, { overrides })
    expect(keysAsked()).toEqual(['first'])
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'failed', reason: 'provider_refused' })
  })

  test('a message that all would refuse is not offered to others', async () => {
    const api = await prepared(['first', 'second'])
    const refused = { groupName: 'REJECTED', name: 'REJECTED_MESSAGE_TOO_LONG', description: 'too long' }
    vendor.plays(() => ({ body: { messages: [{ status: refused }] } }))
    const transactionId = await send(api)
    expect(keysAsked()).toEqual(['first'])
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'failed', reason: 'provider_refused' })
  })
})

describe('an integration that keeps failing', () => {
  const open = async (api: Api) => {
    vendor.plays(() => down)
    for (let i = 0; i < 5; i += 1) await trigger(api, 'code', ada)
    await server.drain()
  }
  const healthOf = async (api: Api, id: string) => (await api.get(`/v1/integrations/${id}/health`)).body

  test('is paused, and messages wait for it without a call', async () => {
    const api = await prepared()
    const [{ _id: id }] = (await api.get('/v1/integrations')).body.filter(
      ({ channel }: { channel: string }) => channel === 'sms',
    )
    expect(await healthOf(api, id)).toEqual({ state: 'closed', failures: 0, hosts: [] })
    await open(api)
    const calls = vendor.asked.length
    const transactionId = await send(api)
    expect(vendor.asked).toHaveLength(calls)
    expect(storyOf(await runOf(api, transactionId))[0]).toMatch(/Message created, The provider did not accept .*again$/)
    expect(await healthOf(api, id)).toMatchObject({
      state: 'open',
      failures: 5,
      error: expect.stringMatching(/503/),
      retryAt: new Date(server.clock.now().getTime() + 30_000).toISOString(),
    })
    vendor.plays(() => taken)
    for (let i = 0; i < 8; i += 1) await later({ seconds: 30 })
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
    expect(await healthOf(api, id)).toEqual({ state: 'closed', failures: 0, hosts: [], lastSentAt: expect.any(String) })
  })

  test('is probed again after a probe that failed by a fault of ours', async () => {
    const api = await prepared()
    const { pool } = server.database
    await open(api)
    const damage = `jsonb_set(credentials, '{apiKey}', to_jsonb((credentials ->> 'apiKey') || 'AAAA'))`
    const restore = `jsonb_set(credentials, '{apiKey}', to_jsonb(left(credentials ->> 'apiKey', -4)))`
    const store = (credentials: string) =>
      pool.query(
        `UPDATE integrations SET credentials = ${credentials} WHERE environment_id = $1 AND provider_id = 'infobip-sms'`,
        [api.environmentId],
      )
    await store(damage)
    vendor.plays(() => taken)
    await later({ seconds: 40 })
    const { data: runs } = (await api.get('/v1/notifications')).body
    const reasons = runs.map(({ jobs }: { jobs: Array<{ reason?: string }> }) => jobs[0]?.reason)
    expect(reasons).toContain('internal')
    await store(restore)
    for (let i = 0; i < 8; i += 1) await later({ seconds: 30 })
    expect(await jobOf(api, await send(api))).toMatchObject({ status: 'completed' })
  })

  test('rewrites only messages whose state changed: those that wait once more stay untouched', async () => {
    const api = await prepared()
    const messages = () =>
      server.database.db
        .selectFrom('messages')
        .select(['id', 'updated_at'])
        .where('environment_id', '=', api.environmentId)
        .orderBy('id')
        .execute()
    await open(api)
    // All except the probe wait for the first time.
    await later({ seconds: 61 })
    const before = await messages()
    vendor.asked.length = 0
    await later({ seconds: 121 })
    const after = await messages()
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    const changed = after.filter(({ updated_at }, place) => +updated_at !== +(before[place]?.updated_at ?? 0))
    // Now there is another probe, and the previous one may wait for the first time.
    expect(vendor.asked).toHaveLength(1)
    expect(changed.length).toBeLessThanOrEqual(2)
    expect(after).toHaveLength(5)
    vendor.plays(() => taken)
    for (let i = 0; i < 8; i += 1) await later({ seconds: 60 })
    expect((await messagesOf(api, 'channel=sms')).map(({ status }) => status)).toEqual(after.map(() => 'sent'))
  })

  test('is skipped if there is another', async () => {
    const api = await prepared()
    await open(api)
    await integrate(api, 'second')
    vendor.asked.length = 0
    failing(['first'], down)
    const transactionId = await send(api)
    expect(keysAsked()).toEqual(['second'])
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
  })
})

test('a message has one id, across providers and attempts', async () => {
  const api = await server.freshApi()
  for (const name of ['first', 'second']) {
    const credentials = { webhookUrl: `${vendor.url}/${name}`, secretKey: 'key', from: 'a@example.com' }
    await integrate(api, name, { providerId: 'email-webhook', channel: 'email', credentials })
  }
  const mail = { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html' }
  await makeWorkflow(api, 'code', [{ type: 'email', controlValues: mail }])
  const to = { subscriberId: 'ada', email: 'ada@example.com' }
  // Messages of other tests may still be in flight.
  const asked = () => vendor.asked.filter(({ path }) => !path.startsWith('/sms'))
  vendor.plays(() => (asked().length === 1 ? down : { status: 400, body: {} }))
  await trigger(api, 'code', to)
  await server.drain()
  await later({ seconds: 2 })
  vendor.plays(() => ({ body: {} }))
  const [failed] = (await api.get('/v1/deliveries?status=failed')).body.data
  expect(await api.post(`/v1/deliveries/${failed.id}/redrive`)).toMatchObject({ status: 200, body: { redriven: 1 } })
  await server.drain()
  expect(asked().map(({ path }) => path)).toEqual(['/first', '/first', '/second', '/first'])
  const [{ _id }] = await messagesOf(api, 'channel=email')
  expect(new Set(asked().map(({ body }) => JSON.parse(body).id))).toEqual(new Set([_id]))
})

describe('the sandbox', () => {
  /** A Development environment with the sandbox, and a real integration of the user's. */
  async function developing(): Promise<{ api: Api; id: string }> {
    const { development: api } = await server.freshOrganization()
    const id = await integrate(api, 'mine')
    await makeWorkflow(api, 'code', [sms])
    return { api, id }
  }
  const sandboxed = async (api: Api) => (await api.get('/v1/sandbox/messages')).body.data
  const healthOf = async (api: Api, id: string) => (await api.get(`/v1/integrations/${id}/health`)).body

  test.each([400, 401, 402, 404, 422])(
    'does not stand in for a provider that answers %i: run, integration and failed deliveries say so',
    async (status) => {
      const { api, id } = await developing()
      vendor.plays(() => ({ status, body: { message: 'no' } }))
      const transactionId = await send(api)
      expect(await jobOf(api, transactionId)).toMatchObject({ status: 'failed', reason: 'provider_refused' })
      expect((await runOf(api, transactionId)).status).toBe('error')
      expect((await api.get('/v1/deliveries?status=failed')).body.data).toMatchObject([{ reason: 'provider_refused' }])
      await expect
        .poll(() => healthOf(api, id))
        .toMatchObject({
          failures: 1,
          error: expect.stringContaining(String(status)),
          refusedSince: server.clock.now().toISOString(),
        })
      expect(await sandboxed(api)).toEqual([])
      // Somebody corrects the key.
      vendor.plays(() => taken)
      await send(api)
      await expect
        .poll(() => healthOf(api, id))
        .toEqual({ state: 'closed', failures: 0, hosts: [], lastSentAt: server.clock.now().toISOString() })
    },
  )

  test('does not stand in for a provider that does not answer', async () => {
    const { api } = await developing()
    vendor.plays(() => 'hang up')
    const transactionId = await send(api)
    for (const minutes of [1, 5, 25]) await later({ minutes })
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'failed', reason: 'outcome_unknown' })
    expect(await sandboxed(api)).toEqual([])
  })

  test('takes messages again when the last real integration is deleted, and only then', async () => {
    const { api, id } = await developing()
    const second = await integrate(api, 'second')
    vendor.plays(() => taken)
    await api.delete(`/v1/integrations/${id}`)
    await send(api)
    expect(keysAsked()).toEqual(['second'])
    await api.delete(`/v1/integrations/${second}`)
    await send(api)
    expect(keysAsked()).toEqual(['second'])
    expect(await sandboxed(api)).toHaveLength(1)
  })

  test('takes messages while it is made primary, and its faults do not reach the real integration', async () => {
    const { api } = await developing()
    const all = (await api.get('/v1/integrations')).body as Array<{ _id: string; providerId: string }>
    const own = all.find(({ providerId }) => providerId === 'svc-sms')
    await api.post(`/v1/integrations/${own?._id}/set-primary`)
    await api.put('/v1/sandbox/faults', { fault: 'unauthorized', count: 1 })
    await send(api)
    await send(api)
    expect(vendor.asked).toEqual([])
    expect(await sandboxed(api)).toHaveLength(1)
  })
})

test('the record of a failover has the exchange, and a metric counts it', async () => {
  const api = await prepared(['first', 'second'])
  failing(['first'], { status: 401, body: { message: 'bad key' } })
  const transactionId = await send(api)
  const job = await jobOf(api, transactionId)
  expect(job).toMatchObject({ status: 'completed' })
  const line = job.executionDetails.find(({ detail }: { detail: string }) => detail.includes('next integration'))
  expect(JSON.parse(line.raw)).toMatchObject({
    from: `first-${api.environmentId}`,
    to: `second-${api.environmentId}`,
    name: 'unauthorized',
    status: 401,
    exchange: { request: { method: 'POST' }, response: { status: 401 } },
  })
  const metrics = await fetch(`${server.url}/metrics`).then((answer) => answer.text())
  expect(metrics).toMatch(/^belfry_provider_failovers_total\{provider="infobip-sms",error="unauthorized"\} [1-9]/m)
})

describe('a call that was cut off', () => {
  /** As if the process had died after the call and before recording it. */
  async function dieAfterCall(api: Api, transactionId: string, before?: object): Promise<void> {
    const { _id: runId } = await runOf(api, transactionId)
    const { pool } = server.database
    const progress = { status: 'waiting', startedAt: server.clock.now(), calls: 3, callsHere: 3, waits: 0, tried: [] }
    await pool.query("UPDATE jobs SET status = 'running', delivery = $2 WHERE notification_id = $1 AND position = 0", [
      runId,
      before ? { destinations: { sms: { ...progress, refusedBy: [], ...before } } } : null,
    ])
    await pool.query("UPDATE notifications SET status = 'processing' WHERE id = $1", [runId])
    await pool.query("SELECT graphile_worker.add_job('deliver', $1::json)", [
      JSON.stringify({ calls: [[api.environmentId, runId, 0]] }),
    ])
    await server.drain()
  }

  const unknown = 'The service stopped during the call; whether the message was accepted is unknown'
  const maybeTwice = 'An earlier attempt may have arrived too, so the message may have been delivered twice'
  const detailsOf = (job: { executionDetails: Array<{ detail: string }> }) =>
    job.executionDetails.map(({ detail }) => detail)

  test('is repeated at once, and says that it may have arrived twice', async () => {
    const api = await prepared(['first'], [sms, inApp])
    vendor.plays(() => taken)
    const transactionId = await send(api)
    await dieAfterCall(api, transactionId)
    expect(vendor.asked).toHaveLength(2)
    const job = await jobOf(api, transactionId)
    expect(job).toMatchObject({ status: 'completed' })
    expect(detailsOf(job)).toContain(unknown)
    expect(detailsOf(job).slice(-2)).toEqual(['Message sent', maybeTwice])
    expect(await messagesOf(api, 'channel=sms')).toMatchObject([{ status: 'sent' }])
  })

  test('is repeated at once, even if the clock was set back to before it was due', async () => {
    const api = await prepared(['first'], [sms, inApp])
    vendor.plays(() => taken)
    const transactionId = await send(api)
    const dueAt = new Date(server.clock.now().getTime() + 7_200_000)
    await dieAfterCall(api, transactionId, { uncertainCalls: 0, dueAt })
    expect(vendor.asked).toHaveLength(2)
    expect(detailsOf(await jobOf(api, transactionId)).slice(-2)).toEqual(['Message sent', maybeTwice])
  })

  test('is repeated a few times, then left for a person to decide', async () => {
    const api = await prepared()
    vendor.plays(() => taken)
    const transactionId = await send(api)
    await dieAfterCall(api, transactionId, { uncertainCalls: 3 })
    expect(vendor.asked).toHaveLength(1)
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'failed', reason: 'outcome_unknown' })
  })

  test.each(['integration', 'step'])('is not repeated if the %s says so, nor is one that timed out', async (who) => {
    const api = await server.freshApi()
    const hold = { onUnknown: 'hold' }
    await integrate(api, 'first', { configurations: who === 'integration' ? hold : { onUnknown: 'retry' } })
    await makeWorkflow(api, 'code', [who === 'step' ? { ...sms, ...hold } : sms, inApp])
    expect((await api.get('/v2/workflows/code')).body.steps[0].onUnknown).toBe(who === 'step' ? 'hold' : undefined)
    vendor.plays(() => taken)
    const transactionId = await send(api)
    await dieAfterCall(api, transactionId)
    expect(vendor.asked).toHaveLength(1)
    const job = await jobOf(api, transactionId)
    expect(job).toMatchObject({ status: 'failed', reason: 'outcome_unknown' })
    expect(detailsOf(job)).toContain(unknown)
    vendor.plays(() => 'hang up')
    expect(await jobOf(api, await send(api))).toMatchObject({ status: 'failed', reason: 'outcome_unknown' })
  })

  test('is repeated if the provider drops repetitions', async () => {
    const { development: api } = await server.freshOrganization()
    await makeWorkflow(api, 'code', [sms])
    const transactionId = await send(api)
    await dieAfterCall(api, transactionId)
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'completed' })
    expect((await api.get('/v1/sandbox/messages')).body.data).toHaveLength(1)
    expect(await messagesOf(api, 'channel=sms')).toHaveLength(1)
  })

  test('by the other side may have succeeded: it is repeated a few times, then left for a person to decide', async () => {
    const api = await prepared(['uncertain'])
    failing(['uncertain'], 'hang up')
    const transactionId = await send(api)
    for (const minutes of [1, 5, 25]) await later({ minutes })
    expect(await jobOf(api, transactionId)).toMatchObject({ status: 'failed', reason: 'outcome_unknown' })
    expect(keysAsked().filter((key) => key === 'uncertain')).toHaveLength(4)
  })
})

test('a call that the queue hands out twice is made once', async () => {
  const api = await prepared()
  vendor.plays(() => taken)
  const transactionId = await send(api)
  const { _id: runId } = await runOf(api, transactionId)
  for (let i = 0; i < 2; i += 1)
    await server.database.pool.query("SELECT graphile_worker.add_job('deliver', $1::json)", [
      JSON.stringify({ calls: [[api.environmentId, runId, 0]] }),
    ])
  await server.drain()
  expect(vendor.asked).toHaveLength(1)
})

test('whatever fails for a while, in whatever order, each message arrives, and once', async () => {
  const { development: api } = await server.freshOrganization()
  await makeWorkflow(api, 'code', [sms, { type: 'email', controlValues: { subject: 'Hi', body: 'Hi' } }, inApp])
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const faults = ['rate_limited', 'timeout', 'reset', 'server_error']
  const transactions: string[] = []
  for (let round = 0; round < 15; round += 1) {
    if (random(3) === 0) await api.delete('/v1/sandbox/faults')
    else {
      const fault = { fault: faults[random(faults.length)], count: 1 + random(6), retryAfterSeconds: random(30) }
      await api.put('/v1/sandbox/faults', random(2) === 0 ? fault : { ...fault, channel: 'sms' })
    }
    for (let i = 0; i < 3; i += 1)
      transactions.push(
        await trigger(api, 'code', { subscriberId: `s${round}-${i}`, email: 'a@example.com', phone: '+1' }),
      )
    await later({ seconds: random(40) })
  }
  await api.delete('/v1/sandbox/faults')
  for (let i = 0; i < 30; i += 1) await later({ minutes: 1 })
  const runs = (await Promise.all(transactions.map((id) => runsOf(api, id)))).flat()
  expect(runs.map(({ status }) => status)).toEqual(Array(45).fill('completed'))
  const counts = await server.database.pool.query(
    'SELECT channel, count(*)::int, count(DISTINCT subscriber_id)::int AS people FROM sandbox_messages WHERE environment_id = $1 GROUP BY 1 ORDER BY 1',
    [api.environmentId],
  )
  expect(counts.rows).toEqual([
    { channel: 'email', count: 45, people: 45 },
    { channel: 'sms', count: 45, people: 45 },
  ])
  expect(await messagesOf(api, 'channel=in_app')).toHaveLength(45)
}, 120_000)

test('a provider unknown to this version fails the step, and the run goes on', async () => {
  const api = await prepared(['first'], [sms, inApp])
  await server.database.db
    .updateTable('integrations')
    .set({ provider_id: 'gone' })
    .where('environment_id', '=', api.environmentId)
    .where('channel', '=', 'sms')
    .execute()
  const transactionId = await send(api)
  const run = await runOf(api, transactionId)
  expect(run.jobs[0]).toMatchObject({ status: 'failed', reason: 'provider_refused' })
  expect(run.jobs[0].error).toMatch(/Handler for provider was not found/)
  expect(run.jobs[1]).toMatchObject({ status: 'completed' })
})
