// Step and variant filters, the older form of conditions, in runs.
import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { contentsOf, inApp, makeWorkflow, pass, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const sent = 'in_app completed: Step queued, Message created, Message sent'
const held = 'in_app canceled: Step queued, Step was skipped based on steps conditions'
const group = (children: object[], value = 'AND') => ({ isNegated: false, type: 'GROUP', value, children })
const equal = (on: string, field: string, value: unknown) => ({ on, field, operator: 'EQUAL', value })
const filtered = (filters: object[], more: Partial<Step> = {}): Step => ({ ...inApp(), filters, ...more })
const pro = group([equal('payload', 'plan', 'pro')])

async function run(steps: Step[], more: object = {}, to: unknown = 'ada') {
  await makeWorkflow(api, 'hello', steps)
  return again(more, to)
}

async function again(more: object = {}, to: unknown = 'ada') {
  const transactionId = await trigger(api, 'hello', to, more)
  await server.drain()
  return runOf(api, transactionId)
}

describe('a step with filters', () => {
  test('runs if its filters pass; otherwise its log shows what was compared', async () => {
    const found = await run([filtered([pro]), inApp('Second')], { payload: { plan: 'free' } })
    expect(storyOf(found)).toEqual([held, sent])
    const [first] = found.jobs
    expect(first).toMatchObject({ reason: 'step_condition', step: { filters: [pro] } })
    expect(first.executionDetails[1]).toMatchObject({ status: 'Failed', source: 'Internal' })
    expect(JSON.parse(first.executionDetails[1].raw)).toEqual({
      passed: false,
      conditions: [{ on: 'payload', field: 'plan', operator: 'EQUAL', expected: 'pro', actual: 'free', passed: false }],
    })
    expect(storyOf(await again({ payload: { plan: 'pro' } }))).toEqual([sent, sent])
  })

  test('that waits is skipped, not canceled, and the next step runs', async () => {
    const wait: Step = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' }, filters: [pro] }
    expect(storyOf(await run([wait, inApp()]))).toEqual([
      'delay skipped: Step queued, Step was skipped based on steps conditions',
      sent,
    ])
    expect((await again()).jobs[0].executionDetails[1].status).toBe('Success')
  })

  test('passes if any group does, and a group if all or any of its children do', async () => {
    const groups = [
      group([equal('payload', 'a', '1'), equal('payload', 'b', '1')]),
      group([equal('payload', 'c', '1'), equal('subscriber', 'data.plan', 'pro')], 'OR'),
    ]
    await makeWorkflow(api, 'hello', [filtered(groups)])
    const passes = async (payload: object, to: unknown = 'ada') => storyOf(await again({ payload }, to))[0] === sent
    expect(await passes({ a: 1 })).toBe(false)
    expect(await passes({ a: 1, b: 1 })).toBe(true)
    expect(await passes({ c: 1 })).toBe(true)
    expect(await passes({}, { subscriberId: 'bob', data: { plan: 'pro' } })).toBe(true)
  })

  test('can compare with the tenant, and with rendered templates', async () => {
    await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme', data: { owner: 'ada' } })
    const children = [
      equal('tenant', 'identifier', 'acme'),
      equal('tenant', 'data.owner', '{{subscriber.subscriberId}}'),
      equal('payload', 'a', '{{b}}'),
    ]
    await makeWorkflow(api, 'hello', [filtered([group(children)])])
    const payload = { a: 'x', b: 'x' }
    const story = async (more: object) => storyOf(await again(more))[0]
    expect(await story({ tenant: 'acme', payload })).toContain('Message sent')
    expect(await story({ tenant: 'acme', payload: { ...payload, b: 'y' } })).toContain('steps conditions')
    expect(await story({ payload })).toContain('steps conditions')
  })

  test('whose template is broken does not pass, and says so', async () => {
    const found = await run([filtered([group([equal('payload', 'a', '{{ payload.b')])])], {
      payload: { a: 'x' },
    })
    expect(storyOf(found)).toEqual([
      'in_app canceled: Step queued, Processing step filter failed, Step was skipped based on steps conditions',
    ])
  })

  test('can have a condition too, and both must hold', async () => {
    const condition = { skip: { '==': [{ var: 'payload.n' }, 1] } }
    await makeWorkflow(api, 'hello', [{ ...inApp('Hello', condition), filters: [pro] }])
    expect(storyOf(await again({ payload: { plan: 'pro', n: 1 } }))).toEqual([sent])
    expect(storyOf(await again({ payload: { plan: 'free', n: 1 } }))).toEqual([held])
    expect(storyOf(await again({ payload: { plan: 'pro', n: 2 } }))[0]).toContain('Bridge execution skipped')
  })

  test('keeps them until they are replaced or removed', async () => {
    const id = await makeWorkflow(api, 'hello', [filtered([pro])])
    const { body } = await api.get(`/v2/workflows/${id}`)
    const [{ _id, name, type, controlValues }] = body.steps
    const put = (more: object) =>
      api.put(`/v2/workflows/${id}`, {
        ...{ name: 'hello', origin: 'svc-cloud', preferences: {}, active: true },
        steps: [{ _id, name, type, controlValues, ...more }],
      })
    expect((await put({})).body.steps[0].filters).toEqual([pro])
    expect((await put({ filters: [] })).body.steps[0].filters).toEqual([])
    expect((await put({ filters: null })).body.steps[0].filters).toBeUndefined()
  })

  test.each([
    ['no list of children', { isNegated: false, type: 'GROUP', value: 'AND' }],
    ['an unknown subject', group([equal('weather', 'a', '1')])],
    ['an unknown operator', group([{ on: 'payload', field: 'a', operator: 'SOUNDS_LIKE', value: '1' }])],
    ['a webhook without a URL', group([{ ...equal('webhook', 'a', '1') }])],
    [
      'a webhook with a URL that is not http',
      group([{ ...equal('webhook', 'a', '1'), webhookUrl: 'file:///etc/passwd' }]),
    ],
    ['an unknown time unit', group([{ on: 'isOnlineInLast', timeOperator: 'moons', value: 1 }])],
    ['an unknown online state', group([{ on: 'isOnline', value: 'perhaps' }])],
    ['an unknown state of an earlier step', group([{ on: 'previousStep', step: 'in_app-0', stepType: 'lost' }])],
  ])('is refused with %s', async (_, filter) => {
    const step = { name: 'Tell', ...filtered([filter]) }
    const refused = await api.post('/v2/workflows', { name: 'hello', workflowId: 'hello', steps: [step] })
    expect(refused).toMatchObject({ status: 400 })
    expect(await api.get('/v2/workflows/hello')).toMatchObject({ status: 404 })
  })
})

describe('a filter on whether the subscriber is online', () => {
  const online = (isOnline: boolean) => api.patch('/v1/subscribers/ada/online-status', { isOnline })

  test('uses the state when the step runs', async () => {
    await makeWorkflow(api, 'hello', [filtered([group([{ on: 'isOnline', value: true }])])])
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    expect(storyOf(await again())).toEqual([held])
    await online(true)
    expect(storyOf(await again())).toEqual([sent])
    await online(false)
    expect(storyOf(await again())).toEqual([held])
  })

  test('can match those who are offline', async () => {
    await makeWorkflow(api, 'hello', [filtered([group([{ on: 'isOnline', value: false }])])])
    expect(storyOf(await again())).toEqual([sent])
    await online(true)
    expect(storyOf(await again())).toEqual([held])
  })

  test('lately, counts from when they left', async () => {
    const lately = group([{ on: 'isOnlineInLast', timeOperator: 'minutes', value: 5 }])
    await makeWorkflow(api, 'hello', [filtered([lately])])
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    expect(storyOf(await again())).toEqual([held])
    await online(true)
    server.clock.advance({ hours: 3 })
    expect(storyOf(await again())).toEqual([sent])
    await online(false)
    server.clock.advance({ minutes: 5 })
    expect(storyOf(await again())).toEqual([sent])
    server.clock.advance({ ms: 1 })
    expect(storyOf(await again())).toEqual([held])
  })
})

describe('a filter on an earlier step', () => {
  const wait: Step = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }
  const became = (stepType: string) => group([{ on: 'previousStep', step: 'in_app-0', stepType }])
  const steps = (stepType: string) => [inApp('First'), wait, filtered([became(stepType)], inApp('Second'))]

  const mark = async (markAs: string) => {
    const { body } = await api.get('/v1/messages?subscriberId=ada')
    await api.post('/v1/subscribers/ada/messages/mark-as', { messageId: body.data[0]._id, markAs })
  }

  test.each([
    ['unread', undefined, true],
    ['unread', 'seen', true],
    ['unread', 'read', false],
    ['read', 'seen', false],
    ['read', 'read', true],
    ['seen', undefined, false],
    ['seen', 'seen', true],
    ['unseen', undefined, true],
    ['unseen', 'seen', false],
  ])('wants it %s; it was marked %s before', async (stepType, marked, isSent) => {
    await run(steps(stepType))
    if (marked) await mark(marked)
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(isSent ? ['First', 'Second'] : ['First'])
  })

  test('counts one that sent nothing as neither seen nor read', async () => {
    const first = filtered([pro])
    expect(storyOf(await run([first, filtered([became('unread')])]))).toEqual([held, sent])
    const other = await server.freshApi()
    api = other
    expect(storyOf(await run([first, filtered([became('seen')])]))).toEqual([held, held])
  })
})

