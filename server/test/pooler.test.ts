// Behind a pooler in transaction mode, whatever needs its own session connects directly. The two kinds of connection use
// different users.
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startService } from '../src/main.ts'
import { inApp, makeWorkflow, messagesOf, trigger } from './runs.ts'
import { Api, secretKey, useServer } from './server.ts'

const server = useServer()

test('only direct connections listen or hold locks, and everything works', async () => {
  const { pool, url } = server.database
  const pooled = `pooled_${randomBytes(6).toString('hex')}`
  await pool.query(`CREATE ROLE ${pooled} SUPERUSER LOGIN PASSWORD 'test'`)
  const throughPooler = url.replace(/\/\/[^@]*@/, `//${pooled}:test@`)
  const config = readConfig({ PORT: '0', BELFRY_CANARY: 'false' }).config
  const service = await startService(
    { ...config, role: 'all', databaseConnections: 5, sessionDatabaseUrl: url },
    { databaseUrl: throughPooler, secretKey, clock: server.clock, log: pino({ level: 'silent' }) },
  )
  try {
    const sessions = async (which: string) => {
      const { rows } = await pool.query<{ through: string }>(
        `SELECT DISTINCT CASE usename WHEN $1 THEN 'pooler' ELSE 'session' END AS through FROM pg_stat_activity a
         WHERE datname = current_database() AND ${which} ORDER BY 1`,
        [pooled],
      )
      return rows.map(({ through }) => through)
    }
    const holdsLock = "EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.locktype = 'advisory')"
    await expect.poll(() => sessions(holdsLock), { timeout: 20_000 }).toEqual(['session'])
    await expect.poll(() => sessions("query ILIKE 'LISTEN%'"), { timeout: 20_000 }).toEqual(['session'])

    const { key, environmentId, organizationId } = await server.freshApi()
    const api = new Api(service.url, key, environmentId, organizationId)
    await makeWorkflow(api, 'hello', [inApp()])
    await trigger(api, 'hello', 'ada')
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(1)
    expect(await sessions('true')).toEqual(['pooler', 'session'])
  } finally {
    await service.stop()
    // The pooled user may own partitions, which are created by whichever process finds them missing.
    await pool.query(`REASSIGN OWNED BY ${pooled} TO CURRENT_USER; DROP ROLE ${pooled}`)
  }
})
