// An inbox is consistent: counts match lists, pushes match what is stored, and a client that was away catches up completely.
import { randomBytes } from 'node:crypto'
import { connect as connectTo, type Socket as TcpSocket } from 'node:net'
import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type InboxClient, openInbox, useSockets } from './inbox.ts'
import { inApp, makeWorkflow, trigger } from './runs.ts'
import { type Api, useServer } from './server.ts'

const server = useServer()
const sockets = useSockets()
const patience = { timeout: 30_000, interval: 10 }
let api: Api

beforeEach(async () => {
  api = await server.freshApi()
})

const listUnread = 'read=false&archived=false&snoozed=false'

/** All pages of a list. */
async function listed(inbox: InboxClient, query: string): Promise<Array<{ id: string; severity: string }>> {
  const items: Array<{ id: string; severity: string }> = []
  for (;;) {
    const after = items.length === 0 ? '' : `&after=${items.at(-1)?.id}`
    const { body } = await inbox.get(`/notifications?limit=7&${query}${after}`)
    items.push(...body.data)
    if (!body.hasMore) return items
  }
}

describe('counts agree with the list', () => {
  const severities = ['high', 'medium', 'low', 'none'] as const
  type Act = [what: string, which: number]
  const single = ['read', 'unread', 'archive', 'unarchive', 'unsnooze', 'complete', 'revert', 'delete', 'snooze']
  const bulk = ['seen', 'read', 'archive', 'read-archive', 'delete'].map((name) => `all ${name}`)
  const act: fc.Arbitrary<Act> = fc.tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...severities.map((severity) => `send ${severity}`)) },
      { weight: 4, arbitrary: fc.constantFrom(...single) },
      { weight: 1, arbitrary: fc.constantFrom(...bulk, 'wait') },
    ),
    fc.nat(20),
  )

  async function perform(inbox: InboxClient, [what, which]: Act): Promise<void> {
    const [word = '', name = ''] = what.split(' ')
    if (word === 'send') {
      await trigger(api, name, inbox.session.subscriberId)
      await server.drain()
    } else if (word === 'all') await inbox.post(`/notifications/${name}`, {})
    else if (word === 'wait') {
      server.clock.advance({ hours: 1 })
      await server.drain()
    } else {
      const items = (await inbox.get('/notifications?limit=100')).body.data
      if (items.length === 0) return
      const path = `/notifications/${items[which % items.length].id}`
      const snoozeUntil = new Date(server.clock.now().getTime() + 3_000_000).toISOString()
      const body = word === 'snooze' ? { snoozeUntil } : { actionType: 'primary' }
      if (word === 'delete') await inbox.delete(`${path}/delete`)
      else await inbox.patch(`${path}/${word}`, body)
    }
  }

  test('after any actions in any order, for requests, new sessions and sockets', async () => {
    for (const severity of severities)
      await makeWorkflow(api, severity, [inApp('Hello', { primaryAction: { label: 'Yes' } })], { severity })
    const story = fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 14 }), async (acts) => {
      const subscriberId = randomBytes(6).toString('hex')
      const inbox = await openInbox(server, api, subscriberId)
      inbox.session.subscriberId = subscriberId
      const socket = await sockets.connect(inbox)
      for (const each of acts) await perform(inbox, each)

      const items = await listed(inbox, listUnread)
      const bySeverity = Object.fromEntries(
        severities.map((severity) => [severity, items.filter((item) => item.severity === severity).length]),
      )
      const unread = { total: items.length, severity: bySeverity }
      const filters = severities.map((severity) => ({ severity, read: false, archived: false, snoozed: false }))
      const counted = await inbox.get(`/notifications/count?filters=${encodeURIComponent(JSON.stringify(filters))}`)
      expect(counted.body.data.map(({ count }: { count: number }) => count)).toEqual(Object.values(bySeverity))
      const anew = await openInbox(server, api, subscriberId)
      expect(anew.session.unreadCount).toEqual(unread)
      expect(anew.session.totalUnreadCount).toBe(items.length)
      const unseen = await listed(inbox, 'seen=false&archived=false&snoozed=false')
      const last = (event: string) => socket.heard.findLast(([name]) => name === event)?.[1]
      await vi.waitFor(() => {
        expect(last('unread_count_changed') ?? { counts: unread }).toMatchObject({ counts: unread })
        expect(last('unseen_count_changed')?.unseenCount ?? unseen.length).toBe(unseen.length)
      }, patience)
      socket.socket.disconnect()
    })
    await fc.assert(story, { numRuns: 12 })
  }, 120_000)
})

