// The public client for browsers, unmodified, from a trigger to what a subscriber sees, does and receives.
import { Novu } from '@novu/js'
import { Novu as Novu316 } from 'novu-js-3.16'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { identifierOf } from './inbox.ts'
import { inApp, makeWorkflow, runOf, type Step, storyOf, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'

const server = useServer({ brand: 'novu' })

describe.each([
  ['3.19.2', Novu],
  // Its types differ, its calls do not.
  ['3.16.0', Novu316 as unknown as typeof Novu],
])('%s', (_version, Client) => {
  let api: Api
  let novu: Novu
  const opened: Novu[] = []

  beforeEach(async () => {
    api = await server.freshApi()
    novu = await browser('ada')
  })
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.socket.disconnect()
  })

  /** A page with the client. */
  async function browser(subscriberId: string, more: object = {}, url = server.url): Promise<Novu> {
    const client = new Client({
      applicationIdentifier: await identifierOf(server, api),
      subscriber: { subscriberId },
      backendUrl: url,
      socketUrl: url,
      useCache: false,
      ...more,
    })
    opened.push(client)
    return client
  }

  /** The data, or throws the error. */
  async function ok<T>(result: Promise<{ data?: T; error?: unknown }>): Promise<T> {
    const { data, error } = await result
    expect(error).toBeUndefined()
    return data as T
  }

  const send = async (name: string, more: object = {}) => {
    const transactionId = await trigger(api, name, 'ada', more)
    await server.drain()
    return transactionId
  }
  const list = async (filter = {}, as = novu) => (await ok(as.notifications.list(filter))).notifications
  const count = async (filter: object) => (await ok(novu.notifications.count(filter))).count
  const buttons = inApp('Join **us**?', {
    ...{ subject: 'An invitation', avatar: 'https://example.com/a.png', data: { team: 'core', level: 3 } },
    primaryAction: { label: 'Yes', redirect: { url: '/yes', target: '_self' } },
    secondaryAction: { label: 'No' },
    redirect: { url: '/invitation', target: '_self' },
  })

  /** Waits until the client has emitted an event this many times. */
  function heard(client: Novu, event: 'notifications.notification_received' | 'notifications.unread_count_changed') {
    const results: any[] = []
    client.on(event, ({ result }) => results.push(result))
    return {
      results,
      next: (what: object = {}) =>
        vi.waitFor(
          () => {
            expect(results).toContainEqual(expect.objectContaining(what))
            return results.at(-1)
          },
          { timeout: 30_000, interval: 5 },
        ),
    }
  }

  describe('notifications', () => {
    test('are listed in pages, by tags, data, severity and state', async () => {
      await makeWorkflow(api, 'invite', [buttons], { tags: ['team'], severity: 'high' })
      await makeWorkflow(api, 'plain', [inApp('Hello')], { tags: ['other'] })
      for (let n = 0; n < 3; n += 1) {
        await send('plain')
        server.clock.advance({ seconds: 1 })
      }
      await send('invite')
      const { notifications, hasMore } = await ok(novu.notifications.list({ limit: 2 }))
      expect([hasMore, notifications.map(({ body }) => body)]).toEqual([true, ['Join **us**?', 'Hello']])
      expect(notifications[0]).toMatchObject({
        ...{ subject: 'An invitation', isRead: false, isSeen: false, isArchived: false, isSnoozed: false },
        ...{ tags: ['team'], severity: 'high', data: { team: 'core', level: 3 }, channelType: 'in_app' },
        primaryAction: { label: 'Yes', isCompleted: false, redirect: { url: '/yes', target: '_self' } },
        secondaryAction: { label: 'No', isCompleted: false },
        redirect: { url: '/invitation', target: '_self' },
        workflow: { identifier: 'invite', severity: 'high' },
        to: { subscriberId: 'ada' },
      })
      const after = await ok(novu.notifications.list({ limit: 2, after: notifications[1]?.id ?? '' }))
      expect([after.hasMore, after.notifications.length]).toEqual([false, 2])
      expect(await list({ tags: ['team'] })).toHaveLength(1)
      expect(await list({ tags: { and: [{ or: ['team'] }, { or: ['x'] }] } })).toHaveLength(0)
      expect(await list({ data: { team: ['core', 'web'], level: 3 } })).toHaveLength(1)
      expect(await list({ severity: ['high', 'low'] })).toHaveLength(1)
      expect(await list({ severity: 'none', read: false, archived: false, snoozed: false })).toHaveLength(3)
      expect(await count({ read: false })).toBe(4)
      const { counts } = await ok(
        novu.notifications.count({
          filters: [{ tags: ['team'] }, { data: { team: 'x' } }, { severity: 'none' as never }],
        }),
      )
      expect(counts.map((each) => each.count)).toEqual([1, 0, 3])
      expect(counts[0]?.filter).toEqual({ tags: ['team'] })
    })

    test('are read, archived, snoozed, completed and deleted', async () => {
      await makeWorkflow(api, 'invite', [buttons])
      await send('invite')
      const [item] = await list()
      if (!item) throw new Error('there is no notification')
      expect(await ok(item.read())).toMatchObject({ isRead: true, readAt: expect.any(String) })
      expect(await ok(item.unread())).toMatchObject({ isRead: false })
      expect(await ok(item.archive())).toMatchObject({ isArchived: true, isRead: true })
      expect(await ok(item.unarchive())).toMatchObject({ isArchived: false, isRead: true })
      const until = new Date(server.clock.now().getTime() + 3_600_000).toISOString()
      expect(await ok(item.snooze(until))).toMatchObject({ isSnoozed: true, snoozedUntil: until })
      expect(await list({ snoozed: true })).toHaveLength(1)
      expect(await ok(novu.notifications.unsnooze({ notificationId: item.id }))).toMatchObject({ isSnoozed: false })
      expect(await ok(item.completePrimary())).toMatchObject({ primaryAction: { isCompleted: true } })
      expect(await ok(item.revertPrimary())).toMatchObject({ primaryAction: { isCompleted: false } })
      expect(await ok(item.completeSecondary())).toMatchObject({ secondaryAction: { isCompleted: true } })
      await ok(item.delete())
      expect(await list()).toEqual([])
      const { error } = await novu.notifications.read({ notificationId: item.id })
      expect(error).toMatchObject({ message: expect.any(String) })
    })

    test('are changed in bulk', async () => {
      await makeWorkflow(api, 'a', [inApp('A', { data: { n: 1 } })], { tags: ['a'] })
      await makeWorkflow(api, 'b', [inApp('B')], { tags: ['b'] })
      await send('a')
      await send('b')
      await ok(novu.notifications.seenAll({ notificationIds: (await list({ tags: ['a'] })).map(({ id }) => id) }))
      expect(await count({ seen: false })).toBe(1)
      await ok(novu.notifications.readAll({ data: { n: 1 } }))
      expect(await count({ read: false })).toBe(1)
      await ok(novu.notifications.archiveAllRead())
      expect(await count({ archived: true })).toBe(1)
      await ok(novu.notifications.archiveAll({ tags: { or: ['b'] } }))
      expect(await count({ archived: true })).toBe(2)
      await ok(novu.notifications.deleteAll({ tags: ['a'] }))
      expect((await list()).map(({ body }) => body)).toEqual(['B'])
    })
  })

  test('a page receives each message at once, and the count after each change', async () => {
    await makeWorkflow(api, 'invite', [buttons], { tags: ['team'], severity: 'high' })
    await makeWorkflow(api, 'bare', [inApp('Hello')])
    const received = heard(novu, 'notifications.notification_received')
    const counts = heard(novu, 'notifications.unread_count_changed')
    await ok(novu.socket.connect())
    await counts.next({ total: 0 })
    await send('invite')
    await received.next({ body: 'Join **us**?' })
    expect(received.results[0]).toMatchObject({
      ...{ isRead: false, isArchived: false, tags: ['team'], severity: 'high', data: { team: 'core' } },
      primaryAction: { label: 'Yes', isCompleted: false },
      redirect: { url: '/invitation' },
      workflow: { identifier: 'invite' },
      to: { subscriberId: 'ada' },
    })
    await counts.next({ total: 1, severity: { high: 1, medium: 0, low: 0, none: 0 } })
    await send('bare')
    await received.next({ body: 'Hello' })
    await counts.next({ total: 2, severity: { high: 1, medium: 0, low: 0, none: 1 } })
    await ok(novu.notifications.read({ notificationId: received.results[0].id }))
    await counts.next({ total: 1, severity: { high: 0, medium: 0, low: 0, none: 1 } })
    expect(await count({ read: false })).toBe(1)
    await ok(novu.notifications.readAll())
    await vi.waitFor(() => expect(counts.results.at(-1)).toMatchObject({ total: 0 }))
  })

  test('two pages at two processes receive the same', async () => {
    await makeWorkflow(api, 'bare', [inApp('Hello')])
    const other = await server.startAnother()
    const there = await browser('ada', {}, other.url)
    const pages = [novu, there]
    const received = pages.map((page) => heard(page, 'notifications.notification_received'))
    const counts = pages.map((page) => heard(page, 'notifications.unread_count_changed'))
    for (const page of pages) await ok(page.socket.connect())
    for (const each of counts) await each.next({ total: 0 })
    await send('bare')
    for (const each of received) await each.next({ body: 'Hello' })
    await ok(there.notifications.readAll())
    for (const each of counts) await vi.waitFor(() => expect(each.results.at(-1)).toMatchObject({ total: 0 }))
  })

  test('works when the service has another brand name', async () => {
    await makeWorkflow(api, 'bare', [inApp('Hello')])
    const { url } = await server.startAnother({ brand: 'svc' })
    const page = await browser('ada', {}, url)
    const received = heard(page, 'notifications.notification_received')
    const counts = heard(page, 'notifications.unread_count_changed')
    await ok(page.socket.connect())
    await counts.next({ total: 0 })
    await send('bare')
    await received.next({ body: 'Hello' })
    const [item] = await list({}, page)
    expect(await ok(item?.read() as never)).toMatchObject({ body: 'Hello', isRead: true })
  })

  describe('preferences', () => {
    const email: Step = { type: 'email', controlValues: { subject: 'Hi', body: 'Hello' } }

    test('decide what is delivered next', async () => {
      await makeWorkflow(api, 'news', [inApp('News'), email])
      const preferences = await ok(novu.preferences.list())
      expect(preferences.map(({ level, channels, workflow }) => [level, channels, workflow?.identifier])).toEqual([
        ['global', { email: true, in_app: true }, undefined],
        ['template', { email: true, in_app: true }, 'news'],
      ])
      const [general, ofNews] = preferences
      expect(await ok(ofNews?.update({ channels: { in_app: false } }) as never)).toMatchObject({
        channels: { email: true, in_app: false },
      })
      const silent = await send('news')
      expect(storyOf(await runOf(api, silent))[0]).toMatch(/^in_app canceled/)
      expect(await list()).toEqual([])
      expect(await ok(general?.update({ channels: { in_app: true } }) as never)).toMatchObject({
        channels: { email: true, in_app: true },
      })
      await send('news')
      expect(await list()).toHaveLength(1)
      const changed = await ok(novu.preferences.bulkUpdate([{ workflowId: 'news', channels: { email: false } }]))
      expect(changed).toMatchObject([{ channels: { email: false, in_app: true }, workflow: { identifier: 'news' } }])
    })

    test('have a schedule', async () => {
      await makeWorkflow(api, 'news', [inApp('News'), email])
      expect(await ok(novu.preferences.schedule.get())).toMatchObject({ isEnabled: undefined })
      const weeklySchedule = { friday: { isEnabled: true, hours: [{ start: '01:00 PM', end: '05:00 PM' }] } }
      expect(await ok(novu.preferences.schedule.update({ isEnabled: true, weeklySchedule }))).toMatchObject({
        isEnabled: true,
        weeklySchedule,
      })
      expect(await ok(novu.preferences.schedule.get())).toMatchObject({ isEnabled: true, weeklySchedule })
    })
  })

  test('topics are followed and unfollowed', async () => {
    await makeWorkflow(api, 'news', [inApp('News')], { tags: ['press'] })
    const { subscriptions } = novu
    expect(await ok(subscriptions.get({ topicKey: 'press' }))).toBeNull()
    const made = await ok(
      subscriptions.create({ topicKey: 'press', topicName: 'Press', preferences: ['news'] as never }),
    )
    expect(made).toMatchObject({ identifier: 'tk_press:si_ada', topicKey: 'press' })
    expect(made.preferences).toMatchObject([{ enabled: true, workflow: { identifier: 'news' } }])
    expect(await ok(subscriptions.list({ topicKey: 'press' }))).toHaveLength(1)
    await trigger(api, 'news', [{ type: 'Topic', topicKey: 'press' }])
    await server.drain()
    expect(await list()).toHaveLength(1)
    const changed = await ok(made.updatePreference({ workflowId: 'news', value: false }))
    expect(changed).toMatchObject({ enabled: false })
    await trigger(api, 'news', [{ type: 'Topic', topicKey: 'press' }])
    await server.drain()
    expect(await list()).toHaveLength(1)
    expect(await ok(made.bulkUpdatePreferences([{ workflowId: 'news', value: true }]))).toMatchObject([
      { enabled: true },
    ])
    const found = await ok(subscriptions.get({ topicKey: 'press', workflowIds: ['news'], tags: ['press'] }))
    expect(found?.preferences).toMatchObject([{ enabled: true }])
    await ok(made.delete())
    expect(await ok(subscriptions.get({ topicKey: 'press' }))).toBeNull()
  })

  test('each context has its own inbox', async () => {
    await makeWorkflow(api, 'bare', [inApp('Hello')])
    const ofTenant = await browser('ada', { context: { tenant: 'acme' } })
    const received = heard(ofTenant, 'notifications.notification_received')
    const counts = heard(ofTenant, 'notifications.unread_count_changed')
    await ok(ofTenant.socket.connect())
    await counts.next({ total: 0 })
    await send('bare')
    await send('bare', { context: { tenant: 'acme' } })
    await received.next({ body: 'Hello' })
    expect([await list(), await list({}, ofTenant), received.results]).toMatchObject([[{}], [{}], [{}]])
    const { subscriptions } = ofTenant
    expect(await ok(subscriptions.create({ topicKey: 'press' }))).toMatchObject({
      identifier: 'tk_press:si_ada:ctx_tenant:acme',
    })
    expect(await ok(subscriptions.get({ topicKey: 'press' }))).toMatchObject({ topicKey: 'press' })
  })

  test('chat workspaces are connected and disconnected', async () => {
    const integration = { providerId: 'slack', channel: 'chat', identifier: 'slack', active: true }
    await api.post('/v1/integrations', { ...integration, credentials: { clientId: 'c', secretKey: 's' } })
    const { channelConnections: workspaces, channelEndpoints: identities } = novu as unknown as ChatCalls
    const asked = { integrationIdentifier: 'slack', subscriberId: 'ada' }
    const { url } = await ok(
      workspaces.generateConnectOAuthUrl?.(asked) ?? workspaces.generateOAuthUrl({ ...asked, mode: 'connect' }),
    )
    expect(url).toMatch(/^https:\/\/slack\.com\/oauth\/v2\/authorize\?/)
    const linked = await ok(
      identities.generateLinkUserOAuthUrl?.(asked) ?? workspaces.generateOAuthUrl({ ...asked, mode: 'link_user' }),
    )
    expect(linked.url).toMatch(/^https:\/\/slack\.com\/.*user_scope=/)
    await api.post('/v1/channel-connections', {
      ...{ integrationIdentifier: 'slack', identifier: 'mine', subscriberId: 'ada' },
      ...{ workspace: { id: 'T1', name: 'Acme' }, auth: { accessToken: 'xoxb' } },
    })
    expect(await ok(novu.channelConnections.list())).toMatchObject([{ identifier: 'mine', workspace: { id: 'T1' } }])
    expect(await ok(novu.channelConnections.get({ identifier: 'mine' }))).toMatchObject({ identifier: 'mine' })
    await ok(novu.channelConnections.delete({ identifier: 'mine' }))
    expect(await ok(novu.channelConnections.list())).toEqual([])
  })
})

type MakesUrl = (asked: object) => Promise<{ data?: { url: string }; error?: unknown }>

/** The older client has one call for both. */
interface ChatCalls {
  channelConnections: { generateConnectOAuthUrl?: MakesUrl; generateOAuthUrl: MakesUrl }
  channelEndpoints: { generateLinkUserOAuthUrl?: MakesUrl }
}
