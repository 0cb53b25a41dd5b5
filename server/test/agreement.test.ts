// Generated scenarios come to the same, to the millisecond, whether they are simulated or lived through in an environment whose
// clock is held. As few as have together whatever hundreds of them have; a number of them:
// SCENARIOS=1000 npx vitest run server/test/agreement.test.ts; some: SCENARIO=17,18.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Workflow, workflow } from '@novu/framework/express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NotLivable } from '../../scripts/livable.mjs'
import { live } from '../../scripts/live.mjs'
import { momentMs } from '../src/engine/simulation/moments.ts'
import { useApplication } from './application.ts'
import { capsOf, scenarioInCode, scenarioWithOthers, storedWorkflows } from './generated-others.ts'
import {
  generatedScenario,
  scenarioWithGuards,
  scenarioWithQuestions,
  scenarioWithWaits,
} from './generated-scenarios.ts'
import { numbersOfAll } from './scenario-traits.ts'
import { Api, sendTo, useServer } from './server.ts'

const server = useServer({ brand: 'novu', allowPrivateAddresses: true })
const application = useApplication()
const { SCENARIO, SCENARIOS, SCENARIO_SEED = '11' } = process.env
const first = Number(SCENARIO_SEED) * 1_000
/** Where the two once differed. */
const known = [7_052, 7_079, 7_245]
const knownWithOthers = [11_075]
const numbers =
  SCENARIO?.split(',').map(Number) ??
  (SCENARIOS === undefined
    ? undefined
    : [...known, ...Array.from({ length: Number(SCENARIOS) }, (_, index) => first + index)])
/** All traits of what is compared so far. */
const compared = new Set<string>()

/** Of a kind of scenarios, those that are asked for or, without that, as few as have every trait that 200 of them have. */
function chosen(make: (number: number) => Members, some: (all: number[]) => number[]): number[] {
  return numbers ? some(numbers) : numbersOfAll(make, { from: first, count: 200, known: compared })
}

type Members = Record<string, any>
const list = (value: unknown) => value as Members[]
const picked = (from: Members, names: string[]) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]))

/** Runs by what both call them; what a run has started is called after it. */
function namesIn(runs: Members[]) {
  const byId = new Map(runs.map((run) => [String(run.id), run]))
  const transaction = (id: string): string => {
    const [runId = '', stepId] = id.split(':')
    const starter = stepId === undefined ? undefined : byId.get(runId)
    return starter ? `(${named(starter)}):${stepId}` : id
  }
  const named = (run: Members): string => `${transaction(run.transactionId)} ${run.subscriberId}`
  const run = (id: string | null) => {
    const found = id === null ? undefined : byId.get(id)
    return found ? named(found) : null
  }
  return { transaction, run }
}

/** What both tell, ids aside. */
function told(played: Members): Members {
  const names = namesIn(list(played.runs))
  return {
    triggers: list(played.triggers).map((trigger) => ({
      ...picked(trigger, ['input', 'at', 'transactionId', 'status', 'runs']),
      passedOver: list(trigger.passedOver).map(({ reason, named, subscriberIds }) => [
        reason,
        named ?? null,
        subscriberIds,
      ]),
    })),
    runs: list(played.runs)
      .map((run) => ({
        ...picked(run, ['transactionId', 'subscriberId', 'workflowId', 'status', 'deliveryLifecycle', 'createdAt']),
        transactionId: names.transaction(run.transactionId),
        mergedInto: names.run(run.mergedInto),
        steps: list(run.steps).map((step) =>
          picked(step, ['stepId', 'type', 'kind', 'path', 'status', 'reason', 'error', 'beganAt', 'endedAt']),
        ),
      }))
      .sort(byText),
    messages: list(played.messages)
      .map((message) => ({
        ...picked(message, ['subscriberId', 'stepId', 'channel', 'at', 'status', 'providerId']),
        transactionId: names.transaction(message.transactionId),
        ...(message.inApp ? picked(message.inApp, ['seen', 'read', 'severity', 'tags', 'cta', 'avatar']) : {}),
        // The sandbox has what arrived; of what did not, the record has the content only.
        ...(message.status === 'sent' ? withoutTokens(picked(message, ['to', 'subject', 'text', 'html'])) : {}),
      }))
      .sort(byText),
    // Lived through, only digests tell of theirs, and not when they would have ended.
    windows: list(played.windows)
      .filter(({ kind }) => kind === 'digest')
      .map((window) => ({
        ...picked(window, ['workflowId', 'stepId', 'subscriberId', 'key', 'openedAt', 'closedAt', 'closedBy']),
        ...{ eventCount: window.eventCount, runs: window.runIds.map(names.run) },
      }))
      .sort(byText),
  }
}

