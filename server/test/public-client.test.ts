// The public client library, unmodified, with its response validation on, uses every resource of the service.
import { Novu } from '@novu/api'
import { ChannelTypeEnum, ChatOrPushProviderEnum } from '@novu/api/models/components/index.js'
import { ErrorDto, SubscriberResponseDto, TopicResponseDto, ValidationErrorDto } from '@novu/api/models/errors/index.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })
let api: Api
let novu: Novu

beforeEach(async () => {
  api = await server.freshApi()
  novu = new Novu({ serverURL: api.url, secretKey: api.key, retryConfig: { strategy: 'none' } })
})

test('subscribers: create, conflict, search, retrieve, patch, delete', async () => {
  const created = await novu.subscribers.create({
    subscriberId: 'ada',
    firstName: 'Ada',
    email: 'ada@example.com',
    locale: 'en_GB',
    timezone: 'Europe/London',
    data: { plan: 'pro' },
  })
  expect(created.result).toMatchObject({
    subscriberId: 'ada',
    firstName: 'Ada',
    data: { plan: 'pro' },
    isOnline: false,
  })
  const conflict = await novu.subscribers.create({ subscriberId: 'ada' }, true).catch((error: unknown) => error)
  expect(conflict).toBeInstanceOf(SubscriberResponseDto)
  expect(conflict).toMatchObject({ statusCode: 409, subscriberId: 'ada', firstName: 'Ada' })

  const page = await novu.subscribers.search({ name: 'ada', limit: 5 })
  expect(page.result).toMatchObject({ totalCount: 1, totalCountCapped: false, next: null, previous: null })
  expect((await novu.subscribers.retrieve('ada')).result.email).toBe('ada@example.com')
  const patched = await novu.subscribers.patch({ lastName: 'Lovelace', email: null }, 'ada')
  expect(patched.result).toMatchObject({ lastName: 'Lovelace', email: null, firstName: 'Ada' })
  expect((await novu.subscribers.delete('ada')).result).toMatchObject({ acknowledged: true, status: 'deleted' })
  const missing = await novu.subscribers.retrieve('ada').catch((error: unknown) => error)
  expect(missing).toBeInstanceOf(ErrorDto)
  expect(missing).toMatchObject({ statusCode: 404 })
})

test('subscribers: bulk, credentials, online status', async () => {
  const { result } = await novu.subscribers.createBulk({
    subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }],
  })
  expect(result.created).toEqual([{ subscriberId: 'ada' }, { subscriberId: 'bob' }])
  await novu.integrations.create({ providerId: 'fcm', channel: ChannelTypeEnum.Push, active: true })

  const append = (tokens: string[]) =>
    novu.subscribers.credentials.append(
      { providerId: ChatOrPushProviderEnum.Fcm, credentials: { deviceTokens: tokens } },
      'ada',
    )
  await append(['one'])
  const appended = await append(['one', 'two'])
  expect(appended.result.channels).toMatchObject([{ providerId: 'fcm', credentials: { deviceTokens: ['one', 'two'] } }])
  const replaced = await novu.subscribers.credentials.update(
    { providerId: ChatOrPushProviderEnum.Fcm, credentials: { deviceTokens: ['three'] } },
    'ada',
  )
  expect(replaced.result.channels?.[0]?.credentials.deviceTokens).toEqual(['three'])
  await novu.subscribers.credentials.delete('ada', 'fcm')
  expect((await novu.subscribers.retrieve('ada')).result.channels).toEqual([])
  expect((await novu.subscribers.properties.updateOnlineFlag({ isOnline: true }, 'ada')).result.isOnline).toBe(true)
})

