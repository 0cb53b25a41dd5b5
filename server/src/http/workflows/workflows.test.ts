import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'
import { newId } from '../../db/core/ids.ts'
import { findWorkflow, saveWorkflow, type WorkflowFields } from '../../db/queries/workflows.ts'
import { stepTypes } from '../../steps/contract/kind.ts'
import { stepKinds } from '../../steps/kinds/index.ts'

const server = useServer({ limits: lowLimits })
let api: Api
beforeEach(async () => {
  api = await server.freshApi()
})

const orderShipped = {
  name: 'Order shipped',
  workflowId: 'order-shipped',
  active: true,
  tags: ['orders'],
  payloadSchema: {
    type: 'object',
    properties: { orderId: { type: 'string' }, total: { type: 'number', default: 0 } },
    required: ['orderId'],
  },
  validatePayload: true,
  steps: [
    {
      name: 'In-App Step',
      type: 'in_app',
      controlValues: {
        subject: 'Order {{payload.orderId}}',
        body: 'On its way',
        redirect: { url: '/orders/{{payload.orderId}}' },
      },
    },
    { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
    {
      name: 'Mail',
      type: 'email',
      controlValues: {
        subject: "Hi {{subscriber.firstName | default: 'there'}}",
        editorType: 'html',
        body: '<p>{{payload.orderId}}</p>',
        layoutId: null,
        skip: {
          and: [{ '==': [{ var: 'steps.in-app-step.read' }, false] }, { '>': [{ var: 'payload.total' }, 10] }],
        },
      },
    },
  ],
}

/** Defaults that tests do not care about. */
const plain = { name: 'A workflow', workflowId: 'a-workflow', steps: [] as object[] }
const put = { name: 'A workflow', steps: [] as object[], preferences: {}, origin: 'svc-cloud' }
const sms = (body: string, more = {}) => ({ name: 'Text', type: 'sms', controlValues: { body }, ...more })

async function create(body: object = {}) {
  const answer = await api.post('/v2/workflows', { ...plain, ...body })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

/** Writes columns that only other parts of the service write. */
async function change(workflowId: string, columns: object) {
  await server.database.db
    .updateTable('workflows')
    .set(columns)
    .where('environment_id', '=', api.environmentId)
    .where('identifier', '=', workflowId)
    .execute()
}

/** As code-first sync creates them. */
async function createExternal(identifier: string, more: Partial<WorkflowFields> = {}) {
  const now = server.clock.now()
  const fields: WorkflowFields = {
    name: identifier,
    identifier,
    description: '',
    origin: 'external',
    active: true,
    critical: false,
    severity: 'none',
    tags: [],
    data: null,
    steps: [],
    payload_schema: null,
    validate_payload: false,
    is_translation_enabled: false,
    preferences: {},
    user_preferences: null,
    ...more,
  }
  return server.database.db
    .transaction()
    .execute((tx) =>
      saveWorkflow(tx, { environmentId: api.environmentId, userId: '0'.repeat(24), now, id: newId(now) }, fields),
    )
}

const everywhere = (enabled: boolean) => ({
  email: { enabled },
  sms: { enabled },
  in_app: { enabled },
  chat: { enabled },
  push: { enabled },
})
const usual = { all: { enabled: true, readOnly: false }, channels: everywhere(true) }

describe('creating', () => {
  test('the documented example is stored and shown', async () => {
    const body = await create(orderShipped)
    expect(body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      workflowId: 'order-shipped',
      slug: expect.stringMatching(/^order-shipped_wf_[0-9A-Za-z]{16}$/),
      name: 'Order shipped',
      description: '',
      tags: ['orders'],
      active: true,
      validatePayload: true,
      payloadSchema: orderShipped.payloadSchema,
      payloadExample: { orderId: '123456', total: 0 },
      isTranslationEnabled: false,
      severity: 'none',
      messageClass: 'transactional',
      consentCategory: null,
      tracking: { opens: false, clicks: false },
      brake: null,
      origin: 'svc-cloud',
      status: 'ACTIVE',
      issues: {},
      preferences: { user: null, default: usual },
      steps: expect.any(Array),
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
      updatedBy: { _id: '0'.repeat(24) },
      lastPublishedAt: null,
      lastTriggeredAt: null,
      version: 1,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(Object.keys(body.payloadSchema.properties)).toEqual(['orderId', 'total'])
    expect(body.steps.map((step: any) => step.stepId)).toEqual(['in-app-step', 'wait', 'mail'])
    expect(body.steps[1]).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      stepId: 'wait',
      slug: expect.stringMatching(/^wait_st_[0-9A-Za-z]{16}$/),
      name: 'Wait',
      type: 'delay',
      origin: 'svc-cloud',
      workflowId: 'order-shipped',
      workflowDatabaseId: body._id,
      controls: {
        dataSchema: stepKinds.delay.dataSchema,
        uiSchema: stepKinds.delay.uiSchema,
        values: { type: 'regular', amount: 1, unit: 'hours' },
      },
      controlValues: { type: 'regular', amount: 1, unit: 'hours' },
      variables: expect.objectContaining({ type: 'object' }),
    })
    expect(body.steps[2].variables.properties).toMatchObject({
      payload: orderShipped.payloadSchema,
      steps: { properties: { 'in-app-step': {}, wait: {} } },
    })
    expect((await api.get('/v2/workflows/order-shipped')).body).toEqual(body)
  })

  test('by default a workflow is inactive, accepts any payload and is enabled on all channels', async () => {
    const body = await create()
    expect(body).toMatchObject({
      active: false,
      status: 'INACTIVE',
      description: '',
      tags: [],
      severity: 'none',
      payloadSchema: { type: 'object', additionalProperties: true, properties: {} },
      payloadExample: {},
      validatePayload: true,
      isTranslationEnabled: false,
      preferences: { user: null, default: usual },
      steps: [],
    })
    expect(await create({ validatePayload: false })).toMatchObject({ validatePayload: false })
    expect(await create({ payloadSchema: { type: 'object' } })).toMatchObject({ validatePayload: false })
    const nothing = {
      description: null,
      tags: null,
      active: null,
      payloadSchema: null,
      severity: null,
      preferences: null,
    }
    expect(await create(nothing)).toMatchObject({ active: false, tags: [], validatePayload: true })
  })

  test('every kind of step is accepted, with missing values reported as issues', async () => {
    const { steps, status } = await create({
      active: true,
      steps: stepTypes.map((type) => ({ name: type, type })),
    })
    expect(steps.map((step: any) => step.type)).toEqual([...stepTypes])
    expect(steps.map((step: any) => [step.type, Object.keys(step.issues?.controls ?? {}).sort()])).toEqual([
      ['in_app', ['body', 'subject']],
      ['email', ['subject']],
      ['sms', ['body']],
      ['chat', ['body']],
      ['push', ['body', 'subject']],
      ['digest', ['amount', 'unit']],
      ['delay', ['amount', 'unit']],
      ['throttle', []],
      ['custom', []],
      ['http_request', ['method', 'url']],
    ])
    expect(status).toBe('ERROR')
    for (const step of steps) {
      expect(step.controls.values).toEqual({})
      expect(step.controlValues).toEqual({})
    }
    expect(steps.find((step: any) => step.type === 'custom').controls).not.toHaveProperty('uiSchema')
  })

  test('control values are stored unchanged', async () => {
    const controlValues = { body: '', unknown: { deep: [null, 1] }, skip: 'never' }
    const { steps } = await create({ steps: [{ name: 'Text', type: 'sms', controlValues }] })
    expect(steps[0].controlValues).toEqual(controlValues)
  })

  test('__source is accepted but not stored; unknown members and the origin are ignored', async () => {
    const sources =
      'template_store editor notification_directory onboarding_digest_demo onboarding_in_app empty_state dropdown onboarding_get_started bridge dashboard ai'
    for (const __source of sources.split(' ')) {
      const made = await create({ __source, origin: 'external', critical: true, type: 'REGULAR', unknown: 1 })
      expect(made).toMatchObject({ origin: 'svc-cloud' })
      for (const name of ['__source', 'critical', 'type', 'unknown']) expect(made).not.toHaveProperty(name)
    }
  })

  test.each(['a', 'A1', 'a.b_c-d', '1-2-3', 'x'.repeat(255)])('%s is a valid identifier', async (workflowId) => {
    expect((await create({ workflowId })).workflowId).toBe(workflowId)
  })

  test('the documented example of issues: the step has them, and the workflow has status ERROR', async () => {
    const { steps, status } = await create({
      active: true,
      payloadSchema: { type: 'object', properties: { orderId: { type: 'string' } }, additionalProperties: false },
      steps: [sms('Hello {{name}} {{payload.unknown}}')],
    })
    const illegal = (variableName: string, message: string) => ({
      ...{ issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', variableName, message },
    })
    expect(status).toBe('ERROR')
    expect(steps[0].issues.controls).toEqual({
      body: [
        illegal('name', 'Variable "name" invalid or missing namespace'),
        illegal('payload.unknown', 'Variable "payload.unknown" is not supported'),
      ],
    })
  })

  test('preferences are completed from the setting for all channels, else enabled', async () => {
    const { preferences } = await create({
      preferences: {
        user: { all: { enabled: false }, channels: { email: { enabled: true } } },
        workflow: { all: { readOnly: true } },
      },
    })
    expect(preferences).toEqual({
      user: { all: { enabled: false, readOnly: false }, channels: { ...everywhere(false), email: { enabled: true } } },
      default: { all: { enabled: true, readOnly: true }, channels: everywhere(true) },
    })
    const row = await findWorkflow(server.database.db, api.environmentId, 'a-workflow')
    expect(row?.critical).toBe(true)
  })

  test.each<[object, string | RegExp]>([
    [{ name: undefined }, 'name should not be empty'],
    [{ workflowId: undefined }, 'workflowId should not be empty'],
    [{ steps: undefined }, 'steps should not be null or undefined'],
    ...['-a', 'a-', 'a--b', 'a b', 'ä', ''].map((workflowId): [object, RegExp] => [
      { workflowId },
      /^workflowId (must consist of|should not be empty)/,
    ]),
    [{ workflowId: 'x'.repeat(256) }, 'workflowId must be shorter than or equal to 255 characters'],
    [{ severity: 'urgent' }, 'severity must be one of the following values: high, medium, low, none'],
    [{ __source: 'elsewhere' }, /^__source must be one of the following values: template_store, editor/],
    [{ active: 'yes' }, 'active must be a boolean value'],
    [{ payloadSchema: [] }, 'payloadSchema must be an object'],
    [
      { payloadSchema: { type: 'strin' } },
      'payloadSchema must be a valid JSON schema: #/type must be equal to one of the allowed values',
    ],
    [
      { payloadSchema: { $ref: '#/definitions/a' } },
      'payloadSchema must be a valid JSON schema: the reference "#/definitions/a" does not resolve in this schema',
    ],
    [{ payloadSchema: { pattern: '(a)\\1' } }, /^payloadSchema must be a valid JSON schema: the pattern/],
    [{ payloadSchema: { description: 'x'.repeat(65_536) } }, /^payloadSchema must be a valid JSON schema: it has/],
    [{ steps: [{ name: 'a' }] }, 'steps.0.type should not be empty'],
    [{ steps: [{ type: 'sms' }] }, 'steps.0.name should not be empty'],
    [{ steps: [{ name: 'a', type: 'trigger' }] }, /^steps.0.type must be one of the following values: in_app/],
    [{ steps: [{ name: 'a', type: 'sms', stepId: 'a b' }] }, /^steps.0.stepId must consist of/],
    [{ steps: [{ name: 'a', type: 'sms', controlValues: 'x' }] }, 'steps.0.controlValues must be an object'],
    [{ preferences: { user: { all: { enabled: 'no' } } } }, 'preferences.user.all.enabled must be a boolean value'],
  ])('%j is refused', async (change, message) => {
    const answer = await api.post('/v2/workflows', { ...plain, ...change })
    expect(answer).toMatchObject({ status: 422, body: { message: 'Validation Error' } })
    expect(answer.body.errors.general.messages).toContainEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    )
    expect((await api.get('/v2/workflows')).body.totalCount).toBe(0)
  })

  test.each<[object, string, string]>([
    [{ name: '' }, 'workflowDto.name', 'name should not be empty'],
    [{ name: 'x'.repeat(129) }, 'workflowDto.name', 'name must be shorter than or equal to 128 characters'],
    [
      { description: 'x'.repeat(257) },
      'workflowDto.description',
      'description must be shorter than or equal to 256 characters',
    ],
    [{ tags: ['a', 'a'] }, 'workflowDto.tags', 'tags must contain no duplicates'],
    [{ tags: [''] }, 'workflowDto.tags', 'each value in tags should not be empty'],
    [
      { tags: ['x'.repeat(65)] },
      'workflowDto.tags',
      'each value in tags must be shorter than or equal to 64 characters',
    ],
    [
      { tags: Array.from({ length: 17 }, (_, i) => `t${i}`) },
      'workflowDto.tags',
      'tags must contain no more than 16 elements',
    ],
    [
      { steps: [{ name: 'x'.repeat(129), type: 'sms' }] },
      'workflowDto.steps.0.name',
      'steps.0.name must be shorter than or equal to 128 characters',
    ],
  ])('%j is refused by its limit', async (change, field, message) => {
    const answer = await api.post('/v2/workflows', { ...plain, ...change })
    expect(answer.status).toBe(422)
    expect(answer.body.message).toBe(`Validation failed for UpsertWorkflowCommand: ${field}: ${message}`)
    expect(answer.body.errors[field].messages).toEqual([message])
  })

  test('lengths and numbers up to the limit are accepted', async () => {
    const tags = Array.from({ length: 16 }, (_, i) => `${i}`.padEnd(64, 'x'))
    const steps = Array.from({ length: 20 }, (_, i) => sms('x', { name: `${i}`.padEnd(128, 'x') }))
    await create({ name: 'x'.repeat(128), description: 'x'.repeat(256), tags, steps })
    const answer = await api.post('/v2/workflows', { ...plain, steps: [...steps, sms('x')] })
    expect(answer).toMatchObject({
      status: 400,
      body: { message: 'A workflow cannot have more than 20 steps', currentCount: 21, limit: 20 },
    })
  })

  test('a taken identifier gets a random suffix, every time', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, async () => (await create()).workflowId))
    expect(ids.filter((id) => id === 'a-workflow')).toHaveLength(1)
    expect(new Set(ids).size).toBe(8)
    for (const id of ids) expect(id).toMatch(/^a-workflow(-[0-9a-z]{8})?$/)
  })

  test('identifiers are case-sensitive, and shared by all origins', async () => {
    await createExternal('a-workflow')
    expect((await create()).workflowId).toMatch(/^a-workflow-[0-9a-z]{8}$/)
    expect((await create({ workflowId: 'A-Workflow' })).workflowId).toBe('A-Workflow')
  })

  test('an environment never exceeds its limit of workflows, however many are created at once', async () => {
    for (let i = 0; i < 97; i += 1) await createExternal(`w${i}`)
    const answers = await Promise.all(Array.from({ length: 8 }, () => api.post('/v2/workflows', plain)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400, 400, 400, 400, 400])
    expect(answers.find(({ status }) => status === 400)).toMatchObject({
      body: { message: 'An environment cannot have more than 100 workflows', currentCount: 100, limit: 100 },
    })
    expect((await api.get('/v2/workflows')).body.totalCount).toBe(100)
    expect((await api.post('/v2/workflows/w1/duplicate')).status).toBe(400)
  })
})

