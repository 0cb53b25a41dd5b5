import { expect, test } from 'vitest'
import { openInbox, useSockets } from '../../../test/inbox.ts'
import { PersonApi, signInAs } from '../../../test/people.ts'
import { contentsOf, makeWorkflow, pass, runOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const sockets = useSockets()

const ask = (more: object = {}) => ({
  ...{ name: 'approve', stepId: 'approve', type: 'ask' },
  controlValues: {
    ...{ question: 'Fine?', answers: [{ id: 'yes', label: 'Yes' }], channels: ['in_app'], amount: 1, unit: 'hours' },
    ...{ chain: [{ subscriberId: 'ada' }], freeText: { label: 'Why?' }, ...more },
  },
})

async function start(api: Api, more: object = {}, values: object = {}) {
  for (const subscriberId of ['ada', 'bob'])
    await api.post('/v2/subscribers', { subscriberId, firstName: subscriberId })
  await makeWorkflow(api, 'refund', [ask(values)], more)
  const transactionId = await trigger(api, 'refund', 'bob', { payload: { cart: 'c1' } })
  await server.drain()
  const { id } = (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data[0]
  return { transactionId, id: String(id) }
}

test('are found by state, by who was asked and by workflow', async () => {
  const api = await server.freshApi()
  const { id } = await start(api)
  const found = async (query: string) =>
    (await api.get(`/v2/questions?${query}`)).body.data.map((each: { id: string }) => each.id)
  for (const query of ['state=open', 'subscriberId=ada', 'workflowId=refund', 'limit=1'])
    expect([query, await found(query)]).toEqual([query, [id]])
  for (const query of ['state=answered', 'subscriberId=bob', 'workflowId=other', 'transactionId=other'])
    expect([query, await found(query)]).toEqual([query, []])
  expect((await api.get('/v2/questions/000000000000000000000000')).body.code).toBe('question_not_found')
})

test('a member answers as themselves, and the audit log says so; webhooks are told without the texts', async () => {
  const api = await server.freshApi()
  const told = await api.post('/v2/webhooks/endpoints', { url: 'https://acme.example/hook' })
  const { id } = await start(api)
  const owner = new PersonApi(api, await signInAs(server, api, 'owner'))
  const answered = await owner.post(`/v2/questions/${id}/answer`, { answer: 'yes', text: 'secret words' })
  expect(answered, answered.text).toMatchObject({
    ...{
      status: 200,
      body: { answeredBy: { subscriberId: null, channel: 'api', member: { id: expect.any(String) } } },
    },
  })
  // The same again changes nothing, and is no act.
  const again = await owner.post(`/v2/questions/${id}/answer`, { answer: 'yes', text: 'secret words' })
  expect(again).toMatchObject({ status: 200, body: answered.body })
  const { data } = (await owner.get('/v1/audit?limit=5')).body
  expect(data.filter(({ action }: { action: string }) => action === 'question.answered')).toHaveLength(1)
  expect(told.status, told.text).toBe(201)
  const { rows } = await server.database.pool.query(
    `SELECT type, object FROM webhook_events WHERE environment_id = $1 AND type LIKE 'question.%'`,
    [api.environmentId],
  )
  expect(rows.map(({ type }: { type: string }) => type).sort()).toEqual(['question.answered', 'question.asked'])
  expect(JSON.stringify(rows)).not.toMatch(/Fine\?|secret words/)
})

test('webhooks are told of each level, the end and a cancel, once each and without the texts', async () => {
  const api = await server.freshApi()
  await api.post('/v2/webhooks/endpoints', { url: 'https://acme.example/hook' })
  const { id } = await start(
    api,
    {},
    {
      ...{ details: 'For your eyes', patience: { amount: 5, unit: 'minutes' } },
      chain: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }],
      reminders: [{ amount: 1, unit: 'minutes' }],
    },
  )
  for (const minutes of [1, 4, 10, 60]) await pass(server, { minutes })
  server.clock.advance({ minutes: 1 })
  const canceled = await trigger(api, 'refund', 'bob')
  await server.drain()
  server.clock.advance({ minutes: 1 })
  const { id: second } = (await api.get(`/v2/questions?transactionId=${canceled}`)).body.data[0]
  for (const status of [200, 409]) expect((await api.post(`/v2/questions/${second}/cancel`, {})).status).toBe(status)
  await pass(server, { hours: 2 })
  const { data } = (await api.get('/v2/webhooks/events?limit=100')).body
  const told = data
    .filter(({ type }: { type: string }) => type.startsWith('question.'))
    .map((event: { type: string; data: { object: object } }) => ({ type: event.type, object: event.data.object }))
    .reverse()
  const { body } = await api.get(`/v2/questions/${id}`)
  const { state, answer, answeredBy, level, round, deadline, createdAt, transactionId, notificationId } = body
  const shown = { id, state, answer, answeredBy, level, round, deadline, createdAt, transactionId, notificationId }
  const { asked } = body
  expect(asked[0].channels).toEqual([
    { channel: 'in_app', status: 'completed', reason: null, messageId: expect.any(String) },
  ])
  expect(told).toMatchObject([
    { type: 'question.asked', object: { id, state: 'open', level: 0, asked: [{ subscriberId: 'ada' }] } },
    {
      ...{ type: 'question.escalated' },
      object: { id, state: 'open', level: 1, asked: [{ subscriberId: 'ada' }, { subscriberId: 'bob', level: 1 }] },
    },
    { type: 'question.expired', object: { ...shown, workflowId: 'refund', stepId: 'approve', asked } },
    { type: 'question.asked', object: { id: second, state: 'open' } },
    { type: 'question.canceled', object: { id: second, state: 'canceled', answer: null } },
  ])
  expect(JSON.stringify(told)).not.toMatch(/Fine\?|For your eyes|Why\?|"label"/)
})

