import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, useServer } from '../../../test/server.ts'
import { gateOfReason } from '../../engine/simulation/gates.ts'
import type { Reason } from '../../steps/contract/outcome.ts'

const server = useServer()
let api: Api

type Found = any

const email = (values: object = {}): Step => ({
  ...{ name: 'Mail', stepId: 'mail', type: 'email' },
  controlValues: { subject: 'Hello', body: '<p>Hello {{payload.what}}</p>', editorType: 'html', ...values },
})
const sms = (body = 'Hello'): Step => ({ name: 'Text', stepId: 'text', type: 'sms', controlValues: { body } })
const ada = { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com', phone: '+491701234567' }

beforeAll(async () => {
  api = (await server.freshOrganization()).development
  await api.post('/v2/subscribers', ada)
})

const explain = (query: object): Promise<Answer> => api.post('/v1/explain', { subscriberId: 'ada', ...query })

interface Case {
  steps: Step[]
  /** Of the workflow. */
  more?: object
  to?: string
  payload?: object
  tenant?: string
  context?: object
  /** Closes the gates. */
  prepare?(workflowId: string): Promise<unknown>
  /** What an offered change that needs a person does. */
  byHand?(gate: string): Promise<unknown>
  /** The reasons of the steps. */
  reasons: Array<string | null>
  /** The gates that the remedy of the last step opens; undefined if there is none. */
  remedy?: string[]
}

const closed = {
  isEnabled: true,
  weeklySchedule: { saturday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } },
}
const preferences = (body: object, who = 'ada') => api.patch(`/v2/subscribers/${who}/preferences`, body)
const integrationOf = async (channel: string) =>
  (await api.get('/v1/integrations')).body.find((each: Found) => each.channel === channel)
const switchOff = async (channel: string) =>
  api.put(`/v1/integrations/${(await integrationOf(channel))._id}`, { active: false })
const switchOn = async (channel: string) =>
  api.put(`/v1/integrations/${(await integrationOf(channel))._id}`, { active: true })
const person = (subscriberId: string, fields: object = {}) =>
  api.post('/v2/subscribers', { subscriberId, firstName: subscriberId, ...fields })

