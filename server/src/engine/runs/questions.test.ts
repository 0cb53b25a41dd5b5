import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { say } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, messagesOf, runOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const ask = (more: object = {}) => ({
  ...{ name: 'approve', stepId: 'approve', type: 'ask' },
  controlValues: {
    ...{ question: 'Fine?', answers: ['yes', 'no'].map((id) => ({ id, label: id })), channels: ['in_app'] },
    ...{ chain: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }], patience: { amount: 5, unit: 'minutes' } },
    ...{ amount: 1, unit: 'hours', ...more },
  },
})
const after = say('after', '{{steps.approve.outcome}} {{steps.approve.answer}}')

const goals = [{ name: 'Bought', for: [{ event: 'bought' }] }]

async function asking(more: object = {}, journey?: object): Promise<Api> {
  const api = await server.freshApi()
  for (const subscriberId of ['ada', 'bob', 'cy']) await api.post('/v2/subscribers', { subscriberId })
  await makeWorkflow(api, 'refund', [ask(more), after], journey ? { journey } : {})
  return api
}

async function start(api: Api, to = 'cy') {
  const transactionId = await trigger(api, 'refund', to)
  await server.drain()
  const { id } = (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data[0]
  return { transactionId, id: String(id) }
}

async function untilBlocked(count: number): Promise<void> {
  await vi.waitUntil(
    async () => {
      const { rows } = await server.database.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return rows.length >= count
    },
    { interval: 5, timeout: 10_000 },
  )
}

type Side = 'yes' | 'no' | 'cancel' | 'deadline' | 'level' | 'reminder' | 'goal'

const pairs: Array<[Side, Side]> = [
  ['yes', 'no'],
  ['yes', 'cancel'],
  ['yes', 'deadline'],
  ['yes', 'level'],
  ['cancel', 'deadline'],
  ['cancel', 'level'],
  ['yes', 'reminder'],
  ['cancel', 'reminder'],
  ['yes', 'goal'],
  ['goal', 'level'],
  ['goal', 'reminder'],
]

/** Both wait for the run's row; whoever asked first gets it first. */
test.each(pairs.flatMap(([one, other]) => [[one, other] as const, [other, one] as const]))(
  '%s before %s: exactly one of them happens',
  async (...order) => {
    const api = await asking({ reminders: [{ amount: 2, unit: 'minutes' }] }, { goals })
    const { transactionId, id } = await start(api)
    const { _id: runId } = await runOf(api, transactionId)
    const { engine, stop } = await server.startAnother()
    const answer = (word: string) => () => api.post(`/v2/questions/${id}/answer`, { answer: word, subscriberId: 'ada' })
    const sides: Record<Side, () => Promise<unknown>> = {
      ...{ yes: answer('yes'), no: answer('no') },
      cancel: () => api.delete(`/v1/events/trigger/${transactionId}`),
      deadline: () => {
        server.clock.advance({ hours: 1 })
        return engine.wake()
      },
      level: () => {
        server.clock.advance({ minutes: 5 })
        return engine.wake()
      },
      reminder: () => {
        server.clock.advance({ minutes: 2 })
        return engine.wake()
      },
      goal: async () => {
        await api.post('/v2/events', { name: 'bought', subscriberId: 'cy' })
        const { rows } = await sql<{
          id: string
        }>`SELECT id FROM posted_events WHERE environment_id = ${api.environmentId}`.execute(server.database.db)
        return engine.tasks().match_events?.({ events: rows.map((row) => [api.environmentId, row.id]) }, {} as never)
      },
    }
    const works = await server.database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM notifications WHERE id = ${runId} FOR UPDATE`.execute(tx)
      const first = sides[order[0]]()
      await untilBlocked(1)
      const second = sides[order[1]]()
      // One that finds its timer taken, or the question over, does not wait.
      await Promise.race([untilBlocked(2), second])
      return [first, second]
    })
    const answers = (await Promise.all(works)) as Array<{ status?: number; body?: any; text?: string }>
    await server.drain()
    const [{ status, outcome }] = (await runOf(api, transactionId)).jobs
    const question = (await api.get(`/v2/questions/${id}`)).body
    // From the deadline on no answer counts, whoever was first; a new level or a reminder does not close the question.
    const isLate = order.includes('deadline')
    const ends = order.filter((side) => side !== 'level' && side !== 'reminder')
    const winner = isLate && order.includes('yes') ? 'deadline' : ends[0]
    expect([status, outcome.outcome, outcome.answer, question.state]).toEqual(
      winner === 'cancel' || winner === 'goal'
        ? ['canceled', null, null, 'canceled']
        : winner === 'deadline'
          ? ['completed', 'timeout', null, 'expired']
          : ['completed', 'answered', winner, 'answered'],
    )
    for (const [place, side] of order.entries()) {
      if (side === 'yes' || side === 'no') expect(answers[place]?.status, side).toBe(side === winner ? 200 : 409)
      if (side === 'cancel') expect(answers[place]?.text).toBe(String(winner === 'cancel'))
    }
    // Those who were asked read how it ended, and nobody is asked afterwards.
    const asked = [...(await contentsOf(api, 'ada')), ...(await contentsOf(api, 'bob'))]
    for (const content of asked) expect(content).not.toBe('Fine?')
    // Whoever goes on finds the event: the goal is met behind the answer.
    const isLeft = winner === 'cancel' || order.includes('goal')
    expect(await contentsOf(api, 'cy')).toHaveLength(isLeft ? 0 : 1)
    server.clock.advance({ hours: 2 })
    await server.drain()
    expect([...(await contentsOf(api, 'ada')), ...(await contentsOf(api, 'bob'))]).toEqual(asked)
    const left = await sql`SELECT FROM timers WHERE environment_id = ${api.environmentId}`.execute(server.database.db)
    expect(left.rows).toEqual([])
    await stop()
  },
)

/** Runs the work again and again, each time with the connection lost one statement later, until it is done. */
async function cutEverywhere(
  work: (api: Api, to: string, cut: (act: () => Promise<unknown>) => Promise<boolean>) => Promise<boolean>,
) {
  const line = new AsyncLocalStorage<{ left: number }>()
  const send = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function query(
    this: pg.Client,
    ...given: unknown[]
  ) {
    const store = line.getStore()
    if (store && given[0] !== 'ROLLBACK') {
      store.left -= 1
      if (store.left < 0) throw new Error('the line is cut')
    }
    return send.apply(this, given) as never
  } as never)
  try {
    const api = await asking()
    let statements = 0
    const cut = (act: () => Promise<unknown>) =>
      line.run({ left: statements }, async () => {
        try {
          await act()
          return false
        } catch {
          return true
        }
      })
    while (await work(api, `to-${statements}`, cut)) statements += 1
    return statements
  } finally {
    spy.mockRestore()
  }
}

test('a process that dies at any statement of an answer has taken it or not, and nothing happens twice', async () => {
  const { engine, stop } = await server.startAnother()
  const statements = await cutEverywhere(async (api, to, cut) => {
    const { transactionId, id } = await start(api, to)
    const by = { subscriberId: 'ada', name: null, channel: 'api' }
    const isCut = await cut(() =>
      engine.answer({ environmentId: api.environmentId, questionId: id, answer: 'yes', by }),
    )
    await server.drain()
    const before = (await api.get(`/v2/questions/${id}`)).body.state
    // The caller asks again.
    const again = await api.post(`/v2/questions/${id}/answer`, { answer: 'yes', subscriberId: 'ada' })
    expect([to, again.status]).toEqual([to, 200])
    await server.drain()
    expect([to, before]).toEqual([to, isCut ? 'open' : 'answered'])
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'answered', answer: 'yes' })
    expect([to, await contentsOf(api, to)]).toEqual([to, ['answered yes']])
    return isCut
  })
  expect(statements).toBeGreaterThan(8)
  await stop()
})

test('a process that dies at any statement of a level asks everybody once', async () => {
  const { engine, stop } = await server.startAnother()
  const statements = await cutEverywhere(async (api, to, cut) => {
    const { transactionId } = await start(api, to)
    server.clock.advance({ minutes: 5 })
    const isCut = await cut(() => engine.wake())
    await server.drain()
    const { asked } = (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data[0]
    expect([to, asked.map((entry: { subscriberId: string }) => entry.subscriberId)]).toEqual([to, ['ada', 'bob']])
    const copies = await messagesOf(api, `subscriberId=bob&transactionId=${transactionId}`)
    expect([to, copies.length]).toEqual([to, 1])
    return isCut
  })
  expect(statements).toBeGreaterThan(8)
  await stop()
})

test('where the clock is held, levels, reminders and answers have its time', async () => {
  const api = await heldApi(server, { now: '2027-03-01T08:00:00.000Z' })
  for (const subscriberId of ['ada', 'bob']) await api.post('/v2/subscribers', { subscriberId })
  await makeWorkflow(api, 'refund', [ask({ reminders: [{ amount: 2, unit: 'minutes' }] }), after])
  const transactionId = await trigger(api, 'refund', 'cy')
  await api.advance({ by: '6m' })
  const question = (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data[0]
  expect(question).toMatchObject({
    ...{ state: 'open', level: 1, createdAt: '2027-03-01T08:00:00.000Z', deadline: '2027-03-01T09:00:00.000Z' },
    asked: [
      { subscriberId: 'ada', askedAt: '2027-03-01T08:00:00.000Z', remindedAt: ['2027-03-01T08:02:00.000Z'] },
      { subscriberId: 'bob', askedAt: '2027-03-01T08:05:00.000Z', remindedAt: [] },
    ],
  })
  const answered = await api.post(`/v2/questions/${question.id}/answer`, { answer: 'no', subscriberId: 'bob' })
  expect(answered.body.answeredBy.createdAt).toBe('2027-03-01T08:06:00.000Z')
  await api.advance({ by: '2h' })
  expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'answered', level: 1 })
  expect((await api.get('/v1/clock')).body.waiting.count).toBe(0)
})
