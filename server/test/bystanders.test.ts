// Sends every change to the records named `ada` in one environment. Those named `bob`, and everything of another
// organization with the same names, must stay exactly as they are.
import { expect, test } from 'vitest'
import { insertMessage, insertRun } from './activity.ts'
import { type Api, useServer } from './server.ts'
import { storedRows } from './stored-rows.ts'

const server = useServer()

const push = (name: string) => ({
  providerId: 'fcm',
  integrationIdentifier: 'push',
  credentials: { deviceTokens: [name] },
})
const workspace = (name: string) => ({ workspace: { id: name }, auth: { accessToken: name } })

const endpointOf = (name: string) => ({
  ...{ identifier: name, integrationIdentifier: `chat-${name}`, subscriberId: name },
  ...{ type: 'slack_user', endpoint: { userId: name } },
})

/** With a preference that contains the name, too. */
const subscriptionOf = (name: string, identifier: string) => ({
  subscriptions: [{ subscriberId: name, identifier }],
  preferences: [{ workflowId: 'workflow', condition: { '==': [{ var: 'name' }, name] } }],
})

/** Needs a key of the organization. */
const isShared = (path: string) => path.startsWith('/v1/environment-variables')

/** Creates one record of every kind with this name. */
async function populate(api: Api, name: string): Promise<void> {
  const wide = await server.organizationOf(api)
  const integrationIdentifier = `chat-${name}`
  for (const [method, url, body] of [
    ['POST', '/v2/subscribers', { subscriberId: name, firstName: name }],
    ['PUT', `/v1/subscribers/${name}/credentials`, push(name)],
    ['PATCH', `/v2/subscribers/${name}/preferences`, { channels: { sms: false }, context: { [name]: name } }],
    ['POST', `/v2/topics/${name}/subscriptions`, subscriptionOf(name, name)],
    ['POST', '/v2/topics/shared/subscriptions', subscriptionOf(name, `shared-${name}`)],
    ['POST', '/v2/contexts', { type: name, id: 'own' }],
    ['POST', '/v1/tenants', { identifier: name, name }],
    ['POST', '/v1/environment-variables', { key: name }],
    ['POST', '/v1/integrations', { providerId: 'slack', channel: 'chat', identifier: integrationIdentifier, name }],
    [
      'POST',
      '/v1/channel-connections',
      { integrationIdentifier, identifier: name, subscriberId: name, ...workspace(name) },
    ],
    ['POST', '/v1/channel-endpoints', endpointOf(name)],
  ] as const)
    expect(await (isShared(url) ? wide : api).send(method, url, body)).toMatchObject({
      status: expect.toBeOneOf([200, 201]),
    })
  for (let n = 0; n < messagesEach; n += 1) {
    const run = await insertRun(server, api, name, { transaction_id: `${name}-${n}`, jobs: [{ type: 'in_app' }] })
    await insertMessage(server, run, { cta: { action: { buttons: [{ type: 'primary', content: name }] } } })
  }
}

const messagesEach = 5

async function prepare(api: Api): Promise<void> {
  await api.post('/v1/integrations', { providerId: 'fcm', channel: 'push', identifier: 'push', active: true })
  const step = { name: 'Tell', type: 'in_app', controlValues: { body: 'Hello' } }
  const workflow = { name: 'Workflow', workflowId: 'workflow', active: true, steps: [step] }
  expect(await api.post('/v2/workflows', workflow)).toMatchObject({ status: 201 })
  for (const name of ['ada', 'bob']) await populate(api, name)
}

/** Every row that no change to `ada` may touch, by table. */
async function bystanders(api: Api): Promise<Record<string, unknown[]>> {
  const found = await storedRows(server.database.pool, { without: ['api_key_uses', 'idempotency_keys'] })
  const isOthers = (row: string) =>
    row.includes('bob') || !(row.includes(api.environmentId) || row.includes(api.organizationId))
  return Object.fromEntries(Object.entries(found).map(([name, rows]) => [name, rows.filter(isOthers)]))
}

