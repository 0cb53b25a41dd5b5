import { Manager } from 'socket.io-client'
import { WebSocket } from 'undici'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type InboxClient, openInbox, useSockets } from '../../../test/inbox.ts'
import { inApp, makeWorkflow, trigger } from '../../../test/runs.ts'
import { type Api, sendTo, useServer } from '../../../test/server.ts'
import { beatMs } from '../../db/queries/inbox-presence.ts'
import { guestMs } from './sockets.ts'

const server = useServer()
const sockets = useSockets()
let api: Api
let inbox: InboxClient

beforeEach(async () => {
  api = await server.freshApi()
  inbox = await openInbox(server, api, 'ada')
  await makeWorkflow(api, 'hello', [inApp('Hello', { subject: 'Hi', data: { n: 1 } })], { tags: ['greeting'] })
})

const send = async (to: unknown = 'ada', more: object = {}) => {
  const transactionId = await trigger(api, 'hello', to, more)
  await server.drain()
  return transactionId
}
const newest = async (as = inbox) => (await as.get('/notifications')).body.data[0]
const isOnline = async () => (await api.get('/v2/subscribers/ada')).body
const unread = (total: number) => ({ unreadCount: total, hasMore: false, counts: { total, severity: { none: total } } })

test('a triggered message arrives at once, followed by both counts', async () => {
  const socket = await sockets.connect(inbox)
  const transactionId = await send()
  const { message } = await socket.hears('notification_received')
  const item = await newest()
  expect(message).toMatchObject({
    ...{ _id: item.id, transactionId, channel: 'in_app', subject: 'Hi', content: 'Hello', data: { n: 1 } },
    ...{ read: false, seen: false, archived: false, snoozedUntil: null, deliveredAt: [item.createdAt] },
    ...{ createdAt: item.createdAt, tags: ['greeting'], severity: 'none', cta: {}, contextKeys: [] },
    subscriber: { _id: item.to.id, subscriberId: 'ada' },
    workflow: item.workflow,
  })
  expect(await socket.hears('unseen_count_changed')).toEqual({ unseenCount: 1, hasMore: false })
  expect(await socket.hears('unread_count_changed')).toEqual({
    counts: { total: 1, severity: { high: 0, medium: 0, low: 0, none: 1 } },
    unreadCount: 1,
    hasMore: false,
  })
})

test.each([
  ['https://example.com/a', true],
  ['/plans/3', true],
  ['javascript:alert(1)', false],
  ['//evil.example', false],
  ['/\\evil.example', false],
  ['mailto:eve@example.com', false],
  [' javascript:alert(1)', false],
])('a click may open %s: %s', async (url, isTaken) => {
  const link = { redirect: { url: '{{payload.url}}', target: '_self' } }
  await makeWorkflow(api, 'link', [inApp('Look', { ...link, primaryAction: { label: 'Go', ...link } })])
  const socket = await sockets.connect(inbox)
  await trigger(api, 'link', 'ada', { payload: { url } })
  await server.drain()
  const { cta } = (await socket.hears('notification_received')).message
  expect([cta.data.url, cta.action.buttons[0].url]).toEqual(isTaken ? [url, url] : ['', undefined])
  const { redirect, primaryAction } = await newest()
  expect([redirect?.url, primaryAction.redirect?.url]).toEqual(isTaken ? [url, url] : [undefined, undefined])
})

test('a process refuses polling of an unknown connection, and logs what to do', async () => {
  const another = await server.startAnother()
  const poll = (url: string, more = '') =>
    fetch(`${url}/socket.io/?EIO=4&transport=polling&token=${inbox.token}${more}`).then((answer) => answer.text())
  const { sid } = JSON.parse((await poll(inbox.url)).slice(1))
  for (let times = 0; times < 2; times += 1)
    expect(JSON.parse(await poll(another.url, `&sid=${sid}`))).toEqual({ code: 1, message: 'Session ID unknown' })
  const said = server.logged.filter(({ msg }) => msg.startsWith('a browser polls a connection'))
  expect(said).toHaveLength(1)
  await another.stop()
})

