// The suppression list and processes that die: an entry that was answered holds, a report counts once, and nothing is sent to
// somebody who refused while nobody was there.
import { createHmac, randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { hashOfAddress, lockOfHash } from '../src/db/core/addresses.ts'
import { Presence } from '../src/engine/queue/presence.ts'
import { CutLine } from './cut-line.ts'
import { freePort } from './free-port.ts'
import { startHere } from './here.ts'
import { type Run, usePrograms } from './program.ts'
import { makeWorkflow, runOf, runsOf, trigger } from './runs.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey, sendTo } from './server.ts'
import { useVendor } from './vendor.ts'

const programs = usePrograms()
const vendor = useVendor()
const name = `t_${randomBytes(6).toString('hex')}`
const key = 'the-key-of-development'
let settings: Record<string, string>
let client: pg.Client
let environmentId: string

vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 })

beforeAll(async () => {
  const databaseUrl = await createTestDatabase(name)
  settings = {
    ...{ DATABASE_URL: databaseUrl, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: key },
    ...{ BELFRY_ALLOW_PRIVATE_ADDRESSES: 'true', BELFRY_CANARY: 'false' },
  }
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await dropTestDatabase(name)
})

async function start(): Promise<{ program: Run; api: Api }> {
  const program = await programs.start({ ...settings, PORT: String(await freePort()) }).ready()
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM environments WHERE type = 'dev' ORDER BY id LIMIT 1",
  )
  environmentId = rows[0]?.id ?? ''
  return { program, api: new Api(program.url, key, environmentId, '') }
}

async function kill(program: Run): Promise<void> {
  program.signal('SIGKILL')
  await program.ended
}

let mailings = 0
/** A workflow of its own, whose mail goes to the vendor. */
async function mailing(api: Api, more: object = {}): Promise<{ workflowId: string; address: string; inbound: string }> {
  mailings += 1
  const workflowId = `news-${mailings}`
  const identifier = `mail-${mailings}`
  const made = await api.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', name: identifier, identifier, active: true },
    credentials: { webhookUrl: `${vendor.url}/mail`, secretKey: 'key', from: 'news@acme.example' },
    configurations: { inboundWebhookEnabled: true },
  })
  expect(made, made.text).toMatchObject({ status: 201 })
  await api.post(`/v1/integrations/${made.body._id}/set-primary`)
  await makeWorkflow(api, workflowId, [{ type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }], more)
  return {
    ...{ workflowId, address: `ada-${mailings}@example.com` },
    inbound: `/v2/inbound-webhooks/delivery-providers/${environmentId}/${made.body._id}`,
  }
}

const report = (url: string, events: object[]) => {
  const text = JSON.stringify({ events })
  const signature = createHmac('sha256', 'key').update(text).digest('hex')
  return sendTo(url, 'POST', text, { 'content-type': 'application/json', 'x-svc-signature': signature })
}
const entriesOf = async (address: string) =>
  (await client.query('SELECT reason FROM suppressions WHERE address = $1', [address])).rows
const lockOf = (address: string) => lockOfHash(hashOfAddress(address))
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000, interval: 10 })
const waiting = async () => {
  const { rows } = await client.query(
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  )
  return rows.length
}

test('a process that dies with a report loses it before the commit, keeps it after, and repetitions count once', async () => {
  vendor.plays(() => ({ body: {} }))
  const first = await start()
  const { workflowId, address, inbound } = await mailing(first.api)
  await trigger(first.api, workflowId, { subscriberId: 'ada', email: address })
  await until(() => expect(vendor.asked).toHaveLength(1))
  const { id } = JSON.parse(vendor.asked[0]?.body ?? '{}')
  await until(async () =>
    expect(
      (await client.query("SELECT FROM messages WHERE identifier = $1 AND status = 'sent'", [id])).rows,
    ).toHaveLength(1),
  )
  const bounced = { id, status: 'bounced', permanent: true, eventId: 'e1' }

  // Before the commit: it waits for the address.
  await client.query('BEGIN')
  await client.query('SELECT pg_advisory_xact_lock_shared($1)', [lockOf(address)])
  const unanswered = report(first.program.url + inbound, [bounced]).catch(() => 'no answer')
  await until(async () => expect(await waiting()).toBe(1))
  await kill(first.program)
  await client.query('COMMIT')
  expect(await unanswered).toBe('no answer')
  expect(await entriesOf(address)).toEqual([])

  // After the commit: whether the answer arrives is chance, so the sender reports again.
  const second = await start()
  void report(second.program.url + inbound, [bounced]).catch(() => undefined)
  await until(async () => expect(await entriesOf(address)).toHaveLength(1))
  await kill(second.program)
  const third = await start()
  expect(await report(third.program.url + inbound, [bounced])).toMatchObject({ status: 200 })
  expect(await entriesOf(address)).toEqual([{ reason: 'hard_bounce' }])
  const { rows } = await client.query(
    `SELECT count(*)::int AS lines FROM jobs j, jsonb_array_elements(j.details) line WHERE line -> 'webhook' ->> 'id' = 'e1'`,
  )
  expect(rows).toEqual([{ lines: 1 }])
  await kill(third.program)
})

