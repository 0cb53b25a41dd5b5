import { describe, expect, test } from 'vitest'
import {
  advanceTo,
  contentsOf,
  inApp,
  makeWorkflow,
  messagesOf,
  pass,
  prefer,
  runOf,
  type Step,
  storyOf,
  trigger,
} from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { wakeUp } from './run.ts'
import { end, type JobState, type JobStatus, noEffects, type RunState } from './run-state.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

const hour = { type: 'regular', amount: 1, unit: 'hours' }
const delay: Step = { type: 'delay', stepId: 'delay', controlValues: hour }
const sent = 'in_app completed: Step queued, Message created, Message sent'
/** Fails, because its message is empty. */
const failing = inApp('{{payload.missing}}')

async function apiWith(steps: Step[], more: object = {}): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'hello', steps, more)
  return api
}

async function run(api: Api, more: object = {}) {
  const transactionId = await trigger(api, 'hello', 'ada', more)
  await server.drain()
  return runOf(api, transactionId)
}

test('a trigger becomes a message in the inbox, and its record says how', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'welcome', [inApp('Hello {{subscriber.firstName}}, {{payload.what}}')])
  const transactionId = await trigger(
    api,
    'welcome',
    { subscriberId: 'ada', firstName: 'Ada' },
    { payload: { what: 'hi' } },
  )
  await server.drain()
  expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([
    { content: 'Hello Ada, hi', channel: 'in_app', transactionId, status: 'sent', seen: false, read: false },
  ])
  const found = await runOf(api, transactionId)
  expect(found).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'delivered' } })
  expect(storyOf(found)).toEqual([sent])
  expect(found.jobs[0].executionDetails).toMatchObject([
    { status: 'Pending', source: 'Internal', isRetry: false, isTest: false },
    { status: 'Pending', providerId: 'svc' },
    { status: 'Success', providerId: 'svc' },
  ])
})

describe('the worked example of a workflow', () => {
  const steps: Step[] = [
    {
      ...{ name: 'In-App Step', type: 'in_app', stepId: 'in-app-step' },
      controlValues: {
        subject: 'Order {{payload.orderId}}',
        body: 'On its way',
        redirect: { url: '/orders/{{payload.orderId}}' },
      },
    },
    { name: 'Wait', type: 'delay', stepId: 'wait', controlValues: hour },
    {
      ...{ name: 'Mail', type: 'in_app', stepId: 'mail' },
      controlValues: {
        body: "Hi {{subscriber.firstName | default: 'there'}}",
        skip: { and: [{ '==': [{ var: 'steps.in-app-step.read' }, false] }, { '>': [{ var: 'payload.total' }, 10] }] },
      },
    },
  ]

  test.each<[number | undefined, isRead: boolean, isSent: boolean]>([
    [11, false, true],
    [11, true, false],
    [10, false, false],
    [undefined, false, false],
  ])('with a total of %s, and read: %s, goes on: %s', async (total, isRead, isSent) => {
    const payloadSchema = {
      type: 'object',
      properties: { orderId: { type: 'string' }, total: { type: 'number', default: 0 } },
      required: ['orderId'],
    }
    const api = await apiWith(steps, { payloadSchema, validatePayload: true })
    const payload = { orderId: '7', ...(total === undefined ? {} : { total }) }
    await run(api, { payload })
    const [message] = await messagesOf(api, 'subscriberId=ada')
    expect(message).toMatchObject({ subject: 'Order 7', cta: { data: { url: '/orders/7', target: '_self' } } })
    if (isRead) await api.post('/v1/subscribers/ada/messages/mark-as', { messageId: message._id, markAs: 'read' })
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(isSent ? ['On its way', 'Hi there'] : ['On its way'])
  })
})

