import { beforeAll, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { makeWorkflow, pass, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api

type Found = any

const mail = (values: object = {}): Step => ({
  ...{ name: 'Mail', stepId: 'mail', type: 'email' },
  controlValues: { subject: 'A comment', body: '<p>By {{payload.author}}</p>', editorType: 'html', ...values },
})
const sms: Step = { name: 'Text', stepId: 'text', type: 'sms', controlValues: { body: 'A comment' } }
const inApp: Step = { name: 'Inbox', stepId: 'inbox', type: 'in_app', controlValues: { body: 'A comment' } }
const delay = (amount: number): Step => ({
  ...{ name: 'Wait', stepId: 'wait', type: 'delay' },
  controlValues: { type: 'regular', amount, unit: 'minutes' },
})
const digest = (amount: number): Step => ({
  ...{ name: 'Collect', stepId: 'collect', type: 'digest' },
  controlValues: { amount, unit: 'minutes' },
})

beforeAll(async () => {
  api = (await server.freshOrganization()).development
  for (const [subscriberId, phone] of [
    ['ada', '+491701234567'],
    ['bo', '+491701234568'],
  ])
    await api.post('/v2/subscribers', { subscriberId, email: `${subscriberId}@example.com`, phone })
})

/** The body of a PUT that changes some members of the stored workflow. */
async function draftOf(workflowId: string, more: object, of = api): Promise<Found> {
  const { name, steps, preferences, origin, active } = (await of.get(`/v2/workflows/${workflowId}`)).body
  return { name, steps, preferences, origin, active, ...more }
}
const stepsAfter = async (workflowId: string, steps: Step[]) => draftOf(workflowId, { steps })
const impact = (workflowId: string, draft: object, more: object = {}): Promise<Answer> =>
  api.post(`/v2/workflows/${workflowId}/impact`, { draft, ...more })
const put = (workflowId: string, draft: object, token?: string): Promise<Answer> =>
  api.send('PUT', `/v2/workflows/${workflowId}`, draft, token === undefined ? {} : { 'belfry-impact-token': token })

/** A workflow with triggers for Ada. */
async function triggered(workflowId: string, steps: Step[], payloads: object[], to: unknown = 'ada'): Promise<void> {
  await makeWorkflow(api, workflowId, steps)
  for (const [index, payload] of payloads.entries())
    await trigger(api, workflowId, to, { payload, transactionId: `${workflowId}-${index + 1}` })
  await server.drain()
}

describe('the replay', () => {
  test('tells who would get something else, of every kind, with the message of before and of after', async () => {
    await triggered('comments', [mail()], [{ author: 'Bo' }, { author: 'Cy' }], ['ada', 'bo'])
    const same = await impact('comments', await draftOf('comments', { name: 'Renamed' }))
    expect(same.status, same.text).toBe(200)
    expect(same.body).toMatchObject({
      ...{ workflowId: 'comments', version: 1, waiting: { runs: 0, steps: [] }, variables: [] },
      replay: {
        ...{ triggers: 2, runs: 4, same: 4, different: 0, left: 0, examples: [] },
        kinds: { more: 0, fewer: 0, content: 0, time: 0, reason: 0 },
      },
    })

    const content = await impact('comments', await stepsAfter('comments', [mail({ subject: 'One comment' })]))
    expect(content.body.replay).toMatchObject({ same: 0, different: 4, kinds: { content: 4 } })
    expect(content.body.replay.examples[0]).toEqual({
      ...{ transactionId: 'comments-1', subscriberId: 'ada', kind: 'content' },
      changes: [{ stepId: 'mail', member: 'subject', before: 'A comment', after: 'One comment' }],
      messages: {
        before: expect.objectContaining({ channel: 'email', subject: 'A comment', to: ['ada@example.com'] }),
        after: expect.objectContaining({ channel: 'email', subject: 'One comment' }),
      },
    })

    const more = await impact('comments', await stepsAfter('comments', [mail(), sms]))
    expect(more.body.replay).toMatchObject({ different: 4, kinds: { more: 4, content: 0 } })
    expect(more.body.replay.examples[0]).toMatchObject({
      changes: [{ stepId: 'text', member: 'status', before: null, after: 'sent' }],
      messages: { before: null, after: { channel: 'sms', text: 'A comment' } },
    })

    const fewer = await impact('comments', await draftOf('comments', { active: false }))
    expect(fewer.body.replay).toMatchObject({ different: 4, kinds: { fewer: 4 } })

    const time = await impact('comments', await stepsAfter('comments', [delay(5), mail()]))
    expect(time.body.replay).toMatchObject({ different: 4, kinds: { time: 4 } })
    const [{ before, after }] = time.body.replay.examples[0].changes
    expect(Date.parse(after) - Date.parse(before)).toBe(300_000)

    const unlessBo = { '!=': [{ var: 'payload.author' }, 'Bo'] }
    const some = await impact('comments', await stepsAfter('comments', [mail({ skip: unlessBo })]))
    expect(some.body.replay).toMatchObject({ same: 2, different: 2, kinds: { fewer: 2 } })
    expect(some.body.replay.examples[0].changes).toContainEqual({
      ...{ stepId: 'mail', member: 'reason', before: null, after: 'step_condition' },
    })
  })

  test('one that gets nothing for another reason is told as such', async () => {
    const never = { '==': [{ var: 'payload.author' }, 'nobody'] }
    await api.post('/v2/subscribers', { subscriberId: 'dee' })
    await triggered('never', [mail({ skip: never })], [{ author: 'Bo' }], 'dee')
    const { body } = await impact('never', await stepsAfter('never', [mail()]))
    expect(body.replay).toMatchObject({ different: 1, kinds: { reason: 1 } })
    expect(body.replay.examples[0].changes).toEqual([
      { stepId: 'mail', member: 'reason', before: 'step_condition', after: 'missing_email' },
    ])
  })

  test('examples have some of every kind, and there are at most 20', async () => {
    const payloads = Array.from({ length: 30 }, (_, index) => ({ author: 'Bo', place: index }))
    await triggered('many', [mail()], payloads)
    const isFirst = { '!=': [{ var: 'payload.place' }, 0] }
    const { body } = await impact('many', await stepsAfter('many', [mail({ subject: 'Other', skip: isFirst })]))
    expect(body.replay).toMatchObject({ triggers: 30, kinds: { content: 29, fewer: 1 } })
    expect(body.replay.examples).toHaveLength(20)
    expect(body.replay.examples.filter(({ kind }: Found) => kind === 'fewer')).toHaveLength(1)
  })

  test('triggers are played at their own times, so a longer window collects more', async () => {
    await makeWorkflow(api, 'collected', [digest(2), mail({ subject: '{{steps.collect.eventCount}} comments' })])
    for (const place of [1, 2]) {
      await trigger(api, 'collected', 'ada', { payload: { author: 'Bo' }, transactionId: `collected-${place}` })
      await pass(server, { minutes: 4 })
    }
    const longer = [digest(10), mail({ subject: '{{steps.collect.eventCount}} comments' })]
    const { body } = await impact('collected', await stepsAfter('collected', longer))
    expect(body.replay).toMatchObject({ runs: 2, kinds: { fewer: 1, content: 1 } })
    expect(body.replay.examples.find(({ kind }: Found) => kind === 'content')).toMatchObject({
      messages: { before: { subject: '1 comments' }, after: { subject: '2 comments' } },
    })
  })

  test('takes the newest triggers, as many as are asked for', async () => {
    const { body } = await impact('many', await draftOf('many', {}), { triggers: 3 })
    expect(body.replay).toMatchObject({ triggers: 3, runs: 3 })
    const newest = await impact('many', await draftOf('many', { active: false }), { triggers: 1 })
    expect(newest.body.replay.examples).toMatchObject([{ transactionId: 'many-30' }])
    expect((await impact('many', await draftOf('many', {}), { triggers: 0 })).body.replay).toMatchObject({
      ...{ triggers: 0, runs: 0 },
    })
    for (const triggers of [-1, 1_001, 'all'])
      expect((await impact('many', await draftOf('many', {}), { triggers })).status).toBe(422)
  })

  test('plays who had runs then as they are now, and counts who is gone', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'gone', email: 'gone@example.com' })
    await api.post('/v2/topics', { key: 'fans', name: 'Fans' })
    await api.post('/v2/topics/fans/subscriptions', { subscriptions: ['bo', 'gone'] })
    await triggered('left', [mail()], [{ author: 'Bo' }], [{ type: 'Topic', topicKey: 'fans' }])
    await api.delete('/v2/subscribers/gone')
    await api.patch('/v2/subscribers/bo', { email: 'bo@elsewhere.example' })
    await api.delete('/v2/topics/fans')
    const { body } = await impact('left', await stepsAfter('left', [mail({ subject: 'Other' })]))
    expect(body.replay).toMatchObject({ triggers: 1, runs: 1, different: 1, left: 1 })
    expect(body.replay.examples[0].messages.before.to).toEqual(['bo@elsewhere.example'])
  })

  test('links and headers that are new with every message do not count', async () => {
    const names = ['unsubscribe_url', 'preferences_url', 'view_in_browser_url']
    const body = names.map((name) => `<a href="{{${name}}}">${name}</a>`).join(' ')
    await makeWorkflow(api, 'offers', [mail({ body })], { messageClass: 'commercial' })
    await trigger(api, 'offers', ['ada', 'bo'], { payload: {} })
    await server.drain()
    // The wait gives all messages other ids, and other times.
    const later = await impact('offers', await stepsAfter('offers', [delay(5), mail({ body })]))
    expect(later.body.replay).toMatchObject({ runs: 2, kinds: { content: 0, time: 2 } })
    const steps = [{ ...delay(5), active: false }, mail({ body }), { ...sms, active: false }]
    expect((await impact('offers', await stepsAfter('offers', steps))).body.replay).toMatchObject({ runs: 2, same: 2 })
  })

  test('what is too large for one simulation is played with fewer triggers', async () => {
    await makeWorkflow(api, 'long', [inApp])
    const events = Array.from({ length: 50 }, () => ({
      ...{ name: 'long', to: ['ada', 'bo'], payload: { author: 'x'.repeat(1_000) } },
    }))
    await api.post('/v1/events/trigger/bulk', { events })
    await server.drain()
    // 360 KB each.
    const long = { ...inApp, controlValues: { body: '{% for i in (1..360) %}{{payload.author}}{% endfor %}' } }
    const { status, body, text } = await impact('long', await stepsAfter('long', [long]))
    expect(status, text).toBe(200)
    expect(body.replay).toMatchObject({ triggers: 25, runs: 50, kinds: { content: 50 } })
  })
})

