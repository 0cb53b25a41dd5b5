import { SeverityLevelEnum, type Workflow, workflow } from '@novu/framework/express'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useApplication } from '../../../test/application.ts'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ brand: 'novu', allowPrivateAddresses: true, limits: lowLimits })
/** Written with the library itself. */
const app = useApplication()
/** A fake that answers as the test says. */
const fake = useVendor()

// The library checks signatures against the real clock.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))

const orderSchema = {
  type: 'object',
  properties: { orderId: { type: 'string' } },
  required: ['orderId'],
  additionalProperties: false,
} as const
const controlSchema = {
  type: 'object',
  properties: {
    subject: { type: 'string', minLength: 1, default: 'Hi {{subscriber.firstName}}' },
    footer: { type: 'string' },
  },
  required: ['subject'],
  additionalProperties: false,
} as const

const shipped = (name = 'Order shipped') =>
  workflow(
    'order-shipped',
    async ({ step, payload }) => {
      const { events } = await step.digest('collect', () => ({ amount: 1, unit: 'hours' }))
      await step.custom('look-up', () => ({ price: 5 }), {
        outputSchema: {
          type: 'object',
          properties: { price: { type: 'number' } },
          required: ['price'],
          additionalProperties: false,
        } as const,
      })
      await step.email(
        'mail',
        ({ subject, footer }) => ({
          subject,
          body: `<p>${payload.orderId}, ${events.length} events, ${footer ?? 'no footer'}</p>`,
        }),
        { controlSchema },
      )
    },
    {
      name,
      description: 'When it is on its way',
      tags: ['orders'],
      severity: SeverityLevelEnum.HIGH,
      payloadSchema: orderSchema,
      preferences: { all: { enabled: true, readOnly: true }, channels: { inApp: { enabled: false } } },
    },
  )
const welcome = () =>
  workflow('welcome', async ({ step }) => {
    await step.sms('text', () => ({ body: 'Welcome' }))
  })

let api: Api
beforeEach(async () => {
  api = await server.freshApi()
})
const serve = (...workflows: Workflow[]) => app.serves(workflows, api.key)
const sync = (bridgeUrl = app.url) => api.post('/v1/bridge/sync?source=cli', { bridgeUrl })
const read = async (workflowId: string) => (await api.get(`/v2/workflows/${workflowId}`)).body
const listed = async () =>
  (await api.get('/v2/workflows?orderBy=name&orderDirection=ASC')).body.workflows.map(
    (each: { workflowId: string }) => each.workflowId,
  )
const bridgeUrl = async () => (await api.get('/v1/environments/me')).body.bridge.url
const cloudWorkflow = (workflowId: string) =>
  api.post('/v2/workflows', { name: workflowId, workflowId, steps: [], active: true })

