// What operators watch: the process's own vital signs and every request's duration, in Prometheus' format.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'

export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Histogram

  constructor({ pool }: Pick<Database, 'pool'>) {
    collectDefaultMetrics({ register: this.registry })
    this.#requests = new Histogram({
      name: 'belfry_http_request_seconds',
      help: 'Duration of HTTP requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [this.registry],
    })
    const connections = new Gauge({
      name: 'belfry_database_connections',
      help: 'Connections of this process to the database, by state',
      labelNames: ['state'],
      registers: [this.registry],
      collect() {
        connections.set({ state: 'open' }, pool.totalCount)
        connections.set({ state: 'idle' }, pool.idleCount)
        connections.set({ state: 'waiting' }, pool.waitingCount)
      },
    })
    const queue = new Gauge({
      name: 'belfry_queue_jobs_due',
      help: 'Jobs whose time has come and that no worker has taken yet',
      registers: [this.registry],
      async collect() {
        queue.set((await dueJobs(pool)).count)
      },
    })
  }

  observe(request: FastifyRequest, reply: FastifyReply): void {
    const route = request.routeOptions.url ?? 'unknown'
    this.#requests.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
  }
}

/** How many jobs wait although they are due, and for how long the oldest has. Both are bounded look-ups. */
export async function dueJobs(pool: Database['pool']): Promise<{ count: number; oldestSeconds: number }> {
  const { rows } = await pool.query<{ count: number; oldest: number }>(
    `SELECT count(*)::int AS count, coalesce(extract(epoch FROM now() - min(run_at)), 0)::float8 AS oldest
     FROM (SELECT run_at FROM graphile_worker._private_jobs WHERE is_available AND run_at <= now() ORDER BY run_at LIMIT 1000) due`,
  )
  return { count: rows[0]?.count ?? 0, oldestSeconds: rows[0]?.oldest ?? 0 }
}
