// Rate limits: one token bucket per environment and category, shared by all processes.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import type { Config } from '../../config.ts'
import type { Db } from '../../db/core/database.ts'
import type { RateLimits } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import type { Clock } from './resource.ts'

type Category = keyof RateLimits
type ServiceLevel = Exclude<Config['rateLimit'], 'off'>

/** Requests per second. */
const rates: Record<ServiceLevel, Record<Category, number>> = {
  free: { trigger: 60, configuration: 20, global: 30 },
  pro: { trigger: 240, configuration: 80, global: 120 },
  team: { trigger: 600, configuration: 200, global: 300 },
  enterprise: { trigger: 6000, configuration: 2000, global: 3000 },
}

const windowSeconds = 5
const burst = 1.1
const bulkCost = 100
const bulkRoutes = new Set(['/v1/events/trigger/bulk', '/v1/events/trigger/broadcast', '/v1/subscribers/bulk'])
const importPath = /^\/v2\/import\//
const configurationPaths =
  /^\/v[12]\/(subscribers|topics|tenants|channel-connections|channel-endpoints|environment-variables|workflows|layouts|domains|import)(\/|$)/

function categoryOf(path: string): Category {
  if (/^\/v1\/events(\/|$)/.test(path)) return 'trigger'
  return configurationPaths.test(path) ? 'configuration' : 'global'
}

/** Takes the request's tokens and sets its headers; throws when there are not enough. */
export async function takeTokens(
  { db, clock, level }: { db: Db; clock: Clock; level: ServiceLevel },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const path = request.rules.url ?? request.url
  const category = categoryOf(path)
  const own = request.environment.rateLimits?.[category]
  const limit = Math.max(1, Math.floor((own ?? rates[level][category]) * windowSeconds))
  const capacity = Math.floor(limit * burst)
  const isBulk = bulkRoutes.has(path) || importPath.test(path)
  // At most a full bucket; otherwise low limits would never admit a bulk request.
  const cost = isBulk ? Math.min(bulkCost, capacity) : 1
  const now = clock.now()
  const { granted, tokens, refilled_at } = await draw(db, request.environment.id, category, {
    limit,
    capacity,
    cost,
    now,
  })
  const enoughAt = refilled_at.getTime() + (Math.max(0, cost - tokens) * windowSeconds * 1000) / limit
  const waitSeconds = tokens >= cost ? 0 : Math.max(0, Math.ceil((enoughAt - now.getTime()) / 1000))
  reply.headers({
    'RateLimit-Limit': limit,
    'RateLimit-Remaining': tokens,
    'RateLimit-Reset': waitSeconds,
    'RateLimit-Policy':
      `${limit};w=${windowSeconds};burst=${capacity};comment="token bucket";category="${category}";` +
      `cost="${isBulk ? 'bulk' : 'single'}";serviceLevel="${own === undefined ? level : 'custom'}"`,
  })
  if (!granted) throw fail('rate_limited', undefined, { headers: { 'Retry-After': String(Math.max(1, waitSeconds)) } })
}

interface Draw {
  limit: number
  capacity: number
  cost: number
  now: Date
}

interface Drawn {
  granted: boolean
  tokens: number
  refilled_at: Date
}

/**
 * One statement, so that processes need no further coordination. A bucket refills only when a request finds too few tokens:
 * it gets those earned since its last refill, and the remaining fraction of time counts towards the next refill.
 */
async function draw(db: Db, environmentId: string, category: Category, { limit, capacity, cost, now }: Draw) {
  const { rows } = await sql<Drawn>`
    INSERT INTO rate_buckets AS b (environment_id, category, tokens, refilled_at, granted)
    VALUES (${environmentId}, ${category}, ${capacity - cost}, ${now}, true)
    ON CONFLICT (environment_id, category) DO UPDATE SET (tokens, refilled_at, granted) = (
      SELECT filled - CASE WHEN filled >= ${cost}::int THEN ${cost}::int ELSE 0 END,
             b.refilled_at + gained * make_interval(secs => ${windowSeconds}::int) / ${limit}::int,
             filled >= ${cost}::int
      FROM (SELECT CASE WHEN b.tokens >= ${cost}::int THEN 0
                   ELSE floor(extract(epoch FROM greatest(${now}, b.refilled_at) - b.refilled_at)
                              * ${limit}::int / ${windowSeconds}::int) END AS gained) g,
           LATERAL (SELECT least(${capacity}::int, b.tokens + gained)::int AS filled) f
    )
    RETURNING granted, tokens, refilled_at`.execute(db)
  return rows[0] as Drawn
}
