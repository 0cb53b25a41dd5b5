// Simulations, explanations and impacts leave no trace: no row of any table changes, nobody is called, and a role that can only
// read suffices. Another service answers the same.
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../src/db/core/database.ts'
import { envKeysOf } from '../src/db/core/environment-access.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { findWorkflow } from '../src/db/queries/workflows.ts'
import type { WorkflowVersion } from '../src/engine/core/memory.ts'
import { readPast, readSituation } from '../src/engine/simulation/explain-reads.ts'
import { readImpact } from '../src/engine/simulation/impact-reads.ts'
import { inSnapshot, Reading } from '../src/engine/simulation/snapshot.ts'
import { Brand } from '../src/http/edge/brand.ts'
import { readScenario } from '../src/http/simulate/scenario-body.ts'
import { makeWorkflow, trigger } from './runs.ts'
import { Api, secretKey, useServer } from './server.ts'
import { useVendor } from './vendor.ts'

const server = useServer()
const vendor = useVendor()
let api: Api

/** Of each kind: a thousand in all. */
const times = 334
const startAt = '2026-05-01T10:00:00Z'
const inputs = [
  { type: 'trigger', at: '+0s', to: 'ada', payload: { who: 'Ada' } },
  { type: 'trigger', at: '+4m', to: ['ada', 'bo'], payload: { who: 'both' } },
  { type: 'read', at: '+5m', subscriberId: 'ada' },
  { type: 'fault', at: '+6m', fault: 'outage', until: '+1h' },
]

/** The body of a PUT that changes the workflow's mail. */
async function draft() {
  const { name, steps, preferences, origin } = (await api.get('/v2/workflows/quiet')).body
  const changed = steps.map((step: { stepId: string }) =>
    step.stepId === 'mail' ? { ...step, controlValues: { subject: 'Other', body: 'Other' } } : step,
  )
  return { name, preferences, origin, active: true, steps: changed }
}

const asks = async (place: Api) => {
  const changed = await draft()
  return [
    () => place.post('/v1/simulations', { workflow: { workflowId: 'quiet' }, startAt, inputs }),
    () => place.post('/v1/explain', { workflowId: 'quiet', subscriberId: 'ada', payload: { who: 'Ada' }, at: startAt }),
    () => place.post('/v2/workflows/quiet/impact', { draft: changed }),
  ]
}

beforeAll(async () => {
  const { development } = await server.freshOrganization()
  api = development
  const mail = { webhookUrl: vendor.url, secretKey: 'secret', from: 'belfry@example.com', senderName: 'Belfry' }
  await api.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', credentials: mail, active: true, check: false },
  })
  for (const subscriberId of ['ada', 'bo'])
    await api.post('/v2/subscribers', { subscriberId, email: `${subscriberId}@example.com` })
  await makeWorkflow(api, 'quiet', [
    { type: 'in_app', stepId: 'inbox', controlValues: { body: 'Hello {{payload.who}}' } },
    { type: 'digest', stepId: 'collect', controlValues: { amount: 10, unit: 'minutes' } },
    { type: 'http_request', stepId: 'ask', controlValues: { method: 'POST', url: `${vendor.url}/ask` } },
    { type: 'email', stepId: 'mail', controlValues: { subject: 'Hello {{payload.who}}', body: 'Hello' } },
  ])
  for (const who of ['Ada', 'Bo']) await trigger(api, 'quiet', ['ada', 'bo'], { payload: { who } })
  await server.drain()
})