describe('syncing', () => {
  test('stores what an application declares, unchanged', async () => {
    serve(shipped(), welcome())
    const answer = await sync()
    expect(answer).toMatchObject({
      status: 201,
      body: [
        { workflowId: 'order-shipped', name: 'Order shipped', origin: 'external', status: 'ACTIVE', tags: ['orders'] },
        { workflowId: 'welcome', name: 'welcome', stepTypeOverviews: ['sms'] },
      ],
    })
    const stored = await read('order-shipped')
    expect(stored).toMatchObject({
      name: 'Order shipped',
      description: 'When it is on its way',
      origin: 'external',
      active: true,
      status: 'ACTIVE',
      severity: 'high',
      tags: ['orders'],
      validatePayload: false,
      payloadSchema: orderSchema,
      payloadExample: { orderId: expect.any(String) },
      preferences: {
        user: null,
        default: {
          all: { enabled: true, readOnly: true },
          channels: { in_app: { enabled: false }, email: { enabled: true }, sms: { enabled: true } },
        },
      },
      steps: [
        { stepId: 'collect', name: 'collect', type: 'digest', controlValues: {} },
        { stepId: 'look-up', type: 'custom' },
        { stepId: 'mail', type: 'email', origin: 'external', controls: { dataSchema: controlSchema, values: {} } },
      ],
    })
    expect(stored.steps[2].controls).not.toHaveProperty('uiSchema')
    expect(await read('welcome')).toMatchObject({
      name: 'welcome',
      description: '',
      severity: 'none',
      tags: [],
      preferences: { default: { all: { enabled: true, readOnly: false }, channels: { in_app: { enabled: true } } } },
    })
    expect(await bridgeUrl()).toBe(app.url)
    expect(app.actions).toEqual(['discover'])
  })

  test('repeated, follows the code and keeps settings made here', async () => {
    serve(shipped(), welcome())
    await sync()
    const before = await read('order-shipped')
    const [, , mail] = before.steps
    const user = { all: { enabled: true, readOnly: false }, channels: { email: { enabled: false } } }
    const put = await api.put('/v2/workflows/order-shipped', {
      name: before.name,
      origin: 'external',
      active: false,
      preferences: { user, workflow: before.preferences.default },
      steps: before.steps.map((step: { _id: string; name: string; type: string }) => ({
        _id: step._id,
        name: step.name,
        type: step.type,
        controlValues: step._id === mail._id ? { subject: 'Kept' } : {},
      })),
    })
    expect(put.status).toBe(200)
    server.clock.advance({ seconds: 1 })
    serve(shipped('On its way'))
    expect((await sync()).body).toMatchObject([{ workflowId: 'order-shipped', name: 'On its way' }])
    expect(await read('order-shipped')).toMatchObject({
      _id: before._id,
      name: 'On its way',
      active: false,
      preferences: { user: { channels: { email: { enabled: false } } }, default: { all: { readOnly: true } } },
      steps: [
        { _id: before.steps[0]._id },
        { _id: before.steps[1]._id },
        { _id: mail._id, controlValues: { subject: 'Kept' }, controls: { dataSchema: controlSchema } },
      ],
    })
    expect((await api.get('/v2/workflows/welcome')).status).toBe(404)
  })

  test('leaves class, category and tracking alone', async () => {
    serve(welcome())
    await sync()
    const set = { messageClass: 'commercial', consentCategory: 'offers', tracking: { opens: true, clicks: false } }
    expect(await api.patch('/v2/workflows/welcome', set)).toMatchObject({ status: 200, body: set })
    serve(
      workflow('welcome', async ({ step }) => {
        await step.sms('text', () => ({ body: 'Hello' }))
        await step.email('mail', () => ({ subject: 'Hello', body: 'Hello' }))
      }),
    )
    await sync()
    expect(await read('welcome')).toMatchObject({ ...set, version: 3, steps: [{}, {}] })
  })

  test('follows the code in everything it declares, step by step', async () => {
    const declared = (more: object) => ({ workflowId: 'w', steps: [], ...more })
    const step = (stepId: string, more: object = {}) => ({ stepId, type: 'sms', controls: { schema: {} }, ...more })
    const syncs = async (one: object) => {
      fake.plays(() => ({ body: { workflows: [one] } }))
      expect((await sync(fake.url)).status).toBe(201)
      return read('w')
    }
    const before = await syncs(declared({ severity: 'low', steps: [step('a'), step('b'), step('c')] }))
    for (const stepId of ['a', 'b'])
      await api.put(`/v1/bridge/controls/w/${stepId}`, { variables: { body: `of ${stepId}` } })
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    const after = await syncs(
      declared({
        ...{ name: 'New', description: 'Described', tags: ['t'], severity: 'high', payload: { schema } },
        preferences: { all: { readOnly: true } },
        steps: [step('b', { controls: { schema } }), step('d', { type: 'email' }), step('a')],
      }),
    )
    expect(after).toMatchObject({
      ...{ _id: before._id, name: 'New', description: 'Described', tags: ['t'], severity: 'high' },
      payloadSchema: schema,
      preferences: { default: { all: { enabled: true, readOnly: true } } },
    })
    const [a, b] = before.steps
    expect(after.steps).toMatchObject([
      { stepId: 'b', _id: b._id, controlValues: { body: 'of b' }, controls: { dataSchema: schema } },
      { stepId: 'd', type: 'email', controlValues: {} },
      { stepId: 'a', _id: a._id, controlValues: { body: 'of a' } },
    ])
    expect(await api.get('/v1/bridge/controls/w/c')).toMatchObject({ status: 404 })
  })

  test('asks the application, and ignores what the client says about it', async () => {
    serve(welcome())
    const answer = await api.post(
      '/v1/bridge/sync',
      { bridgeUrl: app.url, workflows: [{ workflowId: 'invented', steps: [] }] },
      { 'novu-anonymous': 'somebody' },
    )
    expect(answer).toMatchObject({ status: 201, body: [{ workflowId: 'welcome' }] })
    expect(await listed()).toEqual(['welcome'])
  })

  test('does not write unchanged workflows', async () => {
    serve(shipped())
    await sync()
    const { updatedAt } = await read('order-shipped')
    server.clock.advance({ minutes: 1 })
    serve(shipped(), welcome())
    await sync()
    expect((await read('order-shipped')).updatedAt).toBe(updatedAt)
    const versions = await server.database.db
      .selectFrom('workflow_versions')
      .select('version')
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(versions).toEqual([{ version: 1 }, { version: 1 }])
  })

  test('does not touch workflows made here', async () => {
    await cloudWorkflow('mine')
    serve(welcome())
    await sync()
    serve(shipped())
    await sync()
    expect(await listed()).toEqual(['order-shipped', 'mine'])
  })

  test('of an application without workflows deletes all synced ones', async () => {
    serve(welcome())
    await sync()
    serve()
    expect(await sync()).toMatchObject({ status: 201, body: [] })
    expect(await listed()).toEqual([])
  })

  test('is refused for the identifier of a workflow made here, and nothing changes', async () => {
    serve(welcome())
    await sync()
    await cloudWorkflow('order-shipped')
    serve(shipped())
    expect(await sync(`${app.url}?other`)).toMatchObject({
      status: 400,
      body: {
        code: 'bridge_workflow_taken',
        message: 'Workflow "order-shipped" already exists and was not made by code; rename one of the two',
      },
    })
    expect(await listed()).toEqual(['order-shipped', 'welcome'])
    expect(await read('order-shipped')).toMatchObject({ origin: 'novu-cloud', steps: [] })
    expect(await bridgeUrl()).toBe(app.url)
  })

  test('two concurrent syncs leave one set of workflows', async () => {
    serve(shipped(), welcome())
    const answers = await Promise.all([sync(), sync(), sync()])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
    const ids = answers.map(({ body }) => body.map((each: { _id: string }) => each._id))
    expect(ids[1]).toEqual(ids[0])
    expect(ids[2]).toEqual(ids[0])
    expect(await listed()).toHaveLength(2)
  })

  test('a step that violates its control schema has issues', async () => {
    serve(shipped())
    await sync()
    await api.put('/v1/bridge/controls/order-shipped/mail', { variables: { subject: ' ', footer: 7 } })
    expect(await read('order-shipped')).toMatchObject({
      status: 'ERROR',
      steps: [
        {},
        {},
        {
          issues: {
            controls: {
              subject: [{ issueType: 'MISSING_VALUE' }],
              footer: [{ issueType: 'MISSING_VALUE' }],
            },
          },
        },
      ],
    })
  })

  test('templates in control values are checked against the variables of the step', async () => {
    serve(shipped())
    await sync()
    const variables = { subject: '{{payload.orderId}} {{payload.nothing}} {{steps.collect.eventCount}}' }
    await api.put('/v1/bridge/controls/order-shipped/mail', { variables })
    expect((await read('order-shipped')).steps[2].issues).toEqual({
      controls: {
        subject: [
          {
            issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE',
            variableName: 'payload.nothing',
            message: 'Variable "payload.nothing" is not supported',
          },
        ],
      },
      integration: expect.anything(),
    })
  })

  test('the error of an application with another key is passed on', async () => {
    app.serves([welcome()], 'another-key')
    expect(await sync()).toMatchObject({
      status: 400,
      body: { code: 'bridge_failed', ctx: { bridgeCode: 'SignatureMismatchError' } },
    })
    expect(await bridgeUrl()).toBeUndefined()
  })

  test.each([
    ['no URL', { bridgeUrl: '' }, 422, /bridgeUrl should not be empty/],
    ['nothing', {}, 422, /bridgeUrl should not be empty/],
    ['no address', { bridgeUrl: 'localhost' }, 400, /^The bridge URL cannot be called/],
    ['another protocol', { bridgeUrl: 'ftp://localhost' }, 400, /^The bridge URL must start with http/],
  ])('%s is refused', async (_, body, status, message) => {
    const answer = await api.post('/v1/bridge/sync', body)
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.body)).toMatch(status === 422 ? message : /./)
    if (status === 400) expect(answer.body.message).toMatch(message)
  })

  test('a private address is refused unless private addresses are allowed', async () => {
    const careful = await server.startAnother({ allowPrivateAddresses: false })
    const answer = await fetch(`${careful.url}/v1/bridge/sync`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ bridgeUrl: app.url }),
    })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ ctx: { bridgeCode: 'InvalidBridgeUrl' } })
    expect(app.actions).toEqual([])
  })

  const declared = (more: object) => ({ workflowId: 'w', steps: [], ...more })
  const step = (stepId: string, more: object = {}) => ({ stepId, type: 'sms', ...more })
  test.each([
    ['is no object', 'w', '"no. 1" cannot be synced: it must be object'],
    ['has no id', { steps: [] }, `"no. 1" cannot be synced: it must have required property 'workflowId'`],
    ['has an empty id', declared({ workflowId: '' }), '"" cannot be synced: workflowId must NOT have fewer'],
    ['has an id too long', declared({ workflowId: 'x'.repeat(256) }), 'workflowId must NOT have more than 255'],
    [
      'has a name too long',
      declared({ name: 'x'.repeat(129) }),
      '"w" cannot be synced: name must NOT have more than 128',
    ],
    [
      'has a description too long',
      declared({ description: 'x'.repeat(257) }),
      'description must NOT have more than 256',
    ],
    ['has too many tags', declared({ tags: Array.from({ length: 17 }, String) }), 'tags must NOT have more than 16'],
    ['has an unknown severity', declared({ severity: 'huge' }), 'severity must be equal to one of'],
    [
      'has too many steps',
      declared({ steps: Array.from({ length: 21 }, (_, i) => step(`s${i}`)) }),
      'it has 21 steps; at most 20',
    ],
    ['has a step of an unknown kind', declared({ steps: [step('a', { type: 'tool' })] }), 'steps.0.type must be'],
    ['has a step twice', declared({ steps: [step('a'), step('a')] }), 'two of its steps have the same stepId'],
    ['has a schema that is none', declared({ payload: { schema: 'x' } }), 'payload.schema must be object'],
    ['has preferences that are none', declared({ preferences: { all: { enabled: 'yes' } } }), 'must be boolean'],
  ])('a workflow that %s is refused', async (_, one, message) => {
    fake.plays(() => ({ body: { workflows: [one] } }))
    expect(await sync(fake.url)).toMatchObject({
      status: 400,
      body: { code: 'bridge_workflow_invalid', message: expect.stringContaining(message) },
    })
    expect(await bridgeUrl()).toBeUndefined()
  })

  test('a workflow declared twice is refused', async () => {
    fake.plays(() => ({ body: { workflows: [declared({}), declared({})] } }))
    expect((await sync(fake.url)).body.message).toBe('Workflow "w" cannot be synced: it is declared twice')
  })

  test('a sync that would exceed the limit of workflows is refused', async () => {
    await cloudWorkflow('mine')
    const workflows = Array.from({ length: 100 }, (_, i) => declared({ workflowId: `w${i}` }))
    fake.plays(() => ({ body: { workflows } }))
    expect(await sync(fake.url)).toMatchObject({
      status: 400,
      body: { code: 'too_many_workflows', ctx: { currentCount: 101, limit: 100 } },
    })
    fake.plays(() => ({ body: { workflows: workflows.slice(1) } }))
    expect(await sync(fake.url)).toMatchObject({ status: 201 })
    expect(await listed()).toHaveLength(50)
  })

  test('code-first workflows are neither copied nor published', async () => {
    serve(welcome())
    await sync()
    expect((await api.post('/v2/workflows/welcome/duplicate', {})).status).toBe(400)
  })
})

