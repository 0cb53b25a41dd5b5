// Random journeys agree with a small model of them: trees of branches, waits, questions, delays and exits, with goals, while
// events are posted, questions answered and runs cancelled in any order. Lived through by a clock that moves from one due time to
// the next, and simulated. More of them: JOURNEYS=500 npx vitest run server/test/journey-model.test.ts.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import {
  type Arm,
  type Condition,
  type Entry,
  type Goal,
  ModelRun,
  type Node,
  type Person,
  type PostedEvent,
  stranger,
} from './journey-model.ts'
import { makeWorkflow, messagesOf, runOf, type Step, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'

vi.setConfig({ testTimeout: 240_000 })

const server = useServer()
const people = ['ada', 'bob', 'cy']
const keys = ['red', 'blue']
/** As many as a workflow may have, with some to spare. */
const mostSteps = 16
const minuteMs = 60_000

// What a tree looks like before its steps have ids.

interface Reading {
  flag: number
  /** Which of the steps before it, if there are any. */
  earlier: number | null
  is: string
}

type Seed =
  | { kind: 'say' }
  | { kind: 'delay'; minutes: number }
  | { kind: 'exit'; only: Reading | null }
  | { kind: 'wait'; for: Entry[]; minutes: number; looksBack: boolean }
  | { kind: 'ask'; minutes: number; chain: string[] | null; patience: number }
  | { kind: 'branch'; arms: Array<{ reading: Reading; end: boolean; steps: Seed[] }>; otherwise: OtherSeed | null }
interface OtherSeed {
  end: boolean
  steps: Seed[]
}

const reading: fc.Arbitrary<Reading> = fc.record({
  flag: fc.nat({ max: 1 }),
  earlier: fc.option(fc.nat({ max: 6 }), { freq: 3 }),
  is: fc.constantFrom('event', 'event', 'timeout', 'yes', 'no', 'nobody'),
})
const entry: fc.Arbitrary<Entry> = fc.record({
  event: fc.constantFrom('paid', 'left'),
  isByKey: fc.boolean(),
  above: fc.option(fc.constantFrom(1, 2), { freq: 3, nil: null }),
})
const minutes = fc.constantFrom(2, 5, 10, 30)
const isEnd = fc.nat({ max: 3 }).map((chance) => chance === 0)

const seed = (depth: number): fc.Arbitrary<Seed> => {
  const list = (most: number) => fc.array(seed(depth + 1), { maxLength: most })
  const simple: Array<fc.WeightedArbitrary<Seed>> = [
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('say' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delay' as const), minutes }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('exit' as const), only: fc.option(reading, { freq: 4, nil: null }) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        ...{ kind: fc.constant('wait' as const), for: fc.array(entry, { minLength: 1, maxLength: 2 }) },
        ...{ minutes, looksBack: fc.nat({ max: 2 }).map((chance) => chance > 0) },
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        minutes,
        chain: fc.option(fc.shuffledSubarray([...people, stranger], { minLength: 1, maxLength: 3 }), { nil: null }),
        patience: fc.constantFrom(1, 3, 7),
      }),
    },
  ]
  if (depth === 2) return fc.oneof(...simple)
  const other = fc.record({ end: isEnd, steps: list(2) })
  const arm = fc.record({ reading, end: isEnd, steps: list(2) })
  const branch = fc.record({
    ...{ kind: fc.constant('branch' as const), arms: fc.array(arm, { minLength: 1, maxLength: 3 }) },
    otherwise: fc.option(other, { nil: null }),
  })
  return fc.oneof(...simple, { weight: 5, arbitrary: branch })
}

/** The steps with their ids; conditions read steps that come before them. */
function numbered(seeds: Seed[]): Node[] {
  let count = 0
  const list = (given: Seed[], before: Node[]): Node[] => {
    const known = [...before]
    return given.flatMap((each): Node[] => {
      if (count >= mostSteps) return []
      count += 1
      const node = nodeOf(each, `${each.kind}-${count}`, known)
      known.push(node, ...innerOf(node))
      return [node]
    })
  }
  const conditionOf = ({ flag, earlier, is }: Reading, known: Node[]): Condition => {
    const told = known.filter(({ kind }) => kind === 'wait' || kind === 'ask')
    const read = earlier === null || told.length === 0 ? undefined : told[earlier % told.length]
    if (!read) return { flag }
    return { stepId: read.stepId, member: is === 'yes' || is === 'no' ? 'answer' : 'outcome', is }
  }
  const nodeOf = (given: Seed, stepId: string, known: Node[]): Node => {
    if (given.kind === 'exit') return { ...given, stepId, only: given.only && conditionOf(given.only, known) }
    if (given.kind !== 'branch') return { ...given, stepId }
    const arms = given.arms.map(
      ({ reading: read, end, steps }): Arm => ({
        ...{ condition: conditionOf(read, known), end },
        steps: list(steps, known),
      }),
    )
    const { otherwise } = given
    return {
      ...{ kind: 'branch', stepId, arms },
      otherwise: otherwise && { end: otherwise.end, steps: list(otherwise.steps, known) },
    }
  }
  return list(seeds, [])
}

