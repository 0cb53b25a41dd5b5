// Importing data: files.md §6.
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { openInbox, useSockets } from '../../../test/inbox.ts'
import { addIntegration } from '../../../test/integrations.ts'
import { signInAs } from '../../../test/people.ts'
import { inApp, makeWorkflow, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { makeEndpoint } from '../../../test/webhook-receiver.ts'

const server = useServer({ allowPrivateAddresses: true, retention: { activityDays: 90, messageDays: 365 } })
const vendor = useVendor()
const sockets = useSockets()
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const send = async (kind: string, items: object[], more: object = {}) => {
  const answer = await api.post(`/v2/import/${kind}`, { items, ...more })
  expect(answer, answer.text).toMatchObject({ status: 200 })
  return answer.body
}
const ada = { subscriberId: 'ada', firstName: 'Ada', data: { plan: 'pro' }, updatedAt: '2026-03-01T00:00:00.000Z' }
const done = (imported: number, unchanged = 0) => ({ imported, unchanged, failed: [] })
const subscriber = async (id = 'ada') => (await api.get(`/v2/subscribers/${id}`)).body

describe('subscribers', () => {
  test('are created with their times; the same again changes nothing', async () => {
    const items = [
      { ...ada, createdAt: '2025-01-01T00:00:00.000Z' },
      { subscriberId: ' bob ', email: 'bob@example.com' },
    ]
    expect(await send('subscribers', items)).toEqual(done(2))
    const before = await subscriber()
    expect(before).toMatchObject({
      ...{ firstName: 'Ada', data: { plan: 'pro' }, createdAt: '2025-01-01T00:00:00.000Z', updatedAt: ada.updatedAt },
    })
    expect((await subscriber('bob')).email).toBe('bob@example.com')
    server.clock.advance({ minutes: 1 })
    expect(await send('subscribers', items)).toEqual(done(0, 2))
    expect(await subscriber()).toEqual(before)
  })

  test('what was written here later than the item stays; a later item wins, and absent fields stay', async () => {
    await send('subscribers', [ada])
    await api.patch('/v2/subscribers/ada', { firstName: 'Here', phone: '+15551234567' })
    expect(await send('subscribers', [{ ...ada, firstName: 'There' }])).toEqual(done(0, 1))
    expect((await subscriber()).firstName).toBe('Here')
    server.clock.advance({ hours: 1 })
    const later = { subscriberId: 'ada', firstName: 'Later', updatedAt: server.clock.now().toISOString() }
    expect(await send('subscribers', [later])).toEqual(done(1))
    expect(await subscriber()).toMatchObject({ firstName: 'Later', phone: '+15551234567', data: { plan: 'pro' } })
  })

  test('an item without a time is the newest; one from the future counts as of now', async () => {
    await send('subscribers', [ada])
    expect(await send('subscribers', [{ subscriberId: 'ada', firstName: 'Plain' }])).toEqual(done(1))
    await send('subscribers', [{ subscriberId: 'ada', lastName: 'L', updatedAt: '2099-01-01T00:00:00.000Z' }])
    expect((await subscriber()).updatedAt).toBe(server.clock.now().toISOString())
  })

  test('good items are taken though others fail, each with its place and reason', async () => {
    expect(await send('subscribers', [{ firstName: 'nobody' }, ada, { subscriberId: 'x', email: 'no' }])).toEqual({
      ...{ imported: 1, unchanged: 0 },
      failed: [
        { index: 0, code: 'validation', message: expect.stringContaining('SubscriberId is required') },
        { index: 2, code: 'validation', message: expect.stringContaining('email') },
      ],
    })
  })

  test('one with text or a number that cannot be stored fails alone', async () => {
    const items = String.raw`[{"subscriberId":"good1"},{"subscriberId":"bad\u0000"},{"subscriberId":"x","firstName":"\ud83d"},
      {"subscriberId":"y","data":{"n":1e400}},{"subscriberId":"z","ignored":{"\u0000":1}},{"subscriberId":"good2","firstName":"\u00fc"}]`
    const answer = await api.post('/v2/import/subscribers', `{"items":${items}}`)
    expect(answer).toMatchObject({ status: 200, body: { imported: 2, unchanged: 0 } })
    expect(answer.body.failed).toEqual(
      ['NUL characters', 'half of a surrogate', 'a number is too large', 'NUL characters'].map((why, n) => ({
        ...{ index: n + 1, code: 'invalid_text', message: expect.stringContaining(why) },
      })),
    )
    expect((await api.get('/v2/subscribers')).body.totalCount).toBe(2)
    // Beside the items it is the request that is wrong.
    const source = String.raw`{"importId":"i","source":"a\u0000","found":{},"offset":0}`
    const beside = await api.post('/v2/import/subscribers', `{"items":[{"subscriberId":"a"}],"progress":${source}}`)
    expect(beside).toMatchObject({ status: 400, body: { code: 'invalid_text' } })
  })

  test('the same one several times in a request is stored one after the other', async () => {
    const items = ['A', 'B', 'B'].map((firstName) => ({ subscriberId: 'ada', firstName }))
    expect(await send('subscribers', [...items, { subscriberId: 'bob' }])).toEqual(done(3, 1))
    expect((await subscriber()).firstName).toBe('B')
    // In one commit.
    const { rows } = await sql`
      SELECT DISTINCT xmin::text FROM subscribers WHERE environment_id = ${api.environmentId}`.execute(
      server.database.db,
    )
    expect(rows).toHaveLength(1)
  })

  test('two imports of the same people at once both succeed, and each is there once', async () => {
    const items = Array.from({ length: 100 }, (_, n) => ({ subscriberId: `s${n}`, firstName: 'A' }))
    const answers = await Promise.all([send('subscribers', items), send('subscribers', items.toReversed())])
    expect(answers.map(({ imported }) => imported).reduce((sum, each) => sum + each, 0)).toBe(100)
  })
})

describe('preferences', () => {
  beforeEach(async () => {
    await makeWorkflow(api, 'comments', [inApp(), { type: 'email', controlValues: { subject: 's', body: 'b' } }])
    await send('subscribers', [ada])
  })
  const shown = async () => (await api.get('/v2/subscribers/ada/preferences')).body
  const time = '2026-03-01T00:00:00.000Z'

  test('global ones with a schedule, those of a workflow, and those of a context stand side by side', async () => {
    const schedule = {
      isEnabled: true,
      weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } },
    }
    const items = [
      { subscriberId: 'ada', channels: { email: false }, schedule, updatedAt: time },
      { subscriberId: 'ada', workflowId: 'comments', channels: { email: true, in_app: false }, updatedAt: time },
      { subscriberId: 'ada', channels: { in_app: false }, contextKeys: ['tenant:acme'], updatedAt: time },
    ]
    expect(await send('preferences', items)).toEqual(done(3))
    expect(await shown()).toMatchObject({
      global: { channels: { email: false, in_app: true }, schedule },
      workflows: [{ channels: { email: true, in_app: false }, updatedAt: time }],
    })
    const inContext = await api.get('/v2/subscribers/ada/preferences?contextKeys=tenant:acme')
    expect(inContext.body.global.channels).toMatchObject({ in_app: false })
    expect((await api.get('/v2/contexts/tenant/acme')).status).toBe(200)
    expect(await send('preferences', items)).toEqual(done(0, 3))
  })

  test('a choice made here later stays', async () => {
    await send('preferences', [{ subscriberId: 'ada', channels: { email: false }, updatedAt: time }])
    await api.patch('/v2/subscribers/ada/preferences', { channels: { email: true } })
    expect(await send('preferences', [{ subscriberId: 'ada', channels: { email: false }, updatedAt: time }])).toEqual(
      done(0, 1),
    )
    expect((await shown()).global.channels.email).toBe(true)
  })

  test('who or what is not there fails, and so does what says nothing', async () => {
    const items = [
      { subscriberId: 'nobody', channels: { email: false } },
      { subscriberId: 'ada', workflowId: 'nothing', channels: { email: false } },
      { subscriberId: 'ada' },
      { subscriberId: 'ada', workflowId: 'comments', schedule: { isEnabled: false } },
      { subscriberId: 'ada', channels: {}, schedule: { isEnabled: true, weeklySchedule: {} } },
      { subscriberId: 'ada', channels: {}, contextKeys: ['no key'] },
    ]
    const { failed, imported } = await send('preferences', items)
    expect(imported).toBe(0)
    expect(failed.map(({ index, code }: { index: number; code: string }) => `${index} ${code}`)).toEqual([
      '0 subscriber_not_found',
      '1 preference_workflows_not_found',
      '2 validation',
      '3 validation',
      '4 validation',
      '5 validation',
    ])
  })
})