test('topics and their subscriptions', async () => {
  await novu.subscribers.createBulk({ subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'bob' }] })
  expect((await novu.topics.create({ key: 'news', name: 'News' })).result).toMatchObject({ key: 'news', name: 'News' })
  const conflict = await novu.topics.create({ key: 'news' }, true).catch((error: unknown) => error)
  expect(conflict).toBeInstanceOf(TopicResponseDto)
  expect((await novu.topics.create({ key: 'news', name: 'Newer' })).result.name).toBe('Newer')
  expect((await novu.topics.update({ name: 'Newest' }, 'news')).result.name).toBe('Newest')
  expect((await novu.topics.get('news')).result.name).toBe('Newest')

  const subscribed = await novu.topics.subscriptions.create(
    { subscriptions: ['ada', { subscriberId: 'bob', identifier: 'bobs-news' }, 'nobody'], context: { tenant: 'acme' } },
    'news',
  )
  expect(subscribed.result.meta).toEqual({ totalCount: 3, successful: 2, failed: 1 })
  expect(subscribed.result.errors).toMatchObject([{ subscriberId: 'nobody', code: 'SUBSCRIBER_NOT_FOUND' }])
  const list = await novu.topics.subscriptions.list({ topicKey: 'news', limit: 1 })
  expect(list.result).toMatchObject({ totalCount: 2, data: [{ topic: { key: 'news' }, contextKeys: ['tenant:acme'] }] })
  expect(list.result.next).toEqual(expect.any(String))
  expect((await novu.topics.subscriptions.getSubscription('news', 'bobs-news')).result.identifier).toBe('bobs-news')
  const renamed = await novu.topics.subscriptions.update({
    topicKey: 'news',
    identifier: 'bobs-news',
    updateTopicSubscriptionRequestDto: { name: "Bob's" },
  })
  expect(renamed.result.name).toBe("Bob's")
  expect((await novu.subscribers.topics.list({ subscriberId: 'ada' })).result.data).toHaveLength(1)
  expect((await novu.topics.subscribers.retrieve('ada', 'news')).result).toMatchObject({
    topicKey: 'news',
    externalSubscriberId: 'ada',
  })
  const removed = await novu.topics.subscriptions.delete({ subscriptions: [{ identifier: 'bobs-news' }] }, 'news')
  expect(removed.result.meta).toMatchObject({ successful: 1, failed: 0 })
  expect((await novu.topics.list({ key: 'new' })).result.totalCount).toBe(1)
  expect((await novu.topics.delete('news')).result.acknowledged).toBe(true)
})

test('integrations: create, list, update, set primary, delete', async () => {
  const first = await novu.integrations.create({
    providerId: 'sendgrid',
    channel: ChannelTypeEnum.Email,
    name: 'Mail',
    credentials: { apiKey: 'SG.secret', from: 'me@example.com', senderName: 'Me' },
    active: true,
  })
  expect(first.result).toMatchObject({
    providerId: 'sendgrid',
    primary: true,
    active: true,
    credentials: { apiKey: 'SG.secret' },
  })
  const second = await novu.integrations.create({ providerId: 'resend', channel: ChannelTypeEnum.Email, active: true })
  expect(second.result.primary).toBe(false)
  expect((await novu.integrations.setAsPrimary(second.result.id ?? '')).result.primary).toBe(true)
  const updated = await novu.integrations.update({ name: 'Renamed' }, first.result.id ?? '')
  expect(updated.result).toMatchObject({ name: 'Renamed', primary: false })
  expect((await novu.integrations.list()).result.map((integration) => integration.providerId)).toEqual([
    'novu',
    'sendgrid',
    'resend',
  ])
  expect((await novu.integrations.listActive()).result).toHaveLength(3)
  const configured = await novu.integrations.integrationsControllerAutoConfigureIntegration(first.result.id ?? '')
  expect(configured.result.success).toBe(false)
  expect((await novu.integrations.delete(first.result.id ?? '')).result).toHaveLength(2)
})

