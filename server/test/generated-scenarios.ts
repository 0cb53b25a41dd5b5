// Scenarios that nobody has thought of: every kind of step, branches in branches, keys, look-backs, cron, dynamic delays, schedules
// in several zones over both nights the clocks change, cancels, reads, faults and edits. The same number gives the same scenario.

/** A generator of numbers from 0 to 1 (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Members = Record<string, unknown>

const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC']
/** The nights of both changes, in Europe and elsewhere, and an ordinary day. */
const starts = [
  '2026-03-28T22:00:00Z',
  '2026-10-24T21:30:00Z',
  '2026-03-07T20:00:00Z',
  '2026-11-01T03:00:00Z',
  '2026-06-10T09:15:00Z',
]
const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const ids = ['ada', 'bob', 'cy']
/** Below it, scenarios have no branches, exits and push steps: so those that once found something stay the same. */
const firstOfTrees = 10_000
const flatKinds = ['in_app', 'email', 'email', 'sms', 'delay', 'delay', 'digest', 'digest', 'throttle'] as const
const treeKinds = [...flatKinds, 'push', 'push', 'branch', 'branch', 'branch', 'exit'] as const
const deepest = 2

/** Opening hours, on most days. */
export function schedules(chance: () => number): Members {
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  return {
    isEnabled: true,
    weeklySchedule: Object.fromEntries(
      days
        .filter(() => chance() < 0.8)
        .map((day) => [
          day,
          {
            isEnabled: true,
            hours: [
              one([
                { start: '09:00 AM', end: '05:00 PM' },
                { start: '01:30 AM', end: '04:00 AM' },
                { start: '02:00 AM', end: '02:45 AM' },
                { start: '06:00 PM', end: '11:00 PM' },
              ]),
            ],
          },
        ]),
    ),
  }
}