describe('credentials', () => {
  beforeEach(async () => {
    await addIntegration(server, api, { identifier: 'phones', provider: 'fcm', channel: 'push', active: false })
    await addIntegration(server, api, { identifier: 'chat', provider: 'discord', channel: 'chat', active: true })
    await send('subscribers', [ada])
  })
  const tokens = { subscriberId: 'ada', providerId: 'fcm', deviceTokens: ['a', 'b'], updatedAt: ada.updatedAt }
  const hook = {
    subscriberId: 'ada',
    providerId: 'discord',
    integrationIdentifier: 'chat',
    webhookUrl: 'https://example.com/h',
    updatedAt: ada.updatedAt,
  }

  test('come to integrations that are not active yet; addresses are encrypted; the same again changes nothing', async () => {
    expect(await send('credentials', [tokens, hook])).toEqual(done(2))
    expect((await subscriber()).channels).toMatchObject([
      { providerId: 'fcm', integrationIdentifier: 'phones', credentials: { deviceTokens: ['a', 'b'] } },
      { providerId: 'discord', integrationIdentifier: 'chat', credentials: { webhookUrl: 'https://example.com/h' } },
    ])
    const { rows } = await sql<{
      text: string
    }>`SELECT channels::text AS text FROM subscribers WHERE environment_id = ${api.environmentId}`.execute(
      server.database.db,
    )
    expect(rows[0]?.text).not.toContain('https://example.com/h')
    expect(await send('credentials', [tokens, hook])).toEqual(done(0, 2))
    expect((await subscriber()).updatedAt).toBe(ada.updatedAt)
  })

  test('what was deleted here does not come back, but by something newer', async () => {
    await send('credentials', [tokens, hook])
    server.clock.advance({ hours: 1 })
    const remove = async () => {
      const { status } = await api.delete('/v1/subscribers/ada/credentials/fcm')
      expect(status).toBe(204)
      expect((await subscriber()).channels).toMatchObject([{ providerId: 'discord' }])
    }
    await remove()
    const { updatedAt } = await subscriber()
    expect(updatedAt).toBe(server.clock.now().toISOString())
    // The same again, others of the same age, and those that do not say how old they are.
    const { updatedAt: _, ...timeless } = tokens
    expect(await send('credentials', [tokens, { ...tokens, deviceTokens: ['c'] }, timeless])).toEqual(done(0, 3))
    expect((await subscriber()).channels).toMatchObject([{ providerId: 'discord' }])
    // That it was deleted is kept, and nothing else of it.
    const [exported] = (await api.get('/v2/subscribers/ada/export')).body.data.subscribers
    expect(exported.channels[0]).toMatchObject({ providerId: 'fcm', credentials: {}, deletedAt: updatedAt })
    // Deleting what is gone changes nothing.
    server.clock.advance({ hours: 1 })
    await remove()
    expect((await subscriber()).updatedAt).toBe(updatedAt)

    const later = { ...tokens, deviceTokens: ['d'], updatedAt: server.clock.now().toISOString() }
    expect(await send('credentials', [later])).toEqual(done(1))
    const held = async () =>
      (await subscriber()).channels.map(
        ({ credentials }: { credentials: { deviceTokens?: string[] } }) => credentials.deviceTokens,
      )
    expect(await held()).toEqual([['d'], undefined])
    // Their app registers the device again: that is no import, and it counts.
    await remove()
    await server.database.db
      .updateTable('integrations')
      .set({ active: true })
      .where('identifier', '=', 'phones')
      .execute()
    await api.put('/v1/subscribers/ada/credentials', { providerId: 'fcm', credentials: { deviceTokens: ['e'] } })
    expect(await held()).toContainEqual(['e'])
  })

  test('those of an integration that has none yet come, though the subscriber was changed here later', async () => {
    await api.patch('/v2/subscribers/ada', { firstName: 'Here' })
    expect(await send('credentials', [tokens])).toEqual(done(1))
  })

  test('a token that was removed here later does not come back', async () => {
    await send('credentials', [tokens])
    await api.put('/v1/subscribers/ada/credentials', {
      providerId: 'discord',
      credentials: { webhookUrl: 'https://example.com/own' },
    })
    expect(await send('credentials', [{ ...tokens, deviceTokens: ['c'] }, hook])).toEqual(done(0, 2))
    expect((await subscriber()).channels.map(({ credentials }: { credentials: object }) => credentials)).toEqual([
      { deviceTokens: ['a', 'b'] },
      { webhookUrl: 'https://example.com/own' },
    ])
  })

  test('fails for nobody, no integration, nothing said, and too many tokens', async () => {
    const { failed } = await send('credentials', [
      { ...tokens, subscriberId: 'nobody' },
      { ...tokens, providerId: 'apns' },
      { subscriberId: 'ada', providerId: 'fcm' },
      { ...tokens, deviceTokens: Array.from({ length: 101 }, (_, n) => `t${n}`) },
    ])
    expect(failed.map(({ code }: { code: string }) => code)).toEqual([
      ...['subscriber_not_found', 'no_active_integration', 'validation', 'too_many_device_tokens'],
    ])
  })
})