describe('steps', () => {
  test('get the given identifier, or one from their name, each unique', async () => {
    const { steps } = await create({
      steps: [
        sms('1', { name: "It's a Step" }),
        sms('2', { name: "It's a Step" }),
        sms('3', { stepId: 'Chosen_One' }),
        sms('4', { name: '試験' }),
        sms('5', { name: '試験' }),
      ],
    })
    expect(steps.map((step: any) => step.stepId)).toEqual([
      'its-a-step',
      expect.stringMatching(/^its-a-step-[0-9a-z]{8}$/),
      'Chosen_One',
      'sms',
      expect.stringMatching(/^sms-[0-9a-z]{8}$/),
    ])
    expect(steps.map((step: any) => step.controlValues.body)).toEqual(['1', '2', '3', '4', '5'])
  })

  test('an email body sent as an object is stored as JSON text', async () => {
    const document = { type: 'doc', content: [{ type: 'paragraph' }] }
    const { steps } = await create({
      steps: [
        { name: 'a', type: 'email', controlValues: { subject: 'Hi', body: document } },
        {
          name: 'b',
          type: 'email',
          controlValues: { subject: 'Hi', body: JSON.stringify(document), editorType: 'block' },
        },
        { name: 'c', type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html' } },
        { name: 'd', type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'block' } },
        { name: 'e', type: 'email', controlValues: { subject: 'Hi', body: '<p>Hi</p>' } },
        { name: 'f', type: 'email', controlValues: { subject: 'Hi' } },
      ],
    })
    const text = JSON.stringify(document)
    expect(steps.map((step: any) => step.controlValues.body)).toEqual([
      text,
      text,
      '<p>Hi</p>',
      '',
      '<p>Hi</p>',
      undefined,
    ])
  })

  test('a block document becomes HTML for the HTML editor, with its variables', async () => {
    const paragraph = {
      type: 'paragraph',
      content: [{ type: 'variable', attrs: { id: 'payload.name', fallback: 'you' } }],
    }
    const body = { type: 'doc', content: [paragraph] }
    const broken = JSON.stringify({ type: 'doc', content: [{ type: 'hologram' }] })
    const email = (more: object) => ({
      name: 'Mail',
      type: 'email',
      controlValues: { subject: 'Hi', editorType: 'html', ...more },
    })
    const { steps } = await create({
      steps: [email({ body }), email({ body, layoutId: null }), email({ body: broken })],
    })
    const [inLayout, whole, kept] = steps.map((step: any) => step.controlValues.body)
    expect(inLayout).toMatch(/^<p style="[^"]*">\{\{ payload.name \| default: "you" \}\}<\/p>$/)
    expect(whole).toMatch(/^<!DOCTYPE html>\n<html/)
    expect(kept).toBe(broken)
    expect(steps[2].issues.controls.body).toMatchObject([{ message: 'Unknown block type "hologram"' }])
    const [first] = steps
    const { body: updated } = await api.put('/v2/workflows/a-workflow', {
      ...put,
      steps: [{ ...email({ body }), _id: first._id }],
    })
    expect(updated.steps[0].controlValues.body).toBe(inLayout)
  })

  test('a layout can be named by identifier, slug or id, and is stored by identifier', async () => {
    const { body: layout } = await api.post('/v2/layouts', { layoutId: 'fancy', name: 'Fancy' })
    const email = (layoutId: unknown) => ({ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', layoutId } })
    const { steps } = await create({ steps: ['fancy', layout._id, layout.slug, null].map(email) })
    expect(steps.map((step: any) => step.controlValues.layoutId)).toEqual(['fancy', 'fancy', 'fancy', null])
    const [first] = steps
    const updated = await api.put('/v2/workflows/a-workflow', {
      ...put,
      steps: [{ ...email(layout.slug), _id: first._id }],
    })
    expect(updated.body.steps[0].controlValues.layoutId).toBe('fancy')
  })

  test('an unknown layout is refused and nothing is saved', async () => {
    const [other, steps] = [
      await server.freshApi(),
      [{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', layoutId: 'theirs' } }],
    ]
    await other.post('/v2/layouts', { layoutId: 'theirs', name: 'Theirs' })
    expect(await api.post('/v2/workflows', { ...plain, steps })).toMatchObject({
      status: 404,
      body: { message: 'Layout "theirs" cannot be found; nothing was saved', layoutId: 'theirs' },
    })
    expect((await api.get('/v2/workflows')).body.totalCount).toBe(0)
    const before = await create({ steps: [sms('x')] })
    expect((await api.put('/v2/workflows/a-workflow', { ...put, name: 'Other', steps })).status).toBe(404)
    expect((await api.get('/v2/workflows/a-workflow')).body).toEqual(before)
  })
})

describe('reading', () => {
  test('by identifier, internal id and slug; an identifier wins over the id of another workflow', async () => {
    const one = await create({ workflowId: 'one' })
    for (const name of [
      'one',
      one._id,
      one._id.toUpperCase(),
      one.slug,
      `renamed-since_${one.slug.split('_').slice(1).join('_')}`,
    ])
      expect((await api.get(`/v2/workflows/${name}`)).body._id).toBe(one._id)
    const two = await create({ workflowId: one._id })
    expect((await api.get(`/v2/workflows/${one._id}`)).body._id).toBe(two._id)
    const three = await create({ workflowId: one.slug })
    expect((await api.get(`/v2/workflows/${one.slug}`)).body._id).toBe(three._id)
  })

  test('an identifier that looks like a slug is found', async () => {
    const long = await create({ workflowId: 'welcomeNotificationForNewUsers' })
    expect((await api.get('/v2/workflows/welcomeNotificationForNewUsers')).body._id).toBe(long._id)
  })

  test('an unknown workflow, or one of another environment, is not found by any name', async () => {
    const elsewhere = await (await server.freshApi()).post('/v2/workflows', plain)
    const { _id, slug } = elsewhere.body
    for (const workflowId of ['a-workflow', _id, slug, 'f'.repeat(24)]) {
      const missing = { status: 404, body: { message: 'Workflow cannot be found', workflowId, ctx: { workflowId } } }
      expect(await api.get(`/v2/workflows/${workflowId}`)).toMatchObject(missing)
      expect(await api.put(`/v2/workflows/${workflowId}`, put)).toMatchObject(missing)
      expect(await api.patch(`/v2/workflows/${workflowId}`, { name: 'x' })).toMatchObject(missing)
      expect(await api.patch(`/v2/workflows/${workflowId}`, {})).toMatchObject(missing)
      expect(await api.delete(`/v2/workflows/${workflowId}`)).toMatchObject(missing)
      expect(await api.post(`/v2/workflows/${workflowId}/duplicate`)).toMatchObject(missing)
      expect(await api.get(`/v2/workflows/${workflowId}/steps/a`)).toMatchObject(missing)
      expect(await api.get(`/v2/workflows/${workflowId}/test-data`)).toMatchObject(missing)
    }
  })

  test('from another environment of the organization', async () => {
    const { development, production } = await server.freshOrganization()
    const { body: theirs } = await production.post('/v2/workflows', plain)
    const get = (environmentId: string) => development.get(`/v2/workflows/a-workflow?environmentId=${environmentId}`)
    expect((await get(production.environmentId)).body).toEqual(theirs)
    expect((await get(development.environmentId)).status).toBe(404)
    expect(await get('production')).toMatchObject({
      status: 400,
      body: { message: '"production" is not the internal id of an environment' },
    })
    expect(await get(api.environmentId)).toMatchObject({
      status: 404,
      body: { message: `Environment ${api.environmentId} not found` },
    })
  })

  test('shows current issues of integrations, without the status ERROR', async () => {
    await create({ active: true, steps: [sms('Hi'), { name: 'In', type: 'in_app', controlValues: { body: 'Hi' } }] })
    const read = async () => {
      const { body } = await api.get('/v2/workflows/a-workflow')
      return { status: body.status, issues: body.steps.map((step: any) => step.issues) }
    }
    expect(await read()).toEqual({
      status: 'ACTIVE',
      issues: [
        {
          integration: {
            sms: [{ issueType: 'MISSING_INTEGRATION', message: 'Missing active primary integration provider' }],
          },
        },
        { integration: { in_app: [{ issueType: 'INBOX_NOT_CONNECTED', message: expect.any(String) }] } },
      ],
    })
    await api.post('/v1/integrations', { providerId: 'twilio', channel: 'sms', active: true })
    await server.database.db
      .updateTable('integrations')
      .set({ connected: true })
      .where('environment_id', '=', api.environmentId)
      .where('channel', '=', 'in_app')
      .execute()
    expect(await read()).toEqual({ status: 'ACTIVE', issues: [undefined, undefined] })
  })

  test('reflects the current environment variables', async () => {
    await create({ active: true, steps: [sms('{{env.BASE_URL}}')] })
    const read = async () => (await api.get('/v2/workflows/a-workflow')).body
    expect(await read()).toMatchObject({
      status: 'ERROR',
      steps: [{ issues: { controls: { body: [{ variableName: 'env.BASE_URL' }] } } }],
    })
    const values = [{ _environmentId: api.environmentId, value: 'x' }]
    await (await server.organizationOf(api)).post('/v1/environment-variables', { key: 'BASE_URL', values })
    expect(await read()).toMatchObject({
      status: 'ACTIVE',
      steps: [{ variables: { properties: { env: { properties: { BASE_URL: {} } } } } }],
    })
    await (await server.organizationOf(api)).delete('/v1/environment-variables/BASE_URL')
  })

  test('a v1 workflow is shown without an example payload', async () => {
    const payload_schema = { type: 'object', properties: { a: { type: 'string' } } }
    await createExternal('older', { origin: 'svc-cloud-v1', payload_schema })
    const { body } = await api.get('/v2/workflows/older')
    expect(body).toMatchObject({ origin: 'svc-cloud-v1', payloadSchema: payload_schema })
    expect(body).not.toHaveProperty('payloadExample')
  })

  test('a code-first workflow shows its declared controls', async () => {
    const controlSchema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
    const step = {
      _id: 'e'.repeat(24),
      stepId: 'send',
      name: 'send',
      type: 'email',
      controlValues: null,
      controlSchema,
    }
    await createExternal('coded', {
      steps: [step],
      payload_schema: { type: 'object', properties: { a: { type: 'string' } } },
    })
    const { body } = await api.get('/v2/workflows/coded')
    expect(body).toMatchObject({ origin: 'external', status: 'ERROR', payloadExample: { a: 'example text' } })
    expect(body.steps[0].controls).toEqual({ dataSchema: controlSchema, values: {} })
    expect(body.steps[0].issues.controls).toMatchObject({ title: [{ message: 'Title is required' }] })
  })
})

describe('one step', () => {
  test('is found by stepId, internal id and slug, without issues of integrations', async () => {
    const { steps } = await create({ steps: [sms('Hi', { stepId: 'first' }), sms('{{gone}}', { stepId: 'second' })] })
    const [first, second] = steps
    const { issues, ...rest } = first
    expect(issues).toHaveProperty('integration')
    for (const name of ['first', first._id, first.slug])
      expect((await api.get(`/v2/workflows/a-workflow/steps/${name}`)).body).toEqual(rest)
    const answer = await api.get('/v2/workflows/a-workflow/steps/second')
    expect(answer.body.issues).toEqual({ controls: second.issues.controls })
  })

  test('that does not exist is refused with 400', async () => {
    await create()
    expect(await api.get('/v2/workflows/a-workflow/steps/gone')).toMatchObject({
      status: 400,
      body: { message: 'No step found', stepId: 'gone', workflowId: 'a-workflow' },
    })
  })
})

describe('replacing', () => {
  test('replaces the given fields and keeps the others', async () => {
    const before = await create({
      ...orderShipped,
      workflowId: 'a-workflow',
      description: 'Tells about orders',
      severity: 'high',
      preferences: { user: usual, workflow: { all: { enabled: false } } },
    })
    server.clock.advance({ minutes: 1 })
    const { status, body } = await api.put('/v2/workflows/a-workflow', {
      ...put,
      name: 'Renamed',
      workflowId: 'ignored',
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...before,
      name: 'Renamed',
      slug: before.slug.replace('order-shipped', 'renamed'),
      active: false,
      status: 'INACTIVE',
      steps: [],
      preferences: { user: null, default: usual },
      updatedAt: server.clock.now().toISOString(),
      version: 2,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('null keeps a description and clears a schema; an empty string clears a description', async () => {
    await create({ ...orderShipped, workflowId: 'a-workflow', description: 'Here' })
    const kept = await api.put('/v2/workflows/a-workflow', {
      ...put,
      description: null,
      payloadSchema: null,
      tags: null,
    })
    expect(kept.body).toMatchObject({
      description: 'Here',
      payloadSchema: null,
      tags: ['orders'],
      validatePayload: true,
    })
    expect(kept.body).not.toHaveProperty('payloadExample')
    const cleared = await api.put('/v2/workflows/a-workflow', { ...put, description: '', tags: [], severity: 'low' })
    expect(cleared.body).toMatchObject({ description: '', tags: [], payloadSchema: null, severity: 'low' })
  })

  test('matches steps by id, in the given order', async () => {
    const { steps } = await create({
      steps: [sms('1', { name: 'One' }), sms('2', { name: 'Two' }), sms('3', { name: 'Three' })],
    })
    const [one, two] = steps
    const given = [
      { _id: two._id, stepId: 'ignored', name: 'Renamed', type: 'sms', controlValues: { body: 'two' } },
      sms('new', { name: 'One' }),
      { _id: one._id, name: 'One', type: 'sms' },
      sms('also new', { _id: 'unknown', name: 'Two' }),
      // The same step again becomes a new one.
      { _id: one._id, name: 'Again', type: 'chat', controlValues: null },
    ]
    const { body } = await api.put('/v2/workflows/a-workflow', { ...put, steps: given })
    expect(
      body.steps.map(({ _id, stepId, name, controlValues }: any) => ({ _id, stepId, name, controlValues })),
    ).toEqual([
      { _id: two._id, stepId: 'two', name: 'Renamed', controlValues: { body: 'two' } },
      {
        _id: expect.any(String),
        stepId: expect.stringMatching(/^one-.{8}$/),
        name: 'One',
        controlValues: { body: 'new' },
      },
      { _id: one._id, stepId: 'one', name: 'One', controlValues: {} },
      {
        _id: expect.any(String),
        stepId: expect.stringMatching(/^two-.{8}$/),
        name: 'Two',
        controlValues: { body: 'also new' },
      },
      { _id: expect.any(String), stepId: 'again', name: 'Again', controlValues: {} },
    ])
    expect(new Set(body.steps.map((step: any) => step._id)).size).toBe(5)
    expect(body.steps[2].issues.controls).toHaveProperty('body')
  })

  test.each([
    [{ preferences: undefined }, 'preferences should not be null or undefined'],
    [{ origin: undefined }, 'origin should not be empty'],
    [{ origin: 'elsewhere' }, 'origin must be one of the following values: svc-cloud, svc-cloud-v1, external'],
    [{ payloadSchema: { required: 1 } }, 'payloadSchema must be a valid JSON schema: #/required must be array'],
  ])('%j is refused', async (change, message) => {
    await create()
    const answer = await api.put('/v2/workflows/a-workflow', { ...put, ...change })
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('every kind of step is accepted here too', async () => {
    await create()
    const { status, body } = await api.put('/v2/workflows/a-workflow', {
      ...put,
      steps: stepTypes.map((type) => ({ name: type, type, controlValues: {} })),
    })
    expect(status).toBe(200)
    expect(body.steps.map((step: any) => step.type)).toEqual([...stepTypes])
  })

  test('null preferences reset to the defaults', async () => {
    await create({ preferences: { user: usual, workflow: { all: { enabled: false, readOnly: true } } } })
    const before = await findWorkflow(server.database.db, api.environmentId, 'a-workflow')
    expect(before?.critical).toBe(true)
    const preferences = { user: null, workflow: null }
    const { body } = await api.put('/v2/workflows/a-workflow', { ...put, preferences })
    expect(body.preferences).toEqual({ user: null, default: usual })
    const row = await findWorkflow(server.database.db, api.environmentId, 'a-workflow')
    expect(row?.critical).toBe(false)
  })

  test('limits apply here too', async () => {
    await create()
    const answer = await api.put('/v2/workflows/a-workflow', { ...put, name: 'x'.repeat(129) })
    expect(answer).toMatchObject({ status: 422, body: { errors: { 'workflowDto.name': { value: 'x'.repeat(129) } } } })
    const steps = Array.from({ length: 21 }, () => sms('x'))
    expect(await api.put('/v2/workflows/a-workflow', { ...put, steps })).toMatchObject({
      status: 400,
      body: { currentCount: 21 },
    })
  })

  test('the origin stays, and only a code-first identifier can change', async () => {
    await create()
    await createExternal('coded')
    const origin = await api.put('/v2/workflows/a-workflow', { ...put, origin: 'external', workflowId: 'other' })
    expect(origin.body).toMatchObject({ origin: 'svc-cloud', workflowId: 'a-workflow' })
    const renamed = await api.put('/v2/workflows/coded', { ...put, workflowId: 'recoded' })
    expect(renamed.body).toMatchObject({ origin: 'external', workflowId: 'recoded' })
    expect(await api.put('/v2/workflows/recoded', { ...put, workflowId: 'a-workflow' })).toMatchObject({
      status: 400,
      body: { message: 'Another workflow has the identifier "a-workflow"; choose a different one' },
    })
  })

  test('the values and the declared schema of a code-first step stay unchanged', async () => {
    const controlSchema = { type: 'object', properties: { body: {} } }
    const step = {
      _id: 'e'.repeat(24),
      stepId: 'send',
      name: 'send',
      type: 'email',
      controlValues: null,
      controlSchema,
    }
    await createExternal('coded', { steps: [step] })
    const controlValues = { body: { type: 'doc' }, editorType: 'block', layoutId: 'not-ours' }
    const { body } = await api.put('/v2/workflows/coded', { ...put, steps: [{ ...step, controlValues }] })
    expect(body.steps[0]).toMatchObject({ stepId: 'send', controlValues, controls: { dataSchema: controlSchema } })
  })

  test('every change stores a version', async () => {
    const { _id } = await create({ steps: [sms('1')] })
    await api.put('/v2/workflows/a-workflow', { ...put, steps: [sms('2')] })
    await api.patch('/v2/workflows/a-workflow', { active: true })
    const versions = await server.database.db
      .selectFrom('workflow_versions')
      .select(['version', 'definition'])
      .where('environment_id', '=', api.environmentId)
      .where('workflow_id', '=', _id)
      .orderBy('version')
      .execute()
    expect(versions).toMatchObject([
      { version: 1, definition: { active: false, steps: [{ controlValues: { body: '1' } }] } },
      { version: 2, definition: { active: false, steps: [{ controlValues: { body: '2' } }] } },
      { version: 3, definition: { active: true, steps: [{ controlValues: { body: '2' } }] } },
    ])
  })
})

describe('changing some fields', () => {
  test('changes only these; null changes nothing', async () => {
    const before = await create({ ...orderShipped, workflowId: 'a-workflow' })
    server.clock.advance({ minutes: 1 })
    const updatedAt = server.clock.now().toISOString()
    const patched = await api.patch('/v2/workflows/a-workflow', {
      active: false,
      name: 'Renamed',
      description: 'New',
      tags: ['b'],
      validatePayload: false,
    })
    const after = {
      ...before,
      active: false,
      status: 'INACTIVE',
      name: 'Renamed',
      slug: before.slug.replace('order-shipped', 'renamed'),
      description: 'New',
      tags: ['b'],
      validatePayload: false,
      updatedAt,
      version: 2,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
    }
    expect(patched).toMatchObject({ status: 200, body: after })
    server.clock.advance({ minutes: 1 })
    const nothing = {
      active: null,
      name: null,
      description: null,
      tags: null,
      payloadSchema: null,
      validatePayload: null,
      isTranslationEnabled: null,
    }
    expect((await api.patch('/v2/workflows/a-workflow', nothing)).body).toEqual(after)
    expect((await api.patch('/v2/workflows/a-workflow')).body).toEqual(after)
    const some = await api.patch('/v2/workflows/a-workflow', { ...nothing, tags: ['c'] })
    expect(some.body).toEqual({ ...after, tags: ['c'], version: 3, updatedAt: server.clock.now().toISOString() })
  })

  test('an active workflow with issues has status ERROR, and another schema can fix it', async () => {
    await create({
      steps: [sms('{{payload.name}}')],
      payloadSchema: { type: 'object', properties: {}, additionalProperties: false },
    })
    expect((await api.patch('/v2/workflows/a-workflow', { active: true })).body.status).toBe('ERROR')
    const payloadSchema = { type: 'object', properties: { name: { type: 'string' } } }
    expect((await api.patch('/v2/workflows/a-workflow', { payloadSchema })).body).toMatchObject({
      status: 'ACTIVE',
      payloadSchema,
    })
  })

  test.each<[object, string, string]>([
    [{ name: '' }, 'name', 'name should not be empty'],
    [{ name: 'x'.repeat(129) }, 'name', 'name must be shorter than or equal to 128 characters'],
    [{ description: 'x'.repeat(257) }, 'description', 'description must be shorter than or equal to 256 characters'],
    [{ tags: ['a', 'a'] }, 'tags', 'tags must contain no duplicates'],
    [{ tags: [''] }, 'tags', 'each value in tags should not be empty'],
    [{ tags: ['x'.repeat(65)] }, 'tags', 'each value in tags must be shorter than or equal to 64 characters'],
    [{ tags: Array.from({ length: 17 }, (_, i) => `t${i}`) }, 'tags', 'tags must contain no more than 16 elements'],
  ])('%j is refused', async (change, field, message) => {
    await create()
    const answer = await api.patch('/v2/workflows/a-workflow', change)
    expect(answer.status).toBe(422)
    expect(answer.body.errors[field].messages).toEqual([message])
  })

  test('an invalid schema is refused', async () => {
    await create()
    expect((await api.patch('/v2/workflows/a-workflow', { payloadSchema: { type: 1 } })).status).toBe(422)
  })

  test('concurrent writes lose nothing', async () => {
    await create({ steps: [sms('Hi')] })
    const changes = [
      { name: 'Renamed' },
      { description: 'Described' },
      { tags: ['tagged'] },
      { active: true },
      { validatePayload: false },
    ]
    const answers = await Promise.all(changes.map((body) => api.patch('/v2/workflows/a-workflow', body)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { body } = await api.get('/v2/workflows/a-workflow')
    expect(body).toMatchObject(Object.assign({}, ...changes))
    expect(body.steps).toHaveLength(1)
    const row = await findWorkflow(server.database.db, api.environmentId, 'a-workflow')
    expect(row?.version).toBe(6)
  })

  test('turning translation on and off creates and deletes the texts', async () => {
    await create()
    const group = () => api.get('/v2/translations/group/workflow/a-workflow')
    expect((await group()).status).toBe(404)
    expect(
      (await api.patch('/v2/workflows/a-workflow', { isTranslationEnabled: true })).body.isTranslationEnabled,
    ).toBe(true)
    expect(await group()).toMatchObject({ status: 200, body: { locales: ['en_US'] } })
    const content = { hello: 'Hello' }
    await api.post('/v2/translations', { resourceId: 'a-workflow', resourceType: 'workflow', locale: 'de_DE', content })
    expect((await api.put('/v2/workflows/a-workflow', put)).body.isTranslationEnabled).toBe(true)
    expect((await api.get('/v2/translations/workflow/a-workflow/de_DE')).status).toBe(200)
    await api.put('/v2/workflows/a-workflow', { ...put, isTranslationEnabled: false })
    await api.patch('/v2/workflows/a-workflow', { isTranslationEnabled: true })
    expect((await api.get('/v2/translations/workflow/a-workflow/de_DE')).status).toBe(404)
  })
})

describe('deleting', () => {
  test('removes the workflow and all preferences for it, once', async () => {
    const { _id } = await create({ isTranslationEnabled: true })
    const { db } = server.database
    const keys = { environment_id: api.environmentId, workflow_id: _id }
    await db
      .insertInto('subscriber_preferences')
      .values({ ...keys, subscriber_row_id: 'a'.repeat(24), updated_at: server.clock.now() })
      .execute()
    await db
      .insertInto('subscription_preferences')
      .values({ ...keys, subscription_id: 'b'.repeat(24), enabled: false })
      .execute()
    const answers = await Promise.all(Array.from({ length: 3 }, () => api.delete('/v2/workflows/a-workflow')))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404])
    expect((await api.get('/v2/workflows/a-workflow')).status).toBe(404)
    for (const table of ['subscriber_preferences', 'subscription_preferences', 'translations'] as const)
      expect(await db.selectFrom(table).selectAll().where('environment_id', '=', api.environmentId).execute()).toEqual(
        [],
      )
  })

  test('does not affect other environments', async () => {
    const other = await server.freshApi()
    const { body } = await other.post('/v2/workflows', plain)
    expect((await api.delete(`/v2/workflows/${body._id}`)).status).toBe(404)
    expect((await other.get('/v2/workflows/a-workflow')).status).toBe(200)
  })
})

describe('duplicating', () => {
  test('copies everything into a new, inactive workflow', async () => {
    const original = await create({
      ...orderShipped,
      workflowId: 'a-workflow',
      severity: 'high',
      preferences: { user: usual },
    })
    const { status, body: copy } = await api.post('/v2/workflows/a-workflow/duplicate')
    expect(status).toBe(201)
    expect(copy).toMatchObject({
      name: 'Order shipped (Copy)',
      workflowId: 'order-shipped-copy',
      active: false,
      status: 'INACTIVE',
      tags: ['orders'],
      severity: 'high',
      payloadSchema: original.payloadSchema,
      validatePayload: true,
      preferences: original.preferences,
    })
    const kept = (steps: any[]) => steps.map(({ stepId, name, controlValues }) => ({ stepId, name, controlValues }))
    expect(kept(copy.steps)).toEqual(kept(original.steps))
    expect(copy.steps[0]._id).not.toBe(original.steps[0]._id)
    const again = await api.post('/v2/workflows/a-workflow/duplicate')
    expect(again.body.workflowId).toMatch(/^order-shipped-copy-[0-9a-z]{8}$/)
  })

  test('uses given names, and keeps within their limits', async () => {
    await create({ name: 'x'.repeat(128) })
    const named = { name: 'Other', workflowId: 'other', tags: ['t'], description: 'd', isTranslationEnabled: true }
    expect((await api.post('/v2/workflows/a-workflow/duplicate', named)).body).toMatchObject(named)
    const { body } = await api.post('/v2/workflows/a-workflow/duplicate', {})
    expect(body.name).toBe(`${'x'.repeat(121)} (Copy)`)
    expect(await api.post('/v2/workflows/a-workflow/duplicate', { workflowId: 'a b' })).toMatchObject({ status: 422 })
    expect(await api.post('/v2/workflows/a-workflow/duplicate', { name: '' })).toMatchObject({ status: 422 })
  })

  test('copies the translations', async () => {
    await create({ isTranslationEnabled: true })
    const text = { resourceId: 'a-workflow', resourceType: 'workflow', locale: 'de_DE', content: { hello: 'Hallo' } }
    await api.post('/v2/translations', text)
    const copied = await api.post('/v2/workflows/a-workflow/duplicate', { workflowId: 'copied' })
    expect(copied.body.isTranslationEnabled).toBe(true)
    expect((await api.get('/v2/translations/workflow/copied/de_DE')).body.content).toEqual({ hello: 'Hallo' })
    await api.post('/v2/workflows/a-workflow/duplicate', { workflowId: 'untranslated', isTranslationEnabled: false })
    expect((await api.get('/v2/translations/group/workflow/untranslated')).status).toBe(404)
  })

  test('works only for workflows made here', async () => {
    await createExternal('coded')
    expect(await api.post('/v2/workflows/coded/duplicate')).toMatchObject({
      status: 400,
      body: { message: 'Only workflows of these origins can be duplicated: svc-cloud', allowedOrigins: ['svc-cloud'] },
    })
  })
})

describe('the list', () => {
  const list = async (query = '') => {
    const { status, body } = await api.get(`/v2/workflows?${query}`)
    expect(status).toBe(200)
    return { ...body, ids: body.workflows.map((workflow: any) => workflow.workflowId) }
  }

  test('shows each workflow without the content of its steps', async () => {
    const whole = await create({ ...orderShipped, steps: [...orderShipped.steps, sms('{{gone}}')] })
    const { workflows, totalCount } = await list()
    expect(totalCount).toBe(1)
    expect(workflows).toEqual([
      {
        _id: whole._id,
        workflowId: 'order-shipped',
        slug: whole.slug,
        name: 'Order shipped',
        origin: 'svc-cloud',
        tags: ['orders'],
        status: 'ERROR',
        createdAt: whole.createdAt,
        updatedAt: whole.updatedAt,
        updatedBy: { _id: '0'.repeat(24) },
        lastPublishedAt: '',
        isTranslationEnabled: false,
        messageClass: 'transactional',
        consentCategory: null,
        tracking: { opens: false, clicks: false },
        brake: null,
        stepTypeOverviews: ['in_app', 'delay', 'email', 'sms'],
        steps: [
          { slug: whole.steps[0].slug, type: 'in_app' },
          { slug: whole.steps[1].slug, type: 'delay' },
          { slug: whole.steps[2].slug, type: 'email' },
          { slug: whole.steps[3].slug, type: 'sms', issues: { controls: whole.steps[3].issues.controls } },
        ],
      },
    ])
  })

  test('has the dates of triggers and publishing', async () => {
    await create()
    const at = new Date('2026-01-02T03:04:05.000Z')
    await change('a-workflow', { last_published_at: at, last_published_by: 'u', last_triggered_at: at })
    const { workflows } = await list()
    const dates = {
      lastPublishedAt: at.toISOString(),
      lastTriggeredAt: at.toISOString(),
      lastPublishedBy: { _id: 'u' },
    }
    expect(workflows[0]).toMatchObject(dates)
    expect((await api.get('/v2/workflows/a-workflow')).body).toMatchObject(dates)
  })

  test('is sorted and paged', async () => {
    for (const [workflowId, name] of [
      ['one', 'b'],
      ['two', 'B'],
      ['three', 'a'],
      ['four', 'Ä'],
    ]) {
      await create({ workflowId, name })
      server.clock.advance({ minutes: 1 })
    }
    await api.patch('/v2/workflows/two', { description: 'touched' })
    await change('three', { last_triggered_at: new Date('2026-01-02') })
    await change('one', { last_triggered_at: new Date('2026-01-01') })
    expect((await list()).ids).toEqual(['four', 'three', 'two', 'one'])
    expect((await list('orderDirection=ASC')).ids).toEqual(['one', 'two', 'three', 'four'])
    expect((await list('orderBy=updatedAt')).ids).toEqual(['two', 'four', 'three', 'one'])
    expect((await list('orderBy=name&orderDirection=ASC')).ids).toEqual(['two', 'three', 'one', 'four'])
    expect((await list('orderBy=lastTriggeredAt')).ids.slice(0, 2)).toEqual(['three', 'one'])
    expect((await list('orderBy=lastTriggeredAt&orderDirection=ASC')).ids.slice(2)).toEqual(['one', 'three'])
    expect(await list('limit=2&offset=1')).toMatchObject({ ids: ['three', 'two'], totalCount: 4 })
    expect(await list('limit=5000&offset=4')).toMatchObject({ ids: [], totalCount: 4 })
  })

  test('filters by query, tags and status', async () => {
    await create({ workflowId: 'welcome_mail', name: 'Hello 100%', tags: ['a', 'b'], active: true, steps: [sms('Hi')] })
    await create({ workflowId: 'invoice', name: 'Your Invoice', tags: ['b'], active: true, steps: [sms('{{gone}}')] })
    await create({ workflowId: 'off', name: 'Welcome back', tags: ['c'] })
    const ids = async (query: string) => (await list(query)).ids.sort()
    expect(await ids('query=WELCOME')).toEqual(['off', 'welcome_mail'])
    expect(await ids('query=0%25')).toEqual(['welcome_mail'])
    expect(await ids('query=%25')).toEqual(['welcome_mail'])
    expect(await ids('query=e_m')).toEqual(['welcome_mail'])
    expect(await ids('tags=a')).toEqual(['welcome_mail'])
    expect(await ids('tags=a&tags=c')).toEqual(['off', 'welcome_mail'])
    expect(await ids('status=ACTIVE')).toEqual(['welcome_mail'])
    expect(await ids('status=ERROR')).toEqual(['invoice'])
    expect(await ids('status=INACTIVE&status=ERROR')).toEqual(['invoice', 'off'])
    expect(await ids('query=welcome&tags=b&tags=c&status=ACTIVE')).toEqual(['welcome_mail'])
    expect(await list('status=ERROR&status=ACTIVE&limit=1&offset=1')).toMatchObject({
      totalCount: 2,
      ids: ['welcome_mail'],
    })
    expect(await list('tags=z')).toMatchObject({ workflows: [], totalCount: 0 })
  })

  test.each([
    ['limit=0', 'limit must not be less than 1'],
    ['limit=x', 'limit must be a number conforming to the specified constraints'],
    ['offset=-1', 'offset must not be less than 0'],
    ['orderBy=tags', 'orderBy must be one of the following values: createdAt, updatedAt, name, lastTriggeredAt'],
    ['orderDirection=up', 'orderDirection must be one of the following values: ASC, DESC'],
    ['status=BROKEN', 'each value in status must be one of the following values: ACTIVE, INACTIVE, ERROR'],
  ])('%s is refused', async (query, message) => {
    const answer = await api.get(`/v2/workflows?${query}`)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })
})

describe('test data', () => {
  test('describes a subscriber that every step can reach, and the payload', async () => {
    await create({ ...orderShipped, workflowId: 'a-workflow', steps: [...orderShipped.steps, sms('Hi')] })
    expect((await api.get('/v2/workflows/a-workflow/test-data')).body).toEqual({
      to: {
        type: 'object',
        properties: {
          subscriberId: { type: 'string', default: '0'.repeat(24) },
          email: { type: 'string', format: 'email' },
          phone: { type: 'string' },
        },
        required: ['subscriberId', 'email', 'phone'],
        additionalProperties: false,
      },
      payload: orderShipped.payloadSchema,
    })
  })

  test('without a schema has the payload that the templates read', async () => {
    await create({ steps: [sms('{{payload.name}}')] })
    await api.put('/v2/workflows/a-workflow', { ...put, payloadSchema: null, steps: [sms('{{payload.name}}')] })
    const { body } = await api.get('/v2/workflows/a-workflow/test-data')
    expect(body.payload).toEqual({ type: 'object', properties: { name: {} }, required: [], additionalProperties: true })
    expect(Object.keys(body.to.properties)).toEqual(['subscriberId', 'phone'])
  })

  test('without schema and steps allows any payload', async () => {
    await create()
    await api.put('/v2/workflows/a-workflow', { ...put, payloadSchema: null })
    const { body } = await api.get('/v2/workflows/a-workflow/test-data')
    expect(body.payload).toEqual({ type: 'object', properties: {}, required: [], additionalProperties: true })
  })
})

test('with random steps and schemas a workflow is stored or refused, and never breaks', async () => {
  const pieces = [
    '{{payload.a}}',
    '{{ a | b: c }}',
    '{% for i in (1..9) %}',
    '{%',
    '}}',
    '{"type":"doc","content":[]}',
    'x',
  ]
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join(''))
  const names = fc.constantFrom(
    ...[
      'body',
      'subject',
      'skip',
      'and',
      'var',
      '==',
      'type',
      'amount',
      'unit',
      'cron',
      'url',
      'redirect',
      'data',
      'editorType',
    ],
    ...[
      'content',
      'attrs',
      'items',
      'properties',
      '$ref',
      'pattern',
      'anyOf',
      'enum',
      'required',
      'headers',
      'layoutId',
    ],
  )
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom<unknown>(
        null,
        true,
        0,
        -1,
        1e300,
        'string',
        'object',
        '#',
        'days',
        'block',
        'timed',
        '* * * * *',
      ),
      text,
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(names, tie('any'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).any
  const object = fc.dictionary(names, value, { maxKeys: 5, noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(object, object, async (controlValues, payloadSchema) => {
      const steps = stepTypes.map((type) => ({ name: type, type, controlValues }))
      const { status, body } = await api.post('/v2/workflows', { ...plain, steps, payloadSchema })
      expect([201, 404, 422]).toContain(status)
      if (status !== 201) return
      expect((await api.get(`/v2/workflows/${body._id}`)).status).toBe(200)
      expect((await api.get('/v2/workflows?status=ERROR')).status).toBe(200)
      expect((await api.delete(`/v2/workflows/${body._id}`)).status).toBe(204)
    }),
    { numRuns: 60 },
  )
})

describe('size', () => {
  test('an email of several megabytes is stored, with an issue that it is too long to render', async () => {
    const body = `<p>{{payload.name}}</p>${'x'.repeat(3 * 1024 * 1024)}`
    const { steps } = await create({
      steps: [{ name: 'Mail', type: 'email', controlValues: { subject: 'Hi', body, editorType: 'html' } }],
    })
    expect(steps[0].controlValues.body).toBe(body)
    expect(steps[0].issues.controls.body).toMatchObject([
      { issueType: 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE', variableName: '{{}}' },
    ])
  })

  test('a body over 26 MB is refused', async () => {
    const answer = await api.post('/v2/workflows', { ...plain, description: 'x'.repeat(26 * 1024 * 1024) })
    expect(answer.status).toBe(413)
  })
})