test('a process that dies at the gate sends nothing, and who refused meanwhile gets nothing from the next one', async () => {
  vendor.plays(() => ({ body: {} }))
  const first = await start()
  const { workflowId, address } = await mailing(first.api)
  // An entry is being added: the call waits before it.
  await client.query('BEGIN')
  await client.query('SELECT pg_advisory_xact_lock($1)', [lockOf(address)])
  const transactionId = await trigger(first.api, workflowId, { subscriberId: 'ada', email: address })
  await until(async () => expect(await runsOf(first.api, transactionId)).toHaveLength(1))
  await kill(first.program)
  await client.query(
    `INSERT INTO suppressions (environment_id, id, channel, address_hash, address, reason, scope, source, created_at, updated_at)
     VALUES ($1, 'at-the-gate', 'email', $2, $3, 'manual', 'all', 'api', now(), now())`,
    [environmentId, hashOfAddress(address), address],
  )
  await client.query('COMMIT')
  const second = await start()
  await until(async () => expect((await runOf(second.api, transactionId)).status).toBe('completed'))
  expect((await runOf(second.api, transactionId)).jobs).toMatchObject([{ status: 'canceled', reason: 'suppressed' }])
  expect(vendor.asked).toEqual([])
  await kill(second.program)
})

/** A process that is cut off from the database while it lives: what a killed one does, and more, as it may still call. */
async function startCut(more: Record<string, string> = {}) {
  const line = await CutLine.to(settings.DATABASE_URL ?? '')
  const here = await startHere({ ...settings, DATABASE_URL: line.url, BELFRY_LOG: 'silent', ...more })
  const patience = () => new Promise((resolve) => setTimeout(resolve, 1_000))
  return {
    line,
    url: here.url,
    async end() {
      await Promise.race([here.stop().catch(() => undefined), patience()])
      await line.close()
    },
  }
}

test('at every statement of a delivery: nothing is sent twice, and nothing after somebody has refused', async () => {
  vendor.plays(() => ({ body: {} }))
  const survivor = await startHere({ ...settings, BELFRY_LOG: 'silent' })
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM environments WHERE type = 'dev' ORDER BY id LIMIT 1",
  )
  environmentId = rows[0]?.id ?? ''
  const api = new Api(survivor.url, key, environmentId, '')
  const { workflowId } = await mailing(api)
  const witness = new Presence({
    url: settings.DATABASE_URL ?? '',
    log: pino({ level: 'silent' }),
    pace: { lookMs: 50, graceMs: 150 },
  })
  witness.enter('witness')
  const began = new Map<string, number[]>()
  const note = (message: unknown) => {
    const { request } = message as { request: { origin: string; body?: unknown } }
    const [address] = /cut-[^"@]+@example\.com/.exec(String(request.body)) ?? []
    if (request.origin === vendor.url && address) began.set(address, [...(began.get(address) ?? []), performance.now()])
  }
  subscribe('undici:request:create', note)
  const send = (to: Api, address: string, transactionId: string) =>
    to.post('/v1/events/trigger', {
      ...{ name: workflowId, transactionId, to: { subscriberId: address, email: address } },
    })
  const endOf = (transactionId: string) =>
    vi.waitUntil(async () => (await runsOf(api, transactionId)).find(({ status }) => status !== 'processing'), {
      ...{ timeout: 60_000, interval: 20 },
    })
  const cutAt = async (place: number, name: string) => {
    const address = `cut-${name}@example.com`
    const victim = await startCut()
    const own = new Api(victim.url, key, environmentId, '')
    await send(own, `warm-${name}@example.com`, `warm-${name}`)
    await endOf(`warm-${name}`)
    victim.line.takeStatements()
    let refused: Promise<number> | undefined
    const atCut = () => {
      refused = api.post('/v1/suppressions', { channel: 'email', address }).then(() => performance.now())
    }
    victim.line.cutAfter(place, atCut, /graphile|jobs_due|outbox|pool_id|LISTEN|NOTIFY/)
    await send(own, address, name).catch(() => undefined)
    // Where there are fewer statements, it ends undisturbed.
    const isOver = async () => (await runsOf(api, name)).some(({ status }) => status !== 'processing')
    await vi.waitUntil(async () => victim.line.isCut || (await isOver()), { timeout: 60_000, interval: 10 })
    const { isCut } = victim.line
    const answeredAt = isCut ? await refused : undefined
    // Who got no answer triggers again.
    if (isCut) await vi.waitUntil(async () => (await send(api, address, name)).status === 201, { interval: 20 })
    const [job] = (await endOf(name)).jobs
    const calls = began.get(address) ?? []
    const told = `${name}: ${job.status} ${job.reason}, ${calls.length} calls`
    expect(calls.length, told).toBeLessThanOrEqual(1)
    if (answeredAt !== undefined)
      expect(
        calls.filter((at) => at > answeredAt),
        told,
      ).toEqual([])
    // It was sent and recorded, or held back; or sent, and what became of it is unknown.
    expect(told).toMatch(/: (completed undefined, 1|canceled suppressed, [01]) calls/)
    const statements = victim.line.takeStatements()
    await victim.end()
    return { isCut, statement: statements.at(-1) ?? '', job }
  }
  try {
    const reached: string[] = []
    const outcomes = new Set<string>()
    for (let place = 1; place <= 60; place += 1) {
      const { isCut, statement, job } = await cutAt(place, `at-${place}`)
      if (!isCut) break
      reached.push(statement)
      outcomes.add(job.status)
    }
    expect(
      reached.some((each) => each.includes('ask_suppressions')),
      reached.join('\n'),
    ).toBe(true)
    expect(reached, reached.join('\n')).toContain('end_calls')
    expect([...outcomes].sort()).toEqual(['canceled', 'completed'])
  } finally {
    unsubscribe('undici:request:create', note)
    await witness.leave()
    await survivor.stop()
  }
})

