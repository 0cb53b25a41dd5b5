// Generated scenarios with what lies outside of one workflow and one person's delivery: chats, HTTP requests that somebody answers,
// workflows that start others, caps, code; and everything else that people do: press buttons, take back what they read, change
// preferences and hours, leave and come back.
import { chanceOf, generatedScenario, schedules } from './generated-scenarios.ts'

type Members = Record<string, unknown>
type Scenario = Members & {
  workflow: { draft: { steps: Members[] } }
  subscribers: Members[]
  inputs: Array<Members & { at: string }>
}

const ids = ['ada', 'bob', 'cy']
const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata']

/** Stored beside the scenarios, so that steps can start them and triggers name them. */
export const storedWorkflows: Array<{ workflowId: string; steps: Members[] }> = [
  {
    workflowId: 'second',
    steps: [
      step('told', 'in_app', { body: 'Second {{payload.n}} for {{subscriber.subscriberId}}' }),
      step('while', 'delay', { type: 'regular', amount: 15, unit: 'minutes' }),
      step('mail', 'email', { subject: 'Second {{payload.n}}', body: 'Hello' }),
    ],
  },
  {
    workflowId: 'third',
    steps: [
      step('gather', 'digest', { amount: 30, unit: 'minutes' }),
      step('again', 'start_workflow', {
        ...{ workflowId: 'second', to: '{{subscriber.subscriberId}}' },
        payload: { n: '{{steps.gather.eventCount}}' },
      }),
    ],
  },
]

function step(stepId: string, type: string, controlValues: Members): Members {
  return { name: stepId, stepId, type, controlValues }
}

/** @param url where somebody answers requests as `answers` says, at the id of the step */
export function scenarioWithOthers(number: number, url: string): Members {
  const scenario = generatedScenario(number) as Scenario
  const chance = chanceOf(number + 0x0_7e45)
  const below = (most: number) => Math.floor(chance() * most)
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const maybe = <T>(odds: number, value: () => T): T[] => (chance() < odds ? [value()] : [])
  const answers: Members = {}

  const talk = (place: number) =>
    step(`talk-${place}`, 'chat', { body: 'Number {{payload.n}} for {{subscriber.subscriberId}}' })
  const request = (place: number) => {
    const stepId = `request-${place}`
    if (chance() < 0.8)
      answers[stepId] = one<Members>([
        { status: 200, body: { level: below(9) } },
        { status: 201, body: { level: below(9), deep: { inside: ['a', 'b'] } } },
        { status: 404, body: { message: 'not here' } },
        { status: 503, body: {} },
      ])
    return step(stepId, 'http_request', {
      ...{ method: one(['GET', 'POST']), url: `${url}/${number}/${stepId}` },
      ...(chance() < 0.5 ? { continueOnFailure: true } : {}),
      ...(chance() < 0.4 ? { retry: true } : {}),
      ...(chance() < 0.2
        ? { responseBodySchema: { type: 'object', properties: { level: { type: 'integer', default: 4 } } } }
        : {}),
    })
  }
  const start = (place: number) => {
    const workflowId = one(['second', 'second', 'third', 'third', 'draft', 'nowhere'])
    const [deputy, whole] = ['{{payload.deputy}}', { type: 'Topic', topicKey: 'all' }]
    const to = one<unknown>([one(ids), ids.slice(0, 2), deputy, whole])
    return step(`start-${place}`, 'start_workflow', {
      workflowId,
      // Five deep, with several each time, there would be more steps than an advance tells of.
      to: workflowId === 'draft' ? deputy : to,
      payload: { n: '{{payload.n}}', kind: 'loud', deputy: 'cy' },
    })
  }
  const button = (label: string) => ({ label, redirect: { url: 'https://example.com', target: '_self' } })
  const pressed = (place: number) =>
    step(`press-${place}`, 'in_app', {
      ...{ subject: 'Choose', body: 'Number {{payload.n}}', primaryAction: button('Yes') },
      ...(chance() < 0.6 ? { secondaryAction: button('No') } : {}),
    })
  const asked = (place: number, earlier: Members[]) => {
    const requested = earlier.find(({ type }) => type === 'http_request')
    const text = requested ? `Level {{steps.${String(requested.stepId)}.level}}` : 'No level'
    return step(`level-${place}`, 'sms', { body: text })
  }

  const all: Members[] = []
  for (const [place, own] of [...scenario.workflow.draft.steps, undefined].entries()) {
    all.push(...maybe(0.3, () => talk(place)))
    all.push(...maybe(0.35, () => request(place)))
    all.push(...maybe(0.3, () => start(place)))
    all.push(...maybe(0.3, () => pressed(place)))
    if (own) all.push(own)
    all.push(...maybe(0.3, () => asked(place, all)))
  }

  let triggers = 0
  const inputs = scenario.inputs.flatMap((input) => {
    const { at } = input
    if (input.type === 'trigger') {
      triggers += 1
      Object.assign(input.payload as Members, { deputy: one(ids) })
      // Of a transaction that was used before it is a repetition.
      if (triggers > 1 && chance() < 0.1) Object.assign(input, { transactionId: 'sim-1' })
      if (chance() < 0.1) Object.assign(input, { name: one(['second', 'third']) })
      if (chance() < 0.1) {
        delete input.to
        Object.assign(input, { broadcast: true })
      }
    }
    const subscriberId = one(ids)
    const narrowed: Members = {
      ...(chance() < 0.3 ? { transactionId: `sim-${1 + below(Math.max(triggers, 1))}` } : {}),
      ...(chance() < 0.2 ? { stepId: `press-${below(3)}` } : {}),
    }
    const other = one<() => Members[]>([
      () => [],
      () => [],
      () => [{ type: 'unread', subscriberId, ...narrowed }],
      () => [{ type: 'read', subscriberId, ...narrowed }],
      () => [{ type: 'acted', action: one(['primary', 'secondary']), subscriberId, ...narrowed }],
      () => [{ type: 'subscriber', subscriberId, delete: true }],
      () => [{ type: 'preferences', subscriberId, schedule: schedules(chance) }],
      () => [{ type: 'preferences', subscriberId, schedule: { isEnabled: false } }],
      () => [
        {
          ...{ type: 'preferences', subscriberId, workflowId: one(['draft', 'second']) },
          channels: { [one(['email', 'chat', 'in_app', 'sms'])]: chance() < 0.4 },
        },
      ],
      () => [{ type: 'subscriber', subscriberId, set: { timezone: one(zones), email: `${subscriberId}@new.example` } }],
    ])()
    const more = other.map((each): Members & { at: string } => ({ at, ...each }))
    return chance() < 0.5 ? [input, ...more] : [...more, input]
  })
  // The first is a trigger, so that there is something to act on.
  const first = inputs.findIndex(({ type }) => type === 'trigger')
  const ordered = [...inputs.slice(first, first + 1), ...inputs.slice(0, first), ...inputs.slice(first + 1)]
  return { ...scenario, workflow: { draft: { workflowId: 'draft', steps: all } }, answers, inputs: ordered }
}

