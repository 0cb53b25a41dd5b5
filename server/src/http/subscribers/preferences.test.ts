import { beforeEach, describe, expect, test } from 'vitest'
import { inApp, makeWorkflow, type Step } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { addWorkflow } from '../../../test/workflows.ts'
import { deleteWorkflow } from '../../db/queries/workflows.ts'
import { completePreferences } from '../../engine/core/preferences.ts'

const server = useServer()
let api: Api
const path = (subscriberId = 'ada') => `/v2/subscribers/${subscriberId}/preferences`
const add = (identifier: string, fields: Parameters<typeof addWorkflow>[3] = {}) =>
  addWorkflow(server, api.environmentId, identifier, fields)
const critical = { preferences: { all: { readOnly: true } } }

beforeEach(async () => {
  api = await server.freshApi()
  await api.post('/v1/subscribers/bulk', { subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }] })
})

const rowsOf = (environmentId: string) =>
  server.database.db
    .selectFrom('subscriber_preferences')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('workflow_id')
    .execute()
/** Lists each workflow with its channels. */
const channelsIn = (body: any) =>
  Object.fromEntries(body.workflows.map((item: any) => [item.workflow.identifier, item.channels]))
const sourcesIn = (body: any, identifier: string) =>
  Object.fromEntries(
    body.workflows
      .find((item: any) => item.workflow.identifier === identifier)
      .overrides.map((override: any) => [override.channel, override.source]),
  )