test('a change to one record leaves all others alone', async () => {
  const [{ development: api }, { development: other }] = [
    await server.freshOrganization(),
    await server.freshOrganization(),
  ]
  await prepare(api)
  await prepare(other)
  const wide = await server.organizationOf(api)
  const before = await bystanders(api)
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining(['subscribers', 'topic_subscriptions', 'integrations', 'messages_default']),
  )
  server.clock.advance({ minutes: 1 })

  const chat = (await api.get('/v1/integrations')).body.find((one: any) => one.identifier === 'chat-ada')._id
  const mail = await api.post('/v1/integrations', { providerId: 'resend', channel: 'email', active: true })
  const preference = { workflowId: 'workflow', channels: { in_app: false } }
  const messages = (await api.get('/v1/messages?subscriberId=ada')).body.data.map(({ _id }: { _id: string }) => _id)
  expect(messages).toHaveLength(messagesEach)
  const [first, second] = messages
  const inbox = '/v2/subscribers/ada/notifications'
  const belongings = [
    ['POST', '/v2/topics/ada/subscriptions', subscriptionOf('ada', 'another')],
    ['PATCH', '/v2/subscribers/ada/preferences', preference],
  ] as const
  for (const [method, path, body] of [
    ['PATCH', '/v2/subscribers/ada', { firstName: 'x' }],
    ['POST', '/v2/subscribers', { subscriberId: 'ada', lastName: 'x' }],
    ['POST', '/v1/subscribers', { subscriberId: 'ada', phone: 'x', channels: [push('x')] }],
    ['PUT', '/v1/subscribers/ada', { avatar: 'x', channels: [push('y')] }],
    ['POST', '/v1/subscribers/bulk', { subscribers: [{ subscriberId: 'ada', data: {}, channels: [push('z')] }] }],
    ['PATCH', '/v1/subscribers/ada/online-status', { isOnline: true }],
    ['PATCH', '/v1/subscribers/ada/credentials', push('a')],
    ['PUT', '/v1/subscribers/ada/credentials', push('b')],
    ['DELETE', '/v1/subscribers/ada/credentials/fcm'],
    ['PATCH', '/v2/subscribers/ada/preferences', { channels: { email: false } }],
    ['PATCH', '/v2/subscribers/ada/preferences/bulk', { preferences: [preference] }],
    ['POST', '/v1/subscribers/ada/messages/mark-as', { messageId: first, markAs: 'read' }],
    ['POST', '/v1/subscribers/ada/messages/mark-all', { markAs: 'seen' }],
    ['POST', `/v1/subscribers/ada/messages/${first}/actions/primary`, { status: 'done' }],
    ...['read', 'unread', 'archive', 'unarchive'].map((change) => ['PATCH', `${inbox}/${second}/${change}`]),
    ['PATCH', `${inbox}/${second}/snooze`, { snoozeUntil: '2026-06-01T00:00:00.000Z' }],
    ['PATCH', `${inbox}/${second}/unsnooze`],
    ['PATCH', `${inbox}/${second}/actions/primary/complete`],
    ['PATCH', `${inbox}/${second}/actions/primary/revert`],
    ...['seen', 'read', 'read-archive', 'archive'].map((change) => ['POST', `${inbox}/${change}`]),
    ['DELETE', `${inbox}/${first}`],
    ['DELETE', `/v1/messages/${second}`],
    ['DELETE', `/v1/messages/transaction/ada-${messagesEach - 3}`],
    ['POST', `${inbox}/delete`, { data: '{}', contextKeys: [''] }],
    ['POST', '/v2/topics', { key: 'ada', name: 'x' }],
    ['PATCH', '/v2/topics/ada', { name: 'y' }],
    ['PATCH', '/v1/topics/ada', { name: 'z' }],
    ['PATCH', '/v2/topics/ada/subscriptions/ada', { name: 'x', preferences: [] }],
    ['PATCH', '/v2/topics/shared/subscriptions/shared-ada', { name: 'x', preferences: [] }],
    ['DELETE', '/v2/topics/shared/subscriptions', { subscriptions: ['ada'] }],
    ['POST', '/v1/topics/shared/subscribers', { subscribers: ['ada'] }],
    ['POST', '/v1/topics/shared/subscribers/removal', { subscribers: ['ada'] }],
    ...belongings,
    ['DELETE', '/v2/topics/ada/subscriptions', { subscriptions: [{ identifier: 'another' }] }],
    ['DELETE', '/v2/topics/ada/subscriptions', { subscriptions: ['ada'] }],
    ['POST', '/v1/topics/ada/subscribers', { subscribers: ['ada'] }],
    ['POST', '/v1/topics/ada/subscribers/removal', { subscribers: ['ada'] }],
    ['DELETE', '/v1/topics/ada'],
    ...belongings,
    ['DELETE', '/v2/topics/ada'],
    ...belongings,
    ['PATCH', '/v1/channel-endpoints/ada', { endpoint: { userId: 'x' } }],
    ['DELETE', '/v1/subscribers/ada'],
    ['POST', '/v2/subscribers', { subscriberId: 'ada' }],
    ...belongings,
    ['POST', '/v1/channel-endpoints', endpointOf('ada')],
    ['DELETE', '/v1/channel-endpoints/ada'],
    ['POST', '/v1/channel-endpoints', endpointOf('ada')],
    ['DELETE', '/v2/subscribers/ada'],
    ['PATCH', '/v1/channel-connections/ada', workspace('x')],
    ['DELETE', '/v1/channel-connections/ada'],
    ['PATCH', '/v2/contexts/ada/own', { data: { x: 1 } }],
    ['DELETE', '/v2/contexts/ada/own'],
    ['PATCH', '/v1/tenants/ada', { name: 'x' }],
    ['DELETE', '/v1/tenants/ada'],
    ['PATCH', '/v1/environment-variables/ada', { isSecret: true }],
    ['DELETE', '/v1/environment-variables/ada'],
    ['PUT', `/v1/integrations/${chat}`, { name: 'x', active: true }],
    ['POST', `/v1/integrations/${mail.body._id}/set-primary`],
    ['PUT', `/v1/integrations/${mail.body._id}`, { active: false }],
    ['DELETE', `/v1/integrations/${chat}`],
    ['PUT', `/v1/environments/${api.environmentId}`, { color: '#000' }],
    ['POST', '/v1/environments/api-keys/regenerate'],
  ] as Array<[method: string, path: string, body?: object]>) {
    const name = `${method} ${path}`
    const answer = await (isShared(path) ? wide : api).send(method, path, body)
    expect([name, answer.status, answer.body?.message]).toEqual([name, expect.toBeOneOf([200, 201, 204]), undefined])
    expect([name, await bystanders(api)]).toEqual([name, before])
  }
})
