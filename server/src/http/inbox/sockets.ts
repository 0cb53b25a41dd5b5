// Sockets of browsers: what happens in an inbox is sent to those who look at it, whichever process they are connected to and
// wherever it happened. Nothing is kept for those who are away; whoever comes back asks for what is there.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server, Socket } from 'socket.io'
import { contextsOf, type InboxKey, readChanges } from '../../db/queries/inbox-changes.ts'
import { beat, beatMs, enterInboxes, leaveInboxes, removeDead } from '../../db/queries/inbox-presence.ts'
import { fail } from '../../errors.ts'
import { declineProtocol } from '../edge/other-protocols.ts'
import type { App, InboxSession, Services } from '../edge/resource.ts'
import { InboxNews, type Packet, type Room } from './news.ts'
import { InboxTokens } from './token.ts'

const path = /^\/socket\.io\/?(\?|$)/
/**
 * A browser that has not taken this many packets of earlier rounds, or this much, is cut off, so that what it does not read
 * does not fill our memory; it will connect again and be told where things stand. What comes at once may be more.
 */
const mostWaiting = 200
const mostWaitingCharacters = 1_000_000
/** Whoever has that many tabs open shares one socket among them; a page that opens one after another is broken, or worse. */
const mostOfInbox = 100
/** How many inboxes are entered and left in one transaction. */
const mostAtOnce = 500
/** Whoever stored a message while a subscriber was connecting, without knowing of it, has committed by then. */
const settleMs = 2_000
const longestRetryMs = 5_000
/** The library takes a tenth of a second to load, which a start can do without; a browser that comes sooner waits for it. */
const loadAfterMs = 3_000

/** The library's word for it. */
const unknownSession = 1

interface Surroundings extends Pick<Services, 'db' | 'pool' | 'changes' | 'clock' | 'secrets' | 'brand' | 'log'> {
  /** In this process; browsers that find no room try again, after a second or a few, and may find another. */
  mostSockets: number
  onRefused(): void
}

const retryAfter = '5'

const roomId = ({ environmentId, subscriberRowId, contexts }: InboxKey) =>
  `${environmentId}:${subscriberRowId}:${contexts}`

export class InboxSockets {
  readonly #services: Surroundings
  readonly #tokens: InboxTokens
  readonly #news: InboxNews
  readonly #processId = randomUUID()
  readonly #rooms = new Map<string, Room>()
  /** Inboxes that the database says are connected here. */
  #entered = new Map<string, InboxKey>()
  /** Inboxes of which the database may say something else than what is. */
  readonly #dirty = new Set<string>()
  readonly #stopping = new AbortController()
  #io: Promise<Server> | undefined
  #loaded: Server | undefined
  #settling: Promise<void> | undefined
  #beats: NodeJS.Timeout | undefined
  #loading: NodeJS.Timeout | undefined
  #hasBeaten = false
  #hasWarned = false

  constructor(services: Surroundings) {
    this.#services = services
    this.#tokens = new InboxTokens(services)
    this.#news = new InboxNews(services, (socket, packets) => this.#send(socket, packets))
    const { changes } = services
    changes.on('inbox', (text) => {
      for (const change of readChanges(text)) {
        const room = this.#rooms.get(roomId(change))
        if (room) this.#news.add(room, change.what)
      }
    })
    changes.onReturn(() => this.#tellAll())
  }

  /** To be called before the app listens. */
  serve(app: App): void {
    app.route({
      method: ['GET', 'POST', 'OPTIONS'],
      url: '/socket.io',
      config: { public: true, always: true },
      schema: { hide: true },
      onRequest: async (request, reply) => {
        if (this.#refuses(request.raw)) {
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

  /** How many are open. */
  get count(): number {
    return this.#loaded?.engine.clientsCount ?? 0
  }

  /** Closes connections without a word, so that browsers connect again, elsewhere or to the next process here. */
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
    // Until the library takes over, nobody else would hear of it.
    const ignore = () => undefined
    socket.on('error', ignore)
    if (!path.test(request.url ?? '') || this.#stopping.signal.aborted) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      return
    }
    if (this.#refuses(request)) {
      socket.end(`HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${retryAfter}\r\nConnection: close\r\n\r\n`)
      return
    }
    const { engine } = await this.#server()
    socket.off('error', ignore)
    engine.handleUpgrade(request as never, socket, head)
  }

  /** Who has a connection already, and goes on with it or changes its transport, takes no further place. */
  #refuses({ method, url = '' }: IncomingMessage): boolean {
    if (this.count < this.#services.mostSockets || method === 'OPTIONS') return false
    if (new URLSearchParams(url.slice(url.indexOf('?') + 1)).has('sid')) return false
    this.#services.onRefused()
    return true
  }

  #server(): Promise<Server> {
    this.#io ??= this.#load()
    return this.#io
  }

  async #load(): Promise<Server> {
    const [{ Server }, { createServer }] = await Promise.all([import('socket.io'), import('node:http')])
    // Requests are handed on by us, so its own server never listens.
    const io = new Server(createServer(), {
      serveClient: false,
      cors: { origin: '*' },
      connectTimeout: 10_000,
      // Browsers have nothing to say.
      maxHttpBufferSize: 10_000,
      perMessageDeflate: false,
      httpCompression: false,
      cleanupEmptyChildNamespaces: true,
    })
    io.engine.on('connection_error', ({ code }: { code: number }) => {
      if (code === unknownSession) this.#warnOfPolling()
    })
    // A path in the address that a page is given becomes the name of a namespace.
    for (const namespace of [io.sockets, io.of(/^\/.{1,200}$/)]) {
      namespace.use((socket, next) => {
        void this.#authenticate(socket).then(
          (session) => {
            socket.data = { session }
            next(session ? undefined : new Error('Unauthorized'))
          },
          (error: unknown) => {
            // The browser is not to blame, and does not try again after a refusal.
            this.#services.log.warn({ err: error }, 'a socket could not be opened')
            cut(socket)
          },
        )
      })
      namespace.on('connection', (socket: Socket) => this.#connected(socket))
    }
    this.#loaded = io
    return io
  }

  /**
   * Sockets go to whichever process they like. Polling is many requests of one connection, which only one process knows; the
   * others refuse them, and the browser begins again. After a restart that is as it should be, so it is said once.
   */
  #warnOfPolling(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#services.log.warn(
      'a browser polls a connection that this process does not know; where there are several, a balancer has to send requests to /socket.io that have the same token to the same one',
    )
  }

  async #authenticate({ handshake }: Socket): Promise<InboxSession | undefined> {
    const token: unknown = handshake.query.token ?? handshake.auth.token
    const session = typeof token === 'string' ? await this.#tokens.read(token) : undefined
    // Kept as long as the socket is, for nobody: of every page its headers, and its token.
    Object.assign(handshake, { headers: {}, query: {}, auth: {}, url: '' })
    return session
  }

