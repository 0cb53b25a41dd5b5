// A local HTTP server that plays a vendor: it records requests and answers as the test says. And clients that may call it,
// or reach it whatever address they call.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type HttpAnswer, HttpClient } from '../src/providers/http-client.ts'
import { certificate, certificateKey } from './certificate.ts'

/** Closed after the tests of a file. */
export function useHttp(now = new Date('2026-05-01T10:00:00.000Z')): HttpClient {
  const http = new HttpClient({ clock: { now: () => now }, allowPrivateAddresses: true })
  afterAll(() => http.close())
  return http
}

/** Records the timeout of each call. */
export class WatchedHttp extends HttpClient {
  readonly timeouts: Array<number | undefined> = []

  override async exchange(...[url, request]: Parameters<HttpClient['exchange']>): Promise<HttpAnswer> {
    this.timeouts.push(request?.timeoutMs)
    return await super.exchange(url, request)
  }
}

/** A client that reaches this vendor whatever address it calls. Closed after the tests. */
export function useHttpTo(vendor: Vendor, now = new Date('2026-05-01T10:00:00.000Z')): HttpClient {
  const http = new HttpClient({
    clock: { now: () => now },
    allowPrivateAddresses: true,
    authorities: certificate,
    connect({ protocol, hostname, port }, callback) {
      const socket = connect(Number(new URL(vendor.url).port), '127.0.0.1')
      socket.once('error', (error) => callback(error, null))
      socket.once('connect', () => {
        vendor.taken.set(socket.localPort ?? 0, `${protocol}//${hostname}${port === '' ? '' : `:${port}`}`)
        callback(null, socket)
      })
    },
  })
  afterAll(() => http.close())
  return http
}

export interface Asked {
  method: string
  /** With the origin that the client called. */
  url: string
  path: string
  query: Record<string, string>
  headers: Record<string, string | string[] | undefined>
  body: string
  bytes: Buffer
  /** The body as a form. */
  form: Record<string, string>
}

export interface VendorReply {
  status?: number
  /** Sent as JSON, unless it is a string. */
  body?: unknown
  headers?: Record<string, string>
}

/** Undefined leaves the caller waiting; 'hang up' closes the connection. */
type Answered = VendorReply | undefined | 'hang up'
type Play = (asked: Asked) => Answered | Promise<Answered>

export interface Vendor {
  readonly url: string
  /** Requests since the test began. */
  readonly asked: Asked[]
  /** The origin each client called, by its port. */
  readonly taken: Map<number, string>
  plays(play: Play): void
  /** Closes connections, with notice where the protocol has one. */
  disconnect(): void
}

/** Starts before the tests of a file and stops after them; resets between them. */
export function useVendor({
  speaks = 'http/1.1',
  atATime,
}: {
  speaks?: 'http/1.1' | 'h2'
  /** Concurrent requests per connection, where the protocol has such a limit. */
  atATime?: number
} = {}): Vendor {
  const asked: Asked[] = []
  const taken = new Map<number, string>()
  const nothing: Play = ({ method, path }) => ({ status: 404, body: `no play for ${method} ${path}` })
  let play = nothing
  let server: { close(): unknown; disconnect(): void }
  let url = ''

  beforeAll(async () => {
    const serve = async (request: IncomingMessage, response: ServerResponse) => {
      const bytes = await buffer(request)
      const body = bytes.toString('utf8')
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://vendor')
      const authority = request.headers[':authority']
      const origin =
        authority === undefined ? taken.get(request.socket.remotePort ?? 0) : `https://${authority as string}`
      const one: Asked = {
        method: request.method ?? '',
        url: (origin ?? url) + (request.url ?? ''),
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers: request.headers,
        body,
        bytes,
        form: Object.fromEntries(new URLSearchParams(body)),
      }
      asked.push(one)
      const reply = await play(one)
      if (reply === 'hang up') request.socket.destroy()
      else if (reply !== undefined)
        response
          .writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
          .end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
    }
    const listener = speaks === 'h2' ? http2Server(serve, atATime) : http1Server(serve)
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
    server = listener
  })
  beforeEach(() => {
    asked.length = 0
    play = nothing
  })
  afterAll(() => {
    server.close()
    server.disconnect()
  })

  return {
    get url() {
      return url
    },
    asked,
    taken,
    plays(next) {
      play = next
    },
    disconnect: () => server.disconnect(),
  }
}

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>

function http1Server(serve: Serve) {
  const server = createServer((request, response) => void serve(request, response))
  return Object.assign(server, { disconnect: () => server.closeAllConnections() })
}

function http2Server(serve: Serve, atATime: number | undefined) {
  const sessions = new Set<ServerHttp2Session>()
  const settings = atATime === undefined ? {} : { maxConcurrentStreams: atATime }
  const server = createSecureServer({ cert: certificate, key: certificateKey, settings }, (request, response) => {
    // Compatible as far as they are used here.
    void serve(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  const disconnect = () => {
    for (const session of sessions) session.destroy()
  }
  return Object.assign(server, { disconnect })
}