describe('topic-subscriptions', () => {
  test('come with their topics, names, contexts and preferences; those that are there stay', async () => {
    await makeWorkflow(api, 'comments', [inApp()])
    await send('subscribers', [ada])
    const items = [
      { topicKey: 'news', topicName: 'News', subscriberId: 'ada' },
      {
        ...{ topicKey: 'posts', subscriberId: 'ada', identifier: 'own', name: 'Mine', contextKeys: ['tenant:acme'] },
        preferences: [{ workflowId: 'comments', enabled: false }],
      },
      { topicKey: 'no key!', subscriberId: 'ada' },
      { topicKey: 'news', subscriberId: 'nobody' },
      { topicKey: 'news', subscriberId: 'ada', identifier: 'own' },
    ]
    const answer = await send('topic-subscriptions', items)
    expect(answer).toMatchObject({
      imported: 2,
      failed: [
        { code: 'invalid_topic_key' },
        { code: 'subscriber_not_found' },
        { code: 'subscription_identifier_taken' },
      ],
    })
    expect((await api.get('/v2/topics/news')).body.name).toBe('News')
    expect((await api.get('/v2/topics/posts/subscriptions/own')).body).toMatchObject({
      ...{ name: 'Mine', contextKeys: ['tenant:acme'] },
      preferences: [{ enabled: false, workflow: { identifier: 'comments' } }],
    })
    expect(await send('topic-subscriptions', items.slice(0, 2))).toEqual(done(0, 2))
    const many = Array.from({ length: 11 }, (_, n) => ({ topicKey: 'news', subscriberId: 'ada', identifier: `n${n}` }))
    expect(await send('topic-subscriptions', many)).toMatchObject({
      ...{ imported: 9, failed: [{ index: 9, code: 'too_many_topic_subscriptions' }, { index: 10 }] },
    })
  })
})

