// Two API and two worker processes on one PostgreSQL under steady load. Each is restarted as in an upgrade, then killed.
// Restarts fail no request; nothing answered is lost, and nothing happens twice.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Balancer } from './balancer.ts'
import { freePort } from './free-port.ts'
import { InboxSocket } from './inbox.ts'
import { type Run, usePrograms } from './program.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

vi.setConfig({ testTimeout: 400_000 })

const programs = usePrograms()
const key = 'the-key-of-development'
const name = `t_${randomBytes(6).toString('hex')}`
const balancer = new Balancer()
let settings: Record<string, string>
let client: pg.Client

beforeAll(async () => {
  const DATABASE_URL = await createTestDatabase(name)
  client = new pg.Client({ connectionString: DATABASE_URL })
  await client.connect()
  await balancer.start()
  settings = {
    ...{ DATABASE_URL, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: key, BELFRY_LOG: 'warn' },
    // The canary's hidden notification every minute would be counted below.
    BELFRY_CANARY: 'false',
    BELFRY_DATABASE_CONNECTIONS: '12',
    BELFRY_DRAIN_SECONDS: '4',
  }
})

afterAll(async () => {
  await balancer.stop()
  await client.end()
  await dropTestDatabase(name)
})

/** One place in the fleet, where processes replace each other. */
class Place {
  readonly #env: Record<string, string>
  #run: Run | undefined

  constructor(role: string, port: string) {
    this.#env = { ...settings, BELFRY_ROLE: role, PORT: port }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#env.PORT}`
  }

  /** Like a supervisor: starts it again if it cannot start, as on a very busy machine. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const run = programs.start(this.#env)
      try {
        this.#run = await run.ready()
        return
      } catch (error) {
        if (tries === 5) throw error
      }
    }
  }

  /** @returns the exit code */
  async restart(): Promise<number | null | undefined> {
    const ending = await this.#run?.stop()
    await this.start()
    return ending?.code
  }

  async kill(): Promise<void> {
    this.#run?.signal('SIGKILL')
    await this.#run?.ended
    await this.start()
  }
}

const newPlace = async (role: 'api' | 'worker') => new Place(role, String(await freePort()))

async function newApi(): Promise<Place> {
  const place = await newPlace('api')
  balancer.add(place.url)
  return place
}

/**
 * Up to ten triggers a second, each for another subscriber. Those without a success are sent again, as docs/triggers.md
 * says.
 */
class Load {
  readonly failures: string[] = []
  sent = 0
  #isOver = false
  #done: Promise<void> | undefined
  readonly #api = new Api(balancer.url, key, '', '')

  start(): void {
    this.#done = this.#send()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #send(): Promise<void> {
    const underWay = new Set<Promise<void>>()
    while (!this.#isOver) {
      const number = this.sent++
      const one = this.#trigger(number).finally(() => underWay.delete(one))
      underWay.add(one)
      await sleep(100)
      if (underWay.size >= 50) await Promise.race(underWay)
    }
    await Promise.all(underWay)
  }

  async #trigger(number: number): Promise<void> {
    const body = { name: 'hello', to: `person-${number}`, transactionId: `transaction-${number}`, payload: { number } }
    for (;;) {
      const failure = await this.#api.post('/v1/events/trigger', body).then(
        ({ status, text }) => (status === 201 ? undefined : `${status} ${text}`),
        (error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error),
      )
      if (failure === undefined) return
      this.failures.push(failure)
      await sleep(200)
    }
  }
}

async function count(query: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${query}`)
  return rows[0]?.count ?? 0
}

async function inTurn(places: Place[], work: (place: Place) => Promise<unknown>): Promise<void> {
  for (const place of places) await work(place)
}

/** Waits until the balancer knows, as an upgrade of a fleet does before the next process. */
const isServing = (place: Place) => vi.waitUntil(() => balancer.isReady(place.url), { timeout: 30_000 })

test('each process of a fleet is restarted and killed under load, and every trigger becomes one message', async () => {
  const apis = [await newApi(), await newApi()] as const
  const workers = [await newPlace('worker'), await newPlace('worker')] as const
  await Promise.all([apis[0].start(), apis[1].start(), workers[1].start()])
  await inTurn([...apis], isServing)

  const api = new Api(apis[1].url, key, '', '')
  const step = { name: 'inbox', type: 'in_app', controlValues: { body: 'Hello {{payload.number}}' } }
  const workflow = { name: 'hello', workflowId: 'hello', active: true, steps: [step] }
  expect(await api.post('/v2/workflows', workflow)).toMatchObject({ status: 201 })

  // A browser at the first API process receives what was triggered at the second and processed by the only running worker.
  const { rows } = await client.query("SELECT identifier FROM environments WHERE name = 'Development'")
  const session = await new Api(apis[0].url, key, '', '').post('/v1/inbox/session', {
    applicationIdentifier: rows[0].identifier,
    subscriber: { subscriberId: 'ada' },
  })
  const browser = new InboxSocket(apis[0].url, { query: { token: session.body.data.token } })
  await browser.hears('unread_count_changed')
  await api.post('/v1/events/trigger', { name: 'hello', to: 'ada', payload: { number: 'Ada' } })
  expect(await browser.hears('notification_received')).toMatchObject({ message: { content: 'Hello Ada' } })
  browser.socket.disconnect()

  await workers[0].start()
  const load = new Load()
  load.start()
  await Promise.all([
    inTurn([...apis], async (place) => {
      expect(await place.restart()).toBe(0)
      await isServing(place)
    }),
    inTurn([...workers], async (place) => expect(await place.restart()).toBe(0)),
  ])
  expect(load.failures).toEqual([])

  await Promise.all([
    inTurn([...apis], async (place) => {
      await place.kill()
      await isServing(place)
    }),
    inTurn([...workers], (place) => place.kill()),
  ])
  await load.stop()

  const expected = load.sent + 1
  await vi.waitUntil(async () => (await count('messages')) >= expected, { timeout: 60_000, interval: 100 })
  await vi.waitUntil(async () => (await count("graphile_worker.jobs WHERE task_identifier = 'start_runs'")) === 0, {
    timeout: 60_000,
    interval: 100,
  })
  expect(await count('messages')).toBe(expected)
  expect(await count('(SELECT DISTINCT transaction_id FROM messages) t')).toBe(expected)
  expect(await count("notifications WHERE status <> 'completed'")).toBe(0)
  // Four processes, each with twelve connections and a few for other purposes.
  expect(
    await count("pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'belfry%'"),
  ).toBeLessThanOrEqual(4 * (12 + 6))
})
