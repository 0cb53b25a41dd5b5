// A service that serves one test file after another. To start it on a database of its own, and to fill the caches of all its
// connections, takes more processor time than most files take for their tests. Between two files its database is emptied; where
// a file left anything else behind, the service ends with it.
import { Logger as QueueLog, type RunnerOptions, type TaskList } from 'graphile-worker'
import { pino } from 'pino'
import { type Config, readConfig } from '../src/config.ts'
import { type Database, openDatabase } from '../src/db/core/database.ts'
import { newId } from '../src/db/core/ids.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { type NewEnvironment, prepareFirstStart } from '../src/db/queries/environments.ts'
import { Brand } from '../src/http/edge/brand.ts'
import { type Service, startService } from '../src/main.ts'
import { isFree } from './free-port.ts'
import { simulationThread } from './simulation-thread.ts'
import { Contents, createTestDatabase, dropTestDatabase, keepTestDatabase } from './test-database.ts'

export interface LogLine {
  level: number
  msg: string
  errorId?: string
  err?: { message: string; stack: string }
}

/** What a test file reads and moves. */
interface User {
  clock: { now(): Date }
  logged: LogLine[]
}

interface Wanted {
  config: Partial<Config>
  logLevel: string
  secretKey: string
  /** For a file whose tests change what a process remembers beside the database, or read it. */
  isOwn: boolean
}

/** Services that no file uses at the moment. Each has a dozen connections. */
const idle: KeptService[] = []
const mostIdle = 3

/** By what was wanted: a browser keeps the scripts it has loaded and compiled by their address, for all test files. */
const usualPorts = new Map<string, number>()

export async function takeService(wanted: Wanted, user: User): Promise<KeptService> {
  const kind = JSON.stringify([wanted.config, wanted.logLevel])
  const place = wanted.isOwn ? -1 : idle.findIndex((service) => service.kind === kind)
  const [known] = place < 0 ? [] : idle.splice(place, 1)
  const service = known ?? (await KeptService.start(kind, wanted, user))
  await service.begin(user)
  return service
}

/** @param hasFailed then its database is kept for inspection */
export async function giveBack(service: KeptService, { hasFailed }: { hasFailed: boolean }): Promise<void> {
  if (hasFailed) {
    const name = await service.leave()
    process.stderr.write(`a test failed; its database is kept for inspection: ${name}\n`)
  } else if (!service.isOwn && (await service.empty())) {
    idle.push(service)
    // The next file rather wants what many have wanted.
    idle.sort((one, other) => other.uses - one.uses)
    if (idle.length > mostIdle) await idle.pop()?.end()
  } else await service.end()
}

export class KeptService {
  readonly kind: string
  readonly isOwn: boolean
  /** How many files have had it. */
  uses = 0
  readonly databaseUrl: string
  /** For the tests. */
  readonly database: Database
  /** The environments of the first start. */
  created: NewEnvironment[] = []
  /** The owner's set-up token, printed by the first start. */
  setUpToken = ''
  main!: Service
  readonly #config: Config
  readonly #name: string
  readonly #logLevel: string
  readonly #secretKey: string
  readonly #others: Service[] = []
  readonly #taskLists: TaskList[] = []
  #user: User
  #usualDrain: RunnerOptions | undefined
  #contents: Contents | undefined