describe('messages', () => {
  const id = '6993f0c2e4b0a1b2c3d4e5f6' // February 2026
  const message = {
    ...{ id, subscriberId: 'ada', workflowId: 'comments', transactionId: 'c-42', subject: 'Bob wrote', body: 'Nice' },
    ...{
      redirect: { url: '/posts/1' },
      primaryAction: { label: 'Open', isCompleted: true },
      secondaryAction: { label: 'Later', redirect: { url: 'https://example.com/later' } },
      avatar: 'https://example.com/bob.png',
      tags: ['x'],
      data: { a: 1 },
    },
    ...{ createdAt: '2026-02-17T04:41:22.000Z', readAt: '2026-02-18T00:00:00.000Z' },
  }
  const inbox = async (query = '') => (await api.get(`/v2/subscribers/ada/notifications${query}`)).body.data
  beforeEach(async () => {
    await makeWorkflow(api, 'comments', [inApp()])
    await send('subscribers', [ada])
  })

  test('show in the inbox with their ids, times and marks; the same again changes nothing', async () => {
    expect(await send('messages', [message])).toEqual(done(1))
    expect(await inbox()).toMatchObject([
      {
        ...{
          id,
          transactionId: 'c-42',
          subject: 'Bob wrote',
          body: 'Nice',
          isRead: true,
          isSeen: true,
          isArchived: false,
        },
        ...{ createdAt: message.createdAt, readAt: message.readAt, redirect: { url: '/posts/1', target: '_self' } },
        ...{ primaryAction: { label: 'Open', isCompleted: true }, tags: ['x'], data: { a: 1 } },
        secondaryAction: {
          ...{ label: 'Later', isCompleted: false, redirect: { url: 'https://example.com/later', target: '_blank' } },
        },
        avatar: 'https://example.com/bob.png',
        workflow: { identifier: 'comments' },
      },
    ])
    expect(await send('messages', [message])).toEqual(done(0, 1))
  })

  test('lie in the partition of their month, so that they go with it', async () => {
    await send('messages', [message])
    const { rows } = await sql<{ place: string }>`
      SELECT tableoid::regclass::text AS place FROM messages WHERE environment_id = ${api.environmentId}`.execute(
      server.database.db,
    )
    expect(rows).toEqual([{ place: 'messages_2026_02' }])
  })

  test('a mark made here later stays, one made there later comes', async () => {
    const unread = { ...message, readAt: null }
    await send('messages', [unread])
    await api.patch(`/v2/subscribers/ada/notifications/${id}/archive`)
    expect(await send('messages', [{ ...message, archivedAt: null }])).toEqual(done(0, 1))
    expect(await inbox('?archived=true')).toMatchObject([{ id, isArchived: true }])
    server.clock.advance({ hours: 1 })
    const later = server.clock.now().toISOString()
    expect(await send('messages', [{ ...unread, seenAt: later, updatedAt: later }])).toEqual(done(1))
    expect(await inbox()).toMatchObject([{ id, isRead: false, isSeen: true, isArchived: false }])
  })

  test('one without an id of ours gets the same id every time', async () => {
    const { id: _, ...plain } = message
    expect(await send('messages', [plain, { ...plain, id: 'msg_1' }])).toEqual(done(2))
    expect(await send('messages', [plain, { ...plain, id: 'msg_1' }])).toEqual(done(0, 2))
    expect(await inbox()).toHaveLength(2)
  })

  test('a snoozed one comes back when it is due', async () => {
    const until = new Date(server.clock.now().getTime() + 3_600_000).toISOString()
    await send('messages', [{ ...message, snoozedUntil: until }])
    expect(await inbox('?snoozed=true')).toMatchObject([{ id, isSnoozed: true }])
    server.clock.advance({ hours: 2 })
    await server.drain()
    expect(await inbox()).toMatchObject([{ id, isSnoozed: false, isRead: false }])
  })

  test('fails for nobody, no workflow, one of the future, one of somebody else, and past the retention', async () => {
    await send('subscribers', [{ subscriberId: 'bob' }])
    await send('messages', [message])
    const { failed } = await send('messages', [
      { ...message, subscriberId: 'nobody' },
      { ...message, workflowId: 'nothing' },
      { ...message, id: 'later', createdAt: '2099-01-01T00:00:00.000Z' },
      { ...message, subscriberId: 'bob', updatedAt: server.clock.now().toISOString() },
      { ...message, id: '64000000e4b0a1b2c3d4e5f6', createdAt: '2023-03-02T00:00:00.000Z' },
    ])
    expect(failed.map(({ code }: { code: string }) => code)).toEqual([
      ...['subscriber_not_found', 'workflow_not_found', 'validation', 'message_id_taken', 'past_retention'],
    ])
    expect(failed.at(-1).message).toBe('Older than messages are kept here')
    // Where messages are kept forever, none is too old.
    await api.patch(`/v2/environments/${api.environmentId}/retention`, { inboxDays: 0 })
    const old = { ...message, id: '64000000e4b0a1b2c3d4e5f6', createdAt: '2023-03-02T00:00:00.000Z' }
    expect(await send('messages', [old])).toEqual(done(1))
  })

  test('are exported and erased with their subscriber', async () => {
    await send('messages', [message])
    await send('preferences', [{ subscriberId: 'ada', channels: { email: false } }])
    const exported = await api.get('/v2/subscribers/ada/export')
    expect(exported.text).toContain('Bob wrote')
    expect((await api.post('/v2/subscribers/ada/erase', {})).status).toBeLessThan(300)
    await server.drain()
    const { rows } = await sql<{ count: number }>`
      SELECT (SELECT count(*) FROM messages WHERE environment_id = ${api.environmentId})
           + (SELECT count(*) FROM subscriber_preferences WHERE environment_id = ${api.environmentId}) AS count`.execute(
      server.database.db,
    )
    expect(Number(rows[0]?.count)).toBe(0)
  })
})

