// A subscriber's token gives access to that subscriber's data in that environment and context only: every inbox route is
// called with every wrong token.
import { beforeEach, describe, expect, test } from 'vitest'
import { Secrets } from '../src/db/core/secrets.ts'
import { insertMessage, insertRun } from './activity.ts'
import { type InboxClient, openInbox } from './inbox.ts'
import { inApp, makeWorkflow } from './runs.ts'
import { type Answer, type Api, secretKey, useServer } from './server.ts'

const server = useServer()
/** Contained in all data of Ada. */
const mark = 'only-for-ada'
const topicKey = 'press'
let api: Api
let ada: InboxClient
let notificationId: string
let pushSubscriptionId: string
const browser = {
  endpoint: 'https://push.example.net/ada',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
}

beforeEach(async () => {
  api = await server.freshApi()
  await furnish(api)
  ada = await openInbox(server, api, 'ada')
  const run = await insertRun(server, api, 'ada')
  const buttons = [{ type: 'primary', content: mark }]
  notificationId = await insertMessage(server, run, { content: mark, subject: mark, cta: { action: { buttons } } })
  await insertMessage(server, run, { content: mark, snoozed_until: new Date('2027-01-01') })
  const connection = { integrationIdentifier: 'slack', identifier: 'mine', subscriberId: 'ada' }
  await done(
    api.post('/v1/channel-connections', {
      ...{ ...connection, workspace: { id: 'T1', name: mark }, auth: { accessToken: 'xoxb' } },
    }),
  )
  await done(
    api.post('/v1/channel-endpoints', {
      ...{ identifier: 'chat', integrationIdentifier: 'slack', connectionIdentifier: 'mine', subscriberId: 'ada' },
      ...{ type: 'slack_user', endpoint: { userId: mark } },
    }),
  )
  await done(api.post('/v2/topics', { key: topicKey, joinableFromBrowser: true }))
  await done(
    ada.post(`/topics/${topicKey}/subscriptions`, { identifier: 'followed', name: mark, preferences: ['news'] }),
  )
  pushSubscriptionId = (await ada.post('/push/subscriptions', { ...browser, label: mark })).body.data.id
  await done(ada.patch('/preferences/news', { in_app: false }))
  await done(ada.patch('/preferences', { schedule: { isEnabled: false } }))
})

/** What every environment has, whoever its subscribers are. */
async function furnish(environment: Api): Promise<void> {
  await makeWorkflow(environment, 'news', [inApp('News')])
  const integration = { providerId: 'slack', channel: 'chat', identifier: 'slack', active: true }
  await done(environment.post('/v1/integrations', { ...integration, credentials: { clientId: 'c', secretKey: 's' } }))
}

async function done(asked: Promise<Answer>): Promise<void> {
  const answer = await asked
  expect(answer.status, answer.text).toBeLessThan(300)
}

