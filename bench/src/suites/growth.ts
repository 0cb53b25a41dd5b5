// Does the ten-millionth notification cost more than the thousandth? The same work at each number of stored notifications.
import { statfsSync } from 'node:fs'
import pg from 'pg'
import { sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, cpuOf, postmasterOf } from '../harness/processes.ts'
import { type Service, startService } from '../harness/service.ts'
import { bulkOf, makeWorkflow, perRequest, untilMessages } from '../harness/triggers.ts'
import { type Figure, median, type Options, type Outcome, type Series } from '../report/figures.ts'

const perInsert = 250_000
/** Disk space of one notification with all its rows, indexes and WAL, generously. */
const bytesEach = 6_000
/** Skip a size that would take longer to fill, judging by the one before: a slow disk must not hold up the other suites. */
const longestFillMs = 30 * 60_000

interface Sizes {
  stored: number[]
  rounds: number
  count: number
  requests: number
}

export async function benchGrowth({ quick }: Options): Promise<Outcome> {
  const sizes: Sizes = quick
    ? { stored: [1_000, 10_000], rounds: 1, count: 300, requests: 10 }
    : { stored: [1_000, 10_000, 100_000, 1_000_000, 10_000_000], rounds: 7, count: 2_000, requests: 100 }
  const service = await startService()
  try {
    await makeWorkflow(service)
    let made = await send(service, 1_000, 0)
    const series: Series = []
    let fillMsEach = 0
    for (const stored of sizes.stored) {
      if (!hasRoom(service, stored - made) || !hasTime((stored - made) * fillMsEach, stored)) break
      const began = performance.now()
      await fill(service, made, stored)
      // For few rows, most of the time goes to the steps after the copy.
      if (stored - made > 50_000) fillMsEach = (performance.now() - began) / (stored - made)
      made = Math.max(made, stored)
      const { point, sent } = await measure(service, made, sizes)
      series.push({ stored, ...point })
      made += sent
    }
    const { stored, ...howOften } = sizes
    return {
      figures: figuresOf(series),
      notes: { ...howOften, value: 'median of the rounds' },
      series: { growth: series },
    }
  } finally {
    await service.stop()
  }
}

function figuresOf(series: Series): Figure[] {
  const [first, ...later] = series
  const measures = {
    ms: { name: 'time for each notification', unit: 'ms' },
    serviceMs: { name: "the service's processor time for each notification", unit: 'ms' },
    databaseMs: { name: "the database's processor time for each notification", unit: 'ms' },
    activityMs: { name: 'first page of the activity list', unit: 'ms' },
  }
  return Object.entries(measures).flatMap(([measure, { name, unit }]) =>
    later.map(
      (point): Figure => ({
        id: `${measure}-${point.stored}`,
        name: `${name} at ${point.stored?.toLocaleString('en')} stored`,
        ...{ unit, ours: point[measure] ?? Number.NaN, reference: first?.[measure] ?? Number.NaN },
        against: `at ${first?.stored?.toLocaleString('en')}`,
        target: { atMost: 1.5 },
      }),
    ),
  )
}

async function send(service: Service, count: number, before: number): Promise<number> {
  const load = { url: service.url, apiKey: service.apiKey, connections: 8 }
  await sendMany(load, '/v1/events/trigger/bulk', count / perRequest, bulkOf)
  await untilAllDone(service, count, before)
  return count
}