export function generatedScenario(number: number): Members {
  const chance = chanceOf(number)
  const isTree = number >= firstOfTrees
  const below = (most: number) => Math.floor(chance() * most)
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const maybe = <T>(odds: number, value: () => T): T | undefined => (chance() < odds ? value() : undefined)
  const given = (members: Members): Members =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
  let named = 0
  const stepId = (type: string) => {
    named += 1
    return `${type.replace('_', '-')}-${named}`
  }

  const schedule = () => schedules(chance)
  const channels = () => given({ email: maybe(0.5, () => chance() < 0.5), in_app: maybe(0.3, () => chance() < 0.5) })

  const skip = (earlier: string[]) => {
    const read = earlier.find((id) => id.startsWith('in-app'))
    if (read && chance() < 0.5) return { '==': [{ var: `steps.${read}.read` }, one([true, false])] }
    return one([{ '==': [{ var: 'payload.kind' }, 'loud'] }, { '>': [{ var: 'payload.n' }, 2] }])
  }
  const amount = () =>
    one([
      { amount: 10, unit: 'minutes' },
      { amount: 90, unit: 'seconds' },
      { amount: 3, unit: 'hours' },
      { amount: 1, unit: 'days' },
    ])
  const step = (earlier: string[], depth: number): Members => {
    const kinds = isTree ? treeKinds.filter((kind) => kind !== 'branch' || depth < deepest) : flatKinds
    const type = one<(typeof treeKinds)[number]>(kinds)
    const id = stepId(type)
    const digested = earlier.find((each) => each.startsWith('digest'))
    const body = digested
      ? `{{steps.${digested}.eventCount}} of {{payload.n}}, {{steps.${digested}.events | map: "payload.n" | join: "-"}}`
      : 'Number {{payload.n}} for {{subscriber.subscriberId}}'
    const condition = maybe(0.2, () => skip(earlier))
    const common = { name: id, stepId: id, type }
    switch (type) {
      case 'in_app':
      case 'sms':
        return { ...common, controlValues: given({ body, skip: condition }) }
      case 'push':
      case 'email':
        return { ...common, controlValues: given({ subject: body, body: 'Hello', skip: condition }) }
      case 'delay': {
        const extendToSchedule = maybe(0.4, () => true)
        const kind = one(['regular', 'regular', 'timed', 'dynamic'])
        const values =
          kind === 'regular'
            ? { type: 'regular', ...amount() }
            : kind === 'timed'
              ? { type: 'timed', cron: one(['0 9 * * *', '30 2 * * *', '*/20 * * * *', '15 1 * * 0']) }
              : { type: 'dynamic', dynamicKey: 'payload.until' }
        return { ...common, controlValues: given({ ...values, extendToSchedule, skip: condition }) }
      }
      case 'digest': {
        const values = one<() => Members>([
          () => amount(),
          () => ({ ...amount(), digestKey: 'payload.kind' }),
          () => ({ ...amount(), lookBackWindow: { amount: 5, unit: 'minutes' } }),
          () => ({ type: 'timed', cron: one(['0 9 * * *', '30 2 * * *', '*/15 * * * *']) }),
          () => ({ ...amount(), maxEvents: 2 + below(2) }),
          () => ({ ...amount(), window: 'sliding', maxWindow: { amount: 2, unit: 'days' } }),
          () => ({ ...amount(), flushFirst: true }),
        ])()
        return {
          ...common,
          controlValues: given({ ...values, extendToSchedule: maybe(0.2, () => true), skip: condition }),
        }
      }
      case 'branch': {
        const arm = (inner: Members) =>
          given({ ...inner, steps: list(earlier, depth + 1), end: maybe(0.2, () => true) })
        const arms = Array.from({ length: 1 + below(3) }, (_, index) =>
          arm({ name: `arm ${index + 1}`, condition: chosen(earlier) }),
        )
        return { ...common, controlValues: given({ arms, default: maybe(0.5, () => arm({})), skip: condition }) }
      }
      case 'exit':
        return { ...common, controlValues: given({ skip: maybe(0.7, () => skip(earlier)) }) }
      default: {
        const values = { amount: one([1, 2]), unit: one(['hours', 'minutes']), threshold: one([1, 2]) }
        return { ...common, controlValues: given({ ...values, throttleKey: maybe(0.4, () => 'payload.kind') }) }
      }
    }
  }
  /** Of an arm: also what was digested, and where an earlier branch went. */
  const chosen = (earlier: string[]) => {
    const [digested, branched] = ['digest', 'branch'].map((type) => earlier.find((id) => id.startsWith(type)))
    if (digested && chance() < 0.5) return { '>': [{ var: `steps.${digested}.eventCount` }, 1] }
    if (branched && chance() < 0.5) return { '==': [{ var: `steps.${branched}.arm` }, 'arm 1'] }
    return skip(earlier)
  }
  let hasDigest = false
  const list = (earlier: string[], depth: number): Members[] => {
    const made: Members[] = []
    const known = [...earlier]
    for (let left = (depth === 0 ? 1 : 0) + below(depth === 0 ? 4 : 3); left > 0; left -= 1) {
      const next = step(known, depth)
      // A workflow has one digest at most.
      if (next.type === 'digest' && hasDigest) continue
      if (next.type === 'digest') hasDigest = true
      made.push(next)
      known.push(...idsIn(next))
    }
    return made
  }
  const steps = () => {
    hasDigest = false
    const made = list([], 0)
    if (!made.some(({ type }) => type === 'email' || type === 'in_app' || type === 'sms'))
      made.push({
        name: 'last',
        stepId: 'last',
        type: 'email',
        controlValues: { subject: 'Number {{payload.n}}', body: 'Hello' },
      })
    return made
  }

  const startAt = one(starts)
  const subscribers = ids.map((subscriberId, index) =>
    given({
      subscriberId,
      email: chance() < 0.9 ? `${subscriberId}@example.com` : undefined,
      phone: chance() < 0.8 ? `+49151123456${index}${index}` : undefined,
      timezone: maybe(0.8, () => one(zones)),
      preferences: maybe(0.6, () => given({ schedule: maybe(0.7, schedule), channels: maybe(0.4, channels) })),
    }),
  )
  const hasTopic = chance() < 0.4
  const inputs: Members[] = []
  let triggers = 0
  let elapsed = 0
  const moments = Array.from({ length: 4 + below(7) }, () => {
    elapsed += one([0, 0, 60, 300, 600, 1_800, 7_200, 36_000, 86_400])
    return elapsed
  })
  for (const [place, seconds] of moments.entries()) {
    const at = `+${seconds}s`
    const kind =
      place === 0
        ? 'trigger'
        : one([...Array(8).fill('trigger'), 'cancel', 'read', 'seen', 'preferences', 'subscriber', 'workflow', 'fault'])
    switch (kind) {
      case 'trigger': {
        triggers += 1
        const until = new Date(Date.parse(startAt) + (seconds + one([600, 5_400, 86_400])) * 1000).toISOString()
        const to = hasTopic && chance() < 0.4 ? { type: 'Topic', topicKey: 'all' } : chance() < 0.2 ? ids : one(ids)
        inputs.push({ at, type: 'trigger', to, payload: { n: place, kind: one(['loud', 'quiet']), until } })
        break
      }
      case 'cancel':
        inputs.push({ at, type: 'cancel', transactionId: `sim-${1 + below(triggers)}` })
        break
      case 'read':
      case 'seen':
        inputs.push({ at, type: kind, subscriberId: one(ids) })
        break
      case 'preferences':
        inputs.push({ at, type: 'preferences', subscriberId: one(ids), channels: { email: chance() < 0.5 } })
        break
      case 'subscriber':
        inputs.push({ at, type: 'subscriber', subscriberId: one(ids), set: { timezone: one(zones), firstName: 'New' } })
        break
      case 'workflow':
        inputs.push(
          chance() < 0.5
            ? { at, type: 'workflow', active: chance() < 0.5 }
            : { at, type: 'workflow', draft: { steps: steps() } },
        )
        break
      default:
        inputs.push(
          given({
            ...{ at, type: 'fault', channel: one(['email', 'sms', undefined]) },
            fault: one(['rate_limited', 'timeout', 'reset', 'server_error', 'bounce', 'rejected', 'unauthorized']),
            count: maybe(0.5, () => 1 + below(6)),
            until: maybe(0.5, () => `+${seconds + one([600, 7_200, 100_000])}s`),
            retryAfterSeconds: maybe(0.2, () => 120),
          }),
        )
    }
  }
  return {
    ...{ workflow: { draft: { steps: steps() } }, startAt, seed: number, horizon: '20d', subscribers, inputs },
    ...(hasTopic ? { topics: [{ topicKey: 'all', subscriberIds: ids.slice(0, 2) }] } : {}),
  }
}

