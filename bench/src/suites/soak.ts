// An hour of steady load with every kind of work: resource use of one process and its database must not grow. `npm run bench
// soak -- --minutes 60 --per-second 50`; a full run does not include it.
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool, type WebSocket } from 'undici'
import { startHttpSink } from '../harness/http-sink.ts'
import { cpuMs, cpuMsOfAll, postmasterOf, residentKb } from '../harness/processes.ts'
import { type Service, startService } from '../harness/service.ts'
import { addSubscribers, openSocket, tokenOf } from '../harness/sockets.ts'
import { type Figure, median, type Options, type Outcome, percentile, type Series, short } from '../report/figures.ts'
import { trendOf } from '../report/trend.ts'

const browsers = 100
/** Of ten triggers, seven are read at once, one is delayed, one digested, one sent to a webhook. */
const workflows = ['tell', 'tell', 'tell', 'tell', 'tell', 'tell', 'tell', 'later', 'digest', 'mail'] as const
/** Warm-up: caches fill and code is compiled. */
const warmUpShare = 1 / 6

/** What must be flat, and how much its trend line may rise from the end of the warm-up to the last sample. */
const measures = {
  memoryMb: { name: 'memory of the service', unit: 'MB', atMost: 1.1 },
  heapMb: { name: "memory in use by the service's own objects", unit: 'MB', atMost: 1.1 },
  connections: { name: 'connections to the database', unit: '', atMost: 1.1 },
  standingMb: { name: 'tables and indexes whose rows come and go', unit: 'MB', atMost: 1.1 },
  deadShare: { name: 'rows that wait to be vacuumed, of all', unit: '%', atMost: 1.1 },
  kbPerRun: { name: 'stored for each notification', unit: 'KB', atMost: 1.1 },
  serviceMs: { name: "the service's processor time for each trigger", unit: 'ms', atMost: 1.1 },
  databaseMs: { name: "the database's processor time for each trigger", unit: 'ms', atMost: 1.1 },
  p50Ms: { name: 'from the request to the browser, p50', unit: 'ms', atMost: 1.25 },
  p99Ms: { name: 'from the request to the browser, p99', unit: 'ms', atMost: 1.25 },
} as const

export async function benchSoak({ quick, minutes: wanted, perSecond }: Options): Promise<Outcome> {
  const minutes = quick ? Math.min(wanted, 1) : wanted
  const service = await startService()
  const sink = await startHttpSink(() => ({ status: 200, body: '{}' }))
  const opened: WebSocket[] = []
  try {
    await prepare(service, sink.url)
    const took: number[] = []
    const token = await tokenOf(service)
    for (let number = 0; number < browsers; number += 1)
      opened.push(
        await openSocket(service, token(number), ({ data }) => {
          if (data?.sentAt) took.push(Date.now() - Number(data.sentAt))
        }),
      )
    const samples = await sampled(service, { minutes, perSecond, took })
    const steady = samples.filter(({ minute = 0 }) => minute > minutes * warmUpShare)
    return {
      ...flatness(steady, minutes),
      series: { samples },
    }
  } finally {
    for (const socket of opened) socket.close()
    await service.stop()
    sink.stop()
  }
}

/** The end of each trend line after the warm-up, compared with its start. */
function flatness(steady: Series, minutes: number): Outcome {
  const perHour: Record<string, string> = {}
  const figures = Object.entries(measures).map(([id, { name, unit, atMost }]): Figure => {
    const trend = trendOf(steady.map((sample) => ({ x: sample.minute ?? 0, y: sample[id] ?? Number.NaN })))
    const change = `${trend.slope < 0 ? '' : '+'}${short(trend.slope * 60)} ${unit}`.trim()
    perHour[id] =
      `${change} in an hour, ${Math.abs(trend.z) < 2.58 ? 'no trend' : 'a trend'} (z = ${trend.z.toFixed(1)})`
    return {
      ...{ id, name, unit, ours: trend.end, reference: trend.begin },
      against: 'after the warm-up',
      target: { atMost },
    }
  })
  const { sent = 0, failed = 0 } = steady.at(-1) ?? {}
  const lost: Figure = { id: 'failed', name: 'requests that failed', unit: '', ours: failed, target: { oursAtMost: 0 } }
  const value = 'the line by Theil and Sen through the samples after the first sixth: its end beside its beginning'
  return { figures: [...figures, lost], notes: { minutes, browsers, triggers: sent, value, perHour } }
}

/** Sends for the given minutes and samples once a minute, or thirty times if that is more often. */
async function sampled(
  service: Service,
  { minutes, perSecond, took }: { minutes: number; perSecond: number; took: number[] },
): Promise<Series> {
  const counts = { sent: 0, failed: 0 }
  const [began, periodMs] = [Date.now(), Math.min(60_000, minutes * 2_000)]
  const postmaster = await postmasterOf(service)
  const cpu = () => ({ service: cpuMs(service.pid), database: cpuMsOfAll(postmaster) })
  const sending = send(service, { perSecond, until: began + minutes * 60_000 + 500, counts })
  const samples: Series = []
  let [before, sentBefore] = [cpu(), 0]
  for (let number = 1; number * periodMs <= minutes * 60_000; number += 1) {
    const lowest = await lowestMemory(service, began + number * periodMs)
    const now = cpu()
    const sent = counts.sent - sentBefore
    const latencies = took.splice(0)
    samples.push({
      ...{ minute: (Date.now() - began) / 60_000, ...counts, ...lowest, ...(await stored(service, counts.sent)) },
      serviceMs: (now.service - before.service) / sent,
      databaseMs: (now.database - before.database) / sent,
      ...{ p50Ms: median(latencies), p99Ms: percentile(latencies, 0.99), messages: latencies.length },
      ...{ commitMs: await commitMs(service), load: loadavg()[0] ?? Number.NaN },
    })
    ;[before, sentBefore] = [now, counts.sent]
    process.stderr.write(`  ${progress(samples.at(-1) ?? {})}\n`)
  }
  await sending
  return samples
}

