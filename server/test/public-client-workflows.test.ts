// The public client library, unmodified, with its response validation on, creates and changes workflows with every kind of
// step.
import { Novu } from '@novu/api'
import {
  type CreateWorkflowDto,
  ResourceOriginEnum,
  type UpdateWorkflowDto,
  WorkflowStatusEnum,
} from '@novu/api/models/components/index.js'
import { ErrorDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import { beforeEach, expect, test } from 'vitest'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let novu: Novu

beforeEach(async () => {
  api = await server.freshApi()
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
})

const skip = { '==': [{ var: 'payload.orderId' }, '1'] }
const document = JSON.stringify({ type: 'doc', content: [{ type: 'paragraph' }] })

const steps: CreateWorkflowDto['steps'] = [
  {
    name: 'Inbox',
    type: 'in_app',
    controlValues: {
      skip,
      subject: 'Order {{payload.orderId}}',
      body: 'Sent',
      avatar: 'https://example.com/a.png',
      primaryAction: { label: 'Open', redirect: { url: '/orders', target: '_self' } },
      redirect: { url: '/orders', target: '_blank' },
      data: { a: 1 },
    },
  },
  {
    name: 'Mail',
    type: 'email',
    controlValues: { subject: 'Hi', body: document, editorType: 'block', layoutId: null },
  },
  { name: 'Text', type: 'sms', controlValues: { body: 'Hi' } },
  { name: 'Push', type: 'push', controlValues: { subject: 'Hi', body: 'there' } },
  { name: 'Chat', type: 'chat', controlValues: { body: 'Hi' } },
  { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
  { name: 'Collect', type: 'digest', controlValues: { amount: 5, unit: 'minutes', digestKey: '{{payload.orderId}}' } },
  { name: 'Custom', type: 'custom', controlValues: { custom: { a: 1 } } },
  {
    name: 'Call',
    type: 'http_request',
    controlValues: { method: 'POST', url: 'https://example.com', headers: [{ key: 'a', value: 'b' }], body: '{}' },
  },
]
const throttle: CreateWorkflowDto['steps'][number] = {
  name: 'Limit',
  type: 'throttle',
  controlValues: { type: 'fixed', amount: 5, unit: 'minutes', threshold: 2 },
}

const payloadSchema = { type: 'object', properties: { orderId: { type: 'string' } }, required: ['orderId'] }

test('a workflow with every kind of step is created, read, listed, replaced, patched and deleted', async () => {
  const created = await novu.workflows.create({
    name: 'Order shipped',
    workflowId: 'order-shipped',
    active: true,
    tags: ['orders'],
    payloadSchema,
    validatePayload: true,
    severity: 'high',
    steps: [...steps, throttle],
  })
  expect(created.result).toMatchObject({
    workflowId: 'order-shipped',
    origin: ResourceOriginEnum.NovuCloud,
    status: WorkflowStatusEnum.Active,
    severity: 'high',
    payloadExample: { orderId: expect.any(String) },
  })
  expect(created.result.steps.map(({ type }) => type)).toEqual([...steps, throttle].map(({ type }) => type))
  const read = await novu.workflows.get('order-shipped')
  expect(read.result).toEqual(created.result)

  for (const [i, step] of [...steps, throttle].entries()) {
    const { result } = await novu.workflows.steps.retrieve('order-shipped', read.result.steps[i]?.stepId ?? '')
    expect(result).toMatchObject({ name: step.name, type: step.type })
  }

  const listed = await novu.workflows.list({
    query: 'order',
    tags: ['orders', 'other'],
    status: [WorkflowStatusEnum.Active],
  })
  expect(listed.result).toMatchObject({
    totalCount: 1,
    workflows: [{ id: read.result.id, workflowId: 'order-shipped' }],
  })

  const again = steps.map((step, i) => ({ ...step, id: read.result.steps[i]?.id }))
  const updated = await novu.workflows.update(
    {
      name: 'Order sent',
      active: true,
      steps: again as UpdateWorkflowDto['steps'],
      preferences: { user: null },
      origin: ResourceOriginEnum.NovuCloud,
    },
    'order-shipped',
  )
  expect(updated.result).toMatchObject({ name: 'Order sent', severity: 'high', tags: ['orders'] })
  expect(updated.result.steps.map(({ id, stepId }) => ({ id, stepId }))).toEqual(
    read.result.steps.slice(0, -1).map(({ id, stepId }) => ({ id, stepId })),
  )

  const patched = await novu.workflows.patch({ active: false, tags: ['shipping'] }, updated.result.slug)
  expect(patched.result).toMatchObject({ active: false, status: WorkflowStatusEnum.Inactive, tags: ['shipping'] })
  await novu.workflows.delete(patched.result.id)
  const missing = await novu.workflows.get('order-shipped').catch((error: unknown) => error)
  expect(missing).toBeInstanceOf(ErrorDto)
  expect(missing).toMatchObject({ statusCode: 404 })
})

test.each([...steps, throttle].map((step) => [step.type, step] as const))(
  'a workflow with one %s step is created, read, listed, previewed, replaced, patched and deleted',
  async (type, step) => {
    const { workflows } = novu
    const { result: created } = await workflows.create({
      ...{ name: `Of ${type}`, workflowId: 'of-one', active: true, payloadSchema, steps: [step] },
    })
    const [made] = created.steps
    expect(made).toMatchObject({ name: step.name, type, controlValues: step.controlValues })
    expect(made?.controls.values).toEqual(made?.controlValues)
    expect((await workflows.get('of-one')).result).toEqual(created)
    expect((await workflows.list({ query: `OF ${type}` })).result).toMatchObject({
      totalCount: 1,
      workflows: [{ id: created.id, stepTypeOverviews: [type], steps: [{ type }] }],
    })
    const place = { workflowId: 'of-one', stepId: made?.stepId ?? '' }
    const { result: shown } = await workflows.steps.generatePreview({ ...place, generatePreviewRequestDto: {} })
    expect(shown.result).toMatchObject({ type, preview: expect.any(Object) })
    expect(Object.keys(shown.result).sort()).toEqual(['preview', 'type'])

    const change = { name: 'Replaced', active: true, preferences: { user: null }, origin: ResourceOriginEnum.NovuCloud }
    const again = { ...step, name: 'Renamed' }
    // The client refuses to send this kind in a replacement, but can parse the answer.
    if (type === 'throttle') await api.put('/v2/workflows/of-one', { ...change, steps: [{ ...again, _id: made?.id }] })
    else
      await workflows.update({ ...change, steps: [{ ...again, id: made?.id }] as UpdateWorkflowDto['steps'] }, 'of-one')
    const { result: replaced } = await workflows.get('of-one')
    expect(replaced).toMatchObject({
      name: 'Replaced',
      steps: [{ id: made?.id, name: 'Renamed', type, controlValues: step.controlValues }],
    })
    const { result: patched } = await workflows.patch({ active: false, description: 'Off' }, 'of-one')
    expect(patched).toMatchObject({ status: WorkflowStatusEnum.Inactive, description: 'Off', steps: [{ type }] })
    await workflows.delete('of-one')
    await expect(workflows.get('of-one')).rejects.toMatchObject({ statusCode: 404 })
  },
)

test('steps with issues and all kinds of preferences pass the response validation', async () => {
  const { result } = await novu.workflows.create({
    name: 'Incomplete',
    workflowId: 'incomplete',
    steps: [
      { name: 'Inbox', type: 'in_app' },
      { name: 'Text', type: 'sms', controlValues: { body: '{{name}}' } },
      { name: 'Wait', type: 'delay' },
      throttle,
    ],
    preferences: {
      user: { all: { enabled: true, readOnly: true }, channels: { email: { enabled: false } } },
      workflow: { all: { enabled: false }, channels: {} },
    },
  })
  expect(result.steps.map(({ issues }) => Object.keys(issues?.controls ?? {}))).toEqual([
    ['subject', 'body'],
    ['body'],
    ['amount', 'unit'],
    [],
  ])
  expect(result.preferences).toMatchObject({
    user: { all: { readOnly: true }, channels: { email: { enabled: false }, sms: { enabled: true } } },
    default: { all: { enabled: false }, channels: { push: { enabled: false } } },
  })
  expect((await novu.workflows.list({})).result.workflows[0]?.steps[1]?.issues?.controls).toHaveProperty('body')
})

test('an exceeded limit is an error the client understands', async () => {
  const error = await novu.workflows
    .create({ name: 'x'.repeat(129), workflowId: 'too-long', steps: [] })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ValidationErrorDto)
  expect(error).toMatchObject({ statusCode: 422, errors: { 'workflowDto.name': { messages: [expect.any(String)] } } })
})