test('at every statement of a click to unsubscribe: it counts as a whole or not at all, and once it is answered', async () => {
  vendor.plays(() => ({ body: {} }))
  const survivor = await startHere({ ...settings, BELFRY_LOG: 'silent' })
  const api = new Api(survivor.url, key, environmentId, '')
  const { workflowId } = await mailing(api, { messageClass: 'commercial', consentCategory: 'offers' })
  /** A mail to somebody new. @returns the path of its link */
  const mailTo = async (subscriberId: string) => {
    const email = `${subscriberId}@example.com`
    const before = vendor.asked.length
    await trigger(api, workflowId, { subscriberId, email })
    await until(() => expect(vendor.asked).toHaveLength(before + 1))
    const { headers } = JSON.parse(vendor.asked[before]?.body ?? '{}')
    return new URL(headers['List-Unsubscribe'].replace(/^<|>.*$/g, '')).pathname
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const click = (url: string) => sendTo(url, 'POST', 'List-Unsubscribe=One-Click', form)
  const stateOf = async (subscriberId: string) => {
    const { workflows } = (await api.get(`/v2/subscribers/${subscriberId}/preferences`)).body
    const own = workflows.find(
      ({ workflow }: { workflow: { identifier: string } }) => workflow.identifier === workflowId,
    )
    return [(await entriesOf(`${subscriberId}@example.com`)).length, own.channels.email]
  }
  const victim = await startCut({ BELFRY_ROLE: 'api' })
  const { line } = victim
  /** It is connected, and remembers the environment. */
  const isWarm = async (path: string) => {
    line.takeCount()
    const { status } = await sendTo(victim.url + path, 'GET', undefined, {})
    return status === 200 && line.takeCount() <= usual
  }
  let usual = Number.POSITIVE_INFINITY
  try {
    const seen: unknown[] = []
    for (let place = 1; place <= 30; place += 1) {
      const subscriberId = `click-${place}`
      const path = await mailTo(subscriberId)
      await vi.waitUntil(() => isWarm(path), { timeout: 30_000, interval: 20 })
      if (place === 1) {
        line.takeCount()
        await sendTo(victim.url + path, 'GET', undefined, {})
        usual = line.takeCount()
      }
      line.cutAfter(place)
      const answer = await click(victim.url + path).catch(() => undefined)
      const { isCut } = line
      line.mend()
      // The database may still be at the last statement that it got.
      await until(async () => expect([await stateOf(subscriberId)]).toEqual([await stateOf(subscriberId)]))
      const state = await stateOf(subscriberId)
      expect([place, state]).toEqual([
        place,
        expect.toSatisfy((now) => String(now) === '1,false' || String(now) === '0,true'),
      ])
      if (answer?.status === 200) expect(state).toEqual([1, false])
      seen.push(state[0])
      expect(await click(survivor.url + path)).toMatchObject({ status: 200 })
      expect(await stateOf(subscriberId)).toEqual([1, false])
      if (!isCut) break
    }
    expect(seen.length).toBeGreaterThan(5)
    expect(new Set(seen)).toEqual(new Set([0, 1]))
  } finally {
    await victim.end()
    await survivor.stop()
  }
})

test('a call that a process died with is not made again to somebody who has refused since', async () => {
  // The provider has the request, and never answers.
  vendor.plays(() => undefined)
  const first = await start()
  const { workflowId, address } = await mailing(first.api)
  const transactionId = await trigger(first.api, workflowId, { subscriberId: 'ada', email: address })
  await until(() => expect(vendor.asked).toHaveLength(1))
  expect(await first.api.post('/v1/suppressions', { channel: 'email', address })).toMatchObject({ status: 201 })
  await kill(first.program)
  vendor.plays(() => ({ body: {} }))
  const second = await start()
  await until(async () => expect((await runOf(second.api, transactionId)).status).toBe('completed'))
  const { jobs } = await runOf(second.api, transactionId)
  expect(jobs).toMatchObject([{ status: 'canceled', reason: 'suppressed' }])
  const lines = jobs[0].executionDetails.map(({ detail }: { detail: string }) => detail)
  expect(lines).toContain('The service stopped during the call; whether the message was accepted is unknown')
  expect(vendor.asked).toHaveLength(1)
  await kill(second.program)
})
