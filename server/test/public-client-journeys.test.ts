// The public client library, unmodified, with its response validation on: it knows ten types of steps, and reads, changes and
// sends back the others as custom steps.
import { Novu } from '@novu/api'
import type { CreateWorkflowDto, UpdateWorkflowDto } from '@novu/api/models/components/index.js'
import { ResourceOriginEnum } from '@novu/api/models/components/index.js'
import { beforeEach, expect, test } from 'vitest'
import { statesOf } from './journeys.ts'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let novu: Novu

beforeEach(async () => {
  api = await server.freshApi()
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
})

const branch = {
  $kind: 'branch',
  arms: [
    {
      ...{ name: 'Large', condition: { '>': [{ var: 'payload.total' }, 100] }, end: true },
      steps: [
        { name: 'Tell', stepId: 'tell', type: 'in_app', controlValues: { body: 'Large' } },
        {
          ...{ name: 'Again', stepId: 'again', type: 'branch' },
          controlValues: { arms: [{ name: 'Inner', condition: { '==': [{ var: 'payload.a' }, 1] }, steps: [] }] },
        },
      ],
    },
  ],
  default: {
    name: 'Otherwise',
    steps: [{ name: 'Mail', stepId: 'mail', type: 'in_app', controlValues: { body: 'Small' } }],
  },
}
const steps: CreateWorkflowDto['steps'] = [
  {
    name: 'Size',
    stepId: 'size',
    type: 'custom',
    controlValues: { custom: branch },
  } as CreateWorkflowDto['steps'][number],
  {
    name: 'Wait',
    stepId: 'wait',
    type: 'custom',
    controlValues: {
      custom: {
        $kind: 'wait_for_event',
        for: [
          { event: 'paid', key: '{{payload.total}}' },
          { event: 'left', condition: { '==': [{ var: 'event.key' }, 'x'] } },
        ],
        ...{ amount: 1, unit: 'hours', lookBack: { amount: 1, unit: 'days' } },
      },
    },
  } as CreateWorkflowDto['steps'][number],
  {
    name: 'Change',
    stepId: 'change',
    type: 'custom',
    controlValues: {
      custom: {
        $kind: 'update_subscriber',
        lastName: '{{payload.name}}',
        phone: null,
        data: { total: '{{payload.total}}' },
      },
    },
  } as CreateWorkflowDto['steps'][number],
  {
    name: 'Ask',
    stepId: 'ask',
    type: 'custom',
    controlValues: {
      custom: {
        ...{
          $kind: 'ask',
          question: 'Fine, {{payload.name}}?',
          details: 'Of {{payload.total}}',
          subject: 'A question',
        },
        answers: [
          { id: 'yes', label: 'Yes' },
          { id: 'no', label: 'No' },
        ],
        ...{ freeText: { label: 'Why?', required: false }, channels: ['in_app'] },
        reminders: [{ amount: 10, unit: 'minutes' }],
        chain: [{ subscriberIds: ['cy'] }, { topicKey: 'managers', inOrder: true }],
        ...{ patience: { amount: 5, unit: 'minutes' }, rounds: 2, amount: 1, unit: 'hours' },
      },
    },
  } as CreateWorkflowDto['steps'][number],
  {
    name: 'Start',
    stepId: 'start',
    type: 'custom',
    controlValues: {
      custom: {
        ...{ $kind: 'start_workflow', workflowId: 'other', to: ['di', { type: 'Topic', topicKey: 'managers' }] },
        ...{ payload: { total: '{{payload.total}}' }, cancellationKey: '{{payload.name}}' },
      },
    },
  } as CreateWorkflowDto['steps'][number],
  {
    name: 'Leave',
    stepId: 'leave',
    type: 'custom',
    controlValues: { custom: { $kind: 'exit' } },
  } as CreateWorkflowDto['steps'][number],
  {
    name: 'Last',
    stepId: 'last',
    type: 'in_app',
    controlValues: { body: 'Never' },
  } as CreateWorkflowDto['steps'][number],
]

test('workflows with every extension kind are created, read, listed, replaced and previewed', async () => {
  const { result: created } = await novu.workflows.create({ name: 'Order', workflowId: 'order', active: true, steps })
  expect(created.steps.map(({ type }) => type)).toEqual([...Array(6).fill('custom'), 'in_app'])
  const { body: raw } = await api.get('/v2/workflows/order')
  expect(
    raw.steps.map(({ kind, controls }: { kind: string; controls: { uiSchema?: object } }) => [
      kind,
      'uiSchema' in controls,
    ]),
  ).toEqual([
    ['branch', false],
    ['wait_for_event', false],
    ['update_subscriber', false],
    ['ask', false],
    ['start_workflow', false],
    ['exit', false],
    [undefined, true],
  ])
  expect(raw.steps[0].controlValues.custom).toMatchObject({
    $kind: 'branch',
    arms: [{ steps: [{ type: 'in_app' }, { type: 'branch' }] }],
  })
  for (const [index, step] of steps.slice(2, 6).entries())
    expect(raw.steps[index + 2].controlValues).toEqual((step as { controlValues: object }).controlValues)
  for (const { controls, controlValues } of raw.steps) expect(controls.values).toEqual(controlValues)

  const { result: read } = await novu.workflows.get('order')
  expect(read).toEqual(created)
  const { result: listed } = await novu.workflows.list({ query: 'order' })
  expect(listed.workflows[0]).toMatchObject({
    stepTypeOverviews: ['custom', 'in_app', 'custom', 'in_app', ...Array(5).fill('custom'), 'in_app'],
  })
  const { result: one } = await novu.workflows.steps.retrieve('order', 'size')
  expect(one.type).toBe('custom')
  expect((await novu.workflows.steps.retrieve('order', 'tell')).result.type).toBe('in_app')
  await novu.workflows.steps.generatePreview({
    ...{ workflowId: 'order', stepId: 'size' },
    generatePreviewRequestDto: {},
  })

  // What it reads it can send back without loss.
  const { result: updated } = await novu.workflows.update(
    {
      ...{ name: 'Order', active: true, preferences: { user: null }, origin: ResourceOriginEnum.NovuCloud },
      steps: read.steps.map(({ id, stepId, name, type, controlValues }) => ({
        id,
        stepId,
        name,
        type,
        controlValues,
      })) as UpdateWorkflowDto['steps'],
    },
    'order',
  )
  expect(updated.steps).toEqual(read.steps)
  expect((await api.get('/v2/workflows/order')).body).toMatchObject({ version: 1, steps: raw.steps })
})