/** Counting ten million messages would be most of the work: the triggered subscribers' messages have an index. */
async function untilAllDone(service: Service, count: number, before: number): Promise<void> {
  if (before === 0) return untilMessages(service, count)
  const deadline = Date.now() + 120_000
  for (;;) {
    const { rows } = await service.database.query(
      `SELECT FROM graphile_worker.jobs WHERE task_identifier IN ('start_runs', 'fan_out') LIMIT 1`,
    )
    if (rows.length === 0) return
    if (Date.now() > deadline) throw new Error('the queue was not empty in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

async function measure(
  service: Service,
  stored: number,
  { rounds, count, requests }: Sizes,
): Promise<{ point: Series[number]; sent: number }> {
  const postmaster = await postmasterOf(service)
  const measured: Array<{ ms: number; serviceMs: number; databaseMs: number }> = []
  let sent = await send(service, count, stored)
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now()
    const cpu = await cpuOf({ service: () => cpuMs(service.pid), database: () => cpuMsOfAll(postmaster) }, async () => {
      sent += await send(service, count, stored)
    })
    measured.push({
      ms: (performance.now() - began) / count,
      ...{ serviceMs: cpu.service / count, databaseMs: cpu.database / count },
    })
  }
  const pages: number[] = []
  for (let request = -5; request < requests; request += 1) {
    const began = performance.now()
    await service.send('GET', '/v1/notifications?page=0&limit=10')
    if (request >= 0) pages.push(performance.now() - began)
  }
  const of = (name: keyof (typeof measured)[number]) => median(measured.map((round) => round[name]))
  return {
    point: { ms: of('ms'), serviceMs: of('serviceMs'), databaseMs: of('databaseMs'), activityMs: median(pages) },
    sent,
  }
}

function hasRoom({ dataDir }: Service, count: number): boolean {
  const { bavail, bsize } = statfsSync(dataDir)
  const isEnough = bavail * bsize > count * bytesEach
  if (!isEnough) process.stderr.write(`  not enough disk space for ${count.toLocaleString('en')} more notifications\n`)
  return isEnough
}

function hasTime(fillMs: number, stored: number): boolean {
  if (fillMs < longestFillMs) return true
  process.stderr.write(
    `  ${stored.toLocaleString('en')} skipped: filling would take ${(fillMs / 60_000).toFixed(0)} minutes\n`,
  )
  return false
}

/**
 * Adds notifications of this month up to an hour ago, each with the rows the engine wrote for a real one, among a hundred
 * thousand subscribers. All are in one partition, the worst case.
 */
async function fill(service: Service, from: number, to: number): Promise<void> {
  const ranges = Array.from({ length: Math.ceil(Math.max(0, to - from) / perInsert) }, (_, place) => {
    const begin = from + place * perInsert
    return { begin, end: Math.min(to, begin + perInsert) }
  })
  // Two at a time: one does not keep the disk busy.
  await Promise.all([fillRanges(service, ranges), fillRanges(service, ranges)])
  await asFiller(service, async (client) => {
    // As autovacuum does in the minutes after a large import.
    await client.query('VACUUM (ANALYZE) transactions, events, notifications, jobs, messages')
    await client.query('CHECKPOINT')
  })
}

/** Takes ranges until none is left. */
const fillRanges = (service: Service, ranges: Array<{ begin: number; end: number }>) =>
  asFiller(service, async (client) => {
    const statements = await copies(client)
    for (let range = ranges.shift(); range; range = ranges.shift()) {
      const { begin, end } = range
      if (end - begin > 10_000) process.stderr.write(`  stored: ${end.toLocaleString('en')}\n`)
      for (const statement of statements) await client.query(statement, [begin, end - 1])
    }
  })

async function asFiller({ databaseUrl }: Service, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('SET synchronous_commit = off')
    await work(client)
  } finally {
    await client.end()
  }
}

/** One statement per table that copies the newest notification's row under new ids. */
async function copies(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ id: string; event_id: string }>(
    "SELECT id, event_id FROM notifications WHERE status = 'completed' ORDER BY id DESC LIMIT 1",
  )
  const { id: notification, event_id: event } = rows[0] ?? {}
  const now = new Date()
  const newest = Math.floor(now.getTime() / 1000) - 3_600
  const oldest = Math.min(newest - 1, Math.floor(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) / 1000))
  const second = `(${oldest} + (n::bigint * 7919) % ${newest - oldest})`
  const id = (kind: string) => `lpad(to_hex(${second}), 8, '0') || '${kind}' || lpad(to_hex(n), 8, '0')`
  const ids: Record<string, string> = {
    event_id: id('0e0e0e0e'),
    notification_id: id('0a0a0a0a'),
    job_id: id('0b0b0b0b'),
    transaction_id: `'txn_' || ${id('0e0e0e0e')}`,
    subscriber_row_id: "'0000000050050050' || lpad(to_hex(n % 100000), 8, '0')",
    created_at: `to_timestamp(${second})`,
    updated_at: `to_timestamp(${second})`,
  }
  const tables: Record<string, { of: string; id: string }> = {
    transactions: { of: `event_id = '${event}'`, id: '' },
    events: { of: `id = '${event}'`, id: ids.event_id ?? '' },
    notifications: { of: `id = '${notification}'`, id: ids.notification_id ?? '' },
    jobs: { of: `notification_id = '${notification}'`, id: ids.job_id ?? '' },
    messages: { of: `notification_id = '${notification}'`, id: id('0c0c0c0c') },
  }
  const statements: string[] = []
  for (const [table, { of, id: ownId }] of Object.entries(tables)) {
    const columns = await client.query<{ column_name: string }>(
      "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1",
      [table],
    )
    const names = columns.rows.map(({ column_name }) => column_name)
    const values = names.map((name) => (name === 'id' ? ownId : (ids[name] ?? `x.${name}`)))
    statements.push(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')}
       FROM generate_series($1::int, $2::int) n, (SELECT * FROM ${table} WHERE ${of}) x`,
    )
  }
  return statements
}