test('an open inbox is told nothing of what is imported', async () => {
  await makeWorkflow(api, 'comments', [inApp('Own')])
  await addIntegration(server, api, { identifier: 'phones', provider: 'fcm', channel: 'push' })
  const inbox = await openInbox(server, api, 'ada')
  const socket = await sockets.connect(inbox)
  socket.heard.splice(0)
  const later = server.clock.now().toISOString()
  const message = {
    subscriberId: 'ada',
    workflowId: 'comments',
    body: 'Imported',
    createdAt: '2026-04-01T00:00:00.000Z',
  }
  expect(await send('subscribers', [{ ...ada, updatedAt: later }])).toEqual(done(1))
  expect(await send('messages', [message])).toEqual(done(1))
  expect(await send('messages', [{ ...message, readAt: later, updatedAt: later }])).toEqual(done(1))
  expect(await send('preferences', [{ subscriberId: 'ada', channels: { email: false } }])).toEqual(done(1))
  expect(await send('credentials', [{ subscriberId: 'ada', providerId: 'fcm', deviceTokens: ['a'] }])).toEqual(done(1))
  expect(await send('topic-subscriptions', [{ topicKey: 'news', subscriberId: 'ada' }])).toEqual(done(1))
  await server.drain()
  // A message that is sent afterwards is the first thing it hears: news of one inbox come in order.
  await trigger(api, 'comments', 'ada')
  await server.drain()
  await expect.poll(() => socket.events, { timeout: 30_000 }).toContain('notification_received')
  expect(socket.heard[0]).toMatchObject(['notification_received', { message: { content: 'Own' } }])
  expect((await inbox.get('/notifications')).body.data).toHaveLength(2)
})

