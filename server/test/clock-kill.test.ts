// A process that dies at any statement of an advance, with another process beside it and a caller at each: nothing is lost, nothing
// doubled, and the clock never goes back. By default at some of the statements; killed (-9) and cut off at each of them, which
// takes half an hour: EVERY=1 npx vitest run server/test/clock-kill.test.ts; with FROM=60, from the 60th on.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CutLine } from './cut-line.ts'
import { freePort } from './free-port.ts'
import { type Here, startHere } from './here.ts'
import { usePrograms } from './program.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

vi.setConfig({ testTimeout: process.env.EVERY ? 3_600_000 : 300_000, hookTimeout: 300_000 })

/** Of the statements, those at which the connection is cut, and those at which the process is killed. */
const every = { cut: Number(process.env.EVERY ?? 12), kill: Number(process.env.EVERY ?? 24) }
const programs = usePrograms()
const name = `t_${randomBytes(6).toString('hex')}`
const start = '2026-03-28T19:00:00.000Z'
let databaseUrl: string
let client: pg.Client
let survivor: Here
let organizationKey: string

const settingsOf = (url: string) => ({
  ...{
    DATABASE_URL: url,
    BELFRY_SECRET_KEY: secretKey,
    BELFRY_BRAND: 'novu',
    BELFRY_API_KEY: 'the-key-of-development',
  },
  ...{ BELFRY_CANARY: 'false', BELFRY_ROLE: 'api', BELFRY_LOG: 'silent' },
})

beforeAll(async () => {
  databaseUrl = await createTestDatabase(name)
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  survivor = await startHere(settingsOf(databaseUrl))
  organizationKey = 'the-key-of-development'
})

afterAll(async () => {
  await survivor.stop()
  await client.end()
  await dropTestDatabase(name)
})

const email = { name: 'Mail', stepId: 'mail', type: 'email', controlValues: { subject: 'Hello', body: 'Hello' } }
const delay = {
  name: 'Wait',
  stepId: 'wait',
  type: 'delay',
  controlValues: { type: 'regular', amount: 1, unit: 'hours' },
}
const digest = { name: 'Collect', stepId: 'collect', type: 'digest', controlValues: { amount: 2, unit: 'hours' } }
const inApp = { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } }

async function prepared(): Promise<{ id: string; key: string }> {
  const root = new Api(survivor.url, organizationKey, '', '')
  const named = { name: `held ${randomBytes(6).toString('hex')}`, color: '#123456', clock: { now: start } }
  const made = await root.post('/v1/environments', named)
  expect(made, made.text).toMatchObject({ status: 201 })
  const { _id: id, apiKeys } = made.body
  const api = new Api(survivor.url, apiKeys[0].key, id, '')
  const steps = [inApp, delay, email, digest, { ...email, stepId: 'last' }]
  expect(await api.post('/v2/workflows', { name: 'News', workflowId: 'news', active: true, steps })).toMatchObject({
    status: 201,
  })
  for (const subscriberId of ['ada', 'bob', 'ada'])
    await api.post('/v1/events/trigger', { name: 'news', to: { subscriberId, email: `${subscriberId}@example.com` } })
  return { id, key: apiKeys[0].key }
}

const shownBy = async (id: string): Promise<number> => {
  const { rows } = await client.query<{ clock_now: Date }>('SELECT clock_now FROM environments WHERE id = $1', [id])
  return rows[0]?.clock_now.getTime() ?? 0
}

async function outcomeOf(id: string) {
  const { rows: runs } = await client.query(
    `SELECT n.subscriber_id, n.status, (SELECT json_agg(json_build_array(j.step_id, j.status, j.updated_at) ORDER BY j.position)
       FROM jobs j WHERE j.environment_id = $1 AND j.notification_id = n.id) AS steps
     FROM notifications n WHERE n.environment_id = $1 ORDER BY n.event_id, n.id`,
    [id],
  )
  const { rows: messages } = await client.query(
    `SELECT subscriber_id, channel, step_id, status, created_at FROM messages WHERE environment_id = $1
     ORDER BY transaction_id, created_at, channel, id`,
    [id],
  )
  const { rows: sandbox } = await client.query(
    'SELECT subscriber_id, step_id, created_at FROM sandbox_messages WHERE environment_id = $1 ORDER BY 3, 1, 2',
    [id],
  )
  const { rows: left } = await client.query('SELECT kind FROM timers WHERE environment_id = $1', [id])
  return { runs, messages, sandbox, left }
}

/** Advances at the survivor until it is there, whoever else moves the clock. */
async function finish(key: string, to: string): Promise<void> {
  const api = new Api(survivor.url, key, '', '')
  await vi.waitUntil(
    async () => {
      const { status, body } = await api.post('/v1/clock/advance', { to })
      return (status === 200 && body.reached) || (status === 422 && body.code === 'clock_backwards')
    },
    { timeout: 60_000, interval: 20 },
  )
}

