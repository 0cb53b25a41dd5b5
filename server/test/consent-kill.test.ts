// The suppression list and processes that die: an entry that was answered holds, a report counts once, and nothing is sent to
// somebody who refused while nobody was there.
import { createHmac, randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { hashOfAddress, lockOfHash } from '../src/db/core/addresses.ts'
import { freePort } from './free-port.ts'
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

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

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
async function mailing(api: Api): Promise<{ workflowId: string; address: string; inbound: string }> {
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
  await makeWorkflow(api, workflowId, [{ type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }])
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