test('nothing is sent, and nobody is told', async () => {
  vendor.plays(() => ({ status: 204, body: '' }))
  await makeEndpoint(api, vendor)
  await makeWorkflow(api, 'comments', [inApp()])
  const told = async () => {
    const { rows } = await sql<{ count: number }>`
      SELECT count(*)::int AS count FROM webhook_events WHERE environment_id = ${api.environmentId}`.execute(
      server.database.db,
    )
    return rows[0]?.count
  }
  const before = await told()
  await send('subscribers', [ada])
  await send('preferences', [{ subscriberId: 'ada', channels: { email: false } }])
  const later = server.clock.now().toISOString()
  expect(await send('subscribers', [{ ...ada, firstName: 'Changed', updatedAt: later }])).toEqual(done(1))
  await addIntegration(server, api, { identifier: 'phones', provider: 'fcm', channel: 'push' })
  expect(await send('credentials', [{ subscriberId: 'ada', providerId: 'fcm', deviceTokens: ['a'] }])).toEqual(done(1))
  expect(await send('topic-subscriptions', [{ topicKey: 'news', subscriberId: 'ada' }])).toEqual(done(1))
  const message = { subscriberId: 'ada', workflowId: 'comments', body: 'x', createdAt: '2026-04-01T00:00:00.000Z' }
  expect(await send('messages', [message])).toEqual(done(1))
  expect(await send('messages', [{ ...message, readAt: later, updatedAt: later }])).toEqual(done(1))
  await server.drain()
  expect(await told()).toBe(before)
  // An ordinary change is told, so the endpoint works.
  await api.patch('/v2/subscribers/ada', { firstName: 'New' })
  expect(await told()).toBeGreaterThan(before ?? 0)
})

