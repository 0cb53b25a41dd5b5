// The only wiring: settings → database → worker → HTTP. Starts and stops the service.
import { existsSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeWorkerUtils, type TaskList } from 'graphile-worker'
import { type Logger, pino } from 'pino'
import { doCommand } from './commands.ts'
import { type Config, readConfig } from './config.ts'
import { Changes } from './db/core/changes.ts'
import { openDatabase } from './db/core/database.ts'
import { migrate } from './db/core/migrate.ts'
import { preparePartitions } from './db/core/partitions.ts'
import { Secrets } from './db/core/secrets.ts'
import { type NewEnvironment, prepareFirstStart } from './db/queries/environments.ts'
import { isSetUp } from './db/queries/sign-in-links.ts'
import { Engine, engineSchedule } from './engine/engine.ts'
import type { OutboxDrain } from './engine/outbox/drain.ts'
import { drainOutbox } from './engine/outbox/other-outboxes.ts'
import { OutboxWatch } from './engine/outbox/watch.ts'
import { Alarm } from './engine/queue/alarm.ts'
import { canary, canarySchedule } from './engine/queue/canary.ts'
import { choreSchedule, chores } from './engine/queue/chores.ts'
import { startWorker, type Worker } from './engine/queue/worker.ts'
import type { SimulationThread } from './engine/simulation/simulations.ts'
import { explainError, reasonOf, StartError } from './errors.ts'
import { findDatabase } from './found-database.ts'
import { buildApp } from './http/app.ts'
import { Brand } from './http/edge/brand.ts'
import { Metrics } from './http/edge/metrics.ts'
import type { App, Clock } from './http/edge/resource.ts'
import { InboxSockets } from './http/inbox/sockets.ts'
import { listenForMail } from './http/integrations/inbound-mail.ts'
import { callReader } from './http/outbox/reading.ts'
import { Parts } from './parts.ts'
import { HttpClient } from './providers/http-client.ts'
import { startTracing, type Tracing } from './tracing.ts'
import { welcome, welcomeForLog } from './welcome.ts'

const lookupConnections = 3
/** For a worker behind a pooler: two connections listen for jobs, the others lease and complete them. */
const queueConnections = 6
/** For advances of held clocks, each of which has one, and for requests where a clock is held. */
const [advanceConnections, actConnections] = [10, 4]
const jobsAtOnce = 10
/** How often the outbox is looked at besides what the alarm says every second. */
const outboxLooksMs = 60_000
/**
 * Delivery jobs mostly wait for providers, so they have workers of their own: a provider that hangs must not delay new
 * triggers. Four times the calls one integration may have in flight (steps/delivery/circuit-breaker.ts), so that several
 * integrations can hang without slowing the others.
 */
const deliveriesAtOnce = 256
/** How long requests in flight, and the ends of calls, may take during shutdown. */
const patienceMs = 20_000
/** One Ctrl-C can arrive twice, from the terminal and from npm; a second signal after this time is deliberate. */
const echoMs = 500

export interface Service {
  app: App
  url: string
  /** The port that receives email replies, if inbound mail is on. */
  mailPort: number | undefined
  /** The environments with their keys, on the first start only. */
  created: NewEnvironment[] | undefined
  /** Makes its bearer the owner; on the first start only. */
  setUpToken: string | undefined
  /** True until somebody has set up the dashboard. */
  needsOwner: boolean
  engine: Engine
  /** Carries out calls of the SQL functions. */
  outbox: OutboxDrain
  /** The handlers of the queue's jobs. */
  tasks: TaskList
  /** Reports not ready, and keeps serving until load balancers have noticed. */
  drain(): Promise<void>
  stop(): Promise<void>
}

interface Surroundings {
  databaseUrl: string
  /** Where the database is being started. */
  databaseReady?: Promise<void> | undefined
  secretKey: string
  clock: Clock
  log: Logger
  tracing?: Tracing | undefined
  simulationThread?: SimulationThread | undefined
}

