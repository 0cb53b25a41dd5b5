import { describe, expect, test } from 'vitest'
import { say, statesOf } from '../../../test/journeys.ts'
import { contentsOf, makeWorkflow, messagesOf, pass, prefer, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()

const yesNo = [
  { id: 'yes', label: 'Approve' },
  { id: 'no', label: 'Reject' },
]
const ask = (more: object = {}, stepId = 'approve'): Step => ({
  ...{ name: stepId, stepId, type: 'ask' },
  controlValues: {
    question: 'Refund {{payload.amount}}?',
    ...{ details: 'Order {{payload.order}}', answers: yesNo, channels: ['in_app'], amount: 1, unit: 'hours', ...more },
  },
})
const after = say('after', '{{steps.approve.outcome}} {{steps.approve.answer}} {{steps.approve.answeredBy.name}}')

async function apiWith(...steps: Step[]): Promise<Api> {
  const api = await server.freshApi()
  for (const channel of ['email', 'sms'])
    await api.post('/v1/integrations', { providerId: `svc-${channel}`, channel, active: true, credentials: {} })
  await makeWorkflow(api, 'refund', steps)
  for (const [subscriberId, firstName, lastName] of [
    ['ada', 'Ada', 'Lovelace'],
    ['bob', 'Bob', 'Byte'],
    ['cy', 'Cy', 'Cole'],
  ])
    await api.post('/v2/subscribers', {
      ...{ subscriberId, firstName, lastName, email: `${subscriberId}@example.com`, phone: '+4915112345678' },
    })
  return api
}

const start = async (api: Api, to: unknown = 'ada', more: object = {}) => {
  const transactionId = await trigger(api, 'refund', to, { payload: { amount: 40, order: 7 }, ...more })
  await server.drain()
  return transactionId
}

async function questionOf(api: Api, transactionId: string) {
  const { body, text } = await api.get(`/v2/questions?transactionId=${transactionId}`)
  expect(body.data, text).toHaveLength(1)
  return body.data[0]
}

const answer = async (api: Api, id: string, body: object) => {
  const answered = await api.post(`/v2/questions/${id}/answer`, body)
  await server.drain()
  return answered
}

describe('a question to the subscriber of the run', () => {
  test('waits for the answer, and later steps read it', async () => {
    const api = await apiWith(ask(), after)
    const transactionId = await start(api)
    const waiting = await runOf(api, transactionId)
    expect(statesOf(waiting)).toEqual(['approve delayed', 'approve completed', 'after pending'])
    expect(waiting.jobs[0]).toMatchObject({ kind: 'ask', dueAt: expect.any(String) })
    expect(waiting.jobs[1]).toMatchObject({ type: 'in_app', of: 'approve', asked: 'ada', level: 0 })
    const question = await questionOf(api, transactionId)
    expect(question).toMatchObject({
      ...{ state: 'open', question: 'Refund 40?', details: 'Order 7', answers: yesNo, answer: null, text: null },
      ...{ answeredBy: null, level: 0, round: 1, transactionId, workflowId: 'refund', stepId: 'approve' },
      notificationId: waiting._id,
      asked: [
        {
          ...{ subscriberId: 'ada', level: 0, remindedAt: [] },
          channels: [{ channel: 'in_app', status: 'completed', reason: null, messageId: expect.any(String) }],
        },
      ],
    })
    const [message] = await messagesOf(api, 'subscriberId=ada')
    expect(message.content).toBe('Refund 40?\n\nOrder 7')
    server.clock.advance({ minutes: 10 })
    const answered = await answer(api, question.id, { answer: 'yes', subscriberId: 'ada' })
    expect(answered).toMatchObject({
      status: 200,
      body: {
        ...{ state: 'answered', answer: 'yes', isYours: true },
        answeredBy: { subscriberId: 'ada', name: 'Ada Lovelace', channel: 'api' },
      },
    })
    const done = await runOf(api, transactionId)
    expect(statesOf(done)).toEqual(['approve completed', 'approve completed', 'after completed'])
    expect(done.jobs[0].outcome).toMatchObject({
      ...{ outcome: 'answered', answer: 'yes', text: null, level: 0, questionId: question.id },
      answeredBy: { subscriberId: 'ada', name: 'Ada Lovelace', channel: 'api' },
    })
    expect(await contentsOf(api, 'ada')).toEqual([
      'Refund 40?\n\nOrder 7\n\nApprove: Ada Lovelace',
      'answered yes Ada Lovelace',
    ])
    // Its time comes for nothing.
    await pass(server, { hours: 2 })
    expect(await contentsOf(api, 'ada')).toHaveLength(2)
    expect((await api.get(`/v2/questions/${question.id}`)).body).toMatchObject({ state: 'answered', answer: 'yes' })
  })

  test('its in-app copy has a button for each of two answers, and pressing one answers', async () => {
    const api = await apiWith(ask(), after)
    const transactionId = await start(api)
    const path = '/v2/subscribers/ada/notifications'
    const [notification] = (await api.get(path)).body.data
    expect(notification).toMatchObject({
      ...{ body: 'Refund 40?\n\nOrder 7', primaryAction: { label: 'Approve' }, secondaryAction: { label: 'Reject' } },
      data: { question: { id: expect.any(String), state: 'open', answer: null, answeredBy: null } },
    })
    const pressed = await api.patch(`${path}/${notification.id}/actions/secondary/complete`, {})
    await server.drain()
    expect(pressed, pressed.text).toMatchObject({ status: 200, body: { isRead: true } })
    expect(pressed.body).not.toHaveProperty('primaryAction')
    expect(pressed.body.data.question).toMatchObject({
      ...{ state: 'answered', answer: 'no', answeredBy: { subscriberId: 'ada', channel: 'in_app' } },
    })
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ answer: 'no' })
    const other = await api.patch(`${path}/${notification.id}/actions/primary/complete`, {})
    expect(other).toMatchObject({
      status: 409,
      body: { code: 'question_closed', ctx: { state: 'answered', answer: 'no' } },
    })
    expect((await api.patch(`${path}/${notification.id}/actions/secondary/complete`, {})).status).toBe(200)
  })

  test.each([
    ['three answers', { answers: [...yesNo, { id: 'later', label: 'Later' }] }],
    ['a required text', { freeText: { label: 'Why?', required: true } }],
  ])('with %s one button leads to the page', async (_, more) => {
    const api = await apiWith(ask(more), after)
    await start(api)
    const [notification] = (await api.get('/v2/subscribers/ada/notifications')).body.data
    expect(notification.primaryAction).toMatchObject({
      ...{ label: 'Answer', redirect: { url: expect.stringMatching(/\/a\/[\w-]+$/), target: '_blank' } },
    })
    expect(notification).not.toHaveProperty('secondaryAction')
    const path = `/v2/subscribers/ada/notifications/${notification.id}/actions/primary/complete`
    expect((await api.patch(path, {})).body.data.question.state).toBe('open')
  })

  test('who answers first wins; the same again is 200, anything else is refused', async () => {
    const api = await apiWith(ask({ freeText: { label: 'Why?', required: true } }), after)
    const { id } = await questionOf(api, await start(api))
    expect(await answer(api, id, { answer: 'maybe', subscriberId: 'ada' })).toMatchObject({
      ...{ status: 422, body: { code: 'answer_unknown', message: '"maybe" is not among the answers: yes, no' } },
    })
    expect(await answer(api, id, { answer: 'yes', subscriberId: 'ada', text: ' ' })).toMatchObject({
      ...{ status: 422, body: { code: 'answer_needs_text' } },
    })
    expect(await answer(api, id, { answer: 'yes', subscriberId: 'bob', text: 'x' })).toMatchObject({
      ...{ status: 403, body: { code: 'not_asked', message: 'bob was not asked this question' } },
    })
    expect((await answer(api, id, { answer: 'yes', text: 'x' })).status).toBe(422)
    expect((await answer(api, '000000000000000000000000', { answer: 'yes', subscriberId: 'ada' })).body.code).toBe(
      'question_not_found',
    )
    expect((await answer(api, id, { answer: 'yes', subscriberId: 'ada', text: 'Fine' })).status).toBe(200)
    expect((await answer(api, id, { answer: 'yes', subscriberId: 'ada', text: 'Again' })).status).toBe(200)
    expect((await answer(api, id, { answer: 'no', subscriberId: 'ada', text: 'x' })).body).toMatchObject({
      ...{ code: 'question_closed', message: 'The question is closed: answered' },
      ctx: { state: 'answered', answer: 'yes', answeredBy: { subscriberId: 'ada' } },
    })
    expect((await api.get(`/v2/questions/${id}`)).body.text).toBe('Fine')
  })

  test('from the deadline on it is over, however late the wake-up comes', async () => {
    const api = await apiWith(ask(), after)
    const transactionId = await start(api)
    const { id } = await questionOf(api, transactionId)
    server.clock.advance({ hours: 1 })
    const late = await api.post(`/v2/questions/${id}/answer`, { answer: 'yes', subscriberId: 'ada' })
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'question_closed', ctx: { state: 'expired', answer: null } },
    })
    expect((await api.get(`/v2/questions/${id}`)).body.state).toBe('expired')
    expect((await api.get('/v2/questions?state=open')).body.data).toEqual([])
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.jobs[0].outcome).toEqual({
      ...{ outcome: 'timeout', answer: null, text: null, answeredBy: null, level: null, questionId: id },
    })
    expect(await contentsOf(api, 'ada')).toEqual(['Refund 40?\n\nOrder 7\n\nThis question is over.', 'timeout  '])
  })

  test('nobody: every copy was held back', async () => {
    const api = await apiWith(ask({ channels: ['in_app', 'email', 'sms'] }), after)
    await prefer(api, 'ada', { channels: { in_app: false, email: false } })
    await api.patch('/v2/subscribers/ada', { phone: null })
    const transactionId = await start(api)
    const run = await runOf(api, transactionId)
    expect(statesOf(run)).toEqual([
      'approve skipped nobody_to_ask',
      ...['approve canceled preference', 'approve canceled preference', 'approve canceled missing_phone'],
      'after canceled preference',
    ])
    expect(run.jobs[0].outcome).toMatchObject({ outcome: 'nobody', answer: null })
    expect((await questionOf(api, transactionId)).state).toBe('expired')
  })

  test('reminders send again; the in-app copy becomes unread, and a closed question reminds nobody', async () => {
    const reminders = [10, 30].map((amount) => ({ amount, unit: 'minutes' }))
    const api = await apiWith(ask({ channels: ['in_app', 'email'], reminders }), after)
    const transactionId = await start(api)
    const path = '/v2/subscribers/ada/notifications'
    const [{ id }] = (await api.get(path)).body.data
    await api.patch(`${path}/${id}/read`, {})
    await pass(server, { minutes: 10 })
    expect((await api.get(path)).body.data).toMatchObject([{ id, isRead: false, isSeen: false }])
    const question = await questionOf(api, transactionId)
    expect(question.asked).toMatchObject([{ subscriberId: 'ada', remindedAt: [expect.any(String)] }])
    const mails = await messagesOf(api, 'subscriberId=ada&channel=email')
    expect(mails).toHaveLength(2)
    await answer(api, question.id, { answer: 'yes', subscriberId: 'ada' })
    await pass(server, { minutes: 30 })
    expect(await messagesOf(api, 'subscriberId=ada&channel=email')).toHaveLength(2)
  })

  test('who is asked again is not reminded at the same moment', async () => {
    const minutes = { amount: 5, unit: 'minutes' }
    const again = { chain: [{ subscriberId: 'bob' }, { subscriberId: 'unknown' }], patience: minutes, rounds: 2 }
    const api = await apiWith(ask({ ...again, channels: ['email'], reminders: [minutes] }))
    const transactionId = await start(api)
    await pass(server, { minutes: 5 })
    expect(await messagesOf(api, 'subscriberId=bob')).toHaveLength(2)
    const { asked } = await questionOf(api, transactionId)
    expect(asked).toMatchObject([{ remindedAt: [] }, { subscriberId: 'bob', remindedAt: [] }])
  })

  test('a message of another step is no copy of it, whatever its data says', async () => {
    const own = say('own', 'Rate us', {
      controlValues: {
        ...{ body: 'Rate us', primaryAction: { label: 'Good' } },
        data: { question: { id: 'survey-7', state: 'open' } },
      },
    })
    const api = await apiWith(own, ask({ reminders: [{ amount: 10, unit: 'minutes' }] }), after)
    const transactionId = await start(api)
    const path = '/v2/subscribers/ada/notifications'
    const find = async () =>
      (await api.get(path)).body.data.find(({ body }: { body: string }) => body.startsWith('Rate us'))
    const { id } = await find()
    const pressed = await api.patch(`${path}/${id}/actions/primary/complete`, {})
    expect(pressed, pressed.text).toMatchObject({ status: 200, body: { primaryAction: { isCompleted: true } } })
    const again = await api.post(`/v1/subscribers/ada/messages/${id}/actions/primary`, { status: 'done' })
    expect(again, again.text).toMatchObject({ status: 201, body: { cta: { action: { status: 'done' } } } })
    await pass(server, { minutes: 10 })
    expect(await find()).toMatchObject({ isRead: true })
    await answer(api, (await questionOf(api, transactionId)).id, { answer: 'yes', subscriberId: 'ada' })
    expect(await find()).toMatchObject({ body: 'Rate us', data: { question: { id: 'survey-7', state: 'open' } } })
  })

  test('reminders are noted for those who get one, and several that are overdue as one', async () => {
    const reminders = [10, 20, 30].map((amount) => ({ amount, unit: 'minutes' }))
    const api = await apiWith(ask({ chain: [{ subscriberIds: ['ada', 'bob'] }], reminders }), after)
    await prefer(api, 'bob', { channels: { in_app: false } })
    const transactionId = await start(api)
    await pass(server, { minutes: 25 })
    const reminded = async () =>
      (await questionOf(api, transactionId)).asked.map(
        (entry: { subscriberId: string; remindedAt: string[] }) => `${entry.subscriberId} ${entry.remindedAt.length}`,
      )
    expect(await reminded()).toEqual(['ada 1', 'bob 0'])
    await pass(server, { minutes: 5 })
    expect(await reminded()).toEqual(['ada 2', 'bob 0'])
  })

  test('two answers with one id are an issue', async () => {
    const api = await server.freshApi()
    const answers = [...yesNo, { id: 'yes', label: 'Approve all' }]
    const { body } = await api.post('/v2/workflows', {
      ...{ name: 'x', workflowId: 'x', active: true, steps: [ask({ answers })] },
    })
    expect(body.steps[0].issues.controls).toMatchObject({
      'answers.2.id': [{ issueType: 'MISSING_VALUE', message: 'Another answer has the id "yes" too' }],
    })
  })

  test.each([
    ['its deadline is no press of a button', 'timeout', undefined],
    ['an answer elsewhere is none either', 'timeout', 'api'],
    ['a button that was pressed is one', 'event', 'in_app'],
  ])('for a wait, %s', async (_, outcome, channel) => {
    const wait: Step = {
      ...{ name: 'wait', stepId: 'wait', type: 'wait_for_event' },
      controlValues: { for: [{ message: 'approve', happens: ['acted'] }], amount: 1, unit: 'hours' },
    }
    const api = await apiWith(ask(), wait)
    const transactionId = await start(api)
    const path = '/v2/subscribers/ada/notifications'
    const [{ id }] = (await api.get(path)).body.data
    if (channel === 'in_app') await api.patch(`${path}/${id}/actions/primary/complete`, {})
    if (channel === 'api')
      await answer(api, (await questionOf(api, transactionId)).id, { answer: 'yes', subscriberId: 'ada' })
    await pass(server, { hours: 1 })
    await pass(server, { hours: 1 })
    expect((await runOf(api, transactionId)).jobs.at(-1).outcome).toMatchObject({ outcome })
  })

  test.each<[string, (api: Api) => Promise<{ status: number }>]>([
    ['switched off', (api) => api.patch('/v2/workflows/refund', { active: false })],
    ['deleted', (api) => api.delete('/v2/workflows/refund')],
  ])('stays open when its workflow is %s: the answer is taken, and the run goes on', async (_, end) => {
    const api = await apiWith(ask({ reminders: [{ amount: 10, unit: 'minutes' }] }), after)
    const transactionId = await start(api)
    expect((await end(api)).status).toBeLessThan(300)
    await pass(server, { minutes: 10 })
    const { id, asked } = await questionOf(api, transactionId)
    expect(asked).toMatchObject([{ subscriberId: 'ada', remindedAt: [expect.any(String)] }])
    expect((await answer(api, id, { answer: 'yes', subscriberId: 'ada' })).status).toBe(200)
    expect(statesOf(await runOf(api, transactionId)).at(-1)).toBe('after completed')
    expect(await contentsOf(api, 'ada')).toContain('answered yes Ada Lovelace')
  })

  test('a cancel closes it and its copies', async () => {
    const api = await apiWith(ask(), after)
    const transactionId = await start(api)
    const { id } = await questionOf(api, transactionId)
    expect((await api.post(`/v2/questions/${id}/cancel`, {})).body).toEqual({ canceled: true })
    expect(statesOf(await runOf(api, transactionId))).toEqual([
      'approve canceled canceled_by_user',
      'approve completed',
      'after canceled canceled_by_user',
    ])
    expect((await questionOf(api, transactionId)).state).toBe('canceled')
    expect(await contentsOf(api, 'ada')).toEqual(['Refund 40?\n\nOrder 7\n\nThis question is over.'])
    expect((await api.post(`/v2/questions/${id}/cancel`, {})).body.code).toBe('question_closed')
    expect((await answer(api, id, { answer: 'yes', subscriberId: 'ada' })).body).toMatchObject({
      ...{ code: 'question_closed', ctx: { state: 'canceled' } },
    })
  })
})