const cases: Record<string, Case> = {
  'everything is open': { steps: [email(), sms()], reasons: [null, null] },
  'the channel is switched off for all workflows': {
    steps: [email()],
    to: 'pref',
    prepare: async () => {
      await person('pref', { email: 'pref@example.com' })
      await preferences({ channels: { email: false } }, 'pref')
    },
    reasons: ['preference'],
    remedy: ['preference'],
  },
  'the channel is switched off in a context': {
    steps: [email()],
    to: 'scoped',
    context: { team: 'red' },
    prepare: async () => {
      await person('scoped', { email: 'scoped@example.com' })
      await preferences({ channels: { email: false }, context: { team: 'red' } }, 'scoped')
    },
    reasons: ['preference'],
    remedy: ['preference'],
  },
  'the workflow switches the channel off': {
    steps: [email()],
    more: {
      preferences: { user: { all: { enabled: true, readOnly: false }, channels: { email: { enabled: false } } } },
    },
    reasons: ['preference'],
    remedy: ['preference'],
  },
  'outside of the schedule': {
    steps: [email()],
    to: 'night',
    prepare: async () => {
      await person('night', { email: 'night@example.com', timezone: 'Europe/Berlin' })
      await preferences({ schedule: closed }, 'night')
    },
    reasons: ['outside_schedule'],
    remedy: ['schedule'],
  },
  'a condition over the payload does not hold': {
    steps: [email({ skip: { '>': [{ var: 'payload.total' }, 100] } })],
    payload: { total: 5 },
    reasons: ['step_condition'],
  },
  'a filter over the payload does not pass': {
    steps: [
      {
        ...email(),
        filters: [{ value: 'AND', children: [{ on: 'payload', field: 'kind', value: 'loud', operator: 'EQUAL' }] }],
      },
    ],
    payload: { kind: 'quiet' },
    reasons: ['step_condition'],
  },
  'no email address': {
    steps: [email()],
    to: 'bare',
    prepare: () => person('bare'),
    byHand: () => api.patch('/v2/subscribers/bare', { email: 'bare@example.com' }),
    reasons: ['missing_email'],
    remedy: ['address'],
  },
  'an address that cannot be written to': {
    steps: [email()],
    to: 'odd',
    prepare: async () => {
      await person('odd', { email: 'odd@example.com' })
      await sql`UPDATE subscribers SET email = 'odd one, two' WHERE subscriber_id = 'odd'`.execute(server.database.db)
    },
    byHand: () => api.patch('/v2/subscribers/odd', { email: 'odd@example.com' }),
    reasons: ['content_failed'],
    remedy: ['address'],
  },
  'no phone number, and the channel is off': {
    steps: [sms()],
    to: 'mute',
    prepare: async () => {
      await person('mute')
      await preferences({ channels: { sms: false } }, 'mute')
    },
    byHand: () => api.patch('/v2/subscribers/mute', { phone: '+491701111111' }),
    reasons: ['preference'],
    remedy: ['preference', 'address'],
  },
  'no text': { steps: [sms('{{payload.nothing}}')], reasons: ['content_failed'] },
  'a template that fails': {
    steps: [email({ subject: '{% for i in (1..payload.n) %}x{% endfor %}' })],
    payload: { n: 99_999_999 },
    reasons: ['content_failed'],
  },
  'a template that fails, and no address': {
    steps: [email({ subject: '{% for i in (1..payload.n) %}x{% endfor %}' })],
    to: 'homeless',
    prepare: () => person('homeless'),
    payload: { n: 99_999_999 },
    reasons: ['content_failed'],
  },
  'on the suppression list': {
    steps: [email()],
    to: 'held',
    prepare: async () => {
      await person('held', { email: 'held@example.com' })
      await api.post('/v1/suppressions', { channel: 'email', address: 'held@example.com' })
    },
    reasons: ['suppressed'],
    remedy: ['suppression'],
  },
  unsubscribed: {
    steps: [email()],
    to: 'gone',
    more: { messageClass: 'commercial' },
    prepare: async (workflowId) => {
      await person('gone', { email: 'gone@example.com' })
      const scope = { type: 'workflow', workflowId }
      await api.post('/v1/suppressions', {
        channel: 'email',
        address: 'gone@example.com',
        reason: 'unsubscribe',
        scope,
      })
      await preferences({ workflowId, channels: { email: false } }, 'gone')
    },
    reasons: ['preference'],
    remedy: ['preference'],
  },
  'unsubscribed from the category': {
    steps: [email()],
    to: 'choosy',
    more: { messageClass: 'commercial', consentCategory: 'offers' },
    prepare: async () => {
      await person('choosy', { email: 'choosy@example.com' })
      const scope = { type: 'category', category: 'offers' }
      await api.post('/v1/suppressions', {
        channel: 'email',
        address: 'choosy@example.com',
        reason: 'unsubscribe',
        scope,
      })
    },
    reasons: ['suppressed'],
    remedy: ['suppression'],
  },
  braked: {
    steps: [email()],
    to: 'waiting',
    more: { messageClass: 'commercial' },
    prepare: async (workflowId) => {
      await person('waiting', { email: 'waiting@example.com' })
      const brake = { since: '2026-05-01T00:00:00.000Z', cause: 'bounces', percent: 6, sent: 200, counted: 12 }
      await server.database.db
        .updateTable('workflows')
        .set({ brake: JSON.stringify(brake) })
        .where('environment_id', '=', api.environmentId)
        .where('identifier', '=', workflowId)
        .execute()
    },
    reasons: ['braked'],
    remedy: ['brake'],
  },
  'reported as spam': {
    steps: [email()],
    to: 'angry',
    prepare: async () => {
      await person('angry', { email: 'angry@example.com' })
      await api.post('/v1/suppressions', { channel: 'email', address: 'angry@example.com', reason: 'complaint' })
    },
    reasons: ['suppressed'],
  },
  'no device': {
    steps: [{ name: 'Push', stepId: 'push', type: 'push', controlValues: { subject: 'Hi', body: 'Hello' } }],
    prepare: () => switchOff('push'),
    byHand: () => switchOn('push'),
    reasons: ['missing_push_token'],
    remedy: ['address'],
  },
  'no chat': {
    steps: [{ name: 'Chat', stepId: 'chat', type: 'chat', controlValues: { body: 'Hello' } }],
    prepare: () => switchOff('chat'),
    byHand: () => switchOn('chat'),
    reasons: ['some_channels_missing_credentials'],
    remedy: ['address'],
  },
  'no integration': {
    steps: [email()],
    prepare: () => switchOff('email'),
    reasons: ['no_integration'],
    remedy: ['integration'],
  },
  'no inbox, and no messages in it wanted': {
    steps: [{ name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } }],
    to: 'shy',
    prepare: async () => {
      await person('shy')
      await preferences({ channels: { in_app: false } }, 'shy')
      await switchOff('in_app')
    },
    reasons: ['preference'],
    remedy: ['preference', 'integration'],
  },
  throttled: {
    steps: [
      { name: 'Once', stepId: 'once', type: 'throttle', controlValues: { type: 'fixed', amount: 1, unit: 'hours' } },
      email(),
    ],
    prepare: async (workflowId) => {
      await trigger(api, workflowId, 'ada')
      await server.drain()
      server.clock.advance({ minutes: 10 })
    },
    reasons: ['throttled', 'throttled'],
    remedy: ['throttle'],
  },
}