test('a text has 2,000 characters at most', async () => {
  const api = await server.freshApi()
  const { id } = await start(api)
  const answer = (length: number) =>
    api.post(`/v2/questions/${id}/answer`, { answer: 'yes', text: 'x'.repeat(length), subscriberId: 'ada' })
  expect((await answer(2_001)).status).toBe(422)
  expect((await api.get(`/v2/questions/${id}`)).body.state).toBe('open')
  expect((await answer(2_000)).status).toBe(200)
  expect((await api.get(`/v2/questions/${id}`)).body.text).toHaveLength(2_000)
})

test('a goal that is met cancels an open question', async () => {
  const api = await server.freshApi()
  const goals = [{ name: 'Paid', for: [{ event: 'paid', key: '{{payload.cart}}' }] }]
  const { transactionId, id } = await start(api, { journey: { goals } })
  await api.post('/v2/events', { name: 'paid', key: 'c1' })
  await server.drain()
  expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'canceled', reason: 'goal_met' })
  expect((await api.get(`/v2/questions/${id}`)).body.state).toBe('canceled')
  expect(await contentsOf(api, 'ada')).toEqual(['Fine?\n\nThis question is over.'])
})

test('export has what a person was asked and said; an erasure leaves nothing of it', async () => {
  const api = await server.freshApi()
  await api.post('/v2/webhooks/endpoints', { url: 'https://acme.example/hook' })
  const { transactionId, id } = await start(api, {}, { chain: [{ subscriberIds: ['ada', 'bob'] }] })
  await api.post('/v2/rotas', {
    ...{ rotaId: 'r', name: 'R', timezone: 'UTC' },
    shifts: [{ start: '2026-01-01T00:00', end: '2030-01-01T00:00', who: ['ada', 'bob'] }],
  })
  server.clock.advance({ minutes: 1 })
  await api.post(`/v2/questions/${id}/answer`, { answer: 'yes', text: 'words of ada', subscriberId: 'ada' })
  await server.drain()
  const exported = await api.get('/v2/subscribers/ada/export')
  expect(exported.body.data.questions).toMatchObject([
    { id, text: 'words of ada', answeredBy: { subscriberId: 'ada' } },
  ])
  expect(exported.body.data.told_questions).toMatchObject([
    { type: 'question.asked', object: { id, asked: [{ subscriberId: 'ada' }] } },
    { type: 'question.answered', object: { id, answered_by: { subscriberId: 'ada' } } },
  ])
  const others = await api.get('/v2/subscribers/bob/export')
  expect(others.text).not.toContain('words of ada')
  expect(JSON.stringify(others.body.data.told_questions)).not.toContain('"ada"')
  expect((await api.post('/v2/subscribers/ada/erase', {})).status).toBe(202)
  await server.drain()
  const question = (await api.get(`/v2/questions/${id}`)).body
  expect(question).toMatchObject({ answer: 'yes', text: null, answeredBy: { subscriberId: '[erased]' } })
  expect(question.asked).toMatchObject([{ subscriberId: 'bob' }])
  const run = await runOf(api, transactionId)
  expect(run.jobs).toHaveLength(2)
  expect(JSON.stringify(run.jobs[0].outcome)).not.toMatch(/words of ada|"ada"/)
  expect((await api.get('/v2/rotas/r')).body.shifts[0].who).toEqual(['bob'])
  const { rows: told } = await server.database.pool.query(
    `SELECT type, object FROM webhook_events WHERE environment_id = $1 AND type LIKE 'question.%' ORDER BY id`,
    [api.environmentId],
  )
  expect(told).toMatchObject([
    { type: 'question.asked', object: { id, asked: [{ subscriberId: 'bob' }] } },
    { type: 'question.answered', object: { id, answered_by: { subscriberId: '[erased]', name: '[erased]' } } },
  ])
  const { rows: acts } = await server.database.pool.query('SELECT * FROM audit_log WHERE acted_in = $1', [
    api.environmentId,
  ])
  expect(acts.map(({ action }: { action: string }) => action)).toContain('question.answered')
  for (const kept of [told, acts]) expect(JSON.stringify(kept)).not.toMatch(/"ada"/)
})