async function everythingStored(): Promise<Record<string, unknown>> {
  const { db } = server.database
  const { rows: tables } = await sql<{ name: string }>`
    SELECT schemaname || '.' || tablename AS name FROM pg_tables
    WHERE schemaname IN ('public', 'belfry', 'graphile_worker')
      AND tablename NOT IN ('rate_buckets', 'api_key_uses', 'workers') ORDER BY 1`.execute(db)
  const found = tables.map(async ({ name }) => {
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(name)} t ORDER BY 1`.execute(db)
    return [name, rows] as const
  })
  return Object.fromEntries(await Promise.all(found))
}

test('every row is the same before and after, and nobody is called', async () => {
  const all = await asks(api)
  const before = await everythingStored()
  expect(Object.keys(before)).toContain('graphile_worker._private_jobs')
  for (let round = 0; round < times; round += 1)
    for (const ask of all) {
      const { status, text } = await ask()
      expect(status, text).toBe(200)
    }
  expect(await everythingStored()).toEqual(before)
  expect(vendor.asked).toEqual([])
}, 300_000)

test('another service gives the same bytes, and so does one that is started again', async () => {
  const bytesOf = async (place: Api) => {
    const texts: string[] = []
    for (const ask of await asks(place)) texts.push((await ask()).text)
    return texts
  }
  const here = await bytesOf(api)
  for (let start = 0; start < 2; start += 1) {
    const another = await server.startAnother()
    expect(await bytesOf(new Api(another.url, api.key, api.environmentId, api.organizationId))).toEqual(here)
    await another.stop()
  }
})

describe('a role that can only read suffices', () => {
  const means = { secrets: new Secrets(secretKey), activityDays: 90 }
  let role: string
  let reader: Database

  beforeAll(async () => {
    role = `reader_${api.environmentId}`
    await sql`CREATE ROLE ${sql.id(role)} IN ROLE pg_read_all_data`.execute(server.database.db)
    const { url } = server.database
    const acting = `options=${encodeURIComponent(`-c role=${role}`)}`
    reader = openDatabase(`${url}${url.includes('?') ? '&' : '?'}${acting}`, {
      connections: 2,
      onError: () => undefined,
    })
  })
  afterAll(async () => {
    await reader.close()
    await sql`DROP ROLE ${sql.id(role)}`.execute(server.database.db)
  })

  /** As the route reads it. */
  const scenario = async () => {
    const stored = (await findWorkflow(reader.db, api.environmentId, 'quiet')) as WorkflowVersion
    const body = { workflow: { workflowId: 'quiet' }, startAt, inputs } as Parameters<typeof readScenario>[0]
    const reading = { brand: new Brand('novu'), secrets: { encrypt: (clear: string) => clear } }
    return readScenario(body, {
      ...reading,
      environmentId: api.environmentId,
      now: server.clock.now(),
      stored,
      bodyBytes: 0,
    })
  }

  test('and it can do nothing else', async () => {
    await expect(sql`DELETE FROM subscribers`.execute(reader.db)).rejects.toThrow(/permission denied/)
  })

  test('for simulations', async () => {
    const read = await scenario()
    const snapshot = await inSnapshot(reader.db, (tx) => new Reading(tx, api.environmentId, read).all(means, undefined))
    expect(snapshot.workflow.identifier).toBe('quiet')
    expect(snapshot.subscribers.map(({ subscriber_id }) => subscriber_id).sort()).toEqual(['ada', 'bo'])
    expect(await envKeysOf(reader.db, api.environmentId)).toEqual([])
  })

  test('for explanations ahead and of the past', async () => {
    const { inputs: all, ...rest } = await scenario()
    const asked = { subscriberId: 'ada', context: undefined, tenant: undefined }
    const first = { ...rest, inputs: all.slice(0, 1) }
    const found = await inSnapshot(reader.db, (tx) => readSituation(tx, means, api.environmentId, first, asked))
    expect(found.situation.beginning.collecting).toHaveLength(1)
    const [run] = (await api.get('/v1/notifications?subscriberIds=ada')).body.data
    const past = { transactionId: run.transactionId, subscriberId: 'ada' }
    expect(await inSnapshot(reader.db, (tx) => readPast(tx, api.environmentId, past))).toMatchObject({
      workflowId: 'quiet',
      subscriberId: 'ada',
    })
  })

  test('for impacts', () =>
    inSnapshot(reader.db, async (tx) => {
      const before = await findWorkflow(tx, api.environmentId, 'quiet')
      const change = { workflowId: 'quiet', before, after: before as WorkflowVersion, token: '' }
      const asked = { environmentId: api.environmentId, changes: [change], triggers: 100 }
      const { replay, workflows } = await readImpact(tx, means, asked)
      expect(replay?.triggers).toHaveLength(2)
      expect(workflows).toMatchObject([{ waiting: { runs: 2 } }])
    }))
})