describe('a filter that calls a URL', () => {
  const asking = (field = 'isAllowed', value: unknown = 'true') =>
    group([{ ...equal('webhook', field, value), webhookUrl: `${vendor.url}/may-i` }])

  test('sends what is known, signed, and compares a field of the answer', async () => {
    vendor.plays(() => ({ body: { deep: { isAllowed: true } } }))
    const found = await run([filtered([asking('deep.isAllowed')]), inApp('Second')], { payload: { n: 1 } })
    expect(storyOf(found)).toEqual([sent, sent])
    expect(found.status).toBe('completed')
    expect(vendor.asked).toHaveLength(1)
    const [asked] = vendor.asked
    expect(asked).toMatchObject({ method: 'POST', path: '/may-i' })
    expect(JSON.parse(asked?.body ?? '')).toMatchObject({
      subscriber: { subscriberId: 'ada' },
      payload: { n: 1 },
      identifier: 'hello',
      channel: 'in_app',
      providerId: 'svc',
    })
    const signature = createHmac('sha256', api.key).update(api.environmentId).digest('hex')
    expect(asked?.headers['nv-hmac-256']).toBe(signature)
  })

  test('holds back on another answer, and on one that is not JSON', async () => {
    vendor.plays(() => ({ body: { isAllowed: false } }))
    expect(storyOf(await run([filtered([asking()]), inApp('Second')]))).toEqual([held, sent])
    vendor.plays(() => ({ body: 'certainly' }))
    expect(storyOf(await again())).toEqual([held, sent])
  })

  test('is called last: only if the others have not decided', async () => {
    vendor.plays(() => ({ body: { isAllowed: true } }))
    const both = group([...asking().children, equal('payload', 'plan', 'pro')])
    const either = group([...asking().children, equal('payload', 'plan', 'pro')], 'OR')
    await makeWorkflow(api, 'hello', [filtered([both]), filtered([either]), filtered([asking(), pro])])
    const free = await again({ payload: { plan: 'free' } })
    expect(storyOf(free)).toEqual([held, sent, sent])
    expect(vendor.asked).toHaveLength(2)
    vendor.asked.length = 0
    expect(storyOf(await again({ payload: { plan: 'pro' } }))).toEqual([sent, sent, sent])
    expect(vendor.asked).toHaveLength(1)
  })

  test('is called once for all filters of a step', async () => {
    vendor.plays(() => ({ body: { a: 1, b: 2 } }))
    const url = `${vendor.url}/facts`
    const children = [
      { ...equal('webhook', 'a', '1'), webhookUrl: url },
      { ...equal('webhook', 'b', '2'), webhookUrl: url },
    ]
    expect(storyOf(await run([filtered([group(children)])]))).toEqual([sent])
    expect(vendor.asked).toHaveLength(1)
  })

  test('works for waiting steps too', async () => {
    const digest = (filters: object[]): Step => ({
      ...{ type: 'digest', stepId: 'digest', filters },
      controlValues: { amount: 1, unit: 'hours' },
    })
    vendor.plays(() => ({ body: { isAllowed: true } }))
    await makeWorkflow(api, 'hello', [digest([asking()]), inApp('{{steps.digest.eventCount}}')])
    await again()
    await again()
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { hours: 1 })
    expect(await contentsOf(api, 'ada')).toEqual(['2'])
    vendor.plays(() => ({ body: {} }))
    expect(storyOf(await again())).toEqual([
      'digest skipped: Step queued, Step was skipped based on steps conditions',
      sent,
    ])
  })

  test('that fails is retried, three times in all; then the step has failed and the run goes on', async () => {
    vendor.plays(() => ({ status: 500 }))
    const found = await run([filtered([asking()]), inApp('Second')])
    expect(found.jobs[0]).toMatchObject({ status: 'queued' })
    expect(vendor.asked).toHaveLength(1)
    await pass(server, { seconds: 2 })
    expect(vendor.asked).toHaveLength(2)
    await pass(server, { seconds: 4 })
    expect(vendor.asked).toHaveLength(3)
    const ended = await runOf(api, found.transactionId)
    const retry = 'Webhook filter failed, retry will be executed'
    expect(storyOf(ended)).toEqual([
      `in_app failed: Step queued, ${retry}, ${retry}, Failed to get response from remote webhook filter on last retry`,
      sent,
    ])
    expect(ended).toMatchObject({ status: 'error' })
    expect(ended.jobs[0]).toMatchObject({ reason: 'filter_failed', error: expect.stringContaining('500') })
    const lines = ended.jobs[0].executionDetails.slice(1)
    for (const line of lines) expect(line).toMatchObject({ status: 'Pending', source: 'Webhook', isRetry: true })
    expect(lines.map(({ raw }: { raw: string }) => JSON.parse(raw).attempt)).toEqual([1, 2, 3])
  })

  test('that answers the second time lets the step go on', async () => {
    vendor.plays(() => (vendor.asked.length === 1 ? 'hang up' : { body: { isAllowed: true } }))
    const found = await run([filtered([asking()])])
    await pass(server, { seconds: 2 })
    expect(storyOf(await runOf(api, found.transactionId))).toEqual([
      'in_app completed: Step queued, Webhook filter failed, retry will be executed, Message created, Message sent',
    ])
  })

  test('that cannot be reached ends the run at a waiting step', async () => {
    vendor.plays(() => ({ status: 500 }))
    const wait: Step = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }
    const found = await run([{ ...wait, filters: [asking()] }, inApp()])
    await pass(server, { seconds: 2 })
    await pass(server, { seconds: 4 })
    expect(storyOf(await runOf(api, found.transactionId)).at(1)).toBe(
      'in_app canceled: Step was canceled because a previous step failed',
    )
  })

  test('can be canceled while it waits for a retry', async () => {
    vendor.plays(() => ({ status: 500 }))
    const found = await run([filtered([asking()]), inApp('Second')])
    expect((await api.delete(`/v1/events/trigger/${found.transactionId}`)).body).toBe(true)
    await pass(server, { seconds: 10 })
    expect(vendor.asked).toHaveLength(1)
    expect(await contentsOf(api, 'ada')).toEqual([])
  })
})