  private constructor(
    kind: string,
    { config, logLevel, secretKey, isOwn }: Wanted,
    user: User,
    name: string,
    url: string,
  ) {
    this.kind = kind
    this.isOwn = isOwn
    this.#logLevel = logLevel
    this.#secretKey = secretKey
    this.#user = user
    this.#name = name
    this.databaseUrl = url
    this.database = openDatabase(url, { connections: 5, onError: () => undefined })
    this.#config = {
      ...readConfig({ PORT: '0', BELFRY_LOG: process.env.TEST_LOG ?? 'silent' }).config,
      role: 'api',
      // No test asks the DNS of the network: nobody answers there.
      dnsServers: ['127.0.0.1:1'],
      ...config,
    }
  }

  static async start(kind: string, wanted: Wanted, user: User): Promise<KeptService> {
    const name = `s_${newId(new Date())}`
    const service = new KeptService(kind, wanted, user, name, await createTestDatabase(name))
    if (!wanted.isOwn) service.#contents = await Contents.of(service.database.pool)
    const port = usualPorts.get(kind)
    service.main = await service.#start(port !== undefined && (await isFree(port)) ? { port } : {})
    usualPorts.set(kind, Number(new URL(service.main.url).port))
    return service
  }

  /** For the next file. The database is empty, unless the service has just started. */
  async begin(user: User): Promise<void> {
    this.#user = user
    this.uses += 1
    const { created, setUpToken } = this.main
    const isNew = this.created.length === 0
    const first =
      isNew && created ? { environments: created, setUpToken } : await this.#prepareFirstStart(user.clock.now())
    if (!first) throw new Error('the first start made no environment')
    this.created = first.environments
    this.setUpToken = first.setUpToken ?? ''
  }

  /** As the service itself does it where nobody has used the database yet. */
  #prepareFirstStart(now: Date) {
    const { apiKey, productionApiKey, brand, otherSecretKeys } = this.#config
    const keys = { apiKey, productionApiKey, signsApart: !new Brand(brand).startsOpen }
    return prepareFirstStart(this.database.db, new Secrets(this.#secretKey, otherSecretKeys), keys, now)
  }

  /** Another process of the same service, on the same database, until the file ends. */
  async startAnother(config: Partial<Config> = {}): Promise<Service> {
    const service = await this.#start(config)
    this.#others.push(service)
    return service
  }

  #start(config: Partial<Config>): Promise<Service> {
    return startService(
      { ...this.#config, ...config },
      {
        databaseUrl: this.databaseUrl,
        secretKey: config.secretKey ?? this.#secretKey,
        clock: { now: () => this.#user.clock.now() },
        log: this.#log(),
        simulationThread,
      },
    )
  }

  #log() {
    const write = (line: string) => {
      this.#user.logged.push(JSON.parse(line))
      if (process.env.TEST_LOG) process.stdout.write(line)
    }
    return pino({ level: process.env.TEST_LOG ?? this.#logLevel }, { write })
  }

  /** For the queue's library, which does all jobs that are due. @param around how each is done; the usual way if undefined */
  drainOptions(around?: (work: () => Promise<void>) => Promise<void>): RunnerOptions {
    if (!around) {
      this.#usualDrain ??= this.drainOptions((work) => work())
      return this.#usualDrain
    }
    const taskList: TaskList = {}
    for (const [name, task] of Object.entries(this.main.tasks))
      taskList[name] = (payload, helpers) => around(async () => void (await task?.(payload, helpers)))
    this.#taskLists.push(taskList)
    return { pgPool: this.database.pool, taskList, noHandleSignals: true, logger: quiet }
  }

  /** @returns whether the service is as good as a new one */
  async empty(): Promise<boolean> {
    for (const other of this.#others.splice(0).reverse()) await other.stop()
    return (await this.#contents?.empty()) ?? false
  }

  async end(): Promise<void> {
    await this.#stop()
    await dropTestDatabase(this.#name)
  }

  /** Ends, but keeps the database. @returns its name */
  async leave(): Promise<string> {
    await this.#stop()
    return keepTestDatabase(this.#name)
  }

  async #stop(): Promise<void> {
    for (const service of [this.main, ...this.#others].reverse()) await service.stop()
    // The queue's library keeps all options it was ever given, and with their tasks the whole service.
    for (const taskList of this.#taskLists) for (const name of Object.keys(taskList)) delete taskList[name]
    await this.database.close()
  }
}

const quiet = new QueueLog(() => () => undefined)
