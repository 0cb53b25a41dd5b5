// A process that is killed (-9) at a statement of a match, an answer or a level: what was accepted takes effect once. By default at
// some of the statements; at each of them: EVERY=1 npx vitest run server/test/journey-kill.test.ts
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { CutLine } from './cut-line.ts'
import { freePort } from './free-port.ts'
import { type Here, startHere } from './here.ts'
import { type Run, usePrograms } from './program.ts'
import { makeWorkflow, runOf, trigger } from './runs.ts'
import { Api, createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

vi.setConfig({ testTimeout: process.env.EVERY ? 1_800_000 : 300_000, hookTimeout: 120_000 })

const every = Number(process.env.EVERY ?? 9)
const programs = usePrograms()
const name = `t_${randomBytes(6).toString('hex')}`
const key = 'the-key-of-development'
const settingsOf = (url: string) => ({
  ...{ DATABASE_URL: url, BELFRY_SECRET_KEY: secretKey, BELFRY_API_KEY: key },
  ...{ BELFRY_CANARY: 'false' },
})
let databaseUrl: string
let client: pg.Client
/** Accepts, and works only where it is told to. */
let here: Here
let api: Api

const day = { amount: 1, unit: 'days' }
const asks = { question: 'Fine?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'], ...day }
const note = (stepId: string) => ({
  type: 'in_app',
  stepId: 'note',
  controlValues: { body: `{{steps.${stepId}.outcome}}` },
})

beforeAll(async () => {
  databaseUrl = await createTestDatabase(name)
  client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  here = await startHere({ ...settingsOf(databaseUrl), BELFRY_ROLE: 'api', BELFRY_LOG: 'silent' })
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM environments WHERE type = 'dev' ORDER BY id LIMIT 1",
  )
  api = new Api(here.url, key, rows[0]?.id ?? '', '')
  const wait = { for: [{ event: 'paid', key: '{{payload.number}}' }], ...day }
  const chain = [{ subscriberId: '{{subscriber.subscriberId}}' }, { subscriberId: 'deputy' }]
  await makeWorkflow(api, 'match', [{ type: 'wait_for_event', stepId: 'wait', controlValues: wait }, note('wait')])
  await makeWorkflow(api, 'answer', [{ type: 'ask', stepId: 'wait', controlValues: asks }, note('wait')])
  await makeWorkflow(api, 'level', [
    { type: 'ask', stepId: 'wait', controlValues: { ...asks, chain, patience: { amount: 2, unit: 'seconds' } } },
  ])
  await api.post('/v2/subscribers', { subscriberId: 'deputy' })
})
afterAll(async () => {
  await here.stop()
  await client.end()
  await dropTestDatabase(name)
})

