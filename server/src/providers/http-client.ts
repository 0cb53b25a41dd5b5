// The HTTP client for all calls to other services: it limits time, size and redirects, blocks private addresses, and says
// what went wrong without quoting what was sent.
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as encrypt } from 'node:tls'
import { Agent, buildConnector, type Dispatcher, type FormData } from 'undici'
import { type Tracing, traceparentOf } from '../tracing.ts'
import { DeliveryError, statusError, transportError } from './delivery-error.ts'
import { HttpPlaces, mostAtOnce, type Place } from './http-places.ts'
import { AddressRefused, guardedLookup, isLoopback, isPublicAddress } from './public-address.ts'

const connectTimeoutMs = 5_000
const defaultTimeoutMs = 10_000
const defaultMostBytes = 1024 * 1024

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
export type HttpMethod = (typeof httpMethods)[number]

/** What a request may reach. Each set of permissions has its own connections. */
interface Permissions {
  /** For addresses the operator of this service chose. */
  allowPrivateAddresses?: boolean
  acceptAnyCertificate?: boolean
}

export interface HttpRequest extends Permissions {
  method?: HttpMethod
  headers?: Record<string, string>
  /** At most one of these four. */
  json?: unknown
  form?: Record<string, string> | URLSearchParams
  multipart?: FormData
  body?: string | Uint8Array
  /** For the whole exchange: connection, redirects and the full answer. */
  timeoutMs?: number
  mostBytes?: number
  /** Default: none. */
  mostRedirects?: number
  /** Whether to send our trace id: to the user's own applications, never to vendors. */
  sharesTrace?: boolean
  /** Taken for it before: it starts at once. Without one, it takes one itself, within its timeout. */
  place?: Place
}

export interface HttpAnswer {
  status: number
  /** By lower-case name. */
  headers: Record<string, string>
  text: string
  /** The body as JSON. Throws if it is not. */
  readonly json: unknown
}

/** A request that somebody else made. */
export interface RelayedRequest extends Pick<HttpRequest, 'method' | 'timeoutMs' | 'mostBytes'> {
  headers: Record<string, string>
  body?: Uint8Array
}

export interface RelayedAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

export interface HttpClientOptions {
  clock: { now(): Date }
  allowPrivateAddresses: boolean
  /** Whether `development` may call this machine. */
  allowLoopbackInDevelopment?: boolean
  /** Instead of the system's resolver. */
  lookup?: LookupFunction
  /** Which addresses may be called if private ones may not; instead of `isPublicAddress`. */
  isAllowed?: (address: string) => boolean
  /** Opens connections; for tests. */
  connect?: Connector
  /** Certificate authorities for protocols other than HTTP, in PEM; instead of Node's. */
  authorities?: string
  tracing?: Tracing | undefined
}

export type Connector = buildConnector.connector