describe('several questions', () => {
  test('say each what became of it, also where one ends the next', async () => {
    const api = await apiWith(ask(), ask({ chain: [{ subscriberId: 'unknown' }] }, 'second'), after)
    const transactionId = await start(api)
    const { id } = await questionOf(api, transactionId)
    await answer(api, id, { answer: 'yes', subscriberId: 'ada' })
    expect(statesOf(await runOf(api, transactionId))).toContain('second skipped nobody_to_ask')
    const [, copy] = (await api.get('/v2/subscribers/ada/notifications')).body.data
    expect(copy).toMatchObject({
      body: 'Refund 40?\n\nOrder 7\n\nApprove: Ada Lovelace',
      data: { question: { id, state: 'answered', answer: 'yes', answeredBy: { subscriberId: 'ada' } } },
    })
  })
})

describe('in a simulation', () => {
  test.each([
    ['a cancel', { type: 'cancel', transactionId: 't' }],
    ['a goal', { type: 'event', name: 'paid', subscriberId: 'ada' }],
    ['the end of its subscriber', { type: 'subscriber', subscriberId: 'ada', delete: true }],
  ])('%s closes in-app copies as it does live', async (_, input) => {
    const draft = {
      steps: [ask({ chain: [{ subscriberId: 'bob' }] })],
      journey: { goals: [{ name: 'Paid', for: [{ event: 'paid' }] }] },
    }
    const { body, text } = await server.api.post('/v1/simulations', {
      ...{ workflow: { draft }, subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }] },
      inputs: [
        { at: '+0s', type: 'trigger', to: 'ada', transactionId: 't', payload: { amount: 40, order: 7 } },
        { at: '+1m', ...input },
      ],
    })
    expect(body.messages, text).toHaveLength(1)
    const over = 'Refund 40?\n\nOrder 7\n\nThis question is over.'
    expect(body.messages[0]).toMatchObject({ subscriberId: 'bob', text: over })
  })
})