test('the buttons of an inbox message come with it to the clients', async () => {
  const link = (url: string) => ({ redirect: { url, target: '_blank' } })
  const api = await apiWith([
    inApp('Body', {
      ...{ subject: 'Subject', avatar: 'https://acme.example/a.png', data: { n: '{{payload.n}}' }, ...link('/main') },
      primaryAction: { label: 'Yes', ...link('https://acme.example/yes') },
      secondaryAction: { label: 'No' },
    }),
  ])
  await run(api, { payload: { n: 1 } })
  const [message] = await messagesOf(api, 'subscriberId=ada')
  expect(message).toMatchObject({
    ...{ subject: 'Subject', content: 'Body', avatar: 'https://acme.example/a.png', data: { n: '1' } },
    cta: {
      type: 'redirect',
      data: { url: '/main', target: '_blank' },
      action: {
        buttons: [
          { type: 'primary', content: 'Yes', url: 'https://acme.example/yes', target: '_blank' },
          { type: 'secondary', content: 'No' },
        ],
        result: {},
      },
    },
  })
})

describe('environment variables', () => {
  test('are readable, secrets too; the built-in name and type win over variables', async () => {
    const { development: api } = await server.freshOrganization()
    const wide = await server.organizationOf(api)
    const define = (key: string, value: string, isSecret = false) =>
      wide.post('/v1/environment-variables', {
        ...{ key, isSecret, values: [{ _environmentId: api.environmentId, value }] },
      })
    await define('HOST', 'example.com')
    await define('TOKEN', 's3cret', true)
    await define('name', 'mine')
    await define('type', 'mine')
    await makeWorkflow(api, 'hello', [
      inApp('{{env.HOST}} {{env.TOKEN}} {{env.name}} {{env.type}} [{{env.MISSING}}{{env.host}}]'),
    ])
    await run(api)
    expect(await contentsOf(api, 'ada')).toEqual(['example.com s3cret Development dev []'])
  })
})

describe('a condition', () => {
  const when = (skip: object) => inApp('Hello', { skip })

  test.each([
    ['the payload', { '==': [{ var: 'payload.plan' }, 'pro'] }],
    ['the subscriber', { '==': [{ var: 'subscriber.firstName' }, 'Ada'] }],
    ['being offline', { '==': [{ var: 'subscriber.isOnline' }, false] }],
    ['a context', { '==': [{ var: 'context.tenant.id' }, 'acme'] }],
    ['the workflow', { '==': [{ var: 'workflow.severity' }, 'high'] }],
    ['a variable of the environment', { '!=': [{ var: 'env.name' }, 'nothing'] }],
    ['a template', { '==': [{ var: 'payload.plan' }, '{{payload.same}}'] }],
    ['nothing', {}],
  ])('can read %s', async (_, skip) => {
    const api = await apiWith([when(skip)], { severity: 'high' })
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada' })
    const found = await run(api, { payload: { plan: 'pro', same: 'pro' }, context: { tenant: 'acme' } })
    expect(storyOf(found)).toEqual([sent])
  })

  test('that does not hold skips the step, and the run goes on', async () => {
    const api = await apiWith([when({ '==': [1, 2] }), inApp('Second')])
    const found = await run(api)
    expect(storyOf(found)).toEqual(['in_app canceled: Step queued, Bridge execution skipped', sent])
    expect(found.jobs[0]).toMatchObject({ reason: 'step_condition' })
    expect(found.jobs[0].executionDetails[1]).toMatchObject({ status: 'Failed', raw: '{"skip":true}' })
    expect(await contentsOf(api, 'ada')).toEqual(['Second'])
    expect(found.status).toBe('completed')
  })

  test('that does not hold on the only step leaves the run skipped', async () => {
    const found = await run(await apiWith([when({ '==': [1, 2] })]))
    expect(found.deliveryLifecycle).toEqual({ status: 'skipped', detail: 'step_condition' })
  })

  test('that cannot be evaluated fails the step, and the run goes on', async () => {
    const api = await apiWith([when({ conjure: [1] }), inApp('Second')])
    const found = await run(api)
    expect(storyOf(found)).toEqual(['in_app failed: Step queued, Bridge execution failed', sent])
    expect(found.jobs[0].executionDetails[1].raw).toContain('Failed to evaluate rule')
    expect(found.status).toBe('error')
  })
})