export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #agents = new Map<string, Agent>()
  readonly #places = new HttpPlaces()

  #development: HttpClient | undefined

  constructor(options: HttpClientOptions) {
    this.#options = options
  }

  /** For calls of a development environment, which may reach applications on the developer's machine. */
  get development(): HttpClient {
    if (!this.#options.allowLoopbackInDevelopment) return this
    this.#development ??= this.#forDevelopment()
    return this.#development
  }

  /** Whether it may call this machine, where addresses need no encryption. */
  get mayCallHere(): boolean {
    const { allowPrivateAddresses, isAllowed = isPublicAddress } = this.#options
    return allowPrivateAddresses || isAllowed('127.0.0.1')
  }

  /** Whether it may call this address. */
  mayCall(address: string): boolean {
    const { allowPrivateAddresses, isAllowed = isPublicAddress } = this.#options
    return allowPrivateAddresses || isAllowed(address)
  }

  /** Whether a host may be called, as far as its name tells: what a name resolves to is checked when it is called. */
  mayCallHost(hostname: string): boolean {
    const { allowPrivateAddresses, isAllowed = isPublicAddress } = this.#options
    const address = hostname.replace(/^\[|\]$/g, '')
    if (allowPrivateAddresses) return true
    if (isIP(address) !== 0) return isAllowed(address)
    return this.mayCallHere || !/(^|\.)localhost\.?$/i.test(address)
  }

  #forDevelopment(): HttpClient {
    const { allowLoopbackInDevelopment: _, isAllowed = isPublicAddress, ...options } = this.#options
    return new HttpClient({ ...options, isAllowed: (address) => isAllowed(address) || isLoopback(address) })
  }

  /** Waits until a request to this address could start at once. To be left when it is over, or is not made after all. */
  async place(url: string, { timeoutMs = defaultTimeoutMs, ...asked }: HttpRequest): Promise<Place> {
    const { origin, host } = readUrl(url)
    return this.#places.take(`${this.#agentKey(asked)} ${origin}`, host, timeoutMs)
  }

  /** Returns any status; throws a `DeliveryError` if there is no answer. */
  exchange(url: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const { tracing } = this.#options
    return tracing?.active ? this.#traced(tracing, url, request) : this.#exchange(url, request)
  }

  /** Records the host, not the path: paths can hold secrets, as those of chat webhooks do. */
  async #traced(tracing: Tracing, url: string, request: HttpRequest): Promise<HttpAnswer> {
    const { method = 'GET', sharesTrace = false } = request
    const host = URL.canParse(url) ? new URL(url).host : ''
    const attributes = { 'http.request.method': method, 'server.address': host }
    const span = tracing.begin(method, { kind: 'client', attributes })
    const headers = sharesTrace ? { ...request.headers, traceparent: traceparentOf(span) } : request.headers
    return tracing.during(span, async () => {
      const answer = await this.#exchange(url, headers ? { ...request, headers } : request)
      span.setAttribute('http.response.status_code', answer.status)
      if (answer.status >= 400) tracing.fail(span, String(answer.status))
      return answer
    })
  }

  async #exchange(url: string, request: HttpRequest): Promise<HttpAnswer> {
    const { timeoutMs = defaultTimeoutMs, mostRedirects = 0 } = request
    const deadline = performance.now() + timeoutMs
    let asked: HttpRequest & { url: URL } = { url: readUrl(url), ...request }
    for (let redirects = 0; ; redirects += 1) {
      const answer = await this.#once(asked, deadline)
      const next = mostRedirects === 0 ? undefined : redirected(asked, answer)
      if (next === undefined) return answer
      if (redirects === mostRedirects) throw new DeliveryError('too_many_redirects', { host: asked.url.host })
      asked = next
    }
  }

  /** Like `exchange`, but throws a `DeliveryError` for any status other than success too. */
  async ask(url: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const answer = await this.exchange(url, request)
    const { status, headers } = answer
    if (status >= 200 && status < 300) return answer
    throw statusError(new URL(url).host, { status, retryAfter: headers['retry-after'] }, this.#options.clock.now())
  }

  get = (url: string, request?: HttpRequest) => this.ask(url, { ...request, method: 'GET' })
  post = (url: string, request?: HttpRequest) => this.ask(url, { ...request, method: 'POST' })

  /** TLS options for callers that encrypt connections themselves. */
  get authorities(): { ca?: string } {
    const { authorities } = this.#options
    return authorities === undefined ? {} : { ca: authorities }
  }

  /** A TLS connection for the protocol of this name (ALPN). */
  async connectSecurely(host: string, port: number, protocol: string): Promise<Socket> {
    const socket = encrypt({
      socket: await this.connect(host, port),
      servername: host,
      ALPNProtocols: [protocol],
      ...this.authorities,
    })
    return new Promise((resolve, reject) => {
      const giveUp = (error: DeliveryError) => {
        clearTimeout(timer)
        socket.destroy()
        reject(error)
      }
      const timer = setTimeout(
        () => giveUp(new DeliveryError('timeout', { host, mayHaveArrived: false })),
        connectTimeoutMs,
      )
      const fail = ({ code = 'ECONNRESET' }: NodeJS.ErrnoException) => giveUp(transportError(host, code))
      socket.once('error', fail)
      socket.once('secureConnect', () => {
        if (socket.alpnProtocol !== protocol)
          return giveUp(new DeliveryError('connection_failed', { host, reason: `it does not speak ${protocol}` }))
        clearTimeout(timer)
        socket.off('error', fail)
        resolve(socket)
      })
    })
  }

  /** A TCP connection for another protocol, under the same rules about addresses. */
  async connect(host: string, port: number): Promise<Socket> {
    const { lookup, isAllowed = isPublicAddress, allowPrivateAddresses, connect } = this.#options
    const options = { acceptAnyCertificate: false, lookup, connect }
    const open = makeConnector(allowPrivateAddresses ? () => true : isAllowed, options)
    return new Promise((resolve, reject) => {
      open({ hostname: host, protocol: 'http:', port: String(port) }, (error, socket) => {
        if (socket) resolve(socket)
        else if (error instanceof AddressRefused) reject(new DeliveryError('address_refused', { host }))
        else reject(transportError(host, (error as NodeJS.ErrnoException | null)?.code ?? 'ECONNREFUSED'))
      })
    })
  }

  /** Closes all connections, also those with requests in flight. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()))
    this.#agents.clear()
    await this.#development?.close()
  }

  /** Passes a request on with exactly these headers. Returns any answer as it came: its bytes, and its headers one by one. */
  async relay(url: string, { timeoutMs = defaultTimeoutMs, ...request }: RelayedRequest): Promise<RelayedAnswer> {
    const asked = { url: readUrl(url), ...request }
    return this.#reach(asked, request.headers, performance.now() + timeoutMs)
  }

  async #once(asked: HttpRequest & { url: URL }, deadline: number): Promise<HttpAnswer> {
    const { status, headers, bytes } = await this.#reach(asked, headersOf(asked), deadline)
    return answerOf(status, headers, bytes.toString('utf8'), asked.url.host)
  }

  async #reach(
    asked: HttpRequest & { url: URL },
    headers: Record<string, string | string[]>,
    deadline: number,
  ): Promise<Reply> {
    const { host, origin, pathname, search } = asked.url
    // Without waiting for a promise where there is one: a request with a place starts before this returns.
    const taken =
      asked.place ?? this.#places.take(`${this.#agentKey(asked)} ${origin}`, host, deadline - performance.now())
    const place = taken instanceof Promise ? await taken : taken
    try {
      return await dispatch(
        this.#agent(asked),
        { origin, path: pathname + search, method: asked.method ?? 'GET', headers, body: bodyOf(asked) },
        { host, deadline, mostBytes: asked.mostBytes ?? defaultMostBytes },
      )
    } catch (error) {
      if (error instanceof DeliveryError) throw error
      if (error instanceof AddressRefused) throw new DeliveryError('address_refused', { host })
      // Only the code: the message may quote what was sent.
      const { code, name } = error as NodeJS.ErrnoException
      if (name === 'HTTPParserError') throw new DeliveryError('unreadable_answer', { host, reason: 'not HTTP' })
      if (typeof code === 'string') throw transportError(host, code)
      throw error
    } finally {
      if (place !== asked.place) place.leave()
    }
  }

  #agentKey({ allowPrivateAddresses, acceptAnyCertificate = false }: Permissions): string {
    return `${allowPrivateAddresses ?? this.#options.allowPrivateAddresses} ${acceptAnyCertificate}`
  }

  #agent({ allowPrivateAddresses, acceptAnyCertificate = false }: Permissions): Agent {
    const { lookup, connect, isAllowed = isPublicAddress } = this.#options
    const anyAddress = allowPrivateAddresses ?? this.#options.allowPrivateAddresses
    const key = this.#agentKey({ allowPrivateAddresses: anyAddress, acceptAnyCertificate })
    const known = this.#agents.get(key)
    if (known) return known
    const agent = makeAgent(anyAddress ? () => true : isAllowed, { acceptAnyCertificate, lookup, connect })
    this.#agents.set(key, agent)
    return agent
  }
}