const until = (check: () => unknown) => vi.waitFor(check, { timeout: 40_000, interval: 20 })
const questionOf = async (transactionId: string) =>
  (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data[0]
const askedIn = async (transactionId: string): Promise<string[]> =>
  ((await questionOf(transactionId))?.asked ?? []).map(({ subscriberId }: { subscriberId: string }) => subscriberId)
const contentsOf = async (transactionId: string) => {
  const { rows } = await client.query<{ subscriber_id: string; step_id: string }>(
    // Ids of one second from two processes are in no order.
    'SELECT subscriber_id, step_id FROM messages WHERE transaction_id = $1 ORDER BY created_at, id',
    [transactionId],
  )
  return rows.map(({ subscriber_id, step_id }) => `${subscriber_id} ${step_id}`)
}

interface Kind {
  /** Once the run waits. */
  isReady(transactionId: string): Promise<boolean>
  /** @returns whether it was accepted */
  act(by: Api, transactionId: string): Promise<unknown>
  isDone(transactionId: string): Promise<boolean>
  /** What there is in the end, exactly. */
  check(transactionId: string, to: string): Promise<void>
}

const isWaiting = async (transactionId: string) => (await runOf(api, transactionId))?.jobs[0]?.status === 'delayed'
const isCompleted = async (transactionId: string) => (await runOf(api, transactionId))?.status === 'completed'

const kinds: Record<'match' | 'answer' | 'level', Kind> = {
  match: {
    isReady: isWaiting,
    act: (by, transactionId) => by.post('/v2/events', { name: 'paid', key: transactionId, id: transactionId }),
    isDone: isCompleted,
    async check(transactionId, to) {
      expect(await contentsOf(transactionId)).toEqual([`${to} note`])
      expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'event', matched: 0 })
      expect((await api.get(`/v2/events/${transactionId}`)).body).toMatchObject({ status: 'done', matched: 1 })
    },
  },
  answer: {
    isReady: isWaiting,
    act: async (by, transactionId) =>
      by.post(`/v2/questions/${(await questionOf(transactionId)).id}/answer`, {
        answer: 'yes',
        subscriberId: transactionId,
      }),
    isDone: isCompleted,
    async check(transactionId, to) {
      expect(await contentsOf(transactionId)).toEqual([`${to} wait`, `${to} note`])
      expect(await questionOf(transactionId)).toMatchObject({ state: 'answered', answer: 'yes' })
    },
  },
  level: {
    isReady: async (transactionId) => (await askedIn(transactionId)).length === 1,
    act: async () => ({ status: 200 }),
    isDone: async (transactionId) => (await askedIn(transactionId)).length > 1,
    async check(transactionId, to) {
      expect(await askedIn(transactionId)).toEqual([to, 'deputy'])
      expect(await contentsOf(transactionId)).toEqual([`${to} wait`, 'deputy wait'])
      await api.delete(`/v1/events/trigger/${transactionId}`)
    },
  },
}

/** A run that waits, in a process of its own behind a line that can be cut. */
async function begin(word: keyof typeof kinds, id: string) {
  const line = await CutLine.to(databaseUrl)
  const victim = await programs.start({ ...settingsOf(line.url), PORT: String(await freePort()) }).ready()
  await trigger(api, word, id, { transactionId: id, payload: { number: id } })
  await until(async () => expect(await kinds[word].isReady(id)).toBe(true))
  line.takeCount()
  return { line, victim }
}

async function end(victim: Run, line: CutLine): Promise<void> {
  victim.signal('SIGKILL')
  await victim.ended
  await line.close()
}

test.each(Object.keys(kinds) as Array<keyof typeof kinds>)(
  'at the statements of a process that does a %s',
  async (word) => {
    const kind = kinds[word]
    const first = await begin(word, `${word}-0`)
    await kind.act(new Api(first.victim.url, key, api.environmentId, ''), `${word}-0`)
    await until(async () => expect(await kind.isDone(`${word}-0`)).toBe(true))
    const statements = first.line.takeCount()
    await end(first.victim, first.line)
    await kind.check(`${word}-0`, `${word}-0`)
    expect(statements).toBeGreaterThan(5)
    let deaths = 0
    for (let at = 1 + Math.floor(Math.random() * every); at <= statements; at += every) {
      const id = `${word}-${at}`
      const { line, victim } = await begin(word, id)
      let hasDied = false
      line.cutAfter(at, () => {
        hasDied = true
        victim.signal('SIGKILL')
      })
      // It may never be answered.
      await kind.act(new Api(victim.url, key, api.environmentId, ''), id).catch(() => undefined)
      await until(async () => expect(hasDied || (await kind.isDone(id))).toBe(true))
      await end(victim, line)
      if (hasDied) deaths += 1
      const survivor = await startHere({ ...settingsOf(databaseUrl), BELFRY_ROLE: 'worker', BELFRY_LOG: 'silent' })
      try {
        // Whoever got no answer asks again.
        expect([200, 201], `killed at ${at} of ${statements}`).toContain(
          ((await kind.act(api, id)) as { status: number }).status,
        )
        await until(async () => expect(await kind.isDone(id), `killed at ${at} of ${statements}`).toBe(true))
        await kind.check(id, id)
        if (process.env.EVERY) process.stderr.write(`${word}: ${at} of ${statements}\n`)
      } finally {
        await survivor.stop()
      }
    }
    expect(deaths).toBeGreaterThan(0)
  },
)