describe('variants of a step', () => {
  const variant = (name: string, filters: object[], more: object = {}) => ({
    ...{ name, filters, controlValues: { body: name } },
    ...more,
  })
  const old = group([{ on: 'payload', field: 'age', operator: 'LARGER', value: '60' }])

  test('replace it for subscribers whose filters pass, the first match wins', async () => {
    const step: Step = { ...inApp('Standard'), variants: [variant('Senior', [old]), variant('Pro', [pro])] }
    await makeWorkflow(api, 'hello', [step])
    const found = await again({ payload: { plan: 'pro' } })
    expect(storyOf(found)).toEqual([
      'in_app completed: Step queued, Variant was chosen by the provided condition criteria, Message created, Message sent',
    ])
    expect(found.jobs[0].executionDetails[1]).toMatchObject({ status: 'Pending' })
    expect(JSON.parse(found.jobs[0].executionDetails[1].raw)).toEqual({ conditions: [pro] })
    await again({ payload: { plan: 'pro', age: 61 } })
    expect(storyOf(await again({ payload: { plan: 'free' } }))).toEqual([sent])
    expect(await contentsOf(api, 'ada')).toEqual(['Pro', 'Senior', 'Standard'])
  })

  test('are skipped when turned off or without filters', async () => {
    const variants = [variant('Off', [pro], { active: false }), variant('All', [])]
    await run([{ ...inApp('Standard'), variants }], { payload: { plan: 'pro' } })
    expect(await contentsOf(api, 'ada')).toEqual(['Standard'])
  })

  test('do not help a step whose own filters do not pass', async () => {
    const step = { ...filtered([old]), variants: [variant('Pro', [pro])] }
    expect(storyOf(await run([step], { payload: { plan: 'pro' } }))).toEqual([held])
  })

  test('can call a URL', async () => {
    vendor.plays(() => ({ body: { vip: true } }))
    const vip = group([{ ...equal('webhook', 'vip', 'true'), webhookUrl: vendor.url }])
    await run([{ ...inApp('Standard'), variants: [variant('Pro', [pro]), variant('Vip', [vip])] }])
    expect(await contentsOf(api, 'ada')).toEqual(['Vip'])
  })

  test('stay chosen through all attempts of a delivery', async () => {
    await api.post('/v1/integrations', {
      ...{ providerId: 'generic-sms', channel: 'sms', active: true },
      credentials: {
        ...{
          baseUrl: vendor.url,
          apiKeyRequestHeader: 'x-key',
          apiKey: 'k',
          from: '+10',
          idPath: 'id',
          datePath: 'at',
        },
      },
    })
    vendor.plays(() => (vendor.asked.length === 1 ? { status: 503 } : { body: { id: 'm-1', at: '2026-05-01' } }))
    const step: Step = {
      ...{ type: 'sms', controlValues: { body: 'Standard' } },
      variants: [{ name: 'Pro', filters: [pro], controlValues: { body: 'Pro' } }],
    }
    const to = { subscriberId: 'ada', phone: '+4915112345678' }
    const found = await run([step], { payload: { plan: 'pro' } }, to)
    await pass(server, { minutes: 5 })
    const ended = await runOf(api, found.transactionId)
    expect(ended.jobs[0]).toMatchObject({ status: 'completed' })
    expect(vendor.asked.map(({ body }) => JSON.parse(body).content)).toEqual(['Pro', 'Pro'])
    const chosen = ended.jobs[0].executionDetails.filter(({ detail }: { detail: string }) =>
      detail.startsWith('Variant'),
    )
    expect(chosen).toHaveLength(1)
  })

  test('are shown with their step and keep their ids', async () => {
    const id = await makeWorkflow(api, 'hello', [{ ...inApp(), variants: [variant('Pro', [pro])] }])
    const { body } = await api.get(`/v2/workflows/${id}`)
    const [step] = body.steps
    expect(step.variants).toEqual([
      { _id: expect.any(String), name: 'Pro', filters: [pro], controlValues: { body: 'Pro' } },
    ])
    const { _id, name, type, controlValues, variants } = step
    const answer = await api.put(`/v2/workflows/${id}`, {
      ...{ name: 'hello', origin: 'svc-cloud', preferences: {}, active: true },
      steps: [{ _id, name, type, controlValues, variants: [...variants, ...variants, variant('Senior', [old])] }],
    })
    const ids = answer.body.steps[0].variants.map((each: { _id: string }) => each._id)
    expect(ids[0]).toBe(variants[0]._id)
    expect(new Set(ids).size).toBe(3)
  })
})