describe('the bridge', () => {
  test('reports its status', async () => {
    expect(await api.get('/v1/bridge/status')).toMatchObject({
      status: 400,
      body: { code: 'bridge_not_configured', message: expect.stringContaining('POST /v1/bridge/sync') },
    })
    serve(shipped(), welcome())
    await sync()
    expect(await api.get('/v1/bridge/status')).toMatchObject({
      status: 200,
      body: { status: 'ok', sdkVersion: '2.13.2', discovered: { workflows: 2, steps: 4 } },
    })
  })

  test('reports the status of a URL set without a sync', async () => {
    serve(welcome())
    await api.put(`/v1/environments/${api.environmentId}`, { bridge: { url: app.url } })
    expect(await api.get('/v1/bridge/status')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })

  test('can be validated', async () => {
    serve(welcome())
    expect(await api.post('/v1/bridge/validate', { bridgeUrl: app.url })).toMatchObject({
      status: 201,
      body: { isValid: true },
    })
    fake.plays(() => ({ body: { status: 'error' } }))
    expect((await api.post('/v1/bridge/validate', { bridgeUrl: fake.url })).body).toEqual({
      isValid: false,
      error: 'The application says that its status is "error"',
    })
    fake.plays(() => ({ status: 404, body: 'nothing here' }))
    expect((await api.post('/v1/bridge/validate', { bridgeUrl: fake.url })).body).toEqual({
      isValid: false,
      error: expect.stringContaining('The bridge cannot be reached'),
    })
    expect(await api.post('/v1/bridge/validate', {})).toMatchObject({ status: 422 })
    expect(await bridgeUrl()).toBeUndefined()
  })

  test('can be compared with given workflows', async () => {
    expect((await api.post('/v1/bridge/diff', {})).body.code).toBe('bridge_not_configured')
    serve(welcome())
    await sync()
    const other = { bridgeUrl: 'https://other.example.com', workflows: [{ workflowId: 'other' }] }
    expect(await api.post('/v1/bridge/diff', other)).toMatchObject({
      status: 201,
      body: {
        current: { bridgeUrl: app.url, workflows: [{ workflowId: 'welcome', steps: [{ stepId: 'text' }] }] },
        new: other,
      },
    })
  })

  test('reports an application that fails', async () => {
    fake.plays(() => ({ body: { workflows: [] } }))
    await sync(fake.url)
    fake.plays(() => ({ status: 404, body: {} }))
    for (const answer of [await api.get('/v1/bridge/status'), await api.post('/v1/bridge/diff', {})])
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'bridge_failed', ctx: { bridgeCode: 'BridgeEndpointUnavailable' } },
      })
  })
})