describe('requests', () => {
  test('have 1 to 500 items and 10 MB; an unknown kind is 404', async () => {
    const items = (count: number) => Array.from({ length: count }, (_, n) => ({ subscriberId: `s${n}` }))
    expect((await api.post('/v2/import/subscribers', { items: [] })).status).toBe(422)
    expect((await api.post('/v2/import/subscribers', { items: items(501) })).status).toBe(422)
    expect((await api.post('/v2/import/subscribers', { items: [7] })).status).toBe(422)
    expect((await api.post('/v2/import/subscribers', { items: items(500) })).body).toEqual(done(500))
    // Almost as large as allowed, far larger than other requests may be.
    const data = { text: 'x'.repeat(20_000) }
    const wide = items(500).map((item) => ({ ...item, data }))
    expect((await api.post('/v2/import/subscribers', { items: wide })).body).toEqual(done(500))
    const large = [{ subscriberId: 'x', data: { text: 'x'.repeat(10 * 1024 * 1024) } }]
    expect((await api.post('/v2/import/subscribers', { items: large })).status).toBe(413)
    expect((await api.post('/v2/import/nothing', { items: items(1) })).status).toBe(404)
  })

  test('are for editors, and for keys that may write the kind', async () => {
    const body = { items: [ada] }
    expect((await (await signInAs(server, api, 'viewer')).post('/v2/import/subscribers', body)).status).toBe(403)
    expect((await (await signInAs(server, api, 'editor')).post('/v2/import/subscribers', body)).status).toBe(200)
    const key = await server.keyFor(api, ['read', 'write:subscribers'])
    expect((await key.post('/v2/import/subscribers', body)).status).toBe(200)
    expect((await key.post('/v2/import/messages', body)).status).toBe(403)
  })

  test('of one import are one entry of the audit log for each kind; others are one each', async () => {
    const progress = (offset: number) => ({
      importId: 'run-1',
      source: 'novu',
      found: { subscribers: 2, preferences: 1 },
      offset,
    })
    await send('subscribers', [ada], { progress: progress(0) })
    await send('subscribers', [{ subscriberId: 'bob' }], { progress: progress(1) })
    await send('subscribers', [{ subscriberId: 'cy' }])
    const { data } = (await api.get('/v1/audit?action=data.imported')).body
    expect(data.map(({ details }: { details: object }) => details)).toEqual([
      { kind: 'subscribers', items: 1 },
      { kind: 'subscribers', source: 'novu', importId: 'run-1', items: 2 },
    ])
  })

  test('say how far their import is, also when a page comes twice', async () => {
    const progress = (offset: number) => ({
      importId: 'run-2',
      source: 'novu',
      found: { subscribers: 2, messages: 5 },
      offset,
    })
    const list = async () => (await api.get('/v2/import')).body.imports
    await send('subscribers', [ada], { progress: progress(0) })
    await send('subscribers', [ada], { progress: progress(0) })
    expect(await list()).toMatchObject([
      {
        ...{ importId: 'run-2', source: 'novu', status: 'running' },
        kinds: [
          { kind: 'messages', found: 5, done: 0 },
          { kind: 'subscribers', found: 2, done: 1, imported: 1, unchanged: 0, failed: 0 },
        ],
      },
    ])
    server.clock.advance({ minutes: 2 })
    expect(await list()).toMatchObject([{ status: 'stopped' }])
    await send('subscribers', [{ subscriberId: 'bob' }], { progress: progress(1) })
    await send(
      'messages',
      Array.from({ length: 5 }, () => ({ subscriberId: 'ada' })),
      { progress: progress(0) },
    )
    expect(await list()).toMatchObject([
      {
        status: 'done',
        kinds: [
          { done: 5, failed: 5 },
          { done: 2, imported: 2 },
        ],
      },
    ])
  })
})