/** The body for each route. Ids in paths are Ada's. */
const snoozeUntil = () => new Date(server.clock.now().getTime() + 3_600_000).toISOString()
const actionType = 'primary'
const routes: Record<string, (() => object) | undefined> = {
  'GET /v1/inbox/notifications': undefined,
  'GET /v1/inbox/notifications/count': undefined,
  'PATCH /v1/inbox/notifications/{notificationId}/read': undefined,
  'PATCH /v1/inbox/notifications/{notificationId}/unread': undefined,
  'PATCH /v1/inbox/notifications/{notificationId}/archive': undefined,
  'PATCH /v1/inbox/notifications/{notificationId}/unarchive': undefined,
  'PATCH /v1/inbox/notifications/{notificationId}/snooze': () => ({ snoozeUntil: snoozeUntil() }),
  'PATCH /v1/inbox/notifications/{notificationId}/unsnooze': undefined,
  'PATCH /v1/inbox/notifications/{notificationId}/complete': () => ({ actionType }),
  'PATCH /v1/inbox/notifications/{notificationId}/revert': () => ({ actionType }),
  'DELETE /v1/inbox/notifications/{notificationId}/delete': undefined,
  'POST /v1/inbox/notifications/seen': () => ({ notificationIds: [notificationId] }),
  'POST /v1/inbox/notifications/read': () => ({}),
  'POST /v1/inbox/notifications/archive': () => ({}),
  'POST /v1/inbox/notifications/read-archive': () => ({}),
  'POST /v1/inbox/notifications/delete': () => ({}),
  'GET /v1/inbox/preferences': undefined,
  'PATCH /v1/inbox/preferences': () => ({ in_app: true, schedule: { isEnabled: true } }),
  'GET /v1/inbox/preferences/global': undefined,
  'PATCH /v1/inbox/preferences/bulk': () => ({
    preferences: [{ workflowId: 'news', in_app: true, subscriptionIdentifier: 'followed' }],
  }),
  'PATCH /v1/inbox/preferences/{workflowIdOrIdentifier}': () => ({ in_app: true }),
  'PATCH /v1/inbox/subscriptions/{identifier}/preferences/{workflowIdOrIdentifier}': () => ({ enabled: false }),
  'GET /v1/inbox/push/key': undefined,
  'GET /v1/inbox/push/subscriptions': undefined,
  'POST /v1/inbox/push/subscriptions': () => ({ ...browser, endpoint: 'https://push.example.net/other' }),
  'DELETE /v1/inbox/push/subscriptions/{pushSubscriptionId}': undefined,
  'GET /v1/inbox/subscriber': undefined,
  'PATCH /v1/inbox/subscriber': () => ({ timezone: 'Asia/Tokyo' }),
  'GET /v1/inbox/topics/{topicKey}/subscriptions': undefined,
  'POST /v1/inbox/topics/{topicKey}/subscriptions': () => ({ identifier: '' }),
  'GET /v1/inbox/topics/{topicKey}/subscriptions/{identifier}': undefined,
  'PATCH /v1/inbox/topics/{topicKey}/subscriptions/{identifier}': () => ({ name: 'Mine now' }),
  'DELETE /v1/inbox/topics/{topicKey}/subscriptions/{identifier}': undefined,
  'GET /v1/inbox/channel-connections': undefined,
  'GET /v1/inbox/channel-connections/{identifier}': undefined,
  'DELETE /v1/inbox/channel-connections/{identifier}': undefined,
  'POST /v1/inbox/channel-connections/oauth': () => ({ integrationIdentifier: 'slack', subscriberId: 'ada' }),
  'POST /v1/inbox/channel-endpoints/oauth': () => ({ integrationIdentifier: 'slack', subscriberId: 'ada' }),
  'POST /v1/inbox/chat/oauth': () => ({ integrationIdentifier: 'slack', subscriberId: 'ada' }),
  'GET /v1/inbox/channel-endpoints': undefined,
  'GET /v1/inbox/channel-endpoints/{identifier}': undefined,
  'DELETE /v1/inbox/channel-endpoints/{identifier}': undefined,
  'POST /v1/inbox/channel-endpoints/link': () => ({ integrationIdentifier: 'slack' }),
  // Not described, and always refused.
  'POST /v1/inbox/channel-endpoints': () => ({}),
  'POST /v1/inbox/events': () => ({ name: 'news', to: 'ada' }),
}

function ask(route: string, authorization: string, over = ''): Promise<Answer> {
  const [method = '', described = ''] = route.split(' ')
  const owned = described.includes('channel-connections')
    ? 'mine'
    : described.includes('endpoints')
      ? 'chat'
      : 'followed'
  const path = described
    .replace('{notificationId}', notificationId)
    .replace('{pushSubscriptionId}', pushSubscriptionId)
    .replace('{workflowIdOrIdentifier}', 'news')
    .replace('{topicKey}', topicKey)
    .replace('{identifier}', owned)
  // What a caller claims about its identity must not matter.
  const query = `subscriberId=ada&contextKeys=${over}&filters=[{}]`
  return api.send(method, `${path}?${query}`, routes[route]?.(), { authorization })
}

/** All of Ada's data without contexts. */
async function belongings(): Promise<unknown[]> {
  const { pool } = server.database
  const mine = "(SELECT id FROM subscribers WHERE environment_id = $1 AND subscriber_id = 'ada')"
  const selections = [
    `SELECT * FROM subscribers WHERE environment_id = $1 AND subscriber_id = 'ada'`,
    `SELECT * FROM messages WHERE environment_id = $1 AND subscriber_row_id IN ${mine} AND context_keys = '{}'`,
    `SELECT * FROM timers WHERE environment_id = $1`,
    `SELECT * FROM subscriber_preferences WHERE environment_id = $1 AND subscriber_row_id IN ${mine} AND context_keys = '{}'`,
    `SELECT * FROM topic_subscriptions WHERE environment_id = $1 AND subscriber_row_id IN ${mine} AND context_keys = '{}'`,
    `SELECT p.* FROM subscription_preferences p JOIN topic_subscriptions t ON t.id = p.subscription_id
     WHERE t.environment_id = $1 AND t.subscriber_row_id IN ${mine}`,
    `SELECT * FROM channel_connections WHERE environment_id = $1 AND subscriber_id = 'ada'`,
    `SELECT * FROM channel_endpoints WHERE environment_id = $1 AND subscriber_id = 'ada'`,
    `SELECT * FROM push_subscriptions WHERE environment_id = $1 AND subscriber_id = 'ada'`,
  ]
  return Promise.all(selections.map(async (text) => (await pool.query(text, [api.environmentId])).rows))
}

