// Takes due jobs from the queue (graphile-worker) and runs them; also queues periodic chores.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CronItem,
  parseCronItems,
  Logger as QueueLog,
  type Logger as QueueLogger,
  type Runner,
  type RunnerOptions,
  run,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Database } from '../../db/core/database.ts'
import type { Bell } from '../core/bell.ts'
import type { Hands } from '../runs/hands.ts'
import type { Alarm } from './alarm.ts'
import { type Pace, Presence } from './presence.ts'

const longestRetryMs = 5_000
/** How long an ending worker without jobs may take. */
const lingerMs = 5_000

/** A periodic job. Not by the time of day, which can be set back by hours. */
export interface Round {
  task: string
  everyMs: number
  /** In SQL: whether there is anything to do. `clock.now` is the time of the database or of this process, whichever is later. */
  when?: string
}

interface Options extends Pick<Database, 'url' | 'pool'> {
  tasks: TaskList
  schedule: ReadonlyArray<CronItem | Round>
  /** How many jobs run at a time. */
  concurrency: number
  log: Logger
  /** Tells of jobs that come due. */
  alarm: Alarm
  pace?: Pace
  /** Calls made in this worker's name without passing through the queue. */
  hands?: Hands
  /** Tells of jobs that this process has added. */
  bell?: Bell
}

/** Rejects if the queue cannot be reached; a worker that fails later is restarted until it stays up. */
export async function startWorker(options: Options): Promise<Worker> {
  return new Worker(options, await startRun(options))
}

export class Worker {
  readonly #options: Options
  readonly #stopping = new AbortController()
  readonly #watched: Promise<void>
  #run: Run | undefined

  constructor(options: Options, first: Run) {
    this.#options = options
    this.#run = first
    this.#watched = this.#watch(first)
  }

  /** Finishes current jobs, including those that a poll in progress still brings, and takes no more. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    // Between two runs there is nothing to stop; one that is already ending refuses, and we wait for it anyway.
    const run = this.#run
    if (run) await Promise.race([run.runner.stop().catch(() => undefined), run.ended])
    await this.#watched
  }

  /** The library gives up entirely when it cannot record the end of a job, as when the database is away at that moment. */
  async #watch(first: Run): Promise<void> {
    let current: Run | undefined = first
    while (current) {
      await current.ended
      // If it is overdue rather than ended, stop what is left of it.
      void current.runner.stop().catch(() => undefined)
      this.#run = undefined
      await this.#options.hands?.close()
      await current.presence.leave()
      if (this.#stopping.signal.aborted) return
      this.#options.log.error('the queue worker ended by itself; restarting it')
      current = await this.#startAgain()
    }
  }

  /** Undefined if the service stops first. */
  async #startAgain(): Promise<Run | undefined> {
    const { signal } = this.#stopping
    for (let attempt = 1; ; attempt += 1) {
      await sleep(Math.min(longestRetryMs, 50 * 2 ** attempt), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return undefined
      try {
        const started = await startRun(this.#options)
        this.#run = started
        if (signal.aborted) await started.runner.stop()
        return started
      } catch (error) {
        this.#options.log.warn({ err: error }, 'could not start the queue worker; retrying')
      }
    }
  }
}

/** The library at work, under an id of its own, and the lock that shows it is alive. */
interface Run {
  runner: Runner
  /** Settles when the runner has ended, or is overdue. */
  ended: Promise<void>
  presence: Presence
}

async function startRun(options: Options): Promise<Run> {
  const { url, pool, tasks, schedule, concurrency, log, alarm, pace, hands, bell } = options
  let poolId = ''
  const onListed = (listing: string) => hands?.list({ id: poolId, listing })
  const presence = new Presence({ url, log, onListed, ...(pace ? { pace } : {}) })
  const rounds = schedule.filter((item): item is Round => 'everyMs' in item)
  const timers: NodeJS.Timeout[] = []
  const leaves: Array<() => void> = []
  const events: WorkerEvents = new EventEmitter()
  const ending = new Ending(events)
  const firstPolls = new FirstPolls(events)
  events.on('pool:create', ({ workerPool }) => {
    poolId = workerPool.id
    presence.enter(poolId)
    hands?.open({ id: poolId, isShown: () => presence.untilShown() === undefined })
    const nudge = (count: number) => workerPool.nudge(count)
    if (alarm) leaves.push(alarm.join(Object.keys(tasks), nudge))
    if (bell) leaves.push(bell.join(poolId, Object.keys(tasks), nudge))
    for (const round of rounds) {
      void goRound(pool, round, log)
      timers.push(setInterval(() => void goRound(pool, round, log), round.everyMs))
    }
  })
  events.on('pool:gracefulShutdown', () => {
    void hands?.close()
    presence.letPass()
    for (const leave of leaves) leave()
    for (const timer of timers) clearInterval(timer)
  })
  const running: RunnerOptions = {
    pgPool: forWaiting(pool, concurrency),
    concurrency,
    noHandleSignals: true,
    // New jobs are announced, and the alarm handles those that come due later: polling only helps if both fail. Each of the
    // library's workers polls, so the more there are, the less often each has to.
    pollInterval: 6_000 * concurrency,
    // Without these, the library does not wait for the statements that end a job: one that fails would crash the process, and
    // one in flight could miss the pool at shutdown.
    preset: {
      worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 },
      plugins: [
        {
          name: 'first-polls',
          version: '1.0.0',
          worker: { hooks: { startWorker: () => firstPolls.turn()?.then(() => presence.untilShown()) } },
        },
      ],
    },
    taskList: tasks,
    parsedCronItems: parseCronItems(schedule.filter((item): item is CronItem => !('everyMs' in item))),
    // Called and awaited before every poll. We use no flags; this is where we can hold a worker back.
    forbiddenFlags: () => presence.untilShown()?.then(() => null) ?? null,
    events,
    logger: queueLog(log),
  }
  const runner = await run(running)
  return { runner, presence, ended: Promise.race([runner.promise, ending.isOverdue]) }
}