test('channel connections, endpoints and OAuth URLs', async () => {
  await novu.subscribers.create({ subscriberId: 'ada' })
  const slack = await novu.integrations.create({
    providerId: 'slack',
    channel: ChannelTypeEnum.Chat,
    identifier: 'slack-main',
    active: true,
    credentials: { clientId: 'client', secretKey: 'hidden' },
  })
  expect(slack.result.identifier).toBe('slack-main')
  const connection = await novu.channelConnections.create({
    integrationIdentifier: 'slack-main',
    subscriberId: 'ada',
    workspace: { id: 'T1', name: 'Acme' },
    auth: { accessToken: 'xoxb-1' },
  })
  const { identifier } = connection.result
  expect(connection.result).toMatchObject({
    providerId: 'slack',
    channel: 'chat',
    subscriberId: 'ada',
    workspace: { id: 'T1' },
  })
  const again = await novu.channelConnections
    .create({
      integrationIdentifier: 'slack-main',
      subscriberId: 'ada',
      workspace: { id: 'T1' },
      auth: { accessToken: 'x' },
    })
    .catch((error: unknown) => error)
  expect(again).toMatchObject({ statusCode: 409 })
  expect((await novu.channelConnections.retrieve(identifier)).result.identifier).toBe(identifier)
  expect((await novu.channelConnections.list({ subscriberId: 'ada' })).result.totalCount).toBe(1)
  const moved = await novu.channelConnections.update(
    { workspace: { id: 'T2' }, auth: { accessToken: 'xoxb-2' } },
    identifier,
  )
  expect(moved.result.workspace.id).toBe('T2')

  const endpoint = await novu.channelEndpoints.create({
    type: 'slack_channel',
    endpoint: { channelId: 'C1' },
    subscriberId: 'ada',
    integrationIdentifier: 'slack-main',
    connectionIdentifier: identifier,
  })
  expect(endpoint.result).toMatchObject({
    type: 'slack_channel',
    endpoint: { channelId: 'C1' },
    connectionIdentifier: identifier,
  })
  const changed = await novu.channelEndpoints.update({ endpoint: { channelId: 'C2' } }, endpoint.result.identifier)
  expect(changed.result.endpoint).toEqual({ channelId: 'C2' })
  expect((await novu.channelEndpoints.retrieve(endpoint.result.identifier)).result.type).toBe('slack_channel')
  expect((await novu.channelEndpoints.list({ connectionIdentifier: identifier })).result.data).toHaveLength(1)
  await novu.channelEndpoints.delete(endpoint.result.identifier)
  await novu.channelConnections.delete(identifier)

  const link = await novu.integrations.generateConnectOAuthUrl({
    integrationIdentifier: 'slack-main',
    subscriberId: 'ada',
  })
  expect(link.result.url).toMatch(/^https:\/\/slack\.com\/oauth\/v2\/authorize\?/)
  await novu.integrations.generateLinkUserOAuthUrl({ integrationIdentifier: 'slack-main', subscriberId: 'ada' })
  await novu.integrations.generateChatOAuthUrl({ integrationIdentifier: 'slack-main', subscriberId: 'ada' })
})

test('contexts', async () => {
  expect((await novu.contexts.create({ type: 'tenant', id: 'acme', data: { plan: 'pro' } })).result.data).toEqual({
    plan: 'pro',
  })
  expect((await novu.contexts.list({ search: 'acme' })).result.totalCount).toBe(1)
  const updated = await novu.contexts.update({
    type: 'tenant',
    id: 'acme',
    updateContextRequestDto: { data: { plan: 'free' } },
  })
  expect(updated.result.data).toEqual({ plan: 'free' })
  expect((await novu.contexts.retrieve('acme', 'tenant')).result.id).toBe('acme')
  await novu.contexts.delete('acme', 'tenant')
  await expect(novu.contexts.retrieve('acme', 'tenant')).rejects.toMatchObject({ statusCode: 404 })
})

describe('the organization', () => {
  test('environments', async () => {
    const created = await novu.environments.create({ name: 'Staging', color: '#336699' })
    expect(created.result).toMatchObject({
      name: 'Staging',
      apiKeys: [{ key: expect.stringMatching(/^[0-9a-f]{32}$/) }],
    })
    expect((await novu.environments.list()).result.map((environment) => environment.name)).toContain('Staging')
    const renamed = await novu.environments.update({ name: 'Stage' }, created.result.id)
    expect(renamed.result.name).toBe('Stage')
    expect((await novu.environments.getTags(created.result.id)).result).toEqual([])
    await novu.environments.delete(created.result.id)
  })

  test('environment variables', async () => {
    const values = [{ environmentId: api.environmentId, value: 'https://example.com' }]
    const created = await novu.environmentVariables.create({ key: 'BASE_URL', values })
    expect(created.result).toMatchObject({ key: 'BASE_URL', isSecret: false, values })
    expect((await novu.environmentVariables.list('base')).result).toHaveLength(1)
    const secret = await novu.environmentVariables.update({ isSecret: true }, 'BASE_URL')
    expect(secret.result.values).toMatchObject([{ value: '••••••••' }])
    expect((await novu.environmentVariables.retrieve('BASE_URL')).result.isSecret).toBe(true)
    expect((await novu.environmentVariables.usage('BASE_URL')).result.workflows).toEqual([])
    await novu.environmentVariables.delete('BASE_URL')
  })
})

test('a validation error is one the client understands', async () => {
  const error = await novu.subscribers
    .create({ subscriberId: 'ada', email: 'nobody' })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ValidationErrorDto)
  expect(error).toMatchObject({ statusCode: 422, errors: { general: { messages: ['email must be an email'] } } })
})