describe('a copy', () => {
  test.each([
    ['a cancel', 'canceled_by_user'],
    ['a goal', 'goal_met'],
  ])('that is not on its way is not sent after %s', async (what, reason) => {
    const api = await apiWith()
    const journey = { goals: [{ name: 'Paid', for: [{ event: 'paid' }] }] }
    await makeWorkflow(api, 'pay', [ask({ channels: ['email', 'sms'] })], { journey })
    const transactionId = await trigger(api, 'pay', 'ada', { payload: { amount: 40, order: 7 } })
    const other = await server.startAnother()
    let isOver = false
    await server.drain(async (work) => {
      await work()
      if (isOver || (await runOf(api, transactionId).catch(() => undefined))?.jobs[0].status !== 'delayed') return
      isOver = true
      expect(statesOf(await runOf(api, transactionId))).toEqual(['approve delayed', 'approve queued', 'approve queued'])
      if (what === 'a cancel') expect((await api.delete(`/v1/events/trigger/${transactionId}`)).body).toBe(true)
      else {
        const { body } = await api.post('/v2/events', { name: 'paid', subscriberId: 'ada' })
        await other.engine.tasks().match_events?.({ events: [[api.environmentId, body.id]] }, {} as never)
      }
    })
    const gone = `approve canceled ${reason}`
    expect(statesOf(await runOf(api, transactionId))).toEqual([gone, gone, gone])
    expect((await api.get('/v1/sandbox/messages')).body.data).toEqual([])
    await other.stop()
  })

  test("whose person is deleted during its call is nobody else's message", async () => {
    const api = await server.freshApi()
    for (const subscriberId of ['ada', 'bob', 'cy'])
      await api.post('/v2/subscribers', { subscriberId, phone: '+4915112345678' })
    await makeWorkflow(api, 'refund', [ask({ chain: [{ subscriberIds: ['bob', 'cy'] }], channels: ['sms'] })])
    await api.post('/v1/integrations', {
      ...{ providerId: 'generic-sms', channel: 'sms', active: true },
      credentials: { baseUrl: vendor.url, apiKeyRequestHeader: 'x-key', apiKey: 'k' },
    })
    vendor.plays(async () => {
      await api.delete('/v2/subscribers/bob')
      return { status: 200, body: { id: 'one' } }
    })
    const transactionId = await start(api)
    expect(await copies(api, transactionId)).toEqual(['sms completed', expect.stringMatching(/^sms /)])
    expect(await messagesOf(api, 'subscriberId=ada')).toEqual([])
  })

  const toBob = (more: object = {}) => ask({ chain: [{ subscriberId: 'bob' }], channels: ['in_app', 'email'], ...more })
  const copies = async (api: Api, transactionId: string) =>
    (await runOf(api, transactionId)).jobs
      .filter((job: { of?: string }) => job.of !== undefined)
      .map(({ type, status, reason }: Record<string, string>) => `${type} ${status}${reason ? ` ${reason}` : ''}`)
  const days = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
  /** Closed now, whenever that is; opens in an hour. */
  const closed = () => {
    const clockTime = (hours: number) =>
      new Date(server.clock.now().getTime() + hours * 3_600_000).toLocaleTimeString('en-US', {
        ...{ hour: '2-digit', minute: '2-digit', hour12: true, timeZone: 'UTC' },
      })
    const hours = [{ start: clockTime(1), end: clockTime(2) }]
    return { isEnabled: true, weeklySchedule: Object.fromEntries(days.map((day) => [day, { isEnabled: true, hours }])) }
  }
  /** So that a schedule does not reach over midnight. */
  const noon = () => server.clock.advance({ ms: 86_400_000 * 1.5 - (server.clock.now().getTime() % 86_400_000) })

  test.each(['skip', 'hold'])('is skipped outside the schedule of whoever is asked, with %s', async (quietHours) => {
    noon()
    const api = await apiWith(toBob(), after)
    await api.put('/v2/guards', { quietHours, caps: [] })
    await prefer(api, 'ada', { schedule: closed() })
    const open = await start(api)
    expect(await copies(api, open)).toEqual(['in_app completed', 'email completed'])
    await prefer(api, 'bob', { schedule: closed() })
    const transactionId = await start(api)
    expect(await copies(api, transactionId)).toEqual(['in_app completed', 'email canceled outside_schedule'])
    // It is not sent later either.
    await pass(server, { hours: 1 })
    expect(await messagesOf(api, 'subscriberId=bob&channel=email')).toHaveLength(1)
  })

  test('takes a place in the caps of whoever is asked', async () => {
    const api = await apiWith(toBob({ chain: [{ subscriberId: '{{payload.who}}' }] }), after)
    const cap = { id: 'few', limit: 1, window: { amount: 1, unit: 'days' }, channels: ['email'] }
    await api.put('/v2/guards', { quietHours: 'skip', caps: [cap] })
    const sent = []
    for (const who of ['bob', 'bob', 'cy', 'ada'])
      sent.push(...(await copies(api, await start(api, 'ada', { payload: { who } }))))
    expect(sent.filter((each) => each.startsWith('email'))).toEqual([
      ...['email completed', 'email canceled capped', 'email completed', 'email completed'],
    ])
  })

  test('speaks the language of whoever is asked', async () => {
    const api = await apiWith(toBob({ answers: [...yesNo, { id: 'later', label: 'Later' }] }), after)
    await api.patch('/v2/subscribers/bob', { locale: 'de_DE' })
    await api.patch('/v2/subscribers/ada', { locale: 'fr_FR' })
    await start(api)
    const [notification] = (await api.get('/v2/subscribers/bob/notifications')).body.data
    expect(notification.primaryAction.label).toBe('Antworten')
    const [mail] = (await api.get('/v1/sandbox/messages?channel=email')).body.data
    expect((await api.get(`/v1/sandbox/messages/${mail.id}`)).body.html).toContain('Oder antworten Sie hier:')
  })

  test('of a critical workflow is sent all the same', async () => {
    noon()
    const api = await apiWith(after)
    const critical = { preferences: { user: { all: { enabled: true, readOnly: true } } } }
    await makeWorkflow(api, 'urgent', [toBob()], critical)
    await makeWorkflow(api, 'usual', [toBob()])
    const cap = { id: 'few', limit: 1, window: { amount: 1, unit: 'days' }, channels: ['in_app', 'email'] }
    await api.put('/v2/guards', { quietHours: 'hold', caps: [cap] })
    await prefer(api, 'bob', { schedule: closed(), channels: { in_app: false, email: false } })
    for (const [workflowId, states] of Object.entries({
      urgent: ['in_app completed', 'email completed'],
      usual: ['in_app canceled preference', 'email canceled outside_schedule'],
    })) {
      const transactionId = await trigger(api, workflowId, 'ada')
      await server.drain()
      expect([workflowId, await copies(api, transactionId)]).toEqual([workflowId, states])
    }
  })

  test('goes to the inbox and by email unless the step says otherwise; the email has its subject', async () => {
    const api = await apiWith(ask({ channels: undefined, subject: 'Refund {{payload.order}} waits' }), after)
    expect(await copies(api, await start(api))).toEqual(['in_app completed', 'email completed'])
    await makeWorkflow(api, 'plain', [ask({ channels: ['email'] })])
    await trigger(api, 'plain', 'ada', { payload: { amount: 1 } })
    await server.drain()
    const mails = await messagesOf(api, 'subscriberId=ada&channel=email')
    expect(mails.map(({ subject }) => subject).sort()).toEqual(['Refund 1?', 'Refund 7 waits'])
  })
})

