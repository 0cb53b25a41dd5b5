// A running service for a test file: its own copy of the database, a clock the test moves, and callers with keys.
import { randomBytes } from 'node:crypto'
import { Logger as QueueLog, type RunnerOptions, runOnce, type TaskList } from 'graphile-worker'
import pg from 'pg'
import { pino } from 'pino'
import { request } from 'undici'
import { afterAll, beforeAll, inject } from 'vitest'
import { type Config, readConfig } from '../src/config.ts'
import { newScopedKey } from '../src/db/core/api-key-form.ts'
import { type Database, openDatabase } from '../src/db/core/database.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { insertKey } from '../src/db/queries/api-keys.ts'
import { createEnvironment, createOrganization } from '../src/db/queries/environments.ts'
import { type Service, startService } from '../src/main.ts'
import { type Copy, copiesOf } from './environment-copies.ts'
import { isFree } from './free-port.ts'
import { template, withDatabase } from './global-setup.ts'
import { simulationThread } from './simulation-thread.ts'

export const secretKey = 'a1'.repeat(32)

/** Limits that a test can reach. */
export const lowLimits = { workflows: 100, steps: 20, layouts: 100, environments: 10, variables: 10 }

export class TestClock {
  #now = new Date('2026-05-01T10:00:00.000Z')

  now = () => new Date(this.#now)

  advance(by: { ms?: number; seconds?: number; minutes?: number; hours?: number; days?: number }) {
    const { ms = 0, seconds = 0, minutes = 0, hours = 0, days = 0 } = by
    this.#now = new Date(this.#now.getTime() + ms + 1000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days))))
  }
}

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
  body: any
  text: string
}

/** Sends requests with one API key. */
export class Api {
  readonly url: string
  readonly key: string
  readonly environmentId: string
  readonly organizationId: string

  constructor(url: string, key: string, environmentId: string, organizationId: string) {
    this.url = url
    this.key = key
    this.environmentId = environmentId
    this.organizationId = organizationId
  }

  /** A caller with a key of the organization, which reaches the same environment and all others. */
  static ofOrganization(key: string, of: Pick<Api, 'url' | 'environmentId' | 'organizationId'>): Api {
    const api = new Api(of.url, key, of.environmentId, of.organizationId)
    const send = api.send.bind(api)
    api.send = (method, path, body, headers = {}) =>
      send(method, path, body, { 'belfry-environment': of.environmentId, ...headers })
    return api
  }

  get = (path: string, headers?: Record<string, string>) => this.send('GET', path, undefined, headers)
  post = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('POST', path, body, headers)
  put = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('PUT', path, body, headers)
  patch = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('PATCH', path, body, headers)
  delete = (path: string, body?: unknown, headers?: Record<string, string>) => this.send('DELETE', path, body, headers)

  /** A string body is sent as is, anything else as JSON. */
  send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return sendTo(this.url + path, method, body, { authorization: `ApiKey ${this.key}`, ...headers })
  }
}

/** Without following redirects. Not by fetch, which takes twice the processor time. */
export async function sendTo(
  url: string,
  method: string,
  body: unknown,
  given: Record<string, string>,
): Promise<Answer> {
  const response = await request(url, {
    method,
    headers: body === undefined ? given : { 'content-type': 'application/json', ...given },
    body:
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? (body ?? null)
        : JSON.stringify(body),
  })
  const text = await response.body.text()
  const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json') && text !== ''
  let headers: Headers | undefined
  return {
    status: response.statusCode,
    text,
    body: isJson ? JSON.parse(text) : undefined,
    // Most tests do not look at them, and to make them takes longer than to read the body.
    get headers() {
      headers ??= headersOf(response.headers)
      return headers
    },
  }
}

function headersOf(given: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(given))
    for (const value of [values].flat()) headers.append(name, value ?? '')
  return headers
}

/**
 * The port of this worker's servers, one after the other: a browser keeps the scripts it has loaded and compiled by their
 * address, for all test files.
 */
let usualPort: number | undefined
let isUsualPortTaken = false

interface LogLine {
  level: number
  msg: string
  errorId?: string
  err?: { message: string; stack: string }
}

