// Browser sockets: changes of an inbox go to its sockets, whichever process they are connected to and wherever the change
// happened. Nothing is queued for disconnected browsers; they fetch the current state when they reconnect.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server, Socket } from 'socket.io'
import { readStandings } from '../../db/queries/inbox-access.ts'
import { contextsOf, type InboxKey, readChanges } from '../../db/queries/inbox-changes.ts'
import { beat, beatMs, enterInboxes, leaveInboxes, removeDead } from '../../db/queries/inbox-presence.ts'
import { fail } from '../../errors.ts'
import { callerAddress, networkOf } from '../edge/caller-network.ts'
import { declineProtocol } from '../edge/other-protocols.ts'
import type { App, InboxSession, Services } from '../edge/resource.ts'
import { InboxNews, type Packet, type Room } from './news.ts'
import { type Place, Places } from './places.ts'
import { hasEnded, InboxTokens } from './token.ts'

const path = /^\/socket\.io\/?(\?|$)/
/**
 * A browser with this many unread packets of earlier rounds, or this many bytes, is disconnected, so that its backlog does not
 * fill our memory; it reconnects and gets the current state. A single round may be larger.
 */
const mostWaiting = 200
const mostWaitingCharacters = 1_000_000
/** A connection that has joined nothing by then is dropped; without a valid token, sooner. */
const joinMs = 10_000
export const guestMs = 5_000
/** In a minute; a browser answers two or three pings, and joins once. */
const mostPackets = 60
/** A connection may carry the sockets of several scripts of a page, each in its namespace. */
const mostNamespaces = 5
/** Inboxes registered and removed per transaction. */
const mostAtOnce = 500
/** By then any transaction that missed the new connection while storing a message has committed. */
const settleMs = 2_000
const longestRetryMs = 5_000
/** Loading the library takes 0.1 s, so it is delayed after the start; a browser that connects sooner waits for it. */
const loadAfterMs = 3_000

/** The library's error code. */
const unknownSession = 1

interface Surroundings extends Pick<Services, 'db' | 'pool' | 'changes' | 'clock' | 'secrets' | 'brand' | 'log'> {
  /** In this process; refused browsers retry after a few seconds, perhaps at another process. */
  mostSockets: number
  mostSocketsOfAddress: number
  trustedProxies: readonly string[]
  onRefused(): void
}

type Connection = Socket['conn']

/** Who connects: known from the handshake on. */
interface Visitor {
  address: string
  /** Whether the URL has a token, which then decides. */
  hasToken: boolean
  session: InboxSession | undefined
  place?: Place | undefined
  namespaces: number
}

const retryAfter = '5'

const roomId = ({ environmentId, subscriberRowId, contexts }: InboxKey) =>
  `${environmentId}:${subscriberRowId}:${contexts}`

export class InboxSockets {
  readonly #services: Surroundings
  readonly #tokens: InboxTokens
  readonly #news: InboxNews
  readonly #places: Places
  readonly #addressOf: (request: IncomingMessage) => string
  /** By the request that opened the connection. */
  readonly #visitors = new WeakMap<object, Visitor>()
  readonly #processId = randomUUID()
  readonly #rooms = new Map<string, Room>()
  /** Inboxes registered in the database as connected here. */
  #entered = new Map<string, InboxKey>()
  /** Inboxes whose registration in the database may be outdated. */
  readonly #dirty = new Set<string>()
  readonly #stopping = new AbortController()
  #io: Promise<Server> | undefined
  #settling: Promise<void> | undefined
  #beats: NodeJS.Timeout | undefined
  #loading: NodeJS.Timeout | undefined
  #hasBeaten = false
  #hasWarned = false

