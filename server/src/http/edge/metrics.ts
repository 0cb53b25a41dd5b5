// Metrics in Prometheus' format: the process itself, and the duration of every request.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import type { Database } from '../../db/core/database.ts'
import { hiddenId } from '../../db/core/ids.ts'
import { EngineMetrics } from './engine-metrics.ts'
import { RequestTimes } from './request-times.ts'

const longestLookMs = 2_000

export class Metrics {
  readonly contentType: string
  readonly #registry = new Registry()
  readonly engine = new EngineMetrics(this.#registry)
  readonly #pool: Database['pool']
  readonly #requests = new RequestTimes()
  readonly #shed: Counter
  readonly #databaseUp: Gauge
  readonly #connections: Gauge
  readonly #jobsDue: Gauge
  readonly #oldestDue: Gauge
  readonly #outboxWaiting: Gauge
  readonly #outboxOldest: Gauge
  readonly #clock: { now(): Date }
  readonly #canaryAge: Gauge
  readonly #canaryTook: Gauge
  /** From the first scrape on: the timer that measures event loop delay wakes an idle process ten times a second. */
  #measuresProcess = false

  constructor({ pool, clock }: Pick<Database, 'pool'> & { clock: { now(): Date } }) {
    this.#pool = pool
    this.#clock = clock
    const registers = [this.#registry]
    this.contentType = this.#registry.contentType
    this.#shed = new Counter({
      name: 'belfry_http_requests_shed_total',
      help: 'Requests refused because too many were in flight, in all or of their environment',
      labelNames: ['reason'],
      registers,
    })
    for (const reason of ['overloaded', 'too_many_at_once']) this.#shed.inc({ reason }, 0)
    this.#databaseUp = new Gauge({
      name: 'belfry_database_up',
      help: 'Whether the database answered within two seconds of this scrape',
      registers,
    })
    this.#connections = new Gauge({
      name: 'belfry_database_connections',
      help: 'Database connections of this process, by state',
      labelNames: ['state'],
      registers,
    })
    this.#jobsDue = new Gauge({
      name: 'belfry_queue_jobs_due',
      help: 'Due jobs that no worker has taken yet, counted up to 1000',
      registers,
    })
    this.#oldestDue = new Gauge({
      name: 'belfry_queue_oldest_due_seconds',
      help: 'How long the oldest due job has been waiting',
      registers,
    })
    this.#outboxWaiting = new Gauge({
      name: 'belfry_outbox_waiting',
      help: 'Calls of the SQL functions in our own database that are committed and not carried out yet, counted up to 1000',
      registers,
    })
    this.#outboxOldest = new Gauge({
      name: 'belfry_outbox_oldest_seconds',
      help: 'How long the oldest of them has been waiting',
      registers,
    })
    this.#canaryAge = new Gauge({
      name: 'belfry_canary_age_seconds',
      help: 'How long ago the canary notification, sent every minute, last arrived',
      registers,
    })
    this.#canaryTook = new Gauge({
      name: 'belfry_canary_seconds',
      help: 'How long the canary notification took to arrive',
      registers,
    })
  }

  observe(request: FastifyRequest, reply: FastifyReply): void {
    this.note(request.method, request.rules?.url ?? 'unknown', reply.statusCode, reply.elapsedTime / 1000)
  }

  note(method: string, route: string, status: number, seconds: number): void {
    this.#requests.note(method, route, status, seconds)
  }

  shed(reason: 'overloaded' | 'too_many_at_once'): void {
    this.#shed.inc({ reason })
  }

  /** Called at each scrape. */
  underWay(count: () => number): void {
    new Gauge({
      name: 'belfry_http_requests_under_way',
      help: 'Requests in flight',
      registers: [this.#registry],
      collect(): void {
        this.set(count())
      },
    })
  }

  /** All metrics as of now. They matter most while the database is down or overloaded, so they include that. */
  async text(): Promise<string> {
    if (!this.#measuresProcess) this.#measureProcess()
    this.#connections.set({ state: 'open' }, this.#pool.totalCount)
    this.#connections.set({ state: 'idle' }, this.#pool.idleCount)
    this.#connections.set({ state: 'waiting' }, this.#pool.waitingCount)
    const [jobs, canary, outbox] = await Promise.all([
      inTime(dueJobs(this.#pool)),
      inTime(lastCanary(this.#pool)),
      inTime(waitingCalls(this.#pool)),
    ])
    this.#outboxWaiting.set(outbox?.count ?? Number.NaN)
    this.#outboxOldest.set(outbox?.oldestSeconds ?? Number.NaN)
    this.#databaseUp.set(jobs ? 1 : 0)
    this.#jobsDue.set(jobs?.count ?? Number.NaN)
    this.#oldestDue.set(jobs?.oldestSeconds ?? Number.NaN)
    const now = this.#clock.now().getTime()
    this.#canaryAge.set(canary ? (now - canary.arrivedAt.getTime()) / 1000 : Number.NaN)
    this.#canaryTook.set(canary ? (canary.arrivedAt.getTime() - canary.sentAt.getTime()) / 1000 : Number.NaN)
    return `${await this.#registry.metrics()}${this.#requests.text()}`
  }

  #measureProcess(): void {
    this.#measuresProcess = true
    // The interval in ms of the timer that measures event loop delay; the default of 10 costs 0.4 % of a core.
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: 100 })
    // It counts processor time from now on.
    const { user, system } = process.cpuUsage()
    for (const [name, spent] of [
      ['user_', user],
      ['system_', system],
      ['', user + system],
    ] as const)
      (this.#registry.getSingleMetric(`process_cpu_${name}seconds_total`) as Counter).inc(spent / 1e6)
  }
}

/** Undefined on failure or timeout, as when all connections are busy: a scrape must not wait long. */
const inTime = <Found>(looked: Promise<Found>): Promise<Found | undefined> =>
  Promise.race([looked, sleep(longestLookMs, undefined, { ref: false })]).catch(() => undefined)

/** How many due jobs wait, and how long the oldest has waited. Both are bounded look-ups. */
export async function dueJobs(pool: Database['pool']): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await pool.query<{ count: number; oldest: number }>(
    `SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(run_at)), 0)::float8 AS oldest
     FROM (SELECT run_at FROM graphile_worker._private_jobs WHERE is_available AND run_at <= now() ORDER BY run_at LIMIT 1000) due`,
  )
  return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest ?? 0 }
}

/** Calls of the SQL functions that wait. A bounded look-up. */
async function waitingCalls(pool: Database['pool']): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await pool.query<{ count: number; oldest: number }>(
    `SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest
     FROM (SELECT created_at FROM belfry.outbox ORDER BY xact, id LIMIT 1000) waiting`,
  )
  return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest ?? 0 }
}

/** The latest canary that arrived, if any. */
async function lastCanary(pool: Database['pool']): Promise<{ sentAt: Date; arrivedAt: Date } | undefined> {
  const { rows } = await pool.query<{ sentAt: Date; arrivedAt: Date }>(
    `SELECT e.created_at AS "sentAt", m.created_at AS "arrivedAt"
     FROM messages m JOIN events e ON e.environment_id = m.environment_id AND e.id = m.event_id
     WHERE m.environment_id = $1 ORDER BY m.id DESC LIMIT 1`,
    [hiddenId],
  )
  return rows[0]
}
