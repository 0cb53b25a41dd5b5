// Generated scenarios come to the same, to the millisecond, whether they are simulated or lived through in an environment whose
// clock is held. More of them: SCENARIOS=1000 npx vitest run server/test/agreement.test.ts; some: SCENARIO=17,18.
import { expect, test } from 'vitest'
import { live, NotLivable } from '../../scripts/live.mjs'
import { momentMs } from '../src/engine/simulation/moments.ts'
import {
  generatedScenario,
  scenarioWithGuards,
  scenarioWithQuestions,
  scenarioWithWaits,
} from './generated-scenarios.ts'
import { useServer } from './server.ts'

const server = useServer()
const { SCENARIO, SCENARIOS = '20', SCENARIO_SEED = '11' } = process.env
const first = Number(SCENARIO_SEED) * 1_000
/** Where the two once differed. */
const known = [7_052, 7_079, 7_245]
const numbers = SCENARIO?.split(',').map(Number) ?? [
  ...known,
  ...Array.from({ length: Number(SCENARIOS) }, (_, index) => first + index),
]

type Members = Record<string, any>
const list = (value: unknown) => value as Members[]
const picked = (from: Members, names: string[]) => Object.fromEntries(names.map((name) => [name, from[name] ?? null]))

/** What both tell, ids aside. */
function told(played: Members): Members {
  const place = new Map(
    list(played.runs).map(({ id, transactionId, subscriberId }) => [id, `${transactionId} ${subscriberId}`]),
  )
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
        mergedInto: place.get(run.mergedInto) ?? null,
        steps: list(run.steps).map((step) =>
          picked(step, ['stepId', 'type', 'status', 'reason', 'error', 'beganAt', 'endedAt']),
        ),
      }))
      .sort(byText),
    messages: list(played.messages)
      .map((message) => ({
        ...picked(message, ['transactionId', 'subscriberId', 'stepId', 'channel', 'at', 'status', 'providerId']),
        // The sandbox has what arrived; of what did not, the record has the content only.
        ...(message.status === 'sent' ? withoutTokens(picked(message, ['to', 'subject', 'text', 'html'])) : {}),
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
  return timeline
    .filter(({ kind }) => kind === 'step_ended')
    .flatMap(({ at, runId, stepId }) => {
      const run = byId.get(runId)
      const step = list(run?.steps).find((each) => each.stepId === stepId)
      return step?.reason === 'canceled_by_user' ? [] : [`${at} ${run?.transactionId} ${run?.subscriberId} ${stepId}`]
    })
}

/** Fewer, because waits are the only difference. */
const waiting = numbers.slice(-Math.ceil(numbers.length / 3))

test.each([
  ...numbers.map((number) => ({ number, made: generatedScenario })),
  ...waiting.map((number) => ({ number, made: scenarioWithWaits })),
  ...waiting.map((number) => ({ number, made: scenarioWithQuestions })),
  ...waiting.map((number) => ({ number, made: scenarioWithGuards })),
])('scenario $number of $made.name', async ({ number, made }) => {
  const scenario = made(number)
  const simulated = await server.api.post('/v1/simulations', scenario)
  expect(simulated.status, simulated.text.slice(0, 2_000)).toBe(200)
  const lived = await live({ url: server.url, key: server.wideApi.key }, scenario, { momentMs })
  expect(told(lived), JSON.stringify(scenario)).toEqual(told(simulated.body))
  const canceled = new Set(
    list(lived.runs).flatMap(({ transactionId, subscriberId, steps }) =>
      list(steps).flatMap(({ stepId, reason }) =>
        reason === 'canceled_by_user' ? [`${transactionId} ${subscriberId} ${stepId}`] : [],
      ),
    ),
  )
  const ends = list(lived.events)
    .map(({ at, transactionId, subscriberId, stepId }) => [String(at), `${transactionId} ${subscriberId} ${stepId}`])
    .filter(([, step]) => !canceled.has(step ?? ''))
    .map((words) => words.join(' '))
  // What an answer ends is done when it is taken, not in an advance.
  const answered = new Set(
    list(scenario.inputs).flatMap(({ type, at }) =>
      type === 'answer' ? [new Date(momentMs(at, Date.parse(String(scenario.startAt)))).toISOString()] : [],
    ),
  )
  const between = (all: string[]) => all.filter((line) => !answered.has(line.split(' ', 1)[0] ?? ''))
  expect(between(ends)).toEqual(between(endsIn(simulated.body.timeline, simulated.body.runs)))
})

test('an HTTP request in an arm is not made: such a scenario is only simulated', async () => {
  const request = { name: 'Ask', stepId: 'ask', type: 'http_request', controlValues: { url: 'https://example.com' } }
  const arms = [{ name: 'all', condition: { '==': [1, 1] }, steps: [request] }]
  const steps = [{ name: 'Choose', stepId: 'choose', type: 'branch', controlValues: { arms } }]
  const scenario = { workflow: { draft: { steps } }, inputs: [{ at: '+0s', type: 'trigger', to: 'ada' }] }
  const living = live({ url: server.url, key: server.wideApi.key }, scenario, { momentMs })
  await expect(living).rejects.toThrow(NotLivable)
})