  constructor(services: Surroundings) {
    this.#services = services
    this.#tokens = new InboxTokens(services)
    this.#news = new InboxNews(services, (socket, packets) => this.#send(socket, packets))
    const { changes, mostSockets, mostSocketsOfAddress: mostOfAddress, trustedProxies } = services
    this.#places = new Places({ mostSockets, mostOfAddress })
    this.#addressOf = callerAddress(trustedProxies)
    changes.on('inbox', (text) => {
      for (const change of readChanges(text)) {
        const room = this.#rooms.get(roomId(change))
        if (room) this.#news.add(room, change.what)
      }
    })
    // Whatever can end sessions of an environment; of one subscriber, the id follows that of the environment.
    for (const subject of ['inbox_sessions', 'api_keys', 'integrations'] as const)
      changes.on(subject, (id) => {
        const [environmentId = '', subscriberRowId] = id.split(':', 2)
        if (subscriberRowId === undefined) void this.#endSessions([environmentId])
        else this.#reopen(environmentId, subscriberRowId)
      })
    changes.onReturn(() => this.#tellAll())
  }

  /** Call before the app listens. */
  serve(app: App): void {
    app.route({
      method: ['GET', 'POST', 'OPTIONS'],
      url: '/socket.io',
      config: { public: true, always: true },
      schema: { hide: true },
      onRequest: async (request, reply) => {
        if (!(await this.#mayEnter(request.raw))) {
          const headers = { 'Retry-After': retryAfter, 'Access-Control-Allow-Origin': '*' }
          throw fail('too_many_sockets', undefined, { headers })
        }
        reply.hijack()
        const { engine } = await this.#server()
        engine.handleRequest(request.raw as never, reply.raw)
      },
      handler: async () => undefined,
    })
    app.server.on('upgrade', (request, socket, head) => {
      if (/\bwebsocket\b/i.test(request.headers.upgrade ?? '')) void this.#upgrade(request, socket, head)
      else declineProtocol(app.server, request, socket, head)
    })
    app.addHook('onListen', async () => {
      this.#beats = setInterval(() => void this.#beat(), beatMs).unref()
      this.#loading = setTimeout(() => void this.#server(), loadAfterMs).unref()
    })
  }

  /** The number of open sockets with a valid token. */
  get count(): number {
    return this.#places.count
  }

  /** Drops connections without a close packet, so that browsers reconnect, elsewhere or to the next process here. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearInterval(this.#beats)
    clearTimeout(this.#loading)
    const io = await this.#io
    io?.engine.close()
    await this.#settling
    await this.#news.stop()
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Until the library takes over, nobody else handles errors.
    const ignore = () => undefined
    socket.on('error', ignore)
    if (!path.test(request.url ?? '') || this.#stopping.signal.aborted) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      return
    }
    const mayEnter = await this.#mayEnter(request).catch((error: unknown) => {
      this.#services.log.warn({ err: error }, 'could not check the token of a socket')
      return false
    })
    if (!mayEnter) {
      socket.end(`HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${retryAfter}\r\nConnection: close\r\n\r\n`)
      return
    }
    const { engine } = await this.#server()
    socket.off('error', ignore)
    engine.handleUpgrade(request as never, socket, head)
  }

  /**
   * Checks the token of a handshake before anything is kept for it. A request of an existing connection, or a change of
   * transport, takes no further place.
   */
  async #mayEnter(request: IncomingMessage): Promise<boolean> {
    const { method, url = '' } = request
    const query = new URLSearchParams(url.slice(url.indexOf('?') + 1))
    if (method === 'OPTIONS' || query.has('sid')) return true
    const [token, ...more] = query.getAll('token')
    const address = networkOf(this.#addressOf(request))
    // Before the look-up, which a full house would make for nothing.
    if (!this.#places.hasRoom(address, undefined) && token === undefined) return this.#refuse()
    const session = token !== undefined && more.length === 0 ? await this.#tokens.read(token) : undefined
    if (!this.#places.hasRoom(address, session?.subscriber.id)) return this.#refuse()
    this.#visitors.set(request, { address, hasToken: token !== undefined, session, namespaces: 0 })
    return true
  }

  #refuse(): false {
    this.#services.onRefused()
    return false
  }

  #server(): Promise<Server> {
    this.#io ??= this.#load()
    return this.#io
  }

  async #load(): Promise<Server> {
    const [{ Server }, { createServer }] = await Promise.all([import('socket.io'), import('node:http')])
    // We pass requests on, so its own server never listens.
    const io = new Server(createServer(), {
      serveClient: false,
      cors: { origin: '*' },
      // Ours is shorter, and does not wait for the browser.
      connectTimeout: 2 * joinMs,
      // Browsers send no data.
      maxHttpBufferSize: 10_000,
      perMessageDeflate: false,
      httpCompression: false,
      cleanupEmptyChildNamespaces: true,
    })
    io.engine.on('connection_error', ({ code }: { code: number }) => {
      if (code === unknownSession) this.#warnOfPolling()
    })
    io.engine.on('connection', (connection: Connection) => this.#opened(connection))
    // The library treats a path in the URL as a namespace.
    for (const namespace of [io.sockets, io.of(/^\/.{1,200}$/)]) {
      namespace.use((socket, next) => {
        void this.#authenticate(socket).then(
          (session) => {
            socket.data = { session }
            next(session ? undefined : new Error('Unauthorized'))
            // Its refusal is sent first.
            if (!session) setImmediate(() => socket.conn.close())
          },
          (error: unknown) => {
            // Not the browser's fault, and it would not retry after a refusal.
            this.#services.log.warn({ err: error }, 'could not open a socket')
            cut(socket.conn)
          },
        )
      })
      namespace.on('connection', (socket: Socket) => this.#connected(socket))
    }
    return io
  }

  /**
   * Sockets may connect to any process. A polling connection is many requests, and only one process knows it; the others
   * refuse them, and the browser starts again. That is normal after a restart, so it is logged once.
   */
  #warnOfPolling(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#services.log.warn(
      'a browser polls a connection that this process does not know; with several processes, the load balancer must send /socket.io requests with the same token to the same process',
    )
  }