const innerOf = (node: Node): Node[] =>
  node.kind === 'branch'
    ? [...node.arms, ...(node.otherwise ? [node.otherwise] : [])].flatMap(({ steps }) =>
        steps.flatMap((each) => [each, ...innerOf(each)]),
      )
    : []

// As the API takes it.

const ruleOf = (condition: Condition) =>
  'flag' in condition
    ? { '==': [{ var: `payload.f${condition.flag}` }, true] }
    : { '==': [{ var: `steps.${condition.stepId}.${condition.member}` }, condition.is] }

const entryOf = ({ event, isByKey, above }: Entry) => ({
  event,
  ...(isByKey ? { key: '{{payload.key}}' } : {}),
  ...(above === null ? {} : { condition: { '>': [{ var: 'event.payload.n' }, above] } }),
})

const during = (amount: number) => ({ amount, unit: 'minutes' })

const written = (nodes: Node[]): Step[] => nodes.map(stepOf)

function stepOf(node: Node): Step {
  const step = (type: string, controlValues: object): Step => ({
    ...{ name: node.stepId, stepId: node.stepId, type, controlValues },
  })
  switch (node.kind) {
    case 'say':
      return step('in_app', { body: `says ${node.stepId}` })
    case 'delay':
      return step('delay', { type: 'regular', ...during(node.minutes) })
    case 'exit':
      return step('exit', node.only ? { skip: ruleOf(node.only) } : {})
    case 'wait':
      return step('wait_for_event', {
        ...{ for: node.for.map(entryOf), ...during(node.minutes) },
        ...(node.looksBack ? {} : { lookBack: false }),
      })
    case 'ask':
      return step('ask', {
        ...{ question: 'Fine?', answers: ['yes', 'no'].map((id) => ({ id, label: id })), channels: ['in_app'] },
        ...during(node.minutes),
        ...(node.chain
          ? { chain: node.chain.map((subscriberId) => ({ subscriberId })), patience: during(node.patience) }
          : {}),
      })
    case 'branch':
      return step('branch', {
        arms: node.arms.map(({ condition, end, steps }, index) => ({
          ...{ name: `arm ${index}`, condition: ruleOf(condition), end, steps: written(steps) },
        })),
        ...(node.otherwise
          ? { default: { name: 'else', end: node.otherwise.end, steps: written(node.otherwise.steps) } }
          : {}),
      })
  }
}

// What happens, one thing a minute at most, so that no two are at the same moment.

type Happening =
  | { do: 'trigger'; who: string; key: string; flags: boolean[]; cancellationKey: string }
  | { do: 'event'; name: string; about: 'key' | 'subscriber' | 'both'; who: string; key: string; n: number }
  | { do: 'answer'; by: string; run: number; answer: string }
  | { do: 'cancel'; run: number }
  | { do: 'cancel by key'; key: string }

const cancellationKey = fc.constantFrom('first', 'second')
const aTrigger = fc.record({
  ...{ do: fc.constant('trigger' as const), who: fc.constantFrom(...people), key: fc.constantFrom(...keys) },
  ...{ flags: fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }), cancellationKey },
})
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 2, arbitrary: aTrigger },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ do: fc.constant('event' as const), name: fc.constantFrom('paid', 'left', 'bought') },
      ...{ about: fc.constantFrom('key' as const, 'subscriber' as const, 'both' as const) },
      ...{ who: fc.constantFrom(...people), key: fc.constantFrom(...keys), n: fc.nat({ max: 3 }) },
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ do: fc.constant('answer' as const), by: fc.constantFrom(...people), run: fc.nat({ max: 3 }) },
      answer: fc.constantFrom('yes', 'no', 'yes', 'no', 'maybe'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), run: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel by key' as const), key: cancellationKey }) },
)

const journey = fc.record({
  seeds: fc.array(seed(0), { minLength: 2, maxLength: 4 }),
  first: aTrigger,
  others: fc.array(fc.record({ afterMinutes: fc.integer({ min: 1, max: 9 }), happening }), {
    minLength: 4,
    maxLength: 12,
  }),
  goals: fc.record({
    event: fc.option(entry, { freq: 2, nil: null }),
    condition: fc.option(reading, { freq: 1, nil: null }),
  }),
})
type Journey = typeof journey extends fc.Arbitrary<infer T> ? T : never

