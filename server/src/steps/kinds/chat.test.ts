import { describe, expect, test } from 'vitest'
import { addIntegration } from '../../../test/integrations.ts'
import { makeWorkflow, messagesOf, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const chat: Step = { type: 'chat', controlValues: { body: 'Hello {{payload.n}}' } }
const selected = 'Discord provider was selected'

async function prepared(provider = 'discord'): Promise<{ api: Api; integration: string }> {
  const api = await server.freshApi()
  const integration = `chat-${api.environmentId}`
  await addIntegration(server, api, { identifier: integration, provider })
  await makeWorkflow(api, 'talk', [chat])
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  return { api, integration }
}

/** What the vendor would have received, as the sandbox shows it. */
async function preparedSandbox(): Promise<{ api: Api; integration: string }> {
  const { development: api } = await server.freshOrganization()
  await makeWorkflow(api, 'talk', [chat])
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  const { body } = await api.get('/v1/integrations')
  const { identifier } = body.find(({ channel }: { channel: string }) => channel === 'chat')
  return { api, integration: identifier }
}

/** Connects a workspace under the name `conn`. */
async function withConnection(api: Api, integrationIdentifier: string, more: object = {}): Promise<void> {
  const answer = await api.post('/v1/channel-connections', {
    integrationIdentifier,
    subscriberId: 'ada',
    identifier: 'conn',
    workspace: { id: 'T1' },
    auth: { accessToken: 'xoxb-secret-token' },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
}

async function withEndpoint(api: Api, integrationIdentifier: string, path: string, more: object = {}): Promise<string> {
  const answer = await api.post('/v1/channel-endpoints', {
    integrationIdentifier,
    subscriberId: 'ada',
    type: 'webhook',
    endpoint: { url: vendor.url + path },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body.identifier
}

async function withAddress(api: Api, providerId: string, credentials: object): Promise<void> {
  const answer = await api.put('/v1/subscribers/ada/credentials', { providerId, credentials })
  expect(answer, answer.text).toMatchObject({ status: 200 })
}

const take = () => vendor.plays(() => ({ body: { id: 'vendor-id' } }))
const paths = () => vendor.asked.map(({ path }) => path).sort()
async function deliver(api: Api, more: object = {}) {
  const transactionId = await trigger(api, 'talk', 'ada', { payload: { n: 1 }, ...more })
  await server.drain()
  return runOf(api, transactionId)
}

describe('a chat message', () => {
  test('to several endpoints of an integration is one message, sent to each', async () => {
    const { api, integration } = await prepared()
    await withEndpoint(api, integration, '/one')
    await withEndpoint(api, integration, '/two')
    take()
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      `chat completed: Step queued, ${selected}, Message created, Message sent, Message sent`,
    ])
    expect(paths()).toEqual(['/one', '/two'])
    expect(JSON.parse(vendor.asked[0]?.body ?? '')).toMatchObject({ content: 'Hello 1' })
    expect(await messagesOf(api, 'channel=chat')).toMatchObject([
      { status: 'sent', content: 'Hello 1', providerId: 'discord' },
    ])
    const { identifier } = await server.database.db
      .selectFrom('messages')
      .select('identifier')
      .where('environment_id', '=', api.environmentId)
      .executeTakeFirstOrThrow()
    expect(identifier).toBeNull()
  })

  test('to an address kept with the subscriber goes there, or where the trigger says', async () => {
    const { api } = await prepared()
    await withAddress(api, 'discord', { webhookUrl: `${vendor.url}/stored` })
    take()
    await deliver(api)
    await deliver(api, { payload: { webhookUrl: `${vendor.url}/payload` } })
    await deliver(api, {
      payload: { webhookUrl: `${vendor.url}/payload` },
      overrides: {
        providers: { discord: { webhookUrl: `${vendor.url}/override`, username: 'Bot' } },
        chat: { tts: true },
      },
    })
    expect(vendor.asked.map(({ path }) => path)).toEqual(['/stored', '/payload', '/override'])
    expect(JSON.parse(vendor.asked[2]?.body ?? '')).toEqual({ content: 'Hello ', username: 'Bot', tts: true })
  })

  test('is recorded without the address, which would let anybody post there', async () => {
    const { api, integration } = await prepared()
    await withEndpoint(api, integration, '/services/T0/hook-secret')
    await withAddress(api, 'discord', { webhookUrl: `${vendor.url}/services/T1/hook-secret?key=hook-secret` })
    for (const status of [200, 400]) {
      vendor.plays(({ url }) => ({ status, body: { id: 'vendor-id', message: `seen at ${url}` } }))
      const { jobs } = await deliver(api)
      const told = jobs[0].executionDetails.map(({ raw }: { raw: string | null }) => raw).join(' ')
      expect(told).toContain(`${vendor.url}/***`)
      expect(told).not.toContain('hook-secret')
    }
  })

  test('to an address that was deleted is not sent, as if there had never been one', async () => {
    const { api } = await prepared()
    const before = storyOf(await deliver(api))
    await withAddress(api, 'discord', { webhookUrl: `${vendor.url}/stored` })
    expect((await api.delete('/v1/subscribers/ada/credentials/discord')).status).toBe(204)
    expect(storyOf(await deliver(api))).toEqual(before)
    expect(paths()).toEqual([])
  })

  test('to a subscriber without a chat is not sent, and says so, with the context', async () => {
    const { api, integration } = await prepared()
    expect(storyOf(await deliver(api))).toEqual([
      'chat canceled: Step queued, Subscriber does not have a configured channel',
    ])
    await withEndpoint(api, integration, '/plain')
    const run = await deliver(api, { context: { tenant: 'acme' } })
    expect(storyOf(run)).toEqual([
      'chat canceled: Step queued, Subscriber does not have a configured channel with the given context',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'some_channels_missing_credentials' })
    expect(vendor.asked).toEqual([])
  })

  test('goes to the endpoints of exactly its contexts', async () => {
    const { api, integration } = await prepared()
    await withEndpoint(api, integration, '/plain')
    await withEndpoint(api, integration, '/acme', { context: { tenant: 'acme' } })
    await withEndpoint(api, integration, '/both', { context: { tenant: 'acme', app: 'web' } })
    take()
    await deliver(api)
    await deliver(api, { context: { tenant: 'acme' } })
    await deliver(api, { context: { app: 'web', tenant: 'acme' } })
    expect(vendor.asked.map(({ path }) => path)).toEqual(['/plain', '/acme', '/both'])
  })

  test('to an endpoint that the trigger replaces goes where it says, if that fits', async () => {
    const { api, integration } = await prepared()
    const identifier = await withEndpoint(api, integration, '/stored')
    take()
    const replaced = (endpoint: object) => ({ overrides: { providers: { discord: { [identifier]: { endpoint } } } } })
    await deliver(api, replaced({ url: `${vendor.url}/instead` }))
    await deliver(api, replaced({ channelId: 'C1' }))
    expect(vendor.asked.map(({ path }) => path)).toEqual(['/instead', '/stored'])
    expect(vendor.asked.map(({ body }) => JSON.parse(body))).toEqual([{ content: 'Hello 1' }, { content: 'Hello 1' }])
  })

  test('without an address is a message with a warning', async () => {
    const { api } = await prepared()
    await withAddress(api, 'discord', { channel: 'general' })
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      `chat canceled: Step queued, ${selected}, Message created, Webhook URL for the chat channel is missing, ` +
        'Some chat channels skipped to send the message',
    ])
    expect(run.jobs[0]).toMatchObject({
      reason: 'missing_webhook_url',
      messages: [{ status: 'warning', errorId: 'no_subscriber_chat_channel_id' }],
    })
  })

  test('through an integration that is turned off fails, and one through another goes on', async () => {
    const { api, integration } = await prepared()
    const other = `other-${api.environmentId}`
    await addIntegration(server, api, { identifier: other, provider: 'mattermost' })
    await withEndpoint(api, integration, '/off')
    const { body } = await api.get('/v1/integrations')
    const { _id } = body.find(({ identifier }: { identifier: string }) => identifier === integration)
    await api.put(`/v1/integrations/${_id}`, { active: false })
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      'chat failed: Step queued, Subscriber does not have an active integration, ' +
        'All chat channels failed to send the message',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'no_integration' })
    await withEndpoint(api, other, '/on')
    take()
    expect((await deliver(api)).jobs[0]).toMatchObject({ status: 'completed' })
    expect(paths()).toEqual(['/on'])
  })

  test('that all providers refuse fails; one that some accept is done, and notes the others', async () => {
    const { api, integration } = await prepared()
    await withEndpoint(api, integration, '/good')
    await withEndpoint(api, integration, '/bad')
    vendor.plays(({ path }) => (path === '/bad' ? { status: 404, body: {} } : { body: { id: '1' } }))
    const run = await deliver(api)
    expect(run.jobs[0]).toMatchObject({ status: 'completed', reason: 'provider_refused' })
    vendor.plays(() => ({ status: 404, body: {} }))
    const failed = await deliver(api)
    expect(storyOf(failed)).toEqual([
      `chat failed: Step queued, ${selected}, Message created, Unexpected provider error, Unexpected provider error, ` +
        'All chat channels failed to send the message',
    ])
    expect(failed.jobs[0].messages).toMatchObject([{ status: 'error', errorId: 'unexpected_chat_error' }])
  })

  test('to a host that is down waits for that host alone', async () => {
    const { api, integration } = await prepared()
    await withEndpoint(api, integration, '/one')
    await withEndpoint(api, integration, '/down', { endpoint: { url: 'http://127.0.0.1:1/down' } })
    take()
    const run = await deliver(api)
    expect(run.jobs[0]).toMatchObject({ status: 'queued', messages: [{ status: 'sent' }] })
    for (let i = 0; i < 4; i += 1) {
      server.clock.advance({ minutes: 1 })
      await server.drain()
    }
    expect(paths()).toEqual(['/one'])
    const { body } = await api.get('/v1/integrations')
    const { _id } = body.find(({ identifier }: { identifier: string }) => identifier === integration)
    expect((await api.get(`/v1/integrations/${_id}/health`)).body).toMatchObject({
      state: 'closed',
      hosts: [{ host: '127.0.0.1:1', failures: 5 }],
    })
  })
})

