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
  expect(created.steps.map(({ type }) => type)).toEqual(['custom', 'custom', 'custom', 'in_app'])
  const { body: raw } = await api.get('/v2/workflows/order')
  expect(
    raw.steps.map(({ kind, controls }: { kind: string; controls: { uiSchema?: object } }) => [
      kind,
      'uiSchema' in controls,
    ]),
  ).toEqual([
    ['branch', false],
    ['wait_for_event', false],
    ['exit', false],
    [undefined, true],
  ])
  expect(raw.steps[0].controlValues.custom).toMatchObject({
    $kind: 'branch',
    arms: [{ steps: [{ type: 'in_app' }, { type: 'branch' }] }],
  })
  expect(raw.steps[0].controls.values).toEqual(raw.steps[0].controlValues)

  const { result: read } = await novu.workflows.get('order')
  expect(read).toEqual(created)
  const { result: listed } = await novu.workflows.list({ query: 'order' })
  expect(listed.workflows[0]).toMatchObject({
    stepTypeOverviews: ['custom', 'in_app', 'custom', 'in_app', 'custom', 'custom', 'in_app'],
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
    ...['size completed', 'tell completed', 'again completed', 'wait skipped exited', 'leave skipped exited'],
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
