// Takes what is due from the queue (graphile-worker) and runs it; chores that come round by the clock are queued here too.
import {
  parseCronItems,
  Logger as QueueLog,
  type Logger as QueueLogger,
  type Runner,
  run,
  type TaskList,
} from 'graphile-worker'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { choreSchedule, chores } from './chores.ts'

export interface Worker {
  /** Finishes the jobs in hand and takes no more. */
  stop(): Promise<void>
}

const concurrency = 10

export async function startWorker({
  pool,
  db,
  clock,
  log,
}: Pick<Database, 'pool' | 'db'> & { clock: { now(): Date }; log: Logger }): Promise<Worker> {
  const tasks: TaskList = chores({ db, clock })
  const runner: Runner = await run({
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    // New jobs are announced; polling only finds what came due later.
    pollInterval: 1_000,
    taskList: tasks,
    parsedCronItems: parseCronItems(choreSchedule),
    logger: queueLog(log),
  })
  return { stop: () => runner.stop() }
}

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

function queueLog(log: Logger): QueueLogger {
  return new QueueLog(() => (level, message) => log[levels[level]](message))
}