describe('explain agrees with what the trigger then does', () => {
  test.each(Object.entries(cases))('%s', async (name, { steps, more, to = 'ada', byHand, ...given }) => {
    const workflowId = name.replaceAll(/[ ,]+/g, '-')
    await makeWorkflow(api, workflowId, steps, more)
    await given.prepare?.(workflowId)
    const { payload = {}, tenant, context } = given
    const said = { payload, ...(tenant ? { tenant } : {}), ...(context ? { context } : {}) }
    const asked = { workflowId, subscriberId: to, ...said }
    const ahead = await explain(asked)
    expect(ahead.status, ahead.text).toBe(200)
    expect(ahead.body.steps.map(({ reason }: Found) => reason)).toEqual(given.reasons)
    const transactionId = await trigger(api, workflowId, to, said)
    await server.drain()
    const { jobs } = await runOf(api, transactionId)
    expect(jobs.map((job: Found) => job.reason ?? null)).toEqual(given.reasons)
    // The first closed gate gives the reason.
    for (const { verdict, gates, reason } of ahead.body.steps) {
      const closedOnes = gates.filter(({ passed }: Found) => passed === false).map(({ gate }: Found) => gate)
      if (verdict === 'sends' || verdict === 'not_reached') expect(closedOnes).toEqual([])
      else if (to !== 'odd')
        expect(closedOnes[0]).toBe(name.startsWith('a filter') ? 'filters' : gateOfReason[reason as Reason])
    }

    const back = await explain({ transactionId, subscriberId: to })
    expect(back.status, back.text).toBe(200)
    expect(back.body).toMatchObject({ past: true, workflowVersion: 1, wouldGet: given.reasons.includes(null) })
    expect(back.body.steps.map(({ reason }: Found) => reason)).toEqual(given.reasons)
    for (const [index, { gates }] of back.body.steps.entries()) {
      const judged = gates.map(({ passed }: Found) => passed)
      const shut = judged.indexOf(false)
      if (given.reasons[index] === null) expect(judged).not.toContain(null)
      else if (shut >= 0)
        expect(judged).toEqual(judged.map((_: Found, at: number) => (at < shut ? true : at === shut ? false : null)))
    }

    const step = ahead.body.steps.at(-1)
    expect(step.remedy?.changes.map(({ gate }: Found) => gate)).toEqual(given.remedy)
    expect(back.body.steps.at(-1).remedy?.changes.map(({ gate }: Found) => gate)).toEqual(given.remedy)
    if (!given.remedy) return
    for (const { gate, by, wait, request } of step.remedy.changes) {
      if (by === 'time') server.clock.advance({ ms: Date.parse(wait) - server.clock.now().getTime() })
      else if (request) {
        const sent = await api.send(request.method, request.path, request.body)
        expect(sent.status, sent.text).toBeLessThan(300)
      } else await byHand?.(gate)
    }
    expect((await explain(asked)).body).toMatchObject({ wouldGet: true, remedy: null })
    const again = await trigger(api, workflowId, to, said)
    await server.drain()
    expect((await runOf(api, again)).jobs.at(-1)).toMatchObject({ status: 'completed' })
  })
})