export interface TestServer {
  url: string
  /** The port for inbound mail, if configured. */
  mailPort: number
  clock: TestClock
  database: Database
  /** The service's log so far: warnings and errors, unless the test asks for more. */
  logged: LogLine[]
  /** The Development environment of the first start. */
  api: Api
  /** The same environment, with a key of its organization. */
  wideApi: Api
  /** The owner's set-up token, printed by the first start. */
  setUpToken: string
  /** A new environment. */
  freshApi(): Promise<Api>
  /** A new organization with its Development and Production. */
  freshOrganization(): Promise<{ development: Api; production: Api }>
  /** The same, each reached with a key of the organization. */
  freshOrganizationWide(): Promise<{ development: Api; production: Api }>
  /** A new key for the environment of `api`, or for its organization, with these scopes. */
  keyFor(api: Api, scopes: string[], owner?: 'environment' | 'organization'): Promise<Api>
  /** The same environment with a key of its organization that may do everything. */
  organizationOf(api: Api): Promise<Api>
  /**
   * Does all work that is queued or due by the clock, until none is left. `around` controls how each piece of work is done,
   * for example to make it fail.
   */
  drain(around?: (work: () => Promise<void>) => Promise<void>): Promise<void>
  /** Another process of the same service, on the same database. */
  startAnother(
    config?: Partial<Config>,
  ): Promise<Pick<Service, 'url' | 'mailPort' | 'engine' | 'outbox' | 'drain' | 'stop'>>
}

/** Starts the service before the tests of a file and stops it after them. Read the result inside tests only. */
export function useServer(overrides: Partial<Config> = {}, { logLevel = 'warn' } = {}): TestServer {
  const name = `t_${randomBytes(6).toString('hex')}`
  const clock = new TestClock()
  const services: Service[] = []
  const logged: LogLine[] = []
  const log = pino(
    { level: process.env.TEST_LOG ?? logLevel },
    {
      write(line) {
        logged.push(JSON.parse(line))
        if (process.env.TEST_LOG) process.stdout.write(line)
      },
    },
  )
  let database: Database
  let databaseUrl: string
  let api: Api
  let wideApi: Api
  let setUpToken = ''
  let hasUsualPort = false
  const secrets = new Secrets(secretKey)
  let environmentCopies: ReturnType<typeof copiesOf> | undefined
  let organizationCopies: ReturnType<typeof copiesOf> | undefined
  const apiOf = (environments: Copy['environments'], organizationId: string) =>
    environments.map(({ id, apiKey }) => new Api(services[0]?.url ?? '', apiKey, id, organizationId))

  const start = async (config: Partial<Config> = {}, port = 0) => {
    const service = await startService(
      {
        ...readConfig({ PORT: String(port), BELFRY_LOG: process.env.TEST_LOG ?? 'silent' }).config,
        role: 'api',
        // No test asks the DNS of the network: nobody answers there.
        dnsServers: ['127.0.0.1:1'],
        ...overrides,
        ...config,
      },
      {
        databaseUrl: config.databaseUrl ?? databaseUrl,
        secretKey: config.secretKey ?? secretKey,
        ...{ clock, log, simulationThread },
      },
    )
    services.push(service)
    return service
  }

  const newKey: TestServer['keyFor'] = async (of, scopes, owner = 'environment') => {
    const key = newScopedKey(owner)
    const { environmentId, organizationId } = of
    const { userId } = await database.db
      .selectFrom('organizations')
      .select('owner_user_id as userId')
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow()
    const given = { key, scopes, name: scopes.join(' '), userId }
    const place = owner === 'organization' ? { organizationId } : { environmentId }
    await database.db.transaction().execute((tx) => insertKey(tx, { ...given, owner: place }, clock.now()))
    return owner === 'organization' ? Api.ofOrganization(key, of) : new Api(of.url, key, environmentId, organizationId)
  }
  const wideKey = (of: Api) => newKey(of, ['administer'], 'organization')

  const taskLists: TaskList[] = []
  let usualDrain: RunnerOptions | undefined
  const drainOf = (service: Service, around: typeof atOnce): RunnerOptions => {
    const taskList: TaskList = {}
    for (const [name, task] of Object.entries(service.tasks))
      taskList[name] = (payload, helpers) => around(async () => void (await task?.(payload, helpers)))
    taskLists.push(taskList)
    return { pgPool: database.pool, taskList, noHandleSignals: true, logger: quiet }
  }

  beforeAll(async () => {
    databaseUrl = await createTestDatabase(name)
    database = openDatabase(databaseUrl, { connections: 5, onError: () => undefined })
    hasUsualPort = !isUsualPortTaken
    isUsualPortTaken = true
    const service = await start(
      {},
      hasUsualPort && usualPort !== undefined && (await isFree(usualPort)) ? usualPort : 0,
    )
    if (hasUsualPort) usualPort = Number(new URL(service.url).port)
    const development = service.created?.[0]
    if (!development) throw new Error('the first start made no environment')
    setUpToken = service.setUpToken ?? ''
    const { organization_id } = await database.db
      .selectFrom('environments')
      .select('organization_id')
      .limit(1)
      .executeTakeFirstOrThrow()
    api = new Api(service.url, development.apiKey, development.id, organization_id)
    wideApi = await wideKey(api)
  })

  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern; the suite comes second
  afterAll(async ({}, suite) => {
    const failed = suite.tasks.some((task) => task.result?.state === 'fail')
    for (const service of services.reverse()) await service.stop()
    // The queue's library keeps all options it was ever given, and with their tasks the whole service.
    for (const taskList of taskLists) for (const name of Object.keys(taskList)) delete taskList[name]
    if (hasUsualPort) isUsualPortTaken = false
    await database.close()
    if (failed) process.stderr.write(`a test failed; its database is kept for inspection: ${name}\n`)
    else await dropTestDatabase(name)
  })

  return {
    get url() {
      return services[0]?.url ?? ''
    },
    get mailPort() {
      return services[0]?.mailPort ?? 0
    },
    clock,
    logged,
    get database() {
      return database
    },
    get api() {
      return api
    },
    get wideApi() {
      return wideApi
    },
    get setUpToken() {
      return setUpToken
    },
    async freshApi() {
      const name = randomBytes(6).toString('hex')
      environmentCopies ??= copiesOf(database, secrets, async (tx) => {
        const fields = {
          name,
          type: 'prod',
          color: '#000',
          parent_id: null,
          organization_id: api.organizationId,
        } as const
        const { id } = await createEnvironment(tx, { ...fields, userId: '0'.repeat(24) }, secrets, clock.now())
        // Most tests open inboxes without a hash.
        await requireHash(tx, id, false)
        return { environmentIds: [id] }
      })
      const { environments } = await (await environmentCopies)(clock.now(), name)
      return apiOf(environments, api.organizationId)[0] as Api
    },
    async freshOrganization() {
      organizationCopies ??= copiesOf(database, secrets, async (tx) => {
        const { id, development, production } = await createOrganization(tx, { name: 'Another' }, secrets, clock.now())
        return { environmentIds: [development.id, production.id], organizationIds: [id] }
      })
      const { organizationId, environments } = await (await organizationCopies)(clock.now())
      const [development, production] = apiOf(environments, organizationId) as [Api, Api]
      return { development, production }
    },
    async freshOrganizationWide() {
      const { development, production } = await this.freshOrganization()
      return {
        development: await wideKey(development),
        production: await wideKey(production),
      }
    },
    keyFor: newKey,
    organizationOf: wideKey,
    async drain(around = atOnce) {
      const [service] = services
      if (!service) throw new Error('the service is not running')
      usualDrain ??= drainOf(service, atOnce)
      const options = around === atOnce ? usualDrain : drainOf(service, around)
      let woken: number
      do {
        while ((await service.outbox.takeSome()) > 0);
        if (await hasDueJob(database)) await runOnce(options)
        woken = 0
        await around(async () => {
          woken += await service.engine.wake()
        })
      } while (woken > 0)
    },
    startAnother: (config) => start(config),
  }
}