test('beyond its limit of sockets a process refuses and counts browsers, and accepts them again when there is room', async () => {
  const { url, stop } = await server.startAnother({ mostSockets: 2 })
  const first = await sockets.connect(inbox, url)
  await sockets.connect(inbox, url)
  const late = sockets.open(url, {
    ...{ query: { token: inbox.token }, transports: ['polling', 'websocket'] },
    ...{ reconnectionDelay: 10, reconnectionDelayMax: 10 },
  })
  const refusals: string[] = []
  late.socket.on('connect_error', ({ message }) => refusals.push(message))
  await expect.poll(() => refusals.length, { timeout: 20_000 }).toBeGreaterThan(1)

  const polled = await fetch(`${url}/socket.io/?EIO=4&transport=polling&token=${inbox.token}`)
  expect(polled.status).toBe(503)
  expect(polled.headers.get('retry-after')).toBe('5')
  expect(polled.headers.get('access-control-allow-origin')).toBe('*')
  expect(await polled.json()).toMatchObject({ statusCode: 503, code: 'too_many_sockets' })
  const direct = sockets.open(url, { query: { token: inbox.token }, reconnection: false })
  expect(await new Promise((resolve) => direct.socket.on('connect_error', resolve))).toMatchObject({
    description: { message: 'Unexpected server response: 503' },
  })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('belfry_inbox_sockets 2')
  expect(Number(/^belfry_inbox_sockets_refused_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(3)

  first.socket.disconnect()
  await late.hears('unread_count_changed')
  // It changed its transport in the meantime, which takes no second place.
  await expect.poll(() => late.socket.io.engine.transport.name, { timeout: 20_000 }).toBe('websocket')
  await stop()
})

test('a new connection gets the current counts', async () => {
  await send()
  const socket = sockets.open(inbox.url, { auth: { token: inbox.token } })
  expect(await socket.hears('unseen_count_changed')).toMatchObject({ unseenCount: 1 })
  expect(await socket.hears('unread_count_changed')).toMatchObject(unread(1))
})

test.each([
  ['a query', (token: string) => ({ query: { token } })],
  ['its first packet', (token: string) => ({ auth: { token } })],
  ['long polling', (token: string) => ({ query: { token }, transports: ['polling'] })],
  ['polling, then a socket', (token: string) => ({ query: { token }, transports: ['polling', 'websocket'] })],
])('a browser connects with its token in %s', async (_, options) => {
  const socket = sockets.open(inbox.url, options(inbox.token))
  await socket.hears('unread_count_changed')
  await send()
  await socket.hears('notification_received')
})

test('a path in the URL does not matter', async () => {
  const socket = await sockets.connect(inbox, `${inbox.url}/behind/a/path`)
  await send()
  await socket.hears('notification_received')
})

describe('a socket is refused', () => {
  const refusal = (options: object) =>
    new Promise((resolve) => {
      const { socket } = sockets.open(inbox.url, options)
      socket.on('connect', () => resolve('connected'))
      socket.on('connect_error', (error) => resolve([error.message, socket.active]))
    })

  test.each([
    ['without a token', {}],
    ['with null for a token', { query: { token: 'null' } }],
    ['with a token that is none', { query: { token: 'x.y.z' } }],
    ['with two tokens', { query: { token: ['a', 'b'] } }],
  ])('%s, and does not reconnect', async (_, options) => {
    expect(await refusal(options)).toEqual(['Unauthorized', false])
  })

  test('after its token has expired', async () => {
    server.clock.advance({ days: 16 })
    expect(await refusal({ query: { token: inbox.token } })).toEqual(['Unauthorized', false])
  })

  test('once its subscriber is deleted', async () => {
    await api.delete('/v2/subscribers/ada')
    expect(await refusal({ query: { token: inbox.token } })).toEqual(['Unauthorized', false])
  })
})

describe('hole 6', () => {
  const handshake = (url: string, more = '', headers = {}) =>
    sendTo(`${url}/socket.io/?EIO=4&transport=polling${more}`, 'GET', undefined, headers)
  const member = `&token=`

  test("handshakes without a valid token take nobody's place", async () => {
    const { url, stop } = await server.startAnother({ mostSockets: 2 })
    const began = performance.now()
    const answers = await Promise.all(Array.from({ length: 250 }, () => handshake(url)))
    // On a machine so busy that the first are dropped before the last have asked, their places are taken again.
    const times = Math.ceil((performance.now() - began) / guestMs)
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(20 * times)
    expect(answers.filter(({ status }) => status === 503)[0]?.body).toMatchObject({ code: 'too_many_sockets' })
    expect((await handshake(url, `${member}x.y.z`)).status).toBe(503)
    // Its token is checked at the handshake.
    await sockets.connect(inbox, url)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('belfry_inbox_sockets 1')
    await stop()
  })

  test('a connection without a token is dropped after seconds, even if it does not read', async () => {
    const { url, stop } = await server.startAnother()
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { sid } = JSON.parse((await handshake(url)).text.slice(1))
    const late = timers.mock.calls.filter(([, ms]) => ms === guestMs).map(([dropIt]) => dropIt)
    timers.mockRestore()
    expect(late).toHaveLength(1)
    late[0]?.()
    expect((await handshake(url, `&sid=${sid}`)).body).toEqual({ code: 1, message: 'Session ID unknown' })
    await stop()
  })

  test('one address holds only its part', async () => {
    const { url, stop } = await server.startAnother({ mostSocketsOfAddress: 2, trustedProxies: ['loopback'] })
    const from = (address: string, subscriber = inbox) =>
      handshake(url, member + subscriber.token, { 'x-forwarded-for': address })
    const bob = await openInbox(server, api, 'bob')
    expect((await from('192.0.2.1')).status).toBe(200)
    expect((await from('192.0.2.1', bob)).status).toBe(200)
    expect((await from('192.0.2.1')).status).toBe(503)
    expect((await from('192.0.2.2')).status).toBe(200)
    // One household, however many addresses it has.
    expect((await from('2001:db8::1')).status).toBe(200)
    expect((await from('2001:db8::2')).status).toBe(200)
    expect((await from('2001:db8::3')).status).toBe(503)
    const direct = sockets.open(url, {
      ...{ query: { token: inbox.token }, reconnection: false },
      extraHeaders: { 'x-forwarded-for': '192.0.2.1' },
    })
    expect(await new Promise((resolve) => direct.socket.on('connect_error', resolve))).toMatchObject({
      description: { message: 'Unexpected server response: 503' },
    })
    await stop()
  })

  test.each([
    ['joins', () => '40/x,'],
    ['joins of other namespaces', (n: number) => `40/${n},`],
    ['answers to no ping', () => '3'],
    ['events', () => '42["x"]'],
  ])('twenty thousand %s end the connection early', async (_, packet) => {
    const socket = new WebSocket(
      `${inbox.url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket${member}${inbox.token}`,
    )
    const answers: string[] = []
    socket.addEventListener('message', ({ data }) => answers.push(String(data)))
    const isClosed = new Promise((resolve) => socket.addEventListener('close', resolve))
    await new Promise((resolve) => socket.addEventListener('open', resolve))
    for (let n = 0; n < 20_000; n += 1) socket.send(packet(n))
    await isClosed
    expect(answers.filter((answer) => answer.startsWith('40')).length).toBeLessThanOrEqual(5)
    expect(answers.length).toBeLessThan(70)
  })

  test('a page may have sockets in several namespaces of one connection', async () => {
    const manager = new Manager(inbox.url, { transports: ['websocket'], query: { token: inbox.token } })
    const names = ['/', '/a', '/b', '/c', '/d']
    const joined = names.map(
      (name) => new Promise((resolve) => manager.socket(name).once('connect', () => resolve(name))),
    )
    expect(await Promise.all(joined)).toEqual(names)
    const refusal = new Promise((resolve) => manager.socket('/e').once('connect_error', resolve))
    expect(await refusal).toMatchObject({ message: 'Unauthorized' })
    for (const name of [...names, '/e']) manager.socket(name).disconnect()
  })
})

test('an inbox has at most a hundred sockets per process', async () => {
  const opened = Array.from({ length: 100 }, () => sockets.open(inbox.url, { query: { token: inbox.token } }))
  await Promise.all(opened.map((socket) => socket.hears('unread_count_changed')))
  const { socket } = sockets.open(inbox.url, { query: { token: inbox.token } })
  const reason = await new Promise((resolve) => socket.once('disconnect', resolve))
  expect([reason, socket.active]).toEqual(['io server disconnect', false])
  opened[0]?.socket.disconnect()
  const outcome = () =>
    new Promise((resolve) => {
      const next = sockets.open(inbox.url, { query: { token: inbox.token } })
      next.socket.once('unread_count_changed', () => resolve('told'))
      next.socket.once('disconnect', resolve)
    })
  await expect.poll(outcome, { timeout: 30_000, interval: 20 }).toBe('told')
})

test('other paths accept no socket', async () => {
  const { socket } = sockets.open(inbox.url, { path: '/v1/inbox', reconnection: false })
  expect(await new Promise<Error>((resolve) => socket.once('connect_error', resolve))).toMatchObject({
    message: 'websocket error',
  })
})

describe('a change is sent to all sockets of the inbox', () => {
  const cta = { primaryAction: { label: 'Yes' } }
  const later = () => new Date(server.clock.now().getTime() + 3_600_000).toISOString()
  type Change = (id: string) => Promise<unknown>
  const changes: Array<[name: string, change: Change, unreadAfter: number]> = [
    ['read', (id) => inbox.patch(`/notifications/${id}/read`), 0],
    ['archive', (id) => inbox.patch(`/notifications/${id}/archive`), 0],
    ['unarchive', (id) => inbox.patch(`/notifications/${id}/unarchive`), 0],
    ['unread', (id) => inbox.patch(`/notifications/${id}/unread`), 1],
    ['snooze', (id) => inbox.patch(`/notifications/${id}/snooze`, { snoozeUntil: later() }), 0],
    ['complete', (id) => inbox.patch(`/notifications/${id}/complete`, { actionType: 'primary' }), 0],
    ['delete', (id) => inbox.delete(`/notifications/${id}/delete`), 0],
    ['read all', () => inbox.post('/notifications/read', {}), 0],
    ['archive all', () => inbox.post('/notifications/archive', {}), 0],
    ['delete all', () => inbox.post('/notifications/delete', {}), 0],
    ['read by the backend', (id) => api.patch(`/v2/subscribers/ada/notifications/${id}/read`), 0],
    [
      'marked by the backend',
      (id) => api.post('/v1/subscribers/ada/messages/mark-as', { messageId: id, markAs: 'read' }),
      0,
    ],
    ['deleted by the backend', (id) => api.delete(`/v1/messages/${id}`), 0],
  ]
  test.each(changes)('%s', async (_, change, unreadAfter) => {
    await makeWorkflow(api, 'asking', [inApp('Well?', cta)])
    await trigger(api, 'asking', 'ada')
    await server.drain()
    const [first, second] = [await sockets.connect(inbox), await sockets.connect(inbox)]
    await change((await newest()).id)
    for (const socket of [first, second]) {
      await socket.hears('unseen_count_changed', { unseenCount: 0 })
      await socket.hears('unread_count_changed', unread(unreadAfter))
    }
  })

  test('marking as seen changes only the unseen count', async () => {
    await send()
    const socket = await sockets.connect(inbox)
    await inbox.post('/notifications/seen', {})
    await socket.hears('unseen_count_changed', { unseenCount: 0 })
    await inbox.post('/notifications/read', {})
    await socket.hears('unread_count_changed', unread(0))
    expect(socket.heard.filter(([event]) => event === 'notification_received')).toEqual([])
  })

  test('one after another, even if no count changes', async () => {
    await send()
    const socket = await sockets.connect(inbox)
    const { id } = await newest()
    await inbox.patch(`/notifications/${id}/snooze`, { snoozeUntil: later() })
    await socket.hears('unread_count_changed', unread(0))
    await inbox.patch(`/notifications/${id}/unsnooze`)
    await socket.hears('unread_count_changed', unread(1))
    await inbox.patch(`/notifications/${id}/read`)
    await socket.hears('unread_count_changed', unread(0))
    await inbox.post('/notifications/read-archive', {})
    await socket.hears('unread_count_changed', unread(0))
  })

  test('a snoozed message returns as a new one', async () => {
    await send()
    const socket = await sockets.connect(inbox)
    const { id } = await newest()
    await inbox.patch(`/notifications/${id}/snooze`, { snoozeUntil: later() })
    await socket.hears('unread_count_changed', unread(0))
    server.clock.advance({ hours: 1 })
    await server.drain()
    const { message } = await socket.hears('notification_received')
    expect(message).toMatchObject({
      _id: id,
      read: false,
      snoozedUntil: null,
      createdAt: server.clock.now().toISOString(),
    })
    expect(message.deliveredAt).toHaveLength(2)
    await socket.hears('unread_count_changed', unread(1))
  })
})

describe('a socket whose token expires', () => {
  const ended = async (socket: Awaited<ReturnType<typeof sockets.connect>>, reason: Promise<unknown>) => {
    expect(await reason).toBe('io server disconnect')
    expect(socket.heard).toEqual([])
  }
  const connected = async (url?: string) => {
    const socket = await sockets.connect(inbox, url)
    socket.heard.length = 0
    return [socket, new Promise((resolve) => socket.socket.once('disconnect', resolve))] as const
  }

  test('gets no more news', async () => {
    const [socket, reason] = await connected()
    server.clock.advance({ days: 16 })
    await send()
    await ended(socket, reason)
  })

  test('is closed even without news', async () => {
    const timers = vi.spyOn(globalThis, 'setInterval')
    const other = await server.startAnother()
    const [beat] = timers.mock.calls.find(([, ms]) => ms === beatMs) ?? []
    timers.mockRestore()
    const [socket, reason] = await connected(other.url)
    server.clock.advance({ days: 16 })
    beat?.()
    await ended(socket, reason)
    await other.stop()
  })
})

describe('a socket gets', () => {
  test('nothing of other subscribers, environments and contexts', async () => {
    const socket = await sockets.connect(inbox)
    const ofTenant = await openInbox(server, api, 'ada', { context: { tenant: 'acme' } })
    const tenants = await sockets.connect(ofTenant)
    await send('bob')
    await send('ada', { context: { tenant: 'acme' } })
    const { message } = await tenants.hears('notification_received')
    expect(message.contextKeys).toEqual(['tenant:acme'])
    await tenants.hears('unread_count_changed', unread(1))
    await send()
    await socket.hears('notification_received', { message: { contextKeys: [] } })
    await socket.hears('unread_count_changed', unread(1))
    expect(socket.heard).toEqual([])
    expect(tenants.heard).toEqual([])
  })

  test('each message once and a correct final count, however many arrive at once', async () => {
    const socket = await sockets.connect(inbox)
    await Promise.all(Array.from({ length: 90 }, () => trigger(api, 'hello', 'ada')))
    await server.drain()
    await vi.waitFor(() => expect(socket.heard.filter(([event]) => event === 'notification_received')).toHaveLength(90))
    await vi.waitFor(() => expect(socket.heard.at(-1)).toMatchObject(['unread_count_changed', unread(90)]))
    const ids = socket.heard.flatMap(([, { message }]) => (message ? [message._id] : []))
    expect(new Set(ids).size).toBe(90)
    // One count for a burst.
    expect(socket.heard.filter(([event]) => event === 'unread_count_changed').length).toBeLessThan(90)
  })

  test('no more than a hundred', async () => {
    const socket = await sockets.connect(inbox)
    const everybody = Array.from({ length: 102 }, () => trigger(api, 'hello', 'ada'))
    await Promise.all(everybody)
    await server.drain()
    expect(await socket.hears('unread_count_changed', { hasMore: true })).toMatchObject({
      unreadCount: 100,
      counts: { total: 100, severity: { none: 100 } },
    })
  })

  test('nothing from a rolled-back transaction', async () => {
    await send()
    const socket = await sockets.connect(inbox)
    const { id } = await newest()
    const past = new Date(server.clock.now()).toISOString()
    expect(await inbox.patch(`/notifications/${id}/snooze`, { snoozeUntil: past })).toMatchObject({ status: 422 })
    expect(await inbox.patch(`/notifications/${id}/complete`, { actionType: 'primary' })).toMatchObject({ status: 400 })
    // As the service does in one transaction, until it fails.
    await server.database.pool.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no, after all'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON messages DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse()`)
    expect(await inbox.patch(`/notifications/${id}/archive`)).toMatchObject({ status: 500 })
    await server.database.pool.query('DROP TRIGGER refuse ON messages; DROP FUNCTION refuse()')
    await inbox.patch(`/notifications/${id}/read`)
    await socket.hears('unseen_count_changed')
    await socket.hears('unread_count_changed', unread(0))
    expect(socket.heard).toEqual([])
  })
})

describe('a subscriber', () => {
  test('is online from its first socket to its last, in any contexts', async () => {
    expect(await isOnline()).toMatchObject({ isOnline: false, lastOnlineAt: null })
    const first = await sockets.connect(inbox)
    const second = await sockets.connect(await openInbox(server, api, 'ada', { context: { tenant: 'acme' } }))
    expect(await isOnline()).toMatchObject({ isOnline: true })
    first.socket.disconnect()
    await vi.waitFor(async () => expect(await presence()).toHaveLength(1))
    expect(await isOnline()).toMatchObject({ isOnline: true, lastOnlineAt: null })
    second.socket.disconnect()
    await vi.waitFor(async () =>
      expect(await isOnline()).toMatchObject({ isOnline: false, lastOnlineAt: server.clock.now().toISOString() }),
    )
    expect(await presence()).toEqual([])
  })

  test('who is not connected causes no NOTIFY', async () => {
    const { pool } = server.database
    const listener = await pool.connect()
    const heard: string[] = []
    listener.on('notification', ({ payload = '' }) => payload.startsWith('inbox') && heard.push(payload))
    await listener.query('LISTEN belfry_changes')
    await send()
    await inbox.post('/notifications/read', {})
    const socket = await sockets.connect(inbox)
    await send()
    await socket.hears('notification_received')
    await vi.waitFor(() => expect(heard).toHaveLength(1))
    listener.removeAllListeners('notification')
    listener.release(true)
  })
})

const presence = async () =>
  server.database.db.selectFrom('inbox_presence').selectAll().where('environment_id', '=', api.environmentId).execute()

describe('several processes', () => {
  test('share news', async () => {
    const other = await server.startAnother()
    const there = await sockets.connect(inbox, other.url)
    const here = await sockets.connect(inbox)
    await send()
    for (const socket of [here, there]) {
      await socket.hears('notification_received')
      await socket.hears('unread_count_changed', unread(1))
      expect(socket.events).toEqual([])
    }
    await inbox.patch(`/notifications/${(await newest()).id}/read`)
    for (const socket of [here, there]) await socket.hears('unread_count_changed', unread(0))
    here.socket.disconnect()
    await vi.waitFor(async () => expect(await presence()).toHaveLength(1))
    expect(await isOnline()).toMatchObject({ isOnline: true })
    there.socket.disconnect()
    await vi.waitFor(async () => expect(await isOnline()).toMatchObject({ isOnline: false }))
    await other.stop()
  })

  test('a stopping process makes its browsers reconnect, without anybody going offline', async () => {
    const other = await server.startAnother()
    const { socket } = await sockets.connect(inbox, other.url)
    const reason = new Promise((resolve) => socket.once('disconnect', resolve))
    await other.stop()
    expect([await reason, socket.active]).toEqual(['transport close', true])
    expect(await isOnline()).toMatchObject({ isOnline: true })
  })

  test('the next process cleans up after a dead one', async () => {
    const other = await server.startAnother()
    await sockets.connect(inbox, other.url)
    await other.stop()
    await server.database.pool.query(`
      UPDATE inbox_processes SET seen_at = now() - interval '2 minutes'
      WHERE id IN (SELECT process_id FROM inbox_presence WHERE environment_id = '${api.environmentId}')`)
    const third = await server.startAnother()
    const bob = await openInbox(server, api, 'bob')
    await sockets.connect(bob, third.url)
    expect(await isOnline()).toMatchObject({ isOnline: false })
    expect(await presence()).toHaveLength(1)
  })
})

describe('nothing stays wrong', () => {
  test('after changes were missed for a while', async () => {
    const socket = await sockets.connect(inbox)
    const { pool } = server.database
    await pool.query(`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'belfry changes'`)
    await send()
    expect(await socket.hears('unread_count_changed', { unreadCount: 1 })).toMatchObject(unread(1))
    await send()
    await socket.hears('notification_received')
  })
})