interface ConnectorOptions {
  acceptAnyCertificate: boolean
  lookup: LookupFunction | undefined
  connect: Connector | undefined
}

/** As many connections as there are places, so a request waits for one at most until the answer that freed its place is read. */
const makeAgent = (isAllowed: (address: string) => boolean, options: ConnectorOptions) =>
  new Agent({ connections: mostAtOnce, connect: makeConnector(isAllowed, options) })

function makeConnector(isAllowed: (address: string) => boolean, options: ConnectorOptions): Connector {
  const connect =
    options.connect ??
    buildConnector({
      timeout: connectTimeoutMs,
      rejectUnauthorized: !options.acceptAnyCertificate,
      lookup: guardedLookup(isAllowed, options.lookup),
    })
  return (target, callback) => {
    const address = target.hostname.replace(/^\[|\]$/g, '')
    // A numeric address is never resolved, so the lookup does not check it.
    if (isIP(address) !== 0 && !isAllowed(address)) callback(new AddressRefused(), null)
    else connect(target, callback)
  }
}

function readUrl(text: string, base?: URL): URL {
  const url = parsed(text, base)
  if (!url || !/^https?:$/.test(url.protocol)) throw new DeliveryError('invalid_url', { host: base?.host })
  return url
}

function parsed(text: string, base: URL | undefined): URL | undefined {
  try {
    return new URL(text, base?.href)
  } catch {
    return undefined
  }
}