describe('variables', () => {
  test('are those that the draft reads and some triggers leave empty, unless a default fills in', async () => {
    await triggered(
      'variables',
      [mail()],
      [{ author: 'Bo', title: 'T' }, { author: 'Cy', title: '' }, { author: 'Di' }],
    )
    const body = [
      '{{payload.author}} {{payload.title}} {{payload.place | default: "here"}} {{subscriber.firstName}}',
      '{% if payload.note %}{{payload.note}}{% endif %} {{steps.other.x}} {{subscriber.email}}',
    ].join('')
    const answer = await impact('variables', await stepsAfter('variables', [mail({ body }), sms]))
    expect(answer.body.variables).toEqual([
      { stepId: 'mail', name: 'payload.title', missingIn: 2, of: 3 },
      { stepId: 'mail', name: 'subscriber.firstName', missingIn: 3, of: 3 },
    ])
  })
})

describe('waiting runs', () => {
  test('are counted by step, of any version, with what becomes of the step', async () => {
    const steps = [digest(30), mail()]
    await makeWorkflow(api, 'waits', steps)
    await trigger(api, 'waits', ['ada', 'bo'], { payload: {} })
    await server.drain()
    const removed = await impact('waits', await stepsAfter('waits', [mail()]))
    expect(removed.body.waiting).toEqual({
      ...{ runs: 2, steps: [{ stepId: 'collect', type: 'digest', runs: 2, change: 'removed' }] },
    })
    const none = await stepsAfter('waits', [{ ...digest(30), name: 'Another name' }, mail({ subject: 'Other' })])
    expect((await impact('waits', none)).body.waiting.steps).toMatchObject([{ change: 'none' }])
    const changed = await stepsAfter('waits', [digest(60), mail()])
    expect((await impact('waits', changed)).body.waiting.steps).toMatchObject([{ change: 'changed' }])
    expect((await put('waits', changed)).status).toBe(200)
    await api.post('/v2/subscribers', { subscriberId: 'cy', email: 'cy@example.com' })
    await trigger(api, 'waits', 'cy', { payload: {} })
    await server.drain()
    // Two began with a window of 30 minutes, one with 60.
    expect((await impact('waits', changed)).body.waiting).toEqual({
      runs: 3,
      steps: [
        { stepId: 'collect', type: 'digest', runs: 2, change: 'changed' },
        { stepId: 'collect', type: 'digest', runs: 1, change: 'none' },
      ],
    })
  })
})