describe('preferences', () => {
  const off = { channels: { in_app: { enabled: false } } }
  const on = { channels: { in_app: { enabled: true } } }
  const filtered = (by: string) => [`in_app canceled: Step queued, Step filtered by ${by} preferences`]

  test('of the workflow hold it back', async () => {
    const found = await run(await apiWith([inApp()], { preferences: { workflow: off } }))
    expect(storyOf(found)).toEqual(filtered('workflow'))
    expect(found.jobs[0]).toMatchObject({ reason: 'preference', executionDetails: [{}, { status: 'Success' }] })
    expect(found).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'skipped', detail: 'preference' } })
  })

  test('set for the workflow by a user win over them', async () => {
    const held = await apiWith([inApp()], { preferences: { user: off, workflow: on } })
    expect(storyOf(await run(held))).toEqual(filtered('user'))
    const free = await apiWith([inApp()], { preferences: { user: on, workflow: off } })
    expect(storyOf(await run(free))).toEqual([sent])
  })

  test('of the subscriber for all workflows win over those', async () => {
    const held = await apiWith([inApp()])
    await prefer(held, 'ada', { channels: { in_app: false } })
    expect(storyOf(await run(held))).toEqual(filtered('subscriber global'))
    const free = await apiWith([inApp()], { preferences: { user: off } })
    await prefer(free, 'ada', { channels: { in_app: true } })
    expect(storyOf(await run(free))).toEqual([sent])
  })

  test('of the subscriber for this workflow win over all', async () => {
    const api = await apiWith([inApp()])
    await makeWorkflow(api, 'other', [inApp()])
    await prefer(api, 'ada', { channels: { in_app: true } })
    await prefer(api, 'ada', { workflowId: 'hello', channels: { in_app: false } })
    expect(storyOf(await run(api))).toEqual(filtered('subscriber workflow'))
    const other = await trigger(api, 'other', 'ada')
    await server.drain()
    expect(storyOf(await runOf(api, other))).toEqual([sent])
  })

  test('are attributed to the most specific layer, not the one that decided', async () => {
    const api = await apiWith([inApp()], { preferences: { user: off } })
    await prefer(api, 'ada', { workflowId: 'hello', channels: { email: true } })
    expect(storyOf(await run(api))).toEqual(filtered('subscriber workflow'))
  })

  test('for all channels apply where the channel is not named', async () => {
    const held = await apiWith([inApp()], { preferences: { user: { all: { enabled: false } } } })
    expect(storyOf(await run(held))).toEqual(filtered('user'))
    const named = await apiWith([inApp()], { preferences: { user: { all: { enabled: false }, ...on } } })
    expect(storyOf(await run(named))).toEqual([sent])
  })

  test('of the subscriber do not count for a critical workflow', async () => {
    const api = await apiWith([inApp()], { preferences: { user: { all: { enabled: true, readOnly: true } } } })
    await prefer(api, 'ada', { channels: { in_app: false } })
    const found = await run(api)
    expect(storyOf(found)).toEqual([sent])
    expect(found.critical).toBe(true)
  })

  test('belong to exactly one set of contexts', async () => {
    const api = await apiWith([inApp()])
    await prefer(api, 'ada', { channels: { in_app: false }, context: { tenant: 'acme' } })
    expect(storyOf(await run(api))).toEqual([sent])
    expect(storyOf(await run(api, { context: { tenant: 'acme', app: 'web' } }))).toEqual([sent])
    expect(storyOf(await run(api, { context: { tenant: 'acme' } }))).toEqual(filtered('subscriber global'))
  })

  test('are the current ones, also for a run that has waited', async () => {
    const api = await apiWith([delay, inApp()])
    const [one, two] = [await trigger(api, 'hello', 'ada'), await trigger(api, 'hello', 'bob')]
    await server.drain()
    await prefer(api, 'ada', { channels: { in_app: false } })
    await pass(server, { hours: 1 })
    expect(storyOf(await runOf(api, one))[1]).toBe(filtered('subscriber global')[0])
    expect(storyOf(await runOf(api, two))[1]).toBe(sent)
    const three = await trigger(api, 'hello', 'bob')
    await server.drain()
    const { body } = await api.get('/v2/workflows/hello')
    const changed = await api.put('/v2/workflows/hello', { ...body, preferences: { user: off } })
    expect(changed.status).toBe(200)
    await pass(server, { hours: 1 })
    expect(storyOf(await runOf(api, three))[1]).toBe(filtered('user')[0])
  })

  test('count before the condition: if both hold a step back, the preference is named', async () => {
    const api = await apiWith([inApp('Never', { skip: { '==': [1, 2] } })])
    await prefer(api, 'ada', { channels: { in_app: false } })
    const found = await run(api)
    expect(storyOf(found)).toEqual(['in_app canceled: Step queued, Step filtered by subscriber global preferences'])
    expect(found).toMatchObject({
      deliveryLifecycle: { status: 'skipped', detail: 'preference' },
      jobs: [{ reason: 'preference' }],
    })
  })

  test('do not hold back steps that deliver nothing', async () => {
    const custom = { type: 'custom', controlValues: { a: 1 } }
    const api = await apiWith([custom, inApp()], { preferences: { user: { all: { enabled: false } } } })
    const [first] = storyOf(await run(api))
    expect(first).toMatch(/^custom completed/)
  })
})

