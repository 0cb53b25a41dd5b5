// A running service for a test file: an empty database, a clock the test moves, and callers with keys.
import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { runOnce } from 'graphile-worker'
import { request } from 'undici'
import { afterAll, beforeAll } from 'vitest'
import type { Config } from '../src/config.ts'
import { newScopedKey } from '../src/db/core/api-key-form.ts'
import type { Database } from '../src/db/core/database.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { insertKey } from '../src/db/queries/api-keys.ts'
import { createEnvironment, createOrganization, type NewEnvironment } from '../src/db/queries/environments.ts'
import type { Service } from '../src/main.ts'
import { giveBack, type KeptService, type LogLine, takeService } from './kept-service.ts'

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
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...given },
    body:
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? (body ?? null)
        : JSON.stringify(body),
  })
  const text = await response.body.text()
  const isJson = String(response.headers['content-type']).startsWith('application/json') && text !== ''
  let headers: Headers | undefined
  return {
    status: response.statusCode,
    text,
    body: isJson ? JSON.parse(text) : undefined,
    // Made when somebody looks: that takes as long as half of a small request.
    get headers() {
      headers ??= headersOf(response.headers)
      return headers
    },
  }
}

function headersOf(given: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(given))
    for (const value of [values].flat()) headers.append(name, value ?? '')
  return headers
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

interface Choices {
  logLevel?: string
  /**
   * A process of the file's own: where a test makes a process remember something beside the database, breaks its connections, or
   * counts what it has done since its start.
   */
  isOwn?: boolean
}

/**
 * A service for the tests of a file, with nothing in its database but the first start. Other files may have used its process
 * before. Read the result inside tests only.
 */
export function useServer(
  config: Partial<Config> = {},
  { logLevel = 'warn', isOwn = false }: Choices = {},
): TestServer {
  const clock = new TestClock()
  const logged: LogLine[] = []
  let kept: KeptService
  let database: Database
  let api: Api
  let wideApi: Api

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

  beforeAll(async () => {
    kept = await takeService({ config, logLevel, secretKey, isOwn }, { clock, logged })
    database = kept.database
    const [development] = kept.created
    if (!development) throw new Error('the first start made no environment')
    const { organization_id } = await database.db
      .selectFrom('environments')
      .select('organization_id')
      .limit(1)
      .executeTakeFirstOrThrow()
    api = new Api(kept.main.url, development.apiKey, development.id, organization_id)
    wideApi = await wideKey(api)
  })

  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern; the suite comes second
  afterAll(async ({}, suite) => {
    await giveBack(kept, { hasFailed: suite.tasks.some((task) => task.result?.state === 'fail') })
  })

  return {
    get url() {
      return kept.main.url
    },
    get mailPort() {
      return kept.main.mailPort ?? 0
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
      return kept.setUpToken
    },
    async freshApi() {
      const environment = await database.db.transaction().execute(async (tx) => {
        const created = await createEnvironment(
          tx,
          {
            organization_id: api.organizationId,
            userId: '0'.repeat(24),
            name: randomBytes(6).toString('hex'),
            type: 'prod',
            color: '#000',
            parent_id: null,
          },
          new Secrets(secretKey),
          clock.now(),
        )
        // Most tests open inboxes without a hash.
        await requireHash(tx, created.id, false)
        return created
      })
      return new Api(kept.main.url, environment.apiKey, environment.id, api.organizationId)
    },
    async freshOrganization() {
      const { id, development, production } = await database.db
        .transaction()
        .execute((tx) => createOrganization(tx, { name: 'Another' }, new Secrets(secretKey), clock.now()))
      const apiOf = (environment: NewEnvironment) => new Api(kept.main.url, environment.apiKey, environment.id, id)
      return { development: apiOf(development), production: apiOf(production) }
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
    async drain(around) {
      const { engine, outbox } = kept.main
      const options = kept.drainOptions(around)
      let woken: number
      do {
        let pending = await pendingIn(database)
        if (pending.hasCalls) {
          while ((await outbox.takeSome()) > 0);
          pending = await pendingIn(database)
        }
        if (pending.hasJobs) await runOnce(options)
        const wake = async () => {
          woken += await engine.wake()
        }
        woken = 0
        await (around ? around(wake) : wake())
      } while (woken > 0)
    },
    startAnother: (another) => kept.startAnother(another),
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

/** To look into the outbox takes a transaction, to start the queue's library several statements, and mostly there is nothing. */
async function pendingIn({ pool }: Database): Promise<{ hasCalls: boolean; hasJobs: boolean }> {
  const { rows } = await pool.query<{ hasCalls: boolean; hasJobs: boolean }>({
    name: 'pending',
    text: `
      SELECT EXISTS (SELECT FROM belfry.outbox) AS "hasCalls",
        EXISTS (SELECT FROM graphile_worker._private_jobs WHERE is_available AND run_at <= now()) AS "hasJobs"`,
  })
  return rows[0] ?? { hasCalls: false, hasJobs: false }
}