function goalsOf({ event, condition }: Journey['goals'], nodes: Node[]): Goal[] {
  // Before the first step nothing can be read: a flag would end every run at once.
  const told = nodes.find(({ kind }) => kind === 'wait')
  return [
    ...(event ? [{ name: 'Bought', entry: { ...event, event: 'bought' } }] : []),
    ...(condition && told
      ? [{ name: 'Told', condition: { stepId: told.stepId, member: 'outcome' as const, is: 'event' } }]
      : []),
  ]
}

/** The same trigger, event or cancel in the service, the simulation and the model. */
class Trial {
  readonly runs: Array<{ transactionId: string; cancellationKey: string; model: ModelRun }> = []
  readonly events: PostedEvent[] = []
  readonly inputs: object[] = []
  readonly #api: Api
  readonly #nodes: Node[]
  readonly #goals: Goal[]
  readonly #startAt: Date
  #minute = 0

  constructor(api: Api, nodes: Node[], goals: Goal[]) {
    this.#api = api
    this.#nodes = nodes
    this.#goals = goals
    this.#startAt = server.clock.now()
  }

  get startAt(): string {
    return this.#startAt.toISOString()
  }

  /** Moves on from one due time to the next. */
  async pass(by: number): Promise<void> {
    this.#minute += by
    const to = this.#startAt.getTime() + this.#minute * minuteMs
    for (;;) {
      const { rows } = await server.database.pool.query<{ due_at: Date }>(
        'SELECT due_at FROM timers WHERE environment_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT 1',
        [this.#api.environmentId, new Date(to)],
      )
      const next = rows[0]?.due_at.getTime() ?? to
      server.clock.advance({ ms: next - server.clock.now().getTime() })
      await server.drain()
      if (rows.length === 0) break
    }
    for (const { model } of this.runs) model.pass(this.#minute)
  }

  async happen(what: Happening): Promise<void> {
    await this.#do(what)
    await server.drain()
  }

  async #do(what: Happening): Promise<void> {
    const at = `+${this.#minute}m`
    switch (what.do) {
      case 'trigger': {
        const { who, key, flags, cancellationKey: canceledBy } = what
        const transactionId = `run-${this.runs.length}`
        const payload = { key, f0: flags[0], f1: flags[1] }
        await trigger(this.#api, 'journey', who, { transactionId, payload, cancellationKey: canceledBy })
        this.inputs.push({ at, type: 'trigger', to: who, transactionId, payload, cancellationKey: canceledBy })
        const person: Person = { subscriberId: who, key, flags }
        const model = new ModelRun(this.#nodes, this.#goals, person, this.#minute, this.events)
        this.runs.push({ transactionId, cancellationKey: canceledBy, model })
        return
      }
      case 'event': {
        const { name, about, who, key, n } = what
        const id = `event-${this.events.length}`
        const whom = {
          ...(about === 'subscriber' ? {} : { key }),
          ...(about === 'key' ? {} : { subscriberId: who }),
        }
        const body = { id, name, ...whom, payload: { n } }
        assert.equal((await this.#api.post('/v2/events', body)).status, 201)
        // The same id again does nothing.
        assert.equal((await this.#api.post('/v2/events', body)).body.isDuplicate, true)
        this.inputs.push({ at, type: 'event', ...body })
        const event = { id, name, ...whom, n, at: this.#minute }
        this.events.push(event)
        for (const { model } of this.runs) model.hear(event)
        return
      }
      case 'answer': {
        const run = this.runs[what.run % this.runs.length]
        if (!run) return
        const { transactionId, model } = run
        const { by, answer } = what
        const open = await this.#api.get(`/v2/questions?state=open&transactionId=${transactionId}`)
        const [question] = open.body.data
        this.inputs.push({ at, type: 'answer', subscriberId: by, answer, transactionId })
        const isTaken = model.answer(by, answer)
        if (!question) return assert.equal(isTaken, false, transactionId)
        const path = `/v2/questions/${question.id}/answer`
        const { status } = await this.#api.post(path, { answer, subscriberId: by })
        assert.equal(status === 200, isTaken, `answered with ${status}`)
        // The same again is answered alike, whoever asked in between.
        if (isTaken) assert.equal((await this.#api.post(path, { answer, subscriberId: by })).status, 200)
        return
      }
      case 'cancel': {
        const run = this.runs[what.run % this.runs.length]
        if (!run) return
        const { transactionId, model } = run
        const { body } = await this.#api.delete(`/v1/events/trigger/${transactionId}`)
        this.inputs.push({ at, type: 'cancel', transactionId })
        assert.deepEqual({ canceled: body }, { canceled: model.cancel() })
        return
      }
      case 'cancel by key': {
        const { key } = what
        const { body } = await this.#api.post('/v1/events/cancel', { key })
        this.inputs.push({ at, type: 'cancel', key })
        const canceled = this.runs.filter((run) => run.cancellationKey === key && run.model.cancel()).length
        assert.deepEqual(body, { canceled, hasMore: false })
      }
    }
  }
}

/** What both tell of a step; of a copy of a question nothing. */
interface ToldStep {
  stepId: string
  status: string
  reason?: string | null
  of?: string
  outcome?: Record<string, any>
}

function told(steps: ToldStep[]): Array<{ state: string; result: Record<string, unknown> }> {
  return steps
    .filter(({ of }) => of === undefined)
    .map(({ stepId, status, reason, outcome = {} }) => ({
      state: `${stepId} ${status}${reason ? ` ${reason}` : ''}`,
      result: status === 'canceled' ? {} : resultOf(stepId, outcome),
    }))
}

function resultOf(stepId: string, { outcome, matched, event, answer, level }: Record<string, any>) {
  if (stepId.startsWith('wait') && outcome) return { outcome, matched, event: event?.id ?? null }
  return stepId.startsWith('ask') && outcome ? { outcome, answer, level } : {}
}

const expectedOf = ({ states }: ModelRun) =>
  states.map(({ stepId, status, result }) => ({ state: `${stepId} ${status}`, result }))

async function leftIn({ environmentId }: Api) {
  const { rows } = await server.database.pool.query(
    `SELECT (SELECT count(*) FROM timers WHERE environment_id = $1)::int AS timers,
       (SELECT count(*) FROM event_waits WHERE environment_id = $1)::int AS waits,
       (SELECT count(*) FROM questions WHERE environment_id = $1 AND state = 'open')::int AS questions,
       (SELECT count(*) FROM notifications WHERE environment_id = $1 AND status = 'processing')::int AS runs`,
    [environmentId],
  )
  return rows[0]
}

test('journeys do what the model says, in the service and in a simulation', async () => {
  await fc.assert(
    fc.asyncProperty(journey, async ({ seeds, first, others, goals: given }) => {
      const nodes = numbered(seeds)
      const goals = goalsOf(given, nodes)
      const api = await server.freshApi()
      for (const subscriberId of people) await api.post('/v2/subscribers', { subscriberId })
      await makeWorkflow(api, 'journey', written(nodes), {
        journey: {
          goals: goals.map((goal) =>
            'entry' in goal
              ? { name: goal.name, for: [entryOf(goal.entry)] }
              : { name: goal.name, condition: ruleOf(goal.condition) },
          ),
        },
      })
      const trial = new Trial(api, nodes, goals)
      await trial.happen(first)
      for (const { afterMinutes, happening: next } of others) {
        await trial.pass(afterMinutes)
        await trial.happen(next)
      }
      // Past every wait, however many there are.
      for (let round = 0; round < 4; round += 1) await trial.pass(mostSteps * 30)
      const { body: played, text } = await api.post('/v1/simulations', {
        ...{ workflow: { workflowId: 'journey' }, startAt: trial.startAt, horizon: '10d', inputs: trial.inputs },
        subscribers: people.map((subscriberId) => ({ subscriberId })),
      })
      expect(played.runs, text).toHaveLength(trial.runs.length)
      for (const { transactionId, model } of trial.runs) {
        const lived = await runOf(api, transactionId)
        const simulated = played.runs.find((run: { transactionId: string }) => run.transactionId === transactionId)
        const steps = lived.jobs.map((job: Record<string, any>) => ({ ...job, stepId: job.step.stepId }))
        expect({ where: 'service', goal: lived.goal?.name ?? null, steps: told(steps) }).toEqual({
          ...{ where: 'service', goal: model.goal, steps: expectedOf(model) },
        })
        expect({ where: 'simulation', goal: simulated.goal?.name ?? null, steps: told(simulated.steps) }).toEqual({
          ...{ where: 'simulation', goal: model.goal, steps: expectedOf(model) },
        })
        expect([lived.status, simulated.status]).toEqual(['completed', 'completed'])
      }
      // Everything was said once, and every event has ended as much as the model says.
      const said = await messagesOf(api, 'channel=in_app')
      const contents = said.map(({ content }) => String(content)).filter((content) => content.startsWith('says '))
      expect(contents.sort()).toEqual(trial.runs.flatMap(({ model }) => model.said.map((id) => `says ${id}`)).sort())
      for (const { id } of trial.events) {
        const matched = trial.runs.flatMap(({ model }) => model.heard).filter((heard) => heard === id).length
        expect((await api.get(`/v2/events/${id}`)).body).toMatchObject({ id, status: 'done', matched })
      }
      expect(await leftIn(api)).toEqual({ timers: 0, waits: 0, questions: 0, runs: 0 })
    }),
    { numRuns: Number(process.env.JOURNEYS ?? 15), endOnFailure: process.env.SHRINK === undefined },
  )
})