test('issues name what is wrong', async () => {
  const api = await server.freshApi()
  const minute = { amount: 1, unit: 'minutes' }
  const steps = [
    ask({ question: undefined, answers: undefined, amount: undefined, unit: undefined }, 'empty'),
    ask({ reminders: Array(6).fill(minute) }, 'reminders'),
    ask({ answers: [{ id: 'yes', label: 'x'.repeat(81) }] }, 'label'),
    ask({ answers: [{ id: 'Yes!', label: 'Yes' }] }, 'id'),
    ask({ answers: Array.from({ length: 11 }, (_, n) => ({ id: `a${n}`, label: 'A' })) }, 'answers'),
    ask({ chain: [{ subscriberId: 'bob' }, { rota: 'r' }] }, 'patience'),
    ask({ chain: [{ topicKey: 't' }], rounds: 11 }, 'rounds'),
    ask({ amount: 181, unit: 'days' }, 'long'),
    ask({ chain: [{ subscriberIds: Array.from({ length: 101 }, (_, n) => `s${n}`) }] }, 'named'),
    ask({ reminders: Array(5).fill(minute), answers: [{ id: 'yes', label: 'x'.repeat(80) }] }, 'fine'),
  ]
  const { body } = await api.post('/v2/workflows', { name: 'x', workflowId: 'x', active: true, steps })
  const issues = body.steps.map(({ issues }: { issues?: { controls?: object } }) =>
    Object.entries(issues?.controls ?? {}).map(([path, [issue]]: [string, any]) => `${path} ${issue.issueType}`),
  )
  expect(issues).toEqual([
    ['question MISSING_VALUE', 'answers MISSING_VALUE', 'amount MISSING_VALUE', 'unit MISSING_VALUE'],
    ['reminders MISSING_VALUE'],
    ['answers.0.label MISSING_VALUE'],
    ['answers.0.id MISSING_VALUE'],
    ['answers MISSING_VALUE'],
    ['patience MISSING_VALUE', 'chain.1.rota MISSING_VALUE'],
    ['rounds MISSING_VALUE'],
    ['amount TIER_LIMIT_EXCEEDED', 'unit TIER_LIMIT_EXCEEDED'],
    ['chain.0.subscriberIds MISSING_VALUE'],
    [],
  ])
  expect(body.status).toBe('ERROR')
})