const needsToken = Object.keys(routes)

test('covers every route', async () => {
  const { paths } = (await api.get('/openapi.json')).body as { paths: Record<string, object> }
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith('/v1/inbox/') ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`) : [],
  )
  const hidden = ['POST /v1/inbox/channel-endpoints', 'POST /v1/inbox/events']
  expect([...needsToken, 'POST /v1/inbox/session'].sort()).toEqual([...described, ...hidden].sort())
})

test("Ada's own token gives access to all her data", async () => {
  const before = await belongings()
  expect(before.map((rows) => (rows as unknown[]).length > 0)).toEqual([
    true,
    true,
    false,
    true,
    true,
    true,
    true,
    true,
    true,
  ])
  for (const path of ['/notifications', '/channel-connections', `/topics/${topicKey}/subscriptions`])
    expect((await ada.get(path)).text).toContain(mark)
})

describe('an invalid token opens nothing', () => {
  const tokens: Array<[name: string, authorization: () => Promise<string> | string]> = [
    ['none', () => ''],
    ['the key of the environment', () => `ApiKey ${api.key}`],
    ['the key in place of a token', () => `Bearer ${api.key}`],
    ['a forged signature', () => `Bearer ${ada.token.replace(/\.[^.]+$/, '.AAAA')}`],
    ['another secret', () => `Bearer ${new Secrets('b2'.repeat(32)).makeToken(claimsOf(ada.token))}`],
    ['another use', () => `Bearer ${new Secrets(secretKey).makeToken({ ...claimsOf(ada.token), aud: 'x' })}`],
    ['an expired one', () => `Bearer ${new Secrets(secretKey).makeToken({ ...claimsOf(ada.token), exp: 1 })}`],
    [
      'a subscriber of another environment',
      async () => {
        const { environmentId } = await server.freshApi()
        return `Bearer ${new Secrets(secretKey).makeToken({ ...claimsOf(ada.token), environmentId })}`
      },
    ],
  ]
  test.each(tokens)('%s', async (_, authorize) => {
    const before = await belongings()
    const authorization = await authorize()
    for (const route of needsToken) {
      const { status, text } = await ask(route, authorization)
      expect([route, status, text.includes(mark)]).toEqual([route, 401, false])
    }
    expect(await belongings()).toEqual(before)
  })
})

describe("another subscriber's token reaches nothing of Ada's", () => {
  const others: Array<[name: string, open: () => Promise<InboxClient>]> = [
    ['another subscriber', () => openInbox(server, api, 'bob')],
    [
      'the same id in another environment',
      async () => {
        const elsewhere = await server.freshApi()
        await furnish(elsewhere)
        return openInbox(server, elsewhere, 'ada')
      },
    ],
    ['Ada in a context', () => openInbox(server, api, 'ada', { context: { tenant: 'acme' } })],
  ]
  test.each(others)('%s', async (name, open) => {
    const other = await open()
    const before = await belongings()
    // The subscriber itself is the same in every context.
    const isHers = (route: string) => name === 'Ada in a context' && route.endsWith('/subscriber')
    for (const route of needsToken.filter((each) => !isHers(each))) {
      const { status, text } = await ask(route, `Bearer ${other.token}`)
      expect([route, text.includes(mark)]).toEqual([route, false])
      if (/notificationId|\{identifier\}/.test(route))
        expect([route, status]).toEqual([route, route.startsWith('GET /v1/inbox/topics') ? 204 : 404])
      else expect([route, status < 500]).toEqual([route, true])
    }
    expect(await belongings()).toEqual(before)
  })

  test("and Ada's opens nothing of theirs, or of the service", async () => {
    for (const path of [
      '/v2/subscribers/ada',
      '/v1/environments',
      '/v1/messages',
      '/v1/sandbox/messages',
      '/v2/workflows',
    ])
      expect(await api.get(path, { authorization: `Bearer ${ada.token}` })).toMatchObject({ status: 401 })
  })
})

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