test('activity with every extension kind is listed and retrieved', async () => {
  await novu.workflows.create({ name: 'Order', workflowId: 'order', active: true, steps })
  await novu.trigger({ workflowId: 'order', to: 'ada', payload: { total: 5 } })
  await novu.trigger({ workflowId: 'order', to: 'bob', payload: { total: 500 } })
  await server.drain()
  const { result } = await novu.notifications.list({})
  expect(result.data).toHaveLength(2)
  for (const { id } of result.data) {
    const { result: run } = await novu.notifications.retrieve(id ?? '')
    expect(run.jobs?.map(({ type }) => type)).toContain('custom')
    expect(run.channels).not.toContain('branch')
  }
  const { body } = await api.get('/v1/notifications?channels=branch&subscriberIds=bob')
  expect(statesOf(body.data[0])).toEqual([
    ...['size completed', 'tell completed', 'again completed', 'wait skipped exited'],
    ...['change skipped exited', 'ask skipped exited', 'start skipped exited', 'leave skipped exited'],
    'last skipped exited',
  ])
  expect(body.data[0].jobs[0]).toMatchObject({
    type: 'custom',
    kind: 'branch',
    outcome: { arm: 'Large', ended: true },
    providerId: 'novu',
  })
  expect(body.data[0].jobs[0].step.controlVariables.custom.$kind).toBe('branch')
  const waiting = (await api.get('/v1/notifications?channels=wait_for_event&subscriberIds=ada')).body.data[0].jobs[2]
  expect(waiting).toMatchObject({
    type: 'custom',
    kind: 'wait_for_event',
    status: 'delayed',
    outcome: { outcome: null },
  })
  const { result: messages } = await novu.messages.retrieve({})
  expect(messages.data.map(({ content }) => content).sort()).toEqual(['Large', 'Small'])
})

test('a run through a wait, a change, a question and a start is listed and retrieved', async () => {
  await novu.workflows.create({ name: 'Order', workflowId: 'order', active: true, steps })
  await novu.workflows.create({ name: 'Other', workflowId: 'other', active: true, steps: steps.slice(-1) })
  await novu.subscribers.create({ subscriberId: 'cy' })
  await novu.trigger({ workflowId: 'order', to: 'ada', payload: { total: 5, name: 'Lovelace' } })
  await server.drain()
  await api.post('/v2/events', { name: 'paid', key: '5' })
  await server.drain()
  const { data } = (await api.get('/v2/questions?state=open')).body
  expect((await api.post(`/v2/questions/${data[0].id}/answer`, { answer: 'yes', subscriberId: 'cy' })).status).toBe(200)
  await server.drain()
  const { result } = await novu.notifications.list({ subscriberIds: ['ada'] })
  const { result: run } = await novu.notifications.retrieve(result.data[0]?.id ?? '')
  expect(run.jobs?.map(({ type }) => type)).toEqual([
    ...['custom', 'in_app', 'custom', 'custom', 'custom', 'in_app', 'custom', 'custom', 'in_app'],
  ])
  expect((await novu.notifications.list({ subscriberIds: ['di'] })).result.data).toHaveLength(1)
  const { jobs } = (await api.get('/v1/notifications?subscriberIds=ada')).body.data[0]
  const outcomes = jobs
    .filter(({ kind }: { kind?: string }) => kind !== undefined)
    .map(({ kind, type, outcome }: Record<string, unknown>) => [kind, type, outcome])
  expect(outcomes).toMatchObject([
    ['branch', 'custom', { arm: 'Otherwise' }],
    ['wait_for_event', 'custom', { outcome: 'event', matched: 0 }],
    ['update_subscriber', 'custom', { changed: ['lastName', 'data.total'] }],
    ['ask', 'custom', { outcome: 'answered', answer: 'yes' }],
    ['start_workflow', 'custom', { status: 'processed', workflowId: 'other' }],
    ['exit', 'custom', {}],
  ])
  const asked = (await novu.messages.retrieve({ subscriberId: 'cy' })).result.data
  expect(asked.map(({ content }) => content)).toEqual([expect.stringContaining('Fine, Lovelace?')])
})