describe('the page', () => {
  const language = { 'accept-language': 'en' }

  async function linksOf(api: Api) {
    const [mail] = (await api.get('/v1/sandbox/messages?channel=email')).body.data
    const [text] = (await api.get('/v1/sandbox/messages?channel=sms')).body.data
    const { body } = await api.get(`/v1/sandbox/messages/${mail.id}`)
    const links = [...body.html.matchAll(/href="([^"]*\/a\/[^"]*)"/g)].map(([, url]) =>
      String(url).replaceAll('&amp;', '&'),
    )
    return { links, sms: String(text.text) }
  }
  const call = (url: string, init: RequestInit = {}) => {
    const { pathname, search } = new URL(url)
    return fetch(server.url + pathname + search, { redirect: 'error', ...init })
  }

  test('stands in the text of an email too: lines as they were written, answers apart', async () => {
    const api = await apiWith(ask({ channels: ['email'], details: 'Order 7\nPaid on Monday' }), after)
    await start(api)
    const { text } = (await api.get('/v1/sandbox/messages?channel=email')).body.data[0]
    expect(text.replace(/http\S+\/a\/[\w-]+/g, 'PAGE')).toContain(
      'Refund 40?\n\nOrder 7\nPaid on Monday\n\nApprove (PAGE?answer=yes) Reject (PAGE?answer=no)\n\n',
    )
  })

  test('is reached by email and SMS; robots change nothing; a form answers', async () => {
    const freeText = { label: 'Why?', required: true }
    const api = await apiWith(ask({ channels: ['email', 'sms'], subject: 'A refund waits', freeText }), after)
    const transactionId = await start(api)
    const { links, sms } = await linksOf(api)
    expect(links).toEqual([
      expect.stringMatching(/\/a\/[\w-]+\?answer=yes$/),
      expect.stringMatching(/\/a\/[\w-]+\?answer=no$/),
      expect.stringMatching(/\/a\/[\w-]+$/),
    ])
    const url = String(links[2])
    expect(sms).toBe(`Refund 40?\n${url}`)
    for (const link of links)
      for (const method of ['GET', 'HEAD']) {
        const robot = await call(link, { method })
        expect(robot.status).toBe(200)
        expect(robot.headers.get('cache-control')).toBe('no-store')
        expect(robot.headers.get('referrer-policy')).toBe('no-referrer')
        expect(robot.headers.get('x-robots-tag')).toBe('noindex')
        expect(robot.headers.get('set-cookie')).toBeNull()
      }
    expect((await questionOf(api, transactionId)).state).toBe('open')
    const page = await (await call(String(links[1]), { headers: language })).text()
    expect(page).toContain('Refund 40?')
    expect(page).not.toContain('<script')
    expect(page.indexOf('>Reject<')).toBeLessThan(page.indexOf('>Approve<'))
    const german = await (await call(`${url}?lang=de`)).text()
    expect(german).toContain('lang="de"')
    const form = (fields: Record<string, string>) => ({
      method: 'POST',
      headers: language,
      body: new URLSearchParams(fields),
    })
    const missing = await call(url, form({ answer: 'yes' }))
    expect(missing.status).toBe(422)
    expect(await missing.text()).toContain('Please write something beside your answer.')
    const done = await call(url, form({ answer: 'yes', text: 'Fine & good' }))
    expect(done.status).toBe(200)
    expect(await done.text()).toContain('Approve: Ada Lovelace')
    await server.drain()
    const question = await questionOf(api, transactionId)
    expect(question).toMatchObject({ state: 'answered', text: 'Fine & good', answeredBy: { channel: 'page' } })
    const closed = await call(url, form({ answer: 'no', text: 'x' }))
    expect(closed.status).toBe(409)
    const over = await closed.text()
    expect(over).toContain('Approve: Ada Lovelace')
    expect(over).not.toContain('<button')
  })

  test('speaks JSON, and knows its own links only', async () => {
    const api = await apiWith(ask({ channels: ['email', 'sms'] }), after)
    await start(api)
    const url = String((await linksOf(api)).links[2])
    const json = { accept: 'application/json', 'content-type': 'application/json' }
    const shown = await (await call(url, { headers: json })).json()
    expect(shown).toEqual({
      ...{ id: expect.any(String), question: 'Refund 40?', details: 'Order 7', answers: yesNo, freeText: null },
      ...{ state: 'open', answer: null, answeredBy: null, deadline: expect.any(String) },
    })
    const unknown = await call(url, { method: 'POST', headers: json, body: JSON.stringify({ answer: 'x' }) })
    expect([unknown.status, await unknown.json()]).toMatchObject([422, { code: 'answer_unknown' }])
    const answered = await call(url, { method: 'POST', headers: json, body: JSON.stringify({ answer: 'no' }) })
    expect(await answered.json()).toMatchObject({ state: 'answered', answer: 'no', isYours: true })
    expect((await call(url, { method: 'POST', headers: json, body: JSON.stringify({ answer: 'no' }) })).status).toBe(
      200,
    )
    const other = await call(url, { method: 'POST', headers: json, body: JSON.stringify({ answer: 'yes' }) })
    expect([other.status, await other.json()]).toMatchObject([409, { code: 'question_closed', ctx: { answer: 'no' } }])
    const at = url.length - 3
    const forged = url.slice(0, at) + (url[at] === 'A' ? 'B' : 'A') + url.slice(at + 1)
    const refused = await call(forged, { headers: json })
    expect([refused.status, await refused.json()]).toMatchObject([404, { code: 'link_not_found' }])
    const wrong = await call(forged, { headers: { accept: 'text/html' } })
    expect([wrong.status, await wrong.text()]).toEqual([404, expect.not.stringContaining('<button')])
  })
})