  #opened(connection: Connection): void {
    const visitor = this.#visitors.get(connection.request)
    const place = visitor && this.#places.enter(visitor.address, visitor.session?.subscriber.id)
    if (!visitor || !place) {
      // Others were faster.
      cut(connection)
      return
    }
    visitor.place = place
    // A guest that was admitted has joined.
    const late = setTimeout(
      () => {
        if (place.isGuest || visitor.namespaces === 0) cut(connection)
      },
      place.isGuest ? guestMs : joinMs,
    ).unref()
    connection.once('close', () => {
      clearTimeout(late)
      place.leave()
    })
    let packets = 0
    let since = this.#services.clock.now().getTime()
    connection.on('packet', () => {
      const now = this.#services.clock.now().getTime()
      if (now - since > 60_000) [packets, since] = [0, now]
      packets += 1
      if (packets > mostPackets) cut(connection)
    })
  }

  async #authenticate({ handshake, request }: Socket): Promise<InboxSession | undefined> {
    const visitor = this.#visitors.get(request)
    const token: unknown = handshake.auth.token
    // The library would hold headers and token for the life of the socket, unused.
    Object.assign(handshake, { headers: {}, query: {}, auth: {}, url: '' })
    if (!visitor) return undefined
    visitor.namespaces += 1
    if (visitor.namespaces > mostNamespaces) return undefined
    if (visitor.session || visitor.hasToken || typeof token !== 'string') return visitor.session
    visitor.hasToken = true
    visitor.session = await this.#tokens.read(token)
    if (visitor.session) visitor.place?.admit(visitor.session.subscriber.id)
    return visitor.session
  }

  #connected(socket: Socket): void {
    const { session } = socket.data as { session: InboxSession }
    const visitor = this.#visitors.get(socket.request)
    if (visitor?.place?.isGuest !== false) {
      // With a close packet, after which a browser does not reconnect.
      socket.disconnect(true)
      return
    }
    const { environmentId, subscriber, contextKeys } = session
    const key = { environmentId, subscriberRowId: subscriber.id, contexts: contextsOf(contextKeys) }
    const id = roomId(key)
    const room = this.#rooms.get(id) ?? { ...key, session, sockets: new Set<Socket>() }
    this.#rooms.set(id, room)
    room.sockets.add(socket)
    socket.once('disconnect', () => {
      visitor.namespaces -= 1
      room.sockets.delete(socket)
      if (room.sockets.size > 0) return
      this.#rooms.delete(id)
      this.#settle(id)
    })
    // Sends the current counts, but only once we would hear of later changes.
    if (this.#entered.has(id)) this.#news.add(room, 'read')
    else this.#settle(id)
  }

  /** Updates the registration of this inbox in the database. */
  #settle(id: string): void {
    // At shutdown browsers reconnect in a moment; if not, other processes clean up.
    if (this.#stopping.signal.aborted) return
    this.#dirty.add(id)
    this.#settling ??= this.#settleAll().finally(() => {
      this.#settling = undefined
    })
  }

  async #settleAll(): Promise<void> {
    const { log } = this.#services
    const { signal } = this.#stopping
    for (let failures = 0; this.#dirty.size > 0 && !signal.aborted; ) {
      // Batches connects and disconnects of the same moment.
      await new Promise(setImmediate)
      const ids = [...this.#dirty].slice(0, mostAtOnce)
      for (const id of ids) this.#dirty.delete(id)
      try {
        await this.#settleSome(ids)
        failures = 0
      } catch (error) {
        log.warn({ err: error }, 'could not store connected inboxes; retrying')
        for (const id of ids) this.#dirty.add(id)
        failures += 1
        await sleep(Math.min(longestRetryMs, 50 * 2 ** failures), undefined, { signal }).catch(() => undefined)
      }
    }
  }

  async #settleSome(ids: string[]): Promise<void> {
    const { db, clock } = this.#services
    const entered = this.#entered
    if (!this.#hasBeaten) await this.#beatOnce()
    const left = ids.flatMap((id) => (this.#rooms.has(id) ? [] : (entered.get(id) ?? [])))
    if (left.length > 0) await leaveInboxes(db, this.#processId, left, clock.now())
    for (const key of left) entered.delete(roomId(key))
    const come = ids.flatMap((id) => (entered.has(id) ? [] : (this.#rooms.get(id) ?? [])))
    if (come.length === 0) return
    await enterInboxes(db, this.#processId, come)
    for (const { environmentId, subscriberRowId, contexts } of come) {
      const key = { environmentId, subscriberRowId, contexts }
      entered.set(roomId(key), key)
    }
    this.#tell(come)
    setTimeout(() => this.#tell(come, 'ifChanged'), settleMs).unref()
  }

  #tell(rooms: Room[], what: 'read' | 'ifChanged' = 'read'): void {
    for (const room of rooms) if (room.sockets.size > 0) this.#news.add(room, what)
  }

  /** Disconnects sessions that have ended before their time, of these environments. */
  async #endSessions(environmentIds: string[]): Promise<void> {
    const { db, clock, log } = this.#services
    const wanted = new Set(environmentIds)
    const rooms = [...this.#rooms.values()].filter(({ environmentId }) => wanted.has(environmentId))
    if (rooms.length === 0) return
    try {
      const standings = await readStandings(db, environmentIds, clock.now())
      for (const { environmentId, sockets } of rooms) {
        const standing = standings.get(environmentId)
        for (const socket of sockets)
          if (!standing || hasEnded((socket.data as { session: InboxSession }).session, standing))
            socket.disconnect(true)
      }
    } catch (error) {
      log.warn({ err: error }, 'could not check which inbox sessions have ended; the next heartbeat tries again')
    }
  }

  /** Cuts the sockets of a subscriber: they come back, and ended sessions are refused. */
  #reopen(environmentId: string, subscriberRowId: string): void {
    for (const room of this.#rooms.values())
      if (room.environmentId === environmentId && room.subscriberRowId === subscriberRowId)
        for (const socket of room.sockets) cut(socket.conn)
  }

  #tellAll(): void {
    this.#tell([...this.#rooms.values()])
  }

  async #beat(): Promise<void> {
    const now = this.#services.clock.now()
    for (const { sockets } of this.#rooms.values())
      for (const socket of sockets) if (isExpired(socket, now)) socket.disconnect(true)
    // Nothing announces that a rotated key has expired.
    await this.#endSessions([...new Set([...this.#rooms.values()].map(({ environmentId }) => environmentId))])
    try {
      if (this.#hasBeaten) await this.#beatOnce()
      await removeDead(this.#services.db, now)
    } catch (error) {
      this.#services.log.warn({ err: error }, 'could not look up sockets of other processes')
    }
  }

  async #beatOnce(): Promise<void> {
    const { db, clock } = this.#services
    const isKnown = await beat(db, this.#processId)
    if (this.#hasBeaten && !isKnown) {
      // Other processes thought us dead, or the database lost its unlogged table.
      this.#entered = new Map()
      for (const id of this.#rooms.keys()) this.#settle(id)
    }
    if (!this.#hasBeaten) await removeDead(db, clock.now())
    this.#hasBeaten = true
  }

  #send(socket: Socket, packets: Packet[]): void {
    // It gets no news, even before the next heartbeat closes it.
    if (isExpired(socket, this.#services.clock.now())) {
      socket.disconnect(true)
      return
    }
    const connection = socket.conn as unknown as { writeBuffer: Array<{ data?: string }> }
    const { writeBuffer } = connection
    const characters = writeBuffer.reduce((sum, { data = '' }) => sum + data.length, 0)
    // The library drops this list with the packets it has sent. After a long wait both would be in the old generation, and
    // stay until the next full garbage collection.
    if (writeBuffer.length === 0) connection.writeBuffer = []
    if (writeBuffer.length > mostWaiting || characters > mostWaitingCharacters) cut(socket.conn)
    else for (const [event, payload] of packets) socket.emit(event, payload)
  }
}

const isExpired = ({ data }: Socket, now: Date): boolean => (data as { session: InboxSession }).session.expiresAt <= now

/** Drops the connection without a close packet, and without waiting for unread data. */
function cut(connection: Connection): void {
  const { socket } = connection.transport as { socket?: { terminate?(): void } }
  // Only then does the library ignore packets that have arrived already.
  Object.assign(connection, { readyState: 'closing' })
  connection.close(true)
  // Closing a web socket would wait half a minute for the browser, and hold all unsent data.
  socket?.terminate?.()
}
