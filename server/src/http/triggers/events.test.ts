import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { inApp, makeWorkflow, messagesOf, runOf, runsOf, trigger } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'

const server = useServer()

const delay = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'hours' } }

async function freshApi(): Promise<Api> {
  const api = await server.freshApi()
  await makeWorkflow(api, 'hello', [inApp()])
  return api
}

/** How many triggers an environment has stored. */
async function accepted({ environmentId }: Api): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM events WHERE environment_id = ${environmentId}`.execute(server.database.db)
  return rows[0]?.count ?? 0
}

const toText =
  'to must be a non-empty subscriberId string, an object with a non-empty subscriberId, a topic object with a non-empty topicKey, or a non-empty array of those'

describe('a trigger', () => {
  test('is answered with a transaction id and a link to its activity', async () => {
    const api = await freshApi()
    const answer = await api.post('/v1/events/trigger', { name: 'hello', to: 'ada' })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      acknowledged: true,
      status: 'processed',
      transactionId: expect.stringMatching(/^txn_[0-9a-f]{24}$/),
      activityFeedLink: expect.stringMatching(/^http:\/\/.+\/activity\?transactionId=txn_[0-9a-f]{24}$/),
    })
    const named = await api.post('/v1/events/trigger', { name: 'hello', to: 'ada', transactionId: 'order 7&8' })
    expect(named.body.activityFeedLink).toMatch(/\/activity\?transactionId=order%207%268$/)
  })

  test('keeps its transaction id; an empty one counts as none', async () => {
    const api = await freshApi()
    expect(await trigger(api, 'hello', 'ada', { transactionId: 'mine' })).toBe('mine')
    expect(await trigger(api, 'hello', 'ada', { transactionId: '' })).toMatch(/^txn_/)
  })

  test('is committed when it is answered', async () => {
    const api = await freshApi()
    await trigger(api, 'hello', 'ada')
    expect(await accepted(api)).toBe(1)
  })

  test.each([
    ['without a name', { to: 'ada' }, 'name should not be empty'],
    ['with a name that is none', { name: 7, to: 'ada' }, 'name must be a string'],
    ['without recipients', { name: 'hello' }, toText],
    ['with an empty recipient', { name: 'hello', to: '' }, toText],
    ['with a blank recipient', { name: 'hello', to: '  ' }, toText],
    ['with no recipients at all', { name: 'hello', to: [] }, toText],
    ['with nobody', { name: 'hello', to: null }, toText],
    ['with only nobody', { name: 'hello', to: [null] }, toText],
    ['with a number', { name: 'hello', to: 7 }, toText],
    ['with an object that names nobody', { name: 'hello', to: [{ email: 'a@b.c' }] }, toText],
    ['with an empty id in an object', { name: 'hello', to: { subscriberId: '' } }, toText],
    ['with a list in a list', { name: 'hello', to: [['ada']] }, toText],
    ['with a topic without a key', { name: 'hello', to: { type: 'Topic' } }, toText],
    ['with an empty topic key', { name: 'hello', to: { type: 'Topic', topicKey: '' } }, toText],
    [
      'with exclusions that are no list',
      { name: 'hello', to: { type: 'Topic', topicKey: 't', exclude: 'ada' } },
      'to.exclude must be an array of subscriber ids',
    ],
    [
      'with too many exclusions',
      { name: 'hello', to: { type: 'Topic', topicKey: 't', exclude: Array.from({ length: 101 }, (_, n) => `s${n}`) } },
      'to.exclude must contain no more than 100 elements',
    ],
    [
      'with 101 recipients',
      { name: 'hello', to: Array.from({ length: 101 }, (_, n) => `s${n}`) },
      'to must contain no more than 100 elements',
    ],
    [
      'with a name that is a number',
      { name: 'hello', to: { subscriberId: 'a', firstName: 7 } },
      'to.firstName must be a string',
    ],
    ['with data that is a list', { name: 'hello', to: { subscriberId: 'a', data: [] } }, 'to.data must be an object'],
    [
      'with channels that are no list',
      { name: 'hello', to: { subscriberId: 'a', channels: {} } },
      'to.channels must be an array',
    ],
    [
      'with a channel without a provider',
      { name: 'hello', to: { subscriberId: 'a', channels: [{ credentials: {} }] } },
      'to.channels.0.providerId must be a string',
    ],
    [
      'with tokens that are no texts',
      {
        name: 'hello',
        to: { subscriberId: 'a', channels: [{ providerId: 'fcm', credentials: { deviceTokens: [7] } }] },
      },
      'each value in to.channels.0.credentials.deviceTokens must be a string',
    ],
    ['with a payload that is a list', { name: 'hello', to: 'ada', payload: [] }, 'payload must be an object'],
    ['with a payload that is a text', { name: 'hello', to: 'ada', payload: 'x' }, 'payload must be an object'],
    ['with overrides that are a text', { name: 'hello', to: 'ada', overrides: 'x' }, 'overrides must be an object'],
    [
      'with a number as transaction id',
      { name: 'hello', to: 'ada', transactionId: 7 },
      'transactionId must be a string',
    ],
    [
      'with a transaction id that is too long',
      { name: 'hello', to: 'ada', transactionId: 'x'.repeat(256) },
      'transactionId must be shorter than or equal to 255 characters',
    ],
    [
      'with an actor that is none',
      { name: 'hello', to: 'ada', actor: 7 },
      'actor must be a subscriber id or an object with a subscriberId',
    ],
    [
      'with an actor without id',
      { name: 'hello', to: 'ada', actor: { firstName: 'A' } },
      'actor must be a subscriber id or an object with a subscriberId',
    ],
    [
      'with an actor whose id cannot be one',
      { name: 'hello', to: 'ada', actor: 'a b' },
      'actor must be a subscriber id or an object with a subscriberId',
    ],
    [
      'with an actor whose id is too long',
      { name: 'hello', to: 'ada', actor: { subscriberId: 'x'.repeat(256) } },
      'actor must be a subscriber id or an object with a subscriberId',
    ],
    [
      'with a tenant that is none',
      { name: 'hello', to: 'ada', tenant: [] },
      'tenant must be an identifier or an object with an identifier',
    ],
    [
      'with a tenant without identifier',
      { name: 'hello', to: 'ada', tenant: { name: 'A' } },
      'tenant must be an identifier or an object with an identifier',
    ],
    [
      'with a tenant whose name is a number',
      { name: 'hello', to: 'ada', tenant: { identifier: 'a', name: 7 } },
      'tenant.name must be a string',
    ],
    [
      'with a tenant whose data is a text',
      { name: 'hello', to: 'ada', tenant: { identifier: 'a', data: 'x' } },
      'tenant.data must be an object',
    ],
  ])('%s is refused', async (_, body, message) => {
    const api = await freshApi()
    const answer = await api.post('/v1/events/trigger', body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
    expect(await accepted(api)).toBe(0)
  })

  const contextText = /Invalid context payload structure/
  test.each([
    ['no contexts', {}, contextText],
    ['a list', [], contextText],
    ['a type with a dot', { 'a.b': 'x' }, contextText],
    ['an id with a space', { tenant: 'a b' }, contextText],
    ['an empty id', { tenant: '' }, contextText],
    ['an id of 101 characters', { tenant: 'x'.repeat(101) }, contextText],
    ['an object without id', { tenant: { data: {} } }, contextText],
    ['data that is a list', { tenant: { id: 'a', data: [] } }, contextText],
    [
      'six contexts',
      { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' },
      /Too many contexts: 6 provided, maximum allowed is 5/,
    ],
    ['65 KB of data', { tenant: { id: 'a', data: { text: 'x'.repeat(65 * 1024) } } }, /Data is too large/],
  ])('with %s as context is refused', async (_, context, message) => {
    const api = await freshApi()
    const answer = await api.post('/v1/events/trigger', { name: 'hello', to: 'ada', context })
    expect(answer.status).toBe(422)
    expect(answer.text).toMatch(message)
    expect(await accepted(api)).toBe(0)
  })

  test('of a workflow that does not exist, or belongs to another environment, is refused', async () => {
    const api = await server.freshApi()
    await freshApi()
    const answer = await api.post('/v1/events/trigger', { name: 'hello', to: 'ada' })
    expect(answer).toMatchObject({
      status: 422,
      body: { statusCode: 422, message: 'workflow_not_found', error: 'Unprocessable Entity' },
    })
  })

  test('with an invalid payload gets all problems listed; a valid one gets the schema defaults', async () => {
    const api = await server.freshApi()
    const payloadSchema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'number' }, plan: { type: 'string', default: 'free' } },
      required: ['name', 'age'],
    }
    await makeWorkflow(api, 'strict', [inApp('{{payload.name}} {{payload.plan}}')], {
      payloadSchema,
      validatePayload: true,
    })
    const refused = await api.post('/v1/events/trigger', { name: 'strict', to: 'ada', payload: { name: 7 } })
    expect(refused).toMatchObject({
      status: 400,
      body: { type: 'PAYLOAD_VALIDATION_ERROR', message: expect.stringMatching(/^Payload validation failed: /) },
    })
    expect(refused.body.errors).toHaveLength(2)
    expect(await accepted(api)).toBe(0)
    await trigger(api, 'strict', 'ada', { payload: { name: 'A', age: 1 } })
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'A free' }])
  })

  test('with the documented example of a bad payload gets both problems and the schema', async () => {
    const api = await server.freshApi()
    const schema = {
      type: 'object',
      properties: { orderId: { type: 'string' }, total: { type: 'number', default: 0 } },
      required: ['orderId'],
    }
    await makeWorkflow(api, 'order-shipped', [inApp()], { payloadSchema: schema, validatePayload: true })
    const payload = { total: 'x' }
    const answer = await api.post('/v1/events/trigger', { name: 'order-shipped', to: 'ada', payload })
    const errors = [
      {
        field: 'root.orderId',
        message: "must have required property 'orderId'",
        value: payload,
        schemaPath: '#/required',
      },
      { field: 'total', message: 'must be number', value: 'x', schemaPath: '#/properties/total/type' },
    ]
    expect(answer).toMatchObject({
      status: 400,
      body: {
        statusCode: 400,
        timestamp: server.clock.now().toISOString(),
        path: '/v1/events/trigger',
        message:
          "Payload validation failed: root.orderId: must have required property 'orderId'; total: must be number",
        type: 'PAYLOAD_VALIDATION_ERROR',
        errors,
        schema,
      },
    })
    expect(answer.body.ctx).toBeDefined()
    await api.patch('/v2/workflows/order-shipped', { validatePayload: false })
    await trigger(api, 'order-shipped', 'ada', { payload })
  })

  test('of a workflow with issues is accepted; only an inactive one is not', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'in-error', [inApp('Hello {{name}}!')])
    expect((await api.get('/v2/workflows/in-error')).body.status).toBe('ERROR')
    await trigger(api, 'in-error', 'ada')
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([{ content: 'Hello !' }])
  })

  test.each([['acme'], [{ identifier: 'acme', name: 'Acme' }]])(
    'for the unknown tenant %j runs nothing',
    async (tenant) => {
      const api = await freshApi()
      const answer = await api.post('/v1/events/trigger', { name: 'hello', to: 'ada', tenant, transactionId: 'txn' })
      expect(answer).toMatchObject({ status: 201 })
      expect(answer.body).toEqual({ acknowledged: true, status: 'no_tenant_found', transactionId: 'txn' })
      expect(await accepted(api)).toBe(0)
      expect((await api.get('/v1/tenants/acme')).status).toBe(404)
    },
  )

  test('of a workflow that is inactive, or without active steps, says so and runs nothing', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'asleep', [inApp()], { active: false })
    await makeWorkflow(api, 'empty', [])
    await makeWorkflow(api, 'off', [{ ...inApp(), active: false }])
    const statusOf = async (name: string) => (await api.post('/v1/events/trigger', { name, to: 'ada' })).body.status
    expect(await statusOf('asleep')).toBe('trigger_not_active')
    expect(await statusOf('empty')).toBe('no_workflow_steps_defined')
    expect(await statusOf('off')).toBe('no_workflow_active_steps_defined')
    expect(await accepted(api)).toBe(0)
  })

  test('is checked in order: schema, tenant, active, steps, recipients', async () => {
    const api = await server.freshApi()
    const payloadSchema = { type: 'object', properties: {}, required: ['name'] }
    await makeWorkflow(api, 'all-wrong', [], { active: false, payloadSchema, validatePayload: true })
    const send = async (more: object) => {
      const answer = await api.post('/v1/events/trigger', { name: 'all-wrong', to: 'not valid!', ...more })
      return answer.body.status ?? answer.body.type
    }
    expect(await send({ tenant: 'nobody' })).toBe('PAYLOAD_VALIDATION_ERROR')
    expect(await send({ tenant: 'nobody', payload: { name: 'x' } })).toBe('no_tenant_found')
    expect(await send({ payload: { name: 'x' } })).toBe('trigger_not_active')
  })

  test('sees a change of its workflow at once', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'switched', [inApp()])
    const statusOf = async () => (await api.post('/v1/events/trigger', { name: 'switched', to: 'ada' })).body.status
    expect(await statusOf()).toBe('processed')
    expect((await api.patch('/v2/workflows/switched', { active: false })).status).toBe(200)
    expect(await statusOf()).toBe('trigger_not_active')
    await api.patch('/v2/workflows/switched', { active: true })
    expect(await statusOf()).toBe('processed')
    expect((await api.delete('/v2/workflows/switched')).status).toBe(204)
    expect((await api.post('/v1/events/trigger', { name: 'switched', to: 'ada' })).status).toBe(422)
  })

  test('sees a change that another process just made', async () => {
    const api = await freshApi()
    const another = await server.startAnother()
    const other = new Api(another.url, api.key, api.environmentId, api.organizationId)
    const statusOf = async () => (await other.post('/v1/events/trigger', { name: 'hello', to: 'ada' })).body.status
    expect(await statusOf()).toBe('processed')
    for (let round = 0; round < 10; round += 1) {
      await api.patch('/v2/workflows/hello', { active: false })
      expect(await statusOf()).toBe('trigger_not_active')
      await api.patch('/v2/workflows/hello', { active: true })
      expect(await statusOf()).toBe('processed')
    }
  })

  test.each([
    ['a single id', 'not valid!'],
    ['a single object', { subscriberId: 'not valid!' }],
    ['a topic key', { type: 'Topic', topicKey: 'no spaces' }],
    ['a whole list', ['a b', { subscriberId: 'c/d' }]],
    ['an id that is too long', 'x'.repeat(256)],
  ])('to %s that is invalid says invalid_recipients', async (_, to) => {
    const api = await freshApi()
    const answer = await api.post('/v1/events/trigger', { name: 'hello', to })
    expect(answer).toMatchObject({ status: 201, body: { acknowledged: true, status: 'invalid_recipients' } })
    expect(await accepted(api)).toBe(0)
  })

  test('drops recipients with an invalid id among valid ones', async () => {
    const api = await freshApi()
    const transactionId = await trigger(api, 'hello', ['a b', null, 'ada', ' bob ', 'a@b.co', 'c_d:e.f-1'])
    await server.drain()
    const runs = await runsOf(api, transactionId)
    expect(runs.map((run) => run.subscriber.subscriberId).sort()).toEqual(['a@b.co', 'ada', 'bob', 'c_d:e.f-1'])
  })

  test('with 100 recipients is accepted', async () => {
    const api = await freshApi()
    await trigger(
      api,
      'hello',
      Array.from({ length: 100 }, (_, n) => `s${n}`),
    )
    await server.drain()
    const { rows } = await sql`SELECT FROM messages WHERE environment_id = ${api.environmentId}`.execute(
      server.database.db,
    )
    expect(rows).toHaveLength(100)
  })

  test('accepts half a megabyte of payload, plus attachments', async () => {
    const api = await freshApi()
    const limit = 512 * 1024
    const fill = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
    await trigger(api, 'hello', 'ada', { payload: fill(limit) })
    const file = Buffer.alloc(1024 * 1024, 1).toString('base64')
    await trigger(api, 'hello', 'ada', { payload: { ...fill(limit), attachments: [{ file, mime: 'a/b' }] } })
    const refused = await api.post('/v1/events/trigger', { name: 'hello', to: 'ada', payload: fill(limit + 1) })
    expect(refused).toMatchObject({
      status: 413,
      body: { message: expect.stringContaining(`${limit + 1} bytes; at most ${limit}`) },
    })
    const bulk = await api.post('/v1/events/trigger/bulk', {
      events: [
        { name: 'hello', to: 'ada' },
        { name: 'hello', to: 'ada', payload: fill(limit + 1) },
      ],
    })
    expect(bulk).toMatchObject({ status: 413, body: { message: expect.stringContaining('event 1') } })
    expect(await accepted(api)).toBe(2)
  })

  test('stores attachments outside the payload', async () => {
    const api = await freshApi()
    const attachments = [
      { file: Buffer.from('one').toString('base64'), name: 'one.txt', mime: 'text/plain', channels: ['email'] },
      { file: [...Buffer.from('two')], mime: 'text/plain' },
      { file: { type: 'Buffer', data: [...Buffer.from('three')] }, name: 'three' },
    ]
    const transactionId = await trigger(api, 'hello', 'ada', { payload: { attachments, kept: 1 } })
    await server.drain()
    const { rows } = await sql<{ name: string; mime: string; content: Buffer }>`
      SELECT name, mime, content FROM attachments WHERE environment_id = ${api.environmentId} ORDER BY position`.execute(
      server.database.db,
    )
    expect(rows.map(({ name, mime, content }) => [name, mime, content.toString()])).toEqual([
      ['one.txt', 'text/plain', 'one'],
      ['attachment-2', 'text/plain', 'two'],
      ['three', 'application/octet-stream', 'three'],
    ])
    const { payload } = (await api.get(`/v1/notifications/${(await runOf(api, transactionId))._id}`)).body
    expect(payload.kept).toBe(1)
    expect(JSON.stringify(payload)).not.toContain(attachments[0]?.file)
  })

  test('ignores unknown members', async () => {
    const api = await freshApi()
    await trigger(api, 'hello', 'ada', { controls: {}, extra: 1 })
  })
})

describe('a bulk', () => {
  test('is answered in order; a failing trigger does not affect the others', async () => {
    const api = await freshApi()
    await makeWorkflow(api, 'asleep', [inApp()], { active: false })
    const payloadSchema = { type: 'object', properties: {}, required: ['name'] }
    await makeWorkflow(api, 'strict', [inApp()], { payloadSchema, validatePayload: true })
    const answer = await api.post('/v1/events/trigger/bulk', {
      events: [
        { name: 'hello', to: 'ada', transactionId: 'one' },
        { name: 'nothing', to: 'ada', transactionId: 'two' },
        { name: 'nothing', to: 'ada' },
        { name: 'asleep', to: 'ada', transactionId: 'four' },
        { name: 'strict', to: 'ada', transactionId: 'five' },
        { name: 'hello', to: 'bob', transactionId: 'six' },
      ],
    })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual([
      { acknowledged: true, status: 'processed', transactionId: 'one', activityFeedLink: expect.any(String) },
      { acknowledged: true, status: 'error', error: ['workflow_not_found'], transactionId: 'two' },
      { acknowledged: true, status: 'error', error: ['workflow_not_found'] },
      { acknowledged: true, status: 'trigger_not_active', transactionId: 'four' },
      {
        acknowledged: true,
        status: 'error',
        error: [expect.stringMatching(/^Payload validation failed/)],
        transactionId: 'five',
      },
      { acknowledged: true, status: 'processed', transactionId: 'six', activityFeedLink: expect.any(String) },
    ])
    await server.drain()
    expect(await messagesOf(api, 'channel=in_app')).toHaveLength(2)
  })

  test('with the same transaction id twice runs it once', async () => {
    const api = await freshApi()
    const event = { name: 'hello', to: 'ada', transactionId: 'twice' }
    const answer = await api.post('/v1/events/trigger/bulk', { events: [event, event] })
    expect(answer.body.map(({ status }: { status: string }) => status)).toEqual(['processed', 'processed'])
    await server.drain()
    expect(await messagesOf(api, 'subscriberId=ada')).toHaveLength(1)
  })

  test('has 1 to 100 events, all of them well formed', async () => {
    const api = await freshApi()
    const event = { name: 'hello', to: 'ada' }
    const send = (events: unknown) => api.post('/v1/events/trigger/bulk', { events })
    const many = await send(Array.from({ length: 101 }, () => event))
    expect(many).toMatchObject({ status: 422 })
    expect(many.body.errors.events.messages).toEqual(['events must contain no more than 100 elements'])
    expect((await send([])).status).toBe(422)
    expect((await send(undefined)).status).toBe(422)
    const malformed = await send([event, { name: 'hello' }])
    expect(malformed).toMatchObject({ status: 422 })
    expect(malformed.body.errors.general.messages).toEqual([`events.1.${toText}`])
    expect(await accepted(api)).toBe(0)
    expect((await send(Array.from({ length: 100 }, () => event))).body).toHaveLength(100)
    expect(await accepted(api)).toBe(100)
  })
})

describe('a broadcast', () => {
  test('goes to all subscribers and needs a payload', async () => {
    const api = await freshApi()
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    await api.post('/v2/subscribers', { subscriberId: 'bob' })
    const missing = await api.post('/v1/events/trigger/broadcast', { name: 'hello' })
    expect(missing.status).toBe(422)
    const answer = await api.post('/v1/events/trigger/broadcast', {
      name: 'hello',
      payload: {},
      actor: 'ada',
      to: 'carol',
    })
    expect(answer).toMatchObject({ status: 201, body: { acknowledged: true, status: 'processed' } })
    await server.drain()
    const messages = await messagesOf(api, 'channel=in_app')
    expect(messages).toHaveLength(2)
  })

  test('is checked like any other trigger', async () => {
    const api = await freshApi()
    await makeWorkflow(api, 'asleep', [inApp()], { active: false })
    const send = (more: object) => api.post('/v1/events/trigger/broadcast', { name: 'hello', payload: {}, ...more })
    expect(await send({ name: 'nothing' })).toMatchObject({ status: 422, body: { message: 'workflow_not_found' } })
    expect((await send({ name: 'asleep' })).body.status).toBe('trigger_not_active')
    expect((await send({ tenant: 'nobody' })).body.status).toBe('no_tenant_found')
    expect((await send({ context: {} })).status).toBe(422)
  })
})

describe('cancelling', () => {
  test('returns true if a job was waiting, else false', async () => {
    const api = await freshApi()
    await makeWorkflow(api, 'later', [delay, inApp()])
    const cancel = (id: string) => api.delete(`/v1/events/trigger/${id}`)
    const transactionId = await trigger(api, 'later', 'ada')
    await server.drain()
    const other = await server.freshApi()
    expect((await other.delete(`/v1/events/trigger/${transactionId}`)).text).toBe('false')
    const canceled = await cancel(transactionId)
    expect(canceled).toMatchObject({ status: 200, text: 'true', body: true })
    expect((await cancel(transactionId)).text).toBe('false')
    expect((await cancel('nothing')).text).toBe('false')
    const done = await trigger(api, 'hello', 'ada')
    await server.drain()
    expect((await cancel(done)).text).toBe('false')
  })
})

test('channels of recipients are named with the brand of the service', async () => {
  const api = await freshApi()
  await addIntegration(server, api, { identifier: 'chat', provider: 'svc-slack' })
  const branded = await server.startAnother({ brand: 'novu' })
  const { key, environmentId, organizationId } = api
  const other = new Api(branded.url, key, environmentId, organizationId)
  const channels = [{ providerId: 'novu-slack', credentials: { webhookUrl: 'https://example.com/hook' } }]
  await trigger(other, 'hello', { subscriberId: 'ada', channels })
  await server.drain()
  expect((await other.get('/v2/subscribers/ada')).body.channels).toMatchObject(channels)
  expect((await api.get('/v2/subscribers/ada')).body.channels).toMatchObject([{ providerId: 'svc-slack' }])
})