describe('a chain', () => {
  const chained = (chain: object[], more: object = {}) =>
    ask({ chain, patience: { amount: 5, unit: 'minutes' }, ...more })
  const asked = async (api: Api, transactionId: string) =>
    (await questionOf(api, transactionId)).asked.map(
      ({ subscriberId, level }: { subscriberId: string; level: number }) => `${subscriberId} ${level}`,
    )

  test('asks the next level when patience is over; whoever was asked before may still answer', async () => {
    const api = await apiWith(
      chained([{ subscriberId: 'bob' }, { subscriberIds: ['cy', '{{payload.deputy}}'] }]),
      after,
    )
    const transactionId = await start(api, 'ada', { payload: { amount: 1, deputy: 'di' } })
    expect(await asked(api, transactionId)).toEqual(['bob 0'])
    expect(await contentsOf(api, 'ada')).toEqual([])
    await pass(server, { minutes: 5 })
    // Unknown subscribers are not made.
    expect(await asked(api, transactionId)).toEqual(['bob 0', 'cy 1'])
    expect((await api.get('/v2/subscribers/di')).status).toBe(404)
    const question = await questionOf(api, transactionId)
    expect(question).toMatchObject({ level: 1, round: 1 })
    await answer(api, question.id, { answer: 'yes', subscriberId: 'bob' })
    const run = await runOf(api, transactionId)
    expect(run.jobs[0].outcome).toMatchObject({ outcome: 'answered', level: 0, answeredBy: { name: 'Bob Byte' } })
    expect(run.jobs.map((job: { asked?: string; level?: number }) => [job.asked, job.level])).toEqual([
      [undefined, undefined],
      ['bob', 0],
      ['cy', 1],
      [undefined, undefined],
    ])
    expect(await contentsOf(api, 'cy')).toEqual([expect.stringContaining('Approve: Bob Byte')])
    expect(await contentsOf(api, 'ada')).toEqual(['answered yes Bob Byte'])
  })

  test('passes over a level at which nobody can be reached at once, and begins again for each round', async () => {
    const api = await apiWith(
      chained([{ subscriberId: 'nobody' }, { subscriberId: 'bob' }, { topicKey: 'managers', inOrder: true }], {
        rounds: 2,
      }),
      after,
    )
    await api.post('/v2/topics', { key: 'managers' })
    for (const id of ['cy', 'ada']) await api.post('/v2/topics/managers/subscriptions', { subscriberIds: [id] })
    await prefer(api, 'cy', { channels: { in_app: false } })
    const transactionId = await start(api, 'ada')
    expect(await asked(api, transactionId)).toEqual(['bob 1'])
    await pass(server, { minutes: 5 })
    expect(await asked(api, transactionId)).toEqual(['bob 1', 'cy 2', 'ada 3'])
    const path = '/v2/subscribers/bob/notifications'
    const [{ id }] = (await api.get(path)).body.data
    await api.patch(`${path}/${id}/read`, {})
    await pass(server, { minutes: 5 })
    expect(await asked(api, transactionId)).toEqual(['bob 1', 'cy 2', 'ada 3', 'bob 1'])
    expect((await questionOf(api, transactionId)).round).toBe(2)
    // To be asked again is like a reminder.
    expect((await api.get(path)).body.data).toMatchObject([{ id, isRead: false }])
    await pass(server, { minutes: 20 })
    expect(await asked(api, transactionId)).toHaveLength(6)
    await pass(server, { minutes: 30 })
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'timeout' })
  })

  test('asks nobody twice in a round, and at the next level only those who are new', async () => {
    const api = await apiWith(
      chained([{ subscriberIds: ['bob', 'bob'] }, { subscriberId: 'bob' }, { subscriberIds: ['cy', 'bob'] }]),
    )
    const transactionId = await start(api)
    expect(await asked(api, transactionId)).toEqual(['bob 0'])
    await pass(server, { minutes: 5 })
    // The level of nobody new is passed over at once.
    expect(await asked(api, transactionId)).toEqual(['bob 0', 'cy 2'])
    await pass(server, { minutes: 5 })
    expect(await asked(api, transactionId)).toEqual(['bob 0', 'cy 2'])
    expect(await contentsOf(api, 'bob')).toHaveLength(1)
    expect((await questionOf(api, transactionId)).state).toBe('open')
  })

  test('has at most 20 levels, members in order included; the others are left out with a warning', async () => {
    const api = await apiWith(chained([{ subscriberId: 'bob' }, { topicKey: 'all', inOrder: true }], { amount: 9 }))
    const ids = Array.from({ length: 22 }, (_, index) => `member-${String(index).padStart(2, '0')}`)
    await api.post('/v2/topics', { key: 'all' })
    for (const id of ids) {
      await api.post('/v2/subscribers', { subscriberId: id })
      server.clock.advance({ ms: 10 })
      await api.post('/v2/topics/all/subscriptions', { subscriberIds: [id] })
    }
    const transactionId = await start(api)
    for (let level = 0; level < 22; level += 1) await pass(server, { minutes: 5 })
    const all = ['bob', ...ids.slice(0, 19)].map((id, level) => `${id} ${level}`)
    expect(await asked(api, transactionId)).toEqual(all)
    const [job] = (await runOf(api, transactionId)).jobs
    const [warning, ...more] = job.executionDetails.filter(({ status }: { status: string }) => status === 'Warning')
    expect(more).toEqual([])
    expect(warning.detail).toBe('The chain has too many levels; the last ones are left out')
    expect(JSON.parse(warning.raw)).toMatchObject({ left: 3, most: 20 })
  })

  test('asks all members of a topic at once', async () => {
    const api = await apiWith(chained([{ topicKey: 'managers' }, { subscriberId: 'ada' }]), after)
    await api.post('/v2/topics', { key: 'managers' })
    await api.post('/v2/topics/managers/subscriptions', { subscriberIds: ['cy', 'bob'] })
    const transactionId = await start(api, 'ada')
    expect((await asked(api, transactionId)).sort()).toEqual(['bob 0', 'cy 0'])
    await pass(server, { minutes: 5 })
    expect((await asked(api, transactionId)).sort()).toEqual(['ada 1', 'bob 0', 'cy 0'])
  })

  describe('to a large topic', () => {
    const ids = Array.from({ length: 1_001 }, (_, number) => `member-${number}`)

    async function apiWithMany(chain: object[], more: object = {}): Promise<Api> {
      const api = await apiWith(chained(chain, more), after)
      for (let at = 0; at < ids.length; at += 500)
        await api.post('/v1/subscribers/bulk', {
          subscribers: ids.slice(at, at + 500).map((subscriberId) => ({ subscriberId })),
        })
      for (let at = 0; at < ids.length; at += 100)
        await api.post('/v2/topics/all/subscriptions', { subscriberIds: ids.slice(at, at + 100) })
      return api
    }

    /** And no more: only the first page has been asked. */
    const begin = async (api: Api) => {
      const transactionId = await trigger(api, 'refund', 'ada', { payload: { amount: 40, order: 7 } })
      let isFirst = true
      await server.drain(async (work) => {
        if (isFirst) await work()
        isFirst = false
      })
      return transactionId
    }

    test('asks everybody once, page by page, also where one was cut off, and reminds everybody', async () => {
      const api = await apiWithMany([{ topicKey: 'all' }, { subscriberId: 'bob' }], {
        reminders: [{ amount: 1, unit: 'minutes' }],
      })
      // Who has two subscriptions is a member all the same, and who was asked is not asked again.
      const twice = [{ identifier: 'again', subscriberId: 'member-3' }]
      expect((await api.post('/v2/topics/all/subscriptions', { subscriptions: twice })).status).toBe(201)
      const transactionId = await begin(api)
      expect(await asked(api, transactionId)).toHaveLength(500)
      const { pool } = server.database
      await pool.query(`
        CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'cut off'; END $$;
        CREATE TRIGGER cut_off BEFORE INSERT ON question_people FOR EACH STATEMENT EXECUTE FUNCTION cut_off()`)
      const { engine, stop } = await server.startAnother()
      await expect(engine.wake()).rejects.toThrow('cut off')
      await pool.query('DROP FUNCTION cut_off CASCADE')
      expect(await asked(api, transactionId)).toHaveLength(500)
      await engine.wake()
      await stop()
      await server.drain()
      expect((await asked(api, transactionId)).sort()).toEqual(ids.map((id) => `${id} 0`).sort())
      expect(await contentsOf(api, 'member-1000')).toHaveLength(1)
      expect(await contentsOf(api, 'member-3')).toHaveLength(1)
      const [job] = (await runOf(api, transactionId)).jobs
      expect(job.executionDetails.filter(({ status }: { status: string }) => status === 'Warning')).toEqual([])
      await pass(server, { minutes: 1 })
      const { asked: entries } = await questionOf(api, transactionId)
      const reminders = entries.map(({ remindedAt }: { remindedAt: string[] }) => remindedAt.length)
      expect(reminders).toEqual(ids.map(() => 1))
      await pass(server, { minutes: 4 })
      expect((await asked(api, transactionId)).at(-1)).toBe('bob 1')
    })

    test('asks nobody any more once it has an answer', async () => {
      const api = await apiWithMany([{ topicKey: 'all' }])
      const transactionId = await begin(api)
      const { id } = await questionOf(api, transactionId)
      await answer(api, id, { answer: 'yes', subscriberId: 'member-7' })
      expect(await asked(api, transactionId)).toHaveLength(500)
      expect(await contentsOf(api, 'member-600')).toEqual([])
      expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'answered', answer: 'yes' })
    })

    test('passes over the level only when nobody of all can be reached', async () => {
      const api = await apiWithMany([{ topicKey: 'all' }, { subscriberId: 'bob' }])
      const { pool } = server.database
      const refuse = (from: number) =>
        pool.query(
          `INSERT INTO subscriber_preferences (environment_id, subscriber_row_id, channels, updated_at)
           SELECT environment_id, id, '{"in_app": false}', created_at FROM subscribers
           WHERE environment_id = $1 AND subscriber_id ~ '^member-' AND substr(subscriber_id, 8)::int BETWEEN $2 AND $2 + 999`,
          [api.environmentId, from],
        )
      await refuse(0)
      const transactionId = await start(api)
      expect(await asked(api, transactionId)).toHaveLength(1_001)
      await refuse(1_000)
      const next = await start(api)
      expect((await asked(api, next)).slice(-2)).toEqual(['member-1000 0', 'bob 1'])
    })

    test('asks as many as the run has room for, and says so', async () => {
      const api = await apiWithMany([{ topicKey: 'all' }])
      const transactionId = await begin(api)
      const { _id } = await runOf(api, transactionId)
      // As if tens of thousands had been asked.
      await server.database.pool.query(
        `INSERT INTO jobs SELECT (jsonb_populate_record(j, '{"position": 30997}')).* FROM jobs j
         WHERE j.notification_id = $1 AND j.position = 1000`,
        [_id],
      )
      await server.drain()
      expect(await asked(api, transactionId)).toHaveLength(502)
      const [job] = (await runOf(api, transactionId)).jobs
      const warnings = job.executionDetails.filter(({ status }: { status: string }) => status === 'Warning')
      expect(warnings).toMatchObject([{ detail: expect.stringContaining('The question has too many copies') }])
    })

    test('is simulated as it is', async () => {
      const { body, text } = await server.api.post('/v1/simulations', {
        workflow: { draft: { steps: [chained([{ topicKey: 'many' }])] } },
        topics: [{ topicKey: 'many', subscriberIds: ids.slice(0, 700) }],
        inputs: [{ at: '+0s', type: 'trigger', to: 'ada', payload: { amount: 1, order: 2 } }],
      })
      expect(body.messages, text.slice(0, 500)).toHaveLength(700)
    })
  })

  test('asks a rota at the moment at which each level is reached', async () => {
    const api = await apiWith(chained(Array(3).fill({ rota: 'primary' })), after)
    const local = (minutes: number) =>
      new Date(server.clock.now().getTime() + minutes * 60_000).toISOString().slice(0, 16)
    const rota = { name: 'Primary', timezone: 'UTC' }
    const shifts = [
      { start: local(-60), end: local(3), who: ['bob'] },
      { start: local(3), end: local(60), who: ['cy'] },
    ]
    expect((await api.post('/v2/rotas', { rotaId: 'primary', ...rota, shifts })).status).toBe(201)
    const transactionId = await start(api, 'ada')
    expect(await asked(api, transactionId)).toEqual(['bob 0'])
    await pass(server, { minutes: 5 })
    expect(await asked(api, transactionId)).toEqual(['bob 0', 'cy 1'])
    // What somebody changes meanwhile counts, too.
    await api.put('/v2/rotas/primary', { ...rota, shifts: [{ start: local(-60), end: local(60), who: ['ada'] }] })
    await pass(server, { minutes: 5 })
    expect(await asked(api, transactionId)).toEqual(['bob 0', 'cy 1', 'ada 2'])
  })

  test('asks whoever is on duty when the level is reached', async () => {
    const api = await apiWith(chained([{ rota: 'primary' }, { rota: 'none' }]), after)
    const made = await api.post('/v2/rotas', {
      ...{ rotaId: 'primary', name: 'Primary', timezone: 'UTC' },
      shifts: [{ start: '2000-01-01T00:00', end: '2099-01-01T00:00', who: ['cy'] }],
    })
    expect(made, made.text).toMatchObject({ status: 201 })
    const transactionId = await start(api, 'ada')
    expect(await asked(api, transactionId)).toEqual(['cy 0'])
    await pass(server, { hours: 1 })
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({ outcome: 'timeout' })
  })
})