/** A workflow in code: what each of its steps would say. */
export function scenarioInCode(number: number): { scenario: Members; steps: Array<{ stepId: string; type: string }> } {
  const { subscribers, inputs, startAt, seed, horizon } = generatedScenario(number) as Scenario
  const chance = chanceOf(number + 0xc0de)
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  const kinds = ['inApp', 'email', 'sms', 'push', 'chat', 'delay', 'throttle', 'digest'] as const
  const answers: Members = {}
  let hasDigest = false
  const steps = Array.from({ length: 2 + Math.floor(chance() * 4) }, (_, place) => {
    const drawn = one(kinds)
    // One digest at most.
    const type = drawn === 'digest' && hasDigest ? 'email' : drawn
    hasDigest ||= type === 'digest'
    const stepId = `${type.toLowerCase()}-${place}`
    const amount = one([
      { amount: 10, unit: 'minutes' },
      { amount: 2, unit: 'hours' },
    ])
    const outputs =
      type === 'delay' || type === 'digest'
        ? { type: 'regular', ...amount }
        : type === 'throttle'
          ? { type: 'fixed', ...amount, threshold: one([1, 2]) }
          : type === 'email' || type === 'push'
            ? { subject: `Subject ${place}`, body: `Body ${place}` }
            : { body: `Body ${place}` }
    answers[stepId] = chance() < 0.2 ? { skip: true } : { outputs }
    return { stepId, type }
  })
  const own = inputs.filter(({ type }) => type !== 'workflow')
  const workflowId = `code-${number}`
  return {
    scenario: { workflow: { workflowId }, startAt, seed, horizon, subscribers, answers, inputs: withoutTopics(own) },
    steps,
  }
}

const withoutTopics = (inputs: Array<Members & { at: string }>) =>
  inputs.map((input) => (typeof input.to === 'object' && !Array.isArray(input.to) ? { ...input, to: 'ada' } : input))

/** Caps of an environment, which hold for everything in it. */
export function capsOf(number: number): Members[] {
  const chance = chanceOf(number + 0xca95)
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  const windows = [
    { amount: 10, unit: 'minutes' },
    { amount: 1, unit: 'days' },
  ]
  return [
    { id: 'all', limit: 1 + Math.floor(chance() * 3), window: one(windows) },
    ...(chance() < 0.5 ? [{ id: 'texts', limit: 1, window: one(windows), channels: ['sms', 'email'] }] : []),
  ]
}
