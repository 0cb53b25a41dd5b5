// Code-first workflows, run by the public library in the user's own application.
import { type Workflow, workflow } from '@novu/framework/express'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useApplication } from '../../../test/application.ts'
import { contentsOf, pass, prefer, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer({ brand: 'novu', allowPrivateAddresses: true })
const app = useApplication()
let api: Api

// The library checks signatures against the real time.
beforeAll(() => server.clock.advance({ ms: Date.now() - server.clock.now().getTime() }))
beforeEach(async () => {
  api = await server.freshApi()
})

async function serve(...workflows: Workflow[]): Promise<void> {
  app.serves(workflows, api.key)
  const answer = await api.post('/v1/bridge/sync?source=cli', { bridgeUrl: app.url })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  app.actions.length = 0
}

async function run(name: string, payload: object = {}) {
  const transactionId = await trigger(api, name, { subscriberId: 'ada', firstName: 'Ada' }, { payload })
  await server.drain()
  return runOf(api, transactionId)
}

const sent = 'in_app completed: Step queued, Message created, Message sent'
const number = { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: true } as const

test('code makes the message, from the results of earlier steps', async () => {
  await serve(
    workflow(
      'order',
      async ({ step, payload, subscriber }) => {
        const { price } = await step.custom('look-up', () => ({ price: Number(payload.n) * 2 }), {
          outputSchema: {
            type: 'object',
            properties: { price: { type: 'number' } },
            required: ['price'],
            additionalProperties: false,
          } as const,
        })
        await step.inApp('tell', () => ({ subject: 'Order', body: `${subscriber.firstName} pays ${price}` }))
      },
      { payloadSchema: number },
    ),
  )
  const found = await run('order', { n: 21 })
  expect(storyOf(found)).toEqual([expect.stringMatching(/^custom completed: Step queued/), sent])
  expect(found.status).toBe('completed')
  expect(await contentsOf(api, 'ada')).toEqual(['Ada pays 42'])
  expect(app.actions).toEqual(['execute', 'execute'])
})

test('code does not see the source of a trigger', async () => {
  await serve(
    workflow(
      'hello',
      async ({ step, payload }) => {
        await step.inApp('tell', () => ({ body: Object.keys(payload).join(' ') }))
      },
      { payloadSchema: number },
    ),
  )
  await run('hello', { __source: 'dashboard', n: 1 })
  expect(await contentsOf(api, 'ada')).toEqual(['n'])
})

test('code decides what is skipped', async () => {
  await serve(
    workflow('skips', async ({ step }) => {
      await step.inApp('first', () => ({ body: 'First' }), { skip: () => true })
      await step.delay('wait', () => ({ amount: 1, unit: 'hours' }), { skip: () => true })
      await step.inApp('second', () => ({ body: 'Second' }))
    }),
  )
  const found = await run('skips')
  expect(storyOf(found)).toEqual([
    'in_app canceled: Step queued, Bridge execution skipped',
    'delay skipped: Step queued, Step was skipped based on steps conditions',
    sent,
  ])
  expect(await contentsOf(api, 'ada')).toEqual(['Second'])
})

describe('code-first waits', () => {
  test('a digest collects, and the code gets its events', async () => {
    await serve(
      workflow(
        'collected',
        async ({ step }) => {
          const { events } = await step.digest('collect', () => ({ amount: 30, unit: 'seconds' }))
          await step.inApp('tell', () => ({
            body: events.map(({ payload }) => String((payload as { n: number }).n)).join(' '),
          }))
        },
        { payloadSchema: number },
      ),
    )
    await run('collected', { n: 1 })
    await run('collected', { n: 2 })
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { seconds: 30 })
    expect(await contentsOf(api, 'ada')).toEqual(['1 2'])
  })

  test('a delay waits, and a throttle holds back', async () => {
    await serve(
      workflow('slow', async ({ step }) => {
        await step.throttle('hold', () => ({ type: 'fixed', amount: 1, unit: 'hours' }))
        await step.delay('wait', () => ({ amount: 30, unit: 'seconds' }))
        await step.inApp('tell', () => ({ body: 'At last' }))
      }),
    )
    await run('slow')
    const held = await run('slow')
    expect(storyOf(held)[0]).toBe('throttle skipped: Step queued, Throttle limit exceeded for the given window')
    await pass(server, { seconds: 30 })
    expect(await contentsOf(api, 'ada')).toEqual(['At last'])
  })
})

