// What the members of a scenario mean: stored and invented people, topics, integrations and triggers.
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { type Answer, type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
const startAt = '2026-05-01T10:00:00.000Z'
const step = (type: string, stepId: string, controlValues: object) => ({ name: stepId, stepId, type, controlValues })
const mail = step('email', 'mail', { subject: 'For {{subscriber.firstName}}', body: 'Hello' })
const inApp = step('in_app', 'inbox', { body: 'Hello' })
const collect = step('digest', 'collect', { amount: 10, unit: 'minutes' })
const trigger = (more: object = {}) => ({ type: 'trigger', at: '+0s', to: 'ada', ...more })
const simulate = (body: object): Promise<Answer> =>
  api.post('/v1/simulations', { startAt, inputs: [trigger()], ...body })
const played = async (body: object) => {
  const { status, text, body: answer } = await simulate(body)
  expect(status, text.slice(0, 1_000)).toBe(200)
  return answer
}

beforeAll(async () => {
  api = (await server.freshOrganization()).development
  await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
  await api.post('/v2/topics', { key: 'cats', name: 'Cats' })
  await api.post('/v2/topics/cats/subscriptions', { subscriberIds: ['ada'] })
  await api.post('/v2/workflows', { name: 'Kept', workflowId: 'kept', active: true, steps: [collect, mail] })
})

test('an invented subscriber replaces the stored one wholly, and with `base` has only these changes', async () => {
  await api.patch('/v2/subscribers/ada/preferences', { channels: { email: false } })
  const draft = { workflow: { draft: { steps: [mail] } } }
  expect((await played(draft)).totals.reasons).toEqual({ preference: 1 })
  const invented = await played({ ...draft, subscribers: [{ subscriberId: 'ada', email: 'new@example.com' }] })
  expect(invented.messages).toMatchObject([{ to: ['new@example.com'], subject: 'For ' }])
  const based = { subscriberId: 'ada', base: 'stored', email: 'new@example.com' }
  expect((await played({ ...draft, subscribers: [based] })).totals.reasons).toEqual({ preference: 1 })
  const willing = { ...based, preferences: { channels: { email: true } } }
  expect((await played({ ...draft, subscribers: [willing] })).messages).toMatchObject([
    { to: ['new@example.com'], subject: 'For Ada' },
  ])
  await api.patch('/v2/subscribers/ada/preferences', { channels: { email: true } })
})

test('a draft that is critical and commercial is refused, as when it is stored', async () => {
  const draft = { steps: [mail], messageClass: 'commercial', preferences: { user: { all: { readOnly: true } } } }
  for (const body of [
    { workflow: { draft } },
    { workflow: { workflowId: 'kept' }, inputs: [trigger(), { type: 'workflow', at: '+1m', draft }] },
  ])
    expect(await simulate(body)).toMatchObject({ status: 400, body: { code: 'commercial_critical' } })
})

test('an invented topic takes the place of the stored one', async () => {
  const to = [{ type: 'Topic', topicKey: 'cats' }]
  const body = { workflow: { draft: { steps: [inApp] } }, inputs: [trigger({ to })] }
  const people = ({ runs }: { runs: Array<{ subscriberId: string }> }) => runs.map(({ subscriberId }) => subscriberId)
  expect(people(await played(body))).toEqual(['ada'])
  // Who replaces a stored subscriber stays in their topics.
  const subscribers = [{ subscriberId: 'ada', firstName: 'Another' }]
  expect(people(await played({ ...body, subscribers }))).toEqual(['ada'])
  const topics = [{ topicKey: 'cats', subscriberIds: ['bo', 'cy'] }]
  expect(people(await played({ ...body, topics }))).toEqual(['bo', 'cy'])
})

test('given integrations stand instead of the stored ones, and an in-app one is always there', async () => {
  const body = { workflow: { draft: { steps: [inApp, mail] } }, integrations: [] as object[] }
  const none = await played(body)
  expect(none.totals).toMatchObject({ messages: { in_app: 1 }, reasons: { no_integration: 1 } })
  const sendgrid = { identifier: 'sg', channel: 'email', providerId: 'sendgrid', primary: true }
  const given = await played({ ...body, integrations: [sendgrid] })
  expect(given.messages).toContainEqual(expect.objectContaining({ channel: 'email', integrationIdentifier: 'sg' }))
})

test('windows begin empty, and stored transaction ids do not count', async () => {
  expect((await api.post('/v1/events/trigger', { name: 'kept', to: 'ada', transactionId: 'used' })).status).toBe(201)
  await server.drain()
  const now = server.clock.now().toISOString()
  const inputs = [trigger({ transactionId: 'used' }), trigger({ at: '+1m', transactionId: 'used' })]
  const answer = await played({ workflow: { workflowId: 'kept' }, startAt: now, inputs })
  expect(answer.triggers).toMatchObject([
    { transactionId: 'used', status: 'processed', runs: 1 },
    { transactionId: 'used', status: 'processed', runs: 0 },
  ])
  expect(answer.windows).toMatchObject([{ kind: 'digest', eventCount: 1, closedBy: 'time' }])
})

test('a draft in the place of a stored workflow has its name, and the answer says which version was played', async () => {
  const draft = { steps: [{ ...mail, controlValues: { subject: 'Draft', body: 'Hello' } }] }
  expect(await played({ workflow: { workflowId: 'kept', draft } })).toMatchObject({
    ...{ workflow: { workflowId: 'kept', version: null, issues: 0 }, messages: [{ subject: 'Draft' }] },
  })
  expect((await played({ workflow: { workflowId: 'kept' } })).workflow).toEqual({
    ...{ workflowId: 'kept', version: 1, issues: 0 },
  })
  const broken = { steps: [step('email', 'mail', { subject: '{{payload.x', body: '' })] }
  expect((await played({ workflow: { draft: broken } })).workflow.issues).toBeGreaterThan(0)
})

test.each([
  [{ workflow: {} }, 'workflow'],
  [{ workflow: { workflowId: 'kept', version: 1, draft: { steps: [] } } }, 'workflow'],
  [{ startAt: '+1h' }, 'startAt'],
  [{ inputs: [{ type: 'acted', at: '+0s', subscriberId: 'ada' }] }, 'inputs[0].action'],
  [{ inputs: [{ type: 'subscriber', at: '+0s', subscriberId: 'ada' }] }, 'inputs[0]'],
  [{ inputs: [{ type: 'workflow', at: '+0s', active: true, version: 1 }] }, 'inputs[0]'],
  [{ inputs: [trigger({ broadcast: true })] }, 'inputs[0]'],
])('%j is refused at %s', async (body, where) => {
  expect(await simulate({ workflow: { workflowId: 'kept' }, ...body })).toMatchObject({
    ...{ status: 422, body: { code: 'simulation_invalid', ctx: { where } } },
  })
})

test.each([-1, 2_147_483_648, 0.5, 'x'])('%j is no seed', async (seed) => {
  expect((await simulate({ workflow: { workflowId: 'kept' }, seed })).status).toBe(422)
})

test('what is read is one snapshot: whoever saves meanwhile is seen wholly, or not at all', async () => {
  const steps = (word: string) => [
    { ...mail, controlValues: { subject: word, body: word } },
    step('sms', 'text', { body: word }),
  ]
  const made = await api.post('/v2/workflows', { name: 'Turn', workflowId: 'turn', active: true, steps: steps('0') })
  const { origin, preferences } = made.body
  let isOver = false
  const saving = (async () => {
    for (let turn = 1; !isOver; turn += 1)
      await api.put('/v2/workflows/turn', {
        ...{ name: 'Turn', active: true, origin, preferences: { user: preferences.user } },
        steps: steps(String(turn)).map((each, index) => ({ ...each, _id: made.body.steps[index]._id })),
      })
  })()
  const person = { subscriberId: 'ada', email: 'ada@example.com', phone: '+4915112345678' }
  try {
    for (let count = 0; count < 10; count += 1) {
      const { workflow, messages } = await played({ workflow: { workflowId: 'turn' }, subscribers: [person] })
      const words = messages.map(({ text }: { text: string }) => text.split('\n', 1)[0])
      expect([...new Set(words)]).toEqual([String(workflow.version - 1)])
    }
  } finally {
    isOver = true
    await saving
  }
})

test('an invented person may have preferences for a workflow', async () => {
  const preferences = { channels: { email: true }, workflows: { kept: { channels: { email: false } } } }
  const ada = { subscriberId: 'ada', email: 'ada@example.com', preferences }
  const steps = [mail]
  const reasons = async (workflow: object) => (await played({ workflow, subscribers: [ada] })).totals.reasons
  expect(await reasons({ workflowId: 'kept', draft: { steps } })).toEqual({ preference: 1 })
  expect(await reasons({ draft: { steps } })).toEqual({})
})

test('a filter is answered as the scenario says; without that it gets an empty answer, which is listed', async () => {
  const child = {
    on: 'webhook',
    webhookUrl: 'https://example.invalid/may',
    field: 'ok',
    value: 'true',
    operator: 'EQUAL',
  }
  const asking = { ...inApp, filters: [{ value: 'AND', children: [child] }] }
  const ask = (answers?: object) =>
    played({ workflow: { draft: { steps: [asking] } }, ...(answers ? { answers } : {}) })
  const yes = await ask({ inbox: { status: 200, body: { ok: 'true' } } })
  expect(yes).toMatchObject({ assumed: [], totals: { messages: { in_app: 1 } } })
  const no = await ask({ inbox: { status: 200, body: { ok: 'false' } } })
  expect(no).toMatchObject({ assumed: [], totals: { messages: {}, reasons: { step_condition: 1 } } })
  expect(await ask()).toMatchObject({ assumed: [{ stepId: 'inbox' }], totals: { reasons: { step_condition: 1 } } })
})

describe('a fault', () => {
  const integrations = [
    { identifier: 'pm', channel: 'email', providerId: 'postmark', primary: true },
    { identifier: 'tw', channel: 'sms', providerId: 'twilio', primary: true },
  ]
  const text = step('sms', 'text', { body: 'Hello' })
  const ada = { subscriberId: 'ada', email: 'ada@example.com', phone: '+4915112345678' }
  const steps = async (fault: object, horizon = '1m') => {
    const answer = await played({
      ...{ workflow: { draft: { steps: [mail, text] } }, integrations, subscribers: [ada], horizon },
      inputs: [{ type: 'fault', at: '+0s', ...fault }, trigger()],
    })
    return answer.runs[0].steps
  }
  const outcomes = async (fault: object, horizon?: string) =>
    (await steps(fault, horizon)).map(({ attempts }: { attempts: Array<{ outcome: string }> }) =>
      attempts.map(({ outcome }) => outcome),
    )

  test.each([
    ['rate_limited', 'rate_limited', 'retry'],
    ['timeout', 'timeout', 'retry'],
    ['reset', 'connection_lost', 'retry'],
    ['server_error', 'unavailable', 'retry'],
    ['bounce', 'recipient_refused', 'give_up'],
    ['rejected', 'rejected', 'give_up'],
    ['unauthorized', 'unauthorized', 'give_up'],
    ['outage', 'connection_failed', 'retry'],
    ['hang', 'timeout', 'retry'],
  ])('%s shows as %s in the log: %s', async (fault, outcome, next) => {
    expect((await steps({ fault, count: 1, channel: 'email' }))[0].attempts[0]).toMatchObject({ outcome, next })
  })

  test('is for one channel, provider or integration, where it says so', async () => {
    const sent = ['sent']
    const broken = ['rejected']
    expect(await outcomes({ fault: 'rejected' })).toEqual([broken, broken])
    expect(await outcomes({ fault: 'rejected', channel: 'sms' })).toEqual([sent, broken])
    expect(await outcomes({ fault: 'rejected', providerId: 'postmark' })).toEqual([broken, sent])
    expect(await outcomes({ fault: 'rejected', integrationIdentifier: 'tw' })).toEqual([sent, broken])
  })

  test('lasts for so many calls, or until a moment, and says when to come back', async () => {
    const [first] = await outcomes({ fault: 'server_error', channel: 'email', count: 2 }, '1h')
    expect(first).toEqual(['unavailable', 'unavailable', 'sent'])
    const [mailStep] = await steps(
      { fault: 'rate_limited', channel: 'email', until: '+90s', retryAfterSeconds: 120 },
      '1h',
    )
    const [refused, taken] = mailStep.attempts
    expect([refused, taken]).toMatchObject([{ outcome: 'rate_limited' }, { outcome: 'sent', at: refused.nextAt }])
    expect(Date.parse(taken.at) - Date.parse(startAt)).toBeGreaterThanOrEqual(120_000)
  })
})

test('a window that is open at the horizon is not closed', async () => {
  const limit = step('throttle', 'limit', { amount: 2, unit: 'days' })
  const answer = await played({ workflow: { draft: { steps: [limit, collect, mail] } }, horizon: '5m' })
  const open = { closedAt: null, closedBy: null }
  expect(answer.windows).toMatchObject([
    { kind: 'throttle', endsAt: '2026-05-03T10:00:00.000Z', ...open },
    { kind: 'digest', endsAt: '2026-05-01T10:10:00.000Z', ...open },
  ])
  expect(answer.stoppedBy).toBe('horizon')
  expect(answer.waiting).toMatchObject([{ stepId: 'collect', until: '2026-05-01T10:10:00.000Z' }])
})

test('what a trigger would be told, it is told here, and a type that nobody knows names those that are known', async () => {
  const { triggers } = await played({
    workflow: { workflowId: 'kept' },
    inputs: [trigger({ tenant: 'nobody' }), trigger({ transactionId: 'second' })],
  })
  expect(triggers).toMatchObject([
    { status: 'no_tenant_found', runs: 0 },
    { status: 'processed', runs: 1 },
  ])
  const { body } = await simulate({ workflow: { workflowId: 'kept' }, inputs: [{ type: 'dance', at: '+0s' }] })
  expect(body.message).toMatch(/"dance" is not one of trigger, cancel, .*preferences, subscriber, workflow, fault/)
})

test('an answer goes to the questions that are open, not to one that it leads to', async () => {
  const ask = (stepId: string) =>
    step('ask', stepId, {
      ...{ question: 'Refund?', channels: ['in_app'], amount: 1, unit: 'hours' },
      answers: [{ id: 'yes', label: 'Yes' }],
    })
  const { runs } = await played({
    workflow: { draft: { steps: [ask('first'), ask('second')] } },
    inputs: [trigger(), { type: 'answer', at: '+10m', subscriberId: 'ada', answer: 'yes' }],
    horizon: '1h',
  })
  const told = runs[0].steps.filter(({ of }: { of?: string }) => of === undefined)
  expect(told.map(({ stepId, status }: Record<string, string>) => `${stepId} ${status}`)).toEqual([
    ...['first completed', 'second delayed'],
  ])
})

test('an answer of more than 32 MB is refused', async () => {
  const long = step('in_app', 'inbox', { body: '{{payload.text}}' })
  const subscribers = Array.from({ length: 1_000 }, (_, place) => ({ subscriberId: `reader-${place}` }))
  const inputs = [0, 1].map((place) => ({
    ...{ type: 'trigger', at: `+${place}s`, broadcast: true, payload: { text: 'x'.repeat(20_000) } },
  }))
  const { status, body } = await simulate({ workflow: { draft: { steps: [long] } }, subscribers, inputs })
  expect({ status, body }).toMatchObject({
    status: 422,
    body: { code: 'simulation_too_large', ctx: { what: 'bytes', most: 33_554_432 } },
  })
})

describe('chats', () => {
  const said = step('chat', 'chat', { body: 'Hello' })
  const chats = async () => {
    const { development } = await server.freshOrganization()
    const rooms: Array<[subscriberId: string, integrationIdentifier: string, channelId: string]> = [
      ['ada', 'slack-a', 'C1'],
      ['ada', 'slack-a', 'C2'],
      ['ada', 'slack-b', 'C3'],
      ['bo', 'slack-b', 'C4'],
    ]
    await development.post('/v2/topics', { key: 'team', name: 'Team' })
    for (const identifier of ['slack-a', 'slack-b']) await addIntegration(server, development, { identifier })
    for (const subscriberId of ['ada', 'bo']) await development.post('/v2/subscribers', { subscriberId })
    await development.post('/v2/topics/team/subscriptions', { subscriberIds: ['ada', 'bo'] })
    for (const [subscriberId, integrationIdentifier, channelId] of rooms)
      await development.post('/v1/channel-endpoints', {
        ...{ type: 'slack_channel', endpoint: { channelId }, subscriberId, integrationIdentifier },
      })
    return development
  }

  test('each message names the rooms of its own integration, and the members of a stored topic have theirs', async () => {
    const own = await chats()
    const { status, text, body } = await own.post('/v1/simulations', {
      ...{ workflow: { draft: { steps: [said] } }, startAt },
      inputs: [trigger({ to: [{ type: 'Topic', topicKey: 'team' }] })],
    })
    expect(status, text).toBe(200)
    const told = body.messages.map(({ subscriberId, integrationIdentifier, to }: Record<string, unknown>) => ({
      ...{ subscriberId, integrationIdentifier, to },
    }))
    expect(told).toEqual([
      { subscriberId: 'ada', integrationIdentifier: 'slack-a', to: ['C1', 'C2'] },
      { subscriberId: 'ada', integrationIdentifier: 'slack-b', to: ['C3'] },
      { subscriberId: 'bo', integrationIdentifier: 'slack-b', to: ['C4'] },
    ])
  })
})

test('each device is a message of its own', async () => {
  const integrations = [{ identifier: 'fcm', channel: 'push', providerId: 'fcm', primary: true }]
  const credentials = { deviceTokens: ['phone', 'tablet'] }
  const subscribers = [{ subscriberId: 'ada', channels: [{ providerId: 'fcm', credentials }] }]
  const steps = [step('push', 'push', { subject: 'Hi', body: 'Hello' })]
  const { messages } = await played({ workflow: { draft: { steps } }, integrations, subscribers })
  expect(messages.map(({ to }: { to: string[] }) => to)).toEqual([['phone'], ['tablet']])
})

describe('a change of the workflow', () => {
  const delay = step('delay', 'wait', { type: 'regular', amount: 10, unit: 'minutes' })
  const both = (more: object) => ({ steps: [delay, mail], ...more })
  const person = { subscriberId: 'ada', email: 'ada@example.com', preferences: { channels: { email: false } } }
  const reasonsAfter = async (before: object, after: object, more: object = {}) => {
    const { totals } = await played({
      ...{ workflow: { draft: both(before) }, subscribers: [person] },
      inputs: [trigger(), { type: 'workflow', at: '+5m', draft: both(after) }],
      ...more,
    })
    return totals.reasons
  }
  const off = { preferences: { workflow: { channels: { email: { enabled: false } } } } }
  const readOnly = { preferences: { user: { all: { enabled: true, readOnly: true } } } }

  test('has its preferences hold for runs that have begun', async () => {
    const subscribers = [{ subscriberId: 'ada', email: 'ada@example.com' }]
    expect(await reasonsAfter({}, off, { subscribers })).toEqual({ preference: 1 })
    expect(await reasonsAfter(off, {}, { subscribers })).toEqual({})
    // Once it is critical, nobody can refuse it.
    expect(await reasonsAfter({}, {})).toEqual({ preference: 1 })
    expect(await reasonsAfter({}, readOnly)).toEqual({})
  })

  test('has refusals hold while it is commercial, also for runs that have begun', async () => {
    const own = (await server.freshOrganization()).development
    const address = { email: 'ada@example.com' }
    const made = await own.post('/v1/suppressions', {
      ...{ channel: 'email', address: address.email, scope: { type: 'commercial' } },
    })
    expect(made.status, made.text).toBe(201)
    const commercial = { messageClass: 'commercial' }
    const reasons = async (...changes: Array<[at: string, more: object]>) => {
      const { status, text, body } = await own.post('/v1/simulations', {
        ...{ workflow: { draft: both({}) }, startAt, subscribers: [{ subscriberId: 'ada', ...address }] },
        inputs: [trigger(), ...changes.map(([at, more]) => ({ type: 'workflow', at, draft: both(more) }))],
      })
      expect(status, text).toBe(200)
      return body.totals.reasons
    }
    expect(await reasons()).toEqual({})
    expect(await reasons(['+5m', commercial])).toEqual({ suppressed: 1 })
    expect(await reasons(['+5m', commercial], ['+6m', {}])).toEqual({})
  })
})

test('a payload of more than 512 KB is refused as the trigger would be, and the scenario goes on', async () => {
  const text = 'x'.repeat(600_000)
  const { triggers } = await played({
    workflow: { workflowId: 'kept' },
    inputs: [
      ...[trigger({ payload: { text } }), trigger({ payload: { text: 'x'.repeat(500_000) } })],
      trigger({ payload: { attachments: [{ name: 'a.txt', mime: 'text/plain', file: 'eA==' }] } }),
    ],
  })
  expect(triggers).toMatchObject([
    { status: 'error', error: { code: 'trigger_payload_too_large' }, runs: 0 },
    { status: 'processed', runs: 1 },
    { status: 'processed', runs: 1 },
  ])
  const event = { type: 'event', at: '+0s', name: 'paid', subscriberId: 'ada', payload: { text: 'x'.repeat(70_000) } }
  expect(await simulate({ workflow: { workflowId: 'kept' }, inputs: [trigger(), event] })).toMatchObject({
    ...{ status: 422, body: { code: 'simulation_invalid', ctx: { where: 'inputs[1].payload' } } },
  })
})

describe('what is no person', () => {
  const well = { subscriberId: 'bo' }
  const unknownDay = { isEnabled: true, weeklySchedule: { someday: { isEnabled: true, hours: [] } } }
  test.each<[object, string, string]>([
    [
      { subscribers: [well, { subscriberId: 'ada', email: 'a@example.com, b@example.com' }] },
      'subscribers[1].email',
      'it must be one email address',
    ],
    [{ subscribers: [{ subscriberId: 'ada', data: 5 }] }, 'subscribers[0].data', 'it must be an object'],
    [
      { subscribers: [{ subscriberId: 'ada', channels: [{ providerId: 5 }] }] },
      ...(['subscribers[0].channels[0].providerId', 'it must be a string'] as const),
    ],
    [
      { subscribers: [{ subscriberId: 'ada', preferences: { schedule: unknownDay } }] },
      ...(['subscribers[0].preferences.schedule', 'schedule.weeklySchedule.someday is not a day of the week'] as const),
    ],
    [
      { inputs: [{ type: 'subscriber', at: '+0s', subscriberId: 'ada', set: { phone: 5 } }] },
      ...(['inputs[0].set.phone', 'it must be a string'] as const),
    ],
    [
      { inputs: [{ type: 'preferences', at: '+0s', subscriberId: 'ada', schedule: unknownDay }] },
      ...(['inputs[0].schedule', 'schedule.weeklySchedule.someday is not a day of the week'] as const),
    ],
    [
      { inputs: [{ type: 'preferences', at: '+0s', subscriberId: 'ada', chanels: { email: false } }] },
      'inputs[0].chanels',
      'it is not one of type, at, subscriberId, channels, schedule, snoozedUntil, workflowId',
    ],
    [
      { subscribers: [{ subscriberId: 'ada', preferences: { chanels: { email: false } } }] },
      'subscribers[0].preferences.chanels',
      'it is not one of channels, schedule, snoozedUntil, workflows',
    ],
    [
      { inputs: [{ type: 'preferences', at: '+0s', subscriberId: 'ada', snoozedUntil: '+366d' }] },
      ...(['inputs[0].snoozedUntil', 'A pause ends in the future, and within 365 days'] as const),
    ],
    [
      { subscribers: [{ subscriberId: 'ada', snoozedUntil: 'soon' }] },
      'subscribers[0].snoozedUntil',
      '"soon" is not a moment such as +2h, 2026-03-29T02:30:00Z or 2026-03-29T02:30[Europe/Berlin]',
    ],
    [
      { inputs: [{ type: 'fault', at: '+0s', fault: 'bounce', count: 0 }] },
      ...(['inputs[0].count', 'it must be a whole number from 1 to 1000000'] as const),
    ],
    [
      { inputs: [{ type: 'fault', at: '+0s', fault: 'rate_limited', retryAfterSeconds: 1e300 }] },
      ...(['inputs[0].retryAfterSeconds', 'it must be a whole number from 0 to 86400'] as const),
    ],
  ])('%j is refused at %s', async (body, where, problem) => {
    const answer = await simulate({ workflow: { workflowId: 'kept' }, ...body })
    expect(answer).toMatchObject({ status: 422, body: { code: 'simulation_invalid', ctx: { where } } })
    expect(answer.body.message).toBe(`The scenario cannot be played: ${where}: ${problem}`)
  })
})

describe('a workflow in code', () => {
  test('needs answers where a step names it, and by a template only once it is started', async () => {
    const own = (await server.freshOrganization()).development
    await own.post('/v2/workflows', { name: 'Code', workflowId: 'code', active: true, steps: [mail] })
    await own.post('/v2/workflows', { name: 'Plain', workflowId: 'plain', active: true, steps: [inApp] })
    await sql`UPDATE workflows SET origin = 'external'
      WHERE environment_id = ${own.environmentId} AND identifier = 'code'`.execute(server.database.db)
    const starting = (workflowId: string, payload: object, answers: object = {}) =>
      own.post('/v1/simulations', {
        ...{ startAt, answers, inputs: [trigger({ payload })] },
        workflow: {
          draft: { steps: [step('start_workflow', 'next', { workflowId, to: '{{subscriber.subscriberId}}' })] },
        },
      })
    const refused = { status: 422, body: { code: 'simulation_needs_answers', ctx: { workflowId: 'code' } } }
    expect(await starting('code', {})).toMatchObject(refused)
    expect(await starting('{{payload.next}}', { next: 'code' })).toMatchObject(refused)
    const plain = await starting('{{payload.next}}', { next: 'plain' })
    expect(plain.status, plain.text).toBe(200)
    expect(plain.body.totals.messages).toEqual({ in_app: 1 })
    const answers = { mail: { outputs: { subject: 'From code', body: 'Hello' } } }
    const answered = await starting('{{payload.next}}', { next: 'code' }, answers)
    expect(answered.status, answered.text).toBe(200)
  })
})