describe('control values', () => {
  const path = '/v1/bridge/controls/order-shipped/mail'

  test('are read and replaced', async () => {
    serve(shipped())
    await sync()
    expect(await api.get(path)).toMatchObject({ status: 200, body: { controls: {} } })
    const variables = { subject: 'A', footer: 'B' }
    expect(await api.put(path, { variables })).toMatchObject({ status: 200, body: { controls: variables } })
    expect(await api.put(path, { variables: { subject: 'C' } })).toMatchObject({ status: 200 })
    expect((await api.get(path)).body).toEqual({ controls: { subject: 'C' } })
    const { _id, steps, slug } = await read('order-shipped')
    expect(steps[2].controlValues).toEqual({ subject: 'C' })
    for (const other of [`${_id}/${steps[2]._id}`, `${slug}/${steps[2].slug}`])
      expect((await api.get(`/v1/bridge/controls/${other}`)).body).toEqual({ controls: { subject: 'C' } })
  })

  test('need an existing step of a code-first workflow', async () => {
    serve(shipped())
    await sync()
    await api.post('/v2/workflows', { name: 'mine', workflowId: 'mine', steps: [{ name: 'mail', type: 'email' }] })
    const stranger = await server.freshApi()
    const missing = [
      [api, 'order-shipped/nope'],
      [api, 'nope/mail'],
      [api, 'mine/mail'],
      [stranger, 'order-shipped/mail'],
    ] as const
    for (const [caller, step] of missing)
      for (const answer of [
        await caller.get(`/v1/bridge/controls/${step}`),
        await caller.put(`/v1/bridge/controls/${step}`, { variables: { subject: 'Mine' } }),
        ...(caller === api ? [await caller.post(`/v1/bridge/preview/${step}`, {})] : []),
      ])
        expect(answer).toMatchObject({ status: 404, body: { code: 'bridge_step_not_found' } })
    expect((await api.get(path)).body).toEqual({ controls: {} })
    expect(await api.put(path, {})).toMatchObject({ status: 422 })
    expect(await api.put(path, { variables: 'x' })).toMatchObject({ status: 422 })
  })
})