/** A simulated link opens nothing. */
const withoutTokens = (members: Members): Members =>
  JSON.parse(JSON.stringify(members).replace(/\/a\/[\w-]+/g, '/a/token')) as Members

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

/** The order in which steps ended, but for those that a cancel ended. */
function endsIn(timeline: Members[], runs: Members[]): string[] {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const names = namesIn(runs)
  return timeline
    .filter(({ kind }) => kind === 'step_ended')
    .flatMap(({ at, runId, stepId }) => {
      const step = list(byId.get(runId)?.steps).find((each) => each.stepId === stepId)
      return step?.reason === 'canceled_by_user' ? [] : [`${at} ${names.run(runId)} ${stepId}`]
    })
}

function endsOf({ events, runs }: Members): string[] {
  const names = namesIn(runs)
  const called = ({ transactionId, subscriberId }: Members) => `${names.transaction(transactionId)} ${subscriberId}`
  const canceled = new Set(
    list(runs).flatMap((run) =>
      list(run.steps).flatMap(({ stepId, reason }) =>
        reason === 'canceled_by_user' ? [`${called(run)} ${stepId}`] : [],
      ),
    ),
  )
  return list(events)
    .map((event) => [String(event.at), `${called(event)} ${event.stepId}`])
    .filter(([, step]) => !canceled.has(step ?? ''))
    .map((words) => words.join(' '))
}

/** For a fraction of the processor time. */
const ask = (async (url: string, { method, headers, body }: { method: string; headers: object; body?: string }) => {
  const { status, text } = await sendTo(url, method, body, headers as Record<string, string>)
  return { status, text: async () => text }
}) as unknown as typeof fetch

/** @param begin makes a workflow that is defined in code in the held environment */
async function compare(
  scenario: Members,
  { simulating = server.api, key = server.wideApi.key, begin }: Partial<Comparing> = {},
): Promise<void> {
  const simulated = await simulating.post('/v1/simulations', scenario)
  expect(simulated.status, simulated.text.slice(0, 2_000)).toBe(200)
  const tools = { momentMs, isAnswered: true, ...(begin ? { begin } : {}) }
  const lived = await live({ url: server.url, key, fetch: ask }, scenario, tools)
  expect(told(lived), JSON.stringify(scenario)).toEqual(told(simulated.body))
  // What an answer ends is done when it is taken, not in an advance.
  const answered = new Set(
    list(scenario.inputs).flatMap(({ type, at }) =>
      type === 'answer' ? [new Date(momentMs(at, Date.parse(String(scenario.startAt)))).toISOString()] : [],
    ),
  )
  const between = (all: string[]) => all.filter((line) => !answered.has(line.split(' ', 1)[0] ?? ''))
  expect(between(endsOf(lived)), JSON.stringify(scenario)).toEqual(
    between(endsIn(simulated.body.timeline, simulated.body.runs)),
  )
}

interface Comparing {
  simulating: Api
  key: string
  begin: (environment: { key: string; environmentId: string }) => Promise<void>
}

/** Fewer, because waits are the only difference. */
const third = (all: number[]) => all.slice(-Math.ceil(all.length / 3))
/** The newest kinds have no scenarios where the two once differed. */
const newest = (all: number[]) => all.filter((number) => number >= 10_000)

/** Whoever is asked, as the scenarios say: at the number of the scenario and the id of the step. */
const answers = new Map<string, { status: number; body: unknown }>()
let others: Server
let url: string