/** Starts everything except the embedded database. */
export async function startService(
  config: Config,
  { databaseUrl, databaseReady, secretKey, clock, log, tracing, simulationThread }: Surroundings,
): Promise<Service> {
  // Not the error itself: the driver attaches whole connections to it.
  const onError = (error: Error) => log.warn({ reason: reasonOf(error) }, 'database connection failed')
  const parts = new Parts()
  const stopping = { isStopping: false }
  try {
    const database = openDatabase(databaseUrl, { connections: config.databaseConnections, onError })
    parts.add(() => database.close())
    // LISTEN and session locks need connections that no pooler shares.
    const sessions = config.sessionDatabaseUrl
      ? openDatabase(config.sessionDatabaseUrl, { connections: queueConnections, onError })
      : database
    if (sessions !== database) parts.add(() => sessions.close())
    const secrets = new Secrets(secretKey, config.otherSecretKeys)
    const isKeyChanging = config.otherSecretKeys.length > 0
    const changes = new Changes(sessions.url, onError)
    parts.add(() => changes.stop())
    const { allowPrivateAddresses, allowLoopbackInDevelopment } = config
    const http = new HttpClient({ clock, allowPrivateAddresses, allowLoopbackInDevelopment, tracing })
    if (allowPrivateAddresses) log.info('workflows of every environment may call private addresses')
    else if (allowLoopbackInDevelopment) log.info('workflows of development environments may call this machine')
    parts.add(() => http.close())
    const brand = new Brand(config.brand)
    const { dedupDays, storeContent, mailName, publicUrl } = config
    const { db: lookups, close: closeLookups } = openDatabase(databaseUrl, {
      ...{ connections: lookupConnections, idle: 1, onError },
    })
    parts.add(closeLookups)
    // Opened when somebody moves the clock of an environment for tests.
    const sessionUrl = config.sessionDatabaseUrl ?? databaseUrl
    const advances = openDatabase(sessionUrl, { connections: advanceConnections, onError })
    parts.add(advances.close)
    const acts = openDatabase(databaseUrl, { connections: actConnections, onError })
    parts.add(acts.close)
    const metrics = new Metrics({ ...database, clock })
    const engine = new Engine({
      ...database,
      sessions: advances.pool,
      ...{ lookups, clock, log, secrets, changes, http, brand, dedupDays, storeContent, mailName, publicUrl, tracing },
      receivesMail: config.inboundMail !== undefined,
      activityDays: config.retention.activityDays,
      meter: metrics.engine,
      // Where separate workers run the jobs, accepting a trigger should do as little as possible.
      startsAtOnce: config.role === 'all',
    })
    parts.add(() => engine.close())
    const read = callReader({ brand, secrets })
    const outbox = engine.outbox(read)
    const { retention, keepVersions } = config
    const secretsToRenew = isKeyChanging ? secrets : undefined
    const tasks = {
      ...chores({ ...database, clock, log, retention, keepVersions, secrets, secretsToRenew }),
      ...engine.tasks(),
      ...canary({ ...database, secrets, clock, engine }),
    }
    // Most of a start is loading and this: both go on while the database starts.
    const app = await buildApp({
      ...database,
      acts: acts.pool,
      config,
      clock,
      secrets,
      changes,
      engine,
      http,
      brand,
      log,
      metrics,
      tracing,
      simulationThread,
      stopping,
    })
    await databaseReady
    await database.pool.query('SELECT 1').catch((cause: unknown) => {
      throw new StartError('The database cannot be used; is DATABASE_URL right?', { cause })
    })
    const { applied } = await migrate(sessions.pool)
    if (applied.length > 0) log.info({ applied }, 'database migrated')
    await changes.start()
    const queue = await makeWorkerUtils({ pgPool: database.pool })
    parts.add(() => queue.release())
    // Re-encrypt now rather than at the next hourly run.
    if (isKeyChanging) await queue.addJob('re_encrypt', {}, { jobKey: 're_encrypt' })
    const workers: Worker[] = []
    if (config.role !== 'api') {
      // Long transactions can hold the locks this needs. Until the daily chore succeeds, the default partitions serve.
      await preparePartitions(database.pool, clock.now()).catch((error: unknown) =>
        log.warn({ err: error }, 'could not create partitions; the daily chore will try again'),
      )
      const schedule = [...choreSchedule, ...engineSchedule, ...(config.hasCanary ? canarySchedule : [])]
      const { deliver, held_work, ...others } = tasks
      const alarm = new Alarm(sessions.pool)
      const common = { ...sessions, alarm, log, bell: engine.bell }
      parts.add(() => Promise.all(workers.map((worker) => worker.stop())))
      for (const [taskList, concurrency, more] of [
        [others, jobsAtOnce, { schedule }],
        [{ deliver, held_work }, deliveriesAtOnce, { schedule: [], hands: engine.hands }],
      ] as const)
        workers.push(await startWorker({ ...common, ...more, tasks: taskList, concurrency }))
      const watch = new OutboxWatch({
        ...{ url: sessions.url, work: (taken) => outbox.takeSome(taken), onError },
        lookEveryMs: outboxLooksMs,
      })
      alarm.onCalls = () => watch.tell()
      watch.start()
      parts.add(() => watch.stop())
      for (const other of config.outboxes)
        parts.add(drainOutbox({ ...database, clock, log, read, engine, dedupDays, meter: metrics.engine }, other))
    }

    parts.add(() => closeApp(app))
    const sockets =
      config.role === 'worker'
        ? undefined
        : new InboxSockets({
            ...{ ...database, clock, secrets, changes, brand, log },
            mostSockets: config.mostSockets,
            mostSocketsOfAddress: config.mostSocketsOfAddress,
            trustedProxies: config.trustedProxies,
            onRefused: () => metrics.engine.socketRefused(),
          })
    if (sockets) {
      sockets.serve(app)
      parts.add(() => sockets.stop())
    }
    metrics.engine.watch({ openCircuits: () => engine.openCircuits, sockets: () => sockets?.count ?? 0 })
    const { inboundMail } = config
    const mail =
      inboundMail && config.role !== 'worker'
        ? await listenForMail(inboundMail, { engine, log, patienceMs: patienceMs / 2 })
        : undefined
    if (mail) {
      parts.add(() => mail.stop())
      log.info({ port: mail.port }, 'listening for email replies')
    }
    const url = await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => {
      throw new StartError(`Belfry cannot listen on port ${config.port} of ${config.host}; set PORT or HOST.`, {
        cause,
      })
    })
    // Last, because the keys are shown once: nothing may fail between creating and printing them.
    const needsOwner = !(await isSetUp(database.db))
    const first = await prepareFirstStart(
      database.db,
      secrets,
      {
        ...{ apiKey: config.apiKey, productionApiKey: config.productionApiKey },
        signsApart: !brand.startsOpen,
      },
      clock.now(),
    )
    const { environments: created, setUpToken } = first ?? { environments: undefined, setUpToken: undefined }
    const drain = async () => {
      stopping.isStopping = true
      await sleep(config.drainSeconds * 1000)
    }
    const stop = async () => {
      stopping.isStopping = true
      // Before anything else: calls that wait for a slot go back to the queue, for other processes. Those in flight may finish;
      // then they are cut off, and recorded as unknown.
      for (const worker of workers) void worker.stop()
      const cutOff = () => {
        engine.cutOff()
        void http.close()
      }
      const patience = setTimeout(cutOff, config.stopSeconds * 1000)
      await parts.end().finally(() => clearTimeout(patience))
    }
    return { app, url, mailPort: mail?.port, created, setUpToken, needsOwner, engine, outbox, tasks, drain, stop }
  } catch (error) {
    await parts.end()
    throw error
  }
}