describe('chats in a workspace', () => {
  test("messages carry the connection's token, which no record repeats", async () => {
    const { api, integration } = await preparedSandbox()
    await withConnection(api, integration)
    await withEndpoint(api, integration, '', {
      type: 'slack_channel',
      endpoint: { channelId: 'C42' },
      connectionIdentifier: 'conn',
    })
    const run = await deliver(api)
    const [{ id, to }] = (await api.get('/v1/sandbox/messages')).body.data
    expect(to).toEqual(['C42'])
    const seen = JSON.stringify([
      run,
      (await api.get(`/v1/sandbox/messages/${id}`)).body,
      await messagesOf(api, 'channel=chat'),
    ])
    expect(seen).not.toContain('xoxb-secret-token')
    const line = run.jobs[0].executionDetails.at(-1)
    expect(JSON.parse(line.raw).channelData).toMatchObject({ type: 'slack_channel', token: 'xoxb-sec...' })
  })

  test('a connection of other contexts is not used', async () => {
    const { api, integration } = await preparedSandbox()
    await withConnection(api, integration, { context: { tenant: 'acme' } })
    const slack = { type: 'slack_channel', connectionIdentifier: 'conn' }
    await withEndpoint(api, integration, '', { ...slack, endpoint: { channelId: 'C1' }, context: { tenant: 'acme' } })
    await withEndpoint(api, integration, '', { ...slack, endpoint: { channelId: 'C2' } })
    const tokenOf = async (more: object) =>
      JSON.parse((await deliver(api, more)).jobs[0].executionDetails.at(-1).raw).channelData
    expect(await tokenOf({ context: { tenant: 'acme' } })).toMatchObject({
      endpoint: { channelId: 'C1' },
      token: 'xoxb-sec...',
    })
    expect(await tokenOf({})).toMatchObject({ endpoint: { channelId: 'C2' }, token: '...' })
  })

  test("a message for Teams goes to its connection's tenant", async () => {
    const { api, integration } = await preparedSandbox()
    await withConnection(api, integration, { workspace: { id: 'T-1' }, auth: { accessToken: 'none' } })
    const person = { type: 'ms_teams_user', endpoint: { userId: 'U1' }, connectionIdentifier: 'conn' }
    await withEndpoint(api, integration, '', person)
    await deliver(api)
    const [{ id }] = (await api.get('/v1/sandbox/messages')).body.data
    const { body } = await api.get(`/v1/sandbox/messages/${id}`)
    expect(JSON.stringify(body)).toContain('"tenantId":"T-1"')
  })

  test('an endpoint whose connection was deleted fails, and says why', async () => {
    const { api, integration } = await prepared('slack')
    await withConnection(api, integration)
    const slack = { type: 'slack_channel', endpoint: { channelId: 'C1' }, connectionIdentifier: 'conn' }
    await withEndpoint(api, integration, '', slack)
    expect(await api.delete('/v1/channel-connections/conn')).toMatchObject({ status: 204 })
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      'chat failed: Step queued, Slack provider was selected, Message created, Unexpected provider error, ' +
        'All chat channels failed to send the message',
    ])
    expect(run.jobs[0].error).toContain('The connection to Slack has no access token')
  })

  test('a chat by phone to a subscriber without one is a message with a warning', async () => {
    const { api } = await prepared('whatsapp-business')
    await withAddress(api, 'whatsapp-business', {})
    const run = await deliver(api)
    expect(storyOf(run)).toEqual([
      'chat canceled: Step queued, WhatsApp Business provider was selected, Message created, ' +
        'Subscriber is missing a phone number, Some chat channels skipped to send the message',
    ])
    expect(run.jobs[0]).toMatchObject({
      reason: 'some_channels_missing_credentials',
      messages: [{ status: 'warning', errorId: 'no_subscriber_chat_phone_number' }],
    })
  })

  test('WhatsApp reaches a phone only if it is set up', async () => {
    const { api } = await prepared()
    await api.patch('/v2/subscribers/ada', { phone: '+15550100' })
    expect(storyOf(await deliver(api))).toEqual([
      'chat canceled: Step queued, Subscriber does not have a configured channel',
    ])
    await addIntegration(server, api, { identifier: `wa-${api.environmentId}`, provider: 'whatsapp-business' })
    const run = await deliver(api)
    expect(storyOf(run)[0]).toMatch(
      /^chat failed: Step queued, WhatsApp Business provider was selected, Message created/,
    )
    expect(run.jobs[0]).toMatchObject({ providerId: 'whatsapp-business', reason: 'provider_refused' })
  })
})
