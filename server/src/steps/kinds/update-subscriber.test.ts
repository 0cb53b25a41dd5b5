import { describe, expect, test } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { is, say, statesOf } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const update = (controlValues: object): Step => ({
  ...{ name: 'Update', stepId: 'update', type: 'update_subscriber', controlValues },
})
const ada = {
  ...{ subscriberId: 'ada', firstName: 'Ada', phone: '+4912345678', email: 'ada@example.com' },
  data: { plan: 'free', seats: 1, address: { city: 'London', zip: 'E1' } },
}

async function run(api: Api, steps: Step[], payload: object = {}) {
  await makeWorkflow(api, 'hello', steps)
  await api.post('/v2/subscribers', ada)
  const transactionId = await trigger(api, 'hello', 'ada', { payload })
  await server.drain()
  return runOf(api, transactionId)
}
const read = async (api: Api) => (await api.get('/v2/subscribers/ada')).body

describe('the subscriber is changed', () => {
  test('as the step says: absent stays, null clears, data is merged one level deep, and later steps see it', async () => {
    const api = await server.freshApi()
    const found = await run(
      api,
      [
        update({
          ...{ lastName: '{{payload.name | upcase}}', phone: null, timezone: 'Europe/Berlin' },
          data: {
            seats: '{{payload.seats}}',
            tags: '{{payload.tags}}',
            address: { city: 'Paris' },
            note: 'No. {{payload.seats}}',
          },
        }),
        say(
          'after',
          '{{subscriber.lastName}} {{subscriber.data.seats}} {{subscriber.phone}}|{{steps.update.changed | join: " "}}',
        ),
      ],
      { name: 'Lovelace', seats: 7, tags: ['a', 'b'] },
    )
    expect(statesOf(found)).toEqual(['update completed', 'after completed'])
    const changed = ['lastName', 'phone', 'timezone', 'data.seats', 'data.tags', 'data.address', 'data.note']
    expect([...found.jobs[0].outcome.changed].sort()).toEqual([...changed].sort())
    expect(await read(api)).toMatchObject({
      ...{ firstName: 'Ada', lastName: 'LOVELACE', phone: null, email: 'ada@example.com', timezone: 'Europe/Berlin' },
      data: { plan: 'free', seats: 7, tags: ['a', 'b'], address: { city: 'Paris' }, note: 'No. 7' },
    })
    expect(await contentsOf(api, 'ada')).toEqual([`LOVELACE 7 |${found.jobs[0].outcome.changed.join(' ')}`])
  })

  test('and webhooks are told if something changed', async () => {
    const api = await server.freshApi()
    await api.post('/v2/webhooks/endpoints', { url: 'https://hooks.example.com/x', eventTypes: ['subscriber.updated'] })
    await run(api, [update({ firstName: 'Ada', data: { plan: '{{payload.plan}}' } })], { plan: 'pro' })
    const told = async () =>
      (
        await server.database.pool.query(
          "SELECT object FROM webhook_events WHERE environment_id = $1 AND type = 'subscriber.updated'",
          [api.environmentId],
        )
      ).rows
    const before = await told()
    expect(before.at(-1)?.object.data).toMatchObject({ plan: 'pro' })
    await trigger(api, 'hello', 'ada', { payload: { plan: 'pro' } })
    await server.drain()
    expect(await told()).toHaveLength(before.length)
  })

  test('not by what a template does not find', async () => {
    const api = await server.freshApi()
    const found = await run(api, [update({ firstName: '{{payload.first}}', email: '{{payload.mail}}' })], {
      first: null,
    })
    expect(found.jobs[0].outcome).toEqual({ changed: ['firstName'] })
    expect(await read(api)).toMatchObject({ firstName: null, email: 'ada@example.com' })
  })

  test('not where its condition does not hold', async () => {
    const api = await server.freshApi()
    const found = await run(api, [update({ firstName: 'Bob', skip: is('payload.yes', true) }), say('after')])
    expect(statesOf(found)).toEqual(['update skipped step_condition', 'after completed'])
    expect(await read(api)).toMatchObject({ firstName: 'Ada' })
  })
})

test.each<[string, object]>([
  ['an address that is none', { email: '{{payload.bad}}' }],
  ['a language that is none', { locale: '{{payload.bad}}' }],
  ['a time zone that is none', { timezone: '{{payload.bad}}' }],
  ['an object as a name', { firstName: '{{payload.object}}' }],
  ['data that are no object', { data: '{{payload.bad}}' }],
])('%s fails the step, and nothing changes', async (_, values) => {
  const api = await server.freshApi()
  const found = await run(api, [update({ lastName: 'New', ...values }), say('after')], { bad: '??', object: { a: 1 } })
  expect(statesOf(found)).toEqual(['update failed content_failed', 'after completed'])
  expect((await read(api)).lastName).not.toBe('New')
})

test('two runs at once lose nothing of each other', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'count', [update({ data: { a: '{{payload.a}}', b: '{{payload.b}}' } })])
  await api.post('/v2/subscribers', ada)
  await Promise.all([
    trigger(api, 'count', 'ada', { payload: { a: 1 } }),
    trigger(api, 'count', 'ada', { payload: { b: 2 } }),
  ])
  await server.drain()
  expect((await read(api)).data).toMatchObject({ a: 1, b: 2, plan: 'free' })
})

test('a simulation and a held clock change it, too', async () => {
  const api = await heldApi(server, { now: '2027-03-01T08:00:00.000Z' })
  await makeWorkflow(api, 'hello', [
    ...[
      update({ locale: 'de_DE', data: { n: '{{payload.n}}' } }),
      say('after', '{{subscriber.locale}} {{subscriber.data.n}}'),
    ],
  ])
  await trigger(api, 'hello', 'ada', { payload: { n: 3 } })
  await api.advance()
  expect(await contentsOf(api, 'ada')).toEqual(['de_DE 3'])
  expect(await read(api)).toMatchObject({ updatedAt: '2027-03-01T08:00:00.000Z' })
  const { body } = await api.post('/v1/simulations', {
    ...{ workflow: { workflowId: 'hello' }, subscribers: [{ subscriberId: 'bob' }] },
    inputs: [{ type: 'trigger', at: '+0s', to: 'bob', payload: { n: 4 } }],
  })
  expect(body.messages[0].text).toBe('de_DE 4')
  expect((await api.get('/v2/subscribers/bob')).status).toBe(404)
})