describe('reading', () => {
  test('without workflows there are no channels', async () => {
    expect(await api.get(path())).toMatchObject({
      status: 200,
      body: { global: { enabled: true, channels: {} }, workflows: [] },
    })
  })

  test('a question counts for the channels it is asked in, and they can be switched off', async () => {
    const ask = (channels?: string[]): Step => ({
      type: 'ask',
      controlValues: { question: 'Go?', answers: [{ id: 'yes', label: 'Yes' }], amount: 1, unit: 'hours', channels },
    })
    await makeWorkflow(api, 'usual', [ask()])
    await makeWorkflow(api, 'told', [ask(['sms', 'email']), inApp()])
    const arms = [
      { name: 'Large', condition: { '==': [{ var: 'payload.n' }, 1] }, steps: [{ name: 'Ask', ...ask(['chat']) }] },
    ]
    await makeWorkflow(api, 'nested', [{ type: 'branch', controlValues: { arms } }])
    const { body } = await api.get(path())
    expect(channelsIn(body)).toEqual({
      usual: { email: true, in_app: true },
      told: { email: true, sms: true, in_app: true },
      nested: { chat: true },
    })
    await api.patch(path(), { workflowId: 'usual', channels: { email: false } })
    expect(channelsIn((await api.get(path())).body)).toMatchObject({ usual: { email: false, in_app: true } })
  })

  test('every active workflow is listed, oldest first, with the channels it has steps for', async () => {
    const id = await add('mail', { name: 'Order mail', stepTypes: ['email', 'delay', 'email'] })
    await add('all', { stepTypes: ['in_app', 'digest', 'email', 'sms', 'chat', 'push'] })
    await add('off', { active: false, stepTypes: ['chat'] })
    await add('silent', { stepTypes: ['delay', 'http_request'] })
    const { status, body } = await api.get(path())
    expect(status).toBe(200)
    expect(body.global).toEqual({
      enabled: true,
      channels: { email: true, sms: true, in_app: true, chat: true, push: true },
    })
    expect(body.workflows.map((item: any) => item.workflow.identifier)).toEqual(['mail', 'all', 'silent'])
    expect(body.workflows[0]).toEqual({
      enabled: true,
      channels: { email: true },
      overrides: [{ channel: 'email', source: 'template' }],
      workflow: {
        slug: expect.stringMatching(/^order-mail_wf_[0-9A-Za-z]{16,17}$/),
        identifier: 'mail',
        name: 'Order mail',
        updatedAt: server.clock.now().toISOString(),
      },
    })
    expect(body.workflows[2].channels).toEqual({})
    expect(id).toMatch(/^[0-9a-f]{24}$/)
  })

  test('criticality filters the workflows; by default those that a subscriber can change', async () => {
    await add('usual')
    await add('read-only', critical)
    await add('by-user', { user_preferences: { all: { readOnly: true } } })
    await add('marked', { critical: true, stepTypes: ['sms'] })
    const listed = async (query: string) => Object.keys(channelsIn((await api.get(`${path()}${query}`)).body))
    expect(await listed('')).toEqual(['usual'])
    expect(await listed('?criticality=nonCritical')).toEqual(['usual'])
    expect(await listed('?criticality=critical')).toEqual(['read-only', 'by-user', 'marked'])
    expect(await listed('?criticality=all')).toHaveLength(4)
    expect((await api.get(path())).body.global.channels).toEqual({ email: true, sms: true, in_app: true })
    expect(await api.get(`${path()}?criticality=urgent`)).toMatchObject({
      status: 422,
      body: {
        errors: {
          general: { messages: ['criticality must be one of the following values: critical, nonCritical, all'] },
        },
      },
    })
  })

  test('overrides name the layer that decided', async () => {
    const stepTypes = ['email', 'sms', 'in_app', 'chat']
    await add('layers', {
      stepTypes,
      preferences: { channels: { sms: { enabled: false } } },
      user_preferences: { channels: { in_app: { enabled: false } } },
    })
    await api.patch(path(), { channels: { chat: false } })
    await api.patch(path(), { workflowId: 'layers', channels: { email: false } })
    const { body } = await api.get(path())
    expect(channelsIn(body)).toEqual({ layers: { email: false, sms: false, in_app: false, chat: false } })
    expect(sourcesIn(body, 'layers')).toEqual({
      email: 'subscriber',
      sms: 'template',
      in_app: 'workflowOverride',
      chat: 'subscriber',
    })
  })

  test('a critical workflow shows its own setting, not an earlier choice of the subscriber', async () => {
    const id = await add('later-critical')
    await api.patch(path(), { workflowId: 'later-critical', channels: { email: false } })
    await server.database.db
      .updateTable('workflows')
      .set({ preferences: JSON.stringify(completePreferences({ all: { readOnly: true } })) })
      .where('id', '=', id)
      .execute()
    const { body } = await api.get(`${path()}?criticality=all`)
    expect(channelsIn(body)['later-critical']).toEqual({ email: true, in_app: true })
    expect(sourcesIn(body, 'later-critical')).toEqual({ email: 'template', in_app: 'template' })
  })

  test('an unknown subscriber, or one of another environment, is not found', async () => {
    const other = await server.freshApi()
    for (const asked of [await api.get(path('nobody')), await other.get(path())])
      expect(asked).toMatchObject({
        status: 404,
        body: { message: expect.stringMatching(/^Subscriber: \w+ was not found$/) },
      })
  })
})