/** How many of the library's workers poll at first, and how many more with each job that is found. */
const firstAtOnce = 2

/**
 * The library's workers all poll when they start: hundreds of statements, over every connection of the pool. Most of them wait here
 * until jobs are found. As many as are needed follow within moments, and there is always one without a job that can be told of one.
 */
class FirstPolls {
  readonly #waiting: Array<() => void> = []
  #free = firstAtOnce

  constructor(events: WorkerEvents) {
    events.on('job:start', () => this.#letGo(firstAtOnce))
    events.on('pool:gracefulShutdown', () => this.#letGo(Number.POSITIVE_INFINITY))
  }

  /** Awaited before a worker's first poll. */
  turn(): Promise<void> | undefined {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve))
    this.#free -= 1
    return undefined
  }

  #letGo(count: number): void {
    const going = this.#waiting.splice(0, count)
    this.#free += count - going.length
    for (const go of going) go()
  }
}

/**
 * The library may never end: if it could not record the ends of two jobs in a row, it waits for something that has already
 * happened, takes no jobs, and logs nothing. Once it has no jobs, we stop waiting for it.
 */
class Ending {
  readonly isOverdue: Promise<void>

  constructor(events: WorkerEvents) {
    let inHand = 0
    events.on('job:start', () => {
      inHand += 1
    })
    events.on('job:complete', () => {
      inHand -= 1
    })
    this.isOverdue = new Promise((resolve) => {
      events.once('pool:gracefulShutdown', () => {
        let idleSince = performance.now()
        const look = setInterval(() => {
          if (inHand > 0) idleSince = performance.now()
          if (performance.now() - idleSince < lingerMs) return
          clearInterval(look)
          resolve()
        }, lingerMs / 10)
        look.unref()
      })
    })
  }
}

/**
 * One waiting job is enough, however many workers ask; a missed one is replaced by the next. One that failed, and would back
 * off for longer and longer, is rescheduled to now.
 */
async function goRound(pool: pg.Pool, { task, when = 'true' }: Round, log: Logger): Promise<void> {
  await pool
    .query({
      name: `go_round_${task}`,
      text: `WITH clock AS (
         SELECT greatest(now(), $2::timestamptz) AS now
       ), waiting AS (
         SELECT id, run_at FROM graphile_worker.jobs
         WHERE task_identifier = $1 AND locked_at IS NULL AND attempts < max_attempts
       ), failed AS (
         SELECT ARRAY(SELECT id FROM waiting WHERE run_at > now()) AS ids
       )
       SELECT hurried.id FROM failed, graphile_worker.reschedule_jobs(failed.ids, run_at := now(), attempts := 0) hurried
       UNION ALL
       SELECT (graphile_worker.add_job($1::text)).id FROM clock WHERE NOT EXISTS (SELECT FROM waiting) AND ${when}`,
      values: [task, new Date()],
    })
    .catch((error: unknown) => log.warn({ err: error, task }, 'could not queue a periodic job'))
}

/**
 * The library warns of more concurrent jobs than connections. Most of ours hold none while they wait for an answer, and any
 * that needs one waits for it in the pool: so we report the pool as large as the number of jobs.
 */
const forWaiting = (pool: pg.Pool, jobs: number): pg.Pool =>
  new Proxy(pool, {
    get(target, name) {
      if (name === 'options') return { ...target.options, max: Math.max(target.options.max, jobs) }
      const member: unknown = Reflect.get(target, name)
      // The pool itself must keep its real size.
      if (typeof member !== 'function') return member
      if (name !== 'connect') return member.bind(target)
      return (then?: Connected) => (then ? target.connect(releasedOnce(then)) : target.connect())
    },
  })

type Connected = Parameters<pg.Pool['connect']>[0]

/** The library gives a broken connection back a second time when it stops meanwhile, which would end the process. */
const releasedOnce =
  (then: Connected): Connected =>
  (error, client, release) => {
    let isReleased = false
    then(error, client, (cause) => {
      if (!isReleased) release(cause)
      isReleased = true
    })
  }

const levels = { error: 'error', warning: 'warn', info: 'debug', debug: 'trace' } as const

/** Only scope and error are logged: a job's payload may be confidential. */
function queueLog(log: Logger): QueueLogger {
  return new QueueLog((scope) => (level, message, meta) => {
    log[levels[level]]({ ...scope, ...(meta?.error ? { err: meta.error } : {}) }, message)
  })
}
