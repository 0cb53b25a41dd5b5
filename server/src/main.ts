// The only wiring: settings → database → worker → HTTP. Starts and stops the service.
import { existsSync, mkdtempSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeWorkerUtils, type TaskList } from 'graphile-worker'
import { type Logger, pino } from 'pino'
import { type Config, readConfig } from './config.ts'
import { Changes } from './db/core/changes.ts'
import { openDatabase } from './db/core/database.ts'
import { migrate } from './db/core/migrate.ts'
import { preparePartitions } from './db/core/partitions.ts'
import { Secrets } from './db/core/secrets.ts'
import { makeBackup } from './db/install/backup.ts'
import { claimDataDir, generatedSecrets, writeWhole } from './db/install/data-dir.ts'
import { findingsOf } from './db/install/doctor.ts'
import { beginEmbedded } from './db/install/embedded.ts'
import { restoreBackup } from './db/install/restore.ts'
import { restoreInto } from './db/install/restore-into.ts'
import { type NewEnvironment, prepareFirstStart } from './db/queries/environments.ts'
import { isSetUp, linkTo, signInLink } from './db/queries/sign-in-links.ts'
import { Engine, engineSchedule } from './engine/engine.ts'
import type { OutboxDrain } from './engine/outbox/drain.ts'
import { drainOutbox } from './engine/outbox/other-outboxes.ts'
import { OutboxWatch } from './engine/outbox/watch.ts'
import { Alarm } from './engine/queue/alarm.ts'
import { canary, canarySchedule } from './engine/queue/canary.ts'
import { choreSchedule, chores } from './engine/queue/chores.ts'
import { startWorker, type Worker } from './engine/queue/worker.ts'
import type { SimulationThread } from './engine/simulation/simulations.ts'
import { StartError } from './errors.ts'
import { buildApp } from './http/app.ts'
import { Brand } from './http/edge/brand.ts'
import { Metrics } from './http/edge/metrics.ts'
import type { App, Clock } from './http/edge/resource.ts'
import { InboxSockets } from './http/inbox/sockets.ts'
import { listenForMail } from './http/integrations/inbound-mail.ts'
import { callReader } from './http/outbox/reading.ts'
import { HttpClient } from './providers/http-client.ts'
import { startTracing, type Tracing } from './tracing.ts'

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

/** What has been started, stopped in reverse order. */
class Parts {
  readonly #ends: Array<() => unknown> = []

  add(end: () => unknown): void {
    this.#ends.push(end)
  }

  /** Stops every part, even when one of them fails to stop. */
  async end(): Promise<void> {
    const failures: unknown[] = []
    for (const end of this.#ends.splice(0).reverse()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'Some parts of the service did not stop cleanly.')
  }
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
      process.stderr.write(`\n${explain(error)}\n`)
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
    process.stderr.write(`\n${explain(error)}\n`)
    await stop(1)
  }
}

interface FoundDatabase {
  databaseUrl: string
  databaseReady?: Promise<void>
  secretKey: string
}

const say = (line: string) => process.stdout.write(`  ${line}\n`)