test('gates are judged behind a closed one, in the order they are asked, with what they know', async () => {
  await makeWorkflow(api, 'news', [email({ skip: { '>': [{ var: 'payload.total' }, 100] } })])
  await person('many', { firstName: 'Many' })
  await preferences({ channels: { email: false } }, 'many')
  const { body } = await explain({ workflowId: 'news', subscriberId: 'many', payload: { total: 120 } })
  expect(body).toMatchObject({ trigger: 'processed', wouldGet: false, at: server.clock.now().toISOString() })
  expect(body.channels).toEqual({ email: { wouldGet: false, stepId: 'mail', reason: 'preference', at: null } })
  expect(body.steps[0]).toMatchObject({ verdict: 'held_back', reason: 'preference', until: null })
  expect(body.steps[0].gates).toEqual([
    { gate: 'workflow', passed: true },
    { gate: 'schedule', passed: true, timezone: 'UTC', opensAt: null },
    { gate: 'preference', passed: false, decidedBy: 'subscriberGlobal', through: 'channel', since: expect.any(String) },
    { gate: 'condition', passed: true, values: { 'payload.total': 120 } },
    {
      gate: 'integration',
      passed: true,
      integrationIdentifier: expect.any(String),
      providerId: expect.stringMatching(/-email$/),
      health: 'closed',
    },
    { gate: 'address', passed: false, value: null },
    { gate: 'content', passed: true, empty: ['payload.what'] },
    { gate: 'suppression', passed: true },
  ])
  expect(body.remedy).toEqual({
    channel: 'email',
    changes: [
      {
        ...{ gate: 'preference', text: 'Many switches email on for news', by: 'subscriber', wait: null },
        request: {
          ...{ method: 'PATCH', path: '/v2/subscribers/many/preferences' },
          body: { workflowId: 'news', channels: { email: true } },
        },
      },
      { gate: 'address', text: 'Many needs an email address', by: 'you', wait: null, request: null },
    ],
  })
})

test('a digest that is open takes the event, and the steps behind it are judged when it ends', async () => {
  const collect = { name: 'Collect', stepId: 'collect', type: 'digest', controlValues: { amount: 10, unit: 'minutes' } }
  const onlyTwo = email({ skip: { '==': [{ var: 'steps.collect.eventCount' }, 3] } })
  await makeWorkflow(api, 'comments', [collect, onlyTwo])
  await trigger(api, 'comments', 'ada', { payload: { n: 1 } })
  await server.drain()
  server.clock.advance({ minutes: 2 })
  await trigger(api, 'comments', 'ada', { payload: { n: 2 } })
  await server.drain()
  const end = new Date(server.clock.now().getTime() + 8 * 60_000).toISOString()
  const { body } = await explain({ workflowId: 'comments' })
  expect(body).toMatchObject({
    wouldGet: true,
    channels: { email: { wouldGet: true, at: end } },
    steps: [
      { stepId: 'collect', verdict: 'waits', reason: null, until: end },
      { stepId: 'mail', verdict: 'sends', at: end },
    ],
  })
  // Later the window has closed, and a new one holds one event only.
  const later = await explain({ workflowId: 'comments', at: '+20m' })
  expect(later.body.steps[1]).toMatchObject({ verdict: 'held_back', reason: 'step_condition' })
  const third = await trigger(api, 'comments', 'ada', { payload: { n: 3 } })
  await server.drain()
  const merged = await explain({ transactionId: third })
  expect(merged.body.steps).toMatchObject([
    { verdict: 'waits', reason: 'merged_into_digest' },
    { verdict: 'not_reached' },
  ])
  server.clock.advance({ minutes: 8 })
  await server.drain()
  const { body: list } = await api.get('/v1/messages?channel=email&subscriberId=ada&limit=1')
  expect(list.data[0]).toMatchObject({ createdAt: end })
})