describe("the subscriber's schedule", () => {
  const mail = { type: 'email', controlValues: { subject: 'Hi', body: 'Hi' } }
  const monday = (start: string, end: string) => ({
    isEnabled: true,
    weeklySchedule: { monday: { isEnabled: true, hours: [{ start, end }] } },
  })
  const outside = "Step queued, The step was skipped as it fell outside the subscriber's schedule"

  test('holds back emails, not the inbox; the run goes on', async () => {
    const api = await apiWith([mail, { type: 'custom', controlValues: {} }, inApp()])
    await prefer(api, 'ada', { schedule: monday('09:00 AM', '05:00 PM') })
    const found = await run(api)
    expect(storyOf(found)).toEqual([`email canceled: ${outside}`, `custom canceled: ${outside}`, sent])
    expect(found.jobs[0]).toMatchObject({ reason: 'outside_schedule' })
    const [, line] = found.jobs[0].executionDetails
    expect(line.status).toBe('Success')
    expect(JSON.parse(line.raw)).toMatchObject({ schedule: { isEnabled: true } })
  })

  test('does not apply to a critical workflow', async () => {
    const api = await apiWith([{ type: 'custom', controlValues: {} }], {
      preferences: { user: { all: { enabled: true, readOnly: true } } },
    })
    await prefer(api, 'ada', { schedule: monday('09:00 AM', '05:00 PM') })
    expect(storyOf(await run(api))).toEqual(['custom completed: Step queued, Step processed'])
  })

  test("uses the subscriber's local time, to the minute", async () => {
    const api = await apiWith([{ type: 'custom', controlValues: {} }])
    await prefer(api, 'ada', { schedule: monday('09:00 AM', '05:00 PM') })
    await api.patch('/v2/subscribers/ada', { timezone: 'America/New_York' })
    const statusAt = async (moment: string) => {
      advanceTo(server.clock, moment)
      return (await run(api)).jobs[0].status
    }
    expect(await statusAt('2026-07-06T12:59:59Z')).toBe('canceled')
    expect(await statusAt('2026-07-06T13:00:00Z')).toBe('completed')
    expect(await statusAt('2026-07-06T21:00:59Z')).toBe('completed')
    expect(await statusAt('2026-07-06T21:01:00Z')).toBe('canceled')
  })

  test('belongs to exactly one set of contexts', async () => {
    const api = await apiWith([{ type: 'custom', controlValues: {} }])
    const schedule = { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } }
    await prefer(api, 'ada', { schedule, context: { tenant: 'acme' } })
    expect((await run(api)).jobs[0].status).toBe('completed')
    expect((await run(api, { context: { tenant: 'acme' } })).jobs[0].status).toBe('canceled')
  })
})