describe('changing', () => {
  test('for one workflow, by identifier, id or slug, only the named channels change', async () => {
    const id = await add('news', { stepTypes: ['email', 'sms', 'in_app'] })
    await add('other')
    server.clock.advance({ minutes: 1 })
    const answer = await api.patch(path(), { workflowId: 'news', channels: { email: false, push: false } })
    expect(answer.status).toBe(200)
    expect(channelsIn(answer.body)).toEqual({
      news: { email: false, sms: true, in_app: true },
      other: { email: true, in_app: true },
    })
    expect(answer.body.workflows[0].updatedAt).toBe(server.clock.now().toISOString())
    expect(answer.body.workflows[1]).not.toHaveProperty('updatedAt')
    expect(answer.body.global.channels).toEqual({ email: true, sms: true, in_app: true })

    expect((await api.patch(path(), { workflowId: id, channels: { sms: false } })).status).toBe(200)
    const { slug } = answer.body.workflows[0].workflow
    const bySlug = await api.patch(path(), { workflowId: slug, channels: { email: true } })
    expect(channelsIn(bySlug.body).news).toEqual({ email: true, sms: false, in_app: true })
    expect(channelsIn((await api.get(path('bob'))).body).news).toEqual({ email: true, sms: true, in_app: true })
  })

  test('an identifier that looks like an id counts as the identifier', async () => {
    const id = await add('first')
    await add(id)
    const { body } = await api.patch(path(), { workflowId: id, channels: { email: false } })
    expect(channelsIn(body)).toEqual({ first: { email: true, in_app: true }, [id]: { email: false, in_app: true } })
  })

  test('a global choice removes the channel from every per-workflow choice, so that it applies everywhere', async () => {
    for (const name of ['a', 'b']) await add(name)
    await api.patch(path(), { workflowId: 'a', channels: { email: true } })
    await api.patch(path(), { workflowId: 'b', channels: { email: false, in_app: false } })
    await api.patch(path('bob'), { workflowId: 'a', channels: { email: true } })

    const off = await api.patch(path(), { channels: { email: false } })
    expect(off.body.global.channels).toEqual({ email: false, in_app: true })
    expect(channelsIn(off.body)).toEqual({ a: { email: false, in_app: true }, b: { email: false, in_app: false } })
    expect(off.body.workflows[0]).not.toHaveProperty('updatedAt')
    expect(off.body.workflows[1]).toHaveProperty('updatedAt')
    expect(sourcesIn(off.body, 'a')).toEqual({ email: 'subscriber', in_app: 'template' })
    const onAgain = await api.patch(path(), { channels: { email: true } })
    expect(channelsIn(onAgain.body)).toEqual({ a: { email: true, in_app: true }, b: { email: true, in_app: false } })
    expect(sourcesIn((await api.get(path('bob'))).body, 'a').email).toBe('subscriber')

    const exception = await api.patch(path(), { workflowId: 'a', channels: { email: false } })
    expect(channelsIn(exception.body).a.email).toBe(false)
  })

  test('a subscriber can enable a channel that the workflow disables', async () => {
    await add('quiet', { preferences: completePreferences({ all: { enabled: false } }) as never })
    expect(channelsIn((await api.get(path())).body).quiet).toEqual({ email: false, in_app: false })
    const { body } = await api.patch(path(), { workflowId: 'quiet', channels: { in_app: true } })
    expect(channelsIn(body).quiet).toEqual({ email: false, in_app: true })
  })

  test('an empty body changes nothing', async () => {
    await add('news')
    for (const body of [undefined, {}, { channels: {} }, { workflowId: 'news' }, { channels: { fax: true } }])
      expect((await api.patch(path(), body)).status).toBe(200)
    expect(await rowsOf(api.environmentId)).toEqual([])
  })

  test('each set of contexts has its own preferences', async () => {
    await add('news')
    const context = { tenant: 'acme', app: { id: 'jira', data: { a: 1 } } }
    const inContext = await api.patch(path(), { workflowId: 'news', channels: { email: false }, context })
    expect(channelsIn(inContext.body).news.email).toBe(false)
    await api.patch(path(), { channels: { in_app: false }, context: { tenant: 'acme' } })
    const email = async (query: string) => channelsIn((await api.get(`${path()}${query}`)).body).news
    expect(await email('')).toEqual({ email: true, in_app: true })
    expect(await email('?contextKeys=')).toEqual({ email: true, in_app: true })
    expect(await email('?contextKeys=tenant:acme&contextKeys=app:jira')).toEqual({ email: false, in_app: true })
    expect(await email('?contextKeys=app:jira&contextKeys=tenant:acme')).toEqual({ email: false, in_app: true })
    expect(await email('?contextKeys=tenant:acme')).toEqual({ email: true, in_app: false })
    expect((await api.get('/v2/contexts/app/jira')).body.data).toEqual({ a: 1 })
    // A global choice, but only in its own contexts.
    await api.patch(path(), { channels: { email: true } })
    expect(await email('?contextKeys=tenant:acme&contextKeys=app:jira')).toEqual({ email: false, in_app: true })
  })

  test.each([
    [{ channels: { email: 'yes' } }, 'channels.email must be a boolean value'],
    [{ channels: [] }, 'channels must be an object'],
    [{ workflowId: '' }, 'workflowId should not be empty'],
    [{ workflowId: 7 }, 'workflowId must be a string'],
    [{ workflowId: 'x'.repeat(256) }, 'workflowId must be shorter than or equal to 255 characters'],
  ])('%j is refused', async (body, message) => {
    const answer = await api.patch(path(), body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('too many contexts, or an empty one, are refused', async () => {
    const six = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((type) => [type, 'x']))
    expect(await api.patch(path(), { context: six })).toMatchObject({
      status: 422,
      body: { message: 'Too many contexts: 6 provided, maximum allowed is 5' },
    })
    expect((await api.patch(path(), { context: {} })).status).toBe(422)
  })

  test('an unknown workflow or subscriber is not found, and nothing changes', async () => {
    const other = await server.freshApi()
    const theirs = await addWorkflow(server, other.environmentId, 'theirs')
    await add('news')
    for (const workflowId of ['nothing', theirs, 'theirs'])
      expect(
        await api.patch(path(), { workflowId, channels: { email: false }, context: { tenant: 'new' } }),
      ).toMatchObject({
        status: 404,
        body: { message: `Workflow with id: ${workflowId} is not found`, code: 'preference_workflows_not_found' },
      })
    expect(await api.patch(path('nobody'), { channels: { email: false } })).toMatchObject({
      status: 404,
      body: { message: 'Subscriber: nobody was not found' },
    })
    expect(await rowsOf(api.environmentId)).toEqual([])
    expect((await api.get('/v2/contexts/tenant/new')).status).toBe(404)
  })

  test.each([
    ['by its default', critical],
    ['by a user', { user_preferences: { all: { readOnly: true } } }],
    ['by its mark', { critical: true }],
  ])('a workflow that is critical %s cannot be changed', async (_, fields) => {
    await add('alarm', fields)
    expect(await api.patch(path(), { workflowId: 'alarm', channels: { email: false } })).toMatchObject({
      status: 400,
      body: { message: 'Critical workflow with id: alarm can not be updated' },
    })
    expect(await rowsOf(api.environmentId)).toEqual([])
  })
})

describe('the schedule', () => {
  const schedule = {
    isEnabled: true,
    weeklySchedule: {
      monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] },
      saturday: { isEnabled: false },
    },
  }

  test('is stored as sent, independently of the channels', async () => {
    await add('news')
    expect((await api.get(path())).body.global).not.toHaveProperty('schedule')
    await api.patch(path(), { channels: { email: false } })
    const answer = await api.patch(path(), { schedule })
    expect(answer.body.global).toEqual({ enabled: true, channels: { email: false, in_app: true }, schedule })
    await api.patch(path(), { channels: { in_app: false } })
    expect((await api.get(path())).body.global.schedule).toEqual(schedule)
    const off = await api.patch(path(), { schedule: { isEnabled: false } })
    expect(off.body.global.schedule).toEqual({ isEnabled: false })
    expect((await api.get(`${path()}?contextKeys=a:b`)).body.global).not.toHaveProperty('schedule')
  })

  test('is global, even in a request that names a workflow', async () => {
    await add('news')
    const { body } = await api.patch(path(), { workflowId: 'news', channels: { email: false }, schedule })
    expect(body.global).toEqual({ enabled: true, channels: { email: true, in_app: true }, schedule })
    expect(channelsIn(body).news.email).toBe(false)
  })

  test('drops unknown days while it is disabled', async () => {
    const { body } = await api.patch(path(), {
      schedule: { isEnabled: false, weeklySchedule: { ...schedule.weeklySchedule, funday: { isEnabled: true } } },
    })
    expect(body.global.schedule).toEqual({ ...schedule, isEnabled: false })
    expect((await api.patch(path(), { schedule: { isEnabled: false, weeklySchedule: {} } })).status).toBe(200)
    expect((await api.patch(path(), { schedule: { isEnabled: true } })).status).toBe(200)
  })

  test.each([
    [{}, 'schedule.isEnabled should not be null or undefined'],
    [{ isEnabled: 'yes' }, 'schedule.isEnabled must be a boolean value'],
    [{ isEnabled: true, weeklySchedule: [] }, 'schedule.weeklySchedule must be an object'],
    [
      { isEnabled: true, weeklySchedule: {} },
      'schedule.weeklySchedule must have at least one day while schedule.isEnabled is true',
    ],
    [
      { isEnabled: true, weeklySchedule: { funday: { isEnabled: true } } },
      'schedule.weeklySchedule.funday is not a day of the week',
    ],
    [
      { isEnabled: true, weeklySchedule: { monday: {} } },
      'schedule.weeklySchedule.monday.isEnabled should not be null or undefined',
    ],
    [
      { isEnabled: true, weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '09:00 AM' }] } } },
      'schedule.weeklySchedule.monday.hours.0.end should not be empty',
    ],
    ...['25:00', '13:00 PM', '09:60 AM', '00:30 AM', '9 AM', 'noon'].map((start): [object, string] => [
      { isEnabled: true, weeklySchedule: { monday: { isEnabled: true, hours: [{ start, end: '05:00 PM' }] } } },
      'schedule.weeklySchedule.monday.hours.0.start must be a time such as 09:00 AM',
    ]),
  ])('%j is refused', async (given, message) => {
    const answer = await api.patch(path(), { schedule: given })
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toEqual([message])
  })
})