beforeAll(async () => {
  others = createServer((request, response) => {
    const { status, body } = answers.get(request.url ?? '') ?? { status: 200, body: {} }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => others.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(others.address() as AddressInfo).port}`
  for (const { workflowId, steps } of storedWorkflows) {
    const made = await server.api.post('/v2/workflows', { name: workflowId, workflowId, active: true, steps })
    if (made.status !== 201) throw new Error(made.text)
  }
})
afterAll(() => {
  others.close()
  others.closeAllConnections()
})

const plain = [...(numbers ? [] : known), ...chosen(generatedScenario, (all) => all)]

test.each([
  ...plain.map((number) => ({ number, made: generatedScenario })),
  ...[scenarioWithWaits, scenarioWithQuestions, scenarioWithGuards].flatMap((made) =>
    chosen(made, third).map((number) => ({ number, made })),
  ),
])('scenario $number of $made.name', ({ number, made }) => compare(made(number)))

const withOthers = chosen((number) => scenarioWithOthers(number, 'http://127.0.0.1'), newest)

test.each([...new Set([...(numbers ? [] : knownWithOthers), ...withOthers])])(
  'scenario %i of scenarioWithOthers',
  async (number) => {
    const scenario = scenarioWithOthers(number, url)
    const said = scenario.answers as Record<string, { status: number; body: unknown }>
    for (const { stepId, controlValues } of list((scenario.workflow as Members).draft.steps)) {
      // Where nothing is said, a simulation takes an example of the schema.
      const body = controlValues?.responseBodySchema ? { level: 4 } : {}
      answers.set(`/${number}/${stepId}`, said[stepId] ?? { status: 200, body })
    }
    await compare(scenario)
  },
)

test.each(numbers ? third(numbers) : plain.slice(0, 4))('scenario %i with caps', async (number) => {
  const { development } = await server.freshOrganizationWide()
  const guards = { quietHours: 'skip', caps: capsOf(number) }
  expect(await development.put('/v2/guards', guards)).toMatchObject({ status: 200 })
  await compare(generatedScenario(number), { simulating: development, key: development.key })
})

test.each(chosen(scenarioInCode as (number: number) => Members, third))('scenario %i in code', async (number) => {
  const { scenario, steps } = scenarioInCode(number)
  const said = scenario.answers as Record<string, { outputs?: object; skip?: boolean }>
  const made: Workflow = workflow(`code-${number}`, async ({ step }) => {
    for (const { stepId, type } of steps) {
      const { outputs = { body: '-', subject: '-', amount: 1, unit: 'hours', type: 'regular' }, skip = false } =
        said[stepId] ?? {}
      const declare = step[type as 'email'] as (id: string, content: () => object, options: object) => Promise<unknown>
      await declare(stepId, () => outputs, { skip: () => skip })
    }
  })
  const sync = async (api: Pick<Api, 'post' | 'key'>) => {
    // The library checks signatures against the real time.
    server.clock.advance({ ms: Date.now() - server.clock.now().getTime() })
    application.serves([made], api.key)
    const synced = await api.post('/v1/bridge/sync', { bridgeUrl: application.url })
    expect(synced, synced.text).toMatchObject({ status: 201 })
  }
  await sync(server.api)
  await compare(scenario, {
    begin: ({ key, environmentId }) => sync(new Api(server.url, key, environmentId, server.api.organizationId)),
  })
})

test('together they have every kind of step, input and fault, both nights the clocks change, and every zone', () => {
  if (numbers) return
  const kinds = [
    ...['in_app', 'email', 'sms', 'push', 'chat', 'delay', 'digest', 'throttle', 'branch', 'exit', 'http_request'],
    ...['wait_for_event', 'ask', 'start_workflow', 'update_subscriber'],
  ]
  const inputs = ['trigger', 'cancel', 'event', 'answer', 'seen', 'read', 'unread', 'acted', 'preferences']
  const faults = ['rate_limited', 'timeout', 'reset', 'server_error', 'bounce', 'rejected']
  const nights = ['2026-03-28T22:00:00Z', '2026-10-24T21:30:00Z', '2026-03-07T20:00:00Z', '2026-11-01T03:00:00Z']
  const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC']
  expect([...compared]).toEqual(
    expect.arrayContaining([
      ...kinds.map((kind) => `steps.type=${kind}`),
      ...[...inputs, 'subscriber', 'workflow', 'fault'].map((type) => `inputs.type=${type}`),
      ...faults.map((fault) => `inputs.fault=${fault}`),
      ...nights.map((night) => `scenario.startAt=${night}`),
      ...zones.map((zone) => `subscribers.timezone=${zone}`),
    ]),
  )
})

test('an HTTP request in an arm is not made: such a scenario is only simulated', async () => {
  const request = { name: 'Ask', stepId: 'ask', type: 'http_request', controlValues: { url: 'https://example.com' } }
  const arms = [{ name: 'all', condition: { '==': [1, 1] }, steps: [request] }]
  const steps = [{ name: 'Choose', stepId: 'choose', type: 'branch', controlValues: { arms } }]
  const scenario = { workflow: { draft: { steps } }, inputs: [{ at: '+0s', type: 'trigger', to: 'ada' }] }
  const living = live({ url: server.url, key: server.wideApi.key }, scenario, { momentMs })
  await expect(living).rejects.toThrow(NotLivable)
})
