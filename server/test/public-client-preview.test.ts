// The public client library, unmodified, with its response validation on, previews every kind of step, including code-first
// steps.
import { Novu } from '@novu/api'
import type { CreateWorkflowDto } from '@novu/api/models/components/index.js'
import { workflow } from '@novu/framework/express'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { brandingOf } from '../src/render/branding.ts'
import { useApplication } from './application.ts'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu', allowPrivateAddresses: true })
const app = useApplication()
let api: Api
let novu: Novu

// The library in the application compares signatures with the real clock.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))
beforeEach(async () => {
  api = await server.freshApi()
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
})

const steps: CreateWorkflowDto['steps'] = [
  { name: 'Collect', type: 'digest', controlValues: { amount: 5, unit: 'minutes' } },
  { name: 'Wait', type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } },
  { name: 'Limit', type: 'throttle', controlValues: { type: 'fixed', amount: 5, unit: 'minutes', threshold: 2 } },
  { name: 'Custom', type: 'custom', controlValues: { custom: { a: '{{payload.orderId}}' } } },
  {
    name: 'Call',
    type: 'http_request',
    controlValues: { method: 'POST', url: 'https://example.com/{{payload.orderId}}', body: '{}' },
  },
  {
    name: 'Inbox',
    type: 'in_app',
    controlValues: {
      subject: 'Order {{payload.orderId}}',
      body: '{{steps.collect.eventCount}} events',
      primaryAction: { label: 'Open', redirect: { url: '/orders', target: '_self' } },
      redirect: { url: '/orders', target: '_blank' },
      data: { a: 1 },
    },
  },
  {
    name: 'Mail',
    type: 'email',
    controlValues: {
      subject: 'Order {{payload.orderId}}',
      body: '<p>{{subscriber.firstName}}</p>',
      editorType: 'html',
      layoutId: null,
    },
  },
  { name: 'Text', type: 'sms', controlValues: { body: '{{payload.orderId}}' } },
  { name: 'Chat', type: 'chat', controlValues: { body: '{{payload.orderId}}' } },
  { name: 'Push', type: 'push', controlValues: { subject: 'Order', body: '{{payload.orderId}}' } },
]
const preview = async (workflowId: string, stepId: string, generatePreviewRequestDto = {}) =>
  (await novu.workflows.steps.generatePreview({ workflowId, stepId, generatePreviewRequestDto })).result
const previewPayload = { payload: { orderId: 'o-1' }, subscriber: { firstName: 'Ada' }, context: { tenant: 'acme' } }

test('every kind of step is previewed', async () => {
  const { result: created } = await novu.workflows.create({ name: 'Orders', workflowId: 'orders', steps })
  const expected: Record<string, unknown> = {
    collect: { amount: 5, unit: 'minutes' },
    wait: { type: 'regular', amount: 1, unit: 'hours' },
    limit: { type: 'fixed', amount: 5, unit: 'minutes', threshold: 2 },
    custom: { custom: { a: 'o-1' } },
    call: { method: 'POST', url: 'https://example.com/o-1', body: '{}' },
    inbox: {
      subject: 'Order o-1',
      body: '3 events',
      primaryAction: { label: 'Open', redirect: { url: '/orders', target: '_self' } },
      redirect: { url: '/orders', target: '_blank' },
      data: { a: 1 },
    },
    mail: { subject: 'Order o-1', body: `<p>Ada</p>${brandingOf('novu')}` },
    text: { body: 'o-1' },
    chat: { body: 'o-1' },
    push: { subject: 'Order', body: 'o-1' },
  }
  for (const { stepId, type } of created.steps) {
    const result = await preview('orders', stepId, { previewPayload })
    expect(result.result).toEqual({ type, preview: expected[stepId] })
    expect(result.previewPayloadExample).toMatchObject({
      payload: { orderId: 'o-1' },
      subscriber: { firstName: 'Ada', lastName: 'Doe' },
      context: { tenant: { id: 'acme', data: {} } },
    })
    expect(result.novuSignature).toBeUndefined()
    expect(result.schema).toMatchObject({ type: 'object', properties: { subscriber: { type: 'object' } } })
  }
})

test('the preview of a missing step is empty', async () => {
  const result = await preview('nothing', 'here')
  expect(result).toEqual({ result: { preview: {} }, previewPayloadExample: {}, schema: null })
})

test('a code-first step is previewed by its application', async () => {
  const declared = workflow(
    'in-code',
    async ({ step, payload }) => {
      await step.inApp('inbox', ({ title }) => ({ subject: title, body: `Order ${payload.orderId}` }), {
        controlSchema: {
          type: 'object',
          properties: { title: { type: 'string', default: 'Hi {{subscriber.firstName}}' } },
          additionalProperties: false,
        } as const,
      })
    },
    {
      payloadSchema: {
        type: 'object',
        properties: { orderId: { type: 'string' } },
        required: ['orderId'],
        additionalProperties: false,
      } as const,
    },
  )
  app.serves([declared], api.key)
  expect((await api.post('/v1/bridge/sync', { bridgeUrl: app.url })).status).toBe(201)
  const { result: read } = await novu.workflows.get('in-code')
  expect(read).toMatchObject({ origin: 'external', steps: [{ stepId: 'inbox', type: 'in_app', origin: 'external' }] })
  const result = await preview('in-code', 'inbox', { previewPayload })
  expect(result.result).toEqual({ type: 'in_app', preview: { subject: 'Hi Ada', body: 'Order o-1' } })
})
