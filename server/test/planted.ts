// An organization with at least one record of every kind, and the ids by parameter name. For tests that cover the whole API,
// so that everything they address exists.
import { expect } from 'vitest'
import { newId } from '../src/db/core/ids.ts'
import { type InboxClient, identifierOf, openInbox } from './inbox.ts'
import { type PersonApi, signInAs } from './people.ts'
import type { Answer, Api, TestServer } from './server.ts'

export interface Planted {
  development: Api
  production: Api
  /** Development, with a key of the organization. */
  wide: Api
  owner: PersonApi
  inbox: InboxClient
  /** By parameter or member name; the first id is the most useful. */
  ids: Record<string, [string, ...string[]]>
}

/** Contained in all text written by people, so that leaks outside the organization can be detected. */
export const homeWord = 'only known at home'
/** Contained in credentials, which only admins and API keys may read. */
export const credential = 'kept-from-nearly-everybody'

export async function plant(server: TestServer): Promise<Planted> {
  const secret = homeWord
  const { development: api, production } = await server.freshOrganization()
  const made = async (path: string, body?: object, by: Api = api, method = 'POST') => {
    const answer = await by.send(method, path, body)
    expect([path, answer.status, answer.text]).toEqual([path, expect.toBeOneOf([200, 201, 202]), expect.anything()])
    return answer.body
  }
  const first = async (path: string, by: Api = api): Promise<{ _id: string; id: string }> => {
    const { body }: Answer = await by.get(path)
    const [item] = body.data ?? body
    expect([path, item]).toEqual([path, expect.anything()])
    return item
  }
  const wide = await server.organizationOf(api)
  const to = { subscriberId: 'ada', email: 'ada@example.com', phone: '+14155550123' }
  await made('/v2/subscribers', { ...to, firstName: secret, data: { secret } })
  await made('/v2/subscribers', { subscriberId: 'bob', email: 'bob@example.com' })
  await made('/v1/organizations/settings', { targetLocales: ['de_DE', 'fr_FR'] }, wide, 'PATCH')
  const email = await made('/v1/integrations', {
    providerId: 'sendgrid',
    channel: 'email',
    name: secret,
    credentials: { apiKey: credential, from: 'a@example.com', senderName: 'A' },
  })
  const slack = { providerId: 'slack', channel: 'chat', identifier: 'slack', name: secret, active: true }
  const chat = await made('/v1/integrations', {
    ...slack,
    credentials: { applicationId: 'A1', clientId: 'C1', secretKey: credential },
  })
  const integrationIdentifier = 'slack'
  await made('/v1/channel-connections', {
    integrationIdentifier,
    identifier: 'workspace',
    subscriberId: 'ada',
    workspace: { id: 'T1', name: secret },
    auth: { accessToken: credential },
  })
  await made('/v1/channel-endpoints', {
    integrationIdentifier,
    identifier: 'person',
    subscriberId: 'ada',
    type: 'slack_user',
    endpoint: { userId: 'U1' },
  })
  const url = 'http://127.0.0.1:1/hook'
  const endpoint = await made('/v2/webhooks/endpoints', { url, description: secret })
  const layout = await made('/v2/layouts', { name: secret, layoutId: 'frame', isTranslationEnabled: true })
  await made('/v2/translations', {
    resourceId: 'frame',
    resourceType: 'layout',
    locale: 'de_DE',
    content: { greeting: secret },
  })
  const workflow = await made('/v2/workflows', {
    name: secret,
    workflowId: 'welcome',
    active: true,
    isTranslationEnabled: true,
    tags: ['planted'],
    steps: [
      {
        name: 'Tell',
        type: 'in_app',
        controlValues: {
          body: secret,
          primaryAction: { label: 'Yes', redirect: { url: '/yes', target: '_self' } },
          secondaryAction: { label: 'No', redirect: { url: '/no', target: '_self' } },
        },
      },
      {
        name: 'Write',
        type: 'email',
        controlValues: { subject: secret, body: `<p>${secret}</p>`, editorType: 'html' },
      },
      { name: 'Text', type: 'sms', controlValues: { body: secret } },
    ],
  })
  await made('/v2/contexts', { type: 'tenant', id: 'acme', data: { secret } })
  await made('/v1/tenants', { identifier: 'acme', name: secret })
  const override = await made('/v1/workflow-overrides', { workflowId: 'welcome', tenantId: 'acme', active: true })
  const values = [{ _environmentId: api.environmentId, value: credential }]
  await made('/v1/environment-variables', { key: 'GREETING', isSecret: true, values }, wide)
  await made('/v2/topics', { key: 'news', name: secret })
  const shifts = [{ start: '2026-01-01T00:00', end: '2027-01-01T00:00', who: ['ada'] }]
  await made('/v2/rotas', { rotaId: 'primary', name: secret, timezone: 'UTC', shifts })
  await made('/v2/topics/news/subscriptions', { subscriptions: [{ identifier: 'reading', subscriberId: 'ada' }] })
  const staging = await made(
    '/v1/environments',
    { name: 'Staging', color: '#123456', parentId: api.environmentId },
    wide,
  )

  await made('/v2/subscribers', { subscriberId: 'gone' })
  const { body: erasure } = await api.post('/v2/subscribers/gone/erase')

  // One successful run, and one whose text message was rejected.
  await made('/v1/sandbox/faults', { channel: 'sms', fault: 'rejected' }, api, 'PUT')
  await made('/v1/events/trigger', { name: 'welcome', to, transactionId: 'first', payload: { secret } })
  await server.drain()

  const owner = await signInAs(server, api, 'owner')
  const member = await signInAs(server, api, 'viewer')
  await made('/v1/auth/factors/app', undefined, owner)
  const invitation = await made('/v1/auth/invitations', { email: 'eve@example.com', role: 'viewer' }, owner)
  const view = await made('/v1/auth/views', { page: 'subscribers', name: secret, search: '' }, owner)
  const inbox = await openInbox(server, api, 'ada')
  const [run, message, item, mail, delivery, event, session] = await Promise.all([
    first('/v1/notifications'),
    first('/v1/messages?channel=email'),
    first('/v2/subscribers/ada/notifications'),
    first('/v1/sandbox/messages'),
    first('/v1/deliveries'),
    first('/v2/webhooks/events'),
    first('/v1/auth/sessions', owner),
  ])
  const target = `/v2/environments/${production.environmentId}`
  await made(`${target}/protection`, { isProtected: true }, owner, 'PATCH')
  const asked = await made(`${target}/publish-requests`, { comment: secret }, wide)
  await made(`${target}/protection`, { isProtected: false }, owner, 'PATCH')
  const passkey = {
    ...{ id: newId(server.clock.now()), user_id: owner.id, credential_id: newId(server.clock.now()), name: secret },
    ...{ public_key: 'x', counter: 0, transports: [], host: 'belfry.example.com', created_at: server.clock.now() },
  }
  await server.database.db.insertInto('passkeys').values(passkey).execute()
  const call = { name: 'missing', to: 'ada', payload: { secret }, transactionId: 'refused' }
  await server.database.db
    .insertInto('belfry.refused')
    .values({
      ...{ environment_id: api.environmentId, id: newId(server.clock.now()), format: 1, kind: 'trigger', role: secret },
      ...{ transaction_id: 'refused', body: JSON.stringify(call), code: 'workflow_not_found', message: secret },
      ...{ created_at: server.clock.now(), refused_at: server.clock.now() },
    })
    .execute()
  const key = await made('/v2/api-keys', { name: secret, scopes: ['read'] })
  const held = await made('/v1/suppressions', { channel: 'email', address: 'eve@example.com', note: secret })
  const { data: browser } = (
    await inbox.post('/push/subscriptions', {
      ...{ endpoint: `https://push.example.net/${secret}`, label: secret },
      keys: {
        p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        auth: 'BTBZMqHH6r4Tts7J_aSIgg',
      },
    })
  ).body
  const names = { subscriberId: ['ada', 'bob'], workflowId: [workflow._id, 'welcome'] }
  const ids: Record<string, string[]> = {
    ...names,
    externalSubscriberId: names.subscriberId,
    subscriberIds: names.subscriberId,
    to: names.subscriberId,
    name: ['welcome'],
    workflowIdOrIdentifier: names.workflowId,
    workflowIds: names.workflowId,
    stepId: [workflow.steps[0]._id, workflow.steps[1]._id, workflow.steps[0].stepId],
    integrationId: [email._id, chat._id],
    providerOrIntegrationId: [email._id, 'sendgrid'],
    integrationIdentifier: [integrationIdentifier],
    providerId: ['sendgrid', 'slack', 'fcm'],
    endpointId: [endpoint._id],
    layoutId: [layout._id, 'frame'],
    version: ['1'],
    resourceId: ['frame', 'welcome'],
    resourceType: ['layout', 'workflow'],
    locale: ['de_DE', 'en_US'],
    environmentId: [api.environmentId, staging._id],
    _environmentId: [api.environmentId, production.environmentId],
    parentId: [api.environmentId],
    targetEnvironmentId: [production.environmentId, staging._id],
    sourceEnvironmentId: [api.environmentId],
    organizationId: [api.organizationId],
    applicationIdentifier: [await identifierOf(server, api)],
    notificationId: [item.id, run._id],
    notificationIds: [item.id],
    messageId: [message._id, mail._id ?? mail.id, item.id],
    transactionId: ['first'],
    deliveryId: [delivery.id],
    eventId: [event.id],
    overrideId: [override._id],
    ...(erasure._id || erasure.id ? { erasureId: [erasure._id ?? erasure.id] } : {}),
    tenantId: ['acme'],
    type: ['tenant', 'primary', 'secondary'],
    actionType: ['primary', 'secondary'],
    id: ['acme'],
    identifier: ['acme', 'workspace', 'person', 'reading', 'slack'],
    'tenants/identifier': ['acme'],
    'channel-connections/identifier': ['workspace'],
    'channel-endpoints/identifier': ['person'],
    'subscriptions/identifier': ['reading'],
    'contexts/type': ['tenant'],
    'actions/type': ['primary', 'secondary'],
    connectionIdentifier: ['workspace'],
    topicKey: ['news'],
    rotaId: ['primary'],
    key: ['news'],
    variableKey: ['GREETING'],
    level: ['global', 'template'],
    channel: ['email', 'chat'],
    memberId: [member.id],
    invitationId: [invitation._id],
    sessionId: [session._id],
    viewId: [view._id],
    passkeyId: [passkey.id],
    keyId: [key._id],
    requestId: [asked._id],
    suppressionId: [held._id],
    pushSubscriptionId: [browser.id],
    purpose: ['inbox', 'bridge'],
    url: [url, 'http://127.0.0.1:1/other'],
    bridgeUrl: [url],
    webhookUrl: [url],
    email: ['ada@example.com'],
  }
  return { development: api, production, wide, owner, inbox, ids: ids as Planted['ids'] }
}

/** The ids for a parameter of this path. Some names mean several kinds, told apart by the path before them. */
export function knownFor(ids: Planted['ids'], path: string, name: string): Planted['ids'][string] | undefined {
  const before = /([^/]+)\/$/.exec(path.split(`{${name}}`, 1)[0] ?? '')?.[1]
  return ids[`${before}/${name}`] ?? ids[name]
}