describe('where no run begins', () => {
  test('a workflow that is switched off, also for a tenant, and a tenant nobody knows', async () => {
    await makeWorkflow(api, 'off', [email()], { active: false })
    const { body } = await explain({ workflowId: 'off' })
    expect(body).toMatchObject({ trigger: 'trigger_not_active', wouldGet: false })
    expect(body.steps[0]).toMatchObject({ verdict: 'not_reached', reason: 'trigger_not_active' })
    expect(body.steps[0].gates.map(({ gate, passed }: Found) => `${gate} ${passed}`)).toEqual([
      ...['workflow false', 'schedule true', 'preference true', 'integration true', 'address true', 'content true'],
      'suppression true',
    ])
    const [activate] = body.remedy.changes
    expect((await api.send(activate.request.method, activate.request.path, activate.request.body)).status).toBe(200)
    expect((await explain({ workflowId: 'off' })).body.wouldGet).toBe(true)

    const unknown = await explain({ workflowId: 'off', tenant: 'acme' })
    expect(unknown.body).toMatchObject({ trigger: 'no_tenant_found', remedy: { changes: [{ gate: 'workflow' }] } })
    const [create] = unknown.body.remedy.changes
    expect((await api.send(create.request.method, create.request.path, create.request.body)).status).toBe(201)
    await api.post('/v1/workflow-overrides', { workflowId: 'off', tenantId: 'acme', active: false })
    const overridden = await explain({ workflowId: 'off', tenant: 'acme' })
    expect(overridden.body).toMatchObject({
      trigger: 'trigger_not_active',
      remedy: { changes: [{ gate: 'workflow' }] },
    })
    const [change] = overridden.body.remedy.changes
    expect((await api.send(change.request.method, change.request.path, change.request.body)).status).toBe(200)
    expect((await explain({ workflowId: 'off', tenant: 'acme' })).body.wouldGet).toBe(true)
  })

  test('a payload that does not fit', async () => {
    const payloadSchema = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }
    await makeWorkflow(api, 'typed', [email()], { payloadSchema, validatePayload: true })
    expect((await explain({ workflowId: 'typed' })).body).toMatchObject({
      ...{ trigger: 'payload_invalid', wouldGet: false, remedy: null, problem: expect.stringContaining('total') },
      steps: [{ verdict: 'not_reached' }],
    })
  })

  test('somebody nobody knows is explained as one a trigger would make', async () => {
    await makeWorkflow(api, 'anyone', [
      { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hi' } },
      email(),
    ])
    await switchOn('in_app')
    const { body } = await explain({ workflowId: 'anyone', subscriberId: 'nobody-yet' })
    expect(body).toMatchObject({
      wouldGet: true,
      channels: { in_app: { wouldGet: true }, email: { wouldGet: false, reason: 'missing_email' } },
    })
    expect((await api.get('/v2/subscribers/nobody-yet')).status).toBe(404)
  })

  test('somebody who was passed over, and somebody the trigger is not about', async () => {
    await api.post('/v2/topics', { key: 'cats', name: 'Cats' })
    await api.post('/v2/topics/cats/subscriptions', { subscriberIds: ['ada', 'held'] })
    const to = [{ type: 'Topic', topicKey: 'cats', exclude: ['ada'] }]
    const transactionId = await trigger(api, 'anyone', to)
    await server.drain()
    expect((await explain({ transactionId })).body).toMatchObject({
      ...{ past: true, wouldGet: false, notificationId: null, steps: [], passedOver: { reason: 'excluded' } },
    })
    expect((await explain({ transactionId, subscriberId: 'gone' })).body.passedOver).toEqual({
      reason: 'not_a_recipient',
    })
  })
})