describe('a preview by the application', () => {
  test('uses the given values and payload', async () => {
    serve(shipped())
    await sync()
    const preview = '/v1/bridge/preview/order-shipped/mail'
    expect(await api.post(preview, { controls: { subject: 'Hi' }, payload: { orderId: 'o-1' } })).toMatchObject({
      status: 201,
      body: {
        outputs: { subject: 'Hi', body: '<p>o-1, 3 events, no footer</p>' },
        providers: {},
        options: { skip: false },
        metadata: { status: 'success', error: false },
      },
    })
    await api.put('/v1/bridge/controls/order-shipped/mail', { variables: { subject: 'Stored', footer: 'End' } })
    expect((await api.post(preview, { payload: { orderId: 'o-1' } })).body.outputs).toEqual({
      subject: 'Stored',
      body: '<p>o-1, 3 events, End</p>',
    })
  })

  test('reports why it failed', async () => {
    const preview = '/v1/bridge/preview/order-shipped/mail'
    expect((await api.post(preview, {})).body.code).toBe('bridge_not_configured')
    serve(shipped())
    await sync()
    expect(await api.post(preview, { controls: { subject: 7 } })).toMatchObject({
      status: 400,
      body: {
        code: 'bridge_failed',
        ctx: { bridgeCode: 'ExecutionStateControlInvalidError', data: expect.any(Array) },
      },
    })
  })
})