describe('a step that fails', () => {
  const failed = 'in_app failed: Step queued, Message content could not be generated'

  test('does not stop the run, which ends in error', async () => {
    const found = await run(await apiWith([failing, inApp()]))
    expect(storyOf(found)).toEqual([failed, sent])
    expect(found.jobs[0]).toMatchObject({ reason: 'content_failed', error: expect.any(String) })
    expect(found.status).toBe('error')
  })

  test('ends the run if set to', async () => {
    const found = await run(await apiWith([{ ...failing, shouldStopOnFail: true }, inApp(), inApp()]))
    const canceled = 'in_app canceled: Step was canceled because a previous step failed'
    expect(storyOf(found)).toEqual([failed, canceled, canceled])
    expect(found.jobs[1]).toMatchObject({ reason: 'previous_step_failed', executionDetails: [{ status: 'Failed' }] })
    expect(found.status).toBe('error')
  })

  test('that is only skipped ends nothing', async () => {
    const skipped = { ...inApp('Hello', { skip: { '==': [1, 2] } }), shouldStopOnFail: true }
    expect(storyOf(await run(await apiWith([skipped, inApp()])))[1]).toBe(sent)
  })

  test('without an in-app integration says so', async () => {
    const api = await apiWith([inApp()])
    const { body } = await api.get('/v1/integrations')
    for (const { _id, channel } of body)
      if (channel === 'in_app') await api.put(`/v1/integrations/${_id}`, { active: false })
    const found = await run(api)
    expect(storyOf(found)).toEqual(['in_app failed: Step queued, Subscriber does not have an active integration'])
    expect(found.jobs[0]).toMatchObject({ reason: 'no_integration' })
  })
})

describe('a text without a translation', () => {
  test.each([
    ['where translation is off', false],
    ['where no language has it', true],
  ])('%s fails the step with its reason; the run goes on', async (_, isTranslationEnabled) => {
    const found = await run(await apiWith([inApp('{{t.nothing}}'), inApp()], { isTranslationEnabled }))
    expect(storyOf(found)).toEqual(['in_app failed: Step queued, Message content could not be generated', sent])
    expect(found.jobs[0]).toMatchObject({
      reason: 'content_failed',
      error: expect.stringContaining('There is no translation for "nothing"'),
    })
  })
})

