import { describe, expect, test } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { is, say, statesOf, waitAnHour } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, pass, runOf, runsOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const start = (values: object, more: object = {}): Step => ({
  ...{ name: 'Start', stepId: 'start', type: 'start_workflow', ...more },
  controlValues: { workflowId: 'other', to: ['bob'], ...values },
})

async function run(api: Api, more: object = {}, to: unknown = 'ada') {
  const transactionId = await trigger(api, 'hello', to, more)
  await server.drain()
  return runOf(api, transactionId)
}

describe('a workflow is started', () => {
  test('for others, with what the step says, and both runs name each other', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'other', [say('note', 'Of {{payload.order}}: {{payload.lines.size}}, {{payload.text}}')])
    await makeWorkflow(api, 'hello', [
      start({
        workflowId: '{{payload.which}}',
        to: ['bob', '{{payload.boss}}', '{{payload.team}}'],
        payload: { order: '{{payload.order}}', lines: '{{payload.lines}}', text: 'No. {{payload.order}}' },
      }),
      say('after', '{{steps.start.status}} {{steps.start.workflowId}} {{steps.start.transactionId}}'),
    ])
    const payload = { which: 'other', order: 7, lines: [1, 2], boss: 'cy', team: ['di', 'ed'] }
    const starting = await run(api, { payload })
    const transactionId = `${starting._id}:start`
    expect(statesOf(starting)).toEqual(['start completed', 'after completed'])
    expect(starting.jobs[0]).toMatchObject({
      ...{ kind: 'start_workflow', outcome: { status: 'processed', transactionId, workflowId: 'other' } },
    })
    expect(await contentsOf(api, 'ada')).toEqual([`processed other ${transactionId}`])
    for (const who of ['bob', 'cy', 'di', 'ed']) expect(await contentsOf(api, who)).toEqual(['Of 7: 2, No. 7'])
    const started = await runsOf(api, transactionId)
    expect(started).toHaveLength(4)
    const startedBy = {
      ...{ notificationId: starting._id, transactionId: starting.transactionId },
      ...{ workflowId: 'hello', stepId: 'start', depth: 1 },
    }
    for (const each of started) expect(each).toMatchObject({ startedBy, payload: { order: 7, lines: [1, 2] } })
    const { body } = await api.get(`/v1/notifications?startedBy=${starting._id}`)
    expect(body.data.map(({ _id }: { _id: string }) => _id)).toEqual(started.map(({ _id }) => _id))
    expect((await api.get('/v1/notifications?startedBy=none')).body.data).toEqual([])
  })

  test('for the members of a topic, with tenant, context and actor', async () => {
    const api = await server.freshApi()
    await api.post('/v1/tenants', { identifier: 'acme', name: 'Acme' })
    for (const subscriberId of ['bob', 'cy']) await api.post('/v2/subscribers', { subscriberId })
    await api.post('/v2/topics', { key: 'team', name: 'Team' })
    await api.post('/v2/topics/team/subscriptions', { subscriberIds: ['bob', 'cy'], context: { place: 'oslo' } })
    await makeWorkflow(api, 'other', [say('note', '{{tenant.name}} {{context.place.id}} {{actor.firstName}}')])
    await makeWorkflow(api, 'hello', [start({ to: [{ type: 'Topic', topicKey: 'team' }] })])
    const more = { tenant: 'acme', context: { place: 'oslo' }, actor: { subscriberId: 'zoe', firstName: 'Zoe' } }
    await run(api, more)
    expect(await contentsOf(api, 'bob')).toEqual(['Acme oslo Zoe'])
    expect(await contentsOf(api, 'cy')).toEqual(['Acme oslo Zoe'])
  })

  test('with a cancellation key of its own; to cancel the one does not cancel the other', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'other', [waitAnHour(), say('note')])
    await makeWorkflow(api, 'hello', [
      start({ cancellationKey: 'order-{{payload.order}}' }),
      waitAnHour(),
      say('after'),
    ])
    const { transactionId, _id } = await run(api, { payload: { order: 7 } })
    expect((await api.delete(`/v1/events/trigger/${transactionId}`)).body).toBe(true)
    expect(statesOf(await runOf(api, `${_id}:start`))).toEqual(['wait delayed', 'note pending'])
    expect((await api.post('/v1/events/cancel', { key: 'order-7' })).body).toEqual({ canceled: 1, hasMore: false })
    expect(statesOf(await runOf(api, `${_id}:start`))).toEqual([
      ...['wait canceled canceled_by_user', 'note canceled canceled_by_user'],
    ])
  })

  test('not where its condition does not hold', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'other', [say('note')])
    await makeWorkflow(api, 'hello', [start({ skip: is('payload.yes', true) }), say('after')])
    expect(statesOf(await run(api))).toEqual(['start skipped step_condition', 'after completed'])
  })
})

