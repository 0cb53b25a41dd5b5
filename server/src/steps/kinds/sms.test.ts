import { describe, expect, test } from 'vitest'
import { makeWorkflow, messagesOf, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const taken = { body: { messages: [{ messageId: 'vendor-1' }] } }
const ada = { subscriberId: 'ada', phone: '+15550100' }

const sms = (body = 'Hi') => ({ type: 'sms', controlValues: { body } })

async function integrate(api: Api, name = 'first', more: object = {}): Promise<string> {
  const answer = await api.post('/v1/integrations', {
    providerId: 'infobip-sms',
    channel: 'sms',
    name,
    identifier: `${name}-${api.environmentId}`,
    active: true,
    credentials: { apiKey: `key-${name}`, baseUrl: vendor.url, from: 'Acme' },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}

async function prepared(steps = [sms()], more: object = {}): Promise<Api> {
  const api = await server.freshApi()
  await integrate(api)
  await makeWorkflow(api, 'code', steps, more)
  return api
}

describe('an SMS', () => {
  test('goes to the subscriber through the primary integration, and the record says how', async () => {
    const api = await prepared([sms('Your code is {{payload.code}}')])
    vendor.plays(() => taken)
    const transactionId = await trigger(api, 'code', ada, { payload: { code: 7 } })
    await server.drain()
    expect(vendor.asked.map(({ body }) => JSON.parse(body))).toEqual([
      { messages: [{ from: 'Acme', destinations: [{ to: '+15550100' }], text: 'Your code is 7' }] },
    ])
    const run = await runOf(api, transactionId)
    expect(run.status).toBe('completed')
    expect(storyOf(run)).toEqual([
      'sms completed: Step queued, Infobip provider was selected, Message created, Message sent',
    ])
    expect(await messagesOf(api, 'subscriberId=ada')).toMatchObject([
      { channel: 'sms', status: 'sent', phone: '+15550100', content: 'Your code is 7', providerId: 'infobip-sms' },
    ])
    expect(await identifiersIn(api)).toEqual(['vendor-1'])
  })

  test('goes to the number and from the sender that the trigger names, with what it adds to the request', async () => {
    const api = await prepared()
    vendor.plays(() => taken)
    await trigger(api, 'code', ada, { payload: { phone: '+15550111' } })
    const overrides = {
      sms: { to: '+15550122', from: 'Shop', content: 'never said' },
      providers: { 'infobip-sms': { flash: true, regional: { india: 1 } } },
      steps: {
        'sms-0': { providers: { 'infobip-sms': { regional: { india: 2 }, _passthrough: { body: { raw_name: 1 } } } } },
      },
    }
    await trigger(api, 'code', ada, { overrides })
    await server.drain()
    const [first, second] = vendor.asked.map(({ body }) => JSON.parse(body).messages[0])
    expect(first).toEqual({ from: 'Acme', destinations: [{ to: '+15550111' }], text: 'Hi' })
    expect(second).toEqual({
      from: 'Shop',
      destinations: [{ to: '+15550122' }],
      text: 'Hi',
      flash: true,
      regional: { india: 2 },
      raw_name: 1,
    })
  })

  test('is not sent without text', async () => {
    const api = await prepared([sms(' {{payload.text}} ')])
    vendor.plays(() => taken)
    const transactionId = await trigger(api, 'code', ada)
    await server.drain()
    expect(vendor.asked).toEqual([])
    expect(await runOf(api, transactionId)).toMatchObject({
      status: 'error',
      jobs: [
        {
          ...{ status: 'failed', reason: 'content_failed', error: expect.stringContaining('is empty') },
          messages: [{ status: 'error', errorText: expect.stringContaining('is empty') }],
        },
      ],
    })
    await trigger(api, 'code', ada, { overrides: { providers: { 'infobip-sms': { templateId: 't' } } } })
    await server.drain()
    expect(vendor.asked).toHaveLength(1)
  })

  test("uses the trigger's text if the step has none", async () => {
    const api = await prepared([sms('{{payload.text}}')])
    vendor.plays(() => taken)
    await trigger(api, 'code', ada, { overrides: { sms: { content: 'From the trigger' } } })
    await server.drain()
    expect(JSON.parse(vendor.asked[0]?.body ?? '{}').messages[0].text).toBe('From the trigger')
  })

  test('names its integration in the log', async () => {
    const api = await prepared()
    vendor.plays(() => taken)
    const transactionId = await trigger(api, 'code', ada)
    await server.drain()
    const [, line] = (await runOf(api, transactionId)).jobs[0].executionDetails
    const [integration] = (await api.get('/v1/integrations')).body.filter(
      ({ channel }: { channel: string }) => channel === 'sms',
    )
    expect(line).toMatchObject({
      detail: 'Infobip provider was selected',
      status: 'Pending',
      providerId: 'infobip-sms',
    })
    expect(JSON.parse(line.raw)).toEqual({
      providerId: 'infobip-sms',
      identifier: integration.identifier,
      name: integration.name,
      _environmentId: api.environmentId,
      _id: integration._id,
    })
  })

  test('to a subscriber without a phone is a message with a warning, and the next step runs', async () => {
    const api = await prepared([sms(), { type: 'in_app', controlValues: { body: 'in the inbox' } }])
    const transactionId = await trigger(api, 'code', 'nobody')
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(storyOf(run)).toEqual([
      'sms canceled: Step queued, Infobip provider was selected, Message created, Subscriber missing phone number',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'missing_phone', messages: [{ status: 'warning' }] })
    expect(run.jobs[0].messages[0]).toMatchObject({
      errorId: 'no_subscriber_phone',
      errorText: 'Subscriber does not have active phone',
    })
    expect(vendor.asked).toEqual([])
  })

  test('without an active integration fails, and names the one requested', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'code', [sms()])
    const plain = await trigger(api, 'code', ada)
    const asking = await trigger(api, 'code', ada, { overrides: { sms: { integrationIdentifier: 'nowhere' } } })
    await server.drain()
    const run = await runOf(api, plain)
    expect(run.status).toBe('error')
    expect(storyOf(run)).toEqual(['sms failed: Step queued, Subscriber does not have an active integration'])
    expect(run.jobs[0]).toMatchObject({ reason: 'no_integration', messages: [] })
    const [, line] = (await runOf(api, asking)).jobs[0].executionDetails
    expect(JSON.parse(line.raw)).toEqual({ integrationIdentifier: 'nowhere' })
  })

  test('whose template cannot be rendered fails with the reason', async () => {
    const api = await prepared([sms('{% for item in payload.items %}')])
    const transactionId = await trigger(api, 'code', ada)
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(storyOf(run)).toEqual(['sms failed: Step queued, Message content could not be generated'])
    expect(run.jobs[0]).toMatchObject({ reason: 'content_failed' })
  })
})

describe('the integration of an SMS', () => {
  const keysAsked = () => vendor.asked.map(({ headers }) => headers.authorization)

  test('is the primary one, or the one the trigger names, in its own environment only', async () => {
    const api = await prepared()
    await integrate(api, 'second')
    const other = await server.freshApi()
    await integrate(other, 'foreign')
    vendor.plays(() => taken)
    const named = (integrationIdentifier: string) => ({ overrides: { sms: { integrationIdentifier } } })
    await trigger(api, 'code', ada)
    await server.drain()
    await trigger(api, 'code', ada, named(`second-${api.environmentId}`))
    await server.drain()
    const foreign = await trigger(api, 'code', ada, named(`foreign-${other.environmentId}`))
    await server.drain()
    expect(keysAsked()).toEqual(['App key-first', 'App key-second'])
    expect((await runOf(api, foreign)).jobs[0]).toMatchObject({ status: 'failed', reason: 'no_integration' })
  })

  test('is one whose conditions the tenant meets, if there is one', async () => {
    const api = await prepared()
    const conditions = [
      { value: 'AND', children: [{ on: 'tenant', field: 'identifier', operator: 'EQUAL', value: 'acme' }] },
    ]
    await integrate(api, 'for-acme', { conditions })
    for (const identifier of ['acme', 'other']) await api.post('/v1/tenants', { identifier, name: identifier })
    vendor.plays(() => taken)
    for (const tenant of ['acme', 'other', undefined]) {
      await trigger(api, 'code', ada, tenant ? { tenant } : {})
      await server.drain()
    }
    expect(keysAsked()).toEqual(['App key-for-acme', 'App key-first', 'App key-first'])
    const overrides = { sms: { integrationIdentifier: `first-${api.environmentId}` } }
    await trigger(api, 'code', ada, { tenant: 'acme', overrides })
    await server.drain()
    expect(keysAsked().at(-1)).toBe('App key-first')
  })

  test('must be chosen: without a primary one nothing is sent', async () => {
    const api = await prepared()
    const { body } = await api.get('/v1/integrations')
    const primary = body.find(({ primary }: { primary: boolean }) => primary)
    await integrate(api, 'second')
    await api.put(`/v1/integrations/${primary._id}`, { active: false })
    const transactionId = await trigger(api, 'code', ada)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0]).toMatchObject({ status: 'failed', reason: 'no_integration' })
  })
})

async function identifiersIn({ environmentId }: Api): Promise<Array<string | null>> {
  const rows = await server.database.db
    .selectFrom('messages')
    .select('identifier')
    .where('environment_id', '=', environmentId)
    .orderBy('id')
    .execute()
  return rows.map(({ identifier }) => identifier)
}