function headersOf({ url, headers = {}, json, form }: HttpRequest & { url: URL }): Record<string, string> {
  const { username, password } = url
  const all: Record<string, string> = { accept: 'application/json' }
  if (json !== undefined) all['content-type'] = 'application/json'
  if (form !== undefined) all['content-type'] = 'application/x-www-form-urlencoded'
  if (username || password) {
    const user = [username, password].map((part) => decoded(part)).join(':')
    all.authorization = `Basic ${Buffer.from(user).toString('base64')}`
  }
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value
  return all
}

/** A percent sign that starts no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function bodyOf({ json, form, multipart, body }: HttpRequest): string | Uint8Array | FormData | null {
  if (json !== undefined) return JSON.stringify(json)
  if (form !== undefined) return new URLSearchParams(form).toString()
  return multipart ?? body ?? null
}

interface Bounds {
  host: string
  /** As `performance.now()` counts. */
  deadline: number
  mostBytes: number
}

interface Reply {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

/** Like undici's `request`, without its stream and signal, which took half of the 0.22 ms of a request. */
function dispatch(agent: Agent, asked: Dispatcher.DispatchOptions, bounds: Bounds): Promise<Reply> {
  const { host, deadline, mostBytes } = bounds
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let [status, bytes] = [0, 0]
    let headers: Reply['headers'] = {}
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    const giveUp = (error: Error) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      reject(error)
      // A request that has not started is aborted in onRequestStart.
      controller?.abort(error)
    }
    const timer = setTimeout(() => giveUp(new DeliveryError('timeout', { host })), deadline - performance.now())
    agent.dispatch(asked, {
      onRequestStart(started) {
        controller = started
        if (isOver) started.abort(new Error('The request timed out before it started'))
      },
      onResponseStart(_, code, given) {
        status = code
        headers = given
      },
      onResponseData(_, chunk) {
        bytes += chunk.length
        if (bytes > mostBytes) giveUp(new DeliveryError('answer_too_large', { host }))
        else chunks.push(chunk)
      },
      onResponseEnd() {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        resolve({ status, headers, bytes: Buffer.concat(chunks) })
      },
      onResponseError(_, error) {
        giveUp(error)
      },
    })
  })
}

/** A class, because the closure of an object literal's getter lives until a full garbage collection. */
class Answer implements HttpAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
  readonly #host: string
  /** Parsed once. */
  #read: { json: unknown } | undefined

  constructor(status: number, headers: Reply['headers'], text: string, host: string) {
    this.status = status
    this.headers = {}
    for (const [name, value] of Object.entries(headers))
      this.headers[name] = Array.isArray(value) ? value.join(', ') : (value ?? '')
    this.text = text
    this.#host = host
  }

  get json(): unknown {
    this.#read ??= { json: this.#parsed() }
    return this.#read.json
  }

  #parsed(): unknown {
    try {
      return JSON.parse(this.text) as unknown
    } catch {
      throw new DeliveryError('unreadable_answer', { host: this.#host, reason: 'not JSON' })
    }
  }
}

/** Undefined if the body is not JSON. */
export function jsonIn(answer: HttpAnswer): unknown {
  try {
    return answer.json
  } catch {
    return undefined
  }
}

export const answerOf = (status: number, headers: Reply['headers'], text: string, host: string): HttpAnswer =>
  new Answer(status, headers, text, host)

const redirects = new Set([301, 302, 303, 307, 308])
/** Headers that may follow a redirect to another origin. */
const impersonal = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

function redirected(
  asked: HttpRequest & { url: URL },
  { status, headers: { location } }: HttpAnswer,
): (HttpRequest & { url: URL }) | undefined {
  if (!redirects.has(status) || !location) return undefined
  // The place is one at the address before.
  const { method = 'GET', headers = {}, json, form, multipart, body, place: _, ...rest } = asked
  const url = readUrl(location, asked.url)
  const content = status === 307 || status === 308 ? { json, form, multipart, body } : {}
  const isRead = method === 'GET' || method === 'HEAD'
  const kept = Object.entries(headers).filter(
    ([name]) => isSameParty(asked.url, url) || impersonal.has(name.toLowerCase()),
  )
  return {
    ...rest,
    url,
    headers: Object.fromEntries(kept),
    // As in browsers: every status but 307 and 308 turns the request into a GET.
    method: isRead || status === 307 || status === 308 ? method : 'GET',
    ...Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined)),
  }
}

/** The same origin, or its secure form. */
function isSameParty(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === ''
  return from.origin === to.origin || (isUpgrade && from.hostname === to.hostname)
}