test('a run with several steps that wait is one', async () => {
  const { development } = await server.freshOrganization()
  await development.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
  await development.put('/v1/sandbox/faults', { fault: 'server_error', channel: 'email' })
  const answers = [
    { id: 'yes', label: 'Approve' },
    { id: 'no', label: 'Reject' },
  ]
  const ask: Step = {
    ...{ name: 'Approve', stepId: 'approve', type: 'ask' },
    controlValues: { question: 'Refund?', answers, channels: ['email'], amount: 1, unit: 'hours' },
  }
  await makeWorkflow(development, 'asks', [ask])
  await trigger(development, 'asks', 'ada', { payload: {} })
  await server.drain()
  const draft = await draftOf('asks', { name: 'Other' }, development)
  const { body } = await development.post('/v2/workflows/asks/impact', { draft })
  // The question waits for an answer, and its mail for another attempt.
  expect(body.waiting).toMatchObject({
    ...{
      runs: 1,
      steps: [
        { stepId: 'approve', runs: 1 },
        { stepId: 'approve', runs: 1 },
      ],
    },
  })
})

describe('the token', () => {
  test('lets the draft be saved that was looked at, and no other, on that version only', async () => {
    await makeWorkflow(api, 'token', [mail()])
    const draft = await stepsAfter('token', [mail({ subject: 'Looked at' })])
    const { impactToken } = (await impact('token', draft)).body
    expect((await impact('token', { ...draft, baseVersion: 1 })).body.impactToken).toBe(impactToken)
    const other = await put('token', { ...draft, name: 'Not looked at' }, impactToken)
    expect([other.status, other.body]).toMatchObject([
      409,
      {
        code: 'impact_stale',
        message: 'The workflow or the change is not the one that was looked at; look again',
      },
    ])
    expect((await put('token', draft, impactToken)).body.name).toBe('token')
    expect((await put('token', draft, impactToken)).body).toMatchObject({ code: 'impact_stale' })
    expect((await put('token', draft)).status).toBe(200)
    const made = await api.send('PUT', '/v2/workflows/not-there?upsert=true', draft, {
      'belfry-impact-token': impactToken,
    })
    expect(made.body).toMatchObject({ code: 'impact_stale' })
  })
})

