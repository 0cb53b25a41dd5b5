// The only wiring: settings → database → worker → HTTP; how the service starts and how it stops.
import { makeWorkerUtils } from 'graphile-worker'
import { type Logger, pino } from 'pino'
import { type Config, ConfigError, readConfig } from './config.ts'
import { Changes } from './db/changes.ts'
import { claimDataDir, DataDirInUse, generatedSecrets } from './db/data-dir.ts'
import { openDatabase } from './db/database.ts'
import { type EmbeddedPostgres, startEmbedded } from './db/embedded.ts'
import { type NewEnvironment, prepareFirstStart } from './db/environments.ts'
import { migrate } from './db/migrate.ts'
import { Secrets } from './db/secrets.ts'
import { startWorker } from './engine/worker.ts'
import { buildApp } from './http/app.ts'
import { Brand } from './http/brand.ts'
import { Metrics } from './http/metrics.ts'
import type { App, Clock } from './http/resource.ts'

const connections = 20

export interface Service {
  app: App
  url: string
  /** The environments with their keys, on the first start only. */
  created: NewEnvironment[] | undefined
  stop(): Promise<void>
}

interface Surroundings {
  databaseUrl: string
  secretKey: string
  clock: Clock
  log: Logger
}

/** Everything but the embedded database, on a database that exists. */
export async function startService(
  config: Config,
  { databaseUrl, secretKey, clock, log }: Surroundings,
): Promise<Service> {
  const onError = (error: Error) => log.warn({ err: error }, 'database connection failed')
  const database = openDatabase(databaseUrl, { connections, onError })
  const stops: Array<() => Promise<unknown>> = [() => database.close()]
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    const { applied } = await migrate(database.pool)
    if (applied.length > 0) log.info({ applied }, 'database migrated')
    const secrets = new Secrets(secretKey)
    const created = await prepareFirstStart(database.db, secrets, config.apiKey, clock.now())

    const changes = new Changes(databaseUrl, onError)
    await changes.start()
    stops.push(() => changes.stop())
    const queue = await makeWorkerUtils({ pgPool: database.pool })
    stops.push(async () => queue.release())
    if (config.role !== 'api') {
      const worker = await startWorker({ ...database, clock, log })
      stops.push(() => worker.stop())
    }

    const metrics = new Metrics(database)
    const app = await buildApp({
      ...database,
      config,
      clock,
      secrets,
      changes,
      queue,
      brand: new Brand(config.brand),
      log,
      metrics,
    })
    const url = await app.listen({ host: config.host, port: config.port })
    stops.push(() => app.close())
    return { app, url, created, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startFromCommandLine(): Promise<void> {
  const { config, warnings } = readConfig(process.env)
  const log = makeLog(config)
  const say = (line: string) => process.stdout.write(`  ${line}\n`)
  for (const warning of warnings) log.warn(warning)

  let embedded: EmbeddedPostgres | undefined
  let claim: { release(): void } | undefined
  let secretKey = config.secretKey
  if (config.databaseUrl === undefined) {
    claim = claimDataDir(config.dataDir)
    const generated = generatedSecrets(config.dataDir)
    secretKey ??= generated.secretKey
    embedded = await startEmbedded({ dataDir: config.dataDir, password: generated.databasePassword, say })
  }
  const databaseUrl = config.databaseUrl ?? embedded?.url ?? ''
  const clock = { now: () => new Date() }
  let service: Service | undefined

  const shutDown = async (code: number) => {
    await service?.stop()
    await embedded?.stop()
    claim?.release()
    process.exit(code)
  }
  try {
    service = await startService(config, { databaseUrl, secretKey: secretKey ?? '', clock, log })
  } catch (error) {
    await embedded?.stop()
    claim?.release()
    throw error
  }
  void embedded?.died.then((error) => {
    log.fatal(error.message)
    claim?.release()
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      log.info(`${signal}: finishing what is in hand`)
      void shutDown(0)
    })
  }
  process.stdout.write(welcome(service, config))
}

function makeLog(config: Config): Logger {
  const options = { level: config.logLevel, redact: ['req.headers.authorization'] }
  return process.stdout.isTTY
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } })
    : pino(options)
}

/** What a person needs to go on. Keys are shown once, on the start that made them. */
function welcome({ url, created }: Service, config: Config): string {
  const lines = ['', `  Belfry is ready at ${config.publicUrl}`, `  API reference: ${config.publicUrl}/docs`, '']
  const development = created?.[0]
  if (created && development) {
    lines.push('  Your API keys (shown this once):')
    for (const { name, apiKey } of created) lines.push(`    ${name.padEnd(12)} ${apiKey}`)
    lines.push(
      '',
      '  Create your first subscriber:',
      '',
      `    curl -X POST ${url}/v2/subscribers \\`,
      `      -H 'Authorization: ApiKey ${development.apiKey}' \\`,
      "      -H 'Content-Type: application/json' \\",
      `      -d '{"subscriberId": "ada", "firstName": "Ada", "email": "ada@example.com"}'`,
      '',
    )
  }
  return `${lines.join('\n')}\n`
}

if (process.argv[1] === import.meta.filename) {
  try {
    await startFromCommandLine()
  } catch (error) {
    process.stderr.write(`\n${explain(error)}\n`)
    process.exit(1)
  }
}

/** One clear message where we know what is wrong; the whole story where we do not. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DataDirInUse) return error.message
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `${message}. Another program uses this port; set PORT to a free one.`
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND')
    return `The database at DATABASE_URL cannot be reached: ${message}`
  return stack ?? String(error)
}
