// Liveness, readiness and metrics.
import { createHash, timingSafeEqual } from 'node:crypto'
import { Type } from 'typebox'
import { pendingMigrations } from '../../db/core/migrate.ts'
import { fail } from '../../errors.ts'
import { dueJobs } from './metrics.ts'
import type { Resource } from './resource.ts'

const Check = Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) })
const Readiness = Type.Object({ status: Type.String(), checks: Type.Record(Type.String(), Check) })

export const health: Resource = (app, { pool, metrics, clock, config, stopping }) => {
  const open = { config: { public: true, always: true } }
  const startedAt = clock.now().getTime()
  const measure = shared(() => metrics.text())
  const look = shared(async () => {
    const [database, migrations, queue] = await Promise.all([
      attempt(async () => {
        const { rowCount } = await pool.query('SELECT FROM organizations LIMIT 1')
        if (rowCount === 0) throw new Error('nothing has been set up in it yet')
      }),
      attempt(async () => {
        const pending = await pendingMigrations(pool)
        if (pending.length > 0) throw new Error(`not applied yet: ${pending.join(', ')}`)
      }),
      attempt(async () => {
        const { count, oldestSeconds } = await dueJobs(pool)
        // Too few workers, or none. Jobs that waited while nothing ran do not count against a fresh start.
        const upSeconds = (clock.now().getTime() - startedAt) / 1000
        if (Math.min(oldestSeconds, upSeconds) > config.queuePatienceSeconds)
          throw new Error(`${count} jobs are due, the oldest for ${Math.round(oldestSeconds)} s`)
      }),
    ])
    return { database, migrations, queue }
  })

  app.get(
    '/health/live',
    {
      ...open,
      schema: {
        tags: ['Operating'],
        summary: 'Is the process alive?',
        response: { 200: Type.Object({ status: Type.String() }) },
      },
    },
    async () => ({ status: 'ok' }),
  )

  app.get(
    '/health/ready',
    {
      ...open,
      schema: { tags: ['Operating'], summary: 'Is the service ready?', response: { 200: Readiness, 503: Readiness } },
    },
    async (_request, reply) => {
      const checks = {
        ...(await look()),
        ...(stopping.isStopping ? { stopping: { ok: false, detail: 'it is about to end' } } : {}),
      }
      const isReady = Object.values(checks).every(({ ok }) => ok)
      return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'unavailable', checks })
    },
  )

  app.get('/metrics', { ...open, schema: { hide: true } }, async ({ headers }, reply) => {
    if (config.metricsToken !== undefined && !isSame(headers.authorization ?? '', `Bearer ${config.metricsToken}`))
      throw fail('metrics_token_needed')
    reply.type(metrics.contentType)
    return measure()
  })
}

/**
 * One at a time: whoever asks meanwhile gets the same answer. Anybody may ask, and each time costs the database some
 * statements.
 */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined
  return () => {
    current ??= work().finally(() => {
      current = undefined
    })
    return current
  }
}

/** Hashed, so that the comparison takes the same time whatever is given. */
const isSame = (given: string, expected: string) =>
  timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(expected).digest())

async function attempt(check: () => Promise<void>): Promise<{ ok: boolean; detail?: string }> {
  try {
    await check()
    return { ok: true }
  } catch (error) {
    return { ok: false, detail: (error as Error).message || String(error) }
  }
}