/** Finishes the requests in flight, but does not wait for clients that are still sending. */
async function closeApp(app: App): Promise<void> {
  const patience = setTimeout(() => app.server.closeAllConnections(), patienceMs / 2)
  await app.close()
  clearTimeout(patience)
}

async function startFromCommandLine(): Promise<void> {
  const parts = new Parts()
  let stoppingSince: number | undefined
  let service: Service | undefined
  let longestStopMs = patienceMs
  const stop = async (exitCode: number) => {
    stoppingSince ??= Date.now()
    setTimeout(() => {
      process.stderr.write(`Shutdown took longer than ${longestStopMs / 1000} seconds; exiting anyway.\n`)
      process.exit(1)
    }, longestStopMs).unref()
    try {
      await parts.end()
      process.exit(exitCode)
    } catch (error) {
      process.stderr.write(`\n${explainError(error)}\n`)
      process.exit(1)
    }
  }

  try {
    const { config, warnings } = readConfig(process.env)
    const { traces, role, stopSeconds } = config
    longestStopMs += stopSeconds * 1000
    const tracing =
      traces &&
      (await startTracing({
        ...{ role, protocol: traces.protocol },
        onFailure: (error) => log.warn({ reason: reasonOf(error) }, 'could not send traces'),
      }))
    const log = makeLog(config, tracing)
    if (tracing) parts.add(() => tracing.close())
    for (const warning of warnings) log.warn(warning)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (stoppingSince === undefined) {
          stoppingSince = Date.now()
          log.info(`${signal}: finishing requests and jobs in flight`)
          // A worker gets no requests, and a person at a terminal has no load balancer.
          const drained = signal === 'SIGTERM' && config.role !== 'worker' ? service?.drain() : undefined
          void Promise.resolve(drained).then(() => stop(0))
        } else if (Date.now() - stoppingSince > echoMs) process.exit(1)
      })
    }
    const found = await findDatabase(config, parts, log)
    const clock = { now: () => new Date() }
    const started = await startService(config, { ...found, clock, log, tracing })
    service = started
    parts.add(() => started.stop())
    process.stdout.write(process.stdout.isTTY ? welcome(started, config) : welcomeForLog(started, config))
  } catch (error) {
    // A start that was interrupted fails; that is no news to whoever interrupted it.
    if (stoppingSince !== undefined) return
    process.stderr.write(`\n${explainError(error)}\n`)
    await stop(1)
  }
}

function makeLog(config: Config, tracing: Tracing | undefined): Logger {
  const options = {
    level: config.logLevel,
    redact: ['req.headers.authorization', 'req.headers.cookie'],
    ...(tracing ? { mixin: () => tracing.logged() } : {}),
  }
  return process.stdout.isTTY
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } })
    : pino(options)
}

async function runCommand(command: string, args: string[]): Promise<void> {
  try {
    process.stdout.write(`${await doCommand(command, args, process.env)}\n`)
  } catch (error) {
    process.stderr.write(`\n${explainError(error)}\n`)
    process.exitCode = 1
  }
}

const program = process.argv[1]
if (program !== undefined && existsSync(program) && realpathSync(program) === import.meta.filename) {
  const [, , command, ...args] = process.argv
  void (command === undefined ? startFromCommandLine() : runCommand(command, args))
}