describe('an HTTP request', () => {
  const request = (values: object = {}): Step => ({
    type: 'http_request',
    stepId: 'ask',
    controlValues: { method: 'POST', url: `${vendor.url}/ask`, ...values },
  })

  test('passes its response to later templates and conditions', async () => {
    vendor.plays(() => ({ body: { price: 5, deep: { name: 'Book' } } }))
    const api = await apiWith([
      request({ body: '{"who":"{{subscriber.subscriberId}}"}', headers: [{ key: 'x-n', value: '{{payload.n}}' }] }),
      inApp('{{steps.ask.deep.name}} for {{steps.ask.price}}', { skip: { '>': [{ var: 'steps.ask.price' }, 4] } }),
      inApp('Never', { skip: { '>': [{ var: 'steps.ask.price' }, 5] } }),
    ])
    const found = await run(api, { payload: { n: 7 } })
    expect(storyOf(found)).toEqual([
      'http_request completed: Step queued, Step processed',
      sent,
      'in_app canceled: Step queued, Bridge execution skipped',
    ])
    expect(await contentsOf(api, 'ada')).toEqual(['Book for 5'])
    expect(vendor.asked).toHaveLength(1)
    expect(vendor.asked[0]).toMatchObject({ method: 'POST', path: '/ask', body: '{"who":"ada"}' })
    expect(vendor.asked[0]?.headers).toMatchObject({
      'x-n': '7',
      'svc-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    })
    expect(JSON.parse(found.jobs[0].executionDetails[1].raw)).toMatchObject({ statusCode: 200, body: { price: 5 } })
  })

  test('can send what a digest before it collected, the tenant and the actor', async () => {
    vendor.plays(() => ({ body: {} }))
    const digest: Step = { type: 'digest', controlValues: { type: 'regular', amount: 1, unit: 'minutes' } }
    const body =
      '{"n":{{step.total_count}},"first":"{{step.events[0].n}}","of":"{{tenant.name}}","by":"{{actor.firstName}}"}'
    const api = await apiWith([digest, request({ body })])
    expect((await api.get('/v2/workflows/hello')).body.status).toBe('ACTIVE')
    await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    const actor = { subscriberId: 'bob', firstName: 'Bob' }
    for (const n of [1, 2]) await trigger(api, 'hello', 'ada', { payload: { n }, tenant: 'acme', actor })
    await server.drain()
    await pass(server, { minutes: 1 })
    expect(vendor.asked.map((asked) => JSON.parse(asked.body))).toEqual([{ n: 2, first: '1', of: 'Acme', by: 'Bob' }])
    const preview = await api.post('/v2/workflows/hello/step/ask/preview', {})
    expect(preview.body.result.preview.body).toMatch(/^\{"n":3,"first":"/)
  })

  test('keeps the first ten kilobytes of a long response in its record', async () => {
    vendor.plays(() => ({ body: { text: 'x'.repeat(20_000) } }))
    const [job] = (await run(await apiWith([request(), inApp('{{steps.ask.text | size}}')]))).jobs
    const { raw } = job.executionDetails[1]
    expect(raw).toMatch(/^\{"statusCode":200,"body":\{"text":"x+\.\.\. \[truncated\]$/)
    expect(raw).toHaveLength(10_240 + '... [truncated]'.length)
  })

  test('can be made again by a run that has waited', async () => {
    vendor.plays(() => ({ body: { price: 5 } }))
    const api = await apiWith([request(), delay, inApp('{{steps.ask.price}} after {{steps.delay.duration}}')])
    await run(api)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['5 after 3600000'])
    expect(vendor.asked).toHaveLength(1)
  })

  test('that fails ends the run, unless set to continue', async () => {
    vendor.plays(() => ({ status: 500, body: { error: 'no' } }))
    const found = await run(await apiWith([request(), inApp()]))
    expect(storyOf(found)).toEqual([
      'http_request failed: Step queued, Action step execution failed',
      'in_app canceled: Step was canceled because a previous step failed',
    ])
    expect(found.jobs[0]).toMatchObject({ reason: 'http_request_failed' })
    expect(found.status).toBe('error')
    const free = await run(await apiWith([request({ continueOnFailure: true }), inApp('Hello{{steps.ask.price}}')]))
    expect(storyOf(free)).toEqual(['http_request failed: Step queued, Action step execution failed', sent])
    expect(vendor.asked).toHaveLength(2)
  })

  test('that may fail leaves its run completed, even when the rest is canceled', async () => {
    vendor.plays(() => ({ status: 500 }))
    const allowed = request({ continueOnFailure: true })
    const free = await run(await apiWith([allowed, inApp()]))
    expect(free).toMatchObject({ status: 'completed', deliveryLifecycle: { status: 'delivered' } })
    expect(free.jobs[0]).toMatchObject({ status: 'failed', reason: 'failure_allowed', error: 'HTTP status 500' })
    const worse = await run(await apiWith([allowed, failing]))
    expect(worse.status).toBe('error')
    const api = await apiWith([allowed, delay, inApp()])
    const { transactionId } = await run(api)
    expect((await api.delete(`/v1/events/trigger/${transactionId}`)).body).toBe(true)
    expect((await runOf(api, transactionId)).status).toBe('completed')
  })

  test('whose response is no object gets a warning; one that breaks its schema fails if enforced', async () => {
    vendor.plays(() => ({ body: [1] }))
    expect(storyOf(await run(await apiWith([request()])))).toEqual([
      'http_request completed: Step queued, HTTP request step received a non-object response, Step processed',
    ])
    vendor.plays(() => ({ body: { price: 'a lot' } }))
    const responseBodySchema = { type: 'object', properties: { price: { type: 'number' } } }
    const enforced = request({ responseBodySchema, enforceSchemaValidation: true })
    expect(storyOf(await run(await apiWith([enforced])))).toEqual([
      'http_request failed: Step queued, Response body schema validation failed',
    ])
    expect(storyOf(await run(await apiWith([request({ responseBodySchema })])))).toEqual([
      'http_request completed: Step queued, Step processed',
    ])
  })

  test('whose condition does not hold is not made', async () => {
    const found = await run(await apiWith([request({ skip: { '==': [1, 2] } }), inApp()]))
    expect(storyOf(found)).toEqual(['http_request canceled: Step queued, Bridge execution skipped', sent])
    expect(vendor.asked).toEqual([])
  })

  test('is held back by neither preferences nor schedule', async () => {
    vendor.plays(() => ({ body: {} }))
    const api = await apiWith([request()], { preferences: { user: { all: { enabled: false } } } })
    await prefer(api, 'ada', { schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } } })
    expect(storyOf(await run(api))).toEqual(['http_request completed: Step queued, Step processed'])
  })
})

describe('later steps see', () => {
  test('the current state of an earlier message', async () => {
    const seen = '{{steps.first.seen}} {{steps.first.read}} {{steps.first.lastSeenDate}}'
    const api = await apiWith([
      { ...inApp('First'), stepId: 'first' },
      delay,
      inApp(seen),
      inApp('Reminder', { skip: { '==': [{ var: 'steps.first.read' }, false] } }),
    ])
    await trigger(api, 'hello', ['ada', 'bob'])
    await server.drain()
    const [message] = await messagesOf(api, 'subscriberId=ada')
    server.clock.advance({ minutes: 1 })
    const at = server.clock.now().toISOString()
    const marked = await api.post('/v1/subscribers/ada/messages/mark-as', { messageId: message._id, markAs: 'read' })
    expect(marked.status).toBe(201)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['First', `true true ${at}`])
    expect((await contentsOf(api, 'bob')).sort()).toEqual(['First', 'Reminder', 'false false '])
  })

  test('the result of a step done in the same transaction', async () => {
    const api = await apiWith([
      { ...inApp('First'), stepId: 'first' },
      { type: 'custom', stepId: 'made', controlValues: { greeting: 'Hi {{subscriber.subscriberId}}' } },
      inApp('{{steps.made.greeting}}, {{steps.first.seen}}'),
    ])
    await run(api)
    expect((await contentsOf(api, 'ada')).sort()).toEqual(['First', 'Hi ada, false'])
  })
})

describe('a workflow edited while a run waits', () => {
  const read = async (api: Api) => (await api.get('/v2/workflows/hello')).body

  test('keeps the steps that the run began with, and their content', async () => {
    const api = await apiWith([delay, inApp('Old'), inApp('Removed')])
    const transactionId = await trigger(api, 'hello', 'ada')
    await server.drain()
    const workflow = await read(api)
    const [first, second] = workflow.steps
    const steps = [inApp('Added'), first, { ...second, controlValues: { body: 'New' } }].map((step, n) => ({
      name: `step ${n}`,
      ...step,
    }))
    const edited = await api.put('/v2/workflows/hello', { ...workflow, steps })
    expect(edited, edited.text).toMatchObject({ status: 200 })
    await pass(server, { hours: 1 })
    expect((await contentsOf(api, 'ada')).sort()).toEqual(['Old', 'Removed'])
    expect((await runOf(api, transactionId)).jobs).toHaveLength(3)
    await trigger(api, 'hello', 'bob')
    await server.drain()
    expect(await contentsOf(api, 'bob')).toEqual(['Added'])
  })

  test('or deleted or turned off still finishes its runs', async () => {
    const [gone, off] = [await apiWith([delay, inApp()]), await apiWith([delay, inApp()])]
    for (const api of [gone, off]) await trigger(api, 'hello', 'ada')
    await server.drain()
    expect((await gone.delete('/v2/workflows/hello')).status).toBe(204)
    expect((await off.patch('/v2/workflows/hello', { active: false })).status).toBe(200)
    await pass(server, { hours: 1 })
    for (const api of [gone, off]) expect(await contentsOf(api, 'ada')).toEqual(['Hello'])
  })

  test('shows and keeps the active flags of its steps', async () => {
    const replyCallback = { active: true, url: 'https://example.com/replies' }
    const api = await apiWith([{ ...inApp(), shouldStopOnFail: true, replyCallback, active: true }, inApp()])
    const workflow = await read(api)
    expect(workflow.steps[0]).toMatchObject({ shouldStopOnFail: true, replyCallback, active: true })
    expect(workflow.steps[1]).not.toHaveProperty('shouldStopOnFail')
    const [{ _id, name, type, controlValues }] = workflow.steps
    const put = async (more: object) => {
      const steps = [{ _id, name, type, controlValues, ...more }]
      const answer = await api.put('/v2/workflows/hello', { ...workflow, steps })
      expect(answer, answer.text).toMatchObject({ status: 200 })
      return answer.body.steps[0]
    }
    expect(await put({})).toMatchObject({ shouldStopOnFail: true, replyCallback, active: true })
    expect(await put({ shouldStopOnFail: null, replyCallback: null })).not.toHaveProperty('replyCallback')
    expect(await put({ shouldStopOnFail: false })).toMatchObject({ shouldStopOnFail: false })
    const refused = await api.put('/v2/workflows/hello', {
      ...workflow,
      steps: [{ _id, name, type, controlValues, shouldStopOnFail: 'yes' }],
    })
    expect(refused.status).toBe(422)
  })
})

// As when two steps are redriven and one of them is done.
test.each<[JobStatus[], RunState['status']]>([
  [['completed', 'queued'], 'processing'],
  [['failed', 'running'], 'processing'],
  [['completed', 'skipped'], 'completed'],
  [['failed', 'completed'], 'error'],
])('a run whose steps are %j is %s', (statuses, expected) => {
  const run = { status: 'processing', jobs: statuses.map((status) => ({ status, reason: null })) } as RunState
  end(run)
  expect(run.status).toBe(expected)
})

// The race with a cancel is in cancel.test.ts; here is what it rests on.
test.each<JobStatus>(['pending', 'running', 'completed', 'failed', 'canceled', 'merged', 'skipped'])(
  'a step that is %s is not woken when its time comes',
  (status) => {
    const job = { type: 'delay', status, dueAt: null, details: [], isChanged: false } as unknown as JobState
    const effects = noEffects()
    const woken = wakeUp({ jobs: [job], effects } as unknown as RunState, job, new Date(0)).next()
    expect([woken, job, effects]).toEqual([
      { done: true, value: undefined },
      { type: 'delay', status, dueAt: null, details: [], isChanged: false },
      noEffects(),
    ])
  },
)