describe('a step in code is previewed like any other', () => {
  const preview = (stepId: string, body: object = {}) =>
    api.post(`/v2/workflows/order-shipped/step/${stepId}/preview`, body)

  test('with example values of its variables', async () => {
    serve(shipped())
    await sync()
    const answer = await preview('mail')
    expect(answer).toMatchObject({
      status: 201,
      body: {
        result: { type: 'email', preview: { subject: 'Hi John' } },
        previewPayloadExample: {
          payload: { orderId: expect.any(String) },
          subscriber: { firstName: 'John' },
          steps: { collect: { eventCount: 3 }, 'look-up': {} },
        },
        schema: { type: 'object', properties: { payload: orderSchema } },
      },
    })
    const { orderId } = answer.body.previewPayloadExample.payload
    expect(answer.body.result.preview.body).toBe(`<p>${orderId}, 3 events, no footer</p>`)
    expect(answer.body.result).not.toHaveProperty('error')
  })

  test('with the values of the client instead', async () => {
    serve(shipped())
    await sync()
    const answer = await preview('mail', {
      controlValues: { subject: '{{subscriber.lastName}}', footer: null },
      previewPayload: {
        payload: { orderId: 'o-7', extra: 1 },
        subscriber: { lastName: 'Lovelace' },
        steps: { collect: { events: [{ id: '1', time: '2026-01-01T00:00:00.000Z', payload: {} }] } },
      },
    })
    expect(answer.body.result).toEqual({
      type: 'email',
      preview: { subject: 'Lovelace', body: '<p>o-7, 1 events, no footer</p>' },
    })
    expect(answer.body.previewPayloadExample.payload).toEqual({ orderId: 'o-7' })
  })

  test('for every kind of step', async () => {
    serve(shipped())
    await sync()
    expect((await preview('collect')).body.result).toEqual({ type: 'digest', preview: { amount: 1, unit: 'hours' } })
    expect((await preview('look-up')).body.result).toEqual({ type: 'custom', preview: { price: 5 } })
  })

  test('and is empty, with the reason, when the application fails', async () => {
    serve(shipped())
    await sync()
    const answer = await preview('mail', { controlValues: { subject: 7 } })
    expect(answer).toMatchObject({
      status: 201,
      body: {
        result: {
          type: 'email',
          preview: {},
          error: { title: 'ExecutionStateControlInvalidError', message: expect.any(String), hint: expect.any(String) },
        },
        previewPayloadExample: { subscriber: { firstName: 'John' } },
        schema: { type: 'object' },
      },
    })
  })
})