  #connected(socket: Socket): void {
    const { session } = socket.data as { session: InboxSession }
    const { environmentId, subscriber, contextKeys } = session
    const key = { environmentId, subscriberRowId: subscriber.id, contexts: contextsOf(contextKeys) }
    const id = roomId(key)
    const room = this.#rooms.get(id) ?? { ...key, session, sockets: new Set<Socket>() }
    this.#rooms.set(id, room)
    if (room.sockets.size >= mostOfInbox) {
      // By our word, after which a browser does not try again.
      socket.disconnect(true)
      return
    }
    room.sockets.add(socket)
    socket.once('disconnect', () => {
      room.sockets.delete(socket)
      if (room.sockets.size > 0) return
      this.#rooms.delete(id)
      this.#settle(id)
    })
    // Whoever comes back is told where things stand, but not before we would hear of what comes next.
    if (this.#entered.has(id)) this.#news.add(room, 'read')
    else this.#settle(id)
  }

  /** Makes the database say what is, for this inbox too. */
  #settle(id: string): void {
    // Who goes when the process does comes back in a moment; the others notice if not.
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
      // Those who come and go in the same moment go together.
      await new Promise(setImmediate)
      const ids = [...this.#dirty].slice(0, mostAtOnce)
      for (const id of ids) this.#dirty.delete(id)
      try {
        await this.#settleSome(ids)
        failures = 0
      } catch (error) {
        log.warn({ err: error }, 'who is connected could not be stored; trying again')
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

  #tellAll(): void {
    this.#tell([...this.#rooms.values()])
  }

  async #beat(): Promise<void> {
    const now = this.#services.clock.now()
    for (const { sockets } of this.#rooms.values())
      for (const socket of sockets) if (isExpired(socket, now)) socket.disconnect(true)
    try {
      if (this.#hasBeaten) await this.#beatOnce()
      await removeDead(this.#services.db, now)
    } catch (error) {
      this.#services.log.warn({ err: error }, 'whether others hold sockets could not be looked up')
    }
  }

  async #beatOnce(): Promise<void> {
    const { db, clock } = this.#services
    const isKnown = await beat(db, this.#processId)
    if (this.#hasBeaten && !isKnown) {
      // The others took us for dead, or the database lost what is only in its memory.
      this.#entered = new Map()
      for (const id of this.#rooms.keys()) this.#settle(id)
    }
    if (!this.#hasBeaten) await removeDead(db, clock.now())
    this.#hasBeaten = true
  }

  #send(socket: Socket, packets: Packet[]): void {
    // Until the next beat, too, it hears nothing more.
    if (isExpired(socket, this.#services.clock.now())) {
      socket.disconnect(true)
      return
    }
    const connection = socket.conn as unknown as { writeBuffer: Array<{ data?: string }> }
    const { writeBuffer } = connection
    const characters = writeBuffer.reduce((sum, { data = '' }) => sum + data.length, 0)
    // The library drops this list with what it has sent. Where it has waited for long, both would be in the part of memory
    // that only full collections of garbage look at, until the next of them.
    if (writeBuffer.length === 0) connection.writeBuffer = []
    if (writeBuffer.length > mostWaiting || characters > mostWaitingCharacters) cut(socket)
    else for (const [event, payload] of packets) socket.emit(event, payload)
  }
}

const isExpired = ({ data }: Socket, now: Date): boolean => (data as { session: InboxSession }).session.expiresAt <= now

/** Ends the connection without a word and without waiting for what the browser has not taken. */
function cut({ conn }: Socket): void {
  const { socket } = conn.transport as { socket?: { terminate?(): void } }
  // Where it is a socket, closing it would wait half a minute for the browser's agreement, and keep all that is unsent.
  if (socket?.terminate) socket.terminate()
  else conn.close(true)
}