/** Of a step and of all in its arms. */
function idsIn({ stepId, controlValues }: Members): string[] {
  const { arms = [], default: otherwise } = (controlValues ?? {}) as { arms?: Members[]; default?: Members }
  const inner = [...arms, ...(otherwise ? [otherwise] : [])].flatMap((arm) => arm.steps as Members[])
  return [String(stepId), ...inner.flatMap(idsIn)]
}

/** The same with waits for events and messages, and the events. */
export function scenarioWithWaits(number: number): Members {
  const scenario = generatedScenario(number) as Members & {
    workflow: { draft: { steps: Members[] } }
    inputs: Array<Members & { at: string }>
  }
  const chance = chanceOf(number + 0x5_7a17)
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  const { steps } = scenario.workflow.draft
  const waitBehind = (earlier: Members[], stepId: string): Members => {
    const sent = earlier.find(({ type }) => type === 'in_app' || type === 'email')
    const loud = { '>': [{ var: 'event.payload.n' }, 1] }
    const entries: Members[] = [
      one<Members>([{ event: 'paid', key: '{{payload.kind}}' }, { event: 'paid' }, { event: 'paid', condition: loud }]),
      ...(chance() < 0.3 ? [{ event: 'left', key: 'loud', condition: loud }] : []),
      ...(sent && chance() < 0.7
        ? [{ message: sent.stepId, happens: one([['read'], ['seen', 'acted'], ['delivered']]) }]
        : []),
    ]
    const timeout = one<Members>([{ amount: 10, unit: 'minutes' }, { amount: 3, unit: 'hours' }, { cron: '0 9 * * *' }])
    const lookBack = one<Members>([{}, {}, { lookBack: false }, { lookBack: { amount: 1, unit: 'hours' } }])
    const values = { for: chance() < 0.2 ? entries.slice(-1) : entries, ...timeout, ...lookBack }
    return { name: stepId, stepId, type: 'wait_for_event', controlValues: values }
  }
  const places = new Set([Math.floor(chance() * (steps.length + 1)), Math.floor(chance() * (steps.length + 1))])
  const all: Members[] = []
  for (const [place, step] of [...steps, undefined].entries()) {
    if (places.has(place)) all.push(waitBehind(all, `wait-${place}`))
    if (step) all.push(step)
  }
  const told = {
    type: 'email',
    controlValues: { subject: '{{steps.wait-0.outcome}} {{steps.wait-1.matched}}', body: 'Over' },
  }
  all.push({ name: 'over', stepId: 'over', ...told })
  const inputs = scenario.inputs.flatMap((input, place) => {
    if (chance() < 0.5) return [input]
    const whom = one<Members>([
      { key: 'loud' },
      { key: 'quiet' },
      { subscriberId: one(ids) },
      { key: 'loud', subscriberId: 'ada' },
    ])
    const event = { at: input.at, type: 'event', name: one(['paid', 'paid', 'left']), ...whom, payload: { n: place } }
    return chance() < 0.5 ? [input, event] : [event, input]
  })
  return { ...scenario, workflow: { draft: { steps: all } }, inputs }
}