describe('in bulk', () => {
  const bulk = `${path()}/bulk`

  test('changes many workflows at once, answered in order', async () => {
    const id = await add('a', { tags: ['x'], data: { team: 'red' }, severity: 'high' })
    await add('b')
    const answer = await api.patch(bulk, {
      preferences: [
        { workflowId: 'b', channels: { email: false } },
        { workflowId: id, channels: { in_app: false } },
        { workflowId: 'a', channels: { email: false } },
        { workflowId: 'a', channels: { email: true } },
      ],
    })
    expect(answer.status).toBe(200)
    const a = {
      level: 'template',
      workflow: {
        id,
        identifier: 'a',
        name: 'a',
        critical: false,
        tags: ['x'],
        data: { team: 'red' },
        severity: 'high',
      },
      enabled: true,
      channels: { email: true, in_app: false },
    }
    expect(answer.body).toEqual([expect.objectContaining({ channels: { email: false, in_app: true } }), a, a, a])
    expect(channelsIn((await api.get(path())).body)).toEqual({
      a: { email: true, in_app: false },
      b: { email: false, in_app: true },
    })
  })

  test('in a context changes only that context', async () => {
    await add('a')
    const preferences = [{ workflowId: 'a', channels: { email: false } }]
    expect((await api.patch(bulk, { preferences, context: { tenant: 'acme' } })).body[0].channels.email).toBe(false)
    expect(channelsIn((await api.get(path())).body).a.email).toBe(true)
  })

  test('changes nothing if one workflow is unknown or critical', async () => {
    await add('a')
    await add('alarm', critical)
    await add('siren', critical)
    const of = (...names: string[]) => ({
      preferences: names.map((workflowId) => ({ workflowId, channels: { email: false } })),
    })
    expect(await api.patch(bulk, of('a', 'x', 'y', 'x'))).toMatchObject({
      status: 404,
      body: { message: 'Workflows with ids: x, y are not found' },
    })
    expect(await api.patch(bulk, of('a', 'alarm'))).toMatchObject({
      status: 400,
      body: { message: 'Critical workflow with id: alarm can not be updated' },
    })
    expect(await api.patch(bulk, of('alarm', 'siren'))).toMatchObject({
      status: 400,
      body: { message: 'Critical workflows with ids: alarm, siren can not be updated' },
    })
    expect(await api.patch(`${path('nobody')}/bulk`, of('a'))).toMatchObject({ status: 404 })
    expect(await rowsOf(api.environmentId)).toEqual([])
  })

  test('refuses an empty list, more than 100, and incomplete items', async () => {
    expect(await api.patch(bulk, { preferences: [] })).toMatchObject({
      status: 400,
      body: { message: 'Send at least one preference to update' },
    })
    const refusals = async (body: object) => (await api.patch(bulk, body)).body.errors.general.messages
    const one = { workflowId: 'a', channels: {} }
    expect(await refusals({ preferences: Array(101).fill(one) })).toEqual([
      'preferences must contain no more than 100 elements',
    ])
    expect(await refusals({})).toEqual(['preferences should not be null or undefined'])
    expect(await refusals({ preferences: [{ workflowId: 'a' }] })).toEqual([
      'preferences.0.channels should not be null or undefined',
    ])
    expect(await refusals({ preferences: [{ channels: {} }] })).toEqual([
      'preferences.0.workflowId should not be empty',
    ])
  })
})