describe('a client that was away', () => {
  test('gets every message once by asking for what it missed, however often the connection breaks', async () => {
    await makeWorkflow(api, 'hello', [inApp('Hello')])
    const worker = await server.startAnother({ role: 'all' })
    const inbox = await openInbox(server, api, 'ada')
    const known = new Map<string, string>()
    const pushed: string[] = []
    const socket = sockets.open(inbox.url, {
      ...{ query: { token: inbox.token }, reconnectionDelay: 1, reconnectionDelayMax: 5 },
    })
    let catchingUp = Promise.resolve()
    /** As docs/inbox.md says: everything since a minute before the newest known message. */
    const catchUp = async () => {
      const newest = [...known.values()].sort().at(-1)
      const since = newest === undefined ? '' : `&createdGte=${Date.parse(newest) - 60_000}`
      const { body } = await inbox.get(`/notifications?limit=100${since}`)
      for (const { id, createdAt } of body.data) known.set(id, createdAt)
    }
    socket.socket.on('notification_received', ({ message }) => {
      pushed.push(message._id)
      known.set(message._id, message.createdAt)
    })
    // A count that differs from the known one shows that something was missed.
    socket.socket.on('unread_count_changed', ({ counts }) => {
      catchingUp = catchingUp.then(() => (counts.total === known.size ? undefined : catchUp()))
    })
    await socket.hears('unread_count_changed')

    const total = 60
    for (let sent = 0; sent < total; sent += 4) {
      const burst = Promise.all(Array.from({ length: 4 }, () => trigger(api, 'hello', 'ada')))
      // Breaks the connection in the middle, without notice.
      if (sent % 12 === 0) socket.socket.io.engine?.close()
      await burst
      server.clock.advance({ ms: 5 })
    }
    await vi.waitFor(async () => {
      await catchingUp
      expect(known.size).toBe(total)
    }, patience)
    const stored = await listed(inbox, '')
    expect([...known.keys()].sort()).toEqual(stored.map(({ id }) => id).sort())
    expect(new Set(pushed).size).toBe(pushed.length)
    await worker.stop()
  })

  test('pages without gaps or repeats while messages arrive', async () => {
    await makeWorkflow(api, 'hello', [inApp('Hello')])
    const inbox = await openInbox(server, api, 'ada')
    const send = async () => {
      await trigger(api, 'hello', 'ada')
      await server.drain()
    }
    // Several with the same time, which are ordered by id.
    for (let n = 0; n < 12; n += 1) await send()
    const before = (await listed(inbox, '')).map(({ id }) => id)
    const seen: string[] = []
    for (let hasMore = true; hasMore; ) {
      const after = seen.length === 0 ? '' : `&after=${seen.at(-1)}`
      const { body } = await inbox.get(`/notifications?limit=5${after}`)
      seen.push(...body.data.map(({ id }: { id: string }) => id))
      hasMore = body.hasMore
      await send()
    }
    expect(seen).toEqual(before)
  })
})

describe('a browser that does not read', () => {
  /** Opens a socket by hand and then reads nothing. */
  async function openDeaf(inbox: InboxClient): Promise<TcpSocket> {
    const { hostname, port } = new URL(inbox.url)
    const socket = connectTo(Number(port), hostname)
    const lines = [
      `GET /socket.io/?EIO=4&transport=websocket&token=${inbox.token} HTTP/1.1`,
      ...[`Host: ${hostname}:${port}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    await new Promise((resolve) => socket.once('data', resolve))
    // A frame with the text `40`: connect to the only namespace.
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x34, 0x30]))
    const present = () => server.database.db.selectFrom('inbox_presence').selectAll().execute()
    await vi.waitFor(async () => expect(await present()).toHaveLength(1), patience)
    socket.pause()
    return socket
  }

  test('is disconnected before its backlog fills the memory, and others continue', async () => {
    const size = 90_000
    const total = 200
    await makeWorkflow(
      api,
      'long',
      Array.from({ length: 10 }, () => inApp('x'.repeat(size))),
    )
    const inbox = await openInbox(server, api, 'ada')
    const deaf = await openDeaf(inbox)
    let taken = 0
    deaf.on('data', (bytes) => {
      taken += bytes.length
    })
    deaf.on('error', () => undefined)
    const listener = await sockets.connect(inbox)
    const received = () => listener.heard.filter(([event]) => event === 'notification_received').length
    for (let sent = 0; sent < total; sent += 50) {
      await Promise.all(Array.from({ length: 5 }, () => trigger(api, 'long', 'ada')))
      await server.drain()
      await vi.waitFor(() => expect(received()).toBe(sent + 50), patience)
    }
    const closed = new Promise((resolve) => deaf.once('close', resolve))
    deaf.resume()
    await closed
    // No more than the system had buffered by then.
    expect(taken).toBeLessThan(size * total * 0.75)
    expect(received()).toBe(total)
    const again = await sockets.connect(inbox)
    expect(again.socket.connected).toBe(true)
  }, 120_000)
})