describe('what only a call could tell', () => {
  const gateIn = (body: Found, name: string) => body.steps[0].gates.find(({ gate }: Found) => gate === name)

  test('a transaction id that was used again is about the later trigger', async () => {
    const steps = [{ name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hello' } }]
    await api.post('/v2/workflows', { name: 'Again', workflowId: 'again', active: true, steps })
    for (const to of ['first-of-two', 'second-of-two']) {
      const { status, text } = await api.post('/v1/events/trigger', { name: 'again', to, transactionId: 'twice' })
      expect(status, text).toBe(201)
      await server.drain()
      // As after the days for which an id counts.
      if (to === 'first-of-two')
        await server.database.db.deleteFrom('transactions').where('transaction_id', '=', 'twice').execute()
    }
    const past = async (subscriberId: string) =>
      (await api.get(`/v1/explain?transactionId=twice&subscriberId=${subscriberId}`)).body
    expect(await past('second-of-two')).toMatchObject({ past: true, wouldGet: true })
    expect(await past('first-of-two')).toMatchObject({ steps: [], passedOver: { reason: 'not_a_recipient' } })
  })

  test('a filter that asks an address is taken to let the message pass', async () => {
    const child = {
      on: 'webhook',
      webhookUrl: 'https://example.invalid/may',
      field: 'ok',
      value: 'true',
      operator: 'EQUAL',
    }
    await makeWorkflow(api, 'asks', [{ ...email(), filters: [{ value: 'AND', children: [child] }] }])
    const { body } = await explain({ workflowId: 'asks' })
    expect(gateIn(body, 'filters')).toEqual({ gate: 'filters', passed: null })
    expect(body.steps[0]).toMatchObject({ verdict: 'sends', reason: null })
  })

  test('the condition and the content of a step in code', async () => {
    await makeWorkflow(api, 'coded', [email()])
    await sql`UPDATE workflows SET origin = 'external' WHERE identifier = 'coded'`.execute(server.database.db)
    const { body } = await explain({ workflowId: 'coded' })
    expect(gateIn(body, 'condition')).toMatchObject({ passed: null })
    expect(gateIn(body, 'content')).toMatchObject({ passed: null })
    expect(gateIn(body, 'address')).toMatchObject({ passed: true, value: 'ada@example.com' })
    expect(body.steps[0]).toMatchObject({ verdict: 'sends' })
    expect((await explain({ workflowId: 'coded', subscriberId: 'stranger' })).body.steps[0]).toMatchObject({
      ...{ verdict: 'held_back', reason: 'missing_email' },
    })
  })
})

test('the query says the same as a body, and what is missing is refused', async () => {
  const query = new URLSearchParams({
    workflowId: 'news',
    subscriberId: 'ada',
    payload: '{"total":120}',
    context: '{"team":"red"}',
  })
  const got = await api.get(`/v1/explain?${query.toString()}`)
  expect(got.status, got.text).toBe(200)
  expect(got.body.wouldGet).toBe(true)
  const refused = async (parameters: Record<string, string>) => {
    const { status, body } = await api.get(`/v1/explain?${new URLSearchParams(parameters).toString()}`)
    return `${status} ${body.code}`
  }
  expect(await refused({ workflowId: 'none', subscriberId: 'ada' })).toBe('404 workflow_not_found')
  expect(await refused({ transactionId: 'none', subscriberId: 'ada' })).toBe('404 transaction_not_found')
  expect(await refused({ workflowId: 'news' })).toBe('422 validation')
  expect(await refused({ subscriberId: 'ada' })).toBe('422 validation')
  expect(await refused({ workflowId: 'news', transactionId: 'x', subscriberId: 'ada' })).toBe('422 validation')
  expect(await refused({ workflowId: 'news', subscriberId: 'ada', payload: '[1]' })).toBe('422 validation')
  expect(await refused({ workflowId: 'news', subscriberId: 'ada', at: 'soon' })).toBe('422 validation')
})

test('nothing is stored by it, and viewers may ask', async () => {
  const counts = async () => {
    const { rows } = await server.database.pool.query(
      `SELECT (SELECT count(*) FROM notifications) AS runs, (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM messages) AS messages,
        (SELECT count(*) FROM subscribers) AS people, (SELECT string_agg(t::text, ',' ORDER BY t::text) FROM throttles t) AS throttles,
        (SELECT string_agg(d::text, ',' ORDER BY d::text) FROM digests d) AS digests`,
    )
    return rows
  }
  const before = await counts()
  for (const workflowId of ['throttled', 'comments', 'news', 'off'])
    await explain({ workflowId, subscriberId: 'stranger' })
  expect(await counts()).toEqual(before)
  const viewer = await signInAs(server, api, 'viewer')
  expect((await viewer.get('/v1/explain?workflowId=news&subscriberId=ada')).status).toBe(200)
})

test('of equal remedies, the whole has the smallest: to wait, then the address, the preference, the integration', async () => {
  const throttle: Step = {
    ...{ name: 'Limit', stepId: 'limit', type: 'throttle', controlValues: { amount: 1, unit: 'hours' } },
  }
  for (const [who, more] of [
    ['torn', { phone: '+491701234567' }],
    ['bare', {}],
  ] as const) {
    await person(who, { email: `${who}@example.com`, timezone: 'UTC', ...more })
    await preferences({ channels: { email: false } }, who)
  }
  const remedyOf = async (workflowId: string, steps: Step[], subscriberId: string) => {
    await makeWorkflow(api, workflowId, steps)
    const { body } = await explain({ workflowId, subscriberId, payload: { what: 'x' } })
    expect(body.wouldGet).toBe(false)
    return body.remedy.changes.map(({ gate, by }: Found) => `${gate} by ${by}`)
  }
  // Each step needs one change.
  expect(await remedyOf('torn-1', [email(), sms()], 'bare')).toEqual(['address by you'])
  await switchOff('sms')
  expect(await remedyOf('torn-2', [sms(), email()], 'torn')).toEqual(['preference by subscriber'])
  expect(await remedyOf('torn-3', [sms()], 'torn')).toEqual(['integration by you'])
  // Somebody who passed shuts the throttle for all behind it; in an hour it is open again.
  const inbox: Step = { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hi' } }
  await makeWorkflow(api, 'torn-4', [sms(), throttle, inbox])
  await trigger(api, 'torn-4', 'bare')
  await server.drain()
  const { body } = await explain({ workflowId: 'torn-4', subscriberId: 'bare' })
  expect(body.remedy).toMatchObject({ channel: 'in_app', changes: [{ gate: 'throttle', by: 'time' }] })
  // As before, for the tests behind this one.
  await switchOn('sms')
  await api.post(`/v1/integrations/${(await integrationOf('sms'))._id}/set-primary`)
})

test('a variable that a default fills in is not empty', async () => {
  const body =
    '{{payload.what | default: "nothing"}} {% if payload.note %}{{payload.note}}{% endif %} {{payload.place}}'
  await makeWorkflow(api, 'filled', [email({ body: `<p>${body}</p>` })])
  const answer = await explain({ workflowId: 'filled' })
  const content = answer.body.steps[0].gates.find(({ gate }: Found) => gate === 'content')
  expect(content).toEqual({ gate: 'content', passed: true, empty: ['payload.place'] })
})

describe('branches', () => {
  const condition = { '>': [{ var: 'payload.total' }, 100] }
  const steps: Step[] = [
    {
      ...{ name: 'Size', stepId: 'size', type: 'branch' },
      controlValues: {
        arms: [{ name: 'Large', condition, steps: [sms()], end: true }],
        default: { name: 'Otherwise', steps: [email()] },
      },
    },
    { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hi' } },
  ]
  const verdicts = (body: Found) => body.steps.map(({ stepId, verdict, reason }: Found) => [stepId, verdict, reason])

  test('the arms that are not taken say why, ahead and afterwards; nothing but the payload would help', async () => {
    await makeWorkflow(api, 'sized', steps)
    const payload = { total: 40, what: 'x' }
    const ahead = await explain({ workflowId: 'sized', payload })
    expect(ahead.status, ahead.text).toBe(200)
    const expected = [
      ['size', 'passes', null],
      ['text', 'not_reached', 'step_condition'],
      ['mail', 'sends', null],
      ['inbox', 'sends', null],
    ]
    expect(verdicts(ahead.body)).toEqual(expected)
    const closed = [
      { gate: 'workflow', passed: true },
      {
        ...{ gate: 'branch', passed: false, stepId: 'size', arm: 'Large', taken: 'Otherwise' },
        values: { 'payload.total': 40 },
      },
    ]
    expect(ahead.body.steps[1]).toMatchObject({ path: [{ stepId: 'size', arm: 'Large' }], gates: closed, remedy: null })
    expect(ahead.body.steps[0]).toMatchObject({ type: 'branch', kind: 'branch' })
    const transactionId = await trigger(api, 'sized', 'ada', { payload })
    await server.drain()
    const back = await explain({ transactionId })
    expect(verdicts(back.body)).toEqual(expected)
    expect(back.body.steps[1]).toMatchObject({ gates: closed, path: [{ stepId: 'size', arm: 'Large' }] })
  })

  test('what is behind the end of an arm is not reached', async () => {
    await makeWorkflow(api, 'ended', steps)
    const payload = { total: 400, what: 'x' }
    const { body } = await explain({ workflowId: 'ended', payload })
    const expected = [
      ['size', 'passes', null],
      ['text', 'sends', null],
      ['mail', 'not_reached', 'step_condition'],
      ['inbox', 'not_reached', 'exited'],
    ]
    expect(verdicts(body)).toEqual(expected)
    const transactionId = await trigger(api, 'ended', 'ada', { payload })
    await server.drain()
    expect(verdicts((await explain({ transactionId })).body)).toEqual(expected)
  })
})

describe('questions', () => {
  const ask = (values: object = {}): Step => ({
    ...{ name: 'Ask', stepId: 'ask', type: 'ask' },
    controlValues: {
      ...{ question: 'Fine?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app', 'sms'] },
      ...{ amount: 1, unit: 'hours', ...values },
    },
  })
  const seen = (body: Found) =>
    body.steps.map(({ type, of = null, verdict, reason }: Found) => [type, of, verdict, reason])

  test('the copies to this person are judged, ahead and afterwards', async () => {
    await makeWorkflow(api, 'asked', [ask()])
    await person('eve')
    const ahead = await explain({ subscriberId: 'eve', workflowId: 'asked' })
    const expected = [
      ['ask', null, 'waits', null],
      ['in_app', 'ask', 'sends', null],
      ['sms', 'ask', 'held_back', 'missing_phone'],
    ]
    expect(seen(ahead.body), ahead.text).toEqual(expected)
    expect(ahead.body).toMatchObject({ wouldGet: true, channels: { in_app: { wouldGet: true, stepId: 'ask' } } })
    expect(ahead.body.steps[2].remedy.changes).toMatchObject([{ gate: 'address' }])
    const transactionId = await trigger(api, 'asked', 'eve')
    await server.drain()
    const back = await explain({ subscriberId: 'eve', transactionId })
    expect(seen(back.body), back.text).toEqual(expected)
    expect(back.body.wouldGet).toBe(true)
  })

  test('where nobody can be asked, a remedy says what would help', async () => {
    await makeWorkflow(api, 'nobody', [ask({ channels: ['sms'] })])
    await person('gus')
    const { body, text } = await explain({ subscriberId: 'gus', workflowId: 'nobody' })
    expect(
      body.steps.map(({ verdict, reason }: Found) => [verdict, reason]),
      text,
    ).toEqual([
      ['held_back', 'nobody_to_ask'],
      ['held_back', 'missing_phone'],
    ])
    expect(body).toMatchObject({ wouldGet: false, remedy: { channel: 'sms', changes: [{ gate: 'address' }] } })
  })

  test('whoever was asked by the run of another learns what became of their copies, and nothing else', async () => {
    await makeWorkflow(api, 'others', [ask({ chain: [{ subscriberId: 'hal' }] }), email()])
    await person('hal')
    const transactionId = await trigger(api, 'others', 'ada', { payload: { what: 'x' } })
    await server.drain()
    const { body, text } = await explain({ subscriberId: 'hal', transactionId })
    expect(seen(body), text).toEqual([
      ['in_app', 'ask', 'sends', null],
      ['sms', 'ask', 'held_back', 'missing_phone'],
    ])
    expect(body).toMatchObject({ wouldGet: true, subscriberId: 'hal' })
  })
})