/** Whether inboxes of this environment need a hash of the subscriber id. */
export async function requireHash(db: Database['db'], environmentId: string, isRequired: boolean): Promise<void> {
  await db
    .updateTable('integrations')
    .set({ credentials: JSON.stringify(isRequired ? { hmac: true } : {}) })
    .where('environment_id', '=', environmentId)
    .where('channel', '=', 'in_app')
    .execute()
}

const quiet = new QueueLog(() => () => undefined)
const atOnce = (work: () => Promise<void>) => work()

/** To start the queue's library takes several statements, and most of the time there is nothing to do. */
async function hasDueJob({ pool }: Database): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'has_due_job',
    text: 'SELECT FROM graphile_worker._private_jobs WHERE is_available AND run_at <= now() LIMIT 1',
  })
  return rowCount === 1
}

/** A copy of the migrated template, file by file: through the write-ahead log it takes six times as long. */
export async function createTestDatabase(name: string): Promise<string> {
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
  // As the migrations leave it for a role of this name; a copy of a database does not have it.
  await administer(`ALTER ROLE belfry IN DATABASE ${name} SET search_path = public`)
  return withDatabase(inject('databaseUrl'), name)
}

/** One without any tables. */
export async function createEmptyDatabase(name: string): Promise<string> {
  await administer(`CREATE DATABASE ${name}`)
  return withDatabase(inject('databaseUrl'), name)
}

export async function dropTestDatabase(name: string): Promise<void> {
  await administer(`DROP DATABASE ${name} WITH (FORCE)`)
}

let admin: pg.Pool | undefined

async function administer(statement: string): Promise<void> {
  // One connection for all files of the worker; it ends with the process, or with the database.
  admin ??= new pg.Pool({ connectionString: inject('databaseUrl'), max: 1, allowExitOnIdle: true }).on(
    'error',
    () => undefined,
  )
  await admin.query(statement)
}