const to = '2026-03-29T19:00:00Z'
let expected: Awaited<ReturnType<typeof outcomeOf>>
let statements: number
/** Of an advance by nothing. */
let usualStatements: number

/** What comes of it undisturbed, and how many statements that takes. */
beforeAll(async () => {
  const undisturbed = await prepared()
  const counting = await CutLine.to(databaseUrl)
  const counted = await startHere(settingsOf(counting.url))
  // Before, so that everything is remembered.
  for (let times = 0; times < 2; times += 1) {
    counting.takeCount()
    await new Api(counted.url, undisturbed.key, '', '').post('/v1/clock/advance', { by: '0s' })
    usualStatements = counting.takeCount()
  }
  await new Api(counted.url, undisturbed.key, '', '').post('/v1/clock/advance', { to })
  statements = counting.takeCount()
  await counted.stop()
  await counting.close()
  expected = await outcomeOf(undisturbed.id)
})

test('an advance that nobody disturbs leaves nothing behind', () => {
  expect(expected.left).toEqual([])
  expect(expected.sandbox).toHaveLength(5)
  expect(statements).toBeGreaterThan(100)
})

interface Victim {
  url: string
  /** Ends it at the statement. */
  die(): void
  /** Once it is over. @param asked settles with the answer, if there ever is one */
  end(asked: Promise<unknown>): Promise<void>
}

/** Two callers advance the same clock, at two processes, of which one ends at this statement. */
async function outlive(at: number, line: CutLine, victim: Victim): Promise<void> {
  const { id, key } = await prepared()
  const api = new Api(victim.url, key, '', '')
  // Until it is connected and remembers everything, as when the statements were counted.
  await vi.waitUntil(
    async () => {
      line.takeCount()
      const { status } = await api.post('/v1/clock/advance', { by: '0s' })
      return status === 200 && line.takeCount() <= usualStatements
    },
    { timeout: 60_000, interval: 20 },
  )
  let hasDied = false
  line.cutAfter(at, () => {
    hasDied = true
    victim.die()
  })
  let last = await shownBy(id)
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const shown = await shownBy(id)
      expect(shown).toBeGreaterThanOrEqual(last)
      last = shown
    }
  })()
  // It may never be answered.
  const asked = api.post('/v1/clock/advance', { to }).catch(() => undefined)
  // The other caller comes while the clock is being moved.
  const here = new Api(survivor.url, key, '', '')
  const hasBegun = async () => (await here.get('/v1/clock')).body.advancingTo !== null || last === Date.parse(to)
  try {
    // A busy machine takes its time.
    await vi.waitUntil(async () => hasDied || (await hasBegun()), { timeout: 60_000, interval: 1 })
    await finish(key, to)
  } finally {
    isOver = true
    await watching
  }
  expect(await shownBy(id), `ended at ${at}`).toBe(Date.parse(to))
  expect(await outcomeOf(id), `ended at ${at} of ${statements}`).toEqual(expected)
  await victim.end(asked)
  await new Api(survivor.url, organizationKey, '', '').delete(`/v1/environments/${id}`)
  // The last statements only read what to answer, and the other caller may be there first.
  if (at < statements - 10) expect(hasDied, `ended at ${at} of ${statements}`).toBe(true)
  if (process.env.EVERY) process.stderr.write(`${at} of ${statements}\n`)
}

const placesOf = (step: number) => {
  const first = Number(process.env.FROM ?? 1 + Math.floor(Math.random() * step))
  return Array.from({ length: Math.ceil((statements - first) / step) }, (_, index) => first + index * step)
}

test('a process that is cut off: nothing is lost or doubled, and the clock never goes back', async () => {
  const line = await CutLine.to(databaseUrl)
  const here = await startHere(settingsOf(line.url))
  const victim: Victim = {
    url: here.url,
    die: () => undefined,
    end: async (asked) => {
      line.mend()
      await asked
    },
  }
  try {
    const places = placesOf(every.cut)
    expect(places).not.toEqual([])
    for (const at of places) await outlive(at, line, victim)
  } finally {
    await here.stop()
    await line.close()
  }
})

test('a process that is killed (-9): nothing is lost or doubled, and the clock never goes back', async () => {
  const places = placesOf(every.kill)
  expect(places).not.toEqual([])
  for (const at of places) {
    const line = await CutLine.to(databaseUrl)
    const run = await programs
      .start({ ...settingsOf(line.url), PORT: String(await freePort()), BELFRY_LOG: 'info' })
      .ready()
    const end = async () => {
      run.signal('SIGKILL')
      expect((await run.ended).code).toBeNull()
    }
    await outlive(at, line, { url: run.url, die: () => run.signal('SIGKILL'), end })
    await line.close()
  }
})