const progress = ({ minute = 0, memoryMb = 0, connections = 0, p50Ms = 0, p99Ms = 0 }: Series[number]) =>
  `minute ${minute.toFixed(1)}: ${memoryMb.toFixed(0)} MB, ${connections} connections, p50 ${p50Ms} ms, p99 ${p99Ms} ms`

/** Memory rises and falls between garbage collections: the lowest of many readings is what is in use. */
async function lowestMemory({ url, pid }: Service, until: number): Promise<{ memoryMb: number; heapMb: number }> {
  let [memory, heap] = [Infinity, Infinity]
  do {
    await sleep(Math.min(2_000, Math.max(0, until - Date.now())))
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const used = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN)
    ;[memory, heap] = [Math.min(memory, residentKb(pid) / 1024), Math.min(heap, used / 2 ** 20)]
  } while (Date.now() < until)
  return { memoryMb: memory, heapMb: heap }
}

/** Activity and messages grow with what is sent; all other tables have rows that are removed again, or a fixed number. */
async function stored({ database }: Service, sent: number): Promise<Series[number]> {
  const { rows } = await database.query<{ growing: string; standing: string; dead: string; connections: string }>(
    `SELECT sum(pg_total_relation_size(relid)) FILTER (WHERE grows) AS growing,
       sum(pg_total_relation_size(relid)) FILTER (WHERE NOT grows) AS standing,
       100 * sum(n_dead_tup) / greatest(sum(n_dead_tup + n_live_tup), 1) AS dead,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections
     FROM pg_stat_user_tables,
       LATERAL (SELECT relname ~ '^(events|notifications|jobs|messages|transactions|activity_counts)') AS kind (grows)`,
  )
  const { growing, standing, dead, connections } = rows[0] ?? {}
  return {
    ...{ connections: Number(connections), standingMb: Number(standing) / 2 ** 20, deadShare: Number(dead) },
    kbPerRun: Number(growing) / 1024 / sent,
  }
}

/** The latency suite's reference: the current commit time shows how busy the machine is. */
async function commitMs({ database }: Service): Promise<number> {
  const took: number[] = []
  for (let number = 0; number < 20; number += 1) {
    const began = performance.now()
    await database.query('INSERT INTO bench_commits VALUES ($1) ON CONFLICT (only_row) DO UPDATE SET at = now()', [
      true,
    ])
    took.push(performance.now() - began)
  }
  return median(took)
}

async function send(
  { url, apiKey }: Service,
  { perSecond, until, counts }: { perSecond: number; until: number; counts: { sent: number; failed: number } },
): Promise<void> {
  const pool = new Pool(url, { connections: 32, pipelining: 1 })
  const headers = { authorization: `ApiKey ${apiKey}`, 'content-type': 'application/json' }
  const began = performance.now()
  const waiting = new Set<Promise<void>>()
  for (let number = 0; Date.now() < until; number += 1) {
    const waitMs = began + (number * 1000) / perSecond - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    const request = pool
      .request({ method: 'POST', path: '/v1/events/trigger', headers, body: JSON.stringify(triggerOf(number)) })
      .then(async (reply) => {
        await reply.body.dump()
        if (reply.statusCode !== 201) counts.failed += 1
      })
      .catch(() => {
        counts.failed += 1
      })
      .finally(() => waiting.delete(request))
    counts.sent += 1
    waiting.add(request)
  }
  await Promise.all(waiting)
  await pool.close()
}

const triggerOf = (number: number) => ({
  name: workflows[number % workflows.length],
  to: { subscriberId: `browser-${(number * 7_919) % browsers}`, email: 'reader@example.com' },
  payload: { number, sentAt: Date.now() },
})

async function prepare(service: Service, sinkUrl: string): Promise<void> {
  await service.database.query('CREATE TABLE bench_commits (only_row boolean PRIMARY KEY, at timestamptz)')
  await addSubscribers(service, browsers)
  const { _id } = await service.send<{ _id: string }>('POST', '/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', active: true, check: false },
    credentials: { webhookUrl: sinkUrl, secretKey: 'secret', from: 'belfry@example.com', senderName: 'Belfry' },
  })
  await service.send('POST', `/v1/integrations/${_id}/set-primary`)
  const told = { subject: 'News', body: 'Hello {{subscriber.firstName}}, number {{payload.number}}' }
  const tell = { name: 'Tell', type: 'in_app', controlValues: told }
  const minute = { type: 'regular', amount: 1, unit: 'minutes' }
  const steps: Record<(typeof workflows)[number], object[]> = {
    tell: [{ ...tell, controlValues: { ...told, data: { sentAt: '{{payload.sentAt}}' } } }],
    later: [{ name: 'Wait', type: 'delay', controlValues: minute }, tell],
    digest: [{ name: 'Collect', type: 'digest', controlValues: minute }, tell],
    mail: [{ name: 'Mail', type: 'email', controlValues: { subject: 'News', body: `<p>${told.body}</p>` } }],
  }
  for (const [workflowId, list] of Object.entries(steps))
    await service.send('POST', '/v2/workflows', { name: workflowId, workflowId, active: true, steps: list })
}