test('an export names what the runs of a person have started, and not for whom', async () => {
  const api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  await makeWorkflow(api, 'other', [say('note')])
  await makeWorkflow(api, 'starts', [
    { type: 'start_workflow', stepId: 'start', controlValues: { workflowId: 'other', to: ['somebody-else'] } },
  ])
  const transactionId = await trigger(api, 'starts', 'ada')
  await server.drain()
  const { _id } = await runOf(api, transactionId)
  const { started_runs: started } = (await api.get('/v2/subscribers/ada/export')).body.data
  expect(started).toMatchObject([
    { transactionId: `${_id}:start`, startedBy: { notificationId: _id, stepId: 'start' } },
  ])
  expect(JSON.stringify(started)).not.toContain('somebody-else')
})

describe('it fails', () => {
  test.each<[string, object, string]>([
    ['there is no such workflow', { workflowId: 'none' }, 'workflow_not_found'],
    ['it is switched off', { workflowId: 'off' }, 'trigger_not_active'],
    ['its payload does not fit', { workflowId: 'strict' }, 'payload_invalid'],
  ])('where %s, and the run goes on', async (_, values, status) => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'off', [say('note')], { active: false })
    const payloadSchema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } }
    await makeWorkflow(api, 'strict', [say('note')], { payloadSchema, validatePayload: true })
    await makeWorkflow(api, 'hello', [start(values), say('after')])
    const found = await run(api)
    expect(statesOf(found)).toEqual(['start failed workflow_unavailable', 'after completed'])
    expect(found.jobs[0].outcome).toMatchObject({ status })
    await makeWorkflow(api, 'stops', [start(values, { shouldStopOnFail: true }), say('after')])
    const transactionId = await trigger(api, 'stops', 'ada')
    await server.drain()
    expect(statesOf(await runOf(api, transactionId))[1]).toBe('after canceled previous_step_failed')
  })

  test.each<[string, object]>([
    ['an empty id', { to: ['{{payload.missing}}'] }],
    ['one that cannot be', { to: ['b o b'] }],
    ['too many', { to: '{{payload.many}}' }],
    ['a cancellation key that is too long', { cancellationKey: 'k'.repeat(256) }],
  ])('for %s', async (_, values) => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'other', [say('note')])
    await makeWorkflow(api, 'hello', [start(values)])
    const payload = { many: Array.from({ length: 101 }, (_none, index) => `s${index}`) }
    expect(statesOf(await run(api, { payload }))).toEqual(['start failed invalid_settings'])
  })

  test('more than five deep', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'hello', [say('note', '{{payload.n}}'), start({ workflowId: 'hello', to: ['ada'] })])
    await trigger(api, 'hello', 'ada')
    await server.drain()
    const { body } = await api.get('/v1/notifications?limit=50')
    expect(body.data).toHaveLength(6)
    expect(body.data.map((each: { startedBy?: { depth: number } }) => each.startedBy?.depth ?? 0)).toEqual([
      ...[5, 4, 3, 2, 1, 0],
    ])
    expect(statesOf(body.data[0])[1]).toBe('start failed too_deep')
  })
})

test('a simulation plays what is started, and where the clock is held it happens at the time it shows', async () => {
  const api = await heldApi(server, { now: '2027-03-01T08:00:00.000Z' })
  await makeWorkflow(api, 'other', [waitAnHour(), say('note', 'For {{subscriber.subscriberId}}')])
  await makeWorkflow(api, 'hello', [waitAnHour(), start({ to: ['bob', '{{payload.boss}}'] }), say('after')])
  const payload = { boss: 'cy' }
  const transactionId = await trigger(api, 'hello', 'ada', { payload })
  await api.advance({ by: '3h' })
  const { _id } = await runOf(api, transactionId)
  const lived = await runsOf(api, `${_id}:start`)
  expect(lived.map(({ createdAt }) => createdAt)).toEqual(['2027-03-01T09:00:00.000Z', '2027-03-01T09:00:00.000Z'])
  const { body } = await api.post('/v1/simulations', {
    ...{
      workflow: { workflowId: 'hello' },
      startAt: '2027-03-01T08:00:00.000Z',
      subscribers: [{ subscriberId: 'ada' }],
    },
    inputs: [{ type: 'trigger', at: '+0s', to: 'ada', payload }],
  })
  expect(body.messages.map(({ text, at }: { text: string; at: string }) => `${at} ${text}`)).toEqual([
    '2027-03-01T09:00:00.000Z after',
    '2027-03-01T10:00:00.000Z For bob',
    '2027-03-01T10:00:00.000Z For cy',
  ])
  expect(body.runs[1]).toMatchObject({ workflowId: 'other', startedBy: { stepId: 'start', depth: 1 } })
})

test('an event that a start depends on is stored with it or not at all', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'other', [say('note')])
  await makeWorkflow(api, 'hello', [waitAnHour(), start({}), say('after')])
  const { transactionId } = await run(api)
  server.clock.advance({ hours: 1 })
  await Promise.all([server.drain(), server.drain(), server.drain()])
  expect(statesOf(await runOf(api, transactionId)).slice(1)).toEqual(['start completed', 'after completed'])
  expect(await contentsOf(api, 'bob')).toEqual(['note'])
  await pass(server, { hours: 1 })
  expect(await contentsOf(api, 'bob')).toEqual(['note'])
})