/** The same with questions, to the subscriber or to a chain, and answers. */
export function scenarioWithQuestions(number: number): Members {
  const scenario = generatedScenario(number) as Members & {
    workflow: { draft: { steps: Members[] } }
    inputs: Array<Members & { at: string }>
  }
  const chance = chanceOf(number + 0x0a_5c)
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  const { steps } = scenario.workflow.draft
  const minutes = (amount: number) => ({ amount, unit: 'minutes' })
  const question = (stepId: string): Members => {
    const chain = one<Members>([
      {},
      {},
      { chain: [{ subscriberId: one(ids) }, { subscriberIds: ids }], patience: minutes(5) },
      { chain: ids.map((subscriberId) => ({ subscriberId })), patience: minutes(7), rounds: 2 },
      { chain: [{ subscriberId: 'nobody' }, { subscriberId: '{{payload.deputy}}' }], patience: minutes(3) },
    ])
    const values = {
      question: 'Number {{payload.n}} of {{subscriber.subscriberId}}?',
      answers: one([[{ id: 'yes', label: 'Yes' }], ['yes', 'no'].map((id) => ({ id, label: id }))]),
      channels: one([['in_app'], ['in_app', 'email'], ['sms'], ['email', 'sms']]),
      ...(chance() < 0.5 ? { reminders: [minutes(4), minutes(20)] } : {}),
      ...one([minutes(30), { amount: 3, unit: 'hours' }]),
      ...chain,
    }
    return { name: stepId, stepId, type: 'ask', controlValues: values }
  }
  const place = Math.floor(chance() * (steps.length + 1))
  const told = {
    type: 'email',
    controlValues: {
      subject: '{{steps.question.outcome}} {{steps.question.answer}} {{steps.question.level}}',
      body: 'Over',
    },
  }
  const all = [
    ...steps.slice(0, place),
    question('question'),
    ...steps.slice(place),
    { name: 'over', stepId: 'over', ...told },
  ]
  const inputs = scenario.inputs.flatMap((input) => {
    if (input.payload) Object.assign(input.payload as Members, { deputy: one(ids) })
    if (chance() < 0.4) return [input]
    const reply = one<Members>([
      { type: 'answer', subscriberId: one(ids), answer: one(['yes', 'yes', 'no', 'maybe']) },
      { type: 'answer', subscriberId: one(ids), answer: 'yes', stepId: 'question' },
    ])
    return [input, { at: input.at, ...reply }]
  })
  return { ...scenario, workflow: { draft: { steps: all } }, inputs }
}

/** The same with quiet hours that hold, goals, and steps that change the subscriber. */
export function scenarioWithGuards(number: number): Members {
  const scenario = scenarioWithWaits(number) as Members & { workflow: { draft: { steps: Members[] } } }
  const chance = chanceOf(number + 0x6_0a15)
  const one = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T
  const { steps } = scenario.workflow.draft
  const sent = steps.find(({ type }) => type === 'in_app')
  const goals: Members[] = [
    ...(chance() < 0.4
      ? [{ name: 'Paid', for: [one([{ event: 'paid', key: '{{payload.kind}}' }, { event: 'left' }])] }]
      : []),
    ...(chance() < 0.2
      ? [{ name: 'Large', for: [{ event: 'paid' }], condition: { '>': [{ var: 'event.payload.n' }, 3] } }]
      : []),
    ...(sent && chance() < 0.3 ? [{ name: 'Seen', for: [{ message: sent.stepId, happens: ['seen'] }] }] : []),
    ...(chance() < 0.2 ? [{ name: 'New', condition: { '==': [{ var: 'subscriber.firstName' }, 'New'] } }] : []),
  ]
  const change = one<Members>([{ timezone: one(zones) }, { data: { n: '{{payload.n}}' } }, { firstName: 'New' }])
  const update = { name: 'update', stepId: 'update', type: 'update_subscriber', controlValues: change }
  const place = Math.floor(chance() * (steps.length + 1))
  const all = chance() < 0.5 ? [...steps.slice(0, place), update, ...steps.slice(place)] : steps
  const journey = { ...(chance() < 0.7 ? { quietHours: 'hold' } : {}), ...(goals.length > 0 ? { goals } : {}) }
  return { ...scenario, workflow: { draft: { steps: all, ...(Object.keys(journey).length > 0 ? { journey } : {}) } } }
}
