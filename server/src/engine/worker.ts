// Takes what is due from the queue (graphile-worker) and runs it; chores that come round by the clock are queued here too.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  parseCronItems,
  Logger as QueueLog,
  type Logger as QueueLogger,
  type Runner,
  type RunnerOptions,
  run,
} from 'graphile-worker'
import type { Logger } from 'pino'
import type { Database } from '../db/database.ts'
import { choreSchedule, chores } from './chores.ts'

const concurrency = 10
const longestRetryMs = 5_000

interface Surroundings extends Pick<Database, 'pool' | 'db'> {
  clock: { now(): Date }
  log: Logger
}

/** Rejects when the queue cannot be reached; a worker that fails later is started again until it holds. */
export async function startWorker(surroundings: Surroundings): Promise<Worker> {
  const options = runnerOptions(surroundings)
  return new Worker(options, await run(options), surroundings.log)
}

class Worker {
  readonly #options: RunnerOptions
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #watched: Promise<void>
  #runner: Runner | undefined

  constructor(options: RunnerOptions, runner: Runner, log: Logger) {
    this.#options = options
    this.#log = log
    this.#runner = runner
    this.#watched = this.#watch(runner)
  }

  /** Finishes the jobs in hand, also what a look at the queue under way still brings, and takes no more. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    // Between two runners there is none to stop; one that is ending by itself refuses, and is waited for all the same.
    await this.#runner?.stop().catch(() => undefined)
    await this.#watched
  }

  /** The library gives up as a whole when it cannot record a job's end, as when the database is away at that moment. */
  async #watch(first: Runner): Promise<void> {
    let runner: Runner | undefined = first
    while (runner) {
      await runner.promise
      this.#runner = undefined
      if (this.#stopping.signal.aborted) return
      this.#log.error('the queue worker ended by itself; starting it again')
      runner = await this.#startAgain()
    }
  }

  /** Undefined when the service stops before it succeeds. */
  async #startAgain(): Promise<Runner | undefined> {
    const { signal } = this.#stopping
    for (let attempt = 1; ; attempt += 1) {
      await sleep(Math.min(longestRetryMs, 50 * 2 ** attempt), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return undefined
      try {
        const runner = await run(this.#options)
        this.#runner = runner
        if (signal.aborted) await runner.stop()
        return runner
      } catch (error) {
        this.#log.warn({ err: error }, 'the queue worker could not be started; trying again')
      }
    }
  }
}

function runnerOptions({ pool, db, clock, log }: Surroundings): RunnerOptions {
  return {
    pgPool: pool,
    concurrency,
    noHandleSignals: true,
    // New jobs are announced; polling only finds what came due later.
    pollInterval: 1_000,
    // Without these the library does not wait for the statements that end a job: one that fails would take the whole
    // process down, and one still under way could miss the pool at shutdown.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: chores({ db, clock }),
    parsedCronItems: parseCronItems(choreSchedule),
    logger: queueLog(log),
  }
}

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

/** Of what comes along only the scope and the error are kept: a job's payload may hold what no log should. */
function queueLog(log: Logger): QueueLogger {
  return new QueueLog((scope) => (level, message, meta) => {
    log[levels[level]]({ ...scope, ...(meta?.error ? { err: meta.error } : {}) }, message)
  })
}