describe('concurrent requests', () => {
  test('that make first choices for one workflow lose none', async () => {
    await add('news', { stepTypes: ['email', 'sms', 'in_app', 'chat', 'push'] })
    const channels = ['email', 'sms', 'in_app', 'chat', 'push']
    const answers = await Promise.all(
      channels.flatMap((channel) => [
        api.patch(path(), { workflowId: 'news', channels: { [channel]: false } }),
        api.patch(path('bob'), { channels: { [channel]: false } }),
      ]),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const none = Object.fromEntries(channels.map((channel) => [channel, false]))
    expect(channelsIn((await api.get(path())).body).news).toEqual(none)
    expect((await api.get(path('bob'))).body.global.channels).toEqual(none)
    expect(await rowsOf(api.environmentId)).toHaveLength(2)
  })

  test('for a global and a per-workflow choice end as if made one after the other', async () => {
    await add('news')
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        api.patch(path(), { channels: { email: false } }),
        api.patch(path(), { workflowId: 'news', channels: { email: true } }),
        api.patch(path(), { workflowId: 'news', channels: { email: true } }),
      ])
      const rows = await rowsOf(api.environmentId)
      const [ofWorkflow, general] = [rows.find((row) => row.workflow_id), rows.find((row) => !row.workflow_id)]
      expect(general?.channels).toEqual({ email: false })
      // Either the per-workflow choice came last and stands, or the global one removed it completely.
      expect([undefined, { email: true }]).toContainEqual(ofWorkflow?.channels)
    }
  })

  test('with a deletion of the subscriber or workflow leave nothing behind', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await add('gone')
      await Promise.all([
        api.patch(path(), { workflowId: 'gone', channels: { email: false } }),
        api.patch(path('bob'), { channels: { email: false } }),
        api.delete('/v2/subscribers/bob'),
        server.database.db.transaction().execute((tx) => deleteWorkflow(tx, api.environmentId, id, server.clock.now())),
      ])
      expect(await rowsOf(api.environmentId)).toEqual([])
      await api.post('/v2/subscribers', { subscriberId: 'bob' })
    }
  })
})

test('deleting a subscriber removes its preferences, and only its own', async () => {
  await add('news')
  for (const subscriberId of ['ada', 'bob']) {
    await api.patch(path(subscriberId), { workflowId: 'news', channels: { email: false } })
    await api.patch(path(subscriberId), { channels: { in_app: false }, context: { tenant: 'acme' } })
  }
  await api.delete('/v2/subscribers/ada')
  expect(await rowsOf(api.environmentId)).toHaveLength(2)
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  expect(channelsIn((await api.get(path())).body).news.email).toBe(true)
})
