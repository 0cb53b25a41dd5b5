// Triggers inside a transaction of the application's own: what a call costs the commit, how soon its message can be read, and what
// many callers at once do to each other.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { generatedSecrets } from '../../../server/src/db/install/data-dir.ts'
import { startEmbedded } from '../../../server/src/db/install/embedded.ts'
import { joinService, keys, makeDataDir, type Service } from '../harness/service.ts'
import { timesToMessage, watchMessages } from '../harness/time-to-message.ts'
import { makeWorkflow, subscribers } from '../harness/triggers.ts'
import { type Options, type Outcome, percentile } from '../report/figures.ts'

const callers = 100
const perSecond = 100

/** More connections than the embedded database has, for that many callers beside the service. */
async function startPlace(): Promise<Service> {
  const dataDir = await makeDataDir()
  const { databasePassword: password } = generatedSecrets(dataDir)
  const settings = { max_connections: String(callers + 100) }
  const postgres = await startEmbedded({ dataDir, password, settings, say: () => undefined })
  const { url: databaseUrl } = postgres
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 })
  const joined = await joinService({ databaseUrl } as Service, { BELFRY_CANARY: 'false' })
  const { rows } = await database.query<{ id: string }>("SELECT id FROM environments WHERE name = 'Development'")
  const apiKey = keys.BELFRY_API_KEY
  return {
    ...{ url: joined.url, pid: joined.pid, apiKey, databaseUrl, dataDir, database, environmentId: rows[0]?.id ?? '' },
    async send<Answer>(method: string, target: string, body?: unknown) {
      const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' }
      const reply = await fetch(joined.url + target, { method, headers, body: JSON.stringify(body) })
      if (!reply.ok) throw new Error(`${method} ${target}: ${reply.status} ${await reply.text()}`)
      return (await reply.json()) as Answer
    },
    async stop() {
      await database.end()
      await joined.stop()
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export async function benchOutbox({ quick }: Options): Promise<Outcome> {
  const [commits, seconds, callSeconds, rounds] = quick ? [60, 2, 1.5, 1] : [2_000, 20, 10, 5]
  const service = await startPlace()
  try {
    await makeWorkflow(service)
    await service.database.query("CREATE ROLE app LOGIN PASSWORD 'app'; CREATE TABLE bench_orders (number integer)")
    await service.database.query("GRANT ALL ON bench_orders TO app; SELECT belfry.allow('app', 'Development')")
    await callSteadily(service, { perSecond, seconds: Math.min(seconds, 3), tag: 'warm-up' })
    await timesToMessage(service, { perSecond, seconds: Math.min(seconds, 3), tag: 'warm-up-http' })
    const commit = await commitMs(service, commits)
    const http = await timesToMessage(service, { perSecond, seconds, tag: 'http' })
    const sql = await callSteadily(service, { perSecond, seconds, tag: 'sql' })
    const [loud, quiet]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      quiet.push(await commitsPerSecond(service, callSeconds, 'off'))
      loud.push(await commitsPerSecond(service, callSeconds, 'on'))
    }
    return {
      figures: [
        {
          ...{ id: 'outbox-commit', name: 'p50 of the commit of a transaction with one call' },
          ...{ unit: 'ms', ours: commit.with, reference: commit.without, against: 'the same without, in turns' },
          target: { atMost: 1.3 },
        },
        {
          ...{ id: 'outbox-p99', name: `p99 from commit to message, at ${perSecond}/s` },
          ...{ unit: 'ms', ours: percentile(sql, 0.99), reference: percentile(http, 0.99) },
          ...{ against: 'from request to message', target: { atMost: 2 } },
        },
        {
          ...{ id: 'outbox-callers', name: `commits with a call, ${callers} callers at once, the drain awake` },
          ...{ unit: '/s', ours: percentile(loud, 0.5), reference: percentile(quiet, 0.5) },
          ...{ against: 'without NOTIFY', target: { atLeast: 0.8 } },
        },
      ],
      notes: { commits, perSecond, seconds, callers, callSeconds, rounds },
    }
  } finally {
    await service.stop()
  }
}

const appUrl = ({ databaseUrl }: Service) => databaseUrl.replace(/\/\/[^@]*@/, '//app:app@')

async function connect(service: Service): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: appUrl(service) })
  await client.connect()
  return client
}

const call = (number: number, transactionId?: string) => ({
  name: 'call',
  text: "SELECT belfry.trigger('bench', $1, $2, $3)",
  values: [JSON.stringify(`subscriber-${number % subscribers}`), { number }, transactionId ? { transactionId } : {}],
})

/** The medians of a COMMIT, with and without a call before it, in turns; with pauses, so that the drain sleeps. */
async function commitMs(service: Service, count: number): Promise<{ with: number; without: number }> {
  const client = await connect(service)
  const took = { with: [] as number[], without: [] as number[] }
  for (let number = 0; number < count; number += 1)
    for (const which of ['without', 'with'] as const) {
      await client.query('BEGIN')
      await client.query({ name: 'order', text: 'INSERT INTO bench_orders VALUES ($1)', values: [number] })
      if (which === 'with') await client.query(call(number))
      const began = performance.now()
      await client.query('COMMIT')
      took[which].push(performance.now() - began)
      // The one before is carried out meanwhile.
      await sleep(10)
    }
  await client.end()
  return { with: percentile(took.with, 0.5), without: percentile(took.without, 0.5) }
}

/** @returns the milliseconds from the COMMIT being sent until the message can be read */
async function callSteadily(
  service: Service,
  pace: { perSecond: number; seconds: number; tag: string },
): Promise<number[]> {
  const pool = new pg.Pool({ connectionString: appUrl(service), max: 16 })
  const [sentAt, seen] = [new Map<string, number>(), new Map<string, number>()]
  const watching = watchMessages(service, pace, seen)
  const began = performance.now()
  const sent: Array<Promise<void>> = []
  for (let number = 0; number < pace.perSecond * pace.seconds; number += 1) {
    const dueMs = began + (number * 1_000) / pace.perSecond - performance.now()
    if (dueMs > 0) await sleep(dueMs)
    sent.push(
      (async () => {
        const client = await pool.connect()
        await client.query('BEGIN')
        await client.query(call(number, `${pace.tag}-${number}`))
        sentAt.set(`${pace.tag}-${number}`, performance.now())
        await client.query('COMMIT')
        client.release()
      })(),
    )
  }
  await Promise.all(sent)
  await watching
  await pool.end()
  return [...seen].map(([transactionId, at]) => at - (sentAt.get(transactionId) ?? Number.NaN))
}

async function commitsPerSecond(service: Service, seconds: number, notify: 'on' | 'off'): Promise<number> {
  const clients = await Promise.all(Array.from({ length: callers }, () => connect(service)))
  await Promise.all(clients.map((client) => client.query(`SET belfry.notify = ${notify}`)))
  let count = 0
  // The first moments wake the drain up.
  const [from, until] = [performance.now() + 300, performance.now() + 300 + seconds * 1_000]
  await Promise.all(
    clients.map(async (client, place) => {
      for (let number = place; performance.now() < until; number += callers) {
        await client.query('BEGIN')
        await client.query(call(number))
        await client.query('COMMIT')
        if (performance.now() > from) count += 1
      }
      await client.end()
    }),
  )
  const left = async () => (await service.database.query('SELECT FROM belfry.outbox LIMIT 1')).rowCount
  while (await left()) await sleep(50)
  return count / seconds
}