describe('refusals', () => {
  test('an unknown workflow, a draft that PUT would refuse, and a body without a draft', async () => {
    const draft = await draftOf('comments', {})
    expect((await impact('nowhere', draft)).body).toMatchObject({ statusCode: 404, code: 'workflow_not_found' })
    for (const wrong of [{ name: '' }, { steps: 'none' }, { preferences: undefined }, { payloadSchema: { type: 7 } }]) {
      const answers = await Promise.all([
        impact('comments', { ...draft, ...wrong }),
        put('comments', { ...draft, ...wrong }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([422, 422])
    }
    const layout = await impact('comments', { ...draft, steps: [mail({ layoutId: 'nowhere' })] })
    expect(layout.body).toMatchObject({ statusCode: 404, code: 'step_layout_not_found' })
    expect((await api.post('/v2/workflows/comments/impact', {})).status).toBe(422)
  })

  test('a draft needs an editor; what is published, a viewer', async () => {
    const { development, production } = await server.freshOrganization()
    const viewer = await signInAs(server, development, 'viewer')
    await makeWorkflow(development, 'own', [mail()])
    const draft = await draftOf('own', {}, development)
    const path = '/v2/workflows/own/impact'
    expect((await viewer.at(development).post(path, { draft })).body).toMatchObject({ code: 'insufficient_role' })
    const editor = await signInAs(server, development, 'editor')
    expect((await editor.at(development).post(path, { draft })).status).toBe(200)
    const published = `/v2/environments/${production.environmentId}/impact`
    expect((await viewer.at(production).post(published, {})).status).toBe(200)
    const reading = await server.keyFor(development, ['read'])
    expect((await reading.post(path, { draft })).body).toMatchObject({ code: 'insufficient_scope' })
    expect((await reading.post(published, {})).body).toMatchObject({ code: 'insufficient_scope' })
  })

  test('a protected environment may be looked at', async () => {
    const { development, production } = await server.freshOrganization()
    await makeWorkflow(production, 'kept', [mail()])
    const draft = await draftOf('kept', { name: 'Other' }, production)
    const owner = await signInAs(server, development, 'owner')
    const protection = `/v2/environments/${production.environmentId}/protection`
    expect((await owner.at(production).patch(protection, { isProtected: true })).status).toBe(200)
    expect((await owner.at(production).send('PUT', '/v2/workflows/kept', draft)).body.code).toBe('content_protected')
    expect((await owner.at(production).post('/v2/workflows/kept/impact', { draft })).status).toBe(200)
  })
})

describe('a publish', () => {
  test('is looked at workflow by workflow, with what its layouts change, and published only as it was looked at', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const at = `/v2/environments/${production.environmentId}`
    const credentials = {
      webhookUrl: 'http://127.0.0.1:9/',
      secretKey: 'secret',
      from: 'a@example.com',
      senderName: 'A',
    }
    const webhook = { providerId: 'email-webhook', channel: 'email', credentials, active: true, check: false }
    expect((await production.post('/v1/integrations', webhook)).status).toBe(201)
    await development.post('/v2/layouts', { layoutId: 'frame', name: 'Frame' })
    const frame = (text: string) =>
      development.put('/v2/layouts/frame', {
        ...{
          name: 'Frame',
          controlValues: { email: { editorType: 'html', body: `<html><body>${text}{{content}}</body></html>` } },
        },
      })
    expect((await frame('Old ')).status).toBe(200)
    await makeWorkflow(development, 'framed', [mail({ layoutId: 'frame' })])
    await makeWorkflow(development, 'plain', [mail({ layoutId: null })])
    await makeWorkflow(development, 'untouched', [mail({ layoutId: null })])
    expect((await development.post(`${at}/publish`, {})).status).toBe(200)
    await production.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    for (const name of ['framed', 'plain', 'plain', 'untouched', 'plain'])
      await trigger(production, name, 'ada', { payload: { author: 'Bo' } })
    await server.drain()

    await frame('New ')
    const change = await draftOf('plain', { steps: [mail({ layoutId: null, subject: 'Published' })] }, development)
    await development.put('/v2/workflows/plain', change)
    await makeWorkflow(development, 'fresh', [mail()])
    const { status, body, text } = await development.post(`${at}/impact`, { triggers: 5 })
    expect(status, text).toBe(200)
    expect(body.workflows.map(({ workflowId, version }: Found) => [workflowId, version])).toEqual([
      ['framed', 1],
      ['fresh', null],
      ['plain', 1],
    ])
    const [framed, fresh, plain] = body.workflows
    expect(framed.replay).toMatchObject({ triggers: 1, kinds: { content: 1 } })
    expect(framed.replay.examples[0].messages.after.html).toContain('New ')
    expect(framed.replay.examples[0].messages.before.html).toContain('Old ')
    expect(fresh.replay).toMatchObject({ triggers: 0, runs: 0 })
    // Of five triggers, the first of two workflows takes three.
    expect(plain.replay).toMatchObject({ triggers: 2, kinds: { content: 2 } })
    expect(plain.replay.examples[0].changes).toEqual([
      { stepId: 'mail', member: 'subject', before: 'A comment', after: 'Published' },
    ])

    const publishing = await server.keyFor(development, [`publish:${production.environmentId}`])
    const blind = await publishing.post(`${at}/impact`, {})
    expect(blind.body.workflows[0].replay).toMatchObject({ different: 1, examples: [] })

    const publish = (token: string, more: object = {}) =>
      development.send('POST', `${at}/publish`, more, { 'belfry-impact-token': token })
    const tokens = body.workflows.map(({ impactToken }: Found) => impactToken)
    expect((await publish(plain.impactToken)).body).toMatchObject({ statusCode: 409, code: 'impact_stale' })
    expect((await publish(tokens.join(', '), { dryRun: true })).status).toBe(200)
    await frame('Newest ')
    for (const stale of [body.impactToken, tokens.join(',')])
      expect((await publish(stale, { dryRun: true })).body).toMatchObject({ code: 'impact_stale' })
    const named = { resources: [{ resourceType: 'workflow', resourceId: 'plain' }] }
    expect((await publish(plain.impactToken, named)).status).toBe(200)
    const rest = (await development.post(`${at}/impact`, {})).body
    expect((await publish(rest.impactToken)).status).toBe(200)
    expect((await development.post(`${at}/impact`, {})).body.workflows).toEqual([])
  })

  test('of a workflow that is deleted takes everything away, also from those that wait', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await makeWorkflow(production, 'old', [inApp, delay(30), sms])
    await production.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com' })
    await trigger(production, 'old', 'ada', { payload: {} })
    await server.drain()
    const path = `/v2/environments/${production.environmentId}/impact`
    const { body } = await development.post(path, { deleteMissing: true })
    expect(body.workflows).toMatchObject([
      {
        ...{ workflowId: 'old', waiting: { runs: 1, steps: [{ stepId: 'wait', change: 'removed' }] } },
        replay: { runs: 1, kinds: { fewer: 1 } },
      },
    ])
  })
})