describe('code that fails', () => {
  test('fails its step, and the run goes on', async () => {
    await serve(
      workflow('broken', async ({ step }) => {
        await step.inApp('first', () => {
          throw new Error('not today')
        })
        await step.inApp('second', () => ({ body: 'Second' }))
      }),
    )
    const found = await run('broken')
    expect(storyOf(found)).toEqual(['in_app failed: Step queued, Bridge execution failed', sent])
    expect(found.jobs[0]).toMatchObject({ reason: 'bridge_failed' })
    expect(JSON.parse(found.jobs[0].executionDetails[1].raw)).toMatchObject({ code: expect.any(String) })
    expect(found.status).toBe('error')
  })

  test('in a wait ends the run', async () => {
    await serve(
      workflow('broken', async ({ step }) => {
        await step.delay('wait', () => {
          throw new Error('not today')
        })
        await step.inApp('second', () => ({ body: 'Second' }))
      }),
    )
    expect(storyOf(await run('broken'))).toEqual([
      'delay failed: Step queued, Bridge execution failed',
      'in_app canceled: Step was canceled because a previous step failed',
    ])
  })

  test('has another error than code that cannot be reached', async () => {
    await serve(
      workflow('hello', async ({ step }) => {
        await step.inApp('tell', () => ({ body: 'Hello' }))
      }),
    )
    app.serves([], api.key)
    expect(storyOf(await run('hello'))).toEqual(['in_app failed: Step queued, Bridge execution failed'])
    app.serves([], 'another key')
    const found = await run('hello')
    expect(JSON.parse(found.jobs[0].executionDetails[1].raw)).toMatchObject({ code: expect.any(String) })
  })
})

test('the bridge is not called for what the subscriber has turned off', async () => {
  await serve(
    workflow('hello', async ({ step }) => {
      await step.inApp('tell', () => ({ body: 'Hello' }))
      await step.custom('more', () => ({}))
    }),
  )
  await prefer(api, 'ada', {
    channels: { in_app: false },
    schedule: { isEnabled: true, weeklySchedule: { monday: { isEnabled: false } } },
  })
  const found = await run('hello')
  expect(storyOf(found)).toEqual([
    'in_app canceled: Step queued, Step filtered by subscriber global preferences',
    "custom canceled: Step queued, The step was skipped as it fell outside the subscriber's schedule",
  ])
  expect(app.actions).toEqual([])
})

// The last one: the clock is a day ahead afterwards, and the library refuses signatures from the future.
test('an application that is away is asked again until it answers, or a day has passed', async () => {
  await serve(
    workflow('hello', async ({ step }) => {
      await step.inApp('tell', () => ({ body: 'Hello' }))
    }),
  )
  app.isAway = true
  const waiting = await run('hello')
  const away = 'Step queued, The application did not answer; it will be asked again'
  expect(storyOf(waiting)).toEqual([`in_app queued: ${away}`])
  expect(JSON.parse(waiting.jobs[0].executionDetails[1].raw)).toMatchObject({
    ...{ code: 'BridgeEndpointNotFound', attempt: 1, nextAttemptAt: expect.any(String) },
  })
  await pass(server, { seconds: 3 })
  app.isAway = false
  await pass(server, { minutes: 1 })
  expect(await contentsOf(api, 'ada')).toEqual(['Hello'])
  expect(storyOf(await runOf(api, waiting.transactionId))).toEqual([
    `in_app completed: ${away}, The application did not answer; it will be asked again, Message created, Message sent`,
  ])

  app.isAway = true
  const { transactionId } = await run('hello')
  for (let hours = 0; hours < 25; hours += 1) await pass(server, { hours: 1 })
  app.isAway = false
  expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'bridge_failed' })
})