test('the question of a run whose subscriber is erased is over for those who were asked', async () => {
  const api = await server.freshApi()
  await api.post('/v2/webhooks/endpoints', { url: 'https://acme.example/hook' })
  const { id } = await start(api, {}, { answers: ['yes', 'no'].map((each) => ({ id: each, label: each })) })
  const inbox = await openInbox(server, api, 'ada')
  const socket = await sockets.connect(inbox)
  expect((await api.post('/v2/subscribers/bob/erase', {})).status).toBe(202)
  await server.drain()
  expect((await api.get(`/v2/questions/${id}`)).status).toBe(404)
  const [copy] = (await api.get('/v2/subscribers/ada/notifications')).body.data
  expect(copy).toMatchObject({ body: expect.stringContaining('This question is over.') })
  expect(copy.primaryAction).toBeFalsy()
  expect(copy.data.question).toMatchObject({ id, state: 'canceled', answer: null })
  const { data } = (await api.get('/v2/webhooks/events?limit=100')).body
  const told = data.filter(({ type }: { type: string }) => type === 'question.canceled')
  expect(told).toMatchObject([{ data: { object: { id, state: 'canceled', asked: [{ subscriberId: 'ada' }] } } }])
  await socket.hears('unread_count_changed')
})

test('who is erased leaves a chain before their turn comes', async () => {
  const api = await server.freshApi()
  for (const subscriberId of ['ada', 'bob', 'cy']) await api.post('/v2/subscribers', { subscriberId })
  const chain = [{ subscriberId: 'ada' }, { subscriberIds: ['cy', 'bob'] }]
  await makeWorkflow(api, 'refund', [ask({ chain, patience: { amount: 5, unit: 'minutes' } })])
  const transactionId = await trigger(api, 'refund', 'bob')
  await server.drain()
  expect((await api.post('/v2/subscribers/cy/erase', {})).status).toBe(202)
  await server.drain()
  const { rows } = await server.database.pool.query(
    `SELECT delivery -> 'levels' AS levels FROM jobs WHERE environment_id = $1 AND type = 'ask'`,
    [api.environmentId],
  )
  expect(rows).toEqual([{ levels: [{ subscriberIds: ['ada'] }, { subscriberIds: ['bob'] }] }])
  server.clock.advance({ minutes: 5 })
  await server.drain()
  const [{ asked }] = (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data
  expect(asked.map(({ subscriberId }: { subscriberId: string }) => subscriberId)).toEqual(['ada', 'bob'])
})