async function findDatabase(config: Config, parts: Parts, log: Logger): Promise<FoundDatabase> {
  const { databaseUrl, secretKey = '', dataDir } = config
  if (databaseUrl !== undefined) return { databaseUrl, secretKey }
  const claim = await claimDataDir(dataDir)
  parts.add(() => claim.release())
  const generated = generatedSecrets(dataDir)
  const onRestart = (reason: string) => log.error({ reason }, 'the database stopped unexpectedly; restarting it')
  const { url, ready } = await beginEmbedded({ dataDir, password: generated.databasePassword, say, onRestart })
  const databaseReady = ready.then((embedded) => {
    parts.add(() => embedded.stop())
    void embedded.died.then((error) => {
      log.fatal(error.message)
      claim.release()
      process.exit(1)
    })
  })
  // Whoever waits for it hears of it too.
  databaseReady.catch(() => undefined)
  return { databaseUrl: url, databaseReady, secretKey: secretKey || generated.secretKey }
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

/** The next steps for the person who started it. Keys are shown once, by the start that created them. */
export function welcome(
  { url, created, setUpToken, needsOwner }: Pick<Service, 'url' | 'created' | 'setUpToken' | 'needsOwner'>,
  config: Config,
): string {
  const own = config.port === 0 ? url : config.publicUrl
  // A worker serves no pages.
  const home = config.role === 'worker' && !config.isPublicUrlGiven ? 'http://<address of an API process>' : own
  const lines = ['', `  Belfry is ready at ${own}`]
  if (config.role !== 'worker') lines.push(`  See it work: ${home}/demo`, `  API reference: ${home}/docs`)
  if (setUpToken !== undefined)
    lines.push(
      '',
      '  Set up the dashboard, as its owner (the link works once, for a week):',
      `    ${linkTo(home, 'setup', setUpToken)}`,
    )
  else if (needsOwner) lines.push(`  Nobody has set up the dashboard yet: \`${linkCommand}\` prints a link for that.`)
  const development = created?.[0]
  if (created && development) {
    lines.push('', '  Your API keys (shown this once):')
    for (const { name, apiKey } of created) lines.push(`    ${name.padEnd(12)} ${apiKey}`)
    // The lines begin with another word than those of the keys: scripts find a key by its environment's name.
    lines.push('', '  Application identifiers for the browser inbox (not secret):')
    for (const { name, identifier } of created) lines.push(`    of ${name.padEnd(12)} ${identifier}`)
    if (config.role !== 'worker') lines.push('', ...firstNotification(url, development.apiKey))
  }
  return `${lines.join('\n')}\n\n`
}

/** A log is read by others, so keys and link go into a file that only the operator can read. */
function welcomeForLog(started: Service, config: Config): string {
  if (started.created === undefined && started.setUpToken === undefined) return welcome(started, config)
  const plain = welcome({ url: started.url, created: undefined, setUpToken: undefined, needsOwner: false }, config)
  const lines = ['  Your API keys, the link to set up the dashboard and a first notification to send are in']
  try {
    // With a database elsewhere there is no data folder.
    const folder = config.databaseUrl === undefined ? config.dataDir : mkdtempSync(path.join(tmpdir(), 'belfry-'))
    const file = path.join(folder, 'first-start.txt')
    writeWhole(file, welcome(started, config))
    lines.push(`    ${file}`, '  Only you can read it. Delete it once you have stored the keys.')
  } catch (error) {
    lines.push(
      `  no file, because none could be written (${reasonOf(error as Error)}).`,
      `  \`${linkCommand}\` prints a new link, and its owner makes new keys in the dashboard.`,
    )
  }
  return `${plain}${lines.join('\n')}\n\n`
}

/** As in README.md: create a workflow, trigger it, look at the result. */
function firstNotification(url: string, apiKey: string): string[] {
  const authorization = quoted(`Authorization: ApiKey ${apiKey}`)
  const post = (path: string, body: string) => [
    `    curl '${url}${path}' \\`,
    `      -H ${authorization} \\`,
    "      -H 'Content-Type: application/json' \\",
    `      -d '${body}'`,
  ]
  return [
    '  Send your first notification, an in-app message and an email:',
    '',
    ...post('/v2/workflows?onConflict=update', firstWorkflow),
    '',
    ...post('/v1/events/trigger', firstTrigger),
    '',
    '  The email went to the sandbox, which needs no provider. See it there:',
    '',
    `    curl ${url}/v1/sandbox/messages -H ${authorization}`,
  ]
}

const firstWorkflow = `{
        "name": "Welcome", "workflowId": "welcome", "active": true,
        "steps": [
          {"name": "Inbox", "type": "in_app", "controlValues": {"body": "Hello {{subscriber.firstName}}"}},
          {"name": "Email", "type": "email", "controlValues": {
            "subject": "Hello {{subscriber.firstName}}", "editorType": "html", "body": "<p>It works.</p>"}}
        ]
      }`
const firstTrigger = `{
        "name": "welcome", "transactionId": "first",
        "to": {"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}
      }`

/** For a shell: BELFRY_API_KEY may hold any printable character. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** One clear message for known problems; the stack trace for the others. */
function explain(error: unknown): string {
  if (!(error instanceof StartError)) return (error as Error).stack ?? String(error)
  const { message, cause } = error
  return cause instanceof Error ? `${message}\nReason: ${reasonOf(cause)}` : message
}

/** When several addresses fail, the combined error has a code but no message. */
function reasonOf({ message, code = 'unknown' }: NodeJS.ErrnoException): string {
  return message || code
}

/** Beside the program of the installed package lies its command. */
const isPackage = existsSync(path.join(path.dirname(process.argv[1] ?? ''), '../../../bin/belfry-server.mjs'))
const named = (command: string, args = ''): string =>
  isPackage ? `belfry-server ${command}${args && ` ${args}`}` : `npm run ${command}${args && ` -- ${args}`}`
const linkCommand = named('sign-in-link')

/** One-off commands: `node main.ts <command>` does it and exits. */
const commands: Record<string, (config: Config, parts: Parts, args: string[]) => Promise<string>> = {
  /** For an operator who cannot sign in: a link that creates the owner, or lets a member choose a new password. */
  async 'sign-in-link'(config, parts, args) {
    const [email] = args.filter(isNoFlag)
    const removesFactors = args.includes('--remove-second-factor')
    const { databaseUrl } = await findRunningDatabase(config, parts)
    const database = openDatabase(databaseUrl, { connections: 1, onError: () => undefined })
    parts.add(() => database.close())
    const given = { email, publicUrl: config.publicUrl, now: new Date(), removesFactors }
    const commandForMember = named('sign-in-link', 'ada@example.com')
    return signInLink(database.db, { ...given, command: linkCommand, commandForMember })
  },

  /** Says what is wrong with an installation, and changes nothing. */
  async doctor(config, parts) {
    const { databaseUrl, secretKey } = await findRunningDatabase(config, parts)
    const { pool, close } = openDatabase(databaseUrl, { connections: 1, onError: () => undefined })
    parts.add(close)
    const { warnings } = readConfig(process.env)
    const dataDir = config.databaseUrl === undefined ? config.dataDir : undefined
    const findings = [
      ...warnings.map((text) => ({ isFine: false, text })),
      ...(await findingsOf({ pool, secretKey, otherSecretKeys: config.otherSecretKeys, dataDir })),
    ]
    if (findings.some(({ isFine }) => !isFine)) process.exitCode = 1
    return findings.map(({ isFine, text }) => `${isFine ? 'ok' : 'NOT OK'}  ${text}`).join('\n')
  },

  async backup(config, parts, args) {
    const now = new Date()
    const [name = `belfry-${now.toISOString().slice(0, 19).replaceAll(':', '')}Z.backup`] = args.filter(isNoFlag)
    const file = path.resolve(name)
    const { databaseUrl, secretKey } = await findRunningDatabase(config, parts)
    const { pool, close } = openDatabase(databaseUrl, { connections: 2, onError: () => undefined })
    parts.add(close)
    const withKey = config.secretKey === undefined && args.includes('--with-key')
    const place = config.secretKey === undefined ? path.join(config.dataDir, 'secrets.json') : 'BELFRY_SECRET_KEY'
    const { tables, rows } = await makeBackup({ pool, file, secretKey, withKey, now, say })
    const { size } = statSync(file)
    return `${file}: ${tables} tables, ${rows} rows, ${Math.ceil(size / 1000)} kB. ${
      withKey
        ? 'It contains the secret key that decrypts its credentials: keep it safe.'
        : `It does not contain the secret key, without which its credentials cannot be read: keep ${place} elsewhere.`
    }`
  },

  async restore(config, parts, args) {
    const [name] = args.filter(isNoFlag)
    if (name === undefined) throw new StartError(`Name the backup file: ${named('restore', '<file>')}`)
    const { dataDir, secretKey, databaseUrl, sessionDatabaseUrl } = config
    if (databaseUrl !== undefined) {
      const place = { file: path.resolve(name), databaseUrl: sessionDatabaseUrl ?? databaseUrl }
      const { createdAt, tables, rows, renewed } = await restoreInto({ ...place, secretKey: secretKey ?? '', say })
      const secrets = renewed === 1 ? '1 secret was' : `${renewed} secrets were`
      const anew = renewed === 0 ? '' : ` ${secrets} encrypted anew with BELFRY_SECRET_KEY.`
      return `Restored the database to the state of ${createdAt}: ${tables} tables, ${rows} rows.${anew}`
    }
    const claim = await claimDataDir(dataDir)
    parts.add(() => claim.release())
    const options = { file: path.resolve(name), dataDir: realpathSync(dataDir), secretKey, now: new Date(), say }
    const done = await restoreBackup({ ...options, force: args.includes('--force') })
    const kept = done.movedTo === undefined ? '' : ` The previous data is in ${done.movedTo}.`
    return `Restored ${dataDir} to its state of ${done.createdAt}: ${done.tables} tables, ${done.rows} rows.${kept}`
  },
}

const isNoFlag = (arg: string) => !arg.startsWith('-')

/** What each command takes. */
const usages: Record<string, { args: string; flags: string[] }> = {
  'sign-in-link': { args: '[address]', flags: ['--remove-second-factor'] },
  doctor: { args: '', flags: [] },
  backup: { args: '[file]', flags: ['--with-key'] },
  restore: { args: '<file>', flags: ['--force'] },
}
const usageOf = (command: string): string => {
  const { args, flags } = usages[command] ?? { args: '', flags: [] }
  return [`Usage: ${named(command)}`, args, ...flags.map((flag) => `[${flag}]`)].filter(Boolean).join(' ')
}

/** @returns what to tell the operator */
export async function doCommand(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const parts = new Parts()
  try {
    if (['--help', '-h', 'help'].includes(command))
      return ['Without a command it is the service.', ...Object.keys(commands).map(usageOf)].join('\n')
    const work = commands[command]
    if (!work) throw new StartError(`There is no command ${command}; use one of ${Object.keys(commands).join(', ')}.`)
    if (args.includes('--help') || args.includes('-h')) return usageOf(command)
    // A misspelled one would be lost in silence.
    const unknown = args.find((arg) => !isNoFlag(arg) && !usages[command]?.flags.includes(arg))
    if (unknown !== undefined) throw new StartError(`There is no option ${unknown}. ${usageOf(command)}`)
    return await work(readConfig(env).config, parts, args)
  } finally {
    await parts.end()
  }
}

async function runCommand(command: string, args: string[]): Promise<void> {
  try {
    process.stdout.write(`${await doCommand(command, args, process.env)}\n`)
  } catch (error) {
    process.stderr.write(`\n${explain(error)}\n`)
    process.exitCode = 1
  }
}

/** The embedded database: as Belfry runs it now, else started for this command. */
async function findRunningDatabase(config: Config, parts: Parts): Promise<FoundDatabase> {
  const { databaseUrl, secretKey, dataDir } = config
  if (databaseUrl !== undefined) return { databaseUrl, secretKey: secretKey ?? '' }
  const address = path.join(dataDir, 'database-url')
  if (!existsSync(address))
    throw new StartError(`There is no data in ${dataDir} yet; start Belfry once, or set BELFRY_DATA_DIR.`)
  const url = readFileSync(address, 'utf8').trim()
  const running = openDatabase(url, { connections: 1, onError: () => undefined })
  const isRunning = await running.pool.query('SELECT 1').then(
    () => true,
    () => false,
  )
  await running.close()
  if (!isRunning) {
    const found = await findDatabase(config, parts, pino({ level: 'silent' }))
    await found.databaseReady
    return found
  }
  return { databaseUrl: url, secretKey: secretKey ?? generatedSecrets(dataDir).secretKey }
}

const program = process.argv[1]
if (program !== undefined && existsSync(program) && realpathSync(program) === import.meta.filename) {
  const [, , command, ...args] = process.argv
  void (command === undefined ? startFromCommandLine() : runCommand(command, args))
}
