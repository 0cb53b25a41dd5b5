// Triggers with a bridge URL: they run the workflow as the application declares it at that moment.
import { workflow } from '@novu/framework/express'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useApplication } from '../../../test/application.ts'
import { contentsOf, inApp, makeWorkflow, pass, runOf, runsOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer({ brand: 'novu' })
const app = useApplication()
let api: Api
let production: Api

// The library checks signatures against the real clock.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))
beforeEach(async () => {
  const organization = await server.freshOrganization()
  api = organization.development
  production = organization.production
})

const saying = (text: string, workflowId = 'hello') =>
  workflow(workflowId, async ({ step }) => {
    await step.inApp('tell', () => ({ body: text }))
  })
const digest = (text: string) =>
  workflow('hello', async ({ step }) => {
    const { events } = await step.digest('collect', () => ({ amount: 30, unit: 'seconds' }))
    await step.inApp('tell', () => ({ body: `${text} ${events.length}` }))
  })

async function run(more: object = {}, to: unknown = 'ada') {
  const transactionId = await trigger(api, 'hello', to, { bridgeUrl: app.url, ...more })
  await server.drain()
  return transactionId
}

const sent = 'in_app completed: Step queued, Message created, Message sent'

test('runs the workflow declared there, and stores none', async () => {
  app.serves([saying('From code'), saying('Another', 'other')], api.key)
  const found = await runOf(api, await run())
  expect(storyOf(found)).toEqual([sent])
  expect(found.status).toBe('completed')
  expect(await contentsOf(api, 'ada')).toEqual(['From code'])
  expect(app.actions).toEqual(['discover', 'execute'])
  expect((await api.get('/v2/workflows')).body.totalCount).toBe(0)
  expect((await api.get('/v1/bridge/status')).status).toBe(400)
})

test('does not touch a stored workflow of the same name', async () => {
  await makeWorkflow(api, 'hello', [inApp('Stored')])
  app.serves([saying('From code')], api.key)
  await run()
  await trigger(api, 'hello', 'ada')
  await server.drain()
  expect(await contentsOf(api, 'ada')).toEqual(['From code', 'Stored'])
})

test('gives the code the control values that come with the trigger', async () => {
  const greeting = workflow('hello', async ({ step }) => {
    await step.inApp('tell', ({ greeting }) => ({ body: `${greeting}, Ada` }), {
      controlSchema: {
        type: 'object',
        properties: { greeting: { type: 'string', default: 'Hello' } },
        additionalProperties: false,
      } as const,
    })
  })
  app.serves([greeting], api.key)
  await run()
  await run({ controls: { steps: { tell: { greeting: 'Good day' } } } })
  expect(await contentsOf(api, 'ada')).toEqual(['Hello, Ada', 'Good day, Ada'])
})

test('a run keeps its steps and its application until it ends', async () => {
  app.serves([digest('Before')], api.key)
  const first = await run()
  const second = await run()
  expect(storyOf(await runOf(api, second))[0]).toContain('Digest was merged with other digest')
  app.serves([digest('After')], api.key)
  await pass(server, { seconds: 30 })
  expect(await contentsOf(api, 'ada')).toEqual(['After 2'])
  expect((await runOf(api, first)).jobs.map(({ type }: { type: string }) => type)).toEqual(['digest', 'in_app'])
})

test('concurrent triggers store one version', async () => {
  app.serves([saying('From code')], api.key)
  const events = Array.from({ length: 10 }, () => ({ name: 'hello', to: 'ada', bridgeUrl: app.url }))
  const bulk = await api.post('/v1/events/trigger/bulk', { events })
  expect(bulk.body.map(({ status }: { status: string }) => status)).toEqual(Array(10).fill('processed'))
  await Promise.all(events.map((event) => api.post('/v1/events/trigger', event)))
  await server.drain()
  expect(await contentsOf(api, 'ada')).toHaveLength(20)
  expect(app.actions.filter((action) => action === 'discover')).toHaveLength(11)
  const { rows } = await server.database.pool.query('SELECT FROM workflow_versions WHERE environment_id = $1', [
    api.environmentId,
  ])
  expect(rows).toHaveLength(1)
})

test('with a used transaction id runs nothing', async () => {
  app.serves([saying('From code')], api.key)
  await run({ transactionId: 'once' })
  await run({ transactionId: 'once' })
  expect(await runsOf(api, 'once')).toHaveLength(1)
})

test('works as a broadcast too', async () => {
  app.serves([saying('From code')], api.key)
  await api.post('/v2/subscribers', { subscriberId: 'bob' })
  const answer = await api.post('/v1/events/trigger/broadcast', { name: 'hello', payload: {}, bridgeUrl: app.url })
  expect(answer).toMatchObject({ status: 201, body: { status: 'processed' } })
  await server.drain()
  expect(await contentsOf(api, 'bob')).toEqual(['From code'])
})

describe('is refused', () => {
  const ask = (more: object, of = api) => of.post('/v1/events/trigger', { name: 'hello', to: 'ada', ...more })

  test('when the application has no such workflow', async () => {
    app.serves([saying('Another', 'other')], api.key)
    await makeWorkflow(api, 'hello', [inApp('Stored')])
    expect(await ask({ bridgeUrl: app.url })).toMatchObject({ status: 422, body: { message: 'workflow_not_found' } })
  })

  test('when the application does not answer, or is not one', async () => {
    app.serves([saying('From code')], 'another key')
    const unsigned = await ask({ bridgeUrl: app.url })
    expect(unsigned).toMatchObject({ status: 400, body: { ctx: { bridgeCode: expect.any(String) } } })
    const none = await ask({ bridgeUrl: 'not an address' })
    expect(none).toMatchObject({ status: 400, body: { ctx: { bridgeCode: 'InvalidBridgeUrl' } } })
  })

  test('in a bulk, without affecting the others', async () => {
    app.serves([saying('From code')], api.key)
    const { body } = await api.post('/v1/events/trigger/bulk', {
      events: [
        { name: 'hello', to: 'ada', bridgeUrl: app.url },
        { name: 'nothing', to: 'ada', bridgeUrl: app.url, transactionId: 'second' },
      ],
    })
    expect(body).toMatchObject([
      { status: 'processed' },
      { status: 'error', error: ['workflow_not_found'], transactionId: 'second' },
    ])
  })

  test('in production for an address of this machine; in development for another private address', async () => {
    app.serves([saying('From code')], production.key)
    const refused = { status: 400, body: { ctx: { bridgeCode: 'InvalidBridgeUrl' } } }
    expect(await ask({ bridgeUrl: app.url }, production)).toMatchObject(refused)
    expect(await ask({ bridgeUrl: 'http://169.254.169.254/' })).toMatchObject(refused)
    expect(app.actions).toEqual([])
  })
})
