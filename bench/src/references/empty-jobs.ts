// The queue's floor: empty jobs through the queue library of the service, on the same PostgreSQL. One job per notification,
// inserted a hundred per statement and prefetched, as in the library's own benchmark.
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import type { Service } from '../harness/service.ts'

const perStatement = 100
const jobsAtOnce = 24
const takenAhead = 500

interface Queue {
  /** @returns jobs added and done per second */
  send(count: number): Promise<number>
  stop(): Promise<void>
}

export async function emptyJobs({ database, databaseUrl }: Service): Promise<Queue> {
  await database.query('CREATE DATABASE bench_jobs')
  const pool = new pg.Pool({ connectionString: withDatabase(databaseUrl, 'bench_jobs'), max: 10 })
  // The library requires both handlers; a failed job is reported to its caller.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => client.on('error', () => undefined))
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ pgPool: pool, logger })
  await utils.migrate()
  let [done, wanted, finish] = [0, 0, () => {}]
  const runner = await run({
    pgPool: pool,
    logger,
    noHandleSignals: true,
    concurrency: jobsAtOnce,
    preset: { worker: { localQueue: { size: takenAhead }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: {
      nothing: async () => {
        done += 1
        if (done === wanted) finish()
      },
    },
  })
  return {
    async send(count) {
      ;[done, wanted] = [0, count]
      const finished = new Promise<void>((resolve) => {
        finish = resolve
      })
      const began = performance.now()
      for (let added = 0; added < count; added += perStatement)
        await utils.addJobs(
          Array.from({ length: Math.min(perStatement, count - added) }, (_, place) => ({
            identifier: 'nothing',
            payload: { number: added + place },
          })),
        )
      await finished
      return count / ((performance.now() - began) / 1000)
    },
    async stop() {
      await runner.stop()
      await utils.release()
      await pool.end()
    },
  }
}

/** By text replacement: a Unix socket address has no host, so URL cannot parse it. */
const withDatabase = (url: string, name: string) => url.replace(/\/[^/?]*(?=\?|$)/, `/${name}`)
